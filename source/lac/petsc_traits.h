// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_lac_petsc_traits_h
#define tessella_source_lac_petsc_traits_h

#include <deal.II/base/config.h>

#ifdef DEAL_II_WITH_PETSC
#  include <petscconf.h>
// PETSc with complex numbers or in another precision is left out.
#  if defined(PETSC_USE_REAL_DOUBLE) && !defined(PETSC_USE_COMPLEX)
#    define TESSELLA_HAVE_PETSC
#  endif
#endif

#ifdef TESSELLA_HAVE_PETSC

#  include <deal.II/lac/dynamic_sparsity_pattern.h>
#  include <deal.II/lac/exceptions.h>
#  include <deal.II/lac/petsc_compatibility.h>
#  include <deal.II/lac/petsc_sparse_matrix.h>
#  include <deal.II/lac/petsc_vector.h>

// This header, which PETSc installs, has PetscObjectStateIncrease().
#  include <algorithm>
#  include <atomic>
#  include <mutex>
#  include <petsc/private/petscimpl.h>
#  include <utility>

#  include "../base/parallel_for.h"
#  include "matrix_traits.h"

// Matrices and vectors of PETScWrappers as destinations of assembly.

namespace Tessella
{
  namespace internal
  {
    inline void
    check_petsc(const PetscErrorCode error)
    {
      AssertThrow(error == 0, dealii::LACExceptions::ExcPETScError(error));
    }

    /// Arrays of the two matrices in which PETSc stores the rows that a process
    /// owns: one with the columns that the process owns, and one with all
    /// others, both as CSR with local columns in ascending order.
    struct PetscRows
    {
      struct Part
      {
        const PetscInt *offset = nullptr, *column = nullptr;
        PetscScalar    *value     = nullptr;
        PetscInt        n_columns = 0;
      };
      Part owned, others;
      /// Global indices of the columns that other processes own.
      const PetscInt *other_columns = nullptr;

      PetscRows() = default;

      explicit PetscRows(const Mat matrix)
      {
        Mat own = nullptr, other = nullptr;
        check_petsc(MatMPIAIJGetSeqAIJ(matrix, &own, &other, &other_columns));
        owned  = get(own);
        others = get(other);
      }

    private:
      /// The pointers stay valid as long as the structure does.
      static Part
      get(const Mat matrix)
      {
        Part            part;
        PetscInt        n_rows = 0;
        const PetscInt *offset = nullptr, *column = nullptr;
        PetscScalar    *value = nullptr;
        PetscBool       done  = PETSC_FALSE;
        const auto      rows  = [&](const auto function) {
          check_petsc(function(matrix,
                               0,
                               PETSC_FALSE,
                               PETSC_FALSE,
                               &n_rows,
                               &offset,
                               &column,
                               &done));
        };
        rows(MatGetRowIJ);
        AssertThrow(done == PETSC_TRUE, dealii::ExcInternalError());
        part.offset = offset;
        part.column = column;
        rows(MatRestoreRowIJ);
        check_petsc(MatSeqAIJGetArray(matrix, &value));
        part.value = value;
        check_petsc(MatSeqAIJRestoreArray(matrix, &value));
        check_petsc(MatGetLocalSize(matrix, nullptr, &part.n_columns));
        return part;
      }
    };

    /**
     * The structure is handed to PETSc in one array, from which PETSc inserts
     * the columns on one thread; it needs one PetscInt per entry until then.
     * Values are copied once, as for dealii::SparseMatrix: the entries of a row
     * are not side by side if other processes own some of its columns.
     *
     * If all polytopes have equally many degrees of freedom, this is the block
     * size of the matrix, so that MatConvert() to MATBAIJ and block
     * preconditioners work.
     */
    template <>
    struct MatrixTraits<dealii::PETScWrappers::MPI::SparseMatrix>
    {
      using MatrixType = dealii::PETScWrappers::MPI::SparseMatrix;
      using value_type = PetscScalar;
      static constexpr Storage storage       = Storage::rows;
      static constexpr bool    serial_reinit = true;

