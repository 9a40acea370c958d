// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Discrete functions of several components as coefficients: the same matrices
// as from a functor that reads a DiscreteField for each component, from all
// kinds of vectors; polynomials as Functions; values and gradients at points;
// errors.

#include <deal.II/lac/la_parallel_vector.h>

#include <tessella/lac/host_vector.h>

#include "../messages.h"
#include "../tests.h"
#include "create_functors.h"
#include "discrete_cases.h"

using namespace Tessella;

// The form of DiscreteCases with a field for each component.
template <int dim>
struct Carried
{
  static constexpr int n_fields = dim + 1;

  double
  diffusion(const PointData<dim> &p) const
  {
    return p.value[dim];
  }
  PointVector<dim>
  advection(const PointData<dim> &p) const
  {
    PointVector<dim> b;
    for (int d = 0; d < dim; ++d)
      b[d] = p.value[d];
    return b;
  }
  double
  reaction(const PointData<dim> &p) const
  {
    return p.value[dim];
  }
  double
  source(const PointData<dim> &p) const
  {
    return p.value[dim];
  }
  double
  dirichlet(const PointData<dim> &p) const
  {
    return p.value[dim];
  }
};

template <int dim>
void
check_forms(const std::string &name, const DiscreteCases<dim> &cases)
{
  DeviceForm<dim, Carried<dim>> functor;
  for (unsigned int c = 0; c < dim; ++c)
    functor.add_field(DiscreteField<dim>(cases.flow_handler, cases.flow, c));
  functor.add_field(DiscreteField<dim>(cases.handler, cases.positive));
  functor.set_coefficient_order(4);
  typename PolytopicAssembler<dim>::AdditionalData data;
  data.backend = Backend::host;
  PolytopicAssembler<dim> assembler(cases.handler, data);
  System                  one, two;
  one.assemble(assembler, functor);
  two.assemble(assembler, cases.form(cases.flow, cases.positive));
  check_below(name + "matrix", one.difference(two), 1e-12);

  using Distributed = LinearAlgebra::distributed::Vector<double>;
  Distributed        flow(cases.flow.size()), positive(cases.positive.size());
  HostVector<double> own(cases.flow_handler.locally_owned_dofs(),
                         MPI_COMM_SELF),
    own_positive(cases.handler.locally_owned_dofs(), MPI_COMM_SELF);
  const auto distributed_form = cases.form(flow, positive);
  const auto own_form         = cases.form(own, own_positive);
  // The vectors get their values after the forms.
  for (unsigned int i = 0; i < flow.size(); ++i)
    flow(i) = *(own.begin() + i) = cases.flow(i);
  for (unsigned int i = 0; i < positive.size(); ++i)
    positive(i) = *(own_positive.begin() + i) = cases.positive(i);
  System three;
  three.assemble(assembler, distributed_form);
  check(name + "distributed vector", two.difference(three) == 0.);
  three.assemble(assembler, own_form);
  check(name + "vector of this library", two.difference(three) == 0.);

  HybridSystem<dim> hybrid(cases.handler), other(cases.handler);
  const auto        form = cases.form(cases.flow, cases.positive);
  hybrid.assemble(functor, Backend::host);
  other.assemble(form, Backend::host);
  check_below(name + "hybridizable",
              hybrid.difference(other),
              other.bound(form));
}

