// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_lac_block_reference_h
#define tessella_tests_lac_block_reference_h

#include <deal.II/base/exceptions.h>

#include <deal.II/lac/full_matrix.h>
#include <deal.II/lac/vector.h>

#include <tessella/lac/host_block_matrix.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

// Block matrices with given couplings, and dense references for their
// preconditioners.

namespace BlockReference
{
  using dealii::FullMatrix;
  using dealii::Vector;

  /// Number between -1 and 1 that depends on @p i.
  inline double
  some_number(const unsigned int i)
  {
    const double x = std::sin(12.9898 * (i + 1)) * 43758.5453;
    return 2. * (x - std::floor(x)) - 1.;
  }

  /// Matrix with blocks of several sizes on a grid of n x n polytopes, coupled
  /// to their neighbours; @p diagonals: also along one diagonal, so that three
  /// polytopes are coupled with each other. Not symmetric, dominated by its
  /// diagonal blocks.
  template <typename MatrixType>
  void
  make_matrix(const unsigned int               n,
              const std::vector<unsigned int> &sizes,
              const bool                       diagonals,
              MatrixType                      &matrix,
              const int                        singular = -1)
  {
    using Number = typename MatrixType::value_type;
    Tessella::BlockSparsity    sparsity;
    std::vector<std::uint64_t> offset(1, 0);
    const unsigned int         n_blocks = n * n;
    for (unsigned int k = 0; k < n_blocks; ++k)
      offset.push_back(offset.back() + sizes[k % sizes.size()]);
    sparsity.block_offset.assign(1, 0);
    sparsity.value_offset.assign(1, 0);
    std::vector<Number> values;
    for (unsigned int k = 0; k < n_blocks; ++k)
      {
        const unsigned int     i = k % n, j = k / n;
        std::set<unsigned int> columns{k};
        if (i > 0)
          columns.insert(k - 1);
        if (i + 1 < n)
          columns.insert(k + 1);
        if (j > 0)
          columns.insert(k - n);
        if (j + 1 < n)
          columns.insert(k + n);
        if (diagonals && i > 0 && j > 0)
          columns.insert(k - n - 1);
        if (diagonals && i + 1 < n && j + 1 < n)
          columns.insert(k + n + 1);
        unsigned int width = 0;
        for (const unsigned int l : columns)
          {
            sparsity.block_column.push_back(l);
            sparsity.column_offset.push_back(width);
            width += offset[l + 1] - offset[l];
          }
        const unsigned int size = offset[k + 1] - offset[k];
        for (unsigned int r = 0; r < size; ++r)
          for (const unsigned int l : columns)
            for (unsigned int c = 0; c < offset[l + 1] - offset[l]; ++c)
              {
                double value = some_number(values.size() % 10007);
                // The neighbour behind has more weight, as with advection.
                value *= l < k ? 1.5 : l > k ? 0.5 : 0.2;
                if (l == k && r == c)
                  value += 3. * size;
                if (l == k && int(k) == singular)
                  value = r + 1.;
                values.push_back(static_cast<Number>(value));
              }
        sparsity.block_offset.push_back(sparsity.block_column.size());
        sparsity.row_width.push_back(width);
        sparsity.value_offset.push_back(values.size());
      }
    matrix.reinit(sparsity, offset);
    matrix.copy_from(values);
  }

  template <typename MatrixType>
  FullMatrix<double>
  dense(const MatrixType &matrix)
  {
    using Number                 = typename MatrixType::value_type;
    const auto         &sparsity = matrix.block_sparsity();
    const auto         &offset   = matrix.dof_offset();
    std::vector<Number> values;
    matrix.copy_to(values);
    FullMatrix<double> result(matrix.m(), matrix.m());
    for (unsigned int k = 0; k < sparsity.row_width.size(); ++k)
      for (auto b = sparsity.block_offset[k]; b < sparsity.block_offset[k + 1];
           ++b)
        {
          const unsigned int l = sparsity.block_column[b];
          for (unsigned int i = 0; i < offset[k + 1] - offset[k]; ++i)
            for (unsigned int j = 0; j < offset[l + 1] - offset[l]; ++j)
              result(offset[k] + i, offset[l] + j) =
                values[sparsity.value_offset[k] +
                       std::uint64_t(i) * sparsity.row_width[k] +
                       sparsity.column_offset[b] + j];
        }
    return result;
  }

