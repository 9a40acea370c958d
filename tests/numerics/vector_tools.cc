// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
// Interpolation, projection, point values and error norms on all kinds of
// cells; the dG norm compared to values computed by hand.

#include <deal.II/base/function_lib.h>
#include <deal.II/base/multithread_info.h>

#include <deal.II/fe/fe_system.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/grid_tools.h>
#include <deal.II/grid/tria.h>
#include <deal.II/lac/la_parallel_vector.h>

#include <tessella/base/epetra.h>
#include <tessella/base/exceptions.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/numerics/vector_tools.h>

#include <memory>

#include "../tests.h"
#include "polynomial.h"

using dealii::Triangulation;
using dealii::Vector;
using Norm = dealii::VectorTools::NormType;
using namespace Tessella;

template <int dim>
void
make_mesh(const std::string &kind, Triangulation<dim> &triangulation)
{
  if (kind == "simplices")
    dealii::GridGenerator::subdivided_hyper_cube_with_simplices(triangulation,
                                                                3);
  else
    {
      dealii::GridGenerator::subdivided_hyper_cube(triangulation, 2);
      triangulation.refine_global(1);
      if (kind == "hanging")
        {
          triangulation.begin_active()->set_refine_flag();
          triangulation.execute_coarsening_and_refinement();
        }
      if (kind == "distorted" || kind == "hanging")
        dealii::GridTools::distort_random(.2, triangulation, true);
    }
}

template <int dim>
void
polynomials(const std::string &kind)
{
  Triangulation<dim> triangulation;
  make_mesh(kind, triangulation);
  const std::string name = std::to_string(dim) + "-D " + kind;
  for (const bool tensor : {false, true})
    for (const unsigned int p : {0U, 1U, 3U})
      {
        AgglomerationHandler<dim> handler(triangulation);
        handler.agglomerate(
          Agglomeration::by_id<dim>(scattered(triangulation)));
        handler.distribute_dofs(
          FE_BoundingBoxLegendre<dim>(p,
                                      tensor
                                        ? PolynomialSpaceType::tensor_product
                                        : PolynomialSpaceType::total_degree));
        const Polynomial<dim> exact(p);
        // On polytopes of scattered cells the functions of the full tensor
        // space are nearly dependent, so that the mass matrix is ill
        // conditioned.
        const double      bound = tensor ? 1e-9 : 1e-11;
        const std::string at =
          name + (tensor ? " Q_" : " P_") + std::to_string(p);
        Vector<double> u(handler.n_dofs());
        Vector<float>  difference;
        for (const bool interpolated : {true, false})
          {
            u = 0.;
            if (interpolated)
              Tessella::VectorTools::interpolate(handler, exact, u);
            else
              Tessella::VectorTools::project(handler, exact, u);
            const std::string what = interpolated ? " interpolate" : " project";
            for (const auto norm : {Norm::H1_norm, Norm::Linfty_norm})
              {
                Tessella::VectorTools::integrate_difference(
                  handler, u, exact, difference, norm);
                check_below(at + what +
                              (norm == Norm::H1_norm ? " H1 error"
                                                     : " maximum error"),
                            Tessella::VectorTools::compute_global_error(
                              handler, difference, norm),
                            bound);
              }
          }

        // Points inside, at vertices, and on the boundary of the domain.
        std::vector<Point<dim>> points;
        for (unsigned int i = 0; i < 200; ++i)
          {
            Point<dim> x;
            for (int d = 0; d < dim; ++d)
              x[d] = std::fmod(.5 + i * (.7548776662 - .185 * d), 1.);
            if (i % 5 == 0)
              x[i % dim] = (i % 2);
            points.push_back(x);
          }
        points.insert(points.end(),
                      triangulation.get_vertices().begin(),
                      triangulation.get_vertices().end());
        std::vector<Vector<double>> values;
        Tessella::VectorTools::point_values(handler, u, points, values);
        double error = 0.;
        for (unsigned int i = 0; i < points.size(); ++i)
          error =
            std::max(error, std::abs(values[i][0] - exact.value(points[i])));
        check_below(at + " point values", error, bound);
      }
}

