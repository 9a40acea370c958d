// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_hdg_hdg_h
#define tessella_cuda_hdg_hdg_h

#include <tessella/grid/polytopic_mesh.h>
#include <tessella/hdg/trace_space.h>
#include <tessella/lac/block_sparsity.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "../backends/assembly.h"

// Hybridizable dG on a CUDA device, in plain types: local solvers, the trace
// matrix, and the solution from traces.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Up to four quadrature points of a sub-cell.
      struct HDGVolumeQuad
      {
        unsigned int subcell, first; ///< first point in the sub-cell's rule
      };

      /// Why a local problem cannot be solved.
      enum class HDGFailure : unsigned int
      {
        diffusion        = 1, ///< A is singular up to rounding
        schur_complement = 2,
        basis            = 3, ///< polynomials are linearly dependent
        no_stabilisation = 4
      };

      /// Coefficients of an equation: constants, or the first array of each in
      /// the table of the volume (-1: constant).
      template <int dim>
      struct HDGForm
      {
        bool tensor = false, advection = false, conservative = true,
             reaction = false, source = false;
        double a                    = 1.; ///< scalar
        double a_inverse[dim * dim] = {}, b[dim] = {}, c = 0., f = 0., tau = 1.;
        int    table_a = -1, table_b = -1, table_c = -1, table_f = -1;
        int    n_tables = 0;
        /// b.n on facets is tabulated, too.
        bool facet_table = false;
      };

      template <int dim>
      struct HDGProblem
      {
        HDGForm<dim> form;
        /// Evaluates all tables on the device; or null.
        const DeviceCoefficients<dim> *coefficients = nullptr;
        /**
         * Fills the tables of polytopes [begin, end): volume arrays of n_points
         * each, numbered through as subcell_points() says (none if null), b.n
         * on facets (four a quad, one array).
         */
        std::function<void(const unsigned int  begin,
                           const unsigned int  end,
                           const std::uint64_t n_points,
                           double             *volume,
                           double             *facets)>
          tabulate;
        /// g, then alpha, of the points of boundary quads; only without
        /// coefficients.
        std::vector<double> boundary;
        /// There are Robin conditions.
        bool robin = false;
        /// Two a facet; empty: form.tau.
        std::vector<double> tau;
      };

      /// Numbering of traces, as HDG keeps it.
      struct HDGNumbering
      {
        const std::vector<unsigned int>  &block_of_interface;
        const std::vector<unsigned int>  &interface_of_block;
        const std::vector<std::uint64_t> &dof_offset; ///< of block rows
        /// Interfaces with Dirichlet conditions.
        const std::vector<bool> &fixed;
      };

      struct HDGTimes
      {
        double       generation = 0., gather = 0.; ///< kernels, seconds
        double       coefficients = 0.;            ///< tables, copies included
        double       trace_bytes = 0., solver_bytes = 0.; ///< K; what is kept
        unsigned int n_tiles = 0;
      };

      /// What decides about sizes of workspaces and slices, and with that about
      /// the order of sums: has to be the same for all processes that share a
      /// mesh, the largest of each.
      enum class HDGSize : unsigned int
      {
        traces,
        basis,
        degree,
        ten_less_degree, ///< 10 - the smallest degree
        volume_quads,
        facet_quads,
        others,         ///< not all polytopes are one simplex each
        shared_patches, ///< traces have functions on several facets
        number
      };
      using HDGSizes =
        std::array<unsigned int, static_cast<std::size_t>(HDGSize::number)>;

      /**
       * Local problems in tiles: for each of them the kernel of the local
       * problems (products on the matrix units), then a
       * gather: each row of the trace matrix is written by one warp, from its
       * two polytopes in their order. No atomics but for errors; same input,
       * same bits, for tiles of any size.
       *
       * Memory: mesh, structure and trace spaces, what is kept, and a tile.
       *
       * On several processes each takes the polytopes that it owns, whose K
       * assemble_blocks() hands over instead.
       */
      template <int dim>
      class HDGAssembler
      {
      public:
        /// References must outlive the object. @p device_memory: bytes for
        /// everything here, 0: what is free. Before anything but sizes() is
        /// used upload() must be called. @p exponents: of the largest
        /// degree. @p mass_degree: for each degree the one whose rule
        /// integrates squares of polynomials on sub-cells.
        HDGAssembler(const PolytopicMesh<dim>         &mesh,
                     const TraceSpace<dim>            &trace,
                     const BlockSparsity              &sparsity,
                     const HDGNumbering               &numbering,
                     const RuleTables                 &rules,
                     const std::vector<unsigned int>  &mass_degree,
                     const std::vector<unsigned char> &exponents,
                     const bool                        tensor_product,
                     const std::size_t                 device_memory,
                     const Parallel                   &parallel);
        ~HDGAssembler();

        const HDGSizes &
        sizes() const;
        /// Mesh and structure to the device. @p sizes: the largest of all
        /// processes.
        void
        upload(const HDGSizes &sizes);
        /// Memory on the device that assembly has taken and may take, in bytes.
        std::size_t
        memory() const;
        void
        set_device_memory(const std::size_t bytes);

        // ---- quadrature, for tables
        /// Number of points before each sub-cell.
        const std::vector<std::uint64_t> &
        subcell_points() const;
        const std::vector<HDGFacetQuad> &
        facet_quads() const;
        const std::vector<unsigned int> &
        facet_begin() const;
        unsigned int
        n_boundary_quads() const;
        /// First trace function of each polytope among those of all.
        const std::vector<std::uint64_t> &
        trace_offset() const;

        /// Matrix and vector, in device memory. @p keep: local solvers stay on
        /// the device for recover().
        HDGTimes
        assemble(const HDGProblem<dim> &problem,
                 const bool             keep,
                 double                *values,
                 double                *rhs);

        /**
         * Without a trace matrix: @p use is called, by several threads at a
         * time, with each polytope and its K for all its trace functions, in
         * the memory of the host; @p rhs are the right-hand sides of trace
         * functions by trace_offset(), to which Dirichlet values have moved.
         */
        using UseBlocks =
          std::function<void(const unsigned int polytope, const double *K)>;
        HDGTimes
        assemble_blocks(const HDGProblem<dim> &problem,
                        const bool             keep,
                        const UseBlocks       &use,
                        std::vector<double>   &rhs);

        /// The polytope (or invalid_index) and the reason that made
        /// assemble() fail.
        unsigned int failed_polytope = invalid_index;
        HDGFailure   failure         = HDGFailure::basis;

        /// Multiplications and additions of products and factorisations in the
        /// last assemble(). Counted when first asked for.
        double
        operations() const;

        /// Of polytopes, after assemble(): c that varies, or alpha, is not zero
        /// somewhere. Only if there is one of them.
        void
        download_fixed(std::vector<char> &fixed) const;

        /// Local solvers of the last assemble() are there.
        bool
        is_kept() const;

        /// u and q (dim times as many numbers) from traces; all in device
        /// memory. Local problems are computed again unless is_kept(), else
        /// @p problem is not looked at.
        /// Returns seconds.
        double
        recover(const HDGProblem<dim> &problem,
                const double          *trace,
                double                *solution,
                double                *flux);

        /// After assemble(): integrals of the trace functions of polytopes, and
        /// of |f|.
        void
        download_balance(std::vector<double> &integral,
                         std::vector<double> &abs_f) const;
        /// Coefficients of Dirichlet data by polytopes' trace functions.
        void
        download_dirichlet(std::vector<double> &dirichlet) const;

      private:
        void
        set_failure();

        struct Implementation;
        std::unique_ptr<Implementation> implementation;
      };

      /// Copies from the device to ordinary memory through pinned buffers and
      /// all threads.
      void
      download_array(const double     *from,
                     double           *to,
                     const std::size_t n,
                     const Parallel   &parallel);
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
