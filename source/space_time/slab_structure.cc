// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/tensor.h>

#include <tessella/base/exceptions.h>
#include <tessella/grid/revision.h>
#include <tessella/quadrature/reference_quadrature.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "../grid/ghost_exchange.h"
#include "slab_data.h"

namespace Tessella
{
  using namespace dealii;

  namespace
  {
    /// Measure of a simplex, or of the multilinear image of a hypercube, with
    /// @p n vertices. The sign is the orientation of the vertices.
    template <int dim>
    double
    signed_measure(const double *vertices, const unsigned int n)
    {
      // Derivatives of the map from the reference cell, one in each row.
      Tensor<2, dim> edges;
      if (n == dim + 1)
        {
          for (unsigned int d = 0; d < dim; ++d)
            for (unsigned int e = 0; e < dim; ++e)
              edges[d][e] = vertices[dim * (d + 1) + e] - vertices[e];
          return determinant(edges) / (dim == 2 ? 2. : 6.);
        }
      // The determinant has degree dim - 1 in each variable.
      const ReferenceRule &rule = hypercube_rule(dim, dim - 1);
      double               sum  = 0.;
      for (unsigned int q = 0; q < rule.n_points; ++q)
        {
          for (unsigned int d = 0; d < dim; ++d)
            {
              edges[d].clear();
              for (unsigned int v = 0; v < n; ++v)
                {
                  double slope = v >> d & 1u ? 1. : -1.;
                  for (unsigned int c = 0; c < dim; ++c)
                    if (c != d)
                      {
                        const double xi = rule.points[c * rule.n_points + q];
                        slope *= v >> c & 1u ? xi : 1. - xi;
                      }
                  for (unsigned int e = 0; e < dim; ++e)
                    edges[d][e] += slope * vertices[dim * v + e];
                }
            }
          sum += rule.weights[q] * determinant(edges);
        }
      return sum;
    }
  } // namespace



  template <int dim>
  void
  SpaceTimeSlab<dim>::Implementation::build_structure()
  {
    const PolytopicMesh<dim> &spatial = handler->polytopic_mesh();
    const unsigned int        n       = spatial.n_polytopes();
    mesh                              = PolytopicMesh<D>();
    dofs                              = PolytopicDoFs();
    mesh.prismatic                    = true;
    mesh.bottom_id                    = bottom_id;
    mesh.shift.resize(spatial.shift.size() / dim * D, 0.);
    for (unsigned int s = 0; s < spatial.shift.size() / dim; ++s)
      std::copy_n(&spatial.shift[s * dim], dim, &mesh.shift[s * D]);

    first_element.assign(n + 1, 0);
    std::copy(intervals.begin(), intervals.end(), first_element.begin() + 1);
    internal::accumulate(first_element);
    element_polytope.resize(first_element[n]);
    internal::for_all(n, [&](const unsigned int k) {
      std::fill(element_polytope.begin() + first_element[k],
                element_polytope.begin() + first_element[k + 1],
                k);
    });
    mesh.n_owned = spatial.n_owned == invalid_index
                     ? invalid_index
                     : first_element[spatial.n_owned];
    mesh.measure.resize(element_polytope.size());
    mesh.box.resize(2 * D * element_polytope.size());
    build_spaces();
    build_subcells();
    number_in_parallel();
    list_interfaces();
    build_facets();
    ++n_structures;
    spatial_revision = revision_of_handler();
    has_tables       = false;
    formula          = -1;
  }



