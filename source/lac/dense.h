// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_lac_dense_h
#define tessella_source_lac_dense_h

// Factorisations of small dense matrices (20 to 700 rows), each by one thread.
// Matrices are stored row by row: row i begins at A + i * stride.

namespace Tessella
{
  namespace internal
  {
    namespace Dense
    {
      /**
       * Cholesky factor of a symmetric positive definite matrix, whose lower
       * triangle is read and overwritten. Returns n, or the first row whose
       * pivot is below 1e-13 of its diagonal entry. Such a matrix is singular
       * up to rounding, or indefinite.
       */
      unsigned int
      cholesky(const unsigned int n, double *A, const unsigned int stride);

      /// Inverse of a lower triangular matrix (the upper triangle is not read);
      /// the upper triangle of the result is zero.
      void
      invert_lower(const unsigned int n,
                   const double      *L,
                   const unsigned int stride,
                   double            *inverse,
                   const unsigned int inverse_stride);

      /// out_i = sum over j <= i of C_ij in_j for rows of the given length.
      void
      multiply_lower(const unsigned int n,
                     const double      *C,
                     const unsigned int stride,
                     const double      *in,
                     const unsigned int length,
                     double            *out);

      /**
       * Inverse in place of a symmetric positive definite matrix with rows of
       * @p n entries, for up to some hundred rows. Returns false if a pivot is
       * below 1e-13 of its diagonal entry; the matrix is then destroyed.
       */
      bool
      invert_positive(const unsigned int n, double *A);

      /// Inverse in place by Gauss-Jordan elimination with row pivoting.
      /// Returns false if a pivot is below 1e-13 of the largest entry.
      bool
      invert(const unsigned int n, double *A, const unsigned int stride);

      /// Copies the upper triangle of a symmetric matrix to the lower one.
      void
      mirror(const unsigned int n, double *A, const unsigned int stride);

      /// B = A^T; A has n rows of m entries.
      void
      transpose(const unsigned int n,
                const unsigned int m,
                const double      *A,
                const unsigned int stride,
                double            *B,
                const unsigned int transposed_stride);
    } // namespace Dense
  }   // namespace internal
} // namespace Tessella

#endif
