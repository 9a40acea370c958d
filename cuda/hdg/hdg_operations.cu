// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <algorithm>

#include "hdg_operations.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        /// Numbers of a polytope's functions, traces, and volume points.
        struct PolytopeSizes
        {
          double n, m, q;
        };

        template <int dim>
        void
        add_simplex_operations(const PolytopeSizes &sizes,
                               const unsigned int   n_face_functions,
                               const bool           transformed,
                               double              &sum)
        {
          const double n = sizes.n, m = sizes.m, q = sizes.q;
          // linear combinations of tables, f; elimination; transformation from
          // functions of faces to trace functions
          const double M = n_face_functions, rows = (dim + 1) * M;
          sum += n * (n + 1) * (dim + 2) * (dim + 1) / 2. +
                 2. * (dim + 1) * rows * n + 2. * n * q + n * n * n / 3. +
                 n * n * (rows + 1) + n * rows * (rows + 3);
          if (transformed)
            sum += 2. * m * rows * M + m * m * M;
        }



        template <int dim>
        void
        add_operations(const HDGPlan<dim>  &plan,
                       const HDGData<dim>  &data,
                       const unsigned int   k,
                       const PolytopeSizes &sizes,
                       const double         f,
                       const bool           recovery,
                       double              &sum)
        {
          const HDGForm<dim> &form  = data.form;
          const bool          exact = form.constant_operator();
          const double        n = sizes.n, m = sizes.m, q = sizes.q,
                       s = 4. * (plan.mass_begin[k + 1] - plan.mass_begin[k]),
                       c = form.tensor ? dim * n : n; // rows of A
          // orthonormal basis (once), integrals, H^T A^-1 H
          sum +=
            n * n * s + 2. / 3. * n * n * n + 2. * n * n * f + dim * n * n * n;
          if (exact)
            sum += dim * n * n * n + 2. * n * q + n * n;
          else
            sum += 2. * n * n * (dim + 1) * q + 2. * dim * n * n * q +
                   (form.reaction || form.advection ? n * n * q : 0.);
          // facets; the traces of a facet are evaluated at its own points only
          const double entries =
            std::max(1., 1. * (plan.first_entry(k + 1) - plan.first_entry(k)));
          sum += n * n * f + 2. * (dim + 1) * n * m * f / entries;
          // elimination
          if (!form.diagonal())
            sum +=
              (exact ? 0. : n * n * q) + c * c * c / 3. + dim * n * (n + m) * c;
          sum += 2. * dim * n * n * m + n * n * n / 3. + n * n * m +
                 (dim + 1) * n * m * m;
          if (recovery && !data.in_parts())
            sum += n * n * m + 2. * dim * n * n * m +
                   (form.diagonal() ? 0. : dim * n * m * c);
        }
      } // namespace



      template <int dim>
      double
      count_operations(const HDGPlan<dim> &plan,
                       const HDGData<dim> &data,
                       const bool          recovery)
      {
        const std::vector<unsigned int> &point_groups =
          data.form.facet_table ? plan.entry_point_group
                                : plan.short_entry_point_group;
        double sum = 0.;
        for (unsigned int k = 0; k < plan.mesh.n_owned_polytopes(); ++k)
          {
            const PolytopeSizes sizes{
              1. * plan.dofs.n_basis[k],
              1. * (plan.trace_offset[k + 1] - plan.trace_offset[k]),
              4. * (plan.volume_begin[k + 1] - plan.volume_begin[k])};
            if (data.simplex)
              add_simplex_operations<dim>(sizes,
                                          plan.n_face_functions,
                                          data.transfer != nullptr,
                                          sum);
            else
              add_operations(plan,
                             data,
                             k,
                             sizes,
                             4. * (point_groups[plan.first_entry(k + 1)] -
                                   point_groups[plan.first_entry(k)]),
                             recovery,
                             sum);
          }
        return sum;
      }



      template double
      count_operations(const HDGPlan<2> &, const HDGData<2> &, const bool);
      template double
      count_operations(const HDGPlan<3> &, const HDGData<3> &, const bool);
    } // namespace Device
  }   // namespace internal
} // namespace Tessella
