// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>

#include <tessella/base/config.h>
#include <tessella/forms/pointwise_text_integrand.h>

#include <algorithm>

#include "../device/with_cuda.h"
#include "pointwise_text_kernels.h"
#include "pointwise_text_parser.h"

namespace Tessella
{
  using namespace dealii;

  // A named namespace, since members of Implementation have these types.
  namespace PointwiseTextRegions
  {
    using TextInput = internal::PointwiseProgram::Input;

    // Terms of a region with their derivatives.
    struct TextRegion
    {
      internal::PointwiseProgram             program;
      std::vector<internal::PointwiseResult> results, derivatives;
      internal::PointwiseEvaluator           terms, tangent, jacobian;
      /// Rows that are read and written, see PointwiseRows.
      unsigned int input = PointwiseRows::none, output = PointwiseRows::none;
    };

    unsigned int
    rows_of(const unsigned int row, const unsigned int dim)
    {
      return row % (dim + 1) == 0 ? PointwiseRows::values
                                  : PointwiseRows::gradients;
    }

    internal::PointwiseEvaluator
    make_evaluator(const internal::PointwiseProgram             &program,
                   const std::vector<internal::PointwiseResult> &results)
    {
      std::vector<unsigned int> values;
      for (const auto &result : results)
        values.push_back(result.value);
      return internal::PointwiseEvaluator(program, values);
    }

    // Reads and differentiates the text of a region.
    void
    make_region(const std::string                  &text,
                const internal::PointwiseTextScope &scope,
                TextRegion                         &region)
    {
      using internal::PointwiseProgram;
      PointwiseProgram  &program = region.program;
      const unsigned int dim = scope.dim, n_in = scope.n_inputs * (dim + 1),
                         n_out = scope.n_outputs * (dim + 1);
      std::vector<unsigned int> values;
      for (const auto &result : parse_pointwise_text(text, scope, program))
        {
          region.results.push_back(
            {result.first / n_out, result.first % n_out, result.second});
          values.push_back(result.second);
          region.output |= rows_of(result.first % n_out, dim);
        }
      region.terms = make_evaluator(program, region.results);

      // The rows that the terms depend on.
      const std::vector<bool> needed = program.needed(values);
      std::vector<TextInput>  rows;
      for (unsigned int i = 0; i < needed.size(); ++i)
        if (needed[i] &&
            program.values()[i].operation == PointwiseProgram::Operation::input)
          {
            const TextInput &input = program.inputs()[program.values()[i].a];
            if (input.kind == TextInput::field)
              {
                rows.push_back(input);
                region.input |= rows_of(input.index, dim);
              }
          }

      std::map<TextInput, unsigned int> seeds;
      for (TextInput row : rows)
        {
          const TextInput field = row;
          row.kind              = TextInput::direction;
          seeds[field]          = program.input(row);
        }
      std::vector<unsigned int>              changes;
      std::vector<internal::PointwiseResult> tangent = region.results;
      changes = program.differentiate(seeds);
      for (auto &result : tangent)
        result.value = changes[result.value];
      region.tangent = make_evaluator(program, tangent);

      for (const TextInput &row : rows)
        {
          changes = program.differentiate({{row, PointwiseProgram::one}});
          for (const auto &result : region.results)
            if (changes[result.value] != PointwiseProgram::zero)
              region.derivatives.push_back(
                {0,
                 ((row.side * n_in + row.index) * scope.n_sides + result.side) *
                     n_out +
                   result.row,
                 changes[result.value]});
        }
      region.jacobian = make_evaluator(program, region.derivatives);
    }
  } // namespace PointwiseTextRegions

  using PointwiseTextRegions::TextInput;
  using PointwiseTextRegions::TextRegion;



