// SPDX-License-Identifier: LGPL-2.1-or-later

#include "compiled_coefficients.h"

#include <deal.II/base/exceptions.h>

#include <tessella/base/config.h>
#include <tessella/forms/advection_diffusion_reaction.h>

#include <algorithm>
#include <cstdio>
#include <mutex>

#ifdef TESSELLA_HAVE_CUDA
#  include "../../cuda/run_time_compiler.h"
#endif

namespace Tessella
{
  namespace internal
  {
    using namespace dealii;

    namespace
    {
      const char *const quantities[] = {"diffusion",
                                        "advection",
                                        "reaction",
                                        "source"};

      std::string
      condition_name(const int id)
      {
        return id < 0 ? "default" : std::to_string(id);
      }

      // Calls of member functions for all boundary ids.
      template <typename Function>
      std::string
      by_boundary_id(
        const std::map<int, CoefficientCode::Condition> &conditions,
        const std::string                               &id,
        const std::string                               &fallback,
        const Function                                  &value)
      {
        std::string text = "    switch (" + id + ")\n    {\n";
        std::string last = fallback;
        for (const auto &condition : conditions)
          if (condition.first >= 0)
            text += "      case " + std::to_string(condition.first) +
                    ": return " + value(condition.first, condition.second) +
                    ";\n";
          else
            last = value(condition.first, condition.second);
        return text + "    }\n    return " + last + ";\n";
      }
    } // namespace



    template <typename Function>
    void
    CoefficientCode::visit(const Function &function) const
    {
      const std::vector<Entry> *lists[] = {&diffusion,
                                           &advection,
                                           &reaction,
                                           &this->source};
      for (unsigned int i = 0; i < 4; ++i)
        for (unsigned int c = 0; c < lists[i]->size(); ++c)
          function(std::string(quantities[i]) + "_" + std::to_string(c),
                   (*lists[i])[c]);
      for (const auto &condition : conditions)
        {
          const std::string id = condition_name(condition.first);
          if (!condition.second.value.code.empty())
            function("value_" + id, condition.second.value);
          if (!condition.second.robin_coefficient.code.empty())
            function("robin_" + id, condition.second.robin_coefficient);
          for (unsigned int c = 0; c < condition.second.flux.size(); ++c)
            function("flux_" + id + "_" + std::to_string(c),
                     condition.second.flux[c]);
        }
    }



    std::string
    CoefficientCode::source_text(const int dim) const
    {
      const std::string n = std::to_string(dim);
      std::string       text =
        "#include <tessella/forms/jet.h>\n"
        "#include <tessella/forms/tabulation_kernels.h>\n"
        "using namespace Tessella;\n"
        "using Point = PointData<" +
        n + ">;\n";
      // One function a component; its name in messages of the compiler is that
      // of the file.
      visit([&](const std::string &name, const Entry &entry) {
        text += "#line 1 \"" + name + "\"\n__device__ inline double " + name +
                "(const Point &p)\n{\n  const double x = p.x[0], y = p.x[1], "
                "z = " +
                (dim == 3 ? "p.x[2]" : "0.") +
                ", t = p.t;\n  (void)x; (void)y; (void)z; (void)t;\n" +
                entry.code + "\n}\n";
      });
      text += "#line 1 \"coefficients\"\nstruct Coefficients\n{\n";
      if (diffusion.size() == 1)
        text +=
          "  __device__ double diffusion(const Point &p) const\n"
          "  { return diffusion_0(p); }\n";
      else if (!diffusion.empty())
        {
          text += "  __device__ PointTensor<" + n +
                  "> diffusion(const Point &p) const\n  {\n    PointTensor<" +
                  n + "> a;\n";
          for (int d = 0; d < dim * dim; ++d)
            {
              // (what is the same is evaluated once)
              const int   transposed = d % dim * dim + d / dim;
              std::string at         = "a[" + std::to_string(d / dim) + "][" +
                               std::to_string(d % dim) + "]";
              text += "    " + at + " = ";
              if (transposed < d &&
                  diffusion[transposed].code == diffusion[d].code)
                text += "a[" + std::to_string(d % dim) + "][" +
                        std::to_string(d / dim) + "];\n";
              else
                text += "diffusion_" + std::to_string(d) + "(p);\n";
            }
          text += "    return a;\n  }\n";
        }
      if (!advection.empty())
        {
          text += "  __device__ PointVector<" + n +
                  "> advection(const Point &p) const\n  {\n    PointVector<" +
                  n + "> b;\n";
          for (int d = 0; d < dim; ++d)
            text += "    b[" + std::to_string(d) + "] = advection_" +
                    std::to_string(d) + "(p);\n";
          text += "    return b;\n  }\n";
        }
      if (!reaction.empty())
        text +=
          "  __device__ double reaction(const Point &p) const\n"
          "  { return reaction_0(p); }\n";
      if (!CoefficientCode::source.empty())
        text +=
          "  __device__ double source(const Point &p) const\n"
          "  { return source_0(p); }\n";

      const auto value = [&](const int id, const Condition &condition) {
        const std::string name = condition_name(id);
        std::string       sum;
        if (!condition.value.code.empty())
          sum = "value_" + name + "(p)";
        for (unsigned int d = 0; d < condition.flux.size(); ++d)
          sum += (sum.empty() ? "" : " + ") + ("flux_" + name + "_") +
                 std::to_string(d) + "(p) * p.normal[" + std::to_string(d) +
                 "]";
        return sum.empty() ? std::string("0.") : sum;
      };
      text +=
        "  __device__ BoundaryType boundary_type(const unsigned int id) "
        "const\n  {\n" +
        by_boundary_id(conditions,
                       "id",
                       "BoundaryType::dirichlet",
                       [](const int, const Condition &condition) {
                         return std::string("BoundaryType::") +
                                (condition.type == BoundaryType::dirichlet
                                   ? "dirichlet"
                                 : condition.type == BoundaryType::neumann
                                   ? "neumann"
                                   : "robin");
                       }) +
        "  }\n";
      for (const char *name : {"dirichlet", "neumann"})
        text += std::string("  __device__ double ") + name +
                "(const Point &p) const\n  {\n" +
                by_boundary_id(conditions, "p.boundary_id", "0.", value) +
                "  }\n";
      text +=
        "  __device__ double robin_coefficient(const Point &p) const\n"
        "  {\n" +
        by_boundary_id(conditions,
                       "p.boundary_id",
                       "0.",
                       [](const int id, const Condition &condition) {
                         return condition.robin_coefficient.code.empty()
                                  ? std::string("0.")
                                  : "robin_" + condition_name(id) + "(p)";
                       }) +
        "  }\n};\n";
      const std::pair<const char *, const char *> kernels[] = {
        {"volume", "tabulate_volume"},
        {"facets", "tabulate_facets"},
        {"penalty", "largest_diffusion"}};
      for (const auto &kernel : kernels)
        text += std::string("extern \"C\" __global__ void\n") + kernel.first +
                "(const internal::Device::TabulationTask<" + n +
                "> task)\n{\n  internal::Device::" + kernel.second + "<" + n +
                ">(task, Coefficients());\n}\n";
      return text;
    }



