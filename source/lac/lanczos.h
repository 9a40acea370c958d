// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_lac_lanczos_h
#define tessella_source_lac_lanczos_h

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "block_space.h"

// Estimates of the largest eigenvalue of M^{-1} A for a matrix A and any
// preconditioner M.

namespace Tessella
{
  namespace internal
  {
    /// Fills @p array with pseudo-random numbers in (-1/2, 1/2) for the rows of
    /// this process, which depend on the global row only, so that they are the
    /// same for every number of processes.
    template <typename MatrixType, typename Array>
    void
    set_pseudo_random(const MatrixType &matrix, Array &array)
    {
      const std::uint64_t first =
        matrix.partition() == nullptr ? 0 : matrix.partition()->first_row();
      array.resize(matrix.n_owned_rows());
      Space<MatrixType>::set_pseudo_random(array.size(), first, array.data());
    }



    /// Largest eigenvalue of a symmetric tridiagonal matrix, by bisection with
    /// Sturm sequences.
    inline double
    largest_tridiagonal_eigenvalue(const std::vector<double> &diagonal,
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
      for (unsigned int i = 0; i < 60; ++i)
        {
          const double middle = 0.5 * (low + high);
          (n_below(middle) >= diagonal.size() ? high : low) = middle;
        }
      return 0.5 * (low + high);
    }

    /**
     * Largest eigenvalue of M^{-1} A on a Krylov space, a lower bound of the
     * true one: @p n_steps of Lanczos' method for a symmetric matrix A and a
     * symmetric preconditioner M, from set_pseudo_random(). A value that is not
     * positive says that A or M is not positive definite.
     * precondition(r, z) computes z = M^{-1} r in the memory space of the
     * matrix. @p singular: whether A has a null space and is otherwise positive
     * definite. Collective. Cost: @p n_steps products and applications.
     */
    template <typename MatrixType, typename Precondition>
    double
    lanczos_eigenvalue(const MatrixType   &matrix,
                       const unsigned int  n_steps,
                       const bool          singular,
                       const Precondition &precondition)
    {
      using Data          = BlockData<MatrixType>;
      using Number        = typename Data::Number;
      using SpaceType     = typename Data::SpaceType;
      using Blocks        = typename Data::Blocks;
      using Array         = typename Data::template Array<Number>;
      const std::size_t n = matrix.n_owned_rows();
      Array             r, z, p, q;
      set_pseudo_random(matrix, r);
      z.resize(n);
      p.resize(n);
      q.resize(n);
      const auto dot = [&](const Array &x, const Array &y) {
        return value_of_all(matrix.communicator(), SpaceType::call([&] {
                              return Blocks::dot(n, x.data(), y.data());
                            }));
      };
      // Conjugate gradient method with this preconditioner. Its coefficients
      // are those of Lanczos' method for M^{-1} A.
      if (singular)
        {
          // The start is then in the range of the matrix, where it is positive
          // definite.
          matrix.vmult_owned(q.data(), r.data());
          SpaceType::call([&] { Blocks::copy(n, q.data(), r.data()); });
        }
      std::vector<double> diagonal, off_diagonal;
      double              rz = 0., alpha = 0., beta = 0.;
      for (unsigned int step = 0; step < n_steps; ++step)
        {
          precondition(r.data(), z.data());
          const double next = dot(r, z);
          // The Krylov space is exhausted (small matrix): all eigenvalues are
          // found.
          if (step > 0 && std::abs(next) <= 1e-14 * rz)
            break;
          beta = step > 0 ? next / rz : 0.;
          rz   = next;
          SpaceType::call([&] {
            if (step > 0)
              Blocks::scale_add(n, Number(beta), z.data(), p.data());
            else
              Blocks::copy(n, z.data(), p.data());
          });
          matrix.vmult_owned(q.data(), p.data());
          const double pq             = dot(p, q);
          const double alpha_previous = alpha;
          if (!(rz > 0. && pq > 0. && std::isfinite(pq)))
            return 0.;
          alpha = rz / pq;
          diagonal.push_back(1. / alpha +
                             (step > 0 ? beta / alpha_previous : 0.));
          if (step > 0)
            off_diagonal.push_back(std::sqrt(beta) / alpha_previous);
          SpaceType::call(
            [&] { Blocks::add(n, Number(-alpha), q.data(), r.data()); });
        }
      return largest_tridiagonal_eigenvalue(diagonal, off_diagonal);
    }
  } // namespace internal
} // namespace Tessella

#endif
