// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_operators_simplex_nodes_h
#define tessella_cuda_operators_simplex_nodes_h

#include <cstddef>
#include <memory>
#include <vector>

#include "../lac/block_matrix.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /**
       * Change between the basis functions on the bounding boxes of affine
       * simplices and the Lagrange polynomials of one degree at the nodes of
       * SimplexReference, in plain types. Vectors have the values of a simplex
       * one after the other, component by component. Kernels run in the present
       * stream, with a thread for each component of a simplex.
       */
      class SimplexNodes
      {
      public:
        /// Largest degree for which there are kernels.
        static constexpr unsigned int
        max_degree(const unsigned int dim)
        {
          return dim == 2 ? 8 : 6;
        }

        /// @p corners: SimplexData::corners of @p n_simplices simplices in
        /// device memory, which must outlive this object. @p nodes:
        /// SimplexReference::nodes.
        SimplexNodes(const unsigned int         dim,
                     const unsigned int         degree,
                     const unsigned int         n_simplices,
                     const double              *corners,
                     const std::vector<double> &nodes);
        ~SimplexNodes();

        /// Values at nodes, in @p nodal, of functions with the coefficients
        /// @p src on the first @p n_rows simplices and @p ghosts on the
        /// others.
        void
        evaluate(const unsigned int n_components,
                 const unsigned int n_rows,
                 const double      *src,
                 const double      *ghosts,
                 double            *nodal) const;

        /// Rows of basis functions from rows @p y of Lagrange polynomials, for
        /// the first @p n_rows simplices; @p y may be the destination.
        void
        basis_rows(const unsigned int         n_components,
                   const unsigned int         n_rows,
                   const double              *y,
                   const Destination<double> &dst) const;

        /// Barycentric coordinates 1 .. dim of the nodes, in device memory.
        const double *
        coordinates() const;

        std::size_t
        memory_consumption() const;

      private:
        struct Implementation;
        std::unique_ptr<Implementation> implementation;
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
