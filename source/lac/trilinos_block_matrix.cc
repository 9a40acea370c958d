// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>
#include <deal.II/base/multithread_info.h>

#include <tessella/lac/trilinos_block_matrix.h>

DEAL_II_DISABLE_EXTRA_DIAGNOSTICS
#include <Epetra_CrsGraph.h>
#include <Epetra_CrsMatrix.h>
#include <Epetra_DistObject.h>
#include <Epetra_Import.h>
#include <Epetra_IntSerialDenseVector.h>
#include <Epetra_Map.h>
#include <Epetra_MpiComm.h>
DEAL_II_ENABLE_EXTRA_DIAGNOSTICS

#include <algorithm>
#include <cstdint>
#include <future>
#include <limits>
#include <memory>
#include <numeric>
#include <string>

#include "../base/host_memory.h"
#include "../base/parallel_for.h"
#include "block_rows.h"
#include "epetra_rows.h"

namespace Tessella
{
  namespace TrilinosBlockMatrix
  {
    using namespace dealii;

    namespace
    {
      // The wrapper returns a constant Epetra matrix only; its graph and values
      // belong to the matrix that the caller passed by reference.
      Epetra_CrsMatrix &
      epetra_matrix(const TrilinosWrappers::SparseMatrix &matrix)
      {
        return const_cast<Epetra_CrsMatrix &>(matrix.trilinos_matrix());
      }

      template <typename Number>
      Number *
      new_array(const std::size_t n)
      {
        Number *const array = new Number[n];
        internal::Device::advise_large_pages(array, n * sizeof(Number));
        return array;
      }

      // Replaces the memory of an Epetra array: Epetra's Resize() fills the
      // array with zeros on one thread, and copies are made on one thread, too.
      struct IndexArray : public Epetra_IntSerialDenseVector
      {
        static void
        take(Epetra_IntSerialDenseVector &vector,
             std::unique_ptr<int[]>      &array,
             const int                    n)
        {
          vector.Resize(0);
          if (vector.*(&IndexArray::A_Copied_))
            delete[](vector.*(&IndexArray::A_));
          vector.*(&IndexArray::A_)        = array.release();
          vector.*(&IndexArray::A_Copied_) = true;
          vector.*(&IndexArray::CV_)       = Copy;
          vector.*(&IndexArray::M_)        = n;
          vector.*(&IndexArray::LDA_)      = n;
          vector.*(&IndexArray::N_)        = 1;
        }
      };

      struct DistributedObject : public Epetra_DistObject
      {
        static void
        set_map(Epetra_DistObject &object, const Epetra_Map &map)
        {
          object.*(&DistributedObject::Map_)  = map;
          object.*(&DistributedObject::Comm_) = &object.Map().Comm();
        }
      };

      // Gives a matrix without rows the rows of a graph. Epetra's constructors
      // would make several lists with an entry for each row and deal.II would
      // copy them, although ExpertStaticFillComplete() discards them.
      struct MatrixWithoutRows : public Epetra_CrsMatrix
      {
        static void
        take(Epetra_CrsMatrix      &matrix,
             const Epetra_CrsGraph &graph,
             const Epetra_Map      &map)
        {
          Epetra_CrsGraph &own_graph = matrix.*(&MatrixWithoutRows::Graph_);
          own_graph                  = graph;
          DistributedObject::set_map(own_graph, map);
          DistributedObject::set_map(matrix, map);
          matrix.*(&MatrixWithoutRows::NumMyRows_) = map.NumMyElements();
        }
      };
    } // namespace



    void
    check_size(const BlockSparsity              &sparsity,
               const std::vector<std::uint64_t> &dof_offset)
    {
      const std::uint64_t n_entries = sparsity.n_nonzero_elements();
      const std::uint64_t n_rows    = dof_offset[sparsity.row_width.size()];
      AssertThrow(
        n_entries <=
            static_cast<std::uint64_t>(std::numeric_limits<int>::max()) &&
          n_rows < static_cast<std::uint64_t>(std::numeric_limits<int>::max()),
        ExcMessage("The matrix would have " + std::to_string(n_entries) +
                   " entries in " + std::to_string(n_rows) +
                   " rows; Epetra matrices hold at most 2147483647 entries on"
                   " one process. Use fewer polytopes, a lower degree or more"
                   " processes."));
    }



