// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_time_stepping_newton_solver_h
#define tessella_time_stepping_newton_solver_h

#include <deal.II/base/exceptions.h>

#include <tessella/base/error_message.h>

#include <cmath>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

namespace Tessella
{
  /// Exception: Newton's method has not reached its tolerance.
  DeclException1(ExcNewtonFailed, std::string, << arg1);

  /**
   * Newton's method for g(u) = 0 with a line search by halving: a step lambda
   * du, lambda = 1, 1/2, 1/4, .., is taken if it reduces the norm of g by at
   * least the part lambda / 10^4 (R. S. Dembo, S. C. Eisenstat, T. Steihaug,
   * SIAM J. Numer. Anal. 19, 1982, 400-408).
   *
   * The program provides g and the solution of the linear systems, by the exact
   * derivative or by an approximation. An exception of g means that the state
   * is not admissible, and shortens the step; one for the initial state, or of
   * the linear solver, ends the iteration.
   *
   * Vectors: those of ExplicitRungeKutta with l2_norm(). For the same bits on
   * any number of processes, take HostVector or DeviceVector. Functions must
   * throw on all processes or on none.
   */
  template <typename VectorType>
  class NewtonSolver
  {
  public:
    struct AdditionalData
    {
      /// The iteration ends when the norm of g is at most the larger one of
      /// relative_tolerance times that of the initial state and
      /// absolute_tolerance.
      double       relative_tolerance = 1e-8, absolute_tolerance = 0.;
      unsigned int max_iterations = 20, max_halvings = 8;
    };

    using Residual =
      std::function<void(const VectorType &u, VectorType &result)>;
    /// Solves g'(u) du = g, approximately. @p du is zero on entry.
    using LinearSolve = std::function<
      void(const VectorType &u, const VectorType &g, VectorType &du)>;

    explicit NewtonSolver(const AdditionalData &data)
      : data(data)
    {
      AssertThrow(data.relative_tolerance >= 0. &&
                    data.relative_tolerance < 1. &&
                    data.absolute_tolerance >= 0. &&
                    data.relative_tolerance + data.absolute_tolerance > 0.,
                  dealii::ExcMessage(
                    "Newton's method needs a tolerance that is positive, and "
                    "if it is relative, less than one."));
    }
    NewtonSolver()
      : NewtonSolver(AdditionalData())
    {}

    /// Improves @p u until the tolerance is reached, or throws ExcNewtonFailed
    /// and leaves it as it was.
    void
    solve(const Residual &residual, const LinearSolve &linear, VectorType &u)
    {
      std::vector<VectorType> work(4, u);
      VectorType             &present = work[0], &trial = work[1], &g = work[2],
                 &du = work[3];
      residual(present, g);
      n_iterations   = 0;
      residual_norms = {g.l2_norm()};
      const double target =
        std::max(data.relative_tolerance * residual_norms[0],
                 data.absolute_tolerance);
      AssertThrow(std::isfinite(residual_norms[0]),
                  ExcNewtonFailed("The residual at the beginning of Newton's "
                                  "method is not finite."));
      while (residual_norms.back() > target)
        {
          AssertThrow(n_iterations < data.max_iterations,
                      ExcNewtonFailed(
                        "Newton's method has not converged after " +
                        std::to_string(n_iterations) + " steps" + reduction() +
                        "."));
          ++n_iterations;
          du = 0.;
          linear(present, g, du);
          search(residual, present, du, trial, g);
          present = trial;
        }
      u = present;
    }

    /// Number of steps in the last solve().
    unsigned int
    last_step() const
    {
      return n_iterations;
    }
    /// Norms of g in the last solve(), from that of the initial state.
    const std::vector<double> &
    norms() const
    {
      return residual_norms;
    }

  private:
    std::string
    reduction() const
    {
      std::ostringstream text;
      text << ": the norm of the residual has fallen from "
           << residual_norms.front() << " to " << residual_norms.back();
      return text.str();
    }

    /// Sets @p trial to the next state and @p g to its residual.
    void
    search(const Residual   &residual,
           const VectorType &present,
           const VectorType &du,
           VectorType       &trial,
           VectorType       &g)
    {
      std::string  reason;
      double       lambda = 1.;
      const double norm   = residual_norms.back();
      for (unsigned int i = 0; i <= data.max_halvings; ++i, lambda *= 0.5)
        {
          trial = present;
          trial.add(-lambda, du);
          try
            {
              residual(trial, g);
            }
          catch (const dealii::ExceptionBase &exception)
            {
              reason = " The last reason: " + error_message(exception);
              continue;
            }
          const double next = g.l2_norm();
          if (next <= (1. - 1e-4 * lambda) * norm)
            {
              residual_norms.push_back(next);
              return;
            }
          reason.clear();
        }
      AssertThrow(false,
                  ExcNewtonFailed(
                    "Newton's method found no step that makes the residual "
                    "fall, in step " +
                    std::to_string(n_iterations) + " after " +
                    std::to_string(data.max_halvings) + " halvings" +
                    reduction() + "." + reason));
    }

    AdditionalData      data;
    unsigned int        n_iterations = 0;
    std::vector<double> residual_norms;
  };
} // namespace Tessella

#endif
