// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_space_time_problems_h
#define tessella_tests_space_time_problems_h

// Meshes, exact solutions and a solver for tests of space-time slabs.

#include <deal.II/base/function.h>
#include <deal.II/base/tensor.h>

#include <deal.II/fe/mapping_q.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/grid_tools.h>
#include <deal.II/grid/tria.h>
#include <deal.II/hp/fe_collection.h>
#include <deal.II/lac/solver_control.h>
#include <deal.II/lac/trilinos_solver.h>

#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/numerics/vector_tools.h>
#include <tessella/space_time/space_time_errors.h>
#include <tessella/space_time/space_time_form.h>
#include <tessella/space_time/space_time_slab.h>
#include <tessella/space_time/space_time_stepping.h>

#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "../meshes.h"
#include "../tests.h"

using namespace dealii;
using Tessella::PolynomialSpaceType;

/// Function of dim + 1 = D variables.
template <int D>
class SpaceTimeFunction : public Function<D>
{
public:
  SpaceTimeFunction(
    const std::function<double(const Point<D> &, const unsigned int)> &f,
    const unsigned int n_components = 1)
    : Function<D>(n_components)
    , f(f)
  {}

  double
  value(const Point<D> &p, const unsigned int component = 0) const override
  {
    return f(p, component);
  }

private:
  const std::function<double(const Point<D> &, const unsigned int)> f;
};

template <int D>
std::shared_ptr<const Function<D>>
make(const std::function<double(const Point<D> &)> &f)
{
  return std::make_shared<SpaceTimeFunction<D>>(
    [f](const Point<D> &p, const unsigned int) { return f(p); });
}

/// The same function at a fixed time. Its gradient in space is the function
/// @p gradient_of_u, or a difference quotient that is exact for polynomials of
/// degree 4.
template <int dim>
class AtTime : public Function<dim>
{
public:
  using Value    = std::function<double(const Point<dim + 1> &)>;
  using Gradient = std::function<Tensor<1, dim>(const Point<dim + 1> &)>;

  explicit AtTime(const Value &u, const Gradient &gradient_of_u = {})
    : u(u)
    , gradient_of_u(gradient_of_u)
  {}

  double
  value(const Point<dim> &p, const unsigned int = 0) const override
  {
    return u(with_time(p));
  }

  Tensor<1, dim>
  gradient(const Point<dim> &p, const unsigned int = 0) const override
  {
    if (gradient_of_u)
      return gradient_of_u(with_time(p));
    Tensor<1, dim> result;
    const double   h = 1e-2;
    for (unsigned int d = 0; d < dim; ++d)
      {
        const auto at = [&](const double s) {
          Point<dim> q = p;
          q[d] += s * h;
          return value(q);
        };
        result[d] = (8. * (at(1.) - at(-1.)) - (at(2.) - at(-2.))) / (12. * h);
      }
    return result;
  }

private:
  Point<dim + 1>
  with_time(const Point<dim> &p) const
  {
    Point<dim + 1> x;
    for (unsigned int d = 0; d < dim; ++d)
      x[d] = p[d];
    x[dim] = this->get_time();
    return x;
  }

  const Value    u;
  const Gradient gradient_of_u;
};

template <int dim>
void
make_mesh(const std::string &name, Triangulation<dim> &triangulation)
{
  std::vector<unsigned int> repetitions(dim, 2);
  repetitions[0] = 3;
  Point<dim> upper;
  for (unsigned int d = 0; d < dim; ++d)
    upper[d] = d == 0 ? 1.5 : 1.;
  if (name == "simplices")
    GridGenerator::subdivided_hyper_rectangle_with_simplices(
      triangulation, repetitions, Point<dim>(), upper, false);
  else if (name == "wedge" || name == "pyramid")
    {
      if constexpr (dim == 3)
        GridGenerator::reference_cell(triangulation,
                                      name == "wedge"
                                        ? ReferenceCells::Wedge
                                        : ReferenceCells::Pyramid);
    }
  else if (name == "curved")
    GridGenerator::hyper_shell(triangulation, Point<dim>(), 0.5, 1., 6);
  else
    GridGenerator::subdivided_hyper_rectangle(
      triangulation, repetitions, Point<dim>(), upper, true);
  if (name == "hanging")
    {
      for (const auto &cell : triangulation.active_cell_iterators())
        if (cell->center()[0] < 0.5)
          cell->set_refine_flag();
      triangulation.execute_coarsening_and_refinement();
    }
  if (name == "distorted")
    GridTools::distort_random(0.12, triangulation, true, 7);
  if (name == "periodic")
    {
      std::vector<unsigned int> directions(dim);
      std::iota(directions.begin(), directions.end(), 0u);
      add_periodic_faces(triangulation, directions);
    }
}

