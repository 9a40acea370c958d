// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_space_time_space_time_stepping_h
#define tessella_space_time_space_time_stepping_h

#include <deal.II/base/exceptions.h>

#include <deal.II/lac/vector.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/base/config.h>
#include <tessella/base/epetra.h>
#include <tessella/space_time/space_time_form.h>
#include <tessella/space_time/space_time_slab.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
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

#ifdef TESSELLA_HAVE_EPETRA
  /**
   * Time stepping of a space-time dG method, slab by slab: assembles the
   * system, calls the user's solver, and keeps the value at the end for the
   * next slab.
   *
   *     SpaceTimeStepping<dim> stepping(agglomeration, form, solve);
   *     VectorTools::project(agglomeration, initial_function, value);
   *     stepping.initialize(0., value);
   *     while (stepping.time() < final_time)
   *       stepping.step(length);
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
  template <int dim>
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
    using Solver =
      std::function<void(const dealii::TrilinosWrappers::SparseMatrix &matrix,
                         dealii::TrilinosWrappers::MPI::Vector        &solution,
                         const dealii::TrilinosWrappers::MPI::Vector  &rhs,
                         const bool matrix_changed)>;

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
    /// at @p time; @p n_steps is the number of slabs before it, from which
    /// n_steps() and messages continue to count.
    void
    initialize(const double                                 time,
               const dealii::TrilinosWrappers::MPI::Vector &value,
               const unsigned int                           n_steps = 0);
    /// The same in a program of one process.
    void
    initialize(const double                  time,
               const dealii::Vector<double> &value,
               const unsigned int            n_steps = 0);

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
    const dealii::TrilinosWrappers::MPI::Vector &
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
    const dealii::TrilinosWrappers::MPI::Vector &
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

    dealii::TrilinosWrappers::SparseMatrix matrix;
    dealii::TrilinosWrappers::MPI::Vector  rhs, present_solution;
    dealii::TrilinosWrappers::MPI::Vector  present_value;
    /// Structure revision of the slab for which matrix and vectors are set up;
    /// 0 if there is none.
    std::uint64_t present_structure = 0;
    /// Revision of the slab to which the matrix belongs; 0 if there is none.
    std::uint64_t matrix_revision = 0;
    double        present_time = 0., present_jump = 0.;
    double        present_assembly_time = 0., present_solver_time = 0.;
    unsigned int  step_number = 0;
  };
#endif



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
