// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_pointwise_coefficients_h
#define tessella_forms_pointwise_coefficients_h

#include <tessella/forms/coefficient_error.h>
#include <tessella/forms/penalty_terms.h>
#include <tessella/forms/point_data.h>
#include <tessella/portable/has_member.h>
#include <tessella/portable/host_device.h>

namespace Tessella
{
  namespace internal
  {
    TESSELLA_HAS_MEMBER(HasDiffusion,
                        diffusion(make<const PointData<dim> &>()),
                        int dim)
    TESSELLA_HAS_MEMBER(HasAdvection,
                        advection(make<const PointData<dim> &>()),
                        int dim)
    TESSELLA_HAS_MEMBER(HasReaction,
                        reaction(make<const PointData<dim> &>()),
                        int dim)
    TESSELLA_HAS_MEMBER(HasSource,
                        source(make<const PointData<dim> &>()),
                        int dim)
    TESSELLA_HAS_MEMBER(HasDirichlet,
                        dirichlet(make<const PointData<dim> &>()),
                        int dim)
    TESSELLA_HAS_MEMBER(HasNeumann,
                        neumann(make<const PointData<dim> &>()),
                        int dim)
    TESSELLA_HAS_MEMBER(HasRobinCoefficient,
                        robin_coefficient(make<const PointData<dim> &>()),
                        int dim)
    TESSELLA_HAS_MEMBER(HasBoundaryType, boundary_type(0u), int dim)
    TESSELLA_HAS_MEMBER(HasBeta, beta(make<const PointData<dim> &>()), int dim)
    TESSELLA_HAS_MEMBER(HasPenaltyDiffusion,
                        penalty_diffusion(make<const PointData<dim> &>()),
                        int dim)
    TESSELLA_HAS_MEMBER(HasInteriorFacet,
                        interior_facet(make<const PointData<dim> &>(),
                                       make<const PointData<dim> &>(),
                                       0.,
                                       make<InteriorFacetTerms<dim> &>(),
                                       make<CoefficientError &>()),
                        int dim)
    TESSELLA_HAS_MEMBER(HasBoundaryFacet,
                        boundary_facet(make<const PointData<dim> &>(),
                                       0.,
                                       make<BoundaryFacetTerms<dim> &>(),
                                       make<CoefficientError &>()),
                        int dim)

    struct Isotropic
    {
      static constexpr bool tensor = false;
    };
    struct FullTensor
    {
      static constexpr bool tensor = true;
    };
    Isotropic
    diffusion_kind(const double);
    template <int dim>
    FullTensor
    diffusion_kind(const DiagonalPointTensor<dim> &);
    template <int dim>
    FullTensor
    diffusion_kind(const PointTensor<dim> &);

    template <bool has_diffusion, typename F, int dim>
    struct DiffusionKind : public Isotropic
    {};
    template <typename F, int dim>
    struct DiffusionKind<true, F, dim>
      : public decltype(diffusion_kind(
          make<const F &>().diffusion(make<const PointData<dim> &>())))
    {};

    // F::n_fields and F::n_cell_values, or 0 if F has no such member.
    template <typename F>
    constexpr auto
    n_fields_of(int) -> decltype(F::n_fields + 0)
    {
      return F::n_fields;
    }
    template <typename F>
    constexpr int
    n_fields_of(...)
    {
      return 0;
    }
    template <typename F>
    constexpr auto
    n_cell_values_of(int) -> decltype(F::n_cell_values + 0)
    {
      return F::n_cell_values;
    }
    template <typename F>
    constexpr int
    n_cell_values_of(...)
    {
      return 0;
    }



