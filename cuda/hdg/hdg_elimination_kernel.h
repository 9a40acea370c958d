// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_hdg_hdg_elimination_kernel_h
#define tessella_cuda_hdg_hdg_elimination_kernel_h

#include "hdg_kernel.h"

// Elimination for polytopes of up to 8 hdg_warp_tiles functions, if A is a
// multiple of the identity and there is no advection. Factorisation is a chain
// of short steps and a kernel of its own. With its results, elimination acts on
// a row [F_0 .. F_(dim - 1) | R] of a trace function by one product, which
// turns R into Y. K is the sum of the results of the facet kernels and one
// symmetric product of the rows [F | Y] with a sign. Solutions for each trace
// function are not computed, since recovery sums rows first.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Starts a copy of 16 bytes to shared memory. They are there after
      /// wait_for_copies() and a barrier.
      __device__ inline void
      copy_pair(double *to, const double *from)
      {
#if __CUDA_ARCH__ >= 800
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                     :
                     : "r"((unsigned int)__cvta_generic_to_shared(to)),
                       "l"(from)
                     : "memory");
#else
        to[0] = from[0];
        to[1] = from[1];
#endif
      }

      __device__ inline void
      wait_for_copies()
      {
#if __CUDA_ARCH__ >= 800
        asm volatile("cp.async.wait_all;" ::: "memory");
#endif
      }

      /// Copies an even number of entries; called by each lane of n_lanes.
      __device__ inline void
      copy_pairs(double            *to,
                 const double      *from,
                 const unsigned int size,
                 const unsigned int lane,
                 const unsigned int n_lanes)
      {
        for (unsigned int i = 2 * lane; i < size; i += 2 * n_lanes)
          copy_pair(to + i, from + i);
      }



      /// Writes to @p to, which has the layout of E() of a polytope, the
      /// contributions of volume and facets.
      template <int dim>
      __device__ inline void
      sum_facets(const HDGBlock<dim, HDGStage::elimination> &whole, double *to)
      {
        // Several loads are in flight at a time.
        constexpr unsigned int batch = 4;
        const HDGData<dim>    &P     = whole.P;
        const std::size_t  ld = whole.L.stride, step = P.layout.n_basis * ld;
        const unsigned int begin = P.D.polytope_interface_offset[whole.k],
                           n =
                             P.D.polytope_interface_offset[whole.k + 1] - begin,
                           n_entries = P.projected ? min(n, 1u) : n,
                           n_pairs   = whole.n * (unsigned int)ld / 2;
        const double2 *const E = reinterpret_cast<const double2 *>(whole.E()),
                             *const partial = reinterpret_cast<const double2 *>(
                               P.partial + (begin - P.first_entry) * step);
        for (unsigned int i0 = threadIdx.x; i0 < n_pairs;
             i0 += batch * blockDim.x)
          {
            unsigned int at[batch];
            double2      sum[batch];
#pragma unroll
            for (unsigned int l = 0; l < batch; ++l)
              {
                at[l]  = min(i0 + l * blockDim.x, n_pairs - 1);
                sum[l] = E[at[l]];
              }
#pragma unroll 4
            for (unsigned int e = 0; e < n_entries; ++e)
#pragma unroll
              for (unsigned int l = 0; l < batch; ++l)
                {
                  const double2 v = partial[e * (step / 2) + at[l]];
                  sum[l].x += v.x;
                  sum[l].y += v.y;
                }
#pragma unroll
            for (unsigned int l = 0; l < batch; ++l)
              reinterpret_cast<double2 *>(to)[at[l]] = sum[l];
          }
      }



      /// Computes the Cholesky factor L of the Schur complement E + a sum over
      /// d of V_d V_d^T, V_d = H(d). L^-1 / sqrt(a) replaces E, and sqrt(a)
      /// L^-1 V_d replaces H(d). One thread block for each polytope.
      template <int dim>
      __global__ void __launch_bounds__(64)
        hdg_schur_kernel(const __grid_constant__ HDGData<dim> P)
      {
        extern __shared__ double shared[];
        __shared__ int           bad;
        using Block           = HDGBlock<dim, HDGStage::elimination>;
        const HDGLayout   &L  = P.layout;
        double *const      E  = shared + L.schur;
        const double      *V  = shared + L.flux;
        const unsigned int ld = L.stride;
        for (unsigned int k = P.first + blockIdx.x; k < P.last; k += gridDim.x)
          {
            const unsigned int status = P.status[k];
            if (status & hdg_failed)
              continue;
            const Block        whole = state_of(P, k);
            const unsigned int n = whole.n, size = dim * n * L.mass_stride;
            __syncthreads();
            copy_pairs(
              shared + L.flux, whole.H(0), size, threadIdx.x, blockDim.x);
            sum_facets(whole, E);
            for (unsigned int i = threadIdx.x; i < n * ld; i += blockDim.x)
              E[n * ld + i] = 0.;
            __syncthreads();
            for (unsigned int i = threadIdx.x; i < n; i += blockDim.x)
              E[(n + i) * ld + i] = 1.;
            if (threadIdx.x == 0)
              bad = 0;
            wait_for_copies();
            __syncthreads();
            unsigned int counter = 0;
            const auto   row     = [&](const unsigned int d,
                                 const unsigned int i,
                                 const unsigned int l) {
              return V[(d * n + i) * L.mass_stride + l];
            };
            block_products<3>(
              dim,
              n,
              n,
              whole.padded_n,
              row,
              row,
              [&](const unsigned int i, const unsigned int j, const double v) {
                E[i * ld + j] += P.form.a * v;
              },
              counter,
              true);
            __syncthreads();
            block_cholesky(n,
                           2 * n,
                           E,
                           ld,
                           shared + L.schur_inverse,
                           shared + L.diagonal_entries,
                           &bad);
            __syncthreads();
            const double root = sqrt(P.form.a), reciprocal = 1. / root;
            for (unsigned int e = threadIdx.x; e < n * n; e += blockDim.x)
              {
                const unsigned int i = whole.over_n(e), j = e - i * n;
                whole.E()[i * ld + j] = reciprocal * E[(n + j) * ld + i];
              }
            double *const to = whole.H(0);
            block_product<3>(
              dim * n,
              n,
              whole.padded_n,
              [&](const unsigned int i, const unsigned int l) {
                const unsigned int d = whole.over_n(i);
                return l < n ? V[(d * n + l) * L.mass_stride + i - d * n] : 0.;
              },
              [&](const unsigned int j, const unsigned int l) {
                return l < n ? E[(n + l) * ld + j] : 0.;
              },
              [&](const unsigned int i, const unsigned int j, const double v) {
                const unsigned int d                        = whole.over_n(i);
                to[(d * n + j) * L.mass_stride + i - d * n] = root * v;
              },
              counter);
            if (threadIdx.x == 0)
              {
                if (!(status & hdg_stabilised))
                  fail(P, k, HDGFailure::no_stabilisation);
                else if (bad != 0)
                  fail(P, k, HDGFailure::schur_complement);
                if (bad != 0)
                  P.status[k] = status | hdg_failed;
              }
          }
      }



      /// Elimination of a polytope. Its rows [F_0 .. R] of trace functions, and
      /// of f, are in shared memory or in the workspace, and so is `factor`,
      /// the matrix that hdg_schur_kernel() leaves, [sqrt(a) L^-1 V_0 .. | L^-1
      /// / sqrt(a)]. @p T: enough tiles for all functions. P: data of all
      /// kernels; n: functions of the polytope; g and t: lane / 4 and lane % 4,
      /// the row and column of the lane in operands of products.
      template <int dim, int T, bool in_shared>
      struct HDGFewElimination
      {
        using Block = HDGBlock<dim, HDGStage::elimination>;
        /// Tiles of columns of K that a warp computes at a time, and number of
        /// steps of its sums that the compiler unrolls.
        static constexpr int          TN          = 2;
        static constexpr unsigned int not_written = ~0u, n_columns = 8 * TN,
                                      n_steps = 3;

        const HDGData<dim> &P;
        const Block         from; ///< arrays in global memory
        const unsigned int  n, n_traces, n_rows, padded_n, lane, g, t;
        const unsigned int  ld; ///< distance between rows in `rows` and
                                ///< `factor`
        double *const rows, *const factor;
        /// For each trace function: first trace function of its patch, if facet
        /// kernels have written the rows and columns of K of this patch; else
        /// not_written.
        unsigned int *const patch;

        __device__
        HDGFewElimination(const HDGData<dim> &P,
                          double             *base,
                          const unsigned int  k)
          : P(P)
          , from(state_of(P, k))
          , n(from.n)
          , n_traces(from.n_traces)
          , n_rows(from.n_rows)
          , padded_n(from.padded_n)
          , lane(threadIdx.x & 31u)
          , g(lane / 4)
          , t(lane % 4)
          , ld(P.layout.wide_stride)
          , rows(base + P.layout.first)
          , factor(base + P.layout.second)
          , patch(reinterpret_cast<unsigned int *>(base + P.layout.vectors))
        {}

        /// Copies rows of dim matrices at distance @p step, and of the matrix
        /// @p last, such that row i of all matrices forms one line.
        __device__ void
        copy_rows(double            *to,
                  const double      *matrix,
                  const std::size_t  step,
                  const double      *last,
                  const unsigned int size) const
        {
          const unsigned int n_pairs    = padded_n / 2,
                             reciprocal = 0xffffffffu / n_pairs + 1;
          for (unsigned int e = threadIdx.x; e < size * n_pairs;
               e += blockDim.x)
            {
              const unsigned int i  = __umulhi(e, reciprocal),
                                 j  = 2 * (e - i * n_pairs),
                                 at = i * from.L.stride + j;
              double *const row     = to + i * ld + j;
#pragma unroll
              for (int d = 0; d <= dim; ++d)
                {
                  const double *const pair =
                    (d < dim ? matrix + d * step : last) + at;
                  if (in_shared)
                    copy_pair(row + d * padded_n, pair);
                  else
                    *reinterpret_cast<double2 *>(row + d * padded_n) =
                      *reinterpret_cast<const double2 *>(pair);
                }
            }
        }

        /// Loads rows and factor. Returns true if a trace function belongs to a
        /// Dirichlet interface. Ends with a barrier.
        __device__ bool
        load() const
        {
          copy_rows(factor, from.H(0), from.H(1) - from.H(0), from.E(), n);
          copy_rows(rows, from.F(0), from.F(1) - from.F(0), from.R(), n_rows);
          const double *const marker = from.trace_vector(3);
          bool                fixed  = false;
          for (unsigned int m = threadIdx.x; m < n_traces; m += blockDim.x)
            {
              // The marker is zero, or an index plus one.
              patch[m] = (unsigned int)marker[m] - 1u;
              fixed    = fixed || patch[m] == not_written;
            }
          wait_for_copies();
          return __syncthreads_or(fixed);
        }

        /// R becomes Y / sqrt(a), Y = (R + a sum over d of F_d V_d^T) L^-T.
        __device__ void
        solve() const
        {
          const unsigned int depth = (dim + 1) * padded_n;
          for (unsigned int i0 = 16 * this_warp(); i0 < n_rows;
               i0 += blockDim.x / 2)
            {
              const double *const left[2] = {
                rows + min(i0 + g, n_rows - 1) * ld + t,
                rows + min(i0 + 8 + g, n_rows - 1) * ld + t};
              const double *right[T];
#pragma unroll
              for (int u = 0; u < T; ++u)
                right[u] = factor + min(8 * u + g, n - 1) * ld + t;
              double sums[2][T][2] = {};
#pragma unroll n_steps
              for (unsigned int l = 0; l < depth; l += 4)
                {
                  const double a[2] = {left[0][l], left[1][l]};
                  double       b[T];
#pragma unroll
                  for (int u = 0; u < T; ++u)
                    b[u] = right[u][l];
                  add_products(sums, a, b);
                }
              // All lanes have read what other lanes overwrite.
              __syncwarp();
#pragma unroll
              for (int h = 0; h < 2; ++h)
#pragma unroll
                for (int u = 0; u < T; ++u)
                  {
                    const unsigned int i = i0 + 8 * h + g, j = 8 * u + 2 * t;
                    if (i < n_rows && j < padded_n)
                      *reinterpret_cast<double2 *>(rows + i * ld +
                                                   dim * padded_n + j) =
                        make_double2(j < n ? sums[h][u][0] : 0.,
                                     j + 1 < n ? sums[h][u][1] : 0.);
                  }
            }
        }

        /// 8 TM rows of K from i0, and TN tiles of columns from j0: adds a (F
        /// F^T - Y Y^T / a) to the results of facet kernels. Computes the lower
        /// triangle and mirrors it.
        template <int TM>
        __device__ void
        add_product(double            *K,
                    const unsigned int i0,
                    const unsigned int j0) const
        {
          const double *left[TM], *right[TN];
          unsigned int  first[TM];
          bool          any = false;
#pragma unroll
          for (int h = 0; h < TM; ++h)
            {
              const unsigned int i = i0 + 8 * h + g;
              left[h]              = rows + min(i, n_traces - 1) * ld + t;
              first[h]             = i < n_traces ? patch[i] : not_written;
              any                  = any || first[h] < j0 + n_columns;
            }
#pragma unroll
          for (int u = 0; u < TN; ++u)
            right[u] = rows + min(j0 + 8 * u + g, n_traces - 1) * ld + t;
          const double a            = P.form.a;
          double       c[TM][TN][2] = {};
          if (__any_sync(~0u, any))
            {
              // Loads do not depend on conditions.
              const double reciprocal = 1. / a;
#pragma unroll
              for (int h = 0; h < TM; ++h)
#pragma unroll
                for (int u = 0; u < TN; ++u)
#pragma unroll
                  for (int s = 0; s < 2; ++s)
                    {
                      const unsigned int i = i0 + 8 * h + g,
                                         j = j0 + 8 * u + 2 * t + s;
                      const bool   there   = first[h] <= j && j <= i;
                      const double v       = K[there ? i * n_traces + j : 0];
                      c[h][u][s]           = there ? reciprocal * v : 0.;
                    }
            }
          const auto sum = [&](const unsigned int l, const auto &sign) {
            double x[TM], y[TN];
#pragma unroll
            for (int h = 0; h < TM; ++h)
              x[h] = sign(left[h][l]);
#pragma unroll
            for (int u = 0; u < TN; ++u)
              y[u] = right[u][l];
            add_products(c, x, y);
          };
          const unsigned int depth = dim * padded_n;
#pragma unroll n_steps
          for (unsigned int l = 0; l < depth; l += 4)
            sum(l, [](const double v) { return v; });
#pragma unroll n_steps
          for (unsigned int l = depth; l < depth + padded_n; l += 4)
            sum(l, [](const double v) { return -v; });
          // ---- rows, and columns of the transpose
          double *const        row    = K + (i0 + g) * n_traces + j0 + 2 * t,
                        *const column = K + (j0 + 2 * t) * n_traces + i0 + g;
          // true if the tile is below the diagonal as a whole
          const bool below = j0 + n_columns <= i0;
#pragma unroll
          for (int h = 0; h < TM; ++h)
            if (i0 + 8 * h + g < n_traces)
#pragma unroll
              for (int u = 0; u < TN; ++u)
#pragma unroll
                for (int s = 0; s < 2; ++s)
                  {
                    const unsigned int i = i0 + 8 * h + g,
                                       j = j0 + 8 * u + 2 * t + s;
                    const double v       = a * c[h][u][s];
                    if (below || j <= i)
                      row[8 * h * n_traces + 8 * u + s] = v;
                    if (below || j < i)
                      column[(8 * u + s) * n_traces + 8 * h] = v;
                  }
        }

        /// Computes K tile by tile. Tiles have 32 rows if both halves are
        /// needed, else 16.
        __device__ void
        products(double *K) const
        {
          const unsigned int n_warps = blockDim.x / 32, warp = this_warp();
          unsigned int       counter = 0;
          // The longest rows come first.
          for (unsigned int i0 = (n_traces + 31) / 32 * 32; i0 > 0;)
            {
              i0 -= 32;
              const unsigned int end = min(i0 + 32, n_traces);
              for (unsigned int j0 = 0; j0 < end; j0 += n_columns)
                {
                  const bool mine = counter == warp;
                  counter         = counter + 1 == n_warps ? 0 : counter + 1;
                  if (!mine)
                    continue;
                  const bool first = j0 < i0 + 16, second = i0 + 16 < n_traces;
                  if (first && second)
                    add_product<4>(K, i0, j0);
                  else
                    add_product<2>(K, first ? i0 : i0 + 16, j0);
                }
            }
        }

        /// Stores the right-hand side (from K if @p dirichlet), and the
        /// integrals and Dirichlet values of the trace functions.
        __device__ void
        store(const double *K, const bool dirichlet) const
        {
          const double               a        = P.form.a;
          const std::uint64_t        first    = P.trace_offset[from.k];
          const double *const        integral = from.trace_vector(0),
                              *const data     = from.trace_vector(1);
          // ---- The place of the factor is reused for given values, right-hand
          // sides, and the indices of given values.
          double *const given = factor, *const load = factor + n_traces;
          unsigned int *const list =
            reinterpret_cast<unsigned int *>(load + n_traces);
          unsigned int n_given = 0;
          if (dirichlet)
            for (unsigned int m0 = 0; m0 < n_traces; m0 += 32)
              {
                const unsigned int m = m0 + lane;
                const bool fixed     = m < n_traces && patch[m] == not_written;
                const unsigned int mask = __ballot_sync(~0u, fixed);
                if (fixed)
                  list[n_given + __popc(mask & ((1u << lane) - 1u))] = m;
                n_given += __popc(mask);
              }
          // Four lanes share the functions of a row.
          const double *const y = rows + dim * padded_n + t;
          for (unsigned int m0 = 8 * this_warp(); m0 < n_traces;
               m0 += blockDim.x / 4)
            {
              const unsigned int m = m0 + g, row = min(m, n_traces - 1);
              double             sum = 0.;
              for (unsigned int l = 0; l < padded_n; l += 4)
                sum += y[row * ld + l] * y[n_traces * ld + l];
              sum += __shfl_xor_sync(~0u, sum, 1);
              sum += __shfl_xor_sync(~0u, sum, 2);
              if (t == 0 && m < n_traces)
                {
                  const bool   fixed = patch[m] == not_written;
                  const double d = data[m], v = a * sum + (fixed ? 0. : d);
                  P.integral[first + m]  = integral[m];
                  P.dirichlet[first + m] = fixed ? d : 0.;
                  if (dirichlet)
                    {
                      given[m] = fixed ? d : 0.;
                      load[m]  = v;
                    }
                  else
                    P.rhs[first + m] = v;
                }
            }
          if (!dirichlet)
            return;
          __syncthreads();
          for (unsigned int m = threadIdx.x; m < n_traces; m += blockDim.x)
            {
              double sum = load[m];
#pragma unroll 4
              for (unsigned int l = 0; l < n_given; ++l)
                sum -= K[list[l] * n_traces + m] * given[list[l]];
              P.rhs[first + m] = sum;
            }
        }
      };



      /// Computes K and the right-hand side. Rows and factors remain in
      /// P.state, for recovery. One thread block for each polytope of the list.
      template <int dim, int T, bool in_shared>
      __global__ void __launch_bounds__(512)
        hdg_few_functions_elimination_kernel(
          const __grid_constant__ HDGData<dim> P)
      {
        extern __shared__ double shared[];
        double *const            base =
          in_shared ? shared : P.workspace + blockIdx.x * P.layout.size;
        for (unsigned int l = blockIdx.x; l < P.n_listed; l += gridDim.x)
          {
            const unsigned int k = P.list[l];
            if (P.status[k] & hdg_failed)
              continue;
            const HDGFewElimination<dim, T, in_shared> elimination(P, base, k);
            double *const K = P.K + (P.square_offset[k] - P.first_square);
            __syncthreads();
            const bool dirichlet = elimination.load();
            elimination.solve();
            __syncthreads();
            elimination.products(K);
            __syncthreads();
            elimination.store(K, dirichlet);
          }
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
