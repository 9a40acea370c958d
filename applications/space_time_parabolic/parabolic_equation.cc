// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "parabolic_equation.h"

#include "../common/derived_function.h"
#include "../common/equation_input.h"
#include "../common/program.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    namespace
    {
      /// Function of space that evaluates an expression of the coordinates and
      /// t at the time of set_time(), with its spatial gradient.
      template <int dim>
      class AtTime : public Function<dim>
      {
      public:
        explicit AtTime(const Expression &expression)
          : function({expression})
        {}

        double
        value(const Point<dim> &p, const unsigned int = 0) const override
        {
          return function.value(space_time_point(p));
        }

        void
        value_list(const std::vector<Point<dim>> &points,
                   std::vector<double>           &values,
                   const unsigned int = 0) const override
        {
          function.value_list(space_time_points(points), values);
        }

        Tensor<1, dim>
        gradient(const Point<dim> &p, const unsigned int = 0) const override
        {
          return in_space(function.gradient(space_time_point(p)));
        }

        void
        gradient_list(const std::vector<Point<dim>> &points,
                      std::vector<Tensor<1, dim>>   &gradients,
                      const unsigned int = 0) const override
        {
          static thread_local std::vector<Tensor<1, dim + 1>> derivatives;
          derivatives.resize(points.size());
          function.gradient_list(space_time_points(points), derivatives);
          for (std::size_t q = 0; q < points.size(); ++q)
            gradients[q] = in_space(derivatives[q]);
        }

      private:
        Point<dim + 1>
        space_time_point(const Point<dim> &p) const
        {
          Point<dim + 1> x;
          for (unsigned int d = 0; d < dim; ++d)
            x[d] = p[d];
          x[dim] = this->get_time();
          return x;
        }

        /// The result is valid until the next call in the same thread.
        const std::vector<Point<dim + 1>> &
        space_time_points(const std::vector<Point<dim>> &points) const
        {
          static thread_local std::vector<Point<dim + 1>> result;
          result.resize(points.size());
          for (std::size_t q = 0; q < points.size(); ++q)
            result[q] = space_time_point(points[q]);
          return result;
        }

        static Tensor<1, dim>
        in_space(const Tensor<1, dim + 1> &derivatives)
        {
          Tensor<1, dim> result;
          for (unsigned int d = 0; d < dim; ++d)
            result[d] = derivatives[d];
          return result;
        }

        const ExpressionFunction<dim + 1> function;
      };



      /// Data derived from an exact solution: the source, or the flux a grad u.
      template <int dim>
      class FromSolution
      {
      public:
        static constexpr int D = dim + 1;

        enum What
        {
          source,
          flux
        };

        FromSolution(const What                     what,
                     const std::vector<Expression> &a,
                     const std::vector<Expression> &w,
                     const std::vector<Expression> &c,
                     const Expression              &u)
          : what(what)
          , a(a)
          , w(w)
          , c(c)
          , u(u)
        {}

        std::shared_ptr<const Function<D>>
        function() const
        {
          const std::string name = what == source ? "right-hand side" : "flux";
          return std::make_shared<DerivedFunction<D>>(
            what == flux ? dim : 1,
            name,
            u.text(),
            "the " + name + " that belongs to " + u.name(),
            [data = *this](const std::vector<Point<D>> &points,
                           const unsigned int           component,
                           std::vector<double>         &values) {
              data.values(points, component, values);
            },
            [data = *this](const unsigned int component) {
              return data.device_code(component);
            });
        }

      private:
        void
        values(const std::vector<Point<D>> &points,
               const unsigned int           component,
               std::vector<double>         &result) const
        {
          const std::size_t                  n = points.size();
          std::vector<double>                value(n), number(n);
          std::vector<Tensor<1, D>>          gradient(n), slope(n);
          std::vector<SymmetricTensor<2, D>> hessian(n);
          u.derivatives<D>(points,
                           value.data(),
                           gradient.data(),
                           what == source ? hessian.data() : nullptr);
          for (std::size_t q = 0; q < n; ++q)
            result[q] = what == source ? gradient[q][dim] : 0.;
          for (unsigned int i = 0; i < dim; ++i)
            for (unsigned int j = 0; j < dim; ++j)
              {
                if (a.empty() || (a.size() == 1 && i != j) ||
                    (what == flux && i != component))
                  continue;
                a[a.size() == 1 ? 0 : i * dim + j].derivatives<D>(points,
                                                                  number.data(),
                                                                  slope.data(),
                                                                  nullptr);
                for (std::size_t q = 0; q < n; ++q)
                  result[q] += what == flux ? number[q] * gradient[q][j]
                                            : -number[q] * hessian[q][i][j] -
                                                slope[q][i] * gradient[q][j];
              }
          if (what == source)
            {
              for (unsigned int d = 0; d < w.size(); ++d)
                {
                  w[d].derivatives<D>(points, number.data(), nullptr, nullptr);
                  for (std::size_t q = 0; q < n; ++q)
                    result[q] += number[q] * gradient[q][d];
                }
              if (!c.empty())
                {
                  c[0].derivatives<D>(points, number.data(), nullptr, nullptr);
                  for (std::size_t q = 0; q < n; ++q)
                    result[q] += number[q] * value[q];
                }
            }
        }

        std::string
        device_code(const unsigned int component) const
        {
          // names of coordinates and time
          const std::vector<std::string> x      = coordinate_names(D);
          const auto                     number = [](const unsigned int i) {
            return std::to_string(i);
          };
          std::string text = jet_declarations(D) + jet_declaration("u_", u, D);
          for (unsigned int k = 0; k < a.size(); ++k)
            text += jet_declaration("a_" + number(k), a[k], D);
          text += std::string("double sum = ") +
                  (what == source ? "u_.gradient[" + number(dim) + "]" : "0.") +
                  ";\n";
          for (unsigned int i = 0; i < dim; ++i)
            for (unsigned int j = 0; j < dim; ++j)
              {
                if (a.empty() || (a.size() == 1 && i != j) ||
                    (what == flux && i != component))
                  continue;
                const std::string a_ij =
                  "a_" + number(a.size() == 1 ? 0 : i * dim + j);
                if (what == flux)
                  text += "sum += " + a_ij + ".value * u_.gradient[" +
                          number(j) + "];\n";
                else
                  text += "sum -= " + a_ij + ".value * u_.hessian[" +
                          number(i) + "][" + number(j) + "] + " + a_ij +
                          ".gradient[" + number(i) + "] * u_.gradient[" +
                          number(j) + "];\n";
              }
          if (what == source)
            {
              for (unsigned int d = 0; d < w.size(); ++d)
                text += "sum += " + w[d].device_code(x) + " * u_.gradient[" +
                        number(d) + "];\n";
              if (!c.empty())
                text += "sum += " + c[0].device_code(x) + " * u_.value;\n";
            }
          return text + "return sum;";
        }

        const What                    what;
        const std::vector<Expression> a, w, c;
        const Expression              u;
      };
    } // namespace



    void
    ParabolicEquation::declare_parameters(ParameterHandler &prm)
    {
      prm.enter_subsection("Equation");
      declare_constants(prm);
      prm.declare_entry("Diffusion",
                        "1",
                        Patterns::Anything(),
                        "a of du/dt - div(a grad u) + w . grad u + c u = f: "
                        "one expression of x, y, in space z, and t, or one for "
                        "each entry, separated by semicolons, row by row.");
      prm.declare_entry("Advection",
                        "",
                        Patterns::Anything(),
                        "w: an expression for each direction, separated by "
                        "semicolons; empty: none.");
      prm.declare_entry("Reaction", "0", Patterns::Anything(), "c.");
      declare_source(prm);
      present_cell_values.declare_parameters(prm);
      prm.declare_entry("Initial value",
                        "auto",
                        Patterns::Anything(),
                        "u at the first time; auto: the exact solution, or "
                        "zero without one.");
      prm.declare_entry("Exact solution",
                        "",
                        Patterns::Anything(),
                        "u, if known: errors are measured against it, and "
                        "data that are not given follow from it.");
      prm.leave_subsection();
      prm.enter_subsection("Boundary conditions");
      prm.declare_entry("Types",
                        "default: dirichlet",
                        Patterns::Anything(),
                        "Type per boundary id: 0: dirichlet, 1: neumann; "
                        "default stands for all other ids. dirichlet is u = g "
                        "(where a = 0: on the inflow part), neumann n . a grad"
                        " u = g.");
      prm.declare_entry("Values",
                        "",
                        Patterns::Anything(),
                        "g per boundary id, separated by semicolons: 0: x + t;"
                        " 1: 0. Ids without an entry: what belongs to the exact"
                        " solution, or zero without one.");
      prm.leave_subsection();
    }



    Expression
    ParabolicEquation::parse(const std::string &name,
                             const std::string &text) const
    {
      return Expression(name, text, variables, constants);
    }



    void
    ParabolicEquation::parse_parameters(ParameterHandler  &prm,
                                        const unsigned int dim,
                                        const std::string &parameter_file)
    {
      variables = coordinate_names(dim);
      variables.push_back("t");
      prm.enter_subsection("Equation");
      constants = parse_constants("Equation/Constants", prm.get("Constants"));
      const auto parse_list = [&](const std::string &name,
                                  const std::string &text) {
        std::vector<Expression> result;
        for (const std::string &part : split(text, ';'))
          if (!part.empty())
            result.push_back(parse(name, part));
        return result;
      };
      const auto parse_entry = [&](const std::string          &name,
                                   const std::vector<unsigned> sizes) {
        std::vector<Expression> result =
          prm.get(name) == "auto"
            ? std::vector<Expression>()
            : parse_list("Equation/" + name, prm.get(name));
        std::string numbers;
        bool        right = result.empty();
        for (const unsigned size : sizes)
          {
            right = right || result.size() == size;
            numbers += (numbers.empty() ? "" : " or ") + std::to_string(size);
          }
        AssertThrow(right,
                    ExcMessage("Equation/" + name + " has " +
                               std::to_string(result.size()) +
                               " expressions, but must have " + numbers + "."));
        return result;
      };
      diffusion = parse_entry("Diffusion", {1, dim * dim});
      advection = parse_entry("Advection", {dim});
      reaction  = parse_entry("Reaction", {1});
      source    = parse_entry("Source", {1});
      initial   = parse_entry("Initial value", {1});
      exact     = parse_entry("Exact solution", {1});
      present_cell_values.parse_parameters(prm, parameter_file);
      prm.leave_subsection();
      const CellValuesInput &cells = present_cell_values;
      if (cells.has_diffusion())
        diffusion.clear();
      cells.check_source(!exact.empty(), !source.empty());

      prm.enter_subsection("Boundary conditions");
      conditions.clear();
      conditions[-1];
      for (const auto &entry : parse_boundary_map("Boundary conditions/Types",
                                                  prm.get("Types"),
                                                  ','))
        {
          AssertThrow(entry.second == "dirichlet" || entry.second == "neumann",
                      ExcMessage("The type '" + entry.second +
                                 "' in Boundary conditions/Types is unknown: "
                                 "it must be dirichlet or neumann."));
          conditions[entry.first].type = entry.second == "neumann"
                                           ? BoundaryType::neumann
                                           : BoundaryType::dirichlet;
        }
      for (const auto &entry : parse_boundary_map("Boundary conditions/Values",
                                                  prm.get("Values"),
                                                  ';'))
        {
          if (conditions.count(entry.first) == 0)
            conditions[entry.first].type = conditions.at(-1).type;
          conditions[entry.first].value = {
            parse("Boundary conditions/Values", entry.second)};
        }
      for (const auto &condition : conditions)
        AssertThrow(condition.second.type == BoundaryType::dirichlet ||
                      !condition.second.value.empty() || exact.empty() ||
                      !cells.has_diffusion(),
                    ExcMessage("Boundary conditions/Values must be given on "
                               "Neumann parts, since they cannot be derived "
                               "from Equation/Exact solution with " +
                               cells.diffusion_name() + "."));
      prm.leave_subsection();
    }



    template <int dim>
    ParabolicProblem<dim>
    ParabolicEquation::create(const double first_time) const
    {
      constexpr int         D = dim + 1;
      ParabolicProblem<dim> problem;
      problem.form               = std::make_unique<SpaceTimeForm<dim>>();
      SpaceTimeForm<dim> &form   = *problem.form;
      const auto          number = [](const Expression &expression) {
        return expression.value(nullptr);
      };
      if (!diffusion.empty() && is_constant(diffusion))
        {
          Tensor<2, dim> a;
          for (unsigned int d = 0; d < dim; ++d)
            for (unsigned int e = 0; e < dim; ++e)
              a[d][e] = diffusion.size() == 1
                          ? (d == e ? number(diffusion[0]) : 0.)
                          : number(diffusion[d * dim + e]);
          about_parameter("Equation/Diffusion",
                          [&]() { form.set_diffusion(a); });
        }
      else if (diffusion.size() == 1)
        form.set_diffusion(std::make_shared<ExpressionFunction<D>>(diffusion));
      else if (!diffusion.empty())
        form.set_diffusion_tensor(
          std::make_shared<ExpressionFunction<D>>(diffusion));
      if (!advection.empty() && is_constant(advection))
        {
          Tensor<1, dim> w;
          for (unsigned int d = 0; d < dim; ++d)
            w[d] = number(advection[d]);
          form.set_advection(w);
        }
      else if (!advection.empty())
        form.set_advection(std::make_shared<ExpressionFunction<D>>(advection));
      if (!reaction.empty() && is_constant(reaction))
        form.set_reaction(number(reaction[0]));
      else if (!reaction.empty())
        form.set_reaction(std::make_shared<ExpressionFunction<D>>(reaction));
      if (!source.empty() && is_constant(source))
        form.set_source(number(source[0]));
      else if (!source.empty())
        form.set_source(std::make_shared<ExpressionFunction<D>>(source));
      else if (!exact.empty() && !present_cell_values.has_source())
        form.set_source(
          FromSolution<dim>(
            FromSolution<dim>::source, diffusion, advection, reaction, exact[0])
            .function());
      present_cell_values.set_material_values(form);
      for (const auto &entry : conditions)
        {
          BoundaryCondition<D> condition;
          condition.type = entry.second.type;
          if (!entry.second.value.empty())
            condition.value =
              std::make_shared<ExpressionFunction<D>>(entry.second.value);
          else if (!exact.empty() && condition.type == BoundaryType::dirichlet)
            condition.value = std::make_shared<ExpressionFunction<D>>(exact);
          else if (!exact.empty())
            condition.flux = FromSolution<dim>(FromSolution<dim>::flux,
                                               diffusion,
                                               advection,
                                               reaction,
                                               exact[0])
                               .function();
          if (entry.first >= 0)
            {
              form.set_boundary_condition(entry.first, condition);
              problem.boundary_ids.insert(entry.first);
            }
          else
            form.set_default_boundary_condition(condition);
        }
      if (!exact.empty())
        problem.exact_solution = std::make_unique<AtTime<dim>>(exact[0]);
      problem.initial_value =
        std::make_unique<AtTime<dim>>(!initial.empty() ? initial[0]
                                      : !exact.empty() ? exact[0]
                                                       : Expression());
      problem.initial_value->set_time(first_time);
      return problem;
    }



    template ParabolicProblem<2>
    ParabolicEquation::create(const double) const;
    template ParabolicProblem<3>
    ParabolicEquation::create(const double) const;
  } // namespace Application
} // namespace Tessella
