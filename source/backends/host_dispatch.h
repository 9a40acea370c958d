// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_backends_host_dispatch_h
#define tessella_source_backends_host_dispatch_h

#include <deal.II/base/parallel.h>

#include <tessella/base/backend.h>

#include <algorithm>

#include "host_kernels.h"
#include "host_points.h"

namespace Tessella
{
  namespace internal
  {
    template <int dim>
    inline const HostKernels::Kernels<dim> &
    select_kernels(const InstructionSet instruction_set)
    {
      switch (instruction_set == InstructionSet::automatic
                ? best_instruction_set()
                : instruction_set)
        {
#ifdef TESSELLA_HAVE_AVX512
          case InstructionSet::avx512:
            return HostKernels::avx512<dim>();
#endif
#ifdef TESSELLA_HAVE_AVX2
          case InstructionSet::avx2:
            return HostKernels::avx2<dim>();
#endif
          default:
            return HostKernels::plain<dim>();
        }
    }

    // Number of polytopes per task: large enough to amortise the buffers, and
    // small enough for load balance.
    constexpr unsigned int grain = 64;

    template <typename Function>
    void
    for_polytopes(const unsigned int n_polytopes,
                  const Function    &function,
                  const unsigned int grain_size = grain)
    {
      if (n_polytopes > 0)
        dealii::parallel::apply_to_subranges(
          0u,
          n_polytopes,
          [&](const unsigned int begin, const unsigned int end) {
            function(begin, end);
          },
          grain_size);
    }

    /// Calls function(begin, end) for sub-ranges of [0, n) with at least
    /// @p size elements, or for the whole range if it is smaller, on all
    /// threads.
    template <typename Function>
    void
    for_ranges(const std::size_t n,
               const std::size_t size,
               const Function   &function)
    {
      if (n > 0)
        dealii::parallel::apply_to_subranges(
          std::size_t(0),
          n,
          [&](const std::size_t begin, const std::size_t end) {
            function(begin, end);
          },
          size);
    }

    // Number of points in a volume or facet buffer.
    template <int dim>
    inline unsigned int
    buffer_capacity(const HostRules<dim> &rules)
    {
      return std::max(512u, rules.max_points);
    }



  } // namespace internal
} // namespace Tessella

#endif
