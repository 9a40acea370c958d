// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_operators_reference_h
#define tessella_tests_operators_reference_h

// Slow pointwise operator: a loop over points, test functions and trial
// functions with full matrices. Bases are those of the reference assembler,
// derivatives those of Sacado; quadrature points and the indices of
// OperatorPoint come from the classes of tessella/values.

#include <deal.II/lac/full_matrix.h>
#include <deal.II/lac/vector.h>

#include <tessella/grid/penalty.h>
#include <tessella/values/polytope_interface_values.h>
#include <tessella/values/polytope_values.h>

#include <Sacado.hpp>
#include <Sacado_Fad_SimpleFad.hpp>
#include <limits>

#include "../assembly/compare.h"
#include "functors.h"

using Tessella::OperatorPoint;
using Tessella::PointwiseRegion;

/// Terms at a point and their derivatives with respect to all rows of the
/// fields: [side of output][output], [side of input][input][side][output].
struct PointResult
{
  std::vector<double> terms, derivatives;
};

/// A functor evaluated with Sacado's numbers. Rows that it has not asked for
/// are NaN, and results that it does not announce are ignored.
template <int dim, typename F>
PointResult
evaluate_by_sacado(const F                                  &f,
                   const PointwiseRegion                     region,
                   const OperatorPoint<dim>                 &p,
                   const std::array<std::vector<double>, 2> &in)
{
  using Number       = Sacado::Fad::SimpleFad<double>;
  using Traits       = Tessella::PointwiseTraits<dim, F>;
  const bool volume  = region == PointwiseRegion::volume;
  const int  n_sides = region == PointwiseRegion::interior_facet ? 2 : 1,
            n_in     = (dim + 1) * Traits::n_inputs,
            n_out = (dim + 1) * Traits::n_outputs, n = n_sides * n_in;
  const unsigned int input =
                       volume ? Traits::volume_input : Traits::facet_input,
                     output =
                       volume ? Traits::volume_output : Traits::facet_output;
  typename Traits::template Input<Number>  u[2];
  typename Traits::template Output<Number> r[2];
  const auto used = [](const unsigned int rows, const int row) {
    return (rows >> (row % (dim + 1) == 0 ? 0 : 1) & 1u) != 0;
  };
  const auto entry = [](auto &terms, const int row) -> Number & {
    const int c = row / (dim + 1), d = row % (dim + 1);
    return d == 0 ? terms.value[c] : terms.gradient[c][d - 1];
  };
  for (int s = 0; s < n_sides; ++s)
    {
      for (int i = 0; i < n_in; ++i)
        entry(u[s], i) = used(input, i)
                           ? Number(n, s * n_in + i, in[s][i])
                           : Number(std::numeric_limits<double>::quiet_NaN());
      for (int o = 0; o < n_out; ++o)
        entry(r[s], o) = Number(n, 0.);
    }
  if constexpr (Traits::has_volume)
    if (volume)
      f.volume(p, u[0], r[0]);
  if constexpr (Traits::has_interior_facet)
    if (n_sides == 2)
      f.interior_facet(p, u[0], u[1], r[0], r[1]);
  if constexpr (Traits::has_boundary_facet)
    if (region == PointwiseRegion::boundary_facet)
      f.boundary_facet(p, u[0], r[0]);
  PointResult result;
  result.terms.resize(n_sides * n_out);
  result.derivatives.resize(n * n_sides * n_out);
  for (int s = 0; s < n_sides; ++s)
    for (int o = 0; o < n_out; ++o)
      if (used(output, o))
        {
          const Number &value         = entry(r[s], o);
          result.terms[s * n_out + o] = value.val();
          for (int i = 0; i < n && i < value.size(); ++i)
            result.derivatives[i * n_sides * n_out + s * n_out + o] =
              value.dx(i);
        }
  return result;
}



template <int dim>
class SlowOperator
{
public:
  using Handler = Tessella::AgglomerationHandler<dim>;
  using Evaluate =
    std::function<PointResult(const PointwiseRegion,
                              const OperatorPoint<dim> &,
                              const std::array<std::vector<double>, 2> &)>;

