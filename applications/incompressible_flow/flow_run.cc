// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "flow_run.h"

#include <deal.II/base/data_out_base.h>
#include <deal.II/base/exceptions.h>
#include <deal.II/base/mpi.h>

#include <deal.II/numerics/data_postprocessor.h>

#include <tessella/base/error_message.h>
#include <tessella/numerics/data_out.h>
#include <tessella/numerics/vector_tools.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <system_error>

#include "../common/program.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    template <int dim>
    FlowRun<dim>::FlowRun(const FlowInput                     &input,
                          const OutputInput                   &output,
                          const TextFlow<dim>                 &problem,
                          Flow::IncompressibleFlow<dim>       &flow,
                          const std::string                   &suffix,
                          const Flow::IncompressibleFlow<dim> *first)
      : input(input)
      , output(output)
      , problem(problem)
      , flow(flow)
      , first(first)
      , suffix(suffix)
    {
      for (unsigned int i = 0; i < input.probes.size(); i += dim)
        {
          probes.emplace_back();
          for (int d = 0; d < dim; ++d)
            probes.back()[d] = input.probes[i + d];
        }
    }



    template <int dim>
    bool
    FlowRun<dim>::finished() const
    {
      return steady || flow.time() > input.final_time * (1. - 1e-12);
    }



    template <int dim>
    std::string
    FlowRun<dim>::checkpoint() const
    {
      return output.file(suffix + ".checkpoint");
    }



    template <int dim>
    void
    FlowRun<dim>::start(const double step)
    {
      if (!input.restart.empty() && first == nullptr)
        restart();
      else if (first != nullptr)
        flow.initialize(0., *first);
      else if (input.exact_start)
        flow.initialize_with_past(0.,
                                  step,
                                  *problem.initial_velocity,
                                  *problem.initial_pressure,
                                  problem.initial_temperature.get());
      else
        {
          problem.initial_velocity->set_time(0.);
          problem.initial_pressure->set_time(0.);
          if (problem.initial_temperature != nullptr)
            problem.initial_temperature->set_time(0.);
          flow.initialize(0.,
                          *problem.initial_velocity,
                          problem.initial_pressure.get(),
                          problem.initial_temperature.get());
        }
      begin     = flow.time();
      next_line = begin + 0.1 * (input.final_time - begin);
    }



    template <int dim>
    void
    FlowRun<dim>::restart()
    {
      const std::vector<double> numbers = flow.read_state(input.restart);
      // See write_checkpoint().
      const bool        is_long    = numbers.size() >= 5;
      const std::size_t n_pictures = is_long ? std::size_t(numbers[4]) : 0,
                        first_row  = 5 + 2 * n_pictures;
      AssertThrow(is_long && first_row <= numbers.size() &&
                    (numbers.size() - first_row) % n_history == 0,
                  ExcMessage("The checkpoint '" + input.restart +
                             "' was not written by this program."));
      last_step    = numbers[0];
      next_picture = numbers[1];
      // The folder need not be that of the run before. Processes may see files
      // at different times: the first one decides.
      std::vector<char> exists(n_pictures, 0);
      for (std::size_t i = 0; i < n_pictures; ++i)
        {
          const std::string file =
            output.file(picture_name(numbers[6 + 2 * i]));
          std::error_code error;
          exists[i] =
            is_first_process() && std::filesystem::exists(file, error);
        }
      exists = Utilities::MPI::broadcast(MPI_COMM_WORLD, exists);
      for (std::size_t i = 0; i < n_pictures; ++i)
        if (exists[i])
          pictures.emplace_back(numbers[5 + 2 * i], numbers[6 + 2 * i]);
      history.resize((numbers.size() - first_row) / n_history);
      std::memcpy(history.data(),
                  numbers.data() + first_row,
                  history.size() * sizeof(HistoryRow));
      // Coefficients of other forces are none of this run.
      if (numbers[2] != input.force_id || numbers[3] != input.force_scale)
        for (HistoryRow &row : history)
          std::fill_n(row.forces,
                      dim,
                      std::numeric_limits<double>::quiet_NaN());
    }



    template <int dim>
    double
    FlowRun<dim>::next_step(const double fixed) const
    {
      const double left = input.final_time - flow.time();
      double       dt   = fixed;
      if (fixed == 0.)
        {
          // A fluid at rest has no largest step; the first one is short then,
          // since boundary values may set it in motion.
          dt = flow.cfl_step(input.cfl_number);
          if (!std::isfinite(dt))
            dt = 1e-4 * input.final_time;
          dt = std::min(dt, 0.1 * input.final_time);
          // A step that is a little shorter than the longest one stays as it
          // is: systems of the velocity are set up when the length changes.
          if (last_step > 0.)
            dt = last_step <= dt && dt < 1.05 * last_step
                   ? last_step
                   : std::min(dt, input.growth * last_step);
        }
      // The last steps by CFL number are equally long: the pressure of a much
      // shorter one would be disturbed.
      const double n = std::ceil((1. - 1e-9) * left / dt);
      if (n <= 1. || (n <= 20. && fixed == 0.))
        return left / n;
      return dt;
    }



    template <int dim>
    void
    FlowRun<dim>::advance(const double dt)
    {
      HostVector<double> change, temperature_change;
      const bool         has_temperature = input.flow.temperature.enabled;
      if (input.steady_tolerance > 0.)
        {
          change = flow.velocity();
          if (has_temperature)
            temperature_change = flow.temperature();
        }
      try
        {
          flow.step(dt);
        }
      catch (const ExceptionBase &exception)
        {
          write_checkpoint();
          write_records();
          AssertThrow(false,
                      ExcMessage(
                        "In step " + std::to_string(flow.n_steps() + 1) +
                        " at time " + short_text(flow.time()) + ", of length " +
                        short_text(dt) + " and CFL number " +
                        short_text(flow.cfl_number(dt)) + ": " +
                        error_message(exception) +
                        " The state before this step was written to " +
                        checkpoint() + "."));
        }
      if (input.steady_tolerance > 0.)
        {
          const auto is_small = [&](HostVector<double>       &before,
                                    const HostVector<double> &after) {
            before -= after;
            return before.l2_norm() <
                   input.steady_tolerance * dt * after.l2_norm();
          };
          steady = is_small(change, flow.velocity());
          if (has_temperature)
            steady = is_small(temperature_change, flow.temperature()) && steady;
        }
      last_step = dt;
      ++n_steps;
      count_iterations();
    }



    template <int dim>
    void
    FlowRun<dim>::count_iterations()
    {
      const auto &report = flow.report();
      const auto  count  = [&](Iterations &n, const unsigned int present) {
        n.mean += (present - n.mean) / n_steps;
        n.largest = std::max(n.largest, present);
      };
      count(pressure, report.pressure_iterations);
      count(velocity, report.velocity_iterations);
      count(penalty, report.penalty_iterations);
      count(temperature, report.temperature_iterations);
    }



    template <int dim>
    void
    FlowRun<dim>::run(const double step)
    {
      start(step);
      // A run that goes on repeats neither the last record nor a picture.
      if (history.empty())
        {
          record();
          write_picture();
        }
      timer.restart();
      while (!finished())
        {
          advance(next_step(step));
          show_progress((flow.time() - begin) / (input.final_time - begin));
          const bool stop = input.stop_steps > 0 && n_steps == input.stop_steps;
          // An interruption adds no record, so that they are those of an
          // uninterrupted run.
          if (flow.n_steps() % input.record_steps == 0 || finished())
            record();
          if (input.picture_interval > 0. &&
              flow.time() > next_picture - 1e-9 * step)
            write_picture();
          if (stop || (input.checkpoint_steps > 0 &&
                       flow.n_steps() % input.checkpoint_steps == 0))
            {
              write_checkpoint();
              write_records();
            }
          if (stop)
            break;
          if (flow.time() >= next_line && !finished())
            print_progress();
        }
      seconds = timer.wall_time();
      write_plots();
    }



    template <int dim>
    void
    FlowRun<dim>::print_progress()
    {
      const double done = (flow.time() - begin) / (input.final_time - begin);
      next_line += 0.1 * (input.final_time - begin);
      output.print_machine(
        "    time " + short_text(flow.time()) + ", step " +
        std::to_string(flow.n_steps()) + " of length " + short_text(last_step) +
        ", " + std::to_string(int(timer.wall_time())) + " s, " +
        std::to_string(int(timer.wall_time() * (1. - done) / done)) +
        " s remain");
      write_records();
    }



    template <int dim>
    void
    FlowRun<dim>::record()
    {
      const auto &report = flow.report();
      records.start_row();
      records.add("step", std::uint64_t(flow.n_steps()));
      records.add("time", flow.time(), 10);
      records.add("dt", report.step, 6);
      const auto energy = flow.energy_and_enstrophy();
      records.add("energy", energy.first, 12);
      records.add("enstrophy", energy.second, 12);
      records.add("dissipation", 2. * input.flow.viscosity * energy.second, 12);
      records.add("mass error", flow.mass_error(), 4);
      records.add("pressure iterations",
                  std::uint64_t(report.pressure_iterations));
      records.add("velocity iterations",
                  std::uint64_t(report.velocity_iterations));
      records.add("penalty iterations",
                  std::uint64_t(report.penalty_iterations));
      records.add("convection s", report.convection_seconds, 4);
      records.add("pressure s", report.pressure_seconds, 4);
      records.add("velocity s", report.velocity_seconds, 4);
      records.add("penalty s", report.penalty_seconds, 4);
      record_history(energy.first, 2. * input.flow.viscosity * energy.second);
      record_temperature();
      record_forces();
      record_probes();
    }



    template <int dim>
    void
    FlowRun<dim>::record_history(const double energy, const double dissipation)
    {
      const auto  &report = flow.report();
      const double none   = std::numeric_limits<double>::quiet_NaN();
      HistoryRow   row;
      row.time          = flow.time();
      row.energy        = energy;
      row.dissipation   = dissipation;
      row.iterations[0] = report.pressure_iterations;
      row.iterations[1] = report.velocity_iterations;
      row.iterations[2] = report.penalty_iterations;
      row.iterations[3] = report.temperature_iterations;
      // There are no iterations before the first step.
      if (flow.n_steps() == 0)
        std::fill_n(row.iterations, 4, none);
      std::fill_n(row.forces, dim, none);
      history.push_back(row);
      if (flow.n_steps() > 0)
        stage_seconds.push_back({{flow.time(),
                                  report.convection_seconds,
                                  report.pressure_seconds,
                                  report.velocity_seconds,
                                  report.penalty_seconds,
                                  report.temperature_seconds}});
    }



    template <int dim>
    void
    FlowRun<dim>::record_temperature()
    {
      if (!input.flow.temperature.enabled)
        return;
      records.add("temperature iterations",
                  std::uint64_t(flow.report().temperature_iterations));
      records.add("temperature s", flow.report().temperature_seconds, 4);
      records.add("temperature integral", flow.temperature_integral(), 12);
      if (input.heat_ids.empty())
        return;
      for (const bool consistent : {true, false})
        {
          const auto all = flow.heat_fluxes(consistent);
          for (const unsigned int id : input.heat_ids)
            {
              const auto found = all.find(id);
              AssertThrow(found != all.end(),
                          ExcMessage("Records/Heat ids has the boundary id " +
                                     std::to_string(id) +
                                     ", which the mesh does not have."));
              records.add((consistent ? "heat flux " : "direct heat flux ") +
                            std::to_string(id),
                          input.heat_scale * found->second,
                          10);
            }
        }
    }



    template <int dim>
    void
    FlowRun<dim>::record_forces()
    {
      if (input.force_id < 0)
        return;
      for (const bool consistent : {true, false})
        {
          const auto all   = flow.forces(consistent);
          const auto found = all.find(input.force_id);
          AssertThrow(found != all.end(),
                      ExcMessage("Records/Force id is " +
                                 std::to_string(input.force_id) +
                                 ", but the mesh has no such boundary "
                                 "id."));
          for (int d = 0; d < dim; ++d)
            {
              const double c = input.force_scale * found->second[d];
              if (consistent)
                history.back().forces[d] = c;
              records.add((consistent ? "force " : "direct force ") +
                            coordinate_names(dim)[d],
                          c,
                          10);
            }
        }
    }



    template <int dim>
    void
    FlowRun<dim>::record_probes()
    {
      if (probes.empty())
        return;
      const auto values = [&](const AgglomerationHandler<dim> &handler,
                              const HostVector<double>        &vector) {
        std::vector<Vector<double>>              result;
        const typename HostVector<double>::Base &base = vector;
        Tessella::VectorTools::point_values(handler, base, probes, result);
        return result;
      };
      const auto u = values(flow.velocity_space(), flow.velocity()),
                 p = values(flow.pressure_space(), flow.pressure());
      std::vector<Vector<double>> t;
      if (input.flow.temperature.enabled)
        t = values(flow.temperature_space(), flow.temperature());
      for (unsigned int i = 0; i < probes.size(); ++i)
        {
          const std::string name = " at probe " + std::to_string(i);
          records.add("p" + name, p[i](0), 10);
          for (int d = 0; d < dim; ++d)
            records.add("u" + coordinate_names(dim)[d] + name, u[i](d), 10);
          if (!t.empty())
            records.add("T" + name, t[i](0), 10);
        }
    }



    template <int dim>
    void
    FlowRun<dim>::write_records() const
    {
      // A run that goes on from a checkpoint keeps the records before it.
      const std::string from = input.restart.empty() || first != nullptr
                                 ? ""
                                 : "-from-" + short_text(begin);
      write_file(output.file(suffix + from + "-records.csv"),
                 [&](std::ostream &out) { records.write_csv(out); });
    }



    namespace
    {
      /// Curves of columns of @p rows against their first column. Of many rows
      /// about a thousand are drawn.
      template <typename Row>
      std::vector<PlotCurve>
      curves_of(
        const std::vector<Row>                                  &rows,
        const std::vector<std::pair<std::string, unsigned int>> &columns,
        const double                                             scale)
      {
        const std::size_t      every = rows.size() / 1000 + 1;
        std::vector<PlotCurve> result(columns.size());
        for (unsigned int c = 0; c < columns.size(); ++c)
          {
            result[c].label = columns[c].first;
            for (std::size_t i = 0; i < rows.size(); i += every)
              {
                const double *row = reinterpret_cast<const double *>(&rows[i]);
                result[c].x.push_back(row[0]);
                result[c].y.push_back(scale * row[columns[c].second]);
              }
          }
        return result;
      }

      /// div u of the polynomials of the polytopes, without jumps.
      template <int dim>
      class Divergence : public DataPostprocessorScalar<dim>
      {
      public:
        Divergence()
          : DataPostprocessorScalar<dim>("divergence", update_gradients)
        {}

        void
        evaluate_vector_field(
          const DataPostprocessorInputs::Vector<dim> &inputs,
          std::vector<Vector<double>>                &computed) const override
        {
          for (unsigned int q = 0; q < computed.size(); ++q)
            {
              computed[q](0) = 0.;
              for (unsigned int d = 0; d < dim; ++d)
                computed[q](0) += inputs.solution_gradients[q][d][d];
            }
        }
      };
    } // namespace



    template <int dim>
    void
    FlowRun<dim>::write_plots() const
    {
      PlotFlags flags;
      flags.x_label                                             = "time";
      flags.logarithmic_x                                       = false;
      std::vector<std::pair<std::string, unsigned int>> columns = {
        {"energy", 1}, {"dissipation", 2}};
      flags.y_label = "energy, dissipation";
      output.write_plot(curves_of(history, columns, 1.),
                        suffix + "-energy.svg",
                        flags);
      flags.logarithmic_y = false;
      columns = {{"pressure", 3}, {"velocity", 4}, {"penalty step", 5}};
      if (input.flow.temperature.enabled)
        columns.emplace_back("temperature", 6);
      flags.y_label = "iterations of a step";
      output.write_plot(curves_of(history, columns, 1.),
                        suffix + "-iterations.svg",
                        flags);
      columns = {{"convection", 1},
                 {"pressure", 2},
                 {"velocity", 3},
                 {"penalty step", 4}};
      if (input.flow.temperature.enabled)
        columns.emplace_back("temperature", 5);
      flags.y_label = "milliseconds of a step";
      output.write_plot(curves_of(stage_seconds, columns, 1e3),
                        suffix + "-times.svg",
                        flags);
      if (input.force_id < 0)
        return;
      columns.clear();
      for (unsigned int d = 0; d < dim; ++d)
        columns.emplace_back("force " + coordinate_names(dim)[d], 7 + d);
      flags.y_label = "consistent force coefficients";
      output.write_plot(curves_of(history, columns, 1.),
                        suffix + "-forces.svg",
                        flags);
    }



    template <int dim>
    void
    FlowRun<dim>::write_fields(const std::string &file_name) const
    {
      HostVector<double> vorticity;
      flow.compute_vorticity(vorticity);
      const typename HostVector<double>::Base &u = flow.velocity(),
                                              &p = flow.pressure(),
                                              &w = vorticity;
      using Interpretation   = typename PolytopicDataOut<dim>::Interpretation;
      const unsigned int   n = dim == 2 ? 1 : 3;
      const Interpretation kind =
        dim == 2 ? DataComponentInterpretation::component_is_scalar
                 : DataComponentInterpretation::component_is_part_of_vector;
      const std::vector<double> errors = flow.mass_errors();
      const Divergence<dim>     divergence;
      PolytopicDataOut<dim>     data_out(flow.velocity_space());
      data_out.add_polytope_data(Vector<double>(errors.begin(), errors.end()),
                                 "mass_error");
      data_out.add_data_vector(u, "velocity");
      data_out.add_data_vector(u, divergence);
      data_out.add_data_vector(flow.pressure_space(), p, {"pressure"});
      data_out.add_data_vector(flow.vorticity_space(),
                               w,
                               std::vector<std::string>(n, "vorticity"),
                               std::vector<Interpretation>(n, kind));
      if (input.flow.temperature.enabled)
        {
          const typename HostVector<double>::Base &t = flow.temperature();
          data_out.add_data_vector(flow.temperature_space(),
                                   t,
                                   {"temperature"});
        }
      data_out.build_patches();
      data_out.write_vtu_file(file_name);
    }



    template <int dim>
    std::string
    FlowRun<dim>::picture_name(const unsigned int steps) const
    {
      return suffix + "-" + std::to_string(steps) + ".vtu";
    }



    template <int dim>
    void
    FlowRun<dim>::write_picture()
    {
      if (!output.write_solution || input.picture_interval == 0.)
        return;
      next_picture = flow.time() + input.picture_interval;
      write_fields(output.file(picture_name(flow.n_steps())));
      pictures.emplace_back(flow.time(), flow.n_steps());
      std::vector<std::pair<double, std::string>> names;
      for (const auto &picture : pictures)
        names.emplace_back(picture.first,
                           std::filesystem::path(
                             output.file(picture_name(picture.second)))
                             .filename()
                             .string());
      write_file(output.file(suffix + ".pvd"), [&](std::ostream &out) {
        DataOutBase::write_pvd_record(out, names);
      });
    }



    template <int dim>
    void
    FlowRun<dim>::write_final_state(const bool fields) const
    {
      write_records();
      if (output.write_solution && fields)
        write_fields(output.file(suffix + "-solution.vtu"));
    }



    template <int dim>
    void
    FlowRun<dim>::write_checkpoint() const
    {
      std::vector<double> numbers = {last_step,
                                     next_picture,
                                     double(input.force_id),
                                     input.force_scale,
                                     double(pictures.size())};
      for (const auto &picture : pictures)
        {
          numbers.push_back(picture.first);
          numbers.push_back(picture.second);
        }
      const std::size_t first_row = numbers.size();
      numbers.resize(first_row + n_history * history.size());
      std::memcpy(numbers.data() + first_row,
                  history.data(),
                  history.size() * sizeof(HistoryRow));
      flow.write_state(checkpoint(), numbers);
    }



    template <int dim>
    std::string
    FlowRun<dim>::describe_heat() const
    {
      if (input.heat_ids.empty())
        return "";
      const auto consistent = flow.heat_fluxes(true),
                 direct     = flow.heat_fluxes(false);
      std::string text      = "    heat fluxes at the end:";
      for (const unsigned int id : input.heat_ids)
        text += (id == input.heat_ids[0] ? " " : "; ") + std::string("id ") +
                std::to_string(id) + " " +
                short_text(input.heat_scale * consistent.at(id)) + ", direct " +
                short_text(input.heat_scale * direct.at(id));
      return text;
    }



    template <int dim>
    std::string
    FlowRun<dim>::describe_forces() const
    {
      // Rows without forces are those of runs that recorded other ones.
      std::vector<HistoryRow> rows;
      for (const HistoryRow &row : history)
        if (!std::isnan(row.forces[0]))
          rows.push_back(row);
      if (rows.empty())
        return "";
      // The second half of the time.
      const double half     = 0.5 * (rows.front().time + rows.back().time);
      double       lower[3] = {1e300, 1e300, 1e300},
             upper[3] = {-1e300, -1e300, -1e300}, mean = 0.;
      unsigned int n = 0;
      for (const HistoryRow &row : rows)
        if (row.time >= half)
          {
            for (int d = 0; d < dim; ++d)
              {
                lower[d] = std::min(lower[d], row.forces[d]);
                upper[d] = std::max(upper[d], row.forces[d]);
              }
            mean += row.forces[1];
            ++n;
          }
      mean /= n;
      // Times at which the second coefficient rises through its mean.
      std::vector<double> crossings;
      for (unsigned int i = 1; i < rows.size(); ++i)
        {
          const double t = rows[i - 1].time, before = rows[i - 1].forces[1],
                       after = rows[i].forces[1];
          if (t >= half && before < mean && after >= mean)
            crossings.push_back(t + (rows[i].time - t) * (mean - before) /
                                      (after - before));
        }
      std::string text = "    force coefficients at the end";
      for (int d = 0; d < dim; ++d)
        text += " " + short_text(rows.back().forces[d]);
      text += "; from time " + short_text(half) + " on between";
      for (int d = 0; d < dim; ++d)
        text += (d > 0 ? ", " : " ") + short_text(lower[d]) + " and " +
                short_text(upper[d]);
      if (crossings.size() >= 3)
        text += "; Strouhal number " +
                short_text(input.strouhal_scale * (crossings.size() - 1.) /
                           (crossings.back() - crossings.front()));
      return text;
    }



    template class FlowRun<2>;
    template class FlowRun<3>;
  } // namespace Application
} // namespace Tessella
