// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_hdg_interface_sides_h
#define tessella_source_hdg_interface_sides_h

#include <deal.II/base/array_view.h>

#include <tessella/grid/polytopic_mesh.h>

namespace Tessella
{
  namespace internal
  {
    /// Interfaces of polytope @p k in their order, as 2 * interface + side.
    template <int dim>
    inline dealii::ArrayView<const unsigned int>
    interface_sides(const PolytopicMesh<dim> &mesh, const unsigned int k)
    {
      const unsigned int begin = mesh.polytope_interface_offset[k];
      return {mesh.polytope_interface.data() + begin,
              mesh.polytope_interface_offset[k + 1] - begin};
    }
  } // namespace internal
} // namespace Tessella

#endif
