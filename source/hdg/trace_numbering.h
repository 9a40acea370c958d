// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_hdg_trace_numbering_h
#define tessella_source_hdg_trace_numbering_h

#include <deal.II/base/types.h>

#include <tessella/grid/agglomeration_handler.h>
#include <tessella/hdg/trace_space.h>
#include <tessella/lac/block_partition.h>
#include <tessella/lac/block_sparsity.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace Tessella
{
  namespace internal
  {
    /**
     * Numbers of trace unknowns, and which of them couple.
     *
     * Every interface with unknowns is a block row, owned by the process that
     * owns the polytope on side 0. In local numbers come own blocks in the
     * order of the flat view, then ghosts in the order of their global numbers:
     * interfaces of own polytopes that belong to other processes, and further
     * interfaces of ghost polytopes, with which own rows couple. A row takes
     * what the polytope on side 1 gives from the process that owns that.
     */
    template <int dim>
    class TraceNumbering
    {
    public:
      /// @p fixed: interfaces without unknowns. Collective. References must
      /// outlive the object.
      void
      reinit(const AgglomerationHandler<dim> &handler,
             const TraceSpace<dim>           &trace,
             const std::vector<bool>         &fixed);

      /// Block of each interface, invalid_index if it has no unknowns.
      std::vector<unsigned int> block_of_interface;
      /// Of own blocks.
      std::vector<unsigned int> interface_of_block;
      /// First unknown of each block, ghosts included, in local numbers.
      std::vector<std::uint64_t> dof_offset;
      BlockSparsity              sparsity;
      /// Null on one process.
      std::shared_ptr<const BlockPartition> partition;
      /// Global numbers of the unknowns of ghosts.
      std::vector<dealii::types::global_dof_index> ghost_columns;

      unsigned int
      n_owned_blocks() const
      {
        return interface_of_block.size();
      }
      std::uint64_t
      n_owned_dofs() const
      {
        return dof_offset.empty() ? 0 : dof_offset[n_owned_blocks()];
      }
      /// Of all processes.
      std::uint64_t
      n_dofs() const
      {
        return partition == nullptr ? n_owned_dofs() : partition->n_rows();
      }
      /// First one of this process.
      std::uint64_t
      first_dof() const
      {
        return partition == nullptr ? 0 : partition->first_row();
      }

      /// Unknowns of the interfaces of own polytope @p k, in its order: their
      /// number before each of them, and in all.
      void
      free_columns(const unsigned int         k,
                   std::vector<unsigned int> &columns) const;

      /// Number of an interface in the list of its polytope on @p side.
      unsigned int
      entry_of(const unsigned int interface, const unsigned int side) const;

      /**
       * The matrix K of a polytope for all its unknowns (n_free of them), and
       * its right-hand side.
       */
      struct LocalBlock
      {
        const double *matrix, *rhs;
      };
      /**
       * Block rows from the K of their polytopes: side 0, then side 1.
       * @p block_of: LocalBlock of an own polytope. Collective.
       */
      void
      gather(const std::function<LocalBlock(const unsigned int)> &block_of,
             double                                              *values,
             double                                              *rhs) const;

    private:
      void
      number_in_parallel();
      void
      make_sparsity();
      /// What other processes' rows take from own polytopes, and own rows from
      /// theirs.
      void
      exchange(const std::function<LocalBlock(const unsigned int)> &block_of,
               std::vector<double> &received) const;

      const AgglomerationHandler<dim> *handler = nullptr;
      const PolytopicMesh<dim>        *mesh    = nullptr;
      const TraceSpace<dim>           *trace   = nullptr;

      /// Messages between processes, in numbers.
      struct Message
      {
        unsigned int rank;
        std::size_t  begin, end;
      };
      std::vector<Message> sends, receives;
      /// Interfaces whose contributions are sent, in order.
      std::vector<unsigned int> sent_interfaces;
      /// Of own blocks with a ghost on side 1: blocks of that polytope's
      /// unknowns are remote_columns[remote_begin[row]] .. [row + 1]; its
      /// contribution lies at remote_position[row].
      std::vector<unsigned int> remote_columns;
      std::vector<std::size_t>  remote_begin, remote_position;
    };
  } // namespace internal
} // namespace Tessella

#endif
