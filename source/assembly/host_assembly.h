// SPDX-License-Identifier: LGPL-2.1-or-later
#ifndef tessella_source_assembly_host_assembly_h
#define tessella_source_assembly_host_assembly_h

#include <tessella/assembly/backend.h>
#include <tessella/assembly/block_sparsity.h>
#include <tessella/forms/form.h>
#include <tessella/grid/polytopic_mesh.h>

#include <functional>
#include <vector>

namespace Tessella
{
  namespace internal
  {
    /**
     * Largest value of n.a n on each side of each facet, over the quadrature
     * points of the polytope on that side, turned into the penalty of
     * the facet: constant * max over sides of (factor * a-bar). Threads.
     */
    template <int dim>
    std::vector<double>
    compute_penalty(const PolytopicMesh<dim> &mesh,
                    const Form<dim>          &form,
                    const double              constant,
                    const InstructionSet      instruction_set);

    /// Where assembled numbers go.
    struct HostAssemblyTarget
    {
      /// Values in the layout of the BlockSparsity, or null.
      double *values = nullptr;
      /// Used instead of `values` if set: receives each finished block row
      /// (polytope, n rows of the block row's width). Called concurrently.
      std::function<void(unsigned int, const double *)> store_block_row;
      /// Right-hand side, or null.
      double *rhs = nullptr;
    };

    /**
     * The block-row algorithm on the host: every polytope computes its rows,
     * vectorised over quadrature points, polytopes in parallel. Sums run in an
     * order fixed by the mesh.
     */
    template <int dim>
    void
    assemble_on_host(const PolytopicMesh<dim>  &mesh,
                     const BlockSparsity       &sparsity,
                     const Form<dim>           &form,
                     const std::vector<double> &sigma,
                     const bool                 tensor_product_space,
                     const InstructionSet       instruction_set,
                     const HostAssemblyTarget  &target);
  } // namespace internal
} // namespace Tessella

#endif
