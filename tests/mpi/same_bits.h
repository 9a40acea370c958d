// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_mpi_same_bits_h
#define tessella_tests_mpi_same_bits_h

// The same polytopes distributed over different numbers of processes have the
// same matrix, to the last bit. Compares digests of matrix and right-hand side
// by (polytope, local index), on communicators of 1, 2, ... processes, and the
// product with a vector.

#include <deal.II/base/function.h>
#include <deal.II/base/tensor_function.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/forms/advection_diffusion_reaction.h>

DEAL_II_DISABLE_EXTRA_DIAGNOSTICS
#include <Epetra_CrsMatrix.h>
#include <Epetra_Map.h>
DEAL_II_ENABLE_EXTRA_DIAGNOSTICS

#include <cstdint>

#include "../tests.h"
#include "cases.h"

using namespace dealii;
using namespace Tessella;

struct Result
{
  std::uint64_t matrix, rhs;
  double        product;
  unsigned int  n_polytopes;
  std::uint64_t n_dofs;
};

template <int dim>
Result
assemble(const Triangulation<dim>           &triangulation,
         const Agglomeration::Strategy<dim> &strategy,
         const Form<dim>                    &form,
         const bool                          hp,
         const Backend                       backend)
{
  const MPI_Comm comm = Compatibility::get_communicator(triangulation);
  AgglomerationHandler<dim> handler(triangulation);
  handler.agglomerate(strategy);
  distribute_degrees(handler, hp);
  const PolytopicMesh<dim> &mesh = handler.polytopic_mesh();
  const PolytopicDoFs      &dofs = handler.polytopic_dofs();

  typename PolytopicAssembler<dim>::AdditionalData data;
  data.backend = backend;
  PolytopicAssembler<dim>        assembler(handler, data);
  TrilinosWrappers::SparseMatrix matrix;
  TrilinosWrappers::MPI::Vector  rhs;
  assembler.reinit(matrix, rhs);
  assembler.assemble(form, matrix, rhs);
  // The processes of this machine share its devices.
  if (backend == Backend::cuda && Utilities::MPI::n_mpi_processes(comm) > 1)
    {
      const auto devices =
        Utilities::MPI::all_gather(comm, assembler.report().device);
      AssertThrow(assembler.report().n_processes_on_device ==
                    std::count(devices.begin(),
                               devices.end(),
                               assembler.report().device),
                  ExcInternalError());
    }

  // ---- identifiers of polytopes; those of ghosts come from their owners
  std::vector<double> names(mesh.n_polytopes());
  for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
    names[k] = static_cast<double>(name(handler, k) >> 12);
  handler.exchange_polytope_values(names, 1);
  std::map<types::global_dof_index, std::pair<double, unsigned int>> dof_names;
  for (unsigned int k = 0; k < mesh.n_polytopes(); ++k)
    for (unsigned int i = 0; i < dofs.n_basis[k]; ++i)
      dof_names[handler.first_dof(k) + i] = {names[k], i};

  Result        result  = {0, 0, 0., handler.n_global_polytopes(), 0};
  std::uint64_t sums[2] = {0, 0};
  for (const auto row : handler.locally_owned_dofs())
    {
      const auto row_name = dof_names.at(row);
      // The iterator of an end copies a row, too.
      const auto end = matrix.end(row);
      for (auto entry = matrix.begin(row); entry != end; ++entry)
        {
          const auto column_name = dof_names.at(entry->column());
          Digest     digest;
          digest.add(row_name.first);
          digest.add(std::uint64_t(row_name.second));
          digest.add(column_name.first);
          digest.add(std::uint64_t(column_name.second));
          digest.add(double(entry->value()));
          sums[0] += digest.state;
        }
      Digest digest;
      digest.add(row_name.first);
      digest.add(std::uint64_t(row_name.second));
      digest.add(double(rhs(row)));
      sums[1] += digest.state;
    }
  MPI_Allreduce(sums, &result.matrix, 1, MPI_UINT64_T, MPI_SUM, comm);
  MPI_Allreduce(sums + 1, &result.rhs, 1, MPI_UINT64_T, MPI_SUM, comm);
  result.n_dofs = handler.n_dofs();

  // ---- a product with a vector that does not depend on the numbering
  TrilinosWrappers::MPI::Vector x(rhs), y(rhs);
  for (const auto row : handler.locally_owned_dofs())
    x(row) = std::sin(std::fmod(dof_names.at(row).first, 1000.) +
                      dof_names.at(row).second);
  x.compress(VectorOperation::insert);
  matrix.vmult(y, x);
  result.product = y * x;

  // ---- entries added one by one, also to rows of other processes
  if (handler.n_dofs() > 0)
    {
      const types::global_dof_index first_of_next =
        (handler.locally_owned_dofs().n_elements() == 0
           ? 0
           : handler.locally_owned_dofs().nth_index_in_set(
               handler.locally_owned_dofs().n_elements() - 1) +
               1) %
        handler.n_dofs();
      TrilinosWrappers::SparseMatrix sum;
      sum.copy_from(matrix);
      sum.add(first_of_next, first_of_next, 0.5);
      sum.compress(VectorOperation::add);
      sum.add(-1., matrix);
      double added = 0.;
      for (const auto row : handler.locally_owned_dofs())
        added += sum.diag_element(row);
      AssertThrow(
        std::abs(Utilities::MPI::sum(added, comm) -
                 0.5 * Utilities::MPI::n_mpi_processes(comm)) < 1e-10 &&
          std::abs(sum.frobenius_norm()) <=
            0.5 * Utilities::MPI::n_mpi_processes(comm) + 1e-10,
        ExcMessage(
          "Values added to single entries are not where they belong."));
    }

  // ---- deal.II's own way to create the matrix holds the same entries
  {
    DynamicSparsityPattern pattern(handler.locally_relevant_dofs());
    pattern.reinit(handler.n_dofs(),
                   handler.n_dofs(),
                   handler.locally_owned_dofs());
    handler.make_sparsity_pattern(pattern);
    std::uint64_t n = 0;
    for (const auto row : handler.locally_owned_dofs())
      n += pattern.row_length(row);
    AssertThrow(Utilities::MPI::sum(n, comm) == matrix.n_nonzero_elements(),
                ExcInternalError());
  }
  return result;
}

