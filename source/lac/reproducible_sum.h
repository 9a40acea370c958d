// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_lac_reproducible_sum_h
#define tessella_source_lac_reproducible_sum_h

#include <deal.II/base/mpi.h>

#include <cstddef>

#include "../../cuda/lac/reproducible_sum.h"

// Reproducible sums on the host by all threads. Results are identical to the
// last bit for every number of threads, and to those of cuda/lac/vector.h.

namespace Tessella
{
  namespace internal
  {
    /// Sum of x_i y_i.
    template <typename Number>
    ReproducibleSum
    host_dot(const std::size_t n, const Number *x, const Number *y);

    /// Sum of x_i.
    template <typename Number>
    ReproducibleSum
    host_sum(const std::size_t n, const Number *x);

    /// Sum of |x_i|.
    template <typename Number>
    ReproducibleSum
    host_absolute_sum(const std::size_t n, const Number *x);

    /// Sums of the products of the entries of @p n_vectors vectors x with those
    /// of y, with the bits of host_dot(). y is read once.
    template <typename Number>
    void
    host_dots(const unsigned int   n_vectors,
              const std::size_t    n,
              const Number *const *x,
              const Number        *y,
              ReproducibleSum     *sums);

    /// Value of the sum over all processes, identical to the last bit for every
    /// number of processes. Collective; cost: one reduction of 88 bytes.
    double
    value_of_all(const MPI_Comm communicator, ReproducibleSum sum);

    /// The same for @p n sums in one reduction; @p sums is overwritten.
    void
    values_of_all(const MPI_Comm     communicator,
                  const unsigned int n,
                  ReproducibleSum   *sums,
                  double            *values);
  } // namespace internal
} // namespace Tessella

#endif
