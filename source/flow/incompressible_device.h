// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_flow_incompressible_device_h
#define tessella_source_flow_incompressible_device_h

#include <tessella/grid/agglomeration_handler.h>
#include <tessella/lac/block_preconditioners.h>
#include <tessella/lac/device_vector.h>
#include <tessella/lac/host_vector.h>
#include <tessella/numerics/mass_matrix.h>
#include <tessella/time_stepping/time_state.h>

#include <cstdint>
#include <vector>

// Parts of IncompressibleFlow that a CUDA device needs instead of those of the
// host. Block rows of their matrices are components of polytopes, so that
// matrices of all components make one product.

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

      /// Block rows of @p n_components components of each polytope, coupled
      /// with the same component of other polytopes.
      struct ComponentRows
      {
        /// @p sparsity and @p dof_offset are those of one component.
        ComponentRows(const BlockSparsity              &sparsity,
                      const std::vector<std::uint64_t> &dof_offset,
                      const unsigned int                n_components);

        BlockSparsity              sparsity;
        std::vector<std::uint64_t> dof_offset;
      };

      /// Structure of diagonal blocks alone.
      BlockSparsity
      diagonal_sparsity(const std::vector<std::uint64_t> &dof_offset);

      /// MassMatrix for vectors on a device: one block for each component of a
      /// polytope, and the inverses.
      template <int dim>
      class DeviceMass
      {
      public:
        explicit DeviceMass(const AgglomerationHandler<dim> &handler);

        /// Sets @p vector to factor M^{-1} vector.
        void
        apply_inverse(const double factor, DeviceVector<double> &vector) const;
        /// Adds factor M src to @p dst.
        void
        vmult_add(const double                factor,
                  DeviceVector<double>       &dst,
                  const DeviceVector<double> &src) const;
        /// Adds factor M to @p matrix, which is in the memory of the host.
        void
        add_to(const double factor, HostBlockMatrix<double> &matrix) const
        {
          mass.add_to(factor, matrix);
        }

      private:
        const MassMatrix<dim>                  mass;
        DeviceBlockMatrix<double>              matrix;
        BlockJacobi<DeviceBlockMatrix<double>> inverse;
        mutable DeviceVector<double>           work;
      };

      /// Inverses of blocks of polytopes as a preconditioner on a device.
      class DeviceBlockInverses
      {
      public:
        /// Makes room for all blocks.
        void
        reinit(const PolytopicDoFs &dofs, const unsigned int n_polytopes);
        /// Sends @p blocks, one after the other, and inverts them, unless no
        /// entry of @p changed is set.
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
