// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_lac_host_sweeps_h
#define tessella_source_lac_host_sweeps_h

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "../../cuda/lac/sweeps.h"
#include "host_blocks.h"

namespace Tessella
{
  namespace internal
  {
    /// Host counterparts of the functions of Device::Sweeps, which describe
    /// them. Every sum is computed by one thread in an order that depends on
    /// the structure only.
    template <typename Number, typename Storage>
    struct HostSweeps
    {
      static void
      step(const SweepStep<Number, Storage> &step)
      {
        for_block_ranges(
          step.n, [&](const unsigned int begin, const unsigned int end) {
            std::vector<Number> sum(step.max_size), product(step.max_size);
            for (unsigned int p = begin; p < end; ++p)
              row(step, step.rows[p], sum.data(), product.data());
          });
      }

      static void
      pack(const std::size_t n,
           const BlockCopy  *copies,
           const Number     *from,
           Storage          *to)
      {
        for_blocks(n, [&](const std::size_t c) {
          const BlockCopy &copy = copies[c];
          for (unsigned int i = 0; i < copy.n_rows; ++i)
            for (unsigned int j = 0; j < copy.n_columns; ++j)
              to[copy.to + std::size_t(i) * copy.n_columns + j] =
                static_cast<Storage>(
                  from[copy.from + std::size_t(i) * copy.stride + j]);
        });
      }

    private:
      // y = A x or A^T x, where y has n_rows entries and x n_columns.
      static void
      product_of(const Storage     *A,
                 const unsigned int n_rows,
                 const unsigned int n_columns,
                 const std::size_t  stride,
                 const bool         transpose,
                 const Number      *x,
                 Number            *y)
      {
        if (transpose)
          {
            std::fill(y, y + n_rows, Number(0));
            for (unsigned int j = 0; j < n_columns; ++j, A += stride)
              for (unsigned int i = 0; i < n_rows; ++i)
                y[i] += static_cast<Number>(A[i]) * x[j];
          }
        else if constexpr (std::is_same<Number, Storage>::value)
          multiply(A, n_rows, n_columns, stride, x, y);
        else
          {
            constexpr unsigned int lanes = 32 / sizeof(Number);
            typedef Number  Pack __attribute__((vector_size(32), aligned(4)));
            typedef Storage StoragePack
              __attribute__((vector_size(sizeof(Storage) * lanes), aligned(4)));
            const unsigned int whole = n_columns / lanes * lanes;
            for (unsigned int i = 0; i < n_rows; ++i, A += stride)
              {
                Pack s = {};
                for (unsigned int j = 0; j < whole; j += lanes)
                  s += __builtin_convertvector(
                         *reinterpret_cast<const StoragePack *>(A + j), Pack) *
                       *reinterpret_cast<const Pack *>(x + j);
                Number sum = s[0];
                for (unsigned int v = 1; v < lanes; ++v)
                  sum += s[v];
                for (unsigned int j = whole; j < n_columns; ++j)
                  sum += static_cast<Number>(A[j]) * x[j];
                y[i] = sum;
              }
          }
      }

      static void
      row(const SweepStep<Number, Storage> &step,
          const SweepRow                   &row,
          Number                           *sum,
          Number                           *product)
      {
        const std::uint64_t begin = step.forward ? row.begin : row.middle,
                            end   = step.forward ? row.middle : row.end;
        if (begin == end && (!step.forward || step.subtract != nullptr))
          return;
        const unsigned int n = row.size;
        std::fill(sum, sum + n, Number(0));
        for (std::uint64_t b = begin; b < end; ++b)
          {
            const SweepBlock &block = step.blocks[b];
            product_of(step.values + block.place,
                       n,
                       block.size,
                       block.stride,
                       step.transpose,
                       block.first < step.n_dofs
                         ? step.x + block.first
                         : step.ghosts + (block.first - step.n_dofs),
                       product);
            for (unsigned int i = 0; i < n; ++i)
              sum[i] += product[i];
          }
        for (unsigned int i = 0; i < n; ++i)
          {
            const Number s    = sum[i];
            const Number rest = step.b[row.first + i] - s;
            if (step.rest != nullptr)
              step.rest[row.first + i] = step.forward ? rest : s;
            sum[i] = step.forward && step.subtract != nullptr
                       ? rest - step.subtract[row.first + i]
                       : rest;
          }
        product_of(step.inverse + row.square,
                   n,
                   n,
                   n,
                   step.transpose,
                   sum,
                   step.x + row.first);
      }
    };

    /// Host counterpart of Device::Factorisation.
    template <typename Number>
    struct HostFactorisation
    {
      static void
      step(const FactorStep<Number> &step)
      {
        for_block_ranges(
          step.n, [&](const unsigned int begin, const unsigned int end) {
            std::vector<Number> factor;
            for (unsigned int r = begin; r < end; ++r)
              for (std::uint64_t p = step.pivot[r]; p < step.pivot[r + 1]; ++p)
                {
                  const FactorPivot &pivot = step.pivots[p];
                  const unsigned int n = step.size[r], m = pivot.size;
                  factor.resize(std::size_t(n) * m);
                  subtract(step.values + pivot.factor,
                           step.inverse + pivot.square,
                           n,
                           m,
                           m,
                           true,
                           factor.data());
                  for (std::uint64_t u = pivot.begin; u < pivot.end; ++u)
                    {
                      const FactorUpdate &update = step.updates[u];
                      subtract(factor.data(),
                               step.values + update.source,
                               n,
                               m,
                               update.n_columns,
                               false,
                               step.values + update.target);
                    }
                }
          });
      }

    private:
      // C = A B if @p set, else C -= A B; C has n rows and l columns.
      static void
      subtract(const Number      *A,
               const Number      *B,
               const unsigned int n,
               const unsigned int m,
               const unsigned int l,
               const bool         set,
               Number            *C)
      {
        for (unsigned int i = 0; i < n; ++i)
          {
            Number *const to = C + std::size_t(i) * l;
            if (set)
              std::fill(to, to + l, Number(0));
            for (unsigned int q = 0; q < m; ++q)
              {
                const Number a =
                  set ? A[std::size_t(i) * m + q] : -A[std::size_t(i) * m + q];
                const Number *const from = B + std::size_t(q) * l;
                for (unsigned int j = 0; j < l; ++j)
                  to[j] += a * from[j];
              }
          }
      }
    };
  } // namespace internal
} // namespace Tessella

#endif
