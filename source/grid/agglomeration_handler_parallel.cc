// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/utilities.h>

#include <deal.II/grid/tria.h>
#include <deal.II/grid/tria_accessor.h>
#include <deal.II/grid/tria_iterator.h>

#include <tessella/base/exceptions.h>
#include <tessella/grid/agglomeration_handler.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string>

#include "../base/collective.h"
#include "dual_graph.h"
#include "flat_view_builder.h"
#include "ghost_exchange.h"

// AgglomerationHandler on triangulations that are distributed over processes.
//
// Every process numbers the polytopes that it owns by their first cells in the
// order of CellId. For each ghost polytope, which shares a face with an owned
// one, the owner sends the global index and the first cell, and later bounding
// box, measure, degree and penalty factor. Both processes list the exchanged
// cells, polytopes and facets in the same order, so that messages contain
// values only.

namespace Tessella
{
  namespace
  {
    template <typename T>
    void
    sort_and_unify(std::vector<T> &list)
    {
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
    }



    // Index and first cell of the polytope of a cell.
    struct CellMessage
    {
      std::uint32_t               polytope;
      dealii::CellId::binary_type first_cell;
    };



    // Own cells and cells of another process that share a face, as positions in
    // the order of CellId.
    struct SharedCells
    {
      unsigned int              rank;
      std::vector<unsigned int> own, ghost;
    };



    // Numbers owned and ghost polytopes in stages, which are called in the
    // order of their definition.
    template <int dim>
    class ParallelNumbering
    {
    public:
      using CellIterator = typename dealii::Triangulation<dim>::cell_iterator;
      using Cells        = internal::ActiveCells<dim>;

      ParallelNumbering(const dealii::Triangulation<dim> &triangulation,
                        const Cells                      &cells,
                        internal::PolytopeNumbering      &numbering)
        : triangulation(triangulation)
        , cells(cells)
        , ids(numbering.ids)
        , position(numbering.position)
        , cell_at(dealii::Utilities::invert_permutation(position))
      {}

      // Numbers the own polytopes by their first cells and returns how many
      // there are.
      unsigned int
      number_own_polytopes()
      {
        std::vector<unsigned int> own;
        for (const unsigned int c : cell_at)
          if (cells[c]->is_locally_owned())
            own.push_back(ids[c]);
        const unsigned int n    = internal::renumber(own);
        auto               next = own.cbegin();
        for (const unsigned int c : cell_at)
          if (cells[c]->is_locally_owned())
            {
              ids[c] = *next++;
              if (ids[c] == first_cell.size())
                first_cell.push_back(c);
            }
          else
            ids[c] = invalid_index;
        return n;
      }

      // Finds the cells that are shared with each process.
      void
      find_shared_cells()
      {
        const auto &periodic = triangulation.get_periodic_face_map();
        for (const auto &cell : cells)
          if (cell->is_locally_owned() || cell->is_ghost())
            for (const unsigned int f : cell->face_indices())
              {
                if (cell->neighbor_index(f) >= 0)
                  {
                    add_pair(cell, cell->neighbor(f));
                    continue;
                  }
                if (periodic.empty())
                  continue;
                const auto it =
                  periodic.find(std::make_pair(CellIterator(cell), f));
                if (it != periodic.end())
                  add_pair(cell, it->second.first.first);
              }
      }

      // Sends index and first cell of the polytopes of own shared cells, and
      // numbers the ghosts by their owners and their indices there.
      void
      exchange_polytopes(const unsigned int first_global_polytope,
                         GhostExchange     &ghosts)
      {
        sort_pairs();
        ghosts.partners.resize(shared.size());
        std::vector<std::vector<CellMessage>> send(shared.size()),
          receive(shared.size());
        for (unsigned int p = 0; p < shared.size(); ++p)
          {
            ghosts.partners[p].rank       = shared[p].rank;
            std::vector<std::size_t> &own = ghosts.partners[p].polytopes.own;
            for (const unsigned int c : shared[p].own)
              {
                const unsigned int k = ids[cell_at[c]];
                send[p].push_back(
                  {first_global_polytope + k,
                   cells[first_cell[k]]->id().template to_binary<dim>()});
                own.push_back(k);
              }
            sort_and_unify(own);
            receive[p].resize(shared[p].ghost.size());
          }
        ghosts.communicate(send, receive);
        for (unsigned int p = 0; p < shared.size(); ++p)
          number_ghosts(shared[p].ghost,
                        receive[p],
                        ghosts.partners[p].polytopes.ghosts);
      }

