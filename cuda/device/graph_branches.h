// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_device_graph_branches_h
#define tessella_cuda_device_graph_branches_h

#include <functional>
#include <vector>

// Branches of CUDA graphs, in plain types.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /**
       * Does several works that do not depend on each other. In a recording
       * (see Graph) each of them becomes a branch of the graph, so that the
       * device may do them at the same time; otherwise they are done one after
       * the other in the present stream. A thread that records must have called
       * the function with as many works before, for the same current device,
       * which makes the streams of the branches. Errors are those of the works
       * and of the CUDA runtime. All branches have joined the stream of the
       * recording when the function returns or throws.
       */
      void
      run_in_branches(const std::vector<std::function<void()>> &works);
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
