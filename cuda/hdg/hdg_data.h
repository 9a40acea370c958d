// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_hdg_hdg_data_h
#define tessella_cuda_hdg_hdg_data_h

#include "../backends/data.h"
#include "hdg.h"
#include "hdg_layout.h"

// Data that the kernels of hybridizable dG read.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      constexpr unsigned int hdg_stabilised = 1, hdg_failed = 2,
                             hdg_undone = 4; ///< the polytope needs
                                             ///< hdg_volume_kernel()
      /// Number of thread blocks for the facets of each such polytope.
      constexpr unsigned int hdg_blocks_of_undone = 16;

      /// Number of pairs of entries before row i of a lower triangle that is
      /// stored row by row, in pairs.
      __host__ __device__ constexpr unsigned int
      pairs_before_row(const unsigned int i)
      {
        return (i + 1) / 2 * ((i + 2) / 2);
      }

      /// Number of values kept for a simplex with n functions and n_rows rows
      /// of traces and f: those rows, padded, after the first triangular solve;
      /// then the Cholesky factor in pairs of entries, with the inverses of its
      /// diagonal blocks of eight rows in place of these blocks.
      __host__ __device__ constexpr unsigned int
      hdg_simplex_solver_size(const unsigned int n, const unsigned int n_rows)
      {
        return n_rows * padded(n) + 2 * pairs_before_row(n);
      }

      /// The face of a simplex that is opposite to a vertex.
      struct HDGSimplexFace
      {
        unsigned int row; ///< first trace function of the patch in its polytope
        unsigned int facet;
        unsigned int code, boundary;   ///< see HDGFacetPointGroup
        unsigned int orientation : 8;  ///< see HDGFacetPointGroup
        unsigned int n_functions : 16; ///< trace functions of the patch
        /// Only in 2-D, if each face has a patch of its own: the trace
        /// functions run against the order of vertices.
        unsigned int reversed : 1;
      };

      /// Arguments of all kernels: mesh, form, tables, data between kernels,
      /// and results. All pointers are to device memory.
      template <int dim>
      struct HDGData
      {
        /// Arrays of the mesh, quadrature rules, and exponents of the functions
        /// (total degree or tensor product). Other entries are not set.
        Data<dim>    D;
        HDGForm<dim> form;
        bool         simplex;     ///< integrals come from SimplexReference
        HDGLayout    layout;      ///< workspace of this kernel
        double      *workspace;   ///< null: the workspace is in shared memory
        unsigned int first, last; ///< polytopes of the tile
        unsigned int first_entry, last_entry; ///< entries of polytope_interface
                                              ///< in the tile
        /// The polytopes that this elimination kernel processes, or the entries
        /// that this facet kernel processes (null: all entries of the tile).
        const unsigned int *list;
        unsigned int        n_listed;

        const HDGVolumePointGroup *volume_point_group;
        /// Point groups of facets, for the kernel that runs. Planar facets with
        /// polynomial integrands have a list with fewer points.
        const HDGFacetPointGroup *facet_point_group;
        /// First point group of each polytope; facet_begin refers to the longer
        /// list of facet point groups.
        const unsigned int *volume_begin, *facet_begin;
        /// Point groups for the mass matrix, by the rule of
        /// mass_degree[degree].
        const HDGVolumePointGroup *mass_point_group;
        const unsigned int        *mass_begin;
        unsigned char              mass_degree[11];
        /// First trace function of each entry of polytope_interface within its
        /// polytope.
        const unsigned int *entry_row;
        /// The polytope of each entry, and its first point group in
        /// facet_point_group.
        const unsigned int *entry_polytope, *entry_point_group;
        /// First trace function of each polytope among those of all polytopes,
        /// and first entry of its K among those of all K.
        const std::uint64_t *trace_offset, *square_offset;
        /// projected: `partial` of a polytope's first entry holds the
        /// contributions of all facets to the Schur complement.
        /// entry_projected: the entries that HDGConstantFacets handles in this
        /// case.
        bool                 projected;
        const unsigned char *entry_projected;
        /// Bit 0 of each entry: Dirichlet condition.
        const unsigned char *entry_fixed;
        const unsigned char *patch_degree;
        const unsigned int  *patch_functions;
        unsigned int         max_functions; ///< largest number of trace
                                            ///< functions of a patch
        const double        *patch_frame, *patch_coefficients;
        const std::uint64_t *patch_offset;
        /// Derivatives of the functions on the box [-1, 1]^dim, for N functions
        /// of the largest degree. The derivative of function
        /// derivative_function[i] with respect to variable d contains function
        /// l with factor derivative_factor[i], for derivative_begin[d N + l] <=
        /// i < derivative_begin[d N + l + 1].
        const unsigned int *derivative_begin, *derivative_function;
        const double       *derivative_factor;
        /// Indices of the generators that do not depend on the last variable.
        const unsigned short *planar;
        /// Number of generators of each degree: all, and those in `planar`.
        unsigned short n_generators[2][11];
        bool           tensor_product;
        /// Rows of moments: each is a product of rows of tables with 2
        /// max_degree + 1 functions per variable, whose indices are stored in
        /// 10 bits each. The rows that f needs come first. A row has 2
        /// max_degree + 1 columns, the functions of the first variable. Null:
        /// no moments are used.
        const unsigned int *moment_row;
        unsigned int        n_moment_rows, n_source_rows;
        /// The product of functions i and j <= i is the sum of moments
        /// product_moment[m] times product_factor[m], for product_begin[l] <= m
        /// < product_begin[l + 1], l = i (i + 1) / 2 + j.
        const unsigned int *product_begin, *product_moment;
        const double       *product_factor;
        const unsigned int *function_moment; ///< moment of each function, for f
        /// True for polytopes whose sub-cells are bricks with edges along the
        /// axes; null if there are no such polytopes.
        const unsigned char *bricks;
        /// The rules of bricks are products of rules on [0, 1]. Rule p begins
        /// at 2 p line_stride: points, then weights.
        const double *line_rule;
        unsigned int  line_stride;
        unsigned char n_line_points[11];
        /// Tables of SimplexReference.
        const double *derivative, *schur_tables, *trace_tables, *trace_squares,
          *load, *face_values, *gauss, *factor, *steps;
        const unsigned int   *schur_place;
        unsigned int          n_schur_pairs;
        const HDGSimplexFace *faces; ///< dim + 1 of each simplex
        unsigned int          n_face_functions, max_traces;
        /// On simplices: T_(m, l), the coefficients of patch function psi_m in
        /// the functions of each face of the patch, at [((k (dim + 1) + f)
        /// max_functions + m) n_face_functions + l]. Null in 2-D if patch
        /// functions equal face functions up to signs.
        const double *transfer;
        bool          robin;

        // ---- coefficients
        const double *volume_table; ///< tables of the polytopes of the tile
        std::uint64_t n_volume_points, first_volume_point;
        const double *facet_table; ///< b.n at the facet points of the tile
        std::uint64_t first_facet_point_group;
        const double *boundary_table; ///< g, then alpha, at the boundary points
                                      ///< of the whole mesh
        std::uint64_t n_boundary_points;
        const double *tau; ///< two values for each facet, or null

        // ---- data between kernels, for the tile (not for simplices)
        HDGLayout state_layout; ///< layout of elimination
        /// state: for each polytope, the arrays of state_layout before
        /// `inverse`, without the facet integrals of the Schur complement.
        /// partial: these facet integrals, for each entry. If elimination is in
        /// two parts, `state` finally holds the data for recovery.
        double      *state, *partial;
        double      *transforms; ///< coefficients of the orthonormal basis
        double      *moments;    ///< moments of the volume, then of f; or null
        unsigned int moments_stride;
        /// part_is_done: hdg_volume_kernel() only processes the polytopes that
        /// hdg_basis_kernel() leaves. undone: their number, then their indices.
        bool          part_is_done;
        unsigned int *undone;
        /// True: facet kernels process only these polytopes. False: only other
        /// polytopes, also where there are none of these.
        bool of_undone;
        /// Bits hdg_stabilised | hdg_failed | hdg_undone of all polytopes.
        unsigned int *status;

        // ---- results
        double *K;                          ///< matrices K of the tile
        double *rhs, *integral, *dirichlet; ///< indexed by trace_offset
        double *abs_f;
        /// Polytope << 8 | HDGFailure, for the first polytope that fails.
        unsigned long long *failure;
        /// U and Q of each trace function and f, and the transform; of the tile
        /// if not all are kept. Null if they are not stored, also if P.state
        /// has the data for recovery.
        double              *solvers;
        const std::uint64_t *solver_offset;
        std::uint64_t        first_solver, first_square;

        /// True if elimination is in two parts, and recovery begins with their
        /// state.
        bool
        in_parts() const
        {
          return !simplex && state_layout.few;
        }

        /// Number of values of a polytope's matrix.
        std::size_t
        square() const
        {
          return std::size_t(state_layout.n_basis) * state_layout.stride;
        }
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
