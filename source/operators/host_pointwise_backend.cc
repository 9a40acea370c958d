// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "host_pointwise_backend.h"

#include <deal.II/base/multithread_info.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <iterator>
#include <mutex>
#include <vector>

#include "../../cuda/lac/vector.h"
#include "../backends/host_dispatch.h"
#include "../device/device_call.h"
#include "host_block_kernels.h"

namespace Tessella
{
  namespace internal
  {
    namespace
    {
      HostBlockKernels::AddBlock
      select_block_kernel(const InstructionSet instruction_set)
      {
        switch (instruction_set == InstructionSet::automatic
                  ? best_instruction_set()
                  : instruction_set)
          {
#ifdef TESSELLA_HAVE_AVX512
            case InstructionSet::avx512:
              return HostBlockKernels::avx512();
#endif
#ifdef TESSELLA_HAVE_AVX2
            case InstructionSet::avx2:
              return HostBlockKernels::avx2();
#endif
            default:
              return HostBlockKernels::plain();
          }
      }

      // Zero times a value that is not finite is not a number. Several sums do
      // not wait for each other.
      bool
      all_finite(const double *values, const std::size_t n)
      {
        constexpr unsigned int n_sums       = 8;
        double                 sums[n_sums] = {};
        std::size_t            i            = 0;
        for (; i + n_sums <= n; i += n_sums)
          for (unsigned int s = 0; s < n_sums; ++s)
            sums[s] += 0. * values[i + s];
        for (; i < n; ++i)
          sums[0] += 0. * values[i];
        return std::all_of(sums, sums + n_sums, [](const double sum) {
          return sum == 0.;
        });
      }

      // Whether all derivatives in block row k of a Jacobian are finite. A
      // derivative is a factor of all entries of the sub-block of its pair of
      // components, so that the first entry of each sub-block tells.
      bool
      derivatives_finite(const unsigned int   k,
                         const PolytopicDoFs &dofs,
                         const BlockSparsity &blocks,
                         const double        *row)
      {
        const unsigned int m   = dofs.n_components;
        double             sum = 0.;
        for (unsigned int c = 0; c < m; ++c)
          {
            const double *const first =
              row + c * dofs.n_basis[k] * std::size_t(blocks.row_width[k]);
            for (auto b = blocks.block_offset[k];
                 b < blocks.block_offset[k + 1];
                 ++b)
              {
                const unsigned int  n    = dofs.n_basis[blocks.block_column[b]];
                const double *const from = first + blocks.column_offset[b];
                for (unsigned int e = 0; e < m; ++e)
                  sum += 0. * from[e * n];
              }
          }
        return sum == 0.;
      }

      // First polytope whose result is not finite, whatever the order is in
      // which threads find them.
      class FirstWrong
      {
      public:
        void
        check(const unsigned int k, const bool is_finite)
        {
          if (is_finite)
            return;
          unsigned int present = first;
          while (k < present && !first.compare_exchange_weak(present, k))
            ;
        }

        bool
        found() const
        {
          return first != invalid_index;
        }
        unsigned int
        polytope() const
        {
          return first;
        }

      private:
        std::atomic<unsigned int> first{invalid_index};
      };
    } // namespace



    template <int dim>
    std::string
    HostPointwiseBackend<dim>::prepare(const PointwiseIntegrand<dim> &integrand,
                                       const PointwiseResultType      type)
    {
      reason.clear();
      uses_simplices = false;
      if (type != PointwiseResultType::vector)
        reason = "only residuals and tangents have kernels for simplices";
      else if (this->has_polytopes())
        reason = simplices.prepare(integrand.structure());
      return "";
    }



    template <int dim>
    std::string
    HostPointwiseBackend<dim>::choose_kernels(
      const std::string &why_not_simplices)
    {
      uses_simplices = why_not_simplices.empty();
      this->context.report.kernels =
        uses_simplices ? "affine simplices"
                       : "all polytopes, since " + why_not_simplices;
      return "";
    }



    template <int dim>
    void
    HostPointwiseBackend<dim>::update()
    {
      const PointwiseContext<dim> &context = this->context;
      if (revision == 0 || revision != context.quadrature_revision)
        {
          revision = 0;
          idle.clear();
          bases    = std::make_unique<OperatorBases<dim>>(context);
          rules    = std::make_unique<HostRules<dim>>(context.mesh(),
                                                   context.quadrature,
                                                   context.coefficient_order);
          revision = context.quadrature_revision;
        }
      update_lengths();
    }



    template <int dim>
    void
    HostPointwiseBackend<dim>::update_lengths()
    {
      const PointwiseContext<dim> &context = this->context;
      if (lengths_revision != 0 && lengths_revision == context.spaces_revision)
        return;
      lengths_revision = 0;
      lengths.clear();
      for (const double measure : context.mesh().measure)
        lengths.push_back(std::pow(measure, 1. / dim));
      lengths_revision = context.spaces_revision;
    }



