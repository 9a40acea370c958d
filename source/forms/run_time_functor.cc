// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>

#include <tessella/forms/device_function.h>
#include <tessella/forms/run_time_functor.h>

#include <cstdio>
#include <map>
#include <mutex>

#include "../device/run_time_architecture.h"

namespace Tessella
{
  using namespace dealii;

  namespace
  {
    // Complete source with the kernels that DeviceCoefficients need.
    template <int dim>
    std::string
    source_text(const RunTimeFunctor<dim> &functor)
    {
      const std::string n = std::to_string(dim);
      std::string       text =
        "#include <tessella/portable/jet.h>\n"
        "#include <tessella/forms/quasilinear_terms.h>\n"
        "#include <tessella/forms/tabulation_kernels.h>\n"
        "using namespace Tessella;\n"
        "using Point = PointData<" +
        n + ">;\n";
      // #line makes compiler messages quote the name of the function as file
      // name.
      for (const auto &function : functor.functions)
        text += "#line 1 \"" + function.name + "\"\n__device__ inline double " +
                function.name +
                "(const Point &p)\n{\n  const double x = p.x[0], y = p.x[1], "
                "z = " +
                (dim > 2 ? "p.x[2]" : "0.") +
                ", t = " + (dim > 3 ? "p.x[3]" : "p.t") +
                ";\n  (void)x; (void)y; (void)z; (void)t;\n" + function.body +
                "\n}\n";
      text += "#line 1 \"coefficients\"\n" + functor.text;
      const std::pair<const char *, const char *> kernels[] = {
        {"volume", "tabulate_volume"},
        {"facets", "tabulate_facets"},
        {"penalty", "largest_diffusion"},
        {"traces", "tabulate_traces"}};
      for (const auto &kernel : kernels)
        // Hybridizable methods have at most three variables.
        if (dim < 4 || kernel.first != std::string("traces"))
          text += std::string("extern \"C\" __global__ void\n") + kernel.first +
                  "(const internal::Device::TabulationTask<" + n +
                  "> task)\n{\n  internal::Device::" + kernel.second + "<" + n +
                  ">(task, Coefficients());\n}\n";
      return text;
    }

    // Compiler errors name the function with the error.
    template <int dim>
    internal::Device::Image
    compile(const RunTimeFunctor<dim> &functor,
            const std::string         &source,
            const std::string         &architecture)
    {
      try
        {
          return internal::Device::compile(source,
                                           architecture,
                                           KernelCache::directory());
        }
      catch (const internal::Device::CompilationError &error)
        {
          const std::string log = error.what();
          for (const auto &function : functor.functions)
            AssertThrow(
              log.compare(0, function.name.size() + 1, function.name + "(") !=
                  0 &&
                log.find("\n" + function.name + "(") == std::string::npos,
              ExcMessage("The compiler for the CUDA device does not accept " +
                         function.origin + ": " + log));
          AssertThrow(false,
                      ExcMessage("The coefficients of the equation could not "
                                 "be compiled for the CUDA device: " +
                                 log));
        }
      catch (const internal::Device::Error &error)
        {
          AssertThrow(false, ExcMessage(error.what()));
        }
      return {};
    }

    struct Compiled
    {
      std::unique_ptr<internal::Device::Module> module;
      bool                                      from_cache = false;
      double                                    seconds    = 0.;
    };

    template <int dim>
    class CompiledFunctor : public DeviceCoefficients<dim>
    {
    public:
      CompiledFunctor(const RunTimeFunctor<dim>             &functor,
                      const std::shared_ptr<const Compiled> &compiled)
        : DeviceCoefficients<dim>(functor.time,
                                  functor.theta,
                                  functor.fields,
                                  functor.cell_values)
        , error_handler(functor.throw_error)
        , compiled(compiled)
      {}

      std::string
      description() const override
      {
        char seconds[32];
        std::snprintf(seconds, sizeof(seconds), "%.2g", compiled->seconds);
        return std::string(
                 "compiled at run time and evaluated on the "
                 "device (") +
               (compiled->from_cache ? "loaded from the cache in "
                                     : "compiled in ") +
               seconds + " s)";
      }

      std::string
      launch(const internal::Device::CoefficientKernel    kernel,
             const internal::Device::TabulationTask<dim> &given,
             const unsigned int                           n_blocks_x,
             const unsigned int                           n_blocks_y,
             void                                        *stream) const override
      {
        using internal::Device::CoefficientKernel;
        internal::Device::TabulationTask<dim> task =
          this->with_parameters(given);
        return compiled->module->launch(
          kernel == CoefficientKernel::volume    ? "volume"
          : kernel == CoefficientKernel::facets  ? "facets"
          : kernel == CoefficientKernel::penalty ? "penalty"
                                                 : "traces",
          &task,
          n_blocks_x,
          n_blocks_y,
          kernel == CoefficientKernel::penalty
            ? 32
            : internal::Device::tabulation_threads,
          stream);
      }

      [[noreturn]] void
      throw_error(const CoefficientError &error) const override
      {
        if (error_handler)
          error_handler(error);
        internal::throw_coefficient_error(error, dim);
      }

    private:
      const std::function<void(const CoefficientError &)> error_handler;
      const std::shared_ptr<const Compiled>               compiled;
    };
  } // namespace



  template <int dim>
  std::shared_ptr<const DeviceCoefficients<dim>>
  compile_functor(const RunTimeFunctor<dim> &functor, std::string &why_not)
  {
    const std::string architecture = internal::run_time_architecture(why_not);
    if (!why_not.empty())
      return nullptr;

    // Loaded modules are kept for the life of the process; a program has only a
    // few of them.
    static std::mutex                                       mutex;
    static std::map<std::string, std::shared_ptr<Compiled>> all;
    const std::lock_guard<std::mutex>                       lock(mutex);
    const std::string          source   = source_text(functor);
    std::shared_ptr<Compiled> &compiled = all[architecture + source];
    if (compiled == nullptr)
      {
        const internal::Device::Image image =
          compile(functor, source, architecture);
        auto result        = std::make_shared<Compiled>();
        result->from_cache = image.from_cache;
        result->seconds    = image.seconds;
        result->module     = internal::device_call(
          [&] { return std::make_unique<internal::Device::Module>(image); });
        compiled = result;
      }
    return std::make_shared<const CompiledFunctor<dim>>(functor, compiled);
  }



  template <int dim>
  std::string
  check_compilation(const RunTimeFunctor<dim> &functor,
                    const std::string         &architecture)
  {
    const std::string missing = internal::Device::why_no_compiler(architecture);
    if (!missing.empty())
      return missing;
    return compile(functor, source_text(functor), architecture).from_cache
             ? "from the cache"
             : "";
  }



  template std::shared_ptr<const DeviceCoefficients<2>>
  compile_functor(const RunTimeFunctor<2> &, std::string &);
  template std::shared_ptr<const DeviceCoefficients<3>>
  compile_functor(const RunTimeFunctor<3> &, std::string &);
  template std::shared_ptr<const DeviceCoefficients<4>>
  compile_functor(const RunTimeFunctor<4> &, std::string &);
  template std::string
  check_compilation(const RunTimeFunctor<2> &, const std::string &);
  template std::string
  check_compilation(const RunTimeFunctor<3> &, const std::string &);
  template std::string
  check_compilation(const RunTimeFunctor<4> &, const std::string &);
} // namespace Tessella
