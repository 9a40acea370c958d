// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "block_ordering.h"
#include "block_space.h"
#include "host_inverses.h"
#include "lanczos.h"
#include "reproducible_sum.h"

namespace Tessella
{
  namespace internal
  {
    using namespace dealii;

    namespace
    {
      // See BlockRows::uniform.
      unsigned int
      uniform_size(const BlockMatrixBase &matrix)
      {
        const auto &offset = matrix.dof_offset();
        const auto &first  = matrix.block_sparsity().value_offset;
        if (offset.size() < 2 ||
            std::adjacent_find(first.begin(), first.end()) != first.end())
          return 0;
        const std::uint64_t size = offset[1];
        for (std::size_t k = 0; k + 1 < offset.size(); ++k)
          if (offset[k + 1] - offset[k] != size)
            return 0;
        return static_cast<unsigned int>(size);
      }
    } // namespace



    template <typename MatrixType>
    void
    BlockData<MatrixType>::reinit(const MatrixType &A,
                                  const BlockData  *same_blocks)
    {
      matrix                              = &A;
      const BlockSparsity       &sparsity = A.block_sparsity();
      const auto                &offset   = A.dof_offset();
      const unsigned int         n        = sparsity.row_width.size();
      std::vector<unsigned int>  places(n);
      std::vector<std::uint64_t> squares(n + 1, 0);
      rows   = BlockRows();
      rows.n = n;
      Tessella::on_all_processes(communicator(), [&] {
        for (unsigned int k = 0; k < n; ++k)
          {
            const std::uint64_t size = offset[k + 1] - offset[k];
            rows.max_size            = std::max(rows.max_size, unsigned(size));
            rows.max_width = std::max(rows.max_width, sparsity.row_width[k]);
            // Rows that share their values share the inverses as well.
            const bool shared =
              k > 0 && offset[k] > offset[k - 1] &&
              sparsity.value_offset[k] == sparsity.value_offset[k - 1];
            if (shared)
              squares[k] = squares[k - 1];
            squares[k + 1] = squares[k] + size * size;
          }
        parallel_for(n, 256, [&](const unsigned int k) {
          const std::uint64_t b = sparsity.find_block(k, k);
          places[k]             = b == BlockSparsity::no_block ? invalid_index
                                                               : sparsity.column_offset[b];
        });
        for (unsigned int k = 0; k < n; ++k)
          AssertThrow(places[k] != invalid_index,
                      ExcMessage("Block row " + std::to_string(k) +
                                 " of the matrix has no diagonal block."));
      });
      // Blocks of ghosts count as well: block rows have columns of other
      // processes.
      for (unsigned int k = n; k + 1 < offset.size(); ++k)
        rows.max_size =
          std::max(rows.max_size, unsigned(offset[k + 1] - offset[k]));
      n_squares       = squares[n];
      rows.uniform    = uniform_size(A);
      const auto copy = [](auto &array, const auto &values) {
        array.assign(values);
        return array.data();
      };
      rows.n_dofs        = offset[n];
      rows.dof_offset    = copy(dof_offset, offset);
      rows.value_offset  = copy(value_offset, sparsity.value_offset);
      rows.square_offset = copy(square_offset, squares);
      if (same_blocks == nullptr)
        {
          rows.block_offset = copy(block_offset, sparsity.block_offset);
          rows.block_column = copy(block_column, sparsity.block_column);
        }
      else
        {
          rows.block_offset = same_blocks->rows.block_offset;
          rows.block_column = same_blocks->rows.block_column;
        }
      rows.column_offset = copy(column_offset, sparsity.column_offset);
      rows.row_width     = copy(row_width, sparsity.row_width);
      rows.diagonal      = copy(diagonal, places);
      if (A.partition() == nullptr)
        return;
      const std::vector<std::uint64_t> blocks = ordered_blocks(A);
      std::vector<unsigned int> numbers(blocks.size()), columns(blocks.size());
      for (unsigned int k = 0; k < n; ++k)
        {
          unsigned int column = 0;
          for (std::uint64_t m = sparsity.block_offset[k];
               m < sparsity.block_offset[k + 1];
               ++m)
            {
              const unsigned int l = sparsity.block_column[blocks[m]];
              numbers[m]           = blocks[m] - sparsity.block_offset[k];
              columns[m]           = column;
              column += offset[l + 1] - offset[l];
            }
        }
      rows.order          = copy(order, numbers);
      rows.ordered_offset = copy(ordered_offset, columns);
    }



    template <typename MatrixType>
    void
    BlockData<MatrixType>::allocate_inverse()
    {
      // An allocation on a device takes milliseconds.
      if (inverse.size() != n_squares)
        inverse.resize(n_squares);
    }



