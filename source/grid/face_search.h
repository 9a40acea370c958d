// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_grid_face_search_h
#define tessella_source_grid_face_search_h

#include <deal.II/base/exceptions.h>

#include <deal.II/grid/tria.h>
#include <deal.II/grid/tria_accessor.h>
#include <deal.II/grid/tria_iterator.h>

// Cells and faces of a triangulation that share a face at a hanging node.

namespace Tessella
{
  namespace internal
  {
    /// Whether face or one of its descendants has the given index.
    template <typename FaceIterator>
    bool
    contains_face(const FaceIterator &face, const unsigned int index)
    {
      if (static_cast<unsigned int>(face->index()) == index)
        return true;
      if (face->has_children())
        for (unsigned int c = 0; c < face->n_children(); ++c)
          if (contains_face(face->child(c), index))
            return true;
      return false;
    }



    /// Active descendant of a cell that has the face with the given index as
    /// one of its own faces.
    template <int dim>
    typename dealii::Triangulation<dim>::cell_iterator
    active_cell_at_face(typename dealii::Triangulation<dim>::cell_iterator cell,
                        const unsigned int index)
    {
      while (!cell->is_active())
        {
          bool descended = false;
          for (unsigned int child = 0; child < cell->n_children() && !descended;
               ++child)
            for (const unsigned int g : cell->child(child)->face_indices())
              if (cell->child(child)->face_index(g) == index)
                {
                  cell      = cell->child(child);
                  descended = true;
                  break;
                }
          AssertThrow(descended, dealii::ExcInternalError());
        }
      return cell;
    }



    /// Whether face index is a face of a cell, and not only a part of one. On
    /// structured meshes, it is the face that is tried first.
    template <typename CellIterator>
    bool
    has_face(const CellIterator &cell,
             const unsigned int  n_faces,
             const unsigned int  index,
             const unsigned int  likely_face)
    {
      if (likely_face < n_faces &&
          static_cast<unsigned int>(cell->face_index(likely_face)) == index)
        return true;
      for (unsigned int g = 0; g < n_faces; ++g)
        if (cell->face_index(g) == index)
          return true;
      return false;
    }
  } // namespace internal
} // namespace Tessella

#endif
