// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Products of MatrixFreeOperator against the assembled matrix, on the host:
// cells, polytopes, degrees, coefficients, boundary conditions, slabs; solvers
// and multigrid without a matrix on the finest level; errors.

#include <deal.II/base/multithread_info.h>

#include <deal.II/lac/solver_cg.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/lac/block_preconditioners.h>
#include <tessella/lac/device_block_matrix.h>
#include <tessella/lac/lusgs.h>
#include <tessella/multigrid/multigrid.h>
#include <tessella/operators/matrix_free_operator.h>

#include "../messages.h"
#include "../tests.h"
#include "matrix_free_cases.h"

using Matrix = HostBlockMatrix<double>;

namespace
{
  // CG with multigrid whose finest level has no matrix, and with a matrix.
  template <int dim>
  void
  test_solvers()
  {
    Triangulation<dim> triangulation;
    GridGenerator::subdivided_hyper_cube_with_simplices(triangulation,
                                                        dim == 2 ? 10 : 3);
    AgglomerationHandler<dim> handler(triangulation);
    handler.agglomerate(Agglomeration::none<dim>());
    handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(2));
    AdvectionDiffusionReaction<dim> form;
    form.set_diffusion(1.);
    form.set_source(1.);
    typename PolytopicAssembler<dim>::AdditionalData data;
    data.backend = Backend::host;
    Matrix                  A;
    Vector<double>          rhs;
    PolytopicAssembler<dim> assembler(handler, data);
    assembler.reinit(A, rhs);
    assembler.assemble(form, A, rhs);
    MatrixFreeOperator<dim> op;
    op.initialize(handler, form);

    const MultigridHierarchy hierarchy(
      handler, NestedAgglomeration::rtree(handler, 0, 8));
    const auto coarse = [&]() {
      return assemble_coarse_operators<Matrix>(handler, hierarchy, form, data);
    };
    Multigrid<Matrix> with, without;
    with.initialize(A, coarse(), hierarchy);
    without.initialize(op.block_diagonal(), coarse(), hierarchy);
    BlockChebyshev<Matrix> chebyshev;
    chebyshev.initialize(op.block_diagonal());
    const auto solve =
      [&](const auto &matrix, const auto &preconditioner, Vector<double> &x) {
        SolverControl control(500, 1e-10 * rhs.l2_norm(), false, false);
        x.reinit(rhs.size());
        SolverCG<Vector<double>>(control).solve(matrix, x, rhs, preconditioner);
        return control.last_step();
      };
    Vector<double>     x, y;
    const unsigned int n = solve(A, with, x), m = solve(op, without, y);
    y -= x;
    const bool good = n == m && y.l2_norm() < 1e-8 * x.l2_norm();
    deallog << dim << "-D multigrid: "
            << (good
                  ? "ok"
                  : std::to_string(n) + " and " + std::to_string(m) +
                      " iterations, difference " + std::to_string(y.l2_norm()))
            << std::endl;
    deallog << dim << "-D residual: "
            << (op.residual(y, x, rhs) < 1e-8 * rhs.l2_norm() ? "ok" : "large")
            << std::endl;
    solve(op, chebyshev, y);
    y -= x;
    deallog << dim << "-D Chebyshev: "
            << (y.l2_norm() < 1e-7 * x.l2_norm() ? "ok" : "error") << std::endl;

