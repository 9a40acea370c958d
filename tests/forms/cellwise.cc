// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Coefficients with a value per material or per cell: exact solutions of
// problems with jumps, jumps inside polytopes, both ways to set values, and
// errors. Copies of forms, and the arguments that setters reject.

#include <deal.II/base/function_lib.h>

#include <deal.II/grid/grid_generator.h>
#include <deal.II/lac/sparse_direct.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/grid/agglomeration.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/numerics/vector_tools.h>

#include <limits>
#include <map>
#include <memory>

#include "../assembly/system.h"
#include "../tests.h"

using namespace dealii;

namespace
{
  const double jump = 100.;

  /// Exact solution with flux 1 through a layer of diffusion 1 and a layer of
  /// diffusion 100.
  template <int dim>
  class Layers : public Function<dim>
  {
  public:
    double
    value(const Point<dim> &x, const unsigned int) const override
    {
      return x[0] < 0.5 ? x[0] : 0.5 + (x[0] - 0.5) / jump;
    }
  };



  template <int dim>
  std::unique_ptr<System>
  assemble(const Tessella::AgglomerationHandler<dim> &handler,
           const Tessella::Form<dim>                 &form)
  {
    return assemble_system(handler, form, Tessella::Backend::host);
  }

  template <int dim>
  void
  test()
  {
    const std::string  name = std::to_string(dim) + "-D ";
    const unsigned int n    = dim == 2 ? 8 : 4;
    Triangulation<dim> triangulation;
    GridGenerator::subdivided_hyper_cube(triangulation, n);
    Vector<double> values(triangulation.n_active_cells());
    for (const auto &cell : triangulation.active_cell_iterators())
      {
        const bool right = cell->center()[0] > 0.5;
        cell->set_material_id(right ? 7 : 3);
        values(cell->active_cell_index()) = right ? jump : 1.;
      }
    const std::map<types::material_id, double> table = {{3, 1.}, {7, jump}};
    const std::shared_ptr<const Function<dim>> exact =
      std::make_shared<Layers<dim>>();
    Tessella::BoundaryCondition<dim> condition;
    condition.value = exact;

    // ---- polytopes of 2^dim cells on one side of the jump: u is in the space
    Tessella::AgglomerationHandler<dim> handler(triangulation);
    handler.agglomerate([&](const Triangulation<dim> &tria) {
      std::vector<unsigned int> ids(tria.n_active_cells());
      for (const auto &cell : tria.active_cell_iterators())
        {
          unsigned int id = 0;
          for (unsigned int d = 0; d < dim; ++d)
            id = id * (n / 2) +
                 static_cast<unsigned int>(cell->center()[d] * n / 2);
          ids[cell->active_cell_index()] = id;
        }
      return ids;
    });
    handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(1));
    Tessella::AdvectionDiffusionReaction<dim> by_material, by_cell;
    by_material.set_diffusion(Tessella::CellwiseCoefficient(table));
    by_cell.set_diffusion(
      Tessella::CellwiseCoefficient(handler.polytopic_mesh(), values));
    by_material.set_default_boundary_condition(condition);
    by_cell.set_default_boundary_condition(condition);
    const auto          one = assemble(handler, by_material);
    Vector<double>      solution(one->rhs.size());
    SparseDirectUMFPACK direct;
    direct.initialize(one->matrix);
    direct.vmult(solution, one->rhs);
    Vector<float> difference(handler.n_polytopes());
    Tessella::VectorTools::integrate_difference(
      handler, solution, *exact, difference, VectorTools::L2_norm, 4);
    check(name + "layers",
          Tessella::VectorTools::compute_global_error(
            handler, difference, VectorTools::L2_norm) < 1e-12);

    const auto other = assemble(handler, by_cell);
    bool       same  = true;
    for (auto a = one->matrix.begin(), b = other->matrix.begin();
         a != one->matrix.end();
         ++a, ++b)
      same = same && a->value() == b->value();
    check(name + "per material and per cell", same);
    // The coefficient reaches facets and volume.
    Tessella::AdvectionDiffusionReaction<dim> constant;
    constant.set_diffusion(1.);
    check(name + "not constant",
          other->matrix.frobenius_norm() >
            2. * assemble(handler, constant)->matrix.frobenius_norm());

