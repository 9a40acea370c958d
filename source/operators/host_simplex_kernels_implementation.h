// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Kernels of HostSimplexProduct for one instruction set. Each
// host_simplex_kernels_*.cc includes this file once and defines TESSELLA_LANES
// (simplices of a vector) and TESSELLA_KERNELS (name of the function that
// returns the table).

#include <tessella/portable/legendre.h>

#include "host_simplex_kernels.h"

namespace Tessella
{
  namespace internal
  {
    namespace HostSimplexKernels
    {
      namespace
      {
        constexpr unsigned int lanes = TESSELLA_LANES;

        typedef double Vector __attribute__((vector_size(8 * TESSELLA_LANES)));
        // The same in memory that is aligned for doubles only.
        typedef double UnalignedVector
          __attribute__((vector_size(8 * TESSELLA_LANES), aligned(8)));

        inline Vector
        load(const double *p, const unsigned int i)
        {
          return *reinterpret_cast<const UnalignedVector *>(p + i * lanes);
        }

        inline void
        store(double *p, const unsigned int i, const Vector v)
        {
          *reinterpret_cast<UnalignedVector *>(p + i * lanes) = v;
        }

        // ---- products with constant matrices

        template <unsigned int R>
        inline __attribute__((always_inline)) const double *
        tile(const double      *a,
             const unsigned int n_columns,
             const double      *x,
             Vector            *sum)
        {
          for (unsigned int r = 0; r < R; ++r)
            sum[r] = Vector{};
          for (unsigned int j = 0; j < n_columns; ++j, a += R)
            {
              const Vector v = load(x, j);
#pragma GCC unroll 8
              for (unsigned int r = 0; r < R; ++r)
                sum[r] += a[r] * v;
            }
          return a;
        }

        // Calls put(i, sum) for each entry i of A x.
        template <typename Put>
        inline __attribute__((always_inline)) void
        multiply(const Matrix &A, const double *x, const Put &put)
        {
          const double *a = A.values;
          unsigned int  i = 0;
          Vector        sum[8];
          for (; i + 8 <= A.n_rows; i += 8)
            {
              a = tile<8>(a, A.n_columns, x, sum);
#pragma GCC unroll 8
              for (unsigned int r = 0; r < 8; ++r)
                put(i + r, sum[r]);
            }
          if (A.n_rows - i >= 4)
            {
              a = tile<4>(a, A.n_columns, x, sum);
#pragma GCC unroll 4
              for (unsigned int r = 0; r < 4; ++r)
                put(i + r, sum[r]);
              i += 4;
            }
          if (A.n_rows - i >= 2)
            {
              a = tile<2>(a, A.n_columns, x, sum);
              put(i, sum[0]);
              put(i + 1, sum[1]);
              i += 2;
            }
          if (i < A.n_rows)
            {
              tile<1>(a, A.n_columns, x, sum);
              put(i, sum[0]);
            }
        }

        void
        multiply_matrix(const Matrix &A, const double *x, double *y)
        {
          multiply(A, x, [&](const unsigned int i, const Vector v) {
            store(y, i, v);
          });
        }

        template <int dim>
        inline __attribute__((always_inline)) void
        transform_dim(const bool         transposed,
                      const double      *a,
                      const unsigned int n,
                      const double      *x,
                      const unsigned int x_pitch,
                      double            *y,
                      const unsigned int y_pitch)
        {
          Vector entry[dim][dim];
          for (int i = 0; i < dim; ++i)
            for (int j = 0; j < dim; ++j)
              {
                entry[i][j] = load(a, transposed ? j * dim + i : i * dim + j);
              }
          for (unsigned int q = 0; q < n; ++q)
            {
              Vector v[dim];
              for (int j = 0; j < dim; ++j)
                v[j] = load(x, j * x_pitch + q);
              for (int i = 0; i < dim; ++i)
                {
                  Vector sum = entry[i][0] * v[0];
                  for (int j = 1; j < dim; ++j)
                    sum += entry[i][j] * v[j];
                  store(y, i * y_pitch + q, sum);
                }
            }
        }

