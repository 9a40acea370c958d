// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_lac_tpetra_traits_h
#define tessella_source_lac_tpetra_traits_h

#include <tessella/base/compatibility.h>

#ifdef TESSELLA_HAVE_TPETRA

#  include <deal.II/lac/trilinos_tpetra_sparse_matrix.h>
#  include <deal.II/lac/trilinos_tpetra_sparsity_pattern.h>
#  include <deal.II/lac/trilinos_tpetra_vector.h>

DEAL_II_DISABLE_EXTRA_DIAGNOSTICS
#  include <Tpetra_CrsGraph.hpp>
#  include <Tpetra_CrsMatrix.hpp>
#  include <Tpetra_Map.hpp>
DEAL_II_ENABLE_EXTRA_DIAGNOSTICS

#  include <algorithm>
#  include <array>
#  include <cstdint>
#  include <limits>
#  include <string>
#  include <vector>

#  include "../base/parallel_for.h"
#  include "matrix_traits.h"

// Matrices and vectors of LinearAlgebra::TpetraWrappers in the memory of the
// host as destinations of assembly.

namespace Tessella
{
  namespace internal
  {
    /**
     * The structure is made as finished CSR arrays, which Tpetra copies once
     * without a search, and the backends write into the array of the matrix's
     * values: local columns are those of the structure, owned ones first, so
     * that the entries have the order of MatrixStructure.
     */
    template <>
    struct MatrixTraits<
      dealii::LinearAlgebra::TpetraWrappers::SparseMatrix<double>>
    {
      using MatrixType =
        dealii::LinearAlgebra::TpetraWrappers::SparseMatrix<double>;
      using value_type                       = double;
      static constexpr Storage storage       = Storage::host;
      static constexpr bool    serial_reinit = true;

      static void
      reinit(MatrixType &matrix, MatrixStructure &structure)
      {
        structure.on_all_processes([&] { check_limits(structure); });
        const std::uint64_t first =
          structure.n_processes > 1 ? structure.partition()->first_row() : 0;
        // The map of the columns of deal.II's object can be set by its reinit()
        // only.
        dealii::IndexSet owned(structure.n_dofs);
        owned.add_range(first, first + structure.n_owned_rows);
        // Patterns of other types must not be empty on any process.
        dealii::LinearAlgebra::TpetraWrappers::SparsityPattern<HostMemory>
          no_entries(owned, owned, structure.communicator, 0);
        no_entries.compress();
        matrix.reinit(no_entries);

        const Teuchos::RCP<TpetraMatrix> present = matrix.trilinos_rcp();
        const Teuchos::RCP<const Map>    rows    = present->getRowMap();
        const Teuchos::RCP<Graph>        graph =
          Teuchos::rcp(new Graph(rows,
                                 column_map(structure, first, *rows),
                                 Teuchos::arcp(make_offsets(structure)),
                                 Teuchos::arcp(make_columns(structure))));
        graph->expertStaticFillComplete(rows, rows);
        // Another value of the object that deal.II's matrix points to.
        TpetraMatrix filled(Teuchos::RCP<const Graph>(graph.getConst()));
        filled.fillComplete(rows, rows);
        *present = filled;
      }

      /// The column indices are checked once per matrix.
      static void
      check(MatrixType &matrix, MatrixStructure &structure)
      {
        structure.check_size(matrix.m(), "matrix");
        const auto local   = matrix.trilinos_matrix().getLocalMatrixHost();
        bool       matches = false;
        if (static_cast<std::uint64_t>(local.numRows()) ==
              structure.n_owned_rows &&
            local.values.extent(0) == structure.blocks.n_nonzero_elements())
          {
            const std::array<const void *, 3> arrays = {
              {local.graph.row_map.data(),
               local.graph.entries.data(),
               local.values.data()}};
            matches = structure.is_checked(arrays) ||
                      has_structure(matrix.trilinos_matrix(), structure);
            if (matches)
              structure.set_checked(arrays);
          }
        AssertThrow(matches,
                    dealii::ExcMessage(
                      "The matrix does not have the structure of this "
                      "mesh and element: call reinit() of the assembler "
                      "on it, after distribute_dofs()."));
      }

      static double *
      values(MatrixType &matrix)
      {
        return matrix.trilinos_matrix().getLocalMatrixHost().values.data();
      }

    private:
      using HostMemory = dealii::MemorySpace::Host;
      using LocalIndex = dealii::LinearAlgebra::TpetraWrappers::TpetraTypes::LO;
      using GlobalIndex =
        dealii::LinearAlgebra::TpetraWrappers::TpetraTypes::GO;
      using Map =
        dealii::LinearAlgebra::TpetraWrappers::TpetraTypes::MapType<HostMemory>;
      using Graph =
        dealii::LinearAlgebra::TpetraWrappers::TpetraTypes::GraphType<
          HostMemory>;
      using TpetraMatrix = dealii::LinearAlgebra::TpetraWrappers::TpetraTypes::
        MatrixType<double, HostMemory>;

      static void
      check_limits(const MatrixStructure &structure)
      {
        const std::uint64_t largest_row =
                              std::numeric_limits<GlobalIndex>::max(),
                            largest_column =
                              std::numeric_limits<LocalIndex>::max();
        AssertThrow(
          structure.n_dofs <= largest_row &&
            structure.n_owned_rows + structure.ghost_columns.size() <=
              largest_column,
          dealii::ExcMessage(
            "There are " + std::to_string(structure.n_dofs) +
            " degrees of freedom, " + std::to_string(structure.n_owned_rows) +
            " of them on one process; Tpetra's matrices can count to " +
            std::to_string(largest_row) + " and " +
            std::to_string(largest_column) +
            ". Configure deal.II with 64-bit indices, or use more "
            "processes."));
      }

      /// The columns of a process: those that it owns and its ghosts.
      static Teuchos::RCP<const Map>
      column_map(const MatrixStructure &structure,
                 const std::uint64_t    first,
                 const Map             &rows)
      {
        std::vector<GlobalIndex> columns(structure.n_owned_rows);
        for (std::uint64_t i = 0; i < structure.n_owned_rows; ++i)
          columns[i] = static_cast<GlobalIndex>(first + i);
        columns.insert(columns.end(),
                       structure.ghost_columns.begin(),
                       structure.ghost_columns.end());
        return Teuchos::rcp(
          new Map(Teuchos::OrdinalTraits<Tpetra::global_size_t>::invalid(),
                  Teuchos::ArrayView<const GlobalIndex>(columns),
                  0,
                  rows.getComm()));
      }

      static Teuchos::RCP<std::vector<std::size_t>>
      make_offsets(const MatrixStructure &structure)
      {
        const auto offset = Teuchos::rcp(
          new std::vector<std::size_t>(structure.n_owned_rows + 1));
        const BlockSparsity              &blocks     = structure.blocks;
        const std::vector<std::uint64_t> &dof_offset = structure.dof_offset;
        parallel_for(
          structure.n_owned_polytopes, 64, [&](const unsigned int k) {
            for (std::uint64_t i = 0; i < dof_offset[k + 1] - dof_offset[k];
                 ++i)
              (*offset)[dof_offset[k] + i + 1] =
                blocks.value_offset[k] + (i + 1) * blocks.row_width[k];
          });
        return offset;
      }

      static Teuchos::RCP<std::vector<LocalIndex>>
      make_columns(const MatrixStructure &structure)
      {
        const auto column = Teuchos::rcp(
          new std::vector<LocalIndex>(structure.blocks.n_nonzero_elements()));
        const BlockSparsity              &blocks     = structure.blocks;
        const std::vector<std::uint64_t> &dof_offset = structure.dof_offset;
        parallel_for(
          structure.n_owned_polytopes, 64, [&](const unsigned int k) {
            const unsigned int width = blocks.row_width[k];
            LocalIndex *const  row   = column->data() + blocks.value_offset[k];
            LocalIndex        *end   = row;
            for_columns(blocks, dof_offset, k, [&](const std::uint64_t j) {
              *end++ = static_cast<LocalIndex>(j);
            });
            for (std::uint64_t i = 1; i < dof_offset[k + 1] - dof_offset[k];
                 ++i)
              std::copy(row, row + width, row + i * width);
          });
        return column;
      }

      static bool
      has_structure(const TpetraMatrix    &matrix,
                    const MatrixStructure &structure)
      {
        const BlockSparsity              &blocks     = structure.blocks;
        const std::vector<std::uint64_t> &dof_offset = structure.dof_offset;
        const auto                        local = matrix.getLocalMatrixHost();
        const std::uint64_t               n     = structure.n_owned_rows;
        if (static_cast<std::uint64_t>(local.numCols()) !=
            n + structure.ghost_columns.size())
          return false;
        // The owned rows are consecutive, and their columns come first.
        const Map        &rows        = *matrix.getRowMap();
        const Map        &all_columns = *matrix.getColMap();
        const GlobalIndex first       = rows.getMinGlobalIndex();
        const auto has_global = [](const Map &map, const auto i, const auto g) {
          return map.getGlobalElement(static_cast<LocalIndex>(i)) ==
                 static_cast<GlobalIndex>(g);
        };
        for (std::uint64_t i = 0; i < n; ++i)
          if (!has_global(rows, i, first + i) ||
              !has_global(all_columns, i, first + i))
            return false;
        for (std::uint64_t i = 0; i < structure.ghost_columns.size(); ++i)
          if (!has_global(all_columns, n + i, structure.ghost_columns[i]))
            return false;
        const auto *const offset = local.graph.row_map.data();
        const auto *const column = local.graph.entries.data();
        return all_of_block_rows(
          structure.n_owned_polytopes, 64, [&](const unsigned int k) {
            for (std::uint64_t row = dof_offset[k]; row < dof_offset[k + 1];
                 ++row)
              {
                if (offset[row + 1] - offset[row] != blocks.row_width[k])
                  return false;
                const LocalIndex *entry   = column + offset[row];
                bool              matches = true;
                for_columns(blocks, dof_offset, k, [&](const std::uint64_t j) {
                  matches =
                    matches && static_cast<std::uint64_t>(*entry++) == j;
                });
                if (!matches)
                  return false;
              }
            return true;
          });
      }
    };

    template <>
    struct VectorTraits<dealii::LinearAlgebra::TpetraWrappers::Vector<double>>
      : DistributedVectorTraits<
          dealii::LinearAlgebra::TpetraWrappers::Vector<double>>
    {
      static void
      check(const VectorType &vector, const MatrixStructure &structure)
      {
        // Ghosts count as entries of the process.
        AssertThrow(!vector.has_ghost_elements(),
                    dealii::ExcMessage("The vector has ghost entries: call "
                                       "reinit() of the assembler on it."));
        structure.check_distribution(vector.size(),
                                     vector.locally_owned_size());
      }

      static double *
      values(VectorType &vector)
      {
        return vector.trilinos_vector()
          .getLocalViewHost(Tpetra::Access::ReadWrite)
          .data();
      }
    };
  } // namespace internal
} // namespace Tessella

#endif
#endif
