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

namespace Tessella
{
  namespace Application
  {
    /// Result of one mesh with one degree.
    struct StudyRow
    {
      enum Norm
      {
        L2,
        H1, ///< broken H1 seminorm
        dG,
        n_norms
      };
      /// Stages of the program; times are wall time in seconds.
      enum Stage
      {
        mesh,
        agglomeration,
        handler, ///< flat view and degrees of freedom
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

    /// Collects the results of a study and writes them.
    class StudyTable
    {
    public:
      /// @p in_degree: tables over degrees, one per level, instead of tables
      /// over levels, one per degree.
      StudyTable(const int dim, const bool in_degree, const bool with_errors);

      void
      add(const StudyRow &row);

      /// One line about @p row.
      std::string
      describe(const StudyRow &row) const;

      /// Tables of errors and, @p with_times, of times.
      void
      print(std::ostream &out, const bool with_times) const;
      /// All rows with all columns, a header in the first line.
      void
      write_csv(std::ostream &out) const;
      /// Tables for \\input into a LaTeX document.
      void
      write_latex(std::ostream &out, const std::string &name) const;
      /// Errors against unknowns, to the power of 1/dim; sets labels of @p
      /// flags.
      std::vector<PlotCurve>
      curves(PlotFlags &flags) const;

    private:
      using Group = std::vector<const StudyRow *>;

      std::vector<Group>
      groups() const;
      std::string
      title(const Group &group) const;
      /// Order with respect to unknowns^(-1/dim), or the factor by which the
      /// error falls; nan in the first row.
      double
      rate(const Group         &group,
           const unsigned int   row,
           const StudyRow::Norm norm) const;

      int                   dim;
      bool                  in_degree, with_errors;
      std::vector<StudyRow> rows;
    };

    /// Section "Output" of a parameter file.
    class OutputInput
    {
    public:
      void
      declare_parameters(dealii::ParameterHandler &prm);
      void
      parse_parameters(dealii::ParameterHandler &prm,
                       const std::string        &parameter_file);

      /// Name of all files, without folder and ending.
      const std::string &
      name() const;
      /// Path of the file with this ending; its folder exists afterwards.
      std::string
      file(const std::string &ending) const;

      bool
      fields_of_level(const unsigned int level,
                      const unsigned int n_levels) const;
      bool
      write_text() const;
      bool
      write_csv() const;
      bool
      write_latex() const;
      bool
      write_solution() const;
      bool
      write_polytopes() const;
      bool
      write_svg() const;
      bool
      print_times() const;

      /// A line on the screen.
      void
      print(const std::string &line) const;
      /// A line that depends on the machine; not printed together with times
      /// switched off.
      void
      print_machine(const std::string &line) const;

    private:
      std::string directory, present_name, levels;
      bool        text = true, csv = true, latex = true, solution = true,
           polytopes = true, svg = true, times = true;
    };
  } // namespace Application
} // namespace Tessella

#endif
