// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tests_grid_check_mesh_h
#define tests_grid_check_mesh_h

// Invariants of every flat view.

#include <deal.II/base/tensor.h>

#include <deal.II/grid/tria.h>

#include <tessella/base/exceptions.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/grid/agglomeration_handler.h>

#include <array>
#include <map>
#include <random>

#include "../tests.h"

using namespace dealii;
using namespace Tessella;

// Groups of neighbouring and distant cells, never numbered like the cells.
template <int dim>
Agglomeration::Strategy<dim>
mixed_up(const unsigned int n_polytopes)
{
  return [n_polytopes](const Triangulation<dim> &tria) {
    const unsigned int        n = tria.n_active_cells();
    std::vector<unsigned int> ids(n);
    std::mt19937              random(4711);
    for (unsigned int i = 0; i < n; ++i)
      ids[i] = i < n_polytopes ? n_polytopes - 1 - i
                               : (random() % 4 == 0 ? random() % n_polytopes
                                                    : (i / 5) % n_polytopes);
    return ids;
  };
}

// Gauss rule of four points on [0,1].
const double gauss_x[4] = {0.06943184420297371,
                           0.33000947820757187,
                           0.66999052179242813,
                           0.93056815579702629};
const double gauss_w[4] = {0.17392742256872693,
                           0.32607257743127307,
                           0.32607257743127307,
                           0.17392742256872693};

// Calls f(x, n dS) at quadrature points of a facet that integrate quadratic
// functions exactly.
template <int dim, typename Function>
void
on_facet(const PolytopicMesh<dim> &mesh,
         const unsigned int        f,
         const Function           &g)
{
  const unsigned int first = mesh.facet_vertex_offset[f],
                     n     = mesh.facet_vertex_offset[f + 1] - first;
  std::vector<Point<dim>> v(n);
  for (unsigned int i = 0; i < n; ++i)
    for (int d = 0; d < dim; ++d)
      v[i][d] = mesh.facet_vertices[(first + i) * dim + d];
  if (mesh.facet_type[f] == FacetType::tabulated)
    {
      for (unsigned int q = mesh.facet_point_offset[f];
           q < mesh.facet_point_offset[f + 1];
           ++q)
        {
          Point<dim>     x;
          Tensor<1, dim> normal;
          for (int d = 0; d < dim; ++d)
            {
              x[d]      = mesh.facet_points[q * dim + d];
              normal[d] = mesh.facet_point_normals[q * dim + d] *
                          mesh.facet_point_weights[q];
            }
          g(x, normal);
        }
      return;
    }
  if constexpr (dim == 2)
    {
      const Tensor<1, 2> t = v[1] - v[0];
      Tensor<1, 2>       normal;
      normal[0] = t[1];
      normal[1] = -t[0];
      for (unsigned int q = 0; q < 4; ++q)
        g(v[0] + gauss_x[q] * t, gauss_w[q] * normal);
    }
  else if (n == 3)
    {
      const Tensor<1, dim> normal =
        .5 * cross_product_3d(Tensor<1, dim>(v[1] - v[0]),
                              Tensor<1, dim>(v[2] - v[0]));
      // midpoints of edges: exact for quadratics
      for (unsigned int e = 0; e < 3; ++e)
        g(Point<dim>((v[e] + v[(e + 1) % 3]) / 2.), normal / 3.);
    }
  else
    for (unsigned int p = 0; p < 4; ++p)
      for (unsigned int q = 0; q < 4; ++q)
        {
          const double         s = gauss_x[p], t = gauss_x[q];
          const Tensor<1, dim> ds =
            (1. - t) * (v[1] - v[0]) + t * (v[3] - v[2]);
          const Tensor<1, dim> dt =
            (1. - s) * (v[2] - v[0]) + s * (v[3] - v[1]);
          const Point<dim> x(v[0] + s * (v[1] - v[0]) + t * (v[2] - v[0]) +
                             s * t * (v[3] - v[2] - (v[1] - v[0])));
          g(x, gauss_w[p] * gauss_w[q] * cross_product_3d(ds, dt));
        }
}

