// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Assembly into matrices and vectors of PETSc: the same bits as in a block
// matrix, the same solution, and errors; rectangular matrices. Block matrices
// are there in every build.

#include <deal.II/lac/dynamic_sparsity_pattern.h>
#include <deal.II/lac/petsc_precondition.h>
#include <deal.II/lac/petsc_solver.h>
#include <deal.II/lac/petsc_sparse_matrix.h>
#include <deal.II/lac/petsc_vector.h>
#include <deal.II/lac/solver_cg.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/assembly/rectangular_assembler.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/forms/divergence_form.h>
#include <tessella/lac/block_preconditioners.h>
#include <tessella/lac/host_block_matrix.h>

#include "../messages.h"
#include "../tests.h"
#include "cases.h"

namespace
{
  using PETScMatrix = PETScWrappers::MPI::SparseMatrix;
  using PETScVector = PETScWrappers::MPI::Vector;
  using HostVector  = LinearAlgebra::distributed::Vector<double>;

  bool
  on_all(const bool condition)
  {
    return Utilities::MPI::min(condition ? 1 : 0, MPI_COMM_WORLD) == 1;
  }

  // Whether both matrices have the same entries, to the last bit.
  template <int dim>
  bool
  same_entries(const AgglomerationHandler<dim> &handler,
               const HostBlockMatrix<double>   &expected,
               const PETScMatrix               &matrix)
  {
    const BlockSparsity              &blocks = expected.block_sparsity();
    const std::vector<std::uint64_t> &offset = expected.dof_offset();
    std::map<types::global_dof_index, double> row;
    bool                                      same = true;
    for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
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
          const auto   number = handler.first_dof(k) + i;
          auto         wanted = row.begin();
          unsigned int n      = 0;
          for (auto entry = matrix.begin(number); entry != matrix.end(number);
               ++entry, ++n)
            if (wanted != row.end())
              {
                same = same && entry->column() == wanted->first &&
                       entry->value() == wanted->second;
                ++wanted;
              }
          same = same && n == row.size();
        }
    return on_all(same);
  }

  bool
  same_entries(const HostVector &expected, const PETScVector &vector)
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
                    const PETScMatrix             &matrix,
                    const PETScVector             &rhs)
  {
    HostVector expected(host_rhs);
    expected = 0.;
    BlockJacobi<HostBlockMatrix<double>> jacobi;
    jacobi.initialize(host_matrix);
    SolverControl control(2000, 1e-13 * host_rhs.l2_norm(), false, false);
    SolverCG<HostVector>(control).solve(host_matrix,
                                        expected,
                                        host_rhs,
                                        jacobi);

    PETScVector solution(rhs);
    solution = 0.;
    PETScWrappers::PreconditionBlockJacobi preconditioner(matrix);
#if DEAL_II_VERSION_GTE(9, 5, 0)
    PETScWrappers::SolverCG solver(control);
#else
    PETScWrappers::SolverCG solver(control, MPI_COMM_WORLD);
#endif
    solver.solve(matrix, solution, rhs, preconditioner);
    double difference = 0.;
    for (const auto i : expected.locally_owned_elements())
      difference = std::max(difference, std::abs(expected(i) - solution(i)));
    check_below(name,
                Utilities::MPI::max(difference, MPI_COMM_WORLD),
                1e-10 * expected.linfty_norm());
  }

  // The block size of a matrix, with which PETSc makes a matrix of blocks of
  // it; all blocks have this size.
  void
  check_blocks(const std::string &name, PETScMatrix &matrix, const int size)
  {
    PetscInt present = 0;
    MatGetBlockSize(matrix.petsc_matrix(), &present);
    check(name, present == size);
    if (size == 1)
      return;
    // MatConvert() takes the matrix apart, so it gets a copy.
    const auto succeed = [](const PetscErrorCode error) {
      AssertThrow(error == 0, LACExceptions::ExcPETScError(error));
    };
    Mat       copy, blocks;
    PetscReal norm = 0.;
    succeed(MatDuplicate(matrix.petsc_matrix(), MAT_COPY_VALUES, &copy));
    succeed(MatConvert(copy, MATBAIJ, MAT_INITIAL_MATRIX, &blocks));
    succeed(MatNorm(blocks, NORM_FROBENIUS, &norm));
    succeed(MatDestroy(&blocks));
    succeed(MatDestroy(&copy));
    check_close(name + ", norm", norm, matrix.frobenius_norm(), 1e-12 * norm);
  }

  template <int dim>
  void
  check_errors(const std::string                     &suffix,
               const AgglomerationHandler<dim>       &handler,
               PolytopicAssembler<dim>               &assembler,
               const AdvectionDiffusionReaction<dim> &form)
  {
    PETScMatrix matrix;
    PETScVector rhs;
    assembler.reinit(rhs);
    const auto fails = [&](const std::string &name,
                           const std::string &message) {
      check_throws<ExceptionBase>(
        name + suffix,
        [&]() { assembler.assemble(form, matrix, rhs); },
        message);
    };
    const IndexSet owned = handler.locally_owned_dofs();
    fails("matrix without structure",
          "The matrix has 0 entries, but there are " +
            std::to_string(handler.n_dofs()) + " degrees of freedom");
    matrix.reinit(owned,
                  owned,
                  DynamicSparsityPattern(owned.size(), owned.size(), owned),
                  MPI_COMM_WORLD);
    fails("matrix without entries",
          "The matrix does not have the structure of this mesh and element");
    assembler.reinit(matrix);
    rhs.reinit(owned, complete_index_set(owned.size()), MPI_COMM_WORLD);
    if (Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD) > 1)
      fails("vector with ghosts", "The vector has ghost entries");
    rhs.reinit(MPI_COMM_WORLD,
               owned.size() + 1,
               owned.n_elements() + (owned.is_element(0) ? 1 : 0));
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
    PETScMatrix             matrix;
    PETScVector             rhs;
    assembler.reinit(host_matrix, host_rhs);
    assembler.assemble(form, host_matrix, host_rhs);
    assembler.reinit(matrix, rhs);
    assembler.assemble(form, matrix, rhs);
    check("matrix" + suffix, same_entries(handler, host_matrix, matrix));
    check("right-hand side" + suffix, same_entries(host_rhs, rhs));
    check_blocks("block size" + suffix,
                 matrix,
                 hp ? 1 : handler.n_dofs() / handler.n_global_polytopes());
    compare_solutions("solution" + suffix, host_matrix, host_rhs, matrix, rhs);

    // Another operator in the same matrix, and the solution with it.
    const Mat        same_matrix = matrix.petsc_matrix();
    PetscObjectState before, after;
    MatGetNonzeroState(same_matrix, &before);
    form.set_diffusion(2.);
    form.set_source(3.);
    assembler.assemble(form, host_matrix, host_rhs);
    assembler.assemble_matrix(form, matrix);
    assembler.assemble_rhs(form, rhs);
    MatGetNonzeroState(same_matrix, &after);
    check("structure kept" + suffix,
          on_all(before == after && same_matrix == matrix.petsc_matrix()));
    check("second matrix" + suffix, same_entries(handler, host_matrix, matrix));
    check("second right-hand side" + suffix, same_entries(host_rhs, rhs));
    compare_solutions(
      "second solution" + suffix, host_matrix, host_rhs, matrix, rhs);

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
  // Pressures and velocities on the processes of a communicator.
  template <int dim>
  struct TwoSpaces
  {
    explicit TwoSpaces(const MPI_Comm communicator)
      : triangulation(communicator)
      , pressure(refine(triangulation))
      , velocity(triangulation)
    {
      for (auto *handler : {&pressure, &velocity})
        handler->agglomerate(Agglomeration::complete_families<dim>());
      pressure.distribute_dofs(FE_BoundingBoxLegendre<dim>(1));
      velocity.distribute_dofs(
        FESystem<dim>(FE_BoundingBoxLegendre<dim>(2), dim));
      form.set_dirichlet(std::make_shared<Functions::ConstantFunction<dim>>(
        std::vector<double>(dim, 1.5)));
    }

    static const Triangulation<dim> &
    refine(parallel::distributed::Triangulation<dim> &triangulation)
    {
      make_l_shape(triangulation, 1);
      return triangulation;
    }

    parallel::distributed::Triangulation<dim> triangulation;
    AgglomerationHandler<dim>                 pressure, velocity;
    DivergenceForm<dim>                       form;
  };

  template <int dim>
  void
  test_rectangular()
  {
    const std::string         suffix = " in " + std::to_string(dim) + "-D";
    TwoSpaces<dim>            here(MPI_COMM_SELF), all(MPI_COMM_WORLD);
    SparsityPattern           sparsity;
    SparseMatrix<double>      expected;
    Vector<double>            expected_rhs;
    RectangularAssembler<dim> one(here.pressure, here.velocity);
    one.reinit(sparsity, expected, expected_rhs);
    one.assemble(here.form, expected, expected_rhs);

    PETScMatrix               matrix;
    PETScVector               rhs;
    RectangularAssembler<dim> assembler(all.pressure, all.velocity);
    assembler.reinit(matrix, rhs);
    // The second assembly overwrites the first one.
    for (unsigned int i = 0; i < 2; ++i)
      assembler.assemble(all.form, matrix, rhs);
    bool same    = matrix.m() == expected.m() && matrix.n() == expected.n(),
         nonzero = false, same_rhs = true;
    for (const auto i : all.pressure.locally_owned_dofs())
      {
        unsigned int n = 0;
        for (auto entry = matrix.begin(i); entry != matrix.end(i); ++entry, ++n)
          {
            same    = same && entry->value() == expected.el(i, entry->column());
            nonzero = nonzero || entry->value() != 0.;
          }
        same     = same && n == sparsity.row_length(i);
        same_rhs = same_rhs && rhs(i) == expected_rhs(i);
      }
    check("rectangular matrix" + suffix, on_all(same && nonzero));
    check("rectangular right-hand side" + suffix, on_all(same_rhs));

    // ---- a product
    PETScVector x(all.velocity.locally_owned_dofs(), MPI_COMM_WORLD), y(rhs);
    for (const auto i : all.velocity.locally_owned_dofs())
      x(i) = std::sin(1. + 0.37 * i);
    x.compress(VectorOperation::insert);
    matrix.vmult(y, x);
    Vector<double> whole(expected.n()), product(expected.m());
    for (unsigned int i = 0; i < whole.size(); ++i)
      whole(i) = std::sin(1. + 0.37 * i);
    expected.vmult(product, whole);
    double worst = 0.;
    for (const auto i : all.pressure.locally_owned_dofs())
      worst = std::max(worst, std::abs(y(i) - product(i)));
    check("rectangular product" + suffix,
          on_all(worst <= 1e-14 * product.linfty_norm()));

    all.velocity.distribute_dofs(
      FESystem<dim>(FE_BoundingBoxLegendre<dim>(3), dim));
    check("other spaces" + suffix,
          on_all(contains(
            message_of([&] { assembler.assemble(all.form, matrix, rhs); }),
            "The matrix does not have the structure of these spaces")));
  }
} // namespace

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  test<2>();
  test<3>();
  test_rectangular<2>();
  test_rectangular<3>();
}
