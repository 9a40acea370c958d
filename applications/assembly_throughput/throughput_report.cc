// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "throughput_report.h"

#include <algorithm>
#include <limits>
#include <string>

namespace Tessella
{
  namespace Application
  {
    namespace
    {
      constexpr double nan = std::numeric_limits<double>::quiet_NaN();

      double
      million(const ThroughputResult &result)
      {
        return 1e-6 * result.n_dofs;
      }

      bool
      on_device(const ThroughputResult &result)
      {
        return result.report.backend == Backend::cuda;
      }

      /// Whether the values end up in a matrix on the host.
      bool
      to_host(const ThroughputResult &result)
      {
        return result.execution.matrix == MatrixKind::trilinos ||
               result.execution.matrix == MatrixKind::sparse;
      }

      /// Minimum work of the kernels of a name. It is not finite for kernels
      /// whose work is unknown, such as sorting, searching and summation.
      struct KernelWork
      {
        double flops = nan, bytes = nan;
      };

      bool
      computes_blocks(const std::string &kernel)
      {
        return kernel.find("rows") != std::string::npos ||
               kernel.find("blocks") != std::string::npos ||
               kernel.find("tiles") != std::string::npos;
      }

      /// @p alone: no other kernel computes blocks of the matrix.
      KernelWork
      kernel_work(const std::string  &kernel,
                  const AssemblyWork &work,
                  const bool          alone)
      {
        const auto has = [&](const std::string &word) {
          return kernel.find(word) != std::string::npos;
        };
        // The kernel runs one thread per simplex.
        if (has("elements"))
          return {work.volume_flops,
                  work.diagonal_bytes + work.subcell_bytes +
                    work.volume_coefficient_bytes};
        if (has("interior facets"))
          return {work.interior_diagonal_flops + work.neighbor_flops,
                  work.neighbor_bytes + work.facet_bytes +
                    work.facet_coefficient_bytes};
        if (has("boundary facets"))
          return {work.boundary_flops, 0.};
        if (has("right-hand side"))
          return {0., work.rhs_bytes};
        if (computes_blocks(kernel) && alone)
          return {work.flops(), work.bytes() - work.rhs_bytes};
        return {};
      }
    } // namespace



    void
    ThroughputReport::set_rates(const DeviceRates &measured)
    {
      rates = measured;
    }

    void
    ThroughputReport::add(const ThroughputResult &result)
    {
      results.push_back(result);
    }

    bool
    ThroughputReport::empty() const
    {
      return results.empty();
    }

    bool
    ThroughputReport::has_kernels() const
    {
      return std::any_of(results.begin(), results.end(), on_device);
    }



    void
    ThroughputReport::start_row(TextTable              &table,
                                const ThroughputResult &result) const
    {
      const Execution &execution = result.execution;
      table.start_row();
      table.add("level", std::uint64_t(result.level));
      table.add("degree", std::uint64_t(result.degree));
      table.add("backend", name(result.report.backend));
      table.add("strategy", name(execution.strategy));
      table.add("matrix", name(execution.matrix));
      table.add("coefficients", name(execution.coefficients));
      table.add("order", std::uint64_t(result.coefficient_order));
      table.add("processes", std::uint64_t(result.n_processes));
      table.add("threads", std::uint64_t(execution.n_threads));
      table.add("instructions", name(execution.instruction_set));
    }

    void
    ThroughputReport::add_sizes(TextTable              &table,
                                const ThroughputResult &result) const
    {
      table.add("cells", result.n_cells);
      table.add("polytopes", result.n_polytopes);
      table.add("unknowns", result.n_dofs);
      table.add("entries", result.n_nonzero);
    }

    void
    ThroughputReport::add_times(TextTable              &table,
                                const ThroughputResult &result) const
    {
      const double M = million(result);
      table.add("mesh s", result.mesh);
      table.add("agglomeration s", result.agglomeration);
      table.add("handler us/cell", result.setup / result.n_cells * 1e6);
      table.add("structure s/M", result.structure / M);
      table.add("first s/M", result.first / M);
      table.add("total s/M", (result.structure + result.first) / M);
      table.add("assembly s/M", result.assembly / M);
      if (std::any_of(
            results.begin(), results.end(), [](const ThroughputResult &other) {
              return other.execution.coefficients == CoefficientKind::constant;
            }))
        {
          const ThroughputResult *constant = find_constant(result);
          table.add("x constant",
                    constant == nullptr ? nan
                                        : result.assembly / constant->assembly);
        }
      table.add("GFLOP/s", result.work.flops() / result.assembly * 1e-9);
      if (std::any_of(results.begin(),
                      results.end(),
                      [](const ThroughputResult &other) {
                        return other.report.compression.n_points > 0;
                      }))
        {
          const CompressionReport &rules = result.report.compression;
          const bool               made  = rules.n_points > 0;
          table.add("volume points",
                    std::uint64_t(result.work.n_volume_points));
          table.add("full rules", std::uint64_t(rules.n_full));
          table.add("rules s", made ? rules.time : nan);
          table.add("rules error", made ? rules.largest_error : nan);
        }
      table.add("memory", result.memory > 0. ? result.memory : nan);
    }

