// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_time_stepping_step_control_h
#define tessella_time_stepping_step_control_h

#include <tessella/time_stepping/runge_kutta_tableau.h>

#include <vector>

namespace Tessella
{
  /// Throws unless the length of a time step is positive and finite.
  void
  check_step(const double dt);

  /// Length of the next step to the end of an interval.
  struct FittedStep
  {
    double length;
    /// Time after the step: exactly the end if the step is the last one.
    double end;
    bool   is_last;
  };

  /**
   * Divides the rest of an interval, from @p t to @p end, into equal steps that
   * are not larger than @p largest, and returns the first of them. The last
   * step ends exactly at @p end; no step is much shorter than the others. An
   * interval that needs more than @p max_steps steps is an error. The result
   * depends on the arguments alone: a program that continues from a checkpoint
   * takes the same steps.
   */
  FittedStep
  fit_step(const double t,
           const double end,
           const double largest,
           const double max_steps = 1e7);

  /**
   * Control of steps by estimates of their errors, with a proportional-integral
   * controller (K. Gustafsson, ACM Trans. Math. Softw. 17, 1991, 533-554): if
   * e_n is the estimated error of step n over the tolerance and q - 1 the order
   * of the embedded method, then
   *   dt_{n+1} = dt_n safety e_n^{-0.7/q} e_{n-1}^{0.4/q}
   * after a step that is accepted (e_n <= 1), and safety e_n^{-1/q} dt_n after
   * one that is rejected. The factor stays between the given bounds, and is at
   * most 1 right after a rejected step.
   *
   *     PIController control(tableau.embedded_order);
   *     if (control.accept(error_ratio(error, u, absolute, relative)))
   *       t += dt;
   *     dt *= control.factor();
   */
  class PIController
  {
  public:
    struct AdditionalData
    {
      double safety = 0.9, smallest_factor = 0.2, largest_factor = 5.;
    };
    /// What a checkpoint must contain.
    struct State
    {
      double factor = 1., previous_ratio = 1.;
      bool   rejected = false;
    };

    explicit PIController(const unsigned int    embedded_order,
                          const AdditionalData &data);
    explicit PIController(const unsigned int embedded_order);

    /// Whether a step with this error over the tolerance is good enough; sets
    /// factor(). A ratio that is not a number is that of a rejected step.
    bool
    accept(const double ratio);
    /// Tells that a step has failed, for instance because an iteration did not
    /// converge: the next factor is @p factor, which is less than one.
    void
    reject(const double factor = 0.5);
    /// Next step over this step.
    double
    factor() const
    {
      return present.factor;
    }
    const State &
    state() const
    {
      return present;
    }
    void
    set_state(const State &state)
    {
      present = state;
    }

  private:
    AdditionalData data;
    double         exponent;
    State          present;
  };

  /// Norm of the estimated error over the tolerance, absolute + relative |u|.
  /// @p VectorType must have l2_norm(). For a result that does not depend on
  /// the number of processes it must be HostVector or DeviceVector.
  template <typename VectorType>
  double
  error_ratio(const VectorType &error,
              const VectorType &u,
              const double      absolute,
              const double      relative)
  {
    return error.l2_norm() / (absolute + relative * u.l2_norm());
  }



  namespace internal
  {
    /// Throws if a method has no embedded one.
    void
    check_embedded(const RungeKuttaTableau &tableau);

    /// Sets @p error to the result of the method minus that of the embedded
    /// one, from the derivatives @p k of the stages.
    template <typename VectorType>
    void
    embedded_error(const RungeKuttaTableau       &tableau,
                   const double                   dt,
                   const std::vector<VectorType> &k,
                   VectorType                    &error)
    {
      error = k[0];
      error.equ(dt * (tableau.b[0] - tableau.b_embedded[0]), k[0]);
      for (unsigned int i = 1; i < k.size(); ++i)
        error.add(dt * (tableau.b[i] - tableau.b_embedded[i]), k[i]);
    }
  } // namespace internal
} // namespace Tessella

#endif