        void
        transform(const unsigned int dim,
                  const bool         transposed,
                  const double      *a,
                  const unsigned int n,
                  const double      *x,
                  const unsigned int x_pitch,
                  double            *y,
                  const unsigned int y_pitch)
        {
          if (dim == 2)
            transform_dim<2>(transposed, a, n, x, x_pitch, y, y_pitch);
          else
            transform_dim<3>(transposed, a, n, x, x_pitch, y, y_pitch);
        }

        void
        add_product(const unsigned int n,
                    const double      *factor,
                    const double      *x,
                    double            *y)
        {
          const Vector f = load(factor, 0);
          for (unsigned int i = 0; i < n; ++i)
            store(y, i, load(y, i) + f * load(x, i));
        }

        // ---- basis functions at nodes

        // Polynomials of one variable at T nodes from node i on; @p fixed is
        // the degree, or 0 if it is not known to the compiler.
        template <int dim, unsigned int fixed, unsigned int T>
        struct NodePolynomials
        {
          NodePolynomials(const Operator    &op,
                          const double      *corners,
                          const unsigned int i)
          {
            for (unsigned int t = 0; t < T; ++t)
              {
                const double *const lambda = op.nodes + (i + t) * (dim + 1);
                for (int d = 0; d < dim; ++d)
                  {
                    Vector xi = lambda[0] * load(corners, d);
                    for (int v = 1; v <= dim; ++v)
                      xi += lambda[v] * load(corners, v * dim + d);
                    Legendre::evaluate<Vector>(fixed > 0 ? fixed : op.degree,
                                               xi,
                                               p[t][d]);
                  }
              }
          }

          Vector p[T][dim]
                  [(fixed > 0 ? fixed : unsigned(Legendre::max_degree)) + 1];
        };

        // Values of sum_abc k_abc P_a(x) P_b(y) P_c(z) at T nodes, summed
        // variable by variable; c varies fastest in k, then b.
        template <int dim, unsigned int fixed, unsigned int T>
        inline __attribute__((always_inline)) void
        evaluate_nodes(const Operator    &op,
                       const double      *corners,
                       const double      *k,
                       const unsigned int i,
                       double            *values)
        {
          const unsigned int degree = fixed > 0 ? fixed : op.degree;
          const NodePolynomials<dim, fixed, T> at(op, corners, i);
          Vector                               value[T];
          for (unsigned int t = 0; t < T; ++t)
            value[t] = Vector{};
          unsigned int m = 0;
#pragma GCC unroll 8
          for (unsigned int a = 0; a <= degree; ++a)
            {
              Vector u[T];
              for (unsigned int t = 0; t < T; ++t)
                u[t] = Vector{};
#pragma GCC unroll 8
              for (unsigned int b = 0; b <= degree - a; ++b)
                if constexpr (dim == 2)
                  {
                    const Vector c = load(k, m++);
                    for (unsigned int t = 0; t < T; ++t)
                      u[t] += c * at.p[t][1][b];
                  }
                else
                  {
                    Vector       s[T];
                    const Vector first = load(k, m++);
                    for (unsigned int t = 0; t < T; ++t)
                      s[t] = first;
#pragma GCC unroll 8
                    for (unsigned int c = 1; c <= degree - a - b; ++c)
                      {
                        const Vector e = load(k, m++);
                        for (unsigned int t = 0; t < T; ++t)
                          s[t] += e * at.p[t][dim - 1][c];
                      }
                    for (unsigned int t = 0; t < T; ++t)
                      u[t] += s[t] * at.p[t][1][b];
                  }
              for (unsigned int t = 0; t < T; ++t)
                value[t] += u[t] * at.p[t][0][a];
            }
          const Vector factor = load(corners, (dim + 1) * dim);
          for (unsigned int t = 0; t < T; ++t)
            store(values, i + t, value[t] * factor);
        }

