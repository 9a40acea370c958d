// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Products without a matrix have the same bits for every number of processes.

#include <deal.II/lac/trilinos_vector.h>

#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/lac/host_vector.h>
#include <tessella/operators/matrix_free_operator.h>

#include "../mpi/cases.h"
#include "../tests.h"

using Results = std::vector<std::uint64_t>;

// Products and transposed products with a vector that depends on the polytopes
// alone.
template <int dim, typename VectorType>
void
add_results(const AgglomerationHandler<dim> &handler,
            const Form<dim>                 &form,
            Results                         &results)
{
  MatrixFreeOperator<dim> op;
  op.initialize(handler, form);
  VectorType x, y;
  for (VectorType *v : {&x, &y})
    v->reinit(handler.locally_owned_dofs(), handler.get_communicator());
  const auto &mesh = handler.polytopic_mesh();
  const auto &dofs = handler.polytopic_dofs();
  for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
    for (unsigned int i = 0; i < dofs.n_basis[k]; ++i)
      *(x.begin() + dofs.dof_offset[k] + i) = std::sin(
        i + 3. * mesh.box[2 * dim * k] + 7. * mesh.box[2 * dim * k + dim + 1]);
  op.vmult(y, x);
  results.push_back(digest_of_vector(handler, y));
  op.Tvmult(y, x);
  results.push_back(digest_of_vector(handler, y));
  op.Tvmult_add(y, x);
  results.push_back(digest_of_vector(handler, y));
  op.residual(y, x, y);
  results.push_back(digest_of_vector(handler, y));
}

template <int dim, typename VectorType>
Results
compute(const Triangulation<dim>           &triangulation,
        const Agglomeration::Strategy<dim> &strategy)
{
  Results                   results;
  AgglomerationHandler<dim> handler(triangulation);
  handler.agglomerate(strategy);
  distribute_degrees(handler, true);
  AdvectionDiffusionReaction<dim> constant, variable;
  Tensor<1, dim>                  b;
  b[0] = 0.7;
  b[1] = -0.4;
  constant.set_diffusion(1.3);
  constant.set_advection(b);
  variable.set_diffusion(parse<dim>("1 + x*y"));
  variable.set_advection(b);
  variable.set_reaction(parse<dim>("2 + x"));
  variable.set_theta(0.);
  add_results<dim, VectorType>(handler, constant, results);
  add_results<dim, VectorType>(handler, variable, results);
  return results;
}

void
report(const std::string &name, const std::vector<Results> &results)
{
  bool same = true;
  for (const Results &result : results)
    same = same && result == results[0];
  deallog << name << ": " << (same ? "ok" : "other bits") << std::endl;
}

template <int dim>
void
test()
{
  const std::string prefix = std::to_string(dim) + "-D: ";
  report(prefix + "periodic, hanging nodes",
         for_numbers_of_processes<Results>([](const MPI_Comm comm) {
           parallel::distributed::Triangulation<dim> triangulation(comm);
           make_periodic(triangulation, 1, dim == 2 ? 3 : 2);
           return compute<dim, HostVector<double>>(triangulation,
                                                   Agglomeration::none<dim>());
         }));
  report(prefix + "agglomerates of simplices",
         for_numbers_of_processes<Results>([](const MPI_Comm comm) {
           parallel::fullydistributed::Triangulation<dim> triangulation(comm);
           const auto strategy = distribute_simplices(triangulation);
           return compute<dim, LinearAlgebra::distributed::Vector<double>>(
             triangulation, strategy);
         }));
  report(prefix + "two polytopes",
         for_numbers_of_processes<Results>([](const MPI_Comm comm) {
           parallel::fullydistributed::Triangulation<dim> triangulation(comm);
           const auto strategy = distribute_two_polytopes(triangulation);
           return compute<dim, TrilinosWrappers::MPI::Vector>(triangulation,
                                                              strategy);
         }));
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  test<2>();
  test<3>();
}
