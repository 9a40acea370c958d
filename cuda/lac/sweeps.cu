// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <algorithm>
#include <string>

#include "../device/memory.h"
#include "sweeps.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        constexpr unsigned int n_threads = 128;

        /// Lanes of the group of @p G lanes to which a thread belongs.
        template <unsigned int G>
        __device__ inline unsigned int
        mask_of_group()
        {
          return G == 32 ? ~0u
                         : ((1u << (G % 32)) - 1) << (threadIdx.x % 32 / G * G);
        }

        /// Sums of R values over the lanes of a group; lane l has that of value
        /// l / (G / R). Each exchange halves the number of values of a lane.
        template <unsigned int G, unsigned int R, typename Number>
        __device__ inline Number
        sums_of_group(const unsigned int mask,
                      const unsigned int lane,
                      Number            *values)
        {
          unsigned int offset = G / 2;
#pragma unroll
          for (unsigned int count = R / 2; count > 0; count /= 2, offset /= 2)
            {
              const bool upper = (lane & offset) != 0;
#pragma unroll
              for (unsigned int i = 0; i < count; ++i)
                {
                  const Number sent = upper ? values[i] : values[i + count];
                  const Number kept = upper ? values[i + count] : values[i];
                  values[i] = kept + __shfl_xor_sync(mask, sent, offset);
                }
            }
#pragma unroll
          for (offset = G / R / 2; offset > 0; offset /= 2)
            values[0] += __shfl_xor_sync(mask, values[0], offset);
          return values[0];
        }

        /// G lanes compute a block row. Blocks are read row by row, each lane
        /// takes columns and sums R rows at once.
        template <unsigned int G,
                  unsigned int R,
                  typename Number,
                  typename Storage>
        __device__ inline void
        sum_blocks(const SweepStep<Number, Storage> &step,
                   const std::uint64_t               begin,
                   const std::uint64_t               end,
                   const unsigned int                n,
                   Number                           *z)
        {
          const unsigned int lane = threadIdx.x % G, mask = mask_of_group<G>();
          for (unsigned int first = 0; first < n; first += R)
            {
              Number sums[R] = {};
              for (std::uint64_t b = begin; b < end; ++b)
                {
                  const SweepBlock    block = step.blocks[b];
                  const Number *const x =
                    block.first < step.n_dofs
                      ? step.x + block.first
                      : step.ghosts + (block.first - step.n_dofs);
                  const Storage *const A = step.values + block.place;
                  for (unsigned int j = lane; j < block.size; j += G)
                    {
                      Storage entries[R];
                      // The last rows repeat row n - 1 instead of a branch.
#pragma unroll
                      for (unsigned int r = 0; r < R; ++r)
                        entries[r] = __ldg(
                          A +
                          std::uint64_t(min(first + r, n - 1)) * block.stride +
                          j);
                      const Number value = x[j];
#pragma unroll
                      for (unsigned int r = 0; r < R; ++r)
                        sums[r] = fma(Number(entries[r]), value, sums[r]);
                    }
                }
              const Number sum = sums_of_group<G, R>(mask, lane, sums);
              if (lane % (G / R) == 0 && first + lane / (G / R) < n)
                z[first + lane / (G / R)] = sum;
            }
        }

        /// The same for transposed blocks, whose columns belong to the lanes.
        template <unsigned int G, typename Number, typename Storage>
        __device__ inline void
        sum_transposed_blocks(const SweepStep<Number, Storage> &step,
                              const std::uint64_t               begin,
                              const std::uint64_t               end,
                              const unsigned int                n,
                              Number                           *z)
        {
          for (unsigned int i = threadIdx.x % G; i < n; i += G)
            {
              Number sum = 0;
              for (std::uint64_t b = begin; b < end; ++b)
                {
                  const SweepBlock    block = step.blocks[b];
                  const Number *const x =
                    block.first < step.n_dofs
                      ? step.x + block.first
                      : step.ghosts + (block.first - step.n_dofs);
                  const Storage *A = step.values + block.place + i;
#pragma unroll 4
                  for (unsigned int j = 0; j < block.size;
                       ++j, A += block.stride)
                    sum = fma(Number(__ldg(A)), x[j], sum);
                }
              z[i] = sum;
            }
        }

        template <unsigned int G,
                  unsigned int R,
                  bool         transpose,
                  typename Number,
                  typename Storage>
        __global__ void
        __launch_bounds__(n_threads)
          sweep_kernel(const SweepStep<Number, Storage> step)
        {
          extern __shared__ __align__(16) unsigned char shared[];
          const unsigned int group = (blockIdx.x * n_threads + threadIdx.x) / G;
          if (group >= step.n)
            return;
          const SweepRow      row   = step.rows[group];
          const std::uint64_t begin = step.forward ? row.begin : row.middle,
                              end   = step.forward ? row.middle : row.end;
          if (begin == end && (!step.forward || step.subtract != nullptr))
            return;
          const unsigned int lane = threadIdx.x % G, mask = mask_of_group<G>();
          const unsigned int n = row.size;
          Number *const      z = reinterpret_cast<Number *>(shared) +
                            threadIdx.x / G * step.max_size;
          if (transpose)
            sum_transposed_blocks<G>(step, begin, end, n, z);
          else
            sum_blocks<G, R>(step, begin, end, n, z);
          __syncwarp(mask);
          for (unsigned int i = lane; i < n; i += G)
            {
              const Number s    = z[i];
              const Number rest = step.b[row.first + i] - s;
              if (step.rest != nullptr)
                step.rest[row.first + i] = step.forward ? rest : s;
              z[i] = step.forward && step.subtract != nullptr
                       ? rest - step.subtract[row.first + i]
                       : rest;
            }
          __syncwarp(mask);
          // The inverse is stored column by column.
          const Storage *const inverse = step.inverse + row.square;
          for (unsigned int i = lane; i < n; i += G)
            {
              const unsigned int stride = transpose ? 1 : n;
              const Storage     *p      = inverse + (transpose ? i * n : i);
              Number             sum    = 0;
#pragma unroll 10
              for (unsigned int j = 0; j < n; ++j, p += stride)
                sum = fma(Number(__ldg(p)), z[j], sum);
              step.x[row.first + i] = sum;
            }
        }

        template <unsigned int G,
                  unsigned int R,
                  typename Number,
                  typename Storage>
        void
        start_sweep(const SweepStep<Number, Storage> &step)
        {
          const std::size_t bytes =
            std::size_t(n_threads / G) * step.max_size * sizeof(Number);
          const unsigned int n_blocks =
            (std::uint64_t(step.n) * G + n_threads - 1) / n_threads;
          const auto kernel = step.transpose
                                ? sweep_kernel<G, R, true, Number, Storage>
                                : sweep_kernel<G, R, false, Number, Storage>;
          if (bytes > 48 * 1024)
            check(
              cudaFuncSetAttribute(kernel,
                                   cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(bytes)),
              "LU-SGS, whose blocks are too large for this device");
          kernel<<<n_blocks, n_threads, bytes, current_stream()>>>(step);
          check(cudaGetLastError(), "LU-SGS");
        }

        /// A thread block copies one block.
        template <typename Number, typename Storage>
        __global__ void
        pack_kernel(const BlockCopy *copies,
                    const Number *__restrict__ from,
                    Storage *__restrict__ to)
        {
          const BlockCopy copy = copies[blockIdx.x];
          for (unsigned int e = threadIdx.x; e < copy.n_rows * copy.n_columns;
               e += blockDim.x)
            to[copy.to + e] = static_cast<Storage>(
              from[copy.from + std::uint64_t(e / copy.n_columns) * copy.stride +
                   e % copy.n_columns]);
        }

        /// A thread block updates one block row.
        template <typename Number>
        __global__ void
        factor_kernel(const FactorStep<Number> step)
        {
          extern __shared__ __align__(16) unsigned char shared[];
          Number *const      factor = reinterpret_cast<Number *>(shared);
          const unsigned int r = blockIdx.x, n = step.size[r];
          for (std::uint64_t p = step.pivot[r]; p < step.pivot[r + 1]; ++p)
            {
              const FactorPivot   pivot   = step.pivots[p];
              const unsigned int  m       = pivot.size;
              const Number *const e       = step.values + pivot.factor;
              const Number *const inverse = step.inverse + pivot.square;
              for (unsigned int t = threadIdx.x; t < n * m; t += blockDim.x)
                {
                  const unsigned int i = t / m, j = t % m;
                  Number             sum = 0;
                  for (unsigned int q = 0; q < m; ++q)
                    sum = fma(e[i * m + q], inverse[j * m + q], sum);
                  factor[t] = sum;
                }
              __syncthreads();
              for (std::uint64_t u = pivot.begin; u < pivot.end; ++u)
                {
                  const FactorUpdate  update = step.updates[u];
                  const unsigned int  l      = update.n_columns;
                  const Number *const source = step.values + update.source;
                  for (unsigned int t = threadIdx.x; t < n * l; t += blockDim.x)
                    {
                      const unsigned int i = t / l, j = t % l;
                      Number             sum = 0;
                      for (unsigned int q = 0; q < m; ++q)
                        sum = fma(factor[i * m + q], source[q * l + j], sum);
                      step.values[update.target + t] -= sum;
                    }
                }
              __syncthreads();
            }
        }
      } // namespace



      template <typename Number, typename Storage>
      void
      Sweeps<Number, Storage>::step(const SweepStep<Number, Storage> &step)
      {
        if (step.n == 0)
          return;
        if (step.max_size <= 4)
          start_sweep<4, 4>(step);
        else if (step.max_size <= 8)
          start_sweep<8, 8>(step);
        else if (step.max_size <= 16)
          start_sweep<16, 8>(step);
        else
          // Single precision needs more rows at once to keep as many bytes
          // under way.
          start_sweep<32, sizeof(Number) == 4 ? 16 : 8>(step);
      }



      template <typename Number, typename Storage>
      void
      Sweeps<Number, Storage>::pack(const std::size_t n,
                                    const BlockCopy  *copies,
                                    const Number     *from,
                                    Storage          *to)
      {
        if (n == 0)
          return;
        pack_kernel<<<static_cast<unsigned int>(n),
                      n_threads,
                      0,
                      current_stream()>>>(copies, from, to);
        check(cudaGetLastError(), "a preconditioner");
      }



      template <typename Number>
      void
      Factorisation<Number>::step(const FactorStep<Number> &step)
      {
        if (step.n == 0)
          return;
        const std::size_t bytes =
          std::size_t(step.max_size) * step.max_size * sizeof(Number);
        if (bytes > 48 * 1024 &&
            cudaFuncSetAttribute(factor_kernel<Number>,
                                 cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(bytes)) != cudaSuccess)
          {
            cudaGetLastError();
            throw Error(
              "The blocks of this matrix are too large for an "
              "incomplete factorisation on this CUDA device (" +
              std::to_string(bytes) +
              " bytes of shared memory are needed): take LUSGS, or "
              "the host.");
          }
        factor_kernel<<<step.n, n_threads, bytes, current_stream()>>>(step);
        check(cudaGetLastError(), "an incomplete factorisation");
      }



      template struct Sweeps<double, double>;
      template struct Sweeps<double, float>;
      template struct Sweeps<float, float>;
      template struct Factorisation<double>;
      template struct Factorisation<float>;
    } // namespace Device
  }   // namespace internal
} // namespace Tessella
