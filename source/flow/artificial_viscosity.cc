// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/mpi.h>

#include <tessella/flow/artificial_viscosity.h>
#include <tessella/operators/pointwise_operator.h>

#include <algorithm>
#include <cmath>

#include "../../cuda/flow/shock_sensor.h"
#include "../lac/block_space.h"

namespace Tessella
{
  namespace Flow
  {
    using namespace dealii;

    namespace
    {
      /// Coefficient of the constant one on polytope @p k.
      template <int dim>
      double
      unit(const PolytopicMesh<dim> &mesh, const unsigned int k)
      {
        double box = 1.;
        for (int d = 0; d < dim; ++d)
          box *= mesh.box[2 * dim * k + dim + d] - mesh.box[2 * dim * k + d];
        return std::sqrt(box);
      }

      /// Copies the volume and the mean values of the basis functions of each
      /// polytope.
      template <int dim>
      struct CopyMeans
      {
        const std::vector<std::uint64_t> &dof_offset;
        std::vector<double>              &measure, &basis_mean;

        double
        operator()(const PolytopeStencil<dim> &s, double *) const
        {
          measure[s.polytope] = s.measure;
          std::copy_n(s.basis_mean,
                      s.n_basis,
                      basis_mean.begin() +
                        dof_offset[s.polytope] / s.n_components);
          return 0.;
        }
      };
    } // namespace



    template <int dim>
    struct ArtificialViscosity<dim>::DeviceData
    {
      DeviceData(const AgglomerationHandler<dim> &handler,
                 PolytopewiseOperator<dim>       &polytopewise)
      {
        // Means of the basis functions do not depend on the flow.
        AssemblyParameters on_host;
        on_host.backend = Backend::host;
        HostVector<double> zero;
        PointwiseOperator<dim>(handler, on_host).reinit(zero);
        const PolytopicDoFs              &dofs = handler.polytopic_dofs();
        const PolytopicMesh<dim>         &mesh = handler.polytopic_mesh();
        const unsigned int                n    = mesh.n_owned_polytopes();
        std::vector<double>               volumes(n), units(n);
        std::vector<double>               means(dofs.dof_offset[n] / (dim + 2));
        const std::vector<std::uint64_t> &offset = dofs.dof_offset;
        const LinearAlgebra::distributed::Vector<double> &coefficients = zero;
        polytopewise.evaluate(CopyMeans<dim>{offset, volumes, means},
                              coefficients);
        for (unsigned int k = 0; k < n; ++k)
          units[k] = unit(mesh, k);
        internal::device_call([&]() {
          measure.assign(volumes);
          units_of_boxes.assign(units);
          basis_mean.assign(means);
          dof_offset.assign(offset);
          degree.assign(dofs.degree);
          n_basis.assign(dofs.n_basis);
          arrays = {n,
                    dof_offset.data(),
                    degree.data(),
                    n_basis.data(),
                    measure.data(),
                    units_of_boxes.data(),
                    basis_mean.data()};
        });
      }

      template <typename T>
      using Array = internal::DeviceSpaceArray<T>;
      Array<double>                  measure, units_of_boxes, basis_mean;
      Array<std::uint64_t>           dof_offset;
      Array<unsigned int>            degree, n_basis;
      internal::Device::SensorArrays arrays;
      DeviceVector<double>           slopes;
    };



    template <int dim>
    ArtificialViscosity<dim>::ArtificialViscosity(
      const AgglomerationHandler<dim> &handler,
      const ShockSensor<dim>          &sensor,
      const bool                       exact)
      : exact(exact)
      , handler(handler)
      , sensor(sensor)
      , polytopewise(handler)
    {}



    template <int dim>
    ArtificialViscosity<dim>::~ArtificialViscosity() = default;



    template <int dim>
    void
    ArtificialViscosity<dim>::compute(const HostVector<double> &u,
                                      HostVector<double>       &viscosity)
    {
      const std::vector<std::uint64_t> &offset =
        handler.polytopic_dofs().dof_offset;
      slopes                                                   = u;
      LinearAlgebra::distributed::Vector<double> &coefficients = slopes;
      values = polytopewise.apply(sensor, coefficients);
      for (unsigned int k = 0; k < values.size(); ++k)
        {
          const double factor        = unit(handler.polytopic_mesh(), k);
          viscosity.local_element(k) = values[k] * factor;
          for (std::uint64_t i = offset[k]; i < offset[k + 1]; ++i)
            slopes.local_element(i) *= factor;
        }
    }



    template <int dim>
    void
    ArtificialViscosity<dim>::compute(const DeviceVector<double> &u,
                                      DeviceVector<double>       &viscosity)
    {
      if (on_device == nullptr)
        {
          on_device = std::make_unique<DeviceData>(handler, polytopewise);
          on_device->slopes.reinit(u);
        }
      internal::device_call([&]() {
        internal::Device::evaluate_sensor(on_device->arrays,
                                          sensor,
                                          u.begin(),
                                          on_device->slopes.begin(),
                                          viscosity.begin());
      });
    }



    namespace
    {
      constexpr char needs_compute[] =
        "The derivative of the artificial viscosity needs a call of compute() "
        "with vectors of the same memory before.";
    }



    template <int dim>
    void
    ArtificialViscosity<dim>::apply_derivative(
      const HostVector<double> &direction, HostVector<double> &change) const
    {
      AssertThrow(values.size() == handler.n_polytopes(),
                  ExcMessage(needs_compute));
      const std::vector<std::uint64_t> &offset =
        handler.polytopic_dofs().dof_offset;
      for (unsigned int k = 0; k < values.size(); ++k)
        {
          double sum = 0.;
          for (std::uint64_t i = offset[k]; i < offset[k + 1]; ++i)
            sum += slopes.local_element(i) * direction.local_element(i);
          change.local_element(k) = sum;
        }
    }



    template <int dim>
    void
    ArtificialViscosity<dim>::apply_derivative(
      const DeviceVector<double> &direction, DeviceVector<double> &change) const
    {
      AssertThrow(on_device != nullptr, ExcMessage(needs_compute));
      internal::device_call([&]() {
        internal::Device::apply_sensor_derivative(on_device->arrays,
                                                  on_device->slopes.begin(),
                                                  direction.begin(),
                                                  change.begin());
      });
    }



    template <int dim>
    const DeviceVector<double> &
    ArtificialViscosity<dim>::device_derivative() const
    {
      AssertThrow(on_device != nullptr, ExcMessage(needs_compute));
      return on_device->slopes;
    }



    template <int dim>
    std::pair<double, unsigned int>
    ArtificialViscosity<dim>::extent() const
    {
      double       largest = 0.;
      unsigned int n       = 0;
      for (const double value : values)
        {
          largest = std::max(largest, value);
          n += value != 0.;
        }
      return {Utilities::MPI::max(largest, handler.get_communicator()),
              Utilities::MPI::sum(n, handler.get_communicator())};
    }



    template class ArtificialViscosity<2>;
    template class ArtificialViscosity<3>;
  } // namespace Flow
} // namespace Tessella
