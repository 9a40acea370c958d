// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_numerics_components_h
#define tessella_tests_numerics_components_h

// Functions and spaces of several components.

#include <deal.II/base/function.h>

#include <deal.II/fe/fe_system.h>
#include <deal.II/hp/fe_collection.h>
#include <deal.II/lac/vector.h>

#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/grid/agglomeration_handler.h>

#include <cmath>
#include <vector>

/// Vector field whose components are independent; no space contains it.
template <int dim>
class Field : public dealii::Function<dim>
{
public:
  explicit Field(const unsigned int n_components)
    : dealii::Function<dim>(n_components)
  {}

  double
  value(const dealii::Point<dim> &x, const unsigned int c = 0) const override
  {
    return std::sin(phase(x, c)) + c * x[0];
  }

  dealii::Tensor<1, dim>
  gradient(const dealii::Point<dim> &x, const unsigned int c = 0) const override
  {
    dealii::Tensor<1, dim> g;
    for (int d = 0; d < dim; ++d)
      g[d] = (1. + .5 * d + .3 * c) * std::cos(phase(x, c));
    g[0] += c;
    return g;
  }

private:
  double
  phase(const dealii::Point<dim> &x, const unsigned int c) const
  {
    double s = .1 * c;
    for (int d = 0; d < dim; ++d)
      s += (1. + .5 * d + .3 * c) * x[d];
    return s;
  }
};

/// Component @p c of another function.
template <int dim>
class ComponentOf : public dealii::Function<dim>
{
public:
  ComponentOf(const dealii::Function<dim> &function, const unsigned int c)
    : function(function)
    , c(c)
  {}
  double
  value(const dealii::Point<dim> &x, const unsigned int) const override
  {
    return function.value(x, c);
  }
  dealii::Tensor<1, dim>
  gradient(const dealii::Point<dim> &x, const unsigned int) const override
  {
    return function.gradient(x, c);
  }

private:
  const dealii::Function<dim> &function;
  const unsigned int           c;
};

/// Distributes DoFs of @p n_components components of degree @p p, and of
/// p + 1 on polytopes whose box has its centre on the right if @p hp.
template <int dim>
void
distribute_components(Tessella::AgglomerationHandler<dim> &handler,
                      const unsigned int                   n_components,
                      const unsigned int                   p,
                      const bool                           hp,
                      const Tessella::PolynomialSpaceType  space =
                        Tessella::PolynomialSpaceType::total_degree)
{
  dealii::hp::FECollection<dim> collection;
  for (const unsigned int degree : {p, p + 1})
    {
      const Tessella::FE_BoundingBoxLegendre<dim> fe(degree, space);
      if (n_components == 1)
        collection.push_back(fe);
      else
        collection.push_back(dealii::FESystem<dim>(fe, n_components));
    }
  std::vector<unsigned int> indices;
  for (const auto &polytope : handler.polytope_iterators())
    indices.push_back(hp && polytope.bounding_box().center()[0] > .45);
  handler.distribute_dofs(collection, indices);
}

/// Coefficients of component @p c in the order of the scalar handler
/// @p scalar with the same polytopes and degrees.
template <int dim, typename VectorType>
void
copy_component(const Tessella::AgglomerationHandler<dim> &handler,
               const VectorType                          &u,
               const unsigned int                         c,
               const Tessella::AgglomerationHandler<dim> &scalar,
               VectorType                                &u_c)
{
  const auto &from = handler.polytopic_dofs(), &to = scalar.polytopic_dofs();
  for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
    for (unsigned int i = 0; i < to.n_basis[k]; ++i)
      *(u_c.begin() + to.dof_offset[k] + i) =
        *(u.begin() + from.dof_offset[k] + c * from.n_basis[k] + i);
}

#endif
