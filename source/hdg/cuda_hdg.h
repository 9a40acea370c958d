// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_hdg_cuda_hdg_h
#define tessella_source_hdg_cuda_hdg_h

#include <tessella/lac/device_vector.h>

#include <functional>
#include <memory>
#include <vector>

#include "../../cuda/hdg/hdg.h"
#include "device_tabulation.h"
#include "hdg_backend.h"

namespace Tessella
{
  namespace internal
  {
    /**
     * Hybridizable dG on a CUDA device. The host supplies reference quadrature
     * rules and the tables of DeviceTabulation, turns error codes of the device
     * into error messages, and gathers the trace matrix if there are several
     * processes.
     */
    template <int dim>
    class CUDAHDG : public HDGBackend<dim>
    {
    public:
      explicit CUDAHDG(TraceSystem<dim> &system);
      ~CUDAHDG() override;

      Backend
      type() const override
      {
        return Backend::cuda;
      }

      void
      clear() override;

      void
      assemble(const Form<dim> &form, double *values, double *rhs) override;

      void
      recover(const Form<dim>     &form,
              const TraceUnknowns &traces,
              double              *solution,
              double              *flux) override;

      void
      fetch_dirichlet() override;

      void
      reinit_on_device(const Form<dim> &form) override;

      void
      assemble_on_device(const Form<dim> &form,
                         double          *values,
                         double          *rhs) override;

      void
      recover_on_device(const Form<dim> &form,
                        const double    *traces,
                        double          *solution,
                        double          *flux) override;

    private:
      /// The object on the device for a mesh and quadrature rules.
      struct Setup;

      bool
      fits(const LocalProblem<dim> &problem) const;

      /// Makes setup if it does not fit. Collective.
      void
      set_up(const LocalProblem<dim> &problem);

      using Assembly =
        std::function<Device::HDGTimes(const Device::HDGProblem<dim> &)>;
      /// Runs an assembly, turns its failures into exceptions, finds out which
      /// polytopes fix the constant, and fills the report.
      void
      run(const LocalProblem<dim> &problem, const Assembly &assembly);

      Device::HDGProblem<dim>
      make_problem(const LocalProblem<dim> &problem);

      /// Throws if the local problem of a polytope could not be solved.
      void
      check_failure() const;

      /// Assembles the K of own polytopes, for a matrix on several processes.
      void
      generate(const LocalProblem<dim> &problem, LocalBlocks &blocks);

      /// Stores the rows and columns of K (for all trace functions) that belong
      /// to DoFs.
      void
      store(const unsigned int k, const double *K, LocalBlocks &blocks) const;

      /// Number of trace functions of an interface, entry e of polytope k.
      unsigned int
      n_functions(const unsigned int k, const unsigned int e) const;

      /// Position of the first trace function of interface @p i, in its
      /// polytope on side 0, among the trace functions of all polytopes.
      std::uint64_t
      first_trace(const unsigned int i) const;

      TraceSystem<dim>      &system;
      std::unique_ptr<Setup> setup;
      /// For each polytope, after an assembly: true if c or alpha is non-zero
      /// somewhere, or with advection.
      std::vector<char>                              fixes_constant;
      std::shared_ptr<const DeviceCoefficients<dim>> coefficients;
      bool                                           dirichlet_is_here = false;
      /// Device memory for the matrix and right-hand side if the caller keeps
      /// them on the host.
      DeviceVector<double> device_values;
    };
  } // namespace internal
} // namespace Tessella

#endif
