// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>

#include <tessella/forms/discrete_field.h>
#include <tessella/forms/field_evaluation.h>

#include <memory>
#include <string>
#include <type_traits>

#include "../base/vector_types.h"
#include "field_source.h"

namespace Tessella
{
  using namespace dealii;

  template <int dim>
  struct DiscreteField<dim>::Implementation
  {
    internal::SharedFieldSource<dim> source;
    unsigned int                     component = 0;
  };



  template <int dim>
  template <typename VectorType>
  DiscreteField<dim>::DiscreteField(const AgglomerationHandler<dim> &handler,
                                    const VectorType                &vector,
                                    const unsigned int               component)
    : implementation(std::make_shared<Implementation>())
  {
    implementation->component = component;
    if constexpr (std::is_same<VectorType,
                               internal::SharedFieldSource<dim>>::value)
      implementation->source = vector;
    else
      {
        implementation->source =
          std::make_shared<internal::FieldSource<dim>>(handler, vector);
        prepare();
      }
  }



  template <int dim>
  void
  DiscreteField<dim>::prepare() const
  {
    AssertThrow(component() < n_components(),
                ExcMessage("A discrete field is component " +
                           std::to_string(component()) +
                           " of a function, but its handler has " +
                           std::to_string(n_components()) +
                           " components, counted from 0."));
    implementation->source->prepare();
  }



  template <int dim>
  void
  DiscreteField<dim>::evaluate(const unsigned int   n_points,
                               const unsigned int  *subcell,
                               const double *const *x,
                               double              *values,
                               double *const       *gradients) const
  {
    internal::FieldSource<dim> &source       = *implementation->source;
    const PolytopicMesh<dim>   &mesh         = source.handler.polytopic_mesh();
    const PolytopicDoFs        &dofs         = source.handler.polytopic_dofs();
    const double *const         coefficients = source.host_values();
    source.for_points(
      n_points, subcell, [&](const unsigned int q, const unsigned int k) {
        double point[dim], gradient[dim];
        for (unsigned int d = 0; d < dim; ++d)
          point[d] = x[d][q];
        internal::evaluate_field<dim>(&mesh.box[2 * dim * std::size_t(k)],
                                      dofs.degree[k],
                                      dofs.n_basis[k],
                                      source.exponents(),
                                      coefficients + dofs.dof_offset[k] +
                                        std::size_t(component()) *
                                          dofs.n_basis[k],
                                      point,
                                      values[q],
                                      gradient);
        for (unsigned int d = 0; d < dim; ++d)
          gradients[d][q] = gradient[d];
      });
  }



  template <int dim>
  const double *
  DiscreteField<dim>::host_values() const
  {
    return implementation->source->host_values();
  }



  template <int dim>
  const double *
  DiscreteField<dim>::device_values() const
  {
    return implementation->source->device_values();
  }



  template <int dim>
  std::size_t
  DiscreteField<dim>::size() const
  {
    return implementation->source->handler.polytopic_dofs().dof_offset.back();
  }



  template <int dim>
  unsigned int
  DiscreteField<dim>::component() const
  {
    return implementation->component;
  }



  template <int dim>
  unsigned int
  DiscreteField<dim>::n_components() const
  {
    return implementation->source->handler.n_components();
  }



  template <int dim>
  bool
  DiscreteField<dim>::has_degrees_of(const PolytopicDoFs &dofs) const
  {
    const PolytopicDoFs &own = implementation->source->handler.polytopic_dofs();
    return own.degree == dofs.degree && own.n_basis == dofs.n_basis;
  }



#define TESSELLA_INSTANTIATE(dim, VectorType) \
  template DiscreteField<dim>::DiscreteField( \
    const AgglomerationHandler<dim> &, const VectorType &, unsigned int);

#define TESSELLA_INSTANTIATE_ALL(dim)                  \
  template class DiscreteField<dim>;                   \
  TESSELLA_FOR_VECTOR_TYPES(TESSELLA_INSTANTIATE, dim) \
  TESSELLA_INSTANTIATE(dim, HostVector<double>)        \
  TESSELLA_INSTANTIATE(dim, DeviceVector<double>)      \
  TESSELLA_INSTANTIATE(dim, internal::SharedFieldSource<dim>)

  TESSELLA_INSTANTIATE_ALL(2)
  TESSELLA_INSTANTIATE_ALL(3)
#undef TESSELLA_INSTANTIATE_ALL
#undef TESSELLA_INSTANTIATE
} // namespace Tessella
