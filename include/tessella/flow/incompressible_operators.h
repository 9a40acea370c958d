// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_flow_incompressible_operators_h
#define tessella_flow_incompressible_operators_h

#include <tessella/flow/flow_terms.h>

#include <type_traits>

// Operators of the incompressible Navier-Stokes equations as functors of
// PointwiseOperator, for host and device. On facets, 0 and 1 are the two sides,
// n is the normal from side 0 to side 1, {p} = (p0 + p1) / 2, and v, q are test
// functions of velocity and pressure.

namespace Tessella
{
  namespace Flow
  {
    namespace internal
    {
      TESSELLA_HOST_DEVICE inline double
      not_a_number()
      {
        const double zero = 0.;
        return zero / zero;
      }
    } // namespace internal

    /// Times of up to three past states and their weights.
    struct WeightedTimes
    {
      unsigned int n         = 0;
      double       weight[3] = {0., 0., 0.}, time[3] = {0., 0., 0.};

      /// Sum of weights times the velocities of the data at these times.
      template <int dim, typename Data>
      TESSELLA_HOST_DEVICE void
      velocity(const Data &data, const OperatorPoint<dim> &p, double *g) const
      {
        OperatorPoint<dim> past = p;
        for (int c = 0; c < dim; ++c)
          g[c] = 0.;
        for (unsigned int i = 0; i < n; ++i)
          {
            double h[dim];
            past.t = time[i];
            data.velocity(past, h);
            for (int c = 0; c < dim; ++c)
              g[c] += weight[i] * h[c];
          }
      }
    };



    /**
     * Convection N(u) = div(u (x) u) in conservative form,
     *   (v, N(u)) = - int grad v : (u (x) u) + sum over facets of int [v] . F,
     *   F = {u (u . n)} + Lambda / 2 (u0 - u1),
     *   Lambda = zeta max(|u0 . n|, |u1 . n|).
     * With zeta = 2, Lambda is the largest eigenvalue of the flux u (x) u, and
     * F the local Lax-Friedrichs flux; zeta = 1 has the speed of the transport
     * alone and is less dissipative. If @p given_velocity is set, the operator
     * is the linear one, div(w (x) u), with a second field w and Lambda = max
     * |w . n|.
     *
     * <b>Boundary.</b> Velocity: u1 = g; in the linear operator w1 = g, and u1
     * is a sum of g at other times, see WeightedTimes, to which a third field
     * is added if @p boundary_field is set. Symmetry: u1 is u0 with its
     * normal component reversed.
     * Outflow: F = (w . n) u - theta / 2 min(w . n, 0) u, so that with theta =
     * 1 flow that comes back brings no energy.
     *
     * The integrals are exact for flat polytopes with a coefficient order of k.
     */
    template <int dim,
              typename Data       = NoFlowData<dim>,
              bool given_velocity = false,
              bool boundary_field = false>
    struct Convection : WeakDerivativeRows, ConditionsAndData<dim, Data>
    {
      static constexpr int n_components = dim;
      using Fields =
        std::conditional_t<boundary_field,
                           FieldComponents<dim, dim, dim>,
                           std::conditional_t<given_velocity,
                                              FieldComponents<dim, dim>,
                                              FieldComponents<dim>>>;
      static_assert(given_velocity || !boundary_field,
                    "Boundary fields are for the linear operator.");
      /// First component of the velocity that transports.
      static constexpr int first = given_velocity ? dim : 0;

      double zeta = 1., theta = 1.;
      /// Boundary values of the field that a given velocity transports.
      WeightedTimes times;

      template <typename U, typename R>
      TESSELLA_HOST_DEVICE void
      volume(const OperatorPoint<dim> &, const U &u, R &r) const
      {
        for (int c = 0; c < dim; ++c)
          for (int d = 0; d < dim; ++d)
            r.gradient[c][d] = -(u.value[c] * u.value[first + d]);
      }