// Checks the invariants of every mesh.
template <int dim>
void
check_mesh(const std::string               &name,
           const AgglomerationHandler<dim> &handler,
           const double                     domain,
           const double                     tolerance = 1e-12)
{
  const PolytopicMesh<dim> &mesh = handler.polytopic_mesh();
  const unsigned int        n    = mesh.n_polytopes();
  bool                      ok   = true;
  const auto require = [&](const bool condition, const std::string &what) {
    if (!condition && ok)
      {
        ok = false;
        check(name + ": " + what, false);
      }
  };

  // -- measures and boxes
  double sum = 0.;
  for (unsigned int k = 0; k < n; ++k)
    sum += mesh.measure[k];
  require(std::abs(sum - domain) <= tolerance * domain,
          "measure " + std::to_string(sum));
  for (unsigned int k = 0; k < n; ++k)
    for (unsigned int s = mesh.subcell_offset[k];
         s < mesh.subcell_offset[k + 1];
         ++s)
      {
        require(handler.polytope_of_cell()[mesh.subcell_cell[s]] == k,
                "cells of polytopes");
        require(s == mesh.subcell_offset[k] ||
                  handler.active_cell(mesh.subcell_cell[s - 1])->id() <
                    handler.active_cell(mesh.subcell_cell[s])->id(),
                "order of cells");
        for (unsigned int v = mesh.subcell_vertex_offset[s];
             v < mesh.subcell_vertex_offset[s + 1];
             ++v)
          for (int d = 0; d < dim; ++d)
            {
              const double x = mesh.subcell_vertices[v * dim + d];
              require(x >= mesh.box[2 * dim * k + d] &&
                        x <= mesh.box[2 * dim * k + dim + d],
                      "bounding box");
            }
      }

  // -- closedness, and the divergence theorem for the fields x and x_0^2 e_0
  std::vector<Tensor<1, dim>> closed(n), surface_moment(n);
  std::vector<double>         divergence(n, 0.), area(n, 0.);
  for (unsigned int i = 0; i < mesh.n_interfaces(); ++i)
    for (unsigned int f = mesh.facet_offset[i]; f < mesh.facet_offset[i + 1];
         ++f)
      {
        Tensor<1, dim> mean;
        double         length = 0.;
        on_facet<dim>(
          mesh, f, [&](const Point<dim> &x, const Tensor<1, dim> &normal) {
            mean += normal;
            length += normal.norm();
            for (unsigned int side = 0; side < 2; ++side)
              {
                const unsigned int k = mesh.interface_polytope[2 * i + side];
                if (k == invalid_index)
                  continue;
                Tensor<1, dim> y(x);
                if (side == 1)
                  for (int d = 0; d < dim; ++d)
                    y[d] += mesh.shift[mesh.interface_shift[i] * dim + d];
                const double sign = side == 0 ? 1. : -1.;
                closed[k] += sign * normal;
                divergence[k] += sign * (normal * y) / dim;
                for (int d = 0; d < dim; ++d)
                  require(y[d] >= mesh.box[2 * dim * k + d] - 1e-12 &&
                            y[d] <= mesh.box[2 * dim * k + dim + d] + 1e-12,
                          "facet outside of the bounding box");
              }
          });
        Tensor<1, dim> stored;
        for (int d = 0; d < dim; ++d)
          stored[d] = mesh.facet_normal[f * dim + d];
        require(std::abs(stored.norm() - 1.) < 1e-12, "unit normal");
        require((stored - mean / mean.norm()).norm() < 1e-10, "mean normal");
        require(std::abs(length - mesh.facet_measure[f]) <=
                  1e-5 * mesh.facet_measure[f],
                "facet measure");
        for (unsigned int side = 0; side < 2; ++side)
          {
            const unsigned int k = mesh.interface_polytope[2 * i + side],
                               s = mesh.facet_subcell[2 * f + side];
            require((k == invalid_index) == (s == invalid_index),
                    "sides of facets");
            if (k != invalid_index)
              require(s >= mesh.subcell_offset[k] &&
                        s < mesh.subcell_offset[k + 1],
                      "sub-cell of facet");
          }
        if (f > mesh.facet_offset[i])
          require(mesh.facet_subcell[2 * (f - 1)] <= mesh.facet_subcell[2 * f],
                  "order of facets");
      }
  for (unsigned int k = 0; k < n; ++k)
    {
      const double h = std::pow(mesh.measure[k], 1. / dim);
      require(closed[k].norm() <= 100 * tolerance * std::pow(h, dim - 1),
              "closed surface");
      require(std::abs(divergence[k] - mesh.measure[k]) <=
                100 * tolerance * (mesh.measure[k] + std::pow(h, dim - 1)),
              "divergence theorem");
    }

  // -- order of interfaces
  std::map<std::array<unsigned int, 4>, unsigned int> seen;
  std::array<unsigned int, 4>                         previous{};
  for (unsigned int i = 0; i < mesh.n_interfaces(); ++i)
    {
      const bool boundary = mesh.interface_boundary_id[i] != invalid_index;
      require(boundary == (mesh.interface_polytope[2 * i + 1] == invalid_index),
              "boundary interface");
      const std::array<unsigned int, 4> key = {
        {mesh.interface_polytope[2 * i],
         mesh.interface_polytope[2 * i + 1],
         boundary ? mesh.interface_boundary_id[i] : 0,
         mesh.interface_shift[i]}};
      require(i == 0 || previous < key, "order of interfaces");
      require(key[0] <= key[1], "side 0 has the lower id");
      require(mesh.facet_offset[i] < mesh.facet_offset[i + 1],
              "empty interface");
      previous = key;
    }

  // -- lists of polytopes and their accessors
  unsigned int n_entries = 0;
  for (const PolytopeAccessor<dim> &polytope : handler.polytope_iterators())
    {
      const unsigned int k      = polytope.index();
      unsigned int       before = 0, boundary_before = 0, n_facets = 0;
      bool               in_boundary = false, shifted = false;
      for (unsigned int f = 0; f < polytope.n_faces(); ++f, ++n_entries)
        {
          const unsigned int entry =
            mesh.polytope_interface[mesh.polytope_interface_offset[k] + f];
          require(mesh.interface_polytope[entry] == k, "lists of interfaces");
          n_facets +=
            mesh.facet_offset[entry / 2 + 1] - mesh.facet_offset[entry / 2];
          shifted = shifted || mesh.interface_shift[entry / 2] != 0;
          if (polytope.at_boundary(f))
            {
              require(!in_boundary || boundary_before < polytope.boundary_id(f),
                      "order of boundaries in lists");
              in_boundary     = true;
              boundary_before = polytope.boundary_id(f);
              continue;
            }
          require(!in_boundary, "boundaries come last");
          const PolytopeAccessor<dim> neighbor = polytope.neighbor(f);
          require(f == 0 || before <= neighbor.index(),
                  "order of neighbours in lists");
          before               = neighbor.index();
          const unsigned int g = polytope.neighbor_of_agglomerated_neighbor(f);
          require(neighbor.neighbor(g).index() == k &&
                    neighbor.neighbor_of_agglomerated_neighbor(g) == f,
                  "neighbour of neighbour");
        }
      // A periodic facet may be smaller than the face.
      require(shifted || polytope.polytope_boundary().size() == n_facets,
              "faces of the boundary");
    }
  unsigned int n_sides = 0;
  for (const unsigned int k : mesh.interface_polytope)
    n_sides += k != invalid_index;
  require(n_entries == n_sides, "entries of lists");

  if (ok)
    check(name, true);
}

// Agglomerates in several ways and checks each.
template <int dim>
void
check_all(const std::string        &name,
          const Triangulation<dim> &tria,
          const double              domain,
          const Mapping<dim>       *mapping   = nullptr,
          const double              tolerance = 1e-12)
{
  AgglomerationHandler<dim> handler(tria, mapping);
  const unsigned int        n = tria.n_active_cells();
  for (const unsigned int n_polytopes :
       {1u, std::max(1u, n / 7), std::max(1u, n / 2), n})
    {
      handler.agglomerate(mixed_up<dim>(n_polytopes));
      handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(1));
      handler.tabulate(2);
      check_mesh(name + ", " + std::to_string(n_polytopes) + " of " +
                   std::to_string(n) + " cells",
                 handler,
                 domain,
                 tolerance);
    }
}


template <int dim>
void
refine_some(Triangulation<dim> &tria, const unsigned int n_times)
{
  for (unsigned int i = 0; i < n_times; ++i)
    {
      for (const auto &cell : tria.active_cell_iterators())
        if (cell->active_cell_index() % 5 == i % 5)
          cell->set_refine_flag();
      tria.execute_coarsening_and_refinement();
    }
}

#endif
