// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_grid_ghost_exchange_h
#define tessella_source_grid_ghost_exchange_h

#include <deal.II/base/mpi.h>

#include <tessella/base/exceptions.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
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
    /// Entries of arrays that are sent to a process, and those that it
    /// overwrites.
    struct Entries
    {
      std::vector<std::size_t> own, ghosts;
    };

    struct Partner
    {
      unsigned int rank;
      /// Own polytopes that are ghosts on the partner, and ghosts here that the
      /// partner owns; both in the order of their first cells.
      Entries polytopes;
      /// Sides of facets, 2 * facet + side, where an own polytope meets a ghost
      /// of the partner: the own side and the other side, in the same order.
      Entries facet_sides;
    };

    MPI_Comm             communicator = MPI_COMM_SELF;
    std::vector<Partner> partners; ///< sorted by rank

    /// Sends values[@p n * entry ...] of the own entries in the list of each
    /// partner and overwrites the values of the ghost entries by those
    /// received.
    template <typename T>
    void
    operator()(std::vector<T>    &values,
               const unsigned int n,
               Entries Partner::*list = &Partner::polytopes) const
    {
      std::vector<std::vector<T>> send(partners.size()),
        receive(partners.size());
      for (unsigned int p = 0; p < partners.size(); ++p)
        {
          const Entries &entries = partners[p].*list;
          send[p].reserve(n * entries.own.size());
          for (const std::size_t e : entries.own)
            send[p].insert(send[p].end(),
                           values.begin() + n * e,
                           values.begin() + n * (e + 1));
          receive[p].resize(n * entries.ghosts.size());
        }
      communicate(send, receive);
      for (unsigned int p = 0; p < partners.size(); ++p)
        {
          auto next = receive[p].cbegin();
          for (const std::size_t e : (partners[p].*list).ghosts)
            {
              std::copy_n(next, n, values.begin() + n * e);
              next += n;
            }
        }
    }

    /// Sends send[p] to partner p and receives as many values as receive[p] has
    /// from it.
    template <typename T>
    void
    communicate(const std::vector<std::vector<T>> &send,
                std::vector<std::vector<T>>       &receive) const
    {
      static_assert(std::is_trivially_copyable<T>::value, "plain values");
#ifdef DEAL_II_WITH_MPI
      // Messages between a pair of processes arrive in the order in which they
      // were sent, so that a single tag suffices.
      constexpr int            tag  = 5417;
      const std::size_t        most = std::numeric_limits<int>::max();
      std::vector<MPI_Request> requests(2 * partners.size());
      for (unsigned int p = 0; p < partners.size(); ++p)
        {
          const std::size_t n_send    = sizeof(T) * send[p].size(),
                            n_receive = sizeof(T) * receive[p].size();
          AssertThrow(n_send <= most && n_receive <= most,
                      ExcUserInput("Processes have more than 2 GB to exchange "
                                   "with each other: use more processes."));
          MPI_Irecv(receive[p].data(),
                    static_cast<int>(n_receive),
                    MPI_BYTE,
                    static_cast<int>(partners[p].rank),
                    tag,
                    communicator,
                    &requests[2 * p]);
          MPI_Isend(const_cast<T *>(send[p].data()),
                    static_cast<int>(n_send),
                    MPI_BYTE,
                    static_cast<int>(partners[p].rank),
                    tag,
                    communicator,
                    &requests[2 * p + 1]);
        }
      MPI_Waitall(static_cast<int>(requests.size()),
                  requests.data(),
                  MPI_STATUSES_IGNORE);
#else
      (void)send;
      (void)receive;
#endif
    }
  };
} // namespace Tessella

#endif
