// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Block matrices, block preconditioners and multigrid on the host: products
// compared to those of deal.II, injection of polynomials, iterations and
// contraction independent of the mesh, symmetry, advection, hp, errors.

#include <deal.II/lac/sparse_matrix.h>
#include <deal.II/lac/sparsity_pattern.h>

#include <tessella/forms/cellwise_coefficient.h>
#include <tessella/grid/within_materials.h>

#include <map>

#include "../tests.h"
#include "check_multigrid.h"

using namespace MultigridTest;

namespace
{
  using Matrix = HostBlockMatrix<double>;
  using MG     = Multigrid<Matrix>;

  template <int dim>
  std::string
  prefix()
  {
    return std::to_string(dim) + "-D ";
  }

  double
  difference(const Vector<double> &a, const Vector<double> &b)
  {
    double result = 0.;
    for (unsigned int i = 0; i < a.size(); ++i)
      result = std::max(result, std::abs(a(i) - b(i)));
    return result;
  }

  template <int dim>
  void
  test_matrix()
  {
    Tensor<1, dim> b;
    b[0] = 3.;
    b[1] = 1.;
    Case<dim, Matrix>       test(4, 2, {1, 3, 2}, false, b);
    SparsityPattern         pattern;
    SparseMatrix<double>    reference;
    Vector<double>          rhs;
    PolytopicAssembler<dim> assembler(*test.handler, test.data);
    assembler.reinit(pattern, reference, rhs);
    assembler.assemble(test.form, reference, rhs);
    const unsigned int   n = test.matrix.m();
    const Vector<double> x = some_vector(n, 1), c = some_vector(n, 2);
    Vector<double>       y(n), z(n);
    const double         bound = 1e-13 * reference.linfty_norm();
    test.matrix.vmult(y, x);
    reference.vmult(z, x);
    bool good = difference(y, z) < bound;
    test.matrix.vmult_add(y, x);
    reference.vmult_add(z, x);
    good = good && difference(y, z) < 2. * bound;
    test.matrix.Tvmult(y, x);
    reference.Tvmult(z, x);
    good = good && difference(y, z) < bound;
    test.matrix.Tvmult_add(y, x);
    reference.Tvmult_add(z, x);
    good              = good && difference(y, z) < 2. * bound;
    const double norm = test.matrix.residual(y, x, c);
    good = good && std::abs(norm - reference.residual(z, x, c)) < bound * n &&
           difference(y, z) < bound;
    check(prefix<dim>() + "products", good);

    HostBlockMatrix<float> rounded;
    rounded.copy_from(test.matrix);
    Vector<float> u(n), v(n);
    u = x;
    rounded.vmult(v, u);
    reference.vmult(z, x);
    Vector<double> w(n);
    w = v;
    check(prefix<dim>() + "float", difference(w, z) < 1e9 * bound / 2.);
    // A matrix can have the structure of another one and outlive it.
    Matrix same;
    {
      Matrix first;
      first.copy_from(test.matrix);
      same.reinit(first);
      check(prefix<dim>() + "same structure",
            &same.block_sparsity() == &first.block_sparsity() &&
              same.revision() != first.revision());
    }
    same.vmult(y, x);
    check(prefix<dim>() + "values of the same structure",
          y.linfty_norm() == 0. &&
            same.n_nonzero_elements() == test.matrix.n_nonzero_elements());

    // D^{-1} D = 1: the preconditioner solves the system of a single polytope.
    BlockJacobi<Matrix> jacobi;
    jacobi.initialize(test.matrix);
    check(prefix<dim>() + "transpose of block Jacobi",
          test.asymmetry(jacobi, true) < 1e-13);
    Case<dim, Matrix>   single(2, 1u << dim, {3}, false);
    BlockJacobi<Matrix> inverse;
    inverse.initialize(single.matrix);
    y.reinit(single.rhs);
    z.reinit(single.rhs);
    inverse.vmult(y, single.rhs);
    check(prefix<dim>() + "inverse of a block",
          single.matrix.residual(z, y, single.rhs) <
            1e-11 * single.rhs.l2_norm());
    BlockChebyshev<Matrix>                 chebyshev;
    BlockChebyshev<Matrix>::AdditionalData options;
    options.symmetric = false;
    chebyshev.initialize(test.matrix, options);
    check(prefix<dim>() + "transpose of Chebyshev",
          test.asymmetry(chebyshev, true) < 1e-13);
  }

