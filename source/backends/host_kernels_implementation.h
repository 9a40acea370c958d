// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Host kernels for one instruction set. Each host_kernels_*.cc includes this
// file once and defines TESSELLA_LANES (doubles per vector), TESSELLA_TILE_ROWS
// and TESSELLA_TILE_COLUMNS (register blocking of the product) and
// TESSELLA_KERNELS (name of the function that returns the table).

#include <tessella/portable/geometry.h>
#include <tessella/portable/legendre.h>

#include <cstdint>

#include "host_kernels.h"
#if defined(__SSE2__)
#  include <emmintrin.h>
#endif

namespace Tessella
{
  namespace internal
  {
    namespace HostKernels
    {
      namespace
      {
        constexpr unsigned int lanes = TESSELLA_LANES;

        typedef double Vector __attribute__((vector_size(8 * TESSELLA_LANES)));

        // The same vector in memory that is aligned for doubles only.
        typedef double UnalignedVector
          __attribute__((vector_size(8 * TESSELLA_LANES), aligned(8)));

        inline Vector
        load(const double *p)
        {
          return *reinterpret_cast<const UnalignedVector *>(p);
        }

        inline void
        store(double *p, const Vector v)
        {
          *reinterpret_cast<UnalignedVector *>(p) = v;
        }

        inline Vector
        broadcast(const double s)
        {
          return Vector{} + s;
        }

        // Pairwise sum: adds lane l and lane l + lanes/2, and so on.
        inline double
        sum(const Vector v)
        {
#if TESSELLA_LANES == 8
          typedef long long Index __attribute__((vector_size(64)));
          const Vector      a =
            v + __builtin_shuffle(v, Index{4, 5, 6, 7, 0, 1, 2, 3});
          const Vector b =
            a + __builtin_shuffle(a, Index{2, 3, 0, 1, 6, 7, 4, 5});
          return b[0] + b[1];
#elif TESSELLA_LANES == 4
          typedef long long Index __attribute__((vector_size(32)));
          const Vector      a = v + __builtin_shuffle(v, Index{2, 3, 0, 1});
          return a[0] + a[1];
#else
          return v[0] + v[1];
#endif
        }



        template <int dim>
        void
        affine_points(const double      *origin,
                      const double      *edges,
                      const unsigned int n_edges,
                      const double       determinant,
                      const Rule        &rule,
                      double *const     *x,
                      double            *w)
        {
          for (unsigned int q = 0; q < rule.n_padded; q += lanes)
            {
              Vector value[dim];
              for (int e = 0; e < dim; ++e)
                value[e] = broadcast(origin[e]);
              for (unsigned int d = 0; d < n_edges; ++d)
                {
                  const Vector xi = load(rule.points + d * rule.n_padded + q);
                  for (int e = 0; e < dim; ++e)
                    value[e] += xi * edges[d * dim + e];
                }
              for (int e = 0; e < dim; ++e)
                store(x[e] + q, value[e]);
              store(w + q, load(rule.weights + q) * determinant);
            }
        }



        template <int dim>
        void
        multilinear_subcell(const double  *vertices,
                            const Rule    &rule,
                            double *const *x,
                            double        *w)
        {
          for (unsigned int q = 0; q < rule.n_padded; q += lanes)
            {
              Vector xi[dim], y[dim], J[dim][dim];
              for (int d = 0; d < dim; ++d)
                xi[d] = load(rule.points + d * rule.n_padded + q);
              Geometry::multilinear_map<dim, dim>(vertices, xi, y, J);
              for (int e = 0; e < dim; ++e)
                store(x[e] + q, y[e]);
              store(w + q, load(rule.weights + q) * Geometry::determinant(J));
            }
        }



        inline Vector
        square_root(const Vector v)
        {
          Vector r = v;
          for (unsigned int l = 0; l < lanes; ++l)
            r[l] = __builtin_sqrt(v[l]);
          return r;
        }

