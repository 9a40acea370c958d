// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_assembly_elasticity_h
#define tessella_tests_assembly_elasticity_h

// Linear elasticity for the library, and for the reference assembler pair by
// pair.

#include <deal.II/fe/fe_system.h>

#include <tessella/forms/isotropic_elasticity.h>

#include "compare_pairs.h"

namespace Elasticity
{
  /// Coefficients and data: polynomials of degree at most 2.
  template <int dim>
  double
  lambda(const Point<dim> &x)
  {
    return 1.3 + 0.4 * x[0] * x[1];
  }
  template <int dim>
  double
  mu(const Point<dim> &x)
  {
    return 0.7 + 0.2 * x[dim - 1] * x[dim - 1] + 0.1 * x[0];
  }
  template <int dim>
  Tensor<1, dim>
  force(const Point<dim> &x)
  {
    Tensor<1, dim> f;
    for (unsigned int d = 0; d < dim; ++d)
      f[d] = 1. - 0.3 * d * x[0] + x[d] * x[dim - 1];
    return f;
  }
  template <int dim>
  Tensor<1, dim>
  displacement(const Point<dim> &x)
  {
    Tensor<1, dim> g;
    for (unsigned int d = 0; d < dim; ++d)
      g[d] = 0.2 * d + x[(d + 1) % dim] - 0.5 * x[d] * x[0];
    return g;
  }
  template <int dim>
  Tensor<1, dim>
  traction(const Point<dim> &x)
  {
    Tensor<1, dim> t;
    for (unsigned int d = 0; d < dim; ++d)
      t[d] = 0.4 - x[d] + 0.1 * d * x[1] * x[1];
    return t;
  }

  /// Boundary id with a given traction.
  constexpr unsigned int traction_id = 2;

  /// The library's form, with constant Lame parameters lambda(0) and mu(0) or
  /// with functions.
  template <int dim>
  std::unique_ptr<Tessella::IsotropicElasticity<dim>>
  make_form(const bool constant, const double theta = 1.)
  {
    const Point<dim> origin;
    auto             form =
      constant
                    ? std::make_unique<Tessella::IsotropicElasticity<dim>>(lambda(origin),
                                                               mu(origin))
                    : std::make_unique<Tessella::IsotropicElasticity<dim>>(
            std::make_shared<ScalarLambda<dim>>(lambda<dim>),
            std::make_shared<ScalarLambda<dim>>(mu<dim>));
    form->set_force(std::make_shared<VectorLambda<dim>>(force<dim>));
    form->set_dirichlet(std::make_shared<VectorLambda<dim>>(displacement<dim>));
    form->set_traction(traction_id,
                       std::make_shared<VectorLambda<dim>>(traction<dim>));
    form->set_theta(theta);
    form->set_coefficient_order(4);
    return form;
  }

  /// Scalar diffusion lambda + 2 mu, which has the same penalty.
  template <int dim>
  Tessella::AdvectionDiffusionReaction<dim>
  penalty_form(const bool constant)
  {
    Tessella::AdvectionDiffusionReaction<dim> form;
    const Point<dim>                          origin;
    if (constant)
      form.set_diffusion(lambda(origin) + 2. * mu(origin));
    else
      form.set_diffusion(std::make_shared<ScalarLambda<dim>>(
        [](const Point<dim> &x) { return lambda(x) + 2. * mu(x); }));
    form.set_coefficient_order(4);
    return form;
  }

  /// Pair (i, j) for the reference assembler. The pair (i, i) has force and
  /// traction; all pairs have their part of the Dirichlet data.
  template <int dim>
  Reference::Problem<dim>
  make_pair(const unsigned int i,
            const unsigned int j,
            const bool         constant,
            const double       theta)
  {
    Reference::Problem<dim> problem;
    problem.pair           = true;
    problem.penalty_factor = i == j;
    problem.theta          = theta;
    problem.a              = [=](const Point<dim> &x) {
      const Point<dim> y = constant ? Point<dim>() : x;
      Tensor<2, dim>   a;
      a[i][j] += lambda(y);
      a[j][i] += mu(y);
      if (i == j)
        for (unsigned int d = 0; d < dim; ++d)
          a[d][d] += mu(y);
      return a;
    };
    if (i == j)
      problem.f = [i](const Point<dim> &x) { return force(x)[i]; };
    problem.default_boundary.g = [j](const Point<dim> &x) {
      return displacement(x)[j];
    };
    auto &data = problem.boundary[traction_id];
    data.type  = Reference::Boundary::neumann;
    if (i == j)
      data.g = [i](const Point<dim> &x) { return traction(x)[i]; };
    return problem;
  }

  /// Largest differences of matrix and right-hand side between the library and
  /// the reference, relative to the largest entry of the block row. The
  /// handlers have dim components and one component on the same polytopes.
  template <int dim>
  std::pair<double, double>
  compare(const Tessella::AgglomerationHandler<dim> &handler,
          const Tessella::AgglomerationHandler<dim> &scalar,
          const bool                                 constant,
          const double                               theta,
          const unsigned int                         n_points)
  {
    Tessella::PolytopicAssembler<dim> assembler(handler), other(scalar);
    SparsityPattern                   sparsity;
    SparseMatrix<double>              matrix;
    Vector<double>                    rhs;
    assembler.reinit(sparsity, matrix, rhs);
    assembler.assemble(*make_form<dim>(constant, theta), matrix, rhs);

    const auto sigma = other.penalty(penalty_form<dim>(constant));
    return compare_pairs<dim>(
      handler,
      scalar,
      matrix,
      rhs,
      dim,
      [&](const unsigned int i, const unsigned int j) {
        auto pair     = std::make_unique<ReferencePair<dim>>();
        pair->problem = make_pair<dim>(i, j, constant, theta);
        pair->sigma   = sigma;
        return pair;
      },
      n_points);
  }

  /// Distributes degree @p p, or degrees 1 to 3 if it is zero, with
  /// @p n_components.
  template <int dim>
  void
  distribute(Tessella::AgglomerationHandler<dim> &handler,
             const unsigned int                   n_components,
             const unsigned int                   p,
             const Tessella::PolynomialSpaceType  space =
               Tessella::PolynomialSpaceType::total_degree)
  {
    const auto element = [&](const unsigned int degree) {
      return FESystem<dim>(Tessella::FE_BoundingBoxLegendre<dim>(degree, space),
                           n_components);
    };
    if (p > 0)
      {
        handler.distribute_dofs(element(p));
        return;
      }
    hp::FECollection<dim> elements;
    for (unsigned int degree = 1; degree <= 3; ++degree)
      elements.push_back(element(degree));
    std::vector<unsigned int> indices(handler.n_polytopes());
    for (unsigned int k = 0; k < indices.size(); ++k)
      indices[k] = (2 * k + 1) % 3;
    handler.distribute_dofs(elements, indices);
  }
} // namespace Elasticity

#endif
