// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_operators_simplex_batches_h
#define tessella_source_operators_simplex_batches_h

#include <tessella/base/backend.h>

#include <cstddef>
#include <functional>
#include <vector>

#include "host_simplex_kernels.h"

// Functions and classes that users of HostSimplexKernels share.

namespace Tessella
{
  namespace internal
  {
    /// The kernels of an instruction set.
    const HostSimplexKernels::Kernels &
    select_simplex_kernels(const InstructionSet instruction_set);

    /// A constant matrix in the tiles of HostSimplexKernels::Matrix. An object
    /// that is moved keeps its entries where they are.
    class SimplexMatrix
    {
    public:
      SimplexMatrix() = default;
      SimplexMatrix(
        const unsigned int                                       n_rows,
        const unsigned int                                       n_columns,
        const std::function<double(unsigned int, unsigned int)> &entry);
      SimplexMatrix(SimplexMatrix &&) = default;
      SimplexMatrix &
      operator=(SimplexMatrix &&) = default;

      HostSimplexKernels::Matrix
      view() const
      {
        return {values.data(), n_rows, n_columns};
      }

    private:
      unsigned int        n_rows = 0, n_columns = 0;
      std::vector<double> values;
    };

    /// Position of each basis function of degree @p p in the order of the
    /// kernels, in which the exponent of the last variable varies fastest, then
    /// the one before.
    std::vector<unsigned int>
    order_of_functions(const unsigned int dim, const unsigned int p);

    /// Moves @p corners of SimplexData, with @p n simplices, to batches. Lanes
    /// without a simplex repeat the last one.
    std::vector<double>
    batches_of_corners(const std::vector<double> &corners,
                       const unsigned int         dim,
                       const std::size_t          n,
                       const unsigned int         lanes);
  } // namespace internal
} // namespace Tessella

#endif