template <int dim>
void
norms()
{
  Triangulation<dim> triangulation;
  make_mesh("distorted", triangulation);
  AgglomerationHandler<dim> handler(triangulation);
  handler.agglomerate(Agglomeration::by_id<dim>(scattered(triangulation)));
  handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(2));
  Vector<double> u(handler.n_dofs());
  // prod x_d: all integrals over the unit cube are known
  class Product : public Function<dim>
  {
  public:
    double
    value(const Point<dim> &x, const unsigned int) const override
    {
      double v = 1.;
      for (int d = 0; d < dim; ++d)
        v *= x[d];
      return v;
    }
    Tensor<1, dim>
    gradient(const Point<dim> &x, const unsigned int) const override
    {
      Tensor<1, dim> g;
      for (int d = 0; d < dim; ++d)
        {
          g[d] = 1.;
          for (int e = 0; e < dim; ++e)
            g[d] *= e == d ? 1. : x[e];
        }
      return g;
    }
  } exact;
  Vector<float> difference;
  auto          norm = [&](const Norm type) {
    Tessella::VectorTools::integrate_difference(
      handler, u, exact, difference, type);
    return Tessella::VectorTools::compute_global_error(handler,
                                                       difference,
                                                       type);
  };
  const std::string name = std::to_string(dim) + "-D ";
  const double      L2   = std::pow(3., -.5 * dim),
               H1        = std::sqrt(dim * std::pow(3., 1. - dim));
  // Norms per polytope are of type float.
  check_close(name + "L2", norm(Norm::L2_norm), L2, 1e-6);
  check_close(name + "L1", norm(Norm::L1_norm), std::pow(.5, dim), 1e-6);
  check_close(name + "mean", norm(Norm::mean), std::pow(.5, dim), 1e-6);
  check_close(name + "H1 seminorm", norm(Norm::H1_seminorm), H1, 1e-6);
  check_close(name + "H1",
              norm(Norm::H1_norm),
              std::sqrt(L2 * L2 + H1 * H1),
              1e-6);
  for (const double p : {1., 4.})
    {
      Tessella::VectorTools::integrate_difference(
        handler, u, exact, difference, Norm::Lp_norm, 12, p);
      check_close(name + "Lp, p = " + std::to_string(int(p)),
                  Tessella::VectorTools::compute_global_error(
                    handler, difference, Norm::Lp_norm, p),
                  std::pow(p + 1., -dim / p),
                  1e-6);
    }
  check_throws<dealii::ExceptionBase>(
    name + "exponent",
    [&]() {
      Tessella::VectorTools::compute_global_error(handler,
                                                  difference,
                                                  Norm::Lp_norm,
                                                  .5);
    },
    "needs an exponent from 1 on");
  const double maximum = norm(Norm::Linfty_norm);
  check(name + "maximum", maximum > .6 && maximum < 1.);
  check_throws<dealii::ExceptionBase>(
    name + "unknown norm", [&]() { norm(Norm::W1p_norm); }, "use one of these");

  // The same norms from one pass, and with another vector class.
  MassForm<dim> form;
  const auto    errors = Tessella::VectorTools::compute_errors(
    handler, form, std::vector<double>(), u, exact);
  check_close(name + "compute_errors L2", errors.L2, L2, 1e-12);
  check_close(name + "compute_errors H1", errors.H1_seminorm, H1, 1e-12);
  check_close(name + "compute_errors dG, mass", errors.dG, L2, 1e-12);
  Tessella::VectorTools::interpolate(handler, Polynomial<dim>(2), u);
  const auto largest_difference = [&](auto vector) {
    Tessella::VectorTools::interpolate(handler, Polynomial<dim>(2), vector);
    double largest = 0.;
    for (unsigned int i = 0; i < u.size(); ++i)
      largest = std::max(largest, std::abs(u[i] - vector[i]));
    return largest;
  };
  const dealii::IndexSet owned   = handler.locally_owned_dofs();
  double                 largest = largest_difference(
    dealii::LinearAlgebra::distributed::Vector<double>(owned, MPI_COMM_SELF));
