// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Functors with derivatives of their own, and integrands of callbacks.

#include <deal.II/fe/fe_system.h>
#include <deal.II/grid/grid_generator.h>

#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/forms/callback_integrand.h>
#include <tessella/grid/agglomeration.h>
#include <tessella/operators/pointwise_operator.h>

#include "../messages.h"
#include "derivative_functors.h"
#include "integrands.h"

using namespace Tessella;

// Euler's equations with a derivative on the boundary alone, by dual numbers.
template <int dim>
struct EulerWithDerivative : public Functors::Euler<dim>
{
  using Terms = PointwiseTerms<dim, dim + 2, double>;

  void
  boundary_facet_derivative(const OperatorPoint<dim> &p,
                            const Terms              &u,
                            const Terms              &du,
                            Terms                    &dr) const
  {
    PointwiseTerms<dim, dim + 2, Dual<1>> in, out;
    for (int c = 0; c < dim + 2; ++c)
      {
        in.value[c]               = u.value[c];
        in.value[c].derivative[0] = du.value[c];
        out.value[c]              = 0.;
      }
    this->boundary_facet(p, in, out);
    for (int c = 0; c < dim + 2; ++c)
      dr.value[c] = out.value[c].derivative[0];
  }
};

template <int dim>
void
check_own_derivatives()
{
  const std::string in_dim = std::to_string(dim) + "-D ";
  const FunctorIntegrand<dim, Functors::NonlinearDiffusion<dim>> by_duals;
  FunctorIntegrand<dim, Functors::WithDerivative<dim>>           own;
  Integrands::check<dim>(in_dim + "own derivative", own, by_duals, {0.4});
  own.functor().factor[0] = 1.5;
  const auto difference   = Integrands::compare<dim>(own, by_duals, {0.4});
  check(in_dim + "own derivative is used",
        difference.terms == 0. && difference.tangent > 0.05 &&
          difference.jacobian > 0.05);

  std::vector<double> state(dim + 2, 0.3);
  state[0]       = 1.2;
  state[dim + 1] = 2.7;
  EulerWithDerivative<dim> flow;
  Functors::Euler<dim>     euler;
  std::copy(state.begin(), state.end(), flow.state);
  std::copy(state.begin(), state.end(), euler.state);
  Integrands::check<dim>(in_dim + "one derivative",
                         FunctorIntegrand<dim, EulerWithDerivative<dim>>(flow),
                         FunctorIntegrand<dim, Functors::Euler<dim>>(euler),
                         state,
                         0.1);
}

