// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "pointwise_simplices.h"

#include <tessella/portable/legendre.h>

#include <algorithm>
#include <numeric>

#include "affine_simplex.h"
#include "simplex_reference.h"

namespace Tessella
{
  namespace internal
  {
    namespace
    {
      constexpr unsigned int no_record = ~0u;

      /// Largest degree: at most 35 functions.
      constexpr unsigned int
      max_degree(const unsigned int dim)
      {
        return dim == 2 ? 6 : 4;
      }

      unsigned int
      n_groups(const unsigned int n, const unsigned int size)
      {
        return (n + size - 1) / size;
      }

      template <int dim>
      AffineSimplex<dim>
      simplex(const PolytopicMesh<dim> &mesh, const unsigned int k)
      {
        return AffineSimplex<dim>(
          &mesh.subcell_vertices[dim *
                                 std::size_t(mesh.subcell_vertex_offset[k])]);
      }

      // Code of a face and the permutation by which a facet sees it: order[n]
      // is the position in the facet of the n-th vertex of the face.
      unsigned char
      face_code(const unsigned int        dim,
                const unsigned int        face,
                const unsigned int *const order)
      {
        std::array<unsigned int, 3> vertices{};
        unsigned int                n = 0;
        for (unsigned int v = 0; v <= dim; ++v)
          if (v != face)
            vertices[order[n++]] = v;
        const auto codes = face_codes(dim);
        return static_cast<unsigned char>(
          std::find(codes.begin(), codes.end(), vertices) - codes.begin());
      }
    } // namespace



    std::vector<std::array<unsigned int, 3>>
    face_codes(const unsigned int dim)
    {
      std::vector<std::array<unsigned int, 3>> result;
      for (unsigned int face = 0; face <= dim; ++face)
        {
          std::array<unsigned int, 3> vertices{};
          unsigned int                n = 0;
          for (unsigned int v = 0; v <= dim; ++v)
            if (v != face)
              vertices[n++] = v;
          do
            result.push_back(vertices);
          while (
            std::next_permutation(vertices.begin(), vertices.begin() + dim));
        }
      return result;
    }



    std::string
    why_no_simplex_field(const unsigned int dim, const PolytopicDoFs &dofs)
    {
      for (unsigned int k = 0; k < dofs.degree.size(); ++k)
        {
          if (dofs.degree[k] != dofs.degree[0])
            return "the polytopes have different degrees";
          if (dofs.n_basis[k] !=
              Legendre::n_functions(dim, dofs.degree[k], false))
            return "the spaces are not of total degree";
        }
      return !dofs.degree.empty() && dofs.degree[0] > max_degree(dim)
               ? "the degree " + std::to_string(dofs.degree[0]) +
                   " is larger than " + std::to_string(max_degree(dim))
               : "";
    }



