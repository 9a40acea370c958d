// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <algorithm>
#include <string>

#include "../device/memory.h"
#include "pack.h"
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

        /// Matrix of which a group of lanes computes a product, row by row.
        template <typename Number, typename Storage>
        struct Operand
        {
          const Storage *values;
          unsigned int   n_columns, stride;
          const Number  *x;
        };

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

        /// Products of matrices with vectors by G lanes. Each lane takes
        /// columns and sums R rows at once.
        template <unsigned int G,
                  unsigned int R,
                  typename Number_,
                  typename Storage_>
        struct ColumnProduct
        {
          using Number                          = Number_;
          using Storage                         = Storage_;
          static constexpr unsigned int n_lanes = G;

          /// Thread blocks of a multiprocessor, which limit the registers.
          static constexpr unsigned int
          n_blocks(const bool)
          {
            return G == 4 ? 9 : G == 32 ? 7 : 8;
          }


          /// For block rows of @p n rows.
          __device__
          ColumnProduct(const unsigned int n)
            : n(n)
          {}

          /// Computes y = sum of A x over the matrices begin .. end - 1.
          template <typename OperandOf>
          __device__ void
          multiply(const std::uint64_t begin,
                   const std::uint64_t end,
                   const OperandOf    &operand_of,
                   Number             *y) const
          {
            const unsigned int lane = threadIdx.x % G;
            for (unsigned int first = 0; first < n; first += R)
              {
                Number sums[R] = {};
                for (std::uint64_t b = begin; b < end; ++b)
                  {
                    const Operand<Number, Storage> A = operand_of(b);
                    for (unsigned int j = lane; j < A.n_columns; j += G)
                      {
                        Storage entries[R];
                        // The last rows repeat row n - 1 instead of a branch.
#pragma unroll
                        for (unsigned int r = 0; r < R; ++r)
                          entries[r] = __ldg(
                            A.values +
                            std::uint64_t(min(first + r, n - 1)) * A.stride +
                            j);
                        const Number value = A.x[j];
#pragma unroll
                        for (unsigned int r = 0; r < R; ++r)
                          sums[r] = fma(Number(entries[r]), value, sums[r]);
                      }
                  }
                const Number sum =
                  sums_of_group<G, R>(mask_of_group<G>(), lane, sums);
                if (lane % (G / R) == 0 && first + lane / (G / R) < n)
                  y[first + lane / (G / R)] = sum;
              }
          }

          /// The same with the transposed matrices, which have n columns and
          /// as many rows as Operand::n_columns says.
          template <typename OperandOf>
          __device__ void
          multiply_transposed(const std::uint64_t begin,
                              const std::uint64_t end,
                              const OperandOf    &operand_of,
                              Number             *y) const
          {
            for (unsigned int i = threadIdx.x % G; i < n; i += G)
              {
                Number sum = 0;
                for (std::uint64_t b = begin; b < end; ++b)
                  {
                    const Operand<Number, Storage> A = operand_of(b);
                    const Storage                 *p = A.values + i;
#pragma unroll(G <= 8 ? 4 : 10)
                    for (unsigned int j = 0; j < A.n_columns;
                         ++j, p += A.stride)
                      sum = fma(Number(__ldg(p)), A.x[j], sum);
                  }
                y[i] = sum;
              }
          }

          const unsigned int n;
        };

        /**
         * The same for matrices whose sizes are multiples of P, of which each
         * instruction loads P entries: in each row, lane l takes the packs
         * l % width, l % width + width, ..., and it takes the rows l / width,
         * l / width + n_rows, ..., R of them at once.
         */
        template <unsigned int G,
                  int          P,
                  unsigned int R,
                  typename Number_,
                  typename Storage_>
        class PackProduct
        {
        public:
          using Number                          = Number_;
          using Storage                         = Storage_;
          static constexpr unsigned int n_lanes = G;

          static constexpr unsigned int
          n_blocks(const bool transpose)
          {
            return R > 4                 ? transpose ? 5 : 6
                   : transpose           ? 8
                   : sizeof(Number) == 4 ? 12
                                         : 10;
          }


          __device__
          PackProduct(const unsigned int n)
            : n(n)
            , mask(mask_of_group<G>())
          {
            const unsigned int lane = threadIdx.x % G;
            width                   = min(n / P, G);
            n_rows                  = G / width;
            row                     = lane / width;
            pack                    = lane - row * width;
          }

          template <typename OperandOf>
          __device__ void
          multiply(const std::uint64_t begin,
                   const std::uint64_t end,
                   const OperandOf    &operand_of,
                   Number             *y) const
          {
            for (unsigned int first = 0; first < n; first += R * n_rows)
              {
                Number sums[R] = {};
                for (std::uint64_t b = begin; b < end; ++b)
                  {
                    const Operand<Number, Storage> A = operand_of(b);
                    for (unsigned int j = pack * P; j < A.n_columns;
                         j += width * P)
                      {
                        Pack<Storage, P> a[R];
#pragma unroll
                        for (unsigned int r = 0; r < R; ++r)
                          a[r] = entries(A, first + row + r * n_rows, n, j);
                        const Pack<Number, P> x =
                          *reinterpret_cast<const Pack<Number, P> *>(A.x + j);
#pragma unroll
                        for (unsigned int r = 0; r < R; ++r)
#pragma unroll
                          for (int v = 0; v < P; ++v)
                            sums[r] = fma(Number(a[r].v[v]), x.v[v], sums[r]);
                      }
                  }
                for (unsigned int offset = power(width); offset > 0;
                     offset /= 2)
#pragma unroll
                  for (unsigned int r = 0; r < R; ++r)
                    {
                      const Number other =
                        __shfl_down_sync(mask, sums[r], offset, G);
                      sums[r] += pack + offset < width ? other : Number(0);
                    }
                if (pack == 0 && row < n_rows)
#pragma unroll
                  for (unsigned int r = 0; r < R; ++r)
                    if (first + row + r * n_rows < n)
                      y[first + row + r * n_rows] = sums[r];
              }
          }

          template <typename OperandOf>
          __device__ void
          multiply_transposed(const std::uint64_t begin,
                              const std::uint64_t end,
                              const OperandOf    &operand_of,
                              Number             *y) const
          {
            for (unsigned int i = 0; i < n; i += width * P)
              {
                const unsigned int column  = i + pack * P;
                Number             sums[P] = {};
                if (column < n)
                  for (std::uint64_t b = begin; b < end; ++b)
                    {
                      const Operand<Number, Storage> A = operand_of(b);
                      for (unsigned int j = row; j < A.n_columns;
                           j += R * n_rows)
                        {
                          Pack<Storage, P> a[R];
                          Number           x[R];
#pragma unroll
                          for (unsigned int r = 0; r < R; ++r)
                            {
                              const unsigned int k = j + r * n_rows;
                              a[r] = entries(A, k, A.n_columns, column);
                              x[r] = k < A.n_columns ? A.x[k] : Number(0);
                            }
#pragma unroll
                          for (unsigned int r = 0; r < R; ++r)
#pragma unroll
                            for (int v = 0; v < P; ++v)
                              sums[v] = fma(Number(a[r].v[v]), x[r], sums[v]);
                        }
                    }
                for (unsigned int offset = power(n_rows); offset > 0;
                     offset /= 2)
#pragma unroll
                  for (int v = 0; v < P; ++v)
                    {
                      const Number other =
                        __shfl_down_sync(mask, sums[v], offset * width, G);
                      sums[v] += row + offset < n_rows ? other : Number(0);
                    }
                if (row == 0 && column < n)
#pragma unroll
                  for (int v = 0; v < P; ++v)
                    y[column + v] = sums[v];
              }
          }

        private:
          /// Pack of row @p i, zero outside of the rows of this lane.
          __device__ Pack<Storage, P>
                     entries(const Operand<Number, Storage> &A,
                             const unsigned int              i,
                             const unsigned int              end,
                             const unsigned int              j) const
          {
            Pack<Storage, P> result = {};
            if (row < n_rows && i < end)
              result =
                load<Storage, P>(A.values + std::uint64_t(i) * A.stride + j);
            return result;
          }

          /// Largest power of two below @p count, or 0.
          __device__ static unsigned int
          power(const unsigned int count)
          {
            return count < 2 ? 0 : 1u << (31 - __clz(count - 1));
          }

          unsigned int n, mask, width, n_rows, row, pack;
        };

        /// Product::n_lanes lanes compute a block row.
        template <typename Product, bool transpose>
        __global__ void
        __launch_bounds__(n_threads, Product::n_blocks(transpose))
          sweep_kernel(const SweepStep<typename Product::Number,
                                       typename Product::Storage> step)
        {
          using Number             = typename Product::Number;
          using Storage            = typename Product::Storage;
          constexpr unsigned int G = Product::n_lanes;
          extern __shared__ __align__(16) unsigned char shared[];
          const unsigned int group = (blockIdx.x * n_threads + threadIdx.x) / G;
          if (group >= step.n)
            return;
          const SweepRow      row   = step.rows[group];
          const std::uint64_t begin = step.forward ? row.begin : row.middle,
                              end   = step.forward ? row.middle : row.end;
          if (begin == end && (!step.forward || step.subtract != nullptr))
            return;
          const unsigned int n = row.size, lane = threadIdx.x % G,
                             mask = mask_of_group<G>();
          Number *const z         = reinterpret_cast<Number *>(shared) +
                            threadIdx.x / G * step.max_size;
          const Product product(n);
          const auto    block_of = [&](const std::uint64_t b) {
            const SweepBlock block = step.blocks[b];
            return Operand<Number, Storage>{step.values + block.place,
                                            block.size,
                                            block.stride,
                                            block.first < step.n_dofs
                                                 ? step.x + block.first
                                                 : step.ghosts +
                                                  (block.first - step.n_dofs)};
          };
          if (transpose)
            product.multiply_transposed(begin, end, block_of, z);
          else
            product.multiply(begin, end, block_of, z);
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
          const auto inverse_of = [&](const std::uint64_t) {
            return Operand<Number, Storage>{step.inverse + row.square, n, n, z};
          };
          if (transpose)
            product.multiply(0, 1, inverse_of, step.x + row.first);
          else
            product.multiply_transposed(0, 1, inverse_of, step.x + row.first);
        }

        template <typename Product, typename Number, typename Storage>
        void
        start_sweep(const SweepStep<Number, Storage> &step)
        {
          constexpr unsigned int G = Product::n_lanes;
          const std::size_t      bytes =
            std::size_t(n_threads / G) * step.max_size * sizeof(Number);
          const unsigned int n_blocks =
            (std::uint64_t(step.n) * G + n_threads - 1) / n_threads;
          const auto kernel = step.transpose ? sweep_kernel<Product, true>
                                             : sweep_kernel<Product, false>;
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
        // In single precision, a warp whose lanes load one entry each has too
        // few bytes under way.
        if constexpr (sizeof(Storage) == 4)
          {
            if (step.max_size > 8 && step.divisor == 4)
              return step.max_size <= 16
                       ? start_sweep<PackProduct<16, 4, 4, Number, Storage>>(
                           step)
                       : start_sweep<PackProduct<32, 4, 4, Number, Storage>>(
                           step);
            if (step.max_size > 8 && step.divisor == 2)
              return step.max_size <= 16
                       ? start_sweep<PackProduct<16, 2, 4, Number, Storage>>(
                           step)
                       : start_sweep<PackProduct<32, 2, 8, Number, Storage>>(
                           step);
          }
        if (step.max_size <= 4)
          start_sweep<ColumnProduct<4, 4, Number, Storage>>(step);
        else if (step.max_size <= 8)
          start_sweep<ColumnProduct<8, 8, Number, Storage>>(step);
        else if (step.max_size <= 16)
          start_sweep<ColumnProduct<16, 8, Number, Storage>>(step);
        else
          start_sweep<
            ColumnProduct<32, sizeof(Number) == 4 ? 16 : 8, Number, Storage>>(
            step);
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
