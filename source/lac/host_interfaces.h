// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_lac_host_interfaces_h
#define tessella_source_lac_host_interfaces_h

#include <tessella/lac/device_block_matrix.h>
#include <tessella/lac/host_block_matrix.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../cuda/lac/interface_transfer.h"
#include "host_blocks.h"

namespace Tessella
{
  namespace internal
  {
    /// Device::Interfaces for host memory. The result does not depend on the
    /// number of threads.
    template <typename Number>
    struct HostInterfaces
    {
      static void
      restrict_to(const InterfaceTransfer<Number> &transfer,
                  const EntriesWithGhosts<Number> &interfaces,
                  Number                          *polytopes)
      {
        const unsigned int n = transfer.n_functions;
        for_blocks(transfer.n_polytopes, [&](const unsigned int k) {
          Number *const to = polytopes + std::size_t(k) * n;
          std::fill(to, to + n, Number(0));
          for (unsigned int s = transfer.side_offset[k];
               s < transfer.side_offset[k + 1];
               ++s)
            {
              const unsigned int  e       = transfer.side[s];
              const unsigned int  n_modes = transfer.n_modes(e / 2);
              const Number       *P       = transfer.matrix_of(e);
              const Number *const from = interfaces + transfer.first_row[e / 2];
              for (unsigned int r = 0; r < n; ++r, P += n_modes)
                {
                  Number sum = 0;
                  for (unsigned int m = 0; m < n_modes; ++m)
                    sum += P[m] * from[m];
                  to[r] += sum;
                }
            }
        });
      }

      static void
      prolongate_add(const InterfaceTransfer<Number> &transfer,
                     const EntriesWithGhosts<Number> &polytopes,
                     Number                          *interfaces)
      {
        const unsigned int n = transfer.n_functions;
        for_blocks(transfer.n_blocks, [&](const unsigned int b) {
          const unsigned int n_modes = transfer.n_modes(b);
          Number *const      to      = interfaces + transfer.first_row[b];
          for (unsigned int side = 0; side < 2; ++side)
            {
              const unsigned int k =
                transfer.polytope[2 * std::size_t(b) + side];
              if (k == InterfaceTransfer<Number>::no_polytope)
                continue;
              const Number       *P    = transfer.matrix_of(2 * b + side);
              const Number *const from = polytopes + std::uint64_t(k) * n;
              for (unsigned int r = 0; r < n; ++r, P += n_modes)
                for (unsigned int m = 0; m < n_modes; ++m)
                  to[m] += P[m] * from[r];
            }
        });
      }

      static void
      galerkin(const InterfaceTransfer<Number> &transfer,
               const BlockRows                 &fine_rows,
               const BlockRows                 &coarse_rows,
               const Number                    *fine,
               Number                          *coarse)
      {
        const unsigned int n     = transfer.n_functions;
        const unsigned int modes = transfer.max_modes;
        for_block_ranges(
          coarse_rows.n, [&](const unsigned int begin, const unsigned int end) {
            // n rows of P^T T, for the modes of one block.
            std::vector<Number> half(std::size_t(n) * modes);
            for (unsigned int k = begin; k < end; ++k)
              {
                Number *const to = coarse + coarse_rows.value_offset[k];
                std::fill_n(to,
                            std::size_t(n) * coarse_rows.row_width[k],
                            Number(0));
                for (unsigned int s = transfer.side_offset[k];
                     s < transfer.side_offset[k + 1];
                     ++s)
                  add_interface(transfer,
                                fine_rows,
                                coarse_rows,
                                fine,
                                k,
                                transfer.side[s],
                                half,
                                to);
              }
          });
      }

      static void
      add_blocks(const BlockRows &from_rows,
                 const BlockRows &to_rows,
                 const Number     factor,
                 const Number    *from,
                 Number          *to)
      {
        for_blocks(from_rows.n, [&](const unsigned int k) {
          const unsigned int n_k = from_rows.size(k);
          for (std::uint64_t b = from_rows.block_offset[k];
               b < from_rows.block_offset[k + 1];
               ++b)
            {
              const unsigned int  l     = from_rows.block_column[b];
              const unsigned int  n_l   = from_rows.size(l);
              const std::uint64_t place = find(to_rows, k, l);
              const Number       *source =
                from + from_rows.value_offset[k] + from_rows.column_offset[b];
              Number *target =
                to + to_rows.value_offset[k] + to_rows.column_offset[place];
              for (unsigned int i = 0; i < n_k; ++i)
                {
                  for (unsigned int j = 0; j < n_l; ++j)
                    target[j] += factor * source[j];
                  source += from_rows.row_width[k];
                  target += to_rows.row_width[k];
                }
            }
        });
      }

