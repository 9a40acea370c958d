// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_lac_host_blocks_h
#define tessella_source_lac_host_blocks_h

#include <deal.II/base/parallel.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "../../cuda/lac/blocks.h"
#include "../base/host_memory.h"
#include "../base/parallel_for.h"
#include "reproducible_sum.h"

// Operations on block matrices on the host. Every sum is computed by one thread
// in an order that depends on the structure only.

namespace Tessella
{
  namespace internal
  {
    /// Uninitialised array (first touch by the thread that uses it).
    template <typename T>
    class HostArray
    {
    public:
      void
      resize(const std::size_t size)
      {
        array.reset(size > 0 ? new T[size] : nullptr);
        n = size;
        if (size * sizeof(T) > (1u << 22))
          Device::advise_large_pages(array.get(), size * sizeof(T));
      }
      void
      assign(const std::vector<T> &values)
      {
        resize(values.size());
        copy_from(values);
      }
      /// Copies @p values, which must have the size of the array.
      void
      copy_from(const std::vector<T> &values)
      {
        std::copy(values.begin(), values.end(), data());
      }
      T *
      data() const
      {
        return array.get();
      }
      std::size_t
      size() const
      {
        return n;
      }
      std::size_t
      memory_consumption() const
      {
        return n * sizeof(T);
      }

    private:
      std::unique_ptr<T[]> array;
      std::size_t          n = 0;
    };

    /// Calls function(begin, end) for ranges of block rows, on all threads.
    template <typename Function>
    void
    for_block_ranges(const unsigned int n, const Function &function)
    {
      if (n > 0)
        dealii::parallel::apply_to_subranges(
          0u,
          n,
          [&](const unsigned int begin, const unsigned int end) {
            function(begin, end);
          },
          32);
    }

    template <typename Function>
    void
    for_blocks(const unsigned int n, const Function &function)
    {
      parallel_for(n, 32, function);
    }

    template <typename Function>
    void
    for_entries(const std::size_t n, const Function &function)
    {
      parallel_for(n, 8192, function);
    }

    /// Copies the entries of @p x that belong to the listed block columns to
    /// @p to. Entries of block columns with index @p n_owned and above are in
    /// @p ghosts.
    template <typename Number>
    inline void
    gather(const unsigned int  *columns,
           const std::size_t    n_columns,
           const std::uint64_t *dof_offset,
           const unsigned int   n_owned,
           const Number        *x,
           const Number        *ghosts,
           Number              *to)
    {
      for (std::size_t m = 0; m < n_columns; ++m)
        {
          const std::uint64_t first = dof_offset[columns[m]];
          const std::size_t   n     = dof_offset[columns[m] + 1] - first;
          const Number *const from  = columns[m] < n_owned
                                        ? x + first
                                        : ghosts + (first - dof_offset[n_owned]);
          std::memcpy(to, from, n * sizeof(Number));
          to += n;
        }
    }

    /// Registers of 16 bytes, in which each row of multiply() has two times
    /// four floats or two times two doubles. Types of 32 bytes have the same
    /// partial sums, but without AVX GCC keeps them in memory.
    template <typename Number>
    struct HalfPack
    {
      static constexpr unsigned int lanes = 16 / sizeof(Number);
      typedef Number                Type __attribute__((vector_size(16)));
      typedef Number                Unaligned
        __attribute__((vector_size(16), aligned(sizeof(Number)), may_alias));

      static Type
      load(const Number *x)
      {
        return *reinterpret_cast<const Unaligned *>(x);
      }

      /// Sum of the lanes of both packs in ascending order.
      static Number
      sum(const Type &a, const Type &b)
      {
        Number s = a[0];
        for (unsigned int v = 1; v < lanes; ++v)
          s += a[v];
        for (unsigned int v = 0; v < lanes; ++v)
          s += b[v];
        return s;
      }
    };

