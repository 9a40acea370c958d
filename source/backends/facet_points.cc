// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "facet_points.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "host_dispatch.h"

namespace Tessella
{
  namespace internal
  {
    namespace
    {
      // Sets n entries and the padding up to a multiple of the padding length,
      // for which the buffers have room: fixed lengths compile to fast code.
      template <typename Number>
      inline void
      fill_padded(Number *p, const unsigned int n, const Number value)
      {
        for (unsigned int q = 0; q < n; q += HostKernels::padding)
          for (unsigned int l = 0; l < HostKernels::padding; ++l)
            p[q + l] = value;
      }



      // Whether vertices a, b, c, d (in lexicographic order) span a
      // parallelogram.
      template <int dim>
      bool
      is_parallelogram(const double      *v,
                       const unsigned int a,
                       const unsigned int b,
                       const unsigned int c,
                       const unsigned int d)
      {
        double deviation = 0., size = 0.;
        for (unsigned int e = 0; e < dim; ++e)
          {
            deviation = std::max(deviation,
                                 std::abs(v[dim * a + e] + v[dim * d + e] -
                                          v[dim * b + e] - v[dim * c + e]));
            size = std::max(size, std::abs(v[dim * d + e] - v[dim * a + e]));
          }
        return deviation <= 1e-14 * size;
      }

      // Whether the multilinear image with these vertices is affine.
      template <int dim>
      bool
      is_parallelepiped(const double *v)
      {
        return is_parallelogram<dim>(v, 0, 1, 2, 3) &&
               (dim < 4 || (is_parallelogram<dim>(v, 0, 1, 4, 5) &&
                            is_parallelogram<dim>(v, 0, 2, 4, 6) &&
                            is_parallelogram<dim>(v, 1, 3, 5, 7)));
      }
    } // namespace



    template <int dim>
    FacetPointBuffer<dim>::FacetPointBuffer(
      const PolytopicMesh<dim>        &mesh,
      const PolytopicDoFs             &dofs,
      const HostRules<dim>            &rules,
      const HostKernels::Kernels<dim> &kernels)
      : capacity(buffer_capacity(rules))
      , array_size(capacity + HostKernels::padding)
      , periodic(mesh.shift.size() > dim)
      , subcells(array_size)
      , materials(array_size)
      , neighbor_subcells(array_size)
      , neighbor_materials(array_size)
      , mesh(mesh)
      , dofs(dofs)
      , rules(rules)
      , kernels(kernels)
      , memory((3 * dim + 2) * array_size)
    {
      double *p = memory.data();
      for (double **array : {x, neighbor_x, normal})
        for (unsigned int d = 0; d < dim; ++d, p += array_size)
          array[d] = p;
      w     = p;
      sigma = p + array_size;
    }



    template <int dim>
    void
    FacetPointBuffer<dim>::open_segment(const unsigned int code,
                                        const unsigned int first)
    {
      segments.push_back({code,
                          mesh.neighbor(code),
                          mesh.interface_boundary_id[code / 2],
                          n_points,
                          n_points,
                          first,
                          0});
    }



    template <int dim>
    bool
    FacetPointBuffer<dim>::append(const unsigned int facet,
                                  const unsigned int code,
                                  const unsigned int degree,
                                  const double       facet_sigma,
                                  unsigned int      &point)
    {
      const unsigned int side = code % 2;
      // The shift leads from side 0 to side 1.
      const double *shift =
        &mesh.shift[mesh.interface_shift[code / 2] * std::size_t(dim)];
      const FacetType type = mesh.facet_type[facet];
      unsigned int    n;
      bool            finished = true;
      // The capacity is a multiple of the padding, so that a segment can always
      // be padded at its end.
      if (type == FacetType::tabulated)
        n = append_tabulated(facet, point, finished);
      else
        {
          const HostKernels::Rule &rule = rules.facet(type, degree);
          if (n_points + rule.n_padded > capacity)
            return false;
          n = rule.n_points;
          append_rule(facet, rule);
        }
      set_side(side, n, shift);
      fill_padded(sigma + n_points, n, facet_sigma);
      if (record_facets)
        {
          facets.resize(array_size);
          fill_padded(facets.data() + n_points, n, facet);
        }
      set_subcells(facet, side, n);
      n_points += n;
      segments.back().n_points += n;
      return finished;
    }



    template <int dim>
    unsigned int
    FacetPointBuffer<dim>::append_tabulated(const unsigned int facet,
                                            unsigned int      &point,
                                            bool              &finished)
    {
      const unsigned int first = mesh.facet_point_offset[facet] + point,
                         last  = mesh.facet_point_offset[facet + 1];
      const unsigned int n     = std::min(last - first, capacity - n_points);
      finished                 = (first + n == last);
      point                    = finished ? 0 : point + n;
      for (unsigned int q = 0; q < n; ++q)
        {
          for (unsigned int d = 0; d < dim; ++d)
            {
              x[d][n_points + q] = mesh.facet_points[(first + q) * dim + d];
              normal[d][n_points + q] =
                mesh.facet_point_normals[(first + q) * dim + d];
            }
          w[n_points + q] = mesh.facet_point_weights[first + q];
        }
      return n;
    }



