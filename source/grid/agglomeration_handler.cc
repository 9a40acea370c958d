// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/mpi.h>

#include <deal.II/distributed/tria_base.h>
#include <deal.II/lac/block_sparsity_pattern.h>
#include <deal.II/lac/dynamic_sparsity_pattern.h>
#include <deal.II/lac/sparsity_pattern.h>

#include <tessella/base/config.h>
#include <tessella/base/exceptions.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/grid/revision.h>
#include <tessella/portable/legendre.h>

#ifdef TESSELLA_HAVE_EPETRA
#  include <deal.II/lac/trilinos_sparsity_pattern.h>
#endif

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "../base/collective.h"
#include "ghost_exchange.h"

namespace Tessella
{
  namespace
  {
    // Properties of a collection of elements that the numbering of degrees of
    // freedom needs.
    struct CollectionFacts
    {
      std::vector<unsigned int> degrees, n_functions; // per element
      unsigned int              n_components = 0;
      PolynomialSpaceType       space = PolynomialSpaceType::total_degree;
    };

    // Base element of an element for polytopes; throws if it is another one.
    template <int dim>
    const FE_BoundingBoxLegendre<dim> &
    legendre_base(const dealii::FiniteElement<dim> &fe)
    {
      AssertThrow(fe.n_base_elements() == 1,
                  ExcUserInput("The system " + fe.get_name() +
                               " has several base elements; polytopes take "
                               "copies of one FE_BoundingBoxLegendre."));
      const auto *base =
        dynamic_cast<const FE_BoundingBoxLegendre<dim> *>(&fe.base_element(0));
      AssertThrow(base != nullptr,
                  ExcUserInput("Polytopes need the element "
                               "FE_BoundingBoxLegendre or an FESystem of "
                               "copies of it, but " +
                               fe.get_name() + " was given."));
      AssertThrow(base->degree <= Legendre::max_degree,
                  ExcUserInput("Polynomial degrees go from 0 to " +
                               std::to_string(Legendre::max_degree) +
                               ", but the degree is " +
                               std::to_string(base->degree) + "."));
      return *base;
    }

    template <int dim>
    CollectionFacts
    examine_collection(const dealii::hp::FECollection<dim> &collection)
    {
      CollectionFacts facts;
      facts.n_components = collection[0].n_components();
      for (unsigned int i = 0; i < collection.size(); ++i)
        {
          const dealii::FiniteElement<dim>  &fe   = collection[i];
          const FE_BoundingBoxLegendre<dim> &base = legendre_base(fe);
          if (i == 0)
            facts.space = base.polynomial_space();
          AssertThrow(fe.n_components() == facts.n_components,
                      ExcUserInput("All elements of a collection must have the "
                                   "same number of components, but there are "
                                   "some with " +
                                   std::to_string(facts.n_components) +
                                   " and some with " +
                                   std::to_string(fe.n_components()) + "."));
          AssertThrow(base.polynomial_space() == facts.space,
                      ExcUserInput(
                        "All elements of a collection must use the same kind "
                        "of polynomial space, total degree or tensor "
                        "product."));
          facts.degrees.push_back(base.degree);
          facts.n_functions.push_back(
            Legendre::n_functions(dim,
                                  base.degree,
                                  facts.space ==
                                    PolynomialSpaceType::tensor_product));
        }
      return facts;
    }
  } // namespace

  template <int dim>
  AgglomerationHandler<dim>::AgglomerationHandler(
    const dealii::Triangulation<dim> &triangulation,
    const dealii::Mapping<dim>       *mapping)
    : triangulation(&triangulation)
    , user_mapping(mapping)
    , is_parallel(
        dynamic_cast<const dealii::parallel::TriangulationBase<dim> *>(
          &triangulation) != nullptr)
    , triangulation_has_changed(std::make_shared<bool>(false))
  {
    list_cells();
    triangulation_listener = triangulation.signals.any_change.connect(
      [changed = triangulation_has_changed]() { *changed = true; });
  }

