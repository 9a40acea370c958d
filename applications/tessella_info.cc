// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Versions, backends and devices of this installation.

#include <deal.II/base/multithread_info.h>

#include <tessella/base/backend.h>
#include <tessella/base/config.h>
#include <tessella/base/information.h>
#include <tessella/device/cuda_device.h>
#include <tessella/device/cuda_devices.h>

#include <cstdint>
#include <iostream>
#include <string>

#include "common/command_line.h"
#include "common/memory_check.h"
#include "common/program.h"
#include "common/program_version.h"
#include "common/text_table.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    const ProgramInfo info = {
      "tessella_info",
      "versions, backends and devices of this installation",
      "Prints the versions of Tessella and of what it uses, the instruction sets\n"
      "and threads of the host, the CUDA devices and whether they can be used, and\n"
      "which methods run where. The exit status is 0 without a device, too.\n",
      false,
      false};

    namespace
    {
      void
      print_host()
      {
        const double bytes = memory_of_machine().first;
        std::cout << "\nHost: " << MultithreadInfo::n_cores() << " cores, "
                  << MultithreadInfo::n_threads()
                  << " threads, instruction set "
                  << name(best_instruction_set()) << ", "
                  << short_text(bytes / (1024. * 1024. * 1024.))
                  << " GiB of memory available\n"
                  << library_information() << ".\n";
      }



      void
      print_devices()
      {
        const std::string driver = cuda_driver_version();
        std::cout << "\nCUDA: ";
        if (cuda_is_available())
          std::cout << "built with " << cuda_runtime_version()
                    << ", the driver serves " << driver << "\n";
        else
          std::cout << "none. " << why_cuda_is_unavailable() << "\n";
        TextTable table;
        for (const CUDADevice &device : cuda_devices())
          {
            table.start_row();
            table.add("device", device.name);
            table.add("compute capability",
                      std::to_string(device.capability_major) + "." +
                        std::to_string(device.capability_minor));
            table.add("GiB", device.memory / (1024. * 1024. * 1024.));
            table.add("multiprocessors",
                      std::uint64_t(device.n_multiprocessors));
            table.add("usable",
                      std::string(device.is_supported ? "yes" : "no"));
          }
        if (!table.empty())
          table.print(std::cout);
      }



      /// Prints which methods run on the host and on the devices of this
      /// machine.
      void
      print_methods()
      {
        const bool cuda = cuda_is_available();
#ifdef TESSELLA_HAVE_EPETRA
        const std::string trilinos = "yes";
#else
        const std::string trilinos = "no, without Epetra";
#endif
        TextTable  table;
        const auto add = [&](const std::string &method,
                             const std::string &host,
                             const bool         on_device) {
          table.start_row();
          table.add("method", method);
          table.add("host", host);
          table.add("CUDA",
                    std::string(!on_device ? "-"
                                : cuda     ? "yes"
                                           : "no device"));
        };
        add("assembly, residuals, coefficients", "yes", true);
        add("products with and without a matrix", "yes", true);
        add("multigrid, block Jacobi, LU-SGS, ILU(0)", "yes", true);
        add("hybridizable dG", trilinos, true);
        add("space-time dG", trilinos, true);
        add("TrilinosWrappers matrices and direct solvers", trilinos, false);
        add("agglomeration, refinement, errors, output", "yes", false);
        std::cout << "\n";
        table.print(std::cout);
      }



      int
      print_information(int argc, char **argv, const ProgramInfo &info)
      {
        return run_program(
          argc,
          argv,
          info,
          [](ParameterHandler &) {},
          [&](auto &, auto &) {
            std::cout << version_text(info.name);
            print_host();
            print_devices();
            print_methods();
          });
      }
    } // namespace

    MainFunction *const main_function = print_information;
  } // namespace Application
} // namespace Tessella
