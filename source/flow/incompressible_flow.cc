// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/exceptions.h>
#include <deal.II/base/function.h>
#include <deal.II/base/mpi.h>
#include <deal.II/base/timer.h>

#include <tessella/flow/incompressible_flow.h>
#include <tessella/numerics/vector_tools.h>
#include <tessella/operators/polytopewise_operator.h>
#include <tessella/time_stepping/bdf.h>
#include <tessella/time_stepping/cfl.h>
#include <tessella/time_stepping/explicit_runge_kutta.h>
#include <tessella/time_stepping/time_history.h>
#include <tessella/time_stepping/time_state.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "incompressible_solvers.h"

namespace Tessella
{
  namespace Flow
  {
    using namespace dealii;
    using internal::FlowVector;

    namespace
    {
      template <int dim>
      using Data = FlowFunctionData<dim>;

      std::string
      value_text(const double value)
      {
        std::ostringstream text;
        text << value;
        return text.str();
      }

      /// Largest |u| at the quadrature points of a polytope.
      struct LargestSpeed
      {
        static constexpr bool point_values = true;

        template <int dim>
        double
        operator()(const PolytopeStencil<dim> &s, double *) const
        {
          double largest = 0.;
          for (unsigned int q = 0; q < s.n_points; ++q)
            {
              double square = 0.;
              for (int c = 0; c < dim; ++c)
                square += s.value(q, c) * s.value(q, c);
              largest = std::max(largest, square);
            }
          return std::sqrt(largest);
        }
      };

      /// Integrals of |n_c| over parts of the boundary.
      template <int dim>
      struct NormalComponents
      {
        static constexpr int n_components          = dim;
        using Fields                               = FieldComponents<dim>;
        static constexpr unsigned int facet_input  = PointwiseRows::none,
                                      facet_output = PointwiseRows::values;
        template <typename U, typename R>
        void
        boundary_facet(const OperatorPoint<dim> &p, const U &, R &r) const
        {
          for (int c = 0; c < dim; ++c)
            r.value[c] = std::abs(p.normal[c]);
        }
      };

      void
      check_parameters(const IncompressibleParameters &p)
      {
        const auto check = [](const bool good, const std::string &text) {
          AssertThrow(good, ExcMessage(text));
        };
        check(p.viscosity > 0. && std::isfinite(p.viscosity),
              "The viscosity is " + value_text(p.viscosity) +
                ", but must be positive.");
        check(p.degree >= 1 && p.pressure_degree >= 1 &&
                (p.pressure_degree == p.degree ||
                 p.pressure_degree + 1 == p.degree),
              "The pressure has degree " + std::to_string(p.pressure_degree) +
                " and the velocity degree " + std::to_string(p.degree) +
                ": the degree of the pressure must be that of the velocity or "
                "lower by one, and at least 1.");
        const bool         dual = p.method == SplittingMethod::dual_splitting;
        const unsigned int largest = dual ? 3 : 2;
        check(p.order >= 1 && p.order <= largest,
              std::string(dual ? "Dual splitting" : "Pressure correction") +
                " has no order " + std::to_string(p.order) +
                ": choose an order from 1 to " + std::to_string(largest) + ".");
        check(p.tolerance > 0. && p.tolerance < 1.,
              "The tolerance of the solvers is " + value_text(p.tolerance) +
                ", but must be between 0 and 1.");
        check(p.divergence_factor >= 0. && p.continuity_factor >= 0. &&
                p.zeta >= 0.,
              "The factors of penalties and of the convective flux must not be "
              "negative.");
      }

      /// Weights at time @p t of the values at times @p nodes.
      std::vector<double>
      lagrange_weights(const std::vector<double> &nodes, const double t)
      {
        std::vector<double> result(nodes.size(), 1.);
        for (unsigned int i = 0; i < nodes.size(); ++i)
          for (unsigned int j = 0; j < nodes.size(); ++j)
            if (i != j)
              result[i] *= (t - nodes[j]) / (nodes[i] - nodes[j]);
        return result;
      }

      /// Weights of the derivative at nodes[k] of the polynomial through the
      /// values at times @p nodes.
      std::vector<double>
      derivative_weights(const std::vector<double> &nodes, const unsigned int k)
      {
        std::vector<double> result(nodes.size(), 0.);
        for (unsigned int i = 0; i < nodes.size(); ++i)
          if (i != k)
            {
              result[i] = 1. / (nodes[i] - nodes[k]);
              for (unsigned int j = 0; j < nodes.size(); ++j)
                if (j != i && j != k)
                  result[i] *= (nodes[k] - nodes[j]) / (nodes[i] - nodes[j]);
              result[k] -= result[i];
            }
        return result;
      }
    } // namespace



    template <int dim>
    struct IncompressibleFlow<dim>::Implementation
    {
      Implementation(const Triangulation<dim>           &triangulation,
                     const Mapping<dim>                 *mapping,
                     const Agglomeration::Strategy<dim> &strategy,
                     const FlowFunctions<dim>           &functions,
                     const IncompressibleParameters     &given);

