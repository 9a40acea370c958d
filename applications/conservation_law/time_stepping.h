// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_conservation_law_time_stepping_h
#define tessella_applications_conservation_law_time_stepping_h

#include <deal.II/base/time_stepping.h>

#include <tessella/operators/pointwise_operator.h>
#include <tessella/operators/polytopewise_operator.h>

#include <string>
#include <vector>

#include "conservation_input.h"
#include "mass_matrix.h"

namespace Tessella
{
  namespace Application
  {
    /**
     * Strong stability preserving Runge-Kutta methods of order 1 (Euler), 2
     * (Heun) and 3 of C.-W. Shu and S. Osher (J. Comput. Phys. 77, 1988,
     * 439-471): explicit methods of deal.II, which lacks the second one.
     */
    class SSPRungeKutta
      : public dealii::TimeStepping::ExplicitRungeKutta<ConservationVector>
    {
    public:
      explicit SSPRungeKutta(const unsigned int order);

      /// Weights of the stages.
      const std::vector<double> &
      weights() const
      {
        return this->b;
      }
    };



    /**
     * Method of lines on one mesh with one degree: u' = -M^{-1} R(u), with
     * limiters in all stages.
     *
     * <b>Limiters in stages.</b> deal.II's methods store the derivatives of the
     * stages and add them to the old solution. The state of each stage is
     * limited when its derivative is computed, and the new solution is limited
     * at the end. Since limiters keep mean values, the mean values are those of
     * the method in the form of Shu and Osher, which limits each of the Euler
     * steps of whose convex combinations it consists; bounds of the mean values
     * follow from those of Euler steps as usual.
     */
    template <int dim>
    class ConservationSolver
    {
    public:
      ConservationSolver(const ConservationInput         &input,
                         const ConservationProblem<dim>  &problem,
                         const AgglomerationHandler<dim> &handler,
                         const AssemblyParameters        &data,
                         const unsigned int               coefficient_order);

      /// Projects the initial condition and computes the solution at the final
      /// time.
      void
      run();

      ConservationVector solution;
      unsigned int       n_steps = 0;
      /// Change of integrals that the flux through the boundary does not
      /// account for, over the largest integral of absolute mean values; the
      /// largest over the components.
      double drift = 0.;

      const OperatorReport &
      report() const
      {
        return op.report();
      }

    private:
      /// Applies the limiters to a state at time @p t.
      void
      limit(ConservationVector &u, const double t);
      /// -M^{-1} R of the limited state.
      ConservationVector
      derivative(const double t, const ConservationVector &u);
      /// The largest step that the CFL number allows.
      double
      largest_step(const double t);
      /// Throws with the first owned polytope whose entry of @p results is
      /// negative or not a number. Collective.
      void
      check(const std::vector<double> &results,
            const std::string         &what,
            const std::string         &remedy,
            const double               t) const;
      /// Sum of the absolute mean values times measures.
      double
      size_of(const unsigned int component);

      const ConservationInput         &input;
      const ConservationProblem<dim>  &problem;
      const AgglomerationHandler<dim> &handler;
      PointwiseOperator<dim>           op;
      PolytopewiseOperator<dim>        polytopewise;
      const InverseMassMatrix<dim>     inverse_mass;
      const SSPRungeKutta              runge_kutta;
      bool                             has_boundary;
      /// Lengths 2 |K| / ((2 p + 1) |dK|).
      std::vector<double> length;
      /// Present step and its stage; time integral of the flux through the
      /// boundary.
      double              step  = 0.;
      unsigned int        stage = 0;
      std::vector<double> outflow;
    };
  } // namespace Application
} // namespace Tessella

#endif
