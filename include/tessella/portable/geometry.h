// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_portable_geometry_h
#define tessella_portable_geometry_h

#include <tessella/portable/host_device.h>

// Maps of reference cells, determinants and normals, for host, device and code
// that is compiled at run time (no header of the standard library may stand
// here). Number is double or a SIMD vector of doubles, whose entries belong to
// different points.
//
// Jacobians are stored by reference variable: J[d][e] = dx_e / dxi_d.

namespace Tessella
{
  namespace Geometry
  {
    /// a b - c d. Device code fuses it explicitly, so that all kernels round it
    /// in the same way.
    template <typename Number>
    TESSELLA_HOST_DEVICE inline Number
    difference_of_products(const Number a,
                           const Number b,
                           const Number c,
                           const Number d)
    {
#ifdef __CUDA_ARCH__
      return fma(a, b, -(c * d));
#else
      return a * b - c * d;
#endif
    }



    template <typename Number>
    TESSELLA_HOST_DEVICE inline Number
    determinant(const Number (&J)[2][2])
    {
      return difference_of_products(J[0][0], J[1][1], J[0][1], J[1][0]);
    }



    template <typename Number>
    TESSELLA_HOST_DEVICE inline Number
    determinant(const Number (&J)[3][3])
    {
      const Number m0 =
                     difference_of_products(J[1][1], J[2][2], J[1][2], J[2][1]),
                   m1 =
                     difference_of_products(J[1][0], J[2][2], J[1][2], J[2][0]),
                   m2 =
                     difference_of_products(J[1][0], J[2][1], J[1][1], J[2][0]);
#ifdef __CUDA_ARCH__
      return fma(J[0][2], m2, difference_of_products(J[0][0], m0, J[0][1], m1));
#else
      return J[0][0] * m0 - J[0][1] * m1 + J[0][2] * m2;
#endif
    }



    /// Determinant of the columns a, b, c.
    template <typename Number>
    TESSELLA_HOST_DEVICE inline Number
    minor_of_columns(const Number (&J)[3][4],
                     const int a,
                     const int b,
                     const int c)
    {
      return J[0][a] * (J[1][b] * J[2][c] - J[1][c] * J[2][b]) -
             J[0][b] * (J[1][a] * J[2][c] - J[1][c] * J[2][a]) +
             J[0][c] * (J[1][a] * J[2][b] - J[1][b] * J[2][a]);
    }



    /// c = a x b in three dimensions.
    template <typename Number>
    TESSELLA_HOST_DEVICE inline void
    cross_product(const Number *a, const Number *b, Number *c)
    {
      c[0] = a[1] * b[2] - a[2] * b[1];
      c[1] = a[2] * b[0] - a[0] * b[2];
      c[2] = a[0] * b[1] - a[1] * b[0];
    }



    /// Vector orthogonal to the rows of J. Its length is the area of the
    /// parallelogram (the volume of the parallelepiped) that they span, and
    /// with it as first row the determinant is positive.
    template <typename Number>
    TESSELLA_HOST_DEVICE inline void
    cross_product(const Number (&J)[2][3], Number *n)
    {
      cross_product(J[0], J[1], n);
    }

    template <typename Number>
    TESSELLA_HOST_DEVICE inline void
    cross_product(const Number (&J)[3][4], Number *n)
    {
      n[0] = minor_of_columns(J, 1, 2, 3);
      n[1] = -minor_of_columns(J, 0, 2, 3);
      n[2] = minor_of_columns(J, 0, 1, 3);
      n[3] = -minor_of_columns(J, 0, 1, 2);
    }



    template <typename Number>
    TESSELLA_HOST_DEVICE inline Number
    determinant(const Number (&J)[4][4])
    {
      Number n[4], first[3][4];
      for (int d = 0; d < 3; ++d)
        for (int e = 0; e < 4; ++e)
          first[d][e] = J[d][e];
      cross_product(first, n);
      return -(n[0] * J[3][0] + n[1] * J[3][1] + n[2] * J[3][2] +
               n[3] * J[3][3]);
    }



    /**
     * Image @p x and Jacobian @p J of the multilinear map of the unit hypercube
     * in m variables. @p vertices: the 2^m vertices in deal.II's lexicographic
     * order, dim coordinates each.
     */
    template <int m, int dim, typename Number>
    TESSELLA_HOST_DEVICE inline void
    multilinear_map(const double *vertices,
                    const Number *xi,
                    Number       *x,
                    Number (&J)[m][dim])
    {
      for (int e = 0; e < dim; ++e)
        {
          x[e] = Number{};
          for (int d = 0; d < m; ++d)
            J[d][e] = Number{};
        }
#ifdef __CUDA_ARCH__
#  pragma unroll
#endif
      for (int v = 0; v < (1 << m); ++v)
        {
          Number factor[m], shape = Number{} + 1.;
          for (int d = 0; d < m; ++d)
            {
              factor[d] = ((v >> d) & 1) ? xi[d] : 1. - xi[d];
              shape *= factor[d];
            }
          for (int e = 0; e < dim; ++e)
            x[e] += shape * vertices[v * dim + e];
          for (int d = 0; d < m; ++d)
            {
              Number derivative = Number{} + (((v >> d) & 1) ? 1. : -1.);
              for (int k = 0; k < m; ++k)
                if (k != d)
                  derivative *= factor[k];
              for (int e = 0; e < dim; ++e)
                J[d][e] += derivative * vertices[v * dim + e];
            }
        }
    }
  } // namespace Geometry
} // namespace Tessella

#endif
