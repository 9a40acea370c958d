// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_incompressible_flow_flow_input_h
#define tessella_applications_incompressible_flow_flow_input_h

#include <deal.II/base/parameter_handler.h>
#include <deal.II/base/point.h>

#include <tessella/flow/incompressible_flow.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../common/expression.h"
#include "../common/state_function.h"

namespace Tessella
{
  namespace Application
  {
    /// Boundary values, force, heat source, initial values and exact solution
    /// of a flow, from expressions of the coordinates and t.
    template <int dim>
    class TextFlow : public Flow::FlowFunctions<dim>
    {
    public:
      using Point = OperatorPoint<dim>;

      void
      velocity(const Point &p, double *g) const override;
      double
      pressure(const Point &p) const override;
      /// du/dn of outflow parts: given for the boundary id, or that of the
      /// exact solution by differences of fourth order, or zero.
      void
      normal_derivative(const Point &p, double *h) const override;
      void
      force(const Point &p, double *f) const override;
      bool
      has_force() const override
      {
        return source != nullptr;
      }
      double
      temperature(const Point &p) const override;
      /// kappa dT/dn of the exact solution by differences of fourth order, else
      /// zero.
      double
      heat_flux(const Point &p) const override;
      double
      heat_source(const Point &p) const override;
      std::string
      device_code() const override;

      /// Velocity and pressure at the beginning; the exact solution for all
      /// times if is_exact.
      std::shared_ptr<ExpressionState<dim>> initial_velocity, initial_pressure;
      bool                                  is_exact = false;
      /// Velocities, pressures and du/dn of boundary ids that have their own,
      /// and the force, which may be null.
      std::map<unsigned int, std::shared_ptr<ExpressionState<dim>>> velocities,
        pressures, normal_derivatives;
      std::shared_ptr<ExpressionState<dim>> source;

      /// The same of the temperature; the first one is null if there is none.
      std::shared_ptr<ExpressionState<dim>> initial_temperature,
        temperature_source;
      std::map<unsigned int, std::shared_ptr<ExpressionState<dim>>>
             temperatures, heat_fluxes;
      double diffusivity = 1., reference_temperature = 0.;

    private:
      std::string
      temperature_device_code() const;
    };

    /// Sections "Flow", "Boundary conditions", "Temperature", "Time",
    /// "Discretisation" and "Solver" of the parameter file, and what the
    /// program records.
    class FlowInput
    {
    public:
      void
      declare_parameters(dealii::ParameterHandler &prm);
      void
      parse_parameters(dealii::ParameterHandler &prm, const unsigned int dim);

      template <int dim>
      TextFlow<dim>
      create() const;

      /// Parameters of the library but the degrees.
      Flow::IncompressibleParameters flow;
      std::vector<unsigned int>      degrees;
      bool                           equal_degrees = false;

      // ---- time
      double final_time = 1., step = 0., cfl_number = 0.5, growth = 1.2;
      /// Relative change of the velocity per time at which a run ends; 0: none.
      double steady_tolerance = 0.;
      /// Runs with steps that are halved so many times.
      unsigned int n_halvings  = 0;
      bool         exact_start = false, start_from_last = false;
      unsigned int checkpoint_steps = 0, stop_steps = 0;
      std::string  restart;

      // ---- what is recorded
      int    force_id    = -1;
      double force_scale = 1., strouhal_scale = 1.;
      /// Boundary ids whose heat fluxes are recorded.
      std::vector<unsigned int> heat_ids;
      double                    heat_scale = 1.;
      /// Coordinates of the probes, one after the other.
      std::vector<double> probes;
      unsigned int        record_steps     = 1;
      double              picture_interval = 0.;

      bool
      is_exact() const
      {
        return exact;
      }

    private:
      void
      declare_time(dealii::ParameterHandler &prm);
      void
      declare_temperature(dealii::ParameterHandler &prm);
      void
      declare_discretisation(dealii::ParameterHandler &prm);
      void
      declare_records(dealii::ParameterHandler &prm);
      void
      parse_flow(dealii::ParameterHandler &prm);
      void
      parse_boundary_conditions(dealii::ParameterHandler &prm);
      void
      parse_temperature(dealii::ParameterHandler &prm);
      void
      parse_temperature_conditions(dealii::ParameterHandler &prm);
      void
      parse_time(dealii::ParameterHandler &prm);
      void
      parse_discretisation(dealii::ParameterHandler &prm);
      void
      parse_records(dealii::ParameterHandler &prm);
      double
      number(const std::string &name, const std::string &text) const;
      std::vector<Expression>
      expressions(const std::string &name,
                  const std::string &text,
                  const char         separator,
                  const unsigned int n) const;
      std::map<unsigned int, std::vector<Expression>>
      by_boundary_id(const std::string &name,
                     const std::string &text,
                     const unsigned int n) const;

      unsigned int                  dim = 2;
      std::map<std::string, double> constants;
      std::vector<std::string>      variables;
      bool                          exact = false;
      std::vector<Expression>       velocity, pressure, source;
      std::map<unsigned int, std::vector<Expression>> velocities, pressures,
        normal_derivatives;
      std::vector<Expression>                         temperature, heat_source;
      std::map<unsigned int, std::vector<Expression>> temperatures, heat_fluxes;
    };
  } // namespace Application
} // namespace Tessella

#endif
