// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/exceptions.h>
#include <deal.II/base/mpi.h>

#include <tessella/base/on_all_processes.h>
#include <tessella/flow/check_conditions.h>

#include <cmath>
#include <set>
#include <sstream>

namespace Tessella
{
  namespace Flow
  {
    using namespace dealii;

    namespace
    {
      std::string
      number_text(const double value)
      {
        std::ostringstream text;
        text << value;
        return text.str();
      }

      void
      check_positive(const std::string &name, const double value)
      {
        AssertThrow(value > 0. && std::isfinite(value),
                    ExcMessage(name + " is " + number_text(value) +
                               ", but must be positive."));
      }

      std::string
      boundary_text(const unsigned int boundary_id)
      {
        return boundary_id == any_boundary
                 ? std::string("all other boundary ids")
                 : "boundary id " + std::to_string(boundary_id);
      }

      template <int dim>
      void
      check_condition(const IdealGas<dim>          &gas,
                      const BoundaryCondition<dim> &condition,
                      const bool                    constant_states)
      {
        const std::string where = " at " + boundary_text(condition.boundary_id);
        switch (condition.type)
          {
            case ConditionType::far_field:
            case ConditionType::supersonic_inflow:
            case ConditionType::given_state:
              if (constant_states)
                check_state(gas, condition.state, "The given state" + where);
              break;
              case ConditionType::total_pressure: {
                check_positive("The total pressure" + where,
                               condition.total_pressure);
                check_positive("The total temperature" + where,
                               condition.total_temperature);
                double square = 0.;
                for (int d = 0; d < dim; ++d)
                  square += condition.direction[d] * condition.direction[d];
                AssertThrow(std::abs(square - 1.) < 1e-10,
                            ExcMessage("The direction of the inflow" + where +
                                       " must be a unit vector."));
                break;
              }
            case ConditionType::pressure:
              check_positive("The pressure" + where, condition.pressure);
              break;
            case ConditionType::isothermal_wall:
              check_positive("The temperature" + where, condition.temperature);
              break;
            default:
              break;
          }
      }
    } // namespace



    template <int dim>
    void
    check_gas(const IdealGas<dim> &gas)
    {
      AssertThrow(gas.gamma > 1. && std::isfinite(gas.gamma),
                  ExcMessage("The ratio gamma of specific heats is " +
                             number_text(gas.gamma) +
                             ", but must be larger than 1."));
    }



    template <int dim>
    void
    check_state(const IdealGas<dim> &gas,
                const double        *u,
                const std::string   &name)
    {
      bool finite = true;
      for (int c = 0; c < dim + 2; ++c)
        finite = finite && std::isfinite(u[c]);
      AssertThrow(finite,
                  ExcMessage(name + " has entries that are not finite."));
      AssertThrow(gas.is_admissible(u),
                  ExcMessage(name + " has the density " + number_text(u[0]) +
                             " and the pressure " +
                             number_text(gas.pressure(u)) +
                             ", which must be positive."));
    }



    template <int dim>
    void
    check_boundary_conditions(const AgglomerationHandler<dim> &handler,
                              const IdealGas<dim>             &gas,
                              const BoundaryConditions<dim>   &boundary,
                              const bool                       constant_states)
    {
      check_gas(gas);
      AssertThrow(
        boundary.n_conditions <= BoundaryConditions<dim>::max_conditions,
        ExcMessage("There are more boundary conditions than " +
                   std::to_string(BoundaryConditions<dim>::max_conditions) +
                   "."));
      for (unsigned int i = 0; i < boundary.n_conditions; ++i)
        {
          const BoundaryCondition<dim> &condition = boundary.conditions[i];
          for (unsigned int j = 0; j < i; ++j)
            AssertThrow(boundary.conditions[j].boundary_id !=
                          condition.boundary_id,
                        ExcMessage("There are two conditions for " +
                                   boundary_text(condition.boundary_id) + "."));
          check_condition(gas, condition, constant_states);
        }

      std::set<unsigned int> present;
      for (const unsigned int id :
           handler.polytopic_mesh().interface_boundary_id)
        if (id != invalid_index)
          present.insert(id);
      on_all_processes(handler.get_communicator(), [&]() {
        for (const unsigned int id : present)
          AssertThrow(boundary.find(id) < boundary.n_conditions,
                      ExcMessage("Boundary id " + std::to_string(id) +
                                 " has no boundary condition: give one for "
                                 "each boundary id of the mesh."));
      });
      for (unsigned int i = 0; i < boundary.n_conditions; ++i)
        {
          const unsigned int id = boundary.conditions[i].boundary_id;
          if (id == any_boundary)
            continue;
          AssertThrow(
            Utilities::MPI::max(static_cast<unsigned int>(present.count(id)),
                                handler.get_communicator()) > 0,
            ExcMessage("There is a boundary condition for boundary "
                       "id " +
                       std::to_string(id) + ", which the mesh does not have."));
        }
    }



#define INSTANTIATE(dim)                                                     \
  template void check_gas(const IdealGas<dim> &);                            \
  template void check_state(const IdealGas<dim> &,                           \
                            const double *,                                  \
                            const std::string &);                            \
  template void check_boundary_conditions(const AgglomerationHandler<dim> &, \
                                          const IdealGas<dim> &,             \
                                          const BoundaryConditions<dim> &,   \
                                          const bool);
    INSTANTIATE(2)
    INSTANTIATE(3)
#undef INSTANTIATE
  } // namespace Flow
} // namespace Tessella
