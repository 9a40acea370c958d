// SPDX-License-Identifier: LGPL-2.1-or-later

#include <algorithm>

#include "host_assembly.h"
#include "host_dispatch.h"

namespace Tessella
{
  namespace internal
  {
    template <int dim>
    std::vector<double>
    compute_penalty(const PolytopicMesh<dim> &mesh,
                    const Form<dim>          &form,
                    const double              constant,
                    const InstructionSet      instruction_set)
    {
      const unsigned int    n_facets = mesh.n_facets();
      std::vector<double>   sigma(n_facets, 0.);
      const VolumeStructure structure = form.volume_structure();
      if (structure.diffusion == DiffusionType::none ||
          !form.facet_structure().penalty || n_facets == 0)
        return sigma;

      const bool         tensor = structure.diffusion == DiffusionType::tensor;
      const unsigned int n_entries = tensor ? dim * dim : 1;
      const HostRules<dim>             rules(mesh, form.coefficient_order());
      const HostKernels::Kernels<dim> &kernels =
        select_kernels<dim>(instruction_set);

      // n . a n at entries of one point, for the mean normal of a facet
      const auto quadratic_form = [&](const double *const *a,
                                      const unsigned int   q,
                                      const unsigned int   facet) {
        if (!tensor)
          return a[0][q];
        const double *n   = &mesh.facet_normal[facet * dim];
        double        sum = 0.;
        for (unsigned int d = 0; d < dim; ++d)
          for (unsigned int e = 0; e < dim; ++e)
            sum += n[d] * a[d * dim + e][q] * n[e];
        return sum;
      };

      // a-bar per facet and side
      std::vector<double> a_bar(2 * n_facets, 0.);
      if (structure.constant)
        {
          double          memory[dim * dim];
          double         *a[dim * dim];
          PointBatch<dim> batch;
          batch.n_points = 1;
          for (unsigned int d = 0; d < dim; ++d)
            batch.x[d] = &mesh.subcell_vertices[d];
          const unsigned int subcell = 0;
          batch.subcell              = &subcell;
          batch.material             = mesh.subcell_material.data();
          for (unsigned int d = 0; d < dim * dim; ++d)
            a[d] = &memory[d];
          form.evaluate_diffusion(batch, a);
          for (unsigned int f = 0; f < n_facets; ++f)
            a_bar[2 * f] = a_bar[2 * f + 1] = quadratic_form(a, 0, f);
        }
      else
        for_polytopes(
          mesh.n_polytopes(),
          [&](const unsigned int begin, const unsigned int end) {
            VolumePointBuffer<dim> points(buffer_capacity(rules));
            std::vector<double>    memory(n_entries * points.capacity);
            double                *a[dim * dim] = {};
            for (unsigned int d = 0; d < n_entries; ++d)
              a[d] = memory.data() + d * points.capacity;

            for (unsigned int k = begin; k < end; ++k)
              {
                double       largest = 0.;
                unsigned int subcell = mesh.subcell_offset[k], point = 0;
                while (subcell < mesh.subcell_offset[k + 1])
                  {
                    points.fill(mesh, rules, kernels, k, subcell, point);
                    PointBatch<dim> batch;
                    batch.n_points = points.n_points;
                    std::copy(points.x, points.x + dim, batch.x);
                    batch.subcell  = points.subcells.data();
                    batch.material = points.materials.data();
                    form.evaluate_diffusion(batch, a);
                    if (!tensor)
                      for (unsigned int q = 0; q < batch.n_points; ++q)
                        largest = std::max(largest, a[0][q]);
                    else
                      for (unsigned int e = mesh.polytope_interface_offset[k];
                           e < mesh.polytope_interface_offset[k + 1];
                           ++e)
                        {
                          const unsigned int i = mesh.polytope_interface[e];
                          for (unsigned int f = mesh.facet_offset[i / 2];
                               f < mesh.facet_offset[i / 2 + 1];
                               ++f)
                            for (unsigned int q = 0; q < batch.n_points; ++q)
                              a_bar[2 * f + i % 2] =
                                std::max(a_bar[2 * f + i % 2],
                                         quadratic_form(a, q, f));
                        }
                  }
                if (!tensor)
                  for (unsigned int e = mesh.polytope_interface_offset[k];
                       e < mesh.polytope_interface_offset[k + 1];
                       ++e)
                    {
                      const unsigned int i = mesh.polytope_interface[e];
                      for (unsigned int f = mesh.facet_offset[i / 2];
                           f < mesh.facet_offset[i / 2 + 1];
                           ++f)
                        a_bar[2 * f + i % 2] = largest;
                    }
              }
          });

      for (unsigned int f = 0; f < n_facets; ++f)
        sigma[f] = constant *
                   std::max(mesh.penalty_factor[2 * f] * a_bar[2 * f],
                            mesh.penalty_factor[2 * f + 1] * a_bar[2 * f + 1]);
      return sigma;
    }



    template std::vector<double>
    compute_penalty(const PolytopicMesh<2> &,
                    const Form<2> &,
                    const double,
                    const InstructionSet);
    template std::vector<double>
    compute_penalty(const PolytopicMesh<3> &,
                    const Form<3> &,
                    const double,
                    const InstructionSet);
  } // namespace internal
} // namespace Tessella
