// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <tessella/base/exceptions.h>
#include <tessella/grid/penalty.h>
#include <tessella/grid/revision.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "../base/collective.h"
#include "slab_data.h"

namespace Tessella
{
  using namespace dealii;

  template <int dim>
  SpaceTimeSlab<dim>::SpaceTimeSlab(const AgglomerationHandler<dim> &handler,
                                    const PolynomialSpaceType        space)
    : implementation(std::make_unique<Implementation>(handler, space))
  {
    AssertThrow(space == PolynomialSpaceType::total_degree ||
                  space == PolynomialSpaceType::prismatic,
                ExcUserInput("Space-time elements have spaces of total degree "
                             "or prismatic ones: full tensor products are not"
                             " among them."));
  }



  template <int dim>
  SpaceTimeSlab<dim>::~SpaceTimeSlab() = default;



  template <int dim>
  void
  SpaceTimeSlab<dim>::reinit(const double                     start,
                             const double                     length,
                             const std::vector<unsigned int> &n_intervals)
  {
    const AgglomerationHandler<dim> &handler  = *implementation->handler;
    const PolytopicMesh<dim>        &spatial  = handler.polytopic_mesh();
    const bool                       parallel = implementation->parallel();
    Tessella::on_all_processes(handler.get_communicator(), [&]() {
      AssertThrow(std::isfinite(start),
                  ExcUserInput("A time step begins at " +
                               std::to_string(start) +
                               ": times must be finite numbers."));
      AssertThrow(std::isfinite(length) && length > 0.,
                  ExcUserInput("A time step has the length " +
                               std::to_string(length) +
                               ": it must be a positive number."));
      AssertThrow(handler.n_dofs() > 0 && handler.n_components() == 1 &&
                    handler.polynomial_space() ==
                      PolynomialSpaceType::total_degree,
                  ExcMessage("A space-time slab needs degrees of freedom of "
                             "one component and total degree: call "
                             "distribute_dofs() with "
                             "FE_BoundingBoxLegendre<dim>(degree)."));
      AssertThrow(n_intervals.empty() ||
                    n_intervals.size() == handler.n_polytopes(),
                  ExcMessage("There are numbers of time intervals for " +
                             std::to_string(n_intervals.size()) +
                             " polytopes, but the mesh has " +
                             std::to_string(handler.n_polytopes()) + "."));
      for (unsigned int k = 0; k < n_intervals.size(); ++k)
        AssertThrow(n_intervals[k] > 0,
                    ExcUserInput("Polytope " + std::to_string(k) +
                                 " has no time interval: give at least 1."));
    });

    implementation->start               = start;
    std::vector<unsigned int> intervals = n_intervals;
    intervals.resize(spatial.n_polytopes(), 1);
    const SpaceRevision revision = implementation->revision_of_handler();
    bool                same     = revision.is_known() &&
                revision == implementation->spatial_revision &&
                std::equal(intervals.begin(),
                           intervals.begin() + handler.n_polytopes(),
                           implementation->intervals.begin());
    if (parallel)
      {
        same =
          Utilities::MPI::min(same ? 1 : 0, handler.get_communicator()) == 1;
        if (!same)
          {
            // values of ghosts
            std::vector<double> numbers(intervals.begin(), intervals.end());
            handler.exchange_polytope_values(numbers, 1);
            std::copy(numbers.begin(), numbers.end(), intervals.begin());
          }
      }
    if (same && length == implementation->length)
      return;
    implementation->length = length;
    if (!same)
      {
        implementation->intervals = std::move(intervals);
        implementation->build_structure();
      }
    implementation->set_times();
  }



  template <int dim>
  double
  SpaceTimeSlab<dim>::start() const
  {
    return implementation->start;
  }



  template <int dim>
  double
  SpaceTimeSlab<dim>::length() const
  {
    return implementation->length;
  }



  template <int dim>
  double
  SpaceTimeSlab<dim>::end() const
  {
    return implementation->start + implementation->length;
  }



  template <int dim>
  std::uint64_t
  SpaceTimeSlab<dim>::revision() const
  {
    return implementation->n_changes;
  }



  template <int dim>
  std::uint64_t
  SpaceTimeSlab<dim>::structure_revision() const
  {
    return implementation->n_structures;
  }



  template <int dim>
  const AgglomerationHandler<dim> &
  SpaceTimeSlab<dim>::handler() const
  {
    return *implementation->handler;
  }



  template <int dim>
  unsigned int
  SpaceTimeSlab<dim>::n_intervals(const unsigned int polytope) const
  {
    return implementation->intervals[polytope];
  }



  template <int dim>
  unsigned int
  SpaceTimeSlab<dim>::first_element(const unsigned int polytope) const
  {
    return implementation->first_element[polytope];
  }



