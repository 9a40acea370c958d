// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/exceptions.h>

#include <tessella/values/polytope_quadrature.h>

#include <algorithm>

#include "../grid/mesh_points.h"

namespace Tessella
{
  using namespace dealii;

  template <int dim>
  void
  prepare_quadrature(const AgglomerationHandler<dim> &handler,
                     const unsigned int               order)
  {
    const std::vector<unsigned int> &degree = handler.polytopic_dofs().degree;
    const unsigned int               min_degree =
      degree.empty() ? 0 : *std::min_element(degree.begin(), degree.end());
    handler.tabulate(order > 2 * min_degree ? order - 2 * min_degree : 0);
  }



  template <int dim>
  void
  PolytopePoints<dim>::resize(const unsigned int n)
  {
    n_points = n;
    for (auto &coordinate : x)
      coordinate.resize(n);
    JxW.resize(n);
    subcell.resize(n);
    material.resize(n);
  }



  namespace
  {
    template <int dim>
    unsigned int
    n_subcell_points(const PolytopicMesh<dim> &mesh,
                     const unsigned int        subcell,
                     const unsigned int        order)
    {
      if (mesh.subcell_type[subcell] != SubCellType::tabulated)
        return internal::subcell_rule<dim>(mesh.subcell_type[subcell], order)
          .n_points;
      Assert(subcell + 1 < mesh.subcell_point_offset.size(),
             ExcMessage("Call prepare_quadrature() first."));
      return mesh.subcell_point_offset[subcell + 1] -
             mesh.subcell_point_offset[subcell];
    }

    template <int dim>
    unsigned int
    n_facet_points(const PolytopicMesh<dim> &mesh,
                   const unsigned int        facet,
                   const unsigned int        order)
    {
      if (mesh.facet_type[facet] != FacetType::tabulated)
        return internal::facet_rule<dim>(mesh.facet_type[facet], order)
          .n_points;
      Assert(facet + 1 < mesh.facet_point_offset.size(),
             ExcMessage("Call prepare_quadrature() first."));
      return mesh.facet_point_offset[facet + 1] -
             mesh.facet_point_offset[facet];
    }

    /// Prepares the tabulated quadrature points that reinit() needs, if there
    /// are tabulated sub-cells or facets.
    template <int dim>
    void
    prepare_tables(const AgglomerationHandler<dim> &handler,
                   const unsigned int               polytope,
                   const unsigned int               order)
    {
      const std::vector<unsigned int> &degree = handler.polytopic_dofs().degree;
      const unsigned int p = degree.empty() ? 0 : degree[polytope];
      handler.tabulate(order > 2 * p ? order - 2 * p : 0);
    }
  } // namespace



  template <int dim>
  void
  PolytopeQuadrature<dim>::reinit(const AgglomerationHandler<dim> &handler,
                                  const unsigned int               polytope,
                                  const unsigned int               order)
  {
    const PolytopicMesh<dim> &mesh = handler.polytopic_mesh();
    AssertIndexRange(polytope, mesh.n_polytopes());
    const unsigned int begin = mesh.subcell_offset[polytope];
    const unsigned int end   = mesh.subcell_offset[polytope + 1];

    for (unsigned int s = begin; s < end; ++s)
      if (mesh.subcell_type[s] == SubCellType::tabulated)
        {
          prepare_tables(handler, polytope, order);
          break;
        }

    unsigned int n = 0;
    for (unsigned int s = begin; s < end; ++s)
      n += n_subcell_points(mesh, s, order);
    this->resize(n);
    for (unsigned int s = begin, first = 0; s < end; ++s)
      first += fill_subcell(mesh, s, order, first);
  }



  template <int dim>
  void
  PolytopeQuadrature<dim>::reinit_subcell(const PolytopicMesh<dim> &mesh,
                                          const unsigned int        subcell,
                                          const unsigned int        order)
  {
    AssertIndexRange(subcell, mesh.n_subcells());
    this->resize(n_subcell_points(mesh, subcell, order));
    fill_subcell(mesh, subcell, order, 0);
  }



  template <int dim>
  unsigned int
  PolytopeQuadrature<dim>::fill_subcell(const PolytopicMesh<dim> &mesh,
                                        const unsigned int        s,
                                        const unsigned int        order,
                                        const unsigned int        first)
  {
    const SubCellType type = mesh.subcell_type[s];
    unsigned int      n    = 0;
    internal::for_subcell_points<dim>(mesh,
                                      s,
                                      type == SubCellType::tabulated
                                        ? nullptr
                                        : &internal::subcell_rule<dim>(type,
                                                                       order),
                                      [&](const unsigned int q,
                                          const double(&point)[dim],
                                          const double weight) {
                                        for (unsigned int d = 0; d < dim; ++d)
                                          this->x[d][first + q] = point[d];
                                        this->JxW[first + q] = weight;
                                        n                    = q + 1;
                                      });
    std::fill_n(this->subcell.begin() + first, n, s);
    std::fill_n(this->material.begin() + first, n, mesh.subcell_material[s]);
    return n;
  }



  template <int dim>
  void
  InterfaceQuadrature<dim>::resize(const unsigned int n)
  {
    PolytopePoints<dim>::resize(n);
    for (unsigned int d = 0; d < dim; ++d)
      {
        neighbor_x[d].resize(n);
        normal[d].resize(n);
      }
    facet.resize(n);
    neighbor_subcell.resize(n);
    neighbor_material.resize(n);
  }



