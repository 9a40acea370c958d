// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Error indicators of systems whose components are coupled: they vanish for
// polynomials that solve the equations of elasticity, with given displacements
// and tractions, agree with those of scalar forms without couplings, and follow
// the error.

#include <deal.II/base/function.h>

#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/grid_tools.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/forms/isotropic_elasticity.h>
#include <tessella/numerics/error_estimator.h>
#include <tessella/numerics/vector_tools.h>

#include "../messages.h"
#include "../tests.h"
#include "components.h"

using namespace dealii;
using namespace Tessella;

namespace
{
  constexpr double lambda = 1.3, mu = 0.7;

  /// u_d = 0.2 d + x_{d+1} - x_d x_0 / 2, and what belongs to it.
  template <int dim>
  struct Displacement : public Function<dim>
  {
    Displacement()
      : Function<dim>(dim)
    {}
    double
    value(const Point<dim> &x, const unsigned int d) const override
    {
      return 0.2 * d + x[(d + 1) % dim] - 0.5 * x[d] * x[0];
    }
    static Tensor<2, dim>
    stress(const Point<dim> &x)
    {
      Tensor<2, dim> g, sigma;
      for (unsigned int d = 0; d < dim; ++d)
        {
          g[d][(d + 1) % dim] += 1.;
          g[d][d] -= 0.5 * x[0];
          g[d][0] -= 0.5 * x[d];
        }
      sigma = mu * (g + transpose(g));
      for (unsigned int d = 0; d < dim; ++d)
        sigma[d][d] += lambda * trace(g);
      return sigma;
    }
    /// -div sigma = -(lambda + mu) grad div u - mu Laplace(u).
    static Tensor<1, dim>
    force()
    {
      Tensor<1, dim> f;
      f[0] = 0.5 * (lambda + mu) * (dim + 1.) + mu;
      return f;
    }
  };

  template <int dim>
  class VectorField : public Function<dim>
  {
  public:
    using Value = std::function<Tensor<1, dim>(const Point<dim> &)>;
    explicit VectorField(const Value &f)
      : Function<dim>(dim)
      , f(f)
    {}
    double
    value(const Point<dim> &x, const unsigned int c) const override
    {
      return f(x)[c];
    }

  private:
    const Value f;
  };

  template <int dim>
  void
  make_polytopes(AgglomerationHandler<dim> &handler,
                 const unsigned int         p,
                 const unsigned int         n_components)
  {
    handler.agglomerate(Agglomeration::metis<dim>(dim == 2 ? 20 : 12));
    hp::FECollection<dim>     elements;
    std::vector<unsigned int> indices(handler.n_polytopes());
    for (unsigned int more = 0; more < 2; ++more)
      elements.push_back(
        FESystem<dim>(FE_BoundingBoxLegendre<dim>(p + more), n_components));
    for (unsigned int k = 0; k < indices.size(); ++k)
      indices[k] = k % 2;
    handler.distribute_dofs(elements, indices);
  }

  /// The solution is in the space.
  template <int dim>
  void
  elasticity()
  {
    const std::string  name = std::to_string(dim) + "-D elasticity, ";
    Triangulation<dim> triangulation;
    GridGenerator::subdivided_hyper_cube(
      triangulation, dim == 2 ? 8 : 4, 0., 1., true);
    GridTools::distort_random(0.2, triangulation, true);
    AgglomerationHandler<dim> handler(triangulation);
    make_polytopes(handler, 2, dim);
    IsotropicElasticity<dim> form(lambda, mu);
    form.set_dirichlet(std::make_shared<Displacement<dim>>());
    // The part y = 0 has the normal (0, -1).
    form.set_traction(2, std::make_shared<VectorField<dim>>([](const auto &x) {
                        Tensor<1, dim> t;
                        for (unsigned int d = 0; d < dim; ++d)
                          t[d] = -Displacement<dim>::stress(x)[d][1];
                        return t;
                      }));
    form.set_coefficient_order(2);
    const auto set_force = [&](const double factor) {
      form.set_force(std::make_shared<VectorField<dim>>([factor](const auto &) {
        return factor * Displacement<dim>::force();
      }));
    };
    Vector<double> u(handler.n_dofs()), eta;
    Tessella::VectorTools::project(handler, Displacement<dim>(), u);
    const auto estimate = [&]() {
      ErrorEstimator::residual(handler, form, u, eta);
      return ErrorEstimator::global(handler, eta);
    };
    set_force(1.);
    check_below(name + "exact", estimate(), 1e-10);
    // Each term of an equation matters.
    set_force(0.);
    check(name + "force", estimate() > 1e-2);
    set_force(1.);
    u(0) += 1e-3;
    check(name + "solution", estimate() > 1e-4);
    u(0) -= 1e-3;
    form.set_traction(2, std::make_shared<VectorField<dim>>([](const auto &) {
                        return Tensor<1, dim>();
                      }));
    check(name + "traction", estimate() > 1e-2);
  }

