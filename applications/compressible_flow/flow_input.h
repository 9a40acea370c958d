// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_compressible_flow_flow_input_h
#define tessella_applications_compressible_flow_flow_input_h

#include <deal.II/base/parameter_handler.h>

#include <tessella/flow/pseudo_transient.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "../common/conservation_problem.h"
#include "../common/expression.h"
#include "flow_model.h"
#include "shock_input.h"

namespace Tessella
{
  namespace Application
  {
    /// Undisturbed flow, to which coefficients of forces and pressure refer.
    struct FreeStream
    {
      double density = 1., speed = 0., pressure = 1.;
      /// Unit vectors of drag and lift.
      double drag[3] = {1., 0., 0.}, lift[3] = {0., 1., 0.};
    };

    /// Point of a section of a body from another source, such as a measured
    /// one.
    struct KnownSectionPoint
    {
      double station;
      int    side; ///< 1: upper side, -1: lower side
      double chord, pressure_coefficient;
    };

    /// Reads a file of the entry Forces/Section data: lines with station, side,
    /// part of the chord and pressure coefficient, separated by commas. Lines
    /// that begin with # and one of names before all numbers are left out.
    /// Another line throws, and so does a file without a point of one of
    /// @p stations.
    std::vector<KnownSectionPoint>
    read_section_data(const std::string         &file,
                      const std::vector<double> &stations);

    /// Whether two coordinates of sections are the same but for rounding.
    bool
    is_same_station(const double a, const double b);

    /// Section "Forces".
    struct ForceInput
    {
      /// Parts of the boundary, the body; empty: no forces.
      std::set<dealii::types::boundary_id> boundary_ids;
      double                               length = 1., area = 1.;
      std::vector<double>                  moment_centre;
      /// Coordinates of sections along the span.
      std::vector<double> stations;
      /// File with points of sections for comparison, and these points.
      std::string                    section_file;
      std::vector<KnownSectionPoint> section_data;
      /// Steps of a steady run between two evaluations; 0: only at the end.
      unsigned int steps = 10;
    };

    /// A flow with its data. The integrand depends on the degree.
    template <int dim>
    struct FlowProblem : ConservationProblem<dim>
    {
      FlowModel<dim>                      model;
      std::vector<double>                 free_stream_state;
      std::shared_ptr<StateFunction<dim>> exact_function;

      /// Sets the integrand for degrees up to @p degree.
      void
      set_degree(const unsigned int degree)
      {
        this->integrand = make_flow_integrand(model, degree);
      }
    };

    /// Sections "Flow", "Boundary conditions", "Steady", "Shock capturing",
    /// "Forces", "Time" and "Limiter" of the parameter file.
    class FlowInput : public ConservationSettings
    {
    public:
      void
      declare_parameters(dealii::ParameterHandler &prm);
      void
      parse_parameters(dealii::ParameterHandler &prm, const unsigned int dim);

      template <int dim>
      std::unique_ptr<FlowProblem<dim>>
      create() const;

      /// Whether a state is given by expressions, which only the host has.
      bool
      needs_host() const
      {
        return !exact.empty();
      }

      /// Whether vectors are on a device.
      bool
      runs_on_device(const Backend backend) const;
      /// Throws if Execution/Backend asks for a device that cannot evaluate the
      /// flow.
      void
      check_backend(const Backend backend) const;
      /// Whether steps of unsteady flow follow from means of wave speeds over
      /// surfaces.
      bool
      has_surface_speeds() const
      {
        return wave_speeds == "surface";
      }

      bool steady = false, reconstruct = false, start_from_last = false;
      SteadyJacobian jacobian = SteadyJacobian::exact;
      /// Tolerance of solutions that are only starts, or 0.
      double                    start_tolerance = 0.;
      Flow::ReconstructionData  reconstruction;
      Flow::PseudoTransientData pseudo_transient;
      ShockInput                shock;
      double                    largest_change = 0.2, tick = 0.;
      unsigned int              n_halvings = 6;
      /// Steps of a steady run after which fields are written; 0: at the end.
      unsigned int field_steps = 0;
      FreeStream   free_stream;
      ForceInput   forces;

    private:
      void
      declare_flow(dealii::ParameterHandler &prm);
      void
      declare_steady(dealii::ParameterHandler &prm);
      void
      parse_flow(dealii::ParameterHandler &prm);
      void
      parse_free_stream(dealii::ParameterHandler &prm);
      void
      parse_viscosity(dealii::ParameterHandler &prm);
      void
      parse_boundary_conditions(dealii::ParameterHandler &prm);
      void
      parse_steady(dealii::ParameterHandler &prm);
      void
      parse_forces(dealii::ParameterHandler &prm);
      std::vector<Expression>
      parse_state(const std::string &name,
                  const std::string &text,
                  const bool         with_time) const;
      std::vector<double>
      parse_numbers(const std::string &name,
                    const std::string &text,
                    const char         separator) const;
      template <int dim>
      Flow::BoundaryConditions<dim>
      create_boundary(const Flow::IdealGas<dim> &gas,
                      const std::vector<double> &free_stream_state) const;

      struct Condition
      {
        std::string         type;
        std::vector<double> values;
      };

      unsigned int space_dimension = 2;
      double       gamma           = 1.4;
      /// 0: no viscosity.
      double reynolds = 0., sutherland_ratio = 0.4, penalty_constant = 4.;
      Flow::Viscosity<2>            viscosity;
      Flow::ChosenFlux              numerical_flux;
      std::vector<std::string>      variables;
      std::map<std::string, double> constants;
      std::string                   initial_text, exact_text, wave_speeds;
      std::vector<Expression>       initial, exact;
      bool                          positivity = false;
      std::map<int, Condition>      conditions;
    };
  } // namespace Application
} // namespace Tessella

#endif
