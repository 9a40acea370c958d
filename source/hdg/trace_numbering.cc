// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "trace_numbering.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/base/mpi.h>

#include <algorithm>
#include <map>

#include "../backends/host_dispatch.h"
#include "../base/collective.h"
#include "../lac/halo_exchange.h"
#include "interface_sides.h"

namespace Tessella
{
  using namespace dealii;

  namespace internal
  {
    namespace
    {
      /// The block whose first DoF is @p dof.
      unsigned int
      block_at(const std::vector<std::uint64_t> &dof_offset,
               const std::uint64_t               dof)
      {
        // Every block has DoFs, so no two blocks begin at the same DoF.
        const auto position =
          std::lower_bound(dof_offset.begin(), dof_offset.end(), dof);
        AssertThrow(position != dof_offset.end() && *position == dof,
                    ExcMessage("The processes do not have the same trace "
                               "spaces on an interface that they share."));
        return position - dof_offset.begin();
      }
    } // namespace



    template <int dim>
    void
    TraceNumbering<dim>::reinit(const AgglomerationHandler<dim> &new_handler,
                                const TraceSpace<dim>           &new_trace,
                                const std::vector<bool>         &fixed)
    {
      *this                      = TraceNumbering();
      handler                    = &new_handler;
      mesh                       = &new_handler.polytopic_mesh();
      trace                      = &new_trace;
      const unsigned int n       = mesh->n_interfaces(),
                         n_owned = mesh->n_owned_polytopes();
      block_of_interface.assign(n, invalid_index);
      dof_offset.assign(1, 0);
      for (unsigned int i = 0; i < n; ++i)
        if (!fixed[i] && trace->n_functions[i] > 0 &&
            mesh->interface_polytope[2 * std::size_t(i)] < n_owned)
          {
            block_of_interface[i] = interface_of_block.size();
            interface_of_block.push_back(i);
            dof_offset.push_back(dof_offset.back() + trace->n_functions[i]);
          }
      remote_begin.assign(n_owned_blocks() + 1, 0);
      remote_position.assign(n_owned_blocks(), 0);
      if (n_processes(handler->get_communicator()) > 1)
        number_in_parallel();
      make_sparsity();
    }



    // Global numbers that the processes exchange. A list of couplings has, for
    // each interface: its first DoF, its number of DoFs, the number of
    // interfaces that it couples with, then first DoF and number of DoFs of
    // each of these.
    template <int dim>
    struct TraceNumbering<dim>::GlobalNumbers
    {
      /// Numbers of the first DoF of each process, and of all DoFs.
      std::vector<std::uint64_t> first_of_rank;
      /// First DoF of this process, and number of its DoFs.
      std::uint64_t first = 0, n_owned = 0;
      /// First DoF of each interface that has DoFs.
      std::vector<std::uint64_t> first_dof;
      /// Number of DoFs by first DoF of the ghosts, and interface by first DoF
      /// for those that own polytopes have.
      std::map<std::uint64_t, unsigned int> ghosts, shared;
      /// For each own block, the first DoFs of interfaces that the polytope of
      /// another process couples it with.
      std::vector<std::vector<std::uint64_t>> columns;

      bool
      is_owned(const std::uint64_t dof) const
      {
        return dof >= first && dof < first + n_owned;
      }

      unsigned int
      owner(const std::uint64_t dof) const
      {
        return std::upper_bound(first_of_rank.begin(),
                                first_of_rank.end(),
                                dof) -
               first_of_rank.begin() - 1;
      }
    };



    template <int dim>
    void
    TraceNumbering<dim>::number_in_parallel()
    {
      const MPI_Comm communicator = handler->get_communicator();
      GlobalNumbers  numbers      = number_interfaces();
      const auto     answers =
        Utilities::MPI::some_to_some(communicator, list_couplings(numbers));
      on_all_processes(communicator, [&] {
        read_couplings(answers, numbers);
        number_ghosts(numbers);
      });

      std::vector<std::uint64_t> first_ghost_row;
      for (std::size_t block = n_owned_blocks(); block + 1 < dof_offset.size();
           ++block)
        first_ghost_row.push_back(
          ghost_columns[dof_offset[block] - numbers.n_owned]);
      partition = std::make_shared<const BlockPartition>(communicator,
                                                         dof_offset,
                                                         n_owned_blocks(),
                                                         first_ghost_row);
    }