    namespace
    {
      using index = TrilinosWrappers::types::int_type;

      // The arrays of a matrix in CSR format.
      struct Arrays
      {
        Arrays(const std::uint64_t n_rows, const std::uint64_t n_entries)
          : offsets(new_array<int>(static_cast<std::size_t>(n_rows) + 1))
          , indices(new_array<int>(n_entries))
          , values(new_array<double>(n_entries))
        {}

        std::unique_ptr<int[]>    offsets, indices;
        std::unique_ptr<double[]> values;
      };

      // Writes the structure, and zeros as values; the threads share the block
      // rows.
      void
      fill(Arrays                           &arrays,
           const BlockSparsity              &sparsity,
           const std::vector<std::uint64_t> &dof_offset)
      {
        const unsigned int n_rows = sparsity.row_width.size();
        internal::parallel_for(n_rows, 256, [&](const unsigned int k) {
          const unsigned int width = sparsity.row_width[k];
          std::uint64_t      p     = sparsity.value_offset[k];
          for (std::uint64_t row = dof_offset[k]; row < dof_offset[k + 1];
               ++row)
            {
              arrays.offsets[row] = static_cast<int>(p);
              int *const first    = arrays.indices.get() + p;
              if (row == dof_offset[k])
                {
                  int *column = first;
                  internal::for_columns(sparsity,
                                        dof_offset,
                                        k,
                                        [&](const std::uint64_t c) {
                                          *column++ = static_cast<int>(c);
                                        });
                }
              else
                std::copy(first - width, first, first);
              std::fill_n(arrays.values.get() + p, width, 0.);
              p += width;
            }
        });
        arrays.offsets[dof_offset[n_rows]] =
          static_cast<int>(sparsity.n_nonzero_elements());
      }

      // Own columns in the order of the rows, as Epetra requires, then ghosts
      // process by process.
      Epetra_Map
      make_column_map(const Epetra_Map                           &rows,
                      const std::vector<types::global_dof_index> &ghost_columns)
      {
        if (rows.Comm().NumProc() == 1)
          return rows;
        const std::size_t  n_rows = rows.NumMyElements();
        std::vector<index> numbers(n_rows + ghost_columns.size());
        std::iota(numbers.begin(),
                  numbers.begin() + n_rows,
                  static_cast<index>(rows.MinMyGID64()));
        std::transform(ghost_columns.begin(),
                       ghost_columns.end(),
                       numbers.begin() + n_rows,
                       [](const auto column) {
                         return static_cast<index>(column);
                       });
        return Epetra_Map(static_cast<index>(-1),
                          static_cast<int>(numbers.size()),
                          numbers.data(),
                          0,
                          rows.Comm());
      }

      void
      complete(Epetra_CrsMatrix    &matrix,
               const Epetra_Map    &columns,
               const Epetra_Map    &rows,
               const Epetra_Import *importer,
               const int            n_diagonal)
      {
        const int ierr = matrix.ExpertStaticFillComplete(
          columns, rows, importer, nullptr, n_diagonal);
        AssertThrow(ierr == 0, ExcTrilinosError(ierr));
      }

      // A static profile avoids a list for each row.
      void
      make_without_rows(TrilinosWrappers::SparseMatrix &matrix,
                        const Epetra_Map               &columns)
      {
        const Epetra_Map no_rows(static_cast<index>(-1), 0, 0, columns.Comm());
        Epetra_CrsMatrix empty(Copy, no_rows, columns, 0, true);
        empty.ExpertExtractIndexOffset().Resize(1);
        complete(empty, columns, no_rows, nullptr, 0);
        matrix.reinit(empty, /*copy_values=*/false);
      }
    } // namespace