      template <typename U, typename R>
      TESSELLA_HOST_DEVICE void
      interior_facet(const OperatorPoint<dim> &p,
                     const U                  &u0,
                     const U                  &u1,
                     R                        &r0,
                     R                        &r1) const
      {
        flux(u0.value,
             u1.value,
             normal_component<dim>(u0.value + first, p.normal),
             normal_component<dim>(u1.value + first, p.normal),
             r0.value);
        for (int c = 0; c < dim; ++c)
          r1.value[c] = -r0.value[c];
      }

      template <typename U, typename R>
      TESSELLA_HOST_DEVICE void
      boundary_facet(const OperatorPoint<dim> &p, const U &u, R &r) const
      {
        using namespace PointwiseMath;
        using Number                = std::decay_t<decltype(u.value[0])>;
        const auto        &boundary = this->boundary;
        const unsigned int i        = boundary.find(p.boundary_id);
        const Number normal = normal_component<dim>(u.value + first, p.normal);
        if (i == boundary.n_conditions)
          for (int c = 0; c < dim; ++c)
            r.value[c] = u.value[c] * internal::not_a_number();
        else if (boundary.type[i] == IncompressibleCondition::outflow)
          {
            const Number speed =
              normal - (0.5 * theta) * minimum(normal, Number(0.));
            for (int c = 0; c < dim; ++c)
              r.value[c] = speed * u.value[c];
          }
        else
          {
            Number outside[dim], outside_normal;
            if (boundary.type[i] == IncompressibleCondition::symmetry)
              {
                const Number own = normal_component<dim>(u.value, p.normal);
                for (int c = 0; c < dim; ++c)
                  outside[c] = u.value[c] - (2. * p.normal[c]) * own;
                outside_normal = -normal;
              }
            else
              {
                double g[dim];
                this->data.velocity(p, g);
                outside_normal = normal_component<dim>(g, p.normal);
                if (given_velocity)
                  times.velocity(this->data, p, g);
                for (int c = 0; c < dim; ++c)
                  outside[c] = g[c];
                if constexpr (boundary_field)
                  for (int c = 0; c < dim; ++c)
                    outside[c] += u.value[first + dim + c];
              }
            flux(u.value, outside, normal, outside_normal, r.value);
          }
      }

      template <typename Number>
      TESSELLA_HOST_DEVICE void
      flux(const Number *u0,
           const Number *u1,
           const Number &normal0,
           const Number &normal1,
           Number       *result) const
      {
        using namespace PointwiseMath;
        const Number lambda =
          (given_velocity ? 1. : zeta) *
          maximum(Number(fabs(normal0)), Number(fabs(normal1)));
        for (int c = 0; c < dim; ++c)
          result[c] = 0.5 * (u0[c] * normal0 + u1[c] * normal1 +
                             lambda * (u0[c] - u1[c]));
      }
    };



    /// Right-hand side int v . (w . grad) u of the projection of a derivative
    /// along a velocity: the fields are u, with n components, and w.
    template <int dim, int n = dim>
    struct DerivativeAlong
    {
      static constexpr int n_components           = n;
      using Fields                                = FieldComponents<n, dim>;
      static constexpr unsigned int volume_input  = PointwiseRows::all,
                                    volume_output = PointwiseRows::values;

      template <typename U, typename R>
      TESSELLA_HOST_DEVICE void
      volume(const OperatorPoint<dim> &, const U &u, R &r) const
      {
        for (int c = 0; c < n; ++c)
          {
            r.value[c] = u.value[n] * u.gradient[c][0];
            for (int d = 1; d < dim; ++d)
              r.value[c] += u.value[n + d] * u.gradient[c][d];
          }
      }
    };



    /// Pressure on outflow parts of a step: p(t), or p(t) - p(old_time) if
    /// @p increment is set.
    template <int dim, typename Data>
    struct OutflowPressure
    {
      bool   increment = false;
      double old_time  = 0.;

      TESSELLA_HOST_DEVICE double
      operator()(const Data &data, const OperatorPoint<dim> &p) const
      {
        if (!increment)
          return data.pressure(p);
        OperatorPoint<dim> old = p;
        old.t                  = old_time;
        return data.pressure(p) - data.pressure(old);
      }
    };

