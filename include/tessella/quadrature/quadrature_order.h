// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_quadrature_quadrature_order_h
#define tessella_quadrature_quadrature_order_h

#include <tessella/quadrature/reference_quadrature.h>

#include <algorithm>

namespace Tessella
{
  namespace internal
  {
    /**
     * Total degree of an integrand in @p dim variables: the product of two
     * functions of a space of degree p and of a factor, such as a coefficient,
     * that counts as a polynomial of degree @p extra_order. In spaces of total
     * degree it is 2 p + extra_order. Functions of a tensor product space have
     * degree p in each variable and total degree dim p, so that it is
     * 2 dim p + extra_order.
     */
    constexpr unsigned int
    integrand_degree(const unsigned int dim,
                     const unsigned int degree,
                     const unsigned int extra_order,
                     const bool         tensor_product)
    {
      return 2 * degree * (tensor_product ? dim : 1) + extra_order;
    }

    /**
     * Order of the quadrature for such an integrand: its total degree, but at
     * least one. The function subcell_rule() adds the degree of the map of a
     * cell.
     *
     * On cells that are aligned with the axes, functions of tensor product
     * spaces have degree p in each variable of the reference cell as well, and
     * the order of a space of total degree suffices: pass false for
     * @p tensor_product. What tensor product spaces need beyond that order ends
     * two below the largest order that is available, since the maps of cells
     * add up to two.
     */
    inline unsigned int
    quadrature_order(const unsigned int dim,
                     const unsigned int degree,
                     const unsigned int extra_order,
                     const bool         tensor_product)
    {
      const unsigned int least =
        std::max(integrand_degree(dim, degree, extra_order, false), 1u);
      if (!tensor_product)
        return least;
      return std::max(least,
                      std::min(integrand_degree(dim, degree, extra_order, true),
                               max_quadrature_order - 2));
    }
  } // namespace internal
} // namespace Tessella

#endif
