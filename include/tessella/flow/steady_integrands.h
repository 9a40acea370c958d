// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_flow_steady_integrands_h
#define tessella_flow_steady_integrands_h

#include <tessella/flow/flow_terms.h>
#include <tessella/flow/ideal_gas.h>
#include <tessella/forms/functor_integrand.h>
#include <tessella/forms/pointwise_lanes.h>
#include <tessella/forms/pointwise_uses.h>

#include <memory>
#include <type_traits>
#include <vector>

// Integrands of PseudoTransient, for host and device. This file includes no
// deal.II header.

namespace Tessella
{
  namespace Flow
  {
    /// @p Fields and one more field of one component.
    template <typename Fields>
    struct AddScalarField;
    template <int... n>
    struct AddScalarField<FieldComponents<n...>>
    {
      using Fields = FieldComponents<n..., 1>;
    };



    /// A functor @p F with the time term s U of its first field U, whose factor
    /// s, the reciprocal of a local step, is a field after those of F.
    template <int dim, typename F>
    struct WithTimeTerm
    {
      using Traits                      = PointwiseTraits<dim, F>;
      static constexpr int n_components = F::n_components;
      using Fields = typename AddScalarField<typename Traits::Fields>::Fields;
      static constexpr unsigned int volume_input = Traits::volume_input |
                                                   PointwiseRows::values,
                                    volume_output = Traits::volume_output |
                                                    PointwiseRows::values,
                                    facet_input  = Traits::facet_input,
                                    facet_output = Traits::facet_output;
      static constexpr unsigned int uses         = PointwiseUses::jacobian,
                                    lanes        = functor_lanes<F>;

      F f;

      template <typename Point, typename U, typename R>
      TESSELLA_HOST_DEVICE void
      volume(const Point &p, const U &u, R &r) const
      {
        f.volume(p, u, r);
        for (int c = 0; c < n_components; ++c)
          r.value[c] += u.value[Traits::Fields::n_components] * u.value[c];
      }
      template <typename Point, typename U, typename R>
      TESSELLA_HOST_DEVICE void
      interior_facet(
        const Point &p, const U &u0, const U &u1, R &r0, R &r1) const
      {
        f.interior_facet(p, u0, u1, r0, r1);
      }
      template <typename U, typename R>
      TESSELLA_HOST_DEVICE void
      boundary_facet(const OperatorPoint<dim> &p, const U &u, R &r) const
      {
        f.boundary_facet(p, u, r);
      }
    };



    /// The time term alone.
    template <int dim, int m>
    struct TimeTerm : VolumeValueRows
    {
      static constexpr int n_components   = m;
      using Fields                        = FieldComponents<m, 1>;
      static constexpr unsigned int uses  = PointwiseUses::residual,
                                    lanes = PointwiseLanes::volume;

      template <typename Point, typename U, typename R>
      TESSELLA_HOST_DEVICE void
      volume(const Point &, const U &u, R &r) const
      {
        for (int c = 0; c < m; ++c)
          r.value[c] = u.value[m] * u.value[c];
      }
    };



    /// Integral over the boundary of a polytope of the larger F::wave_speed()
    /// of both sides. Test functions are constants, and so is the second field,
    /// which F need not use.
    template <int dim, typename F>
    struct SurfaceSpeed
    {
      static constexpr int n_components = 1;
      using Fields                      = FieldComponents<F::n_components, 1>;
      static constexpr unsigned int volume_input  = PointwiseRows::none,
                                    volume_output = PointwiseRows::none,
                                    facet_input   = PointwiseRows::values,
                                    facet_output  = PointwiseRows::values;
      static constexpr unsigned int uses          = PointwiseUses::residual,
                                    lanes         = functor_lanes<F> &
                                            PointwiseLanes::interior_facet;

      F f;

      template <typename Point, typename U, typename R>
      TESSELLA_HOST_DEVICE void
      interior_facet(
        const Point &p, const U &u0, const U &u1, R &r0, R &r1) const
      {
        using namespace PointwiseMath;
        r0.value[0] = maximum(f.wave_speed(p, u0, 0), f.wave_speed(p, u1, 1));
        r1.value[0] = r0.value[0];
      }
      template <typename U, typename R>
      TESSELLA_HOST_DEVICE void
      boundary_facet(const OperatorPoint<dim> &p, const U &u, R &r) const
      {
        r.value[0] = f.wave_speed(p, u, 0);
      }
    };



