// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_lac_matrix_traits_h
#define tessella_source_lac_matrix_traits_h

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

#include <type_traits>

#include "matrix_structure.h"

// What assembly needs to know about a class of matrices or vectors. A further
// class is one more specialisation.

namespace Tessella
{
  namespace internal
  {
    /// Where the entries of a matrix or vector lie, in the order of
    /// MatrixStructure: in one array of the host or of the device, or in an
    /// order of their own, to which block rows are copied.
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
      using value_type                       = double;
      static constexpr Storage storage       = Storage::host;
      static constexpr bool    serial_reinit = true;

      static void
      reinit(dealii::TrilinosWrappers::SparseMatrix &matrix,
             MatrixStructure                        &structure);
      /// The column indices are checked once per matrix.
      static void
      check(dealii::TrilinosWrappers::SparseMatrix &matrix,
            MatrixStructure                        &structure);
      static double *
      values(dealii::TrilinosWrappers::SparseMatrix &matrix);
    };
#endif

    /// deal.II's matrix stores the diagonal entry first in each row, and needs
    /// a SparsityPattern that outlives it.
    template <typename Number>
    struct MatrixTraits<dealii::SparseMatrix<Number>>
    {
      using value_type                       = Number;
      static constexpr Storage storage       = Storage::rows;
      static constexpr bool    serial_reinit = false;

      static void
      reinit(dealii::SparseMatrix<Number> &matrix,
             dealii::SparsityPattern      &pattern,
             const MatrixStructure        &structure);
      static void
      check(dealii::SparseMatrix<Number> &matrix,
            const MatrixStructure        &structure);
      static void
      store(dealii::SparseMatrix<Number> &matrix,
            const MatrixStructure        &structure,
            const unsigned int            begin,
            const unsigned int            end,
            const Number                 *values);
    };

    /// Common to the block matrices of the host and of the device.
    template <typename MatrixType, Storage where>
    struct BlockMatrixTraits
    {
      using value_type                       = typename MatrixType::value_type;
      static constexpr Storage storage       = where;
      static constexpr bool    serial_reinit = false;

      static void
      reinit(MatrixType &matrix, MatrixStructure &structure);
      static void
      check(const MatrixType &matrix, const MatrixStructure &structure);
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

#ifdef TESSELLA_HAVE_EPETRA
    template <>
    struct VectorTraits<dealii::TrilinosWrappers::MPI::Vector>
    {
      using value_type                 = double;
      static constexpr Storage storage = Storage::host;

      static void
      reinit(dealii::TrilinosWrappers::MPI::Vector &vector,
             const dealii::IndexSet                &owned,
             const MatrixStructure                 &structure);
      static void
      check(const dealii::TrilinosWrappers::MPI::Vector &vector,
            const MatrixStructure                       &structure);
      static double *
      values(dealii::TrilinosWrappers::MPI::Vector &vector);
    };
#endif

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
    template <typename VectorType, Storage where>
    struct DistributedVectorTraits
    {
      using value_type                 = typename VectorType::value_type;
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
          dealii::LinearAlgebra::distributed::Vector<Number>,
          Storage::host>
    {};

    template <typename Number>
    struct VectorTraits<HostVector<Number>>
      : DistributedVectorTraits<HostVector<Number>, Storage::host>
    {};

    template <typename Number>
    struct VectorTraits<DeviceVector<Number>>
      : DistributedVectorTraits<DeviceVector<Number>, Storage::device>
    {};
  } // namespace internal
} // namespace Tessella

#endif