      // Position of all owned and ghost polytopes in the order of their first
      // cells.
      std::vector<unsigned int>
      order_polytopes() const
      {
        const unsigned int n_own    = first_cell.size(),
                           n_ghosts = ghost_polytopes.size();
        std::vector<unsigned int> sorted(n_ghosts);
        std::iota(sorted.begin(), sorted.end(), 0u);
        std::sort(sorted.begin(),
                  sorted.end(),
                  [&](const unsigned int a, const unsigned int b) {
                    return ghost_first_cells[a] < ghost_first_cells[b];
                  });
        std::vector<unsigned int> order(n_own + n_ghosts);
        unsigned int              k = 0, next = 0;
        for (const unsigned int g : sorted)
          {
            // Owned polytopes before this ghost.
            const auto end = std::partition_point(first_cell.begin() + k,
                                                  first_cell.end(),
                                                  [&](const unsigned int c) {
                                                    return cells[c]->id() <
                                                           ghost_first_cells[g];
                                                  });
            while (k < end - first_cell.begin())
              order[k++] = next++;
            order[n_own + g] = next++;
          }
        while (k < n_own)
          order[k++] = next++;
        return order;
      }

      // Global indices and first cells of the ghosts.
      std::vector<unsigned int>   ghost_polytopes;
      std::vector<dealii::CellId> ghost_first_cells;

    private:
      // Two cells that share a face: notes them if only one is owned.
      void
      add_pair(const CellIterator &a, const CellIterator &b)
      {
        if (!b->is_active())
          return;
        const unsigned int i = a->active_cell_index(),
                           j = b->active_cell_index();
        const bool own_i     = cells[i]->is_locally_owned(),
                   own_j     = cells[j]->is_locally_owned();
        if (own_i && !own_j)
          {
            AssertThrow(
              cells[j]->is_ghost(),
              ExcUserInput(
                "Cell " + cells[j]->id().to_string() +
                " is a neighbour of a cell of this process, but only an"
                " artificial cell here: a parallel::shared::"
                "Triangulation with periodic boundaries must be without"
                " artificial cells."));
            pairs.push_back(
              {{cells[j]->subdomain_id(), position[i], position[j]}});
          }
        else if (own_j && !own_i)
          pairs.push_back(
            {{cells[i]->subdomain_id(), position[j], position[i]}});
      }

      // Sorts the pairs by processes.
      void
      sort_pairs()
      {
        std::vector<unsigned int> ranks;
        for (const auto &pair : pairs)
          if (ranks.empty() || ranks.back() != pair[0])
            ranks.push_back(pair[0]);
        sort_and_unify(ranks);
        for (const unsigned int rank : ranks)
          shared.push_back({rank, {}, {}});
        for (const auto &pair : pairs)
          {
            SharedCells &list =
              shared[std::lower_bound(ranks.begin(), ranks.end(), pair[0]) -
                     ranks.begin()];
            list.own.push_back(pair[1]);
            list.ghost.push_back(pair[2]);
          }
        for (SharedCells &list : shared)
          {
            sort_and_unify(list.own);
            sort_and_unify(list.ghost);
          }
      }

      // Numbers the ghosts of one process from its messages about the given
      // cells.
      void
      number_ghosts(const std::vector<unsigned int> &ghost_cells,
                    const std::vector<CellMessage>  &messages,
                    std::vector<std::size_t>        &ghosts)
      {
        std::vector<unsigned int> by_number(messages.size());
        std::iota(by_number.begin(), by_number.end(), 0u);
        std::sort(by_number.begin(),
                  by_number.end(),
                  [&](const unsigned int a, const unsigned int b) {
                    return messages[a].polytope != messages[b].polytope
                             ? messages[a].polytope < messages[b].polytope
                             : a < b;
                  });
        const std::size_t first = ghost_polytopes.size(),
                          n_own = first_cell.size();
        for (const unsigned int i : by_number)
          {
            if (ghost_polytopes.size() == first ||
                ghost_polytopes.back() != messages[i].polytope)
              {
                ghosts.push_back(n_own + ghost_polytopes.size());
                ghost_polytopes.push_back(messages[i].polytope);
                ghost_first_cells.emplace_back(messages[i].first_cell);
              }
            ids[cell_at[ghost_cells[i]]] =
              static_cast<unsigned int>(n_own + ghost_polytopes.size() - 1);
          }
      }

