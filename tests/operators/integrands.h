// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_operators_integrands_h
#define tessella_tests_operators_integrands_h

// Comparison of integrands of pointwise operators at made-up points.

#include <tessella/forms/functor_integrand.h>

#include <cmath>
#include <string>
#include <vector>

#include "../tests.h"

namespace Integrands
{
  using namespace Tessella;

  /// Arrays as PointwiseIntegrand describes them: rows of up to two sides.
  struct Rows
  {
    Rows(const unsigned int n_sides, const unsigned int n_rows, unsigned int n)
      : memory(n_sides * n_rows, std::vector<double>(n, 0.))
      , pointers(memory.size())
    {
      for (std::size_t i = 0; i < memory.size(); ++i)
        pointers[i] = memory[i].data();
      for (unsigned int s = 0; s < n_sides; ++s)
        {
          sides[s]       = pointers.data() + s * n_rows;
          const_sides[s] = const_cast<const double *const *>(sides[s]);
        }
    }
    std::vector<std::vector<double>> memory;
    std::vector<double *>            pointers;
    double *const                   *sides[2]       = {nullptr, nullptr};
    const double *const             *const_sides[2] = {nullptr, nullptr};
  };

  inline double
  pseudo_random(const unsigned int i)
  {
    return std::sin(12.9898 * i + 78.233 * (i % 7));
  }

  template <int dim>
  std::vector<OperatorPoint<dim>>
  make_points(const unsigned int n)
  {
    std::vector<OperatorPoint<dim>> points(n);
    for (unsigned int q = 0; q < n; ++q)
      {
        OperatorPoint<dim> &p    = points[q];
        double              norm = 0.;
        for (int d = 0; d < dim; ++d)
          {
            p.x[d]      = 0.5 + 0.5 * pseudo_random(dim * q + d);
            p.normal[d] = pseudo_random(5 * dim * q + d + 3);
            norm += p.normal[d] * p.normal[d];
          }
        for (int d = 0; d < dim; ++d)
          p.normal[d] /= std::sqrt(norm);
        p.t           = 0.4;
        p.penalty     = 7.5 + q % 3;
        p.boundary_id = q % 4;
        p.facet       = q;
        for (unsigned int s = 0; s < 2; ++s)
          {
            p.h[s]        = 0.25 * (s + 1);
            p.polytope[s] = q / 2 + s;
            p.subcell[s]  = q + s;
            p.material[s] = (q + s) % 3;
          }
      }
    return points;
  }

  struct Difference
  {
    double terms = 0., tangent = 0., jacobian = 0.;
  };

  /// Largest differences of two integrands in all regions, relative to the
  /// largest entry of the second one. Fields are @p constants plus @p size
  /// times numbers in (-1, 1).
  template <int dim>
  Difference
  compare(const PointwiseIntegrand<dim> &one,
          const PointwiseIntegrand<dim> &two,
          const std::vector<double>     &constants,
          const double                   size = 0.3,
          const unsigned int             n    = 75)
  {
    const auto         structure = one.structure();
    const unsigned int n_in      = structure.n_inputs(),
                       n_out     = structure.n_outputs();
    const auto points            = make_points<dim>(n);
    Difference result;
    const auto add = [](const Rows &a, const Rows &b, double &largest) {
      double size = 0., difference = 0.;
      for (std::size_t i = 0; i < a.memory.size(); ++i)
        for (std::size_t q = 0; q < a.memory[i].size(); ++q)
          {
            size = std::max(size, std::abs(b.memory[i][q]));
            difference =
              std::max(difference, std::abs(a.memory[i][q] - b.memory[i][q]));
            if (!(difference == difference))
              difference = 1e300;
          }
      largest = std::max(largest, difference / (size > 0. ? size : 1.));
    };
    for (const PointwiseRegion region : {PointwiseRegion::volume,
                                         PointwiseRegion::interior_facet,
                                         PointwiseRegion::boundary_facet})
      {
        const unsigned int n_sides =
          region == PointwiseRegion::interior_facet ? 2 : 1;
        Rows in(n_sides, n_in, n), direction(n_sides, n_in, n);
        for (unsigned int i = 0; i < n_sides * n_in; ++i)
          for (unsigned int q = 0; q < n; ++q)
            {
              const unsigned int row = i % n_in;
              in.memory[i][q] =
                (row % (dim + 1) == 0 ? constants[row / (dim + 1)] : 0.) +
                size * pseudo_random(i * n + q);
              direction.memory[i][q] = pseudo_random(3 * i * n + q + 1);
            }
        Rows terms[2]    = {Rows(n_sides, n_out, n), Rows(n_sides, n_out, n)};
        Rows tangent[2]  = {Rows(n_sides, n_out, n), Rows(n_sides, n_out, n)};
        Rows jacobian[2] = {Rows(1, n_sides * n_in * n_sides * n_out, n),
                            Rows(1, n_sides * n_in * n_sides * n_out, n)};
        const PointwiseIntegrand<dim> *integrands[] = {&one, &two};
        for (unsigned int i = 0; i < 2; ++i)
          {
            integrands[i]->evaluate(
              region, n, points.data(), in.const_sides, terms[i].sides);
            integrands[i]->evaluate_tangent(region,
                                            n,
                                            points.data(),
                                            in.const_sides,
                                            direction.const_sides,
                                            tangent[i].sides);
            integrands[i]->evaluate_jacobian(
              region, n, points.data(), in.const_sides, jacobian[i].sides[0]);
          }
        add(terms[0], terms[1], result.terms);
        add(tangent[0], tangent[1], result.tangent);
        add(jacobian[0], jacobian[1], result.jacobian);
      }
    return result;
  }

  template <int dim>
  void
  check(const std::string             &name,
        const PointwiseIntegrand<dim> &one,
        const PointwiseIntegrand<dim> &two,
        const std::vector<double>     &constants,
        const double                   size = 0.3)
  {
    const Difference difference = compare(one, two, constants, size);
    check_below(name + ", terms", difference.terms, 1e-13);
    check_below(name + ", tangent", difference.tangent, 1e-13);
    check_below(name + ", Jacobian", difference.jacobian, 1e-13);
  }
} // namespace Integrands

#endif
