// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Tutorial step-10: the heat equation by space-time dG. It parallels step-26 of
// deal.II. README.md is the introduction.

#include <deal.II/base/convergence_table.h>

#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/tria.h>
#include <deal.II/lac/solver_control.h>
#include <deal.II/lac/solver_gmres.h>
#include <deal.II/lac/trilinos_precondition.h>
#include <deal.II/lac/trilinos_sparse_matrix.h>
#include <deal.II/lac/trilinos_vector.h>

#include <tessella/base/run_main.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/grid/agglomeration.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/numerics/data_out.h>
#include <tessella/numerics/vector_tools.h>
#include <tessella/space_time/space_time_form.h>
#include <tessella/space_time/space_time_stepping.h>

#include <cmath>
#include <iostream>
#include <string>

using namespace dealii;
using namespace Tessella;
using VectorType = TrilinosWrappers::MPI::Vector;

// A space-time point has three coordinates, the last of which is time.
double
exact(const Point<3> &x)
{
  return std::exp(-x[2]) * std::sin(numbers::PI * x[0]) *
         std::sin(numbers::PI * x[1]);
}

double
exact_at(const Point<2> &x, const double time)
{
  return exact(Point<3>(x[0], x[1], time));
}

// Solves to t = 1/2 with steps of equal length and returns the error there.
double
run(const unsigned int n,
    const unsigned int n_steps,
    const unsigned int degree,
    ConvergenceTable  &table)
{
  const double     final_time = 0.5;
  Triangulation<2> triangulation;
  GridGenerator::subdivided_hyper_cube_with_simplices(triangulation, n);
  Tessella::AgglomerationHandler<2> handler(triangulation);
  handler.agglomerate(
    Agglomeration::metis<2>(triangulation.n_active_cells() / 8));
  handler.distribute_dofs(FE_BoundingBoxLegendre<2>(degree));

  // du/dt - Laplace(u) = f, u = 0 on the boundary at all times.
  SpaceTimeForm<2> form;
  form.set_diffusion(1.);
  form.set_source([](const Point<3> &x) {
    return (2. * numbers::PI * numbers::PI - 1.) * exact(x);
  });

  // A step solves for a polynomial of this degree in space and time on each
  // prism, a polygon times the interval of the step. Steps of equal length have
  // the same matrix, which is kept with its preconditioner.
  SolverControl                           control(500, 1e-12, false, false);
  SolverGMRES<VectorType>::AdditionalData data(100);
  SolverGMRES<VectorType>                 gmres(control, data);
  TrilinosWrappers::PreconditionBlockwiseDirect preconditioner;
  using Stepping = SpaceTimeStepping<2>;
  Stepping stepping(handler,
                    form,
                    Stepping::make_solver(gmres, preconditioner));

  VectorType initial(handler.locally_owned_dofs(), MPI_COMM_WORLD);
  Tessella::VectorTools::project(
    handler, [](const Point<2> &x) { return exact_at(x, 0.); }, initial);
  // Files for ParaView after every step: solution.pvd and what it lists.
  if (n == 16 && degree == 1)
    {
      stepping.write_pvd("solution");
      write_polytopes_vtu(handler, "polytopes.vtu");
    }
  stepping.initialize(0., initial);
  double largest_jump = 0.;
  for (unsigned int i = 0; i < n_steps; ++i)
    {
      stepping.step(final_time / n_steps);
      // The jump in time is an estimate of the error of the step.
      largest_jump = std::max(largest_jump, stepping.jump());
    }

  const double error = Tessella::VectorTools::compute_error(
    handler,
    stepping.value(),
    [final_time](const Point<2> &x) { return exact_at(x, final_time); },
    dealii::VectorTools::L2_norm);
  table.add_value("p", degree);
  table.add_value("polygons", handler.n_polytopes());
  table.add_value("steps", n_steps);
  table.add_value("unknowns", stepping.slab().n_dofs());
  table.add_value("jump", largest_jump);
  table.add_value("L2", error);
  return error;
}

void
print(ConvergenceTable &table)
{
  for (const std::string column : {"jump", "L2"})
    {
      table.set_precision(column, 3);
      table.set_scientific(column, true);
      table.evaluate_convergence_rates(column,
                                       ConvergenceTable::reduction_rate_log2);
    }
  table.write_text(std::cout);
  std::cout << std::endl;
}

int
main(int argc, char **argv)
{
  return run_main(argc, argv, []() {
    // Mesh and steps are refined together.
    for (const unsigned int degree : {1, 2})
      {
        ConvergenceTable table;
        for (unsigned int level = 0; level < 3; ++level)
          run(8 << level, 4 << level, degree, table);
        print(table);
      }
  });
}
