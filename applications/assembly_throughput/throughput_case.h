// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_throughput_case_h
#define tessella_applications_throughput_case_h

#include <tessella/assembly/assembly_work.h>
#include <tessella/assembly/polytopic_assembler.h>

#include <cstdint>
#include <vector>

#include "../common/discretisation_input.h"
#include "../common/distributed_mesh.h"
#include "../common/equation_input.h"
#include "throughput_input.h"

namespace Tessella
{
  namespace Application
  {
    /// What one case took: one mesh, one degree, one way to run. Times are wall
    /// times in seconds, of the slowest process; numbers and work are those of
    /// all.
    struct ThroughputResult
    {
      unsigned int  level = 0, degree = 0;
      unsigned int  n_processes = 1;
      std::uint64_t n_cells = 0, n_polytopes = 0;
      std::uint64_t n_dofs = 0, n_nonzero = 0;
      unsigned int  coefficient_order = 0; ///< of quadrature
      Execution     execution;
      AssemblyWork  work;

      double mesh          = 0.; ///< creation, distribution of p4est meshes
      double agglomeration = 0.; ///< and distribution of other meshes
      double setup         = 0.; ///< flat view, unknowns, penalty factors
      double structure     = 0.; ///< pattern and creation of matrix and vector
      /// First assembly, with what is set up for it on the device.
      double first    = 0.;
      double assembly = 0.; ///< into the existing matrix, fastest repetition
      /// What the assembler says about that repetition; kernel times are the
      /// least of all repetitions.
      AssemblyReport report = {};
      /// Growth of the process over what mesh, flat view, matrix and two
      /// vectors need; 0: not measured.
      double memory = 0.;
    };

    /// Bytes that are in memory at present, after what was freed went back.
    double
    resident_memory();

    /// Sets up, assembles once, and @p repetitions times again. Collective.
    template <int dim>
    ThroughputResult
    measure_case(const AgglomeratedMesh<dim> &mesh,
                 const EquationInput         &equation,
                 Problem<dim>                 problem,
                 const DiscretisationInput   &discretisation,
                 const unsigned int           degree,
                 const Execution             &execution,
                 const unsigned int           repetitions,
                 const bool                   warm_memory);
  } // namespace Application
} // namespace Tessella

#endif
