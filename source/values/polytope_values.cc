// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/memory_consumption.h>

#include <tessella/portable/legendre.h>
#include <tessella/values/polytope_values.h>

#include <cmath>
#include <string>

namespace Tessella
{
  using namespace dealii;

  template <int dim>
  PolytopeValuesBase<dim>::PolytopeValuesBase(
    const AgglomerationHandler<dim> &handler,
    const unsigned int               extra_order,
    const UpdateFlags                update_flags)
    : handler(&handler)
    , extra_order(extra_order)
    , flags(update_flags)
  {
    AssertThrow(!handler.polytopic_dofs().degree.empty(),
                ExcMessage("The handler has no degrees of freedom yet: call "
                           "distribute_dofs() before evaluating shape "
                           "functions."));
    const UpdateFlags known = update_values | update_gradients |
                              update_hessians | update_quadrature_points |
                              update_JxW_values | update_normal_vectors;
    AssertThrow((update_flags & known) == update_flags,
                ExcMessage("Polytopes have values, gradients, Hessians, "
                           "quadrature points, JxW values and normal vectors; "
                           "other update flags are not known."));

    // The functions of a space of lower degree come first in one of higher
    // degree, so that a single table serves all polytopes.
    const bool tensor =
      handler.polynomial_space() == PolynomialSpaceType::tensor_product;
    const unsigned int degree = handler.max_degree();
    exponents.resize(dim * Legendre::n_functions(dim, degree, tensor));
    Legendre::exponents(dim, degree, tensor, exponents.data());

    // This call is not part of reinit(), which several threads may call for
    // their own objects.
    handler.tabulate(
      internal::integrand_degree(dim, degree, extra_order, tensor) -
      2 * degree);
  }



  template <int dim>
  void
  PolytopeValuesBase<dim>::get_dof_indices(
    std::vector<types::global_dof_index> &indices) const
  {
    const types::global_dof_index first =
      polytope == invalid_index ? 0 : handler->first_dof(polytope);
    indices.resize(dofs_per_cell);
    for (unsigned int i = 0; i < dofs_per_cell; ++i)
      indices[i] = first + i;
  }



  template <int dim>
  void
  PolytopeValuesBase<dim>::check_scalar() const
  {
    AssertThrow(handler->n_components() == 1,
                ExcMessage("The handler has " +
                           std::to_string(handler->n_components()) +
                           " components: choose one with an extractor, or "
                           "give an array with room for all of them."));
  }



  template <int dim>
  void
  PolytopeValuesBase<dim>::clear()
  {
    polytope            = invalid_index;
    n_basis             = 0;
    dofs_per_cell       = 0;
    n_quadrature_points = 0;
    points.clear();
    JxW_values.clear();
    normals.clear();
    subcells.clear();
    materials.clear();
    values.clear();
    gradients.clear();
    hessians.clear();
  }



  template <int dim>
  void
  PolytopeValuesBase<dim>::fill(
    const unsigned int                          new_polytope,
    const unsigned int                          n_points,
    const std::array<std::vector<double>, dim> &x,
    const std::vector<double>                  &JxW,
    const std::vector<unsigned int>            &new_subcells,
    const std::vector<unsigned int>            &new_materials,
    const std::array<std::vector<double>, dim> *new_normals,
    const double                                normal_sign)
  {
    polytope            = new_polytope;
    n_quadrature_points = n_points;
    n_basis             = handler->polytopic_dofs().n_basis[polytope];
    dofs_per_cell       = n_basis * handler->n_components();

    points.resize(n_points);
    for (unsigned int q = 0; q < n_points; ++q)
      for (unsigned int d = 0; d < dim; ++d)
        points[q][d] = x[d][q];
    if (new_normals != nullptr)
      {
        normals.resize(n_points);
        for (unsigned int q = 0; q < n_points; ++q)
          for (unsigned int d = 0; d < dim; ++d)
            normals[q][d] = normal_sign * (*new_normals)[d][q];
      }
    JxW_values = JxW;
    subcells   = new_subcells;
    materials  = new_materials;
    evaluate(x);
  }



  namespace
  {
    /// Derivative m of function k of one variable: [m][k].
    using Table = double[3][Legendre::max_degree + 1];

    /// Computes the first @p n_derivatives derivatives at the point @p xi of
    /// the unit interval. @p scale is the norm of the functions and @p inverse
    /// the derivative of xi.
    inline void
    fill_table(const unsigned int degree,
               const unsigned int n_derivatives,
               const double       xi,
               const double       scale,
               const double       inverse,
               Table             &t)
    {
      if (n_derivatives == 0)
        Legendre::evaluate(degree, xi, t[0]);
      else
        Legendre::evaluate(degree, xi, t[0], t[1]);
      if (n_derivatives > 1)
        {
          // P''_k = P''_{k-2} + (2k-1) P'_{k-1}; the tables hold
          // sqrt(2k+1) P_k.
          double a = 0., b = 0.;
          for (unsigned int k = 0; k <= degree; ++k)
            {
              const double next = k == 0
                                    ? 0.
                                    : a + (2. * k - 1.) * t[1][k - 1] /
                                            Legendre::internal::scale(k - 1);
              t[2][k] =
                next * Legendre::internal::scale(k) * scale * inverse * inverse;
              a = b;
              b = next;
            }
        }
      for (unsigned int k = 0; k <= degree; ++k)
        t[0][k] *= scale;
      if (n_derivatives > 0)
        for (unsigned int k = 0; k <= degree; ++k)
          t[1][k] *= scale * inverse;
    }

    // Products of functions of one variable with exponents k. Those derivatives
    // are computed whose pointer is not null.

