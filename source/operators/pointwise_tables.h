// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_operators_pointwise_tables_h
#define tessella_source_operators_pointwise_tables_h

#include <tessella/forms/device_pointwise_kernels.h>

#include <cstdint>
#include <vector>

#include "../backends/host_kernels.h"
#include "../backends/host_points.h"
#include "pointwise_context.h"

namespace Tessella
{
  namespace internal
  {
    /// All quadrature points of an operator, for device memory.
    /// Points, weights and normals are those of the host engine.
    template <int dim>
    struct PointwiseTables
    {
      /// @p dofs: degrees by which rules are chosen.
      PointwiseTables(const PolytopicMesh<dim>        &mesh,
                      const PolytopicDoFs             &dofs,
                      const HostRules<dim>            &rules,
                      const HostKernels::Kernels<dim> &kernels);

      /// Coordinates and weight of each point.
      std::vector<double> volume_points, facet_points;
      /// Normals of facets: one, or one for each point where it varies.
      std::vector<double> normals;
      /// Length of each polytope.
      std::vector<double> lengths;
      /// First point of each sub-cell and facet; first normal of each facet.
      std::vector<std::uint64_t> subcell_point, facet_point;
      std::vector<unsigned int>  facet_normal;

      /// Whether each point of the facet has a normal of its own.
      bool
      varies(const unsigned int facet) const
      {
        return facet_normal[facet + 1] - facet_normal[facet] > 1;
      }

      /// Facet of each point of facet_points.
      std::vector<unsigned int>
      facet_of_point() const;

    private:
      void
      add_volumes(const PolytopicMesh<dim>        &mesh,
                  const PolytopicDoFs             &dofs,
                  const HostRules<dim>            &rules,
                  const HostKernels::Kernels<dim> &kernels);
      void
      add_facets(const PolytopicMesh<dim>        &mesh,
                 const PolytopicDoFs             &dofs,
                 const HostRules<dim>            &rules,
                 const HostKernels::Kernels<dim> &kernels);
    };



    /// Centre of the bounding box of each polytope, scales of the map to
    /// [-1,1]^dim, and the factor of its basis functions.
    template <int dim>
    std::vector<double>
    polytope_frames(const PolytopicMesh<dim> &mesh);



    /// Exponents of each function of a space in @p dim variables, 8 bits for
    /// each variable.
    std::vector<unsigned int>
    packed_exponents(const unsigned int        dim,
                     const unsigned int        degree,
                     const PolynomialSpaceType space);



    /// Data of each facet.
    template <int dim>
    std::vector<Device::PointwiseFacet>
    pointwise_facets(const PointwiseContext<dim> &context,
                     const PointwiseTables<dim>  &tables);
  } // namespace internal
} // namespace Tessella

#endif
