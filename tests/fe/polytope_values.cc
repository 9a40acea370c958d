// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
// PolytopeValues, PolytopeInterfaceValues, MappingBoundingBox and quadrature on
// polytopes of all kinds of cells: exactness, divergence theorem for basis
// functions, derivatives, both sides of interfaces, FEValues on the bounding
// box, vector-valued functions, hp, periodicity.

#include <deal.II/base/quadrature_lib.h>

#include <deal.II/fe/fe_system.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/fe/mapping_q.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/grid_tools.h>
#include <deal.II/grid/tria.h>
#include <deal.II/lac/vector.h>

#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/values/mapping_bounding_box.h>
#include <tessella/values/polytope_interface_values.h>
#include <tessella/values/polytope_quadrature.h>
#include <tessella/values/polytope_values.h>

#include <algorithm>
#include <random>

#include "../meshes.h"
#include "../tests.h"

using namespace dealii;
using namespace Tessella;

template <int dim>
Agglomeration::Strategy<dim>
scattered(const unsigned int n_polytopes)
{
  return [n_polytopes](const Triangulation<dim> &tria) {
    std::vector<unsigned int> ids(tria.n_active_cells());
    std::mt19937              random(5);
    for (unsigned int i = 0; i < ids.size(); ++i)
      ids[i] = i < n_polytopes ? i
                               : (random() % 4 == 0 ? random() % n_polytopes
                                                    : (i / 3) % n_polytopes);
    return ids;
  };
}

// Maximum of two errors, where NaN counts as large.
double
larger(const double a, const double b)
{
  return std::isnan(b) ? 1e300 : std::max(a, std::abs(b));
}

// Divergence theorem for every basis function, its products with x_d, and each
// direction: int_K d_d (phi_i x_e) = int_dK phi_i x_e n_d. Both sides agree
// only if points, weights, normals, values and gradients are correct.
template <int dim>
void
divergence_theorem(const AgglomerationHandler<dim> &handler)
{
  const UpdateFlags            flags = update_values | update_gradients;
  PolytopeValues<dim>          values(handler, 1, flags);
  PolytopeInterfaceValues<dim> faces(handler, 1, flags);
  double                       error = 0.;
  for (const auto &polytope : handler.polytope_iterators())
    {
      values.reinit(polytope);
      const unsigned int  n = values.n_scalar_functions();
      std::vector<double> sums(n * dim * dim, 0.), sizes(n * dim * dim, 0.);
      const auto          add =
        [&](const unsigned i, const unsigned d, const unsigned e, double x) {
          sums[(i * dim + d) * dim + e] += x;
          sizes[(i * dim + d) * dim + e] += std::abs(x);
        };
      for (const unsigned int q : values.quadrature_point_indices())
        for (unsigned int i = 0; i < n; ++i)
          for (unsigned int d = 0; d < dim; ++d)
            for (unsigned int e = 0; e < dim; ++e)
              add(i,
                  d,
                  e,
                  values.JxW(q) * (values.shape_grad(i, q)[d] *
                                     values.quadrature_point(q)[e] +
                                   (d == e ? values.shape_value(i, q) : 0.)));
      for (unsigned int f = 0; f < polytope.n_faces(); ++f)
        {
          faces.reinit(polytope, f);
          const auto &here = faces.get_polytope_values(0);
          for (const unsigned int q : faces.quadrature_point_indices())
            for (unsigned int i = 0; i < n; ++i)
              for (unsigned int d = 0; d < dim; ++d)
                for (unsigned int e = 0; e < dim; ++e)
                  add(i,
                      d,
                      e,
                      -faces.JxW(q) * here.shape_value(i, q) *
                        faces.quadrature_point(q)[e] *
                        faces.normal_vector(q)[d]);
        }
      for (unsigned int k = 0; k < sums.size(); ++k)
        error = larger(error, sums[k] / (sizes[k] + 1e-10));
    }
  check_below("divergence theorem", error, 1e-12);
}

