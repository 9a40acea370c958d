// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_hdg_hdg_plan_h
#define tessella_cuda_hdg_hdg_plan_h

#include <cstdint>
#include <vector>

#include "hdg.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Quadrature points and trace functions of all polytopes in the order in
      /// which kernels process them, and sizes that follow from them. All data
      /// are on the host.
      template <int dim>
      class HDGPlan : public HDGInput<dim>
      {
      public:
        explicit HDGPlan(const HDGInput<dim> &input);

        /// Replaces the sizes of this process by those of all processes.
        void
        set_sizes(const HDGSizes &of_all);

        std::uint64_t
        n_volume_points(const unsigned int begin, const unsigned int end) const
        {
          return subcell_q[mesh.subcell_offset[end]] -
                 subcell_q[mesh.subcell_offset[begin]];
        }

        /// First entry of polytope k in polytope_interface.
        unsigned int
        first_entry(const unsigned int k) const
        {
          return mesh.polytope_interface_offset[k];
        }

        using HDGInput<dim>::mesh;

        std::vector<HDGVolumePointGroup> volume_point_groups, mass_point_groups;
        /// The short list is for integrands that are polynomials.
        std::vector<HDGFacetPointGroup> facet_point_groups,
          short_facet_point_groups;
        /// Indices of the point groups on the boundary.
        std::vector<unsigned int> boundary_point_groups;
        /// Arrays with the names of members of HDGData are copied to them.
        std::vector<unsigned int> volume_begin, mass_begin, facet_begin,
          entry_row, entry_polytope, entry_point_group, short_entry_point_group;
        std::vector<unsigned int>  entry_of_side; ///< two for each interface
        std::vector<unsigned char> entry_fixed;
        /// Entries that HDGConstantFacets handles, and all others.
        std::vector<unsigned char> entry_projected;
        std::vector<unsigned int>  projected_entries, other_entries;
        std::vector<std::uint64_t> trace_offset, square_offset, solver_offset,
          subcell_q;
        /// Polytopes at the boundary.
        std::vector<unsigned int> boundary_polytopes;
        unsigned int n_boundary_point_groups = 0, max_traces = 0, max_basis = 0,
                     max_degree = 0, max_point_groups = 0;
        /// True if each polytope is one simplex, and all have the same degree.
        bool simplices = false;
        /// True if a patch has functions on several facets.
        bool         shared_patches   = false;
        unsigned int n_face_functions = 0;
        /// Sizes of this process.
        HDGSizes sizes = {};
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