        // The transpose: adds the products of T values with all functions.
        template <int dim, unsigned int fixed, unsigned int T>
        inline __attribute__((always_inline)) void
        integrate_nodes(const Operator    &op,
                        const double      *corners,
                        const double      *y,
                        const unsigned int i,
                        double            *rows)
        {
          const unsigned int degree = fixed > 0 ? fixed : op.degree;
          const NodePolynomials<dim, fixed, T> at(op, corners, i);
          const Vector factor = load(corners, (dim + 1) * dim);
          Vector       value[T];
          for (unsigned int t = 0; t < T; ++t)
            value[t] = load(y, i + t) * factor;
          const auto add = [rows](const unsigned int m, const Vector *v) {
            Vector sum = load(rows, m);
            for (unsigned int t = 0; t < T; ++t)
              sum += v[t];
            store(rows, m, sum);
          };
          unsigned int m = 0;
#pragma GCC unroll 8
          for (unsigned int a = 0; a <= degree; ++a)
            {
              Vector u[T];
              for (unsigned int t = 0; t < T; ++t)
                u[t] = value[t] * at.p[t][0][a];
#pragma GCC unroll 8
              for (unsigned int b = 0; b <= degree - a; ++b)
                {
                  Vector s[T], e[T];
                  for (unsigned int t = 0; t < T; ++t)
                    s[t] = u[t] * at.p[t][1][b];
                  add(m++, s);
                  if constexpr (dim == 3)
#pragma GCC unroll 8
                    for (unsigned int c = 1; c <= degree - a - b; ++c)
                      {
                        for (unsigned int t = 0; t < T; ++t)
                          e[t] = s[t] * at.p[t][dim - 1][c];
                        add(m++, e);
                      }
                }
            }
        }

        // Two nodes at a time, so that coefficients and rows are read once for
        // both.
        template <int dim, unsigned int fixed>
        void
        evaluate_degree(const Operator &op,
                        const double   *corners,
                        const double   *coefficients,
                        double         *values)
        {
          unsigned int i = 0;
          for (; i + 2 <= op.n; i += 2)
            evaluate_nodes<dim, fixed, 2>(op, corners, coefficients, i, values);
          if (i < op.n)
            evaluate_nodes<dim, fixed, 1>(op, corners, coefficients, i, values);
        }

        template <int dim, unsigned int fixed>
        void
        integrate_degree(const Operator &op,
                         const double   *corners,
                         const double   *y,
                         double         *rows)
        {
          for (unsigned int m = 0; m < op.n; ++m)
            store(rows, m, Vector{});
          unsigned int i = 0;
          for (; i + 2 <= op.n; i += 2)
            integrate_nodes<dim, fixed, 2>(op, corners, y, i, rows);
          if (i < op.n)
            integrate_nodes<dim, fixed, 1>(op, corners, y, i, rows);
        }

        // Degrees with code of their own; that of index 0 is for all others.
        constexpr unsigned int max_fixed_degree = 6;
        using NodeFunction                      = void (*)(const Operator &,
                                      const double *,
                                      const double *,
                                      double *);

        template <int dim>
        NodeFunction
        evaluate_function(const unsigned int degree)
        {
          constexpr NodeFunction table[max_fixed_degree + 1] = {
            evaluate_degree<dim, 0>,
            evaluate_degree<dim, 1>,
            evaluate_degree<dim, 2>,
            evaluate_degree<dim, 3>,
            evaluate_degree<dim, 4>,
            evaluate_degree<dim, 5>,
            evaluate_degree<dim, 6>};
          return table[degree <= max_fixed_degree ? degree : 0];
        }

