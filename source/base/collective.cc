// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "collective.h"

#include <vector>

namespace Tessella
{
  namespace internal
  {
    unsigned int
    n_processes(const MPI_Comm communicator)
    {
      return dealii::Utilities::MPI::job_supports_mpi()
               ? dealii::Utilities::MPI::n_mpi_processes(communicator)
               : 1;
    }



    unsigned int
    this_process(const MPI_Comm communicator)
    {
      return dealii::Utilities::MPI::job_supports_mpi()
               ? dealii::Utilities::MPI::this_mpi_process(communicator)
               : 0;
    }



    double
    ordered_sum(const MPI_Comm communicator, const double value)
    {
      const unsigned int n = n_processes(communicator);
      if (n == 1)
        return value;
      std::vector<double> values(n);
      const int           ierr = MPI_Allgather(
        &value, 1, MPI_DOUBLE, values.data(), 1, MPI_DOUBLE, communicator);
      AssertThrowMPI(ierr);
      double result = 0.;
      for (const double v : values)
        result += v;
      return result;
    }
  } // namespace internal
} // namespace Tessella
