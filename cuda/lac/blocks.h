// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_lac_blocks_h
#define tessella_cuda_lac_blocks_h

#include <cstddef>
#include <cstdint>

#include "reproducible_sum.h"

// What preconditioners and multigrid do with block matrices, in plain types.
// HostBlocks (source/lac/host_blocks.h) has the same functions for the memory
// of the host.

namespace Tessella
{
  namespace internal
  {
    /// A BlockSparsity and what else the functions below need; pointers into
    /// the memory where they run.
    struct BlockRows
    {
      /// Block rows; blocks from number n on are columns of other processes.
      unsigned int         n         = 0;
      unsigned int         max_size  = 0; ///< largest number of rows of one
      unsigned int         max_width = 0; ///< largest row_width
      std::uint64_t        n_dofs    = 0; ///< rows
      const std::uint64_t *dof_offset, *block_offset, *value_offset;
      const unsigned int  *block_column, *column_offset, *row_width;
      /// First column of the diagonal block within its block row.
      const unsigned int *diagonal;
      /// Of several processes, else null: block number m of a block row in the
      /// order of the sums (ordered_blocks()), counted from the first one of
      /// the row, and the first column of this block in this order.
      const unsigned int *order = nullptr, *ordered_offset = nullptr;
      /// First value of each diagonal block in an array of these alone.
      const std::uint64_t *square_offset;
    };

    /// Injection from coarse polytopes into finer ones.
    template <typename Number>
    struct BlockTransfer
    {
      unsigned int         n_fine = 0, n_coarse = 0;
      const std::uint64_t *fine_offset, *coarse_offset; ///< unknowns
      /// Coarse polytope of each fine one; null if polytopes are the same.
      const unsigned int *parent;
      /// The fine polytopes of coarse ones, in ascending order; null likewise.
      const unsigned int *child_offset, *child;
      /// Coefficients of the coarse functions on each fine polytope, n_coarse x
      /// n_fine, row by row; null if coarse functions are the first ones of the
      /// fine polytope.
      const std::uint64_t *matrix_offset;
      const Number        *matrix;
      unsigned int         max_fine = 0, max_coarse = 0;
    };

    /// Which fine blocks make a coarse one.
    struct GalerkinPlan
    {
      std::uint64_t n_blocks = 0; ///< coarse
      /// Entries of each coarse block; their fine block rows and blocks.
      const std::uint64_t *offset;
      const unsigned int  *row, *block;
      /// Block row of each coarse block.
      const unsigned int *coarse_row;
    };

    /// Entries of a matrix whose diagonal blocks are the identity that
    /// change_basis() takes as zero: what rounding leaves of zeros, far below
    /// the precision of float. Products of it are denormal numbers, which slow
    /// processors down.
    constexpr double negligible_in_basis = 1e-10;

    namespace Device
    {
      void *
      allocate_bytes(const std::size_t n);
      void
      upload_bytes(void *to, const void *from, const std::size_t n);

      /**
       * All pointers are to device memory, all operations run in the default
       * stream. No atomics; sums are added in an order that the structure
       * alone fixes.
       */
      template <typename Number>
      struct Blocks
      {
        /// Inverses of the diagonal blocks, by Gauss-Jordan elimination with
        /// row pivoting (in an order of entries that is the function's own).
        /// Returns the first block that has none, or n.
        static unsigned int
        invert_diagonal(const BlockRows &rows,
                        const Number    *values,
                        Number          *inverse);

        /**
         * Bases of the polytopes in which the diagonal blocks are the identity:
         * W D W^T = 1 for the symmetric part of each diagonal block D, W being
         * lower triangular, so that the first functions span what they did.
         * (Cholesky's factorisation without roots; W by columns on a device.)
         * Returns the first block that is not positive definite, whose W is the
         * identity, or n.
         */
        static unsigned int
        orthonormalise(const BlockRows &rows, const double *values, double *W);

        /// to_kl = W_k A_kl W_l^T for all blocks. @p place: first number of
        /// each W, also of those of other processes.
        static void
        change_basis(const BlockRows     &rows,
                     const std::uint64_t *place,
                     const double        *W,
                     const double        *values,
                     Number              *to);

        /// T_k = T_k W^{-1} with as much of W as T_k has columns, for @p n
        /// injections.
        static void
        change_basis_of_injection(const BlockRows     &rows,
                                  const std::uint64_t *place,
                                  const double        *W,
                                  const unsigned int   n,
                                  const std::uint64_t *fine_offset,
                                  const std::uint64_t *matrix_offset,
                                  Number              *matrix);

        /// y = D^{-1} x or D^{-T} x.
        static void
        apply_diagonal(const BlockRows &rows,
                       const Number    *inverse,
                       const bool       transpose,
                       const Number    *x,
                       Number          *y);

        /// d = alpha d + beta D^{-1} r, then x += weight d. d is not read if
        /// alpha is zero; x is not read but set if @p set.
        static void
        polynomial_step(const BlockRows &rows,
                        const Number    *inverse,
                        const bool       transpose,
                        const Number     alpha,
                        const Number     beta,
                        const Number     weight,
                        const Number    *r,
                        Number          *d,
                        Number          *x,
                        const bool       set);

        /// x_k += D_k^{-1} (b - A x)_k for the @p n block rows k in @p list,
        /// none of which is coupled with another one. @p ghosts: entries of x
        /// of other processes.
        static void
        relax(const BlockRows    &rows,
              const Number       *values,
              const Number       *inverse,
              const unsigned int *list,
              const unsigned int  n,
              const Number       *b,
              const Number       *ghosts,
              Number             *x);

        /// coarse = P^T fine
        static void
        restrict_to(const BlockTransfer<Number> &transfer,
                    const Number                *fine,
                    Number                      *coarse);

        /// fine += P coarse
        static void
        prolongate_add(const BlockTransfer<Number> &transfer,
                       const Number                *coarse,
                       Number                      *fine);

        /// Values of the coarse matrix from those of the fine one.
        static void
        galerkin(const BlockRows             &fine,
                 const BlockRows             &coarse,
                 const BlockTransfer<Number> &transfer,
                 const GalerkinPlan          &plan,
                 const Number                *fine_values,
                 Number                      *coarse_values);

        /// y = A x, A of @p n_rows and @p n_columns, row by row.
        static void
        dense_product(const unsigned int n_rows,
                      const unsigned int n_columns,
                      const Number      *A,
                      const Number      *x,
                      Number            *y);

        /// y += factor x.
        static void
        add(const std::size_t n,
            const Number      factor,
            const Number     *x,
            Number           *y);

        /// y = s y + x; without x if that is null.
        static void
        scale_add(const std::size_t n,
                  const Number      s,
                  const Number     *x,
                  Number           *y);

        static void
        set_zero(const std::size_t n, Number *y);

        static void
        copy(const std::size_t n, const Number *from, Number *to);

        /// To the memory of the host.
        static void
        download(const std::size_t n, const Number *from, Number *to);

        static ReproducibleSum
        dot(const std::size_t n, const Number *x, const Number *y);
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