  template <int dim>
  void
  AgglomerationHandler<dim>::list_cells()
  {
    clear_polytopes();
    pending_agglomerates.clear();
    first_global_polytope = 0;
    n_all_polytopes       = 0;
    ghost_polytopes.clear();
    ghost_first_cells.clear();
    ghosts.reset();
    cells.clear();

    const dealii::Triangulation<dim> &tria = *triangulation;
    AssertThrow(tria.n_global_active_cells() > 0,
                ExcUserInput("The triangulation has no cells: create or read "
                             "the mesh before the AgglomerationHandler."));
    if (user_mapping != nullptr)
      for (const Compatibility::ReferenceCell<dim> &type :
           tria.get_reference_cells())
        AssertThrow(user_mapping->is_compatible_with(type),
                    ExcUserInput(
                      "The mapping given to AgglomerationHandler does not know "
                      "the cell type " +
                      type.to_string() + " of the triangulation."));

    cells.reserve(tria.n_active_cells());
    for (auto cell = tria.begin_active(); cell != tria.end(); ++cell)
      cells.push_back(cell);
    *triangulation_has_changed = false;
  }

  template <int dim>
  void
  AgglomerationHandler<dim>::throw_changed()
  {
    AssertThrow(false,
                ExcUserInput(
                  "The triangulation has changed since the "
                  "AgglomerationHandler listed its cells: call agglomerate() "
                  "and distribute_dofs() again after refinement."));
    std::abort();
  }

  template <int dim>
  void
  AgglomerationHandler<dim>::check_finalized() const
  {
    AssertThrow(n_all_polytopes > 0 || pending_agglomerates.empty(),
                ExcUserInput("define_agglomerate() takes effect with "
                             "finalize_agglomerates(): call that before the "
                             "polytopes are used."));
  }

  template <int dim>
  void
  AgglomerationHandler<dim>::agglomerate(
    const Agglomeration::Strategy<dim> &strategy)
  {
    AssertThrow(static_cast<bool>(strategy),
                ExcUserInput("The agglomeration strategy is an empty "
                             "function."));
    pending_agglomerates.clear();
    if (*triangulation_has_changed)
      list_cells();
    // The strategies of this library that communicate throw on all processes.
    build(strategy(*triangulation));
  }

  template <int dim>
  void
  AgglomerationHandler<dim>::define_agglomerate(
    const std::vector<typename dealii::Triangulation<dim>::active_cell_iterator>
      &cells)
  {
    AssertThrow(!cells.empty(),
                ExcUserInput("An agglomerate needs at least one cell."));
    if (*triangulation_has_changed)
      list_cells();
    std::vector<unsigned int> indices;
    indices.reserve(cells.size());
    for (const auto &cell : cells)
      {
        AssertThrow(&cell->get_triangulation() == &*triangulation,
                    ExcUserInput(
                      "A cell given to define_agglomerate() belongs to "
                      "another triangulation than the handler's."));
        indices.push_back(cell->active_cell_index());
      }
    pending_agglomerates.push_back(std::move(indices));
  }

  template <int dim>
  void
  AgglomerationHandler<dim>::finalize_agglomerates()
  {
    // After a change of the triangulation, a series of define_agglomerate() is
    // valid if at least one process began it with the new cells; the other
    // processes may have defined no agglomerate.
    bool begun = !*triangulation_has_changed;
    if (is_parallel)
      begun = dealii::Utilities::MPI::logical_or(begun, get_communicator());
    if (*triangulation_has_changed)
      {
        pending_agglomerates.clear();
        if (!begun)
          throw_changed();
        list_cells();
      }

    std::vector<unsigned int> ids(cells.size(), invalid_index);
    unsigned int              n       = 0;
    const auto                collect = [&]() {
      // The next series starts from an empty list even if an exception is
      // thrown below.
      const std::vector<std::vector<unsigned int>> agglomerates =
        std::move(pending_agglomerates);
      pending_agglomerates.clear();
      for (const std::vector<unsigned int> &agglomerate : agglomerates)
        {
          for (const unsigned int c : agglomerate)
            {
              AssertThrow(ids[c] == invalid_index,
                          ExcUserInput("Cell " + cells[c]->id().to_string() +
                                       " was given to define_agglomerate() "
                                                      "twice."));
              ids[c] = n;
            }
          ++n;
        }
      for (unsigned int &id : ids)
        if (id == invalid_index)
          id = n++;
    };
    Tessella::on_all_processes(get_communicator(), collect);
    build(std::move(ids));
  }

