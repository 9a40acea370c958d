// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "hdg_parameters.h"

#include "../common/program.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    namespace
    {
      void
      declare_method(ParameterHandler &prm)
      {
        prm.declare_entry("Trace space",
                          "interface",
                          Patterns::Selection("interface|facet"),
                          "Polynomials on all that two polytopes share, or on "
                          "every facet.");
        prm.declare_entry("Local spaces",
                          "equal",
                          Patterns::Selection("equal|reduced flux"),
                          "equal: u, q and traces have the degree of the "
                          "discretisation. reduced flux: q and traces have one "
                          "degree less, Tau is divided by the size of the "
                          "polytope and acts on the projection of u to the "
                          "traces; full orders on polytopes of any shape, with "
                          "Trace space = facet, on the host. u is then what u* "
                          "is with equal spaces of one degree less, and u* is "
                          "not computed.");
        prm.declare_entry("Tau",
                          "1",
                          Patterns::Anything(),
                          "Stabilisation: a number, or an expression of x, y, "
                          "z, whose value in the middle of a facet counts for "
                          "it. Of the size of the diffusion over that of the "
                          "domain, not of the mesh.");
        prm.declare_entry("Local solvers",
                          "keep",
                          Patterns::Selection("keep|recompute"),
                          "Stored from generation to local solve, or not.");
        prm.declare_entry("Post-process",
                          "true",
                          Patterns::Bool(),
                          "Compute u* of one degree more (up to degree 9).");
        prm.declare_entry("Compare with interior penalty",
                          "false",
                          Patterns::Bool(),
                          "Solve by interior penalty on the same polytopes, "
                          "too.");
      }

      void
      declare_solver(ParameterHandler &prm)
      {
        prm.declare_entry(
          "Solver",
          "automatic",
          Patterns::Selection("automatic|iterative|direct"),
          "direct: sparse LU on the host (MUMPS, or KLU if Trilinos has no "
          "MUMPS). iterative: conjugate gradients, with advection GMRES. "
          "automatic: on a device iterative; on the host direct for up to "
          "100,000 unknowns in 2-D and 10,000 in 3-D, and iterative beyond; if "
          "the iteration does not converge, a line says so and the direct "
          "solver takes over.");
        prm.declare_entry(
          "Preconditioner",
          "automatic",
          Patterns::Selection("automatic|ssor|ilu|block gauss-seidel"),
          "Of iterations on the host. ssor: for problems without advection, "
          "and automatic there. ilu: with two levels of fill, for every "
          "process on its own rows; automatic with advection. block "
          "gauss-seidel: over the interfaces by colours, there and back; the "
          "same for any number of processes. Iterations on a device take block "
          "Chebyshev or block Jacobi (Chebyshev terms).");
        prm.declare_entry("GMRES basis",
                          "150",
                          Patterns::Integer(2),
                          "Vectors kept by GMRES before it restarts. With few "
                          "it stagnates where diffusion dominates.");
        prm.declare_entry("Chebyshev terms",
                          "3",
                          Patterns::Integer(1),
                          "Terms of the block Chebyshev preconditioner on a "
                          "device; 1: block Jacobi.");
        prm.declare_entry("Tolerance",
                          "1e-10",
                          Patterns::Double(0.),
                          "Relative residual of the iterative solver.");
        prm.declare_entry(
          "Maximum iterations",
          "10000",
          Patterns::Integer(1),
          "The iterative solver gives up then: an error, unless "
          "Solver = automatic solves on the host.");
      }
    } // namespace

    void
    HDGParameters::declare(ParameterHandler &prm)
    {
      StudyParameters::declare(prm);
      prm.enter_subsection("HDG");
      declare_method(prm);
      declare_solver(prm);
      prm.declare_entry("Repetitions",
                        "1",
                        Patterns::Integer(1),
                        "Runs of every case; times are those of the "
                        "fastest.");
      prm.leave_subsection();
      prm.enter_subsection("Output");
      prm.declare_entry("Directory",
                        "results",
                        Patterns::Anything(),
                        "Folder for .csv files; empty: none are written.");
      prm.leave_subsection();
    }

    void
    HDGParameters::parse(ParameterHandler &prm, const std::string &file)
    {
      StudyParameters::parse(prm, file);
      prm.enter_subsection("Equation");
      const auto constants =
        parse_constants("Equation/Constants", prm.get("Constants"));
      prm.leave_subsection();
      prm.enter_subsection("HDG");
      trace_space     = prm.get("Trace space");
      tau             = Expression("HDG/Tau",
                       prm.get("Tau"),
                       coordinate_names(mesh.dimension()),
                       constants);
      local_spaces    = prm.get("Local spaces");
      local_solvers   = prm.get("Local solvers");
      post_process    = prm.get_bool("Post-process");
      compare         = prm.get_bool("Compare with interior penalty");
      method          = prm.get("Solver");
      preconditioner  = prm.get("Preconditioner");
      restart         = prm.get_integer("GMRES basis");
      tolerance       = prm.get_double("Tolerance");
      max_iterations  = prm.get_integer("Maximum iterations");
      chebyshev_terms = prm.get_integer("Chebyshev terms");
      repetitions     = prm.get_integer("Repetitions");
      prm.leave_subsection();
      AssertThrow(tolerance > 0. && tolerance < 1.,
                  ExcMessage("HDG/Tolerance must lie between 0 and 1."));
      AssertThrow(local_spaces == "equal" || trace_space == "facet",
                  ExcMessage("HDG/Local spaces = reduced flux needs HDG/Trace "
                             "space = facet."));
      prm.enter_subsection("Output");
      directory = prm.get("Directory");
      prm.leave_subsection();
      check_folder("Output/Directory", directory);
      const std::size_t slash = file.find_last_of('/');
      name = slash == std::string::npos ? file : file.substr(slash + 1);
      name = name.substr(0, name.rfind('.'));
    }
  } // namespace Application
} // namespace Tessella
