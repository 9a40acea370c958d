// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_operators_simplex_setup_h
#define tessella_source_operators_simplex_setup_h

#include <tessella/forms/form.h>
#include <tessella/grid/polytopic_dofs.h>
#include <tessella/grid/polytopic_mesh.h>

#include <string>
#include <vector>

#include "../../cuda/operators/simplex_data.h"

namespace Tessella
{
  namespace internal
  {
    /**
     * Fills @p data for a mesh of affine simplices and an interior penalty form
     * with coefficients that are constant on each of them, and returns an empty
     * text; otherwise returns why the form or mesh is not of this kind, and
     * @p data has no meaning. @p sigma is the penalty of each facet.
     * Coefficients count as constant if the form declares coefficient order 0
     * and they have the same bits at all vertices. Form::prepare() must have
     * been called. Not collective. Cost: one evaluation of the form at dim + 1
     * points of each polytope and dim points of each side of a facet.
     */
    template <int dim>
    std::string
    set_up_simplex_data(const PolytopicMesh<dim>  &mesh,
                        const PolytopicDoFs       &dofs,
                        const Form<dim>           &form,
                        const std::vector<double> &sigma,
                        SimplexData               &data);
  } // namespace internal
} // namespace Tessella

#endif
