// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_operators_simplex_kernel_h
#define tessella_source_operators_simplex_kernel_h

#include <tessella/base/backend.h>
#include <tessella/forms/form.h>
#include <tessella/grid/polytopic_dofs.h>
#include <tessella/grid/polytopic_mesh.h>

#include <memory>
#include <vector>

#include "product_kernel.h"

namespace Tessella
{
  namespace internal
  {
    /**
     * Kernel for affine simplices and coefficients that are constant on each of
     * them, on the host with @p instruction_set or on the current CUDA device
     * (@p backend: host or cuda); null if mesh, space or form are not of this
     * kind, see set_up_simplex_data(), or the device has no code for the
     * degree. Products with A^T of a form with advection do not exist. Interior
     * rows are computed together with boundary rows: a call for interior rows
     * does nothing.
     */
    template <int dim>
    std::unique_ptr<ProductKernel>
    make_simplex_kernel(const PolytopicMesh<dim>  &mesh,
                        const PolytopicDoFs       &dofs,
                        const Form<dim>           &form,
                        const std::vector<double> &sigma,
                        const Backend              backend,
                        const InstructionSet       instruction_set);
  } // namespace internal
} // namespace Tessella

#endif
