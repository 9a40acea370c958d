// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/parallel.h>

#include <tessella/base/exceptions.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/grid/revision.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <tuple>

#include "cell_shapes.h"
#include "mapped_rules.h"

// Quadrature points of curved sub-cells and facets.

namespace Tessella
{
  namespace
  {
    // Sub-cell or facet to be tabulated, and the order of its rule.
    template <int dim>
    struct Task
    {
      unsigned int                    target; // sub-cell or facet
      unsigned int                    cell;
      const internal::CellShape<dim> *shape;
      unsigned int                    order;
      const internal::CurvedFacet    *facet; // null pointer for a sub-cell

      unsigned int
      face() const
      {
        return facet == nullptr ? invalid_index : facet->face;
      }
    };

    // All curved sub-cells, followed by all curved facets.
    template <int dim>
    std::vector<Task<dim>>
    list_tasks(const PolytopicMesh<dim>                 &mesh,
               const PolytopicDoFs                      &dofs,
               const internal::ActiveCells<dim>         &cells,
               const std::vector<internal::CurvedFacet> &curved_facets,
               const unsigned int                        mapping_degree,
               const unsigned int                        extra_order,
               const CurvedQuadrature                    quadrature)
    {
      const internal::CellShapes<dim> &shapes =
        internal::CellShapes<dim>::get();
      std::vector<Task<dim>> tasks;
      const auto             add = [&](const unsigned int           target,
                           const unsigned int           cell,
                           const unsigned int           degree,
                           const internal::CurvedFacet *facet) {
        const internal::CellShape<dim> &shape =
          shapes(cells[cell]->reference_cell());
        const unsigned int m    = 2 * degree + extra_order;
        const bool         face = facet != nullptr;
        const unsigned int order =
          quadrature == CurvedQuadrature::exact
                        ? internal::reference_order(shape, mapping_degree, m, face)
                        : internal::consistent_order(
                shape, mapping_degree, degree, m, face);
        tasks.push_back({target, cell, &shape, order, facet});
      };
      for (unsigned int k = 0; k < mesh.n_polytopes(); ++k)
        for (unsigned int s = mesh.subcell_offset[k];
             s < mesh.subcell_offset[k + 1];
             ++s)
          if (mesh.subcell_type[s] == SubCellType::tabulated)
            add(s, mesh.subcell_cell[s], dofs.degree[k], nullptr);
      for (const internal::CurvedFacet &facet : curved_facets)
        {
          unsigned int p = dofs.degree[facet.polytopes[0]];
          if (facet.polytopes[1] != invalid_index)
            p = std::max(p, dofs.degree[facet.polytopes[1]]);
          add(facet.facet, facet.cell, p, &facet);
        }
      return tasks;
    }



    // Fills the offsets of the points of all sub-cells and facets. Returns
    // false if they are more than can be counted with 32 bits.
    template <int dim>
    bool
    count_points(const std::vector<Task<dim>> &tasks, PolytopicMesh<dim> &mesh)
    {
      std::map<std::tuple<unsigned int, unsigned int, unsigned int>,
               unsigned int>
        sizes; // number of points of each rule
      mesh.subcell_point_offset.assign(mesh.n_subcells() + 1, 0);
      mesh.facet_point_offset.assign(mesh.n_facets() + 1, 0);
      std::uint64_t n_cell_points = 0, n_facet_points = 0;
      for (const Task<dim> &task : tasks)
        {
          unsigned int &n = sizes[std::make_tuple(
            task.shape->n_vertices, task.face(), task.order)];
          if (n == 0)
            n = internal::reference_rule(*task.shape, task.face(), task.order)
                  .points.size();
          if (task.facet == nullptr)
            {
              mesh.subcell_point_offset[task.target + 1] = n;
              n_cell_points += n;
            }
          else
            {
              mesh.facet_point_offset[task.target + 1] = n;
              n_facet_points += n;
            }
        }
      if (std::max(n_cell_points, n_facet_points) >= invalid_index)
        return false;
      for (auto *offset :
           {&mesh.subcell_point_offset, &mesh.facet_point_offset})
        std::partial_sum(offset->begin(), offset->end(), offset->begin());
      return true;
    }



    // Writes the points of a curved sub-cell.
    template <int dim>
    void
    tabulate_subcell(const Task<dim>                 &task,
                     const internal::MappedRule<dim> &rule,
                     PolytopicMesh<dim>              &mesh)
    {
      const std::size_t first = mesh.subcell_point_offset[task.target];
      for (std::size_t q = 0; q < rule.rule.points.size(); ++q)
        {
          for (int d = 0; d < dim; ++d)
            mesh.subcell_points[(first + q) * dim + d] =
              rule.mapped.point(q)[d];
          mesh.subcell_point_weights[first + q] =
            rule.rule.weights[q] * std::abs(rule.mapped.determinant(q));
        }
    }



