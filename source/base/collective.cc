// SPDX-License-Identifier: LGPL-2.1-or-later
#include "collective.h"

#include <tessella/base/exceptions.h>

#include <exception>
#include <sstream>
#include <string>
#include <vector>

namespace Tessella
{
  namespace internal
  {
    unsigned int
    n_processes(const MPI_Comm communicator)
    {
      return dealii::Utilities::MPI::job_supports_mpi()
               ? dealii::Utilities::MPI::n_mpi_processes(communicator)
               : 1;
    }



    unsigned int
    this_process(const MPI_Comm communicator)
    {
      return dealii::Utilities::MPI::job_supports_mpi()
               ? dealii::Utilities::MPI::this_mpi_process(communicator)
               : 0;
    }



    double
    ordered_sum(const MPI_Comm communicator, const double value)
    {
      const unsigned int n = n_processes(communicator);
      if (n == 1)
        return value;
      std::vector<double> values(n);
      const int           ierr = MPI_Allgather(
        &value, 1, MPI_DOUBLE, values.data(), 1, MPI_DOUBLE, communicator);
      AssertThrowMPI(ierr);
      double result = 0.;
      for (const double v : values)
        result += v;
      return result;
    }



    void
    on_all_processes(const MPI_Comm               communicator,
                     const std::function<void()> &work)
    {
      const unsigned int n = n_processes(communicator);
      if (n == 1)
        {
          work();
          return;
        }

      std::exception_ptr error;
      std::string        text;
      try
        {
          work();
        }
      catch (const dealii::ExceptionBase &exception)
        {
          error = std::current_exception();
          std::ostringstream stream;
          exception.print_info(stream);
          text = stream.str();
        }
      catch (const std::exception &exception)
        {
          error = std::current_exception();
          text  = exception.what();
        }
      catch (...)
        {
          error = std::current_exception();
          text  = "unknown error";
        }

      const unsigned int first = dealii::Utilities::MPI::min(
        error == nullptr ? n : this_process(communicator), communicator);
      if (first == n)
        return;
#ifdef DEAL_II_WITH_MPI
      unsigned int size = static_cast<unsigned int>(text.size());
      MPI_Bcast(&size, 1, MPI_UNSIGNED, static_cast<int>(first), communicator);
      std::string first_text = text;
      first_text.resize(size);
      MPI_Bcast(&first_text[0],
                static_cast<int>(size),
                MPI_CHAR,
                static_cast<int>(first),
                communicator);
      if (error != nullptr)
        std::rethrow_exception(error);
      const std::size_t begin = first_text.find_first_not_of(" \n");
      const std::size_t end   = first_text.find_last_not_of(" \n");
      if (begin != std::string::npos)
        first_text = first_text.substr(begin, end - begin + 1);
      AssertThrow(false,
                  ExcUserInput("On process " + std::to_string(first) + ": " +
                               first_text));
#endif
    }
  } // namespace internal
} // namespace Tessella
