// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_backends_host_assembly_h
#define tessella_source_backends_host_assembly_h

#include <tessella/base/backend.h>
#include <tessella/forms/form.h>
#include <tessella/grid/polytopic_mesh.h>
#include <tessella/lac/block_sparsity.h>

#include <functional>
#include <vector>

#include "diffusion_values.h"
#include "host_kernels.h"
#include "host_points.h"
#include "target.h"

namespace Tessella
{
  namespace internal
  {
    /// Entries of a constant diffusion: one value, or dim * dim for a tensor.
    template <int dim>
    std::vector<double>
    constant_diffusion(const PolytopicMesh<dim> &mesh, const Form<dim> &form);

    /// Exchange between processes of values per facet and side, which are at
    /// index 2 * facet + side.
    struct FacetExchange
    {
      /// Runs the computation of values on own polytopes; if it throws on one
      /// process, all processes throw.
      std::function<void(const std::function<void()> &)> start;
      /// Overwrites the values of ghosts with those of their owners.
      std::function<void(std::vector<double> &)> finish;
    };

    /**
     * Computes the penalty of each facet, sigma = constant * max over sides of
     * (factor * a-bar). Here a-bar is the largest n.a n on a side of the facet
     * over the quadrature points of the polytope on that side. All sigma are
     * zero for a form without penalty or diffusion. If a-bar varies in space
     * and @p exchange is set, the values of ghosts are obtained from it. If
     * @p diffusion is not null, it must have memory for the diffusion values,
     * which are stored there. Runs on all threads.
     */
    template <int dim>
    void
    compute_penalty(const PolytopicMesh<dim> &mesh,
                    const Form<dim>          &form,
                    const double              constant,
                    const HostRules<dim>     &rules,
                    const InstructionSet      instruction_set,
                    const FacetExchange      &exchange,
                    std::vector<double>      &sigma,
                    DiffusionValues<dim>     *diffusion = nullptr);

    /// Raises a-bar (two values per facet) on the sides of polytope @p k to the
    /// largest n . a n at its points. @p a has an array for each entry of the
    /// diffusion, one array unless @p tensor. Returns whether the diffusion is
    /// a tensor that is symmetric at all points.
    template <int dim>
    bool
    raise_largest_diffusion(const PolytopicMesh<dim>        &mesh,
                            const HostKernels::Kernels<dim> &kernels,
                            const bool                       tensor,
                            const unsigned int               k,
                            const double *const             *a,
                            const unsigned int               n_points,
                            double                          *a_bar);

    /// Computes sigma of all facets from a-bar, on all threads.
    template <int dim>
    void
    penalty_from_diffusion(const PolytopicMesh<dim>  &mesh,
                           const double               constant,
                           const std::vector<double> &a_bar,
                           std::vector<double>       &sigma);

    /**
     * Block-row algorithm on the host: every polytope computes its rows,
     * vectorised over quadrature points, and polytopes run in parallel. The
     * mesh determines the order of summation. @p diffusion has values that
     * compute_penalty() stored, or is null.
     */
    template <int dim>
    void
    assemble_on_host(const PolytopicMesh<dim>     &mesh,
                     const BlockSparsity          &sparsity,
                     const Form<dim>              &form,
                     const std::vector<double>    &sigma,
                     const HostRules<dim>         &rules,
                     const PolynomialSpaceType     space,
                     const InstructionSet          instruction_set,
                     const AssemblyTarget<double> &target,
                     const DiffusionValues<dim>   *diffusion = nullptr);
  } // namespace internal
} // namespace Tessella

#endif
