// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_common_memory_check_h
#define tessella_applications_common_memory_check_h

#include <string>

namespace Tessella
{
  namespace Application
  {
    /**
     * Throws if a mesh of @p n_cells cells certainly does not fit into the
     * memory of a machine, or has more edges than deal.II can number on one
     * process. The estimate is a lower bound: what the triangulation and the
     * flat view take for polytopes of many cells. What there is, is measured by
     * all processes in the first call, which is collective, before any of them
     * takes more: memory and swap that are free, within the limits of control
     * groups. Nothing is refused where the system does not say.
     *
     * @param distributed Each process keeps its part of the cells; else all
     * make the whole mesh.
     * @param origin The parameters that ask for so many cells, with values.
     * @param remedy What to change.
     */
    void
    check_memory(const int          dim,
                 const double       n_cells,
                 const bool         distributed,
                 const std::string &origin,
                 const std::string &remedy);
  } // namespace Application
} // namespace Tessella

#endif
