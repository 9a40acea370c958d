// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_lac_halo_exchange_h
#define tessella_source_lac_halo_exchange_h

#include <tessella/lac/block_partition.h>

#include <memory>
#include <vector>

#include "device_exchange.h"
#include "halo_messages.h"
#include "host_blocks.h"

namespace Tessella
{
  namespace internal
  {
    /**
     * Exchange of entries of vectors in host memory with other processes: call
     * start(), do work that needs no ghosts, then call finish().
     */
    template <typename Number>
    class HostExchange
    {
    public:
      struct Partner
      {
        unsigned int rank;
        std::size_t  first_row, last_row;
      };

      /// As that of DeviceExchange.
      template <typename From>
      HostExchange(const MPI_Comm                   communicator,
                   const std::vector<From>         &to,
                   const std::vector<From>         &from,
                   const std::vector<unsigned int> &entries,
                   const std::size_t                n_ghosts)
        : communicator(communicator)
        , to(partners(to))
        , from(partners(from))
        , entries(entries)
      {
        send.resize(entries.size());
        receive.resize(n_ghosts);
      }

      void
      start(const Number *x)
      {
        for_entries(entries.size(), [&](const std::size_t i) {
          send.data()[i] = x[entries[i]];
        });
        start_messages(
          messages, communicator, to, send.data(), from, receive.data());
      }

      /// Received entries, valid until the next start().
      const Number *
      finish()
      {
        messages.finish();
        return receive.data();
      }

      std::size_t
      memory_consumption() const
      {
        return entries.size() * sizeof(unsigned int) +
               send.memory_consumption() + receive.memory_consumption();
      }

    private:
      template <typename From>
      static std::vector<Partner>
      partners(const std::vector<From> &given)
      {
        std::vector<Partner> result;
        for (const From &partner : given)
          result.push_back({partner.rank, partner.first_row, partner.last_row});
        return result;
      }

      const MPI_Comm                  communicator;
      const std::vector<Partner>      to, from;
      const std::vector<unsigned int> entries;
      HostArray<Number>               send, receive;
      HaloMessages                    messages;
    };



    /// Exchange of ghost entries of vectors in host memory.
    template <typename Number>
    class HostHalo : public HostExchange<Number>
    {
    public:
      explicit HostHalo(const std::shared_ptr<const BlockPartition> &partition)
        : HostExchange<Number>(partition->communicator(),
                               partition->sends(),
                               partition->receives(),
                               partition->send_rows(),
                               partition->n_ghost_rows())
      {}
    };



    /// Exchange of ghost entries of vectors in device memory.
    template <typename Number>
    class DeviceHalo : public DeviceExchange<Number>
    {
    public:
      explicit DeviceHalo(
        const std::shared_ptr<const BlockPartition> &partition)
        : DeviceExchange<Number>(partition->communicator(),
                                 partition->sends(),
                                 partition->receives(),
                                 partition->send_rows(),
                                 partition->n_ghost_rows())
      {}
    };
  } // namespace internal
} // namespace Tessella

#endif