    void
    reinit(TrilinosWrappers::SparseMatrix             &matrix,
           const BlockSparsity                        &sparsity,
           const std::vector<std::uint64_t>           &dof_offset,
           const MPI_Comm                              communicator,
           const std::vector<types::global_dof_index> &ghost_columns)
    {
      check_size(sparsity, dof_offset);
      const std::uint64_t n_entries = sparsity.n_nonzero_elements();
      const std::uint64_t n_rows    = dof_offset[sparsity.row_width.size()];

      matrix.clear();
      Arrays arrays(n_rows, n_entries);
      // Epetra's setup below runs on one thread, so the arrays are filled
      // meanwhile.
      std::future<void> filled =
        std::async(MultithreadInfo::n_threads() > 1 ? std::launch::async
                                                    : std::launch::deferred,
                   [&]() { fill(arrays, sparsity, dof_offset); });

      const Epetra_Map map(static_cast<index>(-1),
                           static_cast<int>(n_rows),
                           0,
                           Epetra_MpiComm(communicator));
      const Epetra_Map column_map = make_column_map(map, ghost_columns);
      // Epetra makes an importer itself if it needs one and has none.
      std::unique_ptr<const Epetra_Import> importer(
        column_map.NumGlobalElements64() > map.NumGlobalElements64()
          ? new Epetra_Import(column_map, map)
          : nullptr);

      // The matrix takes ownership of the arrays.
      make_without_rows(matrix, map);
      Epetra_CrsMatrix &epetra = epetra_matrix(matrix);
      MatrixWithoutRows::take(epetra,
                              Epetra_CrsGraph(Copy, map, column_map, 0, true),
                              map);
      filled.get();
      IndexArray::take(epetra.ExpertExtractIndexOffset(),
                       arrays.offsets,
                       static_cast<int>(n_rows) + 1);
      IndexArray::take(epetra.ExpertExtractIndices(),
                       arrays.indices,
                       static_cast<int>(n_entries));
      delete[] epetra.ExpertExtractValues();
      epetra.ExpertExtractValues() = arrays.values.release();

      // Every row has a diagonal entry. Counting the diagonal entries on one
      // thread would need as long as all other work on many threads.
      complete(epetra, map, map, importer.release(), static_cast<int>(n_rows));
    }



    double *
    values(TrilinosWrappers::SparseMatrix   &matrix,
           const BlockSparsity              &sparsity,
           const std::vector<std::uint64_t> &dof_offset)
    {
      int               *offsets = nullptr, *indices = nullptr;
      double            *data = nullptr;
      const unsigned int n    = sparsity.row_width.size();
      bool               matches =
        static_cast<std::uint64_t>(epetra_matrix(matrix).NumMyRows()) ==
          dof_offset[n] &&
        static_cast<std::uint64_t>(epetra_matrix(matrix).NumMyNonzeros()) ==
          sparsity.n_nonzero_elements();
      if (matches)
        matches = epetra_matrix(matrix).ExtractCrsDataPointers(offsets,
                                                               indices,
                                                               data) == 0;
      if (matches)
        matches =
          internal::all_of_block_rows(n, 1024, [&](const unsigned int k) {
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
    check_columns(const TrilinosWrappers::SparseMatrix       &matrix,
                  const BlockSparsity                        &sparsity,
                  const std::vector<std::uint64_t>           &dof_offset,
                  const std::vector<types::global_dof_index> &ghost_columns)
    {
      const EpetraRows    rows(matrix);
      const Epetra_Map   &columns = epetra_matrix(matrix).ColMap();
      const unsigned int  n       = sparsity.row_width.size();
      const std::uint64_t n_rows  = dof_offset[n];
      bool matches = static_cast<std::uint64_t>(columns.NumMyElements()) ==
                     dof_offset.back();
      for (std::size_t i = 0; matches && i < ghost_columns.size(); ++i)
        matches = columns.GID64(static_cast<int>(n_rows + i)) ==
                  static_cast<long long>(ghost_columns[i]);
      matches =
        matches &&
        internal::all_of_block_rows(n, 1024, [&](const unsigned int k) {
          const int *const row = rows.column + sparsity.value_offset[k];
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
      const EpetraRows rows(matrix);
      return {{rows.offset, rows.column, rows.value}};
    }
  } // namespace TrilinosBlockMatrix
} // namespace Tessella