      // ---- stages of a step
      struct Step
      {
        double                          dt, begin, end, gamma_over_dt;
        unsigned int                    order;
        std::vector<double>             lengths;
        BDFCoefficients                 bdf;
        std::vector<const VectorType *> past; ///< u^n, u^{n-1}, ..
      };
      Step
      make_step(const double dt) const;
      void
      compute_convection(const double      t,
                         const VectorType &u,
                         VectorType       &result);
      /// sum alpha_i u^{n-i} / gamma and what is explicit, as a velocity.
      void
      explicit_velocity(const Step &s, VectorType &result);
      /// sum alpha_i u~^{n-i}, transported to the end of the step.
      void
      transport(const Step &s, VectorType &result);
      /// Derivatives in time of the fields u~^{n-i} at t^{n-i}, at fixed
      /// points: of orders 1 to s.order - 1, for each i, without boundary
      /// values.
      std::vector<std::vector<VectorType>>
      transport_derivatives(const Step &s, const std::vector<double> &nodes);
      void
      add_force(const double t, const double factor, VectorType &rhs);
      /// Adds to a first guess what the stages after the viscous solve changed
      /// in the last step, times a factor and the ratio of the steps. Without
      /// it a steady flow would need iterations in every step.
      void
      add_last_change(const Step  &s,
                      const double factor,
                      VectorType  &guess) const;
      void
      solve_velocity(const Step &s, VectorType &rhs, VectorType &u);
      /// Subtracts dt / gamma M^{-1} G p.
      void
      project(const Step       &s,
              const VectorType &p,
              const bool        increment,
              VectorType       &u);
      void
      dual_splitting_step(const Step &s, VectorType &u, VectorType &p);
      void
      pressure_correction_step(const Step &s, VectorType &u, VectorType &p);
      void
      add_neumann_data(const Step &s, VectorType &rhs);
      void
      add_outflow_pressure(const Step &s,
                           const bool  increment,
                           VectorType &rhs);
      void
      penalty_step(const Step &s, VectorType &u);
      void
      vorticity(const VectorType &u, VectorType &result);

      // ---- checks
      void
      check_boundary_ids();
      std::vector<unsigned int>
      symmetry_axes();
      void
      check_net_flux(const double t);
      /// Raises speeds of polytopes to those of the boundary velocity, int
      /// |g|^2 / int |g|.
      void
      add_boundary_speeds(std::vector<double> &speeds);
      std::string
      description() const;

      template <typename F>
      void
      residual(PointwiseOperator<dim>                &op,
               FunctorIntegrand<dim, F>              &integrand,
               const double                           t,
               const std::vector<const VectorType *> &fields,
               VectorType                            &result)
      {
        integrand.set_time(t);
        op.residual(integrand, fields, result);
      }
      /// Seconds since the last call.
      double
      lap()
      {
        const double seconds = timer.wall_time();
        timer.restart();
        return seconds;
      }

      const IncompressibleParameters  parameters;
      const FlowFunctions<dim>       &functions;
      const bool                      has_outflow, has_velocity;
      const internal::FlowSpaces<dim> spaces;

      PointwiseOperator<dim> u_op, uu_op, up_op, pu_op, p_op, pw_op, wu_op,
        puuu_op, cu_op, c_op, uuu_op;
      FunctorIntegrand<dim, Convection<dim, Data<dim>>>       convection;
      FunctorIntegrand<dim, Convection<dim, Data<dim>, true>> transported;
      FunctorIntegrand<dim, TransportBoundaryValues<dim, Data<dim>>>
                                                              transport_values;
      FunctorIntegrand<dim, DerivativeAlong<dim>>             derivative_along;
      FunctorIntegrand<dim, PressureGradient<dim, Data<dim>>> gradient;
      FunctorIntegrand<dim, VelocityDivergence<dim, Data<dim>>>  divergence;
      FunctorIntegrand<dim, ViscousBoundaryData<dim, Data<dim>>> viscous_data;
      FunctorIntegrand<dim, PressureBoundaryData<dim, Data<dim>>>
        outflow_pressure;
      FunctorIntegrand<dim, PressureNeumannData<dim, Data<dim>>> neumann_data;
      FunctorIntegrand<dim, ConvectionDifference<dim>> convection_difference;
      FunctorIntegrand<dim, Vorticity<dim>>            curl;
      FunctorIntegrand<dim, Force<dim, Data<dim>>>     force;
      FunctorIntegrand<dim, DataFlux<dim, Data<dim>>>  data_flux;
      FunctorIntegrand<dim, DataSpeed<dim, Data<dim>>> data_speed;

      MassMatrix<dim> velocity_mass, pressure_mass, vorticity_mass;
      std::unique_ptr<internal::PressureSolver<dim>> pressure_solver;
      std::unique_ptr<internal::VelocitySolver<dim>> velocity_solver;
      std::unique_ptr<internal::PenaltySolver<dim>>  penalty_solver;
      std::unique_ptr<CFLSteps<dim>>                 cfl;
      mutable PolytopewiseOperator<dim>              polytopewise;
      LowStorageRungeKutta<VectorType>               runge_kutta;

      double       time    = 0.;
      unsigned int n_steps = 0;
      VectorType   u, p;
      /// Velocity of the last solve with viscosity, for consistent forces: what
      /// follows it in a step changes the jumps to boundary values.
      VectorType viscous_u, next_viscous_u;
      /// Velocities, convections and pressures before the present ones.
      TimeHistory<VectorType> past_u, past_n, past_p;
      /// Convection of u, and vectors of the spaces for intermediate results.
      VectorType present_convection, work_u, work_p, omega, zero_omega;
      IncompressibleReport report;
      Timer                timer;
    };



    namespace
    {
      bool
      has(const IncompressibleConditions &boundary,
          const IncompressibleCondition   type)
      {
        for (unsigned int i = 0; i < boundary.n_conditions; ++i)
          if (boundary.type[i] == type)
            return true;
        return false;
      }

      /// The parameters after a check, for computations on the host.
      IncompressibleParameters
      checked(const IncompressibleParameters &given)
      {
        check_parameters(given);
        AssertThrow(given.assembly.backend != Backend::cuda,
                    ExcMessage("Incompressible flow is computed on the host: "
                               "choose the backend host or automatic."));
        IncompressibleParameters result = given;
        result.assembly.backend         = Backend::host;
        return result;
      }
    } // namespace



