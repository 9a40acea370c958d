// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "pointwise_tables.h"

#include <algorithm>
#include <cmath>

#include "../backends/facet_points.h"
#include "../backends/host_dispatch.h"

namespace Tessella
{
  namespace internal
  {
    template <int dim>
    PointwiseTables<dim>::PointwiseTables(
      const PolytopicMesh<dim>        &mesh,
      const PolytopicDoFs             &dofs,
      const HostRules<dim>            &rules,
      const HostKernels::Kernels<dim> &kernels)
    {
      lengths.resize(mesh.n_polytopes());
      for (unsigned int k = 0; k < mesh.n_polytopes(); ++k)
        lengths[k] = std::pow(mesh.measure[k], 1. / dim);

      // Numbers of points come first, so that threads can fill the tables.
      const unsigned int n_owned = mesh.n_owned_polytopes();
      subcell_point.assign(mesh.n_subcells() + 1, 0);
      for (unsigned int k = 0; k < n_owned; ++k)
        for (unsigned int s = mesh.subcell_offset[k];
             s < mesh.subcell_offset[k + 1];
             ++s)
          subcell_point[s + 1] =
            rules.n_subcell_points(mesh, s, dofs.degree[k]);
      facet_point.assign(mesh.n_facets() + 1, 0);
      facet_normal.assign(mesh.n_facets() + 1, 0);
      for (unsigned int i = 0; i < mesh.n_interfaces(); ++i)
        {
          const unsigned int degree = Device::interface_degree(mesh, dofs, i);
          for (unsigned int f = mesh.facet_offset[i];
               f < mesh.facet_offset[i + 1];
               ++f)
            {
              const unsigned int n    = rules.n_facet_points(mesh, f, degree);
              const FacetType    type = mesh.facet_type[f];
              facet_point[f + 1]      = n;
              facet_normal[f + 1]     = (type == FacetType::tabulated ||
                                     type == FacetType::quadrilateral)
                                          ? n
                                          : 1;
            }
        }
      for (std::size_t s = 0; s + 1 < subcell_point.size(); ++s)
        subcell_point[s + 1] += subcell_point[s];
      for (std::size_t f = 0; f + 1 < facet_point.size(); ++f)
        {
          facet_point[f + 1] += facet_point[f];
          facet_normal[f + 1] += facet_normal[f];
        }
      volume_points.resize((dim + 1) * subcell_point.back());
      facet_points.resize((dim + 1) * facet_point.back());
      normals.resize(std::size_t(dim) * facet_normal.back());
      add_volumes(mesh, dofs, rules, kernels);
      add_facets(mesh, dofs, rules, kernels);
    }



    template <int dim>
    void
    PointwiseTables<dim>::add_volumes(const PolytopicMesh<dim>        &mesh,
                                      const PolytopicDoFs             &dofs,
                                      const HostRules<dim>            &rules,
                                      const HostKernels::Kernels<dim> &kernels)
    {
      for_polytopes(
        mesh.n_owned_polytopes(),
        [&](const unsigned int first, const unsigned int last) {
          VolumePointBuffer<dim> buffer(buffer_capacity(rules));
          for (unsigned int k = first; k < last; ++k)
            {
              unsigned int subcell = mesh.subcell_offset[k], point = 0;
              double      *to =
                volume_points.data() + (dim + 1) * subcell_point[subcell];
              while (subcell < mesh.subcell_offset[k + 1])
                {
                  buffer.fill(mesh, dofs, rules, kernels, k, subcell, point);
                  for (unsigned int q = 0; q < buffer.n_points; ++q)
                    {
                      for (unsigned int d = 0; d < dim; ++d)
                        *to++ = buffer.x[d][q];
                      *to++ = buffer.w[q];
                    }
                }
            }
        });
    }



    template <int dim>
    void
    PointwiseTables<dim>::add_facets(const PolytopicMesh<dim>        &mesh,
                                     const PolytopicDoFs             &dofs,
                                     const HostRules<dim>            &rules,
                                     const HostKernels::Kernels<dim> &kernels)
    {
      for_polytopes(mesh.n_interfaces(),
                    [&](const unsigned int first, const unsigned int last) {
                      FacetPointBuffer<dim> buffer(mesh, dofs, rules, kernels);
                      for (unsigned int i = first; i < last; ++i)
                        for (unsigned int f = mesh.facet_offset[i];
                             f < mesh.facet_offset[i + 1];
                             ++f)
                          {
                            const unsigned int degree =
                              Device::interface_degree(mesh, dofs, i);
                            double *to =
                              facet_points.data() + (dim + 1) * facet_point[f];
                            double *normal = normals.data() +
                                             std::size_t(dim) * facet_normal[f];
                            unsigned int point    = 0;
                            bool         finished = false, is_first = true;
                            while (!finished)
                              {
                                buffer.clear();
                                buffer.open_segment(2 * i, 0);
                                finished =
                                  buffer.append(f, 2 * i, degree, 0., point);
                                for (unsigned int q = 0; q < buffer.n_points;
                                     ++q)
                                  {
                                    for (unsigned int d = 0; d < dim; ++d)
                                      *to++ = buffer.x[d][q];
                                    *to++ = buffer.w[q];
                                    if (is_first || varies(f))
                                      for (unsigned int d = 0; d < dim; ++d)
                                        *normal++ = buffer.normal[d][q];
                                    is_first = false;
                                  }
                              }
                          }
                    });
    }