  template <int dim>
  unsigned int
  SpaceTimeSlab<dim>::polytope_of_element(const unsigned int element) const
  {
    return implementation->element_polytope[element];
  }



  template <int dim>
  std::vector<unsigned int>
  SpaceTimeSlab<dim>::subcell_origin() const
  {
    const PolytopicMesh<dim + 1> &mesh = implementation->mesh;
    const PolytopicMesh<dim>     &spatial =
      implementation->handler->polytopic_mesh();
    std::vector<unsigned int> result(mesh.n_subcells());
    for (unsigned int e = 0; e < mesh.n_polytopes(); ++e)
      std::iota(result.begin() + mesh.subcell_offset[e],
                result.begin() + mesh.subcell_offset[e + 1],
                spatial.subcell_offset[implementation->element_polytope[e]]);
    return result;
  }



  template <int dim>
  double
  SpaceTimeSlab<dim>::element_begin(const unsigned int element) const
  {
    return implementation->mesh.box[2 * (dim + 1) * std::size_t(element) + dim];
  }



  template <int dim>
  double
  SpaceTimeSlab<dim>::element_end(const unsigned int element) const
  {
    return implementation->mesh
      .box[2 * (dim + 1) * std::size_t(element) + 2 * dim + 1];
  }



  template <int dim>
  std::vector<double>
  SpaceTimeSlab<dim>::breakpoints() const
  {
    // Breakpoints i / m and j / n coincide or differ by at least 1 / (m n), so
    // the tolerance merges only coinciding ones.
    std::vector<double> result;
    for (const unsigned int m : implementation->interval_numbers)
      for (unsigned int i = 0; i <= m; ++i)
        result.push_back(implementation->breakpoint(m, i));
    std::sort(result.begin(), result.end());
    const double tolerance = 1e-12 * implementation->length;
    result.erase(std::unique(result.begin(),
                             result.end(),
                             [tolerance](const double a, const double b) {
                               return b - a <= tolerance;
                             }),
                 result.end());
    return result;
  }



  template <int dim>
  const PolytopicMesh<dim + 1> &
  SpaceTimeSlab<dim>::polytopic_mesh() const
  {
    // throws if the triangulation has changed
    implementation->handler->polytopic_mesh();
    return implementation->mesh;
  }



  template <int dim>
  const PolytopicDoFs &
  SpaceTimeSlab<dim>::polytopic_dofs() const
  {
    // throws if the triangulation has changed
    implementation->handler->polytopic_dofs();
    return implementation->dofs;
  }



  template <int dim>
  PolynomialSpaceType
  SpaceTimeSlab<dim>::polynomial_space() const
  {
    return implementation->space;
  }



  template <int dim>
  MPI_Comm
  SpaceTimeSlab<dim>::get_communicator() const
  {
    return implementation->handler->get_communicator();
  }



  template <int dim>
  types::global_dof_index
  SpaceTimeSlab<dim>::n_dofs() const
  {
    return static_cast<types::global_dof_index>(implementation->n_all_dofs);
  }



  template <int dim>
  unsigned int
  SpaceTimeSlab<dim>::n_polytopes() const
  {
    return implementation->n_owned_elements();
  }



  template <int dim>
  unsigned int
  SpaceTimeSlab<dim>::n_global_polytopes() const
  {
    return static_cast<unsigned int>(implementation->n_all_elements);
  }



  template <int dim>
  types::global_dof_index
  SpaceTimeSlab<dim>::first_dof(const unsigned int element) const
  {
    const Implementation &data   = *implementation;
    const std::uint64_t   offset = data.dofs.dof_offset[element];
    if (element < data.n_owned_elements())
      return static_cast<types::global_dof_index>(data.first_own_dof + offset);
    // Elements of a polytope are numbered consecutively by their owner, too.
    const unsigned int k = data.element_polytope[element];
    return static_cast<types::global_dof_index>(
      data.ghost_first_dof[k - data.handler->n_polytopes()] +
      (offset - data.dofs.dof_offset[data.first_element[k]]));
  }



