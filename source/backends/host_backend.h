// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_backends_host_backend_h
#define tessella_source_backends_host_backend_h

#include "assembly_backend.h"

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
      using AssemblyBackend<dim>::AssemblyBackend;

      Backend
      type() const override
      {
        return Backend::host;
      }
      void
      assemble(const Form<dim>                             &form,
               const typename AssemblyBackend<dim>::Target &target) override;

    private:
      using AssemblyBackend<dim>::context;
      using AssemblyBackend<dim>::preparation;

      template <typename Number>
      void
      run(const Form<dim> &form, const AssemblyTarget<Number> &target);

      /// Computes the rows of this process.
      template <typename Number>
      void
      compute_rows(const Form<dim>              &form,
                   const std::vector<double>    &sigma,
                   const AssemblyTarget<Number> &target) const;
    };
  } // namespace internal
} // namespace Tessella

#endif
