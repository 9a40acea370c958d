// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "system_pairs.h"

#include <deal.II/base/exceptions.h>

#include <tessella/grid/revision.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "host_dispatch.h"

namespace Tessella
{
  namespace internal
  {
    using dealii::ExcMessage;

    template <int dim>
    std::vector<SystemPair<dim>>
    prepare_pairs(const SystemForm<dim> &system,
                  const unsigned int     n_test_components,
                  const unsigned int     n_trial_components)
    {
      system.prepare();
      const unsigned int n_test  = system.n_test_components(),
                         n_trial = system.n_trial_components();
      AssertThrow(n_test == n_test_components && n_trial == n_trial_components,
                  ExcMessage("The system has " + std::to_string(n_test) +
                             " components of test functions and " +
                             std::to_string(n_trial) +
                             " of trial functions, but the element has " +
                             std::to_string(n_test_components) +
                             (n_test_components == n_trial_components
                                ? std::string()
                                : " and that of the trial functions " +
                                    std::to_string(n_trial_components)) +
                             "."));
      std::vector<SystemPair<dim>> pairs;
      for (unsigned int i = 0; i < n_test; ++i)
        {
          const unsigned int rhs = system.rhs_component(i);
          for (unsigned int j = 0; j < n_trial; ++j)
            if (const Form<dim> *const form = system.form(i, j))
              {
                form->prepare();
                pairs.push_back({i, j, form, j == rhs});
              }
        }
      AssertThrow(!pairs.empty(), ExcMessage("The system has no forms."));
      const unsigned int order = pairs.front().form->coefficient_order();
      for (const SystemPair<dim> &pair : pairs)
        AssertThrow(pair.form->coefficient_order() == order,
                    ExcMessage(
                      "The forms of a system have coefficients of order " +
                      std::to_string(order) + " and " +
                      std::to_string(pair.form->coefficient_order()) +
                      ", but all of them are evaluated at the same points: "
                      "give all of them the same order."));
      return pairs;
    }



    template <int dim>
    bool
    leaves_zeros(const std::vector<SystemPair<dim>> &pairs,
                 const unsigned int                  n_components)
    {
      for (const SystemPair<dim> &pair : pairs)
        if (!pair.form->facet_structure().facets)
          return true;
      return pairs.size() < std::size_t(n_components) * n_components;
    }



    PolytopicDoFs
    component_dofs(const PolytopicDoFs &dofs, const unsigned int component)
    {
      PolytopicDoFs result = dofs;
      result.n_components  = 1;
      result.revision      = new_revision();
      const std::size_t n  = dofs.n_basis.size();
      for (std::size_t k = 0; k < n; ++k)
        result.dof_offset[k] += component * dofs.n_basis[k];
      return result;
    }



    BlockSparsity
    pair_sparsity(const BlockSparsity &blocks,
                  const PolytopicDoFs &dofs,
                  const unsigned int   test,
                  const unsigned int   trial)
    {
      BlockSparsity     result = blocks;
      const std::size_t n      = blocks.row_width.size();
      for (std::size_t k = 0; k < n; ++k)
        result.value_offset[k] +=
          std::uint64_t(test) * dofs.n_basis[k] * blocks.row_width[k];
      for_ranges(result.block_column.size(),
                 8192,
                 [&](const std::size_t begin, const std::size_t end) {
                   for (std::size_t b = begin; b < end; ++b)
                     result.column_offset[b] +=
                       trial * dofs.n_basis[result.block_column[b]];
                 });
      return result;
    }



    void
    clear_pairs(AssemblyReport &report)
    {
      report.kernel_time = report.upload_time = report.download_time = 0.;
      report.bytes_uploaded = report.bytes_downloaded = 0.;
      report.preparation_time = report.tabulation_time = 0.;
      report.handover_time = report.device_memory = 0.;
      report.n_parts                              = 1;
      report.kernel_times.clear();
      report.coefficients.clear();
    }



    void
    add_pair(const AssemblyReport &pair, AssemblyReport &report)
    {
      report.device_kernels = pair.device_kernels;
      report.kernel_time += pair.kernel_time;
      report.upload_time += pair.upload_time;
      report.download_time += pair.download_time;
      report.bytes_uploaded += pair.bytes_uploaded;
      report.bytes_downloaded += pair.bytes_downloaded;
      report.preparation_time += pair.preparation_time;
      report.tabulation_time += pair.tabulation_time;
      report.handover_time += pair.handover_time;
      report.device_memory += pair.device_memory;
      report.n_parts       = std::max(report.n_parts, pair.n_parts);
      report.geometry_time = std::max(report.geometry_time, pair.geometry_time);
      report.kernel_times.insert(report.kernel_times.end(),
                                 pair.kernel_times.begin(),
                                 pair.kernel_times.end());
      if (report.coefficients.find(pair.coefficients) == std::string::npos)
        report.coefficients +=
          (report.coefficients.empty() ? "" : "; ") + pair.coefficients;
    }



    template std::vector<SystemPair<2>>
    prepare_pairs(const SystemForm<2> &,
                  const unsigned int,
                  const unsigned int);
    template std::vector<SystemPair<3>>
    prepare_pairs(const SystemForm<3> &,
                  const unsigned int,
                  const unsigned int);
    template std::vector<SystemPair<4>>
    prepare_pairs(const SystemForm<4> &,
                  const unsigned int,
                  const unsigned int);
    template bool
    leaves_zeros(const std::vector<SystemPair<2>> &, const unsigned int);
    template bool
    leaves_zeros(const std::vector<SystemPair<3>> &, const unsigned int);
    template bool
    leaves_zeros(const std::vector<SystemPair<4>> &, const unsigned int);
  } // namespace internal
} // namespace Tessella
