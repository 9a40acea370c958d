// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <tessella/values/mesh_loop.h>

#include <string>

namespace Tessella
{
  using namespace dealii;

  void
  internal::check_mesh_loop_flags(const MeshWorker::AssembleFlags flags,
                                  const bool has_cell_worker,
                                  const bool has_boundary_worker,
                                  const bool has_face_worker)
  {
    AssertThrow(!(flags & MeshWorker::assemble_ghost_cells),
                ExcMessage("mesh_loop() cannot visit ghost polytopes, whose "
                           "cells other processes have: leave "
                           "assemble_ghost_cells out."));
    const auto both = [flags](const MeshWorker::AssembleFlags a,
                              const MeshWorker::AssembleFlags b) {
      return (flags & a) && (flags & b);
    };
    AssertThrow(!both(MeshWorker::assemble_own_interior_faces_once,
                      MeshWorker::assemble_own_interior_faces_both) &&
                  !both(MeshWorker::assemble_ghost_faces_once,
                        MeshWorker::assemble_ghost_faces_both),
                ExcMessage("mesh_loop() visits faces either once or from both "
                           "sides: give one of the two flags."));
    const auto needs = [flags](const MeshWorker::AssembleFlags of_worker,
                               const bool                      has_worker,
                               const char                     *name) {
      AssertThrow(has_worker || !(flags & of_worker),
                  ExcMessage(
                    std::string("The flags of mesh_loop() ask for a ") + name +
                    " worker, but there is none."));
    };
    needs(MeshWorker::assemble_own_cells, has_cell_worker, "cell");
    needs(MeshWorker::assemble_boundary_faces, has_boundary_worker, "boundary");
    needs(MeshWorker::work_on_faces, has_face_worker, "face");
  }
} // namespace Tessella
