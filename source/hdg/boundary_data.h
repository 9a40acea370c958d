// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_hdg_boundary_data_h
#define tessella_source_hdg_boundary_data_h

#include <tessella/forms/form.h>
#include <tessella/grid/polytopic_mesh.h>

#include <string>

// What both backends of hybridizable dG take from the caller's functions, and
// what they say when that cannot be used.

namespace Tessella
{
  namespace internal
  {
    /// The advection field, dim arrays, and its normal component.
    template <int dim>
    void
    normal_advection(const Form<dim>            &form,
                     const FacetPointBatch<dim> &points,
                     double *const              *b,
                     double                     *bn);

    /// Throws if this cannot be the stabilisation on a facet of polytope k.
    template <int dim>
    void
    check_tau(const double              tau,
              const PolytopicMesh<dim> &mesh,
              const unsigned int        k);

    /// Throws where an advection field, dim arrays, enters through a Neumann or
    /// Robin boundary.
    template <int dim>
    void
    check_outflow(const FacetPointBatch<dim> &points,
                  const double *const        *b,
                  const double               *bn);

    /**
     * a^-1 at point @p q from the entries of a (the first one, unless
     * @p tensor). Throws if a is not positive (definite); x: points.
     */
    template <int dim>
    void
    invert_diffusion(const bool           tensor,
                     const double *const *x,
                     const unsigned int   q,
                     const double *const *a,
                     double              *inverse);

    /// "polytope 3 (box (0, 0) to (1, 1))"
    template <int dim>
    std::string
    describe_polytope(const PolytopicMesh<dim> &mesh, const unsigned int k);

    /// Why a local problem cannot be solved.
    enum class LocalFailure
    {
      diffusion,        ///< the mass matrix with a^-1 is singular
      schur_complement, ///< so is the rest
      basis,            ///< polynomials depend on each other on the polytope
      no_stabilisation
    };

    template <int dim>
    [[noreturn]] void
    throw_local_failure(const LocalFailure        failure,
                        const PolytopicMesh<dim> &mesh,
                        const unsigned int        k);
  } // namespace internal
} // namespace Tessella

#endif
