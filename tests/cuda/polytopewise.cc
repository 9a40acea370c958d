// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// PolytopewiseOperator on CUDA devices: limiters, a functor of all members of a
// stencil and text that is compiled at run time are equal to those of the host,
// with the same bits in every run, for every number of processes, which may
// share a device, and for parts of the mesh; functors of the host; errors,
// which leave vectors as they are. Argument: 2d, 3d, or times, which prints
// those of limiters on many tetrahedra.

#include <deal.II/base/function_lib.h>

#include <tessella/device/cuda_device.h>
#include <tessella/forms/limiters.h>
#include <tessella/forms/polytopewise_text.h>
#include <tessella/lac/device_vector.h>
#include <tessella/lac/host_vector.h>
#include <tessella/numerics/vector_tools.h>
#include <tessella/operators/pointwise_operator.h>
#include <tessella/operators/polytopewise_operator.h>

#include <cstring>
#include <iostream>

#include "../../source/operators/device_stencils.h"
#include "../messages.h"
#include "../mpi/cases.h"
#include "polytopewise_functors.h"

namespace
{
  unsigned int n_checks = 0, n_failures = 0;

  void
  verify(const std::string &name, const bool good, const std::string &text = "")
  {
    ++n_checks;
    if (good)
      return;
    ++n_failures;
    std::cout << name << ": FAILED " << text << std::endl;
  }

  /// A step and a wave.
  template <int dim>
  class StepAndWave : public Function<dim>
  {
  public:
    explicit StepAndWave(const unsigned int m)
      : Function<dim>(m)
    {}

    double
    value(const Point<dim> &x, const unsigned int c) const override
    {
      return c % 2 == 0 ? (x[0] + 0.31 * x[1] < 0.577 ? 1. : 0.2 + 0.02 * c)
                        : 0.5 + 0.4 * std::sin(9.1 * x[0] + c) *
                                  std::cos(4.3 * x[dim - 1]);
    }
  };

  /// SlopeLimiter as text.
  template <int dim>
  PolytopewiseText<dim>
  text_limiter()
  {
    PolytopewiseText<dim> text(
      "#include <tessella/forms/limiters.h>\n"
      "struct Functor : SlopeLimiter\n{};");
    text.parameters = {0.};
    return text;
  }

  /// A text with values at points and without parameters.
  template <int dim>
  PolytopewiseText<dim>
  text_maximum()
  {
    return PolytopewiseText<dim>(
      "struct Functor\n"
      "{\n"
      "  double operator()(const PolytopeStencil<dim> &s, double *u) const\n"
      "  {\n"
      "    double largest = s.value(0, 0);\n"
      "    for (unsigned int q = 0; q < s.n_points; ++q)\n"
      "      largest = max(largest, s.value(q, 0) + s.x[dim - 1][q]);\n"
      "    u[0] = 0.9 * s.mean(0) * s.unit();\n"
      "    return largest;\n"
      "  }\n"
      "};",
      true,
      [](const PolytopeStencil<dim> &s, double *u) {
        double largest = s.value(0, 0);
        for (unsigned int q = 0; q < s.n_points; ++q)
          largest = std::max(largest, s.value(q, 0) + s.x[dim - 1][q]);
        u[0] = 0.9 * s.mean(0) * s.unit();
        return largest;
      });
  }

  struct Result
  {
    /// Digests of coefficients and results, case by case.
    std::vector<std::uint64_t> digests;
    /// Largest differences to the host, relative to the largest entry.
    std::vector<double> differences;
    /// Whether a case changes coefficients.
    std::vector<bool> changes;
    bool              on_device = true, repeated = true, parts = true;
  };

  double
  relative_difference(const MPI_Comm             comm,
                      const std::vector<double> &a,
                      const std::vector<double> &b)
  {
    double difference = a.size() == b.size() ? 0. : 1e300, size = 0.;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
      {
        const double d = std::abs(a[i] - b[i]);
        if (!(d <= difference) && !std::isnan(difference))
          difference = d;
        size = std::max(size, std::abs(a[i]));
      }
    return Utilities::MPI::max(difference, comm) /
           Utilities::MPI::max(size, comm);
  }

