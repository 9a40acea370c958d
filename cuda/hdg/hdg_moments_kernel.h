// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_hdg_hdg_moments_kernel_h
#define tessella_cuda_hdg_hdg_moments_kernel_h

#include "hdg_kernel.h"

// Integrals over polytopes of up to 8 hdg_warp_tiles functions. Products of two
// functions are linear combinations of products of Legendre functions of up to
// twice the degree. The integrals of these (moments) are fewer, and a kernel
// sums only them over all points. If a, b and c are constant, f is the only
// other integrand, and a second kernel derives basis and matrices from the
// moments of both. On bricks the moments are products of integrals in one
// variable, and the second kernel computes them, too.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Moments of the functions on a box, up to a factor. Rows are products
      /// of functions of all variables but the first, columns are functions of
      /// the first variable. P: data of all kernels; k: polytope; g and t: lane
      /// / 4 and lane % 4, the row and column of the lane in operands of
      /// products.
      template <int dim>
      struct HDGMomentSums
      {
        static constexpr unsigned int ld = row_stride(hdg_warp_points);

        const HDGData<dim> &P;
        double *const       table; ///< table of the warp
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

        /// Writes the values of functions up to this degree at the point of
        /// this lane. Those of the first variable are multiplied by w.
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

        /// Adds the contributions of the warp's points to 8 TM rows.
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
              add_products(sums, a, b, [&](const int h, const int u) {
                return 8 * h < n_rows && 8 * u <= degree;
              });
            }
        }

        /// Adds the sums of all warps of the block, one after the other, and
        /// stores them at @p to.
        template <int TM, int TN>
        __device__ void
        store(double (&sums)[TM][TN][2],
              const unsigned int n_rows,
              const unsigned int n_columns_here,
              double            *to) const
        {
          for (unsigned int turn = 0; turn < blockDim.x / 32; ++turn)
            {
              if (turn == this_warp())
                visit_values(sums,
                             0,
                             0,
                             [&](const unsigned int i,
                                 const unsigned int j,
                                 const double       v) {
                               double *const entry = to + i * n_columns + j;
                               if (i < n_rows && j < n_columns_here)
                                 *entry = turn == 0 ? v : *entry + v;
                             });
              __syncthreads();
            }
        }
      };



      /// Moments of the volume, then those of f if hdg_basis_kernel() follows.
      /// One thread block for each polytope.
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
            // hdg_basis_kernel() computes the moments of bricks.
            if (P.part_is_done && P.bricks != nullptr && P.bricks[k])
              continue;
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
                  const HDGVolumePoint<dim> point(
                    P,
                    P.mass_point_group[min(q0 + lane / 4, end - 1)],
                    lane % 4,
                    rule);
                  __syncwarp();
                  moments.write_tables(2 * max_degree,
                                       q0 + lane / 4 < end && point.valid
                                         ? point.w
                                         : 0.,
                                       point.x);
                  __syncwarp();
                  moments.add(sums, P.n_moment_rows, 2 * max_degree);
                }
              moments.store(sums, P.n_moment_rows, 2 * max_degree + 1, to);
            }
            if (!P.part_is_done)
              continue;
            if (!P.form.source)
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
                const HDGVolumePoint<dim> point(
                  P,
                  P.volume_point_group[min(q0 + lane / 4, end - 1)],
                  lane % 4,
                  degree);
                const bool   valid = q0 + lane / 4 < end && point.valid;
                const double f     = point.w * point.source();
                __syncwarp();
                moments.write_tables(max_degree, valid ? f : 0., point.x);
                __syncwarp();
                moments.add(sums, P.n_source_rows, max_degree);
                if (valid)
                  absolute += fabs(f);
              }
            for (unsigned int s = 16; s > 0; s /= 2)
              absolute += __shfl_xor_sync(~0u, absolute, s);
            if (lane == 0)
              abs_f[warp] = absolute;
            // store() ends with a barrier, after which abs_f can be read.
            moments.store(sums,
                          P.n_source_rows,
                          max_degree + 1,
                          to + P.n_moment_rows * (2 * max_degree + 1));
            if (threadIdx.x == 0)
              P.abs_f[k] = blockDim.x > 32 ? abs_f[0] + abs_f[1] : abs_f[0];
            __syncthreads();
          }
      }



      /// Moments on polytopes of bricks: sums of products of integrals in one
      /// variable. One warp computes those of matrices. The others compute
      /// those of f, each on some of the sub-cells. P: data of all kernels; k:
      /// polytope.
      template <int dim>
      struct HDGBrickMoments
      {
        /// Number of sub-cells that are processed at a time; largest number of
        /// warps for f; an upper bound for the number of functions of one
        /// variable.
        static constexpr unsigned int n_together = 8, n_most = 3,
                                      max_functions = dim > 2
                                                        ? hdg_warp_tiles + 1
                                                        : 2 * hdg_warp_tiles;

        const HDGData<dim> &P;
        const unsigned int  k, degree, width, lane;

        __device__
        HDGBrickMoments(const HDGData<dim> &P, const unsigned int k)
          : P(P)
          , k(k)
          , degree(P.D.degree[k])
          , width(2 * P.layout.max_degree + 1)
          , lane(threadIdx.x & 31u)
        {}

        /// Number of doubles that integrate_products() needs as scratch.
        __host__ __device__ static constexpr std::size_t
                 n_scratch_of_products(const unsigned int max_degree)
        {
          return n_together * dim * (2 * max_degree + 1);
        }

        /// Number of doubles that a warp of integrate_source() needs as
        /// scratch. @p n_points: number of points of the rule.
        __host__ __device__ static constexpr std::size_t
                 n_scratch_of_source(const unsigned int max_degree,
                                     const unsigned int n_points)
        {
          const std::size_t m       = max_degree + 1,
                            n_lines = dim > 2 ? n_points * n_points : n_points;
          return dim * n_points * m + m * n_lines +
                 m * m * (n_points > m ? n_points : m);
        }

        /// Edge @p d of a sub-cell in the variable of the box: its begin and
        /// extent. Returns its length in space.
        __device__ double
        edge(const unsigned int subcell,
             const unsigned int d,
             double            &begin,
             double            &extent) const
        {
          const double *v =
                         P.D.subcell_vertices +
                         std::size_t(P.D.subcell_vertex_offset[subcell]) * dim,
                       *box  = P.D.box + 2 * dim * std::size_t(k);
          const double lower = box[d], upper = box[dim + d], x = v[d],
                       length     = v[(1u << d) * dim + d] - x,
                       reciprocal = 1. / (upper - lower);
          begin                   = (2. * x - lower - upper) * reciprocal;
          extent                  = 2. * length * reciprocal;
          return fabs(length);
        }

        /// Moments of products of two functions, by one warp.
        __device__ void
        integrate_products(double *scratch, double *to) const
        {
          constexpr unsigned int max_width = 2 * max_functions - 1;
          const unsigned int     rule      = P.mass_degree[degree],
                             n_points      = P.n_line_points[rule];
          const double *const points = P.line_rule + 2 * P.line_stride * rule,
                              *const weights = points + P.line_stride;
          const unsigned int         begin   = P.D.subcell_offset[k],
                             end             = P.D.subcell_offset[k + 1];
          for (unsigned int s0 = begin; s0 < end; s0 += n_together)
            {
              const unsigned int n_here = min(n_together, end - s0);
              __syncwarp();
              for (unsigned int i = lane; i < n_here * dim; i += 32)
                {
                  double       x0, extent, sums[max_width] = {};
                  const double length = edge(s0 + i / dim, i % dim, x0, extent);
                  for (unsigned int q = 0; q < n_points; ++q)
                    {
                      const double w  = length * __ldg(weights + q),
                                   xi = x0 + extent * __ldg(points + q);
                      double previous = 0., current = w;
#pragma unroll
                      for (unsigned int n = 0; n < max_width; ++n)
                        if (n < width)
                          {
                            sums[n] += current;
                            if (n + 1 == max_width)
                              break;
                            const double next =
                              xi * current * Legendre::internal::forward(n) -
                              previous * Legendre::internal::backward(n);
                            previous = current;
                            current  = next;
                          }
                    }
#pragma unroll
                  for (unsigned int n = 0; n < max_width; ++n)
                    if (n < width)
                      scratch[i * width + n] =
                        Legendre::internal::scale(n) * sums[n];
                }
              __syncwarp();
              for (unsigned int e = lane; e < P.n_moment_rows * width; e += 32)
                {
                  const unsigned int row = e / width, first = e - row * width,
                                     rows = __ldg(P.moment_row + row);
                  double sum              = s0 == begin ? 0. : to[e];
                  for (unsigned int i = 0; i < n_here; ++i)
                    {
                      const double *const line = scratch + i * dim * width;
                      double product = line[first] * line[rows & 1023u];
                      if (dim > 2)
                        product *= line[rows >> 10];
                      sum += product;
                    }
                  to[e] = sum;
                }
            }
        }

        /// Moments of f, by one warp: integrals of f and products of functions
        /// of all variables, at [(i m + j) m + l], m = degree + 1 (in 2-D [i m
        /// + j]). They are summed over the sub-cells from @p begin on in steps
        /// of @p step, one variable after the other. Returns their address, and
        /// in @p absolute the part of the integral of |f| that this lane has
        /// summed.
        __device__ const double *
        integrate_source(double            *scratch,
                         const unsigned int begin,
                         const unsigned int step,
                         double            &absolute) const
        {
          const HDGForm<dim> &form    = P.form;
          const unsigned int n_points = P.n_line_points[degree], m = degree + 1,
                             n_lines = dim > 2 ? n_points * n_points : n_points;
          const double *const points = P.line_rule + 2 * P.line_stride * degree,
                              *const weights = points + P.line_stride;
          double *const              table   = scratch,
                        *const       second  = table + dim * n_points * m,
                        *const       last    = second + m * n_lines;
          // functions of variable d, weights included: [(d n_points + q) m + i]
          const auto functions = [&](const unsigned int d) {
            return table + d * n_points * m;
          };
          double             sums[max_functions] = {};
          const unsigned int end                 = P.D.subcell_offset[k + 1];
          absolute                               = 0.;
          for (unsigned int s = P.D.subcell_offset[k] + begin; s < end;
               s += step)
            {
              __syncwarp();
              for (unsigned int i = lane; i < dim * n_points; i += 32)
                {
                  const unsigned int d = i / n_points, q = i - d * n_points;
                  double             x0, extent;
                  const double       length = edge(s, d, x0, extent);
                  write_legendre(degree,
                                 x0 + extent * __ldg(points + q),
                                 length * __ldg(weights + q),
                                 0.,
                                 table + i * m,
                                 nullptr,
                                 1);
                }
              __syncwarp();
              // ---- integral over the first variable
              const double *const f =
                form.table_f < 0
                  ? nullptr
                  : P.volume_table + form.table_f * P.n_volume_points +
                      (P.D.subcell_q[s] - P.first_volume_point);
              for (unsigned int line = lane; line < n_lines; line += 32)
                {
                  double values[max_functions] = {}, size = 0.;
                  for (unsigned int q = 0; q < n_points; ++q)
                    {
                      const double v =
                        f == nullptr ? form.f : f[line * n_points + q];
                      const double *const here = table + q * m;
                      size += fabs(v * here[0]);
#pragma unroll
                      for (unsigned int i = 0; i < max_functions; ++i)
                        if (i < m)
                          values[i] += v * here[i];
                    }
                  const unsigned int q2 = line / n_points,
                                     q1 = line - q2 * n_points;
                  size *= functions(1)[q1 * m];
                  if (dim > 2)
                    size *= functions(dim - 1)[q2 * m];
                  absolute += size;
#pragma unroll
                  for (unsigned int i = 0; i < max_functions; ++i)
                    if (i < m)
                      second[i * n_lines + line] = values[i];
                }
              __syncwarp();
              // ---- integral over the second variable
              const double *values = second;
              if (dim > 2)
                {
                  for (unsigned int e = lane; e < m * n_points; e += 32)
                    {
                      double             result[max_functions] = {};
                      const unsigned int i                     = e / n_points,
                                         q2 = e - i * n_points;
                      for (unsigned int q = 0; q < n_points; ++q)
                        {
                          const double v = second[e * n_points + q];
#pragma unroll
                          for (unsigned int j = 0; j < max_functions; ++j)
                            if (j < m)
                              result[j] += v * functions(1)[q * m + j];
                        }
#pragma unroll
                      for (unsigned int j = 0; j < max_functions; ++j)
                        if (j < m)
                          last[(i * m + j) * n_points + q2] = result[j];
                    }
                  values = last;
                  __syncwarp();
                }
              // ---- integral over the last variable
              if (lane < (dim > 2 ? m * m : m))
                for (unsigned int q = 0; q < n_points; ++q)
                  {
                    const double v = values[lane * n_points + q];
#pragma unroll
                    for (unsigned int j = 0; j < max_functions; ++j)
                      if (j < m)
                        sums[j] += v * functions(dim - 1)[q * m + j];
                  }
            }
          __syncwarp();
          if (lane < (dim > 2 ? m * m : m))
#pragma unroll
            for (unsigned int j = 0; j < max_functions; ++j)
              if (j < m)
                last[lane * m + j] = sums[j];
          __syncwarp();
          return last;
        }

        /// Computes all moments, and the integral of |f|, by a thread block
        /// with @p scratch. Ends with a barrier.
        __device__ void
        integrate(double *scratch, double *to) const
        {
          const unsigned int m = degree + 1, warp = this_warp(),
                             n_warps = blockDim.x / 32 - 1;
          const std::size_t of_warp  = n_scratch_of_source(
                              P.layout.max_degree,
                              P.n_line_points[P.layout.max_degree]),
                            shift = n_scratch_of_products(P.layout.max_degree);
          __shared__ const double *results[n_most];
          __shared__ double        absolute[n_most];
          if (warp == 0)
            integrate_products(scratch, to);
          else if (P.form.source)
            {
              double              size;
              const double *const result =
                integrate_source(scratch + shift + (warp - 1) * of_warp,
                                 warp - 1,
                                 n_warps,
                                 size);
              for (unsigned int s = 16; s > 0; s /= 2)
                size += __shfl_xor_sync(~0u, size, s);
              if (lane == 0)
                {
                  results[warp - 1]  = result;
                  absolute[warp - 1] = size;
                }
            }
          __syncthreads();
          double *const of_source = to + P.n_moment_rows * width;
          if (P.form.source)
            for (unsigned int e = threadIdx.x; e < P.n_source_rows * m;
                 e += blockDim.x)
              {
                const unsigned int row = e / m, i = e - row * m,
                                   rows = __ldg(P.moment_row + row),
                                   j    = (rows & 1023u) - width,
                                   l = dim > 2 ? (rows >> 10) - 2 * width : 0;
                double sum           = 0.;
                // Other polytopes may have more functions.
                if (j < m && l < m)
                  for (unsigned int w = 0; w < n_warps; ++w)
                    sum +=
                      results[w][dim > 2 ? (i * m + j) * m + l : i * m + j];
                of_source[row * width + i] = sum;
              }
          if (threadIdx.x == 0)
            {
              double sum = 0.;
              for (unsigned int w = 0; P.form.source && w < n_warps; ++w)
                sum += absolute[w];
              P.abs_f[k] = sum;
            }
          __syncthreads();
        }
      };



      /// Computes basis and volume matrices from moments, one thread block for
      /// each polytope. Polytopes whose functions are close to dependent are
      /// left to hdg_volume_kernel().
      template <int dim>
      __global__ void __launch_bounds__(128, 6)
        hdg_basis_kernel(const __grid_constant__ HDGData<dim> P)
      {
        extern __shared__ double shared[];
        __shared__ double        sum[2];
        __shared__ int           bad, stabilised;
        using Block        = HDGBlock<dim, HDGStage::volume>;
        const HDGLayout &L = P.layout;
        for (unsigned int k = P.first + blockIdx.x; k < P.last; k += gridDim.x)
          {
            Block              block(P, L, shared, k);
            double *const      moments = shared + L.tables;
            const unsigned int of_source =
              P.n_moment_rows * (2 * L.max_degree + 1);
            const bool bricks = P.bricks != nullptr && P.bricks[k];
            if (!bricks)
              for (unsigned int i = threadIdx.x; i < P.moments_stride;
                   i += blockDim.x)
                moments[i] = block.moments()[i];
            else
              HDGBrickMoments<dim>(P, k).integrate(shared, moments);
            __syncthreads();
            // Zero all padding, and all arrays that are only partly written.
            Block::zero(shared, L.tables);
            if (threadIdx.x == 0)
              stabilised = 0;
            __syncthreads();
            block.mass_of_moments(moments);
            const bool good = block.basis_of_mass(&bad, sum);
            __syncthreads();
            if (good)
              {
                // The mass matrix has overwritten some of this.
                Block::zero(shared, L.transform);
                double *const f    = shared + L.diagonal_entries;
                const double  root = sqrt(block.inverse_measure_of_box());
                if (P.form.source)
                  for (unsigned int i = threadIdx.x; i < block.n;
                       i += blockDim.x)
                    f[i] = root * moments[of_source + P.function_moment[i]];
                __syncthreads();
                block.exact_integrals(nullptr, &stabilised);
                __syncthreads();
                block.store_volume(state_of(P, k));
              }
            else
              for (unsigned int i = threadIdx.x; i < P.moments_stride;
                   i += blockDim.x)
                block.moments()[i] = moments[i];
            if (threadIdx.x == 0)
              {
                P.status[k] =
                  (stabilised ? hdg_stabilised : 0) | (good ? 0 : hdg_undone);
                if (!good)
                  P.undone[1 + atomicAdd(P.undone, 1u)] = k;
              }
            __syncthreads();
          }
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
