// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "pointwise_text_kernels.h"

#include <deal.II/base/exceptions.h>

#include <tessella/forms/device_function.h>

#include <future>
#include <mutex>

#include "../device/run_time_architecture.h"

namespace Tessella
{
  namespace internal
  {
    using namespace dealii;

    namespace
    {
      using Device::PointwiseKernel;

      template <int dim>
      std::string
      kernel_name(const PointwiseKernel kernel)
      {
        const auto name = [&]() -> std::string {
          switch (kernel)
            {
              case PointwiseKernel::facet_residual:
              case PointwiseKernel::facet_tangent:
                return "pointwise_facets";
              case PointwiseKernel::residual:
              case PointwiseKernel::tangent:
                return "pointwise_residual";
              case PointwiseKernel::simplex_facet_residual:
              case PointwiseKernel::simplex_facet_tangent:
                return "simplex_facets";
              case PointwiseKernel::simplex_residual:
              case PointwiseKernel::simplex_tangent:
                return "simplex_residual";
              case PointwiseKernel::simplex_jacobian_1:
              case PointwiseKernel::simplex_jacobian_2:
              case PointwiseKernel::simplex_jacobian_3:
                return "simplex_jacobian";
              default:
                return "pointwise_jacobian";
            }
        };
        const bool tangent = kernel == PointwiseKernel::tangent ||
                             kernel == PointwiseKernel::facet_tangent ||
                             kernel == PointwiseKernel::simplex_tangent ||
                             kernel == PointwiseKernel::simplex_facet_tangent;
        const auto last = [&]() -> std::string {
          switch (kernel)
            {
              case PointwiseKernel::jacobian:
                return "";
              case PointwiseKernel::simplex_jacobian_1:
                return ", 1";
              case PointwiseKernel::simplex_jacobian_2:
                return ", 2";
              case PointwiseKernel::simplex_jacobian_3:
                return ", 3";
              default:
                return tangent ? ", true" : ", false";
            }
        };
        return "Tessella::internal::Device::" + name() + "<" +
               std::to_string(dim) + ", Functor" + last() + ">";
      }

      // Machine code of one kernel.
      template <int dim>
      Device::Image
      compile_kernel(const std::string    &functor,
                     const PointwiseKernel kernel,
                     const std::string    &architecture)
      {
        try
          {
            return Device::compile(
              "#include <tessella/forms/pointwise_kernels.h>\n#line 1 "
              "\"functor\"\n" +
                functor,
              architecture,
              KernelCache::directory(),
              {kernel_name<dim>(kernel)});
          }
        catch (const Device::CompilationError &error)
          {
            throw Device::Error(
              "The text of a pointwise operator could not be compiled for the "
              "CUDA device: " +
              std::string(error.what()));
          }
      }

      // Kernels of one functor; each is compiled when it is first started,
      // those that belong together at the same time.
      template <int dim>
      class CompiledText
      {
      public:
        CompiledText(const std::string &functor,
                     const std::string &architecture)
          : functor(functor)
          , architecture(architecture)
        {}

        std::string
        launch(const PointwiseKernel kernel,
               void                **arguments,
               const unsigned int    n_blocks,
               const unsigned int    n_threads,
               const unsigned int    bytes,
               void                 *stream)
        {
          Entry *entry = &entries[static_cast<unsigned int>(kernel)];
          try
            {
              const std::lock_guard<std::mutex> lock(mutex);
              if (entry->module == nullptr)
                {
                  const PointwiseKernel next = kernel_after(kernel);
                  if (next != kernel)
                    start(next);
                  const Device::Image image =
                    entry->image.valid()
                      ? entry->image.get()
                      : compile_kernel<dim>(functor, kernel, architecture);
                  entry->name   = image.kernels[0];
                  entry->module = std::make_unique<Device::Module>(image);
                }
            }
          catch (const Device::Error &error)
            {
              return error.what();
            }
          return entry->module->launch(entry->name.c_str(),
                                       arguments,
                                       n_blocks,
                                       1,
                                       n_threads,
                                       bytes,
                                       stream);
        }

      private:
        struct Entry
        {
          std::string                     name;
          std::unique_ptr<Device::Module> module;
          /// Code that another thread compiles.
          std::future<Device::Image> image;
        };

        /// The kernel of polytopes that every evaluation starts after that of
        /// facets, else the same kernel.
        static PointwiseKernel
        kernel_after(const PointwiseKernel kernel)
        {
          switch (kernel)
            {
              case PointwiseKernel::facet_residual:
                return PointwiseKernel::residual;
              case PointwiseKernel::facet_tangent:
                return PointwiseKernel::tangent;
              case PointwiseKernel::simplex_facet_residual:
                return PointwiseKernel::simplex_residual;
              case PointwiseKernel::simplex_facet_tangent:
                return PointwiseKernel::simplex_tangent;
              default:
                return kernel;
            }
        }

        /// Compiles a kernel in another thread, unless that was done before.
        void
        start(const PointwiseKernel kernel)
        {
          Entry &entry = entries[static_cast<unsigned int>(kernel)];
          if (entry.module == nullptr && !entry.image.valid())
            entry.image = std::async(std::launch::async, [this, kernel]() {
              return compile_kernel<dim>(functor, kernel, architecture);
            });
        }

        const std::string functor, architecture;
        std::mutex        mutex;
        Entry             entries[Device::n_pointwise_kernels];
      };



