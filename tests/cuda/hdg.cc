// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Hybridizable dG on a CUDA device: trace matrix, right-hand side, u and q
// agree with the host; the same bits when repeated, in tiles, for matrices on
// the device, and whether or not local solvers are kept; a solve that stays on
// the device; mistakes. Argument: 2d, 3d, other or unavailable. Returns 77 if
// the case cannot run on this machine, 1 if a check fails.

#include <deal.II/fe/fe_system.h>
#include <deal.II/lac/solver_cg.h>
#include <deal.II/lac/solver_control.h>

#include <tessella/base/config.h>
#include <tessella/hdg/hdg.h>
#include <tessella/lac/block_preconditioners.h>
#include <tessella/numerics/vector_tools.h>

#include <cmath>
#include <iostream>

#include "../assembly/compare.h"
#include "checks.h"

using namespace Tessella;

namespace
{
  double largest_ratio = 0.;

  void
  below(const std::string &name, const double value, const double bound)
  {
    largest_ratio = std::max(largest_ratio, value / bound);
    verify(name, value <= bound, std::to_string(value / bound));
  }

  /// Difference of two arrays, relative to the largest entry of the second one.
  double
  largest_difference(const double *a, const double *b, const std::size_t n)
  {
    double largest = 0., error = 0.;
    for (std::size_t i = 0; i < n; ++i)
      {
        largest = std::max(largest, std::abs(b[i]));
        error =
          std::isfinite(a[i]) ? std::max(error, std::abs(a[i] - b[i])) : 1e300;
      }
    return largest > 0. ? error / largest : error;
  }

  template <int dim>
  double
  L2_norm(const AgglomerationHandler<dim> &handler, const Vector<double> &u)
  {
    Vector<float> cells;
    Tessella::VectorTools::integrate_difference(handler,
                                                u,
                                                Functions::ZeroFunction<dim>(
                                                  handler.n_components()),
                                                cells,
                                                dealii::VectorTools::L2_norm);
    return Tessella::VectorTools::compute_global_error(
      handler, cells, dealii::VectorTools::L2_norm);
  }

  template <int dim>
  double
  L2_difference(const AgglomerationHandler<dim> &handler,
                const Vector<double>            &a,
                const Vector<double>            &b)
  {
    Vector<double> c(a);
    c -= b;
    return L2_norm(handler, c) / L2_norm(handler, b);
  }

  template <int dim>
  struct Run
  {
    TrilinosWrappers::SparseMatrix matrix;
    TrilinosWrappers::MPI::Vector  rhs, trace;
    Vector<double>                 u, q;
    HDGReport                      report;

    Run(const AgglomerationHandler<dim>           &handler,
        const AdvectionDiffusionReaction<dim>     &form,
        const typename HDG<dim>::AdditionalData   &data,
        const std::function<double(unsigned int)> &entry)
    {
      HDG<dim> hdg(handler, data);
      hdg.reinit(form, matrix, rhs);
      hdg.assemble(form, matrix, rhs);
      report = hdg.report();
      trace.reinit(rhs);
      for (unsigned int i = 0; i < trace.size(); ++i)
        trace.begin()[i] = entry(i);
      hdg.recover(form, trace, u, q);
    }

    const double *
    values() const
    {
      return const_cast<Epetra_CrsMatrix &>(matrix.trilinos_matrix())
        .ExpertExtractValues();
    }

    std::size_t
    n_values() const
    {
      return matrix.n_nonzero_elements();
    }

    bool
    operator==(const Run &other) const
    {
      return n_values() == other.n_values() &&
             std::equal(values(), values() + n_values(), other.values()) &&
             std::equal(rhs.begin(), rhs.end(), other.rhs.begin()) &&
             u == other.u && q == other.q;
    }
  };

  double
  some_entry(const unsigned int i)
  {
    return std::sin(1. + 0.37 * i) / (1. + i % 7);
  }

