// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "host_blocks.h"

#include <atomic>
#include <cmath>
#include <vector>

#include "reproducible_sum.h"

namespace Tessella
{
  namespace internal
  {
    namespace
    {
      // Inverts a matrix in place with row pivoting; returns false if it is
      // singular. Pivots below the rounding error of the largest entry of the
      // block count as zero. All matrices are inverted in double precision,
      // since blocks of high degree are singular in single precision although
      // the rounded inverses are accurate.
      bool
      invert(const unsigned int n, double *a, std::vector<unsigned int> &swaps)
      {
        swaps.resize(n);
        double largest = 0;
        for (unsigned int i = 0; i < n * n; ++i)
          largest = std::max(largest, std::abs(a[i]));
        const double least =
          n * std::numeric_limits<double>::epsilon() * largest;
        if (!std::isfinite(largest) || largest == 0)
          return n == 0;
        for (unsigned int k = 0; k < n; ++k)
          {
            unsigned int pivot = k;
            for (unsigned int i = k + 1; i < n; ++i)
              if (std::abs(a[i * n + k]) > std::abs(a[pivot * n + k]))
                pivot = i;
            swaps[k] = pivot;
            if (!(std::abs(a[pivot * n + k]) > least))
              return false;
            if (pivot != k)
              std::swap_ranges(a + k * n, a + (k + 1) * n, a + pivot * n);
            const double scale = double(1) / a[k * n + k];
            a[k * n + k]       = 1;
            for (unsigned int j = 0; j < n; ++j)
              a[k * n + j] *= scale;
            for (unsigned int i = 0; i < n; ++i)
              if (i != k)
                {
                  const double factor = a[i * n + k];
                  a[i * n + k]        = 0;
                  for (unsigned int j = 0; j < n; ++j)
                    a[i * n + j] -= factor * a[k * n + j];
                }
          }
        for (unsigned int k = n; k-- > 0;)
          if (swaps[k] != k)
            for (unsigned int i = 0; i < n; ++i)
              std::swap(a[i * n + k], a[i * n + swaps[k]]);
        return true;
      }

      // first = min(first, k)
      void
      lower(std::atomic<unsigned int> &first, const unsigned int k)
      {
        unsigned int present = first;
        while (k < present && !first.compare_exchange_weak(present, k))
          ;
      }

      inline unsigned int
      size(const BlockRows &rows, const unsigned int k)
      {
        return static_cast<unsigned int>(rows.dof_offset[k + 1] -
                                         rows.dof_offset[k]);
      }

      // y = A x or A^T x for a square block.
      template <typename Number>
      inline void
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
    } // namespace



    template <typename Number>
    unsigned int
    HostBlocks<Number>::invert_diagonal(const BlockRows &rows,
                                        const Number    *values,
                                        Number          *inverse)
    {
      std::atomic<unsigned int> first(rows.n);
      for_block_ranges(rows.n,
                       [&](const unsigned int begin, const unsigned int end) {
                         std::vector<unsigned int> swaps;
                         std::vector<double>       block;
                         for (unsigned int k = begin; k < end; ++k)
                           {
                             const unsigned int n = size(rows, k);
                             const Number      *from =
                               values + rows.value_offset[k] + rows.diagonal[k];
                             block.resize(std::size_t(n) * n);
                             for (unsigned int i = 0; i < n; ++i)
                               std::copy_n(from +
                                             std::size_t(i) * rows.row_width[k],
                                           n,
                                           block.data() + i * n);
                             const bool good = invert(n, block.data(), swaps);
                             std::copy(block.begin(),
                                       block.end(),
                                       inverse + rows.square_offset[k]);
                             if (!good)
                               lower(first, k);
                           }
                       });
      return first;
    }