    template <int dim>
    HostPointwiseProblem<dim>
    HostPointwiseBackend<dim>::problem(const Arguments &arguments)
    {
      update();
      const PointwiseContext<dim> &context = this->context;
      return {context,
              arguments.integrand,
              *bases,
              *rules,
              select_kernels<dim>(context.parameters.instruction_set),
              select_block_kernel(context.parameters.instruction_set),
              lengths,
              arguments.fields,
              arguments.field,
              arguments.direction};
    }



    template <int dim>
    template <typename Work>
    void
    HostPointwiseBackend<dim>::for_rows(
      const HostPointwiseProblem<dim> &problem,
      const typename Rows::Result      result,
      const Work                      &work)
    {
      std::mutex mutex;
      const auto take = [&]() {
        const std::lock_guard<std::mutex> lock(mutex);
        std::unique_ptr<Rows>             rows;
        const auto                        found =
          std::find_if(idle.rbegin(), idle.rend(), [&](const auto &given) {
            return given->fits(problem, result);
          });
        if (found != idle.rend())
          {
            rows = std::move(*found);
            idle.erase(std::next(found).base());
          }
        return rows;
      };
      for_polytopes(this->context.mesh().n_owned_polytopes(),
                    [&](const unsigned int begin, const unsigned int end) {
                      std::unique_ptr<Rows> rows = take();
                      if (rows == nullptr)
                        rows = std::make_unique<Rows>(problem, result);
                      else
                        rows->restart(problem);
                      for (unsigned int k = begin; k < end; ++k)
                        work(*rows, k);
                      problem.kernels.finish_streams();
                      const std::lock_guard<std::mutex> lock(mutex);
                      idle.push_back(std::move(rows));
                    });
      // Two kinds of problems at once have objects for all threads.
      const std::size_t n_kept = 2 * dealii::MultithreadInfo::n_threads();
      if (idle.size() > n_kept)
        idle.erase(idle.begin(), idle.end() - n_kept);
    }



    template <int dim>
    void
    HostPointwiseBackend<dim>::vector(const Arguments &arguments,
                                      double          *result)
    {
      if (!this->has_polytopes())
        return;
      const std::vector<std::uint64_t> &offset =
        this->context.test_dofs().dof_offset;
      FirstWrong wrong;
      const auto check = [&](const unsigned int k) {
        wrong.check(k,
                    all_finite(result + offset[k], offset[k + 1] - offset[k]));
      };
      if (uses_simplices)
        {
          update_lengths();
          simplices.compute(arguments, lengths, result);
          for_polytopes(this->context.mesh().n_owned_polytopes(),
                        [&](const unsigned int begin, const unsigned int end) {
                          for (unsigned int k = begin; k < end; ++k)
                            check(k);
                        });
        }
      else
        for_rows(problem(arguments),
                 Rows::Result::terms,
                 [&](Rows &rows, const unsigned int k) {
                   rows.compute_vector(k, result + offset[k]);
                   check(k);
                 });
      if (wrong.found())
        Rows(problem(arguments), Rows::Result::terms)
          .throw_not_finite(wrong.polytope(), nullptr);
    }



    template <int dim>
    void
    HostPointwiseBackend<dim>::jacobian(const Arguments              &arguments,
                                        const AssemblyTarget<double> &target)
    {
      if (!this->has_polytopes())
        return;
      const BlockSparsity &blocks =
        this->context.structures[this->context.test].blocks;
      const auto first = [&](const unsigned int k) {
        return blocks.value_offset[k];
      };
      std::vector<double> values;
      double             *to = target.host_values;
      if (target.device_values != nullptr)
        {
          values.resize(blocks.n_nonzero_elements());
          to = values.data();
        }
      const HostPointwiseProblem<dim> present = problem(arguments);
      FirstWrong                      wrong;
      const auto compute = [&](Rows &rows, const unsigned int k, double *row) {
        rows.compute_block_row(k, blocks, row);
        wrong.check(
          k, derivatives_finite(k, this->context.test_dofs(), blocks, row));
      };
      // A matrix that no cache holds is written without being read first.
      constexpr std::size_t cached = 1u << 22;
      if (to != nullptr && blocks.n_nonzero_elements() > cached)
        for_rows(present,
                 Rows::Result::jacobian,
                 [&](Rows &rows, const unsigned int k) {
                   static thread_local std::vector<double> row;
                   row.resize(first(k + 1) - first(k));
                   compute(rows, k, row.data());
                   present.kernels.stream(row.data(),
                                          row.size(),
                                          to + first(k));
                 });
      else if (to != nullptr)
        for_rows(present,
                 Rows::Result::jacobian,
                 [&](Rows &rows, const unsigned int k) {
                   compute(rows, k, to + first(k));
                 });
      else
        for_rows(present,
                 Rows::Result::jacobian,
                 [&](Rows &rows, const unsigned int k) {
                   static thread_local std::vector<double> row;
                   row.resize(first(k + 1) - first(k));
                   compute(rows, k, row.data());
                   target.store_block_rows(k, k + 1, row.data());
                 });
      if (wrong.found())
        Rows(present, Rows::Result::jacobian)
          .throw_not_finite(wrong.polytope(), &blocks);
      if (target.device_values != nullptr)
        device_call([&] {
          Device::upload(target.device_values, values.data(), values.size());
        });
    }