  /// Forms for each component on the diagonal alone.
  template <int dim>
  class Diagonal : public SystemForm<dim>
  {
  public:
    unsigned int
    n_test_components() const override
    {
      return forms.size();
    }
    const Form<dim> *
    form(const unsigned int i, const unsigned int j) const override
    {
      return i == j ? &forms[i] : nullptr;
    }
    std::vector<AdvectionDiffusionReaction<dim>> forms;
  };

  template <int dim>
  void
  without_couplings()
  {
    const std::string  name = std::to_string(dim) + "-D ";
    Triangulation<dim> triangulation;
    GridGenerator::subdivided_hyper_cube(triangulation, 3);
    triangulation.begin_active()->set_refine_flag();
    triangulation.execute_coarsening_and_refinement();
    AgglomerationHandler<dim> handler(triangulation), scalar(triangulation);
    handler.agglomerate(Agglomeration::metis<dim>(9));
    scalar.agglomerate(Agglomeration::by_id<dim>(handler.polytope_of_cell()));
    handler.distribute_dofs(FESystem<dim>(FE_BoundingBoxLegendre<dim>(2), 2));
    scalar.distribute_dofs(FE_BoundingBoxLegendre<dim>(2));
    Diagonal<dim> system;
    system.forms.resize(2);
    Tensor<1, dim> b;
    b[0] = 1.;
    b[1] = -0.5;
    system.forms[0].set_diffusion(1.5);
    system.forms[0].set_advection(b);
    system.forms[0].set_source(2.);
    system.forms[1].set_diffusion(0.1);
    system.forms[1].set_reaction(3.);
    for (auto &form : system.forms)
      form.set_coefficient_order(2);
    Vector<double> u(handler.n_dofs()), one, two;
    for (unsigned int i = 0; i < u.size(); ++i)
      u(i) = std::sin(3. * i);
    std::vector<const Form<dim> *>   forms;
    std::vector<std::vector<double>> sigma;
    for (const auto &form : system.forms)
      {
        forms.push_back(&form);
        sigma.push_back(PolytopicAssembler<dim>(scalar).penalty(form));
      }
    ErrorEstimator::residual(handler, forms, sigma, u, one);
    ErrorEstimator::residual(handler, system, u, two);
    const double size = one.linfty_norm();
    two -= one;
    check_below(name + "without couplings", two.linfty_norm() / size, 1e-13);
    AgglomerationHandler<dim> empty(triangulation);
    empty.agglomerate(Agglomeration::metis<dim>(9));
    check(name + "no degrees of freedom",
          contains(message_of(
                     [&] { ErrorEstimator::residual(empty, system, u, two); }),
                   "with degrees of freedom"));
    check(name + "other components",
          contains(message_of([&] {
                     Vector<double> v(scalar.n_dofs());
                     ErrorEstimator::residual(scalar, system, v, two);
                   }),
                   "The system has 2 components"));
  }
} // namespace

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  elasticity<2>();
  elasticity<3>();
  without_couplings<2>();
  without_couplings<3>();
}