#ifdef TESSELLA_HAVE_EPETRA
  largest =
    std::max(largest,
             largest_difference(
               dealii::TrilinosWrappers::MPI::Vector(owned, MPI_COMM_SELF)));
#endif
  check_below(name + "vectors of other classes", largest, 0.);

  // The bits are the same for one thread and for two.
  Vector<float> other;
  Tessella::VectorTools::integrate_difference(
    handler, u, exact, difference, Norm::H1_norm);
  const auto two = Tessella::VectorTools::compute_errors(
    handler, form, std::vector<double>(), u, exact);
  dealii::MultithreadInfo::set_thread_limit(1);
  Tessella::VectorTools::integrate_difference(
    handler, u, exact, other, Norm::H1_norm);
  const auto one = Tessella::VectorTools::compute_errors(
    handler, form, std::vector<double>(), u, exact);
  dealii::MultithreadInfo::set_thread_limit(n_threads());
  check(name + "threads",
        other == difference && one.L2 == two.L2 &&
          one.H1_seminorm == two.H1_seminorm);
}

void
components()
{
  Triangulation<2> triangulation;
  make_mesh("hanging", triangulation);
  AgglomerationHandler<2> handler(triangulation);
  handler.agglomerate(Agglomeration::by_id<2>(scattered(triangulation)));
  handler.distribute_dofs(dealii::FESystem<2>(FE_BoundingBoxLegendre<2>(2), 3));
  const Polynomial<2> exact(2, 3);
  Vector<double>      u(handler.n_dofs());
  Vector<float>       difference;
  Tessella::VectorTools::project(handler, exact, u);
  Tessella::VectorTools::integrate_difference(
    handler, u, exact, difference, Norm::H1_norm);
  check_below("components, project",
              Tessella::VectorTools::compute_global_error(handler,
                                                          difference,
                                                          Norm::H1_norm),
              1e-11);
  Vector<double> value;
  const Point<2> x(.3, .61);
  Tessella::VectorTools::point_value(handler, u, x, value);
  check("components, number", value.size() == 3);
  for (unsigned int c = 0; c < 3; ++c)
    check_close("components, value", value[c], exact.value(x, c), 1e-12);
  check_throws<dealii::ExceptionBase>(
    "components, other number",
    [&]() {
      Tessella::VectorTools::interpolate(handler, Polynomial<2>(1, 2), u);
    },
    "3");
}

void
mistakes()
{
  Triangulation<2> triangulation;
  make_mesh("plain", triangulation);
  AgglomerationHandler<2> handler(triangulation);
  handler.agglomerate(Agglomeration::none<2>());
  handler.distribute_dofs(FE_BoundingBoxLegendre<2>(1));
  Vector<double> u(handler.n_dofs()), value, small(3);
  check_throws<Tessella::VectorTools::ExcPointNotInside>(
    "point outside",
    [&]() {
      Tessella::VectorTools::point_value(handler, u, Point<2>(1.1, .5), value);
    },
    "1.1");
  check_throws<dealii::ExceptionBase>(
    "vector of wrong size",
    [&]() {
      Tessella::VectorTools::interpolate(handler, Polynomial<2>(1), small);
    },
    "reinit");
  class Singular : public Function<2>
  {
    double
    value(const Point<2> &x, const unsigned int) const override
    {
      return std::log(x[0] - .5);
    }
  };
  check_throws<ExcUserInput>(
    "function not finite",
    [&]() { Tessella::VectorTools::project(handler, Singular(), u); },
    "not finite");
}

template <int dim>
class LinearFlow : public dealii::TensorFunction<1, dim>
{
public:
  Tensor<1, dim>
  value(const Point<dim> &x) const override
  {
    Tensor<1, dim> b;
    b[0] = 1. + x[0];
    return b;
  }
};

