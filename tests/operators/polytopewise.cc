// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// PolytopewiseOperator and its limiters: geometry of the stencils against loops
// over quadrature points, mean values and bounds of limited functions, linear
// functions, the same bits for any number of threads, errors.

#include <deal.II/base/function_parser.h>
#include <deal.II/base/multithread_info.h>

#include <deal.II/fe/fe_system.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/grid_tools.h>
#include <deal.II/lac/vector.h>

#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/forms/limiters.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/numerics/vector_tools.h>
#include <tessella/operators/polytopewise_operator.h>
#include <tessella/values/polytope_values.h>

#include <algorithm>

#include "../tests.h"

namespace
{
  using namespace dealii;
  using Tessella::PolytopeStencil;
  using Tessella::PolytopewiseOperator;
  using Handler2 = Tessella::AgglomerationHandler<2>;

  /// Distorted hypercubes in polytopes of several cells, with two components.
  template <int dim>
  struct Case
  {
    Case(const unsigned int                  degree,
         const bool                          periodic = false,
         const bool                          hp       = false,
         const Tessella::PolynomialSpaceType space =
           Tessella::PolynomialSpaceType::total_degree)
      : handler(make_mesh(triangulation, periodic))
    {
      handler.agglomerate(
        Tessella::Agglomeration::rtree_parts<dim>(dim == 2 ? 23 : 17));
      hp::FECollection<dim>     elements;
      std::vector<unsigned int> index;
      for (unsigned int p = degree - (hp ? 1 : 0); p <= degree; ++p)
        elements.push_back(
          FESystem<dim, dim>(Tessella::FE_BoundingBoxLegendre<dim>(p, space),
                             2));
      for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
        index.push_back(hp ? k % 2 : 0);
      handler.distribute_dofs(elements, index);
    }

    static const Triangulation<dim> &
    make_mesh(Triangulation<dim> &triangulation, const bool periodic)
    {
      GridGenerator::subdivided_hyper_cube(
        triangulation, dim == 2 ? 12 : 5, 0., 1., true);
      GridTools::distort_random(0.2, triangulation, true, 7);
      if (periodic)
        {
          std::vector<GridTools::PeriodicFacePair<
            typename Triangulation<dim>::cell_iterator>>
            pairs;
          GridTools::collect_periodic_faces(triangulation, 0, 1, 0, pairs);
          triangulation.add_periodicity(pairs);
        }
      return triangulation;
    }

    Vector<double>
    project(const std::string &first, const std::string &second) const
    {
      FunctionParser<dim> function(first + ";" + second);
      Vector<double>      u(handler.n_dofs());
      Tessella::VectorTools::project(handler, function, u);
      return u;
    }

    Triangulation<dim>                  triangulation;
    Tessella::AgglomerationHandler<dim> handler;
  };

  double
  largest(const std::vector<double> &values)
  {
    return *std::max_element(values.begin(), values.end());
  }
  double
  smallest(const std::vector<double> &values)
  {
    return *std::min_element(values.begin(), values.end());
  }

  double
  difference(const std::vector<double> &a, const std::vector<double> &b)
  {
    double result = a.size() == b.size() ? 0. : 1e300;
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
      result = std::max(result, std::abs(a[i] - b[i]));
    return result;
  }

