// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_backends_component_space_h
#define tessella_source_backends_component_space_h

#include <tessella/grid/polytopic_space.h>

#include <vector>

#include "system_pairs.h"

namespace Tessella
{
  namespace internal
  {
    /// One component of a space with several components, as a scalar space. Its
    /// degrees of freedom keep their positions among those of all components.
    /// It must be made anew when the space changes.
    template <int dim>
    class ComponentSpace : public PolytopicSpace<dim>
    {
    public:
      ComponentSpace(const PolytopicSpace<dim> &space,
                     const unsigned int         component)
        : space(space)
        , dofs(component_dofs(space.polytopic_dofs(), component))
      {}

      const PolytopicMesh<dim> &
      polytopic_mesh() const override
      {
        return space.polytopic_mesh();
      }
      const PolytopicDoFs &
      polytopic_dofs() const override
      {
        return dofs;
      }
      PolynomialSpaceType
      polynomial_space() const override
      {
        return space.polynomial_space();
      }
      MPI_Comm
      get_communicator() const override
      {
        return space.get_communicator();
      }
      dealii::types::global_dof_index
      n_dofs() const override
      {
        return space.n_dofs();
      }
      unsigned int
      n_polytopes() const override
      {
        return space.n_polytopes();
      }
      unsigned int
      n_global_polytopes() const override
      {
        return space.n_global_polytopes();
      }
      void
      exchange_facet_values(std::vector<double> &values) const override
      {
        space.exchange_facet_values(values);
      }
      unsigned int
      n_components() const override
      {
        return 1;
      }
      unsigned int
      max_degree() const override
      {
        return space.max_degree();
      }
      unsigned int
      max_dofs_per_polytope() const override
      {
        return space.max_dofs_per_polytope() / space.n_components();
      }
      dealii::IndexSet
      locally_owned_dofs() const override
      {
        return space.locally_owned_dofs();
      }
      void
      tabulate(const unsigned int extra_order) const override
      {
        space.tabulate(extra_order);
      }
      void
      fill_penalty_factors(const PenaltyFormula formula) const override
      {
        space.fill_penalty_factors(formula);
        const PolytopicDoFs &all = space.polytopic_dofs();
        if (dofs.penalty_revision == all.penalty_revision &&
            all.penalty_revision != 0)
          return;
        dofs.penalty_factor   = all.penalty_factor;
        dofs.penalty_revision = all.penalty_revision;
      }

    private:
      const PolytopicSpace<dim> &space;
      mutable PolytopicDoFs      dofs;
    };
  } // namespace internal
} // namespace Tessella

#endif
