// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Vectors and matrices on a CUDA device: operations compared to those of
// deal.II and Trilinos, assembly compared to assembly on the host, solvers, the
// same bits when repeated; and the messages if there is no device. Argument:
// 2d, 3d, vector, small or unavailable. Returns 77 if the case cannot run on
// this machine, 1 if a check fails.

#include <deal.II/lac/precondition.h>
#include <deal.II/lac/solver_bicgstab.h>
#include <deal.II/lac/solver_cg.h>
#include <deal.II/lac/solver_gmres.h>
#include <deal.II/lac/trilinos_sparse_matrix.h>
#include <deal.II/lac/trilinos_vector.h>

#include <tessella/lac/device_block_matrix.h>
#include <tessella/lac/device_rectangular_matrix.h>
#include <tessella/lac/host_vector.h>
#include <tessella/lac/trilinos_block_matrix.h>
#include <tessella/space_time/space_time_form.h>
#include <tessella/space_time/space_time_slab.h>

#include <cmath>
#include <cstring>
#include <iostream>
#include <limits>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "../../source/lac/block_space.h"
#include "../../source/lac/half_matrix.h"
#include "../assembly/compare.h"
#include "checks.h"

namespace
{
  using Tessella::Backend;
  using Tessella::DeviceBlockMatrix;
  using Tessella::DeviceRectangularMatrix;
  using Tessella::DeviceVector;

  void
  verify_below(const std::string &name, const double value, const double bound)
  {
    verify(name,
           value <= bound,
           std::to_string(value / bound) + " of the bound");
  }

  /// Pseudo-random values in (-0.5, 0.5).
  double
  some_number(const std::uint64_t i)
  {
    const double x = 12.9898 * (i + 1.);
    return x * 0.618033988749895 - std::floor(x * 0.618033988749895) - 0.5;
  }

  template <typename Number>
  Vector<Number>
  some_vector(const unsigned int n, const unsigned int seed)
  {
    Vector<Number> vector(n);
    for (unsigned int i = 0; i < n; ++i)
      vector(i) = some_number(i + 1000003ull * seed);
    return vector;
  }

  template <typename Number>
  bool
  same_bits(const std::vector<Number> &a, const std::vector<Number> &b)
  {
    return a.size() == b.size() &&
           (a.empty() ||
            std::memcmp(a.data(), b.data(), a.size() * sizeof(Number)) == 0);
  }

  template <typename Number>
  std::vector<Number>
  on_host(const DeviceVector<Number> &vector)
  {
    std::vector<Number> values;
    vector.copy_to(values);
    return values;
  }

  template <typename Number>
  constexpr double epsilon = std::is_same<Number, double>::value ? 1e-13 : 1e-5;

  template <typename Number>
  std::string
  type_name()
  {
    return std::is_same<Number, double>::value ? "double" : "float";
  }

  // ---- vectors

  /// Sums have the same bits as on the host.
  template <typename Number>
  void
  check_sums(const std::string    &name,
             const Vector<Number> &u,
             const Vector<Number> &v)
  {
    const auto same = [](const double a, const double b) {
      return a == b || (std::isnan(a) && std::isnan(b));
    };
    const DeviceVector<Number>   U(u), V(v);
    Tessella::HostVector<Number> x(u.size()), y(v.size());
    std::copy(u.begin(), u.end(), x.begin());
    std::copy(v.begin(), v.end(), y.begin());
    verify(name + "*, bits", same(U * V, x * y));
    verify(name + "l1, bits", same(U.l1_norm(), x.l1_norm()));
    verify(name + "l2, bits", same(U.l2_norm(), x.l2_norm()));
    if (u.size() > 0)
      verify(name + "mean, bits", same(U.mean_value(), x.mean_value()));
    DeviceVector<Number> W(U);
    const double         dot = W.add_and_dot(0.25, V, V);
    verify(name + "add_and_dot, bits", dot == W * V || !std::isfinite(dot));
  }

  /// Values of very different magnitude, infinities and NaN.
  void
  check_special_sums()
  {
    for (const int range : {200, 480})
      {
        Vector<double> u = some_vector<double>(100003, 1),
                       v = some_vector<double>(100003, 2);
        for (unsigned int i = 0; i < u.size(); ++i)
          {
            u(i) = std::ldexp(u(i), int(2 * range * some_number(i + 7)));
            v(i) = std::ldexp(v(i), int(2 * range * some_number(3 * i + 1)));
          }
        const std::string name = "range " + std::to_string(range) + ", ";
        check_sums(name, u, v);
        for (const double x : {1e299,
                               -1e299,
                               std::numeric_limits<double>::infinity(),
                               std::nan("")})
          {
            u(u.size() / 3) = x;
            check_sums(name + std::to_string(x) + ", ", u, v);
            verify(name + "finite",
                   !std::isfinite(DeviceVector<double>(u).l1_norm()));
          }
        u(5) = 1e299;
        check_sums(name + "two, ", u, v);
      }
  }

