// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_assembly_launch_h
#define tessella_cuda_assembly_launch_h

#include <tessella/lac/block_sparsity.h>

#include <string>
#include <vector>

#include "../../source/base/host_memory.h"
#include "../device/kernel_clock.h"
#include "../device/memory.h"
#include "data.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// How the block rows of a mesh are computed.
      enum class RowScheme
      {
        rows,   ///< a warp computes a block row
        blocks, ///< a warp computes a block or half of one
        units   ///< a warp computes a tile of 32 x 32 entries
      };

      /// The kernel that serves a mesh.
      struct KernelChoice
      {
        RowScheme scheme = RowScheme::units;
        /// Degree that the kernel is compiled for; -1: any.
        int degree = -1;
        /// Tiles of 8 own functions, and whether the last one is shared with
        /// the neighbour's (RowKernel).
        int  tiles  = 4;
        bool packed = false;
      };

      /**
       * What the kernels need besides the mesh (lists of quadrature points by
       * fours, tiles of large blocks), the choice of kernels and their start.
       *
       * Rows of very many points are computed in parts of a fixed number of
       * points, which are added in order: results do not depend on the device.
       */
      template <int dim>
      class Kernels
      {
      public:
        /**
         * For the block rows of polytopes [first, last) of a mesh. degrees: of
         * the whole mesh, which may be larger. first_point: number of the first
         * quadrature point of each sub-cell.
         */
        Kernels(const PolytopicMesh<dim> &mesh,
                const BlockSparsity      &sparsity,
                const unsigned int        first,
                const unsigned int        last,
                const Degrees            &degrees,
                const RuleTables         &rules,
                Workspace                &workspace,
                const Parallel           &parallel);

        /// Bytes on the device.
        std::size_t
        memory() const;

        /// The same for a mesh, at most.
        static std::size_t
        memory(const PolytopicMesh<dim> &mesh,
               const BlockSparsity      &sparsity,
               const RuleTables         &rules);

        /// Sets what belongs to this class.
        void
        bind(Data<dim> &data) const;

        /// Makes the list of quadrature points of the volume, if kernels for a
        /// form read it, and what SlabAffineKernel reads, from the mesh in
        /// data. Arguments as of the constructor.
        void
        prepare(const FormData<dim> &form,
                const std::uint64_t *first_point,
                Workspace           &workspace,
                const Parallel      &parallel,
                const Data<dim>     &data);

        /// Whether kernels for slabs alone compute a form with constant
        /// coefficients: little work for each value, so that chunks should be
        /// large.
        bool
        fast(const FormData<dim> &form) const;

        /// Name of the kernel that a form is assembled with.
        std::string
        name(const FormData<dim> &form) const;

        /// Block rows of a chunk into data.values and entries of the
        /// right-hand side into data.rhs, as the form asks for them; both hold
        /// @p Number.
        template <typename Number>
        void
        launch(Data<dim>          data,
               const Chunk       &chunk,
               const cudaStream_t stream,
               KernelClock       &clock);

      private:
        /// The rule with fewest points that is exact for the volume terms of
        /// the matrix or the right-hand side: where coefficients are constant
        /// and all sub-cells affine ones of one degree, integrands are
        /// polynomials whose degree is known (that of derivatives is lower),
        /// and the result is the same but for rounding. Each depends on the
        /// form only, not on what is assembled with it. simple: AffineIntegrals
        /// are enough if there is one point.
        VolumeRule
        volume_rule(const bool known,
                    const int  degree,
                    const bool simple) const;

        VolumeRule
        matrix_rule(const FormData<dim> &form) const;

        VolumeRule
        rhs_rule(const FormData<dim> &form) const;

        /// Whether SlabKernel computes the matrix, the right-hand side; each
        /// depends on the form only, as above.
        bool
        slab_matrix(const FormData<dim> &form) const;

        bool
        slab_rhs(const FormData<dim> &form) const;

        template <typename Number>
        void
        launch_slab_rows(const Data<dim>   &data,
                         const bool         constant,
                         const cudaStream_t stream) const;

        unsigned int
        n_subcell_points(const unsigned int subcell,
                         const unsigned int degree) const;

        /// Rules for it; none if it does not serve the mesh.
        void
        set_slab_rules();

        /// Tiles of some rows in device memory.
        struct UnitList
        {
          std::vector<unsigned int> rows;
          /// First unit, reduction and partial sum of each of these rows.
          std::vector<std::uint32_t> unit_begin, reduction_begin, scratch_begin;
          Array<Unit>                units;
          Array<Reduction>           reductions;
        };

        void
        make_block_units(const std::vector<unsigned int> &rows, UnitList &list);

        void
        make_rhs_units(const std::vector<unsigned int> &rows, UnitList &list);

        void
        upload(const std::vector<Unit>      &units,
               const std::vector<Reduction> &reductions,
               UnitList                     &list);

        template <typename Number, bool rhs>
        void
        launch_units(Data<dim>         &data,
                     const UnitList    &list,
                     const Chunk       &chunk,
                     const cudaStream_t stream);

        const PolytopicMesh<dim> &mesh;
        const BlockSparsity      &sparsity;
        const RuleTables         &rules;
        const unsigned int        first, last;
        KernelChoice              choice;
        unsigned int              max_degree, max_basis, pairs, facet_step;
        bool                      uniform, tensor_space, simplices, prisms;
        /// SlabKernel serves the mesh, but for a number of rows.
        bool            slab;
        unsigned int    n_not_upright;
        SlabRules       slab_rules;
        RawArray<Row>   row_data;
        RawArray<uint2> block_quads;

        Array<VolumeQuad>   volume_quad;
        Array<FacetQuad>    facet_quad;
        Array<Row>          rows;
        Array<unsigned int> block_row;
        Array<uint2>        block_quad;
        /// Rows that are computed in parts, and all rows (made when a form
        /// needs them).
        std::vector<unsigned int> split_rows;
        /// Rows on the boundary, except those; without and with the bottom of
        /// a slab.
        std::vector<unsigned int> boundary_rows[2];
        Array<unsigned int>       boundary_row[2];
        UnitList                  split_units, all_units, rhs_units;
        /// Of rows that SlabKernel does not do.
        UnitList      other_units;
        Array<double> scratch;
        /// As in Data, and numbers of a polytope and a facet.
        Array<double>                slab_box, slab_facet;
        static constexpr std::size_t slab_box_size = 2 * (dim - 1),
                                     slab_facet_size =
                                       ((dim - 1) * (dim - 1) + 1) / 2 * 2;
      };

      /// Starts one of the compiled kernels: instantiated for both dimensions
      /// and number types in files of their own, to be compiled in parallel.
      template <int dim, typename Number>
      struct Launcher
      {
        static void
        rows(const KernelChoice &choice,
             const Data<dim>    &data,
             const cudaStream_t  stream);

        /// n_blocks: blocks of the chunk.
        static void
        blocks(const KernelChoice &choice,
               const Data<dim>    &data,
               const std::uint64_t n_blocks,
               const cudaStream_t  stream);

        static void
        units(const Data<dim>    &data,
              const std::uint64_t n_units,
              const std::uint64_t first_reduction,
              const std::uint64_t n_reductions,
              const cudaStream_t  stream);

        /// The volume's part of the right-hand side.
        static void
        rhs(const KernelChoice &choice,
            const Data<dim>    &data,
            const unsigned int  max_basis,
            const cudaStream_t  stream);

        /// Adds the boundary's part for n polytopes of a list.
        static void
        rhs_boundary(const KernelChoice &choice,
                     const Data<dim>    &data,
                     const unsigned int *polytopes,
                     const unsigned int  n,
                     const unsigned int  max_basis,
                     const cudaStream_t  stream);

        static void
        rhs_units(const Data<dim>    &data,
                  const std::uint64_t n_units,
                  const std::uint64_t first_reduction,
                  const std::uint64_t n_reductions,
                  const cudaStream_t  stream);
      };

      /// Starts one of the kernels for slabs, degree 1 to 3; prismatic: of that
      /// degree in time for every function of space; constant: see SlabKernel.
      template <int dim, typename Number>
      struct SlabLauncher
      {
        static void
        rows(const unsigned int degree,
             const bool         prismatic,
             const bool         constant,
             const Data<dim>   &data,
             const cudaStream_t stream);

        /// Fills Data::slab_box and Data::slab_facet.
        static void
        geometry(const Data<dim>   &data,
                 const unsigned int n_polytopes,
                 const unsigned int n_facets,
                 double            *box,
                 double            *facet,
                 const cudaStream_t stream);
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
