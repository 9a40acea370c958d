// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_lac_step_halo_h
#define tessella_source_lac_step_halo_h

#include <tessella/base/on_all_processes.h>
#include <tessella/lac/block_partition.h>

#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "block_space.h"
#include "sweep_plan.h"

namespace Tessella
{
  namespace internal
  {
    /**
     * Exchange of ghost entries between the steps of a sweep: of each step only
     * the entries that it has changed are sent, so that a sweep sends every
     * entry once in each direction. Entries of ghosts have the order of the
     * steps, which renumber() gives to a SweepPlan.
     */
    template <typename MatrixType>
    class StepHalo
    {
    public:
      using Number    = typename MatrixType::value_type;
      using SpaceType = Space<MatrixType>;

      /// @p step has the step of each block row of @p matrix, those of ghosts
      /// included. Collective.
      StepHalo(const MatrixType                &matrix,
               const std::vector<unsigned int> &step,
               const unsigned int               n_steps)
        : communicator(matrix.communicator())
        , n_owned_rows(matrix.n_owned_rows())
        , place(matrix.partition()->n_ghost_rows())
        , steps(n_steps)
      {
        const BlockPartition             &partition = *matrix.partition();
        const std::vector<std::uint64_t> &offset    = matrix.dof_offset();
        const unsigned int n_owned = offset.size() - 1 - n_ghosts(partition);
        on_all_processes(communicator, [&]() {
          std::size_t next = 0;
          for (unsigned int s = 0; s < n_steps; ++s)
            {
              Step                &present = steps[s];
              std::vector<Partner> to, from;
              present.first = next;
              for (const BlockPartition::Partner &partner :
                   partition.receives())
                {
                  const std::size_t before = next;
                  for (std::size_t g = partner.begin; g < partner.end; ++g)
                    if (step[n_owned + g] == s)
                      for (std::uint64_t i = offset[n_owned + g];
                           i < offset[n_owned + g + 1];
                           ++i)
                        place[i - n_owned_rows] = next++;
                  add_partner(partner.rank,
                              before - present.first,
                              next - present.first,
                              from);
                }
              std::vector<unsigned int> entries;
              for (const BlockPartition::Partner &partner : partition.sends())
                {
                  const std::size_t before = entries.size();
                  for (std::size_t b = partner.begin; b < partner.end; ++b)
                    {
                      const unsigned int k = partition.send_blocks()[b];
                      if (step[k] == s)
                        for (std::uint64_t i = offset[k]; i < offset[k + 1];
                             ++i)
                          entries.push_back(i);
                    }
                  add_partner(partner.rank, before, entries.size(), to);
                }
              present.n_ghosts = next - present.first;
              present.transfer = std::make_unique<Transfer>(
                communicator, to, from, entries, present.n_ghosts);
            }
          AssertThrow(next == place.size(), dealii::ExcInternalError());
          entries_of_ghosts.resize(place.size());
        });
      }

      /// Lets the blocks of @p plan in columns of ghosts read their entries
      /// from the array ghosts().
      void
      renumber(SweepPlan &plan) const
      {
        for (SweepBlock &block : plan.blocks)
          if (block.first >= n_owned_rows)
            block.first = n_owned_rows + place[block.first - n_owned_rows];
      }

      /// Sends the entries of @p x in the block rows of step @p s and receives
      /// those of ghosts.
      void
      exchange(const unsigned int s, const Number *x)
      {
        Step &present = steps[s];
        present.transfer->start(x);
        const Number *const received = present.transfer->finish();
        if (present.n_ghosts > 0)
          SpaceType::template convert<Number>(present.n_ghosts,
                                              received,
                                              entries_of_ghosts.data() +
                                                present.first);
      }

      /// Entries of ghosts as the last exchange of their steps left them.
      const Number *
      ghosts() const
      {
        return entries_of_ghosts.data();
      }

    private:
      using Partner = typename HostExchange<Number>::Partner;

      using Transfer = std::conditional_t<
        std::is_same<MatrixType, HostBlockMatrix<Number>>::value,
        HostExchange<Number>,
        DeviceExchange<Number>>;

      struct Step
      {
        /// First of its entries of ghosts, and their number.
        std::size_t               first = 0, n_ghosts = 0;
        std::unique_ptr<Transfer> transfer;
      };

      static std::size_t
      n_ghosts(const BlockPartition &partition)
      {
        return partition.first_ghost_rows().size();
      }

      static void
      add_partner(const unsigned int    rank,
                  const std::size_t     begin,
                  const std::size_t     end,
                  std::vector<Partner> &partners)
      {
        if (end > begin)
          partners.push_back({rank, begin, end});
      }

      const MPI_Comm      communicator;
      const std::uint64_t n_owned_rows;
      /// Position of each row of a ghost.
      std::vector<std::uint64_t> place;
      std::vector<Step>          steps;

      typename SpaceType::template Array<Number> entries_of_ghosts;
    };
  } // namespace internal
} // namespace Tessella

#endif