  template <typename Number>
  void
  check_vector(const unsigned int n)
  {
    const std::string name =
      type_name<Number>() + ", n = " + std::to_string(n) + ", ";
    const Vector<Number> u = some_vector<Number>(n, 1),
                         v = some_vector<Number>(n, 2),
                         w = some_vector<Number>(n, 3);
    const DeviceVector<Number> V(v), W(w);
    const auto                 compare = [&](const std::string &operation,
                             const auto        &on_device,
                             const auto        &reference) {
      DeviceVector<Number> result(u);
      Vector<Number>       expected(u);
      on_device(result);
      reference(expected);
      Vector<Number> values;
      result.copy_to(values);
      double difference = values.size() == expected.size() ? 0. : 1.;
      for (unsigned int i = 0; i < expected.size(); ++i)
        difference =
          std::max<double>(difference, std::abs(values(i) - expected(i)));
      verify_below(name + operation, difference, epsilon<Number>);
    };
    const auto number =
      [&](const std::string &what, const double value, const double expected) {
        verify_below(name + what,
                     std::abs(value - expected),
                     epsilon<Number> * (1. + n * 0.1));
      };

    compare(
      "copy", [](auto &) {}, [](auto &) {});
    compare(
      "*=", [](auto &x) { x *= 3; }, [](auto &x) { x *= 3; });
    compare(
      "/=", [](auto &x) { x /= 4; }, [](auto &x) { x /= 4; });
    compare(
      "+=", [&](auto &x) { x += V; }, [&](auto &x) { x += v; });
    compare(
      "-=", [&](auto &x) { x -= V; }, [&](auto &x) { x -= v; });
    compare(
      "add number", [](auto &x) { x.add(0.25); }, [](auto &x) { x.add(0.25); });
    compare(
      "add", [&](auto &x) { x.add(0.3, V); }, [&](auto &x) { x.add(0.3, v); });
    compare(
      "add two",
      [&](auto &x) { x.add(0.3, V, -2., W); },
      [&](auto &x) { x.add(0.3, v, -2., w); });
    compare(
      "sadd",
      [&](auto &x) { x.sadd(0.7, V); },
      [&](auto &x) { x.sadd(0.7, 1., v); });
    compare(
      "sadd two",
      [&](auto &x) { x.sadd(-1., 0.4, V); },
      [&](auto &x) { x.sadd(-1., 0.4, v); });
    compare(
      "equ",
      [&](auto &x) { x.equ(-0.4, V); },
      [&](auto &x) { x.equ(-0.4, v); });
    compare(
      "equ itself",
      [&](auto &x) { x.equ(-0.4, x); },
      [&](auto &x) { x *= Number(-0.4); });
    compare(
      "scale", [&](auto &x) { x.scale(V); }, [&](auto &x) { x.scale(v); });
    compare(
      "= number", [](auto &x) { x = Number(2); }, [](auto &x) { x = 2; });
    compare(
      "= vector", [&](auto &x) { x = V; }, [&](auto &x) { x = v; });
    compare(
      "swap",
      [&](auto &x) {
        DeviceVector<Number> y(V);
        x.swap(y);
      },
      [&](auto &x) { x = v; });
    compare(
      "move",
      [&](auto &x) {
        DeviceVector<Number> y(V);
        x = std::move(y);
      },
      [&](auto &x) { x = v; });
    compare(
      "add_and_dot",
      [&](auto &x) {
        number("add_and_dot", x.add_and_dot(0.4, V, W), [&] {
          Vector<Number> y(u);
          return y.add_and_dot(0.4, v, w);
        }());
      },
      [&](auto &x) { x.add(0.4, v); });
    compare(
      "add_and_dot itself",
      [&](auto &x) {
        number("add_and_dot itself", x.add_and_dot(0.4, V, x), [&] {
          Vector<Number> y(u);
          return y.add_and_dot(0.4, v, y);
        }());
      },
      [&](auto &x) { x.add(0.4, v); });

    DeviceVector<Number> U;
    U.copy_from(u);
    number("*", U * V, n == 0 ? 0. : u * v);
    number("norm_sqr", U.norm_sqr(), n == 0 ? 0. : u.norm_sqr());
    number("l1", U.l1_norm(), n == 0 ? 0. : u.l1_norm());
    number("l2", U.l2_norm(), n == 0 ? 0. : u.l2_norm());
    verify(name + "linfty", n == 0 || U.linfty_norm() == u.linfty_norm());
    if (n > 0)
      number("mean", U.mean_value(), u.mean_value());
    DeviceVector<Number> zero;
    zero.reinit(U);
    verify(name + "all_zero",
           zero.all_zero() && U.all_zero() == (n == 0) && zero.size() == n);
    verify(name + "==", U == U && (n == 0 || U != V));
    check_sums(name, u, v);
    verify(name + "indices",
           U.locally_owned_elements().n_elements() == n &&
             U.size() == U.locally_owned_size());

    // the other precision and Trilinos
    DeviceVector<double> precise;
    precise = U;
    DeviceVector<Number> back;
    back = precise;
    verify(name + "precision", back == U);
    TrilinosWrappers::MPI::Vector trilinos(complete_index_set(n),
                                           MPI_COMM_SELF);
    U.copy_to(trilinos);
    bool equal = true;
    for (unsigned int i = 0; i < n; ++i)
      equal = equal && trilinos(i) == u(i);
    back = Number(0);
    back.copy_from(trilinos);
    verify(name + "Trilinos", equal && back == U);
    if (n > 0)
      verify(name + "sizes", message_of([&] {
                               U.add(1., DeviceVector<Number>(n + 1));
                             }) != "no exception");
  }

  // ---- matrices

