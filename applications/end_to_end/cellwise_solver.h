// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#ifndef tessella_applications_end_to_end_cellwise_solver_h
#define tessella_applications_end_to_end_cellwise_solver_h

#include "../common/equation_input.h"
#include "../common/mesh_input.h"
#include "stage.h"

namespace Tessella
{
  namespace Application
  {
    /**
     * Solves Poisson's equation on the cells of @p mesh in deal.II's own terms:
     * FE_DGQ or FE_SimplexDGP, symmetric interior penalty by
     * MeshWorker::mesh_loop(), TrilinosWrappers::SparseMatrix, CG with ML, and
     * DataOut. Nothing of Tessella's library takes part.
     *
     * The penalty on a facet is (p+1)(p+dim)/dim times the larger one of
     * |boundary of K| / |K| of its cells, halved between two cells: K.
     * Shahbazi, J. Comput. Phys. 205 (2005), which is proved for simplices.
     *
     * @param result receives sizes, the error if there is an exact solution,
     * and all times but that of the mesh.
     *
     * Throws if the cells are of different kinds, or are simplices and deal.II
     * has no FE_SimplexDGP of that degree. Collective.
     */
    template <int dim>
    void
    solve_cellwise(const Mesh<dim>         &mesh,
                   const Problem<dim>      &problem,
                   const unsigned int       degree,
                   const StoppingCriterion &stopping,
                   const SolutionFile      &file,
                   EndToEndResult          &result);
  } // namespace Application
} // namespace Tessella

#endif
