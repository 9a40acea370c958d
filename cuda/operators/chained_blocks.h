// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_operators_chained_blocks_h
#define tessella_cuda_operators_chained_blocks_h

#include <tessella/portable/host_device.h>

#include <cstdint>

// Last steps of the Jacobians of a PointwiseOperator, for device memory: the
// check of their entries, and what add_chained_jacobian() adds. The kernels run
// in current_stream(), see graph.h.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Block rows of a matrix as in BlockSparsity; dof_offset has the columns
      /// of ghosts, too.
      struct ChainedRows
      {
        const std::uint64_t *dof_offset, *block_offset, *value_offset;
        const unsigned int  *block_column, *column_offset, *row_width;
      };

      /**
       * Adds to each block (k, j) of the block rows from @p begin to @p end - 1
       * of @p values the product of the first column of the same block of
       * @p given and the row of the entries of @p derivative that belong to
       * polytope j. Entry 0 of @p given is the first value of row @p begin.
       */
      void
      add_chained_blocks(const ChainedRows  &rows,
                         const unsigned int  begin,
                         const unsigned int  end,
                         const std::uint64_t first_value,
                         const double       *given,
                         const double       *derivative,
                         double             *values);

      /// Looks for derivatives of a functor that are not finite in the block
      /// rows @p begin .. @p end - 1 of a Jacobian with @p n_test and @p
      /// n_trial components, whose entries from number @p first_value on are @p
      /// values. A derivative is a factor of all entries of the sub-block of
      /// its pair of components, so that one entry of each sub-block tells.
      /// Leaves the smallest polytope_error_code() in @p error. @p n_basis:
      /// functions of each polytope and component. With null pointers in place
      /// of the members of @p rows that concern blocks, the rows have a
      /// diagonal block alone. Cost: reads one entry of each sub-block.
      void
      check_blocks(const ChainedRows  &rows,
                   const unsigned int  n_test,
                   const unsigned int  n_trial,
                   const unsigned int *n_basis,
                   const unsigned int  begin,
                   const unsigned int  end,
                   const std::uint64_t first_value,
                   const double       *values,
                   unsigned long long *error);

      /// As pointwise_error_code(), for a component of the test functions and a
      /// polytope in place of a point.
      constexpr unsigned long long polytope_error = 1ull << 62;
      TESSELLA_HOST_DEVICE constexpr unsigned long long
      polytope_error_code(const unsigned long long polytope,
                          const unsigned int       component)
      {
        return polytope_error | polytope << 12 | component;
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
