// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>
#include <deal.II/base/parallel.h>
#include <deal.II/base/quadrature_lib.h>

#include <deal.II/fe/fe_system.h>

#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/grid/revision.h>
#include <tessella/multigrid/multigrid_hierarchy.h>
#include <tessella/portable/legendre.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "../base/collective.h"
#include "../grid/ghost_exchange.h"
#include "../grid/space_view.h"

namespace Tessella
{
  using namespace dealii;

  template <int dim>
  MultigridHierarchy::MultigridHierarchy(
    const PolytopicSpace<dim>          &space,
    const NestedAgglomeration::Parents &parents,
    const AdditionalData               &data)
    : comm(space.get_communicator())
    , dimension(dim)
    , components(space.n_components())
    , tensor_product(space.polynomial_space() ==
                     PolynomialSpaceType::tensor_product)
  {
    const PolytopicMesh<dim> &mesh = space.polytopic_mesh();
    const PolytopicDoFs      &dofs = space.polytopic_dofs();
    AssertThrow(space.n_dofs() > 0,
                ExcMessage("A multigrid hierarchy needs degrees of freedom: "
                           "call distribute_dofs() of the AgglomerationHandler "
                           "first."));
    AssertThrow(std::is_sorted(data.degrees.rbegin(), data.degrees.rend()),
                ExcMessage("The degrees of the levels of multigrid must be "
                           "given in descending order."));
    if (internal::n_processes(comm) == 1)
      comm = MPI_COMM_SELF;

    levels.emplace_back();
    levels[0].box     = mesh.box;
    levels[0].degree  = dofs.degree;
    levels[0].n_owned = mesh.n_owned_polytopes();
    std::vector<std::uint64_t> first_ghost_row;
    for (unsigned int k = mesh.n_owned_polytopes(); k < mesh.n_polytopes(); ++k)
      first_ghost_row.push_back(space.first_dof(k));
    finish_level(levels[0], first_ghost_row);

    unsigned int highest = 0;
    for (unsigned int k = 0; k < levels[0].n_owned; ++k)
      highest = std::max(highest, dofs.degree[k]);
    highest                           = Utilities::MPI::max(highest, comm);
    std::vector<unsigned int> degrees = data.degrees;
    if (degrees.empty())
      for (unsigned int p = highest; p > data.lowest_degree; --p)
        degrees.push_back(p - 1);
    for (const unsigned int p : degrees)
      if (p < highest)
        {
          highest = p;
          add_p_level(p);
        }

    const std::size_t n_groupings = Utilities::MPI::max(parents.size(), comm);
    for (unsigned int l = 0; l < n_groupings; ++l)
      {
        const Level              &fine = levels.back();
        std::vector<unsigned int> parent;
        Tessella::on_all_processes(comm, [&] {
          if (l >= parents.size())
            {
              // Own polytopes cannot be grouped further; other processes still
              // can.
              parent.resize(fine.n_owned);
              std::iota(parent.begin(), parent.end(), 0u);
              return;
            }
          parent = parents[l];
          AssertThrow(parent.size() == fine.n_owned,
                      ExcMessage("Level " + std::to_string(l) +
                                 " of the nested polytopes has " +
                                 std::to_string(parent.size()) +
                                 " entries, but there are " +
                                 std::to_string(fine.n_owned) + " polytopes."));
          const unsigned int n =
            parent.empty()
              ? 0
              : 1 + *std::max_element(parent.begin(), parent.end());
          std::vector<bool> has_parts(n, false);
          for (const unsigned int K : parent)
            has_parts[K] = true;
          for (unsigned int K = 0; K < n; ++K)
            AssertThrow(has_parts[K],
                        ExcMessage("Polytope " + std::to_string(K) +
                                   " of level " + std::to_string(l + 1) +
                                   " of the nested polytopes has no parts."));
        });
        add_h_level(parent);
      }
  }



  // First degree of freedom of each polytope, and their number at the end.
  std::vector<std::uint64_t>
  MultigridHierarchy::dof_offsets(const Level &level) const
  {
    const unsigned int         n = level.degree.size();
    std::vector<std::uint64_t> offset(n + 1, 0);
    for (unsigned int k = 0; k < n; ++k)
      offset[k + 1] =
        offset[k] +
        std::uint64_t(components) *
          Legendre::n_functions(dimension, level.degree[k], tensor_product);
    return offset;
  }



