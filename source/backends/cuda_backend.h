// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_backends_cuda_backend_h
#define tessella_source_backends_cuda_backend_h

#include <tessella/forms/device_coefficients.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "assembly_backend.h"
#include "cuda_assembly.h"
#include "cuda_system.h"

namespace Tessella
{
  namespace internal
  {
    /// Text for AssemblyReport::coefficients if the host's threads evaluate the
    /// coefficients of a form.
    template <int dim>
    std::string
    describe_host_coefficients(const Form<dim> &form);

    /// Copies times of a device to the report.
    void
    report_times(const Device::Times &times, AssemblyReport &report);

    /**
     * Assembly on a CUDA device, which several processes may share.
     * Coefficients are evaluated by the device if the form has code for it on
     * all processes, and by the host's threads otherwise.
     */
    template <int dim>
    class CUDABackend : public AssemblyBackend<dim>
    {
    public:
      explicit CUDABackend(AssemblyContext<dim> &context)
        : AssemblyBackend<dim>(context)
        , cuda_system(context)
      {}

      /// Chooses and initialises the device. Returns false if this fails and
      /// the choice of the backend is automatic. Collective.
      bool
      start();

      Backend
      type() const override
      {
        return Backend::cuda;
      }
      std::future<void>
      reinit() override;
      void
      assemble(const Form<dim>                             &form,
               const typename AssemblyBackend<dim>::Target &target) override;
      void
      assemble_system(
        const SystemForm<dim>                       &system,
        const typename AssemblyBackend<dim>::Target &target) override;

      /// Assembles the matrix of all pairs of a system on a mesh of simplices
      /// with one degree; @p form is the pair (0, 0), and the blocks of the
      /// context are those of this pair.
      template <typename Number>
      void
      assemble_constant_system(const ConstantSystemTerms<dim> &terms,
                               const Form<dim>                &form,
                               const AssemblyTarget<Number>   &target);

    private:
      using AssemblyBackend<dim>::context;
      using AssemblyBackend<dim>::preparation;
      using Sigma        = typename FormPreparation<dim>::Sigma;
      using Coefficients = DeviceCoefficients<dim>;
      using Problem      = typename CUDAAssembly<dim>::Problem;

      /// Where sigma is computed.
      enum class SigmaSource
      {
        /// FormPreparation, before the device starts.
        host,
        /// FormPreparation or the host's tables of coefficients, while the
        /// device works.
        tables,
        /// The device, which has all polytopes.
        device,
        /// The devices of several processes, which exchange a-bar.
        devices
      };

      SigmaSource
      choose_sigma_source(const Form<dim>    &form,
                          const Coefficients *coefficients,
                          const bool          matrix) const;

      template <typename Number>
      void
      run(const Form<dim> &form, const AssemblyTarget<Number> &target);

      /// Code of the form for the device; null if it cannot be used on all
      /// processes. Collective.
      std::shared_ptr<const Coefficients>
      device_coefficients(const Form<dim> &form) const;

      /// The space of the context with the present rules.
      typename CUDAAssembly<dim>::Discretisation
      discretisation(const std::size_t memory_limit) const;

      /// The problem that all calls of CUDAAssembly for this form share.
      Problem
      make_problem(const Form<dim>       &form,
                   const Coefficients    *coefficients,
                   const Device::Penalty &penalty) const;

      /// Sigma from the devices of several processes. Collective.
      Sigma
      sigma_from_devices(const Form<dim>    &form,
                         const Coefficients &coefficients);

      /// Computes the rows of this process.
      template <typename Number>
      void
      compute_rows(const Form<dim>              &form,
                   const Coefficients           *coefficients,
                   const SigmaSource             source,
                   const Sigma                  &sigma,
                   const AssemblyTarget<Number> &target);

      /// The system of the present assembly, or null.
      const ConstantSystemTerms<dim> *constant_system = nullptr;

      CUDAAssembly<dim> cuda;
      CUDASystem<dim>   cuda_system;
      /// Ranks of the processes that share the device of this process, and
      /// whether any device of the communicator is shared.
      std::vector<unsigned int> on_same_device;
      bool                      devices_are_shared = false;
      /// Limit in bytes for the present assembly, 0: free memory.
      std::size_t device_memory = 0;
    };
  } // namespace internal
} // namespace Tessella

#endif