  template <int dim>
  void
  SpaceTimeSlab<dim>::Implementation::build_spaces()
  {
    const PolytopicDoFs &spatial_dofs = handler->polytopic_dofs();
    const unsigned int   n_elements   = element_polytope.size();
    dofs.degree.resize(n_elements);
    dofs.n_basis.resize(n_elements);
    dofs.dof_offset.assign(n_elements + 1, 0);
    for (unsigned int e = 0; e < n_elements; ++e)
      {
        dofs.degree[e]  = spatial_dofs.degree[element_polytope[e]];
        dofs.n_basis[e] = Legendre::n_functions(D, dofs.degree[e], space);
        dofs.dof_offset[e + 1] = dofs.dof_offset[e] + dofs.n_basis[e];
      }
    dofs.revision         = new_revision();
    dofs.penalty_revision = dofs.revision;

    // Basis functions are products of spatial functions and polynomials in
    // time. The spatial functions are numbered as those of the handler.
    const unsigned int p         = handler->max_degree();
    const unsigned int n         = Legendre::n_functions(D, p, space),
                       n_spatial = Legendre::n_functions(
                         dim, p, PolynomialSpaceType::total_degree);
    std::vector<unsigned char> exponents(D * n), factors(dim * n_spatial);
    Legendre::exponents(D, p, space, exponents.data());
    Legendre::exponents(dim,
                        p,
                        PolynomialSpaceType::total_degree,
                        factors.data());
    spatial_function.resize(n);
    time_degree.resize(n);
    for (unsigned int i = 0; i < n; ++i)
      {
        const unsigned char *e = &exponents[D * i];
        time_degree[i]         = e[dim];
        for (unsigned int s = 0; s < n_spatial; ++s)
          if (std::equal(e, e + dim, &factors[dim * s]))
            spatial_function[i] = s;
      }
  }



  template <int dim>
  void
  SpaceTimeSlab<dim>::Implementation::build_subcells()
  {
    const PolytopicMesh<dim> &spatial    = handler->polytopic_mesh();
    const unsigned int        n_elements = element_polytope.size();
    mesh.subcell_offset.assign(n_elements + 1, 0);
    for (unsigned int e = 0; e < n_elements; ++e)
      {
        const unsigned int k = element_polytope[e];
        mesh.subcell_offset[e + 1] =
          spatial.subcell_offset[k + 1] - spatial.subcell_offset[k];
      }
    internal::accumulate(mesh.subcell_offset);
    const unsigned int n = mesh.subcell_offset.back();
    mesh.subcell_type.resize(n);
    mesh.subcell_cell.resize(n);
    mesh.subcell_material.resize(n);
    mesh.subcell_vertex_offset.assign(n + 1, 0);
    const auto for_subcells = [&](const auto &function) {
      internal::for_all(n_elements, [&](const unsigned int e) {
        unsigned int s = spatial.subcell_offset[element_polytope[e]];
        for (unsigned int i = mesh.subcell_offset[e];
             i < mesh.subcell_offset[e + 1];
             ++i, ++s)
          function(i, s);
      });
    };
    for_subcells([&](const unsigned int i, const unsigned int s) {
      const SubCellType  type = spatial.subcell_type[s];
      const unsigned int n_vertices =
        spatial.subcell_vertex_offset[s + 1] - spatial.subcell_vertex_offset[s];
      mesh.subcell_type[i] =
        type == SubCellType::simplex ? SubCellType::prism : type;
      mesh.subcell_cell[i]     = spatial.subcell_cell[s];
      mesh.subcell_material[i] = spatial.subcell_material[s];
      mesh.subcell_vertex_offset[i + 1] =
        type == SubCellType::simplex ? n_vertices + 1 : 2 * n_vertices;
    });
    internal::accumulate(mesh.subcell_vertex_offset);
    mesh.subcell_vertices.assign(D * std::size_t(mesh.subcell_vertex_offset[n]),
                                 0.);
    for_subcells([&](const unsigned int i, const unsigned int s) {
      const unsigned int first = spatial.subcell_vertex_offset[s],
                         m     = spatial.subcell_vertex_offset[s + 1] - first;
      double *to =
        &mesh.subcell_vertices[D * std::size_t(mesh.subcell_vertex_offset[i])];
      const unsigned int n_vertices =
        mesh.subcell_vertex_offset[i + 1] - mesh.subcell_vertex_offset[i];
      for (unsigned int v = 0; v < n_vertices; ++v, to += D)
        std::copy_n(&spatial.subcell_vertices[dim * (first + v % m)], dim, to);
    });
  }



