// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Reproduction of polynomials; orders of convergence and of post-processing;
// symmetry and definiteness; the same bits for every number of threads;
// problems that do not fix the constant, and mistakes.

#include <deal.II/base/multithread_info.h>

#include <deal.II/fe/fe_system.h>
#include <deal.II/lac/lapack_full_matrix.h>
#include <deal.II/lac/solver_control.h>
#include <deal.II/lac/trilinos_solver.h>

#include <tessella/hdg/hdg.h>
#include <tessella/numerics/vector_tools.h>
#include <tessella/values/polytope_quadrature.h>

#include "../assembly/compare.h"

/// u and q of a problem and their exact values.
template <int dim>
struct Solution
{
  std::function<double(const Point<dim> &)>         u;
  std::function<Tensor<1, dim>(const Point<dim> &)> q; // a grad u
};

template <int dim>
double
L2_error(const Tessella::AgglomerationHandler<dim> &handler,
         const Vector<double>                      &vector,
         const Function<dim>                       &exact)
{
  Vector<float> difference;
  Tessella::VectorTools::integrate_difference(
    handler, vector, exact, difference, dealii::VectorTools::L2_norm);
  return Tessella::VectorTools::compute_global_error(
    handler, difference, dealii::VectorTools::L2_norm);
}

struct Errors
{
  double       u, q, post;
  unsigned int n_dofs;
};

template <int dim>
void
solve(const TrilinosWrappers::SparseMatrix &matrix,
      TrilinosWrappers::MPI::Vector        &trace,
      const TrilinosWrappers::MPI::Vector  &rhs)
{
  trace.reinit(rhs);
  SolverControl                  control(1, 0., false, false);
  TrilinosWrappers::SolverDirect solver(control);
  solver.initialize(matrix);
  solver.solve(trace, rhs);
}

template <int dim>
Errors
compute_errors(const Triangulation<dim>                          &triangulation,
               const Tessella::Agglomeration::Strategy<dim>      &strategy,
               const unsigned int                                 p,
               const Tessella::AdvectionDiffusionReaction<dim>   &form,
               const Solution<dim>                               &exact,
               const typename Tessella::HDG<dim>::AdditionalData &data)
{
  using namespace Tessella;
  const std::vector<unsigned int> ids = strategy(triangulation);
  AgglomerationHandler<dim> handler(triangulation), flux_handler(triangulation),
    finer(triangulation);
  for (auto *h : {&handler, &flux_handler, &finer})
    h->agglomerate(Agglomeration::by_id<dim>(ids));
  handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(p));
  flux_handler.distribute_dofs(
    FESystem<dim>(FE_BoundingBoxLegendre<dim>(p), dim));
  finer.distribute_dofs(FE_BoundingBoxLegendre<dim>(p + 1));

  HDG<dim>                       hdg(handler, data);
  TrilinosWrappers::SparseMatrix matrix;
  TrilinosWrappers::MPI::Vector  rhs, trace;
  hdg.reinit(form, matrix, rhs);
  hdg.assemble(form, matrix, rhs);
  solve<dim>(matrix, trace, rhs);
  Vector<double> u, q, post;
  hdg.recover(form, trace, u, q);
  hdg.post_process(form, u, q, finer, post);
  const ScalarLambda<dim> exact_u(exact.u);
  const VectorLambda<dim> exact_q(exact.q);
  return {L2_error(handler, u, exact_u),
          L2_error(flux_handler, q, exact_q),
          L2_error(finer, post, exact_u),
          static_cast<unsigned int>(rhs.size())};
}

