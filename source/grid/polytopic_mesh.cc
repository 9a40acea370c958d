// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <tessella/grid/polytopic_mesh.h>

#include <cmath>

namespace Tessella
{
  namespace
  {
    template <typename VectorType>
    std::size_t
    bytes(const VectorType &v)
    {
      return v.capacity() * sizeof(typename VectorType::value_type);
    }
  } // namespace

  template <int dim>
  std::size_t
  PolytopicMesh<dim>::memory_consumption() const
  {
    return sizeof(*this) + bytes(box) + bytes(measure) + bytes(subcell_offset) +
           bytes(polytope_interface_offset) + bytes(polytope_interface) +
           bytes(subcell_type) + bytes(subcell_vertex_offset) +
           bytes(subcell_vertices) + bytes(subcell_cell) +
           bytes(subcell_material) + bytes(interface_polytope) +
           bytes(interface_boundary_id) + bytes(interface_shift) +
           bytes(facet_offset) + bytes(shift) + bytes(facet_type) +
           bytes(facet_vertex_offset) + bytes(facet_vertices) +
           bytes(facet_normal) + bytes(facet_measure) + bytes(facet_subcell) +
           bytes(subcell_point_offset) + bytes(facet_point_offset) +
           bytes(subcell_points) + bytes(facet_points) +
           bytes(facet_point_normals) + bytes(subcell_point_weights) +
           bytes(facet_point_weights);
  }

  template <int dim>
  void
  PolytopicMesh<dim>::clear_quadrature()
  {
    subcell_point_offset.clear();
    facet_point_offset.clear();
    subcell_points.clear();
    subcell_point_weights.clear();
    facet_points.clear();
    facet_point_normals.clear();
    facet_point_weights.clear();
  }

  template <int dim>
  bool
  PolytopicMesh<dim>::is_aligned() const
  {
    for (unsigned int s = 0; s < n_subcells(); ++s)
      {
        if (subcell_type[s] != SubCellType::parallelepiped)
          return false;
        const double *x = &subcell_vertices[dim * subcell_vertex_offset[s]];
        for (int e = 0; e < dim; ++e)
          for (int d = 0; d < dim; ++d)
            if (d != e && std::abs(x[dim * (1 << e) + d] - x[d]) >
                            1e-12 * std::abs(x[dim * (1 << e) + e] - x[e]))
              return false;
      }
    return true;
  }

  template struct PolytopicMesh<2>;
  template struct PolytopicMesh<3>;
  template struct PolytopicMesh<4>;
} // namespace Tessella
