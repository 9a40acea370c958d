// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_lac_component_rows_h
#define tessella_lac_component_rows_h

#include <tessella/lac/block_sparsity.h>

#include <cstdint>
#include <vector>

namespace Tessella
{
  /**
   * Structure of a block matrix that applies a scalar matrix to each component
   * of a vector at once. The vector has the layout of a space of m components:
   * the degrees of freedom of a polytope are ordered by component, then by
   * basis function. Block row m k + c belongs to component c of polytope k and
   * is coupled with the same component of the neighbours.
   *
   * If the components of a polytope share their values, its m block rows have
   * the same value_offset. If those of all polytopes do, the matrix has the
   * values of the scalar one, in the same order:
   *
   *     const ComponentRows rows(scalar.block_sparsity(), scalar.dof_offset(),
   *                              dim);
   *     DeviceBlockMatrix<double> matrix;
   *     matrix.reinit(rows.sparsity, rows.dof_offset);
   *     matrix.copy_from(values_of_the_scalar_matrix);
   *
   * HostBlockMatrix and DeviceBlockMatrix take such structures. Products with
   * such matrices read shared values once from memory instead of m times; on a
   * device one kernel does so for two or three components of polytopes of equal
   * degree, and caches serve other cases. BlockJacobi and BlockChebyshev share
   * the inverses of the diagonal blocks as well. The results have the bits of
   * the matrix in which each component has its own values, if blocks have more
   * than ten rows; smaller ones are added in another order on a device.
   *
   * Components may share the values of some polytopes only, for example if
   * their boundary conditions differ, which changes the diagonal blocks at the
   * boundary.
   *
   * Cost: time and memory in proportion to m times the number of blocks.
   */
  struct ComponentRows
  {
    /// @p sparsity and @p dof_offset are those of one component. If the latter
    /// has ghosts, so have the result's.
    ComponentRows(const BlockSparsity              &sparsity,
                  const std::vector<std::uint64_t> &dof_offset,
                  const unsigned int                n_components,
                  const bool                        share_values = true);
    /// @p share_values: whether the components of each polytope share their
    /// values; an error unless there is an entry for each block row.
    ComponentRows(const BlockSparsity              &sparsity,
                  const std::vector<std::uint64_t> &dof_offset,
                  const unsigned int                n_components,
                  const std::vector<bool>          &share_values);

    BlockSparsity              sparsity;
    std::vector<std::uint64_t> dof_offset;
  };
} // namespace Tessella

#endif
