// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_hdg_hdg_backend_h
#define tessella_source_hdg_hdg_backend_h

#include <memory>

#include "trace_system.h"

namespace Tessella
{
  namespace internal
  {
    /**
     * The computations of class HDG that a backend does: local problems, the
     * trace matrix, and the solution from traces. Forms must be prepared and
     * must have passed TraceSystem::check_reinit(). All functions fill the
     * report of the TraceSystem.
     *
     * Functions whose names end with _on_device have all arrays in device
     * memory. They may be called for Backend::cuda on one process only, and do
     * nothing on the host.
     */
    template <int dim>
    class HDGBackend
    {
    public:
      HDGBackend(TraceSystem<dim> &system, const Backend type)
        : type(type)
        , system(system)
      {}
      virtual ~HDGBackend() = default;

      const Backend type;

      /// Discards all data of the present trace spaces.
      virtual void
      clear() = 0;

      /// Assembles the own rows of trace matrix and right-hand side.
      /// Collective.
      virtual void
      assemble(const Form<dim> &form, double *values, double *rhs) = 0;

      /// Computes solution and flux on own polytopes from traces. Collective.
      virtual void
      recover(const Form<dim>     &form,
              const TraceUnknowns &traces,
              double              *solution,
              double              *flux) = 0;

      /// Completes TraceSystem::dirichlet after an assembly.
      virtual void
      fetch_dirichlet()
      {}

      /// Copies mesh, trace spaces and structure to the device.
      virtual void
      reinit_on_device(const Form<dim> &)
      {}

      virtual void
      assemble_on_device(const Form<dim> &,
                         double * /*values*/,
                         double * /*rhs*/)
      {}

      virtual void
      recover_on_device(const Form<dim> &,
                        const double * /*traces*/,
                        double * /*solution*/,
                        double * /*flux*/)
      {}

    protected:
      TraceSystem<dim> &system;
    };

    /// Makes the backend that the data of @p system ask for. Throws if this
    /// build or this machine does not have it. @p system must outlive the
    /// object. Collective.
    template <int dim>
    std::unique_ptr<HDGBackend<dim>>
    make_hdg_backend(TraceSystem<dim> &system);

    /// Its two choices; the second one exists in a build with CUDA only.
    template <int dim>
    std::unique_ptr<HDGBackend<dim>>
    make_host_hdg(TraceSystem<dim> &system);
    template <int dim>
    std::unique_ptr<HDGBackend<dim>>
    make_cuda_hdg(TraceSystem<dim> &system);
  } // namespace internal
} // namespace Tessella

#endif
