// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_backends_mesh_data_h
#define tessella_cuda_backends_mesh_data_h

#include <tessella/forms/device_coefficients.h>

#include <algorithm>

#include "data.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /**
       * Data of a mesh and its quadrature that the evaluation of coefficients
       * reads, copied from the data of the kernels. The structures differ
       * because the former is part of an installed header that is also compiled
       * at run time.
       *
       * Sub-cells and degrees of freedom are those of the mesh itself, and
       * facet_material, which no mesh has, is null.
       */
      template <int dim>
      MeshData<dim>
      make_mesh_data(const Data<dim> &D)
      {
        MeshData<dim> M             = {};
        M.box                       = D.box;
        M.degree                    = D.degree;
        M.n_basis                   = D.n_basis;
        M.subcell_offset            = D.subcell_offset;
        M.polytope_interface_offset = D.polytope_interface_offset;
        M.polytope_interface        = D.polytope_interface;
        M.subcell_type              = D.subcell_type;
        M.subcell_vertex_offset     = D.subcell_vertex_offset;
        M.subcell_point_offset      = D.subcell_point_offset;
        M.subcell_vertices          = D.subcell_vertices;
        M.subcell_points            = D.subcell_points;
        M.interface_polytope        = D.interface_polytope;
        M.interface_shift           = D.interface_shift;
        M.facet_offset              = D.facet_offset;
        M.shift                     = D.shift;
        M.facet_type                = D.facet_type;
        M.facet_vertex_offset       = D.facet_vertex_offset;
        M.facet_point_offset        = D.facet_point_offset;
        M.facet_vertices            = D.facet_vertices;
        M.facet_normal              = D.facet_normal;
        M.facet_points              = D.facet_points;
        M.facet_point_normals       = D.facet_point_normals;
        M.exponents                 = D.exponents;
        M.subcell_q                 = D.subcell_q;
        M.facet_q                   = D.facet_q;
        M.entry_q                   = D.entry_q;
        M.rules                     = D.rules;
        M.volume_points             = D.volume_points;
        std::copy(&D.subcell_rule[0][0],
                  &D.subcell_rule[0][0] + 5 * 11,
                  &M.subcell_rule[0][0]);
        std::copy(&D.facet_rule[0][0],
                  &D.facet_rule[0][0] + 4 * 11,
                  &M.facet_rule[0][0]);
        M.facet_subcell    = D.facet_subcell;
        M.subcell_material = D.subcell_material;
        M.boundary_id      = D.interface_boundary_id;
        M.dof_offset       = D.dof_offset;
        return M;
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
