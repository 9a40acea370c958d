// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "compiled_coefficients.h"

#include <deal.II/base/exceptions.h>

#include <tessella/forms/advection_diffusion_reaction.h>

#include <algorithm>

#include "../base/dimensions.h"

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

      // Member function for a scalar coefficient.
      std::string
      scalar_member(const std::string &name)
      {
        return "  __device__ double " + name +
               "(const Point &p) const\n"
               "  { return " +
               name + "_0(p); }\n";
      }

      std::string
      index(const int i)
      {
        return "[" + std::to_string(i) + "]";
      }

      // Member function for a diffusion tensor.
      std::string
      tensor_member(const int                                  dim,
                    const std::vector<CoefficientCode::Entry> &diffusion)
      {
        const std::string type = "PointTensor<" + std::to_string(dim) + ">";
        std::string       text = "  __device__ " + type +
                           " diffusion(const Point &p) const\n  {\n    " +
                           type + " a;\n";
        for (int d = 0; d < dim * dim; ++d)
          {
            // Identical entries of a symmetric tensor are evaluated once.
            const int transposed = d % dim * dim + d / dim;
            text += "    a" + index(d / dim) + index(d % dim) + " = ";
            if (transposed < d &&
                diffusion[transposed].code == diffusion[d].code)
              text += "a" + index(d % dim) + index(d / dim) + ";\n";
            else
              text += "diffusion_" + std::to_string(d) + "(p);\n";
          }
        return text + "    return a;\n  }\n";
      }

      // Member function for the advection.
      std::string
      vector_member(const int dim)
      {
        const std::string type = "PointVector<" + std::to_string(dim) + ">";
        std::string       text = "  __device__ " + type +
                           " advection(const Point &p) const\n  {\n    " +
                           type + " b;\n";
        for (int d = 0; d < dim; ++d)
          text +=
            "    b" + index(d) + " = advection_" + std::to_string(d) + "(p);\n";
        return text + "    return b;\n  }\n";
      }

      // Name of the type of a boundary condition.
      std::string
      type_of(const int, const CoefficientCode::Condition &condition)
      {
        return std::string("BoundaryType::") +
               (condition.type == BoundaryType::dirichlet ? "dirichlet"
                : condition.type == BoundaryType::neumann ? "neumann"
                                                          : "robin");
      }

      // Sum of the calls of the member functions for the data of a boundary
      // condition.
      std::string
      value_of(const int id, const CoefficientCode::Condition &condition)
      {
        const std::string name = condition_name(id);
        std::string       sum;
        if (!condition.value.code.empty())
          sum = "value_" + name + "(p)";
        for (unsigned int d = 0; d < condition.flux.size(); ++d)
          sum += (sum.empty() ? "" : " + ") + ("flux_" + name + "_") +
                 std::to_string(d) + "(p) * p.normal" + index(d);
        return sum.empty() ? std::string("0.") : sum;
      }

      std::string
      robin_coefficient_of(const int                         id,
                           const CoefficientCode::Condition &condition)
      {
        return condition.robin_coefficient.code.empty()
                 ? std::string("0.")
                 : "robin_" + condition_name(id) + "(p)";
      }

      // Member functions for the boundary conditions.
      std::string
      boundary_members(
        const std::map<int, CoefficientCode::Condition> &conditions)
      {
        std::string text =
          "  __device__ BoundaryType boundary_type(const unsigned int id) "
          "const\n  {\n" +
          by_boundary_id(conditions, "id", "BoundaryType::dirichlet", type_of) +
          "  }\n";
        for (const char *name : {"dirichlet", "neumann"})
          text += std::string("  __device__ double ") + name +
                  "(const Point &p) const\n  {\n" +
                  by_boundary_id(conditions, "p.boundary_id", "0.", value_of) +
                  "  }\n";
        return text +
               "  __device__ double robin_coefficient(const Point &p) const\n"
               "  {\n" +
               by_boundary_id(conditions,
                              "p.boundary_id",
                              "0.",
                              robin_coefficient_of) +
               "  }\n";
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
        text += scalar_member("diffusion");
      else if (!diffusion.empty())
        text += tensor_member(dim, diffusion);
      if (n_fields > 0)
        text +=
          "  static constexpr int n_fields = " + std::to_string(n_fields) +
          ";\n";
      if (!cell_values.empty())
        {
          text += "  static constexpr int n_cell_values = " +
                  std::to_string(cell_values.size()) + ";\n";
          result.cell_values = cell_values;
        }
      if (!advection.empty())
        text += vector_member(dim);
      if (!reaction.empty())
        text += scalar_member("reaction");
      if (!CoefficientCode::source.empty())
        text += scalar_member("source");
      text += boundary_members(conditions) + "};\n";
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
    compile_coefficients(const CoefficientCode                 &code,
                         const std::vector<DiscreteField<dim>> &fields,
                         const double                           theta,
                         const double                           time,
                         const std::shared_ptr<const void>     &owner,
                         std::string                           &why_not)
    {
      RunTimeFunctor<dim> functor = code.functor<dim>();
      functor.fields              = fields;
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



#define INSTANTIATE(dim)                                         \
  template RunTimeFunctor<dim> CoefficientCode::functor() const; \
  template std::shared_ptr<const DeviceCoefficients<dim>>        \
  compile_coefficients(const CoefficientCode &,                  \
                       const std::vector<DiscreteField<dim>> &,  \
                       const double,                             \
                       const double,                             \
                       const std::shared_ptr<const void> &,      \
                       std::string &);

    TESSELLA_FOR_DIMENSIONS(INSTANTIATE)
#undef INSTANTIATE
  } // namespace internal
} // namespace Tessella
