// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>
#include <deal.II/base/mpi.h>
#include <deal.II/base/multithread_info.h>
#include <deal.II/base/timer.h>

#include <tessella/assembly/rectangular_assembler.h>
#include <tessella/quadrature/quadrature_order.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include "../backends/block_row_assembler.h"
#include "../backends/host_dispatch.h"
#include "../backends/system_pairs.h"
#include "../lac/matrix_traits.h"
#include "rectangular_device.h"
#include "rectangular_rows.h"

namespace Tessella
{
  using namespace dealii;
  using internal::SystemPair;

  namespace
  {
    /// The larger one of two scalar spaces on each polytope.
    PolytopicDoFs
    larger_space(const PolytopicDoFs &a, const PolytopicDoFs &b)
    {
      PolytopicDoFs     result;
      const std::size_t n = a.degree.size();
      result.dof_offset.push_back(0);
      for (std::size_t k = 0; k < n; ++k)
        {
          result.degree.push_back(std::max(a.degree[k], b.degree[k]));
          result.n_basis.push_back(std::max(a.n_basis[k], b.n_basis[k]));
          result.dof_offset.push_back(result.dof_offset.back() +
                                      result.n_basis.back());
        }
      result.revision = new_revision();
      const auto &x = a.whole, &y = b.whole;
      result.whole.is_set       = x.is_set && y.is_set;
      result.whole.max_degree   = std::max(x.max_degree, y.max_degree);
      result.whole.max_basis    = std::max(x.max_basis, y.max_basis);
      result.whole.total_degree = x.total_degree && y.total_degree;
      return result;
    }



    template <typename MatrixType>
    struct IsOnDevice : std::false_type
    {};
    template <typename Number>
    struct IsOnDevice<DeviceRectangularMatrix<Number>> : std::true_type
    {};



    /// Entries of one pair of components in the block row of a polytope.
    struct PairRows
    {
      const BlockSparsity       &blocks; ///< of the larger space
      const PolytopicDoFs       &test, &trial;
      const std::vector<double> &values;

      template <typename MatrixType>
      void
      store(const unsigned int                     k,
            const unsigned int                     i,
            const unsigned int                     j,
            internal::RectangularRows<MatrixType> &rows) const
      {
        std::vector<std::uint64_t> columns;
        std::vector<std::size_t>   positions;
        for (std::uint64_t b = blocks.block_offset[k];
             b < blocks.block_offset[k + 1];
             ++b)
          {
            const unsigned int l = blocks.block_column[b], n = trial.n_basis[l];
            for (unsigned int c = 0; c < n; ++c)
              {
                columns.push_back(trial.dof_offset[l] + j * n + c);
                positions.push_back(blocks.column_offset[b] + c);
              }
          }
        rows.write(test.dof_offset[k] + i * test.n_basis[k],
                   test.n_basis[k],
                   columns,
                   positions,
                   values.data(),
                   blocks.row_width[k]);
      }
    };
  } // namespace



  template <int dim>
  struct RectangularAssembler<dim>::Implementation
  {
    Implementation(const PolytopicSpace<dim> &test,
                   const PolytopicSpace<dim> &trial,
                   const AssemblyParameters  &parameters)
      : test(&test)
      , trial(&trial)
      , parameters(parameters)
      , structure(test.get_communicator())
    {}

    /// Throws unless the spaces have the same polytopes.
    void
    check_spaces() const;

    /// Computes the structure if the spaces have changed. Collective.
    void
    update();

    /// Quadrature for the larger space, on the mesh that has tabulated it.
    struct Quadrature
    {
      const PolytopicSpace<dim> *rich;
      PolytopicDoFs              larger;
      /// Largest difference of the larger degrees from those of the rich space.
      unsigned int missing;
      unsigned int extra_order;
    };

    /// Collective.
    Quadrature
    prepare_quadrature(const unsigned int coefficient_order) const;

    /// Throws if the parameters ask for a device, for a matrix of the host.
    void
    check_host() const
    {
      AssertThrow(parameters.backend != Backend::cuda,
                  ExcMessage("Rectangular matrices in the memory of the host "
                             "are assembled by the host: take Backend::host or "
                             "Backend::automatic, or a "
                             "DeviceRectangularMatrix."));
    }

    /// Pairs of a system that fits to the spaces, after checks of the
    /// right-hand side. Collective.
    template <typename VectorType>
    std::vector<SystemPair<dim>>
    make_pairs(const SystemForm<dim> &system, const VectorType &rhs) const;

