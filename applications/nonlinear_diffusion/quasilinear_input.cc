// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "quasilinear_input.h"

#include "../common/derived_function.h"
#include "../common/equation_input.h"
#include "../common/program.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    void
    QuasilinearInput::declare_parameters(ParameterHandler &prm)
    {
      prm.enter_subsection("Equation");
      declare_constants(prm);
      prm.declare_entry("Diffusion",
                        "1 + u^2",
                        Patterns::Anything(),
                        "a of -div(a grad u) = f, an expression of x, y, z and "
                        "u. Its derivatives are worked out by the program.");
      prm.declare_entry("Exact solution",
                        "",
                        Patterns::Anything(),
                        "u, if known: errors are measured against it, and "
                        "source and boundary data follow from it unless they "
                        "are given.");
      declare_source(prm);
      prm.declare_entry("Initial guess",
                        "0",
                        Patterns::Anything(),
                        "First iterate, an expression of x, y, z.");
      prm.leave_subsection();

      prm.enter_subsection("Boundary conditions");
      prm.declare_entry("Neumann boundary ids",
                        "",
                        Patterns::Anything(),
                        "Boundary ids, separated by commas, where n . a grad u "
                        "is given; on all others u is.");
      prm.declare_entry("Dirichlet values",
                        "auto",
                        Patterns::Anything(),
                        "u there; auto: the exact solution, or zero without "
                        "one.");
      prm.declare_entry("Neumann values",
                        "auto",
                        Patterns::Anything(),
                        "n . a grad u there; auto: that of the exact solution, "
                        "or zero without one.");
      prm.leave_subsection();

      IterationParameters &p = iteration;
      prm.enter_subsection("Iteration");
      prm.add_parameter("Method",
                        p.method,
                        "picard: a is taken at the iterate before. newton: "
                        "the equation is linearised there.",
                        Patterns::Selection("picard|newton"));
      prm.add_parameter("Picard steps",
                        p.n_picard_steps,
                        "So many of them before Newton's method, where it "
                        "does not converge from the initial guess.",
                        Patterns::Integer(0, 1000));
      prm.add_parameter("Maximum iterations",
                        p.max_iterations,
                        "All steps together.",
                        Patterns::Integer(1, 100000));
      prm.add_parameter("Tolerance",
                        p.tolerance,
                        "The iteration ends when the Euclidean norm of the "
                        "residual, over that of the right-hand side at the "
                        "initial guess, is below this.",
                        Patterns::Double(0.));
      prm.add_parameter("Damping",
                        p.damping,
                        "Part of a Picard step that is taken, above 0.",
                        Patterns::Double(0., 1.));
      prm.add_parameter("Step halvings",
                        p.n_halvings,
                        "A Newton step is halved until the residual falls, at "
                        "most so many times.",
                        Patterns::Integer(0, 50));
      prm.leave_subsection();
    }



    void
    QuasilinearInput::parse_parameters(ParameterHandler &prm,
                                       const int         dim,
                                       const std::string &)
    {
      const std::vector<std::string> x   = coordinate_names(dim);
      std::vector<std::string>       x_u = x;
      x_u.push_back("u");

      prm.enter_subsection("Equation");
      const auto constants =
        parse_constants("Equation/Constants", prm.get("Constants"));
      const auto parse = [&](const std::string &section,
                             const std::string &name) {
        std::vector<Expression> result;
        const std::string       text = prm.get(name);
        if (!text.empty() && text != "auto")
          result.emplace_back(section + "/" + name, text, x, constants);
        return result;
      };
      diffusion =
        Expression("Equation/Diffusion", prm.get("Diffusion"), x_u, constants);
      exact  = parse("Equation", "Exact solution");
      source = parse("Equation", "Source");
      guess  = parse("Equation", "Initial guess");
      prm.leave_subsection();
      if (!guess.empty() && guess[0].is_constant() &&
          guess[0].value(nullptr) == 0.)
        guess.clear();

      prm.enter_subsection("Boundary conditions");
      dirichlet = parse("Boundary conditions", "Dirichlet values");
      neumann   = parse("Boundary conditions", "Neumann values");
      neumann_ids =
        parse_boundary_ids("Boundary conditions/Neumann boundary ids",
                           prm.get("Neumann boundary ids"));
      prm.leave_subsection();

      AssertThrow(iteration.tolerance > 0. && iteration.tolerance < 1.,
                  ExcMessage("Iteration/Tolerance must lie between 0 and 1: "
                             "rounding keeps the residual from being zero, and "
                             "the initial guess may have a relative residual "
                             "of 1."));
      AssertThrow(iteration.damping > 0.,
                  ExcMessage("Iteration/Damping must be positive, or no step "
                             "is made."));
    }



    namespace
    {
      /// Value and derivatives of u, and of a at (x, u(x)).
      template <int dim>
      class ExactData
      {
      public:
        ExactData(const QuasilinearCoefficient<dim> &diffusion,
                  const Expression                  &exact)
          : diffusion(diffusion)
          , exact(exact)
        {}

        /// Evaluates -div(a(x, u) grad u) = -a lap u - grad_x a . grad u - a'
        /// |grad u|^2.
        void
        source(const std::vector<Point<dim>> &points,
               std::vector<double>           &result) const
        {
          const Values v(*this, points, true);
          for (std::size_t q = 0; q < points.size(); ++q)
            result[q] = -v.a[q] * trace(v.hessian[q]) -
                        v.a_x[q] * v.gradient[q] -
                        v.a_u[q] * v.gradient[q].norm_square();
        }

        void
        flux(const std::vector<Point<dim>> &points,
             std::vector<Tensor<1, dim>>   &result) const
        {
          const Values v(*this, points, false);
          for (std::size_t q = 0; q < points.size(); ++q)
            result[q] = v.a[q] * v.gradient[q];
        }

        /// Declares the variables u_ and a_ of type Jet; a "return ..."
        /// statement follows.
        std::string
        device_declarations() const
        {
          return jet_declarations(dim) + jet_declaration("u_", exact, dim) +
                 jet_declaration("a_", diffusion.text(), dim, {"u_"});
        }

        /// Returns -div(a grad u), where the gradient of a_ is the total
        /// derivative of a(x, u(x)).
        std::string
        device_source() const
        {
          std::string text = device_declarations() + "return -(";
          for (int d = 0; d < dim; ++d)
            {
              const std::string i = std::to_string(d);
              text += (d > 0 ? " + " : "") +
                      ("a_.value * u_.hessian[" + i + "][" + i) +
                      "] + a_.gradient[" + i + "] * u_.gradient[" + i + "]";
            }
          return text + ");";
        }

        std::string
        device_flux(const unsigned int component) const
        {
          return device_declarations() + "return a_.value * u_.gradient[" +
                 std::to_string(component) + "];";
        }

        std::string
        solution() const
        {
          return exact.text();
        }

        std::string
        origin() const
        {
          return "the expressions '" + diffusion.text().text() + "' of " +
                 diffusion.text().name() + " and '" + exact.text() + "' of " +
                 exact.name();
        }

      private:
        struct Values
        {
          Values(const ExactData               &data,
                 const std::vector<Point<dim>> &points,
                 const bool                     second)
            : u(points.size())
            , a(points.size())
            , a_u(points.size())
            , gradient(points.size())
            , a_x(points.size())
            , hessian(second ? points.size() : 0)
          {
            const std::size_t n = points.size();
            data.exact.template derivatives<dim>(points,
                                                 u.data(),
                                                 gradient.data(),
                                                 second ? hessian.data()
                                                        : nullptr);
            std::vector<double> memory(dim * n);
            const double       *x[dim];
            for (int d = 0; d < dim; ++d)
              {
                for (std::size_t q = 0; q < n; ++q)
                  memory[d * n + q] = points[q][d];
                x[d] = memory.data() + d * n;
              }
            data.diffusion.evaluate(
              n, x, u.data(), a.data(), a_u.data(), a_x.data());
          }

          std::vector<double>                  u, a, a_u;
          std::vector<Tensor<1, dim>>          gradient, a_x;
          std::vector<SymmetricTensor<2, dim>> hessian;
        };

        const QuasilinearCoefficient<dim> diffusion;
        const Expression                  exact;
      };

      template <int dim>
      std::shared_ptr<const Function<dim>>
      function(const std::vector<Expression> &expressions)
      {
        if (expressions.empty())
          return nullptr;
        return std::make_shared<ExpressionFunction<dim>>(expressions);
      }
    } // namespace



    template <int dim>
    QuasilinearProblem<dim>
    QuasilinearInput::create() const
    {
      QuasilinearProblem<dim> problem;
      problem.diffusion   = QuasilinearCoefficient<dim>(diffusion);
      problem.neumann_ids = neumann_ids;
      problem.source      = function<dim>(source);
      problem.dirichlet = function<dim>(dirichlet.empty() ? exact : dirichlet);
      problem.neumann   = function<dim>(neumann);
      problem.exact_solution = function<dim>(exact);
      problem.initial_guess  = function<dim>(guess);
      if (!exact.empty())
        {
          const ExactData<dim> data(problem.diffusion, exact[0]);
          if (source.empty())
            problem.source = derived_source<dim>(data,
                                                 "source",
                                                 data.solution(),
                                                 data.origin());
          if (neumann.empty())
            problem.neumann_flux =
              derived_flux<dim>(data, data.solution(), data.origin());
        }
      return problem;
    }



    template QuasilinearProblem<2>
    QuasilinearInput::create() const;
    template QuasilinearProblem<3>
    QuasilinearInput::create() const;
  } // namespace Application
} // namespace Tessella
