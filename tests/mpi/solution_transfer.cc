// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// PolytopicSolutionTransfer: polynomials survive refinement, coarsening and new
// polytopes, and integrals of any function are preserved, on serial
// triangulations and on p4est meshes for any number of processes, with the same
// bits.

#include <deal.II/base/function_lib.h>

#include <deal.II/distributed/tria.h>
#include <deal.II/fe/fe_system.h>
#include <deal.II/fe/mapping_q.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/grid_tools.h>
#include <deal.II/lac/trilinos_vector.h>

#include <tessella/base/exceptions.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/numerics/solution_transfer.h>
#include <tessella/numerics/vector_tools.h>
#include <tessella/values/polytope_values.h>

#include "../tests.h"
#include "cases.h"

using namespace dealii;
namespace TVT = Tessella::VectorTools;
using namespace Tessella;

// Polynomial of total degree @p degree; each component has a different shift.
template <int dim>
class Polynomial : public Function<dim>
{
public:
  Polynomial(const unsigned int degree, const unsigned int n_components = 1)
    : Function<dim>(n_components)
    , degree(degree)
  {}
  double
  value(const Point<dim> &p, const unsigned int c) const override
  {
    double s = 0.3 + c;
    for (int d = 0; d < dim; ++d)
      s += (d + 1) * p[d];
    return std::pow(s, degree) - p[0];
  }

private:
  const unsigned int degree;
};

template <int dim>
using Vectors = std::vector<TrilinosWrappers::MPI::Vector>;

template <int dim>
double
error(const AgglomerationHandler<dim>     &handler,
      const TrilinosWrappers::MPI::Vector &vector,
      const Function<dim>                 &exact)
{
  const auto    norm = dealii::VectorTools::L2_norm;
  Vector<float> difference;
  TVT::integrate_difference(handler, vector, exact, difference, norm, 6);
  return TVT::compute_global_error(handler, difference, norm);
}

// Integral of all components together.
template <int dim>
double
integral(const AgglomerationHandler<dim>     &handler,
         const TrilinosWrappers::MPI::Vector &vector)
{
  PolytopeValues<dim> values(handler, 0, update_values | update_JxW_values);
  double              sum = 0.;
  for (const auto &polytope : handler.polytope_iterators())
    {
      values.reinit(polytope);
      const auto first = handler.polytopic_dofs().dof_offset[polytope.index()];
      const unsigned int n       = polytope.n_dofs(),
                         n_basis = n / handler.n_components();
      // Each function has one component that is not zero.
      for (const unsigned int q : values.quadrature_point_indices())
        for (unsigned int i = 0; i < n; ++i)
          sum += values.shape_value_component(i, q, i / n_basis) *
                 values.JxW(q) * *(vector.begin() + first + i);
    }
  return Utilities::MPI::sum(sum, handler.get_communicator());
}

// Refines and coarsens by a rule for cell centres that does not depend on
// processes.
template <int dim>
void
set_flags(Triangulation<dim> &triangulation, const unsigned int step)
{
  for (const auto &cell : triangulation.active_cell_iterators())
    if (cell->is_locally_owned())
      {
        const double x = cell->center()[0] + 0.3 * cell->center()[1];
        if (x < 0.35 + 0.2 * step && x > 0.2 * step)
          cell->set_refine_flag();
        else if (x > 0.6)
          cell->set_coarsen_flag();
      }
}

// Digest of a transferred polynomial and of another transferred function.
template <int dim>
std::uint64_t
run(Triangulation<dim>                 &triangulation,
    const Agglomeration::Strategy<dim> &strategy,
    const PolynomialSpaceType           space,
    const unsigned int                  n_components,
    const bool                          global,
    const Mapping<dim>                 *mapping,
    const std::string                  &name,
    const unsigned int                  n_steps = 3)
{
  const MPI_Comm     comm = Compatibility::get_communicator(triangulation);
  const unsigned int p    = 2;
  auto               handler =
    std::make_unique<AgglomerationHandler<dim>>(triangulation, mapping);
  handler->agglomerate(strategy);
  distribute_by_position(*handler, {{p, p + 1}}, space, n_components);
  const Polynomial<dim> polynomial(p, n_components);
  // a function outside of the space
  const Polynomial<dim> other(7, n_components);

  Vectors<dim> u(2);
  for (auto &v : u)
    v.reinit(handler->locally_owned_dofs(), comm);
  TVT::project(*handler, polynomial, u[0]);
  TVT::project(*handler, other, u[1], 8);
  std::uint64_t result = 0;
  for (unsigned int step = 0; step < n_steps; ++step)
    {
      const double       before   = integral(*handler, u[1]);
      const unsigned int n_before = triangulation.n_global_active_cells();
      if (global)
        triangulation.set_all_refine_flags();
      else
        set_flags(triangulation, step);
      triangulation.prepare_coarsening_and_refinement();
      PolytopicSolutionTransfer<dim> transfer(triangulation);
      transfer.prepare_for_coarsening_and_refinement(
        *handler,
        std::vector<const TrilinosWrappers::MPI::Vector *>{&u[0], &u[1]});
      triangulation.execute_coarsening_and_refinement();
      handler =
        std::make_unique<AgglomerationHandler<dim>>(triangulation, mapping);
      handler->agglomerate(strategy);
      distribute_by_position(*handler,
                             {{p + step % 2, p + step % 2 + 1}},
                             space,
                             n_components);
      for (auto &v : u)
        v.reinit(handler->locally_owned_dofs(), comm);
      transfer.project(*handler,
                       std::vector<TrilinosWrappers::MPI::Vector *>{&u[0],
                                                                    &u[1]});

      const std::string suffix = name + ", step " + std::to_string(step);
      check("mesh changes" + suffix,
            triangulation.n_global_active_cells() != n_before);
      check_below("polynomial" + suffix,
                  error(*handler, u[0], polynomial),
                  1e-11);
      if (mapping == nullptr)
        check_close("integral" + suffix,
                    integral(*handler, u[1]),
                    before,
                    1e-12 * std::abs(before));
      result += digest_of_vector(*handler, u[0]);
      result += 3 * digest_of_vector(*handler, u[1]);
    }
  return result;
}

