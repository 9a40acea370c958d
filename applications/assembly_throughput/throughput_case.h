// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_throughput_case_h
#define tessella_applications_throughput_case_h

#include <tessella/assembly/polytopic_assembler.h>

#include <cstdint>
#include <vector>

#include "../common/discretisation_input.h"
#include "../common/distributed_mesh.h"
#include "../common/equation_input.h"
#include "assembly_work.h"
#include "throughput_input.h"

namespace Tessella
{
  namespace Application
  {
    /// Measurements of one case: one mesh, one degree, one way to run. Times
    /// are wall times of the slowest process in seconds; sizes and work are
    /// sums over all processes.
    struct ThroughputResult
    {
      unsigned int  level = 0, degree = 0;
      unsigned int  n_processes = 1;
      std::uint64_t n_cells = 0, n_polytopes = 0;
      std::uint64_t n_dofs = 0, n_nonzero = 0;
      unsigned int  coefficient_order = 0; ///< order of quadrature
      Execution     execution;
      AssemblyWork  work;

      double mesh = 0.; ///< creation; for p4est meshes also distribution
      double agglomeration =
        0.;              ///< agglomeration; for other meshes also distribution
      double setup = 0.; ///< flat view, DoFs, penalty factors
      double structure =
        0.; ///< sparsity pattern; creation of matrix and vector
      /// First assembly, including its set-up on the device.
      double first    = 0.;
      double assembly = 0.; ///< fastest repetition into the existing matrix
      /// Report of the assembler about that repetition; each kernel time is the
      /// minimum over all repetitions.
      AssemblyReport report = {};
      /// Growth of the process's memory beyond mesh, flat view, matrix and two
      /// vectors; 0: not measured.
      double memory = 0.;
    };

    /// Resident memory of this process in bytes, after freed memory has been
    /// returned to the system.
    double
    resident_memory();

    /// The problem that a case assembles, on one mesh and with one degree.
    template <int dim>
    struct BenchmarkCase
    {
      const AgglomeratedMesh<dim> &mesh;
      const EquationInput         &equation;
      Problem<dim>                 problem;
      const DiscretisationInput   &discretisation;
      unsigned int                 degree;
      unsigned int                 repetitions;
    };

    /// Sets up a case, assembles once, and then repeatedly. Collective.
    template <int dim>
    ThroughputResult
    measure_case(BenchmarkCase<dim> benchmark,
                 const Execution   &execution,
                 const bool         warm_memory);
  } // namespace Application
} // namespace Tessella

#endif
