// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_numerics_mass_matrix_h
#define tessella_numerics_mass_matrix_h

#include <deal.II/lac/la_parallel_vector.h>

#include <tessella/grid/agglomeration_handler.h>
#include <tessella/lac/host_block_matrix.h>

#include <cstddef>
#include <vector>

namespace Tessella
{
  /**
   * The mass matrix and its inverse. It consists of one block for each
   * polytope and component; those of the components of a polytope are equal.
   * Basis functions are orthonormal on the bounding box, not on the polytope.
   * The blocks are factored once, M = L L^T, and each application solves with
   * the factors: n^2 / 2 doubles of memory and 2 n^2 operations for n
   * functions.
   *
   * The handler must outlive the object and keep its degrees of freedom. A
   * block that is not positive definite up to rounding is an error.
   */
  template <int dim>
  class MassMatrix
  {
  public:
    explicit MassMatrix(const AgglomerationHandler<dim> &handler);

    /// Sets @p vector to factor M^{-1} vector. It holds the degrees of
    /// freedom that this process owns.
    void
    apply_inverse(
      const double                                        factor,
      dealii::LinearAlgebra::distributed::Vector<double> &vector) const;

    /// Adds factor M src to @p dst.
    void
    vmult_add(
      const double                                              factor,
      dealii::LinearAlgebra::distributed::Vector<double>       &dst,
      const dealii::LinearAlgebra::distributed::Vector<double> &src) const;

    /// Adds factor M to @p matrix, which has the rows of the handler.
    void
    add_to(const double factor, HostBlockMatrix<double> &matrix) const;

  private:
    /// Factors the block of polytope @p k, given by its rows up to the
    /// diagonal.
    void
    factor(const unsigned int k);

    const AgglomerationHandler<dim> &handler;
    std::vector<std::size_t>         offset;
    /// Rows of L up to the diagonal, whose entries are inverted.
    std::vector<double> blocks;
  };
} // namespace Tessella

#endif
