// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_grid_compressed_quadrature_h
#define tessella_source_grid_compressed_quadrature_h

#include <tessella/grid/polytopic_dofs.h>
#include <tessella/grid/polytopic_mesh.h>
#include <tessella/quadrature/quadrature_compression.h>

#include <cstdint>
#include <vector>

namespace Tessella
{
  namespace internal
  {
    /**
     * Volume quadrature with few points per polytope: for the sub-cells of each
     * material of a polytope, a subset of their quadrature points with positive
     * weights that integrates all polynomials of a total degree as the rules of
     * the sub-cells do. By the theorem of Caratheodory and Tchakaloff, there is
     * such a subset with at most binomial(order + dim, dim) points.
     *
     * All points of a material are attributed to its first sub-cell in the
     * polytope, so that groups of points are full. A polytope on which no rule
     * is found keeps the points of its sub-cells, which are stored in the same
     * way. Ghost polytopes have no points.
     *
     * <b>Method.</b> Neighbouring points are joined to clusters, and a subset
     * of the clusters takes over all moments, until few points are left
     * (Tchernychova, thesis, Oxford 2015). Each such step moves an exact rule
     * from all points to a basis of as many points as there are polynomials: LU
     * factorisation with row pivoting selects the basis (discrete Leja points:
     * Bos, De Marchi, Sommariva, Vianello, SIAM J. Numer. Anal. 48, 2010), and
     * an exchange as in the simplex method removes a point of the basis
     * whenever its weight becomes zero. The weights are computed anew from the
     * moments of all points, and checked.
     *
     * <b>Cost.</b> For N points and m polynomials about 3 N m + 20 m^3
     * log(N / m) operations, on all threads. The result is the same for any
     * number of threads.
     */
    template <int dim>
    struct CompressedQuadrature
    {
      /// @p order: for each degree of a polytope, the total degree of the
      /// polynomials. No sub-cell may be tabulated.
      CompressedQuadrature(const PolytopicMesh<dim>        &mesh,
                           const PolytopicDoFs             &dofs,
                           const std::vector<unsigned int> &order);

      /// Points of sub-cell s are offset[s] .. offset[s+1].
      std::vector<unsigned int> offset;
      /// Coordinates and weight, dim + 1 values per point.
      std::vector<double> points;
      /// Identifies the contents, see new_revision().
      std::uint64_t     revision;
      CompressionReport report;

      /// Memory in bytes.
      std::size_t
      memory_consumption() const
      {
        return offset.capacity() * sizeof(unsigned int) +
               points.capacity() * sizeof(double);
      }
    };
  } // namespace internal
} // namespace Tessella

#endif