  /// Largest difference between @p values and @p reference, relative to the
  /// largest entry of each block row.
  template <typename Number>
  double
  difference(const Tessella::BlockSparsity &sparsity,
             const std::vector<Number>     &values,
             const double                  *reference)
  {
    double result = values.size() == sparsity.n_nonzero_elements() ? 0. : 1.;
    for (unsigned int k = 0; k < sparsity.row_width.size(); ++k)
      {
        double scale = 0.1, largest = 0.;
        for (auto i = sparsity.value_offset[k];
             i < sparsity.value_offset[k + 1];
             ++i)
          {
            scale          = std::max(scale, std::abs(reference[i]));
            const double d = std::abs(values[i] - reference[i]);
            if (!(d <= largest))
              largest = d;
          }
        if (!(largest <= result * scale))
          result = largest / scale;
      }
    return result;
  }

  template <typename Number>
  void
  check_products(const std::string               &name,
                 const DeviceBlockMatrix<Number> &matrix,
                 TrilinosWrappers::SparseMatrix  &reference)
  {
    const unsigned int n = matrix.m();
    matrix.copy_to(reference);
    const IndexSet                all = complete_index_set(n);
    TrilinosWrappers::MPI::Vector x(all, MPI_COMM_SELF), b(all, MPI_COMM_SELF),
      y(all, MPI_COMM_SELF);
    DeviceVector<Number> X(some_vector<Number>(n, 1)),
      B(some_vector<Number>(n, 2)), Y(n);
    X.copy_to(x);
    B.copy_to(b);
    // magnitude of the sums
    const double scale = reference.linfty_norm() + reference.l1_norm();

    const auto compare = [&](const std::string &operation,
                             const auto        &on_device,
                             const auto        &on_host_) {
      Y = B;
      on_device();
      const std::vector<Number> first = on_host(Y);
      Y                               = B;
      on_device();
      verify(name + operation + " repeated", same_bits(first, on_host(Y)));
      y = b;
      on_host_();
      double largest = 0.;
      for (unsigned int i = 0; i < n; ++i)
        {
          const double d = std::abs(first[i] - y(i));
          if (!(d <= largest))
            largest = d;
        }
      verify_below(name + operation, largest, epsilon<Number> * scale);
    };
    compare(
      "vmult", [&] { matrix.vmult(Y, X); }, [&] { reference.vmult(y, x); });
    compare(
      "vmult_add",
      [&] { matrix.vmult_add(Y, X); },
      [&] { reference.vmult_add(y, x); });
    compare(
      "Tvmult", [&] { matrix.Tvmult(Y, X); }, [&] { reference.Tvmult(y, x); });
    compare(
      "Tvmult_add",
      [&] { matrix.Tvmult_add(Y, X); },
      [&] { reference.Tvmult_add(y, x); });
    compare(
      "residual",
      [&] {
        const double norm = matrix.residual(Y, X, B);
        verify(name + "norm of the residual", norm == Y.l2_norm());
      },
      [&] { reference.residual(y, x, b); });
    compare(
      "residual in place",
      [&] { matrix.residual(Y, X, Y); },
      [&] { reference.residual(y, x, b); });
    verify(name + "source and destination",
           message_of([&] { matrix.vmult(X, X); }).find("different vectors") !=
             std::string::npos);
    verify(name + "sizes", message_of([&] {
                             DeviceVector<Number> wrong(n + 1);
                             matrix.vmult(wrong, X);
                           }) != "no exception");
  }

  // Structure of a matrix of uniform blocks with few blocks in most rows, and
  // with many of them in one row if @p wide.
  Tessella::BlockSparsity
  uniform_blocks(const unsigned int          size,
                 const bool                  wide,
                 std::vector<std::uint64_t> &dof_offset)
  {
    constexpr unsigned int  n = 150;
    Tessella::BlockSparsity sparsity;
    dof_offset.assign(1, 0);
    sparsity.block_offset.push_back(0);
    sparsity.value_offset.push_back(0);
    for (unsigned int k = 0; k < n; ++k)
      {
        unsigned int width = 0;
        for (unsigned int j = 0; j < n; ++j)
          if (j == k || (wide && (j == n / 2 || k == n / 2)) ||
              (5 * std::min(j, k) + 3 * std::max(j, k)) % 37 <= (wide ? 2 : 1))
            {
              sparsity.block_column.push_back(j);
              sparsity.column_offset.push_back(width);
              width += size;
            }
        sparsity.row_width.push_back(width);
        sparsity.block_offset.push_back(sparsity.block_column.size());
        sparsity.value_offset.push_back(sparsity.value_offset.back() +
                                        width * size);
        dof_offset.push_back(dof_offset.back() + size);
      }
    return sparsity;
  }