    template <int dim>
    std::string
    PointwiseSimplices<dim>::set_up(const PolytopicMesh<dim> &mesh)
    {
      *this                     = PointwiseSimplices<dim>();
      const unsigned int n      = mesh.n_polytopes(),
                         n_rows = mesh.n_owned_polytopes();
      if (mesh.prismatic || mesh.n_subcells() != n ||
          std::any_of(mesh.subcell_type.begin(),
                      mesh.subcell_type.end(),
                      [](const SubCellType type) {
                        return type != SubCellType::simplex;
                      }))
        return "not every polytope is one affine simplex";
      for (unsigned int k = 0; k <= n; ++k)
        if (mesh.subcell_offset[k] != k)
          return "not every polytope is one affine simplex";

      if (mesh.n_facets() >= 1u << 25)
        return "the process has more than 2^25 facets";

      corners.resize(((dim + 1) * dim + 1) * std::size_t(n));
      for (unsigned int k = 0; k < n; ++k)
        {
          const AffineSimplex<dim> cell = simplex(mesh, k);
          cell.set_corners(&mesh.box[2 * dim * std::size_t(k)],
                           n,
                           corners.data() + k);
          if (k >= n_rows)
            continue;
          for (unsigned int a = 1; a <= dim; ++a)
            geometry.insert(geometry.end(),
                            cell.gradients[a].begin(),
                            cell.gradients[a].end());
          geometry.push_back(mesh.measure[k]);
        }

      // Interior facets come first.
      face_records.assign(4 * std::size_t(n_rows), no_record);
      for (const bool at_boundary : {false, true})
        {
          const unsigned int first_slot =
            at_boundary ? n_groups(n_interior, Device::simplices_of_warp) *
                            Device::simplices_of_warp
                        : 0;
          unsigned int slot = first_slot;
          for (unsigned int i = 0; i < mesh.n_interfaces(); ++i)
            if ((mesh.interface_polytope[2 * i + 1] == invalid_index) ==
                at_boundary)
              for (unsigned int f = mesh.facet_offset[i];
                   f < mesh.facet_offset[i + 1];
                   ++f, ++slot)
                {
                  std::array<unsigned int, 2> face;
                  const std::string           why = add_facet(mesh, i, f, face);
                  if (!why.empty())
                    return why;
                  for (unsigned int s = 0; s < (at_boundary ? 1 : 2); ++s)
                    {
                      const unsigned int k = facets.back().polytope[s];
                      if (k < n_rows)
                        face_records[4 * std::size_t(k) + face[s]] =
                          (2 * slot + s) * 32 + facets.back().code[s];
                    }
                }
          (at_boundary ? n_boundary : n_interior) = slot - first_slot;
        }
      if (std::count(face_records.begin(), face_records.end(), no_record) !=
          static_cast<std::ptrdiff_t>((3 - dim) * std::size_t(n_rows)))
        return "there are hanging nodes";
      return "";
    }



    template <int dim>
    std::string
    PointwiseSimplices<dim>::add_facet(const PolytopicMesh<dim>    &mesh,
                                       const unsigned int           i,
                                       const unsigned int           f,
                                       std::array<unsigned int, 2> &face)
    {
      if (mesh.facet_type[f] != FacetType::simplex)
        return "there are curved facets";
      const double *const points =
        &mesh.facet_vertices[dim * std::size_t(mesh.facet_vertex_offset[f])];
      const std::array<double, dim> zero{};
      const bool                    at_boundary =
        mesh.interface_polytope[2 * i + 1] == invalid_index;
      Device::SimplexFacet facet = {};
      facet.facet                = f;
      for (unsigned int s = 0; s < (at_boundary ? 1 : 2); ++s)
        {
          facet.polytope[s] = mesh.interface_polytope[2 * i + s];
          std::array<unsigned int, dim> order;
          face[s] =
            find_face<dim>(simplex(mesh, facet.polytope[s]),
                           points,
                           s == 0 ? zero.data()
                                  : &mesh.shift[dim * mesh.interface_shift[i]],
                           order);
          if (face[s] == no_face)
            return "there are hanging nodes";
          facet.code[s] = face_code(dim, face[s], order.data());
        }
      if (at_boundary)
        {
          facet.polytope[1] = facet.polytope[0];
          facet.code[1]     = facet.code[0];
        }
      facets.push_back(facet);
      return "";
    }



    SimplexRule::SimplexRule(const unsigned int  dim,
                             const unsigned int  n_points,
                             const unsigned int  stride,
                             const double *const coordinates,
                             const double *const given)
      : weights(given, given + n_points)
    {
      for (unsigned int q = 0; q < n_points; ++q)
        for (unsigned int d = 0; d < dim; ++d)
          points.push_back(coordinates[d * stride + q]);
      const double sum = std::accumulate(weights.begin(), weights.end(), 0.);
      for (double &weight : weights)
        weight /= sum;
    }



    namespace
    {
      // Operand with nodes as rows and points as columns.
      void
      add_values(const std::vector<double> &functions,
                 const unsigned int         n_nodes,
                 const unsigned int         n_points,
                 const unsigned int         tile,
                 std::vector<double>       &table)
      {
        for (unsigned int step = 0; step < n_groups(n_nodes, 4); ++step)
          for (unsigned int lane = 0; lane < 32; ++lane)
            {
              const unsigned int node = 4 * step + lane % 4,
                                 q =
                                   std::min(8 * tile + lane / 4, n_points - 1);
              table.push_back(node < n_nodes ? functions[q * n_nodes + node]
                                             : 0.);
            }
      }

