// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>
#include <deal.II/base/multithread_info.h>
#include <deal.II/base/timer.h>

#include <tessella/operators/matrix_free_operator.h>

#include <algorithm>

#include "../backends/form_preparation.h"
#include "../backends/host_assembly.h"
#include "../lac/halo_exchange.h"
#include "host_product.h"

namespace Tessella
{
  using namespace dealii;

  template <int dim>
  struct MatrixFreeOperator<dim>::Implementation
  {
    Implementation(const PolytopicSpace<dim> &space, const AdditionalData &data)
      : context(space, data)
      , preparation(context)
    {}

    // Chooses the kernel of the products. Kernels for special forms and meshes
    // belong before the one for all of them.
    void
    make_kernel(const internal::HostProblem<dim> &problem,
                const std::vector<double>        &sigma)
    {
      kernel = std::make_unique<internal::HostProduct<dim>>(
        problem, sigma, context.space->polynomial_space());
    }

    void
    make_diagonal(const internal::HostProblem<dim> &problem,
                  const std::vector<double>        &sigma);

    void
    multiply(const internal::Device::Destination<double> &dst,
             const double                                *src,
             const bool                                   transpose)
    {
      using Rows = internal::ProductKernel::Rows;
      if (halo == nullptr)
        {
          kernel->vmult(dst, src, nullptr, transpose, Rows::all);
          return;
        }
      halo->start(src);
      kernel->vmult(dst, src, nullptr, transpose, Rows::interior);
      const double *const ghosts = halo->finish();
      kernel->vmult(dst, src, ghosts, transpose, Rows::boundary);
    }

    internal::AssemblyContext<dim>              context;
    internal::FormPreparation<dim>              preparation;
    SpaceRevision                               revision;
    std::unique_ptr<internal::ProductKernel>    kernel;
    std::unique_ptr<internal::HostHalo<double>> halo;
    HostBlockMatrix<double>                     diagonal;
    MatrixFreeReport                            report;
  };



  // Block rows are assembled one after the other; their diagonal blocks are
  // kept.
  template <int dim>
  void
  MatrixFreeOperator<dim>::Implementation::make_diagonal(
    const internal::HostProblem<dim> &problem, const std::vector<double> &sigma)
  {
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
          double *to = diagonal.values() + sparsity.value_offset[k];
          for (std::uint64_t i = 0; i < size; ++i)
            to = std::copy_n(block + i * blocks.row_width[k], size, to);
        }
    };
    internal::assemble_on_host(problem,
                               blocks,
                               sigma,
                               context.space->polynomial_space(),
                               target,
                               preparation.kept_diffusion());
  }



  template <int dim>
  MatrixFreeOperator<dim>::MatrixFreeOperator() = default;



  template <int dim>
  MatrixFreeOperator<dim>::~MatrixFreeOperator() = default;



  template <int dim>
  void
  MatrixFreeOperator<dim>::initialize(const PolytopicSpace<dim> &handler,
                                      const Form<dim>           &form,
                                      const AdditionalData      &data)
  {
    const Timer timer;
    AssertThrow(data.backend != Backend::cuda,
                ExcMessage("MatrixFreeOperator computes products on the host "
                           "only: choose Backend::host or Backend::automatic, "
                           "or assemble a DeviceBlockMatrix."));
    AssertThrow(handler.n_global_polytopes() > 0 && handler.n_dofs() > 0,
                ExcMessage("MatrixFreeOperator needs degrees of freedom: call "
                           "agglomerate() and distribute_dofs() of the "
                           "AgglomerationHandler first."));
    implementation.reset();
    auto  made    = std::make_unique<Implementation>(handler, data);
    auto &context = made->context;
    context.structure.on_all_processes(
      [&]() { context.structure.update(handler); });
    made->preparation.start(form);
    const auto sigma     = made->preparation.prepare(form, true);
    made->revision       = context.revision();
    const auto problem   = made->preparation.problem(form);
    const auto partition = context.structure.partition();
    context.structure.on_all_processes([&]() {
      const Timer diagonal_timer;
      made->make_diagonal(problem, *sigma.values);
      made->report.diagonal_time = diagonal_timer.wall_time();
      made->make_kernel(problem, *sigma.values);
      if (partition != nullptr)
        made->halo = std::make_unique<internal::HostHalo<double>>(partition);
    });
    Implementation *const pointer = made.get();
    made->diagonal.set_external_product(
      [pointer](const internal::Device::Destination<double> &dst,
                const double                                *src,
                const bool                                   transpose) {
        pointer->multiply(dst, src, transpose);
      });
    MatrixFreeReport &report = made->report;
    report.backend           = made->kernel->type();
    report.instruction_set   = data.instruction_set == InstructionSet::automatic
                                 ? best_instruction_set()
                                 : data.instruction_set;
    report.n_threads         = MultithreadInfo::n_threads();
    report.kernel            = made->kernel->name();
    report.reason            = made->kernel->reason();
    report.n_operations      = made->kernel->n_operations();
    report.table_memory      = made->kernel->memory_consumption();
    report.diagonal_memory   = made->diagonal.memory_consumption();
    report.setup_time        = timer.wall_time();
    implementation           = std::move(made);
  }



  template <int dim>
  void
  MatrixFreeOperator<dim>::clear()
  {
    implementation.reset();
  }



  template <int dim>
  const HostBlockMatrix<double> &
  MatrixFreeOperator<dim>::checked() const
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



  template <int dim>
  typename MatrixFreeOperator<dim>::size_type
  MatrixFreeOperator<dim>::m() const
  {
    return implementation == nullptr ? 0 : implementation->diagonal.m();
  }



  template <int dim>
  void
  MatrixFreeOperator<dim>::diagonal_blocks(std::vector<double> &blocks) const
  {
    checked().copy_to(blocks);
  }



  template <int dim>
  std::size_t
  MatrixFreeOperator<dim>::memory_consumption() const
  {
    return implementation == nullptr
             ? sizeof(*this)
             : sizeof(*this) + implementation->kernel->memory_consumption() +
                 implementation->diagonal.memory_consumption() +
                 (implementation->halo == nullptr
                    ? 0
                    : implementation->halo->memory_consumption());
  }



  template <int dim>
  const MatrixFreeReport &
  MatrixFreeOperator<dim>::report() const
  {
    AssertThrow(implementation != nullptr, ExcNotInitialized());
    return implementation->report;
  }



  template class MatrixFreeOperator<2>;
  template class MatrixFreeOperator<3>;
  template class MatrixFreeOperator<4>;
} // namespace Tessella
