// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_backends_host_backend_h
#define tessella_source_backends_host_backend_h

#include <tessella/base/backend.h>
#include <tessella/forms/form.h>
#include <tessella/grid/polytopic_mesh.h>
#include <tessella/lac/block_sparsity.h>

#include <vector>

#include "assembly_backend.h"
#include "diffusion_values.h"
#include "host_points.h"
#include "target.h"

namespace Tessella
{
  namespace internal
  {
    /**
     * Block-row algorithm on the host: every polytope computes its rows,
     * vectorised over quadrature points, and polytopes run in parallel. The
     * mesh determines the order of summation. @p diffusion has values that
     * largest_diffusion() stored, or is null.
     */
    template <int dim>
    void
    assemble_on_host(const PolytopicMesh<dim>     &mesh,
                     const PolytopicDoFs          &dofs,
                     const BlockSparsity          &sparsity,
                     const Form<dim>              &form,
                     const std::vector<double>    &sigma,
                     const HostRules<dim>         &rules,
                     const PolynomialSpaceType     space,
                     const InstructionSet          instruction_set,
                     const AssemblyTarget<double> &target,
                     const DiffusionValues<dim>   *diffusion = nullptr);



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
      assemble(const Form<dim>              &form,
               const AssemblyTarget<double> &target) override;
      void
      assemble(const Form<dim>             &form,
               const AssemblyTarget<float> &target) override;

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
