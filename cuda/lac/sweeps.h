// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_lac_sweeps_h
#define tessella_cuda_lac_sweeps_h

#include <cstddef>
#include <cstdint>

// Forward and backward sweeps through the block rows of a matrix, in plain
// types. HostSweeps (source/lac/host_sweeps.h) has the same functions for host
// memory.

namespace Tessella
{
  namespace internal
  {
    /// Off-diagonal block of a sweep, n_k rows and size columns.
    struct SweepBlock
    {
      std::uint64_t place; ///< index of the first value
      std::uint64_t first; ///< first row of its column's polytope
      unsigned int  size;  ///< number of columns
      /// Entries from a row of the stored block to the next one. A transposed
      /// block is stored with size rows of n_k entries.
      unsigned int stride;
    };

    /// Block row of a sweep. Its blocks in L are begin .. middle, those in U
    /// are middle .. end, each in the order of summation.
    struct SweepRow
    {
      std::uint64_t first;  ///< its first row
      std::uint64_t square; ///< index of the first value of its D^{-1}
      std::uint64_t begin, middle, end;
      unsigned int  size; ///< number of rows
    };

    /**
     * One step of a sweep: block rows that are not coupled with each other.
     *
     * Forward: rest = b - L x, x = D^{-1} (rest - subtract).
     * Backward: s = U x, rest = s unless null, x = D^{-1} (b - s).
     *
     * Block rows without blocks in U are left out backward, those without
     * blocks in L forward if there is something to subtract: their x has the
     * right value already.
     */
    template <typename Number, typename Storage>
    struct SweepStep
    {
      const SweepRow *rows;
      unsigned int    n;        ///< number of block rows
      unsigned int    max_size; ///< largest number of rows of a block
      /// Power of two, at most 4, that divides the number of rows of every
      /// block. As max_size, it determines the order of sums on a device.
      unsigned int      divisor;
      const SweepBlock *blocks;
      const Storage    *values, *inverse;
      bool              transpose; ///< whether blocks and D^{-1} are transposed
      bool              forward;
      const Number     *b, *subtract; ///< nothing is subtracted if null
      Number           *rest, *x;
      const Number     *ghosts; ///< values of x from row n_dofs on
      std::uint64_t     n_dofs;
    };

    /// Copy of a block into storage without gaps.
    struct BlockCopy
    {
      std::uint64_t from, to;
      unsigned int  n_rows, n_columns, stride; ///< stride of the source
    };

    /// Update of an incomplete factorisation, e_kj -= e_km D_m^{-1} e_mj, of
    /// one block row; blocks are stored without gaps.
    struct FactorUpdate
    {
      /// First values of e_kj and e_mj.
      std::uint64_t target, source;
      unsigned int  n_columns;
    };

    /// Elimination of block row m from block row k: the updates begin .. end of
    /// the list.
    struct FactorPivot
    {
      std::uint64_t factor; ///< first value of e_km
      std::uint64_t square; ///< first value of D_m^{-1}
      std::uint64_t begin, end;
      unsigned int  size; ///< number of rows of block row m
    };

    /// Block rows of one step of a factorisation.
    template <typename Number>
    struct FactorStep
    {
      unsigned int         n, max_size;
      const unsigned int  *size;  ///< rows of each block row
      const std::uint64_t *pivot; ///< range of pivots of each block row
      const FactorPivot   *pivots;
      const FactorUpdate  *updates;
      const Number        *inverse; ///< D^{-1} of the previous steps
      Number              *values;
    };

    namespace Device
    {
      /// All pointers are to device memory, and all operations run in the
      /// default stream.
      template <typename Number, typename Storage>
      struct Sweeps
      {
        static void
        step(const SweepStep<Number, Storage> &step);

        /// Copies @p n blocks.
        static void
        pack(const std::size_t n,
             const BlockCopy  *copies,
             const Number     *from,
             Storage          *to);
      };

      template <typename Number>
      struct Factorisation
      {
        static void
        step(const FactorStep<Number> &step);
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
