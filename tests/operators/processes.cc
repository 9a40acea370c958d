// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Pointwise operators have the same bits for every number of processes.

#include <deal.II/fe/fe_system.h>
#include <deal.II/lac/trilinos_sparse_matrix.h>
#include <deal.II/lac/trilinos_vector.h>

#include <tessella/forms/functor_integrand.h>
#include <tessella/lac/host_block_matrix.h>
#include <tessella/lac/host_vector.h>
#include <tessella/operators/pointwise_operator.h>

#include <array>

#include "../mpi/cases.h"
#include "../tests.h"
#include "digests.h"
#include "functors.h"

using Results = std::vector<std::uint64_t>;

// Coefficients that depend on the polytope alone.
template <int dim, typename VectorType>
void
set_field(const AgglomerationHandler<dim> &handler,
          const std::vector<double>       &constants,
          VectorType                      &u)
{
  const auto &mesh = handler.polytopic_mesh();
  const auto &dofs = handler.polytopic_dofs();
  for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
    {
      double volume = 1.;
      for (int d = 0; d < dim; ++d)
        volume *= mesh.box[2 * dim * k + dim + d] - mesh.box[2 * dim * k + d];
      const unsigned int n = dofs.n_basis[k];
      for (unsigned int i = 0; i < n * dofs.n_components; ++i)
        *(u.begin() + dofs.dof_offset[k] + i) =
          std::sqrt(volume) *
          ((i % n == 0 ? constants[i / n] : 0.) +
           0.3 / n *
             std::sin(i + 3. * mesh.box[2 * dim * k] +
                      7. * mesh.box[2 * dim * k + dim + 1]));
    }
}

template <int dim, typename F, typename VectorType>
void
add_results(const typename PointwiseOperator<dim>::Handlers &handlers,
            const std::vector<std::vector<double>>          &constants,
            const F                                         &f,
            Results                                         &results)
{
  typename PointwiseOperator<dim>::AdditionalData data;
  data.backend = Backend::host;
  PointwiseOperator<dim>          op(handlers, 0, data);
  const FunctorIntegrand<dim, F>  integrand(f);
  std::vector<VectorType>         fields(handlers.size());
  std::vector<const VectorType *> pointers;
  for (unsigned int i = 0; i < handlers.size(); ++i)
    {
      fields[i].reinit(handlers[i]->locally_owned_dofs(),
                       handlers[i]->get_communicator());
      set_field(*handlers[i], constants[i], fields[i]);
      pointers.push_back(&fields[i]);
    }
  const auto &handler = *handlers[0];
  VectorType  r, s;
  op.reinit(r);
  op.reinit(s);
  op.residual(integrand, pointers, r);
  results.push_back(digest_of_vector(handler, r));
  for (unsigned int i = 0; i < handlers.size(); ++i)
    {
      op.apply_tangent(integrand, pointers, fields[i], s, i);
      results.push_back(digest_of_vector(handler, s));
    }

  HostBlockMatrix<double> matrix;
  op.reinit(matrix);
  op.assemble_jacobian(integrand, pointers, matrix);
  results.push_back(digest_of_jacobian(handler, matrix));
  std::vector<double> diagonal;
  op.diagonal_blocks(integrand, pointers, diagonal);
  results.push_back(digest_of_diagonal(handler, diagonal));
  results.push_back(digest_of_values(
    integrals_of_all<dim, VectorType>(op, integrand, pointers)));
}

template <int dim>
void
distribute(AgglomerationHandler<dim> &handler,
           const unsigned int         more,
           const unsigned int         n_components)
{
  distribute_by_position(handler,
                         {{1 + more, 2}},
                         PolynomialSpaceType::total_degree,
                         n_components);
}

template <int dim, typename VectorType>
Results
compute(const Triangulation<dim>           &triangulation,
        const Agglomeration::Strategy<dim> &strategy)
{
  Results                   results;
  AgglomerationHandler<dim> flow(triangulation), two(triangulation),
    one(triangulation);
  for (auto *handler : {&flow, &two, &one})
    handler->agglomerate(strategy);
  distribute(flow, 1, dim + 2);
  distribute(two, 0, 2);
  distribute(one, 2, 1);
  Functors::Euler<dim>      euler;
  const std::vector<double> state =
    dim == 2 ? std::vector<double>{1.2, 0.5, 0.3, 2.7}
             : std::vector<double>{1.2, 0.5, 0.3, 0.2, 2.7};
  std::copy(state.begin(), state.end(), euler.state);
  add_results<dim, Functors::Euler<dim>, VectorType>({&flow},
                                                     {state},
                                                     euler,
                                                     results);
  Functors::TwoFields<dim> fields;
  fields.indices = false;
  add_results<dim, Functors::TwoFields<dim>, VectorType>({&two, &one},
                                                         {{0.2, 0.4}, {0.3}},
                                                         fields,
                                                         results);
  add_results<dim, Functors::NonlinearDiffusion<dim>, VectorType>(
    {&one}, {{0.3}}, Functors::NonlinearDiffusion<dim>(), results);
  return results;
}

