// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>

#include <tessella/forms/cellwise_coefficient.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace Tessella
{
  using namespace dealii;

  namespace
  {
    void
    check_value(const double value, const std::string &where)
    {
      AssertThrow(std::isfinite(value),
                  ExcMessage("The value of a cell-wise coefficient for " +
                             where + " is not a finite number."));
    }
  } // namespace



  CellwiseCoefficient::CellwiseCoefficient(
    const std::map<types::material_id, double> &values)
    : by_material(values)
  {
    AssertThrow(!values.empty(),
                ExcMessage("A cell-wise coefficient needs a value for at least "
                           "one material id."));
    for (const auto &entry : values)
      check_value(entry.second, "material id " + std::to_string(entry.first));
  }



  template <int dim>
  CellwiseCoefficient::CellwiseCoefficient(const PolytopicMesh<dim> &mesh,
                                           const Vector<double>     &values)
  {
    AssertThrow(values.size() == mesh.n_subcells(),
                ExcMessage("A cell-wise coefficient got " +
                           std::to_string(values.size()) +
                           " values, but the mesh has " +
                           std::to_string(mesh.n_subcells()) + " cells."));
    std::vector<double> result(mesh.n_subcells());
    for (unsigned int s = 0; s < result.size(); ++s)
      {
        const unsigned int cell = mesh.subcell_cell[s];
        result[s]               = values(cell);
        check_value(result[s], "cell " + std::to_string(cell));
      }
    by_subcell = std::make_shared<const std::vector<double>>(std::move(result));
  }



  CellwiseCoefficient
  CellwiseCoefficient::on_parts(const std::vector<unsigned int> &origin) const
  {
    CellwiseCoefficient result = *this;
    if (by_subcell != nullptr)
      {
        std::vector<double> values(origin.size());
        for (std::size_t s = 0; s < origin.size(); ++s)
          {
            AssertThrow(origin[s] < by_subcell->size(),
                        ExcMessage("A cell-wise coefficient is used on another "
                                   "mesh than it was made for: make a new one "
                                   "after agglomerate()."));
            values[s] = (*by_subcell)[origin[s]];
          }
        result.by_subcell =
          std::make_shared<const std::vector<double>>(std::move(values));
      }
    return result;
  }



  void
  CellwiseCoefficient::evaluate(const unsigned int  n_points,
                                const unsigned int *subcell,
                                const unsigned int *material,
                                double             *result) const
  {
    if (by_subcell != nullptr)
      {
        const unsigned int largest =
          n_points > 0 ? *std::max_element(subcell, subcell + n_points) : 0;
        AssertThrow(largest < by_subcell->size(),
                    ExcMessage(
                      "A cell-wise coefficient is used on another mesh "
                      "than it was made for: make a new one after "
                      "agglomerate()."));
        for (unsigned int q = 0; q < n_points; ++q)
          result[q] = (*by_subcell)[subcell[q]];
        return;
      }
    // Points of the same cell are consecutive.
    auto entry = by_material.end();
    for (unsigned int q = 0; q < n_points; ++q)
      {
        if (entry == by_material.end() || entry->first != material[q])
          {
            entry = by_material.find(material[q]);
            AssertThrow(entry != by_material.end(),
                        ExcMessage("A cell-wise coefficient has no value for "
                                   "material id " +
                                   std::to_string(material[q]) +
                                   ", which cells of the mesh have."));
          }
        result[q] = entry->second;
      }
  }



  template CellwiseCoefficient::CellwiseCoefficient(const PolytopicMesh<2> &,
                                                    const Vector<double> &);
  template CellwiseCoefficient::CellwiseCoefficient(const PolytopicMesh<3> &,
                                                    const Vector<double> &);
} // namespace Tessella