        template <int dim>
        NodeFunction
        integrate_function(const unsigned int degree)
        {
          constexpr NodeFunction table[max_fixed_degree + 1] = {
            integrate_degree<dim, 0>,
            integrate_degree<dim, 1>,
            integrate_degree<dim, 2>,
            integrate_degree<dim, 3>,
            integrate_degree<dim, 4>,
            integrate_degree<dim, 5>,
            integrate_degree<dim, 6>};
          return table[degree <= max_fixed_degree ? degree : 0];
        }

        void
        evaluate(const Operator &op,
                 const double   *corners,
                 const double   *coefficients,
                 double         *values)
        {
          (op.dim == 2 ? evaluate_function<2>
                       : evaluate_function<3>)(op.degree)(op,
                                                          corners,
                                                          coefficients,
                                                          values);
        }

        void
        integrate(const Operator &op,
                  const double   *corners,
                  const double   *y,
                  double         *rows)
        {
          (op.dim == 2
             ? integrate_function<2>
             : integrate_function<3>)(op.degree)(op, corners, y, rows);
        }

        // ---- rows of Lagrange polynomials

        template <int dim>
        void
        add_volume(const Operator &op,
                   const double   *u,
                   const double   *coefficients,
                   double         *work,
                   double         *y)
        {
          const unsigned int n   = op.n_lower;
          double *const gradient = work, *const flux = work;
          multiply(op.gradient, u, [&](const unsigned int i, const Vector v) {
            store(gradient, i, v);
          });
          double *const transport = work + dim * n * lanes;
          for (unsigned int m = 0; m < n; ++m)
            {
              Vector g[dim];
              for (int d = 0; d < dim; ++d)
                g[d] = load(gradient, d * n + m);
              if (op.advection)
                {
                  Vector sum = Vector{};
                  for (int d = 0; d < dim; ++d)
                    sum += load(coefficients, op.reaction_index + 1 + d) * g[d];
                  store(transport, m, sum);
                }
              for (int i = 0; i < dim; ++i)
                {
                  Vector sum = Vector{};
                  for (int j = 0; j < dim; ++j)
                    {
                      // Entry of the upper triangle.
                      const int s = i < j ? i : j, t = i < j ? j : i;
                      sum += load(coefficients, s * dim - s * (s + 1) / 2 + t) *
                             g[j];
                    }
                  store(flux, i * n + m, sum);
                }
            }
          multiply(op.gradient_transposed,
                   flux,
                   [&](const unsigned int i, const Vector v) {
                     store(y, i, v);
                   });
          if (op.reaction)
            {
              const Vector c = load(coefficients, op.reaction_index);
              multiply(op.mass, u, [&](const unsigned int i, const Vector v) {
                store(y, i, load(y, i) + c * v);
              });
            }
          if (op.advection)
            multiply(op.projection_transposed,
                     transport,
                     [&](const unsigned int i, const Vector v) {
                       store(y, i, load(y, i) + v);
                     });
        }

        // Values of the neighbours in their frames of the face.
        inline void
        gather(const Operator     &op,
               const double       *nodal,
               const unsigned int *neighbors,
               double             *other)
        {
          for (unsigned int l = 0; l < lanes; ++l)
            {
              const unsigned int code = neighbors[l];
              if (code == no_neighbor)
                {
                  for (unsigned int i = 0; i < op.n; ++i)
                    other[i * lanes + l] = 0.;
                  continue;
                }
              const unsigned int  k = code / 4;
              const double *const from =
                nodal + (k / lanes) * (unsigned long)(op.n) * lanes + k % lanes;
              const unsigned short *const frame = op.frame + code % 4 * op.n;
              for (unsigned int i = 0; i < op.n; ++i)
                other[i * lanes + l] = from[frame[i] * lanes];
            }
        }

