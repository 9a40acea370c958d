// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_lac_halo_exchange_h
#define tessella_source_lac_halo_exchange_h

#include <deal.II/base/mpi.h>

#include <tessella/lac/block_partition.h>

#include <memory>
#include <vector>

#include "../../cuda/lac/halo.h"
#include "../device/device_call.h"
#include "host_blocks.h"

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
      template <typename Partner, typename Send, typename Receive>
      void
      start(const MPI_Comm              communicator,
            const std::vector<Partner> &to,
            const Send                 &send,
            const std::vector<Partner> &from,
            const Receive              &receive)
      {
        // A single tag suffices: only one exchange at a time runs on a
        // communicator, and exchanges have the same order on all processes.
        constexpr int tag = 4715;
        requests.clear();
        requests.reserve(from.size() + to.size());
        const auto start_all = [&](const auto &partners,
                                   const auto &place_of,
                                   const auto &start_message) {
          for (const auto &partner : partners)
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

    /// As above, with send_rows() and the ghost rows as the order of the
    /// entries.
    template <typename Number>
    void
    start_messages(HaloMessages         &messages,
                   const BlockPartition &partition,
                   Number               *send,
                   Number               *receive)
    {
      start_messages(messages,
                     partition.communicator(),
                     partition.sends(),
                     send,
                     partition.receives(),
                     receive);
    }



    /**
     * Exchange of ghost entries of vectors in host memory: call start() with
     * the owned entries of a vector, do work that needs no ghosts, then call
     * finish().
     */
    template <typename Number>
    class HostHalo
    {
    public:
      explicit HostHalo(const std::shared_ptr<const BlockPartition> &partition)
        : partition(partition)
      {
        send.resize(partition->send_rows().size());
        receive.resize(partition->n_ghost_rows());
      }

      void
      start(const Number *x)
      {
        const std::vector<unsigned int> &rows = partition->send_rows();
        for_entries(rows.size(),
                    [&](const std::size_t i) { send.data()[i] = x[rows[i]]; });
        start_messages(messages, *partition, send.data(), receive.data());
      }

      /// Entries of the ghost rows, valid until the next start().
      const Number *
      finish()
      {
        messages.finish();
        return receive.data();
      }

      std::size_t
      memory_consumption() const
      {
        return send.memory_consumption() + receive.memory_consumption();
      }

    private:
      std::shared_ptr<const BlockPartition> partition;
      HostArray<Number>                     send, receive;
      HaloMessages                          messages;
    };



    /// Exchange of ghost entries of vectors in device memory, through pinned
    /// host memory.
    template <typename Number>
    class DeviceHalo
    {
    public:
      explicit DeviceHalo(
        const std::shared_ptr<const BlockPartition> &partition)
        : partition(partition)
      {
        device_call([&] {
          halo =
            std::make_unique<Device::Halo<Number>>(partition->send_rows(),
                                                   partition->n_ghost_rows());
        });
      }

      void
      start(const Number *x)
      {
        device_call([&] { halo->pack(x); });
      }

      const Number *
      finish()
      {
        return device_call([&] {
          halo->wait_for_packed();
          HaloMessages messages;
          start_messages(messages,
                         *partition,
                         halo->send_buffer(),
                         halo->receive_buffer());
          messages.finish();
          return halo->upload();
        });
      }

      std::size_t
      memory_consumption() const
      {
        return device_call([&] { return halo->memory_consumption(); });
      }

    private:
      std::shared_ptr<const BlockPartition> partition;
      std::unique_ptr<Device::Halo<Number>> halo;
    };
  } // namespace internal
} // namespace Tessella

#endif
