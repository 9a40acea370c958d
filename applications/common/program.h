// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_common_program_h
#define tessella_applications_common_program_h

#include <deal.II/base/parameter_handler.h>

#include <functional>
#include <ostream>
#include <string>

#include "screen.h"

namespace Tessella
{
  /// Code that the programs in applications/ share: command line, parameters,
  /// input and output. Parameters are parsed and text is printed only here.
  namespace Application
  {
    /// Text that --help prints about a program.
    struct ProgramInfo
    {
      std::string name;      ///< name of the executable
      std::string summary;   ///< one line
      std::string details;   ///< paragraphs: computation, screen, files
      bool parallel = false; ///< whether it runs on several MPI processes
      /// Whether it reads a parameter file. Otherwise it has the options --help
      /// and --version only.
      bool has_parameters = true;
    };

    /**
     * Main function of every program. It understands the options that
     * print_help() explains, initialises MPI, and catches every exception: each
     * becomes one sentence on the error stream and the exit code 1.
     *
     * All MPI processes must have the same parameters. An error on any process
     * ends all of them with the exit code 1, and the first process that failed
     * prints the message. If an exception on some processes leaves the others
     * waiting for a message, the latter are ended after 20 seconds.
     *
     * SIGHUP, SIGINT and SIGTERM end the program with the usual status of such
     * a signal, after temporary files have been removed. The threads of the
     * program block these signals.
     *
     * @param declare declares all parameters with defaults and documentation.
     * @param execute does the work. Its arguments are the parsed parameters and
     * the name of the parameter file. It is not called on several MPI processes
     * if @p info says that the program runs on one only. With --validate it is
     * called as well: what it prints on the screen and writes by write_file()
     * is discarded, and validate_system() tells it to leave out the solution of
     * a system.
     */
    int
    run_program(int                                                    argc,
                char                                                 **argv,
                const ProgramInfo                                     &info,
                const std::function<void(dealii::ParameterHandler &)> &declare,
                const std::function<void(dealii::ParameterHandler &,
                                         const std::string &)>        &execute);

    /// The same for a study: declares and parses @p Parameters, and calls
    /// Study<dim>(parameters).run() for dim = parameters.dimension().
    template <template <int> class Study, typename Parameters>
    int
    run_study(int argc, char **argv, const ProgramInfo &info)
    {
      Parameters parameters;
      return run_program(
        argc,
        argv,
        info,
        [&](dealii::ParameterHandler &prm) { parameters.declare(prm); },
        [&](dealii::ParameterHandler &prm, const std::string &file) {
          parameters.parse(prm, file);
          if (parameters.dimension() == 2)
            Study<2>(parameters).run();
          else
            Study<3>(parameters).run();
        });
    }

    /// The function main() of a program calls @p main_function with @p info;
    /// both are defined in the file of the program.
    using MainFunction = int(int argc, char **argv, const ProgramInfo &info);
    extern MainFunction *const main_function;
    extern const ProgramInfo   info;

    /// Runs @p work and, if it throws, puts the name of the parameter concerned
    /// in front of the message.
    void
    about_parameter(const std::string           &parameter,
                    const std::function<void()> &work);

    /// Throws if files cannot be written to @p folder, and it cannot be created
    /// either. An empty name stands for the current folder. The test does not
    /// create the folder, so it may miss an obstacle; it is meant to be called
    /// before a long computation. Collective.
    void
    check_folder(const std::string &parameter, const std::string &folder);

    /// Text of a number for messages: six digits, no trailing zeros.
    std::string
    short_text(const double number);

    /// Text of the coordinates of a point, such as "0.5, 1".
    std::string
    point_text(const double *x, const int dim);

    /// Whether a text consists of one to nine digits.
    bool
    is_index(const std::string &text);

    /// Text of a number in scientific notation.
    std::string
    scientific_text(const double number, const unsigned int digits = 2);

    /**
     * Writes a file that is either complete or absent, as
     * Tessella::write_file() does. Missing folders are created. If there are
     * several processes, the first one writes. With --validate nothing is
     * written. Collective.
     */
    void
    write_file(const std::string                         &file_name,
               const std::function<void(std::ostream &)> &write);

    /// Returns @p file_name, or its path relative to the folder of the
    /// parameter file, whichever exists. Throws if neither does; @p what, for
    /// example "mesh file", begins the message.
    std::string
    find_file(const std::string &what,
              const std::string &file_name,
              const std::string &parameter_file);

    /// Parses "1, 2, 4..6" as a list of integers in [@p min, @p max].
    std::vector<unsigned int>
    parse_integers(const std::string &name,
                   const std::string &text,
                   const unsigned int min,
                   const unsigned int max);
  } // namespace Application
} // namespace Tessella

#endif