      template <int dim>
      class RunTimePointwiseKernels : public DevicePointwiseKernels<dim>
      {
      public:
        RunTimePointwiseKernels(
          const std::shared_ptr<CompiledText<dim>> &compiled,
          const std::vector<double>                &parameters,
          const double                              time)
          : compiled(compiled)
          , parameters(parameters)
          , time(time)
        {}

        /// The same kernels with other arguments.
        RunTimePointwiseKernels(const RunTimePointwiseKernels &other,
                                const std::vector<double>     &parameters,
                                const double                   time)
          : RunTimePointwiseKernels(other.compiled, parameters, time)
        {}

        std::string
        description() const override
        {
          return "text that was compiled at run time, on the device";
        }

        std::string
        launch(const PointwiseKernel             kernel,
               const Device::PointwiseTask<dim> &given,
               const unsigned int                n_blocks,
               void                             *stream) const override
        {
          return start(kernel,
                       given,
                       n_blocks,
                       given.layout.n_threads,
                       given.layout.bytes,
                       stream);
        }

        std::string
        launch(const PointwiseKernel           kernel,
               const Device::SimplexTask<dim> &given,
               const unsigned int              n_blocks,
               void                           *stream) const override
        {
          const bool facets =
            kernel == PointwiseKernel::simplex_facet_residual ||
            kernel == PointwiseKernel::simplex_facet_tangent;
          return start(kernel,
                       given,
                       n_blocks,
                       facets ? given.facet_threads : given.n_threads,
                       facets ? given.facet_bytes() : given.n_bytes(),
                       stream);
        }

        std::string
        launch(const PointwiseKernel                   kernel,
               const Device::SimplexJacobianTask<dim> &given,
               const unsigned int                      n_blocks,
               void                                   *stream) const override
        {
          return start(kernel,
                       given,
                       n_blocks,
                       given.block_threads,
                       given.block_bytes,
                       stream);
        }

      private:
        template <typename Task>
        std::string
        start(const PointwiseKernel kernel,
              const Task           &given,
              const unsigned int    n_blocks,
              const unsigned int    n_threads,
              const unsigned int    bytes,
              void                 *stream) const
        {
          Task task                       = given;
          task.t                          = time;
          std::vector<double> functor     = parameters;
          void               *arguments[] = {&task, functor.data()};
          return compiled->launch(
            kernel, arguments, n_blocks, n_threads, bytes, stream);
        }

        const std::shared_ptr<CompiledText<dim>> compiled;
        const std::vector<double>                parameters;
        const double                             time;
      };
    } // namespace



    template <int dim>
    std::shared_ptr<const DevicePointwiseKernels<dim>>
    run_time_pointwise_kernels(const std::string         &functor,
                               const std::vector<double> &parameters,
                               const double               time,
                               std::string               &why_not)
    {
      const std::string architecture = run_time_architecture(why_not);
      if (!why_not.empty())
        return nullptr;
      // Loaded modules are kept for the life of the process; a program has only
      // a few of them.
      static std::mutex                                                mutex;
      static std::map<std::string, std::shared_ptr<CompiledText<dim>>> all;
      const std::lock_guard<std::mutex>   lock(mutex);
      std::shared_ptr<CompiledText<dim>> &compiled =
        all[architecture + functor];
      if (compiled == nullptr)
        compiled = std::make_shared<CompiledText<dim>>(functor, architecture);
      return std::make_shared<const RunTimePointwiseKernels<dim>>(compiled,
                                                                  parameters,
                                                                  time);
    }



    template <int dim>
    std::shared_ptr<const DevicePointwiseKernels<dim>>
    run_time_pointwise_kernels(const DevicePointwiseKernels<dim> &kernels,
                               const std::vector<double>         &parameters,
                               const double                       time)
    {
      return std::make_shared<const RunTimePointwiseKernels<dim>>(
        dynamic_cast<const RunTimePointwiseKernels<dim> &>(kernels),
        parameters,
        time);
    }



    template <int dim>
    std::string
    check_pointwise_kernels(const std::string   &functor,
                            const std::string   &architecture,
                            std::vector<double> &seconds)
    {
      seconds.clear();
      const std::string missing = Device::why_no_compiler(architecture);
      if (!missing.empty())
        return missing;
      for (const PointwiseKernel kernel : {PointwiseKernel::facet_residual,
                                           PointwiseKernel::facet_tangent,
                                           PointwiseKernel::residual,
                                           PointwiseKernel::tangent,
                                           PointwiseKernel::jacobian})
        seconds.push_back(
          device_call([&] {
            return compile_kernel<dim>(functor, kernel, architecture);
          }).seconds);
      return "";
    }



#define INSTANTIATE(dim)                                                 \
  template std::shared_ptr<const DevicePointwiseKernels<dim>>            \
  run_time_pointwise_kernels(const std::string &,                        \
                             const std::vector<double> &,                \
                             const double,                               \
                             std::string &);                             \
  template std::shared_ptr<const DevicePointwiseKernels<dim>>            \
  run_time_pointwise_kernels(const DevicePointwiseKernels<dim> &,        \
                             const std::vector<double> &,                \
                             const double);                              \
  template std::string check_pointwise_kernels<dim>(const std::string &, \
                                                    const std::string &, \
                                                    std::vector<double> &);

    INSTANTIATE(2)
    INSTANTIATE(3)
#undef INSTANTIATE
  } // namespace internal
} // namespace Tessella