    template <int dim>
    std::vector<unsigned int>
    PointwiseTables<dim>::facet_of_point() const
    {
      std::vector<unsigned int> result(facet_point.back());
      for (unsigned int f = 0; f + 1 < facet_point.size(); ++f)
        std::fill(result.begin() + facet_point[f],
                  result.begin() + facet_point[f + 1],
                  f);
      return result;
    }



    template <int dim>
    std::vector<double>
    polytope_frames(const PolytopicMesh<dim> &mesh)
    {
      const unsigned int  n = mesh.n_polytopes();
      std::vector<double> result;
      result.reserve((2 * dim + 1) * std::size_t(n));
      for (unsigned int k = 0; k < n; ++k)
        {
          const double *const box  = mesh.box.data() + 2 * dim * std::size_t(k);
          double              size = 1.;
          for (unsigned int d = 0; d < dim; ++d)
            result.push_back(.5 * (box[d] + box[dim + d]));
          for (unsigned int d = 0; d < dim; ++d)
            {
              result.push_back(2. / (box[dim + d] - box[d]));
              size *= box[dim + d] - box[d];
            }
          result.push_back(1. / std::sqrt(size));
        }
      return result;
    }



    std::vector<unsigned int>
    packed_exponents(const unsigned int        dim,
                     const unsigned int        degree,
                     const PolynomialSpaceType space)
    {
      const unsigned int         n = Legendre::n_functions(dim, degree, space);
      std::vector<unsigned char> exponents(dim * n);
      Legendre::exponents(dim, degree, space, exponents.data());
      std::vector<unsigned int> result(n, 0);
      for (unsigned int i = 0; i < n; ++i)
        for (unsigned int d = 0; d < dim; ++d)
          result[i] |= static_cast<unsigned int>(exponents[dim * i + d])
                       << (8 * d);
      return result;
    }



    template <int dim>
    std::vector<Device::PointwiseFacet>
    pointwise_facets(const PointwiseContext<dim> &context,
                     const PointwiseTables<dim>  &tables)
    {
      const PolytopicMesh<dim>  &mesh    = context.mesh();
      const std::vector<double> &factors = context.test_dofs().penalty_factor;
      std::vector<Device::PointwiseFacet> result(mesh.n_facets());
      for (unsigned int i = 0; i < mesh.n_interfaces(); ++i)
        for (unsigned int f = mesh.facet_offset[i];
             f < mesh.facet_offset[i + 1];
             ++f)
          {
            Device::PointwiseFacet &facet = result[f];
            facet                         = Device::PointwiseFacet();
            facet.penalty      = std::max(factors[2 * f], factors[2 * f + 1]);
            facet.first_point  = tables.facet_point[f];
            facet.first_normal = tables.facet_normal[f];
            for (unsigned int s = 0; s < 2; ++s)
              {
                facet.polytope[s] = mesh.interface_polytope[2 * i + s];
                facet.subcell[s]  = mesh.facet_subcell[2 * f + s];
              }
            facet.boundary_id   = mesh.interface_boundary_id[i];
            facet.shift         = mesh.interface_shift[i];
            facet.normal_varies = tables.varies(f);
          }
      return result;
    }



#define INSTANTIATE(dim)                                                    \
  template struct PointwiseTables<dim>;                                     \
  template std::vector<double> polytope_frames(const PolytopicMesh<dim> &); \
  template std::vector<Device::PointwiseFacet> pointwise_facets(            \
    const PointwiseContext<dim> &context, const PointwiseTables<dim> &tables)

    INSTANTIATE(2);
    INSTANTIATE(3);
#undef INSTANTIATE
    template struct PointwiseTables<4>;
    template std::vector<double>
    polytope_frames(const PolytopicMesh<4> &);
  } // namespace internal
} // namespace Tessella
