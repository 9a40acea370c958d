// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_operators_functors_h
#define tessella_tests_operators_functors_h

// Functors of pointwise operators with one to five components. The file uses no
// deal.II header, so that .cu files can include it.

#include <tessella/forms/pointwise_terms.h>

namespace Functors
{
  using namespace Tessella;

  /// -div((1 + u^2) grad u) = f with u = g on the boundary, by the symmetric
  /// interior penalty method with the coefficient's average in the penalty.
  template <int dim>
  struct NonlinearDiffusion
  {
    using Fields                      = FieldComponents<1>;
    static constexpr int n_components = 1;

    double constant = 2.5;

    template <typename Number>
    TESSELLA_HOST_DEVICE static Number
    a(const Number &u)
    {
      return 1. + u * u;
    }

    template <typename U, typename R>
    TESSELLA_HOST_DEVICE void
    volume(const OperatorPoint<dim> &p, const U &u, R &r) const
    {
      using namespace PointwiseMath;
      const auto k = a(u.value[0]);
      for (int d = 0; d < dim; ++d)
        r.gradient[0][d] = k * u.gradient[0][d];
      r.value[0] = -1. * sin(p.x[0] + p.t);
    }

    template <typename U, typename R>
    TESSELLA_HOST_DEVICE void
    interior_facet(
      const OperatorPoint<dim> &p, const U &u0, const U &u1, R &r0, R &r1) const
    {
      const auto k0 = a(u0.value[0]), k1 = a(u1.value[0]),
                 jump = u0.value[0] - u1.value[0];
      auto flux       = constant * p.penalty * 0.5 * (k0 + k1) * jump;
      for (int d = 0; d < dim; ++d)
        {
          flux -= 0.5 * p.normal[d] *
                  (k0 * u0.gradient[0][d] + k1 * u1.gradient[0][d]);
          r0.gradient[0][d] = -0.5 * p.normal[d] * k0 * jump;
          r1.gradient[0][d] = -0.5 * p.normal[d] * k1 * jump;
        }
      r0.value[0] = flux;
      r1.value[0] = -flux;
    }

    template <typename U, typename R>
    TESSELLA_HOST_DEVICE void
    boundary_facet(const OperatorPoint<dim> &p, const U &u, R &r) const
    {
      if (p.boundary_id == 1)
        return;
      const double g    = 0.3 + 0.2 * p.x[0];
      const auto   k    = a(u.value[0]);
      const auto   jump = u.value[0] - g;
      auto         flux = constant * p.penalty * k * jump;
      for (int d = 0; d < dim; ++d)
        {
          flux -= p.normal[d] * k * u.gradient[0][d];
          r.gradient[0][d] = -p.normal[d] * k * jump;
        }
      r.value[0] = flux;
    }
  };



  /// u - v^3 of two states of five components, the first of which is in the
  /// test space.
  template <int dim>
  struct TwoStates
  {
    using Fields                                = FieldComponents<5, 5>;
    static constexpr int          n_components  = 5;
    static constexpr unsigned int volume_input  = PointwiseRows::values,
                                  volume_output = PointwiseRows::values;

    template <typename U, typename R>
    TESSELLA_HOST_DEVICE void
    volume(const OperatorPoint<dim> &, const U &u, R &r) const
    {
      for (int c = 0; c < 5; ++c)
        r.value[c] =
          u.value[c] - u.value[5 + c] * u.value[5 + c] * u.value[5 + c];
    }
  };



  /// Integrals of a state of the Euler equations: kinetic energy, energy and
  /// enstrophy inside, on the boundary the force of the pressure in two
  /// directions and the flux of mass.
  template <int dim>
  struct Forces
  {
    using Fields                                = FieldComponents<dim + 2>;
    static constexpr int          n_components  = 3;
    static constexpr unsigned int volume_output = PointwiseRows::values,
                                  facet_output  = PointwiseRows::values;

    template <typename U, typename R>
    TESSELLA_HOST_DEVICE void
    volume(const OperatorPoint<dim> &, const U &u, R &r) const
    {
      const auto curl = u.gradient[2][0] - u.gradient[1][1];
      for (int d = 0; d < dim; ++d)
        r.value[0] += 0.5 * u.value[1 + d] * u.value[1 + d] / u.value[0];
      r.value[1] = u.value[dim + 1];
      r.value[2] = curl * curl;
    }

