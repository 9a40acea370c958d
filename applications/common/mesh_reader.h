// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_common_mesh_reader_h
#define tessella_applications_common_mesh_reader_h

#include <deal.II/grid/tria.h>

#include <string>
#include <vector>

namespace Tessella
{
  namespace Application
  {
    /// Reads a mesh file in one of the formats of deal.II, by the suffix of its
    /// name. Every failure is reported in one sentence that names the file.
    template <int dim>
    void
    read_mesh_file(const std::string          &file_name,
                   dealii::Triangulation<dim> &triangulation);

    /**
     * Reads one integer per cell of dimension @p dim from the cell data @p
     * field of a legacy ASCII .vtk file, in the order of the cells in the file,
     * which is the order in which deal.II numbers them.
     */
    std::vector<unsigned int>
    read_vtk_cell_data(const int          dim,
                       const std::string &file_name,
                       const std::string &field);
  } // namespace Application
} // namespace Tessella

#endif
