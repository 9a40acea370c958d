// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Tutorial step-5: layers of materials, advection and inflow. It parallels
// step-9 and step-12 of deal.II. README.md is the introduction.

#include <deal.II/base/convergence_table.h>

#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/tria.h>
#include <deal.II/lac/solver_control.h>
#include <deal.II/lac/trilinos_solver.h>
#include <deal.II/lac/trilinos_sparse_matrix.h>
#include <deal.II/lac/trilinos_vector.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/base/run_main.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/forms/cellwise_coefficient.h>
#include <tessella/grid/agglomeration.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/grid/within_materials.h>
#include <tessella/numerics/data_out.h>
#include <tessella/numerics/vector_tools.h>

#include <cmath>
#include <iostream>
#include <map>
#include <string>

using namespace dealii;
using namespace Tessella;
using Handler  = Tessella::AgglomerationHandler<2>;
using Strategy = Agglomeration::Strategy<2>;

// Assembles and solves; with advection the matrix is not symmetric, so that
// conjugate gradients would not do.
double
solve(const Handler                                 &handler,
      const AdvectionDiffusionReaction<2>           &form,
      const std::function<double(const Point<2> &)> &exact,
      TrilinosWrappers::MPI::Vector                 &solution)
{
  PolytopicAssembler<2>          assembler(handler);
  TrilinosWrappers::SparseMatrix matrix;
  TrilinosWrappers::MPI::Vector  rhs;
  assembler.reinit(matrix, rhs);
  assembler.assemble(form, matrix, rhs);
  solution.reinit(rhs);
  SolverControl                  control;
  TrilinosWrappers::SolverDirect solver(control);
  solver.solve(matrix, solution, rhs);
  return Tessella::VectorTools::compute_error(handler,
                                              solution,
                                              exact,
                                              dealii::VectorTools::L2_norm);
}

void
print(ConvergenceTable &table)
{
  table.set_precision("L2", 3);
  table.set_scientific("L2", true);
  table.evaluate_convergence_rates("L2",
                                   "unknowns",
                                   ConvergenceTable::reduction_rate_log2,
                                   2);
  table.write_text(std::cout);
  std::cout << std::endl;
}

// The first problem: three layers of rock, of which the middle one conducts a
// thousand times worse. The material id says which is where.
//
// The exact solution depends on y alone. It is continuous with its flux, and
// cubic in each layer.
const double conductivity[2] = {1., 1e-3};

unsigned int
material(const double y)
{
  return y > 0.25 && y < 0.75 ? 1 : 0;
}

// The integral of y^2 / a(y) from zero.
double
layered(const Point<2> &x)
{
  const double y = x[1];
  const auto   I = [](const double a, const double b) {
    return (b * b * b - a * a * a) / 3.;
  };
  return I(0., std::min(y, 0.25)) / conductivity[0] +
         I(0.25, std::max(0.25, std::min(y, 0.75))) / conductivity[1] +
         I(0.75, std::max(0.75, y)) / conductivity[0];
}

// Polygons may contain cells of several materials: each cell has its own value,
// and assembly is exact. But a polynomial cannot follow the kink of the
// solution. within_materials() splits polygons where the material changes.
void
study_layers(const bool split)
{
  ConvergenceTable table;
  for (const unsigned int n : {8, 16, 32})
    {
      Triangulation<2> triangulation;
      GridGenerator::subdivided_hyper_cube_with_simplices(triangulation, n);
      for (const auto &cell : triangulation.active_cell_iterators())
        cell->set_material_id(material(cell->center()[1]));
      const Strategy metis =
        Agglomeration::metis<2>(triangulation.n_active_cells() / 8);
      Handler handler(triangulation);
      handler.agglomerate(split ? Agglomeration::within_materials<2>(metis)
                                : metis);
      handler.distribute_dofs(FE_BoundingBoxLegendre<2>(2));

      AdvectionDiffusionReaction<2> form;
      form.set_diffusion(CellwiseCoefficient(
        std::map<types::material_id, double>{{0, conductivity[0]},
                                             {1, conductivity[1]}}));
      form.set_source([](const Point<2> &x) { return -2. * x[1]; });
      form.set_default_boundary_condition({BoundaryType::dirichlet, layered});
      TrilinosWrappers::MPI::Vector solution;
      const double error = solve(handler, form, layered, solution);
      table.add_value("split", std::string(split ? "yes" : "no"));
      table.add_value("polygons", handler.n_polytopes());
      table.add_value("unknowns", handler.n_dofs());
      table.add_value("L2", error);
    }
  print(table);
}

