// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <tessella/base/error_message.h>
#include <tessella/base/exceptions.h>
#include <tessella/base/on_all_processes.h>

#include <exception>
#include <string>

#include "collective.h"

namespace Tessella
{
  void
  on_all_processes(const MPI_Comm               communicator,
                   const std::function<void()> &work)
  {
    const unsigned int n = internal::n_processes(communicator);
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
    catch (const std::exception &exception)
      {
        error = std::current_exception();
        text  = error_message(exception);
      }
    catch (...)
      {
        error = std::current_exception();
        text  = "unknown error";
      }

    const unsigned int first =
      dealii::Utilities::MPI::min(error == nullptr
                                    ? n
                                    : internal::this_process(communicator),
                                  communicator);
    if (first == n)
      return;
    const std::string first_text =
      dealii::Utilities::MPI::broadcast(communicator, text, first);
    if (error != nullptr)
      std::rethrow_exception(error);
    AssertThrow(false,
                ExcUserInput("On process " + std::to_string(first) + ": " +
                             first_text));
  }
} // namespace Tessella