    /**
     * Calls the members that a functor F has, for host and device; members that
     * it does not have count as zero.
     */
    template <int dim, typename F>
    struct PointwiseCoefficients
    {
      static constexpr bool has_diffusion = HasDiffusion<F, dim>::value,
                            has_advection = HasAdvection<F, dim>::value,
                            has_reaction  = HasReaction<F, dim>::value,
                            has_source    = HasSource<F, dim>::value,
                            has_beta      = HasBeta<F, dim>::value,
                            has_penalty_diffusion =
                              HasPenaltyDiffusion<F, dim>::value,
                            /// Whether the functor writes the terms on facets
                            /// itself.
        has_facet_terms = HasInteriorFacet<F, dim>::value;
      static constexpr bool tensor =
        DiffusionKind<has_diffusion, F, dim>::tensor;
      static constexpr int n_entries     = tensor ? dim * dim : 1;
      static constexpr int n_fields      = n_fields_of<F>(0);
      static constexpr int n_cell_values = n_cell_values_of<F>(0);
      static_assert(n_fields >= 0 && n_fields <= max_fields,
                    "n_fields of a functor must not exceed max_fields.");
      static_assert(n_cell_values >= 0 && n_cell_values <= max_cell_values,
                    "n_cell_values of a functor must not exceed "
                    "max_cell_values.");
      static_assert(has_diffusion || has_advection || has_reaction ||
                      has_source,
                    "A functor needs a member diffusion(), advection(), "
                    "reaction() or source() that takes a PointData<dim>.");
      static_assert(HasInteriorFacet<F, dim>::value ==
                      HasBoundaryFacet<F, dim>::value,
                    "A functor with one of interior_facet() and "
                    "boundary_facet() needs the other one, too.");
      static_assert(!has_beta || has_facet_terms,
                    "A functor with beta() needs interior_facet() and "
                    "boundary_facet(): nothing else says what belongs to it on "
                    "facets.");
      static_assert(!has_penalty_diffusion || has_diffusion,
                    "A functor with penalty_diffusion() needs diffusion().");

      TESSELLA_HOST_DEVICE static inline void
      store(const double value, double *a)
      {
        a[0] = value;
      }
      TESSELLA_HOST_DEVICE static inline void
      store(const DiagonalPointTensor<dim> &value, double *a)
      {
        for (int d = 0; d < dim; ++d)
          for (int e = 0; e < dim; ++e)
            a[d * dim + e] = d == e ? value[d] : 0.;
      }
      TESSELLA_HOST_DEVICE static inline void
      store(const PointTensor<dim> &value, double *a)
      {
        for (int d = 0; d < dim; ++d)
          for (int e = 0; e < dim; ++e)
            a[d * dim + e] = value[d][e];
      }

      TESSELLA_HOST_DEVICE static inline bool
      is_finite(const double value)
      {
        return value * 0. == 0.;
      }

      TESSELLA_HOST_DEVICE static inline void
      note(CoefficientError                &error,
           const CoefficientError::Kind     kind,
           const CoefficientError::Quantity quantity,
           const PointData<dim>            &p,
           const double                     value,
           const int                        component = 0)
      {
        if (error.kind != CoefficientError::none)
          return;
        error.kind        = kind;
        error.quantity    = quantity;
        error.component   = component;
        error.boundary_id = p.boundary_id;
        error.value       = value;
        for (int d = 0; d < dim; ++d)
          error.x[d] = p.x[d];
        for (int i = 0; i < n_fields; ++i)
          error.field[i] = p.value[i];
      }

      /// Diffusion at a point: n_entries values.
      TESSELLA_HOST_DEVICE static inline void
      diffusion(const F              &f,
                const PointData<dim> &p,
                double               *a,
                CoefficientError     &error)
      {
        if constexpr (has_diffusion)
          {
            store(f.diffusion(p), a);
            for (int d = 0; d < n_entries; ++d)
              if (!is_finite(a[d]))
                note(error,
                     CoefficientError::not_finite,
                     tensor ? CoefficientError::diffusion_tensor
                            : CoefficientError::diffusion,
                     p,
                     a[d],
                     d);
            for (int d = 0; d < n_entries; d += dim + 1)
              if (a[d] < 0.)
                note(error,
                     CoefficientError::negative_diffusion,
                     tensor ? CoefficientError::diffusion_tensor
                            : CoefficientError::diffusion,
                     p,
                     a[d],
                     d);
          }
        else
          a[0] = 0.;
      }

      /// Diffusion that determines the penalty: the result of diffusion(),
      /// unless the functor has another one. The number of entries is the same.
      TESSELLA_HOST_DEVICE static inline void
      penalty_diffusion(const F              &f,
                        const PointData<dim> &p,
                        double               *a,
                        CoefficientError     &error)
      {
        if constexpr (has_penalty_diffusion)
          {
            const double value = f.penalty_diffusion(p);
            for (int d = 0; d < n_entries; ++d)
              a[d] = d % (dim + 1) == 0 ? value : 0.;
            if (!is_finite(value) || value < 0.)
              note(error,
                   is_finite(value) ? CoefficientError::negative_diffusion
                                    : CoefficientError::not_finite,
                   CoefficientError::diffusion,
                   p,
                   value);
          }
        else
          diffusion(f, p, a, error);
      }

      TESSELLA_HOST_DEVICE static inline void
      checked_vector(const PointVector<dim>          &value,
                     const CoefficientError::Quantity quantity,
                     const PointData<dim>            &p,
                     double                          *result,
                     CoefficientError                &error)
      {
        for (int d = 0; d < dim; ++d)
          {
            result[d] = value[d];
            if (!is_finite(result[d]))
              note(
                error, CoefficientError::not_finite, quantity, p, result[d], d);
          }
      }

