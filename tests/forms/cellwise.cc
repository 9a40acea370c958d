// SPDX-License-Identifier: LGPL-2.1-or-later

// Coefficients with a value per material or per cell: exact solutions of
// problems with jumps, jumps inside polytopes, both ways of giving values, and
// errors.

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

#include "../tests.h"

using namespace dealii;

namespace
{
  const double jump = 100.;

  /// Flux 1 through a layer of diffusion 1 and one of diffusion 100.
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



  struct System
  {
    SparsityPattern      sparsity;
    SparseMatrix<double> matrix;
    Vector<double>       rhs;
  };

  template <int dim>
  std::unique_ptr<System>
  assemble(const Tessella::AgglomerationHandler<dim> &handler,
           const Tessella::Form<dim>                 &form)
  {
    typename Tessella::PolytopicAssembler<dim>::AdditionalData data;
    data.backend = Tessella::Backend::host;
    Tessella::PolytopicAssembler<dim> assembler(handler, data);
    auto                              system = std::make_unique<System>();
    assembler.reinit(system->sparsity, system->matrix, system->rhs);
    assembler.assemble(form, system->matrix, system->rhs);
    return system;
  }

  template <typename Function>
  std::string
  message_of(const Function &function)
  {
    try
      {
        function();
      }
    catch (const ExceptionBase &exception)
      {
        return exception.what();
      }
    return "";
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
          Tessella::VectorTools::compute_global_error(difference,
                                                      VectorTools::L2_norm) <
            1e-12);

    const auto other = assemble(handler, by_cell);
    bool       same  = true;
    for (auto a = one->matrix.begin(), b = other->matrix.begin();
         a != one->matrix.end();
         ++a, ++b)
      same = same && a->value() == b->value();
    check(name + "per material and per cell", same);
    // the coefficient does reach facets and volume
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
    check(name + "number of values",
          message_of([&]() {
            Tessella::CellwiseCoefficient(handler.polytopic_mesh(), few);
          }).find("cells") != std::string::npos);
    inside.set_reaction(Tessella::CellwiseCoefficient(
      std::map<types::material_id, double>{{3, 1.}}));
    check(name + "missing material", message_of([&]() {
                                       assemble(handler, inside);
                                     }).find("material") != std::string::npos);
    check(name + "not a number",
          message_of([&]() {
            Tessella::CellwiseCoefficient(std::map<types::material_id, double>{
              {3, std::numeric_limits<double>::infinity()}});
          }).find("finite") != std::string::npos);
  }
} // namespace

int
main(int argc, char **argv)
{
  Utilities::MPI::MPI_InitFinalize mpi(argc, argv, n_threads());
  initlog();
  test<2>();
  test<3>();
}
