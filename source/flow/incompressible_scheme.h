// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_flow_incompressible_scheme_h
#define tessella_source_flow_incompressible_scheme_h

#include <deal.II/base/function.h>
#include <deal.II/base/timer.h>

#include <tessella/operators/polytopewise_operator.h>
#include <tessella/time_stepping/bdf.h>
#include <tessella/time_stepping/cfl.h>
#include <tessella/time_stepping/time_history.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "incompressible_solvers.h"
#include "incompressible_temperature.h"
#include "incompressible_transport.h"

// Stages of the splitting methods of IncompressibleFlow.

namespace Tessella
{
  namespace Flow
  {
    namespace internal
    {
      /// Methods of IncompressibleFlow for vectors in any memory. Functions are
      /// those of that class.
      template <int dim>
      class FlowScheme
      {
      public:
        FlowScheme(const dealii::Triangulation<dim>   &triangulation,
                   const dealii::Mapping<dim>         *mapping,
                   const Agglomeration::Strategy<dim> &strategy,
                   const FlowFunctions<dim>           &functions,
                   const IncompressibleParameters     &parameters)
          : parameters(parameters)
          , functions(functions)
          , spaces(triangulation, mapping, strategy, parameters)
        {}
        virtual ~FlowScheme() = default;

        virtual void
        initialize(const double                 time,
                   const dealii::Function<dim> &velocity,
                   const dealii::Function<dim> *pressure,
                   const dealii::Function<dim> *temperature) = 0;
        virtual void
        initialize_with_past(const double           time,
                             const double           step,
                             dealii::Function<dim> &velocity,
                             dealii::Function<dim> &pressure,
                             dealii::Function<dim> *temperature) = 0;
        virtual void
        initialize(const double time, FlowScheme &other) = 0;
        virtual void
        step(const double dt) = 0;
        virtual double
        cfl_step(const double cfl_number) = 0;
        /// Vectors in the memory of the host, valid until the state changes.
        virtual const FlowVector &
        velocity() = 0;
        virtual const FlowVector &
        pressure() = 0;
        virtual const FlowVector &
        temperature() = 0;
        virtual void
        compute_vorticity(FlowVector &result) = 0;
        virtual std::pair<double, double>
        energy_and_enstrophy() = 0;
        virtual std::map<dealii::types::boundary_id, std::vector<double>>
        forces(const bool consistent) = 0;
        virtual std::map<dealii::types::boundary_id, double>
        heat_fluxes(const bool consistent) = 0;
        virtual double
        temperature_integral() = 0;
        virtual std::vector<double>
        mass_errors() = 0;
        virtual void
        write_state(const std::string         &file_name,
                    const std::vector<double> &numbers) = 0;
        virtual std::vector<double>
        read_state(const std::string &file_name) = 0;
        virtual std::size_t
        memory_consumption() const = 0;

        const IncompressibleParameters parameters;
        const FlowFunctions<dim>      &functions;
        const FlowSpaces<dim>          spaces;
        double                         time    = 0.;
        unsigned int                   n_steps = 0;
        IncompressibleReport           report;
      };

      /// The scheme on the backend of the parameters, which is host or cuda.
      template <int dim>
      std::unique_ptr<FlowScheme<dim>>
      make_flow_scheme(const dealii::Triangulation<dim>   &triangulation,
                       const dealii::Mapping<dim>         *mapping,
                       const Agglomeration::Strategy<dim> &strategy,
                       const FlowFunctions<dim>           &functions,
                       const IncompressibleParameters     &parameters);



      /// Splitting methods for vectors of the host or of a device, where the
      /// vectors of a step stay.
      template <int dim, typename VectorType>
      class SplittingScheme : public FlowScheme<dim>
      {
      public:
        SplittingScheme(const dealii::Triangulation<dim>   &triangulation,
                        const dealii::Mapping<dim>         *mapping,
                        const Agglomeration::Strategy<dim> &strategy,
                        const FlowFunctions<dim>           &functions,
                        const IncompressibleParameters     &parameters);

        void
        initialize(const double                 time,
                   const dealii::Function<dim> &velocity,
                   const dealii::Function<dim> *pressure,
                   const dealii::Function<dim> *temperature) override;
        void
        initialize_with_past(const double           time,
                             const double           step,
                             dealii::Function<dim> &velocity,
                             dealii::Function<dim> &pressure,
                             dealii::Function<dim> *temperature) override;
        void
        initialize(const double time, FlowScheme<dim> &other) override;
        void
        step(const double dt) override;
        double
        cfl_step(const double cfl_number) override;
        const FlowVector &
        velocity() override;
        const FlowVector &
        pressure() override;
        const FlowVector &
        temperature() override;
        void
        compute_vorticity(FlowVector &result) override;
        std::pair<double, double>
        energy_and_enstrophy() override;
        std::map<dealii::types::boundary_id, std::vector<double>>
        forces(const bool consistent) override;
        std::map<dealii::types::boundary_id, double>
        heat_fluxes(const bool consistent) override;
        double
        temperature_integral() override;
        std::vector<double>
        mass_errors() override;
        void
        write_state(const std::string         &file_name,
                    const std::vector<double> &numbers) override;
        std::vector<double>
        read_state(const std::string &file_name) override;
        std::size_t
        memory_consumption() const override;

