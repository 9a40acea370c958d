// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Tutorial step-3: convergence rates, one degree per polygon, and the penalty.
// It parallels step-7 and step-27 of deal.II. README.md is the introduction.

#include <deal.II/base/convergence_table.h>

#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/tria.h>
#include <deal.II/hp/fe_collection.h>
#include <deal.II/lac/solver_control.h>
#include <deal.II/lac/trilinos_solver.h>
#include <deal.II/lac/trilinos_sparse_matrix.h>
#include <deal.II/lac/trilinos_vector.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/base/run_main.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/grid/agglomeration.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/numerics/vector_tools.h>

#include <cmath>
#include <iostream>
#include <string>

using namespace dealii;
using namespace Tessella;
using Handler = Tessella::AgglomerationHandler<2>;

// Norms of derivatives need the gradient of the exact solution. A class of
// deal.II works as well as a pair of lambdas.
class Exact : public Function<2>
{
public:
  double
  value(const Point<2> &x, const unsigned int = 0) const override
  {
    return std::exp(x[0]) * std::sin(4. * x[1]);
  }
  Tensor<1, 2>
  gradient(const Point<2> &x, const unsigned int = 0) const override
  {
    Tensor<1, 2> result;
    result[0] = value(x);
    result[1] = 4. * std::exp(x[0]) * std::cos(4. * x[1]);
    return result;
  }
};

// Polygons of about eight triangles.
Agglomeration::Strategy<2>
polygons(const Triangulation<2> &triangulation)
{
  return Agglomeration::metis<2>(triangulation.n_active_cells() / 8);
}

// Solves -Laplace(u) = f with the boundary values of the exact solution and
// returns the errors. The degrees of freedom have been distributed.
Tessella::VectorTools::ErrorNorms
solve(const Handler &handler, const double penalty_constant)
{
  AdvectionDiffusionReaction<2> form;
  form.set_diffusion(1.);
  form.set_source([](const Point<2> &x) { return 15. * Exact().value(x); });
  BoundaryCondition<2> condition; // of type Dirichlet
  condition.value = std::make_shared<Exact>();
  form.set_default_boundary_condition(condition);

  // The penalty on an edge is this constant times a geometric factor, which
  // follows from the largest triangle on the edge inside the polygon.
  AssemblyParameters parameters;
  parameters.penalty.constant = penalty_constant;
  PolytopicAssembler<2>          assembler(handler, parameters);
  TrilinosWrappers::SparseMatrix matrix;
  TrilinosWrappers::MPI::Vector  rhs, solution;
  assembler.reinit(matrix, rhs);
  assembler.assemble(form, matrix, rhs);

  solution.reinit(rhs);
  SolverControl                  control;
  TrilinosWrappers::SolverDirect solver(control);
  solver.solve(matrix, solution, rhs);

  // All norms at once: L2, broken H1 seminorm, and the norm of the method,
  // which contains the jumps with the penalty.
  return Tessella::VectorTools::compute_errors(
    handler, form, assembler.penalty(form), solution, Exact());
}

void
add_errors(const Tessella::VectorTools::ErrorNorms &errors,
           ConvergenceTable                        &table)
{
  table.add_value("L2", errors.L2);
  table.add_value("H1", errors.H1_seminorm);
  for (const std::string norm : {"L2", "H1"})
    {
      table.set_precision(norm, 3);
      table.set_scientific(norm, true);
    }
}

void
print_rates(ConvergenceTable &table)
{
  // Rates with respect to the size of polygons, the number of unknowns to the
  // power of -1/2.
  for (const std::string norm : {"L2", "H1"})
    table.evaluate_convergence_rates(norm,
                                     "unknowns",
                                     ConvergenceTable::reduction_rate_log2,
                                     2);
  table.write_text(std::cout);
  std::cout << std::endl;
}

// The same degree on all polygons.
void
study_rates()
{
  for (const unsigned int degree : {1, 2, 3})
    {
      ConvergenceTable table;
      for (const unsigned int n : {8, 16, 32})
        {
          Triangulation<2> triangulation;
          GridGenerator::subdivided_hyper_cube_with_simplices(triangulation, n);
          Handler handler(triangulation);
          handler.agglomerate(polygons(triangulation));
          handler.distribute_dofs(FE_BoundingBoxLegendre<2>(degree));
          table.add_value("p", degree);
          table.add_value("polygons", handler.n_polytopes());
          table.add_value("unknowns", handler.n_dofs());
          add_errors(solve(handler, 2.5), table);
        }
      print_rates(table);
    }
}

// Each polygon has an element of a collection. The solution grows to the right,
// and so does the degree.
void
study_hp()
{
  ConvergenceTable table;
  for (unsigned int lowest = 1; lowest <= 4; ++lowest)
    {
      Triangulation<2> triangulation;
      GridGenerator::subdivided_hyper_cube_with_simplices(triangulation, 16);
      Handler handler(triangulation);
      handler.agglomerate(polygons(triangulation));
      hp::FECollection<2> elements;
      for (unsigned int p = lowest; p <= lowest + 1; ++p)
        elements.push_back(FE_BoundingBoxLegendre<2>(p));
      for (const auto &polytope : handler.polytope_iterators())
        polytope->set_active_fe_index(
          polytope->get_bounding_box().center()[0] > 0.5 ? 1 : 0);
      handler.distribute_dofs(elements);
      table.add_value("p",
                      std::to_string(lowest) + ".." +
                        std::to_string(lowest + 1));
      table.add_value("unknowns", handler.n_dofs());
      add_errors(solve(handler, 2.5), table);
    }
  table.write_text(std::cout);
  std::cout << std::endl;
}

// A larger penalty costs accuracy; below about 1 the method is not stable.
void
study_penalty()
{
  ConvergenceTable table;
  for (const double constant : {1.5, 2.5, 5., 10., 100.})
    {
      Triangulation<2> triangulation;
      GridGenerator::subdivided_hyper_cube_with_simplices(triangulation, 16);
      Handler handler(triangulation);
      handler.agglomerate(polygons(triangulation));
      handler.distribute_dofs(FE_BoundingBoxLegendre<2>(2));
      table.add_value("penalty", constant);
      add_errors(solve(handler, constant), table);
    }
  table.write_text(std::cout);
}

int
main(int argc, char **argv)
{
  return run_main(argc, argv, []() {
    study_rates();
    study_hp();
    study_penalty();
  });
}