  template <int dim>
  void
  test_injection()
  {
    const Case<dim, Matrix> test(dim == 2 ? 8 : 4, 2, {3, 2, 4}, true);
    check(prefix<dim>() + "injection",
          injection_error<dim>(test.hierarchy(2)) < 1e-11);
    // levels with the degree of the mesh
    MultigridHierarchy::AdditionalData data;
    data.lowest_degree = 4;
    const Case<dim, Matrix>  same(4, 2, {3}, false);
    const MultigridHierarchy hierarchy(
      *same.handler, NestedAgglomeration::metis(*same.handler, 3, 2), data);
    check(prefix<dim>() + "injection at p = 3",
          injection_error<dim>(hierarchy) < 1e-11 &&
            hierarchy.level(hierarchy.n_levels() - 1).degree[0] == 3);
  }

  // New values of the matrix, with the bits of a new object.
  template <int dim>
  void
  test_update()
  {
    Tensor<1, dim> b, c;
    b[0] = 3.;
    c[0] = -1.;
    c[1] = 5.;
    Case<dim, Matrix>         test(dim == 2 ? 12 : 4, 2, {2}, false, b);
    const Case<dim, Matrix>   next(dim == 2 ? 12 : 4, 2, {2}, false, c);
    const MultigridHierarchy  hierarchy = test.hierarchy(4);
    const std::vector<double> old(test.matrix.values(),
                                  test.matrix.values() +
                                    test.matrix.n_nonzero_elements());
    Vector<double>            x = some_vector(test.matrix.m(), 1), y(x), z(x);
    bool                      same = true;
    for (const auto smoother :
         {MG::Smoother::lusgs, MG::Smoother::ilu, MG::Smoother::gauss_seidel})
      {
        std::copy(old.begin(), old.end(), test.matrix.values());
        MG::AdditionalData data;
        data.smoother  = smoother;
        data.symmetric = false;
        MG updated, made;
        updated.initialize(test.matrix, hierarchy, data);
        updated.vmult(z, x);
        std::copy_n(next.matrix.values(), old.size(), test.matrix.values());
        updated.update();
        updated.vmult(y, x);
        same = same && y != z;
        made.initialize(test.matrix, hierarchy, data);
        made.vmult(z, x);
        same = same && y == z;
      }
    check(prefix<dim>() + "new values", same);
    MG rescaled;
    rescaled.initialize(next.matrix, next.without_penalty, hierarchy);
    check(prefix<dim>() + "new values need Galerkin operators",
          contains(message_of([&] { rescaled.update(); }),
                   "call initialize() again"));
  }

  // Iterations and contraction.
  template <int dim>
  void
  test_poisson(const std::vector<unsigned int> &cells,
               const unsigned int               size,
               const std::vector<unsigned int> &degrees,
               const bool                       simplices)
  {
    for (const unsigned int p : degrees)
      {
        double       most = 0., most_assembled = 0., most_with_five = 0.;
        unsigned int iterations = 0, assembled = 0, galerkin = 0;
        for (const unsigned int n : cells)
          {
            const Case<dim, Matrix>  test(n, size, {p}, simplices);
            const MultigridHierarchy hierarchy = test.hierarchy();
            MG                       multigrid;
            multigrid.initialize(test.matrix, test.without_penalty, hierarchy);
            iterations = std::max(iterations, test.cg_iterations(multigrid));
            most       = std::max(most, test.contraction(multigrid));
            MG::AdditionalData data;
            data.n_smoothing_steps = 5;
            multigrid.initialize(test.matrix,
                                 test.without_penalty,
                                 hierarchy,
                                 data);
            most_with_five =
              std::max(most_with_five, test.contraction(multigrid));
            multigrid.initialize(
              test.matrix,
              assemble_coarse_operators<Matrix>(
                *test.handler, hierarchy, test.form, test.data),
              hierarchy);
            assembled = std::max(assembled, test.cg_iterations(multigrid));
            most_assembled =
              std::max(most_assembled, test.contraction(multigrid));
            multigrid.initialize(test.matrix, hierarchy);
            galerkin = std::max(galerkin, test.cg_iterations(multigrid));
          }
        const std::string name = prefix<dim>() +
                                 (simplices ? "simplices" : "hypercubes") +
                                 ", p = " + std::to_string(p) + ", ";
        check(name + "iterations", iterations <= 20 && assembled <= 20);
        check(name + "contraction", most < 0.55 && most_assembled < 0.55);
        check(name + "contraction with five smoothing steps",
              most_with_five < 0.5);
        if (most_with_five >= 0.5)
          deallog << most_with_five << std::endl;
        check(name + "plain Galerkin takes as many or more",
              galerkin >= iterations);
        if (most >= 0.55 || most_assembled >= 0.55 || iterations > 20 ||
            assembled > 20)
          deallog << iterations << " " << assembled << " " << galerkin << " "
                  << most << " " << most_assembled << std::endl;
      }
  }