  template <int dim>
  struct Case
  {
    Case(const AgglomerationHandler<dim> &handler)
      : handler(handler)
      , op(handler)
    {
      PointwiseOperator<dim> vectors(handler);
      vectors.reinit(u);
      vectors.reinit(x);
      LinearAlgebra::distributed::Vector<double> &field = u;
      Tessella::VectorTools::project(handler,
                                     StepAndWave<dim>(handler.n_components()),
                                     field);
    }

    std::vector<double>
    entries(const DeviceVector<double> &vector) const
    {
      std::vector<double> result;
      vector.copy_to(result);
      return result;
    }

    void
    send()
    {
      x.copy_from(std::vector<double>(u.begin(), u.end()));
    }

    /// Compares @p function on the device with @p on_host.
    template <typename HostFunction>
    void
    compare(const PolytopewiseFunction<dim> &function,
            const HostFunction              &on_host,
            Result                          &result)
    {
      const MPI_Comm     comm = handler.get_communicator();
      HostVector<double> v    = u;
      LinearAlgebra::distributed::Vector<double> &field = v;
      const std::vector<double> expected  = op.apply(on_host, field),
                                evaluated = op.evaluate(on_host, field);
      for (const bool again : {false, true})
        {
          send();
          const std::vector<double> found = op.apply(function, x);
          result.on_device                = result.on_device &&
                             op.report().backend == Backend::cuda &&
                             op.report().why.empty();
          const std::vector<double>   after    = entries(x);
          const DeviceVector<double> &constant = x;
          const std::vector<double>   second = op.evaluate(function, constant);
          result.repeated = result.repeated && entries(x) == after;
          Digest              digest;
          const std::uint64_t digests[] = {
            digest_of_vector(handler, after),
            digest_of_polytopes(handler,
                                [&](const unsigned int k, Digest &digest) {
                                  digest.add(found[k]);
                                  digest.add(second[k]);
                                })};
          for (const std::uint64_t d : digests)
            digest.add(d);
          if (again)
            {
              result.repeated =
                result.repeated && digest.state == result.digests.back();
              continue;
            }
          result.digests.push_back(digest.state);
          result.differences.push_back(
            std::max({relative_difference(comm, {v.begin(), v.end()}, after),
                      relative_difference(comm, expected, found),
                      relative_difference(comm, evaluated, second)}));
          result.changes.push_back(
            relative_difference(comm, {u.begin(), u.end()}, after) > 1e-3);
        }
    }

    const AgglomerationHandler<dim> &handler;
    PolytopewiseOperator<dim>        op;
    HostVector<double>               u;
    DeviceVector<double>             x;
  };

  /// Results for parts of one polytope each, and of some.
  template <int dim>
  bool
  same_in_parts(Case<dim> &c)
  {
    const auto function = make_polytopewise<dim>(PolytopewiseCase::everything);
    const auto kernel   = function->device_kernel();
    c.send();
    const std::vector<double> expected = c.op.apply(*function, c.x),
                              after    = c.entries(c.x);
    Tessella::internal::StencilGeometry<dim> geometry(c.handler, 2);
    for (const std::size_t limit : {100, 10000})
      {
        Tessella::internal::DeviceStencils<dim> stencils(geometry, limit);
        c.send();
        const std::vector<double> found =
          stencils.run(*function, *kernel, c.x.begin(), c.x.begin());
        if (found != expected || c.entries(c.x) != after ||
            (limit == 100 && stencils.n_parts() != c.handler.n_polytopes()))
          return false;
      }
    return true;
  }

  template <int dim>
  Result
  compute(const Triangulation<dim>           &triangulation,
          const Agglomeration::Strategy<dim> &strategy,
          const unsigned int                  m,
          const PolynomialSpaceType           space)
  {
    AgglomerationHandler<dim> handler(triangulation);
    handler.agglomerate(strategy);
    distribute_by_position(handler, {{1, 3}}, space, m);
    Case<dim> c(handler);
    Result    result;
    for (const PolytopewiseCase name : {PolytopewiseCase::slopes,
                                        PolytopewiseCase::bounds,
                                        PolytopewiseCase::everything})
      {
        const auto function = make_polytopewise<dim>(name);
        c.compare(*function, *function, result);
      }
    c.compare(text_limiter<dim>(), SlopeLimiter(), result);
    const auto text = text_maximum<dim>();
    c.compare(text, text, result);
    result.parts =
      Utilities::MPI::n_mpi_processes(handler.get_communicator()) > 1 ||
      same_in_parts(c);

    // Mean values and integrals.
    c.send();
    LinearAlgebra::distributed::Vector<double> &field = c.u;
    result.differences.push_back(relative_difference(handler.get_communicator(),
                                                     c.op.mean_values(field),
                                                     c.op.mean_values(c.x)));
    result.changes.push_back(true);
    result.digests.push_back(digest_of_vector(handler, c.entries(c.x)));
    return result;
  }