  template <int dim>
  void
  SpaceTimeSlab<dim>::Implementation::number_in_parallel()
  {
    const PolytopicMesh<dim> &spatial = handler->polytopic_mesh();
    const unsigned int        n_own   = n_owned_elements();
    n_all_elements                    = n_own;
    first_own_dof                     = 0;
    n_all_dofs                        = dofs.dof_offset[n_own];
    interval_numbers.clear();
    interval_numbers.insert(intervals.begin(), intervals.end());
    if (!parallel())
      return;

    const MPI_Comm communicator = handler->get_communicator();
    first_own_dof  = internal::sum_of_lower_processes(n_all_dofs, communicator);
    n_all_dofs     = Utilities::MPI::sum(n_all_dofs, communicator);
    n_all_elements = Utilities::MPI::sum(n_all_elements, communicator);
    AssertThrow(n_all_elements < invalid_index,
                ExcUserInput("The slab has " + std::to_string(n_all_elements) +
                             " elements, more than can be counted with 32 "
                             "bits: use fewer intervals a slab."));
    const std::vector<unsigned int> own(interval_numbers.begin(),
                                        interval_numbers.end());
    for (const std::vector<unsigned int> &numbers :
         Utilities::MPI::all_gather(communicator, own))
      interval_numbers.insert(numbers.begin(), numbers.end());
    // Integers below 2^53 are exact in double.
    std::vector<double> first_dof(spatial.n_polytopes());
    for (unsigned int k = 0; k < handler->n_polytopes(); ++k)
      first_dof[k] =
        static_cast<double>(first_own_dof + dofs.dof_offset[first_element[k]]);
    handler->exchange_polytope_values(first_dof, 1);
    ghost_first_dof.assign(first_dof.begin() + handler->n_polytopes(),
                           first_dof.end());
    set_whole_mesh();
    set_whole_space();
  }



  // Properties of the mesh of all processes.
  template <int dim>
  void
  SpaceTimeSlab<dim>::Implementation::set_whole_mesh()
  {
    const auto &from = handler->polytopic_mesh().whole;
    auto       &to   = mesh.whole;
    to.is_set        = true;
    const auto bit   = [](const auto type) {
      return 1u << static_cast<unsigned int>(type);
    };
    const auto translate =
      [&](const unsigned int types, const auto type, const auto result) {
        return types & bit(type) ? bit(result) : 0u;
      };
    using S = SubCellType;
    using F = FacetType;
    to.subcell_types =
      translate(from.subcell_types, S::simplex, S::prism) |
      (from.subcell_types &
       (bit(S::parallelepiped) | bit(S::hypercube) | bit(S::tabulated)));
    // vertical facets, then bottoms and bases
    to.facet_types =
      translate(from.facet_types, F::simplex, F::prism) |
      (from.facet_types & (bit(F::quadrilateral) | bit(F::tabulated))) |
      translate(from.subcell_types, S::simplex, F::simplex) |
      translate(from.subcell_types, S::parallelepiped, F::quadrilateral) |
      translate(from.subcell_types, S::hypercube, F::quadrilateral) |
      translate(from.subcell_types, S::tabulated, F::tabulated);
    to.aligned = from.aligned;
  }



  // Properties of the space on the mesh of all processes.
  template <int dim>
  void
  SpaceTimeSlab<dim>::Implementation::set_whole_space()
  {
    const PolytopicDoFs::Whole &from = handler->polytopic_dofs().whole;
    PolytopicDoFs::Whole       &to   = dofs.whole;
    to.is_set                        = true;
    to.total_degree         = space == PolynomialSpaceType::total_degree;
    to.max_degree           = from.max_degree;
    to.max_basis            = Legendre::n_functions(D, from.max_degree, space);
    unsigned int min_degree = 0;
    while (min_degree < from.max_degree &&
           Legendre::n_functions(dim, min_degree, false) < from.min_basis)
      ++min_degree;
    to.min_basis = Legendre::n_functions(D, min_degree, space);
  }



  template <int dim>
  void
  SpaceTimeSlab<dim>::Implementation::build_facets()
  {
    const std::size_t n_facets = mesh.facet_offset.back();
    mesh.facet_type.resize(n_facets);
    mesh.facet_normal.assign(D * n_facets, 0.);
    mesh.facet_measure.assign(n_facets, 0.);
    mesh.facet_subcell.assign(2 * n_facets, invalid_index);
    mesh.facet_vertex_offset.assign(n_facets + 1, 0);
    for_facets([&](const unsigned int facet,
                   const unsigned int from,
                   const unsigned int interface) {
      copy_facet(facet, from, interface);
    });
    internal::accumulate(mesh.facet_vertex_offset);
    mesh.facet_vertices.assign(
      D * std::size_t(mesh.facet_vertex_offset[n_facets]), 0.);
    for_facets([&](const unsigned int facet,
                   const unsigned int from,
                   const unsigned int interface) {
      copy_facet_vertices(facet, from, interface_origin[interface]);
    });
  }



