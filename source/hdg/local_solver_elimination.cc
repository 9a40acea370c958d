// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Elimination of u and q from the local problem of a polytope.

#include <algorithm>
#include <limits>

#include "../lac/dense.h"
#include "local_solver.h"

namespace Tessella
{
  using namespace dealii;

  namespace internal
  {
    template <int dim>
    void
    LocalSolver<dim>::factorise(const unsigned int n_rows)
    {
      const unsigned int n = n_basis;
      // V' = L^-1 H, W' = L^-1 F
      factorise_mass();
      apply_mass_factor(n, A_inverse, Ht, Vt);
      apply_mass_factor(n_rows, A_inverse, Ft, Wt);
      const Rows V = {n, Vt.data(), stride};

      // 1/Z
      product(V, V, stride, E.data(), n_padded, true, !advection);

      // Y_R = R + H^T A^-1 F, and Y_T likewise
      Yt.assign(std::size_t(n_rows) * n_padded, 0.);
      product(
        {n_rows, Wt.data(), stride}, V, stride, Yt.data(), n_padded, false);
      for (std::size_t i = 0; i < Yt.size(); ++i)
        {
          Rt[i] += Yt[i];
          if (advection)
            Tt[i] += Yt[i];
        }

      U.assign(Yt.size(), 0.);
      Z.resize(E.size());
      if (!(advection ? solve_general(n_rows) : solve_symmetric(n_rows)))
        problem.throw_failure(Device::HDGFailure::schur_complement, polytope);
    }



    template <int dim>
    void
    LocalSolver<dim>::factorise_mass()
    {
      const unsigned int pivot = Dense::cholesky(n_mass, A.data(), n_mass);
      if (pivot != n_mass)
        problem.throw_failure(Device::HDGFailure::diffusion, polytope);
      A_inverse.resize(A.size());
      Dense::invert_lower(n_mass, A.data(), n_mass, A_inverse.data(), n_mass);
      const unsigned int n = n_mass / n_padded * n_basis;
      n_operations += 2 * std::uint64_t(n) * n * n / 3;
    }



    template <int dim>
    void
    LocalSolver<dim>::apply_mass_factor(const unsigned int         n_vectors,
                                        const std::vector<double> &factor,
                                        const std::vector<double> &from,
                                        std::vector<double>       &to)
    {
      to.resize(std::size_t(n_vectors) * stride);
      for (unsigned int d = 0; d < (tensor ? 1 : dim); ++d)
        product({n_vectors, from.data() + d * n_padded, stride},
                {n_mass, factor.data(), n_mass},
                n_mass,
                to.data() + d * n_padded,
                stride,
                false);
    }



    template <int dim>
    void
    LocalSolver<dim>::multiply(const unsigned int         n_rows,
                               const std::vector<double> &left,
                               const std::vector<double> &right,
                               std::vector<double>       &result)
    {
      product({n_rows, left.data(), n_padded},
              {n_basis, right.data(), n_padded},
              n_padded,
              result.data(),
              n_padded,
              false);
    }



    template <int dim>
    bool
    LocalSolver<dim>::solve_symmetric(const unsigned int n_rows)
    {
      const unsigned int n = n_basis;
      Dense::mirror(n, E.data(), n_padded);
      bool regular = Dense::cholesky(n_padded, E.data(), n_padded) == n_padded;
      // Only tau and c control the polynomials of highest degree that are
      // orthogonal to all lower degrees, since H maps these to zero.
      double smallest = std::numeric_limits<double>::max(), largest = 0.;
      for (unsigned int i = 0; i < n; ++i)
        {
          const double root = E[std::size_t(i) * (n_padded + 1)];
          smallest          = std::min(smallest, root);
          largest           = std::max(largest, root);
        }
      n_operations += 2 * std::uint64_t(n) * n * n / 3;
      regular = regular && smallest > 1e-7 * largest;
      if (!regular)
        return false;
      Dense::invert_lower(n_padded, E.data(), n_padded, Z.data(), n_padded);
      // Y' = L^-1 Y, U = L^-T Y'
      multiply(n_rows, Rt, Z, Yt);
      transposed.resize(Z.size());
      Dense::transpose(
        n_padded, n_padded, Z.data(), n_padded, transposed.data(), n_padded);
      multiply(n_rows, Yt, transposed, U);
      return true;
    }



