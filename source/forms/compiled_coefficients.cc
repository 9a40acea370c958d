// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "compiled_coefficients.h"

#include <deal.II/base/exceptions.h>

#include <tessella/forms/advection_diffusion_reaction.h>

#include <algorithm>

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
        // Ids are unsigned, and the id of the bottom of a slab exceeds the
        // range of int.
        return id == -1 ? "default"
                        : std::to_string(static_cast<unsigned int>(id));
      }

      // Code that calls the member functions of all boundary ids.
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
          if (condition.first != -1)
            text += "      case " + condition_name(condition.first) +
                    "u: return " + value(condition.first, condition.second) +
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



    template <int dim>
    RunTimeFunctor<dim>
    CoefficientCode::functor() const
    {
      RunTimeFunctor<dim> result;
      const std::string   n = std::to_string(dim);
      // One function per component.
      visit([&](const std::string &name, const Entry &entry) {
        result.functions.push_back({name,
                                    entry.code,
                                    entry.function != nullptr
                                      ? entry.function->origin(entry.component)
                                      : "a constant"});
      });
      std::string &text = result.text;
      text              = "struct Coefficients\n{\n";
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
              // Identical entries of a symmetric tensor are evaluated once.
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
      if (!cell_values.empty())
        {
          text += "  static constexpr int n_cell_values = " +
                  std::to_string(cell_values.size()) + ";\n";
          result.cell_values = cell_values;
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
      return result;
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



    template <int dim>
    std::shared_ptr<const DeviceCoefficients<dim>>
    compile_coefficients(const CoefficientCode             &code,
                         const double                       theta,
                         const double                       time,
                         const std::shared_ptr<const void> &owner,
                         std::string                       &why_not)
    {
      RunTimeFunctor<dim> functor = code.functor<dim>();
      functor.theta               = theta;
      functor.time                = time;
      functor.throw_error = [code, owner](const CoefficientError &error) {
        const CoefficientCode::Entry *const entry = code.find(error);
        if (entry == nullptr || entry->function == nullptr)
          return;
        if (error.kind == CoefficientError::not_finite)
          entry->function->throw_not_finite(entry->component,
                                            error.value,
                                            error.x);
        if (error.kind == CoefficientError::negative_diffusion &&
            error.quantity != CoefficientError::normal_diffusion)
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
      };
      return compile_functor(functor, why_not);
    }



    template RunTimeFunctor<2>
    CoefficientCode::functor() const;
    template RunTimeFunctor<3>
    CoefficientCode::functor() const;
    template RunTimeFunctor<4>
    CoefficientCode::functor() const;
    template std::shared_ptr<const DeviceCoefficients<2>>
    compile_coefficients(const CoefficientCode &,
                         const double,
                         const double,
                         const std::shared_ptr<const void> &,
                         std::string &);
    template std::shared_ptr<const DeviceCoefficients<3>>
    compile_coefficients(const CoefficientCode &,
                         const double,
                         const double,
                         const std::shared_ptr<const void> &,
                         std::string &);
    template std::shared_ptr<const DeviceCoefficients<4>>
    compile_coefficients(const CoefficientCode &,
                         const double,
                         const double,
                         const std::shared_ptr<const void> &,
                         std::string &);
  } // namespace internal
} // namespace Tessella