    template <int dim>
    typename TraceNumbering<dim>::GlobalNumbers
    TraceNumbering<dim>::number_interfaces() const
    {
      const MPI_Comm communicator = handler->get_communicator();
      GlobalNumbers  numbers;
      numbers.n_owned                           = n_owned_dofs();
      std::vector<std::uint64_t> &first_of_rank = numbers.first_of_rank;
      first_of_rank.assign(n_processes(communicator) + 1, 0);
      const int ierr = MPI_Allgather(&numbers.n_owned,
                                     1,
                                     MPI_UINT64_T,
                                     first_of_rank.data() + 1,
                                     1,
                                     MPI_UINT64_T,
                                     communicator);
      AssertThrowMPI(ierr);
      for (unsigned int r = 1; r < first_of_rank.size(); ++r)
        first_of_rank[r] += first_of_rank[r - 1];
      numbers.first = first_of_rank[this_process(communicator)];

      // Owners of side 0 send first DoFs to owners of side 1.
      std::vector<std::uint64_t> of_side(2 * std::size_t(mesh->n_facets()),
                                         dealii::numbers::invalid_dof_index);
      numbers.first_dof.assign(mesh->n_interfaces(),
                               dealii::numbers::invalid_dof_index);
      for (unsigned int block = 0; block < n_owned_blocks(); ++block)
        {
          const unsigned int i = interface_of_block[block];
          numbers.first_dof[i] = numbers.first + dof_offset[block];
          for (unsigned int f = mesh->facet_offset[i];
               f < mesh->facet_offset[i + 1];
               ++f)
            of_side[2 * std::size_t(f)] = numbers.first_dof[i];
        }
      handler->exchange_facet_values(of_side);
      for (unsigned int i = 0; i < mesh->n_interfaces(); ++i)
        if (mesh->interface_polytope[2 * std::size_t(i)] >=
              mesh->n_owned_polytopes() &&
            trace->n_functions[i] > 0)
          {
            const std::uint64_t dof =
              of_side[2 * std::size_t(mesh->facet_offset[i])];
            numbers.first_dof[i] = dof;
            numbers.ghosts[dof]  = trace->n_functions[i];
            numbers.shared[dof]  = i;
          }
      return numbers;
    }



    template <int dim>
    std::map<unsigned int, std::vector<std::uint64_t>>
    TraceNumbering<dim>::list_couplings(const GlobalNumbers &numbers)
    {
      std::map<unsigned int, std::vector<std::uint64_t>> lists;
      std::size_t                                        n_sent = 0;
      for (const auto &entry : numbers.shared)
        {
          const unsigned int i = entry.second,
                             k =
                               mesh->interface_polytope[2 * std::size_t(i) + 1],
                             rank          = numbers.owner(entry.first);
          std::vector<std::uint64_t> &list = lists[rank];
          list.push_back(entry.first);
          list.push_back(trace->n_functions[i]);
          const std::size_t position = list.size();
          list.push_back(0);
          std::size_t width = 0;
          for (const unsigned int code : interface_sides(*mesh, k))
            {
              const unsigned int j = code / 2;
              if (numbers.first_dof[j] == dealii::numbers::invalid_dof_index)
                continue;
              ++list[position];
              list.push_back(numbers.first_dof[j]);
              list.push_back(trace->n_functions[j]);
              width += trace->n_functions[j];
            }
          // Ranks ascend with the indices of DoFs.
          if (sends.empty() || sends.back().rank != rank)
            sends.push_back({rank, n_sent, n_sent});
          n_sent += trace->n_functions[i] * (width + 1);
          sends.back().last_row = n_sent;
          sent_interfaces.push_back(i);
        }
      return lists;
    }



    template <int dim>
    void
    TraceNumbering<dim>::read_couplings(
      const std::map<unsigned int, std::vector<std::uint64_t>> &answers,
      GlobalNumbers                                            &numbers)
    {
      numbers.columns.resize(n_owned_blocks());
      std::size_t n_received = 0;
      for (const auto &answer : answers)
        {
          const std::vector<std::uint64_t> &list = answer.second;
          receives.push_back({answer.first, n_received, n_received});
          for (std::size_t p = 0; p < list.size();)
            {
              const unsigned int row =
                block_at(dof_offset, list[p] - numbers.first);
              AssertThrow(row < n_owned_blocks() &&
                            list[p + 1] ==
                              dof_offset[row + 1] - dof_offset[row],
                          ExcMessage("The processes do not have the same "
                                     "trace spaces on an interface that "
                                     "they share."));
              const std::size_t end   = p + 3 + 2 * list[p + 2];
              std::size_t       width = 0;
              for (std::size_t q = p + 3; q < end; q += 2)
                {
                  numbers.columns[row].push_back(list[q]);
                  width += list[q + 1];
                  if (!numbers.is_owned(list[q]))
                    numbers.ghosts[list[q]] = list[q + 1];
                }
              remote_position[row] = n_received;
              n_received += list[p + 1] * (width + 1);
              p = end;
            }
          receives.back().last_row = n_received;
        }
    }



