// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "cuda_backend.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/base/mpi.h>
#include <deal.II/base/multithread_info.h>
#include <deal.II/base/timer.h>

#include <tessella/device/cuda_device.h>

#include <exception>
#include <string>
#include <utility>

#include "../../cuda/lac/vector.h"
#include "../device/device_call.h"
#include "../device/device_share.h"

namespace Tessella
{
  namespace internal
  {
    using namespace dealii;

    template <int dim>
    std::string
    describe_host_coefficients(const Form<dim> &form)
    {
      if (form.volume_structure().constant)
        return "constant";
      const std::string reason = form.why_not_on_device();
      return "evaluated by the host's threads" +
             (reason.empty() ? reason : " (" + reason + ")");
    }



    void
    report_times(const Device::Times &times, AssemblyReport &report)
    {
      report.device_kernels   = times.kernel;
      report.kernel_time      = times.kernels;
      report.kernel_times     = times.kernel_times;
      report.upload_time      = times.upload;
      report.download_time    = times.download;
      report.bytes_uploaded   = times.bytes_up;
      report.bytes_downloaded = times.bytes_down;
      report.tabulation_time  = times.tabulation;
      report.handover_time    = times.idle;
      report.device_memory    = times.memory;
      report.n_parts          = times.n_parts;
    }



    template <int dim>
    bool
    CUDABackend<dim>::start()
    {
      const AssemblyParameters &parameters   = context.parameters;
      const MPI_Comm            communicator = context.structure.communicator;
      const bool                several = context.structure.n_processes > 1;
      AssemblyReport           &report  = context.report;
      if (several || parameters.device >= 0)
        report.device = choose_cuda_device(communicator, parameters.device);
      const unsigned int n_on_machine = n_processes_on_machine(communicator);
      try
        {
          // Pinned buffers for results take longer than all the rest, and a
          // matrix in device memory needs none: see reinit().
          context.structure.on_all_processes(
            [&]() { cuda.start(0, n_on_machine); });
        }
      catch (const ExceptionBase &)
        {
          if (parameters.backend != Backend::automatic)
            throw;
          return false;
        }
      if (several)
        {
          on_same_device     = processes_on_device(communicator);
          devices_are_shared = Utilities::MPI::max(static_cast<unsigned int>(
                                                     on_same_device.size()),
                                                   communicator) > 1;
          report.n_processes_on_device = on_same_device.size();
        }
      return true;
    }



    // Sends the mesh to the device, and allocates pinned buffers for the values
    // of the matrix. The assumed order of the coefficients is that of the last
    // form, initially that of constant ones. Errors are ignored: the assembly
    // repeats the work and reports them.
    template <int dim>
    std::future<void>
    CUDABackend<dim>::reinit()
    {
      const PolytopicMesh<dim> &mesh = context.mesh();
      // Stored points depend on the order, so such meshes are excluded.
      if (!context.revision().is_known() || devices_are_shared ||
          !this->has_polytopes() || context.space->n_components() != 1 ||
          !mesh.subcell_point_weights.empty() ||
          !mesh.facet_point_weights.empty() ||
          MultithreadInfo::n_threads() == 1)
        return {};
      const int device = Device::current_device();
      return std::async(std::launch::async, [this, device]() {
        try
          {
            Device::set_device(device);
            cuda.start(sizeof(double) *
                       context.structure.blocks.value_offset.back());
            preparation.prepare_rules(preparation.coefficient_order());
            cuda.prepare(discretisation(context.parameters.device_memory));
          }
        catch (const std::exception &)
          {}
      });
    }



    template <int dim>
    void
    CUDABackend<dim>::assemble(
      const Form<dim>                             &form,
      const typename AssemblyBackend<dim>::Target &target)
    {
      std::visit([&](const auto *destination) { run(form, *destination); },
                 target);
    }



    template <int dim>
    void
    CUDABackend<dim>::assemble_system(
      const SystemForm<dim>                       &system,
      const typename AssemblyBackend<dim>::Target &target)
    {
      std::visit(
        [&](const auto *destination) {
          cuda_system.assemble(system, *destination);
        },
        target);
    }



    template <int dim>
    template <typename Number>
    void
    CUDABackend<dim>::assemble_constant_system(
      const ConstantSystemTerms<dim> &terms,
      const Form<dim>                &form,
      const AssemblyTarget<Number>   &target)
    {
      constant_system = &terms;
      try
        {
          run(form, target);
        }
      catch (...)
        {
          constant_system = nullptr;
          throw;
        }
      constant_system             = nullptr;
      context.report.coefficients = "constants of all pairs";
    }



    template <int dim>
    template <typename Number>
    void
    CUDABackend<dim>::run(const Form<dim>              &form,
                          const AssemblyTarget<Number> &target)
    {
      const Timer     timer;
      AssemblyReport &report = context.report;
      preparation.start(form);
      const std::shared_ptr<const Coefficients> coefficients =
        device_coefficients(form);
      // The share is determined for each assembly, since other processes may
      // allocate or release device memory in between.
      device_memory = context.parameters.device_memory;
      if (device_memory == 0 && devices_are_shared)
        device_memory = share_of_device_memory(context.structure.communicator,
                                               on_same_device,
                                               cuda.held());
      if (coefficients != nullptr)
        for (const auto &values : coefficients->cell_values())
          AssertThrow(values->size() == context.mesh().n_subcells(),
                      ExcMessage(
                        "Values of cells are used on another mesh than "
                        "they were made for: make new ones after "
                        "agglomerate()."));
      report.coefficients = coefficients != nullptr
                              ? coefficients->description()
                              : describe_host_coefficients(form);

      const SigmaSource source =
        choose_sigma_source(form, coefficients.get(), target.has_matrix());
      Sigma sigma = preparation.prepare(form,
                                        target.has_matrix(),
                                        source != SigmaSource::host);
      if (source == SigmaSource::devices)
        sigma = sigma_from_devices(form, *coefficients);
      report.preparation_time = timer.wall_time() - report.geometry_time;
      context.structure.on_all_processes([&]() {
        if (this->has_polytopes())
          compute_rows(form, coefficients.get(), source, sigma, target);
      });
    }



