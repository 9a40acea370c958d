// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_operators_integral_sums_h
#define tessella_cuda_operators_integral_sums_h

#include <cstddef>
#include <cstdint>

// Last steps of the integrals of pointwise operators, for device memory. The
// kernels run in the present stream (graph.h).

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Sets entry i m + c of @p to, for c < @p m, to the sum of @p from over
      /// entries c @p distance + q, where q goes from @p begin [i] to @p begin
      /// [i + 1] - 1 in ascending order, for i < @p n.
      void
      sum_ranges(const std::size_t    n,
                 const unsigned int   m,
                 const std::uint64_t *begin,
                 const std::uint64_t  distance,
                 const double        *from,
                 double              *to);

      /// Sets entry i m + c of @p to, for c < @p m, to entry @p begin [i] + c
      /// of @p from, for i < @p n.
      void
      gather_rows(const std::size_t    n,
                  const unsigned int   m,
                  const std::uint64_t *begin,
                  const double        *from,
                  double              *to);
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
