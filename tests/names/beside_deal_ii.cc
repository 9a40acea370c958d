// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
// Names that deal.II and Tessella both have; see CMakeLists.txt.

#include "dealii_agglomeration.h"

// Headers of deal.II that users of AgglomerationHandler include, and those with
// names that Tessella has as well.
#include <deal.II/base/polynomial.h>

#include <deal.II/dofs/dof_tools.h>
#include <deal.II/fe/fe_interface_values.h>
#include <deal.II/fe/fe_series.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/grid/grid_refinement.h>
#include <deal.II/grid/grid_tools.h>
#include <deal.II/lac/block_matrix_base.h>
#include <deal.II/lac/generic_linear_algebra.h>
#include <deal.II/lac/la_parallel_vector.h>
#include <deal.II/matrix_free/matrix_free.h>
#include <deal.II/multigrid/multigrid.h>
#include <deal.II/numerics/data_out.h>
#include <deal.II/numerics/error_estimator.h>
#include <deal.II/numerics/smoothness_estimator.h>
#include <deal.II/numerics/solution_transfer.h>
#include <deal.II/numerics/vector_tools.h>

// These headers are included with both using-directives.
#include <tessella/multigrid/multigrid.h>
#include <tessella/numerics/grid_refinement.h>
#include <tessella/values/polytope_values.h>

#include "readme_program.cc"

// The documentation of AgglomerationHandler recommends the following to
// programs in their own namespace that use the interface of deal.II's class.
// namespace of their own, in the words of deal.II's class.
namespace Program
{
  using namespace dealii;
  using namespace Tessella;
  using Tessella::AgglomerationHandler;

  template <int dim>
  double
  run(const Triangulation<dim> &triangulation)
  {
    AgglomerationHandler<dim> ah(triangulation);
    for (const auto &cell : triangulation.active_cell_iterators())
      ah.define_agglomerate({cell});
    ah.finalize_agglomerates();

    hp::FECollection<dim> fe_collection(FE_BoundingBoxLegendre<dim>(1),
                                        FE_BoundingBoxLegendre<dim>(2));
    for (const auto &polytope : ah.polytope_iterators())
      polytope->set_active_fe_index(polytope->index() % 2);
    ah.distribute_agglomerated_dofs(fe_collection);
    DynamicSparsityPattern dsp;
    ah.create_agglomeration_sparsity_pattern(dsp);

    PolytopeValues<dim> values(ah, 0, update_values);
    double sum = ah.n_agglomerates() + ah.n_dofs() + ah.get_fe().degree;
    std::vector<types::global_dof_index> dofs;
    for (const auto &polytope : ah.polytope_iterators())
      if (polytope->is_locally_owned())
        {
          values.reinit(polytope);
          polytope->get_dof_indices(dofs);
          sum += polytope->volume() + polytope->diameter() +
                 polytope->get_bounding_box().volume() +
                 polytope->get_fe().degree + polytope->active_fe_index() +
                 polytope->n_background_cells() +
                 polytope->get_agglomerate().size();
          const CellId              id      = polytope->id();
          const types::subdomain_id process = polytope->subdomain_id();
          for (const auto &face : polytope->polytope_boundary())
            sum += face->measure();
          for (unsigned int f = 0; f < polytope->n_faces(); ++f)
            if (!polytope->at_boundary(f))
              {
                const auto &neighbor = polytope->neighbor(f);
                if (neighbor.state() == IteratorState::valid &&
                    neighbor->subdomain_id() == process && id < neighbor->id())
                  sum += neighbor->neighbor_of_agglomerated_neighbor(
                    polytope->neighbor_of_agglomerated_neighbor(f));
              }
        }
    for (auto polytope = ah.begin(); polytope != ah.end(); ++polytope)
      sum += polytope->volume();
    return sum;
  }

  template double
  run(const Triangulation<2> &);
  template double
  run(const Triangulation<3> &);
} // namespace Program
