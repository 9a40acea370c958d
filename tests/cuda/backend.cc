// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Compares the CUDA backend to the host backend: every entry of matrix and
// right-hand side for all kinds of meshes, degrees and forms; the same bits
// when repeated; and the message if there is no device. Argument: 2d, 3d,
// compressed (polytopes of several cells with compressed quadrature) or
// unavailable. Returns 77 if the case cannot run on this machine, 1 if a check
// fails.

#include <deal.II/grid/grid_generator.h>

#include <tessella/base/config.h>
#include <tessella/lac/block_sparsity.h>

#include <cmath>
#include <cstring>
#include <iostream>
#include <memory>
#include <string>

#include "../assembly/compare.h"
#include "../messages.h"
#include "systems.h"

namespace
{
  /// Compression of the quadrature in all assemblies of this test.
  auto compression = Tessella::QuadratureCompression::never;

  template <int dim>
  std::unique_ptr<System>
  assemble(const Tessella::AgglomerationHandler<dim> &handler,
           const Tessella::Form<dim>                 &form,
           const Tessella::Backend                    backend)
  {
    auto data        = on<dim>(backend);
    data.compression = compression;
    Tessella::PolytopicAssembler<dim> assembler(handler, data);
    auto                              result = std::make_unique<System>();
    assembler.reinit(result->sparsity, result->matrix, result->rhs);
    // Entries that are not written become visible.
    for (auto &entry : result->matrix)
      entry.value() = 1e300;
    result->rhs = 1e300;
    assembler.assemble(form, result->matrix, result->rhs);
    if (backend == Tessella::Backend::cuda)
      {
        // Assembles matrix and right-hand side separately, with mesh and
        // structure already on the device.
        System second;
        assembler.reinit(second.sparsity, second.matrix, second.rhs);
        assembler.assemble_matrix(form, second.matrix);
        assembler.assemble_rhs(form, second.rhs);
        verify("repeatability",
               assembler.report().backend == backend &&
                 same_bits(*result, second));
      }
    return result;
  }



  template <int dim>
  void
  compare_backends(const std::string                         &name,
                   const Tessella::AgglomerationHandler<dim> &handler,
                   const Tessella::Form<dim>                 &form)
  {
    const auto host = assemble(handler, form, Tessella::Backend::host),
               cuda = assemble(handler, form, Tessella::Backend::cuda);
    compare_systems(name, handler.polytopic_dofs(), *host, *cuda);
  }



  /// Conditions of all types on the boundary ids of the meshes.
  template <int dim>
  Reference::Problem<dim>
  mixed_conditions()
  {
    Reference::Problem<dim>      problem = full_problem<dim>();
    Reference::BoundaryData<dim> neumann, robin;
    neumann.type = Reference::Boundary::neumann;
    neumann.g    = [](const Point<dim> &x) { return 0.3 + x[1]; };
    robin.type   = Reference::Boundary::robin;
    robin.g      = [](const Point<dim> &x) { return 0.7 - x[0]; };
    robin.alpha  = [](const Point<dim> &x) { return 1.3 + x[0]; };
    // outflow part of the boundary
    problem.boundary[1] = neumann;
    problem.boundary[3] = robin;
    return problem;
  }



  template <int dim>
  void
  compare_forms(const std::string                   &name,
                Tessella::AgglomerationHandler<dim> &handler,
                const bool                           few)
  {
    const Reference::Problem<dim> problem = full_problem<dim>();
    // The mesh of simplices and the shell have only the boundary id 0.
    const auto general = make_form(problem, Give::tensor_functions, 2);
    compare_backends(name + ", tensor functions", handler, general);
    compare_backends(name + ", pointwise",
                     handler,
                     PointwiseForm<dim>(general));
    compare_backends(name + ", constants",
                     handler,
                     make_form(problem, Give::constants, 0));
    if (few)
      return;
    compare_backends(name + ", mixed conditions",
                     handler,
                     make_form(mixed_conditions<dim>(), Give::functions, 2));
    Reference::Problem<dim> diffusion = problem;
    diffusion.b                       = nullptr;
    compare_backends(name + ", symmetric",
                     handler,
                     make_form(diffusion, Give::scalar_constant, 0));
    diffusion.c = nullptr;
    compare_backends(name + ", symmetric function",
                     handler,
                     make_form(diffusion, Give::functions, 2));
    Reference::Problem<dim> advection = problem;
    advection.a                       = nullptr;
    compare_backends(name + ", advection",
                     handler,
                     make_form(advection, Give::functions, 2));
    Reference::Problem<dim> unsymmetric = problem;
    unsymmetric.a                       = [problem](const Point<dim> &x) {
      Tensor<2, dim> a = problem.a(x);
      a[0][1] += 0.3 - 0.1 * x[0];
      a[dim - 1][0] -= 0.2;
      return a;
    };
    compare_backends(name + ", unsymmetric tensor",
                     handler,
                     make_form(unsymmetric, Give::tensor_functions, 2));
    for (const double theta : {0., -1.})
      {
        Reference::Problem<dim> variant = problem;
        variant.theta                   = theta;
        compare_backends(name + ", theta " + std::to_string(theta),
                         handler,
                         make_form(variant, Give::constants, 0));
      }
    compare_backends(name + ", mass",
                     handler,
                     Tessella::MassForm<dim>(
                       2., std::make_shared<ScalarLambda<dim>>(problem.f)));
  }