    template <int dim>
    void
    TraceNumbering<dim>::number_ghosts(const GlobalNumbers &numbers)
    {
      std::map<std::uint64_t, unsigned int> ghost_block;
      for (const auto &ghost : numbers.ghosts)
        {
          ghost_block[ghost.first] = dof_offset.size() - 1;
          dof_offset.push_back(dof_offset.back() + ghost.second);
          for (unsigned int j = 0; j < ghost.second; ++j)
            ghost_columns.push_back(ghost.first + j);
        }
      for (const auto &entry : numbers.shared)
        block_of_interface[entry.second] = ghost_block.at(entry.first);
      for (unsigned int row = 0; row < n_owned_blocks(); ++row)
        {
          for (const std::uint64_t dof : numbers.columns[row])
            remote_columns.push_back(
              numbers.is_owned(dof) ? block_at(dof_offset, dof - numbers.first)
                                    : ghost_block.at(dof));
          remote_begin[row + 1] = remote_columns.size();
        }
    }



    template <int dim>
    void
    TraceNumbering<dim>::make_sparsity()
    {
      const unsigned int n       = n_owned_blocks(),
                         n_owned = mesh->n_owned_polytopes();
      sparsity.block_offset.assign(n + 1, 0);
      sparsity.value_offset.assign(n + 1, 0);
      sparsity.row_width.assign(n, 0);
      std::vector<unsigned int> columns;
      for (unsigned int row = 0; row < n; ++row)
        {
          columns.assign(remote_columns.begin() + remote_begin[row],
                         remote_columns.begin() + remote_begin[row + 1]);
          for (unsigned int side = 0; side < 2; ++side)
            {
              const unsigned int k =
                mesh->interface_polytope[2 * std::size_t(
                                               interface_of_block[row]) +
                                         side];
              if (k >= n_owned) // a ghost, or invalid_index
                continue;
              for (const unsigned int code : interface_sides(*mesh, k))
                {
                  const unsigned int column = block_of_interface[code / 2];
                  if (column != invalid_index)
                    columns.push_back(column);
                }
            }
          std::sort(columns.begin(), columns.end());
          columns.erase(std::unique(columns.begin(), columns.end()),
                        columns.end());
          unsigned int width = 0;
          for (const unsigned int column : columns)
            {
              sparsity.block_column.push_back(column);
              sparsity.column_offset.push_back(width);
              width += dof_offset[column + 1] - dof_offset[column];
            }
          sparsity.block_offset[row + 1] = sparsity.block_column.size();
          sparsity.row_width[row]        = width;
          sparsity.value_offset[row + 1] =
            sparsity.value_offset[row] +
            std::uint64_t(width) * (dof_offset[row + 1] - dof_offset[row]);
        }
    }



    template <int dim>
    void
    TraceNumbering<dim>::free_columns(const unsigned int         k,
                                      std::vector<unsigned int> &columns) const
    {
      columns.assign(1, 0);
      for (const unsigned int code : interface_sides(*mesh, k))
        {
          const unsigned int i = code / 2;
          columns.push_back(columns.back() +
                            (block_of_interface[i] == invalid_index
                               ? 0
                               : trace->n_functions[i]));
        }
    }



    template <int dim>
    unsigned int
    TraceNumbering<dim>::entry_of(const unsigned int interface,
                                  const unsigned int side) const
    {
      const unsigned int k =
        mesh->interface_polytope[2 * std::size_t(interface) + side];
      const auto sides = interface_sides(*mesh, k);
      return std::find(sides.begin(), sides.end(), 2 * interface + side) -
             sides.begin();
    }