/// -div(a grad u) + div(b u) + c u = f for u of degree p, with constant a and
/// b.
template <int dim>
void
test_polynomials()
{
  for (const std::string mesh : {"box", "simplices", "distorted", "hanging"})
    {
      Triangulation<dim> triangulation;
      make_mesh(mesh, triangulation);
      for (const std::string agglomeration :
           {"none", "slabs", "steps", "scattered"})
        {
          if (dim == 3 && (mesh == "distorted" || agglomeration == "none"))
            continue;
          for (const unsigned int p : {1, 2, 3, 5, 7, 9})
            {
              if (dim == 3 && p > 3 && agglomeration != "steps")
                continue;
              if (dim == 3 && p > 5 - (mesh == "hanging" ? 3 : 0))
                continue;
              Tensor<2, dim> a;
              Tensor<1, dim> b, s;
              for (unsigned int d = 0; d < dim; ++d)
                {
                  a[d][d] = 1. + 0.5 * d;
                  b[d]    = 0.7 - 0.3 * d;
                  s[d]    = 0.5 - 0.8 * d;
                }
              a[0][1] = a[1][0] = 0.3;
              // u = (s.x)^p
              const double  c = 0.4;
              Solution<dim> exact;
              exact.u = [=](const Point<dim> &x) {
                return std::pow(s * x, 1. * p);
              };
              const auto first = [=](const Point<dim> &x) {
                return p * std::pow(s * x, p - 1.);
              };
              exact.q = [=](const Point<dim> &x) { return first(x) * (a * s); };
              Tessella::AdvectionDiffusionReaction<dim> form;
              form.set_diffusion(a);
              form.set_advection(b);
              form.set_reaction(c);
              form.set_source(
                std::make_shared<ScalarLambda<dim>>([=](const Point<dim> &x) {
                  const double second =
                    p > 1 ? p * (p - 1.) * std::pow(s * x, p - 2.) : 0.;
                  return -second * (s * (a * s)) + first(x) * (b * s) +
                         c * exact.u(x);
                }));
              Tessella::BoundaryCondition<dim> dirichlet, neumann;
              dirichlet.value = std::make_shared<ScalarLambda<dim>>(exact.u);
              neumann.type    = Tessella::BoundaryType::neumann;
              neumann.flux    = std::make_shared<VectorLambda<dim>>(exact.q);
              form.set_default_boundary_condition(dirichlet);
              if (mesh != "simplices")
                form.set_boundary_condition(1, neumann);
              typename Tessella::HDG<dim>::AdditionalData data;
              data.trace_space   = p % 2 == 0
                                     ? Tessella::TraceSpaceType::facet
                                     : Tessella::TraceSpaceType::interface;
              const auto compute = [&]() {
                return compute_errors<dim>(triangulation,
                                           make_strategy<dim>(agglomeration),
                                           p,
                                           form,
                                           exact,
                                           data);
              };
              const Errors      errors = compute();
              const std::string name =
                mesh + ", " + agglomeration + ", p = " + std::to_string(p);
              const double bound = p > 5 ? 1e-7 : 1e-9;
              check_below(name + ", u", errors.u, bound);
              check_below(name + ", q", errors.q, bound);
              if (p < 9)
                check_below(name + ", u*", errors.post, bound);
              // Upwinding uses the trace of u, whose degree is lower.
              if (p > 3)
                continue;
              form.set_advection(Tensor<1, dim>());
              form.set_source(
                std::make_shared<ScalarLambda<dim>>([=](const Point<dim> &x) {
                  const double second =
                    p > 1 ? p * (p - 1.) * std::pow(s * x, p - 2.) : 0.;
                  return -second * (s * (a * s)) + c * exact.u(x);
                }));
              data.trace_space     = Tessella::TraceSpaceType::facet;
              data.spaces          = Tessella::LocalSpaces::reduced_flux;
              const Errors reduced = compute();
              check_below(name + ", reduced flux, u", reduced.u, bound);
              check_below(name + ", reduced flux, q", reduced.q, bound);
            }
        }
    }
}

/// Meshes of 2^level cells in each direction: quadrilaterals (hexahedra), or
/// simplices.
template <int dim>
void
make_uniform(const unsigned int  n,
             const bool          simplices,
             Triangulation<dim> &triangulation)
{
  if (simplices)
    GridGenerator::subdivided_hyper_cube_with_simplices(triangulation, n);
  else
    GridGenerator::subdivided_hyper_cube(triangulation, n);
}

