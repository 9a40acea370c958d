// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/dofs/dof_tools.h>
#include <deal.II/fe/fe_dgq.h>
#include <deal.II/fe/fe_pyramid_p.h>
#include <deal.II/fe/fe_simplex_p.h>
#include <deal.II/fe/fe_system.h>
#include <deal.II/fe/fe_wedge_p.h>
#include <deal.II/hp/fe_collection.h>

#include <tessella/base/exceptions.h>
#include <tessella/numerics/dof_handler_bridge.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "collective_ranges.h"
#include "function_batch.h"
#include "polytope_evaluation.h"

namespace Tessella
{
  using namespace internal;

  namespace
  {
    /// Checks that an element is discontinuous and has support points.
    template <int dim>
    void
    check_bridge_element(const dealii::FiniteElement<dim> &fe,
                         const unsigned int                n_components)
    {
      AssertThrow(fe.n_components() == n_components,
                  ExcUserInput("The elements of the DoFHandler have " +
                               std::to_string(fe.n_components()) +
                               " components, but the polytopes have " +
                               std::to_string(n_components) +
                               "; they must be equal."));
      AssertThrow(fe.has_support_points() && fe.is_primitive() &&
                    fe.template n_dofs_per_object<dim>() ==
                      fe.n_dofs_per_cell(),
                  ExcUserInput("A function on polytopes is discontinuous and "
                               "can be interpolated to discontinuous elements "
                               "with support points, such as FE_DGQ and "
                               "FE_SimplexDGP, but the DoFHandler has " +
                               fe.get_name() + "."));
    }

    /// The discontinuous element of deal.II of degree @p p on cells of a type.
    template <int dim>
    std::unique_ptr<dealii::FiniteElement<dim>>
    discontinuous_element(const Compatibility::ReferenceCell<dim> &type,
                          const unsigned int                       p)
    {
      std::unique_ptr<dealii::FiniteElement<dim>> fe;
      unsigned int n_functions = 1; // of the complete space
      if (type.is_hyper_cube())
        {
          fe          = std::make_unique<dealii::FE_DGQ<dim>>(p);
          n_functions = dealii::Utilities::pow(p + 1, dim);
        }
      else if (type.is_simplex() && p <= 3)
        {
          fe          = std::make_unique<dealii::FE_SimplexDGP<dim>>(p);
          n_functions = Legendre::n_functions(dim, p, false);
        }
      else if constexpr (dim == 3)
        {
          if (type == dealii::ReferenceCells::Wedge && p <= 2)
            {
              fe          = std::make_unique<dealii::FE_WedgeDGP<dim>>(p);
              n_functions = (p + 1) * (p + 1) * (p + 2) / 2;
            }
          else if (type == dealii::ReferenceCells::Pyramid && p <= 1)
            {
              fe          = std::make_unique<dealii::FE_PyramidDGP<dim>>(p);
              n_functions = 5;
            }
        }
      // deal.II makes some elements that it does not support without functions
      // or support points.
      AssertThrow(fe != nullptr && fe->n_dofs_per_cell() == n_functions &&
                    fe->get_unit_support_points().size() == n_functions,
                  ExcUserInput(
                    "deal.II has no discontinuous element of degree " +
                    std::to_string(p) + " on cells of the type " +
                    type.to_string() +
                    " to which the function could be "
                    "interpolated: take a lower degree, or "
                    "VectorTools::interpolate_to_dof_handler() with "
                    "elements of your choice."));
      return fe;
    }

    /// Interpolation on one cell after the other, with memory that is kept.
    template <int dim>
    class CellInterpolation
    {
    public:
      CellInterpolation(const AgglomerationHandler<dim> &handler,
                        const PolytopeEvaluator<dim>    &evaluator,
                        const double                    *u,
                        const dealii::DoFHandler<dim>   &dof_handler,
                        const dealii::IndexSet          &owned,
                        double                          *result)
        : handler(handler)
        , evaluator(evaluator)
        , u(u)
        , dof_handler(dof_handler)
        , owned(owned)
        , result(result)
      {}