  void
  MultigridHierarchy::finish_level(
    Level &level, const std::vector<std::uint64_t> &first_ghost_row) const
  {
    level.dof_offset = dof_offsets(level);
    if (comm != MPI_COMM_SELF)
      level.partition = std::make_shared<const BlockPartition>(comm,
                                                               level.dof_offset,
                                                               level.n_owned,
                                                               first_ghost_row);
  }



  // Largest ratio of the squares of coarse and fine degrees. Degree 0 counts as
  // 1, as in the penalty: a smaller ratio could make coarse matrices
  // indefinite.
  double
  MultigridHierarchy::penalty_ratio(const Level &coarse,
                                    const Level &fine) const
  {
    double result = 0.;
    for (unsigned int k = 0; k < fine.n_owned; ++k)
      {
        const unsigned int K = fine.parent.empty() ? k : fine.parent[k];
        const double       p = std::max(fine.degree[k], 1u),
                     P       = std::max(coarse.degree[K], 1u);
        result               = std::max(result, P * P / (p * p));
      }
    return fine.penalty_ratio * Utilities::MPI::max(result, comm);
  }



  // Global index of the first row of each own polytope of a level.
  std::vector<std::uint64_t>
  MultigridHierarchy::first_rows(const Level &level) const
  {
    std::vector<std::uint64_t> result = dof_offsets(level);
    const std::uint64_t        first =
      internal::sum_of_lower_processes(result[level.n_owned], comm);
    result.resize(level.n_owned);
    for (std::uint64_t &row : result)
      row += first;
    return result;
  }



  void
  MultigridHierarchy::add_p_level(const unsigned int p)
  {
    const Level &fine = levels.back();
    Level        level;
    level.box     = fine.box;
    level.degree  = fine.degree;
    level.n_owned = fine.n_owned;
    for (unsigned int &degree : level.degree)
      degree = std::min(degree, p);
    std::vector<std::uint64_t> first_ghost_row;
    if (fine.partition != nullptr)
      {
        std::vector<std::uint64_t> first = first_rows(level);
        first.resize(level.degree.size());
        fine.partition->update_ghosts(first);
        first_ghost_row.assign(first.begin() + level.n_owned, first.end());
      }
    finish_level(level, first_ghost_row);
    level.penalty_ratio = penalty_ratio(level, fine);
    levels.push_back(std::move(level));
  }



  void
  MultigridHierarchy::add_h_level(const std::vector<unsigned int> &parent)
  {
    Level             &fine = levels.back();
    const unsigned int dim  = dimension;
    Level              level;
    level.n_owned =
      parent.empty() ? 0 : 1 + *std::max_element(parent.begin(), parent.end());
    const unsigned int n = level.n_owned;
    level.box.resize(2 * dim * std::size_t(n));
    level.degree.assign(n, invalid_index);
    for (unsigned int k = 0; k < parent.size(); ++k)
      {
        const unsigned int K     = parent[k];
        const bool         first = level.degree[K] == invalid_index;
        level.degree[K]          = std::min(level.degree[K], fine.degree[k]);
        for (unsigned int d = 0; d < 2 * dim; ++d)
          {
            double      &to   = level.box[2 * dim * std::size_t(K) + d];
            const double from = fine.box[2 * dim * std::size_t(k) + d];
            to                = first     ? from
                                : d < dim ? std::min(to, from)
                                          : std::max(to, from);
          }
      }
    fine.parent                       = parent;
    double                     n_fine = fine.n_owned, n_coarse = n;
    std::vector<std::uint64_t> first_ghost_row;
    if (fine.partition != nullptr)
      {
        n_fine   = fine.partition->sum(n_fine);
        n_coarse = fine.partition->sum(n_coarse);
        // Owners of the fine ghosts send data of the coarse polytopes: the
        // first row, which identifies the polytope, the degree, and the box.
        const std::vector<std::uint64_t> first = first_rows(level);
        const std::size_t                n_all = fine.degree.size();
        std::vector<std::uint64_t>       row(n_all);
        std::vector<unsigned int>        degree(n_all);
        std::vector<double>              box(2 * dim * n_all);
        for (unsigned int k = 0; k < parent.size(); ++k)
          {
            row[k]    = first[parent[k]];
            degree[k] = level.degree[parent[k]];
            std::copy_n(level.box.begin() + 2 * dim * std::size_t(parent[k]),
                        2 * dim,
                        box.begin() + 2 * dim * std::size_t(k));
          }
        fine.partition->update_ghosts(row);
        fine.partition->update_ghosts(degree);
        fine.partition->update_ghosts(box, 2 * dim);
        first_ghost_row.assign(row.begin() + fine.n_owned, row.end());
        std::sort(first_ghost_row.begin(), first_ghost_row.end());
        first_ghost_row.erase(std::unique(first_ghost_row.begin(),
                                          first_ghost_row.end()),
                              first_ghost_row.end());
        level.degree.resize(n + first_ghost_row.size());
        level.box.resize(2 * dim * level.degree.size());
        fine.parent.resize(n_all);
        for (std::size_t k = fine.n_owned; k < n_all; ++k)
          {
            const unsigned int K =
              n + (std::lower_bound(first_ghost_row.begin(),
                                    first_ghost_row.end(),
                                    row[k]) -
                   first_ghost_row.begin());
            fine.parent[k]  = K;
            level.degree[K] = degree[k];
            std::copy_n(box.begin() + 2 * dim * k,
                        2 * dim,
                        level.box.begin() + 2 * dim * std::size_t(K));
          }
      }
    finish_level(level, first_ghost_row);
    level.penalty_ratio =
      penalty_ratio(level, fine) * std::pow(n_coarse / n_fine, 1. / dim);
    levels.push_back(std::move(level));
  }



