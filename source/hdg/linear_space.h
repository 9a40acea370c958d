// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_hdg_linear_space_h
#define tessella_source_hdg_linear_space_h

#include <tessella/grid/agglomeration_handler.h>

#include <vector>

#include "../grid/space_view.h"

namespace Tessella
{
  namespace internal
  {
    /**
     * Discontinuous scalar functions of degree one, of total degree, on the
     * polytopes of a handler: dim + 1 on each of them, whatever the handler's
     * degrees. It has the mesh of the handler, so that neither the mesh nor its
     * copy on a device is made again.
     *
     * <b>Penalty factors.</b> On polytopes that are single simplices they are
     * |F| / |k|, which is what compute_penalty_factors() finds for degree one.
     * On others they are the factors of the handler, which it computes once,
     * divided by the square of the degree: those of degree one or, on coverable
     * polytopes, somewhat larger ones.
     */
    template <int dim>
    class LinearSpace : public SpaceView<dim>
    {
    public:
      /// @p handler must outlive the object. Collective.
      explicit LinearSpace(const AgglomerationHandler<dim> &handler);

      PolynomialSpaceType
      polynomial_space() const override
      {
        return PolynomialSpaceType::total_degree;
      }
      dealii::types::global_dof_index
      n_dofs() const override
      {
        return std::uint64_t(dim + 1) * this->space.n_global_polytopes();
      }
      dealii::types::global_dof_index
      first_dof(const unsigned int polytope) const override
      {
        AssertIndexRange(polytope, first_dofs.size());
        return first_dofs[polytope];
      }
      unsigned int
      max_degree() const override
      {
        return 1;
      }
      unsigned int
      max_dofs_per_polytope() const override
      {
        return dim + 1;
      }
      dealii::IndexSet
      locally_owned_dofs() const override;

      void
      tabulate(const unsigned int extra_order) const override;

      void
      fill_penalty_factors(const PenaltyFormula formula) const override;

    private:
      bool
      has_simplices_only() const;

      /// First degree of freedom of every polytope, ghosts included, counted
      /// over all processes.
      std::vector<dealii::types::global_dof_index> first_dofs;
      /// Lowest degree of the handler on this process.
      unsigned int min_degree = 1;
      /// Formula of the present penalty factors, or -1.
      mutable int formula = -1;
    };
  } // namespace internal
} // namespace Tessella

#endif