      const dealii::Triangulation<dim> &triangulation;
      const Cells                      &cells;
      std::vector<unsigned int>        &ids;
      const std::vector<unsigned int>  &position;
      // Cell at each position, and the first cell of each own polytope.
      std::vector<unsigned int> cell_at, first_cell;
      // Rank of the other process, positions of the own cell and of the ghost.
      std::vector<std::array<unsigned int, 3>> pairs;
      std::vector<SharedCells>                 shared;
    };
  } // namespace



  template <int dim>
  void
  AgglomerationHandler<dim>::number_in_parallel(
    internal::PolytopeNumbering &numbering)
  {
    ParallelNumbering<dim> parallel(*triangulation, cells, numbering);
    const unsigned int     n_own        = parallel.number_own_polytopes();
    const MPI_Comm         communicator = get_communicator();
    const std::uint64_t    n_own_long   = n_own;
    const std::uint64_t    n_all =
      dealii::Utilities::MPI::sum(n_own_long, communicator);
    AssertThrow(n_all < invalid_index,
                ExcUserInput("There are " + std::to_string(n_all) +
                             " polytopes on all processes together, more than "
                             "can be counted with 32 bits."));
    first_global_polytope = static_cast<unsigned int>(
      internal::sum_of_lower_processes(n_own, communicator));
    n_all_polytopes = static_cast<unsigned int>(n_all);

    Tessella::on_all_processes(communicator,
                               [&]() { parallel.find_shared_cells(); });
    ghosts               = std::make_shared<GhostExchange>();
    ghosts->communicator = communicator;
    parallel.exchange_polytopes(first_global_polytope, *ghosts);
    numbering.order       = parallel.order_polytopes();
    numbering.n_polytopes = numbering.order.size();
    numbering.n_owned     = n_own;
    ghost_polytopes       = std::move(parallel.ghost_polytopes);
    ghost_first_cells     = std::move(parallel.ghost_first_cells);
  }



  template <int dim>
  void
  AgglomerationHandler<dim>::list_shared_facets(
    const PolytopicMesh<dim> &view, const std::vector<unsigned int> &order)
  {
    const unsigned int        n_own = view.n_owned_polytopes();
    std::vector<unsigned int> shared; // interfaces with a ghost
    for (unsigned int i = 0; i < view.n_interfaces(); ++i)
      if (view.interface_polytope[2 * i + 1] != invalid_index &&
          (view.interface_polytope[2 * i] >= n_own ||
           view.interface_polytope[2 * i + 1] >= n_own))
        shared.push_back(i);
    // All processes list the interfaces of a pair of polytopes in the order of
    // their shifts.
    std::sort(
      shared.begin(),
      shared.end(),
      [&](const unsigned int i, const unsigned int j) {
        for (unsigned int side = 0; side < 2; ++side)
          {
            const unsigned int a = order[view.interface_polytope[2 * i + side]],
                               b = order[view.interface_polytope[2 * j + side]];
            if (a != b)
              return a < b;
          }
        return view.interface_shift[i] < view.interface_shift[j];
      });
    // Ghosts are numbered partner by partner.
    std::vector<std::size_t> first_ghost;
    for (const auto &partner : ghosts->partners)
      first_ghost.push_back(partner.polytopes.ghosts.front());
    for (const unsigned int i : shared)
      {
        const unsigned int side =
          view.interface_polytope[2 * i] < n_own ? 0 : 1;
        const unsigned int ghost = view.interface_polytope[2 * i + 1 - side];
        auto              &partner =
          ghosts->partners[std::upper_bound(
                             first_ghost.begin(), first_ghost.end(), ghost) -
                           first_ghost.begin() - 1];
        for (unsigned int f = view.facet_offset[i];
             f < view.facet_offset[i + 1];
             ++f)
          {
            partner.facet_sides.own.push_back(2 * std::size_t(f) + side);
            partner.facet_sides.ghosts.push_back(2 * std::size_t(f) + 1 - side);
          }
      }
  }