  template <int dim>
  void
  test_properties()
  {
#ifdef DEBUG
    const unsigned int n_3d = 4; // 6 would need half a minute
#else
    const unsigned int n_3d = 6;
#endif
    const Case<dim, Matrix>  test(dim == 2 ? 12 : n_3d, 2, {2, 3, 1}, true);
    const MultigridHierarchy hierarchy = test.hierarchy(4);
    MG                       multigrid;
    MG::AdditionalData       data;
    unsigned int             most      = 0;
    double                   asymmetry = 0.;
    bool                     pays      = true;
    for (const auto smoother :
         {MG::Smoother::chebyshev, MG::Smoother::gauss_seidel})
      {
        unsigned int last = 1000;
        // More work follows on less work.
        for (const auto cycle :
             {MG::Cycle::v, MG::Cycle::w_on_lowest_degree, MG::Cycle::w})
          {
            data.smoother          = smoother;
            data.cycle             = cycle;
            data.n_smoothing_steps = 3;
            multigrid.initialize(
              test.matrix,
              assemble_coarse_operators<Matrix>(
                *test.handler, hierarchy, test.form, test.data),
              hierarchy,
              data);
            asymmetry            = std::max(asymmetry,
                                 std::max(test.asymmetry(multigrid, false),
                                          test.asymmetry(multigrid, true)));
            const unsigned int n = test.cg_iterations(multigrid);
            most                 = std::max(most, n);
            pays                 = pays && n <= last;
            last                 = n;
          }
      }
    check(prefix<dim>() + "W cycles take fewer or as many iterations", pays);
    check(prefix<dim>() + "hp, V and W cycles, both smoothers: symmetric",
          asymmetry < 1e-12);
    check(prefix<dim>() + "iterations of these", most <= 25);
    if (most > 25)
      deallog << most << std::endl;

    BlockGaussSeidel<Matrix> gauss_seidel;
    gauss_seidel.initialize(test.matrix);
    BlockJacobi<Matrix> jacobi;
    jacobi.initialize(test.matrix);
    BlockChebyshev<Matrix> chebyshev;
    chebyshev.initialize(test.matrix);
    check(prefix<dim>() + "other preconditioners: symmetric",
          test.asymmetry(gauss_seidel, false) < 1e-12 &&
            test.asymmetry(jacobi, false) < 1e-12 &&
            test.asymmetry(chebyshev, false) < 1e-12);
    const unsigned int by_jacobi = test.cg_iterations(jacobi);
    check(prefix<dim>() + "they pay",
          test.cg_iterations(gauss_seidel) < by_jacobi &&
            test.cg_iterations(chebyshev) < by_jacobi);

    // Single precision in double precision, also for rounded matrices.
    HostBlockMatrix<float> rounded, rounded_without;
    rounded.copy_from(test.matrix);
    rounded_without.copy_from(test.without_penalty);
    Multigrid<HostBlockMatrix<float>> in_float;
    in_float.initialize(rounded, rounded_without, hierarchy);
    multigrid.initialize(test.matrix, test.without_penalty, hierarchy);
    const unsigned int in_double = test.cg_iterations(multigrid);
    check(prefix<dim>() + "in single precision",
          test.cg_iterations(in_float) <= in_double + 2);
    in_float.initialize(test.matrix, test.without_penalty, hierarchy);
    check(prefix<dim>() + "in single precision, hp",
          test.cg_iterations(in_float) <= in_double + 2);

    // The bits are the same for every number of threads.
    Vector<double>       y(test.rhs.size()), z(test.rhs.size());
    const Vector<double> x       = some_vector(y.size(), 7);
    const unsigned int   threads = MultithreadInfo::n_threads();
    multigrid.vmult(y, x);
    MultithreadInfo::set_thread_limit(1);
    MG again;
    again.initialize(test.matrix, test.without_penalty, hierarchy);
    again.vmult(z, x);
    MultithreadInfo::set_thread_limit(threads);
    check(prefix<dim>() + "same bits",
          std::equal(y.begin(), y.end(), z.begin()));
  }

