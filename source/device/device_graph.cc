// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <tessella/device/device_graph.h>

#include <cstring>

#include "../../cuda/device/graph.h"
#include "device_call.h"

namespace Tessella
{
  struct DeviceGraph::Implementation
  {
    explicit Implementation(const bool enabled)
      : enabled(enabled)
    {
      clear();
    }

    const bool        enabled;
    DeviceGraphReport report;
    Key               key;
    bool              was_called = false, failed = false;
    // A shared pointer takes the destructor of the graph with the graph, which
    // a build without CUDA never makes.
    std::shared_ptr<internal::Device::Graph> graph;

    void
    call(const std::function<void()> &work)
    {
      ++report.n_direct;
      work();
    }

    void
    clear()
    {
      if constexpr (internal::with_cuda)
        if (graph != nullptr)
          graph->clear();
      was_called = failed = false;
      report.n_operations = 0;
      report.why          = !enabled ? "CUDA graphs are switched off"
                            : internal::with_cuda ? ""
                                                  : "this build has no CUDA backend";
    }

    // Records and starts the graph, or calls the work if that fails.
    void
    record(const std::function<void()> &work)
    {
      if (graph == nullptr)
        graph = std::make_shared<internal::Device::Graph>();
      const std::string reason =
        internal::device_call([&] { return graph->record(work); });
      failed = !reason.empty();
      if (failed)
        {
          report.why = "the work contains " + reason;
          call(work);
          return;
        }
      ++report.n_recorded;
      report.n_operations = graph->n_operations();
      internal::device_call([&] { graph->launch(); });
    }

    void
    run(const Key &new_key, const std::function<void()> &work)
    {
      if (new_key != key)
        {
          clear();
          key = new_key;
        }
      if (graph != nullptr && !graph->empty())
        {
          internal::device_call([&] { graph->launch(); });
          ++report.n_replayed;
        }
      else if (was_called && !failed)
        record(work);
      else
        call(work);
      was_called = true;
    }
  };



  DeviceGraph::DeviceGraph(const bool enabled)
    : implementation(std::make_unique<Implementation>(enabled))
  {}



  DeviceGraph::~DeviceGraph() = default;



  void
  DeviceGraph::run(const Key &key, const std::function<void()> &work)
  {
    if constexpr (internal::with_cuda)
      {
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
      }
    implementation->call(work);
  }



  void
  DeviceGraph::clear()
  {
    implementation->clear();
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
