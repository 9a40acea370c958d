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
    /// Mesh and its polytopes, distributed over all MPI processes.
    template <int dim>
    struct AgglomeratedMesh
    {
      Mesh<dim>    mesh;
      Distribution distribution = Distribution::serial;
      /// Argument for AgglomerationHandler::agglomerate().
      Agglomeration::Strategy<dim> strategy;
      /// Text such as "1,024 triangles in 128 polytopes of 7 to 9 cells".
      std::string description;
      /// Wall times of this process in seconds.
      double mesh_seconds = 0., agglomeration_seconds = 0.;
      /// Growth of this process's resident memory by mesh and polytopes, in
      /// bytes.
      double resident = 0.;
    };

    /**
     * Creates mesh number @p level and its polytopes as described by the
     * sections "Mesh" and "Agglomeration". On several processes they are
     * distributed as the parameter Mesh/Distribution says. @p cell_values:
     * coefficients have values that are identified by the index of a cell in
     * the whole mesh, so that every process needs the whole mesh. Collective.
     */
    template <int dim>
    AgglomeratedMesh<dim>
    create_agglomerated_mesh(const MeshInput          &mesh,
                             const AgglomerationInput &agglomeration,
                             const bool                cell_values,
                             const unsigned int        level);
  } // namespace Application
} // namespace Tessella

#endif
