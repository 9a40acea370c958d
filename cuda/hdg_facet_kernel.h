// SPDX-License-Identifier: LGPL-2.1-or-later
#ifndef tessella_cuda_hdg_facet_kernel_h
#define tessella_cuda_hdg_facet_kernel_h

#include "hdg_kernel.h"

// Integrals over facets where polytopes are not simplices: by one warp for each
// interface of a polytope, which takes 32 points at a time, a lane each. Sums
// stay in registers and are stored in global memory where elimination reads
// them: what is left in shared memory are the values of functions at the
// points, so that a multiprocessor has many such warps at a time, none of which
// waits for another one.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// write_legendre() for the column of a lane: a call, for the sake of
      /// the instruction cache, which all warps of this kernel share, each at
      /// another place.
      __device__ __noinline__ void
      write_legendre_of_lane(const unsigned int degree,
                             const double       xi,
                             const double       scale,
                             double            *values)
      {
        write_legendre(degree, xi, scale, 0., values, nullptr, hdg_warp_points);
      }



      /// @p T: tiles of eight rows that are summed at a time.
      template <int dim, int T>
      struct HDGFacets
      {
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
                  write_legendre_of_lane(degree, xi, scale, values);
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
              double x[dim], trace_x[dim], weights[6 + dim];
              stabilised |= facet_point_of(P,
                                           quad,
                                           number,
                                           lane % 4,
                                           lane / 4 < n_quads,
                                           x,
                                           trace_x,
                                           weights);
              __syncwarp();
              evaluate(x, trace_x, n_quads);
              // (in the place of the lane's tables)
#pragma unroll
              for (int i = 0; i < 6 + dim; ++i)
                weight(i)[lane] = weights[i];
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
      /// each of its polytopes.
      /// @p T: enough tiles for all functions, or hdg_warp_tiles.
      template <int dim, int T, bool in_shared>
      __global__ void __launch_bounds__(32, 16)
        hdg_facet_kernel(const __grid_constant__ HDGData<dim> P)
      {
        extern __shared__ double shared[];
        __shared__ HDGSliceQuad  slice_quad[hdg_warp_points / 4];
        double *const            base =
          in_shared ? shared : P.workspace + blockIdx.x * P.layout.size;
        for (unsigned int e = P.first_entry + blockIdx.x; e < P.last_entry;
             e += gridDim.x)
          {
            const unsigned int k = P.entry_polytope[e];
            if (P.status[k] & hdg_failed)
              continue;
            const bool stabilised =
              HDGFacets<dim, T>(P, base, slice_quad, e)
                .integrate(P.K + (P.square_offset[k] - P.first_square),
                           P.partial + std::size_t(e - P.first_entry) *
                                         P.layout.n_basis * P.layout.stride);
            // (the same for every order)
            if (stabilised)
              atomicOr(P.status + k, hdg_stabilised);
          }
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
