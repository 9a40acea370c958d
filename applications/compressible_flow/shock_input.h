// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_compressible_flow_shock_input_h
#define tessella_applications_compressible_flow_shock_input_h

#include <deal.II/base/parameter_handler.h>

#include <tessella/flow/artificial_viscosity.h>

#include <memory>
#include <string>

#include "flow_model.h"

namespace Tessella
{
  namespace Application
  {
    /// Section "Shock capturing".
    struct ShockInput
    {
      bool   active    = false;
      double threshold = -2., width = 1., strength = 0.5;
      /// Whether the tangent has the derivative of the viscosity.
      bool exact = true;

      void
      declare_parameters(dealii::ParameterHandler &prm);
      void
      parse_parameters(dealii::ParameterHandler &prm);

      template <int dim>
      Flow::ShockSensor<dim>
      sensor(const Flow::IdealGas<dim> &gas) const
      {
        Flow::ShockSensor<dim> result;
        result.gas       = gas;
        result.threshold = threshold;
        result.width     = width;
        result.strength  = strength;
        return result;
      }
      /// Null without a sensor.
      template <int dim>
      std::unique_ptr<Flow::ArtificialViscosity<dim>>
      create(const AgglomerationHandler<dim> &handler,
             const Flow::IdealGas<dim>       &gas) const;

      /// The text that is the same for a checkpoint and a run that goes on from
      /// it.
      std::string
      description() const;
    };
  } // namespace Application
} // namespace Tessella

#endif
