// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_mpi_hdg_h
#define tessella_tests_mpi_hdg_h

// Hybridizable dG: the same polytopes distributed over different numbers of
// processes have the same trace matrix, right-hand side, u, q and u*, to the
// last bit, also if nothing fixes the constant.

#include <deal.II/fe/fe_system.h>

#include <tessella/hdg/hdg.h>

#include <map>

#include "../tests.h"
#include "cases.h"

using namespace dealii;
using namespace Tessella;

inline unsigned int n_different = 0;

struct Result
{
  std::uint64_t matrix, rhs, u, q, post;
  unsigned int  n_polytopes, n_free_constants;
  Backend       backend;
  std::uint64_t n_dofs, n_nonzero;
};

/// Identifiers of owned interfaces, which do not depend on the owner, and their
/// numbers of DoFs, by their first DoFs; gathered from all processes.
template <int dim>
std::map<types::global_dof_index, std::pair<std::uint64_t, unsigned int>>
interface_names(const AgglomerationHandler<dim> &handler, const HDG<dim> &hdg)
{
  const PolytopicMesh<dim> &mesh = handler.polytopic_mesh();
  std::vector<double>       names(mesh.n_polytopes());
  for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
    names[k] = static_cast<double>(name(handler, k) >> 12);
  handler.exchange_polytope_values(names, 1);
  std::map<types::global_dof_index, std::pair<std::uint64_t, unsigned int>>
    result;
  for (unsigned int i = 0; i < mesh.n_interfaces(); ++i)
    if (mesh.interface_polytope[2 * i] < handler.n_polytopes() &&
        hdg.first_dof(i) != numbers::invalid_dof_index)
      {
        const unsigned int neighbor = mesh.interface_polytope[2 * i + 1];
        Digest             digest;
        digest.add(names[mesh.interface_polytope[2 * i]]);
        digest.add(neighbor == Tessella::invalid_index ? 0. : names[neighbor]);
        for (unsigned int d = 0; d < dim; ++d)
          digest.add(
            mesh.facet_vertices
              [dim * mesh.facet_vertex_offset[mesh.facet_offset[i]] + d]);
        result[hdg.first_dof(i)] = {digest.state,
                                    hdg.trace_space().n_functions[i]};
      }
  for (const auto &others :
       Utilities::MPI::all_gather(handler.get_communicator(), result))
    result.insert(others.begin(), others.end());
  return result;
}

template <int dim>
Result
solve(const Triangulation<dim>                &triangulation,
      const Agglomeration::Strategy<dim>      &strategy,
      const AdvectionDiffusionReaction<dim>   &form,
      const bool                               hp,
      const typename HDG<dim>::AdditionalData &data)
{
  AgglomerationHandler<dim> handler(triangulation), finer(triangulation);
  for (auto *h : {&handler, &finer})
    {
      h->agglomerate(strategy);
      distribute_degrees(*h, hp, h == &finer ? 1 : 0);
    }
  const MPI_Comm                 comm = handler.get_communicator();
  HDG<dim>                       hdg(handler, data);
  TrilinosWrappers::SparseMatrix matrix;
  TrilinosWrappers::MPI::Vector  rhs, trace, u, q, post;
  hdg.reinit(form, matrix, rhs);
  hdg.assemble(form, matrix, rhs);

  // ---- identifiers of DoFs
  const auto interfaces = interface_names(handler, hdg);
  std::map<types::global_dof_index, std::uint64_t> names;
  for (const auto &interface : interfaces)
    for (unsigned int j = 0; j < interface.second.second; ++j)
      {
        Digest digest;
        digest.add(interface.second.first);
        digest.add(std::uint64_t(j));
        names[interface.first + j] = digest.state;
      }
  Result result           = {};
  result.n_dofs           = hdg.n_dofs();
  result.n_nonzero        = matrix.n_nonzero_elements();
  result.n_polytopes      = handler.n_global_polytopes();
  result.n_free_constants = hdg.report().n_free_constants;
  result.backend          = hdg.report().backend;
  trace.reinit(rhs);
  for (const auto row : rhs.locally_owned_elements())
    {
      const std::uint64_t row_name = names.at(row);
      // The iterator of an end copies a row, too.
      const auto end = matrix.end(row);
      for (auto entry = matrix.begin(row); entry != end; ++entry)
        {
          Digest digest;
          digest.add(row_name);
          digest.add(names.at(entry->column()));
          digest.add(double(entry->value()));
          result.matrix += digest.state;
        }
      Digest digest;
      digest.add(row_name);
      digest.add(double(rhs(row)));
      result.rhs += digest.state;
      // The trace is arbitrary.
      trace(row) = 1e-3 * (row_name % 1000);
    }
  trace.compress(VectorOperation::insert);
  result.matrix = Utilities::MPI::sum(result.matrix, comm);
  result.rhs    = Utilities::MPI::sum(result.rhs, comm);

  hdg.recover(form, trace, u, q);
  hdg.post_process(form, u, q, finer, post);
  result.u    = digest_of_vector(handler, u);
  result.post = digest_of_vector(finer, post);
  result.q =
    digest_of_polytopes(handler, [&](const unsigned int k, Digest &digest) {
      const auto &offset = handler.polytopic_dofs().dof_offset;
      for (auto i = dim * offset[k]; i < dim * offset[k + 1]; ++i)
        digest.add(*(q.begin() + i));
    });
  return result;
}

