// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <exception>
#include <map>
#include <memory>

#include "graph.h"
#include "graph_branches.h"
#include "memory.h"
#include "memory_pool.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        /// The recording of a thread. It needs no destructor, since objects
        /// that live longer than the thread ask for it when they release
        /// memory.
        struct Recording
        {
          cudaStream_t stream = nullptr;
          bool         active = false;
          /// Why it failed; null if it did not.
          const char *failure = nullptr;
        };

        Recording &
        recording()
        {
          static thread_local Recording result;
          return result;
        }
      } // namespace



      CUstream_st *
      current_stream()
      {
        return recording().stream;
      }



      bool
      is_recording()
      {
        return recording().active;
      }



      void
      refuse_recording(const char *what)
      {
        Recording &present = recording();
        if (!present.active)
          return;
        present.failure = what;
        throw Error(std::string("A CUDA graph cannot hold ") + what + ".");
      }



      void
      release_memory(void *memory) noexcept
      {
        if (memory == nullptr)
          return;
        Recording &present = recording();
        // A thread that records may free memory in the relaxed mode alone.
        cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
        if (present.active)
          {
            present.failure = "the release of memory";
            cudaThreadExchangeStreamCaptureMode(&mode);
          }
        if (!release_in_pool(memory) && cudaFree(memory) != cudaSuccess)
          cudaGetLastError();
        if (present.active)
          cudaThreadExchangeStreamCaptureMode(&mode);
      }



      namespace
      {
        /// Stream of a branch, whose handle cannot be read during a recording,
        /// and the events at which it begins and ends.
        struct Branch
        {
          Branch()
            : handle(stream)
          {}
          Stream             stream;
          const cudaStream_t handle;
          Event              begin, end;
        };

        /// Those of the calling thread on the current device, to which streams
        /// belong.
        std::vector<std::unique_ptr<Branch>> &
        branches()
        {
          static thread_local std::map<int,
                                       std::vector<std::unique_ptr<Branch>>>
            result;
          return result[current_device()];
        }
      } // namespace



      void
      run_in_branches(const std::vector<std::function<void()>> &works)
      {
        auto      &all     = branches();
        Recording &present = recording();
        if (!present.active)
          {
            while (all.size() + 1 < works.size())
              all.push_back(std::make_unique<Branch>());
            for (const auto &work : works)
              work();
            return;
          }
        if (all.size() + 1 < works.size())
          refuse_recording("the creation of a stream");
        // The first work stays in the stream of the recording.
        const cudaStream_t first   = present.stream;
        const char *const  what    = "a branch of a CUDA graph";
        std::size_t        n_begun = 0;
        std::exception_ptr error;
        try
          {
            while (n_begun + 1 < works.size())
              {
                const Branch &branch = *all[n_begun];
                check(cudaEventRecord(branch.begin, first), what);
                check(cudaStreamWaitEvent(branch.handle, branch.begin, 0),
                      what);
                ++n_begun;
                present.stream = branch.handle;
                works[n_begun]();
                present.stream = first;
              }
            if (!works.empty())
              works.front()();
          }
        catch (...)
          {
            error = std::current_exception();
          }
        present.stream = first;
        // All branches that have begun end here, also after an error: a
        // recording cannot be ended while a stream is apart.
        cudaError_t code = cudaSuccess;
        for (std::size_t i = 0; i < n_begun; ++i)
          for (const cudaError_t next :
               {cudaEventRecord(all[i]->end, all[i]->handle),
                cudaStreamWaitEvent(first, all[i]->end, 0)})
            code = code == cudaSuccess ? next : code;
        if (error != nullptr)
          std::rethrow_exception(error);
        check(code, what);
      }



      struct Graph::Implementation
      {
        // Other threads may use the default stream during a recording, which a
        // stream that synchronises with it would not allow.
        Stream          stream;
        cudaGraphExec_t graph        = nullptr;
        std::size_t     n_operations = 0;

        ~Implementation()
        {
          clear();
        }

        void
        clear()
        {
          if (graph != nullptr)
            cudaGraphExecDestroy(graph);
          graph        = nullptr;
          n_operations = 0;
        }

        // Runs @p work and returns the reason for which its operations were not
        // recorded, or an empty string.
        static std::string
        run(const std::function<void()> &work, const cudaStream_t stream)
        {
          std::string reason;
          Recording  &present = recording();
          present.stream      = stream;
          present.active      = true;
          present.failure     = nullptr;
          try
            {
              work();
            }
          catch (const std::exception &exception)
            {
              reason = exception.what();
            }
          catch (...)
            {
              reason = "an operation that throws an exception";
            }
          present.active = false;
          present.stream = nullptr;
          return present.failure == nullptr ? reason : present.failure;
        }

        std::string
        record(const std::function<void()> &work)
        {
          check(cudaStreamBeginCapture(stream,
                                       cudaStreamCaptureModeThreadLocal),
                "the recording of a CUDA graph");
          std::string       reason   = run(work, stream);
          cudaGraph_t       recorded = nullptr;
          const cudaError_t code     = cudaStreamEndCapture(stream, &recorded);
          if (reason.empty() && code == cudaSuccess)
            {
              const cudaError_t instantiated =
                cudaGraphInstantiateWithFlags(&graph, recorded, 0);
              if (instantiated != cudaSuccess)
                {
                  graph  = nullptr;
                  reason = cudaGetErrorString(instantiated);
                }
              else
                cudaGraphGetNodes(recorded, nullptr, &n_operations);
            }
          else if (reason.empty())
            reason = cudaGetErrorString(code);
          if (recorded != nullptr)
            cudaGraphDestroy(recorded);
          cudaGetLastError();
          return reason;
        }
      };



      Graph::Graph() = default;



      Graph::~Graph() = default;



      std::string
      Graph::record(const std::function<void()> &work)
      {
        if (implementation == nullptr)
          implementation = std::make_unique<Implementation>();
        implementation->clear();
        return implementation->record(work);
      }



      void
      Graph::launch() const
      {
        if (!empty())
          check(cudaGraphLaunch(implementation->graph, nullptr),
                "the start of a CUDA graph");
      }



      bool
      Graph::empty() const
      {
        return implementation == nullptr || implementation->graph == nullptr;
      }



      unsigned int
      Graph::n_operations() const
      {
        return implementation == nullptr
                 ? 0
                 : static_cast<unsigned int>(implementation->n_operations);
      }



      void
      Graph::clear()
      {
        if (implementation != nullptr)
          implementation->clear();
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella
