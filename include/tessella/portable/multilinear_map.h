// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_portable_multilinear_map_h
#define tessella_portable_multilinear_map_h

#include <tessella/portable/host_device.h>

namespace Tessella
{
  namespace Geometry
  {
    /**
     * Multilinear map of the unit hypercube in m variables, for many points
     * (for one, see multilinear_map()): x = sum over the subsets S of the
     * variables of coefficient[S] prod_{d in S} xi_d, m = 2 or 3. Vertices are
     * transformed to coefficients by differences, one variable after the other.
     * Coefficients of the products vanish exactly for parallelograms and
     * parallelepipeds whose vertices have no rounding errors, so that their
     * normals are exact.
     */
    template <int m, int dim>
    struct MultilinearMap
    {
      TESSELLA_HOST_DEVICE explicit MultilinearMap(const double *vertices)
      {
        constexpr int n = 1 << m;
        for (int v = 0; v < n; ++v)
          for (int c = 0; c < dim; ++c)
            coefficient[v][c] = vertices[v * dim + c];
        for (int d = 0; d < m; ++d)
          for (int v = 0; v < n; ++v)
            if (v & (1 << d))
              for (int c = 0; c < dim; ++c)
                coefficient[v][c] -= coefficient[v ^ (1 << d)][c];
      }

      /// Point and Jacobian at @p xi.
      TESSELLA_HOST_DEVICE void
      evaluate(const double *xi, double *x, double (&J)[m][dim]) const
      {
        for (int c = 0; c < dim; ++c)
          if constexpr (m == 2)
            {
              x[c] = coefficient[0][c] + coefficient[1][c] * xi[0] +
                     (coefficient[2][c] + coefficient[3][c] * xi[0]) * xi[1];
              J[0][c] = coefficient[1][c] + coefficient[3][c] * xi[1];
              J[1][c] = coefficient[2][c] + coefficient[3][c] * xi[0];
            }
          else
            {
              // lower and upper face of the third variable
              const double a =
                coefficient[0][c] + coefficient[1][c] * xi[0] +
                (coefficient[2][c] + coefficient[3][c] * xi[0]) * xi[1];
              const double b =
                coefficient[4][c] + coefficient[5][c] * xi[0] +
                (coefficient[6][c] + coefficient[7][c] * xi[0]) * xi[1];
              x[c]    = a + b * xi[2];
              J[0][c] = coefficient[1][c] + coefficient[3][c] * xi[1] +
                        (coefficient[5][c] + coefficient[7][c] * xi[1]) * xi[2];
              J[1][c] = coefficient[2][c] + coefficient[3][c] * xi[0] +
                        (coefficient[6][c] + coefficient[7][c] * xi[0]) * xi[2];
              J[2][c] = b;
            }
      }

      double coefficient[1 << m][dim];
    };
  } // namespace Geometry
} // namespace Tessella

#endif