  // Chebyshev's polynomial with a kernel for product and step has the bits of
  // that with two kernels.
  template <typename Number>
  void
  check_product_steps()
  {
    using Matrix = DeviceBlockMatrix<Number>;
    for (unsigned int size = 1; size <= 12; ++size)
      {
        std::vector<std::uint64_t>    dof_offset;
        const Tessella::BlockSparsity sparsity =
          uniform_blocks(size, false, dof_offset);
        std::vector<Number> values(sparsity.n_nonzero_elements());
        for (std::size_t i = 0; i < values.size(); ++i)
          values[i] = some_number(i);
        // Diagonal blocks with an inverse.
        for (unsigned int k = 0; k + 1 < dof_offset.size(); ++k)
          for (unsigned int i = 0; i < size; ++i)
            values[sparsity.value_offset[k] + i * sparsity.row_width[k] +
                   sparsity.column_offset[sparsity.find_block(k, k)] + i] +=
              size;
        Matrix matrix;
        matrix.reinit(sparsity, dof_offset);
        matrix.copy_from(values);
        Tessella::internal::BlockData<Matrix> data;
        data.reinit(matrix);
        data.invert_diagonal();
        const std::string name =
          type_name<Number>() + ", blocks of " + std::to_string(size) + ", ";
        verify(name + "one kernel for product and step",
               Tessella::internal::Device::has_product_step<Number>(
                 data.rows) == (size <= 10));
        const unsigned int         n = matrix.m();
        const DeviceVector<Number> b(some_vector<Number>(n, 1)),
          guess(some_vector<Number>(n, 2));
        DeviceVector<Number> r(n), d(n), second(n);
        for (unsigned int degree = 1; degree <= 7; ++degree)
          for (const bool zero_start : {true, false})
            {
              const auto apply = [&](Number *second_d) {
                DeviceVector<Number> x(guess);
                data.chebyshev(degree,
                               300.,
                               zero_start,
                               false,
                               b.begin(),
                               x.begin(),
                               r.begin(),
                               d.begin(),
                               nullptr,
                               second_d);
                return on_host(x);
              };
              const std::vector<Number> x = apply(second.begin());
              verify(name + "degree " + std::to_string(degree) +
                       (zero_start ? ", from zero" : ""),
                     same_bits(x, apply(nullptr)) &&
                       std::isfinite(x[0] + x[n - 1]) && x[0] != 0.);
            }
      }
  }

  // Symmetric and positive definite matrix with blocks of @p size rows, unless
  // @p broken.
  DeviceBlockMatrix<double>
  positive_matrix(const unsigned int size, const bool wide, const bool broken)
  {
    std::vector<std::uint64_t>    dof_offset;
    const Tessella::BlockSparsity sparsity =
      uniform_blocks(size, wide, dof_offset);
    std::vector<double> values(sparsity.n_nonzero_elements());
    const unsigned int  n = dof_offset.size() - 1;
    for (unsigned int k = 0; k < n; ++k)
      for (auto b = sparsity.block_offset[k]; b < sparsity.block_offset[k + 1];
           ++b)
        for (unsigned int i = 0; i < size; ++i)
          for (unsigned int j = 0; j < size; ++j)
            {
              const std::uint64_t row    = k * size + i,
                                  column = sparsity.block_column[b] * size + j;
              values[sparsity.value_offset[k] + i * sparsity.row_width[k] +
                     sparsity.column_offset[b] + j] =
                some_number(n * size * std::min(row, column) +
                            std::max(row, column)) +
                (row == column ? 0.3 * sparsity.row_width[k] : 0.);
            }
    if (broken)
      values[sparsity.value_offset[n / 3] +
             sparsity.column_offset[sparsity.find_block(n / 3, n / 3)]] = -1.;
    DeviceBlockMatrix<double> matrix;
    matrix.reinit(sparsity, dof_offset);
    matrix.copy_from(values);
    return matrix;
  }

  // Matrices in half precision: S c = W A W^T c up to the precision of their
  // entries, and the same bits by one kernel for product and step and by two.
  void
  check_half_matrices()
  {
    using Tessella::internal::BlockData;
    using Tessella::internal::HalfMatrix;
    namespace Kernels = Tessella::internal::Device;
    for (unsigned int size = 1; size <= 12; ++size)
      for (const bool wide : {false, true})
        {
          const std::string name = "half precision, blocks of " +
                                   std::to_string(size) +
                                   (wide ? ", wide, " : ", ");
          const DeviceBlockMatrix<double> A =
            positive_matrix(size, wide, false);
          BlockData<DeviceBlockMatrix<double>> given;
          given.reinit(A);
          // Shared memory has no room for a row of all blocks.
          const bool possible = size <= 10 && !wide;
          verify(name + "possible", HalfMatrix::is_possible(given) == possible);
          if (!possible)
            continue;
          HalfMatrix half;
          half.reinit(given);
          half.set_values();
          const unsigned int        n = A.m();
          const DeviceVector<float> c(some_vector<float>(n, 1));
          DeviceVector<float>       product(n), expected(n), error(n);
          DeviceVector<double>      x(n), y(n);
          Kernels::from_bases(half.blocks, c.begin(), x.begin());
          A.vmult(y, x);
          Kernels::to_bases(half.blocks, y.begin(), expected.begin());
          half.matrix().vmult(product, c);
          error = product;
          error -= expected;
          const double relative = error.l2_norm() / expected.l2_norm();
          verify(name + "product",
                 relative < 5e-4 && expected.l2_norm() > 0.1 * c.l2_norm() &&
                   (relative > 1e-6 || size == 1),
                 std::to_string(relative));

          BlockData<DeviceBlockMatrix<float>> data;
          data.reinit(half.matrix());
          data.invert_diagonal();
          const DeviceVector<float> b(some_vector<float>(n, 2));
          DeviceVector<float>       r(n), d(n), second(n);
          const double              largest = data.largest_eigenvalue(true);
          verify(name + "largest eigenvalue",
                 largest > 1. && largest < A.n_nonzero_elements(),
                 std::to_string(largest));
          for (unsigned int degree = 1; degree <= 8; ++degree)
            for (const bool zero_start : {true, false})
              {
                const auto apply = [&](const bool by_one_kernel) {
                  data.external_step = nullptr;
                  if (by_one_kernel)
                    data.external_step =
                      [&](const Kernels::ProductStep<float> &step) {
                        Kernels::product_step(half.blocks, step);
                      };
                  DeviceVector<float> solution(c);
                  data.chebyshev(degree,
                                 largest,
                                 zero_start,
                                 false,
                                 b.begin(),
                                 solution.begin(),
                                 r.begin(),
                                 d.begin(),
                                 nullptr,
                                 second.begin());
                  return on_host(solution);
                };
                const std::vector<float> one = apply(true);
                verify(name + "degree " + std::to_string(degree) +
                         (zero_start ? ", from zero" : ""),
                       same_bits(one, apply(false)) &&
                         std::isfinite(one[0] + one[n - 1]) && one[0] != 0.f);
              }
        }
    const DeviceBlockMatrix<double>      A = positive_matrix(4, false, true);
    BlockData<DeviceBlockMatrix<double>> given;
    given.reinit(A);
    HalfMatrix half;
    half.reinit(given);
    half.set_values();
    BlockData<DeviceBlockMatrix<float>> data;
    data.reinit(half.matrix());
    data.invert_diagonal();
    verify("half precision, indefinite block",
           message_of([&] {
             data.largest_eigenvalue(true);
           }).find("not symmetric and positive definite") != std::string::npos);
  }

