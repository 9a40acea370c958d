// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_fe_polynomial_space_legendre_h
#define tessella_fe_polynomial_space_legendre_h

#include <deal.II/base/scalar_polynomials_base.h>

#include <tessella/portable/legendre.h>

#include <string>
#include <vector>

namespace Tessella
{
  /**
   * Products of Legendre polynomials on the unit hypercube [0,1]^dim,
   * orthonormal there, in the order that Legendre documents. Values and all
   * derivatives up to the fourth are available; a derivative costs one product
   * of dim values from one-dimensional tables.
   */
  template <int dim>
  class PolynomialSpaceLegendre : public dealii::ScalarPolynomialsBase<dim>
  {
  public:
    PolynomialSpaceLegendre(const unsigned int        degree,
                            const PolynomialSpaceType space);

    /// Evaluates values and derivatives of all functions. Each vector is either
    /// empty, and then skipped, or of size n().
    void
    evaluate(
      const dealii::Point<dim>            &unit_point,
      std::vector<double>                 &values,
      std::vector<dealii::Tensor<1, dim>> &grads,
      std::vector<dealii::Tensor<2, dim>> &grad_grads,
      std::vector<dealii::Tensor<3, dim>> &third_derivatives,
      std::vector<dealii::Tensor<4, dim>> &fourth_derivatives) const override;

    double
    compute_value(const unsigned int        i,
                  const dealii::Point<dim> &p) const override;

    dealii::Tensor<1, dim>
    compute_1st_derivative(const unsigned int        i,
                           const dealii::Point<dim> &p) const override;

    dealii::Tensor<2, dim>
    compute_2nd_derivative(const unsigned int        i,
                           const dealii::Point<dim> &p) const override;

    dealii::Tensor<3, dim>
    compute_3rd_derivative(const unsigned int        i,
                           const dealii::Point<dim> &p) const override;

    dealii::Tensor<4, dim>
    compute_4th_derivative(const unsigned int        i,
                           const dealii::Point<dim> &p) const override;

    dealii::Tensor<1, dim>
    compute_grad(const unsigned int        i,
                 const dealii::Point<dim> &p) const override
    {
      return compute_1st_derivative(i, p);
    }

    dealii::Tensor<2, dim>
    compute_grad_grad(const unsigned int        i,
                      const dealii::Point<dim> &p) const override
    {
      return compute_2nd_derivative(i, p);
    }

    std::string
    name() const override
    {
      return "PolynomialSpaceLegendre";
    }

    std::unique_ptr<dealii::ScalarPolynomialsBase<dim>>
    clone() const override
    {
      return std::make_unique<PolynomialSpaceLegendre<dim>>(*this);
    }

    std::size_t
    memory_consumption() const override;

    /// Exponent of variable @p d in function @p i.
    unsigned int
    exponent(const unsigned int i, const unsigned int d) const
    {
      return exponents[i * dim + d];
    }

    PolynomialSpaceType
    type() const
    {
      return space;
    }

  private:
    /// All derivatives of the given order of function @p i.
    template <int order>
    dealii::Tensor<order, dim>
    derivative(const unsigned int i, const dealii::Point<dim> &p) const;

    PolynomialSpaceType        space;
    std::vector<unsigned char> exponents;
  };
} // namespace Tessella

#endif
