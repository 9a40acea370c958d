// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_operators_affine_simplex_h
#define tessella_source_operators_affine_simplex_h

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace Tessella
{
  namespace internal
  {
    /// Vertices of a simplex with the gradients of its barycentric coordinates.
    template <int dim>
    struct AffineSimplex
    {
      std::array<std::array<double, dim>, dim + 1> vertices, gradients;

      /// @p points: coordinates of the vertices, one after the other.
      explicit AffineSimplex(const double *const points)
      {
        for (unsigned int v = 0; v <= dim; ++v)
          std::copy_n(points + v * dim, dim, vertices[v].begin());
        set_gradients();
      }

      /// Computes gradients from vertices.
      void
      set_gradients()
      {
        double e[dim][dim];
        for (unsigned int i = 0; i < dim; ++i)
          for (unsigned int d = 0; d < dim; ++d)
            e[i][d] = vertices[i + 1][d] - vertices[0][d];
        if constexpr (dim == 2)
          {
            const double det = e[0][0] * e[1][1] - e[0][1] * e[1][0];
            gradients[1]     = {{e[1][1] / det, -e[1][0] / det}};
            gradients[2]     = {{-e[0][1] / det, e[0][0] / det}};
          }
        else
          {
            // Gradient i is the cross product of the other edges over det.
            for (unsigned int i = 0; i < 3; ++i)
              for (unsigned int d = 0; d < 3; ++d)
                gradients[i + 1][d] =
                  e[(i + 1) % 3][(d + 1) % 3] * e[(i + 2) % 3][(d + 2) % 3] -
                  e[(i + 1) % 3][(d + 2) % 3] * e[(i + 2) % 3][(d + 1) % 3];
            double det = 0;
            for (unsigned int d = 0; d < 3; ++d)
              det += e[0][d] * gradients[1][d];
            for (unsigned int i = 1; i < 4; ++i)
              for (unsigned int d = 0; d < 3; ++d)
                gradients[i][d] /= det;
          }
        for (unsigned int d = 0; d < dim; ++d)
          {
            gradients[0][d] = 0;
            for (unsigned int i = 1; i <= dim; ++i)
              gradients[0][d] -= gradients[i][d];
          }
      }

      /// Sets SimplexData::corners, of which those of this simplex begin at @p
      /// corner with the distance @p n, for its bounding box.
      void
      set_corners(const double *const box,
                  const std::size_t   n,
                  double *const       corner) const
      {
        const double *const lower = box, *const upper = box + dim;
        double width = 1;
        for (unsigned int d = 0; d < dim; ++d)
          {
            width *= upper[d] - lower[d];
            for (unsigned int v = 0; v <= dim; ++v)
              corner[(v * dim + d) * n] =
                ((vertices[v][d] - lower[d]) - (upper[d] - vertices[v][d])) /
                (upper[d] - lower[d]);
          }
        corner[(dim + 1) * dim * n] = 1. / std::sqrt(width);
      }
    };



    constexpr unsigned int no_face = ~0u;

    /// Face of a simplex that has the given vertices plus a shift, and their
    /// order there: positions of the simplex's vertices in the list.
    template <int dim>
    unsigned int
    find_face(const AffineSimplex<dim>      &simplex,
              const double *const            points,
              const double *const            shift,
              std::array<unsigned int, dim> &order)
    {
      double size = 0;
      for (unsigned int d = 0; d < dim; ++d)
        for (unsigned int v = 1; v <= dim; ++v)
          size = std::max(size,
                          std::fabs(simplex.vertices[v][d] -
                                    simplex.vertices[0][d]));
      unsigned int face = no_face, n = 0;
      for (unsigned int v = 0; v <= dim; ++v)
        {
          unsigned int match = no_face;
          for (unsigned int i = 0; i < dim; ++i)
            {
              double distance = 0;
              for (unsigned int d = 0; d < dim; ++d)
                distance = std::max(distance,
                                    std::fabs(simplex.vertices[v][d] -
                                              points[i * dim + d] - shift[d]));
              if (distance < 1e-8 * size)
                match = i;
            }
          if (match == no_face)
            face = v;
          else if (n < dim)
            order[n++] = match;
        }
      return n == dim ? face : no_face;
    }
  } // namespace internal
} // namespace Tessella

#endif