    template <typename Number>
    unsigned int
    HostBlocks<Number>::orthonormalise(const BlockRows &rows,
                                       const double    *values,
                                       double          *W)
    {
      std::atomic<unsigned int> first(rows.n);
      for_block_ranges(
        rows.n, [&](const unsigned int begin, const unsigned int end) {
          std::vector<double> a, pivots;
          for (unsigned int k = begin; k < end; ++k)
            {
              const unsigned int  n     = size(rows, k);
              const std::size_t   width = rows.row_width[k];
              const double *const from =
                values + rows.value_offset[k] + rows.diagonal[k];
              double *const to   = W + rows.square_offset[k];
              bool          good = true;
              // Elimination: a holds the remaining matrix from the diagonal on
              // and, below the diagonal, the unit lower triangular M with
              // M D M^T = diag(pivots) for the diagonal block D.
              a.resize(std::size_t(n) * n);
              pivots.resize(n);
              for (unsigned int i = 0; i < n; ++i)
                for (unsigned int j = 0; j < n; ++j)
                  a[i * n + j] =
                    0.5 * (from[i * width + j] + from[j * width + i]);
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



    template <typename Number>
    void
    HostBlocks<Number>::change_basis(const BlockRows     &rows,
                                     const std::uint64_t *place,
                                     const double        *W,
                                     const double        *values,
                                     Number              *to)
    {
      for_block_ranges(
        rows.n, [&](const unsigned int begin, const unsigned int end) {
          std::vector<double> half, sums;
          for (unsigned int k = begin; k < end; ++k)
            {
              const unsigned int  n     = size(rows, k);
              const unsigned int  width = rows.row_width[k];
              const double *const W_k   = W + place[k];
              const double       *from  = values + rows.value_offset[k];
              Number *const       row   = to + rows.value_offset[k];
              half.resize(std::size_t(n) * width);
              sums.resize(width);
              for (std::uint64_t b = rows.block_offset[k];
                   b < rows.block_offset[k + 1];
                   ++b)
                {
                  const unsigned int  l     = rows.block_column[b];
                  const unsigned int  n_l   = size(rows, l);
                  const std::size_t   start = rows.column_offset[b];
                  const double *const W_l   = W + place[l];
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



    template <typename Number>
    void
    HostBlocks<Number>::change_basis_of_injection(
      const BlockRows     &rows,
      const std::uint64_t *place,
      const double        *W,
      const unsigned int   n_polytopes,
      const std::uint64_t *fine_offset,
      const std::uint64_t *matrix_offset,
      Number              *matrix)
    {
      for_blocks(n_polytopes, [&](const unsigned int k) {
        const double *const W_k    = W + place[k];
        const unsigned int  stride = size(rows, k);
        const unsigned int  n      = fine_offset[k + 1] - fine_offset[k];
        std::vector<double> x(n);
        for (std::uint64_t begin = matrix_offset[k];
             n > 0 && begin < matrix_offset[k + 1];
             begin += n)
          {
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



    template <typename Number>
    void
    HostBlocks<Number>::apply_diagonal(const BlockRows &rows,
                                       const Number    *inverse,
                                       const bool       transpose,
                                       const Number    *x,
                                       Number          *y)
    {
      for_blocks(rows.n, [&](const unsigned int k) {
        square_product(size(rows, k),
                       inverse + rows.square_offset[k],
                       transpose,
                       x + rows.dof_offset[k],
                       y + rows.dof_offset[k]);
      });
    }



    template <typename Number>
    void
    HostBlocks<Number>::polynomial_step(const BlockRows &rows,
                                        const Number    *inverse,
                                        const bool       transpose,
                                        const Number     alpha,
                                        const Number     beta,
                                        const Number     weight,
                                        const Number    *r,
                                        Number          *d,
                                        Number          *x,
                                        const bool       set)
    {
      for_block_ranges(
        rows.n, [&](const unsigned int begin, const unsigned int end) {
          std::vector<Number> z(rows.max_size);
          for (unsigned int k = begin; k < end; ++k)
            {
              const std::uint64_t first = rows.dof_offset[k];
              const unsigned int  n     = size(rows, k);
              square_product(n,
                             inverse + rows.square_offset[k],
                             transpose,
                             r + first,
                             z.data());
              for (unsigned int i = 0; i < n; ++i)
                {
                  const Number step =
                    (alpha == 0 ? Number(0) : alpha * d[first + i]) +
                    beta * z[i];
                  d[first + i] = step;
                  x[first + i] =
                    set ? weight * step : x[first + i] + weight * step;
                }
            }
        });
    }



    template <typename Number>
    void
    HostBlocks<Number>::relax(const BlockRows    &rows,
                              const Number       *values,
                              const Number       *inverse,
                              const unsigned int *list,
                              const unsigned int  n_list,
                              const Number       *b,
                              const Number       *ghosts,
                              Number             *x)
    {
      for_block_ranges(
        n_list, [&](const unsigned int begin, const unsigned int end) {
          std::vector<Number> gathered, ordered, r(rows.max_size),
            z(rows.max_size);
          std::vector<unsigned int> columns;
          for (unsigned int l = begin; l < end; ++l)
            {
              const unsigned int  k           = list[l];
              const unsigned int  width       = rows.row_width[k];
              const std::uint64_t first       = rows.dof_offset[k];
              const unsigned int  n           = size(rows, k);
              const std::uint64_t first_block = rows.block_offset[k];
              const unsigned int  n_blocks =
                rows.block_offset[k + 1] - first_block;
              const unsigned int *column = rows.block_column + first_block;
              const Number       *row    = values + rows.value_offset[k];
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
                        std::copy_n(from, size(rows, columns[m]), to);
                    }
                  column = columns.data();
                  row    = ordered.data();
                }
              gathered.resize(width);
              gather(column,
                     n_blocks,
                     rows.dof_offset,
                     rows.n,
                     x,
                     ghosts,
                     gathered.data());
              multiply(row, n, width, width, gathered.data(), r.data());
              for (unsigned int i = 0; i < n; ++i)
                r[i] = b[first + i] - r[i];
              multiply(
                inverse + rows.square_offset[k], n, n, n, r.data(), z.data());
              for (unsigned int i = 0; i < n; ++i)
                x[first + i] += z[i];
            }
        });
    }



    template <typename Number>
    void
    HostBlocks<Number>::restrict_to(const BlockTransfer<Number> &transfer,
                                    const Number                *fine,
                                    Number                      *coarse)
    {
      for_blocks(transfer.n_coarse, [&](const unsigned int K) {
        Number            *to = coarse + transfer.coarse_offset[K];
        const unsigned int n_to =
          transfer.coarse_offset[K + 1] - transfer.coarse_offset[K];
        std::fill(to, to + n_to, Number(0));
        const unsigned int begin =
                             transfer.parent ? transfer.child_offset[K] : K,
                           end = transfer.parent ? transfer.child_offset[K + 1]
                                                 : K + 1;
        for (unsigned int c = begin; c < end; ++c)
          {
            const unsigned int k    = transfer.parent ? transfer.child[c] : c;
            const Number      *from = fine + transfer.fine_offset[k];
            const unsigned int n =
              transfer.fine_offset[k + 1] - transfer.fine_offset[k];
            if (transfer.matrix == nullptr)
              for (unsigned int i = 0; i < n_to; ++i)
                to[i] += from[i];
            else
              {
                const Number *T = transfer.matrix + transfer.matrix_offset[k];
                for (unsigned int i = 0; i < n_to; ++i, T += n)
                  {
                    Number sum = 0;
                    for (unsigned int j = 0; j < n; ++j)
                      sum += T[j] * from[j];
                    to[i] += sum;
                  }
              }
          }
      });
    }



    template <typename Number>
    void
    HostBlocks<Number>::prolongate_add(const BlockTransfer<Number> &transfer,
                                       const Number                *coarse,
                                       Number                      *fine)
    {
      for_blocks(transfer.n_fine, [&](const unsigned int k) {
        const unsigned int K    = transfer.parent ? transfer.parent[k] : k;
        const Number      *from = coarse + transfer.coarse_offset[K];
        Number            *to   = fine + transfer.fine_offset[k];
        const unsigned int n_from =
          transfer.coarse_offset[K + 1] - transfer.coarse_offset[K];
        const unsigned int n =
          transfer.fine_offset[k + 1] - transfer.fine_offset[k];
        if (transfer.matrix == nullptr)
          for (unsigned int i = 0; i < n_from; ++i)
            to[i] += from[i];
        else
          {
            const Number *T = transfer.matrix + transfer.matrix_offset[k];
            for (unsigned int i = 0; i < n_from; ++i, T += n)
              for (unsigned int j = 0; j < n; ++j)
                to[j] += T[j] * from[i];
          }
      });
    }



    template <typename Number>
    void
    HostBlocks<Number>::galerkin(const BlockRows             &fine,
                                 const BlockRows             &coarse,
                                 const BlockTransfer<Number> &transfer,
                                 const GalerkinPlan          &plan,
                                 const Number                *fine_values,
                                 Number                      *coarse_values)
    {
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
                const unsigned int n_K = size(coarse, K), n_L = size(coarse, L);
                const unsigned int width = coarse.row_width[K];
                Number            *to = coarse_values + coarse.value_offset[K] +
                             coarse.column_offset[B];
                for (unsigned int i = 0; i < n_K; ++i)
                  std::fill_n(to + std::size_t(i) * width, n_L, Number(0));
                for (std::uint64_t e = plan.offset[B]; e < plan.offset[B + 1];
                     ++e)
                  {
                    const unsigned int k = plan.row[e], b = plan.block[e],
                                       l   = fine.block_column[b];
                    const unsigned int n_k = size(fine, k), n_l = size(fine, l);
                    const std::size_t  stride = fine.row_width[k];
                    const Number      *A = fine_values + fine.value_offset[k] +
                                      fine.column_offset[b];
                    if (transfer.matrix == nullptr)
                      {
                        for (unsigned int i = 0; i < n_K; ++i)
                          for (unsigned int j = 0; j < n_L; ++j)
                            to[std::size_t(i) * width + j] += A[i * stride + j];
                        continue;
                      }
                    // half = A T_l^T, then the result is T_k half.
                    const Number *T_k =
                                   transfer.matrix + transfer.matrix_offset[k],
                                 *T_l =
                                   transfer.matrix + transfer.matrix_offset[l];
                    for (unsigned int i = 0; i < n_k; ++i)
                      multiply(T_l,
                               n_L,
                               n_l,
                               n_l,
                               A + i * stride,
                               half.data() + i * n_L);
                    for (unsigned int i = 0; i < n_K; ++i)
                      for (unsigned int m = 0; m < n_k; ++m)
                        {
                          const Number factor = T_k[i * n_k + m];
                          for (unsigned int j = 0; j < n_L; ++j)
                            to[std::size_t(i) * width + j] +=
                              factor * half[m * n_L + j];
                        }
                  }
              }
        });
    }



    template <typename Number>
    void
    HostBlocks<Number>::dense_product(const unsigned int n_rows,
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



    template <typename Number>
    void
    HostBlocks<Number>::add(const std::size_t n,
                            const Number      factor,
                            const Number     *x,
                            Number           *y)
    {
      for_entries(n, [&](const std::size_t i) { y[i] += factor * x[i]; });
    }



    template <typename Number>
    void
    HostBlocks<Number>::scale_add(const std::size_t n,
                                  const Number      s,
                                  const Number     *x,
                                  Number           *y)
    {
      for_entries(n, [&](const std::size_t i) {
        y[i] = x == nullptr ? s * y[i] : s * y[i] + x[i];
      });
    }



    template <typename Number>
    void
    HostBlocks<Number>::set_zero(const std::size_t n, Number *y)
    {
      for_entries(n, [&](const std::size_t i) { y[i] = 0; });
    }



    template <typename Number>
    void
    HostBlocks<Number>::copy(const std::size_t n,
                             const Number     *from,
                             Number           *to)
    {
      for_entries(n, [&](const std::size_t i) { to[i] = from[i]; });
    }



    template <typename Number>
    void
    HostBlocks<Number>::download(const std::size_t n,
                                 const Number     *from,
                                 Number           *to)
    {
      std::copy_n(from, n, to);
    }



    template <typename Number>
    ReproducibleSum
    HostBlocks<Number>::dot(const std::size_t n,
                            const Number     *x,
                            const Number     *y)
    {
      return host_dot(n, x, y);
    }



    template struct HostBlocks<double>;
    template struct HostBlocks<float>;
  } // namespace internal
} // namespace Tessella
