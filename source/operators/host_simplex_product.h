// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_operators_host_simplex_product_h
#define tessella_source_operators_host_simplex_product_h

#include <tessella/base/backend.h>

#include <cstddef>
#include <functional>
#include <vector>

#include "../../cuda/lac/block_matrix.h"
#include "../../cuda/operators/simplex_data.h"
#include "host_simplex_kernels.h"
#include "simplex_batches.h"
#include "simplex_reference.h"

namespace Tessella
{
  namespace internal
  {
    /**
     * Product of the operator of SimplexData with a vector on the host, in
     * three steps: values of the function at the nodes of SimplexReference on
     * every simplex, ghosts included; the rows of Lagrange polynomials, from
     * these values and those of neighbours; and the rows of the basis
     * functions. Nothing is approximated. The order of steps is that of the
     * kernel on a CUDA device, for which this is a reference.
     *
     * Vectors of the processor have one number of each of several simplices, so
     * that constant matrices are read once for all of them.
     */
    class HostSimplexProduct
    {
    public:
      explicit HostSimplexProduct(
        SimplexData        &&data,
        const InstructionSet instruction_set = InstructionSet::automatic);
      HostSimplexProduct(const HostSimplexProduct &) = delete;

      /// Computes A src, or A^T src if @p transpose. @p ghosts has the entries
      /// of simplices from n_rows on. All threads share the work; the result
      /// has the same bits for any number of them. Not for several products at
      /// once, since they share a buffer. A^T needs a form without advection.
      void
      vmult(const Device::Destination<double> &dst,
            const double                      *src,
            const double                      *ghosts,
            const bool                         transpose) const;

      /// Multiplications and additions of one product with constant matrices
      /// and basis functions; the evaluation of the latter is not counted.
      double
      n_operations() const
      {
        return n_operations(data, reference);
      }
      static double
      n_operations(const SimplexData &data, const SimplexReference &reference);

      std::size_t
      memory_consumption() const;

    private:
      /// Stores a matrix in tiles.
      HostSimplexKernels::Matrix
      pack(const unsigned int                                       n_rows,
           const unsigned int                                       n_columns,
           const std::function<double(unsigned int, unsigned int)> &entry);
      void
      set_matrices();
      /// Moves the numbers of each simplex to its batch.
      void
      make_batches();

      /// Its arrays are empty: the batches have the numbers.
      SimplexData                        data;
      SimplexReference                   reference;
      const HostSimplexKernels::Kernels &kernels;
      HostSimplexKernels::Operator       op;
      /// Constant matrices, to which op points.
      std::vector<SimplexMatrix> matrices;
      /// See order_of_functions().
      std::vector<unsigned int> place;
      /// Batch by batch, value by value.
      std::vector<double>         corners, coefficients;
      std::vector<unsigned int>   neighbors;
      mutable std::vector<double> nodal;
    };
  } // namespace internal
} // namespace Tessella

#endif
