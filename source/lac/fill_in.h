// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_lac_fill_in_h
#define tessella_source_lac_fill_in_h

#include <tessella/lac/block_sparsity.h>

#include <cstdint>
#include <vector>

// Numberings and patterns of incomplete factorisations with fill-in, for the
// block rows of one process: columns of other processes are left out.

namespace Tessella
{
  namespace internal
  {
    /// Frobenius norm of D_k^{-1} A_kl for each block (k, l), zero in columns
    /// of other processes. A diagonal block D_k that is singular counts as the
    /// identity. @p values: those of the matrix, on the host. Number: double or
    /// float. Cost: a factorisation of the diagonal blocks, and as many
    /// operations as their products with all blocks need.
    template <typename Number>
    std::vector<double>
    coupling_norms(const BlockSparsity              &sparsity,
                   const std::vector<std::uint64_t> &dof_offset,
                   const Number                     *values);

    /**
     * Numbering by minimum discarded fill (E. F. D'Azevedo, P. A. Forsyth,
     * W.-P. Tang, SIAM J. Matrix Anal. Appl. 13, 1992), in the form for blocks
     * of P.-O. Persson and J. Peraire (SIAM J. Sci. Comput. 30, 2008): next is
     * the row k with the smallest sum of (c_ik c_kj)^2 over all i and j that
     * have no number, are coupled with k and not with each other, where c are
     * coupling_norms(). This is what ILU(0) leaves out, so that the numbering
     * follows strong couplings. Of sums that are equal up to a thousandth, the
     * first one in the numbering of reverse_cuthill_mckee() is next. Cost: n
     * log n, and the cube of the number of neighbours for each row. The
     * structure must be symmetric.
     */
    std::vector<unsigned int>
    discarded_fill_numbering(const BlockSparsity       &sparsity,
                             const std::vector<double> &norms);

    /**
     * Pattern of ILU(@p level) for the block rows of this process in the order
     * of @p numbering: elimination of k fills the block (i, j) if the level of
     * (i, k), that of (k, j) and 1 add up to @p level or less; blocks of
     * @p sparsity have level 0. Columns of other processes are left out.
     */
    BlockSparsity
    fill_in(const BlockSparsity              &sparsity,
            const std::vector<std::uint64_t> &dof_offset,
            const std::vector<unsigned int>  &numbering,
            const unsigned int                level);
  } // namespace internal
} // namespace Tessella

#endif