    /**
     * Pressure gradient in weak form, with the fields velocity and pressure and
     * the test functions of the velocity:
     *   (v, G p) = - int p div v + sum over facets of int [v . n] {p}.
     * {p} is p on velocity and symmetry parts, and the given pressure on
     * outflow parts.
     */
    template <int dim, typename Data = NoFlowData<dim>>
    struct PressureGradient : WeakDerivativeRows, ConditionsAndData<dim, Data>
    {
      static constexpr int n_components = dim;
      using Fields                      = FieldComponents<dim, 1>;

      OutflowPressure<dim, Data> outflow;

      template <typename U, typename R>
      TESSELLA_HOST_DEVICE void
      volume(const OperatorPoint<dim> &, const U &u, R &r) const
      {
        for (int c = 0; c < dim; ++c)
          r.gradient[c][c] = -u.value[dim];
      }

      template <typename U, typename R>
      TESSELLA_HOST_DEVICE void
      interior_facet(const OperatorPoint<dim> &p,
                     const U                  &u0,
                     const U                  &u1,
                     R                        &r0,
                     R                        &r1) const
      {
        const auto mean = 0.5 * (u0.value[dim] + u1.value[dim]);
        for (int c = 0; c < dim; ++c)
          {
            r0.value[c] = p.normal[c] * mean;
            r1.value[c] = -r0.value[c];
          }
      }

      template <typename U, typename R>
      TESSELLA_HOST_DEVICE void
      boundary_facet(const OperatorPoint<dim> &p, const U &u, R &r) const
      {
        const bool   given = this->is_outflow(p);
        const double g     = given ? outflow(this->data, p) : 0.;
        for (int c = 0; c < dim; ++c)
          if (given)
            r.value[c] = p.normal[c] * g;
          else
            r.value[c] = p.normal[c] * u.value[dim];
      }
    };



    /// Normal velocity of VelocityDivergence on velocity parts of the boundary.
    enum class BoundaryVelocity
    {
      given, ///< that of the data
      none   ///< zero; another operator has the term
    };

    /**
     * Divergence, with the fields pressure and velocity and the test functions
     * of the pressure:
     *   (q, D u) = int q div u + sum over facets of
     *     int {q} (u1 - u0) . n (n from side 0 to side 1) inside,
     *     int q (g - u) . n on velocity parts,
     *   - int q u . n on symmetry parts, nothing on outflow parts.
     * It is the weak form - int grad q . u + sum int [q] {u} . n, integrated by
     * parts once, and equals that where quadrature is exact. In this form D is
     * the negative transpose of PressureGradient for homogeneous data with
     * every quadrature, since both have the same products at each point.
     */
    template <int dim, typename Data = NoFlowData<dim>>
    struct VelocityDivergence : ConditionsAndData<dim, Data>
    {
      static constexpr int n_components           = 1;
      using Fields                                = FieldComponents<1, dim>;
      static constexpr unsigned int volume_input  = PointwiseRows::gradients,
                                    volume_output = PointwiseRows::values,
                                    facet_input   = PointwiseRows::values,
                                    facet_output  = PointwiseRows::values;

      BoundaryVelocity boundary_velocity = BoundaryVelocity::given;

      template <typename U, typename R>
      TESSELLA_HOST_DEVICE void
      volume(const OperatorPoint<dim> &, const U &u, R &r) const
      {
        r.value[0] = u.gradient[1][0];
        for (int d = 1; d < dim; ++d)
          r.value[0] += u.gradient[1 + d][d];
      }

      template <typename U, typename R>
      TESSELLA_HOST_DEVICE void
      interior_facet(const OperatorPoint<dim> &p,
                     const U                  &u0,
                     const U                  &u1,
                     R                        &r0,
                     R                        &r1) const
      {
        r0.value[0] = 0.5 * (normal_component<dim>(u1.value + 1, p.normal) -
                             normal_component<dim>(u0.value + 1, p.normal));
        r1.value[0] = r0.value[0];
      }

