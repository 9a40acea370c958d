// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "memory_check.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/base/mpi.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <sstream>

#include "program.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    namespace
    {
      constexpr double unknown = std::numeric_limits<double>::infinity();
      constexpr double GiB     = 1024. * 1024. * 1024.;

      // Returns the number after a name in a file with lines "name: number
      // unit".
      double
      entry(const std::string &file, const std::string &name)
      {
        std::ifstream in(file);
        for (std::string line; std::getline(in, line);)
          {
            std::istringstream words(line);
            std::string        word;
            double             value;
            if (words >> word >> value && word == name)
              return value;
          }
        return unknown;
      }

      // Returns the number at the beginning of a file; "max" is not a number.
      double
      number_in_file(const std::string &file)
      {
        std::ifstream in(file);
        double        value;
        return in >> value ? value : unknown;
      }

      // Number of bytes that a control group still allows. Cached files do not
      // count as used, because the system can drop them. A group that does not
      // exist or has no limit allows everything.
      double
      left_in_group(const std::string &folder,
                    const std::string &limit_file,
                    const std::string &usage_file,
                    const std::string &prefix)
      {
        const double limit = number_in_file(folder + "/" + limit_file),
                     usage = number_in_file(folder + "/" + usage_file);
        if (limit == unknown || usage == unknown)
          return unknown;
        double cached = 0.;
        for (const std::string list : {"inactive_file", "active_file"})
          {
            const double bytes = entry(folder + "/memory.stat", prefix + list);
            cached += bytes == unknown ? 0. : bytes;
          }
        return std::max(0., limit - std::max(0., usage - cached));
      }

      // Least number of bytes that the groups of this process, up to the root,
      // allow.
      double
      left_in_groups()
      {
        double        least = unknown;
        std::ifstream in("/proc/self/cgroup");
        for (std::string line; std::getline(in, line);)
          {
            // The line is "4:memory:/path" (version 1) or "0::/path" (version
            // 2).
            const auto first  = line.find(':'),
                       second = line.find(':', first + 1);
            if (first == std::string::npos || second == std::string::npos)
              continue;
            const std::string list = line.substr(first + 1, second - first - 1);
            std::string       path = line.substr(second + 1);
            const bool        old  = list == "memory";
            if (!old && !list.empty())
              continue;
            for (bool root = false; !root;)
              {
                root = path.empty() || path == "/";
                const std::string folder =
                  (old ? "/sys/fs/cgroup/memory" : "/sys/fs/cgroup") +
                  (root ? "" : path);
                least = std::min(least,
                                 old ? left_in_group(folder,
                                                     "memory.limit_in_bytes",
                                                     "memory.usage_in_bytes",
                                                     "total_")
                                     : left_in_group(folder,
                                                     "memory.max",
                                                     "memory.current",
                                                     ""));
                path.erase(std::min(path.size(), path.rfind('/')));
              }
          }
        return least;
      }

      struct Machine
      {
        double       bytes              = unknown;
        unsigned int n_processes        = 1; // on this machine
        unsigned int n_processes_in_all = 1;

        Machine()
        {
          const double free = entry("/proc/meminfo", "MemAvailable:"),
                       swap = entry("/proc/meminfo", "SwapFree:");
          if (free != unknown)
            bytes = 1024. * (free + (swap != unknown ? swap : 0.));
          bytes = std::min(bytes, left_in_groups());
          if (!Utilities::MPI::job_supports_mpi())
            return;
          n_processes_in_all = Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD);
          if (n_processes_in_all == 1)
            return;
          MPI_Comm machine;
          int      ierr = MPI_Comm_split_type(
            MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
          AssertThrowMPI(ierr);
          n_processes = Utilities::MPI::n_mpi_processes(machine);
          bytes       = Utilities::MPI::min(bytes, machine);
          ierr        = MPI_Comm_free(&machine);
          AssertThrowMPI(ierr);
        }
      };

      const Machine &
      machine()
      {
        static const Machine present;
        return present;
      }

      std::string
      count(const double n)
      {
        return n < 1e15 ? std::to_string(static_cast<std::uint64_t>(n))
                        : short_text(n);
      }
    } // namespace



    void
    check_memory(const int          dim,
                 const double       n_cells,
                 const bool         distributed,
                 const std::string &origin,
                 const std::string &remedy)
    {
      // Bytes per cell, about one sixth below the values measured for meshes of
      // 260,000 to 1,000,000 cells. For the cheaper of simplices and hypercubes
      // these are 298 and 505 (2-D and 3-D) for the triangulation, and 858 and
      // 1,260 with the flat view of one polytope.
      const double triangulation = dim == 2 ? 250. : 420.,
                   flat_view     = dim == 2 ? 450. : 630.;
      const Machine &here        = machine();
      const double   n_own       = n_cells / here.n_processes_in_all,
                   n_per_process = distributed ? n_own : n_cells;
      const double bytes =
        here.n_processes * (n_per_process * triangulation + n_own * flat_view);
      const std::string mesh =
        "The mesh would have " + count(n_cells) + " cells (" + origin + ")";
      AssertThrow(bytes <= here.bytes,
                  ExcMessage(mesh + ", which take at least " +
                             short_text(bytes / GiB) + " GiB of memory" +
                             (here.n_processes > 1
                                ? " on the " +
                                    std::to_string(here.n_processes) +
                                    " processes of a machine"
                                : "") +
                             ", but " + short_text(here.bytes / GiB) +
                             " GiB are available: " + remedy + "."));
      // A cell owns at least 1.5 edges in 2-D, half of three, and at least two
      // faces in 3-D, half of four.
      AssertThrow(1.5 * n_per_process < std::numeric_limits<int>::max(),
                  ExcMessage(mesh +
                             ", more than deal.II can number on one process: " +
                             remedy + "."));
    }



    std::pair<double, unsigned int>
    memory_of_machine()
    {
      return {machine().bytes, machine().n_processes};
    }
  } // namespace Application
} // namespace Tessella
