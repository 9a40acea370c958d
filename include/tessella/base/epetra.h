// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_base_epetra_h
#define tessella_base_epetra_h

#include <tessella/base/config.h>

// Matrices and vectors of TrilinosWrappers, as classes on top of Epetra. In a
// build without Epetra, TESSELLA_HAVE_EPETRA is not defined and functions with
// such arguments do not exist.

#ifdef TESSELLA_HAVE_EPETRA
#  include <deal.II/lac/trilinos_sparse_matrix.h>
#  include <deal.II/lac/trilinos_vector.h>
#endif

#endif
