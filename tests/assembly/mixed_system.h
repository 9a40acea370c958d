// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_assembly_mixed_system_h
#define tessella_tests_assembly_mixed_system_h

#include <tessella/forms/system_form.h>

#include "compare.h"

/// Three components: two equations with advection and different penalties, a
/// reaction without facet terms in one corner, nothing in other pairs.
template <int dim>
class MixedSystem : public Tessella::SystemForm<dim>
{
public:
  MixedSystem()
  {
    forms.resize(9);
    const auto problem = full_problem<dim>();
    forms[0] = std::make_unique<Tessella::AdvectionDiffusionReaction<dim>>(
      make_form(problem, Give::tensor_functions, 4));
    forms[4] = std::make_unique<Tessella::AdvectionDiffusionReaction<dim>>();
    forms[4]->set_diffusion(3.);
    forms[4]->set_source(2.);
    forms[5] = std::make_unique<Tessella::AdvectionDiffusionReaction<dim>>();
    forms[5]->set_reaction(1.5);
    forms[6] = std::make_unique<Tessella::AdvectionDiffusionReaction<dim>>();
    Tensor<1, dim> b;
    b[0] = 1.;
    forms[6]->set_advection(b);
    for (const unsigned int i : {4, 5, 6})
      forms[i]->set_coefficient_order(4);
  }
  unsigned int
  n_test_components() const override
  {
    return 3;
  }
  const Tessella::Form<dim> *
  form(const unsigned int i, const unsigned int j) const override
  {
    return forms[3 * i + j].get();
  }

  std::vector<std::unique_ptr<Tessella::AdvectionDiffusionReaction<dim>>> forms;
};

#endif
