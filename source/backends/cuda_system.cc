// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "cuda_system.h"

#include <deal.II/base/exceptions.h>

#include <algorithm>
#include <cstddef>

#include "../../cuda/backends/system_launcher.h"
#include "../../cuda/lac/vector.h"
#include "../device/device_call.h"
#include "cuda_backend.h"
#include "host_dispatch.h"

namespace Tessella
{
  namespace internal
  {
    namespace
    {
      /// Memory of the device for results that belong into that of the host.
      template <typename Number>
      class DeviceResults
      {
      public:
        DeviceResults()                      = default;
        DeviceResults(const DeviceResults &) = delete;
        DeviceResults &
        operator=(const DeviceResults &) = delete;
        ~DeviceResults()
        {
          Device::release(memory);
        }

        Number *
        allocate(const std::size_t n)
        {
          memory = Device::allocate<Number>(n);
          return memory;
        }

      private:
        Number *memory = nullptr;
      };



      /// Copies block rows to the function of a target, piece by piece.
      template <typename Number>
      void
      store_rows(const BlockSparsity          &blocks,
                 const Number                 *values,
                 const AssemblyTarget<Number> &target)
      {
        constexpr std::uint64_t piece  = std::uint64_t(1) << 24;
        const auto             &offset = blocks.value_offset;
        const unsigned int      n      = offset.size() - 1;
        std::vector<Number>     buffer;
        for (unsigned int begin = 0, end; begin < n; begin = end)
          {
            end = std::upper_bound(offset.begin() + begin + 2,
                                   offset.end(),
                                   offset[begin] + piece) -
                  offset.begin() - 1;
            buffer.resize(offset[end] - offset[begin]);
            device_call([&] {
              Device::VectorOperations<Number>::download(buffer.size(),
                                                         values + offset[begin],
                                                         buffer.data());
            });
            for_polytopes(end - begin,
                          [&](const unsigned int b, const unsigned int e) {
                            target.store_block_rows(begin + b,
                                                    begin + e,
                                                    buffer.data() +
                                                      (offset[begin + b] -
                                                       offset[begin]));
                          });
          }
      }
    } // namespace



    template <int dim>
    CUDASystem<dim>::CUDASystem(AssemblyContext<dim> &context)
      : context(context)
    {}



    template <int dim>
    CUDASystem<dim>::~CUDASystem() = default;



    template <int dim>
    void
    CUDASystem<dim>::update_space()
    {
      if (context.revision().is_known() && revision == context.revision())
        return;
      present.clear();
      spaces.clear();
      const unsigned int n_components = context.space->n_components();
      spaces.reserve(n_components);
      for (unsigned int c = 0; c < n_components; ++c)
        spaces.emplace_back(*context.space, c);
      revision = context.revision();
    }



    template <int dim>
    typename CUDASystem<dim>::Pair &
    CUDASystem<dim>::get(const SystemPair<dim> &pair, const std::size_t n_pairs)
    {
      AssemblyParameters parameters = context.parameters;
      parameters.backend            = Backend::cuda;
      parameters.device_memory /= n_pairs;
      std::unique_ptr<Pair> &entry = present[{pair.test, pair.trial}];
      if (entry == nullptr)
        {
          entry = std::make_unique<Pair>(spaces[pair.test], parameters);
          MatrixStructure &structure = entry->context.structure;
          structure.blocks           = pair_sparsity(context.structure.blocks,
                                           context.dofs(),
                                           pair.test,
                                           pair.trial);
          structure.dof_offset = spaces[pair.test].polytopic_dofs().dof_offset;
          structure.n_owned_polytopes = context.structure.n_owned_polytopes;
          structure.n_owned_rows      = context.structure.n_owned_rows;
          structure.n_dofs            = context.structure.n_dofs;
          entry->backend              = make_assembly_backend(entry->context);
        }
      entry->context.parameters = parameters;
      return *entry;
    }