  /// Means, centroid and linear part of all polytopes by loops over quadrature
  /// points, which the functor compares with its stencil.
  template <int dim>
  struct Reference
  {
    explicit Reference(const Case<dim> &c, const Vector<double> &u)
    {
      Tessella::PolytopeValues<dim> values(c.handler, 2, update_values);
      std::vector<double>           v;
      for (const auto &polytope : c.handler.polytope_iterators())
        {
          values.reinit(polytope);
          Tensor<1, dim> moment;
          double         volume = 0.;
          for (const unsigned int q : values.quadrature_point_indices())
            {
              volume += values.JxW(q);
              moment +=
                values.JxW(q) * Tensor<1, dim>(values.quadrature_point(q));
            }
          const Tensor<1, dim> x = moment / volume;
          Tensor<2, dim>       covariance;
          for (const unsigned int q : values.quadrature_point_indices())
            {
              const Tensor<1, dim> r =
                Tensor<1, dim>(values.quadrature_point(q)) - x;
              covariance += values.JxW(q) * outer_product(r, r);
            }
          const auto coefficients = values.local_coefficients(u);
          for (unsigned int component = 0; component < 2; ++component)
            {
              values.component_values(coefficients, component, v);
              Tensor<1, dim> rhs;
              double         sum = 0.;
              for (const unsigned int q : values.quadrature_point_indices())
                {
                  sum += values.JxW(q) * v[q];
                  rhs += values.JxW(q) * v[q] *
                         (Tensor<1, dim>(values.quadrature_point(q)) - x);
                }
              mean.push_back(sum / volume);
              slope.push_back(invert(covariance) * rhs);
            }
          centroid.push_back(Point<dim>(x));
        }
    }

    std::vector<double>         mean;
    std::vector<Tensor<1, dim>> slope;
    std::vector<Point<dim>>     centroid;
  };

  /// Differences between a stencil and the reference.
  template <int dim>
  struct Compare
  {
    const Reference<dim> *reference;
    const Case<dim>      *c;
    bool                  periodic;

    double
    operator()(const PolytopeStencil<dim> &s, double *) const
    {
      double     error = 0.;
      const auto close = [&](const double a, const double b) {
        error = std::max(error, std::abs(a - b));
      };
      const unsigned int k    = s.polytope;
      const auto        &mesh = c->handler.polytopic_mesh();
      for (int d = 0; d < dim; ++d)
        close(s.centroid[d], reference->centroid[k][d]);
      for (unsigned int component = 0; component < 2; ++component)
        {
          close(s.mean(component), reference->mean[2 * k + component]);
          double g[dim];
          s.slope(component, g);
          for (int d = 0; d < dim; ++d)
            close(g[d], reference->slope[2 * k + component][d]);
        }
      double surface = 0.;
      for (unsigned int j = 0; j < s.n_interfaces; ++j)
        {
          const auto &i = s.interfaces[j];
          surface += i.measure;
          if (s.at_boundary(j))
            {
              // The boundary ids of the cube are 2 d + side.
              close(i.centroid[i.boundary_id / 2], i.boundary_id % 2);
              continue;
            }
          close(i.neighbor_measure, mesh.measure[i.neighbor]);
          close(s.neighbor_mean(j, 1), reference->mean[2 * i.neighbor + 1]);
          for (int d = 0; d < dim; ++d)
            {
              const double shift =
                i.neighbor_centroid[d] - reference->centroid[i.neighbor][d];
              // In x the shift is a multiple of the period, and neighbours
              // touch the own bounding box.
              close(shift, periodic && d == 0 ? std::round(shift) : 0.);
              const auto box = c->handler.bounding_box(i.neighbor);
              close(std::max(0., box.lower_bound(d) + shift - s.box[dim + d]),
                    0.);
              close(std::max(0., s.box[d] - box.upper_bound(d) - shift), 0.);
            }
        }
      close(s.surface, surface);
      return error;
    }
  };

  template <int dim>
  void
  test_stencil(const std::string &name, const Case<dim> &c, const bool periodic)
  {
    const Vector<double>      u = c.project("x^2 - x*y + y", "1 + 2*x - 3*y");
    PolytopewiseOperator<dim> op(c.handler);
    const Reference<dim>      reference(c, u);
    check_below(name + "stencil",
                largest(op.evaluate(Compare<dim>{&reference, &c, periodic}, u)),
                1e-11);
    check_below(name + "mean values",
                difference(op.mean_values(u), reference.mean),
                1e-12);
    check_close(name + "integral", op.integrals(u)[1], 0.5, 1e-12);
  }