        template <int dim>
        void
        multilinear_facet(const double  *vertices,
                          const Rule    &rule,
                          double *const *x,
                          double *const *normal,
                          double        *w)
        {
          if constexpr (dim > 2)
            for (unsigned int q = 0; q < rule.n_padded; q += lanes)
              {
                Vector xi[dim - 1], y[dim], J[dim - 1][dim], n[dim];
                for (int d = 0; d + 1 < dim; ++d)
                  xi[d] = load(rule.points + d * rule.n_padded + q);
                Geometry::multilinear_map<dim - 1, dim>(vertices, xi, y, J);
                Geometry::cross_product(J, n);
                Vector square = n[0] * n[0];
                for (int e = 1; e < dim; ++e)
                  square += n[e] * n[e];
                const Vector area = square_root(square);
                for (int e = 0; e < dim; ++e)
                  {
                    store(x[e] + q, y[e]);
                    store(normal[e] + q, n[e] / area);
                  }
                store(w + q, load(rule.weights + q) * area);
              }
        }



        // Exponents of the functions of total degree at most `degree`, in the
        // order of Legendre, as compile-time constants.
        template <int dim, unsigned int degree>
        struct FixedExponents
        {
          static constexpr unsigned int n =
            Legendre::n_functions(dim, degree, false);
          unsigned char e[n][3] = {};

          constexpr FixedExponents()
          {
            unsigned int i = 0;
            for (unsigned int grade = 0; grade <= degree; ++grade)
              for (unsigned int a = grade + 1; a-- > 0;)
                for (unsigned int b = grade - a + 1; b-- > 0;)
                  if (dim == 3 || a + b == grade)
                    {
                      e[i][0] = a;
                      e[i][1] = b;
                      e[i][2] = grade - a - b;
                      ++i;
                    }
          }
        };

        // One-dimensional basis functions on the bounding box, values and
        // derivatives.
        template <int dim>
        struct Box
        {
          explicit Box(const double *box)
          {
            for (int d = 0; d < dim; ++d)
              {
                const double lower = box[d], upper = box[dim + d];
                center[d]           = 0.5 * (lower + upper);
                scale[d]            = 2. / (upper - lower);
                value_scale[d]      = __builtin_sqrt(1. / (upper - lower));
                derivative_scale[d] = value_scale[d] * scale[d];
              }
          }

          // Values and, if wanted, derivatives of the functions of variable d.
          template <bool gradients>
          inline void
          evaluate(const unsigned int degree,
                   const int          d,
                   const Vector       x,
                   Vector            *v,
                   Vector            *g) const
          {
            const Vector xi = (x - center[d]) * scale[d];
            if (gradients)
              Legendre::evaluate<Vector>(degree, xi, v, g);
            else
              Legendre::evaluate<Vector>(degree, xi, v);
            for (unsigned int k = 0; k <= degree; ++k)
              {
                v[k] *= value_scale[d];
                if (gradients)
                  g[k] *= derivative_scale[d];
              }
          }

          double center[dim], scale[dim], value_scale[dim],
            derivative_scale[dim];
        };

        // Writes one basis function with exponents e as the product of its
        // one-dimensional factors, whose values are v and derivatives g.
        template <int dim, bool gradients, int size>
        inline void
        write_function(const Vector (&v)[dim][size],
                       const Vector (&g)[dim][size],
                       const unsigned char *e,
                       double              *o,
                       const unsigned int   row_stride)
        {
          const Vector a = v[0][e[0]], b = v[1][e[1]];
          if (!gradients)
            {
              const Vector ab = a * b;
              if (dim == 2)
                store(o, ab);
              else if (dim == 3)
                store(o, ab * v[2 % dim][e[2 % dim]]);
              else
                store(o,
                      ab * (v[2 % dim][e[2 % dim]] * v[3 % dim][e[3 % dim]]));
            }
          else if (dim == 2)
            {
              store(o, a * b);
              store(o + row_stride, g[0][e[0]] * b);
              store(o + 2 * row_stride, a * g[1][e[1]]);
            }
          else if (dim == 4)
            {
              const Vector c  = v[2 % dim][e[2 % dim]],
                           t  = v[3 % dim][e[3 % dim]];
              const Vector ab = a * b, ct = c * t;
              store(o, ab * ct);
              store(o + row_stride, g[0][e[0]] * (b * ct));
              store(o + 2 * row_stride, g[1][e[1]] * (a * ct));
              store(o + 3 * row_stride, g[2 % dim][e[2 % dim]] * (ab * t));
              store(o + 4 * row_stride, g[3 % dim][e[3 % dim]] * (ab * c));
            }
          else
            {
              const Vector c  = v[dim - 1][e[dim - 1]];
              const Vector ab = a * b;
              store(o, ab * c);
              store(o + row_stride, g[0][e[0]] * (b * c));
              store(o + 2 * row_stride, g[1][e[1]] * (a * c));
              store(o + 3 * row_stride, ab * g[dim - 1][e[dim - 1]]);
            }
        }