// Compares gradients and Hessians to difference quotients without FEValues: a
// discrete function is evaluated at two nearby sets of points by its Taylor
// polynomial, which is exact for quadratics.
template <int dim>
void
derivatives(const AgglomerationHandler<dim> &handler)
{
  PolytopeValues<dim> values(
    handler, 0, update_values | update_gradients | update_hessians);
  double gradient = 0., hessian = 0.;
  for (const auto &polytope : handler.polytope_iterators())
    {
      values.reinit(polytope);
      const auto                        box = polytope.bounding_box();
      const Point<dim>                  lower(box.get_boundary_points().first);
      const Point<dim>                  upper(box.get_boundary_points().second);
      const FE_BoundingBoxLegendre<dim> fe(polytope.degree(),
                                           handler.polynomial_space());
      double                            volume = 1.;
      for (unsigned int d = 0; d < dim; ++d)
        volume *= upper[d] - lower[d];
      for (const unsigned int q : values.quadrature_point_indices())
        {
          const auto unit = [&](const Point<dim> &x) {
            Point<dim> xi;
            for (unsigned int d = 0; d < dim; ++d)
              xi[d] = (x[d] - lower[d]) / (upper[d] - lower[d]);
            return xi;
          };
          const Point<dim> x = values.quadrature_point(q);
          for (unsigned int i = 0; i < values.n_scalar_functions(); ++i)
            {
              const double scale = 1. / std::sqrt(volume);
              gradient           = larger(gradient,
                                values.shape_value(i, q) -
                                  scale * fe.shape_value(i, unit(x)));
              for (unsigned int d = 0; d < dim; ++d)
                {
                  const double h = 1e-4 * (upper[d] - lower[d]);
                  Point<dim>   a = x, b = x;
                  a[d] -= h;
                  b[d] += h;
                  const double va = scale * fe.shape_value(i, unit(a)),
                               vb = scale * fe.shape_value(i, unit(b)),
                               v  = scale * fe.shape_value(i, unit(x));
                  gradient =
                    larger(gradient,
                           ((vb - va) / (2 * h) - values.shape_grad(i, q)[d]) /
                             (1. + values.shape_grad(i, q).norm() +
                              std::abs(v) / (upper[d] - lower[d])) *
                             1e-2);
                  hessian =
                    larger(hessian,
                           ((va - 2. * v + vb) / (h * h) -
                            values.shape_hessian(i, q)[d][d]) /
                             (1. + values.shape_hessian(i, q).norm() +
                              std::abs(v) / std::pow(upper[d] - lower[d], 2)));
                }
            }
        }
    }
  check_below("values and gradients", gradient, 1e-8);
  check_below("Hessians", hessian, 1e-5);
}

