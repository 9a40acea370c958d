// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/mpi.h>

#include <deal.II/distributed/tria_base.h>

#include <tessella/base/exceptions.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/grid/penalty.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "../base/collective.h"
#include "ghost_exchange.h"

namespace Tessella
{
  template <int dim>
  AgglomerationHandler<dim>::AgglomerationHandler(
    const dealii::Triangulation<dim> &triangulation,
    const dealii::Mapping<dim>       *mapping)
    : triangulation(&triangulation)
    , user_mapping(mapping)
    , is_parallel(
        dynamic_cast<const dealii::parallel::TriangulationBase<dim> *>(
          &triangulation) != nullptr)
    , triangulation_has_changed(std::make_shared<bool>(false))
  {
    list_cells();
    triangulation_listener = triangulation.signals.any_change.connect(
      [changed = triangulation_has_changed]() { *changed = true; });
  }

  template <int dim>
  void
  AgglomerationHandler<dim>::list_cells()
  {
    clear_polytopes();
    pending_agglomerates.clear();
    first_global_polytope = 0;
    n_all_polytopes       = 0;
    ghost_polytopes.clear();
    ghost_first_cells.clear();
    ghosts.reset();
    cells.clear();

    const dealii::Triangulation<dim> &tria = *triangulation;
    AssertThrow(tria.n_global_active_cells() > 0,
                ExcUserInput("The triangulation has no cells: create or read "
                             "the mesh before the AgglomerationHandler."));
    if (user_mapping != nullptr)
      for (const Compatibility::ReferenceCell<dim> &type :
           tria.get_reference_cells())
        AssertThrow(user_mapping->is_compatible_with(type),
                    ExcUserInput(
                      "The mapping given to AgglomerationHandler does not know "
                      "the cell type " +
                      type.to_string() + " of the triangulation."));

    cells.reserve(tria.n_active_cells());
    for (auto cell = tria.begin_active(); cell != tria.end(); ++cell)
      cells.push_back(cell);
    *triangulation_has_changed = false;
  }

  template <int dim>
  void
  AgglomerationHandler<dim>::throw_changed()
  {
    AssertThrow(false,
                ExcUserInput(
                  "The triangulation has changed since the "
                  "AgglomerationHandler listed its cells: call agglomerate() "
                  "and distribute_dofs() again after refinement."));
    std::abort();
  }

  template <int dim>
  void
  AgglomerationHandler<dim>::check_finalized() const
  {
    AssertThrow(n_all_polytopes > 0 || pending_agglomerates.empty(),
                ExcUserInput("define_agglomerate() takes effect with "
                             "finalize_agglomerates(): call that before the "
                             "polytopes are used."));
  }

  template <int dim>
  void
  AgglomerationHandler<dim>::agglomerate(
    const Agglomeration::Strategy<dim> &strategy)
  {
    AssertThrow(static_cast<bool>(strategy),
                ExcUserInput("The agglomeration strategy is an empty "
                             "function."));
    pending_agglomerates.clear();
    if (*triangulation_has_changed)
      list_cells();
    // The strategies of this library that communicate throw on all processes.
    build(strategy(*triangulation));
  }

  template <int dim>
  void
  AgglomerationHandler<dim>::define_agglomerate(
    const std::vector<typename dealii::Triangulation<dim>::active_cell_iterator>
      &cells)
  {
    AssertThrow(!cells.empty(),
                ExcUserInput("An agglomerate needs at least one cell."));
    if (*triangulation_has_changed)
      list_cells();
    std::vector<unsigned int> indices;
    indices.reserve(cells.size());
    for (const auto &cell : cells)
      {
        AssertThrow(&cell->get_triangulation() == &*triangulation,
                    ExcUserInput(
                      "A cell given to define_agglomerate() belongs to "
                      "another triangulation than the handler's."));
        indices.push_back(cell->active_cell_index());
      }
    pending_agglomerates.push_back(std::move(indices));
  }

  template <int dim>
  void
  AgglomerationHandler<dim>::finalize_agglomerates()
  {
    // After a change of the triangulation, a series of define_agglomerate() is
    // valid if at least one process began it with the new cells; the other
    // processes may have defined no agglomerate.
    bool begun = !*triangulation_has_changed;
    if (is_parallel)
      begun = dealii::Utilities::MPI::logical_or(begun, get_communicator());
    if (*triangulation_has_changed)
      {
        pending_agglomerates.clear();
        if (!begun)
          throw_changed();
        list_cells();
      }

    std::vector<unsigned int> ids(cells.size(), invalid_index);
    unsigned int              n       = 0;
    const auto                collect = [&]() {
      // The next series starts from an empty list even if an exception is
      // thrown below.
      const std::vector<std::vector<unsigned int>> agglomerates =
        std::move(pending_agglomerates);
      pending_agglomerates.clear();
      for (const std::vector<unsigned int> &agglomerate : agglomerates)
        {
          for (const unsigned int c : agglomerate)
            {
              AssertThrow(ids[c] == invalid_index,
                          ExcUserInput("Cell " + cells[c]->id().to_string() +
                                       " was given to define_agglomerate() "
                                                      "twice."));
              ids[c] = n;
            }
          ++n;
        }
      for (unsigned int &id : ids)
        if (id == invalid_index)
          id = n++;
    };
    if (is_parallel)
      Tessella::on_all_processes(get_communicator(), collect);
    else
      collect();
    build(std::move(ids));
  }

