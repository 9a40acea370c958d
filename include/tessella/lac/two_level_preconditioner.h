// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_lac_two_level_preconditioner_h
#define tessella_lac_two_level_preconditioner_h

#include <tessella/base/epetra.h>
#include <tessella/grid/polytopic_space.h>
#include <tessella/lac/trilinos_block_jacobi.h>

#include <cstddef>
#include <vector>

#ifdef TESSELLA_HAVE_EPETRA
#  include <deal.II/lac/trilinos_precondition.h>

namespace Tessella
{
  /**
   * Two-level preconditioner for matrices of TrilinosWrappers that were
   * assembled on a polytopic space: block Gauss-Seidel on the fine level and
   * algebraic multigrid on the coarse one. For diffusion-dominated problems the
   * number of iterations hardly grows with the number of polytopes.
   *
   *     TwoLevelPreconditioner<dim> preconditioner;
   *     preconditioner.initialize(handler, matrix);
   *     SolverCG<TrilinosWrappers::MPI::Vector> solver(control);
   *     solver.solve(matrix, solution, rhs, preconditioner);
   *
   * The coarse space consists of the functions of degree at most one on every
   * polytope, of constants where the degree is 0. These are basis functions, so
   * that the embedding P of the coarse space selects degrees of freedom, and
   * the coarse matrix P^T A P is a submatrix of A. The coarse system is solved
   * approximately by algebraic multigrid (ML), with constants and linear
   * functions as near null space; this approximate inverse is B. With L + D and
   * D + U, the lower and the upper block triangle of A (one block per
   * polytope), vmult() computes the approximation x of A^{-1} b by
   *
   *     x = (L + D)^{-1} b,
   *     x = x + P B P^T (b - A x),
   *     x = x + (D + U)^{-1} (b - A x),
   *
   * which is symmetric if A and B are. With several processes, L, D and U are
   * those of the rows and columns of each process; couplings between processes
   * are treated as in a Jacobi method, so that the number of iterations depends
   * slightly on the number of processes.
   *
   * The space and the matrix must outlive the preconditioner; initialize() must
   * be called again when values of the matrix change. All functions are
   * collective. vmult() of one object may not run in several threads at the
   * same time.
   *
   * Cost of vmult(): three products with A, or four with several processes, the
   * solution with the LU factors of all diagonal blocks, twice, and one V-cycle
   * for at most dim + 1 unknowns per polytope. Memory: the factors of the
   * diagonal blocks, the coarse matrix and the levels of ML.
   *
   * Errors, as exceptions: a diagonal block that is singular (with the index of
   * its polytope on this process); failures of Trilinos.
   */
  template <int dim>
  class TwoLevelPreconditioner : public Subscriptor
  {
  public:
    using VectorType = dealii::TrilinosWrappers::MPI::Vector;

    struct AdditionalData
    {
      /// Whether the matrix is symmetric. If it is not, ML smooths its
      /// transfers as nonsymmetric matrices need, and its smoother is not
      /// symmetric.
      bool symmetric = true;
    };

    void
    initialize(const PolytopicSpace<dim>                    &space,
               const dealii::TrilinosWrappers::SparseMatrix &matrix,
               const AdditionalData &data = AdditionalData());

    void
    vmult(VectorType &dst, const VectorType &src) const;

  private:
    void
    select_coarse_dofs(const PolytopicSpace<dim> &space);
    void
    copy_coarse_matrix(const std::size_t n_fine_dofs);
    void
    compute_null_space(const PolytopicSpace<dim> &space);
    void
    initialize_multigrid(const bool symmetric);

    const dealii::TrilinosWrappers::SparseMatrix *matrix = nullptr;
    TrilinosBlockJacobi<dim>                      smoother;
    bool                                          several_processes = false;
    /// Index, on this process, of the fine degree of freedom that is coarse
    /// degree of freedom i.
    std::vector<std::size_t> fine;
    /// ML refers to these vectors, which follow one another.
    std::vector<double>                       null_space;
    dealii::TrilinosWrappers::SparseMatrix    coarse_matrix;
    dealii::TrilinosWrappers::PreconditionAMG amg;
    mutable VectorType residual, correction, coarse_rhs, coarse_solution;
  };
} // namespace Tessella
#endif

#endif
