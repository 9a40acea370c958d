// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_assembly_work_h
#define tessella_applications_assembly_work_h

#include <tessella/forms/form.h>
#include <tessella/grid/polytopic_dofs.h>
#include <tessella/grid/polytopic_mesh.h>
#include <tessella/quadrature/quadrature_compression.h>

#include <cstdint>

namespace Tessella
{
  namespace Application
  {
    /**
     * Minimal work of assembling a form on a mesh, as a yardstick for measured
     * times: operations of the matrix products alone, at the points of the
     * leanest published quadrature rules (leanest_simplex_rule()), and each
     * byte counted once. Any other work (basis functions, geometry, more
     * points, padding, reading the mesh twice) is not counted.
     */
    struct AssemblyWork
    {
      std::uint64_t n_volume_points = 0;
      /// Facet points, counted once per owner of a block row.
      std::uint64_t n_facet_points = 0;

      /// @name Floating-point operations
      /// N is the number of functions of the owner, N' that of its neighbour.
      /// An interior facet point thus counts 4 N (N + N') per owner, a boundary
      /// facet point 4 N^2. Symmetry is not taken into account.
      ///@{
      /// 2 (dim + 1) N^2 per volume point: gradient and value rows.
      double volume_flops = 0.;
      /// 4 N^2 per owner's facet point: two rows, into the diagonal block.
      /// Boundary facets are counted separately.
      double interior_diagonal_flops = 0., boundary_flops = 0.;
      /// 4 N N' per owner's interior facet point, into the neighbour's block.
      double neighbor_flops = 0.;
      ///@}

      /// @name Bytes, in double precision
      ///@{
      /// Values written: diagonal blocks, other blocks, right-hand side.
      double diagonal_bytes = 0., neighbor_bytes = 0., rhs_bytes = 0.;
      /// Geometry read: vertices or points of sub-cells; vertices or points,
      /// normals and penalty of facets.
      double subcell_bytes = 0., facet_bytes = 0.;
      /// Structure read: bounding boxes, numbering, interfaces, block
      /// positions.
      double structure_bytes = 0.;
      /// Variable coefficients read. Per volume point these are as many values
      /// as the form writes there, without the source. Per facet point, counted
      /// once for both sides, these are the flux a n (if there is diffusion)
      /// and one value for advection and reaction.
      double volume_coefficient_bytes = 0., facet_coefficient_bytes = 0.;
      ///@}

      double
      flops() const
      {
        return volume_flops + interior_diagonal_flops + boundary_flops +
               neighbor_flops;
      }
      double
      matrix_bytes() const
      {
        return diagonal_bytes + neighbor_bytes;
      }
      double
      bytes() const
      {
        return matrix_bytes() + rhs_bytes + subcell_bytes + facet_bytes +
               structure_bytes + volume_coefficient_bytes +
               facet_coefficient_bytes;
      }
    };

    /**
     * Work of assembling matrix and right-hand side of @p form. Quadrature is
     * of order 2 p + Form::coefficient_order() on simplices. Multilinear cells
     * count with products of Gauss rules of the order that they need for the
     * same polynomials; tabulated sub-cells and facets count with their tables.
     * On a mesh distributed over processes, the result is the work for the
     * polytopes that this process owns.
     */
    template <int dim>
    AssemblyWork
    assembly_work(const PolytopicMesh<dim> &mesh,
                  const PolytopicDoFs      &dofs,
                  const Form<dim>          &form);

    /**
     * Replaces the volume points of @p work, of a space of one degree in @p dim
     * variables, by those of a compressed quadrature (for
     * AssemblyReport::compression of the same process): operations and
     * coefficients become fewer in proportion, and coordinates and weights of
     * the points take the place of the sub-cells. No change without
     * compression.
     */
    void
    use_compressed_points(const unsigned int       dim,
                          const CompressionReport &compression,
                          AssemblyWork            &work);

    /**
     * Number of points of the leanest published rule on a triangle (dim = 2) or
     * tetrahedron (3) that is exact to @p order and has positive weights and
     * points inside; 0 beyond order 20, where the tables end. On segments (1)
     * it is the number of Gauss points.
     *
     * Triangles: F. D. Witherden, P. E. Vincent, Comput. Math. Appl. 69 (2015),
     * and H. Xiao, Z. Gimbutas, Comput. Math. Appl. 59 (2010), which agree; for
     * order 3 the conical product of Gauss rules is leaner. Tetrahedra: Xiao
     * and Gimbutas up to order 10, J. Jaskowiec, N. Sukumar, Int. J. Numer.
     * Meth. Engrg. 121 (2020), for higher orders (rules without symmetry; fully
     * symmetric ones have 14, 24, 46 and 81 points for order 4, 6, 8, 10).
     */
    unsigned int
    leanest_simplex_rule(const unsigned int dim, const unsigned int order);
  } // namespace Application
} // namespace Tessella

#endif
