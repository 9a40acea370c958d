// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_assembly_rectangular_rows_h
#define tessella_source_assembly_rectangular_rows_h

#include <deal.II/base/exceptions.h>

#include <deal.II/lac/dynamic_sparsity_pattern.h>

#include <tessella/base/config.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../lac/block_rows.h"
#include "../lac/epetra_rows.h"
#include "../lac/matrix_traits.h"
#include "../lac/petsc_traits.h"

#ifdef TESSELLA_HAVE_EPETRA
DEAL_II_DISABLE_EXTRA_DIAGNOSTICS
#  include <Epetra_Map.h>
DEAL_II_ENABLE_EXTRA_DIAGNOSTICS
#endif

// Structure and rows of rectangular matrices of several classes.

namespace Tessella
{
  namespace internal
  {
    /// Degrees of freedom of test and trial functions.
    struct RectangularStructure
    {
      explicit RectangularStructure(const MPI_Comm communicator)
        : test(communicator)
        , trial(communicator)
      {}

      /// The blocks are those of @p trial.
      MatrixStructure  test, trial;
      dealii::IndexSet owned_rows, owned_columns;

      /// Calls work(row, columns) for the rows of this process, with global
      /// indices in ascending order.
      template <typename Work>
      void
      for_rows(const Work &work) const
      {
        const std::uint64_t                   n_owned   = trial.n_owned_rows;
        const dealii::types::global_dof_index first_row = first(owned_rows),
                                              first_column =
                                                first(owned_columns);
        std::vector<dealii::types::global_dof_index> columns;
        for (unsigned int k = 0; k < trial.n_owned_polytopes; ++k)
          {
            columns.clear();
            for_columns(
              trial.blocks, trial.dof_offset, k, [&](const std::uint64_t j) {
                columns.push_back(j < n_owned
                                    ? first_column + j
                                    : trial.ghost_columns[j - n_owned]);
              });
            std::sort(columns.begin(), columns.end());
            for (std::uint64_t i = test.dof_offset[k];
                 i < test.dof_offset[k + 1];
                 ++i)
              work(first_row + i, columns);
          }
      }

      static dealii::types::global_dof_index
      first(const dealii::IndexSet &owned)
      {
        return owned.n_elements() == 0 ? 0 : owned.nth_index_in_set(0);
      }
    };

    /**
     * A specialisation for a class of matrices has
     *
     *     // throws unless the matrix has the size of the structure
     *     RectangularRows(MatrixType &, const RectangularStructure &);
     *     void set_to_zero();
     *     // Writes n_rows rows from row @p row of this process on. Columns are
     *     // counted on this process, ghosts last; entry c of row r is
     *     // values[r * stride + positions[c]]. Threads may write different
     *     // rows.
     *     void write(row, n_rows, columns, positions, values, stride);
     */
    template <typename MatrixType>
    class RectangularRows;

    template <typename Number>
    class RectangularRows<dealii::SparseMatrix<Number>>
    {
    public:
      RectangularRows(dealii::SparseMatrix<Number> &matrix,
                      const RectangularStructure   &structure)
        : matrix(matrix)
      {
        structure.test.check_one_process("dealii::SparseMatrix");
        AssertThrow(matrix.m() == structure.test.n_dofs &&
                      matrix.n() == structure.trial.n_dofs,
                    dealii::ExcMessage(
                      "The matrix or the vector does not have the size of "
                      "these spaces: call reinit() of the assembler."));
      }

      void
      set_to_zero()
      {
        matrix = 0;
      }

      void
      write(const std::uint64_t               row,
            const unsigned int                n_rows,
            const std::vector<std::uint64_t> &columns,
            const std::vector<std::size_t>   &positions,
            const double                     *values,
            const std::size_t                 stride)
      {
        const std::vector<dealii::types::global_dof_index> indices(
          columns.begin(), columns.end());
        std::vector<Number> entries(columns.size());
        for (unsigned int r = 0; r < n_rows; ++r)
          {
            for (std::size_t c = 0; c < entries.size(); ++c)
              entries[c] = values[r * stride + positions[c]];
            matrix.set(
              row + r, indices.size(), indices.data(), entries.data(), false);
          }
      }

    private:
      dealii::SparseMatrix<Number> &matrix;
    };

#ifdef TESSELLA_HAVE_EPETRA
    template <>
    class RectangularRows<dealii::TrilinosWrappers::SparseMatrix>
    {
    public:
      RectangularRows(dealii::TrilinosWrappers::SparseMatrix &matrix,
                      const RectangularStructure             &structure)
        : rows(matrix)
        , n_rows(matrix.trilinos_matrix().NumMyRows())
      {
        const MatrixStructure &trial   = structure.trial;
        const Epetra_Map      &columns = matrix.trilinos_matrix().ColMap();
        bool                   matches =
          matrix.m() == structure.test.n_dofs && matrix.n() == trial.n_dofs &&
          matrix.locally_owned_range_indices() == structure.owned_rows &&
          matrix.locally_owned_domain_indices() == structure.owned_columns;
        for (unsigned int k = 0; matches && k < trial.n_owned_polytopes; ++k)
          for (std::uint64_t i = structure.test.dof_offset[k];
               i < structure.test.dof_offset[k + 1];
               ++i)
            matches = matches && rows.offset[i + 1] - rows.offset[i] ==
                                   static_cast<int>(trial.blocks.row_width[k]);
        AssertThrow(matches,
                    dealii::ExcMessage(
                      "The matrix does not have the structure of these "
                      "spaces: call reinit() of the assembler."));
        using index      = dealii::TrilinosWrappers::types::int_type;
        const auto first = RectangularStructure::first(structure.owned_columns);
        local_column.reserve(trial.dof_offset.back());
        for (std::uint64_t j = 0; j < trial.n_owned_rows; ++j)
          local_column.push_back(columns.LID(static_cast<index>(first + j)));
        for (const auto column : trial.ghost_columns)
          local_column.push_back(columns.LID(static_cast<index>(column)));
      }

