// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_grid_flow_meshes_h
#define tessella_grid_flow_meshes_h

#include <deal.II/grid/tria.h>

#include <tessella/grid/naca_0012.h>

namespace Tessella
{
  /**
   * Meshes around bodies in flow, of quadrilaterals and hexahedra or of
   * triangles and tetrahedra.
   *
   * <b>Boundary ids</b> are the same in all of them: 0 inflow or far field, 1
   * outflow, 2 the body (of the bump: the lower wall), 3 other walls or sides,
   * 4 and 5 the planes z = 0 and z = depth of meshes that are extruded from
   * two dimensions.
   *
   * <b>Curves.</b> The body has a manifold with id 1, so that refinement and
   * curved cells (dealii::MappingQ for hypercubes, MappingQuadratic for
   * simplices) follow it. Edges near the body have it, too: thin cells of
   * boundary layers follow the curve and do not turn over. The distance up to
   * which edges are curved is half the length of the body's edges for sphere()
   * and half the length of a cell for bump(), 0.03 for channel_cylinder(), and
   * given there for naca_0012(). All other edges are straight.
   *
   * <b>Simplices</b> are made by cutting each quadrilateral in two, along its
   * shorter diagonal, and each hexahedron in six; there are no new vertices.
   * The triangles of a symmetric mesh are symmetric to y = 0.
   *
   * <b>Grading.</b> The layer next to a body has the height first_height; each
   * further one is thicker by the factor growth, until cells are as high as
   * they are long. With first_height = 0, all cells are as high as long. Away
   * from an aerofoil or a sphere, where the flow changes slowly, layers may go
   * on growing until cells are @p stretch times as high as long. All layers are
   * then stretched so that the last one ends on the far field, which changes
   * the heights by less than one last layer's share.
   *
   * All functions throw one sentence for parameters out of range, and need an
   * empty triangulation.
   */
  namespace FlowMeshes
  {
    /// Cells of a mesh.
    struct Resolution
    {
      /// Triangles or tetrahedra instead of quadrilaterals or hexahedra.
      bool simplices = false;
      /// Number of cells along the body, see the functions.
      unsigned int n_cells = 16;
      /// See the namespace. Not used by channel_cylinder().
      double first_height = 0., growth = 1.2;
      /// At least 1, see the namespace. Only for naca_0012() and sphere().
      double stretch = 1.;
      /// How much smaller the cells at the middle of the chord of naca_0012()
      /// are and how much larger those at its ends: by the factors 1 - bunching
      /// and 1 + bunching; between -0.9 and 0.9.
      double bunching = 0.;
      /// Geometry of naca_0012().
      Naca0012::TrailingEdge trailing_edge =
        Naca0012::TrailingEdge::coefficient;
      /// Number of cells in z where a mesh is extruded.
      unsigned int n_slices = 4;
    };

    /**
     * Channel 2.2 x 0.41 with a circular cylinder of radius 0.05 around
     * (0.2, 0.2) (Schaefer, Turek 1996); in 3-D of depth 0.41. The coarse mesh
     * is that of dealii::GridGenerator::channel_with_cylinder() with two
     * shells. n_cells, 16 times a power of two, is twice the number of cells
     * around the cylinder. The mesh of tetrahedra for 16 can be refined once:
     * with deal.II 9.4, the second refinement divides some flat octahedra of
     * the curved layers by a line on the wrong side of a vertex that has moved
     * onto its circle, so that tetrahedra turn over, which is an error. Choose
     * n_cells instead.
     */
    template <int dim>
    void
    channel_cylinder(dealii::Triangulation<dim> &triangulation,
                     const Resolution           &resolution);

    /**
     * Square of side 1 around the origin in the rectangle from (-upstream,
     * -side) to (downstream, side); in 3-D of depth @p depth. n_cells is the
     * number of cells on one side of the square.
     */
    template <int dim>
    void
    square_cylinder(dealii::Triangulation<dim> &triangulation,
                    const Resolution           &resolution,
                    const double                upstream,
                    const double                downstream,
                    const double                side,
                    const double                depth = 4.);

    /**
     * O-grid around the aerofoil Naca0012 with the far field at a radius of
     * @p far_field chords; in 3-D of depth @p depth. n_cells is the number of
     * cells around it, even. The height of the first layer is measured at half
     * of the chord. In the plane of the manifold's circle, an edge follows the
     * aerofoil up to a distance of twice the length of the body's edges, and
     * further out as long as its layer is lower than 0.7 times the length of
     * its cells.
     */
    template <int dim>
    void
    naca_0012(dealii::Triangulation<dim> &triangulation,
              const Resolution           &resolution,
              const double                far_field,
              const double                depth = 1.);

    /**
     * Channel from (-1.5, 0) to (1.5, 0.8) whose lower wall is the smooth bump
     * y = 0.0625 exp(-25 x^2); in 3-D of depth @p depth. n_cells is the number
     * of cells along the bump.
     */
    template <int dim>
    void
    bump(dealii::Triangulation<dim> &triangulation,
         const Resolution           &resolution,
         const double                depth = 0.8);

    /**
     * Sphere (2-D: circle) of radius @p radius around the origin, with a
     * concentric far field of radius @p far_field. n_cells is the number of
     * cells on an edge of the cube whose image the mesh of the sphere is
     * (2-D: on a quarter of the circle).
     */
    template <int dim>
    void
    sphere(dealii::Triangulation<dim> &triangulation,
           const Resolution           &resolution,
           const double                radius,
           const double                far_field);
  } // namespace FlowMeshes
} // namespace Tessella

#endif
