// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_backends_host_assembly_h
#define tessella_source_backends_host_assembly_h

#include <tessella/lac/block_sparsity.h>

#include <vector>

#include "diffusion_values.h"
#include "facet_penalty.h"
#include "host_points.h"
#include "target.h"

namespace Tessella
{
  namespace internal
  {
    /**
     * Block-row algorithm on the host: every polytope computes its rows,
     * vectorised over quadrature points, and polytopes run in parallel. The
     * mesh determines the order of summation. @p diffusion has values that
     * largest_diffusion() stored, or is null.
     */
    template <int dim>
    void
    assemble_on_host(const HostProblem<dim>       &problem,
                     const BlockSparsity          &sparsity,
                     const std::vector<double>    &sigma,
                     const PolynomialSpaceType     space,
                     const AssemblyTarget<double> &target,
                     const DiffusionValues<dim>   *diffusion = nullptr);
  } // namespace internal
} // namespace Tessella

#endif
