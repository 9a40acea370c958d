// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <tessella/forms/discrete_function.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "../base/vector_types.h"
#include "../grid/subcell_tree.h"
#include "field_source.h"

namespace Tessella
{
  using namespace dealii;

  template <int dim>
  struct DiscreteFunction<dim>::Implementation
  {
    internal::SharedFieldSource<dim> source;
    // Search for the sub-cell of a point, built on first use.
    std::unique_ptr<internal::SubCellTree<dim>> tree;
    std::uint64_t                               tree_revision = 0;
    std::mutex                                  mutex;

    // Sub-cell of a point.
    unsigned int
    find(const Point<dim> &p)
    {
      const AgglomerationHandler<dim>  &handler = source->handler;
      const internal::SubCellTree<dim> *present = nullptr;
      {
        const std::lock_guard<std::mutex> lock(mutex);
        const std::uint64_t revision = handler.polytopic_mesh().revision;
        if (tree == nullptr || tree_revision != revision)
          {
            tree = std::make_unique<internal::SubCellTree<dim>>(handler);
            tree_revision = revision;
          }
        present = tree.get();
      }
      const unsigned int subcell = present->find(p);
      if (subcell == invalid_index)
        {
          std::ostringstream text;
          text << "A discrete function was evaluated at the point (" << p
               << "), which is in none of the polytopes that this process has.";
          AssertThrow(false, ExcMessage(text.str()));
        }
      return subcell;
    }
  };



  namespace
  {
    // Basis functions of a polytope at a point, and their gradients.
    template <int dim>
    class BasisAt
    {
    public:
      BasisAt(const double *box, const unsigned int degree, const double *x)
      {
        factor = 1.;
        for (unsigned int d = 0; d < dim; ++d)
          {
            const double lower = box[d], upper = box[dim + d];
            scale[d] = 2. / (upper - lower);
            factor *= 0.5 * scale[d];
            const double xi = (x[d] - 0.5 * (lower + upper)) * scale[d];
            // Curved cells may extend beyond the box.
            AssertThrow(std::abs(xi) <= 1.5,
                        ExcMessage(
                          "A discrete function is a coefficient on other "
                          "polytopes than its own: they must be those of the "
                          "space that is assembled."));
            Legendre::evaluate(degree, xi, v[d], g[d]);
          }
        factor = std::sqrt(factor);
      }

      double
      value(const unsigned char *k) const
      {
        double product = factor;
        for (unsigned int d = 0; d < dim; ++d)
          product *= v[d][k[d]];
        return product;
      }

      double
      derivative(const unsigned char *k, const unsigned int d) const
      {
        double product = factor * scale[d];
        for (unsigned int e = 0; e < dim; ++e)
          product *= e == d ? g[e][k[e]] : v[e][k[e]];
        return product;
      }

    private:
      static constexpr int n = Legendre::max_degree + 1;
      double               v[dim][n], g[dim][n], scale[dim], factor;
    };
  } // namespace



  template <int dim>
  template <typename VectorType>
  DiscreteFunction<dim>::DiscreteFunction(
    const AgglomerationHandler<dim> &handler, const VectorType &vector)
    : Function<dim>(handler.n_components())
    , implementation(std::make_shared<Implementation>())
  {
    implementation->source =
      std::make_shared<internal::FieldSource<dim>>(handler, vector);
    prepare();
  }



  template <int dim>
  void
  DiscreteFunction<dim>::prepare() const
  {
    internal::FieldSource<dim> &source = *implementation->source;
    AssertThrow(source.handler.n_components() == this->n_components,
                ExcMessage("A discrete function was created with " +
                           std::to_string(this->n_components) +
                           " components, but its handler has " +
                           std::to_string(source.handler.n_components()) +
                           " now: create it again after distribute_dofs()."));
    source.prepare();
  }



  template <int dim>
  DiscreteField<dim>
  DiscreteFunction<dim>::component(const unsigned int c) const
  {
    AssertThrow(c < this->n_components,
                ExcMessage("Component " + std::to_string(c) +
                           " of a discrete function was asked for, which has " +
                           std::to_string(this->n_components) +
                           " components, counted from 0."));
    return DiscreteField<dim>(implementation->source->handler,
                              implementation->source,
                              c);
  }