// Both polytopes see the same facets; jump, average and traces are consistent.
template <int dim>
void
interfaces(const AgglomerationHandler<dim> &handler)
{
  const UpdateFlags            flags = update_values | update_gradients;
  PolytopeInterfaceValues<dim> a(handler, 0, flags), b(handler, 0, flags);
  double                       geometry = 0., functions = 0., combined = 0.;
  bool                         numbering = true;
  double                       measure   = 0.;
  for (const auto &polytope : handler.polytope_iterators())
    for (unsigned int f = 0; f < polytope.n_faces(); ++f)
      {
        a.reinit(polytope, f);
        numbering = numbering && a.at_boundary() == polytope.at_boundary(f);
        if (polytope.at_boundary(f))
          {
            numbering = numbering &&
                        a.boundary_id() == polytope.boundary_id(f) &&
                        a.n_current_interface_dofs() == polytope.n_dofs();
            for (const unsigned int q : a.quadrature_point_indices())
              {
                measure += a.JxW(q);
                combined = larger(combined,
                                  a.jump_in_shape_values(0, q) -
                                    a.average_of_shape_values(0, q));
              }
            continue;
          }
        const auto neighbor = polytope.neighbor(f);
        b.reinit(neighbor, polytope.neighbor_of_agglomerated_neighbor(f));
        const unsigned int n = polytope.n_dofs(), m = neighbor.n_dofs();
        numbering = numbering && a.n_current_interface_dofs() == n + m &&
                    b.n_current_interface_dofs() == n + m &&
                    a.n_quadrature_points == b.n_quadrature_points;
        const auto dofs_a = a.get_interface_dof_indices(),
                   dofs_b = b.get_interface_dof_indices();
        std::vector<types::global_dof_index> own;
        polytope.get_dof_indices(own);
        for (unsigned int i = 0; i < n + m; ++i)
          {
            const unsigned int j = i < n ? m + i : i - n;
            numbering            = numbering && dofs_a[i] == dofs_b[j];
            const auto pair      = a.interface_dof_to_dof_indices(i);
            numbering            = numbering &&
                        pair[i < n ? 0 : 1] == (i < n ? i : i - n) &&
                        pair[i < n ? 1 : 0] == numbers::invalid_unsigned_int &&
                        (i >= n || dofs_a[i] == own[i]);
            for (const unsigned int q : a.quadrature_point_indices())
              for (unsigned int c = 0; c < handler.n_components(); ++c)
                {
                  const double here  = a.shape_value(true, i, q, c),
                               there = a.shape_value(false, i, q, c);
                  functions =
                    larger(functions, here - b.shape_value(false, j, q, c));
                  functions =
                    larger(functions, there - b.shape_value(true, j, q, c));
                  functions = larger(functions,
                                     (a.shape_grad(true, i, q, c) -
                                      b.shape_grad(false, j, q, c))
                                       .norm());
                  combined =
                    larger(combined,
                           a.jump_in_shape_values(i, q, c) - (here - there));
                  combined = larger(combined,
                                    a.average_of_shape_values(i, q, c) -
                                      0.5 * (here + there));
                  combined = larger(combined,
                                    (a.jump_in_shape_gradients(i, q, c) +
                                     b.jump_in_shape_gradients(j, q, c))
                                      .norm());
                  combined = larger(combined,
                                    (a.average_of_shape_gradients(i, q, c) -
                                     b.average_of_shape_gradients(j, q, c))
                                      .norm());
                  const FEValuesExtractors::Scalar extractor(c);
                  combined = larger(combined,
                                    a[extractor].jump_in_values(i, q) -
                                      a.jump_in_shape_values(i, q, c));
                }
          }
        for (const unsigned int q : a.quadrature_point_indices())
          {
            geometry =
              larger(geometry, (a.normal_vector(q) + b.normal(q)).norm());
            geometry = larger(
              geometry,
              (a.get_polytope_values(1).normal_vector(q) - b.normal(q)).norm());
            geometry = larger(geometry, a.normal(q).norm() - 1.);
            geometry = larger(geometry, a.JxW(q) - b.JxW(q));
            geometry = larger(geometry,
                              a.quadrature_point(q).distance(
                                b.get_polytope_values(1).quadrature_point(q)));
          }
      }
  check("numbering of degrees of freedom", numbering);
  check_below("points, weights, normals of both sides", geometry, 1e-13);
  check_below("functions of both sides", functions, 1e-10);
  check_below("jumps and averages", combined, 1e-10);
  deallog << "boundary: " << measure << std::endl;
}

