// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <tessella/base/error_message.h>
#include <tessella/base/run_main.h>

#include <chrono>
#include <exception>
#include <iostream>
#include <thread>

namespace Tessella
{
  using namespace dealii;

  namespace
  {
    void
    say(const std::string &name, const std::string &message)
    {
      std::cout.flush();
      std::cerr << name << ": " << message << std::endl;
    }
  } // namespace



  bool
  any_failed(const MPI_Comm     communicator,
             const std::string &name,
             const std::string &message)
  {
    const unsigned int rank  = Utilities::MPI::this_mpi_process(communicator);
    const unsigned int none  = Utilities::MPI::n_mpi_processes(communicator);
    const unsigned int own   = message.empty() ? none : rank;
    unsigned int       first = none;
    MPI_Request        request;
    MPI_Iallreduce(
      &own, &first, 1, MPI_UNSIGNED, MPI_MIN, communicator, &request);
    const auto start = std::chrono::steady_clock::now();
    for (int done = 0;;)
      {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done != 0)
          {
            if (first == rank)
              say(name, message);
            // mpirun may kill all other processes when the first one ends with
            // an error.
            MPI_Barrier(communicator);
            return first != none;
          }
        if (!message.empty() &&
            std::chrono::steady_clock::now() - start > std::chrono::seconds(20))
          {
            say(name, message);
            MPI_Abort(communicator, 1);
          }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
  }



  int
  run_main(int argc, char **argv, const std::function<void()> &work)
  {
    const std::string path = argc > 0 ? argv[0] : "program";
    const std::string name = path.substr(path.find_last_of('/') + 1);
    std::string       message;
    bool              failed = false, said = false;
    const auto        guard = [&](const std::function<void()> &function) {
      const std::string text = error_message_of(function);
      if (!text.empty())
        message = text;
    };

    guard([&]() {
      const Utilities::MPI::MPI_InitFinalize mpi(argc,
                                                 argv,
                                                 numbers::invalid_unsigned_int);
      // A duplicated communicator keeps the reduction in any_failed() apart
      // from messages that a failed program has left pending.
      MPI_Comm end;
      MPI_Comm_dup(MPI_COMM_WORLD, &end);
      // An exception must be caught within the life time of MPI_InitFinalize,
      // whose destructor would treat it as the failure of a single process.
      guard(work);
      failed = any_failed(end, name, message);
      said   = true;
      MPI_Comm_free(&end);
    });
    if (!said && !message.empty())
      say(name, message);
    return failed || !message.empty() ? 1 : 0;
  }
} // namespace Tessella
