// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "nested_dissection.h"

#include <deal.II/base/exceptions.h>

#include <deal.II/lac/lapack_full_matrix.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "dense_inverse.h"

namespace Tessella
{
  namespace internal
  {
    using namespace dealii;

    namespace
    {
      using Dense = LAPACKFullMatrix<double>;

      /// Block rows inside of the smallest parts, about, and the logarithm of
      /// the number of parts that are joined from stage to stage.
      constexpr unsigned int n_inside = 10, log_joined = 3;

      /// Symmetric matrix of blocks during the elimination.
      struct DissectedMatrix
      {
        using Block = std::vector<double>; ///< row by row
        std::vector<std::uint64_t>                 first;
        std::vector<std::map<unsigned int, Block>> rows;

        unsigned int
        size(const unsigned int k) const
        {
          return static_cast<unsigned int>(first[k + 1] - first[k]);
        }
      };

      /// Block rows that are eliminated together, and those with which they are
      /// coupled then.
      struct Group
      {
        std::vector<unsigned int> inside, boundary;
        Dense                     inverse, W;
      };

      /// A GatheredRows in the making.
      template <typename Number>
      struct HostRows
      {
        std::vector<GatheredPiece> pieces;
        std::vector<unsigned int>  rows, columns;
        std::vector<Number>        values;

        /// value(i, j) is that of row i and column j of these lists.
        template <typename Value>
        void
        add(const std::vector<unsigned int> &new_rows,
            const std::vector<unsigned int> &new_columns,
            const std::size_t                n_first,
            const Value                     &value)
        {
          constexpr unsigned int n = gathered_rows_of_piece;
          GatheredPiece          piece;
          piece.first_column = columns.size();
          piece.n_first      = n_first;
          piece.n_columns    = new_columns.size();
          columns.insert(columns.end(), new_columns.begin(), new_columns.end());
          for (unsigned int i = 0; i < new_rows.size(); i += n)
            {
              piece.first_value = values.size();
              piece.first_row   = rows.size();
              piece.n_rows = std::min<unsigned int>(n, new_rows.size() - i);
              pieces.push_back(piece);
              values.resize(values.size() + n * new_columns.size(), Number(0));
              Number *to = values.data() + piece.first_value;
              for (unsigned int j = 0; j < new_columns.size(); ++j, to += n)
                for (unsigned int r = 0; r < piece.n_rows; ++r)
                  to[r] = static_cast<Number>(value(i + r, j));
              rows.insert(rows.end(),
                          new_rows.begin() + i,
                          new_rows.begin() + i + piece.n_rows);
            }
        }
      };

      /// Cuts the @p members of a part in the middle of the longest edge of the
      /// box around their centres, @p depth times.
      void
      cut(const std::vector<double> &centre,
          const unsigned int         dim,
          std::vector<unsigned int> &members,
          const std::size_t          begin,
          const std::size_t          end,
          const unsigned int         depth,
          const unsigned int         number,
          std::vector<unsigned int> &part)
      {
        if (depth == 0)
          {
            for (std::size_t i = begin; i < end; ++i)
              part[members[i]] = number;
            return;
          }
        unsigned int longest = 0;
        double       length  = -1.;
        for (unsigned int d = 0; d < dim; ++d)
          {
            double lower = 1e300, upper = -1e300;
            for (std::size_t i = begin; i < end; ++i)
              {
                const double x = centre[std::size_t(members[i]) * dim + d];
                lower          = std::min(lower, x);
                upper          = std::max(upper, x);
              }
            if (upper - lower > length)
              {
                length  = upper - lower;
                longest = d;
              }
          }
        std::sort(
          members.begin() + begin,
          members.begin() + end,
          [&](const unsigned int a, const unsigned int b) {
            return std::make_pair(centre[std::size_t(a) * dim + longest], a) <
                   std::make_pair(centre[std::size_t(b) * dim + longest], b);
          });
        const std::size_t middle = (begin + end) / 2;
        cut(centre, dim, members, begin, middle, depth - 1, 2 * number, part);
        cut(centre, dim, members, middle, end, depth - 1, 2 * number + 1, part);
      }

