// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Tutorial step-2: Poisson's equation on polygons. It parallels step-3 and
// step-4 of deal.II. README.md is the introduction.

#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/tria.h>
#include <deal.II/lac/solver_cg.h>
#include <deal.II/lac/solver_control.h>
#include <deal.II/lac/trilinos_precondition.h>
#include <deal.II/lac/trilinos_sparse_matrix.h>
#include <deal.II/lac/trilinos_vector.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/base/run_main.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/grid/agglomeration.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/numerics/data_out.h>
#include <tessella/numerics/vector_tools.h>

#include <cmath>
#include <iostream>
#include <memory>

using namespace dealii;
using namespace Tessella;

// The structure of the class is that of deal.II's steps: the functions are
// called in this order by run().
class Poisson
{
public:
  void
  run();

private:
  void
  make_polygons();
  void
  assemble();
  void
  solve();
  void
  output() const;

  // The polynomials have this degree on all polygons.
  const unsigned int degree = 3;

  Triangulation<2> triangulation;
  // The handler is made when there is a mesh.
  std::unique_ptr<Tessella::AgglomerationHandler<2>> handler;
  TrilinosWrappers::SparseMatrix                     matrix;
  TrilinosWrappers::MPI::Vector                      rhs, solution;
};

// The exact solution. Wherever Tessella wants a function, a lambda or a plain
// function of a point will do.
double
exact(const Point<2> &x)
{
  return std::sin(numbers::PI * x[0]) * std::sin(numbers::PI * x[1]);
}

void
Poisson::make_polygons()
{
  GridGenerator::subdivided_hyper_cube_with_simplices(triangulation, 24);
  handler = std::make_unique<Tessella::AgglomerationHandler<2>>(triangulation);
  handler->agglomerate(
    Agglomeration::metis<2>(triangulation.n_active_cells() / 8));
  // The functions of a polygon are Legendre polynomials on its bounding box,
  // restricted to the polygon: there is no reference cell and no mapping.
  handler->distribute_dofs(FE_BoundingBoxLegendre<2>(degree));
  std::cout << triangulation.n_active_cells() << " triangles in "
            << handler->n_polytopes() << " polygons, " << handler->n_dofs()
            << " unknowns" << std::endl;
}

// The form knows the equation, its data and its boundary conditions. What is
// not set is zero: there are no advection and no reaction, and u = 0 on the
// boundary. The penalty of the interior penalty method is chosen by the
// assembler; step-3 looks at it.
void
Poisson::assemble()
{
  AdvectionDiffusionReaction<2> form;
  form.set_diffusion(1.);
  form.set_source([](const Point<2> &x) {
    return 2. * numbers::PI * numbers::PI * exact(x);
  });

  // reinit() gives matrix and vector their structure: a polygon couples with
  // itself and with its neighbours across edges. The matrix may also be
  // dealii::SparseMatrix, a PETSc matrix, or a block matrix of Tessella.
  PolytopicAssembler<2> assembler(*handler);
  assembler.reinit(matrix, rhs);
  assembler.assemble(form, matrix, rhs);
  std::cout << matrix.n_nonzero_elements() << " entries of the matrix"
            << std::endl;
}

// From here on nothing is new: the matrix is symmetric and positive definite,
// and deal.II's solvers work on it. Boundary values are part of the form, so
// that there are no constraints.
void
Poisson::solve()
{
  solution.reinit(rhs);
  SolverControl                           control(1000, 1e-10 * rhs.l2_norm());
  SolverCG<TrilinosWrappers::MPI::Vector> solver(control);
  TrilinosWrappers::PreconditionBlockwiseDirect preconditioner;
  preconditioner.initialize(matrix);
  solver.solve(matrix, solution, rhs, preconditioner);
}

// The error is integrated over the polygons. The output has the solution on the
// triangles, with jumps where polygons meet, and the number of the polygon as a
// further field. write_polytopes_vtu() writes the polygons themselves.
void
Poisson::output() const
{
  const auto error = [this](const dealii::VectorTools::NormType norm) {
    return Tessella::VectorTools::compute_error(*handler,
                                                solution,
                                                exact,
                                                norm);
  };
  std::cout << "L2 error " << error(dealii::VectorTools::L2_norm)
            << "\nlargest error " << error(dealii::VectorTools::Linfty_norm)
            << std::endl;

  PolytopicDataOut<2> data_out(*handler);
  data_out.add_data_vector(solution, "solution");
  data_out.build_patches();
  data_out.write_vtu_file("solution.vtu");
  write_polytopes_vtu(*handler, "polytopes.vtu");
}

void
Poisson::run()
{
  make_polygons();
  assemble();
  solve();
  output();
}

int
main(int argc, char **argv)
{
  return run_main(argc, argv, []() { Poisson().run(); });
}
