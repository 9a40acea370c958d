// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <tessella/forms/advection_diffusion_reaction.h>

#include <algorithm>

#include "host_coefficients.h"

namespace Tessella
{
  using namespace dealii;

  template <int dim>
  MassForm<dim>::MassForm(const double factor)
    : factor(factor)
    , component(0)
  {}



  template <int dim>
  MassForm<dim>::MassForm(const double                factor,
                          const FunctionPointer<dim> &source,
                          const unsigned int          component)
    : factor(factor)
    , source(source)
    , component(component)
  {}



  template <int dim>
  VolumeStructure
  MassForm<dim>::volume_structure() const
  {
    VolumeStructure structure;
    structure.c         = true;
    structure.f         = source != nullptr;
    structure.symmetric = true;
    structure.constant  = true;
    return structure;
  }



  template <int dim>
  FacetStructure
  MassForm<dim>::facet_structure() const
  {
    FacetStructure structure;
    structure.facets = structure.b = structure.beta = structure.rhs =
      structure.penalty                             = false;
    return structure;
  }



  template <int dim>
  void
  MassForm<dim>::evaluate_diffusion(const PointBatch<dim> &,
                                    double *const *) const
  {}



  template <int dim>
  void
  MassForm<dim>::evaluate_volume(const PointBatch<dim> &points,
                                 VolumeBlocks<dim>     &blocks) const
  {
    if (blocks.c != nullptr)
      std::fill(blocks.c, blocks.c + points.n_points, factor);
    if (blocks.f != nullptr)
      {
        internal::ScalarCoefficient<dim> f;
        f.function = source;
        f.name     = "right-hand side";
        f.evaluate(points.x, points.n_points, blocks.f, component);
      }
  }



  template <int dim>
  void
  MassForm<dim>::evaluate_interior_facets(const FacetPointBatch<dim> &,
                                          FacetBlocks<dim> &) const
  {}



  template <int dim>
  void
  MassForm<dim>::evaluate_boundary_facets(const FacetPointBatch<dim> &,
                                          FacetBlocks<dim> &) const
  {}



  template class MassForm<2>;
  template class MassForm<3>;
} // namespace Tessella
