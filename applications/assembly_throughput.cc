// SPDX-License-Identifier: LGPL-2.1-or-later

// How fast is assembly on this machine? Times set-up, matrix structure and
// assembly of one problem for lists of degrees, threads and instruction sets.

#include <deal.II/base/multithread_info.h>
#include <deal.II/base/table_handler.h>
#include <deal.II/base/timer.h>
#include <deal.II/base/utilities.h>

#include <deal.II/lac/trilinos_sparse_matrix.h>
#include <deal.II/lac/trilinos_vector.h>

#include <tessella/assembly/assembly_work.h>
#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/base/information.h>

#include <algorithm>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <malloc.h>
#include <sstream>
#include <string>
#include <vector>

#include "common/agglomeration_input.h"
#include "common/discretisation_input.h"
#include "common/equation_input.h"
#include "common/mesh_input.h"
#include "common/program.h"
#include "common/study_table.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    const ProgramInfo info = {
      "assembly_throughput",
      "time of polytopic dG assembly per million unknowns, from a parameter file",
      "Assembles the problem of the parameter file on each of its meshes, for\n"
      "every degree, number of threads and instruction set asked for, and\n"
      "prints per case (the least of several repetitions)\n"
      "  handler    microseconds per cell for flat view, unknowns and penalty\n"
      "  structure  seconds per million unknowns to create the Trilinos matrix\n"
      "  assembly   seconds per million unknowns to fill matrix and right-hand\n"
      "             side\n"
      "  total      structure and first assembly, as a program that assembles\n"
      "             once sees them\n"
      "  GFLOP/s    useful operations of the matrix products over the time of\n"
      "             assembly\n"
      "  kernels    on a CUDA device: milliseconds of kernels per million\n"
      "             unknowns (the time of assembly includes copies to the host)\n"
      "  download   milliseconds of these copies, which overlap kernels\n"
      "  roofline   time of kernels over max(operations / rate of products,\n"
      "             bytes / bandwidth), rates measured in the same run\n"
      "  memory     growth of the process over what mesh, matrix and two vectors\n"
      "             need\n"
      "and writes the same as NAME.txt and NAME.csv to Output/Directory.\n"};

    struct Parameters
    {
      MeshInput           mesh;
      AgglomerationInput  agglomeration;
      EquationInput       equation;
      DiscretisationInput discretisation;
      OutputInput         output;

      unsigned int                repetitions = 5;
      std::vector<unsigned int>   threads;
      std::vector<InstructionSet> instruction_sets;

      void
      declare(ParameterHandler &prm)
      {
        mesh.declare_parameters(prm);
        agglomeration.declare_parameters(prm);
        equation.declare_parameters(prm);
        discretisation.declare_parameters(prm);
        output.declare_parameters(prm);
        prm.enter_subsection("Benchmark");
        prm.declare_entry("Repetitions",
                          "5",
                          Patterns::Integer(1),
                          "Assemblies per case; the fastest counts.");
        prm.declare_entry("Threads",
                          "1",
                          Patterns::Anything(),
                          "Numbers of threads to run with: 1, 2, 4.");
        prm.declare_entry(
          "Instruction sets",
          "automatic",
          Patterns::List(Patterns::Selection("automatic|plain|avx2|avx512")),
          "Host kernels to run; automatic is the widest of the processor.");
        prm.leave_subsection();
      }

      void
      parse(ParameterHandler &prm, const std::string &file)
      {
        mesh.parse_parameters(prm, file);
        agglomeration.parse_parameters(prm, file);
        equation.parse_parameters(prm, mesh.dimension());
        discretisation.parse_parameters(prm, mesh.dimension());
        output.parse_parameters(prm, file);
        prm.enter_subsection("Benchmark");
        repetitions = prm.get_integer("Repetitions");
        threads =
          parse_integers("Benchmark/Threads", prm.get("Threads"), 1, 4096);
        for (const std::string &set :
             Utilities::split_string_list(prm.get("Instruction sets")))
          instruction_sets.push_back(set == "plain"  ? InstructionSet::plain
                                     : set == "avx2" ? InstructionSet::avx2
                                     : set == "avx512"
                                       ? InstructionSet::avx512
                                       : best_instruction_set());
        prm.leave_subsection();
      }
    };



    std::string
    seconds_text(const double seconds)
    {
      std::ostringstream text;
      text << std::setprecision(3) << seconds << " s";
      return text.str();
    }



    // Starts a new measurement of the largest resident size and returns the
    // present one, in bytes. Memory that earlier cases have freed goes back
    // first.
    double
    start_memory_measurement()
    {
      malloc_trim(0);
      std::ofstream("/proc/self/clear_refs") << "5";
      Utilities::System::MemoryStats stats;
      Utilities::System::get_memory_stats(stats);
      return 1024. * stats.VmRSS;
    }

    double
    peak_memory()
    {
      Utilities::System::MemoryStats stats;
      Utilities::System::get_memory_stats(stats);
      return 1024. * stats.VmHWM;
    }



    template <int dim>
    class Throughput
    {
    public:
      explicit Throughput(const Parameters &parameters)
        : parameters(parameters)
        , problem(parameters.equation.create<dim>())
      {
        problem.form.set_theta(parameters.discretisation.theta());
        if (parameters.discretisation.coefficient_order() >= 0)
          problem.form.set_coefficient_order(
            parameters.discretisation.coefficient_order());
      }

      void
      run()
      {
        parameters.output.print(library_information() + ".");
        if (cuda_is_available() &&
            parameters.discretisation.backend() != Backend::host)
          {
            rates = measure_device_rates();
            std::ostringstream text;
            text << cuda_device_name() << ": products " << std::setprecision(3)
                 << rates.flops * 1e-12 << " TFLOP/s, memory "
                 << rates.bandwidth * 1e-12 << " TB/s, copies to the host "
                 << rates.download * 1e-9 << " GB/s.";
            parameters.output.print_machine(text.str());
          }
        for (unsigned int level = 0; level < parameters.mesh.n_levels();
             ++level)
          {
            Timer timer;
            {
              const Mesh<dim> mesh = parameters.mesh.create<dim>(level);
              timer.restart();
              const std::vector<unsigned int> ids =
                parameters.agglomeration.create(mesh);
              const double seconds = timer.wall_time();
              parameters.output.print(
                "Level " + std::to_string(level) + ": " + mesh.description +
                " in " +
                AgglomerationInput::describe(
                  Agglomeration::statistics<dim>(*mesh.triangulation, ids)) +
                "; agglomeration took " + seconds_text(seconds) + ".");
            }
            for (const unsigned int degree :
                 parameters.discretisation.degrees())
              for (const unsigned int n_threads : parameters.threads)
                for (const InstructionSet set : parameters.instruction_sets)
                  run_case(level, degree, n_threads, set);
          }
        finish();
      }

    private:
      const Parameters &parameters;
      Problem<dim>      problem;
      TableHandler      table;
      DeviceRates       rates;

      void
      run_case(const unsigned int   level,
               const unsigned int   degree,
               const unsigned int   n_threads,
               const InstructionSet instruction_set)
      {
        MultithreadInfo::set_thread_limit(n_threads);
        const double    memory_before = start_memory_measurement();
        const Mesh<dim> mesh          = parameters.mesh.create<dim>(level);
        const std::vector<unsigned int> ids =
          parameters.agglomeration.create(mesh);

        Timer                     timer;
        AgglomerationHandler<dim> handler(*mesh.triangulation,
                                          mesh.mapping.get());
        handler.agglomerate(Agglomeration::by_id<dim>(ids));
        parameters.discretisation.distribute_dofs(handler, degree);
        compute_penalty_factors(handler,
                                parameters.discretisation.penalty().formula);
        const double handler_time = timer.wall_time();

        typename PolytopicAssembler<dim>::AdditionalData data;
        data.backend         = parameters.discretisation.backend();
        data.instruction_set = instruction_set;
        data.penalty         = parameters.discretisation.penalty();
        PolytopicAssembler<dim>        assembler(handler, data);
        TrilinosWrappers::SparseMatrix matrix;
        TrilinosWrappers::MPI::Vector  rhs, solution;

        // First the program that assembles once, then repeated assembly.
        timer.restart();
        assembler.reinit(matrix, rhs);
        const double structure_time = timer.wall_time();
        solution.reinit(rhs);
        timer.restart();
        assembler.assemble(problem.form, matrix, rhs);
        const double first_time = timer.wall_time();
        double       time       = first_time;
        double       kernels    = assembler.report().kernel_time,
               download         = assembler.report().download_time;
        for (unsigned int r = 1; r < parameters.repetitions; ++r)
          {
            timer.restart();
            assembler.assemble(problem.form, matrix, rhs);
            time     = std::min(time, timer.wall_time());
            kernels  = std::min(kernels, assembler.report().kernel_time);
            download = std::min(download, assembler.report().download_time);
          }
        const double memory = peak_memory() - memory_before;
        const double needed =
          mesh.triangulation->memory_consumption() +
          handler.polytopic_mesh().memory_consumption() +
          matrix.n_nonzero_elements() * (sizeof(double) + sizeof(int)) +
          handler.n_dofs() * (2 * sizeof(double) + sizeof(int));

        const AssemblyWork work =
          assembly_work(handler.polytopic_mesh(),
                        problem.form.coefficient_order());
        const double       million = handler.n_dofs() * 1e-6;
        const unsigned int n_cells = mesh.triangulation->n_active_cells();
        table.add_value("level", level);
        table.add_value("degree", degree);
        table.add_value("threads", n_threads);
        table.add_value("instructions", name(instruction_set));
        table.add_value("cells", n_cells);
        table.add_value("polytopes", handler.n_polytopes());
        table.add_value("unknowns", handler.n_dofs());
        table.add_value(
          "entries", static_cast<unsigned long>(matrix.n_nonzero_elements()));
        table.add_value("handler us/cell", handler_time / n_cells * 1e6);
        table.add_value("structure s/M", structure_time / million);
        table.add_value("assembly s/M", time / million);
        table.add_value("total s/M", (structure_time + first_time) / million);
        table.add_value("GFLOP/s", work.flops / time * 1e-9);
        if (assembler.report().backend == Backend::cuda)
          {
            // Every byte once: values and right-hand side out, the mesh in.
            const double bytes = 8. * matrix.n_nonzero_elements() +
                                 8. * handler.n_dofs() +
                                 handler.polytopic_mesh().memory_consumption();
            table.add_value("kernels ms/M", kernels / million * 1e3);
            table.add_value("download ms/M", download / million * 1e3);
            table.add_value("kernel GFLOP/s", work.flops / kernels * 1e-9);
            table.add_value("roofline",
                            kernels / std::max(work.flops / rates.flops,
                                               bytes / rates.bandwidth));
            table.add_value("kernel", assembler.report().device_kernels);
          }
        table.add_value("memory", memory / needed);
      }

      void
      finish()
      {
        for (const char *column : {"handler us/cell",
                                   "structure s/M",
                                   "assembly s/M",
                                   "total s/M",
                                   "GFLOP/s",
                                   "memory"})
          table.set_precision(column, 3);
        if (rates.flops > 0.)
          for (const char *column :
               {"kernels ms/M", "download ms/M", "kernel GFLOP/s", "roofline"})
            table.set_precision(column, 3);
        table.write_text(std::cout, TableHandler::org_mode_table);
        const OutputInput &output = parameters.output;
        if (output.write_text())
          write_file(output.file(".txt"), [&](std::ostream &out) {
            table.write_text(out, TableHandler::org_mode_table);
          });
        if (output.write_csv())
          write_file(output.file(".csv"),
                     [&](std::ostream &out) { write_csv(out); });
      }

      // TableHandler has no comma-separated format; its simplest one has a
      // header in one line and a row in each further line.
      void
      write_csv(std::ostream &out) const
      {
        std::ostringstream text;
        table.write_text(text, TableHandler::org_mode_table);
        std::istringstream lines(text.str());
        for (std::string line; std::getline(lines, line);)
          {
            std::string row;
            for (const std::string &field :
                 Utilities::split_string_list(line, '|'))
              if (!field.empty())
                row += (row.empty() ? "" : ",") + field;
            out << row << '\n';
          }
      }
    };
  } // namespace Application
} // namespace Tessella

int
main(int argc, char **argv)
{
  using namespace Tessella::Application;

  Parameters parameters;
  return run_program(
    argc,
    argv,
    info,
    [&](dealii::ParameterHandler &prm) { parameters.declare(prm); },
    [&](dealii::ParameterHandler &prm, const std::string &file) {
      parameters.parse(prm, file);
      if (parameters.mesh.dimension() == 2)
        Throughput<2>(parameters).run();
      else
        Throughput<3>(parameters).run();
    });
}