        template <int dim>
        void
        add_face(const Operator     &op,
                 const double        q,
                 const double        s,
                 const double       *u,
                 const double       *nodal,
                 const unsigned int  face,
                 const double       *coefficients,
                 const unsigned int *neighbors,
                 double             *work,
                 double             *y)
        {
          const unsigned short *const frame = op.frame + face * op.n;
          const unsigned int          n_f = op.n_face, n_l = op.n_face_lower;
          double *const               other = work;
          // Jump and mixed values, from which moments are computed.
          double *const difference = other + op.n * lanes;
          double *const mixed      = difference + n_f * lanes;
          double *const moment     = mixed + (op.n + (dim - 1) * n_f) * lanes;
          double *const terms      = moment + n_f * lanes;
          gather(op, nodal, neighbors, other);
          Vector b[2][dim];
          for (int d = 0; d < dim; ++d)
            {
              b[0][d] = load(coefficients, d);
              b[1][d] = load(coefficients, dim + d);
            }
          const Vector c = load(coefficients, 2 * dim);
          for (unsigned int i = 0; i < n_f; ++i)
            {
              const Vector own = load(u, frame[i]), v = load(other, i);
              store(difference, i, own - v);
              for (int d = 0; d + 1 < dim; ++d)
                store(mixed, d * n_f + i, q * (b[0][d] * own + b[1][d] * v));
            }
          for (unsigned int i = 0; i < op.n; ++i)
            store(mixed,
                  (dim - 1) * n_f + i,
                  q * (b[0][dim - 1] * load(u, frame[i]) +
                       b[1][dim - 1] * load(other, i)));
          multiply(op.jump,
                   difference,
                   [&](const unsigned int i, const Vector v) {
                     store(moment, i, v);
                     store(terms, i, c * v);
                   });
          multiply(op.slope, mixed, [&](const unsigned int i, const Vector v) {
            store(terms, i, load(terms, i) + v);
          });
          // Tests with the face's values and tangential derivatives, then with
          // the last derivative.
          for (unsigned int i = 0; i < n_l; ++i)
            {
              const Vector v = s * load(moment, i);
              for (int d = 0; d + 1 < dim; ++d)
                store(terms, n_f + d * n_l + i, b[0][d] * v);
              store(moment, i, b[0][dim - 1] * v);
            }
          const auto add = [&](const unsigned int i, const Vector v) {
            store(y, frame[i], load(y, frame[i]) + v);
          };
          multiply(op.face_rows, terms, add);
          multiply(op.transversal_rows, moment, add);
        }

        template <int dim>
        void
        apply_dim(const Operator     &op,
                  const double        q,
                  const double        s,
                  const double       *nodal,
                  const unsigned int  batch,
                  const double       *coefficients,
                  const unsigned int *neighbors,
                  double             *work,
                  double             *y)
        {
          const double *const u = nodal + (unsigned long)(batch)*op.n * lanes;
          add_volume<dim>(op, u, coefficients, work, y);
          for (unsigned int face = 0; face <= dim; ++face)
            add_face<dim>(op,
                          q,
                          s,
                          u,
                          nodal,
                          face,
                          coefficients +
                            (op.face_index + face * (2 * dim + 1)) * lanes,
                          neighbors + face * lanes,
                          work,
                          y);
        }

        void
        apply(const Operator     &op,
              const double        q,
              const double        s,
              const double       *nodal,
              const unsigned int  batch,
              const double       *coefficients,
              const unsigned int *neighbors,
              double             *work,
              double             *y)
        {
          (op.dim == 2 ? apply_dim<2> : apply_dim<3>)(op,
                                                      q,
                                                      s,
                                                      nodal,
                                                      batch,
                                                      coefficients,
                                                      neighbors,
                                                      work,
                                                      y);
        }
      } // namespace



      const Kernels &
      TESSELLA_KERNELS()
      {
        static const Kernels kernels = {lanes,
                                        evaluate,
                                        apply,
                                        integrate,
                                        multiply_matrix,
                                        transform,
                                        add_product};
        return kernels;
      }
    } // namespace HostSimplexKernels
  }   // namespace internal
} // namespace Tessella
