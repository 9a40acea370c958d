// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_operators_device_stencils_h
#define tessella_source_operators_device_stencils_h

#include <tessella/forms/polytopewise_function.h>
#include <tessella/lac/block_partition.h>
#include <tessella/portable/legendre.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "../../cuda/device/graph.h"
#include "../../cuda/operators/polytopewise.h"
#include "../device/device_call.h"
#include "../lac/block_space.h"
#include "stencil_geometry.h"

namespace Tessella
{
  namespace internal
  {
    /**
     * The stencils of all polytopes that this process owns in the memory of a
     * device, for one StencilGeometry, which must outlive the object. Functors
     * get the quadrature points in parts of the mesh, so that the values at
     * points need at most @p values_limit bytes, or what one polytope needs.
     */
    template <int dim>
    class DeviceStencils
    {
    public:
      /// Collective.
      explicit DeviceStencils(const StencilGeometry<dim> &geometry,
                              const std::size_t values_limit = std::size_t(1)
                                                               << 28);

      /// Number of parts, once a functor has used points.
      unsigned int
      n_parts() const
      {
        return parts.empty() ? 1 : parts.size() - 1;
      }

      /**
       * Calls a functor for all polytopes with the coefficients @p u of a
       * function, in device memory. Returns its results; @p target, which may
       * be
       * @p u, gets the changed coefficients unless it is null, and is left as
       * it is if there is an error. Collective.
       */
      std::vector<double>
      run(const PolytopewiseFunction<dim>     &function,
          const DevicePolytopewiseKernel<dim> &kernel,
          const double                        *u,
          double                              *target);

      /// Mean values of the function with coefficients @p u in device memory.
      /// Collective.
      std::vector<double>
      mean_values(const double *u);

    private:
      using Task = Device::PolytopewiseTask<dim>;

      /// Sends the arrays of the task.
      void
      send_geometry();
      /// Sends the points, unless they have been sent.
      void
      send_points();
      /// Sets the partition of mean values. Collective.
      void
      make_partition();
      /// Computes the mean values, those of ghosts included. Collective.
      void
      set_means(const double *u);
      /// Calls the functor, part by part if there are points.
      void
      launch(const bool                           point_values,
             const DevicePolytopewiseKernel<dim> &kernel);
      /// Throws for the first value that is not finite.
      void
      check_status() const;

      template <typename T>
      using Array = DeviceSpaceArray<T>;

      const StencilGeometry<dim> &geometry;
      const std::size_t           values_limit;
      const unsigned int          n; ///< polytopes of this process
      Task                        task = {};

      Array<unsigned int>  degree, n_basis;
      Array<std::uint64_t> first_dof, first_basis, first_interface, first_point;
      Array<double> box, measure, surface, centroid, basis_mean, basis_slope,
        coordinates[dim];
      Array<StencilInterface<dim>>      interfaces;
      Array<unsigned char>              exponents;
      Array<double>                     means, values, changed, results;
      Array<Device::PolytopewiseStatus> status;

      /// First polytope of each part of the mesh, and their number at the end.
      std::vector<unsigned int>             parts;
      std::shared_ptr<const BlockPartition> partition;
      std::unique_ptr<DeviceHalo<double>>   halo;
    };



    template <int dim>
    DeviceStencils<dim>::DeviceStencils(const StencilGeometry<dim> &geometry,
                                        const std::size_t values_limit)
      : geometry(geometry)
      , values_limit(values_limit)
      , n(geometry.mesh.n_owned_polytopes())
    {
      make_partition();
      on_all_processes(geometry.handler.get_communicator(),
                       [&]() { send_geometry(); });
    }



