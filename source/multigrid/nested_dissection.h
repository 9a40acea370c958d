// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_multigrid_nested_dissection_h
#define tessella_source_multigrid_nested_dissection_h

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "../../cuda/lac/gathered_rows.h"
#include "../lac/block_space.h"

namespace Tessella
{
  namespace internal
  {
    /**
     * Inverse of a symmetric block matrix by nested dissection. The block rows
     * are cut into parts, which are cut again. Those of a part that are coupled
     * with a part of higher number separate the two and are eliminated later.
     * A stage eliminates what is inside of all parts of one size: with the
     * inverse of the matrix A_II inside of a part and W = A_II^{-1} A_IB, B
     * being the block rows with which it is coupled,
     *   b_B -= W^T b_I,   and, when x_B is known,   x_I = A_II^{-1} b_I - W
     * x_B. What no stage eliminates has a dense inverse. The set-up is in
     * double precision on the host; the products, two for each stage and one
     * more, are in the precision and memory of the matrix.
     */
    template <typename MatrixType>
    class NestedDissection
    {
    public:
      using Number = typename MatrixType::value_type;

      /**
       * @p boxes are those of the block rows, by whose centres they are cut.
       * @p null_vectors: see DenseInverse; the result is then a symmetric
       * generalised inverse. Throws as DenseInverse does, and if the last dense
       * inverse has more than @p max_dense rows. For one process.
       */
      void
      reinit(const MatrixType                       &matrix,
             const std::vector<double>              &boxes,
             const std::vector<std::vector<double>> &null_vectors,
             const unsigned int                      max_dense);

      bool
      empty() const
      {
        return stages.empty();
      }

      /// x = A^{-1} b. Pointers are to the memory of the matrix.
      void
      vmult(const Number *b, Number *x);

      std::size_t
      memory_consumption() const;

    private:
      using SpaceType = Space<MatrixType>;
      template <typename T>
      using Array = typename SpaceType::template Array<T>;

      struct Rows
      {
        GatheredRows<Number> rows;
        Array<GatheredPiece> pieces;
        Array<unsigned int>  row, column;
        Array<Number>        values;
      };
      struct Stage
      {
        Rows forward, backward;
      };

      template <typename HostRows>
      static void
      store(const HostRows &from, Rows &to);
      static void
      multiply(const Rows   &rows,
               const bool    add,
               const Number *first,
               const Number *second,
               Number       *y);

      /// In the order of elimination. The last one has the dense inverse, as
      /// its backward product.
      std::vector<std::unique_ptr<Stage>> stages;
      Array<Number>                       z;
      std::uint64_t                       n = 0;
    };
  } // namespace internal
} // namespace Tessella

#endif
