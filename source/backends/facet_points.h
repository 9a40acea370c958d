// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_backends_facet_points_h
#define tessella_source_backends_facet_points_h

#include <deal.II/base/aligned_vector.h>

#include <tessella/forms/form.h>
#include <tessella/grid/polytopic_dofs.h>
#include <tessella/grid/polytopic_mesh.h>

#include <vector>

#include "../../cuda/backends/assembly.h"
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
      /// Consecutive points on the same interface, padding included.
      struct Segment
      {
        /// Interface and own side, as in PolytopicMesh::polytope_interface.
        unsigned int code;
        /// Polytope on the other side, or invalid_index at the boundary.
        unsigned int neighbor;
        unsigned int boundary_id;
        unsigned int begin, end;
        /// Index of point `begin` among the points of the interface, and number
        /// of points without padding.
        unsigned int first, n_points;
      };

      FacetPointBuffer(const PolytopicMesh<dim>        &mesh,
                       const PolytopicDoFs             &dofs,
                       const HostRules<dim>            &rules,
                       const HostKernels::Kernels<dim> &kernels);

      /**
       * Appends the points of an interface, seen from the side of @p code, as a
       * segment. @p sigma has the penalty of each facet. Whenever the buffer is
       * full, @p process is called, which must end with clear(); the remaining
       * points of the interface are a segment of their own.
       */
      template <typename Process>
      void
      append_interface(const unsigned int         code,
                       const std::vector<double> &sigma,
                       const Process             &process)
      {
        const unsigned int interface = code / 2;
        const unsigned int degree =
          Device::interface_degree(mesh, dofs, interface);
        open_segment(code, 0);
        for (unsigned int f = mesh.facet_offset[interface];
             f < mesh.facet_offset[interface + 1];
             ++f)
          {
            unsigned int point = 0;
            while (!append(f, code, degree, sigma[f], point))
              {
                const unsigned int next =
                  segments.back().first + segments.back().n_points;
                close_segment();
                drop_empty_segment();
                process();
                open_segment(code, next);
              }
          }
        close_segment();
      }

      /// Starts a group of points on an interface, from its point @p first on.
      void
      open_segment(const unsigned int code, const unsigned int first);

      /**
       * Appends the points of a facet to the last segment, seen from the side
       * of @p code, for a tabulated facet from @p point on, which advances.
       * Returns false if the buffer was full before the end of the facet.
       */
      bool
      append(const unsigned int facet,
             const unsigned int code,
             const unsigned int degree,
             const double       facet_sigma,
             unsigned int      &point);

      /// Pads the last segment.
      void
      close_segment();

      /// Removes the last segment if it is closed and has no points.
      void
      drop_empty_segment()
      {
        if (segments.back().n_points == 0)
          segments.pop_back();
      }

      /// Sets sigma of points [begin, end) to that of their facets, which the
      /// buffer knows if record_facets was set before they were appended.
      void
      set_sigma(const std::vector<double> &facet_sigma,
                const unsigned int         begin,
                const unsigned int         end);

      /// Points [begin, end) for the evaluation of a form: points on interior
      /// facets, or on one boundary id.
      FacetPointBatch<dim>
      batch(const unsigned int begin,
            const unsigned int end,
            const unsigned int boundary_id = invalid_index) const;

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
      bool                 record_facets = false;

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
      const PolytopicDoFs             &dofs;
      const HostRules<dim>            &rules;
      const HostKernels::Kernels<dim> &kernels;
      dealii::AlignedVector<double>    memory;
      std::vector<unsigned int>        facets; // of each point
    };
  } // namespace internal
} // namespace Tessella

#endif
