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
    /// Members of group K, in ascending order, are member[offset[K]] ..
    /// member[offset[K + 1]].
    struct GroupMembers
    {
      std::vector<unsigned int> offset, member;
    };

    /// Lists the members of @p n_groups groups for the first @p n_members
    /// entries of @p parent.
    GroupMembers
    list_members(const std::vector<unsigned int> &parent,
                 const unsigned int               n_members,
                 const unsigned int               n_groups);

    /**
     * Structure of P^T A P: coarse block (K, L) exists if a fine block (k, l)
     * exists where K is the parent of k and L the parent of l. @p parent is
     * empty if fine and coarse polytopes are the same. The fine block rows and
     * the @p n_coarse coarse block rows are those of this process; columns,
     * parents and @p coarse_offset include ghosts. Entries of a coarse block
     * are listed by fine block row, then by block: this is the order of
     * summation. If the polytopes are the same, each coarse block has the one
     * entry of the same index, and the lists stay empty.
     */
    struct GalerkinStructure
    {
      GalerkinStructure(const BlockSparsity              &fine,
                        const std::vector<unsigned int>  &parent,
                        const unsigned int                n_coarse,
                        const std::vector<std::uint64_t> &coarse_offset);

      BlockSparsity sparsity;
      /// See GalerkinPlan; empty if the polytopes are the same.
      std::vector<std::uint64_t> offset;
      std::vector<unsigned int>  row, block, coarse_row;

    private:
      void
      keep_blocks(const BlockSparsity              &fine,
                  const std::vector<std::uint64_t> &coarse_offset);
    };
  } // namespace internal
} // namespace Tessella

#endif