    /// y = A x for a row-major array whose rows begin @p stride entries apart.
    /// Each row has 32 bytes of partial sums in registers.
    template <typename Number>
    inline void
    multiply(const Number      *A,
             const unsigned int n_rows,
             const unsigned int n_columns,
             const std::size_t  stride,
             const Number      *x,
             Number            *y)
    {
      using P                      = HalfPack<Number>;
      using Pack                   = typename P::Type;
      constexpr unsigned int half  = P::lanes;
      const unsigned int     whole = n_columns / (2 * half) * (2 * half);
      unsigned int           i     = 0;
      for (; i + 4 <= n_rows; i += 4, A += 4 * stride)
        {
          const Number *const A1 = A + stride, *const A2 = A1 + stride,
                              *const A3 = A2 + stride;
          Pack a0 = {}, b0 = {}, a1 = {}, b1 = {}, a2 = {}, b2 = {}, a3 = {},
               b3 = {};
          for (unsigned int j = 0; j < whole; j += 2 * half)
            {
              const Pack z = P::load(x + j), w = P::load(x + j + half);
              a0 += P::load(A + j) * z;
              b0 += P::load(A + j + half) * w;
              a1 += P::load(A1 + j) * z;
              b1 += P::load(A1 + j + half) * w;
              a2 += P::load(A2 + j) * z;
              b2 += P::load(A2 + j + half) * w;
              a3 += P::load(A3 + j) * z;
              b3 += P::load(A3 + j + half) * w;
            }
          Number s0 = P::sum(a0, b0), s1 = P::sum(a1, b1), s2 = P::sum(a2, b2),
                 s3 = P::sum(a3, b3);
          for (unsigned int j = whole; j < n_columns; ++j)
            {
              s0 += A[j] * x[j];
              s1 += A1[j] * x[j];
              s2 += A2[j] * x[j];
              s3 += A3[j] * x[j];
            }
          y[i]     = s0;
          y[i + 1] = s1;
          y[i + 2] = s2;
          y[i + 3] = s3;
        }
      for (; i < n_rows; ++i, A += stride)
        {
          Pack a = {}, b = {};
          for (unsigned int j = 0; j < whole; j += 2 * half)
            {
              a += P::load(A + j) * P::load(x + j);
              b += P::load(A + j + half) * P::load(x + j + half);
            }
          Number s = P::sum(a, b);
          for (unsigned int j = whole; j < n_columns; ++j)
            s += A[j] * x[j];
          y[i] = s;
        }
    }

    /// Host counterparts of the functions of Device::Blocks and of some of
    /// Device::VectorOperations, which describe them.
    template <typename Number>
    struct HostBlocks
    {
      static void
      set_diagonal(const BlockRows &rows,
                   const Number    *A,
                   const Number     factor,
                   const Number    *B,
                   Number          *values)
      {
        for_block_ranges(
          rows.n, [&](const unsigned int begin, const unsigned int end) {
            for (unsigned int k = begin; k < end; ++k)
              {
                if (rows.shares_values(k))
                  continue;
                const unsigned int n    = rows.size(k);
                std::uint64_t      from = rows.square_offset[k];
                Number *to = values + rows.value_offset[k] + rows.diagonal[k];
                for (unsigned int i = 0; i < n; ++i, to += rows.row_width[k])
                  for (unsigned int j = 0; j < n; ++j, ++from)
                    to[j] = A[from] + factor * B[from];
              }
          });
      }

      static unsigned int
      orthonormalise(const BlockRows   &rows,
                     const unsigned int n_components,
                     const double      *values,
                     double            *W)
      {
        std::atomic<unsigned int> first(rows.n);
        for_block_ranges(
          rows.n, [&](const unsigned int begin, const unsigned int end) {
            std::vector<double> a, pivots;
            for (unsigned int k = begin; k < end; ++k)
              {
                const unsigned int  n     = rows.size(k);
                const std::size_t   width = rows.row_width[k];
                const double *const from =
                  values + rows.value_offset[k] + rows.diagonal[k];
                double *const to   = W + rows.square_offset[k];
                bool          good = true;
                // Elimination: a holds the remaining matrix from the diagonal
                // on and, below the diagonal, the unit lower triangular M with
                // M D M^T = diag(pivots) for the diagonal block D.
                a.resize(std::size_t(n) * n);
                pivots.resize(n);
                const unsigned int n_basis = n / n_components;
                for (unsigned int i = 0; i < n; ++i)
                  for (unsigned int j = 0; j < n; ++j)
                    a[i * n + j] =
                      i / n_basis == j / n_basis
                        ? 0.5 * (from[i * width + j] + from[j * width + i])
                        : 0.;
                for (unsigned int p = 0; p < n && good; ++p)
                  {
                    const double *const row   = a.data() + p * n;
                    const double        pivot = pivots[p] = row[p];
                    good = std::isfinite(pivot) &&
                           pivot > n * std::numeric_limits<double>::epsilon() *
                                     from[p * width + p];
                    for (unsigned int i = p + 1; i < n && good; ++i)
                      {
                        double *const other  = a.data() + i * n;
                        const double  factor = row[i] / pivot;
                        for (unsigned int j = 0; j < p; ++j)
                          other[j] -= factor * row[j];
                        other[p] = -factor;
                        for (unsigned int j = i; j < n; ++j)
                          other[j] -= factor * row[j];
                      }
                  }
                for (unsigned int i = 0; i < n; ++i)
                  {
                    const double scale = good ? 1. / std::sqrt(pivots[i]) : 1.;
                    for (unsigned int j = 0; j < n; ++j)
                      to[i * n + j] = j == i          ? scale
                                      : j < i && good ? scale * a[i * n + j]
                                                      : 0.;
                  }
                if (!good)
                  lower(first, k);
              }
          });
        return first;
      }

