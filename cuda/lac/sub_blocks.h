// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_lac_sub_blocks_h
#define tessella_cuda_lac_sub_blocks_h

#include <cstdint>

// Copies of parts of the blocks of a matrix, in plain types.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /**
       * Two matrices with the same block rows and blocks, in the layout of
       * BlockSparsity, where the blocks of the first one have the size of a
       * scalar space, and those of the second one consist of sub-blocks for
       * pairs of components. A sub-block has the first n_rows rows and the
       * first n_columns columns of a block of the first matrix. All arrays are
       * in device memory.
       */
      struct SubBlocks
      {
        unsigned int n_block_rows = 0;
        /// Blocks of block row k are block_offset[k] .. block_offset[k + 1].
        const std::uint64_t *block_offset = nullptr;
        /// First value of each block row, and entries per row.
        const std::uint64_t *from_value = nullptr, *to_value = nullptr;
        const unsigned int  *from_width = nullptr, *to_width = nullptr;
        /// First column of each block in its block row.
        const unsigned int *from_column = nullptr, *to_column = nullptr;
        /// Numbers of rows of the sub-blocks of a block row, and of columns of
        /// those of a block.
        const unsigned int *n_rows = nullptr, *n_columns = nullptr;
        /// First entry of each block row in vectors.
        const std::uint64_t *from_row = nullptr, *to_row = nullptr;
      };

      /// Copies the sub-blocks of a pair of components, in the default stream.
      template <typename Number>
      void
      copy_sub_blocks(const SubBlocks   &blocks,
                      const unsigned int test,
                      const unsigned int trial,
                      const Number      *from,
                      Number            *to);

      /// Copies the entries of a component of a vector.
      template <typename Number>
      void
      copy_sub_rows(const SubBlocks   &blocks,
                    const unsigned int test,
                    const Number      *from,
                    Number            *to);
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