    template <int dim>
    void
    DeviceStencils<dim>::send_geometry()
    {
      const PolytopicMesh<dim> &mesh           = geometry.mesh;
      const PolytopicDoFs      &dofs           = geometry.dofs;
      const auto                first_of_owned = [&](const auto       &array,
                                      const std::size_t end) {
        return std::vector(array.begin(), array.begin() + end);
      };
      degree.assign(first_of_owned(dofs.degree, n));
      n_basis.assign(first_of_owned(dofs.n_basis, n));
      first_dof.assign(first_of_owned(dofs.dof_offset, n + 1));
      first_basis.assign(geometry.basis_offset);
      const auto &interface_offset = mesh.polytope_interface_offset;
      first_interface.assign(
        {interface_offset.begin(), interface_offset.begin() + n + 1});
      box.assign(first_of_owned(mesh.box, std::size_t(n) * 2 * dim));
      measure.assign(first_of_owned(mesh.measure, n));
      surface.assign(geometry.surface);
      centroid.assign(first_of_owned(geometry.centroid, std::size_t(n) * dim));
      basis_mean.assign(geometry.basis_mean);
      basis_slope.assign(geometry.basis_slope);
      interfaces.assign(geometry.interfaces);
      means.resize(std::size_t(mesh.n_polytopes()) * dofs.n_components);
      changed.resize(dofs.dof_offset[n]);
      results.resize(n);
      status.resize(1);

      task.n_components    = dofs.n_components;
      task.degree          = degree.data();
      task.n_basis         = n_basis.data();
      task.first_dof       = first_dof.data();
      task.first_basis     = first_basis.data();
      task.first_interface = first_interface.data();
      task.box             = box.data();
      task.measure         = measure.data();
      task.surface         = surface.data();
      task.centroid        = centroid.data();
      task.basis_mean      = basis_mean.data();
      task.basis_slope     = basis_slope.data();
      std::copy_n(geometry.linear, dim, task.linear);
      task.interfaces = interfaces.data();
      task.means      = means.data();
      task.changed    = changed.data();
      task.results    = results.data();
    }



    template <int dim>
    void
    DeviceStencils<dim>::send_points()
    {
      if (first_point.size() > 0)
        return;
      const unsigned int         m = geometry.dofs.n_components;
      QuadratureBatch<dim>       batch;
      std::vector<std::uint64_t> first(1, 0);
      std::vector<double>        x[dim];
      std::uint64_t              largest = 0;
      parts.assign(1, 0);
      for (unsigned int k = 0; k < n; ++k)
        {
          geometry.collect_points(k, batch);
          for (int d = 0; d < dim; ++d)
            x[d].insert(x[d].end(), batch.x[d].begin(), batch.x[d].end());
          first.push_back(first.back() + batch.size());
          if ((first.back() - first[parts.back()]) * m * sizeof(double) >
                values_limit &&
              k > parts.back())
            parts.push_back(k);
          largest = std::max(largest, first.back() - first[parts.back()]);
        }
      parts.push_back(n);
      for (int d = 0; d < dim; ++d)
        {
          coordinates[d].assign(x[d]);
          task.x[d] = coordinates[d].data();
        }
      values.resize(largest * m);
      const unsigned int         degree = geometry.handler.max_degree();
      const PolynomialSpaceType  space  = geometry.handler.polynomial_space();
      std::vector<unsigned char> table(
        dim * Legendre::n_functions(dim, degree, space));
      Legendre::exponents(dim, degree, space, table.data());
      exponents.assign(table);
      first_point.assign(first);
      task.first_point = first_point.data();
    }



    template <int dim>
    void
    DeviceStencils<dim>::make_partition()
    {
      const AgglomerationHandler<dim> &handler = geometry.handler;
      const MPI_Comm communicator              = handler.get_communicator();
      if (n_processes(communicator) == 1)
        return;
      // A block of the vector of mean values for each polytope. Indices are
      // exchanged as numbers, in which integers up to 2^53 are exact.
      const unsigned int n_all = geometry.mesh.n_polytopes(),
                         m     = geometry.dofs.n_components;
      const std::vector<std::uint64_t> on_process =
        dealii::Utilities::MPI::all_gather(communicator, std::uint64_t(n));
      std::uint64_t first = 0;
      for (unsigned int p = 0; p < this_process(communicator); ++p)
        first += on_process[p];
      std::vector<double> index(n_all);
      for (unsigned int k = 0; k < n; ++k)
        index[k] = static_cast<double>((first + k) * m);
      handler.exchange_polytope_values(index, 1);
      std::vector<std::uint64_t> offset, ghosts;
      for (unsigned int k = 0; k <= n_all; ++k)
        offset.push_back(std::uint64_t(k) * m);
      for (unsigned int k = n; k < n_all; ++k)
        ghosts.push_back(static_cast<std::uint64_t>(index[k]));
      partition =
        std::make_shared<const BlockPartition>(communicator, offset, n, ghosts);
      halo = std::make_unique<DeviceHalo<double>>(partition);
    }



