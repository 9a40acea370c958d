// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_flow_incompressible_transport_h
#define tessella_source_flow_incompressible_transport_h

#include <tessella/time_stepping/bdf.h>
#include <tessella/time_stepping/runge_kutta_tableau.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "incompressible_solvers.h"

// Steps of multi-step methods, and their subcycles.

namespace Tessella
{
  namespace Flow
  {
    namespace internal
    {
      /// A step of a multi-step method.
      template <typename VectorType>
      struct FlowStep
      {
        double                          dt, begin, end, gamma_over_dt;
        unsigned int                    order;
        std::vector<double>             lengths;
        BDFCoefficients                 bdf;
        std::vector<const VectorType *> past; ///< u^n, u^{n-1}, ..
      };

      /// Weights at time @p t of the values at times @p nodes.
      inline std::vector<double>
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
      inline std::vector<double>
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

      /// A stage of a low-storage Runge-Kutta method for M u' = -rate: k = a k
      /// - h M^{-1} rate, u += b k. The rate may change.
      template <int dim>
      void
      advance(const DeviceMassMatrix<dim> &mass,
              const double                 a,
              const double                 h,
              const double                 b,
              DeviceVector<double>        &rate,
              DeviceVector<double>        &k,
              DeviceVector<double>        &u)
      {
        mass.advance(a, -h, b, rate, k, u);
      }
      template <int dim>
      void
      advance(const MassMatrix<dim> &mass,
              const double           a,
              const double           h,
              const double           b,
              FlowVector            &rate,
              FlowVector            &k,
              FlowVector            &u)
      {
        mass.apply_inverse(-1., rate);
        if (a == 0.)
          k.equ(h, rate);
        else
          k.sadd(a, h, rate);
        u.add(b, k);
      }

      /**
       * Subcycles of the convection of a quantity q, the velocity or the
       * temperature: sum alpha_i q~^{n-i} at the end of a step, where q~^{n-i}
       * is the solution of dq~/dt + div(w q~) = 0 with q~ = q^{n-i} at t^{n-i},
       * and w is the polynomial through the past velocities. See
       * IncompressibleFlow.
       *
       * F is the functor of the transport, G that with a third field of
       * boundary values, and D the derivative of q along a velocity.
       */
      template <int dim,
                typename VectorType,
                typename F,
                typename G,
                typename D>
      class SubcycledTransport
      {
      public:
        using Step = FlowStep<VectorType>;

        /// @p space is that of q. @p name is that of F for FlowIntegrand, and
        /// @p derivative has the arguments of D. @p has_values says whether q
        /// is given somewhere on the boundary.
        SubcycledTransport(const std::string               &name,
                           const std::string               &derivative,
                           const AgglomerationHandler<dim> &space,
                           const AgglomerationHandler<dim> &velocity,
                           const FlowFunctions<dim>        &functions,
                           const IncompressibleParameters  &parameters,
                           const FlowMass<dim, VectorType> &mass,
                           const bool                       has_values)
          : op({&space, &velocity}, 0, parameters.assembly)
          , op_with_values({&space, &velocity, &space}, 0, parameters.assembly)
          , transported(name, ", FlowData, true", &functions)
          , transported_with_values(name, ", FlowData, true, true", &functions)
          , derivative_along("DerivativeAlong", derivative)
          , mass(mass)
          , n_subcycles(parameters.n_subcycles)
          , has_values(has_values)
          , runge_kutta(
              low_storage_tableau(LowStorageMethod::carpenter_kennedy_4))
        {
          const unsigned int order = std::max(parameters.degree, 2U);
          transported.set_coefficient_order(order);
          transported_with_values.set_coefficient_order(order);
          derivative_along.set_coefficient_order(order);
          op.reinit(rate);
          for (VectorType *v : {&values, &stage_vector})
            v->reinit(rate);
        }

        /// Calls @p set for both functors of the transport.
        template <typename Set>
        void
        set_functors(const Set &set)
        {
          set(transported.functor());
          set(transported_with_values.functor());
        }

        /// Sets @p result to the sum; q^n, q^{n-1} and so on are @p past.
        void
        run(const Step                            &s,
            const std::vector<const VectorType *> &past,
            VectorType                            &result);

        /// Operators whose checks may have been deferred.
        std::vector<PointwiseOperator<dim> *>
        operators()
        {
          return {&op, &op_with_values};
        }

      private:
        template <typename Functor>
        using Integrand = FlowIntegrand<dim, Functor>;

        /// Computes derivatives.
        void
        compute_derivatives(const Step                            &s,
                            const std::vector<double>             &nodes,
                            const std::vector<const VectorType *> &past);
        /// A Runge-Kutta step of @p result. The term of the multi-step method
        /// with index @p first is the last one that has been added to it.
        void
        advance_step(const Step                &s,
                     const std::vector<double> &nodes,
                     const unsigned int         first,
                     const double               t,
                     const double               h,
                     VectorType                &result);

