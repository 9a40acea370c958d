// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "boundary_data.h"

#include <deal.II/base/exceptions.h>

#include <cmath>

#include "../common/program.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    template <int dim>
    BurgersCharacteristics<dim>::BurgersCharacteristics(
      const Expression &initial, const std::vector<double> &direction)
      : StateFunction<dim>(1)
      , initial(initial)
      , direction(direction)
    {}

    template <int dim>
    void
    BurgersCharacteristics<dim>::state(const double *x,
                                       const double  t,
                                       double       *u) const
    {
      // The function u - u_0(x - v u t) has the derivative 1 + t v . grad u_0,
      // which is positive until characteristics meet. Steps of Newton's method
      // are then safe if they are halved as long as the residual grows.
      std::vector<Point<dim>> foot(1);
      Tensor<1, dim>          gradient;
      double                  value;
      const auto              residual = [&](const double w) {
        for (int d = 0; d < dim; ++d)
          foot[0][d] = x[d] - direction[d] * w * t;
        initial.derivatives<dim>(foot, &value, &gradient, nullptr);
        return w - value;
      };
      double w = 0., r = 0.;
      residual(w);
      w = value;
      r = residual(w);
      for (unsigned int i = 0; i < 100; ++i)
        {
          double slope = 1.;
          for (int d = 0; d < dim; ++d)
            slope += t * direction[d] * gradient[d];
          const double scale = 1. + std::abs(w);
          if (!(slope > 0.))
            break;
          if (std::abs(r) <= 4e-15 * scale)
            {
              u[0] = w;
              return;
            }
          const double step = -r / slope;
          double       part = 1., next = residual(w + step);
          while (!(std::abs(next) < std::abs(r)) && part > 1e-3)
            next = residual(w + (part *= 0.5) * step);
          if (!(std::abs(next) < std::abs(r)) && std::abs(r) <= 1e-13 * scale)
            {
              u[0] = w;
              return;
            }
          w += part * step;
          r = next;
        }
      AssertThrow(false,
                  ExcMessage(
                    "The characteristics of '" + initial.text() +
                    "' meet at time " + short_text(t) + " near the point (" +
                    point_text(x, dim) +
                    "), so that they do not define a solution: lower Time/"
                    "Final time, or give Equation/Exact solution as an "
                    "expression or not at all."));
    }



    template <int dim>
    BoundaryData<dim>::BoundaryData(
      const std::map<int, Condition>                  &conditions,
      const std::shared_ptr<const StateFunction<dim>> &exact)
      : conditions(conditions)
      , exact(exact)
    {
      this->conditions[-1];
    }

    template <int dim>
    const StateFunction<dim> &
    BoundaryData<dim>::function(const unsigned int boundary_id) const
    {
      const Condition                &condition = of(boundary_id);
      const StateFunction<dim> *const result =
        condition.state != nullptr ? condition.state.get() : exact.get();
      AssertThrow(result != nullptr,
                  ExcMessage(
                    "Boundary id " + std::to_string(boundary_id) +
                    " is inflow, but Boundary conditions/Values has no entry "
                    "for it, and there is no Equation/Exact solution."));
      return *result;
    }

    template <int dim>
    void
    BoundaryData<dim>::state(const unsigned int boundary_id,
                             const double      *x,
                             const double       t,
                             double            *u) const
    {
      function(boundary_id).state(x, t, u);
    }

    template <int dim>
    std::set<types::boundary_id>
    BoundaryData<dim>::ids() const
    {
      std::set<types::boundary_id> result;
      for (const auto &condition : conditions)
        if (condition.first >= 0)
          result.insert(condition.first);
      return result;
    }



    template class BurgersCharacteristics<2>;
    template class BurgersCharacteristics<3>;
    template class BoundaryData<2>;
    template class BoundaryData<3>;
  } // namespace Application
} // namespace Tessella
