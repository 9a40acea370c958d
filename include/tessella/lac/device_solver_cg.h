// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_lac_device_solver_cg_h
#define tessella_lac_device_solver_cg_h

#include <deal.II/base/exceptions.h>
#include <deal.II/base/logstream.h>
#include <deal.II/base/types.h>

#include <deal.II/lac/precondition.h>
#include <deal.II/lac/solver.h>
#include <deal.II/lac/solver_cg.h>
#include <deal.II/lac/solver_control.h>
#include <deal.II/lac/vector_memory.h>

#include <tessella/lac/device_vector.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <type_traits>

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      class Scalars;
    }

    /// Numbers of a step of the conjugate gradient method, with the direction
    /// p, q = A p and the residual r after the step.
    struct CGNumbers
    {
      /// p.q, the length of the step, and r.r. The length is zero, and the
      /// step was not made, if p.q is not positive or the length not finite.
      double pq = 0., length = 0., rr = 0.;
    };

    /// Throws if step number @p step was not made, or if its residual is not
    /// finite.
    void
    check_step(const CGNumbers &numbers, const unsigned int step);

    /// Vector operations of the conjugate gradient method on a device, whose
    /// scalars stay there. Functions return before their work is done.
    template <typename Number>
    class DeviceCGSteps
    {
    public:
      using VectorType = DeviceVector<Number>;

      /// Whether vectors like @p x can be used: those of one process with up
      /// to 2^31 entries, but for empty ones.
      static bool
      is_possible(const VectorType &x);

      DeviceCGSteps();

      /// p = z + beta p, where z is the preconditioned residual r, or r itself;
      /// beta is zero in the first call.
      void
      set_direction(const VectorType &r, const VectorType &z, VectorType &p);

      /// x += alpha p, r -= alpha q for q = A p.
      void
      make_step(const VectorType &p,
                const VectorType &q,
                VectorType       &x,
                VectorType       &r);

      /// Waits for the last step, but not for work that was started after it.
      CGNumbers
      wait();

    private:
      /// Place of r.z, which alternates since the next one needs it.
      unsigned int                     n_directions           = 0;
      bool                             without_preconditioner = false;
      std::shared_ptr<Device::Scalars> scalars;
    };
  } // namespace internal



  /**
   * Conjugate gradient method with the interface of dealii::SolverCG for
   * vectors in the memory of a CUDA device, in which the device does not wait
   * for the host:
   *
   *     SolverControl                        control(100, 1e-8 * b.l2_norm());
   *     DeviceSolverCG<DeviceVector<double>> solver(control);
   *     solver.solve(A, x, b, preconditioner);
   *
   * A needs only vmult(), P only vmult(); both must be symmetric and positive
   * definite.
   *
   * <b>Order of the work.</b> Scalar products and the factors that follow from
   * them stay on the device. The host starts the product with A, the step, and,
   * at once, the preconditioner and the next direction; it then waits for the
   * norm of the residual after the step, which the SolverControl gets, while
   * the device applies the preconditioner. The last application of the
   * preconditioner is therefore wasted, unless the host expects the end from
   * the last two residuals or from the number of steps: then it waits first.
   * The solution is not changed after the step that ends the iteration.
   *
   * <b>Results.</b> Steps and arithmetic are those of SolverCG of deal.II 9.4,
   * in the same order and with the same sums, see DeviceVector: solutions have
   * the same bits in every run, and those of SolverCG, but for rounding without
   * a preconditioner and with later releases.
   *
   * <b>Cost</b> of an iteration: one product with A, one with P, and 13
   * vectors of memory traffic in 4 kernels (11 in 3 without a preconditioner).
   * Memory: 4 vectors.
   *
   * <b>Other vectors.</b> Vectors that several processes share, vectors without
   * entries or with more than 2^31 of them, and vectors of other classes are
   * left to dealii::SolverCG, with the same SolverControl. Signals are those of
   * dealii::SolverBase.
   *
   * Errors, as exceptions: SolverControl::NoConvergence. Where the work is not
   * left to dealii::SolverCG, which goes on in these cases, also a direction p
   * for which p.Ap is not positive, and numbers that are not finite; the
   * solution is then that of the step before.
   */
  template <typename VectorType = DeviceVector<double>>
  class DeviceSolverCG : public dealii::SolverBase<VectorType>
  {
  public:
    /// There are no parameters.
    struct AdditionalData
    {};

    DeviceSolverCG(dealii::SolverControl            &control,
                   dealii::VectorMemory<VectorType> &memory,
                   const AdditionalData & = AdditionalData())
      : dealii::SolverBase<VectorType>(control, memory)
      , control(control)
    {}

    explicit DeviceSolverCG(dealii::SolverControl &control,
                            const AdditionalData & = AdditionalData())
      : dealii::SolverBase<VectorType>(control)
      , control(control)
    {}

    /// Solves A x = b from the initial guess @p x.
    template <typename MatrixType, typename PreconditionerType>
    void
    solve(const MatrixType         &A,
          VectorType               &x,
          const VectorType         &b,
          const PreconditionerType &preconditioner);

  protected:
    using State = dealii::SolverControl::State;

    /// Solves with the vector operations @p steps, which have the interface of
    /// internal::DeviceCGSteps.
    template <typename StepsType,
              typename MatrixType,
              typename PreconditionerType>
    void
    iterate(StepsType                &steps,
            const MatrixType         &A,
            VectorType               &x,
            const VectorType         &b,
            const PreconditionerType &preconditioner);

  private:
    /// Solves with dealii::SolverCG.
    template <typename MatrixType, typename PreconditionerType>
    void
    solve_on_host(const MatrixType         &A,
                  VectorType               &x,
                  const VectorType         &b,
                  const PreconditionerType &preconditioner);

    /// Norm of the residual that ends the iteration, as far as the control
    /// tells; @p initial is that of the first one.
    double
    expected_tolerance(const double initial) const;

    dealii::SolverControl &control;
  };



  template <typename VectorType>
  template <typename MatrixType, typename PreconditionerType>
  void
  DeviceSolverCG<VectorType>::solve(const MatrixType         &A,
                                    VectorType               &x,
                                    const VectorType         &b,
                                    const PreconditionerType &preconditioner)
  {
    using Number = typename VectorType::value_type;
    if constexpr (std::is_same<VectorType, DeviceVector<Number>>::value)
      if (internal::DeviceCGSteps<Number>::is_possible(x))
        {
          internal::DeviceCGSteps<Number> steps;
          iterate(steps, A, x, b, preconditioner);
          return;
        }
    solve_on_host(A, x, b, preconditioner);
  }



  template <typename VectorType>
  template <typename StepsType,
            typename MatrixType,
            typename PreconditionerType>
  void
  DeviceSolverCG<VectorType>::iterate(StepsType                &steps,
                                      const MatrixType         &A,
                                      VectorType               &x,
                                      const VectorType         &b,
                                      const PreconditionerType &preconditioner)
  {
    constexpr bool without =
      std::is_same<PreconditionerType, dealii::PreconditionIdentity>::value;
    using Pointer = typename dealii::VectorMemory<VectorType>::Pointer;
    const dealii::LogStream::Prefix prefix("cg");
    Pointer r(this->memory), p(this->memory), q(this->memory), z(this->memory);
    r->reinit(x, true);
    p->reinit(x, true);
    q->reinit(x, true);
    if (!without)
      z->reinit(x, true);

    if (x.all_zero())
      r->equ(1., b);
    else
      {
        A.vmult(*r, x);
        r->sadd(-1., 1., b);
      }
    double       norm = r->l2_norm(), previous_norm = 0.;
    State        state         = this->iteration_status(0, norm, x);
    const double tolerance     = expected_tolerance(norm);
    const auto   set_direction = [&]() {
      if (!without)
        preconditioner.vmult(*z, *r);
      steps.set_direction(*r, without ? *r : *z, *p);
    };
    if (state == State::iterate)
      set_direction();
    unsigned int step = 0;
    while (state == State::iterate)
      {
        ++step;
        A.vmult(*q, *p);
        steps.make_step(*p, *q, x, *r);
        // Norms of residuals are taken to go down by the same factor again. A
        // wait costs less than a preconditioner in vain.
        constexpr double margin = 2.;
        const bool       at_end =
          step >= control.max_steps() ||
          (step > 1 && norm / previous_norm * norm <= margin * tolerance);
        if (!at_end)
          set_direction();
        const internal::CGNumbers numbers = steps.wait();
        internal::check_step(numbers, step);
        previous_norm = norm;
        norm          = std::sqrt(std::abs(numbers.rr));
        state         = this->iteration_status(step, norm, x);
        if (at_end && state == State::iterate)
          set_direction();
      }
    AssertThrow(state == State::success,
                dealii::SolverControl::NoConvergence(step, norm));
  }



  template <typename VectorType>
  template <typename MatrixType, typename PreconditionerType>
  void
  DeviceSolverCG<VectorType>::solve_on_host(
    const MatrixType         &A,
    VectorType               &x,
    const VectorType         &b,
    const PreconditionerType &preconditioner)
  {
    // The control of this solver decides: this one agrees to everything.
    dealii::SolverControl        any(dealii::numbers::invalid_unsigned_int,
                              std::numeric_limits<double>::max(),
                              false,
                              false);
    dealii::SolverCG<VectorType> solver(any, this->memory);
    State                        state = State::iterate;
    double                       norm  = 0.;
    unsigned int                 step  = 0;
    solver.connect([&](const unsigned int n,
                       const double       value,
                       const VectorType  &solution) {
      step         = n;
      norm         = value;
      return state = this->iteration_status(n, value, solution);
    });
    solver.solve(A, x, b, preconditioner);
    AssertThrow(state == State::success,
                dealii::SolverControl::NoConvergence(step, norm));
  }



  template <typename VectorType>
  double
  DeviceSolverCG<VectorType>::expected_tolerance(const double initial) const
  {
    const auto *const reduction =
      dynamic_cast<const dealii::ReductionControl *>(&control);
    return std::max(control.tolerance(),
                    reduction == nullptr ? 0.
                                         : reduction->reduction() * initial);
  }
} // namespace Tessella

#endif
