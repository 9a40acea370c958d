// SPDX-License-Identifier: LGPL-2.1-or-later
#ifndef tessella_assembly_polytopic_assembler_h
#define tessella_assembly_polytopic_assembler_h

#include <deal.II/base/smartpointer.h>

#include <deal.II/lac/sparse_matrix.h>
#include <deal.II/lac/sparsity_pattern.h>
#include <deal.II/lac/trilinos_sparse_matrix.h>
#include <deal.II/lac/trilinos_vector.h>
#include <deal.II/lac/vector.h>

#include <tessella/assembly/backend.h>
#include <tessella/forms/form.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/grid/penalty.h>

#include <memory>
#include <string>

namespace Tessella
{
  /// What the last calls of an assembler did.
  struct AssemblyReport
  {
    Backend        backend;         ///< backend that ran
    InstructionSet instruction_set; ///< of the host kernels
    unsigned int   n_threads;
    double         geometry_time; ///< seconds: penalty factors and tabulation
    double
      structure_time;     ///< seconds: sparsity and matrix creation in reinit()
    double assembly_time; ///< seconds: last assemble()
  };

  /**
   * Assembles forms on polytopic meshes. The owner computes its rows: every
   * polytope computes its block row, in an order of summation fixed by the
   * mesh, so that the matrix is the same to the last bit for every number of
   * threads.
   */
  template <int dim>
  class PolytopicAssembler
  {
  public:
    struct AdditionalData
    {
      Backend           backend         = Backend::automatic;
      InstructionSet    instruction_set = InstructionSet::automatic;
      PenaltyParameters penalty;
    };

    /// @p handler must outlive the assembler and have degrees of freedom.
    explicit PolytopicAssembler(const AgglomerationHandler<dim> &handler,
                                const AdditionalData &data = AdditionalData());
    ~PolytopicAssembler();

    // ---- structure, once
    void
    reinit(dealii::TrilinosWrappers::SparseMatrix &matrix);
    void
    reinit(dealii::TrilinosWrappers::MPI::Vector &vector);
    void
    reinit(dealii::TrilinosWrappers::SparseMatrix &matrix,
           dealii::TrilinosWrappers::MPI::Vector  &rhs);
    void
    reinit(dealii::SparsityPattern      &sparsity,
           dealii::SparseMatrix<double> &matrix,
           dealii::Vector<double>       &rhs);

    // ---- values, as often as coefficients change; what was in matrix and
    // vector before is overwritten
    void
    assemble(const Form<dim>                        &form,
             dealii::TrilinosWrappers::SparseMatrix &matrix,
             dealii::TrilinosWrappers::MPI::Vector  &rhs);
    void
    assemble_matrix(const Form<dim>                        &form,
                    dealii::TrilinosWrappers::SparseMatrix &matrix);
    void
    assemble_rhs(const Form<dim>                       &form,
                 dealii::TrilinosWrappers::MPI::Vector &rhs);
    void
    assemble(const Form<dim>              &form,
             dealii::SparseMatrix<double> &matrix,
             dealii::Vector<double>       &rhs);
    void
    assemble_matrix(const Form<dim>              &form,
                    dealii::SparseMatrix<double> &matrix);
    void
    assemble_rhs(const Form<dim> &form, dealii::Vector<double> &rhs);

    /// Penalty sigma of every facet for @p form (index: facet of the flat
    /// view), as assembly uses it.
    std::vector<double>
    penalty(const Form<dim> &form) const;

    const AssemblyReport &
    report() const;

  private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation;
  };
} // namespace Tessella

#endif
