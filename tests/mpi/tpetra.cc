// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Assembly into matrices and vectors of TpetraWrappers: the same bits as in a
// block matrix, the same solution, and errors.

#include <deal.II/base/index_set.h>

#include <deal.II/lac/dynamic_sparsity_pattern.h>
#include <deal.II/lac/precondition.h>
#include <deal.II/lac/solver_cg.h>
#include <deal.II/lac/trilinos_tpetra_sparse_matrix.h>
#include <deal.II/lac/trilinos_tpetra_sparsity_pattern.h>
#include <deal.II/lac/trilinos_tpetra_vector.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/lac/host_block_matrix.h>
#include <tessella/numerics/vector_tools.h>

#include <Tpetra_CrsMatrix.hpp>
#include <map>

#include "../messages.h"
#include "../tests.h"
#include "cases.h"

namespace
{
  using TpetraMatrix = LinearAlgebra::TpetraWrappers::SparseMatrix<double>;
  using TpetraVector = LinearAlgebra::TpetraWrappers::Vector<double>;
  using HostVector   = LinearAlgebra::distributed::Vector<double>;

  bool
  on_all(const bool condition)
  {
    return Utilities::MPI::min(condition ? 1 : 0, MPI_COMM_WORLD) == 1;
  }

  // Entries of the rows that a process owns, in the order of both matrices.
  template <int dim>
  bool
  same_entries(const AgglomerationHandler<dim> &handler,
               const HostBlockMatrix<double>   &expected,
               TpetraMatrix                    &matrix)
  {
    const BlockSparsity              &blocks = expected.block_sparsity();
    const std::vector<std::uint64_t> &offset = expected.dof_offset();
    const auto columns = matrix.trilinos_matrix().getColMap();
    const auto local   = matrix.trilinos_matrix().getLocalMatrixHost();
    bool       same    = static_cast<std::uint64_t>(local.numRows()) ==
                  handler.locally_owned_dofs().n_elements() &&
                local.values.extent(0) == blocks.n_nonzero_elements();
    std::map<types::global_dof_index, double> row;
    for (unsigned int k = 0; same && k < handler.n_polytopes(); ++k)
      for (std::uint64_t i = 0; i < offset[k + 1] - offset[k]; ++i)
        {
          row.clear();
          for (auto b = blocks.block_offset[k]; b < blocks.block_offset[k + 1];
               ++b)
            {
              const unsigned int c = blocks.block_column[b];
              for (std::uint64_t j = 0; j < offset[c + 1] - offset[c]; ++j)
                row[handler.first_dof(c) + j] =
                  expected
                    .values()[blocks.value_offset[k] + i * blocks.row_width[k] +
                              blocks.column_offset[b] + j];
            }
          std::map<types::global_dof_index, double> present;
          for (auto e = local.graph.row_map(offset[k] + i);
               e < local.graph.row_map(offset[k] + i + 1);
               ++e)
            present[columns->getGlobalElement(local.graph.entries(e))] =
              local.values(e);
          same = same && present == row;
        }
    return on_all(same);
  }

  bool
  same_entries(const HostVector &expected, const TpetraVector &vector)
  {
    bool same = expected.size() == vector.size();
    for (const auto i : expected.locally_owned_elements())
      same = same && expected(i) == vector(i);
    return on_all(same);
  }

  void
  compare_solutions(const std::string             &name,
                    const HostBlockMatrix<double> &host_matrix,
                    const HostVector              &host_rhs,
                    const TpetraMatrix            &matrix,
                    const TpetraVector            &rhs)
  {
    HostVector expected(host_rhs);
    expected = 0.;
    SolverControl control(2000, 1e-13 * host_rhs.l2_norm(), false, false);
    SolverCG<HostVector>(control).solve(host_matrix,
                                        expected,
                                        host_rhs,
                                        PreconditionIdentity());
    TpetraVector solution(rhs);
    solution = 0.;
    SolverCG<TpetraVector>(control).solve(matrix,
                                          solution,
                                          rhs,
                                          PreconditionIdentity());
    double difference = 0.;
    for (const auto i : expected.locally_owned_elements())
      difference = std::max(difference, std::abs(expected(i) - solution(i)));
    check_below(name,
                Utilities::MPI::max(difference, MPI_COMM_WORLD),
                1e-10 * expected.linfty_norm());
  }

  // Moves all entries to the next column, the last one's to the first.
  void
  shift_columns(TpetraMatrix &matrix, const IndexSet &owned)
  {
    DynamicSparsityPattern pattern(owned.size(), owned.size(), owned);
    {
      const auto columns = matrix.trilinos_matrix().getColMap();
      const auto local   = matrix.trilinos_matrix().getLocalMatrixHost();
      for (types::global_dof_index i = 0; i < owned.n_elements(); ++i)
        for (auto e = local.graph.row_map(i); e < local.graph.row_map(i + 1);
             ++e)
          pattern.add(owned.nth_index_in_set(i),
                      (columns->getGlobalElement(local.graph.entries(e)) + 1) %
                        owned.size());
    }
    matrix.reinit(owned, owned, pattern, MPI_COMM_WORLD);
    matrix.compress(VectorOperation::insert);
  }

