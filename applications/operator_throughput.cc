// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Benchmark of operators: residual, tangent and Jacobian of the Euler
// equations, the convection of incompressible flow, and products of a Poisson
// problem with and without a matrix, on
// tetrahedra and on polyhedra of tetrahedra, on a CUDA device and on the host,
// against the times that operations and bytes need at least. See
// doc/performance/pointwise-operators.md.

#include <deal.II/base/multithread_info.h>
#include <deal.II/base/parameter_handler.h>
#include <deal.II/base/timer.h>

#include <deal.II/fe/fe_system.h>
#include <deal.II/grid/grid_generator.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/base/information.h>
#include <tessella/device/cuda_device.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/grid/agglomeration.h>
#include <tessella/lac/device_block_matrix.h>
#include <tessella/lac/device_vector.h>
#include <tessella/lac/host_block_matrix.h>
#include <tessella/operators/matrix_free_operator.h>
#include <tessella/operators/pointwise_operator.h>
#include <tessella/portable/legendre.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iomanip>
#include <iostream>
#include <limits>
#include <memory>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/device_rates.h"
#include "common/program.h"
#include "common/study_table.h"
#include "common/text_table.h"
#include "operator_throughput/functors.h"
#include "operator_throughput/host_rates.h"
#include "operator_throughput/operator_work.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    const ProgramInfo info = {
      "operator_throughput",
      "pointwise operators on a CUDA device and on the host",
      "Applies the Euler equations of an ideal gas in 3-D, with the numerical\n"
      "flux HLLC, to a smooth state on the unit cube, computes the convection of\n"
      "incompressible flow, multiplies by the matrix of a Poisson problem, with\n"
      "this matrix and without it, and prints per kind of polytopes, degree,\n"
      "backend and operation\n"
      "  number      of polytopes, and of unknowns\n"
      "  ns          time per polytope, the least of several calls; on a device\n"
      "              that of the kernel, for products that of ten calls\n"
      "  M unknowns/s  millions of unknowns per second of this time\n"
      "  total ns    time per polytope with preparation and launch\n"
      "  flop        useful operations per polytope\n"
      "  bytes       that must be read and written per polytope\n"
      "  GFLOP/s, GB/s  of these operations and bytes\n"
      "  peak %      GFLOP/s over the rate of multiply-adds of the device, or of\n"
      "              the threads of the host, which is measured in the same run\n"
      "  roofline ns  least time at this rate and that of copies in memory\n"
      "  x roofline  multiple of it\n"
      "and writes the same as NAME.txt and NAME.csv to Output/Directory.\n"};

    namespace
    {
      constexpr int dim = 3, m = 5;
    }

    struct Parameters
    {
      OutputInput output;

      std::vector<unsigned int> degrees;
      std::vector<std::string>  polytopes = {"tetrahedra", "polyhedra"},
                               operations = {"residual",
                                             "tangent",
                                             "Jacobian",
                                             "convection",
                                             "product",
                                             "matrix product"},
                               backends   = {"automatic"};
      unsigned int n_cells_of_polyhedron = 16, n_unknowns = 0, n_cells = 200000,
                   repetitions = 5, n_threads = 0;

      void
      declare(ParameterHandler &prm)
      {
        const auto list = [](const std::string &names) {
          return Patterns::List(Patterns::Selection(names), 1);
        };
        output.declare_parameters(prm);
        prm.enter_subsection("Benchmark");
        prm.declare_entry("Degrees",
                          "1, 2, 3",
                          Patterns::Anything(),
                          "Polynomial degrees from 0 to 10: 1, 2, 3 or 0..6.");
        prm.add_parameter("Polytopes",
                          polytopes,
                          "Kinds of polytopes; polyhedra are agglomerates of "
                          "tetrahedra.",
                          list("tetrahedra|polyhedra"));
        prm.add_parameter("Cells per polyhedron",
                          n_cells_of_polyhedron,
                          "Number of tetrahedra of a polyhedron.",
                          Patterns::Integer(2));
        prm.add_parameter("Unknowns",
                          n_unknowns,
                          "Largest number of unknowns. 0: one million, or "
                          "30,000 if only the host is measured.",
                          Patterns::Integer(0));
        prm.add_parameter("Cells",
                          n_cells,
                          "Largest number of tetrahedra.",
                          Patterns::Integer(40));
        prm.add_parameter("Operations",
                          operations,
                          "What is measured. residual, tangent and Jacobian: "
                          "Euler equations; convection: residual of that of "
                          "incompressible flow; product: without a matrix; "
                          "matrix product: with the block matrix.",
                          list("residual|tangent|Jacobian|convection|product|"
                               "matrix product"));
        prm.add_parameter("Backends",
                          backends,
                          "Backends; automatic takes a device if there is one.",
                          list("automatic|host|cuda"));
        prm.add_parameter("Repetitions",
                          repetitions,
                          "Measured calls; the fastest counts. No call begins "
                          "after a second.",
                          Patterns::Integer(1));
        prm.add_parameter("Threads",
                          n_threads,
                          "Number of threads of the host, 0 for all cores.",
                          Patterns::Integer(0));
        prm.leave_subsection();
      }

      void
      parse(ParameterHandler &prm, const std::string &file)
      {
        output.parse_parameters(file);
        prm.enter_subsection("Benchmark");
        degrees = parse_integers("Benchmark/Degrees",
                                 prm.get("Degrees"),
                                 0,
                                 Legendre::max_degree);
        prm.leave_subsection();
      }
    };

    namespace
    {
      /// Density, momentum and energy, or numbers of their size for another
      /// number of components, slightly disturbed.
      Vector<double>
      make_state(const AgglomerationHandler<dim> &handler)
      {
        const double       state[m] = {1.2, 0.5, 0.3, 0.3, 2.7};
        Vector<double>     u(handler.n_dofs());
        const auto        &mesh         = handler.polytopic_mesh();
        const auto        &dofs         = handler.polytopic_dofs();
        const unsigned int n_components = dofs.n_components;
        for (unsigned int k = 0; k < mesh.n_polytopes(); ++k)
          {
            double volume = 1.;
            for (int d = 0; d < dim; ++d)
              volume *= mesh.box[6 * k + 3 + d] - mesh.box[6 * k + d];
            const unsigned int n = dofs.n_basis[k];
            for (unsigned int c = 0; c < n_components; ++c)
              for (unsigned int i = 0; i < n; ++i)
                u(dofs.dof_offset[k] + c * n + i) =
                  std::sqrt(volume) *
                  ((i == 0 ? state[c] : 0.) +
                   0.01 * std::sin(i + 1.7 * c + 0.3 * k) / n);
          }
        return u;
      }
    } // namespace



    class Throughput
    {
    public:
      explicit Throughput(const Parameters &parameters)
        : parameters(parameters)
      {}

      void
      run()
      {
        if (run_mode().validate)
          return;
        MultithreadInfo::set_thread_limit(parameters.n_threads == 0
                                            ? numbers::invalid_unsigned_int
                                            : parameters.n_threads);
        parameters.output.print(library_information() + ".");
        const auto print = [&](const std::string &name) {
          std::ostringstream text;
          text << name << ": " << std::setprecision(3) << rates.flops * 1e-9
               << " GFLOP/s, " << rates.bandwidth * 1e-9 << " GB/s.";
          parameters.output.print_machine(text.str());
        };
        if (cuda_is_available())
          {
            const DeviceRates measured = measure_device_rates();
            rates = device_rates = {measured.flops, measured.bandwidth};
            print(cuda_device_name());
          }
        const unsigned int n_threads = MultithreadInfo::n_threads();
        rates                        = host_rates =
          measure_host_rates(n_threads, best_instruction_set());
        print("Host, " + std::to_string(n_threads) +
              (n_threads == 1 ? " thread, " : " threads, ") +
              name(best_instruction_set()));
        Flow::Euler<dim> euler;
        const double     state[m]   = {1.2, 0.5, 0.3, 0.3, 2.7};
        auto            &outside    = euler.boundary.conditions[0];
        euler.boundary.n_conditions = 1;
        outside.boundary_id         = Flow::any_boundary;
        outside.type                = Flow::ConditionType::given_state;
        std::copy(state, state + m, outside.state);
        Flow::Convection<dim> convection;
        convection.boundary.add(0, Flow::IncompressibleCondition::outflow);
        const Integrands integrands = {make_euler(euler),
                                       make_convection(convection)};
        for (const std::string &kind : parameters.polytopes)
          for (const unsigned int degree : parameters.degrees)
            run_mesh(kind, degree, integrands);
        table.print(screen());
        parameters.output.write_table(table);
      }

    private:
      struct Integrands
      {
        std::unique_ptr<PointwiseIntegrand<dim>> euler, convection;
      };

      /// The same polytopes with the components of the Euler equations, with
      /// those of a velocity, and with one.
      struct Handlers
      {
        Handlers(const Triangulation<dim> &triangulation,
                 const unsigned int        n_together,
                 const unsigned int        p)
          : euler(triangulation)
          , velocity(triangulation)
          , scalar(triangulation)
        {
          euler.agglomerate(Agglomeration::rtree_parts<dim>(
            std::max(1u, triangulation.n_active_cells() / n_together)));
          for (auto *handler : {&velocity, &scalar})
            handler->agglomerate(
              Agglomeration::by_id<dim>(euler.polytope_of_cell()));
          const FE_BoundingBoxLegendre<dim> fe(p);
          euler.distribute_dofs(FESystem<dim>(fe, m));
          velocity.distribute_dofs(FESystem<dim>(fe, dim));
          scalar.distribute_dofs(fe);
        }
        AgglomerationHandler<dim> euler, velocity, scalar;
      };

      void
      run_mesh(const std::string &kind,
               const unsigned int p,
               const Integrands  &integrands)
      {
        const unsigned int n_together =
          kind == "polyhedra" ? parameters.n_cells_of_polyhedron : 1;
        const auto  &backends = parameters.backends;
        const double n_unknowns =
          parameters.n_unknowns > 0 ? parameters.n_unknowns
          : std::count(backends.begin(), backends.end(), "host") <
                static_cast<int>(backends.size()) &&
              cuda_is_available()
            ? 1e6
            : 3e4;
        const double n_cells =
          std::min<double>(parameters.n_cells,
                           n_unknowns * n_together /
                             (m * (p + 1) * (p + 2) * (p + 3) / 6));
        // Each cube is divided into five tetrahedra.
        const auto n =
          static_cast<unsigned int>(std::max(2., std::cbrt(n_cells / 5.)));
        Triangulation<dim> triangulation;
        GridGenerator::subdivided_hyper_cube_with_simplices(triangulation, n);
        const Handlers handlers(triangulation, n_together, p);
        integrands.euler->set_coefficient_order(p);
        integrands.convection->set_coefficient_order(p);
        for (const std::string &name : parameters.backends)
          {
            const bool cuda =
              name == "cuda" || (name == "automatic" && cuda_is_available());
            for (const std::string &operation : parameters.operations)
              if (cuda)
                run_case<DeviceVector<double>, DeviceBlockMatrix<double>>(
                  kind, p, operation, Backend::cuda, handlers, integrands);
              else
                run_case<Vector<double>, HostBlockMatrix<double>>(
                  kind, p, operation, Backend::host, handlers, integrands);
          }
      }

      template <typename VectorType, typename MatrixType>
      void
      run_case(const std::string &kind,
               const unsigned int degree,
               const std::string &operation,
               const Backend      backend,
               const Handlers    &handlers,
               const Integrands  &integrands)
      {
        rates = backend == Backend::cuda ? device_rates : host_rates;
        const bool is_product = operation.find("product") != std::string::npos;
        const bool is_convection                 = operation == "convection";
        const AgglomerationHandler<dim> &handler = is_product ? handlers.scalar
                                                   : is_convection
                                                     ? handlers.velocity
                                                     : handlers.euler;
        table.start_row();
        table.add("polytopes", kind);
        table.add("degree", std::uint64_t(degree));
        table.add("backend", backend == Backend::cuda ? "cuda" : "host");
        table.add("operation", operation);
        table.add("number", std::uint64_t(handler.n_polytopes()));
        table.add("unknowns", std::uint64_t(handler.n_dofs()));
        if (is_product)
          run_product<VectorType, MatrixType>(operation == "matrix product",
                                              backend,
                                              handler);
        else
          run_pointwise<VectorType, MatrixType>(
            operation,
            backend,
            handler,
            is_convection ? *integrands.convection : *integrands.euler,
            is_convection ? convection_operations() : euler_operations());
      }

      template <typename VectorType, typename MatrixType>
      void
      run_pointwise(const std::string               &operation,
                    const Backend                    backend,
                    const AgglomerationHandler<dim> &handler,
                    const PointwiseIntegrand<dim>   &integrand,
                    const FunctorOperations         &functor)
      {
        PointwiseOperator<dim>::AdditionalData data;
        data.backend = backend;
        PointwiseOperator<dim> op(handler, data);
        const Vector<double>   state = make_state(handler);
        VectorType             u, du, r;
        op.reinit(u);
        op.reinit(du);
        op.reinit(r);
        if constexpr (std::is_same<VectorType, Vector<double>>::value)
          {
            u  = state;
            du = state;
          }
        else
          {
            u.copy_from(state);
            du.copy_from(state);
          }
        const OperatorWorkCounter             counter(handler,
                                          integrand.coefficient_order(),
                                          functor);
        const std::vector<const VectorType *> fields = {&u};
        // Seconds of a call, and those of the kernel.
        const auto times = [&op]() {
          const OperatorReport &report = op.report();
          return std::make_pair(report.time,
                                report.backend == Backend::cuda
                                  ? report.kernel_time
                                  : report.time);
        };
        if (operation == "tangent")
          measure(handler, counter.tangent(), [&]() {
            op.apply_tangent(integrand, fields, du, r);
            return times();
          });
        else if (operation == "Jacobian")
          {
            MatrixType matrix;
            op.reinit(matrix);
            measure(handler, counter.jacobian(), [&]() {
              op.assemble_jacobian(integrand, fields, matrix);
              return times();
            });
          }
        else
          measure(handler, counter.residual(), [&]() {
            op.residual(integrand, fields, r);
            return times();
          });
      }

      /// Products with the matrix of a Poisson problem, or without it.
      /// Operations: those of sums at points, or a multiplication and an
      /// addition for each entry; bytes: vectors, and tables or entries, once.
      template <typename VectorType, typename MatrixType>
      void
      run_product(const bool                       with_matrix,
                  const Backend                    backend,
                  const AgglomerationHandler<dim> &handler)
      {
        AdvectionDiffusionReaction<dim> form;
        form.set_diffusion(1.);
        PolytopicAssembler<dim>::AdditionalData data;
        data.backend = backend;
        PolytopicAssembler<dim> assembler(handler, data);
        Vector<double>          on_host(handler.n_dofs());
        for (unsigned int i = 0; i < on_host.size(); ++i)
          on_host(i) = std::sin(1.7 * i);
        VectorType x(on_host), y(on_host);
        // One call is too short for the clock.
        constexpr unsigned int n_calls = 10;
        const auto             run     = [&](const auto &matrix) {
          const auto wait = [&y]() { y.linfty_norm(); };
          return [&matrix, &x, &y, wait]() {
            wait();
            const Timer timer;
            for (unsigned int i = 0; i < n_calls; ++i)
              matrix.vmult(y, x);
            wait();
            const double seconds = timer.wall_time() / n_calls;
            return std::make_pair(seconds, seconds);
          };
        };
        const double vectors = 16. * handler.n_dofs();
        if (with_matrix)
          {
            MatrixType matrix;
            assembler.reinit(matrix);
            assembler.assemble_matrix(form, matrix);
            const double n = matrix.n_nonzero_elements();
            measure(handler, {2. * n, 8. * n + vectors}, run(matrix));
          }
        else
          {
            MatrixFreeOperator<dim, MatrixType> matrix;
            matrix.initialize(handler, form, data);
            const MatrixFreeReport &report = matrix.report();
            measure(handler,
                    {report.n_operations, report.table_memory + vectors},
                    run(matrix));
          }
      }

      /// Least times of some calls after one that is not measured. @p call
      /// returns seconds, in total and of kernels.
      void
      measure(const AgglomerationHandler<dim>                  &handler,
              const OperatorWork                               &work,
              const std::function<std::pair<double, double>()> &call)
      {
        double time = std::numeric_limits<double>::max(), total = time,
               sum = 0.;
        call();
        for (unsigned int i = 0;
             i < parameters.repetitions && (i == 0 || sum < 1.);
             ++i)
          {
            const std::pair<double, double> seconds = call();
            total = std::min(total, seconds.first);
            sum += seconds.first;
            time = std::min(time, seconds.second);
          }
        const double n = handler.n_polytopes();
        table.add("ns", time / n * 1e9, 4);
        table.add("M unknowns/s", handler.n_dofs() / time * 1e-6, 4);
        table.add("total ns", total / n * 1e9, 4);
        table.add("flop", work.flops / n, 4);
        table.add("bytes", work.bytes / n, 4);
        table.add("GFLOP/s", work.flops / time * 1e-9);
        table.add("GB/s", work.bytes / time * 1e-9);
        table.add("peak %", 100. * work.flops / time / rates.flops);
        const double roofline =
          std::max(work.flops / rates.flops, work.bytes / rates.bandwidth);
        table.add("roofline ns", roofline / n * 1e9);
        table.add("x roofline", time / roofline);
      }

      const Parameters &parameters;
      // Those of the case that is measured, of the host, and of the device.
      ProcessorRates rates, host_rates, device_rates;
      TextTable      table;
    };



    int
    run_throughput(int argc, char **argv, const ProgramInfo &info)
    {
      Parameters parameters;
      return run_program(
        argc,
        argv,
        info,
        [&](ParameterHandler &prm) { parameters.declare(prm); },
        [&](ParameterHandler &prm, const std::string &file) {
          parameters.parse(prm, file);
          Throughput(parameters).run();
        });
    }

    MainFunction *const main_function = run_throughput;
  } // namespace Application
} // namespace Tessella
