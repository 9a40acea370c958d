// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "distributed_mesh.h"

#include <deal.II/base/timer.h>

#include <deal.II/distributed/fully_distributed_tria.h>
#include <deal.II/distributed/shared_tria.h>

#include <tessella/base/on_all_processes.h>
#include <tessella/grid/mesh_types.h>
#include <tessella/grid/partition.h>

#include <algorithm>
#include <functional>

#include "stage_times.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    namespace
    {
      Distribution
      choose(const MeshInput          &mesh,
             const AgglomerationInput &agglomeration,
             const bool                cell_values)
      {
        const std::string &wanted = mesh.distribution();
        const bool         whole  = mesh.needs_whole_mesh() || cell_values;
        if (wanted == "automatic")
          {
            if (Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD) == 1)
              return Distribution::serial;
#ifdef DEAL_II_WITH_P4EST
            if (mesh.suits_p4est() && !cell_values &&
                agglomeration.suits_p4est(mesh.refines_locally()))
              return Distribution::p4est;
#endif
            return whole ? Distribution::shared
                         : Distribution::fully_distributed;
          }
        AssertThrow(wanted == "shared" || !cell_values,
                    ExcMessage("Values per cell from a file are those of a "
                               "whole mesh: take Mesh/Distribution = shared or "
                               "automatic."));
        AssertThrow(wanted != "fully distributed" || !whole,
                    ExcMessage("Mesh/Distribution = fully distributed works "
                               "without curved cells (Mapping degree above "
                               "1), Periodic boundaries and Distortion: take "
                               "shared."));
        return wanted == "p4est"    ? Distribution::p4est
               : wanted == "shared" ? Distribution::shared
                                    : Distribution::fully_distributed;
      }
      // Throws if there are more processes than cells in the whole mesh, since
      // a process without cells would be idle.
      template <int dim>
      void
      check_n_cells(const Triangulation<dim> &triangulation,
                    const MPI_Comm            communicator,
                    const unsigned int        level)
      {
        const unsigned int n_processes =
          Utilities::MPI::n_mpi_processes(communicator);
        const auto n_cells = triangulation.n_global_active_cells();
        AssertThrow(n_cells >= n_processes,
                    ExcMessage("The mesh of level " + std::to_string(level) +
                               " has fewer cells (" + std::to_string(n_cells) +
                               ") than there are processes (" +
                               std::to_string(n_processes) +
                               "): take a finer mesh or fewer processes."));
      }

      // Numbers the polytopes of a serial mesh in the order in which
      // AgglomerationHandler numbers those of several processes, by their first
      // cells in the order of CellId. The order of some sums, and of the search
      // in the penalty, depends on it.
      template <int dim>
      void
      renumber(const Triangulation<dim>  &triangulation,
               std::vector<unsigned int> &ids)
      {
        std::vector<unsigned int> new_id(1 + *std::max_element(ids.begin(),
                                                               ids.end()),
                                         invalid_index);
        unsigned int              next = 0;
        using Cell = typename Triangulation<dim>::cell_iterator;
        const std::function<void(const Cell &)> visit = [&](const Cell &cell) {
          if (cell->is_active())
            {
              unsigned int &id = new_id[ids[cell->active_cell_index()]];
              if (id == invalid_index)
                id = next++;
            }
          else
            for (unsigned int c = 0; c < cell->n_children(); ++c)
              visit(cell->child(c));
        };
        for (const auto &cell : triangulation.cell_iterators_on_level(0))
          visit(cell);
        for (unsigned int &id : ids)
          id = new_id[id];
      }
    } // namespace



    template <int dim>
    AgglomeratedMesh<dim>
    create_agglomerated_mesh(const MeshInput          &mesh,
                             const AgglomerationInput &agglomeration,
                             const bool                cell_values,
                             const unsigned int        level)
    {
      const MPI_Comm            communicator = MPI_COMM_WORLD;
      AgglomeratedMesh<dim>     result;
      std::vector<unsigned int> ids;
      Timer                     timer;
      result.distribution = choose(mesh, agglomeration, cell_values);
      if (result.distribution == Distribution::p4est)
        {
          result.mesh =
            mesh.create_on_p4est<dim>(level, agglomeration.levels_up());
          result.mesh_seconds = lap(timer);
          check_n_cells(*result.mesh.triangulation, communicator, level);
          // This call is collective, so it runs outside of on_all_processes().
          ids = agglomeration.create(result.mesh);
        }
      else
        on_all_processes(communicator, [&]() {
          result.mesh         = mesh.create<dim>(level);
          result.mesh_seconds = lap(timer);
          check_n_cells(*result.mesh.triangulation, communicator, level);
          if (result.distribution == Distribution::serial)
            {
              ids = agglomeration.create(result.mesh);
              renumber(*result.mesh.triangulation, ids);
            }
        });

      if (result.distribution == Distribution::fully_distributed)
        {
          Agglomeration::Strategy<dim> strategy;
          on_all_processes(communicator, [&]() {
            strategy = agglomeration.strategy(result.mesh);
          });
          auto triangulation =
            std::make_unique<parallel::fullydistributed::Triangulation<dim>>(
              communicator);
          ids = Agglomeration::distribute<dim>(*result.mesh.triangulation,
                                               strategy,
                                               *triangulation)(*triangulation);
          result.mesh.triangulation = std::move(triangulation);
        }
      else if (result.distribution == Distribution::shared)
        {
          using Shared = parallel::shared::Triangulation<dim>;
          auto triangulation =
            std::make_unique<Shared>(communicator,
                                     Triangulation<dim>::none,
                                     false,
                                     Shared::partition_custom_signal);
          on_all_processes(communicator, [&]() {
            ids =
              Agglomeration::partition<dim>(*result.mesh.triangulation,
                                            agglomeration.strategy(result.mesh),
                                            Utilities::MPI::n_mpi_processes(
                                              communicator));
          });
          triangulation->copy_triangulation(*result.mesh.triangulation);
          on_all_processes(communicator, [&]() {
            mesh.set_periodic_boundaries(
              static_cast<Triangulation<dim> &>(*triangulation));
          });
          result.mesh.triangulation = std::move(triangulation);
        }
      result.agglomeration_seconds = timer.wall_time();

      result.description =
        result.mesh.description + " in " +
        AgglomerationInput::describe(
          Agglomeration::statistics<dim>(*result.mesh.triangulation, ids));
      result.strategy = [ids](const Triangulation<dim> &) { return ids; };
      return result;
    }



    template AgglomeratedMesh<2>
    create_agglomerated_mesh(const MeshInput &,
                             const AgglomerationInput &,
                             const bool,
                             const unsigned int);
    template AgglomeratedMesh<3>
    create_agglomerated_mesh(const MeshInput &,
                             const AgglomerationInput &,
                             const bool,
                             const unsigned int);
  } // namespace Application
} // namespace Tessella