  // Calls function(facet, spatial facet or sub-cell, interface).
  template <int dim>
  template <typename Function>
  void
  SpaceTimeSlab<dim>::Implementation::for_facets(const Function &function) const
  {
    const PolytopicMesh<dim> &spatial = handler->polytopic_mesh();
    internal::for_all(interface_origin.size(), [&](const unsigned int i) {
      const unsigned int origin = interface_origin[i];
      unsigned int       s =
        is_horizontal(origin)
                ? spatial
              .subcell_offset[element_polytope[mesh.interface_polytope[2 * i]]]
                : spatial.facet_offset[origin];
      for (unsigned int f = mesh.facet_offset[i]; f < mesh.facet_offset[i + 1];
           ++f, ++s)
        function(f, s, i);
    });
  }



  // Type, normal, sub-cells and number of vertices of a facet.
  template <int dim>
  void
  SpaceTimeSlab<dim>::Implementation::copy_facet(const unsigned int f,
                                                 const unsigned int s,
                                                 const unsigned int interface)
  {
    const PolytopicMesh<dim> &spatial    = handler->polytopic_mesh();
    const unsigned int        origin     = interface_origin[interface];
    const bool                horizontal = is_horizontal(origin);
    if (horizontal)
      {
        const SubCellType type = spatial.subcell_type[s];
        mesh.facet_type[f] = type == SubCellType::simplex ? FacetType::simplex
                             : type == SubCellType::tabulated
                               ? FacetType::tabulated
                               : FacetType::quadrilateral;
        mesh.facet_normal[D * f + dim]  = origin == at_bottom ? -1. : 1.;
        mesh.facet_vertex_offset[f + 1] = spatial.subcell_vertex_offset[s + 1] -
                                          spatial.subcell_vertex_offset[s];
      }
    else
      {
        const FacetType type = spatial.facet_type[s];
        mesh.facet_type[f] =
          type == FacetType::simplex ? FacetType::prism : type;
        std::copy_n(&spatial.facet_normal[dim * s],
                    dim,
                    &mesh.facet_normal[D * f]);
        const unsigned int n_vertices =
          spatial.facet_vertex_offset[s + 1] - spatial.facet_vertex_offset[s];
        mesh.facet_vertex_offset[f + 1] =
          type == FacetType::simplex ? n_vertices + 1 : 2 * n_vertices;
      }
    for (unsigned int side = 0; side < 2; ++side)
      {
        const unsigned int e = mesh.interface_polytope[2 * interface + side];
        if (e != invalid_index)
          mesh.facet_subcell[2 * f + side] =
            mesh.subcell_offset[e] +
            (horizontal ? s : spatial.facet_subcell[2 * s + side]) -
            spatial.subcell_offset[element_polytope[e]];
      }
  }



  // Spatial coordinates of the vertices of a facet, and the measure of a
  // horizontal facet.
  template <int dim>
  void
  SpaceTimeSlab<dim>::Implementation::copy_facet_vertices(
    const unsigned int f, const unsigned int s, const unsigned int origin)
  {
    const PolytopicMesh<dim> &spatial = handler->polytopic_mesh();
    double                   *to =
      &mesh.facet_vertices[D * std::size_t(mesh.facet_vertex_offset[f])];
    const unsigned int n =
      mesh.facet_vertex_offset[f + 1] - mesh.facet_vertex_offset[f];
    if (is_horizontal(origin))
      {
        // Orders the vertices such that their orientation matches the normal
        // of the facet. Vertices with positive measure have an upward normal
        // for dim = 2 and a downward normal for dim = 3.
        const double *from =
          &spatial.subcell_vertices[dim * spatial.subcell_vertex_offset[s]];
        const double size     = signed_measure<dim>(from, n);
        mesh.facet_measure[f] = std::abs(size);
        const bool swap = (size > 0.) != ((dim == 2) == (origin == in_column));
        // swaps the first two directions
        constexpr unsigned int exchanged[8] = {0, 2, 1, 3, 4, 6, 5, 7};
        for (unsigned int v = 0; v < n; ++v, to += D)
          std::copy_n(from + dim * (swap ? exchanged[v] : v), dim, to);
      }
    else
      {
        const unsigned int first = spatial.facet_vertex_offset[s],
                           m     = spatial.facet_vertex_offset[s + 1] - first;
        for (unsigned int v = 0; v < n; ++v, to += D)
          std::copy_n(&spatial.facet_vertices[dim * (first + v % m)], dim, to);
      }
  }



