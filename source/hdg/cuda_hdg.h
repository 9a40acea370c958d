// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_hdg_cuda_hdg_h
#define tessella_source_hdg_cuda_hdg_h

#include <tessella/lac/block_sparsity.h>
#include <tessella/lac/device_vector.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "../../cuda/hdg/hdg.h"
#include "local_solver.h"

namespace Tessella
{
  namespace internal
  {
    /**
     * The host's part of hybridizable dG on a CUDA device. It supplies
     * reference quadrature rules, and tables of data that the device cannot
     * evaluate itself: coefficients at the points of a tile, and data on the
     * boundary. The threads of the host compute these tables. It also turns
     * error codes of the device into error messages.
     */
    template <int dim>
    class CUDAHDG
    {
    public:
      /// References must outlive the object. upload() must follow.
      CUDAHDG(const LocalProblem<dim>    &problem,
              const BlockSparsity        &sparsity,
              const Device::HDGNumbering &numbering,
              const std::size_t           device_memory);

      /// Sizes on this process. upload() copies mesh, trace spaces and
      /// structure to the device, for the largest sizes of all processes.
      const Device::HDGSizes &
      sizes() const;
      void
      upload(const Device::HDGSizes &sizes);

      /// Device memory, in bytes, that assembly has allocated, and that it may
      /// allocate.
      std::size_t
      memory() const;
      void
      set_device_memory(const std::size_t bytes);

      /// True if the object was set up for the mesh and rules of @p problem.
      bool
      fits(const LocalProblem<dim> &problem) const;

      /// Assembles matrix and right-hand side in device memory. @p keep: local
      /// solvers stay on the device for recover().
      Device::HDGTimes
      assemble(const LocalProblem<dim> &problem,
               const bool               keep,
               double                  *values,
               double                  *rhs);

      /// See Device::HDGAssembler::assemble_blocks().
      Device::HDGTimes
      assemble_blocks(const LocalProblem<dim> &problem,
                      const bool               keep,
                      const typename Device::HDGAssembler<dim>::UseBlocks &use,
                      std::vector<double>                                 &rhs);

      /// Computes solution and flux from traces, all in device memory. Returns
      /// seconds on the device.
      double
      recover(const LocalProblem<dim> &problem,
              const double            *trace,
              double                  *solution,
              double                  *flux);

      /// For each polytope, after assemble(): true if c or alpha is non-zero
      /// somewhere, or with advection.
      std::vector<char> fixes_constant;

      /// Integral of |g| over the part of a polytope's boundary that has no
      /// Dirichlet condition, computed on the host.
      double
      integral_abs_g(const LocalProblem<dim> &problem,
                     const unsigned int       polytope) const;

      /// Description of how the last assembly evaluated coefficients, and the
      /// number of operations of its local problems.
      std::string coefficients_are;
      double
      operations() const;

      /// Data by polytopes' trace functions, see Device::HDGAssembler.
      std::vector<double>
      dirichlet() const;
      void
      balance(std::vector<double> &integral, std::vector<double> &abs_f) const;
      const std::vector<std::uint64_t> &
      trace_offset() const;

      static void
      download(const double *from, double *to, const std::size_t n);
      static void
      upload(const double *from, double *to, const std::size_t n);

    private:
      /// Completes fixes_constant after an assembly. Throws if the assembly
      /// failed.
      void
      finish(const Device::HDGProblem<dim> &problem);

      Device::HDGProblem<dim>
      make_problem(const LocalProblem<dim> &problem);

      void
      tabulate_tau(const LocalProblem<dim> &problem,
                   std::vector<double>     &table) const;

      /// Evaluates boundary data on the host.
      void
      tabulate_boundary(const LocalProblem<dim> &problem,
                        std::vector<double>     &table) const;

      /// Calls function(index of a point group, quadrature of its facet, g,
      /// alpha) for the point groups of a polytope on the boundary. Those on
      /// Dirichlet boundaries are included if @p dirichlet.
      template <typename Function>
      void
      for_boundary_point_groups(const LocalProblem<dim> &problem,
                                const unsigned int       polytope,
                                const bool               dirichlet,
                                const Function          &function) const;

      void
      tabulate(const LocalProblem<dim>    &problem,
               const Device::HDGForm<dim> &form,
               const unsigned int          begin,
               const unsigned int          end,
               const std::uint64_t         n_points,
               double                     *volume,
               double                     *facets);

      const PolytopicMesh<dim>                  &mesh;
      const std::uint64_t                        revision, quadrature_revision;
      const std::vector<unsigned int>            order;
      Device::RuleTables                         rules;
      std::vector<unsigned char>                 exponents;
      std::unique_ptr<Device::HDGAssembler<dim>> device;
      std::vector<unsigned int> boundary_polytopes, boundary_ids;
      std::shared_ptr<const DeviceCoefficients<dim>> coefficients;
    };
  } // namespace internal
} // namespace Tessella

#endif
