// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Benchmark of products with a matrix that stays on a CUDA device, and of those
// without a matrix. Assembles one problem for a list of degrees, in double and
// single precision, and compares the times of vmult() and Tvmult() with the
// bandwidth of the device memory.

#include <deal.II/base/timer.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/base/information.h>
#include <tessella/lac/device_block_matrix.h>
#include <tessella/operators/matrix_free_operator.h>

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "common/device_rates.h"
#include "common/program.h"
#include "common/study_parameters.h"
#include "common/study_table.h"
#include "common/text_table.h"
#include "common/validation.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    const ProgramInfo info = {
      "matrix_vector_throughput",
      "products with a matrix on a CUDA device, against the memory's bandwidth",
      "Assembles the problem of the parameter file into a DeviceBlockMatrix, for\n"
      "every degree and precision asked for, and prints per case\n"
      "  unknowns, entries  of the matrix\n"
      "  blocks      per block row\n"
      "  MB          that a product must move: all values, one column (4 bytes)\n"
      "              a block, both vectors, each once\n"
      "  vmult ms    time of y = A x, the fastest of several measurements\n"
      "  vmult GB/s  these bytes over the time\n"
      "  x copy      the same over the rate of a copy within the device's\n"
      "              memory (bytes read and written), measured in the same run\n"
      "  Tvmult      the same for y = A^T x, with the same bytes\n"
      "  dot ms      product of two vectors, its result on the host\n"
      "  without ms  time of y = A x without a matrix (double precision only),\n"
      "              the same in GFLOP/s, how many times faster it is than vmult,\n"
      "              its memory, and the relative difference of both results\n"
      "and writes the same as NAME.txt and NAME.csv to Output/Directory.\n"};

    struct Parameters : StudyParameters<>
    {
      OutputInput output;

      unsigned int                           repetitions = 5;
      std::vector<std::string>               precisions  = {"double", "float"};
      std::vector<std::vector<unsigned int>> degrees; // degrees for each mesh

      void
      declare(ParameterHandler &prm)
      {
        StudyParameters::declare(prm);
        output.declare_parameters(prm);
        prm.enter_subsection("Benchmark");
        prm.add_parameter("Repetitions",
                          repetitions,
                          "Measurements of 20 milliseconds or more; the fastest"
                          " counts.",
                          Patterns::Integer(1));
        declare_degrees_of_meshes(prm);
        prm.add_parameter("Precisions",
                          precisions,
                          "Types of numbers of matrix and vectors.",
                          Patterns::List(Patterns::Selection("double|float"),
                                         1));
        prm.leave_subsection();
      }

      void
      parse(ParameterHandler &prm, const std::string &file)
      {
        StudyParameters::parse(prm, file, /*needs_backend=*/false);
        output.parse_parameters(file);
        prm.enter_subsection("Benchmark");
        degrees = parse_degrees_of_meshes(prm,
                                          "Benchmark",
                                          discretisation.degrees,
                                          mesh.n_levels());
        prm.leave_subsection();
      }
    };



    template <int dim>
    class Throughput
    {
    public:
      explicit Throughput(const Parameters &parameters)
        : parameters(parameters)
        , problem(parameters.create_problem<dim>())
      {}

      void
      run()
      {
        parameters.output.print(library_information() + ".");
        AssertThrow(cuda_is_available(),
                    ExcMessage("This program measures a CUDA device, but none "
                               "was found, or this build of Tessella has no "
                               "CUDA backend."));
        copy_rate = measure_device_rates().bandwidth;
        std::ostringstream text;
        text << cuda_device_name() << ": copies within its memory "
             << std::setprecision(3) << copy_rate * 1e-12 << " TB/s.";
        parameters.output.print_machine(text.str());
        for (unsigned int level = 0; level < parameters.mesh.n_levels();
             ++level)
          run_mesh(level);
        finish();
      }

    private:
      const Parameters &parameters;
      Problem<dim>      problem;
      TextTable         table;
      double            copy_rate = 0.; // bytes read and written per second

      void
      run_mesh(const unsigned int level)
      {
        const Mesh<dim>           mesh = parameters.mesh.create<dim>(level);
        AgglomerationHandler<dim> handler(*mesh.triangulation,
                                          mesh.mapping.get());
        handler.agglomerate(
          Agglomeration::by_id<dim>(parameters.agglomeration.create(mesh)));
        parameters.equation.set_cell_values(problem, mesh, handler);
        for (const unsigned int degree : parameters.degrees[level])
          {
            parameters.discretisation.distribute_dofs(handler, degree);
            // The matrix is on the device.
            if (validated(handler, level, degree, SystemMemory::vectors(2)))
              continue;
            typename PolytopicAssembler<dim>::AdditionalData data;
            data.backend = parameters.discretisation.backend;
            data.penalty = parameters.discretisation.penalty;
            PolytopicAssembler<dim> assembler(handler, data);
            for (const std::string &precision : parameters.precisions)
              if (precision == "double")
                run_case<double>(level, degree, handler, assembler);
              else
                run_case<float>(level, degree, handler, assembler);
          }
      }

      // Returns the seconds of one call of @p function, the minimum of several
      // measurements. @p wait returns when the device has finished.
      template <typename Function, typename Wait>
      double
      measure(const Function &function, const Wait &wait) const
      {
        double       least   = std::numeric_limits<double>::max();
        unsigned int n_calls = 1;
        for (unsigned int r = 0; r < parameters.repetitions;)
          {
            wait();
            const Timer timer;
            for (unsigned int i = 0; i < n_calls; ++i)
              function();
            wait();
            const double seconds = timer.wall_time();
            if (seconds < 0.02)
              {
                n_calls *= 2;
                continue;
              }
            least = std::min(least, seconds / n_calls);
            ++r;
          }
        return least;
      }

      template <typename Number>
      void
      run_case(const unsigned int               level,
               const unsigned int               degree,
               const AgglomerationHandler<dim> &handler,
               PolytopicAssembler<dim>         &assembler)
      {
        DeviceBlockMatrix<Number> matrix;
        DeviceVector<Number>      x, y;
        assembler.reinit(matrix, x);
        assembler.assemble(problem.form, matrix, x);
        y.reinit(x);

        const double bytes  = matrix.vmult_bytes();
        const auto   wait   = [&] { y.linfty_norm(); };
        const double vmult  = measure([&] { matrix.vmult(y, x); }, wait);
        const double Tvmult = measure([&] { matrix.Tvmult(y, x); }, wait);
        const double dot    = measure([&] { x *y; }, [] {});

        table.start_row(level, degree);
        table.add("precision",
                  std::is_same<Number, double>::value ? "double" : "float");
        table.add("polytopes", std::uint64_t(handler.n_polytopes()));
        table.add("unknowns", std::uint64_t(matrix.m()));
        table.add("entries", std::uint64_t(matrix.n_nonzero_elements()));
        table.add("blocks",
                  double(matrix.block_sparsity().block_column.size()) /
                    handler.n_polytopes());
        table.add("MB", bytes * 1e-6, 4);
        table.add("vmult ms", vmult * 1e3);
        table.add("vmult GB/s", bytes / vmult * 1e-9, 4);
        table.add("vmult x copy", bytes / vmult / copy_rate);
        table.add("Tvmult ms", Tvmult * 1e3);
        table.add("Tvmult GB/s", bytes / Tvmult * 1e-9, 4);
        table.add("Tvmult x copy", bytes / Tvmult / copy_rate);
        table.add("dot ms", dot * 1e3);
        if constexpr (std::is_same<Number, double>::value)
          add_matrix_free(handler, matrix, x, y, vmult);
      }

      // Adds columns for products without a matrix; @p seconds are those of the
      // product with @p matrix.
      void
      add_matrix_free(const AgglomerationHandler<dim> &handler,
                      const DeviceBlockMatrix<double> &matrix,
                      const DeviceVector<double>      &x,
                      DeviceVector<double>            &y,
                      const double                     seconds)
      {
        MatrixFreeOperator<dim, DeviceBlockMatrix<double>> op;
        AssemblyParameters                                 data;
        data.penalty = parameters.discretisation.penalty;
        op.initialize(handler, problem.form, data);
        const double vmult =
          measure([&] { op.vmult(y, x); }, [&] { y.linfty_norm(); });
        DeviceVector<double> difference(x);
        matrix.vmult(difference, x);
        difference.add(-1., y);
        table.add("without ms", vmult * 1e3);
        table.add("times faster", seconds / vmult);
        table.add("without GFLOP/s",
                  op.report().n_operations / vmult * 1e-9,
                  4);
        table.add("memory / matrix",
                  double(op.report().table_memory) /
                    matrix.memory_consumption());
        table.add_scientific("difference",
                             difference.linfty_norm() / y.linfty_norm());
      }

      void
      finish()
      {
        table.print(screen());
        parameters.output.write_table(table);
      }
    };

    MainFunction *const main_function = run_study<Throughput, Parameters>;
  } // namespace Application
} // namespace Tessella
