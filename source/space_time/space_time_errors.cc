// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/lac/la_parallel_vector.h>
#include <deal.II/lac/vector.h>

#include <tessella/numerics/vector_tools.h>
#include <tessella/quadrature/reference_quadrature.h>
#include <tessella/space_time/space_time_errors.h>

#include <algorithm>
#include <vector>

namespace Tessella
{
  using namespace dealii;

  template <int dim>
  void
  SpaceTimeErrors<dim>::add(const SpaceTimeSlab<dim> &slab,
                            const ConstVectorView    &solution,
                            Function<dim>            &exact)
  {
    LinearAlgebra::distributed::Vector<double> value;
    Vector<float>                              difference;
    const auto norm = [&](const dealii::VectorTools::NormType type) {
      VectorTools::integrate_difference(
        slab.handler(), value, exact, difference, type);
      return VectorTools::compute_global_error(slab.handler(),
                                               difference,
                                               type);
    };
    const ReferenceRule      &rule = simplex_rule(1, 2 * slab.max_degree() + 2);
    const std::vector<double> times = slab.breakpoints();
    for (unsigned int i = 0; i + 1 < times.size(); ++i)
      {
        const double size = times[i + 1] - times[i];
        for (unsigned int q = 0; q < rule.n_points; ++q)
          {
            const double t = times[i] + size * rule.points[q];
            slab.trace(solution, t, value);
            exact.set_time(slab.start() + t);
            const double L2 = norm(dealii::VectorTools::L2_norm),
                         H1 = norm(dealii::VectorTools::H1_seminorm);
            sum_L2 += size * rule.weights[q] * L2 * L2;
            sum_H1 += size * rule.weights[q] * H1 * H1;
            largest = std::max(largest, L2);
          }
        exact.set_time(slab.start() + times[i]);
        slab.trace(solution, times[i], value, true);
        largest = std::max(largest, norm(dealii::VectorTools::L2_norm));
        exact.set_time(slab.start() + times[i + 1]);
        slab.trace(solution, times[i + 1], value);
        last    = norm(dealii::VectorTools::L2_norm);
        largest = std::max(largest, last);
      }
  }



  template class SpaceTimeErrors<2>;
  template class SpaceTimeErrors<3>;
} // namespace Tessella
