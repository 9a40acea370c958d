// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Lambdas in place of functions: coefficients, sources, boundary data, errors,
// projection and interpolation, with the same bits as functions of deal.II.

#include <deal.II/base/function_lib.h>
#include <deal.II/base/tensor_function.h>

#include <deal.II/fe/fe_system.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/lac/sparse_matrix.h>
#include <deal.II/lac/vector.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/forms/isotropic_elasticity.h>
#include <tessella/lac/host_block_matrix.h>
#include <tessella/numerics/vector_tools.h>

#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "../lambda.h"
#include "../messages.h"
#include "../tests.h"

using namespace dealii;
using namespace Tessella;

namespace
{
  double
  scalar(const Point<2> &x)
  {
    return 1. + x[0] * x[1];
  }

  Tensor<1, 2>
  vector(const Point<2> &x)
  {
    return Tensor<1, 2>({1. + x[1], x[0] * x[0]});
  }

  Tensor<2, 2>
  tensor(const Point<2> &x)
  {
    Tensor<2, 2> a;
    a[0][0] = 1. + x[0];
    a[1][1] = 2. + x[1];
    a[0][1] = a[1][0] = .1;
    return a;
  }

  class TensorOfPoint : public TensorFunction<2, 2>
  {
  public:
    Tensor<2, 2>
    value(const Point<2> &x) const override
    {
      return tensor(x);
    }
  };

  // Matrix and right-hand side, one after the other.
  template <typename FormType>
  std::vector<double>
  entries_of(const Tessella::AgglomerationHandler<2> &handler,
             const FormType                          &form)
  {
    HostBlockMatrix<double> matrix;
    Vector<double>          rhs;
    PolytopicAssembler<2>   assembler(handler);
    assembler.reinit(matrix, rhs);
    assembler.assemble(form, matrix, rhs);
    std::vector<double> result(matrix.values(),
                               matrix.values() + matrix.n_nonzero_elements());
    result.insert(result.end(), rhs.begin(), rhs.end());
    return result;
  }

  void
  check_forms(const Tessella::AgglomerationHandler<2> &handler,
              const Tessella::AgglomerationHandler<2> &of_two)
  {
    const auto f = std::make_shared<Lambda<2>>(
      [](const Point<2> &x, const unsigned int) { return scalar(x); });
    const auto g = std::make_shared<Lambda<2>>(
      [](const Point<2> &x, const unsigned int c) { return vector(x)[c]; }, 2);
    {
      AdvectionDiffusionReaction<2> expected, form;
      expected.set_diffusion(std::shared_ptr<const Function<2>>(f));
      expected.set_advection(std::shared_ptr<const Function<2>>(g));
      expected.set_reaction(f);
      expected.set_source(f);
      BoundaryCondition<2> condition;
      condition.value = f;
      expected.set_default_boundary_condition(condition);
      condition.type              = BoundaryType::robin;
      condition.robin_coefficient = f;
      condition.flux              = g;
      expected.set_boundary_condition(1, condition);

      form.set_diffusion(scalar);
      form.set_advection(vector);
      form.set_reaction([](const auto &x) { return scalar(x); });
      form.set_source(&scalar);
      form.set_default_boundary_condition({BoundaryType::dirichlet, scalar});
      form.set_boundary_condition(
        1, {BoundaryType::robin, scalar, scalar, [](const Point<2> &x) {
              const Tensor<1, 2> value = vector(x);
              return std::array<double, 2>{{value[0], value[1]}};
            }});
      check("coefficients",
            entries_of(handler, form) == entries_of(handler, expected));
    }
    {
      AdvectionDiffusionReaction<2> expected, form;
      expected.set_diffusion(std::make_shared<TensorOfPoint>());
      form.set_diffusion(tensor);
      BoundaryCondition<2> condition;
      condition.value = std::make_shared<Functions::ConstantFunction<2>>(3.);
      expected.set_default_boundary_condition(condition);
      form.set_default_boundary_condition({BoundaryType::dirichlet, 3.});
      check("tensor and constant",
            entries_of(handler, form) == entries_of(handler, expected));
    }
    {
      IsotropicElasticity<2> expected(f, f), form(scalar, scalar);
      expected.set_force(g);
      form.set_force(vector);
      expected.set_dirichlet(g);
      form.set_dirichlet(vector);
      expected.set_boundary_stress(1, std::make_shared<TensorOfPoint>());
      form.set_boundary_stress(1, tensor);
      check("elasticity",
            entries_of(of_two, form) == entries_of(of_two, expected));
    }
  }