    template <int dim>
    void
    HostPointwiseBackend<dim>::jacobian(const Arguments &arguments,
                                        float           *device_values)
    {
      const BlockSparsity &blocks =
        this->context.structures[this->context.test].blocks;
      std::vector<double>    values(blocks.n_nonzero_elements());
      AssemblyTarget<double> target;
      target.host_values = values.data();
      jacobian(arguments, target);
      const std::vector<float> rounded(values.begin(), values.end());
      device_call(
        [&] { Device::upload(device_values, rounded.data(), rounded.size()); });
    }



    template <int dim>
    void
    HostPointwiseBackend<dim>::add_chained_jacobian(
      const Arguments              &arguments,
      const double                 *derivative,
      const AssemblyTarget<double> &target)
    {
      AssertThrow(target.host_values != nullptr,
                  dealii::ExcMessage(
                    "The derivatives of a field that is a function of "
                    "others are added by the host to matrices in host "
                    "memory only: take Backend::cuda for matrices on "
                    "the device."));
      if (!this->has_polytopes())
        return;
      const MatrixStructure &test =
        this->context.structures[this->context.test];
      const BlockSparsity &columns =
        this->context.structures[arguments.field].blocks;
      const std::vector<std::uint64_t> &offset  = test.dof_offset;
      const auto                        is_used = [&](const unsigned int j) {
        return std::any_of(derivative + offset[j],
                           derivative + offset[j + 1],
                           [](const double d) { return d != 0.; });
      };
      const HostPointwiseProblem<dim> present = problem(arguments);
      FirstWrong                      wrong;
      for_rows(
        present, Rows::Result::jacobian, [&](Rows &rows, const unsigned int k) {
          const auto begin = columns.block_column.begin();
          if (std::none_of(begin + columns.block_offset[k],
                           begin + columns.block_offset[k + 1],
                           is_used))
            return;
          // One column for each block.
          static thread_local std::vector<double> row;
          const std::size_t n_rows  = offset[k + 1] - offset[k],
                            n_given = columns.row_width[k],
                            width   = test.blocks.row_width[k];
          row.resize(n_rows * n_given);
          rows.compute_block_row(k, columns, row.data());
          wrong.check(k, all_finite(row.data(), row.size()));
          double *const to = target.host_values + test.blocks.value_offset[k];
          for (std::uint64_t b = columns.block_offset[k];
               b < columns.block_offset[k + 1];
               ++b)
            {
              const unsigned int  j = columns.block_column[b];
              const double *const d = derivative + offset[j];
              const std::size_t
                n     = offset[j + 1] - offset[j],
                first = test.blocks.column_offset[test.blocks.find_block(k, j)];
              for (std::size_t r = 0; r < n_rows; ++r)
                {
                  const double factor =
                    row[r * n_given + columns.column_offset[b]];
                  if (factor != 0.)
                    for (std::size_t c = 0; c < n; ++c)
                      to[r * width + first + c] += factor * d[c];
                }
            }
        });
      if (wrong.found())
        Rows(present, Rows::Result::jacobian)
          .throw_not_finite(wrong.polytope(), &columns);
    }



    template <int dim>
    void
    HostPointwiseBackend<dim>::diagonal_blocks(const Arguments &arguments,
                                               double          *blocks)
    {
      if (!this->has_polytopes())
        return;
      const std::vector<std::uint64_t> &offset =
        this->context.test_dofs().dof_offset;
      std::vector<std::uint64_t> begin(1, 0);
      for (unsigned int k = 0; k < this->context.mesh().n_owned_polytopes();
           ++k)
        begin.push_back(begin.back() + (offset[k + 1] - offset[k]) *
                                         (offset[k + 1] - offset[k]));
      const HostPointwiseProblem<dim> present = problem(arguments);
      FirstWrong                      wrong;
      for_rows(
        present, Rows::Result::jacobian, [&](Rows &rows, const unsigned int k) {
          rows.compute_diagonal_block(k, blocks + begin[k]);
          wrong.check(k,
                      all_finite(blocks + begin[k], begin[k + 1] - begin[k]));
        });
      if (wrong.found())
        Rows(present, Rows::Result::jacobian)
          .throw_not_finite(wrong.polytope(), nullptr);
    }



    template <int dim>
    void
    HostPointwiseBackend<dim>::integrals(const Arguments      &arguments,
                                         const PointwiseRegion region,
                                         double               *integrals)
    {
      const std::size_t m = arguments.integrand.structure().n_components;
      const bool        on_boundary = region == PointwiseRegion::boundary_facet;
      if (on_boundary)
        std::fill_n(integrals,
                    m * this->context.mesh().polytope_interface.size(),
                    0.);
      if (this->has_polytopes())
        for_rows(problem(arguments),
                 Rows::Result::terms,
                 [&](Rows &rows, const unsigned int k) {
                   if (on_boundary)
                     rows.compute_boundary_integrals(k, integrals);
                   else
                     rows.compute_volume_integrals(k, integrals + k * m);
                 });
    }



    template class HostPointwiseBackend<2>;
    template class HostPointwiseBackend<3>;
  } // namespace internal
} // namespace Tessella
