// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "local_basis.h"

#include <deal.II/base/exceptions.h>

#include <tessella/portable/legendre.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "../backends/host_points.h"
#include "../lac/dense.h"

namespace Tessella
{
  using namespace dealii;

  namespace internal
  {
    std::vector<unsigned char>
    legendre_exponents(const int          dim,
                       const unsigned int degree,
                       const bool         tensor_product)
    {
      std::vector<unsigned char> exponents(
        dim * Legendre::n_functions(dim, degree, tensor_product));
      Legendre::exponents(dim, degree, tensor_product, exponents.data());
      return exponents;
    }



    template <int dim>
    LocalBasis<dim>::LocalBasis(const HostKernels::Kernels<dim>  &kernels,
                                const std::vector<unsigned char> &exponents,
                                const bool tensor_product)
      : kernels(kernels)
      , exponents(exponents)
      , tensor_product(tensor_product)
    {}



    template <int dim>
    void
    LocalBasis<dim>::reinit(const PolytopicMesh<dim> &mesh,
                            const PolytopicDoFs      &dofs,
                            const unsigned int        k,
                            const unsigned int        order)
    {
      n           = dofs.n_basis[k];
      n_padded    = padded(n);
      transformed = false;
      space       = {dofs.degree[k],
                     n,
                     exponents.data(),
                     &mesh.box[2 * std::size_t(dim) * k],
                     tensor_product};
      // Each pass reduces a condition number of up to 1e16 by a factor of about
      // 1e13.
      for (unsigned int pass = 0; pass < 6; ++pass)
        {
          add_mass(mesh, k, order);
          double largest = 0.;
          for (unsigned int i = 0; i < n; ++i)
            largest = std::max(largest, mass[std::size_t(i) * (n_padded + 1)]);
          inverse      = mass;
          bool regular = Dense::cholesky(n, mass.data(), n_padded) == n;
          if (!regular)
            {
              mass = inverse;
              for (unsigned int i = 0; i < n; ++i)
                mass[std::size_t(i) * (n_padded + 1)] += 1e-13 * n * largest;
              AssertThrow(
                largest > 0. && Dense::cholesky(n, mass.data(), n_padded) == n,
                ExcMessage("The basis functions of degree " +
                           std::to_string(dofs.degree[k]) +
                           " are linearly dependent on polytope " +
                           std::to_string(k) +
                           ": it has no volume, or is too thin within its "
                           "bounding box. Use a lower degree or another "
                           "agglomeration."));
            }
          n_operations += 2 * std::uint64_t(n) * n * n / 3;
          Dense::invert_lower(
            n, mass.data(), n_padded, inverse.data(), n_padded);
          // The largest coefficients of orthonormal functions tell how close to
          // linear dependence the present functions are. Pivots do not.
          double square = 0.;
          for (unsigned int i = 0; i < n; ++i)
            for (unsigned int j = 0; j <= i; ++j)
              {
                const double c = inverse[std::size_t(i) * n_padded + j];
                square += c * c;
              }
          if (pass == 0 && regular && square * largest < 1e3 * n)
            return;
          if (pass == 0)
            C = inverse;
          else
            {
              scratch = C;
              Dense::multiply_lower(n,
                                    inverse.data(),
                                    n_padded,
                                    scratch.data(),
                                    n_padded,
                                    C.data());
            }
          transformed = true;
          if (pass > 0 && regular && std::abs(square - n) < 1e-3)
            break;
          AssertThrow(pass < 5,
                      ExcMessage(
                        "The basis functions of degree " +
                        std::to_string(dofs.degree[k]) +
                        " are linearly dependent up to rounding on "
                        "polytope " +
                        std::to_string(k) +
                        ": it is too thin within its bounding box. Use "
                        "a lower degree or another agglomeration."));
        }
      transposed.assign(std::size_t(n_padded) * n_padded, 0.);
      Dense::transpose(n, n, C.data(), n_padded, transposed.data(), n_padded);
    }



