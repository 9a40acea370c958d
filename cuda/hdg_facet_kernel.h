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
      template <int dim>
      struct HDGFacets
      {
        /// Points, and distance of rows of their values.
        static constexpr unsigned int n_points = hdg_warp_points,
                                      ld       = row_stride(n_points);
        /// Rows and columns of what is summed at a time.
        static constexpr unsigned int n_tile = 8 * hdg_warp_tiles;

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
        table(const unsigned int d, const unsigned int degree) const
        {
          return base + L.tables + d * (degree + 1) * n_points;
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

        /// The orthonormal functions at the lane's point, which the polytope
        /// sees at @p x: from those on the box, the last rows first, as none
        /// depends on later ones.
        __device__ void
        evaluate_basis(const double (&x)[dim]) const
        {
          double *const      values = phi();
          const unsigned int n      = to.n;
          evaluate_box_functions(
            P, k, n, to.degree, x, base + L.tables + lane, values + lane, ld);
          __syncwarp();
          const double *const CT = to.transform_of_polytope();
          for (unsigned int i0 = (n - 1) / n_tile * n_tile;; i0 -= n_tile)
            {
              const unsigned int depth = min(n, i0 + n_tile);
              combine(
                i0,
                n,
                depth,
                0,
                n_points,
                [&](const unsigned int i, const unsigned int j) {
                  return __ldg(CT + j * L.stride + i);
                },
                values,
                values);
              if (i0 == 0)
                break;
            }
        }

        /// Rows [i0, i0 + n_tile) of result, n_rows in all: sums over j < depth
        /// of coefficient(i, j) and rows j of values at the points [q0, q1).
        /// They may replace each other. Ends with a barrier of the warp.
        template <typename Coefficient>
        __device__ void
        combine(const unsigned int i0,
                const unsigned int n_rows,
                const unsigned int depth,
                const unsigned int q0,
                const unsigned int q1,
                const Coefficient &coefficient,
                const double      *values,
                double            *result) const
        {
          constexpr int      TM = hdg_warp_tiles, TN = n_points / 8;
          double             c[TM][TN][2] = {};
          unsigned int       row[TM], column[TN];
          const unsigned int n_columns = q1 - q0;
#pragma unroll
          for (int h = 0; h < TM; ++h)
            row[h] = min(i0 + 8 * h + g, n_rows - 1);
#pragma unroll
          for (int u = 0; u < TN; ++u)
            column[u] = q0 + min(8 * u + g, n_columns - 1);
#pragma unroll 2
          for (unsigned int j = t; j < (depth + 3) / 4 * 4; j += 4)
            {
              const bool in = j < depth;
              double     a[TM], b[TN];
#pragma unroll
              for (int h = 0; h < TM; ++h)
                a[h] = in ? coefficient(row[h], j) : 0.;
#pragma unroll
              for (int u = 0; u < TN; ++u)
                b[u] = in ? values[j * ld + column[u]] : 0.;
              WarpProduct<TM, TN, TN, double>::add(
                c, a, b, [&](const int h, const int u) {
                  return i0 + 8 * h < n_rows && 8 * u < int(n_columns);
                });
            }
          __syncwarp();
#pragma unroll
          for (int h = 0; h < TM; ++h)
#pragma unroll
            for (int u = 0; u < TN; ++u)
              {
                const unsigned int i = i0 + 8 * h + g, q = 8 * u + 2 * t;
                if (i < n_rows && q < n_columns)
                  *reinterpret_cast<double2 *>(result + i * ld + q0 + q) =
                    make_double2(c[h][u][0], c[h][u][1]);
              }
          __syncwarp();
        }

        /// Generators of trace functions at the lane's point, then, patch by
        /// patch, the functions.
        __device__ void
        evaluate_traces(const double (&x)[dim],
                        const unsigned int n_quads) const
        {
          if (lane < 4 * n_quads)
            {
              const HDGSliceQuad &quad = slice_quad[lane / 4];
              const double       *frame =
                P.patch_frame + std::size_t(quad.patch) * (dim * (dim + 2));
              const unsigned int degree = P.patch_degree[quad.patch];
#pragma unroll
              for (int d = 0; d < dim; ++d)
                {
                  const double scale = frame[dim * dim + dim + d];
                  double       y     = -frame[dim * dim + d];
#pragma unroll
                  for (int i = 0; i < dim; ++i)
                    y += frame[d * dim + i] * x[i];
                  double *const values = table(d, degree) + lane;
                  if (scale != 0.)
                    write_legendre(
                      degree, scale * y, 1., 0., values, nullptr, n_points);
                  else
                    for (unsigned int i = 0; i <= degree; ++i)
                      values[i * n_points] = i == 0 ? 1. : 0.;
                }
              if (quad.n_functions > 0)
#pragma unroll 4
                for (unsigned int l = 0; l < quad.n; ++l)
                  generators()[l * ld + lane] = product_of_functions(
                    P, quad.index(l), degree, base + L.tables + lane);
            }
          __syncwarp();
          for (unsigned int q0 = 0, q1; q0 < n_quads; q0 = q1)
            {
              const HDGSliceQuad &quad = slice_quad[q0];
              q1                       = patch_end(slice_quad, q0, n_quads);
              for (unsigned int i0 = 0; i0 < quad.n_functions; i0 += n_tile)
                combine(
                  i0,
                  quad.n_functions,
                  quad.n,
                  4 * q0,
                  4 * q1,
                  [&](const unsigned int m, const unsigned int l) {
                    return __ldg(quad.coefficients +
                                 std::size_t(m) * quad.n_all + quad.index(l));
                  },
                  generators(),
                  psi());
            }
        }

        /// store(i, j, v) of pairs v of the sums over points [q0, q1) of left_i
        /// w right_j and left_i w right_(j+1); columns behind the last one are
        /// zero. @p lower: tiles above the diagonal may be left out.
        template <typename Store>
        __device__ void
        product(const double      *left,
                const unsigned int n_left,
                const double      *right,
                const unsigned int n_right,
                const double      *w,
                const unsigned int q0,
                const unsigned int q1,
                const bool         lower,
                const Store       &store) const
        {
          constexpr int T = hdg_warp_tiles;
          for (unsigned int i0 = 0; i0 < n_left; i0 += n_tile)
            for (unsigned int j0 = 0; j0 < n_right && !(lower && j0 > i0);
                 j0 += n_tile)
              {
                double        c[T][T][2] = {};
                const double *row[T], *column[T];
#pragma unroll
                for (int h = 0; h < T; ++h)
                  {
                    row[h]    = left + min(i0 + 8 * h + g, n_left - 1) * ld;
                    column[h] = right + min(j0 + 8 * h + g, n_right - 1) * ld;
                  }
                // (a tile of rows beside the next one)
                const auto wanted = [&](const int h, const int u) {
                  return i0 + 8 * h < n_left && j0 + 8 * u < n_right &&
                         !(lower && j0 + 8 * u > i0 + 8 * h + 15);
                };
#pragma unroll 2
                for (unsigned int q = q0 + t; q < q1; q += 4)
                  {
                    const double factor = w[q];
                    double       a[T], b[T];
#pragma unroll
                    for (int h = 0; h < T; ++h)
                      {
                        a[h] = row[h][q] * factor;
                        b[h] = column[h][q];
                      }
                    WarpProduct<T, T, T, double>::add(c, a, b, wanted);
                  }
#pragma unroll
                for (int h = 0; h < T; ++h)
#pragma unroll
                  for (int u = 0; u < T; ++u)
                    {
                      const unsigned int i = i0 + 8 * h + g,
                                         j = j0 + 8 * u + 2 * t;
                      if (i < n_left)
                        store(i,
                              j,
                              make_double2(j < n_right ? c[h][u][0] : 0.,
                                           j + 1 < n_right ? c[h][u][1] : 0.));
                    }
              }
        }

        /// Adds to or replaces two numbers.
        __device__ static void
        put(double *entry, const bool replace, double2 v)
        {
          double2 *const pair = reinterpret_cast<double2 *>(entry);
          if (!replace)
            {
              v.x += pair->x;
              v.y += pair->y;
            }
          *pair = v;
        }

        /// Of E, to @p partial; symmetric.
        __device__ void
        integrate_schur(const unsigned int n_quads,
                        const bool         replace,
                        double            *partial) const
        {
          // (without advection elimination reads the lower triangle)
          const bool lower = !to.advection();
          product(phi(),
                  to.n,
                  phi(),
                  to.n,
                  weight(3),
                  0,
                  4 * n_quads,
                  lower,
                  [&](const unsigned int i,
                      const unsigned int j,
                      const double2      v) {
                    if (j < to.padded_n && !(lower && j > i))
                      put(partial + i * L.stride + j, replace, v);
                  });
        }

        /// What a patch contributes, with quads [q0, q1) of the slice.
        __device__ void
        integrate_patch(double            *K,
                        const unsigned int q0,
                        const unsigned int q1,
                        const bool         replace) const
        {
          const HDGSliceQuad quad  = slice_quad[q0];
          const unsigned int n_psi = quad.n_functions, n = to.n,
                             padded_n = to.padded_n, row = first_row + quad.row;
          const auto with_basis = [&](const double *w, const auto &row_of) {
            product(psi(),
                    n_psi,
                    phi(),
                    n,
                    w,
                    4 * q0,
                    4 * q1,
                    false,
                    [&](const unsigned int i,
                        const unsigned int j,
                        const double2      v) {
                      if (j < padded_n)
                        put(row_of(row + i) + j, replace, v);
                    });
          };
          for (int d = 0; d < dim; ++d)
            with_basis(weight(6 + d),
                       [&](const unsigned int m) { return to.flux_row(m, d); });
          with_basis(weight(1), [&](const unsigned int m) {
            return to.R() + m * to.L.stride;
          });
          if (to.advection())
            with_basis(weight(2), [&](const unsigned int m) {
              return to.T() + m * to.L.stride;
            });
          // ---- traces among themselves
          const bool fixed = quad.code & 4u, boundary = quad.code & 2u;
          if (!fixed)
            product(
              psi(),
              n_psi,
              psi(),
              n_psi,
              weight(4),
              4 * q0,
              4 * q1,
              true,
              [&](const unsigned int i, const unsigned int j, const double2 v) {
                const std::size_t    ldk   = to.n_all;
                double *const        own   = K + (row + i) * ldk + row + j,
                              *const other = K + (row + j) * ldk + row + i;
                if (j <= i)
                  own[0] = replace ? v.x : own[0] + v.x;
                if (j < i)
                  other[0] = own[0];
                if (j + 1 <= i)
                  own[1] = replace ? v.y : own[1] + v.y;
                if (j + 1 < i)
                  other[ldk] = own[1];
              });
          double *const integral = to.trace_vector(0) + row, *const data =
                                                               to.trace_vector(
                                                                 1) +
                                                               row;
          if (replace)
            for (unsigned int i = lane; i < n_psi; i += 32)
              {
                to.trace_vector(3)[row + i] = fixed ? 0. : 1. + row;
                if (!boundary)
                  data[i] = 0.;
              }
          // (on the boundary twice the rows: of the functions, then of data)
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
              double *const entry = i < n_psi ? integral + i : data + i - n_psi;
              *entry              = replace ? v : *entry + v;
            });
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
#pragma unroll
              for (int i = 0; i < 6 + dim; ++i)
                weight(i)[lane] = weights[i];
              __syncwarp();
              evaluate_basis(x);
              evaluate_traces(trace_x, n_quads);
              integrate_schur(n_quads, slice == begin, partial);
              for (unsigned int q0 = 0, q1; q0 < n_quads; q0 = q1)
                {
                  q1 = patch_end(slice_quad, q0, n_quads);
                  if (slice_quad[q0].n_functions == 0)
                    continue;
                  const unsigned int row = slice_quad[q0].row;
                  const bool         begins =
                    q0 > 0 ? slice_quad[q0 - 1].row != row
                                   : slice == begin ||
                               P.facet_quad[slice - 1].row != first_row + row;
                  integrate_patch(K, q0, q1, begins);
                }
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
      template <int dim, bool in_shared>
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
              HDGFacets<dim>(P, base, slice_quad, e)
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
