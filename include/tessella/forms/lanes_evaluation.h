// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_lanes_evaluation_h
#define tessella_forms_lanes_evaluation_h

#include <tessella/forms/lanes_integrand.h>
#include <tessella/portable/lanes.h>

// Functions of LanesIntegrand, for files of one instruction set. All functions
// of this file that are not inlined have the number of lanes in their names.

namespace Tessella
{
  /// Data of several quadrature points, see OperatorPoint.
  template <int dim, typename Number>
  struct LanesPoint
  {
    Number x[dim], t, normal[dim], penalty, h[2];
  };



  /// Evaluates the functor @p F for @p lanes points at once.
  template <int dim, typename F, int lanes>
  class LanesEvaluation
  {
  public:
    using Traits = PointwiseTraits<dim, F>;
    using Number = Lanes<lanes>;

    static void
    evaluate(const F                    &f,
             const PointwiseRegion       region,
             const unsigned int          n,
             const OperatorPoint<dim>   *points,
             const double *const *const *in,
             double *const *const       *out)
    {
      in_region(region, [&](const auto kind) {
        using Kind = decltype(kind);
        using In   = typename Traits::template Input<Number>;
        using Out  = typename Traits::template Output<Number>;
        for (unsigned int q = 0; q < n; q += lanes)
          {
            const Place place(n, q);
            In          u[Kind::n_sides];
            for (int s = 0; s < Kind::n_sides; ++s)
              for_rows<Kind::input, Traits::n_inputs>(
                u[s], [&](Number &entry, const int row) {
                  entry = place.load(in[s][row]);
                });
            Out r[Kind::n_sides];
            set_zero(r);
            Kind::call(f, place.point(points), u, r);
            for (int s = 0; s < Kind::n_sides; ++s)
              for_rows<Kind::output, Traits::n_outputs>(
                r[s], [&](const Number &entry, const int row) {
                  place.store(entry, out[s][row]);
                });
          }
      });
    }

    static void
    evaluate_jacobian(const F                    &f,
                      const PointwiseRegion       region,
                      const unsigned int          n,
                      const OperatorPoint<dim>   *points,
                      const double *const *const *in,
                      double *const              *out)
    {
      in_region(region, [&](const auto kind) {
        using Kind = decltype(kind);
        // Rows of the fields with respect to which something is wanted.
        constexpr int n_in  = (dim + 1) * Traits::n_inputs,
                      n_out = Kind::n_sides * (dim + 1) * Traits::n_outputs;
        int wanted[Kind::n_sides * n_in];
        int n_wanted = 0;
        for (int i = 0; i < Kind::n_sides * n_in; ++i)
          if (is_used(Kind::input, i))
            {
              bool is_wanted = false;
              for (int o = 0; o < n_out && !is_wanted; ++o)
                is_wanted = out[i * n_out + o] != nullptr;
              if (is_wanted)
                wanted[n_wanted++] = i;
            }
        for (int first = 0; first < n_wanted; first += n_directions)
          evaluate_directions<Kind>(f,
                                    wanted + first,
                                    n_wanted - first < n_directions
                                      ? n_wanted - first
                                      : n_directions,
                                    n,
                                    points,
                                    in,
                                    out);
      });
    }

  private:
    // Derivatives that are computed at once: those with respect to the values
    // of the first field on one side, if they are not too many for the
    // registers.
    static constexpr int n_directions =
      Traits::Fields::components(0) < 6 ? Traits::Fields::components(0) : 6;

    // Points q, .. of n; at the end, lanes repeat the last point.
    struct Place
    {
      Place(const unsigned int n, const unsigned int q)
        : q(q)
        , n_used(n - q < lanes ? n - q : lanes)
      {}

      Number
      load(const double *from) const
      {
        if (n_used == lanes)
          return Number::load(from + q);
        Number result;
        for (unsigned int l = 0; l < lanes; ++l)
          result.v[l] = from[index(l)];
        return result;
      }
      void
      store(const Number &number, double *to) const
      {
        if (n_used == lanes)
          number.store(to + q);
        else
          for (unsigned int l = 0; l < n_used; ++l)
            to[q + l] = number.v[l];
      }
      LanesPoint<dim, Number>
      point(const OperatorPoint<dim> *points) const
      {
        LanesPoint<dim, Number> result;
        for (unsigned int l = 0; l < lanes; ++l)
          {
            const OperatorPoint<dim> &p = points[index(l)];
            for (int d = 0; d < dim; ++d)
              {
                result.x[d].v[l]      = p.x[d];
                result.normal[d].v[l] = p.normal[d];
              }
            result.t.v[l]       = p.t;
            result.penalty.v[l] = p.penalty;
            result.h[0].v[l]    = p.h[0];
            result.h[1].v[l]    = p.h[1];
          }
        return result;
      }
      unsigned int
      index(const unsigned int l) const
      {
        return q + (l < n_used ? l : n_used - 1);
      }