    /// The assembly on a device for the present spaces. Collective.
    internal::RectangularDevice<dim> &
    get_device();

    /// Assembles a matrix on a device. Collective.
    template <typename Number>
    void
    assemble_on_device(const std::vector<SystemPair<dim>> &pairs,
                       DeviceRectangularMatrix<Number>    &matrix,
                       DeviceVector<Number>               &rhs);

    /// Assembles a matrix of the host. Collective.
    template <typename MatrixType, typename VectorType>
    void
    assemble_on_host(const std::vector<SystemPair<dim>> &pairs,
                     MatrixType                         &matrix,
                     VectorType                         &rhs);

    /// Computes the rows that this process owns.
    template <typename MatrixType, typename Number>
    void
    compute_rows(const std::vector<SystemPair<dim>>    &pairs,
                 const Quadrature                      &quadrature,
                 internal::RectangularRows<MatrixType> &matrix,
                 Number                                *rhs) const;

    const SmartPointer<const PolytopicSpace<dim>> test, trial;
    const AssemblyParameters                      parameters;
    internal::RectangularStructure                structure;
    AssemblyReport                                report = AssemblyReport();
    // For matrices on a device, made when it is needed.
    std::unique_ptr<internal::RectangularDevice<dim>> device;
    SpaceRevision                                     device_test, device_trial;
  };



  template <int dim>
  void
  RectangularAssembler<dim>::Implementation::check_spaces() const
  {
    AssertThrow(test->n_dofs() > 0 && trial->n_dofs() > 0,
                ExcMessage(
                  "RectangularAssembler needs degrees of freedom: call "
                  "distribute_dofs() of both handlers first."));
    const PolytopicMesh<dim> &a = test->polytopic_mesh(),
                             &b = trial->polytopic_mesh();
    AssertThrow(a.box == b.box &&
                  a.interface_polytope == b.interface_polytope &&
                  a.facet_offset == b.facet_offset,
                ExcMessage("The test space and the trial space of a "
                           "RectangularAssembler have different polytopes: "
                           "agglomerate both handlers in the same way."));
    AssertThrow(test->polynomial_space() == trial->polynomial_space(),
                ExcMessage(
                  "The test space and the trial space of a "
                  "RectangularAssembler must both have total degree or "
                  "both be tensor-product spaces."));
  }



  template <int dim>
  void
  RectangularAssembler<dim>::Implementation::update()
  {
    structure.test.on_all_processes([&]() {
      check_spaces();
      structure.test.update(*test);
      structure.trial.update(*trial);
      structure.owned_rows    = test->locally_owned_dofs();
      structure.owned_columns = trial->locally_owned_dofs();
    });
  }



  template <int dim>
  typename RectangularAssembler<dim>::Implementation::Quadrature
  RectangularAssembler<dim>::Implementation::prepare_quadrature(
    const unsigned int order) const
  {
    Quadrature result;
    result.rich = test->max_degree() > trial->max_degree() ? &*test : &*trial;
    result.larger =
      larger_space(test->polytopic_dofs(), trial->polytopic_dofs());
    const unsigned int degree  = result.rich->max_degree();
    unsigned int      &missing = result.missing;
    missing                    = 0;
    for (std::size_t k = 0; k < result.larger.degree.size(); ++k)
      missing = std::max(missing,
                         result.larger.degree[k] -
                           result.rich->polytopic_dofs().degree[k]);
    // Rules and kernels must not depend on the polytopes of this process. A
    // distributed mesh on one process is no exception: its choice is that of
    // several processes.
    if (result.larger.whole.is_set)
      {
        PolytopicDoFs &larger       = result.larger;
        const MPI_Comm communicator = structure.test.communicator;
        const auto     begin        = larger.n_basis.begin();
        const auto     end          = begin + structure.test.n_owned_polytopes;
        missing = Utilities::MPI::max(missing, communicator);
        larger.whole.min_basis =
          Utilities::MPI::min(begin == end ? larger.whole.max_basis
                                           : *std::min_element(begin, end),
                              communicator);
      }
    result.extra_order =
      internal::integrand_degree(dim,
                                 degree,
                                 order,
                                 result.rich->polynomial_space() ==
                                   PolynomialSpaceType::tensor_product) -
      2 * degree + 2 * missing;
    return result;
  }



