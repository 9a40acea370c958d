// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Iterations with TraceMultigrid to 1e-10: at most 25 of CG for any mesh,
// degree and diffusion, at most 40 of GMRES with advection; the solution is
// that of the trace system; the preconditioner is symmetric and the same for
// every number of threads; mistakes.

#include <deal.II/base/multithread_info.h>

#include <deal.II/grid/grid_generator.h>
#include <deal.II/lac/solver_cg.h>
#include <deal.II/lac/solver_gmres.h>
#include <deal.II/lac/trilinos_sparse_matrix.h>
#include <deal.II/lac/trilinos_vector.h>

#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/grid/matching.h>
#include <tessella/grid/within_materials.h>
#include <tessella/hdg/trace_multigrid.h>

#include "../lambda.h"
#include "../tests.h"

using namespace dealii;
using namespace Tessella;

using Vector = TrilinosWrappers::MPI::Vector;

// A trace system: the unit square or cube in simplices, n in every direction,
// or in polytopes of some of them; diffusion as a function; tau is its size.
template <int dim>
struct Problem
{
  using Coefficient    = std::function<double(const Point<dim> &)>;
  using Flow           = std::function<Tensor<1, dim>(const Point<dim> &)>;
  using Preconditioner = TraceMultigrid<dim, HostBlockMatrix<double>>;

  Problem(const unsigned int n,
          const unsigned int cells_per_polytope,
          const unsigned int degree,
          const Coefficient &diffusion,
          const Flow        &flow = {})
    : handler(make_mesh(n, diffusion))
  {
    handler.agglomerate(
      cells_per_polytope == 1
        ? Agglomeration::none<dim>()
        : Agglomeration::within_materials<dim>(Agglomeration::matching<dim>(
            triangulation.n_active_cells() / cells_per_polytope)));
    handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(degree));
    form.set_diffusion(diffusion);
    form.set_source(1.);
    if (flow)
      form.set_advection(flow);

    const PolytopicMesh<dim> &mesh = handler.polytopic_mesh();
    const auto                size = std::make_shared<std::vector<double>>();
    for (unsigned int f = 0; f < mesh.n_facets(); ++f)
      for (unsigned int side = 0; side < 2; ++side)
        {
          const unsigned int s = mesh.facet_subcell[2 * f + side];
          size->push_back(
            s == invalid_index ? 1. : diffusion(centre(mesh.subcell_cell[s])));
        }
    typename HDG<dim>::AdditionalData data;
    data.backend      = Backend::host;
    data.trace_space  = cells_per_polytope == 1 ? TraceSpaceType::facet
                                                : TraceSpaceType::interface;
    data.tau_of_facet = [size](const unsigned int f, const unsigned int side) {
      return (*size)[2 * f + side];
    };
    hdg = std::make_unique<HDG<dim>>(handler, data);
    hdg->reinit(form, matrix, rhs);
    hdg->assemble(form, matrix, rhs);
    hdg->copy_blocks(matrix, blocks);
    this->data.symmetric    = !flow;
    this->data.coarse.cycle = Multigrid<HostBlockMatrix<double>>::Cycle::w;
    if (flow)
      {
        this->data.smoother                 = Preconditioner::Smoother::lusgs;
        this->data.coarse.smoother          = Preconditioner::Smoother::lusgs;
        this->data.n_smoothing_steps        = 1;
        this->data.coarse.n_smoothing_steps = 1;
      }
  }

  Triangulation<dim> &
  make_mesh(const unsigned int n, const Coefficient &diffusion)
  {
    GridGenerator::subdivided_hyper_cube_with_simplices(triangulation, n);
    // Cells of equal diffusion at their centres are of one material.
    std::map<double, unsigned int> ids;
    for (const auto &cell : triangulation.active_cell_iterators())
      {
        centres.push_back(cell->center());
        cell->set_material_id(
          ids
            .emplace(std::floor(std::log2(diffusion(cell->center()))),
                     ids.size())
            .first->second);
      }
    return triangulation;
  }

  Point<dim>
  centre(const unsigned int cell) const
  {
    return centres[cell];
  }

  unsigned int
  n_iterations(Vector &solution)
  {
    Preconditioner multigrid;
    multigrid.initialize(handler, *hdg, form, blocks, data);
    SolverControl control(200, 1e-10 * rhs.l2_norm(), false, false);
    solution.reinit(rhs);
    try
      {
        if (data.symmetric)
          SolverCG<Vector>(control).solve(blocks, solution, rhs, multigrid);
        else
          SolverGMRES<Vector>(control,
                              SolverGMRES<Vector>::AdditionalData(102, true))
            .solve(blocks, solution, rhs, multigrid);
      }
    catch (const SolverControl::NoConvergence &)
      {}
    return control.last_step();
  }

  Triangulation<dim>                      triangulation;
  std::vector<Point<dim>>                 centres;
  AgglomerationHandler<dim>               handler;
  AdvectionDiffusionReaction<dim>         form;
  std::unique_ptr<HDG<dim>>               hdg;
  TrilinosWrappers::SparseMatrix          matrix;
  Vector                                  rhs;
  HostBlockMatrix<double>                 blocks;
  typename Preconditioner::AdditionalData data;
};

