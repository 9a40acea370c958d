// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#ifndef tessella_applications_end_to_end_stage_h
#define tessella_applications_end_to_end_stage_h

#include <array>
#include <cstdint>
#include <numeric>
#include <string>

namespace Tessella
{
  namespace Application
  {
    /// Stages between a mesh and a file with the solution.
    enum Stage
    {
      mesh_stage,   ///< mesh is read or generated
      device_stage, ///< first contact with the device, which loads its driver
      agglomeration_stage,
      handler_stage, ///< flat view of the polytopes, or DoFHandler
      penalty_stage,
      structure_stage, ///< sparsity pattern, memory of matrix and vectors
      assembly_stage,
      setup_stage, ///< of the preconditioner
      solve_stage,
      error_stage,
      output_stage,
      n_stages
    };

    inline const std::array<const char *, n_stages> stage_names = {
      {"mesh",
       "device",
       "agglomeration",
       "handler",
       "penalty",
       "structure",
       "assembly",
       "set-up",
       "solve",
       "errors",
       "output"}};



    /// Sizes, error and times of one run from the mesh to the solution.
    struct EndToEndResult
    {
      std::uint64_t n_cells = 0, n_polytopes = 0, n_dofs = 0;
      unsigned int  n_iterations = 0;
      double        error        = 0.; ///< in L2
      /// Wall times in seconds.
      std::array<double, n_stages> times{};
      /// The same for a set-up that keeps structures; 0 if there was none.
      double next_setup = 0.;
      /// Message of the error that ended the run; empty if there is none.
      std::string failure;

      /// Time from the mesh in memory to the solution.
      double
      seconds_to_solution() const
      {
        return std::accumulate(times.begin() + device_stage,
                               times.begin() + error_stage,
                               0.);
      }
    };



    /// File with a solution.
    struct SolutionFile
    {
      std::string  name; ///< empty if none is written
      unsigned int n_subdivisions = 1;
    };



    /// When solvers stop.
    struct StoppingCriterion
    {
      double       tolerance      = 1e-8; ///< residual over right-hand side
      unsigned int max_iterations = 500;
    };
  } // namespace Application
} // namespace Tessella

#endif
