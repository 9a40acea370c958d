// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_backends_target_h
#define tessella_source_backends_target_h

#include <functional>

namespace Tessella
{
  namespace internal
  {
    /**
     * Where the results of assembly go; null pointers for what is not wanted
     * there. Values are in the layout of the BlockSparsity. What has a place
     * on the device stays there and is not copied to the host.
     *
     * Pointers are to the first value of the first polytope whose rows are
     * computed and to its first entry of the vector.
     */
    template <typename Number>
    struct AssemblyTarget
    {
      /// In device memory; kernels write there.
      Number *device_values = nullptr, *device_rhs = nullptr;
      /// In ordinary memory of the host.
      Number *host_values = nullptr, *host_rhs = nullptr;
      /// Instead of host_values if set: receives finished block rows (first
      /// polytope, last one + 1, values). Called concurrently by the host's
      /// threads.
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
