// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_backends_launch_h
#define tessella_cuda_backends_launch_h

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
      /// Scheme by which the block rows of a mesh are computed.
      enum class RowScheme
      {
        rows,   ///< a warp computes a block row
        blocks, ///< a warp computes a block or half of a block
        units   ///< a warp computes a tile of 32 x 32 entries
      };

      /// Kernel that is used for a mesh.
      struct KernelChoice
      {
        RowScheme scheme = RowScheme::units;
        /// Degree that the kernel is compiled for; -1: any degree.
        int degree = -1;
        /// Number of tiles of 8 own functions, and whether the last tile is
        /// shared with the neighbour's functions (RowKernel).
        int  tiles  = 4;
        bool packed = false;
      };

      /**
       * Data of the kernels in addition to the mesh (point groups, tiles of
       * large blocks), the selection of kernels, and their launch.
       *
       * Rows of very many points are computed in parts of a fixed number of
       * points, which are added in order, so that results do not depend on the
       * device.
       */
      template <int dim>
      class Kernels
      {
      public:
        /**
         * Constructor for the block rows of polytopes [first, last) of a mesh.
         * degrees: properties of the whole mesh, which may be larger.
         * first_point: index of the first quadrature point of each sub-cell.
         */
        Kernels(const PolytopicMesh<dim> &mesh,
                const BlockSparsity      &sparsity,
                const unsigned int        first,
                const unsigned int        last,
                const Degrees            &degrees,
                const RuleTables         &rules,
                Workspace                &workspace,
                const Parallel           &parallel);

        /// Memory on the device in bytes.
        std::size_t
        memory() const;

        /// Upper bound of the memory on the device for a mesh, in bytes.
        static std::size_t
        memory(const PolytopicMesh<dim> &mesh,
               const BlockSparsity      &sparsity,
               const RuleTables         &rules);

        /// Sets the members of @p data that this class owns.
        void
        bind(Data<dim> &data) const;

        /// Prepares the list of volume point groups if kernels for a form read
        /// it, and the data of SlabAffineKernel, from the mesh in data. The
        /// other arguments are those of the constructor.
        void
        prepare(const FormData<dim> &form,
                const std::uint64_t *first_point,
                Workspace           &workspace,
                const Parallel      &parallel,
                const Data<dim>     &data);

        /// Returns true if special kernels for slabs compute the whole form,
        /// with constant coefficients. These do little work for each value, so
        /// that chunks should be large.
        bool
        fast(const FormData<dim> &form) const;

        /// Name of the kernel that assembles a form.
        std::string
        name(const FormData<dim> &form) const;

        /// Computes the block rows of a chunk into data.values and the entries
        /// of the right-hand side into data.rhs, as the form requests; both
        /// arrays hold @p Number.
        template <typename Number>
        void
        launch(Data<dim>          data,
               const Chunk       &chunk,
               const cudaStream_t stream,
               KernelClock       &clock);

      private:
        /// Rule with the least number of points that is exact for the volume
        /// terms of the matrix or the right-hand side. If coefficients are
        /// constant and all sub-cells are affine and of one degree, integrands
        /// are polynomials of known degree (that of derivatives is lower), and
        /// the result differs by rounding only. Each rule depends on the form
        /// only, not on the terms that are assembled together. simple:
        /// AffineIntegrals suffices if the rule has one point.
        VolumeRule
        volume_rule(const bool known,
                    const int  degree,
                    const bool simple) const;

        VolumeRule
        matrix_rule(const FormData<dim> &form) const;

        VolumeRule
        rhs_rule(const FormData<dim> &form) const;

        /// True if SlabKernel computes the matrix or the right-hand side,
        /// respectively; each depends on the form only, as above.
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

        /// Sets the rules for SlabKernel; clears them if it does not serve the
        /// mesh.
        void
        set_slab_rules();

        /// Tiles of a set of rows, in device memory.
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
        /// slab: SlabKernel serves the mesh, except for n_not_upright rows.
        bool            slab;
        unsigned int    n_not_upright;
        SlabRules       slab_rules;
        RawArray<Row>   row_data;
        RawArray<uint2> block_point_groups;

        Array<VolumePointGroup> volume_point_group;
        Array<FacetPointGroup>  facet_point_group;
        Array<Row>              rows;
        Array<unsigned int>     block_row;
        Array<uint2>            block_point_group;
        /// Rows that are computed in parts; all_units: tiles of all rows, made
        /// when a form needs them.
        std::vector<unsigned int> split_rows;
        /// Rows on the boundary that are not computed in parts, without and
        /// with those that are at the bottom of a slab only.
        std::vector<unsigned int> boundary_rows[2];
        Array<unsigned int>       boundary_row[2];
        UnitList                  split_units, all_units, rhs_units;
        /// Tiles of the rows that SlabKernel does not compute.
        UnitList      other_units;
        Array<double> scratch;
        /// Arrays as in Data, and number of values per polytope and facet.
        Array<double>                slab_box, slab_facet;
        static constexpr std::size_t slab_box_size = 2 * (dim - 1),
                                     slab_facet_size =
                                       ((dim - 1) * (dim - 1) + 1) / 2 * 2;
      };

      /// Launches one of the compiled kernels. Each dimension and number type
      /// is instantiated in a file of its own, for parallel compilation.
      template <int dim, typename Number>
      struct Launcher
      {
        static void
        rows(const KernelChoice &choice,
             const Data<dim>    &data,
             const cudaStream_t  stream);

        /// n_blocks: number of blocks of the chunk.
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

        /// Computes the volume part of the right-hand side.
        static void
        rhs(const KernelChoice &choice,
            const Data<dim>    &data,
            const unsigned int  max_basis,
            const cudaStream_t  stream);

        /// Adds the boundary part of the right-hand side for n polytopes of a
        /// list.
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

      /// Launches one of the kernels for slabs, of degree 1 to 3. prismatic:
      /// every function of space is multiplied by all functions of time up to
      /// that degree. constant: see SlabKernel.
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
