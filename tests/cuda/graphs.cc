// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// CUDA graphs: work of vectors, multigrid cycles and time steps has the same
// bits with and without them, and so have iterations of GMRES; stale graphs,
// work that cannot be recorded, and errors. Argument: work, multigrid, steps,
// unavailable; times, which prints the times of cycles and steps on 2,312
// triangles (8 n^2 for an optional argument n); or profile, which does some of
// them for a profiler (contrib/kernel_times.cc) and names the ranges.
// Returns 77 if the case cannot run on this machine, 1 if a check fails.

#include <deal.II/base/timer.h>

#include <tessella/device/cuda_device.h>
#include <tessella/device/cuda_devices.h>
#include <tessella/device/device_graph.h>
#include <tessella/lac/lusgs.h>
#include <tessella/lac/solver_fused_gmres.h>
#include <tessella/operators/matrix_free_operator.h>
#include <tessella/time_stepping/explicit_runge_kutta.h>

#include <cstring>
#include <iomanip>
#include <iostream>

#include "../../cuda/device/device.h"
#include "../../cuda/device/graph_branches.h"
#include "../multigrid/check_multigrid.h"
#include "../operators/pointwise.h"
#include "checks.h"
#include "pointwise_functors.h"
#include "profiler.h"

using namespace MultigridTest;

namespace
{
  using Device = DeviceBlockMatrix<double>;
  using MG     = Multigrid<Device>;

  template <typename Number>
  bool
  same_bits(const DeviceVector<Number> &a, const DeviceVector<Number> &b)
  {
    std::vector<Number> x, y;
    a.copy_to(x);
    b.copy_to(y);
    return x.size() == y.size() &&
           std::memcmp(x.data(), y.data(), x.size() * sizeof(Number)) == 0;
  }

  void
  verify_counts(const std::string       &name,
                const DeviceGraphReport &report,
                const unsigned int       n_direct,
                const unsigned int       n_recorded,
                const unsigned int       n_replayed)
  {
    verify(name,
           report.n_direct == n_direct && report.n_recorded == n_recorded &&
             report.n_replayed == n_replayed,
           std::to_string(report.n_direct) + " " +
             std::to_string(report.n_recorded) + " " +
             std::to_string(report.n_replayed) + " " + report.why);
  }



  // ---- DeviceGraph itself

  void
  test_work()
  {
    const unsigned int         n = 10000;
    const DeviceVector<double> x(some_vector(n, 1)), y(some_vector(n, 2));
    DeviceVector<double>       u(x), v(x), w(x);
    const auto change = [&](DeviceVector<double> &vector, const double factor) {
      vector.add(factor, y);
      vector.sadd(0.7, 0.1, x);
      vector.scale(y);
      w = vector;
      vector.add(1., w);
    };
    DeviceGraph graph;
    const auto  compare = [&](const std::string &name, const double factor) {
      graph.run({DeviceGraph::address(u.begin()), DeviceGraph::bits(factor)},
                [&] { change(u, factor); });
      change(v, factor);
      verify(name, same_bits(u, v));
    };
    for (unsigned int i = 0; i < 5; ++i)
      compare("work", 0.3);
    verify_counts("runs", graph.report(), 1, 1, 3);
    verify("size", graph.report().n_operations == 5);
    // A change of a number, and of an address, makes the graph stale.
    for (unsigned int i = 0; i < 4; ++i)
      compare("another number", 0.4);
    verify_counts("runs after another number", graph.report(), 2, 2, 5);
    DeviceVector<double> longer(2 * n);
    u.swap(longer);
    u.reinit(n);
    u = v;
    for (unsigned int i = 0; i < 3; ++i)
      compare("another address", 0.4);
    verify_counts("runs after another address", graph.report(), 3, 3, 6);
    // Values may change between runs.
    u.equ(0.5, x);
    v.equ(0.5, x);
    compare("other values", 0.4);
    verify_counts("runs after other values", graph.report(), 3, 3, 7);
    graph.clear();
    compare("after clear()", 0.4);
    verify_counts("runs after clear()", graph.report(), 4, 3, 7);

    DeviceGraph off(false);
    for (unsigned int i = 0; i < 3; ++i)
      off.run({}, [&] { change(u, 0.3); });
    verify_counts("switched off", off.report(), 3, 0, 0);
    verify("reason", contains(off.report().why, "switched off"));
  }

