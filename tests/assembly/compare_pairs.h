// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_assembly_compare_pairs_h
#define tessella_tests_assembly_compare_pairs_h

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "compare.h"

/// A pair of components of a system for the reference assembler.
template <int dim>
struct ReferencePair
{
  Reference::Problem<dim> problem;
  std::vector<double>     sigma; ///< penalty of each facet
  /// Whether the right-hand side is a part of that of the test component.
  bool has_rhs = true;
};

/// Largest differences of a matrix and a right-hand side of @p m components to
/// what the reference assembler computes pair by pair, relative to the largest
/// entry of the block row. @p pair (i, j) is null for components that do not
/// meet. The handlers have m components and one component on the same
/// polytopes.
template <int dim>
std::pair<double, double>
compare_pairs(const Tessella::AgglomerationHandler<dim> &handler,
              const Tessella::AgglomerationHandler<dim> &scalar,
              const SparseMatrix<double>                &matrix,
              const Vector<double>                      &rhs,
              const unsigned int                         m,
              const std::function<std::unique_ptr<ReferencePair<dim>>(
                unsigned int, unsigned int)>            &pair,
              const unsigned int                         n_points,
              const Mapping<dim>                        *mapping = nullptr)
{
  const Reference::Space<dim> space  = make_space(scalar, mapping);
  const auto                 &offset = handler.polytopic_dofs().dof_offset;
  Vector<double>              f(rhs.size());
  FullMatrix<double>          dense(rhs.size(), rhs.size());
  std::vector<double>         scale(space.degree.size(), 0.);
  for (unsigned int i = 0; i < m; ++i)
    for (unsigned int j = 0; j < m; ++j)
      {
        const auto given = pair(i, j);
        if (given == nullptr)
          continue;
        const auto part =
          Reference::assemble(space,
                              given->problem,
                              n_points,
                              penalty_by_place(scalar.polytopic_mesh(),
                                               given->sigma));
        const std::vector<double> s = part.row_scale(scale.size());
        for (unsigned int k = 0; k < scale.size(); ++k)
          {
            scale[k] = std::max(scale[k], s[k]);
            if (given->has_rhs)
              for (unsigned int r = 0; r < space.n_functions(k); ++r)
                f(offset[k] + i * space.n_functions(k) + r) +=
                  part.rhs(space.offset[k] + r);
          }
        for (const auto &b : part.block)
          {
            const unsigned int k = b.first.first, l = b.first.second;
            for (unsigned int r = 0; r < b.second.m(); ++r)
              for (unsigned int c = 0; c < b.second.n(); ++c)
                dense(offset[k] + i * b.second.m() + r,
                      offset[l] + j * b.second.n() + c) += b.second(r, c);
          }
      }
  double matrix_difference = 0., rhs_difference = 0.;
  for (unsigned int k = 0; k < scale.size(); ++k)
    {
      double rhs_scale = 1e-2 * f.linfty_norm();
      for (unsigned int r = offset[k]; r < offset[k + 1]; ++r)
        rhs_scale = std::max(rhs_scale, std::abs(f(r)));
      for (unsigned int r = offset[k]; r < offset[k + 1]; ++r)
        {
          const double e = std::abs(f(r) - rhs(r)) / rhs_scale;
          rhs_difference = e <= rhs_difference ? rhs_difference : e;
          for (unsigned int c = 0; c < rhs.size(); ++c)
            {
              const double d =
                std::abs(matrix.el(r, c) - dense(r, c)) / scale[k];
              matrix_difference =
                d <= matrix_difference ? matrix_difference : d;
            }
        }
    }
  return {matrix_difference, rhs_difference};
}

#endif
