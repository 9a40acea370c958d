// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>
#include <deal.II/base/index_set.h>
#include <deal.II/base/multithread_info.h>
#include <deal.II/base/timer.h>

#include <tessella/base/compatibility.h>
#include <tessella/base/config.h>
#include <tessella/hdg/hdg.h>
#include <tessella/lac/trilinos_block_matrix.h>

#include <string>
#include <vector>

#include "../lac/vector_access.h"
#include "hdg_backend.h"
#include "post_processing.h"

namespace Tessella
{
  using namespace dealii;

  template <int dim>
  struct HDG<dim>::Implementation
  {
    Implementation(const AgglomerationHandler<dim> &handler,
                   const AdditionalData            &data)
      : system(handler, data)
    {}

    void
    reinit(const Form<dim> &form)
    {
      AssertThrow(form.has_boundary_conditions(),
                  ExcMessage(
                    "HDG needs a form with coefficients and Dirichlet, "
                    "Neumann or Robin conditions, such as "
                    "AdvectionDiffusionReaction or a DeviceForm of a "
                    "functor without terms of its own on facets."));
      assembled = false;
      backend->clear();
      system.reinit(form);
    }

    // Preparations of an assembly.
    void
    prepare(const Form<dim> &form)
    {
      system.on_all_processes([&] {
        form.prepare();
        system.check_reinit(form);
        prepare_quadrature(system.handler, system.orders(form).back());
      });
      HDGReport           &report = system.report;
      const InstructionSet set    = system.data.instruction_set;
      report.backend              = backend->type;
      report.n_threads            = MultithreadInfo::n_threads();
      report.instruction_set =
        set == InstructionSet::automatic ? best_instruction_set() : set;
    }

    // Checks before the solution from traces. @p size: sizes of the vector of
    // traces on all processes and on this one.
    void
    check_recover(const Form<dim>    &form,
                  const std::uint64_t size,
                  const std::uint64_t local_size) const
    {
      AssertThrow(assembled,
                  ExcMessage("HDG::recover() needs the local problems: call "
                             "assemble() first."));
      system.check_reinit(form);
      AssertThrow(size == system.numbering.n_dofs() &&
                    local_size == system.numbering.n_owned_dofs(),
                  ExcMessage("The vector does not have the size of this trace "
                             "space."));
    }

    void
    check_device(const char *what) const
    {
      AssertThrow(backend->type == Backend::cuda,
                  ExcMessage(std::string(what) +
                             " needs an HDG object with Backend::cuda; this "
                             "one runs on the host. Use the classes of "
                             "TrilinosWrappers."));
      AssertThrow(system.n_processes == 1,
                  ExcMessage(std::string(what) +
                             " of HDG lives on one process, but the mesh is "
                             "distributed over " +
                             std::to_string(system.n_processes) +
                             ": use TrilinosWrappers::SparseMatrix and "
                             "TrilinosWrappers::MPI::Vector; local problems "
                             "and the solution from traces are computed by the "
                             "device of each process all the same."));
    }

    // Indices of vectors with as many entries per polytope as @p n_components
    // scalar functions; these are distributed over the processes like the
    // degrees of freedom of the handler.
    IndexSet
    owned_indices(const unsigned int n_components) const
    {
      const IndexSet owned = system.handler.locally_owned_dofs();
      IndexSet       set(n_components * owned.size());
      if (owned.n_elements() > 0)
        {
          const types::global_dof_index first = owned.nth_index_in_set(0);
          set.add_range(n_components * first,
                        n_components * (first + owned.n_elements()));
        }
      return set;
    }

    internal::TraceSystem<dim>                 system;
    std::unique_ptr<internal::HDGBackend<dim>> backend;
    bool                                       assembled = false;
  };



