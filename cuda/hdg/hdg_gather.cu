// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <algorithm>

#include "hdg_gather.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        /// Block rows of the trace matrix.
        struct BlockRows
        {
          std::vector<unsigned int>  of_row;    ///< block row of each row
          std::vector<unsigned char> irregular; ///< see hdg_gather_kernel()
        };

        template <int dim>
        BlockRows
        list_block_rows(const PolytopicMesh<dim> &mesh,
                        const HDGNumbering       &numbering)
        {
          const unsigned int n_blocks = numbering.interface_of_block.size();
          BlockRows          result;
          result.of_row.resize(numbering.dof_offset[n_blocks]);
          result.irregular.assign(n_blocks, 0);
          std::vector<unsigned char> self(mesh.n_polytopes(), 0);
          for (unsigned int i = 0; i < mesh.n_interfaces(); ++i)
            if (mesh.interface_polytope[2 * std::size_t(i)] ==
                mesh.interface_polytope[2 * std::size_t(i) + 1])
              self[mesh.interface_polytope[2 * std::size_t(i)]] = 1;
          for (unsigned int b = 0; b < n_blocks; ++b)
            {
              std::fill(result.of_row.begin() + numbering.dof_offset[b],
                        result.of_row.begin() + numbering.dof_offset[b + 1],
                        b);
              for (unsigned int side = 0; side < 2; ++side)
                {
                  const unsigned int k =
                    mesh.interface_polytope
                      [2 * std::size_t(numbering.interface_of_block[b]) + side];
                  if (k != invalid_index && self[k])
                    result.irregular[b] = 1;
                }
            }
          return result;
        }



        /// Writes the rows of the trace matrix, one warp for each row: first
        /// the contribution of the polytope on side 0, then that on side 1, as
        /// far as they are in the tile. A block row is irregular if one of its
        /// polytopes is its own neighbour, so that several contributions have
        /// the same column.
        template <int dim>
        __global__ void
        hdg_gather_kernel(const __grid_constant__ HDGData<dim>     P,
                          const typename HDGGather<dim>::Arguments G)
        {
          const unsigned int  lane = threadIdx.x & 31u;
          const std::uint64_t row =
            (std::uint64_t(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
          if (row >= G.n_rows)
            return;
          const unsigned int b         = G.row_block[row],
                             i         = (unsigned int)(row - G.dof_offset[b]),
                             interface = G.interface_of_block[b];
          const bool    irregular      = G.irregular[b];
          double *const out =
            G.values + G.value_offset[b] + std::uint64_t(i) * G.row_width[b];
          for (unsigned int side = 0; side < 2; ++side)
            {
              const unsigned int
                k = P.D.interface_polytope[2 * std::size_t(interface) + side],
                other =
                  P.D.interface_polytope[2 * std::size_t(interface) + 1 - side];
              if (k == invalid_index || k < P.first || k >= P.last)
                continue;
              if (irregular && side == 0)
                for (unsigned int j = lane; j < G.row_width[b]; j += 32)
                  out[j] = 0.;
              __syncwarp();
              const std::uint64_t first = P.trace_offset[k];
              const unsigned int  n =
                (unsigned int)(P.trace_offset[k + 1] - first);
              const unsigned int own =
                P.entry_row[G.entry_of_side[2 * std::size_t(interface) +
                                            side]] +
                i;
              const double *const K = P.K +
                                      (P.square_offset[k] - P.first_square) +
                                      std::uint64_t(own) * n;
              const unsigned int end = P.D.polytope_interface_offset[k + 1];
              for (unsigned int e = P.D.polytope_interface_offset[k]; e < end;
                   ++e)
                {
                  const unsigned int j      = P.D.polytope_interface[e] / 2;
                  const unsigned int column = G.block_of_interface[j];
                  if (column == invalid_index)
                    continue;
                  // last block of the row whose column is not larger
                  std::uint64_t low  = G.block_offset[b],
                                high = G.block_offset[b + 1];
                  while (high - low > 1)
                    {
                      const std::uint64_t middle = (low + high) / 2;
                      if (G.block_column[middle] <= column)
                        low = middle;
                      else
                        high = middle;
                    }
                  const bool shared =
                    side == 1 &&
                    P.D.interface_polytope[P.D.polytope_interface[e] ^ 1u] ==
                      other;
                  const bool         add = irregular || shared;
                  const unsigned int m =
                    (unsigned int)(G.dof_offset[column + 1] -
                                   G.dof_offset[column]);
                  double *const       to   = out + G.column_offset[low];
                  const double *const from = K + P.entry_row[e];
                  for (unsigned int l = lane; l < m; l += 32)
                    to[l] = add ? to[l] + from[l] : from[l];
                  if (irregular)
                    __syncwarp();
                }
              if (lane == 0)
                {
                  const double value = P.rhs[first + own];
                  G.rhs[row]         = side == 0 ? value : G.rhs[row] + value;
                }
              __syncwarp();
            }
        }
      } // namespace



      template <int dim>
      void
      HDGGather<dim>::prepare(const HDGPlan<dim> &plan, DeviceCopies &copies)
      {
        Arguments           &G         = arguments;
        const HDGNumbering  &numbering = plan.numbering;
        const BlockSparsity &sparsity  = numbering.sparsity;
        const BlockRows      rows      = list_block_rows(plan.mesh, numbering);
        G.block_of_interface = copies.upload(numbering.block_of_interface);
        G.interface_of_block = copies.upload(numbering.interface_of_block);
        G.dof_offset         = copies.upload(numbering.dof_offset);
        G.row_block          = copies.upload(rows.of_row);
        G.irregular          = copies.upload(rows.irregular);
        G.entry_of_side      = copies.upload(plan.entry_of_side);
        G.block_offset       = copies.upload(sparsity.block_offset);
        G.value_offset       = copies.upload(sparsity.value_offset);
        G.block_column       = copies.upload(sparsity.block_column);
        G.column_offset      = copies.upload(sparsity.column_offset);
        G.row_width          = copies.upload(sparsity.row_width);
        G.n_rows             = rows.of_row.size();
      }



      template <int dim>
      void
      HDGGather<dim>::launch(const HDGData<dim> &data,
                             double             *values,
                             double             *rhs) const
      {
        Arguments G                  = arguments;
        G.values                     = values;
        G.rhs                        = rhs;
        const std::uint64_t n_blocks = (G.n_rows + 3) / 4;
        if (n_blocks > 0)
          hdg_gather_kernel<dim><<<(unsigned int)n_blocks, 128>>>(data, G);
        check(cudaGetLastError(), "the trace matrix");
      }



      template class HDGGather<2>;
      template class HDGGather<3>;
    } // namespace Device
  }   // namespace internal
} // namespace Tessella
