// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_hdg_trace_injection_h
#define tessella_source_hdg_trace_injection_h

#include <tessella/hdg/hdg.h>
#include <tessella/lac/block_matrix_base.h>

#include <cstdint>
#include <vector>

namespace Tessella
{
  namespace internal
  {
    /**
     * Injection P of polynomials of degree one on polytopes into trace
     * functions: L2 projection to the traces of w_0 v_0 + w_1 v_1, where v_t is
     * the function on side t of an interface and w_t the share of n . a n on
     * side t in the sum of both, patch by patch (1 at the boundary). Dirichlet
     * interfaces have no traces.
     *
     * Arrays are those of InterfaceTransfer. On an interface that is one
     * straight edge, whose trace functions are Legendre polynomials, only the
     * first two of them have a part in the projection, and the matrices are
     * known in closed form; elsewhere all trace functions are modes, and the
     * projection is computed by quadrature.
     *
     * <b>Many processes.</b> Blocks are those of the trace matrix, ghosts
     * included; those of ghosts that bound no polytope of this process have no
     * modes.
     */
    template <int dim>
    struct TraceInjection
    {
      /// Lists the sides. @p matrix is the trace matrix of @p hdg; the
      /// references must outlive the object. Collective.
      TraceInjection(const AgglomerationHandler<dim> &handler,
                     const HDG<dim>                  &hdg,
                     const BlockMatrixBase           &matrix);

      /// Computes the matrices for the coefficients of @p form. Collective.
      void
      set_matrices(const Form<dim> &form);

      /// Whether the weights of both sides are equal, whatever the values of
      /// the coefficients.
      static bool
      has_equal_weights(const Form<dim> &form);

      /**
       * Structure of the Galerkin matrix P^T T P on one process: two polytopes
       * are coupled if interfaces of theirs bound a common polytope, or if they
       * are in @p least.
       */
      BlockSparsity
      galerkin_sparsity(const BlockSparsity &least) const;

      unsigned int n_blocks = 0, n_polytopes = 0, max_modes = 0;
      /// See InterfaceTransfer.
      std::vector<unsigned int>  polytope, side_offset, side;
      std::vector<std::uint64_t> matrix_offset;
      std::vector<double>        matrix;

    private:
      void
      find_blocks();
      void
      list_sides();
      /// Whether @p interface is one straight edge.
      bool
      is_edge(const unsigned int interface) const;

      const AgglomerationHandler<dim> &handler;
      const HDG<dim>                  &hdg;
      const BlockMatrixBase           &trace_matrix;
      /// Interface of each block, invalid_index if there is none here.
      std::vector<unsigned int> interface;
      /// Block of each interface.
      std::vector<unsigned int> block;
    };
  } // namespace internal
} // namespace Tessella

#endif
