// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>

#include <tessella/lac/component_rows.h>

namespace Tessella
{
  ComponentRows::ComponentRows(const BlockSparsity              &one,
                               const std::vector<std::uint64_t> &offset,
                               const unsigned int                n_components,
                               const bool                        share_values)
    : ComponentRows(one,
                    offset,
                    n_components,
                    std::vector<bool>(one.row_width.size(), share_values))
  {}



  ComponentRows::ComponentRows(const BlockSparsity              &one,
                               const std::vector<std::uint64_t> &offset,
                               const unsigned int                n_components,
                               const std::vector<bool>          &share_values)
  {
    const unsigned int n = one.row_width.size();
    AssertThrow(n_components > 0 && share_values.size() == n,
                dealii::ExcMessage(
                  "There must be a component, and one entry of share_values "
                  "for each block row."));
    sparsity.block_offset.assign(1, 0);
    dof_offset.assign(1, 0);
    for (unsigned int k = 0; k + 1 < offset.size(); ++k)
      for (unsigned int c = 0; c < n_components; ++c)
        dof_offset.push_back(dof_offset.back() + offset[k + 1] - offset[k]);
    std::uint64_t n_values = 0;
    for (unsigned int k = 0; k < n; ++k)
      for (unsigned int c = 0; c < n_components; ++c)
        {
          for (std::uint64_t m = one.block_offset[k];
               m < one.block_offset[k + 1];
               ++m)
            {
              sparsity.block_column.push_back(
                one.block_column[m] * n_components + c);
              sparsity.column_offset.push_back(one.column_offset[m]);
            }
          sparsity.block_offset.push_back(sparsity.block_column.size());
          sparsity.row_width.push_back(one.row_width[k]);
          sparsity.value_offset.push_back(n_values);
          if (!share_values[k] || c + 1 == n_components)
            n_values += one.value_offset[k + 1] - one.value_offset[k];
        }
    sparsity.value_offset.push_back(n_values);
  }
} // namespace Tessella