  // Uniform blocks of every small size; few blocks in most rows, many in one
  // row.
  template <typename Number>
  void
  check_block_sizes()
  {
    constexpr unsigned int n = 150;
    for (unsigned int size = 1; size <= 12; ++size)
      {
        std::vector<std::uint64_t>    dof_offset;
        const Tessella::BlockSparsity sparsity =
          uniform_blocks(size, true, dof_offset);
        std::vector<Number> values(sparsity.n_nonzero_elements());
        for (std::size_t i = 0; i < values.size(); ++i)
          values[i] = some_number(i);
        DeviceBlockMatrix<Number> matrix;
        matrix.reinit(sparsity, dof_offset);
        matrix.copy_from(values);
        const Vector<Number> x = some_vector<Number>(n * size, 1),
                             b = some_vector<Number>(n * size, 2);
        std::vector<double> products(n * size, 0.), transposed(n * size, 0.);
        for (unsigned int k = 0; k < n; ++k)
          for (auto m = sparsity.block_offset[k];
               m < sparsity.block_offset[k + 1];
               ++m)
            for (unsigned int i = 0; i < size; ++i)
              for (unsigned int j = 0; j < size; ++j)
                {
                  const unsigned int row = k * size + i,
                                     column =
                                       sparsity.block_column[m] * size + j;
                  const double value = values[sparsity.value_offset[k] +
                                              i * sparsity.row_width[k] +
                                              sparsity.column_offset[m] + j];
                  products[row] += value * x(column);
                  transposed[column] += value * x(row);
                }
        const DeviceVector<Number> X(x), B(b);
        const std::string          name =
          type_name<Number>() + ", blocks of " + std::to_string(size) + ", ";
        const auto compare = [&](const std::string &operation,
                                 const auto        &on_device,
                                 const auto        &reference) {
          DeviceVector<Number> Y(B);
          on_device(Y);
          const std::vector<Number> result = on_host(Y);
          double                    worst  = 0.;
          for (unsigned int i = 0; i < n * size; ++i)
            {
              const double d = std::abs(result[i] - reference(i));
              if (!(d <= worst))
                worst = d;
            }
          verify_below(name + operation, worst, epsilon<Number> * n * size);
        };
        compare(
          "vmult",
          [&](auto &Y) { matrix.vmult(Y, X); },
          [&](const unsigned int i) { return products[i]; });
        compare(
          "vmult_add",
          [&](auto &Y) { matrix.vmult_add(Y, X); },
          [&](const unsigned int i) { return b(i) + products[i]; });
        compare(
          "residual",
          [&](auto &Y) { matrix.residual(Y, X, B); },
          [&](const unsigned int i) { return b(i) - products[i]; });
        compare(
          "Tvmult",
          [&](auto &Y) { matrix.Tvmult(Y, X); },
          [&](const unsigned int i) { return transposed[i]; });
      }
  }