      template <typename U, typename R>
      TESSELLA_HOST_DEVICE void
      boundary_facet(const OperatorPoint<dim> &p, const U &u, R &r) const
      {
        if (this->is_outflow(p))
          return;
        r.value[0] = -normal_component<dim>(u.value + 1, p.normal);
        if (boundary_velocity == BoundaryVelocity::given &&
            this->is_velocity(p))
          r.value[0] += this->normal_velocity(p);
      }
    };



    /**
     * Mass matrix with the penalties of divergence and of discontinuous normal
     * velocities,
     *   int u . v + int div u tau_D div v
     *     + sum over facets of int tau_C [u . n] [v . n].
     * The fields are u, a velocity w for tau_C = continuity_factor |w|, w being
     * {w} on the facet, and a field of degree 0 with tau_D. The operator is
     * symmetric and positive definite in u.
     */
    template <int dim>
    struct DivergencePenalty
    {
      static constexpr int n_components          = dim;
      using Fields                               = FieldComponents<dim, dim, 1>;
      static constexpr unsigned int volume_input = PointwiseRows::all,
                                    volume_output = PointwiseRows::all,
                                    facet_input   = PointwiseRows::values,
                                    facet_output  = PointwiseRows::values;

      double mass = 1., continuity_factor = 1.;

      template <typename U, typename R>
      TESSELLA_HOST_DEVICE void
      volume(const OperatorPoint<dim> &, const U &u, R &r) const
      {
        auto divergence = u.gradient[0][0];
        for (int d = 1; d < dim; ++d)
          divergence += u.gradient[d][d];
        for (int c = 0; c < dim; ++c)
          {
            r.value[c]       = mass * u.value[c];
            r.gradient[c][c] = u.value[2 * dim] * divergence;
          }
      }

      template <typename U, typename R>
      TESSELLA_HOST_DEVICE void
      interior_facet(const OperatorPoint<dim> &p,
                     const U                  &u0,
                     const U                  &u1,
                     R                        &r0,
                     R                        &r1) const
      {
        using namespace PointwiseMath;
        using Number = std::decay_t<decltype(u0.value[0])>;
        // Not zero, since the derivative of the root is finite then, also where
        // the fluid is at rest.
        Number square = Number(1e-100);
        for (int d = 0; d < dim; ++d)
          {
            const Number w = 0.5 * (u0.value[dim + d] + u1.value[dim + d]);
            square += w * w;
          }
        const Number jump = continuity_factor * sqrt(square) *
                            (normal_component<dim>(u0.value, p.normal) -
                             normal_component<dim>(u1.value, p.normal));
        for (int c = 0; c < dim; ++c)
          {
            r0.value[c] = p.normal[c] * jump;
            r1.value[c] = -r0.value[c];
          }
      }
    };



    /**
     * Boundary data of viscosity times the interior penalty method for
     * -Laplace(u): with the velocity as the only field,
     *   on velocity parts int nu (sigma g . v - g . dv/dn),
     *   on outflow parts  int nu du/dn . v.
     * sigma is the penalty constant times OperatorPoint::penalty. Symmetry
     * parts have no data.
     */
    template <int dim, typename Data = NoFlowData<dim>>
    struct ViscousBoundaryData : ConditionsAndData<dim, Data>
    {
      static constexpr int n_components          = dim;
      using Fields                               = FieldComponents<dim>;
      static constexpr unsigned int facet_input  = PointwiseRows::none,
                                    facet_output = PointwiseRows::all;

      double viscosity = 1., penalty_constant = 2.5;

      template <typename U, typename R>
      TESSELLA_HOST_DEVICE void
      boundary_facet(const OperatorPoint<dim> &p, const U &, R &r) const
      {
        double g[dim];
        if (this->is_velocity(p))
          {
            this->data.velocity(p, g);
            for (int c = 0; c < dim; ++c)
              {
                r.value[c] = viscosity * penalty_constant * p.penalty * g[c];
                for (int d = 0; d < dim; ++d)
                  r.gradient[c][d] = -viscosity * g[c] * p.normal[d];
              }
          }
        else if (this->is_outflow(p))
          {
            this->data.normal_derivative(p, g);
            for (int c = 0; c < dim; ++c)
              r.value[c] = viscosity * g[c];
          }
      }
    };

