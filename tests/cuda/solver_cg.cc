// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Conjugate gradient method on a device, whose scalars stay there, compared to
// deal.II's on the same vectors. Argument: checks, unavailable; or times, which
// prints the times of iterations on 12,800 triangles (2 n^2 for an optional
// argument n). Returns 77 if the case cannot run on this machine, 1 if a check
// fails.

#include <deal.II/base/timer.h>

#include <tessella/lac/device_solver_cg.h>

#include <cmath>
#include <cstring>
#include <iomanip>
#include <iostream>
#include <limits>
#include <string>
#include <vector>

#include "../multigrid/check_multigrid.h"
#include "checks.h"

using namespace MultigridTest;

namespace
{
  using Device     = DeviceBlockMatrix<double>;
  using VectorType = DeviceVector<double>;

  /// Solutions that were compared, and those with the bits of SolverCG.
  unsigned int n_compared = 0, n_same_bits = 0;

  template <typename Number>
  bool
  same_bits(const DeviceVector<Number> &a, const DeviceVector<Number> &b)
  {
    std::vector<Number> x, y;
    a.copy_to(x);
    b.copy_to(y);
    return x.size() == y.size() &&
           std::memcmp(x.data(), y.data(), x.size() * sizeof(Number)) == 0;
  }

  /// An operator that counts its applications.
  template <typename Operator>
  struct Counted
  {
    template <typename Vector>
    void
    vmult(Vector &y, const Vector &x) const
    {
      ++n;
      op.vmult(y, x);
    }
    const Operator      &op;
    mutable unsigned int n = 0;
  };

  /// An operator for whose result the host waits.
  template <typename Operator>
  struct Waiting
  {
    void
    vmult(VectorType &y, const VectorType &x) const
    {
      op.vmult(y, x);
      verify("finite", std::isfinite(y * x));
    }
    const Operator &op;
  };

  template <typename Number>
  struct Diagonal
  {
    void
    vmult(DeviceVector<Number> &y, const DeviceVector<Number> &x) const
    {
      y = x;
      y.scale(entries);
    }
    DeviceVector<Number> entries;
  };

  /// Three steps of another solver as a preconditioner, from zero.
  template <typename Solver>
  struct Inner
  {
    void
    vmult(VectorType &y, const VectorType &x) const
    {
      y = 0.;
      IterationNumberControl control(3, 0., false, false);
      Solver(control).solve(matrix, y, x, jacobi);
    }
    const Device              &matrix;
    const BlockJacobi<Device> &jacobi;
  };

  struct Zero
  {
    void
    vmult(VectorType &y, const VectorType &) const
    {
      y = 0.;
    }
  };



  /// Compares solutions of both solvers from @p initial; returns the number of
  /// steps. Preconditioners of the solvers may differ. Solutions may differ by
  /// @p bound, relative to their norm, and if this is more than for the same
  /// arithmetic, numbers of steps may differ a little, too.
  template <typename Number, typename Matrix, typename First, typename Second>
  unsigned int
  compare(const std::string          &name,
          const Matrix               &A,
          const DeviceVector<Number> &b,
          const DeviceVector<Number> &initial,
          const First                &P,
          const Second               &of_reference,
          const double                tolerance,
          const double                bound)
  {
    using Vector = DeviceVector<Number>;
    Vector        x(initial), reference(initial), again(initial);
    SolverControl first(1000, tolerance * b.l2_norm(), false, false),
      second(first), third(first);
    Counted<First> counted{P};
    SolverCG<Vector>(first).solve(A, reference, b, of_reference);
    DeviceSolverCG<Vector>(second).solve(A, x, b, counted);
    DeviceSolverCG<Vector>(third).solve(A, again, b, P);
    const unsigned int n      = second.last_step();
    const int          margin = bound <= 1e-12 ? 0 : 1 + int(n) / 20;
    verify(name + ", steps",
           n > 0 && std::abs(int(n) - int(first.last_step())) <= margin,
           std::to_string(first.last_step()) + " and " + std::to_string(n));
    verify(name + ", preconditioner",
           counted.n == n || counted.n == n + 1,
           std::to_string(counted.n));
    // The identity is not recognised in a wrapper.
    constexpr bool wrapped = std::is_same<First, PreconditionIdentity>::value;
    verify(name + ", two runs", wrapped || same_bits(x, again));
    for (const Vector *solution : {&x, &again})
      {
        ++n_compared;
        n_same_bits += same_bits(*solution, reference);
        Vector difference(*solution);
        difference -= reference;
        const double error = difference.l2_norm() / reference.l2_norm();
        verify(name + ", solution", error <= bound, std::to_string(error));
      }
    // The solution needs no further step and is not changed.
    const Vector found(x);
    // The residual of the solution is not quite that of the last step.
    Vector residual(b.size());
    A.vmult(residual, x);
    residual -= b;
    SolverControl last(1000, 1.01 * residual.l2_norm(), false, false);
    counted.n = 0;
    DeviceSolverCG<Vector>(last).solve(A, x, b, counted);
    verify(name + ", second solve",
           last.last_step() == 0 && counted.n == 0 && same_bits(x, found));
    return n;
  }

