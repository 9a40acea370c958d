// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "galerkin_structure.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/base/parallel.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "../base/parallel_for.h"

namespace Tessella
{
  namespace internal
  {
    GroupMembers
    list_members(const std::vector<unsigned int> &parent,
                 const unsigned int               n_members,
                 const unsigned int               n_groups)
    {
      GroupMembers               result;
      std::vector<unsigned int> &offset = result.offset;
      offset.assign(n_groups + 1, 0);
      for (unsigned int k = 0; k < n_members; ++k)
        ++offset[parent[k] + 1];
      for (unsigned int K = 0; K < n_groups; ++K)
        offset[K + 1] += offset[K];
      std::vector<unsigned int> next(offset.begin(), offset.end() - 1);
      result.member.resize(n_members);
      for (unsigned int k = 0; k < n_members; ++k)
        result.member[next[parent[k]]++] = k;
      return result;
    }



    namespace
    {
      struct Entry
      {
        unsigned int column, row, block;
      };

      // Fine blocks that contribute to the coarse block rows; @p parent as for
      // GalerkinStructure.
      class FineBlocks
      {
      public:
        FineBlocks(const BlockSparsity             &fine,
                   const std::vector<unsigned int> &parent,
                   const unsigned int               n_coarse)
          : fine(fine)
          , parent(parent)
          , n_coarse(n_coarse)
        {
          children = list_members(parent, fine.row_width.size(), n_coarse);
        }

        // Calls function(K, list) for all coarse block rows K, on all threads,
        // with a list of (coarse column, fine row, fine block), sorted by
        // column; entries of a column keep the order of rows and blocks.
        template <typename Function>
        void
        for_rows(const Function &function) const
        {
          dealii::parallel::apply_to_subranges(
            0u,
            n_coarse,
            [&](const unsigned int begin, const unsigned int end) {
              std::vector<Entry> list;
              for (unsigned int K = begin; K < end; ++K)
                {
                  make_list(K, list);
                  function(K, list);
                }
            },
            64);
        }

      private:
        void
        make_list(const unsigned int K, std::vector<Entry> &list) const
        {
          list.clear();
          for (unsigned int c = children.offset[K]; c < children.offset[K + 1];
               ++c)
            {
              const unsigned int k = children.member[c];
              for (std::uint64_t b = fine.block_offset[k];
                   b < fine.block_offset[k + 1];
                   ++b)
                list.push_back({parent[fine.block_column[b]],
                                k,
                                static_cast<unsigned int>(b)});
            }
          std::stable_sort(list.begin(),
                           list.end(),
                           [](const Entry &a, const Entry &b) {
                             return a.column < b.column;
                           });
        }

        const BlockSparsity             &fine;
        const std::vector<unsigned int> &parent;
        const unsigned int               n_coarse;
        GroupMembers                     children;
      };

      // Whether entry @p i is the first one of a coarse block.
      bool
      begins_block(const std::vector<Entry> &list, const std::size_t i)
      {
        return i == 0 || list[i].column != list[i - 1].column;
      }

      void
      accumulate(std::vector<std::uint64_t> &sizes)
      {
        std::partial_sum(sizes.begin(), sizes.end(), sizes.begin());
      }
    } // namespace



    GalerkinStructure::GalerkinStructure(
      const BlockSparsity              &fine,
      const std::vector<unsigned int>  &parent,
      const unsigned int                n_coarse,
      const std::vector<std::uint64_t> &coarse_offset)
    {
      AssertThrow(fine.block_column.size() <
                    std::numeric_limits<unsigned int>::max(),
                  dealii::ExcMessage("Galerkin products are for matrices of up "
                                     "to 2^32 blocks."));
      if (parent.empty())
        {
          keep_blocks(fine, coarse_offset);
          return;
        }
      const FineBlocks fine_blocks(fine, parent, n_coarse);
      const auto       size = [&](const unsigned int K) {
        return static_cast<unsigned int>(coarse_offset[K + 1] -
                                         coarse_offset[K]);
      };

      // Count blocks, values and entries per row, form the offsets, then list
      // the blocks.
      sparsity.block_offset.assign(n_coarse + 1, 0);
      sparsity.value_offset.assign(n_coarse + 1, 0);
      sparsity.row_width.assign(n_coarse, 0);
      std::vector<std::uint64_t> n_entries(n_coarse + 1, 0);
      fine_blocks.for_rows(
        [&](const unsigned int K, const std::vector<Entry> &list) {
          n_entries[K + 1]      = list.size();
          unsigned int n_blocks = 0, width = 0;
          for (std::size_t i = 0; i < list.size(); ++i)
            if (begins_block(list, i))
              {
                ++n_blocks;
                width += size(list[i].column);
              }
          sparsity.block_offset[K + 1] = n_blocks;
          sparsity.row_width[K]        = width;
          sparsity.value_offset[K + 1] = std::uint64_t(width) * size(K);
        });
      accumulate(sparsity.block_offset);
      accumulate(sparsity.value_offset);
      accumulate(n_entries);

      const std::uint64_t n_blocks = sparsity.block_offset[n_coarse];
      sparsity.block_column.resize(n_blocks);
      sparsity.column_offset.resize(n_blocks);
      coarse_row.resize(n_blocks);
      offset.resize(n_blocks + 1);
      offset[n_blocks] = n_entries[n_coarse];
      row.resize(n_entries[n_coarse]);
      block.resize(n_entries[n_coarse]);
      fine_blocks.for_rows(
        [&](const unsigned int K, const std::vector<Entry> &list) {
          std::uint64_t b     = sparsity.block_offset[K];
          unsigned int  width = 0;
          for (std::size_t i = 0; i < list.size(); ++i)
            {
              if (begins_block(list, i))
                {
                  sparsity.block_column[b]  = list[i].column;
                  sparsity.column_offset[b] = width;
                  coarse_row[b]             = K;
                  offset[b]                 = n_entries[K] + i;
                  width += size(list[i].column);
                  ++b;
                }
              row[n_entries[K] + i]   = list[i].row;
              block[n_entries[K] + i] = list[i].block;
            }
        });
    }



    void
    GalerkinStructure::keep_blocks(
      const BlockSparsity              &fine,
      const std::vector<std::uint64_t> &coarse_offset)
    {
      const unsigned int n  = fine.row_width.size();
      sparsity.block_offset = fine.block_offset;
      sparsity.block_column = fine.block_column;
      sparsity.column_offset.resize(fine.block_column.size());
      sparsity.row_width.resize(n);
      sparsity.value_offset.assign(n + 1, 0);
      const auto size = [&](const unsigned int k) {
        return static_cast<unsigned int>(coarse_offset[k + 1] -
                                         coarse_offset[k]);
      };
      parallel_for(n, 64, [&](const unsigned int k) {
        unsigned int width = 0;
        for (std::uint64_t b = fine.block_offset[k];
             b < fine.block_offset[k + 1];
             ++b)
          {
            sparsity.column_offset[b] = width;
            width += size(fine.block_column[b]);
          }
        sparsity.row_width[k]        = width;
        sparsity.value_offset[k + 1] = std::uint64_t(width) * size(k);
      });
      accumulate(sparsity.value_offset);
    }
  } // namespace internal
} // namespace Tessella
