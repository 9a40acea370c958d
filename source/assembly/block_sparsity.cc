// SPDX-License-Identifier: LGPL-2.1-or-later

#include <tessella/assembly/block_sparsity.h>

#include <algorithm>

namespace Tessella
{
  template <int dim>
  BlockSparsity
  BlockSparsity::from_mesh(const PolytopicMesh<dim> &mesh)
  {
    const unsigned int n = mesh.n_polytopes();
    BlockSparsity      sparsity;
    sparsity.block_offset.reserve(n + 1);
    sparsity.block_column.reserve(n + mesh.polytope_interface.size());
    sparsity.row_width.reserve(n);
    sparsity.value_offset.reserve(n + 1);
    sparsity.block_offset.push_back(0);
    sparsity.value_offset.push_back(0);

    for (unsigned int k = 0; k < n; ++k)
      {
        // Neighbours come sorted, possibly several times (an ordinary and a
        // periodic interface); the polytope itself is merged in.
        bool         self = false;
        unsigned int last = invalid_index;
        const auto   add  = [&](const unsigned int column) {
          if (column != last)
            sparsity.block_column.push_back(column);
          last = column;
        };
        for (unsigned int e = mesh.polytope_interface_offset[k];
             e < mesh.polytope_interface_offset[k + 1];
             ++e)
          {
            const unsigned int neighbor =
              mesh.neighbor(mesh.polytope_interface[e]);
            if (neighbor == invalid_index)
              continue;
            if (!self && neighbor >= k)
              {
                add(k);
                self = true;
              }
            add(neighbor);
          }
        if (!self)
          add(k);

        unsigned int width = 0;
        for (std::uint64_t b = sparsity.block_offset.back();
             b < sparsity.block_column.size();
             ++b)
          {
            sparsity.column_offset.push_back(width);
            const unsigned int column = sparsity.block_column[b];
            width += mesh.dof_offset[column + 1] - mesh.dof_offset[column];
          }
        sparsity.block_offset.push_back(sparsity.block_column.size());
        sparsity.row_width.push_back(width);
        sparsity.value_offset.push_back(
          sparsity.value_offset.back() +
          width * (mesh.dof_offset[k + 1] - mesh.dof_offset[k]));
      }
    return sparsity;
  }



  std::size_t
  BlockSparsity::memory_consumption() const
  {
    return 8 * (block_offset.capacity() + value_offset.capacity()) +
           4 * (block_column.capacity() + column_offset.capacity() +
                row_width.capacity());
  }



  template BlockSparsity
  BlockSparsity::from_mesh(const PolytopicMesh<2> &);
  template BlockSparsity
  BlockSparsity::from_mesh(const PolytopicMesh<3> &);
} // namespace Tessella
