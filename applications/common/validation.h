// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_common_validation_h
#define tessella_applications_common_validation_h

#include <tessella/grid/agglomeration_handler.h>

#include <string>

#include "screen.h"

namespace Tessella
{
  namespace Application
  {
    /// Memory that a program needs for a system on polytopes.
    struct SystemMemory
    {
      /// Bytes of matrices and preconditioners for each entry of the matrix.
      double per_entry = 0.;
      /// Bytes of vectors for each unknown.
      double per_unknown = 0.;

      /// A Trilinos matrix with its graph, and an iterative solver.
      static SystemMemory
      trilinos();
      /// A block matrix, and an iterative solver with a factor of its diagonal.
      static SystemMemory
      block_matrix();
      /// @p n_vectors vectors.
      static SystemMemory
      vectors(const unsigned int n_vectors);
    };

    /// Numbers that the memory of a system depends on.
    struct SystemSize
    {
      double n_polytopes = 0.; ///< of all processes
      double n_unknowns  = 0.; ///< of all processes
      /// Entries of all processes of the matrix that couples all functions of a
      /// polytope and of its neighbours.
      double n_entries = 0.;
    };

    /// Size of a system whose unknowns are those of @p handler. Collective.
    template <int dim>
    SystemSize
    system_size(const AgglomerationHandler<dim> &handler);

    /// Prints a line about a system and keeps the largest estimate of memory:
    /// @p memory times the numbers of @p size, and what this process has at
    /// present, which includes the mesh. Collective.
    void
    validate_system(const unsigned int  level,
                    const unsigned int  degree,
                    const SystemSize   &size,
                    const SystemMemory &memory);

    /// Does nothing and returns false, except with --validate: then it calls
    /// validate_system() with the size of the system on @p handler and returns
    /// true, so that the program does not set up and solve the system.
    /// Collective.
    template <int dim>
    bool
    validated(const AgglomerationHandler<dim> &handler,
              const unsigned int               level,
              const unsigned int               degree,
              const SystemMemory              &memory)
    {
      if (run_mode().validate)
        validate_system(level, degree, system_size(handler), memory);
      return run_mode().validate;
    }

    /// Prints the result of --validate, with the largest of the estimates.
    /// Throws if the machine has less memory.
    void
    finish_validation(const std::string &parameter_file);
  } // namespace Application
} // namespace Tessella

#endif
