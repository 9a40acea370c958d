// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>
#include <deal.II/base/multithread_info.h>
#include <deal.II/base/timer.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/base/config.h>

#include <future>

#include "../backends/assembly_backend.h"
#include "../lac/matrix_traits.h"
#include "assembler_access.h"

namespace Tessella
{
  using namespace dealii;

  namespace
  {
    // Makes a matrix that has the structure the destination of an assembly.
    template <typename MatrixType, typename Number>
    void
    set_matrix(MatrixType                       &matrix,
               internal::MatrixStructure        &structure,
               internal::AssemblyTarget<Number> &target)
    {
      using Traits = internal::MatrixTraits<MatrixType>;
      Traits::check(matrix, structure);
      if constexpr (Traits::storage == internal::Storage::host)
        target.host_values = Traits::values(matrix);
      else if constexpr (Traits::storage == internal::Storage::device)
        target.device_values = Traits::values(matrix);
      else
        target.store_block_rows = [&matrix,
                                   &structure](const unsigned int begin,
                                               const unsigned int end,
                                               const Number      *values) {
          Traits::store(matrix, structure, begin, end, values);
        };
    }

    template <typename VectorType, typename Number>
    void
    set_vector(VectorType                       &vector,
               const internal::MatrixStructure  &structure,
               internal::AssemblyTarget<Number> &target)
    {
      using Traits = internal::VectorTraits<VectorType>;
      Traits::check(vector, structure);
      if constexpr (Traits::storage == internal::Storage::device)
        target.device_rhs = Traits::values(vector);
      else
        target.host_rhs = Traits::values(vector);
    }

    void
    check_instruction_set(const InstructionSet wanted)
    {
      AssertThrow(
        wanted == InstructionSet::automatic || wanted <= best_instruction_set(),
        ExcMessage("This processor or this build of Tessella does not "
                   "have the instruction set " +
                   name(wanted) + "; the widest one it has is " +
                   name(best_instruction_set()) + "."));
    }
  } // namespace



  template <int dim>
  struct PolytopicAssembler<dim>::Implementation
  {
    Implementation(const PolytopicSpace<dim> &space, const AdditionalData &data)
      : context(space, data)
    {}

    // Sets the structure of a matrix. @p more has arguments of
    // MatrixTraits::reinit() between matrix and structure.
    template <typename MatrixType, typename... More>
    void
    reinit_matrix(MatrixType &matrix, More &...more)
    {
      using Traits = internal::MatrixTraits<MatrixType>;
      const Timer timer;
      context.structure.update(*context.space);
      const std::future<void> started =
        Traits::serial_reinit ? backend->reinit() : std::future<void>();
      Traits::reinit(matrix, more..., context.structure);
      if (started.valid())
        started.wait();
      context.report.structure_time = timer.wall_time();
    }

    template <typename VectorType>
    void
    reinit_vector(VectorType &vector)
    {
      internal::VectorTraits<VectorType>::reinit(
        vector, context.space->locally_owned_dofs(), context.structure);
    }

    // Assembles to the destination that set_target(target) sets.
    template <typename Number, typename SetTarget>
    void
    assemble(const Form<dim> &form, const SetTarget &set_target)
    {
      const Timer                      timer;
      internal::AssemblyTarget<Number> target;
      AssemblyReport                  &report = context.report;
      report.geometry_time                    = 0.;
      context.structure.on_all_processes([&]() {
        context.structure.update(*context.space);
        set_target(target);
      });
      backend->assemble(form, &target);
      const InstructionSet wanted = context.parameters.instruction_set;
      report.backend              = backend->type();
      report.instruction_set =
        wanted == InstructionSet::automatic ? best_instruction_set() : wanted;
      report.n_threads     = MultithreadInfo::n_threads();
      report.assembly_time = timer.wall_time() - report.geometry_time;
    }

    internal::AssemblyContext<dim>                  context;
    std::unique_ptr<internal::AssemblyBackend<dim>> backend;
  };