    template <typename U, typename R>
    TESSELLA_HOST_DEVICE void
    boundary_facet(const OperatorPoint<dim> &p, const U &u, R &r) const
    {
      auto pressure = u.value[dim + 1];
      for (int d = 0; d < dim; ++d)
        {
          pressure -= 0.5 * u.value[1 + d] * u.value[1 + d] / u.value[0];
          r.value[2] += u.value[1 + d] * p.normal[d];
        }
      for (int d = 0; d < 2; ++d)
        r.value[d] = 0.4 * pressure * p.normal[d];
    }
  };



  /// Compressible Euler equations, density, momentum and energy: div f(u) = 0
  /// with the Lax-Friedrichs flux. Boundary ids 0 and 2: slip wall; others: a
  /// given state.
  template <int dim>
  struct Euler
  {
    using Fields                                = FieldComponents<dim + 2>;
    static constexpr int          n_components  = dim + 2;
    static constexpr unsigned int volume_input  = PointwiseRows::values,
                                  volume_output = PointwiseRows::gradients,
                                  facet_input   = PointwiseRows::values,
                                  facet_output  = PointwiseRows::values;

    double gamma          = 1.4;
    double state[dim + 2] = {};
    bool   walls          = true;

    template <typename Number>
    TESSELLA_HOST_DEVICE Number
    pressure(const Number *u) const
    {
      Number square = u[1] * u[1];
      for (int d = 1; d < dim; ++d)
        square += u[1 + d] * u[1 + d];
      return (gamma - 1.) * (u[dim + 1] - 0.5 * square / u[0]);
    }

    template <typename Number>
    TESSELLA_HOST_DEVICE void
    normal_flux(const Number *u,
                const double *normal,
                Number       *flux,
                Number       &speed) const
    {
      using namespace PointwiseMath;
      const Number p        = pressure(u);
      Number       velocity = u[1] * normal[0];
      for (int d = 1; d < dim; ++d)
        velocity += u[1 + d] * normal[d];
      velocity /= u[0];
      flux[0] = u[0] * velocity;
      for (int d = 0; d < dim; ++d)
        flux[1 + d] = u[1 + d] * velocity + p * normal[d];
      flux[dim + 1] = (u[dim + 1] + p) * velocity;
      speed         = fabs(velocity) + sqrt(gamma * p / u[0]);
    }

    template <typename U, typename R>
    TESSELLA_HOST_DEVICE void
    volume(const OperatorPoint<dim> &, const U &u, R &r) const
    {
      const auto p       = pressure(u.value);
      const auto inverse = 1. / u.value[0];
      for (int d = 0; d < dim; ++d)
        {
          const auto velocity = u.value[1 + d] * inverse;
          r.gradient[0][d]    = -u.value[1 + d];
          for (int e = 0; e < dim; ++e)
            r.gradient[1 + e][d] = -(u.value[1 + e] * velocity);
          r.gradient[1 + d][d] -= p;
          r.gradient[dim + 1][d] = -((u.value[dim + 1] + p) * velocity);
        }
    }

    template <typename Number>
    TESSELLA_HOST_DEVICE void
    lax_friedrichs(const Number *u0,
                   const Number *u1,
                   const double *normal,
                   Number       *flux) const
    {
      using namespace PointwiseMath;
      Number f0[dim + 2], f1[dim + 2], s0, s1;
      normal_flux(u0, normal, f0, s0);
      normal_flux(u1, normal, f1, s1);
      const Number speed = maximum(s0, s1);
      for (int c = 0; c < dim + 2; ++c)
        flux[c] = 0.5 * (f0[c] + f1[c] + speed * (u0[c] - u1[c]));
    }

    template <typename U, typename R>
    TESSELLA_HOST_DEVICE void
    interior_facet(
      const OperatorPoint<dim> &p, const U &u0, const U &u1, R &r0, R &r1) const
    {
      lax_friedrichs(u0.value, u1.value, p.normal, r0.value);
      for (int c = 0; c < dim + 2; ++c)
        r1.value[c] = -r0.value[c];
    }

    template <typename U, typename R>
    TESSELLA_HOST_DEVICE void
    boundary_facet(const OperatorPoint<dim> &p, const U &u, R &r) const
    {
      if (walls && (p.boundary_id == 0 || p.boundary_id == 2))
        {
          const auto pressure_here = pressure(u.value);
          for (int d = 0; d < dim; ++d)
            r.value[1 + d] = pressure_here * p.normal[d];
          return;
        }
      decltype(pressure(u.value)) given[dim + 2];
      for (int c = 0; c < dim + 2; ++c)
        given[c] = state[c];
      lax_friedrichs(u.value, given, p.normal, r.value);
    }
  };