    const ThroughputResult *
    ThroughputReport::find_constant(const ThroughputResult &result) const
    {
      const Execution &wanted = result.execution;
      for (const ThroughputResult &other : results)
        {
          const Execution &execution = other.execution;
          if (execution.coefficients == CoefficientKind::constant &&
              other.level == result.level && other.degree == result.degree &&
              execution.backend == wanted.backend &&
              execution.strategy == wanted.strategy &&
              execution.n_threads == wanted.n_threads &&
              execution.instruction_set == wanted.instruction_set &&
              execution.matrix == wanted.matrix &&
              execution.coefficient_order == wanted.coefficient_order)
            return &other;
        }
      return nullptr;
    }



    void
    ThroughputReport::add_device(TextTable              &table,
                                 const ThroughputResult &result) const
    {
      const AssemblyReport &report = result.report;
      const double          scale  = 1e3 / million(result);
      const auto add = [&](const std::string &column, const double seconds) {
        table.add(column + " ms/M", seconds * scale);
      };
      add("preparation", report.preparation_time);
      add("tabulation", report.tabulation_time);
      add("upload", report.upload_time);
      add("kernels", report.kernel_time);
      add("download", report.download_time);
      add("hand-over", report.handover_time);
      add("assembly", result.assembly);
      const double copy = rates.download > 0. && to_host(result)
                            ? result.work.matrix_bytes() / rates.download
                            : nan;
      add("copy", copy);
      table.add("x copy", result.assembly / copy);
      add_rates(table,
                result,
                report.kernel_time,
                result.work.flops(),
                result.work.bytes());
      double own = nan;
      for (const ThroughputResult &other : results)
        if (on_device(other) && other.level == result.level &&
            other.degree == result.degree &&
            other.execution.matrix == result.execution.matrix &&
            other.execution.coefficients == result.execution.coefficients &&
            other.coefficient_order == result.coefficient_order &&
            other.execution.strategy == AssemblyStrategy::block_rows)
          own = other.report.kernel_time;
      table.add("x block_rows", report.kernel_time / own);
      table.add("device GB", report.device_memory * 1e-9);
      table.add("parts", std::uint64_t(report.n_parts));
      table.add("evaluation", report.coefficients);
      table.add("kernel", report.device_kernels);
    }

    void
    ThroughputReport::add_rates(TextTable              &table,
                                const ThroughputResult &result,
                                const double            seconds,
                                const double            flops,
                                const double            bytes) const
    {
      const double roofline =
        rates.flops > 0.
          ? std::max(flops / rates.flops, bytes / rates.bandwidth)
          : nan;
      table.add("kernel GFLOP/s", flops / seconds * 1e-9);
      table.add("kernel GB/s", bytes / seconds * 1e-9);
      table.add("roofline ms/M", roofline * 1e3 / million(result));
      table.add("x roofline", seconds / roofline);
    }

    TextTable
    ThroughputReport::kernels() const
    {
      TextTable table;
      for (const ThroughputResult &result : results)
        if (on_device(result))
          {
            const AssemblyReport &report = result.report;
            const auto            add    = [&](const KernelTime &kernel,
                                 const KernelWork &work) {
              start_row(table, result);
              table.add("kernel", kernel.name);
              table.add("ms/M", kernel.seconds * 1e3 / million(result));
              add_rates(table, result, kernel.seconds, work.flops, work.bytes);
            };
            // A single kernel that does everything has no time of its own.
            if (report.kernel_times.empty())
              add({report.device_kernels, report.kernel_time},
                  {result.work.flops(), result.work.bytes()});
            const bool alone =
              std::count_if(report.kernel_times.begin(),
                            report.kernel_times.end(),
                            [](const KernelTime &kernel) {
                              return computes_blocks(kernel.name);
                            }) == 1;
            for (const KernelTime &kernel : report.kernel_times)
              add(kernel, kernel_work(kernel.name, result.work, alone));
          }
      return table;
    }



    void
    ThroughputReport::print(std::ostream &out) const
    {
      TextTable cases, device;
      for (const ThroughputResult &result : results)
        {
          start_row(cases, result);
          add_sizes(cases, result);
          add_times(cases, result);
          if (on_device(result))
            {
              start_row(device, result);
              add_device(device, result);
            }
        }
      cases.print(out);
      if (!device.empty())
        {
          out << "\nOn the device:\n";
          device.print(out);
        }
      const TextTable kernel_table = kernels();
      if (!kernel_table.empty())
        {
          out << "\nKernels:\n";
          kernel_table.print(out);
        }
    }

    void
    ThroughputReport::write_csv(std::ostream &out) const
    {
      TextTable table;
      for (const ThroughputResult &result : results)
        {
          start_row(table, result);
          add_sizes(table, result);
          add_times(table, result);
          if (on_device(result))
            add_device(table, result);
        }
      table.write_csv(out);
    }
  } // namespace Application
} // namespace Tessella
