// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/parallel.h>

#include <tessella/lac/block_sparsity.h>

#include <algorithm>
#include <numeric>

namespace Tessella
{
  namespace
  {
    // Calls add(column) for the blocks of row @p k in ascending order.
    // @p columns is memory that is reused for all rows.
    template <int dim, typename Function>
    void
    for_columns(const PolytopicMesh<dim>  &mesh,
                const unsigned int         k,
                std::vector<unsigned int> &columns,
                const Function            &add)
    {
      const auto for_neighbors = [&](const auto &function) {
        for (unsigned int e = mesh.polytope_interface_offset[k];
             e < mesh.polytope_interface_offset[k + 1];
             ++e)
          if (const unsigned int neighbor =
                mesh.neighbor(mesh.polytope_interface[e]);
              neighbor != invalid_index)
            function(neighbor);
      };
      // With ghosts, which have the largest indices, the neighbours are not
      // sorted by index.
      if (mesh.n_owned_polytopes() < mesh.n_polytopes())
        {
          columns.assign(1, k);
          for_neighbors(
            [&](const unsigned int neighbor) { columns.push_back(neighbor); });
          std::sort(columns.begin(), columns.end());
          columns.erase(std::unique(columns.begin(), columns.end()),
                        columns.end());
          for (const unsigned int column : columns)
            add(column);
          return;
        }
      // The neighbours are sorted and may occur several times (an ordinary and
      // a periodic interface); the polytope itself is merged in.
      bool         self = false;
      unsigned int last = invalid_index;
      const auto   next = [&](const unsigned int column) {
        if (column != last)
          add(column);
        last = column;
      };
      for_neighbors([&](const unsigned int neighbor) {
        if (!self && neighbor >= k)
          {
            next(k);
            self = true;
          }
        next(neighbor);
      });
      if (!self)
        next(k);
    }
  } // namespace



  template <int dim>
  BlockSparsity
  BlockSparsity::from_mesh(const PolytopicMesh<dim> &mesh,
                           const PolytopicDoFs      &dofs)
  {
    const unsigned int n = mesh.n_owned_polytopes();
    BlockSparsity      sparsity;
    sparsity.block_offset.resize(n + 1);
    sparsity.value_offset.resize(n + 1);
    sparsity.row_width.resize(n);
    const auto n_dofs = [&dofs](const unsigned int k) {
      return static_cast<unsigned int>(dofs.dof_offset[k + 1] -
                                       dofs.dof_offset[k]);
    };
    const auto for_rows = [n](const auto &function) {
      dealii::parallel::apply_to_subranges(
        0u,
        n,
        [&](const unsigned int begin, const unsigned int end) {
          std::vector<unsigned int> columns;
          for (unsigned int k = begin; k < end; ++k)
            function(k, columns);
        },
        256);
    };

    // Count blocks and values per row, form the offsets, then list the blocks.
    for_rows([&](const unsigned int k, std::vector<unsigned int> &columns) {
      unsigned int width = 0, n_blocks = 0;
      for_columns(mesh, k, columns, [&](const unsigned int column) {
        width += n_dofs(column);
        ++n_blocks;
      });
      sparsity.block_offset[k + 1] = n_blocks;
      sparsity.row_width[k]        = width;
      sparsity.value_offset[k + 1] =
        static_cast<std::uint64_t>(width) * n_dofs(k);
    });
    std::partial_sum(sparsity.block_offset.begin(),
                     sparsity.block_offset.end(),
                     sparsity.block_offset.begin());
    std::partial_sum(sparsity.value_offset.begin(),
                     sparsity.value_offset.end(),
                     sparsity.value_offset.begin());
    sparsity.block_column.resize(sparsity.block_offset[n]);
    sparsity.column_offset.resize(sparsity.block_offset[n]);
    for_rows([&](const unsigned int k, std::vector<unsigned int> &columns) {
      unsigned int  width = 0;
      std::uint64_t b     = sparsity.block_offset[k];
      for_columns(mesh, k, columns, [&](const unsigned int column) {
        sparsity.block_column[b]  = column;
        sparsity.column_offset[b] = width;
        width += n_dofs(column);
        ++b;
      });
    });
    return sparsity;
  }



  std::uint64_t
  BlockSparsity::find_block(const unsigned int row,
                            const unsigned int column) const
  {
    const auto begin = block_column.begin() + block_offset[row],
               end   = block_column.begin() + block_offset[row + 1],
               found = std::lower_bound(begin, end, column);
    return found == end || *found != column ? no_block
                                            : found - block_column.begin();
  }



  std::size_t
  BlockSparsity::memory_consumption() const
  {
    return 8 * (block_offset.capacity() + value_offset.capacity()) +
           4 * (block_column.capacity() + column_offset.capacity() +
                row_width.capacity());
  }



  template BlockSparsity
  BlockSparsity::from_mesh(const PolytopicMesh<2> &, const PolytopicDoFs &);
  template BlockSparsity
  BlockSparsity::from_mesh(const PolytopicMesh<3> &, const PolytopicDoFs &);
  template BlockSparsity
  BlockSparsity::from_mesh(const PolytopicMesh<4> &, const PolytopicDoFs &);
} // namespace Tessella
