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
   * Scalar coefficient that is constant on every cell of the triangulation, for
   * example material values, data from files or indicators. It may jump from
   * cell to cell inside a polytope. Values belong to sub-cells, and jumps lie
   * on their boundaries, so that quadrature stays exact.
   *
   * On a facet, each side has the value of its sub-cell.
   */
  class CellwiseCoefficient
  {
  public:
    /// Coefficient with a value for each material id of the triangulation. A
    /// cell whose material id has no value is an error in assembly.
    explicit CellwiseCoefficient(
      const std::map<dealii::types::material_id, double> &values);

    /// Coefficient with a value for each active cell of the triangulation, by
    /// its active_cell_index(). @p mesh is
    /// AgglomerationHandler::polytopic_mesh(); the coefficient belongs to this
    /// agglomeration. It is an error if the numbers of values and of cells
    /// differ. On a mesh that is distributed over processes, ghost cells need
    /// their values, too. Cost: one pass over the sub-cells.
    template <int dim>
    CellwiseCoefficient(const PolytopicMesh<dim>     &mesh,
                        const dealii::Vector<double> &values);

    /// The coefficient on a mesh whose sub-cell s lies in sub-cell origin[s] of
    /// the present mesh. Values per material stay the same.
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

    /// Values per material, if the coefficient has been given in this form;
    /// empty otherwise.
    const std::map<dealii::types::material_id, double> &
    material_values() const
    {
      return by_material;
    }

    /// Values per sub-cell, if the coefficient has a value for each cell; null
    /// otherwise.
    const std::shared_ptr<const std::vector<double>> &
    subcell_values() const
    {
      return by_subcell;
    }

  private:
    std::map<dealii::types::material_id, double> by_material;
    // shared with forms that are evaluated on a device
    std::shared_ptr<const std::vector<double>> by_subcell;
  };
} // namespace Tessella

#endif
