// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Multigrid for systems on the host: m decoupled equations have the iterations
// of one, and the same bits; elasticity has iterations independent of the mesh;
// the same bits for any number of threads.

#include "../tests.h"
#include "check_components.h"

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

  void
  verify(const std::string &name, const bool good, const std::string &text)
  {
    if (!check(name, good))
      deallog << text << std::endl;
  }

  // Polytopes of a scalar case with elements of m components.
  template <int dim>
  void
  distribute(
    AgglomerationHandler<dim>       &handler,
    const std::vector<unsigned int> &degrees,
    const unsigned int               m,
    const PolynomialSpaceType        space = PolynomialSpaceType::total_degree)
  {
    hp::FECollection<dim> elements;
    for (const unsigned int p : degrees)
      elements.push_back(
        FESystem<dim>(FE_BoundingBoxLegendre<dim>(p, space), m));
    std::vector<unsigned int> indices(handler.n_polytopes());
    for (unsigned int k = 0; k < indices.size(); ++k)
      indices[k] = k % degrees.size();
    handler.distribute_dofs(elements, indices);
  }

  // m equations that are not coupled.
  template <int dim>
  void
  test_decoupled(const std::vector<unsigned int> &degrees, const unsigned int m)
  {
    Case<dim, Matrix>  scalar(dim == 2 ? 10 : 4, 2, degrees, true);
    const auto         hierarchy = scalar.hierarchy();
    const auto         offset    = scalar.matrix.dof_offset();
    const unsigned int n         = scalar.handler->n_polytopes();
    MG::AdditionalData sweeps;
    sweeps.smoother = MG::Smoother::gauss_seidel;
    MG one, one_by_sweeps;
    one.initialize(scalar.matrix, scalar.without_penalty, hierarchy);
    one_by_sweeps.initialize(scalar.matrix,
                             scalar.without_penalty,
                             hierarchy,
                             sweeps);
    Multigrid<HostBlockMatrix<float>>                 one_in_float, in_float;
    Multigrid<HostBlockMatrix<float>>::AdditionalData sweeps_in_float;
    sweeps_in_float.smoother =
      Multigrid<HostBlockMatrix<float>>::Smoother::gauss_seidel;
    one_in_float.initialize(scalar.matrix,
                            scalar.without_penalty,
                            hierarchy,
                            sweeps_in_float);
    const unsigned int N_chebyshev = scalar.cg_iterations(one),
                       N_sweeps    = scalar.cg_iterations(one_by_sweeps),
                       N_float     = scalar.cg_iterations(one_in_float);
    const Vector<double> x         = some_vector(scalar.rhs.size(), 3);
    Vector<double>       y(x.size()), y_float(x.size());
    one_by_sweeps.vmult(y, x);
    one_in_float.vmult(y_float, x);

    distribute(*scalar.handler, degrees, m);
    const auto             of_system = scalar.hierarchy();
    PointwiseOperator<dim> op(*scalar.handler, scalar.data);
    Matrix                 matrix, without_penalty;
    Vector<double>         rhs, X(m * x.size()), Y(X.size()), Z(X.size());
    op.reinit(matrix);
    op.reinit(without_penalty);
    op.reinit(rhs);
    repeat_components(std::vector<const Matrix *>(m, &scalar.matrix), matrix);
    repeat_components(std::vector<const Matrix *>(m, &scalar.without_penalty),
                      without_penalty);
    repeat_components(scalar.rhs, offset, n, m, rhs);
    repeat_components(x, offset, n, m, X);
    MG chebyshev, gauss_seidel;
    chebyshev.initialize(matrix, without_penalty, of_system);
    gauss_seidel.initialize(matrix, without_penalty, of_system, sweeps);
    in_float.initialize(matrix, without_penalty, of_system, sweeps_in_float);
    const std::string name =
      prefix<dim>() + std::to_string(m) + " equations, degree " +
      std::to_string(degrees[0]) + (degrees.size() > 1 ? "..." : "");
    // The start vectors of the estimates of eigenvalues differ.
    const unsigned int n_chebyshev = iterations(matrix, rhs, chebyshev),
                       n_sweeps    = iterations(matrix, rhs, gauss_seidel),
                       n_float     = iterations(matrix, rhs, in_float);
    verify(name + ": iterations",
           n_sweeps == N_sweeps && n_float == N_float &&
             n_chebyshev <= N_chebyshev + 1 && N_chebyshev <= n_chebyshev + 1,
           std::to_string(n_sweeps) + " " + std::to_string(N_sweeps) + " " +
             std::to_string(n_float) + " " + std::to_string(N_float) + " " +
             std::to_string(n_chebyshev) + " " + std::to_string(N_chebyshev));
    const auto compare = [&](const auto           &multigrid,
                             const Vector<double> &of_one,
                             const double          tolerance) {
      repeat_components(of_one, offset, n, m, Z);
      multigrid.vmult(Y, X);
      Y -= Z;
      return Y.l2_norm() <= tolerance * Z.l2_norm();
    };
    check(name + ": a cycle", compare(gauss_seidel, y, 1e-12));
    check(name + ": in float", compare(in_float, y_float, 1e-4));

    // levels and transfer
    bool good = of_system.n_levels() == hierarchy.n_levels() &&
                of_system.n_components() == m;
    for (unsigned int l = 0; l < hierarchy.n_levels() && good; ++l)
      {
        good = of_system.level(l).n_dofs() == m * hierarchy.level(l).n_dofs() &&
               of_system.level(l).parent == hierarchy.level(l).parent;
        std::vector<std::uint64_t> a, b;
        if (l + 1 < hierarchy.n_levels())
          good = good && of_system.injection(l, a) == hierarchy.injection(l, b);
      }
    const auto coarse =
      of_system.coarse_handler(*scalar.handler, of_system.n_levels() - 1);
    check(name + ": levels",
          good && coarse->n_components() == m &&
            coarse->n_dofs() ==
              of_system.level(of_system.n_levels() - 1).n_dofs());
  }

  template <int dim>
  void
  test_elasticity(
    const std::vector<unsigned int> &meshes,
    const std::vector<unsigned int> &degrees,
    const unsigned int               bound,
    const PolynomialSpaceType        space = PolynomialSpaceType::total_degree)
  {
    unsigned int       most = 0, most_by_sweeps = 0, most_in_float = 0;
    std::ostringstream text;
    for (const unsigned int cells : meshes)
      {
        Case<dim, Matrix> scalar(cells, 2, {1}, false);
        distribute(*scalar.handler, degrees, dim, space);
        const ElasticityCase<dim, Vector<double>> test(*scalar.handler);
        const auto         hierarchy = scalar.hierarchy();
        MG                 multigrid;
        MG::AdditionalData data;
        multigrid.initialize(test.matrix, test.without_penalty, hierarchy);
        const unsigned int n   = iterations(test.matrix, test.rhs, multigrid);
        data.smoother          = MG::Smoother::gauss_seidel;
        data.n_smoothing_steps = 3;
        multigrid.initialize(test.matrix,
                             test.without_penalty,
                             hierarchy,
                             data);
        const unsigned int by_sweeps =
          iterations(test.matrix, test.rhs, multigrid);
        Multigrid<HostBlockMatrix<float>> in_float;
        in_float.initialize(test.matrix, test.without_penalty, hierarchy);
        const unsigned int of_float =
          iterations(test.matrix, test.rhs, in_float);
        text << n << " " << by_sweeps << " " << of_float << ", ";
        most           = std::max(most, n);
        most_by_sweeps = std::max(most_by_sweeps, by_sweeps);
        most_in_float  = std::max(most_in_float, of_float);
        if (cells != meshes.back())
          continue;
        const unsigned int   threads = MultithreadInfo::n_threads();
        const Vector<double> x       = some_vector(test.rhs.size(), 7);
        Vector<double>       y(x.size()), z(x.size());
        multigrid.vmult(y, x);
        MultithreadInfo::set_thread_limit(1);
        MG again;
        again.initialize(test.matrix, test.without_penalty, hierarchy, data);
        again.vmult(z, x);
        MultithreadInfo::set_thread_limit(threads);
        check(prefix<dim>() + "elasticity, same bits",
              std::equal(y.begin(), y.end(), z.begin()));
      }
    verify(prefix<dim>() + "elasticity, degree " + std::to_string(degrees[0]) +
             (degrees.size() > 1 ? "..." : "") +
             (space == PolynomialSpaceType::tensor_product ? ", tensor product"
                                                           : ""),
           most <= bound && most_by_sweeps <= bound + 3 &&
             most_in_float <= most + 2,
           text.str());
  }
} // namespace

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  test_decoupled<2>({3}, 2);
  test_decoupled<2>({2, 4, 1}, 3);
  test_decoupled<3>({2}, 4);
  test_elasticity<2>({8, 16, 32}, {1}, 20);
  test_elasticity<2>({8, 16}, {2}, 20);
  // The penalty hardly falls on coarser levels where degrees vary.
  test_elasticity<2>({16}, {1, 3}, 27);
  test_elasticity<2>({8}, {2}, 20, PolynomialSpaceType::tensor_product);
  test_elasticity<3>({4, 6}, {1}, 20);
  test_elasticity<3>({4}, {2}, 20);
}