/// Polytope index is the cell index modulo n, so that polytopes are not
/// connected. 0: one polytope per cell.
template <int dim>
Tessella::Agglomeration::Strategy<dim>
scattered(const unsigned int n)
{
  return [n](const Triangulation<dim> &triangulation) {
    std::vector<unsigned int> ids(triangulation.n_active_cells());
    for (unsigned int c = 0; c < ids.size(); ++c)
      ids[c] = n == 0 ? c : c % n;
    return ids;
  };
}

/// Polytopes are blocks of 2^dim cells of a mesh of the unit cube with n^dim
/// cells.
template <int dim>
Tessella::Agglomeration::Strategy<dim>
blocks(const unsigned int n)
{
  return [n](const Triangulation<dim> &triangulation) {
    std::vector<unsigned int> ids(triangulation.n_active_cells());
    for (const auto &cell : triangulation.active_cell_iterators())
      for (unsigned int d = 0, stride = 1; d < dim; ++d, stride *= n / 2)
        ids[cell->active_cell_index()] +=
          stride * static_cast<unsigned int>(cell->center()[d] * n / 2);
    return ids;
  };
}

/// 1, 2, 3 intervals in turn.
inline std::vector<unsigned int>
mixed_intervals(const unsigned int n_polytopes)
{
  std::vector<unsigned int> intervals(n_polytopes);
  for (unsigned int k = 0; k < n_polytopes; ++k)
    intervals[k] = 1 + (2 * k + 1) % 3;
  return intervals;
}

inline void
solve_directly(const TrilinosWrappers::SparseMatrix &matrix,
               TrilinosWrappers::MPI::Vector        &solution,
               const TrilinosWrappers::MPI::Vector  &rhs,
               const bool)
{
  SolverControl                  control(1, 0., false, false);
  TrilinosWrappers::SolverDirect solver(control);
  solver.solve(const_cast<TrilinosWrappers::SparseMatrix &>(matrix),
               solution,
               rhs);
}

/// Time stepping on the host.
template <int dim>
class HostStepping : public Tessella::SpaceTimeStepping<dim>
{
public:
  using Base = Tessella::SpaceTimeStepping<dim>;

  HostStepping(const Tessella::AgglomerationHandler<dim> &handler,
               Tessella::SpaceTimeForm<dim>              &form,
               const PolynomialSpaceType                  space,
               const typename Base::Solver &solve = solve_directly)
    : Base(handler, form, solve, on_host(space))
    , handler(handler)
  {}

  /// Begins with the projection of a function, on one process.
  void
  start(const double time, AtTime<dim> &exact)
  {
    Vector<double> value(handler.n_dofs());
    exact.set_time(time);
    Tessella::VectorTools::project(handler, exact, value);
    this->initialize(time, value);
  }

private:
  static typename Base::AdditionalData
  on_host(const PolynomialSpaceType space)
  {
    typename Base::AdditionalData data;
    data.space             = space;
    data.assembler.backend = Tessella::Backend::host;
    return data;
  }

  const Tessella::AgglomerationHandler<dim> &handler;
};

/// Degree p, or degrees 1 and 2 in turn for p = 0.
template <int dim>
void
distribute_degree(Tessella::AgglomerationHandler<dim> &handler,
                  const unsigned int                   p)
{
  hp::FECollection<dim> elements;
  elements.push_back(Tessella::FE_BoundingBoxLegendre<dim>(p == 0 ? 1 : p));
  elements.push_back(Tessella::FE_BoundingBoxLegendre<dim>(p == 0 ? 2 : p));
  std::vector<unsigned int> indices(handler.n_polytopes());
  for (unsigned int k = 0; k < indices.size(); ++k)
    indices[k] = k % 2;
  handler.distribute_dofs(elements, indices);
}

