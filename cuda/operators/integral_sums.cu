// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "../device/memory.h"
#include "integral_sums.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        constexpr unsigned int n_threads = 128;

        __global__ void
        __launch_bounds__(n_threads)
          sum_ranges_kernel(const std::size_t  n_sums,
                            const unsigned int m,
                            const std::uint64_t *__restrict__ begin,
                            const std::uint64_t distance,
                            const double *__restrict__ from,
                            double *__restrict__ to)
        {
          const std::size_t j =
            std::size_t(blockIdx.x) * n_threads + threadIdx.x;
          if (j >= n_sums)
            return;
          const std::size_t   i   = j / m;
          const std::uint64_t row = (j - i * m) * distance;
          double              sum = 0.;
          for (std::uint64_t q = begin[i]; q < begin[i + 1]; ++q)
            sum += from[row + q];
          to[j] = sum;
        }

        __global__ void
        __launch_bounds__(n_threads)
          gather_rows_kernel(const std::size_t  n_entries,
                             const unsigned int m,
                             const std::uint64_t *__restrict__ begin,
                             const double *__restrict__ from,
                             double *__restrict__ to)
        {
          const std::size_t j =
            std::size_t(blockIdx.x) * n_threads + threadIdx.x;
          if (j < n_entries)
            to[j] = from[begin[j / m] + j % m];
        }

        unsigned int
        n_blocks(const std::size_t n)
        {
          return static_cast<unsigned int>((n + n_threads - 1) / n_threads);
        }
      } // namespace



      void
      sum_ranges(const std::size_t    n,
                 const unsigned int   m,
                 const std::uint64_t *begin,
                 const std::uint64_t  distance,
                 const double        *from,
                 double              *to)
      {
        if (n == 0)
          return;
        sum_ranges_kernel<<<n_blocks(n * m), n_threads, 0, current_stream()>>>(
          n * m, m, begin, distance, from, to);
        check(cudaGetLastError(), "the sums of integrals");
      }



      void
      gather_rows(const std::size_t    n,
                  const unsigned int   m,
                  const std::uint64_t *begin,
                  const double        *from,
                  double              *to)
      {
        if (n == 0)
          return;
        gather_rows_kernel<<<n_blocks(n * m), n_threads, 0, current_stream()>>>(
          n * m, m, begin, from, to);
        check(cudaGetLastError(), "the sums of integrals");
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella
