// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_system_form_h
#define tessella_forms_system_form_h

#include <tessella/forms/constant_system.h>
#include <tessella/forms/form.h>

namespace Tessella
{
  /**
   * Integrands of a linear system of equations: a bilinear form of functions
   * with several components, as one scalar Form for each pair of a component
   * v_i of the test function and a component u_j of the trial function, a(u, v)
   * = sum_ij a_ij(u_j, v_i),   l(v) = sum_i l_i(v_i).
   *
   * The structures of the scalar forms say which of their rows meet: a pair
   * without a form, and rows that a form does not declare, cost nothing. A pair
   * (i, j) contributes the sub-block of N x N' entries with the functions of
   * component i in its rows and those of component j in its columns; the block
   * of two polytopes has all sub-blocks, since degrees of freedom are ordered
   * by component on a polytope.
   *
   * <b>Penalty.</b> Each scalar form whose FacetStructure asks for it gets its
   * own sigma, from its own diffusion (Form::evaluate_diffusion()) and the
   * geometric factors that all forms share.
   *
   * <b>Quadrature.</b> All pairs must have the same Form::coefficient_order(),
   * since they are evaluated at the same points.
   */
  template <int dim>
  class SystemForm
  {
  public:
    virtual ~SystemForm() = default;

    /// Number of components of the test functions, m.
    virtual unsigned int
    n_test_components() const = 0;

    /// Number of components of the trial functions.
    virtual unsigned int
    n_trial_components() const
    {
      return n_test_components();
    }

    /// Form that couples component @p test of the test function with component
    /// @p trial of the trial function; null if they do not meet. The object
    /// must outlive the assembly.
    virtual const Form<dim> *
    form(const unsigned int test, const unsigned int trial) const = 0;

    /// Trial component j of the pair (@p test, j) whose form has the right-hand
    /// side l_i: f in the volume, r and s on the boundary. Those of the other
    /// pairs are not evaluated. Without a form of this pair, l_i is zero.
    virtual unsigned int
    rhs_component(const unsigned int test) const
    {
      return test < n_trial_components() ? test : 0;
    }

    /// If the matrix is that of a ConstantSystemTerms, sets @p terms and
    /// returns true: a device then computes all pairs at once. The forms remain
    /// needed.
    virtual bool
    constant_terms(ConstantSystemTerms<dim> &terms) const
    {
      (void)terms;
      return false;
    }

    /// Called by one thread at the beginning of every assembly, before any
    /// other function.
    virtual void
    prepare() const
    {}
  };
} // namespace Tessella

#endif