      static void
      change_basis(const BlockRows  &rows,
                   const BlockBases &bases,
                   const double     *values,
                   Number           *to)
      {
        for_block_ranges(
          rows.n, [&](const unsigned int begin, const unsigned int end) {
            std::vector<double> half, sums;
            for (unsigned int k = begin; k < end; ++k)
              {
                const unsigned int  n     = rows.size(k);
                const unsigned int  width = rows.row_width[k];
                const double *const W_k   = bases.W + bases.place[k];
                const double       *from  = values + rows.value_offset[k];
                Number *const       row   = to + rows.value_offset[k];
                half.resize(std::size_t(n) * width);
                sums.resize(width);
                for (std::uint64_t b = rows.block_offset[k];
                     b < rows.block_offset[k + 1];
                     ++b)
                  {
                    const unsigned int  l     = rows.block_column[b];
                    const unsigned int  n_l   = rows.size(l);
                    const std::size_t   start = rows.column_offset[b];
                    const double *const W_l   = bases.W + bases.place[l];
                    for (unsigned int i = 0; i < n; ++i)
                      multiply(W_l,
                               n_l,
                               n_l,
                               n_l,
                               from + std::size_t(i) * width + start,
                               half.data() + std::size_t(i) * width + start);
                  }
                for (unsigned int i = 0; i < n; ++i)
                  {
                    std::fill(sums.begin(), sums.end(), 0.);
                    for (unsigned int m = 0; m <= i; ++m)
                      {
                        const double  factor = W_k[i * n + m];
                        const double *z = half.data() + std::size_t(m) * width;
                        for (unsigned int j = 0; j < width; ++j)
                          sums[j] += factor * z[j];
                      }
                    std::transform(sums.begin(),
                                   sums.end(),
                                   row + std::size_t(i) * width,
                                   [](const double x) {
                                     return std::abs(x) < negligible_in_basis
                                              ? Number(0)
                                              : static_cast<Number>(x);
                                   });
                  }
              }
          });
      }

      static void
      change_basis_of_injection(const BlockRows             &rows,
                                const BlockBases            &bases,
                                const BlockTransfer<Number> &transfer,
                                const unsigned int           n_polytopes,
                                Number                      *matrix)
      {
        for_blocks(n_polytopes, [&](const unsigned int k) {
          const unsigned int  stride = rows.size(k);
          const unsigned int  n      = transfer.fine_size(k);
          std::vector<double> x(n);
          if (n == 0)
            return;
          const std::uint64_t first = transfer.matrix_offset[k],
                              size  = (transfer.matrix_offset[k + 1] - first) /
                                     transfer.n_components;
          const unsigned int shift =
            stride / transfer.n_components * (stride + 1);
          for (std::uint64_t begin = first;
               begin < transfer.matrix_offset[k + 1];
               begin += n)
            {
              const double *const W_k =
                bases.W + bases.place[k] + (begin - first) / size * shift;
              for (unsigned int j = n; j-- > 0;)
                {
                  double sum = matrix[begin + j];
                  for (unsigned int m = j + 1; m < n; ++m)
                    sum -= x[m] * W_k[m * stride + j];
                  x[j] = sum / W_k[j * stride + j];
                }
              std::copy(x.begin(), x.end(), matrix + begin);
            }
        });
      }