  /// A step, an oscillation, and a linear function.
  template <int dim>
  void
  test_limiters(const std::string &name, const Case<dim> &c)
  {
    PolytopewiseOperator<dim> op(c.handler);
    const Vector<double>      step =
      c.project("if(x + 0.3*y < 0.6, 1, 0)", "3 + sin(20*x)*cos(9*y)");
    const std::vector<double> means = op.mean_values(step);

    // ---- bounds
    Tessella::BoundLimiter bounds;
    bounds.upper                    = 1.;
    Vector<double>            u     = step;
    const std::vector<double> theta = op.apply(bounds, u);
    check(name + "bounds are active", smallest(theta) < 0.9);
    check_below(name + "bounds keep means",
                difference(op.mean_values(u), means),
                1e-13);
    Tessella::PolytopeValues<dim> values(c.handler, 2, update_values);
    double                        excess = 0., other = 0.;
    std::vector<double>           v;
    for (const auto &polytope : c.handler.polytope_iterators())
      {
        values.reinit(polytope);
        const auto coefficients = values.local_coefficients(u);
        values.component_values(coefficients, 0, v);
        for (const double w : v)
          excess = std::max({excess, -w, w - 1.});
        const auto before = values.local_coefficients(step);
        for (unsigned int i = coefficients.size() / 2; i < before.size(); ++i)
          other = std::max(other, std::abs(before[i] - coefficients[i]));
      }
    check_below(name + "values in bounds", excess, 1e-14);
    check(name + "other component as it was", other == 0.);
    u                     = step;
    bounds.all_components = true;
    op.apply(bounds, u);
    check_below(name + "all components: means",
                difference(op.mean_values(u), means),
                1e-13);
    bounds.component = 1;
    check(name + "a mean outside", smallest(op.apply(bounds, u)) == -1.);

    // ---- slopes
    const Tessella::SlopeLimiter slopes;
    u                               = step;
    const std::vector<double> alpha = op.apply(slopes, u);
    check(name + "slopes are limited", smallest(alpha) < 0.9);
    check_below(name + "slopes keep means",
                difference(op.mean_values(u), means),
                1e-13);
    check_below(name + "slopes between means",
                largest(op.evaluate(
                  [](const PolytopeStencil<dim> &s, double *) {
                    double error = 0.;
                    for (unsigned int component = 0; component < s.n_components;
                         ++component)
                      {
                        double low, high, g[dim];
                        low = high = s.mean(component);
                        for (unsigned int j = 0; j < s.n_interfaces; ++j)
                          if (!s.at_boundary(j))
                            {
                              low =
                                std::min(low, s.neighbor_mean(j, component));
                              high =
                                std::max(high, s.neighbor_mean(j, component));
                            }
                        s.slope(component, g);
                        for (unsigned int j = 0; j < s.n_interfaces; ++j)
                          if (!s.at_boundary(j))
                            {
                              double w = s.mean(component);
                              for (int d = 0; d < dim; ++d)
                                w += 0.5 * g[d] *
                                     (s.interfaces[j].neighbor_centroid[d] -
                                      s.centroid[d]);
                              error = std::max({error, low - w, w - high});
                            }
                      }
                    return error;
                  },
                  u)),
                1e-12);
    const Vector<double> linear =
      c.project("1 - 2*x + y", dim == 2 ? "0.5*y" : "0.5*y - z");
    u = linear;
    check(name + "linear functions: result",
          smallest(op.apply(slopes, u)) == 1.);
    check(name + "linear functions: same bits", u == linear);
    // A smooth extremum stays as it is with a large constant.
    const Vector<double> smooth = c.project("(x - 0.5)^2", "y^2");
    u                           = smooth;
    check(name + "extremum is limited", smallest(op.apply(slopes, u)) < 1.);
    Tessella::SlopeLimiter tvb;
    tvb.tvb_constant = 20.;
    u                = smooth;
    op.apply(tvb, u);
    check(name + "extremum below the constant", u == smooth);
  }

