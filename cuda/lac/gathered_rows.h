// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_lac_gathered_rows_h
#define tessella_cuda_lac_gathered_rows_h

#include <cstdint>

// Products of dense pieces of a matrix whose rows and columns are anywhere in a
// vector, in plain types.

namespace Tessella
{
  namespace internal
  {
    /// Up to gathered_rows_of_piece rows with common columns, of which the
    /// first n_first refer to one vector and the other ones to another vector.
    struct GatheredPiece
    {
      /// Index of the first value. All pieces have gathered_rows_of_piece rows
      /// of values, some of them padding, and the values of a column follow
      /// each other.
      std::uint64_t first_value;
      unsigned int  first_column, n_first, n_columns, first_row, n_rows;
    };

    constexpr unsigned int gathered_rows_of_piece = 4;

    /// Pieces, none of which have a row in common; the pointers refer to the
    /// memory of the machine that multiplies them.
    template <typename Number>
    struct GatheredRows
    {
      unsigned int         n_pieces = 0;
      const GatheredPiece *pieces   = nullptr;
      const unsigned int  *rows = nullptr, *columns = nullptr;
      const Number        *values = nullptr;
    };

    namespace Device
    {
      /// Sets the rows of @p y to the products with @p first and @p second, or
      /// adds them if @p add. The vectors are in device memory; y may be one of
      /// them if no row is a column of it. Same input, same bits.
      template <typename Number>
      void
      multiply_gathered_rows(const GatheredRows<Number> &matrix,
                             const bool                  add,
                             const Number               *first,
                             const Number               *second,
                             Number                     *y);
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