// FEValues with MappingBoundingBox: orthonormal on the box, and the same
// functions as PolytopeValues at the points of polytopes.
template <int dim>
void
fe_values(const AgglomerationHandler<dim> &handler)
{
  const MappingBoundingBox<dim> mapping(handler);
  const FiniteElement<dim>     &fe = handler.get_fe_collection()[0];
  const UpdateFlags flags = update_values | update_gradients | update_hessians |
                            update_quadrature_points | update_JxW_values;
  const QGauss<dim>   gauss(fe.degree + 1);
  FEValues<dim>       box_values(mapping, fe, gauss, flags);
  PolytopeValues<dim> values(handler, 0, flags);
  double              orthonormality = 0., difference = 0., round_trip = 0.;
  for (unsigned int k = 0; k < handler.n_polytopes(); k += 3)
    {
      const auto polytope = handler.polytope(k);
      const auto cells    = polytope.get_agglomerate();
      // reinit() for similar cells of other polytopes as well
      for (const auto &cell : {cells.front(), cells.back()})
        {
          box_values.reinit(typename Triangulation<dim>::cell_iterator(cell));
          for (unsigned int i = 0; i < fe.n_dofs_per_cell(); ++i)
            for (unsigned int j = 0; j < fe.n_dofs_per_cell(); ++j)
              {
                double sum = 0.;
                for (unsigned int q = 0; q < gauss.size(); ++q)
                  for (unsigned int c = 0; c < fe.n_components(); ++c)
                    sum += box_values.shape_value_component(i, q, c) *
                           box_values.shape_value_component(j, q, c) *
                           box_values.JxW(q);
                orthonormality =
                  larger(orthonormality, sum - (i == j ? 1. : 0.));
              }
        }

      values.reinit(polytope);
      std::vector<Point<dim>> unit_points(values.n_quadrature_points);
      mapping.transform_points_real_to_unit_cell(
        cells.front(),
        make_array_view(values.get_quadrature_points()),
        make_array_view(unit_points));
      FEValues<dim> point_values(mapping,
                                 fe,
                                 Quadrature<dim>(unit_points),
                                 flags);
      point_values.reinit(
        typename Triangulation<dim>::cell_iterator(cells.front()));
      for (const unsigned int q : values.quadrature_point_indices())
        {
          round_trip =
            larger(round_trip,
                   mapping
                     .transform_unit_to_real_cell(cells.back(), unit_points[q])
                     .distance(values.quadrature_point(q)));
          for (const unsigned int i : values.dof_indices())
            for (unsigned int c = 0; c < fe.n_components(); ++c)
              {
                difference =
                  larger(difference,
                         values.shape_value_component(i, q, c) -
                           point_values.shape_value_component(i, q, c));
                difference = larger(difference,
                                    (values.shape_grad_component(i, q, c) -
                                     point_values.shape_grad_component(i, q, c))
                                        .norm() *
                                      1e-1);
                difference =
                  larger(difference,
                         (values.shape_hessian_component(i, q, c) -
                          point_values.shape_hessian_component(i, q, c))
                             .norm() *
                           1e-2);
              }
        }
    }
  check_below("FEValues: orthonormal on the box", orthonormality, 1e-12);
  check_below("FEValues: same as PolytopeValues", difference, 1e-10);
  check_below("mapping and its inverse", round_trip, 1e-13);

  // FEFaceValues on the faces of the box. The values depend on the direction,
  // so that a wrong order of the coordinates is visible.
  const auto cell =
    typename Triangulation<dim>::cell_iterator(handler.active_cell(0));
  if (!cell->reference_cell().is_hyper_cube())
    return;
  FEFaceValues<dim> face_values(mapping,
                                fe,
                                QGauss<dim - 1>(3),
                                update_values | update_gradients |
                                  update_quadrature_points | update_JxW_values |
                                  update_normal_vectors);
  const double      scale      = 1. / std::sqrt(mapping.box_volume(cell));
  double            face_error = 0.;
  Tensor<1, dim>    sum_of_normals;
  for (unsigned int f = 0; f < 2 * dim; ++f)
    {
      face_values.reinit(cell, f);
      for (const unsigned int q : face_values.quadrature_point_indices())
        {
          const Point<dim> xi = mapping.transform_real_to_unit_cell(
            cell, face_values.quadrature_point(q));
          face_error = larger(face_error, xi[f / 2] - f % 2);
          sum_of_normals += face_values.JxW(q) * face_values.normal_vector(q);
          for (unsigned int i = 0; i < fe.n_dofs_per_cell(); ++i)
            face_error = larger(face_error,
                                face_values.shape_value(i, q) -
                                  scale * fe.shape_value(i, xi));
        }
    }
  check_below("FEFaceValues on the box",
              larger(face_error, sum_of_normals.norm()),
              1e-11);
}