  template <int dim, typename Number>
  void
  check_matrix(const std::string                         &mesh_name,
               const Tessella::AgglomerationHandler<dim> &handler,
               const Tessella::Form<dim>                 &form)
  {
    const std::string name = mesh_name + ", " + type_name<Number>() + ", ";
    using Assembler        = Tessella::PolytopicAssembler<dim>;
    typename Assembler::AdditionalData on_cuda, on_host_;
    on_cuda.backend  = Backend::cuda;
    on_host_.backend = Backend::host;
    Assembler cuda(handler, on_cuda), host(handler, on_host_);

    TrilinosWrappers::SparseMatrix reference;
    TrilinosWrappers::MPI::Vector  reference_rhs;
    host.reinit(reference, reference_rhs);
    host.assemble(form, reference, reference_rhs);

    DeviceBlockMatrix<Number> matrix;
    DeviceVector<Number>      rhs;
    cuda.reinit(matrix, rhs);
    verify(name + "sizes",
           matrix.m() == handler.n_dofs() && matrix.n() == matrix.m() &&
             rhs.size() == matrix.m() &&
             matrix.n_nonzero_elements() == reference.n_nonzero_elements() &&
             matrix.memory_consumption() >=
               matrix.n_nonzero_elements() * sizeof(Number));
    // Entries that are not written become visible.
    matrix.copy_from(
      std::vector<Number>(matrix.n_nonzero_elements(), Number(1e30)));
    rhs = Number(1e30);
    cuda.assemble(form, matrix, rhs);
    std::vector<Number> values, vector = on_host(rhs);
    matrix.copy_to(values);

    // ---- compared to the host
    const double tolerance = std::is_same<Number, double>::value ? 1e-12 : 1e-5;
    const double *reference_values =
      Tessella::TrilinosBlockMatrix::values(reference,
                                            matrix.block_sparsity(),
                                            matrix.dof_offset());
    verify_below(name + "matrix",
                 difference(matrix.block_sparsity(), values, reference_values),
                 tolerance);
    double largest = 0.;
    for (unsigned int i = 0; i < vector.size(); ++i)
      {
        const double d = std::abs(vector[i] - reference_rhs(i));
        if (!(d <= largest))
          largest = d;
      }
    verify_below(name + "rhs",
                 largest,
                 tolerance * (0.1 + reference_rhs.linfty_norm()));

    // ---- again, matrix and right-hand side separately
    DeviceBlockMatrix<Number> again;
    DeviceVector<Number>      rhs_again;
    cuda.reinit(again);
    cuda.reinit(rhs_again);
    cuda.assemble_matrix(form, again);
    cuda.assemble_rhs(form, rhs_again);
    std::vector<Number> values_again;
    again.copy_to(values_again);
    verify(name + "repeated assembly",
           same_bits(values, values_again) &&
             same_bits(vector, on_host(rhs_again)));

    // ---- the same matrix in a class of deal.II
    SparsityPattern      pattern, host_pattern;
    SparseMatrix<Number> sparse, copied;
    Vector<Number>       sparse_rhs, copied_rhs;
    cuda.reinit(pattern, sparse, sparse_rhs);
    host.reinit(host_pattern, copied, copied_rhs);
    cuda.assemble(form, sparse, sparse_rhs);
    matrix.copy_to(copied);
    rhs.copy_to(copied_rhs);
    bool same = sparse_rhs == copied_rhs;
    auto a    = copied.begin();
    for (auto b = sparse.begin(); b != sparse.end(); ++a, ++b)
      same = same && Number(a->value()) == Number(b->value());
    verify(name + "SparseMatrix", same);

    // ---- computed on the host
    host.reinit(again, rhs_again);
    host.assemble(form, again, rhs_again);
    again.copy_to(values_again);
    same = true;
    for (std::size_t i = 0; i < values_again.size(); ++i)
      same = same && values_again[i] == Number(reference_values[i]);
    const std::vector<Number> vector_again = on_host(rhs_again);
    for (unsigned int i = 0; i < vector_again.size(); ++i)
      same = same && vector_again[i] == Number(reference_rhs(i));
    verify(name + "host backend", same);

    check_products(name, matrix, reference);

    matrix = 0.;
    DeviceVector<Number> y;
    y.reinit(rhs, true);
    matrix.vmult(y, rhs);
    verify(name + "zero", y.all_zero());
  }

  /// Number of iterations of @p Solver.
  template <template <typename> class Solver,
            typename MatrixType,
            typename VectorType>
  unsigned int
  solve(const MatrixType &matrix, VectorType &x, const VectorType &b)
  {
    x = 0;
    SolverControl      control(5000, 1e-9 * b.l2_norm(), false, false);
    Solver<VectorType> solver(control);
    solver.solve(matrix, x, b, PreconditionIdentity());
    return control.last_step();
  }

  template <template <typename> class Solver, int dim>
  void
  check_solver(const std::string                         &name,
               const Tessella::AgglomerationHandler<dim> &handler,
               const Tessella::Form<dim>                 &form,
               const double                               slack)
  {
    using Assembler = Tessella::PolytopicAssembler<dim>;
    typename Assembler::AdditionalData data;
    data.backend = Backend::cuda;
    Assembler                 assembler(handler, data);
    DeviceBlockMatrix<double> matrix;
    DeviceVector<double>      rhs;
    assembler.reinit(matrix, rhs);
    assembler.assemble(form, matrix, rhs);

    SparsityPattern      pattern;
    SparseMatrix<double> host_matrix;
    Vector<double>       host_rhs, x(rhs.size()), difference(rhs.size());
    assembler.reinit(pattern, host_matrix, host_rhs);
    matrix.copy_to(host_matrix);
    rhs.copy_to(host_rhs);

    DeviceVector<double> X(rhs.size());
    const unsigned int   on_host_ = solve<Solver>(host_matrix, x, host_rhs),
                       on_device_ = solve<Solver>(matrix, X, rhs);
    verify(name + " iterations",
           std::abs(int(on_host_) - int(on_device_)) <= 1 + slack * on_host_,
           std::to_string(on_host_) + " and " + std::to_string(on_device_));
    DeviceVector<double> r;
    verify_below(name + " residual",
                 matrix.residual(r, X, rhs),
                 1e-8 * rhs.l2_norm());
    X.copy_to(difference);
    difference -= x;
    verify_below(name + " solution",
                 difference.linfty_norm(),
                 1e-5 * x.linfty_norm());
    // once more: the same bits
    const std::vector<double> first = on_host(X);
    solve<Solver>(matrix, X, rhs);
    verify(name + " repeated", same_bits(first, on_host(X)));
  }

  template <typename VectorType>
  using CG = SolverCG<VectorType>;
  template <typename VectorType>
  using GMRES = SolverGMRES<VectorType>;
  template <typename VectorType>
  using Bicgstab = SolverBicgstab<VectorType>;

