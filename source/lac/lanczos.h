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

    /// Numbers of steps and factors of the estimates of
    /// BlockData::largest_eigenvalue().
    constexpr unsigned int n_lanczos_steps = 10, n_power_steps = 20;
    constexpr double       lanczos_margin = 1.1, power_margin = 1.2;

    /// Tridiagonal matrix of Lanczos' method for M^{-1} A from the scalar
    /// products of the conjugate gradient method with the preconditioner M.
    class LanczosMatrix
    {
    public:
      /// Takes r^T M^{-1} r of the next step. Returns false if the Krylov space
      /// is exhausted, as that of a small matrix may be: all eigenvalues are
      /// found then.
      bool
      begin_step(const double product)
      {
        if (!diagonal.empty() && std::abs(product) <= 1e-14 * rz)
          return false;
        beta = diagonal.empty() ? 0. : product / rz;
        rz   = product;
        return true;
      }

      /// Takes p^T A p of the step. Returns false if A or M is not positive
      /// definite.
      bool
      end_step(const double product)
      {
        if (!(rz > 0. && product > 0. && std::isfinite(product)))
          return false;
        const double previous = alpha;
        const bool   is_first = diagonal.empty();
        alpha                 = rz / product;
        diagonal.push_back(1. / alpha + (is_first ? 0. : beta / previous));
        if (!is_first)
          off_diagonal.push_back(std::sqrt(beta) / previous);
        return true;
      }

      double
      largest_eigenvalue() const
      {
        return largest_tridiagonal_eigenvalue(diagonal, off_diagonal);
      }

      /// Coefficients of the present step.
      double alpha = 0., beta = 0.;

    private:
      double              rz = 0.;
      std::vector<double> diagonal, off_diagonal;
    };

    /// Estimate of the power method from the squares of the norms of its
    /// vectors.
    class PowerMethod
    {
    public:
      /// Takes the square of the norm of the next vector. Returns false if the
      /// method ends with it.
      bool
      add(const double square)
      {
        norm = std::sqrt(square);
        if (!(norm > 0.) || !std::isfinite(norm))
          return false;
        eigenvalue = is_first ? 1. : norm;
        is_first   = false;
        return true;
      }

      double norm = 0., eigenvalue = 1.;

    private:
      bool is_first = true;
    };

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
      LanczosMatrix lanczos;
      for (unsigned int step = 0; step < n_steps; ++step)
        {
          precondition(r.data(), z.data());
          if (!lanczos.begin_step(dot(r, z)))
            break;
          SpaceType::call([&] {
            if (step > 0)
              Blocks::scale_add(n, Number(lanczos.beta), z.data(), p.data());
            else
              Blocks::copy(n, z.data(), p.data());
          });
          matrix.vmult_owned(q.data(), p.data());
          if (!lanczos.end_step(dot(p, q)))
            return 0.;
          SpaceType::call([&] {
            Blocks::add(n, Number(-lanczos.alpha), q.data(), r.data());
          });
        }
      return lanczos.largest_eigenvalue();
    }
  } // namespace internal
} // namespace Tessella

#endif
