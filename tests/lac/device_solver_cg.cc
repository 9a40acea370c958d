// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// DeviceSolverCG on the host: its iteration with vector operations of the host
// in place of those of a device, and vectors that it leaves to deal.II's
// solver, both compared to the latter. tests/cuda/solver_cg.cc does so on a
// device.

#include <tessella/lac/device_solver_cg.h>
#include <tessella/lac/host_vector.h>

#include <cmath>
#include <limits>
#include <string>

#include "../messages.h"
#include "../tests.h"

using namespace dealii;
using namespace Tessella;

namespace
{
  using VectorType = HostVector<double>;

  /// Vector operations with the interface of internal::DeviceCGSteps.
  class HostSteps
  {
  public:
    void
    set_direction(const VectorType &r, const VectorType &z, VectorType &p)
    {
      const double next = r * z;
      if (n_directions++ == 0)
        p.equ(1., z);
      else
        p.sadd(next / rz, 1., z);
      rz = next;
    }

    void
    make_step(const VectorType &p,
              const VectorType &q,
              VectorType       &x,
              VectorType       &r)
    {
      numbers.pq     = p * q;
      numbers.length = numbers.pq > 0. ? rz / numbers.pq : 0.;
      if (!std::isfinite(numbers.length))
        numbers.length = 0.;
      x.add(numbers.length, p);
      numbers.rr = r.add_and_dot(-numbers.length, q, r);
    }

    Tessella::internal::CGNumbers
    wait() const
    {
      return numbers;
    }

  private:
    unsigned int                  n_directions = 0;
    double                        rz           = 0.;
    Tessella::internal::CGNumbers numbers;
  };

  /// The iteration that a device does, with these operations.
  class SolverOnHost : public DeviceSolverCG<VectorType>
  {
  public:
    using DeviceSolverCG<VectorType>::DeviceSolverCG;

    template <typename Matrix, typename Preconditioner>
    void
    solve(const Matrix         &A,
          VectorType           &x,
          const VectorType     &b,
          const Preconditioner &P)
    {
      HostSteps steps;
      this->iterate(steps, A, x, b, P);
    }
  };

  /// Differences in one dimension, with entries on the diagonal that vary.
  struct Matrix
  {
    template <typename Vector>
    void
    vmult(Vector &y, const Vector &x) const
    {
      const unsigned int n = x.size();
      for (unsigned int i = 0; i < n; ++i)
        y(i) = factor * ((2. + 0.1 * (i % 7)) * x(i) - (i > 0 ? x(i - 1) : 0.) -
                         (i + 1 < n ? x(i + 1) : 0.));
    }
    double factor = 1.;
  };

  struct Jacobi
  {
    template <typename Vector>
    void
    vmult(Vector &y, const Vector &x) const
    {
      ++n;
      for (unsigned int i = 0; i < x.size(); ++i)
        y(i) = x(i) / (2. + 0.1 * (i % 7));
    }
    mutable unsigned int n = 0;
  };

  /// Its result is at right angles to its argument.
  struct Rotation
  {
    void
    vmult(VectorType &y, const VectorType &x) const
    {
      for (unsigned int i = 0; i < x.size(); i += 2)
        {
          y(i)     = x(i + 1);
          y(i + 1) = -x(i);
        }
    }
  };

  template <typename Vector>
  Vector
  some_vector(const unsigned int n, const double frequency)
  {
    Vector result(n);
    for (unsigned int i = 0; i < n; ++i)
      result(i) = std::sin(1. + frequency * i);
    return result;
  }

  template <typename Vector>
  bool
  same(const Vector &a, const Vector &b)
  {
    for (unsigned int i = 0; i < a.size(); ++i)
      if (!(a(i) == b(i)))
        return false;
    return a.size() == b.size();
  }

  /// Compares @p Solver with deal.II's; both have the same bits.
  template <typename Solver, typename Vector, typename Control>
  void
  compare(const std::string &name, const Control &control)
  {
    const unsigned int n = 200;
    const Vector       b = some_vector<Vector>(n, 0.3);
    for (const bool from_zero : {true, false})
      {
        Vector x(n), reference(n);
        if (!from_zero)
          x = reference = some_vector<Vector>(n, 0.7);
        Control first(control), second(control);
        Jacobi  jacobi, of_reference;
        SolverCG<Vector>(first).solve(Matrix(), reference, b, of_reference);
        Solver       solver(second);
        unsigned int n_calls = 0;
        solver.connect([&](const unsigned int, const double, const Vector &y) {
          ++n_calls;
          return y.size() == n ? SolverControl::success
                               : SolverControl::failure;
        });
        solver.solve(Matrix(), x, b, jacobi);
        const std::string what = name + (from_zero ? "" : ", from a guess");
        check(what + ", solution", same(x, reference));
        check(what + ", steps",
              second.last_step() > 10 &&
                second.last_step() == first.last_step() &&
                second.last_value() == first.last_value() &&
                n_calls == first.last_step() + 1);
        // The end is expected, so that no application is in vain.
        check(what + ", preconditioner", jacobi.n == of_reference.n);

        // A second solve does nothing.
        const Vector  found(x);
        SolverControl again(1000, 1.01 * second.last_value(), false, false);
        jacobi.n = 0;
        Solver(again).solve(Matrix(), x, b, jacobi);
        check(what + ", second solve",
              again.last_step() == 0 && jacobi.n == 0 && same(x, found));
      }
  }