        template <int dim, bool gradients, unsigned int degree>
        void
        evaluate_basis_fixed(const Space         &space,
                             const double *const *x,
                             const unsigned int   n,
                             double              *out,
                             const unsigned int   function_stride,
                             const unsigned int   row_stride)
        {
          constexpr FixedExponents<dim, degree> exponents;
          const Box<dim>                        box(space.box);
          for (unsigned int q = 0; q < n; q += lanes)
            {
              Vector v[dim][degree + 1], g[dim][degree + 1];
              for (int d = 0; d < dim; ++d)
                box.template evaluate<gradients>(
                  degree, d, load(x[d] + q), v[d], g[d]);
              double *o = out + q;
#pragma GCC unroll 64
              for (unsigned int i = 0; i < exponents.n; ++i)
                {
                  write_function<dim, gradients>(
                    v, g, exponents.e[i], o, row_stride);
                  o += function_stride;
                }
            }
        }

        // Values and, if wanted, gradients of all functions.
        template <int dim, bool gradients>
        void
        evaluate_rows(const Space         &space,
                      const double *const *x,
                      const unsigned int   n,
                      double              *out,
                      const unsigned int   function_stride,
                      const unsigned int   row_stride)
        {
          if constexpr (dim < 4)
            if (!space.tensor_product && space.degree >= 1 && space.degree <= 4)
              {
                using Function =
                  decltype(&evaluate_basis_fixed<dim, gradients, 1>);
                constexpr Function fixed[] = {
                  evaluate_basis_fixed<dim, gradients, 1>,
                  evaluate_basis_fixed<dim, gradients, 2>,
                  evaluate_basis_fixed<dim, gradients, 3>,
                  evaluate_basis_fixed<dim, gradients, 4>};
                return fixed[space.degree - 1](
                  space, x, n, out, function_stride, row_stride);
              }

          const Box<dim> box(space.box);
          for (unsigned int q = 0; q < n; q += lanes)
            {
              Vector v[dim][Legendre::max_degree + 1],
                g[dim][Legendre::max_degree + 1];
              for (int d = 0; d < dim; ++d)
                box.template evaluate<gradients>(
                  space.degree, d, load(x[d] + q), v[d], g[d]);
              double              *o = out + q;
              const unsigned char *e = space.exponents;
              for (unsigned int i = 0; i < space.n_functions;
                   ++i, e += dim, o += function_stride)
                write_function<dim, gradients>(v, g, e, o, row_stride);
            }
        }

        template <int dim>
        void
        evaluate_basis(const Space         &space,
                       const double *const *x,
                       const unsigned int   n,
                       double              *out,
                       const unsigned int   function_stride,
                       const unsigned int   row_stride)
        {
          if (row_stride > 0)
            evaluate_rows<dim, true>(
              space, x, n, out, function_stride, row_stride);
          else
            evaluate_rows<dim, false>(space, x, n, out, function_stride, 0);
        }



