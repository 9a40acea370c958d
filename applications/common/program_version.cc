// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/config.h>

#include "program_version.h"

#include <tessella/base/config.h>

#include <mpi.h>

// Written by cmake/tessella_build_information.cmake.
#include <tessella_build_information.h>

namespace Tessella
{
  namespace Application
  {
    std::string
    version_text(const std::string &name)
    {
      std::string text = name + " (Tessella) " TESSELLA_VERSION
                                "\n"
                                "commit     " TESSELLA_COMMIT
                                "\n"
                                "deal.II    " DEAL_II_PACKAGE_VERSION
                                "\n"
                                "Trilinos   ";
#ifdef DEAL_II_TRILINOS_VERSION_MAJOR
      text += std::to_string(DEAL_II_TRILINOS_VERSION_MAJOR) + "." +
              std::to_string(DEAL_II_TRILINOS_VERSION_MINOR) + "." +
              std::to_string(DEAL_II_TRILINOS_VERSION_SUBMINOR);
#else
      text += "none";
#endif
      // The text of MPI may go on with names, dates and further lines.
      char mpi[MPI_MAX_LIBRARY_VERSION_STRING] = {};
      int  length                              = 0;
      MPI_Get_library_version(mpi, &length);
      const std::string mpi_text(mpi, length);
      text +=
        "\nMPI        " + mpi_text.substr(0, mpi_text.find_first_of(",\n"));
      text += "\nCUDA       " TESSELLA_CUDA_TOOLKIT
              "\n"
              "compiler   " TESSELLA_COMPILER "\n";
      return text;
    }
  } // namespace Application
} // namespace Tessella
