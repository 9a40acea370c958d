// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_time_stepping_explicit_runge_kutta_h
#define tessella_time_stepping_explicit_runge_kutta_h

#include <tessella/time_stepping/runge_kutta_tableau.h>
#include <tessella/time_stepping/step_control.h>

#include <functional>
#include <vector>

namespace Tessella
{
  /**
   * Function that sets @p result to f(t, u) of u' = f(t, u); for M u' = R(t, u)
   * it is M^{-1} R(t, u). Vectors have the size of u.
   */
  template <typename VectorType>
  using TimeDerivative = std::function<
    void(const double t, const VectorType &u, VectorType &result)>;

  /**
   * Explicit Runge-Kutta methods.
   *
   *     ExplicitRungeKutta<VectorType> method(ExplicitMethod::ssp_3);
   *     method.step(derivative, t, dt, u);
   *
   * <b>Vectors.</b> A VectorType has a copy constructor, a copy assignment, and
   * add(a, v), sadd(s, a, v), equ(a, v), as those of deal.II, HostVector and
   * DeviceVector do. A program's own type that combines a vector with integrals
   * over time, which the same method then advances, needs no more.
   *
   * <b>Cost</b> of a step of s stages: s calls of the derivative, s (s + 1) / 2
   * sums of vectors at most, memory of s + 1 vectors, which is kept between
   * steps. After a change of the size of u, clear() must be called.
   *
   * <b>Errors</b>: a step that is not positive or not finite. An exception of
   * the derivative leaves u unchanged.
   */
  template <typename VectorType>
  class ExplicitRungeKutta
  {
  public:
    explicit ExplicitRungeKutta(const ExplicitMethod method)
      : coefficients(explicit_tableau(method))
    {}

    const RungeKuttaTableau &
    tableau() const
    {
      return coefficients;
    }

    /// Replaces @p u, the solution at @p t, by that at t + dt.
    void
    step(const TimeDerivative<VectorType> &derivative,
         const double                      t,
         const double                      dt,
         VectorType                       &u)
    {
      evaluate(derivative, t, dt, u);
      add_stages(coefficients.b, dt, u);
    }

    /// The same. Sets @p error to the difference to the embedded method, the
    /// estimate of the error of this step; without such a method this is an
    /// error.
    void
    step(const TimeDerivative<VectorType> &derivative,
         const double                      t,
         const double                      dt,
         VectorType                       &u,
         VectorType                       &error)
    {
      internal::check_embedded(coefficients);
      evaluate(derivative, t, dt, u);
      add_stages(coefficients.b, dt, u);
      internal::embedded_error(coefficients, dt, k, error);
    }

    /// Releases the vectors.
    void
    clear()
    {
      k.clear();
      state.clear();
    }

  private:
    void
    evaluate(const TimeDerivative<VectorType> &derivative,
             const double                      t,
             const double                      dt,
             const VectorType                 &u)
    {
      check_step(dt);
      const unsigned int s = coefficients.n_stages();
      if (k.empty())
        {
          k.assign(s, u);
          state.assign(1, u);
        }
      for (unsigned int i = 0; i < s; ++i)
        {
          state[0] = u;
          for (unsigned int j = 0; j < i; ++j)
            if (coefficients.a[i][j] != 0.)
              state[0].add(dt * coefficients.a[i][j], k[j]);
          derivative(t + coefficients.c[i] * dt, state[0], k[i]);
        }
    }
    void
    add_stages(const std::vector<double> &weights,
               const double               dt,
               VectorType                &u) const
    {
      for (unsigned int i = 0; i < weights.size(); ++i)
        if (weights[i] != 0.)
          u.add(dt * weights[i], k[i]);
    }

    RungeKuttaTableau       coefficients;
    std::vector<VectorType> k, state;
  };



  /**
   * Low-storage Runge-Kutta methods: two vectors besides the solution for any
   * number of stages, and for each stage one call of the derivative and two
   * sums of vectors. Vectors and errors: see ExplicitRungeKutta, but an
   * exception of the derivative leaves u in between.
   */
  template <typename VectorType>
  class LowStorageRungeKutta
  {
  public:
    explicit LowStorageRungeKutta(const LowStorageMethod method)
      : coefficients(low_storage_tableau(method))
    {}

    const LowStorageTableau &
    tableau() const
    {
      return coefficients;
    }

    /// Replaces @p u, the solution at @p t, by that at t + dt.
    void
    step(const TimeDerivative<VectorType> &derivative,
         const double                      t,
         const double                      dt,
         VectorType                       &u)
    {
      check_step(dt);
      const std::vector<double> &a = coefficients.a, &b = coefficients.b,
                                &c = coefficients.c;
      if (work.empty())
        work.assign(2, u);
      VectorType &k = work[0], &r = work[1];
      r = u;
      for (unsigned int i = 0; i < b.size(); ++i)
        if (coefficients.n_registers == 2)
          {
            derivative(t + c[i] * dt, u, r);
            if (i == 0)
              k.equ(dt, r);
            else
              k.sadd(a[i], dt, r);
            u.add(b[i], k);
          }
        else
          {
            derivative(t + c[i] * dt, r, k);
            if (i < a.size())
              {
                r.equ(a[i] * dt, k);
                r.add(1., u);
              }
            u.add(b[i] * dt, k);
          }
    }

    /// Releases the vectors.
    void
    clear()
    {
      work.clear();
    }

  private:
    LowStorageTableau       coefficients;
    std::vector<VectorType> work;
  };
} // namespace Tessella

#endif