  template <int dim>
  unsigned int
  DiscreteFunction<dim>::degree() const
  {
    return implementation->source->degree();
  }



  template <int dim>
  void
  DiscreteFunction<dim>::evaluate(const unsigned int   n_points,
                                  const unsigned int  *subcell,
                                  const double *const *x,
                                  double *const       *values,
                                  double *const       *gradients) const
  {
    internal::FieldSource<dim> &source = *implementation->source;
    const PolytopicMesh<dim>   &mesh   = source.handler.polytopic_mesh();
    const PolytopicDoFs        &dofs   = source.handler.polytopic_dofs();
    const double *const         vector = source.host_values();
    const unsigned int          m      = this->n_components;
    source.for_points(
      n_points, subcell, [&](const unsigned int q, const unsigned int k) {
        double point[dim];
        for (unsigned int d = 0; d < dim; ++d)
          point[d] = x[d][q];
        const BasisAt<dim>  basis(&mesh.box[2 * dim * std::size_t(k)],
                                 dofs.degree[k],
                                 point);
        const unsigned int  n = dofs.n_basis[k];
        const double *const u = vector + dofs.dof_offset[k];
        for (unsigned int c = 0; c < m; ++c)
          {
            values[c][q] = 0.;
            for (unsigned int d = 0; d < dim && gradients != nullptr; ++d)
              gradients[c * dim + d][q] = 0.;
          }
        for (unsigned int i = 0; i < n; ++i)
          {
            const unsigned char *const exponents = source.exponents() + i * dim;
            const double               value     = basis.value(exponents);
            for (unsigned int c = 0; c < m; ++c)
              values[c][q] += value * u[c * n + i];
            if (gradients != nullptr)
              for (unsigned int d = 0; d < dim; ++d)
                {
                  const double slope = basis.derivative(exponents, d);
                  for (unsigned int c = 0; c < m; ++c)
                    gradients[c * dim + d][q] += slope * u[c * n + i];
                }
          }
      });
  }



  template <int dim>
  double
  DiscreteFunction<dim>::value(const Point<dim>  &p,
                               const unsigned int component) const
  {
    AssertIndexRange(component, this->n_components);
    Vector<double> values(this->n_components);
    vector_value(p, values);
    return values[component];
  }



  template <int dim>
  void
  DiscreteFunction<dim>::vector_value(const Point<dim> &p,
                                      Vector<double>   &values) const
  {
    AssertDimension(values.size(), this->n_components);
    const unsigned int    subcell = implementation->find(p);
    const double         *x[dim];
    std::vector<double *> pointers(this->n_components);
    for (unsigned int d = 0; d < dim; ++d)
      x[d] = &p[d];
    for (unsigned int c = 0; c < this->n_components; ++c)
      pointers[c] = &values[c];
    evaluate(1, &subcell, x, pointers.data());
  }



  template <int dim>
  Tensor<1, dim>
  DiscreteFunction<dim>::gradient(const Point<dim>  &p,
                                  const unsigned int component) const
  {
    AssertIndexRange(component, this->n_components);
    const unsigned int subcell = implementation->find(p);
    const double      *x[dim];
    double             value;
    Tensor<1, dim>     gradient;
    double            *gradients[dim];
    for (unsigned int d = 0; d < dim; ++d)
      {
        x[d]         = &p[d];
        gradients[d] = &gradient[d];
      }
    this->component(component).evaluate(1, &subcell, x, &value, gradients);
    return gradient;
  }



#define TESSELLA_INSTANTIATE(dim, VectorType)       \
  template DiscreteFunction<dim>::DiscreteFunction( \
    const AgglomerationHandler<dim> &, const VectorType &);

#define TESSELLA_INSTANTIATE_ALL(dim)                  \
  template class DiscreteFunction<dim>;                \
  TESSELLA_FOR_VECTOR_TYPES(TESSELLA_INSTANTIATE, dim) \
  TESSELLA_INSTANTIATE(dim, HostVector<double>)        \
  TESSELLA_INSTANTIATE(dim, DeviceVector<double>)

  TESSELLA_INSTANTIATE_ALL(2)
  TESSELLA_INSTANTIATE_ALL(3)
#undef TESSELLA_INSTANTIATE_ALL
#undef TESSELLA_INSTANTIATE
} // namespace Tessella
