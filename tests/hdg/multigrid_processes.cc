// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// TraceMultigrid with an assembled coarse operator on any number of processes:
// at most 25 iterations of CG to 1e-10, in double and single precision, and 40
// of GMRES with advection; the solution is that of the trace system; the
// preconditioner is symmetric; new values give what a new object gives.

#include <deal.II/distributed/fully_distributed_tria.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/lac/solver_cg.h>
#include <deal.II/lac/solver_gmres.h>
#include <deal.II/lac/trilinos_sparse_matrix.h>
#include <deal.II/lac/trilinos_vector.h>

#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/grid/matching.h>
#include <tessella/hdg/trace_multigrid.h>

#include "../lambda.h"
#include "../tests.h"

using namespace dealii;
using namespace Tessella;

using TraceVector = TrilinosWrappers::MPI::Vector;

template <int dim>
struct Problem
{
  template <typename Number>
  using Preconditioner = TraceMultigrid<dim, HostBlockMatrix<Number>>;

  Problem(const unsigned int n,
          const unsigned int cells_per_polytope,
          const unsigned int degree,
          const double       advection = 0.)
    : has_advection(advection != 0.)
    , triangulation(MPI_COMM_WORLD)
    , strategy(distribute(n, cells_per_polytope, triangulation))
    , handler(triangulation)
  {
    handler.agglomerate(strategy);
    handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(degree));
    set_diffusion(1.);
    form.set_source(1.);
    if (has_advection)
      {
        Tensor<1, dim> b;
        for (int d = 0; d < dim; ++d)
          b[d] = advection / (1. + d);
        form.set_advection(b);
      }
    typename HDG<dim>::AdditionalData data;
    data.backend     = Backend::host;
    data.trace_space = cells_per_polytope == 1 ? TraceSpaceType::facet
                                               : TraceSpaceType::interface;
    hdg              = std::make_unique<HDG<dim>>(handler, data);
    hdg->reinit(form, matrix, rhs);
    hdg->assemble(form, matrix, rhs);
    hdg->copy_blocks(matrix, blocks);
  }

  static Agglomeration::Strategy<dim>
  distribute(const unsigned int                              n,
             const unsigned int                              cells_per_polytope,
             parallel::fullydistributed::Triangulation<dim> &triangulation)
  {
    Triangulation<dim> serial;
    GridGenerator::subdivided_hyper_cube_with_simplices(serial, n);
    return Agglomeration::distribute<dim>(serial,
                                          cells_per_polytope == 1
                                            ? Agglomeration::none<dim>()
                                            : Agglomeration::matching<dim>(
                                                serial.n_active_cells() /
                                                cells_per_polytope),
                                          triangulation);
  }

  void
  set_diffusion(const double factor)
  {
    form.set_diffusion(
      [factor](const Point<dim> &x) { return 1. + factor * x[0] * x[1]; });
  }

  template <typename Number>
  typename Preconditioner<Number>::AdditionalData
  data() const
  {
    using MG = Preconditioner<Number>;
    typename MG::AdditionalData result;
    result.symmetric       = !has_advection;
    result.coarse_operator = MG::CoarseOperator::interior_penalty;
    result.coarse.cycle    = Multigrid<HostBlockMatrix<Number>>::Cycle::w;
    if (has_advection)
      {
        result.smoother = result.coarse.smoother = MG::Smoother::lusgs;
        result.n_smoothing_steps                 = 1;
        result.coarse.n_smoothing_steps          = 1;
      }
    return result;
  }

  template <typename Number>
  void
  solve(const std::string &name, const Preconditioner<Number> &multigrid)
  {
    SolverControl control(200, 1e-10 * rhs.l2_norm(), false, false);
    TraceVector   solution(rhs), residual(rhs);
    solution = 0.;
    try
      {
        if (has_advection)
          SolverGMRES<TraceVector>(
            control, SolverGMRES<TraceVector>::AdditionalData(102, true))
            .solve(blocks, solution, rhs, multigrid);
        else
          SolverCG<TraceVector>(control).solve(blocks,
                                               solution,
                                               rhs,
                                               multigrid);
      }
    catch (const SolverControl::NoConvergence &)
      {}
    check_below(name, control.last_step(), has_advection ? 40 : 25);
    matrix.residual(residual, solution, rhs);
    check_below(name + ": residual", residual.l2_norm(), 1e-8 * rhs.l2_norm());
  }

  TraceVector
  some_vector(const double frequency) const
  {
    TraceVector x(rhs);
    for (const auto i : x.locally_owned_elements())
      x(i) = std::sin(1. + frequency * i);
    x.compress(VectorOperation::insert);
    return x;
  }

  const bool                                     has_advection;
  parallel::fullydistributed::Triangulation<dim> triangulation;
  const Agglomeration::Strategy<dim>             strategy;
  Tessella::AgglomerationHandler<dim>            handler;
  AdvectionDiffusionReaction<dim>                form;
  std::unique_ptr<HDG<dim>>                      hdg;
  TrilinosWrappers::SparseMatrix                 matrix;
  TraceVector                                    rhs;
  HostBlockMatrix<double>                        blocks;
};

