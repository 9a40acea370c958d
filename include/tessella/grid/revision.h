// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_grid_revision_h
#define tessella_grid_revision_h

#include <cstdint>

namespace Tessella
{
  /**
   * Returns a revision number that is not in use yet, by counting up.
   * Thread-safe.
   *
   * Revision numbers stand for the contents of arrays. Derived data (structure,
   * copies on a device, penalties) can be kept while the number stays the same:
   * two different contents in a process never have the same number. The number
   * 0 means unknown, and then nothing may be kept. Code that changes arrays
   * must renew their number.
   */
  std::uint64_t
  new_revision();



  /// Revision of a mesh together with that of a space on it: the key of data
  /// that depend on both.
  struct SpaceRevision
  {
    std::uint64_t mesh = 0, dofs = 0;

    bool
    is_known() const
    {
      return mesh != 0 && dofs != 0;
    }

    bool
    operator==(const SpaceRevision &other) const
    {
      return mesh == other.mesh && dofs == other.dofs;
    }

    bool
    operator!=(const SpaceRevision &other) const
    {
      return !(*this == other);
    }
  };
} // namespace Tessella

#endif
