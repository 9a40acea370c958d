// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_backends_target_h
#define tessella_source_backends_target_h

#include <functional>

namespace Tessella
{
  namespace internal
  {
    /**
     * Destination of the results of assembly; pointers are null for results
     * that are not stored there. Values are in the layout of the BlockSparsity.
     * Results with a destination on the device stay there and are not copied to
     * the host.
     *
     * Pointers refer to the first value of the first polytope whose rows are
     * computed, and to its first entry of the vector.
     */
    template <typename Number>
    struct AssemblyTarget
    {
      /// Device memory, to which kernels write.
      Number *device_values = nullptr, *device_rhs = nullptr;
      /// Ordinary host memory.
      Number *host_values = nullptr, *host_rhs = nullptr;
      /// Used instead of host_values if set: receives finished block rows
      /// (first polytope, last one + 1, values). Host threads call it
      /// concurrently.
      std::function<void(unsigned int, unsigned int, const Number *)>
        store_block_rows;

      bool
      has_matrix() const
      {
        return device_values != nullptr || host_values != nullptr ||
               store_block_rows;
      }
      bool
      has_rhs() const
      {
        return device_rhs != nullptr || host_rhs != nullptr;
      }
    };
  } // namespace internal
} // namespace Tessella

#endif