template <int dim>
void
test_rates()
{
  const double pi = numbers::PI;
  // variable a, smooth u
  const auto    a = [](const Point<dim> &x) { return 1. + 0.5 * x[0] * x[1]; };
  Solution<dim> exact;
  exact.u = [=](const Point<dim> &x) {
    return std::sin(pi * x[0]) * std::cos(2. * x[1]) + x[dim - 1];
  };
  const auto gradient = [=](const Point<dim> &x) {
    Tensor<1, dim> g;
    g[0] = pi * std::cos(pi * x[0]) * std::cos(2. * x[1]);
    g[1] = -2. * std::sin(pi * x[0]) * std::sin(2. * x[1]);
    g[dim - 1] += 1.;
    return g;
  };
  exact.q = [=](const Point<dim> &x) { return a(x) * gradient(x); };
  Tessella::AdvectionDiffusionReaction<dim> form;
  form.set_diffusion(std::make_shared<ScalarLambda<dim>>(a));
  form.set_reaction(1.);
  form.set_source(std::make_shared<ScalarLambda<dim>>([=](const Point<dim> &x) {
    Tensor<1, dim> da;
    da[0] = 0.5 * x[1];
    da[1] = 0.5 * x[0];
    const double laplacian =
      -(pi * pi + 4.) * std::sin(pi * x[0]) * std::cos(2. * x[1]);
    return -a(x) * laplacian - da * gradient(x) + exact.u(x);
  }));
  Tessella::BoundaryCondition<dim> dirichlet;
  dirichlet.value = std::make_shared<ScalarLambda<dim>>(exact.u);
  form.set_default_boundary_condition(dirichlet);
  form.set_coefficient_order(4);

  // polytopes: boxes of 2 x 2 (x 2) cells without a corner, which belongs to
  // the next polytope
  const auto staggered = [](const unsigned int n) {
    return [n](const Triangulation<dim> &triangulation) {
      std::vector<unsigned int> ids(triangulation.n_active_cells());
      for (const auto &cell : triangulation.active_cell_iterators())
        {
          unsigned int i[3] = {}, corner = 1;
          for (unsigned int d = 0; d < dim; ++d)
            {
              i[d] = static_cast<unsigned int>(cell->center()[d] * n);
              corner *= i[d] % 2;
            }
          if (corner == 1 && i[0] + 1 < n)
            ++i[0];
          unsigned int id = 0;
          for (unsigned int d = 0; d < dim; ++d)
            id = id * (n / 2) + i[d] / 2;
          ids[cell->active_cell_index()] = id;
        }
      return ids;
    };
  };
  for (const std::string shape : {"simplices", "boxes", "polytopes"})
    for (unsigned int p = 0; p <= (dim == 2 ? 3 : 1); ++p)
      {
        const unsigned int coarse = shape == "polytopes" ? (dim == 2 ? 16 : 8)
                                    : dim == 2           ? 8
                                    : shape == "boxes"   ? 6
                                                         : 3;
        Errors             errors[2], reduced[2];
        // one order more for u and q with the same traces, on any shape
        const bool reduce = dim == 2 && p > 0 && shape == "polytopes";
        for (unsigned int level = 0; level < 2; ++level)
          {
            Triangulation<dim> triangulation;
            const unsigned int n = coarse << level;
            make_uniform(n, shape == "simplices", triangulation);
            Tessella::Agglomeration::Strategy<dim> strategy =
              make_strategy<dim>("none");
            if (shape == "polytopes")
              strategy = staggered(n);
            errors[level] = compute_errors<dim>(
              triangulation,
              strategy,
              p,
              form,
              exact,
              typename Tessella::HDG<dim>::AdditionalData());
            if (reduce)
              {
                typename Tessella::HDG<dim>::AdditionalData data;
                data.trace_space = Tessella::TraceSpaceType::facet;
                data.spaces      = Tessella::LocalSpaces::reduced_flux;
                reduced[level]   = compute_errors<dim>(
                  triangulation, strategy, p + 1, form, exact, data);
              }
          }
        const std::string name = shape + ", p = " + std::to_string(p);
        check(name + ", order of u", rate(errors[0].u, errors[1].u) > p + 0.8);
        check(name + ", order of q",
              rate(errors[0].q, errors[1].q) >
                p + (shape == "simplices" ? 0.8 : 0.4));
        if (reduce)
          {
            check(name + ", reduced flux, order of u",
                  rate(reduced[0].u, reduced[1].u) > p + 1.85);
            check(name + ", reduced flux, order of q",
                  rate(reduced[0].q, reduced[1].q) > p + 0.85);
          }
        if (shape == "simplices" && p > 0)
          check(name + ", order of u*",
                rate(errors[0].post, errors[1].post) > p + 1.7);
      }
}

