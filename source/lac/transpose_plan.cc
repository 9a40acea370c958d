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

    namespace
    {
      // The block of the result and the block row of a contribution, as global
      // indices of their first rows: the order of summation.
      using Place = std::array<std::uint64_t, 2>;

      struct Contribution
      {
        Place        order;
        unsigned int row; ///< local block row
        /// Index of the block; for received contributions, their index among
        /// all contributions.
        std::uint64_t block;
        std::uint64_t n; ///< number of entries
      };

      void
      sort(std::vector<Contribution> &contributions)
      {
        std::sort(contributions.begin(),
                  contributions.end(),
                  [](const Contribution &a, const Contribution &b) {
                    return a.order < b.order;
                  });
      }

      // First global row of each block, ghosts included.
      std::vector<std::uint64_t>
      first_global_rows(const BlockMatrixBase &matrix)
      {
        const auto                &partition  = matrix.partition();
        const auto                &dof_offset = matrix.dof_offset();
        std::vector<std::uint64_t> rows(dof_offset.begin(),
                                        dof_offset.end() - 1);
        if (partition != nullptr)
          {
            const unsigned int n = matrix.block_sparsity().row_width.size();
            for (unsigned int k = 0; k < n; ++k)
              rows[k] += partition->first_row();
            partition->update_ghosts(rows);
          }
        return rows;
      }

      // Index of each ghost block's owner in the list of partners.
      std::vector<unsigned int>
      owners_of_ghosts(const std::vector<BlockPartition::Partner> &partners,
                       const std::size_t                           n_ghosts)
      {
        std::vector<unsigned int> owner(n_ghosts);
        for (unsigned int p = 0; p < partners.size(); ++p)
          std::fill(owner.begin() + partners[p].begin,
                    owner.begin() + partners[p].end,
                    p);
        return owner;
      }

      // Whether every partner has sent the contributions that this process
      // expects from it, and no other ones.
      bool
      are_expected(const std::map<unsigned int, std::vector<Place>> &heard,
                   const std::vector<BlockPartition::Partner>       &partners,
                   const std::vector<std::vector<Contribution>>     &received)
      {
        std::size_t n_heard = 0;
        for (const auto &message : heard)
          n_heard += message.second.size();
        for (std::size_t p = 0; p < partners.size(); ++p)
          {
            if (received[p].empty())
              continue;
            const auto message = heard.find(partners[p].rank);
            if (message == heard.end() ||
                !std::equal(message->second.begin(),
                            message->second.end(),
                            received[p].begin(),
                            received[p].end(),
                            [](const Place &place, const Contribution &own) {
                              return place == own.order;
                            }))
              return false;
            n_heard -= received[p].size();
          }
        return n_heard == 0;
      }
    } // namespace



    // Contributions that are exchanged with each partner.
    struct TransposePlan::Exchange
    {
      std::vector<std::vector<Contribution>> sent, received;
      /// Whether each own block has its transposed block on this process or on
      /// another one.
      bool symmetric = true;
    };



    TransposePlan::TransposePlan(const BlockMatrixBase &matrix,
                                 const bool             whole_blocks)
    {
      const auto    &partition    = matrix.partition();
      const MPI_Comm communicator = matrix.communicator();
      Exchange       exchange     = list_contributions(matrix, whole_blocks);
      sent_first.assign(1, 0);
      if (partition != nullptr)
        {
          const auto &partners = partition->receives();
          std::map<unsigned int, std::vector<Place>> told;
          for (std::size_t p = 0; p < partners.size(); ++p)
            {
              sort(exchange.sent[p]);
              for (const Contribution &own : exchange.sent[p])
                told[partners[p].rank].push_back(own.order);
              add_messages(partners[p].rank, p, exchange);
            }
          const auto heard   = Utilities::MPI::some_to_some(communicator, told);
          exchange.symmetric = exchange.symmetric &&
                               are_expected(heard, partners, exchange.received);
        }
      Tessella::on_all_processes(communicator, [&] {
        AssertThrow(exchange.symmetric,
                    ExcMessage("A product with the transpose needs a matrix "
                               "with a symmetric structure of blocks."));
      });
    }



    // Lists the contributions to own blocks, and those to send.
    TransposePlan::Exchange
    TransposePlan::list_contributions(const BlockMatrixBase &matrix,
                                      const bool             whole_blocks)
    {
      const BlockSparsity &sparsity   = matrix.block_sparsity();
      const auto          &dof_offset = matrix.dof_offset();
      const unsigned int   n          = sparsity.row_width.size();
      const auto           size       = [&](const unsigned int k) {
        return dof_offset[k + 1] - dof_offset[k];
      };
      const std::vector<std::uint64_t> global = first_global_rows(matrix);
      std::vector<unsigned int>        owner;
      Exchange                         exchange;
      if (matrix.partition() != nullptr)
        {
          const auto &partners = matrix.partition()->receives();
          owner = owners_of_ghosts(partners, dof_offset.size() - 1 - n);
          exchange.sent.resize(partners.size());
          exchange.received.resize(partners.size());
        }

      offset.assign(1, 0);
      row.reserve(sparsity.block_column.size());
      place.reserve(sparsity.block_column.size());
      std::vector<Contribution> list;
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
                  transposed = sparsity.find_block(l, k);
                  exchange.symmetric =
                    exchange.symmetric && transposed != BlockSparsity::no_block;
                }
              else
                exchange.sent[owner[l - n]].push_back(
                  {{{global[l], global[k]}},
                   k,
                   b,
                   whole_blocks ? size(k) * size(l) : size(l)});
              list.push_back({{{global[k], global[l]}},
                              l,
                              transposed,
                              whole_blocks ? size(k) * size(l) : size(k)});
            }
          sort(list);
          for (const Contribution &contribution : list)
            {
              const unsigned int l = contribution.row;
              if (l >= n)
                {
                  exchange.received[owner[l - n]].push_back(contribution);
                  exchange.received[owner[l - n]].back().block = row.size();
                }
              row.push_back(l);
              place.push_back(contribution.block);
            }
          offset.push_back(row.size());
        }
      return exchange;
    }



    // Appends the contributions that are exchanged with partner @p p, which has
    // the given rank, to the lists of entries that are sent and received.
    void
    TransposePlan::add_messages(const unsigned int rank,
                                const std::size_t  p,
                                const Exchange    &exchange)
    {
      const std::size_t first_sent     = sent_first.back(),
                        first_received = n_received;
      for (const Contribution &own : exchange.sent[p])
        {
          sent_row.push_back(own.row);
          sent_block.push_back(own.block);
          sent_first.push_back(sent_first.back() + own.n);
        }
      if (!exchange.sent[p].empty())
        sends.push_back({rank, first_sent, sent_first.back()});
      // They are sorted by block of the result, then by block row.
      for (const Contribution &other : exchange.received[p])
        {
          place[other.block] = n_received;
          n_received += other.n;
        }
      if (!exchange.received[p].empty())
        receives.push_back({rank, first_received, n_received});
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