// A coarsened cell has the L2 projection.
template <int dim>
void
coarsen_is_projection()
{
  parallel::distributed::Triangulation<dim> triangulation(MPI_COMM_WORLD);
  GridGenerator::hyper_cube(triangulation);
  triangulation.refine_global(dim == 2 ? 3 : 2);
  auto handler = std::make_unique<AgglomerationHandler<dim>>(triangulation);
  handler->agglomerate(Agglomeration::none<dim>());
  handler->distribute_dofs(FE_BoundingBoxLegendre<dim>(1));
  Vector<double> u(handler->n_locally_owned_dofs());
  TVT::project(*handler, Polynomial<dim>(2), u);
  for (const auto &cell : triangulation.active_cell_iterators())
    if (cell->is_locally_owned())
      cell->set_coarsen_flag();
  triangulation.prepare_coarsening_and_refinement();
  PolytopicSolutionTransfer<dim> transfer(triangulation);
  transfer.prepare_for_coarsening_and_refinement(*handler, u);
  triangulation.execute_coarsening_and_refinement();
  handler = std::make_unique<AgglomerationHandler<dim>>(triangulation);
  handler->agglomerate(Agglomeration::none<dim>());
  handler->distribute_dofs(FE_BoundingBoxLegendre<dim>(1));
  u.reinit(handler->n_locally_owned_dofs());
  transfer.project(*handler, u);
  // Successive projections onto nested spaces are one projection.
  Vector<double> expected(u.size());
  TVT::project(*handler, Polynomial<dim>(2), expected);
  expected -= u;
  check_below("coarsened cells in " + std::to_string(dim) + "-D",
              Utilities::MPI::max(expected.linfty_norm(), MPI_COMM_WORLD),
              1e-13);

  check_throws<ExcUserInput>(
    "second projection in " + std::to_string(dim) + "-D",
    [&]() { transfer.project(*handler, u); },
    "project() once");
}

template <int dim>
void
test()
{
  const auto total    = PolynomialSpaceType::total_degree,
             tensor   = PolynomialSpaceType::tensor_product;
  const auto families = Agglomeration::complete_families<dim>();
  const auto on       = [&](const MPI_Comm comm, const std::string &name) {
    std::uint64_t result = 0;
    for (const bool distorted : {false, true})
      {
        parallel::distributed::Triangulation<dim> triangulation(comm);
        GridGenerator::subdivided_hyper_cube(triangulation, 2);
        if (distorted)
          GridTools::transform(
            [](Point<dim> p) {
              p[0] += 0.1 * p[0] * p[1];
              return p;
            },
            triangulation);
        triangulation.refine_global(dim == 2 ? 2 : 1);
        result += run<dim>(triangulation,
                           families,
                           distorted ? tensor : total,
                           distorted ? 2 : 1,
                           false,
                           nullptr,
                           name + (distorted ? ", distorted, Q_p" : ""),
                           distorted && dim == 3 ? 2 : 3);
      }
    return result;
  };
  const std::string   in  = " in " + std::to_string(dim) + "-D";
  const std::uint64_t all = on(MPI_COMM_WORLD, in),
                      one = on(MPI_COMM_SELF, in + ", one process");
  check("same bits" + in, all == one);

  // polytopes that depend on the partition
  {
    parallel::distributed::Triangulation<dim> triangulation(MPI_COMM_WORLD);
    GridGenerator::hyper_cube(triangulation);
    triangulation.refine_global(dim == 2 ? 4 : 2);
    run<dim>(triangulation,
             Agglomeration::rtree<dim>(0),
             total,
             1,
             false,
             nullptr,
             in + ", R-tree");
  }
  // ---- serial triangulations
  {
    Triangulation<dim> triangulation;
    GridGenerator::subdivided_hyper_cube(triangulation, 2);
    triangulation.refine_global(dim == 2 ? 3 : 1);
    run<dim>(triangulation,
             Agglomeration::metis<dim>(9),
             total,
             1,
             false,
             nullptr,
             in + ", serial");
  }
  if (dim == 2)
    {
      Triangulation<dim> triangulation;
      GridGenerator::subdivided_hyper_cube_with_simplices(triangulation, 2);
      run<dim>(triangulation,
               Agglomeration::metis<dim>(5),
               total,
               1,
               true,
               nullptr,
               in + ", triangles");
    }
  {
    Triangulation<dim> triangulation;
    GridGenerator::hyper_ball(triangulation);
    triangulation.refine_global(1);
    const MappingQ<dim> mapping(2);
    run<dim>(triangulation,
             Agglomeration::none<dim>(),
             total,
             1,
             true,
             &mapping,
             in + ", curved",
             dim == 3 ? 2 : 3);
  }
  coarsen_is_projection<dim>();
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  test<2>();
  test<3>();

  Triangulation<2> triangulation;
  GridGenerator::hyper_cube(triangulation);
  AgglomerationHandler<2> handler(triangulation);
  handler.agglomerate(Agglomeration::none<2>());
  handler.distribute_dofs(FE_BoundingBoxLegendre<2>(1));
  Vector<double>               u(handler.n_dofs());
  PolytopicSolutionTransfer<2> transfer(triangulation);
  check_throws<ExcUserInput>(
    "nothing prepared",
    [&]() { transfer.project(handler, u); },
    "prepare_for_coarsening_and_refinement()");
}
