// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_device_graph_h
#define tessella_cuda_device_graph_h

#include <functional>
#include <memory>
#include <string>

// Recording of operations as CUDA graphs, in plain types.

/// cudaStream_t is a pointer to this type.
struct CUstream_st;

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Stream for kernels and copies of the calling thread: the default
      /// stream (null), or the stream of the recording while Graph::record()
      /// runs. Operations that are put into another stream are not recorded.
      CUstream_st *
      current_stream();

      /// Whether Graph::record() runs in the calling thread.
      bool
      is_recording();

      /// Throws an Error, and makes the recording fail, if the calling thread
      /// records. @p what, a string literal, names an operation that a graph
      /// cannot hold, such as "a copy from the device".
      void
      refuse_recording(const char *what);

      /// Frees device memory. A recording fails, since its operations could use
      /// that memory. Errors are ignored: at the end of a program the runtime
      /// may be gone.
      void
      release_memory(void *memory) noexcept;

      /// Sequence of operations of one thread that is started by one call.
      class Graph
      {
      public:
        Graph();
        ~Graph();

        /**
         * Records the operations that @p work puts into current_stream();
         * nothing is executed. Addresses and other arguments of the operations
         * become part of the graph. Returns an empty string, or, without a
         * graph, the reason why there is none: an operation that
         * refuse_recording() named, an exception of @p work, or an error of
         * the CUDA runtime. The streams can be used in all cases.
         */
        std::string
        record(const std::function<void()> &work);

        /// Starts the operations in the default stream.
        void
        launch() const;

        bool
        empty() const;
        /// Number of kernels and copies; zero if the graph is empty.
        unsigned int
        n_operations() const;
        void
        clear();

      private:
        struct Implementation;
        std::unique_ptr<Implementation> implementation;
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