  template <int dim>
  typename HDG<dim>::AdditionalData
  options(const Backend backend, const TraceSpaceType type)
  {
    typename HDG<dim>::AdditionalData data;
    data.backend     = backend;
    data.trace_space = type;
    return data;
  }

  template <int dim>
  void
  compare(const std::string                     &name,
          const AgglomerationHandler<dim>       &handler,
          const AgglomerationHandler<dim>       *flux_handler,
          const AdvectionDiffusionReaction<dim> &form,
          typename HDG<dim>::AdditionalData      data)
  {
    data.backend = Backend::host;
    const Run<dim> host(handler, form, data, some_entry);
    data.instruction_set = InstructionSet::plain;
    const Run<dim> plain(handler, form, data, some_entry);
    data.backend = Backend::cuda;
    const Run<dim> device(handler, form, data, some_entry);
    verify(name + " backend",
           device.report.backend == Backend::cuda &&
             device.report.n_free_constants == host.report.n_free_constants);
    const auto check =
      [&](const std::string &what, const double bound, const auto &difference) {
        below(name + ", " + what,
              difference(device),
              std::max(bound, 4. * difference(plain)));
      };
    check("matrix", 1e-12, [&](const Run<dim> &run) {
      return largest_difference(run.values(), host.values(), host.n_values());
    });
    check("rhs", 1e-12, [&](const Run<dim> &run) {
      return largest_difference(run.rhs.begin(),
                                host.rhs.begin(),
                                host.rhs.size());
    });
    check("u", 1e-12, [&](const Run<dim> &run) {
      return L2_difference(handler, run.u, host.u);
    });
    if (flux_handler != nullptr)
      check("q", 1e-12, [&](const Run<dim> &run) {
        return L2_difference(*flux_handler, run.q, host.q);
      });
    const Run<dim> again(handler, form, data, some_entry);
    verify(name + ", same bits", device == again);
  }

  template <int dim>
  std::vector<std::pair<std::string, AdvectionDiffusionReaction<dim>>>
  forms()
  {
    Reference::Problem<dim> problem = full_problem<dim>();
    std::vector<std::pair<std::string, AdvectionDiffusionReaction<dim>>> list;
    list.emplace_back("full", make_form(problem, Give::tensor_functions, 2));
    list.emplace_back("constants", make_form(problem, Give::constants, 0));
    problem.b = nullptr;
    list.emplace_back("without advection",
                      make_form(problem, Give::scalar_constant, 0));
    list.emplace_back("tensor", make_form(problem, Give::tensor_functions, 2));
    problem.a = isotropic<dim>(
      [](const Point<dim> &x) { return 1. + x[0] * x[0] + 0.3 * x[1]; });
    list.emplace_back("variable", make_form(problem, Give::functions, 2));
    return list;
  }

