// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_hdg_local_basis_h
#define tessella_source_hdg_local_basis_h

#include <tessella/grid/polytopic_dofs.h>
#include <tessella/grid/polytopic_mesh.h>
#include <tessella/quadrature/quadrature_order.h>
#include <tessella/values/polytope_quadrature.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "../backends/host_kernels.h"

namespace Tessella
{
  namespace internal
  {
    /// Exponents of the Legendre functions of a degree, see
    /// Legendre::exponents().
    std::vector<unsigned char>
    legendre_exponents(const int          dim,
                       const unsigned int degree,
                       const bool         tensor_product);

    /// quadrature_order(), limited to orders for which there are rules on all
    /// cells.
    inline unsigned int
    local_quadrature_order(const int          dim,
                           const unsigned int degree,
                           const bool         tensor_product,
                           const unsigned int coefficient_order)
    {
      return std::min(
        quadrature_order(dim, degree, coefficient_order, tensor_product),
        max_quadrature_order - 2);
    }

    /**
     * A basis of a polytope's space that is safe to solve local problems in.
     *
     * Legendre polynomials on the bounding box become nearly dependent on a
     * polytope that fills only part of its box: on a triangle the condition
     * number of their mass matrix is beyond 1e12 for degree 9. If it is large
     * (mean square of the coefficients of orthonormal functions above 1e3),
     * functions that are orthonormal on the polytope replace them. They are
     * found by repeated Cholesky factorisation of the mass matrix, first of the
     * Legendre basis, then of each new basis, until that is orthonormal to
     * rounding. A shift helps the first factorisation past condition numbers
     * beyond 1e13 (shifted Cholesky QR, Fukaya et al., SIAM J. Sci. Comput. 42
     * (2020)). Results are transformed back to coefficients of the Legendre
     * basis, see to_box().
     *
     * Cost per point: N^2 operations for the mass matrix and, if functions are
     * replaced, about 3 N^2, and N^2 (dim + 1) in each transform().
     */
    template <int dim>
    class LocalBasis
    {
    public:
      /// @p exponents: those of the largest degree or of a higher one.
      LocalBasis(const HostKernels::Kernels<dim>  &kernels,
                 const std::vector<unsigned char> &exponents,
                 const bool                        tensor_product);

      /// Chooses the basis on polytope @p k of @p mesh, of the degree in
      /// @p dofs, with quadrature of @p order. Throws if the polynomials are
      /// linearly dependent on it.
      void
      reinit(const PolytopicMesh<dim> &mesh,
             const PolytopicDoFs      &dofs,
             const unsigned int        k,
             const unsigned int        order);

      /// Values and gradients of the Legendre functions: row r of function i
      /// begins at basis[(i * (dim + 1) + r) * m]. @p m: number of points,
      /// padded.
      void
      evaluate_box(const double *const *x,
                   const unsigned int   m,
                   std::vector<double> &basis) const;

      /// Transforms values and gradients of the Legendre functions to those of
      /// the present basis, in place.
      void
      transform(const unsigned int m, std::vector<double> &basis);

      /// Transforms rows of coefficients from the present basis to the Legendre
      /// basis, in place.
      void
      to_box(const unsigned int n_rows,
             double            *rows,
             const unsigned int stride);

      std::uint64_t n_operations = 0;

    private:
      void
      add_mass(const PolytopicMesh<dim> &mesh,
               const unsigned int        k,
               const unsigned int        order);

      const HostKernels::Kernels<dim>  &kernels;
      const std::vector<unsigned char> &exponents;
      const bool                        tensor_product;
      HostKernels::Space                space;
      unsigned int                      n = 0, n_padded = 0;
      bool                              transformed = false;
      PolytopeQuadrature<dim>           quadrature;
      /// Function i is the sum over j <= i of C_ij times Legendre function j.
      std::vector<double> C, mass, inverse, basis, weighted, scratch,
        transposed;
    };
  } // namespace internal
} // namespace Tessella

#endif