        template <int dim>
        void
        volume_rows(const VolumeCoefficients<dim> &coefficients,
                    const double                  *w,
                    const unsigned int             n,
                    const unsigned int             n_functions,
                    const double                  *basis,
                    double                        *rows)
        {
          const unsigned int stride  = (dim + 1) * n;
          const bool         value   = coefficients.b[0] || coefficients.c;
          const bool         diffuse = coefficients.a[0];
          const bool         beta    = coefficients.beta[0];
          for (unsigned int q = 0; q < n; q += lanes)
            {
              const Vector wq = load(w + q);
              Vector       a[dim * dim], bt[dim], b[dim], c = Vector{};
              for (int d = 0; d < dim; ++d)
                {
                  bt[d] = beta ? wq * load(coefficients.beta[d] + q) : Vector{};
                  b[d]  = coefficients.b[0] ? wq * load(coefficients.b[d] + q)
                                            : Vector{};
                }
              if (coefficients.c)
                c = wq * load(coefficients.c + q);
              if (diffuse)
                for (int k = 0; k < (coefficients.tensor ? dim * dim : 1); ++k)
                  a[k] = wq * load(coefficients.a[k] + q);

              const double *in  = basis + q;
              double       *out = rows + q;
              for (unsigned int i = 0; i < n_functions;
                   ++i, in += stride, out += stride)
                {
                  Vector g[dim];
                  for (int d = 0; d < dim; ++d)
                    g[d] = load(in + (d + 1) * n);
                  const Vector phi = load(in);
                  if (value)
                    {
                      Vector r = c * phi;
                      if (coefficients.b[0])
                        for (int d = 0; d < dim; ++d)
                          r += b[d] * g[d];
                      store(out, r);
                    }
                  if (diffuse && !coefficients.tensor && !beta)
                    for (int d = 0; d < dim; ++d)
                      store(out + (d + 1) * n, a[0] * g[d]);
                  else if (diffuse || beta)
                    for (int d = 0; d < dim; ++d)
                      {
                        Vector r = bt[d] * phi;
                        if (diffuse && coefficients.tensor)
                          for (int e = 0; e < dim; ++e)
                            r += a[d * dim + e] * g[e];
                        else if (diffuse)
                          r += a[0] * g[d];
                        store(out + (d + 1) * n, r);
                      }
                }
            }
        }



        template <int dim>
        void
        directional(const double *const *direction,
                    const double        *c,
                    const double        *w,
                    const unsigned int   n,
                    const unsigned int   n_functions,
                    const double        *basis,
                    const unsigned int   function_stride,
                    const unsigned int   row_stride,
                    double              *out,
                    const unsigned int   out_stride)
        {
          const bool gradient = (direction != nullptr);
          for (unsigned int q = 0; q < n; q += lanes)
            {
              const Vector wq = load(w + q);
              Vector       b[dim];
              for (int d = 0; d < dim; ++d)
                b[d] = gradient ? wq * load(direction[d] + q) : Vector{};
              const Vector  cq = c ? wq * load(c + q) : Vector{};
              const double *in = basis + q;
              double       *o  = out + q;
              for (unsigned int i = 0; i < n_functions;
                   ++i, in += function_stride, o += out_stride)
                {
                  Vector r = c ? cq * load(in) : Vector{};
                  if (gradient)
                    for (int d = 0; d < dim; ++d)
                      r += b[d] * load(in + (d + 1) * row_stride);
                  store(o, r);
                }
            }
        }



        template <unsigned int mr, unsigned int nr>
        inline void
        tile(const Factor       &left,
             const Factor       &right,
             const unsigned int  n_rows,
             const unsigned int  n,
             double             *C,
             const unsigned long ldc,
             const bool          accumulate)
        {
          Vector a[mr][nr];
          for (unsigned int i = 0; i < mr; ++i)
            for (unsigned int j = 0; j < nr; ++j)
              a[i][j] = Vector{};
          for (unsigned int r = 0; r < n_rows; ++r)
            {
              const double *l = left.data + r * left.row_stride;
              const double *p = right.data + r * right.row_stride;
              for (unsigned int q = 0; q < n; q += lanes)
                {
                  Vector lv[mr], rv[nr];
                  for (unsigned int i = 0; i < mr; ++i)
                    lv[i] = load(l + i * left.function_stride + q);
                  for (unsigned int j = 0; j < nr; ++j)
                    rv[j] = load(p + j * right.function_stride + q);
                  for (unsigned int i = 0; i < mr; ++i)
                    for (unsigned int j = 0; j < nr; ++j)
                      a[i][j] += lv[i] * rv[j];
                }
            }
          for (unsigned int i = 0; i < mr; ++i)
            for (unsigned int j = 0; j < nr; ++j)
              {
                const double s = sum(a[i][j]);
                C[i * ldc + j] = accumulate ? C[i * ldc + j] + s : s;
              }
        }

