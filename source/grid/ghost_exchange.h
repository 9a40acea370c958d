// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_grid_ghost_exchange_h
#define tessella_source_grid_ghost_exchange_h

#include <deal.II/base/mpi.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <type_traits>
#include <vector>

#include "../base/collective.h"

namespace Tessella
{
  namespace internal
  {
    /// Sum of a number over all processes of lower rank. Collective.
    inline std::uint64_t
    sum_of_lower_processes(const std::uint64_t number,
                           const MPI_Comm      communicator)
    {
      std::uint64_t sum = 0;
#ifdef DEAL_II_WITH_MPI
      MPI_Exscan(&number, &sum, 1, MPI_UINT64_T, MPI_SUM, communicator);
      if (this_process(communicator) == 0)
        sum = 0;
#else
      (void)number;
      (void)communicator;
#endif
      return sum;
    }
  } // namespace internal

  /**
   * Exchange of values between the owners of polytopes and the processes that
   * have them as ghosts. Both processes have their lists in the same order, so
   * that messages contain values only.
   */
  struct GhostExchange
  {
    struct Partner
    {
      unsigned int rank;
      /// Own polytopes that are ghosts on the partner, and ghosts here that the
      /// partner owns; both in the order of their first cells.
      std::vector<unsigned int> own, ghosts;
      /// Sides of facets, 2 * facet + side, where an own polytope meets a ghost
      /// of the partner: the own side and the other side, in the same order.
      std::vector<std::size_t> own_sides, ghost_sides;
    };

    MPI_Comm             communicator = MPI_COMM_SELF;
    std::vector<Partner> partners; ///< sorted by rank

    /// Sends values[@p n * entry ...] of the entries in the own list of each
    /// partner and overwrites the values of the entries in the ghost list by
    /// those received. The lists are those of facet sides if @p facet_sides is
    /// true, and of polytopes otherwise.
    template <typename T>
    void
    operator()(std::vector<T>    &values,
               const unsigned int n,
               const bool         facet_sides) const
    {
      static_assert(std::is_trivially_copyable<T>::value, "plain values");
      std::vector<std::vector<char>> send(partners.size()),
        receive(partners.size());
      const std::size_t size = n * sizeof(T);
      const auto        for_each =
        [&](const Partner &partner, const bool own, const auto &function) {
          std::size_t i = 0;
          if (facet_sides)
            for (const std::size_t e :
                 own ? partner.own_sides : partner.ghost_sides)
              function(e, i++);
          else
            for (const unsigned int e : own ? partner.own : partner.ghosts)
              function(e, i++);
          return i;
        };
      for (unsigned int p = 0; p < partners.size(); ++p)
        {
          const Partner &partner = partners[p];
          send[p].resize(size * (facet_sides ? partner.own_sides.size()
                                             : partner.own.size()));
          receive[p].resize(size * (facet_sides ? partner.ghost_sides.size()
                                                : partner.ghosts.size()));
          for_each(
            partner, true, [&](const std::size_t e, const std::size_t i) {
              std::memcpy(send[p].data() + size * i, &values[n * e], size);
            });
        }
      communicate(send, receive);
      for (unsigned int p = 0; p < partners.size(); ++p)
        for_each(
          partners[p], false, [&](const std::size_t e, const std::size_t i) {
            std::memcpy(&values[n * e], receive[p].data() + size * i, size);
          });
    }

    /// Sends send[p] to partner p and receives receive[p].size() bytes from it.
    void
    communicate(const std::vector<std::vector<char>> &send,
                std::vector<std::vector<char>>       &receive) const;
  };
} // namespace Tessella

#endif
