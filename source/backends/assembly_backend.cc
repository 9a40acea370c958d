// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "assembly_backend.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/base/mpi.h>

#include <tessella/base/config.h>
#include <tessella/device/cuda_device.h>

#include "../device/with_cuda.h"
#include "cuda_backend.h"
#include "host_backend.h"


namespace Tessella
{
  namespace internal
  {
    using namespace dealii;

    namespace
    {
      // Throws if this build or this machine has no CUDA device.
      void
      check_cuda()
      {
        AssertThrow(cuda_is_available(),
                    ExcMessage(why_cuda_is_unavailable() +
                               " Please take the backend host or "
                               "automatic."));
      }



      // Whether the parameters choose CUDA and all processes have it.
      template <int dim>
      bool
      is_cuda_chosen(const AssemblyContext<dim> &context)
      {
        const AssemblyParameters &parameters = context.parameters;
        const MatrixStructure    &processes  = context.structure;
        processes.on_all_processes([&]() {
          if (parameters.backend == Backend::cuda)
            check_cuda();
        });
        bool cuda =
          parameters.backend == Backend::cuda ||
          (parameters.backend == Backend::automatic && cuda_is_available());
        // Host and device agree up to rounding only, so all processes use the
        // same backend.
        if (processes.n_processes > 1)
          cuda = Utilities::MPI::min(cuda ? 1 : 0, processes.communicator) != 0;
        return cuda;
      }
    } // namespace



    template <int dim>
    void
    AssemblyBackend<dim>::assemble_system(const SystemForm<dim> &,
                                          const Target &)
    {
      AssertThrow(false,
                  ExcMessage("This way of assembly is for scalar forms only."));
    }



    template <int dim>
    std::unique_ptr<AssemblyBackend<dim>>
    make_assembly_backend(AssemblyContext<dim> &context)
    {
      const bool use_cuda = is_cuda_chosen(context);
      if constexpr (with_cuda)
        if (use_cuda)
          {
            auto backend = std::make_unique<CUDABackend<dim>>(context);
            if (backend->start())
              return backend;
          }
      return std::make_unique<HostBackend<dim>>(context);
    }



    template class AssemblyBackend<2>;
    template class AssemblyBackend<3>;
    template class AssemblyBackend<4>;
    template std::unique_ptr<AssemblyBackend<2>>
    make_assembly_backend(AssemblyContext<2> &);
    template std::unique_ptr<AssemblyBackend<3>>
    make_assembly_backend(AssemblyContext<3> &);
    template std::unique_ptr<AssemblyBackend<4>>
    make_assembly_backend(AssemblyContext<4> &);
  } // namespace internal
} // namespace Tessella
