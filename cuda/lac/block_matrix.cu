// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <algorithm>
#include <mutex>
#include <string>
#include <type_traits>

#include "../device/pool_array.h"
#include "../device/start_kernel.h"
#include "batch_rows.h"
#include "block_matrix.h"
#include "pack.h"
#include "vector.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        constexpr unsigned int n_threads = 128;

        /// Some rows of a block row that the same lanes compute.
        struct alignas(16) RowUnit
        {
          std::uint64_t first_value;
          /// First entry of the block row in the list of columns.
          std::uint64_t first_column;
          unsigned int  first_row, n_rows;
          unsigned int  width; ///< entries per row
          unsigned int  unused;
        };

        /// A block row, for products with the transpose.
        struct alignas(16) BlockRow
        {
          std::uint64_t first_value;
          std::uint64_t first_pack; ///< number of packs of all preceding rows
          unsigned int  first_row, n_rows;
          unsigned int  width; ///< entries per row
          unsigned int  unused;
        };

        /// A block of a block column, as a contribution to the column sums.
        struct alignas(8) Contribution
        {
          unsigned int first_value; ///< in packs
          unsigned int row;         ///< block row
        };

        /// Consecutive block columns, for products with the transpose.
        struct alignas(16) ColumnBatch
        {
          std::uint64_t first;                   ///< first contribution
          unsigned int  first_column, n_columns; ///< in blocks
        };

        /// sum += a f, with one rounding everywhere (fma).
        template <typename Number, int V>
        __device__ inline void
        add_product(Pack<Number, V>       &sum,
                    const Pack<Number, V> &a,
                    const Number           f)
        {
#pragma unroll
          for (int v = 0; v < V; ++v)
            sum.v[v] = fma(a.v[v], f, sum.v[v]);
        }

        /// Entry @p p of a vector whose ghost entries, with indices from @p n
        /// on, lie @p ghost_shift further on.
        template <typename Number>
        __device__ inline const Number *
        entry_of(const Number        *x,
                 const unsigned int   p,
                 const unsigned int   n,
                 const std::ptrdiff_t ghost_shift)
        {
          return x + (p < n ? std::ptrdiff_t(p) : p + ghost_shift);
        }

        /// Contents of the list of columns that product_kernel() reads.
        enum class Columns
        {
          uniform, ///< vector index of the first column of each block
          packs,   ///< vector index of the first column of each pack
          /// Vector index of each pack and position of the pack in its row; for
          /// rows with ghost columns, whose memory order differs from the order
          /// of the sum.
          ordered
        };

        /**
         * Computes the product for one RowUnit per S lanes. G lanes work on a
         * row; each lane handles R rows and loads U packs of V values per row
         * at once. @p columns: see Columns. @p places: positions of ordered
         * packs in their row. With C > 1, a unit stands for the rows of C
         * components that share their values: entries of component c of x and y
         * lie c @p n_packs packs after those of the first component, and each
         * value is loaded once.
         */
        template <typename Number,
                  int     V,
                  int     S,
                  int     G,
                  int     R,
                  int     U,
                  Columns order,
                  int     C = 1>
        __global__ void
        __launch_bounds__(n_threads)
          product_kernel(const std::uint64_t n_units,
                         const RowUnit *__restrict__ units,
                         const unsigned int *__restrict__ columns,
                         const unsigned int *__restrict__ places,
                         const unsigned int n_packs, // packs per row of a block
                         const Number *__restrict__ values,
                         const Number *__restrict__ x,
                         const unsigned int        n_owned,
                         const std::ptrdiff_t      ghost_shift,
                         const Destination<Number> y)
        {
          constexpr bool      uniform = order == Columns::uniform;
          const unsigned int  lane    = threadIdx.x % 32;
          const std::uint64_t u =
            (std::uint64_t(blockIdx.x) * n_threads + threadIdx.x) / S;
          RowUnit unit = {};
          if (u < n_units)
            unit = units[u];
          const unsigned int group = (lane % S) / G, l = lane % G;
          const unsigned int width     = unit.width / V;
          const Number      *first     = values + unit.first_value;
          Number             sum[C][R] = {};
          // Packs of a lane: block and position within the block of the first
          // pack, and the increments from one pack to the next.
          const unsigned int block_step = uniform ? G / n_packs : 0,
                             rest_step  = G - block_step * n_packs;
          unsigned int block            = uniform ? l / n_packs : 0,
                       rest             = l - block * n_packs;

          for (unsigned int c = l; c < width; c += G * U)
            {
              Pack<Number, V> a[R][U], z[C][U];
#pragma unroll
              for (int k = 0; k < U; ++k)
                {
                  unsigned int place = c + k * G;
                  if (order == Columns::ordered && place < width)
                    place = places[unit.first_column + place];
#pragma unroll
                  for (int i = 0; i < R; ++i)
                    {
                      const unsigned int row = group + (S / G) * i;
                      if (c + k * G < width && row < unit.n_rows)
                        a[i][k] = load<Number, V>(
                          first + std::uint64_t(row) * unit.width + place * V);
                      else
                        a[i][k] = {};
                    }
                }
#pragma unroll
              for (int k = 0; k < U; ++k)
                {
#pragma unroll
                  for (int b = 0; b < C; ++b)
                    z[b][k] = {};
                  if (c + k * G < width)
                    {
                      const unsigned int p =
                        uniform ? columns[unit.first_column + block] + rest * V
                                : columns[unit.first_column + c + k * G];
                      const Number *const entry =
                        entry_of(x, p, n_owned, ghost_shift);
#pragma unroll
                      for (int b = 0; b < C; ++b)
                        z[b][k] = *reinterpret_cast<const Pack<Number, V> *>(
                          entry + b * n_packs * V);
                    }
                  if (uniform)
                    {
                      block += block_step;
                      rest += rest_step;
                      if (rest >= n_packs)
                        {
                          ++block;
                          rest -= n_packs;
                        }
                    }
                }
#pragma unroll
              for (int k = 0; k < U; ++k)
#pragma unroll
                for (int i = 0; i < R; ++i)
#pragma unroll
                  for (int b = 0; b < C; ++b)
#pragma unroll
                    for (int v = 0; v < V; ++v)
                      sum[b][i] = fma(a[i][k].v[v], z[b][k].v[v], sum[b][i]);
            }

          // Reduction over the lanes of a row: lanes exchange halves of their
          // rows, so that each step halves the number of sums that a lane
          // holds.
          unsigned int first_row = 0, n = R;
          int          m = R;
#pragma unroll
          for (int offset = G / 2; offset > 0; offset /= 2)
            {
              const int half = (m + 1) / 2;
              if (m > 1)
                {
                  const bool upper = (lane & offset) != 0;
#pragma unroll
                  for (int b = 0; b < C; ++b)
#pragma unroll
                    for (int i = 0; i < half; ++i)
                      {
                        const Number other =
                          i + half < m ? sum[b][(i + half) % R] : Number(0);
                        const Number send = upper ? sum[b][i] : other,
                                     keep = upper ? other : sum[b][i];
                        sum[b][i] = keep + __shfl_xor_sync(~0u, send, offset);
                      }
                  if (upper)
                    {
                      first_row += half;
                      n = n > half ? n - half : 0;
                    }
                  else
                    n = min(n, half);
                  m = half;
                }
              else
                {
#pragma unroll
                  for (int b = 0; b < C; ++b)
                    sum[b][0] += __shfl_xor_sync(~0u, sum[b][0], offset);
                  if (lane & offset)
                    n = 0;
                }
            }
#pragma unroll
          for (int i = 0; i < R; ++i)
            {
              const unsigned int row = group + (S / G) * (first_row + i);
              if (i < n && row < unit.n_rows)
#pragma unroll
                for (int b = 0; b < C; ++b)
                  y.store(unit.first_row + row + b * n_packs * V, sum[b][i]);
            }
        }

        /// Computes one row per thread, with the order of summation of
        /// batch_kernel(), for rows with ghost columns. @p size: rows of a
        /// unit.
        template <typename Number, int V>
        __global__ void
        __launch_bounds__(n_threads)
          ordered_row_kernel(const std::uint64_t n_units,
                             const RowUnit *__restrict__ units,
                             const unsigned int size,
                             const unsigned int *__restrict__ columns,
                             const unsigned int *__restrict__ places,
                             const Number *__restrict__ values,
                             const Number *__restrict__ x,
                             const unsigned int        n_owned,
                             const std::ptrdiff_t      ghost_shift,
                             const Destination<Number> y)
        {
          const std::uint64_t thread =
            std::uint64_t(blockIdx.x) * n_threads + threadIdx.x;
          if (thread >= n_units * size)
            return;
          const RowUnit       unit = units[thread / size];
          const unsigned int  i    = thread % size;
          const Number *const row =
            values + unit.first_value + std::uint64_t(i) * unit.width;
          const unsigned int width = unit.width / V;
          unsigned int       c     = first_of_sum(size, i, width);
          Pack<Number, V>    sum   = {};
          for (unsigned int n = 0; n < width; ++n)
            {
              const Pack<Number, V>
                p = load<Number, V>(row + places[unit.first_column + c] * V),
                q = *reinterpret_cast<const Pack<Number, V> *>(entry_of(
                  x, columns[unit.first_column + c], n_owned, ghost_shift));
#pragma unroll
              for (int v = 0; v < V; ++v)
                sum.v[v] = fma(p.v[v], q.v[v], sum.v[v]);
              if (++c == width)
                c = 0;
            }
          y.store(unit.first_row + i, total(sum));
        }

        /// Largest number of components that product_kernel() computes at once.
        constexpr unsigned int max_components = 3;
        /// Consecutive block rows of a matrix with small blocks of uniform
        /// size.
        struct alignas(16) Batch
        {
          std::uint64_t first_block, first_value;
          unsigned int  n_blocks;
          unsigned int  first, n; ///< in block rows
          unsigned int  unused;
        };

        /**
         * Product for small uniform blocks of N rows, for which a distribution
         * of rows to lanes would cost more than the products. A thread block
         * copies the values of a batch, which are contiguous, and the
         * corresponding entries of the vector into shared memory; then half of
         * the threads compute one row each. @p panel: number of values for
         * which shared memory has room.
         */
        template <typename Number, int N>
        __global__ void
        __launch_bounds__(n_threads)
          batch_kernel(const Batch *__restrict__ batches,
                       const std::uint64_t *__restrict__ block_offset,
                       const unsigned int *__restrict__ columns,
                       const unsigned int panel,
                       const Number *__restrict__ values,
                       const Number             *x,
                       const Destination<Number> y)
        {
          constexpr int V = small_pack<Number>(N), n_packs = N / V;
          using PackType = Pack<Number, V>;
          extern __shared__ __align__(16) unsigned char shared[];
          Number *const   a = reinterpret_cast<Number *>(shared);
          PackType *const z = reinterpret_cast<PackType *>(a + panel);
          __shared__ std::uint64_t state;

          // ---- values, in pieces of 16 bytes
          const Batch            batch = batches[blockIdx.x];
          constexpr unsigned int piece = 16 / sizeof(Number);
          const std::uint64_t    first = batch.first_value;
          const unsigned int     skip  = first % piece;
          start_copy(a,
                     values + (first - skip),
                     (skip + batch.n_blocks * (N * N) + piece - 1) / piece * 16,
                     &state);

          // ---- blocks of the row of this thread
          const unsigned int k = threadIdx.x / N, i = threadIdx.x % N;
          unsigned int       begin = 0, end = 0;
          if (k < batch.n)
            {
              const std::uint64_t *const offset =
                block_offset + batch.first + k;
              begin = static_cast<unsigned int>(offset[0] - batch.first_block);
              end   = static_cast<unsigned int>(offset[1] - batch.first_block);
            }

          // ---- vector
          const unsigned int *const column = columns + batch.first_block;
          gather_packs<PackType, n_packs>(
            batch.n_blocks,
            [&](const unsigned int m) { return column[m]; },
            [] { wait_for_previous(); },
            x,
            z);
          finish_copy(&state);

          // ---- rows
          if (k >= batch.n)
            return;
          y.store(std::uint64_t(batch.first) * N + threadIdx.x,
                  batch_row_sum<Number, N>(a + skip + begin * (N * N),
                                           z + begin * n_packs,
                                           i,
                                           (end - begin) * n_packs));
        }

        /**
         * First step of a product with the transpose: for each block row k, z =
         * x_k^T times the rows of k. A thread computes one pack of z, with U
         * rows loaded at once. @p warp_row: block row of the first of 32
         * consecutive packs.
         */
        template <typename Number, int V, int U>
        __global__ void
        __launch_bounds__(n_threads)
          row_sums_kernel(const std::uint64_t n_packs,
                          const BlockRow *__restrict__ rows,
                          const unsigned int *__restrict__ warp_row,
                          const Number *__restrict__ values,
                          const Number *__restrict__ x,
                          Number *__restrict__ z)
        {
          const std::uint64_t p =
            std::uint64_t(blockIdx.x) * n_threads + threadIdx.x;
          if (p >= n_packs)
            return;
          unsigned int k   = warp_row[p / 32];
          BlockRow     row = rows[k];
          while (p - row.first_pack >= row.width / V)
            row = rows[++k];
          const Number *value =
            values + row.first_value + (p - row.first_pack) * V;
          const Number   *factor = x + row.first_row;
          Pack<Number, V> sum    = {};
          for (unsigned int i = 0; i < row.n_rows; i += U)
            {
              Pack<Number, V> a[U];
              Number          f[U];
#pragma unroll
              for (int j = 0; j < U; ++j)
                {
                  a[j] = {};
                  f[j] = 0;
                  if (i + j < row.n_rows)
                    {
                      a[j] = load<Number, V>(value +
                                             std::uint64_t(i + j) * row.width);
                      f[j] = factor[i + j];
                    }
                }
#pragma unroll
              for (int j = 0; j < U; ++j)
                add_product(sum, a[j], f[j]);
            }
          *reinterpret_cast<Pack<Number, V> *>(z + p * V) = sum;
        }

        /**
         * Second step: sums the packs of z that belong to a block column, in
         * the order of their rows. @p block_pack: first pack of z of the blocks
         * of each column; @p pack_column: block column of each pack of the
         * result, if the blocks are not uniform; U packs are loaded at once.
         */
        template <typename Number, int V, int U, bool uniform>
        __global__ void
        __launch_bounds__(n_threads)
          column_sums_kernel(const std::uint64_t n_packs,
                             const std::uint64_t *__restrict__ block_offset,
                             const unsigned int *__restrict__ block_pack,
                             const unsigned int *__restrict__ pack_column,
                             const unsigned int *__restrict__ first_pack,
                             const unsigned int packs_per_block,
                             const Number *__restrict__ z,
                             const Destination<Number> y)
        {
          const std::uint64_t p =
            std::uint64_t(blockIdx.x) * n_threads + threadIdx.x;
          if (p >= n_packs)
            return;
          const unsigned int j = uniform ? p / packs_per_block : pack_column[p];
          const unsigned int c =
            p - (uniform ? std::uint64_t(j) * packs_per_block : first_pack[j]);
          Pack<Number, V>     sum = {};
          const std::uint64_t end = block_offset[j + 1];
          for (std::uint64_t m = block_offset[j]; m < end; m += U)
            {
              Pack<Number, V> a[U];
#pragma unroll
              for (int k = 0; k < U; ++k)
                {
                  a[k] = {};
                  if (m + k < end)
                    a[k] = reinterpret_cast<const Pack<Number, V> *>(
                      z)[std::uint64_t(block_pack[m + k]) + c];
                }
#pragma unroll
              for (int k = 0; k < U; ++k)
#pragma unroll
                for (int v = 0; v < V; ++v)
                  sum.v[v] += a[k].v[v];
            }
#pragma unroll
          for (int v = 0; v < V; ++v)
            y.store(p * V + v, sum.v[v]);
        }

        constexpr unsigned int column_threads = 256;
        /// Number of packs of z that a thread computes.
        constexpr unsigned int packs_per_thread = 2;

        /// Number of contributions of @p n_packs packs each that a thread block
        /// can hold.
        __host__ __device__ constexpr unsigned int
        batch_places(const unsigned int n_packs)
        {
          return column_threads * packs_per_thread / n_packs;
        }

        /**
         * Both steps in one kernel, for uniform blocks of N rows that are so
         * small that writing and reading z would cost as much as reading the
         * values. A thread block computes several consecutive block columns. It
         * reads their blocks in the order in which they lie in memory, and
         * reads several adjacent blocks at a time. Where neighbouring polytopes
         * have close indices, thread blocks that run at about the same time
         * read the blocks in between. The thread block keeps z in shared memory
         * and then adds as column_sums_kernel() does: the same operations in
         * the same order.
         *
         * The lists of contributions have the same number of entries for each
         * thread block, so that all threads know at once where to read. @p
         * width_and_place: index of the contribution within the batch, plus
         * 2^16 times the entries per row of the block row; 0 marks an empty
         * entry.
         */
        template <typename Number, int N>
        __global__ void
        __launch_bounds__(column_threads)
          column_batch_kernel(const ColumnBatch *__restrict__ batches,
                              const Contribution *__restrict__ contributions,
                              const unsigned int *__restrict__ width_and_place,
                              const std::uint64_t *__restrict__ block_offset,
                              const Number *__restrict__ values,
                              const Number *__restrict__ x,
                              const Destination<Number> y)
        {
          constexpr int V = small_pack<Number>(N), n_packs = N / V,
                        places = batch_places(n_packs),
                        // number of packs loaded at once, limited by registers
            U            = N * sizeof(Number) > 32 ? 1 : 2;
          using PackType = Pack<Number, V>;
          __shared__ PackType z[places * n_packs];

          Contribution contribution[packs_per_thread];
          unsigned int info[packs_per_thread];
#pragma unroll
          for (int u = 0; u < packs_per_thread; ++u)
            {
              const unsigned int m =
                (threadIdx.x + u * column_threads) / n_packs;
              info[u] = 0;
              if (m < places)
                {
                  const std::size_t entry =
                    std::size_t(blockIdx.x) * places + m;
                  contribution[u] = contributions[entry];
                  info[u]         = width_and_place[entry];
                }
            }
          // contributions that this thread sums up afterwards
          const ColumnBatch  batch = batches[blockIdx.x];
          const bool         adds  = threadIdx.x < batch.n_columns * n_packs;
          unsigned int       begin = 0, end = 0;
          const unsigned int sum_part = threadIdx.x % n_packs;
          if (adds)
            {
              const std::uint64_t *const offset =
                block_offset + batch.first_column + threadIdx.x / n_packs;
              begin = static_cast<unsigned int>(offset[0] - batch.first);
              end   = static_cast<unsigned int>(offset[1] - batch.first);
            }

#pragma unroll
          for (int first = 0; first < packs_per_thread; first += U)
            {
              PackType a[U][N], f[U][n_packs];
#pragma unroll
              for (int u = 0; u < U; ++u)
                {
                  const unsigned int part =
                    (threadIdx.x + (first + u) * column_threads) % n_packs;
                  const unsigned int  width = info[first + u] >> 16;
                  const Number *const value =
                    values +
                    (std::uint64_t(contribution[first + u].first_value) +
                     part) *
                      V;
                  const PackType *const factors =
                    reinterpret_cast<const PackType *>(
                      x + std::uint64_t(contribution[first + u].row) * N);
                  if (width > 0)
                    {
#pragma unroll
                      for (int r = 0; r < N; ++r)
                        a[u][r] = *reinterpret_cast<const PackType *>(
                          value + r * width);
#pragma unroll
                      for (int p = 0; p < n_packs; ++p)
                        f[u][p] = factors[p];
                    }
                }
#pragma unroll
              for (int u = 0; u < U; ++u)
                if (info[first + u] > 65535)
                  {
                    const unsigned int part =
                      (threadIdx.x + (first + u) * column_threads) % n_packs;
                    PackType sum = {};
#pragma unroll
                    for (int r = 0; r < N; ++r)
                      add_product(sum, a[u][r], f[u][r / V].v[r % V]);
                    z[(info[first + u] & 65535u) * n_packs + part] = sum;
                  }
            }
          __syncthreads();

          if (!adds)
            return;
          PackType sum = {};
#pragma unroll 4
          for (unsigned int m = begin; m < end; ++m)
            {
              const PackType p = z[m * n_packs + sum_part];
#pragma unroll
              for (int v = 0; v < V; ++v)
                sum.v[v] += p.v[v];
            }
          const std::uint64_t row =
            (std::uint64_t(batch.first_column) * n_packs + threadIdx.x) * V;
#pragma unroll
          for (int v = 0; v < V; ++v)
            y.store(row + v, sum.v[v]);
        }

        unsigned int
        round_up(const unsigned int a, const unsigned int b)
        {
          return (a + b - 1) / b;
        }

        /// Replaces the indices of block columns by vector indices of their
        /// first columns, for blocks of @p size columns.
        __global__ void
        __launch_bounds__(n_threads)
          uniform_columns_kernel(const std::size_t  n,
                                 const unsigned int size,
                                 unsigned int      *columns)
        {
          const std::size_t m =
            std::size_t(blockIdx.x) * n_threads + threadIdx.x;
          if (m < n)
            columns[m] *= size;
        }

        /// Lists the units of @p n block rows of @p size rows in uniform
        /// blocks: parts of @p n_rows rows, the last of which may be smaller.
        __global__ void
        __launch_bounds__(n_threads)
          uniform_units_kernel(const std::size_t  n,
                               const unsigned int size,
                               const unsigned int n_rows,
                               const std::uint64_t *__restrict__ value_offset,
                               const std::uint64_t *__restrict__ block_offset,
                               const unsigned int *__restrict__ row_width,
                               RowUnit *units)
        {
          const unsigned int parts = (size + n_rows - 1) / n_rows;
          const std::size_t  u =
            std::size_t(blockIdx.x) * n_threads + threadIdx.x;
          if (u >= n * parts)
            return;
          const std::size_t  k = u / parts;
          const unsigned int i = static_cast<unsigned int>(u % parts) * n_rows;
          RowUnit            unit = {};
          unit.width              = row_width[k];
          unit.first_value  = value_offset[k] + std::uint64_t(i) * unit.width;
          unit.first_row    = static_cast<unsigned int>(k * size + i);
          unit.n_rows       = min(n_rows, size - i);
          unit.first_column = block_offset[k];
          units[u]          = unit;
        }
      } // namespace



      struct BlockLists
      {
        /// Size of a value of the matrix for which they were made.
        std::size_t value_size = 0;
        /// Whether they serve matrices of the other precision as well.
        bool for_all = false;
        /// Largest size of a block column of all processes, whether all have
        /// this size, and the bits that any size has.
        unsigned int max_n = 0, bits = 0;
        bool         uniform = false;
        /// Number of consecutive block rows that share their values, see
        /// ComponentRows; 1 if there are none.
        unsigned int n_components = 1;
        /// Whether a kernel computes all components of interior rows at once.
        bool fused = false;

        /// Those of uniform blocks do not depend on the precision.
        std::shared_ptr<const PoolArray<unsigned int>> columns;
        /// Columns of boundary rows, see Columns::ordered.
        PoolArray<unsigned int> boundary_columns, boundary_places;
        /// Units of interior rows, of boundary rows, and of interior rows of
        /// all components that share their values, by type: block rows of at
        /// most 4 rows, of at most 10 rows, and parts of at most 7 rows of
        /// larger or wider block rows.
        PoolArray<RowUnit> units[3][3];
        /// Boundary rows that would be in batches if there were only one
        /// process.
        PoolArray<RowUnit> single_rows;
        /// Interior block rows that are not in units, if blocks are uniform
        /// with at most max_batch_size rows.
        PoolArray<Batch> batches;
        unsigned int     panel = 0, shared_memory = 0;

        PoolArray<std::uint64_t> block_offset;
      };



      template <typename Number>
      struct BlockMatrix<Number>::Implementation
      {
        std::uint64_t n_rows = 0, n_columns = 0, n_values = 0;
        /// See BlockLists.
        unsigned int max_n        = 0;
        bool         uniform      = false;
        unsigned int n_components = 1;
        /// Number of values of a pack.
        unsigned int pack = 1;

        PoolArray<Number>                 values;
        std::shared_ptr<const BlockLists> lists;

        // ---- products with the transpose
        bool has_transpose = false;
        /// Lists for small uniform blocks on one process. Apart from
        /// contribution_offset, the members below are empty then.
        PoolArray<ColumnBatch>   column_batches;
        PoolArray<Contribution>  contributions;
        PoolArray<unsigned int>  width_and_place;
        PoolArray<BlockRow>      rows;
        PoolArray<unsigned int>  warp_row, block_pack, pack_column, first_pack;
        PoolArray<std::uint64_t> contribution_offset;
        /// Sums over the rows of each block row, followed by those received
        /// from other processes.
        PoolArray<Number> row_sums;
        std::uint64_t     n_row_sums = 0; ///< in packs
        std::size_t       n_received = 0;
        /// Serialises products, since they share row_sums.
        std::mutex transpose_mutex;

        /// Lists of a matrix before they are copied to the device.
        struct Lists
        {
          const BlockSparsity &sparsity;
          /// First column of each block, and first row of each block row.
          const std::vector<std::uint64_t> &dof_offset, &row_offset;
          BlockLists                       &made;
          /// Whether a block row has ghost columns; empty if none has.
          std::vector<bool> at_boundary;
          /// Result of make_batches().
          std::vector<bool> in_batch;
          /// Whether a block row shares its values with another one; empty if
          /// none does.
          std::vector<bool> shared;
          /// Indices as of BlockLists::units.
          std::vector<RowUnit>      units[3][3], single_rows;
          std::vector<unsigned int> columns, boundary_columns, boundary_places;

          /// Number of columns of a block.
          unsigned int
          size(const std::size_t k) const
          {
            return static_cast<unsigned int>(dof_offset[k + 1] - dof_offset[k]);
          }
          /// Number of rows of a block row.
          unsigned int
          n_rows(const std::size_t k) const
          {
            return static_cast<unsigned int>(row_offset[k + 1] - row_offset[k]);
          }
          bool
          is_at_boundary(const std::size_t k) const
          {
            return !at_boundary.empty() && at_boundary[k];
          }
          bool
          is_shared(const std::size_t k) const
          {
            return !shared.empty() && shared[k];
          }
        };

        Implementation(const BlockSparsity                     &sparsity,
                       const std::vector<std::uint64_t>        &dof_offset,
                       const AllProcesses                      *all,
                       const std::vector<std::uint64_t>        *given_rows,
                       const std::shared_ptr<const BlockLists> &same)
        {
          const std::vector<std::uint64_t> &row_offset =
            given_rows == nullptr ? dof_offset : *given_rows;
          const std::size_t n = sparsity.row_width.size();
          n_rows              = row_offset[n];
          n_columns           = dof_offset[n];
          n_values            = sparsity.n_nonzero_elements();
          if (std::max(dof_offset.back(), n_rows) >= (1ull << 32))
            throw Error(
              "A matrix on a CUDA device has at most 4294967295 rows or "
              "columns, with those of neighbours on other processes, but " +
              std::to_string(std::max(dof_offset.back(), n_rows)) +
              " were asked for. Distribute the problem over several "
              "devices.");
          // Batches are copied in pieces of 16 bytes, the last of which may
          // extend beyond the last value.
          values.resize(n_values + 16 / sizeof(Number));
          VectorOperations<Number>::set_zero(values.size(), values.data());
          if (same != nullptr &&
              (same->value_size == sizeof(Number) || same->for_all))
            lists = same;
          else
            lists = make_lists(sparsity,
                               dof_offset,
                               row_offset,
                               all,
                               given_rows != nullptr,
                               same);
          max_n        = lists->max_n;
          uniform      = lists->uniform;
          n_components = lists->n_components;
          pack         = pack_size(*lists);
          // Streams of class Stream do not wait for the default stream.
          synchronize();
        }

        static std::shared_ptr<const BlockLists>
        make_lists(const BlockSparsity                     &sparsity,
                   const std::vector<std::uint64_t>        &dof_offset,
                   const std::vector<std::uint64_t>        &row_offset,
                   const AllProcesses                      *all,
                   const bool                               rectangular,
                   const std::shared_ptr<const BlockLists> &same)
        {
          const auto        made  = std::make_shared<BlockLists>();
          Lists             lists = {sparsity, dof_offset, row_offset, *made};
          const std::size_t n     = sparsity.row_width.size();
          made->value_size        = sizeof(Number);
          set_sizes(lists, all);
          find_components(lists);
          find_boundary(lists);
          if (!rectangular)
            make_batches(lists);
          made->for_all = made->uniform && lists.at_boundary.empty() &&
                          made->max_n > max_batch_size;
          const bool by_kernel =
            made->for_all && !rectangular && lists.shared.empty();
          reserve(lists);
          for (std::size_t k = 0; k < n && !by_kernel; ++k)
            {
              const std::uint64_t first_column =
                lists.is_at_boundary(k) ? lists.boundary_columns.size()
                : made->uniform         ? sparsity.block_offset[k]
                                        : lists.columns.size();
              list_columns(lists, k, all);
              // The unit of the first component serves all of them.
              if (lists.n_rows(k) > 0 &&
                  (part_of(lists, k) < 2 || k % made->n_components == 0))
                list_units(lists, k, first_column);
            }
          if (by_kernel)
            list_uniform_units(lists);
          if (!made->uniform)
            made->columns =
              std::make_shared<const PoolArray<unsigned int>>(lists.columns);
          else if (same != nullptr && same->uniform)
            made->columns = same->columns;
          else
            list_uniform_columns(lists);
          made->boundary_columns =
            PoolArray<unsigned int>(lists.boundary_columns);
          made->boundary_places =
            PoolArray<unsigned int>(lists.boundary_places);
          made->single_rows = PoolArray<RowUnit>(lists.single_rows);
          for (unsigned int part = 0; part < 3; ++part)
            for (unsigned int type = 0; type < 3; ++type)
              if (!lists.units[part][type].empty())
                made->units[part][type] =
                  PoolArray<RowUnit>(lists.units[part][type]);
          return made;
        }

        /// Lists of uniform blocks that the device computes.
        static void
        list_uniform_columns(const Lists &lists)
        {
          const std::vector<unsigned int> &blocks = lists.sparsity.block_column;
          lists.made.columns =
            std::make_shared<const PoolArray<unsigned int>>(blocks);
          if (blocks.empty())
            return;
          uniform_columns_kernel<<<n_thread_blocks(blocks.size()),
                                   n_threads,
                                   0,
                                   current_stream()>>>(
            blocks.size(), lists.made.max_n, lists.made.columns->data());
          check(cudaGetLastError(), "the structure of a matrix");
        }

        static void
        list_uniform_units(const Lists &lists)
        {
          const BlockSparsity &sparsity = lists.sparsity;
          const std::size_t    n        = sparsity.row_width.size();
          if (n == 0)
            return;
          const unsigned int size   = lists.made.max_n,
                             n_rows = rows_of_part(size, 2);
          const PoolArray<std::uint64_t> value_offset(sparsity.value_offset),
            block_offset(sparsity.block_offset);
          const PoolArray<unsigned int> row_width(sparsity.row_width);
          PoolArray<RowUnit>           &units   = lists.made.units[0][2];
          const std::size_t             n_units = n * round_up(size, n_rows);
          units.resize(n_units);
          uniform_units_kernel<<<n_thread_blocks(n_units),
                                 n_threads,
                                 0,
                                 current_stream()>>>(n,
                                                     size,
                                                     n_rows,
                                                     value_offset.data(),
                                                     block_offset.data(),
                                                     row_width.data(),
                                                     units.data());
          check(cudaGetLastError(), "the structure of a matrix");
        }

        /// Number of rows of the parts of equal size of a block row of @p size
        /// rows in units of a type.
        static unsigned int
        rows_of_part(const unsigned int size, const unsigned int type)
        {
          return round_up(size, type < 2 ? 1 : round_up(size, 7));
        }

        /// Reserves memory of the host for the lists, whose growth would take
        /// most of the time to fill them.
        static void
        reserve(Lists &lists)
        {
          const BlockLists &made = lists.made;
          const std::size_t n    = lists.sparsity.row_width.size();
          if (!made.uniform)
            lists.columns.reserve(lists.sparsity.block_column.size());
          if (made.max_n > max_batch_size && !made.for_all)
            lists.units[made.fused ? 2 : 0][2].reserve(
              n / (made.fused ? made.n_components : 1) *
              round_up(made.max_n, 7));
        }

        /// Sets the largest block size, uniformity and bits of sizes.
        static void
        set_sizes(const Lists &lists, const AllProcesses *all)
        {
          BlockLists  &made  = lists.made;
          unsigned int min_n = ~0u;
          for (std::size_t k = 0; k + 1 < lists.dof_offset.size(); ++k)
            {
              made.max_n = std::max(made.max_n, lists.size(k));
              min_n      = std::min(min_n, lists.size(k));
              made.bits |= lists.size(k);
            }
          if (all != nullptr)
            {
              made.max_n = static_cast<unsigned int>(all->largest);
              min_n      = static_cast<unsigned int>(all->smallest);
              made.bits  = static_cast<unsigned int>(all->bits);
            }
          made.uniform = min_n == made.max_n;
        }

        /// Number of values of a pack: a power of two that divides all block
        /// sizes keeps all packs aligned.
        static unsigned int
        pack_size(const BlockLists &made)
        {
          unsigned int pack = 1;
          while (2 * pack * sizeof(Number) <= 16 && made.bits % (2 * pack) == 0)
            pack *= 2;
          return pack;
        }

        /// Finds block rows with ghost columns. Columns are in ascending order,
        /// hence ghosts come last.
        static void
        find_boundary(Lists &lists)
        {
          const BlockSparsity &sparsity = lists.sparsity;
          const std::size_t    n        = sparsity.row_width.size();
          for (std::size_t k = 0; k < n; ++k)
            if (sparsity.block_offset[k + 1] > sparsity.block_offset[k] &&
                sparsity.block_column[sparsity.block_offset[k + 1] - 1] >= n)
              {
                if (lists.at_boundary.empty())
                  lists.at_boundary.resize(n);
                lists.at_boundary[k] = true;
              }
        }

        /// Finds block rows that share their values, as ComponentRows makes
        /// them, and whether one kernel can compute them at once.
        static void
        find_components(Lists &lists)
        {
          const BlockSparsity &sparsity = lists.sparsity;
          const std::size_t    n        = sparsity.row_width.size();
          // Most matrices have no such rows, which takes one pass to find out.
          if (std::adjacent_find(sparsity.value_offset.begin(),
                                 sparsity.value_offset.begin() + n) ==
              sparsity.value_offset.begin() + n)
            return;
          // Whether row k has the values of row k - 1.
          const auto shares = [&](const std::size_t k) {
            return k > 0 && k < n && lists.n_rows(k - 1) > 0 &&
                   lists.n_rows(k) == lists.n_rows(k - 1) &&
                   sparsity.row_width[k] > 0 &&
                   sparsity.row_width[k] == sparsity.row_width[k - 1] &&
                   sparsity.value_offset[k] == sparsity.value_offset[k - 1];
          };
          unsigned int &n_components = lists.made.n_components;
          lists.shared.assign(n, false);
          bool regular = lists.made.uniform;
          for (std::size_t k = 0, end; k < n; k = end)
            {
              for (end = k + 1; shares(end); ++end)
                ;
              if (end == k + 1)
                continue;
              const unsigned int count = static_cast<unsigned int>(end - k);
              if (n_components == 1)
                n_components = count;
              regular = regular && count == n_components && k % count == 0;
              std::fill(lists.shared.begin() + k,
                        lists.shared.begin() + end,
                        true);
              const std::uint64_t one = sparsity.block_offset[k];
              for (std::size_t row = k + 1; row < end; ++row)
                for (std::uint64_t m = sparsity.block_offset[row];
                     m < sparsity.block_offset[row + 1];
                     ++m)
                  regular =
                    regular &&
                    sparsity.block_column[m] ==
                      sparsity
                          .block_column[one + m - sparsity.block_offset[row]] +
                        (row - k);
            }
          lists.made.fused =
            regular && n_components > 1 && n_components <= max_components;
        }

        /// Index of the units of block row @p k, see BlockLists::units.
        static unsigned int
        part_of(const Lists &lists, const std::size_t k)
        {
          return lists.is_at_boundary(k)                  ? 1
                 : lists.made.fused && lists.is_shared(k) ? 2
                                                          : 0;
        }

        /// Appends the columns of block row @p k, but for interior columns of
        /// uniform blocks.
        static void
        list_columns(Lists &lists, const std::size_t k, const AllProcesses *all)
        {
          const BlockSparsity &sparsity = lists.sparsity;
          const unsigned int   pack     = pack_size(lists.made);
          const bool           uniform  = lists.made.uniform;
          if (uniform && !lists.is_at_boundary(k))
            return;
          for (std::uint64_t m = sparsity.block_offset[k];
               m < sparsity.block_offset[k + 1];
               ++m)
            {
              const unsigned int j = sparsity.block_column[m];
              for (unsigned int i = 0; i < (uniform ? 0 : lists.size(j));
                   i += pack)
                lists.columns.push_back(
                  static_cast<unsigned int>(lists.dof_offset[j] + i));
              if (!lists.is_at_boundary(k))
                continue;
              const std::uint64_t b = all->order[m];
              const unsigned int  l = sparsity.block_column[b];
              for (unsigned int i = 0; i < lists.size(l); i += pack)
                {
                  lists.boundary_columns.push_back(
                    static_cast<unsigned int>(lists.dof_offset[l] + i));
                  lists.boundary_places.push_back(
                    (sparsity.column_offset[b] + i) / pack);
                }
            }
        }

        /// Appends the units of block row @p k, whose columns begin at
        /// @p first_column of the list of columns of interior or boundary rows.
        static void
        list_units(Lists              &lists,
                   const std::size_t   k,
                   const std::uint64_t first_column)
        {
          const BlockSparsity &sparsity = lists.sparsity;
          const unsigned int   pack     = pack_size(lists.made);
          const unsigned int   size     = lists.n_rows(k);
          const auto unit = [&](const unsigned int i, const unsigned int n) {
            RowUnit unit = {};
            unit.width   = sparsity.row_width[k];
            unit.first_value =
              sparsity.value_offset[k] + std::uint64_t(i) * unit.width;
            unit.first_row = static_cast<unsigned int>(lists.row_offset[k] + i);
            unit.n_rows    = n;
            unit.first_column = first_column;
            return unit;
          };
          if (!lists.in_batch.empty() && lists.in_batch[k])
            {
              if (lists.is_at_boundary(k))
                lists.single_rows.push_back(unit(0, size));
              return;
            }
          const unsigned int width = sparsity.row_width[k] / pack,
                             type  = size <= 4 && width <= 48    ? 0
                                     : size <= 10 && width <= 96 ? 1
                                                                 : 2;
          const unsigned int rows  = rows_of_part(size, type);
          for (unsigned int i = 0; i < size; i += rows)
            lists.units[part_of(lists, k)][type].push_back(
              unit(i, std::min(rows, size - i)));
        }

        // Collects block rows for batch_kernel(), but for those that share
        // their values. Flags these rows and those boundary rows that would be
        // among them on one process.
        static void
        make_batches(Lists &lists)
        {
          const BlockSparsity &sparsity = lists.sparsity;
          BlockLists          &made     = lists.made;
          const unsigned int   max_n    = made.max_n;
          const std::size_t    n        = sparsity.row_width.size();
          if (!made.uniform || max_n == 0 || max_n > max_batch_size)
            return;
          const auto n_blocks = [&](const std::size_t first,
                                    const std::size_t end) {
            return sparsity.block_offset[end] - sparsity.block_offset[first];
          };
          std::vector<bool> &in_batch = lists.in_batch;
          in_batch.resize(n);
          for (std::size_t k = 0; k < n; ++k)
            in_batch[k] = !lists.is_shared(k) &&
                          fits_batch<Number>(n_blocks(k, k + 1), max_n);
          const std::size_t  most = std::max(1u, batch_rows / max_n);
          std::vector<Batch> list;
          std::size_t        max_panel = 0, max_rest = 0;
          for (std::size_t k = 0; k < n;)
            {
              std::size_t end = k;
              while (end < n && end < k + most && in_batch[end] &&
                     !lists.is_at_boundary(end))
                ++end;
              if (end == k)
                {
                  ++k;
                  continue;
                }
              while (end > k + 1 &&
                     batch_bytes<Number>(n_blocks(k, end), max_n) >
                       max_batch_bytes)
                --end;
              Batch batch       = {};
              batch.first       = static_cast<unsigned int>(k);
              batch.n           = static_cast<unsigned int>(end - k);
              batch.first_block = sparsity.block_offset[k];
              batch.first_value = sparsity.value_offset[k];
              batch.n_blocks    = static_cast<unsigned int>(n_blocks(k, end));
              list.push_back(batch);
              max_panel = std::max<std::size_t>(
                max_panel, batch_panel<Number>(batch.n_blocks, max_n));
              max_rest =
                std::max<std::size_t>(max_rest, batch.n_blocks * max_n);
              k = end;
            }
          // multiples of 16 bytes
          made.panel         = round_up(max_panel, 4) * 4;
          made.shared_memory = (made.panel + max_rest) * sizeof(Number);
          made.batches       = PoolArray<Batch>(list);
          made.block_offset  = PoolArray<std::uint64_t>(sparsity.block_offset);
        }

        template <int N>
        void
        multiply_batches(const Destination<Number> &y, const Number *x) const
        {
          const BlockLists &L = *lists;
          start_kernel("a product with a matrix",
                       batch_kernel<Number, N>,
                       static_cast<unsigned int>(L.batches.size()),
                       n_threads,
                       L.shared_memory,
                       L.batches.data(),
                       L.block_offset.data(),
                       L.columns->data(),
                       L.panel,
                       values.data(),
                       x,
                       y);
        }

        template <int V, int S, int G, int R, int U>
        void
        launch(const PoolArray<RowUnit>  &units,
               const Destination<Number> &y,
               const Number              *x,
               const Number              *ghosts,
               const bool                 all_components) const
        {
          if (units.size() == 0)
            return;
          const std::size_t  per_block = n_threads / S;
          const unsigned int n_blocks  = static_cast<unsigned int>(
            (units.size() + per_block - 1) / per_block);
          // Null for interior rows.
          const bool     ordered = ghosts != nullptr;
          constexpr auto one     = Columns::uniform;
          auto kernel = product_kernel<Number, V, S, G, R, U, Columns::ordered>;
          if (!ordered && !uniform)
            kernel = product_kernel<Number, V, S, G, R, U, Columns::packs>;
          else if (!ordered && !all_components)
            kernel = product_kernel<Number, V, S, G, R, U, one>;
          else if (!ordered)
            kernel = n_components == 2
                       ? product_kernel<Number, V, S, G, R, U, one, 2>
                       : product_kernel<Number, V, S, G, R, U, one, 3>;
          kernel<<<n_blocks, n_threads, 0, current_stream()>>>(
            units.size(),
            units.data(),
            ordered ? lists->boundary_columns.data() : lists->columns->data(),
            lists->boundary_places.data(),
            max_n / V,
            values.data(),
            x,
            static_cast<unsigned int>(n_columns),
            ghost_shift(x, ghosts),
            y);
          check(cudaGetLastError(), "a product with a matrix");
        }

        std::ptrdiff_t
        ghost_shift(const Number *x, const Number *ghosts) const
        {
          return ghosts == nullptr ? 0 : ghosts - x - std::ptrdiff_t(n_columns);
        }

        // Product for rows with ghost columns.
        template <int V>
        void
        multiply_boundary(const Destination<Number> &y,
                          const Number              *x,
                          const Number              *ghosts) const
        {
          const PoolArray<RowUnit> &single_rows = lists->single_rows;
          launch_all<V>(lists->units[1], y, x, ghosts, false);
          if (single_rows.size() == 0)
            return;
          ordered_row_kernel<Number, V>
            <<<n_thread_blocks(single_rows.size() * max_n),
               n_threads,
               0,
               current_stream()>>>(single_rows.size(),
                                   single_rows.data(),
                                   max_n,
                                   lists->boundary_columns.data(),
                                   lists->boundary_places.data(),
                                   values.data(),
                                   x,
                                   static_cast<unsigned int>(n_columns),
                                   ghost_shift(x, ghosts),
                                   y);
          check(cudaGetLastError(), "a product with a matrix");
        }

        template <int V>
        void
        vmult(const Destination<Number> &y,
              const Number              *x,
              const ProductRows          rows,
              const Number              *ghosts) const
        {
          if (rows == ProductRows::boundary)
            {
              multiply_boundary<V>(y, x, ghosts);
              return;
            }
          if (lists->batches.size() > 0)
            with_size<max_batch_size>(max_n, [&](const auto N) {
              this->template multiply_batches<N()>(y, x);
            });
          launch_all<V>(lists->units[0], y, x, nullptr, false);
          launch_all<V>(lists->units[2], y, x, nullptr, true);
          if (rows == ProductRows::all)
            multiply_boundary<V>(y, x, ghosts);
        }

        template <int V>
        void
        launch_all(const PoolArray<RowUnit> (&units)[3],
                   const Destination<Number> &y,
                   const Number              *x,
                   const Number              *ghosts,
                   const bool                 all_components) const
        {
          // The shapes were measured on an H200. If a lane loads 16 bytes at a
          // time, it needs fewer loads in flight.
          constexpr bool full     = V * sizeof(Number) == 16,
                         is_float = sizeof(Number) == 4;
          if (full && !is_float)
            launch<V, 32, 16, 2, 2>(units[0], y, x, ghosts, all_components);
          else
            launch<V, 16, 8, 2, (full ? 2 : 3)>(
              units[0], y, x, ghosts, all_components);
          if (is_float && !full)
            launch<V, 32, 8, 3, 3>(units[1], y, x, ghosts, all_components);
          else
            launch<V, 32, 16, 5, 3>(units[1], y, x, ghosts, all_components);
          launch<V, 32, 32, 7, (full && !is_float ? 1 : 2)>(
            units[2], y, x, ghosts, all_components);
        }

        // Divides the block columns into batches; @p offset and @p place as in
        // BlockMatrix::make_transpose(). Returns false if the matrix does not
        // suit column_batch_kernel().
        bool
        make_column_batches(const BlockSparsity              &sparsity,
                            const std::vector<std::uint64_t> &offset,
                            const std::vector<std::uint64_t> &place)
        {
          const std::size_t n = sparsity.row_width.size();
          if (!uniform || max_n == 0 || max_n > 6 || n_components > 1 ||
              n_values / pack >= (1ull << 32))
            return false;
          const unsigned int n_packs     = max_n / pack,
                             places      = batch_places(n_packs),
                             max_columns = column_threads / n_packs;
          // Index of the first row sum of each block row.
          std::vector<std::uint64_t> first_sum(n + 1, 0);
          for (std::size_t k = 0; k < n; ++k)
            {
              if (sparsity.row_width[k] >= 65536)
                return false;
              first_sum[k + 1] = first_sum[k] + sparsity.row_width[k];
            }
          struct Entry
          {
            Contribution contribution;
            unsigned int width_and_place;
          };
          std::vector<Entry>        entries;
          std::vector<ColumnBatch>  batches;
          std::vector<Contribution> list;
          std::vector<unsigned int> numbers;
          for (std::size_t j = 0; j < n;)
            {
              ColumnBatch batch  = {};
              batch.first        = offset[j];
              batch.first_column = static_cast<unsigned int>(j);
              while (j < n && batch.n_columns < max_columns &&
                     offset[j + 1] - batch.first <= places)
                {
                  ++batch.n_columns;
                  ++j;
                }
              if (batch.n_columns == 0)
                return false;
              entries.clear();
              for (std::uint64_t m = batch.first; m < offset[j]; ++m)
                {
                  const std::uint64_t sum = place[m];
                  const std::size_t   k =
                    std::upper_bound(first_sum.begin(), first_sum.end(), sum) -
                    first_sum.begin() - 1;
                  Entry entry                    = {};
                  entry.contribution.first_value = static_cast<unsigned int>(
                    (sparsity.value_offset[k] + sum - first_sum[k]) / pack);
                  entry.contribution.row = static_cast<unsigned int>(k);
                  entry.width_and_place =
                    (sparsity.row_width[k] << 16) +
                    static_cast<unsigned int>(m - batch.first);
                  entries.push_back(entry);
                }
              std::sort(entries.begin(),
                        entries.end(),
                        [](const Entry &a, const Entry &b) {
                          return a.contribution.first_value <
                                 b.contribution.first_value;
                        });
              entries.resize(places);
              for (const Entry &entry : entries)
                {
                  list.push_back(entry.contribution);
                  numbers.push_back(entry.width_and_place);
                }
              batches.push_back(batch);
            }
          column_batches  = PoolArray<ColumnBatch>(batches);
          contributions   = PoolArray<Contribution>(list);
          width_and_place = PoolArray<unsigned int>(numbers);
          return true;
        }

        template <int N>
        void
        multiply_columns(const Destination<Number> &y, const Number *x) const
        {
          column_batch_kernel<Number, N>
            <<<static_cast<unsigned int>(column_batches.size()),
               column_threads,
               0,
               current_stream()>>>(column_batches.data(),
                                   contributions.data(),
                                   width_and_place.data(),
                                   contribution_offset.data(),
                                   values.data(),
                                   x,
                                   y);
          check(cudaGetLastError(), "a product with a transposed matrix");
        }

        static unsigned int
        n_thread_blocks(const std::uint64_t n)
        {
          return static_cast<unsigned int>((n + n_threads - 1) / n_threads);
        }

        // Calls function(std::integral_constant<int, V>()) with V = pack.
        template <typename Function>
        void
        with_pack(const Function &function) const
        {
          if (pack == 1)
            function(std::integral_constant<int, 1>());
          else if (pack == 2)
            function(std::integral_constant<int, 2>());
          else if constexpr (sizeof(Number) == 4)
            function(std::integral_constant<int, 4>());
        }

        void
        sum_rows(const Number *x)
        {
          if (n_row_sums == 0)
            return;
          with_pack([&](const auto V) {
            constexpr int U = V() * sizeof(Number) == 16 ? 4 : 8;
            row_sums_kernel<Number, V(), U>
              <<<n_thread_blocks(n_row_sums), n_threads, 0, current_stream()>>>(
                n_row_sums,
                rows.data(),
                warp_row.data(),
                values.data(),
                x,
                row_sums.data());
          });
          check(cudaGetLastError(), "a product with a transposed matrix");
        }

        void
        sum_columns(const Destination<Number> &y)
        {
          if (n_columns == 0)
            return;
          with_pack([&](const auto V) {
            const auto kernel = uniform
                                  ? column_sums_kernel<Number, V(), 3, true>
                                  : column_sums_kernel<Number, V(), 3, false>;
            kernel<<<n_thread_blocks(n_columns / V()),
                     n_threads,
                     0,
                     current_stream()>>>(n_columns / V(),
                                         contribution_offset.data(),
                                         block_pack.data(),
                                         pack_column.data(),
                                         first_pack.data(),
                                         max_n / V(),
                                         row_sums.data(),
                                         y);
          });
          check(cudaGetLastError(), "a product with a transposed matrix");
        }
      };



      template <typename Number>
      BlockMatrix<Number>::BlockMatrix(
        const BlockSparsity                     &sparsity,
        const std::vector<std::uint64_t>        &dof_offset,
        const AllProcesses                      *all,
        const std::vector<std::uint64_t>        *row_offset,
        const std::shared_ptr<const BlockLists> &same)
        : implementation(std::make_shared<Implementation>(
            sparsity, dof_offset, all, row_offset, same))
      {}



      template <typename Number>
      std::shared_ptr<const BlockLists>
      BlockMatrix<Number>::lists() const
      {
        return implementation->lists;
      }



      template <typename Number>
      Number *
      BlockMatrix<Number>::values() const
      {
        return implementation->values.data();
      }



      template <typename Number>
      void
      BlockMatrix<Number>::vmult(const Destination<Number> &y,
                                 const Number              *x,
                                 const ProductRows          rows,
                                 const Number              *ghosts) const
      {
        if (implementation->n_rows == 0)
          return;
        implementation->with_pack([&](const auto V) {
          implementation->template vmult<V()>(y, x, rows, ghosts);
        });
      }



      template <typename Number>
      bool
      BlockMatrix<Number>::has_transpose() const
      {
        return implementation->has_transpose;
      }



      template <typename Number>
      void
      BlockMatrix<Number>::make_transpose(
        const BlockSparsity              &sparsity,
        const std::vector<std::uint64_t> &dof_offset,
        const std::vector<std::uint64_t> &offset,
        const std::vector<std::uint64_t> &place,
        const std::size_t                 n_received,
        const std::vector<std::uint64_t> *given_rows)
      {
        const std::vector<std::uint64_t> &row_offset =
          given_rows == nullptr ? dof_offset : *given_rows;
        Implementation &data     = *implementation;
        data.contribution_offset = PoolArray<std::uint64_t>(offset);
        if (n_received == 0 && given_rows == nullptr &&
            data.make_column_batches(sparsity, offset, place))
          {
            // Products may run in streams that do not wait for the uploads.
            synchronize();
            data.has_transpose = true;
            return;
          }
        const unsigned int        V = data.pack;
        const std::size_t         n = sparsity.row_width.size();
        std::vector<BlockRow>     rows(n);
        std::vector<unsigned int> warp_row, pack_column, first_pack(n);
        std::vector<unsigned int> block_pack(place.size());
        std::uint64_t             n_packs = 0;
        for (std::size_t k = 0; k < n; ++k)
          {
            BlockRow &row   = rows[k];
            row             = {};
            row.first_value = sparsity.value_offset[k];
            row.first_pack  = n_packs;
            row.first_row   = static_cast<unsigned int>(row_offset[k]);
            row.n_rows =
              static_cast<unsigned int>(row_offset[k + 1] - row_offset[k]);
            row.width     = sparsity.row_width[k];
            first_pack[k] = static_cast<unsigned int>(dof_offset[k] / V);
            n_packs += row.width / V;
            for (std::uint64_t warp = warp_row.size(); 32 * warp < n_packs;
                 ++warp)
              warp_row.push_back(static_cast<unsigned int>(k));
            if (!data.uniform)
              pack_column.resize(dof_offset[k + 1] / V,
                                 static_cast<unsigned int>(k));
          }
        if (n_packs + n_received / V >= (1ull << 32))
          throw Error(
            "The matrix is too large for products with its transpose "
            "on a CUDA device. Distribute the problem over several "
            "devices.");
        for (std::size_t m = 0; m < place.size(); ++m)
          block_pack[m] = static_cast<unsigned int>(place[m] / V);
        data.n_row_sums = n_packs;
        data.n_received = n_received;
        data.rows       = PoolArray<BlockRow>(rows);
        data.warp_row   = PoolArray<unsigned int>(warp_row);
        data.block_pack = PoolArray<unsigned int>(block_pack);
        if (!data.uniform)
          {
            data.pack_column = PoolArray<unsigned int>(pack_column);
            data.first_pack  = PoolArray<unsigned int>(first_pack);
          }
        data.row_sums.resize(n_packs * V + n_received);
        synchronize();
        data.has_transpose = true;
      }



      template <typename Number>
      void
      BlockMatrix<Number>::Tvmult(const Destination<Number> &y,
                                  const Number              *x) const
      {
        if (implementation->column_batches.size() > 0)
          {
            with_size<6>(implementation->max_n, [&](const auto N) {
              implementation->template multiply_columns<N()>(y, x);
            });
            return;
          }
        const std::lock_guard<std::mutex> lock(implementation->transpose_mutex);
        implementation->sum_rows(x);
        implementation->sum_columns(y);
      }



      template <typename Number>
      const Number *
      BlockMatrix<Number>::row_sums(const Number *x) const
      {
        implementation->sum_rows(x);
        return implementation->row_sums.data();
      }



      template <typename Number>
      void
      BlockMatrix<Number>::column_sums(const Destination<Number> &y,
                                       const Number *received) const
      {
        Implementation &data = *implementation;
        VectorOperations<Number>::copy(data.n_received,
                                       received,
                                       data.row_sums.data() +
                                         data.n_row_sums * data.pack);
        data.sum_columns(y);
      }



      template <typename Number>
      std::size_t
      BlockMatrix<Number>::memory_consumption() const
      {
        const Implementation &data  = *implementation;
        const auto            bytes = [](const auto &...arrays) {
          return (... + (arrays.size() * sizeof(*arrays.data())));
        };
        std::size_t       in_units = 0;
        const BlockLists &lists    = *data.lists;
        for (const auto &part : lists.units)
          for (const auto &units : part)
            in_units += bytes(units);
        return in_units + data.n_values * sizeof(Number) +
               bytes(lists.single_rows,
                     lists.batches,
                     *lists.columns,
                     lists.boundary_columns,
                     lists.boundary_places,
                     lists.block_offset,
                     data.column_batches,
                     data.contributions,
                     data.width_and_place,
                     data.rows,
                     data.warp_row,
                     data.block_pack,
                     data.pack_column,
                     data.first_pack,
                     data.contribution_offset,
                     data.row_sums);
      }



      template class BlockMatrix<double>;
      template class BlockMatrix<float>;
    } // namespace Device
  }   // namespace internal
} // namespace Tessella
