// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_backends_facet_penalty_h
#define tessella_source_backends_facet_penalty_h

#include <tessella/forms/form.h>
#include <tessella/grid/polytopic_dofs.h>
#include <tessella/grid/polytopic_mesh.h>

#include <vector>

#include "diffusion_values.h"
#include "host_kernels.h"
#include "host_points.h"

// Steps in which the host computes sigma, the penalty of each facet.

namespace Tessella
{
  namespace internal
  {
    /// Entries of a constant diffusion: one value, or dim * dim for a tensor.
    template <int dim>
    std::vector<double>
    constant_diffusion(const PolytopicMesh<dim> &mesh, const Form<dim> &form);

    /// Sigma of each facet for a constant diffusion with entries @p a, see
    /// constant_diffusion() and compute_penalty(). Runs on all threads.
    template <int dim>
    void
    constant_penalty(const PolytopicMesh<dim>  &mesh,
                     const PolytopicDoFs       &dofs,
                     const std::vector<double> &a,
                     const double               constant,
                     std::vector<double>       &sigma);

    /**
     * Computes a-bar, the largest n . a n over the quadrature points of a
     * polytope, for its side of each of its facets, at index 2 * facet + side.
     * Sides of polytopes that are not owned are zero. If @p diffusion is not
     * null, it must have memory for the diffusion values, which are stored
     * there. Runs on all threads.
     */
    template <int dim>
    void
    largest_diffusion(const HostProblem<dim> &problem,
                      std::vector<double>    &a_bar,
                      DiffusionValues<dim>   *diffusion = nullptr);

    /**
     * Computes the penalty of each facet on a mesh of one process, sigma =
     * constant * max over sides of (factor * a-bar). All sigma are zero for a
     * form without penalty or diffusion. For @p diffusion see
     * largest_diffusion().
     */
    template <int dim>
    void
    compute_penalty(const HostProblem<dim> &problem,
                    const double            constant,
                    std::vector<double>    &sigma,
                    DiffusionValues<dim>   *diffusion = nullptr);

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
    void
    penalty_from_diffusion(const PolytopicDoFs       &dofs,
                           const double               constant,
                           const std::vector<double> &a_bar,
                           std::vector<double>       &sigma);
  } // namespace internal
} // namespace Tessella

#endif
