// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Sums of HostVector: the same bits in every order and for every number of
// threads and processes; their error; values that are too large, infinite or
// NaN.

#include <deal.II/base/multithread_info.h>

#include <tessella/lac/host_vector.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "../tests.h"

using namespace dealii;

namespace
{
  using Tessella::HostVector;

  constexpr double infinity = std::numeric_limits<double>::infinity();

  bool
  same_bits(const double a, const double b)
  {
    return a == b || (std::isnan(a) && std::isnan(b));
  }

  template <typename Number>
  HostVector<Number>
  vector_of(const std::vector<Number> &values)
  {
    HostVector<Number> vector(values.size());
    std::copy(values.begin(), values.end(), vector.begin());
    return vector;
  }

  /// Vector whose parts on the processes have very different sizes; one part is
  /// empty.
  template <typename Number>
  HostVector<Number>
  distributed(const std::vector<Number> &values)
  {
    const unsigned int n_processes =
                         Utilities::MPI::n_mpi_processes(MPI_COMM_WORLD),
                       rank = Utilities::MPI::this_mpi_process(MPI_COMM_WORLD);
    const std::size_t n     = values.size();
    const auto        first = [&](const unsigned int r) {
      return r == 0 ? 0 : r + 1 >= n_processes ? n : n / 7 * r;
    };
    IndexSet owned(n);
    owned.add_range(first(rank), first(rank + 1));
    HostVector<Number> vector(owned, MPI_COMM_WORLD);
    std::copy(values.begin() + first(rank),
              values.begin() + first(rank + 1),
              vector.begin());
    return vector;
  }

  template <typename Number>
  void
  test(const std::string  &name,
       const unsigned int  n,
       const int           range,
       const unsigned char part = 0)
  {
    std::mt19937                           random(n + range);
    std::uniform_real_distribution<double> mantissa(-1., 1.);
    std::uniform_int_distribution<int>     exponent(-range, range);
    std::vector<Number>                    x(n), y(n);
    for (unsigned int i = 0; i < n; ++i)
      {
        x[i] = std::ldexp(mantissa(random), exponent(random));
        y[i] = std::ldexp(mantissa(random), exponent(random));
      }
    if (part > 0 && n > 0)
      x[n / 3] = part == 1 ? infinity : std::nan("");
    const HostVector<Number> X = vector_of(x), Y = vector_of(y);
    const double             dot = X * Y, l1 = X.l1_norm(), l2 = X.l2_norm();
    const double             mean = n == 0 ? 0. : X.mean_value();

    // ---- compared to long double
    long double sum = 0., size = 0., absolute = 0., square = 0.;
    for (unsigned int i = 0; i < n; ++i)
      {
        sum += (long double)(x[i]) * y[i];
        size += std::abs((long double)(x[i]) * y[i]);
        absolute += std::abs((long double)(x[i]));
        square += (long double)(x[i]) * x[i];
      }
    const double eps = std::numeric_limits<Number>::epsilon();
    if (part == 0)
      check(name + ", errors",
            std::abs(dot - sum) <= eps * std::abs(sum) + 2.3e-16 * size &&
              std::abs(l1 - absolute) <= eps * absolute &&
              std::abs(l2 - std::sqrt(square)) <= eps * std::sqrt(square));
    else
      check(name + ", errors",
            !std::isfinite(dot) && !std::isfinite(l1) &&
              std::isnan(l2) == (part == 2) && !std::isfinite(mean));

    // ---- other orders
    bool same = true;
    for (unsigned int i = 0; i < 3; ++i)
      {
        std::vector<unsigned int> order(n);
        for (unsigned int j = 0; j < n; ++j)
          order[j] = j;
        std::shuffle(order.begin(), order.end(), random);
        if (i == 0)
          std::sort(order.begin(),
                    order.end(),
                    [&](const unsigned int a, const unsigned int b) {
                      return std::abs(x[a] * y[a]) < std::abs(x[b] * y[b]);
                    });
        std::vector<Number> u(n), v(n);
        for (unsigned int j = 0; j < n; ++j)
          {
            u[j] = x[order[j]];
            v[j] = y[order[j]];
          }
        const auto compare = [&](const HostVector<Number> &U,
                                 const HostVector<Number> &V) {
          same = same && same_bits(U * V, dot) && same_bits(U.l1_norm(), l1) &&
                 same_bits(U.l2_norm(), l2) &&
                 (n == 0 || same_bits(U.mean_value(), mean));
        };
        if (part == 0 || i > 0) // NaN cannot be sorted
          {
            compare(vector_of(u), vector_of(v));
            compare(distributed(u), distributed(v));
          }
      }
    check(name + ", same bits",
          Utilities::MPI::min(same ? 1 : 0, MPI_COMM_WORLD) == 1);

    // ---- threads
    const unsigned int n_threads = MultithreadInfo::n_threads();
    MultithreadInfo::set_thread_limit(1);
    const double with_one = X * Y;
    MultithreadInfo::set_thread_limit(n_threads);
    check(name + ", threads", same_bits(with_one, dot));

    HostVector<Number> Z(X), z(X);
    const double       product = Z.add_and_dot(0.5, Y, Y);
    z.add(0.5, Y);
    check(name + ", add_and_dot", same_bits(product, z * Y));
  }
} // namespace



int
main(int argc, char **argv)
{
  TestProgram program(argc, argv, 3);

  for (const unsigned int n : {0, 1, 5, 127, 128, 129, 4096, 300001})
    {
      test<double>("double, " + std::to_string(n), n, 10);
      test<float>("float, " + std::to_string(n), n, 10);
    }
  test<double>("large range", 10007, 200);
  test<double>("range of products", 10007, 480);
  test<double>("infinite", 10007, 10, 1);
  test<double>("not a number", 10007, 10, 2);

  // digits that ordinary sums lose, the ends of the range, signs
  const HostVector<double> one = vector_of(std::vector<double>(3, 1.));
  const auto               sum = [&](const std::vector<double> &x) {
    return vector_of(x) * one;
  };
  check("cancellation", sum({1e20, 1., -1e20}) == 1.);
  check("cancellation, negative", sum({1e20, -1., -1e20}) == -1.);
  check("negative", sum({-1.5, -2., 0.25}) == -3.25);
  check("carry", sum({-0x1p60, 0x1p60 - 0x1p10, 0x1p-30}) == -1024. + 0x1p-30);
  check("large", sum({1e298, -3e297, 1.}) == 1e298 - 3e297);
  check("too large", sum({1e299, 1., 1.}) == infinity);
  check("too large, negative", sum({-1e299, 1., 1.}) == -infinity);
  check("both infinite", std::isnan(sum({-1e299, 1e299, 1.})));
  check("small", sum({0x1p-1040, 0x1p-1050, 0.}) == 0x1p-1040 + 0x1p-1050);
  check("zero", sum({0., -0., 0.}) == 0.);
}
