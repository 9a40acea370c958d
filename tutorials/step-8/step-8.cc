// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Tutorial step-8: hybridizable dG. It parallels step-51 of deal.II. README.md
// is the introduction.

#include <deal.II/base/convergence_table.h>

#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/tria.h>
#include <deal.II/lac/solver_control.h>
#include <deal.II/lac/trilinos_solver.h>
#include <deal.II/lac/trilinos_sparse_matrix.h>
#include <deal.II/lac/trilinos_vector.h>

#include <tessella/base/run_main.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/grid/agglomeration.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/hdg/hdg.h>
#include <tessella/hdg/hdg_solution.h>
#include <tessella/numerics/data_out.h>
#include <tessella/numerics/vector_tools.h>

#include <cmath>
#include <iostream>
#include <string>

using namespace dealii;
using namespace Tessella;
using Handler = Tessella::AgglomerationHandler<2>;

double
exact(const Point<2> &x)
{
  return std::sin(numbers::PI * x[0]) * std::sin(numbers::PI * x[1]);
}

// HDG computes the flux a grad u as an unknown of its own. A lambda or function
// that returns a Tensor<1, 2> is a function with two components.
Tensor<1, 2>
exact_flux(const Point<2> &x)
{
  Tensor<1, 2> result;
  for (unsigned int d = 0; d < 2; ++d)
    result[d] = numbers::PI * std::cos(numbers::PI * x[d]) *
                std::sin(numbers::PI * x[1 - d]);
  return result;
}

// The same form as for the interior penalty method describes the problem.
AdvectionDiffusionReaction<2>
make_form()
{
  AdvectionDiffusionReaction<2> form;
  form.set_diffusion(1.);
  form.set_source([](const Point<2> &x) {
    return 2. * numbers::PI * numbers::PI * exact(x);
  });
  return form;
}

// One mesh; polygons are triangles, or groups of about eight.
void
run(const unsigned int n,
    const unsigned int degree,
    const bool         group,
    ConvergenceTable  &table)
{
  Triangulation<2> triangulation;
  GridGenerator::subdivided_hyper_cube_with_simplices(triangulation, n);
  Handler handler(triangulation);
  handler.agglomerate(
    group ? Agglomeration::metis<2>(triangulation.n_active_cells() / 8)
          : Agglomeration::none<2>());
  handler.distribute_dofs(FE_BoundingBoxLegendre<2>(degree));
  const AdvectionDiffusionReaction<2> form = make_form();

  // The unknowns of the matrix are traces, polynomials on the interfaces of
  // polygons: a polygon's u and flux follow from the traces around it, and are
  // eliminated.
  HDG<2>                         hdg(handler);
  TrilinosWrappers::SparseMatrix matrix;
  TrilinosWrappers::MPI::Vector  rhs, trace;
  hdg.reinit(form, matrix, rhs);
  hdg.assemble(form, matrix, rhs);
  trace.reinit(rhs);
  SolverControl                  control;
  TrilinosWrappers::SolverDirect solver(control);
  solver.solve(matrix, trace, rhs);

  // One call computes u, the flux and the post-processed solution, which has
  // one degree more, polygon by polygon.
  const HDGSolution<2> result(hdg, form, trace);

  const auto error = [](const Handler            &space,
                        const HostVector<double> &vector,
                        const auto               &function) {
    return Tessella::VectorTools::compute_error(space,
                                                vector,
                                                function,
                                                dealii::VectorTools::L2_norm);
  };
  table.add_value("polygons", handler.n_polytopes());
  table.add_value("dG", handler.n_dofs());
  table.add_value("traces", hdg.n_dofs());
  table.add_value("u", error(result.handler(), result.solution(), exact));
  table.add_value("q", error(result.flux_handler(), result.flux(), exact_flux));
  table.add_value("u*",
                  error(result.post_processed_handler(),
                        result.post_processed(),
                        exact));

  // All three in one file.
  PolytopicDataOut<2> data_out(handler);
  result.add_to(data_out);
  data_out.build_patches();
  data_out.write_vtu_file("solution.vtu");
  write_polytopes_vtu(handler, "polytopes.vtu");
}

int
main(int argc, char **argv)
{
  return run_main(argc, argv, []() {
    for (const bool group : {false, true})
      for (const unsigned int degree : {1, 2})
        {
          std::cout << (group ? "Polygons" : "Triangles") << ", degree "
                    << degree << std::endl;
          ConvergenceTable table;
          for (const unsigned int n : {8, 16, 32})
            run(n, degree, group, table);
          for (const std::string column : {"u", "q", "u*"})
            {
              table.set_precision(column, 2);
              table.set_scientific(column, true);
              table.evaluate_convergence_rates(
                column, "dG", ConvergenceTable::reduction_rate_log2, 2);
            }
          table.write_text(std::cout);
          std::cout << std::endl;
        }
  });
}
