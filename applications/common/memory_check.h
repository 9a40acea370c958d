// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_common_memory_check_h
#define tessella_applications_common_memory_check_h

#include <string>
#include <utility>

namespace Tessella
{
  namespace Application
  {
    /**
     * Throws if a mesh of @p n_cells cells certainly does not fit into the
     * memory of a machine, or if one process would have more edges or faces
     * than deal.II can number. The estimate is a lower bound: the memory that
     * the triangulation and the flat view need for polytopes of many cells. The
     * first call measures the available memory before any process allocates
     * more; it is collective. Available memory is free memory and free swap
     * within the limits of control groups. If the system does not report it, no
     * mesh is refused.
     *
     * @param distributed Each process keeps its part of the cells; otherwise
     * every process creates the whole mesh.
     * @param origin The parameters that ask for so many cells, with their
     * values.
     * @param remedy The change of parameters that the message proposes.
     */
    void
    check_memory(const int          dim,
                 const double       n_cells,
                 const bool         distributed,
                 const std::string &origin,
                 const std::string &remedy);

    /// Bytes that this machine had for all processes on it before any of them
    /// allocated meshes, or infinity if the system does not report them, and
    /// the number of these processes. The first call is collective.
    std::pair<double, unsigned int>
    memory_of_machine();
  } // namespace Application
} // namespace Tessella

#endif