  template <int dim>
  void
  test_threads(const std::string &name, const Case<dim> &c)
  {
    Vector<double>      result[2];
    std::vector<double> factors[2];
    for (const unsigned int n : {1U, 2U})
      {
        MultithreadInfo::set_thread_limit(n);
        PolytopewiseOperator<dim> op(c.handler);
        Vector<double>           &u = result[n - 1];
        u = c.project("if(x + 0.3*y < 0.6, 1, 0)", "sin(20*x)*cos(9*y)");
        factors[n - 1] = op.apply(Tessella::SlopeLimiter(), u);
        Tessella::BoundLimiter bounds;
        bounds.upper     = 1.;
        const auto theta = op.apply(bounds, u);
        factors[n - 1].insert(factors[n - 1].end(), theta.begin(), theta.end());
        for (const double integral : op.integrals(u))
          factors[n - 1].push_back(integral);
      }
    check(name + "same bits for 1 and 2 threads",
          result[0] == result[1] && factors[0] == factors[1]);
  }

  void
  test_errors()
  {
    Case<2>                 c(2);
    PolytopewiseOperator<2> op(c.handler);
    Vector<double>          u(c.handler.n_dofs() + 1);
    check_throws<ExceptionBase>(
      "size", [&] { op.apply(Tessella::SlopeLimiter(), u); }, "entries");
    u.reinit(c.handler.n_dofs());
    u(5) = std::numeric_limits<double>::quiet_NaN();
    check_throws<ExceptionBase>(
      "nan", [&] { op.apply(Tessella::SlopeLimiter(), u); }, "not finite");
    u                           = c.project("1 + x", "y");
    const Vector<double> before = u;
    check_throws<ExceptionBase>(
      "functor",
      [&] {
        op.apply(
          [](const PolytopeStencil<2> &s, double *a) {
            a[0] =
              s.polytope < 20 ? 7. : std::numeric_limits<double>::infinity();
            return 0.;
          },
          u);
      },
      "not finite");
    check("functor leaves the vector", u == before);
    check_throws<ExceptionBase>(
      "functor that throws",
      [&] {
        op.apply(
          [](const PolytopeStencil<2> &s, double *a) {
            AssertThrow(s.polytope < 20, ExcMessage("no such state"));
            a[0] = 7.;
            return 0.;
          },
          u);
      },
      "no such state");
    check("functor that throws leaves the vector", u == before);
    // A new space on the same polytopes.
    c.handler.distribute_dofs(
      FESystem<2, 2>(Tessella::FE_BoundingBoxLegendre<2>(1), 2));
    const Vector<double> linear = c.project("1 + x", "y");
    check_close("after a new space", op.integrals(linear)[0], 1.5, 1e-12);
    Triangulation<2> triangulation;
    GridGenerator::hyper_cube(triangulation);
    Handler2 empty(triangulation);
    empty.agglomerate(Tessella::Agglomeration::none<2>());
    PolytopewiseOperator<2> without(empty);
    check_throws<ExceptionBase>(
      "no space", [&] { without.mean_values(u); }, "degrees of freedom");
  }

  template <int dim>
  void
  test()
  {
    const std::string d = std::to_string(dim) + "-D ";
    for (const unsigned int degree : {1U, 2U, 3U})
      {
        const Case<dim>   c(degree);
        const std::string name = d + "degree " + std::to_string(degree) + ": ";
        if (degree > 1)
          test_stencil(name, c, false);
        test_limiters(name, c);
        if (degree == 2)
          test_threads(name, c);
      }
    test_stencil(d + "periodic: ", Case<dim>(2, true), true);
    const Case<dim> hp(3, false, true);
    test_stencil(d + "hp: ", hp, false);
    test_limiters(d + "hp: ", hp);
    const Case<dim> tensor(2,
                           false,
                           false,
                           Tessella::PolynomialSpaceType::tensor_product);
    test_stencil(d + "tensor: ", tensor, false);
    test_limiters(d + "tensor: ", tensor);
    // Degree 0 has no slopes.
    const Case<dim>           constant(0);
    PolytopewiseOperator<dim> op(constant.handler);
    const Vector<double> before = constant.project("if(x < 0.5, 1, 0)", "y");
    Vector<double>       u      = before;
    op.apply(Tessella::SlopeLimiter(), u);
    check(d + "degree 0", u == before);
  }
} // namespace

int
main(int argc, char **argv)
{
  dealii::Utilities::MPI::MPI_InitFinalize mpi(argc, argv, n_threads());
  initlog();
  test<2>();
  test<3>();
  test_errors();
}
