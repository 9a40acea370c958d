// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "host_assembly.h"

#include <algorithm>
#include <memory>

#include "block_row_assembler.h"
#include "facet_values.h"
#include "host_dispatch.h"

namespace Tessella
{
  namespace internal
  {
    template <int dim>
    void
    assemble_on_host(const HostProblem<dim>       &problem,
                     const BlockSparsity          &sparsity,
                     const std::vector<double>    &sigma,
                     const PolynomialSpaceType     space,
                     const AssemblyTarget<double> &target,
                     const DiffusionValues<dim>   *diffusion)
    {
      const PolytopicDoFs &dofs = problem.dofs;
      const unsigned int   max_degree =
        dofs.degree.empty()
            ? 0
            : *std::max_element(dofs.degree.begin(), dofs.degree.end());
      // Spaces of lower degree are prefixes of the largest space.
      std::vector<unsigned char> exponents(
        dim * Legendre::n_functions(dim, max_degree, space));
      Legendre::exponents(dim, max_degree, space, exponents.data());
      const bool tensor_product = space != PolynomialSpaceType::total_degree;
      const bool store          = static_cast<bool>(target.store_block_rows);
      const bool matrix         = target.has_matrix();
      const unsigned int                n = problem.mesh.n_owned_polytopes();
      std::unique_ptr<FacetValues<dim>> facet_values;
      if (matrix && FacetValues<dim>::applies_to(problem.form))
        facet_values = std::make_unique<FacetValues<dim>>(problem, sigma);
      const auto compute_rows = [&](const unsigned int begin,
                                    const unsigned int end) {
        BlockRowAssembler<dim> assembler(problem,
                                         sparsity,
                                         sigma,
                                         exponents,
                                         tensor_product,
                                         matrix,
                                         target.has_rhs(),
                                         diffusion,
                                         facet_values.get());
        std::vector<double>    buffer;
        for (unsigned int k = begin; k < end; ++k)
          {
            double *values = nullptr;
            if (store)
              {
                buffer.resize(sparsity.value_offset[k + 1] -
                              sparsity.value_offset[k]);
                values = buffer.data();
              }
            else if (matrix)
              values = target.host_values + sparsity.value_offset[k];
            assembler.assemble(k,
                               values,
                               target.has_rhs()
                                 ? target.host_rhs + dofs.dof_offset[k]
                                 : nullptr);
            if (store)
              target.store_block_rows(k, k + 1, buffer.data());
          }
      };

      unsigned int chunk_end;
      for (unsigned int first = 0; first < n; first = chunk_end)
        {
          chunk_end = facet_values ? facet_values->tabulate(first) : n;
          for_polytopes(chunk_end - first,
                        [&](const unsigned int begin, const unsigned int end) {
                          compute_rows(first + begin, first + end);
                        });
        }
    }



#define INSTANTIATE(dim)                                         \
  template void assemble_on_host(const HostProblem<dim> &,       \
                                 const BlockSparsity &,          \
                                 const std::vector<double> &,    \
                                 const PolynomialSpaceType,      \
                                 const AssemblyTarget<double> &, \
                                 const DiffusionValues<dim> *)

    INSTANTIATE(2);
    INSTANTIATE(3);
    INSTANTIATE(4);
#undef INSTANTIATE
  } // namespace internal
} // namespace Tessella
