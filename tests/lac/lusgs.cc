// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// LU-SGS and block ILU(0) against dense references, GMRES with fused scalar
// products against deal.II's GMRES, and one matrix for several components.

#include <deal.II/base/mpi.h>
#include <deal.II/base/multithread_info.h>

#include <deal.II/lac/precondition.h>
#include <deal.II/lac/solver_gmres.h>

#include <tessella/lac/host_vector.h>
#include <tessella/lac/lusgs.h>
#include <tessella/lac/solver_fused_gmres.h>

#include <string>
#include <type_traits>

#include "../messages.h"
#include "../tests.h"
#include "block_reference.h"
#include "component_cases.h"

using namespace dealii;
using namespace Tessella;
using namespace BlockReference;

namespace
{
  bool all_right = true;

  void
  verify_below(const std::string &name, const double value, const double bound)
  {
    if (!(value <= bound))
      {
        all_right = false;
        deallog << name << ": " << value << " > " << bound << std::endl;
      }
  }

  template <typename Number>
  Vector<Number>
  some_vector(const unsigned int n)
  {
    Vector<Number> result(n);
    for (unsigned int i = 0; i < n; ++i)
      result(i) = static_cast<Number>(some_number(7 * i + 3));
    return result;
  }

  /// Difference between the preconditioner or its transpose and @p sweeps
  /// iterations x += M^{-1} (b - A x) from zero.
  template <typename Preconditioner>
  double
  difference(const Preconditioner     &preconditioner,
             const FullMatrix<double> &A,
             const FullMatrix<double> &M,
             const unsigned int        n_sweeps,
             const bool                transpose)
  {
    using Number           = typename Preconditioner::value_type;
    const unsigned int   n = A.m();
    const Vector<Number> b = some_vector<Number>(n);
    Vector<Number>       y(n);
    if (transpose)
      preconditioner.Tvmult(y, b);
    else
      preconditioner.vmult(y, b);
    FullMatrix<double> inverse(M);
    inverse.gauss_jordan();
    Vector<double> x(n), r(n), d(n);
    for (unsigned int i = 0; i < n_sweeps; ++i)
      {
        if (transpose)
          A.Tvmult(r, x);
        else
          A.vmult(r, x);
        for (unsigned int j = 0; j < n; ++j)
          r(j) = b(j) - r(j);
        if (transpose)
          inverse.Tvmult(d, r);
        else
          inverse.vmult(d, r);
        x += d;
      }
    double largest = 0.;
    for (unsigned int i = 0; i < n; ++i)
      largest = std::max(largest, std::abs(x(i) - y(i)));
    return largest / x.linfty_norm();
  }

