// SPDX-License-Identifier: LGPL-2.1-or-later

#include <tessella/assembly/assembly_work.h>

#include <algorithm>

#include "host_points.h"

namespace Tessella
{
  template <int dim>
  AssemblyWork
  assembly_work(const PolytopicMesh<dim> &mesh,
                const unsigned int        coefficient_order)
  {
    const internal::HostRules<dim> rules(mesh, coefficient_order);
    AssemblyWork                   work;
    for (unsigned int k = 0; k < mesh.n_polytopes(); ++k)
      {
        const double  n        = mesh.n_basis[k];
        std::uint64_t n_points = 0;
        for (unsigned int s = mesh.subcell_offset[k];
             s < mesh.subcell_offset[k + 1];
             ++s)
          n_points +=
            mesh.subcell_type[s] == SubCellType::tabulated
              ? mesh.subcell_point_offset[s + 1] - mesh.subcell_point_offset[s]
              : rules.subcell(mesh.subcell_type[s], mesh.degree[k]).n_points;
        work.n_volume_points += n_points;
        work.flops += 2. * (dim + 1) * n * n * n_points;

        for (unsigned int e = mesh.polytope_interface_offset[k];
             e < mesh.polytope_interface_offset[k + 1];
             ++e)
          {
            const unsigned int i = mesh.polytope_interface[e] / 2;
            const unsigned int neighbor =
              mesh.neighbor(mesh.polytope_interface[e]);
            const bool         interior = neighbor != invalid_index;
            const unsigned int degree =
              interior ? std::max(mesh.degree[k], mesh.degree[neighbor])
                       : mesh.degree[k];
            n_points = 0;
            for (unsigned int f = mesh.facet_offset[i];
                 f < mesh.facet_offset[i + 1];
                 ++f)
              n_points +=
                mesh.facet_type[f] == FacetType::tabulated
                  ? mesh.facet_point_offset[f + 1] - mesh.facet_point_offset[f]
                  : rules.facet(mesh.facet_type[f], degree).n_points;
            work.n_facet_points += n_points;
            work.flops +=
              4. * n * (n + (interior ? mesh.n_basis[neighbor] : 0)) * n_points;
          }
      }
    return work;
  }



  template AssemblyWork
  assembly_work(const PolytopicMesh<2> &, const unsigned int);
  template AssemblyWork
  assembly_work(const PolytopicMesh<3> &, const unsigned int);
} // namespace Tessella
