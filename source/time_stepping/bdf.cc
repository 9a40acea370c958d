// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/exceptions.h>

#include <tessella/time_stepping/bdf.h>

#include <string>

namespace Tessella
{
  using namespace dealii;

  BDFCoefficients
  bdf_coefficients(const unsigned int order, const std::vector<double> &steps)
  {
    AssertThrow(order >= 1 && order <= 4,
                ExcMessage("There is no BDF method of order " +
                           std::to_string(order) +
                           ": choose an order from 1 to 4."));
    AssertThrow(steps.size() >= order,
                ExcMessage("The BDF method of order " + std::to_string(order) +
                           " needs the lengths of " + std::to_string(order) +
                           " steps, but got " + std::to_string(steps.size()) +
                           "."));
    std::vector<double> d;
    for (unsigned int i = 0; i < order; ++i)
      {
        check_step(steps[i]);
        d.push_back((i > 0 ? d[i - 1] : 0.) + steps[i]);
      }
    BDFCoefficients c;
    c.gamma = 0.;
    for (unsigned int i = 0; i < order; ++i)
      {
        double beta = 1.;
        for (unsigned int j = 0; j < order; ++j)
          if (j != i)
            {
              // The sum of the steps in between is exact to rounding, unlike
              // the difference of two distances.
              double between = 0.;
              for (unsigned int l = std::min(i, j) + 1; l <= std::max(i, j);
                   ++l)
                between += steps[l];
              beta *= d[j] / (j > i ? between : -between);
            }
        c.beta.push_back(beta);
        c.alpha.push_back(beta * (steps[0] / d[i]));
        c.gamma += steps[0] / d[i];
      }
    return c;
  }
} // namespace Tessella
