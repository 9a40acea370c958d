// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_base_vector_types_h
#define tessella_source_base_vector_types_h

#include <deal.II/lac/la_parallel_vector.h>
#include <deal.II/lac/vector.h>

#include <tessella/base/config.h>
#include <tessella/base/epetra.h>

// Vector types of deal.II in double precision for which the library is
// instantiated.

/// Expands to its arguments if the classes of TrilinosWrappers exist, and to
/// nothing otherwise.
#ifdef TESSELLA_HAVE_EPETRA
#  define TESSELLA_IF_EPETRA(...) __VA_ARGS__
#else
#  define TESSELLA_IF_EPETRA(...)
#endif

/// Expands to INSTANTIATE(dim, VectorType) for each of these vector types.
#define TESSELLA_FOR_VECTOR_TYPES(INSTANTIATE, dim)                    \
  INSTANTIATE(dim, dealii::Vector<double>)                             \
  INSTANTIATE(dim, dealii::LinearAlgebra::distributed::Vector<double>) \
  TESSELLA_IF_EPETRA(INSTANTIATE(dim, dealii::TrilinosWrappers::MPI::Vector))

#endif
