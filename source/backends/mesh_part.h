// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_backends_mesh_part_h
#define tessella_source_backends_mesh_part_h

#include <tessella/grid/polytopic_dofs.h>
#include <tessella/grid/polytopic_mesh.h>
#include <tessella/lac/block_sparsity.h>

#include <cstdint>
#include <vector>

#include "../../cuda/backends/assembly.h"

namespace Tessella
{
  namespace internal
  {
    /**
     * Contiguous range of polytopes of a mesh as a mesh of its own, with all
     * data for their block rows: the polytopes [begin, end) with their
     * sub-cells, interfaces and facets, and their neighbours. Neighbours have a
     * box and a degree but no sub-cells, no interfaces of their own and no
     * rows.
     *
     * Polytopes, sub-cells, interfaces, facets and blocks keep their order, so
     * that a backend computes the same rows to the last bit. Data that only the
     * host needs (cells, materials, boundary ids except their number, penalty
     * factors) are left out.
     */
    template <int dim>
    struct MeshPart
    {
      /// Cost: proportional to the size of the part; runs on all threads.
      MeshPart(const PolytopicMesh<dim> &mesh,
               const PolytopicDoFs      &dofs,
               const BlockSparsity      &sparsity,
               const unsigned int        begin,
               const unsigned int        end);

      /// Arrays for coefficients that are evaluated on a device; indices refer
      /// to the whole mesh @p whole and the space @p whole_space on it.
      Device::CoefficientArrays
      coefficient_arrays(const PolytopicMesh<dim> &whole,
                         const PolytopicDoFs      &whole_space) const;

      unsigned int       begin, end;
      PolytopicMesh<dim> mesh;
      PolytopicDoFs      dofs;
      BlockSparsity      sparsity;
      /// Index of polytope `begin` in this part; the others follow.
      unsigned int first;
      /// Indices of the part's polytopes and facets in the whole mesh.
      std::vector<unsigned int> polytope, facet;

    private:
      /// Lists the polytopes of the part and their neighbours, sorted.
      void
      find_polytopes(const BlockSparsity &blocks);

      /// Indices of the part's interfaces in the whole mesh.
      std::vector<unsigned int>
      find_interfaces(const PolytopicMesh<dim> &whole) const;

      void
      copy_polytopes(const PolytopicMesh<dim> &whole,
                     const BlockSparsity      &blocks);

      void
      copy_space(const PolytopicDoFs &whole);

      void
      copy_blocks(const BlockSparsity &blocks);

      void
      copy_subcells(const PolytopicMesh<dim> &whole);

      /// Copies the interfaces of a list, and lists the facets.
      void
      copy_interfaces(const PolytopicMesh<dim>        &whole,
                      const std::vector<unsigned int> &interface);

      void
      copy_facets(const PolytopicMesh<dim> &whole);
    };
  } // namespace internal
} // namespace Tessella

#endif