        typedef void (*Tile)(const Factor &,
                             const Factor &,
                             unsigned int,
                             unsigned int,
                             double *,
                             unsigned long,
                             bool);

        // tiles[mr - 1][nr - 1]
        constexpr Tile tiles[4][4] = {
          {tile<1, 1>, tile<1, 2>, tile<1, 3>, tile<1, 4>},
          {tile<2, 1>, tile<2, 2>, tile<2, 3>, tile<2, 4>},
          {tile<3, 1>, tile<3, 2>, tile<3, 3>, tile<3, 4>},
          {tile<4, 1>, tile<4, 2>, tile<4, 3>, tile<4, 4>}};

        void
        product(const Factor       &left,
                const Factor       &right,
                const unsigned int  n_rows,
                const unsigned int  n,
                double             *C,
                const unsigned long ldc,
                const bool          accumulate,
                const bool          symmetric)
        {
          constexpr unsigned int MR = TESSELLA_TILE_ROWS,
                                 NR = TESSELLA_TILE_COLUMNS;
          const auto part           = [](const Factor      &whole,
                               const unsigned int i,
                               const unsigned int n) -> Factor {
            return {whole.n_functions - i < n ? whole.n_functions - i : n,
                    whole.data + i * whole.function_stride,
                    whole.function_stride,
                    whole.row_stride};
          };
          for (unsigned int i = 0; i < left.n_functions; i += MR)
            {
              const Factor l = part(left, i, MR);
              for (unsigned int j = symmetric ? i / NR * NR : 0;
                   j < right.n_functions;
                   j += NR)
                {
                  const Factor r = part(right, j, NR);
                  tiles[l.n_functions - 1][r.n_functions - 1](
                    l, r, n_rows, n, C + i * ldc + j, ldc, accumulate);
                }
            }
        }



        void
        vector_product(const unsigned int n_functions,
                       const unsigned int n,
                       const double      *left,
                       const unsigned int left_stride,
                       const double      *g,
                       double            *F)
        {
          for (unsigned int i = 0; i < n_functions; ++i)
            {
              Vector a = Vector{};
              for (unsigned int q = 0; q < n; q += lanes)
                a += load(left + i * left_stride + q) * load(g + q);
              F[i] += sum(a);
            }
        }

        // Values of nc components at nv vectors of points.
        template <unsigned int nc, unsigned int nv>
        inline void
        interpolate_tile(const double      *coefficients,
                         const unsigned int coefficient_stride,
                         const unsigned int n_functions,
                         const double      *basis,
                         const unsigned int function_stride,
                         double            *out,
                         const unsigned int component_stride)
        {
          Vector a[nc][nv];
          for (unsigned int c = 0; c < nc; ++c)
            for (unsigned int v = 0; v < nv; ++v)
              a[c][v] = Vector{};
          for (unsigned int i = 0; i < n_functions; ++i)
            {
              Vector phi[nv];
              for (unsigned int v = 0; v < nv; ++v)
                phi[v] = load(basis + i * function_stride + v * lanes);
              for (unsigned int c = 0; c < nc; ++c)
                {
                  const double s = coefficients[c * coefficient_stride + i];
                  for (unsigned int v = 0; v < nv; ++v)
                    a[c][v] += s * phi[v];
                }
            }
          for (unsigned int c = 0; c < nc; ++c)
            for (unsigned int v = 0; v < nv; ++v)
              store(out + c * component_stride + v * lanes, a[c][v]);
        }