  template <int dim>
  struct PointwiseTextIntegrand<dim>::Implementation
  {
    explicit Implementation(const PointwiseTextTerms &terms)
      : terms(terms)
    {
      AssertThrow(!terms.field_components.empty() && terms.n_components > 0,
                  ExcMessage("A PointwiseTextIntegrand needs a field and a "
                             "component of the test functions."));
      unsigned int n_inputs = 0;
      for (const unsigned int n : terms.field_components)
        {
          AssertThrow(n > 0,
                      ExcMessage("Each field of a PointwiseTextIntegrand needs "
                                 "a component."));
          n_inputs += n;
        }
      internal::PointwiseTextScope scope;
      scope.dim       = dim;
      scope.n_inputs  = n_inputs;
      scope.n_outputs = terms.n_components;
      for (const auto &parameter : terms.parameters)
        {
          scope.parameters.push_back(parameter.first);
          parameters.push_back(parameter.second);
        }
      const std::string  origin = terms.name.empty() ? "" : " of " + terms.name;
      const char *const  names[] = {"terms in the volume",
                                    "terms on interior facets",
                                    "terms on the boundary"};
      const std::string *texts[] = {&terms.volume,
                                    &terms.interior_facet,
                                    &terms.boundary_facet};
      for (unsigned int i = 0; i < 3; ++i)
        {
          scope.name        = names[i] + origin;
          scope.n_sides     = i == 1 ? 2 : 1;
          scope.on_facet    = i > 0;
          scope.on_boundary = i == 2;
          PointwiseTextRegions::make_region(*texts[i], scope, regions[i]);
        }
      AssertThrow(!regions[0].results.empty() || !regions[1].results.empty() ||
                    !regions[2].results.empty(),
                  ExcMessage("The texts" + origin +
                             " for a PointwiseTextIntegrand set no result."));
    }

    const TextRegion &
    of(const PointwiseRegion region) const
    {
      return regions[static_cast<unsigned int>(region)];
    }

    // Evaluates results at points.
    void
    evaluate(const internal::PointwiseEvaluator &evaluator,
             const unsigned int                  n,
             const OperatorPoint<dim>           *points,
             const double *const *const         *in,
             const double *const *const         *direction,
             double *const *const                results) const
    {
      evaluator.evaluate(
        n,
        [&](const TextInput   &input,
            const unsigned int first,
            const unsigned int m,
            double            *to) {
          const OperatorPoint<dim> *const p    = points + first;
          const auto                      fill = [&](const auto &value) {
            for (unsigned int q = 0; q < m; ++q)
              to[q] = value(p[q]);
          };
          const unsigned int i = input.index, s = input.side;
          switch (input.kind)
            {
              case TextInput::position:
                return fill([i](const auto &point) { return point.x[i]; });
              case TextInput::time:
                return fill([](const auto &point) { return point.t; });
              case TextInput::normal:
                return fill([i](const auto &point) { return point.normal[i]; });
              case TextInput::penalty:
                return fill([](const auto &point) { return point.penalty; });
              case TextInput::length:
                return fill([s](const auto &point) { return point.h[s]; });
              case TextInput::material:
                return fill([s](const auto &point) -> double {
                  return point.material[s];
                });
              case TextInput::boundary_id:
                return fill([](const auto &point) -> double {
                  return point.boundary_id;
                });
              case TextInput::parameter:
                return fill([&](const auto &) { return parameters[i]; });
              case TextInput::field:
                case TextInput::direction: {
                  const double *const from =
                    (input.kind == TextInput::field ? in : direction)[s][i];
                  for (unsigned int q = 0; q < m; ++q)
                    to[q] = from != nullptr ? from[first + q] : 0.;
                }
            }
        },
        results);
    }

    std::string
    write_code(const Structure &rows) const;

