// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <tessella/grid/polytopic_dofs.h>
#include <tessella/grid/revision.h>

#include <atomic>

namespace Tessella
{
  namespace
  {
    std::atomic<std::uint64_t> last_revision(0);
  }



  std::uint64_t
  new_revision()
  {
    return ++last_revision;
  }



  std::size_t
  PolytopicDoFs::memory_consumption() const
  {
    return sizeof(*this) + sizeof(unsigned int) * degree.capacity() +
           sizeof(unsigned int) * n_basis.capacity() +
           sizeof(std::uint64_t) * dof_offset.capacity() +
           sizeof(double) * penalty_factor.capacity();
  }
} // namespace Tessella
