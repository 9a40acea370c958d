// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_hdg_hdg_reference_h
#define tessella_cuda_hdg_hdg_reference_h

#include <tessella/portable/host_device.h>

#include <vector>

#include "../backends/assembly.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /**
       * Integrals on the unit simplex from which local problems on simplices
       * are composed. The N functions phi are those of visit_simplex_basis().
       * Face f is opposite to vertex f; it is the image of the unit simplex of
       * dimension dim - 1, with its vertices in ascending order. The M
       * functions chi are orthonormal on a face.
       */
      struct SimplexReference
      {
        /// int phi_i d_e phi_j at [(e N + i) N + j].
        std::vector<double> derivative;
        /// Symmetric matrices whose linear combinations are Schur complements:
        /// D_e D_f^T, e <= f, plus the transposed product for e < f, where D_e
        /// are the matrices of derivatives; then int phi_i phi_j over each
        /// face. Storage is row by row, columns j <= i, with one more column if
        /// their number is odd.
        std::vector<double> schur;
        /// Positions of the pairs of entries in a matrix whose row distance is
        /// row_stride(N).
        std::vector<unsigned int> schur_place;
        /// B_f and B_f D_e^T for all e, where B_f are the integrals of chi_l
        /// phi_i over face f: [((f (dim + 1) + r) M + l) N' + i], where N' is N
        /// rounded up to a multiple of four.
        std::vector<double> trace;
        /// B_f B_g^T for all pairs of faces: one matrix.
        std::vector<double> trace_squares;
        /// weight times phi_i at the points q of the volume's rule: [q N' + i].
        std::vector<double> load;
        /// chi_l at the points q of a facet's rule, for each order of the
        /// facet's vertices among those of the simplex (see
        /// facet_orientation()): [(orientation n_points + q) M + l].
        std::vector<double> face_values;
        /// Normalisation factors of the functions, and the coefficients of
        /// JacobiStep at [(alpha (degree + 1) + n) 3].
        std::vector<double> factor, steps;
        /// Gauss rule of degree + 1 points on [-1, 1] with weights of sum 1:
        /// points, weights, then Legendre functions P_n sqrt(2 n + 1) at the
        /// points: [n (degree + 1) + q].
        std::vector<double> gauss;
      };

      /// Computes all tables.
      template <int dim>
      SimplexReference
      make_simplex_reference(const RuleTables  &rules,
                             const unsigned int degree);

      /// Index of an ordered choice of dim of the dim + 1 vertices.
      template <int dim>
      inline unsigned int
      facet_orientation(const unsigned int *vertex)
      {
        unsigned int number = 0;
        for (int v = 0; v < dim; ++v)
          number = number * (dim + 1) + vertex[v];
        return number;
      }

      /// The vertex that is not in such a choice.
      template <int dim>
      TESSELLA_HOST_DEVICE inline unsigned int
      opposite_vertex(unsigned int orientation)
      {
        unsigned int rest = dim * (dim + 1) / 2;
        for (int v = 0; v < dim; ++v, orientation /= dim + 1)
          rest -= orientation % (dim + 1);
        return rest;
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
