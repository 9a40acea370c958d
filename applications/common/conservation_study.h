// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_common_conservation_study_h
#define tessella_applications_common_conservation_study_h

#include <deal.II/base/mpi.h>

#include <tessella/numerics/data_out.h>
#include <tessella/numerics/svg.h>

#include <string>

#include "conservation_table.h"
#include "discretisation_input.h"
#include "mesh_input.h"
#include "program.h"
#include "study_output.h"

namespace Tessella
{
  namespace Application
  {
    /// Common parts of the studies of conservation laws.

    /// Finds the file @p restart of Time/Restart from, which goes on with one
    /// run, for the parameter file @p file.
    inline void
    find_restart(const MeshInput           &mesh,
                 const DiscretisationInput &discretisation,
                 const std::string         &file,
                 std::string               &restart)
    {
      if (restart.empty())
        return;
      AssertThrow(mesh.n_levels() == 1 && discretisation.degrees.size() == 1,
                  dealii::ExcMessage("Time/Restart from goes on with one run: "
                                     "set Mesh/Levels = 1 and one "
                                     "Discretisation/Degree."));
      restart = find_file("checkpoint (Time/Restart from)", restart, file);
    }

    /// Prints and writes the table of a study, unless all runs were stopped,
    /// and its curves of errors.
    inline void
    write_study(const OutputInput       &output,
                const ConservationTable &table,
                const bool               has_errors)
    {
      if (table.empty())
        return;
      table.print(screen());
      output.write_table(table, true);
      if (!has_errors)
        return;
      PlotFlags  flags;
      const auto curves = table.curves(flags);
      output.write_plot(curves, "-convergence.svg", flags, true);
    }

    /// Says that a run was stopped after @p steps, and how to go on.
    inline void
    print_stopped(const OutputInput &output,
                  const unsigned int degree,
                  const std::string &steps,
                  const std::string &checkpoint)
    {
      output.print("  degree " + std::to_string(degree) + ": stopped after " +
                   steps + "; to go on, set Time/Restart from = " + checkpoint +
                   ".");
    }

    /// Writes the polytopes of a level, which are the same for all degrees.
    template <int dim>
    void
    write_polytopes(const AgglomerationHandler<dim> &handler,
                    const OutputInput               &output,
                    const ConservationRow           &row)
    {
      const std::string level = "-" + std::to_string(row.level);
      if (output.write_polytopes)
        write_polytopes_vtu(handler, output.file(level + "-polytopes.vtu"));
      if (dealii::Utilities::MPI::n_mpi_processes(handler.get_communicator()) >
          1)
        return;
      MeshSvgFlags flags;
      flags.title = output.name + ", level " + std::to_string(row.level) +
                    ": " + std::to_string(handler.n_polytopes()) + " polytopes";
      flags.fine_cells = row.n_cells <= 20000;
      output.write_drawing(handler, level, flags);
    }
  } // namespace Application
} // namespace Tessella

#endif
