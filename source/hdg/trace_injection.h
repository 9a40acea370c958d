// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_hdg_trace_injection_h
#define tessella_source_hdg_trace_injection_h

#include <tessella/hdg/hdg.h>
#include <tessella/lac/host_block_matrix.h>

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
     * Arrays are those of BlockTransfer with one peculiarity: a block of traces
     * has two parents. Entry i of the lists of fine blocks is block i with the
     * polytope on side 0, entry side_1(i) the same block with the polytope on
     * side 1; its matrix is zero, and it is no child, where there is no such
     * polytope.
     */
    template <int dim>
    struct TraceInjection
    {
      /// @p coarse has one function of degree 0 and dim of degree 1 on each
      /// polytope of @p handler, on one process.
      TraceInjection(const AgglomerationHandler<dim>  &handler,
                     const AgglomerationHandler<dim>  &coarse,
                     const HDG<dim>                   &hdg,
                     const Form<dim>                  &form,
                     const std::vector<std::uint64_t> &trace_offset);

      unsigned int
      side_1(const unsigned int block) const
      {
        return n_blocks + 1 + block;
      }

      unsigned int n_blocks = 0, n_polytopes = 0;
      /// First DoFs of the entries, and of the polytopes.
      std::vector<std::uint64_t> fine_offset, coarse_offset;
      /// Polytope of each entry.
      std::vector<unsigned int> parent;
      /// Entries of each polytope, in the order of its interfaces.
      std::vector<unsigned int> child_offset, child;
      /// Matrix of each entry: (dim + 1) rows with one value for each trace
      /// function.
      std::vector<std::uint64_t> matrix_offset;
      std::vector<double>        matrix;

      /**
       * Galerkin matrix P^T T P for the trace matrix with the structure
       * @p sparsity and @p values. Two polytopes are coupled if interfaces of
       * theirs bound a common polytope, or if they are in @p least.
       */
      void
      galerkin(const BlockSparsity       &sparsity,
               const std::vector<double> &values,
               const BlockSparsity       &least,
               HostBlockMatrix<double>   &result) const;

    private:
      void
      set_parents(const AgglomerationHandler<dim> &handler,
                  const HDG<dim>                  &hdg);
      void
      set_matrices(const AgglomerationHandler<dim> &handler,
                   const HDG<dim>                  &hdg,
                   const Form<dim>                 &form);
      BlockSparsity
      galerkin_sparsity(const BlockSparsity &sparsity,
                        const BlockSparsity &least) const;

      /// Interface of each block.
      std::vector<unsigned int> interface;
    };
  } // namespace internal
} // namespace Tessella

#endif