    /// Data of the interior penalty method for -Laplace(p) on outflow parts,
    /// int p_data (sigma q - dq/dn); the pressure is the only field.
    template <int dim, typename Data = NoFlowData<dim>>
    struct PressureBoundaryData : ConditionsAndData<dim, Data>
    {
      static constexpr int n_components          = 1;
      using Fields                               = FieldComponents<1>;
      static constexpr unsigned int facet_input  = PointwiseRows::none,
                                    facet_output = PointwiseRows::all;

      OutflowPressure<dim, Data> outflow;
      double                     penalty_constant = 2.5;

      template <typename U, typename R>
      TESSELLA_HOST_DEVICE void
      boundary_facet(const OperatorPoint<dim> &p, const U &, R &r) const
      {
        if (!this->is_outflow(p))
          return;
        const double g = outflow(this->data, p);
        r.value[0]     = penalty_constant * p.penalty * g;
        for (int d = 0; d < dim; ++d)
          r.gradient[0][d] = -g * p.normal[d];
      }
    };



    /// Number of components of the vorticity: 1 in 2-D, 3 in 3-D.
    template <int dim>
    constexpr int n_vorticity = dim == 2 ? 1 : 3;

    /// Right-hand side (w, curl u) of the projection of the vorticity. The
    /// fields are a function of the space of the vorticity, which is not used,
    /// and the velocity.
    template <int dim>
    struct Vorticity
    {
      static constexpr int n_components = n_vorticity<dim>;
      using Fields = FieldComponents<n_vorticity<dim>, dim>;
      static constexpr unsigned int volume_input  = PointwiseRows::gradients,
                                    volume_output = PointwiseRows::values;

      template <typename U, typename R>
      TESSELLA_HOST_DEVICE void
      volume(const OperatorPoint<dim> &, const U &u, R &r) const
      {
        constexpr int f = n_vorticity<dim>;
        if constexpr (dim == 2)
          r.value[0] = u.gradient[f + 1][0] - u.gradient[f][1];
        else
          for (int c = 0; c < 3; ++c)
            {
              const int a = (c + 1) % 3, b = (c + 2) % 3;
              r.value[c] = u.gradient[f + b][a] - u.gradient[f + a][b];
            }
      }
    };

    /**
     * Boundary term of the pressure equation of dual splitting,
     *   A p = -gamma/dt D u^,   dp/dn = -n . (dg/dt + C + nu curl w - f),
     * with the vorticity w and the convection C. On velocity parts D u^ takes
     * the explicit step made of boundary data, gamma g^ = sum alpha_i g^{n-i} -
     * dt C + dt f. In the sum of both, int q (dp/dn - gamma/dt g^ . n), the
     * terms of f and C cancel, and with dg/dt of the same BDF method those of
     * the past g. There remains
     *   - int q (gamma/dt g^{n+1} . n + nu n . curl w),
     * which this functor is; VelocityDivergence must have
     * BoundaryVelocity::none. The fields are the pressure, which is not used,
     * and w. Where C is extrapolated in two ways, ConvectionDifference has the
     * difference.
     */
    template <int dim, typename Data = NoFlowData<dim>>
    struct PressureNeumannData : ConditionsAndData<dim, Data>
    {
      static constexpr int n_components = 1;
      using Fields                      = FieldComponents<1, n_vorticity<dim>>;
      static constexpr unsigned int facet_input  = PointwiseRows::gradients,
                                    facet_output = PointwiseRows::values;

      double viscosity = 1., gamma_over_dt = 1.;

      template <typename U, typename R>
      TESSELLA_HOST_DEVICE void
      boundary_facet(const OperatorPoint<dim> &p, const U &u, R &r) const
      {
        if (!this->is_velocity(p))
          return;
        using Number = std::decay_t<decltype(u.value[0])>;
        Number curl  = Number(0.);
        if constexpr (dim == 2)
          curl =
            p.normal[0] * u.gradient[1][1] - p.normal[1] * u.gradient[1][0];
        else
          for (int c = 0; c < 3; ++c)
            {
              const int a = (c + 1) % 3, b = (c + 2) % 3;
              curl +=
                p.normal[c] * (u.gradient[1 + b][a] - u.gradient[1 + a][b]);
            }
        r.value[0] =
          -(gamma_over_dt * this->normal_velocity(p)) - viscosity * curl;
      }
    };

