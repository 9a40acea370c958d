// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_simplex_task_h
#define tessella_forms_simplex_task_h

#include <tessella/portable/host_device.h>

#include <cstddef>
#include <cstdint>

// Arguments of the kernels of pointwise operators on affine simplices.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Number of simplices, or of facets, that a warp computes at once.
      constexpr unsigned int simplices_of_warp = 8;

      /// Sides of facets see them as a face of their simplex with a permutation
      /// of its vertices; this is the number of such codes.
      TESSELLA_HOST_DEVICE constexpr unsigned int
      n_face_codes(const unsigned int dim)
      {
        return dim == 2 ? 3 * 2 : 4 * 6;
      }

      /// A facet of a mesh of conforming simplices.
      struct alignas(16) SimplexFacet
      {
        /// Polytopes on both sides; on the boundary the second one is the
        /// first.
        unsigned int   polytope[2];
        unsigned int   facet; ///< in the tables of all facets
        unsigned char  code[2];
        unsigned short reserved;
      };

      /**
       * A field of one degree on simplices, or a change of one, with its values
       * at the nodes of SimplexReference.
       *
       * Tables are operands of products of matrices, see SimplexTask: entry
       * [(tile * steps + step) * 32 + lane] belongs to node 4 step + lane % 4
       * and to point 8 tile + lane / 4. Points and nodes that do not exist
       * repeat the last point and have zeros.
       */
      struct SimplexField
      {
        /// Entry (k n_components + c) n_nodes + i: component c at node i of
        /// polytope k.
        const double *nodal;
        unsigned int  n_nodes, n_face_nodes;
        /// Numbers of nodes of simplices and of faces, divided by 4 and rounded
        /// up.
        unsigned int node_steps, face_steps;
        /// Values of Lagrange polynomials at points of a simplex, and
        /// derivatives with respect to barycentric coordinate d + 1: entry
        /// [((tile * dim + d) * steps + step) * 32 + lane].
        const double *values, *derivatives;
        /// Values of those of a face at points of a facet.
        const double *face_values;
        /// Node of the simplex that is node i of the facet: entry
        /// code * 4 face_steps + i.
        const unsigned short *face_node;
      };

      /**
       * Arguments of the kernels on a mesh whose polytopes are conforming
       * affine simplices, with fields of one degree each. A first kernel
       * evaluates a functor on facets and stores its results as integrals
       * against the Lagrange polynomials of the face, a record for each side; a
       * second one evaluates it inside simplices and adds the records of all
       * faces.
       *
       * <b>Products.</b> A warp has 8 simplices or facets, the rows of all
       * matrices. As result of a product, lane l has row l / 4 and columns
       * 2 (l % 4) and 2 (l % 4) + 1 of a tile; as operand, it has row l / 4 and
       * column l % 4 of one step of depth 4. Columns of values at points are
       * points, so that a lane calls the functor at two points, whose results
       * are operands of the next product without an exchange: those of points
       * 2 (l % 4) + e are a step for e = 0 and one for e = 1.
       */
      template <int dim, typename Mesh, int n_fields>
      struct SimplexTaskOf
      {
        Mesh mesh;
        /// Fields, and the direction of a tangent at the end.
        SimplexField fields[n_fields];
        unsigned int field; ///< that of the direction
        double       t;
        /// Nodes of the test space.
        unsigned int n_nodes, n_face_nodes;
        /// Their numbers divided by 8 and rounded up.
        unsigned int node_tiles, face_tiles;

        // ---- facets
        /// Interior facets, then those of the boundary.
        const SimplexFacet *facets;
        unsigned int        n_interior, n_boundary;
        const double       *facet_measure; ///< of all facets in the tables
        unsigned int        n_facet_points, facet_point_tiles;
        /// Weight of a point, relative to the measure, times the Lagrange
        /// polynomial of a node: entry
        /// [((tile * 2 + e) * face_tiles + node tile) * 32 + lane] for point
        /// 8 tile + 2 (lane % 4) + e and node 8 (node tile) + lane / 4.
        const double *face_test;
        /// Records: two of record_size doubles for each slot of a facet; entry
        /// c n_face_nodes + i for component c and node i of the facet. Slots of
        /// boundary facets begin at a multiple of 8.
        double      *records;
        unsigned int record_size;

        // ---- simplices
        unsigned int n_simplices; ///< that the process owns
        /// For each simplex, derivatives of barycentric coordinates
        /// 1 .. dim with respect to x, row by row, and its measure.
        const double *geometry;
        unsigned int  n_points, point_tiles;
        /// As face_test, for values and derivatives (row r) of the Lagrange
        /// polynomials: entry [(((tile * node_tiles + node tile) * (dim + 1) +
        /// r) * 2 + e) * 32 + lane].
        const double *test;
        /// For each simplex four numbers, one for each face: 32 (2 slot + side)
        /// + code.
        const unsigned int *face_records;
        /// Node of the facet that is node i of the simplex: entry code *
        /// n_nodes + i; none for nodes that are not on the face.
        const unsigned char           *face_position;
        static constexpr unsigned char none = 0xff;
        /// Rows of basis functions, or of Lagrange polynomials in the order of
        /// SimplexField::nodal.
        double *result;
        /// Degree of the test space if this kernel computes rows of basis
        /// functions, which it can for degrees 1 and 2, else 0. See SimplexData
        /// for corners, whose distance is corner_stride; nodes: barycentric
        /// coordinates 1 .. dim.
        unsigned int  basis_degree, corner_stride;
        const double *corners, *nodes;

        // ---- memory of a warp, in doubles: operands, then results with the
        // distance between facets or simplices; and threads of a block
        unsigned int facet_operands, facet_pitch, facet_threads;
        unsigned int operands, pitch, n_threads;

        /// Smallest code of a result that is not finite; see
        /// pointwise_error_code().
        unsigned long long *error;

        /// Number of groups of 8 facets.
        TESSELLA_HOST_DEVICE unsigned int
        n_interior_groups() const
        {
          return (n_interior + simplices_of_warp - 1) / simplices_of_warp;
        }
        TESSELLA_HOST_DEVICE unsigned int
        n_facet_groups() const
        {
          return n_interior_groups() +
                 (n_boundary + simplices_of_warp - 1) / simplices_of_warp;
        }
        TESSELLA_HOST_DEVICE unsigned int
        n_groups() const
        {
          return (n_simplices + simplices_of_warp - 1) / simplices_of_warp;
        }
        /// Bytes of the shared memory of a thread block.
        TESSELLA_HOST_DEVICE unsigned int
        facet_bytes() const
        {
          return facet_threads / 32 *
                 (facet_operands + simplices_of_warp * facet_pitch) *
                 sizeof(double);
        }
        TESSELLA_HOST_DEVICE unsigned int
        n_bytes() const
        {
          return n_threads / 32 * (operands + simplices_of_warp * pitch) *
                 sizeof(double);
        }
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
