// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_check_parallel_h
#define tessella_tests_check_parallel_h

// Compares block matrices, preconditioners and multigrid on several processes
// to one process, for host and device matrices. verify(name, good, text) is
// called with results that agree on all processes.

#include <deal.II/distributed/tria.h>
#include <deal.II/lac/la_parallel_vector.h>

#include <tessella/lac/host_vector.h>
#include <tessella/lac/lusgs.h>

#include "check_multigrid.h"

namespace MultigridTest
{
  template <typename Number>
  void
  set_entries(LinearAlgebra::distributed::Vector<Number> &to,
              const std::vector<Number>                  &from)
  {
    std::copy(from.begin(), from.end(), to.begin());
  }
  template <typename Number>
  void
  set_entries(DeviceVector<Number> &to, const std::vector<Number> &from)
  {
    to.copy_from(from);
  }
  template <typename Number>
  std::vector<Number>
  get_entries(const LinearAlgebra::distributed::Vector<Number> &from)
  {
    return std::vector<Number>(from.begin(), from.end());
  }
  template <typename Number>
  std::vector<Number>
  get_entries(const DeviceVector<Number> &from)
  {
    std::vector<Number> to;
    from.copy_to(to);
    return to;
  }

  template <typename MatrixType>
  struct SinglePrecision;
  template <>
  struct SinglePrecision<HostBlockMatrix<double>>
  {
    using Matrix = HostBlockMatrix<float>;
    using Vector = HostVector<float>;
  };
  template <>
  struct SinglePrecision<DeviceBlockMatrix<double>>
  {
    using Matrix = DeviceBlockMatrix<float>;
    using Vector = DeviceVector<float>;
  };

  template <typename To, typename From>
  void
  round(HostVector<To> &to, const HostVector<From> &from)
  {
    to.reinit(from.locally_owned_elements(), from.get_mpi_communicator());
    std::copy(from.begin(), from.end(), to.begin());
  }
  template <typename To, typename From>
  void
  round(DeviceVector<To> &to, const DeviceVector<From> &from)
  {
    to = from;
  }

  /// Poisson problem on families of cells of an adaptive mesh: the same
  /// polytopes, in the same order, for every number of processes.
  template <int dim, typename MatrixType, typename VectorType>
  struct ParallelCase
  {
    parallel::distributed::Triangulation<dim>        triangulation;
    AgglomerationHandler<dim>                        handler;
    AdvectionDiffusionReaction<dim>                  form;
    typename PolytopicAssembler<dim>::AdditionalData data;
    MatrixType                                       matrix, without_penalty;
    VectorType                                       rhs;

    static const Triangulation<dim> &
    refine(parallel::distributed::Triangulation<dim> &triangulation)
    {
      GridGenerator::hyper_cube(triangulation);
      triangulation.refine_global(dim == 2 ? 4 : 3);
      for (const auto &cell : triangulation.active_cell_iterators())
        if (cell->is_locally_owned() && cell->center()[0] < 0.3 &&
            cell->center()[1] > 0.5)
          cell->set_refine_flag();
      triangulation.execute_coarsening_and_refinement();
      return triangulation;
    }

    /// @p degree = 0: degrees 1 and 3, depending on the position of the
    /// polytope.
    ParallelCase(const MPI_Comm       communicator,
                 const unsigned int   degree,
                 const Tensor<1, dim> advection = Tensor<1, dim>())
      : triangulation(communicator)
      , handler(refine(triangulation))
    {
      handler.agglomerate(Agglomeration::complete_families<dim>());
      if (degree > 0)
        handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(degree));
      else
        {
          const auto               &mesh = handler.polytopic_mesh();
          std::vector<unsigned int> indices(handler.n_polytopes());
          hp::FECollection<dim>     elements(FE_BoundingBoxLegendre<dim>(1),
                                         FE_BoundingBoxLegendre<dim>(3));
          for (unsigned int k = 0; k < indices.size(); ++k)
            indices[k] =
              mesh.box[2 * dim * k] + 1.7 * mesh.box[2 * dim * k + 1] < 0.8;
          handler.distribute_dofs(elements, indices);
        }
      form.set_diffusion(1.);
      form.set_source(1.);
      if (advection.norm() > 0.)
        form.set_advection(advection);
      data.backend = std::is_same<VectorType, DeviceVector<double>>::value
                       ? Backend::automatic
                       : Backend::host;
      PolytopicAssembler<dim> assembler(handler, data);
      assembler.reinit(matrix, rhs);
      assembler.reinit(without_penalty);
      assembler.assemble(form, matrix, rhs);
      PenaltyParameters none = data.penalty;
      none.constant          = 0.;
      assembler.set_penalty(none);
      assembler.assemble_matrix(form, without_penalty);
    }

