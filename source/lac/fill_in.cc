// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "fill_in.h"

#include <deal.II/base/exceptions.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>

#include "../base/parallel_for.h"
#include "block_ordering.h"

namespace Tessella
{
  namespace internal
  {
    using namespace dealii;

    namespace
    {
      /// Replaces B, which has n rows of the given length, by A^{-1} B, by
      /// Gaussian elimination with row pivoting; A is destroyed. Returns
      /// whether A is regular.
      bool
      solve_in_place(const unsigned int   n,
                     const unsigned int   length,
                     std::vector<double> &A,
                     std::vector<double> &B)
      {
        for (unsigned int p = 0; p < n; ++p)
          {
            unsigned int pivot = p;
            for (unsigned int i = p + 1; i < n; ++i)
              if (std::abs(A[i * n + p]) > std::abs(A[pivot * n + p]))
                pivot = i;
            if (!(std::abs(A[pivot * n + p]) > 0.))
              return false;
            if (pivot != p)
              {
                std::swap_ranges(A.begin() + p * n,
                                 A.begin() + (p + 1) * n,
                                 A.begin() + pivot * n);
                std::swap_ranges(B.begin() + std::size_t(p) * length,
                                 B.begin() + std::size_t(p + 1) * length,
                                 B.begin() + std::size_t(pivot) * length);
              }
            const auto subtract = [&](const unsigned int i,
                                      const double       factor) {
              for (unsigned int j = p + 1; j < n; ++j)
                A[i * n + j] -= factor * A[p * n + j];
              for (unsigned int j = 0; j < length; ++j)
                B[std::size_t(i) * length + j] -=
                  factor * B[std::size_t(p) * length + j];
            };
            const double scale = 1. / A[p * n + p];
            for (unsigned int j = p + 1; j < n; ++j)
              A[p * n + j] *= scale;
            for (unsigned int j = 0; j < length; ++j)
              B[std::size_t(p) * length + j] *= scale;
            for (unsigned int i = 0; i < n; ++i)
              if (i != p && A[i * n + p] != 0.)
                subtract(i, A[i * n + p]);
          }
        return true;
      }
    } // namespace



    template <typename Number>
    std::vector<double>
    coupling_norms(const BlockSparsity              &sparsity,
                   const std::vector<std::uint64_t> &dof_offset,
                   const Number                     *values)
    {
      const unsigned int  n_rows = sparsity.row_width.size();
      std::vector<double> norms(sparsity.block_column.size(), 0.);
      parallel_for(n_rows, 16, [&](const unsigned int k) {
        const unsigned int  n     = dof_offset[k + 1] - dof_offset[k];
        const std::size_t   width = sparsity.row_width[k];
        const std::uint64_t own   = sparsity.find_block(k, k);
        if (own == BlockSparsity::no_block)
          return;
        const Number *const row = values + sparsity.value_offset[k];
        std::vector<double> D(n * n), products(row, row + n * width);
        for (unsigned int i = 0; i < n; ++i)
          for (unsigned int j = 0; j < n; ++j)
            D[i * n + j] = row[i * width + sparsity.column_offset[own] + j];
        if (!solve_in_place(n, width, D, products))
          products.assign(row, row + n * width);
        for (std::uint64_t b = sparsity.block_offset[k];
             b < sparsity.block_offset[k + 1];
             ++b)
          {
            const unsigned int l = sparsity.block_column[b];
            if (l >= n_rows)
              continue;
            double sum = 0.;
            for (unsigned int i = 0; i < n; ++i)
              for (unsigned int j = 0; j < dof_offset[l + 1] - dof_offset[l];
                   ++j)
                {
                  const double value =
                    products[i * width + sparsity.column_offset[b] + j];
                  sum += value * value;
                }
            norms[b] = std::sqrt(sum);
          }
      });
      return norms;
    }