    // Member of the functor for a region.
    std::string
    member(const PointwiseRegion region) const
    {
      const bool        interior = region == PointwiseRegion::interior_facet;
      const std::string number =
        "    using Number = decltype(number_type(" +
        std::string(interior ? "u0" : "u") +
        ".value[0]));\n    using namespace PointwiseMath;\n";
      const std::string fields = interior ? "const U &u0, const U &u1, R &r0, "
                                            "R &r1"
                                          : "const U &u, R &r";
      const auto        names  = [&](const std::string &name) {
        return interior ? std::vector<std::string>{name + "0", name + "1"}
                                : std::vector<std::string>{name};
      };
      return "  template <typename U, typename R>\n  TESSELLA_HOST_DEVICE "
             "void\n  " +
             std::string(interior ? "interior_facet"
                         : region == PointwiseRegion::volume
                           ? "volume"
                           : "boundary_facet") +
             "(const OperatorPoint<" + std::to_string(dim) + "> &p, " + fields +
             ") const\n  {\n    (void)p;\n" + number +
             internal::pointwise_code(of(region).program,
                                      of(region).results,
                                      dim,
                                      names("u"),
                                      names("r")) +
             "  }\n";
    }

    PointwiseTextTerms  terms;
    std::vector<double> parameters;
    TextRegion          regions[3];
    // The functor in C++.
    std::string         code;
    mutable std::string why_not =
      internal::with_cuda ? "" : "this build has no CUDA backend";
  };



  template <int dim>
  PointwiseTextIntegrand<dim>::PointwiseTextIntegrand(
    const PointwiseTextTerms &terms)
    : implementation(std::make_unique<Implementation>(terms))
  {
    implementation->code = implementation->write_code(structure());
  }



  template <int dim>
  PointwiseTextIntegrand<dim>::~PointwiseTextIntegrand() = default;



  template <int dim>
  void
  PointwiseTextIntegrand<dim>::set_parameter(const std::string &name,
                                             const double       value)
  {
    auto      &known = implementation->terms.parameters;
    const auto found = known.find(name);
    AssertThrow(found != known.end(),
                ExcMessage("The PointwiseTextIntegrand has no parameter '" +
                           name + "'."));
    found->second                                                   = value;
    implementation->parameters[std::distance(known.begin(), found)] = value;
  }



  template <int dim>
  double
  PointwiseTextIntegrand<dim>::parameter(const std::string &name) const
  {
    const auto &known = implementation->terms.parameters;
    const auto  found = known.find(name);
    AssertThrow(found != known.end(),
                ExcMessage("The PointwiseTextIntegrand has no parameter '" +
                           name + "'."));
    return found->second;
  }



  template <int dim>
  typename PointwiseTextIntegrand<dim>::Structure
  PointwiseTextIntegrand<dim>::structure() const
  {
    const Implementation &i = *implementation;
    Structure             result;
    result.field_components = i.terms.field_components;
    result.n_components     = i.terms.n_components;
    result.volume           = !i.regions[0].results.empty();
    result.interior_facets  = !i.regions[1].results.empty();
    result.boundary_facets  = !i.regions[2].results.empty();
    // Kernels need a row, even if no text reads one.
    const auto rows = [](const unsigned int used) {
      return used == PointwiseRows::none ? PointwiseRows::values : used;
    };
    result.volume_input  = rows(i.regions[0].input);
    result.volume_output = rows(i.regions[0].output);
    result.facet_input   = rows(i.regions[1].input | i.regions[2].input);
    result.facet_output  = rows(i.regions[1].output | i.regions[2].output);
    return result;
  }



  template <int dim>
  void
  PointwiseTextIntegrand<dim>::evaluate(const PointwiseRegion       region,
                                        const unsigned int          n,
                                        const OperatorPoint<dim>   *points,
                                        const double *const *const *in,
                                        double *const *const       *out) const
  {
    const TextRegion     &of = implementation->of(region);
    std::vector<double *> results;
    for (const auto &result : of.results)
      results.push_back(out[result.side][result.row]);
    implementation->evaluate(of.terms, n, points, in, nullptr, results.data());
  }