template <int dim>
void
all(const std::string        &name,
    const Triangulation<dim> &tria,
    const unsigned int        n_polytopes,
    const FiniteElement<dim> &fe,
    const Mapping<dim>       *mapping = nullptr)
{
  deallog.push(name);
  AgglomerationHandler<dim> handler(tria, mapping);
  handler.agglomerate(scattered<dim>(n_polytopes));
  handler.distribute_dofs(fe);

  // Area and the quadrature of the highest monomial, compared with a rule of
  // one degree more.
  PolytopeQuadrature<dim> quadrature, finer;
  double                  error = 0., volume = 0.;
  for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
    for (const unsigned int order : {0, 1, 3, 8})
      {
        quadrature.reinit(handler, k, order);
        finer.reinit(handler, k, order + 10);
        double coarse_sum = 0., fine_sum = 0.;
        for (unsigned int q = 0; q < quadrature.size(); ++q)
          coarse_sum +=
            quadrature.JxW[q] *
            std::pow(2. + quadrature.x[0][q] + 0.5 * quadrature.x[dim - 1][q],
                     order);
        for (unsigned int q = 0; q < finer.size(); ++q)
          fine_sum +=
            finer.JxW[q] *
            std::pow(2. + finer.x[0][q] + 0.5 * finer.x[dim - 1][q], order);
        error = larger(error, coarse_sum / fine_sum - 1.);
        if (order == 0)
          {
            volume += coarse_sum;
            error =
              larger(error, coarse_sum / handler.polytope(k).measure() - 1.);
          }
      }
  check_below("exactness on sub-cells", error, 1e-12);

  // Polynomials times the normal on interfaces.
  InterfaceQuadrature<dim> facets, finer_facets;
  double                   facet_error = 0.;
  for (unsigned int i = 0; i < handler.polytopic_mesh().n_interfaces(); ++i)
    for (const unsigned int order : {0, 1, 3, 4})
      {
        const auto integral = [&](InterfaceQuadrature<dim> &rule,
                                  const unsigned int        rule_order) {
          rule.reinit(handler, i, 0, rule_order);
          Tensor<1, dim> sum;
          for (unsigned int q = 0; q < rule.size(); ++q)
            for (unsigned int d = 0; d < dim; ++d)
              sum[d] +=
                rule.JxW[q] * rule.normal[d][q] *
                std::pow(2. + rule.x[0][q] + 0.5 * rule.x[dim - 1][q], order);
          return sum;
        };
        facet_error =
          larger(facet_error,
                 (integral(facets, order) - integral(finer_facets, order + 10))
                   .norm());
      }
  check_below("exactness on facets", facet_error, 1e-11);
  deallog << "volume: " << volume << std::endl;

  divergence_theorem(handler);
  if (fe.n_components() == 1)
    derivatives(handler);
  interfaces(handler);
  fe_values(handler);
  deallog.pop();
}

template <int dim>
void
vector_valued(const Triangulation<dim> &tria)
{
  deallog.push("views");
  AgglomerationHandler<dim> handler(tria);
  handler.agglomerate(scattered<dim>(7));
  handler.distribute_dofs(
    FESystem<dim>(FE_BoundingBoxLegendre<dim>(2), dim + 1));
  Vector<double> vector(handler.n_dofs());
  std::mt19937   random(3);
  for (double &v : vector)
    v = (random() % 1000) * 1e-3 - 0.5;

  PolytopeValues<dim> values(
    handler, 0, update_values | update_gradients | update_hessians);
  const FEValuesExtractors::Vector velocity(1);
  const FEValuesExtractors::Scalar pressure(0);
  double                           error = 0.;
  for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
    {
      values.reinit(k);
      std::vector<Tensor<1, dim>>              u;
      std::vector<Tensor<2, dim>>              grad_u;
      std::vector<double>                      p, div_u;
      std::vector<Tensor<1, dim>>              grad_p;
      std::vector<Vector<double>>              all_values;
      std::vector<std::vector<Tensor<1, dim>>> all_gradients;
      values[velocity].get_function_values(vector, u);
      values[velocity].get_function_gradients(vector, grad_u);
      values[velocity].get_function_divergences(vector, div_u);
      values[pressure].get_function_values(vector, p);
      values[pressure].get_function_gradients(vector, grad_p);
      values.get_function_values(vector, all_values);
      values.get_function_gradients(vector, all_gradients);
      std::vector<types::global_dof_index> dofs;
      handler.polytope(k).get_dof_indices(dofs);
      for (const unsigned int q : values.quadrature_point_indices())
        {
          Tensor<1, dim> sum_u, sum_grad_p;
          Tensor<2, dim> sum_grad_u;
          double         sum_p = 0., sum_div = 0.;
          for (const unsigned int i : values.dof_indices())
            {
              const double c = vector(dofs[i]);
              sum_u += c * values[velocity].value(i, q);
              sum_grad_u += c * values[velocity].gradient(i, q);
              sum_div += c * values[velocity].divergence(i, q);
              sum_p += c * values[pressure].value(i, q);
              sum_grad_p += c * values[pressure].gradient(i, q);
              error = larger(error,
                             (values[velocity].symmetric_gradient(i, q) -
                              symmetrize(values[velocity].gradient(i, q)))
                               .norm());
            }
          error = larger(error, (sum_u - u[q]).norm());
          error = larger(error, (sum_grad_u - grad_u[q]).norm() * 1e-1);
          error = larger(error, (sum_div - div_u[q]) * 1e-1);
          error = larger(error, (trace(grad_u[q]) - div_u[q]) * 1e-1);
          error = larger(error, sum_p - p[q]);
          error = larger(error, (sum_grad_p - grad_p[q]).norm() * 1e-1);
          error = larger(error, all_values[q](0) - p[q]);
          for (unsigned int d = 0; d < dim; ++d)
            {
              error = larger(error, all_values[q](1 + d) - u[q][d]);
              error =
                larger(error,
                       (all_gradients[q][1 + d] - grad_u[q][d]).norm() * 1e-1);
            }
        }
    }
  check_below("discrete functions", error, 1e-11);
  std::vector<double> wrong;
  check_throws<ExceptionBase>(
    "several components need an extractor",
    [&]() { values.get_function_values(vector, wrong); },
    "components");
  deallog.pop();
}

