// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "pointwise_context.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/base/mpi.h>

#include <tessella/quadrature/quadrature_order.h>

#include <algorithm>
#include <string>

namespace Tessella
{
  namespace internal
  {
    using namespace dealii;

    template <int dim>
    PointwiseContext<dim>::PointwiseContext(
      const std::vector<const PolytopicSpace<dim> *> &given,
      const unsigned int                              test,
      const AssemblyParameters                       &parameters)
      : test(test)
      , parameters(parameters)
    {
      AssertThrow(!given.empty() &&
                    std::find(given.begin(), given.end(), nullptr) ==
                      given.end(),
                  ExcMessage("PointwiseOperator needs at least one handler, "
                             "and none may be a null pointer."));
      AssertThrow(test < given.size(),
                  ExcMessage("The test functions shall be those of handler " +
                             std::to_string(test) +
                             ", but PointwiseOperator was given " +
                             std::to_string(given.size()) +
                             " handlers, counted from 0."));
      for (const PolytopicSpace<dim> *space : given)
        {
          spaces.emplace_back(space);
          structures.emplace_back(space->get_communicator());
        }
      revisions.resize(given.size());
    }



    template <int dim>
    void
    PointwiseContext<dim>::check_dofs() const
    {
      for (const auto &space : spaces)
        AssertThrow(space->n_global_polytopes() > 0 && space->n_dofs() > 0,
                    ExcMessage("PointwiseOperator needs degrees of freedom: "
                               "call agglomerate() and distribute_dofs() of "
                               "each AgglomerationHandler first."));
    }



    template <int dim>
    void
    PointwiseContext<dim>::check_polytopes() const
    {
      check_dofs();
      const PolytopicMesh<dim> &first = spaces[0]->polytopic_mesh();
      for (const auto &space : spaces)
        {
          const PolytopicMesh<dim> &mesh = space->polytopic_mesh();
          AssertThrow(mesh.box == first.box && mesh.measure == first.measure &&
                        mesh.subcell_offset == first.subcell_offset &&
                        mesh.subcell_cell == first.subcell_cell &&
                        mesh.polytope_interface == first.polytope_interface &&
                        mesh.interface_polytope == first.interface_polytope,
                      ExcMessage("The handlers of a PointwiseOperator have "
                                 "different polytopes: agglomerate them alike, "
                                 "on the same triangulation and with the same "
                                 "mapping."));
        }
    }



    template <int dim>
    void
    PointwiseContext<dim>::find_quadrature()
    {
      finest = 0;
      for (unsigned int f = 1; f < n_fields(); ++f)
        if (spaces[f]->max_degree() > spaces[finest]->max_degree())
          finest = f;
      finest_degree          = spaces[finest]->max_degree();
      quadrature             = PolytopicDoFs();
      quadrature.degree      = dofs(finest).degree;
      quadrature.n_basis     = dofs(finest).n_basis;
      quadrature.whole       = dofs(finest).whole;
      bool is_tensor_product = false;
      for (unsigned int f = 0; f < n_fields(); ++f)
        {
          const PolytopicDoFs &space = dofs(f);
          for (unsigned int k = 0; k < space.degree.size(); ++k)
            {
              quadrature.degree[k] =
                std::max(quadrature.degree[k], space.degree[k]);
              quadrature.n_basis[k] =
                std::max(quadrature.n_basis[k], space.n_basis[k]);
            }
          quadrature.whole.total_degree =
            quadrature.whole.total_degree && space.whole.total_degree;
          is_tensor_product =
            is_tensor_product || spaces[f]->polynomial_space() ==
                                   PolynomialSpaceType::tensor_product;
        }
      tensor_product = is_tensor_product;
      // Tables of the finest space have the order of its degrees.
      excess = 0;
      for (unsigned int k = 0; k < quadrature.degree.size(); ++k)
        excess =
          std::max(excess, quadrature.degree[k] - dofs(finest).degree[k]);
    }



    template <int dim>
    void
    PointwiseContext<dim>::prepare(const unsigned int order)
    {
      bool new_spaces = false;
      structures[0].on_all_processes([&]() {
        for (unsigned int f = 0; f < n_fields(); ++f)
          {
            const SpaceRevision present = {spaces[f]->polytopic_mesh().revision,
                                           dofs(f).revision};
            new_spaces =
              new_spaces || !present.is_known() || present != revisions[f];
          }
        if (!new_spaces)
          return;
        revisions.assign(n_fields(), SpaceRevision());
        check_polytopes();
        find_quadrature();
        for (unsigned int f = 0; f < n_fields(); ++f)
          structures[f].update(*spaces[f]);
      });
      if (new_spaces)
        {
          if (structures[0].n_processes > 1)
            excess = Utilities::MPI::max(excess, structures[0].communicator);
          for (unsigned int f = 0; f < n_fields(); ++f)
            revisions[f] = {spaces[f]->polytopic_mesh().revision,
                            dofs(f).revision};
          spaces_revision = new_revision();
          // Unknown until all below has succeeded.
          quadrature_revision = 0;
        }

      structures[0].on_all_processes([&]() {
        spaces[finest]->tabulate(
          integrand_degree(dim, finest_degree, order, tensor_product) -
          2 * finest_degree + 2 * excess);
      });
      spaces[test]->fill_penalty_factors(parameters.penalty.formula);
      const std::uint64_t tables = mesh().quadrature_revision;
      if (quadrature_revision == 0 || coefficient_order != order ||
          tables != tables_revision)
        {
          quadrature_revision = new_revision();
          coefficient_order   = order;
          tables_revision     = tables;
        }
    }



    template struct PointwiseContext<2>;
    template struct PointwiseContext<3>;
  } // namespace internal
} // namespace Tessella