    // ---- jumps inside a polytope: integrals of reaction and source are exact
    handler.agglomerate([](const Triangulation<dim> &tria) {
      return std::vector<unsigned int>(tria.n_active_cells(), 0u);
    });
    handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(1));
    Tessella::AdvectionDiffusionReaction<dim> inside;
    inside.set_reaction(Tessella::CellwiseCoefficient(table));
    inside.set_source(Tessella::CellwiseCoefficient(table));
    check(name + "order", inside.coefficient_order() == 0);
    const auto whole = assemble(handler, inside);
    // phi_0 = 1, phi_1 = sqrt(3) (2 x - 1)
    const double mean  = 0.5 * (1. + jump),
                 first = std::sqrt(3.) / 4. * (jump - 1.);
    check(name + "inside a polytope",
          std::abs(whole->matrix(0, 0) - mean) < 1e-12 * jump &&
            std::abs(whole->matrix(0, 1) - first) < 1e-12 * jump &&
            std::abs(whole->rhs(0) - mean) < 1e-12 * jump &&
            std::abs(whole->rhs(1) - first) < 1e-12 * jump);

    // ---- errors
    Vector<double> few(values.size() - 1);
    check_throws<ExceptionBase>(
      name + "number of values",
      [&]() { Tessella::CellwiseCoefficient(handler.polytopic_mesh(), few); },
      "cells");
    inside.set_reaction(Tessella::CellwiseCoefficient(
      std::map<types::material_id, double>{{3, 1.}}));
    check_throws<ExceptionBase>(
      name + "missing material",
      [&]() { assemble(handler, inside); },
      "material");
    check_throws<ExceptionBase>(
      name + "not a number",
      []() {
        Tessella::CellwiseCoefficient(std::map<types::material_id, double>{
          {3, std::numeric_limits<double>::infinity()}});
      },
      "finite");
  }



  /// A copy has its own coefficients and conditions.
  void
  copies()
  {
    Triangulation<2> triangulation;
    GridGenerator::hyper_cube(triangulation);
    Tessella::AgglomerationHandler<2> handler(triangulation);
    handler.agglomerate(Tessella::Agglomeration::none<2>());
    handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<2>(0));
    // A matrix with one entry is c, a vector with one entry is f.
    Tessella::AdvectionDiffusionReaction<2> form;
    form.set_reaction(1.);
    form.set_source(2.);
    Tessella::AdvectionDiffusionReaction<2> copy(form), assigned;
    assigned = form;
    copy.set_reaction(3.);
    assigned.set_source(std::make_shared<Functions::ConstantFunction<2>>(4.));
    form.set_theta(-1.);
    Tessella::BoundaryCondition<2> neumann;
    neumann.type = Tessella::BoundaryType::neumann;
    copy.set_default_boundary_condition(neumann);
    const auto one = assemble(handler, form), two = assemble(handler, copy),
               three = assemble(handler, assigned);
    check_close("copied form, reaction", one->matrix(0, 0), 1., 1e-12);
    check_close("copy, reaction", two->matrix(0, 0), 3., 1e-12);
    check_close("copy, source", two->rhs(0), 2., 1e-12);
    check_close("copied form, source", one->rhs(0), 2., 1e-12);
    check_close("assigned form, source", three->rhs(0), 4., 1e-12);
    check("copied form, condition",
          form.boundary_condition(0).type ==
              Tessella::BoundaryType::dirichlet &&
            copy.boundary_condition(0).type == Tessella::BoundaryType::neumann);
  }



  void
  setters()
  {
    using FunctionPointer = std::shared_ptr<const Function<2>>;
    Tessella::AdvectionDiffusionReaction<2> form;
    const double          infinite = std::numeric_limits<double>::infinity();
    const FunctionPointer two = std::make_shared<Functions::ZeroFunction<2>>(2),
                          one = std::make_shared<Functions::ZeroFunction<2>>();
    check_throws<ExceptionBase>(
      "infinite reaction",
      [&]() { form.set_reaction(infinite); },
      "reaction coefficient inf is not a finite number");
    check_throws<ExceptionBase>(
      "infinite source",
      [&]() { form.set_source(std::nan("")); },
      "right-hand side nan is not a finite number");
    check_throws<ExceptionBase>(
      "infinite advection",
      [&]() { form.set_advection(Point<2>(1., infinite)); },
      "advection field inf is not a finite number");
    check_throws<ExceptionBase>(
      "vector-valued reaction",
      [&]() { form.set_reaction(two); },
      "reaction coefficient has 2 components instead of 1");
    check_throws<ExceptionBase>(
      "scalar advection",
      [&]() { form.set_advection(one); },
      "advection field has 1 components instead of 2");
    check_throws<ExceptionBase>(
      "no function",
      [&]() { form.set_source(FunctionPointer()); },
      "null pointer");
    for (const Tensor<2, 2> &a : {Tensor<2, 2>({{1., 2.}, {2., 1.}}),
                                  Tensor<2, 2>({{0., 1.}, {1., 1.}}),
                                  Tensor<2, 2>({{1., 0.}, {0., -1.}})})
      check_throws<ExceptionBase>(
        "indefinite tensor",
        [&]() { form.set_diffusion(a); },
        "not positive semi-definite");
    check("nothing was set",
          form.volume_structure().diffusion == Tessella::DiffusionType::none &&
            !form.volume_structure().c && !form.volume_structure().f);
    // degenerate, and not symmetric
    for (const Tensor<2, 2> &a : {Tensor<2, 2>({{0.01, 0.1}, {0.1, 1.}}),
                                  Tensor<2, 2>({{1., 2.}, {0., 1.}}),
                                  Tensor<2, 2>({{0., 0.}, {0., 1.}})})
      form.set_diffusion(a);
    check("semi-definite tensors",
          form.volume_structure().diffusion == Tessella::DiffusionType::tensor);
  }
} // namespace

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  test<2>();
  test<3>();
  copies();
  setters();
}
