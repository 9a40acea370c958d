// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "program.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/base/mpi.h>
#include <deal.II/base/timer.h>
#include <deal.II/base/utilities.h>

#include <tessella/base/error_message.h>
#include <tessella/base/on_all_processes.h>
#include <tessella/base/run_main.h>
#include <tessella/numerics/write_file.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <pthread.h>
#include <sstream>
#include <system_error>
#include <thread>
#include <unistd.h>

#include "command_line.h"
#include "expression.h"
#include "html_report.h"
#include "program_version.h"
#include "validation.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    namespace
    {
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

      // Prints the entries of @p present that are not among @p defaults.
      void
      print_changed_parameters(const std::vector<std::string> &defaults,
                               const std::vector<std::string> &present)
      {
        screen() << "Parameters that are not the default:\n";
        for (const std::string &parameter : present)
          if (std::find(defaults.begin(), defaults.end(), parameter) ==
              defaults.end())
            screen() << "  " << parameter << '\n';
        screen() << std::flush;
      }

      // Prints the time since the timer was started and the largest memory of a
      // process.
      void
      print_resources(const Timer &timer)
      {
        Utilities::System::MemoryStats memory;
        Utilities::System::get_memory_stats(memory);
        const double most =
          Utilities::MPI::max(static_cast<double>(memory.VmHWM),
                              MPI_COMM_WORLD);
        screen() << "Wall time " << short_text(timer.wall_time())
                 << " s, largest memory of a process "
                 << short_text(most / 1048576.) << " GiB." << std::endl;
      }

      // Writes the report of the run if the parameters ask for one. Collective.
      void
      write_report(const RunDescription &run)
      {
        const HtmlReport &report = html_report();
        if (!report.is_open())
          return;
        write_file(report.file_name(),
                   [&](std::ostream &out) { report.write(out, run); });
        screen() << "Wrote " << report.file_name() << "." << std::endl;
      }

      void
      work(const ProgramInfo                             &info,
           const CommandLine                             &command_line,
           const std::function<void(ParameterHandler &)> &declare,
           const std::function<void(ParameterHandler &, const std::string &)>
             &execute)
      {
        ParameterHandler         prm;
        std::vector<std::string> defaults;
        on_all_processes(MPI_COMM_WORLD, [&]() {
          declare(prm);
          defaults = list_parameters(prm);
          if (!command_line.parameter_file.empty())
            read_parameter_file(prm, command_line.parameter_file);
          for (const std::string &setting : command_line.settings)
            apply_setting(prm, setting);
        });
        check_agreement(info, prm, command_line.parameter_file);

        if (command_line.print_parameters)
          {
            print_parameters(info, prm, command_line.print_to);
            return;
          }
        if (run_mode().verbose)
          {
            screen() << version_text(info.name);
            print_changed_parameters(defaults, list_parameters(prm));
          }
        const Timer timer;
        execute(prm, command_line.parameter_file);
        if (run_mode().validate)
          finish_validation(command_line.parameter_file);
        write_report({info.name,
                      version_text(info.name),
                      defaults,
                      list_parameters(prm),
                      timer.wall_time()});
        if (run_mode().verbose)
          print_resources(timer);
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
        if (command_line.help || command_line.version)
          {
            if (command_line.help)
              print_help(info, std::cout);
            else
              std::cout << version_text(info.name);
            check_standard_output();
            return;
          }
        run_mode().quiet   = command_line.quiet;
        run_mode().verbose = command_line.verbose;
        run_mode().validate =
          command_line.validate && !command_line.print_parameters;
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
        erase_progress();
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

    void
    write_file(const std::string                         &file_name,
               const std::function<void(std::ostream &)> &write)
    {
      if (run_mode().validate)
        return;
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
