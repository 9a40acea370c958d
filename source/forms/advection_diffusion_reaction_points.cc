// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>

#include <tessella/forms/device_function.h>
#include <tessella/forms/penalty_terms.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "../base/dimensions.h"
#include "advection_diffusion_reaction_data.h"
#include "vector_lanes.h"

// Values of the coefficients of AdvectionDiffusionReaction at the points of a
// batch.

namespace Tessella
{
  using namespace dealii;
  using namespace internal;

  namespace
  {
    // Smallest of n > 0 values.
    double
    smallest(const double *values, const unsigned int n)
    {
      double       result = values[0];
      unsigned int q      = 0;
      if (n >= 4 * width)
        {
          Pair least[4];
          for (Pair &m : least)
            m = Pair{result, result};
          for (; q + 4 * width <= n; q += 4 * width)
            for (unsigned int l = 0; l < 4; ++l)
              least[l] =
                minimum(load(Pair(), values + q + l * width), least[l]);
          for (const Pair &m : least)
            result = std::min({result, m[0], m[1]});
        }
      for (; q < n; ++q)
        result = std::min(result, values[q]);
      return result;
    }

    // Copies each tensor entry to an array of its own. Returns whether all
    // entries are finite, and the smallest diagonal entry or zero if none is
    // negative, in the same pass, while the values are in registers.
    template <int dim>
    bool
    take_tensors(const std::vector<Tensor<2, dim>> &tensors,
                 double *const                     *a,
                 double                            &smallest_diagonal)
    {
      constexpr unsigned int n = dim * dim;
      const double *from = reinterpret_cast<const double *>(tensors.data());
      double       *to[n];
      std::copy_n(a, n, to);
      Pair        sum[dim] = {}, least = {};
      std::size_t q = 0;
      for (; q + width <= tensors.size(); q += width)
        for (unsigned int d = 0; d < n; ++d)
          {
            const Pair v = {from[q * n + d], from[(q + 1) * n + d]};
            store(v, to[d] + q);
            sum[d % dim] += v * 0.;
            if (d % (dim + 1) == 0)
              least = minimum(v, least);
          }
      double total = 0.;
      for (const Pair &s : sum)
        total += s[0] + s[1];
      smallest_diagonal = std::min(least[0], least[1]);
      for (; q < tensors.size(); ++q)
        for (unsigned int d = 0; d < n; ++d)
          {
            to[d][q] = from[q * n + d];
            total += to[d][q] * 0.;
            if (d % (dim + 1) == 0)
              smallest_diagonal = std::min(smallest_diagonal, to[d][q]);
          }
      return total == 0.;
    }

    // Origin of a value for messages: the description by the function if it has
    // one, else @p otherwise.
    template <typename FunctionType>
    std::string
    origin(const FunctionType *function,
           const unsigned int  component,
           const std::string  &otherwise)
    {
      const auto *known = dynamic_cast<const DeviceFunction *>(function);
      return known != nullptr ? known->origin(component) : otherwise;
    }

    // Arrays for the coefficients at facet points, one set per thread.
    template <int dim>
    struct FacetScratch
    {
      std::vector<double> memory;
      unsigned int        n = 0;
      double             *a[dim * dim], *b[dim], *conormal[dim], *g, *alpha;

      void
      reinit(const unsigned int n_points)
      {
        n = n_points;
        memory.resize((dim * dim + 2 * dim + 2) * n);
        double *p = memory.data();
        for (double *&pointer : a)
          pointer = p, p += n;
        for (double *&pointer : b)
          pointer = p, p += n;
        for (double *&pointer : conormal)
          pointer = p, p += n;
        g     = p;
        alpha = p + n;
      }

      // conormal = a n
      void
      compute_conormal(const DiffusionType type, const double *const *normal)
      {
        for (unsigned int d = 0; d < dim; ++d)
          if (type == DiffusionType::isotropic)
            for (unsigned int q = 0; q < n; ++q)
              conormal[d][q] = a[0][q] * normal[d][q];
          else
            {
              const double *row[dim], *n_e[dim];
              std::copy_n(a + d * dim, dim, row);
              std::copy_n(normal, dim, n_e);
              double *const result = conormal[d];
              for_vectors(n, [&](const auto type, const unsigned int q) {
                auto sum = load(type, row[0] + q) * load(type, n_e[0] + q);
                for (unsigned int e = 1; e < dim; ++e)
                  sum += load(type, row[e] + q) * load(type, n_e[e] + q);
                store(sum, result + q);
              });
            }
      }
    };