  template <int dim>
  template <typename MatrixType, typename Number>
  void
  RectangularAssembler<dim>::Implementation::compute_rows(
    const std::vector<SystemPair<dim>>    &pairs,
    const Quadrature                      &quadrature,
    internal::RectangularRows<MatrixType> &matrix,
    Number                                *rhs) const
  {
    const PolytopicSpace<dim> &rich      = *quadrature.rich;
    const PolytopicDoFs       &larger    = quadrature.larger,
                        &rows            = test->polytopic_dofs(),
                        &columns         = trial->polytopic_dofs();
    const PolynomialSpaceType      space = rich.polynomial_space();
    const PolytopicMesh<dim>      &mesh  = rich.polytopic_mesh();
    const internal::HostRules<dim> rules(
      mesh, larger, pairs.front().form->coefficient_order());
    const BlockSparsity        blocks = BlockSparsity::from_mesh(mesh, larger);
    std::vector<unsigned char> exponents(
      dim * Legendre::n_functions(dim, rich.max_degree(), space));
    Legendre::exponents(dim, rich.max_degree(), space, exponents.data());
    const std::vector<double> no_sigma(mesh.n_facets(), 0.);

    for (const SystemPair<dim> &pair : pairs)
      {
        const internal::HostProblem<dim> problem = {
          mesh,
          larger,
          *pair.form,
          rules,
          internal::select_kernels<dim>(parameters.instruction_set)};
        internal::for_polytopes(
          blocks.row_width.size(),
          [&](const unsigned int begin, const unsigned int end) {
            internal::BlockRowAssembler<dim> assembler(
              problem,
              blocks,
              no_sigma,
              exponents,
              space != PolynomialSpaceType::total_degree,
              true,
              pair.rhs,
              nullptr,
              nullptr);
            std::vector<double> values, f;
            const PairRows      result = {blocks, rows, columns, values};
            for (unsigned int k = begin; k < end; ++k)
              {
                values.resize(blocks.value_offset[k + 1] -
                              blocks.value_offset[k]);
                f.resize(larger.n_basis[k]);
                assembler.assemble(k, values.data(), f.data());
                result.store(k, pair.test, pair.trial, matrix);
                if (pair.rhs)
                  std::copy_n(f.begin(),
                              rows.n_basis[k],
                              rhs + rows.dof_offset[k] +
                                pair.test * rows.n_basis[k]);
              }
          });
      }
  }



  template <int dim>
  template <typename VectorType>
  std::vector<SystemPair<dim>>
  RectangularAssembler<dim>::Implementation::make_pairs(
    const SystemForm<dim> &system, const VectorType &rhs) const
  {
    std::vector<SystemPair<dim>> pairs;
    structure.test.on_all_processes([&]() {
      pairs = internal::prepare_pairs(system,
                                      test->n_components(),
                                      trial->n_components());
      for (const SystemPair<dim> &pair : pairs)
        AssertThrow(!pair.form->facet_structure().penalty,
                    ExcMessage(
                      "A form of a rectangular matrix has no penalty."));
      AssertThrow(rhs.size() == test->n_dofs(),
                  ExcMessage(
                    "The matrix or the vector does not have the size of "
                    "these spaces: call reinit() of the assembler."));
      internal::VectorTraits<VectorType>::check(rhs, structure.test);
    });
    return pairs;
  }



  template <int dim>
  internal::RectangularDevice<dim> &
  RectangularAssembler<dim>::Implementation::get_device()
  {
    const auto revision = [](const PolytopicSpace<dim> &space) {
      return SpaceRevision{space.polytopic_mesh().revision,
                           space.polytopic_dofs().revision};
    };
    if (device == nullptr || device_test != revision(*test) ||
        device_trial != revision(*trial))
      {
        const Quadrature quadrature = prepare_quadrature(0);
        device.reset();
        device = std::make_unique<internal::RectangularDevice<dim>>(
          *quadrature.rich,
          quadrature.larger,
          quadrature.missing,
          structure,
          test->polytopic_dofs(),
          trial->polytopic_dofs(),
          parameters);
        device_test  = revision(*test);
        device_trial = revision(*trial);
      }
    return *device;
  }