    /// Term int q n . sum_i weight_i div(u_i (x) u_i) on velocity parts: the
    /// difference of two extrapolations of the convection from up to three past
    /// velocities. The fields are the pressure, which is not used, and these.
    template <int dim>
    struct ConvectionDifference
    {
      static constexpr int n_components = 1;
      using Fields                      = FieldComponents<1, dim, dim, dim>;
      static constexpr unsigned int facet_input  = PointwiseRows::all,
                                    facet_output = PointwiseRows::values;

      IncompressibleConditions boundary;
      double                   weight[3] = {0., 0., 0.};

      template <typename U, typename R>
      TESSELLA_HOST_DEVICE void
      boundary_facet(const OperatorPoint<dim> &p, const U &u, R &r) const
      {
        using Number = std::decay_t<decltype(u.value[0])>;
        if (!boundary.is(p.boundary_id, IncompressibleCondition::velocity))
          return;
        Number sum = Number(0.);
        for (int i = 0; i < 3; ++i)
          {
            const int f          = 1 + i * dim;
            Number    divergence = u.gradient[f][0];
            for (int d = 1; d < dim; ++d)
              divergence += u.gradient[f + d][d];
            for (int c = 0; c < dim; ++c)
              {
                Number convection = u.value[f + c] * divergence;
                for (int d = 0; d < dim; ++d)
                  convection += u.value[f + d] * u.gradient[f + c][d];
                sum += (weight[i] * p.normal[c]) * convection;
              }
          }
        r.value[0] = sum;
      }
    };



    /// Right-hand side int f . v; the velocity is the only field.
    template <int dim, typename Data = NoFlowData<dim>>
    struct Force
    {
      static constexpr int n_components           = dim;
      using Fields                                = FieldComponents<dim>;
      static constexpr unsigned int volume_input  = PointwiseRows::none,
                                    volume_output = PointwiseRows::values;

      Data data;

      template <typename U, typename R>
      TESSELLA_HOST_DEVICE void
      volume(const OperatorPoint<dim> &p, const U &, R &r) const
      {
        double f[dim];
        data.force(p, f);
        for (int c = 0; c < dim; ++c)
          r.value[c] = f[c];
      }
    };

    /// Integrals of |u|: right-hand side of its projection to the space of the
    /// first field, which is not used; the second field is u.
    template <int dim>
    struct Speed : VolumeValueRows
    {
      static constexpr int n_components = 1;
      using Fields                      = FieldComponents<1, dim>;

      template <typename U, typename R>
      TESSELLA_HOST_DEVICE void
      volume(const OperatorPoint<dim> &, const U &u, R &r) const
      {
        using namespace PointwiseMath;
        auto square = u.value[1] * u.value[1];
        for (int d = 1; d < dim; ++d)
          square += u.value[1 + d] * u.value[1 + d];
        r.value[0] = sqrt(square);
      }
    };

    /// int |g| q, or int |g|^2 q, over velocity parts of the boundary, with
    /// test functions q of degree 0 and a field of the same space.
    template <int dim, typename Data = NoFlowData<dim>>
    struct DataSpeed : ConditionsAndData<dim, Data>
    {
      static constexpr int n_components          = 1;
      using Fields                               = FieldComponents<1>;
      static constexpr unsigned int facet_input  = PointwiseRows::none,
                                    facet_output = PointwiseRows::values;

      bool squared = false;

      template <typename U, typename R>
      TESSELLA_HOST_DEVICE void
      boundary_facet(const OperatorPoint<dim> &p, const U &, R &r) const
      {
        if (!this->is_velocity(p))
          return;
        using namespace PointwiseMath;
        double g[dim], square = 0.;
        this->data.velocity(p, g);
        for (int d = 0; d < dim; ++d)
          square += g[d] * g[d];
        r.value[0] = squared ? square : sqrt(square);
      }
    };

