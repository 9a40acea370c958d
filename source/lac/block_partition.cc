// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <tessella/base/exceptions.h>
#include <tessella/lac/block_partition.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <map>
#include <string>

#include "../base/collective.h"
#include "halo_exchange.h"

namespace Tessella
{
  using namespace dealii;

  namespace internal
  {
    PeerChoice peer_choice = nullptr;



    bool
    may_write_to_peer(const unsigned int rank, const unsigned int other)
    {
      if (peer_choice != nullptr)
        return peer_choice(rank, other);
      const char *const given = std::getenv("TESSELLA_PEER_EXCHANGE");
      const std::string value = given == nullptr ? "on" : given;
      AssertThrow(value == "on" || value == "off",
                  ExcUserInput("The environment variable "
                               "TESSELLA_PEER_EXCHANGE is \"" +
                               value + "\": it must be on or off."));
      return value == "on";
    }
  } // namespace internal



  BlockPartition::BlockPartition(
    const MPI_Comm                    communicator,
    const std::vector<std::uint64_t> &dof_offset,
    const unsigned int                n_owned_blocks,
    const std::vector<std::uint64_t> &first_ghost_row)
    : comm(communicator)
    , n_owned_blocks(n_owned_blocks)
    , n_owned(0)
    , n_ghosts(0)
    , first(0)
    , n_all(0)
    , first_of_ghost(first_ghost_row)
    , sizes{std::numeric_limits<std::uint64_t>::max(), 0, 0}
  {
    Tessella::on_all_processes(comm, [&] {
      AssertThrow(dof_offset.size() ==
                    std::size_t(n_owned_blocks) + first_ghost_row.size() + 1,
                  ExcDimensionMismatch(dof_offset.size(),
                                       std::size_t(n_owned_blocks) +
                                         first_ghost_row.size() + 1));
      AssertThrow(dof_offset.back() < std::numeric_limits<unsigned int>::max(),
                  ExcMessage("A process can have at most 2^32 - 2 rows of a "
                             "block matrix, ghosts included."));
    });
    n_owned  = dof_offset[n_owned_blocks];
    n_ghosts = dof_offset.back() - n_owned;
    collect_sizes(dof_offset);
    if (n_processes() > 1)
      list_sends(dof_offset,
                 Utilities::MPI::some_to_some(comm, list_receives(dof_offset)));
  }



  // First rows of all processes, and extrema of the sizes of their blocks.
  void
  BlockPartition::collect_sizes(const std::vector<std::uint64_t> &dof_offset)
  {
    for (unsigned int k = 0; k < n_owned_blocks; ++k)
      {
        const std::uint64_t size = dof_offset[k + 1] - dof_offset[k];
        sizes.smallest           = std::min(sizes.smallest, size);
        sizes.largest            = std::max(sizes.largest, size);
        sizes.bits |= size;
      }
    const unsigned int n = internal::n_processes(comm);
    first_of_rank.assign(n + 1, 0);
    if (n == 1)
      {
        AssertThrow(first_of_ghost.empty(),
                    ExcMessage("A single process has no ghosts."));
        n_all = first_of_rank[1] = n_owned;
        return;
      }
    const std::array<std::uint64_t, 4> own = {
      {n_owned, sizes.smallest, sizes.largest, sizes.bits}};
    std::vector<std::array<std::uint64_t, 4>> of_all(n);
    const int                                 ierr = MPI_Allgather(own.data(),
                                   own.size(),
                                   MPI_UINT64_T,
                                   of_all.data(),
                                   own.size(),
                                   MPI_UINT64_T,
                                   comm);
    AssertThrowMPI(ierr);
    for (unsigned int r = 0; r < n; ++r)
      {
        first_of_rank[r + 1] = first_of_rank[r] + of_all[r][0];
        sizes.smallest       = std::min(sizes.smallest, of_all[r][1]);
        sizes.largest        = std::max(sizes.largest, of_all[r][2]);
        sizes.bits |= of_all[r][3];
      }
    first = first_of_rank[internal::this_process(comm)];
    n_all = first_of_rank[n];
  }



