// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_h
#define tessella_tests_h

// Header that every test includes. A test begins with
//
//     int
//     main(int argc, char **argv)
//     {
//       TestProgram program(argc, argv);
//
// writes its results to deallog, and is compared with name.output by numdiff
// (-a 1e-6 -r 1e-8). An exception or an assertion that nobody catches ends it
// with a non-zero status, which is a failure whatever was written before.

#include <deal.II/base/exceptions.h>
#include <deal.II/base/logstream.h>
#include <deal.II/base/mpi.h>
#include <deal.II/base/utilities.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

/// Number of threads that a test may use: N for "name.threads=N.output",
/// otherwise two.
inline unsigned int
n_threads()
{
  const char *n = std::getenv("TEST_N_THREADS");
  return (n != nullptr && std::atoi(n) > 0) ? std::atoi(n) : 2;
}

/// Sends deallog to the file "output", on the first process only, and nothing
/// to the screen.
inline void
initlog()
{
  static std::ofstream file;
  if (dealii::Utilities::MPI::this_mpi_process(MPI_COMM_WORLD) == 0)
    {
      file.open("output");
      dealii::deallog.attach(file, false);
    }
  dealii::deallog.depth_console(0);
}

/// Initialises MPI and the number of threads, and sends deallog to its file.
class TestProgram
{
public:
  TestProgram(int               &argc,
              char            **&argv,
              const unsigned int max_threads = n_threads())
    : mpi(argc, argv, max_threads)
  {
    initlog();
  }

private:
  dealii::Utilities::MPI::MPI_InitFinalize mpi;
};

/// Writes "name: ok", or "name: FAILED".
inline bool
check(const std::string &name, const bool condition)
{
  dealii::deallog << name << ": " << (condition ? "ok" : "FAILED") << std::endl;
  return condition;
}

/// Writes "name: ok" if |value - expected| <= tolerance, otherwise both values.
/// NaN fails.
inline bool
check_close(const std::string &name,
            const double       value,
            const double       expected,
            const double       tolerance)
{
  const bool close = std::abs(value - expected) <= tolerance;
  dealii::deallog << name << ": ";
  if (close)
    dealii::deallog << "ok" << std::endl;
  else
    dealii::deallog << "FAILED, got " << value << " instead of " << expected
                    << ", tolerance " << tolerance << std::endl;
  return close;
}

/// Writes "name: ok" if value <= bound, otherwise both values. NaN fails.
inline bool
check_below(const std::string &name, const double value, const double bound)
{
  const bool below = value <= bound;
  dealii::deallog << name << ": ";
  if (below)
    dealii::deallog << "ok" << std::endl;
  else
    dealii::deallog << "FAILED, got " << value << ", bound " << bound
                    << std::endl;
  return below;
}

/// Writes "name: ok" if @p function throws an exception of type ExceptionType
/// whose message contains @p text, otherwise the actual outcome. Words of the
/// message are separated by single spaces.
template <typename ExceptionType, typename Function>
bool
check_throws(const std::string &name,
             const Function    &function,
             const std::string &text = "")
{
  dealii::deallog << name << ": ";
  try
    {
      function();
      dealii::deallog << "FAILED, no exception" << std::endl;
    }
  catch (const ExceptionType &exception)
    {
      // deal.II breaks long messages into lines.
      std::istringstream words(exception.what());
      std::string        message, word;
      while (words >> word)
        message += (message.empty() ? "" : " ") + word;
      if (message.find(text) != std::string::npos)
        {
          dealii::deallog << "ok" << std::endl;
          return true;
        }
      dealii::deallog << "FAILED, the message does not contain \"" << text
                      << "\": " << exception.what() << std::endl;
    }
  catch (const std::exception &exception)
    {
      dealii::deallog << "FAILED, another exception: " << exception.what()
                      << std::endl;
    }
  return false;
}

/// Rate of convergence between two errors on meshes of size @p h_coarse and
/// @p h_fine.
inline double
rate(const double error_coarse,
     const double error_fine,
     const double h_coarse = 2.,
     const double h_fine   = 1.)
{
  return std::log(error_coarse / error_fine) / std::log(h_coarse / h_fine);
}

#endif
