// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "pointwise_backend.h"

#include <deal.II/base/exceptions.h>

#include "host_pointwise_backend.h"

namespace Tessella
{
  namespace internal
  {
    using namespace dealii;

    template <int dim>
    std::unique_ptr<PointwiseBackend<dim>>
    make_pointwise_backend(PointwiseContext<dim> &context)
    {
      AssertThrow(context.parameters.backend != Backend::cuda,
                  ExcMessage("PointwiseOperator has no CUDA backend in this "
                             "build: take the backend host or automatic."));
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