      static void
      reinit(MatrixType &matrix, MatrixStructure &structure)
      {
        structure.on_all_processes([&] { check_limits(structure); });
        const BlockPartition partition =
          structure.n_processes > 1
            ? *structure.partition()
            : BlockPartition(structure.communicator,
                             structure.dof_offset,
                             structure.n_owned_polytopes,
                             {});
        // The communicator of deal.II's object can be set by its reinit() only.
        dealii::IndexSet owned(structure.n_dofs);
        owned.add_range(partition.first_row(),
                        partition.first_row() + structure.n_owned_rows);
        matrix.reinit(owned,
                      owned,
                      dealii::DynamicSparsityPattern(structure.n_dofs,
                                                     structure.n_dofs,
                                                     owned),
                      structure.communicator);

        std::vector<PetscInt> offset(structure.n_owned_rows + 1, 0),
          column(structure.blocks.n_nonzero_elements());
        fill(structure, partition.first_row(), offset, column);
        Mat &mat = matrix.petsc_matrix();
        check_petsc(MatDestroy(&mat));
        check_petsc(MatCreate(structure.communicator, &mat));
        check_petsc(MatSetSizes(mat,
                                structure.n_owned_rows,
                                structure.n_owned_rows,
                                structure.n_dofs,
                                structure.n_dofs));
        check_petsc(MatSetType(mat, MATMPIAIJ));
        const auto &sizes = partition.block_sizes();
        if (sizes.smallest == sizes.largest)
          check_petsc(MatSetBlockSize(mat, sizes.largest));
        check_petsc(MatMPIAIJSetPreallocationCSR(
          mat, offset.data(), column.data(), nullptr));
        // deal.II's matrices also ignore new entries, by an option with which
        // MatConvert() to MATBAIJ loses values. Here they are an error of
        // PETSc.
        dealii::PETScWrappers::set_keep_zero_rows(mat);
      }

      /// The column indices are checked once per matrix.
      static void
      check(MatrixType &matrix, MatrixStructure &structure)
      {
        structure.check_size(matrix.m(), "matrix");
        const Mat mat     = matrix.petsc_matrix();
        PetscBool is_aij  = PETSC_FALSE;
        PetscInt  n_rows  = 0;
        bool      matches = false;
        check_petsc(
          PetscObjectTypeCompare((PetscObject)mat, MATMPIAIJ, &is_aij));
        check_petsc(MatGetLocalSize(mat, &n_rows, nullptr));
        if (is_aij == PETSC_TRUE &&
            static_cast<std::uint64_t>(n_rows) == structure.n_owned_rows)
          {
            const PetscRows                   rows(mat);
            const std::array<const void *, 3> arrays = {
              {rows.owned.offset, rows.owned.value, rows.others.value}};
            const bool known = structure.is_checked(arrays);
            matches = has_structure(rows, structure, /*check_columns=*/!known);
            if (matches && !known)
              structure.set_checked(arrays);
          }
        AssertThrow(matches,
                    dealii::ExcMessage(
                      "The matrix does not have the structure of this "
                      "mesh and element: call reinit() of the assembler "
                      "on it, after distribute_dofs()."));
        // The values are about to change, of which PETSc must know.
        check_petsc(PetscObjectStateIncrease((PetscObject)mat));
        ++n_checks;
      }

      static void
      store(MatrixType            &matrix,
            const MatrixStructure &structure,
            const unsigned int     begin,
            const unsigned int     end,
            const value_type      *values)
      {
        const PetscRows &rows = rows_of(matrix);
        for (unsigned int k = begin; k < end; ++k)
          {
            const unsigned int n_owned = n_owned_columns(structure, k),
                               n_others =
                                 structure.blocks.row_width[k] - n_owned;
            for (std::uint64_t row = structure.dof_offset[k];
                 row < structure.dof_offset[k + 1];
                 ++row, values += n_owned + n_others)
              {
                std::copy_n(values,
                            n_owned,
                            rows.owned.value + rows.owned.offset[row]);
                std::copy_n(values + n_owned,
                            n_others,
                            rows.others.value + rows.others.offset[row]);
              }
          }
      }

    private:
      static void
      check_limits(const MatrixStructure &structure)
      {
        const std::uint64_t largest = std::numeric_limits<PetscInt>::max();
        AssertThrow(structure.n_dofs < largest &&
                      structure.blocks.n_nonzero_elements() <= largest,
                    dealii::ExcMessage(
                      "There are " + std::to_string(structure.n_dofs) +
                      " degrees of freedom, and " +
                      std::to_string(structure.blocks.n_nonzero_elements()) +
                      " entries of the matrix on one process; this PETSc can "
                      "count to " +
                      std::to_string(largest) +
                      ". Use PETSc and deal.II with 64-bit indices."));
      }

      /// Offsets and global columns of the CSR structure. PETSc expects the
      /// columns of a row in ascending order.
      static void
      fill(const MatrixStructure &structure,
           const std::uint64_t    first_row,
           std::vector<PetscInt> &offset,
           std::vector<PetscInt> &column)
      {
        const BlockSparsity              &blocks     = structure.blocks;
        const std::vector<std::uint64_t> &dof_offset = structure.dof_offset;
        const unsigned int                n_rows = structure.n_owned_polytopes;
        parallel_for(n_rows, 64, [&](const unsigned int k) {
          const unsigned int width = blocks.row_width[k];
          PetscInt *const    row   = column.data() + blocks.value_offset[k];
          PetscInt          *end   = row;
          for_columns(blocks, dof_offset, k, [&](const std::uint64_t j) {
            *end++ = j < structure.n_owned_rows
                       ? first_row + j
                       : structure.ghost_columns[j - structure.n_owned_rows];
          });
          std::sort(row, end);
          for (std::uint64_t i = 0; i < dof_offset[k + 1] - dof_offset[k]; ++i)
            {
              if (i > 0)
                std::copy(row, end, row + i * width);
              offset[dof_offset[k] + i + 1] =
                blocks.value_offset[k] + (i + 1) * width;
            }
        });
      }