        PointwiseOperator<dim>           op, op_with_values;
        Integrand<F>                     transported;
        Integrand<G>                     transported_with_values;
        Integrand<D>                     derivative_along;
        const FlowMass<dim, VectorType> &mass;
        const unsigned int               n_subcycles;
        const bool                       has_values;
        const LowStorageTableau          runge_kutta;
        /// Derivatives in time of the fields q~^{n-i} at t^{n-i}, at fixed
        /// points, without boundary values: entry [i][j] is that of order
        /// j + 1. Their memory is kept.
        std::vector<std::vector<VectorType>> derivatives;
        VectorType rate, values, stage_vector, carrier;
      };



      template <int dim,
                typename VectorType,
                typename F,
                typename G,
                typename D>
      void
      SubcycledTransport<dim, VectorType, F, G, D>::compute_derivatives(
        const Step                            &s,
        const std::vector<double>             &nodes,
        const std::vector<const VectorType *> &past)
      {
        if (!has_values)
          return;
        // Subtracts (w . grad) q.
        const auto add =
          [&](const VectorType &q, const VectorType &w, VectorType &sum) {
            derivative_along.set_time(s.begin);
            op.template residual<VectorType>(derivative_along, {&q, &w}, rate);
            mass.apply_inverse(-1., rate);
            sum += rate;
          };
        derivatives.resize(std::max<std::size_t>(derivatives.size(), s.order));
        for (unsigned int i = 0; i < s.order; ++i)
          for (unsigned int order = 1; order < s.order; ++order)
            {
              if (derivatives[i].size() < order)
                derivatives[i].emplace_back(rate);
              VectorType &derivative = derivatives[i][order - 1];
              derivative             = 0.;
              add(order == 1 ? *past[i] : derivatives[i][0],
                  *s.past[i],
                  derivative);
              if (order == 2)
                {
                  set_to_sum(terms_of(s.order,
                                      derivative_weights(nodes, i),
                                      s.past),
                             carrier);
                  add(*past[i], carrier, derivative);
                }
            }
      }



      template <int dim,
                typename VectorType,
                typename F,
                typename G,
                typename D>
      void
      SubcycledTransport<dim, VectorType, F, G, D>::run(
        const Step                            &s,
        const std::vector<const VectorType *> &past,
        VectorType                            &result)
      {
        if (carrier.size() == 0)
          carrier.reinit(*s.past[0]);
        std::vector<double> nodes(1, s.begin);
        for (unsigned int i = 1; i < s.order; ++i)
          nodes.push_back(nodes.back() - s.lengths[i]);
        compute_derivatives(s, nodes, past);
        WeightedTimes times;
        result = 0.;
        for (unsigned int first = s.order; first-- > 0;)
          {
            result.add(s.bdf.alpha[first], *past[first]);
            times.weight[times.n] = s.bdf.alpha[first];
            times.time[times.n++] = nodes[first];
            set_functors([&](auto &functor) { functor.times = times; });
            const double length = (first == 0 ? s.end : nodes[first - 1]) -
                                  nodes[first],
                         h = length / n_subcycles;
            for (unsigned int j = 0; j < n_subcycles; ++j)
              advance_step(s, nodes, first, nodes[first] + j * h, h, result);
          }
      }



      template <int dim,
                typename VectorType,
                typename F,
                typename G,
                typename D>
      void
      SubcycledTransport<dim, VectorType, F, G, D>::advance_step(
        const Step                &s,
        const std::vector<double> &nodes,
        const unsigned int         first,
        const double               t,
        const double               h,
        VectorType                &result)
      {
        for (unsigned int stage = 0; stage < runge_kutta.b.size(); ++stage)
          {
            const double time = t + runge_kutta.c[stage] * h;
            auto         terms =
              terms_of(s.order, lagrange_weights(nodes, time), s.past);
            set_to_sum(terms, carrier);
            if (has_values && s.order > 1)
              {
                // The rest of the Taylor polynomials.
                terms.clear();
                for (unsigned int i = first; i < s.order; ++i)
                  {
                    double factor = s.bdf.alpha[i];
                    for (unsigned int j = 0; j + 1 < s.order; ++j)
                      {
                        factor *= (time - nodes[i]) / (j + 1.);
                        terms.emplace_back(factor, &derivatives[i][j]);
                      }
                  }
                set_to_sum(terms, values);
                transported_with_values.set_time(time);
                op_with_values.template residual<VectorType>(
                  transported_with_values, {&result, &carrier, &values}, rate);
              }
            else
              {
                transported.set_time(time);
                op.template residual<VectorType>(transported,
                                                 {&result, &carrier},
                                                 rate);
              }
            const double a = stage > 0 ? runge_kutta.a[stage] : 0.,
                         b = runge_kutta.b[stage];
            advance(mass, a, h, b, rate, stage_vector, result);
          }
      }
    } // namespace internal
  }   // namespace Flow
} // namespace Tessella

#endif
