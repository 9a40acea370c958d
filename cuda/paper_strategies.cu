// SPDX-License-Identifier: LGPL-2.1-or-later

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <cub/cub.cuh>
#include <mutex>
#include <string>
#include <thrust/iterator/counting_iterator.h>
#include <utility>

#include "memory.h"
#include "paper_strategies.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        constexpr unsigned int block_size = 64;
        /// Thread blocks for which registers must suffice on a multiprocessor:
        /// these were the fastest on an H200.
        constexpr unsigned int element_blocks = 1, interior_blocks = 10;
        /// Of the reference rule in constant memory, in doubles.
        constexpr unsigned int max_constant_rule = 7168;
        /// Doubles that go through pinned memory at once, at most.
        constexpr std::uint64_t max_staging_size = 1ull << 24;
        constexpr std::uint64_t invalid_key      = ~std::uint64_t(0);
        /// The largest number of triples that are sorted at once.
        constexpr std::uint64_t max_triples = (1ull << 31) - 1;

        /// sqrt(2 n + 1) P_n: coefficient of x^m at [11 n + m].
        __constant__ double polynomials[121];
        /// Points (coordinates, weight) of the rule that a kernel uses.
        __constant__ double constant_rule[max_constant_rule];
        /// Exponents of all functions.
        __constant__ uchar4 functions[1331];

        /// What kernels read; arrays named as those of PolytopicMesh and
        /// BlockSparsity are copies of them.
        template <int dim>
        struct Arguments
        {
          /// Centre and scale (2 / width) in each variable, then the product of
          /// the factors sqrt(1 / width).
          const double        *box;
          const unsigned int  *n_basis;
          const std::uint64_t *dof_offset;
          const unsigned int  *subcell_polytope, *facet_interface;
          const double        *subcell_vertices, *facet_vertices;
          const double        *facet_normal, *facet_measure, *sigma, *shift;
          const unsigned int  *interface_polytope, *interface_shift;
          FormData<dim>        form;

          // ---- the part: its polytopes, the pattern and the results
          unsigned int         begin, end;
          std::uint64_t        first_value, first_dof;
          const std::uint64_t *value_offset;
          const unsigned int  *row_width;
          const unsigned int  *columns;
          double              *values, *rhs;

          // ---- triples
          std::uint64_t *keys;
          double        *entries;
          unsigned int   column_bits;

          // ---- the group of simplices of a launch
          const unsigned int *list;
          unsigned int        n, n_functions, n_points;
          const double       *rule;  // null if in constant memory
          const double       *table; // [(array * n_points + q) * n + simplex]
          std::uint64_t       first_triple;
        };



        /// Coordinate d, or the weight (d = m), of point q of the rule.
        template <int m, bool general, int dim>
        __device__ __forceinline__ double
        rule(const Arguments<dim> &A, const unsigned int q, const int d)
        {
          return general && A.rule != nullptr ? __ldg(A.rule + q * (m + 1) + d)
                                              : constant_rule[q * (m + 1) + d];
        }



        /// The affine map from a reference simplex to the variables in which a
        /// bounding box is [-1, 1]^dim.
        template <int m, int dim>
        struct AffineMap
        {
          double origin[dim], matrix[dim][m], scale[dim];

          __device__ __forceinline__
          AffineMap(const double *vertices,
                    const double *shift,
                    const double *box)
          {
            for (int d = 0; d < dim; ++d)
              {
                scale[d]  = box[2 * d + 1];
                origin[d] = (vertices[d] + shift[d] - box[2 * d]) * scale[d];
                for (int e = 0; e < m; ++e)
                  matrix[d][e] =
                    (vertices[(e + 1) * dim + d] - vertices[d]) * scale[d];
              }
          }

          __device__ __forceinline__ void
          apply(const double (&r)[m], double (&xi)[dim]) const
          {
            for (int d = 0; d < dim; ++d)
              {
                xi[d] = origin[d];
                for (int e = 0; e < m; ++e)
                  xi[d] = fma(matrix[d][e], r[e], xi[d]);
              }
          }
        };



        /// Legendre polynomial of degree n and its derivative by Horner's rule.
        __device__ __forceinline__ void
        legendre(const unsigned int n,
                 const double       x,
                 double            &value,
                 double            &derivative)
        {
          const double *c = polynomials + 11 * n;
          value           = c[n];
          derivative      = 0.;
          for (int m = int(n) - 1; m >= 0; --m)
            {
              derivative = fma(derivative, x, value);
              value      = fma(value, x, c[m]);
            }
        }



        /// A basis function and its gradient, but for the factor of the box.
        template <int dim>
        __device__ __forceinline__ void
        evaluate(const uchar4 exponents,
                 const double (&xi)[dim],
                 const double (&scale)[dim],
                 double &value,
                 double (&gradient)[dim])
        {
          double x, y, dx, dy;
          legendre(exponents.x, xi[0], x, dx);
          legendre(exponents.y, xi[1], y, dy);
          dx *= scale[0];
          dy *= scale[1];
          if (dim == 2)
            {
              value       = x * y;
              gradient[0] = dx * y;
              gradient[1] = x * dy;
            }
          else
            {
              double z, dz;
              legendre(exponents.z, xi[dim - 1], z, dz);
              dz *= scale[dim - 1];
              const double yz   = y * z;
              value             = x * yz;
              gradient[0]       = dx * yz;
              gradient[1]       = x * (dy * z);
              gradient[dim - 1] = x * (y * dz);
            }
        }

        template <int dim>
        __device__ __forceinline__ double
        dot(const double (&a)[dim], const double (&b)[dim])
        {
          double sum = a[0] * b[0];
          for (int d = 1; d < dim; ++d)
            sum = fma(a[d], b[d], sum);
          return sum;
        }



        /// Rows and columns of one polytope.
        struct Place
        {
          unsigned int  n;          // number of functions
          unsigned int  first;      // degree of freedom
          std::uint64_t first_row;  // position of the first row's values
          unsigned int  width;      // of rows
          double        box_factor; // of all functions
          bool          rows;       // belong to the part
        };

        template <int dim>
        __device__ __forceinline__ Place
        place(const Arguments<dim> &A, const unsigned int k)
        {
          Place p;
          p.n          = A.n_basis[k];
          p.first      = (unsigned int)(A.dof_offset[k]);
          p.width      = A.row_width[k];
          p.first_row  = A.value_offset[k] - A.first_value;
          p.box_factor = A.box[k * (2 * dim + 1) + 2 * dim];
          p.rows       = k >= A.begin && k < A.end;
          return p;
        }

        /// Writes or adds one entry: test function i of one polytope, trial
        /// function j of another one.
        template <bool triples, int dim>
        __device__ __forceinline__ void
        put(const Arguments<dim> &A,
            const std::uint64_t   triple,
            const Place          &row,
            const Place          &column,
            const unsigned int    i,
            const unsigned int    j,
            const double          value)
        {
          const bool valid = row.rows && i < row.n && j < column.n;
          if (triples)
            {
              A.keys[triple] =
                valid ? (std::uint64_t(row.first + i) << A.column_bits |
                         (column.first + j))
                      : invalid_key;
              A.entries[triple] = value;
            }
          else if (valid)
            {
              const std::uint64_t begin =
                row.first_row + std::uint64_t(i) * row.width;
              const unsigned int *columns = A.columns + begin;
              const unsigned int  wanted  = column.first + j;
              unsigned int        lower = 0, upper = row.width - 1;
              while (lower < upper)
                {
                  const unsigned int middle = (lower + upper) / 2;
                  if (__ldg(columns + middle) < wanted)
                    lower = middle + 1;
                  else
                    upper = middle;
                }
              atomicAdd(A.values + begin + lower, value);
            }
        }



        /// Entry of the table of coefficients, 0 if the form does not have it.
        template <int dim>
        __device__ __forceinline__ double
        coefficient(const Arguments<dim> &A,
                    const int             array,
                    const unsigned int    q,
                    const unsigned int    t)
        {
          return array < 0
                   ? 0.
                   : __ldg(A.table +
                           (std::size_t(array) * A.n_points + q) * A.n + t);
        }



        /// A sub-cell's geometry.
        template <int dim>
        __device__ __forceinline__ double
        jacobian_determinant(const double *v)
        {
          double J[dim][dim];
          for (int d = 0; d < dim; ++d)
            for (int e = 0; e < dim; ++e)
              J[d][e] = v[(d + 1) * dim + e] - v[e];
          if (dim == 2)
            return fabs(J[0][0] * J[1][1] - J[0][1] * J[1][0]);
          constexpr int l = dim - 1;
          return fabs(J[0][0] * (J[1][1] * J[l][l] - J[1][l] * J[l][1]) -
                      J[0][1] * (J[1][0] * J[l][l] - J[1][l] * J[l][0]) +
                      J[0][l] * (J[1][0] * J[l][1] - J[1][1] * J[l][0]));
        }



        /// Volume integrals, one thread a sub-cell. general: the rule may be in
        /// global memory, coefficients may vary.
        template <int dim, bool triples, bool general>
        __global__ void
        __launch_bounds__(block_size, element_blocks)
          element_kernel(const __grid_constant__ Arguments<dim> A)
        {
          const unsigned int t = blockIdx.x * block_size + threadIdx.x;
          if (t >= A.n)
            return;
          const unsigned int s = A.list[t];
          const unsigned int k = A.subcell_polytope[s];
          const double      *v =
            A.subcell_vertices + std::size_t(s) * ((dim + 1) * dim);
          const AffineMap<dim, dim> map(v, A.shift, A.box + k * (2 * dim + 1));
          const Place               own = place(A, k);
          const double              factor =
            jacobian_determinant<dim>(v) * own.box_factor * own.box_factor;
          const VolumeLayout &V = A.form.volume_layout;

          for (unsigned int j = 0; j < A.n_functions; ++j)
            for (unsigned int i = 0; i < A.n_functions; ++i)
              {
                double sum = 0.;
                for (unsigned int q = 0; q < A.n_points; ++q)
                  {
                    double r[dim], xi[dim], u, du[dim], w, dw[dim];
                    for (int d = 0; d < dim; ++d)
                      r[d] = rule<dim, general>(A, q, d);
                    map.apply(r, xi);
                    evaluate<dim>(functions[j], xi, map.scale, u, du);
                    evaluate<dim>(functions[i], xi, map.scale, w, dw);
                    double value;
                    if (!general || A.form.constant_volume)
                      {
                        if (A.form.diagonal)
                          value = fma(A.form.C[1][1],
                                      dot<dim>(du, dw),
                                      A.form.C[0][0] * (u * w));
                        else
                          {
                            double row = A.form.C[0][0] * u;
                            for (int e = 0; e < dim; ++e)
                              row = fma(A.form.C[0][1 + e], du[e], row);
                            value = w * row;
                            for (int d = 0; d < dim; ++d)
                              {
                                row = A.form.C[1 + d][0] * u;
                                for (int e = 0; e < dim; ++e)
                                  row = fma(A.form.C[1 + d][1 + e], du[e], row);
                                value = fma(dw[d], row, value);
                              }
                          }
                      }
                    else
                      {
                        double row = coefficient(A, V.c, q, t) * u;
                        if (V.b >= 0)
                          for (int e = 0; e < dim; ++e)
                            row =
                              fma(coefficient(A, V.b + e, q, t), du[e], row);
                        value = w * row;
                        if (V.beta >= 0)
                          for (int d = 0; d < dim; ++d)
                            value = fma(dw[d] * u,
                                        coefficient(A, V.beta + d, q, t),
                                        value);
                        if (V.a >= 0 && !V.tensor)
                          value = fma(coefficient(A, V.a, q, t),
                                      dot<dim>(du, dw),
                                      value);
                        if (V.a >= 0 && V.tensor)
                          for (int d = 0; d < dim; ++d)
                            {
                              row = 0.;
                              for (int e = 0; e < dim; ++e)
                                row =
                                  fma(coefficient(A, V.a + d * dim + e, q, t),
                                      du[e],
                                      row);
                              value = fma(dw[d], row, value);
                            }
                      }
                    sum = fma(rule<dim, general>(A, q, dim), value, sum);
                  }
                put<triples>(A,
                             A.first_triple +
                               std::uint64_t(j * A.n_functions + i) * A.n + t,
                             own,
                             own,
                             i,
                             j,
                             factor * sum);
              }
        }



        /// Integrals over interior facets, one thread a facet: four blocks.
        /// general as above.
        template <int dim, bool triples, bool general>
        __global__ void
        __launch_bounds__(block_size, interior_blocks)
          interior_kernel(const __grid_constant__ Arguments<dim> A)
        {
          constexpr int      m = dim - 1;
          const unsigned int t = blockIdx.x * block_size + threadIdx.x;
          if (t >= A.n)
            return;
          const unsigned int f         = A.list[t];
          const unsigned int interface = A.facet_interface[f];
          const unsigned int k0        = A.interface_polytope[2 * interface],
                             k1 = A.interface_polytope[2 * interface + 1];
          const double *v = A.facet_vertices + std::size_t(f) * (dim * dim);
          const AffineMap<m, dim> map0(v, A.shift, A.box + k0 * (2 * dim + 1)),
            map1(v,
                 A.shift + dim * A.interface_shift[interface],
                 A.box + k1 * (2 * dim + 1));
          const Place  p0 = place(A, k0), p1 = place(A, k1);
          const double measure = (dim - 1) * A.facet_measure[f];

          // half of a n, and the values that the penalty and the flow through
          // the facet give; the normal points to side 1
          double conormal[dim], c0 = 0., c1 = 0.;
          if (!general || A.form.constant_facets)
            {
              double bn = 0.;
              for (int d = 0; d < dim; ++d)
                {
                  conormal[d] = 0.;
                  for (int e = 0; e < dim; ++e)
                    conormal[d] += 0.5 * A.form.a[d * dim + e] *
                                   A.facet_normal[std::size_t(f) * dim + e];
                  bn += A.form.b[d] * A.facet_normal[std::size_t(f) * dim + d];
                }
              c0 = A.sigma[f] - fmin(bn, 0.);
              c1 = A.sigma[f] + fmax(bn, 0.);
            }
          const FacetLayout &F = A.form.facet_layout;

          for (unsigned int j = 0; j < A.n_functions; ++j)
            for (unsigned int i = 0; i < A.n_functions; ++i)
              {
                // row side, column side
                double s00 = 0., s01 = 0., s10 = 0., s11 = 0.;
                for (unsigned int q = 0; q < A.n_points; ++q)
                  {
                    double r[m], xi[dim], u0, du0[dim], u1, du1[dim], w0,
                      dw0[dim], w1, dw1[dim];
                    for (int d = 0; d < m; ++d)
                      r[d] = rule<m, general>(A, q, d);
                    const double weight = rule<m, general>(A, q, m);
                    map0.apply(r, xi);
                    evaluate<dim>(functions[j], xi, map0.scale, u0, du0);
                    evaluate<dim>(functions[i], xi, map0.scale, w0, dw0);
                    map1.apply(r, xi);
                    evaluate<dim>(functions[j], xi, map1.scale, u1, du1);
                    evaluate<dim>(functions[i], xi, map1.scale, w1, dw1);
                    if (!general || A.form.constant_facets)
                      {
                        const double flux0 = dot<dim>(conormal, du0),
                                     flux1 = dot<dim>(conormal, du1);
                        const double test0 =
                          A.form.theta * dot<dim>(conormal, dw0);
                        const double test1 =
                          A.form.theta * dot<dim>(conormal, dw1);
                        w0 *= weight;
                        w1 *= weight;
                        const double wu0 = weight * u0, wu1 = weight * u1;
                        s00 += w0 * (c0 * u0 - flux0) - test0 * wu0;
                        s01 += test0 * wu1 - w0 * (c0 * u1 + flux1);
                        s11 += w1 * (c1 * u1 + flux1) + test1 * wu1;
                        s10 += w1 * (flux0 - c1 * u0) - test1 * wu0;
                      }
                    else
                      {
                        const auto term = [&](const int     side,
                                              const int     other,
                                              const double  w,
                                              const double *dw,
                                              const double  u,
                                              const double *du) {
                          const auto at = [&](const int array) {
                            return coefficient(A, side * F.n + array, q, t);
                          };
                          double row =
                                   F.c[other] >= 0 ? at(F.c[other]) * u : 0.,
                                 flux = 0.;
                          if (F.b[other] >= 0)
                            for (int d = 0; d < dim; ++d)
                              row = fma(at(F.b[other] + d), du[d], row);
                          if (F.beta[other] >= 0)
                            for (int d = 0; d < dim; ++d)
                              flux = fma(at(F.beta[other] + d), dw[d], flux);
                          return weight * (w * row + flux * u);
                        };
                        if (p0.rows)
                          {
                            s00 += term(0, 0, w0, dw0, u0, du0);
                            s01 += term(0, 1, w0, dw0, u1, du1);
                          }
                        if (p1.rows)
                          {
                            s11 += term(1, 0, w1, dw1, u1, du1);
                            s10 += term(1, 1, w1, dw1, u0, du0);
                          }
                      }
                  }
                const std::uint64_t first =
                  A.first_triple +
                  4 * std::uint64_t(j * A.n_functions + i) * A.n + t;
                const double f0 = measure * p0.box_factor,
                             f1 = measure * p1.box_factor;
                put<triples>(A, first, p0, p0, i, j, f0 * p0.box_factor * s00);
                put<triples>(
                  A, first + A.n, p0, p1, i, j, f0 * p1.box_factor * s01);
                put<triples>(A,
                             first + 2 * std::uint64_t(A.n),
                             p1,
                             p0,
                             i,
                             j,
                             f1 * p0.box_factor * s10);
                put<triples>(A,
                             first + 3 * std::uint64_t(A.n),
                             p1,
                             p1,
                             i,
                             j,
                             f1 * p1.box_factor * s11);
              }
        }



        /// Integrals over facets at the boundary, one thread a facet.
        template <int dim, bool triples>
        __global__ void
        __launch_bounds__(block_size)
          boundary_kernel(const __grid_constant__ Arguments<dim> A)
        {
          constexpr int      m = dim - 1;
          const unsigned int t = blockIdx.x * block_size + threadIdx.x;
          if (t >= A.n)
            return;
          const unsigned int f = A.list[t];
          const unsigned int k = A.interface_polytope[2 * A.facet_interface[f]];
          const AffineMap<m, dim> map(A.facet_vertices +
                                        std::size_t(f) * (dim * dim),
                                      A.shift,
                                      A.box + k * (2 * dim + 1));
          const Place             own = place(A, k);
          const double            factor =
            (dim - 1) * A.facet_measure[f] * own.box_factor * own.box_factor;
          const FacetLayout &F = A.form.facet_layout;

          for (unsigned int j = 0; j < A.n_functions; ++j)
            for (unsigned int i = 0; i < A.n_functions; ++i)
              {
                double sum = 0.;
                for (unsigned int q = 0; q < A.n_points; ++q)
                  {
                    // (what comes from memory is asked for first)
                    const double c = coefficient(A, F.c[0], q, t);
                    double       b[dim], beta[dim];
                    for (int d = 0; d < dim; ++d)
                      b[d] = beta[d] = 0.;
                    if (F.b[0] >= 0)
                      for (int d = 0; d < dim; ++d)
                        b[d] = coefficient(A, F.b[0] + d, q, t);
                    if (F.beta[0] >= 0)
                      for (int d = 0; d < dim; ++d)
                        beta[d] = coefficient(A, F.beta[0] + d, q, t);
                    double r[m], xi[dim], u, du[dim], w, dw[dim];
                    for (int d = 0; d < m; ++d)
                      r[d] = rule<m, true>(A, q, d);
                    map.apply(r, xi);
                    evaluate<dim>(functions[j], xi, map.scale, u, du);
                    evaluate<dim>(functions[i], xi, map.scale, w, dw);
                    sum = fma(rule<m, true>(A, q, m),
                              fma(w,
                                  fma(c, u, dot<dim>(b, du)),
                                  dot<dim>(beta, dw) * u),
                              sum);
                  }
                put<triples>(A,
                             A.first_triple +
                               std::uint64_t(j * A.n_functions + i) * A.n + t,
                             own,
                             own,
                             i,
                             j,
                             factor * sum);
              }
        }



        /// Right-hand side, one thread a sub-cell (m = dim) or a facet at the
        /// boundary (m = dim - 1).
        template <int dim, int m, bool triples>
        __global__ void
        __launch_bounds__(block_size)
          rhs_kernel(const __grid_constant__ Arguments<dim> A)
        {
          const unsigned int t = blockIdx.x * block_size + threadIdx.x;
          if (t >= A.n)
            return;
          const unsigned int s = A.list[t];
          const unsigned int k =
            m == dim ? A.subcell_polytope[s]
                     : A.interface_polytope[2 * A.facet_interface[s]];
          const double *v =
            m == dim ? A.subcell_vertices + std::size_t(s) * ((dim + 1) * dim)
                     : A.facet_vertices + std::size_t(s) * (dim * dim);
          const AffineMap<m, dim> map(v, A.shift, A.box + k * (2 * dim + 1));
          const Place             own    = place(A, k);
          double                  factor = own.box_factor;
          if (m == dim)
            factor *= jacobian_determinant<dim>(v);
          else
            factor *= (dim - 1) * A.facet_measure[s];
          const int value_array =
            m == dim ? A.form.volume_layout.f : A.form.facet_layout.r;
          const int gradient_array = m == dim ? -1 : A.form.facet_layout.s;

          for (unsigned int i = 0; i < A.n_functions; ++i)
            {
              double sum = 0.;
              for (unsigned int q = 0; q < A.n_points; ++q)
                {
                  double r[m], xi[dim], w, dw[dim];
                  for (int d = 0; d < m; ++d)
                    r[d] = rule<m, true>(A, q, d);
                  map.apply(r, xi);
                  evaluate<dim>(functions[i], xi, map.scale, w, dw);
                  double value = coefficient(A, value_array, q, t) * w;
                  if (gradient_array >= 0)
                    for (int d = 0; d < dim; ++d)
                      value = fma(coefficient(A, gradient_array + d, q, t),
                                  dw[d],
                                  value);
                  sum = fma(rule<m, true>(A, q, m), value, sum);
                }
              const std::uint64_t row = own.first + i;
              if (triples)
                {
                  const std::uint64_t position =
                    A.first_triple + std::uint64_t(i) * A.n + t;
                  A.keys[position]    = row;
                  A.entries[position] = factor * sum;
                }
              else
                atomicAdd(A.rhs + (row - A.first_dof), factor * sum);
            }
        }



        /// The structure of the matrix per block.
        struct Blocks
        {
          const std::uint64_t *dof_offset, *block_offset, *value_offset;
          const unsigned int  *block_column, *column_offset, *row_width;
        };

        /// Approach 2: column indices of all entries of block rows; a thread
        /// block a polytope.
        __global__ void
        pattern_kernel(const Blocks        B,
                       const unsigned int  first_polytope,
                       const std::uint64_t first_value,
                       unsigned int       *columns)
        {
          const unsigned int k     = first_polytope + blockIdx.x;
          const unsigned int width = B.row_width[k];
          const unsigned int n =
            (unsigned int)(B.dof_offset[k + 1] - B.dof_offset[k]);
          const std::uint64_t first = B.value_offset[k] - first_value;
          for (unsigned int c = threadIdx.x; c < width; c += blockDim.x)
            {
              std::uint64_t lower = B.block_offset[k],
                            upper = B.block_offset[k + 1] - 1;
              while (lower < upper)
                {
                  const std::uint64_t middle = (lower + upper + 1) / 2;
                  if (B.column_offset[middle] <= c)
                    lower = middle;
                  else
                    upper = middle - 1;
                }
              const unsigned int column =
                (unsigned int)(B.dof_offset[B.block_column[lower]]) +
                (c - B.column_offset[lower]);
              for (unsigned int i = 0; i < n; ++i)
                columns[first + std::uint64_t(i) * width + c] = column;
            }
        }



        /// Last index in [lower, upper] with offset[index] <= value.
        __device__ __forceinline__ unsigned int
        polytope_of(const std::uint64_t *offset,
                    unsigned int         lower,
                    unsigned int         upper,
                    const std::uint64_t  value)
        {
          while (lower < upper)
            {
              const unsigned int middle = (lower + upper + 1) / 2;
              if (offset[middle] <= value)
                lower = middle;
              else
                upper = middle - 1;
            }
          return lower;
        }

        /// Selects positions at which a new key begins.
        struct IsFirst
        {
          const std::uint64_t *keys;

          __device__ __forceinline__ bool
          operator()(const unsigned int i) const
          {
            return i == 0 || keys[i] != keys[i - 1];
          }
        };

        /// Approach 1: adds up sorted triples of one key, a thread a key. The
        /// sums are written one after the other if they fill the result, else
        /// at the place of their key.
        template <bool matrix>
        __global__ void
        sum_kernel(const std::uint64_t *keys,
                   const double        *entries,
                   const unsigned int  *first,
                   const unsigned int   n_runs,
                   const unsigned int   n_triples,
                   const bool           complete,
                   const Blocks         B,
                   const unsigned int   begin,
                   const unsigned int   end,
                   const unsigned int   column_bits,
                   double              *result)
        {
          const unsigned int run = blockIdx.x * blockDim.x + threadIdx.x;
          if (run >= n_runs)
            return;
          const unsigned int from = first[run],
                             to = run + 1 < n_runs ? first[run + 1] : n_triples;
          const std::uint64_t key = keys[from];
          if (key == invalid_key)
            return;
          double sum = 0.;
          for (unsigned int i = from; i < to; ++i)
            sum += entries[i];
          std::uint64_t position = run;
          if (!complete && !matrix)
            position = key - B.dof_offset[begin];
          else if (!complete)
            {
              const std::uint64_t row = key >> column_bits,
                                  column =
                                    key &
                                    ((std::uint64_t(1) << column_bits) - 1);
              const unsigned int k =
                polytope_of(B.dof_offset, begin, end - 1, row);
              std::uint64_t lower = B.block_offset[k],
                            upper = B.block_offset[k + 1] - 1;
              while (lower < upper)
                {
                  const std::uint64_t middle = (lower + upper + 1) / 2;
                  if (B.dof_offset[B.block_column[middle]] <= column)
                    lower = middle;
                  else
                    upper = middle - 1;
                }
              position = B.value_offset[k] - B.value_offset[begin] +
                         (row - B.dof_offset[k]) * B.row_width[k] +
                         B.column_offset[lower] +
                         (column - B.dof_offset[B.block_column[lower]]);
            }
          result[position] = sum;
        }



        /// Reorders tables of sub-cells [begin, end) of a group.
        __global__ void
        reorder_volume(const unsigned int  *list,
                       const unsigned int   begin,
                       const unsigned int   end,
                       const unsigned int   n,
                       const unsigned int   n_points,
                       const int            n_arrays,
                       const std::uint64_t *subcell_point,
                       const std::uint64_t  first_point,
                       const std::uint64_t  chunk_points,
                       const double        *source,
                       double              *table)
        {
          const std::uint64_t id =
            blockIdx.x * std::uint64_t(blockDim.x) + threadIdx.x;
          const unsigned int t = begin + (unsigned int)(id % (end - begin)),
                             q = (unsigned int)(id / (end - begin));
          if (q >= n_points)
            return;
          const std::uint64_t from = subcell_point[list[t]] - first_point + q;
          for (int a = 0; a < n_arrays; ++a)
            table[(std::size_t(a) * n_points + q) * n + t] =
              source[a * chunk_points + from];
        }

        /// The same for facets whose entry of polytope_interface is in
        /// [begin, end).
        __global__ void
        reorder_facets(const unsigned int  *list,
                       const unsigned int   n,
                       const unsigned int   n_points,
                       const int            n_arrays,
                       const int            n_sides,
                       const unsigned int  *facet_interface,
                       const unsigned int  *facet_offset,
                       const unsigned int  *interface_entry,
                       const unsigned int   begin,
                       const unsigned int   end,
                       const std::uint64_t *entry_point,
                       const std::uint64_t  chunk_points,
                       const double        *source,
                       double              *table)
        {
          const std::uint64_t id =
            blockIdx.x * std::uint64_t(blockDim.x) + threadIdx.x;
          const unsigned int t = (unsigned int)(id % n),
                             q = (unsigned int)(id / n);
          if (q >= n_points)
            return;
          const unsigned int f = list[t], i = facet_interface[f];
          for (int side = 0; side < n_sides; ++side)
            {
              const unsigned int e = interface_entry[2 * i + side];
              if (e < begin || e >= end)
                continue;
              const std::uint64_t from =
                entry_point[e] - entry_point[begin] +
                std::uint64_t(f - facet_offset[i]) * n_points + q;
              for (int a = 0; a < n_arrays; ++a)
                table[(std::size_t(side * n_arrays + a) * n_points + q) * n +
                      t] = source[a * chunk_points + from];
            }
        }



        unsigned int
        n_blocks(const std::uint64_t n_threads, const unsigned int size)
        {
          return static_cast<unsigned int>((n_threads + size - 1) / size);
        }

        double
        seconds_since(const std::chrono::steady_clock::time_point &begin)
        {
          return std::chrono::duration<double>(
                   std::chrono::steady_clock::now() - begin)
            .count();
        }

        std::string
        megabytes(const double bytes)
        {
          return std::to_string(static_cast<std::uint64_t>(
                   std::max(0., bytes) * 1e-6 + 0.999999)) +
                 " MB";
        }
      } // namespace



      template <int dim>
      struct PaperAssembler<dim>::Implementation
      {
        Implementation(const AssemblyStrategy            strategy,
                       const PolytopicMesh<dim>         &mesh,
                       const BlockSparsity              &sparsity,
                       const RuleTables                 &rules,
                       const std::vector<unsigned char> &exponents,
                       const Parallel                   &parallel,
                       const std::size_t                 memory)
          : strategy(strategy)
          , triples(strategy == AssemblyStrategy::coordinate_sort)
          , mesh(mesh)
          , sparsity(sparsity)
          , rules(rules)
          , exponents(exponents)
          , parallel(parallel)
          , memory(memory)
        {}

        /// Simplices of one degree: a launch.
        struct Group
        {
          unsigned int  begin, n; // in the list
          unsigned int  degree, n_functions, n_points;
          std::uint64_t rule;             // first number
          std::uint64_t first_triple = 0; // matrix
          std::uint64_t table        = 0; // first number
          int           n_sides      = 1; // of tables
        };

        struct Part
        {
          unsigned int  begin, end;
          std::uint64_t n_triples; // upper bound
        };

        enum Kind
        {
          elements,
          interior,
          boundary
        };

        template <typename Number>
        void
        copy(Array<Number> &array, const std::vector<Number> &values)
        {
          mesh_memory -= array.size() * sizeof(Number);
          array = Array<Number>(values);
          mesh_memory += array.size() * sizeof(Number);
        }

        template <typename Number>
        void
        copy(const Number             *&pointer,
             Array<Number>             &array,
             const std::vector<Number> &values)
        {
          copy(array, values);
          pointer = array.data();
        }

        unsigned int
        facet_degree(const unsigned int interface) const
        {
          const unsigned int j = mesh.interface_polytope[2 * interface + 1];
          const unsigned int p =
            mesh.degree[mesh.interface_polytope[2 * interface]];
          return j == invalid_index ? p : std::max(p, mesh.degree[j]);
        }

        unsigned int
        facet_functions(const unsigned int interface) const
        {
          const unsigned int j = mesh.interface_polytope[2 * interface + 1];
          const unsigned int n =
            mesh.n_basis[mesh.interface_polytope[2 * interface]];
          return j == invalid_index ? n : std::max(n, mesh.n_basis[j]);
        }

        // What does not depend on the form or a part.
        void
        upload()
        {
          const auto not_simplices = [&](const std::string &what) {
            return Error("The assembly strategy " + name(strategy) +
                         " serves meshes of simplices only, but this one has " +
                         what +
                         " of another type: convert the mesh to simplices, or "
                         "use the strategy " +
                         name(AssemblyStrategy::block_rows) + ".");
          };
          for (const SubCellType type : mesh.subcell_type)
            if (type != SubCellType::simplex)
              throw not_simplices("sub-cells");
          for (const FacetType type : mesh.facet_type)
            if (type != FacetType::simplex)
              throw not_simplices("facets");
          const unsigned int n = mesh.n_polytopes();
          if (mesh.dof_offset.back() >= 0xFFFFFFFFull)
            throw Error("The assembly strategy " + name(strategy) +
                        " serves up to 2^32 - 2 degrees of freedom: use the "
                        "strategy " +
                        name(AssemblyStrategy::block_rows) + ".");
          column_bits = 1;
          while ((1ull << column_bits) <= mesh.dof_offset.back())
            ++column_bits;

          // ---- rules, point by point
          std::vector<double> packed;
          const auto          pack = [&](std::uint64_t           &offset,
                                const RuleTables::Entry &entry,
                                const unsigned int       m) {
            offset = packed.size();
            for (unsigned int q = 0; q < entry.n_points; ++q)
              for (unsigned int d = 0; d <= m; ++d)
                packed.push_back(
                  rules.data[entry.offset + d * entry.n_points + q]);
          };
          for (unsigned int p = 0; p <= 10; ++p)
            {
              pack(subcell_rule[p], rules.subcell[0][p], dim);
              pack(facet_rule[p], rules.facet[0][p], dim - 1);
            }
          copy(rule_data, packed);

          // ---- points, polytopes and interfaces
          subcell_q.assign(1, 0);
          subcell_q.reserve(mesh.n_subcells() + 1);
          std::vector<unsigned int> polytope(mesh.n_subcells()),
            interface(mesh.n_facets());
          for (unsigned int k = 0; k < n; ++k)
            for (unsigned int s = mesh.subcell_offset[k];
                 s < mesh.subcell_offset[k + 1];
                 ++s)
              {
                polytope[s] = k;
                subcell_q.push_back(subcell_q.back() +
                                    rules.subcell[0][mesh.degree[k]].n_points);
              }
          for (unsigned int i = 0; i < mesh.n_interfaces(); ++i)
            std::fill(interface.begin() + mesh.facet_offset[i],
                      interface.begin() + mesh.facet_offset[i + 1],
                      i);
          entry_of_side.assign(2 * std::size_t(mesh.n_interfaces()),
                               invalid_index);
          for (unsigned int e = 0; e < mesh.polytope_interface.size(); ++e)
            entry_of_side[mesh.polytope_interface[e]] = e;
          std::vector<double> map;
          map.reserve((2 * dim + 1) * std::size_t(n));
          for (unsigned int k = 0; k < n; ++k)
            {
              double factor = 1.;
              for (unsigned int d = 0; d < dim; ++d)
                {
                  const double lower = mesh.box[2 * dim * k + d],
                               upper = mesh.box[2 * dim * k + dim + d];
                  map.push_back(0.5 * (lower + upper));
                  map.push_back(2. / (upper - lower));
                  factor *= std::sqrt(1. / (upper - lower));
                }
              map.push_back(factor);
            }

          // ---- copies
          copy(A.box, box, map);
          copy(A.n_basis, n_basis, mesh.n_basis);
          copy(A.dof_offset, dof_offset, mesh.dof_offset);
          copy(A.subcell_polytope, subcell_polytope, polytope);
          copy(A.facet_interface, facet_interface, interface);
          copy(A.subcell_vertices, subcell_vertices, mesh.subcell_vertices);
          copy(A.facet_vertices, facet_vertices, mesh.facet_vertices);
          copy(A.facet_normal, facet_normal, mesh.facet_normal);
          copy(A.facet_measure, facet_measure, mesh.facet_measure);
          copy(A.shift, shift, mesh.shift);
          copy(A.interface_polytope,
               interface_polytope,
               mesh.interface_polytope);
          copy(A.interface_shift, interface_shift, mesh.interface_shift);
          copy(A.value_offset, value_offset, sparsity.value_offset);
          copy(A.row_width, row_width, sparsity.row_width);
          copy(blocks.block_offset, block_offset, sparsity.block_offset);
          copy(blocks.block_column, block_column, sparsity.block_column);
          copy(blocks.column_offset, column_offset, sparsity.column_offset);
          copy(facet_offset, mesh.facet_offset);
          copy(interface_entry, entry_of_side);
          copy(subcell_q_array, subcell_q);
          blocks.dof_offset   = A.dof_offset;
          blocks.value_offset = A.value_offset;
          blocks.row_width    = A.row_width;
          A.column_bits       = column_bits;
        }

        // Constant memory is shared by all assemblers of the process.
        void
        upload_constants()
        {
          double table[121] = {};
          table[0]          = 1.;
          table[12]         = 1.;
          for (unsigned int n = 1; n < 10; ++n)
            for (unsigned int m = 0; m <= n + 1; ++m)
              table[11 * (n + 1) + m] =
                ((2. * n + 1.) * (m > 0 ? table[11 * n + m - 1] : 0.) -
                 n * table[11 * (n - 1) + m]) /
                (n + 1.);
          for (unsigned int n = 0; n <= 10; ++n)
            for (unsigned int m = 0; m <= n; ++m)
              table[11 * n + m] *= std::sqrt(2. * n + 1.);
          check(cudaMemcpyToSymbolAsync(polynomials,
                                        table,
                                        sizeof(table),
                                        0,
                                        cudaMemcpyHostToDevice,
                                        stream),
                "a copy to the device");
          std::vector<uchar4> list(exponents.size() / dim);
          for (std::size_t i = 0; i < list.size(); ++i)
            list[i] = make_uchar4(exponents[dim * i],
                                  exponents[dim * i + 1],
                                  dim == 3 ? exponents[dim * i + dim - 1] : 0,
                                  0);
          check(cudaMemcpyToSymbolAsync(functions,
                                        list.data(),
                                        list.size() * sizeof(uchar4),
                                        0,
                                        cudaMemcpyHostToDevice,
                                        stream),
                "a copy to the device");
          check(cudaStreamSynchronize(stream), "a copy to the device");
        }

        void
        count_facet_points(const FormData<dim> &form)
        {
          entry_q.assign(1, 0);
          entry_q.reserve(mesh.polytope_interface.size() + 1);
          for (const unsigned int code : mesh.polytope_interface)
            {
              const unsigned int i = code / 2;
              const bool         tabulated =
                !form.constant_facets || mesh.neighbor(code) == invalid_index;
              entry_q.push_back(entry_q.back() +
                                (tabulated
                                   ? std::uint64_t(mesh.facet_offset[i + 1] -
                                                   mesh.facet_offset[i]) *
                                       rules.facet[0][facet_degree(i)].n_points
                                   : 0));
            }
        }

        // ---- parts

        // Bytes that a part takes besides its triples, per entry.
        std::uint64_t
        bytes_of_entries(const FormData<dim>  &form,
                         const Target<double> &target,
                         const std::uint64_t   n) const
        {
          return form.matrix
                   ? n * (4 + (target.device_values == nullptr ? 8 : 0))
                   : 0;
        }

        std::vector<Part>
        make_parts(const FormData<dim>  &form,
                   const Target<double> &target,
                   const double          available) const
        {
          std::vector<Part>  parts;
          const unsigned int n = mesh.n_polytopes();
          for (unsigned int k = 0; k < n;)
            {
              Part   part  = {k, k, 0};
              double bytes = 0.;
              for (; k < n; ++k)
                {
                  std::uint64_t n_triples = 0;
                  const double  n_tables =
                    double(form.volume_layout.n) *
                      (subcell_q[mesh.subcell_offset[k + 1]] -
                       subcell_q[mesh.subcell_offset[k]]) +
                    // the other side's tables are there, too
                    2. * form.facet_layout.n *
                      (entry_q[mesh.polytope_interface_offset[k + 1]] -
                       entry_q[mesh.polytope_interface_offset[k]]);
                  if (triples && form.matrix)
                    {
                      if (form.volume)
                        n_triples +=
                          std::uint64_t(mesh.n_basis[k]) * mesh.n_basis[k] *
                          (mesh.subcell_offset[k + 1] - mesh.subcell_offset[k]);
                      if (form.facets)
                        for (unsigned int e = mesh.polytope_interface_offset[k];
                             e < mesh.polytope_interface_offset[k + 1];
                             ++e)
                          {
                            const unsigned int code =
                                                 mesh.polytope_interface[e],
                                               i = code / 2,
                                               j = mesh.neighbor(code);
                            // counted with the other side
                            if (j != invalid_index &&
                                ((j >= part.begin && j < k) ||
                                 (j == k && code % 2 == 1)))
                              continue;
                            const std::uint64_t size = facet_functions(i);
                            n_triples +=
                              (j == invalid_index ? 1 : 4) * size * size *
                              (mesh.facet_offset[i + 1] - mesh.facet_offset[i]);
                          }
                    }
                  if (triples && form.rhs)
                    n_triples +=
                      std::uint64_t(mesh.n_basis[k]) *
                      (mesh.subcell_offset[k + 1] - mesh.subcell_offset[k] + 1);
                  const double more =
                    33. * n_triples + 8. * n_tables +
                    bytes_of_entries(form,
                                     target,
                                     sparsity.value_offset[k + 1] -
                                       sparsity.value_offset[k]) +
                    16. * mesh.n_basis[k];
                  if (bytes + more > available ||
                      part.n_triples + n_triples > max_triples)
                    {
                      if (k == part.begin)
                        throw Error(
                          "The assembly strategy " + name(strategy) +
                          " needs " + megabytes(more) +
                          " of device memory for polytope " +
                          std::to_string(k) + ", but it has " +
                          megabytes(available) +
                          ": raise AdditionalData::device_memory, or use "
                          "the strategy " +
                          name(AssemblyStrategy::block_rows) + ".");
                      break;
                    }
                  bytes += more;
                  part.n_triples += n_triples;
                }
              part.end = k;
              parts.push_back(part);
            }
          return parts;
        }

        // Lists of the simplices that contribute to a part's rows.
        void
        make_groups(const Part &part)
        {
          if (part.begin == listed_begin && part.end == listed_end)
            return;
          listed_begin = listed_end = 0;
          pattern_there             = false;
          std::vector<unsigned int> by_degree[3][11];
          for (unsigned int k = part.begin; k < part.end; ++k)
            {
              for (unsigned int s = mesh.subcell_offset[k];
                   s < mesh.subcell_offset[k + 1];
                   ++s)
                by_degree[elements][mesh.degree[k]].push_back(s);
              for (unsigned int e = mesh.polytope_interface_offset[k];
                   e < mesh.polytope_interface_offset[k + 1];
                   ++e)
                {
                  const unsigned int code = mesh.polytope_interface[e],
                                     i = code / 2, j = mesh.neighbor(code);
                  // those of side 0 have it already
                  if (code % 2 == 1 && j >= part.begin && j < part.end)
                    continue;
                  std::vector<unsigned int> &list =
                    by_degree[j == invalid_index ? boundary : interior]
                             [facet_degree(i)];
                  for (unsigned int f = mesh.facet_offset[i];
                       f < mesh.facet_offset[i + 1];
                       ++f)
                    list.push_back(f);
                }
            }
          std::vector<unsigned int> list;
          for (unsigned int kind = 0; kind < 3; ++kind)
            {
              groups[kind].clear();
              for (unsigned int p = 0; p <= 10; ++p)
                {
                  std::vector<unsigned int> &ids = by_degree[kind][p];
                  if (ids.empty())
                    continue;
                  std::sort(ids.begin(), ids.end());
                  Group group;
                  group.begin  = static_cast<unsigned int>(list.size());
                  group.n      = static_cast<unsigned int>(ids.size());
                  group.degree = p;
                  group.n_functions =
                    kind == elements
                      ? mesh.n_basis[polytope_of_subcell(ids[0])]
                      : facet_functions(interface_of_facet(ids[0]));
                  group.n_points = kind == elements
                                     ? rules.subcell[0][p].n_points
                                     : rules.facet[0][p].n_points;
                  group.rule =
                    kind == elements ? subcell_rule[p] : facet_rule[p];
                  list.insert(list.end(), ids.begin(), ids.end());
                  groups[kind].push_back(group);
                }
            }
          lists        = Array<unsigned int>(list);
          host_list    = std::move(list);
          listed_begin = part.begin;
          listed_end   = part.end;
        }

        unsigned int
        polytope_of_subcell(const unsigned int s) const
        {
          return static_cast<unsigned int>(
            std::upper_bound(mesh.subcell_offset.begin(),
                             mesh.subcell_offset.end(),
                             s) -
            mesh.subcell_offset.begin() - 1);
        }

        unsigned int
        interface_of_facet(const unsigned int f) const
        {
          return static_cast<unsigned int>(
            std::upper_bound(mesh.facet_offset.begin(),
                             mesh.facet_offset.end(),
                             f) -
            mesh.facet_offset.begin() - 1);
        }

        // ---- time

        struct Interval
        {
          std::string name;
          Event       begin, end;
        };

        template <typename Function>
        void
        timed(const std::string &name, const Function &function)
        {
          intervals.push_back(std::make_unique<Interval>());
          intervals.back()->name = name;
          intervals.back()->begin.record(stream);
          function();
          check(cudaGetLastError(), "the start of a kernel");
          intervals.back()->end.record(stream);
        }

        void
        collect(Times &times)
        {
          check(cudaStreamSynchronize(stream), "the assembly on the device");
          for (const auto &interval : intervals)
            {
              const double seconds = interval->end.since(interval->begin);
              if (interval->name == "upload")
                times.upload += seconds;
              else if (interval->name == "download")
                times.download += seconds;
              else
                {
                  times.kernels += seconds;
                  times.add_kernel(interval->name, seconds);
                }
            }
          intervals.clear();
        }

        // ---- coefficients

        // Evaluates the tables of a part, chunk by chunk, and reorders them.
        void
        tabulate(const Part          &part,
                 const FormData<dim> &form,
                 const std::function<void(const Chunk &, double *, double *)>
                       &function,
                 Times &times)
        {
          const int n_volume = form.volume_layout.n,
                    n_facets = form.facet_layout.n;
          std::uint64_t size = 0;
          for (unsigned int kind = 0; kind < 3; ++kind)
            for (Group &group : groups[kind])
              {
                const bool there =
                  kind == elements ||
                  (form.facets && (kind == boundary || !form.constant_facets));
                group.n_sides = kind == interior ? 2 : 1;
                group.table   = size;
                if (there)
                  size +=
                    std::uint64_t(kind == elements ? n_volume
                                                   : group.n_sides * n_facets) *
                    group.n_points * group.n;
              }
          if (size == 0)
            return;
          tables.resize(size);
          if (n_facets > 0)
            copy(entry_q_array, entry_q);

          for (unsigned int k = part.begin; k < part.end;)
            {
              Chunk chunk = {k, k, 0, 0};
              for (; k < part.end; ++k)
                {
                  const std::uint64_t volume =
                    subcell_q[mesh.subcell_offset[k + 1]] -
                    subcell_q[mesh.subcell_offset[chunk.begin]];
                  const std::uint64_t facets =
                    entry_q[mesh.polytope_interface_offset[k + 1]] -
                    entry_q[mesh.polytope_interface_offset[chunk.begin]];
                  if (k > chunk.begin &&
                      volume * n_volume + facets * n_facets > staging_size)
                    break;
                  chunk.n_volume_points = volume;
                  chunk.n_facet_points  = facets;
                }
              chunk.end = k;
              const std::uint64_t volume_size =
                                    chunk.n_volume_points * n_volume,
                                  total = volume_size +
                                          chunk.n_facet_points * n_facets;
              if (total == 0)
                continue;
              check(cudaStreamSynchronize(stream),
                    "the assembly on the device");
              host_staging.resize(total);
              staging.resize(total);
              const auto begin = std::chrono::steady_clock::now();
              function(chunk,
                       host_staging.data(),
                       host_staging.data() + volume_size);
              times.tabulation += seconds_since(begin);
              timed("upload", [&]() {
                check(cudaMemcpyAsync(staging.data(),
                                      host_staging.data(),
                                      total * sizeof(double),
                                      cudaMemcpyHostToDevice,
                                      stream),
                      "a copy to the device");
              });
              times.bytes_up += 8. * total;
              timed("tables", [&]() {
                if (n_volume > 0)
                  for (const Group &group : groups[elements])
                    {
                      const auto first = host_list.begin() + group.begin;
                      const unsigned int begin =
                        std::lower_bound(first,
                                         first + group.n,
                                         mesh.subcell_offset[chunk.begin]) -
                        first;
                      const unsigned int end =
                        std::lower_bound(first,
                                         first + group.n,
                                         mesh.subcell_offset[chunk.end]) -
                        first;
                      if (begin < end)
                        reorder_volume<<<
                          n_blocks(std::uint64_t(end - begin) * group.n_points,
                                   256),
                          256,
                          0,
                          stream>>>(lists.data() + group.begin,
                                    begin,
                                    end,
                                    group.n,
                                    group.n_points,
                                    n_volume,
                                    subcell_q_array.data(),
                                    subcell_q[mesh.subcell_offset[chunk.begin]],
                                    chunk.n_volume_points,
                                    staging.data(),
                                    tables.data() + group.table);
                    }
                if (chunk.n_facet_points * n_facets > 0)
                  for (const Kind kind : {interior, boundary})
                    if (kind == boundary || !form.constant_facets)
                      for (const Group &group : groups[kind])
                        reorder_facets<<<
                          n_blocks(std::uint64_t(group.n) * group.n_points,
                                   256),
                          256,
                          0,
                          stream>>>(lists.data() + group.begin,
                                    group.n,
                                    group.n_points,
                                    n_facets,
                                    group.n_sides,
                                    facet_interface.data(),
                                    facet_offset.data(),
                                    interface_entry.data(),
                                    mesh.polytope_interface_offset[chunk.begin],
                                    mesh.polytope_interface_offset[chunk.end],
                                    entry_q_array.data(),
                                    chunk.n_facet_points,
                                    staging.data() + volume_size,
                                    tables.data() + group.table);
              });
            }
        }

        // ---- kernels

        // Arguments of a group; the rule goes to constant memory if it fits.
        void
        set_group(const Kind kind, const Group &group)
        {
          A.list        = lists.data() + group.begin;
          A.n           = group.n;
          A.n_functions = group.n_functions;
          A.n_points    = group.n_points;
          A.table       = tables.data() + group.table;
          const std::size_t size =
            (kind == elements ? dim + 1 : dim) * group.n_points;
          A.rule = rule_data.data() + group.rule;
          if (size <= max_constant_rule)
            {
              check(cudaMemcpyToSymbolAsync(constant_rule,
                                            A.rule,
                                            size * sizeof(double),
                                            0,
                                            cudaMemcpyDeviceToDevice,
                                            stream),
                    "a copy on the device");
              A.rule = nullptr;
            }
        }

        template <bool sort>
        void
        launch_matrix(const Kind kind, const Group &group)
        {
          const unsigned int n = n_blocks(group.n, block_size);
          if (kind == elements)
            {
              if (A.form.constant_volume && A.rule == nullptr)
                element_kernel<dim, sort, false>
                  <<<n, block_size, 0, stream>>>(A);
              else
                element_kernel<dim, sort, true>
                  <<<n, block_size, 0, stream>>>(A);
            }
          else if (kind == interior)
            {
              if (A.form.constant_facets && A.rule == nullptr)
                interior_kernel<dim, sort, false>
                  <<<n, block_size, 0, stream>>>(A);
              else
                interior_kernel<dim, sort, true>
                  <<<n, block_size, 0, stream>>>(A);
            }
          else
            boundary_kernel<dim, sort><<<n, block_size, 0, stream>>>(A);
        }

        template <bool sort>
        void
        launch_rhs(const Kind kind, const Group &group)
        {
          const unsigned int n = n_blocks(group.n, block_size);
          if (kind == elements)
            rhs_kernel<dim, dim, sort><<<n, block_size, 0, stream>>>(A);
          else
            rhs_kernel<dim, dim - 1, sort><<<n, block_size, 0, stream>>>(A);
        }

        // Runs the matrix kernels or those of the right-hand side; returns the
        // number of triples.
        std::uint64_t
        run_groups(const bool matrix)
        {
          const char *const names[3]  = {"elements",
                                         "interior facets",
                                         "boundary facets"};
          std::uint64_t     n_triples = 0;
          for (const Kind kind : {elements, interior, boundary})
            {
              if (matrix
                    ? (kind == elements ? !A.form.volume : !A.form.facets)
                    : (kind == elements ? A.form.volume_layout.f < 0
                                        : (kind == interior || !A.form.facets ||
                                           A.form.facet_layout.r < 0)))
                continue;
              for (const Group &group : groups[kind])
                {
                  timed(matrix ? names[kind] : "right-hand side", [&]() {
                    set_group(kind, group);
                    A.first_triple = n_triples;
                    if (matrix && triples)
                      launch_matrix<true>(kind, group);
                    else if (matrix)
                      launch_matrix<false>(kind, group);
                    else if (triples)
                      launch_rhs<true>(kind, group);
                    else
                      launch_rhs<false>(kind, group);
                  });
                  n_triples +=
                    std::uint64_t(group.n) * group.n_functions *
                    (matrix ? (kind == interior ? 4 : 1) * group.n_functions
                            : 1);
                }
            }
          return n_triples;
        }

        // Sorts triples and adds them up into the result of given size.
        template <bool matrix>
        void
        sort_and_sum(const Part         &part,
                     const std::uint64_t n_triples,
                     const std::uint64_t size,
                     double             *result)
        {
          const unsigned int n = static_cast<unsigned int>(n_triples);
          cub::DoubleBuffer<std::uint64_t> key_buffer(keys[0].data(),
                                                      keys[1].data());
          cub::DoubleBuffer<double>        entry_buffer(entries[0].data(),
                                                 entries[1].data());
          const int           n_bits = matrix ? 2 * column_bits : column_bits;
          unsigned int        n_runs = 0;
          std::uint64_t       last   = invalid_key;
          std::size_t         bytes  = 0;
          unsigned int *const count  = counter.data();
          if (n > 0)
            {
              check(cub::DeviceRadixSort::SortPairs(nullptr,
                                                    bytes,
                                                    key_buffer,
                                                    entry_buffer,
                                                    n,
                                                    0,
                                                    n_bits,
                                                    stream),
                    "the sort of triples");
              temporary.resize(bytes);
              timed("sort", [&]() {
                check(cub::DeviceRadixSort::SortPairs(temporary.data(),
                                                      bytes,
                                                      key_buffer,
                                                      entry_buffer,
                                                      n,
                                                      0,
                                                      n_bits,
                                                      stream),
                      "the sort of triples");
              });
              const IsFirst first = {key_buffer.Current()};
              const thrust::counting_iterator<unsigned int> numbers(0);
              runs.resize(size + 1);
              check(cub::DeviceSelect::If(nullptr,
                                          bytes,
                                          numbers,
                                          runs.data(),
                                          count,
                                          static_cast<int>(n),
                                          first,
                                          stream),
                    "the search for equal triples");
              temporary.resize(bytes);
              timed("sum", [&]() {
                check(cub::DeviceSelect::If(temporary.data(),
                                            bytes,
                                            numbers,
                                            runs.data(),
                                            count,
                                            static_cast<int>(n),
                                            first,
                                            stream),
                      "the search for equal triples");
              });
              check(cudaMemcpyAsync(&n_runs,
                                    count,
                                    sizeof(n_runs),
                                    cudaMemcpyDeviceToHost,
                                    stream),
                    "a copy from the device");
              check(cudaMemcpyAsync(&last,
                                    key_buffer.Current() + n - 1,
                                    sizeof(last),
                                    cudaMemcpyDeviceToHost,
                                    stream),
                    "a copy from the device");
              check(cudaStreamSynchronize(stream),
                    "the assembly on the device");
            }
          const std::uint64_t n_entries =
            n_runs - (n_runs > 0 && last == invalid_key ? 1 : 0);
          timed("sum", [&]() {
            if (n_entries < size)
              check(cudaMemsetAsync(result, 0, size * sizeof(double), stream),
                    "a write on the device");
            if (n_runs > 0)
              sum_kernel<matrix><<<n_blocks(n_runs, 256), 256, 0, stream>>>(
                key_buffer.Current(),
                entry_buffer.Current(),
                runs.data(),
                n_runs,
                n,
                n_entries == size,
                blocks,
                part.begin,
                part.end,
                column_bits,
                result);
          });
        }

        // ---- results

        void
        download(const Part           &part,
                 const FormData<dim>  &form,
                 const Target<double> &target,
                 Times                &times)
        {
          const auto fetch = [&](const double       *from,
                                 const std::uint64_t n) -> const double * {
            host_staging.resize(n);
            timed("download", [&]() {
              check(cudaMemcpyAsync(host_staging.data(),
                                    from,
                                    n * sizeof(double),
                                    cudaMemcpyDeviceToHost,
                                    stream),
                    "a copy from the device");
            });
            check(cudaStreamSynchronize(stream), "the assembly on the device");
            times.bytes_down += 8. * n;
            return host_staging.data();
          };
          const auto move =
            [&](double *to, const double *from, const std::uint64_t n) {
              parallel(n,
                       1u << 16,
                       [&](const std::size_t begin, const std::size_t end) {
                         std::memcpy(to + begin,
                                     from + begin,
                                     (end - begin) * sizeof(double));
                       });
            };
          if (form.matrix && target.device_values == nullptr)
            for (unsigned int k = part.begin; k < part.end;)
              {
                const unsigned int begin = k;
                for (++k; k < part.end && sparsity.value_offset[k + 1] -
                                              sparsity.value_offset[begin] <=
                                            staging_size;
                     ++k)
                  ;
                const std::uint64_t first = sparsity.value_offset[begin],
                                    n     = sparsity.value_offset[k] - first;
                const double *const from =
                  fetch(A.values + (first - A.first_value), n);
                if (target.store_block_rows)
                  parallel(k - begin,
                           16,
                           [&](const std::size_t from_row,
                               const std::size_t to_row) {
                             target.store_block_rows(
                               begin + from_row,
                               begin + to_row,
                               from + (sparsity.value_offset[begin + from_row] -
                                       first));
                           });
                else
                  move(target.host_values + first, from, n);
              }
          if (form.rhs && target.device_rhs == nullptr)
            {
              const std::uint64_t first = mesh.dof_offset[part.begin],
                                  n     = mesh.dof_offset[part.end] - first;
              move(target.host_rhs + first, fetch(A.rhs, n), n);
            }
        }

        void
        assemble_part(
          const Part           &part,
          const FormData<dim>  &form,
          const Target<double> &target,
          const std::function<void(const Chunk &, double *, double *)>
                &tabulate,
          Times &times)
        {
          make_groups(part);
          A.begin                      = part.begin;
          A.end                        = part.end;
          A.first_value                = sparsity.value_offset[part.begin];
          A.first_dof                  = mesh.dof_offset[part.begin];
          const std::uint64_t n_values = form.matrix
                                           ? sparsity.value_offset[part.end] -
                                               A.first_value
                                           : 0,
                              n_rhs    = form.rhs ? mesh.dof_offset[part.end] -
                                                   A.first_dof
                                                  : 0;
          if (target.device_values != nullptr)
            A.values = target.device_values + A.first_value;
          else
            {
              values.resize(n_values);
              A.values = values.data();
            }
          if (target.device_rhs != nullptr)
            A.rhs = target.device_rhs + A.first_dof;
          else
            {
              rhs.resize(n_rhs);
              A.rhs = rhs.data();
            }
          this->tabulate(part, form, tabulate, times);

          if (triples)
            {
              std::uint64_t n_triples = 0, n_rhs_triples = 0;
              for (const Kind kind : {elements, interior, boundary})
                for (const Group &group : groups[kind])
                  {
                    const std::uint64_t size =
                      std::uint64_t(group.n) * group.n_functions;
                    if (kind == elements ? form.volume : form.facets)
                      n_triples +=
                        size * group.n_functions * (kind == interior ? 4 : 1);
                    if (kind != interior)
                      n_rhs_triples += size;
                  }
              const std::uint64_t n = std::max(form.matrix ? n_triples : 0,
                                               form.rhs ? n_rhs_triples : 0);
              for (unsigned int b = 0; b < 2; ++b)
                {
                  keys[b].resize(n);
                  entries[b].resize(n);
                }
              A.keys    = keys[0].data();
              A.entries = entries[0].data();
              counter.resize(1);
              if (form.matrix)
                sort_and_sum<true>(part, run_groups(true), n_values, A.values);
              if (form.rhs)
                sort_and_sum<false>(part, run_groups(false), n_rhs, A.rhs);
            }
          else
            {
              if (form.matrix)
                {
                  columns.resize(n_values);
                  A.columns = columns.data();
                  if (!pattern_there)
                    timed("pattern", [&]() {
                      pattern_kernel<<<part.end - part.begin, 128, 0, stream>>>(
                        blocks, part.begin, A.first_value, columns.data());
                    });
                  pattern_there = true;
                  timed("zero", [&]() {
                    check(cudaMemsetAsync(
                            A.values, 0, n_values * sizeof(double), stream),
                          "a write on the device");
                  });
                  run_groups(true);
                }
              if (form.rhs)
                {
                  timed("zero", [&]() {
                    check(
                      cudaMemsetAsync(A.rhs, 0, n_rhs * sizeof(double), stream),
                      "a write on the device");
                  });
                  run_groups(false);
                }
            }
          download(part, form, target, times);
          collect(times);
        }

        // Bytes on the device of what depends on a part.
        std::size_t
        part_memory() const
        {
          return 8 * (values.size() + rhs.size() + tables.size() +
                      staging.size() + keys[0].size() + keys[1].size() +
                      entries[0].size() + entries[1].size()) +
                 4 * (columns.size() + runs.size() + lists.size()) +
                 temporary.size();
        }

        const AssemblyStrategy           strategy;
        const bool                       triples;
        const PolytopicMesh<dim>        &mesh;
        const BlockSparsity             &sparsity;
        const RuleTables                 rules;
        const std::vector<unsigned char> exponents;
        const Parallel                   parallel;
        const std::size_t                memory;

        std::uint64_t staging_size = max_staging_size;
        std::size_t   mesh_memory  = 0; // bytes that do not depend on a part

        std::vector<std::uint64_t> subcell_q, entry_q;
        std::vector<unsigned int>  entry_of_side, host_list;
        std::uint64_t              subcell_rule[11], facet_rule[11];
        unsigned int               column_bits  = 1;
        unsigned int               listed_begin = 0, listed_end = 0;
        bool                       pattern_there = false;
        std::vector<Group>         groups[3];

        Arguments<dim>       A      = {};
        Blocks               blocks = {};
        Array<double>        box, subcell_vertices, facet_vertices;
        Array<double>        facet_normal, facet_measure, shift, sigma;
        Array<double>        rule_data, tables, staging, values, rhs;
        Array<double>        entries[2];
        Array<std::uint64_t> keys[2];
        Array<double, true>  host_staging;
        Array<unsigned int>  n_basis, subcell_polytope, facet_interface;
        Array<unsigned int>  interface_polytope, interface_shift;
        Array<unsigned int>  interface_entry, facet_offset;
        Array<unsigned int>  row_width, columns, lists, runs, counter;
        Array<unsigned int>  block_column, column_offset;
        Array<std::uint64_t> dof_offset, value_offset, block_offset;
        Array<std::uint64_t> subcell_q_array, entry_q_array;
        Array<unsigned char> temporary;

        Stream                                 stream;
        std::vector<std::unique_ptr<Interval>> intervals;
      };



      template <int dim>
      PaperAssembler<dim>::PaperAssembler(
        const AssemblyStrategy            strategy,
        const PolytopicMesh<dim>         &mesh,
        const BlockSparsity              &sparsity,
        const RuleTables                 &rules,
        const std::vector<unsigned char> &exponents,
        const Parallel                   &parallel,
        const std::size_t                 memory)
        : implementation(std::make_unique<Implementation>(
            strategy, mesh, sparsity, rules, exponents, parallel, memory))
      {
        implementation->upload();
      }



      template <int dim>
      PaperAssembler<dim>::~PaperAssembler() = default;



      template <int dim>
      const std::uint64_t *
      PaperAssembler<dim>::subcell_points() const
      {
        return implementation->subcell_q.data();
      }



      template <int dim>
      const std::uint64_t *
      PaperAssembler<dim>::entry_points() const
      {
        return implementation->entry_q.data();
      }



      template <int dim>
      Times
      PaperAssembler<dim>::assemble(
        const FormData<dim>                                          &form,
        const Penalty                                                &penalty,
        const std::function<void(const Chunk &, double *, double *)> &tabulate,
        const Target<double>                                         &target)
      {
        static std::mutex           mutex; // of constant memory
        std::lock_guard<std::mutex> lock(mutex);

        Implementation &I = *implementation;
        Times           times;
        times.kernel = std::string("one thread a simplex, ") +
                       (I.triples ? "sort and sum of coordinate triples"
                                  : "binary search and atomic additions");
        I.intervals.clear();
        I.A.form = form;
        I.count_facet_points(form);
        I.upload_constants();
        if (form.constant_facets)
          I.copy(I.A.sigma,
                 I.sigma,
                 std::vector<double>(penalty.sigma,
                                     penalty.sigma + I.mesh.n_facets()));

        std::size_t free = 0, total = 0;
        check(cudaMemGetInfo(&free, &total), "the query of free memory");
        // (the rest is for lists and for what the sort needs)
        double available = 0.9 * (double(free) + I.part_memory());
        if (I.memory > 0)
          available =
            std::min(available, double(I.memory) - double(I.mesh_memory));
        I.staging_size = std::min(max_staging_size,
                                  static_cast<std::uint64_t>(
                                    std::max(4096., available / 64.)));
        available -= 8. * I.staging_size;
        const auto begin = std::chrono::steady_clock::now();
        try
          {
            const auto parts = I.make_parts(form, target, available);
            for (const auto &part : parts)
              I.assemble_part(part, form, target, tabulate, times);
            times.n_parts = parts.size();
          }
        catch (...)
          {
            // Nothing may still write to buffers.
            cudaStreamSynchronize(I.stream);
            cudaGetLastError();
            throw;
          }
        times.memory = I.mesh_memory + I.part_memory();
        times.loop   = seconds_since(begin);
        times.idle =
          std::max(0.,
                   times.loop - times.kernels - times.upload - times.download);
        return times;
      }



      template class PaperAssembler<2>;
      template class PaperAssembler<3>;
    } // namespace Device
  }   // namespace internal
} // namespace Tessella