// Kernels for batches of simplices.
template <int dim>
Results
compute_simplices(const MPI_Comm comm)
{
  using VectorType = LinearAlgebra::distributed::Vector<double>;
  parallel::fullydistributed::Triangulation<dim> triangulation(comm);
  distribute_simplices(triangulation);
  Results                   results;
  AgglomerationHandler<dim> flow(triangulation);
  flow.agglomerate(Agglomeration::none<dim>());
  flow.distribute_dofs(FESystem<dim>(FE_BoundingBoxLegendre<dim>(2), dim + 2));
  Functors::Euler<dim>      euler;
  const std::vector<double> state =
    dim == 2 ? std::vector<double>{1.2, 0.5, 0.3, 2.7}
             : std::vector<double>{1.2, 0.5, 0.3, 0.2, 2.7};
  std::copy(state.begin(), state.end(), euler.state);
  add_results<dim, Functors::Euler<dim>, VectorType>({&flow},
                                                     {state},
                                                     euler,
                                                     results);
  return results;
}

template <int dim>
void
test()
{
  const std::string name   = std::to_string(dim) + "-D: ";
  const auto        report = [&](const std::string          &what,
                          const std::vector<Results> &results,
                          const unsigned int          n_results = 16) {
    for (unsigned int n = 1; n < results.size(); ++n)
      for (unsigned int i = 0; i < results[0].size(); ++i)
        if (results[n][i] != results[0][i])
          deallog << name << what << ": result " << i << " differs on " << n + 1
                  << " processes" << std::endl;
    if (!results.empty())
      check(name + what, results[0].size() == n_results);
  };
  report("periodic, hanging nodes",
         for_numbers_of_processes<Results>([](const MPI_Comm comm) {
           auto triangulation = shared_mesh<dim>(comm);
           make_periodic(triangulation, 1, dim == 2 ? 3 : 2);
           return compute<dim, HostVector<double>>(
             triangulation, [](const Triangulation<dim> &t) {
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
           return compute<dim, LinearAlgebra::distributed::Vector<double>>(
             triangulation, strategy);
         }));
  report("simplices",
         for_numbers_of_processes<Results>(compute_simplices<dim>),
         5);
}

// Trilinos, and an error on one process.
void
test_trilinos()
{
  parallel::fullydistributed::Triangulation<2> triangulation(MPI_COMM_WORLD);
  const auto              strategy = distribute_simplices(triangulation);
  AgglomerationHandler<2> handler(triangulation);
  handler.agglomerate(strategy);
  distribute(handler, 1, 4);
  PointwiseOperator<2>::AdditionalData data;
  data.backend = Backend::host;
  PointwiseOperator<2>                    op(handler, data);
  FunctorIntegrand<2, Functors::Euler<2>> flow;
  TrilinosWrappers::MPI::Vector           u, r, s;
  op.reinit(u);
  op.reinit(r);
  op.reinit(s);
  const double state[4] = {1.2, 0.5, 0.3, 2.7};
  std::copy(state, state + 4, flow.functor().state);
  set_field(handler, {1.2, 0.5, 0.3, 2.7}, u);
  TrilinosWrappers::SparseMatrix matrix;
  op.reinit(matrix);
  op.assemble_jacobian(flow, {&u}, matrix);
  op.apply_tangent(flow, {&u}, u, r);
  matrix.vmult(s, u);
  s -= r;
  check_below("Trilinos", s.linfty_norm() / r.linfty_norm(), 1e-13);
  if (Utilities::MPI::this_mpi_process(MPI_COMM_WORLD) == 0)
    *u.begin() = std::numeric_limits<double>::quiet_NaN();
  check_throws<ExceptionBase>(
    "error", [&] { op.residual(flow, {&u}, r); }, "not finite");
}

int
main(int argc, char **argv)
{
  Utilities::MPI::MPI_InitFinalize mpi(argc, argv, 1);
  initlog();
  test<2>();
  test<3>();
  test_trilinos();
}
