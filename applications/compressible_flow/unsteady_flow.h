// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_compressible_flow_unsteady_flow_h
#define tessella_applications_compressible_flow_unsteady_flow_h

#include <tessella/operators/pointwise_operator.h>

#include <memory>
#include <string>
#include <vector>

#include "../common/conservation_solver.h"
#include "flow_input.h"

namespace Tessella
{
  namespace Application
  {
    /**
     * What ConservationSolver needs of unsteady flow beside the integrand of
     * the problem, with vectors of the host or of a device:
     *  - with a sensor, the residual with the viscosity of the state, which is
     *    computed for every residual, and wave speeds with the viscous part (2
     *    p + 1) eps / h, with which explicit methods are stable;
     *  - wave speeds as means over the surfaces of polytopes, if Flow/Wave
     *    speeds = surface;
     *  - for implicit methods on a device or with a sensor, the matrix M / tau
     *    + R'. With Shock capturing/Tangent = exact, R' has the derivative of
     *    the viscosity, in the matrix and in products without one.
     */
    template <int dim, typename VectorType>
    class UnsteadyFlow
    {
    public:
      using Solver = ConservationSolver<dim, VectorType>;
      using Matrix = typename ConservationMemory<VectorType>::Matrix;

      /// @p constants: space of degree 0 and one component on the polytopes of
      /// @p handler. All arguments must outlive the object. With a sensor, the
      /// description of the problem gets that of the sensor while the object
      /// lives.
      UnsteadyFlow(const FlowInput                 &input,
                   FlowProblem<dim>                &problem,
                   const AgglomerationHandler<dim> &handler,
                   const AgglomerationHandler<dim> &constants,
                   const AssemblyParameters        &data,
                   const unsigned int               coefficient_order);
      ~UnsteadyFlow();
      UnsteadyFlow(const UnsteadyFlow &) = delete;

      /// The functions; they refer to this object.
      typename Solver::Functions
      functions();

    private:
      /// M / tau + R'.
      void
      assemble(const double      t,
               const double      tau,
               const VectorType &u,
               Matrix           &matrix);
      /// R' @p du with a sensor.
      void
      apply_tangent(const double      t,
                    const VectorType &u,
                    const VectorType &du,
                    VectorType       &result);
      /// Prepares surface_speeds().
      void
      set_surfaces(const AgglomerationHandler<dim> &constants,
                   const AssemblyParameters        &data);
      std::vector<double>
      surface_speeds(const VectorType &u);
      std::vector<double>
      point_speeds(const VectorType &u);

      const FlowInput                                 &input;
      FlowProblem<dim>                                &problem;
      const AgglomerationHandler<dim>                 &handler;
      const Flow::SteadyIntegrands<dim>                integrands;
      std::unique_ptr<Flow::ArtificialViscosity<dim>>  viscosity;
      std::shared_ptr<const PolytopewiseFunction<dim>> sensor;
      PolytopewiseOperator<dim>                        polytopewise;
      /// Operators with the flow and constants, and with a third field.
      PointwiseOperator<dim>                  op;
      std::unique_ptr<PointwiseOperator<dim>> with_viscosity;
      /// Integrals of wave speeds over surfaces; null without
      /// Flow/Wave speeds = surface.
      std::unique_ptr<PointwiseOperator<dim>> speed_operator;
      /// The viscosity, or zero; a constant; integrals over surfaces, factors
      /// of the time term or changes of the viscosity; a vector of the flow.
      VectorType eps, one, marks, work;
      /// Square roots of the volumes of bounding boxes, and measures of the
      /// surfaces of polytopes.
      std::vector<double> root_box, surface;
      const std::string   data_without;
    };
  } // namespace Application
} // namespace Tessella

#endif