    template <int dim>
    void
    LocalBasis<dim>::add_mass(const PolytopicMesh<dim> &mesh,
                              const unsigned int        k,
                              const unsigned int        order)
    {
      constexpr unsigned int slice = 64;
      double                 x[dim][slice], w[slice], one[slice];
      std::fill(one, one + slice, 1.);
      const double *points[dim];
      for (unsigned int d = 0; d < dim; ++d)
        points[d] = x[d];
      mass.assign(std::size_t(n_padded) * n_padded, 0.);
      unsigned int m          = 0;
      const auto   add_points = [&] {
        const unsigned int m_padded = padded(m), stride = (dim + 1) * m_padded;
        for (unsigned int q = m; q < m_padded; ++q)
          {
            for (unsigned int d = 0; d < dim; ++d)
              x[d][q] = x[d][m - 1];
            w[q] = 0.;
          }
        evaluate_box(points, m_padded, basis);
        transform(m_padded, basis);
        weighted.resize(std::size_t(n) * m_padded);
        kernels.directional(nullptr,
                            one,
                            w,
                            m_padded,
                            n,
                            basis.data(),
                            stride,
                            m_padded,
                            weighted.data(),
                            m_padded);
        kernels.product({n, weighted.data(), m_padded, 0},
                        {n, basis.data(), stride, 0},
                        1,
                        m_padded,
                        mass.data(),
                        n_padded,
                        true,
                        true);
        n_operations += std::uint64_t(n) * n * m_padded;
        m = 0;
      };
      for (unsigned int s = mesh.subcell_offset[k];
           s < mesh.subcell_offset[k + 1];
           ++s)
        {
          quadrature.reinit_subcell(mesh, s, order);
          for (unsigned int q = 0; q < quadrature.size(); ++q)
            {
              for (unsigned int d = 0; d < dim; ++d)
                x[d][m] = quadrature.x[d][q];
              w[m] = quadrature.JxW[q];
              if (++m == slice)
                add_points();
            }
        }
      if (m > 0)
        add_points();
      Dense::mirror(n, mass.data(), n_padded);
    }



    template <int dim>
    void
    LocalBasis<dim>::evaluate_box(const double *const *x,
                                  const unsigned int   m,
                                  std::vector<double> &result) const
    {
      result.resize(std::max(result.size(), std::size_t(n) * (dim + 1) * m));
      kernels.evaluate_basis(space, x, m, result.data(), (dim + 1) * m, m);
    }



    template <int dim>
    void
    LocalBasis<dim>::transform(const unsigned int m, std::vector<double> &rows)
    {
      if (!transformed)
        return;
      const unsigned int length = (dim + 1) * m;
      scratch.assign(rows.begin(), rows.begin() + std::size_t(n) * length);
      Dense::multiply_lower(
        n, C.data(), n_padded, scratch.data(), length, rows.data());
      n_operations += std::uint64_t(n) * n * length;
    }



    template <int dim>
    void
    LocalBasis<dim>::to_box(const unsigned int n_rows,
                            double            *rows,
                            const unsigned int stride)
    {
      if (!transformed)
        return;
      scratch.assign(std::size_t(n_rows) * n_padded, 0.);
      for (unsigned int i = 0; i < n_rows; ++i)
        std::copy_n(rows + std::size_t(i) * stride,
                    n,
                    scratch.begin() + std::size_t(i) * n_padded);
      kernels.product({n_rows, scratch.data(), n_padded, 0},
                      {n, transposed.data(), n_padded, 0},
                      1,
                      n_padded,
                      rows,
                      stride,
                      false,
                      false);
      n_operations += 2 * std::uint64_t(n_rows) * n * n;
    }



    template class LocalBasis<2>;
    template class LocalBasis<3>;
  } // namespace internal
} // namespace Tessella