  template <typename Number, typename Storage>
  void
  check_factors(const std::string               &name,
                const std::vector<unsigned int> &sizes,
                const bool                       diagonals)
  {
    using MatrixType = HostBlockMatrix<Number>;
    MatrixType matrix;
    make_matrix(5, sizes, diagonals, matrix);
    const FullMatrix<double>        A     = dense(matrix);
    const std::vector<unsigned int> block = block_of_row(matrix);
    std::vector<Number>             values;
    matrix.copy_to(values);
    // The second call of initialize() keeps the order of the first one, which
    // sees other values.
    const auto initialize = [&](auto &preconditioner, const SweepData &data) {
      std::vector<Number> others(values);
      for (Number &value : others)
        value *= Number(2);
      matrix.copy_from(others);
      preconditioner.initialize(matrix, data);
      Vector<Number> x(A.m());
      preconditioner.Tvmult(x, some_vector<Number>(A.m()));
      matrix.copy_from(values);
      preconditioner.initialize(matrix, data);
    };
    const bool   rough = !std::is_same<Storage, double>::value;
    const double bound = rough ? 3e-6 : 1e-13;
    for (const bool wave_fronts : {false, true})
      {
        SweepData                 data;
        std::vector<unsigned int> order = colors(matrix);
        data.ordering                   = SweepOrdering::colors;
        if (wave_fronts)
          {
            data.ordering = SweepOrdering::hyperplanes;
            for (unsigned int k = 0; k < 25; ++k)
              data.numbering.push_back(7 * k % 25);
            order = data.numbering;
          }
        const FullMatrix<double> M = product_of_factors(A, block, order);
        const std::string        which =
          name + (wave_fronts ? ", hyperplanes" : ", colours");
        for (const unsigned int n_sweeps : {1, 2, 3})
          {
            data.n_sweeps = n_sweeps;
            LUSGS<MatrixType, Storage> lusgs;
            initialize(lusgs, data);
            for (const bool transpose : {false, true})
              verify_below(which + ", SGS " + std::to_string(n_sweeps) +
                             (transpose ? ", transpose" : ""),
                           difference(lusgs, A, M, n_sweeps, transpose),
                           bound);
          }
        data.n_sweeps = 1;
        for (const double relaxation : {0.6, 0., 1.})
          {
            data.relaxation = relaxation;
            const FullMatrix<double> F =
              incomplete_factors(A, block, order, relaxation);
            BlockILU0<MatrixType, Storage> ilu;
            initialize(ilu, data);
            for (const bool transpose : {false, true})
              verify_below(
                which + ", ILU(0) with relaxation " +
                  std::to_string(relaxation) + (transpose ? ", transpose" : ""),
                difference(
                  ilu, A, product_of_factors(F, block, order), 1, transpose),
                bound);
            if (ilu.memory_consumption() < A.m() * sizeof(Storage))
              all_right = false;
          }
      }
  }

  /// The default numbering of hyperplanes: a chain is solved exactly.
  void
  check_hyperplanes()
  {
    HostBlockMatrix<double> matrix;
    make_matrix(1, {3}, false, matrix);
    SweepData data;
    data.ordering = SweepOrdering::hyperplanes;
    LUSGS<HostBlockMatrix<double>> one;
    one.initialize(matrix, data);
    const FullMatrix<double> A = dense(matrix);
    verify_below("one block", difference(one, A, A, 1, false), 1e-14);
    make_matrix(40, {3, 4}, false, matrix);
    BlockILU0<HostBlockMatrix<double>> ilu;
    ilu.initialize(matrix, data);
    LUSGS<HostBlockMatrix<double>> lusgs;
    lusgs.initialize(matrix, data);
    // Fronts of a grid are its diagonals.
    verify_below("fronts", lusgs.n_steps(), 80);
    // Results do not depend on the number of threads.
    const Vector<double> b = some_vector<double>(matrix.m());
    Vector<double>       x(b.size()), y(b.size()), z(b.size());
    lusgs.vmult(x, b);
    ilu.vmult(y, b);
    MultithreadInfo::set_thread_limit(2);
    BlockILU0<HostBlockMatrix<double>> again;
    again.initialize(matrix, data);
    again.vmult(z, b);
    verify_below("ILU(0), threads", z == y ? 0. : 1., 0.);
    lusgs.vmult(z, b);
    verify_below("LU-SGS, threads", z == x ? 0. : 1., 0.);
    MultithreadInfo::set_thread_limit(1);
  }

