// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_agglomeration_study_space_stages_h
#define tessella_applications_agglomeration_study_space_stages_h

#include <deal.II/grid/tria.h>

#include <cstdint>
#include <vector>

namespace Tessella
{
  namespace Application
  {
    /// Seconds of the stages from the ids of the polytopes to a space with
    /// penalty factors, each the shortest of the repetitions.
    struct SpaceStages
    {
      /// List of the cells, flat view, unknowns, penalty factors.
      double cells = 0., view = 0., unknowns = 0., penalty = 0.;
      /// Number made of all bits of geometry, topology and penalty factors.
      std::uint64_t digest = 0;

      double
      sum() const
      {
        return cells + view + unknowns + penalty;
      }
    };

    template <int dim>
    SpaceStages
    measure_space_stages(const dealii::Triangulation<dim> &triangulation,
                         const std::vector<unsigned int>  &ids,
                         const unsigned int                n_repetitions);

    /// Error in L2 of the interior penalty method for -lap u = f with the
    /// solution prod_d sin(pi x_d), and iterations of CG with Multigrid to
    /// 1e-10 of the right-hand side.
    struct PoissonResult
    {
      double       error        = 0.;
      unsigned int n_iterations = 0;
    };

    template <int dim>
    PoissonResult
    solve_poisson(const dealii::Triangulation<dim> &triangulation,
                  const std::vector<unsigned int>  &ids,
                  const unsigned int                degree);
  } // namespace Application
} // namespace Tessella

#endif