    inline void
    multiply(const Table (&table)[2],
             const unsigned char *k,
             double              *value,
             Tensor<1, 2>        *gradient,
             Tensor<2, 2>        *hessian)
    {
      const double a = table[0][0][k[0]], b = table[1][0][k[1]];
      if (value != nullptr)
        *value = a * b;
      if (gradient != nullptr)
        {
          (*gradient)[0] = table[0][1][k[0]] * b;
          (*gradient)[1] = a * table[1][1][k[1]];
        }
      if (hessian != nullptr)
        {
          Tensor<2, 2> &H = *hessian;
          H[0][0]         = table[0][2][k[0]] * b;
          H[1][1]         = a * table[1][2][k[1]];
          H[0][1]         = table[0][1][k[0]] * table[1][1][k[1]];
          H[1][0]         = H[0][1];
        }
    }

    inline void
    multiply(const Table (&table)[3],
             const unsigned char *k,
             double              *value,
             Tensor<1, 3>        *gradient,
             Tensor<2, 3>        *hessian)
    {
      const double a = table[0][0][k[0]], b = table[1][0][k[1]],
                   c  = table[2][0][k[2]];
      const double ab = a * b;
      if (value != nullptr)
        *value = ab * c;
      if (gradient != nullptr)
        {
          (*gradient)[0] = table[0][1][k[0]] * b * c;
          (*gradient)[1] = a * table[1][1][k[1]] * c;
          (*gradient)[2] = ab * table[2][1][k[2]];
        }
      if (hessian != nullptr)
        {
          const double da = table[0][1][k[0]], db = table[1][1][k[1]],
                       dc = table[2][1][k[2]];
          Tensor<2, 3> &H = *hessian;
          H[0][0]         = table[0][2][k[0]] * b * c;
          H[1][1]         = a * table[1][2][k[1]] * c;
          H[2][2]         = ab * table[2][2][k[2]];
          H[0][1]         = da * db * c;
          H[0][2]         = da * b * dc;
          H[1][2]         = a * db * dc;
          H[1][0]         = H[0][1];
          H[2][0]         = H[0][2];
          H[2][1]         = H[1][2];
        }
    }
  } // namespace



  template <int dim>
  void
  PolytopeValuesBase<dim>::evaluate(
    const std::array<std::vector<double>, dim> &x)
  {
    const PolytopicMesh<dim> &mesh = handler->polytopic_mesh();
    const unsigned int degree      = handler->polytopic_dofs().degree[polytope];
    const double      *corners     = &mesh.box[2 * dim * std::size_t(polytope)];

    const bool        need_values    = flags & update_values;
    const bool        need_gradients = flags & update_gradients;
    const bool        need_hessians  = flags & update_hessians;
    const std::size_t n = std::size_t(n_quadrature_points) * n_basis;
    values.resize(need_values ? n : 0);
    gradients.resize(need_gradients ? n : 0);
    hessians.resize(need_hessians ? n : 0);
    if (!need_values && !need_gradients && !need_hessians)
      return;

    // xi = (x - center) * inverse and d xi / dx = inverse. The factor 1 /
    // sqrt(extent) makes the functions orthonormal on the bounding box.
    double center[dim], inverse[dim], scale[dim];
    for (unsigned int d = 0; d < dim; ++d)
      {
        const double extent = corners[dim + d] - corners[d];
        center[d]           = 0.5 * (corners[dim + d] + corners[d]);
        inverse[d]          = 2. / extent;
        scale[d]            = 1. / std::sqrt(extent);
      }

    Table table[dim];
    for (unsigned int q = 0; q < n_quadrature_points; ++q)
      {
        for (unsigned int d = 0; d < dim; ++d)
          fill_table(degree,
                     need_hessians ? 2 : (need_gradients ? 1 : 0),
                     (x[d][q] - center[d]) * inverse[d],
                     scale[d],
                     inverse[d],
                     table[d]);
        const std::size_t    first = std::size_t(q) * n_basis;
        const unsigned char *k     = exponents.data();
        for (unsigned int i = 0; i < n_basis; ++i, k += dim)
          multiply(table,
                   k,
                   need_values ? &values[first + i] : nullptr,
                   need_gradients ? &gradients[first + i] : nullptr,
                   need_hessians ? &hessians[first + i] : nullptr);
      }
  }



  template <int dim>
  std::size_t
  PolytopeValuesBase<dim>::memory_consumption() const
  {
    return sizeof(*this) + MemoryConsumption::memory_consumption(exponents) +
           MemoryConsumption::memory_consumption(points) +
           MemoryConsumption::memory_consumption(JxW_values) +
           MemoryConsumption::memory_consumption(normals) +
           MemoryConsumption::memory_consumption(subcells) +
           MemoryConsumption::memory_consumption(materials) +
           MemoryConsumption::memory_consumption(values) +
           MemoryConsumption::memory_consumption(gradients) +
           MemoryConsumption::memory_consumption(hessians);
  }



  template <int dim>
  void
  PolytopeValues<dim>::reinit(const unsigned int polytope)
  {
    const AgglomerationHandler<dim> &handler = *this->handler;
    AssertIndexRange(polytope, handler.polytopic_mesh().n_polytopes());
    quadrature.reinit(
      handler,
      polytope,
      internal::mass_order(handler, handler.polytopic_dofs().degree[polytope]) +
        this->extra_order);
    this->fill(polytope,
               quadrature.size(),
               quadrature.x,
               quadrature.JxW,
               quadrature.subcell,
               quadrature.material);
  }



  template class PolytopeValuesBase<2>;
  template class PolytopeValuesBase<3>;
  template class PolytopeValues<2>;
  template class PolytopeValues<3>;
} // namespace Tessella