      void
      set_to_zero()
      {
        if (n_rows > 0)
          std::fill(rows.value, rows.value + rows.offset[n_rows], 0.);
      }

      /// All rows of a block row have the same columns, so that they are
      /// searched for once.
      void
      write(const std::uint64_t               row,
            const unsigned int                n_rows,
            const std::vector<std::uint64_t> &columns,
            const std::vector<std::size_t>   &positions,
            const double                     *values,
            const std::size_t                 stride)
      {
        const int *const begin = rows.column + rows.offset[row],
                         *end  = rows.column + rows.offset[row + 1];
        std::vector<std::size_t> to(columns.size());
        for (std::size_t c = 0; c < to.size(); ++c)
          {
            const int *const place =
              std::lower_bound(begin, end, local_column[columns[c]]);
            AssertThrow(place != end && *place == local_column[columns[c]],
                        dealii::ExcMessage(
                          "The matrix does not have the columns of these "
                          "spaces: call reinit() of the assembler."));
            to[c] = place - begin;
          }
        for (unsigned int r = 0; r < n_rows; ++r)
          for (std::size_t c = 0; c < to.size(); ++c)
            rows.value[rows.offset[row + r] + to[c]] =
              values[r * stride + positions[c]];
      }

    private:
      EpetraRows       rows;
      int              n_rows;
      std::vector<int> local_column;
    };
#endif

#ifdef TESSELLA_HAVE_PETSC
    template <>
    class RectangularRows<dealii::PETScWrappers::MPI::SparseMatrix>
    {
    public:
      RectangularRows(dealii::PETScWrappers::MPI::SparseMatrix &matrix,
                      const RectangularStructure               &structure)
        : n_owned_rows(structure.test.n_owned_rows)
        , n_owned_columns(structure.trial.n_owned_rows)
      {
        const MatrixStructure &trial  = structure.trial;
        const Mat              mat    = matrix.petsc_matrix();
        PetscBool              is_aij = PETSC_FALSE;
        PetscInt               local[2];
        check_petsc(
          PetscObjectTypeCompare((PetscObject)mat, MATMPIAIJ, &is_aij));
        check_petsc(MatGetLocalSize(mat, &local[0], &local[1]));
        const auto size = [](const PetscInt n) {
          return static_cast<std::uint64_t>(n);
        };
        check(is_aij == PETSC_TRUE && matrix.m() == structure.test.n_dofs &&
              matrix.n() == trial.n_dofs && size(local[0]) == n_owned_rows &&
              size(local[1]) == n_owned_columns);
        rows = PetscRows(mat);
        for (unsigned int k = 0; k < trial.n_owned_polytopes; ++k)
          for (std::uint64_t i = structure.test.dof_offset[k];
               i < structure.test.dof_offset[k + 1];
               ++i)
            check(width(rows.owned, i) + width(rows.others, i) ==
                  static_cast<PetscInt>(trial.blocks.row_width[k]));
        const PetscInt *const begin = rows.other_columns,
                              *end  = begin + rows.others.n_columns;
        for (const auto given : trial.ghost_columns)
          {
            const PetscInt        column = static_cast<PetscInt>(given);
            const PetscInt *const place  = std::lower_bound(begin, end, column);
            check(place != end && *place == column);
            local_ghost.push_back(place - begin);
          }
        // The values are about to change, of which PETSc must know.
        check_petsc(PetscObjectStateIncrease((PetscObject)mat));
      }

      void
      set_to_zero()
      {
        for (const auto *part : {&rows.owned, &rows.others})
          std::fill_n(part->value, part->offset[n_owned_rows], 0.);
      }

      /// As for Epetra, columns are searched for once for a block row.
      void
      write(const std::uint64_t               row,
            const unsigned int                n_rows,
            const std::vector<std::uint64_t> &columns,
            const std::vector<std::size_t>   &positions,
            const double                     *values,
            const std::size_t                 stride)
      {
        std::vector<std::size_t> to(columns.size());
        for (std::size_t c = 0; c < to.size(); ++c)
          {
            const bool             owned = columns[c] < n_owned_columns;
            const PetscRows::Part &part  = owned ? rows.owned : rows.others;
            const PetscInt         column =
              owned ? static_cast<PetscInt>(columns[c])
                            : local_ghost[columns[c] - n_owned_columns];
            const PetscInt *const begin  = part.column + part.offset[row],
                                  *end   = part.column + part.offset[row + 1],
                                  *place = std::lower_bound(begin, end, column);
            check(place != end && *place == column);
            to[c] = place - begin;
          }
        for (unsigned int r = 0; r < n_rows; ++r)
          for (std::size_t c = 0; c < to.size(); ++c)
            {
              const PetscRows::Part &part =
                columns[c] < n_owned_columns ? rows.owned : rows.others;
              part.value[part.offset[row + r] + to[c]] =
                values[r * stride + positions[c]];
            }
      }

    private:
      static PetscInt
      width(const PetscRows::Part &part, const std::uint64_t row)
      {
        return part.offset[row + 1] - part.offset[row];
      }

      static void
      check(const bool matches)
      {
        AssertThrow(matches,
                    dealii::ExcMessage(
                      "The matrix does not have the structure of these "
                      "spaces: call reinit() of the assembler."));
      }

      const std::uint64_t   n_owned_rows, n_owned_columns;
      PetscRows             rows;
      std::vector<PetscInt> local_ghost;
    };
#endif
  } // namespace internal
} // namespace Tessella

#endif
