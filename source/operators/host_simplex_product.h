// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_operators_host_simplex_product_h
#define tessella_source_operators_host_simplex_product_h

#include <cstddef>
#include <vector>

#include "../../cuda/lac/block_matrix.h"
#include "../../cuda/operators/simplex_data.h"
#include "simplex_reference.h"

namespace Tessella
{
  namespace internal
  {
    /**
     * Product of the operator of SimplexData with a vector on the host, in
     * three steps: values of the function at the nodes of SimplexReference on
     * every simplex, ghosts included; the rows of Lagrange polynomials, from
     * these values and those of neighbours; and the rows of the basis
     * functions. Nothing is approximated.
     *
     * It is the plain version of the kernel on a CUDA device, with the same
     * order of steps, and a reference for it.
     */
    class HostSimplexProduct
    {
    public:
      explicit HostSimplexProduct(SimplexData &&data);

      /// Computes A src, or A^T src if @p transpose. @p ghosts has the entries
      /// of simplices from n_rows on. All threads share the work; the result
      /// has the same bits for any number of them. Not for several products at
      /// once, since they share a buffer. A^T needs a form without advection.
      void
      vmult(const Device::Destination<double> &dst,
            const double                      *src,
            const double                      *ghosts,
            const bool                         transpose) const;

      const SimplexData &
      get_data() const
      {
        return data;
      }

      /// Multiplications and additions of one product with constant matrices
      /// and basis functions; the evaluation of the latter is not counted.
      static double
      n_operations(const SimplexData &data, const SimplexReference &reference);

      std::size_t
      memory_consumption() const;

    private:
      SimplexData                 data;
      SimplexReference            reference;
      std::vector<unsigned char>  exponents;
      mutable std::vector<double> nodal;

      struct Work;

      void
      evaluate_at_nodes(const unsigned int k,
                        const double      *u,
                        double            *values) const;
      void
      basis_values(const unsigned int k,
                   const unsigned int i,
                   double            *phi) const;
      void
      add_volume(const unsigned int k, double *y, Work &work) const;
      void
      add_face(const unsigned int k,
               const unsigned int face,
               const bool         transpose,
               double            *y,
               Work              &work) const;
    };
  } // namespace internal
} // namespace Tessella

#endif