  template <typename Matrix, typename Preconditioner>
  void
  compare(const std::string    &name,
          const Matrix         &A,
          const VectorType     &b,
          const Preconditioner &P,
          const double          bound = 1e-12)
  {
    VectorType x(b.size()), guess(b.size());
    guess.copy_from(some_vector(b.size(), 5));
    compare(name + ", from zero", A, b, x, P, P, 1e-10, bound);
    const unsigned int n =
      compare(name + ", from a guess", A, b, guess, P, P, 1e-10, bound);

    // Too few steps: the solution is that of the last one.
    VectorType             y(guess), z(guess);
    SolverControl          control(n - 1, 1e-10 * b.l2_norm(), false, false);
    IterationNumberControl steps(n - 1, 0., false, false);
    unsigned int           last_step = 0;
    try
      {
        DeviceSolverCG<VectorType>(control).solve(A, y, b, P);
      }
    catch (const SolverControl::NoConvergence &exception)
      {
        last_step = exception.last_step;
      }
    Counted<Preconditioner> counted{P};
    DeviceSolverCG<VectorType>(steps).solve(A, z, b, counted);
    verify(name + ", no convergence", n > 1 && last_step == n - 1);
    verify(name + ", number of applications",
           counted.n == n - 1,
           std::to_string(counted.n));
    if constexpr (!std::is_same<Preconditioner, PreconditionIdentity>::value)
      verify(name + ", after the last step", same_bits(y, z));

    // Slots see the solution of each step, and the reduction counts.
    ReductionControl           reduction(1000, 0., 1e-10, false, false);
    DeviceSolverCG<VectorType> solver(reduction);
    unsigned int               n_calls = 0;
    double                     norm    = 0.;
    solver.connect(
      [&](const unsigned int, const double, const VectorType &present) {
        ++n_calls;
        norm = present.l2_norm();
        return SolverControl::success;
      });
    x = 0.;
    solver.solve(A, x, b, P);
    verify(name + ", slots",
           n_calls == reduction.last_step() + 1 && norm == x.l2_norm());
  }