inline unsigned int n_different = 0;

// Calls make(communicator of n processes) for n = 1, 2, ..., all, and compares
// the results.
template <typename Function>
void
compare(const std::string &what, const Function &make)
{
  const std::vector<Result> results = for_numbers_of_processes<Result>(make);
  if (results.empty())
    return;
  deallog << what << ": " << results[0].n_polytopes << " polytopes, "
          << results[0].n_dofs << " degrees of freedom" << std::endl;
  bool sizes = true, matrices = true, vectors = true, products = true;
  for (const Result &result : results)
    {
      sizes &= result.n_polytopes == results[0].n_polytopes &&
               result.n_dofs == results[0].n_dofs;
      matrices &= result.matrix == results[0].matrix;
      vectors &= result.rhs == results[0].rhs;
      products &= std::abs(result.product - results[0].product) <=
                  1e-11 * std::abs(results[0].product);
    }
  n_different += !check("  sizes", sizes);
  n_different += !check("  matrix", matrices);
  n_different += !check("  right-hand side", vectors);
  n_different += !check("  product", products);
}

template <int dim>
class RotatedTensor : public TensorFunction<2, dim>
{
public:
  Tensor<2, dim>
  value(const Point<dim> &p) const override
  {
    Tensor<2, dim> a;
    for (unsigned int d = 0; d < dim; ++d)
      a[d][d] = 1. + d + p[0];
    a[0][1] = a[1][0] = 0.3 * p[1];
    return a;
  }
};

