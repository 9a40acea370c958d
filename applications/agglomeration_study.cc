// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Time and quality of the strategies of agglomeration on one or several meshes.

#include <deal.II/base/multithread_info.h>
#include <deal.II/base/parameter_handler.h>
#include <deal.II/base/timer.h>

#include <deal.II/grid/grid_tools.h>

#include <tessella/grid/agglomeration.h>
#include <tessella/grid/matching.h>
#include <tessella/portable/legendre.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "agglomeration_study/scotch_partition.h"
#include "agglomeration_study/shape_measures.h"
#include "agglomeration_study/space_stages.h"
#include "common/mesh_input.h"
#include "common/program.h"
#include "common/text_table.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    const ProgramInfo info = {
      "agglomeration_study",
      "time and quality of the strategies of agglomeration",
      "Groups the cells of one or several meshes by a list of strategies and\n"
      "prints for each of them\n"
      "  threads     number of threads\n"
      "  s           time, the shortest of the repetitions: from the mesh to\n"
      "              the ids, with the graph of neighbours (for Scotch without)\n"
      "  cpu s       processor time of all threads in the same run\n"
      "  cells, view, dofs, penalty, sum  microseconds for each cell: list of the\n"
      "              cells, flat view, unknowns and penalty factors\n"
      "  same        whether the ids, and all bits of flat view and penalty,\n"
      "              are those of the first number of threads\n"
      "  polytopes, min, max  their number, and the numbers of their cells\n"
      "  deviation   standard deviation of the numbers of cells over their mean\n"
      "  cut         pairs of neighbours in different polytopes, per cell\n"
      "  apart       polytopes that are not connected through faces, per cent\n"
      "  uniformity  diameter over the largest diameter\n"
      "  circle      radius of the largest ball inside over that of the\n"
      "              smallest ball around\n"
      "  box         measure over that of the bounding box\n"
      "Those three are means over the polytopes; 1 is best.\n"
      "  error, iterations  of interior penalty for Poisson's equation with\n"
      "              the solution prod sin(pi x_d): error in L2, CG with\n"
      "              multigrid to 1e-10\n"};

    struct Parameters
    {
      MeshInput                 mesh;
      std::vector<std::string>  strategies = {"metis", "matching"};
      std::vector<unsigned int> threads;
      double                    cells_per_polytope = 8.;
      unsigned int              repetitions        = 1;
      bool                      shapes             = true;
      unsigned int              degree             = 0;

      void
      declare(ParameterHandler &prm)
      {
        mesh.declare_parameters(prm);
        prm.enter_subsection("Study");
        prm.add_parameter(
          "Strategies",
          strategies,
          "Strategies to compare. scotch: Scotch 7, where the program was "
          "built with it.",
          Patterns::List(Patterns::Selection("metis|matching|rtree|space "
                                             "filling curve|scotch"),
                         1));
        prm.declare_entry("Threads",
                          "1, 2",
                          Patterns::List(Patterns::Integer(1), 1),
                          "Numbers of threads. METIS, R-tree and space filling "
                          "curve run on one for the most part.");
        prm.add_parameter("Cells per polytope",
                          cells_per_polytope,
                          "Mean number of cells.",
                          Patterns::Double(1.));
        prm.add_parameter("Repetitions",
                          repetitions,
                          "Runs of which the fastest counts.",
                          Patterns::Integer(1));
        prm.add_parameter("Shapes",
                          shapes,
                          "Whether to compute the measures of shape.");
        prm.add_parameter("Degree",
                          degree,
                          "Degree for which Poisson's equation is solved; 0: "
                          "it is not solved.",
                          Patterns::Integer(0, Legendre::max_degree));
        prm.leave_subsection();
      }

      void
      parse(ParameterHandler &prm, const std::string &file)
      {
        mesh.parse_parameters(prm, file);
        prm.enter_subsection("Study");
        threads =
          parse_integers("Study/Threads", prm.get("Threads"), 1, 100000);
        prm.leave_subsection();
      }

      unsigned int
      dimension() const
      {
        return mesh.dimension();
      }
    };

    template <int dim>
    class Study
    {
    public:
      explicit Study(const Parameters &parameters)
        : parameters(parameters)
      {}

      void
      run() const
      {
        for (unsigned int level = 0; level < parameters.mesh.n_levels();
             ++level)
          {
            const Mesh<dim> mesh = parameters.mesh.create<dim>(level);
            screen() << mesh.description << std::endl;
            if (run_mode().validate)
              continue;
            TextTable table;
            for (const std::string &name : parameters.strategies)
              {
                First first;
                for (const unsigned int n_threads : parameters.threads)
                  add_row(*mesh.triangulation, name, n_threads, first, table);
              }
            table.print(screen());
          }
      }

    private:
      /// Results that must not depend on the number of threads.
      struct First
      {
        std::vector<unsigned int> ids;
        std::uint64_t             digest = 0;
      };

      void
      add_row(const Triangulation<dim> &triangulation,
              const std::string        &name,
              const unsigned int        n_threads,
              First                    &first,
              TextTable                &table) const
      {
        MultithreadInfo::set_thread_limit(n_threads);
        double seconds = std::numeric_limits<double>::max(), cpu_seconds = 0;
        std::vector<unsigned int> ids;
        for (unsigned int i = 0; i < parameters.repetitions; ++i)
          {
            double      time = 0;
            const Timer timer;
            ids = apply(triangulation, name, n_threads, time);
            if (time < seconds)
              {
                seconds     = time;
                cpu_seconds = timer.cpu_time();
              }
          }
        table.start_row();
        table.add("strategy", name);
        table.add("threads", std::uint64_t(n_threads));
        table.add("s", seconds);
        // The graph for Scotch is not part of its time.
        if (name != "scotch")
          table.add("cpu s", cpu_seconds);
        const SpaceStages stages =
          measure_space_stages(triangulation, ids, parameters.repetitions);
        const double per_cell = 1e6 / triangulation.n_active_cells();
        table.add("cells", per_cell * stages.cells);
        table.add("view", per_cell * stages.view);
        table.add("dofs", per_cell * stages.unknowns);
        table.add("penalty", per_cell * stages.penalty);
        table.add("sum", per_cell * stages.sum());
        table.add("same",
                  std::string(
                    first.ids.empty() ||
                        (ids == first.ids && stages.digest == first.digest)
                      ? "yes"
                      : "no"));
        if (!first.ids.empty())
          return;
        first = {ids, stages.digest};
        const Agglomeration::Statistics statistics =
          Agglomeration::statistics(triangulation, ids);
        table.add("polytopes", std::uint64_t(statistics.n_polytopes));
        table.add("min", std::uint64_t(statistics.min_cells));
        table.add("max", std::uint64_t(statistics.max_cells));
        table.add("apart",
                  100. * statistics.n_disconnected / statistics.n_polytopes);
        if (parameters.shapes)
          {
            const ShapeMeasures measures = measure_shapes(triangulation, ids);
            table.add("deviation", measures.deviation);
            table.add("cut", measures.cut, 4);
            table.add("uniformity", measures.uniformity);
            table.add("circle", measures.circle_ratio);
            table.add("box", measures.box_ratio);
          }
        if (parameters.degree == 0)
          return;
        const PoissonResult result =
          solve_poisson(triangulation, ids, parameters.degree);
        table.add("error", result.error);
        table.add("iterations", std::uint64_t(result.n_iterations));
      }

      std::vector<unsigned int>
      apply(const Triangulation<dim> &triangulation,
            const std::string        &name,
            const unsigned int        n_threads,
            double                   &seconds) const
      {
        const unsigned int n = std::max(1.,
                                        triangulation.n_active_cells() /
                                          parameters.cells_per_polytope);
        if (name == "scotch")
          {
            DynamicSparsityPattern graph;
            GridTools::get_face_connectivity_of_cells(triangulation, graph);
            return Agglomeration::by_id<dim>(
              partition_by_scotch(graph, n, n_threads, seconds))(triangulation);
          }
        const Agglomeration::Strategy<dim> strategy =
          name == "metis"      ? Agglomeration::metis<dim>(n)
          : name == "matching" ? Agglomeration::matching<dim>(n)
          : name == "rtree"    ? Agglomeration::rtree_parts<dim>(n)
                               : Agglomeration::space_filling_curve<dim>(n);
        const Timer                     timer;
        const std::vector<unsigned int> ids = strategy(triangulation);
        seconds                             = timer.wall_time();
        return ids;
      }

      const Parameters &parameters;
    };

    MainFunction *const main_function = run_study<Study, Parameters>;
  } // namespace Application
} // namespace Tessella
