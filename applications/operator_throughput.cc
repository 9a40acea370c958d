// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Benchmark of pointwise operators: residual, tangent and Jacobian of the Euler
// equations on tetrahedra and on polyhedra of tetrahedra, on a CUDA device and
// on the host, against the times that operations and bytes need at least. See
// doc/performance/pointwise-operators.md.

#include <deal.II/base/multithread_info.h>
#include <deal.II/base/parameter_handler.h>

#include <deal.II/fe/fe_system.h>
#include <deal.II/grid/grid_generator.h>

#include <tessella/base/information.h>
#include <tessella/device/cuda_device.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/grid/agglomeration.h>
#include <tessella/lac/device_block_matrix.h>
#include <tessella/lac/device_vector.h>
#include <tessella/lac/host_block_matrix.h>
#include <tessella/operators/pointwise_operator.h>
#include <tessella/portable/legendre.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iomanip>
#include <iostream>
#include <limits>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "common/device_rates.h"
#include "common/program.h"
#include "common/study_table.h"
#include "common/text_table.h"
#include "operator_throughput/euler.h"
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
      "flux HLLC, to a smooth state on the unit cube, and prints per kind of\n"
      "polytopes, degree, backend and operation\n"
      "  number      of polytopes\n"
      "  ns          time per polytope, the least of several calls; on a device\n"
      "              that of the kernel\n"
      "  total ns    the same with preparation and launch\n"
      "  flop        useful operations per polytope\n"
      "  bytes       that must be read and written per polytope\n"
      "  GFLOP/s, GB/s  of these operations and bytes\n"
      "  floor ns    least time at the rates of the device, which are measured\n"
      "              in the same run\n"
      "  x floor     multiple of the floor\n"
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
                               operations = {"residual", "tangent", "Jacobian"},
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
                          "What is measured.",
                          list("residual|tangent|Jacobian"));
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
      /// Density, momentum and energy, slightly disturbed.
      Vector<double>
      make_state(const AgglomerationHandler<dim> &handler)
      {
        const double   state[m] = {1.2, 0.5, 0.3, 0.3, 2.7};
        Vector<double> u(handler.n_dofs());
        const auto    &mesh = handler.polytopic_mesh();
        const auto    &dofs = handler.polytopic_dofs();
        for (unsigned int k = 0; k < mesh.n_polytopes(); ++k)
          {
            double volume = 1.;
            for (int d = 0; d < dim; ++d)
              volume *= mesh.box[6 * k + 3 + d] - mesh.box[6 * k + d];
            const unsigned int n = dofs.n_basis[k];
            for (unsigned int c = 0; c < m; ++c)
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
        MultithreadInfo::set_thread_limit(parameters.n_threads == 0
                                            ? numbers::invalid_unsigned_int
                                            : parameters.n_threads);
        parameters.output.print(library_information() + ".");
        if (cuda_is_available())
          {
            rates = measure_device_rates();
            std::ostringstream text;
            text << cuda_device_name() << ": " << std::setprecision(3)
                 << rates.flops * 1e-12 << " TFLOP/s, "
                 << rates.bandwidth * 1e-12 << " TB/s.";
            parameters.output.print_machine(text.str());
          }
        Flow::Euler<dim> euler;
        const double     state[m]   = {1.2, 0.5, 0.3, 0.3, 2.7};
        auto            &outside    = euler.boundary.conditions[0];
        euler.boundary.n_conditions = 1;
        outside.boundary_id         = Flow::any_boundary;
        outside.type                = Flow::ConditionType::given_state;
        std::copy(state, state + m, outside.state);
        const auto integrand = make_euler(euler);
        for (const std::string &kind : parameters.polytopes)
          for (const unsigned int degree : parameters.degrees)
            run_mesh(kind, degree, *integrand);
        table.print(std::cout);
        parameters.output.write_table(table);
      }

    private:
      void
      run_mesh(const std::string       &kind,
               const unsigned int       p,
               PointwiseIntegrand<dim> &integrand)
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
        AgglomerationHandler<dim> handler(triangulation);
        handler.agglomerate(Agglomeration::rtree_parts<dim>(
          std::max(1u, triangulation.n_active_cells() / n_together)));
        handler.distribute_dofs(
          FESystem<dim>(FE_BoundingBoxLegendre<dim>(p), m));
        integrand.set_coefficient_order(p);
        for (const std::string &name : parameters.backends)
          {
            const bool cuda =
              name == "cuda" || (name == "automatic" && cuda_is_available());
            if (cuda)
              run_case<DeviceVector<double>, DeviceBlockMatrix<double>>(
                kind, p, Backend::cuda, handler, integrand);
            else
              run_case<Vector<double>, HostBlockMatrix<double>>(
                kind, p, Backend::host, handler, integrand);
          }
      }

      template <typename VectorType, typename MatrixType>
      void
      run_case(const std::string               &kind,
               const unsigned int               degree,
               const Backend                    backend,
               const AgglomerationHandler<dim> &handler,
               const PointwiseIntegrand<dim>   &integrand)
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
                                          integrand.coefficient_order());
        const std::vector<const VectorType *> fields = {&u};
        for (const std::string &name : parameters.operations)
          {
            table.start_row();
            table.add("polytopes", kind);
            table.add("degree", std::uint64_t(degree));
            table.add("backend", backend == Backend::cuda ? "cuda" : "host");
            table.add("operation", name);
            table.add("number", std::uint64_t(handler.n_polytopes()));
            table.add("unknowns", std::uint64_t(handler.n_dofs()));
            if (name == "residual")
              measure(op, handler, counter.residual(), [&]() {
                op.residual(integrand, fields, r);
              });
            else if (name == "tangent")
              measure(op, handler, counter.tangent(), [&]() {
                op.apply_tangent(integrand, fields, du, r);
              });
            else
              {
                MatrixType matrix;
                op.reinit(matrix);
                measure(op, handler, counter.jacobian(), [&]() {
                  op.assemble_jacobian(integrand, fields, matrix);
                });
              }
          }
      }

      /// Least time of some calls after one that is not measured.
      void
      measure(const PointwiseOperator<dim>    &op,
              const AgglomerationHandler<dim> &handler,
              const OperatorWork              &work,
              const std::function<void()>     &call)
      {
        double time = std::numeric_limits<double>::max(), total = time,
               sum = 0.;
        call();
        for (unsigned int i = 0;
             i < parameters.repetitions && (i == 0 || sum < 1.);
             ++i)
          {
            call();
            const OperatorReport &report = op.report();
            total                        = std::min(total, report.time);
            sum += report.time;
            time = std::min(time,
                            report.backend == Backend::cuda ? report.kernel_time
                                                            : report.time);
          }
        const double n = handler.n_polytopes();
        table.add("ns", time / n * 1e9, 4);
        table.add("total ns", total / n * 1e9, 4);
        table.add("flop", work.flops / n, 4);
        table.add("bytes", work.bytes / n, 4);
        table.add("GFLOP/s", work.flops / time * 1e-9);
        table.add("GB/s", work.bytes / time * 1e-9);
        // Without a device there are no rates to compare with.
        const double floor =
          rates.flops > 0.
            ? std::max(work.flops / rates.flops, work.bytes / rates.bandwidth)
            : std::numeric_limits<double>::quiet_NaN();
        table.add("floor ns", floor / n * 1e9);
        table.add("x floor", time / floor);
      }

      const Parameters &parameters;
      DeviceRates       rates;
      TextTable         table;
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