template <typename Function>
void
compare(const std::string &what, const Backend backend, const Function &make)
{
  const std::vector<Result> results = for_numbers_of_processes<Result>(make);
  if (results.empty())
    return;
  const Result &first = results[0];
  deallog << what << ": " << first.n_polytopes << " polytopes, " << first.n_dofs
          << " unknowns, " << first.n_free_constants << " free constants"
          << std::endl;
  bool sizes = true, matrices = true, vectors = true, solutions = true;
  for (const Result &result : results)
    {
      sizes &= result.n_polytopes == first.n_polytopes &&
               result.n_dofs == first.n_dofs &&
               result.n_nonzero == first.n_nonzero &&
               result.n_free_constants == first.n_free_constants &&
               result.backend == backend;
      matrices &= result.matrix == first.matrix;
      vectors &= result.rhs == first.rhs;
      solutions &=
        result.u == first.u && result.q == first.q && result.post == first.post;
    }
  n_different += !check("  sizes", sizes);
  n_different += !check("  matrix", matrices);
  n_different += !check("  right-hand side", vectors);
  n_different += !check("  u, q and u*", solutions);
}

template <int dim>
void
test(const Backend backend)
{
  const std::string suffix = " in " + std::to_string(dim) + "-D";
  using Problem            = AdvectionDiffusionReaction<dim>;
  typename HDG<dim>::AdditionalData defaults;
  defaults.backend = backend;

  Problem                variable, advective, neumann;
  Tensor<1, dim>         b;
  BoundaryCondition<dim> dirichlet, flux;
  for (unsigned int d = 0; d < dim; ++d)
    b[d] = 0.3 + d;
  dirichlet.value = parse<dim>("x*y");
  flux.type       = BoundaryType::neumann;
  variable.set_diffusion(parse<dim>("1 + x*x + 0.5*sin(3*y)"));
  variable.set_source(parse<dim>("x - y"));
  variable.set_default_boundary_condition(dirichlet);
  advective.set_diffusion(1.5);
  advective.set_advection(b);
  advective.set_reaction(0.5);
  advective.set_source(parse<dim>("x - y"));
  advective.set_default_boundary_condition(dirichlet);
  // f has mean value zero on [0, 1]^dim.
  neumann.set_diffusion(parse<dim>("1 + x*x"));
  neumann.set_source(parse<dim>("x - y"));
  neumann.set_default_boundary_condition(flux);

  for (const bool hp : {false, true})
    compare(std::string("p4est, ") + (hp ? "hp" : "families") + suffix,
            backend,
            [&](const MPI_Comm comm) {
              parallel::distributed::Triangulation<dim> triangulation(comm);
              make_l_shape(triangulation, 1);
              auto data = defaults;
              if (hp)
                data.local_solvers = LocalSolvers::recompute;
              return solve<dim>(triangulation,
                                hp ? Agglomeration::none<dim>()
                                   : Agglomeration::complete_families<dim>(),
                                hp ? variable : advective,
                                hp,
                                data);
            });

  for (const auto type : {TraceSpaceType::interface, TraceSpaceType::facet})
    compare(
      std::string("simplices, METIS, ") +
        (type == TraceSpaceType::facet ? "facets" : "free constant") + suffix,
      backend,
      [&](const MPI_Comm comm) {
        parallel::fullydistributed::Triangulation<dim> triangulation(comm);
        const auto strategy = distribute_simplices(triangulation);
        auto       data     = defaults;
        data.trace_space    = type;
        return solve<dim>(triangulation,
                          strategy,
                          type == TraceSpaceType::facet ? variable : neumann,
                          false,
                          data);
      });

  compare("shared, periodic, hanging nodes" + suffix,
          backend,
          [&](const MPI_Comm comm) {
            auto triangulation = shared_mesh<dim>(comm);
            make_periodic(triangulation, dim, 2);
            return solve<dim>(triangulation,
                              Agglomeration::none<dim>(),
                              neumann,
                              false,
                              defaults);
          });

  // ---- with three processes or more, some own nothing
  compare("few polytopes" + suffix, backend, [&](const MPI_Comm comm) {
    parallel::fullydistributed::Triangulation<dim> triangulation(comm);
    const auto strategy = distribute_two_polytopes(triangulation);
    return solve<dim>(triangulation, strategy, neumann, false, defaults);
  });

  // ---- a problem without solution is an error on all processes
  Problem impossible;
  impossible.set_diffusion(1.);
  impossible.set_source(1.);
  impossible.set_default_boundary_condition(flux);
  parallel::distributed::Triangulation<dim> triangulation(MPI_COMM_WORLD);
  GridGenerator::hyper_cube(triangulation);
  triangulation.refine_global(2);
  unsigned int n_errors = 0;
  try
    {
      solve<dim>(
        triangulation, Agglomeration::none<dim>(), impossible, false, defaults);
    }
  catch (const ExceptionBase &)
    {
      n_errors = 1;
    }
  n_errors = Utilities::MPI::sum(n_errors, MPI_COMM_WORLD);
  if (Utilities::MPI::this_mpi_process(MPI_COMM_WORLD) == 0)
    n_different +=
      !check("  no solution",
             n_errors == Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD));
}

#endif