  void
  test_refused()
  {
    const unsigned int         n = 10000;
    const DeviceVector<double> x(some_vector(n, 1)), y(some_vector(n, 2));
    DeviceVector<double>       u(x), v(x);
    const auto check = [&](const std::string &what, const auto &work) {
      DeviceGraph graph;
      for (unsigned int i = 0; i < 3; ++i)
        {
          u = x;
          v = x;
          graph.run({}, [&] { work(u); });
          work(v);
          verify(what, same_bits(u, v));
        }
      verify_counts(what + ", runs", graph.report(), 3, 0, 0);
      verify(what + ", reason",
             contains(graph.report().why, what),
             graph.report().why);
    };
    check("a scalar product",
          [&](DeviceVector<double> &z) { z.add(z * y, y); });
    check("a reduction", [&](DeviceVector<double> &z) {
      z *= 2.;
      z /= z.linfty_norm();
    });
    check("an allocation", [&](DeviceVector<double> &z) {
      DeviceVector<double> copy(z);
      z.add(1., copy);
    });
    std::vector<double> values(n);
    check("a copy from the device", [&](DeviceVector<double> &z) {
      z.add(1., y);
      z.copy_to(values);
    });
    check("a copy to the device", [&](DeviceVector<double> &z) {
      values.assign(n, 1.);
      z.copy_from(values);
    });
    // Memory that is released could be used by the recorded work.
    std::unique_ptr<DeviceVector<double>> temporary;
    DeviceGraph                           graph;
    for (unsigned int i = 0; i < 3; ++i)
      {
        temporary = std::make_unique<DeviceVector<double>>(n);
        graph.run({}, [&] {
          u.add(1., y);
          temporary.reset();
        });
      }
    verify("release of memory",
           contains(graph.report().why, "the release of memory") &&
             graph.report().n_replayed == 0,
           graph.report().why);
  }

  void
  test_failures()
  {
    const unsigned int         n = 10000;
    const DeviceVector<double> x(some_vector(n, 1)), y(some_vector(n, 2));
    DeviceVector<double>       u(x), v(x), wrong(n + 1);
    DeviceGraph                graph;
    bool                       fail = false;
    const auto                 work = [&](DeviceVector<double> &z) {
      z.add(2., y);
      if (fail)
        z.add(1., wrong);
      z.add(3., y);
    };
    for (const unsigned int n_runs : {0, 1, 2})
      {
        graph.clear();
        fail = false;
        u    = x;
        v    = x;
        for (unsigned int i = 0; i < n_runs; ++i)
          {
            graph.run({}, [&] { work(u); });
            work(v);
          }
        fail = true;
        // A recorded graph does not call the work.
        const bool        throws = n_runs < 2;
        const std::string text =
          message_of([&] { graph.run({}, [&] { work(u); }); });
        verify("exception", (text != "no exception") == throws, text);
        if (throws)
          verify("no reason", graph.report().n_operations == 0);
        fail = false;
        u    = x;
        v    = x;
        for (unsigned int i = 0; i < 3; ++i)
          {
            graph.run({}, [&] { work(u); });
            work(v);
            verify("after an exception", same_bits(u, v) && u * y == v * y);
          }
      }
    // Nested graphs: the outer one records the work of the inner one.
    DeviceGraph inner, outer;
    u = x;
    v = x;
    for (unsigned int i = 0; i < 4; ++i)
      {
        outer.run({}, [&] {
          u.add(1., y);
          inner.run({}, [&] { work(u); });
        });
        v.add(1., y);
        work(v);
        verify("nested", same_bits(u, v));
      }
    verify_counts("outer graph", outer.report(), 1, 1, 2);
    verify_counts("inner graph", inner.report(), 2, 0, 0);
  }



