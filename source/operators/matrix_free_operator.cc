// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>
#include <deal.II/base/mpi.h>
#include <deal.II/base/multithread_info.h>
#include <deal.II/base/timer.h>

#include <tessella/lac/device_block_matrix.h>
#include <tessella/operators/matrix_free_operator.h>

#include <algorithm>
#include <string>
#include <type_traits>

#include "../backends/form_preparation.h"
#include "../backends/host_assembly.h"
#include "../backends/host_system.h"
#include "../lac/halo_exchange.h"
#include "cuda_product.h"
#include "host_product.h"
#include "simplex_kernel.h"

namespace Tessella
{
  using namespace dealii;

  template <int dim, typename MatrixType>
  struct MatrixFreeOperator<dim, MatrixType>::Implementation
  {
    static constexpr bool on_device =
      std::is_same<MatrixType, DeviceBlockMatrix<double>>::value;
    using Halo = std::conditional_t<on_device,
                                    internal::DeviceHalo<double>,
                                    internal::HostHalo<double>>;

    Implementation(const PolytopicSpace<dim> &space, const AdditionalData &data)
      : context(space, data)
      , preparation(context)
    {}

    // Makes the kernels of the products. Collective, since all processes use
    // the same ones; a process without polytopes has none.
    void
    make_kernels(const Form<dim>                  &form,
                 const internal::HostProblem<dim> &problem,
                 const std::vector<double>        &sigma,
                 const InstructionSet              instruction_set);

    // A kernel for affine simplices, or null.
    std::unique_ptr<internal::ProductKernel>
    make_simplex_kernel(const Form<dim>           &form,
                        const std::vector<double> &sigma,
                        const InstructionSet       instruction_set);

    // Sets the diagonal blocks from the block rows that assemble(target)
    // computes.
    template <typename Assemble>
    void
    make_diagonal(const Assemble &assemble);

    // The end of both functions initialize(): products and the report.
    void
    finish(const AdditionalData &data, const Timer &timer);

    void
    multiply(const internal::Device::Destination<double> &dst,
             const double                                *src,
             const bool                                   transpose)
    {
      using Rows = internal::ProductKernel::Rows;
      const internal::ProductKernel *const used =
        transpose && transposed_kernel != nullptr ? transposed_kernel.get()
                                                  : kernel.get();
      const auto compute = [&](const double *ghosts, const Rows rows) {
        if (used != nullptr)
          used->vmult(dst, src, ghosts, transpose, rows);
      };
      if (halo == nullptr)
        {
          compute(nullptr, Rows::all);
          return;
        }
      halo->start(src);
      compute(nullptr, Rows::interior);
      const double *const ghosts = halo->finish();
      compute(ghosts, Rows::boundary);
    }

    internal::AssemblyContext<dim> context;
    internal::FormPreparation<dim> preparation;
    SpaceRevision                  revision;
    // The second one computes products with A^T if the first one has none.
    std::unique_ptr<internal::ProductKernel> kernel, transposed_kernel;
    std::unique_ptr<Halo>                    halo;
    MatrixType                               diagonal;
    MatrixFreeReport                         report;
  };



  template <int dim, typename MatrixType>
  std::unique_ptr<internal::ProductKernel>
  MatrixFreeOperator<dim, MatrixType>::Implementation::make_simplex_kernel(
    const Form<dim>           &form,
    const std::vector<double> &sigma,
    const InstructionSet       instruction_set)
  {
    if constexpr (dim < 4)
      return internal::make_simplex_kernel(context.mesh(),
                                           context.dofs(),
                                           form,
                                           sigma,
                                           on_device ? Backend::cuda
                                                     : Backend::host,
                                           instruction_set);
    (void)form;
    (void)sigma;
    (void)instruction_set;
    return nullptr;
  }



  template <int dim, typename MatrixType>
  void
  MatrixFreeOperator<dim, MatrixType>::Implementation::make_kernels(
    const Form<dim>                  &form,
    const internal::HostProblem<dim> &problem,
    const std::vector<double>        &sigma,
    const InstructionSet              instruction_set)
  {
    const auto &structure     = context.structure;
    const auto  space         = context.space->polynomial_space();
    const bool  has_polytopes = structure.n_owned_polytopes > 0;
    structure.on_all_processes([&]() {
      if (has_polytopes)
        kernel = make_simplex_kernel(form, sigma, instruction_set);
    });
    const bool simplices =
      Utilities::MPI::min(has_polytopes && kernel == nullptr ? 0u : 1u,
                          structure.communicator) == 1;
    structure.on_all_processes([&]() {
      if (!simplices)
        kernel.reset();
      if (!has_polytopes || (simplices && !form.volume_structure().b))
        return;
      auto &general = simplices ? transposed_kernel : kernel;
      if constexpr (on_device)
        general = internal::make_cuda_product(problem, sigma, space);
      else
        general =
          std::make_unique<internal::HostProduct<dim>>(problem, sigma, space);
    });
  }



