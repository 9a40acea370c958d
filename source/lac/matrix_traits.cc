// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "matrix_traits.h"

#include <deal.II/base/exceptions.h>
#include <deal.II/base/parallel.h>

#include <tessella/base/config.h>
#include <tessella/lac/trilinos_block_matrix.h>

#include <atomic>
#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "store_block_row.h"

namespace Tessella
{
  namespace internal
  {
    using namespace dealii;

#ifdef TESSELLA_HAVE_EPETRA
    void
    MatrixTraits<TrilinosWrappers::SparseMatrix>::reinit(
      TrilinosWrappers::SparseMatrix &matrix, MatrixStructure &structure)
    {
      AssertThrow(
        structure.n_dofs <=
          static_cast<std::uint64_t>(
            std::numeric_limits<TrilinosWrappers::types::int_type>::max()),
        ExcMessage("There are " + std::to_string(structure.n_dofs) +
                   " degrees of freedom, more than this deal.II can count in "
                   "Trilinos: configure it with 64-bit indices."));
      structure.on_all_processes([&]() {
        TrilinosBlockMatrix::check_size(structure.blocks, structure.dof_offset);
      });
      TrilinosBlockMatrix::reinit(matrix,
                                  structure.blocks,
                                  structure.dof_offset,
                                  structure.communicator,
                                  structure.ghost_columns);
    }



    void
    MatrixTraits<TrilinosWrappers::SparseMatrix>::check(
      TrilinosWrappers::SparseMatrix &matrix, MatrixStructure &structure)
    {
      TrilinosBlockMatrix::values(matrix,
                                  structure.blocks,
                                  structure.dof_offset);
      const auto arrays = TrilinosBlockMatrix::storage(matrix);
      if (structure.is_checked(arrays))
        return;
      TrilinosBlockMatrix::check_columns(matrix,
                                         structure.blocks,
                                         structure.dof_offset,
                                         structure.ghost_columns);
      structure.set_checked(arrays);
    }



    double *
    MatrixTraits<TrilinosWrappers::SparseMatrix>::values(
      TrilinosWrappers::SparseMatrix &matrix)
    {
      // The wrapper returns a constant Epetra matrix only.
      int    *offsets = nullptr, *indices = nullptr;
      double *data = nullptr;
      const_cast<Epetra_CrsMatrix &>(matrix.trilinos_matrix())
        .ExtractCrsDataPointers(offsets, indices, data);
      return data;
    }



    void
    VectorTraits<TrilinosWrappers::MPI::Vector>::reinit(
      TrilinosWrappers::MPI::Vector &vector,
      const IndexSet                &owned,
      const MatrixStructure         &structure)
    {
      vector.reinit(owned, structure.communicator);
    }



    void
    VectorTraits<TrilinosWrappers::MPI::Vector>::check(
      const TrilinosWrappers::MPI::Vector &vector,
      const MatrixStructure               &structure)
    {
      structure.check_size(vector.size(), "vector");
      AssertThrow(!vector.has_ghost_elements() &&
                    static_cast<std::uint64_t>(
                      vector.trilinos_vector().MyLength()) ==
                      structure.n_owned_rows,
                  ExcMessage("The vector is distributed over processes in "
                             "another way than the degrees of freedom, or has "
                             "ghost entries: call reinit() of the assembler "
                             "on it."));
    }



    double *
    VectorTraits<TrilinosWrappers::MPI::Vector>::values(
      TrilinosWrappers::MPI::Vector &vector)
    {
      return vector.trilinos_vector()[0];
    }
#endif



