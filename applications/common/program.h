// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_common_program_h
#define tessella_applications_common_program_h

#include <deal.II/base/parameter_handler.h>

#include <functional>
#include <ostream>
#include <string>

namespace Tessella
{
  /// What the programs in applications/ share: command line, parameters, input
  /// and output. Only here are parameters parsed and text printed.
  namespace Application
  {
    /// What --help says about a program.
    struct ProgramInfo
    {
      std::string name;    ///< of the executable
      std::string summary; ///< one line
      std::string details; ///< paragraphs: what it computes, prints, writes
      bool        parallel = false; ///< it runs on several MPI processes
    };

    /**
     * The main function of every program. Understands
     *   program [--set "Section/Name=value"]... file.prm
     *   program --print-parameters [file]
     *   program --help
     * initialises MPI, and is the one place where exceptions end: each becomes
     * one sentence on the error stream and the exit code 1.
     *
     * On several MPI processes parameters must be the same everywhere. An error
     * ends all of them with the exit code 1, and the first one that failed says
     * why; where an exception on some leaves the others waiting for a message
     * of theirs, they are ended after 20 seconds.
     *
     * SIGHUP, SIGINT and SIGTERM end the program as such signals do, and no
     * temporary file remains. The threads of the program block them.
     *
     * @param declare declares all parameters with defaults and documentation.
     * @param execute does the work; gets the parsed parameters and the name of
     * the parameter file. Not called on several MPI processes unless the
     * program is for that.
     */
    int
    run_program(int                                                    argc,
                char                                                 **argv,
                const ProgramInfo                                     &info,
                const std::function<void(dealii::ParameterHandler &)> &declare,
                const std::function<void(dealii::ParameterHandler &,
                                         const std::string &)>        &execute);

    /// Runs @p work; the message of what it throws begins with the parameter
    /// that it is about.
    void
    about_parameter(const std::string           &parameter,
                    const std::function<void()> &work);

    /// Throws if files cannot be written to @p folder and it cannot be made
    /// either (empty: the present one), as far as that can be told without
    /// making it: better before the work than after it. Collective.
    void
    check_folder(const std::string &parameter, const std::string &folder);

    /// A number for messages: six digits, no zeros at the end.
    std::string
    short_text(const double number);

    /// Whether this is the first MPI process, or the only one.
    bool
    is_first_process();

    /// Standard output; what other processes than the first one write there
    /// goes nowhere.
    std::ostream &
    screen();

    /**
     * As Tessella::write_file(), the file is complete or absent; missing
     * folders are created. Of several processes the first one writes;
     * collective.
     */
    void
    write_file(const std::string                         &file_name,
               const std::function<void(std::ostream &)> &write);

    /// @p file_name as it is, or beside the parameter file, whichever exists;
    /// throws with @p what ("mesh file") if neither does.
    std::string
    find_file(const std::string &what,
              const std::string &file_name,
              const std::string &parameter_file);

    /// "1, 2, 4..6" as a list of integers in [@p min, @p max].
    std::vector<unsigned int>
    parse_integers(const std::string &name,
                   const std::string &text,
                   const unsigned int min,
                   const unsigned int max);
  } // namespace Application
} // namespace Tessella

#endif
