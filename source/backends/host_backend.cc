// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "host_backend.h"

#include <deal.II/base/timer.h>

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "../../cuda/lac/vector.h"
#include "../device/device_call.h"
#include "host_assembly.h"

namespace Tessella
{
  namespace internal
  {
    template <int dim>
    void
    HostBackend<dim>::assemble(
      const Form<dim>                             &form,
      const typename AssemblyBackend<dim>::Target &target)
    {
      std::visit([&](const auto *destination) { run(form, *destination); },
                 target);
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
          compute_rows(target, [&](const AssemblyTarget<double> &rows) {
            assemble_on_host(preparation.problem(form),
                             context.structure.blocks,
                             *sigma.values,
                             context.space->polynomial_space(),
                             rows,
                             preparation.kept_diffusion());
          });
      });
    }



    template <int dim>
    void
    HostBackend<dim>::assemble_system(
      const SystemForm<dim>                       &system,
      const typename AssemblyBackend<dim>::Target &target)
    {
      const dealii::Timer timer;
      AssemblyReport     &report = context.report;
      report.coefficients        = "evaluated by the host's threads";
      host_system.start(system);
      report.preparation_time = timer.wall_time() - report.geometry_time;
      context.structure.on_all_processes([&]() {
        if (this->has_polytopes())
          std::visit(
            [&](const auto *destination) {
              compute_rows(*destination,
                           [&](const AssemblyTarget<double> &rows) {
                             host_system.compute_rows(rows);
                           });
            },
            target);
      });
    }



    template <int dim>
    template <typename Number, typename Function>
    void
    HostBackend<dim>::compute_rows(const AssemblyTarget<Number> &target,
                                   const Function &assemble_rows) const
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

      assemble_rows(host);

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



    template class HostBackend<2>;
    template class HostBackend<3>;
    template class HostBackend<4>;
  } // namespace internal
} // namespace Tessella