template <int dim>
void
test(const std::string &name, Problem<dim> &&problem)
{
  Vector             solution, residual(problem.rhs);
  const unsigned int bar = problem.data.symmetric ? 25 : 40;
  check_below(name, problem.n_iterations(solution), bar);
  problem.matrix.residual(residual, solution, problem.rhs);
  check_below(name + ": residual",
              residual.l2_norm(),
              1e-8 * problem.rhs.l2_norm());
}

// Between 1e-3 and 1e3, without an order, on 16 x 16 squares.
double
random_diffusion(const Point<2> &x)
{
  const double K =
    0.618034 * (std::floor(16. * x[0]) + 16. * std::floor(16. * x[1]));
  return std::pow(10., 6. * (K - std::floor(K)) - 3.);
}

// On n cubes in every direction.
template <int dim>
double
checkerboard(const Point<dim> &x, const double n = 2.)
{
  int sum = 0;
  for (int d = 0; d < dim; ++d)
    sum += static_cast<int>(std::floor(n * x[d]));
  return sum % 2 == 0 ? 1. : 1e4;
}

template <int dim>
Tensor<1, dim>
diagonal_flow(const double size)
{
  Tensor<1, dim> b;
  for (int d = 0; d < dim; ++d)
    b[d] = size / (1. + d);
  return b;
}

// Two vortices on the unit square, without flow through its boundary.
Tensor<1, 2>
vortices(const Point<2> &x, const double size)
{
  const double pi = numbers::PI;
  Tensor<1, 2> b;
  b[0] = size * std::sin(2. * pi * x[0]) * std::cos(pi * x[1]);
  b[1] = -2. * size * std::cos(2. * pi * x[0]) * std::sin(pi * x[1]);
  return b;
}

void
test_diffusion()
{
  const auto smooth_2d = [](const Point<2> &x) { return 1. + x[0] * x[1]; };
  const auto one_3d    = [](const Point<3> &) { return 1.; };
  for (const unsigned int degree : {1u, 3u, 6u})
    for (const unsigned int n : {8u, 16u})
      test<2>("triangles " + std::to_string(n) + ", degree " +
                std::to_string(degree),
              {n, 1, degree, smooth_2d});
  for (const unsigned int cells : {8u, 30u})
    test<2>("polygons of " + std::to_string(cells), {24, cells, 2, smooth_2d});
  test<3>("tetrahedra", {3, 1, 2, one_3d});
  test<3>("polyhedra", {4, 8, 2, one_3d});
  for (const unsigned int degree : {1u, 3u})
    test<2>("random diffusion, degree " + std::to_string(degree),
            {32, 1, degree, random_diffusion});
  test<2>("checkerboard, polygons",
          {24, 8, 3, [](const Point<2> &x) { return checkerboard(x); }});
  test<3>("checkerboard, tetrahedra",
          {4, 1, 2, [](const Point<3> &x) { return checkerboard(x); }});
}

