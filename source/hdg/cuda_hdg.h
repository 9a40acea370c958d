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
     * The host's part of hybridizable dG on a CUDA device: reference rules,
     * tables of what the device cannot evaluate itself (coefficients at the
     * points of a tile, data on the boundary: by the host's threads), errors in
     * words.
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

      /// Sizes on this process, and the upload of mesh, trace spaces and
      /// structure with the largest of all processes.
      const Device::HDGSizes &
      sizes() const;
      void
      upload(const Device::HDGSizes &sizes);

      /// Bytes that assembly has taken on the device, and may take.
      std::size_t
      memory() const;
      void
      set_device_memory(const std::size_t bytes);

      /// Is it for the mesh and rules of @p problem?
      bool
      fits(const LocalProblem<dim> &problem) const;

      /// Matrix and right-hand side in device memory.
      Device::HDGTimes
      assemble(const LocalProblem<dim> &problem,
               const bool               keep,
               double                  *values,
               double                  *rhs);

      /// See Device::HDGAssembler.
      Device::HDGTimes
      assemble_blocks(const LocalProblem<dim> &problem,
                      const bool               keep,
                      const typename Device::HDGAssembler<dim>::UseBlocks &use,
                      std::vector<double>                                 &rhs);

      /// Seconds on the device; all in its memory.
      double
      recover(const LocalProblem<dim> &problem,
              const double            *trace,
              double                  *solution,
              double                  *flux);

      /// c or alpha is non-zero somewhere, or there is advection: by polytopes,
      /// after assemble().
      std::vector<char> fixes_constant;

      /// Integrals of |g| over the boundary of a polytope where conditions are
      /// not Dirichlet's, on the host.
      double
      integral_abs_g(const LocalProblem<dim> &problem,
                     const unsigned int       polytope) const;

      /// How the last assembly's coefficients were evaluated, in words; and
      /// the operations of its local problems.
      std::string coefficients_are;
      double
      operations() const;

      /// Traces of polytopes, see Device::HDGAssembler.
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
      /// After an assembly.
      void
      finish(const Device::HDGProblem<dim> &problem);

      Device::HDGProblem<dim>
      make_problem(const LocalProblem<dim> &problem);

      void
      tabulate_tau(const LocalProblem<dim> &problem,
                   std::vector<double>     &table) const;

      /// Data on the boundary by the host.
      void
      tabulate_boundary(const LocalProblem<dim> &problem,
                        std::vector<double>     &table) const;

      /// Calls function(number of a quad, quadrature of its facet, g, alpha)
      /// for the quads of a polytope on the boundary, those of Dirichlet
      /// conditions among them or not.
      template <typename Function>
      void
      for_boundary_quads(const LocalProblem<dim> &problem,
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