  template <typename Solver>
  void
  check_failures(const std::string &name, const bool checks_numbers)
  {
    const unsigned int n = 200;
    const VectorType   b = some_vector<VectorType>(n, 0.3);
    VectorType         x(n);
    SolverControl      few(7, 1e-10, false, false),
      control(1000, 1e-10, false, false), none(0, 1e-10, false, false);
    for (SolverControl *limited : {&few, &none})
      {
        x = 0.;
        Jacobi       jacobi;
        unsigned int last_step = 1000;
        double       residual  = 0.;
        try
          {
            Solver(*limited).solve(Matrix(), x, b, jacobi);
          }
        catch (const SolverControl::NoConvergence &exception)
          {
            last_step = exception.last_step;
            residual  = exception.last_residual;
          }
        VectorType r(n);
        Matrix().vmult(r, x);
        r -= b;
        check(name + ", no convergence",
              last_step == limited->max_steps() && jacobi.n == last_step &&
                std::abs(residual - r.l2_norm()) < 1e-10);
      }
    IterationNumberControl steps(7, 0., false, false);
    VectorType             y(n);
    Solver(steps).solve(Matrix(), y, b, Jacobi());
    x = 0.;
    message_of([&] { Solver(few).solve(Matrix(), x, b, Jacobi()); });
    check(name + ", last step", same(x, y));

    // zero right-hand side, no entries, no preconditioner
    VectorType zero(n), solution(n), empty, nothing;
    Solver(control).solve(Matrix(), solution, zero, Jacobi());
    check(name + ", zero", control.last_step() == 0 && solution.all_zero());
    Solver(control).solve(Matrix(), empty, nothing, Jacobi());
    check(name + ", empty", control.last_step() == 0);
    x = 0.;
    y = 0.;
    Solver(control).solve(Matrix(), x, b, PreconditionIdentity());
    SolverCG<VectorType>(control).solve(Matrix(), y, b, PreconditionIdentity());
    y -= x;
    check(name + ", identity", y.l2_norm() < 1e-9 * x.l2_norm());

    if (!checks_numbers)
      return;
    const VectorType guess   = some_vector<VectorType>(n, 0.7);
    const auto       message = [&](const double factor, const auto &P) {
      x = guess;
      return message_of(
        [&] { Solver(control).solve(Matrix{factor}, x, b, P); });
    };
    std::string text = message(-1., Jacobi());
    check(name + ", indefinite",
          contains(text, "is not positive definite") &&
            contains(text, "in step 1 ") && same(x, guess));
    // In Debug, an assertion of deal.II's vectors reports a number that is not
    // finite before the solver does.
    const auto by_assertion = [](const std::string &text) {
#ifdef DEBUG
      return contains(text, "a number that is not finite");
#else
      (void)text;
      return false;
#endif
    };
    text = message(1., Rotation());
    check(name + ", no length",
          by_assertion(text) ||
            (contains(text, "the preconditioner is not positive definite") &&
             same(x, guess)));
    x    = 0.;
    text = message_of([&] {
      Solver(control).solve(Matrix{std::numeric_limits<double>::quiet_NaN()},
                            x,
                            b,
                            Jacobi());
    });
    check(name + ", not finite",
          by_assertion(text) ||
            (contains(text, "no longer finite") && x.all_zero()));
    text = message(std::numeric_limits<double>::quiet_NaN(), Jacobi());
    check(name + ", not finite at the start",
          by_assertion(text) || contains(text, "failure in step 0"));
  }
} // namespace

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  deal_II_exceptions::disable_abort_on_exception();
  using OnHost = DeviceSolverCG<VectorType>;
  const SolverControl          absolute(1000, 1e-10, false, false);
  const ReductionControl       relative(1000, 0., 1e-10, false, false);
  const IterationNumberControl number(17, 0., false, false);
  compare<SolverOnHost, VectorType>("iteration", absolute);
  compare<SolverOnHost, VectorType>("iteration, relative", relative);
  compare<SolverOnHost, VectorType>("iteration, 17 steps", number);
  compare<OnHost, VectorType>("HostVector", absolute);
  compare<DeviceSolverCG<Vector<double>>, Vector<double>>("Vector", relative);
  check_failures<SolverOnHost>("iteration", true);
  check_failures<OnHost>("HostVector", false);
}
