// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_lac_halo_messages_h
#define tessella_source_lac_halo_messages_h

#include <deal.II/base/mpi.h>

#include <tessella/lac/block_partition.h>

#include <cstddef>
#include <vector>

namespace Tessella
{
  namespace internal
  {
    /// The messages of one exchange between the processes of a partition.
    class HaloMessages
    {
    public:
      struct Place
      {
        void       *begin;
        std::size_t n_bytes;
      };

      /// Size for which no message is sent or received.
      static constexpr std::size_t none = ~std::size_t(0);

      /// @p send and @p receive return the buffer of the message to or from a
      /// partner.
      template <typename Send, typename Receive>
      void
      start(const BlockPartition &partition,
            const Send           &send,
            const Receive        &receive)
      {
        start(partition.communicator(),
              partition.sends(),
              send,
              partition.receives(),
              receive);
      }

      /// As above, for the partners @p to and @p from.
      template <typename Partners, typename Send, typename Receive>
      void
      start(const MPI_Comm communicator,
            Partners      &to,
            const Send    &send,
            Partners      &from,
            const Receive &receive)
      {
        // A single tag suffices: all processes start and finish their exchanges
        // in the same order, and messages between two processes keep theirs.
        constexpr int tag = 4715;
        requests.clear();
        requests.reserve(from.size() + to.size());
        const auto start_all =
          [&](auto &partners, const auto &place_of, const auto &start_message) {
            for (auto &partner : partners)
              {
                const Place place = place_of(partner);
                if (place.n_bytes == none)
                  continue;
                requests.emplace_back();
                const int ierr = start_message(place.begin,
                                               size(place),
                                               MPI_BYTE,
                                               partner.rank,
                                               tag,
                                               communicator,
                                               &requests.back());
                AssertThrowMPI(ierr);
              }
          };
        start_all(from, receive, MPI_Irecv);
        start_all(to, send, MPI_Isend);
      }

      void
      finish()
      {
        if (requests.empty())
          return;
        const int ierr =
          MPI_Waitall(requests.size(), requests.data(), MPI_STATUSES_IGNORE);
        AssertThrowMPI(ierr);
        requests.clear();
      }

    private:
      static int
      size(const Place &place)
      {
        AssertThrow(place.n_bytes < (std::size_t(1) << 31),
                    dealii::ExcMessage("A message between two processes has "
                                       "more than 2 GiB: use more processes."));
        return static_cast<int>(place.n_bytes);
      }

      std::vector<MPI_Request> requests;
    };



    /// Sends entries of @p send and receives entries of @p receive: those from
    /// first_row to last_row of each partner.
    template <typename Number, typename Partner>
    void
    start_messages(HaloMessages               &messages,
                   const MPI_Comm              communicator,
                   const std::vector<Partner> &to,
                   Number                     *send,
                   const std::vector<Partner> &from,
                   Number                     *receive)
    {
      const auto place = [](Number *begin) {
        return [begin](const Partner &partner) {
          return HaloMessages::Place{begin + partner.first_row,
                                     (partner.last_row - partner.first_row) *
                                       sizeof(Number)};
        };
      };
      messages.start(communicator, to, place(send), from, place(receive));
    }
  } // namespace internal
} // namespace Tessella

#endif
