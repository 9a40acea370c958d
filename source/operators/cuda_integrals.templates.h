// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_operators_cuda_integrals_templates_h
#define tessella_source_operators_cuda_integrals_templates_h

#include <algorithm>

#include "../../cuda/operators/integral_sums.h"
#include "cuda_integrals.h"

namespace Tessella
{
  namespace internal
  {
    template <int dim>
    void
    DeviceBoundaryPoints<dim>::reinit(
      const PolytopicMesh<dim>                  &mesh,
      const PointwiseTables<dim>                &tables,
      const std::vector<Device::PointwiseFacet> &all_facets)
    {
      std::vector<double>                 x;
      std::vector<unsigned int>           facet;
      std::vector<std::uint64_t>          first;
      std::vector<Device::PointwiseFacet> moved = all_facets;
      entries.clear();
      const std::size_t n_entries =
        mesh.polytope_interface_offset[mesh.n_owned_polytopes()];
      for (std::size_t e = 0; e < n_entries; ++e)
        {
          const unsigned int i = mesh.polytope_interface[e] / 2;
          if (mesh.interface_boundary_id[i] == invalid_index)
            continue;
          entries.push_back(e);
          first.push_back(facet.size());
          for (unsigned int f = mesh.facet_offset[i];
               f < mesh.facet_offset[i + 1];
               ++f)
            {
              moved[f].first_point = facet.size();
              facet.insert(facet.end(),
                           tables.facet_point[f + 1] - tables.facet_point[f],
                           f);
              x.insert(x.end(),
                       tables.facet_points.begin() +
                         (dim + 1) * tables.facet_point[f],
                       tables.facet_points.begin() +
                         (dim + 1) * tables.facet_point[f + 1]);
            }
        }
      n = facet.size();
      first.push_back(n);
      points.assign(x);
      facets.assign(moved);
      facet_of_point.assign(facet);
      first_point.assign(first);
    }



    template <int dim>
    void
    DeviceBoundaryPoints<dim>::set_points(
      Device::PointwiseMesh<dim> &mesh) const
    {
      mesh.facet_points   = points.data();
      mesh.facets         = facets.data();
      mesh.facet_of_point = facet_of_point.data();
      mesh.n_facet_points = n;
    }



    template <int dim>
    void
    DeviceBoundaryPoints<dim>::sum(const unsigned int  m,
                                   const std::uint64_t distance,
                                   const double       *results,
                                   double             *integrals)
    {
      const std::size_t n_sums = entries.size() * m;
      if (n_sums == 0)
        return;
      if (sums.size() < n_sums)
        sums.resize(n_sums);
      Device::sum_ranges(
        entries.size(), m, first_point.data(), distance, results, sums.data());
      std::vector<double> values(n_sums);
      Device::download_bytes(values.data(),
                             sums.data(),
                             n_sums * sizeof(double));
      for (std::size_t i = 0; i < entries.size(); ++i)
        std::copy_n(values.data() + i * m, m, integrals + entries[i] * m);
    }



  } // namespace internal
} // namespace Tessella

#endif