  template <int dim>
  template <typename Number>
  void
  RectangularAssembler<dim>::Implementation::assemble_on_device(
    const std::vector<SystemPair<dim>> &pairs,
    DeviceRectangularMatrix<Number>    &matrix,
    DeviceVector<Number>               &rhs)
  {
    const Timer                       timer;
    internal::RectangularDevice<dim> &on_device = get_device();
    // Only pairs with a penalty add times of their geometry.
    report.geometry_time = 0.;
    structure.test.on_all_processes([&]() {
      AssertThrow(
        matrix.m() == structure.test.n_dofs &&
          matrix.n() == structure.trial.n_dofs && !matrix.empty() &&
          matrix.column_offset() == structure.trial.dof_offset &&
          matrix.row_offset() ==
            std::vector<std::uint64_t>(structure.test.dof_offset.begin(),
                                       structure.test.dof_offset.begin() +
                                         structure.test.n_owned_polytopes +
                                         1) &&
          matrix.block_sparsity().block_column ==
            structure.trial.blocks.block_column,
        ExcMessage("The matrix does not have the structure of these spaces: "
                   "call reinit() of the assembler."));
      matrix = 0.;
      rhs    = Number(0);
    });
    on_device.assemble(pairs, matrix.values(), rhs.begin(), report);
    report.assembly_time = timer.wall_time() - report.geometry_time;
  }



  template <int dim>
  template <typename MatrixType, typename VectorType>
  void
  RectangularAssembler<dim>::Implementation::assemble_on_host(
    const std::vector<SystemPair<dim>> &pairs,
    MatrixType                         &matrix,
    VectorType                         &rhs)
  {
    using Traits = internal::VectorTraits<VectorType>;
    Timer timer;
    check_host();
    const auto quadrature =
      prepare_quadrature(pairs.front().form->coefficient_order());
    structure.test.on_all_processes(
      [&]() { quadrature.rich->tabulate(quadrature.extra_order); });
    report.geometry_time = timer.wall_time();

    timer.restart();
    structure.test.on_all_processes([&]() {
      internal::RectangularRows<MatrixType> rows(matrix, structure);
      rows.set_to_zero();
      std::fill_n(Traits::values(rhs), structure.test.n_owned_rows, 0.);
      compute_rows(pairs, quadrature, rows, Traits::values(rhs));
    });
    bool constant = true;
    for (const SystemPair<dim> &pair : pairs)
      constant = constant && pair.form->volume_structure().constant;
    report.backend       = Backend::host;
    report.coefficients  = constant ? "constant"
                                    : "evaluated by the host's threads, which "
                                      "assemble rectangular matrices";
    report.assembly_time = timer.wall_time();
  }



  template <int dim>
  RectangularAssembler<dim>::RectangularAssembler(
    const PolytopicSpace<dim> &test,
    const PolytopicSpace<dim> &trial,
    const AssemblyParameters  &parameters)
    : implementation(std::make_unique<Implementation>(test, trial, parameters))
  {
    implementation->structure.test.on_all_processes(
      [&]() { implementation->check_spaces(); });
  }



  template <int dim>
  RectangularAssembler<dim>::~RectangularAssembler() = default;



  template <int dim>
  template <typename Number>
  void
  RectangularAssembler<dim>::reinit(SparsityPattern      &sparsity,
                                    SparseMatrix<Number> &matrix,
                                    Vector<Number>       &rhs)
  {
    const Timer timer;
    implementation->check_host();
    implementation->update();
    const internal::RectangularStructure &structure = implementation->structure;
    structure.test.check_one_process("dealii::SparseMatrix");
    matrix.clear();
    std::vector<unsigned int> widths;
    structure.for_rows([&](const types::global_dof_index, const auto &columns) {
      widths.push_back(columns.size());
    });
    sparsity.reinit(structure.test.n_dofs, structure.trial.n_dofs, widths);
    structure.for_rows(
      [&](const types::global_dof_index row, const auto &columns) {
        sparsity.add_entries(row, columns.begin(), columns.end(), true);
      });
    sparsity.compress();
    matrix.reinit(sparsity);
    rhs.reinit(structure.test.n_dofs);
    implementation->report.structure_time = timer.wall_time();
  }



  template <int dim>
  template <typename MatrixType, typename VectorType>
  void
  RectangularAssembler<dim>::reinit(MatrixType &matrix, VectorType &rhs)
  {
    const Timer timer;
    implementation->update();
    internal::RectangularStructure &structure = implementation->structure;
    if constexpr (IsOnDevice<MatrixType>::value)
      {
        // Chooses the device of this process before there is memory on it.
        implementation->get_device();
        internal::reinit_on_device(matrix, structure);
      }
    else
      {
        implementation->check_host();
        DynamicSparsityPattern sparsity(structure.test.n_dofs,
                                        structure.trial.n_dofs,
                                        structure.owned_rows);
        structure.for_rows(
          [&](const types::global_dof_index row, const auto &columns) {
            sparsity.add_entries(row, columns.begin(), columns.end(), true);
          });
        matrix.reinit(structure.owned_rows,
                      structure.owned_columns,
                      sparsity,
                      structure.test.communicator);
      }
    internal::VectorTraits<VectorType>::reinit(rhs,
                                               structure.owned_rows,
                                               structure.test);
    implementation->report.structure_time = timer.wall_time();
  }



