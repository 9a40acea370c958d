// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>

#include <tessella/forms/device_function.h>
#include <tessella/forms/polytopewise_text.h>

#include <map>
#include <mutex>

#include "../device/run_time_architecture.h"

namespace Tessella
{
  using namespace dealii;

  namespace
  {
    using internal::device_call;
    namespace Device = internal::Device;

    template <int dim>
    Device::Image
    compile_source(const std::string &source, const std::string &architecture)
    {
      try
        {
          return Device::compile(source,
                                 architecture,
                                 KernelCache::directory(),
                                 {"Tessella::internal::Device::polytopewise<" +
                                  std::to_string(dim) + ", Functor>"});
        }
      catch (const Device::CompilationError &error)
        {
          throw Device::Error(
            "The text of a functor of PolytopewiseOperator could not be "
            "compiled for the CUDA device: " +
            std::string(error.what()));
        }
    }

    /// Code in the memory of a device.
    struct CompiledText
    {
      explicit CompiledText(const Device::Image &image)
        : kernel(image.kernels[0])
        , module(image)
      {}

      const std::string    kernel;
      const Device::Module module;
    };

    /// The compiled text of a source for the present device, which is kept for
    /// the life of the process; a program has only a few of them.
    template <int dim>
    std::shared_ptr<const CompiledText>
    compiled_text(const std::string &source, const std::string &architecture)
    {
      static std::mutex                                           mutex;
      static std::map<std::string, std::shared_ptr<CompiledText>> all;
      const std::lock_guard<std::mutex>                           lock(mutex);
      std::shared_ptr<CompiledText> &compiled = all[architecture + source];
      if (compiled == nullptr)
        compiled = std::make_shared<CompiledText>(
          compile_source<dim>(source, architecture));
      return compiled;
    }

    template <int dim>
    class TextKernel : public DevicePolytopewiseKernel<dim>
    {
    public:
      TextKernel(const std::shared_ptr<const CompiledText> &compiled,
                 const std::vector<double>                 &given)
        : compiled(compiled)
        , parameters(given)
      {
        // A functor without data has the size of one byte.
        if (parameters.empty())
          parameters.push_back(0.);
      }

      std::string
      description() const override
      {
        return "text that was compiled at run time, on the device";
      }

      std::string
      launch(const Device::PolytopewiseTask<dim> &given,
             void                                *stream) const override
      {
        Device::PolytopewiseTask<dim> task        = given;
        std::vector<double>           functor     = parameters;
        void                         *arguments[] = {&task, functor.data()};
        return compiled->module.launch(compiled->kernel.c_str(),
                                       arguments,
                                       (task.end - task.begin +
                                        Device::polytopewise_threads - 1) /
                                         Device::polytopewise_threads,
                                       1,
                                       Device::polytopewise_threads,
                                       0,
                                       stream);
      }

    private:
      const std::shared_ptr<const CompiledText> compiled;
      std::vector<double>                       parameters;
    };
  } // namespace



  template <int dim>
  PolytopewiseText<dim>::PolytopewiseText(const std::string  &text,
                                          const bool          with_point_values,
                                          const HostFunction &host)
    : text(text)
    , with_point_values(with_point_values)
    , host(host)
  {}



  template <int dim>
  bool
  PolytopewiseText<dim>::point_values() const
  {
    return with_point_values;
  }



  template <int dim>
  double
  PolytopewiseText<dim>::evaluate(const PolytopeStencil<dim> &stencil,
                                  double                     *u) const
  {
    AssertThrow(host,
                ExcMessage("A functor of PolytopewiseOperator that is given as "
                           "text needs vectors in the memory of a CUDA device "
                           "and NVRTC, or a host function that computes the "
                           "same."));
    return host(stencil, u);
  }



  template <int dim>
  std::string
  PolytopewiseText<dim>::source() const
  {
    const std::string n = std::to_string(parameters.size());
    return "#include <tessella/forms/polytopewise_task.h>\n"
           "using namespace Tessella;\n[[maybe_unused]] constexpr int dim = " +
           std::to_string(dim) + ";\n#line 1 \"functor\"\n" + text +
           (parameters.empty()
              ? "\nstatic_assert(sizeof(Functor) == 1,\n\"the functor has "
                "data, but there are no parameters\");\n"
              : "\nstatic_assert(sizeof(Functor) == " + n +
                  " * sizeof(double),\n\"the data of the functor must be the " +
                  n + " parameters, as doubles\");\n");
  }



  template <int dim>
  std::shared_ptr<const DevicePolytopewiseKernel<dim>>
  PolytopewiseText<dim>::device_kernel() const
  {
    std::string       why_not;
    const std::string architecture = internal::run_time_architecture(why_not);
    if (!why_not.empty())
      return nullptr;
    return device_call([&] {
      return std::make_shared<const TextKernel<dim>>(
        compiled_text<dim>(source(), architecture), parameters);
    });
  }



  template <int dim>
  std::string
  PolytopewiseText<dim>::why_not_on_device() const
  {
    std::string why_not;
    internal::run_time_architecture(why_not);
    return why_not;
  }



  template <int dim>
  std::string
  PolytopewiseText<dim>::check_compilation(
    const std::string &architecture) const
  {
    const std::string missing = Device::why_no_compiler(architecture);
    if (missing.empty())
      device_call([&] { return compile_source<dim>(source(), architecture); });
    return missing;
  }



  template class PolytopewiseText<2>;
  template class PolytopewiseText<3>;
} // namespace Tessella
