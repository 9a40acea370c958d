// SPDX-License-Identifier: LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>
#include <deal.II/base/parallel.h>

#include <tessella/assembly/trilinos_block_matrix.h>

#include <Epetra_CrsMatrix.h>
#include <Epetra_IntSerialDenseVector.h>
#include <Epetra_Map.h>
#include <Epetra_MpiComm.h>
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <string>

#ifdef __linux__
#  include <sys/mman.h>
#endif

namespace Tessella
{
  namespace TrilinosBlockMatrix
  {
    using namespace dealii;

    namespace
    {
      // The wrapper only hands out a constant Epetra matrix; its graph and
      // values belong to the matrix the caller passed by reference.
      Epetra_CrsMatrix &
      epetra_matrix(const TrilinosWrappers::SparseMatrix &matrix)
      {
        return const_cast<Epetra_CrsMatrix &>(matrix.trilinos_matrix());
      }

      // Whether all k < n satisfy a condition, by all threads.
      template <typename Condition>
      bool
      all_of(const unsigned int n, const Condition &condition)
      {
        std::atomic<bool> result(true);
        parallel::apply_to_subranges(
          0u,
          n,
          [&](const unsigned int begin, const unsigned int end) {
            for (unsigned int k = begin; k < end; ++k)
              if (!condition(k))
                {
                  result = false;
                  return;
                }
          },
          1024);
        return result;
      }

      // An array that the operating system may put on large pages: touching
      // 2 GB for the first time takes 16 threads 0.32 s in pages of 4 kB, 0.06
      // s in those of 2 MB.
      template <typename Number>
      Number *
      new_array(const std::size_t n)
      {
        Number *const array = new Number[n];
#ifdef MADV_HUGEPAGE
        constexpr std::uintptr_t page = std::uintptr_t(1) << 21;
        const std::uintptr_t     begin =
          (reinterpret_cast<std::uintptr_t>(array) + page - 1) / page * page;
        const std::uintptr_t end =
          reinterpret_cast<std::uintptr_t>(array + n) / page * page;
        if (end > begin)
          // only advice: nothing is lost if it is not taken
          madvise(reinterpret_cast<void *>(begin), end - begin, MADV_HUGEPAGE);
#endif
        return array;
      }

      // Epetra's own Resize() fills the array with zeros by one thread.
      struct IndexArray : public Epetra_IntSerialDenseVector
      {
        static void
        resize(Epetra_IntSerialDenseVector &vector, const int n)
        {
          int *const array = new_array<int>(n);
          vector.Resize(0);
          if (vector.*(&IndexArray::A_Copied_))
            delete[](vector.*(&IndexArray::A_));
          vector.*(&IndexArray::A_)        = array;
          vector.*(&IndexArray::A_Copied_) = true;
          vector.*(&IndexArray::CV_)       = Copy;
          vector.*(&IndexArray::M_)        = n;
          vector.*(&IndexArray::LDA_)      = n;
          vector.*(&IndexArray::N_)        = 1;
        }
      };
    } // namespace



