// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_common_study_output_h
#define tessella_applications_common_study_output_h

#include <deal.II/lac/trilinos_vector.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/numerics/vector_tools.h>

#include <string>
#include <vector>

#include "study_table.h"

namespace Tessella
{
  namespace Application
  {
    /// Prints a line such as "Backend host, instruction set avx512, 2 threads;
    /// coefficients constant; solver direct." and lines about the CUDA devices
    /// of several processes. Collective.
    void
    print_execution(const OutputInput    &output,
                    const AssemblyReport &report,
                    const std::string    &solver);

    /// Returns one line for each process, about its CUDA device. Empty if there
    /// is only one process, or if no device was chosen. Collective.
    std::vector<std::string>
    describe_devices(const AssemblyReport &report);

    /// Throws if an error against the exact solution is not finite.
    void
    check_error(const double error);

    /// Sets the errors of @p row, after a check that they are finite.
    void
    set_errors(StudyRow &row, const VectorTools::ErrorNorms &errors);

    /// Writes a solution, and data of polytopes if there are any, to the VTU
    /// file with suffix @p ending, if section "Output" asks for solutions.
    template <int dim>
    void
    write_solution(const OutputInput                           &output,
                   const AgglomerationHandler<dim>             &handler,
                   const dealii::TrilinosWrappers::MPI::Vector &solution,
                   const std::string                           &ending,
                   const dealii::Vector<double> *indicators = nullptr);

    /// Draws the mesh to the file with suffix @p ending, if section "Output"
    /// asks for drawings and the whole mesh is on one process. The title is @p
    /// what, such as "level 2", with the number of polytopes.
    template <int dim>
    void
    write_drawing(const OutputInput               &output,
                  const AgglomerationHandler<dim> &handler,
                  const std::string               &ending,
                  const std::string               &what,
                  const unsigned int               n_cells,
                  const bool                       color_by_degree);

    /// Writes solution and polytopes of a row, as far as section "Output" asks
    /// for them.
    template <int dim>
    void
    write_fields(const OutputInput                           &output,
                 const AgglomerationHandler<dim>             &handler,
                 const dealii::TrilinosWrappers::MPI::Vector &solution,
                 const StudyRow                              &row,
                 const unsigned int                           n_levels,
                 const bool                                   draw_polytopes,
                 const bool                                   color_by_degree);

    /// Prints the tables and writes them in all formats that section "Output"
    /// asks for. If @p plot, also plots the errors against the number of DoFs.
    void
    write_tables(const OutputInput &output,
                 const StudyTable  &table,
                 const bool         plot);
  } // namespace Application
} // namespace Tessella

#endif
