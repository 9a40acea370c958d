// SPDX-License-Identifier: LGPL-2.1-or-later
#ifndef tessella_cuda_hdg_data_h
#define tessella_cuda_hdg_data_h

#include "block_dense.h"
#include "data.h"
#include "hdg.h"

// What the kernels of hybridizable dG read.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
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
        bool         simplex = false; ///< integrals come from SimplexReference
        unsigned int stride = 0, mass_stride = 0, point_stride = 0,
                     wide_stride = 0;

        std::size_t mass, flux, transform, schur, advection, vectors, inverse,
          schur_inverse, diagonal_entries, first, second, points, tables,
          weights, size;

        /// Numbers a point: coefficients and normals times weights.
        static constexpr unsigned int n_weights = 16, n_facet_weights = 9;

        __host__ __device__ void
        set(const int          dim,
            const unsigned int basis,
            const unsigned int rows,
            const unsigned int degree,
            const bool         tensor,
            const bool         diagonal_mass,
            const bool         has_advection,
            const bool         from_reference,
            const unsigned int slice)
        {
          n_basis          = basis;
          n_rows           = rows;
          max_degree       = degree;
          diagonal         = diagonal_mass;
          simplex          = from_reference;
          n_mass           = tensor ? dim * ((basis + 3) / 4 * 4) : basis;
          n_blocks         = tensor ? 1 : dim;
          n_points         = slice;
          n_wide           = dim == 3 && !from_reference ? 2 * slice : slice;
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
          // The mass matrix lies before `transform`, over the end of `flux`.
          mass = take(diagonal ? 0 : std::size_t(n_mass) * mass_stride);
          flux = take(std::size_t(n_blocks) * (basis + rows) * mass_stride);
          transform     = take(simplex ? 0 : std::size_t(basis) * stride);
          schur         = take(std::size_t(basis + rows) * stride);
          advection     = take(has_advection ? std::size_t(rows) * stride : 0);
          vectors       = take(3 * std::size_t(rows));
          inverse       = take(diagonal ? 0 : 8 * ((n_mass + 7) / 8 * 8));
          schur_inverse = take(8 * ((basis + 7) / 8 * 8));
          diagonal_entries =
            take(std::size_t(n_mass > basis ? n_mass : basis) + 2);
          // (functions and their gradients; on facets the functions, or
          // generators of traces, and traces)
          const auto value_rows = [&](const unsigned int n_values) {
            const std::size_t gradients =
                                (simplex ? 1 : dim + 1) * point_stride,
                              values = n_values * wide_stride;
            return basis * (gradients > values ? gradients : values);
          };
          first   = take(value_rows(simplex ? 1 : 2));
          second  = take(value_rows(1));
          points  = take(2 * std::size_t(dim) * n_wide);
          tables  = take(std::size_t(dim) * (degree + 1) *
                        (n_wide > 2 * slice ? n_wide : 2 * slice));
          weights = take(n_weights * slice > n_facet_weights * n_wide
                           ? std::size_t(n_weights) * slice
                           : std::size_t(n_facet_weights) * n_wide);
          size    = end;
        }
      };

      template <int dim>
      struct HDGData
      {
        /// Arrays of the mesh, rules, exponents (of total degree, or of
        /// tensor-product spaces); other entries are not set.
        Data<dim>    D;
        HDGForm<dim> form;
        HDGLayout    layout;
        double      *workspace;   ///< null: shared memory
        unsigned int first, last; ///< polytopes of the tile

        const HDGVolumeQuad *volume_quad;
        const HDGFacetQuad  *facet_quad;
        /// First quads of each polytope.
        const unsigned int *volume_begin, *facet_begin;
        /// Of the mass matrix: those of the rule of mass_degree[degree].
        const HDGVolumeQuad *mass_quad;
        const unsigned int  *mass_begin;
        unsigned char        mass_degree[11];
        /// First trace function of each entry of polytope_interface within its
        /// polytope.
        const unsigned int *entry_row;
        /// First one of each polytope among those of all, and their squares.
        const std::uint64_t *trace_offset, *square_offset;
        /// Bit 0: Dirichlet, of each entry.
        const unsigned char *entry_fixed;
        const unsigned char *patch_degree;
        const unsigned int  *patch_functions;
        unsigned int         max_functions; ///< of a patch
        const double        *patch_frame, *patch_coefficients;
        const std::uint64_t *patch_offset;
        /// Numbers of the generators that do not depend on the last variable.
        const unsigned short *planar;
        bool                  tensor_product;
        /// SimplexReference.
        const double *derivative, *squares, *load, *facet_values, *gauss;

        // ---- coefficients
        const double *volume_table; ///< of the tile
        std::uint64_t n_volume_points, first_volume_point;
        const double *facet_table; ///< b.n, of the tile
        std::uint64_t first_facet_quad;
        const double *boundary_table; ///< g, then alpha, of the whole mesh
        std::uint64_t n_boundary_points;
        const double *tau; ///< two a facet, or null

        // ---- results
        double *K;                          ///< of the tile
        double *rhs, *integral, *dirichlet; ///< by trace_offset
        double *abs_f;
        /// Polytope << 8 | HDGFailure of the first one that fails.
        unsigned long long *failure;
        /// U and Q of each trace function and f, and the transform, or null;
        /// of the tile if not all are kept.
        double              *solvers;
        const std::uint64_t *solver_offset;
        std::uint64_t        first_solver, first_square;
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
