// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Products without a matrix on affine simplices on a CUDA device: compared with
// those of the host, the same bits in each run, transposed, sums and
// differences. MatrixFreeOperator against DeviceBlockMatrix, in solvers and in
// multigrid, also on polytopes. Argument: 2d or 3d; or times, with the number
// of cells in each direction, which prints times of products with and without a
// matrix.

#include "../../cuda/operators/simplex_product.h"

#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/grid_tools.h>
#include <deal.II/lac/solver_cg.h>

#include <tessella/assembly/polytopic_assembler.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/forms/advection_diffusion_reaction.h>
#include <tessella/grid/agglomeration.h>
#include <tessella/lac/block_preconditioners.h>
#include <tessella/lac/device_block_matrix.h>
#include <tessella/multigrid/multigrid.h>
#include <tessella/operators/matrix_free_operator.h>

#include <cstring>
#include <iomanip>
#include <iostream>

#include "../../cuda/operators/operator_device.h"
#include "../../source/operators/host_simplex_product.h"
#include "../../source/operators/simplex_setup.h"
#include "checks.h"

namespace
{
  using namespace dealii;
  using namespace Tessella;
  using Tessella::internal::Device::Product;

  template <int dim>
  void
  make_mesh(Triangulation<dim> &triangulation, const unsigned int n)
  {
    GridGenerator::subdivided_hyper_cube_with_simplices(triangulation, n);
    unsigned int material = 0;
    for (const auto &cell : triangulation.active_cell_iterators())
      cell->set_material_id(++material % 2);
    for (const auto &face : triangulation.active_face_iterators())
      if (face->at_boundary() && face->center()[0] > 1. - 1e-10)
        face->set_boundary_id(1);
    GridTools::transform(
      [](const Point<dim> &x) {
        Point<dim> y = x;
        for (unsigned int d = 0; d < dim; ++d)
          y[d] += 0.05 * std::sin(3 * x[(d + 1) % dim]);
        return y;
      },
      triangulation);
  }

  template <int dim>
  AdvectionDiffusionReaction<dim>
  make_form(const unsigned int variant)
  {
    AdvectionDiffusionReaction<dim> form;
    form.set_diffusion(1.);
    if (variant == 1)
      {
        Tensor<2, dim> a;
        for (unsigned int i = 0; i < dim; ++i)
          for (unsigned int j = 0; j < dim; ++j)
            a[i][j] = i == j ? 2. + i : 0.3;
        form.set_diffusion(CellwiseCoefficient({{0, 1.}, {1, 3.}}), a);
        form.set_reaction(CellwiseCoefficient({{0, 1.}, {1, 2.}}));
        form.set_theta(-1.);
        BoundaryCondition<dim> neumann;
        neumann.type = BoundaryType::neumann;
        form.set_boundary_condition(1, neumann);
      }
    if (variant == 2)
      {
        Tensor<1, dim> b;
        b[0] = -1.;
        b[1] = 0.5;
        form.set_advection(b);
      }
    return form;
  }

  template <int dim>
  Tessella::internal::SimplexData
  set_up(const AgglomerationHandler<dim>       &handler,
         const AdvectionDiffusionReaction<dim> &form)
  {
    AssemblyParameters parameters;
    parameters.backend = Backend::host;
    const PolytopicAssembler<dim>   assembler(handler, parameters);
    Tessella::internal::SimplexData data;
    const std::string               why =
      Tessella::internal::set_up_simplex_data(handler.polytopic_mesh(),
                                              handler.polytopic_dofs(),
                                              form,
                                              assembler.penalty(form),
                                              data);
    verify("set-up", why.empty(), why);
    return data;
  }