// Polynomials that the space has.
template <int dim>
void
check_polynomial(const std::string &name, const DiscreteCases<dim> &cases)
{
  const auto exact = [](const Point<dim> &x) {
    Tensor<1, dim> b;
    for (int d = 0; d < dim; ++d)
      b[d] = 1. + x[d] + d * x[0];
    return b;
  };
  Vector<double> u(cases.flow.size());
  Tessella::VectorTools::project(cases.flow_handler, exact, u);
  const auto velocity =
    std::make_shared<DiscreteFunction<dim>>(cases.flow_handler, u);
  typename PolytopicAssembler<dim>::AdditionalData data;
  data.backend = Backend::host;
  PolytopicAssembler<dim>         assembler(cases.handler, data);
  AdvectionDiffusionReaction<dim> form, reference;
  form.set_advection(velocity);
  reference.set_advection(exact);
  System one, two;
  one.assemble(assembler, form);
  two.assemble(assembler, reference);
  check_below(name + "polynomial", one.difference(two), 1e-11);

  // ---- without a form
  double largest = 0.;
  for (unsigned int i = 0; i < 20; ++i)
    {
      Point<dim> x;
      for (int d = 0; d < dim; ++d)
        x[d] = 0.5 + 0.5 * std::sin(1. + i * (3 + d));
      Vector<double> values(dim);
      velocity->vector_value(x, values);
      for (int c = 0; c < dim; ++c)
        {
          largest             = std::max({largest,
                                          std::abs(values(c) - exact(x)[c]),
                                          std::abs(velocity->value(x, c) - exact(x)[c])});
          const auto gradient = velocity->gradient(x, c);
          for (int d = 0; d < dim; ++d)
            largest =
              std::max(largest,
                       std::abs(gradient[d] - (c == d) - (d == 0 ? c : 0)));
        }
    }
  check_below(name + "values and gradients", largest, 1e-10);
  Vector<float> difference;
  Tessella::VectorTools::integrate_difference(
    cases.flow_handler, u, *velocity, difference, dealii::VectorTools::H1_norm);
  check_below(name + "as an exact solution", difference.linfty_norm(), 1e-10);
}

template <int dim>
void
check_errors(DiscreteCases<dim> &cases)
{
  const DiscreteFunction<dim> function(cases.flow_handler, cases.flow);
  Point<dim>                  outside;
  outside[0] = -0.5;
  check("outside",
        contains(message_of([&] { function.value(outside); }),
                 "is in none of the polytopes that this process has."));
  check("component",
        contains(message_of([&] { function.component(dim); }),
                 "components, counted from 0."));
  check("default order", [&] {
    AdvectionDiffusionReaction<dim> form;
    form.set_reaction(
      std::make_shared<DiscreteFunction<dim>>(cases.handler, cases.positive));
    return form.coefficient_order();
  }() == 3);
  AgglomerationHandler<dim> cells(*cases.triangulation);
  cells.agglomerate(Agglomeration::none<dim>());
  cells.distribute_dofs(FE_BoundingBoxLegendre<dim>(1));
  typename PolytopicAssembler<dim>::AdditionalData data;
  data.backend = Backend::host;
  PolytopicAssembler<dim> assembler(cells, data);
  System                  system;
  check("other polytopes",
        contains(message_of([&] {
                   system.assemble(assembler,
                                   cases.form(cases.flow, cases.positive));
                 }),
                 "is a coefficient on other polytopes than its own"));
  Vector<double> other(1);
  check("size",
        contains(message_of([&] {
                   DiscreteFunction<dim>(cases.flow_handler, other)
                     .value(Point<dim>());
                 }),
                 "degrees of freedom"));
  cases.flow_handler.distribute_dofs(
    FESystem<dim>(FE_BoundingBoxLegendre<dim>(5), dim));
  cases.flow.reinit(cases.flow_handler.n_dofs());
  const Point<dim> inside = cases.triangulation->begin_active()->center();
  check("value before prepare()",
        contains(message_of([&] { function.value(inside); }),
                 "call prepare() after distribute_dofs()."));
  check("gradient before prepare()",
        contains(message_of([&] { function.gradient(inside); }),
                 "call prepare() after distribute_dofs()."));
  function.prepare();
  check("value after prepare()", function.value(inside) == 0.);
  cases.flow_handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(1));
  check("other space",
        contains(message_of([&] { function.prepare(); }),
                 "create it again after distribute_dofs()."));
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  {
    DiscreteCases<2> cases(true, true, 2);
    check_forms<2>("2-D simplices hp: ", cases);
    check_polynomial<2>("2-D simplices hp: ", cases);
    check_errors<2>(cases);
  }
  check_forms<2>("2-D hypercubes, degree 4: ", {false, false, 1, 4});
  {
    const DiscreteCases<3> cases(false, false, 1, 2);
    check_forms<3>("3-D hypercubes, degree 2: ", cases);
    check_polynomial<3>("3-D hypercubes, degree 2: ", cases);
  }
}