    Vector<double> one(rhs.size()), two(rhs.size());
    const auto     threads = MultithreadInfo::n_threads();
    op.vmult(two, x);
    MultithreadInfo::set_thread_limit(1);
    op.vmult(one, x);
    MultithreadInfo::set_thread_limit(threads);
    deallog << dim << "-D threads: " << (one == two ? "ok" : "other bits")
            << std::endl;
    if (dim == 3)
      {
        // From p = 3 on, numbers of simplices are few beside those of blocks.
        handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(3));
        assembler.reinit(A);
        op.initialize(handler, form);
        deallog << "memory: "
                << (op.report().table_memory < A.memory_consumption() / 20 &&
                        op.report().kernel == "affine simplices"
                      ? "ok"
                      : op.report().kernel + " " +
                          std::to_string(op.report().table_memory) + " of " +
                          std::to_string(A.memory_consumption()))
                << std::endl;
      }
  }

  void
  test_errors()
  {
    Triangulation<2> triangulation;
    GridGenerator::subdivided_hyper_cube(triangulation, 4);
    AgglomerationHandler<2> handler(triangulation);
    handler.agglomerate(Agglomeration::none<2>());
    MatrixFreeOperator<2>         op;
    AdvectionDiffusionReaction<2> form;
    form.set_diffusion(1.);
    Vector<double> x(48), y(48);
    const auto     report = [](const std::string &part, const auto &function) {
      const std::string message = message_of(function);
      deallog << part << ": "
              << (contains(message, part) ? std::string("ok") : message)
              << std::endl;
    };
    report("needs degrees of freedom", [&]() { op.initialize(handler, form); });
    report("Call initialize()", [&]() { op.vmult(x, y); });
    handler.distribute_dofs(FESystem<2>(FE_BoundingBoxLegendre<2>(1), 2));
    report("take a SystemForm", [&]() { op.initialize(handler, form); });
    const MatrixFreeTest::SomeSystem<2> three(3);
    report("The system has 3 components of test functions",
           [&]() { op.initialize(handler, three); });
    MatrixFreeOperator<2, DeviceBlockMatrix<double>> of_system;
    report("The host computes products with systems without a matrix",
           [&]() { of_system.initialize(handler, three); });
    handler.distribute_dofs(FE_BoundingBoxLegendre<2>(1));
    typename MatrixFreeOperator<2>::AdditionalData data;
    data.backend = Backend::cuda;
    report("products on the host: choose",
           [&]() { op.initialize(handler, form, data); });
    data.backend = Backend::host;
    MatrixFreeOperator<2, DeviceBlockMatrix<double>> on_device;
    report("products on a CUDA device: choose",
           [&]() { on_device.initialize(handler, form, data); });
    op.initialize(handler, form);
    x.reinit(47);
    report("Dimension 47 not equal to 48", [&]() { op.vmult(y, x); });
    report("must be different vectors", [&]() { op.vmult(y, y); });
    BlockGaussSeidel<Matrix> sweeps;
    report("BlockGaussSeidel needs all blocks",
           [&]() { sweeps.initialize(op.block_diagonal()); });
    LUSGS<Matrix> lusgs;
    report("LUSGS needs all blocks",
           [&]() { lusgs.initialize(op.block_diagonal()); });
    BlockILU0<Matrix> ilu;
    report("BlockILU0 needs all blocks",
           [&]() { ilu.initialize(op.block_diagonal()); });
    const MultigridHierarchy hierarchy(
      handler, NestedAgglomeration::rtree(handler, 0, 2));
    Multigrid<Matrix>        multigrid;
    const MultigridHierarchy one_level(handler, {});
    report("The coarsest level of Multigrid needs all blocks", [&]() {
      multigrid.initialize(op.block_diagonal(),
                           std::vector<Matrix>(),
                           one_level);
    });
    report("Galerkin operator of Multigrid needs all blocks",
           [&]() { multigrid.initialize(op.block_diagonal(), hierarchy); });
    handler.distribute_dofs(FE_BoundingBoxLegendre<2>(2));
    report("call initialize() of the MatrixFreeOperator again",
           [&]() { op.vmult(y, x); });
  }
} // namespace

int
main(int argc, char **argv)
{
  TestProgram                         program(argc, argv);
  const MatrixFreeTest::Cases<Matrix> cases(
    [](const std::string &name, const bool good, const std::string &text) {
      deallog << name << ": " << (good ? "ok" : text) << std::endl;
    });
  cases.test_cells<2>();
  cases.test_cells<3>();
  cases.test_slab<2>();
  cases.test_slab<3>();
  cases.test_systems<2>();
  cases.test_systems<3>();
  test_solvers<2>();
  test_solvers<3>();
  test_errors();
}