      /// Number of columns of block row @p k that this process owns.
      static unsigned int
      n_owned_columns(const MatrixStructure &structure, const unsigned int k)
      {
        const BlockSparsity &blocks = structure.blocks;
        const auto           begin  = blocks.block_column.begin();
        const auto           end    = begin + blocks.block_offset[k + 1];
        const auto ghost = std::lower_bound(begin + blocks.block_offset[k],
                                            end,
                                            structure.n_owned_polytopes);
        return ghost == end ? blocks.row_width[k]
                            : blocks.column_offset[ghost - begin];
      }

      static bool
      has_structure(const PetscRows       &rows,
                    const MatrixStructure &structure,
                    const bool             check_columns)
      {
        const BlockSparsity              &blocks     = structure.blocks;
        const std::vector<std::uint64_t> &dof_offset = structure.dof_offset;
        const std::uint64_t               n_owned    = structure.n_owned_rows;
        if (!std::equal(rows.other_columns,
                        rows.other_columns + rows.others.n_columns,
                        structure.ghost_columns.begin(),
                        structure.ghost_columns.end(),
                        [](const PetscInt                        a,
                           const dealii::types::global_dof_index b) {
                          return static_cast<std::uint64_t>(a) == b;
                        }))
          return false;
        const unsigned int n_rows = structure.n_owned_polytopes;
        return all_of_block_rows(n_rows, 64, [&](const unsigned int k) {
          const unsigned int n = n_owned_columns(structure, k);
          for (std::uint64_t row = dof_offset[k]; row < dof_offset[k + 1];
               ++row)
            {
              const PetscInt *const        owned  = rows.owned.offset + row,
                                    *const others = rows.others.offset + row;
              if (owned[1] - owned[0] != static_cast<PetscInt>(n) ||
                  others[1] - others[0] !=
                    static_cast<PetscInt>(blocks.row_width[k] - n))
                return false;
              if (!check_columns)
                continue;
              const PetscInt *own   = rows.owned.column + owned[0],
                             *other = rows.others.column + others[0];
              bool matches          = true;
              for_columns(blocks, dof_offset, k, [&](const std::uint64_t j) {
                if (j < n_owned
                      ? static_cast<std::uint64_t>(*own++) != j
                      : static_cast<std::uint64_t>(*other++) + n_owned != j)
                  matches = false;
              });
              if (!matches)
                return false;
            }
          return true;
        });
      }

      /// Arrays of a matrix. PETSc's functions are for one thread at a time, so
      /// each thread calls them once after check() and keeps the result.
      static const PetscRows &
      rows_of(MatrixType &matrix)
      {
        thread_local std::pair<const MatrixType *, std::uint64_t> present(
          nullptr, 0);
        thread_local PetscRows                             rows;
        const std::pair<const MatrixType *, std::uint64_t> wanted(&matrix,
                                                                  n_checks);
        if (present != wanted)
          {
            static std::mutex                 mutex;
            const std::lock_guard<std::mutex> lock(mutex);
            rows    = PetscRows(matrix.petsc_matrix());
            present = wanted;
          }
        return rows;
      }

      /// Number of calls of check() for all matrices, so that threads ask again
      /// for the arrays of a matrix at the same address.
      inline static std::atomic<std::uint64_t> n_checks{0};
    };

    template <>
    struct VectorTraits<dealii::PETScWrappers::MPI::Vector>
      : DistributedVectorTraits<dealii::PETScWrappers::MPI::Vector>
    {
      static void
      check(const VectorType &vector, const MatrixStructure &structure)
      {
        structure.check_distribution(vector.size(),
                                     vector.locally_owned_size());
        AssertThrow(!vector.has_ghost_elements(),
                    dealii::ExcMessage("The vector has ghost entries: call "
                                       "reinit() of the assembler on it."));
      }

      static PetscScalar *
      values(VectorType &vector)
      {
        const Vec   &vec    = vector;
        PetscScalar *values = nullptr, *result = nullptr;
        check_petsc(VecGetArray(vec, &values));
        result = values;
        check_petsc(VecRestoreArray(vec, &values));
        return result;
      }
    };
  } // namespace internal
} // namespace Tessella

#endif
#endif
