// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_backends_launch_h
#define tessella_cuda_backends_launch_h

#include <tessella/forms/constant_system.h>
#include <tessella/lac/block_sparsity.h>

#include <string>
#include <vector>

#include "../../source/base/host_memory.h"
#include "../device/kernel_clock.h"
#include "../device/memory.h"
#include "data.h"
#include "kernel_registry.h"
#include "point_groups.h"
#include "unit_list.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
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
        explicit Kernels(const AssemblerInput<dim> &input);

        /// Memory on the device in bytes.
        std::size_t
        memory() const;

        /// Upper bound of the memory on the device for a mesh, in bytes.
        static std::size_t
        memory(const PolytopicMesh<dim> &mesh,
               const PolytopicDoFs      &dofs,
               const BlockSparsity      &sparsity,
               const RuleTables         &rules);

        /// Sets the system whose matrix launch() computes, instead of that of a
        /// scalar form, or null. Its kernels serve simplices with one degree of
        /// at most max_system_degree.
        void
        set_system(const ConstantSystemTerms<dim> *terms);

        /// Sets the members of @p data that this class owns.
        void
        bind(Data<dim> &data) const;

        /// Prepares the list of volume point groups if kernels for a form read
        /// it, and the data of SlabAffineKernel, from the mesh in data.
        /// @p first_point: number of the first quadrature point of each
        /// sub-cell.
        void
        prepare(const FormData<dim> &form,
                const std::uint64_t *first_point,
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

        /// Sets the rule of a launch. Integrals in closed form need no points,
        /// those of a compressed quadrature included.
        void
        use_rule(Data<dim> &D, const VolumeRule &rule) const;

        VolumeRule
        rhs_rule(const FormData<dim> &form) const;

        /// Makes a mesh of parallelepipeds look like one of simplices with
        /// other rules: sub-cells and facets then have the vertices that define
        /// their affine maps, at fixed distances.
        void
        use_corners(Data<dim> &data) const;

        /// True if SlabKernel computes the upright rows of the matrix or the
        /// right-hand side, respectively.
        bool
        slab_matrix(const FormData<dim> &form) const;

        bool
        slab_rhs(const FormData<dim> &form) const;

        /// Sets n_not_upright, empty_blocks and the other members of
        /// slab_rules, from the rows.
        void
        measure_rows();

        /// Lists and uploads the rows on the boundary.
        void
        list_boundary_rows(const unsigned int bottom_id);

        /// Uploads the row and the point groups of each block, which only some
        /// kernels read, unless they are there.
        void
        upload_blocks();

        void
        make_block_units(const std::vector<unsigned int> &rows, UnitList &list);

        void
        make_rhs_units(const std::vector<unsigned int> &rows, UnitList &list);

        /// Arguments of launch() and properties of the kernels that its stages
        /// share.
        struct Launch
        {
          const Chunk       &chunk;
          const cudaStream_t stream;
          KernelClock       &clock;
          /// SlabKernel computes upright rows of the matrix and of the
          /// right-hand side.
          bool slab_rows, slab_rhs;
          /// The right-hand side has terms on the boundary.
          bool boundary;
          /// The kernel of the matrix has computed the volume part of the
          /// right-hand side.
          bool rhs_done = false;
        };

        /// The kernels for slabs.
        template <typename Number>
        void
        launch_slab_rows(Data<dim> &data, const Launch &launch) const;

        /// Launches of the matrix by the scheme of KernelRegistry.
        template <typename Number>
        void
        launch_matrix(Data<dim> &data, Launch &launch);

        template <typename Number>
        void
        launch_rows(Data<dim> &data, Launch &launch);

        template <typename Number>
        void
        launch_blocks(Data<dim> &data, Launch &launch);

        template <typename Number>
        void
        launch_tiles(Data<dim> &data, Launch &launch);

        template <typename Number>
        void
        launch_rhs(Data<dim> &data, const Launch &launch);

        /// Launches the units of a list for the matrix or the right-hand side.
        template <typename Number>
        void
        launch_units(const bool      rhs,
                     Data<dim>      &data,
                     const UnitList &list,
                     const Launch   &launch);

        const AssemblerInput<dim>      &in;
        const PolytopicMesh<dim>       &mesh;
        const PolytopicDoFs            &dofs;
        const BlockSparsity            &sparsity;
        const RuleTables               &rules;
        const unsigned int              first, last;
        const MeshProperties            properties;
        const KernelRegistry<dim>       registry;
        const KernelChoice              choice;
        const unsigned int              max_degree, pairs, facet_step;
        const ConstantSystemTerms<dim> *system = nullptr;
        const bool                      simplices, prisms, parallelepipeds;
        SlabRules                       slab_rules;
        /// slab: SlabKernel serves the mesh, except for n_not_upright rows.
        const bool   slab;
        unsigned int n_not_upright = 0;
        /// Some rows have blocks that receive no facet contributions.
        bool             empty_blocks = false;
        PointGroups<dim> groups;

        Array<VolumePointGroup> volume_point_group;
        Array<FacetPointGroup>  facet_point_group;
        Array<Row>              rows;
        Array<unsigned int>     block_row;
        Array<uint2>            block_point_group;
        /// Rows on the boundary that are not computed in parts, without and
        /// with those that are at the bottom of a slab only.
        std::vector<unsigned int> boundary_rows[2];
        Array<unsigned int>       boundary_row[2];
        /// Tiles of the rows that are computed in parts, of the matrix and of
        /// the right-hand side; all_units: tiles of all rows, made when a form
        /// needs them.
        UnitList split_units, all_units, rhs_units;
        /// Tiles of the rows that SlabKernel does not compute.
        UnitList      other_units;
        Array<double> scratch;
        /// On parallelepipeds: the first vertex and those at the ends of its
        /// edges, for each sub-cell and, in 3-D, for each facet.
        Array<double> subcell_corners, facet_corners;
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

        /// Computes units of the matrix or of the right-hand side, and adds
        /// those of which a tile consists.
        static void
        units(const bool          rhs,
              const Data<dim>    &data,
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
