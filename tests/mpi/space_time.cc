// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Space-time slabs of the same polytopes distributed over different numbers of
// processes: matrix and right-hand side are the same to the last bit by
// (polytope, interval, local index), and solutions of several slabs agree up to
// rounding in the solver. Numbers of intervals differ between polytopes and
// between slabs.

#include <deal.II/base/function.h>

#include <deal.II/distributed/fully_distributed_tria.h>
#include <deal.II/distributed/shared_tria.h>
#include <deal.II/distributed/tria.h>
#include <deal.II/grid/grid_generator.h>

#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/numerics/vector_tools.h>
#include <tessella/space_time/space_time_errors.h>
#include <tessella/space_time/space_time_stepping.h>

#include "../space_time/problems.h"
#include "slab_digest.h"

struct Result
{
  std::uint64_t matrix = 0, rhs = 0;
  std::uint64_t n_elements = 0, n_dofs = 0;
  /// Error for a polynomial.
  double              error = 0.;
  std::vector<double> numbers;
};

template <int dim>
std::vector<unsigned int>
intervals(const Tessella::AgglomerationHandler<dim> &handler,
          const unsigned int                         slab)
{
  std::vector<unsigned int> result;
  for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
    result.push_back(1 + (name(handler, k) + slab) % 3);
  return result;
}

template <int dim>
Result
run(const Triangulation<dim>                     &triangulation,
    const Tessella::Agglomeration::Strategy<dim> &strategy,
    const PolynomialSpaceType                     space,
    const bool                                    hp)
{
  const MPI_Comm comm =
    Tessella::Compatibility::get_communicator(triangulation);
  Tessella::AgglomerationHandler<dim> handler(triangulation);
  handler.agglomerate(strategy);
  const hp::FECollection<dim> collection(
    Tessella::FE_BoundingBoxLegendre<dim>(1),
    Tessella::FE_BoundingBoxLegendre<dim>(2));
  std::vector<unsigned int> indices;
  for (const auto &polytope : handler.polytope_iterators())
    indices.push_back(hp ? name(handler, polytope.index()) % 2 : 0);
  handler.distribute_dofs(collection, indices);
  Tessella::SpaceTimeForm<dim> form;
  const PolynomialProblem<dim> problem(1, true);
  problem.set(form, false);
  Result result;

  // ---- one system
  {
    Tessella::SpaceTimeSlab<dim> slab(handler, space);
    slab.reinit(0.1, 0.3, intervals(handler, 0));
    form.set_start(slab.start());
    typename Tessella::PolytopicAssembler<dim + 1>::AdditionalData data;
    data.backend = Tessella::Backend::host;
    Tessella::PolytopicAssembler<dim + 1> assembler(slab, data);
    TrilinosWrappers::SparseMatrix        matrix;
    TrilinosWrappers::MPI::Vector         rhs, value;
    assembler.reinit(matrix, rhs);
    assembler.assemble(form, matrix, rhs);
    value.reinit(handler.locally_owned_dofs(), comm);
    AtTime<dim> exact(
      [problem](const Point<dim + 1> &x) { return problem.u(x); });
    Tessella::VectorTools::project(handler, exact, value);

    const auto digests = slab_digests(handler, slab, matrix, rhs, comm);
    result.matrix      = digests[0];
    result.rhs         = digests[1];
    result.n_elements  = slab.n_global_polytopes();
    result.n_dofs      = slab.n_dofs();
    result.numbers.push_back(slab.integral(value));
    result.numbers.push_back(slab.L2_norm(value));
    slab.add_inflow(value, rhs);
    result.numbers.push_back(rhs.l2_norm());
  }

  // ---- several slabs; the last one with the numbers of intervals of the one
  // before
  HostStepping<dim> stepping(handler, form, space);
  AtTime<dim>       initial([](const Point<dim + 1> &x) {
    return std::exp(-5. * (x[0] * x[0] + (x[1] - 0.4) * (x[1] - 0.4)));
  });
  AtTime<dim>       exact(
    [problem](const Point<dim + 1> &x) { return problem.u(x); });
  for (const bool reproduce : {true, false})
    {
      TrilinosWrappers::MPI::Vector value(handler.locally_owned_dofs(), comm);
      exact.set_time(0.1);
      Tessella::VectorTools::project(
        handler,
        reproduce ? static_cast<const Function<dim> &>(exact) : initial,
        value);
      stepping.initialize(0.1, value);
      Tessella::SpaceTimeErrors<dim> errors;
      for (unsigned int n = 0; n < 3; ++n)
        {
          stepping.step(0.1 + 0.05 * n, intervals(handler, n / 2));
          errors.add(stepping.slab(), stepping.solution(), exact);
          if (!reproduce)
            result.numbers.push_back(stepping.jump());
        }
      if (reproduce)
        result.error = errors.Linf_L2();
      else
        for (const double number : {errors.L2_L2(),
                                    errors.L2_H1(),
                                    errors.Linf_L2(),
                                    stepping.slab().integral(stepping.value())})
          result.numbers.push_back(number);
    }

  // ---- mistakes of one process end on all
  Tessella::SpaceTimeSlab<dim> slab(handler, space);
  std::vector<unsigned int>    numbers = intervals(handler, 0);
  if (!numbers.empty() && Utilities::MPI::this_mpi_process(comm) == 0)
    numbers[0] = 0;
  bool thrown = false;
  try
    {
      slab.reinit(0., 1., numbers);
    }
  catch (const ExceptionBase &)
    {
      thrown = true;
    }
  AssertThrow(thrown || Utilities::MPI::n_mpi_processes(comm) > 2,
              ExcInternalError());
  AssertThrow(Utilities::MPI::min(thrown ? 1 : 0, comm) ==
                Utilities::MPI::max(thrown ? 1 : 0, comm),
              ExcInternalError());
  return result;
}

