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
    /// The entries of a form's diffusion where it does not vary (one, or dim *
    /// dim of a tensor).
    template <int dim>
    std::vector<double>
    constant_diffusion(const PolytopicMesh<dim> &mesh, const Form<dim> &form);

    /// How a mesh of several processes completes values per facet and side
    /// (2 * facet + side).
    struct FacetExchange
    {
      /// Runs what computes those of own polytopes; throws on all processes if
      /// that throws on one.
      std::function<void(const std::function<void()> &)> start;
      /// Overwrites those of ghosts with what their owners have.
      std::function<void(std::vector<double> &)> finish;
    };

    /**
     * Largest value of n.a n on each side of each facet, over the quadrature
     * points of the polytope on that side, turned into the penalty of
     * the facet: sigma = constant * max over sides of (factor * a-bar); zeros
     * for a form without penalty or diffusion. Where a-bar varies, that of
     * ghosts comes through @p exchange, if it is set. Threads. The values found
     * on the way go to @p diffusion, which has room for them, or is null.
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

    /// Raises a-bar, two numbers a facet, on polytope @p k's sides of its
    /// facets to the largest n . a n at points of it; @p a: arrays of the
    /// diffusion's entries there, one if it is not a @p tensor. Returns
    /// whether it is one, and symmetric at all points.
    template <int dim>
    bool
    raise_largest_diffusion(const PolytopicMesh<dim>        &mesh,
                            const HostKernels::Kernels<dim> &kernels,
                            const bool                       tensor,
                            const unsigned int               k,
                            const double *const             *a,
                            const unsigned int               n_points,
                            double                          *a_bar);

    /// sigma of all facets from a-bar, by all threads.
    template <int dim>
    void
    penalty_from_diffusion(const PolytopicMesh<dim>  &mesh,
                           const double               constant,
                           const std::vector<double> &a_bar,
                           std::vector<double>       &sigma);

    /**
     * The block-row algorithm on the host: every polytope computes its rows,
     * vectorised over quadrature points, polytopes in parallel. Sums run in an
     * order fixed by the mesh. @p diffusion: what compute_penalty() has
     * evaluated already, or null.
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
