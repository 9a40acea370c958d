// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_space_time_space_time_stepping_h
#define tessella_space_time_space_time_stepping_h

#include <deal.II/base/exceptions.h>

#include <deal.II/lac/vector.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/base/config.h>
#include <tessella/base/epetra.h>
#include <tessella/lac/host_block_matrix.h>
#include <tessella/lac/host_vector.h>
#include <tessella/lac/vector_view.h>
#include <tessella/space_time/space_time_form.h>
#include <tessella/space_time/space_time_slab.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace Tessella
{
  /// Exception: the linear solver has failed in a slab.
  DeclException4(ExcSlabNotSolved,
                 unsigned int,
                 double,
                 double,
                 std::string,
                 << "The linear system of slab " << arg1 << ", from t = "
                 << arg2 << " to " << arg3 << ", was not solved: " << arg4);

  namespace internal
  {
    /// Matrix and vectors of SpaceTimeStepping if none are chosen.
#ifdef TESSELLA_HAVE_EPETRA
    using DefaultSlabMatrix = dealii::TrilinosWrappers::SparseMatrix;
    using DefaultSlabVector = dealii::TrilinosWrappers::MPI::Vector;
#else
    using DefaultSlabMatrix = HostBlockMatrix<double>;
    using DefaultSlabVector = HostVector<double>;
#endif
  } // namespace internal

  /**
   * Time stepping of a space-time dG method, slab by slab: assembles the
   * system, calls the user's solver, and keeps the value at the end for the
   * next slab.
   *
   *     SpaceTimeStepping<dim> stepping(agglomeration, form, solve);
   *     VectorTools::project(agglomeration, initial_function, value);
   *     stepping.write_pvd("solution"); // for ParaView, after every slab
   *     stepping.initialize(0., value);
   *     while (stepping.time() < final_time)
   *       stepping.step(length);
   *
   * The solver is any function of matrix and vectors; make_solver() makes one
   * of a solver and a preconditioner of deal.II:
   *
   *     SolverGMRES<TrilinosWrappers::MPI::Vector> gmres(control);
   *     TrilinosWrappers::PreconditionILU          ilu;
   *     SpaceTimeStepping<dim> stepping(
   *       agglomeration, form, SpaceTimeStepping<dim>::make_solver(gmres,
   * ilu));
   *
   * <b>Matrices and vectors.</b> By default they are those of TrilinosWrappers
   * (HostBlockMatrix and HostVector in a build without Epetra). Others are
   * HostBlockMatrix<double> with HostVector<double> or
   * LinearAlgebra::distributed::Vector<double>, and DeviceBlockMatrix<double>
   * with DeviceVector<double>, where right-hand sides go through the host once
   * per slab:
   *
   *     SpaceTimeStepping<dim, HostBlockMatrix<double>, HostVector<double>>
   *
   * <b>Reuse.</b> The matrix is kept as long as length and numbers of intervals
   * are the same and SpaceTimeForm::matrix_is_stationary(): a step then
   * assembles the right-hand side only. The structure is kept as long as the
   * numbers of intervals are the same.
   *
   * <b>Errors</b> in a step (ExcSlabNotSolved with the exception of the solver,
   * values that are not finite, errors of assembly) leave time() and value()
   * unchanged: the program can write the last good state, or repeat the step.
   *
   * <b>Many processes</b>: as for SpaceTimeSlab. Steps are collective, and the
   * solver must throw on all processes or on none.
   */
  template <int dim,
            typename MatrixType = internal::DefaultSlabMatrix,
            typename VectorType = internal::DefaultSlabVector>
  class SpaceTimeStepping
  {
  public:
    /**
     * Function that solves matrix * solution = rhs. @p solution contains an
     * initial guess, the value at the beginning of the slab extended to all
     * times. The last argument is true if the matrix has changed since the last
     * call; otherwise data derived from it (preconditioners) can be kept.
     * Failure must be reported by an exception.
     */
    using Solver = std::function<void(const MatrixType &matrix,
                                      VectorType       &solution,
                                      const VectorType &rhs,
                                      const bool        matrix_changed)>;

    /// Solver of a solver of deal.II and a preconditioner, whose
    /// initialize(matrix) is called when the matrix has changed. Both must
    /// outlive the result.
    template <typename SolverType, typename PreconditionerType>
    static Solver
    make_solver(SolverType &solver, PreconditionerType &preconditioner)
    {
      return [&solver, &preconditioner](const MatrixType &matrix,
                                        VectorType       &solution,
                                        const VectorType &rhs,
                                        const bool        matrix_changed) {
        if (matrix_changed)
          preconditioner.initialize(matrix);
        solver.solve(matrix, solution, rhs, preconditioner);
      };
    }

    struct AdditionalData
    {
      PolynomialSpaceType space = PolynomialSpaceType::prismatic;
      typename PolytopicAssembler<dim + 1>::AdditionalData assembler;
    };

    /// Handler and form must outlive this object, which sets the start of the
    /// form before every assembly.
    SpaceTimeStepping(const AgglomerationHandler<dim> &handler,
                      SpaceTimeForm<dim>              &form,
                      const Solver                    &solver,
                      const AdditionalData            &data = AdditionalData());

    /// Sets the initial state. @p value is the handler's vector of the solution
    /// at @p time, of any type; @p n_steps is the number of slabs before it,
    /// from which n_steps() and messages continue to count.
    void
    initialize(const double           time,
               const ConstVectorView &value,
               const unsigned int     n_steps = 0);

    /**
     * Lets initialize() and every @p every th step write value() for ParaView:
     * files FILE-NUMBER.vtu, where the number is n_steps(), and FILE.pvd, which
     * lists those that this object has written with their times. @p file_name
     * is FILE, without an ending, in a folder that exists. Files are written
     * completely or not at all; an error in a step leaves the new state as it
     * is. To be called before initialize().
     */
    void
    write_pvd(const std::string &file_name,
              const std::string &field = "solution",
              const unsigned int every = 1);

    /// Computes the slab [time(), time() + length]; for @p n_intervals see
    /// SpaceTimeSlab::reinit().
    void
    step(const double                     length,
         const std::vector<unsigned int> &n_intervals = {});

    double
    time() const
    {
      return present_time;
    }
    /// Solution at time(), as limit from below: a vector of the handler.
    const VectorType &
    value() const
    {
      return present_value;
    }
    /// Number of slabs since initialize(), plus the number of those before it.
    unsigned int
    n_steps() const
    {
      return step_number;
    }

    // ---- last step
    /// Slab of the last step; local times count from slab().start().
    const SpaceTimeSlab<dim> &
    slab() const
    {
      return present_slab;
    }
    const VectorType &
    solution() const
    {
      return present_solution;
    }
    /// L2 norm of the jump in time at the beginning of the last step: an
    /// estimate of the error of the step, of order length^(p + 1) if the
    /// solution is smooth.
    double
    jump() const
    {
      return present_jump;
    }
    /// Seconds for structure and assembly; solver_time() returns those in the
    /// solver.
    double
    assembly_time() const
    {
      return present_assembly_time;
    }
    double
    solver_time() const
    {
      return present_solver_time;
    }

    PolytopicAssembler<dim + 1> &
    assembler();

  private:
    SpaceTimeForm<dim>                          &form;
    const Solver                                 solver;
    const AdditionalData                         data;
    SpaceTimeSlab<dim>                           present_slab;
    std::unique_ptr<PolytopicAssembler<dim + 1>> present_assembler;

    /// Writes value() if write_pvd() and the number of the step say so.
    void
    write_output();

    MatrixType matrix;
    VectorType rhs, present_solution, present_value;
    /// See write_pvd(); no output if the name is empty.
    std::string  output_file, output_field;
    unsigned int output_every = 1;
    /// Times and files of the .pvd file.
    std::vector<std::pair<double, std::string>> output_records;
    /// Structure revision of the slab for which matrix and vectors are set up;
    /// 0 if there is none.
    std::uint64_t present_structure = 0;
    /// Revision of the slab to which the matrix belongs; 0 if there is none.
    std::uint64_t matrix_revision = 0;
    double        present_time = 0., present_jump = 0.;
    double        present_assembly_time = 0., present_solver_time = 0.;
    unsigned int  step_number = 0;
  };



  /**
   * Length of the next step, computed from the jump at the beginning of the
   * last one, which behaves like length^(degree + 1). The result is the length
   * whose jump would be @p tolerance, times 0.9, between half and twice the
   * last length. A step with a jump above the tolerance should be repeated with
   * this length.
   */
  double
  next_step_length(const double       length,
                   const double       jump,
                   const double       tolerance,
                   const unsigned int degree);
} // namespace Tessella

#endif