    /// For PointwiseOperator::integrate_boundary(): int g . n over velocity
    /// parts, with the pressure as the only field.
    template <int dim, typename Data = NoFlowData<dim>>
    struct DataFlux : ConditionsAndData<dim, Data>
    {
      static constexpr int n_components          = 1;
      using Fields                               = FieldComponents<1>;
      static constexpr unsigned int facet_input  = PointwiseRows::none,
                                    facet_output = PointwiseRows::values;

      bool modulus = false;

      template <typename U, typename R>
      TESSELLA_HOST_DEVICE void
      boundary_facet(const OperatorPoint<dim> &p, const U &, R &r) const
      {
        if (!this->is_velocity(p))
          return;
        const double flux = this->normal_velocity(p);
        r.value[0]        = modulus && flux < 0. ? -flux : flux;
      }
    };

    /**
     * For PointwiseOperator::integrate_boundary(): force of the flow on the
     * part of the boundary with an id. The fields are velocity and pressure, n
     * points out of the fluid.
     * - Direct: int p n - nu (grad u + grad u^T) n.
     * - Consistent: what the discrete equations lose through this part when
     * they are tested with a constant, which converges twice as fast on flat
     *   boundaries:
     *   int p n - nu grad u n + nu sigma (u - g) + F, with the flux F of
     *   Convection.
     */
    template <int dim, typename Data = NoFlowData<dim>>
    struct BoundaryForce
    {
      static constexpr int n_components          = dim;
      using Fields                               = FieldComponents<dim, 1>;
      static constexpr unsigned int facet_input  = PointwiseRows::all,
                                    facet_output = PointwiseRows::values;

      /// Convection, conditions and data.
      Convection<dim, Data> convection;
      double                viscosity = 1., penalty_constant = 2.5;
      bool                  consistent = false;

      template <typename U, typename R>
      TESSELLA_HOST_DEVICE void
      boundary_facet(const OperatorPoint<dim> &p, const U &u, R &r) const
      {
        double     g[dim];
        const bool given = convection.is_velocity(p);
        if (consistent)
          {
            convection.boundary_facet(p, u, r);
            if (given)
              convection.data.velocity(p, g);
          }
        for (int c = 0; c < dim; ++c)
          {
            auto stress = p.normal[0] * u.gradient[c][0];
            for (int d = 1; d < dim; ++d)
              stress += p.normal[d] * u.gradient[c][d];
            if (!consistent)
              for (int d = 0; d < dim; ++d)
                stress += p.normal[d] * u.gradient[d][c];
            else if (given)
              stress -= penalty_constant * p.penalty * (u.value[c] - g[c]);
            r.value[c] += p.normal[c] * u.value[dim] - viscosity * stress;
          }
      }
    };

    /// For PointwiseOperator::integrate_volume(): |u|^2 / 2 and |curl u|^2 / 2;
    /// the velocity is the only field.
    template <int dim>
    struct EnergyAndEnstrophy
    {
      static constexpr int n_components           = dim;
      using Fields                                = FieldComponents<dim>;
      static constexpr unsigned int volume_input  = PointwiseRows::all,
                                    volume_output = PointwiseRows::values;

      template <typename U, typename R>
      TESSELLA_HOST_DEVICE void
      volume(const OperatorPoint<dim> &, const U &u, R &r) const
      {
        for (int c = 0; c < dim; ++c)
          r.value[0] += 0.5 * u.value[c] * u.value[c];
        for (int c = 0; c < n_vorticity<dim>; ++c)
          {
            const int a     = dim == 2 ? 0 : (c + 1) % 3,
                      b     = dim == 2 ? 1 : (c + 2) % 3;
            const auto curl = u.gradient[b][a] - u.gradient[a][b];
            r.value[1] += 0.5 * curl * curl;
          }
      }
    };
  } // namespace Flow
} // namespace Tessella

#endif
