// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "hdg_backend.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/base/mpi.h>

#include <tessella/device/cuda_device.h>

#include "../device/with_cuda.h"

namespace Tessella
{
  using namespace dealii;

  namespace internal
  {
    template <int dim>
    std::unique_ptr<HDGBackend<dim>>
    make_hdg_backend(TraceSystem<dim> &system)
    {
      const bool equal   = system.data.spaces == LocalSpaces::equal;
      Backend    backend = system.data.backend;
      if (backend == Backend::automatic)
        backend = equal && Utilities::MPI::min(cuda_is_available() ? 1 : 0,
                                               system.communicator) == 1
                    ? Backend::cuda
                    : Backend::host;
      if (backend == Backend::host)
        return make_host_hdg(system);
      AssertThrow(equal,
                  ExcMessage("HDG computes with LocalSpaces::reduced_flux on "
                             "the host only: use Backend::host or "
                             "Backend::automatic."));
      AssertThrow(cuda_is_available(),
                  ExcMessage(why_cuda_is_unavailable() +
                             " Please take the backend host or automatic."));
      if constexpr (with_cuda)
        return make_cuda_hdg(system);
      else
        return nullptr; // not reached
    }



    template std::unique_ptr<HDGBackend<2>>
    make_hdg_backend(TraceSystem<2> &);
    template std::unique_ptr<HDGBackend<3>>
    make_hdg_backend(TraceSystem<3> &);
  } // namespace internal
} // namespace Tessella
