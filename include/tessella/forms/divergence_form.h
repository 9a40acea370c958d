// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_divergence_form_h
#define tessella_forms_divergence_form_h

#include <tessella/forms/function_pointer.h>
#include <tessella/forms/system_form.h>

#include <memory>
#include <vector>

namespace Tessella
{
  /**
   * Divergence of a discontinuous velocity u, tested with a scalar q, for
   * saddle point problems such as those of Stokes,
   *   b(u, q) = - sum_K int_K q div u + sum_F int_F {q} [u] . n,
   *   l(q) = int_boundary q g . n,
   * where F runs through the facets between polytopes and on the boundary, with
   * u = g there. It has one component of test functions and dim components of
   * trial functions; its matrix is rectangular, see RectangularAssembler. The
   * transposed matrix is the discrete gradient of the pressure (Cockburn,
   * Kanschat, Schoetzau and Schwab, SIAM J. Numer. Anal. 40, 2002).
   */
  template <int dim>
  class DivergenceForm : public SystemForm<dim>
  {
  public:
    DivergenceForm();
    ~DivergenceForm();

    /// Velocity on the boundary, with dim components; null: zero.
    void
    set_dirichlet(const FunctionPointer<dim> &g);
    /// Polynomial degree of g, for the choice of the quadrature; default 2.
    void
    set_coefficient_order(const unsigned int order);

    unsigned int
    n_test_components() const override
    {
      return 1;
    }
    unsigned int
    n_trial_components() const override
    {
      return dim;
    }
    const Form<dim> *
    form(const unsigned int test, const unsigned int trial) const override;

  private:
    class Pair;
    std::vector<std::unique_ptr<Pair>> pairs;
  };
} // namespace Tessella

#endif
