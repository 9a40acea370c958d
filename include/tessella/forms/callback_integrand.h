// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_callback_integrand_h
#define tessella_forms_callback_integrand_h

#include <tessella/forms/pointwise_integrand.h>

#include <functional>

namespace Tessella
{
  /// Fields, or a change of them, at the points of a batch.
  template <int dim>
  class BatchFields
  {
  public:
    BatchFields(const double *const *const *rows)
      : rows(rows)
    {}
    /// Value of component @p c at point @p q on side @p s. Rows that a change
    /// does not have are zero.
    double
    value(const unsigned int q,
          const unsigned int c,
          const unsigned int s = 0) const
    {
      return entry(s, c * (dim + 1), q);
    }
    /// Derivative with respect to x[d].
    double
    gradient(const unsigned int q,
             const unsigned int c,
             const unsigned int d,
             const unsigned int s = 0) const
    {
      return entry(s, c * (dim + 1) + 1 + d, q);
    }

  private:
    double
    entry(const unsigned int s,
          const unsigned int row,
          const unsigned int q) const
    {
      return rows[s][row] != nullptr ? rows[s][row][q] : 0.;
    }
    const double *const *const *rows;
  };



  /// Results at the points of a batch, which are zero before they are set.
  template <int dim>
  class BatchResults
  {
  public:
    BatchResults(double *const *const *rows)
      : rows(rows)
    {}
    /// Factor of the values of test functions of component @p c on
    /// side @p s.
    double &
    value(const unsigned int q,
          const unsigned int c,
          const unsigned int s = 0) const
    {
      return rows[s][c * (dim + 1)][q];
    }
    /// Factor of their derivatives with respect to x[d].
    double &
    gradient(const unsigned int q,
             const unsigned int c,
             const unsigned int d,
             const unsigned int s = 0) const
    {
      return rows[s][c * (dim + 1) + 1 + d][q];
    }

  private:
    double *const *const *rows;
  };



  /**
   * Integrand of a PointwiseOperator whose terms are callbacks of the host, for
   * example around a library of material laws, an interpreter or a table:
   *
   *     typename PointwiseIntegrand<dim>::Structure structure;
   *     structure.field_components = {1};
   *     CallbackIntegrand<dim> integrand(structure);
   *     integrand.set_terms(
   *       PointwiseRegion::volume,
   *       [&](const unsigned int        n,
   *           const OperatorPoint<dim> *p,
   *           const BatchFields<dim>   &u,
   *           const BatchResults<dim>  &r) {
   *         for (unsigned int q = 0; q < n; ++q)
   *           r.value(q, 0) = law.heat(u.value(q, 0), p[q].material[0]);
   *       });
   *
   * A callback computes the terms at all points of a batch, as the member of a
   * functor does at one, see PointwiseTraits. Several threads call it at the
   * same time. It may read and write the rows that the structure names.
   *
   * <b>Derivative.</b> Tangents and Jacobians need a second callback for each
   * region with terms, which sets the derivative dr in the direction of a
   * change du of the fields; without it they are an error. There are no
   * differences instead of derivatives. A Jacobian calls it once for each row
   * of the fields.
   *
   * <b>Cost.</b> A call of a callback for some ten points, and no vectorised
   * loop over them: several times that of a FunctorIntegrand. On a CUDA device
   * the host's threads do the work; the report says so.
   */
  template <int dim>
  class CallbackIntegrand : public PointwiseIntegrand<dim>
  {
  public:
    using Structure  = typename PointwiseIntegrand<dim>::Structure;
    using Terms      = std::function<void(const unsigned int        n,
                                     const OperatorPoint<dim> *points,
                                     const BatchFields<dim>   &u,
                                     const BatchResults<dim>  &r)>;
    using Derivative = std::function<void(const unsigned int        n,
                                          const OperatorPoint<dim> *points,
                                          const BatchFields<dim>   &u,
                                          const BatchFields<dim>   &du,
                                          const BatchResults<dim>  &dr)>;

    /// Regions have terms if set_terms() was called, whatever @p structure
    /// says about them.
    explicit CallbackIntegrand(const Structure &structure);

    /// Sets the terms in a region and their derivative, which may be missing.
    void
    set_terms(const PointwiseRegion region,
              const Terms          &terms,
              const Derivative     &derivative = Derivative());

    Structure
    structure() const override;

    void
    evaluate(const PointwiseRegion       region,
             const unsigned int          n,
             const OperatorPoint<dim>   *points,
             const double *const *const *in,
             double *const *const       *out) const override;

    void
    evaluate_tangent(const PointwiseRegion       region,
                     const unsigned int          n,
                     const OperatorPoint<dim>   *points,
                     const double *const *const *in,
                     const double *const *const *direction,
                     double *const *const       *out) const override;

    std::string
    why_not_on_device() const override
    {
      return "the terms are callbacks of the host, which are slow";
    }

  private:
    Structure  rows;
    Terms      terms[3];
    Derivative derivatives[3];
  };
} // namespace Tessella

#endif
