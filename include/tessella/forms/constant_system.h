// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_constant_system_h
#define tessella_forms_constant_system_h

namespace Tessella
{
  /**
   * Matrix of a system of second order with dim components and constant
   * coefficients, discretised by the interior penalty method: the pair (i, j)
   * has the terms
   *   int  grad v . a_ij grad u
   *   - int_F  {n . a_ij grad u} [v] + theta {n . a_ij^T grad v} [u]
   *            - delta_ij sigma [u] [v]
   * on polytopes and on facets between them and on the Dirichlet boundary,
   * where sigma is that of the pair (0, 0). Plain data, for kernels of a
   * device.
   */
  template <int dim>
  struct ConstantSystemTerms
  {
    static constexpr int n_pairs = dim * dim;
    /// Largest number of boundary ids in neumann_id.
    static constexpr unsigned int max_neumann_ids = 16;

    /// Entry (d, e) of a_ij at [i * dim + j][d * dim + e].
    double a[n_pairs][dim * dim];
    double theta;
    /// Boundary ids without terms of the matrix; all others are Dirichlet
    /// boundary.
    unsigned int n_neumann_ids = 0;
    unsigned int neumann_id[max_neumann_ids];
  };
} // namespace Tessella

#endif
