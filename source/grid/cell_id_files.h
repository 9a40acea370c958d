// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_grid_cell_id_files_h
#define tessella_source_grid_cell_id_files_h

#include <string>
#include <vector>

namespace Tessella
{
  namespace internal
  {
    /// All integers of a text file; see Agglomeration::from_file(). Throws if
    /// an entry is not an integer, and names the entry.
    std::vector<unsigned int>
    read_id_file(const std::string &file_name);

    /// Values, in file order, of a cell-data field for the cells of dimension
    /// @p dim of a mesh file; see Agglomeration::from_cell_data().
    std::vector<unsigned int>
    read_cell_data_file(const std::string &file_name,
                        const std::string &field,
                        const unsigned int dim);
  } // namespace internal
} // namespace Tessella

#endif
