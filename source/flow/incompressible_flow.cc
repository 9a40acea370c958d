// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/exceptions.h>
#include <deal.II/base/mpi.h>

#include <tessella/flow/incompressible_flow.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "incompressible_scheme.h"

namespace Tessella
{
  namespace Flow
  {
    using namespace dealii;

    namespace
    {
      std::string
      value_text(const double value)
      {
        std::ostringstream text;
        text << value;
        return text.str();
      }

      void
      check_temperature(const IncompressibleParameters &p)
      {
        const TemperatureParameters &t = p.temperature;
        AssertThrow(t.diffusivity > 0. && std::isfinite(t.diffusivity),
                    ExcMessage("The diffusivity of the temperature is " +
                               value_text(t.diffusivity) +
                               ", but must be positive."));
        AssertThrow(std::isfinite(t.expansion) && std::isfinite(t.reference) &&
                      std::isfinite(t.gravity[0]) &&
                      std::isfinite(t.gravity[1]) &&
                      std::isfinite(t.gravity[2]),
                    ExcMessage("The expansion coefficient, the gravity and the "
                               "reference temperature must be finite."));
      }

      void
      check_parameters(const IncompressibleParameters &p)
      {
        const auto check = [](const bool good, const std::string &text) {
          AssertThrow(good, ExcMessage(text));
        };
        check(p.viscosity > 0. && std::isfinite(p.viscosity),
              "The viscosity is " + value_text(p.viscosity) +
                ", but must be positive.");
        check(p.degree >= 1 && p.pressure_degree >= 1 &&
                (p.pressure_degree == p.degree ||
                 p.pressure_degree + 1 == p.degree),
              "The pressure has degree " + std::to_string(p.pressure_degree) +
                " and the velocity degree " + std::to_string(p.degree) +
                ": the degree of the pressure must be that of the velocity or "
                "lower by one, and at least 1.");
        const bool         dual = p.method == SplittingMethod::dual_splitting;
        const unsigned int largest = dual ? 3 : 2;
        check(p.order >= 1 && p.order <= largest,
              std::string(dual ? "Dual splitting" : "Pressure correction") +
                " has no order " + std::to_string(p.order) +
                ": choose an order from 1 to " + std::to_string(largest) + ".");
        check(p.tolerance > 0. && p.tolerance < 1.,
              "The tolerance of the solvers is " + value_text(p.tolerance) +
                ", but must be between 0 and 1.");
        check(p.divergence_factor >= 0. && p.continuity_factor >= 0. &&
                p.zeta >= 0.,
              "The factors of penalties and of the convective flux must not be "
              "negative.");
        if (p.temperature.enabled)
          check_temperature(p);
      }

      /// The parameters after a check.
      IncompressibleParameters
      checked(const IncompressibleParameters &given)
      {
        check_parameters(given);
        IncompressibleParameters result = given;
        if (given.assembly.backend != Backend::cuda)
          result.assembly.backend = Backend::host;
        return result;
      }
    } // namespace



    template <int dim>
    struct IncompressibleFlow<dim>::Implementation
    {
      std::unique_ptr<internal::FlowScheme<dim>> scheme;
    };



    template <int dim>
    IncompressibleFlow<dim>::IncompressibleFlow(
      const Triangulation<dim>           &triangulation,
      const Mapping<dim>                 *mapping,
      const Agglomeration::Strategy<dim> &strategy,
      const FlowFunctions<dim>           &functions,
      const IncompressibleParameters     &parameters)
      : implementation(std::make_unique<Implementation>())
    {
      implementation->scheme = internal::make_flow_scheme(
        triangulation, mapping, strategy, functions, checked(parameters));
    }



    template <int dim>
    IncompressibleFlow<dim>::~IncompressibleFlow() = default;



    template <int dim>
    void
    IncompressibleFlow<dim>::initialize(const double         time,
                                        const Function<dim> &velocity,
                                        const Function<dim> *pressure,
                                        const Function<dim> *temperature)
    {
      implementation->scheme->initialize(time, velocity, pressure, temperature);
    }

    template <int dim>
    void
    IncompressibleFlow<dim>::initialize(const double              time,
                                        const IncompressibleFlow &other)
    {
      implementation->scheme->initialize(time, *other.implementation->scheme);
    }