    template <int dim>
    IncompressibleFlow<dim>::Implementation::Implementation(
      const Triangulation<dim>           &triangulation,
      const Mapping<dim>                 *mapping,
      const Agglomeration::Strategy<dim> &strategy,
      const FlowFunctions<dim>           &functions,
      const IncompressibleParameters     &given)
      : parameters(checked(given))
      , functions(functions)
      , has_outflow(has(parameters.boundary, IncompressibleCondition::outflow))
      , has_velocity(
          has(parameters.boundary, IncompressibleCondition::velocity))
      , spaces(triangulation, mapping, strategy, parameters)
      , u_op(spaces.velocity, parameters.assembly)
      , uu_op({&spaces.velocity, &spaces.velocity}, 0, parameters.assembly)
      , up_op({&spaces.velocity, &spaces.pressure}, 0, parameters.assembly)
      , pu_op({&spaces.pressure, &spaces.velocity}, 0, parameters.assembly)
      , p_op(spaces.pressure, parameters.assembly)
      , pw_op({&spaces.pressure, &spaces.vorticity()}, 0, parameters.assembly)
      , wu_op({&spaces.vorticity(), &spaces.velocity}, 0, parameters.assembly)
      , puuu_op({&spaces.pressure,
                 &spaces.velocity,
                 &spaces.velocity,
                 &spaces.velocity},
                0,
                parameters.assembly)
      , cu_op({&spaces.constant, &spaces.velocity}, 0, parameters.assembly)
      , c_op(spaces.constant, parameters.assembly)
      , uuu_op({&spaces.velocity, &spaces.velocity, &spaces.velocity},
               0,
               parameters.assembly)
      , velocity_mass(spaces.velocity)
      , pressure_mass(spaces.pressure)
      , vorticity_mass(spaces.vorticity())
      , polytopewise(spaces.velocity)
      , runge_kutta(LowStorageMethod::carpenter_kennedy_4)
      , past_u(std::max(parameters.order, 2U) - 1)
      , past_n(std::max(parameters.order, 2U) - 1)
      , past_p(std::max(parameters.order, 2U) - 1)
    {
      // Every operator has one order of quadrature: on the velocity's space it
      // is exact for the convection, 3 k.
      const unsigned int order = std::max(parameters.degree, 2U);
      const auto         set   = [&](auto &integrand, const unsigned int n) {
        integrand.functor().boundary = parameters.boundary;
        integrand.set_coefficient_order(n);
      };
      const Data<dim> data{&functions};
      const auto set_with_data = [&](auto &integrand, const unsigned int n) {
        set(integrand, n);
        integrand.functor().data = data;
      };
      set_with_data(convection, order);
      set_with_data(transported, order);
      set_with_data(transport_values, order);
      derivative_along.set_coefficient_order(order);
      set_with_data(viscous_data, order);
      set_with_data(gradient, 2);
      set_with_data(divergence, 2);
      set_with_data(outflow_pressure, order);
      set_with_data(data_flux, order);
      set_with_data(data_speed, 2);
      set_with_data(neumann_data, 2);
      set(convection_difference, order);
      force.functor().data = data;
      force.set_coefficient_order(order);
      curl.set_coefficient_order(0);
      convection.functor().zeta  = parameters.zeta;
      convection.functor().theta = transported.functor().theta =
        parameters.theta;
      viscous_data.functor().viscosity = neumann_data.functor().viscosity =
        parameters.viscosity;
      viscous_data.functor().penalty_constant =
        parameters.assembly.penalty.constant;
      outflow_pressure.functor().penalty_constant =
        internal::pressure_penalty_constant(parameters);

      check_boundary_ids();
      pressure_solver =
        std::make_unique<internal::PressureSolver<dim>>(spaces.pressure,
                                                        parameters);
      velocity_solver = std::make_unique<internal::VelocitySolver<dim>>(
        spaces.scalar, spaces.velocity, parameters, symmetry_axes());
      penalty_solver =
        std::make_unique<internal::PenaltySolver<dim>>(spaces.velocity,
                                                       spaces.constant,
                                                       parameters);
      cfl =
        std::make_unique<CFLSteps<dim>>(spaces.velocity,
                                        CFLLength::penalty,
                                        parameters.assembly.penalty.formula);
      u_op.reinit(u);
      p_op.reinit(p);
      for (VectorType *v : {&present_convection, &work_u})
        v->reinit(u);
      work_p.reinit(p);
      wu_op.reinit(omega);
      wu_op.reinit(zero_omega);
    }



    // ---- checks

    template <int dim>
    void
    IncompressibleFlow<dim>::Implementation::check_boundary_ids()
    {
      const IncompressibleConditions &boundary = parameters.boundary;
      VectorType                      zero;
      p_op.reinit(zero);
      const auto of_id =
        p_op.template integrate_boundary<VectorType>(data_flux, {&zero});
      for (const auto &id : of_id)
        AssertThrow(boundary.find(id.first) < boundary.n_conditions,
                    ExcMessage("Boundary id " + std::to_string(id.first) +
                               " has no boundary condition: give one for each "
                               "boundary id of the mesh."));
      for (unsigned int i = 0; i < boundary.n_conditions; ++i)
        {
          AssertThrow(of_id.count(boundary.boundary_id[i]) > 0,
                      ExcMessage("There is a boundary condition for boundary "
                                 "id " +
                                 std::to_string(boundary.boundary_id[i]) +
                                 ", which the mesh does not have."));
          AssertThrow(boundary.find(boundary.boundary_id[i]) == i,
                      ExcMessage("There are two conditions for boundary id " +
                                 std::to_string(boundary.boundary_id[i]) +
                                 "."));
        }
    }



    template <int dim>
    std::vector<unsigned int>
    IncompressibleFlow<dim>::Implementation::symmetry_axes()
    {
      const IncompressibleConditions &boundary = parameters.boundary;
      std::vector<unsigned int>       result(boundary.n_conditions, 0);
      FunctorIntegrand<dim, NormalComponents<dim>> integrand;
      integrand.set_coefficient_order(std::max(parameters.degree, 2U));
      VectorType zero;
      u_op.reinit(zero);
      const auto of_id =
        u_op.template integrate_boundary<VectorType>(integrand, {&zero});
      for (unsigned int i = 0; i < boundary.n_conditions; ++i)
        if (boundary.type[i] == IncompressibleCondition::symmetry)
          {
            const std::vector<double> &n   = of_id.at(boundary.boundary_id[i]);
            double                     sum = 0.;
            for (unsigned int c = 0; c < dim; ++c)
              {
                sum += n[c];
                if (n[c] > n[result[i]])
                  result[i] = c;
              }
            AssertThrow(n[result[i]] > (1. - 1e-10) * sum,
                        ExcMessage("The symmetry part with boundary id " +
                                   std::to_string(boundary.boundary_id[i]) +
                                   " is not normal to an axis."));
          }
      return result;
    }