    template <int dim>
    void
    DeviceStencils<dim>::set_means(const double *u)
    {
      on_all_processes(geometry.handler.get_communicator(), [&]() {
        task.coefficients = u;
        task.begin        = 0;
        task.end          = n;
        device_call([&] {
          Device::clear_status(status.data());
          Device::compute_means(task, means.data(), status.data());
        });
      });
      if (halo == nullptr)
        return;
      halo->start(means.data());
      const double *const ghosts = halo->finish();
      const std::size_t   owned  = partition->n_owned_rows();
      on_all_processes(geometry.handler.get_communicator(), [&]() {
        device_call([&] {
          Device::VectorOperations<double>::copy(partition->n_ghost_rows(),
                                                 ghosts,
                                                 means.data() + owned);
        });
      });
    }



    template <int dim>
    void
    DeviceStencils<dim>::launch(const bool point_values,
                                const DevicePolytopewiseKernel<dim> &kernel)
    {
      std::vector<unsigned int> all = {0, n};
      if (point_values)
        send_points();
      const std::vector<unsigned int> &list = point_values ? parts : all;
      task.values = point_values ? values.data() : nullptr;
      for (std::size_t i = 0; i + 1 < list.size(); ++i)
        {
          task.begin = list[i];
          task.end   = list[i + 1];
          if (task.begin == task.end)
            continue;
          device_call([&] {
            if (point_values)
              Device::evaluate_at_points(task,
                                         exponents.data(),
                                         geometry.handler.max_degree());
            const std::string error =
              kernel.launch(task, Device::current_stream());
            if (!error.empty())
              throw Device::Error(error);
          });
        }
    }



    template <int dim>
    void
    DeviceStencils<dim>::check_status() const
    {
      Device::PolytopewiseStatus found;
      device_call(
        [&] { Device::download_bytes(&found, status.data(), sizeof(found)); });
      const std::uint64_t none = Device::PolytopewiseStatus::all_finite;
      const unsigned int  m    = geometry.dofs.n_components;
      if (found.mean != none)
        throw_mean(found.mean / m, found.mean % m, geometry.handler);
      const auto &offset = geometry.dofs.dof_offset;
      if (found.coefficient != none)
        throw_coefficient(std::upper_bound(offset.begin(),
                                           offset.end(),
                                           found.coefficient) -
                            offset.begin() - 1,
                          geometry.handler);
    }



    template <int dim>
    std::vector<double>
    DeviceStencils<dim>::run(const PolytopewiseFunction<dim>     &function,
                             const DevicePolytopewiseKernel<dim> &kernel,
                             const double                        *u,
                             double                              *target)
    {
      using Operations = Device::VectorOperations<double>;
      set_means(u);
      std::vector<double> found(n);
      on_all_processes(geometry.handler.get_communicator(), [&]() {
        device_call(
          [&] { Operations::copy(changed.size(), u, changed.data()); });
        launch(function.point_values(), kernel);
        if (target != nullptr)
          device_call([&] {
            Device::check_coefficients(changed.size(),
                                       changed.data(),
                                       status.data());
          });
        check_status();
        device_call(
          [&] { Operations::download(n, results.data(), found.data()); });
      });
      // The function changes on no process if one of them has thrown. The
      // target is also null where a process has no degrees of freedom.
      on_all_processes(geometry.handler.get_communicator(), [&]() {
        if (target != nullptr)
          device_call(
            [&] { Operations::copy(changed.size(), changed.data(), target); });
      });
      return found;
    }



    template <int dim>
    std::vector<double>
    DeviceStencils<dim>::mean_values(const double *u)
    {
      set_means(u);
      std::vector<double> result(std::size_t(n) * geometry.dofs.n_components);
      on_all_processes(geometry.handler.get_communicator(), [&]() {
        check_status();
        device_call([&] {
          Device::VectorOperations<double>::download(result.size(),
                                                     means.data(),
                                                     result.data());
        });
      });
      return result;
    }
  } // namespace internal
} // namespace Tessella

#endif
