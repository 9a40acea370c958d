// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_backends_assembly_backend_h
#define tessella_source_backends_assembly_backend_h

#include <tessella/base/backend.h>
#include <tessella/forms/form.h>
#include <tessella/forms/system_form.h>

#include <future>
#include <memory>
#include <variant>
#include <vector>

#include "assembly_context.h"
#include "form_preparation.h"
#include "target.h"

namespace Tessella
{
  namespace internal
  {
    /**
     * Assembly of forms on the host or on a CUDA device. Mesh, structure,
     * parameters and report are those of the context, which must outlive the
     * backend. Data that a backend makes from them are kept until they change.
     */
    template <int dim>
    class AssemblyBackend
    {
    public:
      /// Destination of an assembly in double or single precision.
      using Target = std::variant<const AssemblyTarget<double> *,
                                  const AssemblyTarget<float> *>;

      explicit AssemblyBackend(AssemblyContext<dim> &context)
        : context(context)
        , preparation(context, true)
      {}
      virtual ~AssemblyBackend() = default;

      /// host or cuda.
      virtual Backend
      type() const = 0;

      /// May start work for the mesh and the structure of the context that
      /// needs no form, while the calling thread continues. Callers must wait
      /// for the result, if it is valid, before they change the mesh.
      virtual std::future<void>
      reinit()
      {
        return {};
      }

      /// Sigma of every facet, as the host computes it. Collective.
      const std::vector<double> &
      penalty(const Form<dim> &form)
      {
        form.prepare();
        return *preparation.prepare(form).values;
      }

      /// Computes the matrix and the right-hand side if the target has a
      /// destination for them, and sets the report except for the members that
      /// all backends share. Collective.
      virtual void
      assemble(const Form<dim> &form, const Target &target) = 0;

      /// The same for systems. Throws if the backend has scalar forms only.
      /// Collective.
      virtual void
      assemble_system(const SystemForm<dim> &system, const Target &target);

    protected:
      /// Whether this process has polytopes.
      bool
      has_polytopes() const
      {
        return context.space->n_polytopes() > 0;
      }

      AssemblyContext<dim> &context;
      FormPreparation<dim>  preparation;
    };



    /// Creates the backend that the parameters of the context choose. With
    /// several processes, all use the same one. Collective.
    template <int dim>
    std::unique_ptr<AssemblyBackend<dim>>
    make_assembly_backend(AssemblyContext<dim> &context);
  } // namespace internal
} // namespace Tessella

#endif