  template <int dim>
  template <typename MatrixType, typename VectorType>
  void
  RectangularAssembler<dim>::assemble(const SystemForm<dim> &system,
                                      MatrixType            &matrix,
                                      VectorType            &rhs)
  {
    Implementation &data = *implementation;
    data.update();
    const std::vector<SystemPair<dim>> pairs = data.make_pairs(system, rhs);
    if constexpr (IsOnDevice<MatrixType>::value)
      data.assemble_on_device(pairs, matrix, rhs);
    else
      data.assemble_on_host(pairs, matrix, rhs);
    const InstructionSet wanted = data.parameters.instruction_set;
    data.report.instruction_set =
      wanted == InstructionSet::automatic ? best_instruction_set() : wanted;
    data.report.n_threads = MultithreadInfo::n_threads();
  }



  template <int dim>
  const AssemblyReport &
  RectangularAssembler<dim>::report() const
  {
    return implementation->report;
  }



#define INSTANTIATE_ASSEMBLE(dim, Matrix, Vector)                            \
  template void RectangularAssembler<dim>::assemble(const SystemForm<dim> &, \
                                                    Matrix &,                \
                                                    Vector &);
#define INSTANTIATE(dim, Number)                                          \
  template void RectangularAssembler<dim>::reinit(SparsityPattern &,      \
                                                  SparseMatrix<Number> &, \
                                                  Vector<Number> &);      \
  INSTANTIATE_ASSEMBLE(dim, SparseMatrix<Number>, Vector<Number>)
#define INSTANTIATE_EPETRA(dim, Vector)            \
  template void RectangularAssembler<dim>::reinit( \
    TrilinosWrappers::SparseMatrix &, Vector &);   \
  INSTANTIATE_ASSEMBLE(dim, TrilinosWrappers::SparseMatrix, Vector)

#define INSTANTIATE_DEVICE(dim, Number)                         \
  template void RectangularAssembler<dim>::reinit(              \
    DeviceRectangularMatrix<Number> &, DeviceVector<Number> &); \
  INSTANTIATE_ASSEMBLE(dim,                                     \
                       DeviceRectangularMatrix<Number>,         \
                       DeviceVector<Number>)

#define INSTANTIATE_PETSC(dim)                                         \
  template void RectangularAssembler<dim>::reinit(                     \
    PETScWrappers::MPI::SparseMatrix &, PETScWrappers::MPI::Vector &); \
  INSTANTIATE_ASSEMBLE(dim,                                            \
                       PETScWrappers::MPI::SparseMatrix,               \
                       PETScWrappers::MPI::Vector)

  template class RectangularAssembler<2>;
  template class RectangularAssembler<3>;
  INSTANTIATE(2, double)
  INSTANTIATE(2, float)
  INSTANTIATE(3, double)
  INSTANTIATE(3, float)
  INSTANTIATE_DEVICE(2, double)
  INSTANTIATE_DEVICE(2, float)
  INSTANTIATE_DEVICE(3, double)
  INSTANTIATE_DEVICE(3, float)
#ifdef TESSELLA_HAVE_EPETRA
  INSTANTIATE_EPETRA(2, TrilinosWrappers::MPI::Vector)
  INSTANTIATE_EPETRA(2, LinearAlgebra::distributed::Vector<double>)
  INSTANTIATE_EPETRA(3, TrilinosWrappers::MPI::Vector)
  INSTANTIATE_EPETRA(3, LinearAlgebra::distributed::Vector<double>)
#endif
#ifdef TESSELLA_HAVE_PETSC
  INSTANTIATE_PETSC(2)
  INSTANTIATE_PETSC(3)
#endif
#undef INSTANTIATE_ASSEMBLE
#undef INSTANTIATE
#undef INSTANTIATE_DEVICE
#undef INSTANTIATE_EPETRA
#undef INSTANTIATE_PETSC
} // namespace Tessella
