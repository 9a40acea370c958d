// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Tutorial step-4: a form of your own. It parallels step-74 and step-12 of
// deal.II. README.md is the introduction.

#include <deal.II/base/convergence_table.h>

#include <deal.II/fe/fe_update_flags.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/tria.h>
#include <deal.II/lac/dynamic_sparsity_pattern.h>
#include <deal.II/lac/sparse_direct.h>
#include <deal.II/lac/sparse_matrix.h>
#include <deal.II/lac/sparsity_pattern.h>
#include <deal.II/lac/vector.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/base/run_main.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/grid/agglomeration.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/grid/penalty.h>
#include <tessella/grid/within_materials.h>
#include <tessella/numerics/data_out.h>
#include <tessella/numerics/vector_tools.h>
#include <tessella/values/mesh_loop.h>

#include <cmath>
#include <iostream>
#include <string>

using namespace dealii;
using namespace Tessella;
using Handler = Tessella::AgglomerationHandler<2>;

// The line x = 1/2 is a membrane, which lets the flux through in proportion to
// the jump of u.
const double conductance = 3.;

bool
is_membrane(const Point<2> &x)
{
  return std::abs(x[0] - 0.5) < 1e-10;
}

// The exact solution jumps at the membrane by the flux over the conductance.
double
exact(const Point<2> &x)
{
  return std::sin(numbers::PI * x[1]) *
         (x[0] < 0.5 ? x[0] : x[0] + 1. / conductance);
}

double
source(const Point<2> &x)
{
  return numbers::PI * numbers::PI * exact(x);
}

// Matrix and right-hand side in deal.II's classes. Both functions are called by
// several threads at once, and their results are added in a fixed order, so
// that every run has the same bits.
void
assemble(const Handler        &handler,
         const bool            with_membrane,
         SparseMatrix<double> &matrix,
         Vector<double>       &rhs)
{
  // The geometric factors of the penalty are computed once.
  compute_penalty_factors(handler, PenaltyFormula::simplex);

  // On a polygon: PolytopeValues is used as FEValues is.
  const auto on_polygon = [](const PolytopeValues<2> &values, auto &local) {
    for (const unsigned int q : values.quadrature_point_indices())
      for (const unsigned int i : values.dof_indices())
        {
          for (const unsigned int j : values.dof_indices())
            local.matrix(i, j) +=
              values.shape_grad(i, q) * values.shape_grad(j, q) * values.JxW(q);
          local.rhs(i) += source(values.quadrature_point(q)) *
                          values.shape_value(i, q) * values.JxW(q);
        }
  };

  // On what two polygons share, and on the boundary, where jump and average are
  // the values of the one polygon: PolytopeInterfaceValues is used as
  // FEInterfaceValues is. A membrane has a term of its own.
  const auto on_interface =
    [with_membrane](const PolytopeInterfaceValues<2> &values, auto &local) {
      for (const unsigned int q : values.quadrature_point_indices())
        {
          const Point<2>     x      = values.quadrature_point(q);
          const Tensor<1, 2> normal = values.normal_vector(q);
          const double       JxW    = values.JxW(q),
                       sigma        = 2.5 * values.penalty_factor(q);
          const bool membrane =
            with_membrane && !values.at_boundary() && is_membrane(x);
          for (const unsigned int i : values.dof_indices())
            {
              const double jump = values.jump_in_shape_values(i, q),
                           flux =
                             values.average_of_shape_gradients(i, q) * normal;
              for (const unsigned int j : values.dof_indices())
                {
                  const double jump_j = values.jump_in_shape_values(j, q),
                               flux_j =
                                 values.average_of_shape_gradients(j, q) *
                                 normal;
                  local.matrix(i, j) +=
                    JxW * (membrane ? conductance * jump * jump_j
                                    : sigma * jump * jump_j - flux_j * jump -
                                        flux * jump_j);
                }
              if (values.at_boundary())
                local.rhs(i) += JxW * (sigma * jump - flux) * exact(x);
            }
        }
    };
  const unsigned int extra_order = 4; // of the quadrature, above 2 p
  assemble_by_hand<2>(handler,
                      extra_order,
                      update_values | update_gradients,
                      on_polygon,
                      on_interface,
                      matrix,
                      rhs);
}