  template <int dim>
  void
  AgglomerationHandler<dim>::number_dofs_in_parallel()
  {
    const MPI_Comm      communicator = get_communicator();
    const unsigned int  n_own        = n_polytopes();
    const std::uint64_t n_own_dofs   = dofs.dof_offset[n_own];
    first_own_dof = internal::sum_of_lower_processes(n_own_dofs, communicator);
    n_all_dofs    = dealii::Utilities::MPI::sum(n_own_dofs, communicator);
    std::vector<std::uint64_t> first(mesh.n_polytopes());
    for (unsigned int k = 0; k < n_own; ++k)
      first[k] = first_own_dof + dofs.dof_offset[k];
    (*ghosts)(first, 1);
    ghost_first_dof.assign(first.begin() + n_own, first.end());

    // One reduction finds minima and maxima: a minimum is the maximum of the
    // differences to the largest index.
    unsigned int extrema[3] = {0, 0, 0};
    for (unsigned int k = 0; k < n_own; ++k)
      {
        extrema[0] = std::max(extrema[0], dofs.degree[k]);
        extrema[1] = std::max(extrema[1], dofs.n_basis[k]);
        extrema[2] = std::max(extrema[2], invalid_index - dofs.n_basis[k]);
      }
    dealii::Utilities::MPI::max(extrema, communicator, extrema);
    dofs.whole.is_set       = true;
    dofs.whole.max_degree   = extrema[0];
    dofs.whole.max_basis    = extrema[1];
    dofs.whole.min_basis    = invalid_index - extrema[2];
    dofs.whole.total_degree = space == PolynomialSpaceType::total_degree;
  }



  template <int dim>
  void
  AgglomerationHandler<dim>::exchange_polytope_values(
    std::vector<double> &values, const unsigned int n_components) const
  {
    check_cells();
    AssertDimension(values.size(),
                    std::size_t(n_components) * mesh.n_polytopes());
    if (ghosts != nullptr)
      (*ghosts)(values, n_components);
  }



  template <int dim>
  void
  AgglomerationHandler<dim>::exchange_dof_values(
    std::vector<double> &values) const
  {
    check_cells();
    AssertDimension(values.size(), dofs.dof_offset.back());
    if (ghosts == nullptr || n_all_polytopes == 0)
      return;
    // Rows of equal length, one per polytope.
    const unsigned int  n = max_dofs_per_polytope();
    std::vector<double> rows(std::size_t(n) * mesh.n_polytopes());
    const auto          n_dofs = [&](const unsigned int k) {
      return dofs.dof_offset[k + 1] - dofs.dof_offset[k];
    };
    for (unsigned int k = 0; k < n_polytopes(); ++k)
      std::copy_n(&values[dofs.dof_offset[k]],
                  n_dofs(k),
                  &rows[std::size_t(n) * k]);
    (*ghosts)(rows, n);
    for (unsigned int k = n_polytopes(); k < mesh.n_polytopes(); ++k)
      std::copy_n(&rows[std::size_t(n) * k],
                  n_dofs(k),
                  &values[dofs.dof_offset[k]]);
  }



  template <int dim>
  void
  AgglomerationHandler<dim>::exchange_facet_values(
    std::vector<double> &values) const
  {
    check_cells();
    AssertDimension(values.size(), 2 * std::size_t(mesh.n_facets()));
    if (ghosts != nullptr)
      (*ghosts)(values, 1, &GhostExchange::Partner::facet_sides);
  }



  template <int dim>
  void
  AgglomerationHandler<dim>::exchange_facet_values(
    std::vector<std::uint64_t> &values) const
  {
    check_cells();
    AssertDimension(values.size(), 2 * std::size_t(mesh.n_facets()));
    if (ghosts != nullptr)
      (*ghosts)(values, 1, &GhostExchange::Partner::facet_sides);
  }



#define INSTANTIATE(dim)                                              \
  template void AgglomerationHandler<dim>::number_in_parallel(        \
    internal::PolytopeNumbering &);                                   \
  template void AgglomerationHandler<dim>::number_dofs_in_parallel(); \
  template void AgglomerationHandler<dim>::list_shared_facets(        \
    const PolytopicMesh<dim> &, const std::vector<unsigned int> &);   \
  template void AgglomerationHandler<dim>::exchange_polytope_values(  \
    std::vector<double> &, const unsigned int) const;                 \
  template void AgglomerationHandler<dim>::exchange_dof_values(       \
    std::vector<double> &) const;                                     \
  template void AgglomerationHandler<dim>::exchange_facet_values(     \
    std::vector<double> &) const;                                     \
  template void AgglomerationHandler<dim>::exchange_facet_values(     \
    std::vector<std::uint64_t> &) const

  INSTANTIATE(2);
  INSTANTIATE(3);
#undef INSTANTIATE
} // namespace Tessella
