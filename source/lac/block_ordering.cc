// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "block_ordering.h"

#include <deal.II/base/mpi.h>

#include <tessella/base/compatibility.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>
#include <tuple>

#include "../base/collective.h"
#include "halo_exchange.h"
#include "host_blocks.h"

namespace Tessella
{
  namespace internal
  {
    using namespace dealii;

    std::vector<unsigned int>
    greedy_colors(const BlockMatrixBase &matrix, unsigned int &n_colors)
    {
      const BlockSparsity &sparsity  = matrix.block_sparsity();
      const unsigned int   n         = sparsity.row_width.size();
      const auto          &partition = matrix.partition();
      // Processes wait for their neighbours of lower rank: the colours are then
      // those of a single process.
      std::vector<unsigned int> color(matrix.dof_offset().size() - 1,
                                      invalid_index),
        last;
      HaloMessages messages;
      const auto   message = [](unsigned int                  *colors,
                              const BlockPartition::Partner &partner,
                              const bool                     exists) {
        return HaloMessages::Place{colors + partner.begin,
                                   exists ? (partner.end - partner.begin) *
                                              sizeof(unsigned int)
                                            : HaloMessages::none};
      };
      const auto no_message = [](const BlockPartition::Partner &) {
        return HaloMessages::Place{nullptr, HaloMessages::none};
      };
      unsigned int this_process = 0;
      n_colors                  = 0;
      if (partition != nullptr)
        {
          this_process = internal::this_process(partition->communicator());
          messages.start(*partition,
                         no_message,
                         [&](const BlockPartition::Partner &partner) {
                           return message(color.data() + n,
                                          partner,
                                          partner.rank < this_process);
                         });
          messages.finish();
        }
      for (unsigned int k = 0; k < n; ++k)
        {
          for (std::uint64_t b = sparsity.block_offset[k];
               b < sparsity.block_offset[k + 1];
               ++b)
            {
              const unsigned int c = color[sparsity.block_column[b]];
              if (c == invalid_index)
                continue;
              if (c >= last.size())
                last.resize(c + 1, invalid_index);
              last[c] = k;
            }
          unsigned int c = 0;
          while (c < last.size() && last[c] == k)
            ++c;
          if (c == last.size())
            last.push_back(invalid_index);
          color[k] = c;
          n_colors = std::max(n_colors, c + 1);
        }
      if (partition != nullptr)
        {
          std::vector<unsigned int> sent;
          for (const unsigned int k : partition->send_blocks())
            sent.push_back(color[k]);
          messages.start(
            *partition,
            [&](const BlockPartition::Partner &partner) {
              return message(sent.data(), partner, partner.rank > this_process);
            },
            no_message);
          messages.finish();
          n_colors = Utilities::MPI::max(n_colors, partition->communicator());
        }
      color.resize(n);
      return color;
    }



    std::vector<unsigned int>
    reverse_cuthill_mckee(const BlockSparsity &sparsity)
    {
      const unsigned int        n = sparsity.row_width.size();
      std::vector<unsigned int> degree(n), start(n), list, number(n);
      for (unsigned int k = 0; k < n; ++k)
        degree[k] = sparsity.block_offset[k + 1] - sparsity.block_offset[k];
      std::iota(start.begin(), start.end(), 0u);
      std::stable_sort(start.begin(),
                       start.end(),
                       [&](const unsigned int k, const unsigned int l) {
                         return degree[k] < degree[l];
                       });
      std::vector<bool> found(n, false);
      list.reserve(n);
      for (const unsigned int s : start)
        {
          if (found[s])
            continue;
          found[s]         = true;
          std::size_t next = list.size();
          list.push_back(s);
          for (; next < list.size(); ++next)
            {
              const unsigned int k     = list[next];
              const std::size_t  begin = list.size();
              for (std::uint64_t b = sparsity.block_offset[k];
                   b < sparsity.block_offset[k + 1];
                   ++b)
                {
                  const unsigned int l = sparsity.block_column[b];
                  if (l >= n || found[l])
                    continue;
                  found[l] = true;
                  list.push_back(l);
                }
              std::stable_sort(list.begin() + begin,
                               list.end(),
                               [&](const unsigned int i, const unsigned int j) {
                                 return degree[i] < degree[j];
                               });
            }
        }
      for (unsigned int i = 0; i < n; ++i)
        number[list[i]] = n - 1 - i;
      return number;
    }



