// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_cellwise_coefficient_h
#define tessella_forms_cellwise_coefficient_h

#include <deal.II/base/types.h>

#include <deal.II/lac/vector.h>

#include <tessella/grid/polytopic_mesh.h>

#include <map>
#include <memory>
#include <vector>

namespace Tessella
{
  /**
   * A scalar coefficient that is constant on every cell of the triangulation:
   * material values, data from files, indicators. It may jump from cell to cell
   * inside a polytope. Sub-cells carry their values, and jumps lie on their
   * boundaries, so that quadrature stays exact.
   *
   * Facets see the value of the sub-cell on each side.
   */
  class CellwiseCoefficient
  {
  public:
    /// A value for each material id of the triangulation; a cell with an id
    /// that is not there is an error in assembly.
    explicit CellwiseCoefficient(
      const std::map<dealii::types::material_id, double> &values);

    /// A value for each active cell of the triangulation, by its
    /// active_cell_index(). @p mesh: AgglomerationHandler::polytopic_mesh();
    /// the coefficient belongs to this agglomeration. Another number of values
    /// than of cells is an error. On a mesh that is distributed over processes,
    /// ghost cells need their values, too. Cost: one pass over the sub-cells.
    template <int dim>
    CellwiseCoefficient(const PolytopicMesh<dim>     &mesh,
                        const dealii::Vector<double> &values);

    /// The coefficient on a mesh whose sub-cell s lies in sub-cell origin[s] of
    /// this one's; a value for each material stays what it is.
    CellwiseCoefficient
    on_parts(const std::vector<unsigned int> &origin) const;

    /// Values at points in given sub-cells of given materials (the arrays of a
    /// PointBatch). Errors: a material without a value, a sub-cell of another
    /// mesh.
    void
    evaluate(const unsigned int  n_points,
             const unsigned int *subcell,
             const unsigned int *material,
             double             *result) const;

    /// The values of materials, if they are given so; empty otherwise.
    const std::map<dealii::types::material_id, double> &
    material_values() const;

    /// The values of sub-cells, if there is one for each cell; null otherwise.
    const std::shared_ptr<const std::vector<double>> &
    subcell_values() const;

  private:
    std::map<dealii::types::material_id, double> by_material;
    // shared with forms that are evaluated on a device
    std::shared_ptr<const std::vector<double>> by_subcell;
  };
} // namespace Tessella

#endif