  const MultigridHierarchy::Level &
  MultigridHierarchy::level(const unsigned int l) const
  {
    AssertIndexRange(l, levels.size());
    return levels[l];
  }



  std::vector<double>
  MultigridHierarchy::injection(const unsigned int          l,
                                std::vector<std::uint64_t> &offset) const
  {
    AssertIndexRange(l + 1, levels.size());
    const unsigned int  dim  = dimension;
    const Level        &fine = levels[l], &coarse = levels[l + 1];
    std::vector<double> matrices;
    offset.clear();
    if (fine.parent.empty())
      return matrices;

    const auto size = [this](const Level &level, const unsigned int k) {
      return static_cast<unsigned int>(level.dof_offset[k + 1] -
                                       level.dof_offset[k]) /
             components;
    };
    const unsigned int n = fine.degree.size();
    offset.assign(n + 1, 0);
    for (unsigned int k = 0; k < n; ++k)
      offset[k + 1] =
        offset[k] + std::uint64_t(size(fine, k)) * size(coarse, fine.parent[k]);
    matrices.resize(offset[n]);

    const unsigned int p =
      n == 0 ? 0 : *std::max_element(fine.degree.begin(), fine.degree.end());
    std::vector<unsigned char> exponents(
      dim * Legendre::n_functions(dim, p, tensor_product));
    Legendre::exponents(dim, p, tensor_product, exponents.data());
    const QGauss<1> rule(p + 1);

    parallel::apply_to_subranges(
      0u,
      n,
      [&](const unsigned int begin, const unsigned int end) {
        constexpr unsigned int stride = Legendre::max_degree + 1;
        double                 line[4][stride][stride];
        double                 of_fine[stride], of_coarse[stride];
        for (unsigned int k = begin; k < end; ++k)
          {
            const unsigned int K = fine.parent[k];
            for (unsigned int d = 0; d < dim; ++d)
              {
                const double *box = fine.box.data() + 2 * dim * std::size_t(k);
                const double *wide =
                  coarse.box.data() + 2 * dim * std::size_t(K);
                const double length = box[dim + d] - box[d],
                             width  = wide[dim + d] - wide[d];
                for (unsigned int i = 0; i <= coarse.degree[K]; ++i)
                  for (unsigned int j = 0; j <= fine.degree[k]; ++j)
                    line[d][i][j] = 0.;
                for (unsigned int q = 0; q < rule.size(); ++q)
                  {
                    const double x = box[d] + length * rule.point(q)[0];
                    Legendre::evaluate(fine.degree[k],
                                       2. * rule.point(q)[0] - 1.,
                                       of_fine);
                    Legendre::evaluate(coarse.degree[K],
                                       (2. * x - wide[d] - wide[dim + d]) /
                                         width,
                                       of_coarse);
                    for (unsigned int i = 0; i <= coarse.degree[K]; ++i)
                      for (unsigned int j = 0; j <= std::min(i, fine.degree[k]);
                           ++j)
                        line[d][i][j] += rule.weight(q) * of_coarse[i] *
                                         of_fine[j] * std::sqrt(length / width);
                  }
              }
            const unsigned int n_coarse = size(coarse, K),
                               n_fine   = size(fine, k);
            double *to                  = matrices.data() + offset[k];
            for (unsigned int i = 0; i < n_coarse; ++i)
              for (unsigned int j = 0; j < n_fine; ++j, ++to)
                {
                  *to = 1.;
                  for (unsigned int d = 0; d < dim; ++d)
                    *to *=
                      line[d][exponents[i * dim + d]][exponents[j * dim + d]];
                }
          }
      },
      64);
    return matrices;
  }