      TESSELLA_HOST_DEVICE static inline void
      advection(const F              &f,
                const PointData<dim> &p,
                double               *b,
                CoefficientError     &error)
      {
        if constexpr (has_advection)
          checked_vector(
            f.advection(p), CoefficientError::advection, p, b, error);
        else
          for (int d = 0; d < dim; ++d)
            b[d] = 0.;
      }

      TESSELLA_HOST_DEVICE static inline void
      beta(const F              &f,
           const PointData<dim> &p,
           double               *result,
           CoefficientError     &error)
      {
        if constexpr (has_beta)
          checked_vector(f.beta(p), CoefficientError::beta, p, result, error);
        else
          for (int d = 0; d < dim; ++d)
            result[d] = 0.;
      }

      TESSELLA_HOST_DEVICE static inline double
      checked(const double                     value,
              const CoefficientError::Quantity quantity,
              const PointData<dim>            &p,
              CoefficientError                &error)
      {
        if (!is_finite(value))
          note(error, CoefficientError::not_finite, quantity, p, value);
        return value;
      }

      TESSELLA_HOST_DEVICE static inline double
      reaction(const F &f, const PointData<dim> &p, CoefficientError &error)
      {
        if constexpr (has_reaction)
          return checked(f.reaction(p), CoefficientError::reaction, p, error);
        return 0.;
      }

      TESSELLA_HOST_DEVICE static inline double
      source(const F &f, const PointData<dim> &p, CoefficientError &error)
      {
        if constexpr (has_source)
          return checked(f.source(p), CoefficientError::source, p, error);
        return 0.;
      }

      TESSELLA_HOST_DEVICE static inline BoundaryType
      boundary_type(const F &f, const unsigned int id)
      {
        if constexpr (HasBoundaryType<F, dim>::value)
          return f.boundary_type(id);
        return BoundaryType::dirichlet;
      }

      /// Value g of the boundary condition of the given type.
      TESSELLA_HOST_DEVICE static inline double
      boundary_value(const F              &f,
                     const BoundaryType    type,
                     const PointData<dim> &p,
                     CoefficientError     &error)
      {
        double g = 0.;
        if (type == BoundaryType::dirichlet)
          {
            if constexpr (HasDirichlet<F, dim>::value)
              g = f.dirichlet(p);
          }
        else if constexpr (HasNeumann<F, dim>::value)
          g = f.neumann(p);
        return checked(g, CoefficientError::boundary_value, p, error);
      }

      TESSELLA_HOST_DEVICE static inline double
      robin_coefficient(const F              &f,
                        const PointData<dim> &p,
                        CoefficientError     &error)
      {
        if constexpr (HasRobinCoefficient<F, dim>::value)
          return checked(f.robin_coefficient(p),
                         CoefficientError::robin_coefficient,
                         p,
                         error);
        return 0.;
      }

      /// Product b.n.
      TESSELLA_HOST_DEVICE static inline double
      normal_advection(const double *b, const PointData<dim> &p)
      {
        double bn = 0.;
        for (int d = 0; d < dim; ++d)
          bn += b[d] * p.normal[d];
        return bn;
      }

      /// Largest absolute value of n numbers.
      TESSELLA_HOST_DEVICE static inline double
      largest_size(const double *values, const int n)
      {
        double result = 0.;
        for (int d = 0; d < n; ++d)
          {
            const double size = values[d] < 0. ? -values[d] : values[d];
            result            = size > result ? size : result;
          }
        return result;
      }

      /// Terms on an interior facet, seen from @p own: those of the functor,
      /// or else those of the interior penalty and upwind method.
      TESSELLA_HOST_DEVICE static inline void
      interior_facet(const F                 &f,
                     const PointData<dim>    &own,
                     const PointData<dim>    &neighbor,
                     const double             sigma,
                     const double             theta,
                     InteriorFacetTerms<dim> &terms,
                     CoefficientError        &error)
      {
        if constexpr (has_facet_terms)
          {
            f.interior_facet(own, neighbor, sigma, terms, error);
            double sum = 0.;
            for (int side = 0; side < 2; ++side)
              {
                sum += 0. * terms.c[side];
                for (int d = 0; d < dim; ++d)
                  sum += 0. * terms.b[side][d] + 0. * terms.beta[side][d];
              }
            checked(sum, CoefficientError::facet_terms, own, error);
          }
        else
          {
            penalty_interior_facet(
              f, own, neighbor, sigma, terms.c[0], terms.b, error);
            terms.c[1] = -terms.c[0];
            for (int d = 0; d < dim; ++d)
              {
                terms.beta[0][d] = theta * terms.b[0][d];
                terms.beta[1][d] = -terms.beta[0][d];
              }
          }
      }

