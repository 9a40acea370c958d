// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "program.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/base/mpi.h>

#include <tessella/base/error_message.h>
#include <tessella/base/on_all_processes.h>
#include <tessella/base/run_main.h>
#include <tessella/numerics/write_file.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <pthread.h>
#include <sstream>
#include <system_error>
#include <thread>
#include <unistd.h>

#include "expression.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    namespace
    {
      struct CommandLine
      {
        bool                     help             = false;
        bool                     print_parameters = false;
        std::string              print_to; // empty: standard output
        std::string              parameter_file;
        std::vector<std::string> settings;
      };

      CommandLine
      parse_command_line(const ProgramInfo &info, int argc, char **argv)
      {
        const std::string see_help =
          " ('" + info.name + " --help' shows how to call the program).";
        CommandLine result;
        for (int i = 1; i < argc; ++i)
          {
            const std::string argument = argv[i];
            if (argument == "--help" || argument == "-h")
              result.help = true;
            else if (argument == "--print-parameters")
              {
                result.print_parameters = true;
                if (i + 1 < argc && argv[i + 1][0] != '-')
                  result.print_to = argv[++i];
              }
            else if (argument == "--set")
              {
                AssertThrow(i + 1 < argc,
                            ExcMessage("The option --set needs "
                                       "\"Section/Name=value\"" +
                                       see_help));
                result.settings.push_back(argv[++i]);
              }
            else if (argument.compare(0, 6, "--set=") == 0)
              result.settings.push_back(argument.substr(6));
            else
              {
                AssertThrow(argument.empty() || argument[0] != '-',
                            ExcMessage("There is no option '" + argument + "'" +
                                       see_help));
                AssertThrow(result.parameter_file.empty(),
                            ExcMessage("More than one parameter file is given: "
                                       "'" +
                                       result.parameter_file + "' and '" +
                                       argument + "'" + see_help));
                result.parameter_file = argument;
              }
          }
        AssertThrow(result.help || result.print_parameters ||
                      !result.parameter_file.empty(),
                    ExcMessage("A parameter file is missing" + see_help));
        return result;
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
            AssertThrow(false,
                        ExcMessage(where + "there is no such parameter."));
          }
        catch (const ParameterHandler::ExcValueDoesNotMatchPattern &exception)
          {
            AssertThrow(false, ExcMessage(where + error_message(exception)));
          }
        for (unsigned int i = 0; i < path.size(); ++i)
          prm.leave_subsection();
      }

      void
      print_help(const ProgramInfo &info)
      {
        std::cout
          << info.name << ": " << info.summary << "\n\n"
          << "Usage:\n"
          << "  " << info.name
          << " [--set \"Section/Name=value\"]... file.prm\n"
          << "      runs with the parameters of file.prm; every --set changes "
             "one of them\n"
          << "  " << info.name << " --print-parameters [file]\n"
          << "      writes all parameters with defaults and explanations to "
             "file, or to\n"
          << "      the screen\n"
          << "  " << info.name << " --help\n"
          << "      prints this text\n\n"
          << info.details << std::endl;
      }

      // Lists "Section/Name = value" for every parameter.
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

      // Checks that all processes have the same parameters. Otherwise some of
      // them could wait for messages that are never sent.
      void
      check_agreement(const ProgramInfo      &info,
                      const ParameterHandler &prm,
                      const std::string      &parameter_file)
      {
        std::vector<std::string> own = list_parameters(prm);
        own.push_back("program = " + info.name);
        // The names of output files depend on it.
        own.push_back("parameter file = " + parameter_file);
        const auto first = Utilities::MPI::broadcast(MPI_COMM_WORLD, own, 0);
        on_all_processes(MPI_COMM_WORLD, [&]() {
          const auto where =
            std::mismatch(own.begin(), own.end(), first.begin(), first.end());
          AssertThrow(
            where.first == own.end() && where.second == first.end(),
            ExcMessage(
              "The processes disagree about parameters: '" +
              (where.second != first.end() ? *where.second : "") +
              "' on the first one, '" +
              (where.first != own.end() ? *where.first : "") + "' on process " +
              std::to_string(Utilities::MPI::this_mpi_process(MPI_COMM_WORLD)) +
              ". Give all the same parameter file and options."));
        });
      }

      void
      work(const ProgramInfo                             &info,
           const CommandLine                             &command_line,
           const std::function<void(ParameterHandler &)> &declare,
           const std::function<void(ParameterHandler &, const std::string &)>
             &execute)
      {
        ParameterHandler prm;
        on_all_processes(MPI_COMM_WORLD, [&]() {
          declare(prm);
          if (!command_line.parameter_file.empty())
            {
              std::ifstream file(command_line.parameter_file);
              AssertThrow(file && std::filesystem::is_regular_file(
                                    command_line.parameter_file),
                          ExcMessage("The parameter file '" +
                                     command_line.parameter_file +
                                     "' does not exist or cannot be read."));
              prm.parse_input(file, command_line.parameter_file);
            }
          for (const std::string &setting : command_line.settings)
            apply_setting(prm, setting);
        });
        check_agreement(info, prm, command_line.parameter_file);

        if (command_line.print_parameters)
          {
            const auto print = [&](std::ostream &out) {
              out << "# Parameters of " << info.name << ": " << info.summary
                  << "\n\n";
              prm.print_parameters(out,
                                   ParameterHandler::PRM |
                                     ParameterHandler::KeepDeclarationOrder);
            };
            if (command_line.print_to.empty())
              {
                // ParameterHandler would not report why writing to the screen
                // failed.
                std::ostringstream text;
                print(text);
                screen() << text.str();
              }
            else
              {
                write_file(command_line.print_to, print);
                screen() << "Wrote " << command_line.print_to << std::endl;
              }
            return;
          }

        execute(prm, command_line.parameter_file);
      }

      // Signals that end the program, and the signals that were blocked when it
      // started.
      sigset_t  ending_signals, blocked_at_start;
      pthread_t watcher;

      // Starts a thread that waits for the signals that end the program and
      // then removes temporary files. All other threads block these signals,
      // because METIS treats a SIGTERM as an error of its own. This must be
      // called before other threads start; threads that libraries have started
      // by themselves pass the signals on.
      void
      watch_signals()
      {
        // A file beyond the limit of 'ulimit -f' becomes an ordinary error.
        std::signal(SIGXFSZ, SIG_IGN);
        sigemptyset(&ending_signals);
        for (const int signal : {SIGHUP, SIGINT, SIGTERM})
          {
            struct sigaction present;
            // A signal that is ignored, as SIGHUP under nohup, stays ignored.
            if (sigaction(signal, nullptr, &present) == 0 &&
                present.sa_handler == SIG_DFL)
              sigaddset(&ending_signals, signal);
          }
        pthread_sigmask(SIG_BLOCK, &ending_signals, &blocked_at_start);
        // MPI may start programs, which must not inherit the blocked signals.
        pthread_atfork(nullptr, nullptr, []() {
          pthread_sigmask(SIG_SETMASK, &blocked_at_start, nullptr);
        });
        try
          {
            std::thread thread([]() {
              int signal = 0;
              while (sigwait(&ending_signals, &signal) != 0)
                ;
              remove_temporary_files();
              pthread_sigmask(SIG_UNBLOCK, &ending_signals, nullptr);
              // METIS may install a handler between the two calls.
              for (;;)
                {
                  std::signal(signal, SIG_DFL);
                  std::raise(signal);
                }
            });
            watcher = thread.native_handle();
            thread.detach();
            for (const int signal : {SIGHUP, SIGINT, SIGTERM})
              if (sigismember(&ending_signals, signal) == 1)
                std::signal(signal, [](const int signal) {
                  if (pthread_equal(pthread_self(), watcher) != 0)
                    std::signal(signal, SIG_DFL);
                  pthread_kill(watcher, signal);
                });
          }
        catch (const std::system_error &)
          {
            pthread_sigmask(SIG_SETMASK, &blocked_at_start, nullptr);
          }
      }

      // A table that was not written completely must not count as success.
      void
      check_standard_output()
      {
        std::cout.flush();
        // A second attempt to write sets errno to the reason.
        errno = 0;
        const int error =
          !std::cout && ::write(STDOUT_FILENO, "\n", 1) < 0 ? errno : 0;
        AssertThrow(std::cout,
                    ExcMessage(
                      "The standard output cannot be written" +
                      (error != 0
                         ? " (" + std::generic_category().message(error) + ")"
                         : "") +
                      "."));
      }
    } // namespace

    int
    run_program(int                                             argc,
                char                                          **argv,
                const ProgramInfo                              &info,
                const std::function<void(ParameterHandler &)>  &declare,
                const std::function<void(ParameterHandler &,
                                         const std::string &)> &execute)
    {
      std::string message;
      bool        failed = false, said = false;
      const auto  guard = [&](const std::function<void()> &function) {
        const std::string text = error_message_of(function);
        if (!text.empty())
          message = text;
      };

      watch_signals();
      guard([&]() {
        const CommandLine command_line = parse_command_line(info, argc, argv);
        if (command_line.help)
          {
            print_help(info);
            check_standard_output();
            return;
          }
        // The arguments are not passed on, because PETSc, if deal.II has it,
        // would take them for its own options and warn at the end that they
        // were not used.
        int                                    n_arguments = 1;
        const Utilities::MPI::MPI_InitFinalize mpi(
          n_arguments, argv, numbers::invalid_unsigned_int);
        const unsigned int n_processes =
          Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD);
        // This communicator keeps the final exchange apart from messages of a
        // program that has failed.
        MPI_Comm end;
        MPI_Comm_dup(MPI_COMM_WORLD, &end);
        // The result is reported while MPI is alive; otherwise the end of MPI
        // would be taken for a failure of one process.
        guard([&]() {
          AssertThrow(n_processes == 1 || info.parallel,
                      ExcMessage(
                        "The program was started on " +
                        std::to_string(n_processes) +
                        " MPI processes, but it works on one with threads: "
                        "start it without mpirun."));
          work(info, command_line, declare, execute);
          check_standard_output();
        });
        said   = true;
        failed = any_failed(end, info.name, message);
        MPI_Comm_free(&end);
      });

      if (message.empty() && !failed)
        return 0;
      if (!said)
        {
          std::cout.flush();
          std::cerr << info.name << ": " << message << std::endl;
        }
      return 1;
    }

    void
    about_parameter(const std::string           &parameter,
                    const std::function<void()> &work)
    {
      try
        {
          work();
        }
      catch (const std::exception &exception)
        {
          AssertThrow(false,
                      ExcMessage(parameter + ": " + error_message(exception)));
        }
    }

    void
    check_folder(const std::string &parameter, const std::string &folder)
    {
      namespace fs = std::filesystem;
      on_all_processes(MPI_COMM_WORLD, [&]() {
        if (!is_first_process())
          return;
        std::error_code error;
        fs::path        present = fs::absolute(folder.empty() ? "." : folder);
        while (present.has_relative_path() && !fs::exists(present, error))
          present = present.parent_path();
        const bool is_folder = fs::is_directory(present, error);
        AssertThrow(is_folder && access(present.c_str(), W_OK | X_OK) == 0,
                    ExcMessage(
                      "The folder '" + folder + "' (" + parameter +
                      ") cannot be made or written to: '" + present.string() +
                      (is_folder ? "' is not writable." : "' is no folder.")));
      });
    }

    std::string
    short_text(const double number)
    {
      if (std::isnan(number)) // without the sign of "-nan"
        return "nan";
      std::ostringstream text;
      text << number;
      return text.str();
    }

    std::string
    point_text(const double *x, const int dim)
    {
      std::string text;
      for (int d = 0; d < dim; ++d)
        text += (d > 0 ? ", " : "") + short_text(x[d]);
      return text;
    }

    bool
    is_index(const std::string &text)
    {
      return !text.empty() && text.size() < 10 &&
             text.find_first_not_of("0123456789") == std::string::npos;
    }

    std::string
    scientific_text(const double number, const unsigned int digits)
    {
      std::ostringstream stream;
      stream << std::scientific << std::setprecision(digits) << number;
      return stream.str();
    }

    bool
    is_first_process()
    {
      return Utilities::MPI::this_mpi_process(MPI_COMM_WORLD) == 0;
    }

    std::ostream &
    screen()
    {
      static std::ostream nowhere(nullptr);
      return is_first_process() ? std::cout : nowhere;
    }

    void
    write_file(const std::string                         &file_name,
               const std::function<void(std::ostream &)> &write)
    {
      on_all_processes(MPI_COMM_WORLD, [&]() {
        if (!is_first_process())
          return;
        const std::filesystem::path folder =
          std::filesystem::path(file_name).parent_path();
        std::error_code error;
        if (!folder.empty())
          std::filesystem::create_directories(folder, error);
        AssertThrow(!error,
                    ExcMessage("The folder '" + folder.string() +
                               "' cannot be created: " + error.message() +
                               "."));
        Tessella::write_file(file_name, write);
      });
    }

    std::string
    find_file(const std::string &what,
              const std::string &file_name,
              const std::string &parameter_file)
    {
      namespace fs = std::filesystem;
      AssertThrow(!file_name.empty(),
                  ExcMessage("The name of the " + what + " is missing."));
      std::error_code ignored;
      if (fs::is_regular_file(file_name, ignored))
        return file_name;
      const fs::path beside =
        fs::path(parameter_file).parent_path() / file_name;
      if (fs::is_regular_file(beside, ignored))
        return beside.string();
      AssertThrow(false,
                  ExcMessage("The " + what + " '" + file_name +
                             "' does not exist, neither in the present folder "
                             "nor beside the parameter file."));
      return "";
    }

    std::vector<unsigned int>
    parse_integers(const std::string &name,
                   const std::string &text,
                   const unsigned int min,
                   const unsigned int max)
    {
      std::vector<unsigned int> result;
      const auto                number = [&](const std::string &digits) {
        AssertThrow(is_index(digits) && std::stoul(digits) >= min &&
                      std::stoul(digits) <= max,
                    ExcMessage("The entry '" + digits + "' of " + name +
                               " is not an integer from " +
                               std::to_string(min) + " to " +
                               std::to_string(max) + "."));
        return static_cast<unsigned int>(std::stoul(digits));
      };
      for (const std::string &entry : split(text, ','))
        {
          const auto dots = entry.find("..");
          if (dots == std::string::npos)
            result.push_back(number(entry));
          else
            {
              const auto trim = [](const std::string &s) {
                const auto parts = split(s, ',');
                return parts.empty() ? std::string() : parts[0];
              };
              const unsigned int first = number(trim(entry.substr(0, dots)));
              const unsigned int last  = number(trim(entry.substr(dots + 2)));
              AssertThrow(first <= last,
                          ExcMessage("The range '" + entry + "' of " + name +
                                     " is empty: the smaller number comes "
                                     "first."));
              for (unsigned int i = first; i <= last; ++i)
                result.push_back(i);
            }
        }
      AssertThrow(!result.empty(),
                  ExcMessage(name + " is empty; give one integer or more."));
      return result;
    }
  } // namespace Application
} // namespace Tessella
