// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_time_stepping_bdf_h
#define tessella_time_stepping_bdf_h

#include <tessella/time_stepping/sdirk.h>
#include <tessella/time_stepping/time_history.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace Tessella
{
  /**
   * Coefficients of the BDF method of order k with variable steps, and of the
   * extrapolation from the same k values:
   *   dt u'(t^{n+1}) = gamma u^{n+1} - sum_{i < k} alpha_i u^{n-i},
   *   u(t^{n+1})     = sum_{i < k} beta_i u^{n-i},
   * the first exact for polynomials of degree k, the second of degree k - 1.
   * With constant steps and k = 2, gamma = 3/2, alpha = (2, -1/2) and beta =
   * (2, -1).
   */
  struct BDFCoefficients
  {
    double              gamma = 1.;
    std::vector<double> alpha, beta;
  };

  /**
   * Computes the coefficients for order 1 to 4 from the lengths of the last
   * steps, the step to t^{n+1} first. With the distances d_i = t^{n+1} -
   * t^{n-i}, they are the derivative and the value at t^{n+1} of the
   * polynomials of Lagrange, beta_i  = prod_{j != i} d_j / (d_j - d_i), alpha_i
   * = beta_i dt / d_i,   gamma = sum_i dt / d_i. Errors: another order, fewer
   * steps than the order, a step that is not positive.
   *
   * The method of order 2 is stable for ratios of successive steps below 1 +
   * sqrt(2); those of higher orders need smaller ratios.
   */
  BDFCoefficients
  bdf_coefficients(const unsigned int order, const std::vector<double> &steps);



  /**
   * BDF methods of order 1 to 4 with variable steps for M u' = R(t, u).
   *
   *     BDF<VectorType> method(2);
   *     method.step(solve, t, dt, u);
   *
   * The solver is that of SDIRK, with tau = dt / gamma and known = sum alpha_i
   * u^{n-i} / gamma; its guess is the extrapolated solution.
   *
   * <b>Start.</b> The history is empty at first. Methods of orders 1 and 2
   * start with BDF methods of lower order, which keeps the order. A first step
   * of order 1 would reduce the orders 3 and 4 to 2, so that these take their
   * first order - 1 steps with the SDIRK method of their order.
   *
   * <b>Restart.</b> history() is all that the method remembers: with the same
   * history and solution it continues with the same bits.
   *
   * <b>Errors</b>: an order that does not exist, a step that is not positive,
   * a solution that has not the size of the history. An exception of the solver
   * leaves solution and history unchanged.
   */
  template <typename VectorType>
  class BDF
  {
  public:
    explicit BDF(const unsigned int order)
      : max_order(order)
      // The new step is not in the history.
      , past(order > 1 ? order - 1 : 1)
    {
      // Throws for orders that do not exist.
      bdf_coefficients(order, std::vector<double>(std::max(order, 1U), 1.));
      if (order > 2)
        start = std::make_unique<SDIRK<VectorType>>(order);
    }

    unsigned int
    order() const
    {
      return max_order;
    }
    /// States before the present one, u^{n-1}, u^{n-2}, .., and the steps
    /// between them.
    const TimeHistory<VectorType> &
    history() const
    {
      return past;
    }
    /// The same, to be filled from a checkpoint.
    TimeHistory<VectorType> &
    history()
    {
      return past;
    }

    /// Replaces @p u, the solution at @p t, by that at t + dt.
    void
    step(const StageSolver<VectorType> &solve,
         const double                   t,
         const double                   dt,
         VectorType                    &u)
    {
      check_step(dt);
      const unsigned int k = std::min(max_order, past.size() + 1);
      work.assign(2, u);
      VectorType &known = work[0], &next = work[1];
      if (start != nullptr && k < max_order)
        start->step(solve, t, dt, next);
      else
        {
          std::vector<double> steps(1, dt);
          for (unsigned int i = 0; i + 1 < k; ++i)
            steps.push_back(past.step(i));
          const BDFCoefficients c = bdf_coefficients(k, steps);
          known.equ(c.alpha[0] / c.gamma, u);
          next.equ(c.beta[0], u);
          for (unsigned int i = 1; i < k; ++i)
            {
              known.add(c.alpha[i] / c.gamma, past.value(i - 1));
              next.add(c.beta[i], past.value(i - 1));
            }
          solve(t + dt, dt / c.gamma, known, next);
        }
      if (max_order > 1)
        past.push(dt, u);
      u = next;
    }

  private:
    unsigned int                       max_order;
    TimeHistory<VectorType>            past;
    std::unique_ptr<SDIRK<VectorType>> start;
    std::vector<VectorType>            work;
  };
} // namespace Tessella

#endif