  /// Test functions are those of the first handler; quadrature points those of
  /// handler @p finest for polynomials of @p order more than its own products.
  SlowOperator(const std::vector<const Handler *> &handlers,
               const unsigned int                  finest,
               const unsigned int                  order,
               const double                        time)
    : handlers(handlers)
    , finest(*handlers[finest])
    , order(order)
    , time(time)
  {
    for (const Handler *handler : handlers)
      {
        const auto &mesh = handler->polytopic_mesh();
        spaces.emplace_back();
        auto &space            = spaces.back();
        space.triangulation    = &handler->get_triangulation();
        space.polytope_of_cell = handler->polytope_of_cell();
        space.degree           = handler->polytopic_dofs().degree;
        space.tensor_product   = handler->polynomial_space() ==
                               Tessella::PolynomialSpaceType::tensor_product;
        for (unsigned int k = 0; k < mesh.n_polytopes(); ++k)
          {
            Point<dim> lower, upper;
            for (int d = 0; d < dim; ++d)
              {
                lower[d] = mesh.box[2 * dim * k + d];
                upper[d] = mesh.box[2 * dim * k + dim + d];
              }
            space.box.emplace_back(lower, upper);
          }
        space.setup();
      }
  }

  /// Residual and Jacobians with respect to all fields.
  void
  compute(const Evaluate                            &evaluate,
          const std::vector<const Vector<double> *> &given)
  {
    fields = given;
    residual.reinit(handlers[0]->n_dofs());
    jacobians.clear();
    for (const Handler *handler : handlers)
      jacobians.emplace_back(residual.size(), handler->n_dofs());
    const auto       &mesh  = finest.polytopic_mesh();
    const UpdateFlags flags = update_quadrature_points | update_JxW_values;
    Tessella::PolytopeValues<dim> values(finest, order, flags);
    OperatorPoint<dim>            p = {};
    p.t                             = time;
    for (unsigned int k = 0; k < mesh.n_polytopes(); ++k)
      {
        values.reinit(k);
        for (const unsigned int q : values.quadrature_point_indices())
          {
            const auto cell = values.cell(q);
            for (unsigned int s = mesh.subcell_offset[k];
                 s < mesh.subcell_offset[k + 1];
                 ++s)
              if (mesh.subcell_cell[s] == cell->active_cell_index())
                p.subcell[0] = s;
            for (int d = 0; d < dim; ++d)
              p.x[d] = values.quadrature_point(q)[d];
            p.h[0]        = std::pow(mesh.measure[k], 1. / dim);
            p.polytope[0] = k;
            p.material[0] = cell->material_id();
            p.facet       = Tessella::invalid_index;
            p.boundary_id = Tessella::invalid_index;
            add_point(evaluate,
                      PointwiseRegion::volume,
                      p,
                      values.JxW(q),
                      values.quadrature_point(q),
                      Tensor<1, dim>());
          }
      }

    Tessella::compute_penalty_factors(*handlers[0],
                                      Tessella::PenaltyFormula::simplex);
    const auto &factor = handlers[0]->polytopic_dofs().penalty_factor;
    Tessella::PolytopeInterfaceValues<dim> facets(
      finest, order, flags | update_normal_vectors);
    for (unsigned int i = 0; i < mesh.n_interfaces(); ++i)
      {
        facets.reinit_interface(i, 0);
        const bool     boundary = facets.at_boundary();
        Tensor<1, dim> shift;
        for (int d = 0; d < dim; ++d)
          shift[d] = mesh.shift[dim * mesh.interface_shift[i] + d];
        for (const unsigned int q : facets.quadrature_point_indices())
          {
            const unsigned int f = facets.facet(q);
            p                    = {};
            p.t                  = time;
            p.facet              = f;
            p.boundary_id =
              boundary ? facets.boundary_id() : Tessella::invalid_index;
            p.penalty = std::max(factor[2 * f], factor[2 * f + 1]);
            for (int d = 0; d < dim; ++d)
              {
                p.x[d]      = facets.quadrature_point(q)[d];
                p.normal[d] = facets.normal_vector(q)[d];
              }
            for (int s = 0; s < (boundary ? 1 : 2); ++s)
              {
                p.polytope[s] = mesh.interface_polytope[2 * i + s];
                p.subcell[s]  = mesh.facet_subcell[2 * f + s];
                p.h[s]        = std::pow(mesh.measure[p.polytope[s]], 1. / dim);
                p.material[s] =
                  finest.active_cell(mesh.subcell_cell[p.subcell[s]])
                    ->material_id();
              }
            add_point(evaluate,
                      boundary ? PointwiseRegion::boundary_facet
                               : PointwiseRegion::interior_facet,
                      p,
                      facets.JxW(q),
                      facets.quadrature_point(q),
                      shift);
          }
      }
  }