  template <int dim>
  void
  check_errors(const std::string                     &suffix,
               const AgglomerationHandler<dim>       &handler,
               PolytopicAssembler<dim>               &assembler,
               const AdvectionDiffusionReaction<dim> &form)
  {
    TpetraMatrix matrix;
    TpetraVector rhs;
    assembler.reinit(rhs);
    const auto fails = [&](const std::string &name,
                           const std::string &message) {
      check_throws<ExceptionBase>(
        name + suffix,
        [&]() { assembler.assemble(form, matrix, rhs); },
        message);
    };
    const IndexSet owned = handler.locally_owned_dofs();
    LinearAlgebra::TpetraWrappers::SparsityPattern<MemorySpace::Host>
      no_entries(owned, owned, MPI_COMM_WORLD, 0);
    no_entries.compress();
    matrix.reinit(no_entries);
    fails("matrix without entries",
          "The matrix does not have the structure of this mesh and element");
    // As many entries in each row, but in the next columns, if there are
    // others. deal.II takes such patterns only if all processes have rows.
    assembler.reinit(matrix);
    if (on_all(owned.n_elements() > 0) &&
        matrix.n_nonzero_elements() < std::size_t(owned.size()) * owned.size())
      {
        shift_columns(matrix, owned);
        fails("matrix with other columns",
              "The matrix does not have the structure of this mesh");
        assembler.reinit(matrix);
      }
    rhs.reinit(owned, complete_index_set(owned.size()), MPI_COMM_WORLD);
    if (Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD) > 1)
      fails("vector with ghosts", "The vector has ghost entries");
    IndexSet more(owned.size() + 1);
    more.add_indices(owned);
    if (Utilities::MPI::this_mpi_process(MPI_COMM_WORLD) ==
        Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD) - 1)
      more.add_index(owned.size());
    rhs.reinit(more, MPI_COMM_WORLD);
    fails("vector of another size",
          "The vector has " + std::to_string(owned.size() + 1) + " entries");
  }

  template <int dim>
  void
  test(const std::string                  &name,
       const Triangulation<dim>           &triangulation,
       const Agglomeration::Strategy<dim> &strategy,
       const bool                          hp)
  {
    const std::string         suffix = ", " + name;
    AgglomerationHandler<dim> handler(triangulation);
    handler.agglomerate(strategy);
    distribute_degrees(handler, hp);

    AdvectionDiffusionReaction<dim> form;
    form.set_diffusion(1.);
    form.set_reaction(0.5);
    form.set_source(1.);
    typename PolytopicAssembler<dim>::AdditionalData data;
    data.backend = Backend::host;
    PolytopicAssembler<dim> assembler(handler, data);

    HostBlockMatrix<double> host_matrix;
    HostVector              host_rhs;
    TpetraMatrix            matrix;
    TpetraVector            rhs;
    assembler.reinit(host_matrix, host_rhs);
    assembler.assemble(form, host_matrix, host_rhs);
    assembler.reinit(matrix, rhs);
    assembler.assemble(form, matrix, rhs);
    check("matrix" + suffix, same_entries(handler, host_matrix, matrix));
    check("right-hand side" + suffix, same_entries(host_rhs, rhs));
    compare_solutions("solution" + suffix, host_matrix, host_rhs, matrix, rhs);

    // Another operator in the same matrix, and the solution with it.
    const auto before = matrix.trilinos_rcp();
    form.set_diffusion(2.);
    form.set_source(3.);
    assembler.assemble(form, host_matrix, host_rhs);
    assembler.assemble_matrix(form, matrix);
    assembler.assemble_rhs(form, rhs);
    check("structure kept" + suffix, on_all(before == matrix.trilinos_rcp()));
    check("second matrix" + suffix, same_entries(handler, host_matrix, matrix));
    check("second right-hand side" + suffix, same_entries(host_rhs, rhs));
    compare_solutions(
      "second solution" + suffix, host_matrix, host_rhs, matrix, rhs);

    // Functions that take any vector.
    check_close(
      "norm of any vector" + suffix,
      Tessella::VectorTools::compute_error(handler,
                                           rhs,
                                           Functions::ZeroFunction<dim>(),
                                           dealii::VectorTools::L2_norm),
      Tessella::VectorTools::compute_error(handler,
                                           host_rhs,
                                           Functions::ZeroFunction<dim>(),
                                           dealii::VectorTools::L2_norm),
      0.);
    check_errors(suffix, handler, assembler, form);
  }

  template <int dim>
  void
  test()
  {
    const std::string suffix = " in " + std::to_string(dim) + "-D";
    parallel::distributed::Triangulation<dim> triangulation(MPI_COMM_WORLD);
    make_l_shape(triangulation, 1);
    test<dim>("families" + suffix,
              triangulation,
              Agglomeration::complete_families<dim>(),
              false);
    test<dim>("hp" + suffix, triangulation, Agglomeration::none<dim>(), true);
    // One of three processes has no rows.
    parallel::fullydistributed::Triangulation<dim> small(MPI_COMM_WORLD);
    const auto strategy = distribute_two_polytopes(small);
    test<dim>("two polytopes" + suffix, small, strategy, false);
  }
} // namespace

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  test<2>();
  test<3>();
}
