// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_backends_facet_points_h
#define tessella_source_backends_facet_points_h

#include <tessella/grid/polytopic_mesh.h>

#include <vector>

#include "host_kernels.h"
#include "host_points.h"

namespace Tessella
{
  namespace internal
  {
    /**
     * Quadrature points on facets of one polytope, which is the "own" side.
     * Points are grouped by interface, and each group is padded to whole
     * vectors with points of weight zero. The buffer has a fixed capacity and
     * is for one thread.
     */
    template <int dim>
    class FacetPointBuffer
    {
    public:
      /// Consecutive points on the same interface.
      struct Segment
      {
        unsigned int neighbor;
        unsigned int boundary_id;
        unsigned int begin, end;
      };

      FacetPointBuffer(const PolytopicMesh<dim>        &mesh,
                       const HostRules<dim>            &rules,
                       const HostKernels::Kernels<dim> &kernels);

      /// Starts a group of points. @p neighbor: invalid_index at the boundary.
      void
      open_segment(const unsigned int neighbor, const unsigned int boundary_id);

      /// Pads the last segment.
      void
      close_segment();

      /// Removes the last segment if it is closed and has no points.
      void
      drop_empty_segment();

      /**
       * Appends the points of a facet to the last segment, for a tabulated
       * facet from @p point on, which advances. Returns false if the buffer was
       * full before the end of the facet. @p side is the own side, @p degree
       * the larger degree of both sides, @p shift leads from side 0 to side 1.
       */
      bool
      append(const unsigned int facet,
             const unsigned int side,
             const unsigned int degree,
             const double      *shift,
             const double       facet_sigma,
             unsigned int      &point);

      void
      clear();

      const unsigned int capacity;
      /// Length of arrays over all points, with room for the last padding.
      const unsigned int array_size;
      /// Whether an interface of the mesh has a shift.
      const bool   periodic;
      unsigned int n_points = 0;
      /// Coordinates, those on the other side of a periodic boundary (not set
      /// unless periodic), normals from the own side to the other one, weights
      /// and sigma.
      double                   *x[dim], *neighbor_x[dim], *normal[dim];
      double                   *w, *sigma;
      std::vector<unsigned int> subcells, materials, neighbor_subcells,
        neighbor_materials;
      std::vector<Segment> segments;

    private:
      /// Appends the points of a tabulated facet and returns their number.
      unsigned int
      append_tabulated(const unsigned int facet,
                       unsigned int      &point,
                       bool              &finished);

      /// Appends the points of a rule on a facet.
      void
      append_rule(const unsigned int facet, const HostKernels::Rule &rule);

      /// Changes n new points from the view of side 0 to that of @p side.
      void
      set_side(const unsigned int side,
               const unsigned int n,
               const double      *shift);

      void
      set_subcells(const unsigned int facet,
                   const unsigned int side,
                   const unsigned int n);

      const PolytopicMesh<dim>        &mesh;
      const HostRules<dim>            &rules;
      const HostKernels::Kernels<dim> &kernels;
      std::vector<double>              memory;
    };
  } // namespace internal
} // namespace Tessella

#endif