  template <int dim>
  void
  AgglomerationHandler<dim>::finalize_pending_agglomerates()
  {
    bool pending = !pending_agglomerates.empty();
    if (is_parallel)
      pending = dealii::Utilities::MPI::logical_or(pending, get_communicator());
    if (pending)
      finalize_agglomerates();
  }

  template <int dim>
  void
  AgglomerationHandler<dim>::clear_polytopes()
  {
    clear_dofs();
    cell_polytope.clear();
    curved_facets.clear();
    present_n_curved_cells = 0;
    mesh                   = PolytopicMesh<dim>();
  }

  template <int dim>
  const dealii::Mapping<dim> &
  AgglomerationHandler<dim>::get_mapping() const
  {
    if (user_mapping != nullptr)
      return *user_mapping;
    const std::vector<Compatibility::ReferenceCell<dim>> types =
      triangulation->get_reference_cells();
    AssertThrow(types.size() == 1,
                ExcUserInput("A mesh of several cell types has no mapping "
                             "that fits all its cells: take "
                             "reference_cell().get_default_linear_mapping() "
                             "per cell."));
    return types[0].template get_default_linear_mapping<dim>();
  }

  template <int dim>
  unsigned int
  AgglomerationHandler<dim>::global_polytope_index(
    const unsigned int polytope) const
  {
    check_cells();
    AssertIndexRange(polytope, mesh.n_polytopes());
    return polytope < n_polytopes() ? first_global_polytope + polytope
                                    : ghost_polytopes[polytope - n_polytopes()];
  }

  template <int dim>
  dealii::BoundingBox<dim>
  AgglomerationHandler<dim>::bounding_box(const unsigned int polytope) const
  {
    check_cells();
    AssertIndexRange(polytope, mesh.n_polytopes());
    std::pair<dealii::Point<dim>, dealii::Point<dim>> corners;
    for (int d = 0; d < dim; ++d)
      {
        corners.first[d]  = mesh.box[2 * dim * polytope + d];
        corners.second[d] = mesh.box[2 * dim * polytope + dim + d];
      }
    return dealii::BoundingBox<dim>(corners);
  }

  template <int dim>
  std::size_t
  AgglomerationHandler<dim>::memory_consumption() const
  {
    return sizeof(*this) - sizeof(mesh) + mesh.memory_consumption() -
           sizeof(dofs) + dofs.memory_consumption() +
           cells.capacity() * sizeof(cells[0]) +
           (cell_polytope.capacity() + fe_indices.capacity()) *
             sizeof(unsigned int) +
           curved_facets.capacity() * sizeof(internal::CurvedFacet);
  }

  // ---- elements and degrees of freedom

  template <int dim>
  void
  AgglomerationHandler<dim>::clear_dofs()
  {
    fe_collection.reset();
    fe_indices.clear();
    next_fe_indices.clear();
    dofs = PolytopicDoFs();
    ghost_first_dof.clear();
    first_own_dof         = 0;
    n_all_dofs            = 0;
    penalty_state         = -1;
    tabulated_extra_order = -1;
    if (mesh.subcell_point_offset.empty() && mesh.facet_point_offset.empty())
      return;
    // The order of the tables depends on the degrees.
    mesh.clear_quadrature();
    mesh.quadrature_revision = new_revision();
  }