      static void
      apply_diagonal(const BlockRows &rows,
                     const Number    *inverse,
                     const bool       transpose,
                     const Number    *x,
                     Number          *y)
      {
        for_blocks(rows.n, [&](const unsigned int k) {
          square_product(rows.size(k),
                         inverse + rows.square_offset[k],
                         transpose,
                         x + rows.dof_offset[k],
                         y + rows.dof_offset[k]);
        });
      }

      static void
      polynomial_step(const BlockRows &rows, const PolynomialStep<Number> &step)
      {
        const Number beta =
          step.divisor == nullptr
            ? step.beta
            : static_cast<Number>(step.factor / *step.divisor);
        for_block_ranges(
          rows.n, [&](const unsigned int begin, const unsigned int end) {
            std::vector<Number> z(rows.max_size);
            for (unsigned int k = begin; k < end; ++k)
              {
                const std::uint64_t first = rows.dof_offset[k];
                const unsigned int  n     = rows.size(k);
                square_product(n,
                               step.inverse + rows.square_offset[k],
                               step.transpose,
                               step.r + first,
                               z.data());
                for (unsigned int i = 0; i < n; ++i)
                  {
                    const Number update =
                      (step.alpha == 0 ? Number(0)
                                       : step.alpha * step.d[first + i]) +
                      beta * z[i];
                    step.d[first + i] = update;
                    step.x[first + i] =
                      step.set ? step.weight * update
                               : step.x[first + i] + step.weight * update;
                  }
              }
          });
      }

      static void
      relax(const BlockRows &rows, const RelaxationStep<Number> &step)
      {
        for_block_ranges(
          step.n, [&](const unsigned int begin, const unsigned int end) {
            std::vector<Number> gathered, ordered, r(rows.max_size),
              z(rows.max_size);
            std::vector<unsigned int> columns;
            for (unsigned int l = begin; l < end; ++l)
              {
                const unsigned int  k           = step.list[l];
                const unsigned int  width       = rows.row_width[k];
                const std::uint64_t first       = rows.dof_offset[k];
                const unsigned int  n           = rows.size(k);
                const std::uint64_t first_block = rows.block_offset[k];
                const unsigned int  n_blocks =
                  rows.block_offset[k + 1] - first_block;
                const unsigned int *column = rows.block_column + first_block;
                const Number       *row    = step.values + rows.value_offset[k];
                // Columns are in ascending order, ghosts have the largest
                // indices.
                if (column[n_blocks - 1] >= rows.n)
                  {
                    columns.resize(n_blocks);
                    ordered.resize(std::size_t(n) * width);
                    for (unsigned int m = 0; m < n_blocks; ++m)
                      {
                        const unsigned int b = rows.order[first_block + m];
                        columns[m]           = column[b];
                        const Number *from =
                          row + rows.column_offset[first_block + b];
                        Number *to =
                          ordered.data() + rows.ordered_offset[first_block + m];
                        for (unsigned int i = 0; i < n;
                             ++i, from += width, to += width)
                          std::copy_n(from, rows.size(columns[m]), to);
                      }
                    column = columns.data();
                    row    = ordered.data();
                  }
                gathered.resize(width);
                gather(column,
                       n_blocks,
                       rows.dof_offset,
                       rows.n,
                       step.x,
                       step.ghosts,
                       gathered.data());
                multiply(row, n, width, width, gathered.data(), r.data());
                for (unsigned int i = 0; i < n; ++i)
                  r[i] = step.b[first + i] - r[i];
                multiply(step.inverse + rows.square_offset[k],
                         n,
                         n,
                         n,
                         r.data(),
                         z.data());
                for (unsigned int i = 0; i < n; ++i)
                  step.x[first + i] += z[i];
              }
          });
      }

