// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/mpi.h>

#include <tessella/base/exceptions.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/grid/revision.h>

#include <algorithm>
#include <string>
#include <utility>

#include "../base/collective.h"
#include "flat_view_builder.h"
#include "ghost_exchange.h"

// Construction of the flat view (PolytopicMesh) of a new agglomeration.

namespace Tessella
{
  namespace
  {
    // Writes next and the following numbers as positions of the active
    // descendants of a cell, depth first. Repeated for the coarse cells in
    // their order, this is the order of CellId.
    template <int dim>
    void
    number_descendants(
      const typename dealii::Triangulation<dim>::cell_iterator &cell,
      unsigned int                                             &next,
      std::vector<unsigned int>                                &position)
    {
      if (cell->is_active())
        position[cell->active_cell_index()] = next++;
      else
        for (unsigned int c = 0; c < cell->n_children(); ++c)
          number_descendants<dim>(cell->child(c), next, position);
    }

    // Position of every active cell in the order of CellId, on a triangulation
    // that is distributed over processes.
    template <int dim>
    std::vector<unsigned int>
    position_in_parallel(const dealii::Triangulation<dim> &triangulation,
                         const internal::ActiveCells<dim> &cells)
    {
      // The local coarse cells may be in another order than their ids. A
      // process that owns no cells may have a coarse cell without a valid id.
      const bool own_cells =
        std::any_of(cells.begin(), cells.end(), [](const auto &cell) {
          return cell->is_locally_owned();
        });
      std::vector<std::pair<dealii::CellId,
                            typename dealii::Triangulation<dim>::cell_iterator>>
        coarse;
      for (auto cell = triangulation.begin(0); cell != triangulation.end(0);
           ++cell)
        coarse.emplace_back(own_cells ? cell->id() : dealii::CellId(), cell);
      std::sort(coarse.begin(), coarse.end(), [](const auto &a, const auto &b) {
        return a.first < b.first;
      });
      std::vector<unsigned int> position(cells.size());
      unsigned int              next = 0;
      for (const auto &cell : coarse)
        number_descendants<dim>(cell.second, next, position);
      return position;
    }
  } // namespace



  template <int dim>
  void
  AgglomerationHandler<dim>::build(std::vector<unsigned int> &&ids)
  {
    internal::PolytopeNumbering numbering;
    const MPI_Comm              communicator = get_communicator();
    Tessella::on_all_processes(communicator, [&]() {
      AssertThrow(ids.size() == cells.size(),
                  ExcUserInput(
                    "The agglomeration strategy returned " +
                    std::to_string(ids.size()) + " polytope ids for " +
                    std::to_string(cells.size()) + " active cells."));
      numbering.ids = std::move(ids);
      if (is_parallel)
        numbering.position = position_in_parallel(*triangulation, cells);
    });
    if (is_parallel)
      number_in_parallel(numbering);
    Tessella::on_all_processes(communicator,
                               [&]() { build_flat_view(numbering); });
    if (is_parallel)
      {
        // Measures and boxes of ghosts come from their owners.
        (*ghosts)(mesh.measure, 1);
        (*ghosts)(mesh.box, 2 * dim);
        list_shared_facets(mesh, numbering.order);
        reduce_types();
      }
    mesh.revision            = new_revision();
    mesh.quadrature_revision = mesh.revision;
  }



  template <int dim>
  void
  AgglomerationHandler<dim>::reduce_types()
  {
    unsigned int types = 0;
    for (const SubCellType type : mesh.subcell_type)
      types |= 1u << static_cast<unsigned int>(type);
    for (const FacetType type : mesh.facet_type)
      types |= 256u << static_cast<unsigned int>(type);
    if (!mesh.is_aligned())
      types |= 1u << 16;
#ifdef DEAL_II_WITH_MPI
    MPI_Allreduce(
      MPI_IN_PLACE, &types, 1, MPI_UNSIGNED, MPI_BOR, get_communicator());
#endif
    mesh.whole.is_set        = true;
    mesh.whole.subcell_types = types & 255u;
    mesh.whole.facet_types   = (types >> 8) & 255u;
    mesh.whole.aligned       = (types >> 16) == 0;
  }



  template <int dim>
  void
  AgglomerationHandler<dim>::number_in_serial(
    internal::PolytopeNumbering &numbering)
  {
    const unsigned int largest =
      *std::max_element(numbering.ids.begin(), numbering.ids.end());
    AssertThrow(largest < cells.size(),
                ExcUserInput("Polytope ids must count from 0 without gaps, "
                             "but there is id " +
                             std::to_string(largest) + " among " +
                             std::to_string(cells.size()) +
                             " cells; Agglomeration::by_id() renumbers."));
    first_global_polytope = 0;
    n_all_polytopes       = largest + 1;
    numbering.n_polytopes = n_all_polytopes;
    numbering.n_owned     = n_all_polytopes;
    if (triangulation->n_levels() > 1)
      {
        numbering.position.resize(cells.size());
        unsigned int next = 0;
        for (auto cell = triangulation->begin(0); cell != triangulation->end(0);
             ++cell)
          number_descendants<dim>(cell, next, numbering.position);
      }
  }



  template <int dim>
  void
  AgglomerationHandler<dim>::build_flat_view(
    internal::PolytopeNumbering &numbering)
  {
    // Clear the state first, so that an error below leaves nothing half-built.
    clear_polytopes();
    if (!is_parallel)
      number_in_serial(numbering);
    internal::FlatView<dim> view =
      internal::build_flat_view(*triangulation, cells, user_mapping, numbering);
    mesh                   = std::move(view.mesh);
    mesh.n_owned           = is_parallel ? numbering.n_owned : invalid_index;
    curved_facets          = std::move(view.curved_facets);
    present_n_curved_cells = view.n_curved_cells;
    cell_polytope          = std::move(numbering.ids);
  }

  template void
  AgglomerationHandler<2>::build(std::vector<unsigned int> &&);
  template void
  AgglomerationHandler<3>::build(std::vector<unsigned int> &&);
} // namespace Tessella