      /// Smallest part of each block row; @p n_cuts: how often parts are cut.
      std::vector<unsigned int>
      smallest_parts(const std::vector<double> &boxes,
                     const unsigned int         n,
                     const unsigned int         n_cuts)
      {
        const unsigned int  dim = boxes.size() / (2 * std::size_t(n));
        std::vector<double> centre(std::size_t(n) * dim);
        for (unsigned int k = 0; k < n; ++k)
          for (unsigned int d = 0; d < dim; ++d)
            centre[std::size_t(k) * dim + d] =
              0.5 * (boxes[2 * std::size_t(k) * dim + d] +
                     boxes[(2 * std::size_t(k) + 1) * dim + d]);
        std::vector<unsigned int> members(n), part(n, 0);
        for (unsigned int k = 0; k < n; ++k)
          members[k] = k;
        cut(centre, dim, members, 0, n, n_cuts, 0, part);
        return part;
      }

      /// Stage that eliminates each block row; n_stages: none.
      std::vector<unsigned int>
      stages_of_rows(const DissectedMatrix           &matrix,
                     const std::vector<unsigned int> &part,
                     const unsigned int               n_stages)
      {
        // Separators of large parts first. Of two block rows of different parts
        // that are coupled one is enough.
        std::vector<unsigned int> stage(part.size(), 0);
        for (unsigned int s = n_stages; s > 0; --s)
          {
            const unsigned int shift = (s - 1) * log_joined;
            for (unsigned int k = 0; k < part.size(); ++k)
              {
                if (stage[k] > s)
                  continue;
                for (const auto &block : matrix.rows[k])
                  if (stage[block.first] < s &&
                      (part[block.first] >> shift) > (part[k] >> shift))
                    stage[k] = s;
              }
          }
        return stage;
      }

      /// Dense matrix of the blocks of @p rows and @p columns.
      Dense
      dense_blocks(const DissectedMatrix           &matrix,
                   const std::vector<unsigned int> &rows,
                   const std::vector<unsigned int> &columns)
      {
        std::map<unsigned int, unsigned int> place;
        unsigned int                         n_columns = 0, n_rows = 0;
        for (const unsigned int l : columns)
          {
            place[l] = n_columns;
            n_columns += matrix.size(l);
          }
        for (const unsigned int k : rows)
          n_rows += matrix.size(k);
        Dense        result(n_rows, n_columns);
        unsigned int row = 0;
        for (const unsigned int k : rows)
          {
            for (const auto &block : matrix.rows[k])
              {
                const auto found = place.find(block.first);
                if (found == place.end())
                  continue;
                const unsigned int n = matrix.size(block.first);
                for (unsigned int i = 0; i < matrix.size(k); ++i)
                  for (unsigned int j = 0; j < n; ++j)
                    result(row + i, found->second + j) =
                      block.second[std::size_t(i) * n + j];
              }
            row += matrix.size(k);
          }
        return result;
      }

      /// Groups of a stage, ordered by their parts.
      std::vector<Group>
      groups_of_stage(const DissectedMatrix           &matrix,
                      const std::vector<unsigned int> &part,
                      const std::vector<unsigned int> &stage,
                      const unsigned int               s)
      {
        std::map<unsigned int, Group> groups;
        for (unsigned int k = 0; k < part.size(); ++k)
          if (stage[k] == s)
            groups[part[k] >> (s * log_joined)].inside.push_back(k);
        std::vector<Group> result;
        for (auto &group : groups)
          {
            std::vector<unsigned int> &boundary = group.second.boundary;
            for (const unsigned int k : group.second.inside)
              for (const auto &block : matrix.rows[k])
                if (stage[block.first] > s)
                  boundary.push_back(block.first);
            std::sort(boundary.begin(), boundary.end());
            boundary.erase(std::unique(boundary.begin(), boundary.end()),
                           boundary.end());
            result.push_back(std::move(group.second));
          }
        return result;
      }

