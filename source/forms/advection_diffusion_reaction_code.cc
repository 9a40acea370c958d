// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <tessella/forms/device_function.h>

#include <algorithm>
#include <locale>
#include <memory>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "advection_diffusion_reaction_data.h"

namespace Tessella
{
  using namespace dealii;
  using internal::ScalarCoefficient;

  namespace
  {
    // Writes coefficients and boundary conditions as source code.
    template <int dim>
    class CodeWriter
    {
    public:
      using Entry = internal::CoefficientCode::Entry;

      CodeWriter(internal::CoefficientCode       &code,
                 std::vector<DiscreteField<dim>> &fields)
        : code(code)
        , fields(fields)
      {}

      // The last coefficient without code, and the reason; empty if all
      // coefficients have code.
      std::string problem;

      static Entry
      literal(const double value)
      {
        return Entry{"return " + number(value) + ";", nullptr, 0};
      }

      // Entry of a Function or TensorFunction.
      template <typename FunctionType>
      Entry
      entry(const std::shared_ptr<const FunctionType> &function,
            const std::string                         &name,
            const unsigned int                         component)
      {
        if constexpr (dim < 4 &&
                      std::is_same<FunctionType, Function<dim>>::value)
          if (const auto *const discrete =
                internal::as_discrete(function.get()))
            return Entry{field(*discrete, component), nullptr, 0};
        const auto *f = dynamic_cast<const DeviceFunction *>(function.get());
        if (f == nullptr)
          {
            problem = "the " + name + " is a function without device code";
            return Entry();
          }
        return Entry{f->device_code(component), f, component};
      }

      // Appends the product of a coefficient that is present and a factor,
      // which must be 1 for constants and functions.
      void
      add(const ScalarCoefficient<dim> &c,
          std::vector<Entry>           &to,
          const double                  factor = 1.)
      {
        if (!c.present())
          return;
        if (c.function != nullptr)
          to.push_back(entry(c.function, c.name, 0));
        else if (c.cellwise == nullptr)
          to.push_back(literal(c.constant));
        else if (c.cellwise->subcell_values() != nullptr)
          to.push_back({"return " + number(factor) + " * p.cell_value[" +
                          std::to_string(index(c.cellwise->subcell_values())) +
                          "];",
                        nullptr,
                        0});
        else
          {
            Entry result = {"switch (p.material) {", nullptr, 0};
            for (const auto &value : c.cellwise->material_values())
              result.code += " case " + std::to_string(value.first) + ": " +
                             literal(factor * value.second).code;
            result.code += " } return nan(\"\");";
            to.push_back(result);
          }
      }

      // Sets the condition with the given boundary id.
      void
      add(const int id, const BoundaryCondition<dim> &from)
      {
        internal::CoefficientCode::Condition &to = code.conditions[id];
        to.type                                  = from.type;
        if (from.value != nullptr)
          to.value = entry(from.value, "boundary value", 0);
        if (from.type == BoundaryType::robin &&
            from.robin_coefficient != nullptr)
          to.robin_coefficient =
            entry(from.robin_coefficient, "Robin coefficient", 0);
        if (from.type != BoundaryType::dirichlet && from.flux != nullptr)
          for (unsigned int d = 0; d < dim; ++d)
            to.flux.push_back(entry(from.flux, "boundary flux", d));
      }

    private:
      static std::string
      number(const double value)
      {
        std::ostringstream text;
        text.imbue(std::locale::classic());
        text << std::hexfloat << value;
        return text.str();
      }

      // Code of a component of a discrete function, which is listed once.
      std::string
      field(const DiscreteFunction<dim> &function, const unsigned int component)
      {
        const std::pair<const void *, unsigned int> key(&function, component);
        const auto it = std::find(listed.begin(), listed.end(), key);
        const auto i  = it - listed.begin();
        if (it == listed.end())
          {
            if (i == max_fields)
              {
                problem = "coefficients and data read more than " +
                          std::to_string(max_fields) +
                          " components of discrete functions";
                return "";
              }
            listed.push_back(key);
            fields.push_back(function.component(component));
            code.n_fields = fields.size();
          }
        return "return p.value[" + std::to_string(i) + "];";
      }

      // Position of a vector of values per sub-cell in the list of these
      // vectors. A vector is listed once, even if several entries of a tensor
      // use it.
      std::size_t
      index(const std::shared_ptr<const std::vector<double>> &values)
      {
        auto      &list = code.cell_values;
        const auto it   = std::find(list.begin(), list.end(), values);
        const auto i    = it - list.begin();
        if (it == list.end())
          list.push_back(values);
        return i;
      }

      internal::CoefficientCode       &code;
      std::vector<DiscreteField<dim>> &fields;
      // Function and component of each field.
      std::vector<std::pair<const void *, unsigned int>> listed;
    };
  } // namespace



  template <int dim>
  bool
  AdvectionDiffusionReaction<dim>::Implementation::make_code(
    internal::CoefficientCode &code, std::vector<DiscreteField<dim>> &fields)
  {
    CodeWriter<dim> writer(code, fields);
    if (diffusion_type == DiffusionType::isotropic)
      writer.add(scalar_diffusion, code.diffusion);
    else if (diffusion_type == DiffusionType::tensor)
      {
        for (unsigned int d = 0; d < dim * dim; ++d)
          if (scalar_diffusion.cellwise != nullptr)
            writer.add(scalar_diffusion,
                       code.diffusion,
                       constant_tensor[d / dim][d % dim]);
          else
            code.diffusion.push_back(
              tensor_function != nullptr
                ? writer.entry(tensor_function, "diffusion tensor", d)
                : writer.literal(constant_tensor[d / dim][d % dim]));
      }
    if (advection.present())
      for (unsigned int d = 0; d < dim; ++d)
        code.advection.push_back(
          advection.tensor_function != nullptr
            ? writer.entry(advection.tensor_function, "advection", d)
          : advection.function != nullptr
            ? writer.entry(advection.function, "advection", d)
            : writer.literal(advection.constant[d]));
    writer.add(reaction, code.reaction);
    writer.add(source, code.source);
    for (const auto &condition : conditions)
      writer.add(static_cast<int>(condition.first), condition.second);
    writer.add(-1, default_condition);
    if (!writer.problem.empty())
      why_not_on_device = writer.problem;
    return writer.problem.empty();
  }



  template <int dim>
  std::shared_ptr<const DeviceCoefficients<dim>>
  AdvectionDiffusionReaction<dim>::device_coefficients() const
  {
    data->why_not_on_device.clear();
    if (!data->compile)
      {
        data->why_not_on_device = "run-time compilation is switched off";
        return nullptr;
      }
    // Constant coefficients leave little work for the host.
    if (data->constant() && data->source.is_constant())
      return nullptr;
    internal::CoefficientCode       code;
    std::vector<DiscreteField<dim>> fields;
    if (data->make_code(code, fields))
      return internal::compile_coefficients<dim>(
        code,
        fields,
        data->theta,
        device_time(),
        std::make_shared<const Implementation>(*data),
        data->why_not_on_device);
    return nullptr;
  }



  template std::shared_ptr<const DeviceCoefficients<2>>
  AdvectionDiffusionReaction<2>::device_coefficients() const;
  template std::shared_ptr<const DeviceCoefficients<3>>
  AdvectionDiffusionReaction<3>::device_coefficients() const;
  template std::shared_ptr<const DeviceCoefficients<4>>
  AdvectionDiffusionReaction<4>::device_coefficients() const;
} // namespace Tessella
