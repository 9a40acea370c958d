// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_flow_check_conditions_h
#define tessella_flow_check_conditions_h

#include <tessella/flow/boundary_conditions.h>
#include <tessella/grid/agglomeration_handler.h>

#include <string>

namespace Tessella
{
  namespace Flow
  {
    /// Throws one sentence unless the ratio of specific heats is finite and
    /// larger than one.
    template <int dim>
    void
    check_gas(const IdealGas<dim> &gas);

    /// Throws one sentence, which begins with @p name, unless density and
    /// pressure of a state are positive and all entries are finite.
    template <int dim>
    void
    check_state(const IdealGas<dim> &gas,
                const double        *u,
                const std::string   &name);

    /**
     * Throws one sentence if the values of a condition are not admissible, if
     * two conditions have the same boundary id, if a part of the boundary has
     * no condition, or if the mesh does not have the boundary id of a
     * condition. States are checked if @p constant_states is set, which it must
     * not be where a functor computes them. Collective; the same exception on
     * all processes.
     */
    template <int dim>
    void
    check_boundary_conditions(const AgglomerationHandler<dim> &handler,
                              const IdealGas<dim>             &gas,
                              const BoundaryConditions<dim>   &boundary,
                              const bool constant_states = true);
  } // namespace Flow
} // namespace Tessella

#endif
