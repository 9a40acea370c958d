// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "quasilinear_form.h"

#include <tessella/forms/quasilinear_terms.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <locale>
#include <sstream>

#include "../common/program.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    namespace
    {
      /// Values of u, its gradient, a(u) and da/du at points, on one side of a
      /// facet. There is one object per thread and side.
      template <int dim>
      struct Side
      {
        std::vector<double> memory;
        double             *u, *gradient[dim], *a, *da;

        void
        reinit(const unsigned int n)
        {
          if (memory.size() < (dim + 3) * n)
            memory.resize((dim + 3) * n);
          u  = memory.data();
          a  = u + n;
          da = a + n;
          for (int d = 0; d < dim; ++d)
            gradient[d] = da + (d + 1) * n;
        }

        void
        evaluate(const QuasilinearCoefficient<dim> &coefficient,
                 const DiscreteField<dim>          &field,
                 const unsigned int                 n,
                 const unsigned int                *subcell,
                 const double *const               *x,
                 const bool                         derivative)
        {
          reinit(n);
          field.evaluate(n, subcell, x, u, gradient);
          coefficient.evaluate(n, x, u, a, derivative ? da : nullptr);
          if (!derivative)
            std::fill(da, da + n, 0.);
        }

        QuasilinearTerms::Side
        at(const double *normal, const unsigned int q) const
        {
          QuasilinearTerms::Side side = {u[q], 0., a[q], da[q]};
          for (int d = 0; d < dim; ++d)
            side.normal_derivative += gradient[d][q] * normal[d];
          return side;
        }
      };

      /// Evaluates @p function, or returns zeros if it is null.
      template <int dim>
      void
      evaluate_data(const std::shared_ptr<const Function<dim>> &function,
                    const PointBatch<dim>                      &points,
                    std::vector<double>                        &values,
                    const unsigned int                          component = 0)
      {
        values.assign(points.n_points, 0.);
        if (function == nullptr)
          return;
        static thread_local std::vector<Point<dim>> p;
        p.resize(points.n_points);
        for (unsigned int q = 0; q < points.n_points; ++q)
          for (int d = 0; d < dim; ++d)
            p[q][d] = points.x[d][q];
        function->value_list(p, values, component);
      }
    } // namespace



    template <int dim>
    QuasilinearCoefficient<dim>::QuasilinearCoefficient(
      const Expression &expression)
      : expression(expression)
    {}



    template <int dim>
    void
    QuasilinearCoefficient<dim>::evaluate(const unsigned int   n,
                                          const double *const *x,
                                          const double        *u,
                                          double              *a,
                                          double              *da,
                                          Tensor<1, dim>      *gradient) const
    {
      if (da == nullptr && gradient == nullptr)
        {
          const double *variables[dim + 1];
          std::copy(x, x + dim, variables);
          variables[dim] = u;
          expression.values(n, variables, a);
        }
      else
        {
          static thread_local std::vector<Point<dim + 1>>     points;
          static thread_local std::vector<Tensor<1, dim + 1>> derivatives;
          points.resize(n);
          derivatives.resize(n);
          for (unsigned int q = 0; q < n; ++q)
            {
              for (int d = 0; d < dim; ++d)
                points[q][d] = x[d][q];
              points[q][dim] = u[q];
            }
          expression.template derivatives<dim + 1>(points,
                                                   a,
                                                   derivatives.data(),
                                                   nullptr);
          for (unsigned int q = 0; q < n; ++q)
            {
              if (da != nullptr)
                da[q] = derivatives[q][dim];
              for (int d = 0; gradient != nullptr && d < dim; ++d)
                gradient[q][d] = derivatives[q][d];
            }
        }
      for (unsigned int q = 0; q < n; ++q)
        {
          const bool bad_value = !(a[q] >= 0.) || !std::isfinite(a[q]);
          if (!bad_value && (da == nullptr || std::isfinite(da[q])))
            continue;
          double point[dim];
          for (int d = 0; d < dim; ++d)
            point[d] = x[d][q];
          throw_bad_value(!bad_value, bad_value ? a[q] : da[q], point, u[q]);
        }
    }



    template <int dim>
    typename RunTimeFunctor<dim>::PointFunction
    QuasilinearCoefficient<dim>::device_function(const std::string &name,
                                                 const bool derivative) const
    {
      std::vector<std::string> variables = coordinate_names(dim);
      variables.push_back("u");
      const std::string code = expression.device_code(variables);
      return {name,
              derivative ? "const Jet<1> u = Jet<1>::variable(p.value[0], 0);\n"
                           "(void)u;\nconst Jet<1> a = " +
                             code + ";\nreturn a.gradient[0];"
                         : "const double u = p.value[0];\n(void)u;\nreturn " +
                             code + ";",
              "the expression '" + expression.text() + "' of " +
                expression.name()};
    }



    template <int dim>
    void
    QuasilinearCoefficient<dim>::throw_bad_value(const bool    derivative,
                                                 const double  value,
                                                 const double *x,
                                                 const double  u) const
    {
      AssertThrow(false,
                  ExcBadDiffusion((derivative ? "The derivative by u of "
                                              : "") +
                                    expression.name(),
                                  expression.text(),
                                  value,
                                  point_text(x, dim),
                                  u));
      std::abort(); // not reached
    }



    template <int dim>
    QuasilinearForm<dim>::QuasilinearForm(
      const QuasilinearProblem<dim> &problem,
      const DiscreteField<dim>      &u,
      const Linearisation            linearisation,
      const double                   theta,
      const unsigned int             coefficient_order)
      : problem(problem)
      , u(u)
      , linearisation(linearisation)
      , theta(theta)
      , order(coefficient_order)
    {}



    namespace
    {
      /// Writes the code of the functor: the checks of the library, and an
      /// additional check of the derivative. Collects the functions of points
      /// that the code calls.
      template <int dim>
      class FunctorWriter
      {
      public:
        FunctorWriter(const QuasilinearProblem<dim> &problem,
                      const bool                     is_newton,
                      const double                   theta,
                      RunTimeFunctor<dim>           &functor)
          : problem(problem)
          , is_newton(is_newton)
          , theta(theta)
          , functor(functor)
        {
          text.imbue(std::locale::classic());
        }

        /// Returns why there is no code; empty if there is.
        std::string
        write()
        {
          functor.functions.push_back(
            problem.diffusion.device_function("diffusion_value", false));
          write_volume_terms();
          write_side();
          write_interior_facet();
          write_boundary_facet();
          text << "};\n";
          functor.text = text.str();
          return reason;
        }

      private:
        void
        add(const std::string                          &name,
            const std::shared_ptr<const Function<dim>> &function,
            const unsigned int                          component = 0)
        {
          const auto *code =
            dynamic_cast<const DeviceFunction *>(function.get());
          if (code == nullptr)
            {
              std::string words = name;
              std::replace(words.begin(), words.end(), '_', ' ');
              reason = "the " + words + " is a function without device code";
              return;
            }
          functor.functions.push_back(
            {name, code->device_code(component), code->origin(component)});
        }

        void
        write_volume_terms()
        {
          text << "struct Coefficients\n{\n"
                  "  static constexpr int n_fields = 1;\n"
                  "  using Checked = internal::PointwiseCoefficients<"
               << dim
               << ", Coefficients>;\n"
                  "  __device__ double diffusion(const Point &p) const\n"
                  "  { return diffusion_value(p); }\n"
                  "  __device__ double penalty_diffusion(const Point &) const\n"
                  "  { return 1.; }\n";
          if (is_newton)
            {
              functor.functions.push_back(
                problem.diffusion.device_function("diffusion_derivative",
                                                  true));
              text << "  __device__ PointVector<" << dim
                   << "> beta(const Point &p) const\n  {\n"
                      "    const double da = diffusion_derivative(p);\n"
                      "    PointVector<"
                   << dim << "> result;\n    for (int d = 0; d < " << dim
                   << "; ++d)\n      result[d] = da * p.gradient[0][d];\n"
                      "    return result;\n  }\n";
            }
          if (problem.source != nullptr)
            {
              add("source_term", problem.source);
              text << "  __device__ double source(const Point &p) const\n"
                      "  { return source_term(p); }\n";
            }
        }

        void
        write_side()
        {
          text
            << "  __device__ QuasilinearTerms::Side\n"
               "  side(const Point &p, CoefficientError &error) const\n  {\n"
               "    QuasilinearTerms::Side s = {p.value[0], 0., 0., 0.};\n"
               "    for (int d = 0; d < "
            << dim
            << "; ++d)\n"
               "      s.normal_derivative += p.gradient[0][d] * p.normal[d];\n"
               "    Checked::diffusion(*this, p, &s.a, error);\n";
          if (is_newton)
            text
              << "    s.derivative = Checked::checked(diffusion_derivative(p),\n"
                 "      CoefficientError::beta, p, error);\n";
          text << "    return s;\n  }\n";
        }

        void
        write_interior_facet()
        {
          text << "  __device__ void interior_facet(const Point &own,\n"
                  "    const Point &neighbor, const double sigma,\n"
                  "    InteriorFacetTerms<"
               << dim
               << "> &terms, CoefficientError &error) const\n  {\n"
                  "    QuasilinearTerms::interior(side(own, error),\n"
                  "      side(neighbor, error), own.normal, sigma, "
               << std::hexfloat << theta << std::defaultfloat
               << ", terms);\n  }\n";
        }

        void
        write_boundary_facet()
        {
          text
            << "  __device__ void boundary_facet(const Point &p,\n"
               "    const double sigma, BoundaryFacetTerms<"
            << dim
            << "> &terms,\n"
               "    CoefficientError &error) const\n  {\n    double g = 0.;\n";
          if (!problem.neumann_ids.empty())
            write_neumann_part();
          if (problem.dirichlet != nullptr)
            {
              add("dirichlet_value", problem.dirichlet);
              text << "    g = Checked::checked(dirichlet_value(p),\n"
                      "      CoefficientError::boundary_value, p, error);\n";
            }
          text << "    Point q = p;\n    q.value[0] = g;\n    double a;\n"
                  "    Checked::diffusion(*this, q, &a, error);\n"
                  "    QuasilinearTerms::dirichlet(a, g, p.normal, sigma, "
               << std::hexfloat << theta << ", terms);\n  }\n";
        }

        void
        write_neumann_part()
        {
          text << "    switch (p.boundary_id)\n    {\n";
          for (const types::boundary_id id : problem.neumann_ids)
            text << "      case " << id << ":\n";
          text << "        ;\n";
          if (problem.neumann != nullptr)
            {
              add("neumann_value", problem.neumann);
              text << "        g = neumann_value(p);\n";
            }
          for (int d = 0; problem.neumann_flux != nullptr && d < dim; ++d)
            {
              const std::string name = "neumann_flux_" + std::to_string(d);
              add(name, problem.neumann_flux, d);
              text << "        g += " << name << "(p) * p.normal[" << d
                   << "];\n";
            }
          text << "        Checked::checked(g, "
                  "CoefficientError::boundary_value, p, error);\n"
                  "        QuasilinearTerms::neumann(g, terms);\n"
                  "        return;\n    }\n";
        }

        const QuasilinearProblem<dim> &problem;
        const bool                     is_newton;
        const double                   theta;
        RunTimeFunctor<dim>           &functor;
        std::ostringstream             text;
        std::string                    reason;
      };

      /// Throws for a value that the device found not to be valid.
      template <int dim>
      void
      throw_device_error(const QuasilinearProblem<dim> &problem,
                         const CoefficientError        &error)
      {
        if (error.quantity == CoefficientError::diffusion ||
            error.quantity == CoefficientError::beta)
          problem.diffusion.throw_bad_value(error.quantity ==
                                              CoefficientError::beta,
                                            error.value,
                                            error.x,
                                            error.field[0]);
        const Function<dim> *function = nullptr;
        if (error.quantity == CoefficientError::source)
          function = problem.source.get();
        else if (error.quantity == CoefficientError::boundary_value)
          {
            const bool neumann =
              problem.neumann_ids.count(error.boundary_id) > 0;
            if (!neumann)
              function = problem.dirichlet.get();
            else if (problem.neumann_flux == nullptr)
              function = problem.neumann.get();
          }
        const auto *code = dynamic_cast<const DeviceFunction *>(function);
        if (code != nullptr)
          code->throw_not_finite(0, error.value, error.x);
      }
    } // namespace



    template <int dim>
    bool
    QuasilinearForm<dim>::make_functor(RunTimeFunctor<dim> &functor) const
    {
      reason =
        FunctorWriter<dim>(problem, linearisation == newton, theta, functor)
          .write();
      functor.theta       = theta;
      functor.fields      = {u};
      functor.throw_error = [problem =
                               this->problem](const CoefficientError &error) {
        throw_device_error(problem, error);
      };
      return reason.empty();
    }



    template <int dim>
    std::shared_ptr<const DeviceCoefficients<dim>>
    QuasilinearForm<dim>::device_coefficients() const
    {
      RunTimeFunctor<dim> functor;
      return make_functor(functor) ? compile_functor(functor, reason) : nullptr;
    }



    template <int dim>
    VolumeStructure
    QuasilinearForm<dim>::volume_structure() const
    {
      VolumeStructure structure;
      structure.diffusion         = DiffusionType::isotropic;
      structure.beta              = linearisation == newton;
      structure.f                 = problem.source != nullptr;
      structure.symmetric         = linearisation == picard && theta == 1.;
      structure.penalty_diffusion = true;
      return structure;
    }



    template <int dim>
    FacetStructure
    QuasilinearForm<dim>::facet_structure() const
    {
      FacetStructure structure;
      structure.beta = theta != 0.;
      return structure;
    }



    template <int dim>
    bool
    QuasilinearForm<dim>::has_penalty_facets(double &value) const
    {
      value = theta;
      return linearisation == picard;
    }



    template <int dim>
    void
    QuasilinearForm<dim>::evaluate_diffusion(const PointBatch<dim> &points,
                                             double *const         *a) const
    {
      std::fill(a[0], a[0] + points.n_points, 1.);
    }



    template <int dim>
    void
    QuasilinearForm<dim>::evaluate_volume(const PointBatch<dim> &points,
                                          VolumeBlocks<dim>     &blocks) const
    {
      static thread_local Side<dim>           here;
      static thread_local std::vector<double> f;
      const unsigned int                      n    = points.n_points;
      const bool                              beta = blocks.beta[0] != nullptr;
      if (blocks.a[0] != nullptr || beta)
        {
          here.evaluate(
            problem.diffusion, u, n, points.subcell, points.x, beta);
          if (blocks.a[0] != nullptr)
            std::copy(here.a, here.a + n, blocks.a[0]);
          for (int d = 0; beta && d < dim; ++d)
            for (unsigned int q = 0; q < n; ++q)
              blocks.beta[d][q] = here.da[q] * here.gradient[d][q];
        }
      if (blocks.f != nullptr)
        {
          evaluate_data(problem.source, points, f);
          std::copy(f.begin(), f.end(), blocks.f);
        }
    }



    template <int dim>
    void
    QuasilinearForm<dim>::evaluate_interior_facets(
      const FacetPointBatch<dim> &points, FacetBlocks<dim> &blocks) const
    {
      static thread_local Side<dim> own, other;
      const unsigned int            n         = points.n_points;
      const bool                    is_newton = linearisation == newton;
      own.evaluate(
        problem.diffusion, u, n, points.subcell, points.x, is_newton);
      other.evaluate(problem.diffusion,
                     u,
                     n,
                     points.neighbor_subcell,
                     points.neighbor_x,
                     is_newton);
      for (unsigned int q = 0; q < n; ++q)
        {
          double normal[dim];
          for (int d = 0; d < dim; ++d)
            normal[d] = points.normal[d][q];
          InteriorFacetTerms<dim> terms;
          QuasilinearTerms::interior(own.at(normal, q),
                                     other.at(normal, q),
                                     normal,
                                     points.sigma[q],
                                     theta,
                                     terms);
          for (unsigned int side = 0; side < 2; ++side)
            {
              if (blocks.c[side] != nullptr)
                blocks.c[side][q] = terms.c[side];
              for (int d = 0; d < dim; ++d)
                {
                  blocks.b[side][d][q] = terms.b[side][d];
                  if (blocks.beta[side][d] != nullptr)
                    blocks.beta[side][d][q] = terms.beta[side][d];
                }
            }
        }
    }



    template <int dim>
    void
    QuasilinearForm<dim>::evaluate_boundary_facets(
      const FacetPointBatch<dim> &points, FacetBlocks<dim> &blocks) const
    {
      static thread_local std::vector<double> g, a, component;
      const unsigned int                      n = points.n_points;
      const bool neumann = problem.neumann_ids.count(points.boundary_id) > 0;
      evaluate_data(neumann ? problem.neumann : problem.dirichlet, points, g);
      if (neumann)
        for (int d = 0; problem.neumann_flux != nullptr && d < dim; ++d)
          {
            evaluate_data(problem.neumann_flux, points, component, d);
            for (unsigned int q = 0; q < n; ++q)
              g[q] += component[q] * points.normal[d][q];
          }
      else
        {
          a.resize(n);
          problem.diffusion.evaluate(n, points.x, g.data(), a.data(), nullptr);
        }
      for (unsigned int q = 0; q < n; ++q)
        {
          double normal[dim];
          for (int d = 0; d < dim; ++d)
            normal[d] = points.normal[d][q];
          BoundaryFacetTerms<dim> terms;
          if (neumann)
            QuasilinearTerms::neumann(g[q], terms);
          else
            QuasilinearTerms::dirichlet(
              a[q], g[q], normal, points.sigma[q], theta, terms);
          blocks.c[0][q] = terms.c;
          if (blocks.r != nullptr)
            blocks.r[q] = terms.r;
          for (int d = 0; d < dim; ++d)
            {
              blocks.b[0][d][q] = terms.b[d];
              if (blocks.beta[0][d] != nullptr)
                blocks.beta[0][d][q] = terms.beta[d];
              if (blocks.s[d] != nullptr)
                blocks.s[d][q] = terms.s[d];
            }
        }
    }



    template class QuasilinearCoefficient<2>;
    template class QuasilinearCoefficient<3>;
    template class QuasilinearForm<2>;
    template class QuasilinearForm<3>;
  } // namespace Application
} // namespace Tessella