      static void
      first_entries(const BlockRows &rows, const Number *values, Number *to)
      {
        for_blocks(rows.n, [&](const unsigned int k) {
          for (std::uint64_t b = rows.block_offset[k];
               b < rows.block_offset[k + 1];
               ++b)
            to[b] = values[rows.value_offset[k] + rows.column_offset[b]];
        });
      }

    private:
      /// Block of row @p k with column @p l, which must exist.
      static std::uint64_t
      find(const BlockRows &rows, const unsigned int k, const unsigned int l)
      {
        const unsigned int *const begin =
          rows.block_column + rows.block_offset[k];
        return rows.block_offset[k] +
               (std::lower_bound(begin,
                                 rows.block_column + rows.block_offset[k + 1],
                                 l) -
                begin);
      }

      /// Adds the part of the coarse block row @p k that belongs to @p e,
      /// twice a block plus a side.
      static void
      add_interface(const InterfaceTransfer<Number> &transfer,
                    const BlockRows                 &fine_rows,
                    const BlockRows                 &coarse_rows,
                    const Number                    *fine,
                    const unsigned int               k,
                    const unsigned int               e,
                    std::vector<Number>             &half,
                    Number                          *to)
      {
        const unsigned int n = transfer.n_functions, i = e / 2;
        const unsigned int n_i   = transfer.n_modes(i),
                           modes = transfer.max_modes;
        const Number *const P    = transfer.matrix_of(e);
        for (std::uint64_t b = fine_rows.block_offset[i];
             b < fine_rows.block_offset[i + 1];
             ++b)
          {
            const unsigned int  j   = fine_rows.block_column[b];
            const unsigned int  n_j = transfer.n_modes(j);
            const Number *const block =
              fine + fine_rows.value_offset[i] + fine_rows.column_offset[b];
            for (unsigned int r = 0; r < n; ++r)
              {
                Number *const sums = half.data() + std::size_t(r) * modes;
                std::fill_n(sums, n_j, Number(0));
                for (unsigned int m = 0; m < n_i; ++m)
                  for (unsigned int q = 0; q < n_j; ++q)
                    sums[q] +=
                      P[r * n_i + m] *
                      block[std::size_t(m) * fine_rows.row_width[i] + q];
              }
            for (unsigned int side = 0; side < 2; ++side)
              {
                const unsigned int l =
                  transfer.polytope[2 * std::size_t(j) + side];
                if (l == InterfaceTransfer<Number>::no_polytope)
                  continue;
                const Number *const Q = transfer.matrix_of(2 * j + side);
                Number *const       target =
                  to + coarse_rows.column_offset[find(coarse_rows, k, l)];
                for (unsigned int r = 0; r < n; ++r)
                  for (unsigned int c = 0; c < n; ++c)
                    {
                      const Number *const sums =
                        half.data() + std::size_t(r) * modes;
                      Number sum = 0;
                      for (unsigned int q = 0; q < n_j; ++q)
                        sum += sums[q] * Q[c * n_j + q];
                      target[std::size_t(r) * coarse_rows.row_width[k] + c] +=
                        sum;
                    }
              }
          }
      }
    };



    /// The operations for the memory space of a matrix type.
    template <typename MatrixType>
    struct InterfaceSpace;

    template <typename Number>
    struct InterfaceSpace<HostBlockMatrix<Number>>
    {
      template <typename OtherNumber>
      using Interfaces   = HostInterfaces<OtherNumber>;
      using DoubleMatrix = HostBlockMatrix<double>;
    };

    template <typename Number>
    struct InterfaceSpace<DeviceBlockMatrix<Number>>
    {
      template <typename OtherNumber>
      using Interfaces   = Device::Interfaces<OtherNumber>;
      using DoubleMatrix = DeviceBlockMatrix<double>;
    };
  } // namespace internal
} // namespace Tessella

#endif