  template <int dim>
  void
  check_meshes()
  {
    const Reference::Problem<dim> problem = full_problem<dim>();
    const auto form = make_form(problem, Give::tensor_functions, 2);
    // closed forms on simplices
    Reference::Problem<dim> constant = problem;
    constant.b                       = nullptr;
    constant.c = constant.f = nullptr;
    auto constant_form      = make_form(constant, Give::constants, 0);
    constant_form.set_source(1.3);
    for (const std::string mesh : {"simplices", "hanging periodic"})
      {
        Triangulation<dim> triangulation;
        make_mesh(mesh, triangulation);
        if (mesh == "simplices")
          triangulation.refine_global(1);
        for (const std::string agglomeration : {"none", "steps"})
          {
            Tessella::AgglomerationHandler<dim> handler(triangulation);
            handler.agglomerate(make_strategy<dim>(agglomeration));
            const auto check = [&](const std::string &name) {
              check_matrix<dim, double>(name, handler, form);
              check_matrix<dim, float>(name, handler, form);
            };
            const std::string name = mesh + ", " + agglomeration;
            for (unsigned int p = 0; p <= (dim == 2 ? 6 : 4); ++p)
              {
                if (dim == 3 && agglomeration == "none" && p > 3)
                  continue;
                handler.distribute_dofs(
                  Tessella::FE_BoundingBoxLegendre<dim>(p));
                check(name + ", p = " + std::to_string(p));
                if (mesh == "simplices" && p >= 1 && p <= 3)
                  check_matrix<dim, float>(name + ", diffusion, p = " +
                                             std::to_string(p),
                                           handler,
                                           constant_form);
              }
            handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(
              1, Tessella::PolynomialSpaceType::tensor_product));
            check(name + ", Q1");
            for (const unsigned int largest : {1u, 3u, dim == 2 ? 7u : 5u})
              {
                if (dim == 3 && agglomeration == "none" && largest > 3)
                  continue;
                distribute_mixed_degrees(handler, largest);
                check(name + ", hp to " + std::to_string(largest));
              }
          }
      }

