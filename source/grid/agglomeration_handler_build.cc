// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/mpi.h>

#include <tessella/base/exceptions.h>
#include <tessella/grid/agglomeration_handler.h>

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
    void
    check_number_of_ids(const std::size_t n_ids, const std::size_t n_cells)
    {
      AssertThrow(n_ids == n_cells,
                  ExcUserInput("The agglomeration strategy returned " +
                               std::to_string(n_ids) + " polytope ids for " +
                               std::to_string(n_cells) + " active cells."));
    }

    // Position of every active cell in the order of CellId, which does not
    // depend on which process owns which cell.
    template <int dim>
    std::vector<unsigned int>
    position_cells(
      const dealii::Triangulation<dim> &triangulation,
      const std::vector<
        typename dealii::Triangulation<dim>::active_cell_iterator> &cells)
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
        internal::number_descendants<dim>(cell.second, next, position);
      return position;
    }
  } // namespace



  template <int dim>
  void
  AgglomerationHandler<dim>::build(std::vector<unsigned int> &&ids)
  {
    if (!is_parallel)
      {
        build_flat_view(std::move(ids), {}, {}, invalid_index);
        return;
      }
    const MPI_Comm            communicator = get_communicator();
    std::vector<unsigned int> position, order;
    Tessella::on_all_processes(communicator, [&]() {
      check_number_of_ids(ids.size(), cells.size());
      position = position_cells(*triangulation, cells);
    });
    const unsigned int n_own = number_in_parallel(ids, position, order);
    Tessella::on_all_processes(communicator, [&]() {
      build_flat_view(std::move(ids), position, order, n_own);
    });
    exchange_measures_and_boxes();
    list_shared_facets(mesh, order);
    reduce_types();
  }



  template <int dim>
  void
  AgglomerationHandler<dim>::exchange_measures_and_boxes()
  {
    const unsigned int  n_own = mesh.n_owned_polytopes();
    std::vector<double> facts((2 * dim + 1) * std::size_t(mesh.n_polytopes()));
    for (unsigned int k = 0; k < n_own; ++k)
      {
        facts[(2 * dim + 1) * std::size_t(k)] = mesh.measure[k];
        std::copy_n(&mesh.box[2 * dim * std::size_t(k)],
                    2 * dim,
                    &facts[(2 * dim + 1) * std::size_t(k) + 1]);
      }
    (*ghosts)(facts, 2 * dim + 1, false);
    for (unsigned int k = n_own; k < mesh.n_polytopes(); ++k)
      {
        mesh.measure[k] = facts[(2 * dim + 1) * std::size_t(k)];
        std::copy_n(&facts[(2 * dim + 1) * std::size_t(k) + 1],
                    2 * dim,
                    &mesh.box[2 * dim * std::size_t(k)]);
      }
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
  AgglomerationHandler<dim>::build_flat_view(
    std::vector<unsigned int>      &&ids,
    const std::vector<unsigned int> &position,
    const std::vector<unsigned int> &order,
    const unsigned int               n_own)
  {
    check_number_of_ids(ids.size(), cells.size());
    // Clear the state first, so that an error below leaves nothing half-built.
    clear_polytopes();
    const bool distributed = n_own != invalid_index;
    if (!distributed)
      {
        const unsigned int largest = *std::max_element(ids.begin(), ids.end());
        AssertThrow(largest < cells.size(),
                    ExcUserInput("Polytope ids must count from 0 without gaps, "
                                 "but there is id " +
                                 std::to_string(largest) + " among " +
                                 std::to_string(cells.size()) +
                                 " cells; Agglomeration::by_id() renumbers."));
        first_global_polytope = 0;
        n_all_polytopes       = largest + 1;
      }
    const unsigned int n_polytopes =
      distributed ? order.size() : n_all_polytopes;
    internal::FlatViewBuilder<dim> builder(*triangulation,
                                           cells,
                                           user_mapping,
                                           ids,
                                           position,
                                           order,
                                           n_polytopes,
                                           distributed ? n_own : n_polytopes);
    builder.build();
    mesh                   = std::move(builder.view);
    mesh.n_owned           = n_own;
    curved_facets          = std::move(builder.curved_facets);
    present_n_curved_cells = builder.n_curved_cells();
    cell_polytope          = std::move(ids);
  }

#define INSTANTIATE(dim)                                                  \
  template void AgglomerationHandler<dim>::build(                         \
    std::vector<unsigned int> &&);                                        \
  template void AgglomerationHandler<dim>::build_flat_view(               \
    std::vector<unsigned int> &&,                                         \
    const std::vector<unsigned int> &,                                    \
    const std::vector<unsigned int> &,                                    \
    const unsigned int);                                                  \
  template void AgglomerationHandler<dim>::exchange_measures_and_boxes(); \
  template void AgglomerationHandler<dim>::reduce_types()

  INSTANTIATE(2);
  INSTANTIATE(3);
#undef INSTANTIATE
} // namespace Tessella