  /// Greedy colours in the order of the block rows.
  template <typename MatrixType>
  std::vector<unsigned int>
  colors(const MatrixType &matrix)
  {
    const auto               &sparsity = matrix.block_sparsity();
    const unsigned int        n        = sparsity.row_width.size();
    std::vector<unsigned int> color(n, n);
    for (unsigned int k = 0; k < n; ++k)
      {
        std::set<unsigned int> used;
        for (auto b = sparsity.block_offset[k];
             b < sparsity.block_offset[k + 1];
             ++b)
          used.insert(color[sparsity.block_column[b]]);
        color[k] = 0;
        while (used.count(color[k]) > 0)
          ++color[k];
      }
    return color;
  }

  /// Block row of each row.
  template <typename MatrixType>
  std::vector<unsigned int>
  block_of_row(const MatrixType &matrix)
  {
    std::vector<unsigned int> result;
    const auto               &offset = matrix.dof_offset();
    for (unsigned int k = 0; k + 1 < offset.size(); ++k)
      result.insert(result.end(), offset[k + 1] - offset[k], k);
    return result;
  }

  /// (D + L) D^{-1} (D + U), where @p order has the position of each block row:
  /// L couples rows to those with lower positions.
  inline FullMatrix<double>
  product_of_factors(const FullMatrix<double>        &A,
                     const std::vector<unsigned int> &block,
                     const std::vector<unsigned int> &order)
  {
    const unsigned int n = A.m();
    FullMatrix<double> lower(n, n), upper(n, n), D(n, n), half(n, n),
      result(n, n);
    for (unsigned int i = 0; i < n; ++i)
      for (unsigned int j = 0; j < n; ++j)
        {
          const unsigned int p = order[block[i]], q = order[block[j]];
          if (block[i] == block[j])
            D(i, j) = lower(i, j) = upper(i, j) = A(i, j);
          else if (q < p)
            lower(i, j) = A(i, j);
          else if (q > p)
            upper(i, j) = A(i, j);
        }
    D.gauss_jordan();
    lower.mmult(half, D);
    half.mmult(result, upper);
    return result;
  }

  /// Blocks of the incomplete factorisation of @p A, a permutation of the
  /// textbook algorithm: for all k and all m before k, A_km = A_km A_mm^{-1},
  /// then A_kj -= omega A_km A_mj for all j after m with a block (k, j). The
  /// blocks of L are multiplied by the pivots in the end.
  inline FullMatrix<double>
  incomplete_factors(const FullMatrix<double>        &A,
                     const std::vector<unsigned int> &block,
                     const std::vector<unsigned int> &order,
                     const double                     omega = 1.)
  {
    const unsigned int        n_blocks = order.size();
    std::vector<unsigned int> list(n_blocks), first(n_blocks + 1, 0);
    for (unsigned int k = 0; k < n_blocks; ++k)
      list[k] = k;
    std::stable_sort(list.begin(), list.end(), [&](auto a, auto b) {
      return order[a] < order[b];
    });
    for (const unsigned int k : block)
      ++first[k + 1];
    for (unsigned int k = 0; k < n_blocks; ++k)
      first[k + 1] += first[k];
    FullMatrix<double> F(A);
    const auto         get = [&](const unsigned int k, const unsigned int l) {
      FullMatrix<double> B(first[k + 1] - first[k], first[l + 1] - first[l]);
      for (unsigned int i = 0; i < B.m(); ++i)
        for (unsigned int j = 0; j < B.n(); ++j)
          B(i, j) = F(first[k] + i, first[l] + j);
      return B;
    };
    const auto exists = [&](const unsigned int k, const unsigned int l) {
      for (unsigned int i = first[k]; i < first[k + 1]; ++i)
        for (unsigned int j = first[l]; j < first[l + 1]; ++j)
          if (A(i, j) != 0.)
            return true;
      return false;
    };
    for (unsigned int p = 0; p < n_blocks; ++p)
      for (unsigned int q = 0; q < p; ++q)
        {
          const unsigned int k = list[p], m = list[q];
          if (!exists(k, m))
            continue;
          FullMatrix<double> pivot = get(m, m), e = get(k, m),
                             factor(e.m(), e.n());
          pivot.gauss_jordan();
          e.mmult(factor, pivot);
          for (unsigned int s = q + 1; s < n_blocks; ++s)
            {
              const unsigned int j = list[s];
              if (!exists(k, j) || !exists(m, j))
                continue;
              FullMatrix<double> u = get(m, j), product(e.m(), u.n());
              factor.mmult(product, u);
              for (unsigned int r = 0; r < product.m(); ++r)
                for (unsigned int c = 0; c < product.n(); ++c)
                  F(first[k] + r, first[j] + c) -= omega * product(r, c);
            }
        }
    return F;
  }
} // namespace BlockReference

#endif