    template <int dim>
    void
    IncompressibleFlow<dim>::Implementation::check_net_flux(const double t)
    {
      if (has_outflow || !has_velocity)
        return;
      data_flux.set_time(t);
      double sums[2] = {0., 0.};
      for (const bool modulus : {false, true})
        {
          data_flux.functor().modulus = modulus;
          for (const auto &id :
               p_op.template integrate_boundary<VectorType>(data_flux, {&p}))
            sums[modulus] += id.second[0];
        }
      AssertThrow(std::abs(sums[0]) <= 1e-4 * sums[1],
                  ExcMessage(
                    "The flux of the velocity through the boundary of the "
                    "closed domain is " +
                    value_text(sums[0]) + " at time " + value_text(t) +
                    ", but must be zero: change the boundary data, or make a "
                    "part of the boundary an outflow."));
    }



    template <int dim>
    void
    IncompressibleFlow<dim>::Implementation::add_boundary_speeds(
      std::vector<double> &speeds)
    {
      if (!has_velocity)
        return;
      VectorType zero, moments[2];
      c_op.reinit(zero);
      for (const bool squared : {false, true})
        {
          c_op.reinit(moments[squared]);
          data_speed.functor().squared = squared;
          residual(c_op, data_speed, time, {&zero}, moments[squared]);
        }
      for (unsigned int k = 0; k < speeds.size(); ++k)
        if (const double first = *(moments[0].begin() + k); first > 0.)
          speeds[k] = std::max(speeds[k], *(moments[1].begin() + k) / first);
    }



    // ---- stages of a step

    template <int dim>
    typename IncompressibleFlow<dim>::Implementation::Step
    IncompressibleFlow<dim>::Implementation::make_step(const double dt) const
    {
      Step s;
      s.dt    = dt;
      s.begin = time;
      s.end   = time + dt;
      s.order = std::min(parameters.order, past_u.size() + 1);
      s.lengths.assign(1, dt);
      s.past.assign(1, &u);
      for (unsigned int i = 0; i + 1 < s.order; ++i)
        {
          s.lengths.push_back(past_u.step(i));
          s.past.push_back(&past_u.value(i));
        }
      s.bdf           = bdf_coefficients(s.order, s.lengths);
      s.gamma_over_dt = s.bdf.gamma / dt;
      return s;
    }



    template <int dim>
    void
    IncompressibleFlow<dim>::Implementation::compute_convection(
      const double t, const VectorType &velocity, VectorType &result)
    {
      residual(u_op, convection, t, {&velocity}, result);
    }



    template <int dim>
    std::vector<std::vector<HostVector<double>>>
    IncompressibleFlow<dim>::Implementation::transport_derivatives(
      const Step &s, const std::vector<double> &nodes)
    {
      std::vector<std::vector<VectorType>> result(s.order);
      if (!has_velocity)
        return result;
      VectorType term(u);
      const auto add =
        [&](const VectorType &v, const VectorType &w, VectorType &sum) {
          residual(uu_op, derivative_along, s.begin, {&v, &w}, term);
          velocity_mass.apply_inverse(-1., term);
          sum += term;
        };
      for (unsigned int i = 0; i < s.order; ++i)
        for (unsigned int order = 1; order < s.order; ++order)
          {
            VectorType derivative(u);
            derivative = 0.;
            add(order == 1 ? *s.past[i] : result[i][0], *s.past[i], derivative);
            if (order == 2)
              {
                const std::vector<double> weights =
                  derivative_weights(nodes, i);
                VectorType change(u);
                change.equ(weights[0], *s.past[0]);
                for (unsigned int j = 1; j < s.order; ++j)
                  change.add(weights[j], *s.past[j]);
                add(*s.past[i], change, derivative);
              }
            result[i].push_back(derivative);
          }
      return result;
    }



    template <int dim>
    void
    IncompressibleFlow<dim>::Implementation::transport(const Step &s,
                                                       VectorType &result)
    {
      std::vector<double> nodes(1, s.begin);
      for (unsigned int i = 1; i < s.order; ++i)
        nodes.push_back(nodes.back() - s.lengths[i]);
      const std::vector<std::vector<VectorType>> derivatives =
        transport_derivatives(s, nodes);
      WeightedTimes &times = transported.functor().times;
      times                = WeightedTimes();
      VectorType                       carrier(u), terms(u), values(u);
      unsigned int                     first = s.order; // of those transported
      const TimeDerivative<VectorType> derivative =
        [&](const double t, const VectorType &y, VectorType &dy) {
          const std::vector<double> weights = lagrange_weights(nodes, t);
          carrier.equ(weights[0], *s.past[0]);
          for (unsigned int i = 1; i < s.order; ++i)
            carrier.add(weights[i], *s.past[i]);
          residual(uu_op, transported, t, {&y, &carrier}, dy);
          if (has_velocity && s.order > 1)
            {
              // The rest of the Taylor polynomials.
              values = 0.;
              for (unsigned int i = first; i < s.order; ++i)
                {
                  double factor = s.bdf.alpha[i];
                  for (unsigned int j = 0; j < derivatives[i].size(); ++j)
                    {
                      factor *= (t - nodes[i]) / (j + 1.);
                      values.add(factor, derivatives[i][j]);
                    }
                }
              residual(
                uuu_op, transport_values, t, {&y, &carrier, &values}, terms);
              dy += terms;
            }
          velocity_mass.apply_inverse(-1., dy);
        };
      result = 0.;
      while (first-- > 0)
        {
          result.add(s.bdf.alpha[first], *s.past[first]);
          times.weight[times.n] = s.bdf.alpha[first];
          times.time[times.n++] = nodes[first];
          const double length =
                         (first == 0 ? s.end : nodes[first - 1]) - nodes[first],
                       h = length / parameters.n_subcycles;
          for (unsigned int j = 0; j < parameters.n_subcycles; ++j)
            runge_kutta.step(derivative, nodes[first] + j * h, h, result);
        }
    }



