// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_lac_batch_rows_h
#define tessella_cuda_lac_batch_rows_h

#include <cstddef>
#include <cstdint>
#include <cuda_pipeline_primitives.h>
#include <type_traits>

#include "pack.h"

// Products of block rows with small blocks of uniform size, which a thread
// block does in shared memory: what several kernels have in common.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Number of threads of a thread block.
      constexpr unsigned int batch_threads = 128;

      /// Number of values of a pack if all blocks have @p n rows.
      template <typename Number>
      __host__ __device__ constexpr int
      small_pack(const int n)
      {
        return n % 4 == 0 && sizeof(Number) == 4 ? 4 : n % 2 == 0 ? 2 : 1;
      }

      template <typename Number, int V>
      __device__ inline Number
      total(const Pack<Number, V> &pack)
      {
        Number sum = pack.v[0];
#pragma unroll
        for (int v = 1; v < V; ++v)
          sum += pack.v[v];
        return sum;
      }

      /**
       * Index of the pack, out of @p width packs, with which the sum of row
       * @p i of blocks of @p size rows begins. The packs of blocks of 4 or 8
       * rows have 16 bytes, and the first packs of different rows often lie in
       * the same banks of shared memory; such rows therefore begin one pack
       * apart from each other.
       */
      __device__ inline unsigned int
      first_of_sum(const unsigned int size,
                   const unsigned int i,
                   const unsigned int width)
      {
        return size % 4 != 0 || width == 0 ? 0 : i * (1 - width) % 8 % width;
      }

      /// Largest number of rows of blocks that are put into batches.
      constexpr unsigned int max_batch_size = 10;
      /// Largest number of rows of a batch: with batch_threads rows, shared
      /// memory would have room for fewer batches at a time.
      constexpr unsigned int batch_rows = batch_threads / 2;

      /**
       * Starts a copy of @p bytes bytes into shared memory by a thread block;
       * size and both addresses must be multiples of 16. All threads call
       * start_copy() and later finish_copy(), which is a barrier; other work
       * may be done in between. @p state lies in shared memory and serves a
       * single copy in the life of the thread block.
       */
      __device__ inline void
      start_copy(void              *to,
                 const void        *from,
                 const unsigned int bytes,
                 std::uint64_t     *state)
      {
#if __CUDA_ARCH__ >= 900
        // A single instruction instead of one for every 16 bytes. The values
        // are read only once and must not displace the vector from the
        // caches.
        if (threadIdx.x > 0)
          return;
        const unsigned int barrier =
          static_cast<unsigned int>(__cvta_generic_to_shared(state));
        asm volatile(
          "{\n"
          ".reg .b64 policy;\n"
          "createpolicy.fractional.L2::evict_first.b64 policy, 1.0;\n"
          "mbarrier.init.shared::cta.b64 [%0], 1;\n"
          "fence.proxy.async.shared::cta;\n"
          "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n"
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
          ".L2::cache_hint [%2], [%3], %1, [%0], policy;\n"
          "}" ::"r"(barrier),
          "r"(bytes),
          "r"(static_cast<unsigned int>(__cvta_generic_to_shared(to))),
          "l"(__cvta_generic_to_global(from))
          : "memory");
#else
        for (unsigned int i = threadIdx.x * 16; i < bytes; i += blockDim.x * 16)
          __pipeline_memcpy_async(static_cast<char *>(to) + i,
                                  static_cast<const char *>(from) + i,
                                  16);
        __pipeline_commit();
#endif
      }

      __device__ inline void
      finish_copy(std::uint64_t *state)
      {
#if __CUDA_ARCH__ >= 900
        __syncthreads(); // the barrier is initialised
        const unsigned int barrier =
          static_cast<unsigned int>(__cvta_generic_to_shared(state));
        unsigned int done = 0;
        while (done == 0)
          asm volatile(
            "{\n"
            ".reg .pred done;\n"
            "mbarrier.try_wait.parity.shared::cta.b64 done, [%1], "
            "0;\n"
            "selp.u32 %0, 1, 0, done;\n"
            "}"
            : "=r"(done)
            : "r"(barrier)
            : "memory");
#else
        __pipeline_wait_prior(0);
        __syncthreads();
#endif
      }

      /// Calls function(std::integral_constant<int, N>()) with N = @p n,
      /// which is at most @p largest.
      template <int largest, typename Function>
      void
      with_size(const unsigned int n, const Function &function)
      {
        if constexpr (largest > 1)
          if (n < largest)
            {
              with_size<largest - 1>(n, function);
              return;
            }
        function(std::integral_constant<int, largest>());
      }

      /// Number of values for which a batch of @p n_blocks blocks of @p size
      /// rows needs room in shared memory. A copy may begin before the first
      /// value and end behind the last one.
      template <typename Number>
      __host__ __device__ constexpr std::size_t
      batch_panel(const std::uint64_t n_blocks, const unsigned int size)
      {
        return n_blocks * size * size + 32 / sizeof(Number);
      }

      /// Bytes of shared memory for such a batch with its entries of a vector.
      template <typename Number>
      constexpr std::size_t
      batch_bytes(const std::uint64_t n_blocks, const unsigned int size)
      {
        return (batch_panel<Number>(n_blocks, size) + n_blocks * size) *
               sizeof(Number);
      }

      /// Limit of the bytes of a batch that lets a multiprocessor hold several
      /// of them.
      constexpr std::size_t max_batch_bytes = 46080;

      /// Whether a block row of @p n_blocks blocks of @p size rows is put into
      /// a batch. A block row of large blocks that leaves no room for three
      /// others is distributed to lanes, since too few threads of a batch would
      /// compute.
      template <typename Number>
      constexpr bool
      fits_batch(const std::uint64_t n_blocks, const unsigned int size)
      {
        return batch_bytes<Number>(n_blocks, size) <=
               (size <= 6 ? max_batch_bytes : max_batch_bytes / 4);
      }

      /// Copies packs of a vector into shared memory: @p n_packs packs from
      /// each first entry that @p column(block) returns for @p n_blocks blocks.
      /// Calls @p wait() once before the first entry of @p x is read.
      template <typename PackType,
                int n_packs,
                typename Number,
                typename Column,
                typename Wait>
      __device__ inline void
      gather_packs(const unsigned int n_blocks,
                   const Column      &column,
                   const Wait        &wait,
                   const Number      *x,
                   PackType          *z)
      {
        // Loads the addresses of several packs first.
        constexpr int      U     = 3;
        const unsigned int n     = n_blocks * n_packs;
        bool               first = true;
        for (unsigned int m = threadIdx.x; first || m < n;
             m += U * batch_threads)
          {
            std::size_t entry[U];
            PackType    packs[U];
#pragma unroll
            for (int j = 0; j < U; ++j)
              if (m + j * batch_threads < n)
                entry[j] = column((m + j * batch_threads) / n_packs);
            if (first)
              wait();
            first = false;
#pragma unroll
            for (int j = 0; j < U; ++j)
              if (m + j * batch_threads < n)
                packs[j] = reinterpret_cast<const PackType *>(
                  x + entry[j])[(m + j * batch_threads) % n_packs];
#pragma unroll
            for (int j = 0; j < U; ++j)
              if (m + j * batch_threads < n)
                z[m + j * batch_threads] = packs[j];
          }
      }

      /// Row @p i, of @p width packs, of a block row whose values begin at
      /// @p block_row, times @p entries.
      template <typename Number, int N, typename PackType>
      __device__ inline Number
      batch_row_sum(const Number      *block_row,
                    const PackType    *entries,
                    const unsigned int i,
                    const unsigned int width)
      {
        constexpr int         V = small_pack<Number>(N);
        const PackType *const row =
          reinterpret_cast<const PackType *>(block_row) + i * width;
        const unsigned int first_pack = first_of_sum(N, i, width);
        PackType           sum        = {};
#pragma unroll 4
        for (unsigned int m = 0; m < width; ++m)
          {
            unsigned int c = m + first_pack;
            if (c >= width)
              c -= width;
            const PackType p = row[c], q = entries[c];
#pragma unroll
            for (int v = 0; v < V; ++v)
              sum.v[v] = fma(p.v[v], q.v[v], sum.v[v]);
          }
        return total(sum);
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
