// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_time_stepping_sdirk_h
#define tessella_time_stepping_sdirk_h

#include <tessella/time_stepping/runge_kutta_tableau.h>
#include <tessella/time_stepping/step_control.h>

#include <functional>
#include <vector>

namespace Tessella
{
  /**
   * Function that solves the equation of a stage, the only one that SDIRK and
   * BDF methods have,
   *   u = known + tau f(t, u),   or   M (u - known) / tau = R(t, u).
   * On entry @p u is a guess. Newton's method solves with M / tau - R'(u), see
   * NewtonSolver. Failure is an exception, on all processes.
   */
  template <typename VectorType>
  using StageSolver = std::function<void(
    const double t, const double tau, const VectorType &known, VectorType &u)>;

  /**
   * Singly diagonally implicit Runge-Kutta methods for M u' = R(t, u), L-stable
   * and of order 1 to 4; see sdirk_tableau().
   *
   *     SDIRK<VectorType> method(3);
   *     method.step(solve, t, dt, u);
   *
   * All stages have the same tau = a_ii dt, so that one matrix M / tau - R'
   * serves all stages of a linear problem. The derivatives of the stages follow
   * from the solutions, (u_i - known) / tau; the method never evaluates f.
   *
   * <b>Cost</b> of a step of s stages: s calls of the solver, s (s + 1) / 2
   * sums of vectors, memory of s + 2 vectors. Vectors: see ExplicitRungeKutta.
   *
   * <b>Errors</b>: an order that does not exist, a step that is not positive.
   * An exception of the solver leaves u unchanged, so that the step can be
   * repeated with a smaller dt.
   */
  template <typename VectorType>
  class SDIRK
  {
  public:
    explicit SDIRK(const unsigned int order)
      : coefficients(sdirk_tableau(order))
    {}

    const RungeKuttaTableau &
    tableau() const
    {
      return coefficients;
    }

    /// Replaces @p u, the solution at @p t, by that at t + dt.
    void
    step(const StageSolver<VectorType> &solve,
         const double                   t,
         const double                   dt,
         VectorType                    &u)
    {
      check_step(dt);
      const unsigned int s   = coefficients.n_stages();
      const double       tau = coefficients.a[0][0] * dt;
      if (k.empty())
        {
          k.assign(s, u);
          work.assign(2, u);
        }
      VectorType &known = work[0], &state = work[1];
      state = u;
      for (unsigned int i = 0; i < s; ++i)
        {
          known = u;
          for (unsigned int j = 0; j < i; ++j)
            known.add(dt * coefficients.a[i][j], k[j]);
          // The solution of the preceding stage is the guess.
          solve(t + coefficients.c[i] * dt, tau, known, state);
          k[i] = state;
          k[i].sadd(1. / tau, -1. / tau, known);
        }
      // The methods are stiffly accurate: the last stage is the new solution.
      u = state;
    }

    /// The same. Sets @p error to the difference to the embedded method, the
    /// estimate of the error of this step; without such a method this is an
    /// error.
    void
    step(const StageSolver<VectorType> &solve,
         const double                   t,
         const double                   dt,
         VectorType                    &u,
         VectorType                    &error)
    {
      internal::check_embedded(coefficients);
      step(solve, t, dt, u);
      internal::embedded_error(coefficients, dt, k, error);
    }

    /// Releases the vectors.
    void
    clear()
    {
      k.clear();
      work.clear();
    }

  private:
    RungeKuttaTableau       coefficients;
    std::vector<VectorType> k, work;
  };
} // namespace Tessella

#endif
