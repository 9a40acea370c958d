// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_incompressible_flow_flow_run_h
#define tessella_applications_incompressible_flow_flow_run_h

#include <deal.II/base/point.h>
#include <deal.II/base/timer.h>

#include <tessella/flow/incompressible_flow.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "../common/study_table.h"
#include "../common/text_table.h"
#include "flow_input.h"

namespace Tessella
{
  namespace Application
  {
    /// Time loop of a flow on one mesh with one degree, with its records,
    /// pictures and checkpoints.
    template <int dim>
    class FlowRun
    {
    public:
      /// @p suffix follows the name of the files of this run. It starts from
      /// the flow @p first unless that is null.
      FlowRun(const FlowInput                     &input,
              const OutputInput                   &output,
              const TextFlow<dim>                 &problem,
              Flow::IncompressibleFlow<dim>       &flow,
              const std::string                   &suffix,
              const Flow::IncompressibleFlow<dim> *first);

      /// Advances to the final time, or by the number of steps after which
      /// the run shall stop, with fixed steps of length @p step or, if it is
      /// zero, by the CFL number.
      void
      run(const double step);

      /// Whether the final time was reached.
      bool
      finished() const;
      /// Mean and largest numbers of iterations of a step.
      struct Iterations
      {
        double       mean    = 0.;
        unsigned int largest = 0;
      };
      Iterations   pressure, velocity, penalty, temperature;
      unsigned int n_steps = 0; ///< of this run
      double       seconds = 0.;

      /// One line about the heat fluxes at the end, empty without them.
      std::string
      describe_heat() const;
      /// One line about the forces in the second half of the time, empty
      /// without forces.
      std::string
      describe_forces() const;

      /// File with the state at the end, if the run was stopped.
      std::string
      checkpoint() const;

      /// Writes the records and, if @p fields, velocity, pressure, vorticity,
      /// divergence and the mass errors of polytopes as VTU.
      void
      write_final_state(const bool fields) const;

    private:
      void
      start(const double step);
      /// Goes on from the checkpoint of the input.
      void
      restart();
      double
      next_step(const double fixed) const;
      void
      advance(const double dt);
      void
      count_iterations();
      void
      record();
      void
      record_forces();
      void
      record_history(const double energy, const double dissipation);
      void
      record_temperature();
      void
      record_probes();
      void
      write_records() const;
      void
      write_fields(const std::string &file_name) const;
      /// Plots iterations, seconds, energy and forces against the time.
      void
      write_plots() const;
      /// End of the name of the picture after a number of steps.
      std::string
      picture_name(const unsigned int steps) const;
      void
      write_picture();
      void
      write_checkpoint() const;
      void
      print_progress();

      const FlowInput                           &input;
      const OutputInput                         &output;
      const TextFlow<dim>                       &problem;
      Flow::IncompressibleFlow<dim>             &flow;
      const Flow::IncompressibleFlow<dim> *const first;
      const std::string                          suffix;
      std::vector<dealii::Point<dim>>            probes;
      TextTable                                  records;
      /// A record of the flow since its beginning, also of the runs before this
      /// one; what was not recorded is not a number.
      struct HistoryRow
      {
        double time, energy, dissipation;
        /// Iterations of pressure, velocity, penalty step and temperature.
        double iterations[4];
        double forces[dim];
      };
      static constexpr unsigned int n_history =
        sizeof(HistoryRow) / sizeof(double);
      std::vector<HistoryRow> history;
      /// Time and seconds of convection, pressure, velocity, penalty step and
      /// temperature in the steps of this run that are recorded.
      std::vector<std::array<double, 6>> stage_seconds;
      /// Times and numbers of steps.
      std::vector<std::pair<double, unsigned int>> pictures;
      bool                                         steady = false;
      double last_step = 0., begin = 0., next_line = 0., next_picture = 0.;
      dealii::Timer timer;
    };
  } // namespace Application
} // namespace Tessella

#endif
