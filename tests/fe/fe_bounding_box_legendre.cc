// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
// The element on the unit cell: order of the functions, orthonormality,
// derivatives compared to difference quotients, systems, hp. MMX registers must
// stay clean, because vectorised code that leaves MMX mode on breaks long
// double arithmetic.

#include <deal.II/base/quadrature_lib.h>

#include <deal.II/fe/fe_dgq.h>
#include <deal.II/fe/fe_system.h>
#include <deal.II/lac/full_matrix.h>

#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/portable/legendre.h>

#include <algorithm>
#include <vector>

#include "../tests.h"

using namespace dealii;
using namespace Tessella;

// P_n(2x-1) sqrt(2n+1) from its explicit sum.
double
legendre(const unsigned int n, const double x)
{
  double sum = 0., term = (n % 2 == 0 ? 1. : -1.);
  for (unsigned int k = 0; k <= n; ++k)
    {
      sum += term;
      term *= -x * (n + k + 1.) * (n - k) / ((k + 1.) * (k + 1.));
    }
  return sum * std::sqrt(2. * n + 1.);
}

template <int dim>
void
test(const PolynomialSpaceType space, const unsigned int max_degree)
{
  const bool tensor = space == PolynomialSpaceType::tensor_product;
  Point<dim> x;
  for (unsigned int d = 0; d < dim; ++d)
    x[d] = 0.31 + 0.17 * d;

  double orthonormality = 0., values = 0., derivatives[4] = {0., 0., 0., 0.};
  bool   order = true, prefix = true;
  for (unsigned int p = 0; p <= max_degree; ++p)
    {
      const FE_BoundingBoxLegendre<dim> fe(p, space);
      const unsigned int                n = fe.n_dofs_per_cell();
      std::vector<unsigned char>        k(dim * n);
      Legendre::exponents(dim, p, tensor, k.data());
      const FE_BoundingBoxLegendre<dim> larger(std::min(p + 1, 10u), space);

      // graded, then lexicographic with larger exponents first
      const auto grade = [&](const unsigned int i) {
        unsigned int sum = 0, largest = 0;
        for (unsigned int d = 0; d < dim; ++d)
          {
            sum += k[i * dim + d];
            largest = std::max<unsigned int>(largest, k[i * dim + d]);
          }
        return tensor ? largest : sum;
      };
      for (unsigned int i = 1; i < n; ++i)
        order =
          order && (grade(i - 1) < grade(i) ||
                    (grade(i - 1) == grade(i) &&
                     std::lexicographical_compare(&k[i * dim],
                                                  &k[i * dim] + dim,
                                                  &k[(i - 1) * dim],
                                                  &k[(i - 1) * dim] + dim)));
      order = order && grade(n - 1) == p;

      for (unsigned int i = 0; i < n; ++i)
        {
          double product = 1.;
          for (unsigned int d = 0; d < dim; ++d)
            product *= legendre(k[i * dim + d], x[d]);
          values = std::max(values, std::abs(product - fe.shape_value(i, x)));
          prefix = prefix && fe.shape_value(i, x) == larger.shape_value(i, x);

          const double h = 1e-4;
          for (unsigned int d = 0; d < dim; ++d)
            {
              Point<dim> a = x, b = x;
              a[d] -= h;
              b[d] += h;
              const auto difference = [&](const double   quotient,
                                          const double   size,
                                          const unsigned m) {
                derivatives[m] =
                  std::max(derivatives[m], quotient / (1. + size));
              };
              const Tensor<1, dim> g = fe.shape_grad(i, x);
              difference(std::abs(
                           (fe.shape_value(i, b) - fe.shape_value(i, a)) /
                             (2 * h) -
                           g[d]),
                         g.norm(),
                         0);
              const Tensor<2, dim> H = fe.shape_grad_grad(i, x);
              difference(
                ((fe.shape_grad(i, b) - fe.shape_grad(i, a)) / (2 * h) - H[d])
                  .norm(),
                H.norm(),
                1);
              const Tensor<3, dim> T = fe.shape_3rd_derivative(i, x);
              difference(((fe.shape_grad_grad(i, b) -
                           fe.shape_grad_grad(i, a)) /
                            (2 * h) -
                          T[d])
                           .norm(),
                         T.norm(),
                         2);
              const Tensor<4, dim> F = fe.shape_4th_derivative(i, x);
              difference(((fe.shape_3rd_derivative(i, b) -
                           fe.shape_3rd_derivative(i, a)) /
                            (2 * h) -
                          F[d])
                           .norm(),
                         F.norm(),
                         3);
            }
        }

      const QGauss<dim>  quadrature(p + 1);
      FullMatrix<double> mass(n, n);
      for (unsigned int q = 0; q < quadrature.size(); ++q)
        {
          std::vector<double>         v(n);
          std::vector<Tensor<1, dim>> g;
          std::vector<Tensor<2, dim>> H;
          std::vector<Tensor<3, dim>> T;
          std::vector<Tensor<4, dim>> F;
          fe.get_poly_space().evaluate(quadrature.point(q), v, g, H, T, F);
          for (unsigned int i = 0; i < n; ++i)
            for (unsigned int j = 0; j < n; ++j)
              mass(i, j) += quadrature.weight(q) * v[i] * v[j];
        }
      for (unsigned int i = 0; i < n; ++i)
        for (unsigned int j = 0; j < n; ++j)
          {
            const double error = std::abs(mass(i, j) - (i == j ? 1. : 0.));
            orthonormality =
              std::isnan(error) ? 1. : std::max(orthonormality, error);
          }
    }

  const FE_BoundingBoxLegendre<dim> fe(3, space);
  const FESystem<dim>               system(fe, dim);
  deallog << system.get_name() << ' ' << system.n_dofs_per_cell() << std::endl;
  bool component_major = true;
  for (unsigned int i = 0; i < system.n_dofs_per_cell(); ++i)
    component_major =
      component_major &&
      system.system_to_component_index(i).first == i / fe.n_dofs_per_cell() &&
      system.system_to_component_index(i).second == i % fe.n_dofs_per_cell();

  check("order of functions", order);
  check("prefix property", prefix);
  check("system: component by component", component_major);
  check_below("values", values, 1e-10);
  check_below("orthonormality", orthonormality, 1e-13);
  check_below("gradients", derivatives[0], 1e-5);
  check_below("Hessians", derivatives[1], 1e-5);
  check_below("third derivatives", derivatives[2], 1e-5);
  check_below("fourth derivatives", derivatives[3], 1e-4);
}

