// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "linear_space.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/base/index_set.h>

#include <tessella/grid/penalty.h>
#include <tessella/grid/revision.h>
#include <tessella/lac/block_partition.h>

#include <algorithm>

#include "../base/collective.h"
#include "../base/parallel_for.h"
#include "../grid/ghost_exchange.h"

namespace Tessella
{
  namespace internal
  {
    using namespace dealii;

    namespace
    {
      template <int dim>
      PolytopicDoFs
      linear_dofs(const AgglomerationHandler<dim> &handler)
      {
        const unsigned int n = handler.polytopic_mesh().n_polytopes();
        PolytopicDoFs      dofs;
        dofs.degree.assign(n, 1);
        dofs.n_basis.assign(n, dim + 1);
        dofs.dof_offset.resize(n + 1);
        for (unsigned int k = 0; k <= n; ++k)
          dofs.dof_offset[k] = std::uint64_t(dim + 1) * k;
        dofs.whole = {
          handler.polytopic_dofs().whole.is_set, true, 1, dim + 1, dim + 1};
        dofs.revision = new_revision();
        return dofs;
      }
    } // namespace



    template <int dim>
    LinearSpace<dim>::LinearSpace(const AgglomerationHandler<dim> &handler)
      : SpaceView<dim>(handler, linear_dofs(handler))
    {
      const PolytopicMesh<dim> &mesh  = handler.polytopic_mesh();
      const PolytopicDoFs      &given = handler.polytopic_dofs();
      for (const unsigned int degree : given.degree)
        min_degree = std::min(min_degree, degree);
      const unsigned int  n_owned = mesh.n_owned_polytopes();
      const std::uint64_t first =
        sum_of_lower_processes(std::uint64_t(n_owned),
                               handler.get_communicator());
      std::vector<std::uint64_t> number(mesh.n_polytopes());
      for (unsigned int k = 0; k < n_owned; ++k)
        number[k] = first + k;
      if (n_processes(handler.get_communicator()) > 1)
        {
          std::vector<std::uint64_t> ghosts;
          for (unsigned int k = n_owned; k < mesh.n_polytopes(); ++k)
            ghosts.push_back(handler.first_dof(k));
          BlockPartition(handler.get_communicator(),
                         given.dof_offset,
                         n_owned,
                         ghosts)
            .update_ghosts(number);
        }
      first_dofs.resize(number.size());
      for (std::size_t k = 0; k < number.size(); ++k)
        first_dofs[k] = number[k] * (dim + 1);
    }



    template <int dim>
    IndexSet
    LinearSpace<dim>::locally_owned_dofs() const
    {
      IndexSet           set(n_dofs());
      const unsigned int n = this->space.n_polytopes();
      if (n > 0)
        set.add_range(first_dofs[0],
                      first_dofs[0] + std::uint64_t(dim + 1) * n);
      set.compress();
      return set;
    }



    // The handler counts from its own degrees, of which zero is lower than one.
    template <int dim>
    void
    LinearSpace<dim>::tabulate(const unsigned int extra_order) const
    {
      this->space.tabulate(extra_order + (min_degree == 0 ? 2 : 0));
    }



    template <int dim>
    bool
    LinearSpace<dim>::has_simplices_only() const
    {
      const PolytopicMesh<dim> &mesh    = this->polytopic_mesh();
      const unsigned int        n_owned = mesh.n_owned_polytopes();
      for (unsigned int k = 0; k < n_owned; ++k)
        if (mesh.subcell_offset[k + 1] != mesh.subcell_offset[k] + 1 ||
            mesh.subcell_type[mesh.subcell_offset[k]] != SubCellType::simplex)
          return false;
      return true;
    }



    template <int dim>
    void
    LinearSpace<dim>::fill_penalty_factors(const PenaltyFormula wanted) const
    {
      if (formula == static_cast<int>(wanted))
        return;
      const PolytopicMesh<dim> &mesh   = this->polytopic_mesh();
      std::vector<double>      &factor = this->dofs.penalty_factor;
      const bool                simple = wanted == PenaltyFormula::simplex &&
                          Utilities::MPI::min(has_simplices_only() ? 1 : 0,
                                              this->get_communicator()) == 1;
      if (simple)
        {
          factor.assign(2 * std::size_t(mesh.n_facets()), 0.);
          parallel_for(mesh.n_owned_polytopes(), 256, [&](const std::size_t k) {
            for (unsigned int e = mesh.polytope_interface_offset[k];
                 e < mesh.polytope_interface_offset[k + 1];
                 ++e)
              {
                const unsigned int i    = mesh.polytope_interface[e] / 2,
                                   side = mesh.polytope_interface[e] % 2;
                for (unsigned int f = mesh.facet_offset[i];
                     f < mesh.facet_offset[i + 1];
                     ++f)
                  factor[2 * std::size_t(f) + side] =
                    mesh.facet_measure[f] / mesh.measure[k];
              }
          });
          this->exchange_facet_values(factor);
        }
      else
        {
          this->space.fill_penalty_factors(wanted);
          const PolytopicDoFs &given = this->space.polytopic_dofs();
          factor                     = given.penalty_factor;
          for (unsigned int i = 0; i < mesh.n_interfaces(); ++i)
            for (unsigned int side = 0; side < 2; ++side)
              {
                const unsigned int k =
                  mesh.interface_polytope[2 * std::size_t(i) + side];
                if (k == invalid_index)
                  continue;
                const double p = std::max(given.degree[k], 1u);
                for (unsigned int f = mesh.facet_offset[i];
                     f < mesh.facet_offset[i + 1];
                     ++f)
                  factor[2 * std::size_t(f) + side] /= p * p;
              }
        }
      this->dofs.penalty_revision = new_revision();
      formula                     = static_cast<int>(wanted);
    }



    template class LinearSpace<2>;
    template class LinearSpace<3>;
  } // namespace internal
} // namespace Tessella
