// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_simplex_basis_h
#define tessella_forms_simplex_basis_h

#include <tessella/portable/legendre.h>

#include <cstddef>

// Basis functions on the bounding boxes of affine simplices, at the nodes of
// Lagrange polynomials, in kernels of a device.

#ifdef __CUDACC__

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Number of a basis function with exponents k0, k1 (, k2).
      template <int dim>
      __device__ __forceinline__ constexpr int
      function_index(const int k0, const int k1, const int k2)
      {
        const int r = k1 + k2, s = k0 + r;
        return dim == 2 ? s * (s + 1) / 2 + k1
                        : s * (s + 1) * (s + 2) / 6 + r * (r + 1) / 2 + k2;
      }

      /// The map from barycentric coordinates to the bounding box, and Legendre
      /// polynomials at the image of a node; without the factors sqrt(2k + 1).
      template <int dim, int degree>
      struct BoxPolynomials
      {
        double origin[dim], edge[dim][dim], factor;

        __device__ __forceinline__
        BoxPolynomials(const double      *corners,
                       const std::size_t  n,
                       const unsigned int k)
        {
          const double *const corner = corners + k;
#  pragma unroll
          for (int d = 0; d < dim; ++d)
            {
              origin[d] = corner[d * n];
#  pragma unroll
              for (int a = 0; a < dim; ++a)
                edge[a][d] = corner[((a + 1) * dim + d) * n] - origin[d];
            }
          factor = corner[(dim + 1) * dim * n];
        }

        __device__ __forceinline__ void
        evaluate(const double *node, double (&values)[dim][degree + 1]) const
        {
#  pragma unroll
          for (int d = 0; d < dim; ++d)
            {
              double x = origin[d];
#  pragma unroll
              for (int a = 0; a < dim; ++a)
                x += node[a] * edge[a][d];
              values[d][0] = 1.;
              if constexpr (degree > 0)
                values[d][1] = x;
#  pragma unroll
              for (int m = 1; m < degree; ++m)
                values[d][m + 1] =
                  ((2. * m + 1.) / (m + 1.)) * x * values[d][m] -
                  (m / (m + 1.)) * values[d][m - 1];
            }
        }

        __device__ __forceinline__ double
        scale(const int k0, const int k1, const int k2) const
        {
          return factor * (Legendre::internal::scale(k0) *
                           Legendre::internal::scale(k1) *
                           Legendre::internal::scale(k2));
        }

        /// Replaces rows of Lagrange polynomials by those of basis functions:
        /// @p rows has a value for each of the n nodes, whose barycentric
        /// coordinates 1 .. dim are in @p nodes.
        template <typename Value, typename Store>
        __device__ __forceinline__ void
        change_rows(const double *nodes,
                    const Value  &value_at,
                    const Store  &store) const
        {
          constexpr int p = degree,
                        n = static_cast<int>(
                          Legendre::n_functions(dim, degree, false));
          double sum[n];
#  pragma unroll
          for (int i = 0; i < n; ++i)
            sum[i] = 0;
#  pragma unroll 1
          for (int i = 0; i < n; ++i)
            {
              double L[dim][p + 1];
              evaluate(nodes + i * dim, L);
              const double value = value_at(i);
#  pragma unroll
              for (int k2 = 0; k2 <= (dim == 3 ? p : 0); ++k2)
                {
                  const double plane =
                    dim == 3 ? value * L[dim - 1][k2] : value;
#  pragma unroll
                  for (int k1 = 0; k1 <= p - k2; ++k1)
                    {
                      const double line = plane * L[1][k1];
#  pragma unroll
                      for (int k0 = 0; k0 <= p - k1 - k2; ++k0)
                        sum[function_index<dim>(k0, k1, k2)] += line * L[0][k0];
                    }
                }
            }
#  pragma unroll
          for (int k2 = 0; k2 <= (dim == 3 ? p : 0); ++k2)
#  pragma unroll
            for (int k1 = 0; k1 <= p - k2; ++k1)
#  pragma unroll
              for (int k0 = 0; k0 <= p - k1 - k2; ++k0)
                {
                  const int i = function_index<dim>(k0, k1, k2);
                  store(i, sum[i] * scale(k0, k1, k2));
                }
        }
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif

#endif
