// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_hdg_local_basis_h
#define tessella_source_hdg_local_basis_h

#include <tessella/grid/polytopic_mesh.h>
#include <tessella/values/polytope_quadrature.h>

#include <cstdint>
#include <vector>

#include "../backends/host_kernels.h"

namespace Tessella
{
  namespace internal
  {
    /**
     * A basis of a polytope's space that is safe to solve local problems in.
     *
     * Legendre polynomials on the bounding box lose their independence on a
     * polytope that fills its box in part only: on a triangle the condition
     * number of their mass matrix is beyond 1e12 for degree 9. Where it is
     * large (squares of the coefficients of orthonormal functions above 1e3 in
     * the mean), functions that are orthonormal on the polytope take their
     * place. They are found by Cholesky factorisations of mass matrices, of the
     * basis, then of what came out, until that is orthonormal to rounding; a
     * shift helps the first factorisation past condition numbers beyond 1e13
     * (shifted Cholesky QR, Fukaya et al., SIAM J. Sci. Comput. 42 (2020)).
     * Coefficients go back to the Legendre basis in the end.
     *
     * Cost per point: N^2 operations for the mass matrix and, where functions
     * are replaced, about 3 N^2, and N^2 (dim + 1) in each transform().
     */
    template <int dim>
    class LocalBasis
    {
    public:
      /// @p exponents: of the largest degree, or more.
      LocalBasis(const HostKernels::Kernels<dim>  &kernels,
                 const std::vector<unsigned char> &exponents,
                 const bool                        tensor_product);

      /// For polytope @p k of @p mesh with quadrature of @p order. Throws if
      /// the polynomials are linearly dependent on it.
      void
      reinit(const PolytopicMesh<dim> &mesh,
             const unsigned int        k,
             const unsigned int        order);

      /// Values and gradients of the Legendre functions: row r of function i at
      /// basis[(i * (dim + 1) + r) * m + q]; @p m: padded.
      void
      evaluate_box(const double *const *x,
                   const unsigned int   m,
                   std::vector<double> &basis) const;

      /// From these to those of the present basis, in place.
      void
      transform(const unsigned int m, std::vector<double> &basis);

      /// Coefficients: rows of the present basis to rows of the Legendre basis,
      /// in place.
      void
      to_box(const unsigned int n_rows,
             double            *rows,
             const unsigned int stride);

      /// Is it another basis than the Legendre functions?
      bool
      is_transformed() const
      {
        return transformed;
      }

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
