// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_hdg_hdg_facet_kernel_h
#define tessella_cuda_hdg_hdg_facet_kernel_h

#include "hdg_kernel.h"

// Integrals over facets of polytopes that are not simplices. One warp handles
// each interface of a polytope and processes 32 points at a time, one for each
// lane. Sums stay in registers; at the end they are stored in global memory,
// where elimination reads them. Values of up to 8 hdg_warp_tiles functions at
// the points are in registers, too, from the products that compute them to the
// products that use them; values of more functions are in shared memory. A
// multiprocessor runs many such warps at a time, and none of them waits for
// another.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// write_legendre() for the column of a lane. This is a call, since all
      /// warps of this kernel share the instruction cache while each is at
      /// another point of the code.
      template <unsigned int stride>
      __device__ __noinline__ void
      write_legendre_of_lane(const unsigned int degree,
                             const double       xi,
                             const double       scale,
                             double            *values)
      {
        write_legendre(degree, xi, scale, 0., values, nullptr, stride);
      }



      /// Data that all integrals over the facets of an interface need. P: data
      /// of all kernels; base: begin of the workspace; e: entry of
      /// polytope_interface; k: its polytope; g and t: lane / 4 and lane % 4.
      template <int dim>
      struct HDGFacetEntry
      {
        using Whole = HDGBlock<dim, HDGStage::elimination>;

        const HDGData<dim> &P;
        double *const       base;
        const unsigned int  e, k, first_row, lane, g, t;
        const Whole         to; ///< arrays that elimination reads

        __device__
        HDGFacetEntry(const HDGData<dim> &P, double *base, const unsigned int e)
          : P(P)
          , base(base)
          , e(e)
          , k(P.entry_polytope[e])
          , first_row(P.entry_row[e])
          , lane(threadIdx.x & 31u)
          , g(lane / 4)
          , t(lane % 4)
          , to(state_of(P, k))
        {}

        /// Coordinate @p d of a point in the frame of a patch, where the patch
        /// is in [-1, 1], or zero if the patch has no extent in this direction.
        __device__ static double
        trace_coordinate(const double      *frame,
                         const unsigned int d,
                         const double (&x)[dim])
        {
          double y = -frame[dim * dim + d];
#pragma unroll
          for (int i = 0; i < dim; ++i)
            y += frame[d * dim + i] * x[i];
          return frame[dim * dim + dim + d] * y;
        }

        /// True if no point groups of the entry are in front of @p slice, or
        /// if they belong to another patch. @p begin: first one of the entry.
        __device__ bool
        begins_patch(const unsigned int begin, const unsigned int slice) const
        {
          return slice == begin || P.facet_point_group[slice - 1].row !=
                                     P.facet_point_group[slice].row;
        }

        /// The point groups from a given one on, one for every four lanes, as
        /// far as they belong to its patch. They are contiguous.
        struct Slice
        {
          unsigned int       number; ///< of the lane's point group
          HDGFacetPointGroup point_group;
          unsigned int       patch;
          bool               valid; ///< the lane's point group belongs to it
          unsigned int       lanes; ///< bits of the lanes with `valid`

          __device__ unsigned int
          n_point_groups() const
          {
            return __popc(lanes) / 4;
          }
        };

        __device__ Slice
        slice_of_patch(const unsigned int first, const unsigned int end) const
        {
          Slice result;
          result.number      = min(first + lane / 4, end - 1);
          result.point_group = P.facet_point_group[result.number];
          result.patch       = __shfl_sync(~0u, result.point_group.patch, 0);
          result.valid =
            first + lane / 4 < end && result.point_group.patch == result.patch;
          result.lanes = __ballot_sync(~0u, result.valid);
          return result;
        }

        /// Sets the sums of a warp to zero.
        template <int M, int N>
        __device__ __forceinline__ static void
        zero(double (&sums)[M][N][2])
        {
#pragma unroll
          for (int h = 0; h < M; ++h)
#pragma unroll
            for (int u = 0; u < N; ++u)
              sums[h][u][0] = sums[h][u][1] = 0.;
        }

        /// Initialises the vectors of a patch whose @p n functions begin at @p
        /// row.
        __device__ __forceinline__ void
        begin_vectors(const unsigned int code,
                      const unsigned int row,
                      const unsigned int n) const
        {
          for (unsigned int i = lane; i < n; i += 32)
            {
              to.trace_vector(3)[row + i] = code & 4u ? 0. : 1. + row;
              if (!(code & 2u))
                to.trace_vector(1)[row + i] = 0.;
            }
        }

        /// Adds the sums of four lanes each, of functions 8 h + g, to @p n
        /// values, or replaces these.
        template <int T>
        __device__ __forceinline__ void
        put_vector(const double (&sums)[T],
                   double            *values,
                   const unsigned int n,
                   const bool         replace) const
        {
#pragma unroll
          for (int h = 0; h < T; ++h)
            {
              double v = sums[h];
              v += __shfl_xor_sync(~0u, v, 1);
              v += __shfl_xor_sync(~0u, v, 2);
              const unsigned int i = 8 * h + g;
              if (t == 0 && i < n)
                values[i] = replace ? v : values[i] + v;
            }
        }

        /// E if there are no points.
        __device__ void
        clear(double *partial) const
        {
          for (unsigned int i = lane; i < to.n * to.L.stride; i += 32)
            partial[i] = 0.;
        }
      };



      /**
       * Integrals for up to 8 T functions of a polytope or a patch. Products
       * return to a lane the values of function 8 h + lane / 4 at points 8 u +
       * 2 (lane % 4) + {0, 1}. With the points in another order, the same in
       * both factors, these values are the operands of sums over points.
       */
      template <int dim, int T>
      struct HDGFewFacetFunctions : public HDGFacetEntry<dim>
      {
        using Entry = HDGFacetEntry<dim>;
        using Entry::Entry;
        using Entry::P, Entry::base, Entry::e, Entry::k, Entry::first_row,
          Entry::lane, Entry::g, Entry::t, Entry::to;

        /// Points, and distance between rows of tables and weights such that
        /// the operands of a product lie in different banks of shared memory.
        static constexpr unsigned int n_points = hdg_warp_points,
                                      ld       = row_stride(n_points);
        /// Tiles of points; the second half may be skipped.
        static constexpr int U = n_points / 8;

        using Values = double[T][U][2];
        using Sums   = double[T][T][2];

        /// Weights 0 .. 5 + dim, see HDGFacetPoint::weights().
        __device__ double *
        weight(const unsigned int i) const
        {
          return base + P.layout.weights + i * ld;
        }
        /// Normal, S and S - b.n, if they are the same at all points.
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
              // Without extent, the coefficients of all functions but constants
              // are zero.
              write_legendre_of_lane<ld>(degree,
                                         Entry::trace_coordinate(frame, d, x),
                                         1.,
                                         table(d, degree) + lane);
            }
        }

        /**
         * values_i = sum over j < n_values of coefficient(i, j) times a product
         * of functions in the tables, which rows(j) selects. values_i is zero
         * for i >= n_rows. @p triangular: only j <= i occur.
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
          Entry::zero(values);
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
                // Of two tiles that are processed together, the tile of higher
                // functions decides.
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
                add_products(c, a, b, wanted);
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

        /// sums = sums over points of left weight right.
        template <typename Wanted>
        __device__ void
        sum(Sums         &sums,
            const Values &left,
            const Values &right,
            const double *weights,
            const bool    more,
            const Wanted &wanted) const
        {
          Entry::zero(sums);
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
                    add_products(sums, a, b, wanted);
                  }
              }
        }

        /// Writes the sums times factor to rows of n_columns, or adds them.
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

        /// Writes the lower triangle of a symmetric matrix of sums, and the
        /// upper triangle if @p mirror.
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

        /// True if all points of the slice have the same normal and
        /// stabilisation, up to rounding. In this case factors() holds them.
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

        /// Adds all integrals of a slice, whose point groups belong to one
        /// patch.
        __device__ void
        integrate(double                   *K,
                  double                   *partial,
                  const HDGSlicePointGroup &point_group,
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
          // For pairs of tiles that are processed together, it suffices that
          // one is needed.
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
          // ---- E; without advection elimination reads only its lower triangle
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
          const unsigned int n_psi = point_group.n_functions;
          if (n_psi == 0)
            return;

          // ---- traces
          const unsigned int degree = P.patch_degree[point_group.patch],
                             row    = first_row + point_group.row;
          __syncwarp();
          write_trace_tables(point_group.patch, degree, trace_x);
          __syncwarp();
          combine<false>(
            psi,
            n_psi,
            point_group.n,
            more,
            [&](const unsigned int i, const unsigned int j) {
              return __ldg(point_group.coefficients + i * point_group.n_all +
                           point_group.index(j));
            },
            [&](const unsigned int j) {
              return rows_of_function(P, point_group.index(j), degree);
            });
          const auto of_traces = [&](const int h, const int) {
            return 8 * h < n_psi;
          };
          // ---- F for each component, R and T: one after the other, or all
          // from the same sums
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
          const bool fixed    = point_group.code & 4u,
                     boundary = point_group.code & 2u;
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
          // ---- integrals of trace functions, and of trace functions times
          // data
          integrate_functions(
            psi, weight(0), to.trace_vector(0) + row, n_psi, more, replace);
          if (boundary)
            integrate_functions(
              psi, weight(5), to.trace_vector(1) + row, n_psi, more, replace);
          if (replace)
            Entry::begin_vectors(point_group.code, row, n_psi);
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
          Entry::put_vector(result, to, n_psi, replace);
        }

        /// Integrates over all facets of the entry. @p partial: destination of
        /// E. Returns true if there is some stabilisation.
        __device__ bool
        integrate(double *K, double *partial) const
        {
          const unsigned int begin = P.entry_point_group[e],
                             end   = P.entry_point_group[e + 1];
          bool stabilised          = false;
          for (unsigned int slice = begin, n_point_groups; slice < end;
               slice += n_point_groups)
            {
              const auto part = Entry::slice_of_patch(slice, end);
              n_point_groups  = part.n_point_groups();
              const HDGFacetPoint<dim> point = facet_point_of(
                P, part.point_group, part.number, lane % 4, part.valid);
              stabilised |= point.stabilised();
              // The sums of the previous slice have read its weights.
              __syncwarp();
              point.weights(P.form,
                            part.point_group.code,
                            [&](const int i, const double v) {
                              weight(i)[lane] = v;
                            });
              const bool same = uniform(point, part.valid);
              integrate(K,
                        partial,
                        make_slice_point_group(P,
                                               P.facet_point_group[slice],
                                               first_row),
                        point.x,
                        point.trace_x,
                        same,
                        n_point_groups > n_points / 8,
                        slice == begin,
                        Entry::begins_patch(begin, slice));
            }
          if (begin == end)
            Entry::clear(partial);
          return stabilised;
        }
      };



      /// Integrals for more than 8 hdg_warp_tiles functions. L: layout of the
      /// workspace.
      template <int dim>
      struct HDGFacets : public HDGFacetEntry<dim>
      {
        using Entry = HDGFacetEntry<dim>;
        using Entry::P, Entry::base, Entry::e, Entry::k, Entry::first_row,
          Entry::lane, Entry::g, Entry::t, Entry::to;
        using typename Entry::Whole;

        /// Tiles of eight rows that are summed at a time.
        static constexpr int T = hdg_warp_tiles;
        /// Points, and distance between rows of their values.
        static constexpr unsigned int n_points = hdg_warp_points,
                                      ld       = row_stride(n_points);
        /// Number of rows, and of columns, that are summed at a time.
        static constexpr unsigned int n_tile = 8 * T;

        const HDGLayout          &L;
        HDGSlicePointGroup *const slice_point_group; ///< in shared memory

        __device__
        HDGFacets(const HDGData<dim> &P,
                  double             *base,
                  HDGSlicePointGroup *slice_point_group,
                  const unsigned int  e)
          : Entry(P, base, e)
          , L(P.layout)
          , slice_point_group(slice_point_group)
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

        /// Computes one-dimensional functions at the lane's point, then its
        /// column of functions on the box (at @p x, the point as seen by the
        /// polytope), and of generators of trace functions (at @p trace_x).
        __device__ void
        evaluate(const double (&x)[dim],
                 const double (&trace_x)[dim],
                 const unsigned int n_point_groups) const
        {
          double *const             column = base + L.tables + lane;
          const HDGSlicePointGroup &point_group =
            slice_point_group[min(lane / 4, n_point_groups - 1)];
          const double *box   = P.D.box + 2 * dim * std::size_t(k),
                       *frame = P.patch_frame + std::size_t(point_group.patch) *
                                                  (dim * (dim + 2));
          // The body is in the code only once.
#pragma unroll 1
          for (unsigned int what = 0; what < 2; ++what)
            {
              const bool         basis = what == 0;
              const unsigned int degree =
                basis ? to.degree : P.patch_degree[point_group.patch];
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
                      xi   = Entry::trace_coordinate(frame, d, trace_x);
                      flat = frame[dim * dim + dim + d] == 0.;
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
                basis ? to.n
                      : (point_group.n_functions > 0 ? point_group.n : 0);
#pragma unroll 4
              for (unsigned int i = 0; i < n; ++i)
                result[i * ld] = product_of_functions(
                  P, basis ? i : point_group.index(i), degree, column);
            }
        }

        /// Computes the orthonormal functions from those on the box and, patch
        /// by patch, trace functions from generators. Results may overwrite
        /// their operands. For the basis, the last rows are computed first,
        /// since no row depends on later ones. Other rows are stored when all
        /// of them are known.
        __device__ void
        combine(const unsigned int n_point_groups) const
        {
          constexpr int       TN = n_points / 8;
          const double *const CT = to.transform_of_polytope();
          unsigned int        q0 = 0, q1 = n_point_groups;
#pragma unroll 1
          for (bool basis = true; basis || q1 < n_point_groups; basis = false)
            {
              const double         *coefficients = CT, *values = phi();
              double               *result = phi();
              const unsigned short *list   = nullptr;
              unsigned int n_rows = to.n, n_values = to.n, row_step = 1,
                           step = L.stride;
              if (!basis)
                {
                  q0                                    = q1;
                  const HDGSlicePointGroup &point_group = slice_point_group[q0];
                  q1 = patch_end(slice_point_group, q0, n_point_groups);
                  coefficients = point_group.coefficients;
                  values       = generators();
                  result       = psi();
                  list         = point_group.list;
                  n_rows       = point_group.n_functions;
                  n_values     = point_group.n;
                  row_step     = point_group.n_all;
                  step         = 1;
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
                      add_products(c, a, b);
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

        /// Destination of a product: entry (i, j) goes to [i ld + j] for j <
        /// n_columns; entries behind the last function are zero.
        struct Destination
        {
          double      *to;
          std::size_t  ld;
          unsigned int n_columns;
          bool         replace; ///< else add
          /// lower: lower triangle of a symmetric matrix. mirror: also the
          /// upper triangle, without aligned pairs of entries.
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
                    add_products(c, a, b);
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

        /// Adds the integrals of a slice: E, to @p partial, and, patch by
        /// patch, the matrices with trace functions.
        __device__ void
        integrate(double            *K,
                  double            *partial,
                  const unsigned int slice,
                  const unsigned int n_point_groups) const
        {
          const bool         begins = slice == P.entry_point_group[e];
          const unsigned int n = to.n, padded_n = to.padded_n;
#pragma unroll 1
          for (unsigned int q0 = 0, q1; q0 < n_point_groups; q0 = q1)
            {
              q1 = patch_end(slice_point_group, q0, n_point_groups);
              const HDGSlicePointGroup &point_group = slice_point_group[q0];
              const unsigned int        n_psi       = point_group.n_functions,
                                 row = first_row + point_group.row;
              const bool fixed       = point_group.code & 4u,
                         boundary    = point_group.code & 2u,
                         replace =
                           q0 > 0
                             ? slice_point_group[q0 - 1].row != point_group.row
                             : begins ||
                                 P.facet_point_group[slice - 1].row != row;
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
                      // Without advection elimination reads only the lower
                      // triangle.
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
                          4 * (of_basis ? n_point_groups : q1),
                          destination);
                }
              double *const        integral = to.trace_vector(0) + row,
                            *const data     = to.trace_vector(1) + row;
              if (replace)
                Entry::begin_vectors(point_group.code, row, n_psi);
              // On the boundary there are twice as many rows: functions, then
              // functions times data.
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

        /// Integrates over all facets of the entry. @p partial: destination of
        /// E. Returns true if there is some stabilisation.
        __device__ bool
        integrate(double *K, double *partial) const
        {
          const unsigned int begin = P.entry_point_group[e],
                             end   = P.entry_point_group[e + 1];
          bool stabilised          = false;
          for (unsigned int slice = begin; slice < end; slice += n_points / 4)
            {
              const unsigned int n_point_groups =
                min(end - slice, n_points / 4);
              const unsigned int number =
                slice + min(lane / 4, n_point_groups - 1);
              const HDGFacetPointGroup point_group =
                P.facet_point_group[number];
              if (lane % 4 == 0 && lane / 4 < n_point_groups)
                slice_point_group[lane / 4] =
                  make_slice_point_group(P, point_group, first_row);
              const HDGFacetPoint<dim> point = facet_point_of(
                P, point_group, number, lane % 4, lane / 4 < n_point_groups);
              stabilised |= point.stabilised();
              __syncwarp();
              evaluate(point.x, point.trace_x, n_point_groups);
              // The weights overwrite the lane's tables.
              point.weights(P.form,
                            point_group.code,
                            [&](const int i, const double v) {
                              weight(i)[lane] = v;
                            });
              __syncwarp();
              combine(n_point_groups);
              integrate(K, partial, slice, n_point_groups);
              __syncwarp();
            }
          if (begin == end)
            Entry::clear(partial);
          return stabilised;
        }
      };



      /// Integrals over the facets of interfaces. One warp handles each
      /// interface from each of its polytopes, for the whole tile or for the
      /// entries of the list. @p integrate(base, e) computes the integrals and
      /// returns true if there is some stabilisation.
      template <int dim, typename Integrate>
      __device__ inline void
      facets_of_entries(const HDGData<dim> &P,
                        double             *base,
                        const Integrate    &integrate)
      {
        // Several thread blocks share a polytope of the list P.undone.
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
                // Another kernel may be changing other bits of polytopes that
                // are skipped here.
                const unsigned int status = P.status[k];
                if ((status & hdg_failed) ||
                    (!P.of_undone && (status & hdg_undone)))
                  continue;
                // The result does not depend on the order.
                if (integrate(base, e))
                  atomicOr(P.status + k, hdg_stabilised);
              }
          }
      }

      /// Destinations of matrices: K, and E of an entry.
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



      /// Facet kernel for up to 8 T functions.
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
        extern __shared__ double      shared[];
        __shared__ HDGSlicePointGroup slice_point_group[hdg_warp_points / 4];
        facets_of_entries(P,
                          in_shared ? shared
                                    : P.workspace + blockIdx.x * P.layout.size,
                          [&](double *base, const unsigned int e) {
                            return HDGFacets<dim>(P, base, slice_point_group, e)
                              .integrate(traces_of_entry(P, e),
                                         partial_of_entry(P, e));
                          });
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