  // Single precision where polytopes fill only a small part of their boxes: as
  // many iterations as in double precision for all degrees. If the matrices of
  // p = 6 are merely rounded, they are not positive definite.
  template <int dim>
  void
  test_single_precision()
  {
    bool rounding_fails = false;
    for (unsigned int p = 1; p <= 6; ++p)
      {
        const Case<dim, Matrix>  test(dim == 2 ? 6 : 2, 4, {p}, true);
        const MultigridHierarchy hierarchy = test.hierarchy(4);
        MG                       multigrid;
        multigrid.initialize(test.matrix, test.without_penalty, hierarchy);
        const unsigned int                n = test.cg_iterations(multigrid);
        Multigrid<HostBlockMatrix<float>> in_float;
        in_float.initialize(test.matrix, test.without_penalty, hierarchy);
        const unsigned int rescaled = test.cg_iterations(in_float);
        // vectors in single precision; sizes of products
        const Vector<double> x = some_vector(test.rhs.size(), 4);
        Vector<double>       y(x.size());
        Vector<float>        u(x.size()), v(x.size());
        u = x;
        in_float.vmult(y, x);
        in_float.vmult(v, u);
        Vector<double> w(x.size());
        w = v;
        w -= y;
        const double error     = w.l2_norm() / y.l2_norm(),
                     asymmetry = test.asymmetry(in_float, false);
        in_float.initialize(test.matrix, hierarchy);
        const unsigned int galerkin = test.cg_iterations(in_float);
        multigrid.initialize(test.matrix, hierarchy);
        const unsigned int galerkin_in_double = test.cg_iterations(multigrid);
        const bool         good = rescaled <= n + 1 && rescaled <= 20 &&
                          galerkin <= galerkin_in_double + 2 && error < 1e-3 &&
                          asymmetry < 1e-4;
        check(prefix<dim>() + "single precision, p = " + std::to_string(p),
              good);
        if (!good)
          deallog << rescaled << " " << n << " " << galerkin << " "
                  << galerkin_in_double << " " << error << " " << asymmetry
                  << std::endl;
        if (p == 1)
          check(prefix<dim>() + "no step()",
                contains(message_of([&] { in_float.step(v, u); }),
                         "has no step()"));
        HostBlockMatrix<float> rounded, rounded_without;
        rounded.copy_from(test.matrix);
        rounded_without.copy_from(test.without_penalty);
        rounding_fails =
          rounding_fails ||
          message_of([&] {
            in_float.initialize(rounded, rounded_without, hierarchy);
            AssertThrow(test.cg_iterations(in_float) <= n + 1,
                        ExcMessage("many iterations"));
          }) != "no exception";
      }
    if (dim == 3) // polygons of this mesh fill their boxes better
      check(prefix<dim>() + "which takes more than rounding", rounding_fails);

    // ---- a matrix that is not symmetric
    Tensor<1, dim> b;
    b[0]                              = 1.;
    const double            diffusion = 1e-2;
    const Case<dim, Matrix> test(4, 4, {4}, true, b, diffusion);
    const auto              initialize = [&test](auto &multigrid) {
      using MultigridType = std::remove_reference_t<decltype(multigrid)>;
      typename MultigridType::AdditionalData data;
      data.symmetric = false;
      data.smoother  = MultigridType::Smoother::gauss_seidel;
      multigrid.initialize(test.matrix,
                           test.without_penalty,
                           test.hierarchy(),
                           data);
    };
    MG                                multigrid;
    Multigrid<HostBlockMatrix<float>> in_float;
    initialize(multigrid);
    initialize(in_float);
    check(prefix<dim>() + "single precision, advection",
          test.gmres_iterations(in_float) <=
            test.gmres_iterations(multigrid) + 2);
  }

