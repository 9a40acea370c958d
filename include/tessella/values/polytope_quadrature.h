// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_values_polytope_quadrature_h
#define tessella_values_polytope_quadrature_h

#include <tessella/grid/agglomeration_handler.h>
#include <tessella/grid/polytopic_mesh.h>

#include <array>
#include <vector>

namespace Tessella
{
  /**
   * Makes sure that tabulated (curved) sub-cells and facets of the handler's
   * flat view have quadrature exact for polynomials of degree @p order. Call it
   * once before several threads use PolytopeQuadrature or InterfaceQuadrature;
   * the function itself is not thread safe. On meshes without such cells, its
   * only cost is a loop over the degrees of all polytopes.
   */
  template <int dim>
  void
  prepare_quadrature(const AgglomerationHandler<dim> &handler,
                     const unsigned int               order);

  /// Quadrature points on sub-cells or facets of a polytope as structure of
  /// arrays, which is the layout that forms use.
  template <int dim>
  class PolytopePoints
  {
  public:
    unsigned int
    size() const
    {
      return n_points;
    }

    unsigned int                         n_points = 0;
    std::array<std::vector<double>, dim> x; ///< x[d][q]
    std::vector<double> JxW; ///< weight times Jacobian determinant
    /// Sub-cell of each point, as index into the flat view, and deal.II's
    /// material id of its cell. On facets, those of the given side.
    std::vector<unsigned int> subcell, material;

  protected:
    void
    resize(const unsigned int n);
  };

  /**
   * Quadrature points on a polytope, sub-cell by sub-cell in the order of the
   * flat view.
   *
   * The rule integrates polynomials of total degree @p order in x exactly:
   * simplices by simplex_rule(order), affine hypercubes by Gauss rules of that
   * order, multilinear hypercubes by Gauss rules of order + dim - 1, since the
   * Jacobian determinant has degree dim - 1 in each variable. Tabulated
   * sub-cells have their own points, exact for at least that order up to the
   * approximation of the geometry.
   *
   * Memory is kept between calls. Each thread should have its own object.
   */
  template <int dim>
  class PolytopeQuadrature : public PolytopePoints<dim>
  {
  public:
    /// Points of all sub-cells of @p polytope.
    void
    reinit(const AgglomerationHandler<dim> &handler,
           const unsigned int               polytope,
           const unsigned int               order);

    /// Points of one sub-cell. If its type is tabulated, its table must exist
    /// already (prepare_quadrature()).
    void
    reinit_subcell(const PolytopicMesh<dim> &mesh,
                   const unsigned int        subcell,
                   const unsigned int        order);

  private:
    /// Writes the points of a sub-cell from entry @p first on and returns their
    /// number.
    unsigned int
    fill_subcell(const PolytopicMesh<dim> &mesh,
                 const unsigned int        subcell,
                 const unsigned int        order,
                 const unsigned int        first);
  };

  /**
   * Quadrature points on an interface, facet by facet in the order of the flat
   * view. Polynomials of total degree @p order in x times the unit normal are
   * integrated exactly, also on bilinear facets of hexahedra, where the rule
   * has order + 1. For tabulated facets see PolytopeQuadrature.
   *
   * Points and normals are those of the given side: normals point out of the
   * polytope on that side. At periodic interfaces x has the coordinates of that
   * side, and neighbor_x those of the other side.
   */
  template <int dim>
  class InterfaceQuadrature : public PolytopePoints<dim>
  {
  public:
    /// Points of all facets of @p interface in the coordinates of @p side (0 or
    /// 1; boundary interfaces have side 0 only).
    void
    reinit(const AgglomerationHandler<dim> &handler,
           const unsigned int               interface,
           const unsigned int               side,
           const unsigned int               order);

    /// Points of one facet of @p interface. If its type is tabulated, its table
    /// must exist already.
    void
    reinit_facet(const PolytopicMesh<dim> &mesh,
                 const unsigned int        interface,
                 const unsigned int        facet,
                 const unsigned int        side,
                 const unsigned int        order);

    std::array<std::vector<double>, dim>
      neighbor_x; ///< points in the coordinates of the other side; equal to x
                  ///< without periodicity
    std::array<std::vector<double>, dim> normal; ///< unit normals
    std::vector<unsigned int>            facet;  ///< facet of each point
    /// Sub-cells on the other side and the material ids of their cells;
    /// invalid_index and material 0 at the boundary.
    std::vector<unsigned int> neighbor_subcell, neighbor_material;

  private:
    void
    resize(const unsigned int n);

    /// As PolytopeQuadrature::fill_subcell().
    unsigned int
    fill_facet(const PolytopicMesh<dim> &mesh,
               const unsigned int        facet,
               const unsigned int        side,
               const unsigned int        order,
               const unsigned int        first);

    void
    apply_shift(const PolytopicMesh<dim> &mesh,
                const unsigned int        interface,
                const unsigned int        side);
  };
} // namespace Tessella

#endif