  template <int dim>
  PolytopicAssembler<dim>::PolytopicAssembler(
    const PolytopicSpace<dim> &handler, const AdditionalData &data)
    : implementation(std::make_unique<Implementation>(handler, data))
  {
    AssertThrow(handler.n_global_polytopes() > 0 && handler.n_dofs() > 0,
                ExcMessage("PolytopicAssembler needs degrees of freedom: call "
                           "agglomerate() and distribute_dofs() of the "
                           "AgglomerationHandler first."));
    implementation->backend =
      internal::make_assembly_backend(implementation->context);
    check_instruction_set(data.instruction_set);
  }



  template <int dim>
  PolytopicAssembler<dim>::~PolytopicAssembler() = default;



  template <int dim>
  template <typename MatrixOrVector>
  void
  PolytopicAssembler<dim>::reinit(MatrixOrVector &object)
  {
    if constexpr (internal::IsMatrix<MatrixOrVector>::value)
      implementation->reinit_matrix(object);
    else
      implementation->reinit_vector(object);
  }



  template <int dim>
  template <typename MatrixType, typename VectorType>
  void
  PolytopicAssembler<dim>::reinit(MatrixType &matrix, VectorType &rhs)
  {
    implementation->reinit_matrix(matrix);
    implementation->reinit_vector(rhs);
  }



  template <int dim>
  template <typename Number>
  void
  PolytopicAssembler<dim>::reinit(SparsityPattern      &sparsity,
                                  SparseMatrix<Number> &matrix,
                                  Vector<Number>       &rhs)
  {
    implementation->reinit_matrix(matrix, sparsity);
    implementation->reinit_vector(rhs);
  }



  template <int dim>
  void
  PolytopicAssembler<dim>::set_penalty(const PenaltyParameters &penalty)
  {
    implementation->context.parameters.penalty = penalty;
  }



  template <int dim>
  template <typename MatrixType, typename VectorType>
  void
  PolytopicAssembler<dim>::assemble(const Form<dim> &form,
                                    MatrixType      &matrix,
                                    VectorType      &rhs)
  {
    using Number = typename internal::MatrixTraits<MatrixType>::value_type;
    internal::MatrixStructure &structure = implementation->context.structure;
    implementation->template assemble<Number>(form, [&](auto &target) {
      set_matrix(matrix, structure, target);
      set_vector(rhs, structure, target);
    });
  }



  template <int dim>
  template <typename MatrixType>
  void
  PolytopicAssembler<dim>::assemble_matrix(const Form<dim> &form,
                                           MatrixType      &matrix)
  {
    using Number = typename internal::MatrixTraits<MatrixType>::value_type;
    implementation->template assemble<Number>(form, [&](auto &target) {
      set_matrix(matrix, implementation->context.structure, target);
    });
  }



  template <int dim>
  template <typename VectorType>
  void
  PolytopicAssembler<dim>::assemble_rhs(const Form<dim> &form, VectorType &rhs)
  {
    using Number = typename internal::VectorTraits<VectorType>::value_type;
    implementation->template assemble<Number>(form, [&](auto &target) {
      set_vector(rhs, implementation->context.structure, target);
    });
  }



  template <int dim>
  std::vector<double>
  PolytopicAssembler<dim>::penalty(const Form<dim> &form) const
  {
    return implementation->backend->penalty(form);
  }



  template <int dim>
  const AssemblyReport &
  PolytopicAssembler<dim>::report() const
  {
    return implementation->context.report;
  }



  template <int dim>
  void
  internal::AssemblerAccess::set_strategy(PolytopicAssembler<dim> &assembler,
                                          const AssemblyStrategy   strategy)
  {
    assembler.implementation->backend->set_strategy(strategy);
  }



  template class PolytopicAssembler<2>;
  template class PolytopicAssembler<3>;
  template class PolytopicAssembler<4>;