    // The points of a facet in the view of a side: 0 is the own one.
    template <int dim>
    PointBatch<dim>
    on_side(const FacetPointBatch<dim> &points, const unsigned int side)
    {
      PointBatch<dim> result = points;
      if (side == 1)
        {
          std::copy(points.neighbor_x, points.neighbor_x + dim, result.x);
          result.subcell  = points.neighbor_subcell;
          result.material = points.neighbor_material;
        }
      return result;
    }

    template <int dim>
    FacetScratch<dim> &
    facet_scratch(const unsigned int n_points)
    {
      static thread_local FacetScratch<dim> scratch;
      scratch.reinit(n_points);
      return scratch;
    }
  } // namespace



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::evaluate_diffusion(
    const PointBatch<dim> &points, double *const *a) const
  {
    const double *const *x               = points.x;
    const unsigned int   n               = points.n_points;
    const DiffusionType  type            = data->diffusion_type;
    const auto          &scalar          = data->scalar_diffusion;
    const auto          &tensor_function = data->tensor_function;
    if (type == DiffusionType::isotropic)
      {
        scalar.evaluate(points, a[0]);
        if (smallest(a[0], n) < 0.)
          for (unsigned int q = 0; q < n; ++q)
            AssertThrow(a[0][q] >= 0.,
                        ExcNegativeDiffusion(
                          to_string<dim>(x, q),
                          a[0][q],
                          origin(scalar.function.get(), 0, "its value")));
      }
    else if (type == DiffusionType::tensor)
      {
        double smallest_diagonal = 0.;
        if (tensor_function != nullptr)
          {
            static thread_local std::vector<Tensor<2, dim>> result;
            result.resize(n);
            tensor_function->value_list(SharedPoints<dim>::get(x, n), result);
            if (!take_tensors(result, a, smallest_diagonal))
              check_finite<2, dim>(result, x, "diffusion tensor");
          }
        else
          for (unsigned int d = 0; d < dim; ++d)
            for (unsigned int e = 0; e < dim; ++e)
              std::fill(a[d * dim + e],
                        a[d * dim + e] + n,
                        data->constant_tensor[d][e]);
        if (scalar.cellwise != nullptr)
          {
            static thread_local std::vector<double> factor;
            factor.resize(n);
            scalar.evaluate(points, factor.data());
            for (unsigned int d = 0; d < dim * dim; ++d)
              for (unsigned int q = 0; q < n; ++q)
                a[d][q] *= factor[q];
          }
        if (tensor_function == nullptr)
          for (unsigned int d = 0; d < dim; ++d)
            smallest_diagonal =
              std::min(smallest_diagonal, smallest(a[d * dim + d], n));
        if (smallest_diagonal < 0.)
          for (unsigned int d = 0; d < dim; ++d)
            for (unsigned int q = 0; q < n; ++q)
              AssertThrow(a[d * dim + d][q] >= 0.,
                          ExcNegativeDiffusion(to_string<dim>(x, q),
                                               a[d * dim + d][q],
                                               origin(tensor_function.get(),
                                                      d * dim + d,
                                                      "a diagonal entry")));
      }
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::Implementation::evaluate_boundary_data(
    const FacetPointBatch<dim> &points, double *g, double *alpha) const
  {
    const unsigned int            n = points.n_points;
    const BoundaryCondition<dim> &condition =
      this->condition(points.boundary_id);
    ScalarCoefficient<dim> value, robin;
    value.name     = "boundary value";
    value.function = condition.value;
    robin.name     = "Robin coefficient";
    robin.function = condition.type == BoundaryType::robin
                       ? condition.robin_coefficient
                       : nullptr;
    value.evaluate(points, g);
    if (condition.flux != nullptr && condition.type != BoundaryType::dirichlet)
      {
        static thread_local std::vector<double> memory;
        memory.resize(dim * n);
        double *components[dim];
        for (unsigned int d = 0; d < dim; ++d)
          components[d] = memory.data() + d * n;
        VectorCoefficient<dim> flux;
        flux.name     = "boundary flux";
        flux.function = condition.flux;
        flux.evaluate(points, components);
        for (unsigned int d = 0; d < dim; ++d)
          for (unsigned int q = 0; q < n; ++q)
            g[q] += components[d][q] * points.normal[d][q];
      }
    // Evaluates to zero without a Robin coefficient.
    robin.evaluate(points, alpha);
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::evaluate_volume(
    const PointBatch<dim> &points, VolumeBlocks<dim> &blocks) const
  {
    const SharedPoints<dim> shared;
    if (blocks.a[0] != nullptr)
      AdvectionDiffusionReaction::evaluate_diffusion(points, blocks.a);
    if (blocks.b[0] != nullptr)
      data->advection.evaluate(points, blocks.b);
    if (blocks.c != nullptr)
      data->reaction.evaluate(points, blocks.c);
    if (blocks.f != nullptr)
      data->source.evaluate(points, blocks.f);
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::evaluate_interior_facets(
    const FacetPointBatch<dim> &points, FacetBlocks<dim> &blocks) const
  {
    evaluate_facets(points, blocks, nullptr);
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::evaluate_both_sides(
    const FacetPointBatch<dim> &points,
    FacetBlocks<dim>           &own,
    FacetBlocks<dim>           &neighbor) const
  {
    evaluate_facets(points, own, &neighbor);
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::evaluate_facets(
    const FacetPointBatch<dim> &points,
    FacetBlocks<dim>           &own,
    FacetBlocks<dim>           *neighbor) const
  {
    const SharedPoints<dim> shared;
    const unsigned int      n       = points.n_points;
    FacetScratch<dim>      &scratch = facet_scratch<dim>(n);
    // The view of the neighbour differs in the sign of the normal and in the
    // index of its own side.
    const unsigned int n_views  = neighbor != nullptr ? 2 : 1;
    FacetBlocks<dim>  *views[2] = {&own, neighbor};

    for (unsigned int view = 0; view < n_views; ++view)
      if (data->diffusion_type != DiffusionType::none)
        std::copy(points.sigma, points.sigma + n, views[view]->c[0]);
      else
        std::fill(views[view]->c[0], views[view]->c[0] + n, 0.);

    if (data->diffusion_type != DiffusionType::none)
      for (unsigned int side = 0; side < 2; ++side)
        {
          // Except on periodic boundaries, both sides have the same point,
          // though not necessarily the same cell.
          if (side == 0 || points.neighbor_x[0] != points.x[0] ||
              data->scalar_diffusion.depends_on_side())
            {
              AdvectionDiffusionReaction::evaluate_diffusion(on_side(points,
                                                                     side),
                                                             scratch.a);
              scratch.compute_conormal(data->diffusion_type, points.normal);
            }
          for (unsigned int view = 0; view < n_views; ++view)
            {
              FacetBlocks<dim> &blocks = *views[view];
              const double      sign   = view == 0 ? 1. : -1.;
              const double      half   = PenaltyTerms::interior_b * sign;
              const double      beta   = half * data->theta;
              for (unsigned int d = 0; d < dim; ++d)
                if (double *const b = blocks.b[side ^ view][d])
                  {
                    const double *const conormal = scratch.conormal[d];
                    for_vectors(n, [=](const auto type, const unsigned int q) {
                      store(half * load(type, conormal + q), b + q);
                    });
                  }
              if (side == view && blocks.beta[0][0] != nullptr)
                for (unsigned int d = 0; d < dim; ++d)
                  for (unsigned int q = 0; q < n; ++q)
                    {
                      const double t       = beta * scratch.conormal[d][q];
                      blocks.beta[0][d][q] = t;
                      blocks.beta[1][d][q] = -t;
                    }
            }
        }

    if (data->advection.present())
      {
        const double *b[dim], *normal[dim];
        std::copy_n(scratch.b, dim, b);
        std::copy_n(points.normal, dim, normal);
        for (unsigned int view = 0; view < n_views; ++view)
          {
            // The advection is that on the side of the test function.
            if (view == 0 || as_discrete(data->advection.function.get()))
              data->advection.evaluate(on_side(points, view), scratch.b);
            double *const c    = views[view]->c[0];
            const double  sign = view == 0 ? 1. : -1.;
            for_vectors(n, [&](const auto type, const unsigned int q) {
              auto bn = load(type, b[0] + q) * load(type, normal[0] + q);
              for (unsigned int d = 1; d < dim; ++d)
                bn += load(type, b[d] + q) * load(type, normal[d] + q);
              // The update is PenaltyTerms::interior_c().
              bn *= sign;
              store(load(type, c + q) - minimum(bn, decltype(bn)()), c + q);
            });
          }
      }
    for (unsigned int view = 0; view < n_views; ++view)
      if (views[view]->c[1] != nullptr)
        for (unsigned int q = 0; q < n; ++q)
          views[view]->c[1][q] = -views[view]->c[0][q];
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::evaluate_boundary_facets(
    const FacetPointBatch<dim> &points, FacetBlocks<dim> &blocks) const
  {
    const SharedPoints<dim>       shared;
    const unsigned int            n = points.n_points;
    const BoundaryCondition<dim> &condition =
      data->condition(points.boundary_id);
    FacetScratch<dim> &scratch   = facet_scratch<dim>(n);
    const bool         diffusion = data->diffusion_type != DiffusionType::none;
    const bool         beta      = blocks.beta[0][0] != nullptr;
    const bool         rhs       = blocks.r != nullptr;

    data->evaluate_boundary_data(points, scratch.g, scratch.alpha);

    if (diffusion)
      {
        AdvectionDiffusionReaction::evaluate_diffusion(points, scratch.a);
        scratch.compute_conormal(data->diffusion_type, points.normal);
      }
    const bool advection = data->advection.present();
    if (advection)
      data->advection.evaluate(points, scratch.b);

    for (unsigned int q = 0; q < n; ++q)
      {
        double bn = 0., b_max = 0.;
        if (advection)
          for (unsigned int d = 0; d < dim; ++d)
            {
              bn += scratch.b[d][q] * points.normal[d][q];
              b_max = std::max(b_max, std::abs(scratch.b[d][q]));
            }
        double nan = 0., a_max = 0.;
        if (diffusion)
          for (unsigned int d = 0; d < dim; ++d)
            {
              nan += scratch.conormal[d][q] * points.normal[d][q];
              a_max = std::max(a_max, std::abs(scratch.a[0][q]));
            }
        if (data->diffusion_type == DiffusionType::tensor)
          for (unsigned int d = 1; d < dim * dim; ++d)
            a_max = std::max(a_max, std::abs(scratch.a[d][q]));
        const double                      g = scratch.g[q];
        PenaltyTerms::BoundaryTerms       terms;
        const PenaltyTerms::BoundaryError error =
          PenaltyTerms::boundary(condition.type,
                                 nan,
                                 a_max,
                                 bn,
                                 b_max,
                                 points.sigma[q],
                                 g,
                                 scratch.alpha[q],
                                 terms);
        AssertThrow(error != PenaltyTerms::BoundaryError::negative_diffusion,
                    ExcNegativeDiffusion(to_string<dim>(points.x, q),
                                         nan,
                                         "n.a n"));
        AssertThrow(error != PenaltyTerms::BoundaryError::inflow,
                    ExcInflowOnNeumann(points.boundary_id,
                                       to_string<dim>(points.x, q),
                                       bn));

        blocks.c[0][q] = terms.c;
        if (diffusion)
          for (unsigned int d = 0; d < dim; ++d)
            {
              const double an   = terms.flux * scratch.conormal[d][q];
              blocks.b[0][d][q] = -an;
              if (beta)
                blocks.beta[0][d][q] = -data->theta * an;
              if (blocks.s[0] != nullptr)
                blocks.s[d][q] = -data->theta * an * g;
            }
        if (rhs)
          blocks.r[q] = terms.r;
      }
  }



  template <int dim>
  void
  AdvectionDiffusionReaction<dim>::evaluate_boundary_data(
    const FacetPointBatch<dim> &points, double *g, double *alpha) const
  {
    const SharedPoints<dim> shared;
    data->evaluate_boundary_data(points, g, alpha);
  }



#define INSTANTIATE(dim)                                                   \
  template void AdvectionDiffusionReaction<dim>::evaluate_diffusion(       \
    const PointBatch<dim> &, double *const *) const;                       \
  template void AdvectionDiffusionReaction<dim>::evaluate_volume(          \
    const PointBatch<dim> &, VolumeBlocks<dim> &) const;                   \
  template void AdvectionDiffusionReaction<dim>::evaluate_interior_facets( \
    const FacetPointBatch<dim> &, FacetBlocks<dim> &) const;               \
  template void AdvectionDiffusionReaction<dim>::evaluate_both_sides(      \
    const FacetPointBatch<dim> &, FacetBlocks<dim> &, FacetBlocks<dim> &)  \
    const;                                                                 \
  template void AdvectionDiffusionReaction<dim>::evaluate_boundary_facets( \
    const FacetPointBatch<dim> &, FacetBlocks<dim> &) const;               \
  template void AdvectionDiffusionReaction<dim>::evaluate_boundary_data(   \
    const FacetPointBatch<dim> &, double *, double *) const;

  TESSELLA_FOR_DIMENSIONS(INSTANTIATE)
#undef INSTANTIATE
} // namespace Tessella
