// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_cuda_checks_h
#define tessella_tests_cuda_checks_h

#include <tessella/device/cuda_device.h>

#include <iostream>
#include <string>

#include "../messages.h"
#include "../tests.h"

// Checks for programs that print only failures.

inline unsigned int n_checks = 0, n_failures = 0;

inline void
verify(const std::string &name, const bool good, const std::string &text = "")
{
  ++n_checks;
  if (good)
    return;
  ++n_failures;
  std::cout << name << ": FAILED " << text << std::endl;
}

/// Whether a case can run on this machine: "unavailable" needs one without a
/// CUDA device, all other cases one with a device. Writes the reason if not.
inline bool
can_run(const std::string &name)
{
  const bool available = Tessella::cuda_is_available();
  if (available != (name == "unavailable"))
    return true;
  std::cout << (available ? "There is a CUDA device."
                          : "There is no CUDA device.")
            << std::endl;
  return false;
}

/// Writes the numbers of checks and failures; result of main().
inline int
finish(const std::string &name)
{
  std::cout << name << ": " << n_checks << " checks, " << n_failures
            << " failures" << std::endl;
  return n_failures == 0 && n_checks > 0 ? 0 : 1;
}

/// Exception of a case that cannot run on this machine.
struct CannotRun
{
  std::string reason;
};

/// Runs the case that the first argument names; result of main(). The case
/// @p anywhere does not need a device.
template <typename Run>
int
run_case(int argc, char **argv, const Run &run, const char *anywhere = nullptr)
{
  dealii::Utilities::MPI::MPI_InitFinalize mpi(argc, argv, n_threads());
  const std::string                        name = argc > 1 ? argv[1] : "";
  if ((anywhere == nullptr || name != anywhere) && !can_run(name))
    return 77;
  try
    {
      run(name);
    }
  catch (const CannotRun &skipped)
    {
      std::cout << skipped.reason << std::endl;
      return 77;
    }
  return finish(name);
}

#endif