  // Block rows are assembled one after the other; their diagonal blocks are
  // kept.
  template <int dim, typename MatrixType>
  template <typename Assemble>
  void
  MatrixFreeOperator<dim, MatrixType>::Implementation::make_diagonal(
    const Assemble &assemble)
  {
    const Timer                       timer;
    const BlockSparsity              &blocks = context.structure.blocks;
    const std::vector<std::uint64_t> &offset = context.structure.dof_offset;
    const unsigned int                n = context.structure.n_owned_polytopes;
    BlockSparsity                     sparsity;
    sparsity.block_offset.assign(1, 0);
    sparsity.value_offset.assign(1, 0);
    for (unsigned int k = 0; k < n; ++k)
      {
        const std::uint64_t size = offset[k + 1] - offset[k];
        sparsity.block_offset.push_back(k + 1);
        sparsity.block_column.push_back(k);
        sparsity.column_offset.push_back(0);
        sparsity.row_width.push_back(static_cast<unsigned int>(size));
        sparsity.value_offset.push_back(sparsity.value_offset.back() +
                                        size * size);
      }
    diagonal.reinit(sparsity, offset, context.structure.partition());
    if (n == 0)
      return;
    // Values in the memory of the host.
    std::vector<double> memory(on_device ? sparsity.value_offset.back() : 0);
    double *const       values = on_device ? memory.data() : diagonal.values();
    internal::AssemblyTarget<double> target;
    target.store_block_rows = [&](const unsigned int begin,
                                  const unsigned int end,
                                  const double      *rows) {
      for (unsigned int k = begin; k < end; ++k)
        {
          const std::uint64_t size = offset[k + 1] - offset[k];
          const double *const block =
            rows + blocks.value_offset[k] - blocks.value_offset[begin] +
            blocks.column_offset[blocks.find_block(k, k)];
          double *to = values + sparsity.value_offset[k];
          for (std::uint64_t i = 0; i < size; ++i)
            to = std::copy_n(block + i * blocks.row_width[k], size, to);
        }
    };
    assemble(target);
    if (on_device)
      diagonal.copy_from(memory);
    report.diagonal_time = timer.wall_time();
  }



  template <int dim, typename MatrixType>
  void
  MatrixFreeOperator<dim, MatrixType>::Implementation::finish(
    const AdditionalData &data, const Timer &timer)
  {
    const auto partition = context.structure.partition();
    context.structure.on_all_processes([&]() {
      if (partition != nullptr)
        halo = std::make_unique<Halo>(partition);
    });
    diagonal.set_external_product(
      [this](const internal::Device::Destination<double> &dst,
             const double                                *src,
             const bool transpose) { multiply(dst, src, transpose); });
    report.backend         = on_device ? Backend::cuda : Backend::host;
    report.instruction_set = data.instruction_set == InstructionSet::automatic
                               ? best_instruction_set()
                               : data.instruction_set;
    report.n_threads       = MultithreadInfo::n_threads();
    if (kernel != nullptr)
      {
        report.kernel       = kernel->name();
        report.reason       = kernel->reason();
        report.n_operations = kernel->n_operations();
        report.table_memory = kernel->memory_consumption();
      }
    if (transposed_kernel != nullptr)
      report.table_memory += transposed_kernel->memory_consumption();
    report.diagonal_memory = diagonal.memory_consumption();
    report.setup_time      = timer.wall_time();
  }



  template <int dim, typename MatrixType>
  std::unique_ptr<typename MatrixFreeOperator<dim, MatrixType>::Implementation>
  MatrixFreeOperator<dim, MatrixType>::start(const PolytopicSpace<dim> &handler,
                                             const AdditionalData      &data)
  {
    constexpr bool on_device = Implementation::on_device;
    AssertThrow(on_device || data.backend != Backend::cuda,
                ExcMessage("MatrixFreeOperator<dim> computes products on the "
                           "host: choose Backend::host or Backend::automatic, "
                           "or take MatrixFreeOperator<dim, "
                           "DeviceBlockMatrix<double>>."));
    AssertThrow(!on_device || data.backend != Backend::host,
                ExcMessage("MatrixFreeOperator<dim, DeviceBlockMatrix<double>> "
                           "computes products on a CUDA device: choose "
                           "Backend::cuda or Backend::automatic, or take "
                           "MatrixFreeOperator<dim>."));
    AssertThrow(handler.n_global_polytopes() > 0 && handler.n_dofs() > 0,
                ExcMessage("MatrixFreeOperator needs degrees of freedom: call "
                           "agglomerate() and distribute_dofs() of the "
                           "AgglomerationHandler first."));
    implementation.reset();
    auto  made    = std::make_unique<Implementation>(handler, data);
    auto &context = made->context;
    context.structure.on_all_processes(
      [&]() { context.structure.update(handler); });
    return made;
  }



