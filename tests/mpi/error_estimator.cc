// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// ErrorEstimator is compared to a slow evaluation of its formula, to functions
// without a residual, and to errors under refinement; the same bits for any
// number of processes. GridRefinement: the marked cells.

#include <deal.II/base/function_lib.h>

#include <deal.II/distributed/tria.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/grid_tools.h>
#include <deal.II/lac/trilinos_solver.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/base/exceptions.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/numerics/error_estimator.h>
#include <tessella/numerics/grid_refinement.h>
#include <tessella/numerics/vector_tools.h>
#include <tessella/values/polytope_interface_values.h>

#include <functional>

#include "../lambda.h"
#include "../tests.h"
#include "cases.h"

using namespace dealii;
namespace TVT = Tessella::VectorTools;
using namespace Tessella;

template <int dim>
std::shared_ptr<Lambda<dim>>
lambda(const std::function<double(const Point<dim> &, unsigned int)> &f,
       const unsigned int n_components = 1)
{
  return std::make_shared<Lambda<dim>>(f, n_components);
}

template <int dim>
void
make_mesh(Triangulation<dim> &triangulation, const unsigned int n)
{
  GridGenerator::subdivided_hyper_cube(triangulation, 2, 0., 1., true);
  GridTools::transform(
    [](Point<dim> p) {
      p[0] += 0.1 * p[0] * p[1];
      return p;
    },
    triangulation);
  triangulation.refine_global(n);
  refine(triangulation,
         [](const Point<dim> &center) { return center[0] < 0.3; });
}

template <int dim>
std::vector<double>
penalty(const AgglomerationHandler<dim> &handler, const Form<dim> &form)
{
  typename PolytopicAssembler<dim>::AdditionalData data;
  data.backend = Backend::host;
  return PolytopicAssembler<dim>(handler, data).penalty(form);
}

// -div(2 grad u) = 3, u = 1 on the boundary: a slow evaluation of the formula.
template <int dim>
void
formula()
{
  const std::string  in = " in " + std::to_string(dim) + "-D";
  Triangulation<dim> triangulation;
  make_mesh(triangulation, 1);
  AgglomerationHandler<dim> handler(triangulation);
  handler.agglomerate(Agglomeration::metis<dim>(7));
  const unsigned int p = 3;
  handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(p));
  AdvectionDiffusionReaction<dim> form;
  form.set_diffusion(2.);
  form.set_source(3.);
  BoundaryCondition<dim> one;
  one.value = lambda<dim>([](const Point<dim> &, unsigned int) { return 1.; });
  form.set_default_boundary_condition(one);
  const std::vector<double> sigma = penalty(handler, form);

  Vector<double> u(handler.n_dofs());
  for (unsigned int i = 0; i < u.size(); ++i)
    u[i] = std::sin(1. + i * i);
  Vector<double> eta, jumps;
  ErrorEstimator::residual(handler, form, sigma, u, eta);
  ErrorEstimator::jumps(handler, form, sigma, u, jumps);

  Vector<double>      expected(eta.size()), expected_jumps(eta.size());
  PolytopeValues<dim> values(
    handler, 4, update_values | update_hessians | update_JxW_values);
  for (const auto &polytope : handler.polytope_iterators())
    {
      values.reinit(polytope);
      std::vector<Tensor<2, dim>> hessians(values.n_quadrature_points);
      values.get_function_hessians(u, hessians);
      for (const unsigned int q : values.quadrature_point_indices())
        expected[polytope.index()] +=
          std::pow(polytope.diameter() / p, 2) / 2. *
          std::pow(3. + 2. * trace(hessians[q]), 2) * values.JxW(q);
    }
  PolytopeInterfaceValues<dim> interface(handler,
                                         4,
                                         update_values | update_gradients |
                                           update_JxW_values |
                                           update_normal_vectors |
                                           update_quadrature_points);
  for (const auto &polytope : handler.polytope_iterators())
    for (unsigned int f = 0; f < polytope.n_faces(); ++f)
      {
        interface.reinit(polytope, f);
        std::vector<double>         jump(interface.n_quadrature_points);
        std::vector<Tensor<1, dim>> gradients(jump.size());
        interface.get_jump_in_function_values(u, jump);
        interface.get_jump_in_function_gradients(u, gradients);
        for (const unsigned int q : interface.quadrature_point_indices())
          {
            const double s = sigma[interface.facet(q)];
            double       j = 0., flux = 0.;
            if (polytope.at_boundary(f))
              j = s * std::pow(jump[q] - 1., 2);
            else
              {
                j             = .5 * s * jump[q] * jump[q];
                double factor = 0.;
                for (unsigned int side = 0; side < 2; ++side)
                  factor =
                    std::max(factor,
                             handler.polytopic_dofs()
                               .penalty_factor[2 * interface.facet(q) + side]);
                // h = dim p^2 / factor
                const double h = dim * p * p / factor;
                flux           = .5 * h / (2. * p) *
                       std::pow(2. * gradients[q] * interface.normal(q), 2);
              }
            expected_jumps[polytope.index()] += j * interface.JxW(q);
            expected[polytope.index()] += (j + flux) * interface.JxW(q);
          }
      }
  for (unsigned int k = 0; k < eta.size(); ++k)
    {
      expected[k]       = std::sqrt(expected[k]) - eta[k];
      expected_jumps[k] = std::sqrt(expected_jumps[k]) - jumps[k];
    }
  check_below("formula" + in,
              expected.linfty_norm() / eta.linfty_norm(),
              1e-12);
  check_below("formula of jumps" + in,
              expected_jumps.linfty_norm() / jumps.linfty_norm(),
              1e-12);
}

