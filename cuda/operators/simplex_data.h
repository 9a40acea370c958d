// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_operators_simplex_data_h
#define tessella_cuda_operators_simplex_data_h

#include <cstddef>
#include <vector>

namespace Tessella
{
  namespace internal
  {
    /**
     * An interior penalty and upwind form on affine simplices with coefficients
     * that are constant on each of them, as plain arrays for products without a
     * matrix. For test functions v and trial functions u of a simplex K,
     * neighbour's ones with an index 1, the rows of K are
     *   int_K  grad v . a grad u  +  v b . grad u  +  v c u
     *   + sum_F int_F  v (b_0 . grad u + b_1 . grad u_1)
     *                  + (theta b_0 . grad v + c_0 v) (u - u_1).
     * On the boundary u_1 is zero.
     *
     * Vectors b and tensors a are contravariant components, and coefficients
     * include the measure of the simplex or face; their coordinates are those
     * of SimplexReference, with the simplex's vertices in a fixed order.
     */
    struct SimplexData
    {
      unsigned int dim = 0, degree = 0;
      /// Number of simplices whose rows are computed, and that with ghosts,
      /// which follow.
      unsigned int n_rows = 0, n_simplices = 0;
      /// Whether there are terms with c and with b.
      bool reaction = false, advection = false;
      /// Factors of the terms of facets with a gradient of the trial function
      /// and with one of the test function: 1 and theta. A transposed product
      /// exchanges them.
      double theta = 1.;

      /**
       * Corners in coordinates of the bounding box, which is [-1,1]^dim: (dim +
       * 1) * dim values, vertex by vertex, and the factor of the basis
       * functions, the product of sqrt(1 / width). Value i of simplex k is at
       * [i * n_simplices + k].
       */
      std::vector<double> corners;
      /// For each row: a (upper triangle, row by row), c, b, and for each face
      /// b_0, b_1 in its frames on both sides and c_0.
      std::vector<double> coefficients;
      /// dim + 1 for each row: 4 * neighbour + its face; no_neighbor at the
      /// boundary.
      std::vector<unsigned int> neighbor;

      static constexpr unsigned int no_neighbor = ~0u;

      static constexpr unsigned int
      n_corner_values(const unsigned int dim)
      {
        return (dim + 1) * dim + 1;
      }
      /// Begin of b, of faces, and number of values of a row in coefficients.
      static constexpr unsigned int
      reaction_index(const unsigned int dim)
      {
        return dim * (dim + 1) / 2;
      }
      static constexpr unsigned int
      face_index(const unsigned int dim)
      {
        return reaction_index(dim) + 1 + dim;
      }
      static constexpr unsigned int
      n_coefficients(const unsigned int dim)
      {
        return face_index(dim) + (dim + 1) * (2 * dim + 1);
      }

      std::size_t
      memory_consumption() const
      {
        return (corners.size() + coefficients.size()) * sizeof(double) +
               neighbor.size() * sizeof(unsigned int);
      }
    };
  } // namespace internal
} // namespace Tessella

#endif
