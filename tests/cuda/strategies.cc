// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Compares the other assembly strategies to the host backend: every entry of
// matrix and right-hand side on meshes of simplices, with periodic boundaries
// and with several degrees, whole and in parts; the same bits where they are
// guaranteed; and the messages for unsupported cases. Argument: 2d, 3d or
// unavailable. The second argument quick leaves most meshes and degrees out,
// for runs under compute-sanitizer. Returns 77 if the case cannot run on this
// machine, 1 if a check fails.

#include <deal.II/grid/grid_generator.h>

#include <cmath>
#include <cstring>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "../../applications/assembly_throughput/strategy_assembler.h"
#include "../assembly/compare.h"
#include "systems.h"

namespace
{
  using Tessella::Backend;
  using Tessella::Application::AssemblyStrategy;
  using Tessella::Application::StrategyAssembler;

  const AssemblyStrategy strategies[2] = {
    AssemblyStrategy::coordinate_sort, AssemblyStrategy::precomputed_pattern};

  void
  verify_contains(const std::string &text, const std::string &part)
  {
    verify("'" + part + "'", contains(text, part), text);
  }



  template <int dim>
  void
  make_simplices(const bool periodic, Triangulation<dim> &triangulation)
  {
    triangulation.clear();
    Triangulation<dim>        boxes;
    std::vector<unsigned int> repetitions(dim, 1);
    repetitions[0] = dim == 2 ? 3 : 2;
    if (dim == 2)
      repetitions[1] = 2;
    Point<dim> upper;
    for (unsigned int d = 0; d < dim; ++d)
      upper[d] = d == 0 ? 1.5 : 1.;
    GridGenerator::subdivided_hyper_rectangle(
      boxes, repetitions, Point<dim>(), upper, true);
    GridGenerator::convert_hypercube_to_simplex_mesh(boxes, triangulation);
    if (!periodic)
      return;
    add_periodic_faces(triangulation, {0});
  }



  struct Result : public System
  {
    unsigned int n_parts = 0;
    std::size_t  memory  = 0;
  };

  template <int dim>
  std::unique_ptr<Result>
  assemble(const Tessella::AgglomerationHandler<dim> &handler,
           const Tessella::Form<dim>                 &form,
           const AssemblyStrategy                     strategy,
           const std::size_t                          memory   = 0,
           const bool                                 separate = false,
           const Backend                              backend  = Backend::cuda)
  {
    Tessella::AssemblyParameters parameters;
    parameters.backend       = backend;
    parameters.device_memory = memory;
    StrategyAssembler<dim> assembler(handler, strategy, parameters);
    auto                   result = std::make_unique<Result>();
    assembler.reinit(result->sparsity, result->matrix, result->rhs);
    // Entries that are not written become visible.
    for (auto &entry : result->matrix)
      entry.value() = 1e300;
    result->rhs = 1e300;
    if (separate)
      {
        assembler.assemble(form, result->rhs);
        assembler.assemble(form, result->matrix);
      }
    else
      assembler.assemble(form, result->matrix, result->rhs);
    const Tessella::AssemblyReport &report  = assembler.report();
    double                          seconds = 0.;
    for (const Tessella::KernelTime &kernel : report.kernel_times)
      seconds += kernel.seconds;
    verify("report",
           report.backend == Backend::cuda && report.kernel_times.size() > 1 &&
             seconds > 0. &&
             std::abs(seconds - report.kernel_time) < 1e-6 * seconds);
    result->n_parts = report.n_parts;
    result->memory  = report.device_memory;
    return result;
  }

  template <int dim>
  void
  compare_strategies(const std::string                         &name,
                     const Tessella::AgglomerationHandler<dim> &handler,
                     const Tessella::Form<dim>                 &form,
                     const bool                                 parts = false)
  {
    const auto host = assemble_system(handler, form, Backend::host);
    for (const AssemblyStrategy strategy : strategies)
      {
        const std::string text =
          name + ", " + Tessella::Application::name(strategy);
        const auto first  = assemble(handler, form, strategy),
                   second = assemble(handler, form, strategy, 0, true);
        compare_systems(text, handler.polytopic_dofs(), *host, *first);
        compare_systems(text + " again",
                        handler.polytopic_dofs(),
                        *host,
                        *second);
        const bool sorted = strategy == AssemblyStrategy::coordinate_sort;
        if (sorted)
          verify(text + " repeatability", same_bits(*first, *second));
        if (!parts)
          continue;
        // Mesh and buffers need most of this memory for a single polytope.
        const auto piecewise =
          assemble(handler, form, strategy, first->memory * 3 / 4);
        verify(text + " in parts", piecewise->n_parts > 1);
        compare_systems(text + " in parts",
                        handler.polytopic_dofs(),
                        *host,
                        *piecewise);
        if (sorted)
          verify(text + " in parts, bits", same_bits(*first, *piecewise));
      }
  }



