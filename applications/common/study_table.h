// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_common_study_table_h
#define tessella_applications_common_study_table_h

#include <deal.II/base/parameter_handler.h>

#include <tessella/numerics/svg.h>

#include <array>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "html_report.h"
#include "program.h"
#include "table_plot.h"

namespace Tessella
{
  namespace Application
  {
    /// Result for one mesh and one degree.
    struct StudyRow
    {
      enum Norm
      {
        L2,
        H1, ///< broken H1 seminorm
        dG,
        n_norms
      };
      /// Stages of the program. Their times are wall times in seconds.
      enum Stage
      {
        mesh,
        agglomeration,
        handler, ///< flat view and DoFs
        structure,
        assembly,
        solve,
        errors,
        output,
        n_stages
      };

      unsigned int                 level = 0, degree = 0;
      unsigned int                 n_cells = 0, n_polytopes = 0;
      std::uint64_t                n_dofs = 0, n_nonzero = 0;
      unsigned int                 n_iterations = 0;
      std::array<double, n_norms>  error{};
      std::array<double, n_stages> times{};
    };

    /// Table of the results of a study.
    class StudyTable
    {
    public:
      /// @p in_degree: tables over degrees, one table per level, instead of
      /// tables over levels, one table per degree.
      StudyTable(const int dim, const bool in_degree, const bool with_errors);

      void
      add(const StudyRow &row)
      {
        rows.push_back(row);
      }

      bool
      empty() const
      {
        return rows.empty();
      }

      /// Returns one line about @p row.
      std::string
      describe(const StudyRow &row) const;

      /// Prints tables of errors and, if @p with_times, tables of times.
      void
      print(std::ostream &out, const bool with_times = true) const;
      /// Writes all rows with all columns, with a header in the first line.
      void
      write_csv(std::ostream &out) const;
      /// Writes tables for \\input into a LaTeX document.
      void
      write_latex(std::ostream &out, const std::string &name) const;
      /// Curves of errors against the number of DoFs to the power of 1/dim.
      /// Sets the labels in @p flags.
      std::vector<PlotCurve>
      curves(PlotFlags &flags) const;

    private:
      using Group = std::vector<const StudyRow *>;

      std::vector<Group>
      groups() const;
      std::string
      title(const Group &group) const;
      /// Convergence order with respect to n_dofs^(-1/dim), or the factor by
      /// which the error decreases; nan in the first row.
      double
      rate(const Group       &group,
           const unsigned int row,
           const unsigned int norm) const;

      int                   dim;
      bool                  in_degree, with_errors;
      std::vector<StudyRow> rows;
    };

    /// Declares "Report" in the section "Output", which is open.
    void
    declare_report(dealii::ParameterHandler &prm, bool &write_report);

    /// Section "Output" of a parameter file.
    class OutputInput
    {
    public:
      void
      declare_parameters(dealii::ParameterHandler &prm);
      /// Checks the values that were read. The name of @p parameter_file is
      /// the default of the name of all files.
      void
      parse_parameters(const std::string &parameter_file);

      /// Path of the file with suffix @p ending; creates its folder.
      std::string
      file(const std::string &ending) const;

      bool
      fields_of_level(const unsigned int level,
                      const unsigned int n_levels) const;
      /// Prints a line on the screen.
      void
      print(const std::string &line) const;
      /// Prints a line that depends on the machine, unless the printing of
      /// times is switched off.
      void
      print_machine(const std::string &line) const;

      /// Writes NAME.txt and NAME.csv of a table, as far as the section asks
      /// for them. If @p announce, also prints their names.
      template <typename TableType>
      void
      write_table(const TableType &table, const bool announce = false) const
      {
        if (write_text)
          {
            write_file(file(".txt"),
                       [&](std::ostream &out) { table.print(out); });
            if (announce)
              print_written(".txt");
          }
        write_csv_file(".csv", table, announce);
      }
      /// Writes a table in the file with suffix @p ending, if the section asks
      /// for CSV, and adds it to the report. If @p announce, also prints the
      /// name.
      template <typename TableType>
      void
      write_csv_file(const std::string &ending,
                     const TableType   &table,
                     const bool         announce = false) const
      {
        const auto write = [&](std::ostream &out) { table.write_csv(out); };
        html_report().add_table(title_of_ending(ending), write);
        if (!write_csv)
          return;
        write_file(file(ending), write);
        if (announce)
          print_written(ending);
      }
      /// Plots curves in the file with suffix @p ending, if the section asks
      /// for drawings, and in the report. The title is the name of the files.
      /// If @p announce, also prints the name. Collective.
      void
      write_plot(const std::vector<PlotCurve> &curves,
                 const std::string            &ending,
                 PlotFlags                     flags,
                 const bool                    announce = false) const;
      /// Draws polytopes, all of which this process has, in the file with
      /// suffix @p suffix + "-mesh.svg", if the section asks for drawings, and
      /// in the report.
      template <int dim>
      void
      write_drawing(const AgglomerationHandler<dim> &handler,
                    const std::string               &suffix,
                    const MeshSvgFlags              &flags) const
      {
        html_report().add_drawing("polytopes " + title_of_ending(suffix),
                                  [&](std::ostream &out) {
                                    draw_mesh_svg(handler, out, flags);
                                  });
        if (write_svg)
          write_mesh_svg(handler, file(suffix + "-mesh.svg"), flags);
      }
      /// Says that the file with suffix @p ending was written.
      void
      print_written(const std::string &ending) const;

      /// Common stem of the names of all files, without folder and suffix.
      std::string name;
      /// Whether each kind of output is written.
      bool write_text = true, write_csv = true, write_latex = true,
           write_solution = true, write_polytopes = true, write_svg = true;
      bool print_times = true, write_report = false;

    private:
      std::string directory = "results", levels = "last";
    };
  } // namespace Application
} // namespace Tessella

#endif
