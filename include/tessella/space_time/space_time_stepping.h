// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_space_time_space_time_stepping_h
#define tessella_space_time_space_time_stepping_h

#include <deal.II/base/exceptions.h>

#include <deal.II/lac/vector.h>

#include <tessella/assembly/polytopic_assembler.h>
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
  /// The linear solver failed in a slab.
  DeclException4(ExcSlabNotSolved,
                 unsigned int,
                 double,
                 double,
                 std::string,
                 << "The linear system of slab " << arg1 << ", from t = "
                 << arg2 << " to " << arg3 << ", was not solved: " << arg4);

#ifdef TESSELLA_HAVE_EPETRA
  /**
   * Slab after slab of a space-time dG method: assembles, hands the system to
   * the caller's solver, keeps the value at the end for the next slab.
   *
   *     SpaceTimeStepping<dim> stepping(agglomeration, form, solve);
   *     VectorTools::project(agglomeration, initial_function, value);
   *     stepping.initialize(0., value);
   *     while (stepping.time() < final_time)
   *       stepping.step(length);
   *
   * <b>What is kept.</b> The matrix stays as long as length and numbers of
   * intervals are the same and SpaceTimeForm::matrix_is_stationary(): then a
   * step assembles the right-hand side only. Structure stays as long as the
   * numbers of intervals do.
   *
   * <b>Errors</b> in a step (ExcSlabNotSolved with what the solver threw,
   * values that are not finite, those of assembly) leave time() and value() as
   * they were: the last good state can be written, or the step be tried again.
   *
   * <b>Many processes</b>: as SpaceTimeSlab; steps are collective, and the
   * solver throws on all processes or on none.
   */
  template <int dim>
  class SpaceTimeStepping
  {
  public:
    /**
     * Solves matrix * solution = rhs. @p solution comes with a first guess, the
     * value at the beginning of the slab at all times. The last argument says
     * whether the matrix has changed since the last call; what was derived from
     * it (preconditioners) can be kept if not. Failure is an exception.
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

    /// Handler and form must outlive this object; the form's start is set
    /// before every assembly.
    SpaceTimeStepping(const AgglomerationHandler<dim> &handler,
                      SpaceTimeForm<dim>              &form,
                      const Solver                    &solver,
                      const AdditionalData            &data = AdditionalData());

    /// @p value: the handler's vector of the solution at @p time; @p n_steps:
    /// number of slabs before it, which n_steps() and messages count on from.
    void
    initialize(const double                                 time,
               const dealii::TrilinosWrappers::MPI::Vector &value,
               const unsigned int                           n_steps = 0);
    /// The same in a program of one process.
    void
    initialize(const double                  time,
               const dealii::Vector<double> &value,
               const unsigned int            n_steps = 0);

    /// Computes the slab [time(), time() + length]; see SpaceTimeSlab::reinit()
    /// for @p n_intervals.
    void
    step(const double                     length,
         const std::vector<unsigned int> &n_intervals = {});

    double
    time() const
    {
      return present_time;
    }
    /// Solution at time(), from below: a vector of the handler.
    const dealii::TrilinosWrappers::MPI::Vector &
    value() const
    {
      return present_value;
    }
    /// Number of slabs since initialize(), and of those before it.
    unsigned int
    n_steps() const
    {
      return step_number;
    }

    // ---- of the last step
    /// Its slab; local times count from slab().start().
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
    /// L2 norm of the jump in time at its beginning: an estimate of the error
    /// of the step, of order length^(p + 1) where the solution is smooth.
    double
    jump() const
    {
      return present_jump;
    }
    /// Seconds for structure and assembly, and in the solver.
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
    /// Structure of the slab that matrix and vectors have; 0: none.
    std::uint64_t present_structure = 0;
    /// Revision of the slab that the matrix belongs to; 0: none.
    std::uint64_t matrix_revision = 0;
    double        present_time = 0., present_jump = 0.;
    double        present_assembly_time = 0., present_solver_time = 0.;
    unsigned int  step_number = 0;
  };
#endif



  /**
   * Length of the next step from the jump at the beginning of the last one,
   * which behaves like length^(degree + 1): the step whose jump would be
   * @p tolerance, times 0.9, between half and twice the last one. A step with a
   * jump above the tolerance should be done again with this length.
   */
  double
  next_step_length(const double       length,
                   const double       jump,
                   const double       tolerance,
                   const unsigned int degree);
} // namespace Tessella

#endif
