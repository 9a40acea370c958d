// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "agglomeration_input.h"

#include <deal.II/grid/tria.h>

#include <tessella/grid/matching.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "expression.h"
#include "mesh_reader.h"
#include "program.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    void
    AgglomerationInput::declare_parameters(ParameterHandler &prm)
    {
      prm.enter_subsection("Agglomeration");
      prm.add_parameter(
        "Method",
        method,
        "none: every cell is a polytope. matching: neighbours joined pairwise "
        "on all threads, connected polytopes. metis: graph partitioning. "
        "rtree: "
        "sort-tile-recursive, into the number of polytopes asked for. rtree "
        "levels: nested levels of the tree. space filling curve: groups along "
        "a Hilbert curve. parents: ancestors of the cells of a refined mesh. "
        "families: parents all of whose children are cells; other cells are "
        "polytopes of their own. "
        "file: ids from a text file, one per cell. cell data: ids from a field "
        "of the .vtk mesh file. material id: one polytope per id. single: one "
        "polytope in all.",
        Patterns::Selection(
          "none|metis|matching|rtree|rtree levels|space filling curve|"
          "parents|families|file|cell data|material id|single"));
      prm.add_parameter("Cells per polytope",
                        cells_per_polytope,
                        "For metis, matching, rtree and space filling curve: "
                        "the number of polytopes follows the number of cells.",
                        Patterns::Double());
      prm.declare_entry("Number of polytopes",
                        "0",
                        Patterns::Anything(),
                        "The same as a number of polytopes; 0: use the "
                        "parameter above.");
      prm.add_parameter("Levels",
                        levels,
                        "For parents: levels up. For rtree levels: 0 groups "
                        "about 2^dim cells, every level more groups 2^dim of "
                        "those.",
                        Patterns::Integer(0, 20));
      prm.add_parameter("File",
                        file,
                        "For file: name of the text file. It has one integer "
                        "for every cell, or for every cell of the mesh before "
                        "refinement.");
      prm.add_parameter("Field", field, "For cell data: name of the field.");
      prm.add_parameter("Weight expression",
                        weights,
                        "For metis and matching: weight of a cell at its "
                        "centre, rounded "
                        "to an integer from 1; polytopes get equal weight. "
                        "Empty: all weigh the same.");
      prm.add_parameter("Split disconnected polytopes",
                        split_disconnected,
                        "Parts of a polytope that share no face become "
                        "polytopes of their own.");
      prm.add_parameter("Minimum cells",
                        min_cells,
                        "Polytopes of fewer cells are merged into a "
                        "neighbour. Not with the method none, whose polytopes "
                        "all have one cell.",
                        Patterns::Integer(1));
      prm.leave_subsection();
    }

    void
    AgglomerationInput::parse_parameters(ParameterHandler  &prm,
                                         const std::string &parameter_file)
    {
      prm.enter_subsection("Agglomeration");
      n_polytopes = parse_integers("Agglomeration/Number of polytopes",
                                   prm.get("Number of polytopes"),
                                   0,
                                   999999999)[0];
      prm.leave_subsection();
      AssertThrow(cells_per_polytope >= 1. && std::isfinite(cells_per_polytope),
                  ExcMessage("Agglomeration/Cells per polytope must be at "
                             "least 1."));
      AssertThrow(weights.empty() || method == "metis" || method == "matching",
                  ExcMessage("Agglomeration/Weight expression works with the "
                             "methods metis and matching only."));
      if (method == "file")
        file = find_file("file of polytope ids (Agglomeration/File)",
                         file,
                         parameter_file);
    }

    namespace
    {
      // Returns the ids of the active cells, which inherit those of the cells
      // on level 0.
      template <int dim>
      std::vector<unsigned int>
      inherit(const Mesh<dim>                 &mesh,
              const std::vector<unsigned int> &ids,
              const std::string               &from)
      {
        const auto &tria = *mesh.triangulation;
        if (ids.size() == tria.n_active_cells())
          return ids;
        AssertThrow(ids.size() == mesh.n_coarse_cells,
                    ExcMessage(from + " has " + std::to_string(ids.size()) +
                               " polytope ids, but the mesh has " +
                               std::to_string(tria.n_active_cells()) +
                               " cells (" +
                               std::to_string(mesh.n_coarse_cells) +
                               " before refinement)."));
        std::vector<unsigned int> result(tria.n_active_cells());
        for (const auto &cell : tria.active_cell_iterators())
          {
            typename Triangulation<dim>::cell_iterator ancestor = cell;
            while (ancestor->level() > 0)
              ancestor = ancestor->parent();
            result[cell->active_cell_index()] = ids[ancestor->index()];
          }
        return result;
      }

      std::vector<unsigned int>
      read_ids(const std::string &file_name)
      {
        std::ifstream             in(file_name);
        std::vector<unsigned int> ids;
        std::string               line;
        unsigned int              n_lines = 0;
        while (std::getline(in, line))
          {
            ++n_lines;
            std::istringstream words(line.substr(0, line.find('#')));
            std::string        word;
            while (words >> word)
              {
                AssertThrow(is_index(word),
                            ExcMessage("The entry '" + word + "' in line " +
                                       std::to_string(n_lines) + " of '" +
                                       file_name +
                                       "' is no polytope id: ids are integers "
                                       "from 0."));
                ids.push_back(std::stoul(word));
              }
          }
        return ids;
      }
    } // namespace

    bool
    AgglomerationInput::suits_p4est(const bool refined_locally) const
    {
      return !is_repaired() && (method == "none" || method == "families" ||
                                (method == "parents" && !refined_locally));
    }

    bool
    AgglomerationInput::is_repaired() const
    {
      return method != "none" && (split_disconnected || min_cells > 1);
    }

    unsigned int
    AgglomerationInput::levels_up() const
    {
      return method == "parents" ? levels : method == "families" ? 1 : 0;
    }

    template <int dim>
    Agglomeration::Strategy<dim>
    AgglomerationInput::strategy(const Mesh<dim> &mesh) const
    {
      const Triangulation<dim> &tria    = *mesh.triangulation;
      const std::uint64_t       n_cells = tria.n_global_active_cells();
      AssertThrow(n_polytopes <= n_cells,
                  ExcMessage("Agglomeration/Number of polytopes is " +
                             std::to_string(n_polytopes) +
                             ", more than the mesh has cells (" +
                             std::to_string(n_cells) +
                             "): ask for fewer polytopes or refine the "
                             "mesh."));
      const unsigned int n =
        n_polytopes > 0
          ? n_polytopes
          : std::max<unsigned int>(1,
                                   std::lround(n_cells / cells_per_polytope));

      Agglomeration::Strategy<dim> strategy;
      if (method == "none")
        strategy = Agglomeration::none<dim>();
      else if (method == "metis" || method == "matching")
        {
          std::vector<unsigned int> cell_weights;
          if (!weights.empty())
            {
              const Expression expression("Agglomeration/Weight expression",
                                          weights,
                                          coordinate_names(dim),
                                          parse_constants("", ""));
              cell_weights.resize(tria.n_active_cells());
              for (const auto &cell : tria.active_cell_iterators())
                {
                  const Point<dim> center = cell->center();
                  const double     weight = expression.value(&center[0]);
                  AssertThrow(weight >= 0.5 && weight < 1e6,
                              ExcMessage(
                                "Agglomeration/Weight expression gives " +
                                std::to_string(weight) +
                                "; weights are integers from 1 to 1000000."));
                  cell_weights[cell->active_cell_index()] = std::lround(weight);
                }
            }
          strategy = method == "metis"
                       ? Agglomeration::metis<dim>(n, cell_weights)
                       : Agglomeration::matching<dim>(n, cell_weights);
        }
      else if (method == "rtree")
        strategy = Agglomeration::rtree_parts<dim>(n);
      else if (method == "rtree levels")
        strategy = Agglomeration::rtree<dim>(levels);
      else if (method == "space filling curve")
        strategy = Agglomeration::space_filling_curve<dim>(n);
      else if (method == "parents")
        strategy = Agglomeration::parents<dim>(levels);
      else if (method == "families")
        strategy = Agglomeration::complete_families<dim>();
      else if (method == "file")
        strategy = Agglomeration::by_id<dim>(
          inherit(mesh, read_ids(file), "The file '" + file + "'"));
      else if (method == "cell data")
        {
          AssertThrow(!mesh.file.empty(),
                      ExcMessage("Agglomeration/Method = cell data needs a "
                                 "mesh from a .vtk file."));
          strategy = Agglomeration::by_id<dim>(
            inherit(mesh,
                    read_vtk_cell_data(dim, mesh.file, field),
                    "The field '" + field + "' of '" + mesh.file + "'"));
        }
      else if (method == "material id")
        strategy = Agglomeration::by_material_id<dim>();
      else
        strategy = Agglomeration::by_id<dim>(
          std::vector<unsigned int>(tria.n_active_cells(), 0));

      if (is_repaired())
        {
          Agglomeration::RepairOptions options;
          options.split_disconnected = split_disconnected;
          options.min_cells          = min_cells;
          strategy = Agglomeration::repair<dim>(strategy, options);
        }
      return strategy;
    }

    std::string
    AgglomerationInput::describe(const Agglomeration::Statistics &statistics)
    {
      std::ostringstream stream;
      stream << statistics.n_polytopes << " polytopes of ";
      if (statistics.min_cells == statistics.max_cells)
        stream << statistics.min_cells
               << (statistics.min_cells == 1 ? " cell" : " cells");
      else
        stream << statistics.min_cells << " to " << statistics.max_cells
               << " cells";
      if (statistics.n_disconnected > 0)
        stream << ", " << statistics.n_disconnected
               << " of them not connected through faces (Agglomeration/Split "
                  "disconnected polytopes = true splits them)";
      return stream.str();
    }

    template Agglomeration::Strategy<2>
    AgglomerationInput::strategy(const Mesh<2> &) const;
    template Agglomeration::Strategy<3>
    AgglomerationInput::strategy(const Mesh<3> &) const;
  } // namespace Application
} // namespace Tessella
