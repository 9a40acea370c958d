// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "flow_states.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/base/mpi.h>

#include <tessella/flow/check_conditions.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <vector>

#include "../common/program.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    template <int dim>
    PrimitiveState<dim>::PrimitiveState(
      const std::vector<Expression> &primitive,
      const Flow::IdealGas<dim>     &gas,
      const std::string             &what)
      : StateFunction<dim>(dim + 2)
      , primitive(primitive)
      , gas(gas)
      , what(what)
    {}



    template <int dim>
    void
    PrimitiveState<dim>::state(const double *x, const double t, double *u) const
    {
      double w[dim + 2];
      primitive.state(x, t, w);
      gas.conservative(w[0], w + 1, w[dim + 1], u);
      if (!gas.is_admissible(u))
        Flow::check_state(gas,
                          u,
                          what + " at the point (" + point_text(x, dim) +
                            ") and time " + short_text(t));
    }



    namespace
    {
      /// Finds the first point, in the order of coordinates, with a state that
      /// is not admissible. A point may be on several polytopes: of their
      /// states it is the first one in the order of components, for any number
      /// of threads.
      template <int dim>
      struct FirstBadPoint
      {
        static constexpr bool point_values = true;

        struct Result
        {
          std::mutex mutex;
          bool       found = false;
          /// Point and state.
          double values[2 * dim + 2];
        };

        Flow::IdealGas<dim> gas;
        Result             *result;

        double
        operator()(const PolytopeStencil<dim> &s, double *) const
        {
          for (unsigned int q = 0; q < s.n_points; ++q)
            {
              double values[n], *const u = values + dim;
              for (int c = 0; c < dim + 2; ++c)
                u[c] = s.value(q, c);
              if (gas.is_admissible(u))
                continue;
              for (int d = 0; d < dim; ++d)
                values[d] = s.x[d][q];
              const std::lock_guard<std::mutex> lock(result->mutex);
              if (result->found && !is_before(values, result->values))
                continue;
              result->found = true;
              std::copy_n(values, n, result->values);
            }
          return 0.;
        }

        static constexpr int n = 2 * dim + 2;

        /// NaN comes after all numbers.
        static bool
        is_before(const double *a, const double *b)
        {
          return std::lexicographical_compare(
            a, a + n, b, b + n, [](const double v, const double w) {
              return std::isnan(w) ? !std::isnan(v) : v < w;
            });
        }
      };
    } // namespace



    template <int dim>
    void
    check_points(PolytopewiseOperator<dim> &op,
                 const MPI_Comm             communicator,
                 const Flow::IdealGas<dim> &gas,
                 const ConservationVector  &u,
                 const std::string         &what,
                 const std::string         &remedy)
    {
      typename FirstBadPoint<dim>::Result result;
      op.evaluate(FirstBadPoint<dim>{gas, &result}, u);
      // Point and state; nothing on processes without such a point.
      std::vector<double> first;
      if (result.found)
        first.assign(result.values, result.values + 2 * dim + 2);
      const auto all = Utilities::MPI::all_gather(communicator, first);
      for (const auto &other : all)
        if (first.empty() ||
            (!other.empty() &&
             FirstBadPoint<dim>::is_before(other.data(), first.data())))
          first = other;
      if (first.empty())
        return;
      const double *const x = first.data(), *const state = x + dim;
      AssertThrow(false,
                  ExcMessage(what + " has the density " + short_text(state[0]) +
                             " and the pressure " +
                             short_text(gas.pressure(state)) +
                             " at the point (" + point_text(x, dim) +
                             "), but both must be positive: " + remedy));
    }



    template class PrimitiveState<2>;
    template class PrimitiveState<3>;
    template void
    check_points(PolytopewiseOperator<2> &,
                 const MPI_Comm,
                 const Flow::IdealGas<2> &,
                 const ConservationVector &,
                 const std::string &,
                 const std::string &);
    template void
    check_points(PolytopewiseOperator<3> &,
                 const MPI_Comm,
                 const Flow::IdealGas<3> &,
                 const ConservationVector &,
                 const std::string &,
                 const std::string &);
  } // namespace Application
} // namespace Tessella
