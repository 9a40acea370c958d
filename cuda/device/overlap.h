// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_device_overlap_h
#define tessella_cuda_device_overlap_h

// Kernels that begin before the previous one has ended, in plain types.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /**
       * Between begin_overlap() and end_overlap(), which may be nested, kernels
       * that the calling thread starts by start_kernel() may begin while the
       * previous kernel still runs. Until they call wait_for_previous(), they
       * read lists and values of matrices only. No work in between may
       * therefore change lists or values of matrices, preconditioners or
       * transfers. Recorded graphs keep these dependencies.
       *
       * Devices of compute capability 9.0 and newer can do this (programmatic
       * dependent launch); others start one kernel after the other.
       */
      void
      begin_overlap();
      void
      end_overlap() noexcept;

      /**
       * Whether the next kernel may begin early. Within an overlap it is not
       * the first one, since the work before may have changed anything.
       * Without, it must not read anything before it waits (@p waits_first).
       */
      bool
      next_may_overlap(const bool waits_first);

      /// Whether kernels may overlap at all, in all threads, which they may
      /// until a test compares them with separate ones. Returns whether this
      /// device can do it.
      bool
      allow_overlap(const bool allowed);
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
