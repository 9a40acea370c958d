// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_assembly_assembly_work_h
#define tessella_assembly_assembly_work_h

#include <tessella/forms/form.h>
#include <tessella/grid/polytopic_mesh.h>

#include <cstdint>

namespace Tessella
{
  /**
   * The least work that assembly of a form takes on a mesh, as a yardstick for
   * measured times: operations of the matrix products alone, at the points of
   * the leanest quadrature rules published (leanest_simplex_rule()), and every
   * byte once. What a program does beyond this (basis functions, geometry,
   * more points, padding, reading the mesh twice) does not count.
   */
  struct AssemblyWork
  {
    std::uint64_t n_volume_points = 0;
    /// Facet points, counted once per owner of a block row.
    std::uint64_t n_facet_points = 0;

    /// @name Floating-point operations
    /// N: functions of the owner, N': of its neighbour. An interior facet
    /// point thus counts 4 N (N + N') per owner, one at the boundary 4 N^2.
    /// Symmetry is not taken into account.
    ///@{
    /// 2 (dim + 1) N^2 per volume point: gradient and value rows.
    double volume_flops = 0.;
    /// 4 N^2 per owner's facet point: two rows, into the diagonal block; those
    /// at the boundary apart.
    double interior_diagonal_flops = 0., boundary_flops = 0.;
    /// 4 N N' per owner's interior facet point, into the neighbour's block.
    double neighbor_flops = 0.;
    ///@}

    /// @name Bytes, in double precision
    ///@{
    /// Values written: of diagonal and other blocks, of the right-hand side.
    double diagonal_bytes = 0., neighbor_bytes = 0., rhs_bytes = 0.;
    /// Geometry read: vertices or points of sub-cells, the same with normals
    /// and penalty of facets.
    double subcell_bytes = 0., facet_bytes = 0.;
    /// Boxes, numbering, interfaces, positions of blocks, read.
    double structure_bytes = 0.;
    /// Coefficients read that vary: as many numbers as the form writes at a
    /// volume point, without the source; per facet point, once for both sides,
    /// the flux a n (where there is diffusion) and one for advection and
    /// reaction.
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
   * Work of assembling matrix and right-hand side of @p form. Quadrature is of
   * order 2 p + Form::coefficient_order() on simplices, the order that
   * multilinear cells need for the same on those, which count with products
   * of Gauss rules; tabulated sub-cells and facets count with their tables. Of
   * a mesh distributed over processes, that of the polytopes of this one.
   */
  template <int dim>
  AssemblyWork
  assembly_work(const PolytopicMesh<dim> &mesh, const Form<dim> &form);

  /**
   * Number of points of the leanest published rule on a triangle (dim = 2) or
   * tetrahedron (3) that is exact to @p order and has positive weights and
   * points inside; 0 beyond order 20, where the tables end. On segments (1)
   * that of Gauss.
   *
   * Triangles: F. D. Witherden, P. E. Vincent, Comput. Math. Appl. 69 (2015),
   * and H. Xiao, Z. Gimbutas, Comput. Math. Appl. 59 (2010), which agree; for
   * order 3 the conical product of Gauss rules is leaner.
   * Tetrahedra: Xiao and Gimbutas to order 10, J. Jaskowiec, N. Sukumar, Int.
   * J. Numer. Meth. Engrg. 121 (2020), from there on (rules without symmetry;
   * fully symmetric ones have 14, 24, 46 and 81 points for order 4, 6, 8, 10).
   */
  unsigned int
  leanest_simplex_rule(const unsigned int dim, const unsigned int order);
} // namespace Tessella

#endif
