// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "pointwise_backend.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/base/mpi.h>

#include <tessella/base/config.h>
#include <tessella/device/cuda_device.h>

#include "../device/with_cuda.h"
#include "cuda_pointwise.h"
#include "host_pointwise_backend.h"


namespace Tessella
{
  namespace internal
  {
    using namespace dealii;

    namespace
    {
      // Whether the parameters choose CUDA and all processes have it.
      template <int dim>
      bool
      chooses_cuda(const PointwiseContext<dim> &context)
      {
        const Backend          wanted    = context.parameters.backend;
        const MatrixStructure &processes = context.structures[0];
        processes.on_all_processes([&]() {
          AssertThrow(wanted != Backend::cuda || cuda_is_available(),
                      ExcMessage(why_cuda_is_unavailable() +
                                 " Please take the backend host or "
                                 "automatic."));
        });
        bool cuda = wanted == Backend::cuda ||
                    (wanted == Backend::automatic && cuda_is_available());
        // Host and device agree up to rounding only, so all processes use the
        // same backend.
        if (processes.n_processes > 1)
          cuda = Utilities::MPI::min(cuda ? 1 : 0, processes.communicator) != 0;
        return cuda;
      }
    } // namespace



    template <int dim>
    std::unique_ptr<PointwiseBackend<dim>>
    make_pointwise_backend(PointwiseContext<dim> &context)
    {
      const bool is_cuda_chosen = chooses_cuda(context);
      if constexpr (with_cuda)
        if (is_cuda_chosen)
          {
            const MatrixStructure &processes = context.structures[0];
            if (processes.n_processes > 1 || context.parameters.device >= 0)
              choose_cuda_device(processes.communicator,
                                 context.parameters.device);
            return std::make_unique<CUDAPointwiseBackend<dim>>(context);
          }
      const InstructionSet wanted = context.parameters.instruction_set;
      AssertThrow(wanted == InstructionSet::automatic ||
                    wanted <= best_instruction_set(),
                  ExcMessage("This processor or this build of Tessella does "
                             "not have the instruction set " +
                             name(wanted) + "; the widest one it has is " +
                             name(best_instruction_set()) + "."));
      return std::make_unique<HostPointwiseBackend<dim>>(context);
    }



    template class PointwiseBackend<2>;
    template class PointwiseBackend<3>;
    template std::unique_ptr<PointwiseBackend<2>>
    make_pointwise_backend(PointwiseContext<2> &);
    template std::unique_ptr<PointwiseBackend<3>>
    make_pointwise_backend(PointwiseContext<3> &);
  } // namespace internal
} // namespace Tessella
