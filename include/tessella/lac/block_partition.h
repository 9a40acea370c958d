// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_lac_block_partition_h
#define tessella_lac_block_partition_h

#include <deal.II/base/mpi.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace Tessella
{
  /**
   * Distribution of the block rows of a matrix over processes. A process owns
   * consecutive block rows, numbered process by process; its ghosts are the
   * block rows of other processes that occur as columns. In the local numbering
   * owned blocks come first, then ghosts, grouped by process, as in
   * PolytopicMesh.
   *
   * Objects in a program of one process need no partition, and have a null
   * pointer instead.
   */
  class BlockPartition
  {
  public:
    /// Blocks that are sent to, or received from, another process.
    struct Partner
    {
      unsigned int rank;
      /// Range of blocks. Sent: positions in send_blocks(); received: ghosts,
      /// counted from 0.
      std::size_t begin, end;
      /// The same range in rows: positions in send_rows(), or indices of ghost
      /// rows.
      std::size_t first_row, last_row;
    };

    /**
     * Collective. @p dof_offset has the first row of each block, ghosts
     * included, and the number of rows at the end, in the local numbering.
     * @p first_ghost_row has the global index of the first row of each ghost.
     * The owner of a ghost must have a block that begins there. An error on one
     * process is thrown on all.
     */
    BlockPartition(const MPI_Comm                    communicator,
                   const std::vector<std::uint64_t> &dof_offset,
                   const unsigned int                n_owned,
                   const std::vector<std::uint64_t> &first_ghost_row);

    MPI_Comm
    communicator() const
    {
      return comm;
    }
    unsigned int
    n_processes() const
    {
      return first_of_rank.size() - 1;
    }
    /// Global index of the first row of this process.
    std::uint64_t
    first_row() const
    {
      return first;
    }
    std::uint64_t
    n_rows() const
    {
      return n_all;
    }
    std::uint64_t
    n_owned_rows() const
    {
      return n_owned;
    }
    std::uint64_t
    n_ghost_rows() const
    {
      return n_ghosts;
    }
    /// First row of each process, and the number of rows at the end.
    const std::vector<std::uint64_t> &
    first_rows() const
    {
      return first_of_rank;
    }
    /// Global index of the first row of each ghost.
    const std::vector<std::uint64_t> &
    first_ghost_rows() const
    {
      return first_of_ghost;
    }
    /// Extrema of the sizes of the blocks of all processes, in rows.
    struct BlockSizes
    {
      std::uint64_t smallest, largest;
      /// Bitwise or of all sizes: a power of two that divides it divides all
      /// sizes.
      std::uint64_t bits;
    };
    const BlockSizes &
    block_sizes() const
    {
      return sizes;
    }

    const std::vector<Partner> &
    sends() const
    {
      return to;
    }
    const std::vector<Partner> &
    receives() const
    {
      return from;
    }
    /// Owned blocks, and owned rows, that are sent.
    const std::vector<unsigned int> &
    send_blocks() const
    {
      return sent_blocks;
    }
    const std::vector<unsigned int> &
    send_rows() const
    {
      return sent_rows;
    }

    /**
     * Receives the values of ghosts from their owners: @p n values per block,
     * owned blocks first. Collective.
     */
    template <typename T>
    void
    update_ghosts(std::vector<T> &values, const unsigned int n = 1) const;

    /// Sum over all processes, in the order of their ranks: the same bits on
    /// every process and in every run. Collective.
    double
    sum(const double value) const;
    /// Maximum over all processes. Collective.
    double
    max(const double value) const;

    /// Memory in bytes.
    std::size_t
    memory_consumption() const;

  private:
    void
    collect_sizes(const std::vector<std::uint64_t> &dof_offset);
    std::map<unsigned int, std::vector<std::uint64_t>>
    list_receives(const std::vector<std::uint64_t> &dof_offset);
    void
    list_sends(
      const std::vector<std::uint64_t>                         &dof_offset,
      const std::map<unsigned int, std::vector<std::uint64_t>> &requests);

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
