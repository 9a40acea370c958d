// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_lac_blocks_h
#define tessella_cuda_lac_blocks_h

#include <tessella/portable/host_device.h>

#include <cstddef>
#include <cstdint>

// Operations on block matrices for preconditioners and multigrid, in plain
// types. HostBlocks (source/lac/host_blocks.h) has the same functions for host
// memory.

namespace Tessella
{
  namespace internal
  {
    /// A BlockSparsity and further data for the functions below; the pointers
    /// refer to the memory of the machine that executes the functions.
    struct BlockRows
    {
      /// Number of block rows; blocks with indices from n on are ghost columns.
      unsigned int n         = 0;
      unsigned int max_size  = 0; ///< largest number of rows of a block
      unsigned int max_width = 0; ///< largest row_width
      /// Number of rows of all blocks, ghost columns included, if it is the
      /// same and all block rows have values of their own; else 0.
      unsigned int         uniform = 0;
      std::uint64_t        n_dofs  = 0; ///< number of rows
      const std::uint64_t *dof_offset, *block_offset, *value_offset;
      const unsigned int  *block_column, *column_offset, *row_width;
      /// First column of the diagonal block within its block row.
      const unsigned int *diagonal;
      /// Order of summation on several processes, null on one process: position
      /// of block m of a block row in this order (ordered_blocks()), counted
      /// from the first block of the row, and the first column of this block in
      /// this order.
      const unsigned int *order = nullptr, *ordered_offset = nullptr;
      /// Index of the first value of each diagonal block in an array that holds
      /// only diagonal blocks.
      const std::uint64_t *square_offset;

      /// Number of rows of block @p k.
      TESSELLA_HOST_DEVICE unsigned int
      size(const unsigned int k) const
      {
        return static_cast<unsigned int>(dof_offset[k + 1] - dof_offset[k]);
      }

      /// Whether block row @p k has the values of the one before it, see
      /// ComponentRows. The inverses of the diagonal blocks are then
      /// shared as well.
      TESSELLA_HOST_DEVICE bool
      shares_values(const unsigned int k) const
      {
        return k > 0 && size(k - 1) > 0 &&
               value_offset[k] == value_offset[k - 1];
      }
    };

    /// Change of the basis of each polytope.
    struct BlockBases
    {
      /// Index of the first value of each W, including those of ghosts.
      const std::uint64_t *place;
      const double        *W;
    };

    /// d = alpha d + beta D^{-1} r, then x += weight d.
    template <typename Number>
    struct PolynomialStep
    {
      const Number *inverse;   ///< diagonal blocks of D^{-1}
      bool          transpose; ///< whether to take D^{-T}
      Number        alpha;     ///< if zero, d is not read
      Number        beta, weight;
      const Number *r;
      Number       *d, *x;
      bool          set; ///< whether x is overwritten instead of incremented
      /// If it is not null, beta is @p factor / *divisor, rounded to Number.
      const double *divisor = nullptr;
      double        factor  = 0.;
    };

    /// x_k += D_k^{-1} (b - A x)_k for some block rows k, none of which is
    /// coupled with another one.
    template <typename Number>
    struct RelaxationStep
    {
      const Number       *values, *inverse; ///< A and D^{-1}
      const unsigned int *list;             ///< block rows
      unsigned int        n;                ///< length of the list
      const Number       *b, *ghosts;       ///< with the ghost entries of x
      Number             *x;
    };

    /// Injection from coarse polytopes into finer ones. Degrees of freedom of a
    /// polytope are ordered by component, then by basis function; each
    /// component is transferred by itself. Below, n_K and n_k are the numbers
    /// of basis functions of a coarse and a fine polytope.
    template <typename Number>
    struct BlockTransfer
    {
      unsigned int         n_fine = 0, n_coarse = 0;
      unsigned int         n_components = 1;
      const std::uint64_t *fine_offset, *coarse_offset; ///< in DoFs
      /// Coarse polytope of each fine one; null if both levels have the same
      /// polytopes.
      const unsigned int *parent;
      /// Fine polytopes of each coarse one, in ascending order; null if both
      /// levels have the same polytopes.
      const unsigned int *child_offset, *child;
      /// Coefficients of the coarse functions on each fine polytope, n_K x n_k,
      /// row by row; null if the coarse functions are the first functions of
      /// the fine polytope.
      const std::uint64_t *matrix_offset;
      const Number        *matrix;
      /// Whether a polytope has a matrix for each component, one after the
      /// other, instead of one for all of them.
      bool         matrix_of_component = false;
      unsigned int max_fine = 0, max_coarse = 0; ///< DoFs, all components

