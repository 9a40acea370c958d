// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_lac_matrix_traits_h
#define tessella_source_lac_matrix_traits_h

#include <deal.II/base/exceptions.h>
#include <deal.II/base/index_set.h>

#include <deal.II/lac/la_parallel_vector.h>
#include <deal.II/lac/sparse_matrix.h>
#include <deal.II/lac/sparsity_pattern.h>
#include <deal.II/lac/vector.h>

#include <tessella/base/config.h>
#include <tessella/base/epetra.h>
#include <tessella/lac/device_block_matrix.h>
#include <tessella/lac/device_vector.h>
#include <tessella/lac/host_block_matrix.h>
#include <tessella/lac/host_vector.h>
#include <tessella/lac/trilinos_block_matrix.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "block_rows.h"
#include "epetra_rows.h"
#include "matrix_structure.h"
#include "store_block_row.h"

// Properties of a class of matrices or vectors that assembly needs. A further
// class is one more specialisation.

namespace Tessella
{
  namespace internal
  {
    /// Storage of the entries of a matrix or vector: one array of the host or
    /// of the device in the order of MatrixStructure, or an order of its own,
    /// to which block rows are copied.
    enum class Storage
    {
      host,
      device,
      rows
    };

    /**
     * A specialisation for a class of matrices has
     *
     *     using value_type;
     *     static constexpr Storage storage;
     *     // whether reinit() uses one thread for most of its time, so that a
     *     // backend can use the others
     *     static constexpr bool serial_reinit;
     *     // sets the structure; collective
     *     static void reinit(MatrixType &, MatrixStructure &);
     *     // throws unless the matrix has the structure; not collective
     *     static void check(MatrixType &, MatrixStructure &);
     *     // Storage::host and device
     *     static value_type *values(MatrixType &);
     *     // Storage::rows: copies block rows [begin, end); any thread calls it
     *     static void store(MatrixType &, const MatrixStructure &,
     *                       begin, end, const value_type *values);
     */
    template <typename MatrixType>
    struct MatrixTraits;

    /**
     * A specialisation for a class of vectors has
     *
     *     using value_type;
     *     static constexpr Storage storage; // host or device
     *     static void reinit(VectorType &, const dealii::IndexSet &owned,
     *                        const MatrixStructure &);
     *     static void check(const VectorType &, const MatrixStructure &);
     *     static value_type *values(VectorType &);
     *
     * where check() throws unless the vector has one entry for each row.
     */
    template <typename VectorType>
    struct VectorTraits;

    /// Whether there are MatrixTraits for a class.
    template <typename MatrixType, typename = void>
    struct IsMatrix : std::false_type
    {};
    template <typename MatrixType>
    struct IsMatrix<MatrixType,
                    std::void_t<typename MatrixTraits<MatrixType>::value_type>>
      : std::true_type
    {};



    // ---- matrices

#ifdef TESSELLA_HAVE_EPETRA
    template <>
    struct MatrixTraits<dealii::TrilinosWrappers::SparseMatrix>
    {
      using MatrixType                 = dealii::TrilinosWrappers::SparseMatrix;
      using value_type                 = double;
      static constexpr Storage storage = Storage::host;
      static constexpr bool    serial_reinit = true;

      static void
      reinit(MatrixType &matrix, MatrixStructure &structure)
      {
        AssertThrow(
          structure.n_dofs <=
            static_cast<std::uint64_t>(
              std::numeric_limits<
                dealii::TrilinosWrappers::types::int_type>::max()),
          dealii::ExcMessage(
            "There are " + std::to_string(structure.n_dofs) +
            " degrees of freedom, more than this deal.II can count in "
            "Trilinos: configure it with 64-bit indices."));
        structure.on_all_processes([&]() {
          TrilinosBlockMatrix::check_size(structure.blocks,
                                          structure.dof_offset);
        });
        TrilinosBlockMatrix::reinit(matrix,
                                    structure.blocks,
                                    structure.dof_offset,
                                    structure.communicator,
                                    structure.ghost_columns);
      }

      /// The column indices are checked once per matrix.
      static void
      check(MatrixType &matrix, MatrixStructure &structure)
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

      static double *
      values(MatrixType &matrix)
      {
        return EpetraRows(matrix).value;
      }
    };
#endif

    /// deal.II's matrix stores the diagonal entry first in each row, and needs
    /// a SparsityPattern that outlives it.
    template <typename Number>
    struct MatrixTraits<dealii::SparseMatrix<Number>>
    {
      using MatrixType                       = dealii::SparseMatrix<Number>;
      using value_type                       = Number;
      static constexpr Storage storage       = Storage::rows;
      static constexpr bool    serial_reinit = false;

      static void
      reinit(MatrixType              &matrix,
             dealii::SparsityPattern &pattern,
             const MatrixStructure   &structure)
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
            for_columns(blocks, dof_offset, k, [&](const std::uint64_t j) {
              pattern.add(i, j);
            });
        pattern.compress();
        matrix.reinit(pattern);
      }

