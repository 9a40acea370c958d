// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_assembly_rectangular_assembler_h
#define tessella_assembly_rectangular_assembler_h

#include <deal.II/lac/sparse_matrix.h>
#include <deal.II/lac/sparsity_pattern.h>
#include <deal.II/lac/vector.h>

#include <tessella/backends/assembly_parameters.h>
#include <tessella/backends/assembly_report.h>
#include <tessella/base/epetra.h>
#include <tessella/forms/system_form.h>
#include <tessella/grid/polytopic_space.h>

#include <memory>

namespace Tessella
{
  /**
   * Assembles a SystemForm whose test functions and trial functions are in
   * different spaces on the same polytopes, such as pressure and velocity, into
   * a rectangular matrix: rows are degrees of freedom of the test space,
   * columns those of the trial space. A polytope is coupled with itself and its
   * neighbours.
   *
   *     RectangularAssembler<dim> assembler(pressure, velocity);
   *     SparsityPattern           sparsity;
   *     SparseMatrix<double>      B;
   *     Vector<double>            g;
   *     assembler.reinit(sparsity, B, g);
   *     assembler.assemble(DivergenceForm<dim>(), B, g);
   *
   * <b>Algorithm and cost.</b> The kernels are those of PolytopicAssembler, for
   * one pair of components after the other. They compute blocks for the larger
   * of the two spaces on each polytope, of which the functions of the smaller
   * one are the first ones; the other entries are dropped. Results have the
   * same bits for any number of threads. For a matrix on a device, the blocks
   * of one pair are kept there while they are computed: n_k n_l values for
   * polytopes k and l with n_k and n_l functions of the larger space.
   *
   * <b>Many processes.</b> On a mesh that is distributed over processes, each
   * process computes the rows of the polytopes that it owns; their columns
   * belong to these polytopes and to ghosts. No values are exchanged, and block
   * rows and right-hand sides have the same bits for any number of processes.
   * All functions are collective, and an error on one process is thrown on all.
   *
   * <b>Matrices and vectors</b>, where Number is double or float:
   * - SparseMatrix<Number> with Vector<Number>, in a program of one process;
   * - TrilinosWrappers::SparseMatrix with TrilinosWrappers::MPI::Vector or
   *   LinearAlgebra::distributed::Vector<double>. Row and domain index sets are
   *   those of the degrees of freedom of the test and of the trial space;
   * - PETScWrappers::MPI::SparseMatrix with PETScWrappers::MPI::Vector, with
   *   the same index sets, if PETSc has real numbers in double precision;
   * - DeviceRectangularMatrix<Number> with DeviceVector<Number>. The backend of
   *   the parameters assembles, a CUDA device or the host, which sends its
   *   results to the device. Matrices of the host are assembled by the host.
   *
   * <b>Quadrature</b> is of order 2 p + Form::coefficient_order() with the
   * larger degree p of both spaces.
   *
   * <b>Errors.</b> Spaces on different polytopes, a total-degree and a
   * tensor-product space, numbers of components that differ from those of the
   * system, forms with a penalty, matrices and vectors with another structure,
   * and Backend::cuda with a matrix of the host.
   */
  template <int dim>
  class RectangularAssembler
  {
  public:
    /// The spaces must outlive the assembler.
    RectangularAssembler(
      const PolytopicSpace<dim> &test,
      const PolytopicSpace<dim> &trial,
      const AssemblyParameters  &parameters = AssemblyParameters());

    ~RectangularAssembler();

    // ---- structure, once
    /// Sets the structure of the matrix and the size of the vector. Collective.
    template <typename Number>
    void
    reinit(dealii::SparsityPattern      &sparsity,
           dealii::SparseMatrix<Number> &matrix,
           dealii::Vector<Number>       &rhs);
    template <typename MatrixType, typename VectorType>
    void
    reinit(MatrixType &matrix, VectorType &rhs);

    /// Overwrites the matrix and the vector, which has the right-hand side of
    /// the test functions. Collective.
    template <typename MatrixType, typename VectorType>
    void
    assemble(const SystemForm<dim> &system,
             MatrixType            &matrix,
             VectorType            &rhs);

    /// Instruction set, times in seconds, and the evaluation of coefficients,
    /// of the last calls.
    const AssemblyReport &
    report() const;

  private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation;
  };
} // namespace Tessella

#endif
