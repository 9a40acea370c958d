// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "unsteady_flow.h"

#include <tessella/time_stepping/time_state.h>

#include <cmath>
#include <type_traits>
#include <vector>

#include "polytope_functors.h"

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
      , integrands(make_integrands(
          input, problem, handler.max_degree(), coefficient_order))
      , viscosity(input.shock.create(handler, problem.model.gas))
      , sensor(
          make_polytope_functor<dim>(input.shock.sensor(problem.model.gas)))
      , polytopewise(handler, coefficient_order)
      , op({&handler, &constants}, 0, data)
      , data_without(problem.data)
    {
      PointwiseOperator<dim> on_constants({&handler, &constants}, 1, data);
      for (VectorType *vector : {&eps, &one, &marks})
        on_constants.reinit(*vector);
      // The basis function of constants is 1 / sqrt(box).
      for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
        root_box.push_back(std::sqrt(handler.bounding_box(k).volume()));
      internal::set_owned_entries(root_box, one);
      if (input.shock.active && input.time.is_implicit())
        {
          with_viscosity = std::make_unique<PointwiseOperator<dim>>(
            std::vector<const AgglomerationHandler<dim> *>{&handler,
                                                           &constants,
                                                           &constants},
            0,
            data);
          op.reinit(work);
        }
      if (input.has_surface_speeds())
        set_surfaces(constants, data);
      if (input.shock.active)
        problem.data = input.shock.description() + problem.data;
    }



    template <int dim, typename VectorType>
    void
    UnsteadyFlow<dim, VectorType>::set_surfaces(
      const AgglomerationHandler<dim> &constants,
      const AssemblyParameters        &data)
    {
      speed_operator = std::make_unique<PointwiseOperator<dim>>(
        std::vector<const AgglomerationHandler<dim> *>{&handler, &constants},
        1,
        data);
      const PolytopicMesh<dim> &mesh = handler.polytopic_mesh();
      for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
        {
          double sum = 0.;
          for (unsigned int e = mesh.polytope_interface_offset[k];
               e < mesh.polytope_interface_offset[k + 1];
               ++e)
            {
              const unsigned int i = mesh.polytope_interface[e] / 2;
              for (unsigned int f = mesh.facet_offset[i];
                   f < mesh.facet_offset[i + 1];
                   ++f)
                sum += mesh.facet_measure[f];
            }
          surface.push_back(sum);
        }
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
        {
          result.stage.residual =
            [this](const double t, const VectorType &u, VectorType &r) {
              integrands.residual->set_time(t);
              viscosity->compute(u, eps);
              op.template residual<VectorType>(*integrands.residual,
                                               {&u, &eps},
                                               r);
            };
          result.stage.linearize = [this](const VectorType &u) {
            viscosity->compute(u, eps);
          };
          result.stage.tangent = [this](const double      t,
                                        const VectorType &u,
                                        const VectorType &du,
                                        VectorType       &r) {
            apply_tangent(t, u, du, r);
          };
        }
      if (on_device || input.shock.active)
        result.stage.assembly = [this](const double      t,
                                       const double      tau,
                                       const VectorType &u,
                                       Matrix           &matrix) {
          assemble(t, tau, u, matrix);
        };
      if (input.has_surface_speeds())
        result.speeds = [this](const VectorType &u) {
          return surface_speeds(u);
        };
      else if (input.shock.active)
        result.speeds = [this](const VectorType &u) { return point_speeds(u); };
      return result;
    }



    template <int dim, typename VectorType>
    void
    UnsteadyFlow<dim, VectorType>::assemble(const double      t,
                                            const double      tau,
                                            const VectorType &u,
                                            Matrix           &matrix)
    {
      integrands.matrix->set_time(t);
      marks.equ(1. / tau, one);
      if (viscosity == nullptr)
        {
          op.template assemble_jacobian<VectorType>(*integrands.matrix,
                                                    {&u, &marks},
                                                    matrix);
          return;
        }
      with_viscosity->template assemble_jacobian<VectorType>(*integrands.matrix,
                                                             {&u, &eps, &marks},
                                                             matrix);
      if (!viscosity->exact)
        return;
      integrands.residual->set_time(t);
      if constexpr (ConservationMemory<VectorType>::on_device)
        op.template add_chained_jacobian<VectorType>(
          *integrands.residual,
          {&u, &eps},
          1,
          viscosity->device_derivative(),
          matrix);
      else
        op.template add_chained_jacobian<VectorType>(
          *integrands.residual, {&u, &eps}, 1, viscosity->derivative(), matrix);
    }



    template <int dim, typename VectorType>
    void
    UnsteadyFlow<dim, VectorType>::apply_tangent(const double      t,
                                                 const VectorType &u,
                                                 const VectorType &du,
                                                 VectorType       &result)
    {
      integrands.residual->set_time(t);
      op.template apply_tangent<VectorType>(*integrands.residual,
                                            {&u, &eps},
                                            du,
                                            result);
      if (!viscosity->exact)
        return;
      viscosity->apply_derivative(du, marks);
      op.template apply_tangent<VectorType>(
        *integrands.residual, {&u, &eps}, marks, work, 1);
      result.add(1., work);
    }



    template <int dim, typename VectorType>
    std::vector<double>
    UnsteadyFlow<dim, VectorType>::surface_speeds(const VectorType &u)
    {
      if (viscosity != nullptr)
        viscosity->compute(u, eps);
      speed_operator->template residual<VectorType>(*integrands.speed,
                                                    {&u, &eps},
                                                    marks);
      std::vector<double> result = internal::owned_entries(marks);
      for (unsigned int k = 0; k < result.size(); ++k)
        result[k] *= root_box[k] / surface[k];
      return result;
    }



    template <int dim, typename VectorType>
    std::vector<double>
    UnsteadyFlow<dim, VectorType>::point_speeds(const VectorType &u)
    {
      using Coefficients =
        std::conditional_t<ConservationMemory<VectorType>::on_device,
                           VectorType,
                           ConservationVector>;
      const Coefficients &vector = u;
      std::vector<double> speeds =
        polytopewise.evaluate(*problem.largest_speed, vector);
      const std::vector<double> strength =
        polytopewise.evaluate(*sensor, vector);
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
