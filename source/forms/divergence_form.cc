// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <tessella/forms/divergence_form.h>

#include <algorithm>

#include "host_coefficients.h"

namespace Tessella
{
  using namespace dealii;

  /// Form of one component of the velocity. The first one has the right-hand
  /// side.
  template <int dim>
  class DivergenceForm<dim>::Pair : public Form<dim>
  {
  public:
    explicit Pair(const unsigned int component)
      : component(component)
    {}

    VolumeStructure
    volume_structure() const override
    {
      VolumeStructure structure;
      structure.b        = true;
      structure.constant = true;
      return structure;
    }

    FacetStructure
    facet_structure() const override
    {
      FacetStructure structure;
      structure.b       = false;
      structure.beta    = false;
      structure.penalty = false;
      structure.rhs     = component == 0;
      return structure;
    }

    unsigned int
    coefficient_order() const override
    {
      return order;
    }

    void
    evaluate_diffusion(const PointBatch<dim> &, double *const *) const override
    {}

    void
    evaluate_volume(const PointBatch<dim> &points,
                    VolumeBlocks<dim>     &blocks) const override
    {
      if (blocks.b[0] != nullptr)
        for (unsigned int d = 0; d < dim; ++d)
          std::fill_n(blocks.b[d], points.n_points, d == component ? -1. : 0.);
    }

    void
    evaluate_interior_facets(const FacetPointBatch<dim> &points,
                             FacetBlocks<dim>           &blocks) const override
    {
      for (unsigned int q = 0; q < points.n_points; ++q)
        {
          blocks.c[0][q] = 0.5 * points.normal[component][q];
          blocks.c[1][q] = -blocks.c[0][q];
        }
    }

    void
    evaluate_boundary_facets(const FacetPointBatch<dim> &points,
                             FacetBlocks<dim>           &blocks) const override
    {
      std::copy_n(points.normal[component], points.n_points, blocks.c[0]);
      if (blocks.r == nullptr)
        return;
      std::fill_n(blocks.r, points.n_points, 0.);
      if (dirichlet == nullptr)
        return;
      for (unsigned int q = 0; q < points.n_points; ++q)
        {
          Point<dim> x;
          for (unsigned int d = 0; d < dim; ++d)
            x[d] = points.x[d][q];
          for (unsigned int d = 0; d < dim; ++d)
            blocks.r[q] += dirichlet->value(x, d) * points.normal[d][q];
        }
    }

    const unsigned int                   component;
    unsigned int                         order = 2;
    std::shared_ptr<const Function<dim>> dirichlet;
  };



  template <int dim>
  DivergenceForm<dim>::DivergenceForm()
  {
    for (unsigned int d = 0; d < dim; ++d)
      pairs.push_back(std::make_unique<Pair>(d));
  }



  template <int dim>
  DivergenceForm<dim>::~DivergenceForm() = default;



  template <int dim>
  void
  DivergenceForm<dim>::set_dirichlet(const FunctionPointer<dim> &g)
  {
    if (g != nullptr)
      internal::check_components(g.get(), dim, "velocity on the boundary");
    pairs[0]->dirichlet = g;
  }



  template <int dim>
  void
  DivergenceForm<dim>::set_coefficient_order(const unsigned int order)
  {
    for (const auto &pair : pairs)
      pair->order = order;
  }



  template <int dim>
  const Form<dim> *
  DivergenceForm<dim>::form(const unsigned int, const unsigned int trial) const
  {
    return pairs[trial].get();
  }



  template class DivergenceForm<2>;
  template class DivergenceForm<3>;
} // namespace Tessella