    namespace
    {
      // Frobenius norms of the blocks of @p values.
      template <typename Number>
      std::vector<double>
      block_norms(const BlockSparsity              &sparsity,
                  const std::vector<std::uint64_t> &dof_offset,
                  const Number                     *values)
      {
        std::vector<double> norm(sparsity.block_column.size());
        for_blocks(sparsity.row_width.size(), [&](const unsigned int k) {
          for (std::uint64_t b = sparsity.block_offset[k];
               b < sparsity.block_offset[k + 1];
               ++b)
            {
              const unsigned int l   = sparsity.block_column[b];
              double             sum = 0.;
              for (unsigned int i = 0; i < dof_offset[k + 1] - dof_offset[k];
                   ++i)
                for (unsigned int j = 0; j < dof_offset[l + 1] - dof_offset[l];
                     ++j)
                  {
                    const double value =
                      values[sparsity.value_offset[k] +
                             i * std::uint64_t(sparsity.row_width[k]) +
                             sparsity.column_offset[b] + j];
                    sum += value * value;
                  }
              norm[b] = std::sqrt(sum);
            }
        });
        return norm;
      }
    } // namespace



    template <typename Number>
    std::vector<unsigned int>
    downwind_numbering(const BlockSparsity              &sparsity,
                       const std::vector<std::uint64_t> &dof_offset,
                       const Number                     *values)
    {
      const unsigned int        n = sparsity.row_width.size();
      const std::vector<double> norm =
        block_norms(sparsity, dof_offset, values);
      // Inflow of row k from the row of each block, and from all rows.
      // Differences of a thousandth are those of diffusion.
      std::vector<double> inflow(norm.size(), 0.), sum(n, 0.);
      for_blocks(n, [&](const unsigned int k) {
        for (std::uint64_t b = sparsity.block_offset[k];
             b < sparsity.block_offset[k + 1];
             ++b)
          {
            const unsigned int l = sparsity.block_column[b];
            if (l >= n || l == k)
              continue;
            const std::uint64_t other = sparsity.find_block(l, k);
            const double        back =
              other == BlockSparsity::no_block ? 0. : norm[other];
            if (norm[b] - back > 1e-3 * (norm[b] + back))
              sum[k] += inflow[b] = norm[b] - back;
          }
      });
      // Rows without inflow from rows that are not numbered come first; the
      // share of such inflow counts in steps of a thousandth.
      const std::vector<unsigned int> order = reverse_cuthill_mckee(sparsity);
      using Entry = std::tuple<unsigned int, unsigned int, unsigned int>;
      std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> next;
      std::vector<double>       rest = sum;
      std::vector<unsigned int> share(n), number(n, invalid_index);
      const auto                enter = [&](const unsigned int k) {
        share[k] =
          sum[k] > 0.
                           ? static_cast<unsigned int>(std::lround(1000. * rest[k] / sum[k]))
                           : 0;
        next.emplace(share[k], order[k], k);
      };
      for (unsigned int k = 0; k < n; ++k)
        enter(k);
      unsigned int n_numbered = 0;
      while (!next.empty())
        {
          const Entry        entry = next.top();
          const unsigned int k     = std::get<2>(entry);
          next.pop();
          if (number[k] != invalid_index || std::get<0>(entry) != share[k])
            continue;
          number[k] = n_numbered++;
          for (std::uint64_t b = sparsity.block_offset[k];
               b < sparsity.block_offset[k + 1];
               ++b)
            {
              const unsigned int l = sparsity.block_column[b];
              if (l >= n || number[l] != invalid_index)
                continue;
              const std::uint64_t other = sparsity.find_block(l, k);
              if (other == BlockSparsity::no_block || inflow[other] == 0.)
                continue;
              rest[l] -= inflow[other];
              enter(l);
            }
        }
      return number;
    }



    template std::vector<unsigned int>
    downwind_numbering(const BlockSparsity &,
                       const std::vector<std::uint64_t> &,
                       const double *);
    template std::vector<unsigned int>
    downwind_numbering(const BlockSparsity &,
                       const std::vector<std::uint64_t> &,
                       const float *);



    std::vector<unsigned int>
    wave_fronts(const BlockSparsity             &sparsity,
                const std::vector<unsigned int> &numbering,
                unsigned int                    &n_steps)
    {
      const unsigned int        n = numbering.size();
      std::vector<unsigned int> list(n), step(n, 0);
      for (unsigned int k = 0; k < n; ++k)
        list[numbering[k]] = k;
      n_steps = 0;
      for (const unsigned int k : list)
        {
          for (std::uint64_t b = sparsity.block_offset[k];
               b < sparsity.block_offset[k + 1];
               ++b)
            {
              const unsigned int l = sparsity.block_column[b];
              if (l < n && numbering[l] < numbering[k])
                step[k] = std::max(step[k], step[l] + 1);
            }
          n_steps = std::max(n_steps, step[k] + 1);
        }
      return step;
    }
  } // namespace internal
} // namespace Tessella
