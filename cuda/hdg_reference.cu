// SPDX-License-Identifier: LGPL-2.1-or-later

#include <tessella/fe/legendre.h>

#include <cmath>

#include "hdg_reference.h"
#include "simplex_basis.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        /// A value with its gradient.
        template <int dim>
        struct Dual
        {
          double v = 0., g[dim] = {};

          TESSELLA_HOST_DEVICE Dual
          operator*(const double c) const
          {
            Dual r = *this;
            r.v *= c;
            for (double &d : r.g)
              d *= c;
            return r;
          }
          TESSELLA_HOST_DEVICE Dual
          operator+(const double c) const
          {
            Dual r = *this;
            r.v += c;
            return r;
          }
          TESSELLA_HOST_DEVICE Dual
          operator-(const double c) const
          {
            return *this + -c;
          }
          TESSELLA_HOST_DEVICE Dual
          operator+(const Dual &b) const
          {
            Dual r = *this;
            r.v += b.v;
            for (int d = 0; d < dim; ++d)
              r.g[d] += b.g[d];
            return r;
          }
          TESSELLA_HOST_DEVICE Dual
          operator-(const Dual &b) const
          {
            return *this + b * -1.;
          }
          TESSELLA_HOST_DEVICE Dual
          operator*(const Dual &b) const
          {
            Dual r;
            r.v = v * b.v;
            for (int d = 0; d < dim; ++d)
              r.g[d] = v * b.g[d] + g[d] * b.v;
            return r;
          }
        };

        template <int dim>
        std::vector<double>
        values(const unsigned int degree, const double (&x)[dim])
        {
          std::vector<double> result;
          visit_simplex_basis<dim>(degree,
                                   x,
                                   [&](const unsigned int,
                                       const double v,
                                       const double factor) {
                                     result.push_back(v * std::sqrt(factor));
                                   });
          return result;
        }
      } // namespace



      template <int dim>
      SimplexReference
      make_simplex_reference(const RuleTables &rules, const unsigned int degree)
      {
        SimplexReference   result;
        const unsigned int n = Legendre::n_functions(dim, degree, false);
        // ---- the volume
        const RuleEntry     rule = rules.subcell[0][degree];
        const double *const data = rules.data.data() + rule.offset;
        result.derivative.assign(std::size_t(dim) * n * n, 0.);
        for (unsigned int q = 0; q < rule.n_points; ++q)
          {
            Dual<dim> x[dim];
            for (int d = 0; d < dim; ++d)
              {
                x[d].v    = data[d * rule.n_points + q];
                x[d].g[d] = 1.;
              }
            const double           w = data[dim * rule.n_points + q];
            std::vector<Dual<dim>> phi;
            visit_simplex_basis<dim>(degree,
                                     x,
                                     [&](const unsigned int,
                                         const Dual<dim> &v,
                                         const double     factor) {
                                       phi.push_back(v * std::sqrt(factor));
                                     });
            for (unsigned int i = 0; i < n; ++i)
              {
                result.load.push_back(w * phi[i].v);
                for (int e = 0; e < dim; ++e)
                  for (unsigned int j = 0; j < n; ++j)
                    result.derivative[(e * n + i) * n + j] +=
                      w * phi[i].v * phi[j].g[e];
              }
          }
        const auto D = [&](const int e, const unsigned int i) {
          return &result.derivative[(e * n + i) * n];
        };
        for (int e = 0; e < dim; ++e)
          for (int f = e; f < dim; ++f)
            for (unsigned int i = 0; i < n; ++i)
              for (unsigned int j = 0; j < n; ++j)
                {
                  double sum = 0.;
                  for (unsigned int l = 0; l < n; ++l)
                    sum += D(e, i)[l] * D(f, j)[l] +
                           (e < f ? D(f, i)[l] * D(e, j)[l] : 0.);
                  result.squares.push_back(sum);
                }

        // ---- facets
        const RuleEntry     facet          = rules.facet[0][degree];
        const double *const facet_data     = rules.data.data() + facet.offset;
        unsigned int        n_orientations = 1;
        for (int v = 0; v < dim; ++v)
          n_orientations *= dim + 1;
        for (unsigned int o = 0; o < n_orientations; ++o)
          {
            unsigned int vertex[dim], rest = o;
            for (int v = dim; v-- > 0; rest /= dim + 1)
              vertex[v] = rest % (dim + 1);
            const auto corner = [&](const int v, const int d) {
              return int(vertex[v]) == d + 1 ? 1. : 0.;
            };
            for (unsigned int q = 0; q < facet.n_points; ++q)
              {
                double x[dim];
                for (int d = 0; d < dim; ++d)
                  {
                    x[d] = corner(0, d);
                    for (int v = 1; v < dim; ++v)
                      x[d] += facet_data[(v - 1) * facet.n_points + q] *
                              (corner(v, d) - corner(0, d));
                  }
                const std::vector<double> phi = values<dim>(degree, x);
                result.facet.insert(result.facet.end(), phi.begin(), phi.end());
              }
          }

        // ---- Gauss points by Newton's method
        const unsigned int  m = degree + 1;
        std::vector<double> points(m), weights(m);
        for (unsigned int q = 0; q < m; ++q)
          {
            double x =
                     std::cos(3.14159265358979323846 * (q + 0.75) / (m + 0.5)),
                   slope = 1.;
            for (unsigned int step = 0; step < 20; ++step)
              {
                double previous = 1., present = x;
                for (unsigned int k = 1; k < m; ++k)
                  {
                    const double next =
                      ((2. * k + 1.) * x * present - k * previous) / (k + 1.);
                    previous = present;
                    present  = next;
                  }
                slope = m * (x * present - previous) / (x * x - 1.);
                x -= present / slope;
              }
            points[q]  = x;
            weights[q] = 1. / ((1. - x * x) * slope * slope);
          }
        result.gauss = points;
        result.gauss.insert(result.gauss.end(), weights.begin(), weights.end());
        result.gauss.resize(2 * m + m * m);
        for (unsigned int q = 0; q < m; ++q)
          {
            double P[Legendre::max_degree + 1];
            Legendre::evaluate(degree, points[q], P);
            for (unsigned int k = 0; k < m; ++k)
              result.gauss[2 * m + k * m + q] = P[k];
          }
        return result;
      }



      template SimplexReference
      make_simplex_reference<2>(const RuleTables &, const unsigned int);
      template SimplexReference
      make_simplex_reference<3>(const RuleTables &, const unsigned int);
    } // namespace Device
  }   // namespace internal
} // namespace Tessella