// -div(a grad u) + b.grad u + c u with variable coefficients and an exact
// solution in the space; all types of boundary conditions.
template <int dim>
void
make_form(AdvectionDiffusionReaction<dim>                         &form,
          const std::function<double(const Point<dim> &)>         &u,
          const std::function<Tensor<1, dim>(const Point<dim> &)> &grad_u,
          const std::function<double(const Point<dim> &)>         &laplacian)
{
  const auto a = [](const Point<dim> &p) { return 1. + p[0] + p[1]; };
  const auto b = [](const Point<dim> &p, const unsigned int d) {
    return d == 0 ? 1. + p[1] : 0.3 * p[1];
  };
  form.set_diffusion(
    lambda<dim>([=](const Point<dim> &p, unsigned int) { return a(p); }));
  form.set_advection(std::shared_ptr<const Function<dim>>(lambda<dim>(
    [=](const Point<dim> &p, unsigned int d) { return b(p, d); }, dim)));
  form.set_reaction(2.);
  form.set_source(lambda<dim>([=](const Point<dim> &p, unsigned int) {
    const Tensor<1, dim> g = grad_u(p);
    double               f = 2. * u(p) - a(p) * laplacian(p) - g[0] - g[1];
    for (unsigned int d = 0; d < dim; ++d)
      f += b(p, d) * g[d];
    return f;
  }));
  BoundaryCondition<dim> condition;
  condition.value =
    lambda<dim>([=](const Point<dim> &p, unsigned int) { return u(p); });
  form.set_default_boundary_condition(condition);
  // outflow on the right and on the top
  condition.type  = BoundaryType::neumann;
  condition.value = nullptr;
  condition.flux =
    lambda<dim>([=](const Point<dim> &p,
                    unsigned int      d) { return a(p) * grad_u(p)[d]; },
                dim);
  form.set_boundary_condition(1, condition);
  condition.type = BoundaryType::robin;
  condition.robin_coefficient =
    lambda<dim>([](const Point<dim> &, unsigned int) { return 3.; });
  condition.value =
    lambda<dim>([=](const Point<dim> &p, unsigned int) { return 3. * u(p); });
  form.set_boundary_condition(3, condition);
}

template <int dim>
void
no_residual()
{
  const std::string in = " in " + std::to_string(dim) + "-D";
  parallel::distributed::Triangulation<dim> triangulation(MPI_COMM_WORLD);
  make_mesh(triangulation, 1);
  AgglomerationHandler<dim> handler(triangulation);
  handler.agglomerate(Agglomeration::complete_families<dim>());
  handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(2));
  AdvectionDiffusionReaction<dim> form;
  make_form<dim>(
    form,
    [](const Point<dim> &p) { return p[0] * p[1] + p[1] * p[1]; },
    [](const Point<dim> &p) {
      Tensor<1, dim> g;
      g[0] = p[1];
      g[1] = p[0] + 2. * p[1];
      return g;
    },
    [](const Point<dim> &) { return 2.; });
  const std::vector<double> sigma = penalty(handler, form);
  Vector<double>            u(handler.n_locally_owned_dofs()), eta;
  TVT::project(handler,
               *lambda<dim>([](const Point<dim> &p, unsigned int) {
                 return p[0] * p[1] + p[1] * p[1];
               }),
               u);
  ErrorEstimator::residual(handler, form, sigma, u, eta);
  check_below("no residual" + in, ErrorEstimator::global(handler, eta), 1e-8);
  ErrorEstimator::jumps(handler, form, sigma, u, eta);
  check_below("no jumps" + in, ErrorEstimator::global(handler, eta), 1e-12);
  u = 0.;
  ErrorEstimator::residual(handler, form, sigma, u, eta);
  check("another function has" + in, ErrorEstimator::global(handler, eta) > 1.);
}