  // Lists the partners that own the ghosts, and returns the first rows of the
  // blocks that each of them has to send.
  std::map<unsigned int, std::vector<std::uint64_t>>
  BlockPartition::list_receives(const std::vector<std::uint64_t> &dof_offset)
  {
    std::map<unsigned int, std::vector<std::uint64_t>> wanted;
    Tessella::on_all_processes(comm, [&] {
      for (std::size_t g = 0; g < first_of_ghost.size(); ++g)
        {
          const std::uint64_t row = first_of_ghost[g];
          AssertThrow(row < n_all && (row < first || row >= first + n_owned),
                      ExcMessage("A ghost block begins at row " +
                                 std::to_string(row) +
                                 ", which is not one of another process."));
          const unsigned int owner =
            std::upper_bound(first_of_rank.begin(), first_of_rank.end(), row) -
            first_of_rank.begin() - 1;
          if (from.empty() || from.back().rank != owner)
            {
              AssertThrow(wanted.find(owner) == wanted.end(),
                          ExcMessage("Ghost blocks must be grouped by the "
                                     "process that owns them."));
              const std::size_t begin =
                dof_offset[n_owned_blocks + g] - n_owned;
              from.push_back({owner, g, g, begin, begin});
            }
          from.back().end      = g + 1;
          from.back().last_row = dof_offset[n_owned_blocks + g + 1] - n_owned;
          wanted[owner].push_back(row);
        }
    });
    return wanted;
  }



  // Lists the blocks and rows to send; @p requests has the first rows of the
  // blocks that each partner wants.
  void
  BlockPartition::list_sends(
    const std::vector<std::uint64_t>                         &dof_offset,
    const std::map<unsigned int, std::vector<std::uint64_t>> &requests)
  {
    Tessella::on_all_processes(comm, [&] {
      for (const auto &request : requests)
        {
          to.push_back({request.first,
                        sent_blocks.size(),
                        sent_blocks.size(),
                        sent_rows.size(),
                        sent_rows.size()});
          for (const std::uint64_t row : request.second)
            {
              const auto position =
                std::lower_bound(dof_offset.begin(),
                                 dof_offset.begin() + n_owned_blocks,
                                 row - first);
              AssertThrow(position != dof_offset.begin() + n_owned_blocks &&
                            *position == row - first,
                          ExcMessage("No block begins at row " +
                                     std::to_string(row) +
                                     ", where another process has a ghost."));
              // A block without rows begins where the next block does.
              auto block = position;
              while (block[1] == *block)
                ++block;
              sent_blocks.push_back(block - dof_offset.begin());
              for (std::uint64_t i = block[0]; i < block[1]; ++i)
                sent_rows.push_back(static_cast<unsigned int>(i));
            }
          to.back().end      = sent_blocks.size();
          to.back().last_row = sent_rows.size();
        }
    });
  }



  template <typename T>
  void
  BlockPartition::update_ghosts(std::vector<T>    &values,
                                const unsigned int n) const
  {
    AssertDimension(values.size() % n, 0);
    std::vector<T> sent;
    sent.reserve(sent_blocks.size() * n);
    for (const unsigned int k : sent_blocks)
      sent.insert(sent.end(),
                  values.begin() + std::size_t(k) * n,
                  values.begin() + (std::size_t(k) + 1) * n);
    internal::HaloMessages messages;
    messages.start(
      *this,
      [&](const Partner &partner) {
        return internal::HaloMessages::Place{sent.data() + partner.begin * n,
                                             (partner.end - partner.begin) * n *
                                               sizeof(T)};
      },
      [&](const Partner &partner) {
        return internal::HaloMessages::Place{
          values.data() + (n_owned_blocks + partner.begin) * n,
          (partner.end - partner.begin) * n * sizeof(T)};
      });
    messages.finish();
  }



  double
  BlockPartition::sum(const double value) const
  {
    return internal::ordered_sum(comm, value);
  }



  double
  BlockPartition::max(const double value) const
  {
    return n_processes() == 1 ? value : Utilities::MPI::max(value, comm);
  }



  std::size_t
  BlockPartition::memory_consumption() const
  {
    return (first_of_rank.capacity() + first_of_ghost.capacity()) *
             sizeof(std::uint64_t) +
           (to.capacity() + from.capacity()) * sizeof(Partner) +
           (sent_blocks.capacity() + sent_rows.capacity()) *
             sizeof(unsigned int);
  }



  template void
  BlockPartition::update_ghosts(std::vector<double> &,
                                const unsigned int) const;
  template void
  BlockPartition::update_ghosts(std::vector<unsigned int> &,
                                const unsigned int) const;
  template void
  BlockPartition::update_ghosts(std::vector<std::uint64_t> &,
                                const unsigned int) const;
} // namespace Tessella
