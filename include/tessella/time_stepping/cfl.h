// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_time_stepping_cfl_h
#define tessella_time_stepping_cfl_h

#include <tessella/grid/agglomeration_handler.h>
#include <tessella/grid/penalty.h>

#include <vector>

namespace Tessella
{
  /// Length of a polytope by which steps are measured.
  enum class CFLLength
  {
    /// 2 |k| / ((2 p + 1) |dk|): with it a step CFL length / speed is CFL |k| /
    /// ((2 p + 1) int_dk speed / 2).
    surface,
    /// The reciprocal of the largest geometric penalty factor of the facets of
    /// the polytope, of the order of h / p^2; see compute_penalty_factors().
    penalty
  };

  /**
   * Steps in time by a CFL number: dt_k = CFL length_k / speed_k on polytope k,
   * where the speed is the largest one of waves, for instance from a functor of
   * PolytopewiseOperator, with viscous terms if there are any.
   *
   *     const CFLSteps<dim> steps(agglomeration);
   *     const double dt = steps.smallest(0.5, speeds);
   *
   * The local steps serve iterations in pseudo-time. The lengths are computed
   * once; the handler must outlive the object.
   *
   * <b>Errors</b>, on all processes: a CFL number that is not positive, a speed
   * that is negative or not finite (with the polytope), another number of
   * speeds than there are owned polytopes.
   */
  template <int dim>
  class CFLSteps
  {
  public:
    explicit CFLSteps(const AgglomerationHandler<dim> &handler,
                      const CFLLength      length  = CFLLength::surface,
                      const PenaltyFormula formula = PenaltyFormula::simplex);

    /// Lengths of the polytopes that this process owns.
    const std::vector<double> &
    lengths() const
    {
      return length;
    }

    /// Step of each owned polytope; infinite where the speed is zero.
    /// Collective, as the next function.
    std::vector<double>
    local(const double cfl_number, const std::vector<double> &speeds) const;

    /// The smallest step of all polytopes of all processes; infinite if all
    /// speeds are zero.
    double
    smallest(const double cfl_number, const std::vector<double> &speeds) const;

  private:
    const AgglomerationHandler<dim> &handler;
    std::vector<double>              length;
  };
} // namespace Tessella

#endif
