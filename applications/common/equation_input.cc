// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "equation_input.h"

#include <algorithm>
#include <cmath>

#include "derived_function.h"
#include "program.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    void
    declare_constants(ParameterHandler &prm)
    {
      prm.declare_entry("Constants",
                        "",
                        Patterns::Anything(),
                        "Names for numbers: k = 3, eps = 1e-2*k. pi and e are "
                        "known.");
    }

    void
    declare_source(ParameterHandler &prm)
    {
      prm.declare_entry("Source",
                        "auto",
                        Patterns::Anything(),
                        "f; auto: what belongs to the exact solution, or zero "
                        "without one.");
    }

    void
    EquationInput::declare_parameters(ParameterHandler &prm)
    {
      prm.enter_subsection("Equation");
      declare_constants(prm);
      prm.declare_entry(
        "Diffusion",
        "1",
        Patterns::Anything(),
        "a of -div(a grad u) + b . grad u + c u = f: one expression, or dim * "
        "dim of them, separated by semicolons, row by row. It may vanish or "
        "degenerate, but not be negative.");
      prm.declare_entry("Advection",
                        "",
                        Patterns::Anything(),
                        "b: dim expressions separated by semicolons; empty: "
                        "none.");
      prm.declare_entry("Reaction", "0", Patterns::Anything(), "c.");
      declare_source(prm);
      cell_values.declare_parameters(prm);
      prm.declare_entry(
        "Exact solution",
        "",
        Patterns::Anything(),
        "u, if known: errors are measured against it, and source and boundary "
        "data follow from it unless they are given. Derivatives are worked "
        "out by the program.");
      prm.leave_subsection();

      prm.enter_subsection("Boundary conditions");
      prm.declare_entry(
        "Types",
        "default: dirichlet",
        Patterns::Anything(),
        "Type per boundary id: 0: dirichlet, 1: neumann, 2: robin; default "
        "stands for all other ids. dirichlet is u = g where n.a n > 0 or b.n "
        "< 0, and no condition on other parts (outflow); neumann is n . a "
        "grad u = g, robin is n . a grad u + alpha u = g. Periodic boundaries "
        "are set in the section Mesh.");
      prm.declare_entry("Values",
                        "",
                        Patterns::Anything(),
                        "g per boundary id, separated by semicolons: 0: x + "
                        "y; 1: 0. Ids without an entry: what belongs to the "
                        "exact solution, or zero without one.");
      prm.declare_entry("Robin coefficients",
                        "default: 1",
                        Patterns::Anything(),
                        "alpha per boundary id, separated by semicolons.");
      prm.leave_subsection();
    }

    std::map<int, std::string>
    parse_boundary_map(const std::string &name,
                       const std::string &text,
                       const char         separator)
    {
      std::map<int, std::string> result;
      for (const std::string &entry : split(text, separator))
        {
          if (entry.empty())
            continue;
          const auto        colon = entry.find(':');
          const std::string key =
            split(entry.substr(0, std::min(colon, entry.size())), ',').empty()
              ? ""
              : split(entry.substr(0, colon), ',')[0];
          const bool number = is_index(key);
          AssertThrow(colon != std::string::npos &&
                        (number || key == "default"),
                      ExcMessage("The entry '" + entry + "' of " + name +
                                 " does not begin with a boundary id or "
                                 "'default' and a colon."));
          const int id = number ? std::stoi(key) : -1;
          AssertThrow(result.count(id) == 0,
                      ExcMessage(name + " has two entries for '" + key + "'."));
          const auto value = split(entry.substr(colon + 1), separator);
          AssertThrow(!value.empty(),
                      ExcMessage("The entry '" + entry + "' of " + name +
                                 " has no value."));
          result[id] = value[0];
        }
      return result;
    }

    namespace
    {
      // Coefficients of the equation and the flux a grad u.
      template <int dim>
      struct Coefficients
      {
        std::vector<Expression> a, b, c, u;

        static std::vector<double>
        values(const Expression              &expression,
               const std::vector<Point<dim>> &points)
        {
          std::vector<double> result(points.size());
          expression.derivatives<dim>(points, result.data(), nullptr, nullptr);
          return result;
        }

        // Evaluates a grad u.
        void
        flux(const std::vector<Point<dim>> &points,
             std::vector<Tensor<1, dim>>   &result) const
        {
          const std::size_t           n = points.size();
          std::vector<Tensor<1, dim>> gradient(n);
          u[0].derivatives<dim>(points, nullptr, gradient.data(), nullptr);
          std::fill(result.begin(), result.end(), Tensor<1, dim>());
          for (unsigned int k = 0; k < a.size(); ++k)
            {
              const std::vector<double> a_k = values(a[k], points);
              for (std::size_t q = 0; q < n; ++q)
                if (a.size() == 1)
                  result[q] = a_k[q] * gradient[q];
                else
                  result[q][k / dim] += a_k[q] * gradient[q][k % dim];
            }
        }

        // ---- Device code. Variables of type Jet have names that end in an
        // underscore; statements add to the variable sum.
        std::string
        device_declarations() const
        {
          std::string text =
            jet_declarations(dim) + jet_declaration("u_", u[0], dim);
          for (unsigned int k = 0; k < a.size(); ++k)
            text += jet_declaration("a_" + std::to_string(k), a[k], dim);
          return text + "double sum = 0.;\n";
        }

        std::string
        device_source() const
        {
          // Where a vanishes, u need not have second derivatives.
          std::string text = device_declarations();
          for (unsigned int k = 0; k < a.size(); ++k)
            {
              const std::string a_k = "a_" + std::to_string(k);
              for (int d = 0; d < dim; ++d)
                {
                  const unsigned int i = a.size() == 1 ? d : k / dim,
                                     j = a.size() == 1 ? d : k % dim;
                  if (a.size() == 1 || d == 0)
                    {
                      const std::string row = std::to_string(i),
                                        col = std::to_string(j);
                      text += "if (" + a_k + ".value != 0.) sum -= " + a_k +
                              ".value * u_.hessian[" + row + "][" + col +
                              "];\nif (" + a_k + ".gradient[" + row +
                              "] != 0.) sum -= " + a_k + ".gradient[" + row +
                              "] * u_.gradient[" + col + "];\n";
                    }
                }
            }
          const std::vector<std::string> x = coordinate_names(dim);
          for (unsigned int d = 0; d < b.size(); ++d)
            text += "sum += " + b[d].device_code(x) + " * u_.gradient[" +
                    std::to_string(d) + "];\n";
          if (!c.empty())
            text += "sum += " + c[0].device_code(x) + " * u_.value;\n";
          return text + "return sum;";
        }

        std::string
        device_flux(const unsigned int component) const
        {
          std::string text = device_declarations();
          for (unsigned int k = 0; k < a.size(); ++k)
            if (a.size() == 1 || k / dim == component)
              text +=
                "sum += a_" + std::to_string(k) + ".value * u_.gradient[" +
                std::to_string(a.size() == 1 ? component : k % dim) + "];\n";
          return text + "return sum;";
        }

        void
        source(const std::vector<Point<dim>> &points,
               std::vector<double>           &result) const
        {
          const std::size_t                    n = points.size();
          std::vector<double>                  value(n);
          std::vector<Tensor<1, dim>>          gradient(n), a_gradient(n);
          std::vector<SymmetricTensor<2, dim>> hessian(n);
          u[0].derivatives<dim>(points,
                                value.data(),
                                gradient.data(),
                                a.empty() ? nullptr : hessian.data());
          std::fill(result.begin(), result.end(), 0.);
          std::vector<double> a_value(n);
          for (unsigned int k = 0; k < a.size(); ++k)
            {
              a[k].derivatives<dim>(points,
                                    a_value.data(),
                                    a_gradient.data(),
                                    nullptr);
              const unsigned int i = k / dim, j = k % dim;
              for (std::size_t q = 0; q < n; ++q)
                if (a.size() == 1)
                  {
                    // Where a vanishes, u need not have second derivatives.
                    if (a_value[q] != 0.)
                      result[q] -= a_value[q] * trace(hessian[q]);
                    for (int d = 0; d < dim; ++d)
                      if (a_gradient[q][d] != 0.)
                        result[q] -= a_gradient[q][d] * gradient[q][d];
                  }
                else
                  {
                    if (a_value[q] != 0.)
                      result[q] -= a_value[q] * hessian[q][i][j];
                    if (a_gradient[q][i] != 0.)
                      result[q] -= a_gradient[q][i] * gradient[q][j];
                  }
            }
          for (unsigned int d = 0; d < b.size(); ++d)
            {
              const std::vector<double> b_d = values(b[d], points);
              for (std::size_t q = 0; q < n; ++q)
                result[q] += b_d[q] * gradient[q][d];
            }
          if (!c.empty())
            {
              const std::vector<double> c_value = values(c[0], points);
              for (std::size_t q = 0; q < n; ++q)
                result[q] += c_value[q] * value[q];
            }
        }
      };

      // Function -div(a grad u) + b . grad u + c u.
      template <int dim>
      std::shared_ptr<const Function<dim>>
      source_of_solution(const Coefficients<dim> &coefficients)
      {
        const Expression &u = coefficients.u[0];
        return derived_source<dim>(coefficients,
                                   "right-hand side",
                                   u.text(),
                                   "the right-hand side that belongs to " +
                                     u.name());
      }

      // Function a grad u; its normal component is the Neumann value.
      template <int dim>
      std::shared_ptr<const Function<dim>>
      flux_of_solution(const Coefficients<dim> &coefficients)
      {
        const Expression &u = coefficients.u[0];
        return derived_flux<dim>(coefficients,
                                 u.text(),
                                 "the flux of " + u.name());
      }

      // Function alpha u.
      template <int dim>
      std::shared_ptr<const Function<dim>>
      robin_value(const Expression &alpha, const Expression &u)
      {
        return std::make_shared<DerivedFunction<dim>>(
          1,
          "Robin value",
          u.text(),
          "the Robin value that belongs to " + u.name(),
          [=](const std::vector<Point<dim>> &points,
              const unsigned int,
              std::vector<double> &values) {
            for (std::size_t q = 0; q < points.size(); ++q)
              values[q] = alpha.value(&points[q][0]) * u.value(&points[q][0]);
          },
          [=](const unsigned int) {
            const std::vector<std::string> names = coordinate_names(dim);
            return "return " + alpha.device_code(names) + " * " +
                   u.device_code(names) + ";";
          });
      }

      bool
      is_zero(const std::vector<Expression> &expressions)
      {
        return std::all_of(expressions.begin(),
                           expressions.end(),
                           [](const Expression &e) {
                             return e.is_constant() && e.value(nullptr) == 0.;
                           });
      }

      void
      check_finite(const std::vector<Expression> &expressions)
      {
        for (const Expression &e : expressions)
          AssertThrow(!e.is_constant() || std::isfinite(e.value(nullptr)),
                      ExcMessage("The expression '" + e.text() + "' of " +
                                 e.name() + " is not finite."));
      }
    } // namespace

    std::vector<Expression>
    EquationInput::parse(const std::string &name, const std::string &text) const
    {
      std::vector<Expression> result;
      for (const std::string &part : split(text, ';'))
        result.emplace_back(name, part, variables, constants);
      check_finite(result);
      return result;
    }

    void
    EquationInput::parse_parameters(ParameterHandler  &prm,
                                    const int          dim,
                                    const std::string &parameter_file)
    {
      variables = coordinate_names(dim);
      prm.enter_subsection("Equation");
      constants = parse_constants("Equation/Constants", prm.get("Constants"));
      const auto parse_entry = [&](const std::string &name) {
        return parse("Equation/" + name, prm.get(name));
      };
      diffusion = parse_entry("Diffusion");
      advection = parse_entry("Advection");
      reaction  = parse_entry("Reaction");
      exact     = parse_entry("Exact solution");
      source.clear();
      const auto source_text = split(prm.get("Source"), ';');
      if (!(source_text.size() == 1 && source_text[0] == "auto"))
        source = parse_entry("Source");
      cell_values.parse_parameters(prm, parameter_file);
      prm.leave_subsection();
      if (cell_values.has_diffusion())
        diffusion.clear();
      check_coefficients(dim);

      prm.enter_subsection("Boundary conditions");
      parse_boundary_conditions(prm);
      prm.leave_subsection();
    }

    void
    EquationInput::check_coefficients(const int dim)
    {
      const auto require = [](const bool         condition,
                              const std::string &name,
                              const std::string &n) {
        AssertThrow(condition,
                    ExcMessage("Equation/" + name + " must be " + n +
                               ", separated by semicolons."));
      };
      const std::string n_tensor = std::to_string(dim * dim);
      require(diffusion.size() <= 1 ||
                diffusion.size() == static_cast<unsigned int>(dim * dim),
              "Diffusion",
              "one expression or " + n_tensor);
      require(is_zero(advection) ||
                advection.size() == static_cast<unsigned int>(dim),
              "Advection",
              std::to_string(dim) + " expressions");
      require(reaction.size() <= 1, "Reaction", "one expression");
      require(source.size() <= 1, "Source", "one expression");
      require(exact.size() <= 1, "Exact solution", "one expression");
      for (int i = 0; diffusion.size() > 1 && i < dim; ++i)
        for (int j = 0; j < i; ++j)
          {
            const Expression &e = diffusion[i * dim + j],
                             &f = diffusion[j * dim + i];
            AssertThrow(e.is_constant() && f.is_constant()
                          ? e.value(nullptr) == f.value(nullptr)
                          : e.text() == f.text(),
                        ExcMessage(
                          "Equation/Diffusion is not symmetric: its entries '" +
                          f.text() + "' and '" + e.text() +
                          "' must be the same."));
          }
      for (auto *coefficient : {&diffusion, &advection, &reaction})
        if (is_zero(*coefficient))
          coefficient->clear();
      cell_values.check_source(!exact.empty(), !source.empty());
      AssertThrow(!diffusion.empty() || !advection.empty() ||
                    !reaction.empty() || cell_values.has_diffusion() ||
                    cell_values.has_reaction(),
                  ExcMessage("Diffusion, advection and reaction of the "
                             "equation are all zero: give one of them."));
    }

    void
    EquationInput::parse_boundary_conditions(const ParameterHandler &prm)
    {
      const std::string section = "Boundary conditions";
      conditions.clear();
      for (const auto &entry :
           parse_boundary_map(section + "/Types", prm.get("Types"), ','))
        {
          Condition condition;
          if (entry.second == "neumann")
            condition.type = BoundaryType::neumann;
          else if (entry.second == "robin")
            condition.type = BoundaryType::robin;
          else
            AssertThrow(entry.second == "dirichlet",
                        ExcMessage("The type '" + entry.second +
                                   "' in Boundary conditions/Types is "
                                   "unknown: it must be dirichlet, neumann or "
                                   "robin."));
          conditions[entry.first] = condition;
        }
      conditions[-1]; // the default is Dirichlet

      // Ids that have a value but no type are of the default type.
      const auto parse_map = [&](const std::string &name) {
        const auto map =
          parse_boundary_map(section + "/" + name, prm.get(name), ';');
        for (const auto &entry : map)
          if (entry.first >= 0)
            conditions.emplace(entry.first, conditions.at(-1));
        return map;
      };
      const auto values       = parse_map("Values");
      const auto coefficients = parse_map("Robin coefficients");
      for (auto &condition : conditions)
        {
          const auto parse_for = [&](const std::map<int, std::string> &map,
                                     const std::string                &name) {
            auto entry = map.find(condition.first);
            if (entry == map.end())
              entry = map.find(-1);
            return entry == map.end()
                     ? std::vector<Expression>()
                     : parse(section + "/" + name, entry->second);
          };
          condition.second.value = parse_for(values, "Values");
          condition.second.coefficient =
            parse_for(coefficients, "Robin coefficients");
          AssertThrow(condition.second.type == BoundaryType::dirichlet ||
                        !condition.second.value.empty() || exact.empty() ||
                        !cell_values.has_diffusion(),
                      ExcMessage(
                        "Boundary conditions/Values must be given on Neumann "
                        "and Robin parts, since they cannot be derived from "
                        "Equation/Exact solution with " +
                        cell_values.diffusion_name() + "."));
        }
    }

    template <int dim>
    Problem<dim>
    EquationInput::create() const
    {
      Problem<dim> problem;
      problem.has_advection = !advection.empty();
      if (!exact.empty())
        problem.exact_solution =
          std::make_shared<ExpressionFunction<dim>>(exact);
      set_diffusion(problem);
      set_other_coefficients(problem);
      cell_values.set_material_values(problem.form);
      set_boundary_conditions(problem);
      return problem;
    }

    template <int dim>
    void
    EquationInput::set_diffusion(Problem<dim> &problem) const
    {
      auto &form = problem.form;
      if (diffusion.size() == 1)
        {
          if (is_constant(diffusion))
            about_parameter("Equation/Diffusion", [&]() {
              form.set_diffusion(diffusion[0].value(nullptr));
            });
          else
            form.set_diffusion(
              problem.diffusion =
                std::make_shared<ExpressionFunction<dim>>(diffusion));
        }
      else if (diffusion.size() > 1)
        {
          if (is_constant(diffusion))
            {
              Tensor<2, dim> a;
              for (int i = 0; i < dim; ++i)
                for (int j = 0; j < dim; ++j)
                  a[i][j] = diffusion[i * dim + j].value(nullptr);
              about_parameter("Equation/Diffusion",
                              [&]() { form.set_diffusion(a); });
            }
          else
            {
              problem.diffusion_tensor =
                std::make_shared<ExpressionTensorFunction<dim>>(diffusion);
              form.set_diffusion(problem.diffusion_tensor);
            }
        }
    }

    template <int dim>
    void
    EquationInput::set_other_coefficients(Problem<dim> &problem) const
    {
      auto &form = problem.form;
      if (!advection.empty())
        {
          if (is_constant(advection))
            {
              Tensor<1, dim> b;
              for (int i = 0; i < dim; ++i)
                b[i] = advection[i].value(nullptr);
              form.set_advection(b);
            }
          else
            form.set_advection(
              problem.advection =
                std::make_shared<ExpressionFunction<dim>>(advection));
        }
      // Calls a function with the number or the function of an expression.
      const auto set = [](const std::vector<Expression>        &coefficient,
                          std::shared_ptr<const Function<dim>> &function,
                          const auto                           &set_value) {
        if (is_constant(coefficient))
          set_value(coefficient[0].value(nullptr));
        else
          set_value(function =
                      std::make_shared<ExpressionFunction<dim>>(coefficient));
      };
      if (!reaction.empty())
        set(reaction, problem.reaction, [&](const auto &value) {
          form.set_reaction(value);
        });
      if (!source.empty())
        set(source, problem.source, [&](const auto &value) {
          form.set_source(value);
        });
      else if (!exact.empty())
        {
          problem.source = source_of_solution(
            Coefficients<dim>{diffusion, advection, reaction, exact});
          form.set_source(problem.source);
        }
    }

    template <int dim>
    void
    EquationInput::set_boundary_conditions(Problem<dim> &problem) const
    {
      for (const auto &entry : conditions)
        {
          const Condition       &from = entry.second;
          BoundaryCondition<dim> condition;
          condition.type = from.type;
          if (from.type == BoundaryType::robin && !from.coefficient.empty())
            condition.robin_coefficient =
              std::make_shared<ExpressionFunction<dim>>(from.coefficient);
          if (!from.value.empty())
            condition.value =
              std::make_shared<ExpressionFunction<dim>>(from.value);
          else if (!exact.empty())
            {
              if (from.type == BoundaryType::dirichlet)
                condition.value =
                  std::make_shared<ExpressionFunction<dim>>(exact);
              else
                condition.flux = flux_of_solution(
                  Coefficients<dim>{diffusion, advection, reaction, exact});
              if (from.type == BoundaryType::robin && !from.coefficient.empty())
                condition.value =
                  robin_value<dim>(from.coefficient[0], exact[0]);
            }
          if (entry.first >= 0)
            {
              problem.form.set_boundary_condition(entry.first, condition);
              problem.boundary_ids.insert(entry.first);
            }
          else
            problem.form.set_default_boundary_condition(condition);
        }
    }

    template Problem<2>
    EquationInput::create() const;
    template Problem<3>
    EquationInput::create() const;
  } // namespace Application
} // namespace Tessella