    template <int dim>
    void
    IncompressibleFlow<dim>::Implementation::add_force(const double t,
                                                       const double factor,
                                                       VectorType  &rhs)
    {
      if (!functions.has_force())
        return;
      VectorType f(rhs);
      residual(u_op, force, t, {&u}, f);
      rhs.add(factor, f);
    }



    template <int dim>
    void
    IncompressibleFlow<dim>::Implementation::explicit_velocity(
      const Step &s, VectorType &result)
    {
      VectorType sum(u);
      if (parameters.n_subcycles > 0)
        transport(s, sum);
      else
        {
          sum.equ(s.bdf.alpha[0], *s.past[0]);
          for (unsigned int i = 1; i < s.order; ++i)
            sum.add(s.bdf.alpha[i], *s.past[i]);
        }
      result = 0.;
      add_force(s.end, 1., result);
      if (parameters.n_subcycles == 0)
        for (unsigned int i = 0; i < s.order; ++i)
          result.add(-s.bdf.beta[i],
                     i == 0 ? present_convection : past_n.value(i - 1));
      velocity_mass.apply_inverse(1. / s.gamma_over_dt, result);
      result.add(1. / s.bdf.gamma, sum);
    }



    template <int dim>
    void
    IncompressibleFlow<dim>::Implementation::add_neumann_data(const Step &s,
                                                              VectorType &rhs)
    {
      if (!has_velocity)
        return;
      // The second extrapolation has order two at most.
      const unsigned int    order = std::min(s.order, 2U);
      const BDFCoefficients low =
        bdf_coefficients(order, {s.lengths.begin(), s.lengths.begin() + order});
      VectorType extrapolated(u), terms(rhs);
      extrapolated.equ(low.beta[0], *s.past[0]);
      for (unsigned int i = 1; i < order; ++i)
        extrapolated.add(low.beta[i], *s.past[i]);
      vorticity(extrapolated, omega);
      neumann_data.functor().gamma_over_dt = s.gamma_over_dt;
      residual(pw_op, neumann_data, s.end, {&p, &omega}, terms);
      rhs += terms;
      if (s.order < 3 || parameters.n_subcycles > 0)
        return;
      auto &weight = convection_difference.functor().weight;
      for (unsigned int i = 0; i < 3; ++i)
        weight[i] = s.bdf.beta[i] - (i < order ? low.beta[i] : 0.);
      residual(puuu_op,
               convection_difference,
               s.end,
               {&p, s.past[0], s.past[1], s.past[2]},
               terms);
      rhs += terms;
    }



    template <int dim>
    void
    IncompressibleFlow<dim>::Implementation::add_outflow_pressure(
      const Step &s, const bool increment, VectorType &rhs)
    {
      if (!has_outflow)
        return;
      VectorType terms(rhs);
      outflow_pressure.functor().outflow = {increment, s.begin};
      residual(p_op, outflow_pressure, s.end, {&p}, terms);
      rhs += terms;
    }



    template <int dim>
    void
    IncompressibleFlow<dim>::Implementation::project(const Step       &s,
                                                     const VectorType &phi,
                                                     const bool  increment,
                                                     VectorType &velocity)
    {
      gradient.functor().outflow = {increment, s.begin};
      residual(up_op, gradient, s.end, {&velocity, &phi}, work_u);
      velocity_mass.apply_inverse(-1. / s.gamma_over_dt, work_u);
      velocity += work_u;
    }



    template <int dim>
    void
    IncompressibleFlow<dim>::Implementation::add_last_change(
      const Step &s, const double factor, VectorType &guess) const
    {
      if (past_u.size() == 0)
        return;
      const double ratio = factor * s.dt / past_u.step(0);
      guess.add(ratio, u);
      guess.add(-ratio, viscous_u);
    }



    template <int dim>
    void
    IncompressibleFlow<dim>::Implementation::solve_velocity(
      const Step &s, VectorType &rhs, VectorType &velocity)
    {
      residual(u_op, viscous_data, s.end, {&u}, work_u);
      rhs += work_u;
      velocity.equ(s.bdf.beta[0], *s.past[0]);
      for (unsigned int i = 1; i < s.order; ++i)
        velocity.add(s.bdf.beta[i], *s.past[i]);
      add_last_change(s, -1., velocity);
      report.velocity_iterations =
        velocity_solver->solve(s.gamma_over_dt, rhs, velocity);
      next_viscous_u = velocity;
      report.velocity_seconds += lap();
    }



    template <int dim>
    void
    IncompressibleFlow<dim>::Implementation::dual_splitting_step(
      const Step &s, VectorType &next_u, VectorType &next_p)
    {
      explicit_velocity(s, next_u);
      report.convection_seconds += lap();

      divergence.functor().boundary_velocity = BoundaryVelocity::none;
      residual(pu_op, divergence, s.end, {&p, &next_u}, work_p);
      work_p *= -s.gamma_over_dt;
      add_neumann_data(s, work_p);
      add_outflow_pressure(s, false, work_p);
      next_p.equ(s.bdf.beta[0], p);
      for (unsigned int i = 1; i < s.order; ++i)
        next_p.add(s.bdf.beta[i], past_p.value(i - 1));
      report.pressure_iterations = pressure_solver->solve(work_p, next_p);
      project(s, next_p, false, next_u);
      report.pressure_seconds += lap();

      VectorType rhs(u);
      rhs = 0.;
      velocity_mass.vmult_add(s.gamma_over_dt, rhs, next_u);
      solve_velocity(s, rhs, next_u);
    }



