// SPDX-License-Identifier: LGPL-2.1-or-later
#ifndef tessella_cuda_hdg_facet_kernel_h
#define tessella_cuda_hdg_facet_kernel_h

#include "hdg_kernel.h"

// Integrals over facets where polytopes are not simplices: by one warp for each
// interface of a polytope, which takes 32 points at a time, a lane each. Sums
// stay in registers and are stored in global memory where elimination reads
// them. Up to 8 hdg_warp_tiles functions values at the points are in registers,
// too, from the products that they come out of to those that they go into;
// more lie in shared memory. A multiprocessor has many such warps at a time,
// none of which waits for another one.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// write_legendre() for the column of a lane: a call, for the sake of
      /// the instruction cache, which all warps of this kernel share, each at
      /// another place.
      template <unsigned int stride>
      __device__ __noinline__ void
      write_legendre_of_lane(const unsigned int degree,
                             const double       xi,
                             const double       scale,
                             double            *values)
      {
        write_legendre(degree, xi, scale, 0., values, nullptr, stride);
      }



      /**
       * Up to 8 T functions of a polytope or a patch. Products give a lane the
       * values of function 8 h + lane / 4 at points 8 u + 2 (lane % 4) + {0,
       * 1}; with the points in another order, the same in both factors, these
       * are the operands of sums over points.
       */
      template <int dim, int T>
      struct HDGFewFacetFunctions
      {
        /// Points, and distance of rows of tables and weights: what a product
        /// reads at a time lies in different banks.
        static constexpr unsigned int n_points = hdg_warp_points,
                                      ld       = row_stride(n_points);
        /// Tiles of points; the second half may be left out.
        static constexpr int U = n_points / 8;

        using Whole  = HDGBlock<dim, HDGStage::elimination>;
        using Values = double[T][U][2];
        using Sums   = double[T][T][2];

        const HDGData<dim> &P;
        double *const       base;
        const unsigned int  e, k, first_row, lane, g, t;
        const Whole         to; ///< the arrays that elimination reads

        __device__
        HDGFewFacetFunctions(const HDGData<dim> &P,
                             double             *base,
                             const unsigned int  e)
          : P(P)
          , base(base)
          , e(e)
          , k(P.entry_polytope[e])
          , first_row(P.entry_row[e])
          , lane(threadIdx.x & 31u)
          , g(lane / 4)
          , t(lane % 4)
          , to(P,
               P.state_layout,
               P.state + std::size_t(k - P.first) * P.state_layout.inverse,
               nullptr,
               k)
        {}

        /// 0 .. 5 + dim: HDGFacetPoint::weights().
        __device__ double *
        weight(const unsigned int i) const
        {
          return base + P.layout.weights + i * ld;
        }
        /// If all points have them in common: normal, S and S - b.n.
        __device__ double *
        factors() const
        {
          return weight(6 + dim);
        }

        __device__ double *
        table(const unsigned int d, const unsigned int degree) const
        {
          return base + P.layout.tables + d * (degree + 1) * ld;
        }

        __device__ void
        write_basis_tables(const double (&x)[dim]) const
        {
          const double *box = P.D.box + 2 * dim * std::size_t(k);
#pragma unroll
          for (int d = 0; d < dim; ++d)
            {
              const double lower = box[d], upper = box[dim + d],
                           reciprocal = 1. / (upper - lower);
              write_legendre_of_lane<ld>(to.degree,
                                         (2. * x[d] - lower - upper) *
                                           reciprocal,
                                         sqrt(reciprocal),
                                         table(d, to.degree) + lane);
            }
        }

        __device__ void
        write_trace_tables(const unsigned int patch,
                           const unsigned int degree,
                           const double (&x)[dim]) const
        {
          const double *frame =
            P.patch_frame + std::size_t(patch) * (dim * (dim + 2));
#pragma unroll
          for (int d = 0; d < dim; ++d)
            {
              const double extent = frame[dim * dim + dim + d];
              double       y      = -frame[dim * dim + d];
#pragma unroll
              for (int i = 0; i < dim; ++i)
                y += frame[d * dim + i] * x[i];
              // (without extent coefficients of all but constants are zero)
              write_legendre_of_lane<ld>(degree,
                                         extent * y,
                                         1.,
                                         table(d, degree) + lane);
            }
        }

        /**
         * values = the sum over j < n_values of coefficient(i, j) times a
         * product of functions in the tables, which rows(j) tells; zero for i
         * >= n_rows. @p triangular: only j <= i occur.
         */
        template <bool triangular, typename Coefficient, typename Rows>
        __device__ void
        combine(Values            &values,
                const unsigned int n_rows,
                const unsigned int n_values,
                const bool         more,
                const Coefficient &coefficient,
                const Rows        &rows) const
        {
#pragma unroll
          for (int h = 0; h < T; ++h)
#pragma unroll
            for (int u = 0; u < U; ++u)
              values[h][u][0] = values[h][u][1] = 0.;
          const double *const tables = base + P.layout.tables + g;
#pragma unroll 1
          for (unsigned int j0 = 0; j0 < n_values; j0 += 4)
            {
              const unsigned int j = j0 + t, row = rows(min(j, n_values - 1));
              double             a[T];
#pragma unroll
              for (int h = 0; h < T; ++h)
                a[h] = 8 * h + g < n_rows && j < n_values
                         ? coefficient(8 * h + g, j)
                         : 0.;
              const double *from[dim];
#pragma unroll
              for (int d = 0; d < dim; ++d)
                from[d] = tables + (row >> (10 * d) & 1023u) * ld;
              const auto wanted = [&](const int h, const int) {
                // (of two tiles that go together that of higher functions)
                return triangular ? j0 < 8 * ((h | 1) + 1u) : 8 * h < n_rows;
              };
              const auto half = [&](const int u0) {
                double b[U / 2], c[T][U / 2][2];
#pragma unroll
                for (int u = 0; u < U / 2; ++u)
                  {
                    b[u] = from[0][8 * (u0 + u)];
#pragma unroll
                    for (int d = 1; d < dim; ++d)
                      b[u] *= from[d][8 * (u0 + u)];
                  }
#pragma unroll
                for (int h = 0; h < T; ++h)
#pragma unroll
                  for (int u = 0; u < U / 2; ++u)
#pragma unroll
                    for (int s = 0; s < 2; ++s)
                      c[h][u][s] = values[h][u0 + u][s];
                WarpProduct<T, U / 2, U / 2, double>::add(c, a, b, wanted);
#pragma unroll
                for (int h = 0; h < T; ++h)
#pragma unroll
                  for (int u = 0; u < U / 2; ++u)
#pragma unroll
                    for (int s = 0; s < 2; ++s)
                      values[h][u0 + u][s] = c[h][u][s];
              };
              half(0);
              if (more)
                half(U / 2);
            }
        }

        /// sums = those over points of left weight right.
        template <typename Wanted>
        __device__ void
        sum(Sums         &sums,
            const Values &left,
            const Values &right,
            const double *weights,
            const bool    more,
            const Wanted &wanted) const
        {
#pragma unroll
          for (int h = 0; h < T; ++h)
#pragma unroll
            for (int u = 0; u < T; ++u)
              sums[h][u][0] = sums[h][u][1] = 0.;
#pragma unroll
          for (int u = 0; u < U; ++u)
            if (u < U / 2 || more)
              {
                const double2 factor =
                  *reinterpret_cast<const double2 *>(weights + 8 * u + 2 * t);
#pragma unroll
                for (int s = 0; s < 2; ++s)
                  {
                    double a[T], b[T];
#pragma unroll
                    for (int h = 0; h < T; ++h)
                      {
                        a[h] = left[h][u][s] * (s == 0 ? factor.x : factor.y);
                        b[h] = right[h][u][s];
                      }
                    WarpProduct<T, T, T, double>::add(sums, a, b, wanted);
                  }
              }
        }

        /// factor times the sums to rows of n_columns, or added to them.
        __device__ void
        put(const Sums        &sums,
            const double       factor,
            double            *to,
            const unsigned int stride,
            const unsigned int n_rows,
            const unsigned int n_columns,
            const bool         replace,
            const bool         lower) const
        {
#pragma unroll
          for (int h = 0; h < T; ++h)
#pragma unroll
            for (int u = 0; u < T; ++u)
              {
                const unsigned int i = 8 * h + g, j = 8 * u + 2 * t;
                if (i >= n_rows || j >= n_columns || (lower && j > i))
                  continue;
                double2 *const pair =
                  reinterpret_cast<double2 *>(to + i * stride + j);
                double2 v =
                  make_double2(factor * sums[h][u][0], factor * sums[h][u][1]);
                if (!replace)
                  {
                    v.x += pair->x;
                    v.y += pair->y;
                  }
                *pair = v;
              }
        }

        /// The sums of a symmetric matrix, lower triangle; with the other one
        /// if @p mirror.
        __device__ void
        put_symmetric(const Sums        &sums,
                      double            *to,
                      const unsigned int stride,
                      const unsigned int n,
                      const bool         replace,
                      const bool         mirror) const
        {
#pragma unroll
          for (int h = 0; h < T; ++h)
#pragma unroll
            for (int u = 0; u <= h; ++u)
#pragma unroll
              for (int s = 0; s < 2; ++s)
                {
                  const unsigned int i = 8 * h + g, j = 8 * u + 2 * t + s;
                  if (i >= n || j > i)
                    continue;
                  double *const entry = to + std::size_t(i) * stride + j;
                  const double  v =
                    replace ? sums[h][u][s] : *entry + sums[h][u][s];
                  *entry = v;
                  if (mirror)
                    to[std::size_t(j) * stride + i] = v;
                }
        }

        /// Whether all points of the slice have the same normal and
        /// stabilisation (up to rounding), which are factors() then.
        __device__ bool
        uniform(const HDGFacetPoint<dim> &point, const bool valid) const
        {
          bool       same   = true;
          const auto follow = [&](const unsigned int i, const double value) {
            const double first = __shfl_sync(~0u, value, 0);
            if (fabs(value - first) > 1e-15 * (i < dim ? 1. : fabs(first)))
              same = false;
            if (lane == 0)
              factors()[i] = value;
          };
#pragma unroll
          for (int d = 0; d < dim; ++d)
            follow(d, point.normal[d]);
          follow(dim, point.S);
          follow(dim + 1, point.difference);
          return __all_sync(~0u, same || !valid);
        }

        /// All matrices of a slice, whose quads are of one patch.
        __device__ void
        integrate(double             *K,
                  double             *partial,
                  const HDGSliceQuad &quad,
                  const double (&x)[dim],
                  const double (&trace_x)[dim],
                  const bool uniform,
                  const bool more,
                  const bool begins,
                  const bool replace) const
        {
          Values     phi, psi;
          Sums       sums;
          const auto all       = [](const int, const int) { return true; };
          const bool advection = to.advection();
          // (of pairs of tiles that go together one suffices)
          const auto lower = [](const int h, const int u) {
            return u <= (h | 1);
          };
          write_basis_tables(x);
          __syncwarp();
          {
            const double *const CT     = to.transform_of_polytope();
            const unsigned int  stride = to.L.stride;
            combine<true>(
              phi,
              to.n,
              to.n,
              more,
              [&](const unsigned int i, const unsigned int j) {
                return CT[j * stride + i];
              },
              [&](const unsigned int j) {
                return rows_of_function(P, j, to.degree);
              });
          }
          // ---- E (without advection elimination reads its lower triangle)
          if (advection)
            sum(sums, phi, phi, weight(3), more, all);
          else
            sum(sums, phi, phi, weight(3), more, lower);
          put(sums,
              1.,
              partial,
              to.L.stride,
              to.n,
              to.padded_n,
              begins,
              !advection);
          const unsigned int n_psi = quad.n_functions;
          if (n_psi == 0)
            return;

          // ---- traces
          const unsigned int degree = P.patch_degree[quad.patch],
                             row    = first_row + quad.row;
          __syncwarp();
          write_trace_tables(quad.patch, degree, trace_x);
          __syncwarp();
          combine<false>(
            psi,
            n_psi,
            quad.n,
            more,
            [&](const unsigned int i, const unsigned int j) {
              return __ldg(quad.coefficients + i * quad.n_all + quad.index(j));
            },
            [&](const unsigned int j) {
              return rows_of_function(P, quad.index(j), degree);
            });
          const auto of_traces = [&](const int h, const int) {
            return 8 * h < n_psi;
          };
          // ---- F for each component, R and T: one after the other, or all of
          // them from the same sums
          const unsigned int n_jobs = dim + (advection ? 2 : 1);
#pragma unroll 1
          for (unsigned int job = 0; job < (uniform ? 1 : n_jobs); ++job)
            {
              sum(sums,
                  psi,
                  phi,
                  weight(uniform     ? 0
                         : job < dim ? 6 + job
                                     : job - dim + 1),
                  more,
                  of_traces);
#pragma unroll 1
              for (unsigned int i = job; i < (uniform ? n_jobs : job + 1); ++i)
                put(sums,
                    uniform ? factors()[i] : 1.,
                    i < dim    ? to.flux_row(row, i)
                    : i == dim ? to.R() + row * to.L.stride
                               : to.T() + row * to.L.stride,
                    i < dim ? to.L.mass_stride : to.L.stride,
                    n_psi,
                    to.padded_n,
                    replace,
                    false);
            }
          // ---- G
          const bool fixed = quad.code & 4u, boundary = quad.code & 2u;
          if (!fixed)
            {
              sum(
                sums, psi, psi, weight(4), more, [&](const int h, const int u) {
                  return u <= (h | 1) && 8 * h < n_psi;
                });
              put_symmetric(sums,
                            K + std::size_t(row) * to.n_all + row,
                            to.n_all,
                            n_psi,
                            replace,
                            advection);
            }
          // ---- integrals of functions, and times data
          integrate_functions(
            psi, weight(0), to.trace_vector(0) + row, n_psi, more, replace);
          if (boundary)
            integrate_functions(
              psi, weight(5), to.trace_vector(1) + row, n_psi, more, replace);
          if (replace && lane < n_psi)
            {
              to.trace_vector(3)[row + lane] = fixed ? 0. : 1. + row;
              if (!boundary)
                to.trace_vector(1)[row + lane] = 0.;
            }
        }

        __device__ void
        integrate_functions(const Values      &psi,
                            const double      *weights,
                            double            *to,
                            const unsigned int n_psi,
                            const bool         more,
                            const bool         replace) const
        {
          double result[T] = {};
#pragma unroll
          for (int u = 0; u < U; ++u)
            if (u < U / 2 || more)
              {
                const double2 factor =
                  *reinterpret_cast<const double2 *>(weights + 8 * u + 2 * t);
#pragma unroll
                for (int h = 0; h < T; ++h)
                  result[h] +=
                    psi[h][u][0] * factor.x + psi[h][u][1] * factor.y;
              }
#pragma unroll
          for (int h = 0; h < T; ++h)
            {
              double v = result[h];
              v += __shfl_xor_sync(~0u, v, 1);
              v += __shfl_xor_sync(~0u, v, 2);
              const unsigned int i = 8 * h + g;
              if (t == 0 && i < n_psi)
                to[i] = replace ? v : to[i] + v;
            }
        }

        /// All of it; returns whether there is some stabilisation. @p partial:
        /// where E goes.
        __device__ bool
        integrate(double *K, double *partial) const
        {
          const unsigned int begin = P.entry_quad[e], end = P.entry_quad[e + 1];
          bool               stabilised = false;
          for (unsigned int slice = begin, n_quads; slice < end;
               slice += n_quads)
            {
              const unsigned int number = min(slice + lane / 4, end - 1);
              const HDGFacetQuad quad   = P.facet_quad[number];
              // (quads of a patch follow each other)
              const unsigned int patch = __shfl_sync(~0u, quad.patch, 0);
              const bool valid = slice + lane / 4 < end && quad.patch == patch;
              n_quads          = __popc(__ballot_sync(~0u, valid)) / 4;
              const HDGFacetPoint<dim> point =
                facet_point_of(P, quad, number, lane % 4, valid);
              stabilised |= point.stabilised();
              // (the sums of the slice before have read theirs)
              __syncwarp();
              point.weights(P.form,
                            quad.code,
                            [&](const int i, const double v) {
                              weight(i)[lane] = v;
                            });
              const bool same = uniform(point, valid);
              integrate(K,
                        partial,
                        make_slice_quad(P, P.facet_quad[slice], first_row),
                        point.x,
                        point.trace_x,
                        same,
                        n_quads > n_points / 8,
                        slice == begin,
                        slice == begin || P.facet_quad[slice - 1].row !=
                                            P.facet_quad[slice].row);
            }
          if (begin == end)
            for (unsigned int i = lane; i < to.n * to.L.stride; i += 32)
              partial[i] = 0.;
          return stabilised;
        }
      };



      /// More functions.
      template <int dim>
      struct HDGFacets
      {
        /// Tiles of eight rows that are summed at a time.
        static constexpr int T = hdg_warp_tiles;
        /// Points, and distance of rows of their values.
        static constexpr unsigned int n_points = hdg_warp_points,
                                      ld       = row_stride(n_points);
        /// Rows and columns of what is summed at a time.
        static constexpr unsigned int n_tile = 8 * T;

        using Whole = HDGBlock<dim, HDGStage::elimination>;

        const HDGData<dim> &P;
        const HDGLayout    &L;
        double *const       base;
        HDGSliceQuad *const slice_quad; ///< in shared memory
        const unsigned int  e, k, first_row, lane, g, t;
        const Whole         to; ///< the arrays that elimination reads

        __device__
        HDGFacets(const HDGData<dim> &P,
                  double             *base,
                  HDGSliceQuad       *slice_quad,
                  const unsigned int  e)
          : P(P)
          , L(P.layout)
          , base(base)
          , slice_quad(slice_quad)
          , e(e)
          , k(P.entry_polytope[e])
          , first_row(P.entry_row[e])
          , lane(threadIdx.x & 31u)
          , g(lane / 4)
          , t(lane % 4)
          , to(P,
               P.state_layout,
               P.state + std::size_t(k - P.first) * P.state_layout.inverse,
               nullptr,
               k)
        {}

        __device__ double *
        weight(const unsigned int i) const
        {
          return base + L.weights + i * n_points;
        }
        __device__ double *
        phi() const
        {
          return base + L.second;
        }
        __device__ double *
        psi() const
        {
          return base + L.first;
        }
        __device__ double *
        generators() const
        {
          return base + L.points;
        }

        /// One-dimensional functions at the lane's point, then its column of
        /// functions on the box, which the polytope sees at @p x, and of
        /// generators of trace functions.
        __device__ void
        evaluate(const double (&x)[dim],
                 const double (&trace_x)[dim],
                 const unsigned int n_quads) const
        {
          double *const       column = base + L.tables + lane;
          const HDGSliceQuad &quad   = slice_quad[min(lane / 4, n_quads - 1)];
          const double       *box    = P.D.box + 2 * dim * std::size_t(k),
                       *frame        = P.patch_frame +
                                std::size_t(quad.patch) * (dim * (dim + 2));
          // (once in the code)
#pragma unroll 1
          for (unsigned int what = 0; what < 2; ++what)
            {
              const bool         basis = what == 0;
              const unsigned int degree =
                basis ? to.degree : P.patch_degree[quad.patch];
#pragma unroll
              for (int d = 0; d < dim; ++d)
                {
                  double xi, scale = 1.;
                  bool   flat = false;
                  if (basis)
                    {
                      const double lower = box[d], upper = box[dim + d],
                                   reciprocal = 1. / (upper - lower);
                      scale                   = sqrt(reciprocal);
                      xi = (2. * x[d] - lower - upper) * reciprocal;
                    }
                  else
                    {
                      const double extent = frame[dim * dim + dim + d];
                      double       y      = -frame[dim * dim + d];
#pragma unroll
                      for (int i = 0; i < dim; ++i)
                        y += frame[d * dim + i] * trace_x[i];
                      xi   = extent * y;
                      flat = extent == 0.;
                    }
                  double *const values =
                    column + d * (degree + 1) * hdg_warp_points;
                  write_legendre_of_lane<n_points>(degree, xi, scale, values);
                  if (flat)
                    for (unsigned int i = 1; i <= degree; ++i)
                      values[i * hdg_warp_points] = 0.;
                }
              double *const      result = (basis ? phi() : generators()) + lane;
              const unsigned int n =
                basis ? to.n : (quad.n_functions > 0 ? quad.n : 0);
#pragma unroll 4
              for (unsigned int i = 0; i < n; ++i)
                result[i * ld] = product_of_functions(P,
                                                      basis ? i : quad.index(i),
                                                      degree,
                                                      column);
            }
        }

        /// The orthonormal functions from those on the box, and, patch by
        /// patch, trace functions from generators. Results may replace what
        /// they are made of: the last rows of the basis come first, as none
        /// depends on later ones, and other rows are stored when all of them
        /// are known.
        __device__ void
        combine(const unsigned int n_quads) const
        {
          constexpr int       TN = n_points / 8;
          const double *const CT = to.transform_of_polytope();
          unsigned int        q0 = 0, q1 = n_quads;
#pragma unroll 1
          for (bool basis = true; basis || q1 < n_quads; basis = false)
            {
              const double         *coefficients = CT, *values = phi();
              double               *result = phi();
              const unsigned short *list   = nullptr;
              unsigned int n_rows = to.n, n_values = to.n, row_step = 1,
                           step = L.stride;
              if (!basis)
                {
                  q0                       = q1;
                  const HDGSliceQuad &quad = slice_quad[q0];
                  q1                       = patch_end(slice_quad, q0, n_quads);
                  coefficients             = quad.coefficients;
                  values                   = generators();
                  result                   = psi();
                  list                     = quad.list;
                  n_rows                   = quad.n_functions;
                  n_values                 = quad.n;
                  row_step                 = quad.n_all;
                  step                     = 1;
                }
              const unsigned int n_columns = 4 * (q1 - q0);
#pragma unroll 1
              for (unsigned int pass = (n_rows + n_tile - 1) / n_tile;
                   pass-- > 0;)
                {
                  const unsigned int i0    = pass * n_tile,
                                     depth = basis ? min(n_values, i0 + n_tile)
                                                   : n_values;
                  double       c[T][TN][2] = {};
                  unsigned int row[T], column[TN];
#pragma unroll
                  for (int h = 0; h < T; ++h)
                    row[h] = min(i0 + 8 * h + g, n_rows - 1) * row_step;
#pragma unroll
                  for (int u = 0; u < TN; ++u)
                    column[u] = 4 * q0 + min(8 * u + g, n_columns - 1);
#pragma unroll 4
                  for (unsigned int j0 = 0; j0 < depth; j0 += 4)
                    {
                      const unsigned int j  = min(j0 + t, depth - 1);
                      const bool         in = j0 + t < depth;
                      const unsigned int at =
                        (list != nullptr ? __ldg(list + j) : j) * step;
                      double a[T], b[TN];
#pragma unroll
                      for (int h = 0; h < T; ++h)
                        {
                          const double value =
                            __ldg(coefficients + row[h] + at);
                          a[h] = in ? value : 0.;
                        }
#pragma unroll
                      for (int u = 0; u < TN; ++u)
                        b[u] = values[j * ld + column[u]];
                      WarpProduct<T, TN, TN, double>::add(
                        c, a, b, [](const int, const int) { return true; });
                    }
                  __syncwarp();
#pragma unroll
                  for (int h = 0; h < T; ++h)
#pragma unroll
                    for (int u = 0; u < TN; ++u)
                      {
                        const unsigned int i = i0 + 8 * h + g,
                                           q = 8 * u + 2 * t;
                        if (i < n_rows && q < n_columns)
                          *reinterpret_cast<double2 *>(result + i * ld +
                                                       4 * q0 + q) =
                            make_double2(c[h][u][0], c[h][u][1]);
                      }
                  __syncwarp();
                }
              if (basis)
                q0 = q1 = 0;
            }
        }

        /// Where a product goes: entries (i, j) to [i ld + j], j below
        /// n_columns, of which those behind the last function are zero.
        struct Destination
        {
          double      *to;
          std::size_t  ld;
          unsigned int n_columns;
          bool         replace; ///< or add
          /// Of a symmetric matrix the lower triangle; with the upper one, and
          /// not in pairs that are aligned.
          bool lower, mirror;
        };

        /// Sums over points [q0, q1) of left_i w right_j.
        __device__ void
        product(const double      *left,
                const unsigned int n_left,
                const double      *right,
                const unsigned int n_right,
                const double      *w,
                const unsigned int q0,
                const unsigned int q1,
                const Destination &to) const
        {
#pragma unroll 1
          for (unsigned int i0 = 0; i0 < n_left; i0 += n_tile)
#pragma unroll 1
            for (unsigned int j0 = 0; j0 < n_right && !(to.lower && j0 > i0);
                 j0 += n_tile)
              {
                double        c[T][T][2] = {};
                const double *row[T], *column[T];
#pragma unroll
                for (int h = 0; h < T; ++h)
                  {
                    row[h] = left + min(i0 + 8 * h + g, n_left - 1) * ld + t;
                    column[h] =
                      right + min(j0 + 8 * h + g, n_right - 1) * ld + t;
                  }
#pragma unroll 2
                for (unsigned int q = q0; q < q1; q += 4)
                  {
                    const double factor = w[q + t];
                    double       a[T], b[T];
#pragma unroll
                    for (int h = 0; h < T; ++h)
                      {
                        a[h] = row[h][q] * factor;
                        b[h] = column[h][q];
                      }
                    WarpProduct<T, T, T, double>::add(
                      c, a, b, [](const int, const int) { return true; });
                  }
#pragma unroll
                for (int h = 0; h < T; ++h)
#pragma unroll
                  for (int u = 0; u < T; ++u)
                    {
                      const unsigned int i = i0 + 8 * h + g,
                                         j = j0 + 8 * u + 2 * t;
                      if (i >= n_left || j >= to.n_columns ||
                          (to.lower && j > i))
                        continue;
                      put(to,
                          i,
                          j,
                          make_double2(j < n_right ? c[h][u][0] : 0.,
                                       j + 1 < n_right ? c[h][u][1] : 0.));
                    }
              }
        }

        __device__ static void
        put(const Destination &to,
            const unsigned int i,
            const unsigned int j,
            double2            v)
        {
          double *const entry = to.to + i * to.ld + j;
          if (!to.mirror)
            {
              double2 *const pair = reinterpret_cast<double2 *>(entry);
              if (!to.replace)
                {
                  v.x += pair->x;
                  v.y += pair->y;
                }
              *pair = v;
              return;
            }
          double *const other = to.to + j * to.ld + i;
          if (!to.replace)
            v.x += entry[0];
          entry[0] = v.x;
          if (j < i)
            {
              other[0] = v.x;
              if (!to.replace)
                v.y += entry[1];
              entry[1] = v.y;
              if (j + 1 < i)
                other[to.ld] = v.y;
            }
        }

        /// Matrices, with the quads of a slice: E, to @p partial, and patch by
        /// patch those with trace functions.
        __device__ void
        integrate(double            *K,
                  double            *partial,
                  const unsigned int slice,
                  const unsigned int n_quads) const
        {
          const bool         begins = slice == P.entry_quad[e];
          const unsigned int n = to.n, padded_n = to.padded_n;
#pragma unroll 1
          for (unsigned int q0 = 0, q1; q0 < n_quads; q0 = q1)
            {
              q1                        = patch_end(slice_quad, q0, n_quads);
              const HDGSliceQuad &quad  = slice_quad[q0];
              const unsigned int  n_psi = quad.n_functions,
                                 row    = first_row + quad.row;
              const bool fixed = quad.code & 4u, boundary = quad.code & 2u,
                         replace =
                           q0 > 0
                             ? slice_quad[q0 - 1].row != quad.row
                             : begins || P.facet_quad[slice - 1].row != row;
              // E; F for each component, R and T; G
#pragma unroll 1
              for (unsigned int job = q0 == 0 ? 0 : 1;
                   job < (n_psi == 0 ? 1 : dim + 4);
                   ++job)
                {
                  if ((job == dim + 2 && !to.advection()) ||
                      (job == dim + 3 && fixed))
                    continue;
                  const bool   of_basis = job == 0, of_traces = job == dim + 3;
                  unsigned int which = 5 + job;
                  Destination  destination{
                    nullptr, to.L.stride, padded_n, replace, false, false};
                  if (of_basis)
                    {
                      which               = 3;
                      destination.to      = partial;
                      destination.replace = begins;
                      // (without advection elimination reads but this)
                      destination.lower = !to.advection();
                    }
                  else if (of_traces)
                    {
                      which = 4;
                      destination =
                        Destination{K + std::size_t(row) * to.n_all + row,
                                    to.n_all,
                                    n_psi,
                                    replace,
                                    true,
                                    true};
                    }
                  else if (job == dim + 1)
                    {
                      which          = 1;
                      destination.to = to.R() + row * to.L.stride;
                    }
                  else if (job == dim + 2)
                    {
                      which          = 2;
                      destination.to = to.T() + row * to.L.stride;
                    }
                  else
                    {
                      destination.to = to.flux_row(row, job - 1);
                      destination.ld = to.L.mass_stride;
                    }
                  product(of_basis ? phi() : psi(),
                          of_basis ? n : n_psi,
                          of_traces ? psi() : phi(),
                          of_traces ? n_psi : n,
                          weight(which),
                          of_basis ? 0 : 4 * q0,
                          4 * (of_basis ? n_quads : q1),
                          destination);
                }
              double *const        integral = to.trace_vector(0) + row,
                            *const data     = to.trace_vector(1) + row;
              if (replace)
                for (unsigned int i = lane; i < n_psi; i += 32)
                  {
                    to.trace_vector(3)[row + i] = fixed ? 0. : 1. + row;
                    if (!boundary)
                      data[i] = 0.;
                  }
              // (on the boundary twice the rows: of the functions, then of
              // data)
              Whole::sum_rows(
                boundary ? 2 * n_psi : n_psi,
                4 * q0,
                4 * q1,
                [&](const unsigned int i, const unsigned int q) {
                  const bool second = i >= n_psi;
                  return psi()[(second ? i - n_psi : i) * ld + q] *
                         weight(second ? 5 : 0)[q];
                },
                [&](const unsigned int i, const double v) {
                  double *const entry =
                    i < n_psi ? integral + i : data + i - n_psi;
                  *entry = replace ? v : *entry + v;
                });
            }
        }

        /// All of it; returns whether there is some stabilisation. @p partial:
        /// where E goes.
        __device__ bool
        integrate(double *K, double *partial) const
        {
          const unsigned int begin = P.entry_quad[e], end = P.entry_quad[e + 1];
          bool               stabilised = false;
          for (unsigned int slice = begin; slice < end; slice += n_points / 4)
            {
              const unsigned int n_quads = min(end - slice, n_points / 4);
              const unsigned int number  = slice + min(lane / 4, n_quads - 1);
              const HDGFacetQuad quad    = P.facet_quad[number];
              if (lane % 4 == 0 && lane / 4 < n_quads)
                slice_quad[lane / 4] = make_slice_quad(P, quad, first_row);
              const HDGFacetPoint<dim> point =
                facet_point_of(P, quad, number, lane % 4, lane / 4 < n_quads);
              stabilised |= point.stabilised();
              __syncwarp();
              evaluate(point.x, point.trace_x, n_quads);
              // (in the place of the lane's tables)
              point.weights(P.form,
                            quad.code,
                            [&](const int i, const double v) {
                              weight(i)[lane] = v;
                            });
              __syncwarp();
              combine(n_quads);
              integrate(K, partial, slice, n_quads);
              __syncwarp();
            }
          if (begin == end)
            for (unsigned int i = lane; i < to.n * L.stride; i += 32)
              partial[i] = 0.;
          return stabilised;
        }
      };



      /// Integrals over the facets of interfaces; one warp for each of them and
      /// each of its polytopes, of all of a tile or those of the list. @p
      /// integrate(base, e) does the work and returns whether there is some
      /// stabilisation.
      template <int dim, typename Integrate>
      __device__ inline void
      facets_of_entries(const HDGData<dim> &P,
                        double             *base,
                        const Integrate    &integrate)
      {
        // (several blocks a polytope)
        const unsigned int together =
                             P.of_undone ? hdg_blocks_of_undone : gridDim.x,
                           n = P.of_undone ? P.undone[0] : 1;
        for (unsigned int i = blockIdx.x / together; i < n;
             i += gridDim.x / together)
          {
            unsigned int begin = 0, end = P.n_listed;
            if (P.of_undone)
              {
                begin = P.D.polytope_interface_offset[P.undone[1 + i]];
                end   = P.D.polytope_interface_offset[P.undone[1 + i] + 1];
              }
            for (unsigned int l = begin + blockIdx.x % together; l < end;
                 l += together)
              {
                const unsigned int e = P.of_undone         ? l
                                       : P.list != nullptr ? P.list[l]
                                                           : P.first_entry + l;
                const unsigned int k = P.entry_polytope[e];
                // (other bits of polytopes that are left out may be on their
                // way)
                const unsigned int status = P.status[k];
                if ((status & hdg_failed) ||
                    (!P.of_undone && (status & hdg_undone)))
                  continue;
                // (the same for every order)
                if (integrate(base, e))
                  atomicOr(P.status + k, hdg_stabilised);
              }
          }
      }

      /// Where matrices go: K, and E of an entry.
      template <int dim>
      __device__ inline double *
      traces_of_entry(const HDGData<dim> &P, const unsigned int e)
      {
        return P.K + (P.square_offset[P.entry_polytope[e]] - P.first_square);
      }
      template <int dim>
      __device__ inline double *
      partial_of_entry(const HDGData<dim> &P, const unsigned int e)
      {
        return P.partial + std::size_t(e - P.first_entry) *
                             P.state_layout.n_basis * P.state_layout.stride;
      }



      /// @p T: enough tiles for all functions.
      template <int dim, int T>
      __global__ void __launch_bounds__(32, T > 2 ? 12 : 16)
        hdg_few_functions_facet_kernel(const __grid_constant__ HDGData<dim> P)
      {
        extern __shared__ double shared[];
        facets_of_entries(P, shared, [&](double *base, const unsigned int e) {
          return HDGFewFacetFunctions<dim, T>(P, base, e)
            .integrate(traces_of_entry(P, e), partial_of_entry(P, e));
        });
      }



      template <int dim, bool in_shared>
      __global__ void __launch_bounds__(32, 16)
        hdg_facet_kernel(const __grid_constant__ HDGData<dim> P)
      {
        extern __shared__ double shared[];
        __shared__ HDGSliceQuad  slice_quad[hdg_warp_points / 4];
        facets_of_entries(P,
                          in_shared ? shared
                                    : P.workspace + blockIdx.x * P.layout.size,
                          [&](double *base, const unsigned int e) {
                            return HDGFacets<dim>(P, base, slice_quad, e)
                              .integrate(traces_of_entry(P, e),
                                         partial_of_entry(P, e));
                          });
      }



      /// The functions of total degree up to @p degree, at most max_degree, in
      /// their order, as products of one-dimensional ones: use(number, value).
      template <int dim, int max_degree, typename Use>
      __device__ inline void
      visit_functions(const unsigned int degree,
                      const double (&values)[dim][max_degree + 1],
                      const Use &use)
      {
#pragma unroll
        for (int grade = 0; grade <= max_degree; ++grade)
          if (grade <= int(degree))
            {
              // (those of lower grades)
              unsigned int number = dim == 1 ? grade
                                    : dim == 2
                                      ? grade * (grade + 1) / 2
                                      : grade * (grade + 1) * (grade + 2) / 6;
#pragma unroll
              for (int k0 = grade; k0 >= (dim > 1 ? 0 : grade); --k0)
#pragma unroll
                for (int k1 = grade - k0; k1 >= (dim > 2 ? 0 : grade - k0);
                     --k1)
                  {
                    double value = 1.;
                    if constexpr (dim > 2)
                      value = values[2][grade - k0 - k1];
                    if constexpr (dim > 1)
                      value *= values[1][k1];
                    use(number++, value * values[0][k0]);
                  }
            }
      }



      /**
       * Where the stabilisation is one positive constant, there is no
       * advection and facets are planar: with S = integrals of products of
       * trace functions (orthonormal on their patch, whose polynomials
       * restricted to it they span) and functions of the polytope, F = sum of n
       * S over facets of each normal n, R = tau S, G = tau I and E = tau S^T S,
       * the sum over all of a polytope, as a function there is the sum of its
       * components in the directions of trace functions. So S is all that is
       * integrated, with functions on the box, which become orthonormal ones
       * afterwards. Functions have a total degree.
       *
       * One warp takes 32 points at a time. A lane has the functions of its
       * point in registers and leaves them in shared memory, from where
       * products read them; trace functions at points are operands in registers
       * (see HDGFewFacetFunctions), 16 points at a time.
       */
      template <int dim, int T>
      struct HDGConstantFacets
      {
        /// Points, and how many tiles of eight of them are taken at a time.
        static constexpr unsigned int n_points = hdg_warp_points;
        static constexpr int          U        = 2;
        /// Distance of rows of functions and of generators: what is read at a
        /// time, pairs and single numbers, lies in different banks.
        static constexpr unsigned int ld            = HDGLayout::ld_pairs,
                                      ld_generators = HDGLayout::ld_single;
        /// Of up to 8 T functions.
        static constexpr int max_degree =
          dim == 2 ? (T == 2 ? 4 : 5) : (T == 2 ? 2 : 3);

        using Whole  = HDGBlock<dim, HDGStage::elimination>;
        using Values = double[T][U][2];
        using Sums   = double[T][T][2];

        const HDGData<dim> &P;
        double *const       base;
        const unsigned int  e, k, first_row, lane, g, t;
        const Whole         to; ///< the arrays that elimination reads

        __device__
        HDGConstantFacets(const HDGData<dim> &P,
                          double             *base,
                          const unsigned int  e)
          : P(P)
          , base(base)
          , e(e)
          , k(P.entry_polytope[e])
          , first_row(P.entry_row[e])
          , lane(threadIdx.x & 31u)
          , g(lane / 4)
          , t(lane % 4)
          , to(P,
               P.state_layout,
               P.state + std::size_t(k - P.first) * P.state_layout.inverse,
               nullptr,
               k)
        {}

        /// Of the points: weights times what functions on the box have in
        /// common, or times g; normals.
        __device__ double *
        weight(const unsigned int i) const
        {
          return base + P.layout.weights + i * n_points;
        }
        __device__ double *
        functions() const
        {
          return base + P.layout.first;
        }
        __device__ double *
        generators() const
        {
          return base + P.layout.second;
        }
        /// What a point's coordinates are multiplied by and what is added, and
        /// what functions on the box have in common.
        __device__ double *
        map_to_box() const
        {
          return weight(2 + dim);
        }
        /// The numbers of generators, among all of a patch.
        __device__ unsigned int *
        numbers() const
        {
          return reinterpret_cast<unsigned int *>(weight(2 + dim) + 8);
        }

        __device__ void
        set_map_to_box() const
        {
          const double *box  = P.D.box + 2 * dim * std::size_t(k);
          double        size = 1.;
#pragma unroll
          for (int d = 0; d < dim; ++d)
            size *= box[dim + d] - box[d];
          if (lane < dim)
            {
              const double lower = box[lane], upper = box[dim + lane],
                           factor        = 2. / (upper - lower);
              map_to_box()[2 * lane]     = factor;
              map_to_box()[2 * lane + 1] = -(lower + upper) / (upper - lower);
            }
          if (lane == 0)
            {
              map_to_box()[2 * dim]     = rsqrt(size);
              map_to_box()[2 * dim + 1] = sqrt(size);
            }
        }

        /// What is integrated at a point of a facet, which is planar.
        struct Point
        {
          /// As traces see it; the normal of the polytope.
          double x[dim], normal[dim], w;
        };

        /// Point @p r of a quad; w: zero unless @p valid.
        __device__ Point
        point_of(const HDGFacetQuad &quad,
                 const unsigned int  r,
                 const bool          valid) const
        {
          const Data<dim>         &D    = P.D;
          const std::size_t        f    = quad.facet;
          const FacetType          type = D.facet_type[f];
          const RuleTables::Entry &rule =
            D.facet_rule[static_cast<unsigned int>(type)][quad.code >> 4 & 15u];
          const unsigned int  n = rule.n_points, q = min(quad.first + r, n - 1);
          const double *const data = D.rules + rule.offset + q,
                              *const v =
                                D.facet_vertices +
                                std::size_t(D.facet_vertex_offset[f]) * dim;
          const double sign = quad.code & 1u ? -1. : 1.;
          Point        result;
          double       J[dim - 1][dim], outwards[dim];
#pragma unroll
          for (int d = 0; d < dim; ++d)
            {
              outwards[d]      = D.facet_normal[f * dim + d];
              result.normal[d] = sign * outwards[d];
              double x         = v[d];
              J[0][d]          = v[dim + d] - x;
              x += data[0] * J[0][d];
              if constexpr (dim > 2)
                {
                  J[1][d] = v[2 * dim + d] - v[d];
                  if (type == FacetType::quadrilateral)
                    {
                      const double twist =
                        v[3 * dim + d] - v[dim + d] - J[1][d];
                      J[0][d] += data[n] * twist;
                      J[1][d] += data[0] * twist;
                    }
                  x += data[n] * J[1][d];
                }
              result.x[d] = x;
            }
          double w = data[(dim - 1) * n];
          if constexpr (dim > 2)
            {
              double volume = 0.;
#pragma unroll
              for (int d = 0; d < dim; ++d)
                volume +=
                  outwards[d] * (J[0][(d + 1) % dim] * J[1][(d + 2) % dim] -
                                 J[0][(d + 2) % dim] * J[1][(d + 1) % dim]);
              w *= fabs(volume);
            }
          else
            w *= D.facet_measure[f];
          result.w = valid && quad.first + r < n ? w : 0.;
          return result;
        }

        /// As make_slice_quad(), without divisions.
        __device__ HDGSliceQuad
        patch_of(const HDGFacetQuad &quad, const unsigned int degree) const
        {
          const unsigned int p = quad.patch;
          const bool planar = P.patch_frame[std::size_t(p) * (dim * (dim + 2)) +
                                            dim * dim + 2 * dim - 1] == 0.;
          return {p,
                  quad.row - first_row,
                  quad.code,
                  P.patch_functions[p],
                  P.n_generators[0][degree],
                  P.n_generators[planar ? 1 : 0][degree],
                  planar ? P.planar : nullptr,
                  P.patch_coefficients + P.patch_offset[p]};
        }

        /// The functions on the box at the point of this lane; returns what
        /// they have to be multiplied by.
        __device__ double
        evaluate_box(const double (&x)[dim]) const
        {
          double values[dim][max_degree + 1];
#pragma unroll
          for (int d = 0; d < dim; ++d)
            write_values(map_to_box()[2 * d] * x[d] + map_to_box()[2 * d + 1],
                         values[d]);
          double *const to = functions() + lane;
          visit_functions<dim, max_degree>(
            this->to.degree, values, [&](const unsigned int i, const double v) {
              to[i * ld] = v;
            });
          return map_to_box()[2 * dim];
        }

        /// The generators of the trace functions of a patch.
        __device__ void
        evaluate_generators(const HDGSliceQuad &quad,
                            const unsigned int  degree,
                            const double (&x)[dim]) const
        {
          const double *frame =
            P.patch_frame + std::size_t(quad.patch) * (dim * (dim + 2));
          double values[dim][max_degree + 1];
          // (without extent coefficients of all but constants are zero)
#pragma unroll
          for (int d = 0; d < dim; ++d)
            {
              double y = -frame[dim * dim + d];
#pragma unroll
              for (int i = 0; i < dim; ++i)
                y += frame[d * dim + i] * x[i];
              write_values(frame[dim * dim + dim + d] * y, values[d]);
            }
          double *const to    = generators() + lane;
          const auto    store = [&](const unsigned int i, const double v) {
            to[i * ld_generators] = v;
          };
          if (quad.list == nullptr)
            visit_functions<dim, max_degree>(degree, values, store);
          else
            {
              double in_plane[dim - 1][max_degree + 1];
#pragma unroll
              for (int d = 0; d + 1 < dim; ++d)
#pragma unroll
                for (int i = 0; i <= max_degree; ++i)
                  in_plane[d][i] = values[d][i];
              visit_functions<dim - 1, max_degree>(degree, in_plane, store);
            }
        }

        __device__ static void
        write_values(const double xi, double (&values)[max_degree + 1])
        {
          double previous = 1., current = xi;
          values[0] = 1.;
#pragma unroll
          for (int n = 1; n <= max_degree; ++n)
            {
              values[n] = Legendre::internal::scale(n) * current;
              const double next =
                xi * current *
                  Legendre::internal::forward(n < max_degree ? n : 0) -
                previous * Legendre::internal::backward(n < max_degree ? n : 0);
              previous = current;
              current  = next;
            }
        }

        /// Trace functions at points first .. first + 15.
        __device__ void
        evaluate_traces(Values             &psi,
                        const HDGSliceQuad &quad,
                        const unsigned int  first) const
        {
#pragma unroll
          for (int h = 0; h < T; ++h)
#pragma unroll
            for (int u = 0; u < U; ++u)
              psi[h][u][0] = psi[h][u][1] = 0.;
          const double *const values = generators() + first + g;
#pragma unroll 2
          for (unsigned int j0 = 0; j0 < quad.n; j0 += 4)
            {
              const unsigned int j = min(j0 + t, quad.n - 1), at = numbers()[j];
              double             a[T], b[U];
#pragma unroll
              for (int h = 0; h < T; ++h)
                a[h] =
                  8 * h + g < quad.n_functions && j0 + t < quad.n
                    ? __ldg(quad.coefficients + (8 * h + g) * quad.n_all + at)
                    : 0.;
#pragma unroll
              for (int u = 0; u < U; ++u)
                b[u] = values[j * ld_generators + 8 * u];
              WarpProduct<T, U, U, double>::add(
                psi, a, b, [&](const int h, const int) {
                  return h < 2 || 8 * h < quad.n_functions;
                });
            }
        }

        /// Adds what points first .. first + 15, as far as they are of the
        /// mask, contribute to integrals of products of trace functions and
        /// functions on the box.
        __device__ void
        add(Sums              &sums,
            const Values      &psi,
            const unsigned int first,
            const unsigned int mask,
            const unsigned int n_psi) const
        {
          const double *const values = functions() + first + 2 * t;
#pragma unroll
          for (int u = 0; u < U; ++u)
            {
              const double2 w = *reinterpret_cast<const double2 *>(
                weight(0) + first + 8 * u + 2 * t);
              double2 b[T];
#pragma unroll
              for (int v = 0; v < T; ++v)
                b[v] = *reinterpret_cast<const double2 *>(
                  values + min(8 * v + g, to.n - 1) * ld + 8 * u);
#pragma unroll
              for (int s = 0; s < 2; ++s)
                {
                  const double factor = mask >> (8 * u + 2 * t + s) & 1u
                                          ? (s == 0 ? w.x : w.y)
                                          : 0.;
                  double       left[T], right[T];
#pragma unroll
                  for (int h = 0; h < T; ++h)
                    {
                      left[h]  = psi[h][u][s] * factor;
                      right[h] = s == 0 ? b[h].x : b[h].y;
                    }
                  WarpProduct<T, T, T, double>::add(
                    sums, left, right, [&](const int h, const int) {
                      return h < 2 || 8 * h < n_psi;
                    });
                }
            }
        }

        /// Integrals of trace functions times g, likewise.
        __device__ void
        add_data(const Values      &psi,
                 const unsigned int first,
                 const unsigned int mask,
                 double            *to,
                 const unsigned int n_psi,
                 const bool         replace) const
        {
          double result[T] = {};
#pragma unroll
          for (int u = 0; u < U; ++u)
            {
              double2 factor = *reinterpret_cast<const double2 *>(
                weight(1) + first + 8 * u + 2 * t);
              if (!(mask >> (8 * u + 2 * t) & 1u))
                factor.x = 0.;
              if (!(mask >> (8 * u + 2 * t + 1) & 1u))
                factor.y = 0.;
#pragma unroll
              for (int h = 0; h < T; ++h)
                result[h] += psi[h][u][0] * factor.x + psi[h][u][1] * factor.y;
            }
#pragma unroll
          for (int h = 0; h < T; ++h)
            {
              double v = result[h];
              v += __shfl_xor_sync(~0u, v, 1);
              v += __shfl_xor_sync(~0u, v, 2);
              const unsigned int i = 8 * h + g;
              if (t == 0 && i < n_psi)
                to[i] = replace ? v : to[i] + v;
            }
        }

        /// F and R of facets with one normal, from sums(); @p replace: the
        /// first of a patch.
        __device__ void
        put(const Sums &sums,
            const double (&normal)[dim],
            const unsigned int row,
            const unsigned int n_psi,
            const bool         replace) const
        {
          // (A is a multiple of the identity: all rows have the same stride)
          const double *const CT = to.transform_of_polytope();
          const unsigned int  ld = to.L.stride, component = to.n_rows * ld;
          double *const F = to.F(0) + row * ld, *const R = to.R() + row * ld;
#pragma unroll 1
          for (unsigned int j0 = 0; j0 < to.padded_n; j0 += 8)
            {
              double c[T][1][2] = {};
#pragma unroll
              for (int u = 0; u < T; ++u)
                if (8 * u <= j0)
#pragma unroll
                  for (int s = 0; s < 2; ++s)
                    {
                      const unsigned int l = 8 * u + 2 * t + s, j = j0 + g;
                      const double b[1] = {l <= j && j < to.n ? CT[l * ld + j]
                                                              : 0.};
                      double       a[T];
#pragma unroll
                      for (int h = 0; h < T; ++h)
                        a[h] = sums[h][u][s];
                      WarpProduct<T, 1, 1, double>::add(
                        c, a, b, [&](const int h, const int) {
                          return h < 2 || 8 * h < n_psi;
                        });
                    }
              const unsigned int at           = g * ld + j0 + 2 * t;
              const auto         row_is_there = [&](const int h) {
                return 8 * h + g < n_psi && j0 + 2 * t < to.padded_n;
              };
#pragma unroll
              for (int d = 0; d <= dim; ++d)
                {
                  const double factor =
                    d < dim ? normal[d < dim ? d : 0] : P.form.tau;
                  double *const entry = (d < dim ? F + d * component : R) + at;
                  if (replace)
                    {
#pragma unroll
                      for (int h = 0; h < T; ++h)
                        if (row_is_there(h))
                          *reinterpret_cast<double2 *>(entry + 8 * h * ld) =
                            make_double2(factor * c[h][0][0],
                                         factor * c[h][0][1]);
                    }
                  else if (factor != 0.)
                    {
                      double2 v[T];
#pragma unroll
                      for (int h = 0; h < T; ++h)
                        if (row_is_there(h))
                          v[h] = *reinterpret_cast<const double2 *>(entry +
                                                                    8 * h * ld);
#pragma unroll
                      for (int h = 0; h < T; ++h)
                        if (row_is_there(h))
                          *reinterpret_cast<double2 *>(entry + 8 * h * ld) =
                            make_double2(v[h].x + factor * c[h][0][0],
                                         v[h].y + factor * c[h][0][1]);
                    }
                }
            }
          // (the first function on the box is a constant)
          if (t == 0)
#pragma unroll
            for (int h = 0; h < T; ++h)
              {
                const unsigned int i = 8 * h + g;
                if (i < n_psi)
                  {
                    double *const entry = to.trace_vector(0) + row + i;
                    const double  v = sums[h][0][0] * map_to_box()[2 * dim + 1];
                    *entry          = replace ? v : *entry + v;
                  }
              }
        }

        /// G, and vectors.
        __device__ void
        begin_patch(double             *K,
                    const HDGSliceQuad &quad,
                    const unsigned int  row) const
        {
          const bool         fixed = quad.code & 4u, boundary = quad.code & 2u;
          const unsigned int n = quad.n_functions;
          if (lane < n)
            {
              to.trace_vector(3)[row + lane] = fixed ? 0. : 1. + row;
              if (!boundary)
                to.trace_vector(1)[row + lane] = 0.;
            }
          if (!fixed)
            for (unsigned int i0 = 0; i0 < n; i0 += 2)
              {
                const unsigned int i = i0 + lane / 16, j = lane & 15u;
                double *const to_K = K + std::size_t(row + i) * to.n_all + row;
                if (i < n && j <= i)
                  to_K[j] = j == i ? P.form.tau : 0.;
                if (i < n && j + 16 <= i)
                  to_K[j + 16] = j + 16 == i ? P.form.tau : 0.;
              }
        }

        __device__ void
        integrate(double *K) const
        {
          const unsigned int begin = P.entry_quad[e], end = P.entry_quad[e + 1];
          __syncwarp();
          set_map_to_box();
          __syncwarp();
          Sums         sums;
          double       normal[dim] = {};
          unsigned int row = invalid_index, n_psi = 0;
          bool         replace = true, pending = false;
          // (one turn more than there are slices, so that sums are put in one
          // place of the code)
          for (unsigned int slice = begin, n_quads = 0; slice <= end;
               slice += n_quads)
            {
              HDGSliceQuad slice_quad = {};
              unsigned int all = 0, facet = 0, next_row = invalid_index;
              bool         begins = false;
              const bool   last   = slice == end;
              if (!last)
                {
                  const unsigned int number = min(slice + lane / 4, end - 1);
                  const HDGFacetQuad quad   = P.facet_quad[number];
                  // (quads of a patch follow each other)
                  const unsigned int patch = __shfl_sync(~0u, quad.patch, 0);
                  const bool         valid =
                    slice + lane / 4 < end && quad.patch == patch;
                  all                       = __ballot_sync(~0u, valid);
                  n_quads                   = __popc(all) / 4;
                  const Point        point  = point_of(quad, lane % 4, valid);
                  const unsigned int degree = P.patch_degree[patch];
                  slice_quad = patch_of(P.facet_quad[slice], degree);
                  next_row   = first_row + slice_quad.row;
                  begins     = slice == begin || P.facet_quad[slice - 1].row !=
                                               P.facet_quad[slice].row;
                  // (the sums of the slice before have read theirs)
                  __syncwarp();
                  double x[dim];
#pragma unroll
                  for (int d = 0; d < dim; ++d)
                    x[d] =
                      quad.code & 1u
                        ? point.x[d] + P.D.shift[(quad.code >> 8) * dim + d]
                        : point.x[d];
                  weight(0)[lane] = point.w * evaluate_box(x);
#pragma unroll
                  for (int d = 0; d < dim; ++d)
                    weight(2 + d)[lane] = point.normal[d];
                  if (quad.boundary != invalid_index)
                    weight(1)[lane] =
                      point.w *
                      P.boundary_table[4 * std::size_t(quad.boundary) +
                                       lane % 4];
                  evaluate_generators(slice_quad, degree, point.x);
                  if (begins)
                    {
                      if (lane < slice_quad.n)
                        numbers()[lane] = slice_quad.index(lane);
                      begin_patch(K, slice_quad, next_row);
                    }
                  __syncwarp();
                  facet = quad.facet;
                }
#pragma unroll 1
              for (unsigned int first = 0; first == 0 || all >> first != 0;
                   first += 8 * U)
                {
                  // (a shift by 32 is none)
                  if (first >= n_points)
                    break;
                  // ---- points of one normal after the other
                  unsigned int rest = all >> first & ((1u << (8 * U)) - 1u);
#pragma unroll 1
                  do
                    {
                      const unsigned int leader =
                        last ? 0 : first + __ffs(rest) - 1;
                      double n[dim];
                      bool   same   = __shfl_sync(~0u, facet, leader) == facet,
                           parallel = true, goes_on = row == next_row;
#pragma unroll
                      for (int d = 0; d < dim; ++d)
                        {
                          n[d]     = weight(2 + d)[leader];
                          parallel = parallel &&
                                     fabs(weight(2 + d)[lane] - n[d]) <= 1e-15;
                          goes_on = goes_on && fabs(normal[d] - n[d]) <= 1e-15;
                        }
                      if (pending && !goes_on)
                        {
                          put(sums, normal, row, n_psi, replace);
                          replace = false;
                          pending = false;
                        }
                      if (last)
                        break;
                      if (!pending)
                        {
                          replace = replace || row != next_row;
                          row     = next_row;
                          n_psi   = slice_quad.n_functions;
                          pending = true;
#pragma unroll
                          for (int d = 0; d < dim; ++d)
                            normal[d] = n[d];
#pragma unroll
                          for (int h = 0; h < T; ++h)
#pragma unroll
                            for (int u = 0; u < T; ++u)
                              sums[h][u][0] = sums[h][u][1] = 0.;
                        }
                      const unsigned int mask =
                        rest & __ballot_sync(~0u, same || parallel) >> first;
                      // (sums that were put have left their registers)
                      Values psi;
                      evaluate_traces(psi, slice_quad, first);
                      if (slice_quad.code & 2u)
                        add_data(psi,
                                 first,
                                 mask,
                                 to.trace_vector(1) + next_row,
                                 n_psi,
                                 begins && first == 0 && mask & 1u);
                      add(sums, psi, first, mask, n_psi);
                      rest &= ~mask;
                  } while (rest != 0);
                }
              if (last)
                break;
            }
        }
      };



      /// @p T: enough tiles for all functions.
      template <int dim, int T>
      __global__ void __launch_bounds__(32, T > 2 ? 16 : 20)
        hdg_constant_facet_kernel(const __grid_constant__ HDGData<dim> P)
      {
        extern __shared__ double shared[];
        facets_of_entries(P, shared, [&](double *base, const unsigned int e) {
          HDGConstantFacets<dim, T>(P, base, e)
            .integrate(traces_of_entry(P, e));
          return true;
        });
      }



      /// E of all facets of a polytope, in the place of its first entry's: the
      /// sum of tau S^T S = R^T R / tau, and of what other kernels have left;
      /// a warp a polytope.
      template <int dim>
      __global__ void __launch_bounds__(32)
        hdg_boundary_kernel(const __grid_constant__ HDGData<dim> P)
      {
        constexpr int      T    = hdg_warp_tiles;
        const unsigned int lane = threadIdx.x & 31u, g = lane / 4, t = lane % 4;
        for (unsigned int k = P.first + blockIdx.x; k < P.last; k += gridDim.x)
          {
            const unsigned int status = P.status[k];
            if (status & hdg_failed)
              continue;
            const HDGBlock<dim, HDGStage::elimination> whole(
              P,
              P.state_layout,
              P.state + std::size_t(k - P.first) * P.state_layout.inverse,
              nullptr,
              k);
            const unsigned int begin = P.D.polytope_interface_offset[k],
                               end   = P.D.polytope_interface_offset[k + 1],
                               n = whole.n, ld = whole.L.stride;
            // (of others all entries have been integrated at points)
            const auto projected = [&](const unsigned int e) {
              return P.entry_projected[e] && !(status & hdg_undone);
            };
            double     sums[T][T][2] = {};
            const auto lower         = [](const int h, const int u) {
              return u <= (h | 1);
            };
            const auto row_of = [&](const unsigned int e) {
              return e < end ? P.entry_row[e] : whole.n_traces;
            };
            for (unsigned int e = begin; e < end;)
              {
                // entries that follow each other, and with that their rows
                const unsigned int row = row_of(e);
                while (e < end && projected(e))
                  ++e;
                const unsigned int next = row_of(e++);
#pragma unroll 4
                for (unsigned int m0 = row; m0 < next; m0 += 4)
                  {
                    const unsigned int m = m0 + t;
                    double             values[T];
#pragma unroll
                    for (int h = 0; h < T; ++h)
                      {
                        const unsigned int j = 8 * h + g;
                        values[h] =
                          m < next && j < n ? whole.R()[m * ld + j] : 0.;
                      }
                    WarpProduct<T, T, T, double>::add(sums,
                                                      values,
                                                      values,
                                                      lower);
                  }
              }
            const double  factor  = 1. / P.form.tau;
            double *const partial = partial_of_entry(P, begin);
#pragma unroll
            for (int h = 0; h < T; ++h)
#pragma unroll
              for (int u = 0; u <= h; ++u)
#pragma unroll
                for (int s = 0; s < 2; ++s)
                  {
                    const unsigned int i = 8 * h + g, j = 8 * u + 2 * t + s;
                    if (i >= n || j > i || begin == end)
                      continue;
                    double v = factor * sums[h][u][s];
                    for (unsigned int e = begin; e < end; ++e)
                      if (!projected(e))
                        v += partial_of_entry(P, e)[i * ld + j];
                    partial[i * ld + j] = v;
                  }
          }
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
