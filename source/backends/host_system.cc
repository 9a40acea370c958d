// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "host_system.h"

#include <algorithm>

#include "block_row_assembler.h"
#include "host_dispatch.h"

namespace Tessella
{
  namespace internal
  {
    template <int dim>
    HostSystem<dim>::HostSystem(AssemblyContext<dim> &context,
                                FormPreparation<dim> &preparation)
      : context(context)
      , preparation(preparation)
    {}



    template <int dim>
    void
    HostSystem<dim>::start(const SystemForm<dim> &system)
    {
      const unsigned int n_components = context.space->n_components();
      context.structure.on_all_processes(
        [&]() { pairs = prepare_pairs(system, n_components, n_components); });
      sigma.clear();
      std::uint64_t revision      = 0;
      double        geometry_time = 0.;
      for (const SystemPair<dim> &pair : pairs)
        {
          const auto found =
            preparation.prepare(*pair.form, false, false, n_components);
          geometry_time = std::max(geometry_time, context.report.geometry_time);
          if (!sigma.empty() && found.revision != 0 &&
              found.revision == revision)
            sigma.push_back(sigma.back());
          else
            sigma.push_back(
              std::make_shared<const std::vector<double>>(*found.values));
          revision = found.revision;
        }
      context.report.geometry_time = geometry_time;
    }



    template <int dim>
    void
    HostSystem<dim>::update_columns()
    {
      const unsigned int n_components = context.dofs().n_components;
      if (context.revision().is_known() && revision == context.revision())
        return;
      columns.clear();
      for (unsigned int j = 0; j < n_components; ++j)
        columns.push_back(
          pair_sparsity(context.structure.blocks, context.dofs(), 0, j));
      revision = context.revision();
    }



    template <int dim>
    void
    HostSystem<dim>::compute_rows(const AssemblyTarget<double> &target)
    {
      update_columns();
      const BlockSparsity       &blocks       = context.structure.blocks;
      const PolytopicDoFs       &dofs         = context.dofs();
      const unsigned int         n_components = dofs.n_components;
      const PolynomialSpaceType  space      = context.space->polynomial_space();
      const unsigned int         max_degree = highest_degree(dofs);
      std::vector<unsigned char> exponents(
        dim * Legendre::n_functions(dim, max_degree, space));
      Legendre::exponents(dim, max_degree, space, exponents.data());
      const bool tensor_product = space != PolynomialSpaceType::total_degree;
      const bool store          = static_cast<bool>(target.store_block_rows);
      const bool matrix = target.has_matrix(), rhs = target.has_rhs();
      const bool zeros = matrix && leaves_zeros(pairs, n_components);

      for_polytopes(
        context.mesh().n_owned_polytopes(),
        [&](const unsigned int begin, const unsigned int end) {
          std::vector<BlockRowPart<dim>> parts;
          for (std::size_t p = 0; p < pairs.size(); ++p)
            if (matrix || pairs[p].rhs)
              parts.push_back({pairs[p].form,
                               &columns[pairs[p].trial],
                               sigma[p].get(),
                               pairs[p].test,
                               rhs && pairs[p].rhs});
          std::unique_ptr<BlockRowAssembler<dim>> assembler;
          if (!parts.empty())
            assembler =
              std::make_unique<BlockRowAssembler<dim>>(preparation.problem(
                                                         *parts.front().form),
                                                       parts,
                                                       exponents,
                                                       tensor_product,
                                                       matrix);
          std::vector<double> buffer;
          for (unsigned int k = begin; k < end; ++k)
            {
              const std::uint64_t n_values =
                blocks.value_offset[k + 1] - blocks.value_offset[k];
              if (store)
                buffer.resize(n_values);
              double *const values =
                store    ? buffer.data()
                : matrix ? target.host_values + blocks.value_offset[k]
                         : nullptr;
              double *const f =
                rhs ? target.host_rhs + dofs.dof_offset[k] : nullptr;
              if (zeros)
                std::fill_n(values, n_values, 0.);
              if (rhs)
                std::fill(f, f + n_components * dofs.n_basis[k], 0.);
              if (assembler != nullptr)
                assembler->assemble(k, values, f);
              if (store)
                target.store_block_rows(k, k + 1, buffer.data());
            }
        });
    }



    template class HostSystem<2>;
    template class HostSystem<3>;
    template class HostSystem<4>;
  } // namespace internal
} // namespace Tessella
