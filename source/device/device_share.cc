// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "device_share.h"

#include <deal.II/base/exceptions.h>

#include <tessella/device/cuda_device.h>
#include <tessella/device/device_memory.h>

#include <algorithm>
#include <boost/serialization/utility.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "../../cuda/device/device.h"
#include "../../cuda/device/device_share.h"
#include "../base/collective.h"
#include "device_call.h"

namespace Tessella
{
  namespace internal
  {
    namespace
    {
      // Rank of the first process on this machine, and number of processes on
      // it.
      std::pair<unsigned int, unsigned int>
      machine_of(const MPI_Comm communicator)
      {
#ifdef DEAL_II_WITH_MPI
        if (n_processes(communicator) > 1)
          {
            MPI_Comm node;
            MPI_Comm_split_type(
              communicator, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
            const std::pair<unsigned int, unsigned int> result(
              dealii::Utilities::MPI::min(this_process(communicator), node),
              n_processes(node));
            MPI_Comm_free(&node);
            return result;
          }
#endif
        return {0, 1};
      }
    } // namespace



    unsigned int
    n_processes_on_machine(const MPI_Comm communicator)
    {
      return machine_of(communicator).second;
    }



    std::vector<unsigned int>
    processes_on_device(const MPI_Comm communicator)
    {
      std::string identity;
      on_all_processes(communicator, [&]() {
        if (cuda_is_available())
          device_call([&]() { identity = Device::device_identity(); });
      });
      // The rank of the first process on the machine identifies the machine.
      const std::pair<unsigned int, std::string> own(
        machine_of(communicator).first, identity);
      std::vector<unsigned int> processes;
      const auto all = dealii::Utilities::MPI::all_gather(communicator, own);
      for (unsigned int rank = 0; rank < all.size(); ++rank)
        if (!identity.empty() && all[rank] == own)
          processes.push_back(rank);
      return processes;
    }



    std::size_t
    share_of_device_memory(const MPI_Comm                   communicator,
                           const std::vector<unsigned int> &processes,
                           const std::size_t                held)
    {
      std::pair<std::uint64_t, std::uint64_t> own(0, held); // free, held
      dealii::Utilities::MPI::max(0, communicator); // wait for all processes
      on_all_processes(communicator, [&]() {
        if (!processes.empty())
          device_call([&]() { own.first = Device::device_memory().free; });
      });
      const auto    all = dealii::Utilities::MPI::all_gather(communicator, own);
      std::uint64_t free = std::numeric_limits<std::uint64_t>::max(), taken = 0;
      for (const unsigned int rank : processes)
        {
          free = std::min(free, all[rank].first);
          taken += all[rank].second;
        }
      return processes.empty()
               ? 0
               : Device::memory_share(free + taken, processes.size());
    }
  } // namespace internal



  void
  check_device_memory(const MPI_Comm     communicator,
                      const double       bytes,
                      const std::size_t  limit,
                      const std::string &what,
                      const std::string &remedy)
  {
    const std::vector<unsigned int> processes =
      internal::processes_on_device(communicator);
    const std::size_t share =
      internal::share_of_device_memory(communicator, processes, 0);
    double available = std::numeric_limits<double>::infinity();
    if (limit > 0)
      available = limit;
    else if (!processes.empty())
      available = share;
    // Bytes needed and available on the process that lacks most.
    std::pair<double, double> worst(0., 0.);
    for (const auto &process :
         dealii::Utilities::MPI::all_gather(communicator,
                                            std::make_pair(bytes, available)))
      if (process.first - process.second > worst.first - worst.second)
        worst = process;
    AssertThrow(worst.first <= worst.second,
                dealii::ExcMessage(what + " needs at least " +
                                   std::to_string(std::uint64_t(worst.first)) +
                                   " bytes of memory on a CUDA device, but " +
                                   std::to_string(std::uint64_t(worst.second)) +
                                   " are available: " + remedy + "."));
  }
} // namespace Tessella
