// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_space_time_space_time_errors_h
#define tessella_space_time_space_time_errors_h

#include <deal.II/base/function.h>

#include <tessella/space_time/space_time_slab.h>

#include <array>
#include <cmath>

namespace Tessella
{
  /**
   * Norms of the error of a space-time solution, summed over slabs:
   *
   *     SpaceTimeErrors<dim> errors;
   *     // after every slab
   *     errors.add(slab, solution, exact);
   *
   * Integrals in time are sums of Gauss rules of p + 2 points between all ends
   * of intervals of the slab; integrals in space are those of
   * VectorTools::integrate_difference(). The L-infinity norm is the largest
   * value at these points and on both sides of the ends. Cost per slab: 2 p + 6
   * calls of integrate_difference() per interval. add() is collective; norms
   * are the same on all processes.
   */
  template <int dim>
  class SpaceTimeErrors
  {
  public:
    /// Adds the errors on a slab. @p exact is scalar; its set_time() is called.
    void
    add(const SpaceTimeSlab<dim> &slab,
        const ConstVectorView    &solution,
        dealii::Function<dim>    &exact);

    /// L2 norm in time and space.
    double
    L2_L2() const
    {
      return std::sqrt(sum_L2);
    }
    /// L2 norm in time of the broken H1 seminorm in space.
    double
    L2_H1() const
    {
      return std::sqrt(sum_H1);
    }
    /// Largest L2 norm over all times that are evaluated.
    double
    Linf_L2() const
    {
      return largest;
    }
    /// L2 norm at the end of the last slab, as limit from below.
    double
    final_L2() const
    {
      return last;
    }

    /// Sums over the slabs, from which the norms are computed. A program that
    /// continues from a file passes the sums of the earlier slabs to restore(),
    /// so that the norms are those of all slabs.
    using Sums = std::array<double, 4>;
    Sums
    sums() const
    {
      return {{sum_L2, sum_H1, largest, last}};
    }
    void
    restore(const Sums &sums)
    {
      sum_L2  = sums[0];
      sum_H1  = sums[1];
      largest = sums[2];
      last    = sums[3];
    }

  private:
    double sum_L2 = 0., sum_H1 = 0., largest = 0., last = 0.;
  };
} // namespace Tessella

#endif
