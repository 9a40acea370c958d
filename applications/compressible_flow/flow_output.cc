// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "flow_output.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/base/mpi.h>

#include <deal.II/numerics/data_postprocessor.h>

#include <tessella/forms/callback_integrand.h>
#include <tessella/forms/discrete_function.h>
#include <tessella/forms/functor_integrand.h>
#include <tessella/numerics/data_out.h>
#include <tessella/operators/pointwise_operator.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>
#include <type_traits>

#include "../common/program.h"

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

      /// Makes @p points those of all processes on the first one, and none on
      /// the others.
      template <typename PointType>
      void
      gather(const MPI_Comm communicator, std::vector<PointType> &points)
      {
        static_assert(std::is_trivially_copyable<PointType>::value, "");
        const char *const begin = reinterpret_cast<const char *>(points.data());
        const std::vector<char> bytes(begin,
                                      begin +
                                        points.size() * sizeof(PointType));
        points.clear();
        for (const auto &part : Utilities::MPI::gather(communicator, bytes))
          {
            const std::size_t first = points.size();
            points.resize(first + part.size() / sizeof(PointType));
            std::memcpy(points.data() + first, part.data(), part.size());
          }
      }

      /// Where the plane x[axis] = station cuts a facet in three dimensions:
      /// the points of the cut a quarter of its length from its ends.
      template <int dim>
      std::vector<std::array<double, dim>>
      cuts_of_facet(const PolytopicMesh<dim> &mesh,
                    const unsigned int        facet,
                    const int                 axis,
                    const double              station)
      {
        const unsigned int  first = mesh.facet_vertex_offset[facet];
        const unsigned int  n     = mesh.facet_vertex_offset[facet + 1] - first;
        const double *const x     = &mesh.facet_vertices[dim * first];
        // Vertices of quadrilaterals have lexicographic order.
        const unsigned int around[4] = {0, 1, n == 4 ? 3U : 2U, 2};
        std::vector<std::array<double, dim>> ends, result;
        for (unsigned int e = 0; e < n; ++e)
          {
            const double *const        a = x + dim * around[e],
                                *const b = x + dim * around[(e + 1) % n];
            if ((a[axis] < station) == (b[axis] < station))
              continue;
            const double t = (station - a[axis]) / (b[axis] - a[axis]);
            ends.emplace_back();
            for (int d = 0; d < dim; ++d)
              ends.back()[d] = (1. - t) * a[d] + t * b[d];
          }
        for (unsigned int e = 0; e + 1 < ends.size(); e += 2)
          for (const double t : {0.25, 0.75})
            {
              result.emplace_back();
              for (int d = 0; d < dim; ++d)
                result.back()[d] = (1. - t) * ends[e][d] + t * ends[e + 1][d];
            }
        return result;
      }

      int
      lift_axis(const FlowInput &input)
      {
        return input.free_stream.lift[1] != 0. ? 1 : 2;
      }

      /// Calls action(facet) for all facets of bodies on the polytopes of this
      /// process.
      template <int dim, typename Action>
      void
      for_each_facet(const AgglomerationHandler<dim> &handler,
                     const FlowInput                 &input,
                     const Action                    &action)
      {
        const PolytopicMesh<dim> &mesh = handler.polytopic_mesh();
        for (unsigned int i = 0; i < mesh.n_interfaces(); ++i)
          if (mesh.interface_polytope[2 * i] < handler.n_polytopes() &&
              input.forces.boundary_ids.count(mesh.interface_boundary_id[i]) >
                0)
            for (unsigned int f = mesh.facet_offset[i];
                 f < mesh.facet_offset[i + 1];
                 ++f)
              action(f);
      }

      /// Calls action(facet, point) for the points of cuts_of_facet().
      template <int dim, typename Action>
      void
      for_each_cut(const AgglomerationHandler<dim> &handler,
                   const FlowInput                 &input,
                   const double                     station,
                   const Action                    &action)
      {
        const PolytopicMesh<dim> &mesh = handler.polytopic_mesh();
        const int                 span = 3 - lift_axis(input);
        for_each_facet(handler, input, [&](const unsigned int f) {
          for (const auto &cut : cuts_of_facet(mesh, f, span, station))
            action(f, cut);
        });
      }

      /// State of @p function on the boundary, at the point @p at of @p facet.
      template <int dim>
      std::array<double, dim + 2>
      state_on_facet(const DiscreteFunction<dim> &function,
                     const PolytopicMesh<dim>    &mesh,
                     const unsigned int           facet,
                     const double                *at)
      {
        std::array<double, dim + 2> state;
        const double               *x[dim];
        double                     *values[dim + 2];
        for (int d = 0; d < dim; ++d)
          x[d] = at + d;
        for (int c = 0; c < dim + 2; ++c)
          values[c] = &state[c];
        function.evaluate(1, &mesh.facet_subcell[2 * facet], x, values);
        return state;
      }

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
      terms.axis     = lift_axis(input);
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
      std::vector<SurfacePoint<dim>>             points;
      std::mutex                                 mutex;
      typename CallbackIntegrand<dim>::Structure structure;
      structure.field_components = {dim + 2};
      structure.facet_input      = PointwiseRows::values;
      structure.facet_output     = PointwiseRows::values;
      CallbackIntegrand<dim> integrand(structure);
      integrand.set_terms(PointwiseRegion::boundary_facet,
                          [&](const unsigned int        n,
                              const OperatorPoint<dim> *at,
                              const BatchFields<dim>   &fields,
                              const BatchResults<dim> &) {
                            const std::lock_guard<std::mutex> lock(mutex);
                            for (unsigned int q = 0; q < n; ++q)
                              if (input.forces.boundary_ids.count(
                                    at[q].boundary_id) > 0)
                                {
                                  SurfacePoint<dim> point;
                                  std::copy_n(at[q].x, dim, point.x);
                                  double state[dim + 2];
                                  for (int c = 0; c < dim + 2; ++c)
                                    state[c] = fields.value(q, c);
                                  const auto result          = at_body(state);
                                  point.pressure_coefficient = result[0];
                                  point.mach_number          = result[1];
                                  points.push_back(point);
                                }
                          });
      integrand.set_coefficient_order(coefficient_order);
      // The integrals themselves are not needed.
      AssemblyParameters host = parameters;
      host.backend            = Backend::host;
      PointwiseOperator<dim> op(handler, host);
      op.template integrate_boundary<ConservationVector>(integrand, {&u});
      gather(handler.get_communicator(), points);
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
    std::array<double, 2>
    FlowEvaluation<dim>::at_body(const double *state) const
    {
      const FreeStream &f   = input.free_stream;
      const auto       &gas = problem.model.gas;
      const double      p   = gas.pressure(state);
      return {
        {(p - f.pressure) / (0.5 * f.density * f.speed * f.speed),
         std::sqrt(gas.momentum_squared(state) / (gas.gamma * p * state[0]))}};
    }



    template <int dim>
    std::vector<SectionPoint>
    FlowEvaluation<dim>::section(const ConservationVector &u,
                                 const double              station) const
    {
      std::vector<SectionPoint>   points;
      const PolytopicMesh<dim>   &mesh = handler.polytopic_mesh();
      const int                   lift = lift_axis(input);
      const DiscreteFunction<dim> function(handler, u);
      function.prepare();
      const auto add = [&](const unsigned int             facet,
                           const std::array<double, dim> &cut) {
        SectionPoint point;
        std::copy_n(cut.begin(), dim, point.x);
        const auto result =
          at_body(state_on_facet(function, mesh, facet, cut.data()).data());
        point.pressure_coefficient = result[0];
        point.mach_number          = result[1];
        // The normal points into the body.
        point.side = mesh.facet_normal[dim * facet + lift] < 0. ? 1 : -1;
        points.push_back(point);
      };
      for_each_cut(handler, input, station, add);
      gather(handler.get_communicator(), points);
      std::sort(points.begin(),
                points.end(),
                [](const SectionPoint &a, const SectionPoint &b) {
                  return std::lexicographical_compare(a.x,
                                                      a.x + 3,
                                                      b.x,
                                                      b.x + 3);
                });
      const double length =
        points.empty() ? 0. : points.back().x[0] - points.front().x[0];
      for (SectionPoint &point : points)
        point.chord =
          length > 0. ? (point.x[0] - points.front().x[0]) / length : 0.;
      return points;
    }



    template <int dim>
    std::vector<SurfacePolygon>
    FlowEvaluation<dim>::surface_polygons(const ConservationVector &u) const
    {
      std::vector<SurfacePolygon> polygons;
      const PolytopicMesh<dim>   &mesh = handler.polytopic_mesh();
      const bool                  turn = lift_axis(input) == 1;
      const DiscreteFunction<dim> function(handler, u);
      function.prepare();
      for_each_facet(handler, input, [&](const unsigned int facet) {
        const unsigned int  first = mesh.facet_vertex_offset[facet];
        const double *const x     = &mesh.facet_vertices[dim * first];
        SurfacePolygon      polygon;
        polygon.n_corners = mesh.facet_vertex_offset[facet + 1] - first;
        double                      centre[dim] = {};
        std::array<unsigned int, 4> around      = {{0, 1, 3, 2}};
        dealii::Tensor<1, 3>        edges[2], normal;
        if (polygon.n_corners == 3)
          around = {{0, 1, 2, 0}};
        for (int d = 0; d < dim; ++d)
          {
            edges[0][d] = x[dim + d] - x[d];
            edges[1][d] = x[2 * dim + d] - x[d];
            normal[d]   = mesh.facet_normal[dim * facet + d];
          }
        // The normal vector of the mesh points into the body.
        if (cross_product_3d(edges[0], edges[1]) * normal > 0.)
          std::reverse(around.begin(), around.begin() + polygon.n_corners);
        for (unsigned int v = 0; v < polygon.n_corners; ++v)
          {
            const double *const corner = x + dim * around[v];
            for (int d = 0; d < dim; ++d)
              centre[d] += corner[d] / polygon.n_corners;
            polygon.corners[v][0] = corner[0];
            polygon.corners[v][1] = turn ? -corner[dim - 1] : corner[1];
            polygon.corners[v][2] = turn ? corner[1] : corner[dim - 1];
          }
        polygon.value =
          at_body(state_on_facet(function, mesh, facet, centre).data())[0];
        polygons.push_back(polygon);
      });
      gather(handler.get_communicator(), polygons);
      std::sort(polygons.begin(),
                polygons.end(),
                [](const SurfacePolygon &a, const SurfacePolygon &b) {
                  return std::lexicographical_compare(a.corners[0],
                                                      a.corners[0] +
                                                        3 * a.n_corners,
                                                      b.corners[0],
                                                      b.corners[0] +
                                                        3 * b.n_corners);
                });
      return polygons;
    }



    template <int dim>
    void
    check_stations(const AgglomerationHandler<dim> &handler,
                   const FlowInput                 &input)
    {
      for (const double station : input.forces.stations)
        {
          unsigned int n = 0;
          for_each_cut(handler,
                       input,
                       station,
                       [&](const unsigned int,
                           const std::array<double, dim> &) { ++n; });
          AssertThrow(Utilities::MPI::max(n, handler.get_communicator()) > 0,
                      ExcMessage("Forces/Span stations has " +
                                 short_text(station) +
                                 ", where the boundary of Forces/Boundary ids "
                                 "has no points: give a coordinate " +
                                 (lift_axis(input) == 1 ? 'z' : 'y') +
                                 std::string(" of the body, beside a plane of "
                                             "symmetry where the mesh ends.")));
        }
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
    template void
    check_stations(const AgglomerationHandler<2> &, const FlowInput &);
    template void
    check_stations(const AgglomerationHandler<3> &, const FlowInput &);
  } // namespace Application
} // namespace Tessella
