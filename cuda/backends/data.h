// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_backends_data_h
#define tessella_cuda_backends_data_h

#include <tessella/grid/polytopic_mesh.h>

#include <cuda_runtime.h>

#include "../grid/device_mesh.h"
#include "assembly.h"

// Data that the kernels read.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Group of up to four quadrature points of a sub-cell; four is the depth
      /// of a product of the matrix units.
      struct alignas(16) VolumePointGroup
      {
        unsigned int subcell,
          first;             ///< first point, index in the rule of the sub-cell
        std::uint64_t point; ///< first point, index in the mesh
      };

      /// Group of up to four quadrature points of a facet, as seen from one of
      /// its two polytopes.
      struct alignas(16) FacetPointGroup
      {
        unsigned int facet;
        unsigned int
          code; ///< flags, and index of the first point in the facet's rule
        unsigned int neighbor; ///< or invalid_index
        unsigned int column;   ///< first column of the neighbour's block
        unsigned int entry;    ///< entry of polytope_interface
        unsigned int point;    ///< index of the first point within the entry

        /// Flags of code. side: the polytope is side 1; shifted: the interface
        /// has a periodic shift; prism: the facet is a prism; bottom: the facet
        /// belongs to the bottom of a slab.
        static constexpr unsigned int side = 1, shifted = 2, prism = 4,
                                      bottom = 8;
        /// Position of the bits of the first point.
        static constexpr unsigned int point_shift = 4;
      };

      /// Quadrature rule of all sub-cells of the mesh, whose points are then
      /// numbered consecutively.
      struct VolumeRule
      {
        unsigned int n_points, offset; ///< offset as in RuleTables
        unsigned int inverse;          ///< 2^32 / n_points, rounded up
        /// The terms consist of constant coefficients of derivatives or a
        /// constant right-hand side only: AffineIntegrals serves affine
        /// functions and one point, QuadraticIntegrals quadratic functions on
        /// simplices.
        bool closed_form;

        bool
        operator==(const VolumeRule &other) const
        {
          return offset == other.offset && n_points == other.n_points &&
                 closed_form == other.closed_form;
        }
      };

      /// Spatial rule of prisms, or of the facets between them: the first
      /// points of the product with a rule in time.
      struct SlabRule
      {
        unsigned int n_space,
          n_points;           ///< number of points in space and in space-time
        unsigned int offset;  ///< offset as in RuleTables
        unsigned int inverse; ///< 2^32 / n_space, rounded up
        double       factor;  ///< factor that weights are multiplied by
      };

      /// Additional data for SlabKernel.
      struct SlabRules
      {
        SlabRule volume, facet;
        unsigned int
          point_groups_per_facet; ///< number of point groups per facet
        unsigned int
               facets_per_batch; ///< number of facets that fit into 16 points
        double inverse_length;   ///< inverse length of the time interval of
                                 ///< upright rows
        /// Rows of at most this many facets are computed by a single lane of
        /// SlabAffineKernel. mostly_many_facets: most rows have more.
        static constexpr unsigned int few_facets = 16;
        bool                          mostly_many_facets;
      };

      /// A block row.
      struct alignas(16) Row
      {
        std::uint64_t value;    ///< index of the first value
        unsigned int  width;    ///< number of entries of a row
        unsigned int  diagonal; ///< first column of the diagonal block
        /// Ranges of its point groups: facets (from facet_begin to facet_end),
        /// which end with those on the boundary (from boundary_begin), which
        /// end with those at the bottom of a slab (from bottom_begin); volume.
        /// SlabAffineKernel reads only the members up to here, which therefore
        /// come first.
        unsigned int facet_begin, bottom_begin;
        bool empty_blocks; ///< some blocks receive no facet contributions
        /// The polytope is an element of a slab that is as high as the slab, as
        /// are its neighbours, and is not computed in parts: SlabKernel may
        /// compute the row.
        bool         upright;
        unsigned int boundary_begin, facet_end, volume_begin, volume_end;
        unsigned int degree, n_basis;
        unsigned int first_subcell, n_subcells;

        __host__ __device__ unsigned int
        n_point_groups() const
        {
          return volume_end - volume_begin + (facet_end - facet_begin);
        }
      };

      /// A tile of a block, for all or a part of its quadrature points.
      struct Unit
      {
        std::uint64_t block;
        unsigned int  row, column; ///< first row and column of the tile
        /// Range of point groups: those of the volume for a diagonal block,
        /// followed by those of facets.
        unsigned int begin, end;
        /// Index of the partial sums that the unit writes; invalid_index: the
        /// unit adds directly to the matrix.
        unsigned int scratch;
      };

      /// Partial sums of a tile, to be added in order.
      struct Reduction
      {
        unsigned int unit; ///< first unit
        unsigned int n_parts;
      };

      /// Data that the kernels read; pointers are to device memory. Arrays with
      /// the names of members of BlockSparsity are copies of them.
      template <int dim>
      struct Data : public MeshArrays<dim>, public SpaceArrays
      {
        /// For each polytope and variable: centre of the bounding box, scale of
        /// the variable, factor of the values and of the derivatives of a
        /// polynomial.
        const double        *box_map;
        const std::uint64_t *block_offset, *value_offset;
        const unsigned int  *block_column, *column_offset, *row_width;

        /// First quadrature point of each sub-cell and facet.
        const std::uint64_t *subcell_q, *facet_q;
        /// First tabulated facet point of each entry of polytope_interface.
        const std::uint64_t *entry_q;

        const double *rules, *sigma;
        /// Coordinates and weight of the volume points of a compressed
        /// quadrature, dim + 1 values per point, in the order of subcell_q;
        /// null if sub-cells have their own rules.
        const double        *volume_points;
        const unsigned char *exponents;
        RuleTables::Entry    subcell_rule[5][11], facet_rule[4][11];
        /// Rule for an affine mesh of one degree; depends on the form.
        VolumeRule volume_rule;

        // ---- set by Kernels::bind()
        const VolumePointGroup *volume_point_group;
        const FacetPointGroup  *facet_point_group;
        const Row              *rows;
        const unsigned int     *block_row; ///< row of each block
        const uint2 *block_point_group;    ///< range of interior facet point
                                           ///< groups of each block
        const Unit      *units;
        const Reduction *reductions;
        void            *scratch;
        unsigned int     first_scratch;
        /// affine: all sub-cells are simplices, or all are prisms, and facets
        /// likewise, so that vertices are stored at fixed distances.
        /// affine_type: type of the sub-cells. six_points: facets have two
        /// groups of three points each.
        bool         affine, tensor_space, uniform, six_points;
        unsigned int affine_type;
        /// Rows with more point groups than this are computed in parts.
        unsigned int split_limit;
        unsigned int max_degree, n_pairs; ///< sizes of tables
        /// Number of points of a facet point group: 4, or 3 where that does not
        /// increase the number of groups.
        unsigned int facet_step;
        /// Bits of the non-zero columns of the volume coefficients: 1 value, 2
        /// << d gradient.
        unsigned int volume_columns;
        /// Bits of the non-zero volume coefficients: bit e (dim + 1) + f for
        /// row e, column f.
        unsigned int volume_entries;
        SlabRules    slab;
        /// Geometry for SlabAffineKernel, with n = dim - 1. slab_box: centre of
        /// each polytope's bounding box in space and scale of its variables
        /// (whose range ends at sqrt(3)). slab_facet: centre of each facet in
        /// space and its edges from the first vertex, n n values in all. For n
        /// = 2, the sign of the edge is such that the normal follows from it;
        /// for n = 3, the sign of the normal is stored as tenth value.
        const double *slab_box, *slab_facet;
        /// True if SlabKernel has computed all upright rows.
        bool leave_out_upright;
        /// True if SlabAffineKernel also computes the boundary part of the
        /// right-hand side.
        bool upright_boundary;

        FormData<dim> form;

        // ---- data of a chunk
        const double *volume_table, *facet_table;
        std::uint64_t n_volume_points, n_facet_points;
        std::uint64_t first_volume_point, first_facet_point;
        /// Target arrays of the kernel's number type; first_value and first_dof
        /// are the indices of their first entries.
        void         *values, *rhs;
        std::uint64_t first_value, first_dof;
        unsigned int  first_polytope, n_polytopes;
        std::uint64_t first_unit; ///< first block or unit

        /// True for rows that other kernels compute.
        __device__ bool
        leaves_out(const Row &row) const
        {
          return row.n_point_groups() > split_limit ||
                 (leave_out_upright && row.upright);
        }
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