// Checksum of the indicators of a projection, and of flags.
template <int dim>
std::uint64_t
bits(const MPI_Comm comm)
{
  parallel::distributed::Triangulation<dim> triangulation(comm);
  make_mesh(triangulation, dim == 2 ? 3 : 1);
  AgglomerationHandler<dim> handler(triangulation);
  handler.agglomerate(Agglomeration::complete_families<dim>());
  hp::FECollection<dim>     collection(FE_BoundingBoxLegendre<dim>(1),
                                   FE_BoundingBoxLegendre<dim>(3));
  std::vector<unsigned int> indices;
  for (const auto &polytope : handler.polytope_iterators())
    indices.push_back(polytope.bounding_box().center()[1] < 0.4);
  handler.distribute_dofs(collection, indices);
  AdvectionDiffusionReaction<dim> form;
  make_form<dim>(
    form,
    [](const Point<dim> &p) { return p[0] * p[1]; },
    [](const Point<dim> &p) {
      Tensor<1, dim> g;
      g[0] = p[1];
      g[1] = p[0];
      return g;
    },
    [](const Point<dim> &) { return 0.; });
  const std::vector<double> sigma = penalty(handler, form);
  Vector<double>            u(handler.n_locally_owned_dofs()), eta, jumps;
  TVT::project(handler,
               *lambda<dim>([](const Point<dim> &p, unsigned int) {
                 return std::exp(3. * p[0]) * std::cos(2. * p[1]);
               }),
               u);
  ErrorEstimator::residual(handler, form, sigma, u, eta);
  ErrorEstimator::jumps(handler, form, sigma, u, jumps);
  std::uint64_t result =
    digest_of_polytopes(handler, [&](const unsigned int k, Digest &digest) {
      digest.add(eta[k]);
      digest.add(jumps[k]);
    });

  const auto flags = [&]() {
    std::uint64_t numbers[3] = {0, 0, 0};
    result +=
      digest_of_polytopes(handler, [&](const unsigned int k, Digest &digest) {
        for (const auto &cell : handler.polytope(k).get_agglomerate())
          {
            digest.add(std::uint64_t(bool(cell->refine_flag_set())));
            digest.add(std::uint64_t(cell->coarsen_flag_set()));
            numbers[0] += bool(cell->refine_flag_set());
            numbers[1] += cell->coarsen_flag_set();
          }
      });
    for (auto &n : numbers)
      n = Utilities::MPI::sum(n, comm);
    return std::pair<double, double>(numbers[0], numbers[1]);
  };
  const double      n_cells = triangulation.n_global_active_cells();
  const std::string in      = " in " + std::to_string(dim) + "-D";
  Tessella::GridRefinement::refine_and_coarsen_fixed_number(
    triangulation, handler, eta, 0.3, 0.2);
  const auto   number = flags();
  const double family = Utilities::pow(2, dim);
  check("fixed number" + in,
        number.first >= 0.3 * n_cells &&
          number.first < 0.3 * n_cells + family &&
          number.second <= 0.2 * n_cells &&
          number.second > 0.2 * n_cells - family);

  Tessella::GridRefinement::refine_and_coarsen_fixed_fraction(
    triangulation, handler, eta, 0.6, 0.05);
  flags();
  double refined = 0., coarsened = 0., all = 0.,
         smallest = std::numeric_limits<double>::max();
  for (const auto &polytope : handler.polytope_iterators())
    {
      const double square = eta[polytope.index()] * eta[polytope.index()];
      const auto   cell   = polytope.get_agglomerate()[0];
      all += square;
      if (cell->refine_flag_set())
        {
          refined += square;
          smallest = std::min(smallest, square);
        }
      else if (cell->coarsen_flag_set())
        coarsened += square;
    }
  all       = Utilities::MPI::sum(all, comm);
  refined   = Utilities::MPI::sum(refined, comm);
  coarsened = Utilities::MPI::sum(coarsened, comm);
  smallest  = Utilities::MPI::min(smallest, comm);
  check("fixed fraction" + in,
        refined >= 0.6 * all * (1. - 1e-9) && refined - smallest < 0.6 * all &&
          coarsened > 0. && coarsened <= 0.05 * all * (1. + 1e-9));
  return result;
}

