// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_grid_polytopic_mesh_h
#define tessella_grid_polytopic_mesh_h

#include <tessella/base/first_touch_vector.h>
#include <tessella/grid/mesh_types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace Tessella
{
  /**
   * Geometry of a polytopic mesh as plain arrays: the only connection between
   * deal.II and the code that computes. Spaces of polynomials on it, of which
   * there can be several, are described by PolytopicDoFs.
   *
   * AgglomerationHandler fills it once. All backends, the penalty,
   * quadrature-based post-processing and output of the polytopes read this
   * structure and nothing else. It includes no deal.II header, so that device
   * code can read it as well.
   *
   * <b>Order.</b> Polytopes are numbered 0 .. n_polytopes()-1. Sub-cells are
   * sorted by polytope, then by the global id of their cell. Interfaces are
   * sorted by (first polytope, second polytope); boundary interfaces of a
   * polytope follow its interior ones, sorted by boundary id. Facets are sorted
   * by interface, then by the global id of the cell on the interface's first
   * side, its face number and, where that face has hanging nodes, the global id
   * of the finer cell. All sums follow this order, which is therefore
   * determined by the mesh alone.
   *
   * <b>Interfaces.</b> An interface is all that two polytopes share, or all
   * that a polytope shares with one boundary id. Side 0 is the polytope with
   * the lower id, side 1 the one with the higher id (or none at the boundary).
   * Two polytopes that meet both inside the domain and through a periodic
   * boundary have two interfaces, since the second carries a shift; with a
   * periodic boundary both sides may be the same polytope. Facets are stored in
   * the position that side 0 sees; a point x of a facet is x + shift for side
   * 1.
   *
   * <b>Facets</b> are pieces of interfaces: faces of sub-cells. A facet with
   * hanging nodes has the geometry of the finer cell. Normals point from side 0
   * to side 1, at the boundary outward. Vertices of simplex and quadrilateral
   * facets are ordered such that the right-handed normal of the vertex order
   * has that direction. This normal is (t_y, -t_x) for the tangent t = v1 - v0
   * in 2-D, and (v1-v0) x (v2-v0) in 3-D.
   *
   * <b>Many processes.</b> Each process has a mesh of its own. It consists of
   * the polytopes that the process owns, numbered 0 .. n_owned_polytopes()-1,
   * followed by the ghost polytopes, their neighbours on other processes,
   * grouped by process. Ghosts have bounding box and measure, but only those
   * sub-cells that touch an owned polytope, and no list of interfaces; facets
   * between two ghosts are not stored. In this case, lower and higher ids in
   * the paragraphs above mean the order of the polytopes' first cells, which
   * does not depend on the partition. The same order determines the sides of
   * interfaces and the order of neighbours, so that the rows of an owned
   * polytope are the same to the last bit for any number of processes.
   *
   * <b>Cost.</b> 8 bytes per coordinate: about 100 bytes for a triangle, 250
   * for a hexahedron, 70 to 150 for a facet.
   */
  template <int dim>
  struct PolytopicMesh
  {
    /// Whether sub-cells are products of a cell in all variables but the last
    /// one and an interval in the last one, that is, space-time elements (see
    /// SpaceTimeSlab).
    bool prismatic = false;
    /// Boundary id of the bottom of space-time elements, which follows all
    /// other boundary ids of a polytope; invalid_index if there is none.
    unsigned int bottom_id = invalid_index;

    // ---- polytopes
    /// Number of polytopes that this process owns; invalid_index means all.
    unsigned int n_owned = invalid_index;
    /// Bounding boxes: lower and upper corner, 2*dim values per polytope:
    /// lower[0..dim), upper[0..dim).
    std::vector<double> box;
    /// Volume (area) of each polytope.
    std::vector<double> measure;
    /// Sub-cells of polytope k are subcell_offset[k] .. subcell_offset[k+1].
    std::vector<unsigned int> subcell_offset;
    /// Entries of polytope k in polytope_interface are
    /// polytope_interface_offset[k] .. [k+1].
    std::vector<unsigned int> polytope_interface_offset;
    /// 2 * interface + side. Interior interfaces are sorted by the neighbour's
    /// id (then interface index); boundary interfaces follow, sorted by
    /// boundary id.
    std::vector<unsigned int> polytope_interface;

    // ---- sub-cells
    std::vector<SubCellType> subcell_type;
    /// Vertices of sub-cell s are subcell_vertex_offset[s] .. [s+1], in units
    /// of points (n_subcells + 1 entries). Of tabulated sub-cells, the corners
    /// are stored.
    std::vector<unsigned int> subcell_vertex_offset;
    /// Coordinates, dim values per vertex.
    FirstTouchVector<double> subcell_vertices;
    /// deal.II's active_cell_index of the cell.
    std::vector<unsigned int> subcell_cell;
    /// deal.II's material id of the cell.
    std::vector<unsigned int> subcell_material;

    // ---- interfaces
    /// Polytopes on side 0 and 1: entries 2*i and 2*i + 1; invalid_index for
    /// side 1 at the boundary.
    std::vector<unsigned int> interface_polytope;
    /// Boundary id, or invalid_index for an interior or periodic interface.
    std::vector<unsigned int> interface_boundary_id;
    /// Index into shift (0 means no shift).
    std::vector<unsigned int> interface_shift;
    /// Facets of interface i are facet_offset[i] .. facet_offset[i+1].
    std::vector<unsigned int> facet_offset;
    /// Periodic shifts, dim values each; entry 0 is zero.
    std::vector<double> shift;

    // ---- facets
    std::vector<FacetType> facet_type;
    /// Vertices of facet f are facet_vertex_offset[f] .. [f+1], in units of
    /// points (n_facets + 1 entries). Of tabulated facets, the corners are
    /// stored.
    std::vector<unsigned int> facet_vertex_offset;
    FirstTouchVector<double>  facet_vertices;
    /// Unit normal (its mean where it varies), dim values per facet.
    FirstTouchVector<double> facet_normal;
    /// Length (2-D) or area (3-D) of each facet.
    FirstTouchVector<double> facet_measure;
    /// Sub-cells on side 0 and 1 (entries 2*f, 2*f + 1); invalid_index where
    /// none exists.
    FirstTouchVector<unsigned int> facet_subcell;

    // ---- tabulated quadrature of curved sub-cells and facets; all other
    // sub-cells and facets have empty ranges
    /// Points of sub-cell s are subcell_point_offset[s] .. [s+1]; both offset
    /// arrays are empty when nothing is tabulated.
    std::vector<unsigned int> subcell_point_offset;
    std::vector<unsigned int> facet_point_offset;
    /// Coordinates, dim values per point.
    std::vector<double> subcell_points, facet_points, facet_point_normals;
    /// Quadrature weights times Jacobian determinants.
    std::vector<double> subcell_point_weights, facet_point_weights;

    // ---- the mesh of all processes
    /**
     * Properties of the mesh of all processes, by which quadrature rules and
     * kernels are chosen, so that the choice is the same on all processes. Not
     * set in a mesh of one process, which is complete.
     */
    struct Whole
    {
      bool is_set = false;
      /// Bit t is set if there are sub-cells (facets) of type t.
      unsigned int subcell_types = 0, facet_types = 0;
      /// Whether all sub-cells are boxes with faces normal to the axes.
      bool aligned = false;
    };
    Whole whole;

    // ---- revisions
    /**
     * Revision numbers that stand for the contents of the arrays, see
     * new_revision(). AgglomerationHandler renews them with a new
     * agglomeration; a new space on the mesh leaves them as they are, unless it
     * drops tabulated quadrature. Data that depend on degrees or on degrees of
     * freedom depend on PolytopicDoFs::revision, too (see SpaceRevision).
     */
    /// Revision of all arrays except those of the tabulated quadrature.
    std::uint64_t revision = 0;
    /// Revision of the tabulated quadrature, whose order depends on the degrees
    /// of a space.
    std::uint64_t quadrature_revision = 0;

    unsigned int
    n_polytopes() const
    {
      return static_cast<unsigned int>(measure.size());
    }
    unsigned int
    n_owned_polytopes() const
    {
      return n_owned == invalid_index ? n_polytopes() : n_owned;
    }
    unsigned int
    n_subcells() const
    {
      return static_cast<unsigned int>(subcell_type.size());
    }
    unsigned int
    n_interfaces() const
    {
      return static_cast<unsigned int>(interface_boundary_id.size());
    }
    unsigned int
    n_facets() const
    {
      return static_cast<unsigned int>(facet_type.size());
    }

    /// Neighbour across the interface of an entry of polytope_interface (2 *
    /// interface + side); invalid_index at the boundary.
    unsigned int
    neighbor(const unsigned int interface_and_side) const
    {
      return interface_polytope[interface_and_side ^ 1u];
    }

    /// Whether all sub-cells on this process are boxes with faces normal to the
    /// axes.
    bool
    is_aligned() const;

    /// Memory of the arrays, in bytes.
    std::size_t
    memory_consumption() const;

    /// Removes all tabulated quadrature points. The revision stays.
    void
    clear_quadrature();
  };
} // namespace Tessella

#endif