      /// Terms on the boundary, as above.
      TESSELLA_HOST_DEVICE static inline void
      boundary_facet(const F                 &f,
                     const PointData<dim>    &p,
                     const double             sigma,
                     const double             theta,
                     BoundaryFacetTerms<dim> &terms,
                     CoefficientError        &error)
      {
        if constexpr (has_facet_terms)
          {
            f.boundary_facet(p, sigma, terms, error);
            double sum = 0. * terms.c + 0. * terms.r;
            for (int d = 0; d < dim; ++d)
              sum += 0. * terms.b[d] + 0. * terms.beta[d] + 0. * terms.s[d];
            checked(sum, CoefficientError::facet_terms, p, error);
          }
        else
          penalty_boundary_facet(f, p, sigma, theta, terms, error);
      }

      /// c_0, and b of both sides (zero without diffusion), of the interior
      /// penalty and upwind method.
      TESSELLA_HOST_DEVICE static inline void
      penalty_interior_facet(const F              &f,
                             const PointData<dim> &own,
                             const PointData<dim> &neighbor,
                             const double          sigma,
                             double               &c,
                             double (&b)[2][dim],
                             CoefficientError &error)
      {
        c = has_diffusion ? sigma : 0.;
        if constexpr (has_diffusion)
          {
            double a[n_entries];
            diffusion(f, own, a, error);
            PenaltyTerms::conormal<dim>(tensor, a, own.normal, b[0]);
            diffusion(f, neighbor, a, error);
            PenaltyTerms::conormal<dim>(tensor, a, own.normal, b[1]);
            for (int d = 0; d < dim; ++d)
              {
                b[0][d] *= PenaltyTerms::interior_b;
                b[1][d] *= PenaltyTerms::interior_b;
              }
          }
        else
          for (int d = 0; d < dim; ++d)
            b[0][d] = b[1][d] = 0.;
        if constexpr (has_advection)
          {
            double field[dim];
            advection(f, own, field, error);
            c = PenaltyTerms::interior_c(c, normal_advection(field, own));
          }
      }

      /// Boundary terms of the interior penalty and upwind method.
      TESSELLA_HOST_DEVICE static inline void
      penalty_boundary_facet(const F                 &f,
                             const PointData<dim>    &p,
                             const double             sigma,
                             const double             theta,
                             BoundaryFacetTerms<dim> &terms,
                             CoefficientError        &error)
      {
        double a[n_entries], conormal[dim], nan = 0., a_max = 0.;
        for (int d = 0; d < dim; ++d)
          conormal[d] = 0.;
        if constexpr (has_diffusion)
          {
            diffusion(f, p, a, error);
            PenaltyTerms::conormal<dim>(tensor, a, p.normal, conormal);
            for (int d = 0; d < dim; ++d)
              nan += conormal[d] * p.normal[d];
            a_max = largest_size(a, n_entries);
          }
        double bn = 0., b_max = 0.;
        if constexpr (has_advection)
          {
            double field[dim];
            advection(f, p, field, error);
            bn    = normal_advection(field, p);
            b_max = largest_size(field, dim);
          }
        const BoundaryType type = boundary_type(f, p.boundary_id);
        const double       g    = boundary_value(f, type, p, error);
        const double       alpha =
          type == BoundaryType::robin ? robin_coefficient(f, p, error) : 0.;
        PenaltyTerms::BoundaryTerms       factors;
        const PenaltyTerms::BoundaryError result = PenaltyTerms::boundary(
          type, nan, a_max, bn, b_max, sigma, g, alpha, factors);
        if (result == PenaltyTerms::BoundaryError::negative_diffusion)
          note(error,
               CoefficientError::negative_diffusion,
               CoefficientError::normal_diffusion,
               p,
               nan);
        else if (result == PenaltyTerms::BoundaryError::inflow)
          note(error,
               CoefficientError::inflow,
               CoefficientError::advection,
               p,
               bn);
        terms.c = factors.c;
        terms.r = factors.r;
        for (int d = 0; d < dim; ++d)
          {
            const double an = factors.flux * conormal[d];
            terms.b[d]      = -an;
            terms.s[d]      = -theta * an * g;
            terms.beta[d]   = theta * terms.b[d];
          }
      }
    };
  } // namespace internal
} // namespace Tessella

#endif