template <int dim>
void
test_hp()
{
  const auto total  = PolynomialSpaceType::total_degree;
  const auto tensor = PolynomialSpaceType::tensor_product;
  using FE          = FE_BoundingBoxLegendre<dim>;
  namespace D       = FiniteElementDomination;
  check("lower degree dominates",
        FE(2).compare_for_domination(FE(4)) == D::this_element_dominates &&
          FE(4).compare_for_domination(FE(2)) == D::other_element_dominates &&
          FE(3).compare_for_domination(FE(3)) ==
            D::either_element_can_dominate);
  check("total degree and tensor product",
        FE(2, total).compare_for_domination(FE(2, tensor)) ==
            D::this_element_dominates &&
          FE(3, total).compare_for_domination(FE(2, tensor)) ==
            D::neither_element_dominates &&
          FE(1, tensor).compare_for_domination(FE(dim, total)) ==
            D::this_element_dominates);
  check("faces: no requirements, other elements: none dominates",
        FE(2).compare_for_domination(FE(4), 1) == D::no_requirements &&
          FE(2).compare_for_domination(FE_DGQ<dim>(2)) ==
            D::neither_element_dominates);

  // Interpolation to the larger space and back is the identity.
  const FE           small(2, total), large(4, tensor);
  FullMatrix<double> up(large.n_dofs_per_cell(), small.n_dofs_per_cell()),
    down(small.n_dofs_per_cell(), large.n_dofs_per_cell()),
    product(small.n_dofs_per_cell(), small.n_dofs_per_cell());
  large.get_interpolation_matrix(small, up);
  small.get_interpolation_matrix(large, down);
  down.mmult(product, up);
  Point<dim> x;
  for (unsigned int d = 0; d < dim; ++d)
    x[d] = 0.2 + 0.3 * d;
  double error = 0.;
  for (unsigned int j = 0; j < small.n_dofs_per_cell(); ++j)
    {
      double value = 0.;
      for (unsigned int i = 0; i < large.n_dofs_per_cell(); ++i)
        value += up(i, j) * large.shape_value(i, x);
      error = std::max(error, std::abs(value - small.shape_value(j, x)));
      for (unsigned int i = 0; i < small.n_dofs_per_cell(); ++i)
        error = std::max(error, std::abs(product(i, j) - (i == j ? 1. : 0.)));
    }
  check_below("interpolation between spaces", error, 1e-13);
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  deallog.push("2d");
  test<2>(PolynomialSpaceType::total_degree, 10);
  test<2>(PolynomialSpaceType::tensor_product, 6);
  test_hp<2>();
  deallog.pop();
  deallog.push("3d");
  test<3>(PolynomialSpaceType::total_degree, 7);
  test<3>(PolynomialSpaceType::tensor_product, 4);
  test_hp<3>();
  deallog.pop();

  check_throws<ExceptionBase>(
    "degree too large",
    []() { FE_BoundingBoxLegendre<2> fe(11); },
    "choose one between 0 and 10");

  // 1/3 + 2/3 in long double, which is NaN after MMX instructions
  volatile long double a = 1.L, b = 3.L;
  check("long double", static_cast<double>(a / b + 2.L * a / b) == 1.);
}
