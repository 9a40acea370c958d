// SPDX-License-Identifier: LGPL-2.1-or-later
#ifndef tessella_cuda_hdg_reference_h
#define tessella_cuda_hdg_reference_h

#include <vector>

#include "assembly.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /**
       * What local problems on simplices are made of: integrals of the
       * functions of visit_simplex_basis(), N of them, on the unit simplex.
       */
      struct SimplexReference
      {
        /// int phi_i d_e phi_j at [(e N + i) N + j].
        std::vector<double> derivative;
        /// Products of these with their transposed ones, D_e D_f^T, e <= f,
        /// with the transposed product added for e < f.
        std::vector<double> squares;
        /// weight times phi_i at the points q of the volume's rule: [q N + i].
        std::vector<double> load;
        /// phi_i at the points q of a facet's rule, for each order of the
        /// facet's vertices among those of the simplex (see
        /// facet_orientation()): [(orientation n_points + q) N + i].
        std::vector<double> facet;
        /// Gauss rule of degree + 1 points on [-1, 1] with weights of sum 1:
        /// points, weights, then Legendre functions P_n sqrt(2 n + 1) at the
        /// points: [n (degree + 1) + q].
        std::vector<double> gauss;
      };

      template <int dim>
      SimplexReference
      make_simplex_reference(const RuleTables  &rules,
                             const unsigned int degree);

      /// Number of an ordered choice of dim of the dim + 1 vertices.
      template <int dim>
      inline unsigned int
      facet_orientation(const unsigned int *vertex)
      {
        unsigned int number = 0;
        for (int v = 0; v < dim; ++v)
          number = number * (dim + 1) + vertex[v];
        return number;
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