      /// Subtracts A_IB^T A_II^{-1} A_IB = @p update from the blocks of the
      /// boundary, and removes those of the group.
      void
      reduce(const Group &group, const Dense &update, DissectedMatrix &matrix)
      {
        unsigned int row = 0;
        for (const unsigned int k : group.boundary)
          {
            for (const unsigned int l : group.inside)
              matrix.rows[k].erase(l);
            unsigned int column = 0;
            for (const unsigned int l : group.boundary)
              {
                const unsigned int n     = matrix.size(l);
                auto              &block = matrix.rows[k][l];
                block.resize(std::size_t(matrix.size(k)) * n, 0.);
                for (unsigned int i = 0; i < matrix.size(k); ++i)
                  for (unsigned int j = 0; j < n; ++j)
                    block[std::size_t(i) * n + j] -=
                      update(row + i, column + j);
                column += n;
              }
            row += matrix.size(k);
          }
        for (const unsigned int k : group.inside)
          matrix.rows[k].clear();
      }

      std::vector<unsigned int>
      dofs_of(const DissectedMatrix           &matrix,
              const std::vector<unsigned int> &block_rows)
      {
        std::vector<unsigned int> result;
        for (const unsigned int k : block_rows)
          for (std::uint64_t i = matrix.first[k]; i < matrix.first[k + 1]; ++i)
            result.push_back(static_cast<unsigned int>(i));
        return result;
      }

      /// Computes inverses and W of all groups and eliminates them.
      void
      eliminate(std::vector<Group> &groups, DissectedMatrix &matrix)
      {
        for (Group &group : groups)
          {
            group.inverse = dense_blocks(matrix, group.inside, group.inside);
            invert_dense(group.inverse,
                         true,
                         std::numeric_limits<double>::epsilon());
            const Dense coupling =
              dense_blocks(matrix, group.inside, group.boundary);
            group.W.reinit(coupling.m(), coupling.n());
            if (coupling.n() == 0)
              continue;
            group.inverse.mmult(group.W, coupling);
            Dense update(coupling.n(), coupling.n());
            coupling.Tmmult(update, group.W);
            reduce(group, update, matrix);
          }
      }

      /// b_B -= W^T b_I for all groups of a stage.
      template <typename Number>
      HostRows<Number>
      forward_rows(const DissectedMatrix    &matrix,
                   const std::vector<Group> &groups)
      {
        // Groups at each block row, and its first row in their boundaries.
        std::map<unsigned int, std::vector<std::pair<const Group *, unsigned>>>
          at;
        for (const Group &group : groups)
          {
            unsigned int row = 0;
            for (const unsigned int k : group.boundary)
              {
                at[k].emplace_back(&group, row);
                row += matrix.size(k);
              }
          }
        HostRows<Number> result;
        for (const auto &k : at)
          {
            std::vector<unsigned int>                          columns;
            std::vector<std::pair<unsigned int, unsigned int>> origin;
            for (unsigned int g = 0; g < k.second.size(); ++g)
              {
                const std::vector<unsigned int> dofs =
                  dofs_of(matrix, k.second[g].first->inside);
                columns.insert(columns.end(), dofs.begin(), dofs.end());
                for (unsigned int j = 0; j < dofs.size(); ++j)
                  origin.emplace_back(g, j);
              }
            result.add(dofs_of(matrix, {k.first}),
                       columns,
                       columns.size(),
                       [&](const unsigned int i, const unsigned int j) {
                         const auto &g = k.second[origin[j].first];
                         return -g.first->W(origin[j].second, g.second + i);
                       });
          }
        return result;
      }

