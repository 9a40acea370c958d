// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Tutorial step-6: adaptive refinement, and a restart from a file. It parallels
// step-6 and step-83 of deal.II. README.md is the introduction.

#include <deal.II/base/convergence_table.h>
#include <deal.II/base/mpi.h>

#include <deal.II/distributed/tria.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/lac/solver_cg.h>
#include <deal.II/lac/solver_control.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/base/run_main.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/grid/agglomeration.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/lac/host_block_matrix.h>
#include <tessella/lac/host_vector.h>
#include <tessella/multigrid/multigrid.h>
#include <tessella/numerics/checkpoint.h>
#include <tessella/numerics/data_out.h>
#include <tessella/numerics/error_estimator.h>
#include <tessella/numerics/grid_refinement.h>
#include <tessella/numerics/solution_transfer.h>
#include <tessella/numerics/vector_tools.h>

#include <cmath>
#include <iostream>
#include <memory>
#include <string>

using namespace dealii;
using namespace Tessella;
using Handler = Tessella::AgglomerationHandler<2>;

// The domain is (-1, 1)^2 without the quadrant where both coordinates are
// positive. u = r^(2/3) sin(2/3 theta) solves Laplace's equation and is zero on
// both edges that meet in the corner, where its gradient is not bounded.
class Corner : public Function<2>
{
public:
  double
  value(const Point<2> &x, const unsigned int = 0) const override
  {
    return std::pow(x.norm(), 2. / 3.) * std::sin(2. / 3. * angle(x));
  }
  Tensor<1, 2>
  gradient(const Point<2> &x, const unsigned int = 0) const override
  {
    const double phi    = angle(x),
                 factor = 2. / 3. * std::pow(x.norm(), -1. / 3.);
    // unit vectors along and across the ray, turned back to x and y
    const double radial = std::sin(2. / 3. * phi),
                 across = std::cos(2. / 3. * phi);
    const double c = x[0] / x.norm(), s = x[1] / x.norm();
    Tensor<1, 2> result;
    result[0] = factor * (radial * c - across * s);
    result[1] = factor * (radial * s + across * c);
    return result;
  }

private:
  // Angle theta from the edge on the positive y axis, through the domain, to
  // the edge on the positive x axis.
  static double
  angle(const Point<2> &x)
  {
    const double phi = std::atan2(x[1], x[0]) - numbers::PI_2;
    return phi < -1e-12 ? phi + 2. * numbers::PI : std::max(phi, 0.);
  }
};

// Everything that belongs to the present mesh.
class Adaptive
{
public:
  Adaptive();
  void
  begin();
  void
  go_on(const std::string &file);
  void
  run(const unsigned int last_step);
  void
  save(const std::string &file);
  void
  print();
  void
  draw() const;

private:
  void
  solve_and_estimate();
  void
  adapt();

  parallel::distributed::Triangulation<2> triangulation{MPI_COMM_WORLD};
  std::unique_ptr<Handler>                handler;
  HostVector<double>                      solution;
  Vector<double>                          indicators;
  AdvectionDiffusionReaction<2>           form;
  ConvergenceTable                        table;
  unsigned int                            step = 0;
};

// Four quadrilaterals of one parent are a polygon, and stay one as long as none
// of them is refined. Refined and coarsened polygons are then families as well.
const auto families = Agglomeration::complete_families<2>();

Adaptive::Adaptive()
{
  GridGenerator::hyper_L(triangulation);
  form.set_diffusion(1.);
  BoundaryCondition<2> condition;
  condition.value = std::make_shared<Corner>();
  form.set_default_boundary_condition(condition);
}

void
Adaptive::begin()
{
  triangulation.refine_global(3);
  handler = std::make_unique<Handler>(triangulation);
  handler->agglomerate(families);
  handler->distribute_dofs(FE_BoundingBoxLegendre<2>(2));
  solution.reinit(handler->locally_owned_dofs(), MPI_COMM_WORLD);
}

// Conjugate gradients begin with the solution of the last mesh.
void
Adaptive::solve_and_estimate()
{
  PolytopicAssembler<2>   assembler(*handler);
  HostBlockMatrix<double> matrix;
  HostVector<double>      rhs;
  assembler.reinit(matrix, rhs);
  assembler.assemble(form, matrix, rhs);
  Multigrid<HostBlockMatrix<double>> multigrid;
  multigrid.initialize(assembler, form, matrix);
  SolverControl                control(200, 1e-10 * rhs.l2_norm());
  SolverCG<HostVector<double>> solver(control);
  solver.solve(matrix, solution, rhs, multigrid);

  // The indicator of a polygon measures the residual in it and the jumps on its
  // boundary, in the norm of the method.
  const auto sigma = assembler.penalty(form);
  ErrorEstimator::residual(*handler, form, sigma, solution, indicators);
  const auto errors = Tessella::VectorTools::compute_errors(
    *handler, form, sigma, solution, Corner());
  table.add_value("step", step);
  table.add_value("polygons", handler->n_global_polytopes());
  table.add_value("unknowns", handler->n_dofs());
  table.add_value("error", errors.dG);
  table.add_value("estimate", ErrorEstimator::global(*handler, indicators));
}

// The flags are set by the indicators. One call refines the mesh, makes the
// polygons and unknowns anew and projects the solution.
void
Adaptive::adapt()
{
  Tessella::GridRefinement::refine_and_coarsen_fixed_fraction(
    triangulation, *handler, indicators, 0.5, 0.02);
  PolytopicSolutionTransfer<2>(triangulation)
    .execute(*handler, families, solution);
}

void
Adaptive::run(const unsigned int last_step)
{
  for (;; ++step)
    {
      solve_and_estimate();
      if (step == last_step)
        return;
      adapt();
    }
}

// The checkpoint has the mesh, the polygons and the solution, and any text of
// the program. It may be read with another number of processes.
void
Adaptive::save(const std::string &file)
{
  write_checkpoint(
    file, triangulation, *handler, solution, std::to_string(step));
}

void
Adaptive::go_on(const std::string &file)
{
  CheckpointReader<2> reader(file, MPI_COMM_WORLD);
  reader.load(triangulation);
  handler = std::make_unique<Handler>(triangulation);
  reader.restore(*handler);
  solution.reinit(handler->locally_owned_dofs(), MPI_COMM_WORLD);
  reader.read(*handler, solution);
  step = std::stoi(reader.user_data());
}

void
Adaptive::print()
{
  for (const std::string column : {"error", "estimate"})
    {
      table.set_precision(column, 3);
      table.set_scientific(column, true);
    }
  table.evaluate_convergence_rates("error",
                                   "unknowns",
                                   ConvergenceTable::reduction_rate_log2,
                                   2);
  if (Utilities::MPI::this_mpi_process(MPI_COMM_WORLD) == 0)
    table.write_text(std::cout);
}

void
Adaptive::draw() const
{
  PolytopicDataOut<2> data_out(*handler);
  data_out.add_data_vector(solution, "solution");
  data_out.add_polytope_data(indicators, "indicator");
  data_out.build_patches();
  data_out.write_vtu_file("solution.vtu");
  write_polytopes_vtu(*handler, "polytopes.vtu");
}

int
main(int argc, char **argv)
{
  return run_main(argc, argv, []() {
    // A first run ends after a number of steps and writes a checkpoint.
    {
      Adaptive first;
      first.begin();
      first.run(4);
      first.save("step-6.checkpoint");
      first.print();
    }
    // A second one, which might be another program on another day, goes on.
    Adaptive second;
    second.go_on("step-6.checkpoint");
    second.run(10);
    second.print();
    second.draw();
  });
}
