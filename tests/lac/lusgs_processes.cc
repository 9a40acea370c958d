// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// LU-SGS by colours, its transpose and GMRES have the same bits for every
// number of processes; other preconditioners of sweeps take the blocks of each
// process.

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/lac/host_vector.h>
#include <tessella/lac/lusgs.h>
#include <tessella/lac/solver_fused_gmres.h>

#include "../mpi/cases.h"
#include "../tests.h"

using Results = std::vector<std::uint64_t>;

namespace
{
  Results
  compute(const MPI_Comm communicator)
  {
    parallel::distributed::Triangulation<2> triangulation(communicator);
    GridGenerator::hyper_cube(triangulation);
    triangulation.refine_global(4);
    AgglomerationHandler<2> handler(triangulation);
    handler.agglomerate(Agglomeration::complete_families<2>());
    handler.distribute_dofs(FE_BoundingBoxLegendre<2>(2));
    AdvectionDiffusionReaction<2> problem;
    problem.set_diffusion(0.01);
    problem.set_advection(Tensor<1, 2>({1., 0.5}));
    problem.set_source(parse<2>("sin(3*x)+y"));
    HostBlockMatrix<double> matrix;
    HostVector<double>      b;
    PolytopicAssembler<2>   assembler(handler);
    assembler.reinit(matrix, b);
    assembler.assemble(problem, matrix, b);

    Results            results;
    HostVector<double> x(b), y(b);
    SweepData          data;
    for (const unsigned int n_sweeps : {1, 2})
      {
        data.n_sweeps = n_sweeps;
        data.ordering = SweepOrdering::colors;
        LUSGS<HostBlockMatrix<double>> lusgs;
        lusgs.initialize(matrix, data);
        lusgs.vmult(x, b);
        results.push_back(digest_of_vector(handler, x));
        LUSGS<HostBlockMatrix<double>, float> rounded;
        rounded.initialize(matrix, data);
        rounded.vmult(y, b);
        results.push_back(digest_of_vector(handler, y));
        y -= x;
        results.push_back(y.l2_norm() < 1e-5 * x.l2_norm());
        lusgs.Tvmult(x, b);
        results.push_back(digest_of_vector(handler, x));
        rounded.Tvmult(y, b);
        results.push_back(digest_of_vector(handler, y));
        y -= x;
        results.push_back(y.l2_norm() < 1e-5 * x.l2_norm());
        SolverControl control(200, 1e-10 * b.l2_norm(), false, false);
        x = 0.;
        SolverFusedGMRES<HostVector<double>>(control).solve(matrix,
                                                            x,
                                                            b,
                                                            lusgs);
        results.push_back(control.last_step());
        results.push_back(digest_of_vector(handler, x));
      }
    // The factors of the blocks of a process are transposes of each other, and
    // the solver converges with them.
    data.n_sweeps = 1;
    bool good     = true;
    for (const auto ordering :
         {SweepOrdering::colors, SweepOrdering::hyperplanes})
      {
        data.ordering = ordering;
        BlockILU0<HostBlockMatrix<double>> ilu;
        ilu.initialize(matrix, data);
        LUSGS<HostBlockMatrix<double>> lusgs;
        lusgs.initialize(matrix, data);
        const auto verify = [&](const auto &preconditioner) {
          HostVector<double> u(b), v(b), w(b), z(b);
          matrix.vmult(u, b);
          preconditioner.vmult(v, u);
          preconditioner.Tvmult(w, b);
          good = good && std::abs(v * b - w * u) < 1e-12 * std::abs(v * b);
          SolverControl control(200, 1e-10 * b.l2_norm(), false, false);
          z = 0.;
          SolverFusedGMRES<HostVector<double>>(control).solve(matrix,
                                                              z,
                                                              b,
                                                              preconditioner);
          z -= x;
          good = good && z.l2_norm() < 1e-7 * x.l2_norm();
        };
        verify(ilu);
        verify(lusgs);
      }
    results.push_back(good);
    return results;
  }
} // namespace



int
main(int argc, char *argv[])
{
  Utilities::MPI::MPI_InitFinalize mpi(argc, argv, 1);
  initlog();
  const auto results = for_numbers_of_processes<Results>(compute);
  bool       good    = true;
  for (unsigned int n = 0; n < results.size(); ++n)
    for (unsigned int i = 0; i < results[n].size(); ++i)
      if (results[n][i] != results[0][i] ||
          ((i % 8 == 2 || i % 8 == 5 || i + 1 == results[n].size()) &&
           results[n][i] != 1))
        {
          good = false;
          deallog << "result " << i << " on " << n + 1
                  << " processes: " << results[n][i] << ", " << results[0][i]
                  << std::endl;
        }
  deallog << (good ? "ok" : "failed") << std::endl;
}