      private:
        template <typename F>
        using Integrand = FlowIntegrand<dim, F>;
        using Data      = FlowFunctionData<dim>;
        using FlowScheme<dim>::functions;
        using FlowScheme<dim>::n_steps;
        using FlowScheme<dim>::parameters;
        using FlowScheme<dim>::report;
        using FlowScheme<dim>::spaces;
        using FlowScheme<dim>::time;

        // ---- stages of a step
        using Step = FlowStep<VectorType>;
        Step
        make_step(const double dt) const;
        void
        compute_convection(const double      t,
                           const VectorType &u,
                           VectorType       &result);
        /// sum alpha_i u^{n-i} / gamma and what is explicit, as a velocity.
        void
        explicit_velocity(const Step &s, VectorType &result);
        void
        make_subcycles();
        /// Ends the stage of the convection.
        void
        finish_convection();
        void
        add_force(const double t, const double factor, VectorType &rhs);
        /// Adds to a first guess what the stages after the viscous solve
        /// changed in the last step, times a factor and the ratio of the steps.
        /// Without it a steady flow would need iterations in every step.
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
        dual_splitting_step(const Step &s);
        void
        pressure_correction_step(const Step &s);
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
        /// Bytes of device memory that the flow needs at least, 0 on the host.
        /// Throws on all processes if a device has less.
        double
        checked_device_memory() const;
        void
        check_boundary_ids();
        /// Axes to which symmetry parts are normal, for each condition.
        std::vector<unsigned int>
        symmetry_axes();
        /// Boundary ids on which each component of the velocity is given.
        std::vector<std::set<dealii::types::boundary_id>>
        given_components();
        /// The temperature, or an error if there is none.
        TemperatureEquation<dim, VectorType> &
        heat() const;
        void
        check_net_flux(const double t);
        /// Throws if the operators of a step had results that are not finite.
        void
        check_operators();
        /// Throws if @p norm, a sum of norms of vectors of a step, is not
        /// finite.
        void
        check_finite(const Step &s, const double norm);
        /// Raises speeds of polytopes to those of the boundary velocity, int
        /// |g|^2 / int |g|.
        void
        add_boundary_speeds(std::vector<double> &speeds);
        std::string
        description() const;
        /// Copies of the state are old.
        void
        state_changes();

        template <typename Vector>
        void
        residual(PointwiseOperator<dim>            &op,
                 PointwiseIntegrand<dim>           &integrand,
                 const double                       t,
                 const std::vector<const Vector *> &fields,
                 Vector                            &result)
        {
          integrand.set_time(t);
          op.template residual<Vector>(integrand, fields, result);
        }
        /// Seconds since the last call.
        double
        lap()
        {
          const double seconds = timer.wall_time();
          timer.restart();
          return seconds;
        }

        const bool has_outflow, has_velocity;

        PointwiseOperator<dim> u_op, up_op, pu_op, p_op, pw_op, wu_op, puuu_op,
          cu_op, c_op;
        // Forces need another order of quadrature than the gradient.
        PointwiseOperator<dim>                      force_op;
        Integrand<Convection<dim, Data>>            convection;
        Integrand<PressureGradient<dim, Data>>      gradient;
        Integrand<VelocityDivergence<dim, Data>>    divergence;
        Integrand<ViscousBoundaryData<dim, Data>>   viscous_data;
        Integrand<PressureBoundaryData<dim, Data>>  outflow_pressure;
        Integrand<PressureNeumannData<dim, Data>>   neumann_data;
        Integrand<ConvectionDifference<dim>>        convection_difference;
        Integrand<Vorticity<dim>>                   curl;
        Integrand<Force<dim, Data>>                 force;
        FunctorIntegrand<dim, DataFlux<dim, Data>>  data_flux;
        FunctorIntegrand<dim, DataSpeed<dim, Data>> data_speed;

        /// Bytes that the flow needs at least on a device; checked before the
        /// first matrix is made.
        const double              needed_memory;
        FlowMass<dim, VectorType> velocity_mass, pressure_mass, vorticity_mass;
        std::unique_ptr<PressureSolver<dim, VectorType>>  pressure_solver;
        std::unique_ptr<DiffusionSolver<dim, VectorType>> velocity_solver;
        std::unique_ptr<PenaltySolver<dim, VectorType>>   penalty_solver;
        /// Null without subcycles.
        std::unique_ptr<SubcycledTransport<dim,
                                           VectorType,
                                           Convection<dim, Data, true>,
                                           Convection<dim, Data, true, true>,
                                           DerivativeAlong<dim>>>
          subcycles;
        /// Null without temperature.
        std::unique_ptr<TemperatureEquation<dim, VectorType>> heat_equation;
        std::unique_ptr<CFLSteps<dim>>                        cfl;
        mutable PolytopewiseOperator<dim>                     polytopewise;

        VectorType u, p;
        /// Velocity of the last solve with viscosity, for consistent forces:
        /// what follows it in a step changes the jumps to boundary values.
        VectorType viscous_u, next_viscous_u;
        /// Velocities, convections and pressures before the present ones.
        TimeHistory<VectorType> past_u, past_n, past_p;
        /// Convection of u, and vectors of the spaces for intermediate results.
        VectorType present_convection, work_u, work_p, omega, zero_omega,
          terms_u, terms_p, sum_u, rhs_u, next_u, next_p, weak_divergence, phi;
        /// Copies of the state in the memory of the host.
        FlowVector host_u, host_p, host_t;
        bool       host_u_is_present = false, host_p_is_present = false,
             host_t_is_present = false;
        dealii::Timer timer;
      };
    } // namespace internal
  }   // namespace Flow
} // namespace Tessella

#endif