/// @p parser(text) returns a scalar function of x, y.
template <int dim, typename Parser>
void
test(const Backend backend, const Parser &parser)
{
  const std::string suffix = " in " + std::to_string(dim) + "-D";
  using Problem            = AdvectionDiffusionReaction<dim>;

  Problem variable, constant;
  variable.set_diffusion(parser("1 + x*x + 0.5*sin(3*y)"));
  variable.set_source(parser("x - y"));
  BoundaryCondition<dim> boundary;
  boundary.value = parser("x*y");
  variable.set_default_boundary_condition(boundary);
  constant.set_diffusion(1.5);
  constant.set_source(parser("x - y"));

  // ---- p4est, refined locally, parents; some processes have no cells
  for (const bool hp : {false, true})
    compare(std::string("p4est, ") + (hp ? "hp" : "parents") + suffix,
            [&](const MPI_Comm comm) {
              parallel::distributed::Triangulation<dim> triangulation(comm);
              make_l_shape(triangulation, 2);
              return assemble<dim>(triangulation,
                                   hp ? Agglomeration::none<dim>()
                                      : Agglomeration::parents<dim>(1),
                                   hp ? static_cast<const Form<dim> &>(constant)
                                      : variable,
                                   hp,
                                   backend);
            });

  // ---- arbitrary polytopes of simplices, partitioned by METIS; a variable
  // tensor
  Problem tensor;
  tensor.set_diffusion(std::shared_ptr<const TensorFunction<2, dim>>(
    std::make_shared<RotatedTensor<dim>>()));
  tensor.set_source(1.);
  compare("simplices, METIS" + suffix, [&](const MPI_Comm comm) {
    parallel::fullydistributed::Triangulation<dim> triangulation(comm);
    const auto strategy = distribute_simplices(triangulation);
    return assemble<dim>(triangulation, strategy, tensor, false, backend);
  });

  // ---- hanging nodes; periodic boundaries where deal.II supports them
  for (const bool shared : {false, true})
    compare(
      std::string(shared ? "shared, periodic" : "fully distributed") +
        ", hanging nodes" + suffix,
      [&](const MPI_Comm comm) {
        if (shared)
          {
            auto triangulation = shared_mesh<dim>(comm);
            make_periodic(triangulation, 2, 3);
            return assemble<dim>(triangulation,
                                 Agglomeration::none<dim>(),
                                 variable,
                                 false,
                                 backend);
          }
        Triangulation<dim> serial;
        make_periodic(serial, 0, 3);
        parallel::fullydistributed::Triangulation<dim> triangulation(comm);
        const auto                                     strategy =
          Agglomeration::distribute<dim>(serial,
                                         Agglomeration::rtree<dim>(0),
                                         triangulation);
        return assemble<dim>(triangulation, strategy, variable, false, backend);
      });

  compare("p4est, periodic" + suffix, [&](const MPI_Comm comm) {
    parallel::distributed::Triangulation<dim> triangulation(comm);
    make_periodic(triangulation, 1, 2);
    return assemble<dim>(triangulation,
                         Agglomeration::complete_families<dim>(),
                         tensor,
                         false,
                         backend);
  });

  // ---- two polytopes: with three processes or more, some own none
  compare("few polytopes" + suffix, [&](const MPI_Comm comm) {
    parallel::fullydistributed::Triangulation<dim> triangulation(comm);
    const auto strategy = distribute_two_polytopes(triangulation);
    return assemble<dim>(triangulation, strategy, variable, true, backend);
  });
  compare("one cell" + suffix, [&](const MPI_Comm comm) {
    parallel::distributed::Triangulation<dim> triangulation(comm);
    GridGenerator::hyper_cube(triangulation);
    return assemble<dim>(
      triangulation, Agglomeration::none<dim>(), constant, false, backend);
  });
}

#endif