      // Operand with points as rows and nodes as columns.
      void
      add_test(const std::vector<double> &functions,
               const std::vector<double> &weights,
               const unsigned int         n_nodes,
               const unsigned int         tile,
               const unsigned int         e,
               const unsigned int         node_tile,
               std::vector<double>       &table)
      {
        for (unsigned int lane = 0; lane < 32; ++lane)
          {
            const unsigned int q    = 8 * tile + 2 * (lane % 4) + e,
                               node = 8 * node_tile + lane / 4;
            table.push_back(node < n_nodes && q < weights.size()
                              ? weights[q] * functions[q * n_nodes + node]
                              : 0.);
          }
      }
    } // namespace



    SimplexFieldTables::SimplexFieldTables(const unsigned int dim,
                                           const unsigned int degree,
                                           const SimplexRule &volume,
                                           const SimplexRule &facet)
      : n_nodes(Legendre::n_functions(dim, degree, false))
      , n_face_nodes(Legendre::n_functions(dim - 1, degree, false))
      , node_steps(n_groups(n_nodes, 4))
      , face_steps(n_groups(n_face_nodes, 4))
    {
      const auto functions = lagrange_polynomials(dim, degree, volume.points);
      std::vector<std::vector<double>> slopes;
      for (unsigned int d = 0; d < dim; ++d)
        slopes.push_back(lagrange_polynomials(dim, degree, volume.points, d));
      for (unsigned int tile = 0; tile < volume.n_tiles(); ++tile)
        {
          add_values(functions, n_nodes, volume.n_points(), tile, values);
          for (unsigned int d = 0; d < dim; ++d)
            add_values(
              slopes[d], n_nodes, volume.n_points(), tile, derivatives);
        }
      const auto on_face = lagrange_polynomials(dim - 1, degree, facet.points);
      for (unsigned int tile = 0; tile < facet.n_tiles(); ++tile)
        add_values(on_face, n_face_nodes, facet.n_points(), tile, face_values);
      for (const auto &vertices : face_codes(dim))
        {
          const auto nodes = face_nodes(dim, degree, vertices.data());
          face_node.insert(face_node.end(), nodes.begin(), nodes.end());
          face_node.insert(face_node.end(), 4 * face_steps - n_face_nodes, 0);
        }
    }



    SimplexTestTables::SimplexTestTables(const unsigned int dim,
                                         const unsigned int degree,
                                         const unsigned int n_components,
                                         const SimplexRule &volume,
                                         const SimplexRule &facet)
      : n_nodes(Legendre::n_functions(dim, degree, false))
      , n_face_nodes(Legendre::n_functions(dim - 1, degree, false))
      , node_tiles(n_groups(n_nodes, 8))
      , face_tiles(n_groups(n_face_nodes, 8))
      , record_size(n_groups(n_components * n_face_nodes, 4) * 4)
    {
      std::vector<std::vector<double>> rows;
      for (int d = -1; d < static_cast<int>(dim); ++d)
        rows.push_back(lagrange_polynomials(dim, degree, volume.points, d));
      for (unsigned int tile = 0; tile < volume.n_tiles(); ++tile)
        for (unsigned int i = 0; i < node_tiles; ++i)
          for (const auto &row : rows)
            for (unsigned int e = 0; e < 2; ++e)
              add_test(row, volume.weights, n_nodes, tile, e, i, test);
      const auto on_face = lagrange_polynomials(dim - 1, degree, facet.points);
      for (unsigned int tile = 0; tile < facet.n_tiles(); ++tile)
        for (unsigned int e = 0; e < 2; ++e)
          for (unsigned int i = 0; i < face_tiles; ++i)
            add_test(
              on_face, facet.weights, n_face_nodes, tile, e, i, face_test);
      for (const auto &vertices : face_codes(dim))
        {
          const auto nodes = face_nodes(dim, degree, vertices.data());
          std::vector<unsigned char> position(n_nodes, 0xff);
          for (unsigned int i = 0; i < nodes.size(); ++i)
            position[nodes[i]] = static_cast<unsigned char>(i);
          face_position.insert(face_position.end(),
                               position.begin(),
                               position.end());
        }
    }



    template struct PointwiseSimplices<2>;
    template struct PointwiseSimplices<3>;
  } // namespace internal
} // namespace Tessella