  template <int dim>
  void
  AgglomerationHandler<dim>::distribute_dofs(
    const dealii::FiniteElement<dim> &fe)
  {
    distribute_dofs(dealii::hp::FECollection<dim>(fe),
                    std::vector<unsigned int>(n_polytopes(), 0));
  }

  template <int dim>
  void
  AgglomerationHandler<dim>::distribute_dofs(
    const dealii::hp::FECollection<dim> &new_collection)
  {
    std::vector<unsigned int> indices =
      next_fe_indices.empty() ? fe_indices : next_fe_indices;
    indices.resize(n_polytopes(), 0);
    distribute_dofs(new_collection, indices);
  }

  template <int dim>
  void
  AgglomerationHandler<dim>::distribute_agglomerated_dofs(
    const dealii::FiniteElement<dim> &fe)
  {
    finalize_pending_agglomerates();
    distribute_dofs(fe);
  }

  template <int dim>
  void
  AgglomerationHandler<dim>::distribute_agglomerated_dofs(
    const dealii::hp::FECollection<dim> &new_collection)
  {
    finalize_pending_agglomerates();
    distribute_dofs(new_collection);
  }

  template <int dim>
  void
  AgglomerationHandler<dim>::distribute_dofs(
    const dealii::hp::FECollection<dim> &new_collection,
    const std::vector<unsigned int>     &new_fe_indices)
  {
    check_cells();
    const unsigned int n = n_polytopes();
    CollectionFacts    facts;
    const auto         examine = [&]() {
      AssertThrow(n_all_polytopes > 0,
                  ExcUserInput("distribute_dofs() needs polytopes: call "
                                       "agglomerate() or finalize_agglomerates() "
                                       "first."));
      AssertThrow(new_collection.size() > 0,
                  ExcUserInput("The collection of elements is empty."));
      AssertThrow(new_fe_indices.size() == n,
                  ExcUserInput("There are " + std::to_string(n) +
                               " polytopes, but " +
                               std::to_string(new_fe_indices.size()) +
                               " element indices were given."));
      facts = examine_collection(new_collection);
      for (unsigned int k = 0; k < n; ++k)
        AssertThrow(new_fe_indices[k] < new_collection.size(),
                    ExcUserInput(
                      "Polytope " + std::to_string(k) + " has element index " +
                      std::to_string(new_fe_indices[k]) +
                      ", but the collection has " +
                      std::to_string(new_collection.size()) + " elements."));
    };
    Tessella::on_all_processes(get_communicator(), examine);

    clear_dofs();
    fe_collection =
      std::make_unique<dealii::hp::FECollection<dim>>(new_collection);
    fe_indices        = new_fe_indices;
    dofs.n_components = facts.n_components;
    space             = facts.space;
    if (is_parallel)
      {
        fe_indices.resize(mesh.n_polytopes());
        (*ghosts)(fe_indices, 1);
      }
    number_dofs(facts.degrees, facts.n_functions);
  }

  template <int dim>
  void
  AgglomerationHandler<dim>::number_dofs(
    const std::vector<unsigned int> &degrees,
    const std::vector<unsigned int> &n_functions)
  {
    const unsigned int n_all = mesh.n_polytopes();
    dofs.degree.resize(n_all);
    dofs.n_basis.resize(n_all);
    dofs.dof_offset.resize(n_all + 1);
    dofs.dof_offset[0] = 0;
    for (unsigned int k = 0; k < n_all; ++k)
      {
        dofs.degree[k]  = degrees[fe_indices[k]];
        dofs.n_basis[k] = n_functions[fe_indices[k]];
        dofs.dof_offset[k + 1] =
          dofs.dof_offset[k] +
          static_cast<std::uint64_t>(dofs.n_components) * dofs.n_basis[k];
      }
    n_all_dofs = dofs.dof_offset[n_polytopes()];
    if (is_parallel)
      number_dofs_in_parallel();
    if (n_all_dofs >
        std::numeric_limits<dealii::types::global_dof_index>::max())
      {
        const std::string n_dofs = std::to_string(n_all_dofs);
        clear_dofs();
        AssertThrow(false,
                    ExcUserInput(n_dofs +
                                 " degrees of freedom are more than this "
                                 "deal.II can count: configure it with 64-bit "
                                 "indices."));
      }
    dofs.revision         = new_revision();
    dofs.penalty_revision = dofs.revision;
  }