  template <int dim>
  void
  check(const unsigned int p, const unsigned int cells)
  {
    const std::string name =
      std::to_string(dim) + "-D, p = " + std::to_string(p) + ", ";
    const Case<dim, Device>             problem(cells, 1, {p}, true);
    const Device                       &A = problem.matrix;
    const VectorType                   &b = problem.rhs;
    Multigrid<Device>                   multigrid;
    Multigrid<DeviceBlockMatrix<float>> in_float;
    DeviceBlockMatrix<float>            rounded, rounded_without;
    rounded.copy_from(A);
    rounded_without.copy_from(problem.without_penalty);
    multigrid.initialize(A, problem.without_penalty, problem.hierarchy());
    in_float.initialize(rounded, rounded_without, problem.hierarchy());
    BlockChebyshev<Device> chebyshev;
    BlockJacobi<Device>    jacobi;
    chebyshev.initialize(A);
    jacobi.initialize(A);
    compare(name + "multigrid", A, b, multigrid);
    compare(name + "multigrid in float", A, b, in_float);
    compare(name + "Chebyshev", A, b, chebyshev);
    compare(name + "Jacobi", A, b, jacobi);
    // The condition of higher degrees is too bad for it.
    if (p == 1)
      compare(name + "identity", A, b, PreconditionIdentity(), 1e-5);
    compare(name + "host waits",
            Waiting<Device>{A},
            b,
            Waiting<BlockJacobi<Device>>{jacobi});
    // A solver in the preconditioner of another one has scalars of its own.
    compare(name + "nested",
            A,
            b,
            VectorType(b.size()),
            Inner<DeviceSolverCG<VectorType>>{A, jacobi},
            Inner<SolverCG<VectorType>>{A, jacobi},
            1e-2,
            1e-12);
  }

  /// Vectors of one entry up to several entries for each thread of the device.
  template <typename Number>
  void
  check_sizes()
  {
    constexpr bool in_double = std::is_same<Number, double>::value;
    for (const unsigned int n : {1u, 31u, 1000u, 300007u, 3000017u})
      {
        const std::string name =
          std::to_string(n) + (in_double ? " doubles" : " floats");
        Diagonal<Number> A, P;
        Vector<double>   entries = some_vector(n, 1);
        entries.add(1.);
        A.entries.copy_from(entries);
        entries.add(3.);
        P.entries.copy_from(entries);
        DeviceVector<Number> b, guess;
        b.copy_from(some_vector(n, 2));
        guess.copy_from(some_vector(n, 3));
        compare(name,
                A,
                b,
                guess,
                P,
                P,
                in_double ? 1e-10 : 1e-4,
                in_double ? 1e-12 : 1e-3);
      }
  }

  void
  check_errors()
  {
    Case<2, Device>     problem(5, 1, {2}, true);
    Device             &A = problem.matrix;
    VectorType         &b = problem.rhs;
    BlockJacobi<Device> jacobi;
    jacobi.initialize(A);
    const VectorType guess(some_vector(b.size(), 7));
    VectorType       x(guess);
    SolverControl    control(5000, 1e-8 * b.l2_norm(), false, false);
    const auto       message = [&](const auto &P) {
      x = guess;
      return message_of(
        [&] { DeviceSolverCG<VectorType>(control).solve(A, x, b, P); });
    };
    std::vector<double> values, other;
    A.copy_to(values);
    std::string text = message(Zero());
    verify("zero preconditioner",
           contains(text, "preconditioner is not positive definite") &&
             same_bits(x, guess),
           text);
    for (const double factor : {-1., std::numeric_limits<double>::quiet_NaN()})
      {
        other = values;
        for (double &value : other)
          value *= factor;
        A.copy_from(other);
        const bool indefinite = factor < 0.;
        // A residual that is not finite goes to the control.
        text = message(jacobi);
        verify("bad matrix",
               contains(text,
                        indefinite ? "is not positive definite"
                                   : "Iterative method reported convergence "
                                     "failure in step 0"),
               text);
        verify("solution before the error", same_bits(x, guess));
        // From zero, the first product is that with the direction.
        x    = 0.;
        text = message_of(
          [&] { DeviceSolverCG<VectorType>(control).solve(A, x, b, jacobi); });
        verify("bad matrix, from zero",
               contains(text,
                        indefinite ? "is not positive definite"
                                   : "no longer finite") &&
                 x.all_zero(),
               text);
      }
    A.copy_from(values);
    verify("after the errors", message(jacobi) == "no exception");

    // right-hand sides and vectors of zero length
    b = 0.;
    x = 0.;
    DeviceSolverCG<VectorType>(control).solve(A, x, b, jacobi);
    verify("zero", control.last_step() == 0 && x.all_zero());
    SolverControl absolute(5000, 1e-10, false, false);
    x = guess;
    DeviceSolverCG<VectorType>(absolute).solve(A, x, b, jacobi);
    verify("zero, from a guess",
           absolute.last_step() > 0 && x.l2_norm() < 1e-6 * guess.l2_norm());
    VectorType y, c;
    DeviceSolverCG<VectorType>(control).solve(PreconditionIdentity(),
                                              y,
                                              c,
                                              PreconditionIdentity());
    verify("empty", control.last_step() == 0 && y.empty());
    VectorType longer(b.size() + 1);
    b = guess;
    verify("sizes",
           message_of([&] {
             DeviceSolverCG<VectorType>(control).solve(A, longer, b, jacobi);
           }) != "no exception");
  }



