// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_common_solvability_h
#define tessella_applications_common_solvability_h

#include <deal.II/lac/trilinos_sparse_matrix.h>

#include <tessella/forms/form.h>
#include <tessella/grid/agglomeration_handler.h>

#include <string>

namespace Tessella
{
  namespace Application
  {
    /**
     * Throws if constants are in the kernel of @p matrix, of the degrees of
     * freedom of @p handler: without a reaction and without a part of the
     * boundary that holds the solution, the problem has no unique one. Every
     * part of the mesh that is connected through faces is looked at by itself.
     * Only the first of several components is tested. Collective.
     *
     * @param what nothing fixes.
     * @param remedy what the user can change, a sentence.
     */
    template <int dim>
    void
    check_solvability(const AgglomerationHandler<dim>              &handler,
                      const dealii::TrilinosWrappers::SparseMatrix &matrix,
                      const std::string &what = "the constant",
                      const std::string &remedy =
                        "Give a Dirichlet, Robin or inflow boundary (Boundary "
                        "conditions/Types) or a positive Equation/Reaction.");

    /**
     * The same for programs that have no matrix of this kind: with that of the
     * interior penalty method of degree 0. The handler must get its degrees of
     * freedom again afterwards. Collective.
     */
    template <int dim>
    void
    check_solvability(AgglomerationHandler<dim> &handler,
                      const Form<dim>           &form);
  } // namespace Application
} // namespace Tessella

#endif
