// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_backends_component_space_h
#define tessella_source_backends_component_space_h

#include "../grid/space_view.h"
#include "system_pairs.h"

namespace Tessella
{
  namespace internal
  {
    /// One component of a space with several components, as a scalar space. Its
    /// degrees of freedom keep their positions among those of all components.
    /// It must be made anew when the space changes.
    template <int dim>
    class ComponentSpace : public SpaceView<dim>
    {
    public:
      ComponentSpace(const PolytopicSpace<dim> &space,
                     const unsigned int         component)
        : SpaceView<dim>(space,
                         component_dofs(space.polytopic_dofs(), component))
      {}

      dealii::types::global_dof_index
      n_dofs() const override
      {
        return this->space.n_dofs();
      }
      unsigned int
      max_degree() const override
      {
        return this->space.max_degree();
      }
      unsigned int
      max_dofs_per_polytope() const override
      {
        return this->space.max_dofs_per_polytope() / this->space.n_components();
      }
      dealii::IndexSet
      locally_owned_dofs() const override
      {
        return this->space.locally_owned_dofs();
      }
    };
  } // namespace internal
} // namespace Tessella

#endif
