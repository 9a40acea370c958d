// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "assembly_work.h"

#include <tessella/quadrature/quadrature_order.h>

#include <algorithm>

#include "../../source/backends/host_points.h"

namespace Tessella
{
  namespace Application
  {
    namespace
    {
      /// Numbers of points per sub-cell and facet: those of the library's
      /// rules, or of the rules with the fewest points if these have fewer.
      template <int dim>
      class LeanRules
      {
      public:
        LeanRules(const PolytopicMesh<dim> &mesh,
                  const PolytopicDoFs      &dofs,
                  const unsigned int        coefficient_order)
          : mesh(mesh)
          , rules(mesh, dofs, coefficient_order)
          , coefficient_order(coefficient_order)
          , tensor_product(!internal::has_total_degree_space<dim>(dofs))
        {}

        unsigned int
        subcell(const unsigned int s, const unsigned int degree) const
        {
          const unsigned int n = rules.n_subcell_points(mesh, s, degree);
          return mesh.subcell_type[s] == SubCellType::simplex
                   ? leaner(dim, degree, n)
                   : n;
        }

        unsigned int
        facet(const unsigned int f, const unsigned int degree) const
        {
          const unsigned int n = rules.n_facet_points(mesh, f, degree);
          return mesh.facet_type[f] == FacetType::simplex
                   ? leaner(dim - 1, degree, n)
                   : n;
        }

      private:
        unsigned int
        leaner(const unsigned int simplex_dim,
               const unsigned int degree,
               const unsigned int n) const
        {
          const unsigned int least =
            leanest_simplex_rule(simplex_dim,
                                 internal::integrand_degree(dim,
                                                            degree,
                                                            coefficient_order,
                                                            tensor_product));
          return least == 0 ? n : std::min(n, least);
        }

        const PolytopicMesh<dim>      &mesh;
        const internal::HostRules<dim> rules;
        const unsigned int             coefficient_order;
        const bool                     tensor_product;
      };



      /// Number of values per point in tables of varying coefficients.
      template <int dim>
      struct TableWidth
      {
        explicit TableWidth(const Form<dim> &form)
        {
          const VolumeStructure V = form.volume_structure();
          if (!V.constant)
            {
              volume = (V.diffusion == DiffusionType::tensor      ? dim * dim
                        : V.diffusion == DiffusionType::isotropic ? 1
                                                                  : 0) +
                       (V.beta ? dim : 0) + (V.b ? dim : 0) + (V.c ? 1 : 0);
              const FacetStructure F = form.facet_structure();
              if (F.facets)
                facet = (F.b || F.beta ? dim : 0) + 1;
            }
        }

        unsigned int volume = 0, facet = 0;
      };
    } // namespace