    template <int dim>
    void
    IncompressibleFlow<dim>::Implementation::pressure_correction_step(
      const Step &s, VectorType &next_u, VectorType &next_p)
    {
      explicit_velocity(s, next_u);
      VectorType rhs(u);
      rhs = 0.;
      velocity_mass.vmult_add(s.gamma_over_dt, rhs, next_u);
      gradient.functor().outflow = {false, s.begin};
      residual(up_op, gradient, s.begin, {&u, &p}, work_u);
      rhs -= work_u;
      report.convection_seconds += lap();
      solve_velocity(s, rhs, next_u);

      divergence.functor().boundary_velocity = BoundaryVelocity::given;
      residual(pu_op, divergence, s.end, {&p, &next_u}, work_p);
      VectorType weak_divergence(work_p), phi(p);
      work_p *= -s.gamma_over_dt;
      add_outflow_pressure(s, true, work_p);
      // The last increment, changed in proportion to the length of the step.
      phi = 0.;
      if (past_p.size() > 0)
        {
          const double ratio = s.dt / past_p.step(0);
          phi.add(ratio, p);
          phi.add(-ratio, past_p.value(0));
        }
      report.pressure_iterations = pressure_solver->solve(work_p, phi);
      project(s, phi, true, next_u);
      next_p = p;
      next_p += phi;
      pressure_mass.apply_inverse(-parameters.rotational * parameters.viscosity,
                                  weak_divergence);
      next_p += weak_divergence;
      if (pressure_solver->has_null_space())
        pressure_solver->constants().project(next_p);
      report.pressure_seconds += lap();
    }



    template <int dim>
    void
    IncompressibleFlow<dim>::Implementation::penalty_step(const Step &s,
                                                          VectorType &velocity)
    {
      if (!parameters.penalty_step)
        return;
      penalty_solver->set_velocity(s.dt, velocity);
      VectorType rhs(u);
      rhs = 0.;
      velocity_mass.vmult_add(1., rhs, velocity);
      add_last_change(s, 1., velocity);
      report.penalty_iterations = penalty_solver->solve(rhs, velocity);
      report.penalty_seconds += lap();
    }



    template <int dim>
    void
    IncompressibleFlow<dim>::Implementation::vorticity(const VectorType &given,
                                                       VectorType       &result)
    {
      residual(wu_op, curl, time, {&zero_omega, &given}, result);
      vorticity_mass.apply_inverse(1., result);
    }



    template <int dim>
    std::string
    IncompressibleFlow<dim>::Implementation::description() const
    {
      return std::string(parameters.method == SplittingMethod::dual_splitting
                           ? "dual splitting"
                           : "pressure correction") +
             " of order " + std::to_string(parameters.order) +
             ", pressure degree " + std::to_string(parameters.pressure_degree);
    }



    // ---- interface

    template <int dim>
    IncompressibleFlow<dim>::IncompressibleFlow(
      const Triangulation<dim>           &triangulation,
      const Mapping<dim>                 *mapping,
      const Agglomeration::Strategy<dim> &strategy,
      const FlowFunctions<dim>           &functions,
      const IncompressibleParameters     &parameters)
      : implementation(std::make_unique<Implementation>(
          triangulation, mapping, strategy, functions, parameters))
    {}



    template <int dim>
    IncompressibleFlow<dim>::~IncompressibleFlow() = default;



    template <int dim>
    void
    IncompressibleFlow<dim>::initialize(const double         time,
                                        const Function<dim> &velocity,
                                        const Function<dim> *pressure)
    {
      Implementation &data = *implementation;
      data.time            = time;
      data.n_steps         = 0;
      data.past_u.clear();
      data.past_n.clear();
      data.past_p.clear();
      data.p                       = 0.;
      typename VectorType::Base &u = data.u, &p = data.p;
      Tessella::VectorTools::project(data.spaces.velocity, velocity, u);
      data.viscous_u = data.u;
      if (pressure != nullptr)
        Tessella::VectorTools::project(data.spaces.pressure, *pressure, p);
      if (data.pressure_solver->has_null_space())
        data.pressure_solver->constants().project(data.p);
      data.check_net_flux(time);
    }



    namespace
    {
      /// Takes the coefficients of the functions that both spaces have. The
      /// first functions of a polytope are those of the lower degree.
      void
      copy_common_functions(const PolytopicDoFs &from_dofs,
                            const FlowVector    &from,
                            const PolytopicDoFs &dofs,
                            const unsigned int   n_polytopes,
                            FlowVector          &to)
      {
        to = 0.;
        for (unsigned int k = 0; k < n_polytopes; ++k)
          for (unsigned int c = 0; c < dofs.n_components; ++c)
            std::copy_n(from.begin() + from_dofs.dof_offset[k] +
                          std::size_t(c) * from_dofs.n_basis[k],
                        std::min(from_dofs.n_basis[k], dofs.n_basis[k]),
                        to.begin() + dofs.dof_offset[k] +
                          std::size_t(c) * dofs.n_basis[k]);
      }
    } // namespace



    template <int dim>
    void
    IncompressibleFlow<dim>::initialize(const double              time,
                                        const IncompressibleFlow &other)
    {
      const auto &spaces   = implementation->spaces,
                 &others   = other.implementation->spaces;
      const unsigned int n = spaces.velocity.n_polytopes();
      AssertThrow(n == others.velocity.n_polytopes() &&
                    spaces.velocity.polytope_of_cell() ==
                      others.velocity.polytope_of_cell(),
                  ExcMessage("A flow starts from another one only on the same "
                             "polytopes."));
      initialize(time, Functions::ZeroFunction<dim>(dim));
      Implementation &data = *implementation;
      copy_common_functions(others.velocity.polytopic_dofs(),
                            other.velocity(),
                            spaces.velocity.polytopic_dofs(),
                            n,
                            data.u);
      copy_common_functions(others.pressure.polytopic_dofs(),
                            other.pressure(),
                            spaces.pressure.polytopic_dofs(),
                            n,
                            data.p);
      data.viscous_u = data.u;
    }



