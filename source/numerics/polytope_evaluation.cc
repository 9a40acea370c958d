// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "polytope_evaluation.h"

#include <deal.II/base/utilities.h>
#include <deal.II/base/vectorization.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace Tessella
{
  namespace internal
  {
    template <int dim>
    void
    QuadratureBatch<dim>::add_subcell(const PolytopicMesh<dim> &mesh,
                                      const unsigned int        s,
                                      const unsigned int        order)
    {
      for_subcell_points<dim>(mesh,
                              s,
                              rules.subcell(mesh.subcell_type[s], order),
                              [&](const unsigned int,
                                  const double(&point)[dim],
                                  const double w) {
                                for (int d = 0; d < dim; ++d)
                                  x[d].push_back(point[d]);
                                weight.push_back(w);
                              });
      entity.resize(weight.size(), s);
    }



    template <int dim>
    void
    QuadratureBatch<dim>::add_facet(const PolytopicMesh<dim> &mesh,
                                    const unsigned int        f,
                                    const unsigned int        order)
    {
      for_facet_points<dim>(mesh,
                            f,
                            rules.facet(mesh.facet_type[f], order),
                            [&](const unsigned int,
                                const double(&point)[dim],
                                const double(&unit_normal)[dim],
                                const double w) {
                              for (int d = 0; d < dim; ++d)
                                {
                                  x[d].push_back(point[d]);
                                  normal[d].push_back(unit_normal[d]);
                                }
                              weight.push_back(w);
                            });
      entity.resize(weight.size(), f);
    }



    template <int dim>
    PolytopeEvaluator<dim>::PolytopeEvaluator(
      const AgglomerationHandler<dim> &handler)
      : mesh(handler.polytopic_mesh())
      , dofs(handler.polytopic_dofs())
      , tensor(handler.polynomial_space() ==
               PolynomialSpaceType::tensor_product)
    {
      std::vector<bool> present(Legendre::max_degree + 1, false);
      for (const unsigned int p : dofs.degree)
        present[p] = true;
      for (unsigned int p = 0; p <= Legendre::max_degree; ++p)
        if (present[p])
          {
            const unsigned int n = Legendre::n_functions(dim, p, tensor);
            std::vector<unsigned char> k(n * dim);
            Legendre::exponents(dim, p, tensor, k.data());
            exponents[p] = k;
            // Position of function i in the order of the nested loops.
            auto position = [&](const unsigned int i) {
              unsigned int index = 0;
              for (int d = 0; d < dim; ++d)
                index = index * (p + 1) + k[i * dim + d];
              return index;
            };
            order[p].resize(n);
            std::iota(order[p].begin(), order[p].end(), 0U);
            std::sort(order[p].begin(),
                      order[p].end(),
                      [&](const unsigned int i, const unsigned int j) {
                        return position(i) < position(j);
                      });
          }
    }



    namespace
    {
      using Lanes = dealii::VectorizedArray<double>;

      /// Nested sums at as many points as there are SIMD lanes.
      template <int dim>
      struct NestedSums
      {
        /// Functions of one variable and their derivatives.
        Lanes l[dim][Legendre::max_degree + 1],
          dl[dim][Legendre::max_degree + 1];
        Lanes value, gradient[3];

        /// Computes the value and, with respect to the reference coordinates,
        /// the gradient from coefficients in the order of the loops.
        void
        compute(const unsigned int p,
                const bool         tensor,
                const bool         with_gradient,
                const double      *coefficient)
        {
          value = Lanes(0.);
          for (Lanes &g : gradient)
            g = Lanes(0.);
          for (unsigned int i = 0; i <= p; ++i)
            {
              Lanes              s(0.), s_y(0.), s_z(0.);
              const unsigned int pj = tensor ? p : p - i;
              for (unsigned int j = 0; j <= pj; ++j)
                if (dim == 2)
                  {
                    const double a = *coefficient++;
                    s += l[1][j] * a;
                    if (with_gradient)
                      s_y += dl[1][j] * a;
                  }
                else
                  {
                    Lanes              t(0.), t_z(0.);
                    const unsigned int pk = tensor ? p : pj - j;
                    for (unsigned int k = 0; k <= pk; ++k)
                      {
                        const double a = *coefficient++;
                        t += l[dim - 1][k] * a;
                        if (with_gradient)
                          t_z += dl[dim - 1][k] * a;
                      }
                    s += l[1][j] * t;
                    if (with_gradient)
                      {
                        s_y += dl[1][j] * t;
                        s_z += l[1][j] * t_z;
                      }
                  }
              value += l[0][i] * s;
              if (with_gradient)
                {
                  gradient[0] += dl[0][i] * s;
                  gradient[1] += l[0][i] * s_y;
                  if (dim == 3)
                    gradient[2] += l[0][i] * s_z;
                }
            }
        }
      };
    } // namespace



    template <int dim>
    void
    PolytopeEvaluator<dim>::evaluate(
      const unsigned int                     polytope,
      const double                          *u,
      const unsigned int                     n,
      const std::array<const double *, dim> &x,
      double                                *values,
      const std::array<double *, dim>       *gradients) const
    {
      constexpr unsigned int width = Lanes::size();

      const unsigned int  p   = dofs.degree[polytope];
      const double *const box = &mesh.box[std::size_t(polytope) * 2 * dim];
      double              scale[dim], shift[dim], volume = 1.;
      for (int d = 0; d < dim; ++d)
        {
          const double extent = box[dim + d] - box[d];
          scale[d]            = 2. / extent;
          shift[d]            = box[dim + d] + box[d];
          volume *= extent;
        }
      // Coefficients in the order of the loops, times the factor that makes the
      // functions orthonormal.
      constexpr unsigned int max_functions =
        dealii::Utilities::pow(Legendre::max_degree + 1, dim);
      double       c[max_functions];
      const double factor = 1. / std::sqrt(volume);
      for (unsigned int i = 0; i < order[p].size(); ++i)
        c[i] = factor * u[order[p][i]];

      NestedSums<dim> sums;
      for (unsigned int q = 0; q < n; q += width)
        {
          const unsigned int lanes = std::min(width, n - q);
          for (int d = 0; d < dim; ++d)
            {
              Lanes y;
              if (lanes == width)
                y.load(x[d] + q);
              else
                for (unsigned int lane = 0; lane < width; ++lane)
                  y[lane] = x[d][q + std::min(lane, lanes - 1)];
              // (2 x - l - u) / (u - l) without loss of digits, where l and u
              // are the bounds of the box.
              const Lanes xi = (y + y - shift[d]) * (.5 * scale[d]);
              if (gradients != nullptr)
                Legendre::evaluate(p, xi, sums.l[d], sums.dl[d]);
              else
                Legendre::evaluate(p, xi, sums.l[d]);
            }
          sums.compute(p, tensor, gradients != nullptr, c);
          if (lanes == width)
            sums.value.store(values + q);
          else
            for (unsigned int lane = 0; lane < lanes; ++lane)
              values[q + lane] = sums.value[lane];
          if (gradients != nullptr)
            for (int d = 0; d < dim; ++d)
              {
                const Lanes g = sums.gradient[d] * scale[d];
                for (unsigned int lane = 0; lane < lanes; ++lane)
                  (*gradients)[d][q + lane] = g[lane];
              }
        }
    }



    template <int dim>
    void
    PolytopeEvaluator<dim>::basis(const unsigned int polytope,
                                  const double      *x,
                                  double            *phi) const
    {
      const unsigned int p = dofs.degree[polytope];
      legendre_basis<dim>(p,
                          &mesh.box[std::size_t(polytope) * 2 * dim],
                          order[p].size(),
                          exponents[p].data(),
                          x,
                          phi);
    }



    template <int dim>
    std::vector<WorkItem>
    work_items(const PolytopicMesh<dim> &mesh, const unsigned int n_subcells)
    {
      std::vector<WorkItem> items;
      items.reserve(mesh.n_owned_polytopes());
      for (unsigned int k = 0; k < mesh.n_owned_polytopes(); ++k)
        for (unsigned int s = mesh.subcell_offset[k];
             s < mesh.subcell_offset[k + 1];
             s += n_subcells)
          items.push_back(
            {k, s, std::min(s + n_subcells, mesh.subcell_offset[k + 1])});
      return items;
    }



    template struct QuadratureBatch<2>;
    template struct QuadratureBatch<3>;
    template class PolytopeEvaluator<2>;
    template class PolytopeEvaluator<3>;
    template std::vector<WorkItem>
    work_items<2>(const PolytopicMesh<2> &, const unsigned int);
    template std::vector<WorkItem>
    work_items<3>(const PolytopicMesh<3> &, const unsigned int);
  } // namespace internal
} // namespace Tessella