  // Sets all data that depend on the length of the slab.
  template <int dim>
  void
  SpaceTimeSlab<dim>::Implementation::set_times()
  {
    internal::for_all(element_polytope.size(),
                      [&](const unsigned int e) { set_element_times(e); });
    internal::for_all(interface_origin.size(),
                      [&](const unsigned int i) { set_facet_times(i); });
    mesh.revision = new_revision();
    ++n_changes;
    // The revision of the quadrature covers the coordinates of its points.
    table_origin = 0;
    if (has_tables)
      tabulate_products();
  }



  // Box, measure and vertices of the sub-cells of an element.
  template <int dim>
  void
  SpaceTimeSlab<dim>::Implementation::set_element_times(const unsigned int e)
  {
    const PolytopicMesh<dim> &spatial = handler->polytopic_mesh();
    const unsigned int        k = element_polytope[e], i = e - first_element[k];
    const double              lower = breakpoint(intervals[k], i),
                 upper              = breakpoint(intervals[k], i + 1);
    double *box                     = &mesh.box[2 * D * std::size_t(e)];
    std::copy_n(&spatial.box[2 * dim * k], dim, box);
    std::copy_n(&spatial.box[2 * dim * k + dim], dim, box + D);
    box[dim]        = lower;
    box[D + dim]    = upper;
    mesh.measure[e] = spatial.measure[k] * (upper - lower);
    for (unsigned int s = mesh.subcell_offset[e];
         s < mesh.subcell_offset[e + 1];
         ++s)
      {
        const unsigned int first = mesh.subcell_vertex_offset[s],
                           n     = mesh.subcell_vertex_offset[s + 1] - first;
        const unsigned int n_lower =
          mesh.subcell_type[s] == SubCellType::prism ? n - 1 : n / 2;
        for (unsigned int v = 0; v < n; ++v)
          mesh.subcell_vertices[D * (first + v) + dim] =
            v < n_lower ? lower : upper;
      }
  }



  // Vertices of the facets of an interface, and measures of vertical facets.
  template <int dim>
  void
  SpaceTimeSlab<dim>::Implementation::set_facet_times(const unsigned int i)
  {
    const PolytopicMesh<dim> &spatial    = handler->polytopic_mesh();
    const unsigned int        origin     = interface_origin[i];
    const unsigned int       *elements   = &mesh.interface_polytope[2 * i];
    const bool                horizontal = is_horizontal(origin);
    const double *box0  = &mesh.box[2 * D * std::size_t(elements[0])];
    double        lower = box0[dim], upper = box0[D + dim];
    if (origin == in_column)
      lower = upper;
    else if (origin == at_bottom)
      upper = lower;
    else if (elements[1] != invalid_index)
      {
        const double *box1 = &mesh.box[2 * D * std::size_t(elements[1])];
        lower              = std::max(lower, box1[dim]);
        upper              = std::min(upper, box1[D + dim]);
      }
    for (unsigned int f = mesh.facet_offset[i]; f < mesh.facet_offset[i + 1];
         ++f)
      {
        const unsigned int first   = mesh.facet_vertex_offset[f],
                           n       = mesh.facet_vertex_offset[f + 1] - first;
        const unsigned int n_lower = horizontal ? n
                                     : mesh.facet_type[f] == FacetType::prism
                                       ? n - 1
                                       : n / 2;
        for (unsigned int v = 0; v < n; ++v)
          mesh.facet_vertices[D * (first + v) + dim] =
            v < n_lower ? lower : upper;
        if (!horizontal)
          mesh.facet_measure[f] =
            spatial.facet_measure[spatial.facet_offset[origin] + f -
                                  mesh.facet_offset[i]] *
            (upper - lower);
      }
  }



#define INSTANTIATE(dim)                                               \
  template void SpaceTimeSlab<dim>::Implementation::build_structure(); \
  template void SpaceTimeSlab<dim>::Implementation::set_times();

  INSTANTIATE(2)
  INSTANTIATE(3)
#undef INSTANTIATE
} // namespace Tessella
