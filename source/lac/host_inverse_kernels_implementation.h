// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// The kernel of host_inverse_kernels.h for one instruction set. Each
// host_inverse_kernels_*.cc includes this file once and defines TESSELLA_LANES
// (doubles per vector) and TESSELLA_KERNELS (name of the function that returns
// the kernel).

#include "host_inverse_kernels.h"

namespace Tessella
{
  namespace internal
  {
    namespace HostInverseKernels
    {
      namespace
      {
        constexpr unsigned int lanes = TESSELLA_LANES;

        typedef double Vector
          __attribute__((vector_size(8 * TESSELLA_LANES), aligned(8)));

        inline Vector &
        at(double *p)
        {
          return *reinterpret_cast<Vector *>(p);
        }

        // Number of vectors of a row that the compiler knows, or 0.
        template <unsigned int known>
        bool
        invert_rows(const unsigned int n,
                    const unsigned int pitch,
                    double            *a,
                    unsigned int      *swaps)
        {
          const unsigned int width = known > 0 ? known * lanes : pitch;
          // Entries that are not numbers are left to the pivots.
          Vector sizes = Vector{};
          for (unsigned int i = 0; i < n; ++i)
            for (unsigned int j = 0; j < width; j += lanes)
              {
                const Vector v    = at(a + i * pitch + j),
                             size = v < Vector{} ? -v : v;
                sizes             = size > sizes ? size : sizes;
              }
          double largest = 0.;
          for (unsigned int l = 0; l < lanes; ++l)
            largest = sizes[l] > largest ? sizes[l] : largest;
          const double least = n * __DBL_EPSILON__ * largest;
          if (!__builtin_isfinite(largest) || largest == 0.)
            return n == 0;
          for (unsigned int k = 0; k < n; ++k)
            {
              double *const row   = a + k * pitch;
              unsigned int  pivot = k;
              double        size  = __builtin_fabs(row[k]);
              for (unsigned int i = k + 1; i < n; ++i)
                {
                  const double other = __builtin_fabs(a[i * pitch + k]);
                  pivot              = other > size ? i : pivot;
                  size               = other > size ? other : size;
                }
              swaps[k] = pivot;
              if (!(size > least))
                return false;
              if (pivot != k)
                for (unsigned int j = 0; j < width; j += lanes)
                  {
                    const Vector v            = at(row + j);
                    at(row + j)               = at(a + pivot * pitch + j);
                    at(a + pivot * pitch + j) = v;
                  }
              // Entries of column k, which are those of an inverse, are written
              // after the others of their rows: a vector that is read right
              // after a write to one of its entries would wait for it.
              const double scale = 1. / row[k];
              Vector       kept[known > 0 ? known : 1];
              for (unsigned int j = 0; j < width; j += lanes)
                {
                  const Vector v = at(row + j) * scale;
                  at(row + j)    = v;
                  if (known > 0)
                    kept[j / lanes] = v;
                }
              row[k] = scale;
              for (unsigned int i = 0; i < n; ++i)
                if (i != k)
                  {
                    double *const to     = a + i * pitch;
                    const double  factor = to[k];
                    for (unsigned int j = 0; j < width; j += lanes)
                      at(to + j) -=
                        factor * (known > 0 ? kept[j / lanes] : at(row + j));
                    to[k] = 0. - factor * scale;
                  }
            }
          for (unsigned int k = n; k-- > 0;)
            if (swaps[k] != k)
              for (unsigned int i = 0; i < n; ++i)
                {
                  const double v          = a[i * pitch + k];
                  a[i * pitch + k]        = a[i * pitch + swaps[k]];
                  a[i * pitch + swaps[k]] = v;
                }
          return true;
        }

        bool
        invert(const unsigned int n,
               const unsigned int pitch,
               double            *a,
               unsigned int      *swaps)
        {
          switch (pitch)
            {
              case 8:
                return invert_rows<8 / lanes>(n, pitch, a, swaps);
              case 16:
                return invert_rows<16 / lanes>(n, pitch, a, swaps);
              case 24:
                return invert_rows<24 / lanes>(n, pitch, a, swaps);
              default:
                return invert_rows<0>(n, pitch, a, swaps);
            }
        }
      } // namespace



      Invert
      TESSELLA_KERNELS()
      {
        return invert;
      }
    } // namespace HostInverseKernels
  }   // namespace internal
} // namespace Tessella
