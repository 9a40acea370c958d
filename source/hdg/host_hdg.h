// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_hdg_host_hdg_h
#define tessella_source_hdg_host_hdg_h

#include "hdg_backend.h"

namespace Tessella
{
  namespace internal
  {
    /// Hybridizable dG with the host's threads, see LocalSolver.
    template <int dim>
    std::unique_ptr<HDGBackend<dim>>
    make_host_hdg(TraceSystem<dim> &system);
  } // namespace internal
} // namespace Tessella

#endif
