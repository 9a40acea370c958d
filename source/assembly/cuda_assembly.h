// SPDX-License-Identifier: LGPL-2.1-or-later
#ifndef tessella_source_assembly_cuda_assembly_h
#define tessella_source_assembly_cuda_assembly_h

#include <cstdint>
#include <memory>
#include <vector>

#include "../../cuda/assembly.h"
#include "host_assembly.h"

namespace Tessella
{
  namespace internal
  {
    /**
     * The host's part of assembly on a CUDA device: it keeps mesh and
     * structure there as long as they stay the same, evaluates the form
     * where its coefficients vary, and puts finished block rows where they
     * belong.
     */
    template <int dim>
    class CUDAAssembly
    {
    public:
      /// As assemble_on_host(); errors of the device are dealii::ExcMessage.
      /// The matrix is computed if the target has a place for it, so is the
      /// vector. Number: double.
      template <typename Number>
      Device::Times
      assemble(const PolytopicMesh<dim>     &mesh,
               const BlockSparsity          &sparsity,
               const Form<dim>              &form,
               const std::vector<double>    &sigma,
               const bool                    tensor_product_space,
               const InstructionSet          instruction_set,
               const Device::Target<Number> &target);

    private:
      std::unique_ptr<Device::Assembler<dim>> device;
      std::uint64_t                           fingerprint = 0;
    };
  } // namespace internal
} // namespace Tessella

#endif
