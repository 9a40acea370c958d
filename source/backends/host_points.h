// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_backends_host_points_h
#define tessella_source_backends_host_points_h

#include <tessella/grid/polytopic_dofs.h>
#include <tessella/grid/polytopic_mesh.h>
#include <tessella/portable/legendre.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "host_kernels.h"

namespace Tessella
{
  namespace internal
  {
    inline unsigned int
    padded(const unsigned int n)
    {
      return (n + HostKernels::padding - 1) / HostKernels::padding *
             HostKernels::padding;
    }

    /// Distance between arrays over n points that are read together. With a
    /// power of two, they would compete for the same cache lines.
    inline unsigned int
    pitch(const unsigned int n)
    {
      return padded(n) + HostKernels::padding;
    }

    /// Whether all polytopes of a mesh in @p dim variables have total-degree
    /// spaces, not tensor-product spaces.
    template <int dim>
    bool
    has_total_degree_space(const PolytopicDoFs &dofs);



    /**
     * Quadrature rules for the sub-cells and facets of a mesh, by polynomial
     * degree of a space on it, for a form of a given coefficient order.
     */
    template <int dim>
    class HostRules
    {
    public:
      HostRules(const PolytopicMesh<dim> &mesh,
                const PolytopicDoFs      &dofs,
                const unsigned int        coefficient_order);

      /// Rule for a sub-cell that is not tabulated; @p degree is that of its
      /// polytope.
      const HostKernels::Rule &
      subcell(const SubCellType type, const unsigned int degree) const
      {
        return subcell_rules[static_cast<unsigned int>(type)][degree];
      }

      /// Rule for a facet that is not tabulated; @p degree is the larger degree
      /// of its two sides.
      const HostKernels::Rule &
      facet(const FacetType type, const unsigned int degree) const
      {
        return facet_rules[static_cast<unsigned int>(type)][degree];
      }

      /// Largest number of points of a rule, padded.
      unsigned int max_points = HostKernels::padding;

    private:
      std::vector<HostKernels::Rule> subcell_rules[5], facet_rules[4];
      /// Points and weights of all rules, in padded arrays.
      std::vector<std::unique_ptr<double[]>> memory;
    };



    /**
     * Coordinates, weights and sub-cells of quadrature points, filled sub-cell
     * by sub-cell. The buffer has a fixed capacity and is for one thread.
     */
    template <int dim>
    class VolumePointBuffer
    {
    public:
      explicit VolumePointBuffer(const unsigned int capacity);

      /**
       * Fills the buffer with points of the polytope's sub-cells from (subcell,
       * point) on, until the buffer is full or the polytope ends, and pads it
       * with weight zero. Both arguments advance beyond the points that were
       * written. Points of a sub-cell stay together unless they are tabulated.
       * Returns the padded number of points.
       */
      unsigned int
      fill(const PolytopicMesh<dim>        &mesh,
           const PolytopicDoFs             &dofs,
           const HostRules<dim>            &rules,
           const HostKernels::Kernels<dim> &kernels,
           const unsigned int               polytope,
           unsigned int                    &subcell,
           unsigned int                    &point);

      const unsigned int        capacity;
      double                   *x[dim], *w;
      std::vector<unsigned int> subcells, materials;
      /// Number of points without padding.
      unsigned int n_points = 0;

    private:
      std::unique_ptr<double[]> memory;
    };
  } // namespace internal
} // namespace Tessella

#endif
