// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Incomplete factorisations with fill-in: patterns against a dense elimination,
// factors that are exact, the numbering along strong couplings, and iterations
// of multigrid for anisotropic diffusion on irregular polygons.

#include "../../source/lac/fill_in.h"

#include <deal.II/grid/grid_generator.h>

#include <set>

#include "../tests.h"
#include "check_multigrid.h"

using namespace MultigridTest;

namespace
{
  using Matrix = HostBlockMatrix<double>;
  using MG     = Multigrid<Matrix>;

  /// Diffusion diag(1, 1e-4) on squares in groups of four that METIS makes, or
  /// on single squares.
  struct AnisotropicCase
  {
    Triangulation<2>                       triangulation;
    AgglomerationHandler<2>                handler;
    AdvectionDiffusionReaction<2>          form;
    PolytopicAssembler<2>::AdditionalData  data;
    std::unique_ptr<PolytopicAssembler<2>> assembler;
    Matrix                                 matrix;
    Vector<double>                         rhs;

    AnisotropicCase(const unsigned int n,
                    const unsigned int p,
                    const bool         irregular)
      : handler(make_mesh(triangulation, n))
    {
      handler.agglomerate(irregular ? Agglomeration::metis<2>(n * n / 4)
                                    : Agglomeration::none<2>());
      handler.distribute_dofs(FE_BoundingBoxLegendre<2>(p));
      Tensor<2, 2> diffusion;
      diffusion[0][0] = 1.;
      diffusion[1][1] = 1e-4;
      form.set_diffusion(diffusion);
      form.set_source(1.);
      data.backend = Backend::host;
      assembler    = std::make_unique<PolytopicAssembler<2>>(handler, data);
      assembler->reinit(matrix);
      rhs.reinit(handler.n_dofs());
      assembler->assemble(form, matrix, rhs);
    }

    static Triangulation<2> &
    make_mesh(Triangulation<2> &triangulation, const unsigned int n)
    {
      GridGenerator::subdivided_hyper_cube(triangulation, n);
      return triangulation;
    }

    MultigridHierarchy
    hierarchy() const
    {
      return MultigridHierarchy(
        handler, NestedAgglomeration::coupling(handler, matrix, 0, 32));
    }

    void
    initialize(MG &multigrid, const MG::AdditionalData &parameters) const
    {
      const MultigridHierarchy levels = hierarchy();
      multigrid.initialize(
        matrix,
        assemble_coarse_operators<Matrix>(handler, levels, form, data),
        levels,
        parameters);
    }

    unsigned int
    iterations(const unsigned int fill_level, const unsigned int n_steps) const
    {
      MG::AdditionalData parameters;
      parameters.smoother          = MG::Smoother::ilu;
      parameters.fill_level        = fill_level;
      parameters.n_smoothing_steps = n_steps;
      MG multigrid;
      initialize(multigrid, parameters);
      SolverControl  control(200, 1e-8 * rhs.l2_norm(), false, false);
      Vector<double> x(rhs.size());
      SolverCG<Vector<double>>(control).solve(matrix, x, rhs, multigrid);
      return control.last_step();
    }
  };



  void
  check(const std::string &what, const bool good)
  {
    deallog << what << ": " << (good ? "ok" : "wrong") << std::endl;
  }

  // Levels of fill-in by elimination in a dense array of levels.
  std::set<std::pair<unsigned int, unsigned int>>
  dense_pattern(const BlockSparsity             &sparsity,
                const std::vector<unsigned int> &numbering,
                const unsigned int               level)
  {
    const unsigned int        n    = numbering.size();
    const unsigned int        none = 1000000;
    std::vector<unsigned int> levels(n * n, none), order(n);
    for (unsigned int k = 0; k < n; ++k)
      {
        order[numbering[k]] = k;
        for (std::uint64_t b = sparsity.block_offset[k];
             b < sparsity.block_offset[k + 1];
             ++b)
          levels[k * n + sparsity.block_column[b]] = 0;
      }
    // Row by row, as in the definition of ILU(k).
    for (unsigned int q = 0; q < n; ++q)
      for (unsigned int r = 0; r < q; ++r)
        for (unsigned int s = r + 1; s < n; ++s)
          {
            const unsigned int i = order[q], k = order[r], j = order[s];
            if (levels[i * n + k] > level)
              continue;
            levels[i * n + j] =
              std::min(levels[i * n + j],
                       levels[i * n + k] + levels[k * n + j] + 1);
          }
    std::set<std::pair<unsigned int, unsigned int>> result;
    for (unsigned int i = 0; i < n; ++i)
      for (unsigned int j = 0; j < n; ++j)
        if (levels[i * n + j] <= level)
          result.emplace(i, j);
    return result;
  }