    std::vector<unsigned int>
    discarded_fill_numbering(const BlockSparsity       &sparsity,
                             const std::vector<double> &norms)
    {
      const unsigned int n = sparsity.row_width.size();
      // Norms of the block (l, k) beside those of the block (k, l).
      std::vector<double> back(norms.size(), 0.);
      parallel_for(n, 64, [&](const unsigned int k) {
        for (std::uint64_t b = sparsity.block_offset[k];
             b < sparsity.block_offset[k + 1];
             ++b)
          if (sparsity.block_column[b] < n)
            {
              const std::uint64_t other =
                sparsity.find_block(sparsity.block_column[b], k);
              if (other != BlockSparsity::no_block)
                back[b] = norms[other];
            }
      });
      std::vector<bool> numbered(n, false);
      const auto        discarded = [&](const unsigned int k) {
        double     sum    = 0.;
        const auto is_out = [&](const unsigned int l) {
          return l >= n || l == k || numbered[l];
        };
        for (std::uint64_t a = sparsity.block_offset[k];
             a < sparsity.block_offset[k + 1];
             ++a)
          {
            const unsigned int i = sparsity.block_column[a];
            if (is_out(i))
              continue;
            for (std::uint64_t b = sparsity.block_offset[k];
                 b < sparsity.block_offset[k + 1];
                 ++b)
              {
                const unsigned int j = sparsity.block_column[b];
                if (j == i || is_out(j) ||
                    sparsity.find_block(i, j) != BlockSparsity::no_block)
                  continue;
                const double fill = back[a] * norms[b];
                sum += fill * fill;
              }
          }
        return sum;
      };
      // Sums that differ by a thousandth are equal: on regular meshes rounding
      // errors would decide otherwise. Of equal sums the first one in the
      // numbering of Cuthill and McKee is next.
      const auto step_of = [&](const unsigned int k) {
        const double sum = discarded(k);
        return sum > 1e-30 && sum < 1e30
                 ? static_cast<int>(std::lround(700. * std::log2(sum)))
               : sum <= 1e-30 ? -1000000
                              : 1000000;
      };
      const std::vector<unsigned int> order = reverse_cuthill_mckee(sparsity);
      using Entry = std::tuple<int, unsigned int, unsigned int>;
      std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> next;
      std::vector<int>          present(n);
      std::vector<unsigned int> number(n);
      parallel_for(n, 16, [&](const unsigned int k) {
        present[k] = step_of(k);
      });
      for (unsigned int k = 0; k < n; ++k)
        next.emplace(present[k], order[k], k);
      unsigned int n_numbered = 0;
      while (!next.empty())
        {
          const Entry        entry = next.top();
          const unsigned int k     = std::get<2>(entry);
          next.pop();
          if (numbered[k] || std::get<0>(entry) != present[k])
            continue;
          numbered[k] = true;
          number[k]   = n_numbered++;
          for (std::uint64_t b = sparsity.block_offset[k];
               b < sparsity.block_offset[k + 1];
               ++b)
            {
              const unsigned int l = sparsity.block_column[b];
              if (l >= n || numbered[l])
                continue;
              const int changed = step_of(l);
              if (changed != present[l])
                {
                  present[l] = changed;
                  next.emplace(changed, order[l], l);
                }
            }
        }
      return number;
    }



    BlockSparsity
    fill_in(const BlockSparsity              &sparsity,
            const std::vector<std::uint64_t> &dof_offset,
            const std::vector<unsigned int>  &numbering,
            const unsigned int                level)
    {
      const unsigned int n = sparsity.row_width.size();
      // Columns of each row with their levels.
      using Block = std::pair<unsigned int, unsigned int>;
      std::vector<std::vector<Block>> rows(n);
      std::vector<unsigned int>       order(n);
      for (unsigned int k = 0; k < n; ++k)
        {
          order[numbering[k]] = k;
          for (std::uint64_t b = sparsity.block_offset[k];
               b < sparsity.block_offset[k + 1];
               ++b)
            if (sparsity.block_column[b] < n)
              rows[k].emplace_back(sparsity.block_column[b], 0u);
        }
      for (unsigned int q = 0; q < n; ++q)
        {
          const unsigned int k = order[q];
          std::vector<Block> later;
          for (const Block &block : rows[k])
            if (numbering[block.first] > q)
              later.push_back(block);
          for (const Block &of_row : later)
            for (const Block &of_column : later)
              {
                const unsigned int sum = of_row.second + of_column.second + 1;
                if (of_row.first == of_column.first || sum > level)
                  continue;
                std::vector<Block> &row = rows[of_row.first];
                const auto          found =
                  std::find_if(row.begin(), row.end(), [&](const Block &block) {
                    return block.first == of_column.first;
                  });
                if (found == row.end())
                  row.emplace_back(of_column.first, sum);
                else
                  found->second = std::min(found->second, sum);
              }
        }
      BlockSparsity result;
      result.block_offset.assign(1, 0);
      result.value_offset.assign(1, 0);
      for (unsigned int k = 0; k < n; ++k)
        {
          std::sort(rows[k].begin(), rows[k].end());
          unsigned int width = 0;
          for (const Block &block : rows[k])
            {
              result.block_column.push_back(block.first);
              result.column_offset.push_back(width);
              width += dof_offset[block.first + 1] - dof_offset[block.first];
            }
          result.row_width.push_back(width);
          result.block_offset.push_back(result.block_column.size());
          result.value_offset.push_back(result.value_offset.back() +
                                        std::uint64_t(width) *
                                          (dof_offset[k + 1] - dof_offset[k]));
        }
      return result;
    }



    template std::vector<double>
    coupling_norms(const BlockSparsity &,
                   const std::vector<std::uint64_t> &,
                   const double *);
    template std::vector<double>
    coupling_norms(const BlockSparsity &,
                   const std::vector<std::uint64_t> &,
                   const float *);
  } // namespace internal
} // namespace Tessella