  template <int dim>
  std::unique_ptr<AgglomerationHandler<dim>>
  MultigridHierarchy::coarse_handler(const AgglomerationHandler<dim> &handler,
                                     const unsigned int               l) const
  {
    AssertThrow(dim == dimension &&
                  handler.n_polytopes() == levels[0].n_polytopes(),
                ExcMessage("The handler is not the one that the hierarchy was "
                           "made for."));
    AssertIndexRange(l, levels.size());
    const Level              &level    = levels[l];
    std::vector<unsigned int> polytope = handler.polytope_of_cell();
    // Cells of other processes are not needed.
    for (unsigned int &p : polytope)
      if (p >= levels[0].n_owned)
        p = invalid_index;
    for (unsigned int i = 0; i < l; ++i)
      if (!levels[i].parent.empty())
        for (unsigned int &p : polytope)
          if (p != invalid_index)
            p = levels[i].parent[p];

    std::vector<std::vector<typename Triangulation<dim>::active_cell_iterator>>
      cells(level.n_polytopes());
    for (unsigned int c = 0; c < polytope.size(); ++c)
      if (polytope[c] != invalid_index)
        cells[polytope[c]].push_back(handler.active_cell(c));
    auto result =
      std::make_unique<AgglomerationHandler<dim>>(handler.get_triangulation(),
                                                  &handler.get_mapping());
    for (const auto &list : cells)
      result->define_agglomerate(list);
    result->finalize_agglomerates();

    hp::FECollection<dim>     elements;
    std::vector<unsigned int> indices;
    // All processes must have the same collection.
    const unsigned int highest = handler.max_degree();
    for (unsigned int p = 0; p <= highest; ++p)
      {
        const FE_BoundingBoxLegendre<dim> element(p,
                                                  handler.polynomial_space());
        if (components == 1)
          elements.push_back(element);
        else
          elements.push_back(FESystem<dim>(element, components));
      }
    for (unsigned int K = 0; K < level.n_owned; ++K)
      indices.push_back(level.degree[K]);
    result->distribute_dofs(elements, indices);
    const PolytopicMesh<dim> &mesh = result->polytopic_mesh();
    for (std::size_t i = 0; i < mesh.box.size(); ++i)
      AssertThrow(std::abs(mesh.box[i] - level.box[i]) <=
                    1e-10 * (std::abs(mesh.box[i]) + 1e-300) +
                      1e-10 * (level.box[i / (2 * dim) * 2 * dim + dim] -
                               level.box[i / (2 * dim) * 2 * dim]),
                  ExcInternalError());
    return result;
  }



  bool
  MultigridHierarchy::has_polytopes_of_mesh(const unsigned int l) const
  {
    AssertIndexRange(l, levels.size());
    return std::all_of(levels.begin(),
                       levels.begin() + l,
                       [](const Level &level) { return level.parent.empty(); });
  }



