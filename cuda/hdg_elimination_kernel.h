// SPDX-License-Identifier: LGPL-2.1-or-later
#ifndef tessella_cuda_hdg_elimination_kernel_h
#define tessella_cuda_hdg_elimination_kernel_h

#include "hdg_kernel.h"

// Elimination where A is a multiple of the identity, there is no advection, and
// polytopes have up to 8 hdg_warp_tiles functions. Factorisation, a chain of
// short steps, is a kernel of its own, which leaves the inverse of the Schur
// complement's factor: with it all that belongs to a trace function is a chain
// of products, from sums to operands in registers, which no other warp has a
// part in.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// 16 bytes to shared memory, which are there after wait_for_copies() and
      /// a barrier.
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

      /// An even number of entries, by lane of n_lanes.
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



      /// The inverse of the factor of the Schur complement, transposed, in the
      /// place of what the volume has contributed to it; one block a polytope.
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
            const Block whole(P,
                              P.state_layout,
                              P.state + std::size_t(k - P.first) *
                                          P.state_layout.inverse,
                              nullptr,
                              k);
            if (whole.n_rows > P.few_rows)
              continue;
            const unsigned int n = whole.n, size = dim * n * L.mass_stride;
            __syncthreads();
            copy_pairs(
              shared + L.flux, whole.H(0), size, threadIdx.x, blockDim.x);
            whole.add_facets(E,
                             P.partial +
                               std::size_t(P.D.polytope_interface_offset[k] -
                                           P.first_entry) *
                                 L.n_basis * ld);
            for (unsigned int i = threadIdx.x; i < n * ld; i += blockDim.x)
              E[n * ld + i] = i % ld == i / ld ? 1. : 0.;
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
            block_products<2>(
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
            for (unsigned int i = threadIdx.x; i < n * ld; i += blockDim.x)
              whole.E()[i] = E[n * ld + i];
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



      /// @p T: enough tiles for all functions.
      template <int dim, int T>
      struct HDGFewElimination
      {
        using Block = HDGBlock<dim, HDGStage::elimination>;
        /// Rows of trace functions, and of f, that a warp takes at a time, and
        /// the distance of rows of the factor's inverse.
        static constexpr unsigned int n_tile = 16, ld_inverse = 8 * T;

        const HDGData<dim> &P;
        const Block         block, from; ///< in shared and in global memory
        const unsigned int  lane, g, t;

        __device__
        HDGFewElimination(const HDGData<dim> &P,
                          double             *base,
                          const unsigned int  k)
          : P(P)
          , block(P, P.layout, base, nullptr, k)
          , from(P,
                 P.state_layout,
                 P.state + std::size_t(k - P.first) * P.state_layout.inverse,
                 nullptr,
                 k)
          , lane(threadIdx.x & 31u)
          , g(lane / 4)
          , t(lane % 4)
        {}

        /// Of the factor, and its transpose; with zeros up to 8 T rows.
        __device__ double *
        inverse(const bool transposed) const
        {
          return block.base + block.L.schur_inverse +
                 (transposed ? ld_inverse * ld_inverse : 0);
        }

        __device__ void
        load() const
        {
          const unsigned int n = block.n, n_rows = block.n_rows,
                             ldm = block.L.mass_stride;
          copy_pairs(block.H(0),
                     from.H(0),
                     dim * (n + n_rows) * ldm,
                     threadIdx.x,
                     blockDim.x);
          const double *const E = from.E();
          for (unsigned int e = threadIdx.x; e < ld_inverse * ld_inverse;
               e += blockDim.x)
            {
              const unsigned int i = e / ld_inverse, j = e % ld_inverse;
              const double v = i < n && j < n ? E[i * block.L.stride + j] : 0.;
              inverse(true)[e]                   = v;
              inverse(false)[j * ld_inverse + i] = v;
            }
          for (unsigned int i = 0; i < 4; ++i)
            if (i != 2)
              Block::copy(block.trace_vector(i),
                          from.trace_vector(i),
                          block.n_traces);
          wait_for_copies();
          __syncthreads();
        }

        /// result = values times the transpose of a matrix of 8 T rows.
        __device__ void
        multiply(double (&result)[2][T][2],
                 const double (&values)[2][T][2],
                 const double *matrix) const
        {
#pragma unroll
          for (int u = 0; u < T; ++u)
#pragma unroll
            for (int s = 0; s < 2; ++s)
              result[0][u][s] = result[1][u][s] = 0.;
#pragma unroll
          for (int v = 0; v < T; ++v)
            {
              double2 column[T];
#pragma unroll
              for (int u = 0; u < T; ++u)
                column[u] = *reinterpret_cast<const double2 *>(
                  matrix + (8 * u + g) * ld_inverse + 8 * v + 2 * t);
#pragma unroll
              for (int s = 0; s < 2; ++s)
                {
                  const double a[2] = {values[0][v][s], values[1][v][s]};
                  double       b[T];
#pragma unroll
                  for (int u = 0; u < T; ++u)
                    b[u] = s == 0 ? column[u].x : column[u].y;
                  WarpProduct<2, T, T, double>::add(
                    result, a, b, [](const int, const int) { return true; });
                }
            }
        }

        /// R() becomes R + H^T A^-1 F times the inverse of the factor; U and Q
        /// go to where they are kept.
        __device__ void
        solve(const bool recovery) const
        {
          const unsigned int n = block.n, n_rows = block.n_rows,
                             ld = block.L.stride, ldm = block.L.mass_stride,
                             padded_n = block.padded_n;
          const double a              = P.form.a;
          const auto   all = [](const int, const int) { return true; };
          double      *kept =
            recovery ? P.solvers + P.solver_offset[block.k] - P.first_solver
                          : nullptr;
          for (unsigned int i0 = n_tile * this_warp(); i0 < n_rows;
               i0 += blockDim.x / 2)
            {
              const unsigned int row[2] = {min(i0 + g, n_rows - 1),
                                           min(i0 + 8 + g, n_rows - 1)};
              // (while these are on their way)
              double right[2][T][2];
#pragma unroll
              for (int h = 0; h < 2; ++h)
#pragma unroll
                for (int u = 0; u < T; ++u)
                  {
                    const unsigned int j = 8 * u + 2 * t;
                    const double2      v = j < padded_n
                                             ? *reinterpret_cast<const double2 *>(
                                            from.R() + row[h] * ld + j)
                                             : make_double2(0., 0.);
                    right[h][u][0]       = v.x;
                    right[h][u][1]       = v.y;
                  }
              double sums[2][T][2] = {};
#pragma unroll 1
              for (unsigned int d = 0; d < dim; ++d)
                {
                  const double *const F = block.F(d), *const V = block.H(d);
#pragma unroll 2
                  for (unsigned int l0 = 0; l0 < padded_n; l0 += 4)
                    {
                      const unsigned int l    = l0 + t;
                      const double       w[2] = {F[row[0] * ldm + l],
                                                 F[row[1] * ldm + l]};
                      double             v[T];
#pragma unroll
                      for (int u = 0; u < T; ++u)
                        v[u] = V[min(8 * u + g, n - 1) * ldm + l];
                      WarpProduct<2, T, T, double>::add(sums, w, v, all);
                    }
                }
#pragma unroll
              for (int h = 0; h < 2; ++h)
#pragma unroll
                for (int u = 0; u < T; ++u)
#pragma unroll
                  for (int s = 0; s < 2; ++s)
                    right[h][u][s] += a * sums[h][u][s];
              multiply(sums, right, inverse(false));
#pragma unroll
              for (int h = 0; h < 2; ++h)
#pragma unroll
                for (int u = 0; u < T; ++u)
                  {
                    const unsigned int i = i0 + 8 * h + g, j = 8 * u + 2 * t;
                    if (i < n_rows && j < padded_n)
                      *reinterpret_cast<double2 *>(block.R() + i * ld + j) =
                        make_double2(sums[h][u][0], sums[h][u][1]);
                  }
              if (!recovery)
                continue;
              // ---- U, and a (F - V U)
              multiply(right, sums, inverse(true));
#pragma unroll 1
              for (unsigned int d = 0; d <= dim; ++d)
                {
                  if (d > 0)
                    {
                      const double *const F = block.F(d - 1), *const V =
                                                                block.H(d - 1);
#pragma unroll
                      for (int h = 0; h < 2; ++h)
#pragma unroll
                        for (int u = 0; u < T; ++u)
                          {
                            const unsigned int j = 8 * u + 2 * t;
                            const double2      v =
                              j < padded_n ? *reinterpret_cast<const double2 *>(
                                               F + row[h] * ldm + j)
                                                : make_double2(0., 0.);
                            sums[h][u][0] = -v.x;
                            sums[h][u][1] = -v.y;
                          }
#pragma unroll
                      for (int v = 0; v < T; ++v)
#pragma unroll
                        for (int s = 0; s < 2; ++s)
                          {
                            const double       u[2] = {right[0][v][s],
                                                       right[1][v][s]};
                            const unsigned int i    = 8 * v + 2 * t + s;
                            double             b[T];
#pragma unroll
                            for (int w = 0; w < T; ++w)
                              b[w] =
                                V[min(i, n - 1) * ldm + min(8 * w + g, n - 1)];
                            WarpProduct<2, T, T, double>::add(sums, u, b, all);
                          }
                    }
#pragma unroll
                  for (int h = 0; h < 2; ++h)
#pragma unroll
                    for (int u = 0; u < T; ++u)
#pragma unroll
                      for (int s = 0; s < 2; ++s)
                        {
                          const unsigned int i = i0 + 8 * h + g,
                                             j = 8 * u + 2 * t + s;
                          if (i < n_rows && j < n)
                            kept[(std::size_t(i) * (dim + 1) + d) * n + j] =
                              d == 0 ? right[h][u][s] : -a * sums[h][u][s];
                        }
                }
            }
        }
      };



      /// K and what recovery needs, from all integrals; one block for each
      /// polytope of the list.
      template <int dim, int T>
      __global__ void __launch_bounds__(512)
        hdg_few_functions_elimination_kernel(
          const __grid_constant__ HDGData<dim> P)
      {
        extern __shared__ double shared[];
        for (unsigned int l = blockIdx.x; l < P.n_listed; l += gridDim.x)
          {
            const unsigned int k = P.list[l];
            if (P.status[k] & hdg_failed)
              continue;
            const HDGFewElimination<dim, T> elimination(P, shared, k);
            const auto                     &block = elimination.block;
            double *const K = P.K + (P.square_offset[k] - P.first_square);
            __syncthreads();
            elimination.load();
            elimination.solve(P.solvers != nullptr);
            __syncthreads();
            block.products_of_traces(K, P.form.a, block.padded_n);
            __syncthreads();
            block.store(K, false);
          }
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
