// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_grid_mapping_quadratic_h
#define tessella_grid_mapping_quadratic_h

#include <deal.II/fe/mapping_fe.h>
#include <deal.II/grid/tria.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace Tessella
{
  /**
   * Cells of degree 2: triangles with six nodes, tetrahedra with ten, and
   * quadrilaterals and hexahedra with 9 and 27. An AgglomerationHandler that is
   * given this mapping integrates over the curved cells and facets.
   *
   * The nodes come from one of two sources:
   * - the manifolds of the triangulation, on simplices: the node of an edge is
   *   the point of the manifold of this edge that is equally far from both
   *   ends. The manifold's own new point may be at a quarter of the edge, as at
   *   the trailing edge of an aerofoil, where the map would be singular. Edges
   *   with a flat manifold stay straight. deal.II's MappingFE takes all nodes
   * of a cell from the manifold of the cell, which has to be that of its edges,
   * too; here, only the edges of a boundary need a manifold. For hypercubes,
   * take dealii::MappingQ.
   * - a table of the nodes of the coarse cells, for instance from a file (see
   *   read_quadratic_msh()). Refined cells are parts of the curved coarse cell,
   *   exactly. The triangulation itself must have flat manifolds only. Its
   *   vertices on refined levels are those of straight cells, and the mapping
   *   moves them. Periodic boundaries are therefore excluded.
   *
   * All cells must have the same type. The mapping may be used by several
   * threads at a time.
   */
  template <int dim>
  class MappingQuadratic : public dealii::MappingFE<dim>
  {
  public:
    using CellIterator = typename dealii::Triangulation<dim>::cell_iterator;

    /// Nodes from the manifolds of @p triangulation, which consists of
    /// simplices. Nothing is stored: changes of the mesh need no new mapping.
    explicit MappingQuadratic(const dealii::Triangulation<dim> &triangulation);

    /**
     * Nodes of the cells of level 0, by their dealii::CellId::
     * get_coarse_cell_id(), which in a mesh of one process is their index on
     * level 0. The nodes of each cell are in the order of the support points of
     * dealii::FE_SimplexP(2) or dealii::FE_Q(2): vertices, edges, faces
     * (hypercubes in 3-D), and the centre (hypercubes).
     */
    MappingQuadratic(const dealii::Triangulation<dim> &triangulation,
                     std::vector<dealii::Point<dim>>   nodes);

    std::unique_ptr<dealii::Mapping<dim>>
    clone() const override;

    /// False with a table of nodes.
    bool
    preserves_vertex_locations() const override;

    boost::container::small_vector<dealii::Point<dim>,
                                   dealii::GeometryInfo<dim>::vertices_per_cell>
    get_vertices(const CellIterator &cell) const override;

    /// Nodes of a cell, active or not.
    std::vector<dealii::Point<dim>>
    nodes(const CellIterator &cell) const
    {
      return compute_mapping_support_points(cell);
    }

    /**
     * Whether the Jacobian determinant is positive in all points of a cell
     * (for simplices, which may have the opposite orientation: has the same
     * sign, that of the straight coarse cell, and is nowhere zero).
     *
     * The test is rigorous up to rounding: the determinant is a polynomial,
     * and its Bernstein coefficients on a part of the cell bound it there
     * (Johnen, Remacle, Geuzaine 2013). Parts on which they have both signs are
     * bisected, up to 40 times; a cell that is still undecided counts as not
     * positive. Cost: some ten microseconds for a simplex.
     */
    bool
    has_positive_jacobian(const CellIterator &cell) const;

    /// Throws if has_positive_jacobian() is false for a locally owned active
    /// cell. The message names the first such cell by @p name, by default by
    /// its CellId.
    void
    check_jacobians(
      const dealii::Triangulation<dim>                       &triangulation,
      const std::function<std::string(const CellIterator &)> &name = {}) const;

  protected:
    std::vector<dealii::Point<dim>>
    compute_mapping_support_points(const CellIterator &cell) const override;

  private:
    /// Points of the coarse ancestor's reference cell that correspond to the
    /// support points of @p cell; returns the ancestor.
    CellIterator
    locate_in_coarse_cell(const CellIterator              &cell,
                          std::vector<dealii::Point<dim>> &points) const;

    /// Null if the nodes come from manifolds.
    std::shared_ptr<const std::vector<dealii::Point<dim>>> table;
  };
} // namespace Tessella

#endif
