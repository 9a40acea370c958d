// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_hdg_hdg_layout_h
#define tessella_cuda_hdg_hdg_layout_h

#include <cstddef>

#include "block_dense.h"

// Stages of the local problems, and the workspaces of their kernels.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Kernels that have a workspace. On simplices one kernel solves the
      /// local problem as a whole. On other polytopes the stages are integrals
      /// over the volume, integrals over the facets of an interface from one
      /// side, and elimination.
      enum class HDGStage
      {
        simplex,
        moments, ///< moments of the volume, followed by basis
        basis,   ///< basis and matrices from moments
        volume,
        facets,
        constant_facets, ///< facets with fewer integrals (see
                         ///< HDGConstantFacets), followed by boundary
        boundary,        ///< contributions of all facets of a polytope
        elimination,
        // elimination of hdg_elimination_kernel.h, in two parts
        schur,
        few_elimination
      };

      /// In kernels whose warps have points of their own: number of points that
      /// a warp processes at a time, and number of tiles of eight functions in
      /// its sums.
      constexpr unsigned int hdg_warp_points = 32, hdg_warp_tiles = 3;

      /// Sizes that the workspace of a stage depends on.
      struct HDGLayoutSizes
      {
        HDGStage     stage;
        int          dim;
        unsigned int basis, rows; ///< n_basis and n_rows of HDGLayout
        unsigned int degree;
        bool         tensor, diagonal, advection;
        bool         gradients; ///< of functions, at the points of the volume
        unsigned int slice;     ///< points of a slice
      };

      /// Sizes of the largest local problem, and positions of its arrays in the
      /// workspace of a thread block.
      struct HDGLayout
      {
        unsigned int n_basis  = 0; ///< functions
        unsigned int n_rows   = 0; ///< trace functions, and one row for f
        unsigned int n_mass   = 0; ///< rows of A
        unsigned int n_blocks = 0; ///< components whose blocks share A
        unsigned int n_points = 0; ///< points of a slice
        unsigned int n_wide   = 0; ///< points of a slice if gradients are not
                                   ///< needed
        unsigned int max_degree = 0;
        bool         diagonal   = false; ///< A is a multiple of the identity
        /// Elimination uses the kernels of hdg_elimination_kernel.h.
        bool         few    = false;
        unsigned int stride = 0, mass_stride = 0, point_stride = 0,
                     wide_stride = 0;

        std::size_t mass, flux, transform, schur, advection, vectors, inverse,
          schur_inverse, diagonal_entries, first, second, points, tables,
          weights, size;

        /// Distance between rows of hdg_warp_points values, one row per
        /// function, that are read in pairs or one by one.
        static constexpr unsigned int ld_pairs  = hdg_warp_points + 8,
                                      ld_single = hdg_warp_points + 4;

        /// Values per point: coefficients and normals, times weights.
        static constexpr unsigned int n_weights = 16;

        /// Layout for simplices. @p rows: number of functions of all faces, and
        /// one for f. @p transformed: K passes through shared memory twice.
        void
        set_simplex(const unsigned int basis,
                    const unsigned int rows,
                    const unsigned int n_warps,
                    const bool         transformed);

        /// Layout for other polytopes.
        void
        set(const HDGLayoutSizes &sizes);

        /// Adds @p n_moments values for moments behind all other arrays, and
        /// behind @p n_scratch values of scratch that is used before the other
        /// arrays are written.
        void
        add_moments(const std::size_t n_moments, const std::size_t n_scratch);

        /// Number of tiles of eight functions that the kernels for up to 8
        /// hdg_warp_tiles functions are compiled for.
        static constexpr unsigned int
        few_tiles(const unsigned int basis)
        {
          return basis <= 16 ? 2 : hdg_warp_tiles;
        }

        /// Threads of a thread block for integrals over the volume.
        __host__ __device__ static constexpr unsigned int
        n_threads(const unsigned int basis)
        {
          return basis <= 10 ? 64 : basis <= 35 ? 128 : 256;
        }
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