      static void
      restrict_to(const BlockTransfer<Number> &transfer,
                  const Number                *fine,
                  Number                      *coarse)
      {
        for_blocks(transfer.n_coarse, [&](const unsigned int K) {
          Number            *to = coarse + transfer.coarse_offset[K];
          const unsigned int n_to =
            transfer.coarse_offset[K + 1] - transfer.coarse_offset[K];
          std::fill(to, to + n_to, Number(0));
          const unsigned int n_K = transfer.coarse_size(K);
          const unsigned int begin =
                               transfer.parent ? transfer.child_offset[K] : K,
                             end = transfer.parent
                                     ? transfer.child_offset[K + 1]
                                     : K + 1;
          for (unsigned int e = begin; e < end; ++e)
            {
              const unsigned int k = transfer.parent ? transfer.child[e] : e;
              const unsigned int n = transfer.fine_size(k);
              for (unsigned int c = 0; c < transfer.n_components; ++c)
                {
                  const Number *from =
                    fine + transfer.fine_offset[k] + std::size_t(c) * n;
                  Number *const sums = to + std::size_t(c) * n_K;
                  if (transfer.matrix == nullptr)
                    {
                      for (unsigned int i = 0; i < n_K; ++i)
                        sums[i] += from[i];
                      continue;
                    }
                  const Number *T =
                    transfer.component_matrix(k, c, std::uint64_t(n) * n_K);
                  for (unsigned int i = 0; i < n_K; ++i, T += n)
                    {
                      Number sum = 0;
                      for (unsigned int j = 0; j < n; ++j)
                        sum += T[j] * from[j];
                      sums[i] += sum;
                    }
                }
            }
        });
      }

      static void
      prolongate_add(const BlockTransfer<Number> &transfer,
                     const Number                *coarse,
                     Number                      *fine)
      {
        for_blocks(transfer.n_fine, [&](const unsigned int k) {
          const unsigned int K   = transfer.parent ? transfer.parent[k] : k;
          const unsigned int n_K = transfer.coarse_size(K),
                             n   = transfer.fine_size(k);
          for (unsigned int c = 0; c < transfer.n_components; ++c)
            {
              const Number *from =
                coarse + transfer.coarse_offset[K] + std::size_t(c) * n_K;
              Number *to = fine + transfer.fine_offset[k] + std::size_t(c) * n;
              if (transfer.matrix == nullptr)
                {
                  for (unsigned int i = 0; i < n_K; ++i)
                    to[i] += from[i];
                  continue;
                }
              const Number *T =
                transfer.component_matrix(k, c, std::uint64_t(n) * n_K);
              for (unsigned int i = 0; i < n_K; ++i, T += n)
                for (unsigned int j = 0; j < n; ++j)
                  to[j] += T[j] * from[i];
            }
        });
      }

      static void
      galerkin(const GalerkinPlan           &plan,
               const BlockTransfer<Number>  &transfer,
               const GalerkinValues<Number> &values)
      {
        galerkin(plan, transfer, values.fine, values.coarse);
        if (values.other_fine != nullptr)
          galerkin(plan, transfer, values.other_fine, values.other_coarse);
      }