  template <int dim>
  void
  SpaceTimeSlab<dim>::exchange_facet_values(std::vector<double> &values) const
  {
    const Implementation         &data = *implementation;
    const PolytopicMesh<dim + 1> &mesh = data.mesh;
    AssertDimension(values.size(), 2 * std::size_t(mesh.n_facets()));
    if (!data.parallel())
      return;
    const PolytopicMesh<dim> &spatial = data.handler->polytopic_mesh();

    // A spatial facet has a facet in the slab for every pair of intersecting
    // intervals of its two sides. Round r exchanges the r-th of them in time.
    unsigned int              n_rounds = 0;
    std::vector<unsigned int> round(mesh.n_interfaces(), invalid_index);
    for (unsigned int i = 0; i < mesh.n_interfaces(); ++i)
      {
        const unsigned int *e = &mesh.interface_polytope[2 * i];
        if (e[1] == invalid_index ||
            data.interface_origin[i] == Implementation::in_column ||
            std::max(e[0], e[1]) < data.n_owned_elements())
          continue;
        std::uint64_t m[2], j[2];
        for (unsigned int side = 0; side < 2; ++side)
          {
            const unsigned int k = data.element_polytope[e[side]];
            m[side]              = data.intervals[k];
            j[side]              = e[side] - data.first_element[k];
          }
        // A common end of two intervals is counted once.
        const std::uint64_t common = std::gcd(m[0], m[1]);
        round[i]                   = static_cast<unsigned int>(
          j[0] + j[1] - std::max(j[0] * common / m[0], j[1] * common / m[1]));
        n_rounds = std::max(n_rounds, round[i] + 1);
      }
    n_rounds = Utilities::MPI::max(n_rounds, get_communicator());
    std::vector<double> present(2 * std::size_t(spatial.n_facets()));
    for (unsigned int r = 0; r < n_rounds; ++r)
      {
        const auto for_facets = [&](const auto &function) {
          for (unsigned int i = 0; i < mesh.n_interfaces(); ++i)
            if (round[i] == r)
              for (unsigned int f = 2 * mesh.facet_offset[i];
                   f < 2 * mesh.facet_offset[i + 1];
                   ++f)
                function(
                  values[f],
                  present[2 * spatial.facet_offset[data.interface_origin[i]] +
                          f - 2 * mesh.facet_offset[i]]);
        };
        for_facets([](const double value, double &to) { to = value; });
        data.handler->exchange_facet_values(present);
        for_facets([](double &value, const double from) { value = from; });
      }
  }



  template <int dim>
  unsigned int
  SpaceTimeSlab<dim>::n_components() const
  {
    return 1;
  }



  template <int dim>
  unsigned int
  SpaceTimeSlab<dim>::max_degree() const
  {
    return implementation->handler->max_degree();
  }



  template <int dim>
  unsigned int
  SpaceTimeSlab<dim>::max_dofs_per_polytope() const
  {
    return Legendre::n_functions(dim + 1, max_degree(), implementation->space);
  }



  template <int dim>
  IndexSet
  SpaceTimeSlab<dim>::locally_owned_dofs() const
  {
    const Implementation &data = *implementation;
    if (!data.parallel())
      return complete_index_set(n_dofs());
    IndexSet result(n_dofs());
    result.add_range(data.first_own_dof,
                     data.first_own_dof +
                       data.dofs.dof_offset[data.n_owned_elements()]);
    return result;
  }



  template <int dim>
  void
  SpaceTimeSlab<dim>::tabulate(const unsigned int extra_order) const
  {
    Implementation &data = *implementation;
    data.handler->tabulate(extra_order);
    if (extra_order > data.extra_order)
      data.table_origin = 0;
    data.extra_order = std::max(data.extra_order, extra_order);
    data.tabulate_products();
  }



  template <int dim>
  void
  SpaceTimeSlab<dim>::fill_penalty_factors(const PenaltyFormula formula) const
  {
    Implementation &data = *implementation;
    if (data.formula == static_cast<int>(formula))
      return;
    compute_penalty_factors(*data.handler, formula);
    const PolytopicMesh<dim>     &spatial      = data.handler->polytopic_mesh();
    const PolytopicDoFs          &spatial_dofs = data.handler->polytopic_dofs();
    const PolytopicMesh<dim + 1> &mesh         = data.mesh;
    PolytopicDoFs                &dofs         = data.dofs;
    dofs.penalty_factor.assign(2 * std::size_t(mesh.n_facets()), 0.);
    internal::for_all(mesh.n_interfaces(), [&](const unsigned int i) {
      const unsigned int origin = data.interface_origin[i];
      if (Implementation::is_horizontal(origin))
        return;
      std::copy_n(
        &spatial_dofs.penalty_factor[2 * spatial.facet_offset[origin]],
        2 * (mesh.facet_offset[i + 1] - mesh.facet_offset[i]),
        &dofs.penalty_factor[2 * mesh.facet_offset[i]]);
    });
    dofs.penalty_revision = new_revision();
    data.formula          = static_cast<int>(formula);
  }



  template <int dim>
  std::size_t
  SpaceTimeSlab<dim>::memory_consumption() const
  {
    const Implementation &data = *implementation;
    return sizeof(data) + data.mesh.memory_consumption() +
           data.dofs.memory_consumption() +
           8 * (data.mass.capacity() + data.mass_offset.capacity()) +
           4 * (data.intervals.capacity() + data.first_element.capacity() +
                data.element_polytope.capacity() +
                data.interface_origin.capacity());
  }



  template class SpaceTimeSlab<2>;
  template class SpaceTimeSlab<3>;
} // namespace Tessella
