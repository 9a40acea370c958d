// SPDX-License-Identifier: LGPL-2.1-or-later

#include <cmath>
#include <limits>

#include "block_space.h"

namespace Tessella
{
  namespace internal
  {
    using namespace dealii;

    template <typename MatrixType>
    void
    BlockData<MatrixType>::reinit(const MatrixType &A)
    {
      matrix                              = &A;
      const BlockSparsity       &sparsity = A.block_sparsity();
      const auto                &offset   = A.dof_offset();
      const unsigned int         n        = sparsity.row_width.size();
      std::vector<unsigned int>  places(n);
      std::vector<std::uint64_t> squares(n + 1, 0);
      rows   = BlockRows();
      rows.n = n;
      for (unsigned int k = 0; k < n; ++k)
        {
          const std::uint64_t size = offset[k + 1] - offset[k];
          rows.max_size            = std::max(rows.max_size, unsigned(size));
          rows.max_width = std::max(rows.max_width, sparsity.row_width[k]);
          squares[k + 1] = squares[k] + size * size;
          const auto begin =
                       sparsity.block_column.begin() + sparsity.block_offset[k],
                     end = sparsity.block_column.begin() +
                           sparsity.block_offset[k + 1],
                     found = std::lower_bound(begin, end, k);
          AssertThrow(found != end && *found == k,
                      ExcMessage("Block row " + std::to_string(k) +
                                 " of the matrix has no diagonal block."));
          places[k] =
            sparsity.column_offset[found - sparsity.block_column.begin()];
        }
      n_squares = squares[n];
      dof_offset.assign(offset);
      block_offset.assign(sparsity.block_offset);
      value_offset.assign(sparsity.value_offset);
      square_offset.assign(squares);
      block_column.assign(sparsity.block_column);
      column_offset.assign(sparsity.column_offset);
      row_width.assign(sparsity.row_width);
      diagonal.assign(places);
      rows.n_dofs        = offset[n];
      rows.dof_offset    = dof_offset.data();
      rows.block_offset  = block_offset.data();
      rows.value_offset  = value_offset.data();
      rows.block_column  = block_column.data();
      rows.column_offset = column_offset.data();
      rows.row_width     = row_width.data();
      rows.diagonal      = diagonal.data();
      rows.square_offset = square_offset.data();
    }



    template <typename MatrixType>
    void
    BlockData<MatrixType>::invert_diagonal()
    {
      inverse.resize(n_squares);
      const unsigned int k = SpaceType::call([&] {
        return Blocks::invert_diagonal(rows, matrix->values(), inverse.data());
      });
      AssertThrow(k == rows.n,
                  ExcMessage("The diagonal block of polytope " +
                             std::to_string(k) +
                             " is singular: preconditioners made of blocks, "
                             "and multigrid with them, do not work for this "
                             "matrix. Take a direct solver, or check "
                             "coefficients, boundary conditions and penalty."));
    }



    template <typename MatrixType>
    void
    BlockData<MatrixType>::make_colors()
    {
      const BlockSparsity      &sparsity = matrix->block_sparsity();
      const unsigned int        n        = rows.n;
      std::vector<unsigned int> color(n, invalid_index), last;
      unsigned int              n_colors = 0;
      for (unsigned int k = 0; k < n; ++k)
        {
          for (std::uint64_t b = sparsity.block_offset[k];
               b < sparsity.block_offset[k + 1];
               ++b)
            {
              const unsigned int c = color[sparsity.block_column[b]];
              if (c != invalid_index)
                last[c] = k;
            }
          unsigned int c = 0;
          while (c < n_colors && last[c] == k)
            ++c;
          if (c == n_colors)
            {
              ++n_colors;
              last.push_back(invalid_index);
            }
          color[k] = c;
        }
      color_offset.assign(n_colors + 1, 0);
      for (const unsigned int c : color)
        ++color_offset[c + 1];
      for (unsigned int c = 0; c < n_colors; ++c)
        color_offset[c + 1] += color_offset[c];
      std::vector<unsigned int> next(color_offset.begin(),
                                     color_offset.end() - 1),
        list(n);
      for (unsigned int k = 0; k < n; ++k)
        list[next[color[k]]++] = k;
      color_list.assign(list);
    }



