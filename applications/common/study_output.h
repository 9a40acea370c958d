// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_common_study_output_h
#define tessella_applications_common_study_output_h

#include <deal.II/lac/trilinos_vector.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/lac/vector_view.h>
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

    /// Names of the files with a solution and its polytopes.
    struct FieldFiles
    {
      /// Beginnings of the suffixes of the files. Without one for polytopes,
      /// these are not written.
      std::string solution, polytopes;
      /// Title of the drawing of the polytopes, such as "level 2".
      std::string  title;
      unsigned int n_cells;         ///< fine cells of many are not drawn
      bool         color_by_degree; ///< in the drawing
    };

    /// Names of the files for a row of a table.
    FieldFiles
    files_of_row(const StudyRow &row,
                 const bool      with_polytopes,
                 const bool      color_by_degree);

    /// Adds a picture of a discrete function, or of its first component, to the
    /// report if there is one: each sub-cell has the colour of the mean of the
    /// values at its vertices. It is left out on several processes and on
    /// meshes of more than 20,000 sub-cells.
    template <int dim>
    void
    report_solution(const OutputInput               &output,
                    const AgglomerationHandler<dim> &handler,
                    const ConstVectorView           &solution,
                    const std::string               &suffix);

    /// Writes a solution as VTU, with data of polytopes if there are any, and
    /// the polytopes as VTU and as a drawing, as far as section "Output" asks
    /// for them, and shows both in the report. A mesh on several processes is
    /// not drawn.
    template <int dim>
    void
    write_fields(const OutputInput                           &output,
                 const AgglomerationHandler<dim>             &handler,
                 const dealii::TrilinosWrappers::MPI::Vector &solution,
                 const FieldFiles                            &files,
                 const dealii::Vector<double> *indicators = nullptr);

    /// Prints the tables and writes them in all formats that section "Output"
    /// asks for. If @p plot, also plots the errors against the number of DoFs.
    void
    write_tables(const OutputInput &output,
                 const StudyTable  &table,
                 const bool         plot);
  } // namespace Application
} // namespace Tessella

#endif