        template <unsigned int nc>
        void
        interpolate_components(const double      *coefficients,
                               const unsigned int coefficient_stride,
                               const Factor      &basis,
                               const unsigned int n_rows,
                               const unsigned int n,
                               double            *out,
                               const unsigned int component_stride,
                               const unsigned int out_row_stride)
        {
          // Two sums hide the latency of additions from three components on.
          constexpr unsigned int nv = nc < 3 ? 4 : 2;
          for (unsigned int r = 0; r < n_rows; ++r)
            {
              const double *p = basis.data + r * basis.row_stride;
              double       *o = out + r * out_row_stride;
              unsigned int  q = 0;
              for (; q + nv * lanes <= n; q += nv * lanes)
                interpolate_tile<nc, nv>(coefficients,
                                         coefficient_stride,
                                         basis.n_functions,
                                         p + q,
                                         basis.function_stride,
                                         o + q,
                                         component_stride);
              for (; q < n; q += lanes)
                interpolate_tile<nc, 1>(coefficients,
                                        coefficient_stride,
                                        basis.n_functions,
                                        p + q,
                                        basis.function_stride,
                                        o + q,
                                        component_stride);
            }
        }

        void
        interpolate(const double      *coefficients,
                    const unsigned int coefficient_stride,
                    const unsigned int n_components,
                    const Factor      &basis,
                    const unsigned int n_rows,
                    const unsigned int n,
                    double            *out,
                    const unsigned int component_stride,
                    const unsigned int out_row_stride)
        {
          typedef void (*Function)(const double *,
                                   unsigned int,
                                   const Factor &,
                                   unsigned int,
                                   unsigned int,
                                   double *,
                                   unsigned int,
                                   unsigned int);
          constexpr Function functions[5] = {interpolate_components<1>,
                                             interpolate_components<2>,
                                             interpolate_components<3>,
                                             interpolate_components<4>,
                                             interpolate_components<5>};
          // Groups of equal size, of at most five components.
          const unsigned int n_groups = (n_components + 4) / 5;
          unsigned int       c        = 0;
          for (unsigned int g = 0; g < n_groups; ++g)
            {
              const unsigned int end = n_components * (g + 1) / n_groups;
              functions[end - c - 1](coefficients + c * coefficient_stride,
                                     coefficient_stride,
                                     basis,
                                     n_rows,
                                     n,
                                     out + c * component_stride,
                                     component_stride,
                                     out_row_stride);
              c = end;
            }
        }

        void
        scale(const double      *w,
              const unsigned int n,
              const unsigned int n_rows,
              double            *data,
              const unsigned int row_stride)
        {
          for (unsigned int r = 0; r < n_rows; ++r)
            for (unsigned int q = 0; q < n; q += lanes)
              store(data + r * row_stride + q,
                    load(data + r * row_stride + q) * load(w + q));
        }

        void
        transpose(const Factor      &factor,
                  const unsigned int n_rows,
                  const unsigned int n,
                  double            *to,
                  const unsigned int stride)
        {
          for (unsigned int r = 0; r < n_rows; ++r)
            for (unsigned int q = 0; q < n; ++q)
              {
                const double *from = factor.data + r * factor.row_stride + q;
                double       *row  = to + (r * n + q) * stride;
                unsigned int  j    = 0;
                for (; j < factor.n_functions; ++j)
                  row[j] = from[j * factor.function_stride];
                for (; j < stride; ++j)
                  row[j] = 0.;
              }
        }

        // mr rows and nv vectors of columns, of which n_columns are wanted.
        template <unsigned int mr, unsigned int nv>
        void
        transposed_tile(const Factor       &left,
                        const double       *right,
                        const unsigned int  right_stride,
                        const unsigned int  n_columns,
                        const unsigned int  n_rows,
                        const unsigned int  n,
                        double             *C,
                        const unsigned long ldc)
        {
          Vector a[mr][nv];
          for (unsigned int i = 0; i < mr; ++i)
            for (unsigned int v = 0; v < nv; ++v)
              a[i][v] = Vector{};
          for (unsigned int r = 0; r < n_rows; ++r)
            {
              const double *l = left.data + r * left.row_stride;
              for (unsigned int q = 0; q < n; ++q, right += right_stride)
                {
                  Vector rv[nv];
                  for (unsigned int v = 0; v < nv; ++v)
                    rv[v] = load(right + v * lanes);
                  for (unsigned int i = 0; i < mr; ++i)
                    {
                      const double lv = l[i * left.function_stride + q];
                      for (unsigned int v = 0; v < nv; ++v)
                        a[i][v] += lv * rv[v];
                    }
                }
            }
          for (unsigned int i = 0; i < mr; ++i)
            for (unsigned int v = 0; v < nv; ++v)
              {
                double *to = C + i * ldc + v * lanes;
                if ((v + 1) * lanes <= n_columns)
                  store(to, load(to) + a[i][v]);
                else
                  for (unsigned int c = 0; v * lanes + c < n_columns; ++c)
                    to[c] += a[i][v][c];
              }
        }

