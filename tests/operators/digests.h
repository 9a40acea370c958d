// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_tests_operators_digests_h
#define tessella_tests_operators_digests_h

// Digests of results of pointwise operators that are equal for every number of
// processes if all entries are.

#include <tessella/lac/host_block_matrix.h>
#include <tessella/operators/pointwise_operator.h>

#include <vector>

#include "../mpi/cases.h"

/// A Jacobian: the order of the blocks of a row does not matter.
template <int dim>
std::uint64_t
digest_of_jacobian(const AgglomerationHandler<dim> &handler,
                   const HostBlockMatrix<double>   &matrix)
{
  const auto &blocks = matrix.block_sparsity();
  const auto &dofs   = handler.polytopic_dofs();
  return digest_of_polytopes(
    handler, [&](const unsigned int k, Digest &digest) {
      std::uint64_t      sum = 0;
      const unsigned int n   = dofs.dof_offset[k + 1] - dofs.dof_offset[k];
      for (auto b = blocks.block_offset[k]; b < blocks.block_offset[k + 1]; ++b)
        {
          const unsigned int j = blocks.block_column[b];
          Digest             block;
          block.add(handler.first_dof(j) == handler.first_dof(k)
                      ? std::uint64_t(1)
                      : std::uint64_t(0));
          for (unsigned int i = 0; i < n; ++i)
            for (unsigned int l = 0;
                 l < dofs.dof_offset[j + 1] - dofs.dof_offset[j];
                 ++l)
              block.add(matrix.values()[blocks.value_offset[k] +
                                        i * blocks.row_width[k] +
                                        blocks.column_offset[b] + l]);
          sum += block.state;
        }
      digest.add(sum);
    });
}

/// Diagonal blocks, one after the other.
template <int dim>
std::uint64_t
digest_of_diagonal(const AgglomerationHandler<dim> &handler,
                   const std::vector<double>       &diagonal)
{
  const auto &dofs  = handler.polytopic_dofs();
  std::size_t begin = 0;
  return digest_of_polytopes(handler,
                             [&](const unsigned int k, Digest &digest) {
                               const std::size_t n =
                                 dofs.dof_offset[k + 1] - dofs.dof_offset[k];
                               for (std::size_t i = 0; i < n * n; ++i)
                                 digest.add(diagonal[begin + i]);
                               begin += n * n;
                             });
}

/// Integrals over the domain and over the parts of its boundary, one after the
/// other.
template <int dim, typename VectorType>
std::vector<double>
integrals_of_all(PointwiseOperator<dim>                &op,
                 const PointwiseIntegrand<dim>         &integrand,
                 const std::vector<const VectorType *> &fields)
{
  std::vector<double> result = op.integrate_volume(integrand, fields);
  for (const auto &id : op.integrate_boundary(integrand, fields))
    {
      result.push_back(id.first);
      result.insert(result.end(), id.second.begin(), id.second.end());
    }
  return result;
}

inline std::uint64_t
digest_of_values(const std::vector<double> &values)
{
  Digest digest;
  for (const double v : values)
    digest.add(v);
  return digest.state;
}

#endif
