// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_operators_cuda_product_h
#define tessella_source_operators_cuda_product_h

#include <tessella/portable/legendre.h>

#include <memory>
#include <vector>

#include "../backends/host_points.h"
#include "product_kernel.h"

namespace Tessella
{
  namespace internal
  {
    /**
     * Kernel for all forms, meshes and degrees on the current CUDA device, see
     * Device::PointProduct. The host evaluates the coefficients of the form at
     * all quadrature points, see FormTables, and copies them to the device with
     * the points. @p problem is not needed afterwards. Throws if the memory of
     * the device does not suffice.
     */
    template <int dim>
    std::unique_ptr<ProductKernel>
    make_cuda_product(const HostProblem<dim>    &problem,
                      const std::vector<double> &sigma,
                      const PolynomialSpaceType  space);
  } // namespace internal
} // namespace Tessella

#endif
