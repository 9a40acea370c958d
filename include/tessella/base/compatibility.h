// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_base_compatibility_h
#define tessella_base_compatibility_h

#include <deal.II/base/config.h>

#include <deal.II/base/mpi.h>
#include <deal.II/base/point.h>

#include <deal.II/grid/reference_cell.h>

/**
 * Differences between deal.II 9.4 and current versions, under one name each.
 * This is the only file with checks of deal.II's version.
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

// ---- matrices
// TESSELLA_HAVE_TPETRA is defined if this deal.II has
// LinearAlgebra::TpetraWrappers::SparseMatrix. Functions with such arguments do
// not exist otherwise.
#if defined(DEAL_II_TRILINOS_WITH_TPETRA) && DEAL_II_VERSION_GTE(9, 6, 0)
#  define TESSELLA_HAVE_TPETRA
#endif

// ---- elements
namespace Tessella
{
  namespace Compatibility
  {
    /// Largest degree of dealii::FE_SimplexDGP.
    constexpr unsigned int max_degree_of_simplex_dg =
      DEAL_II_VERSION_GTE(9, 5, 0) ? 3 : 2;
  } // namespace Compatibility
} // namespace Tessella

// ---- reference cells: the class has the dimension as a template argument from
// deal.II 9.8 on
namespace Tessella
{
  namespace Compatibility
  {
#if DEAL_II_VERSION_GTE(9, 8, 0)
    template <int dim>
    using ReferenceCell = dealii::ReferenceCell<dim>;
#else
    template <int dim>
    using ReferenceCell = dealii::ReferenceCell;
#endif

    /// Vertex @p v of the reference cell @p cell.
    template <int dim>
    inline dealii::Point<dim>
    vertex(const ReferenceCell<dim> &cell, const unsigned int v)
    {
#if DEAL_II_VERSION_GTE(9, 8, 0)
      return cell.vertex(v);
#else
      return cell.template vertex<dim>(v);
#endif
    }

    /// Index, within the cell, of vertex @p v of face @p f in default
    /// orientation.
    template <int dim>
    inline unsigned int
    face_to_cell_vertex(const ReferenceCell<dim> &cell,
                        const unsigned int        f,
                        const unsigned int        v)
    {
#if DEAL_II_VERSION_GTE(9, 7, 0)
      return cell.face_to_cell_vertices(
        f, v, dealii::numbers::default_geometric_orientation);
#else
      return cell.face_to_cell_vertices(f, v, 1);
#endif
    }
  } // namespace Compatibility
} // namespace Tessella

// ---- Mapping::InternalDataBase::reinit(), which is virtual from deal.II 9.6
// on
#if DEAL_II_VERSION_GTE(9, 6, 0)
#  define TESSELLA_OVERRIDE_FROM_9_6 override
#else
#  define TESSELLA_OVERRIDE_FROM_9_6
#endif

// ---- classes that deal.II 9.7 renamed: Tessella::Subscriptor and
// Tessella::SmartPointer
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
