// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_cuda_systems_h
#define tessella_tests_cuda_systems_h

#include <tessella/grid/polytopic_mesh.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "../assembly/system.h"
#include "checks.h"

inline bool
same_bits(const System &x, const System &y)
{
  auto b = y.matrix.begin();
  for (auto a = x.matrix.begin(); a != x.matrix.end(); ++a, ++b)
    {
      const double u = a->value(), v = b->value();
      if (std::memcmp(&u, &v, sizeof(double)) != 0)
        return false;
    }
  return std::memcmp(x.rhs.begin(),
                     y.rhs.begin(),
                     x.rhs.size() * sizeof(double)) == 0;
}

/// Checks every entry to 1e-12 of the largest entry of its block row.
void
compare_systems(const std::string             &name,
                const Tessella::PolytopicDoFs &dofs,
                const System                  &host,
                const System                  &other)
{
  double       matrix_error = 0., rhs_error = 0.;
  const double rhs_scale = 1e-2 * host.rhs.linfty_norm();
  for (unsigned int k = 0; k < dofs.degree.size(); ++k)
    {
      // Entries are of order one unless all terms cancel.
      double scale = 0.1, difference = 0., vector_scale = rhs_scale,
             vector_difference = 0.;
      for (auto i = dofs.dof_offset[k]; i < dofs.dof_offset[k + 1]; ++i)
        {
          auto b = other.matrix.begin(i);
          for (auto a = host.matrix.begin(i); a != host.matrix.end(i); ++a, ++b)
            {
              const double d = std::abs(a->value() - b->value());
              scale          = std::max(scale, std::abs(a->value()));
              if (!(d <= difference))
                difference = d;
            }
          const double d = std::abs(host.rhs(i) - other.rhs(i));
          vector_scale   = std::max(vector_scale, std::abs(host.rhs(i)));
          if (!(d <= vector_difference))
            vector_difference = d;
        }
      if (!(difference <= matrix_error * scale))
        matrix_error = difference / scale;
      if (!(vector_difference <= rhs_error * vector_scale))
        rhs_error = vector_difference / vector_scale;
    }
  verify(name + " matrix",
         matrix_error <= 1e-12,
         std::to_string(matrix_error * 1e12) + " e-12");
  verify(name + " rhs",
         rhs_error <= 1e-12,
         std::to_string(rhs_error * 1e12) + " e-12");
}

#endif
