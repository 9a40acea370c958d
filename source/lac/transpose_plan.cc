// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "transpose_plan.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/base/mpi.h>

#include <algorithm>
#include <array>
#include <map>

#include "../base/collective.h"

namespace Tessella
{
  namespace internal
  {
    using namespace dealii;

    TransposePlan::TransposePlan(const BlockMatrixBase &matrix)
    {
      const BlockSparsity              &sparsity   = matrix.block_sparsity();
      const std::vector<std::uint64_t> &dof_offset = matrix.dof_offset();
      const auto                       &partition  = matrix.partition();
      const unsigned int                n          = sparsity.row_width.size(),
                         n_all                     = dof_offset.size() - 1;
      const MPI_Comm communicator =
        partition == nullptr ? MPI_COMM_SELF : partition->communicator();
      const auto size = [&](const unsigned int k) {
        return dof_offset[k + 1] - dof_offset[k];
      };

      // First global row of each block, which determines the order of
      // summation.
      std::vector<std::uint64_t> global(dof_offset.begin(),
                                        dof_offset.end() - 1);
      // Index of each ghost block's owner in the list of partners.
      std::vector<unsigned int> owner(n_all - n);
      if (partition != nullptr)
        {
          for (unsigned int k = 0; k < n; ++k)
            global[k] += partition->first_row();
          partition->update_ghosts(global);
          for (unsigned int p = 0; p < partition->receives().size(); ++p)
            for (std::size_t g = partition->receives()[p].begin;
                 g < partition->receives()[p].end;
                 ++g)
              owner[g] = p;
        }

      // ---- contributions to own blocks, and contributions to send
      using Pair = std::array<std::uint64_t, 2>;
      struct Entry
      {
        Pair         order; ///< global block of the result, global block row
        unsigned int row;   ///< local block row
        std::uint64_t
          block; ///< sent: index of the block; received: contribution
        std::uint64_t n;
      };
      const std::size_t n_partners =
        partition == nullptr ? 0 : partition->receives().size();
      std::vector<std::vector<Entry>> sent(n_partners), received(n_partners);
      bool                            symmetric = true;
      std::vector<Entry>              list;
      offset.assign(1, 0);
      row.reserve(sparsity.block_column.size());
      place.reserve(sparsity.block_column.size());
      for (unsigned int k = 0; k < n; ++k)
        {
          list.clear();
          for (std::uint64_t b = sparsity.block_offset[k];
               b < sparsity.block_offset[k + 1];
               ++b)
            {
              const unsigned int l = sparsity.block_column[b];
              // Empty blocks have no defined position in the order.
              if (size(k) == 0 || size(l) == 0)
                continue;
              std::uint64_t transposed = 0;
              if (l < n)
                {
                  const auto begin = sparsity.block_column.begin() +
                                     sparsity.block_offset[l],
                             end = sparsity.block_column.begin() +
                                   sparsity.block_offset[l + 1],
                             found = std::lower_bound(begin, end, k);
                  if (found == end || *found != k)
                    symmetric = false;
                  transposed = found - sparsity.block_column.begin();
                }
              else
                sent[owner[l - n]].push_back(
                  {{{global[l], global[k]}}, k, b, size(l)});
              list.push_back(
                {{{global[k], global[l]}}, l, transposed, size(k)});
            }
          std::sort(list.begin(),
                    list.end(),
                    [](const Entry &a, const Entry &b) {
                      return a.order < b.order;
                    });
          for (const Entry &entry : list)
            {
              if (entry.row >= n)
                {
                  received[owner[entry.row - n]].push_back(entry);
                  received[owner[entry.row - n]].back().block = row.size();
                }
              row.push_back(entry.row);
              place.push_back(entry.block);
            }
          offset.push_back(row.size());
        }

      // ---- messages, and a check that both sides have the same blocks
      std::map<unsigned int, std::vector<Pair>> told;
      sent_first.assign(1, 0);
      for (std::size_t p = 0; p < n_partners; ++p)
        {
          const unsigned int rank  = partition->receives()[p].rank;
          const auto         first = sent_first.back();
          std::sort(sent[p].begin(),
                    sent[p].end(),
                    [](const Entry &a, const Entry &b) {
                      return a.order < b.order;
                    });
          for (const Entry &entry : sent[p])
            {
              told[rank].push_back(entry.order);
              sent_row.push_back(entry.row);
              sent_block.push_back(entry.block);
              sent_first.push_back(sent_first.back() + entry.n);
            }
          if (!sent[p].empty())
            sends.push_back({rank, first, sent_first.back()});
          const std::size_t begin = n_received;
          // Sorted by block of the result, then by block row.
          for (const Entry &entry : received[p])
            {
              place[entry.block] = n_received;
              n_received += entry.n;
            }
          if (!received[p].empty())
            receives.push_back({rank, begin, n_received});
        }
      if (partition != nullptr)
        {
          const auto  heard = Utilities::MPI::some_to_some(communicator, told);
          std::size_t n_heard = 0;
          for (const auto &message : heard)
            n_heard += message.second.size();
          for (std::size_t p = 0; p < n_partners; ++p)
            {
              const auto message = heard.find(partition->receives()[p].rank);
              symmetric =
                symmetric && (received[p].empty() ||
                              (message != heard.end() &&
                               message->second.size() == received[p].size()));
              if (!symmetric)
                break;
              n_heard -= received[p].size();
              for (std::size_t i = 0; i < received[p].size(); ++i)
                symmetric =
                  symmetric && message->second[i] == received[p][i].order;
            }
          symmetric = symmetric && n_heard == 0;
        }
      Tessella::on_all_processes(communicator, [&] {
        AssertThrow(symmetric,
                    ExcMessage("A product with the transpose needs a matrix "
                               "with a symmetric structure of blocks."));
      });
    }



    std::size_t
    TransposePlan::memory_consumption() const
    {
      return (offset.capacity() + place.capacity() + sent_block.capacity() +
              sent_first.capacity()) *
               sizeof(std::uint64_t) +
             (row.capacity() + sent_row.capacity()) * sizeof(unsigned int) +
             (sends.capacity() + receives.capacity()) * sizeof(Partner);
    }
  } // namespace internal
} // namespace Tessella