template <int dim>
void
test_matrix()
{
  using namespace Tessella;
  Reference::Problem<dim> problem = full_problem<dim>();
  problem.b                       = nullptr;
  problem.c                       = nullptr;
  Triangulation<dim> triangulation;
  make_mesh("hanging", triangulation);
  AgglomerationHandler<dim> handler(triangulation);
  handler.agglomerate(make_strategy<dim>("scattered"));
  handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(2));
  for (const auto type : {TraceSpaceType::interface, TraceSpaceType::facet})
    {
      const auto form = make_form(problem, Give::tensor_functions, 4);
      typename HDG<dim>::AdditionalData data;
      data.trace_space = type;
      HDG<dim>                       hdg(handler, data);
      TrilinosWrappers::SparseMatrix matrix;
      TrilinosWrappers::MPI::Vector  rhs;
      hdg.reinit(form, matrix, rhs);
      hdg.assemble(form, matrix, rhs);
      const unsigned int       n = rhs.size();
      LAPACKFullMatrix<double> K(n);
      for (unsigned int i = 0; i < n; ++i)
        for (auto entry = matrix.begin(i); entry != matrix.end(i); ++entry)
          K(i, entry->column()) = entry->value();
      bool symmetric = true;
      for (unsigned int i = 0; i < n; ++i)
        for (unsigned int j = 0; j < i; ++j)
          symmetric = symmetric && K(i, j) == K(j, i);
      check("symmetric to the last bit", symmetric);
      K.compute_eigenvalues();
      double smallest = 1e300, largest = 0.;
      for (unsigned int i = 0; i < n; ++i)
        {
          smallest = std::min(smallest, K.eigenvalue(i).real());
          largest  = std::max(largest, K.eigenvalue(i).real());
        }
      check("positive definite", smallest > 1e-6 * largest);
    }
}

/// Matrix, right-hand side, u and q for different numbers of threads.
template <int dim>
void
test_threads()
{
  using namespace Tessella;
  Reference::Problem<dim> problem = full_problem<dim>();
  Triangulation<dim>      triangulation;
  make_uniform(dim == 2 ? 24 : 6, true, triangulation);
  AgglomerationHandler<dim> handler(triangulation);
  handler.agglomerate(Agglomeration::rtree<dim>(2));
  handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(2));
  const auto          form = make_form(problem, Give::tensor_functions, 2);
  std::vector<double> first;
  for (const unsigned int n : {1, 2, 3})
    for (const bool keep : {true, false})
      {
        MultithreadInfo::set_thread_limit(n);
        typename HDG<dim>::AdditionalData data;
        data.local_solvers =
          keep ? LocalSolvers::keep : LocalSolvers::recompute;
        HDG<dim>                       hdg(handler, data);
        TrilinosWrappers::SparseMatrix matrix;
        TrilinosWrappers::MPI::Vector  rhs;
        hdg.reinit(form, matrix, rhs);
        hdg.assemble(form, matrix, rhs);
        // The trace is arbitrary.
        Vector<double> u, q;
        hdg.recover(form, rhs, u, q);
        std::vector<double> all;
        for (unsigned int i = 0; i < rhs.size(); ++i)
          {
            all.push_back(rhs(i));
            for (auto entry = matrix.begin(i); entry != matrix.end(i); ++entry)
              all.push_back(entry->value());
          }
        const unsigned int n_matrix = all.size();
        all.insert(all.end(), u.begin(), u.end());
        all.insert(all.end(), q.begin(), q.end());
        if (first.empty())
          first = all;
        const std::string name =
          std::to_string(n) + " threads" + (keep ? "" : ", recomputed");
        check(name + ", same matrix",
              std::equal(first.begin(), first.begin() + n_matrix, all.begin()));
        if (keep)
          check(name + ", same solution", first == all);
        else
          {
            double difference = 0., scale = 0.;
            for (unsigned int i = n_matrix; i < all.size(); ++i)
              {
                difference = std::max(difference, std::abs(all[i] - first[i]));
                scale      = std::max(scale, std::abs(first[i]));
              }
            check_below(name + ", recovery", difference, 1e-9 * scale);
          }
      }
  MultithreadInfo::set_thread_limit(n_threads());
}