  /// Constant diffusion and source alone, whose integrals over simplices have
  /// closed forms.
  template <int dim>
  void
  compare_diffusion(const std::string                         &name,
                    const Tessella::AgglomerationHandler<dim> &handler)
  {
    for (const double theta : {1., 0., -1.})
      {
        Reference::Problem<dim> problem = full_problem<dim>();
        problem.b                       = nullptr;
        problem.c = problem.f = nullptr;
        problem.theta         = theta;
        auto form             = make_form(problem, Give::constants, 0);
        form.set_source(1.3);
        compare_backends(name + ", diffusion, theta " + std::to_string(theta),
                         handler,
                         form);
      }
  }



  /// Polytopes with so many sub-cells that a block row is computed in parts.
  template <int dim>
  void
  compare_large_polytopes()
  {
    Triangulation<dim> triangulation;
    GridGenerator::subdivided_hyper_cube(triangulation, dim == 2 ? 48 : 11);
    for (const unsigned int n_polytopes : {1u, 3u})
      {
        Tessella::AgglomerationHandler<dim> handler(triangulation);
        handler.agglomerate([&](const Triangulation<dim> &tria) {
          std::vector<unsigned int> ids(tria.n_active_cells());
          for (unsigned int c = 0; c < ids.size(); ++c)
            ids[c] = std::size_t(c) * n_polytopes / ids.size();
          return ids;
        });
        for (const unsigned int p : {0u, 1u, 2u, 4u})
          {
            handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(p));
            compare_forms(std::to_string(n_polytopes) +
                            " large polytopes, p = " + std::to_string(p),
                          handler,
                          true);
          }
      }
  }



  template <int dim>
  void
  compare_meshes()
  {
    // The rules of high degrees in 3-D take long to make.
    const bool few_points =
      compression != Tessella::QuadratureCompression::never;
    if (!few_points)
      compare_large_polytopes<dim>();
    std::vector<std::string> meshes = straight_meshes;
    meshes.emplace_back("curved");
    for (const std::string &mesh : meshes)
      {
        Triangulation<dim> triangulation;
        make_mesh(mesh, triangulation);
        for (const std::string agglomeration :
             {"none", "steps", "scattered", "one"})
          {
            if (few_points && agglomeration == "none")
              continue;
            Tessella::AgglomerationHandler<dim> handler(
              triangulation, mapping_for<dim, 3>(mesh));
            handler.agglomerate(make_strategy<dim>(agglomeration));
            const std::string name    = mesh + ", " + agglomeration;
            const bool        all_ids = mesh == "box" || mesh == "distorted" ||
                                 mesh == "hanging" || mesh == "periodic";
            for (unsigned int p = 0; p <= (few_points ? 6 - dim : 6); ++p)
              {
                // many large blocks
                if (dim == 3 && agglomeration == "none" && p > 3)
                  continue;
                handler.distribute_dofs(
                  Tessella::FE_BoundingBoxLegendre<dim>(p));
                compare_forms(name + ", p = " + std::to_string(p),
                              handler,
                              !all_ids || p > 3 || few_points);
                if (mesh.find("simplices") != std::string::npos && p >= 1 &&
                    p <= 3)
                  compare_diffusion(name + ", p = " + std::to_string(p),
                                    handler);
              }
            handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(
              2, Tessella::PolynomialSpaceType::tensor_product));
            compare_forms(name + ", Q2", handler, true);
            for (const unsigned int largest : {1u, few_points ? 3u : 5u})
              {
                distribute_mixed_degrees(handler, largest);
                compare_forms(name + ", hp to " + std::to_string(largest),
                              handler,
                              true);
              }
          }
      }
    if (few_points)
      return;
    // the highest degrees, on two polytopes
    Triangulation<dim> triangulation;
    make_mesh("simplices", triangulation);
    Tessella::AgglomerationHandler<dim> handler(triangulation);
    handler.agglomerate(make_strategy<dim>("slabs"));
    for (unsigned int p = 7; p <= 10; ++p)
      {
        handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(p));
        compare_forms("simplices, slabs, p = " + std::to_string(p),
                      handler,
                      true);
      }
  }



  void
  check_message()
  {
    Triangulation<2> triangulation;
    make_mesh("box", triangulation);
    Tessella::AgglomerationHandler<2> handler(triangulation);
    handler.agglomerate(make_strategy<2>("none"));
    handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<2>(1));
    Tessella::PolytopicAssembler<2>::AdditionalData data;
    data.backend              = Tessella::Backend::cuda;
    const std::string message = message_of(
      [&]() { Tessella::PolytopicAssembler<2> assembler(handler, data); });
    const std::string advice = "take the backend host or automatic";
    verify("message", contains(message, advice), message);
    // The host backend still works.
    const auto result =
      assemble(handler,
               make_form(full_problem<2>(), Give::constants, 0),
               Tessella::Backend::automatic);
    verify("automatic", std::isfinite(result->matrix.frobenius_norm()));
  }
} // namespace

int
main(int argc, char **argv)
{
  return run_case(argc, argv, [](const std::string &name) {
    if (name == "unavailable")
      check_message();
    else if (name == "2d")
      compare_meshes<2>();
    else if (name == "3d")
      compare_meshes<3>();
    else
      {
        compression = Tessella::QuadratureCompression::always;
        compare_meshes<2>();
        compare_meshes<3>();
      }
  });
}
