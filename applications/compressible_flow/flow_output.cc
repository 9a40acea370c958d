// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "flow_output.h"

#include <deal.II/base/mpi.h>

#include <deal.II/numerics/data_postprocessor.h>

#include <tessella/forms/callback_integrand.h>
#include <tessella/forms/functor_integrand.h>
#include <tessella/numerics/data_out.h>
#include <tessella/operators/pointwise_operator.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <type_traits>

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    namespace
    {
      /// Square of the relative error of the entropy, and one.
      template <int dim>
      struct EntropyTerms
      {
        static constexpr int n_components           = 2;
        using Fields                                = FieldComponents<dim + 2>;
        static constexpr unsigned int volume_input  = PointwiseRows::values,
                                      volume_output = PointwiseRows::values,
                                      facet_input   = PointwiseRows::none,
                                      facet_output  = PointwiseRows::none;

        Flow::IdealGas<dim> gas;
        double              entropy;

        template <typename U, typename R>
        void
        volume(const OperatorPoint<dim> &, const U &u, R &r) const
        {
          using namespace PointwiseMath;
          const auto difference =
            gas.pressure(u.value) / (entropy * pow(u.value[0], gas.gamma)) - 1.;
          r.value[0] = difference * difference;
          r.value[1] = 1.;
        }
      };

      /// Force p n - tau n on the boundary and its moment about a point: x, y,
      /// z, and (r x f) . axis.
      template <int dim>
      struct ForceTerms
      {
        static constexpr int n_components           = dim + 1;
        using Fields                                = FieldComponents<dim + 2>;
        static constexpr unsigned int volume_input  = PointwiseRows::none,
                                      volume_output = PointwiseRows::none,
                                      facet_input   = PointwiseRows::all,
                                      facet_output  = PointwiseRows::values;

        Flow::IdealGas<dim>  gas;
        Flow::Viscosity<dim> viscosity;
        double               centre[3];
        /// Index of the lift axis.
        int    axis;
        double pressure; ///< outside of the body, which exerts no force

        template <typename U, typename R>
        void
        boundary_facet(const OperatorPoint<dim> &p, const U &u, R &r) const
        {
          const auto excess = gas.pressure(u.value) - pressure;
          std::decay_t<decltype(r.value[0])> f[dim + 2][dim];
          viscosity.flux(gas, &u.value[0], u.gradient, false, f);
          for (int d = 0; d < dim; ++d)
            {
              r.value[d] = excess * p.normal[d];
              for (int e = 0; e < dim; ++e)
                r.value[d] -= f[1 + d][e] * p.normal[e];
            }
          // Nose-up: a force along the lift axis ahead of the centre.
          r.value[dim] = (p.x[axis] - centre[axis]) * r.value[0] -
                         (p.x[0] - centre[0]) * r.value[axis];
        }
      };

      /// Quantities for visualisation.
      template <int dim>
      class FlowPostprocessor : public DataPostprocessor<dim>
      {
      public:
        explicit FlowPostprocessor(const Flow::IdealGas<dim> &gas)
          : gas(gas)
        {}

        void
        evaluate_vector_field(
          const DataPostprocessorInputs::Vector<dim> &inputs,
          std::vector<Vector<double>>                &results) const override
        {
          for (unsigned int q = 0; q < results.size(); ++q)
            {
              const Vector<double> &u      = inputs.solution_values[q];
              const double          p      = gas.pressure(u.begin());
              double                square = 0.;
              for (int d = 0; d < dim; ++d)
                {
                  results[q][d] = u[1 + d] / u[0];
                  square += results[q][d] * results[q][d];
                }
              results[q][dim]     = p;
              results[q][dim + 1] = std::sqrt(square * u[0] / (gas.gamma * p));
              results[q][dim + 2] = p / std::pow(u[0], gas.gamma);
            }
        }

        std::vector<std::string>
        get_names() const override
        {
          std::vector<std::string> names(dim, "velocity");
          names.push_back("pressure");
          names.push_back("Mach_number");
          names.push_back("entropy");
          return names;
        }

        std::vector<DataComponentInterpretation::DataComponentInterpretation>
        get_data_component_interpretation() const override
        {
          std::vector<DataComponentInterpretation::DataComponentInterpretation>
            result(dim,
                   DataComponentInterpretation::component_is_part_of_vector);
          result.resize(dim + 3,
                        DataComponentInterpretation::component_is_scalar);
          return result;
        }

        UpdateFlags
        get_needed_update_flags() const override
        {
          return update_values;
        }

      private:
        const Flow::IdealGas<dim> gas;
      };
    } // namespace



    template <int dim>
    FlowEvaluation<dim>::FlowEvaluation(
      const AgglomerationHandler<dim> &handler,
      const AssemblyParameters        &data,
      const FlowInput                 &input,
      const FlowProblem<dim>          &problem,
      const unsigned int               coefficient_order)
      : coefficient_order(coefficient_order)
      , handler(handler)
      , parameters(data)
      , input(input)
      , problem(problem)
    {}



    template <int dim>
    double
    FlowEvaluation<dim>::entropy_error(const ConservationVector &u) const
    {
      const FreeStream                        &f = input.free_stream;
      FunctorIntegrand<dim, EntropyTerms<dim>> integrand(
        EntropyTerms<dim>{problem.model.gas,
                          f.pressure /
                            std::pow(f.density, problem.model.gas.gamma)});
      integrand.set_coefficient_order(coefficient_order + 2);
      PointwiseOperator<dim>    op(handler, parameters);
      const std::vector<double> sums =
        op.template integrate_volume<ConservationVector>(integrand, {&u});
      return std::sqrt(sums[0] / sums[1]);
    }



    template <int dim>
    ForceCoefficients
    FlowEvaluation<dim>::forces(const ConservationVector &u) const
    {
      const FreeStream &f = input.free_stream;
      ForceTerms<dim>   terms;
      terms.gas       = problem.model.gas;
      terms.viscosity = problem.model.viscosity;
      std::copy_n(input.forces.moment_centre.begin(), 3, terms.centre);
      terms.axis     = f.lift[1] != 0. ? 1 : 2;
      terms.pressure = f.pressure;
      FunctorIntegrand<dim, ForceTerms<dim>> integrand(terms);
      integrand.set_coefficient_order(coefficient_order);
      PointwiseOperator<dim> op(handler, parameters);
      const double           unit =
        0.5 * f.density * f.speed * f.speed * input.forces.area;
      ForceCoefficients result;
      for (const auto &force :
           op.template integrate_boundary<ConservationVector>(integrand, {&u}))
        if (input.forces.boundary_ids.count(force.first) > 0)
          {
            for (int d = 0; d < dim; ++d)
              {
                result.lift += force.second[d] * f.lift[d] / unit;
                result.drag += force.second[d] * f.drag[d] / unit;
              }
            result.moment += force.second[dim] / (unit * input.forces.length);
          }
      return result;
    }



    template <int dim>
    std::vector<SurfacePoint<dim>>
    FlowEvaluation<dim>::surface(const ConservationVector &u) const
    {
      const FreeStream              &f    = input.free_stream;
      const double                   unit = 0.5 * f.density * f.speed * f.speed;
      const auto                    &gas  = problem.model.gas;
      std::vector<SurfacePoint<dim>> points;
      std::mutex                     mutex;
      typename CallbackIntegrand<dim>::Structure structure;
      structure.field_components = {dim + 2};
      structure.facet_input      = PointwiseRows::values;
      structure.facet_output     = PointwiseRows::values;
      CallbackIntegrand<dim> integrand(structure);
      integrand.set_terms(
        PointwiseRegion::boundary_facet,
        [&](const unsigned int        n,
            const OperatorPoint<dim> *at,
            const BatchFields<dim>   &fields,
            const BatchResults<dim> &) {
          const std::lock_guard<std::mutex> lock(mutex);
          for (unsigned int q = 0; q < n; ++q)
            if (input.forces.boundary_ids.count(at[q].boundary_id) > 0)
              {
                SurfacePoint<dim> point;
                std::copy_n(at[q].x, dim, point.x);
                double state[dim + 2];
                for (int c = 0; c < dim + 2; ++c)
                  state[c] = fields.value(q, c);
                const double p             = gas.pressure(state);
                point.pressure_coefficient = (p - f.pressure) / unit;
                point.mach_number = std::sqrt(gas.momentum_squared(state) /
                                              (gas.gamma * p * state[0]));
                points.push_back(point);
              }
        });
      integrand.set_coefficient_order(coefficient_order);
      // The integrals themselves are not needed.
      AssemblyParameters host = parameters;
      host.backend            = Backend::host;
      PointwiseOperator<dim> op(handler, host);
      op.template integrate_boundary<ConservationVector>(integrand, {&u});
      // Points of all processes, as plain numbers.
      constexpr unsigned int width = dim + 2;
      std::vector<double>    numbers;
      for (const SurfacePoint<dim> &point : points)
        {
          numbers.insert(numbers.end(), point.x, point.x + dim);
          numbers.push_back(point.pressure_coefficient);
          numbers.push_back(point.mach_number);
        }
      points.clear();
      for (const auto &part :
           Utilities::MPI::gather(handler.get_communicator(), numbers))
        for (std::size_t i = 0; i < part.size(); i += width)
          {
            SurfacePoint<dim> point;
            std::copy_n(part.begin() + i, dim, point.x);
            point.pressure_coefficient = part[i + dim];
            point.mach_number          = part[i + dim + 1];
            points.push_back(point);
          }
      std::sort(points.begin(),
                points.end(),
                [](const SurfacePoint<dim> &a, const SurfacePoint<dim> &b) {
                  return std::lexicographical_compare(a.x,
                                                      a.x + dim,
                                                      b.x,
                                                      b.x + dim);
                });
      // Points come in groups that are filled up with copies.
      points.erase(std::unique(points.begin(),
                               points.end(),
                               [](const SurfacePoint<dim> &a,
                                  const SurfacePoint<dim> &b) {
                                 return std::equal(a.x, a.x + dim, b.x);
                               }),
                   points.end());
      return points;
    }



    template <int dim>
    void
    FlowEvaluation<dim>::write_fields(const std::string        &file,
                                      const ConservationVector &u) const
    {
      using Interpretation = typename PolytopicDataOut<dim>::Interpretation;
      std::vector<Interpretation> interpretation(
        dim + 2, DataComponentInterpretation::component_is_scalar);
      std::fill_n(interpretation.begin() + 1,
                  dim,
                  DataComponentInterpretation::component_is_part_of_vector);
      const FlowPostprocessor<dim> postprocessor(problem.model.gas);
      PolytopicDataOut<dim>        data_out(handler);
      data_out.add_data_vector(u, problem.names, interpretation);
      data_out.add_data_vector(u, postprocessor);
      data_out.build_patches();
      data_out.write_vtu_file(file);
    }



    template class FlowEvaluation<2>;
    template class FlowEvaluation<3>;
  } // namespace Application
} // namespace Tessella
