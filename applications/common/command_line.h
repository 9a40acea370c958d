// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_common_command_line_h
#define tessella_applications_common_command_line_h

#include <deal.II/base/parameter_handler.h>

#include <ostream>
#include <string>
#include <vector>

#include "program.h"

namespace Tessella
{
  namespace Application
  {
    /// Options and arguments of a program.
    struct CommandLine
    {
      bool                     help             = false;
      bool                     version          = false;
      bool                     print_parameters = false;
      bool                     validate         = false;
      bool                     quiet            = false;
      bool                     verbose          = false;
      std::string              print_to; ///< empty: standard output
      std::string              parameter_file;
      std::vector<std::string> settings; ///< arguments of --set
    };

    /// Reads the command line. Throws a sentence about the first mistake.
    /// Programs whose @p info has no parameters know --help and --version only.
    CommandLine
    parse_command_line(const ProgramInfo &info, int argc, char **argv);

    /// Writes the text of --help. Manual pages and completions of the shell are
    /// made from it, see cmake/tessella_manual.cmake: the list of options
    /// begins with the line "Options:" and ends with an empty one, and an
    /// option begins with two blanks.
    void
    print_help(const ProgramInfo &info, std::ostream &out);

    /// Reads a parameter file, JSON or XML if its name ends in .json or .xml
    /// and deal.II's own format otherwise.
    void
    read_parameter_file(dealii::ParameterHandler &prm,
                        const std::string        &file_name);

    /// Changes the parameter of an argument "Section/Name=value" of --set.
    void
    apply_setting(dealii::ParameterHandler &prm, const std::string &setting);

    /// Does what --print-parameters asks for. Collective.
    void
    print_parameters(const ProgramInfo              &info,
                     const dealii::ParameterHandler &prm,
                     const std::string              &file_name);

    /// Lists "Section/Name = value" for every parameter.
    std::vector<std::string>
    list_parameters(const dealii::ParameterHandler &prm);
  } // namespace Application
} // namespace Tessella

#endif