    template <int dim>
    std::shared_ptr<const DeviceCoefficients<dim>>
    CUDABackend<dim>::device_coefficients(const Form<dim> &form) const
    {
      std::shared_ptr<const Coefficients> coefficients =
        form.device_coefficients();
      if (coefficients != nullptr && !coefficients->fields_fit(context.dofs()))
        coefficients = nullptr;
      // Compilation may fail on some processes; all processes then use the
      // host.
      if (context.structure.n_processes > 1 &&
          Utilities::MPI::min(coefficients != nullptr ? 1 : 0,
                              context.structure.communicator) == 0)
        coefficients = nullptr;
      return coefficients;
    }



    template <int dim>
    typename CUDABackend<dim>::SigmaSource
    CUDABackend<dim>::choose_sigma_source(const Form<dim>    &form,
                                          const Coefficients *coefficients,
                                          const bool          matrix) const
    {
      const bool one_process = context.structure.n_processes == 1;
      if (coefficients != nullptr)
        return !FormPreparation<dim>::varies(form) ? SigmaSource::host
               : one_process                       ? SigmaSource::device
                                                   : SigmaSource::devices;
      const VolumeStructure   structure = form.volume_structure();
      ConstantFacetTerms<dim> constant_facets;
      return one_process && matrix && !structure.constant &&
                 !structure.penalty_diffusion &&
                 !form.constant_interior_facets(constant_facets)
               ? SigmaSource::tables
               : SigmaSource::host;
    }



    template <int dim>
    typename CUDAAssembly<dim>::Discretisation
    CUDABackend<dim>::discretisation(const std::size_t memory_limit) const
    {
      return {context.mesh(),
              context.dofs(),
              context.structure.blocks,
              preparation.rules(),
              preparation.coefficient_order(),
              context.space->polynomial_space(),
              memory_limit};
    }



    template <int dim>
    typename CUDABackend<dim>::Problem
    CUDABackend<dim>::make_problem(const Form<dim>       &form,
                                   const Coefficients    *coefficients,
                                   const Device::Penalty &penalty) const
    {
      return {discretisation(device_memory),
              form,
              penalty,
              context.parameters.instruction_set,
              nullptr,
              coefficients,
              false,
              context.parameters.penalty.constant,
              nullptr,
              0,
              constant_system};
    }



    template <int dim>
    typename CUDABackend<dim>::Sigma
    CUDABackend<dim>::sigma_from_devices(const Form<dim>    &form,
                                         const Coefficients &coefficients)
    {
      std::vector<double> a_bar(2 * std::size_t(context.mesh().n_facets()), 0.);
      context.structure.on_all_processes([&]() {
        if (!this->has_polytopes())
          return;
        if (!coefficients.fields().empty())
          device_call([] { Device::synchronize(); });
        cuda.largest_diffusion(make_problem(form, &coefficients, {nullptr, 0}),
                               a_bar);
      });
      return preparation.sigma_from_diffusion(a_bar);
    }



    template <int dim>
    template <typename Number>
    void
    CUDABackend<dim>::compute_rows(const Form<dim>              &form,
                                   const Coefficients           *coefficients,
                                   const SigmaSource             source,
                                   const Sigma                  &sigma,
                                   const AssemblyTarget<Number> &target)
    {
      // Assembly runs in streams of its own, other operations on vectors and
      // matrices run in the default stream.
      if (target.device_values != nullptr || target.device_rhs != nullptr ||
          (coefficients != nullptr && !coefficients->fields().empty()))
        device_call([] { Device::synchronize(); });
      const Timer timer;

      Problem problem        = make_problem(form,
                                     coefficients,
                                     {sigma.values->data(), sigma.revision});
      problem.diffusion      = preparation.kept_diffusion();
      problem.device_penalty = source == SigmaSource::device;
      if (source == SigmaSource::tables)
        problem.find_penalty = [&]() {
          const Sigma found = FormPreparation<dim>::varies(form)
                                ? preparation.find_sigma(form, true)
                                : sigma;
          return std::make_pair(Device::Penalty{found.values->data(),
                                                found.revision},
                                preparation.kept_diffusion());
        };
      if (context.parameters.device_memory == 0)
        problem.n_sharing = on_same_device.size();

      const Device::Times times = cuda.assemble(problem, target);
      report_times(times, context.report);
      // time except for the loop over chunks
      context.report.preparation_time += timer.wall_time() - times.loop;
    }



#define TESSELLA_INSTANTIATE(dim)                                     \
  template std::string describe_host_coefficients(const Form<dim> &); \
  template class CUDABackend<dim>;                                    \
  template void CUDABackend<dim>::assemble_constant_system(           \
    const ConstantSystemTerms<dim> &,                                 \
    const Form<dim> &,                                                \
    const AssemblyTarget<double> &);                                  \
  template void CUDABackend<dim>::assemble_constant_system(           \
    const ConstantSystemTerms<dim> &,                                 \
    const Form<dim> &,                                                \
    const AssemblyTarget<float> &)

    TESSELLA_INSTANTIATE(2);
    TESSELLA_INSTANTIATE(3);
    TESSELLA_INSTANTIATE(4);
#undef TESSELLA_INSTANTIATE
  } // namespace internal
} // namespace Tessella
