// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// The form of nonlinear_diffusion. For a discrete function that is a
// polynomial, Picard's matrix is compared with that of the same coefficient as
// a Function of x. For any discrete function, Newton's matrix is compared with
// difference quotients of the residual, and both matrices with those of a
// functor.

#include "../../applications/nonlinear_diffusion/quasilinear_form.cc"

#include <deal.II/base/function.h>

#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/grid_tools.h>
#include <deal.II/lac/sparse_matrix.h>
#include <deal.II/lac/vector.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/grid/agglomeration.h>
#include <tessella/numerics/vector_tools.h>

#include <map>
#include <memory>

#include "../forms/functors.h"
#include "../tests.h"

namespace Application = Tessella::Application;
using namespace dealii;

template <int dim>
std::shared_ptr<const Function<dim>>
make_function(const std::string &text)
{
  return std::make_shared<Application::ExpressionFunction<dim>>(
    std::vector<Application::Expression>(
      1,
      Application::Expression("test",
                              text,
                              Application::coordinate_names(dim))));
}



template <int dim>
struct System
{
  explicit System(Tessella::PolytopicAssembler<dim> &assembler)
    : assembler(assembler)
  {
    assembler.reinit(sparsity, matrix, rhs);
  }

  void
  assemble(const Tessella::Form<dim> &form)
  {
    assembler.assemble(form, matrix, rhs);
  }

  Tessella::PolytopicAssembler<dim> &assembler;
  SparsityPattern                    sparsity;
  SparseMatrix<double>               matrix;
  Vector<double>                     rhs;
};



