// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "implicit_stage.h"

#include <deal.II/base/exceptions.h>

#include <deal.II/lac/solver_control.h>

#include <tessella/lac/solver_fused_gmres.h>
#include <tessella/time_stepping/newton_solver.h>

#include <string>

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    namespace
    {
      /// M / tau + R'(u), without a matrix.
      template <int dim>
      struct TangentOperator
      {
        PointwiseOperator<dim>        &op;
        const PointwiseIntegrand<dim> &integrand;
        const MassMatrix<dim>         &mass;
        const HostVector<double>      &u;
        double                         tau;

        void
        vmult(HostVector<double> &dst, const HostVector<double> &src) const
        {
          op.template apply_tangent<HostVector<double>>(integrand,
                                                        {&u},
                                                        src,
                                                        dst);
          mass.vmult_add(1. / tau, dst, src);
        }
      };
    } // namespace



    template <int dim>
    ImplicitStage<dim>::ImplicitStage(const TimeIntegrationInput     &input,
                                      const ConservationProblem<dim> &problem,
                                      PointwiseOperator<dim>         &op,
                                      const MassMatrix<dim>          &mass)
      : input(input)
      , problem(problem)
      , op(op)
      , mass(mass)
    {
      op.reinit(matrix);
    }



    template <int dim>
    void
    ImplicitStage<dim>::solve_linear(const double              tau,
                                     const HostVector<double> &u,
                                     const HostVector<double> &g,
                                     HostVector<double>       &du)
    {
      if (!input.matrix_free || tau != present_tau)
        {
          op.template assemble_jacobian<HostVector<double>>(*problem.integrand,
                                                            {&u},
                                                            matrix);
          mass.add_to(1. / tau, matrix);
          // Colours give the same bits for every number of processes.
          SweepData sweeps;
          sweeps.ordering = SweepOrdering::colors;
          preconditioner.initialize(matrix, sweeps);
          present_tau = tau;
        }
      SolverControl control(input.gmres_steps,
                            input.linear_tolerance * g.l2_norm(),
                            false,
                            false);
      // The preconditioner is taken from the right, so that the solver tests
      // the true residual.
      using Solver = SolverFusedGMRES<HostVector<double>>;
      Solver gmres(control, Solver::AdditionalData(input.gmres_vectors));
      try
        {
          if (input.matrix_free)
            gmres.solve(
              TangentOperator<dim>{op, *problem.integrand, mass, u, tau},
              du,
              g,
              preconditioner);
          else
            gmres.solve(matrix, du, g, preconditioner);
        }
      catch (const SolverControl::NoConvergence &)
        {
          AssertThrow(false,
                      ExcMessage("GMRES has not reached Newton/Linear "
                                 "tolerance in " +
                                 std::to_string(input.gmres_steps) +
                                 " iterations."));
        }
      n_iterations += control.last_step();
    }



    template <int dim>
    void
    ImplicitStage<dim>::solve(const double              t,
                              const double              tau,
                              const HostVector<double> &known,
                              HostVector<double>       &u)
    {
      problem.integrand->set_time(t);
      HostVector<double> difference(known);
      difference = 0.;
      mass.vmult_add(1. / tau, difference, known);
      NewtonSolver<HostVector<double>>::AdditionalData data;
      // Where the known part is zero, the first residual is the scale.
      data.relative_tolerance = input.newton_tolerance;
      data.absolute_tolerance = input.newton_tolerance * difference.l2_norm();
      data.max_iterations     = input.newton_steps;
      data.max_halvings       = input.step_halvings;
      NewtonSolver<HostVector<double>> newton(data);
      newton.solve(
        [&](const HostVector<double> &x, HostVector<double> &g) {
          op.template residual<HostVector<double>>(*problem.integrand, {&x}, g);
          difference = x;
          difference.add(-1., known);
          mass.vmult_add(1. / tau, g, difference);
        },
        [&](const HostVector<double> &x,
            const HostVector<double> &g,
            HostVector<double>       &du) { solve_linear(tau, x, g, du); },
        u);
      n_newton_steps += newton.last_step();
    }



    template class ImplicitStage<2>;
    template class ImplicitStage<3>;
  } // namespace Application
} // namespace Tessella
