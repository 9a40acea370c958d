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

    template <int dim, typename VectorType>
    struct ImplicitStage<dim, VectorType>::TangentOperator
    {
      const ImplicitStage &stage;
      const VectorType    &u;
      double               tau;

      void
      vmult(VectorType &dst, const VectorType &src) const
      {
        if (stage.functions.tangent)
          stage.functions.tangent(stage.time, u, src, dst);
        else
          stage.op.template apply_tangent<VectorType>(*stage.problem.integrand,
                                                      {&u},
                                                      src,
                                                      dst);
        stage.mass.vmult_add(1. / tau, dst, src);
      }
    };



    template <int dim, typename VectorType>
    ImplicitStage<dim, VectorType>::ImplicitStage(
      const TimeIntegrationInput     &input,
      const ConservationProblem<dim> &problem,
      PointwiseOperator<dim>         &op,
      const Mass                     &mass,
      const Functions                &functions)
      : input(input)
      , problem(problem)
      , op(op)
      , mass(mass)
      , functions(functions)
    {
      AssertThrow(functions.assembly ||
                    !ConservationMemory<VectorType>::on_device,
                  ExcMessage("Implicit methods with vectors on a device need a "
                             "function that assembles the matrix there."));
      op.reinit(matrix);
    }



    template <int dim, typename VectorType>
    void
    ImplicitStage<dim, VectorType>::solve_linear(const double      tau,
                                                 const VectorType &u,
                                                 const VectorType &g,
                                                 VectorType       &du)
    {
      if (functions.linearize)
        functions.linearize(u);
      if (!input.matrix_free || tau != present_tau)
        {
          if (functions.assembly)
            functions.assembly(time, tau, u, matrix);
          else if constexpr (!ConservationMemory<VectorType>::on_device)
            {
              op.template assemble_jacobian<VectorType>(*problem.integrand,
                                                        {&u},
                                                        matrix);
              mass.add_to(1. / tau, matrix);
            }
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
      using Solver = SolverFusedGMRES<VectorType>;
      Solver gmres(control,
                   typename Solver::AdditionalData(input.gmres_vectors));
      try
        {
          if (input.matrix_free)
            gmres.solve(TangentOperator{*this, u, tau}, du, g, preconditioner);
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



    template <int dim, typename VectorType>
    void
    ImplicitStage<dim, VectorType>::solve(const double      t,
                                          const double      tau,
                                          const VectorType &known,
                                          VectorType       &u)
    {
      problem.integrand->set_time(t);
      time = t;
      VectorType difference(known);
      difference = 0.;
      mass.vmult_add(1. / tau, difference, known);
      typename NewtonSolver<VectorType>::AdditionalData data;
      // Where the known part is zero, the first residual is the scale.
      data.relative_tolerance = input.newton_tolerance;
      data.absolute_tolerance = input.newton_tolerance * difference.l2_norm();
      data.max_iterations     = input.newton_steps;
      data.max_halvings       = input.step_halvings;
      NewtonSolver<VectorType> newton(data);
      newton.solve(
        [&](const VectorType &x, VectorType &g) {
          if (functions.residual)
            functions.residual(t, x, g);
          else
            op.template residual<VectorType>(*problem.integrand, {&x}, g);
          difference = x;
          difference.add(-1., known);
          mass.vmult_add(1. / tau, g, difference);
        },
        [&](const VectorType &x, const VectorType &g, VectorType &du) {
          solve_linear(tau, x, g, du);
        },
        u);
      n_newton_steps += newton.last_step();
    }



    template class ImplicitStage<2, HostVector<double>>;
    template class ImplicitStage<3, HostVector<double>>;
    template class ImplicitStage<2, DeviceVector<double>>;
    template class ImplicitStage<3, DeviceVector<double>>;
  } // namespace Application
} // namespace Tessella
