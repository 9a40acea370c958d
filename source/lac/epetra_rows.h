// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_lac_epetra_rows_h
#define tessella_source_lac_epetra_rows_h

#include <deal.II/base/exceptions.h>

#include <tessella/base/epetra.h>

#ifdef TESSELLA_HAVE_EPETRA
DEAL_II_DISABLE_EXTRA_DIAGNOSTICS
#  include <Epetra_CrsMatrix.h>
DEAL_II_ENABLE_EXTRA_DIAGNOSTICS

namespace Tessella
{
  /// Rows of the matrix that this process owns, as CSR with local columns.
  /// Owned degrees of freedom come first, in their order, followed by ghosts.
  struct EpetraRows
  {
    int    *offset, *column;
    double *value;

    explicit EpetraRows(const dealii::TrilinosWrappers::SparseMatrix &matrix)
    {
      const int error = const_cast<Epetra_CrsMatrix &>(matrix.trilinos_matrix())
                          .ExtractCrsDataPointers(offset, column, value);
      AssertThrow(error == 0, dealii::ExcInternalError());
    }
  };
} // namespace Tessella
#endif

#endif