  template void
  internal::AssemblerAccess::set_strategy(PolytopicAssembler<2> &,
                                          const AssemblyStrategy);
  template void
  internal::AssemblerAccess::set_strategy(PolytopicAssembler<3> &,
                                          const AssemblyStrategy);
  template void
  internal::AssemblerAccess::set_strategy(PolytopicAssembler<4> &,
                                          const AssemblyStrategy);

#define INSTANTIATE_ASSEMBLE(dim, Matrix, Vector)                    \
  template void PolytopicAssembler<dim>::assemble(const Form<dim> &, \
                                                  Matrix &,          \
                                                  Vector &);
#define INSTANTIATE_PAIR(dim, Matrix, Vector) \
  INSTANTIATE_ASSEMBLE(dim, Matrix, Vector)   \
  template void PolytopicAssembler<dim>::reinit(Matrix &, Vector &);
#define INSTANTIATE_MATRIX(dim, Matrix)                                     \
  template void PolytopicAssembler<dim>::reinit(Matrix &);                  \
  template void PolytopicAssembler<dim>::assemble_matrix(const Form<dim> &, \
                                                         Matrix &);
#define INSTANTIATE_VECTOR(dim, Vector)                                  \
  template void PolytopicAssembler<dim>::reinit(Vector &);               \
  template void PolytopicAssembler<dim>::assemble_rhs(const Form<dim> &, \
                                                      Vector &);

#define INSTANTIATE(dim, Number)                                         \
  INSTANTIATE_MATRIX(dim, HostBlockMatrix<Number>)                       \
  INSTANTIATE_MATRIX(dim, DeviceBlockMatrix<Number>)                     \
  INSTANTIATE_VECTOR(dim, Vector<Number>)                                \
  INSTANTIATE_VECTOR(dim, HostVector<Number>)                            \
  INSTANTIATE_VECTOR(dim, LinearAlgebra::distributed::Vector<Number>)    \
  INSTANTIATE_VECTOR(dim, DeviceVector<Number>)                          \
  INSTANTIATE_PAIR(dim, HostBlockMatrix<Number>, Vector<Number>)         \
  INSTANTIATE_PAIR(dim, HostBlockMatrix<Number>, HostVector<Number>)     \
  INSTANTIATE_PAIR(dim,                                                  \
                   HostBlockMatrix<Number>,                              \
                   LinearAlgebra::distributed::Vector<Number>)           \
  INSTANTIATE_PAIR(dim, DeviceBlockMatrix<Number>, DeviceVector<Number>) \
  /* reinit() of a SparseMatrix needs a pattern */                       \
  INSTANTIATE_ASSEMBLE(dim, SparseMatrix<Number>, Vector<Number>)        \
  template void PolytopicAssembler<dim>::reinit(SparsityPattern &,       \
                                                SparseMatrix<Number> &,  \
                                                Vector<Number> &);       \
  template void PolytopicAssembler<dim>::assemble_matrix(                \
    const Form<dim> &, SparseMatrix<Number> &);

#define INSTANTIATE_EPETRA(dim)                           \
  INSTANTIATE_MATRIX(dim, TrilinosWrappers::SparseMatrix) \
  INSTANTIATE_VECTOR(dim, TrilinosWrappers::MPI::Vector)  \
  INSTANTIATE_PAIR(dim,                                   \
                   TrilinosWrappers::SparseMatrix,        \
                   TrilinosWrappers::MPI::Vector)         \
  INSTANTIATE_PAIR(dim, HostBlockMatrix<double>, TrilinosWrappers::MPI::Vector)

  INSTANTIATE(2, double)
  INSTANTIATE(2, float)
  INSTANTIATE(3, double)
  INSTANTIATE(3, float)
  INSTANTIATE(4, double)
  INSTANTIATE(4, float)
#ifdef TESSELLA_HAVE_EPETRA
  INSTANTIATE_EPETRA(2)
  INSTANTIATE_EPETRA(3)
  INSTANTIATE_EPETRA(4)
#endif
} // namespace Tessella