  /// Microseconds of an iteration of the solver, or of one call of @p work.
  template <typename Solver, typename Preconditioner>
  double
  time_of(const Case<2, Device> &problem, const Preconditioner &P)
  {
    constexpr unsigned int n    = 40;
    double                 best = 1e300;
    for (unsigned int repetition = 0; repetition < 5; ++repetition)
      {
        VectorType             x(problem.rhs.size());
        IterationNumberControl control(n, 0., false, false);
        const dealii::Timer    timer;
        Solver(control).solve(problem.matrix, x, problem.rhs, P);
        verify("solution", x.l2_norm() > 0.);
        best = std::min(best, 1e6 * timer.wall_time() / n);
      }
    return best;
  }

  template <typename Preconditioner>
  void
  print_times(const std::string     &name,
              const Case<2, Device> &problem,
              const Preconditioner  &P)
  {
    VectorType x(problem.rhs), y(problem.rhs);
    double     alone = 1e300;
    for (unsigned int repetition = 0; repetition < 5; ++repetition)
      {
        constexpr unsigned int n = 40;
        const dealii::Timer    timer;
        for (unsigned int i = 0; i < n; ++i)
          {
            problem.matrix.vmult(y, problem.rhs);
            P.vmult(x, problem.rhs);
          }
        verify("products", x.l2_norm() > 0. && y.l2_norm() > 0.);
        alone = std::min(alone, 1e6 * timer.wall_time() / n);
      }
    std::cout << name << ", " << problem.rhs.size()
              << " unknowns, microseconds of an iteration: " << std::fixed
              << std::setprecision(1)
              << time_of<SolverCG<VectorType>>(problem, P) << " with SolverCG, "
              << time_of<DeviceSolverCG<VectorType>>(problem, P)
              << " with DeviceSolverCG, " << alone << " for both products alone"
              << std::endl;
  }

  void
  print_all_times(const unsigned int cells)
  {
    for (const unsigned int p : {1, 3, 5})
      {
        const Case<2, Device> problem(cells, 1, {p}, true);
        Multigrid<Device>     multigrid;
        BlockJacobi<Device>   jacobi;
        multigrid.initialize(problem.matrix,
                             problem.without_penalty,
                             problem.hierarchy());
        jacobi.initialize(problem.matrix);
        const std::string text = ", p = " + std::to_string(p);
        print_times("multigrid" + text, problem, multigrid);
        print_times("block Jacobi" + text, problem, jacobi);
      }
  }

  void
  test_unavailable()
  {
    SolverControl    control;
    DeviceSolverCG<> solver(control);
    const auto       text = message_of([&] {
      VectorType x, b;
      solver.solve(PreconditionIdentity(), x, b, PreconditionIdentity());
    });
    verify("message",
           contains(text, "No CUDA device") ||
             contains(text, "no CUDA backend"),
           text);
  }
} // namespace

int
main(int argc, char **argv)
{
  return run_case(argc, argv, [&](const std::string &name) {
    if (name == "unavailable")
      test_unavailable();
    if (name == "checks")
      {
        check<2>(1, 8);
        check<2>(3, 6);
        check<3>(2, 2);
        check_sizes<double>();
        check_sizes<float>();
        check_errors();
        std::cout << n_same_bits << " of " << n_compared
                  << " solutions have the bits of SolverCG" << std::endl;
      }
    if (name == "times")
      print_all_times(argc > 2 ? std::stoi(argv[2]) : 80);
  });
}
