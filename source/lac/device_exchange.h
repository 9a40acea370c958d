// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_lac_device_exchange_h
#define tessella_source_lac_device_exchange_h

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "../../cuda/device/peer_memory.h"
#include "../../cuda/lac/halo.h"
#include "../device/device_call.h"
#include "halo_messages.h"

namespace Tessella
{
  namespace internal
  {
    /// Whether a process may write to the device memory of another one, given
    /// their ranks in the communicator of an exchange. The answer must be the
    /// same on both. Null, the default: wherever the devices permit it, unless
    /// the environment variable TESSELLA_PEER_EXCHANGE has the value "off".
    using PeerChoice = bool (*)(const unsigned int, const unsigned int);
    extern PeerChoice peer_choice;

    bool
    may_write_to_peer(const unsigned int rank, const unsigned int other);



    /**
     * Exchange of entries of vectors in device memory with other processes:
     * call start(), start work that needs no ghosts, then call finish().
     *
     * If the device of the other process can be reached, that is, if it belongs
     * to the same machine and has peer access or is the same device, a kernel
     * writes the entries to their places there, and the default stream of the
     * receiver waits for an event of the sender. The host waits for a message
     * without contents only, which tells that the event has been recorded. For
     * other partners the entries pass through pinned memory of both hosts.
     *
     * Two arrays of ghosts are used in turn: before a process writes to an
     * array, its stream has waited for the event that the receiver recorded in
     * the last exchange, after all its kernels that read this array. Kernels
     * that read ghosts must therefore be in the default stream, every start()
     * needs its finish(), and the current device must stay the same.
     */
    template <typename Number>
    class DeviceExchange
    {
    public:
      /// @p to and @p from have, for each partner, its rank and the range from
      /// first_row to last_row in the lists of sent and received entries. Both
      /// processes of a pair must create and use their exchanges in the same
      /// order.
      template <typename Partner>
      DeviceExchange(const MPI_Comm                   communicator,
                     const std::vector<Partner>      &to,
                     const std::vector<Partner>      &from,
                     const std::vector<unsigned int> &entries,
                     const std::size_t                n_ghosts)
        : communicator(communicator)
        , n_ghosts(n_ghosts)
      {
        for (const Partner &partner : to)
          {
            Link &link    = link_of(partner.rank);
            link.to_begin = partner.first_row;
            link.to_end   = partner.last_row;
          }
        for (const Partner &partner : from)
          {
            Link &link      = link_of(partner.rank);
            link.from_begin = partner.first_row;
            link.from_end   = partner.last_row;
          }
        if (!links.empty())
          device_call([&] {
            halo = std::make_unique<Device::Halo<Number>>(entries, n_ghosts);
          });
      }

      void
      start(const Number *x)
      {
        if (links.empty())
          return;
        if (!connected)
          connect();
        if (n_direct > 0)
          {
            // A recording refuses the calls, which are then repeated.
            const unsigned int next = 1 - buffer;
            device_call([&] {
              for (const Link &link : links)
                if (link.peer[0] != nullptr)
                  halo->pack_to(link.to_begin,
                                link.to_end,
                                x,
                                reinterpret_cast<Number *>(
                                  link.peer[next]->data()));
              Device::record_for_peers();
            });
            buffer            = next;
            const auto signal = [](const Link &link) {
              return HaloMessages::Place{nullptr,
                                         link.peer[0] != nullptr
                                           ? std::size_t(0)
                                           : HaloMessages::none};
            };
            signals.start(communicator, links, signal, links, signal);
          }
        if (n_direct < links.size())
          device_call([&] { halo->pack(x); });
      }

      /// Received entries in device memory, valid until the next start().
      const Number *
      finish()
      {
        if (links.empty())
          return nullptr;
        Number *const received = n_direct > 0 ? ghosts(buffer) : nullptr;
        if (n_direct > 0)
          {
            signals.finish();
            device_call([&] {
              for (const Link &link : links)
                if (link.peer[0] != nullptr)
                  link.peer[0]->wait();
            });
            if (n_direct == links.size())
              return received;
          }
        return device_call([&]() -> const Number * {
          // The entries of the last exchange have left the buffers, too.
          halo->wait_for_packed();
          exchange_on_host();
          if (n_direct == 0)
            return halo->upload();
          for (const Link &link : links)
            if (link.peer[0] == nullptr)
              halo->upload(link.from_begin, link.from_end, received);
          return received;
        });
      }

      /// Number of partners whose device memory is written to, known after the
      /// first start(), and of all partners.
      unsigned int
      n_direct_partners() const
      {
        return n_direct;
      }
      unsigned int
      n_partners() const
      {
        return links.size();
      }

