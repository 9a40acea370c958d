// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "unsteady_flow.h"

#include <tessella/time_stepping/time_state.h>

#include <cmath>
#include <vector>

namespace Tessella
{
  namespace Application
  {
    namespace
    {
      template <int dim>
      Flow::SteadyIntegrands<dim>
      make_integrands(const FlowInput        &input,
                      const FlowProblem<dim> &problem,
                      const unsigned int      degree,
                      const unsigned int      coefficient_order)
      {
        SteadyModelData data;
        data.coefficient_order = coefficient_order;
        return input.shock.active
                 ? make_steady_shock_flow(problem.model, degree, data)
                 : make_steady_flow(problem.model, degree, data);
      }

      /// Volume of the bounding box of a polytope.
      template <int dim>
      double
      box_volume(const PolytopicMesh<dim> &mesh, const unsigned int k)
      {
        const double *const box    = &mesh.box[2 * dim * k];
        double              result = 1.;
        for (int d = 0; d < dim; ++d)
          result *= box[dim + d] - box[d];
        return result;
      }
    } // namespace



    template <int dim, typename VectorType>
    UnsteadyFlow<dim, VectorType>::UnsteadyFlow(
      const FlowInput                 &input,
      FlowProblem<dim>                &problem,
      const AgglomerationHandler<dim> &handler,
      const AgglomerationHandler<dim> &constants,
      const AssemblyParameters        &data,
      const unsigned int               coefficient_order)
      : input(input)
      , problem(problem)
      , handler(handler)
      , constants(constants)
      , integrands(make_integrands(
          input, problem, handler.max_degree(), coefficient_order))
      , viscosity(input.shock.create(handler, problem.model.gas))
      , polytopewise(handler, coefficient_order)
      , op({&handler, &constants}, 0, data)
      , on_constants({&handler, &constants}, 1, data)
      , data_without(problem.data)
    {
      for (VectorType *vector : {&eps, &one, &marks})
        on_constants.reinit(*vector);
      const PolytopicMesh<dim> &mesh   = handler.polytopic_mesh();
      const auto               &degree = handler.polytopic_dofs().degree;
      std::vector<double>       values;
      const CFLSteps<dim>       steps(handler);
      for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
        {
          // The basis function is 1 / sqrt(box).
          values.push_back(std::sqrt(box_volume(mesh, k)));
          surface.push_back(2. * mesh.measure[k] /
                            ((2. * degree[k] + 1.) * steps.lengths()[k]));
        }
      internal::set_owned_entries(values, one);
      if (input.shock.active)
        problem.data = input.shock.description() + problem.data;
    }



    template <int dim, typename VectorType>
    UnsteadyFlow<dim, VectorType>::~UnsteadyFlow()
    {
      problem.data = data_without;
    }



    template <int dim, typename VectorType>
    typename UnsteadyFlow<dim, VectorType>::Solver::Functions
    UnsteadyFlow<dim, VectorType>::functions()
    {
      constexpr bool on_device = ConservationMemory<VectorType>::on_device;
      typename Solver::Functions result;
      if (input.shock.active)
        result.residual = [this](const double      t,
                                 const VectorType &u,
                                 VectorType       &r) {
          integrands.residual->set_time(t);
          viscosity->compute(u, eps);
          op.template residual<VectorType>(*integrands.residual, {&u, &eps}, r);
        };
      if (input.has_surface_speeds(on_device))
        result.speeds = [this](const VectorType &u) {
          return surface_speeds(u);
        };
      else if (input.shock.active)
        result.speeds = [this](const VectorType &u) { return point_speeds(u); };
      if (on_device)
        result.assembly = [this](const double      t,
                                 const double      tau,
                                 const VectorType &u,
                                 Matrix           &matrix) {
          integrands.matrix->set_time(t);
          marks.equ(1. / tau, one);
          op.template assemble_jacobian<VectorType>(*integrands.matrix,
                                                    {&u, &marks},
                                                    matrix);
        };
      return result;
    }



    template <int dim, typename VectorType>
    std::vector<double>
    UnsteadyFlow<dim, VectorType>::surface_speeds(const VectorType &u)
    {
      if (viscosity != nullptr)
        viscosity->compute(u, eps);
      on_constants.template residual<VectorType>(*integrands.speed,
                                                 {&u, &eps},
                                                 marks);
      std::vector<double> result = internal::owned_entries(marks);
      for (unsigned int k = 0; k < result.size(); ++k)
        result[k] *=
          std::sqrt(box_volume(handler.polytopic_mesh(), k)) / surface[k];
      return result;
    }



    template <int dim, typename VectorType>
    std::vector<double>
    UnsteadyFlow<dim, VectorType>::point_speeds(const VectorType &u)
    {
      HostVector<double>        copy;
      const ConservationVector &vector = copy;
      op.reinit(copy);
      internal::set_owned_entries(internal::owned_entries(u), copy);
      std::vector<double> speeds = problem.largest_speeds(polytopewise, vector);
      const std::vector<double> strength =
        polytopewise.evaluate(input.shock.sensor(problem.model.gas), vector);
      for (unsigned int k = 0; k < speeds.size(); ++k)
        if (speeds[k] >= 0.)
          speeds[k] += (2. * handler.polytopic_dofs().degree[k] + 1.) /
                       std::pow(handler.polytopic_mesh().measure[k], 1. / dim) *
                       strength[k];
      return speeds;
    }



    template class UnsteadyFlow<2, HostVector<double>>;
    template class UnsteadyFlow<3, HostVector<double>>;
    template class UnsteadyFlow<2, DeviceVector<double>>;
    template class UnsteadyFlow<3, DeviceVector<double>>;
  } // namespace Application
} // namespace Tessella