  template <int dim>
  void
  distribute(AgglomerationHandler<dim> &handler, const unsigned int degree)
  {
    handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(degree));
  }

  // Largest difference relative to the largest entry of a row.
  double
  difference(const std::vector<double> &y,
             const Vector<double>      &expected,
             const unsigned int         n)
  {
    double result = 0;
    for (unsigned int k = 0; k < y.size(); k += n)
      {
        double error = 0, size = 0;
        for (unsigned int i = k; i < k + n; ++i)
          {
            error = std::max(error, std::fabs(y[i] - expected(i)));
            size  = std::max(size, std::fabs(expected(i)));
          }
        // The comparison is false for NaN.
        if (!(error <= result * size))
          result = error / size;
      }
    return result;
  }

  template <int dim>
  void
  check_product(const AgglomerationHandler<dim>       &handler,
                const AdvectionDiffusionReaction<dim> &form,
                const bool                             transposed,
                const std::string                     &name)
  {
    Tessella::internal::SimplexData            data = set_up(handler, form);
    const Tessella::internal::SimplexReference reference(data.dim, data.degree);
    const Tessella::internal::Device::SimplexProduct device(data, reference);
    const Tessella::internal::HostSimplexProduct     host(std::move(data));
    const unsigned int                               n = reference.n;
    Vector<double> x(handler.n_dofs()), expected(x.size());
    for (unsigned int i = 0; i < x.size(); ++i)
      x(i) = std::sin(1. + 37. * i) * std::pow(0.8, i % n);
    const DeviceVector<double> X(x);
    DeviceVector<double>       Y(x), Z(x);
    std::vector<double>        y, z;
    for (const bool transpose : {false, true})
      {
        if (transpose && !transposed)
          continue;
        host.vmult({expected.begin(), Product::set},
                   x.begin(),
                   nullptr,
                   transpose);
        device.vmult({Y.begin(), Product::set}, X.begin(), nullptr, transpose);
        device.vmult({Z.begin(), Product::set}, X.begin(), nullptr, transpose);
        Y.copy_to(y);
        Z.copy_to(z);
        const double error = difference(y, expected, n);
        std::cout << name << (transpose ? " transposed" : "") << ": " << error
                  << std::endl;
        verify(name + ", product",
               error < 1e-13,
               std::to_string(error / 1e-13));
        verify(name + ", same bits",
               std::memcmp(y.data(), z.data(), y.size() * sizeof(double)) == 0);
      }
    device.vmult({Z.begin(), Product::set}, X.begin(), nullptr, false);
    Y = X;
    device.vmult({Y.begin(), Product::add}, X.begin(), nullptr, false);
    Y.add(-1., Z);
    Y.add(-1., X);
    verify(name + ", sum", Y.linfty_norm() <= 1e-14 * Z.linfty_norm());
    Y = X;
    device.vmult({Y.begin(), Product::subtract, Y.begin()},
                 X.begin(),
                 nullptr,
                 false);
    Y.add(1., Z);
    Y.add(-1., X);
    verify(name + ", difference", Y.linfty_norm() <= 1e-14 * Z.linfty_norm());
  }

  template <int dim>
  void
  check_all()
  {
    Triangulation<dim> triangulation;
    make_mesh(triangulation, dim == 2 ? 7 : 3);
    AgglomerationHandler<dim> handler(triangulation);
    handler.agglomerate(Agglomeration::parents<dim>(0));
    for (unsigned int degree = 1;
         degree <= Tessella::internal::Device::SimplexProduct::max_degree(dim);
         ++degree)
      {
        distribute(handler, degree);
        for (unsigned int variant = 0; variant < 3; ++variant)
          check_product(handler,
                        make_form<dim>(variant),
                        variant < 2,
                        std::to_string(dim) + "-D, degree " +
                          std::to_string(degree) + ", form " +
                          std::to_string(variant));
      }
  }

  // Products and diagonal blocks of a MatrixFreeOperator against those of a
  // matrix on the device.
  template <int dim>
  void
  check_operator(const AgglomerationHandler<dim> &handler,
                 const DeviceBlockMatrix<double> &matrix,
                 const MatrixFreeOperator<dim, DeviceBlockMatrix<double>> &op,
                 const std::string                                        &name)
  {
    const unsigned int n = handler.polytopic_dofs().n_basis[0];
    Vector<double>     x(handler.n_dofs()), expected(x.size());
    for (unsigned int i = 0; i < x.size(); ++i)
      x(i) = std::sin(1. + 37. * i) * std::pow(0.8, i % n);
    const DeviceVector<double> X(x);
    DeviceVector<double>       Y(x), Z(x), S(x);
    // Errors are relative to products of absolute values.
    std::vector<double>       y, values, blocks;
    DeviceBlockMatrix<double> absolute;
    absolute.copy_from(matrix);
    matrix.copy_to(values);
    for (double &value : values)
      value = std::fabs(value);
    absolute.copy_from(values);
    Vector<double> magnitude(x), size(x);
    for (double &value : magnitude)
      value = std::fabs(value);
    const DeviceVector<double> M(magnitude);
    const auto                 compare = [&](const std::string &what,
                             const bool         transpose = false) {
      transpose ? absolute.Tvmult(S, M) : absolute.vmult(S, M);
      Y.copy_to(y);
      Z.copy_to(expected);
      S.copy_to(size);
      double                   error   = 0.;
      for (unsigned int k = 0; k < y.size(); k += n)
        {
          double difference = 0., largest = 0.;
          for (unsigned int i = k; i < k + n; ++i)
            {
              difference = std::max(difference, std::fabs(y[i] - expected(i)));
              largest    = std::max(largest, size(i));
              if (!std::isfinite(y[i]))
                error = 1.;
            }
          error = std::max(error, difference / largest);
        }
      verify(name + ", " + what, error < 1e-13, std::to_string(error / 1e-13));
    };
    verify(name + ", size", op.m() == matrix.m() && op.n() == matrix.n());
    op.vmult(Y, X);
    matrix.vmult(Z, X);
    compare("operator");
    op.vmult_add(Y, X);
    matrix.vmult_add(Z, X);
    compare("operator, sum");
    op.subtract_product(Y, X, X);
    matrix.subtract_product(Z, X, X);
    compare("operator, difference");
    op.Tvmult(Y, X);
    matrix.Tvmult(Z, X);
    compare("operator, transposed", true);
    // Blocks of the device differ from those of the host by rounding.
    matrix.copy_to(values);
    op.diagonal_blocks(blocks);
    const BlockSparsity &sparsity = matrix.block_sparsity();
    double               error = 0., largest = 0.;
    std::size_t          next = 0;
    for (unsigned int k = 0; k < sparsity.row_width.size(); ++k)
      for (unsigned int i = 0; i < n; ++i)
        for (unsigned int j = 0; j < n; ++j, ++next)
          {
            const double value =
              values[sparsity.value_offset[k] + i * sparsity.row_width[k] +
                     sparsity.column_offset[sparsity.find_block(k, k)] + j];
            error   = std::max(error, std::fabs(blocks[next] - value));
            largest = std::max(largest, std::fabs(value));
          }
    verify(name + ", diagonal blocks",
           next == blocks.size() && error < 1e-12 * largest,
           std::to_string(error / largest));
  }

  // CG with Chebyshev's polynomial and with multigrid whose finest level has no
  // matrix, compared with those that have one.
  template <int dim>
  void
  check_solvers(const AgglomerationHandler<dim>       &handler,
                const AdvectionDiffusionReaction<dim> &form,
                const DeviceBlockMatrix<double>       &matrix,
                const MatrixFreeOperator<dim, DeviceBlockMatrix<double>> &op,
                const std::string                                        &name)
  {
    using Matrix = DeviceBlockMatrix<double>;
    AssemblyParameters parameters;
    parameters.backend = Backend::cuda;
    DeviceVector<double>    rhs, x, y;
    PolytopicAssembler<dim> assembler(handler, parameters);
    assembler.reinit(rhs);
    assembler.assemble_rhs(form, rhs);
    const MultigridHierarchy hierarchy(
      handler, NestedAgglomeration::rtree(handler, 0, 8));
    const auto coarse = [&]() {
      return assemble_coarse_operators<Matrix>(handler,
                                               hierarchy,
                                               form,
                                               parameters);
    };
    Multigrid<Matrix> with, without;
    with.initialize(matrix, coarse(), hierarchy);
    without.initialize(op.block_diagonal(), coarse(), hierarchy);
    BlockChebyshev<Matrix> chebyshev;
    chebyshev.initialize(op.block_diagonal());
    const auto solve = [&](const auto           &A,
                           const auto           &preconditioner,
                           DeviceVector<double> &solution) {
      SolverControl control(500, 1e-10 * rhs.l2_norm(), false, false);
      solution.reinit(rhs);
      SolverCG<DeviceVector<double>>(control).solve(A,
                                                    solution,
                                                    rhs,
                                                    preconditioner);
      return control.last_step();
    };
    const unsigned int n = solve(matrix, with, x), m = solve(op, without, y);
    verify(name + ", iterations of multigrid",
           n == m && n < 30,
           std::to_string(n) + " and " + std::to_string(m));
    verify(name + ", residual", op.residual(y, x, rhs) < 1e-8 * rhs.l2_norm());
    solve(op, without, y);
    y.add(-1., x);
    verify(name + ", multigrid", y.l2_norm() < 1e-8 * x.l2_norm());
    solve(op, chebyshev, y);
    y.add(-1., x);
    verify(name + ", Chebyshev", y.l2_norm() < 1e-7 * x.l2_norm());
  }

  template <int dim>
  void
  check_operators()
  {
    for (const unsigned int n_cells : {2, 4})
      {
        Triangulation<dim> triangulation;
        make_mesh(triangulation, dim == 2 ? 3 * n_cells : n_cells);
        AgglomerationHandler<dim> handler(triangulation);
        handler.agglomerate(Agglomeration::parents<dim>(0));
        for (const unsigned int degree : {1, 3, 4})
          {
            distribute(handler, degree);
            for (unsigned int variant = 0; variant < 3; ++variant)
              {
                const std::string name =
                  std::to_string(dim) + "-D, " + std::to_string(n_cells) +
                  " cells, degree " + std::to_string(degree) + ", form " +
                  std::to_string(variant);
                const auto                form = make_form<dim>(variant);
                PolytopicAssembler<dim>   assembler(handler);
                DeviceBlockMatrix<double> matrix;
                assembler.reinit(matrix);
                assembler.assemble_matrix(form, matrix);
                MatrixFreeOperator<dim, DeviceBlockMatrix<double>> op;
                op.initialize(handler, form);
                verify(name + ", report",
                       op.report().backend == Backend::cuda &&
                         op.report().kernel == "affine simplices" &&
                         (degree < 3 || op.memory_consumption() <
                                          matrix.memory_consumption()));
                check_operator(handler, matrix, op, name);
                if (variant == 0)
                  {
                    auto poisson = form;
                    poisson.set_source(1.);
                    check_solvers(handler, poisson, matrix, op, name);
                  }
              }
          }
      }
  }

  // The same on polytopes, with sums at quadrature points.
  template <int dim>
  void
  check_polytopes()
  {
    Triangulation<dim> triangulation;
    make_mesh(triangulation, dim == 2 ? 12 : 4);
    AgglomerationHandler<dim> handler(triangulation);
    handler.agglomerate(
      Agglomeration::rtree_parts<dim>(triangulation.n_active_cells() / 4));
    for (const unsigned int degree : {1, 2, 3})
      {
        distribute(handler, degree);
        const std::string name = std::to_string(dim) + "-D polytopes, degree " +
                                 std::to_string(degree);
        auto form = make_form<dim>(0);
        form.set_source(1.);
        PolytopicAssembler<dim>   assembler(handler);
        DeviceBlockMatrix<double> matrix;
        assembler.reinit(matrix);
        assembler.assemble_matrix(form, matrix);
        MatrixFreeOperator<dim, DeviceBlockMatrix<double>> op;
        op.initialize(handler, form);
        verify(name + ", report",
               op.report().backend == Backend::cuda &&
                 op.report().kernel == "sums at quadrature points");
        check_operator(handler, matrix, op, name);
        check_solvers(handler, form, matrix, op, name);
      }
    MatrixFreeOperator<dim, DeviceBlockMatrix<double>> op;
    op.initialize(handler, make_form<dim>(0));
    BlockGaussSeidel<DeviceBlockMatrix<double>> sweeps;
    verify("Gauss-Seidel",
           contains(message_of(
                      [&]() { sweeps.initialize(op.block_diagonal()); }),
                    "BlockGaussSeidel needs all blocks"));
  }

  // Nanoseconds of a function for each of n simplices: the median of runs.
  template <typename Work>
  double
  nanoseconds(const unsigned int n, const Work &work)
  {
    std::vector<double> times;
    for (unsigned int run = 0; run < 12; ++run)
      {
        Tessella::internal::Device::StreamClock clock;
        clock.start();
        work();
        clock.stop();
        times.push_back(clock.seconds() * 1e9 / n);
      }
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
  }

  template <int dim>
  void
  print_times(const unsigned int n_cells)
  {
    Triangulation<dim> triangulation;
    make_mesh(triangulation, n_cells);
    AgglomerationHandler<dim> handler(triangulation);
    handler.agglomerate(Agglomeration::parents<dim>(0));
    const auto form = make_form<dim>(0);
    std::cout << dim << "-D, " << triangulation.n_active_cells()
              << " simplices\n"
              << "  p    nodes     rows    basis  product   matrix  speed-up"
              << "   GFLOP/s     GB/s   B/simplex  matrix B  difference\n";
    for (unsigned int degree = 1;
         degree <= Tessella::internal::Device::SimplexProduct::max_degree(dim);
         ++degree)
      {
        distribute(handler, degree);
        Tessella::internal::SimplexData            data = set_up(handler, form);
        const unsigned int                         n    = data.n_rows;
        const Tessella::internal::SimplexReference reference(data.dim,
                                                             data.degree);
        const Tessella::internal::Device::SimplexProduct device(data,
                                                                reference);
        const double                                     n_operations =
          Tessella::internal::HostSimplexProduct::n_operations(data, reference);
        Vector<double> x(handler.n_dofs());
        for (unsigned int i = 0; i < x.size(); ++i)
          x(i) = std::sin(1. + 37. * i);
        const DeviceVector<double> X(x);
        DeviceVector<double>       Y(x), Z(x);
        const auto                 product = [&]() {
          device.vmult({Y.begin(), Product::set}, X.begin(), nullptr, false);
        };
        const double
          nodes = nanoseconds(n,
                              [&]() {
                                device.evaluate_at_nodes(X.begin(), nullptr);
                              }),
          rows = nanoseconds(n, [&]() { device.nodal_rows(Z.begin(), false); }),
          basis = nanoseconds(
            n,
            [&]() {
              device.basis_rows(Z.begin(), {Y.begin(), Product::set});
            }),
          total = nanoseconds(n, product);
        PolytopicAssembler<dim>   assembler(handler);
        DeviceBlockMatrix<double> matrix;
        assembler.reinit(matrix);
        assembler.assemble_matrix(form, matrix);
        const double with_matrix =
          nanoseconds(n, [&]() { matrix.vmult(Z, X); });
        product();
        Y.add(-1., Z);
        const double difference = Y.linfty_norm() / Z.linfty_norm(),
                     memory     = double(device.memory_consumption()) / n;
        // Vectors twice, nodal values three times, geometry once or twice.
        const double bytes =
          double(data.memory_consumption()) / n +
          8. * (7 * reference.n +
                Tessella::internal::SimplexData::n_corner_values(dim));
        std::cout << std::setw(3) << degree << std::fixed
                  << std::setprecision(3);
        for (const double time : {nodes, rows, basis, total, with_matrix})
          std::cout << std::setw(9) << time;
        std::cout << std::setw(10) << with_matrix / total
                  << std::setprecision(1) << std::setw(10)
                  << n_operations / n / total << std::setw(9) << bytes / total
                  << std::setw(12) << memory << std::setw(10)
                  << double(matrix.memory_consumption()) / n << std::scientific
                  << std::setw(12) << difference << std::defaultfloat
                  << std::endl;
      }
  }
} // namespace

int
main(int argc, char **argv)
{
  return run_case(argc, argv, [&](const std::string &name) {
    if (name == "2d" || name == "all")
      {
        check_all<2>();
        check_operators<2>();
        check_polytopes<2>();
      }
    if (name == "3d" || name == "all")
      {
        check_all<3>();
        check_operators<3>();
        check_polytopes<3>();
      }
    if (name == "times" || name == "all")
      {
        print_times<2>(argc > 2 ? std::atoi(argv[2]) : 300);
        print_times<3>(argc > 3 ? std::atoi(argv[3]) : 30);
      }
  });
}
