// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_flow_incompressible_device_h
#define tessella_source_flow_incompressible_device_h

#include <tessella/grid/agglomeration_handler.h>
#include <tessella/lac/block_preconditioners.h>
#include <tessella/lac/component_rows.h>
#include <tessella/lac/device_vector.h>
#include <tessella/lac/host_vector.h>
#include <tessella/numerics/device_mass_matrix.h>
#include <tessella/time_stepping/time_state.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "../lac/block_space.h"
#include "../lac/diagonal_blocks.h"

// Parts of IncompressibleFlow that a CUDA device needs instead of those of the
// host, and the distribution of matrices of all components over processes.

namespace Tessella
{
  namespace Flow
  {
    namespace internal
    {
      /// Vectors of the host and of a device as one another. Those of the host
      /// are passed on.
      inline const HostVector<double> &
      to_host(const HostVector<double> &vector, HostVector<double> &)
      {
        return vector;
      }
      /// @p copy has the size of the vector.
      inline const HostVector<double> &
      to_host(const DeviceVector<double> &vector, HostVector<double> &copy)
      {
        Tessella::internal::set_owned_entries(
          Tessella::internal::owned_entries(vector), copy);
        return copy;
      }
      inline void
      assign(const HostVector<double> &from, HostVector<double> &to)
      {
        to = from;
      }
      inline void
      assign(const HostVector<double> &from, DeviceVector<double> &to)
      {
        Tessella::internal::set_owned_entries(
          Tessella::internal::owned_entries(from), to);
      }

      /// result = sum of factors times vectors; at least one. The result is not
      /// one of them.
      inline void
      set_to_sum(
        const std::vector<std::pair<double, const DeviceVector<double> *>>
                             &terms,
        DeviceVector<double> &result)
      {
        using Operations = Tessella::internal::Device::VectorOperations<double>;
        result.reinit(*terms[0].second, true);
        // Two terms are one kernel.
        for (unsigned int i = 0; i < terms.size(); i += 2)
          {
            const bool pair = i + 1 < terms.size();
            Tessella::internal::device_call([&] {
              Operations::combine(result.locally_owned_size(),
                                  i > 0,
                                  terms[i].first,
                                  terms[i].second->begin(),
                                  pair ? terms[i + 1].first : 0.,
                                  pair ? terms[i + 1].second->begin() : nullptr,
                                  result.begin());
            });
          }
      }
      /// The same on the host.
      inline void
      set_to_sum(
        const std::vector<std::pair<double, const HostVector<double> *>> &terms,
        HostVector<double> &result)
      {
        result.equ(terms[0].first, *terms[0].second);
        for (unsigned int i = 1; i < terms.size(); ++i)
          result.add(terms[i].first, *terms[i].second);
      }

      /// The terms of set_to_sum() with the first @p n factors and vectors.
      template <typename VectorType>
      std::vector<std::pair<double, const VectorType *>>
      terms_of(const unsigned int                     n,
               const std::vector<double>             &factors,
               const std::vector<const VectorType *> &vectors)
      {
        std::vector<std::pair<double, const VectorType *>> result;
        for (unsigned int i = 0; i < n; ++i)
          result.emplace_back(factors[i], vectors[i]);
        return result;
      }

      using Tessella::internal::diagonal_sparsity;
      using Tessella::internal::partition_without_ghosts;

      /// Distribution of block rows over processes, null on one process, for
      /// ComponentRows of a space with ghosts: a matrix of the components of
      /// @p handler. Collective.
      template <int dim>
      std::shared_ptr<const BlockPartition>
      partition_of_components(const AgglomerationHandler<dim>  &handler,
                              const std::vector<std::uint64_t> &dof_offset);

      /// Inverses of blocks of polytopes as a preconditioner on a device.
      class DeviceBlockInverses
      {
      public:
        /// Makes room for all blocks. Collective.
        void
        reinit(const PolytopicDoFs &dofs,
               const unsigned int   n_polytopes,
               const MPI_Comm       communicator);
        /// Sends @p blocks, one after the other, and inverts them, unless no
        /// entry of @p changed is set on any process. Collective.
        void
        update(const std::vector<double> &blocks,
               const std::vector<char>   &changed);
        void
        vmult(DeviceVector<double> &dst, const DeviceVector<double> &src) const;

      private:
        DeviceBlockMatrix<double>              matrix;
        BlockJacobi<DeviceBlockMatrix<double>> inverse;
      };
    } // namespace internal
  }   // namespace Flow
} // namespace Tessella

#endif
