// SPDX-License-Identifier: LGPL-2.1-or-later
#ifndef tessella_cuda_data_h
#define tessella_cuda_data_h

#include <tessella/grid/polytopic_mesh.h>

#include "assembly.h"

// What kernels read.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
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
        /// Row of each block, and its first entry of polytope_interface.
        const unsigned int *block_row, *block_entry;
        /// Tiles of blocks, if their number varies: block << 16 | row tile <<
        /// 8 | column tile.
        const std::uint64_t *tiles;

        const double        *rules, *sigma;
        const unsigned char *exponents;
        RuleTables::Entry    subcell_rule[3][11], facet_rule[2][11];

        FormData<dim> form;

        // ---- of a chunk
        const double *volume_table, *facet_table;
        std::uint64_t n_volume_points, n_facet_points;
        std::uint64_t first_volume_point, first_facet_point;
        double       *values, *rhs;
        std::uint64_t first_value, first_dof;
        unsigned int  first_polytope, n_polytopes;
        std::uint64_t first_unit; // block or tile
        unsigned int  tiles_m, tiles_n;
        unsigned int  table_stride; // in double2
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