    template <typename MatrixType>
    void
    BlockData<MatrixType>::invert_diagonal()
    {
      Tessella::on_all_processes(communicator(), [&] {
        allocate_inverse();
        const unsigned int k = SpaceType::call([&] {
          return internal::invert_diagonal<Blocks>(rows,
                                                   matrix->values(),
                                                   inverse.data());
        });
        AssertThrow(k == rows.n,
                    ExcMessage(
                      "The diagonal block of block row " + std::to_string(k) +
                      " is singular: preconditioners made of blocks, "
                      "and multigrid with them, do not work for this "
                      "matrix. Take a direct solver, or check "
                      "coefficients, boundary conditions and penalty."));
      });
    }



    template <typename MatrixType>
    void
    BlockData<MatrixType>::make_colors()
    {
      const unsigned int n         = rows.n;
      const auto        &partition = matrix->partition();
      if (partition != nullptr)
        halo = std::make_unique<typename SpaceType::Halo>(partition);
      unsigned int                    n_colors = 0;
      const std::vector<unsigned int> color = greedy_colors(*matrix, n_colors);
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



    template <typename MatrixType>
    double
    BlockData<MatrixType>::largest_eigenvalue(const bool symmetric,
                                              const bool singular) const
    {
      if (symmetric)
        {
          const double eigenvalue = lanczos_eigenvalue(
            *matrix,
            n_lanczos_steps,
            singular,
            [&](const Number *r, Number *z) {
              SpaceType::call([&] {
                Blocks::apply_diagonal(rows, inverse.data(), false, r, z);
              });
            });
          AssertThrow(eigenvalue > 0.,
                      ExcMessage("The matrix is not symmetric and positive "
                                 "definite, as the preconditioner was told: "
                                 "check the penalty constant, the "
                                 "coefficients and the boundary conditions, "
                                 "or declare the problem as not symmetric "
                                 "and take GMRES."));
          return lanczos_margin * eigenvalue;
        }
      const std::size_t n = rows.n_dofs;
      Array<Number>     r, q;
      set_pseudo_random(*matrix, r);
      q.resize(n);
      PowerMethod power;
      for (unsigned int step = 0; step < n_power_steps; ++step)
        {
          if (!power.add(
                value_of_all(communicator(), SpaceType::call([&] {
                               return Blocks::dot(n, r.data(), r.data());
                             }))))
            break;
          SpaceType::call([&] {
            Blocks::scale_add(n, Number(1. / power.norm), nullptr, r.data());
          });
          matrix->vmult_owned(q.data(), r.data());
          SpaceType::call([&] {
            Blocks::apply_diagonal(
              rows, inverse.data(), false, q.data(), r.data());
          });
        }
      return power_margin * power.eigenvalue;
    }



    namespace
    {
      // Weights of the steps that minimise the maximum of x p(x)^2 / (1 -
      // p(x)^2) on (0, 1] (J. Lottes, see BlockChebyshev). The maximum is then
      // attained at as many points as there are steps, and at 0
      // (contrib/python/chebyshev_weights.py). Degrees without tabulated
      // weights have weight 1.
      double
      chebyshev_weight(const unsigned int degree, const unsigned int step)
      {
        static const std::vector<std::vector<double>> weights = {
          {1.125},
          {1.02387287570313, 1.26408905371085},
          {1.00842544782028, 1.08867839208730, 1.33753125909618},
          {1.00391310427285,
           1.04035811188593,
           1.14863498546254,
           1.38268869241000},
          {1.00212930146164,
           1.02173711549260,
           1.07872433192603,
           1.19810065292663,
           1.41322542791682},
          {1.00128517255940,
           1.01304293035233,
           1.04678215124113,
           1.11616489419675,
           1.23829020218444,
           1.43524297106744},
          {1.00083464397912,
           1.00843949430123,
           1.03008707768714,
           1.07408384092004,
           1.15036186707366,
           1.27116474046140,
           1.45186658649364},
          {1.00057246631198,
           1.00577427662416,
           1.02050187922941,
           1.05019803444565,
           1.10115572984941,
           1.18086042806857,
           1.29838585382576,
           1.46486073151100},
          {1.00040960072833,
           1.00412439506107,
           1.01460212148267,
           1.03561113626672,
           1.07139972529194,
           1.12688273710963,
           1.20785219140729,
           1.32121930716747,
           1.47529642820699},
          {1.00030312229653,
           1.00304840660797,
           1.01077022715388,
           1.02619011597640,
           1.05231724933755,
           1.09255743207550,
           1.15083376663972,
           1.23172250870895,
           1.34060802024460,
           1.48386124407011},
          {1.00023058595209,
           1.00231675024028,
           1.00817245396305,
           1.01982986566342,
           1.03950210235325,
           1.06965042700542,
           1.11305754295743,
           1.17290876275564,
           1.25288300576792,
           1.35725579919519,
           1.49101672564139},
          {1.00017947200828,
           1.00180189139620,
           1.00634861907308,
           1.01537864566306,
           1.03056942830760,
           1.05376019693944,
           1.08699862592073,
           1.13259183097914,
           1.19316273358172,
           1.27171293675111,
           1.37169337969799,
           1.49708418575562}};
        return degree <= weights.size() ? weights[degree - 1][step - 1] : 1.;
      }
    } // namespace



    template <typename MatrixType>
    void
    BlockData<MatrixType>::chebyshev(const unsigned int degree,
                                     const double       largest,
                                     const bool         zero_start,
                                     const bool         transpose,
                                     const Number      *b,
                                     Number            *x,
                                     Number            *r,
                                     Number            *d,
                                     const double      *stored,
                                     Number            *second_d) const
    {
      const bool by_one_kernel =
        second_d != nullptr && !transpose && has_product_step();
      // Present direction, and place of the next one.
      Number *directions[2] = {d, by_one_kernel ? second_d : d};
      for (unsigned int i = 1; i <= degree; ++i)
        {
          // The residual is that of the sum of all d without weights.
          const bool          set    = zero_start && i == 1;
          const Number *const from   = i == 1 ? x : directions[0];
          const Number *const rhs    = i == 1 || (zero_start && i == 2) ? b : r;
          const double        factor = (8. * i - 4.) / (2. * i + 1.);
          const Number alpha  = i == 1 ? 0. : (2. * i - 3.) / (2. * i + 1.),
                       beta   = factor / largest,
                       weight = chebyshev_weight(degree, i);
          PolynomialStep<Number> step;
          step.inverse   = inverse.data();
          step.transpose = transpose;
          step.alpha     = alpha;
          step.beta      = beta;
          step.weight    = weight;
          step.r         = set ? b : r;
          step.d         = directions[1];
          step.x         = x;
          step.set       = set;
          step.divisor   = stored;
          step.factor    = factor;
          // A kernel that reads x for the product must not change it; the
          // second step makes up for it.
          const bool keep = i == 1;
          if (by_one_kernel && set && external_step)
            {
              step.d = directions[0];
              multiply_and_step({nullptr, nullptr, b, nullptr, step});
              continue;
            }
          if (by_one_kernel && !set && !(keep && degree == 1))
            {
              multiply_and_step({matrix->values(),
                                 from,
                                 rhs,
                                 r,
                                 step,
                                 keep,
                                 i == 2 && !zero_start
                                   ? Number(chebyshev_weight(degree, 1))
                                   : Number(0)});
              std::swap(directions[0], directions[1]);
              continue;
            }
          step.d = directions[0];
          if (!set)
            matrix->subtract_product_owned(r, from, rhs, transpose);
          SpaceType::call([&] { Blocks::polynomial_step(rows, step); });
        }
    }



    template <typename MatrixType>
    bool
    BlockData<MatrixType>::has_product_step() const
    {
      if constexpr (on_device)
        return matrix->has_external_product()
                 ? bool(external_step)
                 : SpaceType::call(
                     [&] { return Device::has_product_step<Number>(rows); });
      else
        return false;
    }



    template <typename MatrixType>
    void
    BlockData<MatrixType>::multiply_and_step(
      const Device::ProductStep<Number> &product) const
    {
      if constexpr (on_device)
        {
          if (external_step)
            external_step(product);
          else
            SpaceType::call([&] { Device::product_step(rows, product); });
        }
      else
        (void)product;
    }



    template <typename MatrixType>
    void
    BlockData<MatrixType>::relax(const bool    ascending,
                                 const Number *b,
                                 Number       *x) const
    {
      const unsigned int n_colors = color_offset.size() - 1;
      for (unsigned int i = 0; i < n_colors; ++i)
        {
          const unsigned int c      = ascending ? i : n_colors - 1 - i;
          const Number      *ghosts = nullptr;
          if (halo != nullptr)
            {
              halo->start(x);
              ghosts = halo->finish();
            }
          SpaceType::call([&] {
            Blocks::relax(rows,
                          {matrix->values(),
                           inverse.data(),
                           color_list.data() + color_offset[c],
                           color_offset[c + 1] - color_offset[c],
                           b,
                           ghosts,
                           x});
          });
        }
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
             order.memory_consumption() + ordered_offset.memory_consumption() +
             inverse.memory_consumption() + color_list.memory_consumption();
    }



    template class BlockData<HostBlockMatrix<double>>;
    template class BlockData<HostBlockMatrix<float>>;
    template class BlockData<DeviceBlockMatrix<double>>;
    template class BlockData<DeviceBlockMatrix<float>>;
  } // namespace internal
} // namespace Tessella
