// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "study_output.h"

#include <deal.II/base/mpi.h>
#include <deal.II/base/utilities.h>

#include <tessella/numerics/data_out.h>
#include <tessella/numerics/svg.h>

#include <cmath>

#include "program.h"
#include "table_plot.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    void
    print_execution(const OutputInput    &output,
                    const AssemblyReport &report,
                    const std::string    &solver)
    {
      const unsigned int n = Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD);
      output.print_machine(
        "Backend " + name(report.backend) + ", instruction set " +
        name(report.instruction_set) + ", " + std::to_string(report.n_threads) +
        (report.n_threads == 1 ? " thread" : " threads") +
        (n > 1 ? " of each of " + std::to_string(n) + " processes" : "") +
        "; coefficients " + report.coefficients + "; solver " + solver + ".");
      for (const std::string &line : describe_devices(report))
        output.print_machine(line);
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



    void
    check_error(const double error)
    {
      AssertThrow(std::isfinite(error),
                  ExcMessage("The error against Equation/Exact solution is not "
                             "finite: the expression or its gradient is not "
                             "finite somewhere in the domain."));
    }



    void
    set_errors(StudyRow &row, const VectorTools::ErrorNorms &errors)
    {
      row.error[StudyRow::L2] = errors.L2;
      row.error[StudyRow::H1] = errors.H1_seminorm;
      row.error[StudyRow::dG] = errors.dG;
      for (const double error : row.error)
        check_error(error);
    }



    FieldFiles
    files_of_row(const StudyRow &row,
                 const bool      with_polytopes,
                 const bool      color_by_degree)
    {
      const std::string number = std::to_string(row.level),
                        level  = "-" + number;
      return {level + "-p" + std::to_string(row.degree),
              with_polytopes ? level : "",
              "level " + number,
              row.n_cells,
              color_by_degree};
    }



    namespace
    {
      /// Gives access to the patches, one for each sub-cell.
      template <int dim>
      struct PatchAccess : PolytopicDataOut<dim>
      {
        using PolytopicDataOut<dim>::PolytopicDataOut;
        using PolytopicDataOut<dim>::get_patches;
      };
    } // namespace



    template <int dim>
    void
    report_solution(const OutputInput               &output,
                    const AgglomerationHandler<dim> &handler,
                    const ConstVectorView           &solution,
                    const std::string               &suffix)
    {
      // A picture of more cells would make the page too large.
      if (!html_report().is_open() || run_mode().validate ||
          Utilities::MPI::n_mpi_processes(handler.get_communicator()) > 1 ||
          handler.polytopic_mesh().n_subcells() > 20000)
        return;
      PatchAccess<dim> data_out(handler);
      data_out.add_data_vector(solution, "solution");
      data_out.build_patches(1);
      MeshSvgFlags flags;
      flags.title = output.name + suffix;
      for (const auto &patch : data_out.get_patches())
        {
          double sum = 0.;
          for (unsigned int v = 0; v < patch.data.n_cols(); ++v)
            sum += patch.data(0, v);
          flags.values.push_back(sum / patch.data.n_cols());
        }
      html_report().add_drawing("solution " + title_of_ending(suffix),
                                [&](std::ostream &out) {
                                  draw_mesh_svg(handler, out, flags);
                                });
    }



    template <int dim>
    void
    write_fields(const OutputInput                   &output,
                 const AgglomerationHandler<dim>     &handler,
                 const TrilinosWrappers::MPI::Vector &solution,
                 const FieldFiles                    &files,
                 const Vector<double>                *indicators)
    {
      if (output.write_solution)
        {
          PolytopicDataOut<dim> data_out(handler);
          data_out.add_data_vector(solution, "solution");
          if (indicators != nullptr)
            data_out.add_polytope_data(*indicators, "indicator");
          data_out.build_patches();
          data_out.write_vtu_file(
            output.file(files.solution + "-solution.vtu"));
        }
      report_solution(output, handler, solution, files.solution);
      if (files.polytopes.empty())
        return;
      if (output.write_polytopes)
        write_polytopes_vtu(handler,
                            output.file(files.polytopes + "-polytopes.vtu"));
      if (Utilities::MPI::n_mpi_processes(handler.get_communicator()) == 1)
        {
          MeshSvgFlags flags;
          flags.title = output.name + ", " + files.title + ": " +
                        std::to_string(handler.n_polytopes()) + " polytopes";
          flags.color_by_degree = files.color_by_degree;
          flags.fine_cells      = files.n_cells <= 20000;
          output.write_drawing(handler, files.polytopes, flags);
        }
    }



    void
    write_tables(const OutputInput &output,
                 const StudyTable  &table,
                 const bool         plot)
    {
      table.print(screen(), output.print_times);
      output.write_table(table, true);
      if (output.write_latex)
        {
          write_file(output.file(".tex"), [&](std::ostream &out) {
            table.write_latex(out, output.name);
          });
          output.print_written(".tex");
        }
      if (plot)
        {
          PlotFlags  flags;
          const auto curves = table.curves(flags);
          output.write_plot(curves, "-convergence.svg", flags, true);
        }
    }



    template void
    report_solution(const OutputInput &,
                    const AgglomerationHandler<2> &,
                    const ConstVectorView &,
                    const std::string &);
    template void
    report_solution(const OutputInput &,
                    const AgglomerationHandler<3> &,
                    const ConstVectorView &,
                    const std::string &);
    template void
    write_fields(const OutputInput &,
                 const AgglomerationHandler<2> &,
                 const TrilinosWrappers::MPI::Vector &,
                 const FieldFiles &,
                 const Vector<double> *);
    template void
    write_fields(const OutputInput &,
                 const AgglomerationHandler<3> &,
                 const TrilinosWrappers::MPI::Vector &,
                 const FieldFiles &,
                 const Vector<double> *);
  } // namespace Application
} // namespace Tessella
