// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Products without a matrix on affine simplices, compared with those of the
// assembled block matrix: all degrees, materials, boundary conditions, periodic
// boundaries, symmetric and other interior penalty, transposed; meshes and
// forms for which the algorithm does not exist.

#include <deal.II/base/function_lib.h>

#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/grid_tools.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/grid/agglomeration.h>
#include <tessella/lac/host_block_matrix.h>

#include <memory>

#include "../../source/operators/host_simplex_product.h"
#include "../../source/operators/simplex_setup.h"
#include "../meshes.h"
#include "../tests.h"

using namespace Tessella;
using dealii::Point;
using dealii::Tensor;
using dealii::Vector;

template <int dim>
void
make_mesh(dealii::Triangulation<dim> &triangulation, const bool periodic)
{
  dealii::GridGenerator::subdivided_hyper_cube_with_simplices(triangulation,
                                                              dim == 2 ? 4 : 2);
  unsigned int n = 0;
  for (const auto &cell : triangulation.active_cell_iterators())
    cell->set_material_id(++n % 3);
  for (const auto &face : triangulation.active_face_iterators())
    if (face->at_boundary())
      for (unsigned int d = 0; d < dim; ++d)
        {
          if (face->center()[d] < 1e-10)
            face->set_boundary_id(2 * d);
          else if (face->center()[d] > 1. - 1e-10)
            face->set_boundary_id(2 * d + 1);
        }
  if (periodic)
    add_periodic_faces(triangulation, {0, dim - 1});
  dealii::GridTools::transform(
    [](const Point<dim> &x) {
      Point<dim> y = x;
      for (unsigned int d = 0; d < dim; ++d)
        y[d] += 0.07 * std::sin(2 * 3.141592653589793 * x[(d + 1) % dim]) *
                std::sin(3.141592653589793 * x[d]);
      return y;
    },
    triangulation);
}

template <int dim>
Tensor<2, dim>
some_tensor()
{
  Tensor<2, dim> a;
  for (unsigned int i = 0; i < dim; ++i)
    for (unsigned int j = 0; j < dim; ++j)
      a[i][j] = i == j ? 2. + i : 0.3;
  return a;
}

template <int dim>
void
set_conditions(AdvectionDiffusionReaction<dim> &form)
{
  BoundaryCondition<dim> neumann, robin;
  neumann.type = BoundaryType::neumann;
  robin.type   = BoundaryType::robin;
  robin.robin_coefficient =
    std::make_shared<dealii::Functions::ConstantFunction<dim>>(1.5);
  form.set_boundary_condition(1, neumann);
  form.set_boundary_condition(2, robin);
}

// Largest difference of an entry of the products, relative to the row's size.
double
difference(const Vector<double> &y,
           const Vector<double> &expected,
           const unsigned int    n)
{
  double result = 0;
  for (unsigned int k = 0; k < y.size(); k += n)
    {
      double error = 0, size = 0;
      for (unsigned int i = k; i < k + n; ++i)
        {
          error += std::pow(y(i) - expected(i), 2);
          size += std::pow(expected(i), 2);
        }
      result = std::max(result, std::sqrt(error / size));
    }
  return result;
}

template <int dim>
void
check_form(const std::string                     &name,
           AgglomerationHandler<dim>             &handler,
           const AdvectionDiffusionReaction<dim> &form,
           const bool                             transposed)
{
  AssemblyParameters parameters;
  parameters.backend = Backend::host;
  PolytopicAssembler<dim> assembler(handler, parameters);
  HostBlockMatrix<double> matrix;
  assembler.reinit(matrix);
  assembler.assemble_matrix(form, matrix);
  internal::SimplexData data;
  const std::string     why =
    internal::set_up_simplex_data(handler.polytopic_mesh(),
                                  handler.polytopic_dofs(),
                                  form,
                                  assembler.penalty(form),
                                  data);
  if (!check(name + ", set-up", why.empty()))
    {
      dealii::deallog << why << std::endl;
      return;
    }
  // Those that the processor has are in ascending order.
  std::vector<std::unique_ptr<const internal::HostSimplexProduct>> products;
  for (const InstructionSet set :
       {InstructionSet::plain, InstructionSet::avx2, InstructionSet::avx512})
    if (set <= best_instruction_set())
      products.push_back(std::make_unique<const internal::HostSimplexProduct>(
        internal::SimplexData(data), set));
  const internal::HostSimplexProduct &product = *products.back();
  const unsigned int                  n = handler.polytopic_dofs().n_basis[0];
  Vector<double> x(handler.n_dofs()), y(x.size()), expected(x.size());
  for (unsigned int i = 0; i < x.size(); ++i)
    x(i) = std::sin(1. + 37. * i) * std::pow(0.7, i % n);
  for (const bool transpose : {false, true})
    {
      if (transpose && !transposed)
        continue;
      if (transpose)
        matrix.Tvmult(expected, x);
      else
        matrix.vmult(expected, x);
      double error = 0.;
      for (const auto &with_set : products)
        {
          y = 0.;
          with_set->vmult({y.begin(), internal::Device::Product::set},
                          x.begin(),
                          nullptr,
                          transpose);
          error += difference(y, expected, n);
        }
      check_close(name + (transpose ? ", transposed" : ", product"),
                  error,
                  0.,
                  1e-13);
    }
  // x - A x + A x
  y = x;
  product.vmult({y.begin(), internal::Device::Product::subtract, y.begin()},
                x.begin(),
                nullptr,
                false);
  product.vmult({y.begin(), internal::Device::Product::add},
                x.begin(),
                nullptr,
                false);
  y -= x;
  check(name + ", difference and sum",
        y.linfty_norm() <= 1e-14 * expected.linfty_norm());
}