  namespace
  {
    /// Space of lower degrees on the polytopes of another space.
    template <int dim>
    class LowerDegreeSpace : public internal::SpaceView<dim>
    {
    public:
      /// @p first_dof: of all polytopes, ghosts included, counted over all
      /// processes.
      LowerDegreeSpace(const PolytopicSpace<dim>                  &space,
                       PolytopicDoFs                             &&dofs,
                       const std::vector<types::global_dof_index> &first_dof)
        : internal::SpaceView<dim>(space, std::move(dofs))
        , first_dofs(first_dof)
        , n_all_dofs(
            Utilities::MPI::sum(n_own_dofs(), space.get_communicator()))
      {}

      types::global_dof_index
      n_dofs() const override
      {
        return n_all_dofs;
      }
      types::global_dof_index
      first_dof(const unsigned int polytope) const override
      {
        AssertIndexRange(polytope, first_dofs.size());
        return first_dofs[polytope];
      }
      unsigned int
      max_degree() const override
      {
        return this->dofs.whole.max_degree;
      }
      unsigned int
      max_dofs_per_polytope() const override
      {
        return this->dofs.n_components * this->dofs.whole.max_basis;
      }
      IndexSet
      locally_owned_dofs() const override
      {
        IndexSet set(n_all_dofs);
        if (n_own_dofs() > 0)
          set.add_range(first_dofs[0], first_dofs[0] + n_own_dofs());
        set.compress();
        return set;
      }

    private:
      types::global_dof_index
      n_own_dofs() const
      {
        return this->dofs.dof_offset[this->space.n_polytopes()];
      }

      const std::vector<types::global_dof_index> first_dofs;
      const types::global_dof_index              n_all_dofs;
    };
  } // namespace



  template <int dim>
  std::unique_ptr<PolytopicSpace<dim>>
  MultigridHierarchy::space_of_level(const PolytopicSpace<dim> &space,
                                     const unsigned int         l) const
  {
    AssertThrow(dim == dimension && space.n_polytopes() == levels[0].n_owned &&
                  space.polytopic_dofs().degree.size() ==
                    levels[0].degree.size(),
                ExcMessage("The space is not the one that the hierarchy was "
                           "made for."));
    AssertThrow(has_polytopes_of_mesh(l), ExcInternalError());
    const Level  &level = levels[l];
    PolytopicDoFs dofs;
    dofs.n_components       = components;
    dofs.degree             = level.degree;
    dofs.dof_offset         = level.dof_offset;
    dofs.revision           = new_revision();
    unsigned int extrema[3] = {0, 0, 0};
    for (unsigned int k = 0; k < level.degree.size(); ++k)
      {
        dofs.n_basis.push_back(
          Legendre::n_functions(dim, level.degree[k], tensor_product));
        extrema[0] = std::max(extrema[0], dofs.degree[k]);
        extrema[1] = std::max(extrema[1], dofs.n_basis[k]);
        extrema[2] = std::max(extrema[2], invalid_index - dofs.n_basis[k]);
      }
    Utilities::MPI::max(extrema, comm, extrema);
    dofs.whole.is_set       = space.polytopic_dofs().whole.is_set;
    dofs.whole.max_degree   = extrema[0];
    dofs.whole.max_basis    = extrema[1];
    dofs.whole.min_basis    = invalid_index - extrema[2];
    dofs.whole.total_degree = !tensor_product;

    std::vector<std::uint64_t> first = first_rows(level);
    first.resize(level.degree.size());
    if (level.partition != nullptr)
      levels[0].partition->update_ghosts(first);
    return std::make_unique<LowerDegreeSpace<dim>>(
      space,
      std::move(dofs),
      std::vector<types::global_dof_index>(first.begin(), first.end()));
  }



#define INSTANTIATE(dim)                                                \
  template MultigridHierarchy::MultigridHierarchy(                      \
    const PolytopicSpace<dim> &,                                        \
    const NestedAgglomeration::Parents &,                               \
    const AdditionalData &);                                            \
  template std::unique_ptr<PolytopicSpace<dim>>                         \
  MultigridHierarchy::space_of_level(const PolytopicSpace<dim> &,       \
                                     const unsigned int) const;         \
  template std::unique_ptr<AgglomerationHandler<dim>>                   \
  MultigridHierarchy::coarse_handler(const AgglomerationHandler<dim> &, \
                                     const unsigned int) const;

  INSTANTIATE(2)
  INSTANTIATE(3)
#undef INSTANTIATE
} // namespace Tessella