      static void
      check(MatrixType &matrix, const MatrixStructure &structure)
      {
        structure.check_one_process("dealii::SparseMatrix");
        structure.check_size(matrix.m(), "matrix");
        const BlockSparsity &blocks          = structure.blocks;
        const auto           starts_in_place = [&](const unsigned int k) {
          return &matrix.diag_element(structure.dof_offset[k]) -
                   &matrix.diag_element(0) ==
                 static_cast<std::ptrdiff_t>(blocks.value_offset[k]);
        };
        AssertThrow(
          matrix.n_nonzero_elements() == blocks.n_nonzero_elements() &&
            all_of_block_rows(blocks.row_width.size(), 64, starts_in_place),
          dealii::ExcMessage("The matrix does not have the sparsity pattern of "
                             "this mesh and element."));
      }

      static void
      store(MatrixType            &matrix,
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
    };

    /// Common to the block matrices of the host and of the device.
    template <typename MatrixType, Storage where>
    struct BlockMatrixTraits
    {
      using value_type                       = typename MatrixType::value_type;
      static constexpr Storage storage       = where;
      static constexpr bool    serial_reinit = false;

      static void
      reinit(MatrixType &matrix, MatrixStructure &structure)
      {
        const auto &rows = structure.partition();
        structure.on_all_processes(
          [&] { matrix.reinit(structure.blocks, structure.dof_offset, rows); });
      }

      static void
      check(const MatrixType &matrix, MatrixStructure &structure)
      {
        structure.check_size(matrix.m(), "matrix");
        // The comparison takes milliseconds for a million polytopes.
        const std::array<const void *, 3> arrays = {
          {matrix.dof_offset().data(),
           matrix.block_sparsity().value_offset.data(),
           reinterpret_cast<const void *>(
             static_cast<std::uintptr_t>(matrix.revision()))}};
        if (structure.is_checked(arrays))
          return;
        const std::string what =
          where == Storage::device ? "matrix on the device" : "block matrix";
        AssertThrow(matrix.dof_offset() == structure.dof_offset &&
                      matrix.block_sparsity().value_offset ==
                        structure.blocks.value_offset,
                    dealii::ExcMessage(
                      "The " + what +
                      " does not have the structure of "
                      "this mesh and element: call reinit() of the "
                      "assembler on it, after distribute_dofs()."));
        structure.set_checked(arrays);
      }

      static value_type *
      values(MatrixType &matrix)
      {
        return matrix.values();
      }
    };

    template <typename Number>
    struct MatrixTraits<HostBlockMatrix<Number>>
      : BlockMatrixTraits<HostBlockMatrix<Number>, Storage::host>
    {};

    template <typename Number>
    struct MatrixTraits<DeviceBlockMatrix<Number>>
      : BlockMatrixTraits<DeviceBlockMatrix<Number>, Storage::device>
    {};



    // ---- vectors

    template <typename Number>
    struct VectorTraits<dealii::Vector<Number>>
    {
      using value_type                 = Number;
      static constexpr Storage storage = Storage::host;

      static void
      reinit(dealii::Vector<Number> &vector,
             const dealii::IndexSet &owned,
             const MatrixStructure  &structure)
      {
        structure.check_one_process("dealii::Vector");
        vector.reinit(owned.size());
      }

      static void
      check(const dealii::Vector<Number> &vector,
            const MatrixStructure        &structure)
      {
        structure.check_one_process("dealii::Vector");
        structure.check_size(vector.size(), "vector");
      }

      static Number *
      values(dealii::Vector<Number> &vector)
      {
        return vector.begin();
      }
    };

    /// Common to the vectors of which each process has its own entries.
    template <typename Vector, Storage where = Storage::host>
    struct DistributedVectorTraits
    {
      using VectorType                 = Vector;
      using value_type                 = typename Vector::value_type;
      static constexpr Storage storage = where;

      static void
      reinit(VectorType             &vector,
             const dealii::IndexSet &owned,
             const MatrixStructure  &structure)
      {
        vector.reinit(owned, structure.communicator);
      }

      static void
      check(const VectorType &vector, const MatrixStructure &structure)
      {
        structure.check_distribution(vector.size(),
                                     vector.locally_owned_size());
      }

      static value_type *
      values(VectorType &vector)
      {
        return vector.begin();
      }
    };

    template <typename Number>
    struct VectorTraits<dealii::LinearAlgebra::distributed::Vector<Number>>
      : DistributedVectorTraits<
          dealii::LinearAlgebra::distributed::Vector<Number>>
    {};

    template <typename Number>
    struct VectorTraits<HostVector<Number>>
      : DistributedVectorTraits<HostVector<Number>>
    {};

    template <typename Number>
    struct VectorTraits<DeviceVector<Number>>
      : DistributedVectorTraits<DeviceVector<Number>, Storage::device>
    {};

#ifdef TESSELLA_HAVE_EPETRA
    template <>
    struct VectorTraits<dealii::TrilinosWrappers::MPI::Vector>
      : DistributedVectorTraits<dealii::TrilinosWrappers::MPI::Vector>
    {
      static void
      check(const VectorType &vector, const MatrixStructure &structure)
      {
        structure.check_size(vector.size(), "vector");
        AssertThrow(
          !vector.has_ghost_elements() &&
            static_cast<std::uint64_t>(vector.trilinos_vector().MyLength()) ==
              structure.n_owned_rows,
          dealii::ExcMessage("The vector is distributed over processes in "
                             "another way than the degrees of freedom, or has "
                             "ghost entries: call reinit() of the assembler "
                             "on it."));
      }

      static double *
      values(VectorType &vector)
      {
        return vector.trilinos_vector()[0];
      }
    };
#endif
  } // namespace internal
} // namespace Tessella

#endif
