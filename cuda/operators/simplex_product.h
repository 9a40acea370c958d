// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_operators_simplex_product_h
#define tessella_cuda_operators_simplex_product_h

#include <cstddef>
#include <memory>

#include "../lac/block_matrix.h"
#include "simplex_data.h"
#include "simplex_nodes.h"

// Products without a matrix on affine simplices, in plain types. Kernels run in
// the default stream.

namespace Tessella
{
  namespace internal
  {
    struct SimplexReference;

    namespace Device
    {
      /**
       * Product of the operator of SimplexData with vectors in device memory.
       * The algorithm is that of HostSimplexProduct, in three kernels: values
       * at nodes, by a thread per simplex; rows of Lagrange polynomials, by a
       * warp for 16 simplices, on the matrix units, whose other operands are
       * the constant matrices of SimplexReference; and rows of basis functions,
       * by a thread per simplex. There are no atomic operations: results have
       * the same bits in each run.
       */
      class SimplexProduct
      {
      public:
        /// Largest degree for which there are kernels.
        static constexpr unsigned int
        max_degree(const unsigned int dim)
        {
          return SimplexNodes::max_degree(dim);
        }

        SimplexProduct(const SimplexData      &data,
                       const SimplexReference &reference);
        ~SimplexProduct();

        /// See HostSimplexProduct::vmult().
        void
        vmult(const Destination<double> &dst,
              const double              *src,
              const double              *ghosts,
              const bool                 transpose) const;

        /// The three kernels by themselves, for measurements: values at nodes
        /// of src, rows of Lagrange polynomials in @p y, and the result.
        void
        evaluate_at_nodes(const double *src, const double *ghosts) const;
        void
        nodal_rows(double *y, const bool transpose) const;
        void
        basis_rows(const double *y, const Destination<double> &dst) const;

        std::size_t
        memory_consumption() const;

      private:
        struct Implementation;
        std::unique_ptr<Implementation> implementation;
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