    template <int dim>
    bool
    LocalSolver<dim>::solve_general(const unsigned int n_rows)
    {
      const unsigned int n = n_basis;
      Z                    = E;
      n_operations += 2 * std::uint64_t(n) * n * n;
      if (!Dense::invert(n_padded, Z.data(), n_padded))
        return false;
      multiply(n_rows, Tt, Z, U);
      return true;
    }



    template <int dim>
    void
    LocalSolver<dim>::recover(const unsigned int n_rows)
    {
      // q = L^-T (W' lambda - V' u)
      std::vector<double> &V = transposed;
      V.assign(std::size_t(stride) * n_padded, 0.);
      Dense::transpose(n_basis, stride, Vt.data(), stride, V.data(), n_padded);
      for (std::size_t i = 0; i < U.size(); ++i)
        Yt[i] = -U[i];
      product({n_rows, Yt.data(), n_padded},
              {stride, V.data(), n_padded},
              n_padded,
              Wt.data(),
              stride,
              true);
      transposed.resize(A.size());
      Dense::transpose(
        n_mass, n_mass, A_inverse.data(), n_mass, transposed.data(), n_mass);
      apply_mass_factor(n_rows, transposed, Wt, Q);
      local_basis.to_box(n_rows, U.data(), n_padded);
      local_basis.to_box(n_rows * dim, Q.data(), n_padded);
    }



    template <int dim>
    void
    LocalSolver<dim>::eliminate(const bool recovery)
    {
      const unsigned int n_rows = n_traces + 1;
      std::copy(load.begin(),
                load.end(),
                (advection ? Tt : Rt).begin() +
                  std::size_t(n_traces) * n_padded);
      factorise(n_rows);

      // ---- K
      const Rows W = {n_rows, Wt.data(), stride};
      product(W, W, stride, K.data(), n_rows, true, !advection);
      Xt.resize(Yt.size());
      const std::vector<double> &left = advection ? Rt : Yt;
      for (std::size_t i = 0; i < Xt.size(); ++i)
        Xt[i] = -left[i];
      product({n_rows, Xt.data(), n_padded},
              {n_rows, advection ? U.data() : Yt.data(), n_padded},
              n_padded,
              K.data(),
              n_rows,
              true,
              !advection);
      if (!advection)
        Dense::mirror(n_rows, K.data(), n_rows);
      if (recovery)
        recover(n_rows);
    }



    template <int dim>
    void
    LocalSolver<dim>::solve(const double *lambda)
    {
      // Combine all rows into one.
      std::vector<double> &T       = advection ? Tt : Rt;
      const auto           combine = [&](std::vector<double> &rows,
                               const unsigned int   n) {
        std::vector<double> sum(n, 0.);
        for (unsigned int m = 0; m < n_traces; ++m)
          for (unsigned int i = 0; i < n; ++i)
            sum[i] += lambda[m] * rows[std::size_t(m) * n + i];
        std::copy(sum.begin(), sum.end(), rows.begin());
      };
      combine(Ft, stride);
      combine(T, n_padded);
      for (unsigned int i = 0; i < n_basis; ++i)
        T[i] += load[i];
      factorise(1);
      recover(1);
    }



    template void
    LocalSolver<2>::eliminate(const bool);
    template void
    LocalSolver<3>::eliminate(const bool);
    template void
    LocalSolver<2>::solve(const double *);
    template void
    LocalSolver<3>::solve(const double *);
  } // namespace internal
} // namespace Tessella
