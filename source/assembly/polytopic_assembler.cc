// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/base/config.h>

#include "../lac/petsc_traits.h"
#include "../lac/tpetra_traits.h"
#include "assembly_procedure.h"

namespace Tessella
{
  using namespace dealii;

  template <int dim>
  struct PolytopicAssembler<dim>::Implementation
    : public internal::AssemblyProcedure<dim>
  {
    using internal::AssemblyProcedure<dim>::AssemblyProcedure;
  };



  template <int dim>
  PolytopicAssembler<dim>::PolytopicAssembler(
    const PolytopicSpace<dim> &handler, const AdditionalData &data)
    : implementation(std::make_unique<Implementation>(
        handler, data, internal::make_assembly_backend<dim>))
  {}



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
  const AssemblyParameters &
  PolytopicAssembler<dim>::parameters() const
  {
    return implementation->context.parameters;
  }



  template <int dim>
  const PolytopicSpace<dim> &
  PolytopicAssembler<dim>::space() const
  {
    return *implementation->context.space;
  }



  template <int dim>
  template <typename MatrixType, typename VectorType>
  void
  PolytopicAssembler<dim>::assemble(const Form<dim> &form,
                                    MatrixType      &matrix,
                                    VectorType      &rhs)
  {
    implementation->assemble(form, matrix, rhs);
  }



  template <int dim>
  template <typename MatrixType>
  void
  PolytopicAssembler<dim>::assemble_matrix(const Form<dim> &form,
                                           MatrixType      &matrix)
  {
    implementation->assemble(form, matrix);
  }



  template <int dim>
  template <typename VectorType>
  void
  PolytopicAssembler<dim>::assemble_rhs(const Form<dim> &form, VectorType &rhs)
  {
    implementation->assemble(form, rhs);
  }



  template <int dim>
  template <typename MatrixType, typename VectorType>
  void
  PolytopicAssembler<dim>::assemble(const SystemForm<dim> &system,
                                    MatrixType            &matrix,
                                    VectorType            &rhs)
  {
    implementation->assemble(system, matrix, rhs);
  }



  template <int dim>
  template <typename MatrixType>
  void
  PolytopicAssembler<dim>::assemble_matrix(const SystemForm<dim> &system,
                                           MatrixType            &matrix)
  {
    implementation->assemble(system, matrix);
  }



  template <int dim>
  template <typename VectorType>
  void
  PolytopicAssembler<dim>::assemble_rhs(const SystemForm<dim> &system,
                                        VectorType            &rhs)
  {
    implementation->assemble(system, rhs);
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



  template class PolytopicAssembler<2>;
  template class PolytopicAssembler<3>;
  template class PolytopicAssembler<4>;

#define INSTANTIATE_ASSEMBLE(dim, Matrix, Vector)                          \
  template void PolytopicAssembler<dim>::assemble(const Form<dim> &,       \
                                                  Matrix &,                \
                                                  Vector &);               \
  template void PolytopicAssembler<dim>::assemble(const SystemForm<dim> &, \
                                                  Matrix &,                \
                                                  Vector &);
#define INSTANTIATE_PAIR(dim, Matrix, Vector) \
  INSTANTIATE_ASSEMBLE(dim, Matrix, Vector)   \
  template void PolytopicAssembler<dim>::reinit(Matrix &, Vector &);
#define INSTANTIATE_MATRIX(dim, Matrix)                                     \
  template void PolytopicAssembler<dim>::reinit(Matrix &);                  \
  template void PolytopicAssembler<dim>::assemble_matrix(const Form<dim> &, \
                                                         Matrix &);         \
  template void PolytopicAssembler<dim>::assemble_matrix(                   \
    const SystemForm<dim> &, Matrix &);
#define INSTANTIATE_VECTOR(dim, Vector)                                        \
  template void PolytopicAssembler<dim>::reinit(Vector &);                     \
  template void PolytopicAssembler<dim>::assemble_rhs(const Form<dim> &,       \
                                                      Vector &);               \
  template void PolytopicAssembler<dim>::assemble_rhs(const SystemForm<dim> &, \
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
    const Form<dim> &, SparseMatrix<Number> &);                          \
  template void PolytopicAssembler<dim>::assemble_matrix(                \
    const SystemForm<dim> &, SparseMatrix<Number> &);

#define INSTANTIATE_EPETRA(dim)                           \
  INSTANTIATE_MATRIX(dim, TrilinosWrappers::SparseMatrix) \
  INSTANTIATE_VECTOR(dim, TrilinosWrappers::MPI::Vector)  \
  INSTANTIATE_PAIR(dim,                                   \
                   TrilinosWrappers::SparseMatrix,        \
                   TrilinosWrappers::MPI::Vector)         \
  INSTANTIATE_PAIR(dim, HostBlockMatrix<double>, TrilinosWrappers::MPI::Vector)

#define INSTANTIATE_PETSC(dim)                              \
  INSTANTIATE_MATRIX(dim, PETScWrappers::MPI::SparseMatrix) \
  INSTANTIATE_VECTOR(dim, PETScWrappers::MPI::Vector)       \
  INSTANTIATE_PAIR(dim,                                     \
                   PETScWrappers::MPI::SparseMatrix,        \
                   PETScWrappers::MPI::Vector)

#define INSTANTIATE_TPETRA(dim)                                                \
  INSTANTIATE_MATRIX(dim, LinearAlgebra::TpetraWrappers::SparseMatrix<double>) \
  INSTANTIATE_VECTOR(dim, LinearAlgebra::TpetraWrappers::Vector<double>)       \
  INSTANTIATE_PAIR(dim,                                                        \
                   LinearAlgebra::TpetraWrappers::SparseMatrix<double>,        \
                   LinearAlgebra::TpetraWrappers::Vector<double>)

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
#ifdef TESSELLA_HAVE_PETSC
  INSTANTIATE_PETSC(2)
  INSTANTIATE_PETSC(3)
  INSTANTIATE_PETSC(4)
#endif
#ifdef TESSELLA_HAVE_TPETRA
  INSTANTIATE_TPETRA(2)
  INSTANTIATE_TPETRA(3)
  INSTANTIATE_TPETRA(4)
#endif

#undef INSTANTIATE_ASSEMBLE
#undef INSTANTIATE_PAIR
#undef INSTANTIATE_MATRIX
#undef INSTANTIATE_VECTOR
#undef INSTANTIATE
#undef INSTANTIATE_EPETRA
#undef INSTANTIATE_PETSC
#undef INSTANTIATE_TPETRA
} // namespace Tessella