template <int dim>
void
test(const std::string &name, Problem<dim> &&problem)
{
  const auto initialize = [&](auto &multigrid, auto data) {
    multigrid.initialize(
      problem.handler, *problem.hdg, problem.form, problem.blocks, data);
  };
  typename Problem<dim>::template Preconditioner<double> multigrid;
  initialize(multigrid, problem.template data<double>());
  problem.solve(name, multigrid);
  // GMRES adds up products with the preconditioner, whose rounding errors in
  // single precision then remain in the residual.
  if (problem.has_advection)
    return;
  typename Problem<dim>::template Preconditioner<float> in_float;
  initialize(in_float, problem.template data<float>());
  problem.solve(name + ", single precision", in_float);

  const TraceVector x = problem.some_vector(1.), y = problem.some_vector(3.);
  TraceVector       Mx(x), My(x), fresh(x);
  multigrid.vmult(Mx, x);
  multigrid.vmult(My, y);
  check_close(name + ": symmetric", (Mx * y) / (x * My), 1., 1e-8);

  problem.set_diffusion(2.);
  problem.hdg->assemble(problem.form, problem.matrix, problem.rhs);
  // The values of the matrix change, its structure does not.
  {
    HostBlockMatrix<double> changed;
    problem.hdg->copy_blocks(problem.matrix, changed);
    std::vector<double> values;
    changed.copy_to(values);
    problem.blocks.copy_from(values);
  }
  multigrid.update(problem.form);
  in_float.update(problem.form);
  problem.solve(name + ", other values", multigrid);
  problem.solve(name + ", other values in single precision", in_float);
  typename Problem<dim>::template Preconditioner<double> other;
  initialize(other, problem.template data<double>());
  problem.solve(name + ", a new object", other);
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv, 1);
  for (const unsigned int degree : {1u, 4u})
    for (const unsigned int n : {8u, 24u})
      test<2>("triangles " + std::to_string(n) + ", degree " +
                std::to_string(degree),
              {n, 1, degree});
  test<2>("polygons", {24, 8, 2});
  test<3>("tetrahedra", {4, 1, 2});
  test<3>("polyhedra", {4, 8, 1});
  test<2>("advection", {20, 1, 1, 100.});

  Problem<2> problem(8, 1, 1);
  auto       data = problem.data<double>();
  using MG        = Problem<2>::Preconditioner<double>;
  MG multigrid;
  data.coarse_operator  = MG::CoarseOperator::galerkin;
  const auto initialize = [&] {
    multigrid.initialize(
      problem.handler, *problem.hdg, problem.form, problem.blocks, data);
  };
  if (Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD) > 1)
    check_throws<ExceptionBase>("operator from the trace matrix",
                                initialize,
                                "on one process only");
  else
    {
      initialize();
      problem.solve("operator from the trace matrix", multigrid);
    }
  check_throws<ExceptionBase>(
    "update() of an empty object", [&] { MG().update(problem.form); }, "");
}
