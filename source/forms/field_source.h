// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_forms_field_source_h
#define tessella_source_forms_field_source_h

#include <deal.II/base/exceptions.h>

#include <tessella/base/on_all_processes.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/grid/revision.h>
#include <tessella/lac/device_vector.h>
#include <tessella/lac/host_vector.h>
#include <tessella/portable/legendre.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

#include "../base/collective.h"
#include "../lac/vector_access.h"

namespace Tessella
{
  namespace internal
  {
    template <int dim>
    class FieldSource;

    /// Given to DiscreteField in place of a vector, so that the components of a
    /// function share the copies.
    template <int dim>
    using SharedFieldSource = std::shared_ptr<FieldSource<dim>>;

    /// Handler and vector of a discrete function, and the copies that
    /// DiscreteField and DiscreteFunction need of the vector.
    template <int dim>
    class FieldSource
    {
    public:
      template <typename VectorType>
      FieldSource(const AgglomerationHandler<dim> &handler,
                  const VectorType                &vector)
        : handler(handler)
        , is_distributed(
            !std::is_same<VectorType, dealii::Vector<double>>::value)
      {
        if constexpr (std::is_same<VectorType, DeviceVector<double>>::value)
          device_vector = &vector;
        else
          host_vector = [&vector](const std::size_t n) {
            return vector_data(vector, n);
          };
      }

      const AgglomerationHandler<dim> &handler;

      /// Reads the present values of the vector.
      void
      prepare()
      {
        const PolytopicDoFs &dofs = handler.polytopic_dofs();
        largest_degree =
          dofs.degree.empty()
            ? 0
            : *std::max_element(dofs.degree.begin(), dofs.degree.end());
        // All processes take the same order of quadrature.
        if (has_ghosts())
          largest_degree =
            dealii::Utilities::MPI::max(largest_degree,
                                        handler.get_communicator());
        const bool tensor_product =
          handler.polynomial_space() == PolynomialSpaceType::tensor_product;
        function_exponents.resize(
          dim * Legendre::n_functions(dim, largest_degree, tensor_product));
        Legendre::exponents(dim,
                            largest_degree,
                            tensor_product,
                            function_exponents.data());
        copied   = false;
        revision = present_revision();
        if (has_ghosts())
          {
            AssertThrow(is_distributed,
                        dealii::ExcMessage(
                          "A discrete field on a mesh that is "
                          "distributed over processes needs a "
                          "distributed vector, such as "
                          "LinearAlgebra::distributed::Vector."));
            copy_with_ghosts();
          }
      }

      unsigned int
      degree() const
      {
        return largest_degree;
      }

      /// Exponents of the space of the largest degree; those of lower degrees
      /// are a prefix.
      const unsigned char *
      exponents() const
      {
        return function_exponents.data();
      }

      /// Entries of the vector, with those of ghosts, on the host.
      const double *
      host_values()
      {
        if (host_vector && !copied)
          return host_vector(handler.n_dofs());
        if (!copied)
          {
            const std::lock_guard<std::mutex> lock(mutex);
            if (!copied)
              {
                check_device_vector();
                device_vector->copy_to(copy);
                copied = true;
              }
          }
        return copy.data();
      }

      /// The same on the device; null if the vector is on the host. The values
      /// of ghosts are on the host, so that there are none with ghosts.
      const double *
      device_values() const
      {
        if (device_vector == nullptr || has_ghosts())
          return nullptr;
        check_device_vector();
        return device_vector->begin();
      }

      /// Calls function(q, k) for points in given sub-cells, with the polytopes
      /// k. Throws if the space has changed since prepare().
      template <typename Function>
      void
      for_points(const unsigned int  n_points,
                 const unsigned int *subcell,
                 const Function     &function) const
      {
        AssertThrow(revision == present_revision(),
                    dealii::ExcMessage(
                      "A discrete function is evaluated whose handler has got "
                      "other polytopes or degrees of freedom: call prepare() "
                      "after distribute_dofs()."));
        const auto  &offset = handler.polytopic_mesh().subcell_offset;
        unsigned int k      = 0;
        for (unsigned int q = 0; q < n_points; ++q)
          {
            if (q == 0 || subcell[q] < offset[k] || subcell[q] >= offset[k + 1])
              k = static_cast<unsigned int>(
                std::upper_bound(offset.begin(), offset.end(), subcell[q]) -
                offset.begin() - 1);
            function(q, k);
          }
      }

    private:
      SpaceRevision
      present_revision() const
      {
        return {handler.polytopic_mesh().revision,
                handler.polytopic_dofs().revision};
      }

      /// Whether the handler may have polytopes of other processes.
      bool
      has_ghosts() const
      {
        return n_processes(handler.get_communicator()) > 1;
      }

      /// One exchange fetches the values of other processes on ghosts.
      void
      copy_with_ghosts()
      {
        on_all_processes(handler.get_communicator(), [&]() {
          const std::size_t n = handler.n_locally_owned_dofs();
          AssertThrow(!handler.polytopic_dofs().dof_offset.empty(),
                      dealii::ExcMessage(
                        "A discrete field needs a handler with degrees "
                        "of freedom: call distribute_dofs() first."));
          if (device_vector != nullptr)
            {
              check_device_vector();
              device_vector->copy_to(copy);
            }
          else
            {
              const double *const u = host_vector(n);
              copy.assign(u, u + n);
            }
        });
        copy.resize(handler.polytopic_dofs().dof_offset.back());
        handler.exchange_dof_values(copy);
        copied = true;
      }

      void
      check_device_vector() const
      {
        const std::size_t n = handler.n_locally_owned_dofs();
        AssertThrow(device_vector->locally_owned_size() == n,
                    dealii::ExcMessage(
                      "The vector has " +
                      std::to_string(device_vector->locally_owned_size()) +
                      " entries, but the handler has " + std::to_string(n) +
                      " degrees of freedom; reinit() it with n_dofs()."));
      }

      /// Returns the entries of the vector on the host, after a check that
      /// there are as many as the argument says. Not set for a vector on the
      /// device.
      std::function<const double *(const std::size_t)> host_vector;
      const DeviceVector<double>                      *device_vector = nullptr;
      /// Whether the vector may be distributed over processes.
      const bool is_distributed;

      /// The space of the last prepare(), to which the members below belong.
      SpaceRevision              revision;
      unsigned int               largest_degree = 0;
      std::vector<unsigned char> function_exponents;
      /// Copy on the host of a vector on the device, made on first use, or of a
      /// distributed vector, with the entries of ghosts.
      std::vector<double> copy;
      std::atomic<bool>   copied{false};
      std::mutex          mutex;
    };
  } // namespace internal
} // namespace Tessella

#endif