      static void
      galerkin(const GalerkinPlan          &plan,
               const BlockTransfer<Number> &transfer,
               const Number                *fine_values,
               Number                      *coarse_values)
      {
        const BlockRows   &fine = plan.fine, &coarse = plan.coarse;
        const unsigned int n_components = transfer.n_components;
        for_block_ranges(
          coarse.n, [&](const unsigned int begin, const unsigned int end) {
            std::vector<Number> half(std::size_t(fine.max_size) *
                                     coarse.max_size);
            for (unsigned int K = begin; K < end; ++K)
              for (std::uint64_t B = coarse.block_offset[K];
                   B < coarse.block_offset[K + 1];
                   ++B)
                {
                  const unsigned int L   = coarse.block_column[B];
                  const unsigned int n_K = coarse.size(K), n_L = coarse.size(L);
                  const unsigned int width = coarse.row_width[K];
                  Number *to = coarse_values + coarse.value_offset[K] +
                               coarse.column_offset[B];
                  for (unsigned int i = 0; i < n_K; ++i)
                    std::fill_n(to + std::size_t(i) * width, n_L, Number(0));
                  for (std::uint64_t e = plan.offset[B]; e < plan.offset[B + 1];
                       ++e)
                    {
                      const unsigned int k = plan.row[e], b = plan.block[e],
                                         l   = fine.block_column[b];
                      const unsigned int n_k = fine.size(k), n_l = fine.size(l);
                      const std::size_t  stride = fine.row_width[k];
                      const Number *A = fine_values + fine.value_offset[k] +
                                        fine.column_offset[b];
                      // functions of a component
                      const unsigned int N_K = n_K / n_components,
                                         N_L = n_L / n_components,
                                         N_k = n_k / n_components,
                                         N_l = n_l / n_components;
                      if (transfer.matrix == nullptr)
                        {
                          for (unsigned int i = 0; i < n_K; ++i)
                            for (unsigned int j = 0; j < n_L; ++j)
                              to[std::size_t(i) * width + j] +=
                                A[(i / N_K * N_k + i % N_K) * stride +
                                  j / N_L * N_l + j % N_L];
                          continue;
                        }
                      // half = A T_l^T, then the result is T_k half.
                      for (unsigned int i = 0; i < n_k; ++i)
                        for (unsigned int c = 0; c < n_components; ++c)
                          multiply(transfer.component_matrix(
                                     l, c, std::uint64_t(N_L) * N_l),
                                   N_L,
                                   N_l,
                                   N_l,
                                   A + i * stride + c * N_l,
                                   half.data() + i * n_L + c * N_L);
                      for (unsigned int i = 0; i < n_K; ++i)
                        for (unsigned int m = 0; m < N_k; ++m)
                          {
                            const unsigned int c = i / N_K;
                            const Number factor  = transfer.component_matrix(
                              k,
                              c,
                              std::uint64_t(N_K) * N_k)[i % N_K * N_k + m];
                            const Number *row =
                              half.data() + (c * N_k + m) * std::size_t(n_L);
                            for (unsigned int j = 0; j < n_L; ++j)
                              to[std::size_t(i) * width + j] += factor * row[j];
                          }
                    }
                }
          });
      }

      static void
      dense_product(const unsigned int n_rows,
                    const unsigned int n_columns,
                    const Number      *A,
                    const Number      *x,
                    Number            *y)
      {
        for_blocks(n_rows, [&](const unsigned int i) {
          multiply(
            A + std::size_t(i) * n_columns, 1, n_columns, n_columns, x, y + i);
        });
      }

      static void
      add(const std::size_t n, const Number factor, const Number *x, Number *y)
      {
        for_entries(n, [&](const std::size_t i) { y[i] += factor * x[i]; });
      }

      static void
      scale_add(const std::size_t n, const Number s, const Number *x, Number *y)
      {
        for_entries(n, [&](const std::size_t i) {
          y[i] = x == nullptr ? s * y[i] : s * y[i] + x[i];
        });
      }

      /// @p x and @p w must not be null.
      static void
      combine(const std::size_t n,
              const Number      s,
              const Number      a,
              const Number     *x,
              const Number      b,
              const Number     *w,
              Number           *y)
      {
        for_entries(n, [&](const std::size_t i) {
          const Number sum = a * x[i] + b * w[i];
          y[i]             = s == Number(0) ? sum : sum + s * y[i];
        });
      }

      static void
      set_zero(const std::size_t n, Number *y)
      {
        for_entries(n, [&](const std::size_t i) { y[i] = 0; });
      }

      static void
      copy(const std::size_t n, const Number *from, Number *to)
      {
        for_entries(n, [&](const std::size_t i) { to[i] = from[i]; });
      }

      static void
      download(const std::size_t n, const Number *from, Number *to)
      {
        std::copy_n(from, n, to);
      }

      static ReproducibleSum
      dot(const std::size_t n, const Number *x, const Number *y)
      {
        return host_dot(n, x, y);
      }

    private:
      // first = min(first, k)
      static void
      lower(std::atomic<unsigned int> &first, const unsigned int k)
      {
        unsigned int present = first;
        while (k < present && !first.compare_exchange_weak(present, k))
          ;
      }

      // y = A x or A^T x for a square block.
      static void
      square_product(const unsigned int n,
                     const Number      *a,
                     const bool         transpose,
                     const Number      *x,
                     Number            *y)
      {
        if (!transpose)
          {
            multiply(a, n, n, n, x, y);
            return;
          }
        std::fill(y, y + n, Number(0));
        for (unsigned int i = 0; i < n; ++i)
          for (unsigned int j = 0; j < n; ++j)
            y[j] += a[i * n + j] * x[i];
      }
    };
  } // namespace internal
} // namespace Tessella

#endif
