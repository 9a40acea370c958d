// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Tutorial step-9: the whole way on a CUDA device, and the same program without
// one. It parallels step-64 of deal.II. README.md is the introduction.

#include <deal.II/base/convergence_table.h>

#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/tria.h>
#include <deal.II/lac/solver_cg.h>
#include <deal.II/lac/solver_control.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/base/run_main.h>
#include <tessella/device/cuda_device.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/grid/agglomeration.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/lac/device_block_matrix.h>
#include <tessella/lac/device_vector.h>
#include <tessella/lac/host_block_matrix.h>
#include <tessella/lac/host_vector.h>
#include <tessella/multigrid/multigrid.h>
#include <tessella/numerics/svg.h>
#include <tessella/numerics/vector_tools.h>

#include <cmath>
#include <iostream>

#include "coefficients.h"

using namespace dealii;
using namespace Tessella;
using Handler = Tessella::AgglomerationHandler<3>;

double
exact(const Point<3> &x)
{
  double product = 1.;
  for (unsigned int d = 0; d < 3; ++d)
    product *= std::sin(numbers::PI * x[d]);
  return product;
}

// Assembly, solver and error, written once. The types of matrix and vector
// decide where they run: a DeviceBlockMatrix is assembled where it is used, by
// kernels that call the functor, and deal.II's conjugate gradients work on a
// DeviceVector. Nothing but the norms that the solver asks for leaves the
// device.
template <typename MatrixType, typename VectorType>
void
solve(const Handler &handler, const Form<3> &form, ConvergenceTable &table)
{
  PolytopicAssembler<3> assembler(handler);
  MatrixType            matrix;
  VectorType            rhs, solution;
  assembler.reinit(matrix, rhs);
  assembler.assemble(form, matrix, rhs);

  Multigrid<MatrixType> multigrid;
  multigrid.initialize(assembler, form, matrix);
  solution.reinit(rhs);
  SolverControl        control(200, 1e-10 * rhs.l2_norm());
  SolverCG<VectorType> solver(control);
  solver.solve(matrix, solution, rhs, multigrid);

  // Functions of VectorTools take vectors of the device as well.
  table.add_value("iterations", control.last_step());
  table.add_value("L2",
                  Tessella::VectorTools::compute_error(
                    handler, solution, exact, dealii::VectorTools::L2_norm));
}

void
run()
{
  // The one place that asks for a device. The program says so on the error
  // stream, so that its results are the same text with and without one.
  const bool on_device = cuda_is_available();
  std::cerr << (on_device ? "On " + cuda_device_name()
                          : "On the host: " + why_cuda_is_unavailable())
            << std::endl;

  const auto       form = make_form(4.);
  ConvergenceTable table;
  for (const unsigned int n : {3, 6, 9})
    {
      Triangulation<3> triangulation;
      GridGenerator::subdivided_hyper_cube_with_simplices(triangulation, n);
      Handler handler(triangulation);
      handler.agglomerate(
        Agglomeration::metis<3>(triangulation.n_active_cells() / 12));
      handler.distribute_dofs(FE_BoundingBoxLegendre<3>(2));
      if (n == 3)
        {
          MeshSvgFlags flags;
          flags.size    = 400;
          flags.explode = 0.6;
          write_mesh_svg(handler, "polyhedra.svg", flags);
        }
      table.add_value("polyhedra", handler.n_polytopes());
      table.add_value("unknowns", handler.n_dofs());
      if (on_device)
        solve<DeviceBlockMatrix<double>, DeviceVector<double>>(handler,
                                                               *form,
                                                               table);
      else
        solve<HostBlockMatrix<double>, HostVector<double>>(handler,
                                                           *form,
                                                           table);
    }
  table.set_precision("L2", 3);
  table.set_scientific("L2", true);
  table.evaluate_convergence_rates("L2",
                                   "unknowns",
                                   ConvergenceTable::reduction_rate_log2,
                                   3);
  table.write_text(std::cout);
}

int
main(int argc, char **argv)
{
  return run_main(argc, argv, run);
}
