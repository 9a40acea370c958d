// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_backends_host_backend_h
#define tessella_source_backends_host_backend_h

#include "assembly_backend.h"
#include "host_system.h"

namespace Tessella
{
  namespace internal
  {
    /// Assembly by the host's threads in double precision. Values for targets
    /// of another type or on a device are converted or copied.
    template <int dim>
    class HostBackend : public AssemblyBackend<dim>
    {
    public:
      explicit HostBackend(AssemblyContext<dim> &context)
        : AssemblyBackend<dim>(context)
        , host_system(context, preparation)
      {}

      Backend
      type() const override
      {
        return Backend::host;
      }
      void
      assemble(const Form<dim>                             &form,
               const typename AssemblyBackend<dim>::Target &target) override;
      void
      assemble_system(
        const SystemForm<dim>                       &system,
        const typename AssemblyBackend<dim>::Target &target) override;

    private:
      using AssemblyBackend<dim>::context;
      using AssemblyBackend<dim>::preparation;

      template <typename Number>
      void
      run(const Form<dim> &form, const AssemblyTarget<Number> &target);

      /// Computes the rows of this process. The function is called with their
      /// destination in the memory of the host, in double precision.
      template <typename Number, typename Function>
      void
      compute_rows(const AssemblyTarget<Number> &target,
                   const Function               &assemble_rows) const;

      HostSystem<dim> host_system;
    };
  } // namespace internal
} // namespace Tessella

#endif