    template <int dim>
    AssemblyWork
    assembly_work(const PolytopicMesh<dim> &mesh,
                  const PolytopicDoFs      &dofs,
                  const Form<dim>          &form)
    {
      const LeanRules<dim>  rules(mesh, dofs, form.coefficient_order());
      const TableWidth<dim> tables(form);
      const bool            couples = form.facet_structure().facets;
      AssemblyWork          work;
      constexpr double number = sizeof(double), index = sizeof(unsigned int);

      double n_blocks = 0., facet_table_points = 0.;
      for (unsigned int k = 0; k < mesh.n_owned_polytopes(); ++k)
        {
          const double  n        = dofs.n_basis[k];
          std::uint64_t n_points = 0;
          for (unsigned int s = mesh.subcell_offset[k];
               s < mesh.subcell_offset[k + 1];
               ++s)
            n_points += rules.subcell(s, dofs.degree[k]);
          work.n_volume_points += n_points;
          work.volume_flops += 2. * (dim + 1) * n * n * n_points;
          work.diagonal_bytes += number * n * n;
          work.rhs_bytes += number * n;
          n_blocks += 1.;
          if (!couples)
            continue;

          // Interfaces with the same neighbour are consecutive and share a
          // block.
          unsigned int last = invalid_index;
          for (unsigned int e = mesh.polytope_interface_offset[k];
               e < mesh.polytope_interface_offset[k + 1];
               ++e)
            {
              const unsigned int i    = mesh.polytope_interface[e] / 2;
              const unsigned int side = mesh.polytope_interface[e] % 2;
              const unsigned int neighbor =
                mesh.neighbor(mesh.polytope_interface[e]);
              const bool         interior = neighbor != invalid_index;
              const unsigned int degree =
                interior ? std::max(dofs.degree[k], dofs.degree[neighbor])
                         : dofs.degree[k];
              n_points = 0;
              for (unsigned int f = mesh.facet_offset[i];
                   f < mesh.facet_offset[i + 1];
                   ++f)
                n_points += rules.facet(f, degree);
              work.n_facet_points += n_points;
              if (side == 0 ||
                  (interior && neighbor >= mesh.n_owned_polytopes()))
                facet_table_points += n_points;
              (interior ? work.interior_diagonal_flops : work.boundary_flops) +=
                4. * n * n * n_points;
              if (interior)
                {
                  const double m = dofs.n_basis[neighbor];
                  work.neighbor_flops += 4. * n * m * n_points;
                  if (neighbor != last && neighbor != k)
                    {
                      work.neighbor_bytes += number * n * m;
                      n_blocks += 1.;
                    }
                  last = neighbor;
                }
            }
        }

      // Polytopes: box, first degree of freedom, degree, two ranges. Blocks:
      // column and position. Interfaces: two polytopes, a range, and an entry
      // in the list of each polytope.
      work.structure_bytes =
        mesh.n_polytopes() * ((2 * dim + 1) * number + 3 * index) +
        n_blocks * 2 * index + mesh.n_interfaces() * 5 * index;
      for (unsigned int s = 0; s < mesh.n_subcells(); ++s)
        work.subcell_bytes +=
          mesh.subcell_type[s] == SubCellType::tabulated
            ? (dim + 1) * number *
                (mesh.subcell_point_offset[s + 1] -
                 mesh.subcell_point_offset[s])
            : dim * number *
                (mesh.subcell_type[s] == SubCellType::parallelepiped
                   ? dim + 1
                   : mesh.subcell_vertex_offset[s + 1] -
                       mesh.subcell_vertex_offset[s]);
      for (unsigned int f = 0; couples && f < mesh.n_facets(); ++f)
        work.facet_bytes +=
          number +
          (mesh.facet_type[f] == FacetType::tabulated
             ? (2 * dim + 1) * number *
                 (mesh.facet_point_offset[f + 1] - mesh.facet_point_offset[f])
             : dim * number *
                 (mesh.facet_vertex_offset[f + 1] -
                  mesh.facet_vertex_offset[f] + 1));
      work.volume_coefficient_bytes =
        number * tables.volume * static_cast<double>(work.n_volume_points);
      work.facet_coefficient_bytes = number * tables.facet * facet_table_points;
      return work;
    }



    unsigned int
    leanest_simplex_rule(const unsigned int dim, const unsigned int order)
    {
      constexpr unsigned int max_order               = 20;
      constexpr unsigned int triangle[max_order + 1] = {1,  1,  3,  4,  6,  7,
                                                        12, 15, 16, 19, 25, 28,
                                                        33, 37, 42, 49, 55, 60,
                                                        67, 73, 79};
      constexpr unsigned int tetrahedron[max_order + 1] = {
        1,  1,   4,   6,   11,  14,  23,  31,  44,  57, 74,
        94, 117, 144, 175, 207, 247, 288, 338, 390, 448};
      if (dim == 1)
        return order / 2 + 1;
      if (order > max_order)
        return 0;
      return dim == 2 ? triangle[order] : tetrahedron[order];
    }



    void
    use_compressed_points(const unsigned int       dim,
                          const CompressionReport &compression,
                          AssemblyWork            &work)
    {
      if (compression.n_points == 0 || work.n_volume_points == 0)
        return;
      const double factor = double(compression.n_points) / work.n_volume_points;
      work.volume_flops *= factor;
      work.volume_coefficient_bytes *= factor;
      work.subcell_bytes   = sizeof(double) * (dim + 1.) * compression.n_points;
      work.n_volume_points = compression.n_points;
    }



    template AssemblyWork
    assembly_work(const PolytopicMesh<2> &,
                  const PolytopicDoFs &,
                  const Form<2> &);
    template AssemblyWork
    assembly_work(const PolytopicMesh<3> &,
                  const PolytopicDoFs &,
                  const Form<3> &);
    template AssemblyWork
    assembly_work(const PolytopicMesh<4> &,
                  const PolytopicDoFs &,
                  const Form<4> &);
  } // namespace Application
} // namespace Tessella