    template <typename Number>
    void
    MatrixTraits<SparseMatrix<Number>>::reinit(SparseMatrix<Number>  &matrix,
                                               SparsityPattern       &pattern,
                                               const MatrixStructure &structure)
    {
      structure.check_one_process("dealii::SparseMatrix");
      const BlockSparsity              &blocks     = structure.blocks;
      const std::vector<std::uint64_t> &dof_offset = structure.dof_offset;
      matrix.clear();
      std::vector<unsigned int> row_lengths;
      row_lengths.reserve(dof_offset.back());
      for (unsigned int k = 0; k < blocks.row_width.size(); ++k)
        row_lengths.insert(row_lengths.end(),
                           dof_offset[k + 1] - dof_offset[k],
                           blocks.row_width[k]);
      pattern.reinit(dof_offset.back(), dof_offset.back(), row_lengths);
      for (unsigned int k = 0; k < blocks.row_width.size(); ++k)
        for (std::uint64_t i = dof_offset[k]; i < dof_offset[k + 1]; ++i)
          for (std::uint64_t b = blocks.block_offset[k];
               b < blocks.block_offset[k + 1];
               ++b)
            for (std::uint64_t j = dof_offset[blocks.block_column[b]];
                 j < dof_offset[blocks.block_column[b] + 1];
                 ++j)
              pattern.add(i, j);
      pattern.compress();
      matrix.reinit(pattern);
    }



    template <typename Number>
    void
    MatrixTraits<SparseMatrix<Number>>::check(SparseMatrix<Number>  &matrix,
                                              const MatrixStructure &structure)
    {
      structure.check_one_process("dealii::SparseMatrix");
      structure.check_size(matrix.m(), "matrix");
      const BlockSparsity &blocks = structure.blocks;
      std::atomic<bool>    matches(matrix.n_nonzero_elements() ==
                                blocks.n_nonzero_elements());
      if (matches)
        parallel::apply_to_subranges(
          0u,
          static_cast<unsigned int>(blocks.row_width.size()),
          [&](const unsigned int begin, const unsigned int end) {
            for (unsigned int k = begin; k < end; ++k)
              if (&matrix.diag_element(structure.dof_offset[k]) -
                    &matrix.diag_element(0) !=
                  static_cast<std::ptrdiff_t>(blocks.value_offset[k]))
                matches = false;
          },
          64);
      AssertThrow(matches,
                  ExcMessage("The matrix does not have the sparsity pattern of "
                             "this mesh and element."));
    }



    template <typename Number>
    void
    MatrixTraits<SparseMatrix<Number>>::store(SparseMatrix<Number>  &matrix,
                                              const MatrixStructure &structure,
                                              const unsigned int     begin,
                                              const unsigned int     end,
                                              const Number          *values)
    {
      const BlockSparsity &blocks = structure.blocks;
      for (unsigned int k = begin; k < end; ++k)
        store_block_row(matrix,
                        blocks,
                        structure.dof_offset,
                        k,
                        values + (blocks.value_offset[k] -
                                  blocks.value_offset[begin]));
    }



    template <typename MatrixType, Storage where>
    void
    BlockMatrixTraits<MatrixType, where>::reinit(MatrixType      &matrix,
                                                 MatrixStructure &structure)
    {
      const std::shared_ptr<const BlockPartition> &rows = structure.partition();
      structure.on_all_processes(
        [&] { matrix.reinit(structure.blocks, structure.dof_offset, rows); });
    }



    template <typename MatrixType, Storage where>
    void
    BlockMatrixTraits<MatrixType, where>::check(
      const MatrixType &matrix, const MatrixStructure &structure)
    {
      structure.check_size(matrix.m(), "matrix");
      const std::string what =
        where == Storage::device ? "matrix on the device" : "block matrix";
      AssertThrow(matrix.dof_offset() == structure.dof_offset &&
                    matrix.block_sparsity().value_offset ==
                      structure.blocks.value_offset,
                  ExcMessage("The " + what +
                             " does not have the structure of "
                             "this mesh and element: call reinit() of the "
                             "assembler on it, after distribute_dofs()."));
    }



    template struct MatrixTraits<SparseMatrix<double>>;
    template struct MatrixTraits<SparseMatrix<float>>;
    template struct BlockMatrixTraits<HostBlockMatrix<double>, Storage::host>;
    template struct BlockMatrixTraits<HostBlockMatrix<float>, Storage::host>;
    template struct BlockMatrixTraits<DeviceBlockMatrix<double>,
                                      Storage::device>;
    template struct BlockMatrixTraits<DeviceBlockMatrix<float>,
                                      Storage::device>;
  } // namespace internal
} // namespace Tessella
