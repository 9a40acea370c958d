// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_pointwise_facet_results_h
#define tessella_forms_pointwise_facet_results_h

#include <tessella/forms/pointwise_call.h>
#include <tessella/forms/pointwise_results.h>

// Results of a functor on facets, for the residual and the tangent of a
// pointwise operator on a device.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /**
       * Evaluates a functor at one point of a facet, for both of its polytopes
       * at once, and stores the results times the weight of the point in
       * PointwiseTask::facet_results. Threads do not wait for each other;
       * those of a warp read the same few polytopes, whose coefficients stay in
       * the first level cache.
       */
      template <int dim, typename F, bool tangent>
      class PointwiseFacetResults
      {
      public:
        using Results = PointwiseResults<dim, F, tangent>;
        using Traits  = typename Results::Traits;
        using Call    = PointwiseCall<dim, F>;
        using Numbers = typename Traits::template Input<double>;

        /// @p table: room for the one-dimensional functions of the point.
        TESSELLA_HOST_DEVICE
        PointwiseFacetResults(const PointwiseTask<dim> &task,
                              const F                  &f,
                              double                   *table)
          : T(task)
          , f(f)
          , table(table)
        {}

        TESSELLA_HOST_DEVICE void
        evaluate(const std::uint64_t point) const
        {
          const unsigned int    facet = T.mesh.facet_of_point[point];
          const PointwiseFacet &data  = T.mesh.facets[facet];
          OperatorPoint<dim>    p;
          const double *const   x = T.mesh.facet_points + (dim + 1) * point;
          const bool            boundary = data.polytope[1] == invalid_index;
          const double *const   normal =
            T.mesh.normals +
            dim * (data.first_normal +
                   (data.normal_varies ? point - data.first_point : 0));
          for (int d = 0; d < dim; ++d)
            {
              p.x[d]      = x[d];
              p.normal[d] = normal[d];
            }
          p.t           = T.t;
          p.penalty     = data.penalty;
          p.facet       = facet;
          p.boundary_id = data.boundary_id;
          // Unrolled, since variable indices would need local memory.
          TESSELLA_UNROLL_ON_DEVICE
          for (int s = 0; s < 2; ++s)
            {
              if (s == 1 && boundary)
                break;
              p.polytope[s] = data.polytope[s];
              p.h[s]        = T.mesh.length[p.polytope[s]];
              p.subcell[s]  = data.subcell[s];
              p.material[s] = T.mesh.subcell_material[p.subcell[s]];
            }
          if (boundary)
            evaluate_boundary(p, x[dim], point);
          else
            evaluate_interior(p, x[dim], point, data.shift);
        }

      private:
        TESSELLA_HOST_DEVICE void
        evaluate_fields(const unsigned int polytope,
                        const double (&x)[dim],
                        Numbers &u,
                        Numbers &du) const
        {
          FieldEvaluation<dim, F, Traits::facet_input, tangent>::evaluate(
            T, PolytopeFields<dim>(T, polytope), x, table, u, du);
        }

        TESSELLA_HOST_DEVICE void
        evaluate_boundary(const OperatorPoint<dim> &p,
                          const double              weight,
                          const std::uint64_t       point) const
        {
          if constexpr (Traits::has_boundary_facet)
            {
              Numbers u, du;
              evaluate_fields(p.polytope[0], p.x, u, du);
              Results::template call<Traits::facet_input>(
                u, du, u, du, [&](const auto &v, const auto &, auto &r) {
                  Call::boundary_facet(f, p, v, r[0]);
                  write(r[0], weight, point, 0);
                });
            }
        }

        TESSELLA_HOST_DEVICE void
        evaluate_interior(const OperatorPoint<dim> &p,
                          const double              weight,
                          const std::uint64_t       point,
                          const unsigned int        shift) const
        {
          if constexpr (Traits::has_interior_facet)
            {
              Numbers u0, du0, u1, du1;
              evaluate_fields(p.polytope[0], p.x, u0, du0);
              double x[dim];
              for (int d = 0; d < dim; ++d)
                x[d] =
                  p.x[d] + (shift != 0 ? T.mesh.shift[shift * dim + d] : 0.);
              evaluate_fields(p.polytope[1], x, u1, du1);
              Results::template call<Traits::facet_input>(
                u0, du0, u1, du1, [&](const auto &v0, const auto &v1, auto &r) {
                  Call::interior_facet(f, p, v0, v1, r[0], r[1]);
                  write(r[0], weight, point, 0);
                  write(r[1], weight, point, 1);
                });
            }
        }

        template <typename Terms>
        TESSELLA_HOST_DEVICE void
        write(const Terms        &r,
              const double        weight,
              const std::uint64_t point,
              const unsigned int  side) const
        {
          constexpr unsigned int rows = Traits::facet_output;
          constexpr int n_rows = Traits::n_outputs * n_used_rows(dim, rows);
          double *const to =
            T.facet_results + side * n_rows * T.mesh.n_facet_points + point;
          Results::template write<rows>(r,
                                        weight,
                                        true,
                                        point,
                                        T.error,
                                        [&](const int row, const double value) {
                                          to[row * T.mesh.n_facet_points] =
                                            value;
                                        });
        }

        const PointwiseTask<dim> &T;
        const F                  &f;
        double *const             table;
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