  template <typename VectorType>
  void
  check_gmres(const std::string &name)
  {
    using Number = typename VectorType::value_type;
    HostBlockMatrix<Number> matrix;
    make_matrix(20, {3, 4}, true, matrix);
    LUSGS<HostBlockMatrix<Number>> lusgs;
    lusgs.initialize(matrix);
    const double tolerance = std::is_same<Number, double>::value ? 1e-12 : 1e-5;
    VectorType   b(matrix.m()), x(matrix.m()), y(matrix.m()), r(matrix.m());
    const Vector<Number> values = some_vector<Number>(matrix.m());
    std::copy(values.begin(), values.end(), b.begin());
    for (const unsigned int restart : {100, 4})
      for (const bool right : {false, true})
        for (const bool preconditioned : {false, true})
          {
            x = Number(0);
            y = Number(0);
            SolverControl control(400, tolerance * b.l2_norm(), false, false),
              reference(400, tolerance * b.l2_norm(), false, false);
            SolverFusedGMRES<VectorType> fused(
              control,
              typename SolverFusedGMRES<VectorType>::AdditionalData(restart,
                                                                    right));
            SolverGMRES<VectorType> gmres(
              reference,
              typename SolverGMRES<VectorType>::AdditionalData(restart + 2,
                                                               right));
            if (preconditioned)
              {
                fused.solve(matrix, x, b, lusgs);
                gmres.solve(matrix, y, b, lusgs);
              }
            else
              {
                fused.solve(matrix, x, b, PreconditionIdentity());
                gmres.solve(matrix, y, b, PreconditionIdentity());
              }
            matrix.residual(r, x, b);
            const std::string which = name + ", restart " +
                                      std::to_string(restart) +
                                      (right ? ", right" : ", left") +
                                      (preconditioned ? ", LU-SGS" : "");
            verify_below(which + ", iterations",
                         std::abs(int(control.last_step()) -
                                  int(reference.last_step())),
                         1);
            verify_below(which + ", residual",
                         r.l2_norm() / b.l2_norm(),
                         100 * tolerance);
          }
    // A preconditioner that changes.
    struct Changing
    {
      void
      vmult(VectorType &dst, const VectorType &src) const
      {
        lusgs.vmult(dst, src);
        dst *= Number(1. + 0.1 * (++count % 3));
      }
      const LUSGS<HostBlockMatrix<Number>> &lusgs;
      mutable unsigned int                  count;
    };
    SolverControl control(60, tolerance * b.l2_norm(), false, false);
    x = Number(0);
    SolverFusedGMRES<VectorType>(
      control,
      typename SolverFusedGMRES<VectorType>::AdditionalData(30, true, true))
      .solve(matrix, x, b, Changing{lusgs, 0});
    matrix.residual(r, x, b);
    verify_below(name + ", flexible",
                 r.l2_norm() / b.l2_norm(),
                 100 * tolerance);
    // The exact solution is found in one step, without division by zero.
    struct Exact
    {
      void
      vmult(VectorType &dst, const VectorType &src) const
      {
        dst.equ(Number(0.25), src);
      }
    };
    x = Number(0);
    SolverControl few(3, 1e-5 * tolerance * b.l2_norm(), false, false);
    struct Multiple
    {
      void
      vmult(VectorType &dst, const VectorType &src) const
      {
        dst.equ(Number(4), src);
      }
    };
    SolverFusedGMRES<VectorType>(few).solve(Multiple(), x, b, Exact());
    verify_below(name + ", one step", few.last_step(), 1);
  }