// Polygons do not reach across the membrane: there is a material id on each
// side, and METIS works within each material.
Agglomeration::Strategy<2>
polygons(Triangulation<2> &triangulation)
{
  for (const auto &cell : triangulation.active_cell_iterators())
    cell->set_material_id(cell->center()[0] < 0.5 ? 0 : 1);
  return Agglomeration::within_materials<2>(
    Agglomeration::metis<2>(triangulation.n_active_cells() / 8));
}

// Without a membrane the form is one that Tessella has. Returns the largest
// difference of the two matrices relative to the largest entry.
double
difference(const Handler              &handler,
           const SparsityPattern      &sparsity,
           const SparseMatrix<double> &by_hand)
{
  AdvectionDiffusionReaction<2> form;
  form.set_diffusion(1.);
  PolytopicAssembler<2> assembler(handler);
  SparsityPattern       fast_sparsity;
  SparseMatrix<double>  fast;
  Vector<double>        rhs;
  assembler.reinit(fast_sparsity, fast, rhs);
  assembler.assemble(form, fast, rhs);
  double result = 0.;
  for (auto entry = sparsity.begin(); entry != sparsity.end(); ++entry)
    result = std::max(result,
                      std::abs(fast.el(entry->row(), entry->column()) -
                               by_hand.el(entry->row(), entry->column())));
  return result / fast.linfty_norm();
}

void
run()
{
  ConvergenceTable table;
  for (const unsigned int n : {8, 16, 32})
    {
      Triangulation<2> triangulation;
      GridGenerator::subdivided_hyper_cube_with_simplices(triangulation, n);
      Handler handler(triangulation);
      handler.agglomerate(polygons(triangulation));
      handler.distribute_dofs(FE_BoundingBoxLegendre<2>(2));

      DynamicSparsityPattern dynamic(handler.n_dofs());
      handler.make_sparsity_pattern(dynamic);
      SparsityPattern sparsity;
      sparsity.copy_from(dynamic);
      SparseMatrix<double> matrix(sparsity);
      Vector<double>       rhs(handler.n_dofs()), solution(handler.n_dofs());

      if (n == 8)
        {
          assemble(handler, false, matrix, rhs);
          std::cout << "Both assemblies agree: "
                    << (difference(handler, sparsity, matrix) < 1e-12 ? "yes"
                                                                      : "no")
                    << std::endl;
          matrix = 0.;
          rhs    = 0.;
        }
      assemble(handler, true, matrix, rhs);
      SparseDirectUMFPACK solver;
      solver.initialize(matrix);
      solver.vmult(solution, rhs);

      table.add_value("polygons", handler.n_polytopes());
      table.add_value("unknowns", handler.n_dofs());
      table.add_value(
        "L2",
        Tessella::VectorTools::compute_error(
          handler, solution, exact, dealii::VectorTools::L2_norm));

      // The picture shows the last mesh but one.
      if (n != 16)
        continue;
      PolytopicDataOut<2> data_out(handler);
      data_out.add_data_vector(solution, "solution");
      data_out.build_patches();
      data_out.write_vtu_file("solution.vtu");
      write_polytopes_vtu(handler, "polytopes.vtu");
    }
  table.set_precision("L2", 3);
  table.set_scientific("L2", true);
  table.evaluate_convergence_rates("L2",
                                   "unknowns",
                                   ConvergenceTable::reduction_rate_log2,
                                   2);
  table.write_text(std::cout);
}

int
main(int argc, char **argv)
{
  return run_main(argc, argv, run);
}
