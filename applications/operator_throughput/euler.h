// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_operator_throughput_euler_h
#define tessella_applications_operator_throughput_euler_h

#include <tessella/forms/functor_integrand.h>

#include <memory>
#include <type_traits>

/**
 * Spatial part of the Euler equations of an ideal gas,
 *   div F(U) = 0,  U = (density, momentum, total energy),
 * with the numerical flux HLLC of Toro, Spruce and Speares (Shock Waves 4,
 * 1994) and the wave speeds of Davis; the state outside of the domain is given.
 */
template <int dim>
struct Euler
{
  static constexpr int m                     = dim + 2;
  using Fields                               = Tessella::FieldComponents<m>;
  static constexpr int          n_components = m;
  static constexpr unsigned int volume_input = Tessella::PointwiseRows::values,
                                volume_output =
                                  Tessella::PointwiseRows::gradients,
                                facet_input  = Tessella::PointwiseRows::values,
                                facet_output = Tessella::PointwiseRows::values;

  double gamma = 1.4;
  double outside[dim + 2]; ///< state outside of the domain

  /// Normal velocity and pressure of a state.
  template <typename Number>
  TESSELLA_HOST_DEVICE void
  primitive(const Number (&u)[m],
            const double (&n)[dim],
            Number &inverse_density,
            Number &velocity,
            Number &pressure) const
  {
    inverse_density = 1. / u[0];
    Number momentum = u[1] * n[0], square = u[1] * u[1];
    for (int d = 1; d < dim; ++d)
      {
        momentum += u[1 + d] * n[d];
        square += u[1 + d] * u[1 + d];
      }
    velocity = momentum * inverse_density;
    pressure = (gamma - 1.) * (u[dim + 1] - 0.5 * (square * inverse_density));
  }

  template <typename Number>
  TESSELLA_HOST_DEVICE void
  hllc(const Number (&u0)[m],
       const Number (&u1)[m],
       const double (&n)[dim],
       Number (&flux)[m]) const
  {
    using namespace Tessella::PointwiseMath;
    Number r0, v0, p0, r1, v1, p1;
    primitive(u0, n, r0, v0, p0);
    primitive(u1, n, r1, v1, p1);
    const Number a0 = sqrt(gamma * (p0 * r0)), a1 = sqrt(gamma * (p1 * r1)),
                 s0 = minimum(v0 - a0, v1 - a1), s1 = maximum(v0 + a0, v1 + a1),
                 m0 = u0[0] * (s0 - v0), m1 = u1[0] * (s1 - v1),
                 s = (p1 - p0 + m0 * v0 - m1 * v1) / (m0 - m1);
    // The flux of the side from which information comes.
    const bool   left = s >= 0.;
    const Number sk = left ? s0 : s1, vk = left ? v0 : v1, pk = left ? p0 : p1,
                 rk       = left ? r0 : r1;
    const bool supersonic = left ? s0 >= 0. : s1 <= 0.;
    Number     u[m];
    for (int c = 0; c < m; ++c)
      u[c] = left ? u0[c] : u1[c];
    flux[0] = u[0] * vk;
    for (int d = 0; d < dim; ++d)
      flux[1 + d] = u[1 + d] * vk + pk * n[d];
    flux[dim + 1] = (u[dim + 1] + pk) * vk;
    if (!supersonic)
      {
        const Number factor = (sk - vk) / (sk - s), jump = s - vk;
        const Number density = factor * u[0];
        flux[0] += sk * (density - u[0]);
        for (int d = 0; d < dim; ++d)
          flux[1 + d] +=
            sk * (factor * u[1 + d] + density * jump * n[d] - u[1 + d]);
        const Number star =
          factor * (u[dim + 1] + jump * (u[0] * s + pk / (sk - vk)));
        flux[dim + 1] += sk * (star - u[dim + 1]);
        (void)rk;
      }
  }

  template <typename U, typename R>
  TESSELLA_HOST_DEVICE void
  volume(const Tessella::OperatorPoint<dim> &, const U &u, R &r) const
  {
    using Number         = std::decay_t<decltype(u.value[0])>;
    const Number inverse = 1. / u.value[0];
    Number       square  = u.value[1] * u.value[1];
    for (int d = 1; d < dim; ++d)
      square += u.value[1 + d] * u.value[1 + d];
    const Number pressure =
                   (gamma - 1.) * (u.value[dim + 1] - 0.5 * (square * inverse)),
                 total = (u.value[dim + 1] + pressure) * inverse;
    for (int d = 0; d < dim; ++d)
      {
        const Number momentum = u.value[1 + d], velocity = momentum * inverse;
        r.gradient[0][d] = -momentum;
        for (int e = 0; e < dim; ++e)
          r.gradient[1 + e][d] = -(u.value[1 + e] * velocity);
        r.gradient[1 + d][d] -= pressure;
        r.gradient[dim + 1][d] = -(momentum * total);
      }
  }

  template <typename U, typename R>
  TESSELLA_HOST_DEVICE void
  interior_facet(const Tessella::OperatorPoint<dim> &p,
                 const U                            &u0,
                 const U                            &u1,
                 R                                  &r0,
                 R                                  &r1) const
  {
    using Number = std::decay_t<decltype(u0.value[0])>;
    Number flux[m];
    hllc(u0.value, u1.value, p.normal, flux);
    for (int c = 0; c < m; ++c)
      {
        r0.value[c] = flux[c];
        r1.value[c] = -flux[c];
      }
  }

  template <typename U, typename R>
  TESSELLA_HOST_DEVICE void
  boundary_facet(const Tessella::OperatorPoint<dim> &p, const U &u, R &r) const
  {
    using Number = std::decay_t<decltype(u.value[0])>;
    Number other[m], flux[m];
    for (int c = 0; c < m; ++c)
      other[c] = outside[c];
    hllc(u.value, other, p.normal, flux);
    for (int c = 0; c < m; ++c)
      r.value[c] = flux[c];
  }
};

/// The Euler equations for the host and, compiled by nvcc, for a device.
template <int dim>
std::unique_ptr<Tessella::PointwiseIntegrand<dim>>
make_euler(const Euler<dim> &euler);

#endif