  void
  check_messages()
  {
    using MatrixType = HostBlockMatrix<double>;
    MatrixType matrix, singular;
    make_matrix(3, {3}, false, matrix);
    make_matrix(3, {3}, false, singular, 4);
    LUSGS<MatrixType>     lusgs;
    BlockILU0<MatrixType> ilu;
    Vector<double>        x(27), y(26), z(27);
    const auto check = [](const std::string &part, const auto &work) {
      const std::string message = message_of(work);
      if (!contains(message, part))
        {
          all_right = false;
          deallog << part << ": " << message << std::endl;
        }
    };
    check("diagonal block of block row 4 is singular",
          [&] { lusgs.initialize(singular); });
    SweepData data;
    data.n_sweeps = 0;
    check("number of sweeps", [&] { lusgs.initialize(matrix, data); });
    data.n_sweeps = 2;
    check("n_sweeps must be 1", [&] { ilu.initialize(matrix, data); });
    data            = SweepData();
    data.relaxation = 1.5;
    check("relaxation of BlockILU0 is 1.5",
          [&] { ilu.initialize(matrix, data); });
    data           = SweepData();
    data.ordering  = SweepOrdering::colors;
    data.numbering = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    check("A numbering needs", [&] { lusgs.initialize(matrix, data); });
    data.ordering     = SweepOrdering::hyperplanes;
    data.numbering[3] = 2;
    check("2 occurs twice", [&] { lusgs.initialize(matrix, data); });
    data.numbering[3] = 9;
    check("9 is too large", [&] { lusgs.initialize(matrix, data); });
    data.numbering.pop_back();
    check("has 8 entries, but this process owns 9 block rows",
          [&] { lusgs.initialize(matrix, data); });
    lusgs.initialize(matrix);
    check("27", [&] { lusgs.vmult(y, x); });
    check("must be different vectors", [&] { lusgs.vmult(x, x); });
    // An incomplete factorisation meets a block that becomes singular.
    std::vector<double> values;
    matrix.copy_to(values);
    const auto &sparsity = matrix.block_sparsity();
    for (unsigned int k : {0, 1})
      for (unsigned int l : {0, 1})
        for (unsigned int i = 0; i < 3; ++i)
          for (unsigned int j = 0; j < 3; ++j)
            values[sparsity.value_offset[k] + i * sparsity.row_width[k] +
                   sparsity.column_offset[sparsity.find_block(k, l)] + j] =
              i == j ? 1. : 0.;
    matrix.copy_from(values);
    data          = SweepData();
    data.ordering = SweepOrdering::hyperplanes;
    for (unsigned int k = 0; k < 9; ++k)
      data.numbering.push_back(k);
    check("pivot block of polytope 1 is singular",
          [&] { ilu.initialize(matrix, data); });
    SolverControl control;
    check("restart length", [&] {
      SolverFusedGMRES<Vector<double>>(
        control, SolverFusedGMRES<Vector<double>>::AdditionalData(0))
        .solve(matrix, x, z, lusgs);
    });
    z = 1.;
    SolverControl few(1, 1e-14, false, false);
    make_matrix(3, {3}, false, matrix);
    check("failure in step 1", [&] {
      SolverFusedGMRES<Vector<double>>(few).solve(matrix, x, z, lusgs);
    });
  }
  /// Vector for ComponentCases.
  template <typename Number>
  class TestVector
  {
  public:
    explicit TestVector(const std::vector<Number> &values)
      : data(values.begin(), values.end())
    {}
    Vector<Number> &
    vector()
    {
      return data;
    }
    const Vector<Number> &
    vector() const
    {
      return data;
    }
    std::vector<Number>
    entries() const
    {
      return std::vector<Number>(data.begin(), data.end());
    }

  private:
    Vector<Number> data;
  };

  template <typename Number>
  void
  check_components(const std::string &name)
  {
    ComponentCases::check_all<HostBlockMatrix<Number>, TestVector<Number>>(
      name, false, [](const std::string &what, const bool right) {
        if (!right)
          {
            all_right = false;
            deallog << what << std::endl;
          }
      });
  }
} // namespace



int
main(int argc, char *argv[])
{
  Utilities::MPI::MPI_InitFinalize mpi(argc, argv, 1);
  initlog();
  check_factors<double, double>("double, blocks of 3 and 5", {3, 5}, true);
  check_factors<double, double>("double, blocks of 10", {10}, false);
  check_factors<double, float>("double, stored in float", {3, 6, 9}, true);
  check_factors<float, float>("float", {4}, true);
  check_hyperplanes();
  check_gmres<Vector<double>>("Vector");
  check_gmres<HostVector<double>>("HostVector");
  check_gmres<HostVector<float>>("HostVector, float");
  check_messages();
  check_components<double>("double");
  check_components<float>("float");
  deallog << (all_right ? "ok" : "failed") << std::endl;
}