  template <int dim, typename MatrixType>
  MatrixFreeOperator<dim, MatrixType>::MatrixFreeOperator() = default;



  template <int dim, typename MatrixType>
  MatrixFreeOperator<dim, MatrixType>::~MatrixFreeOperator() = default;



  template <int dim, typename MatrixType>
  void
  MatrixFreeOperator<dim, MatrixType>::initialize(
    const PolytopicSpace<dim> &handler,
    const Form<dim>           &form,
    const AdditionalData      &data)
  {
    const Timer timer;
    auto        made    = start(handler, data);
    auto       &context = made->context;
    made->preparation.start(form);
    const auto sigma   = made->preparation.prepare(form, true);
    made->revision     = context.revision();
    const auto problem = made->preparation.problem(form);
    made->make_kernels(form, problem, *sigma.values, data.instruction_set);
    context.structure.on_all_processes([&]() {
      made->make_diagonal([&](const internal::AssemblyTarget<double> &target) {
        internal::assemble_on_host(problem,
                                   context.structure.blocks,
                                   *sigma.values,
                                   context.space->polynomial_space(),
                                   target,
                                   made->preparation.kept_diffusion());
      });
    });
    made->finish(data, timer);
    implementation = std::move(made);
  }



  template <int dim, typename MatrixType>
  void
  MatrixFreeOperator<dim, MatrixType>::initialize(
    const PolytopicSpace<dim> &handler,
    const SystemForm<dim>     &system,
    const AdditionalData      &data)
  {
    const Timer timer;
    AssertThrow(!Implementation::on_device,
                ExcMessage("The host computes products with systems without a "
                           "matrix: take MatrixFreeOperator<dim>, or on a "
                           "device an assembled matrix or "
                           "PointwiseOperator::apply_tangent()."));
    auto                      made    = start(handler, data);
    auto                     &context = made->context;
    internal::HostSystem<dim> rows(context, made->preparation);
    rows.start(system);
    made->revision = context.revision();
    context.structure.on_all_processes([&]() {
      made->kernel = std::make_unique<internal::HostProduct<dim>>(
        made->preparation.problem(*rows.present_pairs().front().form),
        rows.present_pairs(),
        rows.present_sigma(),
        context.space->polynomial_space());
      made->make_diagonal([&](const internal::AssemblyTarget<double> &target) {
        rows.compute_rows(target);
      });
    });
    made->finish(data, timer);
    implementation = std::move(made);
  }



  template <int dim, typename MatrixType>
  void
  MatrixFreeOperator<dim, MatrixType>::clear()
  {
    implementation.reset();
  }



  template <int dim, typename MatrixType>
  const MatrixType &
  MatrixFreeOperator<dim, MatrixType>::checked() const
  {
    AssertThrow(implementation != nullptr,
                ExcMessage("Call initialize() of the MatrixFreeOperator "
                           "first."));
    AssertThrow(implementation->context.revision() == implementation->revision,
                ExcMessage("The polytopes or the degrees of freedom have "
                           "changed: call initialize() of the "
                           "MatrixFreeOperator again."));
    return implementation->diagonal;
  }



  template <int dim, typename MatrixType>
  typename MatrixFreeOperator<dim, MatrixType>::size_type
  MatrixFreeOperator<dim, MatrixType>::m() const
  {
    return implementation == nullptr ? 0 : implementation->diagonal.m();
  }



  template <int dim, typename MatrixType>
  void
  MatrixFreeOperator<dim, MatrixType>::diagonal_blocks(
    std::vector<double> &blocks) const
  {
    checked().copy_to(blocks);
  }



  template <int dim, typename MatrixType>
  std::size_t
  MatrixFreeOperator<dim, MatrixType>::memory_consumption() const
  {
    return implementation == nullptr
             ? sizeof(*this)
             : sizeof(*this) + implementation->report.table_memory +
                 implementation->diagonal.memory_consumption() +
                 (implementation->halo == nullptr
                    ? 0
                    : implementation->halo->memory_consumption());
  }



  template <int dim, typename MatrixType>
  const MatrixFreeReport &
  MatrixFreeOperator<dim, MatrixType>::report() const
  {
    AssertThrow(implementation != nullptr, ExcNotInitialized());
    return implementation->report;
  }



  template class MatrixFreeOperator<2>;
  template class MatrixFreeOperator<3>;
  template class MatrixFreeOperator<4>;
  template class MatrixFreeOperator<2, DeviceBlockMatrix<double>>;
  template class MatrixFreeOperator<3, DeviceBlockMatrix<double>>;
  template class MatrixFreeOperator<4, DeviceBlockMatrix<double>>;
} // namespace Tessella
