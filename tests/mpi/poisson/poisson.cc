// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Poisson's equation on a mesh file, on any number of processes: polytopes,
// error and the file of the solution do not depend on their number.

#include <deal.II/distributed/fully_distributed_tria.h>
#include <deal.II/grid/grid_in.h>
#include <deal.II/lac/solver_cg.h>
#include <deal.II/lac/trilinos_precondition.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/base/run_main.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/numerics/data_out.h>
#include <tessella/numerics/vector_tools.h>

#include <iostream>

using namespace dealii;
using namespace Tessella;

void
solve(const std::string &mesh_file)
{
  const auto exact = [](const Point<2> &x) {
    return std::sin(numbers::PI * x[0]) * std::sin(numbers::PI * x[1]);
  };
  // Every process reads the file and then keeps its part of the polytopes.
  Triangulation<2> mesh;
  GridIn<2>(mesh).read(mesh_file);
  parallel::fullydistributed::Triangulation<2> triangulation(MPI_COMM_WORLD);
  const auto polytopes = Agglomeration::distribute<2>(
    mesh, Agglomeration::metis<2>(mesh.n_active_cells() / 8), triangulation);
  // Newer versions of deal.II have a class of this name, too.
  Tessella::AgglomerationHandler<2> agglomeration(triangulation);
  agglomeration.agglomerate(polytopes);
  agglomeration.distribute_dofs(FE_BoundingBoxLegendre<2>(3));

  AdvectionDiffusionReaction<2> problem; // zero boundary values by default
  problem.set_diffusion(1.);
  problem.set_source([exact](const Point<2> &x) {
    return 2 * numbers::PI * numbers::PI * exact(x);
  });
  TrilinosWrappers::SparseMatrix matrix;
  TrilinosWrappers::MPI::Vector  solution, rhs;
  PolytopicAssembler<2>          assembler(agglomeration);
  assembler.reinit(matrix, rhs);
  assembler.assemble(problem, matrix, rhs);

  solution.reinit(rhs); // from here on nothing is new
  SolverControl                                 control(1000, 1e-10);
  SolverCG<TrilinosWrappers::MPI::Vector>       solver(control);
  TrilinosWrappers::PreconditionBlockwiseDirect preconditioner;
  preconditioner.initialize(matrix);
  solver.solve(matrix, solution, rhs, preconditioner);

  const double L2_error = Tessella::VectorTools::compute_error(
    agglomeration, solution, exact, dealii::VectorTools::L2_norm);
  if (Utilities::MPI::this_mpi_process(MPI_COMM_WORLD) == 0)
    std::cout << agglomeration.n_global_polytopes() << " polytopes, "
              << agglomeration.n_dofs() << " degrees of freedom, L2 error "
              << L2_error << std::endl;

  PolytopicDataOut<2> data_out(agglomeration);
  data_out.add_data_vector(solution, "solution");
  data_out.build_patches();
  data_out.write_vtu_file("solution.vtu"); // one file, of all processes
}

int
main(int argc, char **argv) // an exception becomes one line and exit status 1
{
  return run_main(argc, argv, [&]() {
    solve(argc > 1 ? argv[1] : "square.msh");
  });
}
