// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_lac_half_blocks_h
#define tessella_cuda_lac_half_blocks_h

#include <cstddef>
#include <cstdint>

#include "block_matrix.h"
#include "blocks.h"
#include "interface_transfer.h"
#include "product_step.h"

// Matrices in half precision for smoothers, in plain types.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Rows that a thread block computes.
      struct alignas(16) HalfBatch
      {
        unsigned int first_piece, first_column;
        /// Number of blocks of each block row.
        unsigned int n_blocks;
        unsigned int unused;
      };

      /**
       * Symmetric and positive definite matrix A of small blocks of uniform
       * size in bases of the block rows in which the diagonal blocks are the
       * identity: S = W A W^T with W_k A_kk W_k^T = 1 and lower triangular W_k.
       * No entry of S is larger than one. Its other blocks are kept with the 11
       * significant bits of IEEE 754's binary16, vectors in float.
       *
       * A smoother with S reads half of the bytes of one in single precision,
       * and neither diagonal blocks nor their inverses.
       */
      struct HalfBlocks
      {
        /// Structure of A.
        BlockRows rows;
        /// Number of block rows of a thread block.
        unsigned int n_rows = 0;
        /// Data of each thread block.
        const HalfBatch *batches;
        /// Block columns of the blocks of each block row but the diagonal one;
        /// block rows of a thread block have the same number, filled up with
        /// their own index.
        const unsigned int *columns;
        /// In pieces of 16 bytes. Each thread owns a row; the pieces of the
        /// rows of a thread block lie side by side. Rows are filled up with
        /// zeros.
        std::uint16_t *values;
        /// W_k, row by row, at square_offset.
        float *W;
        /// Largest number of blocks of a block row.
        unsigned int max_blocks = 0;
      };

      /// Threads of a thread block of the product.
      constexpr unsigned int half_threads = 128;
      /// Largest number of rows of the blocks.
      constexpr unsigned int max_half_size = 10;
      /// Values of a piece.
      constexpr unsigned int half_piece = 8;
      /// Number of pieces of a row of @p n_blocks blocks of @p size rows.
      TESSELLA_HOST_DEVICE constexpr unsigned int
      n_half_pieces(const unsigned int n_blocks, const unsigned int size)
      {
        return (n_blocks * size + half_piece - 1) / half_piece;
      }

      /// Bytes of shared memory of a thread block.
      inline std::size_t
      half_bytes(const unsigned int n_rows,
                 const unsigned int n_blocks,
                 const unsigned int size)
      {
        return (std::size_t(n_rows) * n_blocks * size + half_piece) *
               sizeof(float);
      }

      // All pointers are to device memory, and operations run in the present
      // stream.

      /// Computes W and the values from those of A. If a diagonal block is not
      /// positive definite, W and values contain numbers that are not finite.
      void
      set_half_blocks(const HalfBlocks &matrix, const double *A);

      /// Sets the entries of @p n identity matrices of @p size rows.
      void
      set_identities(const std::uint64_t n,
                     const unsigned int  size,
                     float              *values);

      /// Injection of functions on polytopes into functions on interfaces,
      /// whose coefficients refer to the bases of @p matrix: @p to = W^{-T}
      /// from.matrix.
      void
      change_basis_of_interfaces(const HalfBlocks                &matrix,
                                 const InterfaceTransfer<double> &from,
                                 float                           *to);

      /// Product S x.
      void
      multiply(const HalfBlocks         &matrix,
               const Destination<float> &y,
               const float              *x);

      /// The same as product_step() for S, whose D is the identity;
      /// step.inverse is not read. If product.y is null, r = b.
      void
      product_step(const HalfBlocks &matrix, const ProductStep<float> &product);

      /// y = W x and y = W^T x.
      void
      to_bases(const HalfBlocks &matrix, const double *x, float *y);
      void
      from_bases(const HalfBlocks &matrix, const float *x, double *y);
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