  /// Assembles into a Trilinos matrix.
  template <int dim>
  void
  compare_trilinos(const Tessella::AgglomerationHandler<dim> &handler,
                   const Tessella::Form<dim>                 &form)
  {
    TrilinosWrappers::SparseMatrix                             host_matrix;
    TrilinosWrappers::MPI::Vector                              host_rhs;
    typename Tessella::PolytopicAssembler<dim>::AdditionalData data;
    data.backend = Backend::host;
    Tessella::PolytopicAssembler<dim> host(handler, data);
    host.reinit(host_matrix, host_rhs);
    host.assemble(form, host_matrix, host_rhs);
    for (const AssemblyStrategy strategy : strategies)
      {
        TrilinosWrappers::SparseMatrix matrix;
        TrilinosWrappers::MPI::Vector  rhs;
        Tessella::AssemblyParameters   parameters;
        parameters.backend = Backend::cuda;
        StrategyAssembler<dim> assembler(handler, strategy, parameters);
        assembler.reinit(matrix, rhs);
        assembler.assemble(form, matrix, rhs);
        matrix.add(-1., host_matrix);
        rhs.add(-1., host_rhs);
        verify("Trilinos, " + name(strategy),
               matrix.frobenius_norm() <=
                   1e-12 * host_matrix.frobenius_norm() &&
                 rhs.l2_norm() <= 1e-12 * host_rhs.l2_norm());
      }
  }



  template <int dim>
  void
  compare_meshes(const bool quick)
  {
    const Reference::Problem<dim> problem = full_problem<dim>();
    for (const bool periodic : {false, true})
      {
        Triangulation<dim> triangulation;
        make_simplices(periodic, triangulation);
        for (const std::string agglomeration :
             {"none", "steps", "scattered", "one"})
          {
            if (quick && !(periodic && agglomeration == "scattered"))
              continue;
            Tessella::AgglomerationHandler<dim> handler(triangulation);
            handler.agglomerate(make_strategy<dim>(agglomeration));
            const std::string name =
              (periodic ? "periodic, " : "") + agglomeration;
            const auto compare_all = [&](const std::string &title,
                                         const bool         few,
                                         const bool         parts) {
              compare_strategies(title + ", tensor functions",
                                 handler,
                                 make_form(problem, Give::tensor_functions, 2),
                                 parts);
              compare_strategies(title + ", constants",
                                 handler,
                                 make_form(problem, Give::constants, 0),
                                 parts);
              if (few)
                return;
              Reference::Problem<dim> diffusion = problem;
              diffusion.b                       = nullptr;
              compare_strategies(title + ", symmetric",
                                 handler,
                                 make_form(diffusion,
                                           Give::scalar_constant,
                                           0));
              Reference::Problem<dim> advection = problem;
              advection.a                       = nullptr;
              advection.theta                   = 0.;
              compare_strategies(title + ", advection",
                                 handler,
                                 make_form(advection, Give::functions, 2));
              Reference::Problem<dim>      neumann = problem;
              Reference::BoundaryData<dim> data;
              data.type = Reference::Boundary::neumann;
              data.g    = [](const Point<dim> &x) { return 0.3 + x[1]; };
              neumann.boundary[1] = data;
              neumann.theta       = -1.;
              compare_strategies(title + ", Neumann",
                                 handler,
                                 make_form(neumann, Give::constants, 0));
              compare_strategies(
                title + ", mass",
                handler,
                Tessella::MassForm<dim>(
                  2., std::make_shared<ScalarLambda<dim>>(problem.f)));
            };
            for (unsigned int p = 0; p <= (dim == 2 ? 5 : 3); ++p)
              {
                if (quick && p != 1)
                  continue;
                handler.distribute_dofs(
                  Tessella::FE_BoundingBoxLegendre<dim>(p));
                compare_all(name + ", p = " + std::to_string(p),
                            p != 2,
                            p == 2 && agglomeration == "none");
              }
            handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(
              2, Tessella::PolynomialSpaceType::tensor_product));
            compare_all(name + ", Q2", true, false);
            distribute_mixed_degrees(handler, 3);
            compare_all(name + ", hp", true, agglomeration == "none");
            if (agglomeration == "scattered")
              compare_trilinos(handler,
                               make_form(problem, Give::tensor_functions, 2));
          }
      }

