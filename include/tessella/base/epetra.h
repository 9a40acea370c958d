// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_base_epetra_h
#define tessella_base_epetra_h

#include <tessella/base/config.h>

// The matrices and vectors of TrilinosWrappers, where these are classes on top
// of Epetra. In a build without, TESSELLA_HAVE_EPETRA is not defined, and what
// takes them does not exist.

#ifdef TESSELLA_HAVE_EPETRA
#  include <deal.II/lac/trilinos_sparse_matrix.h>
#  include <deal.II/lac/trilinos_vector.h>
#endif

#endif