// Many materials: pairs of polytopes, more steps, and a smaller share of the
// penalty.
template <int dim>
void
test_jumps(const std::string &name, Problem<dim> &&problem)
{
  problem.data.n_children               = 2;
  problem.data.n_smoothing_steps        = 8;
  problem.data.coarse.n_smoothing_steps = 8;
  problem.data.penalty_share            = 0.03;
  test<dim>(name, std::move(problem));
}

void
test_many_materials()
{
  for (const unsigned int n : {16u, 64u})
    test_jumps<2>("many materials, triangles " + std::to_string(n),
                  {n, 1, 1, random_diffusion});
  test_jumps<2>("many materials, polygons", {32, 4, 2, random_diffusion});
  for (const unsigned int n : {4u, 8u})
    test_jumps<3>("many materials, tetrahedra " + std::to_string(n),
                  {n, 1, n == 4 ? 2u : 1u, [](const Point<3> &x) {
                     return checkerboard(x, 4.);
                   }});
}

void
test_advection()
{
  const auto one = [](const Point<2> &) { return 1.; };
  for (const unsigned int n : {10u, 20u, 40u})
    for (const double size : {10., 1000., 1e6})
      test<2>("advection of " + std::to_string(int(size)) + ", triangles " +
                std::to_string(n),
              {n, 1, 1, one, [size](const Point<2> &) {
                 return diagonal_flow<2>(size);
               }});
  test<2>("advection, polygons", {32, 6, 2, one, [](const Point<2> &) {
                                    return diagonal_flow<2>(1000.);
                                  }});
  test<2>("vortices", {24, 1, 2, one, [](const Point<2> &x) {
                         return vortices(x, 1000.);
                       }});
  test<3>("advection, tetrahedra",
          {4,
           1,
           1,
           [](const Point<3> &) { return 1.; },
           [](const Point<3> &) { return diagonal_flow<3>(1000.); }});
}

void
test_properties()
{
  Problem<2> problem(12, 1, 2, random_diffusion);
  using MG = Problem<2>::Preconditioner;
  for (const auto smoother : {MG::Smoother::chebyshev,
                              MG::Smoother::gauss_seidel,
                              MG::Smoother::lusgs})
    {
      problem.data.smoother          = smoother;
      problem.data.n_smoothing_steps = 2;
      MG     multigrid;
      Vector x(problem.rhs), y(problem.rhs), Mx(problem.rhs), My(problem.rhs);
      for (const auto i : x.locally_owned_elements())
        {
          x(i) = std::sin(1. + i);
          y(i) = std::cos(2. + 3. * i);
        }
      std::vector<double> bits[2];
      for (const unsigned int n_threads : {1u, 2u})
        {
          MultithreadInfo::set_thread_limit(n_threads);
          multigrid.initialize(problem.handler,
                               *problem.hdg,
                               problem.form,
                               problem.blocks,
                               problem.data);
          multigrid.vmult(Mx, x);
          bits[n_threads - 1].assign(Mx.begin(), Mx.end());
        }
      multigrid.vmult(My, y);
      const std::string name =
        "smoother " + std::to_string(static_cast<int>(smoother));
      check_close(name + ": symmetric", (Mx * y) / (x * My), 1., 1e-8);
      check(name + ": same bits for one and two threads", bits[0] == bits[1]);
    }
  problem.data.n_smoothing_steps = 0;
  Vector x;
  check_throws<ExceptionBase>(
    "no smoothing steps",
    [&] { problem.n_iterations(x); },
    "needs one smoothing step or more");
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  test_diffusion();
  test_many_materials();
  test_advection();
  test_properties();
}
