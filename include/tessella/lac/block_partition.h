// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_lac_block_partition_h
#define tessella_lac_block_partition_h

#include <deal.II/base/index_set.h>
#include <deal.II/base/mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace Tessella
{
  /**
   * How the block rows of a matrix are dealt out to processes: a process owns
   * consecutive ones, numbered process by process; its ghosts are the block
   * rows of other processes whose columns it meets. In local numbers own
   * blocks come first, then ghosts, grouped by process, as in PolytopicMesh.
   *
   * Objects of one process need none (a null pointer where one is asked for).
   */
  class BlockPartition
  {
  public:
    /// Blocks that are sent to, or come from, another process.
    struct Partner
    {
      unsigned int rank;
      /// Sent: positions in send_blocks(); received: ghosts (the first one is
      /// 0).
      std::size_t begin, end;
      /// The same in rows: positions in send_rows(), or numbers of ghost rows.
      std::size_t first_row, last_row;
    };

    /**
     * Collective. @p dof_offset: first row of each block, ghosts included, and
     * their number at the end, in local numbers; @p first_ghost_row: the
     * global number of the first row of each ghost. The owner of a ghost must
     * know a block that begins there. An error on one process is thrown on
     * all.
     */
    BlockPartition(const MPI_Comm                    communicator,
                   const std::vector<std::uint64_t> &dof_offset,
                   const unsigned int                n_owned,
                   const std::vector<std::uint64_t> &first_ghost_row);

    MPI_Comm
    communicator() const;
    unsigned int
    n_processes() const;
    /// Global number of the first row of this process, of all rows.
    std::uint64_t
    first_row() const;
    std::uint64_t
    n_rows() const;
    std::uint64_t
    n_owned_rows() const;
    std::uint64_t
    n_ghost_rows() const;
    /// First row of each process, and the number of rows at the end.
    const std::vector<std::uint64_t> &
    first_rows() const;
    dealii::IndexSet
    locally_owned_rows() const;
    /// Global number of the first row of each ghost.
    const std::vector<std::uint64_t> &
    first_ghost_rows() const;
    /// Sizes of the blocks of all processes, in rows.
    struct BlockSizes
    {
      std::uint64_t smallest, largest;
      /// Bits that are set in one of them: a power of two that divides it
      /// divides all sizes.
      std::uint64_t bits;
    };
    const BlockSizes &
    block_sizes() const;

    const std::vector<Partner> &
    sends() const;
    const std::vector<Partner> &
    receives() const;
    /// Own blocks, and own rows, that are sent.
    const std::vector<unsigned int> &
    send_blocks() const;
    const std::vector<unsigned int> &
    send_rows() const;

    /**
     * Values of ghosts from their owners: @p n values a block, own blocks
     * first. Collective.
     */
    template <typename T>
    void
    update_ghosts(std::vector<T> &values, const unsigned int n = 1) const;

    /// Sum over all processes, in the order of their numbers: the same bits on
    /// every process and in every run. Collective.
    double
    sum(const double value) const;
    /// Largest value of all processes. Collective.
    double
    max(const double value) const;

    /// Bytes.
    std::size_t
    memory_consumption() const;

  private:
    MPI_Comm                   comm;
    unsigned int               n_owned_blocks;
    std::uint64_t              n_owned, n_ghosts, first, n_all;
    std::vector<std::uint64_t> first_of_rank, first_of_ghost;
    BlockSizes                 sizes;
    std::vector<Partner>       to, from;
    std::vector<unsigned int>  sent_blocks, sent_rows;
  };
} // namespace Tessella

#endif
