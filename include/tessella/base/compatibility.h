// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_base_compatibility_h
#define tessella_base_compatibility_h

#include <deal.II/base/config.h>

#include <deal.II/base/mpi.h>

/**
 * The only file with version checks: what changed between deal.II 9.4 and
 * today, under one name.
 */
namespace Tessella
{
  namespace Compatibility
  {
    /// MPI communicator of a triangulation or a DoF handler.
    template <typename MeshType>
    inline MPI_Comm
    get_communicator(const MeshType &mesh)
    {
#if DEAL_II_VERSION_GTE(9, 7, 0)
      return mesh.get_mpi_communicator();
#else
      return mesh.get_communicator();
#endif
    }
  } // namespace Compatibility
} // namespace Tessella

// ---- names that moved: Tessella::Subscriptor and Tessella::SmartPointer
#if DEAL_II_VERSION_GTE(9, 7, 0)
#  include <deal.II/base/enable_observer_pointer.h>
#  include <deal.II/base/observer_pointer.h>
namespace Tessella
{
  using Subscriptor = dealii::EnableObserverPointer;
  template <typename T, typename P = void>
  using SmartPointer = dealii::ObserverPointer<T, P>;
} // namespace Tessella
#else
#  include <deal.II/base/smartpointer.h>
#  include <deal.II/base/subscriptor.h>
namespace Tessella
{
  using Subscriptor = dealii::Subscriptor;
  template <typename T, typename P = void>
  using SmartPointer = dealii::SmartPointer<T, P>;
} // namespace Tessella
#endif

#endif
