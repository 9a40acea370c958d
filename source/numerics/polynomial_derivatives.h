// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_numerics_polynomial_derivatives_h
#define tessella_source_numerics_polynomial_derivatives_h

#include <deal.II/base/utilities.h>

#include <tessella/grid/polytopic_dofs.h>
#include <tessella/grid/polytopic_mesh.h>
#include <tessella/portable/legendre.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace Tessella
{
  namespace internal
  {
    /// Computes coefficients of derivatives of polynomials in the Legendre
    /// basis of a bounding box. Each thread needs its own object.
    template <int dim>
    class PolynomialDerivatives
    {
    public:
      explicit PolynomialDerivatives(const bool tensor)
        : tensor(tensor)
      {}

      /// Computes result[i], i = 0 .. n_basis-1: coefficients of d u / d x_@p
      /// direction.
      void
      compute(const PolytopicMesh<dim> &mesh,
              const PolytopicDoFs      &dofs,
              const unsigned int        k,
              const double             *u,
              const int                 direction,
              std::vector<double>      &result)
      {
        const unsigned int p = dofs.degree[k], n = dofs.n_basis[k];
        Table             &table = tables[p];
        if (table.exponents.empty())
          {
            table.exponents.resize(std::size_t(n) * dim);
            Legendre::exponents(dim, p, tensor, table.exponents.data());
            table.index.assign(dealii::Utilities::pow(p + 1, dim),
                               invalid_index);
            for (unsigned int i = 0; i < n; ++i)
              table.index[position(&table.exponents[i * dim], p)] = i;
          }
        const double *const box    = &mesh.box[std::size_t(k) * 2 * dim];
        const double        extent = box[dim + direction] - box[direction];
        result.assign(n, 0.);
        unsigned char e[dim];
        for (unsigned int i = 0; i < n; ++i)
          {
            std::copy_n(&table.exponents[i * dim], dim, e);
            const unsigned int m = e[direction];
            // P_m' = (2m-1) P_{m-1} + (2m-5) P_{m-3} + ...; the basis
            // functions are sqrt(2m+1) P_m.
            for (unsigned int l = m; l-- > 0;)
              if ((m - l) % 2 == 1)
                {
                  e[direction] = static_cast<unsigned char>(l);
                  result[table.index[position(e, p)]] +=
                    2. / extent * std::sqrt((2. * m + 1.) * (2. * l + 1.)) *
                    u[i];
                }
          }
      }

    private:
      struct Table
      {
        std::vector<unsigned char> exponents;
        std::vector<unsigned int>  index; // indexed by position()
      };

      static unsigned int
      position(const unsigned char *e, const unsigned int p)
      {
        unsigned int result = 0;
        for (int d = 0; d < dim; ++d)
          result = result * (p + 1) + e[d];
        return result;
      }

      const bool                                  tensor;
      std::array<Table, Legendre::max_degree + 1> tables;
    };
  } // namespace internal
} // namespace Tessella

#endif