  template <int dim>
  void
  PointwiseTextIntegrand<dim>::evaluate_tangent(
    const PointwiseRegion       region,
    const unsigned int          n,
    const OperatorPoint<dim>   *points,
    const double *const *const *in,
    const double *const *const *direction,
    double *const *const       *out) const
  {
    const TextRegion     &of = implementation->of(region);
    std::vector<double *> results;
    for (const auto &result : of.results)
      results.push_back(out[result.side][result.row]);
    implementation->evaluate(
      of.tangent, n, points, in, direction, results.data());
  }



  template <int dim>
  void
  PointwiseTextIntegrand<dim>::evaluate_jacobian(
    const PointwiseRegion       region,
    const unsigned int          n,
    const OperatorPoint<dim>   *points,
    const double *const *const *in,
    double *const              *out) const
  {
    const TextRegion     &of = implementation->of(region);
    std::vector<double *> results;
    for (const auto &derivative : of.derivatives)
      results.push_back(out[derivative.row]);
    implementation->evaluate(
      of.jacobian, n, points, in, nullptr, results.data());
  }



  template <int dim>
  std::string
  PointwiseTextIntegrand<dim>::device_code() const
  {
    return implementation->code;
  }



  template <int dim>
  std::string
  PointwiseTextIntegrand<dim>::Implementation::write_code(
    const Structure &rows) const
  {
    std::string components;
    for (const unsigned int n : rows.field_components)
      components += (components.empty() ? "" : ", ") + std::to_string(n);
    const auto constant = [](const std::string &name,
                             const unsigned int value) {
      return "  static constexpr unsigned int " + name + " = " +
             std::to_string(value) + ";\n";
    };
    std::string text =
      "#include <tessella/forms/pointwise_terms.h>\n"
      "using namespace Tessella;\n"
      "template <typename T>\n"
      "TESSELLA_HOST_DEVICE T number_type(const T &);\n"
      "TESSELLA_HOST_DEVICE inline double value_of(const double v)\n"
      "{\n  return v;\n}\n"
      "template <int n>\n"
      "TESSELLA_HOST_DEVICE inline double value_of(const Dual<n> &v)\n"
      "{\n  return v.value;\n}\n";
    text +=
      "struct Functor\n{\n  using Fields = FieldComponents<" + components +
      ">;\n  static constexpr int n_components = " +
      std::to_string(rows.n_components) + ";\n" +
      constant("volume_input", rows.volume_input) +
      constant("volume_output", rows.volume_output) +
      constant("facet_input", rows.facet_input) +
      constant("facet_output", rows.facet_output) + "  double parameter[" +
      std::to_string(std::max<std::size_t>(1, parameters.size())) + "];\n";
    for (const PointwiseRegion region : {PointwiseRegion::volume,
                                         PointwiseRegion::interior_facet,
                                         PointwiseRegion::boundary_facet})
      if (!of(region).results.empty())
        text += member(region);
    return text + "};\n";
  }



  template <int dim>
  std::shared_ptr<const DevicePointwiseKernels<dim>>
  PointwiseTextIntegrand<dim>::device_kernels() const
  {
    if (implementation->terms.field_components.size() >
        internal::Device::max_operator_fields)
      {
        implementation->why_not = "it has more than eight fields";
        return nullptr;
      }
    std::vector<double> parameters = implementation->parameters;
    parameters.resize(std::max<std::size_t>(1, parameters.size()));
    return internal::run_time_pointwise_kernels<dim>(implementation->code,
                                                     parameters,
                                                     this->get_time(),
                                                     implementation->why_not);
  }



  template <int dim>
  std::string
  PointwiseTextIntegrand<dim>::why_not_on_device() const
  {
    return implementation->why_not;
  }



  template <int dim>
  std::string
  PointwiseTextIntegrand<dim>::check_compilation(
    const std::string &architecture, std::vector<double> &seconds) const
  {
    return internal::check_pointwise_kernels<dim>(device_code(),
                                                  architecture,
                                                  seconds);
  }



  template class PointwiseTextIntegrand<2>;
  template class PointwiseTextIntegrand<3>;
} // namespace Tessella