  void
  check_vector_tools(const Tessella::AgglomerationHandler<2> &handler,
                     const Tessella::AgglomerationHandler<2> &of_two)
  {
    namespace VT    = Tessella::VectorTools;
    const auto sine = [](const Point<2> &x) {
      return std::sin(numbers::PI * x[0]) * std::sin(numbers::PI * x[1]);
    };
    const auto gradient = [](const Point<2> &x) {
      Tensor<1, 2> result;
      for (unsigned int d = 0; d < 2; ++d)
        result[d] = numbers::PI * std::cos(numbers::PI * x[d]) *
                    std::sin(numbers::PI * x[1 - d]);
      return result;
    };
    const Lambda<2> function(
      [&](const Point<2> &x, const unsigned int) { return sine(x); });
    Vector<double> u(handler.n_dofs()), v(u);
    VT::project(handler, function, u);
    VT::project(handler, sine, v);
    check("project()", u == v);
    VT::interpolate(handler, function, u);
    VT::interpolate(handler, sine, v);
    check("interpolate()", u == v);

    Vector<float> expected, error;
    VT::integrate_difference(
      handler, u, function, expected, dealii::VectorTools::L2_norm);
    VT::integrate_difference(
      handler, u, sine, error, dealii::VectorTools::L2_norm);
    check("integrate_difference()", expected == error);
    check("no gradient",
          contains(message_of([&]() {
                     VT::integrate_difference(
                       handler, u, sine, error, dealii::VectorTools::H1_norm);
                   }),
                   "{value, gradient}"));
    AdvectionDiffusionReaction<2> form;
    form.set_diffusion(1.);
    const auto errors =
      VT::compute_errors(handler,
                         form,
                         PolytopicAssembler<2>(handler).penalty(form),
                         u,
                         {sine, gradient});
    VT::integrate_difference(
      handler, u, {sine, gradient}, error, dealii::VectorTools::H1_seminorm);
    check_close("gradient",
                VT::compute_global_error(handler,
                                         error,
                                         dealii::VectorTools::H1_seminorm) /
                  errors.H1_seminorm,
                1.,
                1e-6);
    check_below("error", errors.H1_seminorm, .2);

    Vector<double> w(of_two.n_dofs());
    VT::project(of_two, vector, w);
    VT::integrate_difference(
      of_two, w, vector, error, dealii::VectorTools::Linfty_norm);
    check_below("two components", error.linfty_norm(), 1e-6);
    check("number of components",
          contains(message_of([&]() { VT::project(of_two, sine, w); }),
                   "they must be equal"));
  }
} // namespace

int
main(int argc, char **argv)
{
  TestProgram      program(argc, argv);
  Triangulation<2> triangulation;
  GridGenerator::hyper_cube(triangulation, 0., 1., true);
  triangulation.refine_global(4);
  Tessella::AgglomerationHandler<2> handler(triangulation),
    of_two(triangulation);
  handler.agglomerate(Agglomeration::rtree<2>(1));
  of_two.agglomerate(Agglomeration::rtree<2>(1));
  handler.distribute_dofs(FE_BoundingBoxLegendre<2>(2));
  of_two.distribute_dofs(FESystem<2>(FE_BoundingBoxLegendre<2>(2), 2));
  check_forms(handler, of_two);
  check_vector_tools(handler, of_two);
}