      /// x_I = A_II^{-1} b_I - W x_B for all groups of a stage.
      template <typename Number>
      HostRows<Number>
      backward_rows(const DissectedMatrix    &matrix,
                    const std::vector<Group> &groups)
      {
        HostRows<Number> result;
        for (const Group &group : groups)
          {
            const std::vector<unsigned int> inside =
                                              dofs_of(matrix, group.inside),
                                            boundary =
                                              dofs_of(matrix, group.boundary);
            std::vector<unsigned int> columns(inside);
            columns.insert(columns.end(), boundary.begin(), boundary.end());
            result.add(inside,
                       columns,
                       inside.size(),
                       [&](const unsigned int i, const unsigned int j) {
                         return j < inside.size()
                                  ? group.inverse(i, j)
                                  : -group.W(i, j - inside.size());
                       });
          }
        return result;
      }

      template <typename MatrixType>
      DissectedMatrix
      copy_matrix(const MatrixType &matrix)
      {
        using SpaceType               = Space<MatrixType>;
        using Number                  = typename MatrixType::value_type;
        const BlockSparsity &sparsity = matrix.block_sparsity();
        std::vector<Number>  values(matrix.n_nonzero_elements());
        SpaceType::call([&] {
          SpaceType::Blocks::download(values.size(),
                                      matrix.values(),
                                      values.data());
        });
        DissectedMatrix    result;
        const unsigned int n = sparsity.row_width.size();
        result.first         = matrix.dof_offset();
        result.rows.resize(n);
        for (unsigned int k = 0; k < n; ++k)
          for (std::uint64_t b = sparsity.block_offset[k];
               b < sparsity.block_offset[k + 1];
               ++b)
            {
              const unsigned int l     = sparsity.block_column[b];
              auto              &block = result.rows[k][l];
              const Number *value = values.data() + sparsity.value_offset[k] +
                                    sparsity.column_offset[b];
              for (unsigned int i = 0; i < result.size(k);
                   ++i, value += sparsity.row_width[k])
                block.insert(block.end(), value, value + result.size(l));
            }
        return result;
      }

      /// Parts of the null vectors at @p dofs, normalised.
      std::vector<std::vector<double>>
      restrict_to(const std::vector<std::vector<double>> &vectors,
                  const std::vector<unsigned int>        &dofs)
      {
        std::vector<std::vector<double>> result;
        for (const std::vector<double> &vector : vectors)
          {
            result.emplace_back();
            double square = 0.;
            for (const unsigned int i : dofs)
              {
                result.back().push_back(vector[i]);
                square += vector[i] * vector[i];
              }
            for (double &x : result.back())
              x /= std::sqrt(square);
          }
        return result;
      }
    } // namespace



    template <typename MatrixType>
    void
    NestedDissection<MatrixType>::reinit(
      const MatrixType                       &matrix,
      const std::vector<double>              &boxes,
      const std::vector<std::vector<double>> &null_vectors,
      const unsigned int                      max_dense)
    {
      n = matrix.m();
      stages.clear();
      DissectedMatrix    copy     = copy_matrix(matrix);
      const unsigned int n_blocks = copy.rows.size();
      unsigned int       n_cuts   = 0;
      while ((n_blocks >> n_cuts) > n_inside)
        ++n_cuts;
      const unsigned int n_stages = (n_cuts + log_joined - 1) / log_joined;
      const std::vector<unsigned int> part =
                                        smallest_parts(boxes, n_blocks, n_cuts),
                                      stage =
                                        stages_of_rows(copy, part, n_stages);
      for (unsigned int s = 0; s < n_stages; ++s)
        {
          std::vector<Group> groups = groups_of_stage(copy, part, stage, s);
          eliminate(groups, copy);
          stages.push_back(std::make_unique<Stage>());
          store(forward_rows<Number>(copy, groups), stages.back()->forward);
          store(backward_rows<Number>(copy, groups), stages.back()->backward);
        }
      Group last;
      for (unsigned int k = 0; k < n_blocks; ++k)
        if (stage[k] == n_stages)
          last.inside.push_back(k);
      last.inverse = dense_blocks(copy, last.inside, last.inside);
      AssertThrow(last.inverse.m() <= max_dense,
                  ExcMessage("The coarsest level of multigrid has " +
                             std::to_string(n) +
                             " unknowns, of which a dissection leaves " +
                             std::to_string(last.inverse.m()) +
                             ", more than the " + std::to_string(max_dense) +
                             " allowed for a dense inverse: give more levels, "
                             "or a larger max_coarse_dofs."));
      // As a preconditioner the inverse may be less accurate than the dense one
      // of a small level.
      const double epsilon = std::numeric_limits<Number>::epsilon() / 8.;
      if (last.inside.empty()) {}
      else if (null_vectors.empty())
        invert_dense(last.inverse, true, epsilon);
      else
        invert_dense(last.inverse,
                     true,
                     epsilon,
                     restrict_to(null_vectors, dofs_of(copy, last.inside)));
      last.W.reinit(last.inverse.m(), 0);
      stages.push_back(std::make_unique<Stage>());
      store(backward_rows<Number>(copy, {last}), stages.back()->backward);
      z.resize(n);
    }



