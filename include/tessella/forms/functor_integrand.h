// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_functor_integrand_h
#define tessella_forms_functor_integrand_h

#include <tessella/forms/coefficient_error.h>
#include <tessella/forms/pointwise_integrand.h>
#include <tessella/forms/pointwise_terms.h>
#include <tessella/forms/pointwise_uses.h>

#include <memory>
#include <string>
#include <type_traits>

#ifdef __CUDACC__
#  include <tessella/forms/pointwise_kernels.h>
#endif

namespace Tessella
{
  // Compiled by nvcc, the class has kernels; otherwise it has none. A program
  // may contain both, which must not share code.
#ifdef __CUDACC__
  inline namespace CompiledForDevice
#else
  inline namespace CompiledForHost
#endif
  {
    /**
     * Integrand of a PointwiseOperator whose terms a functor computes point by
     * point; PointwiseTraits describes its members.
     *
     *     const FunctorIntegrand<dim, Burgers<dim>> integrand;
     *     op.residual(integrand, {&u}, r);
     *
     * Derivatives follow from the same members, which are called with dual
     * numbers, unless the functor has derivatives of its own. For the Jacobian
     * a call computes derivatives in up to eight directions at once, so that a
     * functor of n input rows is called about n / 8 times at each point. A
     * functor that is only evaluated for some of residual, tangent and Jacobian
     * says so with PointwiseUses, so that the others are not compiled.
     *
     * <b>Device.</b> With a CUDA device and in a .cu file that nvcc compiles,
     * the functor is part of the kernels. This header and those that it
     * includes need no deal.II. Compiled without nvcc, the functor works on the
     * host only.
     */
    template <int dim, typename F>
    class FunctorIntegrand : public PointwiseIntegrand<dim>
    {
    public:
      using Traits    = PointwiseTraits<dim, F>;
      using Structure = typename PointwiseIntegrand<dim>::Structure;

      static_assert(std::is_trivially_copyable<F>::value,
                    "A functor is copied to the device as it is: its members "
                    "must be plain data.");

      explicit FunctorIntegrand(const F &functor = F())
        : f(functor)
      {}

      /// Access to the functor, to change its parameters between calls.
      F &
      functor()
      {
        return f;
      }
      const F &
      functor() const
      {
        return f;
      }

      Structure
      structure() const override
      {
        Structure result;
        for (int i = 0; i < Traits::Fields::n_fields; ++i)
          result.field_components.push_back(Traits::Fields::components(i));
        result.n_components    = Traits::n_outputs;
        result.volume          = Traits::has_volume;
        result.interior_facets = Traits::has_interior_facet;
        result.boundary_facets = Traits::has_boundary_facet;
        result.volume_input    = Traits::volume_input;
        result.volume_output   = Traits::volume_output;
        result.facet_input     = Traits::facet_input;
        result.facet_output    = Traits::facet_output;
        return result;
      }

      void
      evaluate(const PointwiseRegion       region,
               const unsigned int          n,
               const OperatorPoint<dim>   *points,
               const double *const *const *in,
               double *const *const       *out) const override
      {
        if constexpr (functor_has_use<F, PointwiseUses::residual>)
          in_region(region, [&](const auto kind) {
            using Kind = decltype(kind);
            for_points<Kind, double>(
              n,
              points,
              [&](double &entry, const int s, const int row, unsigned int q) {
                entry = in[s][row][q];
              },
              [&](const double entry,
                  const int    s,
                  const int    row,
                  unsigned int q) { out[s][row][q] = entry; });
          });
        else
          internal::throw_message(
            "The functor has no residual (PointwiseUses).");
      }

      void
      evaluate_tangent(const PointwiseRegion       region,
                       const unsigned int          n,
                       const OperatorPoint<dim>   *points,
                       const double *const *const *in,
                       const double *const *const *direction,
                       double *const *const       *out) const override
      {
        if constexpr (functor_has_use<F, PointwiseUses::tangent>)
          in_region(region, [&](const auto kind) {
            using Kind = decltype(kind);
            const auto change =
              [&](const int s, const int row, unsigned int q) {
                return direction[s][row] != nullptr ? direction[s][row][q] : 0.;
              };
            const auto store = [&](const double entry,
                                   const int    s,
                                   const int    row,
                                   unsigned int q) { out[s][row][q] = entry; };
            if constexpr (Kind::has_derivative)
              for_points_derivative<Kind>(n, points, in, change, store);
            else
              for_points<Kind, Dual<1>>(
                n,
                points,
                [&](
                  Dual<1> &entry, const int s, const int row, unsigned int q) {
                  entry.value         = in[s][row][q];
                  entry.derivative[0] = change(s, row, q);
                },
                [&](const Dual<1> &entry,
                    const int      s,
                    const int      row,
                    unsigned int q) { store(entry.derivative[0], s, row, q); });
          });
        else
          internal::throw_message(
            "The functor has no tangent (PointwiseUses).");
      }

      void
      evaluate_jacobian(const PointwiseRegion       region,
                        const unsigned int          n,
                        const OperatorPoint<dim>   *points,
                        const double *const *const *in,
                        double *const              *out) const override
      {
        if constexpr (functor_has_use<F, PointwiseUses::jacobian>)
          in_region(region, [&](const auto kind) {
            using Kind = decltype(kind);
            // The directions, all input rows of all sides, are divided into
            // groups of equal size.
            constexpr int n_directions = Kind::n_sides * Traits::n_inputs *
                                         n_rows(Kind::input),
                          n_groups = Kind::has_derivative
                                       ? n_directions
                                       : (n_directions + 7) / 8;
            if constexpr (n_directions > 0)
              for (int group = 0; group < n_groups; ++group)
                evaluate_directions<Kind,
                                    (n_directions + n_groups - 1) / n_groups>(
                  group, n, points, in, out);
          });
        else
          internal::throw_message(
            "The functor has no Jacobian (PointwiseUses).");
      }

      std::shared_ptr<const DevicePointwiseKernels<dim>>
      device_kernels() const override
      {
#ifdef __CUDACC__
        return std::make_shared<const FunctorKernels<dim, F>>(f,
                                                              this->get_time());
#else
        return nullptr;
#endif
      }

      std::string
      why_not_on_device() const override
      {
#ifdef __CUDACC__
        return "";
#else
        return "the functor was not compiled by nvcc";
#endif
      }

    private:
      // The member of the functor for a region, and its rows.
      struct Volume
      {
        static constexpr int          n_sides = 1;
        static constexpr unsigned int input   = Traits::volume_input,
                                      output  = Traits::volume_output;
        static constexpr bool has_derivative  = Traits::has_volume_derivative;
        template <typename In, typename Out>
        static void
        call(const F &f, const OperatorPoint<dim> &p, const In *u, Out *r)
        {
          f.volume(p, u[0], r[0]);
        }
        template <typename In, typename Out>
        static void
        derivative(const F                  &f,
                   const OperatorPoint<dim> &p,
                   const In                 *u,
                   const In                 *du,
                   Out                      *dr)
        {
          f.volume_derivative(p, u[0], du[0], dr[0]);
        }
      };
      struct InteriorFacet
      {
        static constexpr int          n_sides = 2;
        static constexpr unsigned int input   = Traits::facet_input,
                                      output  = Traits::facet_output;
        static constexpr bool has_derivative =
          Traits::has_interior_facet_derivative;
        template <typename In, typename Out>
        static void
        call(const F &f, const OperatorPoint<dim> &p, const In *u, Out *r)
        {
          f.interior_facet(p, u[0], u[1], r[0], r[1]);
        }
        template <typename In, typename Out>
        static void
        derivative(const F                  &f,
                   const OperatorPoint<dim> &p,
                   const In                 *u,
                   const In                 *du,
                   Out                      *dr)
        {
          f.interior_facet_derivative(
            p, u[0], u[1], du[0], du[1], dr[0], dr[1]);
        }
      };
      struct BoundaryFacet
      {
        static constexpr int          n_sides = 1;
        static constexpr unsigned int input   = Traits::facet_input,
                                      output  = Traits::facet_output;
        static constexpr bool has_derivative =
          Traits::has_boundary_facet_derivative;
        template <typename In, typename Out>
        static void
        call(const F &f, const OperatorPoint<dim> &p, const In *u, Out *r)
        {
          f.boundary_facet(p, u[0], r[0]);
        }
        template <typename In, typename Out>
        static void
        derivative(const F                  &f,
                   const OperatorPoint<dim> &p,
                   const In                 *u,
                   const In                 *du,
                   Out                      *dr)
        {
          f.boundary_facet_derivative(p, u[0], du[0], dr[0]);
        }
      };

      // Calls work(kind) with the type of the region, if the functor has terms
      // there.
      template <typename Work>
      static void
      in_region(const PointwiseRegion region, const Work &work)
      {
        if constexpr (Traits::has_volume)
          if (region == PointwiseRegion::volume)
            work(Volume());
        if constexpr (Traits::has_interior_facet)
          if (region == PointwiseRegion::interior_facet)
            work(InteriorFacet());
        if constexpr (Traits::has_boundary_facet)
          if (region == PointwiseRegion::boundary_facet)
            work(BoundaryFacet());
      }

      // Calls function(entry, row) for the rows of n components that are used.
      template <unsigned int used, int n, typename Terms, typename Function>
      static void
      for_rows(Terms &terms, const Function &function)
      {
        for (int c = 0; c < n; ++c)
          {
            if constexpr ((used & PointwiseRows::values) != 0)
              function(terms.value[c], c * (dim + 1));
            if constexpr ((used & PointwiseRows::gradients) != 0)
              for (int d = 0; d < dim; ++d)
                function(terms.gradient[c][d], c * (dim + 1) + 1 + d);
          }
      }

      // Number of rows of a component that are used.
      static constexpr int
      n_rows(const unsigned int used)
      {
        return ((used & PointwiseRows::values) != 0 ? 1 : 0) +
               ((used & PointwiseRows::gradients) != 0 ? dim : 0);
      }

      // Position of a row of the fields of side s among those that are used.
      template <typename Kind>
      static constexpr int
      number_of(const int s, const int row)
      {
        const int c = row / (dim + 1), r = row % (dim + 1);
        return (s * Traits::n_inputs + c) * n_rows(Kind::input) + r -
               ((Kind::input & PointwiseRows::values) != 0 ? 0 : 1);
      }

      // Calls the member for a region at n points: load(entry, side, row,
      // point) sets rows of the fields, store(entry, side, row, point) takes
      // results.
      template <typename Kind, typename Number, typename Load, typename Store>
      void
      for_points(const unsigned int        n,
                 const OperatorPoint<dim> *points,
                 const Load               &load,
                 const Store              &store) const
      {
        using In  = typename Traits::template Input<Number>;
        using Out = typename Traits::template Output<Number>;
        for (unsigned int q = 0; q < n; ++q)
          {
            In u[Kind::n_sides];
            for (int s = 0; s < Kind::n_sides; ++s)
              for_rows<Kind::input, Traits::n_inputs>(
                u[s],
                [&](Number &entry, const int row) { load(entry, s, row, q); });
            Out r[Kind::n_sides];
            set_zero(r);
            Kind::call(f, points[q], u, r);
            for (int s = 0; s < Kind::n_sides; ++s)
              for_rows<Kind::output, Traits::n_outputs>(
                r[s], [&](const Number &entry, const int row) {
                  store(entry, s, row, q);
                });
          }
      }

      // The same for the derivative that the functor has, in the direction
      // change(side, row, point).
      template <typename Kind, typename Change, typename Store>
      void
      for_points_derivative(const unsigned int          n,
                            const OperatorPoint<dim>   *points,
                            const double *const *const *in,
                            const Change               &change,
                            const Store                &store) const
      {
        using In  = typename Traits::template Input<double>;
        using Out = typename Traits::template Output<double>;
        for (unsigned int q = 0; q < n; ++q)
          {
            In u[Kind::n_sides], du[Kind::n_sides];
            for (int s = 0; s < Kind::n_sides; ++s)
              {
                for_rows<Kind::input, Traits::n_inputs>(
                  u[s],
                  [&](double &entry, const int row) { entry = in[s][row][q]; });
                for_rows<Kind::input, Traits::n_inputs>(
                  du[s], [&](double &entry, const int row) {
                    entry = change(s, row, q);
                  });
              }
            Out r[Kind::n_sides];
            set_zero(r);
            Kind::derivative(f, points[q], u, du, r);
            for (int s = 0; s < Kind::n_sides; ++s)
              for_rows<Kind::output, Traits::n_outputs>(
                r[s], [&](const double entry, const int row) {
                  store(entry, s, row, q);
                });
          }
      }

      // Dual numbers have no constructor that sets them to zero.
      template <int n_sides, typename Out>
      static void
      set_zero(Out (&r)[n_sides])
      {
        for (int s = 0; s < n_sides; ++s)
          for_rows<PointwiseRows::all, Traits::n_outputs>(
            r[s], [](auto &entry, const int) { entry = 0.; });
      }

      // Derivatives with respect to one group of input rows.
      template <typename Kind, int n_directions>
      void
      evaluate_directions(const int                   group,
                          const unsigned int          n,
                          const OperatorPoint<dim>   *points,
                          const double *const *const *in,
                          double *const              *out) const
      {
        constexpr int  n_out = (dim + 1) * Traits::n_outputs;
        const int      first = group * n_directions;
        int            last  = 0; // number of directions of the group
        double *const *entries[n_directions];
        for (int s = 0; s < Kind::n_sides; ++s)
          for (int row = 0; row < (dim + 1) * Traits::n_inputs; ++row)
            if (Kind::input & (row % (dim + 1) == 0 ? PointwiseRows::values
                                                    : PointwiseRows::gradients))
              {
                const int i = number_of<Kind>(s, row);
                if (i >= first && i < first + n_directions)
                  entries[last++] =
                    out + (s * (dim + 1) * Traits::n_inputs + row) *
                            Kind::n_sides * n_out;
              }

        bool wanted = false;
        for (int k = 0; k < last; ++k)
          for (int o = 0; o < Kind::n_sides * n_out; ++o)
            wanted = wanted || entries[k][o] != nullptr;
        if (!wanted)
          return;

        const auto store = [&](const double *derivative,
                               const int     t,
                               const int     row,
                               unsigned int  q) {
          for (int k = 0; k < last; ++k)
            if (double *const to = entries[k][t * n_out + row])
              to[q] = derivative[k];
        };
        if constexpr (Kind::has_derivative)
          for_points_derivative<Kind>(
            n,
            points,
            in,
            [&](const int s, const int row, unsigned int) {
              return number_of<Kind>(s, row) == first ? 1. : 0.;
            },
            [&](const double entry,
                const int    t,
                const int    row,
                unsigned int q) { store(&entry, t, row, q); });
        else
          for_points<Kind, Dual<n_directions>>(
            n,
            points,
            [&](Dual<n_directions> &entry,
                const int           s,
                const int           row,
                unsigned int        q) {
              const int i = number_of<Kind>(s, row) - first;
              entry.value = in[s][row][q];
              for (int k = 0; k < n_directions; ++k)
                entry.derivative[k] = (k == i ? 1. : 0.);
            },
            [&](const Dual<n_directions> &entry,
                const int                 t,
                const int                 row,
                unsigned int q) { store(entry.derivative, t, row, q); });
      }

      F f;
    };
  } // namespace
} // namespace Tessella

#endif