  // Branches have the bits of one work after the other. After an exception in
  // one of them, the first one included, the same streams can be recorded
  // again, and so can those of each device of the machine.
  void
  test_branches()
  {
    const unsigned int         n = 10000, n_works = 3;
    const DeviceVector<double> x(some_vector(n, 1)), y(some_vector(n, 2)),
      wrong(n + 1);
    DeviceVector<double> u[n_works], v[n_works];
    DeviceGraph          graph;
    for (const unsigned int failing : {n_works, 0u, 1u, 2u})
      {
        bool       fail = false;
        const auto work = [&](DeviceVector<double> *z) {
          std::vector<std::function<void()>> works;
          for (unsigned int i = 0; i < n_works; ++i)
            works.push_back([&, i] {
              z[i].add(2. + i, y);
              if (fail && i == failing)
                z[i].add(1., wrong);
              z[i].sadd(0.5, 1., x);
            });
          Tessella::internal::Device::run_in_branches(works);
        };
        const std::string name = "branches, failing " + std::to_string(failing);
        const auto        compare = [&](const unsigned int n_runs) {
          for (unsigned int i = 0; i < n_works; ++i)
            {
              u[i] = x;
              v[i] = x;
            }
          for (unsigned int run = 0; run < n_runs; ++run)
            {
              graph.run({}, [&] { work(u); });
              work(v);
              for (unsigned int i = 0; i < n_works; ++i)
                verify(name, same_bits(u[i], v[i]));
            }
        };
        graph.clear();
        if (failing < n_works)
          {
            compare(1);
            fail = true;
            // The run that would record.
            verify(name + ", exception", message_of([&] {
                                           graph.run({}, [&] { work(u); });
                                         }) != "no exception");
            fail = false;
          }
        const DeviceGraphReport before = graph.report();
        compare(4);
        verify(name + ", recorded",
               graph.report().n_recorded == before.n_recorded + 1 &&
                 graph.report().n_replayed == before.n_replayed + 2,
               graph.report().why);
      }
  }

  // The same on every device of the machine, each after the others.
  void
  test_branches_of_devices()
  {
    const int present = Tessella::internal::Device::current_device();
    const int n       = static_cast<int>(Tessella::cuda_devices().size());
    for (int device = 0; device < n; ++device)
      {
        Tessella::choose_cuda_device(MPI_COMM_SELF, device);
        test_branches();
      }
    Tessella::choose_cuda_device(MPI_COMM_SELF, present);
  }



  // ---- multigrid

  MG::AdditionalData
  with_graphs(const bool graphs, const unsigned int kind)
  {
    MG::AdditionalData data;
    data.cuda_graphs = graphs;
    data.smoother =
      kind % 2 == 0 ? MG::Smoother::chebyshev : MG::Smoother::gauss_seidel;
    data.cycle = kind / 2 == 0   ? MG::Cycle::v
                 : kind / 2 == 1 ? MG::Cycle::w
                                 : MG::Cycle::w_on_lowest_degree;
    return data;
  }

  /// Compares cycles for several vectors.
  template <typename VectorNumber, typename Multigrid>
  void
  compare(const std::string &name,
          const Multigrid   &graphs,
          const Multigrid   &direct,
          const unsigned int n)
  {
    for (unsigned int i = 0; i < 4; ++i)
      {
        DeviceVector<VectorNumber> x(n), y(n), z(n);
        x.copy_from(some_vector(n, 3 + i));
        graphs.vmult(y, x);
        direct.vmult(z, x);
        verify(name + ", bits", same_bits(y, z));
        graphs.Tvmult(y, x);
        direct.Tvmult(z, x);
        verify(name + ", bits of the transpose", same_bits(y, z));
      }
  }

