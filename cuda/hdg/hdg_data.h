// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_hdg_hdg_data_h
#define tessella_cuda_hdg_hdg_data_h

#include <algorithm>

#include "../backends/data.h"
#include "block_dense.h"
#include "hdg.h"

// What the kernels of hybridizable dG read.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Kernels that have a workspace: local problems on simplices as a whole;
      /// elsewhere integrals over polytopes, then those over the facets of an
      /// interface, from one side, then elimination.
      enum class HDGStage
      {
        simplex,
        moments, ///< of the volume, then
        basis,   ///< matrices that follow from them
        volume,
        facets,
        constant_facets, ///< where fewer of them are integrated (see
                         ///< HDGConstantFacets), then
        boundary,        ///< what polytopes have of all facets
        elimination,
        // where it is that of hdg_elimination_kernel.h, in two parts
        schur,
        few_elimination
      };

      /// Where a warp has points of its own: how many it takes at a time, and
      /// of how many tiles of eight functions it has sums.
      constexpr unsigned int hdg_warp_points = 32, hdg_warp_tiles = 3;

      /// Sizes for the largest local problem, and where its arrays lie in a
      /// block's workspace.
      struct HDGLayout
      {
        unsigned int n_basis  = 0; ///< functions
        unsigned int n_rows   = 0; ///< trace functions and one for f
        unsigned int n_mass   = 0; ///< rows of A
        unsigned int n_blocks = 0; ///< components that share A
        unsigned int n_points = 0; ///< of a slice
        unsigned int n_wide   = 0; ///< the same where gradients are not needed
        unsigned int max_degree = 0;
        bool         diagonal   = false; ///< A is a multiple of the identity
        /// Elimination is that of hdg_elimination_kernel.h.
        bool         few    = false;
        unsigned int stride = 0, mass_stride = 0, point_stride = 0,
                     wide_stride = 0;

        std::size_t mass, flux, transform, schur, advection, vectors, inverse,
          schur_inverse, diagonal_entries, first, second, points, tables,
          weights, size;

        /// Distances of rows of hdg_warp_points values that are read in pairs
        /// or one by one, by functions and points.
        static constexpr unsigned int ld_pairs  = hdg_warp_points + 8,
                                      ld_single = hdg_warp_points + 4;

        /// Numbers a point: coefficients and normals times weights.
        static constexpr unsigned int n_weights = 16;

        /// On simplices; @p rows: of functions of faces, and one for f; @p
        /// transformed: K goes through shared memory twice.
        void
        set_simplex(const unsigned int basis,
                    const unsigned int rows,
                    const unsigned int n_warps,
                    const bool         transformed)
        {
          n_basis          = basis;
          n_rows           = rows;
          stride           = row_stride(basis);
          mass_stride      = row_stride(rows - 1);
          std::size_t end  = 0;
          const auto  take = [&end](const std::size_t n) {
            const std::size_t begin = end;
            end += (n + 1) / 2 * 2;
            return begin;
          };
          const std::size_t solution = std::size_t(basis + rows) * stride,
                            square =
                              transformed ? std::size_t(rows) * mass_stride : 0;
          schur            = take(solution > square ? solution : square);
          first            = take(square);
          vectors          = take(4 * rows);
          diagonal_entries = take(8);
          weights          = take(std::size_t(n_warps) * padded(basis));
          size             = end;
        }

        /// @p rows: n_rows, or one for f.
        /// @p gradients: of functions, at the points of the volume.
        void
        set(const HDGStage     stage,
            const int          dim,
            const unsigned int basis,
            const unsigned int rows,
            const unsigned int degree,
            const bool         tensor,
            const bool         diagonal_mass,
            const bool         has_advection,
            const bool         gradients,
            const unsigned int slice)
        {
          const bool whole    = stage == HDGStage::elimination,
                     in_parts = stage == HDGStage::schur ||
                                stage == HDGStage::few_elimination;
          n_basis          = basis;
          n_rows           = rows;
          max_degree       = degree;
          diagonal         = diagonal_mass;
          n_mass           = tensor ? dim * ((basis + 3) / 4 * 4) : basis;
          n_blocks         = tensor ? 1 : dim;
          n_points         = slice;
          n_wide           = 2 * slice;
          stride           = row_stride(basis);
          mass_stride      = row_stride(n_mass);
          point_stride     = row_stride(slice);
          wide_stride      = row_stride(n_wide);
          std::size_t end  = 0;
          const auto  take = [&end](const std::size_t n) {
            const std::size_t begin = end;
            end += (n + 1) / 2 * 2;
            return begin;
          };
          if (stage == HDGStage::boundary)
            {
              size = 2;
              return;
            }
          if (stage == HDGStage::constant_facets)
            {
              first  = take(std::size_t(basis) * ld_pairs);
              second = take(std::size_t(basis) * ld_single);
              // (and the map to the box, and a list of generators)
              weights = take((2 + dim) * hdg_warp_points + 8 + (basis + 1) / 2);
              size    = end;
              return;
            }
          if (stage == HDGStage::facets)
            {
              if (basis <= 8 * hdg_warp_tiles)
                {
                  // (values are in registers)
                  const std::size_t row = row_stride(hdg_warp_points);
                  tables                = take(dim * (degree + 1) * row);
                  weights               = take((7 + dim) * row);
                  size                  = end;
                  return;
                }
              // Functions, traces, and what those are made of.
              const std::size_t values =
                std::size_t(basis) * row_stride(hdg_warp_points);
              second = take(values);
              first  = take(values);
              points = take(values);
              // (weights are stored when tables are not needed any more)
              const std::size_t rows =
                dim * (degree + 1) > 6u + dim ? dim * (degree + 1) : 6 + dim;
              tables = weights = take(rows * hdg_warp_points);
              size             = end;
              return;
            }
          few = (in_parts || whole) && basis <= 8 * hdg_warp_tiles &&
                diagonal && !has_advection;
          if (stage == HDGStage::few_elimination)
            {
              // (all components of a row, and of what R becomes, in a line)
              wide_stride = row_stride((dim + 1) * ((basis + 3) / 4 * 4));
              first       = take(std::size_t(rows) * wide_stride);
              // (then three numbers a row, in its place)
              second  = take(std::max<std::size_t>(basis * wide_stride,
                                                  3 * std::size_t(rows)));
              vectors = take((rows + 1) / 2);
              size    = end;
              return;
            }
          if (stage == HDGStage::schur)
            {
              flux             = take(std::size_t(dim) * basis * mass_stride);
              schur            = take(2 * std::size_t(basis) * stride);
              schur_inverse    = take(8 * ((basis + 7) / 8 * 8));
              diagonal_entries = take(basis + 2);
              size             = end;
              return;
            }
          if (stage == HDGStage::moments)
            {
              tables = take(2 * std::size_t(dim) * (2 * degree + 1) *
                            row_stride(hdg_warp_points));
              size   = end;
              return;
            }
          // The mass matrix lies before `transform`, over the end of `flux`.
          mass = take(diagonal ? 0 : std::size_t(n_mass) * mass_stride);
          flux = take(std::size_t(n_blocks) * (basis + rows) * mass_stride);
          transform = take(whole ? 0 : std::size_t(basis) * stride);
          schur     = take(std::size_t(basis + rows) * stride);
          advection = take(has_advection ? std::size_t(rows) * stride : 0);
          vectors   = take(4 * std::size_t(rows));
          inverse   = take(diagonal || !whole ? 0 : 8 * ((n_mass + 7) / 8 * 8));
          schur_inverse = take(8 * ((basis + 7) / 8 * 8));
          diagonal_entries =
            take(std::size_t(n_mass > basis ? n_mass : basis) + 2);
          if (stage == HDGStage::basis)
            {
              size = end;
              return;
            }
          // (functions and their gradients; or traces, and functions)
          const std::size_t rows_of_gradients =
                              gradients ? (dim + 1) * point_stride : 0,
                            values = basis * (rows_of_gradients > wide_stride
                                                ? rows_of_gradients
                                                : wide_stride);
          first                    = take(whole ? 0 : values);
          second                   = take(whole ? 0 : values);
          points  = take(whole ? 0 : std::size_t(dim) * n_wide);
          tables  = take(whole ? 0 : std::size_t(dim) * (degree + 1) * n_wide);
          weights = take(whole ? 0 : std::size_t(n_weights) * slice);
          if (stage == HDGStage::volume)
            {
              // (tables of a warp's points, for f)
              const std::size_t by_warps =
                first + n_threads(basis) / 32 * dim * (degree + 1) *
                          std::size_t(hdg_warp_points);
              end = end > by_warps ? end : by_warps;
            }
          size = end;
        }

        /// Room for @p n_moments, and for @p n_scratch numbers before there is
        /// anything else.
        void
        add_moments(const std::size_t n_moments, const std::size_t n_scratch)
        {
          tables = (std::max(size, n_scratch) + 1) / 2 * 2;
          size   = tables + n_moments;
        }

        /// Tiles of eight functions that kernels for few of them are compiled
        /// for.
        static constexpr unsigned int
        few_tiles(const unsigned int basis)
        {
          return basis <= 16 ? 2 : hdg_warp_tiles;
        }

        /// Threads of a block for integrals over the volume.
        __host__ __device__ static constexpr unsigned int
        n_threads(const unsigned int basis)
        {
          return basis <= 10 ? 64 : basis <= 35 ? 128 : 256;
        }
      };

      constexpr unsigned int hdg_stabilised = 1, hdg_failed = 2,
                             hdg_undone = 4; ///< hdg_volume_kernel() is needed
      /// Blocks for the facets of each of these.
      constexpr unsigned int hdg_blocks_of_undone = 16;

      /// Where row i begins in a lower triangle that is stored row by row, in
      /// pairs of entries.
      __host__ __device__ constexpr unsigned int
      pairs_before_row(const unsigned int i)
      {
        return (i + 1) / 2 * ((i + 2) / 2);
      }

      /// Numbers that are kept of a simplex of n functions and this many rows
      /// of traces and f: those rows, padded, after the first triangular solve;
      /// then the factor in pairs, inverses in the place of its diagonal
      /// blocks of eight rows.
      __host__ __device__ constexpr unsigned int
      hdg_simplex_solver_size(const unsigned int n, const unsigned int n_rows)
      {
        return n_rows * padded(n) + 2 * pairs_before_row(n);
      }

      /// The face of a simplex that is opposite to a vertex.
      struct HDGSimplexFace
      {
        unsigned int row; ///< of the patch's first trace function
        unsigned int facet;
        unsigned int code, boundary;   ///< see HDGFacetQuad
        unsigned int orientation : 8;  ///< likewise
        unsigned int n_functions : 16; ///< of the patch
        /// Where each face has traces of its own, in 2-D: these run against the
        /// order of vertices.
        unsigned int reversed : 1;
      };

      template <int dim>
      struct HDGData
      {
        /// Arrays of the mesh, rules, exponents (of total degree, or of
        /// tensor-product spaces); other entries are not set.
        Data<dim>    D;
        HDGForm<dim> form;
        bool         simplex;     ///< integrals come from SimplexReference
        HDGLayout    layout;      ///< of this kernel
        double      *workspace;   ///< null: shared memory
        unsigned int first, last; ///< polytopes of the tile
        unsigned int first_entry, last_entry; ///< of polytope_interface
        /// Polytopes that elimination takes at a time; or entries, all of them
        /// if null, that a kernel for facets does.
        const unsigned int *list;
        unsigned int        n_listed;

        const HDGVolumeQuad *volume_quad;
        /// Of the kernel that runs: facets that are planar, with integrands
        /// that are polynomials, need fewer points than others.
        const HDGFacetQuad *facet_quad;
        /// First quads of each polytope, on facets of the longer list.
        const unsigned int *volume_begin, *facet_begin;
        /// Of the mass matrix: those of the rule of mass_degree[degree].
        const HDGVolumeQuad *mass_quad;
        const unsigned int  *mass_begin;
        unsigned char        mass_degree[11];
        /// First trace function of each entry of polytope_interface within its
        /// polytope.
        const unsigned int *entry_row;
        /// The polytope of each entry, and its first quad in facet_quad.
        const unsigned int *entry_polytope, *entry_quad;
        /// First one of each polytope among those of all, and their squares.
        const std::uint64_t *trace_offset, *square_offset;
        /// Whether polytopes have what all facets contribute to the Schur
        /// complement in `partial` of their first entry, and entries that
        /// HDGConstantFacets is for then.
        bool                 projected;
        const unsigned char *entry_projected;
        /// Bit 0: Dirichlet, of each entry.
        const unsigned char *entry_fixed;
        const unsigned char *patch_degree;
        const unsigned int  *patch_functions;
        unsigned int         max_functions; ///< of a patch
        const double        *patch_frame, *patch_coefficients;
        const std::uint64_t *patch_offset;
        /// Derivatives of the functions on the box [-1, 1]^dim: function l
        /// occurs in that of derivative_function[i] with respect to variable d,
        /// times derivative_factor[i], for derivative_begin[d N + l] <= i <
        /// derivative_begin[d N + l + 1], N functions of the largest degree.
        const unsigned int *derivative_begin, *derivative_function;
        const double       *derivative_factor;
        /// Numbers of the generators that do not depend on the last variable.
        const unsigned short *planar;
        /// How many there are of each degree: all, and those.
        unsigned short n_generators[2][11];
        bool           tensor_product;
        /// Rows of tables of 2 max_degree + 1 functions a variable whose
        /// products are rows of moments, in 10 bits each; those that occur for
        /// f come first. Rows have 2 max_degree + 1 columns, the functions of
        /// the first variable; null: no moments.
        const unsigned int *moment_row;
        unsigned int        n_moment_rows, n_source_rows;
        /// The product of functions i and j <= i is the sum of moments
        /// product_moment[m] times product_factor[m], for product_begin[l] <= m
        /// < product_begin[l + 1], l = i (i + 1) / 2 + j.
        const unsigned int *product_begin, *product_moment;
        const double       *product_factor;
        const unsigned int *function_moment; ///< of each function, for f
        /// Of each polytope: its sub-cells are bricks, with edges along the
        /// axes; null if there are none.
        const unsigned char *bricks;
        /// The rules of bricks are products of rules on [0, 1]: points, then
        /// weights, of rule p from 2 p line_stride on.
        const double *line_rule;
        unsigned int  line_stride;
        unsigned char n_line_points[11];
        /// SimplexReference.
        const double *derivative, *schur_tables, *trace_tables, *trace_squares,
          *load, *face_values, *gauss, *factor, *steps;
        const unsigned int   *schur_place;
        unsigned int          n_schur_pairs;
        const HDGSimplexFace *faces; ///< dim + 1 of each simplex
        unsigned int          n_face_functions, max_traces;
        /// On simplices: T_(m, l), the functions psi_m of a patch in those of
        /// each of its faces, at [((k (dim + 1) + f) max_functions + m)
        /// n_face_functions + l]; null in 2-D if they are those of faces but
        /// for signs.
        const double *transfer;
        bool          robin;

        // ---- coefficients
        const double *volume_table; ///< of the tile
        std::uint64_t n_volume_points, first_volume_point;
        const double *facet_table; ///< b.n, of the tile
        std::uint64_t first_facet_quad;
        const double *boundary_table; ///< g, then alpha, of the whole mesh
        std::uint64_t n_boundary_points;
        const double *tau; ///< two a facet, or null

        // ---- between kernels, of the tile (not for simplices)
        HDGLayout state_layout; ///< that of elimination
        /// Its arrays up to `inverse` for each polytope, without the integrals
        /// over facets in the Schur complement: those are in `partial`, for
        /// each entry. Where elimination is in parts, what recovery needs.
        double      *state, *partial;
        double      *transforms; ///< coefficients of the orthonormal basis
        double      *moments;    ///< of the volume, then of f; or null
        unsigned int moments_stride;
        /// hdg_volume_kernel() has but what hdg_basis_kernel() leaves to do:
        /// how many polytopes, and which.
        bool          part_is_done;
        unsigned int *undone;
        /// Facets of those only, or (also where there are none) of others.
        bool of_undone;
        /// hdg_stabilised | hdg_failed | hdg_undone, of all polytopes.
        unsigned int *status;

        // ---- results
        double *K;                          ///< of the tile
        double *rhs, *integral, *dirichlet; ///< by trace_offset
        double *abs_f;
        /// Polytope << 8 | HDGFailure of the first one that fails.
        unsigned long long *failure;
        /// U and Q of each trace function and f, and the transform, or null
        /// (also where P.state has what recovery needs); of the tile if not all
        /// are kept.
        double              *solvers;
        const std::uint64_t *solver_offset;
        std::uint64_t        first_solver, first_square;
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
