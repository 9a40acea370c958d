// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_lac_scalars_h
#define tessella_cuda_lac_scalars_h

#include <memory>

// Scalars of iterative methods that stay on a device, in plain types.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /**
       * Numbers of an iterative method in device memory, for sums that stay
       * there (SumOnDevice), and numbers of the host to which these sums are
       * written as well, so that the host waits for the sums alone and not for
       * the work that it has started after them.
       */
      class Scalars
      {
      public:
        static constexpr unsigned int n_values = 8;

        virtual ~Scalars() = default;

        /// Address of n_values numbers in device memory.
        virtual double *
        values() const = 0;
        /// Address of n_values numbers in pinned memory of the host.
        virtual double *
        on_host() const = 0;
        /// Work memory of sums.
        virtual void *
        sum_memory() const = 0;

        /// Marks the end of the work that the present stream has so far.
        virtual void
        mark() = 0;
        /// Waits for the work before the last mark.
        virtual void
        wait() const = 0;
      };

      /// Scalars on the current device for the sole use of the caller, whose
      /// values are arbitrary. The memory is that of earlier ones of the
      /// calling thread if these are in use no more. Cannot be recorded by a
      /// CUDA graph.
      std::shared_ptr<Scalars>
      take_scalars();
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
