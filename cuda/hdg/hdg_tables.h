// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_hdg_hdg_tables_h
#define tessella_cuda_hdg_hdg_tables_h

#include <vector>

#include "../backends/assembly.h"

// Tables of functions and rules on the reference box, on the host. Members have
// the names of the members of HDGData that point to their copies.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Derivatives of the functions on the box in terms of these functions.
      struct HDGDerivatives
      {
        std::vector<unsigned int> derivative_begin, derivative_function;
        std::vector<double>       derivative_factor;
      };

      /// Derivatives of the first @p n_basis functions.
      HDGDerivatives
      make_derivatives(const unsigned int                dim,
                       const std::vector<unsigned char> &exponents,
                       const unsigned int                n_basis);

      /// Moments, of which products of two functions are sums.
      struct HDGMoments
      {
        std::vector<unsigned int> moment_row;
        unsigned int              n_source_rows = 0;
        std::vector<unsigned int> product_begin, product_moment;
        std::vector<double>       product_factor;
        std::vector<unsigned int> function_moment;
      };

      /// Moments for the first @p n_basis functions of degree up to @p
      /// max_degree.
      HDGMoments
      make_moments(const unsigned int                dim,
                   const std::vector<unsigned char> &exponents,
                   const unsigned int                n_basis,
                   const unsigned int                max_degree,
                   const bool                        tensor_product);

      /// The one-dimensional rules whose products are the rules of bricks.
      struct HDGLineRules
      {
        /// False if some rule of a brick is not such a product; the other
        /// members are then not set.
        bool                valid       = false;
        unsigned int        line_stride = 1;
        unsigned char       n_line_points[11];
        std::vector<double> line_rule;
      };

      HDGLineRules
      make_line_rules(const unsigned int dim, const RuleTables &rules);
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
