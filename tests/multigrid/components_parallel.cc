// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Multigrid for elasticity on several processes: cycles and solutions have the
// bits of one process if only degrees are reduced; numbers of iterations are
// close to those of one process.

#include "../tests.h"
#include "check_components.h"
#include "check_parallel.h"

using namespace MultigridTest;

namespace
{
  using Matrix     = HostBlockMatrix<double>;
  using VectorType = HostVector<double>;

  void
  verify(const std::string &name, const bool good, const std::string &text)
  {
    if (!check(name, good))
      deallog << text << std::endl;
  }

  template <int dim>
  struct Problem
  {
    parallel::distributed::Triangulation<dim>        triangulation;
    AgglomerationHandler<dim>                        handler;
    std::unique_ptr<ElasticityCase<dim, VectorType>> elasticity;

    static const Triangulation<dim> &
    refine(parallel::distributed::Triangulation<dim> &triangulation)
    {
      GridGenerator::hyper_cube(triangulation);
      triangulation.refine_global(dim == 2 ? 4 : 2);
      for (const auto &cell : triangulation.active_cell_iterators())
        if (cell->is_locally_owned() && cell->center()[0] < 0.5)
          cell->set_refine_flag();
      triangulation.execute_coarsening_and_refinement();
      return triangulation;
    }

    Problem(const MPI_Comm communicator, const unsigned int degree)
      : triangulation(communicator)
      , handler(refine(triangulation))
    {
      handler.agglomerate(Agglomeration::complete_families<dim>());
      handler.distribute_dofs(
        FESystem<dim>(FE_BoundingBoxLegendre<dim>(degree), dim));
      elasticity = std::make_unique<ElasticityCase<dim, VectorType>>(handler);
    }

    MultigridHierarchy
    hierarchy(const bool degrees_only) const
    {
      return MultigridHierarchy(handler,
                                degrees_only
                                  ? NestedAgglomeration::Parents()
                                  : NestedAgglomeration::rtree(handler, 0, 8));
    }
  };

  template <int dim>
  void
  test(const unsigned int degree)
  {
    const std::string name =
      std::to_string(dim) + "-D elasticity, p = " + std::to_string(degree);
    const Problem<dim> all(MPI_COMM_WORLD, degree), one(MPI_COMM_SELF, degree);
    const auto        &of_all = *all.elasticity, &of_one = *one.elasticity;
    verify(name + ", right-hand side",
           difference(of_all.rhs, of_one.rhs) == 0.,
           "");
    const auto compare = [&](const std::string &what,
                             auto             &&multigrid,
                             auto             &&of_one_process,
                             const bool         degrees_only,
                             const auto        &data) {
      multigrid.initialize(of_all.matrix,
                           of_all.without_penalty,
                           all.hierarchy(degrees_only),
                           data);
      of_one_process.initialize(of_one.matrix,
                                of_one.without_penalty,
                                one.hierarchy(degrees_only),
                                data);
      const unsigned int n = iterations(of_all.matrix, of_all.rhs, multigrid),
                         N = iterations(of_one.matrix,
                                        of_one.rhs,
                                        of_one_process);
      verify(name + ", iterations, " + what,
             n <= 25 && (degrees_only ? n == N : n <= N + 3),
             std::to_string(n) + ", on one process " + std::to_string(N));
      if (!degrees_only)
        return;
      VectorType x(of_all.rhs), X(of_one.rhs);
      multigrid.vmult(x, of_all.rhs);
      of_one_process.vmult(X, of_one.rhs);
      const double error = difference(x, X);
      verify(name + ", same bits, " + what, error == 0., std::to_string(error));
    };
    using MG      = Multigrid<Matrix>;
    using InFloat = Multigrid<HostBlockMatrix<float>>;
    MG::AdditionalData      data, sweeps;
    InFloat::AdditionalData data_in_float;
    sweeps.smoother = MG::Smoother::gauss_seidel;
    for (const bool degrees_only : {true, false})
      {
        const std::string levels = degrees_only ? "degrees" : "all levels";
        compare(levels, MG(), MG(), degrees_only, data);
        compare(levels + ", Gauss-Seidel", MG(), MG(), degrees_only, sweeps);
        compare(levels + ", float",
                InFloat(),
                InFloat(),
                degrees_only,
                data_in_float);
      }
  }
} // namespace

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv, 1);
  test<2>(2);
  test<3>(1);
}