  template <int dim>
  const dealii::hp::FECollection<dim> &
  AgglomerationHandler<dim>::get_fe_collection() const
  {
    AssertThrow(fe_collection != nullptr,
                ExcUserInput("There are no elements yet: call "
                             "distribute_dofs() first."));
    return *fe_collection;
  }

  template <int dim>
  unsigned int
  AgglomerationHandler<dim>::active_fe_index(const unsigned int polytope) const
  {
    check_cells();
    AssertIndexRange(polytope, mesh.n_polytopes());
    if (!fe_indices.empty())
      return fe_indices[polytope];
    return polytope < next_fe_indices.size() ? next_fe_indices[polytope] : 0;
  }

  template <int dim>
  dealii::types::global_dof_index
  AgglomerationHandler<dim>::n_locally_owned_dofs() const
  {
    return dofs.dof_offset.empty()
             ? 0
             : static_cast<dealii::types::global_dof_index>(
                 dofs.dof_offset[n_polytopes()]);
  }

  template <int dim>
  dealii::types::global_dof_index
  AgglomerationHandler<dim>::first_dof(const unsigned int polytope) const
  {
    check_cells();
    AssertIndexRange(polytope, mesh.n_polytopes());
    return static_cast<dealii::types::global_dof_index>(
      polytope < n_polytopes() ? first_own_dof + dofs.dof_offset[polytope]
                               : ghost_first_dof[polytope - n_polytopes()]);
  }

  template <int dim>
  unsigned int
  AgglomerationHandler<dim>::max_degree() const
  {
    return dofs.whole.is_set ? dofs.whole.max_degree
           : dofs.degree.empty()
             ? 0
             : *std::max_element(dofs.degree.begin(), dofs.degree.end());
  }

  template <int dim>
  unsigned int
  AgglomerationHandler<dim>::max_dofs_per_polytope() const
  {
    return dofs.whole.is_set ? dofs.n_components * dofs.whole.max_basis
           : dofs.n_basis.empty()
             ? 0
             : dofs.n_components *
                 *std::max_element(dofs.n_basis.begin(), dofs.n_basis.end());
  }

  template <int dim>
  dealii::IndexSet
  AgglomerationHandler<dim>::locally_owned_dofs() const
  {
    check_cells();
    dealii::IndexSet set(n_dofs());
    if (n_locally_owned_dofs() > 0)
      set.add_range(first_own_dof, first_own_dof + n_locally_owned_dofs());
    set.compress();
    return set;
  }

  template <int dim>
  dealii::IndexSet
  AgglomerationHandler<dim>::locally_relevant_dofs() const
  {
    check_cells();
    dealii::IndexSet set = locally_owned_dofs();
    for (unsigned int g = 0; g < ghost_first_dof.size(); ++g)
      {
        const unsigned int k = n_polytopes() + g;
        set.add_range(ghost_first_dof[g],
                      ghost_first_dof[g] + dofs.dof_offset[k + 1] -
                        dofs.dof_offset[k]);
      }
    set.compress();
    return set;
  }

