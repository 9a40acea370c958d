// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Tutorial step-7: many processes and multigrid. It parallels step-40 and
// step-50 of deal.II. README.md is the introduction.

#include <deal.II/base/conditional_ostream.h>
#include <deal.II/base/convergence_table.h>
#include <deal.II/base/mpi.h>

#include <deal.II/distributed/fully_distributed_tria.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/tria.h>
#include <deal.II/lac/solver_cg.h>
#include <deal.II/lac/solver_control.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/base/run_main.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/grid/agglomeration.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/lac/block_preconditioners.h>
#include <tessella/lac/host_block_matrix.h>
#include <tessella/lac/host_vector.h>
#include <tessella/multigrid/multigrid.h>
#include <tessella/numerics/data_out.h>
#include <tessella/numerics/vector_tools.h>

#include <cmath>
#include <iostream>

using namespace dealii;
using namespace Tessella;

// The matrix has dense blocks, one row of blocks for each polyhedron, and so do
// its preconditioners. Vectors have the part that a process owns.
using MatrixType = HostBlockMatrix<double>;
using VectorType = HostVector<double>;

double
exact(const Point<3> &x)
{
  double product = 1.;
  for (unsigned int d = 0; d < 3; ++d)
    product *= std::sin(numbers::PI * x[d]);
  return product;
}

// Iterations of conjugate gradients with a preconditioner until the residual
// has fallen by 1e-8.
template <typename Preconditioner>
unsigned int
solve(const MatrixType     &matrix,
      const Preconditioner &preconditioner,
      const VectorType     &rhs,
      VectorType           &solution)
{
  solution.reinit(rhs);
  SolverControl        control(2000, 1e-8 * rhs.l2_norm());
  SolverCG<VectorType> solver(control);
  solver.solve(matrix, solution, rhs, preconditioner);
  return control.last_step();
}

void
run(const unsigned int n, const unsigned int degree, ConvergenceTable &table)
{
  // Every process makes the whole mesh and groups it in the same way.
  // distribute() gives each process its share of the polyhedra and returns the
  // strategy that makes the same ones from the cells that it has. The whole
  // mesh is not needed afterwards.
  parallel::fullydistributed::Triangulation<3> triangulation(MPI_COMM_WORLD);
  Agglomeration::Strategy<3>                   polyhedra;
  {
    Triangulation<3> whole;
    GridGenerator::subdivided_hyper_cube_with_simplices(whole, n);
    polyhedra = Agglomeration::distribute<3>(whole,
                                             Agglomeration::metis<3>(
                                               whole.n_active_cells() / 12),
                                             triangulation);
  }
  Tessella::AgglomerationHandler<3> handler(triangulation);
  handler.agglomerate(polyhedra);
  handler.distribute_dofs(FE_BoundingBoxLegendre<3>(degree));

  AdvectionDiffusionReaction<3> form;
  form.set_diffusion(1.);
  form.set_source([](const Point<3> &x) {
    return 3. * numbers::PI * numbers::PI * exact(x);
  });
  PolytopicAssembler<3> assembler(handler);
  MatrixType            matrix;
  VectorType            rhs, solution;
  assembler.reinit(matrix, rhs);
  assembler.assemble(form, matrix, rhs);

  // Inverses of the diagonal blocks: cheap, and iterations grow with the mesh.
  BlockJacobi<MatrixType> jacobi;
  jacobi.initialize(matrix);
  const unsigned int n_jacobi = solve(matrix, jacobi, rhs, solution);

  // Multigrid lowers the degree first, and then joins polyhedra to larger ones.
  // It needs the assembler, for it assembles the form once more without its
  // penalty, which is a smaller one on larger polyhedra.
  Multigrid<MatrixType> multigrid;
  multigrid.initialize(assembler, form, matrix);
  const unsigned int n_multigrid = solve(matrix, multigrid, rhs, solution);

  table.add_value("p", degree);
  table.add_value("polyhedra", handler.n_global_polytopes());
  table.add_value("unknowns", handler.n_dofs());
  table.add_value("Jacobi", n_jacobi);
  table.add_value("multigrid", n_multigrid);
  table.add_value("L2",
                  Tessella::VectorTools::compute_error(
                    handler, solution, exact, dealii::VectorTools::L2_norm));

  // All processes write one file together.
  if (degree > 1)
    return;
  PolytopicDataOut<3> data_out(handler);
  data_out.add_data_vector(solution, "solution");
  data_out.build_patches();
  data_out.write_vtu_file("solution.vtu");
}

int
main(int argc, char **argv)
{
  return run_main(argc, argv, []() {
    ConditionalOStream out(std::cout,
                           Utilities::MPI::this_mpi_process(MPI_COMM_WORLD) ==
                             0);
    for (const unsigned int degree : {1, 2})
      {
        ConvergenceTable table;
        for (const unsigned int n : {4, 8, 12})
          run(n, degree, table);
        table.set_precision("L2", 3);
        table.set_scientific("L2", true);
        table.evaluate_convergence_rates("L2",
                                         "unknowns",
                                         ConvergenceTable::reduction_rate_log2,
                                         3);
        if (out.is_active())
          table.write_text(std::cout);
        out << std::endl;
      }
  });
}
