// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_common_system_study_h
#define tessella_applications_common_system_study_h

#include <deal.II/base/convergence_table.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "html_report.h"
#include "program.h"
#include "study_parameters.h"

namespace Tessella
{
  namespace Application
  {
    /// Parameters of programs for systems of equations, which solve for a given
    /// exact solution on a sequence of meshes.
    struct SystemStudyParameters : MeshParameters
    {
      std::vector<unsigned int> degrees;
      double                    penalty_constant = 2.;
      /// Quadrature order where the exact solution is integrated, in excess of
      /// 2 p.
      unsigned int extra_order    = 4;
      Backend      backend        = Backend::automatic;
      double       tolerance      = 1e-10;
      unsigned int max_iterations = 1000;
      std::string  directory      = "output";
      bool         write_report   = false;
      std::string  name; ///< of the parameter file, without folder and ending

      /// Declares parameters in the section "Discretisation", which is open
      /// afterwards. @p of_degrees continues the text about degrees; @p penalty
      /// is a formula.
      void
      declare_discretisation(dealii::ParameterHandler &prm,
                             const std::string        &of_degrees,
                             const std::string        &penalty,
                             const std::string        &backend_text)
      {
        namespace Patterns = dealii::Patterns;
        prm.enter_subsection("Discretisation");
        prm.declare_entry("Degree",
                          "1, 2, 3",
                          Patterns::Anything(),
                          "Polynomial degrees from 1 to 10" + of_degrees + ".");
        prm.add_parameter("Penalty constant",
                          penalty_constant,
                          "Constant C of the penalty " + penalty +
                            ", positive.",
                          Patterns::Double());
        prm.add_parameter(
          "Quadrature order of data",
          extra_order,
          "Added to 2 p where the exact solution is integrated.",
          Patterns::Integer(0, 20));
        prm.declare_entry("Backend",
                          "automatic",
                          Patterns::Selection("automatic|host|cuda"),
                          backend_text);
      }

      /// Declares the end of an iteration in the present section.
      void
      declare_tolerance(dealii::ParameterHandler &prm,
                        const std::string        &method,
                        const std::string        &tolerance_text)
      {
        prm.add_parameter("Tolerance",
                          tolerance,
                          tolerance_text,
                          dealii::Patterns::Double());
        prm.add_parameter("Maximum iterations",
                          max_iterations,
                          "Of " + method + ".",
                          dealii::Patterns::Integer(1));
      }

      /// Declares the folder in the section "Output", which is open afterwards.
      void
      declare_output(dealii::ParameterHandler &prm)
      {
        prm.enter_subsection("Output");
        prm.add_parameter("Directory",
                          directory,
                          "Folder of all files; it is made if it is missing.");
        declare_report(prm, write_report);
      }

      void
      parse(dealii::ParameterHandler &prm, const std::string &parameter_file)
      {
        MeshParameters::parse(prm, parameter_file);
        prm.enter_subsection("Discretisation");
        degrees =
          parse_integers("Discretisation/Degree", prm.get("Degree"), 1, 10);
        backend = parse_backend(prm.get("Backend"));
        prm.leave_subsection();
        check_backend("Discretisation/Backend", backend);
        AssertThrow(penalty_constant > 0.,
                    dealii::ExcMessage(
                      "Discretisation/Penalty constant must be "
                      "positive."));
        AssertThrow(tolerance > 0. && tolerance < 1.,
                    dealii::ExcMessage(
                      "Solver/Tolerance must be between 0 and 1."));
        check_folder("Output/Directory", directory);
        name = std::filesystem::path(parameter_file).stem().string();
        if (write_report)
          html_report().open(name, file("-report.html"), true);
      }

      /// Data of an assembler with backend and penalty.
      AssemblyParameters
      assembly_parameters() const
      {
        AssemblyParameters data;
        data.backend          = backend;
        data.penalty.constant = penalty_constant;
        return data;
      }

      /// Path of the file with suffix @p ending.
      std::string
      file(const std::string &ending) const
      {
        return (std::filesystem::path(directory) / (name + ending)).string();
      }
    };

    /// Parses the @p dim components of a vector, which semicolons separate.
    /// @p name is that of the parameter.
    inline std::vector<Expression>
    parse_vector(const std::string &name,
                 const std::string &text,
                 const unsigned int dim)
    {
      const std::vector<std::string> parts = split(text, ';');
      AssertThrow(parts.size() == dim,
                  dealii::ExcMessage(
                    name + " has " + std::to_string(parts.size()) +
                    " components separated by semicolons, but in " +
                    std::to_string(dim) + " dimensions it needs " +
                    std::to_string(dim) + "."));
      std::vector<Expression> result;
      for (const std::string &part : parts)
        result.emplace_back(name,
                            part,
                            coordinate_names(dim),
                            parse_constants(name, ""));
      return result;
    }

    /// Prints @p table with the convergence rates of the columns @p norms, with
    /// respect to unknowns^(-1/dim), under the line @p title, adds the text to
    /// @p tables, and the table to the report if there is one.
    inline void
    print_errors(const std::string              &title,
                 dealii::ConvergenceTable       &table,
                 const std::vector<std::string> &norms,
                 const int                       dim,
                 std::ostream                   &tables)
    {
      if (run_mode().validate)
        return;
      for (const std::string &norm : norms)
        {
          table.set_precision(norm, 3);
          table.set_scientific(norm, true);
          table.evaluate_convergence_rates(
            norm,
            "unknowns",
            dealii::ConvergenceTable::reduction_rate_log2,
            dim);
        }
      std::ostringstream one_table;
      one_table << title << '\n';
      table.write_text(one_table);
      one_table << '\n';
      screen() << one_table.str() << std::flush;
      html_report().add_table(title, [&](std::ostream &out) {
        std::stringstream lines;
        table.write_text(lines, dealii::ConvergenceTable::org_mode_table);
        // "| a | b |" becomes "a,b"
        for (std::string line; std::getline(lines, line);)
          {
            std::string row;
            for (const std::string &cell : split(line, '|'))
              row += (row.empty() ? "" : ",") + cell;
            out << row << '\n';
          }
      });
      tables << one_table.str();
    }
  } // namespace Application
} // namespace Tessella

#endif
