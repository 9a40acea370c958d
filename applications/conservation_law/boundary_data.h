// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_conservation_law_boundary_data_h
#define tessella_applications_conservation_law_boundary_data_h

#include <deal.II/base/types.h>

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "../common/expression.h"
#include "../common/state_function.h"

namespace Tessella
{
  namespace Application
  {
    /**
     * Solution of Burgers' equation u_t + v . grad u^2 / 2 = 0 by
     * characteristics: it solves u = u_0(x - v u t) by Newton's method. Where
     * characteristics meet, a sentence says so.
     */
    template <int dim>
    class BurgersCharacteristics : public StateFunction<dim>
    {
    public:
      /// @p initial is an expression of the dim coordinates.
      BurgersCharacteristics(const Expression          &initial,
                             const std::vector<double> &direction);

      void
      state(const double *x, const double t, double *u) const override;

    private:
      const Expression          initial;
      const std::vector<double> direction;
    };

    enum class BoundaryKind
    {
      inflow,
      outflow,
      wall
    };

    /// Boundary conditions by boundary id.
    template <int dim>
    class BoundaryData
    {
    public:
      struct Condition
      {
        BoundaryKind                              type = BoundaryKind::inflow;
        std::shared_ptr<const StateFunction<dim>> state; // may be null
      };

      /// Key -1: all boundary ids without an entry of their own. @p exact is
      /// the state of inflow parts that have none; it may be null.
      BoundaryData(const std::map<int, Condition>                  &conditions,
                   const std::shared_ptr<const StateFunction<dim>> &exact);

      BoundaryKind
      type(const unsigned int boundary_id) const
      {
        return of(boundary_id).type;
      }
      /// Error: an inflow part without a state.
      void
      check(const unsigned int boundary_id) const
      {
        if (of(boundary_id).type == BoundaryKind::inflow)
          function(boundary_id);
      }
      /// State outside of an inflow part. Thread safe.
      void
      state(const unsigned int boundary_id,
            const double      *x,
            const double       t,
            double            *u) const;
      /// Ids with an entry of their own.
      std::set<dealii::types::boundary_id>
      ids() const;

    private:
      const StateFunction<dim> &
      function(const unsigned int boundary_id) const;
      const Condition &
      of(const unsigned int boundary_id) const
      {
        const auto found = conditions.find(static_cast<int>(boundary_id));
        return found != conditions.end() ? found->second : conditions.at(-1);
      }

      std::map<int, Condition>                  conditions;
      std::shared_ptr<const StateFunction<dim>> exact;
    };
  } // namespace Application
} // namespace Tessella

#endif