/// [0,2] x [0,1]^(dim-1) with two polytopes. The solution is 0 on the left and
/// 1 on the right, the exact one is 0, and sigma = 5.
template <int dim>
void
energy_norm()
{
  Triangulation<dim>        triangulation;
  std::vector<unsigned int> repetitions(dim, 2);
  repetitions[0] = 4;
  Point<dim> corner;
  for (int d = 0; d < dim; ++d)
    corner[d] = d == 0 ? 2. : 1.;
  dealii::GridGenerator::subdivided_hyper_rectangle(triangulation,
                                                    repetitions,
                                                    Point<dim>(),
                                                    corner);
  std::vector<unsigned int> ids;
  for (const auto &cell : triangulation.active_cell_iterators())
    ids.push_back(cell->center()[0] < 1. ? 0 : 1);
  AgglomerationHandler<dim> handler(triangulation);
  handler.agglomerate(Agglomeration::by_id<dim>(ids));
  handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(1));
  class Step : public Function<dim>
  {
    double
    value(const Point<dim> &x, const unsigned int) const override
    {
      return x[0] < 1. ? 0. : 1.;
    }
  };
  // surface of the right half, without the interface
  const double        surface = 2. * dim - 1.;
  const std::string   name    = std::to_string(dim) + "-D energy, ";
  Vector<double>      u(handler.n_dofs());
  std::vector<double> sigma(handler.polytopic_mesh().n_facets(), 5.);
  const auto          energy = [&](const Form<dim> &form) {
    const double norm =
      Tessella::VectorTools::compute_errors(
        handler, form, sigma, u, dealii::Functions::ZeroFunction<dim>())
        .dG;
    return norm * norm;
  };
  Tessella::VectorTools::interpolate(handler, Step(), u);

  AdvectionDiffusionReaction<dim> form;
  form.set_diffusion(3.);
  check_close(name + "diffusion", energy(form), 5. * (1. + surface), 1e-11);
  Tensor<1, dim> b;
  b[0] = 1.;
  form.set_advection(b);
  form.set_reaction(2.);
  check_close(name + "constant flow",
              energy(form),
              5. * (1. + surface) + .5 + .5 + 2.,
              1e-11);
  // Against the flow, the right side is inflow.
  form.set_advection(-b);
  check_close(name + "opposite flow",
              energy(form),
              5. * (1. + surface) + .5 + .5 + 2.,
              1e-11);
  // |b.n| is 2 on the interface and 3 on the right, div b = 1
  form.set_advection(std::make_shared<const LinearFlow<dim>>());
  check_close(name + "linear flow",
              energy(form),
              5. * (1. + surface) + 1. + 1.5 + 1.5,
              1e-11);

  // gradients: u = x, tensor
  class Coordinate : public Function<dim>
  {
    double
    value(const Point<dim> &x, const unsigned int) const override
    {
      return x[0];
    }
  };
  Tessella::VectorTools::interpolate(handler, Coordinate(), u);
  AdvectionDiffusionReaction<dim> tensor;
  Tensor<2, dim>                  a;
  for (int d = 0; d < dim; ++d)
    a[d][d] = 2. + d;
  a[0][1] = a[1][0] = .5;
  tensor.set_diffusion(a);
  // int |grad| a = 2 * 2; boundary: sigma x^2, on the right 4, on each of the
  // 2 (dim - 1) sides 8/3
  check_close(name + "tensor",
              energy(tensor),
              4. + 5. * (4. + 2. * (dim - 1) * 8. / 3.),
              1e-11);
  check_throws<dealii::ExceptionBase>(
    name + "no penalty",
    [&]() {
      sigma.clear();
      energy(tensor);
    },
    "penalty");
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  for (const char *kind : {"plain", "distorted", "hanging", "simplices"})
    {
      polynomials<2>(kind);
      polynomials<3>(kind);
    }
  norms<2>();
  norms<3>();
  components();
  mistakes();
  energy_norm<2>();
  energy_norm<3>();
}
