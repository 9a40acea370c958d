// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_multigrid_galerkin_structure_h
#define tessella_source_multigrid_galerkin_structure_h

#include <tessella/lac/block_sparsity.h>

#include <cstdint>
#include <vector>

namespace Tessella
{
  namespace internal
  {
    /// The members of each group, in ascending order; the first @p n_members of
    /// @p parent count.
    void
    list_children(const std::vector<unsigned int> &parent,
                  const unsigned int               n_members,
                  const unsigned int               n_groups,
                  std::vector<unsigned int>       &offset,
                  std::vector<unsigned int>       &list);

    /**
     * Structure of P^T A P: coarse block (K, L) is there if a fine one (k, l)
     * is with K the parent of k and L that of l. @p parent is empty if fine
     * and coarse polytopes are the same. Block rows, and the @p n_coarse coarse
     * ones, are those of this process; columns, parents and @p coarse_offset
     * go on to the ghosts. Entries of a coarse block are listed
     * by fine block row, then by block: the order of summation.
     */
    struct GalerkinStructure
    {
      GalerkinStructure(const BlockSparsity              &fine,
                        const std::vector<unsigned int>  &parent,
                        const unsigned int                n_coarse,
                        const std::vector<std::uint64_t> &coarse_offset);

      BlockSparsity sparsity;
      /// As in GalerkinPlan.
      std::vector<std::uint64_t> offset;
      std::vector<unsigned int>  row, block, coarse_row;
    };
  } // namespace internal
} // namespace Tessella

#endif
