// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "validation.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/base/mpi.h>
#include <deal.II/base/utilities.h>

#include <cstdint>
#include <iomanip>
#include <iostream>
#include <limits>
#include <sstream>

#include "memory_check.h"
#include "program.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    namespace
    {
      constexpr double GiB = 1024. * 1024. * 1024.;

      /// The largest of the estimates, of all processes of a machine together.
      struct Largest
      {
        double       bytes     = 0.;
        unsigned int n_systems = 0;
        std::string  system;
      };

      Largest &
      largest()
      {
        static Largest present;
        return present;
      }

      double
      resident_bytes()
      {
        Utilities::System::MemoryStats memory;
        Utilities::System::get_memory_stats(memory);
        return 1024. * static_cast<double>(memory.VmRSS);
      }

      /// Number of entries of the block rows of this process.
      template <int dim>
      double
      n_entries(const AgglomerationHandler<dim> &handler)
      {
        const PolytopicMesh<dim> &mesh    = handler.polytopic_mesh();
        const auto               &offset  = handler.polytopic_dofs().dof_offset;
        const unsigned int        n_owned = mesh.n_owned_polytopes();
        const auto                n_dofs  = [&](const unsigned int k) {
          return static_cast<double>(offset[k + 1] - offset[k]);
        };
        double n = 0.;
        for (unsigned int k = 0; k < n_owned; ++k)
          n += n_dofs(k) * n_dofs(k);
        for (unsigned int i = 0; i < mesh.n_interfaces(); ++i)
          {
            const unsigned int k[2] = {mesh.interface_polytope[2 * i],
                                       mesh.interface_polytope[2 * i + 1]};
            if (k[1] == invalid_index || k[0] == k[1])
              continue;
            for (const unsigned int row : k)
              if (row < n_owned)
                n += n_dofs(k[0]) * n_dofs(k[1]);
          }
        return n;
      }

      std::string
      in_GiB(const double bytes)
      {
        std::ostringstream text;
        text << std::setprecision(3) << bytes / GiB;
        return text.str();
      }

      void
      print(const std::string &line)
      {
        if (is_first_process() && !run_mode().quiet)
          std::cout << line << std::endl;
      }
    } // namespace



    SystemMemory
    SystemMemory::trilinos()
    {
      return {14., 100.};
    }



    SystemMemory
    SystemMemory::block_matrix()
    {
      return {10., 400.};
    }



    SystemMemory
    SystemMemory::vectors(const unsigned int n_vectors)
    {
      return {0., 8. * n_vectors};
    }



    template <int dim>
    SystemSize
    system_size(const AgglomerationHandler<dim> &handler)
    {
      return {static_cast<double>(handler.n_global_polytopes()),
              static_cast<double>(handler.n_dofs()),
              Utilities::MPI::sum(n_entries(handler), MPI_COMM_WORLD)};
    }



    void
    validate_system(const unsigned int  level,
                    const unsigned int  degree,
                    const SystemSize   &size,
                    const SystemMemory &memory)
    {
      // The rows are distributed evenly over the processes.
      const double system_bytes =
        (memory.per_entry * size.n_entries +
         memory.per_unknown * size.n_unknowns) /
        Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD);
      const double bytes =
        memory_of_machine().second *
        (Utilities::MPI::max(resident_bytes(), MPI_COMM_WORLD) + system_bytes);
      const std::string system =
        "level " + std::to_string(level) + ", degree " + std::to_string(degree);
      print("  " + system + ": " +
            std::to_string(std::uint64_t(size.n_polytopes)) + " polytopes, " +
            std::to_string(std::uint64_t(size.n_unknowns)) + " unknowns, " +
            (memory.per_entry > 0.
               ? std::to_string(std::uint64_t(size.n_entries)) + " entries, "
               : "") +
            "about " + in_GiB(bytes) + " GiB");
      ++largest().n_systems;
      if (bytes > largest().bytes)
        {
          largest().bytes  = bytes;
          largest().system = system;
        }
    }



    void
    finish_validation(const std::string &parameter_file)
    {
      const auto        machine = memory_of_machine();
      const std::string processes =
        machine.second > 1 ? " on the " + std::to_string(machine.second) +
                               " processes of a machine"
                           : "";
      const std::string available =
        machine.first < std::numeric_limits<double>::infinity()
          ? in_GiB(machine.first) + " GiB are available"
          : "the system does not say how much is available";
      AssertThrow(largest().bytes <= machine.first,
                  ExcMessage("The parameters are valid, but the system of " +
                             largest().system + " needs about " +
                             in_GiB(largest().bytes) + " GiB of memory" +
                             processes + ", and " + available +
                             ": take fewer cells or a lower degree."));
      print(parameter_file + " is valid." +
            (largest().n_systems == 0
               ? ""
               : " The system of " + largest().system + " needs about " +
                   in_GiB(largest().bytes) + " GiB" + processes + "; " +
                   available + "."));
    }



    template SystemSize
    system_size(const AgglomerationHandler<2> &);
    template SystemSize
    system_size(const AgglomerationHandler<3> &);
  } // namespace Application
} // namespace Tessella