        void
        transposed_product(const Factor       &left,
                           const double       *right,
                           const unsigned int  right_stride,
                           const unsigned int  n_columns,
                           const unsigned int  n_rows,
                           const unsigned int  n,
                           double             *C,
                           const unsigned long ldc)
        {
          typedef void (*TransposedTile)(const Factor &,
                                         const double *,
                                         unsigned int,
                                         unsigned int,
                                         unsigned int,
                                         unsigned int,
                                         double *,
                                         unsigned long);
          // [mr - 1][nv - 1]
          constexpr TransposedTile tiles[4][3] = {{transposed_tile<1, 1>,
                                                   transposed_tile<1, 2>,
                                                   transposed_tile<1, 3>},
                                                  {transposed_tile<2, 1>,
                                                   transposed_tile<2, 2>,
                                                   transposed_tile<2, 3>},
                                                  {transposed_tile<3, 1>,
                                                   transposed_tile<3, 2>,
                                                   transposed_tile<3, 3>},
                                                  {transposed_tile<4, 1>,
                                                   transposed_tile<4, 2>,
                                                   transposed_tile<4, 3>}};
          Factor                   l           = left;
          for (unsigned int j = 0; j < n_columns; j += 3 * lanes)
            {
              const unsigned int rest = n_columns - j;
              const unsigned int nv =
                rest >= 3 * lanes ? 3 : (rest + lanes - 1) / lanes;
              for (unsigned int i = 0; i < left.n_functions; i += 4)
                {
                  const unsigned int mr =
                    left.n_functions - i < 4 ? left.n_functions - i : 4;
                  l.data = left.data + i * left.function_stride;
                  tiles[mr - 1][nv - 1](l,
                                        right + j,
                                        right_stride,
                                        rest,
                                        n_rows,
                                        n,
                                        C + i * ldc + j,
                                        ldc);
                }
            }
        }

        template <int dim>
        bool
        is_symmetric(const double *const *a, const unsigned int n_points)
        {
          for (int d = 1; d < dim; ++d)
            for (int e = 0; e < d; ++e)
              {
                const double *const lower = a[d * dim + e], *const upper =
                                                              a[e * dim + d];
                // Comparison masks: all bits of a lane are set, or none.
                auto         same = Vector{} == Vector{};
                unsigned int q    = 0;
                for (; q + lanes <= n_points; q += lanes)
                  same &= load(lower + q) == load(upper + q);
                bool all = true;
                for (unsigned int l = 0; l < lanes; ++l)
                  all = all && same[l] != 0;
                for (; q < n_points; ++q)
                  all = all && lower[q] == upper[q];
                if (!all)
                  return false;
              }
          return true;
        }

        // Computes four vectors at once, so that every load of a coefficient
        // serves all of them.
        template <int dim, bool symmetric>
        void
        four_quadratic_forms(const double *const *a,
                             const unsigned int   n_points,
                             const double *const *vectors,
                             double              *largest)
        {
          constexpr int n = symmetric ? dim * (dim + 1) / 2 : dim * dim;
          const double *entries[n];
          double        c[4][n];
          for (int d = 0, i = 0; d < dim; ++d)
            for (int e = symmetric ? d : 0; e < dim; ++e, ++i)
              {
                entries[i] = a[d * dim + e];
                for (int v = 0; v < 4; ++v)
                  c[v][i] = (symmetric && d != e ? 2. : 1.) * vectors[v][d] *
                            vectors[v][e];
              }
          Vector maximum[4] = {};
          for (unsigned int begin = 0; begin < n_points; begin += lanes)
            {
              // The last SIMD vector may overlap the one before it.
              const unsigned int q =
                begin + lanes <= n_points ? begin : n_points - lanes;
              Vector value[4] = {};
              for (int i = 0; i < n; ++i)
                {
                  const Vector entry = load(entries[i] + q);
                  for (int v = 0; v < 4; ++v)
                    value[v] += c[v][i] * entry;
                }
              for (int v = 0; v < 4; ++v)
                maximum[v] = value[v] > maximum[v] ? value[v] : maximum[v];
            }
          for (int v = 0; v < 4; ++v)
            {
              largest[v] = 0.;
              for (unsigned int l = 0; l < lanes; ++l)
                largest[v] =
                  maximum[v][l] > largest[v] ? maximum[v][l] : largest[v];
            }
        }