    template <int dim>
    void
    IncompressibleFlow<dim>::initialize_with_past(const double   time,
                                                  const double   step,
                                                  Function<dim> &velocity,
                                                  Function<dim> &pressure)
    {
      Implementation &data = *implementation;
      velocity.set_time(time);
      pressure.set_time(time);
      initialize(time, velocity, &pressure);
      for (unsigned int i = data.parameters.order - 1; i > 0; --i)
        {
          const double t = time - i * step;
          velocity.set_time(t);
          pressure.set_time(t);
          VectorType                 past_u(data.u), past_p(data.p), n(data.u);
          typename VectorType::Base &u = past_u, &p = past_p;
          Tessella::VectorTools::project(data.spaces.velocity, velocity, u);
          Tessella::VectorTools::project(data.spaces.pressure, pressure, p);
          if (data.pressure_solver->has_null_space())
            data.pressure_solver->constants().project(past_p);
          data.compute_convection(t, past_u, n);
          data.past_u.push(step, past_u);
          data.past_n.push(step, n);
          data.past_p.push(step, past_p);
        }
      velocity.set_time(time);
      pressure.set_time(time);
    }



    template <int dim>
    void
    IncompressibleFlow<dim>::step(const double dt)
    {
      check_step(dt);
      Implementation &data = *implementation;
      data.report          = IncompressibleReport();
      data.lap();
      const auto s      = data.make_step(dt);
      data.report.order = s.order;
      data.report.step  = dt;
      data.check_net_flux(s.end);
      if (data.parameters.n_subcycles == 0)
        data.compute_convection(data.time, data.u, data.present_convection);
      VectorType next_u(data.u), next_p(data.p);
      if (data.parameters.method == SplittingMethod::dual_splitting)
        data.dual_splitting_step(s, next_u, next_p);
      else
        data.pressure_correction_step(s, next_u, next_p);
      data.penalty_step(s, next_u);
      const double norm = next_u.linfty_norm() + next_p.linfty_norm();
      AssertThrow(std::isfinite(norm),
                  ExcMessage(
                    "The velocity is not finite at time " + value_text(s.end) +
                    ", after a step with the CFL "
                    "number " +
                    value_text(cfl_number(dt)) + ": take shorter steps."));
      data.past_u.push(dt, data.u);
      data.past_n.push(dt, data.present_convection);
      data.past_p.push(dt, data.p);
      data.u         = next_u;
      data.p         = next_p;
      data.viscous_u = data.next_viscous_u;
      data.time      = s.end;
      ++data.n_steps;
    }



    template <int dim>
    double
    IncompressibleFlow<dim>::cfl_step(const double number) const
    {
      Implementation            &data = *implementation;
      typename VectorType::Base &u    = data.u;
      std::vector<double>        speeds =
        data.polytopewise.evaluate(LargestSpeed(), u);
      data.add_boundary_speeds(speeds);
      return data.cfl->smallest(number, speeds);
    }



    template <int dim>
    double
    IncompressibleFlow<dim>::cfl_number(const double dt) const
    {
      return dt / cfl_step(1.);
    }



    template <int dim>
    void
    IncompressibleFlow<dim>::compute_vorticity(VectorType &vorticity) const
    {
      vorticity.reinit(implementation->omega);
      implementation->vorticity(implementation->u, vorticity);
    }



    template <int dim>
    std::pair<double, double>
    IncompressibleFlow<dim>::energy_and_enstrophy() const
    {
      Implementation                                &data = *implementation;
      FunctorIntegrand<dim, EnergyAndEnstrophy<dim>> integrand;
      integrand.set_coefficient_order(std::max(data.parameters.degree, 2U));
      const std::vector<double> sums =
        data.u_op.template integrate_volume<VectorType>(integrand, {&data.u});
      return {sums[0], sums[1]};
    }



    template <int dim>
    std::map<types::boundary_id, std::vector<double>>
    IncompressibleFlow<dim>::forces(const bool consistent) const
    {
      Implementation &data = *implementation;
      FunctorIntegrand<dim, BoundaryForce<dim, Data<dim>>> integrand;
      auto &f            = integrand.functor();
      f.convection       = data.convection.functor();
      f.viscosity        = data.parameters.viscosity;
      f.penalty_constant = data.parameters.assembly.penalty.constant;
      f.consistent       = consistent;
      integrand.set_time(data.time);
      integrand.set_coefficient_order(std::max(data.parameters.degree, 2U));
      return data.up_op.template integrate_boundary<VectorType>(
        integrand, {consistent ? &data.viscous_u : &data.u, &data.p});
    }



    template <int dim>
    double
    IncompressibleFlow<dim>::mass_error() const
    {
      Implementation &data = *implementation;
      FunctorIntegrand<dim, VelocityDivergence<dim, Data<dim>>> integrand(
        data.divergence.functor());
      integrand.functor().boundary_velocity = BoundaryVelocity::given;
      integrand.set_coefficient_order(2);
      VectorType flux, zero;
      data.cu_op.reinit(flux);
      data.cu_op.reinit(zero);
      data.residual(data.cu_op, integrand, data.time, {&zero, &data.u}, flux);
      const std::vector<double> speeds =
        data.penalty_solver->mean_speeds(data.u);
      const auto &space   = data.spaces.constant;
      double      largest = 0., speed = 0.;
      for (unsigned int k = 0; k < speeds.size(); ++k)
        {
          const double measure = space.polytopic_mesh().measure[k];
          largest              = std::max(largest,
                             std::abs(*(flux.begin() + k)) *
                               std::sqrt(space.bounding_box(k).volume()) /
                               std::pow(measure, (dim - 1.) / dim));
          speed                = std::max(speed, speeds[k]);
        }
      largest = Utilities::MPI::max(largest, space.get_communicator());
      speed   = Utilities::MPI::max(speed, space.get_communicator());
      return speed > 0. ? largest / speed : 0.;
    }



