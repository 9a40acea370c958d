// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_operators_simplex_reference_h
#define tessella_source_operators_simplex_reference_h

#include <vector>

namespace Tessella
{
  namespace internal
  {
    /**
     * Constant matrices of polynomials of degree p on a simplex in @p dim
     * variables, from which products without a matrix are computed.
     *
     * <b>Nodes.</b> A polynomial is given by its values at N nodes, which are
     * symmetric, i.e. a permutation of the vertices maps the set to itself, and
     * of which N_f are on each face, which determine the trace on it. They are
     * those of Isaac (Recursive, parameter-free, explicitly defined
     * interpolation nodes for simplices, SIAM J. Sci. Comput. 42, 2020) with
     * Gauss-Lobatto points on edges. Their coordinates are barycentric.
     *
     * <b>Frames.</b> The frame of face f, which is opposite to vertex f, has
     * the vertices in ascending order with vertex f moved to the end. In each
     * frame, the face is opposite to the last vertex and has the first N_f
     * nodes. The coordinates xi_1 .. xi_dim of a frame are the barycentric
     * coordinates of its vertices 1 .. dim. With vertices that two neighbours
     * sort in the same way, both number the nodes of their common face alike,
     * and xi_1 .. xi_(dim-1) agree there.
     *
     * <b>Modes.</b> Moments refer to orthonormal polynomials in graded order,
     * with respect to mean values over the simplex or face; a prefix of them is
     * the basis of a lower degree.
     *
     * All matrices are row-major, and accurate to rounding: they are computed
     * in extended precision.
     */
    struct SimplexReference
    {
      SimplexReference(const unsigned int dim, const unsigned int degree);

      unsigned int dim, degree;
      /// Numbers N and N_f of nodes of the simplex and of a face, and of the
      /// polynomials of degree p - 1 on each.
      unsigned int n, n_face, n_lower, n_face_lower;

      /// Barycentric coordinates, dim + 1 for each node.
      std::vector<double> nodes;
      /// Node of the simplex at position i in the frame of face f, at
      /// [f * n + i]; that of face dim is the identity.
      std::vector<unsigned short> frame;
      /// Moments of degree p - 1 of the derivative with respect to xi_(d+1),
      /// from values at nodes: n_lower x n for each d < dim.
      std::vector<double> gradient[3];
      /// Moments of degree p - 1, from values at nodes: n_lower x n.
      std::vector<double> projection;
      /// Mean values over the simplex of products of Lagrange polynomials: n x
      /// n.
      std::vector<double> mass;
      /// Moments on the face, of degree p - 1, of the derivative with respect
      /// to xi_dim: n_face_lower x n.
      std::vector<double> transversal;
      /// The same for xi_(d+1), d < dim - 1, from nodes of the face:
      /// n_face_lower x n_face.
      std::vector<double> tangential[2];
      /// Moments on the face from values at its nodes: n_face x n_face.
      std::vector<double> face_moments;
    };



    /// Lagrange polynomials of the nodes of SimplexReference on a simplex of
    /// any dimension, at points given by barycentric coordinates 1 .. dim, or
    /// their derivatives with respect to coordinate d + 1 if @p d >= 0: one
    /// entry for each node, point by point. Those of a face are those of a
    /// simplex in one variable less.
    std::vector<double>
    lagrange_polynomials(const unsigned int         dim,
                         const unsigned int         degree,
                         const std::vector<double> &points,
                         const int                  d = -1);

    /// Nodes of the simplex that are the nodes of a face with the given
    /// vertices: dim numbers, in the order in which the face has them.
    std::vector<unsigned short>
    face_nodes(const unsigned int  dim,
               const unsigned int  degree,
               const unsigned int *vertices);
  } // namespace internal
} // namespace Tessella

#endif