// Views on tensors, curls, second derivatives and discrete functions on
// interfaces, against the components.
template <int dim>
void
tensor_valued(const Triangulation<dim> &tria)
{
  deallog.push("tensors");
  AgglomerationHandler<dim> handler(tria);
  handler.agglomerate(scattered<dim>(7));
  handler.distribute_dofs(
    FESystem<dim>(FE_BoundingBoxLegendre<dim>(2), dim * dim));
  Vector<double> vector(handler.n_dofs());
  std::mt19937   random(3);
  for (double &v : vector)
    v = (random() % 1000) * 1e-3 - 0.5;
  const UpdateFlags flags = update_values | update_gradients | update_hessians;
  PolytopeValues<dim>                          values(handler, 0, flags);
  PolytopeInterfaceValues<dim>                 faces(handler, 0, flags);
  const FEValuesExtractors::Tensor<2>          full(0);
  const FEValuesExtractors::SymmetricTensor<2> symmetric(0);
  const FEValuesExtractors::Vector             row(dim);
  double                                       error = 0.;
  for (const auto &polytope : handler.polytope_iterators())
    {
      values.reinit(polytope);
      std::vector<Tensor<2, dim>>          of_function;
      std::vector<SymmetricTensor<2, dim>> symmetric_function;
      std::vector<Vector<double>>          all;
      values[full].get_function_values(vector, of_function);
      values[symmetric].get_function_values(vector, symmetric_function);
      values.get_function_values(vector, all);
      for (const unsigned int q : values.quadrature_point_indices())
        {
          for (unsigned int c = 0; c < dim * dim; ++c)
            error = larger(error, of_function[q][c / dim][c % dim] - all[q](c));
          for (unsigned int c = 0;
               c < SymmetricTensor<2, dim>::n_independent_components;
               ++c)
            error =
              larger(error,
                     symmetric_function[q].access_raw_entry(c) - all[q](c));
          for (const unsigned int i : values.dof_indices())
            {
              Tensor<1, dim>          div, symmetric_div;
              SymmetricTensor<2, dim> unit;
              for (unsigned int d = 0; d < dim; ++d)
                for (unsigned int e = 0; e < dim; ++e)
                  {
                    div[d] += values.shape_grad_component(i, q, dim * d + e)[e];
                    const unsigned int c =
                      SymmetricTensor<2, dim>::component_to_unrolled_index(
                        TableIndices<2>(d, e));
                    symmetric_div[d] += values.shape_grad_component(i, q, c)[e];
                    unit[d][e] = values.shape_value_component(i, q, c);
                    error =
                      larger(error,
                             values[full].value(i, q)[d][e] -
                               values.shape_value_component(i, q, dim * d + e));
                  }
              error =
                larger(error,
                       (values[full].divergence(i, q) - div).norm() * 1e-1);
              error = larger(
                error,
                (values[symmetric].divergence(i, q) - symmetric_div).norm() *
                  1e-1);
              error =
                larger(error, (values[symmetric].value(i, q) - unit).norm());
              const auto gradient = values[row].gradient(i, q);
              const auto curl     = values[row].curl(i, q);
              error               = larger(error,
                             (gradient[1][0] - gradient[0][1] -
                              curl[dim == 2 ? 0 : 2]) *
                               1e-1);
              for (unsigned int d = 0; d < dim; ++d)
                error = larger(error,
                               (values[row].hessian(i, q)[d] -
                                values.shape_hessian_component(i, q, dim + d))
                                   .norm() *
                                 1e-2);
            }
        }
      for (unsigned int f = 0; f < polytope->n_faces(); ++f)
        {
          faces.reinit(polytope, f);
          std::vector<Tensor<1, dim>> jump, average;
          std::vector<Tensor<2, dim>> gradient_jump, gradient_average;
          faces[row].get_jump_in_function_values(vector, jump);
          faces[row].get_average_of_function_values(vector, average);
          faces[row].get_jump_in_function_gradients(vector, gradient_jump);
          faces[row].get_average_of_function_gradients(vector,
                                                       gradient_average);
          const auto dofs = faces.get_interface_dof_indices();
          for (const unsigned int q : faces.quadrature_point_indices())
            {
              for (const unsigned int i : faces.dof_indices())
                {
                  const double c = vector(dofs[i]);
                  jump[q] -= c * faces[row].jump_in_values(i, q);
                  average[q] -= c * faces[row].average_of_values(i, q);
                  gradient_jump[q] -= c * faces[row].jump_in_gradients(i, q);
                  gradient_average[q] -=
                    c * faces[row].average_of_gradients(i, q);
                  error =
                    larger(error,
                           (faces[row].average_of_symmetric_gradients(i, q) -
                            symmetrize(faces[row].average_of_gradients(i, q)))
                             .norm());
                  for (unsigned int d = 0; d < dim; ++d)
                    error = larger(error,
                                   (faces[row].jump_in_hessians(i, q)[d] -
                                    faces.jump_in_shape_hessians(i, q, dim + d))
                                       .norm() *
                                     1e-2);
                }
              error = larger(error, jump[q].norm() + average[q].norm());
              error =
                larger(error,
                       (gradient_jump[q].norm() + gradient_average[q].norm()) *
                         1e-1);
            }
        }
    }
  check_below("views", error, 1e-11);
  deallog.pop();
}

