// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_hdg_hdg_h
#define tessella_cuda_hdg_hdg_h

#include <tessella/grid/polytopic_dofs.h>
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

// Interface to hybridizable dG on a CUDA device, in plain types: local solvers,
// the trace matrix, and the solution from traces.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// A group of up to four quadrature points of a sub-cell.
      struct HDGVolumePointGroup
      {
        unsigned int subcell, first; ///< first point in the sub-cell's rule
      };

      /// Reason why a local problem cannot be solved.
      enum class HDGFailure : unsigned int
      {
        diffusion        = 1, ///< matrix A is singular up to rounding
        schur_complement = 2,
        basis            = 3, ///< basis functions are linearly dependent
        no_stabilisation = 4
      };

      /// Coefficients of an equation. Each of them is either a constant or a
      /// table; table_a etc. is its first array among the volume tables, or -1
      /// if it is constant.
      template <int dim>
      struct HDGForm
      {
        bool tensor = false, advection = false, conservative = true,
             reaction = false, source = false;
        double a                    = 1.; ///< scalar
        double a_inverse[dim * dim] = {}, b[dim] = {}, c = 0., f = 0., tau = 1.;
        int    table_a = -1, table_b = -1, table_c = -1, table_f = -1;
        int    n_tables = 0;
        /// The normal advection b.n on facets is tabulated, too.
        bool facet_table = false;

        /// The matrix of diffusion is the same multiple of the identity
        /// everywhere.
        bool
        diagonal() const
        {
          return !tensor && table_a < 0;
        }

        /// All coefficients but f are constants.
        bool
        constant_operator() const
        {
          return table_a < 0 && table_b < 0 && table_c < 0;
        }
      };

      /// The problem that HDGAssembler assembles: coefficients, boundary data
      /// and stabilisation.
      template <int dim>
      struct HDGProblem
      {
        HDGForm<dim> form;
        /// Coefficients for evaluation of all tables on the device, or null.
        const DeviceCoefficients<dim> *coefficients = nullptr;
        /**
         * Fills the tables of polytopes [begin, end) if there are no device
         * coefficients. @p volume (unless null): arrays of n_points values
         * each, with points in the order of HDGPlan::subcell_q. @p facets: one
         * array of b.n, with four values for each point group.
         */
        std::function<void(const unsigned int  begin,
                           const unsigned int  end,
                           const std::uint64_t n_points,
                           double             *volume,
                           double             *facets)>
          tabulate;
        /// Values of g, then of alpha, at the points of boundary point groups;
        /// only used without device coefficients.
        std::vector<double> boundary;
        /// True if there are Robin conditions.
        bool robin = false;
        /// Stabilisation: two values for each facet, or empty for form.tau.
        std::vector<double> tau;
      };

      /// Numbering of trace DoFs; references to arrays of HDG.
      struct HDGNumbering
      {
        const std::vector<unsigned int>  &block_of_interface;
        const std::vector<unsigned int>  &interface_of_block;
        const std::vector<std::uint64_t> &dof_offset; ///< of block rows
        const BlockSparsity              &sparsity;   ///< of the trace matrix
        /// Interfaces with Dirichlet conditions.
        std::vector<bool> fixed;
      };

      /// The discretisation that HDGAssembler works with. References must
      /// outlive all objects that contain a copy.
      template <int dim>
      struct HDGInput
      {
        const PolytopicMesh<dim> &mesh;
        const PolytopicDoFs      &dofs;
        const TraceSpace<dim>    &trace;
        HDGNumbering              numbering;
        RuleTables                rules;
        /// For each degree, the degree whose rule integrates squares of
        /// polynomials on sub-cells.
        std::vector<unsigned int> mass_degree;
        /// Exponents of the functions of the largest degree.
        std::vector<unsigned char> exponents;
        Parallel                   parallel;
      };

      template <int dim>
      class HDGPlan;

      /// Times and sizes of an assembly.
      struct HDGTimes
      {
        double generation = 0., gather = 0.;        ///< seconds for kernels
        double coefficients = 0.;                   ///< seconds for tables,
                                                    ///< copies included
        double trace_bytes = 0., solver_bytes = 0.; ///< bytes of K, and
                                                    ///< of what is kept
                                                    ///< for recovery
        unsigned int n_tiles = 0;
      };

      /// Sizes that determine the sizes of workspaces and slices, and with them
      /// the order of sums. All processes that share a mesh must use the same
      /// sizes: the largest value of each.
      enum class HDGSize : unsigned int
      {
        traces,
        basis,
        degree,
        ten_less_degree, ///< 10 - the smallest degree
        volume_point_groups,
        others,         ///< 1 unless every polytope is one simplex
        shared_patches, ///< 1 if trace functions extend over several facets
        number
      };
      using HDGSizes =
        std::array<unsigned int, static_cast<std::size_t>(HDGSize::number)>;

      /**
       * Computes local problems in tiles. For each tile, kernels solve the
       * local problems, with products on the matrix units. Then a kernel
       * gathers: one warp writes each row of the trace matrix, from its two
       * polytopes in their order. Only error reports use atomics. The same
       * input gives the same bits, for tiles of any size.
       *
       * Device memory: mesh, structure and trace spaces, the local solvers that
       * are kept, and a tile.
       *
       * On several processes each process handles its own polytopes, and
       * assemble_blocks() returns their K instead of a trace matrix.
       */
      template <int dim>
      class HDGAssembler
      {
      public:
        /// Copies mesh and structure to the device. @p plan must outlive the
        /// object and have the sizes of all processes.
        static std::unique_ptr<HDGAssembler>
        create(const HDGPlan<dim> &plan);

        virtual ~HDGAssembler() = default;

        /// Bytes that all arrays of this object may need together; 0 means all
        /// free memory.
        std::size_t device_memory = 0;

        /// Bytes that assembly has allocated.
        virtual std::size_t
        memory() const = 0;

        /// Assembles the trace matrix and right-hand side in device memory. @p
        /// keep: local solvers stay on the device for recover().
        virtual HDGTimes
        assemble(const HDGProblem<dim> &problem,
                 const bool             keep,
                 double                *values,
                 double                *rhs) = 0;

        /**
         * Computes K of all polytopes without a trace matrix. @p use is called
         * with each polytope and its K for all its trace functions, in host
         * memory; several threads call it at a time. @p rhs: right-hand sides
         * of trace functions, indexed by HDGPlan::trace_offset, which include
         * the contributions of Dirichlet values.
         */
        using UseBlocks =
          std::function<void(const unsigned int polytope, const double *K)>;
        virtual HDGTimes
        assemble_blocks(const HDGProblem<dim> &problem,
                        const bool             keep,
                        const UseBlocks       &use,
                        std::vector<double>   &rhs) = 0;

        /// The polytope for which assemble() failed, or invalid_index, and the
        /// reason.
        unsigned int failed_polytope = invalid_index;
        HDGFailure   failure         = HDGFailure::basis;

        /// Multiplications and additions of products and factorisations in the
        /// last assemble(). They are counted in the first call.
        virtual double
        operations() const = 0;

        /// For each polytope, after assemble(): true if a c that varies, or
        /// alpha, is non-zero somewhere. Only valid if the form has one of
        /// these.
        virtual void
        download_fixed(std::vector<char> &fixed) const = 0;

        /// True if the local solvers of the last assemble() are in device
        /// memory.
        bool is_kept = false;

        /// Computes u and q (dim times as many values) from traces. All arrays
        /// are in device memory. Unless is_kept, local problems are solved
        /// again; if is_kept, @p problem is ignored. Returns seconds.
        virtual double
        recover(const HDGProblem<dim> &problem,
                const double          *trace,
                double                *solution,
                double                *flux) = 0;

        /// Returns, after assemble(), the integrals of the trace functions of
        /// polytopes, and of |f|.
        virtual void
        download_balance(std::vector<double> &integral,
                         std::vector<double> &abs_f) const = 0;
        /// Returns the coefficients of Dirichlet data for the polytopes' trace
        /// functions.
        virtual void
        download_dirichlet(std::vector<double> &dirichlet) const = 0;
      };

      /// Copies from the device to pageable host memory, through pinned buffers
      /// and with all threads.
      void
      download_array(const double     *from,
                     double           *to,
                     const std::size_t n,
                     const Parallel   &parallel);
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