  /// Two components that are transported and diffused by a field of a space of
  /// its own; uses all members of OperatorPoint and has no terms on the
  /// boundary.
  template <int dim>
  struct TwoFields
  {
    using Fields                      = FieldComponents<2, 1>;
    static constexpr int n_components = 2;

    /// Whether to use indices, which depend on the number of processes.
    bool indices = true;

    TESSELLA_HOST_DEVICE double
    weight(const OperatorPoint<dim> &p, const int side) const
    {
      const double w =
        1. + 0.1 * p.material[side] + 0.1 * p.h[side] + 0.1 * p.t;
      return indices ? w + 0.01 * (p.polytope[side] % 3) +
                         0.02 * (p.subcell[side] % 5)
                     : w;
    }

    template <typename U, typename R>
    TESSELLA_HOST_DEVICE void
    volume(const OperatorPoint<dim> &p, const U &u, R &r) const
    {
      using namespace PointwiseMath;
      const double w = weight(p, 0);
      const auto   c = u.value[2];
      for (int i = 0; i < 2; ++i)
        {
          for (int d = 0; d < dim; ++d)
            {
              r.gradient[i][d] = w * exp(c) * u.gradient[i][d] +
                                 u.gradient[2][d] * u.value[1 - i] * p.x[d];
              r.value[i] += u.gradient[2][d] * u.gradient[i][d];
            }
          r.value[i] += u.value[0] * u.value[1] * c;
        }
    }

    template <typename U, typename R>
    TESSELLA_HOST_DEVICE void
    interior_facet(
      const OperatorPoint<dim> &p, const U &u0, const U &u1, R &r0, R &r1) const
    {
      using namespace PointwiseMath;
      const double w0 = weight(p, 0), w1 = weight(p, 1);
      for (int i = 0; i < 2; ++i)
        {
          const auto jump = u0.value[i] - u1.value[i];
          const auto mean = 0.5 * (u0.value[2] * w0 + u1.value[2] * w1);
          r0.value[i] = (p.penalty + (indices ? p.facet % 3 : 0)) * jump * mean;
          r1.value[i] = -2. * mean * tanh(u0.value[1 - i] * u1.value[i]);
          for (int d = 0; d < dim; ++d)
            {
              r0.value[i] +=
                p.normal[d] * u1.gradient[2][d] * u0.gradient[i][d];
              r1.value[i] -= p.x[d] * u0.gradient[i][d] * u1.value[i];
              r0.gradient[i][d] = p.normal[d] * jump * u1.gradient[1 - i][d];
              r1.gradient[i][d] = u0.gradient[i][d] * jump * mean;
            }
        }
    }
  };



  /// Three components with values on the boundary alone, and an input of
  /// gradients alone inside.
  template <int dim>
  struct ThreeComponents
  {
    using Fields                                = FieldComponents<3>;
    static constexpr int          n_components  = 3;
    static constexpr unsigned int volume_input  = PointwiseRows::gradients,
                                  volume_output = PointwiseRows::values,
                                  facet_input   = PointwiseRows::all,
                                  facet_output  = PointwiseRows::values;

    template <typename U, typename R>
    TESSELLA_HOST_DEVICE void
    volume(const OperatorPoint<dim> &p, const U &u, R &r) const
    {
      using namespace PointwiseMath;
      for (int c = 0; c < 3; ++c)
        for (int d = 0; d < dim; ++d)
          r.value[c] +=
            cos(p.x[d]) * u.gradient[c][d] * (1. + u.gradient[(c + 1) % 3][d]);
    }

    template <typename U, typename R>
    TESSELLA_HOST_DEVICE void
    boundary_facet(const OperatorPoint<dim> &p, const U &u, R &r) const
    {
      using namespace PointwiseMath;
      r.value[2] =
        (1. + p.boundary_id) * pow(1. + u.value[0] * u.value[0], 0.7);
      for (int d = 0; d < dim; ++d)
        r.value[0] += p.normal[d] * u.gradient[1][d] * p.penalty;
    }
  };
} // namespace Functors

#endif