// A function of the space that is smooth and periodic has no jumps across a
// periodic boundary. Here: constants; the points differ by the period.
void
periodic()
{
  deallog.push("periodic");
  Triangulation<2> tria;
  GridGenerator::hyper_cube(tria, 0., 2., true);
  add_periodic_faces(tria, {0});
  tria.refine_global(2);
  AgglomerationHandler<2> handler(tria);
  handler.agglomerate(scattered<2>(5));
  handler.distribute_dofs(FE_BoundingBoxLegendre<2>(1));
  Vector<double> one(handler.n_dofs());
  for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
    {
      std::vector<types::global_dof_index> dofs;
      handler.polytope(k).get_dof_indices(dofs);
      one(dofs[0]) = std::sqrt(handler.bounding_box(k).volume());
    }
  PolytopeInterfaceValues<2> values(handler,
                                    0,
                                    update_values | update_gradients);
  double                     length = 0., error = 0.;
  for (unsigned int i = 0; i < handler.polytopic_mesh().n_interfaces(); ++i)
    for (unsigned int side = 0; side < 2; ++side)
      {
        if (side == 1 &&
            handler.polytopic_mesh().interface_polytope[2 * i + 1] ==
              invalid_index)
          continue;
        values.reinit_interface(i, side);
        if (handler.polytopic_mesh().interface_shift[i] == 0)
          continue;
        std::vector<double> jump;
        values.get_jump_in_function_values(one, jump);
        for (const unsigned int q : values.quadrature_point_indices())
          {
            length += values.JxW(q);
            error = larger(error, jump[q]);
            const Tensor<1, 2> shift =
              values.get_polytope_values(1).quadrature_point(q) -
              values.quadrature_point(q);
            error = larger(error, std::abs(shift[0]) - 2.);
            error = larger(error, shift[1]);
            // outward: to the right at x = 2, to the left at x = 0
            error = larger(error,
                           values.normal_vector(q)[0] -
                             (values.quadrature_point(q)[0] > 1. ? 1. : -1.));
          }
      }
  check_close("length, seen from both sides", length, 4., 1e-12);
  check_below("jump, shift, normal", error, 1e-13);
  deallog.pop();
}

