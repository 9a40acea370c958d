// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_grid_space_view_h
#define tessella_source_grid_space_view_h

#include <tessella/grid/polytopic_space.h>

#include <utility>
#include <vector>

namespace Tessella
{
  namespace internal
  {
    /// Space on the mesh of another space, which it refers to for all that does
    /// not depend on its own degrees and degrees of freedom. Quadrature that is
    /// tabulated is that of the other space, which must not have lower degrees,
    /// and so are penalty factors. The other space must outlive the view.
    template <int dim>
    class SpaceView : public PolytopicSpace<dim>
    {
    public:
      SpaceView(const PolytopicSpace<dim> &space, PolytopicDoFs &&dofs)
        : space(space)
        , dofs(std::move(dofs))
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
        return dofs.n_components;
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

    protected:
      const PolytopicSpace<dim> &space;
      mutable PolytopicDoFs      dofs;
    };
  } // namespace internal
} // namespace Tessella

#endif
