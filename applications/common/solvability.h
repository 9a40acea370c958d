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
    /// The usual @p remedy of check_solvability().
    inline const std::string fix_the_constant =
      "Give a Dirichlet, Robin or inflow boundary (Boundary conditions/Types) "
      "or a positive Equation/Reaction.";

    /**
     * Throws if constants are in the kernel of @p matrix, whose DoFs are those
     * of @p handler. Without a reaction and without a part of the boundary that
     * fixes the solution, the problem has no unique solution. Parts of the mesh
     * that are not connected through faces are tested separately. Of several
     * components only the first one is tested. Collective.
     *
     * @param what the quantity that nothing fixes, for the message.
     * @param remedy a sentence that says what the user can change.
     */
    template <int dim>
    void
    check_solvability(const AgglomerationHandler<dim>              &handler,
                      const dealii::TrilinosWrappers::SparseMatrix &matrix,
                      const std::string &what   = "the constant",
                      const std::string &remedy = fix_the_constant);

    /**
     * Performs the same test for programs that do not have such a matrix, with
     * the matrix of the interior penalty method of degree 0. The handler has
     * DoFs of degree 0 afterwards, so that the caller has to distribute its
     * DoFs again. Collective.
     */
    template <int dim>
    void
    check_solvability(AgglomerationHandler<dim> &handler,
                      const Form<dim>           &form,
                      const std::string         &remedy = fix_the_constant);
  } // namespace Application
} // namespace Tessella

#endif
