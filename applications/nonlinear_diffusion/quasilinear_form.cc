// SPDX-License-Identifier: LGPL-2.1-or-later
#include "quasilinear_form.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    namespace
    {
      /// Values of u, a(u) and what belongs to them on one side of points; one
      /// object a thread and side.
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

        double
        normal_derivative(const double *const *normal,
                          const unsigned int   q) const
        {
          double sum = 0.;
          for (int d = 0; d < dim; ++d)
            sum += gradient[d][q] * normal[d][q];
          return sum;
        }
      };

      /// Values of a function, or zeros.
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
        if (!(a[q] >= 0.) || !std::isfinite(a[q]) ||
            (da != nullptr && !std::isfinite(da[q])))
          {
            std::ostringstream point;
            for (int d = 0; d < dim; ++d)
              point << (d > 0 ? ", " : "") << x[d][q];
            const bool bad_value = !(a[q] >= 0.) || !std::isfinite(a[q]);
            AssertThrow(
              false,
              ExcBadDiffusion((bad_value ? "" : "The derivative by u of ") +
                                expression.name(),
                              expression.text(),
                              bad_value ? a[q] : da[q],
                              point.str(),
                              u[q]));
          }
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
    unsigned int
    QuasilinearForm<dim>::coefficient_order() const
    {
      return order;
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
          const double jump  = own.u[q] - other.u[q];
          const double sigma = points.sigma[q];
          const double mean  = 0.5 * (own.a[q] + other.a[q]);
          for (int d = 0; d < dim; ++d)
            {
              const double normal = points.normal[d][q];
              blocks.b[0][d][q]   = -0.5 * own.a[q] * normal;
              blocks.b[1][d][q]   = -0.5 * other.a[q] * normal;
              if (blocks.beta[0][0] != nullptr)
                {
                  const double flux    = 0.5 * theta * normal;
                  blocks.beta[0][d][q] = -flux * (own.a[q] + own.da[q] * jump);
                  if (blocks.beta[1][0] != nullptr)
                    blocks.beta[1][d][q] = flux * own.a[q];
                }
            }
          blocks.c[0][q] =
            sigma * mean +
            0.5 * own.da[q] *
              (sigma * jump - own.normal_derivative(points.normal, q));
          if (blocks.c[1] != nullptr)
            blocks.c[1][q] =
              -sigma * mean +
              0.5 * other.da[q] *
                (sigma * jump - other.normal_derivative(points.normal, q));
        }
    }



    template <int dim>
    void
    QuasilinearForm<dim>::evaluate_boundary_facets(
      const FacetPointBatch<dim> &points, FacetBlocks<dim> &blocks) const
    {
      static thread_local std::vector<double> g, a, component;
      const unsigned int                      n = points.n_points;
      const bool has_beta                       = blocks.beta[0][0] != nullptr,
                 has_s                          = blocks.s[0] != nullptr;
      if (problem.neumann_ids.count(points.boundary_id) > 0)
        {
          evaluate_data(problem.neumann, points, g);
          for (int d = 0; problem.neumann_flux != nullptr && d < dim; ++d)
            {
              evaluate_data(problem.neumann_flux, points, component, d);
              for (unsigned int q = 0; q < n; ++q)
                g[q] += component[q] * points.normal[d][q];
            }
          std::fill(blocks.c[0], blocks.c[0] + n, 0.);
          for (int d = 0; d < dim; ++d)
            {
              std::fill(blocks.b[0][d], blocks.b[0][d] + n, 0.);
              if (has_beta)
                std::fill(blocks.beta[0][d], blocks.beta[0][d] + n, 0.);
              if (has_s)
                std::fill(blocks.s[d], blocks.s[d] + n, 0.);
            }
          if (blocks.r != nullptr)
            std::copy(g.begin(), g.end(), blocks.r);
          return;
        }

      evaluate_data(problem.dirichlet, points, g);
      a.resize(n);
      problem.diffusion.evaluate(n, points.x, g.data(), a.data(), nullptr);
      for (unsigned int q = 0; q < n; ++q)
        {
          for (int d = 0; d < dim; ++d)
            {
              const double conormal = a[q] * points.normal[d][q];
              blocks.b[0][d][q]     = -conormal;
              if (has_beta)
                blocks.beta[0][d][q] = -theta * conormal;
              if (has_s)
                blocks.s[d][q] = -theta * conormal * g[q];
            }
          blocks.c[0][q] = points.sigma[q] * a[q];
          if (blocks.r != nullptr)
            blocks.r[q] = points.sigma[q] * a[q] * g[q];
        }
    }



    template class QuasilinearCoefficient<2>;
    template class QuasilinearCoefficient<3>;
    template class QuasilinearForm<2>;
    template class QuasilinearForm<3>;
  } // namespace Application
} // namespace Tessella
