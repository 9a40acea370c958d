// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_lac_interface_transfer_h
#define tessella_cuda_lac_interface_transfer_h

#include <tessella/portable/host_device.h>

#include <cstdint>

#include "blocks.h"

// Transfer between unknowns of polytopes and unknowns of their interfaces, in
// plain types. HostInterfaces (source/lac/host_interfaces.h) has the same
// functions for host memory.

namespace Tessella
{
  namespace internal
  {
    /// Entries of a vector: those that a process owns, and ghosts.
    template <typename Number>
    struct EntriesWithGhosts
    {
      const Number *owned, *ghosts;
      std::uint64_t n_owned;

      TESSELLA_HOST_DEVICE const Number *
      operator+(const std::uint64_t i) const
      {
        return i < n_owned ? owned + i : ghosts + (i - n_owned);
      }
    };

    /**
     * Injection P of functions on polytopes into functions on interfaces. A
     * block of interface unknowns has two parents, the polytopes on side 0 and
     * 1 of the interface, and depends on both.
     *
     * Only the first functions of an interface, its modes, occur: on a straight
     * edge these are two for polytopes of degree one, whatever the number of
     * functions. Pointers refer to the memory of the machine that executes the
     * functions below.
     */
    template <typename Number>
    struct InterfaceTransfer
    {
      static constexpr unsigned int no_polytope = static_cast<unsigned int>(-1);

      /// Numbers of blocks and of polytopes that this process owns.
      unsigned int n_blocks = 0, n_polytopes = 0;
      /// Functions of a polytope; polytope k has the unknowns n_functions * k
      /// .. n_functions * (k + 1) - 1.
      unsigned int n_functions = 0;
      /// Largest number of modes.
      unsigned int max_modes = 0;
      /// First unknown of each block, ghosts included.
      const std::uint64_t *first_row;
      /// Polytopes on both sides of each block, two entries for a block.
      const unsigned int *polytope;
      /// 2 * block + side for the interfaces of each own polytope.
      const unsigned int *side_offset, *side;
      /// Block b has a matrix of n_functions rows and a column for each mode
      /// for side 0, followed by that for side 1; both begin at
      /// matrix_offset[b], which has an entry after the last block.
      const std::uint64_t *matrix_offset;
      const Number        *matrix;

      TESSELLA_HOST_DEVICE unsigned int
      n_modes(const unsigned int block) const
      {
        return static_cast<unsigned int>(matrix_offset[block + 1] -
                                         matrix_offset[block]) /
               (2 * n_functions);
      }
      /// Matrix of an entry of the array side.
      TESSELLA_HOST_DEVICE const Number *
      matrix_of(const unsigned int side) const
      {
        return matrix + matrix_offset[side / 2] +
               side % 2 * n_functions * n_modes(side / 2);
      }
    };

    namespace Device
    {
      /// All pointers are to device memory, and all operations run in the
      /// default stream. No atomics are used; the order of summation depends on
      /// the structure only.
      template <typename Number>
      struct Interfaces
      {
        /// polytopes = P^T interfaces.
        static void
        restrict_to(const InterfaceTransfer<Number> &transfer,
                    const EntriesWithGhosts<Number> &interfaces,
                    Number                          *polytopes);

        /// interfaces += P polytopes.
        static void
        prolongate_add(const InterfaceTransfer<Number> &transfer,
                       const EntriesWithGhosts<Number> &polytopes,
                       Number                          *interfaces);

        /**
         * Values of P^T T P, @p coarse, from those of T, @p fine, on one
         * process. The coarse structure must have a block for two polytopes if
         * an interface of one is coupled with an interface of the other; its
         * other blocks become zero.
         */
        static void
        galerkin(const InterfaceTransfer<Number> &transfer,
                 const BlockRows                 &fine_rows,
                 const BlockRows                 &coarse_rows,
                 const Number                    *fine,
                 Number                          *coarse);

        /// to = to + factor * from, where the blocks of @p from are some of
        /// those of @p to, with the same block rows.
        static void
        add_blocks(const BlockRows &from_rows,
                   const BlockRows &to_rows,
                   const Number     factor,
                   const Number    *from,
                   Number          *to);

        /// First entry of each block.
        static void
        first_entries(const BlockRows &rows, const Number *values, Number *to);
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
