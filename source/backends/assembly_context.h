// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_backends_assembly_context_h
#define tessella_source_backends_assembly_context_h

#include <tessella/backends/assembly_parameters.h>
#include <tessella/backends/assembly_report.h>
#include <tessella/base/compatibility.h>
#include <tessella/grid/polytopic_space.h>
#include <tessella/grid/revision.h>

#include "../lac/matrix_structure.h"

namespace Tessella
{
  namespace internal
  {
    /// Data of a PolytopicAssembler that its backend shares.
    template <int dim>
    struct AssemblyContext
    {
      AssemblyContext(const PolytopicSpace<dim> &space,
                      const AssemblyParameters  &parameters)
        : space(&space)
        , parameters(parameters)
        , structure(space.get_communicator())
      {}

      const PolytopicMesh<dim> &
      mesh() const
      {
        return space->polytopic_mesh();
      }

      const PolytopicDoFs &
      dofs() const
      {
        return space->polytopic_dofs();
      }

      SpaceRevision
      revision() const
      {
        return {mesh().revision, dofs().revision};
      }

      SmartPointer<const PolytopicSpace<dim>> space;
      AssemblyParameters                      parameters;
      MatrixStructure                         structure;
      AssemblyReport                          report = {};
    };
  } // namespace internal
} // namespace Tessella

#endif
