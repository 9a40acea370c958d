// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_operators_matrix_free_processes_h
#define tessella_tests_operators_matrix_free_processes_h

// Products without a matrix by several numbers of processes.

#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/lac/device_vector.h>
#include <tessella/operators/matrix_free_operator.h>

#include "../mpi/cases.h"
#include "../tests.h"

using Results = std::vector<std::uint64_t>;

/// Reads and writes the entries that this process owns.
template <typename VectorType>
void
set_entries(VectorType &vector, const std::vector<double> &entries)
{
  std::copy(entries.begin(), entries.end(), vector.begin());
}
inline void
set_entries(DeviceVector<double> &vector, const std::vector<double> &entries)
{
  vector.copy_from(entries);
}
template <typename VectorType>
std::vector<double>
get_entries(const VectorType &vector, const std::size_t n)
{
  return std::vector<double>(vector.begin(), vector.begin() + n);
}
inline std::vector<double>
get_entries(const DeviceVector<double> &vector, const std::size_t)
{
  std::vector<double> result;
  vector.copy_to(result);
  return result;
}

/// Products and transposed products with a vector that depends on the polytopes
/// alone.
template <int dim, typename MatrixType, typename VectorType>
void
add_results(const AgglomerationHandler<dim> &handler,
            const Form<dim>                 &form,
            Results                         &results)
{
  MatrixFreeOperator<dim, MatrixType> op;
  op.initialize(handler, form);
  VectorType x, y;
  for (VectorType *v : {&x, &y})
    v->reinit(handler.locally_owned_dofs(), handler.get_communicator());
  const auto         &mesh = handler.polytopic_mesh();
  const auto         &dofs = handler.polytopic_dofs();
  std::vector<double> entries(handler.n_locally_owned_dofs());
  for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
    for (unsigned int i = 0; i < dofs.n_basis[k]; ++i)
      entries[dofs.dof_offset[k] + i] = std::sin(
        i + 3. * mesh.box[2 * dim * k] + 7. * mesh.box[2 * dim * k + dim + 1]);
  set_entries(x, entries);
  const auto add = [&]() {
    results.push_back(
      digest_of_vector(handler, get_entries(y, entries.size())));
  };
  op.vmult(y, x);
  add();
  op.Tvmult(y, x);
  add();
  op.Tvmult_add(y, x);
  add();
  op.residual(y, x, y);
  add();
}

template <int dim, typename MatrixType, typename VectorType>
Results
compute(const Triangulation<dim>           &triangulation,
        const Agglomeration::Strategy<dim> &strategy,
        const bool                          hp)
{
  Results                   results;
  AgglomerationHandler<dim> handler(triangulation);
  handler.agglomerate(strategy);
  distribute_degrees(handler, hp);
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
  add_results<dim, MatrixType, VectorType>(handler, constant, results);
  add_results<dim, MatrixType, VectorType>(handler, variable, results);
  return results;
}

/// Simplices, of which those on the left are joined to squares or cubes: with
/// three processes, the polytopes of some are single simplices, and not those
/// of others.
template <int dim>
Agglomeration::Strategy<dim>
distribute_simplices_and_cubes(
  parallel::fullydistributed::Triangulation<dim> &triangulation)
{
  Triangulation<dim> serial;
  const unsigned int n = dim == 2 ? 8 : 4, n_together = dim == 2 ? 2 : 5;
  GridGenerator::subdivided_hyper_cube_with_simplices(serial, n);
  std::vector<unsigned int>            ids;
  unsigned int                         i = 0, next = 0;
  std::map<unsigned int, unsigned int> of_cube;
  for (const auto &cell : serial.active_cell_iterators())
    {
      const unsigned int cube = i++ / n_together;
      // Cubes are numbered in direction x first.
      const bool joined = cube % n < n / 4;
      const auto entry  = joined ? of_cube.find(cube) : of_cube.end();
      ids.push_back(entry != of_cube.end() ? entry->second : next++);
      if (joined)
        of_cube[cube] = ids.back();
      (void)cell;
    }
  return Agglomeration::distribute<dim>(serial,
                                        Agglomeration::by_id<dim>(ids),
                                        triangulation);
}

/// Calls @p report with the name of each case and whether all numbers of
/// processes have the same bits. Vectors are of types @p V for each case.
template <int dim,
          typename MatrixType,
          typename V0,
          typename V1,
          typename V2,
          typename Report>
void
test_processes(const Report &report)
{
  const std::string prefix = std::to_string(dim) + "-D: ";
  const auto compare = [&](const std::string &name, const auto &function) {
    for (const bool hp : {false, true})
      {
        const std::vector<Results> results = for_numbers_of_processes<Results>(
          [&](const MPI_Comm comm) { return function(comm, hp); });
        bool same = true;
        for (const Results &result : results)
          same = same && result == results[0];
        report(prefix + name + (hp ? ", hp" : ""), same);
      }
  };
  compare("periodic, hanging nodes", [](const MPI_Comm comm, const bool hp) {
    parallel::distributed::Triangulation<dim> triangulation(comm);
    make_periodic(triangulation, 1, dim == 2 ? 3 : 2);
    return compute<dim, MatrixType, V0>(triangulation,
                                        Agglomeration::none<dim>(),
                                        hp);
  });
  compare("agglomerates of simplices", [](const MPI_Comm comm, const bool hp) {
    parallel::fullydistributed::Triangulation<dim> triangulation(comm);
    const auto strategy = distribute_simplices(triangulation);
    return compute<dim, MatrixType, V1>(triangulation, strategy, hp);
  });
  // Whether the polytopes of all processes, and of this one, are simplices
  // decides about the kernel.
  bool mixed = false;
  compare("simplices and cubes of them",
          [&mixed](const MPI_Comm comm, const bool hp) {
            parallel::fullydistributed::Triangulation<dim> triangulation(comm);
            const auto strategy = distribute_simplices_and_cubes(triangulation);
            {
              AgglomerationHandler<dim> handler(triangulation);
              handler.agglomerate(strategy);
              const auto &mesh = handler.polytopic_mesh();
              const bool  here = mesh.subcell_offset[handler.n_polytopes()] ==
                                handler.n_polytopes();
              mixed = mixed || Utilities::MPI::max(here ? 1 : 0, comm) !=
                                 Utilities::MPI::min(here ? 1 : 0, comm);
            }
            return compute<dim, MatrixType, V1>(triangulation, strategy, hp);
          });
  report(prefix + "processes with and without simplices alone",
         Utilities::MPI::max(mixed ? 1 : 0, MPI_COMM_WORLD) == 1);
  compare("two polytopes", [](const MPI_Comm comm, const bool hp) {
    parallel::fullydistributed::Triangulation<dim> triangulation(comm);
    const auto strategy = distribute_two_polytopes(triangulation);
    return compute<dim, MatrixType, V2>(triangulation, strategy, hp);
  });
}

#endif