template <int dim>
void
test(const bool simplices)
{
  const std::string name =
    std::to_string(dim) + (simplices ? "-D simplices, " : "-D hypercubes, ");
  Triangulation<dim> boxes, triangulation;
  GridGenerator::subdivided_hyper_cube(boxes, dim == 2 ? 6 : 3, 0., 1., true);
  if (simplices)
    GridGenerator::convert_hypercube_to_simplex_mesh(boxes, triangulation);
  else
    {
      triangulation.copy_triangulation(boxes);
      GridTools::distort_random(0.2, triangulation);
    }
  Tessella::AgglomerationHandler<dim> handler(triangulation);
  handler.agglomerate([](const Triangulation<dim> &tria) {
    std::vector<unsigned int> ids(tria.n_active_cells());
    for (const auto &cell : tria.active_cell_iterators())
      ids[cell->active_cell_index()] = cell->active_cell_index() / 3;
    return ids;
  });
  handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(2));

  // ---- finite element data compared with a function
  const std::string        u_text    = dim == 2 ? "x*y - y/2" : "x*y - z^2/2";
  std::vector<std::string> variables = Application::coordinate_names(dim);
  variables.push_back("u");
  const std::string                    a_text = "1 + x*u + u^2";
  Application::QuasilinearProblem<dim> problem;
  problem.diffusion = Application::QuasilinearCoefficient<dim>(
    Application::Expression("test", a_text, variables));
  problem.source      = make_function<dim>("1 + x");
  problem.dirichlet   = make_function<dim>(u_text);
  problem.neumann     = make_function<dim>("x - 2*y");
  problem.neumann_ids = {1};

  std::string a_of_x = a_text;
  for (std::size_t i = a_of_x.find('u'); i != std::string::npos;
       i             = a_of_x.find('u', i + u_text.size() + 2))
    a_of_x.replace(i, 1, "(" + u_text + ")");
  Tessella::AdvectionDiffusionReaction<dim> by_function;
  by_function.set_diffusion(make_function<dim>(a_of_x));
  by_function.set_source(problem.source);
  Tessella::BoundaryCondition<dim> dirichlet, neumann;
  dirichlet.value = problem.dirichlet;
  neumann.type    = Tessella::BoundaryType::neumann;
  neumann.value   = problem.neumann;
  by_function.set_default_boundary_condition(dirichlet);
  by_function.set_boundary_condition(1, neumann);
  by_function.set_coefficient_order(6);

  using Form = Application::QuasilinearForm<dim>;
  Vector<double>                     u(handler.n_dofs());
  const Tessella::DiscreteField<dim> field(handler, u);
  Tessella::VectorTools::project(handler, *problem.dirichlet, u);
  for (const double theta : {1., 0., -1.})
    {
      // The penalties differ: one is computed from a at points, the other one
      // from its maximum.
      typename Tessella::PolytopicAssembler<dim>::AdditionalData data;
      data.backend          = Tessella::Backend::host;
      data.penalty.constant = 0.;
      Tessella::PolytopicAssembler<dim> assembler(handler, data);
      System<dim>                       one(assembler), two(assembler);
      one.assemble(Form(problem, field, Form::picard, theta, 6));
      by_function.set_theta(theta);
      two.assemble(by_function);
      double largest = 0., difference = 0.;
      for (const auto &entry : two.matrix)
        {
          const double other = one.matrix(entry.row(), entry.column());
          largest            = std::max(largest, std::abs(entry.value()));
          difference = std::max(difference, std::abs(entry.value() - other));
        }
      one.rhs -= two.rhs;
      check_below(name + "matrix of a function, theta " + std::to_string(theta),
                  difference,
                  1e-12 * largest);
      check_below(name + "vector of a function, theta " + std::to_string(theta),
                  one.rhs.linfty_norm(),
                  1e-12 * two.rhs.linfty_norm());
    }

  // ---- derivative of the residual, with jumps
  typename Tessella::PolytopicAssembler<dim>::AdditionalData data;
  data.backend = Tessella::Backend::host;
  Tessella::PolytopicAssembler<dim> assembler(handler, data);
  System<dim>                       picard(assembler), newton(assembler);
  Vector<double> center(u.size()), w(u.size()), result[2], derivative(u.size());
  for (unsigned int i = 0; i < u.size(); ++i)
    {
      center(i) = u(i) + 0.1 * std::sin(1. + 7. * i);
      w(i)      = std::cos(3. * i);
    }
  for (const double theta : {1., 0., -1.})
    {
      const Form at_u(problem, field, Form::picard, theta, 6),
        linearised(problem, field, Form::newton, theta, 6);
      u = center;
      newton.assemble(linearised);
      newton.matrix.vmult(derivative, w);
      const double step = 1e-5;
      for (const int side : {0, 1})
        {
          u = center;
          u.add(side == 0 ? step : -step, w);
          picard.assemble(at_u);
          result[side].reinit(u);
          picard.matrix.vmult(result[side], u);
          result[side] -= picard.rhs;
        }
      result[0] -= result[1];
      result[0] *= 0.5 / step;
      for (const bool is_newton : {false, true})
        {
          Functors::Quasilinear<dim> functor;
          functor.newton = is_newton;
          functor.theta  = theta;
          System<dim> other(assembler);
          u              = center;
          auto same      = problem;
          same.dirichlet = make_function<dim>("x*y");
          System<dim> system(assembler);
          system.assemble(Form(
            same, field, is_newton ? Form::newton : Form::picard, theta, 6));
          other.assemble(*Functors::make<dim>(functor, 6, {field}));
          double largest = 0., difference = 0.;
          for (const auto &entry : system.matrix)
            {
              const double value = other.matrix(entry.row(), entry.column());
              largest            = std::max(largest, std::abs(entry.value()));
              difference =
                std::max(difference, std::abs(entry.value() - value));
            }
          other.rhs -= system.rhs;
          check(name + "functor, theta " + std::to_string(theta),
                difference < 1e-12 * largest &&
                  other.rhs.linfty_norm() < 1e-12 * system.rhs.linfty_norm());
        }
      const double scale = derivative.linfty_norm();
      // Picard's matrix is not the derivative.
      Vector<double> other(u.size());
      u = center;
      picard.assemble(at_u);
      picard.matrix.vmult(other, w);
      other -= result[0];
      check(name + "terms of the derivative matter, theta " +
              std::to_string(theta),
            other.linfty_norm() > 1e-2 * scale);
      result[0] -= derivative;
      check_below(name + "difference quotients, theta " + std::to_string(theta),
                  result[0].linfty_norm(),
                  1e-6 * scale);
    }
}



int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  for (const bool simplices : {false, true})
    {
      test<2>(simplices);
      test<3>(simplices);
    }
}
