// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// HDGSolution: solution, flux and post-processed solution in one call, equal to
// what recover() and post_process() compute, with their orders and in output.

#include <deal.II/distributed/tria.h>
#include <deal.II/fe/fe_system.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/lac/solver_cg.h>
#include <deal.II/lac/trilinos_precondition.h>
#include <deal.II/lac/trilinos_sparse_matrix.h>
#include <deal.II/lac/trilinos_vector.h>

#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/hdg/hdg.h>
#include <tessella/hdg/hdg_solution.h>
#include <tessella/numerics/data_out.h>
#include <tessella/numerics/vector_tools.h>

#include <cmath>
#include <sstream>
#include <string>

#include "../messages.h"
#include "../tests.h"

using namespace dealii;
using namespace Tessella;

namespace
{
  double
  exact(const Point<2> &x)
  {
    return std::sin(numbers::PI * x[0]) * std::sin(numbers::PI * x[1]);
  }

  Tensor<1, 2>
  exact_flux(const Point<2> &x)
  {
    Tensor<1, 2> result;
    for (unsigned int d = 0; d < 2; ++d)
      result[d] = numbers::PI * std::cos(numbers::PI * x[d]) *
                  std::sin(numbers::PI * x[1 - d]);
    return result;
  }

  double
  L2_error(const Tessella::AgglomerationHandler<2> &handler,
           const ConstVectorView                   &solution,
           const FunctionReference<2>              &function)
  {
    Vector<float> error;
    Tessella::VectorTools::integrate_difference(
      handler, solution, function, error, dealii::VectorTools::L2_norm);
    return Tessella::VectorTools::compute_global_error(
      handler, error, dealii::VectorTools::L2_norm);
  }

  // Errors of u, q and u*.
  std::vector<double>
  solve(const unsigned int n_refinements, const bool verify)
  {
    parallel::distributed::Triangulation<2> triangulation(MPI_COMM_WORLD);
    GridGenerator::hyper_cube(triangulation);
    triangulation.refine_global(n_refinements);
    Tessella::AgglomerationHandler<2> handler(triangulation);
    handler.agglomerate(Agglomeration::complete_families<2>());
    handler.distribute_dofs(FE_BoundingBoxLegendre<2>(2));
    AdvectionDiffusionReaction<2> form;
    form.set_diffusion(1.);
    form.set_source([](const Point<2> &x) {
      return 2. * numbers::PI * numbers::PI * exact(x);
    });

    HDG<2>                         hdg(handler);
    TrilinosWrappers::SparseMatrix matrix;
    TrilinosWrappers::MPI::Vector  rhs, trace;
    hdg.reinit(form, matrix, rhs);
    hdg.assemble(form, matrix, rhs);
    trace.reinit(rhs);
    SolverControl control(2000, 1e-12 * rhs.l2_norm(), false, false);
    SolverCG<TrilinosWrappers::MPI::Vector> solver(control);
    TrilinosWrappers::PreconditionSSOR      preconditioner;
    preconditioner.initialize(matrix);
    solver.solve(matrix, trace, rhs, preconditioner);

    const HDGSolution<2> result(hdg, form, trace);
    if (verify)
      {
        TrilinosWrappers::MPI::Vector u, q, post;
        hdg.recover(form, trace, u, q);
        hdg.post_process(form, u, q, result.post_processed_handler(), post);
        const auto same = [](const auto &a, const auto &b) {
          const bool equal =
            a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
          return Utilities::MPI::min(equal ? 1 : 0, MPI_COMM_WORLD) == 1;
        };
        check("solution", same(result.solution(), u));
        check("flux", same(result.flux(), q));
        check("post-processed solution", same(result.post_processed(), post));

        PolytopicDataOut<2> data_out(handler);
        result.add_to(data_out, "u");
        data_out.build_patches();
        std::ostringstream text;
        data_out.write_vtk(text);
        check("output",
              contains(text.str(), "SCALARS u double") &&
                contains(text.str(), "VECTORS u_flux double") &&
                contains(text.str(), "SCALARS u_post_processed double"));
      }
    return {L2_error(result.handler(), result.solution(), exact),
            L2_error(result.flux_handler(), result.flux(), exact_flux),
            L2_error(result.post_processed_handler(),
                     result.post_processed(),
                     exact)};
  }
} // namespace

int
main(int argc, char **argv)
{
  TestProgram               program(argc, argv);
  const std::vector<double> coarse = solve(4, false), fine = solve(5, true);
  const char *const names[]  = {"order of u", "order of q", "order of u*"};
  const double      orders[] = {3., 3., 4.};
  for (unsigned int i = 0; i < 3; ++i)
    check_close(names[i], std::log2(coarse[i] / fine[i]), orders[i], .25);
}