// Calls make(communicator of n processes) for n = 1, 2, ..., all, and compares
// the results.
template <typename Function>
void
compare(const std::string &what, const Function &make)
{
  const std::vector<Result> results = for_numbers_of_processes<Result>(make);
  if (results.empty())
    return;
  deallog << what << ": " << results[0].n_elements << " elements, "
          << results[0].n_dofs << " degrees of freedom" << std::endl;
  bool   sizes = true, matrices = true, vectors = true;
  double error = 0., difference = 0.;
  for (const Result &result : results)
    {
      sizes &= result.n_elements == results[0].n_elements &&
               result.n_dofs == results[0].n_dofs;
      matrices &= result.matrix == results[0].matrix;
      vectors &= result.rhs == results[0].rhs;
      error = std::max(error, result.error);
      for (unsigned int i = 0; i < result.numbers.size(); ++i)
        difference =
          std::max(difference,
                   std::abs(result.numbers[i] - results[0].numbers[i]) /
                     std::abs(results[0].numbers[i]));
    }
  check("  sizes", sizes);
  check("  matrix", matrices);
  check("  right-hand side", vectors);
  // The polynomials are not periodic.
  if (what.find("periodic") == std::string::npos)
    check_below("  polynomials are reproduced", error, 1e-9);
  check_below("  norms, jumps, errors, masses", difference, 1e-9);
}

template <int dim>
void
test()
{
  const std::string suffix = " in " + std::to_string(dim) + "-D";
  compare("simplices, METIS" + suffix, [&](const MPI_Comm comm) {
    Triangulation<dim> serial;
    GridGenerator::subdivided_hyper_cube_with_simplices(serial,
                                                        dim == 2 ? 6 : 2);
    parallel::fullydistributed::Triangulation<dim> triangulation(comm);
    const auto strategy = Tessella::Agglomeration::distribute<dim>(
      serial,
      Tessella::Agglomeration::repair<dim>(
        Tessella::Agglomeration::metis<dim>(dim == 2 ? 17 : 9)),
      triangulation);
    return run<dim>(triangulation,
                    strategy,
                    PolynomialSpaceType::prismatic,
                    dim == 2);
  });
  compare("p4est, hanging nodes" + suffix, [&](const MPI_Comm comm) {
    parallel::distributed::Triangulation<dim> triangulation(comm);
    GridGenerator::hyper_cube(triangulation);
    triangulation.refine_global(dim == 2 ? 2 : 1);
    for (const auto &cell : triangulation.active_cell_iterators())
      if (cell->is_locally_owned() && cell->center()[0] < 0.3 &&
          (dim == 2 || cell->center()[1] < 0.3))
        cell->set_refine_flag();
    triangulation.execute_coarsening_and_refinement();
    return run<dim>(triangulation,
                    Tessella::Agglomeration::none<dim>(),
                    PolynomialSpaceType::total_degree,
                    true);
  });
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv, 1);
  test<2>();
  test<3>();
  // periodic boundaries; with three processes or more, some own no polytope
  compare("shared, periodic", [](const MPI_Comm comm) {
    parallel::shared::Triangulation<2> triangulation(
      comm,
      Triangulation<2>::none,
      false,
      parallel::shared::Triangulation<2>::partition_zorder);
    GridGenerator::hyper_cube(triangulation, 0., 1., true);
    add_periodic_faces(triangulation, {1});
    triangulation.refine_global(2);
    return run<2>(triangulation,
                  Tessella::Agglomeration::none<2>(),
                  PolynomialSpaceType::prismatic,
                  false);
  });
  compare("few polytopes", [](const MPI_Comm comm) {
    Triangulation<2> serial;
    GridGenerator::subdivided_hyper_cube(serial, 3);
    parallel::fullydistributed::Triangulation<2> triangulation(comm);
    const auto strategy = Tessella::Agglomeration::distribute<2>(
      serial, Tessella::Agglomeration::rtree_parts<2>(2), triangulation);
    return run<2>(triangulation,
                  strategy,
                  PolynomialSpaceType::prismatic,
                  true);
  });
}
