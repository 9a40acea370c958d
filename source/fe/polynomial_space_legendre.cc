// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/memory_consumption.h>

#include <tessella/fe/polynomial_space_legendre.h>
#include <tessella/portable/legendre.h>

#include <type_traits>

namespace Tessella
{
  using namespace dealii;

  namespace
  {
    /// Derivatives 0 .. 4 of the one-dimensional functions at one point.
    template <int dim>
    struct Tables
    {
      /// Fills the derivatives of order at most @p n_derivatives.
      Tables(const Point<dim>  &p,
             const unsigned int degree,
             const unsigned int n_derivatives)
      {
        for (int d = 0; d < dim; ++d)
          {
            const double xi = 2. * p[d] - 1.;
            Legendre::evaluate(degree, xi, value[d][0]);
            // The m-th derivatives satisfy P_{n+1}^(m) = P_{n-1}^(m) + (2n+1)
            // P_n^(m-1). Each derivative with respect to x adds a factor of 2,
            // because xi = 2x - 1. The tables hold sqrt(2n+1) P_n, whereas the
            // recurrence is for P_n itself.
            double previous[Legendre::max_degree + 1];
            for (unsigned int n = 0; n <= degree; ++n)
              previous[n] = value[d][0][n] / Legendre::internal::scale(n);
            for (unsigned int m = 1; m <= n_derivatives; ++m)
              {
                double current[Legendre::max_degree + 1];
                for (unsigned int n = 0; n <= degree; ++n)
                  {
                    current[n] =
                      (n == 0 ? 0.
                              : 2. * (2. * n - 1.) * previous[n - 1] +
                                  (n > 1 ? current[n - 2] : 0.));
                    value[d][m][n] = current[n] * Legendre::internal::scale(n);
                  }
                for (unsigned int n = 0; n <= degree; ++n)
                  previous[n] = current[n];
              }
          }
      }

      /// Derivative, in the directions @p directions, of the product of
      /// one-dimensional functions of degrees @p k.
      template <std::size_t order>
      double
      derivative(const unsigned char                   *k,
                 const std::array<unsigned int, order> &directions) const
      {
        unsigned int count[dim] = {};
        for (const unsigned int d : directions)
          ++count[d];
        double product = 1.;
        for (int d = 0; d < dim; ++d)
          product *= value[d][count[d]][k[d]];
        return product;
      }

      template <int order>
      Tensor<order, dim>
      tensor(const unsigned char *k) const
      {
        Tensor<order, dim>              result;
        std::array<unsigned int, order> directions;
        for (unsigned int i = 0;
             i < Tensor<order, dim>::n_independent_components;
             ++i)
          {
            const TableIndices<order> indices =
              Tensor<order, dim>::unrolled_to_component_indices(i);
            for (unsigned int j = 0; j < order; ++j)
              directions[j] = indices[j];
            result[indices] = derivative(k, directions);
          }
        return result;
      }

      double value[dim][5][Legendre::max_degree + 1];
    };

    unsigned int
    checked_degree(const unsigned int degree)
    {
      AssertThrow(degree <= Legendre::max_degree,
                  ExcMessage("The polynomial degree is " +
                             std::to_string(degree) +
                             "; choose one between 0 and " +
                             std::to_string(Legendre::max_degree) + "."));
      return degree;
    }

  } // namespace



  template <int dim>
  PolynomialSpaceLegendre<dim>::PolynomialSpaceLegendre(
    const unsigned int degree, const PolynomialSpaceType space)
    : ScalarPolynomialsBase<dim>(checked_degree(degree),
                                 Legendre::n_functions(dim, degree, space))
    , space(space)
    , exponents(dim * this->n())
  {
    Legendre::exponents(dim, degree, space, exponents.data());
  }



  template <int dim>
  void
  PolynomialSpaceLegendre<dim>::evaluate(
    const Point<dim>            &unit_point,
    std::vector<double>         &values,
    std::vector<Tensor<1, dim>> &grads,
    std::vector<Tensor<2, dim>> &grad_grads,
    std::vector<Tensor<3, dim>> &third_derivatives,
    std::vector<Tensor<4, dim>> &fourth_derivatives) const
  {
    const unsigned int n = this->n();
    for (const std::size_t size : {values.size(),
                                   grads.size(),
                                   grad_grads.size(),
                                   third_derivatives.size(),
                                   fourth_derivatives.size()})
      {
        (void)size;
        Assert(size == 0 || size == n, ExcDimensionMismatch(size, n));
      }

    const unsigned int n_derivatives = !fourth_derivatives.empty()  ? 4
                                       : !third_derivatives.empty() ? 3
                                       : !grad_grads.empty()        ? 2
                                       : !grads.empty()             ? 1
                                                                    : 0;
    const Tables<dim>  tables(unit_point, this->degree(), n_derivatives);
    for (unsigned int i = 0; i < n; ++i)
      {
        const unsigned char *k = &exponents[i * dim];
        if (!values.empty())
          values[i] = tables.derivative(k, std::array<unsigned int, 0>());
        if (!grads.empty())
          grads[i] = tables.template tensor<1>(k);
        if (!grad_grads.empty())
          grad_grads[i] = tables.template tensor<2>(k);
        if (!third_derivatives.empty())
          third_derivatives[i] = tables.template tensor<3>(k);
        if (!fourth_derivatives.empty())
          fourth_derivatives[i] = tables.template tensor<4>(k);
      }
  }



  template <int dim>
  template <int order>
  Tensor<order, dim>
  PolynomialSpaceLegendre<dim>::derivative(const unsigned int i,
                                           const Point<dim>  &p) const
  {
    AssertIndexRange(i, this->n());
    return Tables<dim>(p, this->degree(), order)
      .template tensor<order>(&exponents[i * dim]);
  }



  template <int dim>
  double
  PolynomialSpaceLegendre<dim>::compute_value(const unsigned int i,
                                              const Point<dim>  &p) const
  {
    AssertIndexRange(i, this->n());
    return Tables<dim>(p, this->degree(), 0)
      .derivative(&exponents[i * dim], std::array<unsigned int, 0>());
  }



  template <int dim>
  Tensor<1, dim>
  PolynomialSpaceLegendre<dim>::compute_1st_derivative(
    const unsigned int i, const Point<dim> &p) const
  {
    return derivative<1>(i, p);
  }



  template <int dim>
  Tensor<2, dim>
  PolynomialSpaceLegendre<dim>::compute_2nd_derivative(
    const unsigned int i, const Point<dim> &p) const
  {
    return derivative<2>(i, p);
  }



  template <int dim>
  Tensor<3, dim>
  PolynomialSpaceLegendre<dim>::compute_3rd_derivative(
    const unsigned int i, const Point<dim> &p) const
  {
    return derivative<3>(i, p);
  }



  template <int dim>
  Tensor<4, dim>
  PolynomialSpaceLegendre<dim>::compute_4th_derivative(
    const unsigned int i, const Point<dim> &p) const
  {
    return derivative<4>(i, p);
  }



  template <int dim>
  std::size_t
  PolynomialSpaceLegendre<dim>::memory_consumption() const
  {
    return sizeof(*this) + MemoryConsumption::memory_consumption(exponents);
  }



  template class PolynomialSpaceLegendre<1>;
  template class PolynomialSpaceLegendre<2>;
  template class PolynomialSpaceLegendre<3>;
} // namespace Tessella
