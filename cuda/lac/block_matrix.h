// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_lac_block_matrix_h
#define tessella_cuda_lac_block_matrix_h

#include <tessella/lac/block_sparsity.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// What a product with a matrix does with its result A x.
      enum class Product : unsigned char
      {
        set,     ///< y = A x
        add,     ///< y += A x
        subtract ///< y = b - A x
      };

      /// Which block rows a product computes: those that meet no columns of
      /// other processes, or those that do, or both.
      enum class ProductRows : unsigned char
      {
        all,
        interior,
        boundary
      };

      /// Of a matrix whose block rows several processes have: what makes sums
      /// those of one process.
      struct AllProcesses
      {
        /// Of all blocks, in rows: BlockPartition::BlockSizes.
        std::uint64_t smallest, largest, bits;
        /// ordered_blocks().
        std::vector<std::uint64_t> order;
      };

      /**
       * Block rows on the device, in the layout of the BlockSparsity. Blocks
       * beyond the block rows are those of other processes; their entries of
       * vectors lie in an array of their own.
       *
       * vmult(): a group of lanes computes some rows of a block row. A lane
       * loads the entry of the vector that belongs to a column once and uses
       * it for all of these rows; rows are read in pieces of up to 16 bytes a
       * lane where block sizes allow aligned ones. Block rows of uniform blocks
       * of at most ten rows are dealt out in batches: a thread block copies
       * some of them into shared memory, and a thread adds a row in the order
       * of its columns (with blocks of 4 and 8 rows beginning at a column that
       * depends on the row's number in its block and on its entries).
       *
       * Tvmult(): sums over the rows of each block row first, then over the
       * contributions to each block of the result; for small uniform blocks on
       * one process both in one kernel, with the same bits. Blocks of a column
       * are found through lists made before the first call.
       *
       * No atomics; which lane adds what, and in which order, depends on the
       * structure of the whole matrix alone, not on the processes that have
       * it. Sums of float are in float.
       */
      template <typename Number>
      class BlockMatrix
      {
      public:
        /// All values are zero. Rows are counted with 32 bits. @p all: null
        /// on one process.
        BlockMatrix(const BlockSparsity              &sparsity,
                    const std::vector<std::uint64_t> &dof_offset,
                    const AllProcesses               *all);
        ~BlockMatrix();

        /// In the device's memory.
        Number *
        values() const;

        /// In the default stream; @p b only for Product::subtract, it may be @p
        /// y, which must not be @p x. @p ghosts: entries of x of other
        /// processes, which boundary rows need.
        void
        vmult(Number           *y,
              const Number     *x,
              const Product     product,
              const Number     *b      = nullptr,
              const ProductRows rows   = ProductRows::all,
              const Number     *ghosts = nullptr) const;

        bool
        has_transpose() const;

        /**
         * Lists for Tvmult(). The sums over the rows of each block row, x_k^T
         * times these rows, lie one after the other, @p n_received numbers of
         * other processes behind them; @p place: the first number of each
         * contribution to a block of the result; those to block k are @p
         * offset[k] .. @p offset[k+1], and are added in this order.
         */
        void
        make_transpose(const BlockSparsity              &sparsity,
                       const std::vector<std::uint64_t> &dof_offset,
                       const std::vector<std::uint64_t> &offset,
                       const std::vector<std::uint64_t> &place,
                       const std::size_t                 n_received);

        void
        Tvmult(Number       *y,
               const Number *x,
               const Product product,
               const Number *b = nullptr) const;

        // The same in two steps, between which processes exchange what they
        // need (if they receive something).

        /// The sums over the rows of each block row, valid until the next
        /// product with the transpose.
        const Number *
        row_sums(const Number *x) const;

        /// @p received: in the device's memory.
        void
        column_sums(Number       *y,
                    const Number *received,
                    const Product product,
                    const Number *b) const;

        /// Bytes on the device.
        std::size_t
        memory_consumption() const;

      private:
        struct Implementation;
        std::unique_ptr<Implementation> implementation;
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
