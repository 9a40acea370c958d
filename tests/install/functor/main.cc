// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <iostream>

#include "heat.h"

int
main()
{
  const auto              form = make_heat(2.);
  const double            zero = 0., x = 0.5;
  const unsigned int      subcell = 0, material = 3;
  Tessella::PointBatch<3> points;
  points.n_points = 1;
  points.x[0]     = &x;
  points.x[1] = points.x[2] = &zero;
  points.subcell            = &subcell;
  points.material           = &material;
  double  a                 = 0.;
  double *entries[9]        = {&a};
  form->evaluate_diffusion(points, entries);
  std::cout << "diffusion " << a << std::endl;
}