  template <int dim>
  void
  test_advection()
  {
    Tensor<1, dim> b;
    for (int d = 0; d < dim; ++d)
      b[d] = 1. + 0.3 * d;
    for (const double diffusion : {1., 1e-2, 1e-6})
      {
        const Case<dim, Matrix> test(
          dim == 2 ? 16 : 6, 2, {2}, false, b, diffusion);
        MG                 multigrid;
        MG::AdditionalData data;
        data.symmetric = false;
        data.smoother  = MG::Smoother::gauss_seidel;
        multigrid.initialize(test.matrix,
                             test.without_penalty,
                             test.hierarchy(),
                             data);
        const unsigned int n = test.gmres_iterations(multigrid);
        check(prefix<dim>() + "advection, diffusion " +
                std::to_string(diffusion),
              n <= 25);
        if (n > 25)
          deallog << n << std::endl;
      }
    const Case<dim, Matrix> test(6, 2, {2}, false, b);
    MG                      multigrid;
    MG::AdditionalData      data;
    data.symmetric = false;
    multigrid.initialize(test.matrix, test.hierarchy(), data);
    check(prefix<dim>() + "transpose of multigrid",
          test.asymmetry(multigrid, true) < 1e-12);
  }

  template <int dim>
  void
  test_nesting()
  {
    Triangulation<dim> triangulation;
    GridGenerator::hyper_cube(triangulation);
    triangulation.refine_global(dim == 2 ? 4 : 3);
    triangulation.begin_active()->set_refine_flag();
    triangulation.execute_coarsening_and_refinement();
    AgglomerationHandler<dim> handler(triangulation);
    handler.agglomerate(Agglomeration::none<dim>());
    handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(1));
    const auto ancestors = NestedAgglomeration::ancestors(handler, 1);
    // The level that only joins the children of the refined cell counts.
    check(prefix<dim>() + "ancestors",
          ancestors.size() == (dim == 2 ? 5 : 4) &&
            *std::max_element(ancestors.back().begin(),
                              ancestors.back().end()) == 0);
    const auto nested = NestedAgglomeration::by_id(
      handler,
      Agglomeration::nested<dim>(triangulation, Agglomeration::none<dim>(), 3));
    check(prefix<dim>() + "nested() of the agglomeration", nested.size() == 2);
    for (const auto &parents : {NestedAgglomeration::rtree(handler, 4, 5),
                                NestedAgglomeration::metis(handler, 4, 5)})
      {
        bool         good = !parents.empty();
        unsigned int n    = handler.n_polytopes();
        for (const auto &parent : parents)
          {
            good = good && parent.size() == n;
            n    = 1 + *std::max_element(parent.begin(), parent.end());
            good = good && n >= parent.size() / 5 && n <= parent.size() / 3 + 1;
          }
        check(prefix<dim>() + "groups of four", good && n <= 5);
      }