  template <int dim>
  HDG<dim>::HDG(const AgglomerationHandler<dim> &handler,
                const AdditionalData            &data)
    : implementation(std::make_unique<Implementation>(handler, data))
  {
    AssertThrow(handler.n_global_polytopes() > 0 && handler.n_dofs() > 0,
                ExcMessage("HDG needs degrees of freedom: call agglomerate() "
                           "and distribute_dofs() of the AgglomerationHandler "
                           "first."));
    AssertThrow(handler.n_components() == 1,
                ExcMessage("HDG solves scalar equations, but the element has " +
                           std::to_string(handler.n_components()) +
                           " components: distribute the degrees of freedom of "
                           "a scalar element."));
    AssertThrow(!handler.polytopic_mesh().prismatic &&
                  handler.polynomial_space() != PolynomialSpaceType::prismatic,
                ExcMessage("HDG works with spaces of total degree or "
                           "tensor-product spaces, not with prismatic ones or "
                           "space-time slabs."));
    AssertThrow(data.spaces == LocalSpaces::equal ||
                  data.trace_space == TraceSpaceType::facet,
                ExcMessage("LocalSpaces::reduced_flux needs "
                           "TraceSpaceType::facet."));
    implementation->backend =
      internal::make_hdg_backend(implementation->system);
    AssertThrow(data.instruction_set == InstructionSet::automatic ||
                  data.instruction_set <= best_instruction_set(),
                ExcMessage("This processor or this build of Tessella does not "
                           "have the instruction set " +
                           name(data.instruction_set) + "."));
  }



  template <int dim>
  HDG<dim>::~HDG() = default;



  template <int dim>
  void
  HDG<dim>::reinit(const Form<dim> &form)
  {
    implementation->reinit(form);
  }



#ifdef TESSELLA_HAVE_EPETRA
  template <int dim>
  void
  HDG<dim>::reinit(const Form<dim>                &form,
                   TrilinosWrappers::SparseMatrix &matrix,
                   TrilinosWrappers::MPI::Vector  &rhs)
  {
    implementation->reinit(form);
    const Timer                 timer;
    internal::TraceSystem<dim> &system    = implementation->system;
    const auto                 &numbering = system.numbering;
    system.on_all_processes([&] {
      TrilinosBlockMatrix::check_size(numbering.sparsity, numbering.dof_offset);
    });
    TrilinosBlockMatrix::reinit(matrix,
                                numbering.sparsity,
                                numbering.dof_offset,
                                system.communicator,
                                numbering.ghost_columns);
    IndexSet owned(n_dofs());
    owned.add_range(numbering.first_dof(),
                    numbering.first_dof() + numbering.n_owned_dofs());
    rhs.reinit(owned, system.communicator);
    system.report.structure_time = timer.wall_time();
  }
#endif



  template <int dim>
  void
  HDG<dim>::reinit(const Form<dim>           &form,
                   DeviceBlockMatrix<double> &matrix,
                   DeviceVector<double>      &rhs)
  {
    implementation->check_device("A DeviceBlockMatrix");
    implementation->reinit(form);
    const Timer                 timer;
    internal::TraceSystem<dim> &system = implementation->system;
    matrix.reinit(system.numbering.sparsity, system.numbering.dof_offset);
    rhs.reinit(n_dofs());
    implementation->backend->reinit_on_device(form);
    system.report.structure_time = timer.wall_time();
  }