    // ---- checkpoints: pressures are stored as the first component of a
    // velocity, since a file has vectors of one space

    namespace
    {
      void
      copy_pressure(const PolytopicDoFs &velocity,
                    const PolytopicDoFs &pressure,
                    const unsigned int   n_polytopes,
                    FlowVector          &u,
                    FlowVector          &p,
                    const bool           to_velocity)
      {
        if (to_velocity)
          u = 0.;
        for (unsigned int k = 0; k < n_polytopes; ++k)
          {
            double *const        a = u.begin() + velocity.dof_offset[k],
                          *const b = p.begin() + pressure.dof_offset[k];
            if (to_velocity)
              std::copy_n(b, pressure.n_basis[k], a);
            else
              std::copy_n(a, pressure.n_basis[k], b);
          }
      }
    } // namespace



    template <int dim>
    void
    IncompressibleFlow<dim>::write_state(
      const std::string &file_name, const std::vector<double> &numbers) const
    {
      Implementation &data = *implementation;
      TimeState       state;
      state.time    = data.time;
      state.n_steps = data.n_steps;
      state.method  = data.description();
      state.numbers = numbers;
      // The latest state first: velocities, convections, pressures.
      std::vector<const VectorType *> vectors{&data.u};
      store_history(data.past_u, state, vectors);
      // Subcycling needs no convections, but a run that goes on without it
      // does.
      TimeHistory<VectorType> convections(data.past_n.max_size());
      if (data.parameters.n_subcycles > 0)
        {
          std::vector<double> times(1, data.time);
          for (unsigned int i = 0; i < data.past_u.size(); ++i)
            times.push_back(times.back() - data.past_u.step(i));
          VectorType n(data.u);
          for (unsigned int i = data.past_u.size(); i > 0; --i)
            {
              data.compute_convection(times[i], data.past_u.value(i - 1), n);
              convections.push(data.past_u.step(i - 1), n);
            }
        }
      store_history(data.parameters.n_subcycles > 0 ? convections : data.past_n,
                    state,
                    vectors);
      std::vector<VectorType> pressures(1, data.p);
      for (unsigned int i = 0; i < data.past_p.size(); ++i)
        pressures.push_back(data.past_p.value(i));
      std::vector<VectorType> as_velocity(pressures.size(), data.u);
      for (unsigned int i = 0; i < pressures.size(); ++i)
        {
          copy_pressure(data.spaces.velocity.polytopic_dofs(),
                        data.spaces.pressure.polytopic_dofs(),
                        data.spaces.velocity.n_polytopes(),
                        as_velocity[i],
                        pressures[i],
                        true);
          vectors.push_back(&as_velocity[i]);
        }
      vectors.push_back(&data.viscous_u);
      write_time_state(file_name, data.spaces.velocity, state, vectors);
    }



    template <int dim>
    std::vector<double>
    IncompressibleFlow<dim>::read_state(const std::string &file_name)
    {
      Implementation         &data = *implementation;
      std::vector<VectorType> vectors;
      const TimeState         state =
        read_time_state(file_name, data.spaces.velocity, data.u, vectors);
      AssertThrow(state.method == data.description(),
                  ExcMessage("The checkpoint '" + file_name +
                             "' was written by " + state.method +
                             ", but this run uses " + data.description() +
                             ": choose the method, order and degrees of the "
                             "checkpoint."));
      const unsigned int n = state.history_steps.size();
      AssertThrow(vectors.size() == 3 * n + 3,
                  ExcMessage("The checkpoint '" + file_name +
                             "' was not written by an incompressible flow."));
      std::vector<VectorType> pressures(n + 1, data.p);
      for (unsigned int i = 0; i <= n; ++i)
        copy_pressure(data.spaces.velocity.polytopic_dofs(),
                      data.spaces.pressure.polytopic_dofs(),
                      data.spaces.velocity.n_polytopes(),
                      vectors[1 + 2 * n + i],
                      pressures[i],
                      false);
      restore_history(state, vectors, 1, data.past_u);
      restore_history(state, vectors, 1 + n, data.past_n);
      restore_history(state, pressures, 1, data.past_p);
      data.u         = vectors[0];
      data.viscous_u = vectors.back();
      data.p         = pressures[0];
      data.time      = state.time;
      data.n_steps   = state.n_steps;
      return state.numbers;
    }



    template <int dim>
    const AgglomerationHandler<dim> &
    IncompressibleFlow<dim>::velocity_space() const
    {
      return implementation->spaces.velocity;
    }

    template <int dim>
    const AgglomerationHandler<dim> &
    IncompressibleFlow<dim>::pressure_space() const
    {
      return implementation->spaces.pressure;
    }

    template <int dim>
    const AgglomerationHandler<dim> &
    IncompressibleFlow<dim>::vorticity_space() const
    {
      return implementation->spaces.vorticity();
    }

    template <int dim>
    double
    IncompressibleFlow<dim>::time() const
    {
      return implementation->time;
    }

    template <int dim>
    unsigned int
    IncompressibleFlow<dim>::n_steps() const
    {
      return implementation->n_steps;
    }

    template <int dim>
    const HostVector<double> &
    IncompressibleFlow<dim>::velocity() const
    {
      return implementation->u;
    }

    template <int dim>
    const HostVector<double> &
    IncompressibleFlow<dim>::pressure() const
    {
      return implementation->p;
    }

    template <int dim>
    const IncompressibleReport &
    IncompressibleFlow<dim>::report() const
    {
      return implementation->report;
    }

    template <int dim>
    std::size_t
    IncompressibleFlow<dim>::memory_consumption() const
    {
      return implementation->pressure_solver->memory_consumption() +
             implementation->velocity_solver->memory_consumption();
    }



    template class IncompressibleFlow<2>;
    template class IncompressibleFlow<3>;
  } // namespace Flow
} // namespace Tessella
