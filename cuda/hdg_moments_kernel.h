// SPDX-License-Identifier: LGPL-2.1-or-later
#ifndef tessella_cuda_hdg_moments_kernel_h
#define tessella_cuda_hdg_moments_kernel_h

#include "hdg_kernel.h"

// Integrals over polytopes of up to 8 hdg_warp_tiles functions. Products of two
// functions are sums of products of Legendre functions of up to twice the
// degree, whose integrals (moments) are fewer: a kernel sums only those over
// all points. Where a, b and c are constant, nothing else is integrated but f,
// and a kernel makes basis and matrices of the moments of both.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Moments of the functions on a box, up to a factor: rows are products
      /// of functions of all variables but the first, columns functions of the
      /// first.
      template <int dim>
      struct HDGMomentSums
      {
        static constexpr unsigned int ld = row_stride(hdg_warp_points);

        const HDGData<dim> &P;
        double *const       table; ///< of the warp
        const unsigned int  k, n_columns, lane, g, t;

        __device__
        HDGMomentSums(const HDGData<dim> &P,
                      double             *table,
                      const unsigned int  k)
          : P(P)
          , table(table)
          , k(k)
          , n_columns(2 * P.layout.max_degree + 1)
          , lane(threadIdx.x & 31u)
          , g(lane / 4)
          , t(lane % 4)
        {}

        /// Functions of up to this degree at the point of this lane, those of
        /// the first variable times w.
        __device__ void
        write_tables(const unsigned int degree,
                     const double       w,
                     const double (&x)[dim]) const
        {
          const double *box = P.D.box + 2 * dim * std::size_t(k);
#pragma unroll
          for (int d = 0; d < dim; ++d)
            {
              const double lower = box[d], upper = box[dim + d];
              write_legendre(degree,
                             (2. * x[d] - lower - upper) / (upper - lower),
                             d == 0 ? w : 1.,
                             0.,
                             table + d * n_columns * ld + lane,
                             nullptr,
                             ld);
            }
        }

        /// Adds what the points of the warp contribute to 8 TM rows.
        template <int TM, int TN>
        __device__ void
        add(double (&sums)[TM][TN][2],
            const unsigned int n_rows,
            const unsigned int degree) const
        {
          const double *from[TM][dim > 2 ? 2 : 1], *first[TN];
#pragma unroll
          for (int h = 0; h < TM; ++h)
            {
              const unsigned int rows =
                __ldg(P.moment_row + min(8 * h + g, n_rows - 1));
              from[h][0] = table + (rows & 1023u) * ld + t;
              if (dim > 2)
                from[h][dim > 2 ? 1 : 0] = table + (rows >> 10) * ld + t;
            }
#pragma unroll
          for (int u = 0; u < TN; ++u)
            first[u] = table + min(8 * u + g, degree) * ld + t;
#pragma unroll 2
          for (unsigned int q = 0; q < hdg_warp_points; q += 4)
            {
              double a[TM], b[TN];
#pragma unroll
              for (int h = 0; h < TM; ++h)
                {
                  a[h] = from[h][0][q];
                  if (dim > 2)
                    a[h] *= from[h][dim > 2 ? 1 : 0][q];
                }
#pragma unroll
              for (int u = 0; u < TN; ++u)
                b[u] = first[u][q];
              WarpProduct<TM, TN, TN, double>::add(
                sums, a, b, [&](const int h, const int u) {
                  return 8 * h < n_rows && 8 * u <= degree;
                });
            }
        }

        /// Sums of all warps of the block, one after the other, to @p to.
        template <int TM, int TN>
        __device__ void
        store(const double (&sums)[TM][TN][2],
              const unsigned int n_rows,
              const unsigned int n_columns_here,
              double            *to) const
        {
          for (unsigned int turn = 0; turn < blockDim.x / 32; ++turn)
            {
              if (turn == this_warp())
#pragma unroll
                for (int h = 0; h < TM; ++h)
#pragma unroll
                  for (int u = 0; u < TN; ++u)
#pragma unroll
                    for (int s = 0; s < 2; ++s)
                      {
                        const unsigned int i = 8 * h + g, j = 8 * u + 2 * t + s;
                        double *const      entry = to + i * n_columns + j;
                        if (i < n_rows && j < n_columns_here)
                          *entry =
                            turn == 0 ? sums[h][u][s] : *entry + sums[h][u][s];
                      }
              __syncthreads();
            }
        }
      };



      /// Moments of the volume, then those of f where hdg_basis_kernel() is
      /// next; one block a polytope.
      template <int dim>
      __global__ void __launch_bounds__(64, 12)
        hdg_moments_kernel(const __grid_constant__ HDGData<dim> P)
      {
        extern __shared__ double shared[];
        __shared__ double        abs_f[2];
        const unsigned int       lane = threadIdx.x & 31u, warp = this_warp(),
                           max_degree = P.layout.max_degree;
        double *const table =
          shared + P.layout.tables +
          warp * dim * (2 * max_degree + 1) * HDGMomentSums<dim>::ld;
        for (unsigned int k = P.first + blockIdx.x; k < P.last; k += gridDim.x)
          {
            const HDGMomentSums<dim> moments(P, table, k);
            double *const            to =
              P.moments + std::size_t(k - P.first) * P.moments_stride;
            const unsigned int degree = P.D.degree[k];
            {
              double             sums[4][2][2] = {};
              const unsigned int begin         = P.mass_begin[k],
                                 end           = P.mass_begin[k + 1],
                                 rule          = P.mass_degree[degree];
              for (unsigned int q0 = begin + 8 * warp; q0 < end;
                   q0 += blockDim.x / 4)
                {
                  const HDGVolumeQuad quad =
                    P.mass_quad[min(q0 + lane / 4, end - 1)];
                  const unsigned int n_points =
                    n_volume_points<Cells::others>(P.D, quad.subcell, rule);
                  const unsigned int point = quad.first + lane % 4;
                  double             x[dim];
                  const double       w = general_volume_point(
                    P.D, quad.subcell, min(point, n_points - 1), rule, x);
                  __syncwarp();
                  moments.write_tables(2 * max_degree,
                                       q0 + lane / 4 < end && point < n_points
                                         ? w
                                         : 0.,
                                       x);
                  __syncwarp();
                  moments.add(sums, P.n_moment_rows, 2 * max_degree);
                }
              moments.store(sums, P.n_moment_rows, 2 * max_degree + 1, to);
            }
            const HDGForm<dim> &form = P.form;
            if (!P.part_is_done)
              continue;
            if (!form.source)
              {
                if (threadIdx.x == 0)
                  P.abs_f[k] = 0.;
                continue;
              }
            double             sums[2][1][2] = {}, absolute = 0.;
            const unsigned int begin = P.volume_begin[k],
                               end   = P.volume_begin[k + 1];
            for (unsigned int q0 = begin + 8 * warp; q0 < end;
                 q0 += blockDim.x / 4)
              {
                const HDGVolumeQuad quad =
                  P.volume_quad[min(q0 + lane / 4, end - 1)];
                const unsigned int n_points =
                  n_volume_points<Cells::others>(P.D, quad.subcell, degree);
                const bool valid =
                  q0 + lane / 4 < end && quad.first + lane % 4 < n_points;
                const unsigned int point =
                  min(quad.first + lane % 4, n_points - 1);
                double       x[dim];
                const double w =
                  general_volume_point(P.D, quad.subcell, point, degree, x);
                const double f =
                  form.table_f < 0
                    ? form.f
                    : P.volume_table[form.table_f * P.n_volume_points +
                                     (P.D.subcell_q[quad.subcell] -
                                      P.first_volume_point) +
                                     point];
                __syncwarp();
                moments.write_tables(max_degree, valid ? w * f : 0., x);
                __syncwarp();
                moments.add(sums, P.n_source_rows, max_degree);
                if (valid)
                  absolute += fabs(w * f);
              }
            for (unsigned int s = 16; s > 0; s /= 2)
              absolute += __shfl_xor_sync(~0u, absolute, s);
            if (lane == 0)
              abs_f[warp] = absolute;
            // (begins to store, and ends with a barrier)
            moments.store(sums,
                          P.n_source_rows,
                          max_degree + 1,
                          to + P.n_moment_rows * (2 * max_degree + 1));
            if (threadIdx.x == 0)
              P.abs_f[k] = blockDim.x > 32 ? abs_f[0] + abs_f[1] : abs_f[0];
            __syncthreads();
          }
      }



      /// Basis and matrices of the volume, from moments; one block a polytope.
      /// Polytopes whose functions are close to dependent are left to
      /// hdg_volume_kernel().
      template <int dim>
      __global__ void __launch_bounds__(64, 12)
        hdg_basis_kernel(const __grid_constant__ HDGData<dim> P)
      {
        extern __shared__ double shared[];
        __shared__ double        sum[2];
        __shared__ int           bad, stabilised;
        using Block        = HDGBlock<dim, HDGStage::volume>;
        const HDGLayout &L = P.layout;
        for (unsigned int k = P.first + blockIdx.x; k < P.last; k += gridDim.x)
          {
            // (padding is zero, and what only some entries are written of)
            Block::zero(shared, L.size);
            if (threadIdx.x == 0)
              stabilised = 0;
            __syncthreads();
            Block block(P, L, shared, nullptr, k);
            block.mass_of_moments();
            const bool good = block.basis_of_mass(&bad, sum);
            __syncthreads();
            if (good)
              {
                // (the mass matrix has used some of this)
                Block::zero(shared, L.transform);
                const double *const moments =
                  P.moments + std::size_t(k - P.first) * P.moments_stride +
                  P.n_moment_rows * (2 * L.max_degree + 1);
                double *const f    = shared + L.diagonal_entries;
                const double  root = sqrt(block.inverse_measure_of_box());
                if (P.form.source)
                  for (unsigned int i = threadIdx.x; i < block.n;
                       i += blockDim.x)
                    f[i] = root * moments[P.function_moment[i]];
                __syncthreads();
                block.exact_integrals(nullptr, &stabilised);
                __syncthreads();
                block.store_volume(HDGBlock<dim, HDGStage::elimination>(
                  P,
                  P.state_layout,
                  P.state + std::size_t(k - P.first) * P.state_layout.inverse,
                  nullptr,
                  k));
              }
            if (threadIdx.x == 0)
              P.status[k] =
                (stabilised ? hdg_stabilised : 0) | (good ? 0 : hdg_undone);
            __syncthreads();
          }
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
