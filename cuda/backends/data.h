// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_assembly_data_h
#define tessella_cuda_assembly_data_h

#include <tessella/grid/polytopic_mesh.h>

#include <cuda_runtime.h>

#include "assembly.h"

// What kernels read.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Up to four quadrature points of a sub-cell: the depth of one product
      /// of the matrix units.
      struct alignas(16) VolumeQuad
      {
        unsigned int  subcell, first; ///< first point in the sub-cell's rule
        std::uint64_t point;          ///< its number in the mesh
      };

      /// The same of a facet, as one of its two polytopes sees it.
      struct alignas(16) FacetQuad
      {
        unsigned int facet;
        unsigned int code; ///< flags, and the first point in the facet's rule
        unsigned int neighbor; ///< or invalid_index
        unsigned int column;   ///< first column of the neighbour's block
        unsigned int entry;    ///< in polytope_interface
        unsigned int point;    ///< number of the first point in the entry

        /// Flags of code: side of the polytope; there is a periodic shift; the
        /// facet is a prism; it is part of a slab's bottom.
        static constexpr unsigned int side = 1, shifted = 2, prism = 4,
                                      bottom = 8;
        /// Where the first point begins.
        static constexpr unsigned int point_shift = 4;
      };

      /// A rule for all sub-cells of the mesh, whose points are then numbered
      /// through.
      struct VolumeRule
      {
        unsigned int n_points, offset; ///< as in RuleTables
        unsigned int inverse;          ///< 2^32 / n_points, rounded up
        /// No terms but constant ones of derivatives or a constant right-hand
        /// side: AffineIntegrals for affine functions and one point,
        /// QuadraticIntegrals for quadratic ones on simplices.
        bool closed_form;

        bool
        operator==(const VolumeRule &other) const
        {
          return offset == other.offset && n_points == other.n_points &&
                 closed_form == other.closed_form;
        }
      };

      /// The rule in space of prisms, or of the facets between them: the first
      /// points of the product with one in time.
      struct SlabRule
      {
        unsigned int n_space, n_points; ///< points in space, and all
        unsigned int offset;            ///< as in RuleTables
        unsigned int inverse;           ///< 2^32 / n_space, rounded up
        double       factor;            ///< by which weights are multiplied
      };

      /// What SlabKernel needs besides.
      struct SlabRules
      {
        SlabRule     volume, facet;
        unsigned int quads_per_facet;  ///< of FacetQuad
        unsigned int facets_per_batch; ///< that 16 points are enough for
        double       inverse_length;   ///< of the interval of upright rows
        /// SlabAffineKernel has a lane for a row of few facets; most rows have
        /// more.
        static constexpr unsigned int few_facets = 16;
        bool                          mostly_many_facets;
      };

      /// A block row.
      struct alignas(16) Row
      {
        std::uint64_t value;    ///< first value
        unsigned int  width;    ///< entries of a row
        unsigned int  diagonal; ///< first column of the diagonal block
        /// Its quads: of facets, of those at the bottom of a slab, of facets on
        /// the boundary, of the volume. (What comes first is all that
        /// SlabAffineKernel reads.)
        unsigned int facet_begin, bottom_begin;
        bool         empty_blocks; ///< some that no facet contributes to
        /// An element of a slab that is as high as the slab, as are its
        /// neighbours (and not computed in parts): SlabKernel may do it.
        bool         upright;
        unsigned int boundary_begin, facet_end, volume_begin, volume_end;
        unsigned int degree, n_basis;
        unsigned int first_subcell, n_subcells;

        __host__ __device__ unsigned int
        n_quads() const
        {
          return volume_end - volume_begin + (facet_end - facet_begin);
        }
      };

      /// A tile of a block, or a part of its quadrature points.
      struct Unit
      {
        std::uint64_t block;
        unsigned int  row, column; ///< first row and column of the tile
        /// Range of quads: those of the volume, if the block is a diagonal one,
        /// then those of facets.
        unsigned int begin, end;
        /// Where partial sums go; invalid_index: straight to the matrix.
        unsigned int scratch;
      };

      /// Partial sums of a tile, to be added in this order.
      struct Reduction
      {
        unsigned int unit; ///< first one
        unsigned int n_parts;
      };

      /// What the kernels read; pointers are to device memory. Arrays named
      /// as those of PolytopicMesh and BlockSparsity are copies of them.
      template <int dim>
      struct Data
      {
        const double        *box, *box_map;
        const unsigned int  *degree, *n_basis, *subcell_offset;
        const unsigned int  *polytope_interface_offset, *polytope_interface;
        const std::uint64_t *dof_offset;
        const SubCellType   *subcell_type;
        const unsigned int  *subcell_vertex_offset, *subcell_point_offset;
        const double *subcell_vertices, *subcell_points, *subcell_point_weights;
        const unsigned int *interface_polytope, *interface_shift, *facet_offset;
        const double       *shift;
        const FacetType    *facet_type;
        const unsigned int *facet_vertex_offset, *facet_point_offset;
        const double       *facet_vertices, *facet_normal, *facet_measure;
        const double *facet_points, *facet_point_normals, *facet_point_weights;
        const std::uint64_t *block_offset, *value_offset;
        const unsigned int  *block_column, *column_offset, *row_width;

        /// First quadrature point of each sub-cell and facet.
        const std::uint64_t *subcell_q, *facet_q;
        /// First tabulated facet point of each entry of polytope_interface.
        const std::uint64_t *entry_q;

        const double        *rules, *sigma;
        const unsigned char *exponents;
        RuleTables::Entry    subcell_rule[5][11], facet_rule[4][11];
        /// For an affine mesh, all of one degree, and the form.
        VolumeRule volume_rule;

        // ---- set by Kernels::bind()
        const VolumeQuad   *volume_quad;
        const FacetQuad    *facet_quad;
        const Row          *rows;
        const unsigned int *block_row;  ///< row of each block
        const uint2        *block_quad; ///< interior quads of each block
        const Unit         *units;
        const Reduction    *reductions;
        void               *scratch;
        unsigned int        first_scratch;
        /// All sub-cells are simplices, or prisms, and so are facets: vertices
        /// lie at fixed distances. affine_type: the sub-cells' type;
        /// six_points: facets have two quads of three points each.
        bool         affine, tensor_space, uniform, six_points;
        unsigned int affine_type;
        /// Rows of more quads than this are computed in parts.
        unsigned int split_limit;
        unsigned int max_degree, n_pairs; ///< sizes of tables
        /// Points of a facet quad: 4, or 3 where that makes no more quads.
        unsigned int facet_step;
        /// Columns of the volume's coefficients that are not zero: 1 values, 2
        /// << d gradient.
        unsigned int volume_columns;
        /// Those that are not zero: bit e (dim + 1) + f for row e, column f.
        unsigned int volume_entries;
        SlabRules    slab;
        /// For SlabAffineKernel, n = dim - 1: centre of each polytope's box in
        /// space and scale of its variables (which go to sqrt(3)); vertices of
        /// facets in space, n n numbers each, in such an order that the normal
        /// follows from it (n = 2), or with its sign (a tenth number, n = 3).
        const double *slab_box, *slab_facet;
        /// SlabKernel has computed the rows that it can.
        bool leave_out_upright;
        /// SlabAffineKernel also does the boundary's part of the right-hand
        /// side.
        bool upright_boundary;

        FormData<dim> form;

        // ---- of a chunk
        const double *volume_table, *facet_table;
        std::uint64_t n_volume_points, n_facet_points;
        std::uint64_t first_volume_point, first_facet_point;
        /// Number of the matrix, of the chunk's first row on.
        void         *values, *rhs;
        std::uint64_t first_value, first_dof;
        unsigned int  first_polytope, n_polytopes;
        std::uint64_t first_unit; ///< block or unit

        /// Rows that other kernels compute.
        __device__ bool
        leaves_out(const Row &row) const
        {
          return row.n_quads() > split_limit ||
                 (leave_out_upright && row.upright);
        }
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
