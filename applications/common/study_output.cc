// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "study_output.h"

#include <deal.II/base/mpi.h>
#include <deal.II/base/utilities.h>

#include <tessella/base/on_all_processes.h>
#include <tessella/numerics/data_out.h>
#include <tessella/numerics/svg.h>

#include "program.h"
#include "table_plot.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    std::string
    describe_execution(const AssemblyReport &report, const std::string &solver)
    {
      const unsigned int n = Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD);
      return "Backend " + name(report.backend) + ", instruction set " +
             name(report.instruction_set) + ", " +
             std::to_string(report.n_threads) +
             (report.n_threads == 1 ? " thread" : " threads") +
             (n > 1 ? " of each of " + std::to_string(n) + " processes" : "") +
             "; coefficients " + report.coefficients + "; solver " + solver +
             ".";
    }



    std::vector<std::string>
    describe_devices(const AssemblyReport &report)
    {
      std::vector<std::string> lines;
      if (report.backend != Backend::cuda || report.device < 0)
        return lines;
      const std::string own =
        Utilities::System::get_hostname() + ": CUDA device " +
        std::to_string(report.device) + " (" + cuda_device_name() + ")" +
        (report.n_processes_on_device > 1
           ? ", shared by " + std::to_string(report.n_processes_on_device)
           : "");
      for (const std::string &line :
           Utilities::MPI::all_gather(MPI_COMM_WORLD, own))
        lines.push_back("Process " + std::to_string(lines.size()) + " on " +
                        line + ".");
      return lines;
    }



    template <int dim>
    void
    write_fields(const OutputInput                   &output,
                 const AgglomerationHandler<dim>     &handler,
                 const TrilinosWrappers::MPI::Vector &solution,
                 const StudyRow                      &row,
                 const unsigned int                   n_levels,
                 const bool                           draw_polytopes,
                 const bool                           color_by_degree)
    {
      if (!output.fields_of_level(row.level, n_levels))
        return;
      const std::string level = "-" + std::to_string(row.level);
      const std::string run   = level + "-p" + std::to_string(row.degree);
      if (output.write_solution())
        {
          PolytopicDataOut<dim> data_out(handler);
          data_out.add_data_vector(solution, "solution");
          data_out.build_patches();
          data_out.write_vtu_file(output.file(run + "-solution.vtu"));
        }
      if (output.write_polytopes() && draw_polytopes)
        write_polytopes_vtu(handler, output.file(level + "-polytopes.vtu"));
      // The drawing needs the whole mesh on one process.
      if (output.write_svg() && draw_polytopes &&
          Utilities::MPI::n_mpi_processes(handler.get_communicator()) == 1)
        {
          MeshSvgFlags flags;
          flags.title = output.name() + ", level " + std::to_string(row.level) +
                        ": " + std::to_string(row.n_polytopes) + " polytopes";
          flags.color_by_degree = color_by_degree;
          flags.fine_cells      = row.n_cells <= 20000;
          write_mesh_svg(handler, output.file(level + "-mesh.svg"), flags);
        }
    }



    void
    write_tables(const OutputInput &output,
                 const StudyTable  &table,
                 const bool         plot)
    {
      table.print(screen(), output.print_times());
      const auto written = [&](const std::string &suffix) {
        output.print("Wrote " + output.file(suffix) + ".");
      };
      if (output.write_text())
        {
          write_file(output.file(".txt"),
                     [&](std::ostream &out) { table.print(out, true); });
          written(".txt");
        }
      if (output.write_csv())
        {
          write_file(output.file(".csv"),
                     [&](std::ostream &out) { table.write_csv(out); });
          written(".csv");
        }
      if (output.write_latex())
        {
          write_file(output.file(".tex"), [&](std::ostream &out) {
            table.write_latex(out, output.name());
          });
          written(".tex");
        }
      if (output.write_svg() && plot)
        {
          PlotFlags flags;
          flags.title              = output.name();
          const auto        curves = table.curves(flags);
          const std::string file   = output.file("-convergence.svg");
          on_all_processes(MPI_COMM_WORLD, [&]() {
            if (is_first_process())
              write_plot_svg(curves, file, flags);
          });
          written("-convergence.svg");
        }
    }



    template void
    write_fields(const OutputInput &,
                 const AgglomerationHandler<2> &,
                 const TrilinosWrappers::MPI::Vector &,
                 const StudyRow &,
                 const unsigned int,
                 const bool,
                 const bool);
    template void
    write_fields(const OutputInput &,
                 const AgglomerationHandler<3> &,
                 const TrilinosWrappers::MPI::Vector &,
                 const StudyRow &,
                 const unsigned int,
                 const bool,
                 const bool);
  } // namespace Application
} // namespace Tessella