  void
  test_pattern()
  {
    const AnisotropicCase             test(12, 1, true);
    const BlockSparsity              &sparsity = test.matrix.block_sparsity();
    const std::vector<std::uint64_t> &offset   = test.matrix.dof_offset();
    const std::vector<unsigned int>   numbering =
      Tessella::internal::discarded_fill_numbering(
        sparsity,
        Tessella::internal::coupling_norms(sparsity,
                                           offset,
                                           test.matrix.values()));
    check("permutation",
          std::set<unsigned int>(numbering.begin(), numbering.end()).size() ==
              numbering.size() &&
            *std::max_element(numbering.begin(), numbering.end()) + 1 ==
              numbering.size());
    for (const unsigned int level : {0u, 1u, 2u, 3u, 100u})
      {
        const BlockSparsity pattern =
          Tessella::internal::fill_in(sparsity, offset, numbering, level);
        std::set<std::pair<unsigned int, unsigned int>> blocks;
        bool                                            places = true;
        for (unsigned int k = 0; k < numbering.size(); ++k)
          {
            unsigned int width = 0;
            for (std::uint64_t b = pattern.block_offset[k];
                 b < pattern.block_offset[k + 1];
                 ++b)
              {
                const unsigned int l = pattern.block_column[b];
                blocks.emplace(k, l);
                places = places && pattern.column_offset[b] == width;
                width += offset[l + 1] - offset[l];
              }
            places = places && pattern.row_width[k] == width &&
                     pattern.value_offset[k + 1] - pattern.value_offset[k] ==
                       std::uint64_t(width) * (offset[k + 1] - offset[k]);
          }
        check("pattern of level " + std::to_string(level),
              places && blocks == dense_pattern(sparsity, numbering, level));
      }
  }

  // Factors with all fill-in are exact, so that one iteration suffices.
  void
  test_exact_factors()
  {
    const AnisotropicCase test(12, 2, true);
    check("exact factors", test.iterations(1000, 1) <= 2);
  }

  // Along lines of squares, on which couplings are strong, nothing is
  // discarded until the lines meet weakly.
  void
  test_lines()
  {
    const AnisotropicCase test(16, 1, false);
    check("lines of squares", test.iterations(1, 1) <= 4);
  }

  void
  test_iterations()
  {
    for (const unsigned int p : {1u, 2u, 3u})
      {
        const AnisotropicCase test(32, p, true);
        const unsigned int    n = test.iterations(2, 1);
        check("iterations for p = " + std::to_string(p), n <= 16);
      }
  }

  void
  test_properties()
  {
    const AnisotropicCase test(16, 2, true);
    MG::AdditionalData    parameters;
    parameters.smoother          = MG::Smoother::ilu;
    parameters.fill_level        = 2;
    parameters.n_smoothing_steps = 1;
    const unsigned int n         = test.rhs.size();
    Vector<double> x = some_vector(n, 1), y = some_vector(n, 2), Mx(n), My(n),
                   other(n);
    MG multigrid;
    test.initialize(multigrid, parameters);
    multigrid.vmult(Mx, x);
    multigrid.vmult(My, y);
    check("symmetry",
          std::abs(x * My - y * Mx) <= 1e-10 * x.l2_norm() * My.l2_norm());
    MultithreadInfo::set_thread_limit(1);
    MG with_one_thread;
    test.initialize(with_one_thread, parameters);
    with_one_thread.vmult(other, x);
    check("bits for every number of threads", other == Mx);
    MultithreadInfo::set_thread_limit(2);

    // New values with the old numbering and pattern.
    const MultigridHierarchy hierarchy = test.hierarchy();
    MG                       galerkin, again;
    galerkin.initialize(test.matrix, hierarchy, parameters);
    galerkin.vmult(Mx, x);
    galerkin.update();
    galerkin.vmult(My, x);
    check("the same values again", My == Mx);
  }
} // namespace

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  test_pattern();
  test_exact_factors();
  test_lines();
  test_iterations();
  test_properties();
}
