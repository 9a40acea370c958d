// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/timer.h>

#include <tessella/base/config.h>
#include <tessella/base/error_message.h>
#include <tessella/base/exceptions.h>
#include <tessella/space_time/space_time_stepping.h>

#include <algorithm>
#include <cmath>

namespace Tessella
{
  using namespace dealii;

#ifdef TESSELLA_HAVE_EPETRA
  template <int dim>
  SpaceTimeStepping<dim>::SpaceTimeStepping(
    const AgglomerationHandler<dim> &handler,
    SpaceTimeForm<dim>              &form,
    const Solver                    &solver,
    const AdditionalData            &data)
    : form(form)
    , solver(solver)
    , data(data)
    , present_slab(handler, data.space)
  {}



  template <int dim>
  void
  SpaceTimeStepping<dim>::initialize(const double          time,
                                     const Vector<double> &value,
                                     const unsigned int    n_steps)
  {
    const AgglomerationHandler<dim> &handler = present_slab.handler();
    const IndexSet                   owned   = handler.locally_owned_dofs();
    AssertThrow(value.size() == owned.n_elements(),
                ExcDimensionMismatch(value.size(), owned.n_elements()));
    TrilinosWrappers::MPI::Vector copy(owned, handler.get_communicator());
    std::copy(value.begin(), value.end(), copy.begin());
    initialize(time, copy, n_steps);
  }



  template <int dim>
  void
  SpaceTimeStepping<dim>::initialize(const double                         time,
                                     const TrilinosWrappers::MPI::Vector &value,
                                     const unsigned int n_steps)
  {
    AssertThrow(std::isfinite(time),
                ExcUserInput("The first time is " + std::to_string(time) +
                             ": it must be a finite number."));
    AssertThrow(value.size() == present_slab.handler().n_dofs(),
                ExcDimensionMismatch(value.size(),
                                     present_slab.handler().n_dofs()));
    AssertThrow(std::isfinite(value.l1_norm()),
                ExcUserInput("The initial value is not finite: change the "
                             "initial function such that it is finite in the "
                             "whole domain."));
    present_time  = time;
    present_value = value;
    present_jump  = 0.;
    step_number   = n_steps;
  }



  template <int dim>
  PolytopicAssembler<dim + 1> &
  SpaceTimeStepping<dim>::assembler()
  {
    AssertThrow(present_assembler != nullptr,
                ExcMessage("There is an assembler from the first step on."));
    return *present_assembler;
  }



  template <int dim>
  void
  SpaceTimeStepping<dim>::step(const double                     length,
                               const std::vector<unsigned int> &n_intervals)
  {
    AssertThrow(present_value.size() > 0,
                ExcMessage("Call initialize() before the first step."));
    Timer timer;
    present_slab.reinit(present_time, length, n_intervals);
    if (present_assembler == nullptr)
      present_assembler =
        std::make_unique<PolytopicAssembler<dim + 1>>(present_slab,
                                                      data.assembler);
    if (present_structure != present_slab.structure_revision())
      {
        present_structure = 0;
        matrix_revision   = 0;
        present_assembler->reinit(matrix, rhs);
        present_assembler->reinit(present_solution);
        present_structure = present_slab.structure_revision();
      }

    // ---- the system
    form.set_slab(present_slab);
    const bool keep_matrix =
      matrix_revision == present_slab.revision() && form.matrix_is_stationary();
    if (keep_matrix)
      present_assembler->assemble_rhs(form, rhs);
    else
      {
        matrix_revision = 0;
        present_assembler->assemble(form, matrix, rhs);
        matrix_revision = present_slab.revision();
      }
    present_slab.add_inflow(present_value, rhs);
    present_assembly_time = timer.wall_time();

    // ---- its solution
    timer.restart();
    present_slab.extend(present_value, present_solution);
    try
      {
        solver(matrix, present_solution, rhs, !keep_matrix);
      }
    catch (const std::exception &exception)
      {
        AssertThrow(false,
                    ExcSlabNotSolved(step_number + 1,
                                     present_slab.start(),
                                     present_slab.end(),
                                     error_message(exception)));
      }
    AssertThrow(std::isfinite(present_solution.l1_norm()),
                ExcSlabNotSolved(step_number + 1,
                                 present_slab.start(),
                                 present_slab.end(),
                                 "its solution is not finite."));
    present_solver_time = timer.wall_time();

    TrilinosWrappers::MPI::Vector bottom;
    present_slab.trace(present_solution, 0., bottom, true);
    bottom -= present_value;
    present_jump = present_slab.L2_norm(bottom);
    present_slab.trace(present_solution, present_slab.length(), present_value);
    present_time = present_slab.end();
    ++step_number;
  }
#endif



  double
  next_step_length(const double       length,
                   const double       jump,
                   const double       tolerance,
                   const unsigned int degree)
  {
    AssertThrow(tolerance > 0. && std::isfinite(tolerance),
                ExcUserInput("The tolerance of the step size is " +
                             std::to_string(tolerance) +
                             ": it must be a positive number."));
    const double ratio =
      jump > 0. ? 0.9 * std::pow(tolerance / jump, 1. / (degree + 1)) : 2.;
    return length * std::min(2., std::max(0.5, ratio));
  }



#ifdef TESSELLA_HAVE_EPETRA
  template class SpaceTimeStepping<2>;
  template class SpaceTimeStepping<3>;
#endif
} // namespace Tessella
