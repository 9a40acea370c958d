// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "dense.h"

#include <algorithm>
#include <cmath>
#include <vector>

// Functions are compiled for registers of 32 bytes as well. Without fused
// operations, which this instruction set does not contain, the results have the
// same bits.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#  define TESSELLA_WIDE __attribute__((target_clones("avx2", "default")))
#else
#  define TESSELLA_WIDE
#endif

namespace Tessella
{
  namespace internal
  {
    namespace Dense
    {
      namespace
      {
        // Dot product, summed in a fixed order that suits vector registers of
        // any width.
        double
        dot(const unsigned int n, const double *a, const double *b)
        {
          double             s[8] = {};
          const unsigned int m    = n / 8 * 8;
          for (unsigned int k = 0; k < m; k += 8)
            for (unsigned int l = 0; l < 8; ++l)
              s[l] += a[k + l] * b[k + l];
          double sum =
            ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
          for (unsigned int k = m; k < n; ++k)
            sum += a[k] * b[k];
          return sum;
        }
      } // namespace



      TESSELLA_WIDE unsigned int
      cholesky(const unsigned int n, double *A, const unsigned int stride)
      {
        std::vector<double> reciprocal(n);
        for (unsigned int i = 0; i < n; ++i)
          {
            double *const row = A + std::size_t(i) * stride;
            for (unsigned int j = 0; j < i; ++j)
              row[j] = (row[j] - dot(j, row, A + std::size_t(j) * stride)) *
                       reciprocal[j];
            const double diagonal = row[i];
            const double pivot    = diagonal - dot(i, row, row);
            if (!(pivot > 1e-13 * diagonal))
              return i;
            row[i]        = std::sqrt(pivot);
            reciprocal[i] = 1. / row[i];
          }
        return n;
      }



      TESSELLA_WIDE void
      invert_lower(const unsigned int n,
                   const double      *L,
                   const unsigned int stride,
                   double            *inverse,
                   const unsigned int inverse_stride)
      {
        for (unsigned int i = 0; i < n; ++i)
          {
            double *const       row = inverse + std::size_t(i) * inverse_stride;
            const double *const l   = L + std::size_t(i) * stride;
            std::fill(row, row + n, 0.);
            const double reciprocal = 1. / l[i];
            for (unsigned int k = 0; k < i; ++k)
              {
                const double        factor = -l[k] * reciprocal;
                const double *const other =
                  inverse + std::size_t(k) * inverse_stride;
                for (unsigned int j = 0; j <= k; ++j)
                  row[j] += factor * other[j];
              }
            row[i] = reciprocal;
          }
      }



      TESSELLA_WIDE void
      multiply_lower(const unsigned int n,
                     const double      *C,
                     const unsigned int stride,
                     const double      *in,
                     const unsigned int length,
                     double            *out)
      {
        // Each piece of the rows stays in the cache for all i.
        constexpr unsigned int piece = 256;
        for (unsigned int begin = 0; begin < length; begin += piece)
          {
            const unsigned int m = std::min(piece, length - begin);
            for (unsigned int i = 0; i < n; ++i)
              {
                double *const       row = out + std::size_t(i) * length + begin;
                const double *const c   = C + std::size_t(i) * stride;
                const auto          input = [&](const unsigned int j) {
                  return in + std::size_t(j) * length + begin;
                };
                std::fill(row, row + m, 0.);
                unsigned int j = 0;
                for (; j + 4 <= i + 1; j += 4)
                  {
                    const double *const a0 = input(j), *const a1 = input(j + 1),
                                        *const a2 = input(j + 2),
                                        *const a3 = input(j + 3);
                    for (unsigned int q = 0; q < m; ++q)
                      row[q] += (c[j] * a0[q] + c[j + 1] * a1[q]) +
                                (c[j + 2] * a2[q] + c[j + 3] * a3[q]);
                  }
                for (; j <= i; ++j)
                  {
                    const double *const a = input(j);
                    for (unsigned int q = 0; q < m; ++q)
                      row[q] += c[j] * a[q];
                  }
              }
          }
      }



      namespace
      {
        // row_j += sum of four factors times the entries of consecutive rows,
        // for begin <= j < end; the last of these rows may be missing.
        inline __attribute__((always_inline)) void
        add_rows(const unsigned int begin,
                 const unsigned int end,
                 const unsigned int n_rows,
                 const double (&factor)[4],
                 const double     *rows,
                 const std::size_t stride,
                 double *__restrict__ row)
        {
          const double *const r1 = rows + stride, *const r2 = r1 + stride,
                              *const r3 = r2 + stride;
          if (n_rows == 4)
            {
              for (unsigned int j = begin; j < end; ++j)
                row[j] += (factor[0] * rows[j] + factor[1] * r1[j]) +
                          (factor[2] * r2[j] + factor[3] * r3[j]);
              return;
            }
          for (unsigned int k = 0; k < n_rows; ++k)
            for (unsigned int j = begin; j < end; ++j)
              row[j] += factor[k] * rows[k * stride + j];
        }
      } // namespace