// Smooth solution, global refinement: the estimate is larger than the error and
// decreases with it.
void
smooth()
{
  const unsigned int p = 2;
  double             index[2], jump_index[2];
  for (unsigned int level = 0; level < 2; ++level)
    {
      parallel::distributed::Triangulation<2> triangulation(MPI_COMM_WORLD);
      GridGenerator::hyper_cube(triangulation);
      triangulation.refine_global(3 + level);
      AgglomerationHandler<2> handler(triangulation);
      handler.agglomerate(Agglomeration::complete_families<2>());
      handler.distribute_dofs(FE_BoundingBoxLegendre<2>(p));
      const auto exact = std::make_shared<Functions::CosineFunction<2>>();
      AdvectionDiffusionReaction<2> form;
      form.set_diffusion(1.);
      form.set_source(lambda<2>(
        [=](const Point<2> &x, unsigned int) { return -exact->laplacian(x); }));
      form.set_coefficient_order(4);
      BoundaryCondition<2> boundary;
      boundary.value = exact;
      form.set_default_boundary_condition(boundary);
      PolytopicAssembler<2>::AdditionalData data;
      data.backend = Backend::host;
      PolytopicAssembler<2>          assembler(handler, data);
      TrilinosWrappers::SparseMatrix matrix;
      TrilinosWrappers::MPI::Vector  rhs, u;
      assembler.reinit(matrix, rhs);
      assembler.assemble(form, matrix, rhs);
      u.reinit(rhs);
      SolverControl                  control(1, 0., false, false);
      TrilinosWrappers::SolverDirect solver(control);
      solver.solve(matrix, u, rhs);
      const std::vector<double> sigma = assembler.penalty(form);
      const double              error =
        TVT::compute_errors(handler, form, sigma, u, *exact).dG;
      Vector<double> eta;
      ErrorEstimator::residual(handler, form, sigma, u, eta);
      index[level] = ErrorEstimator::global(handler, eta) / error;
      ErrorEstimator::jumps(handler, form, sigma, u, eta);
      jump_index[level] = ErrorEstimator::global(handler, eta) / error;
    }
  check("efficiency index", index[0] > 1. && index[0] < 10.);
  check_close("efficiency index of a finer mesh", index[1] / index[0], 1., 0.1);
  check("jumps and error", jump_index[0] > 0.05 && jump_index[0] <= 1.);
  check_close("jumps of a finer mesh", jump_index[1] / jump_index[0], 1., 0.15);
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  formula<2>();
  formula<3>();
  no_residual<2>();
  no_residual<3>();
  smooth();
  check("same bits in 2-D", bits<2>(MPI_COMM_WORLD) == bits<2>(MPI_COMM_SELF));
  check("same bits in 3-D", bits<3>(MPI_COMM_WORLD) == bits<3>(MPI_COMM_SELF));

  // ---- mistakes
  parallel::distributed::Triangulation<2> triangulation(MPI_COMM_WORLD);
  GridGenerator::hyper_cube(triangulation);
  triangulation.refine_global(2);
  AgglomerationHandler<2> handler(triangulation);
  handler.agglomerate(Agglomeration::none<2>());
  Vector<double> eta(handler.n_polytopes());
  check_throws<ExcUserInput>(
    "fractions",
    [&]() {
      Tessella::GridRefinement::refine_and_coarsen_fixed_number(
        triangulation, handler, eta, 0.8, 0.3);
    },
    "fractions to be refined and coarsened");
  if (Utilities::MPI::this_mpi_process(MPI_COMM_WORLD) == 0)
    eta[0] = -1.;
  check_throws<ExcUserInput>(
    "negative indicator",
    [&]() {
      Tessella::GridRefinement::refine_and_coarsen_fixed_number(
        triangulation, handler, eta, 0.3, 0.3);
    },
    "An error indicator is -1");
}
