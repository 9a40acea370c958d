// SPDX-License-Identifier: LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>
#include <deal.II/base/parallel.h>

#include <tessella/assembly/trilinos_block_matrix.h>

#include <Epetra_CrsMatrix.h>
#include <Epetra_IntSerialDenseVector.h>
#include <Epetra_Map.h>
#include <Epetra_MpiComm.h>
#include <algorithm>
#include <limits>
#include <string>

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
      epetra_matrix(TrilinosWrappers::SparseMatrix &matrix)
      {
        return const_cast<Epetra_CrsMatrix &>(matrix.trilinos_matrix());
      }
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
      offsets.Resize(static_cast<int>(n_rows) + 1);
      indices.Resize(static_cast<int>(n_entries));
      double *&values = epetra.ExpertExtractValues();
      delete[] values;
      values = new double[n_entries];

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

      ierr = epetra.ExpertStaticFillComplete(map, map);
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
      for (unsigned int k = 0; matches && k < sparsity.row_width.size(); ++k)
        matches =
          offsets[dof_offset[k]] == static_cast<int>(sparsity.value_offset[k]);
      AssertThrow(matches,
                  ExcMessage("The matrix does not have the structure of this "
                             "mesh and element: call reinit() of the assembler "
                             "on it, after distribute_dofs()."));
      return data;
    }
  } // namespace TrilinosBlockMatrix
} // namespace Tessella
