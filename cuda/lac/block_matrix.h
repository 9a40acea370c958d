// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_lac_block_matrix_h
#define tessella_cuda_lac_block_matrix_h

#include <tessella/lac/block_sparsity.h>
#include <tessella/portable/host_device.h>

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
      /// Use of the result A x of a product.
      enum class Product : unsigned char
      {
        set,     ///< y = A x
        add,     ///< y += A x
        subtract ///< y = b - A x
      };

      /// Destination of a product A x.
      template <typename Number>
      struct Destination
      {
        Number       *y;
        Product       product;
        const Number *b = nullptr; ///< for Product::subtract; may be y

        /// Uses @p value, entry @p i of the product.
        TESSELLA_HOST_DEVICE void
        store(const std::size_t i, const Number value) const
        {
          y[i] = product == Product::set   ? value
                 : product == Product::add ? y[i] + value
                                           : b[i] - value;
        }
      };

      /// Block rows that a product computes: interior rows have no ghost
      /// columns, boundary rows have some.
      enum class ProductRows : unsigned char
      {
        all,
        interior,
        boundary
      };

      /// Properties of a matrix whose block rows are distributed over several
      /// processes. With them, the sums are the same as on one process.
      struct AllProcesses
      {
        /// Block sizes in rows, over all processes; see
        /// BlockPartition::BlockSizes.
        std::uint64_t smallest, largest, bits;
        /// Result of ordered_blocks().
        std::vector<std::uint64_t> order;
      };

      /// Lists in device memory that follow from the structure of a matrix.
      struct BlockLists;

      /**
       * Block rows on the device, in the layout of the BlockSparsity. Block
       * columns with indices beyond the block rows are ghosts; their entries of
       * vectors lie in a separate array.
       *
       * vmult(): a group of lanes computes several rows of a block row. A lane
       * loads the vector entry of a column once and uses it for all of these
       * rows; rows are read in packs of up to 16 bytes per lane where block
       * sizes allow aligned loads. Block rows of uniform blocks of at most ten
       * rows are processed in batches: a thread block copies several block rows
       * into shared memory, and each thread sums up one row in the order of its
       * columns. With blocks of 4 and 8 rows, the sum begins at a column that
       * depends on the index of the row within its block and on the number of
       * entries of the row.
       *
       * Tvmult(): the first step sums over the rows of each block row, the
       * second one over the contributions to each block of the result. For
       * small uniform blocks on one process, a single kernel does both steps,
       * with the same bits. Lists that are made before the first call hold the
       * blocks of each column.
       *
       * Rectangular matrices have block rows of other sizes than their block
       * columns. They take the same kernels, but for those of small square
       * blocks.
       *
       * The kernels use no atomics. The assignment of summands to lanes and the
       * order of summation depend only on the structure of the whole matrix,
       * not on its distribution over processes. Sums of float are accumulated
       * in float.
       */
      template <typename Number>
      class BlockMatrix
      {
      public:
        /// All values are initialised to zero. Rows and columns are counted
        /// with 32 bits; throws Error if there are more. @p dof_offset has the
        /// first column of each block, @p row_offset the first row of each
        /// block row; null stands for a square matrix, with the same offsets.
        /// @p all, with the sizes of block columns: null on one process.
        /// @p same: lists() of a matrix of the same structure, of either
        /// precision; those that do not depend on it are shared.
        BlockMatrix(const BlockSparsity                     &sparsity,
                    const std::vector<std::uint64_t>        &dof_offset,
                    const AllProcesses                      *all,
                    const std::vector<std::uint64_t>        *row_offset,
                    const std::shared_ptr<const BlockLists> &same);

        std::shared_ptr<const BlockLists>
        lists() const;

        /// Values in device memory.
        Number *
        values() const;

        /// Computes the product in the default stream; the destination must
        /// not be @p x. @p ghosts: ghost entries of x, which boundary rows
        /// need.
        void
        vmult(const Destination<Number> &y,
              const Number              *x,
              const ProductRows          rows,
              const Number              *ghosts) const;

        bool
        has_transpose() const;

        /**
         * Makes the lists for Tvmult(). The row sums of each block row, x_k^T
         * times its rows, are stored one after the other, followed by @p
         * n_received row sums from other processes. @p place: index of the
         * first row sum of each contribution to a block of the result. The
         * contributions to block k are @p offset[k] .. @p offset[k+1]; they are
         * added in this order. @p row_offset: as in the constructor.
         */
        void
        make_transpose(const BlockSparsity              &sparsity,
                       const std::vector<std::uint64_t> &dof_offset,
                       const std::vector<std::uint64_t> &offset,
                       const std::vector<std::uint64_t> &place,
                       const std::size_t                 n_received,
                       const std::vector<std::uint64_t> *row_offset = nullptr);

        void
        Tvmult(const Destination<Number> &y, const Number *x) const;

        // Tvmult() in two steps, between which processes exchange row sums if
        // they receive any.

        /// Sums over the rows of each block row; valid until the next product
        /// with the transpose.
        const Number *
        row_sums(const Number *x) const;

        /// Second step; @p received is in device memory.
        void
        column_sums(const Destination<Number> &y, const Number *received) const;

        /// Memory on the device in bytes.
        std::size_t
        memory_consumption() const;

      private:
        struct Implementation;
        /// Shared, so that builds without CUDA need no destructor.
        std::shared_ptr<Implementation> implementation;
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