    void
    reinit(TrilinosWrappers::SparseMatrix   &matrix,
           const BlockSparsity              &sparsity,
           const std::vector<std::uint64_t> &dof_offset,
           const MPI_Comm                    communicator)
    {
      const std::uint64_t n_entries = sparsity.n_nonzero_elements();
      const std::uint64_t n_rows    = dof_offset.back();
      AssertThrow(
        n_entries <=
            static_cast<std::uint64_t>(std::numeric_limits<int>::max()) &&
          n_rows < static_cast<std::uint64_t>(std::numeric_limits<int>::max()),
        ExcMessage("The matrix would have " + std::to_string(n_entries) +
                   " entries in " + std::to_string(n_rows) +
                   " rows; Epetra matrices hold at most 2147483647 entries on"
                   " one process. Use fewer polytopes, a lower degree or more"
                   " processes."));

      const Epetra_MpiComm epetra_communicator(communicator);
      const Epetra_Map     map(-1,
                           static_cast<int>(n_rows),
                           0,
                           epetra_communicator);
      {
        Epetra_CrsMatrix empty(Copy, map, map, 0, false);
        empty.FillComplete();
        matrix.clear();
        matrix.reinit(empty, /*copy_values=*/false);
      }

      Epetra_CrsMatrix &epetra = epetra_matrix(matrix);
      int               ierr   = epetra.ExpertMakeUniqueCrsGraphData();
      AssertThrow(ierr == 0, ExcTrilinosError(ierr));

      Epetra_IntSerialDenseVector &offsets = epetra.ExpertExtractIndexOffset();
      Epetra_IntSerialDenseVector &indices = epetra.ExpertExtractIndices();
      IndexArray::resize(offsets, static_cast<int>(n_rows) + 1);
      IndexArray::resize(indices, static_cast<int>(n_entries));
      double *&values = epetra.ExpertExtractValues();
      delete[] values;
      values = new_array<double>(n_entries);

      const unsigned int n_blocks = sparsity.row_width.size();
      parallel::apply_to_subranges(
        0u,
        n_blocks,
        [&](const unsigned int begin, const unsigned int end) {
          for (unsigned int k = begin; k < end; ++k)
            {
              const unsigned int width = sparsity.row_width[k];
              std::uint64_t      p     = sparsity.value_offset[k];
              for (std::uint64_t row = dof_offset[k]; row < dof_offset[k + 1];
                   ++row)
                {
                  offsets[static_cast<int>(row)] = static_cast<int>(p);
                  int *const first               = indices.Values() + p;
                  if (row == dof_offset[k])
                    {
                      int *column = first;
                      for (std::uint64_t b = sparsity.block_offset[k];
                           b < sparsity.block_offset[k + 1];
                           ++b)
                        for (std::uint64_t c =
                               dof_offset[sparsity.block_column[b]];
                             c < dof_offset[sparsity.block_column[b] + 1];
                             ++c)
                          *column++ = static_cast<int>(c);
                    }
                  else
                    std::copy(first - width, first, first);
                  std::fill(values + p, values + p + width, 0.);
                  p += width;
                }
            }
        },
        256);
      offsets[static_cast<int>(n_rows)] = static_cast<int>(n_entries);

      // (every row has a diagonal entry; counting them takes one thread as long
      // as all the rest takes many)
      ierr = epetra.ExpertStaticFillComplete(
        map, map, nullptr, nullptr, static_cast<int>(n_rows));
      AssertThrow(ierr == 0, ExcTrilinosError(ierr));
    }



    double *
    values(TrilinosWrappers::SparseMatrix   &matrix,
           const BlockSparsity              &sparsity,
           const std::vector<std::uint64_t> &dof_offset)
    {
      int    *offsets = nullptr, *indices = nullptr;
      double *data = nullptr;
      bool    matches =
        matrix.m() == dof_offset.back() && matrix.n() == dof_offset.back() &&
        matrix.n_nonzero_elements() == sparsity.n_nonzero_elements();
      if (matches)
        matches = epetra_matrix(matrix).ExtractCrsDataPointers(offsets,
                                                               indices,
                                                               data) == 0;
      if (matches)
        matches = all_of(sparsity.row_width.size(), [&](const unsigned int k) {
          return offsets[dof_offset[k]] ==
                 static_cast<int>(sparsity.value_offset[k]);
        });
      AssertThrow(matches,
                  ExcMessage("The matrix does not have the structure of this "
                             "mesh and element: call reinit() of the assembler "
                             "on it, after distribute_dofs()."));
      return data;
    }



    void
    check_columns(const TrilinosWrappers::SparseMatrix &matrix,
                  const BlockSparsity                  &sparsity,
                  const std::vector<std::uint64_t>     &dof_offset)
    {
      int    *offsets = nullptr, *indices = nullptr;
      double *data = nullptr;
      epetra_matrix(matrix).ExtractCrsDataPointers(offsets, indices, data);
      const bool matches =
        all_of(sparsity.row_width.size(), [&](const unsigned int k) {
          const int *const row = indices + sparsity.value_offset[k];
          for (std::uint64_t b = sparsity.block_offset[k];
               b < sparsity.block_offset[k + 1];
               ++b)
            if (row[sparsity.column_offset[b]] !=
                static_cast<int>(dof_offset[sparsity.block_column[b]]))
              return false;
          const int last = static_cast<int>(
            dof_offset[sparsity.block_column[sparsity.block_offset[k + 1] - 1] +
                       1] -
            1);
          for (std::uint64_t i = 0; i < dof_offset[k + 1] - dof_offset[k]; ++i)
            if (row[(i + 1) * sparsity.row_width[k] - 1] != last)
              return false;
          return true;
        });
      AssertThrow(matches,
                  ExcMessage("The columns of the matrix are not those of this "
                             "mesh and element, or in another order: call "
                             "reinit() of the assembler on it."));
    }



    std::array<const void *, 3>
    storage(const TrilinosWrappers::SparseMatrix &matrix)
    {
      int    *offsets = nullptr, *indices = nullptr;
      double *data = nullptr;
      epetra_matrix(matrix).ExtractCrsDataPointers(offsets, indices, data);
      return {{offsets, indices, data}};
    }
  } // namespace TrilinosBlockMatrix
} // namespace Tessella