    /**
     * Whether density and pressure change by at most the part @p largest_change
     * from U to U - length dU: the result is 0 at points where they do, and 1
     * at all others, those with numbers that are not finite included. Fields
     * are U, dU and constants, which are the test functions.
     */
    template <int dim>
    struct AdmissibleStep
    {
      static constexpr int m                      = dim + 2;
      static constexpr int n_components           = 1;
      using Fields                                = FieldComponents<m, m, 1>;
      static constexpr unsigned int volume_input  = PointwiseRows::values,
                                    volume_output = PointwiseRows::values,
                                    facet_input   = PointwiseRows::values,
                                    facet_output  = PointwiseRows::values;
      static constexpr unsigned int uses          = PointwiseUses::residual,
                                    lanes         = PointwiseLanes::volume |
                                            PointwiseLanes::interior_facet;

      IdealGas<dim> gas;
      double        length = 1., largest_change = 0.2;

      template <typename Point, typename U, typename R>
      TESSELLA_HOST_DEVICE void
      volume(const Point &, const U &u, R &r) const
      {
        r.value[0] = violation(u.value);
      }
      template <typename Point, typename U, typename R>
      TESSELLA_HOST_DEVICE void
      interior_facet(
        const Point &, const U &u0, const U &u1, R &r0, R &r1) const
      {
        r0.value[0] = violation(u0.value);
        r1.value[0] = violation(u1.value);
      }
      template <typename U, typename R>
      TESSELLA_HOST_DEVICE void
      boundary_facet(const OperatorPoint<dim> &, const U &u, R &r) const
      {
        r.value[0] = violation(u.value);
      }

    private:
      template <typename Number>
      TESSELLA_HOST_DEVICE Number
      violation(const Number *u) const
      {
        using namespace PointwiseMath;
        Number next[m];
        for (int c = 0; c < m; ++c)
          next[c] = u[c] - length * u[m + c];
        const Number p = gas.pressure(u), q = gas.pressure(next);
        return select(fabs(next[0] - u[0]) <= largest_change * u[0],
                      select(fabs(q - p) <= largest_change * p,
                             Number(0.),
                             Number(1.)),
                      Number(1.));
      }
    };



    /// What PseudoTransient needs of an equation. All integrands have the same
    /// coefficient order; with a reconstruction, that of residual may be
    /// larger.
    template <int dim>
    struct SteadyIntegrands
    {
      using Pointer = std::unique_ptr<PointwiseIntegrand<dim>>;

      /// R(U; v), with the field U and, with artificial viscosity, eps.
      Pointer residual;
      /// R and the time term, with the fields of R and s; its Jacobian with
      /// respect to U is that of the linear systems and may be approximate.
      Pointer matrix;
      /// The time term, with the fields dU and s.
      Pointer time_term;
      /// SurfaceSpeed, with the fields U and eps, or s where there is none.
      Pointer speed;
      /// AdmissibleStep of length 1, 1/2, 1/4, .., with the fields U, dU and s.
      std::vector<Pointer> admissible;
      /// AdmissibleStep of length 1 with a reconstruction V of U and its change
      /// in the whole of a step. PseudoTransient gives it the coefficient order
      /// of residual, so that both have the same points.
      Pointer admissible_reconstruction;
    };

    /// Makes a FunctorIntegrand.
    template <int dim>
    struct MakeFunctorIntegrand
    {
      template <typename F>
      std::unique_ptr<PointwiseIntegrand<dim>>
      operator()(const F &functor) const
      {
        return std::make_unique<FunctorIntegrand<dim, F>>(functor);
      }
    };

    /// Integrands of the functor @p f, which has the members gas and
    /// wave_speed(). The Jacobian is that of @p approximation. A step of
    /// PseudoTransient may be halved @p n_halvings times. @p make_integrand
    /// makes an integrand of a functor, for example a LanesIntegrand.
    template <int dim,
              typename F,
              typename G,
              typename Make = MakeFunctorIntegrand<dim>>
    SteadyIntegrands<dim>
    make_steady_integrands(const F           &f,
                           const G           &approximation,
                           const unsigned int coefficient_order,
                           const double       largest_change = 0.2,
                           const unsigned int n_halvings     = 6,
                           const Make        &make_integrand = Make())
    {
      const auto make = [&](const auto &functor) {
        auto result = make_integrand(functor);
        result->set_coefficient_order(coefficient_order);
        return result;
      };
      SteadyIntegrands<dim> result;
      result.residual  = make(f);
      result.matrix    = make(WithTimeTerm<dim, G>{approximation});
      result.time_term = make(TimeTerm<dim, F::n_components>());
      result.speed     = make(SurfaceSpeed<dim, F>{f});
      AdmissibleStep<dim> step;
      step.gas                         = f.gas;
      step.largest_change              = largest_change;
      result.admissible_reconstruction = make(step);
      for (unsigned int i = 0; i <= n_halvings; ++i, step.length *= 0.5)
        result.admissible.push_back(make(step));
      return result;
    }
  } // namespace Flow
} // namespace Tessella

#endif