  template <int dim>
  void
  HDG<dim>::assemble(const Form<dim>           &form,
                     DeviceBlockMatrix<double> &matrix,
                     DeviceVector<double>      &rhs)
  {
    Implementation &data = *implementation;
    data.check_device("A DeviceBlockMatrix");
    data.prepare(form);
    const auto          &numbering = data.system.numbering;
    const BlockSparsity &sparsity  = numbering.sparsity;
    AssertThrow(matrix.dof_offset() == numbering.dof_offset &&
                  matrix.block_sparsity().value_offset ==
                    sparsity.value_offset &&
                  matrix.block_sparsity().block_column ==
                    sparsity.block_column &&
                  rhs.size() == n_dofs(),
                ExcMessage("Matrix or vector do not have the structure of this "
                           "trace space: call reinit() of the HDG object on "
                           "them."));
    data.assembled = false;
    data.backend->assemble_on_device(form, matrix.values(), rhs.begin());
    data.assembled = true;
  }



#ifdef TESSELLA_HAVE_EPETRA
  template <int dim>
  void
  HDG<dim>::assemble(const Form<dim>                &form,
                     TrilinosWrappers::SparseMatrix &matrix,
                     TrilinosWrappers::MPI::Vector  &rhs)
  {
    Implementation &data = *implementation;
    data.prepare(form);
    const auto &numbering = data.system.numbering;
    double     *values    = nullptr;
    data.system.on_all_processes([&] {
      values = TrilinosBlockMatrix::values(matrix,
                                           numbering.sparsity,
                                           numbering.dof_offset);
      AssertThrow(rhs.size() == n_dofs() &&
                    rhs.locally_owned_size() == numbering.n_owned_dofs(),
                  ExcMessage("The vector does not have the size of this trace "
                             "space: call reinit() of the HDG object on it."));
    });
    data.assembled = false;
    data.backend->assemble(form, values, rhs.begin());
    data.assembled = true;
  }
#endif



  template <int dim>
  void
  HDG<dim>::recover(const Form<dim>            &form,
                    const DeviceVector<double> &trace,
                    DeviceVector<double>       &solution,
                    DeviceVector<double>       &flux)
  {
    Implementation &data = *implementation;
    data.check_device("A DeviceVector");
    data.check_recover(form, trace.size(), trace.size());
    const std::uint64_t n = data.system.dofs().dof_offset.back();
    solution.reinit(n, true);
    flux.reinit(dim * n, true);
    data.backend->recover_on_device(form,
                                    trace.begin(),
                                    solution.begin(),
                                    flux.begin());
  }



#ifdef TESSELLA_HAVE_EPETRA
  template <int dim>
  void
  HDG<dim>::recover(const Form<dim>                     &form,
                    const TrilinosWrappers::MPI::Vector &trace,
                    const VectorView                    &solution,
                    const VectorView                    &flux)
  {
    Implementation &data = *implementation;
    data.system.on_all_processes([&] {
      internal::check_no_ghosts(trace);
      data.check_recover(form, trace.size(), trace.locally_owned_size());
    });
    const std::uint64_t n = data.system.handler.n_locally_owned_dofs();
    solution.reinit(data.owned_indices(1), data.system.communicator);
    flux.reinit(data.owned_indices(dim), data.system.communicator);
    std::vector<double> u_memory, q_memory;
    double             *u = nullptr, *q = nullptr;
    data.system.on_all_processes([&] {
      u = solution.start(n, u_memory);
      q = flux.start(dim * n, q_memory);
    });
    data.backend->recover(form, data.system.exchange(trace.begin()), u, q);
    data.system.on_all_processes([&] {
      solution.finish(u_memory);
      flux.finish(q_memory);
    });
  }
#endif



  template <int dim>
  void
  HDG<dim>::post_process(const Form<dim>                 &form,
                         const ConstVectorView           &solution,
                         const ConstVectorView           &flux,
                         const AgglomerationHandler<dim> &finer,
                         const VectorView                &result) const
  {
    const internal::TraceSystem<dim>   &system  = implementation->system;
    const AgglomerationHandler<dim>    &handler = system.handler;
    const internal::PostProcessing<dim> post_processing{handler, finer};
    std::vector<double>                 u_memory, q_memory, memory;
    const double                       *u = nullptr, *q = nullptr;
    system.on_all_processes([&] {
      const std::uint64_t n = handler.n_locally_owned_dofs();
      post_processing.check();
      u = solution.values(n, u_memory);
      q = flux.values(dim * n, q_memory);
    });
    result.reinit(finer.locally_owned_dofs(), system.communicator);
    system.on_all_processes([&] {
      post_processing.run(form,
                          u,
                          q,
                          system.data.instruction_set,
                          result.start(finer.n_locally_owned_dofs(), memory));
      result.finish(memory);
    });
  }



