// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <tessella/base/config.h>
#include <tessella/device/device_graph.h>

#include <cstring>

#include "device_call.h"

#ifdef TESSELLA_HAVE_CUDA
#  include "../../cuda/device/graph.h"
#endif

namespace Tessella
{
  struct DeviceGraph::Implementation
  {
    explicit Implementation(const bool enabled)
      : enabled(enabled)
    {
#ifndef TESSELLA_HAVE_CUDA
      report.why = "this build has no CUDA backend";
#endif
      if (!enabled)
        report.why = "CUDA graphs are switched off";
    }

    const bool        enabled;
    DeviceGraphReport report;

    void
    call(const std::function<void()> &work)
    {
      ++report.n_direct;
      work();
    }

#ifdef TESSELLA_HAVE_CUDA
    Key                     key;
    bool                    was_called = false, failed = false;
    internal::Device::Graph graph;

    void
    clear()
    {
      graph.clear();
      was_called = failed = false;
      report.n_operations = 0;
      if (enabled)
        report.why.clear();
    }

    // Records and starts the graph, or calls the work if that fails.
    void
    record(const std::function<void()> &work)
    {
      const std::string reason =
        internal::device_call([&] { return graph.record(work); });
      failed = !reason.empty();
      if (failed)
        {
          report.why = "the work contains " + reason;
          call(work);
          return;
        }
      ++report.n_recorded;
      report.n_operations = graph.n_operations();
      internal::device_call([&] { graph.launch(); });
    }

    void
    run(const Key &new_key, const std::function<void()> &work)
    {
      if (new_key != key)
        {
          clear();
          key = new_key;
        }
      if (was_called && !graph.empty())
        {
          internal::device_call([&] { graph.launch(); });
          ++report.n_replayed;
        }
      else if (was_called && !failed)
        record(work);
      else
        call(work);
      was_called = true;
    }
#endif
  };



  DeviceGraph::DeviceGraph(const bool enabled)
    : implementation(std::make_unique<Implementation>(enabled))
  {}



  DeviceGraph::~DeviceGraph() = default;



  void
  DeviceGraph::run(const Key &key, const std::function<void()> &work)
  {
#ifdef TESSELLA_HAVE_CUDA
    static const bool available = internal::Device::n_devices() > 0;
    if (implementation->enabled && available &&
        !internal::Device::is_recording())
      {
        Key extended = key;
        extended.push_back(internal::Device::current_device());
        try
          {
            implementation->run(extended, work);
          }
        catch (...)
          {
            implementation->clear();
            throw;
          }
        return;
      }
#else
    (void)key;
#endif
    implementation->call(work);
  }



  void
  DeviceGraph::clear()
  {
#ifdef TESSELLA_HAVE_CUDA
    implementation->clear();
#endif
  }



  const DeviceGraphReport &
  DeviceGraph::report() const
  {
    return implementation->report;
  }



  std::uint64_t
  DeviceGraph::address(const void *pointer)
  {
    return reinterpret_cast<std::uintptr_t>(pointer);
  }



  std::uint64_t
  DeviceGraph::bits(const double number)
  {
    std::uint64_t result = 0;
    std::memcpy(&result, &number, sizeof(number));
    return result;
  }
} // namespace Tessella
