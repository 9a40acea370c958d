// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_isotropic_elasticity_h
#define tessella_forms_isotropic_elasticity_h

#include <deal.II/base/function.h>
#include <deal.II/base/tensor_function.h>
#include <deal.II/base/types.h>

#include <tessella/forms/function_pointer.h>
#include <tessella/forms/system_form.h>

#include <memory>

namespace Tessella
{
  /**
   * Linear elasticity of isotropic materials by the interior penalty method,
   *   -div sigma(u) = f,   sigma(u) = 2 mu eps(u) + lambda div(u) I,
   * with u = g on the boundary or, on boundary ids that set_traction() names,
   * sigma(u) n = t. See ElasticityTerms for the terms; the penalty sigma is
   * that of a scalar diffusion lambda + 2 mu.
   *
   *     IsotropicElasticity<dim> form(1., 0.5);
   *     form.set_force(f);
   *     form.set_dirichlet(g);
   *     assembler.assemble(form, matrix, rhs);
   *
   * On a CUDA device, constant lambda and mu are evaluated there; functions, f,
   * g and t are evaluated by the host's threads. ElasticityForm evaluates
   * functors on the device.
   *
   * <b>Errors.</b> Functions with another number of components, mu that is not
   * positive or lambda + 2 mu that is negative, theta other than 1, 0 or -1.
   */
  template <int dim>
  class IsotropicElasticity : public SystemForm<dim>
  {
  public:
    using FunctionPointer = Tessella::FunctionPointer<dim>;

    /// Constant Lame parameters.
    IsotropicElasticity(const double lambda, const double mu);
    /// Lame parameters that vary in space: scalar functions.
    IsotropicElasticity(const FunctionPointer &lambda,
                        const FunctionPointer &mu);
    ~IsotropicElasticity();

    /// Force per volume, with dim components; null: zero.
    void
    set_force(const FunctionPointer &f);
    /// Displacement on the boundary, with dim components; null: zero.
    void
    set_dirichlet(const FunctionPointer &g);
    /// Traction on one boundary id, with dim components; null: zero.
    void
    set_traction(const dealii::types::boundary_id id, const FunctionPointer &t);
    /// The same for the traction s n of a stress s, where n is the outward
    /// normal.
    void
    set_boundary_stress(
      const dealii::types::boundary_id                             id,
      const std::shared_ptr<const dealii::TensorFunction<2, dim>> &stress);
    /// The same with a lambda that returns a Tensor<2, dim>.
    template <typename Callable>
    std::enable_if_t<internal::IsTensorOfPoint<dim, Callable>::value>
    set_boundary_stress(const dealii::types::boundary_id id,
                        const Callable                  &stress)
    {
      set_boundary_stress(
        id,
        std::shared_ptr<const dealii::TensorFunction<2, dim>>(
          std::make_shared<internal::TensorFunctionFromCallable<dim, Callable>>(
            stress)));
    }
    /// 1: symmetric, 0: incomplete, -1: nonsymmetric interior penalty; default
    /// 1.
    void
    set_theta(const double theta);
    /// Polynomial degree of coefficients and data, for the choice of the
    /// quadrature; default 2.
    void
    set_coefficient_order(const unsigned int order);

    unsigned int
    n_test_components() const override;

    const Form<dim> *
    form(const unsigned int test, const unsigned int trial) const override;

    bool
    constant_terms(ConstantSystemTerms<dim> &terms) const override;

  private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation;
  };
} // namespace Tessella

#endif