  template <int dim>
  const AgglomerationHandler<dim> &
  HDG<dim>::handler() const
  {
    return implementation->system.handler;
  }



#ifdef TESSELLA_HAVE_EPETRA
  template <int dim>
  void
  HDG<dim>::copy_blocks(const TrilinosWrappers::SparseMatrix &matrix,
                        HostBlockMatrix<double>              &blocks) const
  {
    const auto &numbering = implementation->system.numbering;
    // A matrix that has the structure keeps it, so that preconditioners can
    // take new values.
    const bool same =
      blocks.revision() != 0 && blocks.partition() == numbering.partition &&
      blocks.dof_offset() == numbering.dof_offset &&
      blocks.block_sparsity().block_offset == numbering.sparsity.block_offset &&
      blocks.block_sparsity().block_column == numbering.sparsity.block_column;
    if (Utilities::MPI::min(same ? 1 : 0,
                            implementation->system.communicator) == 0)
      blocks.reinit(numbering.sparsity,
                    numbering.dof_offset,
                    numbering.partition);
    implementation->system.on_all_processes([&] {
      const double *const values = TrilinosBlockMatrix::values(
        const_cast<TrilinosWrappers::SparseMatrix &>(matrix),
        numbering.sparsity,
        numbering.dof_offset);
      blocks.copy_from(
        std::vector<double>(values,
                            values + numbering.sparsity.n_nonzero_elements()));
    });
  }
#endif



  template <int dim>
  std::uint64_t
  HDG<dim>::n_dofs() const
  {
    return implementation->system.numbering.n_dofs();
  }



  template <int dim>
  const TraceSpace<dim> &
  HDG<dim>::trace_space() const
  {
    return implementation->system.trace;
  }



#ifdef TESSELLA_HAVE_EPETRA
  template <int dim>
  std::vector<double>
  HDG<dim>::trace_coefficients(const TrilinosWrappers::MPI::Vector &trace,
                               const unsigned int interface) const
  {
    const internal::TraceSystem<dim> &system    = implementation->system;
    const auto                       &numbering = system.numbering;
    AssertIndexRange(interface, numbering.block_of_interface.size());
    internal::check_no_ghosts(trace);
    implementation->backend->fetch_dirichlet();
    const unsigned int block = numbering.block_of_interface[interface];
    AssertThrow(block == invalid_index || block < numbering.n_owned_blocks(),
                ExcMessage("Interface " + std::to_string(interface) +
                           " belongs to another process."));
    if (block != invalid_index)
      return {trace.begin() + numbering.dof_offset[block],
              trace.begin() + numbering.dof_offset[block + 1]};
    return {system.dirichlet.begin() + system.dirichlet_offset[interface],
            system.dirichlet.begin() + system.dirichlet_offset[interface + 1]};
  }
#endif



  template <int dim>
  types::global_dof_index
  HDG<dim>::first_dof(const unsigned int interface) const
  {
    const auto &numbering = implementation->system.numbering;
    AssertIndexRange(interface, numbering.block_of_interface.size());
    const unsigned int block = numbering.block_of_interface[interface];
    if (block == invalid_index)
      return numbers::invalid_dof_index;
    return block < numbering.n_owned_blocks()
             ? numbering.first_dof() + numbering.dof_offset[block]
             : numbering.ghost_columns[numbering.dof_offset[block] -
                                       numbering.n_owned_dofs()];
  }



  template <int dim>
  Backend
  HDG<dim>::backend() const
  {
    return implementation->backend->type;
  }



  template <int dim>
  const HDGReport &
  HDG<dim>::report() const
  {
    return implementation->system.report;
  }



  template class HDG<2>;
  template class HDG<3>;
} // namespace Tessella
