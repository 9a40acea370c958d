// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>

#include <tessella/forms/callback_integrand.h>

#include <algorithm>

namespace Tessella
{
  using namespace dealii;

  template <int dim>
  CallbackIntegrand<dim>::CallbackIntegrand(const Structure &structure)
    : rows(structure)
  {
    rows.volume = rows.interior_facets = rows.boundary_facets = false;
    AssertThrow(rows.n_inputs() > 0 && rows.n_components > 0,
                ExcMessage(
                  "A CallbackIntegrand needs a component of the fields "
                  "and of the test functions."));
  }



  template <int dim>
  void
  CallbackIntegrand<dim>::set_terms(const PointwiseRegion region,
                                    const Terms          &new_terms,
                                    const Derivative     &derivative)
  {
    AssertThrow(new_terms,
                ExcMessage("The terms of a CallbackIntegrand are an empty "
                           "function."));
    const unsigned int i  = static_cast<unsigned int>(region);
    terms[i]              = new_terms;
    derivatives[i]        = derivative;
    bool *const present[] = {&rows.volume,
                             &rows.interior_facets,
                             &rows.boundary_facets};
    *present[i]           = true;
  }



  template <int dim>
  typename CallbackIntegrand<dim>::Structure
  CallbackIntegrand<dim>::structure() const
  {
    return rows;
  }



  template <int dim>
  void
  CallbackIntegrand<dim>::evaluate(const PointwiseRegion       region,
                                   const unsigned int          n,
                                   const OperatorPoint<dim>   *points,
                                   const double *const *const *in,
                                   double *const *const       *out) const
  {
    const Terms &present = terms[static_cast<unsigned int>(region)];
    if (present)
      present(n, points, BatchFields<dim>(in), BatchResults<dim>(out));
  }



  template <int dim>
  void
  CallbackIntegrand<dim>::evaluate_tangent(
    const PointwiseRegion       region,
    const unsigned int          n,
    const OperatorPoint<dim>   *points,
    const double *const *const *in,
    const double *const *const *direction,
    double *const *const       *out) const
  {
    const unsigned int i = static_cast<unsigned int>(region);
    if (!terms[i])
      return;
    const char *const names[] = {"in the volume",
                                 "on interior facets",
                                 "on the boundary"};
    AssertThrow(derivatives[i],
                ExcMessage("The terms " + std::string(names[i]) +
                           " of a CallbackIntegrand have no derivative: "
                           "tangents and Jacobians need its callback, see "
                           "set_terms()."));
    derivatives[i](n,
                   points,
                   BatchFields<dim>(in),
                   BatchFields<dim>(direction),
                   BatchResults<dim>(out));
  }



  template class CallbackIntegrand<2>;
  template class CallbackIntegrand<3>;
} // namespace Tessella
