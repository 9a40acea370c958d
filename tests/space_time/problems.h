// SPDX-License-Identifier: LGPL-2.1-or-later
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
#include <tessella/numerics/space_time_errors.h>
#include <tessella/numerics/vector_tools.h>
#include <tessella/space_time/space_time_form.h>
#include <tessella/space_time/space_time_slab.h>
#include <tessella/space_time/space_time_stepping.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "../tests.h"

using namespace dealii;
using Tessella::PolynomialSpaceType;

/// A function of x, y and t.
class SpaceTimeFunction : public Function<3>
{
public:
  SpaceTimeFunction(
    const std::function<double(const Point<3> &, const unsigned int)> &f,
    const unsigned int n_components = 1)
    : Function<3>(n_components)
    , f(f)
  {}

  double
  value(const Point<3> &p, const unsigned int component = 0) const override
  {
    return f(p, component);
  }

private:
  const std::function<double(const Point<3> &, const unsigned int)> f;
};

inline std::shared_ptr<const Function<3>>
make(const std::function<double(const Point<3> &)> &f)
{
  return std::make_shared<SpaceTimeFunction>(
    [f](const Point<3> &p, const unsigned int) { return f(p); });
}

/// The same at a time, with its gradient by a difference quotient that is exact
/// for polynomials of degree 4.
class AtTime : public Function<2>
{
public:
  explicit AtTime(const std::function<double(const Point<3> &)> &u)
    : u(u)
  {}

  double
  value(const Point<2> &p, const unsigned int = 0) const override
  {
    return u(Point<3>(p[0], p[1], get_time()));
  }

  Tensor<1, 2>
  gradient(const Point<2> &p, const unsigned int = 0) const override
  {
    Tensor<1, 2> result;
    const double h = 1e-2;
    for (unsigned int d = 0; d < 2; ++d)
      {
        const auto at = [&](const double s) {
          Point<2> q = p;
          q[d] += s * h;
          return value(q);
        };
        result[d] = (8. * (at(1.) - at(-1.)) - (at(2.) - at(-2.))) / (12. * h);
      }
    return result;
  }

private:
  const std::function<double(const Point<3> &)> u;
};

inline void
make_mesh(const std::string &name, Triangulation<2> &triangulation)
{
  const std::vector<unsigned int> repetitions = {3, 2};
  const Point<2>                  upper(1.5, 1.);
  if (name == "simplices")
    GridGenerator::subdivided_hyper_rectangle_with_simplices(
      triangulation, repetitions, Point<2>(), upper, false);
  else if (name == "curved")
    GridGenerator::hyper_shell(triangulation, Point<2>(), 0.5, 1., 6);
  else
    GridGenerator::subdivided_hyper_rectangle(
      triangulation, repetitions, Point<2>(), upper, true);
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
      std::vector<GridTools::PeriodicFacePair<Triangulation<2>::cell_iterator>>
        pairs;
      GridTools::collect_periodic_faces(triangulation, 0, 1, 0, pairs);
      GridTools::collect_periodic_faces(triangulation, 2, 3, 1, pairs);
      triangulation.add_periodicity(pairs);
    }
}

/// Cell number modulo n: polytopes that are not connected. 0: every cell.
inline Tessella::Agglomeration::Strategy<2>
scattered(const unsigned int n)
{
  return [n](const Triangulation<2> &triangulation) {
    std::vector<unsigned int> ids(triangulation.n_active_cells());
    for (unsigned int c = 0; c < ids.size(); ++c)
      ids[c] = n == 0 ? c : c % n;
    return ids;
  };
}

/// Squares of 2 x 2 cells of a mesh of the unit square with n x n cells.
inline Tessella::Agglomeration::Strategy<2>
squares(const unsigned int n)
{
  return [n](const Triangulation<2> &triangulation) {
    std::vector<unsigned int> ids(triangulation.n_active_cells());
    for (const auto &cell : triangulation.active_cell_iterators())
      ids[cell->active_cell_index()] =
        static_cast<unsigned int>(cell->center()[0] * n / 2) +
        n / 2 * static_cast<unsigned int>(cell->center()[1] * n / 2);
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

/// A problem with tensor-valued diffusion, advection and reaction that vary in
/// space and time, whose solution is (1 + x - y/2)^p (1 + t)^p, or (1 + x - y/2
/// + 0.7 t)^p if @p total_degree.
struct PolynomialProblem
{
  PolynomialProblem(const unsigned int p, const bool total_degree)
    : p(p)
    , total_degree(total_degree)
  {}

  // d/dt^k d/ds^m of the solution, s = 1 + x - y/2.
  double
  derivative(const Point<3>    &x,
             const unsigned int m,
             const unsigned int k) const
  {
    const auto power = [this](const double base, const unsigned int order) {
      double value = 1.;
      for (unsigned int i = 0; i < order; ++i)
        value *= static_cast<double>(p) - i;
      return order > p ? 0. : value * std::pow(base, int(p - order));
    };
    const double s = 1. + x[0] - 0.5 * x[1];
    return total_degree ? power(s + 0.7 * x[2], m + k) * std::pow(0.7, int(k))
                        : power(s, m) * power(1. + x[2], k);
  }

  double
  u(const Point<3> &x) const
  {
    return derivative(x, 0, 0);
  }

  static double
  a(const Point<3> &x, const unsigned int c)
  {
    return c == 0 ? 1. + 0.5 * x[2] : c == 3 ? 1. + x[0] : 0.2;
  }

  static double
  w(const Point<3> &x, const unsigned int c)
  {
    return c == 0 ? 1. + x[2] : 0.5 - x[0] * x[2];
  }

  static double
  c(const Point<3> &x)
  {
    return 1. + x[0] * x[2];
  }

  double
  f(const Point<3> &x) const
  {
    // (the divergence of the rows of a is zero)
    const double g[2]   = {1., -0.5};
    double       second = 0., first = 0.;
    for (unsigned int d = 0; d < 2; ++d)
      {
        first += w(x, d) * g[d];
        for (unsigned int e = 0; e < 2; ++e)
          second += a(x, 2 * d + e) * g[d] * g[e];
      }
    return derivative(x, 0, 1) - second * derivative(x, 2, 0) +
           first * derivative(x, 1, 0) + c(x) * u(x);
  }

  // a grad u
  double
  flux(const Point<3> &x, const unsigned int d) const
  {
    return (a(x, 2 * d) - 0.5 * a(x, 2 * d + 1)) * derivative(x, 1, 0);
  }

  void
  set(Tessella::SpaceTimeForm<2> &form, const bool neumann) const
  {
    const PolynomialProblem problem = *this;
    form.set_diffusion_tensor(std::make_shared<SpaceTimeFunction>(a, 4));
    form.set_advection(std::shared_ptr<const Function<3>>(
      std::make_shared<SpaceTimeFunction>(w, 2)));
    form.set_reaction(make(c));
    form.set_source(
      make([problem](const Point<3> &x) { return problem.f(x); }));
    Tessella::BoundaryCondition<3> condition;
    condition.value =
      make([problem](const Point<3> &x) { return problem.u(x); });
    form.set_default_boundary_condition(condition);
    if (neumann)
      {
        condition.type  = Tessella::BoundaryType::neumann;
        condition.value = nullptr;
        condition.flux  = std::make_shared<SpaceTimeFunction>(
          [problem](const Point<3> &x, const unsigned int d) {
            return problem.flux(x, d);
          },
          2);
        form.set_boundary_condition(1, condition);
      }
    form.set_coefficient_order(2);
  }

  unsigned int p;
  bool         total_degree;
};

#endif