      /// Memory on the device in bytes.
      std::size_t
      memory_consumption() const
      {
        if (halo == nullptr)
          return 0;
        return device_call([&] { return halo->memory_consumption(); }) +
               (n_direct > 0 ? 2 * n_ghosts * sizeof(Number) : 0);
      }

    private:
      struct Link
      {
        unsigned int rank;
        std::size_t  to_begin = 0, to_end = 0, from_begin = 0, from_end = 0;
        Device::PeerOffer own[2], other[2];
        char              own_answer = 0, other_answer = 0;
        /// Places in the two arrays of the other process; null if the entries
        /// pass through the hosts.
        std::unique_ptr<Device::Peer> peer[2];
      };

      Link &
      link_of(const unsigned int rank)
      {
        for (Link &link : links)
          if (link.rank == rank)
            return link;
        links.emplace_back();
        links.back().rank = rank;
        return links.back();
      }

      Number *
      ghosts(const unsigned int b) const
      {
        return device_call([&] {
          return reinterpret_cast<Number *>(piece->data()) + b * n_ghosts;
        });
      }

      /// Offers memory to the partners and maps theirs. Errors of the device
      /// are not errors here, since the entries can pass through the hosts.
      void
      connect()
      {
        connected = true;
        try
          {
            device_call([&] {
              piece = std::make_unique<Device::PeerPiece>(2 * n_ghosts *
                                                          sizeof(Number));
              for (Link &link : links)
                for (unsigned int b = 0; b < 2; ++b)
                  link.own[b] = piece->offer((b * n_ghosts + link.from_begin) *
                                             sizeof(Number));
            });
          }
        catch (const dealii::ExceptionBase &)
          {
            piece.reset();
          }
        exchange_data([](Link &link) { return &link.own; },
                      [](Link &link) { return &link.other; });
        const unsigned int rank =
          dealii::Utilities::MPI::this_mpi_process(communicator);
        for (Link &link : links)
          if (may_write_to_peer(rank, link.rank) && piece != nullptr)
            try
              {
                device_call([&] {
                  for (unsigned int b = 0; b < 2; ++b)
                    link.peer[b] =
                      std::make_unique<Device::Peer>(link.other[b]);
                });
                link.own_answer = 1;
              }
            catch (const dealii::ExceptionBase &)
              {}
        exchange_data([](Link &link) { return &link.own_answer; },
                      [](Link &link) { return &link.other_answer; });
        for (Link &link : links)
          if (link.own_answer == 1 && link.other_answer == 1)
            ++n_direct;
          else
            link.peer[0].reset();
        if (n_direct == links.size())
          device_call([&] { halo->release_buffers(); });
        else if (n_direct == 0)
          piece.reset();
      }

      template <typename Send, typename Receive>
      void
      exchange_data(const Send &send, const Receive &receive)
      {
        HaloMessages messages;
        const auto   place = [](const auto &member) {
          return [&member](Link &link) {
            auto *const data = member(link);
            return HaloMessages::Place{data, sizeof(*data)};
          };
        };
        messages.start(communicator, links, place(send), links, place(receive));
        messages.finish();
      }

      void
      exchange_on_host()
      {
        HaloMessages messages;
        const auto   place = [](Number *buffer, const auto &range) {
          return [buffer, range](const Link &link) {
            const std::pair<std::size_t, std::size_t> r = range(link);
            return HaloMessages::Place{buffer + r.first,
                                       link.peer[0] != nullptr ||
                                           r.first == r.second
                                           ? HaloMessages::none
                                           : (r.second - r.first) *
                                             sizeof(Number)};
          };
        };
        messages.start(communicator,
                       links,
                       place(halo->send_buffer(),
                             [](const Link &link) {
                               return std::make_pair(link.to_begin,
                                                     link.to_end);
                             }),
                       links,
                       place(halo->receive_buffer(), [](const Link &link) {
                         return std::make_pair(link.from_begin, link.from_end);
                       }));
        messages.finish();
      }

      const MPI_Comm    communicator;
      const std::size_t n_ghosts;
      std::vector<Link> links;
      bool              connected = false;
      unsigned int      n_direct  = 0;
      /// The array that the last start() has used.
      unsigned int                          buffer = 0;
      std::unique_ptr<Device::Halo<Number>> halo;
      std::unique_ptr<Device::PeerPiece>    piece;
      HaloMessages                          signals;
    };
  } // namespace internal
} // namespace Tessella

#endif