    template <int dim>
    template <typename Number>
    void
    CUDASystem<dim>::assemble(const SystemForm<dim>        &system,
                              const AssemblyTarget<Number> &target)
    {
      const MatrixStructure       &structure = context.structure;
      std::vector<SystemPair<dim>> pairs;
      structure.on_all_processes([&]() {
        const unsigned int n = context.space->n_components();
        pairs                = prepare_pairs(system, n, n);
        update_space();
      });

      DeviceResults<Number> values_memory, rhs_memory;
      Number           *values = target.device_values, *rhs = target.device_rhs;
      const std::size_t n_values = structure.blocks.n_nonzero_elements(),
                        n_rows   = structure.n_owned_rows;
      structure.on_all_processes([&]() {
        device_call([&] {
          if (target.has_matrix() && values == nullptr)
            values = values_memory.allocate(n_values);
          if (target.has_rhs() && rhs == nullptr)
            rhs = rhs_memory.allocate(n_rows);
          using Operations = Device::VectorOperations<Number>;
          if (values != nullptr &&
              leaves_zeros(pairs, context.space->n_components()))
            Operations::set_zero(n_values, values);
          if (rhs != nullptr)
            Operations::set_zero(n_rows, rhs);
        });
      });
      ConstantSystemTerms<dim> terms;
      const bool               constant =
        target.has_matrix() && has_constant_terms(system, terms);
      assemble_pairs(pairs, constant ? &terms : nullptr, values, rhs);
      structure.on_all_processes([&]() {
        using Operations = Device::VectorOperations<Number>;
        if (target.store_block_rows && n_values > 0)
          store_rows(structure.blocks, values, target);
        else if (target.host_values != nullptr)
          device_call([&] {
            Operations::download(n_values, values, target.host_values);
          });
        if (target.host_rhs != nullptr)
          device_call(
            [&] { Operations::download(n_rows, rhs, target.host_rhs); });
      });
    }



    template <int dim>
    bool
    CUDASystem<dim>::has_constant_terms(const SystemForm<dim>    &system,
                                        ConstantSystemTerms<dim> &terms) const
    {
      const PolytopicDoFs &dofs   = context.dofs();
      const unsigned int   degree = context.space->max_degree();
      bool                 found =
        dim < 4 && context.space->n_components() == dim && degree >= 1 &&
        degree <= Device::max_system_degree &&
        context.space->polynomial_space() ==
          PolynomialSpaceType::total_degree &&
        (subcell_types(context.mesh()) &
         ~(1u << static_cast<unsigned int>(SubCellType::simplex))) == 0 &&
        system.constant_terms(terms);
      for (const unsigned int p : dofs.degree)
        found = found && p == degree;
      // Processes without polytopes agree with all others.
      const bool         none  = dofs.degree.empty();
      const unsigned int least = dealii::Utilities::MPI::min(
                           none    ? Device::max_system_degree + 1
                           : found ? degree
                                   : 0u,
                           context.structure.communicator),
                         largest = dealii::Utilities::MPI::max(
                           none ? 0u : degree, context.structure.communicator);
      return least > 0 && least == largest;
    }



    template <int dim>
    template <typename Number>
    AssemblyTarget<Number>
    CUDASystem<dim>::target_of(const Pair &pair,
                               Number     *values,
                               Number     *rhs) const
    {
      // Pointers are to the first value of this pair.
      const MatrixStructure &structure = pair.context.structure;
      AssemblyTarget<Number> target;
      if (values != nullptr)
        target.device_values =
          values + (structure.n_owned_polytopes > 0
                      ? structure.blocks.value_offset.front()
                      : 0);
      if (rhs != nullptr)
        target.device_rhs = rhs + structure.dof_offset.front();
      return target;
    }



    template <int dim>
    template <typename Number>
    void
    CUDASystem<dim>::assemble_pairs(const std::vector<SystemPair<dim>> &pairs,
                                    const ConstantSystemTerms<dim>     *terms,
                                    Number                             *values,
                                    Number                             *rhs)
    {
      AssemblyReport &report = context.report;
      clear_pairs(report);
      if (terms != nullptr)
        {
          // The factory has made a CUDABackend, as the parameters demand.
          Pair      &scalar = get(pairs.front(), pairs.size());
          const auto target =
            target_of(scalar, values, static_cast<Number *>(nullptr));
          static_cast<CUDABackend<dim> &>(*scalar.backend)
            .assemble_constant_system(*terms, *pairs.front().form, target);
          add_pair(scalar.context.report, report);
          values = nullptr;
        }
      for (const SystemPair<dim> &pair : pairs)
        {
          Number *const f = pair.rhs ? rhs : nullptr;
          if (values == nullptr && f == nullptr)
            continue;
          Pair      &scalar = get(pair, pairs.size());
          const auto target = target_of(scalar, values, f);
          scalar.backend->assemble(*pair.form, &target);
          const std::string kernels = report.device_kernels;
          add_pair(scalar.context.report, report);
          if (terms != nullptr)
            report.device_kernels = kernels; // those of the matrix
        }
    }



#define TESSELLA_INSTANTIATE(dim)                                          \
  template class CUDASystem<dim>;                                          \
  template void CUDASystem<dim>::assemble(const SystemForm<dim> &,         \
                                          const AssemblyTarget<double> &); \
  template void CUDASystem<dim>::assemble(const SystemForm<dim> &,         \
                                          const AssemblyTarget<float> &)

    TESSELLA_INSTANTIATE(2);
    TESSELLA_INSTANTIATE(3);
    TESSELLA_INSTANTIATE(4);
#undef TESSELLA_INSTANTIATE
  } // namespace internal
} // namespace Tessella