template <int dim>
void
test_free_constant()
{
  using namespace Tessella;
  // u = x^2 y with Neumann data on all sides of [0, 1.5] x [0, 1]
  Solution<dim> exact;
  exact.u = [](const Point<dim> &x) { return x[0] * x[0] * x[1]; };
  exact.q = [](const Point<dim> &x) {
    Tensor<1, dim> q;
    q[0] = 2. * x[0] * x[1];
    q[1] = x[0] * x[0];
    return q;
  };
  AdvectionDiffusionReaction<dim> form;
  form.set_diffusion(1.);
  form.set_source(std::make_shared<ScalarLambda<dim>>(
    [](const Point<dim> &x) { return -2. * x[1]; }));
  BoundaryCondition<dim> neumann;
  neumann.type = BoundaryType::neumann;
  neumann.flux = std::make_shared<VectorLambda<dim>>(exact.q);
  form.set_default_boundary_condition(neumann);
  Triangulation<dim> triangulation;
  make_mesh("distorted", triangulation);
  AgglomerationHandler<dim> handler(triangulation);
  handler.agglomerate(make_strategy<dim>("steps"));
  handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(3));
  HDG<dim>                       hdg(handler);
  TrilinosWrappers::SparseMatrix matrix;
  TrilinosWrappers::MPI::Vector  rhs, trace;
  hdg.reinit(form, matrix, rhs);
  hdg.assemble(form, matrix, rhs);
  check("one free constant", hdg.report().n_free_constants == 1);
  solve<dim>(matrix, trace, rhs);
  Vector<double> u, q;
  hdg.recover(form, trace, u, q);
  // u up to a constant
  dealii::Vector<double> value;
  Point<dim>             x, y;
  for (unsigned int d = 0; d < dim; ++d)
    {
      x[d] = 0.31;
      y[d] = 0.82;
    }
  Tessella::VectorTools::point_value(handler, u, x, value);
  double jump = value(0);
  Tessella::VectorTools::point_value(handler, u, y, value);
  jump -= value(0);
  check_close("differences of u", jump, exact.u(x) - exact.u(y), 1e-10);
  // the mean of the trace on the first interface
  double      mean  = 0.;
  const auto &space = hdg.trace_space();
  {
    InterfaceQuadrature<dim> quadrature;
    quadrature.reinit(handler, 0, 0, 8);
    std::vector<double> psi(space.n_functions[0] * quadrature.size()), scratch;
    const double       *points[dim];
    for (unsigned int d = 0; d < dim; ++d)
      points[d] = quadrature.x[d].data();
    space.evaluate(
      0, points, quadrature.size(), psi.data(), quadrature.size(), scratch);
    const std::vector<double> lambda = hdg.trace_coefficients(trace, 0);
    for (unsigned int m = 0; m < lambda.size(); ++m)
      for (unsigned int i = 0; i < quadrature.size(); ++i)
        mean += quadrature.JxW[i] * lambda[m] * psi[m * quadrature.size() + i];
  }
  check_close("mean of the trace", mean, 0., 1e-10);

  form.set_source(1.);
  check_throws<ExceptionBase>(
    "data that do not balance",
    [&] { hdg.assemble(form, matrix, rhs); },
    "has no solution");
}