      TESSELLA_HOST_DEVICE unsigned int
      fine_size(const unsigned int k) const
      {
        return static_cast<unsigned int>(fine_offset[k + 1] - fine_offset[k]) /
               n_components;
      }
      TESSELLA_HOST_DEVICE unsigned int
      coarse_size(const unsigned int K) const
      {
        return static_cast<unsigned int>(coarse_offset[K + 1] -
                                         coarse_offset[K]) /
               n_components;
      }
      /// Matrix of component @p c of the fine polytope @p k, with @p size
      /// entries.
      TESSELLA_HOST_DEVICE const Number *
      component_matrix(const unsigned int  k,
                       const unsigned int  c,
                       const std::uint64_t size) const
      {
        return matrix + matrix_offset[k] + (matrix_of_component ? c * size : 0);
      }
    };

    /// Fine blocks that contribute to each coarse block.
    struct GalerkinPlan
    {
      BlockRows     fine, coarse;
      std::uint64_t n_blocks = 0; ///< number of coarse blocks
      /// Index range of each coarse block in the lists of fine block rows and
      /// fine blocks.
      const std::uint64_t *offset;
      const unsigned int  *row, *block;
      /// Block row of each coarse block.
      const unsigned int *coarse_row;
    };

    /// Values of a fine matrix, those of the Galerkin product, and the same of
    /// another matrix with the same structure; the latter may be null.
    template <typename Number>
    struct GalerkinValues
    {
      const Number *fine;
      Number       *coarse;
      const Number *other_fine   = nullptr;
      Number       *other_coarse = nullptr;
    };

    /// Threshold, for matrices whose diagonal blocks are the identity, below
    /// which change_basis() sets entries to zero. Such entries are rounding
    /// errors in place of zeros, far below the precision of float; their
    /// products are denormal, which slows processors down.
    constexpr double negligible_in_basis = 1e-10;

    namespace Device
    {
      /**
       * All pointers are to device memory, and all operations run in the
       * default stream. No atomics are used; the order of summation depends on
       * the structure only.
       */
      template <typename Number>
      struct Blocks
      {
        /// Inverts the diagonal blocks by Gauss-Jordan elimination with row
        /// pivoting. Each implementation chooses its own order of entries.
        /// Returns the index of the first singular block, or n.
        static unsigned int
        invert_diagonal(const BlockRows &rows,
                        const Number    *values,
                        Number          *inverse);
        /// The same with this index in device memory, for which the host does
        /// not wait; graphs can hold it for blocks of up to 70 rows.
        static void
        invert_diagonal(const BlockRows &rows,
                        const Number    *values,
                        Number          *inverse,
                        unsigned int    *first_singular);

        /**
         * Bases of the polytopes in which the diagonal blocks are the identity:
         * W D W^T = 1 for the symmetric part of each diagonal block D, where W
         * is lower triangular, so that the first m functions span the same
         * space for each m. With @p n_components above one, D is the diagonal
         * block without the coupling of components, and W does not couple them
         * either: this property holds within each component. W is computed by
         * Cholesky's factorisation without square roots and stored column by
         * column on a device. Returns the index of the first block that is not
         * positive definite, whose W is the identity, or n.
         */
        static unsigned int
        orthonormalise(const BlockRows   &rows,
                       const unsigned int n_components,
                       const double      *values,
                       double            *W);

        /// to_kl = W_k A_kl W_l^T for all blocks.
        static void
        change_basis(const BlockRows  &rows,
                     const BlockBases &bases,
                     const double     *values,
                     Number           *to);

        /// T_k = T_k W^{-1} for the first @p n polytopes of @p transfer, whose
        /// T_k are in @p matrix, with the leading part of W that has as many
        /// columns as T_k. Each component has its own T_k and its own part of W
        /// if there are several.
        static void
        change_basis_of_injection(const BlockRows             &rows,
                                  const BlockBases            &bases,
                                  const BlockTransfer<Number> &transfer,
                                  const unsigned int           n,
                                  Number                      *matrix);

        /// Sets the diagonal blocks to A + factor B. A and B have the diagonal
        /// blocks alone, at square_offset and row by row.
        static void
        set_diagonal(const BlockRows &rows,
                     const Number    *A,
                     const Number     factor,
                     const Number    *B,
                     Number          *values);

        /// y = D^{-1} x or D^{-T} x.
        static void
        apply_diagonal(const BlockRows &rows,
                       const Number    *inverse,
                       const bool       transpose,
                       const Number    *x,
                       Number          *y);

        static void
        polynomial_step(const BlockRows              &rows,
                        const PolynomialStep<Number> &step);

        static void
        relax(const BlockRows &rows, const RelaxationStep<Number> &step);

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

        /// Values of the coarse matrix from those of the fine one, for one or
        /// two matrices.
        static void
        galerkin(const GalerkinPlan           &plan,
                 const BlockTransfer<Number>  &transfer,
                 const GalerkinValues<Number> &values);

        /// y = A x, where A has @p n_rows rows and @p n_columns columns and is
        /// stored row by row.
        static void
        dense_product(const unsigned int n_rows,
                      const unsigned int n_columns,
                      const Number      *A,
                      const Number      *x,
                      Number            *y);
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
