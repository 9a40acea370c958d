// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Benchmark of assembly: how fast is it on this machine? Measures set-up,
// matrix structure and assembly of one problem for lists of degrees, backends,
// strategies, threads and instruction sets.

#include <deal.II/base/timer.h>

#include <tessella/base/error_message.h>
#include <tessella/base/information.h>
#include <tessella/device/cuda_device.h>

#include <fstream>
#include <iomanip>
#include <set>
#include <sstream>
#include <string>

#include "assembly_throughput/coefficient_case.h"
#include "assembly_throughput/throughput_case.h"
#include "assembly_throughput/throughput_input.h"
#include "assembly_throughput/throughput_report.h"
#include "common/device_rates.h"
#include "common/distributed_mesh.h"
#include "common/program.h"
#include "common/study_output.h"
#include "common/study_parameters.h"
#include "common/study_table.h"
#include "common/validation.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    const ProgramInfo info = {
      "assembly_throughput",
      "time of polytopic dG assembly per million unknowns, from a parameter file",
      "Assembles the problem of the parameter file on each of its meshes, for\n"
      "every degree, backend, strategy, kind of matrix, number of threads and\n"
      "instruction set asked for. Per case it prints (s/M, ms/M: per million unknowns)\n"
      "  mesh, agglomeration  seconds to make the mesh (and to distribute it on\n"
      "              several processes) and its polytopes\n"
      "  handler     microseconds per cell for flat view, unknowns and penalty\n"
      "  structure   pattern and creation of the matrix\n"
      "  first       first assembly of matrix and right-hand side, on a device\n"
      "              with its set-up there\n"
      "  total       structure and first assembly, as a program that assembles\n"
      "              once sees them\n"
      "  assembly    into the existing matrix, the fastest of several\n"
      "  x constant  assembly over the same with constant coefficients, if\n"
      "              Benchmark/Coefficients has them\n"
      "  GFLOP/s     useful operations over the time of assembly\n"
      "  memory      growth of the process over what mesh, matrix and two\n"
      "              vectors need\n"
      "and for cases on a CUDA device\n"
      "  preparation, tabulation  penalty and upload of a changed mesh;\n"
      "              coefficients that vary, if the host evaluates them\n"
      "  evaluation  how coefficients were evaluated\n"
      "  upload, kernels, download  on the device; copies overlap kernels\n"
      "  hand-over   what the host did at the end that nothing hides\n"
      "  copy        of the matrix's values alone, from the device to pinned\n"
      "              memory at the rate measured; x copy: assembly over that\n"
      "  kernel GFLOP/s, GB/s  useful operations and bytes over kernels\n"
      "  roofline    max(operations / rate of products, bytes / bandwidth) with\n"
      "              rates measured in the same run; x roofline: kernels over\n"
      "              that\n"
      "  x block_rows  kernels over those of the library's own strategy\n"
      "and kernel by kernel the same rates. Useful are the operations of the\n"
      "products at the points of the leanest quadrature rules published, and\n"
      "every byte once (class AssemblyWork). Cases that fail, for want of memory\n"
      "for example, are reported, and the others go on. Tables go to NAME.txt,\n"
      "NAME.csv and NAME-kernels.csv in Output/Directory, after every mesh.\n\n"
      "With Benchmark/Coefficients only = true there is no assembly; it prints and\n"
      "writes to the same files, in ms/M,\n"
      "  evaluation  coefficients that are functions, each once at every point\n"
      "              where the form needs it, by all threads, nothing else\n"
      "  volume, facets  what the host does with them for a CUDA device: tables\n"
      "              of the volume with the penalty, and those of facets\n"
      "  x evaluation  both over evaluation\n"
      "  stored      evaluation with all values written to memory\n"
      "  x stored    tables over that\n\n"
      "On several MPI processes (mpirun) the mesh is distributed over them, see\n"
      "Mesh/Distribution; each time is that of the slowest process, from a common\n"
      "start; all else, rates of devices too, is the sum over processes. A case\n"
      "that fails ends the program.\n",
      true};

    struct Parameters : StudyParameters<>
    {
      ThroughputInput benchmark;
      OutputInput     output;

      void
      declare(ParameterHandler &prm)
      {
        StudyParameters::declare(prm);
        benchmark.declare_parameters(prm);
        output.declare_parameters(prm);
      }

      void
      parse(ParameterHandler &prm, const std::string &file)
      {
        StudyParameters::parse(prm, file, /*needs_backend=*/false);
        benchmark.parse_parameters(prm,
                                   discretisation.backend,
                                   discretisation.degrees,
                                   mesh.n_levels());
        output.parse_parameters(file);
      }
    };



    template <int dim>
    class Throughput
    {
    public:
      explicit Throughput(const Parameters &parameters)
        : parameters(parameters)
        , problem(parameters.equation.create<dim>())
      {
        parameters.discretisation.configure(problem.form);
      }

      void
      run()
      {
        parameters.output.print(library_information() + ".");
        if (parameters.benchmark.coefficients_only && !run_mode().validate)
          {
            run_coefficients();
            return;
          }
        if (!run_mode().validate)
          start_devices();
        for (unsigned int level = 0; level < parameters.mesh.n_levels();
             ++level)
          {
            const AgglomeratedMesh<dim> mesh = create_mesh(level);
            if (run_mode().validate)
              {
                validate_mesh(mesh, level);
                continue;
              }
            for (const unsigned int degree :
                 parameters.benchmark.degrees[level])
              for (const Execution &execution : parameters.benchmark.executions)
                run_case(mesh, level, degree, execution);
            // The remaining cases may take long or be ended from outside.
            write_tables();
          }
        finish();
      }

    private:
      const Parameters &parameters;
      Problem<dim>      problem;
      ThroughputReport  report;
      std::string       first_failure;
      unsigned int      n_failures = 0;

      void
      run_coefficients()
      {
        AssertThrow(Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD) == 1,
                    ExcMessage("Benchmark/Coefficients only is for one process "
                               "with threads: start it without mpirun."));
        TextTable table;
        for (unsigned int level = 0; level < parameters.mesh.n_levels();
             ++level)
          {
            const AgglomeratedMesh<dim> mesh = create_mesh(level);
            std::set<unsigned int>      threads;
            for (const Execution &execution : parameters.benchmark.executions)
              threads.insert(execution.n_threads);
            for (const unsigned int degree :
                 parameters.benchmark.degrees[level])
              for (const unsigned int n_threads : threads)
                {
                  CoefficientResult result =
                    measure_coefficients(make_case(mesh, degree), n_threads);
                  result.level = level;
                  add_row(table, result);
                }
          }
        table.print(screen());
        parameters.output.write_table(table);
      }

      void
      validate_mesh(const AgglomeratedMesh<dim> &mesh, const unsigned int level)
      {
        AgglomerationHandler<dim> handler(*mesh.mesh.triangulation,
                                          mesh.mesh.mapping.get());
        handler.agglomerate(mesh.strategy);
        for (const unsigned int degree : parameters.benchmark.degrees[level])
          {
            parameters.discretisation.distribute_dofs(handler, degree);
            validated(handler, level, degree, SystemMemory::trilinos());
          }
      }

      // If a case runs on a device, prints its name and measures its rates.
      void
      start_devices()
      {
        bool wanted = false;
        for (const Execution &execution : parameters.benchmark.executions)
          wanted = wanted || execution.backend == Backend::cuda;
        using namespace Utilities::MPI;
        if (!wanted || min(cuda_is_available() ? 1 : 0, MPI_COMM_WORLD) == 0)
          return;
        const unsigned int n_processes = n_mpi_processes(MPI_COMM_WORLD);
        if (n_processes > 1 || parameters.discretisation.device >= 0)
          {
            AssemblyReport chosen;
            chosen.backend = Backend::cuda;
            chosen.device =
              choose_cuda_device(MPI_COMM_WORLD,
                                 parameters.discretisation.device);
            for (const std::string &line : describe_devices(chosen))
              parameters.output.print_machine(line);
          }
        DeviceRates rates = measure_device_rates();
        for (double *rate : {&rates.flops, &rates.bandwidth, &rates.download})
          *rate = sum(*rate, MPI_COMM_WORLD);
        report.set_rates(rates);
        std::ostringstream text;
        text << (n_processes > 1 ? "All processes together"
                                 : cuda_device_name())
             << ": products " << std::setprecision(3) << rates.flops * 1e-12
             << " TFLOP/s, memory " << rates.bandwidth * 1e-12
             << " TB/s, copies to the host " << rates.download * 1e-9
             << " GB/s.";
        parameters.output.print_machine(text.str());
      }

      AgglomeratedMesh<dim>
      create_mesh(const unsigned int level)
      {
        const double          before = resident_memory();
        AgglomeratedMesh<dim> result =
          create_agglomerated_mesh<dim>(parameters.mesh,
                                        parameters.agglomeration,
                                        parameters.equation.has_cell_values(),
                                        level);
        result.resident = resident_memory() - before;
        std::ostringstream text;
        text << "Level " << level << ": " << result.description
             << "; the mesh took " << std::setprecision(3)
             << result.mesh_seconds << " s, agglomeration "
             << result.agglomeration_seconds << " s.";
        parameters.output.print(text.str());
        return result;
      }

      BenchmarkCase<dim>
      make_case(const AgglomeratedMesh<dim> &mesh,
                const unsigned int           degree) const
      {
        return {mesh,
                parameters.equation,
                problem,
                parameters.discretisation,
                degree,
                parameters.benchmark.repetitions};
      }

      void
      run_case(const AgglomeratedMesh<dim> &mesh,
               const unsigned int           level,
               const unsigned int           degree,
               const Execution             &execution)
      {
        try
          {
            ThroughputResult result =
              measure_case(make_case(mesh, degree),
                           execution,
                           parameters.benchmark.warm_memory);
            result.level = level;
            report.add(result);
          }
        catch (const std::exception &exception)
          {
            // Other processes may not have failed and would wait for this one.
            if (Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD) > 1)
              throw;
            const std::string reason = error_message(exception);
            if (n_failures++ == 0)
              first_failure = reason;
            parameters.output.print(
              "Level " + std::to_string(level) + ", degree " +
              std::to_string(degree) + ", " + name(execution.backend) + ", " +
              name(execution.strategy) + " failed: " + reason);
          }
      }

      void
      write_tables() const
      {
        const OutputInput &output = parameters.output;
        if (report.empty())
          return;
        output.write_table(report);
        if (report.has_kernels())
          output.write_csv_file("-kernels.csv", report.kernels());
      }

      void
      finish() const
      {
        if (!report.empty())
          report.print(screen());
        AssertThrow(!report.empty() || n_failures == 0,
                    ExcMessage(first_failure));
        AssertThrow(n_failures == 0,
                    ExcMessage(std::to_string(n_failures) +
                               " of the cases failed (see above), the first "
                               "one because: " +
                               first_failure));
      }
    };
  } // namespace Application
} // namespace Tessella

int
main(int argc, char **argv)
{
  using namespace Tessella::Application;

  return run_study<Throughput, Parameters>(argc, argv, info);
}