// The members of a functor as callbacks.
template <int dim>
CallbackIntegrand<dim>
make_callbacks(const bool with_derivatives)
{
  using Terms = PointwiseTerms<dim, 1, double>;
  typename CallbackIntegrand<dim>::Structure structure;
  structure.field_components = {1};
  CallbackIntegrand<dim> integrand(structure);
  const auto             terms_of =
    [](const BatchFields<dim> &u, const unsigned int q, const unsigned int s) {
      Terms result;
      result.value[0] = u.value(q, 0, s);
      for (int d = 0; d < dim; ++d)
        result.gradient[0][d] = u.gradient(q, 0, d, s);
      return result;
    };
  const auto store = [](const BatchResults<dim> &r,
                        const unsigned int       q,
                        const unsigned int       s,
                        const Terms             &terms) {
    r.value(q, 0, s) = terms.value[0];
    for (int d = 0; d < dim; ++d)
      r.gradient(q, 0, d, s) = terms.gradient[0][d];
  };
  using Derivative = typename CallbackIntegrand<dim>::Derivative;
  const Functors::WithDerivative<dim> f;
  for (const PointwiseRegion region : {PointwiseRegion::volume,
                                       PointwiseRegion::interior_facet,
                                       PointwiseRegion::boundary_facet})
    integrand.set_terms(
      region,
      [=](const unsigned int        n,
          const OperatorPoint<dim> *p,
          const BatchFields<dim>   &u,
          const BatchResults<dim>  &r) {
        for (unsigned int q = 0; q < n; ++q)
          {
            Terms terms[2] = {};
            if (region == PointwiseRegion::volume)
              f.volume(p[q], terms_of(u, q, 0), terms[0]);
            else if (region == PointwiseRegion::boundary_facet)
              f.boundary_facet(p[q], terms_of(u, q, 0), terms[0]);
            else
              {
                f.interior_facet(p[q],
                                 terms_of(u, q, 0),
                                 terms_of(u, q, 1),
                                 terms[0],
                                 terms[1]);
                store(r, q, 1, terms[1]);
              }
            store(r, q, 0, terms[0]);
          }
      },
      !with_derivatives
        ? Derivative()
        : [=](const unsigned int        n,
              const OperatorPoint<dim> *p,
              const BatchFields<dim>   &u,
              const BatchFields<dim>   &du,
              const BatchResults<dim>  &dr) {
            for (unsigned int q = 0; q < n; ++q)
              {
                Terms       terms[2] = {};
                const Terms u0 = terms_of(u, q, 0), du0 = terms_of(du, q, 0);
                if (region == PointwiseRegion::volume)
                  f.volume_derivative(p[q], u0, du0, terms[0]);
                else if (region == PointwiseRegion::boundary_facet)
                  f.boundary_facet_derivative(p[q], u0, du0, terms[0]);
                else
                  {
                    f.interior_facet_derivative(p[q],
                                                u0,
                                                terms_of(u, q, 1),
                                                du0,
                                                terms_of(du, q, 1),
                                                terms[0],
                                                terms[1]);
                    store(dr, q, 1, terms[1]);
                  }
                store(dr, q, 0, terms[0]);
              }
          });
  return integrand;
}

template <int dim>
void
check_callbacks()
{
  const std::string in_dim = std::to_string(dim) + "-D ";
  const FunctorIntegrand<dim, Functors::NonlinearDiffusion<dim>> functor;
  Integrands::check<dim>(in_dim + "callbacks",
                         make_callbacks<dim>(true),
                         functor,
                         {0.4});

  // ---- in an operator
  dealii::Triangulation<dim> triangulation;
  dealii::GridGenerator::hyper_cube(triangulation, 0., 1., true);
  triangulation.refine_global(2);
  AgglomerationHandler<dim> handler(triangulation);
  handler.agglomerate(Agglomeration::parents<dim>());
  handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(2));
  AssemblyParameters data;
  data.backend = Backend::host;
  PointwiseOperator<dim> op(handler, data);
  dealii::Vector<double> u(handler.n_dofs()), r[2], dr(u.size());
  for (unsigned int i = 0; i < u.size(); ++i)
    u(i) = Integrands::pseudo_random(i);
  const CallbackIntegrand<dim> callbacks = make_callbacks<dim>(false);
  for (unsigned int i = 0; i < 2; ++i)
    op.reinit(r[i]);
  op.residual(functor, {&u}, r[1]);
  op.residual(callbacks, {&u}, r[0]);
  r[1] -= r[0];
  check_below(in_dim + "residual of callbacks",
              r[1].linfty_norm() / r[0].linfty_norm(),
              1e-13);
  check(in_dim + "report",
        contains(op.report().why, "callbacks of the host, which are slow"));
  std::vector<double> blocks;
  check(in_dim + "no derivative",
        contains(message_of([&] { op.apply_tangent(callbacks, {&u}, u, dr); }),
                 "have no derivative: tangents and Jacobians need its "
                 "callback, see set_terms().") &&
          contains(message_of(
                     [&] { op.diagonal_blocks(callbacks, {&u}, blocks); }),
                   "have no derivative"));
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  check_own_derivatives<2>();
  check_own_derivatives<3>();
  check_callbacks<2>();
  check_callbacks<3>();
}