        template <int dim>
        void
        largest_quadratic_forms(const double *const *a,
                                const bool           symmetric,
                                const unsigned int   n_points,
                                const double        *vectors,
                                const unsigned int   n_vectors,
                                double              *largest)
        {
          if (n_points < lanes)
            {
              // Repeat points to fill a SIMD vector.
              double        memory[dim * dim][lanes];
              const double *padded[dim * dim];
              for (int d = 0; d < dim * dim; ++d)
                {
                  for (unsigned int q = 0; q < lanes; ++q)
                    memory[d][q] = n_points == 0 ? 0. : a[d][q % n_points];
                  padded[d] = memory[d];
                }
              largest_quadratic_forms<dim>(
                padded, symmetric, lanes, vectors, n_vectors, largest);
              return;
            }
          for (unsigned int first = 0; first < n_vectors; first += 4)
            {
              const double *four[4];
              double        result[4];
              for (unsigned int v = 0; v < 4; ++v)
                four[v] =
                  vectors +
                  dim * (first + v < n_vectors ? first + v : n_vectors - 1);
              if (symmetric)
                four_quadratic_forms<dim, true>(a, n_points, four, result);
              else
                four_quadratic_forms<dim, false>(a, n_points, four, result);
              for (unsigned int v = 0; v < 4 && first + v < n_vectors; ++v)
                largest[first + v] = result[v];
            }
        }

// Members of this namespace.
#include "host_product_kernels.h"

        void
        stream(const double *from, const unsigned int n, double *to)
        {
#if defined(__SSE2__)
          // Whole cache lines of 64 bytes; the remainders at both ends are
          // copied separately.
          const std::uintptr_t misaligned =
            reinterpret_cast<std::uintptr_t>(to) % 64;
          const unsigned int before =
            misaligned == 0
              ? 0
              : static_cast<unsigned int>((64 - misaligned) / sizeof(double));
          unsigned int q = 0;
          for (; q < n && q < before; ++q)
            to[q] = from[q];
          for (; q + 8 <= n; q += 8)
            for (unsigned int l = 0; l < 8; l += 2)
              _mm_stream_pd(to + q + l, _mm_loadu_pd(from + q + l));
          for (; q < n; ++q)
            to[q] = from[q];
#else
          for (unsigned int q = 0; q < n; ++q)
            to[q] = from[q];
#endif
        }

        void
        finish_streams()
        {
#if defined(__SSE2__)
          _mm_sfence();
#endif
        }

        template <int dim>
        constexpr Kernels<dim> table = {affine_points<dim>,
                                        multilinear_subcell<dim>,
                                        multilinear_facet<dim>,
                                        evaluate_basis<dim>,
                                        volume_rows<dim>,
                                        directional<dim>,
                                        product,
                                        vector_product,
                                        is_symmetric<dim>,
                                        largest_quadratic_forms<dim>,
                                        stream,
                                        finish_streams,
                                        interpolate,
                                        scale,
                                        transpose,
                                        transposed_product,
                                        evaluate_function<dim>,
                                        add_product<dim>,
                                        sum_lanes};
      } // namespace



      template <int dim>
      const Kernels<dim> &
      TESSELLA_KERNELS()
      {
        return table<dim>;
      }

      template const Kernels<2> &
      TESSELLA_KERNELS<2>();
      template const Kernels<3> &
      TESSELLA_KERNELS<3>();
      template const Kernels<4> &
      TESSELLA_KERNELS<4>();
    } // namespace HostKernels
  }   // namespace internal
} // namespace Tessella
