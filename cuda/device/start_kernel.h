// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_device_start_kernel_h
#define tessella_cuda_device_start_kernel_h

#include <cstddef>

#include "memory.h"
#include "overlap.h"

// Start of kernels that may begin before the previous one has ended.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /**
       * Lets the next kernel begin, if it may overlap, and waits until the
       * previous kernel has ended and its results can be read. Each thread
       * calls it before it reads or writes what other kernels of
       * begin_overlap() write or read. Pointers to such data must not be
       * declared as const and __restrict__, which lets the compiler read ahead.
       */
      __device__ inline void
      wait_for_previous()
      {
#if __CUDA_ARCH__ >= 900
        asm volatile(
          "griddepcontrol.launch_dependents;\n"
          "griddepcontrol.wait;" ::
            : "memory");
#endif
      }

      /// Starts @p kernel in the present stream; it begins early if @p early.
      template <typename... Parameters, typename... Arguments>
      void
      start_kernel_early(const bool  early,
                         const char *what,
                         void (*kernel)(Parameters...),
                         const unsigned int n_blocks,
                         const unsigned int n_threads,
                         const std::size_t  shared_memory,
                         const Arguments &...arguments)
      {
        cudaLaunchAttribute attribute = {};
        attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attribute.val.programmaticStreamSerializationAllowed = 1;
        cudaLaunchConfig_t config                            = {};
        config.gridDim                                       = dim3(n_blocks);
        config.blockDim                                      = dim3(n_threads);
        config.dynamicSmemBytes                              = shared_memory;
        config.stream                                        = current_stream();
        config.attrs                                         = &attribute;
        config.numAttrs                                      = early ? 1 : 0;
        check(cudaLaunchKernelEx(&config,
                                 kernel,
                                 static_cast<Parameters>(arguments)...),
              what);
      }

      /// Starts a kernel that may read lists and values of matrices before it
      /// calls wait_for_previous().
      template <typename Kernel, typename... Arguments>
      void
      start_kernel(const char        *what,
                   const Kernel       kernel,
                   const unsigned int n_blocks,
                   const unsigned int n_threads,
                   const std::size_t  shared_memory,
                   const Arguments &...arguments)
      {
        start_kernel_early(next_may_overlap(false),
                           what,
                           kernel,
                           n_blocks,
                           n_threads,
                           shared_memory,
                           arguments...);
      }

      /// Starts a kernel that calls wait_for_previous() before it reads or
      /// writes anything.
      template <typename Kernel, typename... Arguments>
      void
      start_waiting_kernel(const char        *what,
                           const Kernel       kernel,
                           const unsigned int n_blocks,
                           const unsigned int n_threads,
                           const Arguments &...arguments)
      {
        start_kernel_early(next_may_overlap(true),
                           what,
                           kernel,
                           n_blocks,
                           n_threads,
                           0,
                           arguments...);
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