    namespace
    {
      // Largest eigenvalue of a symmetric tridiagonal matrix, by bisection with
      // Sturm sequences; also the smallest.
      std::pair<double, double>
      extreme_eigenvalues(const std::vector<double> &diagonal,
                          const std::vector<double> &off_diagonal)
      {
        double low = diagonal[0], high = diagonal[0];
        for (std::size_t i = 0; i < diagonal.size(); ++i)
          {
            const double radius =
              (i > 0 ? std::abs(off_diagonal[i - 1]) : 0.) +
              (i + 1 < diagonal.size() ? std::abs(off_diagonal[i]) : 0.);
            low  = std::min(low, diagonal[i] - radius);
            high = std::max(high, diagonal[i] + radius);
          }
        const auto n_below = [&](const double x) {
          unsigned int count = 0;
          double       d     = 1.;
          for (std::size_t i = 0; i < diagonal.size(); ++i)
            {
              const double e = i > 0 ? off_diagonal[i - 1] : 0.;
              d              = diagonal[i] - x - (i > 0 ? e * e / d : 0.);
              if (d == 0.)
                d = 1e-300;
              count += d < 0.;
            }
          return count;
        };
        const auto bisect = [&](const unsigned int n) {
          double a = low, b = high;
          for (unsigned int i = 0; i < 60; ++i)
            {
              const double middle            = 0.5 * (a + b);
              (n_below(middle) >= n ? b : a) = middle;
            }
          return 0.5 * (a + b);
        };
        return {bisect(1), bisect(diagonal.size())};
      }
    } // namespace



    template <typename MatrixType>
    double
    BlockData<MatrixType>::largest_eigenvalue(const bool symmetric) const
    {
      // (numbers without pattern; the same ones everywhere)
      std::vector<Number> start(rows.n_dofs);
      std::uint64_t       state = 88172645463325252ull;
      for (Number &number : start)
        {
          state ^= state << 13;
          state ^= state >> 7;
          state ^= state << 17;
          number = static_cast<Number>((state >> 11) * 0x1p-53 - 0.5);
        }
      Array<Number> array;
      array.assign(start);
      const std::size_t n = rows.n_dofs;
      VectorType        r(n), z(n), p(n), q(n);
      const auto        dot = [&](const VectorType &x, const VectorType &y) {
        return SpaceType::call(
          [&] { return Blocks::dot(n, x.begin(), y.begin()); });
      };
      SpaceType::call([&] { Blocks::copy(n, array.data(), r.begin()); });
      const unsigned int n_steps = 10;

      if (!symmetric)
        {
          double eigenvalue = 1.;
          for (unsigned int step = 0; step < 2 * n_steps; ++step)
            {
              const double norm = std::sqrt(dot(r, r));
              if (!(norm > 0.) || !std::isfinite(norm))
                break;
              eigenvalue = step == 0 ? 1. : norm;
              r *= Number(1. / norm);
              matrix->vmult(q, r);
              SpaceType::call([&] {
                Blocks::apply_diagonal(
                  rows, inverse.data(), false, q.begin(), r.begin());
              });
            }
          return 1.2 * eigenvalue;
        }

      // The conjugate gradient method preconditioned by the diagonal blocks,
      // whose coefficients are those of Lanczos' method for D^{-1} A.
      std::vector<double> diagonal, off_diagonal;
      double              rz = 0., alpha = 0., beta = 0.;
      for (unsigned int step = 0; step < n_steps; ++step)
        {
          SpaceType::call([&] {
            Blocks::apply_diagonal(
              rows, inverse.data(), false, r.begin(), z.begin());
          });
          const double next = dot(r, z);
          // (few unknowns: all eigenvalues are found)
          if (step > 0 && std::abs(next) <= 1e-14 * rz)
            break;
          beta = step > 0 ? next / rz : 0.;
          rz   = next;
          if (step > 0)
            p.sadd(Number(beta), Number(1), z);
          else
            p = z;
          matrix->vmult(q, p);
          const double pq             = dot(p, q);
          const double alpha_previous = alpha;
          AssertThrow(rz > 0. && pq > 0. && std::isfinite(pq),
                      ExcMessage("The matrix is not symmetric and positive "
                                 "definite, as the preconditioner was told: "
                                 "check the penalty constant, the "
                                 "coefficients and the boundary conditions, "
                                 "or declare the problem as not symmetric "
                                 "and take GMRES."));
          alpha = rz / pq;
          diagonal.push_back(1. / alpha +
                             (step > 0 ? beta / alpha_previous : 0.));
          if (step > 0)
            off_diagonal.push_back(std::sqrt(beta) / alpha_previous);
          r.add(Number(-alpha), q);
        }
      return 1.1 * extreme_eigenvalues(diagonal, off_diagonal).second;
    }



    template <typename MatrixType>
    std::size_t
    BlockData<MatrixType>::memory_consumption() const
    {
      return dof_offset.memory_consumption() +
             block_offset.memory_consumption() +
             value_offset.memory_consumption() +
             square_offset.memory_consumption() +
             block_column.memory_consumption() +
             column_offset.memory_consumption() +
             row_width.memory_consumption() + diagonal.memory_consumption() +
             inverse.memory_consumption() + color_list.memory_consumption();
    }



    template class BlockData<HostBlockMatrix<double>>;
    template class BlockData<HostBlockMatrix<float>>;
    template class BlockData<DeviceBlockMatrix<double>>;
    template class BlockData<DeviceBlockMatrix<float>>;
  } // namespace internal
} // namespace Tessella