void
several_degrees()
{
  deallog.push("hp");
  Triangulation<2> tria;
  GridGenerator::hyper_cube(tria);
  tria.refine_global(3);
  AgglomerationHandler<2> handler(tria);
  handler.agglomerate(scattered<2>(9));
  hp::FECollection<2>       fe;
  std::vector<unsigned int> indices;
  for (unsigned int p = 0; p < 4; ++p)
    fe.push_back(FE_BoundingBoxLegendre<2>(p));
  for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
    indices.push_back(k % 4);
  handler.distribute_dofs(fe, indices);
  divergence_theorem(handler);
  interfaces(handler);
  PolytopeValues<2> values(handler, 0, update_values);
  bool              good = true;
  for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
    {
      values.reinit(k);
      good = good && values.dofs_per_cell == (k % 4 + 1) * (k % 4 + 2) / 2 &&
             values.get_fe().degree == k % 4 &&
             values.cell(0)->material_id() == values.material_id(0);
    }
  check("degrees", good);
  deallog.pop();
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);

  {
    Triangulation<2> tria;
    GridGenerator::hyper_cube(tria);
    tria.refine_global(2);
    tria.begin_active()->set_refine_flag();
    tria.execute_coarsening_and_refinement();
    GridTools::distort_random(0.3, tria, true, 1);
    all<2>("quadrilaterals, hanging nodes",
           tria,
           6,
           FE_BoundingBoxLegendre<2>(3));
    all<2>("vector-valued",
           tria,
           6,
           FESystem<2>(FE_BoundingBoxLegendre<2>(2), 2));
    all<2>("tensor product",
           tria,
           6,
           FE_BoundingBoxLegendre<2>(2, PolynomialSpaceType::tensor_product));
    vector_valued(tria);
    tensor_valued(tria);
  }
  {
    Triangulation<2> tria;
    GridGenerator::subdivided_hyper_cube_with_simplices(tria, 4);
    all<2>("triangles", tria, 6, FE_BoundingBoxLegendre<2>(3));
  }
  {
    Triangulation<3> tria;
    GridGenerator::hyper_cube(tria);
    tria.refine_global(1);
    tria.begin_active()->set_refine_flag();
    tria.execute_coarsening_and_refinement();
    GridTools::distort_random(0.2, tria, true, 1);
    all<3>("hexahedra, hanging nodes", tria, 4, FE_BoundingBoxLegendre<3>(2));
    vector_valued(tria);
    tensor_valued(tria);
  }
  {
    Triangulation<3> tria;
    GridGenerator::subdivided_hyper_cube_with_simplices(tria, 2);
    all<3>("tetrahedra", tria, 5, FE_BoundingBoxLegendre<3>(3));
  }
  {
    Triangulation<2> tria;
    GridGenerator::hyper_ball(tria);
    tria.refine_global(1);
    const MappingQ<2> mapping(3);
    all<2>("disk", tria, 5, FE_BoundingBoxLegendre<2>(3), &mapping);
  }
  {
    Triangulation<3> tria;
    GridGenerator::hyper_ball(tria);
    const MappingQ<3> mapping(2);
    all<3>("ball", tria, 3, FE_BoundingBoxLegendre<3>(2), &mapping);
  }
  periodic();
  several_degrees();
}