    template <int dim>
    void
    TraceNumbering<dim>::exchange(const LocalBlocks   &blocks,
                                  std::vector<double> &received) const
    {
      std::vector<double> sent;
      received.resize(receives.empty() ? 0 : receives.back().last_row);
      sent.reserve(sends.empty() ? 0 : sends.back().last_row);
      std::vector<unsigned int> columns;
      for (const unsigned int i : sent_interfaces)
        {
          const unsigned int k =
            mesh->interface_polytope[2 * std::size_t(i) + 1];
          free_columns(k, columns);
          const unsigned int n = trace->n_functions[i], n_free = columns.back(),
                             first = columns[entry_of(i, 1)];
          const double *const K    = blocks.matrix.data() +
                                  blocks.matrix_offset[k] +
                                  std::size_t(first) * n_free,
                              *const load = blocks.rhs.data() +
                                            blocks.rhs_offset[k] + first;
          sent.insert(sent.end(), K, K + std::size_t(n) * n_free);
          sent.insert(sent.end(), load, load + n);
        }
      HaloMessages messages;
      start_messages(messages,
                     handler->get_communicator(),
                     sends,
                     sent.data(),
                     receives,
                     received.data());
      messages.finish();
    }



    template <int dim>
    void
    TraceNumbering<dim>::gather(const LocalBlocks &blocks,
                                double            *values,
                                double            *rhs) const
    {
      std::vector<double> received;
      if (partition != nullptr)
        exchange(blocks, received);
      const unsigned int n_owned = mesh->n_owned_polytopes();
      for_ranges(
        n_owned_blocks(),
        256,
        [&](const std::size_t begin, const std::size_t end) {
          std::vector<unsigned int> columns, column_blocks;
          for (std::size_t row = begin; row < end; ++row)
            {
              const unsigned int interface = interface_of_block[row],
                                 n         = trace->n_functions[interface],
                                 width     = sparsity.row_width[row];
              double *const block = values + sparsity.value_offset[row];
              double *const F     = rhs + dof_offset[row];
              std::fill_n(block, std::size_t(n) * width, 0.);
              std::fill_n(F, n, 0.);
              for (unsigned int side = 0; side < 2; ++side)
                {
                  const unsigned int k =
                    mesh->interface_polytope[2 * std::size_t(interface) + side];
                  if (k == invalid_index)
                    continue;
                  // rows of K for this interface, and the blocks of K's columns
                  const double *K, *load;
                  if (k < n_owned)
                    {
                      free_columns(k, columns);
                      const unsigned int first =
                        columns[entry_of(interface, side)];
                      K = blocks.matrix.data() + blocks.matrix_offset[k] +
                          std::size_t(first) * columns.back();
                      load = blocks.rhs.data() + blocks.rhs_offset[k] + first;
                      column_blocks.clear();
                      for (const unsigned int code : interface_sides(*mesh, k))
                        column_blocks.push_back(block_of_interface[code / 2]);
                    }
                  else
                    {
                      column_blocks.assign(remote_columns.begin() +
                                             remote_begin[row],
                                           remote_columns.begin() +
                                             remote_begin[row + 1]);
                      columns.assign(1, 0);
                      for (const unsigned int column : column_blocks)
                        columns.push_back(columns.back() +
                                          dof_offset[column + 1] -
                                          dof_offset[column]);
                      K    = received.data() + remote_position[row];
                      load = K + std::size_t(n) * columns.back();
                    }
                  const unsigned int n_free = columns.back();
                  for (unsigned int i = 0; i < n; ++i)
                    F[i] += load[i];
                  for (unsigned int e = 0; e < column_blocks.size(); ++e)
                    {
                      const unsigned int m = columns[e + 1] - columns[e];
                      if (m == 0)
                        continue;
                      const auto first_block = sparsity.block_column.begin() +
                                               sparsity.block_offset[row];
                      const std::size_t b =
                        std::lower_bound(first_block,
                                         sparsity.block_column.begin() +
                                           sparsity.block_offset[row + 1],
                                         column_blocks[e]) -
                        sparsity.block_column.begin();
                      double *const target = block + sparsity.column_offset[b];
                      for (unsigned int i = 0; i < n; ++i)
                        for (unsigned int j = 0; j < m; ++j)
                          target[std::size_t(i) * width + j] +=
                            K[std::size_t(i) * n_free + columns[e] + j];
                    }
                }
            }
        });
    }



    template class TraceNumbering<2>;
    template class TraceNumbering<3>;
  } // namespace internal
} // namespace Tessella