    const CoefficientCode::Entry *
    CoefficientCode::find(const CoefficientError &error) const
    {
      const auto entry = [&](const std::vector<Entry> &list) -> const Entry * {
        return error.component < list.size() ? &list[error.component] : nullptr;
      };
      const auto condition = [&]() -> const Condition * {
        auto it = conditions.find(static_cast<int>(error.boundary_id));
        if (it == conditions.end())
          it = conditions.find(-1);
        return it == conditions.end() ? nullptr : &it->second;
      };
      switch (error.quantity)
        {
          case CoefficientError::diffusion:
          case CoefficientError::diffusion_tensor:
            return entry(diffusion);
          case CoefficientError::advection:
            return entry(advection);
          case CoefficientError::reaction:
            return entry(reaction);
          case CoefficientError::source:
            return entry(CoefficientCode::source);
          case CoefficientError::boundary_value:
            return condition() != nullptr && condition()->flux.empty()
                     ? &condition()->value
                     : nullptr;
          case CoefficientError::robin_coefficient:
            return condition() != nullptr ? &condition()->robin_coefficient
                                          : nullptr;
          default:
            return nullptr;
        }
    }



#ifdef TESSELLA_HAVE_CUDA
    namespace
    {
      // Compiles; errors of the source name the entry that they are in.
      Device::Image
      compile(const CoefficientCode &code,
              const int              dim,
              const std::string     &architecture)
      {
        try
          {
            return Device::compile(code.source_text(dim),
                                   architecture,
                                   KernelCache::directory());
          }
        catch (const Device::CompilationError &error)
          {
            const std::string log = error.what();
            code.explain(log);
            AssertThrow(false,
                        ExcMessage("The coefficients of the equation could not "
                                   "be compiled for the CUDA device: " +
                                   log));
          }
        catch (const Device::Error &error)
          {
            AssertThrow(false, ExcMessage(error.what()));
          }
        return {};
      }

      struct Compiled
      {
        std::unique_ptr<Device::Module> module;
        bool                            from_cache = false;
        double                          seconds    = 0.;
      };

      template <int dim>
      class CompiledCoefficients : public DeviceCoefficients<dim>
      {
      public:
        CompiledCoefficients(const CoefficientCode                 &code,
                             const double                           theta,
                             const std::shared_ptr<const void>     &owner,
                             const std::shared_ptr<const Compiled> &compiled)
          : code(code)
          , theta(theta)
          , owner(owner)
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
        launch(const Device::CoefficientKernel    kernel,
               const Device::TabulationTask<dim> &given,
               const unsigned int                 n_blocks_x,
               const unsigned int                 n_blocks_y,
               void                              *stream) const override
        {
          Device::TabulationTask<dim> task = given;
          task.t                           = 0.;
          task.theta                       = theta;
          const bool penalty = kernel == Device::CoefficientKernel::penalty;
          return compiled->module->launch(
            kernel == Device::CoefficientKernel::volume   ? "volume"
            : kernel == Device::CoefficientKernel::facets ? "facets"
                                                          : "penalty",
            &task,
            n_blocks_x,
            n_blocks_y,
            penalty ? 32 : Device::tabulation_threads,
            stream);
        }