template <int dim>
void
check_degree(const bool periodic, const unsigned int degree)
{
  const std::string name = std::to_string(dim) + "-D, degree " +
                           std::to_string(degree) +
                           (periodic ? ", periodic" : "");
  dealii::Triangulation<dim> triangulation;
  make_mesh(triangulation, periodic);
  AgglomerationHandler<dim> handler(triangulation);
  handler.agglomerate(Agglomeration::parents<dim>(0));
  handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(degree));

  AdvectionDiffusionReaction<dim> poisson;
  poisson.set_diffusion(1.);
  check_form(name + ", Poisson", handler, poisson, true);

  AdvectionDiffusionReaction<dim> form;
  form.set_diffusion(CellwiseCoefficient({{0, 1.}, {1, 3.}, {2, 0.1}}),
                     some_tensor<dim>());
  form.set_reaction(CellwiseCoefficient({{0, 1.}, {1, 3.}, {2, 0.}}));
  form.set_theta(-1.);
  set_conditions(form);
  check_form(name + ", materials", handler, form, true);
  if (!periodic)
    {
      Tensor<1, dim> b;
      b[0] = -1.;
      b[1] = .5;
      AdvectionDiffusionReaction<dim> advection;
      advection.set_diffusion(0.01);
      advection.set_advection(b);
      check_form(name + ", advection", handler, advection, false);
    }
}

template <int dim>
void
check_reason(const std::string                     &name,
             dealii::Triangulation<dim>            &triangulation,
             const unsigned int                     levels_up,
             const AdvectionDiffusionReaction<dim> &form,
             const std::string                     &reason)
{
  AgglomerationHandler<dim> handler(triangulation);
  handler.agglomerate(Agglomeration::parents<dim>(levels_up));
  handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(2));
  internal::SimplexData     data;
  const std::vector<double> sigma(handler.polytopic_mesh().n_facets(), 1.);
  const std::string         why = internal::set_up_simplex_data(
    handler.polytopic_mesh(), handler.polytopic_dofs(), form, sigma, data);
  if (!check(name, why == reason))
    dealii::deallog << why << std::endl;
}

void
check_reasons()
{
  dealii::Triangulation<2> squares, triangles;
  dealii::GridGenerator::subdivided_hyper_cube(squares, 2);
  dealii::GridGenerator::subdivided_hyper_cube_with_simplices(triangles, 2);
  AdvectionDiffusionReaction<2> form;
  form.set_diffusion(1.);
  check_reason(
    "squares", squares, 0, form, "not every polytope is one affine simplex");
  form.set_reaction(std::make_shared<dealii::Functions::CosineFunction<2>>());
  check_reason("variable coefficient",
               triangles,
               0,
               form,
               "the coefficients of the form are not constant on each "
               "polytope");
  form.set_coefficient_order(0);
  check_reason("variable coefficient of order 0",
               triangles,
               0,
               form,
               "the coefficients of the form are not constant on each "
               "polytope");
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  check_reasons();
  for (const bool periodic : {false, true})
    {
      for (unsigned int degree = 1; degree <= (periodic ? 3 : 10);
           degree += degree < 6 ? 1 : 4)
        check_degree<2>(periodic, degree);
      for (unsigned int degree = 1; degree <= (periodic ? 2 : 6); ++degree)
        check_degree<3>(periodic, degree);
    }
}
