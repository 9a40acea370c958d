// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Polytopewise operators have the same bits for every number of processes, and
// an error on one process is one on all.

#include <tessella/forms/limiters.h>
#include <tessella/numerics/vector_tools.h>
#include <tessella/operators/polytopewise_operator.h>

#include <algorithm>
#include <cmath>

#include "../mpi/cases.h"
#include "../tests.h"

using Results = std::vector<std::uint64_t>;
using Field   = LinearAlgebra::distributed::Vector<double>;

// A step and a wave.
template <int dim>
class StepAndWave : public Function<dim>
{
public:
  StepAndWave()
    : Function<dim>(2)
  {}

  double
  value(const Point<dim> &p, const unsigned int component = 0) const override
  {
    return component == 0
             ? (p[0] + 0.3 * p[1] < 0.6 ? 1. : 0.)
             : 3. + std::sin(9. * p[0]) * std::cos(4. * p[dim - 1]);
  }
};

template <int dim>
Results
compute(const Triangulation<dim>           &triangulation,
        const Agglomeration::Strategy<dim> &strategy)
{
  AgglomerationHandler<dim> handler(triangulation);
  handler.agglomerate(strategy);
  distribute_by_position(handler,
                         {{1, 2}},
                         PolynomialSpaceType::total_degree,
                         2);
  Field u(handler.locally_owned_dofs(), handler.get_communicator());
  Tessella::VectorTools::project(handler, StepAndWave<dim>(), u);
  PolytopewiseOperator<dim> op(handler);
  Results                   results;
  const auto                add = [&](const std::vector<double> &values) {
    results.push_back(
      digest_of_polytopes(handler, [&](const unsigned int k, Digest &digest) {
        digest.add(values[k]);
      }));
    results.push_back(digest_of_vector(handler, u));
  };
  add(op.apply(SlopeLimiter(), u));
  BoundLimiter bounds;
  bounds.upper = 1.;
  add(op.apply(bounds, u));
  add(op.evaluate(
    [](const PolytopeStencil<dim> &s, double *) {
      double sum = s.surface;
      for (unsigned int j = 0; j < s.n_interfaces; ++j)
        for (int d = 0; d < dim; ++d)
          sum += (d + 1.) *
                 (s.interfaces[j].centroid[d] +
                  (s.at_boundary(j) ? 0.
                                    : s.interfaces[j].neighbor_centroid[d] *
                                        s.interfaces[j].neighbor_measure));
      return sum;
    },
    u));
  Digest integrals;
  for (const double v : op.integrals(u))
    integrals.add(v);
  results.push_back(integrals.state);
  return results;
}

template <int dim>
void
test()
{
  const std::string name   = std::to_string(dim) + "-D: ";
  const auto        report = [&](const std::string          &what,
                          const std::vector<Results> &results) {
    for (unsigned int n = 1; n < results.size(); ++n)
      for (unsigned int i = 0; i < results[0].size(); ++i)
        if (results[n][i] != results[0][i])
          deallog << name << what << ": result " << i << " differs on " << n + 1
                  << " processes" << std::endl;
    if (!results.empty())
      check(name + what, results[0].size() == 7);
  };
  report("periodic, hanging nodes",
         for_numbers_of_processes<Results>([](const MPI_Comm comm) {
           auto triangulation = shared_mesh<dim>(comm);
           make_periodic(triangulation, 1, dim == 2 ? 3 : 2);
           return compute<dim>(triangulation, [](const Triangulation<dim> &t) {
             std::vector<unsigned int> ids(t.n_active_cells());
             for (unsigned int i = 0; i < ids.size(); ++i)
               ids[i] = i;
             return ids;
           });
         }));
  report("agglomerates of simplices",
         for_numbers_of_processes<Results>([](const MPI_Comm comm) {
           parallel::fullydistributed::Triangulation<dim> triangulation(comm);
           const auto strategy = distribute_simplices(triangulation);
           return compute<dim>(triangulation, strategy);
         }));
  report("processes without polytopes",
         for_numbers_of_processes<Results>([](const MPI_Comm comm) {
           parallel::fullydistributed::Triangulation<dim> triangulation(comm);
           const auto strategy = distribute_two_polytopes(triangulation);
           return compute<dim>(triangulation, strategy);
         }));
}

void
test_error()
{
  parallel::fullydistributed::Triangulation<2> triangulation(MPI_COMM_WORLD);
  const auto              strategy = distribute_simplices(triangulation);
  AgglomerationHandler<2> handler(triangulation);
  handler.agglomerate(strategy);
  distribute_degrees(handler, false);
  Field                   u(handler.locally_owned_dofs(), MPI_COMM_WORLD);
  PolytopewiseOperator<2> op(handler);
  // An error on the last process leaves the vector as it is on all.
  u = 1.;
  check_throws<ExceptionBase>(
    "error of a functor",
    [&] {
      op.apply(
        [](const PolytopeStencil<2> &, double *a) {
          a[0] = Utilities::MPI::this_mpi_process(MPI_COMM_WORLD) + 1 ==
                     Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD)
                   ? std::numeric_limits<double>::infinity()
                   : 7.;
          return 0.;
        },
        u);
    },
    "not finite");
  check("vector after an error",
        Utilities::MPI::min(std::all_of(u.begin(),
                                        u.end(),
                                        [](const double a) { return a == 1.; })
                              ? 1
                              : 0,
                            MPI_COMM_WORLD) == 1);
  if (Utilities::MPI::this_mpi_process(MPI_COMM_WORLD) == 0)
    *u.begin() = std::numeric_limits<double>::quiet_NaN();
  check_throws<ExceptionBase>(
    "error", [&] { op.apply(SlopeLimiter(), u); }, "not finite");
}

int
main(int argc, char **argv)
{
  Utilities::MPI::MPI_InitFinalize mpi(argc, argv, 1);
  initlog();
  test<2>();
  test<3>();
  test_error();
}
