// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_common_distributed_mesh_h
#define tessella_applications_common_distributed_mesh_h

#include <tessella/grid/agglomeration.h>

#include <string>

#include "agglomeration_input.h"
#include "mesh_input.h"

namespace Tessella
{
  namespace Application
  {
    /// A mesh and its polytopes, over all MPI processes.
    template <int dim>
    struct AgglomeratedMesh
    {
      Mesh<dim>    mesh;
      Distribution distribution = Distribution::serial;
      /// For AgglomerationHandler::agglomerate().
      Agglomeration::Strategy<dim> strategy;
      /// "1,024 triangles in 128 polytopes of 7 to 9 cells" or the like.
      std::string description;
      /// Wall times of this process in seconds.
      double mesh_seconds = 0., agglomeration_seconds = 0.;
      /// Growth of this process by these, in bytes.
      double resident = 0.;
    };

    /**
     * Mesh number @p level in polytopes: on one process as the sections "Mesh"
     * and "Agglomeration" say, on several distributed over them, see the
     * parameter Mesh/Distribution. @p cell_values: values go by the number of a
     * cell in the whole mesh, which is needed then.
     * Collective.
     */
    template <int dim>
    AgglomeratedMesh<dim>
    create_agglomerated_mesh(const MeshInput          &mesh,
                             const AgglomerationInput &agglomeration,
                             const bool                cell_values,
                             const unsigned int        level);

    /// For reports; empty for a serial mesh.
    std::string
    name(const Distribution distribution);
  } // namespace Application
} // namespace Tessella

#endif