  template <int dim, typename Compute>
  void
  test(const std::string &name, const Compute &compute)
  {
    const auto results = for_numbers_of_processes<Result>(compute);
    for (unsigned int n = 0; n < results.size(); ++n)
      {
        const Result     &result = results[n];
        const std::string here   = std::to_string(dim) + "-D, " + name + ", " +
                                 std::to_string(n + 1) + " processes: ";
        for (unsigned int i = 0; i < result.differences.size(); ++i)
          {
            const std::string number = "case " + std::to_string(i) + ", ";
            verify(here + number + "host",
                   result.differences[i] <= 1e-12,
                   std::to_string(result.differences[i] * 1e12) + "e-12");
            verify(here + number + "changes", result.changes[i]);
            verify(here + number + "bits",
                   result.digests[i] == results[0].digests[i]);
          }
        verify(here + "on the device", result.on_device);
        verify(here + "two runs", result.repeated);
        verify(here + "parts", result.parts);
      }
  }

  template <int dim>
  void
  test_meshes()
  {
    const auto total = PolynomialSpaceType::total_degree;
    test<dim>("periodic, hanging nodes", [&](const MPI_Comm comm) {
      auto triangulation = shared_mesh<dim>(comm);
      make_periodic(triangulation, 1, dim == 2 ? 3 : 2);
      return compute<dim>(
        triangulation,
        [](const Triangulation<dim> &t) {
          std::vector<unsigned int> ids(t.n_active_cells());
          for (unsigned int i = 0; i < ids.size(); ++i)
            ids[i] = i;
          return ids;
        },
        2,
        PolynomialSpaceType::tensor_product);
    });
    for (const unsigned int m : {1u, dim + 2u, 7u})
      test<dim>("agglomerates of simplices, " + std::to_string(m) +
                  " components",
                [&](const MPI_Comm comm) {
                  parallel::fullydistributed::Triangulation<dim> triangulation(
                    comm);
                  const auto strategy = distribute_simplices(triangulation);
                  return compute<dim>(triangulation, strategy, m, total);
                });
    test<dim>("processes without polytopes", [&](const MPI_Comm comm) {
      parallel::fullydistributed::Triangulation<dim> triangulation(comm);
      const auto strategy = distribute_two_polytopes(triangulation);
      return compute<dim>(triangulation, strategy, 2, total);
    });
  }