        const std::vector<DiscreteField<dim>> &
        fields() const override
        {
          return no_fields;
        }

        [[noreturn]] void
        throw_error(const CoefficientError &error) const override
        {
          const CoefficientCode::Entry *entry = code.find(error);
          if (error.kind == CoefficientError::not_finite && entry != nullptr &&
              entry->function != nullptr)
            entry->function->throw_not_finite(entry->component,
                                              error.value,
                                              error.x);
          if (error.kind == CoefficientError::negative_diffusion &&
              error.quantity != CoefficientError::normal_diffusion &&
              entry != nullptr && entry->function != nullptr)
            {
              std::string point;
              for (int d = 0; d < dim; ++d)
                point += (d > 0 ? ", " : "") + std::to_string(error.x[d]);
              AssertThrow(false,
                          ExcNegativeDiffusion(point,
                                               error.value,
                                               entry->function->origin(
                                                 entry->component)));
            }
          throw_coefficient_error(error, dim);
        }

      private:
        const CoefficientCode                 code;
        const double                          theta;
        const std::shared_ptr<const void>     owner;
        const std::shared_ptr<const Compiled> compiled;
        const std::vector<DiscreteField<dim>> no_fields;
      };
    } // namespace



    void
    CoefficientCode::explain(const std::string &log) const
    {
      visit([&](const std::string &name, const Entry &entry) {
        if (log.compare(0, name.size() + 1, name + "(") != 0 &&
            log.find("\n" + name + "(") == std::string::npos)
          return;
        const std::string origin = entry.function != nullptr
                                     ? entry.function->origin(entry.component)
                                     : "a constant";
        AssertThrow(false,
                    ExcMessage("The compiler for the CUDA device does not "
                               "accept " +
                               origin + ": " + log));
      });
    }



    template <int dim>
    std::shared_ptr<const DeviceCoefficients<dim>>
    compile_coefficients(const CoefficientCode             &code,
                         const double                       theta,
                         const std::shared_ptr<const void> &owner,
                         std::string                       &why_not)
    {
      std::string architecture;
      try
        {
          architecture = Device::present_architecture();
        }
      catch (const Device::Error &error)
        {
          AssertThrow(false, ExcMessage(error.what()));
        }
      why_not = Device::why_no_compiler(architecture);
      if (!why_not.empty())
        return nullptr;

      // What was loaded stays; a program has few of these.
      static std::mutex                                       mutex;
      static std::map<std::string, std::shared_ptr<Compiled>> all;
      const std::lock_guard<std::mutex>                       lock(mutex);
      std::shared_ptr<Compiled>                              &compiled =
        all[architecture + code.source_text(dim)];
      if (compiled == nullptr)
        {
          const Device::Image image  = compile(code, dim, architecture);
          auto                result = std::make_shared<Compiled>();
          result->from_cache         = image.from_cache;
          result->seconds            = image.seconds;
          try
            {
              result->module = std::make_unique<Device::Module>(image);
            }
          catch (const Device::Error &error)
            {
              AssertThrow(false, ExcMessage(error.what()));
            }
          compiled = result;
        }
      return std::make_shared<const CompiledCoefficients<dim>>(code,
                                                               theta,
                                                               owner,
                                                               compiled);
    }



    std::string
    check_compilation(const CoefficientCode &code,
                      const int              dim,
                      const std::string     &architecture)
    {
      const std::string missing = Device::why_no_compiler(architecture);
      if (!missing.empty())
        return missing;
      return compile(code, dim, architecture).from_cache ? "from the cache"
                                                         : "";
    }
#else
    template <int dim>
    std::shared_ptr<const DeviceCoefficients<dim>>
    compile_coefficients(const CoefficientCode &,
                         const double,
                         const std::shared_ptr<const void> &,
                         std::string &why_not)
    {
      why_not = "this build has no CUDA backend";
      return nullptr;
    }



    void
    CoefficientCode::explain(const std::string &) const
    {}



    std::string
    check_compilation(const CoefficientCode &, const int, const std::string &)
    {
      return "this build has no CUDA backend";
    }
#endif



    template std::shared_ptr<const DeviceCoefficients<2>>
    compile_coefficients(const CoefficientCode &,
                         const double,
                         const std::shared_ptr<const void> &,
                         std::string &);
    template std::shared_ptr<const DeviceCoefficients<3>>
    compile_coefficients(const CoefficientCode &,
                         const double,
                         const std::shared_ptr<const void> &,
                         std::string &);
  } // namespace internal
} // namespace Tessella