    // Writes the points and normals of a curved facet.
    template <int dim>
    void
    tabulate_facet(const Task<dim>                 &task,
                   const internal::MappedRule<dim> &rule,
                   PolytopicMesh<dim>              &mesh)
    {
      const internal::CurvedFacet &facet = *task.facet;
      const std::size_t            first = mesh.facet_point_offset[task.target];
      const double                 sign  = facet.side == 0 ? 1. : -1.;
      const double *shift = mesh.shift.data() + std::size_t(dim) * facet.shift;
      for (std::size_t q = 0; q < rule.rule.points.size(); ++q)
        {
          const dealii::Tensor<1, dim> normal =
            rule.mapped.surface(q, rule.rule.normals[q]);
          const double area                   = normal.norm();
          mesh.facet_point_weights[first + q] = area;
          for (int d = 0; d < dim; ++d)
            {
              mesh.facet_points[(first + q) * dim + d] =
                rule.mapped.point(q)[d] - (facet.side == 0 ? 0. : shift[d]);
              mesh.facet_point_normals[(first + q) * dim + d] =
                sign * normal[d] / area;
            }
        }
    }
  } // namespace



  template <int dim>
  void
  AgglomerationHandler<dim>::tabulate(const unsigned int extra_order) const
  {
    check_cells();
    if (present_n_curved_cells == 0)
      return;
    AssertThrow(!dofs.degree.empty(),
                ExcUserInput("tabulate() needs polynomial degrees: call "
                             "distribute_dofs() first."));
    if (static_cast<int>(extra_order) <= tabulated_extra_order)
      return;

    const std::vector<Task<dim>> tasks =
      list_tasks(mesh,
                 dofs,
                 cells,
                 curved_facets,
                 internal::mapping_degree(*user_mapping),
                 extra_order,
                 curved_quadrature);
    mesh.quadrature_revision = new_revision();
    // A mapping may throw below, when some points are those of the new order.
    tabulated_extra_order = -1;
    if (!count_points(tasks, mesh))
      {
        mesh.subcell_point_offset.clear();
        mesh.facet_point_offset.clear();
        AssertThrow(false,
                    ExcUserInput("The curved cells need more quadrature points "
                                 "than can be counted with 32 bits: choose a "
                                 "lower polynomial degree or order of the "
                                 "mapping."));
      }
    const std::size_t n_cell_points  = mesh.subcell_point_offset.back(),
                      n_facet_points = mesh.facet_point_offset.back();
    mesh.subcell_points.resize(n_cell_points * dim);
    mesh.subcell_point_weights.resize(n_cell_points);
    mesh.facet_points.resize(n_facet_points * dim);
    mesh.facet_point_normals.resize(n_facet_points * dim);
    mesh.facet_point_weights.resize(n_facet_points);

    dealii::parallel::apply_to_subranges(
      std::size_t(0),
      tasks.size(),
      [&](const std::size_t begin, const std::size_t end) {
        internal::MappedRuleCache<dim> cache(*user_mapping);
        for (std::size_t i = begin; i < end; ++i)
          {
            const Task<dim>           &task = tasks[i];
            internal::MappedRule<dim> &rule =
              cache(*task.shape, task.face(), task.order);
            rule.mapped.reinit(cells[task.cell]);
            if (task.facet == nullptr)
              tabulate_subcell(task, rule, mesh);
            else
              tabulate_facet(task, rule, mesh);
          }
      },
      64);
    tabulated_extra_order = static_cast<int>(extra_order);
  }

  template <int dim>
  void
  AgglomerationHandler<dim>::set_curved_quadrature(
    const CurvedQuadrature quadrature)
  {
    if (quadrature == curved_quadrature)
      return;
    curved_quadrature     = quadrature;
    tabulated_extra_order = -1;
    mesh.clear_quadrature();
    mesh.quadrature_revision = new_revision();
  }

  template void
  AgglomerationHandler<2>::tabulate(const unsigned int) const;
  template void
  AgglomerationHandler<3>::tabulate(const unsigned int) const;
  template void
  AgglomerationHandler<2>::set_curved_quadrature(const CurvedQuadrature);
  template void
  AgglomerationHandler<3>::set_curved_quadrature(const CurvedQuadrature);
} // namespace Tessella