    // In 2-D the highest degree, in 3-D a rule that does not fit into constant
    // memory.
    if (!quick)
      {
        Triangulation<dim> triangulation;
        make_simplices(false, triangulation);
        Tessella::AgglomerationHandler<dim> handler(triangulation);
        handler.agglomerate(make_strategy<dim>("slabs"));
        handler.distribute_dofs(
          Tessella::FE_BoundingBoxLegendre<dim>(dim == 2 ? 10 : 1));
        compare_strategies(dim == 2 ? "p = 10" : "large rule",
                           handler,
                           make_form(problem,
                                     Give::constants,
                                     dim == 2 ? 0 : 30));
      }

    // unsupported cases
    for (const std::string mesh : {"box", "curved"})
      {
        Triangulation<dim> triangulation;
        make_mesh(mesh, triangulation);
        Tessella::AgglomerationHandler<dim> handler(triangulation,
                                                    mapping_for<dim, 3>(mesh));
        handler.agglomerate(make_strategy<dim>("none"));
        handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(1));
        for (const AssemblyStrategy strategy : strategies)
          verify_contains(message_of([&]() {
                            assemble(handler,
                                     make_form(problem, Give::constants, 0),
                                     strategy);
                          }),
                          "convert the mesh to simplices");
      }
    // too little memory; the process continues
    Triangulation<dim> triangulation;
    make_simplices(false, triangulation);
    Tessella::AgglomerationHandler<dim> handler(triangulation);
    handler.agglomerate(make_strategy<dim>("none"));
    handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(1));
    const auto form = make_form(problem, Give::constants, 0);
    for (const AssemblyStrategy strategy : strategies)
      {
        verify_contains(message_of(
                          [&]() { assemble(handler, form, strategy, 1000); }),
                        "raise AdditionalData::device_memory");
        compare_systems("after an error",
                        handler.polytopic_dofs(),
                        *assemble_system(handler, form, Backend::host),
                        *assemble(handler, form, strategy));
      }
    std::cout << dim << "-D: " << n_checks << " checks, " << n_failures
              << " failures" << std::endl;
  }



  void
  check_messages()
  {
    Triangulation<2> triangulation;
    make_simplices(false, triangulation);
    Tessella::AgglomerationHandler<2> handler(triangulation);
    handler.agglomerate(make_strategy<2>("none"));
    handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<2>(1));
    const auto form = make_form(full_problem<2>(), Give::constants, 0);
    for (const AssemblyStrategy strategy : strategies)
      for (const Backend backend : {Backend::host, Backend::automatic})
        verify_contains(message_of([&]() {
                          assemble(handler, form, strategy, 0, false, backend);
                        }),
                        "The assembly strategy " + name(strategy) +
                          " runs on a CUDA device only");
    verify_contains(message_of([]() {
                      Tessella::Application::assembly_strategy("rows");
                    }),
                    "use one of block_rows|coordinate_sort|"
                    "precomputed_pattern");
    for (const AssemblyStrategy strategy :
         {AssemblyStrategy::block_rows, strategies[0], strategies[1]})
      verify("name",
             Tessella::Application::assembly_strategy(name(strategy)) ==
               strategy);
    // The host backend still works.
    verify("host",
           std::isfinite(assemble_system(handler, form, Backend::host)
                           ->matrix.frobenius_norm()));
  }
} // namespace

int
main(int argc, char **argv)
{
  return run_case(argc, argv, [argc](const std::string &name) {
    if (name == "unavailable")
      check_messages();
    else if (name == "2d")
      compare_meshes<2>(argc > 2);
    else
      compare_meshes<3>(argc > 2);
  });
}
