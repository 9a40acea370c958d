// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_hdg_trace_numbering_h
#define tessella_source_hdg_trace_numbering_h

#include <deal.II/base/types.h>

#include <tessella/grid/agglomeration_handler.h>
#include <tessella/hdg/trace_space.h>
#include <tessella/lac/block_partition.h>
#include <tessella/lac/block_sparsity.h>

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace Tessella
{
  namespace internal
  {
    /// Matrices K of all own polytopes for their DoFs, with right-hand sides
    /// and integrals of the trace functions.
    struct LocalBlocks
    {
      /// Data of a polytope that decide whether the constant is fixed and
      /// whether the data are compatible.
      struct Balance
      {
        double size  = 0.; ///< integrals of |f| and |g|
        bool   fixed = false;
      };

      std::vector<std::uint64_t> matrix_offset, rhs_offset;
      std::vector<double>        matrix, rhs, integral;
      std::vector<Balance>       balance;
    };

    /**
     * Numbering of trace DoFs, and the sparsity of their couplings.
     *
     * Every interface with DoFs is a block row, owned by the process that owns
     * the polytope on side 0. In local numbering, own blocks come first, in the
     * order of the flat view. Ghosts follow in the order of their global
     * indices: interfaces of own polytopes that other processes own, and
     * further interfaces of ghost polytopes, with which own rows couple. The
     * contribution of a polytope on side 1 to a row is received from the
     * process that owns that polytope.
     */
    template <int dim>
    class TraceNumbering
    {
    public:
      /// @p fixed: interfaces without DoFs. References must outlive the object.
      /// Collective.
      void
      reinit(const AgglomerationHandler<dim> &handler,
             const TraceSpace<dim>           &trace,
             const std::vector<bool>         &fixed);

      /// Block of each interface, or invalid_index if it has no DoFs.
      std::vector<unsigned int> block_of_interface;
      /// Interface of each own block.
      std::vector<unsigned int> interface_of_block;
      /// First DoF of each block, ghosts included, in local numbering.
      std::vector<std::uint64_t> dof_offset;
      BlockSparsity              sparsity;
      /// Null on one process.
      std::shared_ptr<const BlockPartition> partition;
      /// Global indices of the ghost DoFs.
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
      /// Number of trace DoFs of all processes.
      std::uint64_t
      n_dofs() const
      {
        return partition == nullptr ? n_owned_dofs() : partition->n_rows();
      }
      /// Global index of the first DoF of this process.
      std::uint64_t
      first_dof() const
      {
        return partition == nullptr ? 0 : partition->first_row();
      }

      /// First column of each interface of own polytope @p k in its matrix K,
      /// which leaves out interfaces without DoFs; last, the number of columns.
      void
      free_columns(const unsigned int         k,
                   std::vector<unsigned int> &columns) const;

      /// Position of an interface in the list of its polytope on @p side.
      unsigned int
      entry_of(const unsigned int interface, const unsigned int side) const;

      /// Computes block rows and right-hand side as sums of the K of their
      /// polytopes, first side 0, then side 1. Collective.
      void
      gather(const LocalBlocks &blocks, double *values, double *rhs) const;

    private:
      struct GlobalNumbers;
      void
      number_in_parallel();
      /// Global first DoFs of all interfaces of own polytopes. Collective.
      GlobalNumbers
      number_interfaces() const;
      /// For each owner of a row, the couplings of own polytopes on side 1.
      /// Also fills sends and sent_interfaces.
      std::map<unsigned int, std::vector<std::uint64_t>>
      list_couplings(const GlobalNumbers &numbers);
      /// Adds the lists of the other processes to columns and ghosts of
      /// @p numbers. Also fills receives and remote_position.
      void
      read_couplings(
        const std::map<unsigned int, std::vector<std::uint64_t>> &lists,
        GlobalNumbers                                            &numbers);
      /// Numbers ghosts after own blocks.
      void
      number_ghosts(const GlobalNumbers &numbers);
      void
      make_sparsity();
      /// Exchanges the contributions of polytopes to rows that other processes
      /// own.
      void
      exchange(const LocalBlocks &blocks, std::vector<double> &received) const;

      const AgglomerationHandler<dim> *handler = nullptr;
      const PolytopicMesh<dim>        *mesh    = nullptr;
      const TraceSpace<dim>           *trace   = nullptr;

      /// A message to or from another process, as start_messages() reads it:
      /// values [first_row, last_row) of all messages.
      struct Message
      {
        unsigned int rank;
        std::size_t  first_row, last_row;
      };
      std::vector<Message> sends, receives;
      /// Interfaces whose contributions are sent, in this order.
      std::vector<unsigned int> sent_interfaces;
      /// For own blocks with a ghost on side 1: the blocks of that polytope's
      /// DoFs are remote_columns[remote_begin[row]] .. [row + 1]. Its
      /// contribution begins at remote_position[row] of the values received.
      std::vector<unsigned int> remote_columns;
      std::vector<std::size_t>  remote_begin, remote_position;
    };
  } // namespace internal
} // namespace Tessella

#endif