  template <int dim>
  void
  AgglomerationHandler<dim>::finalize_pending_agglomerates()
  {
    bool pending = !pending_agglomerates.empty();
    if (is_parallel)
      pending = dealii::Utilities::MPI::logical_or(pending, get_communicator());
    if (pending)
      finalize_agglomerates();
  }

  template <int dim>
  void
  AgglomerationHandler<dim>::clear_polytopes()
  {
    clear_dofs();
    cell_polytope.clear();
    curved_facets.clear();
    present_n_curved_cells = 0;
    mesh                   = PolytopicMesh<dim>();
  }

  template <int dim>
  const dealii::Triangulation<dim> &
  AgglomerationHandler<dim>::get_triangulation() const
  {
    return *triangulation;
  }

  template <int dim>
  const dealii::Mapping<dim> &
  AgglomerationHandler<dim>::get_mapping() const
  {
    if (user_mapping != nullptr)
      return *user_mapping;
    const std::vector<Compatibility::ReferenceCell<dim>> types =
      triangulation->get_reference_cells();
    AssertThrow(types.size() == 1,
                ExcUserInput("A mesh of several cell types has no mapping "
                             "that fits all its cells: take "
                             "reference_cell().get_default_linear_mapping() "
                             "per cell."));
    return types[0].template get_default_linear_mapping<dim>();
  }

  template <int dim>
  unsigned int
  AgglomerationHandler<dim>::n_polytopes() const
  {
    return mesh.n_owned_polytopes();
  }

  template <int dim>
  unsigned int
  AgglomerationHandler<dim>::n_agglomerates() const
  {
    check_finalized();
    return n_polytopes();
  }

  template <int dim>
  unsigned int
  AgglomerationHandler<dim>::n_global_polytopes() const
  {
    return n_all_polytopes;
  }

  template <int dim>
  unsigned int
  AgglomerationHandler<dim>::global_polytope_index(
    const unsigned int polytope) const
  {
    check_cells();
    AssertIndexRange(polytope, mesh.n_polytopes());
    return polytope < n_polytopes() ? first_global_polytope + polytope
                                    : ghost_polytopes[polytope - n_polytopes()];
  }

  template <int dim>
  MPI_Comm
  AgglomerationHandler<dim>::get_communicator() const
  {
    return Compatibility::get_communicator(*triangulation);
  }

  template <int dim>
  void
  AgglomerationHandler<dim>::fill_penalty_factors(
    const PenaltyFormula formula) const
  {
    compute_penalty_factors(*this, formula);
  }

  template <int dim>
  PolytopeIterator<dim>
  AgglomerationHandler<dim>::polytope(const unsigned int index) const
  {
    check_cells();
    AssertIndexRange(index, mesh.n_polytopes());
    return PolytopeIterator<dim>(*this, index);
  }

  template <int dim>
  PolytopeIterator<dim>
  AgglomerationHandler<dim>::begin() const
  {
    check_cells();
    check_finalized();
    return PolytopeIterator<dim>(*this, 0);
  }

  template <int dim>
  PolytopeIterator<dim>
  AgglomerationHandler<dim>::end() const
  {
    return begin() + n_polytopes();
  }

  template <int dim>
  dealii::IteratorRange<PolytopeIterator<dim>>
  AgglomerationHandler<dim>::polytope_iterators() const
  {
    return {begin(), end()};
  }

  template <int dim>
  const std::vector<unsigned int> &
  AgglomerationHandler<dim>::polytope_of_cell() const
  {
    check_cells();
    return cell_polytope;
  }

  template <int dim>
  typename dealii::Triangulation<dim>::active_cell_iterator
  AgglomerationHandler<dim>::active_cell(
    const unsigned int active_cell_index) const
  {
    check_cells();
    AssertIndexRange(active_cell_index, cells.size());
    return cells[active_cell_index];
  }

  template <int dim>
  dealii::BoundingBox<dim>
  AgglomerationHandler<dim>::bounding_box(const unsigned int polytope) const
  {
    check_cells();
    AssertIndexRange(polytope, mesh.n_polytopes());
    std::pair<dealii::Point<dim>, dealii::Point<dim>> corners;
    for (int d = 0; d < dim; ++d)
      {
        corners.first[d]  = mesh.box[2 * dim * polytope + d];
        corners.second[d] = mesh.box[2 * dim * polytope + dim + d];
      }
    return dealii::BoundingBox<dim>(corners);
  }

  template <int dim>
  const PolytopicMesh<dim> &
  AgglomerationHandler<dim>::polytopic_mesh() const
  {
    check_cells();
    return mesh;
  }

  template <int dim>
  PolytopicMesh<dim> &
  AgglomerationHandler<dim>::mutable_polytopic_mesh() const
  {
    check_cells();
    return mesh;
  }

  template <int dim>
  unsigned int
  AgglomerationHandler<dim>::n_curved_cells() const
  {
    return present_n_curved_cells;
  }

  template <int dim>
  std::size_t
  AgglomerationHandler<dim>::memory_consumption() const
  {
    return sizeof(*this) - sizeof(mesh) + mesh.memory_consumption() +
           cells.capacity() * sizeof(cells[0]) +
           (cell_polytope.capacity() + fe_indices.capacity()) *
             sizeof(unsigned int) +
           curved_facets.capacity() * sizeof(internal::CurvedFacet);
  }

  template class AgglomerationHandler<2>;
  template class AgglomerationHandler<3>;
} // namespace Tessella