    deallog << message_of([&] {
                 NestedAgglomeration::by_strategies<dim>(
                   handler,
                   {Agglomeration::rtree_parts<dim>(24),
                    Agglomeration::rtree_parts<dim>(7)});
               }).substr(0, 30)
            << std::endl;
  }

  // The coefficient jumps by 10^6. Multigrid converges fast if polytopes end at
  // the jump.
  void
  test_materials()
  {
    Triangulation<2> triangulation;
    GridGenerator::subdivided_hyper_cube(triangulation, 32);
    for (const auto &cell : triangulation.active_cell_iterators())
      cell->set_material_id(
        (int(4. * cell->center()[0]) + int(4. * cell->center()[1])) % 2);
    AgglomerationHandler<2> handler(triangulation);
    handler.agglomerate(Agglomeration::within_materials<2>(
      Agglomeration::rtree_parts<2>(1024 / 6)));
    handler.distribute_dofs(FE_BoundingBoxLegendre<2>(3));
    const auto  &mesh    = handler.polytopic_mesh();
    unsigned int n_mixed = 0;
    for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
      for (unsigned int s = mesh.subcell_offset[k];
           s < mesh.subcell_offset[k + 1];
           ++s)
        n_mixed += mesh.subcell_material[s] !=
                   mesh.subcell_material[mesh.subcell_offset[k]];
    check("polytopes within materials",
          n_mixed == 0 && handler.n_polytopes() > 1024 / 6);

    AdvectionDiffusionReaction<2> form;
    form.set_diffusion(CellwiseCoefficient(
      std::map<types::material_id, double>{{0, 1.}, {1, 1e6}}));
    form.set_source(1.);
    PolytopicAssembler<2>::AdditionalData data;
    data.backend = Backend::host;
    PolytopicAssembler<2> assembler(handler, data);
    Matrix                matrix, without_penalty;
    Vector<double>        rhs;
    assembler.reinit(matrix, rhs);
    assembler.assemble(form, matrix, rhs);
    PenaltyParameters none = data.penalty;
    none.constant          = 0.;
    assembler.set_penalty(none);
    assembler.reinit(without_penalty);
    assembler.assemble_matrix(form, without_penalty);
    MG multigrid;
    multigrid.initialize(
      matrix,
      without_penalty,
      MultigridHierarchy(handler, NestedAgglomeration::rtree(handler, 0, 16)));
    Vector<double> x(rhs.size());
    SolverControl  control(500, 1e-8 * rhs.l2_norm(), false, false);
    SolverCG<>(control).solve(matrix, x, rhs, multigrid);
    check("iterations with a jump of 10^6", control.last_step() <= 30);
    if (control.last_step() > 30)
      deallog << control.last_step() << std::endl;
  }

  /// The inverse by nested dissection, in double and in single precision.
  template <int dim>
  void
  test_dissection()
  {
    const unsigned int                 cells = dim == 2 ? 16 : 3;
    const Case<dim, Matrix>            test(cells, 2, {3, 2}, true);
    MultigridHierarchy::AdditionalData one_level;
    one_level.lowest_degree = 3;
    const MultigridHierarchy hierarchy(*test.handler, {}, one_level);
    MG                       multigrid;
    MG::AdditionalData       data;
    data.coarse_solver = MultigridCoarseSolver::nested_dissection;
    multigrid.initialize(test.matrix, hierarchy, data);
    const Vector<double> x = some_vector(test.matrix.m(), 6);
    Vector<double>       b(x.size()), y(x.size());
    test.matrix.vmult(b, x);
    multigrid.vmult(y, b);
    y -= x;
    check(prefix<dim>() + "nested dissection",
          y.l2_norm() < 1e-10 * x.l2_norm() &&
            test.asymmetry(multigrid, false) < 1e-12);
    Multigrid<HostBlockMatrix<float>>                          in_float;
    typename Multigrid<HostBlockMatrix<float>>::AdditionalData float_data;
    float_data.coarse_solver = MultigridCoarseSolver::nested_dissection;
    in_float.initialize(test.matrix, hierarchy, float_data);
    const unsigned int n = test.cg_iterations(in_float);
    check(prefix<dim>() + "nested dissection in float", n <= 3);
    if (n > 3)
      deallog << n << std::endl;
    // below a level with the same polytopes
    MultigridHierarchy::AdditionalData two_levels;
    two_levels.degrees = {2};
    in_float.initialize(test.matrix,
                        MultigridHierarchy(*test.handler, {}, two_levels),
                        float_data);
    check(prefix<dim>() + "nested dissection of a coarse level",
          test.cg_iterations(in_float) <= 15);
    data.max_coarse_dofs = 20;
    check(prefix<dim>() + "dense part of a nested dissection",
          contains(message_of([&] {
                     multigrid.initialize(test.matrix, hierarchy, data);
                   }),
                   "more than the 20 allowed for a dense inverse"));
    data.symmetric = false;
    check(prefix<dim>() + "nested dissection, not symmetric",
          contains(message_of([&] {
                     multigrid.initialize(test.matrix, hierarchy, data);
                   }),
                   "is for symmetric matrices on one process"));
  }



  void
  test_errors()
  {
    Case<2, Matrix>    test(6, 2, {2}, false);
    MultigridHierarchy hierarchy = test.hierarchy();
    MG                 multigrid;
    const auto         singular_block = [&] {
      Case<2, Matrix> bad(6, 2, {2}, false);
      const auto     &sparsity = bad.matrix.block_sparsity();
      for (unsigned int k = 0; k < 6; ++k)
        for (unsigned int j = 0; j < sparsity.row_width[5]; ++j)
          bad.matrix.values()[sparsity.value_offset[5] +
                              k * sparsity.row_width[5] + j] = 0.;
      BlockJacobi<Matrix> jacobi;
      jacobi.initialize(bad.matrix);
    };
    deallog << message_of(singular_block).substr(0, 46) << std::endl;

    // With Neumann boundaries only, constants are in the kernel.
    const auto neumann = [&] {
      Case<2, Matrix>      bad(6, 2, {2}, false);
      BoundaryCondition<2> condition;
      condition.type = BoundaryType::neumann;
      bad.form.set_default_boundary_condition(condition);
      PolytopicAssembler<2> assembler(*bad.handler, bad.data);
      assembler.assemble_matrix(bad.form, bad.matrix);
      multigrid.initialize(bad.matrix, bad.hierarchy());
    };
    deallog << message_of(neumann).substr(0, 85) << std::endl;

    // A penalty that is too small, and a negative matrix.
    const auto indefinite = [&](const double penalty) {
      Case<2, Matrix>   bad(6, 2, {2}, false);
      PenaltyParameters small;
      small.constant = penalty;
      PolytopicAssembler<2> assembler(*bad.handler, bad.data);
      assembler.set_penalty(small);
      assembler.assemble_matrix(bad.form, bad.matrix);
      multigrid.initialize(bad.matrix, bad.hierarchy());
    };
    check("indefinite",
          contains(message_of([&] { indefinite(0.05); }), "positive definite"));
    check("other matrix",
          contains(message_of([&] {
                     Case<2, Matrix> other(6, 2, {1}, false);
                     multigrid.initialize(other.matrix, hierarchy);
                   }),
                   "not the degrees of freedom"));
    check("coarse matrices",
          contains(message_of([&] {
                     multigrid.initialize(test.matrix,
                                          std::vector<Matrix>(1),
                                          hierarchy);
                   }),
                   "was given 1 coarse matrices"));
    check("coarsest level",
          contains(message_of([&] {
                     MG::AdditionalData data;
                     data.max_coarse_dofs = 5;
                     multigrid.initialize(test.matrix, hierarchy, data);
                   }),
                   "more than the 5 allowed"));
    check("not initialised", message_of([&] {
                               MG             none;
                               Vector<double> x, y;
                               none.vmult(x, y);
                             }) != "no exception");
    multigrid.initialize(test.matrix, hierarchy);
    // The text of deal.II's exception depends on its version.
    bool wrong_sizes = false;
    try
      {
        Vector<double> x(3), y(3);
        multigrid.vmult(x, y);
      }
    catch (const ExcDimensionMismatch &)
      {
        wrong_sizes = true;
      }
    check("sizes", wrong_sizes);
  }
} // namespace

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  test_matrix<2>();
  test_matrix<3>();
  test_injection<2>();
  test_injection<3>();
  test_update<2>();
  test_update<3>();
#ifdef DEBUG
  // In Debug mode finer meshes would need minutes.
  test_poisson<2>({8, 16}, 2, {1, 2, 3, 4}, false);
  test_poisson<2>({12}, 3, {1, 4}, true);
  test_poisson<3>({8}, 2, {1, 2}, false);
#else
  test_poisson<2>({8, 16, 32}, 2, {1, 2, 3, 4}, false);
  test_poisson<2>({12, 24}, 3, {1, 4}, true);
  test_poisson<3>({4, 8}, 2, {1, 2}, false);
#endif
  test_poisson<3>({6}, 6, {3, 4}, false);
  test_properties<2>();
  test_properties<3>();
  test_single_precision<2>();
  test_single_precision<3>();
  test_advection<2>();
  test_advection<3>();
  test_nesting<2>();
  test_nesting<3>();
  test_dissection<2>();
  test_dissection<3>();
  test_materials();
  test_errors();
}
