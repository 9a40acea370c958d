// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_forms_discrete_cases_h
#define tessella_tests_forms_discrete_cases_h

// Forms whose coefficients are discrete functions that jump on all interfaces.

#include <deal.II/fe/fe_system.h>

#include <tessella/forms/discrete_function.h>

#include "functor_cases.h"

template <int dim>
struct DiscreteCases : public FunctorCases<dim>
{
  /// The velocity has the degrees of the scalar space, or degree @p other on
  /// all polytopes.
  DiscreteCases(const bool         simplices,
                const bool         hp,
                const unsigned int degree,
                const int          other = -1)
    : FunctorCases<dim>(simplices, hp, degree)
    , flow_handler(*this->triangulation)
  {
    flow_handler.agglomerate(Tessella::Agglomeration::metis<dim>(
      std::max(2u, this->triangulation->n_active_cells() / 5)));
    hp::FECollection<dim>     elements;
    std::vector<unsigned int> indices;
    for (unsigned int p = 0; p <= 4; ++p)
      elements.push_back(
        FESystem<dim>(Tessella::FE_BoundingBoxLegendre<dim>(p), dim));
    for (const unsigned int p : this->handler.polytopic_dofs().degree)
      indices.push_back(other < 0 ? p : other);
    flow_handler.distribute_dofs(elements, indices);
    flow.reinit(flow_handler.n_dofs());
    for (unsigned int i = 0; i < flow.size(); ++i)
      flow(i) = std::sin(1. + 2.3 * i) / (1. + i % 3);
    // One on each polytope, plus the piecewise constants of the base class.
    positive.reinit(this->handler.n_dofs());
    Tessella::VectorTools::project(this->handler, 1., positive);
    positive += this->piecewise;
  }

  /// All coefficients and the values on the boundary; @p v and @p s are copies
  /// of the vectors below.
  template <typename VectorType>
  Tessella::AdvectionDiffusionReaction<dim>
  form(const VectorType &v, const VectorType &s) const
  {
    const auto velocity =
      std::make_shared<Tessella::DiscreteFunction<dim>>(flow_handler, v);
    const auto scalar =
      std::make_shared<Tessella::DiscreteFunction<dim>>(this->handler, s);
    Tessella::AdvectionDiffusionReaction<dim> result;
    result.set_diffusion(scalar);
    result.set_advection(velocity);
    result.set_reaction(scalar);
    result.set_source(scalar);
    Tessella::BoundaryCondition<dim> condition;
    condition.value = scalar;
    result.set_default_boundary_condition(condition);
    result.set_coefficient_order(4);
    return result;
  }

  Tessella::AgglomerationHandler<dim> flow_handler;
  Vector<double>                      flow, positive;
};

#endif
