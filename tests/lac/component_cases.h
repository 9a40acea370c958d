// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_lac_component_cases_h
#define tessella_tests_lac_component_cases_h

#include <tessella/lac/block_preconditioners.h>
#include <tessella/lac/component_rows.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "block_reference.h"

// Matrices of several components whose block rows share their values, against
// the scalar matrix and against a matrix with values of each component.

namespace ComponentCases
{
  using Tessella::ComponentRows;

  /// Vectors as the blocks of polytopes: entries of component c alone, and
  /// back.
  template <typename Number>
  std::vector<Number>
  component(const std::vector<std::uint64_t> &offset,
            const unsigned int                n_components,
            const unsigned int                c,
            const std::vector<Number>        &all)
  {
    std::vector<Number> result;
    for (unsigned int k = 0; k + 1 < offset.size(); ++k)
      {
        const std::uint64_t n = offset[k + 1] - offset[k];
        for (std::uint64_t i = 0; i < n; ++i)
          result.push_back(all[n_components * offset[k] + c * n + i]);
      }
    return result;
  }

  template <typename Number>
  double
  difference(const std::vector<Number> &a, const std::vector<Number> &b)
  {
    double result = a.size() == b.size() ? 0. : 1e300;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
      {
        const double d = std::abs(double(a[i]) - b[i]);
        if (!std::isfinite(d))
          return 1e300;
        result = std::max(result, d);
      }
    return result;
  }

  /// @p Vector makes vectors of entries and has operator VectorType &() and
  /// entries(). Calls verify(name, whether it is right).
  template <typename MatrixType, typename Vector, typename Verify>
  void
  check(const std::string               &name,
        const std::vector<unsigned int> &sizes,
        const unsigned int               n_components,
        const bool                       all_shared,
        const bool                       same_bits,
        const Verify                    &verify)
  {
    using Number = typename MatrixType::value_type;
    MatrixType one, shared, separate;
    BlockReference::make_matrix(6, sizes, true, one);
    const auto         &offset = one.dof_offset();
    std::vector<Number> values, all_values;
    one.copy_to(values);
    const auto       &first = one.block_sparsity().value_offset;
    std::vector<bool> shares(first.size() - 1, true);
    for (unsigned int k = 0; k < shares.size() && !all_shared; ++k)
      shares[k] = k % 3 != 0;
    const ComponentRows rows(one.block_sparsity(),
                             offset,
                             n_components,
                             shares),
      own(one.block_sparsity(), offset, n_components, false);
    std::vector<Number> shared_values;
    for (unsigned int k = 0; k < shares.size(); ++k)
      for (unsigned int c = 0; c < n_components; ++c)
        for (auto *to : {&shared_values, &all_values})
          if (to == &all_values || c == 0 || !shares[k])
            to->insert(to->end(),
                       values.begin() + first[k],
                       values.begin() + first[k + 1]);
    shared.reinit(rows.sparsity, rows.dof_offset);
    shared.copy_from(shared_values);
    separate.reinit(own.sparsity, own.dof_offset);
    separate.copy_from(all_values);
    verify(name + ", number of values",
           (shared.n_nonzero_elements() == one.n_nonzero_elements()) ==
               (all_shared || n_components == 1) &&
             separate.n_nonzero_elements() ==
               n_components * one.n_nonzero_elements());

    const std::size_t   n = shared.m();
    std::vector<Number> x_values(n), b_values(n);
    for (std::size_t i = 0; i < n; ++i)
      {
        x_values[i] = BlockReference::some_number(i);
        b_values[i] = BlockReference::some_number(n + i);
      }
    const double epsilon = sizeof(Number) == 4 ? 1e-5 : 1e-13,
                 // Entries of the diagonal are of the size of the blocks.
      tolerance = epsilon * 10. * sizes[0];
    const Vector x(x_values), b(b_values);
    const auto   compare = [&](const std::string &what, const auto &function) {
      Vector of_shared(b_values), of_separate(b_values);
      function(shared, of_shared, x, b);
      function(separate, of_separate, x, b);
      const auto   result = of_shared.entries();
      const double of_all = difference(result, of_separate.entries());
      verify(name + ", " + what + ", values of each component",
             same_bits ? of_all == 0. : of_all < tolerance);
      for (unsigned int c = 0; c < n_components; ++c)
        {
          const auto part = [&](const std::vector<Number> &of) {
            return component(offset, n_components, c, of);
          };
          Vector of_one(part(b_values));
          function(one, of_one, Vector(part(x_values)), Vector(part(b_values)));
          verify(name + ", " + what + ", component " + std::to_string(c),
                 difference(part(result), of_one.entries()) < tolerance);
        }
    };
    compare("product", [](auto &A, auto &y, const auto &x, const auto &) {
      A.vmult(y.vector(), x.vector());
    });
    compare("sum", [](auto &A, auto &y, const auto &x, const auto &) {
      A.vmult_add(y.vector(), x.vector());
    });
    compare("residual", [](auto &A, auto &y, const auto &x, const auto &b) {
      A.subtract_product(y.vector(), x.vector(), b.vector());
    });
    compare("transpose", [](auto &A, auto &y, const auto &x, const auto &) {
      A.Tvmult(y.vector(), x.vector());
    });
    compare("Jacobi", [](auto &A, auto &y, const auto &x, const auto &) {
      Tessella::BlockJacobi<MatrixType> preconditioner;
      preconditioner.initialize(A);
      preconditioner.vmult(y.vector(), x.vector());
    });
    // The estimates of eigenvalues begin with other vectors for one component.
    const auto polynomial = [&](MatrixType &A) {
      typename Tessella::BlockChebyshev<MatrixType>::AdditionalData data;
      data.symmetric = false;
      Tessella::BlockChebyshev<MatrixType> preconditioner;
      preconditioner.initialize(A, data);
      Vector y(b_values);
      preconditioner.vmult(y.vector(), x.vector());
      return y.entries();
    };
    const double of_polynomials =
      difference(polynomial(shared), polynomial(separate));
    verify(name + ", Chebyshev",
           same_bits ? of_polynomials == 0. : of_polynomials < tolerance);
  }

  /// All cases of a number type. @p batches: whether sums of small blocks have
  /// another order if components have their own values.
  template <typename MatrixType, typename Vector, typename Verify>
  void
  check_all(const std::string &number, const bool batches, const Verify &verify)
  {
    for (const unsigned int n_components : {1, 2, 3, 4})
      for (const std::vector<unsigned int> &sizes :
           std::vector<std::vector<unsigned int>>{
             {1}, {4}, {10}, {15}, {20}, {35}, {3, 5}, {4, 20, 10}})
        {
          std::string name =
            number + ", " + std::to_string(n_components) + " components of";
          for (const unsigned int size : sizes)
            name += " " + std::to_string(size);
          for (const bool all_shared : {true, false})
            check<MatrixType, Vector>(name +
                                        (all_shared ? "" : ", partly shared"),
                                      sizes,
                                      n_components,
                                      all_shared,
                                      !batches || n_components == 1 ||
                                        sizes.size() > 1 || sizes[0] > 10,
                                      verify);
        }
  }
} // namespace ComponentCases

#endif
