// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "sweep_plan.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/base/mpi.h>

#include <algorithm>
#include <string>
#include <utility>

#include "transpose_plan.h"

namespace Tessella
{
  namespace internal
  {
    using namespace dealii;

    void
    SweepPlan::reinit(const BlockMatrixBase           &matrix,
                      const std::vector<unsigned int> &step,
                      const unsigned int               n_steps,
                      const bool                       transpose)
    {
      const BlockSparsity             &sparsity = matrix.block_sparsity();
      const auto                      &offset   = matrix.dof_offset();
      const unsigned int               n        = sparsity.row_width.size();
      const std::vector<std::uint64_t> order    = matrix.partition() == nullptr
                                                    ? std::vector<std::uint64_t>()
                                                    : ordered_blocks(matrix);
      step_offset.assign(n_steps + 1, 0);
      for (unsigned int k = 0; k < n; ++k)
        ++step_offset[step[k] + 1];
      for (unsigned int s = 0; s < n_steps; ++s)
        step_offset[s + 1] += step_offset[s];
      std::vector<unsigned int> next(step_offset.begin(),
                                     step_offset.end() - 1);
      row_index.resize(n);
      for (unsigned int k = 0; k < n; ++k)
        row_index[next[step[k]]++] = k;
      std::vector<std::uint64_t> square(n + 1, 0);
      for (unsigned int k = 0; k < n; ++k)
        {
          const std::uint64_t size = offset[k + 1] - offset[k];
          max_size                 = std::max<unsigned int>(max_size, size);
          square[k + 1]            = square[k] + size * size;
          while (size % divisor != 0)
            divisor /= 2;
        }
      rows.clear();
      rows.reserve(n);
      blocks.clear();
      block_index.clear();
      for (const unsigned int k : row_index)
        {
          SweepRow row;
          row.first  = offset[k];
          row.square = square[k];
          row.size   = offset[k + 1] - offset[k];
          row.begin = row.middle = blocks.size();
          for (const bool lower : {true, false})
            {
              for (std::uint64_t m = sparsity.block_offset[k];
                   m < sparsity.block_offset[k + 1];
                   ++m)
                {
                  const std::uint64_t b = order.empty() ? m : order[m];
                  const unsigned int  l = sparsity.block_column[b];
                  if (l == k || step[l] == invalid_index)
                    continue;
                  const std::uint64_t stored = !transpose ? b
                                               : l < n
                                                 ? sparsity.find_block(l, k)
                                                 : b;
                  AssertThrow(
                    step[l] != step[k] && stored != BlockSparsity::no_block,
                    ExcMessage("The matrix couples polytope " +
                               std::to_string(k) + " to polytope " +
                               std::to_string(l) +
                               " but not the other way round: LUSGS and "
                               "BlockILU0 need a symmetric structure; use "
                               "BlockJacobi."));
                  if ((step[l] < step[k]) != lower)
                    continue;
                  const unsigned int i = transpose && l < n ? l : k;
                  blocks.push_back(
                    {sparsity.value_offset[i] + sparsity.column_offset[stored],
                     offset[l],
                     static_cast<unsigned int>(offset[l + 1] - offset[l]),
                     sparsity.row_width[i]});
                  block_index.push_back(stored);
                }
              (lower ? row.middle : row.end) = blocks.size();
            }
          rows.push_back(row);
        }
    }



    std::vector<std::uint64_t>
    SweepPlan::pack(std::vector<BlockCopy> &copies) const
    {
      std::vector<std::uint64_t> place(
        block_index.empty()
          ? 0
          : *std::max_element(block_index.begin(), block_index.end()) + 1,
        0);
      std::uint64_t to = 0;
      for (const SweepRow &row : rows)
        for (std::uint64_t b = row.begin; b < row.end; ++b)
          {
            place[block_index[b]] = to;
            copies.push_back({blocks[b].place,
                              to,
                              row.size,
                              blocks[b].size,
                              blocks[b].stride});
            to += std::uint64_t(row.size) * blocks[b].size;
          }
      return place;
    }