    // ---- solvers
    Triangulation<dim> triangulation;
    make_mesh("box", triangulation);
    triangulation.refine_global(dim == 2 ? 2 : 1);
    Tessella::AgglomerationHandler<dim> handler(triangulation);
    handler.agglomerate(make_strategy<dim>("none"));
    Reference::Problem<dim> diffusion = problem, reaction = problem;
    diffusion.b = nullptr;
    // well conditioned, so that no preconditioner is needed
    diffusion.c = [](const Point<dim> &) { return 100.; };
    reaction.c  = [](const Point<dim> &x) { return 1000. * (1. + x[0]); };
    const auto non_symmetric = make_form(reaction, Give::tensor_functions, 2);
    for (unsigned int p = 1; p <= 3; ++p)
      {
        handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(p));
        const std::string name = "p = " + std::to_string(p);
        check_solver<CG>("CG, " + name,
                         handler,
                         make_form(diffusion, Give::constants, 0),
                         0.);
        check_solver<GMRES>("GMRES, " + name, handler, non_symmetric, 0.);
        // Rounding errors grow in this solver.
        check_solver<Bicgstab>("BiCGstab, " + name,
                               handler,
                               non_symmetric,
                               0.2);
      }

    // ---- structures that do not match
    DeviceBlockMatrix<double>                                  matrix;
    DeviceVector<double>                                       rhs;
    typename Tessella::PolytopicAssembler<dim>::AdditionalData data;
    data.backend = Backend::cuda;
    Tessella::PolytopicAssembler<dim> assembler(handler, data);
    verify("not initialised", message_of([&] {
                                assembler.assemble_matrix(form, matrix);
                              }).find("call reinit()") != std::string::npos);
    assembler.reinit(matrix, rhs);
    handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(1));
    verify("other degrees of freedom",
           message_of([&] {
             assembler.assemble(form, matrix, rhs);
           }).find("call reinit()") != std::string::npos);
    verify("non-zero number",
           message_of([&] { matrix = 1.; }).find("zero") != std::string::npos);
  }

  // Runs every kernel of block rows once, on meshes that are small enough for
  // tools which check each memory access.
  template <int dim, typename Number>
  void
  check_small(const std::string                   &name,
              const Tessella::PolytopicSpace<dim> &space,
              const Tessella::Form<dim>           &form)
  {
    std::vector<Number> values[2], rhs[2];
    double              differences[2] = {1., 1.};
    for (unsigned int i = 0; i < 2; ++i)
      {
        typename Tessella::PolytopicAssembler<dim>::AdditionalData data;
        data.backend = i == 0 ? Backend::host : Backend::cuda;
        Tessella::PolytopicAssembler<dim> assembler(space, data);
        DeviceBlockMatrix<Number>         matrix;
        DeviceVector<Number>              vector;
        assembler.reinit(matrix, vector);
        assembler.assemble(form, matrix, vector);
        matrix.copy_to(values[i]);
        rhs[i] = on_host(vector);
        if (i == 1)
          {
            const std::vector<double> reference(values[0].begin(),
                                                values[0].end());
            differences[0] =
              difference(matrix.block_sparsity(), values[1], reference.data());
            double largest = 0.1;
            differences[1] = 0.;
            for (std::size_t j = 0; j < rhs[0].size(); ++j)
              largest = std::max(largest, std::abs(double(rhs[0][j])));
            for (std::size_t j = 0; j < rhs[0].size(); ++j)
              if (const double d = std::abs(rhs[1][j] - rhs[0][j]) / largest;
                  !(d <= differences[1]))
                differences[1] = d;
          }
      }
    const double tolerance = std::is_same<Number, double>::value ? 1e-12 : 1e-5;
    verify_below(name + ", " + type_name<Number>() + ", matrix",
                 differences[0],
                 tolerance);
    verify_below(name + ", " + type_name<Number>() + ", rhs",
                 differences[1],
                 tolerance);
  }

  template <int dim>
  void
  check_small_meshes()
  {
    for (const std::string mesh : {"simplices", "distorted"})
      {
        Triangulation<dim> triangulation;
        make_mesh(mesh, triangulation);
        Tessella::AgglomerationHandler<dim> handler(triangulation);
        handler.agglomerate(make_strategy<dim>("slabs"));
        for (unsigned int p = 0; p <= 6; ++p)
          {
            handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<dim>(p));
            for (const Give give : {Give::constants, Give::tensor_functions})
              {
                const auto        form = make_form(full_problem<dim>(),
                                            give,
                                            give == Give::constants ? 0 : 2);
                const std::string name =
                  std::to_string(dim) + "-D, " + mesh +
                  ", p = " + std::to_string(p) +
                  (give == Give::constants ? ", constant" : ", variable");
                check_small<dim, double>(name, handler, form);
                check_small<dim, float>(name, handler, form);
              }
          }
      }
  }

  // Runs the kernels for prisms.
  void
  check_small_slabs()
  {
    Triangulation<2> triangulation;
    make_mesh("simplices", triangulation);
    Tessella::AgglomerationHandler<2> handler(triangulation);
    handler.agglomerate(make_strategy<2>("slabs"));
    Tessella::SpaceTimeForm<2> form;
    form.set_diffusion(0.7);
    form.set_advection(Tensor<1, 2>({1., -0.5}));
    form.set_reaction(0.4);
    form.set_source(1.5);
    for (unsigned int p = 0; p <= 6; ++p)
      {
        handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<2>(p));
        for (const auto space : {Tessella::PolynomialSpaceType::total_degree,
                                 Tessella::PolynomialSpaceType::prismatic})
          {
            Tessella::SpaceTimeSlab<2> slab(handler, space);
            slab.reinit(0., 0.3);
            const std::string name =
              std::string("slab, ") +
              (space == Tessella::PolynomialSpaceType::prismatic ? "PQ" : "P") +
              std::to_string(p);
            check_small<3, double>(name, slab, form);
            check_small<3, float>(name, slab, form);
          }
      }
  }

  // A build without CUDA or a machine without a device; single precision on the
  // host still works.
  void
  check_unavailable()
  {
    for (const std::string &text :
         {message_of([] { DeviceVector<double> vector; }),
          message_of([] { DeviceVector<float> vector(3); }),
          message_of([] { DeviceBlockMatrix<double> matrix; }),
          message_of([] { DeviceRectangularMatrix<float> matrix; })})
      verify("message",
             text.find("No CUDA device") != std::string::npos ||
               text.find("no CUDA backend") != std::string::npos,
             text);

    Triangulation<2> triangulation;
    make_mesh("box", triangulation);
    Tessella::AgglomerationHandler<2> handler(triangulation);
    handler.agglomerate(make_strategy<2>("none"));
    handler.distribute_dofs(Tessella::FE_BoundingBoxLegendre<2>(2));
    const auto form = make_form(full_problem<2>(), Give::constants, 0);
    Tessella::PolytopicAssembler<2> assembler(handler);
    SparsityPattern                 pattern, precise_pattern;
    SparseMatrix<float>             matrix;
    Vector<float>                   rhs;
    SparseMatrix<double>            precise;
    Vector<double>                  precise_rhs;
    assembler.reinit(pattern, matrix, rhs);
    assembler.assemble(form, matrix, rhs);
    assembler.reinit(precise_pattern, precise, precise_rhs);
    assembler.assemble(form, precise, precise_rhs);
    bool same = true;
    auto a    = precise.begin();
    for (auto b = matrix.begin(); b != matrix.end(); ++a, ++b)
      same = same && float(a->value()) == float(b->value());
    for (unsigned int i = 0; i < rhs.size(); ++i)
      same = same && float(precise_rhs(i)) == rhs(i);
    verify("SparseMatrix<float>", same && matrix.frobenius_norm() > 0.);
    SparseMatrix<float> matrix_alone(pattern);
    Vector<float>       rhs_alone(rhs.size());
    assembler.assemble_matrix(form, matrix_alone);
    assembler.assemble_rhs(form, rhs_alone);
    matrix_alone.add(-1.f, matrix);
    rhs_alone -= rhs;
    verify("SparseMatrix<float> apart",
           matrix_alone.frobenius_norm() == 0. && rhs_alone.l2_norm() == 0.);
  }
} // namespace

int
main(int argc, char **argv)
{
  return run_case(argc, argv, [](const std::string &name) {
    if (name == "unavailable")
      check_unavailable();
    else if (name == "vector")
      {
        for (const unsigned int n : {0u, 1u, 31u, 1000u, 300007u, 3000017u})
          {
            check_vector<double>(n);
            check_vector<float>(n);
          }
        check_special_sums();
      }
    else if (name == "small")
      {
        check_small_meshes<2>();
        check_small_meshes<3>();
        check_small_slabs();
        check_block_sizes<double>();
        check_product_steps<double>();
        check_product_steps<float>();
        check_half_matrices();
        check_block_sizes<float>();
      }
    else if (name == "2d")
      check_meshes<2>();
    else
      check_meshes<3>();
  });
}
