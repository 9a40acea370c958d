// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "host_backend.h"

#include <deal.II/base/timer.h>

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "../../cuda/lac/vector.h"
#include "../device/device_call.h"
#include "block_row_assembler.h"
#include "host_dispatch.h"

namespace Tessella
{
  namespace internal
  {
    template <int dim>
    void
    assemble_on_host(const PolytopicMesh<dim>     &mesh,
                     const PolytopicDoFs          &dofs,
                     const BlockSparsity          &sparsity,
                     const Form<dim>              &form,
                     const std::vector<double>    &sigma,
                     const HostRules<dim>         &rules,
                     const PolynomialSpaceType     space,
                     const InstructionSet          instruction_set,
                     const AssemblyTarget<double> &target,
                     const DiffusionValues<dim>   *diffusion)
    {
      const unsigned int max_degree =
        dofs.degree.empty()
          ? 0
          : *std::max_element(dofs.degree.begin(), dofs.degree.end());
      // Spaces of lower degree are prefixes of the largest space.
      std::vector<unsigned char> exponents(
        dim * Legendre::n_functions(dim, max_degree, space));
      Legendre::exponents(dim, max_degree, space, exponents.data());
      const bool tensor_product = space != PolynomialSpaceType::total_degree;
      const HostKernels::Kernels<dim> &kernels =
        select_kernels<dim>(instruction_set);

      const bool store  = static_cast<bool>(target.store_block_rows);
      const bool matrix = target.has_matrix();
      for_polytopes(mesh.n_owned_polytopes(),
                    [&](const unsigned int begin, const unsigned int end) {
                      BlockRowAssembler<dim> assembler(mesh,
                                                       dofs,
                                                       sparsity,
                                                       form,
                                                       sigma,
                                                       rules,
                                                       kernels,
                                                       exponents,
                                                       tensor_product,
                                                       matrix,
                                                       target.has_rhs(),
                                                       diffusion);
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
                            values =
                              target.host_values + sparsity.value_offset[k];
                          assembler.assemble(k,
                                             values,
                                             target.has_rhs()
                                               ? target.host_rhs +
                                                   dofs.dof_offset[k]
                                               : nullptr);
                          if (store)
                            target.store_block_rows(k, k + 1, buffer.data());
                        }
                    });
    }



    template <int dim>
    void
    HostBackend<dim>::assemble(const Form<dim>              &form,
                               const AssemblyTarget<double> &target)
    {
      run(form, target);
    }



    template <int dim>
    void
    HostBackend<dim>::assemble(const Form<dim>             &form,
                               const AssemblyTarget<float> &target)
    {
      run(form, target);
    }



    template <int dim>
    template <typename Number>
    void
    HostBackend<dim>::run(const Form<dim>              &form,
                          const AssemblyTarget<Number> &target)
    {
      const dealii::Timer timer;
      AssemblyReport     &report = context.report;
      preparation.start(form);
      report.coefficients     = form.volume_structure().constant
                                  ? "constant"
                                  : "evaluated by the host's threads";
      const auto sigma        = preparation.prepare(form, target.has_matrix());
      report.preparation_time = timer.wall_time() - report.geometry_time;
      context.structure.on_all_processes([&]() {
        if (this->has_polytopes())
          compute_rows(form, *sigma.values, target);
      });
    }



    template <int dim>
    template <typename Number>
    void
    HostBackend<dim>::compute_rows(const Form<dim>              &form,
                                   const std::vector<double>    &sigma,
                                   const AssemblyTarget<Number> &target) const
    {
      constexpr bool       is_double = std::is_same<Number, double>::value;
      const BlockSparsity &blocks    = context.structure.blocks;
      const std::size_t    n_values  = blocks.n_nonzero_elements(),
                        n_rows       = context.structure.n_owned_rows;

      std::vector<Number> values;
      Number             *to = target.host_values;
      if (target.device_values != nullptr)
        {
          values.resize(n_values);
          to = values.data();
        }
      std::vector<double> rhs;
      if (target.device_rhs != nullptr ||
          (target.host_rhs != nullptr && !is_double))
        rhs.resize(n_rows);

      AssemblyTarget<double> host;
      if constexpr (is_double)
        {
          host.host_values      = to;
          host.host_rhs         = target.host_rhs;
          host.store_block_rows = target.store_block_rows;
        }
      else if (to != nullptr || target.store_block_rows)
        host.store_block_rows = [&](const unsigned int begin,
                                    const unsigned int end,
                                    const double      *rows) {
          const std::size_t n =
            blocks.value_offset[end] - blocks.value_offset[begin];
          if (to != nullptr)
            std::copy_n(rows, n, to + blocks.value_offset[begin]);
          else
            {
              const std::vector<Number> rounded(rows, rows + n);
              target.store_block_rows(begin, end, rounded.data());
            }
        };
      if (!rhs.empty())
        host.host_rhs = rhs.data();

      assemble_on_host(context.mesh(),
                       context.dofs(),
                       blocks,
                       form,
                       sigma,
                       preparation.rules(),
                       context.space->polynomial_space(),
                       context.parameters.instruction_set,
                       host,
                       preparation.kept_diffusion());

      if (target.host_rhs != nullptr && !rhs.empty())
        std::copy(rhs.begin(), rhs.end(), target.host_rhs);
      if (target.device_values != nullptr)
        device_call([&] {
          Device::upload(target.device_values, values.data(), n_values);
        });
      if (target.device_rhs != nullptr)
        device_call([&] {
          const std::vector<Number> rounded(rhs.begin(), rhs.end());
          Device::upload(target.device_rhs, rounded.data(), n_rows);
        });
    }



#define INSTANTIATE(dim)                                         \
  template void assemble_on_host(const PolytopicMesh<dim> &,     \
                                 const PolytopicDoFs &,          \
                                 const BlockSparsity &,          \
                                 const Form<dim> &,              \
                                 const std::vector<double> &,    \
                                 const HostRules<dim> &,         \
                                 const PolynomialSpaceType,      \
                                 const InstructionSet,           \
                                 const AssemblyTarget<double> &, \
                                 const DiffusionValues<dim> *);  \
  template class HostBackend<dim>

    INSTANTIATE(2);
    INSTANTIATE(3);
    INSTANTIATE(4);
#undef INSTANTIATE
  } // namespace internal
} // namespace Tessella