  /// Functors without a kernel, and errors on one process.
  template <int dim>
  void
  test_others()
  {
    parallel::fullydistributed::Triangulation<dim> triangulation(
      MPI_COMM_WORLD);
    const auto                strategy = distribute_simplices(triangulation);
    AgglomerationHandler<dim> handler(triangulation);
    handler.agglomerate(strategy);
    distribute_by_position(handler,
                           {{2, 2}},
                           PolynomialSpaceType::total_degree,
                           2);
    Case<dim>                                   c(handler);
    HostVector<double>                          v     = c.u;
    LinearAlgebra::distributed::Vector<double> &field = v;
    const std::vector<double> expected = c.op.apply(SlopeLimiter(), field);
    c.send();
    const std::vector<double> found = c.op.apply(SlopeLimiter(), c.x);
    verify("functor of the host",
           found == expected &&
             c.entries(c.x) == std::vector<double>(v.begin(), v.end()));
    verify("functor of the host, report",
           c.op.report().backend == Backend::host &&
             contains(c.op.report().why, "nvcc"),
           c.op.report().why);

    const std::vector<double> before = c.entries(c.x);
    const auto                error =
      [&](const std::string &name, const auto &work, const std::string &part) {
        const std::string message = message_of(work);
        verify(name, contains(message, part), message);
        verify(name + " leaves the vector", c.entries(c.x) == before);
      };
    error(
      "not finite",
      [&] {
        c.op.apply(*make_polytopewise<dim>(PolytopewiseCase::not_finite), c.x);
      },
      "sets a coefficient on polytope");
    error(
      "text",
      [&] { c.op.apply(PolytopewiseText<dim>("struct Functor {"), c.x); },
      "could not be compiled");
    PolytopewiseText<dim> wrong = text_limiter<dim>();
    wrong.parameters.push_back(1.);
    error(
      "parameters", [&] { c.op.apply(wrong, c.x); }, "2 parameters");
    error(
      "text on the host",
      [&] { c.op.apply(text_limiter<dim>(), field); },
      "host function");
    DeviceVector<double> other(handler.n_locally_owned_dofs() + 1);
    error(
      "size",
      [&] {
        c.op.apply(*make_polytopewise<dim>(PolytopewiseCase::slopes), other);
      },
      "degrees of freedom");
    if (Utilities::MPI::this_mpi_process(MPI_COMM_WORLD) == 0)
      *c.u.begin() = std::numeric_limits<double>::quiet_NaN();
    c.send();
    const std::vector<double> given   = c.entries(c.x);
    const std::string         message = message_of([&] {
      c.op.apply(*make_polytopewise<dim>(PolytopewiseCase::slopes), c.x);
    });
    verify("mean value", contains(message, "mean value of component"), message);
    // On the processes without the error, too.
    const std::vector<double> kept = c.entries(c.x);
    verify("mean value leaves the vector",
           kept.size() == given.size() &&
             (kept.empty() || std::memcmp(kept.data(),
                                          given.data(),
                                          sizeof(double) * kept.size()) == 0));
  }

  /// Times of limiters on tetrahedra, for one process: 5 components, degrees 1
  /// to 3.
  void
  print_times()
  {
    for (const unsigned int p : {1, 2, 3})
      {
        Triangulation<3> triangulation;
        GridGenerator::subdivided_hyper_cube_with_simplices(triangulation,
                                                            p == 1 ? 26 : 20);
        AgglomerationHandler<3> handler(triangulation);
        handler.agglomerate(Agglomeration::none<3>());
        handler.distribute_dofs(FESystem<3>(FE_BoundingBoxLegendre<3>(p), 5));
        Case<3>    c(handler);
        const auto slopes = make_polytopewise<3>(PolytopewiseCase::slopes),
                   bounds = make_polytopewise<3>(PolytopewiseCase::bounds);
        for (const auto *function : {&*slopes, &*bounds})
          {
            double on_device = 1e300, on_host = 1e300;
            LinearAlgebra::distributed::Vector<double> &field = c.u;
            for (unsigned int i = 0; i < 6; ++i)
              {
                c.send();
                c.op.apply(*function, c.x);
                on_device = std::min(on_device, c.op.report().time);
                if (i > 1)
                  continue;
                const HostVector<double> before = c.u;
                c.op.apply(*function, field);
                on_host = std::min(on_host, c.op.report().time);
                c.u     = before;
              }
            std::cout << "p = " << p << ", " << handler.n_polytopes()
                      << " tetrahedra, 5 components, "
                      << (function == &*slopes ? "slopes" : "bounds")
                      << ": device " << 1e3 * on_device << " ms, host "
                      << 1e3 * on_host << " ms" << std::endl;
          }
      }
  }
} // namespace

int
main(int argc, char **argv)
{
  Utilities::MPI::MPI_InitFinalize mpi(argc, argv, 1);
  if (!cuda_is_available())
    {
      std::cout << "There is no CUDA device." << std::endl;
      return 77;
    }
  const std::string name = argc > 1 ? argv[1] : "";
  if (name == "times")
    print_times();
  else if (name == "2d")
    {
      test_meshes<2>();
      test_others<2>();
    }
  else
    {
      test_meshes<3>();
      test_others<3>();
    }
  if (name != "times")
    std::cout << name << ": " << n_checks << " checks, " << n_failures
              << " failures" << std::endl;
  return n_failures > 0;
}
