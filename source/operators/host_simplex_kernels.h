// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_operators_host_simplex_kernels_h
#define tessella_source_operators_host_simplex_kernels_h

// Interface of the SIMD kernels of HostSimplexProduct. As those in
// host_kernels.h, each translation unit is compiled for one instruction set,
// and this header and the kernels use plain types and no library.

namespace Tessella
{
  namespace internal
  {
    /**
     * The kernels compute the same for `lanes` simplices at once, a batch; a
     * vector has one number of each. Every array has one vector after the
     * other. Lanes do not depend on each other, so that results do not depend
     * on the batch in which a simplex is.
     */
    namespace HostSimplexKernels
    {
      constexpr unsigned int max_lanes = 8;

      /// Constant matrix in tiles of 8 rows, column by column in each, and at
      /// the end a tile of 4, 2 and 1 rows where n_rows is no multiple of 8.
      struct Matrix
      {
        const double *values;
        unsigned int  n_rows, n_columns;
      };

      /// The operator of SimplexData on the nodes of SimplexReference, which
      /// explain the terms. evaluate() and integrate() read dim, degree, n and
      /// nodes only.
      struct Operator
      {
        unsigned int          dim, degree;
        unsigned int          n, n_face, n_lower, n_face_lower;
        const double         *nodes;
        const unsigned short *frame;
        /// Derivatives, one below the other, and their transposes, one beside
        /// the other; moments of degree p - 1, transposed; mass matrix.
        Matrix gradient, gradient_transposed, projection_transposed, mass;
        /// Moments on a face; those of derivatives from the tangential
        /// derivatives' values on the face and the values at all nodes, beside
        /// each other.
        Matrix jump, slope;
        /// Transposes of both but for the last derivative, beside each other;
        /// and that of the last derivative.
        Matrix face_rows, transversal_rows;
        bool   reaction, advection;
        /// Places in the coefficients of a row, see SimplexData.
        unsigned int n_coefficients, reaction_index, face_index;
      };

      struct Kernels
      {
        unsigned int lanes;

        /**
         * Values at the nodes. @p corners are those of SimplexData;
         * @p coefficients are those of the basis functions in the order of
         * HostSimplexProduct::place.
         */
        void (*evaluate)(const Operator &op,
                         const double   *corners,
                         const double   *coefficients,
                         double         *values);

        /**
         * Rows of Lagrange polynomials @p y of batch @p batch. @p nodal are the
         * values at nodes of all batches, @p coefficients and @p neighbors
         * (face by face, one for each lane) those of this batch. The terms with
         * gradients of trial and test function on faces have factors @p q and
         * @p s. @p work has room for work_size() vectors.
         */
        void (*apply)(const Operator     &op,
                      double              q,
                      double              s,
                      const double       *nodal,
                      unsigned int        batch,
                      const double       *coefficients,
                      const unsigned int *neighbors,
                      double             *work,
                      double             *y);

        /// Rows of basis functions, the transpose of evaluate().
        void (*integrate)(const Operator &op,
                          const double   *corners,
                          const double   *y,
                          double         *rows);

        /// y = A x.
        void (*multiply)(const Matrix &A, const double *x, double *y);

        /**
         * Products with the dim x dim matrices @p a, row by row, or with their
         * transposes if @p transposed, at n points: entry q of row i of the
         * result is sum_j a_ij x_jq. The rows of @p x and @p y begin at
         * distances of @p x_pitch and @p y_pitch vectors.
         */
        void (*transform)(const unsigned int dim,
                          const bool         transposed,
                          const double      *a,
                          const unsigned int n,
                          const double      *x,
                          const unsigned int x_pitch,
                          double            *y,
                          const unsigned int y_pitch);

        /// y += factor x for n vectors.
        void (*add)(const unsigned int n,
                    const double      *factor,
                    const double      *x,
                    double            *y);
      };

      /// Neighbour of a lane without one, as in SimplexData.
      constexpr unsigned int no_neighbor = ~0u;

      // static: units with other instruction sets must not share it.
      static inline unsigned int
      work_size(const Operator &op)
      {
        return 4 * op.n_lower + 2 * op.n + 7 * op.n_face;
      }

      const Kernels &
      plain();
      const Kernels &
      avx2();
      const Kernels &
      avx512();
    } // namespace HostSimplexKernels
  }   // namespace internal
} // namespace Tessella

#endif