    MultigridHierarchy
    hierarchy() const
    {
      return MultigridHierarchy(handler,
                                NestedAgglomeration::rtree(handler, 0, 8));
    }

    /// Values that depend only on the global index.
    VectorType
    some_entries(const unsigned int seed) const
    {
      VectorType          result(rhs);
      const IndexSet      owned = handler.locally_owned_dofs();
      std::vector<double> values;
      for (const auto i : owned)
        values.push_back(some_number(i + 1000003ull * seed));
      set_entries(result, values);
      return result;
    }

    template <typename Preconditioner>
    unsigned int
    cg_iterations(const Preconditioner &preconditioner) const
    {
      VectorType x(rhs);
      return cg_iterations(preconditioner, x);
    }

    /// @p x is the solution.
    template <typename Preconditioner>
    unsigned int
    cg_iterations(const Preconditioner &preconditioner, VectorType &x) const
    {
      SolverControl control(500, 1e-8 * rhs.l2_norm(), false, false);
      x.reinit(rhs);
      x = 0.;
      SolverCG<VectorType>(control).solve(matrix, x, rhs, preconditioner);
      return control.last_step();
    }
  };

  /// Largest difference between the entries on this process and those of a
  /// vector computed on one process, relative to the largest of the latter.
  template <typename VectorType, typename OfOne>
  double
  difference(const VectorType &a, const OfOne &of_one)
  {
    const std::vector<double> values = get_entries(a),
                              all    = get_entries(of_one);
    const IndexSet owned             = a.locally_owned_elements();
    double         error             = 0.;
    for (std::size_t i = 0; i < values.size(); ++i)
      error =
        std::max(error, std::abs(values[i] - all[owned.nth_index_in_set(i)]));
    double largest = 0.;
    for (const double x : all)
      largest = std::max(largest, std::abs(x));
    return Utilities::MPI::max(error, MPI_COMM_WORLD) / largest;
  }

  template <int dim, typename MatrixType, typename VectorType, typename Verify>
  void
  check_parallel(const Verify &verify)
  {
    using TestCase  = ParallelCase<dim, MatrixType, VectorType>;
    using MG        = Multigrid<MatrixType>;
    const auto name = [](const std::string &text) {
      return std::to_string(dim) + "-D " + text;
    };
    const auto number = [](const double x) {
      std::ostringstream text;
      text << x;
      return text.str();
    };
    {
      TestCase   all(MPI_COMM_WORLD, 0), one(MPI_COMM_SELF, 0);
      VectorType x = all.some_entries(1), y(all.rhs), X = one.some_entries(1),
                 Y(one.rhs);
      // The check is only meaningful if there are ghosts.
      verify(name("ghosts are met"),
             Utilities::MPI::min(all.handler.polytopic_mesh().n_polytopes() >
                                     all.handler.n_polytopes()
                                   ? 1
                                   : 0,
                                 MPI_COMM_WORLD) == 1,
             "");
      // The order of all sums is that of one process.
      const auto compare = [&](const std::string &what) {
        const double error = difference(y, Y);
        verify(name(what), error == 0., number(error));
      };
      y = all.rhs;
      Y = one.rhs;
      compare("right-hand side");
      all.matrix.vmult(y, x);
      one.matrix.vmult(Y, X);
      compare("product");
      all.matrix.vmult_add(y, x);
      one.matrix.vmult_add(Y, X);
      compare("product, added");
      const auto transposed = [&](const TestCase    &test,
                                  const TestCase    &test_of_one,
                                  const std::string &what) {
        test.matrix.Tvmult(y, x);
        test_of_one.matrix.Tvmult(Y, X);
        compare("transpose" + what);
        VectorType z(x);
        test.matrix.Tvmult_add(y, x);
        test.matrix.subtract_product(z, x, y, true);
        y = z;
        z = X;
        test_of_one.matrix.Tvmult(Y, X);
        test_of_one.matrix.Tvmult_add(Y, X);
        test_of_one.matrix.subtract_product(z, X, Y, true);
        Y = z;
        z.reinit(y);
        compare("transpose, added and subtracted" + what);
        // x.Ay = y.A^T x
        const VectorType u = test.some_entries(2);
        test.matrix.vmult(y, u);
        test.matrix.Tvmult(z, x);
        verify(name("transpose of the product" + what),
               std::abs(x * y - u * z) < 1e-13 * x.l2_norm() * y.l2_norm(),
               number(x * y - u * z));
      };
      transposed(all, one, "");
      {
        Tensor<1, dim> b;
        b[0] = 3.;
        b[1] = 1.;
        const TestCase flow(MPI_COMM_WORLD, 0, b),
          flow_of_one(MPI_COMM_SELF, 0, b);
        transposed(flow, flow_of_one, ", advection");
        // LU-SGS by colours
        const auto sweep =
          [&](const std::string &what, auto &&lusgs, auto &&lusgs_of_one) {
            SweepData colors;
            colors.ordering = SweepOrdering::colors;
            lusgs.initialize(flow.matrix, colors);
            lusgs_of_one.initialize(flow_of_one.matrix, colors);
            lusgs.vmult(y, x);
            lusgs_of_one.vmult(Y, X);
            compare("LU-SGS" + what);
            lusgs.Tvmult(y, x);
            lusgs_of_one.Tvmult(Y, X);
            compare("transpose of LU-SGS" + what);
          };
        sweep("", LUSGS<MatrixType>(), LUSGS<MatrixType>());
        sweep(", stored in float",
              LUSGS<MatrixType, float>(),
              LUSGS<MatrixType, float>());
        // the transpose of multigrid
        MG                          multigrid;
        typename MG::AdditionalData data;
        data.symmetric = false;
        multigrid.initialize(flow.matrix, flow.hierarchy(), data);
        VectorType       u(x), v(x);
        const VectorType w = flow.some_entries(2);
        multigrid.vmult(u, w);
        multigrid.Tvmult(v, x);
        verify(name("transpose of multigrid"),
               std::abs(x * u - w * v) < 1e-12 * x.l2_norm() * u.l2_norm(),
               number(x * u - w * v));
      }
      const double norm = all.matrix.residual(y, x, all.rhs),
                   NORM = one.matrix.residual(Y, X, one.rhs);
      compare("residual");
      verify(name("norms"),
             norm == NORM && x.l1_norm() == X.l1_norm() &&
               x.mean_value() == X.mean_value(),
             number(norm));
      verify(name("dot"),
             x * all.rhs == X * one.rhs &&
               x.add_and_dot(0.3, y, all.rhs) == X.add_and_dot(0.3, Y, one.rhs),
             number(x * all.rhs));

      const auto compare_preconditioners =
        [&](const std::string &what, auto &&of_all, auto &&of_one) {
          of_all.initialize(all.matrix);
          of_one.initialize(one.matrix);
          of_all.vmult(y, x);
          of_one.vmult(Y, X);
          compare(what);
        };
      compare_preconditioners("block Jacobi",
                              BlockJacobi<MatrixType>(),
                              BlockJacobi<MatrixType>());
      compare_preconditioners("Chebyshev",
                              BlockChebyshev<MatrixType>(),
                              BlockChebyshev<MatrixType>());
      BlockGaussSeidel<MatrixType> gauss_seidel, GAUSS_SEIDEL;
      compare_preconditioners("Gauss-Seidel", gauss_seidel, GAUSS_SEIDEL);
      verify(name("colours"),
             gauss_seidel.n_colors() == GAUSS_SEIDEL.n_colors(),
             std::to_string(gauss_seidel.n_colors()));

      // The bits are the same when repeated.
      MG multigrid, again;
      multigrid.initialize(all.matrix, all.without_penalty, all.hierarchy());
      again.initialize(all.matrix, all.without_penalty, all.hierarchy());
      VectorType z(all.rhs);
      multigrid.vmult(y, x);
      again.vmult(z, x);
      verify(name("same bits"),
             Utilities::MPI::min(get_entries(y) == get_entries(z) ? 1 : 0,
                                 MPI_COMM_WORLD) == 1,
             "");
    }

    for (unsigned int p = 0; p <= (dim == 2 ? 4 : 3); ++p)
      {
        const TestCase all(MPI_COMM_WORLD, p), one(MPI_COMM_SELF, p);
        const auto     hierarchy = all.hierarchy();
        MG             multigrid, of_one;
        const auto     check_iterations = [&](const std::string &what) {
          const unsigned int n = all.cg_iterations(multigrid),
                             N = one.cg_iterations(of_one);
          verify(name("p = " + std::to_string(p) + ", " + what),
                 n <= 20 && n <= N + 3,
                 std::to_string(n) + " iterations, on one process " +
                   std::to_string(N));
        };
        multigrid.initialize(all.matrix, all.without_penalty, hierarchy);
        of_one.initialize(one.matrix, one.without_penalty, one.hierarchy());
        check_iterations("rescaled");
        if (p > 2)
          continue;
        const auto assembled = [](const TestCase &test) {
          return assemble_coarse_operators<MatrixType>(test.handler,
                                                       test.hierarchy(),
                                                       test.form,
                                                       test.data);
        };
        typename MG::AdditionalData data;
        data.smoother          = MG::Smoother::gauss_seidel;
        data.cycle             = MG::Cycle::w;
        data.n_smoothing_steps = 3;
        multigrid.initialize(all.matrix, assembled(all), hierarchy, data);
        of_one.initialize(one.matrix, assembled(one), one.hierarchy(), data);
        check_iterations("assembled, Gauss-Seidel, W");
      }

    // Preconditioners that do not join polytopes have the same bits and so the
    // same iterations. Unions of polytopes end at the boundary of a process.
    for (unsigned int p = 0; p <= 3; ++p)
      {
        const TestCase all(MPI_COMM_WORLD, p), one(MPI_COMM_SELF, p);
        VectorType x = all.some_entries(1), y(all.rhs), X = one.some_entries(1),
                   Y(one.rhs);
        const auto compare = [&](const std::string &what) {
          const double error = difference(y, Y);
          verify(name("p = " + std::to_string(p) + ", same bits, " + what),
                 error == 0.,
                 number(error));
        };
        all.matrix.vmult(y, x);
        one.matrix.vmult(Y, X);
        compare("product");
        all.matrix.Tvmult(y, x);
        one.matrix.Tvmult(Y, X);
        compare("transpose");
        {
          typename SinglePrecision<MatrixType>::Matrix A, B;
          typename SinglePrecision<MatrixType>::Vector u, v, U, V;
          A.copy_from(all.matrix);
          B.copy_from(one.matrix);
          round(u, x);
          round(U, X);
          v = u;
          V = U;
          A.vmult(v, u);
          B.vmult(V, U);
          const double norm = v.l2_norm(), NORM = V.l2_norm();
          A.Tvmult(u, v);
          B.Tvmult(U, V);
          round(y, u);
          round(Y, U);
          compare("in float");
          verify(name("p = " + std::to_string(p) + ", same bits, float norm"),
                 norm == NORM,
                 number(norm - NORM));
        }
        const auto solve = [&](const std::string &what,
                               const auto        &preconditioner,
                               const auto        &of_one) {
          const unsigned int n = all.cg_iterations(preconditioner, y),
                             N = one.cg_iterations(of_one, Y);
          compare("solution, " + what);
          verify(name("p = " + std::to_string(p) + ", iterations, " + what),
                 n == N,
                 std::to_string(n) + ", on one process " + std::to_string(N));
        };
        BlockChebyshev<MatrixType> chebyshev, CHEBYSHEV;
        chebyshev.initialize(all.matrix);
        CHEBYSHEV.initialize(one.matrix);
        solve("Chebyshev", chebyshev, CHEBYSHEV);
        BlockGaussSeidel<MatrixType> gauss_seidel, GAUSS_SEIDEL;
        gauss_seidel.initialize(all.matrix);
        GAUSS_SEIDEL.initialize(one.matrix);
        solve("Gauss-Seidel", gauss_seidel, GAUSS_SEIDEL);
        MG multigrid, of_one;
        multigrid.initialize(all.matrix, MultigridHierarchy(all.handler, {}));
        of_one.initialize(one.matrix, MultigridHierarchy(one.handler, {}));
        solve("degrees", multigrid, of_one);
      }

    // ---- errors on one process are thrown on all
    TestCase   all(MPI_COMM_WORLD, 1);
    const auto verify_message = [&](const std::string &what,
                                    const std::string &part,
                                    const std::string &text) {
      verify(name(what),
             Utilities::MPI::min(contains(text, part) ? 1 : 0,
                                 MPI_COMM_WORLD) == 1,
             text);
    };
    {
      std::vector<double> values;
      all.matrix.copy_to(values);
      const auto &sparsity = all.matrix.block_sparsity();
      if (Utilities::MPI::this_mpi_process(MPI_COMM_WORLD) == 1)
        std::fill(values.begin() + sparsity.value_offset[2],
                  values.begin() + sparsity.value_offset[3],
                  0.);
      TestCase bad(MPI_COMM_WORLD, 1);
      bad.matrix.copy_from(values);
      verify_message("singular block", "singular", message_of([&] {
                       MG multigrid;
                       multigrid.initialize(bad.matrix, bad.hierarchy());
                     }));
    }
    verify_message("coarsest level", "more than the 5 allowed", message_of([&] {
                     MG                          multigrid;
                     typename MG::AdditionalData data;
                     data.max_coarse_dofs = 5;
                     multigrid.initialize(all.matrix, all.hierarchy(), data);
                   }));
    verify_message("vector of one process", "imension", message_of([&] {
                     VectorType x(3), y(3);
                     all.matrix.vmult(y, x);
                   }));
  }
} // namespace MultigridTest

#endif