  template <int dim>
  void
  compare_multigrid(const unsigned int p, const unsigned int cells)
  {
    const std::string name =
      std::to_string(dim) + "-D, p = " + std::to_string(p);
    Case<dim, Device>        problem(cells, 1, {p}, true);
    const unsigned int       n         = problem.rhs.size();
    const MultigridHierarchy hierarchy = problem.hierarchy();
    MG                       first;
    first.initialize(problem.matrix,
                     problem.without_penalty,
                     hierarchy,
                     with_graphs(true, 0));
    for (unsigned int kind = 0; kind < 6; ++kind)
      {
        MG graphs, direct;
        graphs.initialize(problem.matrix,
                          problem.without_penalty,
                          hierarchy,
                          with_graphs(true, kind));
        direct.initialize(problem.matrix,
                          problem.without_penalty,
                          hierarchy,
                          with_graphs(false, kind));
        const std::string what = name + ", kind " + std::to_string(kind);
        compare<double>(what, graphs, direct, n);
        compare<float>(what + ", float vectors", graphs, direct, n);
        verify_counts(
          what + ", runs", graphs.template graph_report<double>(), 1, 1, 6);
        // a second object at the same time, and a solve
        DeviceVector<double> y(n), z(n);
        first.vmult(y, problem.rhs);
        graphs.vmult(z, problem.rhs);
        direct.vmult(y, problem.rhs);
        verify(what + ", two objects", same_bits(y, z));
        verify(what + ", iterations",
               problem.cg_iterations(graphs) == problem.cg_iterations(direct));
      }
    // other values of the finest matrix
    MG graphs, direct;
    graphs.initialize(problem.matrix, hierarchy, with_graphs(true, 0));
    direct.initialize(problem.matrix, hierarchy, with_graphs(false, 0));
    compare<double>(name, graphs, direct, n);
    std::vector<double> values;
    problem.matrix.copy_to(values);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] *= 1. + 0.1 * some_number(i);
    problem.matrix.copy_from(values);
    compare<double>(name + ", other values", graphs, direct, n);
    // another structure, in the same objects
    Case<dim, Device> other(cells + 1, 1, {p}, true);
    graphs.initialize(other.matrix, other.hierarchy(), with_graphs(true, 0));
    direct.initialize(other.matrix, other.hierarchy(), with_graphs(false, 0));
    compare<double>(name + ", another mesh", graphs, direct, other.rhs.size());
    // single precision
    Multigrid<DeviceBlockMatrix<float>> in_float, plain;
    typename Multigrid<DeviceBlockMatrix<float>>::AdditionalData off;
    off.cuda_graphs = false;
    in_float.initialize(other.matrix, other.without_penalty, other.hierarchy());
    plain.initialize(other.matrix,
                     other.without_penalty,
                     other.hierarchy(),
                     off);
    compare<double>(name + ", in float", in_float, plain, other.rhs.size());
    compare<float>(name + ", in float", in_float, plain, other.rhs.size());
  }

  /// Set-up of all levels without waits, which update() records: eigenvalues
  /// have the bits of BlockChebyshev, for which the host computes with each
  /// scalar product, and graphs of cycles stay valid.
  template <int dim, typename Number>
  void
  compare_set_up(const unsigned int p, const unsigned int cells)
  {
    using Matrix = DeviceBlockMatrix<Number>;
    using Cycles = Multigrid<Matrix>;
    Case<dim, Matrix>        problem(cells, 1, {p}, true);
    const MultigridHierarchy hierarchy = problem.hierarchy();
    const unsigned int       n         = problem.rhs.size();
    std::vector<Number>      values;
    problem.matrix.copy_to(values);
    for (const bool symmetric : {true, false})
      {
        const std::string name = "set-up, " + std::to_string(dim) +
                                 "-D, p = " + std::to_string(p) +
                                 (symmetric ? "" : ", not symmetric") +
                                 (sizeof(Number) == 4 ? ", in float" : "");
        typename BlockChebyshev<Matrix>::AdditionalData of_chebyshev;
        of_chebyshev.symmetric = symmetric;
        typename Cycles::AdditionalData data;
        data.symmetric       = symmetric;
        data.keep_structures = true;
        BlockChebyshev<Matrix> chebyshev;
        Cycles                 multigrid, plain;
        problem.matrix.copy_from(values);
        chebyshev.initialize(problem.matrix, of_chebyshev);
        multigrid.initialize(problem.matrix,
                             problem.without_penalty,
                             hierarchy,
                             data);
        data.cuda_graphs = false;
        plain.initialize(problem.matrix,
                         problem.without_penalty,
                         hierarchy,
                         data);
        DeviceVector<Number> first(n), y(n);
        plain.vmult(first, problem.rhs);
        const auto check = [&](const std::string &what) {
          verify(name + what + ", eigenvalue",
                 multigrid.report().levels[0].largest_eigenvalue ==
                   chebyshev.largest_eigenvalue());
          multigrid.vmult(y, problem.rhs);
          verify(name + what + ", bits", same_bits(first, y));
        };
        for (unsigned int i = 0; i < 4; ++i)
          {
            check("");
            multigrid.update(problem.matrix, problem.without_penalty);
          }
        // Other values, for which nothing is recorded.
        for (const Number factor : {2, 1})
          {
            std::vector<Number> other(values);
            for (Number &value : other)
              value *= factor;
            problem.matrix.copy_from(other);
            chebyshev.initialize(problem.matrix, of_chebyshev);
            multigrid.update(problem.matrix, problem.without_penalty);
            plain.update(problem.matrix, problem.without_penalty);
            plain.vmult(first, problem.rhs);
            check(", times " + std::to_string(factor));
          }
        verify_counts(
          name + ", runs", multigrid.template graph_report<Number>(), 1, 1, 4);
        if (!symmetric)
          continue;
        std::vector<Number> negative(values);
        for (Number &value : negative)
          value *= -1.;
        problem.matrix.copy_from(negative);
        const std::string text = message_of(
          [&] { multigrid.update(problem.matrix, problem.without_penalty); });
        verify(name + ", indefinite",
               contains(text, "not symmetric and positive definite"),
               text);
        problem.matrix.copy_from(values);
        multigrid.update(problem.matrix, problem.without_penalty);
        check(", after an error");
      }
  }

  /// A finest level without a matrix.
  template <int dim>
  void
  compare_without_matrix(const unsigned int p, const unsigned int cells)
  {
    Case<dim, Device>               problem(cells, 1, {p}, true);
    const MultigridHierarchy        hierarchy = problem.hierarchy();
    MatrixFreeOperator<dim, Device> op;
    op.initialize(*problem.handler, problem.form, problem.data);
    MG graphs, direct;
    for (const bool on : {true, false})
      (on ? graphs : direct)
        .initialize(op.block_diagonal(),
                    assemble_coarse_operators<Device>(
                      *problem.handler, hierarchy, problem.form, problem.data),
                    hierarchy,
                    with_graphs(on, 4));
    compare<double>("without matrix", graphs, direct, problem.rhs.size());
    verify_counts(
      "without matrix, runs", graphs.template graph_report<double>(), 1, 1, 6);
  }



  // ---- iterations of GMRES

  using GMRES = SolverFusedGMRES<DeviceVector<double>>;

  /// Does @p n_iterations iterations.
  template <typename Preconditioner>
  DeviceGraphReport
  iterate(const Device                &matrix,
          const DeviceVector<double>  &b,
          const Preconditioner        &preconditioner,
          const unsigned int           n_iterations,
          const GMRES::AdditionalData &data,
          DeviceVector<double>        &x)
  {
    dealii::IterationNumberControl control(n_iterations, 0., false, false);
    GMRES                          solver(control, data);
    x = 0.;
    solver.solve(matrix, x, b, preconditioner);
    verify("iterations", control.last_step() == n_iterations);
    return solver.graph_report();
  }

  /// Diagonal blocks, scaled by a number that the host reads.
  struct ReadByHost
  {
    void
    vmult(DeviceVector<double> &y, const DeviceVector<double> &x) const
    {
      jacobi.vmult(y, x);
      y *= 1. / (1. + 0. * (y * x));
    }
    const BlockJacobi<Device> &jacobi;
  };

  template <int dim>
  void
  compare_gmres(const unsigned int p, const unsigned int cells)
  {
    const std::string name =
      std::to_string(dim) + "-D, p = " + std::to_string(p) + ", GMRES";
    Case<dim, Device>    problem(cells, 1, {p}, true);
    DeviceVector<double> x(problem.rhs), y(problem.rhs);
    const auto           check = [&](const std::string &what,
                           const auto        &preconditioner) {
      // The restart shows that a graph does not depend on the basis.
      constexpr unsigned int n = 20, restart = 7;
      DeviceGraphReport      report;
      for (const bool right : {true, false})
        {
          const auto run = [&](const bool            graphs,
                               DeviceVector<double> &result) {
            return iterate(problem.matrix,
                           problem.rhs,
                           preconditioner,
                           n,
                           GMRES::AdditionalData(restart, right, false, graphs),
                           result);
          };
          report = run(true, x);
          run(false, y);
          verify(name + ", " + what + ", bits",
                 same_bits(x, y) && x.l2_norm() > 0.);
        }
      return report;
    };
    LUSGS<Device>     lusgs;
    BlockILU0<Device> ilu;
    lusgs.initialize(problem.matrix);
    ilu.initialize(problem.matrix);
    for (const DeviceGraphReport &report :
         {check("LU-SGS", lusgs), check("ILU(0)", ilu)})
      verify_counts(name + ", runs", report, 1, 1, 18);
    BlockJacobi<Device> jacobi;
    jacobi.initialize(problem.matrix);
    const DeviceGraphReport report = check("by the host", ReadByHost{jacobi});
    verify(name + ", reason",
           contains(report.why, "a scalar product") && report.n_replayed == 0,
           report.why);
  }



  // ---- time steps

  /// Explicit steps of du/dt = -M^{-1} R(u), with or without graphs.
  template <int dim>
  class Steps
  {
  public:
    Steps(const AgglomerationHandler<dim>   &handler,
          Tessella::PointwiseIntegrand<dim> &integrand,
          const BlockJacobi<Device>         *inverse_mass,
          const dealii::Vector<double>      &initial,
          const bool                         graphs)
      : integrand(integrand)
      , op(handler, data())
      , graph(graphs)
      , low_storage(LowStorageMethod::carpenter_kennedy_4)
      , classic(ExplicitMethod::classic_4)
    {
      for (auto *vector : {&u, &r})
        op.reinit(*vector);
      u.copy_from(initial);
      derivative = [this, inverse_mass](const double,
                                        const DeviceVector<double> &v,
                                        DeviceVector<double>       &result) {
        op.template residual<DeviceVector<double>>(
          this->integrand, {&v}, inverse_mass == nullptr ? result : r);
        if (inverse_mass != nullptr)
          inverse_mass->vmult(result, r);
        result *= -1.;
      };
    }

    static typename PointwiseOperator<dim>::AdditionalData
    data()
    {
      typename PointwiseOperator<dim>::AdditionalData result;
      result.backend = Backend::cuda;
      return result;
    }

    void
    step(const double dt, const bool few_registers = true)
    {
      graph.run({DeviceGraph::address(u.begin()),
                 DeviceGraph::bits(dt),
                 few_registers},
                [&] {
                  if (few_registers)
                    low_storage.step(derivative, 0., dt, u);
                  else
                    classic.step(derivative, 0., dt, u);
                });
    }

    Tessella::PointwiseIntegrand<dim>         &integrand;
    PointwiseOperator<dim>                     op;
    DeviceGraph                                graph;
    LowStorageRungeKutta<DeviceVector<double>> low_storage;
    ExplicitRungeKutta<DeviceVector<double>>   classic;
    TimeDerivative<DeviceVector<double>>       derivative;
    DeviceVector<double>                       u, r;
  };

  template <int dim>
  void
  test_steps()
  {
    const std::string  name = std::to_string(dim) + "-D";
    Triangulation<dim> triangulation;
    GridGenerator::subdivided_hyper_cube(triangulation, dim == 2 ? 10 : 4);
    AgglomerationHandler<dim> handler(triangulation);
    handler.agglomerate(make_strategy<dim>("none"));
    distribute(handler, 2, false, dim + 2);
    dealii::Vector<double> u;
    set_field(handler, euler_state<dim>(), 0.1, u);
    const auto integrand = Functors::make_integrand<dim>(euler<dim>());
    // On boxes the mass matrix is the identity.
    Steps<dim> graphs(handler, *integrand, nullptr, u, true),
      direct(handler, *integrand, nullptr, u, false);
    for (const bool few : {true, false})
      for (const double dt : {1e-4, 1e-4, 1e-4, 1e-4, 2e-4, 2e-4, 2e-4})
        {
          graphs.step(dt, few);
          direct.step(dt, few);
          verify(name + ", time step", same_bits(graphs.u, direct.u));
        }
    graphs.op.check_finite();
    verify_counts(name + ", runs", graphs.graph.report(), 4, 4, 6);
    verify(name + ", steps move",
           !same_bits(graphs.u, DeviceVector<double>(u)));
    // Density zero: the recorded step finds it, check_finite() reports it.
    const DeviceVector<double> good(graphs.u);
    dealii::Vector<double>     bad(u);
    bad(0)                                   = 0.;
    bad(handler.polytopic_dofs().n_basis[0]) = 1.;
    graphs.u.copy_from(bad);
    graphs.step(2e-4, false);
    const std::string text = message_of([&] { graphs.op.check_finite(); });
    verify(name + ", not finite", contains(text, "at the point ("), text);
    graphs.u = good;
    direct.u = good;
    for (unsigned int i = 0; i < 2; ++i)
      {
        graphs.step(2e-4, false);
        direct.step(2e-4, false);
      }
    graphs.op.check_finite();
    verify(name + ", after the error", same_bits(graphs.u, direct.u));
  }



  // ---- times

  /// Microseconds of each of @p n calls of @p work.
  template <typename Work>
  double
  time_of(const unsigned int          n,
          const DeviceVector<double> &result,
          const Work                 &work)
  {
    double best = 1e300;
    for (unsigned int repetition = 0; repetition < 3; ++repetition)
      {
        result.linfty_norm();
        const dealii::Timer timer;
        for (unsigned int i = 0; i < n; ++i)
          work();
        result.linfty_norm();
        best = std::min(best, 1e6 * timer.wall_time() / n);
      }
    return best;
  }

  /// Problem for the times: diffusion on triangles.
  struct SmallProblem
  {
    SmallProblem(const unsigned int cells, const unsigned int p)
      : problem(cells, 1, {p}, true)
      , hierarchy(problem.hierarchy())
      , integrand(
          Functors::make_integrand<2>(Functors::NonlinearDiffusion<2>()))
    {
      for (const bool on : {false, true})
        multigrid[on].initialize(problem.matrix,
                                 problem.without_penalty,
                                 hierarchy,
                                 with_graphs(on, 0));
      AdvectionDiffusionReaction<2> form;
      form.set_reaction(1.);
      PolytopicAssembler<2> assembler(*problem.handler, problem.data);
      assembler.reinit(mass);
      assembler.assemble_matrix(form, mass);
      inverse_mass.initialize(mass);
      dealii::Vector<double> u;
      set_field(*problem.handler, {0.4}, 0.1, u);
      for (const bool on : {false, true})
        steps[on] = std::make_unique<Steps<2>>(
          *problem.handler, *integrand, &inverse_mass, u, on);
    }

    /// Microseconds of an iteration of GMRES with LU-SGS.
    double
    iteration(const bool graphs, DeviceVector<double> &x)
    {
      constexpr unsigned int n = 30;
      LUSGS<Device>          lusgs;
      lusgs.initialize(problem.matrix);
      double best = 1e300;
      for (unsigned int repetition = 0; repetition < 4; ++repetition)
        {
          const dealii::Timer     timer;
          const DeviceGraphReport report =
            iterate(problem.matrix,
                    problem.rhs,
                    lusgs,
                    n,
                    GMRES::AdditionalData(n, true, false, graphs),
                    x);
          best = std::min(best, 1e6 * timer.wall_time() / n);
          verify("graph of an iteration", graphs == (report.n_replayed > 0));
        }
      return best;
    }

    Case<2, Device>                                  problem;
    MultigridHierarchy                               hierarchy;
    MG                                               multigrid[2];
    std::unique_ptr<Tessella::PointwiseIntegrand<2>> integrand;
    Device                                           mass;
    BlockJacobi<Device>                              inverse_mass;
    std::unique_ptr<Steps<2>>                        steps[2];
  };

  void
  print_times(const unsigned int cells)
  {
    std::cout << "microseconds: V-cycle without and with graph, kernels; "
                 "low-storage step without and with graph, kernels; iteration "
                 "of GMRES with LU-SGS without and with graph"
              << std::endl;
    for (unsigned int p = 1; p <= 5; ++p)
      {
        SmallProblem         small(cells, p);
        const unsigned int   n    = small.problem.rhs.size();
        DeviceVector<double> y[2] = {DeviceVector<double>(n),
                                     DeviceVector<double>(n)};
        double               cycle[2], step[2], recording = 0.;
        for (const bool on : {false, true})
          {
            const auto one_cycle = [&] {
              small.multigrid[on].vmult(y[on], small.problem.rhs);
            };
            const auto one_step = [&] { small.steps[on]->step(1e-10); };
            for (unsigned int i = 0; i < 3; ++i)
              {
                // The second call records the graph.
                y[on].linfty_norm();
                const dealii::Timer timer;
                one_cycle();
                y[on].linfty_norm();
                if (on && i == 1)
                  recording = 1e6 * timer.wall_time();
                one_step();
              }
            cycle[on] = time_of(100, y[on], one_cycle);
            step[on]  = time_of(50, small.steps[on]->u, one_step);
          }
        small.steps[1]->op.check_finite();
        verify("bits of cycles", same_bits(y[0], y[1]));
        const double iteration[2] = {small.iteration(false, y[0]),
                                     small.iteration(true, y[1])};
        verify("bits of GMRES", same_bits(y[0], y[1]));
        verify("bits of steps",
               same_bits(small.steps[0]->u, small.steps[1]->u));
        const auto &of_cycle = small.multigrid[1].graph_report<double>(),
                   &of_step  = small.steps[1]->graph.report();
        verify("graphs",
               of_cycle.n_operations > 0 && of_step.n_operations > 0,
               of_cycle.why + of_step.why);
        std::cout << small.problem.triangulation.n_active_cells()
                  << " triangles, p = " << p << ": " << std::fixed
                  << std::setprecision(1) << cycle[0] << " " << cycle[1] << " "
                  << of_cycle.n_operations << ", recorded in " << recording
                  << "; " << step[0] << " " << step[1] << " "
                  << of_step.n_operations << "; " << iteration[0] << " "
                  << iteration[1] << std::endl;
      }
  }

  // Ranges of calls for a profiler, which follow calls that are not recorded.
  void
  run_profile(const unsigned int cells)
  {
    unsigned int n_ranges = 0;
    const auto   record   = [&n_ranges](const std::string          &name,
                                    const DeviceVector<double> &result,
                                    const auto                 &work) {
      constexpr unsigned int n = 20;
      for (unsigned int i = 0; i < 3; ++i)
        work();
      verify("norm", result.linfty_norm() > 0.);
      start_profiler();
      const dealii::Timer timer;
      for (unsigned int i = 0; i < n; ++i)
        work();
      verify("norm", result.linfty_norm() > 0.);
      const double seconds = timer.wall_time();
      stop_profiler();
      std::cout << "range " << ++n_ranges << ": " << name << ", " << n
                << " calls, " << 1e6 * seconds / n << " microseconds each"
                << std::endl;
    };
    for (unsigned int p = 1; p <= 5; ++p)
      {
        SmallProblem         small(cells, p);
        DeviceVector<double> y(small.problem.rhs.size());
        LUSGS<Device>        lusgs;
        lusgs.initialize(small.problem.matrix);
        for (const bool on : {false, true})
          {
            const std::string graph = on ? " with graph" : "",
                              text  = "p = " + std::to_string(p) + graph;
            record("V-cycle, " + text, y, [&] {
              small.multigrid[on].vmult(y, small.problem.rhs);
            });
            record("step, " + text, small.steps[on]->u, [&] {
              small.steps[on]->step(1e-10);
            });
            constexpr unsigned int n = 30;
            record("30 iterations of GMRES, " + text, y, [&] {
              iterate(small.problem.matrix,
                      small.problem.rhs,
                      lusgs,
                      n,
                      GMRES::AdditionalData(n, true, false, on),
                      y);
            });
          }
      }
  }



  void
  test_unavailable()
  {
    DeviceGraph  graph;
    unsigned int n = 0;
    for (unsigned int i = 0; i < 3; ++i)
      graph.run({1, 2}, [&] { ++n; });
    verify("calls", n == 3);
    verify_counts("runs", graph.report(), 3, 0, 0);
    graph.clear();
    verify("exception",
           message_of([&] {
             graph.run({}, [] { AssertThrow(false, ExcMessage("stop")); });
           }) != "no exception");
  }
} // namespace

int
main(int argc, char **argv)
{
  return run_case(argc, argv, [&](const std::string &name) {
    if (name == "unavailable")
      test_unavailable();
    if (name == "work")
      {
        test_work();
        test_refused();
        test_failures();
        test_branches_of_devices();
      }
    if (name == "multigrid")
      {
        for (const unsigned int p : {1, 2, 4})
          compare_multigrid<2>(p, 6);
        compare_multigrid<3>(2, 2);
        compare_set_up<2, double>(3, 6);
        compare_set_up<3, double>(2, 2);
        compare_set_up<2, float>(3, 6);
        compare_set_up<3, float>(2, 2);
        compare_without_matrix<2>(3, 5);
        compare_without_matrix<3>(4, 2);
        compare_gmres<2>(2, 6);
        compare_gmres<3>(1, 2);
      }
    if (name == "steps")
      {
        test_steps<2>();
        test_steps<3>();
      }
    if (name == "times")
      print_times(argc > 2 ? std::stoi(argv[2]) : 17);
    if (name == "profile")
      run_profile(argc > 2 ? std::stoi(argv[2]) : 17);
  });
}