  Vector<double>                  residual;
  std::vector<FullMatrix<double>> jacobians;

private:
  // Values and derivatives of a scalar basis function, by row.
  static double
  row(const std::vector<double>         &values,
      const std::vector<Tensor<1, dim>> &gradients,
      const unsigned int                 i,
      const unsigned int                 r)
  {
    return r == 0 ? values[i] : gradients[i][r - 1];
  }

  void
  add_point(const Evaluate           &evaluate,
            const PointwiseRegion     region,
            const OperatorPoint<dim> &p,
            const double              weight,
            const Point<dim>         &x,
            const Tensor<1, dim>     &shift)
  {
    const unsigned int n_sides =
                         region == PointwiseRegion::interior_facet ? 2 : 1,
                       n_fields = handlers.size(), rows = dim + 1;
    std::vector<std::vector<double>>         values[2];
    std::vector<std::vector<Tensor<1, dim>>> gradients[2];
    std::array<std::vector<double>, 2>       in;
    for (unsigned int s = 0; s < n_sides; ++s)
      {
        values[s].resize(n_fields);
        gradients[s].resize(n_fields);
        for (unsigned int f = 0; f < n_fields; ++f)
          {
            spaces[f].evaluate(p.polytope[s],
                               s == 0 ? x : x + shift,
                               values[s][f],
                               gradients[s][f]);
            const unsigned int n = values[s][f].size();
            for (unsigned int c = 0; c < handlers[f]->n_components(); ++c)
              for (unsigned int r = 0; r < rows; ++r)
                {
                  double sum = 0.;
                  for (unsigned int i = 0; i < n; ++i)
                    sum += (*fields[f])(offset(f, p.polytope[s]) + c * n + i) *
                           row(values[s][f], gradients[s][f], i, r);
                  in[s].push_back(sum);
                }
          }
      }
    const PointResult  result = evaluate(region, p, in);
    const unsigned int n_in = in[0].size(), m = handlers[0]->n_components(),
                       n_out = rows * m;
    for (unsigned int t = 0; t < n_sides; ++t)
      for (unsigned int o = 0; o < n_out; ++o)
        for (unsigned int i = 0; i < values[t][0].size(); ++i)
          {
            const double v =
              weight * row(values[t][0], gradients[t][0], i, o % rows);
            const auto test =
              offset(0, p.polytope[t]) + o / rows * values[t][0].size() + i;
            residual(test) += v * result.terms[t * n_out + o];
            for (unsigned int s = 0; s < n_sides; ++s)
              for (unsigned int f = 0, first = 0; f < n_fields;
                   first += rows * handlers[f]->n_components(), ++f)
                for (unsigned int e = 0; e < rows * handlers[f]->n_components();
                     ++e)
                  {
                    const double d =
                      v *
                      result.derivatives
                        [((s * n_in + first + e) * n_sides + t) * n_out + o];
                    const unsigned int n = values[s][f].size();
                    if (d != 0.)
                      for (unsigned int j = 0; j < n; ++j)
                        jacobians[f](test,
                                     offset(f, p.polytope[s]) + e / rows * n +
                                       j) +=
                          d * row(values[s][f], gradients[s][f], j, e % rows);
                  }
          }
  }

  std::uint64_t
  offset(const unsigned int f, const unsigned int k) const
  {
    return handlers[f]->polytopic_dofs().dof_offset[k];
  }

  const std::vector<const Handler *>  handlers;
  const Handler                      &finest;
  const unsigned int                  order;
  const double                        time;
  std::vector<Reference::Space<dim>>  spaces;
  std::vector<const Vector<double> *> fields;
};

#endif
