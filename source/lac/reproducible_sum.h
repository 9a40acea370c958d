// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_lac_reproducible_sum_h
#define tessella_source_lac_reproducible_sum_h

#include <deal.II/base/mpi.h>

#include <cstddef>

#include "../../cuda/lac/reproducible_sum.h"

// Sums on the host, by all threads: the same bits for every number of them, and
// those of cuda/lac/vector.h.

namespace Tessella
{
  namespace internal
  {
    /// Of x_i y_i.
    template <typename Number>
    ReproducibleSum
    host_dot(const std::size_t n, const Number *x, const Number *y);

    /// Of x_i.
    template <typename Number>
    ReproducibleSum
    host_sum(const std::size_t n, const Number *x);

    /// Of |x_i|.
    template <typename Number>
    ReproducibleSum
    host_absolute_sum(const std::size_t n, const Number *x);

    /// Value of the sum over all processes: the same bits for every number of
    /// them. Collective; cost: one reduction of 88 bytes.
    double
    value_of_all(const MPI_Comm communicator, ReproducibleSum sum);
  } // namespace internal
} // namespace Tessella

#endif