  template <int dim>
  void
  run()
  {
    const auto all = forms<dim>();
    for (const std::string mesh :
         {"box", "simplices", "distorted", "hanging", "periodic"})
      {
        Triangulation<dim> triangulation;
        make_mesh(mesh, triangulation);
        for (const std::string agglomeration : {"none", "steps", "scattered"})
          for (unsigned int p = 0; p <= (dim == 2 ? 9 : 4); ++p)
            {
              if (agglomeration == "scattered" && p > 4 - (dim - 2))
                continue;
              if (dim == 3 && mesh != "simplices" && p > 3)
                continue;
              AgglomerationHandler<dim> handler(triangulation),
                flux(triangulation);
              for (auto *h : {&handler, &flux})
                h->agglomerate(make_strategy<dim>(agglomeration));
              // tensor products also on boxes
              const PolynomialSpaceType space =
                mesh == "box" && p < 4 ? PolynomialSpaceType::tensor_product
                                       : PolynomialSpaceType::total_degree;
              const FE_BoundingBoxLegendre<dim> fe(p, space);
              handler.distribute_dofs(fe);
              flux.distribute_dofs(FESystem<dim>(fe, dim));
              const auto       &form = all[p % all.size()];
              const std::string name =
                std::to_string(dim) + "-D, " + mesh + ", " + agglomeration +
                ", p = " + std::to_string(p) + ", " + form.first;
              // The coefficients of functions on curved interfaces grow with p,
              // so that they have fewer correct digits.
              auto data = options<dim>(
                Backend::host,
                p % 2 == 0 && (agglomeration == "none" || p <= 4) ? TraceSpaceType::interface : TraceSpaceType::facet);
              if (p == 2)
                data.advection = AdvectionForm::convective;
              if (p == 3)
                data.tau_of_facet = [](const unsigned int f,
                                       const unsigned int side) {
                  return 1. + 0.1 * (f % 5) + side;
                };
              compare<dim>(name, handler, &flux, form.second, data);
            }
      }
    // simplices with a constant scalar a, which have kernels of their own
    for (const std::string mesh : {"simplices", "periodic simplices"})
      for (const auto type : {TraceSpaceType::interface, TraceSpaceType::facet})
        for (unsigned int p = 0; p <= (dim == 2 ? 9 : 5); ++p)
          {
            Triangulation<dim> triangulation;
            make_mesh(mesh, triangulation);
            AgglomerationHandler<dim> handler(triangulation),
              flux(triangulation);
            for (auto *h : {&handler, &flux})
              h->agglomerate(make_strategy<dim>("none"));
            const FE_BoundingBoxLegendre<dim> fe(p);
            handler.distribute_dofs(fe);
            flux.distribute_dofs(FESystem<dim>(fe, dim));
            auto data = options<dim>(Backend::host, type);
            if (p == 3)
              data.tau_of_facet = [](const unsigned int f,
                                     const unsigned int side) {
                return 1. + 0.1 * (f % 5) + side;
              };
            compare<dim>(std::to_string(dim) + "-D, " + mesh + ", " +
                           (type == TraceSpaceType::facet ? "facets"
                                                          : "interfaces") +
                           ", p = " + std::to_string(p),
                         handler,
                         &flux,
                         all[2].second,
                         data);
          }
    // every form on one mesh of polytopes and one of simplices
    for (const std::string mesh : {"hanging", "simplices"})
      {
        Triangulation<dim> triangulation;
        make_mesh(mesh, triangulation);
        AgglomerationHandler<dim> handler(triangulation), flux(triangulation);
        for (auto *h : {&handler, &flux})
          h->agglomerate(
            make_strategy<dim>(mesh == "hanging" ? "scattered" : "none"));
        handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(2));
        flux.distribute_dofs(
          FESystem<dim>(FE_BoundingBoxLegendre<dim>(2), dim));
        for (const auto &form : all)
          for (const auto type :
               {TraceSpaceType::interface, TraceSpaceType::facet})
            compare<dim>(std::to_string(dim) + "-D, " + mesh + ", " +
                           form.first,
                         handler,
                         &flux,
                         form.second,
                         options<dim>(Backend::host, type));
        // several degrees
        std::vector<unsigned int> degrees(handler.n_polytopes());
        hp::FECollection<dim>     collection;
        for (unsigned int p = 1; p <= 3; ++p)
          collection.push_back(FE_BoundingBoxLegendre<dim>(p));
        for (unsigned int k = 0; k < degrees.size(); ++k)
          degrees[k] = k % 3;
        handler.distribute_dofs(collection, degrees);
        compare<dim>(std::to_string(dim) + "-D, " + mesh + ", hp",
                     handler,
                     nullptr,
                     all[3].second,
                     options<dim>(Backend::host, TraceSpaceType::interface));
      }
  }

  /// Polytopes of several sizes, which the elimination groups by size, with and
  /// without advection, all at once and in tiles.
  template <int dim>
  void
  run_polytopes(const unsigned int n_cells,
                const unsigned int n_polytopes,
                const unsigned int degree)
  {
    Triangulation<dim> triangulation;
    GridGenerator::subdivided_hyper_cube(triangulation, n_cells);
    AgglomerationHandler<dim> handler(triangulation);
    handler.agglomerate(Agglomeration::rtree_parts<dim>(n_polytopes));
    handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(degree));
    const std::string name =
      std::to_string(dim) + "-D, polytopes, p = " + std::to_string(degree);
    auto data = options<dim>(Backend::cuda, TraceSpaceType::interface);
    for (const unsigned int i : {1, 2})
      {
        const auto form = forms<dim>()[i];
        compare<dim>(
          name + ", " + form.first, handler, nullptr, form.second, data);
      }
    const auto     form = forms<dim>()[2].second;
    const Run<dim> reference(handler, form, data, some_entry);
    verify(name + ", one tile", reference.report.n_tiles == 1);
    data.local_solvers = LocalSolvers::recompute;
    data.device_memory = 50000;
    while (message_of([&] { Run<dim>(handler, form, data, some_entry); }) !=
           "no exception")
      data.device_memory += data.device_memory / 8;
    const Run<dim> tiles(handler, form, data, some_entry);
    verify(name + ", tiles",
           tiles.report.n_tiles > 2,
           std::to_string(tiles.report.n_tiles));
    verify(name + ", tiles, same bits", tiles == reference);
  }

  void
  run_other()
  {
    run_polytopes<2>(11, 13, 3);
    run_polytopes<2>(11, 13, 5);
    run_polytopes<3>(4, 7, 1);
    run_polytopes<3>(4, 7, 3);

    Triangulation<2> triangulation;
    GridGenerator::subdivided_hyper_cube_with_simplices(triangulation, 8);
    AgglomerationHandler<2> handler(triangulation);
    handler.agglomerate(make_strategy<2>("none"));
    handler.distribute_dofs(FE_BoundingBoxLegendre<2>(3));
    const auto   form = forms<2>()[2].second;
    auto         data = options<2>(Backend::cuda, TraceSpaceType::facet);
    const Run<2> reference(handler, form, data, some_entry);

    // ---- tiles, and local solvers that are not kept
    verify("one tile", reference.report.n_tiles == 1);
    data.local_solvers = LocalSolvers::recompute;
    verify("recomputed", Run<2>(handler, form, data, some_entry) == reference);
    // the least memory for one tile
    data.device_memory = 50000;
    while (message_of([&] { Run<2>(handler, form, data, some_entry); }) !=
           "no exception")
      data.device_memory += 5000;
    const Run<2> tiles(handler, form, data, some_entry);
    verify("tiles",
           tiles.report.n_tiles > 4,
           std::to_string(tiles.report.n_tiles));
    verify("tiles, same bits", tiles == reference);
    data.local_solvers = LocalSolvers::keep;
    verify("too little memory",
           contains(message_of(
                      [&] { Run<2>(handler, form, data, some_entry); }),
                    "LocalSolvers::recompute"));
    data.device_memory = 0;

    // ---- assembly, solver and recovery on the device
    {
      HDG<2>                    hdg(handler, data);
      DeviceBlockMatrix<double> matrix;
      DeviceVector<double>      rhs, trace, u, q;
      hdg.reinit(form, matrix, rhs);
      hdg.assemble(form, matrix, rhs);
      std::vector<double> values;
      matrix.copy_to(values);
      verify("device matrix",
             values.size() == reference.n_values() &&
               std::equal(values.begin(), values.end(), reference.values()));
      trace.reinit(rhs);
      BlockJacobi<DeviceBlockMatrix<double>> jacobi;
      jacobi.initialize(matrix);
      SolverControl control(1000, 1e-12 * rhs.l2_norm(), false, false);
      SolverCG<DeviceVector<double>> solver(control);
      solver.solve(matrix, trace, rhs, jacobi);
      hdg.recover(form, trace, u, q);
      // the same trace, from the host
      data.backend = Backend::host;
      HDG<2>                         on_host(handler, data);
      TrilinosWrappers::SparseMatrix host_matrix;
      TrilinosWrappers::MPI::Vector  host_rhs, host_trace, residual;
      on_host.reinit(form, host_matrix, host_rhs);
      on_host.assemble(form, host_matrix, host_rhs);
      host_trace.reinit(host_rhs);
      residual.reinit(host_rhs);
      trace.copy_to(host_trace);
      host_matrix.vmult(residual, host_trace);
      residual -= host_rhs;
      below("residual", residual.l2_norm() / host_rhs.l2_norm(), 1e-11);
      Vector<double> host_u, host_q, device_u;
      on_host.recover(form, host_trace, host_u, host_q);
      u.copy_to(device_u);
      below("u", L2_difference(handler, device_u, host_u), 1e-11);
      verify("a device's matrix on the host",
             contains(message_of([&] { on_host.reinit(form, matrix, rhs); }),
                      "Backend::cuda"));
    }

    // ---- nothing fixes the constant
    AdvectionDiffusionReaction<2> poisson;
    poisson.set_diffusion(2.);
    poisson.set_source(std::make_shared<ScalarLambda<2>>(
      [](const Point<2> &x) { return std::cos(numbers::PI * x[0]); }));
    Tessella::BoundaryCondition<2> neumann;
    neumann.type = BoundaryType::neumann;
    poisson.set_default_boundary_condition(neumann);
    compare<2>("Neumann",
               handler,
               nullptr,
               poisson,
               options<2>(Backend::host, TraceSpaceType::facet));
    data.backend = Backend::cuda;
    poisson.set_source(1.);
    verify("Neumann, no balance",
           contains(message_of(
                      [&] { Run<2>(handler, poisson, data, some_entry); }),
                    "The problem has no solution"));

    // ---- mistakes
    poisson.set_default_boundary_condition(Tessella::BoundaryCondition<2>());
    data.tau = 0.;
    verify("tau = 0",
           contains(message_of(
                      [&] { Run<2>(handler, poisson, data, some_entry); }),
                    "Give a positive tau"));
    data.tau = -1.;
    verify("negative tau",
           contains(message_of(
                      [&] { Run<2>(handler, poisson, data, some_entry); }),
                    "not negative"));
    data.tau = 1.;
    poisson.set_diffusion(0.);
    verify("no diffusion",
           contains(message_of(
                      [&] { Run<2>(handler, poisson, data, some_entry); }),
                    "diffusion coefficient is not positive"));
    poisson.set_diffusion(1.);
    poisson.set_source(std::make_shared<ScalarLambda<2>>(
      [](const Point<2> &) { return std::nan(""); }));
    verify("source",
           contains(message_of(
                      [&] { Run<2>(handler, poisson, data, some_entry); }),
                    "not finite"));
    verify("and again", Run<2>(handler, form, data, some_entry) == reference);
  }
} // namespace

int
main(int argc, char **argv)
{
  return run_case(argc, argv, [](const std::string &name) {
    if (name == "unavailable")
      {
        Triangulation<2> triangulation;
        GridGenerator::subdivided_hyper_cube(triangulation, 2);
        AgglomerationHandler<2> handler(triangulation);
        handler.agglomerate(make_strategy<2>("none"));
        handler.distribute_dofs(FE_BoundingBoxLegendre<2>(1));
        const std::string advice = "take the backend host or automatic";
        verify("no device",
               contains(message_of([&] {
                          HDG<2> hdg(handler,
                                     options<2>(Backend::cuda,
                                                TraceSpaceType::facet));
                        }),
                        advice));
      }
    else if (name == "other")
      run_other();
    else if (name == "2d")
      run<2>();
    else
      run<3>();
    std::cout << largest_ratio << " of the bounds" << std::endl;
  });
}