      void
      run(const unsigned int polytope, const unsigned int active_cell)
      {
        const auto &on_mesh = handler.active_cell(active_cell);
        const typename dealii::DoFHandler<dim>::active_cell_iterator cell(
          &on_mesh->get_triangulation(),
          on_mesh->level(),
          on_mesh->index(),
          &dof_handler);
        const dealii::FiniteElement<dim> &fe = cell->get_fe();
        // A mesh of several types of cells has straight cells.
        const auto                 &mesh = handler.get_triangulation();
        const auto                  reference_cell = on_mesh->reference_cell();
        const dealii::Mapping<dim> &mapping =
          mesh.get_reference_cells().size() == 1
            ? handler.get_mapping()
            : reference_cell.template get_default_linear_mapping<dim>();
        const unsigned int n = fe.n_dofs_per_cell();
        dofs.resize(n);
        cell->get_dof_indices(dofs);
        for (auto &coordinates : x)
          coordinates.resize(n);
        values.resize(n);
        points.resize(n);
        for (unsigned int i = 0; i < n; ++i)
          points[i] = mapping.transform_unit_to_real_cell(
            on_mesh, fe.get_unit_support_points()[i]);

        const PolytopicDoFs &own = handler.polytopic_dofs();
        for (unsigned int c = 0; c < handler.n_components(); ++c)
          {
            of_component.clear();
            for (unsigned int i = 0; i < n; ++i)
              if (fe.system_to_component_index(i).first == c)
                {
                  for (int d = 0; d < dim; ++d)
                    x[d][of_component.size()] = points[i][d];
                  of_component.push_back(i);
                }
            std::array<const double *, dim> pointers;
            for (int d = 0; d < dim; ++d)
              pointers[d] = x[d].data();
            evaluator.evaluate(polytope,
                               u + own.dof_offset[polytope] +
                                 std::size_t(c) * own.n_basis[polytope],
                               of_component.size(),
                               pointers,
                               values.data(),
                               nullptr);
            for (unsigned int i = 0; i < of_component.size(); ++i)
              result[owned.index_within_set(dofs[of_component[i]])] = values[i];
          }
      }

    private:
      const AgglomerationHandler<dim> &handler;
      const PolytopeEvaluator<dim>    &evaluator;
      const double *const              u;
      const dealii::DoFHandler<dim>   &dof_handler;
      const dealii::IndexSet          &owned;
      double *const                    result;

      std::vector<dealii::types::global_dof_index> dofs;
      std::array<std::vector<double>, dim>         x;
      std::vector<double>                          values;
      std::vector<dealii::Point<dim>>              points;
      std::vector<unsigned int>                    of_component;
    };

    /// Interpolates to the owned degrees of freedom of @p dof_handler, of which
    /// @p start returns the address. Collective.
    template <int dim, typename Start>
    void
    interpolate_to_cells(const AgglomerationHandler<dim> &handler,
                         const ConstVectorView           &solution,
                         const dealii::DoFHandler<dim>   &dof_handler,
                         const dealii::IndexSet          &owned,
                         const Start                     &start)
    {
      const MPI_Comm      comm = handler.get_communicator();
      std::vector<double> memory;
      const double       *u      = nullptr;
      double             *result = nullptr;
      on_all_processes(comm, [&]() {
        check_handler(handler);
        AssertThrow(&dof_handler.get_triangulation() ==
                        &handler.get_triangulation() &&
                      dof_handler.n_dofs() > 0,
                    ExcUserInput(
                      "The DoFHandler must be on the triangulation "
                      "of the polytopes and have degrees of freedom: "
                      "call distribute_dofs()."));
        for (unsigned int i = 0; i < dof_handler.get_fe_collection().size();
             ++i)
          check_bridge_element(dof_handler.get_fe(i), handler.n_components());
        u      = solution.values(handler.n_locally_owned_dofs(), memory);
        result = start();
      });
      const PolytopicMesh<dim>    &mesh = handler.polytopic_mesh();
      const PolytopeEvaluator<dim> evaluator(handler);
      apply_to_ranges(
        comm,
        handler.n_polytopes(),
        [&](const unsigned int begin, const unsigned int end) {
          CellInterpolation<dim> interpolation(
            handler, evaluator, u, dof_handler, owned, result);
          for (unsigned int k = begin; k < end; ++k)
            for (unsigned int s = mesh.subcell_offset[k];
                 s < mesh.subcell_offset[k + 1];
                 ++s)
              interpolation.run(k, mesh.subcell_cell[s]);
        },
        16);
    }
  } // namespace



