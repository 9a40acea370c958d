// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_pointwise_call_h
#define tessella_forms_pointwise_call_h

#include <tessella/forms/pointwise_terms.h>

// Calls of a functor's members in the kernels of a device. This file uses
// neither deal.II nor the standard library, since it is compiled at run time as
// well (NVRTC).

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /**
       * Calls the members of a functor with doubles or with dual numbers. Where
       * the functor has a derivative of its own, a call with dual numbers of n
       * derivatives becomes n calls of it, one for each direction; values of
       * the results are then left as they are, since kernels read derivatives
       * alone.
       */
      template <int dim, typename F>
      class PointwiseCall
      {
      public:
        using Traits = PointwiseTraits<dim, F>;
        using Point  = OperatorPoint<dim>;
        template <typename Number>
        using Input = PointwiseTerms<dim, Traits::n_inputs, Number>;
        template <typename Number>
        using Output = PointwiseTerms<dim, Traits::n_outputs, Number>;

        TESSELLA_HOST_DEVICE static void
        volume(const F             &f,
               const Point         &p,
               const Input<double> &u,
               Output<double>      &r)
        {
          f.volume(p, u, r);
        }
        template <int n>
        TESSELLA_HOST_DEVICE static void
        volume(const F              &f,
               const Point          &p,
               const Input<Dual<n>> &u,
               Output<Dual<n>>      &r)
        {
          if constexpr (Traits::has_volume_derivative)
            for_directions<n, Traits::volume_input, Traits::volume_output, 1>(
              {&u}, {&r}, [&](const auto &v, const auto &dv, auto &dr) {
                f.volume_derivative(p, v[0], dv[0], dr[0]);
              });
          else
            f.volume(p, u, r);
        }

        TESSELLA_HOST_DEVICE static void
        boundary_facet(const F             &f,
                       const Point         &p,
                       const Input<double> &u,
                       Output<double>      &r)
        {
          f.boundary_facet(p, u, r);
        }
        template <int n>
        TESSELLA_HOST_DEVICE static void
        boundary_facet(const F              &f,
                       const Point          &p,
                       const Input<Dual<n>> &u,
                       Output<Dual<n>>      &r)
        {
          if constexpr (Traits::has_boundary_facet_derivative)
            for_directions<n, Traits::facet_input, Traits::facet_output, 1>(
              {&u}, {&r}, [&](const auto &v, const auto &dv, auto &dr) {
                f.boundary_facet_derivative(p, v[0], dv[0], dr[0]);
              });
          else
            f.boundary_facet(p, u, r);
        }

        TESSELLA_HOST_DEVICE static void
        interior_facet(const F             &f,
                       const Point         &p,
                       const Input<double> &u0,
                       const Input<double> &u1,
                       Output<double>      &r0,
                       Output<double>      &r1)
        {
          f.interior_facet(p, u0, u1, r0, r1);
        }
        template <int n>
        TESSELLA_HOST_DEVICE static void
        interior_facet(const F              &f,
                       const Point          &p,
                       const Input<Dual<n>> &u0,
                       const Input<Dual<n>> &u1,
                       Output<Dual<n>>      &r0,
                       Output<Dual<n>>      &r1)
        {
          if constexpr (Traits::has_interior_facet_derivative)
            for_directions<n, Traits::facet_input, Traits::facet_output, 2>(
              {&u0, &u1},
              {&r0, &r1},
              [&](const auto &v, const auto &dv, auto &dr) {
                f.interior_facet_derivative(
                  p, v[0], v[1], dv[0], dv[1], dr[0], dr[1]);
              });
          else
            f.interior_facet(p, u0, u1, r0, r1);
        }

      private:
        // Arrays of references to the terms of both sides.
        template <typename Terms, int n_sides>
        struct Sides
        {
          Terms *side[n_sides];
        };

        // Calls derivative(values, changes, changes of the results) for each of
        // the n directions of the dual numbers. In and out name the rows that
        // are used.
        template <int          n,
                  unsigned int in,
                  unsigned int out,
                  int          n_sides,
                  typename Derivative>
        TESSELLA_HOST_DEVICE static void
        for_directions(const Sides<const Input<Dual<n>>, n_sides> &u,
                       const Sides<Output<Dual<n>>, n_sides>      &r,
                       const Derivative                           &derivative)
        {
          Input<double> v[n_sides];
          TESSELLA_UNROLL_ON_DEVICE
          for (int s = 0; s < n_sides; ++s)
            for_entries<in, Traits::n_inputs>(
              *u.side[s], v[s], [](const Dual<n> &from, double &to) {
                to = from.value;
              });
          TESSELLA_UNROLL_ON_DEVICE
          for (int i = 0; i < n; ++i)
            {
              Input<double>  dv[n_sides];
              Output<double> dr[n_sides] = {};
              TESSELLA_UNROLL_ON_DEVICE
              for (int s = 0; s < n_sides; ++s)
                for_entries<in, Traits::n_inputs>(
                  *u.side[s], dv[s], [&](const Dual<n> &from, double &to) {
                    to = from.derivative[i];
                  });
              derivative(v, dv, dr);
              TESSELLA_UNROLL_ON_DEVICE
              for (int s = 0; s < n_sides; ++s)
                for_entries<out, Traits::n_outputs>(
                  dr[s], *r.side[s], [&](const double from, Dual<n> &to) {
                    to.derivative[i] = from;
                  });
            }
        }

        // Calls function(a, b) for the used entries of two terms of m
        // components.
        template <unsigned int rows,
                  int          m,
                  typename A,
                  typename B,
                  typename Function>
        TESSELLA_HOST_DEVICE static void
        for_entries(A &a, B &b, const Function &function)
        {
          TESSELLA_UNROLL_ON_DEVICE
          for (int c = 0; c < m; ++c)
            {
              if constexpr ((rows & PointwiseRows::values) != 0)
                function(a.value[c], b.value[c]);
              if constexpr ((rows & PointwiseRows::gradients) != 0)
                {
                  TESSELLA_UNROLL_ON_DEVICE
                  for (int d = 0; d < dim; ++d)
                    function(a.gradient[c][d], b.gradient[c][d]);
                }
            }
        }
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