  template <int dim>
  void
  InterfaceQuadrature<dim>::reinit(const AgglomerationHandler<dim> &handler,
                                   const unsigned int               interface,
                                   const unsigned int               side,
                                   const unsigned int               order)
  {
    const PolytopicMesh<dim> &mesh = handler.polytopic_mesh();
    AssertIndexRange(interface, mesh.n_interfaces());
    AssertIndexRange(side, 2);
    const unsigned int begin = mesh.facet_offset[interface];
    const unsigned int end   = mesh.facet_offset[interface + 1];

    for (unsigned int f = begin; f < end; ++f)
      if (mesh.facet_type[f] == FacetType::tabulated)
        {
          // The order of tabulated facets follows from the larger degree of the
          // two sides. The smaller degree would yield an order that is also
          // sufficient, but higher than needed.
          const std::vector<unsigned int> &degree =
            handler.polytopic_dofs().degree;
          unsigned int       polytope = mesh.interface_polytope[2 * interface];
          const unsigned int other = mesh.interface_polytope[2 * interface + 1];
          if (other != invalid_index && !degree.empty() &&
              degree[other] > degree[polytope])
            polytope = other;
          prepare_tables(handler, polytope, order);
          break;
        }

    unsigned int n = 0;
    for (unsigned int f = begin; f < end; ++f)
      n += n_facet_points(mesh, f, order);
    resize(n);
    for (unsigned int f = begin, first = 0; f < end; ++f)
      first += fill_facet(mesh, f, side, order, first);
    apply_shift(mesh, interface, side);
  }



  template <int dim>
  void
  InterfaceQuadrature<dim>::reinit_facet(const PolytopicMesh<dim> &mesh,
                                         const unsigned int        interface,
                                         const unsigned int        facet,
                                         const unsigned int        side,
                                         const unsigned int        order)
  {
    AssertIndexRange(interface, mesh.n_interfaces());
    AssertIndexRange(side, 2);
    Assert(facet >= mesh.facet_offset[interface] &&
             facet < mesh.facet_offset[interface + 1],
           ExcMessage("The facet does not belong to the interface."));
    resize(n_facet_points(mesh, facet, order));
    fill_facet(mesh, facet, side, order, 0);
    apply_shift(mesh, interface, side);
  }



  template <int dim>
  unsigned int
  InterfaceQuadrature<dim>::fill_facet(const PolytopicMesh<dim> &mesh,
                                       const unsigned int        f,
                                       const unsigned int        side,
                                       const unsigned int        order,
                                       const unsigned int        first)
  {
    const FacetType type = mesh.facet_type[f];
    const double    sign = side == 0 ? 1. : -1.;
    unsigned int    n    = 0;
    internal::for_facet_points<dim>(mesh,
                                    f,
                                    type == FacetType::tabulated
                                      ? nullptr
                                      : &internal::facet_rule<dim>(type, order),
                                    [&](const unsigned int q,
                                        const double(&point)[dim],
                                        const double(&unit_normal)[dim],
                                        const double weight) {
                                      for (unsigned int d = 0; d < dim; ++d)
                                        {
                                          this->x[d][first + q] = point[d];
                                          normal[d][first + q] =
                                            sign * unit_normal[d];
                                        }
                                      this->JxW[first + q] = weight;
                                      n                    = q + 1;
                                    });

    const auto material_of = [&](const unsigned int s) {
      return s == invalid_index ? 0u : mesh.subcell_material[s];
    };
    const unsigned int here = mesh.facet_subcell[2 * std::size_t(f) + side];
    const unsigned int there =
      mesh.facet_subcell[2 * std::size_t(f) + 1 - side];
    std::fill_n(facet.begin() + first, n, f);
    std::fill_n(this->subcell.begin() + first, n, here);
    std::fill_n(this->material.begin() + first, n, material_of(here));
    std::fill_n(neighbor_subcell.begin() + first, n, there);
    std::fill_n(neighbor_material.begin() + first, n, material_of(there));
    return n;
  }



  template <int dim>
  void
  InterfaceQuadrature<dim>::apply_shift(const PolytopicMesh<dim> &mesh,
                                        const unsigned int        interface,
                                        const unsigned int        side)
  {
    const unsigned int shift_index = mesh.interface_shift[interface];
    for (unsigned int d = 0; d < dim; ++d)
      {
        neighbor_x[d] = this->x[d];
        if (shift_index != 0)
          {
            const double shift = mesh.shift[std::size_t(shift_index) * dim + d];
            // Facet coordinates are those of side 0.
            for (double &coordinate : side == 0 ? neighbor_x[d] : this->x[d])
              coordinate += shift;
          }
      }
  }



  template void
  prepare_quadrature<2>(const AgglomerationHandler<2> &, const unsigned int);
  template void
  prepare_quadrature<3>(const AgglomerationHandler<3> &, const unsigned int);
  template class PolytopePoints<2>;
  template class PolytopePoints<3>;
  template class PolytopeQuadrature<2>;
  template class PolytopeQuadrature<3>;
  template class InterfaceQuadrature<2>;
  template class InterfaceQuadrature<3>;
} // namespace Tessella
