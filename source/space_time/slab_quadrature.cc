// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <tessella/grid/revision.h>
#include <tessella/quadrature/reference_quadrature.h>

#include <algorithm>

#include "slab_data.h"

namespace Tessella
{
  // Products of the handler's quadrature tables with Gauss points in time.
  template <int dim>
  void
  SpaceTimeSlab<dim>::Implementation::tabulate_products()
  {
    const PolytopicMesh<dim> &spatial = handler->polytopic_mesh();
    has_tables                        = true;
    if (table_origin == spatial.quadrature_revision && table_origin != 0)
      return;
    table_origin = spatial.quadrature_revision;
    mesh.clear_quadrature();
    if (spatial.subcell_point_offset.empty())
      return;
    tabulate_subcells();
    tabulate_facets();
    mesh.quadrature_revision = new_revision();
  }



  template <int dim>
  const ReferenceRule &
  SpaceTimeSlab<dim>::Implementation::time_rule(const unsigned int degree) const
  {
    return simplex_rule(1,
                        std::min(2 * degree + extra_order,
                                 max_quadrature_order));
  }



  template <int dim>
  void
  SpaceTimeSlab<dim>::Implementation::tabulate_subcells()
  {
    const PolytopicMesh<dim> &spatial = handler->polytopic_mesh();
    mesh.subcell_point_offset.push_back(0);
    for (unsigned int e = 0; e < element_polytope.size(); ++e)
      {
        const unsigned int   k     = element_polytope[e];
        const double        *box   = &mesh.box[2 * D * std::size_t(e)];
        const double         lower = box[dim], size = box[D + dim] - lower;
        const ReferenceRule &time = time_rule(dofs.degree[e]);
        for (unsigned int s = spatial.subcell_offset[k];
             s < spatial.subcell_offset[k + 1];
             ++s)
          {
            for (unsigned int t = 0; t < time.n_points; ++t)
              for (unsigned int q = spatial.subcell_point_offset[s];
                   q < spatial.subcell_point_offset[s + 1];
                   ++q)
                {
                  for (unsigned int d = 0; d < dim; ++d)
                    mesh.subcell_points.push_back(
                      spatial.subcell_points[dim * q + d]);
                  mesh.subcell_points.push_back(lower + size * time.points[t]);
                  mesh.subcell_point_weights.push_back(
                    spatial.subcell_point_weights[q] * size * time.weights[t]);
                }
            mesh.subcell_point_offset.push_back(
              mesh.subcell_point_weights.size());
          }
      }
  }



  template <int dim>
  void
  SpaceTimeSlab<dim>::Implementation::tabulate_facets()
  {
    const PolytopicMesh<dim> &spatial = handler->polytopic_mesh();
    mesh.facet_point_offset.push_back(0);
    for (unsigned int i = 0; i < interface_origin.size(); ++i)
      {
        const unsigned int  origin   = interface_origin[i];
        const unsigned int *elements = &mesh.interface_polytope[2 * i];
        const unsigned int  degree =
          elements[1] == invalid_index
             ? dofs.degree[elements[0]]
             : std::max(dofs.degree[elements[0]], dofs.degree[elements[1]]);
        const ReferenceRule &rule = time_rule(degree);
        for (unsigned int f = mesh.facet_offset[i];
             f < mesh.facet_offset[i + 1];
             ++f)
          {
            const unsigned int j = f - mesh.facet_offset[i];
            if (mesh.facet_type[f] == FacetType::tabulated)
              {
                if (is_horizontal(origin))
                  add_horizontal_points(
                    f,
                    spatial.subcell_offset[element_polytope[elements[0]]] + j,
                    origin == at_bottom ? -1. : 1.);
                else
                  add_vertical_points(f,
                                      spatial.facet_offset[origin] + j,
                                      rule);
              }
            mesh.facet_point_offset.push_back(mesh.facet_point_weights.size());
          }
      }
  }



  // Appends the points of a facet that is the base of an element above the
  // spatial sub-cell @p s, and sets the measure of the facet.
  template <int dim>
  void
  SpaceTimeSlab<dim>::Implementation::add_horizontal_points(
    const unsigned int f, const unsigned int s, const double normal)
  {
    const PolytopicMesh<dim> &spatial = handler->polytopic_mesh();
    const double              time =
      mesh.facet_vertices[D * mesh.facet_vertex_offset[f] + dim];
    double measure = 0.;
    for (unsigned int q = spatial.subcell_point_offset[s];
         q < spatial.subcell_point_offset[s + 1];
         ++q)
      {
        add_facet_point(&spatial.subcell_points[dim * q],
                        nullptr,
                        time,
                        normal,
                        spatial.subcell_point_weights[q]);
        measure += spatial.subcell_point_weights[q];
      }
    mesh.facet_measure[f] = measure;
  }



  // Appends the points of a facet that is the product of the spatial facet
  // @p s and an interval.
  template <int dim>
  void
  SpaceTimeSlab<dim>::Implementation::add_vertical_points(
    const unsigned int f, const unsigned int s, const ReferenceRule &rule)
  {
    const PolytopicMesh<dim> &spatial = handler->polytopic_mesh();
    const unsigned int        first   = mesh.facet_vertex_offset[f],
                       last           = mesh.facet_vertex_offset[f + 1] - 1;
    const double lower                = mesh.facet_vertices[D * first + dim],
                 size = mesh.facet_vertices[D * last + dim] - lower;
    for (unsigned int t = 0; t < rule.n_points; ++t)
      for (unsigned int q = spatial.facet_point_offset[s];
           q < spatial.facet_point_offset[s + 1];
           ++q)
        add_facet_point(&spatial.facet_points[dim * q],
                        &spatial.facet_point_normals[dim * q],
                        lower + size * rule.points[t],
                        0.,
                        spatial.facet_point_weights[q] * size *
                          rule.weights[t]);
  }



  // @p normal: spatial components of the normal, null for zeros.
  template <int dim>
  void
  SpaceTimeSlab<dim>::Implementation::add_facet_point(const double *x,
                                                      const double *normal,
                                                      const double  time,
                                                      const double  time_normal,
                                                      const double  weight)
  {
    for (unsigned int d = 0; d < dim; ++d)
      {
        mesh.facet_points.push_back(x[d]);
        mesh.facet_point_normals.push_back(normal == nullptr ? 0. : normal[d]);
      }
    mesh.facet_points.push_back(time);
    mesh.facet_point_normals.push_back(time_normal);
    mesh.facet_point_weights.push_back(weight);
  }



#define INSTANTIATE(dim) \
  template void SpaceTimeSlab<dim>::Implementation::tabulate_products();

  INSTANTIATE(2)
  INSTANTIATE(3)
#undef INSTANTIATE
} // namespace Tessella
