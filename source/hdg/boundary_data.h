// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_hdg_boundary_data_h
#define tessella_source_hdg_boundary_data_h

#include <tessella/forms/form.h>
#include <tessella/grid/polytopic_dofs.h>
#include <tessella/grid/polytopic_mesh.h>

#include "../../cuda/hdg/hdg.h"

// Evaluation and checks of the caller's functions, and error messages, that
// both backends of hybridizable dG share.

namespace Tessella
{
  namespace internal
  {
    /// The advection field b (dim arrays), and its normal component bn.
    template <int dim>
    void
    normal_advection(const Form<dim>            &form,
                     const FacetPointBatch<dim> &points,
                     double *const              *b,
                     double                     *bn);

    /// Throws if tau cannot be the stabilisation on a facet of polytope k.
    template <int dim>
    void
    check_tau(const double              tau,
              const PolytopicMesh<dim> &mesh,
              const unsigned int        k);

    /// Throws if the advection field b (dim arrays) enters the domain through a
    /// Neumann or Robin boundary.
    template <int dim>
    void
    check_outflow(const FacetPointBatch<dim> &points,
                  const double *const        *b,
                  const double               *bn);

    /**
     * Inverse of a at @p n_points points x. @p a and @p inverse, which may be
     * equal: arrays of the dim * dim entries if @p tensor, else of the scalar
     * value. Throws if a is not positive (tensor: not symmetric and positive
     * definite).
     */
    template <int dim>
    void
    invert_diffusion(const bool           tensor,
                     const double *const *x,
                     const unsigned int   n_points,
                     const double *const *a,
                     double *const       *inverse);

    /// Throws for a polytope whose local problem cannot be solved.
    template <int dim>
    [[noreturn]] void
    throw_local_failure(const Device::HDGFailure  failure,
                        const PolytopicMesh<dim> &mesh,
                        const PolytopicDoFs      &dofs,
                        const unsigned int        k);
  } // namespace internal
} // namespace Tessella

#endif
