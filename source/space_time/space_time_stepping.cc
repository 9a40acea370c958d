// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/data_out_base.h>
#include <deal.II/base/mpi.h>
#include <deal.II/base/timer.h>
#include <deal.II/base/utilities.h>

#include <deal.II/lac/la_parallel_vector.h>

#include <tessella/base/config.h>
#include <tessella/base/error_message.h>
#include <tessella/base/exceptions.h>
#include <tessella/base/on_all_processes.h>
#include <tessella/lac/device_block_matrix.h>
#include <tessella/lac/device_vector.h>
#include <tessella/numerics/data_out.h>
#include <tessella/numerics/write_file.h>
#include <tessella/space_time/space_time_stepping.h>

#include <algorithm>
#include <cmath>

#include "../base/vector_types.h"

namespace Tessella
{
  using namespace dealii;

  template <int dim, typename MatrixType, typename VectorType>
  SpaceTimeStepping<dim, MatrixType, VectorType>::SpaceTimeStepping(
    const AgglomerationHandler<dim> &handler,
    SpaceTimeForm<dim>              &form,
    const Solver                    &solver,
    const AdditionalData            &data)
    : form(form)
    , solver(solver)
    , data(data)
    , present_slab(handler, data.space)
  {}



  template <int dim, typename MatrixType, typename VectorType>
  void
  SpaceTimeStepping<dim, MatrixType, VectorType>::initialize(
    const double time, const ConstVectorView &value, const unsigned int n_steps)
  {
    const AgglomerationHandler<dim> &handler = present_slab.handler();
    AssertThrow(std::isfinite(time),
                ExcUserInput("The first time is " + std::to_string(time) +
                             ": it must be a finite number."));
    VectorType                    new_value;
    const VectorView              view(new_value);
    const types::global_dof_index n = handler.n_locally_owned_dofs();
    std::vector<double>           memory, new_memory;
    view.reinit(handler.locally_owned_dofs(), handler.get_communicator());
    on_all_processes(handler.get_communicator(), [&]() {
      const double *const values = value.values(n, memory);
      AssertThrow(std::all_of(values,
                              values + n,
                              [](const double v) { return std::isfinite(v); }),
                  ExcUserInput("The initial value is not finite: change the "
                               "initial function such that it is finite in the "
                               "whole domain."));
      std::copy(values, values + n, view.start(n, new_memory));
      view.finish(new_memory);
    });
    present_time  = time;
    present_value = new_value;
    present_jump  = 0.;
    step_number   = n_steps;
    write_output();
  }



  template <int dim, typename MatrixType, typename VectorType>
  void
  SpaceTimeStepping<dim, MatrixType, VectorType>::write_pvd(
    const std::string &file_name,
    const std::string &field,
    const unsigned int every)
  {
    AssertThrow(!file_name.empty() && every > 0,
                ExcUserInput(
                  "Output for ParaView needs the name of a file, and "
                  "a number of steps that is positive."));
    output_file  = file_name;
    output_field = field;
    output_every = every;
    output_records.clear();
  }



  template <int dim, typename MatrixType, typename VectorType>
  void
  SpaceTimeStepping<dim, MatrixType, VectorType>::write_output()
  {
    if (output_file.empty() || step_number % output_every != 0)
      return;
    const AgglomerationHandler<dim> &handler = present_slab.handler();
    const std::string                name =
      output_file + "-" + Utilities::int_to_string(step_number, 4) + ".vtu";
    PolytopicDataOut<dim> data_out(handler);
    data_out.add_data_vector(present_value, output_field);
    data_out.build_patches();
    data_out.write_vtu_file(name);
    // Names in the .pvd file are relative to its folder.
    output_records.emplace_back(present_time,
                                name.substr(name.find_last_of('/') + 1));
    const MPI_Comm comm = handler.get_communicator();
    on_all_processes(comm, [&]() {
      if (Utilities::MPI::this_mpi_process(comm) == 0)
        write_file(output_file + ".pvd", [&](std::ostream &out) {
          DataOutBase::write_pvd_record(out, output_records);
        });
    });
  }



  template <int dim, typename MatrixType, typename VectorType>
  PolytopicAssembler<dim + 1> &
  SpaceTimeStepping<dim, MatrixType, VectorType>::assembler()
  {
    AssertThrow(present_assembler != nullptr,
                ExcMessage("There is an assembler from the first step on."));
    return *present_assembler;
  }



  template <int dim, typename MatrixType, typename VectorType>
  void
  SpaceTimeStepping<dim, MatrixType, VectorType>::step(
    const double length, const std::vector<unsigned int> &n_intervals)
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

    VectorType bottom;
    present_slab.trace(present_solution, 0., bottom, true);
    bottom -= present_value;
    present_jump = present_slab.L2_norm(bottom);
    present_slab.trace(present_solution, present_slab.length(), present_value);
    present_time = present_slab.end();
    ++step_number;
    write_output();
  }



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



#define INSTANTIATE(dim)                                              \
  TESSELLA_IF_EPETRA(                                                 \
    template class SpaceTimeStepping<dim,                             \
                                     TrilinosWrappers::SparseMatrix,  \
                                     TrilinosWrappers::MPI::Vector>;) \
  template class SpaceTimeStepping<dim,                               \
                                   HostBlockMatrix<double>,           \
                                   HostVector<double>>;               \
  template class SpaceTimeStepping<                                   \
    dim,                                                              \
    HostBlockMatrix<double>,                                          \
    LinearAlgebra::distributed::Vector<double>>;                      \
  template class SpaceTimeStepping<dim,                               \
                                   DeviceBlockMatrix<double>,         \
                                   DeviceVector<double>>;
  INSTANTIATE(2)
  INSTANTIATE(3)
#undef INSTANTIATE
} // namespace Tessella
