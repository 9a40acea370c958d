// SPDX-License-Identifier: LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>
#include <deal.II/base/parallel.h>
#include <deal.II/base/quadrature_lib.h>

#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/fe/legendre.h>
#include <tessella/multigrid/multigrid_hierarchy.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace Tessella
{
  using namespace dealii;

  template <int dim>
  MultigridHierarchy::MultigridHierarchy(
    const AgglomerationHandler<dim>    &handler,
    const NestedAgglomeration::Parents &parents,
    const AdditionalData               &data)
    : dimension(dim)
    , tensor_product(handler.polynomial_space() ==
                     PolynomialSpaceType::tensor_product)
  {
    const PolytopicMesh<dim> &mesh = handler.polytopic_mesh();
    AssertThrow(handler.n_global_polytopes() == handler.n_polytopes(),
                ExcMessage("A multigrid hierarchy lives on one process, but "
                           "the mesh is distributed over several."));
    AssertThrow(handler.n_dofs() > 0,
                ExcMessage("A multigrid hierarchy needs degrees of freedom: "
                           "call distribute_dofs() of the AgglomerationHandler "
                           "first."));
    AssertThrow(handler.n_components() == 1,
                ExcMessage(
                  "Multigrid is for scalar elements, but this one has " +
                  std::to_string(handler.n_components()) + " components."));
    AssertThrow(std::is_sorted(data.degrees.rbegin(), data.degrees.rend()),
                ExcMessage("The degrees of the levels of multigrid must be "
                           "given in descending order."));

    const auto set_offsets = [this](Level &level) {
      level.dof_offset.assign(level.n_polytopes() + 1, 0);
      for (unsigned int k = 0; k < level.n_polytopes(); ++k)
        level.dof_offset[k + 1] =
          level.dof_offset[k] +
          Legendre::n_functions(dimension, level.degree[k], tensor_product);
    };
    // Largest ratio of the squares of degrees, of which the penalty has 1
    // instead of 0: a smaller one could make coarse matrices indefinite.
    const auto ratio = [](const Level &coarse, const Level &fine) {
      double result = 0.;
      for (unsigned int k = 0; k < fine.n_polytopes(); ++k)
        {
          const unsigned int K = fine.parent.empty() ? k : fine.parent[k];
          const double       p = std::max(fine.degree[k], 1u),
                       P       = std::max(coarse.degree[K], 1u);
          result               = std::max(result, P * P / (p * p));
        }
      return result;
    };

    levels.emplace_back();
    levels[0].box        = mesh.box;
    levels[0].degree     = mesh.degree;
    levels[0].dof_offset = mesh.dof_offset;

    // ---- p-levels
    unsigned int highest =
      *std::max_element(mesh.degree.begin(), mesh.degree.end());
    std::vector<unsigned int> degrees = data.degrees;
    if (degrees.empty())
      for (unsigned int p = highest; p > data.lowest_degree; --p)
        degrees.push_back(p - 1);
    for (const unsigned int p : degrees)
      {
        if (p >= highest)
          continue;
        highest = p;
        Level level;
        level.box    = levels.back().box;
        level.degree = levels.back().degree;
        for (unsigned int &degree : level.degree)
          degree = std::min(degree, p);
        set_offsets(level);
        level.penalty_ratio =
          levels.back().penalty_ratio * ratio(level, levels.back());
        levels.push_back(std::move(level));
      }

    // ---- h-levels
    for (std::size_t l = 0; l < parents.size(); ++l)
      {
        Level                           &fine   = levels.back();
        const std::vector<unsigned int> &parent = parents[l];
        AssertThrow(parent.size() == fine.n_polytopes(),
                    ExcMessage("Level " + std::to_string(l) +
                               " of the nested polytopes has " +
                               std::to_string(parent.size()) +
                               " entries, but there are " +
                               std::to_string(fine.n_polytopes()) +
                               " polytopes."));
        const unsigned int n =
          1 + *std::max_element(parent.begin(), parent.end());
        Level level;
        level.box.resize(2 * dim * std::size_t(n));
        level.degree.assign(n, invalid_index);
        for (unsigned int k = 0; k < parent.size(); ++k)
          {
            const unsigned int K     = parent[k];
            const bool         first = level.degree[K] == invalid_index;
            level.degree[K] = std::min(level.degree[K], fine.degree[k]);
            for (int d = 0; d < 2 * dim; ++d)
              {
                double      &to   = level.box[2 * dim * std::size_t(K) + d];
                const double from = fine.box[2 * dim * std::size_t(k) + d];
                to                = first     ? from
                                    : d < dim ? std::min(to, from)
                                              : std::max(to, from);
              }
          }
        for (unsigned int K = 0; K < n; ++K)
          AssertThrow(level.degree[K] != invalid_index,
                      ExcMessage("Polytope " + std::to_string(K) +
                                 " of level " + std::to_string(l + 1) +
                                 " of the nested polytopes has no parts."));
        set_offsets(level);
        fine.parent = parent;
        level.penalty_ratio =
          fine.penalty_ratio * ratio(level, fine) *
          std::pow(double(n) / fine.n_polytopes(), 1. / dim);
        levels.push_back(std::move(level));
      }
  }



  unsigned int
  MultigridHierarchy::n_levels() const
  {
    return levels.size();
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

    const auto size = [](const Level &level, const unsigned int k) {
      return static_cast<unsigned int>(level.dof_offset[k + 1] -
                                       level.dof_offset[k]);
    };
    const unsigned int n = fine.n_polytopes();
    offset.assign(n + 1, 0);
    for (unsigned int k = 0; k < n; ++k)
      offset[k + 1] =
        offset[k] + std::uint64_t(size(fine, k)) * size(coarse, fine.parent[k]);
    matrices.resize(offset[n]);

    const unsigned int p =
      *std::max_element(fine.degree.begin(), fine.degree.end());
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
    for (unsigned int i = 0; i < l; ++i)
      if (!levels[i].parent.empty())
        for (unsigned int &p : polytope)
          p = levels[i].parent[p];

    std::vector<std::vector<typename Triangulation<dim>::active_cell_iterator>>
      cells(level.n_polytopes());
    for (unsigned int c = 0; c < polytope.size(); ++c)
      cells[polytope[c]].push_back(handler.active_cell(c));
    auto result =
      std::make_unique<AgglomerationHandler<dim>>(handler.get_triangulation(),
                                                  &handler.get_mapping());
    for (const auto &list : cells)
      result->define_agglomerate(list);
    result->finalize_agglomerates();

    hp::FECollection<dim>     elements;
    std::vector<unsigned int> index(Legendre::max_degree + 1, invalid_index),
      indices;
    for (const unsigned int p : level.degree)
      {
        if (index[p] == invalid_index)
          {
            index[p] = elements.size();
            elements.push_back(
              FE_BoundingBoxLegendre<dim>(p, handler.polynomial_space()));
          }
        indices.push_back(index[p]);
      }
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



#define INSTANTIATE(dim)                                                \
  template MultigridHierarchy::MultigridHierarchy(                      \
    const AgglomerationHandler<dim> &,                                  \
    const NestedAgglomeration::Parents &,                               \
    const AdditionalData &);                                            \
  template std::unique_ptr<AgglomerationHandler<dim>>                   \
  MultigridHierarchy::coarse_handler(const AgglomerationHandler<dim> &, \
                                     const unsigned int) const;

  INSTANTIATE(2)
  INSTANTIATE(3)
#undef INSTANTIATE
} // namespace Tessella