    template <typename MatrixType>
    template <typename HostRows>
    void
    NestedDissection<MatrixType>::store(const HostRows &from, Rows &to)
    {
      to.pieces.assign(from.pieces);
      to.row.assign(from.rows);
      to.column.assign(from.columns);
      to.values.assign(from.values);
      to.rows.n_pieces = from.pieces.size();
      to.rows.pieces   = to.pieces.data();
      to.rows.rows     = to.row.data();
      to.rows.columns  = to.column.data();
      to.rows.values   = to.values.data();
    }



    template <typename MatrixType>
    void
    NestedDissection<MatrixType>::multiply(const Rows   &rows,
                                           const bool    add,
                                           const Number *first,
                                           const Number *second,
                                           Number       *y)
    {
      const GatheredRows<Number> &A = rows.rows;
      if constexpr (std::is_same<MatrixType, DeviceBlockMatrix<Number>>::value)
        SpaceType::call(
          [&] { Device::multiply_gathered_rows(A, add, first, second, y); });
      else
        for_blocks(A.n_pieces, [&](const unsigned int p) {
          const GatheredPiece      &piece   = A.pieces[p];
          const unsigned int *const columns = A.columns + piece.first_column;
          const Number             *value   = A.values + piece.first_value;
          Number                    sum[gathered_rows_of_piece] = {};
          for (unsigned int j = 0; j < piece.n_columns; ++j)
            {
              const Number x = (j < piece.n_first ? first : second)[columns[j]];
              for (Number &s : sum)
                s += *value++ * x;
            }
          for (unsigned int r = 0; r < piece.n_rows; ++r)
            {
              Number &y_r = y[A.rows[piece.first_row + r]];
              y_r         = add ? y_r + sum[r] : sum[r];
            }
        });
    }



    template <typename MatrixType>
    void
    NestedDissection<MatrixType>::vmult(const Number *b, Number *x)
    {
      SpaceType::convert(n, b, z.data());
      for (const auto &stage : stages)
        multiply(stage->forward, true, z.data(), z.data(), z.data());
      for (auto stage = stages.rbegin(); stage != stages.rend(); ++stage)
        multiply((*stage)->backward, false, z.data(), x, x);
    }



    template <typename MatrixType>
    std::size_t
    NestedDissection<MatrixType>::memory_consumption() const
    {
      std::size_t result = z.memory_consumption();
      for (const auto &stage : stages)
        for (const Rows *rows : {&stage->forward, &stage->backward})
          result += rows->pieces.memory_consumption() +
                    rows->row.memory_consumption() +
                    rows->column.memory_consumption() +
                    rows->values.memory_consumption();
      return result;
    }



    template class NestedDissection<HostBlockMatrix<double>>;
    template class NestedDissection<HostBlockMatrix<float>>;
    template class NestedDissection<DeviceBlockMatrix<double>>;
    template class NestedDissection<DeviceBlockMatrix<float>>;
  } // namespace internal
} // namespace Tessella