  namespace VectorTools
  {
    template <int dim>
    void
    interpolate_to_dof_handler(const AgglomerationHandler<dim> &handler,
                               const ConstVectorView           &solution,
                               const dealii::DoFHandler<dim>   &dof_handler,
                               const VectorView                &result)
    {
      const dealii::IndexSet owned = dof_handler.locally_owned_dofs();
      const MPI_Comm         comm  = handler.get_communicator();
      std::vector<double>    memory;
      result.reinit(owned, comm);
      interpolate_to_cells(handler, solution, dof_handler, owned, [&]() {
        return result.start(owned.n_elements(), memory);
      });
      on_all_processes(comm, [&]() { result.finish(memory); });
    }

    template void
    interpolate_to_dof_handler(const AgglomerationHandler<2> &,
                               const ConstVectorView &,
                               const dealii::DoFHandler<2> &,
                               const VectorView &);
    template void
    interpolate_to_dof_handler(const AgglomerationHandler<3> &,
                               const ConstVectorView &,
                               const dealii::DoFHandler<3> &,
                               const VectorView &);
  } // namespace VectorTools



  template <int dim>
  DoFHandlerBridge<dim>::DoFHandlerBridge(
    const AgglomerationHandler<dim> &handler)
    : handler(&handler)
    , dof_handler(handler.get_triangulation())
  {
    check_handler(handler);
    const auto &triangulation = handler.get_triangulation();
    const bool  tensor =
      handler.polynomial_space() == PolynomialSpaceType::tensor_product;
    const unsigned int degree =
      std::max(1u,
               dealii::Utilities::MPI::max(handler.max_degree(),
                                           handler.get_communicator()) *
                 (tensor ? dim : 1));
    const std::vector<Compatibility::ReferenceCell<dim>> types =
      triangulation.get_reference_cells();
    dealii::hp::FECollection<dim> elements;
    for (const auto &type : types)
      elements.push_back(
        dealii::FESystem<dim>(*discontinuous_element<dim>(type, degree),
                              handler.n_components()));
    if (types.size() == 1)
      {
        // A scalar element rather than a system of one.
        if (handler.n_components() == 1)
          dof_handler.distribute_dofs(elements[0].base_element(0));
        else
          dof_handler.distribute_dofs(elements[0]);
        return;
      }
    for (const auto &cell : dof_handler.active_cell_iterators())
      if (cell->is_locally_owned())
        cell->set_active_fe_index(
          std::find(types.begin(), types.end(), cell->reference_cell()) -
          types.begin());
    dof_handler.distribute_dofs(elements);
  }



  template <int dim>
  void
  DoFHandlerBridge<dim>::interpolate(
    const ConstVectorView                              &solution,
    dealii::LinearAlgebra::distributed::Vector<double> &result) const
  {
    const dealii::IndexSet owned = dof_handler.locally_owned_dofs();
    result.reinit(owned,
                  dealii::DoFTools::extract_locally_relevant_dofs(dof_handler),
                  handler->get_communicator());
    interpolate_to_cells(*handler, solution, dof_handler, owned, [&]() {
      return result.begin();
    });
    result.update_ghost_values();
  }

  template <int dim>
  void
  DoFHandlerBridge<dim>::interpolate(const ConstVectorView &solution,
                                     const VectorView      &result) const
  {
    VectorTools::interpolate_to_dof_handler(*handler,
                                            solution,
                                            dof_handler,
                                            result);
  }



  template class DoFHandlerBridge<2>;
  template class DoFHandlerBridge<3>;
} // namespace Tessella