    std::uint64_t
    SweepPlan::pack_transposed(const BlockMatrixBase  &matrix,
                               const TransposePlan    &exchange,
                               std::vector<BlockCopy> &copies)
    {
      const BlockSparsity &sparsity = matrix.block_sparsity();
      const unsigned int   n        = sparsity.row_width.size();
      std::uint64_t        to       = exchange.n_received;
      for (std::size_t p = 0; p < rows.size(); ++p)
        for (std::uint64_t b = rows[p].begin; b < rows[p].end; ++b)
          {
            SweepBlock        &block = blocks[b];
            const unsigned int l     = sparsity.block_column[block_index[b]];
            if (l >= n)
              {
                const std::uint64_t begin = exchange.offset[row_index[p]],
                                    end   = exchange.offset[row_index[p] + 1];
                const auto found = std::find(exchange.row.begin() + begin,
                                             exchange.row.begin() + end,
                                             l);
                // Blocks without values are not exchanged.
                block.place = found == exchange.row.begin() + end
                                ? 0
                                : exchange.place[found - exchange.row.begin()];
              }
            else
              {
                copies.push_back(
                  {block.place, to, block.size, rows[p].size, block.stride});
                block.place = to;
                to += std::uint64_t(block.size) * rows[p].size;
              }
            block.stride = rows[p].size;
          }
      return to;
    }



    void
    SweepPlan::read_packed(const std::vector<std::uint64_t> &place,
                           const bool                        transpose)
    {
      for (const SweepRow &row : rows)
        for (std::uint64_t b = row.begin; b < row.end; ++b)
          {
            blocks[b].place  = place[block_index[b]];
            blocks[b].stride = transpose ? row.size : blocks[b].size;
          }
    }



    void
    SweepPlan::reduce_sizes(const MPI_Comm communicator)
    {
      const unsigned int global[2] = {
        Utilities::MPI::max(max_size, communicator),
        Utilities::MPI::min(divisor, communicator)};
      max_size = global[0];
      divisor  = global[1];
    }



    std::uint64_t
    SweepPlan::n_values() const
    {
      std::uint64_t result = 0;
      for (const SweepRow &row : rows)
        for (std::uint64_t b = row.begin; b < row.end; ++b)
          result += std::uint64_t(row.size) * blocks[b].size;
      return result;
    }



    void
    FactorPlan::reinit(const BlockMatrixBase            &matrix,
                       const std::vector<unsigned int>  &step,
                       const SweepPlan                  &plan,
                       const std::vector<std::uint64_t> &place)
    {
      const BlockSparsity      &sparsity = matrix.block_sparsity();
      const unsigned int        n        = plan.rows.size();
      const std::uint64_t       diagonal = plan.n_values();
      std::vector<unsigned int> position(n);
      square.assign(1, 0);
      pivot_offset.assign(1, 0);
      for (unsigned int p = 0; p < n; ++p)
        {
          position[plan.row_index[p]] = p;
          size.push_back(plan.rows[p].size);
          square.push_back(square.back() + std::uint64_t(size[p]) * size[p]);
        }
      for (unsigned int p = 0; p < n; ++p)
        {
          const unsigned int         k   = plan.row_index[p];
          const SweepRow            &row = plan.rows[p];
          std::vector<std::uint64_t> lower;
          for (std::uint64_t b = row.begin; b < row.middle; ++b)
            lower.push_back(b);
          const auto column = [&](const std::uint64_t b) {
            return sparsity.block_column[plan.block_index[b]];
          };
          std::stable_sort(lower.begin(),
                           lower.end(),
                           [&](const std::uint64_t a, const std::uint64_t b) {
                             return step[column(a)] < step[column(b)];
                           });
          for (const std::uint64_t b : lower)
            {
              const unsigned int m     = column(b);
              const SweepRow    &other = plan.rows[position[m]];
              FactorPivot        pivot{plan.blocks[b].place,
                                square[position[m]],
                                updates.size(),
                                0,
                                other.size};
              for (std::uint64_t u = other.middle; u < other.end; ++u)
                {
                  const unsigned int  j = column(u);
                  const std::uint64_t target =
                    j == k ? 0 : sparsity.find_block(k, j);
                  if (target == BlockSparsity::no_block)
                    continue;
                  updates.push_back(
                    {j == k ? diagonal + square[p] : place[target],
                     plan.blocks[u].place,
                     plan.blocks[u].size});
                }
              pivot.end = updates.size();
              pivots.push_back(pivot);
            }
          pivot_offset.push_back(pivots.size());
        }
    }
  } // namespace internal
} // namespace Tessella
