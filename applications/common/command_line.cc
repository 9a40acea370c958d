// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "command_line.h"

#include <deal.II/base/exceptions.h>

#include <tessella/base/error_message.h>

#include <exception>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "ends_with.h"
#include "expression.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    namespace
    {
      // Sets the member of an option without an argument. Returns false if
      // there is no such option.
      bool
      set_flag(const ProgramInfo &info,
               const std::string &argument,
               CommandLine       &line)
      {
        bool *flag = nullptr;
        if (argument == "--help" || argument == "-h")
          flag = &line.help;
        else if (argument == "--version")
          flag = &line.version;
        else if (!info.has_parameters)
          return false;
        else if (argument == "--validate")
          flag = &line.validate;
        else if (argument == "--quiet" || argument == "-q")
          flag = &line.quiet;
        else if (argument == "--verbose" || argument == "-v")
          flag = &line.verbose;
        if (flag != nullptr)
          *flag = true;
        return flag != nullptr;
      }
    } // namespace



    CommandLine
    parse_command_line(const ProgramInfo &info, int argc, char **argv)
    {
      const std::string see_help =
        " ('" + info.name + " --help' shows how to call the program).";
      CommandLine result;
      for (int i = 1; i < argc; ++i)
        {
          const std::string argument = argv[i];
          if (set_flag(info, argument, result))
            continue;
          if (argument == "--print-parameters" && info.has_parameters)
            {
              result.print_parameters = true;
              if (i + 1 < argc && argv[i + 1][0] != '-')
                result.print_to = argv[++i];
            }
          else if (argument == "--set" && info.has_parameters)
            {
              AssertThrow(i + 1 < argc,
                          ExcMessage("The option --set needs "
                                     "\"Section/Name=value\"" +
                                     see_help));
              result.settings.push_back(argv[++i]);
            }
          else if (argument.compare(0, 6, "--set=") == 0 && info.has_parameters)
            result.settings.push_back(argument.substr(6));
          else
            {
              AssertThrow(argument.empty() || argument[0] != '-',
                          ExcMessage("There is no option '" + argument + "'" +
                                     see_help));
              AssertThrow(info.has_parameters,
                          ExcMessage("The program takes no file, but '" +
                                     argument + "' is given" + see_help));
              AssertThrow(result.parameter_file.empty(),
                          ExcMessage("More than one parameter file is given: "
                                     "'" +
                                     result.parameter_file + "' and '" +
                                     argument + "'" + see_help));
              result.parameter_file = argument;
            }
        }
      AssertThrow(!result.quiet || !result.verbose,
                  ExcMessage("The options --quiet and --verbose exclude each "
                             "other" +
                             see_help));
      AssertThrow(!info.has_parameters || result.help || result.version ||
                    result.print_parameters || !result.parameter_file.empty(),
                  ExcMessage("A parameter file is missing" + see_help));
      return result;
    }



    void
    print_help(const ProgramInfo &info, std::ostream &out)
    {
      out << info.name << ": " << info.summary << "\n\n"
          << "Usage:\n";
      if (info.has_parameters)
        out << "  " << info.name << " [option]... file.prm\n"
            << "  " << info.name << " --print-parameters [file]\n\n"
            << "Options:\n"
            << "  --set \"Section/Name=value\"\n"
            << "      changes one parameter; the option may be repeated\n"
            << "  --validate\n"
            << "      reads parameters, meshes and data, solves and writes "
               "nothing, and\n"
            << "      estimates the memory; the exit status is 1 if something "
               "is wrong or\n"
            << "      if the machine has less memory\n"
            << "  --quiet\n"
            << "      prints nothing but errors\n"
            << "  --verbose\n"
            << "      also prints versions, the parameters that are not the "
               "default, time\n"
            << "      and memory\n"
            << "  --print-parameters [file]\n"
            << "      writes all parameters with values and explanations to "
               "file, or to\n"
            << "      the screen; as JSON if the name ends in .json\n";
      else
        out << "  " << info.name << " [option]\n\n"
            << "Options:\n";
      out << "  --version\n"
          << "      prints the versions of the program and of what it uses\n"
          << "  --help\n"
          << "      prints this text\n\n"
          << info.details;
      if (info.has_parameters)
        out << "\nParameter files are in deal.II's format, or JSON or XML if "
               "their names end\nin .json or .xml. On a terminal, programs "
               "that run for long say how far they\nare and when they will "
               "end.\n";
      out << std::flush;
    }



    void
    read_parameter_file(ParameterHandler &prm, const std::string &file_name)
    {
      std::ifstream file(file_name);
      AssertThrow(file && std::filesystem::is_regular_file(file_name),
                  ExcMessage("The parameter file '" + file_name +
                             "' does not exist or cannot be read."));
      const bool json = ends_with(file_name, ".json"),
                 xml  = ends_with(file_name, ".xml");
      if (!json && !xml)
        {
          prm.parse_input(file, file_name);
          return;
        }
      const std::string where = "The parameter file '" + file_name + "'",
                        kind  = json ? "JSON" : "XML";
      try
        {
          if (json)
            prm.parse_input_from_json(file);
          else
            prm.parse_input_from_xml(file);
        }
      catch (const ParameterHandler::ExcEntryUndeclared &exception)
        {
          const std::string text  = error_message(exception);
          const auto        begin = text.find('<'), end = text.find('>');
          AssertThrow(false,
                      ExcMessage(where + " sets '" +
                                 text.substr(begin + 1, end - begin - 1) +
                                 "', but there is no such parameter."));
        }
      catch (const std::exception &exception)
        {
          // Boost's parsers say "<unspecified file>(LINE): REASON".
          const std::string text = error_message(exception),
                            mark = "<unspecified file>(";
          const auto begin = text.rfind(mark), end = text.find("): ", begin);
          AssertThrow(begin != std::string::npos && end != std::string::npos,
                      ExcMessage(where + ": " + text));
          AssertThrow(false,
                      ExcMessage(where + " is no valid " + kind + ": " +
                                 text.substr(end + 3) + " in line " +
                                 text.substr(begin + mark.size(),
                                             end - begin - mark.size()) +
                                 "."));
        }
    }



    void
    apply_setting(ParameterHandler &prm, const std::string &setting)
    {
      const std::string where = "--set \"" + setting + "\": ";
      const auto        equal = setting.find('=');
      AssertThrow(equal != std::string::npos,
                  ExcMessage(where + "it must be \"Section/Name=value\"."));
      std::vector<std::string> path = split(setting.substr(0, equal), '/');
      AssertThrow(!path.empty() && !path.back().empty(),
                  ExcMessage(where + "it must be \"Section/Name=value\"."));
      const std::string name  = path.back();
      const std::string value = setting.substr(equal + 1);
      path.pop_back();
      AssertThrow(path.empty() || prm.subsection_path_exists(path),
                  ExcMessage(where + "there is no such section."));
      for (const std::string &section : path)
        prm.enter_subsection(section);
      try
        {
          prm.set(name, value);
        }
      catch (const ParameterHandler::ExcEntryUndeclared &)
        {
          AssertThrow(false, ExcMessage(where + "there is no such parameter."));
        }
      catch (const ParameterHandler::ExcValueDoesNotMatchPattern &exception)
        {
          AssertThrow(false, ExcMessage(where + error_message(exception)));
        }
      for (unsigned int i = 0; i < path.size(); ++i)
        prm.leave_subsection();
    }



    void
    print_parameters(const ProgramInfo      &info,
                     const ParameterHandler &prm,
                     const std::string      &file_name)
    {
      const auto print = [&](std::ostream &out) {
        if (ends_with(file_name, ".json"))
          {
            prm.print_parameters(out,
                                 ParameterHandler::JSON |
                                   ParameterHandler::KeepDeclarationOrder);
            return;
          }
        out << "# Parameters of " << info.name << ": " << info.summary
            << "\n\n";
        prm.print_parameters(out,
                             ParameterHandler::PRM |
                               ParameterHandler::KeepDeclarationOrder);
      };
      if (file_name.empty())
        {
          // ParameterHandler would not report why writing to the screen
          // failed.
          std::ostringstream text;
          print(text);
          screen() << text.str();
        }
      else
        {
          write_file(file_name, print);
          screen() << "Wrote " << file_name << std::endl;
        }
    }



    std::vector<std::string>
    list_parameters(const ParameterHandler &prm)
    {
      std::stringstream stream;
      prm.print_parameters(stream, ParameterHandler::ShortPRM);
      std::vector<std::string> result;
      std::string              line, section;
      while (std::getline(stream, line))
        {
          const auto begin = line.find_first_not_of(' ');
          if (begin == std::string::npos)
            continue;
          line = line.substr(begin, line.find_last_not_of(' ') + 1 - begin);
          if (line.compare(0, 11, "subsection ") == 0)
            section += line.substr(11) + "/";
          else if (line == "end")
            section.erase(section.find_last_of('/', section.size() - 2) + 1);
          else if (line.compare(0, 4, "set ") == 0)
            {
              std::string entry;
              for (const char c : line.substr(4))
                if (c != ' ' || entry.empty() || entry.back() != ' ')
                  entry += c;
              result.push_back(section + entry);
            }
        }
      return result;
    }
  } // namespace Application
} // namespace Tessella