void
test_errors()
{
  using namespace Tessella;
  Triangulation<2> triangulation;
  make_mesh("box", triangulation);
  AgglomerationHandler<2> handler(triangulation);
  handler.agglomerate(make_strategy<2>("slabs"));
  check_throws<ExceptionBase>(
    "no degrees of freedom", [&] { HDG<2> hdg(handler); }, "distribute_dofs()");
  handler.distribute_dofs(FESystem<2>(FE_BoundingBoxLegendre<2>(1), 2));
  check_throws<ExceptionBase>(
    "two components", [&] { HDG<2> hdg(handler); }, "scalar");
  handler.distribute_dofs(FE_BoundingBoxLegendre<2>(1));

  TrilinosWrappers::SparseMatrix matrix;
  TrilinosWrappers::MPI::Vector  rhs;
  const auto run = [&](const AdvectionDiffusionReaction<2> &form,
                       const HDG<2>::AdditionalData        &data = {}) {
    HDG<2> hdg(handler, data);
    hdg.reinit(form, matrix, rhs);
    hdg.assemble(form, matrix, rhs);
  };
  AdvectionDiffusionReaction<2> form;
  check_throws<ExceptionBase>(
    "no diffusion",
    [&] { run(form); },
    "diffusion coefficient is not positive");
  form.set_diffusion(Tensor<2, 2>({{1., 1.}, {1., 1.}}));
  check_throws<ExceptionBase>(
    "degenerate tensor", [&] { run(form); }, "positive definite at the point");
  form.set_diffusion(1.);
  HDG<2>::AdditionalData data;
  data.tau = 0.;
  check_throws<ExceptionBase>(
    "tau = 0", [&] { run(form, data); }, "Give a positive tau");
  form.set_reaction(1.);
  run(form, data);
  check("tau = 0 with reaction", true);
  data.tau = -1.;
  check_throws<ExceptionBase>(
    "negative tau", [&] { run(form, data); }, "not negative");
  form.set_reaction(0.);

  BoundaryCondition<2> neumann;
  neumann.type = BoundaryType::neumann;
  form.set_boundary_condition(0, neumann);
  Tensor<1, 2> b;
  b[0] = 1.;
  form.set_advection(b);
  check_throws<ExcInflowOnNeumann>("inflow at a Neumann boundary",
                                   [&] { run(form); });
  form.set_advection(Tensor<1, 2>());
  form.set_boundary_condition(0, BoundaryCondition<2>());
  form.set_source(std::make_shared<ScalarLambda<2>>(
    [](const Point<2> &) { return std::nan(""); }));
  check_throws<ExcCoefficientNotFinite>("source", [&] { run(form); });
  form.set_source(1.);

  HDG<2>         hdg(handler);
  Vector<double> u, q;
  check_throws<ExceptionBase>(
    "assemble() before reinit()",
    [&] { hdg.assemble(form, matrix, rhs); },
    "reinit()");
  hdg.reinit(form, matrix, rhs);
  check_throws<ExceptionBase>(
    "recover() before assemble()",
    [&] { hdg.recover(form, rhs, u, q); },
    "assemble()");
  form.set_boundary_condition(0, neumann);
  check_throws<ExceptionBase>(
    "other Dirichlet boundaries",
    [&] { hdg.assemble(form, matrix, rhs); },
    "set of Dirichlet boundaries");
  form.set_boundary_condition(0, BoundaryCondition<2>());
  hdg.assemble(form, matrix, rhs);
  hdg.recover(form, rhs, u, q);
  AgglomerationHandler<2> other(triangulation);
  other.agglomerate(make_strategy<2>("none"));
  other.distribute_dofs(FE_BoundingBoxLegendre<2>(2));
  Vector<double> post;
  check_throws<ExceptionBase>(
    "post-processing on other polytopes",
    [&] { hdg.post_process(form, u, q, other, post); },
    "same polytopes");

  HDG<2>::AdditionalData reduced;
  reduced.spaces = LocalSpaces::reduced_flux;
  check_throws<ExceptionBase>(
    "reduced flux with traces on interfaces",
    [&] { HDG<2> hdg(handler, reduced); },
    "needs TraceSpaceType::facet");
  reduced.trace_space = TraceSpaceType::facet;
  handler.distribute_dofs(FE_BoundingBoxLegendre<2>(0));
  {
    HDG<2> constant(handler, reduced);
    check_throws<ExceptionBase>(
      "reduced flux of degree 0",
      [&] { constant.reinit(form, matrix, rhs); },
      "needs degree 1 or more");
  }

  // A single polytope with Dirichlet conditions has no traces.
  handler.agglomerate(make_strategy<2>("one"));
  handler.distribute_dofs(FE_BoundingBoxLegendre<2>(2));
  HDG<2> alone(handler);
  alone.reinit(form, matrix, rhs);
  alone.assemble(form, matrix, rhs);
  alone.recover(form, rhs, u, q);
  check("one polytope", rhs.size() == 0 && u.size() == 6 && u.l2_norm() > 0.);
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  deallog << "polynomials" << std::endl;
  test_polynomials<2>();
  test_polynomials<3>();
  deallog << "orders" << std::endl;
  test_rates<2>();
  // Assertions do not change orders, and take longest in 3-D.
#ifndef DEBUG
  test_rates<3>();
#endif
  deallog << "matrix" << std::endl;
  test_matrix<2>();
  test_matrix<3>();
  test_threads<2>();
  test_threads<3>();
  deallog << "free constants" << std::endl;
  test_free_constant<2>();
  deallog << "errors" << std::endl;
  test_errors();
}