// The second problem: a wind with little diffusion, or with none. Dirichlet
// values are given on the whole boundary. Where there is diffusion they count
// everywhere. Where there is none they count where the wind enters, and the
// form finds out itself where this is, point by point.
double
smooth(const Point<2> &x)
{
  return 1. + std::sin(numbers::PI * (1. + x[0]) * (1. + x[1]) / 8.);
}

double
source(const Point<2> &x, const double diffusion)
{
  const double k = numbers::PI / 8., s = k * (1. + x[0]), t = k * (1. + x[1]),
               phase = s * (1. + x[1]);
  // b . grad u - diffusion * Laplace(u) with b = (1, 1/2)
  return (t + 0.5 * s) * std::cos(phase) +
         diffusion * (t * t + s * s) * std::sin(phase);
}

void
study_wind(const double diffusion)
{
  ConvergenceTable table;
  for (const unsigned int n : {8, 16, 32})
    {
      Triangulation<2> triangulation;
      GridGenerator::subdivided_hyper_cube_with_simplices(triangulation, n);
      Handler handler(triangulation);
      handler.agglomerate(
        Agglomeration::metis<2>(triangulation.n_active_cells() / 8));
      handler.distribute_dofs(FE_BoundingBoxLegendre<2>(2));

      AdvectionDiffusionReaction<2> form;
      if (diffusion > 0.)
        form.set_diffusion(diffusion);
      Tensor<1, 2> wind;
      wind[0] = 1.;
      wind[1] = 0.5;
      form.set_advection(wind);
      form.set_source(
        [diffusion](const Point<2> &x) { return source(x, diffusion); });
      form.set_default_boundary_condition({BoundaryType::dirichlet, smooth});
      TrilinosWrappers::MPI::Vector solution;
      const double error = solve(handler, form, smooth, solution);
      table.add_value("diffusion", diffusion);
      table.add_value("polygons", handler.n_polytopes());
      table.add_value("unknowns", handler.n_dofs());
      table.add_value("L2", error);
    }
  print(table);
}

// The third problem is for the eye: a step at the inflow boundary is carried
// through the domain. The jumps between polygons let it stay a step, up to
// small overshoots beside it.
void
draw_step()
{
  Triangulation<2> triangulation;
  GridGenerator::subdivided_hyper_cube_with_simplices(triangulation, 32);
  Handler handler(triangulation);
  handler.agglomerate(
    Agglomeration::metis<2>(triangulation.n_active_cells() / 8));
  handler.distribute_dofs(FE_BoundingBoxLegendre<2>(1));
  AdvectionDiffusionReaction<2> form;
  Tensor<1, 2>                  wind;
  wind[0] = 1.;
  wind[1] = 0.5;
  form.set_advection(wind);
  const auto step = [](const Point<2> &x) {
    return x[1] - 0.5 * x[0] > 0.2 ? 1. : 0.;
  };
  form.set_default_boundary_condition({BoundaryType::dirichlet, step});
  TrilinosWrappers::MPI::Vector solution;
  std::cout << "L2 error of the step " << solve(handler, form, step, solution)
            << std::endl;
  PolytopicDataOut<2> data_out(handler);
  data_out.add_data_vector(solution, "solution");
  data_out.build_patches();
  data_out.write_vtu_file("solution.vtu");
  write_polytopes_vtu(handler, "polytopes.vtu");
}

int
main(int argc, char **argv)
{
  return run_main(argc, argv, []() {
    study_layers(false);
    study_layers(true);
    for (const double diffusion : {1., 1e-3, 0.})
      study_wind(diffusion);
    draw_step();
  });
}