  template <int dim>
  template <typename SparsityPatternType>
  void
  AgglomerationHandler<dim>::make_sparsity_pattern(
    SparsityPatternType &sparsity) const
  {
    check_cells();
    AssertThrow(!dofs.dof_offset.empty(),
                ExcUserInput("make_sparsity_pattern() needs degrees of "
                             "freedom: call distribute_dofs() first."));
    AssertThrow(sparsity.n_rows() == n_dofs() && sparsity.n_cols() == n_dofs(),
                ExcUserInput("The sparsity pattern must have as many rows and "
                             "columns as there are degrees of freedom, " +
                             std::to_string(n_dofs()) + "."));

    std::vector<unsigned int>                    partners;
    std::vector<dealii::types::global_dof_index> columns;
    for (unsigned int k = 0; k < n_polytopes(); ++k)
      {
        // The neighbours are sorted, but k itself has to be inserted, and a
        // polytope that is also a periodic neighbour is listed twice.
        partners.clear();
        for (unsigned int e = mesh.polytope_interface_offset[k];
             e < mesh.polytope_interface_offset[k + 1];
             ++e)
          {
            const unsigned int other =
              mesh.neighbor(mesh.polytope_interface[e]);
            if (other != invalid_index)
              partners.push_back(other);
          }
        if (!ghost_polytopes.empty())
          std::sort(partners.begin(), partners.end());
        partners.insert(std::lower_bound(partners.begin(), partners.end(), k),
                        k);
        partners.erase(std::unique(partners.begin(), partners.end()),
                       partners.end());

        columns.clear();
        for (const unsigned int other : partners)
          for (std::uint64_t j = 0;
               j < dofs.dof_offset[other + 1] - dofs.dof_offset[other];
               ++j)
            columns.push_back(first_dof(other) + j);
        if (!ghost_polytopes.empty())
          std::sort(columns.begin(), columns.end());
        for (std::uint64_t i = 0;
             i < dofs.dof_offset[k + 1] - dofs.dof_offset[k];
             ++i)
          sparsity.add_entries(first_dof(k) + i,
                               columns.begin(),
                               columns.end(),
                               /*indices_are_sorted=*/true);
      }
  }

  template <int dim>
  template <typename SparsityPatternType>
  void
  AgglomerationHandler<dim>::create_agglomeration_sparsity_pattern(
    SparsityPatternType &sparsity) const
  {
    if constexpr (std::is_same<SparsityPatternType,
                               dealii::DynamicSparsityPattern>::value)
      {
        sparsity.reinit(n_dofs(), n_dofs(), locally_relevant_dofs());
        make_sparsity_pattern(sparsity);
      }
    else if constexpr (std::is_same<SparsityPatternType,
                                    dealii::SparsityPattern>::value)
      {
        dealii::DynamicSparsityPattern dynamic;
        create_agglomeration_sparsity_pattern(dynamic);
        sparsity.copy_from(dynamic);
      }
    else
      {
        sparsity.reinit(locally_owned_dofs(), get_communicator());
        make_sparsity_pattern(sparsity);
        sparsity.compress();
      }
  }

  template class AgglomerationHandler<2>;
  template class AgglomerationHandler<3>;

#define INSTANTIATE(function, Pattern)                                       \
  template void AgglomerationHandler<2>::function<Pattern>(Pattern &) const; \
  template void AgglomerationHandler<3>::function<Pattern>(Pattern &) const

  INSTANTIATE(make_sparsity_pattern, dealii::DynamicSparsityPattern);
  INSTANTIATE(make_sparsity_pattern, dealii::SparsityPattern);
  INSTANTIATE(make_sparsity_pattern, dealii::BlockDynamicSparsityPattern);
  INSTANTIATE(create_agglomeration_sparsity_pattern,
              dealii::DynamicSparsityPattern);
  INSTANTIATE(create_agglomeration_sparsity_pattern, dealii::SparsityPattern);
#ifdef TESSELLA_HAVE_EPETRA
  INSTANTIATE(make_sparsity_pattern, dealii::TrilinosWrappers::SparsityPattern);
  INSTANTIATE(create_agglomeration_sparsity_pattern,
              dealii::TrilinosWrappers::SparsityPattern);
#endif
#undef INSTANTIATE
} // namespace Tessella