    template <int dim>
    void
    IncompressibleFlow<dim>::initialize_with_past(const double   time,
                                                  const double   step,
                                                  Function<dim> &velocity,
                                                  Function<dim> &pressure,
                                                  Function<dim> *temperature)
    {
      implementation->scheme->initialize_with_past(
        time, step, velocity, pressure, temperature);
    }

    template <int dim>
    void
    IncompressibleFlow<dim>::step(const double dt)
    {
      implementation->scheme->step(dt);
    }

    template <int dim>
    double
    IncompressibleFlow<dim>::cfl_step(const double number) const
    {
      return implementation->scheme->cfl_step(number);
    }

    template <int dim>
    double
    IncompressibleFlow<dim>::cfl_number(const double dt) const
    {
      return dt / cfl_step(1.);
    }

    template <int dim>
    void
    IncompressibleFlow<dim>::compute_vorticity(VectorType &vorticity) const
    {
      implementation->scheme->compute_vorticity(vorticity);
    }

    template <int dim>
    std::pair<double, double>
    IncompressibleFlow<dim>::energy_and_enstrophy() const
    {
      return implementation->scheme->energy_and_enstrophy();
    }

    template <int dim>
    std::map<types::boundary_id, std::vector<double>>
    IncompressibleFlow<dim>::forces(const bool consistent) const
    {
      return implementation->scheme->forces(consistent);
    }

    template <int dim>
    std::map<types::boundary_id, double>
    IncompressibleFlow<dim>::heat_fluxes(const bool consistent) const
    {
      return implementation->scheme->heat_fluxes(consistent);
    }

    template <int dim>
    double
    IncompressibleFlow<dim>::temperature_integral() const
    {
      return implementation->scheme->temperature_integral();
    }

    template <int dim>
    std::vector<double>
    IncompressibleFlow<dim>::mass_errors() const
    {
      return implementation->scheme->mass_errors();
    }

    template <int dim>
    double
    IncompressibleFlow<dim>::mass_error() const
    {
      double largest = 0.;
      for (const double error : mass_errors())
        largest = std::max(largest, std::abs(error));
      return Utilities::MPI::max(largest, velocity_space().get_communicator());
    }

    template <int dim>
    void
    IncompressibleFlow<dim>::write_state(
      const std::string &file_name, const std::vector<double> &numbers) const
    {
      implementation->scheme->write_state(file_name, numbers);
    }

    template <int dim>
    std::vector<double>
    IncompressibleFlow<dim>::read_state(const std::string &file_name)
    {
      return implementation->scheme->read_state(file_name);
    }

    template <int dim>
    const AgglomerationHandler<dim> &
    IncompressibleFlow<dim>::velocity_space() const
    {
      return implementation->scheme->spaces.velocity;
    }

    template <int dim>
    const AgglomerationHandler<dim> &
    IncompressibleFlow<dim>::pressure_space() const
    {
      return implementation->scheme->spaces.pressure;
    }

    template <int dim>
    const AgglomerationHandler<dim> &
    IncompressibleFlow<dim>::vorticity_space() const
    {
      return implementation->scheme->spaces.vorticity();
    }

    template <int dim>
    const AgglomerationHandler<dim> &
    IncompressibleFlow<dim>::temperature_space() const
    {
      return implementation->scheme->spaces.scalar;
    }

    template <int dim>
    double
    IncompressibleFlow<dim>::time() const
    {
      return implementation->scheme->time;
    }

    template <int dim>
    unsigned int
    IncompressibleFlow<dim>::n_steps() const
    {
      return implementation->scheme->n_steps;
    }

    template <int dim>
    const HostVector<double> &
    IncompressibleFlow<dim>::velocity() const
    {
      return implementation->scheme->velocity();
    }

    template <int dim>
    const HostVector<double> &
    IncompressibleFlow<dim>::pressure() const
    {
      return implementation->scheme->pressure();
    }

    template <int dim>
    const HostVector<double> &
    IncompressibleFlow<dim>::temperature() const
    {
      return implementation->scheme->temperature();
    }

    template <int dim>
    const IncompressibleReport &
    IncompressibleFlow<dim>::report() const
    {
      return implementation->scheme->report;
    }

    template <int dim>
    std::size_t
    IncompressibleFlow<dim>::memory_consumption() const
    {
      return implementation->scheme->memory_consumption();
    }



    template class IncompressibleFlow<2>;
    template class IncompressibleFlow<3>;
  } // namespace Flow
} // namespace Tessella
