// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_hdg_tensor_h
#define tessella_source_hdg_tensor_h

#include <tessella/portable/host_device.h>

#include <math.h>

namespace Tessella
{
  namespace internal
  {
    /// Inverse of a symmetric positive definite matrix of 2 or 3 rows. Returns
    /// false if the matrix is not symmetric or not positive definite.
    template <int dim>
    TESSELLA_HOST_DEVICE inline bool
    invert_tensor(const double (&a)[dim][dim], double (&inverse)[dim][dim])
    {
      for (unsigned int d = 0; d < dim; ++d)
        for (unsigned int e = 0; e < d; ++e)
          if (!(fabs(a[d][e] - a[e][d]) <=
                1e-12 * (fabs(a[d][d]) + fabs(a[e][e]))))
            return false;
      const double minor = a[0][0] * a[1][1] - a[0][1] * a[1][0];
      if (!(a[0][0] > 0. && minor > 0.))
        return false;
      if constexpr (dim == 2)
        {
          inverse[0][0] = a[1][1] / minor;
          inverse[1][1] = a[0][0] / minor;
          inverse[0][1] = inverse[1][0] = -a[0][1] / minor;
        }
      else
        {
          const auto cofactor = [&a](const unsigned int i,
                                     const unsigned int j) {
            const unsigned int p = (i + 1) % 3, q = (i + 2) % 3;
            const unsigned int r = (j + 1) % 3, s = (j + 2) % 3;
            return a[p][r] * a[q][s] - a[p][s] * a[q][r];
          };
          const double determinant = a[0][0] * cofactor(0, 0) +
                                     a[0][1] * cofactor(0, 1) +
                                     a[0][2] * cofactor(0, 2);
          if (!(determinant > 0.))
            return false;
          for (unsigned int i = 0; i < 3; ++i)
            for (unsigned int j = 0; j <= i; ++j)
              inverse[i][j] = inverse[j][i] = cofactor(i, j) / determinant;
        }
      return true;
    }
  } // namespace internal
} // namespace Tessella

#endif