/// Problem with tensor-valued diffusion, advection and reaction that vary in
/// space and time. Its solution is s^p (1 + t)^p, or (s + 0.7 t)^p if @p
/// total_degree, with s = 1 + x - y/2 + z/4.
template <int dim>
struct PolynomialProblem
{
  static constexpr int D = dim + 1;

  PolynomialProblem(const unsigned int p, const bool total_degree)
    : p(p)
    , total_degree(total_degree)
  {}

  static double
  slope(const unsigned int d)
  {
    return d == 0 ? 1. : d == 1 ? -0.5 : 0.25;
  }

  // Derivative d/dt^k d/ds^m of the solution.
  double
  derivative(const Point<D>    &x,
             const unsigned int m,
             const unsigned int k) const
  {
    const auto power = [this](const double base, const unsigned int order) {
      double value = 1.;
      for (unsigned int i = 0; i < order; ++i)
        value *= static_cast<double>(p) - i;
      return order > p ? 0. : value * std::pow(base, int(p - order));
    };
    double s = 1.;
    for (unsigned int d = 0; d < dim; ++d)
      s += slope(d) * x[d];
    return total_degree ? power(s + 0.7 * x[dim], m + k) * std::pow(0.7, int(k))
                        : power(s, m) * power(1. + x[dim], k);
  }

  double
  u(const Point<D> &x) const
  {
    return derivative(x, 0, 0);
  }

  // The divergence of the rows is zero.
  static double
  a(const Point<D> &x, const unsigned int c)
  {
    const unsigned int d = c / dim;
    return d != c % dim ? 0.2 : d == 0 ? 1. + 0.5 * x[dim] : 1. + x[d - 1] / d;
  }

  static double
  w(const Point<D> &x, const unsigned int c)
  {
    return c == 0 ? 1. + x[dim] : 0.5 / c - x[c - 1] * x[dim];
  }

  static double
  c(const Point<D> &x)
  {
    return 1. + x[0] * x[dim];
  }

  double
  f(const Point<D> &x) const
  {
    double second = 0., first = 0.;
    for (unsigned int d = 0; d < dim; ++d)
      {
        first += w(x, d) * slope(d);
        for (unsigned int e = 0; e < dim; ++e)
          second += a(x, dim * d + e) * slope(d) * slope(e);
      }
    return derivative(x, 0, 1) - second * derivative(x, 2, 0) +
           first * derivative(x, 1, 0) + c(x) * u(x);
  }

  // Component d of a grad u.
  double
  flux(const Point<D> &x, const unsigned int d) const
  {
    double sum = 0.;
    for (unsigned int e = 0; e < dim; ++e)
      sum += a(x, dim * d + e) * slope(e);
    return sum * derivative(x, 1, 0);
  }

  void
  set(Tessella::SpaceTimeForm<dim> &form, const bool neumann) const
  {
    const PolynomialProblem problem = *this;
    form.set_diffusion_tensor(
      std::make_shared<SpaceTimeFunction<D>>(a, dim * dim));
    form.set_advection(std::shared_ptr<const Function<D>>(
      std::make_shared<SpaceTimeFunction<D>>(w, dim)));
    form.set_reaction(make<D>(c));
    form.set_source(
      make<D>([problem](const Point<D> &x) { return problem.f(x); }));
    Tessella::BoundaryCondition<D> condition;
    condition.value =
      make<D>([problem](const Point<D> &x) { return problem.u(x); });
    form.set_default_boundary_condition(condition);
    if (neumann)
      {
        condition.type  = Tessella::BoundaryType::neumann;
        condition.value = nullptr;
        condition.flux  = std::make_shared<SpaceTimeFunction<D>>(
          [problem](const Point<D> &x, const unsigned int d) {
            return problem.flux(x, d);
          },
          dim);
        form.set_boundary_condition(1, condition);
      }
    form.set_coefficient_order(2);
  }

  unsigned int p;
  bool         total_degree;
};

#endif
