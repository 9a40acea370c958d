// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_backends_host_points_h
#define tessella_source_backends_host_points_h

#include <deal.II/base/aligned_vector.h>

#include <tessella/forms/form.h>
#include <tessella/grid/polytopic_dofs.h>
#include <tessella/grid/polytopic_mesh.h>
#include <tessella/portable/legendre.h>
#include <tessella/quadrature/reference_quadrature.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "../grid/compressed_quadrature.h"
#include "host_kernels.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      struct RuleTables;
    }

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

    /// ReferenceRule in padded arrays; the padding repeats the last point.
    class PaddedRule
    {
    public:
      explicit PaddedRule(const ReferenceRule &rule);

      PaddedRule(const PaddedRule &) = delete;

      HostKernels::Rule view;

    private:
      dealii::AlignedVector<double> memory;
    };



    /// Types of sub-cells that the mesh has on any process: bit t is set if
    /// type t exists.
    template <int dim>
    unsigned int
    subcell_types(const PolytopicMesh<dim> &mesh);

    /// The same for facets.
    template <int dim>
    unsigned int
    facet_types(const PolytopicMesh<dim> &mesh);

    /// Largest degree of a polytope on any process.
    unsigned int
    highest_degree(const PolytopicDoFs &dofs);

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
        return subcell_rules[static_cast<unsigned int>(type)][degree]->view;
      }

      /// Rule for a facet that is not tabulated; @p degree is the larger degree
      /// of its two sides.
      const HostKernels::Rule &
      facet(const FacetType type, const unsigned int degree) const
      {
        return facet_rules[static_cast<unsigned int>(type)][degree]->view;
      }

      /// Number of points of a sub-cell of a polytope of the given degree.
      unsigned int
      n_subcell_points(const PolytopicMesh<dim> &mesh,
                       const unsigned int        s,
                       const unsigned int        degree) const
      {
        if (compressed != nullptr)
          return compressed->offset[s + 1] - compressed->offset[s];
        const SubCellType type = mesh.subcell_type[s];
        return type == SubCellType::tabulated
                 ? mesh.subcell_point_offset[s + 1] -
                     mesh.subcell_point_offset[s]
                 : subcell(type, degree).n_points;
      }

      /// Number of points of a facet of an interface of the given degree.
      unsigned int
      n_facet_points(const PolytopicMesh<dim> &mesh,
                     const unsigned int        f,
                     const unsigned int        degree) const
      {
        const FacetType type = mesh.facet_type[f];
        return type == FacetType::tabulated
                 ? mesh.facet_point_offset[f + 1] - mesh.facet_point_offset[f]
                 : facet(type, degree).n_points;
      }

      /// Largest number of points of a rule, padded.
      unsigned int max_points = HostKernels::padding;

      /// Points that take the place of those of the sub-cells; null without
      /// compression.
      std::shared_ptr<const CompressedQuadrature<dim>> compressed;

    private:
      std::vector<std::unique_ptr<PaddedRule>> subcell_rules[5];
      std::vector<std::unique_ptr<PaddedRule>> facet_rules[4];
    };



    /// The same rules as one array for kernels of a device; those for which the
    /// mesh has no sub-cell or facet are empty. If @p parallelepipeds, all
    /// sub-cells are such, and take the places of simplices, see
    /// Kernels::use_corners().
    template <int dim>
    Device::RuleTables
    device_rule_tables(const PolytopicMesh<dim> &mesh,
                       const PolytopicDoFs      &dofs,
                       const HostRules<dim>     &rules,
                       const bool                parallelepipeds);



    /// A form on a mesh, and what the host evaluates it with. All objects must
    /// outlive this one.
    template <int dim>
    struct HostProblem
    {
      const PolytopicMesh<dim>        &mesh;
      const PolytopicDoFs             &dofs;
      const Form<dim>                 &form;
      const HostRules<dim>            &rules;
      const HostKernels::Kernels<dim> &kernels;
    };



    /// The first vertex of a mesh with sub-cells, as the point at which
    /// constant coefficients are evaluated.
    template <int dim>
    PointBatch<dim>
    first_vertex(const PolytopicMesh<dim> &mesh)
    {
      static const unsigned int subcell = 0;
      PointBatch<dim>           batch;
      batch.n_points = 1;
      for (unsigned int d = 0; d < dim; ++d)
        batch.x[d] = &mesh.subcell_vertices[d];
      batch.subcell  = &subcell;
      batch.material = mesh.subcell_material.data();
      return batch;
    }



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

      /// The points without padding, for the evaluation of a form.
      PointBatch<dim>
      batch() const
      {
        PointBatch<dim> result;
        result.n_points = n_points;
        std::copy(x, x + dim, result.x);
        result.subcell  = subcells.data();
        result.material = materials.data();
        return result;
      }

      const unsigned int        capacity;
      double                   *x[dim], *w;
      std::vector<unsigned int> subcells, materials;
      /// Number of points without padding.
      unsigned int n_points = 0;

    private:
      /// Copies stored points of a sub-cell, those of a compressed quadrature
      /// or tabulated ones, from number @p point on, to entry @p n and the
      /// following ones. Returns their number.
      unsigned int
      fill_stored(const PolytopicMesh<dim> &mesh,
                  const HostRules<dim>     &rules,
                  const unsigned int        subcell,
                  const unsigned int        n,
                  unsigned int             &point);

      dealii::AlignedVector<double> memory;
    };
  } // namespace internal
} // namespace Tessella

#endif
