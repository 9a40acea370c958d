// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <tessella/forms/lanes_evaluation.h>

#include "flow_model.h"

// Functors of the program that LanesIntegrand evaluates: those of MakeIntegrand
// with lanes. Each file flow_lanes_*.cc includes this one, with the instruction
// set as TESSELLA_LANES_SET.

namespace Tessella
{
#define FUNCTOR(dim, ...)                   \
  template LanesFunctions<dim, __VA_ARGS__> \
  LanesFunctions<dim, __VA_ARGS__>::TESSELLA_LANES_SET();
#define EULER(dim, flux, with_source) \
  Flow::Euler<dim, Flow::flux, Flow::ExactStates<dim, with_source>>
#define EQUATIONS(dim, with_source)                                          \
  FUNCTOR(dim, EULER(dim, ChosenFlux, with_source))                          \
  FUNCTOR(dim, Flow::WithTimeTerm<dim, EULER(dim, ChosenFlux, with_source)>) \
  FUNCTOR(dim, Flow::SurfaceSpeed<dim, EULER(dim, ChosenFlux, with_source)>)
#define DIMENSION(dim)                                                      \
  EQUATIONS(dim, false)                                                     \
  EQUATIONS(dim, true)                                                      \
  FUNCTOR(dim, Flow::WithTimeTerm<dim, EULER(dim, ChosenFrozenFlux, true)>) \
  FUNCTOR(dim, Flow::TimeTerm<dim, dim + 2>)                                \
  FUNCTOR(dim, Flow::AdmissibleStep<dim>)

  DIMENSION(2)
  DIMENSION(3)

#undef FUNCTOR
#undef EULER
#undef EQUATIONS
#undef DIMENSION
} // namespace Tessella
