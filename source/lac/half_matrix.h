// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_lac_half_matrix_h
#define tessella_source_lac_half_matrix_h

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../cuda/lac/half_blocks.h"
#include "block_space.h"
#include "diagonal_blocks.h"

namespace Tessella
{
  namespace internal
  {
    /**
     * Symmetric matrix on a device in half precision, for smoothers: see
     * Device::HalfBlocks. matrix() has the diagonal blocks alone, which are the
     * identity, and an external product.
     */
    class HalfMatrix
    {
    public:
      using Given = BlockData<DeviceBlockMatrix<double>>;

      /// Whether the matrix of @p given can be represented: on one process,
      /// with blocks of one size of at most ten rows.
      static bool
      is_possible(const Given &given)
      {
        const BlockRows &rows = given.rows;
        if (rows.n == 0 || rows.order != nullptr || rows.uniform == 0 ||
            rows.uniform > Device::max_half_size)
          return false;
        return Device::half_bytes(Device::half_threads / rows.uniform,
                                  n_filled(rows.max_width / rows.uniform - 1,
                                           rows.uniform),
                                  rows.uniform) <= 48 * 1024;
      }

      /// Reads the structure of @p given, which must outlive this object.
      void
      reinit(const Given &given)
      {
        this->given                               = &given;
        const DeviceBlockMatrix<double> &A        = *given.matrix;
        const BlockSparsity             &sparsity = A.block_sparsity();
        const unsigned int n = given.rows.n, size = given.rows.uniform;
        blocks.rows   = given.rows;
        blocks.n_rows = Device::half_threads / size;
        std::vector<Device::HalfBatch> list;
        std::vector<unsigned int>      column;
        std::size_t                    n_pieces = 0;
        for (unsigned int first = 0; first < n; first += blocks.n_rows)
          {
            unsigned int width = size;
            for (unsigned int k = first; k < std::min(n, first + blocks.n_rows);
                 ++k)
              width = std::max(width, sparsity.row_width[k]);
            const unsigned int n_blocks = n_filled(width / size - 1, size);
            blocks.max_blocks           = std::max(blocks.max_blocks, n_blocks);
            list.push_back({static_cast<unsigned int>(n_pieces),
                            static_cast<unsigned int>(column.size()),
                            n_blocks,
                            0});
            for (unsigned int k = first; k < std::min(n, first + blocks.n_rows);
                 ++k)
              {
                for (std::uint64_t b = sparsity.block_offset[k];
                     b < sparsity.block_offset[k + 1];
                     ++b)
                  if (sparsity.block_column[b] != k)
                    column.push_back(sparsity.block_column[b]);
                column.resize(list.back().first_column +
                                std::size_t(k + 1 - first) * n_blocks,
                              k);
              }
            n_pieces += std::size_t(blocks.n_rows) * size *
                        Device::n_half_pieces(n_blocks, size);
          }
        batches.assign(list);
        columns.assign(column);
        values.resize(n_pieces * Device::half_piece);
        bases.resize(std::size_t(n) * size * size);
        blocks.batches = batches.data();
        blocks.columns = columns.data();
        blocks.values  = values.data();
        blocks.W       = bases.data();

        diagonal.reinit(diagonal_sparsity(A.dof_offset()), A.dof_offset());
        device_call(
          [&] { Device::set_identities(n, size, diagonal.values()); });
        diagonal.set_external_product(
          [this](const Device::Destination<float> &y, const float *x, bool) {
            device_call([&] { Device::multiply(blocks, y, x); });
          });
      }

      /// Takes the values of the matrix given to reinit().
      void
      set_values()
      {
        device_call(
          [&] { Device::set_half_blocks(blocks, given->matrix->values()); });
      }

      const DeviceBlockMatrix<float> &
      matrix() const
      {
        return diagonal;
      }

      std::size_t
      memory_consumption() const
      {
        return batches.memory_consumption() + columns.memory_consumption() +
               values.memory_consumption() + bases.memory_consumption() +
               diagonal.memory_consumption();
      }

      Device::HalfBlocks blocks;

    private:
      /// Number of blocks with which the entries of a block row begin at a
      /// multiple of 16 bytes.
      static unsigned int
      n_filled(const unsigned int n_blocks, const unsigned int size)
      {
        const unsigned int unit = size % 4 == 0 ? 1 : size % 2 == 0 ? 2 : 4;
        return (n_blocks + unit - 1) / unit * unit;
      }

      const Given                        *given = nullptr;
      DeviceSpaceArray<Device::HalfBatch> batches;
      DeviceSpaceArray<unsigned int>      columns;
      DeviceSpaceArray<std::uint16_t>     values;
      DeviceSpaceArray<float>             bases;
      DeviceBlockMatrix<float>            diagonal;
    };
  } // namespace internal
} // namespace Tessella

#endif
