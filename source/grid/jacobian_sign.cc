// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "jacobian_sign.h"

#include <deal.II/base/tensor.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace Tessella
{
  namespace internal
  {
    template <int dim>
    const JacobianSign<dim> &
    JacobianSign<dim>::get(const bool simplex)
    {
      static const JacobianSign simplices(true), hypercubes(false);
      return simplex ? simplices : hypercubes;
    }



    template <int dim>
    JacobianSign<dim>::JacobianSign(const bool simplex)
      : simplex(simplex)
      // Derivatives have total degree 1, or degree 2 in all variables but one.
      , degree(simplex ? dim : 2 * dim - 1)
    {
      const unsigned int n = degree;
      for (unsigned int k = 0; k <= (dim == 3 ? n : 0); ++k)
        for (unsigned int j = 0; j <= n; ++j)
          for (unsigned int i = 0; i <= n; ++i)
            {
              if (simplex && i + j + k > n)
                continue;
              const unsigned int        all[3] = {i, j, k};
              std::array<unsigned, dim> a;
              dealii::Point<dim>        p;
              for (int d = 0; d < dim; ++d)
                {
                  a[d] = all[d];
                  p[d] = double(all[d]) / n;
                }
              index.push_back(a);
              lattice.push_back(p);
            }
      inverse.reinit(lattice.size(), lattice.size());
      for (unsigned int q = 0; q < lattice.size(); ++q)
        {
          const std::vector<double> values = bernstein(lattice[q]);
          for (unsigned int i = 0; i < lattice.size(); ++i)
            inverse(q, i) = values[i];
        }
      inverse.gauss_jordan();
    }



    template <int dim>
    std::vector<double>
    JacobianSign<dim>::bernstein(const dealii::Point<dim> &t) const
    {
      const auto power = [](const double x, const unsigned int n) {
        double result = 1.;
        for (unsigned int i = 0; i < n; ++i)
          result *= x;
        return result;
      };
      const auto factorial = [](const unsigned int n) {
        double result = 1.;
        for (unsigned int i = 2; i <= n; ++i)
          result *= i;
        return result;
      };
      std::vector<double> values(index.size());
      for (unsigned int a = 0; a < index.size(); ++a)
        {
          double       value = 1., first = 1.;
          unsigned int rest = degree;
          for (int d = 0; d < dim; ++d)
            {
              const unsigned int i = index[a][d];
              value *= power(t[d], i) / factorial(i);
              if (simplex)
                {
                  rest -= i;
                  first -= t[d];
                }
              else
                value *= power(1. - t[d], degree - i) * factorial(degree) /
                         factorial(degree - i);
            }
          if (simplex)
            value *= power(first, rest) * factorial(degree) / factorial(rest);
          values[a] = value;
        }
      return values;
    }



    template <int dim>
    typename JacobianSign<dim>::Part
    JacobianSign<dim>::bisect(Part &part) const
    {
      unsigned int a = 0, b = 1;
      double       longest = -1.;
      for (unsigned int i = 0; i <= dim; ++i)
        for (unsigned int j = i + 1; j <= dim; ++j)
          if ((simplex || i == 0) && part[i].distance(part[j]) > longest)
            {
              longest = part[i].distance(part[j]);
              a       = i;
              b       = j;
            }
      const dealii::Tensor<1, dim> half  = .5 * (part[b] - part[a]);
      Part                         other = part;
      part[b]                            = part[a] + half;
      for (unsigned int i = 0; i <= dim; ++i)
        if (i == a || (!simplex && i != b))
          other[i] += half;
      return other;
    }



    template <int dim>
    bool
    JacobianSign<dim>::is_positive(
      const dealii::FiniteElement<dim>      &fe,
      const std::vector<dealii::Point<dim>> &nodes) const
    {
      constexpr unsigned int most_bisections = 40, most_parts = 20000;
      unsigned int           n_parts = 0;
      std::vector<std::pair<Part, unsigned int>> parts(1);
      for (int d = 0; d < dim; ++d)
        parts[0].first[d + 1][d] = 1.;
      double                 sign = 0.;
      dealii::Vector<double> values(lattice.size()),
        coefficients(lattice.size());
      while (!parts.empty())
        {
          Part         part  = parts.back().first;
          unsigned int depth = parts.back().second;
          parts.pop_back();
          for (unsigned int q = 0; q < lattice.size(); ++q)
            {
              dealii::Point<dim> p = part[0];
              for (int d = 0; d < dim; ++d)
                p += lattice[q][d] * (part[d + 1] - part[0]);
              dealii::Tensor<2, dim> jacobian;
              for (unsigned int i = 0; i < nodes.size(); ++i)
                jacobian += dealii::outer_product(dealii::Tensor<1, dim>(
                                                    nodes[i] - nodes[0]),
                                                  fe.shape_grad(i, p));
              values[q] = dealii::determinant(jacobian);
              if (sign == 0.)
                sign = simplex && values[q] < 0. ? -1. : 1.;
              // NaN counts as not positive.
              if (!(sign * values[q] > 0.))
                return false;
            }
          inverse.vmult(coefficients, values);
          if (std::all_of(coefficients.begin(),
                          coefficients.end(),
                          [&](const double c) { return sign * c > 0.; }))
            continue;
          if (depth == most_bisections || ++n_parts == most_parts)
            return false;
          const Part other = bisect(part);
          parts.emplace_back(part, depth + 1);
          parts.emplace_back(other, depth + 1);
        }
      return true;
    }

    template class JacobianSign<2>;
    template class JacobianSign<3>;
  } // namespace internal
} // namespace Tessella