      unsigned int q, n_used;
    };

    struct Volume
    {
      static constexpr int          n_sides = 1;
      static constexpr unsigned int input   = Traits::volume_input,
                                    output  = Traits::volume_output;
      template <typename Point, typename In, typename Out>
      static void
      call(const F &f, const Point &p, const In *u, Out *r)
      {
        f.volume(p, u[0], r[0]);
      }
    };
    struct InteriorFacet
    {
      static constexpr int          n_sides = 2;
      static constexpr unsigned int input   = Traits::facet_input,
                                    output  = Traits::facet_output;
      template <typename Point, typename In, typename Out>
      static void
      call(const F &f, const Point &p, const In *u, Out *r)
      {
        f.interior_facet(p, u[0], u[1], r[0], r[1]);
      }
    };

    template <typename Work>
    static void
    in_region(const PointwiseRegion region, const Work &work)
    {
      if constexpr ((functor_lanes<F> & PointwiseLanes::volume) != 0)
        if (region == PointwiseRegion::volume)
          work(Volume());
      if constexpr ((functor_lanes<F> & PointwiseLanes::interior_facet) != 0)
        if (region == PointwiseRegion::interior_facet)
          work(InteriorFacet());
    }

    static bool
    is_used(const unsigned int rows, const int row)
    {
      return (rows & (row % (dim + 1) == 0 ? PointwiseRows::values
                                           : PointwiseRows::gradients)) != 0;
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

    template <int n_sides, typename Out>
    static void
    set_zero(Out (&r)[n_sides])
    {
      for (int s = 0; s < n_sides; ++s)
        for_rows<PointwiseRows::all, Traits::n_outputs>(
          r[s], [](auto &entry, const int) { entry = 0.; });
    }

    // Derivatives with respect to the given rows of the fields.
    template <typename Kind>
    static void
    evaluate_directions(const F                    &f,
                        const int                  *rows,
                        const int                   n_rows,
                        const unsigned int          n,
                        const OperatorPoint<dim>   *points,
                        const double *const *const *in,
                        double *const              *out)
    {
      constexpr int n_in  = (dim + 1) * Traits::n_inputs,
                    n_out = (dim + 1) * Traits::n_outputs;
      using Dual          = LanesDual<n_directions, lanes>;
      using In            = typename Traits::template Input<Dual>;
      using Out           = typename Traits::template Output<Dual>;
      for (unsigned int q = 0; q < n; q += lanes)
        {
          const Place place(n, q);
          In          u[Kind::n_sides];
          for (int s = 0; s < Kind::n_sides; ++s)
            for_rows<Kind::input, Traits::n_inputs>(
              u[s], [&](Dual &entry, const int row) {
                entry.value = place.load(in[s][row]);
                for (int k = 0; k < n_directions; ++k)
                  entry.derivative[k] =
                    Number(k < n_rows && rows[k] == s * n_in + row ? 1. : 0.);
              });
          Out r[Kind::n_sides];
          set_zero(r);
          Kind::call(f, place.point(points), u, r);
          for (int s = 0; s < Kind::n_sides; ++s)
            for_rows<Kind::output, Traits::n_outputs>(
              r[s], [&](const Dual &entry, const int row) {
                for (int k = 0; k < n_directions; ++k)
                  if (k < n_rows)
                    if (double *const to = out[rows[k] * Kind::n_sides * n_out +
                                               s * n_out + row])
                      place.store(entry.derivative[k], to);
              });
        }
    }
  };



  /// Those of LanesEvaluation that PointwiseUses of the functor asks for.
  template <int dim, typename F, int lanes>
  LanesFunctions<dim, F>
  make_lanes_functions()
  {
    LanesFunctions<dim, F> result;
    if constexpr (functor_has_use<F, PointwiseUses::residual>)
      result.evaluate = LanesEvaluation<dim, F, lanes>::evaluate;
    if constexpr (functor_has_use<F, PointwiseUses::jacobian>)
      result.evaluate_jacobian =
        LanesEvaluation<dim, F, lanes>::evaluate_jacobian;
    return result;
  }
#ifdef TESSELLA_HAVE_AVX512
  template <int dim, typename F>
  LanesFunctions<dim, F>
  LanesFunctions<dim, F>::avx512()
  {
    return make_lanes_functions<dim, F, 8>();
  }
#endif

#ifdef TESSELLA_HAVE_AVX2
  template <int dim, typename F>
  LanesFunctions<dim, F>
  LanesFunctions<dim, F>::avx2()
  {
    return make_lanes_functions<dim, F, 4>();
  }
#endif
} // namespace Tessella

#endif