      TESSELLA_WIDE bool
      invert_positive(const unsigned int n, double *A)
      {
        const std::size_t stride = n;
        const auto        row    = [&](double *const M, const unsigned int i) {
          return M + i * stride;
        };
        // ---- A = U^T U in the upper triangle, by blocks of four rows
        std::vector<double> diagonal(n), inverse(stride * n, 0.);
        double *const       X = inverse.data();
        for (unsigned int i = 0; i < n; ++i)
          diagonal[i] = row(A, i)[i];
        double factor[4] = {};
        for (unsigned int k = 0; k < n; k += 4)
          {
            const unsigned int m = std::min(4u, n - k);
            for (unsigned int i = k; i < n; ++i)
              {
                // Rows of the block are updated by those before them.
                const unsigned int n_rows = std::min(m, i - k);
                for (unsigned int l = 0; l < n_rows; ++l)
                  factor[l] = -row(A, k + l)[i];
                add_rows(i, n, n_rows, factor, row(A, k), stride, row(A, i));
                if (i >= k + m)
                  continue;
                const double pivot = row(A, i)[i];
                if (!(pivot > 1e-13 * diagonal[i]))
                  return false;
                const double reciprocal = 1. / std::sqrt(pivot);
                for (unsigned int j = i; j < n; ++j)
                  row(A, i)[j] *= reciprocal;
              }
          }
        // ---- X = U^{-T}, lower triangular
        for (unsigned int i = 0; i < n; ++i)
          {
            const double reciprocal = 1. / row(A, i)[i];
            for (unsigned int k = 0; k < i; k += 4)
              {
                const unsigned int n_rows = std::min(4u, i - k);
                for (unsigned int l = 0; l < n_rows; ++l)
                  factor[l] = -row(A, k + l)[i] * reciprocal;
                add_rows(
                  0, k + n_rows, n_rows, factor, row(X, k), stride, row(X, i));
              }
            row(X, i)[i] = reciprocal;
          }
        // ---- X^T X
        for (unsigned int i = 0; i < n; ++i)
          {
            std::fill(row(A, i), row(A, i) + i + 1, 0.);
            for (unsigned int k = i; k < n; k += 4)
              {
                const unsigned int n_rows = std::min(4u, n - k);
                for (unsigned int l = 0; l < n_rows; ++l)
                  factor[l] = row(X, k + l)[i];
                add_rows(
                  0, i + 1, n_rows, factor, row(X, k), stride, row(A, i));
              }
          }
        for (unsigned int i = 0; i < n; ++i)
          for (unsigned int j = i + 1; j < n; ++j)
            row(A, i)[j] = row(A, j)[i];
        return true;
      }



      TESSELLA_WIDE bool
      invert(const unsigned int n, double *A, const unsigned int stride)
      {
        double largest = 0.;
        for (unsigned int i = 0; i < n; ++i)
          for (unsigned int j = 0; j < n; ++j)
            largest =
              std::max(largest, std::abs(A[std::size_t(i) * stride + j]));
        std::vector<unsigned int> exchanged(n);
        for (unsigned int k = 0; k < n; ++k)
          {
            unsigned int p = k;
            for (unsigned int i = k + 1; i < n; ++i)
              if (std::abs(A[std::size_t(i) * stride + k]) >
                  std::abs(A[std::size_t(p) * stride + k]))
                p = i;
            exchanged[k]      = p;
            double *const row = A + std::size_t(k) * stride;
            if (p != k)
              std::swap_ranges(row, row + n, A + std::size_t(p) * stride);
            if (!(std::abs(row[k]) > 1e-13 * largest))
              return false;
            const double reciprocal = 1. / row[k];
            row[k]                  = 1.;
            for (unsigned int j = 0; j < n; ++j)
              row[j] *= reciprocal;
            for (unsigned int i = 0; i < n; ++i)
              if (i != k)
                {
                  double *const other  = A + std::size_t(i) * stride;
                  const double  factor = other[k];
                  other[k]             = 0.;
                  for (unsigned int j = 0; j < n; ++j)
                    other[j] -= factor * row[j];
                }
          }
        for (unsigned int k = n; k-- > 0;)
          if (exchanged[k] != k)
            for (unsigned int i = 0; i < n; ++i)
              std::swap(A[std::size_t(i) * stride + k],
                        A[std::size_t(i) * stride + exchanged[k]]);
        return true;
      }



      void
      mirror(const unsigned int n, double *A, const unsigned int stride)
      {
        for (unsigned int i = 1; i < n; ++i)
          for (unsigned int j = 0; j < i; ++j)
            A[std::size_t(i) * stride + j] = A[std::size_t(j) * stride + i];
      }



      void
      transpose(const unsigned int n,
                const unsigned int m,
                const double      *A,
                const unsigned int stride,
                double            *B,
                const unsigned int transposed_stride)
      {
        for (unsigned int j = 0; j < m; ++j)
          for (unsigned int i = 0; i < n; ++i)
            B[std::size_t(j) * transposed_stride + i] =
              A[std::size_t(i) * stride + j];
      }
    } // namespace Dense
  }   // namespace internal
} // namespace Tessella
#undef TESSELLA_WIDE