    template <int dim>
    inline void
    FacetPointBuffer<dim>::append_rule(const unsigned int       facet,
                                       const HostKernels::Rule &rule)
    {
      double *target[dim], *target_normal[dim];
      for (unsigned int d = 0; d < dim; ++d)
        {
          target[d]        = x[d] + n_points;
          target_normal[d] = normal[d] + n_points;
        }
      const FacetType type = mesh.facet_type[facet];
      const double   *v =
        &mesh.facet_vertices[mesh.facet_vertex_offset[facet] * dim];
      const bool hypercube = type == FacetType::quadrilateral;
      if (hypercube && !is_parallelepiped<dim>(v))
        {
          kernels.multilinear_facet(
            v, rule, target, target_normal, w + n_points);
          return;
        }
      double edges[dim - 1][dim];
      for (unsigned int d = 0; d + 1 < dim; ++d)
        for (unsigned int e = 0; e < dim; ++e)
          edges[d][e] = v[(hypercube ? 1u << d : d + 1) * dim + e] - v[e];
      // Weights on the unit simplex in n variables sum to 1 / n!.
      constexpr unsigned int factorial[4] = {1, 1, 2, 6};
      kernels.affine_points(v,
                            &edges[0][0],
                            dim - 1,
                            mesh.facet_measure[facet] *
                              (type == FacetType::simplex ? factorial[dim - 1]
                               : type == FacetType::prism ? factorial[dim - 2]
                                                          : 1),
                            rule,
                            target,
                            w + n_points);
      for (unsigned int d = 0; d < dim; ++d)
        fill_padded(target_normal[d],
                    rule.n_points,
                    mesh.facet_normal[facet * dim + d]);
    }



    // Coordinates of facets are those of side 0, normals point from side 0 to
    // side 1.
    template <int dim>
    inline void
    FacetPointBuffer<dim>::set_side(const unsigned int side,
                                    const unsigned int n,
                                    const double      *shift)
    {
      const unsigned int begin = n_points, end = begin + n;
      if (side == 1)
        for (unsigned int d = 0; d < dim; ++d)
          for (unsigned int q = begin; q < end; ++q)
            normal[d][q] = -normal[d][q];
      if (periodic)
        for (unsigned int d = 0; d < dim; ++d)
          for (unsigned int q = begin; q < end; ++q)
            {
              const double here = x[d][q];
              x[d][q]           = side == 0 ? here : here + shift[d];
              neighbor_x[d][q]  = side == 0 ? here + shift[d] : here;
            }
    }



    template <int dim>
    inline void
    FacetPointBuffer<dim>::set_subcells(const unsigned int facet,
                                        const unsigned int side,
                                        const unsigned int n)
    {
      const unsigned int own   = mesh.facet_subcell[2 * facet + side],
                         other = mesh.facet_subcell[2 * facet + 1 - side];
      fill_padded(subcells.data() + n_points, n, own);
      fill_padded(materials.data() + n_points, n, mesh.subcell_material[own]);
      if (other == invalid_index)
        return;
      fill_padded(neighbor_subcells.data() + n_points, n, other);
      fill_padded(neighbor_materials.data() + n_points,
                  n,
                  mesh.subcell_material[other]);
    }



    template <int dim>
    void
    FacetPointBuffer<dim>::close_segment()
    {
      if (n_points == 0)
        return;
      const unsigned int last = n_points - 1;
      while (n_points % HostKernels::padding != 0)
        {
          const unsigned int q = n_points++;
          for (unsigned int d = 0; d < dim; ++d)
            {
              x[d][q] = x[d][last];
              if (periodic)
                neighbor_x[d][q] = neighbor_x[d][last];
              normal[d][q] = normal[d][last];
            }
          w[q]                  = 0.;
          sigma[q]              = sigma[last];
          subcells[q]           = subcells[last];
          materials[q]          = materials[last];
          neighbor_subcells[q]  = neighbor_subcells[last];
          neighbor_materials[q] = neighbor_materials[last];
          if (record_facets)
            facets[q] = facets[last];
        }
      segments.back().end = n_points;
    }



    template <int dim>
    void
    FacetPointBuffer<dim>::set_sigma(const std::vector<double> &facet_sigma,
                                     const unsigned int         begin,
                                     const unsigned int         end)
    {
      for (unsigned int q = begin; q < end; ++q)
        sigma[q] = facet_sigma[facets[q]];
    }



    template <int dim>
    FacetPointBatch<dim>
    FacetPointBuffer<dim>::batch(const unsigned int begin,
                                 const unsigned int end,
                                 const unsigned int boundary_id) const
    {
      FacetPointBatch<dim> result;
      result.n_points = end - begin;
      for (unsigned int d = 0; d < dim; ++d)
        {
          result.x[d]          = x[d] + begin;
          result.neighbor_x[d] = periodic ? neighbor_x[d] + begin : result.x[d];
          result.normal[d]     = normal[d] + begin;
        }
      result.subcell  = subcells.data() + begin;
      result.material = materials.data() + begin;
      result.sigma    = sigma + begin;
      if (boundary_id != invalid_index)
        result.boundary_id = boundary_id;
      else
        {
          result.neighbor_subcell  = neighbor_subcells.data() + begin;
          result.neighbor_material = neighbor_materials.data() + begin;
        }
      return result;
    }



    template <int dim>
    void
    FacetPointBuffer<dim>::clear()
    {
      segments.clear();
      n_points = 0;
    }



    template class FacetPointBuffer<2>;
    template class FacetPointBuffer<3>;
    template class FacetPointBuffer<4>;
  } // namespace internal
} // namespace Tessella
