// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "hdg_parameters.h"

#include <filesystem>

#include "../common/html_report.h"
#include "../common/program.h"

namespace Tessella
{
  namespace Application
  {
    using namespace dealii;

    void
    HDGParameters::declare_method(ParameterHandler &prm)
    {
      prm.add_parameter("Trace space",
                        trace_space,
                        "Polynomials on all that two polytopes share, or on "
                        "every facet.",
                        Patterns::Selection("interface|facet"));
      prm.add_parameter("Local spaces",
                        local_spaces,
                        "equal: u, q and traces have the degree of the "
                        "discretisation. reduced flux: q and traces have one "
                        "degree less, Tau is divided by the size of the "
                        "polytope and acts on the projection of u to the "
                        "traces; full orders on polytopes of any shape, with "
                        "Trace space = facet, on the host. u is then what u* "
                        "is with equal spaces of one degree less, and u* is "
                        "not computed.",
                        Patterns::Selection("equal|reduced flux"));
      prm.declare_entry("Tau",
                        "1",
                        Patterns::Anything(),
                        "Stabilisation: a number, or an expression of x, y, "
                        "z, whose value in the middle of a facet counts for "
                        "it. Of the size of the diffusion over that of the "
                        "domain, not of the mesh.");
      prm.add_parameter("Local solvers",
                        local_solvers,
                        "Stored from generation to local solve, or not.",
                        Patterns::Selection("keep|recompute"));
      prm.add_parameter("Post-process",
                        post_process,
                        "Compute u* of one degree more (up to degree 9).");
      prm.add_parameter("Compare with interior penalty",
                        compare,
                        "Solve by interior penalty on the same polytopes, "
                        "too.");
    }

    void
    HDGParameters::declare_solver(ParameterHandler &prm)
    {
      prm.add_parameter(
        "Solver",
        method,
        "direct: sparse LU on the host (MUMPS, or KLU if Trilinos has no "
        "MUMPS). iterative: conjugate gradients, with advection GMRES. "
        "automatic: on a device iterative; on the host direct for up to "
        "100,000 unknowns in 2-D and 10,000 in 3-D, and iterative beyond; if "
        "the iteration does not converge, a line says so and the direct "
        "solver takes over.",
        Patterns::Selection("automatic|iterative|direct"));
      prm.add_parameter(
        "Preconditioner",
        preconditioner,
        "Of iterations on the host. ssor: for problems without advection, "
        "and automatic there. ilu: with two levels of fill, for every "
        "process on its own rows; automatic with advection. block "
        "gauss-seidel: over the interfaces by colours, there and back; the "
        "same for any number of processes. trace multigrid: corrections from "
        "functions of degree one on polytopes, see the class TraceMultigrid; "
        "interior penalty takes automatic then. Other "
        "iterations on a device take block Chebyshev or block Jacobi "
        "(Chebyshev terms).",
        Patterns::Selection(
          "automatic|ssor|ilu|block gauss-seidel|trace multigrid"));
      prm.add_parameter("GMRES basis",
                        restart,
                        "Vectors kept by GMRES before it restarts. With few "
                        "it stagnates where diffusion dominates.",
                        Patterns::Integer(2));
      prm.add_parameter("Chebyshev terms",
                        chebyshev_terms,
                        "Terms of the block Chebyshev preconditioner on a "
                        "device; 1: block Jacobi.",
                        Patterns::Integer(1));
      prm.add_parameter("Tolerance",
                        tolerance,
                        "Relative residual of the iterative solver.",
                        Patterns::Double(0.));
      prm.add_parameter("Maximum iterations",
                        max_iterations,
                        "The iterative solver gives up then: an error, unless "
                        "Solver = automatic solves on the host.",
                        Patterns::Integer(1));
    }

    void
    HDGParameters::declare_multigrid(ParameterHandler &prm)
    {
      prm.add_parameter("Smoothing steps",
                        smoothing_steps,
                        "Of trace multigrid, before and after each coarse "
                        "correction: terms of block Chebyshev, with advection "
                        "steps of LU-SGS along the flow. 0: 6 and 1.",
                        Patterns::Integer(0));
      prm.add_parameter("Coarse operator",
                        coarse_operator,
                        "Of trace multigrid: made from the trace matrix, or "
                        "assembled, which several processes always take.",
                        Patterns::Selection("galerkin|interior penalty"));
      prm.add_parameter("Multigrid precision",
                        multigrid_precision,
                        "Of the cycles of trace multigrid; the iteration is in "
                        "double precision. single is not for coefficients that "
                        "jump by 1e5 or more. half, on a device: the smoother "
                        "on traces has a matrix of 16 bits an entry.",
                        Patterns::Selection("double|single|half"));
      prm.add_parameter("Multigrid cycle",
                        multigrid_cycle,
                        "Of trace multigrid on polytopes.",
                        Patterns::Selection("v|w"));
      prm.add_parameter("Coarse smoothing steps",
                        coarse_steps,
                        "As Smoothing steps, of trace multigrid on polytopes. "
                        "0: 4 and 1.",
                        Patterns::Integer(0));
      prm.add_parameter("Polytopes per group",
                        n_children,
                        "Of trace multigrid on polytopes; 0: 4 in 2-D and 8 in "
                        "3-D.",
                        Patterns::Integer(0));
      prm.add_parameter("Penalty share",
                        penalty_share,
                        "Part of the penalty of interior penalty in the coarse "
                        "operator that is made from the trace matrix.",
                        Patterns::Double(0.));
      prm.add_parameter("Coarsest polytopes",
                        n_coarsest,
                        "Number of groups at which trace multigrid ends.",
                        Patterns::Integer(1));
    }

    void
    HDGParameters::declare(ParameterHandler &prm)
    {
      StudyParameters::declare(prm);
      prm.enter_subsection("HDG");
      declare_method(prm);
      declare_solver(prm);
      declare_multigrid(prm);
      prm.add_parameter("Repetitions",
                        repetitions,
                        "Runs of every case; times are those of the "
                        "fastest. Trace multigrid on a device is set up in the "
                        "first one and takes new values in the others.",
                        Patterns::Integer(1));
      prm.leave_subsection();
      prm.enter_subsection("Output");
      prm.add_parameter("Directory",
                        directory,
                        "Folder for .csv files; empty: none are written.");
      declare_report(prm, write_report);
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
      tau = Expression("HDG/Tau",
                       prm.get("Tau"),
                       coordinate_names(mesh.dimension()),
                       constants);
      prm.leave_subsection();
      AssertThrow(tolerance > 0. && tolerance < 1.,
                  ExcMessage("HDG/Tolerance must lie between 0 and 1."));
      AssertThrow(local_spaces == "equal" || trace_space == "facet",
                  ExcMessage("HDG/Local spaces = reduced flux needs HDG/Trace "
                             "space = facet."));
      check_folder("Output/Directory", directory);
      name = std::filesystem::path(file).stem().string();
      if (write_report)
        html_report().open(
          name,
          (std::filesystem::path(directory) / (name + "-report.html")).string(),
          true);
    }
  } // namespace Application
} // namespace Tessella
