// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_hdg_cuda_hdg_h
#define tessella_source_hdg_cuda_hdg_h

#include <memory>

#include "hdg_backend.h"

namespace Tessella
{
  namespace internal
  {
    /// Hybridizable dG on a CUDA device, in a build with CUDA.
    template <int dim>
    std::unique_ptr<HDGBackend<dim>>
    make_cuda_hdg(TraceSystem<dim> &system);
  } // namespace internal
} // namespace Tessella

#endif
