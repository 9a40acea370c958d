// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/multithread_info.h>
#include <deal.II/base/timer.h>

#include <tessella/base/exceptions.h>
#include <tessella/grid/revision.h>
#include <tessella/lac/device_vector.h>
#include <tessella/operators/polytopewise_operator.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>

#include "../base/vector_types.h"
#include "../lac/reproducible_sum.h"
#include "../numerics/function_batch.h"
#include "device_stencils.h"
#include "stencil_geometry.h"

namespace Tessella
{
  namespace
  {
    template <typename VectorType>
    constexpr bool in_device_memory =
      std::is_same_v<std::remove_const_t<VectorType>, DeviceVector<double>>;
  }



  template <int dim>
  struct PolytopewiseOperator<dim>::Implementation
  {
    Implementation(const AgglomerationHandler<dim> &handler,
                   const unsigned int               extra_order)
      : handler(handler)
      , extra_order(extra_order)
    {}

    /// Computes the geometry unless it is that of the present mesh and space.
    void
    update()
    {
      internal::check_handler(handler);
      const SpaceRevision present = {handler.polytopic_mesh().revision,
                                     handler.polytopic_dofs().revision};
      if (geometry != nullptr && present.is_known() && present == revision)
        return;
      on_device.reset();
      geometry =
        std::make_unique<internal::StencilGeometry<dim>>(handler, extra_order);
      revision = present;
    }

    /// The stencils in the memory of the present device. Collective.
    internal::DeviceStencils<dim> &
    get_device()
    {
      if (on_device == nullptr)
        on_device = std::make_unique<internal::DeviceStencils<dim>>(*geometry);
      return *on_device;
    }

    /// Mean values of owned polytopes from coefficients @p u, with space for
    /// those of ghosts.
    std::vector<double>
    compute_means(const double *u) const
    {
      const PolytopicDoFs &dofs = geometry->dofs;
      const unsigned int   m    = dofs.n_components;
      std::vector<double>  means(std::size_t(geometry->mesh.n_polytopes()) * m);
      internal::apply_to_ranges(
        handler.get_communicator(),
        geometry->mesh.n_owned_polytopes(),
        [&](const unsigned int begin, const unsigned int end) {
          for (unsigned int k = begin; k < end; ++k)
            for (unsigned int c = 0; c < m; ++c)
              {
                const unsigned int  n = dofs.n_basis[k];
                const double *const a =
                  u + dofs.dof_offset[k] + std::size_t(c) * n;
                const double *const phi =
                  &geometry->basis_mean[geometry->basis_offset[k]];
                double sum = 0.;
                for (unsigned int i = 0; i < n; ++i)
                  sum += a[i] * phi[i];
                if (!std::isfinite(sum))
                  internal::throw_mean(k, c, handler);
                means[std::size_t(k) * m + c] = sum;
              }
        },
        256);
      return means;
    }

    /// Calls the functor for polytopes [@p begin, @p end). Results are written
    /// to @p target unless it is null.
    void
    call(const Function            &function,
         const std::vector<double> &means,
         const double              *u,
         double                    *target,
         const unsigned int         begin,
         const unsigned int         end,
         std::vector<double>       &results) const
    {
      const PolytopicDoFs           &dofs = geometry->dofs;
      internal::QuadratureBatch<dim> batch;
      std::vector<double>            values, own;
      PolytopeStencil<dim>           s{};
      const bool                     point_values = function.point_values();
      s.means                                     = means.data();
      for (unsigned int k = begin; k < end; ++k)
        {
          geometry->set(k, s);
          const std::size_t n = std::size_t(s.n_components) * s.n_basis;
          own.assign(u + dofs.dof_offset[k], u + dofs.dof_offset[k] + n);
          s.coefficients = u + dofs.dof_offset[k];
          if (point_values)
            {
              geometry->collect_points(k, batch);
              s.n_points = batch.size();
              values.resize(std::size_t(s.n_components) * s.n_points);
              const auto x = batch.pointers();
              for (int d = 0; d < dim; ++d)
                s.x[d] = x[d];
              for (unsigned int c = 0; c < s.n_components; ++c)
                geometry->evaluator.evaluate(k,
                                             s.coefficients + c * s.n_basis,
                                             s.n_points,
                                             x,
                                             &values[c * s.n_points],
                                             nullptr);
              s.values = values.data();
            }
          results[k] = function.evaluate(s, own.data());
          if (target == nullptr)
            continue;
          for (const double a : own)
            if (!std::isfinite(a))
              internal::throw_coefficient(k, handler);
          std::copy(own.begin(), own.end(), target + dofs.dof_offset[k]);
        }
    }

    /// Calls the functor on the host for the function with coefficients @p u.
    /// If a process throws, @p target stays as it is on all. Collective.
    std::vector<double>
    call_all(const Function &function, const double *u, double *target)
    {
      std::vector<double> means = compute_means(u);
      handler.exchange_polytope_values(means, handler.n_components());
      std::vector<double> results(handler.n_polytopes());
      if (target != nullptr)
        changed.resize(handler.n_locally_owned_dofs());
      double *const to = target != nullptr ? changed.data() : nullptr;
      internal::apply_to_ranges(
        handler.get_communicator(),
        handler.n_polytopes(),
        [&](const unsigned int begin, const unsigned int end) {
          call(function, means, u, to, begin, end, results);
        },
        16);
      if (target != nullptr)
        std::copy(changed.begin(), changed.end(), target);
      return results;
    }

    /// The same for a function in device memory: by the kernel of the functor,
    /// or else by the host with a copy of the function. Collective.
    std::vector<double>
    call_for_device(const Function &function, const double *u, double *target)
    {
      const MPI_Comm comm = handler.get_communicator();
      std::shared_ptr<const DevicePolytopewiseKernel<dim>> kernel;
      std::string                                          why;
      on_all_processes(comm, [&]() {
        kernel = function.device_kernel();
        why    = function.why_not_on_device();
      });
      // Host and device agree up to rounding only, so that all processes take
      // the same one.
      if (dealii::Utilities::MPI::min(kernel != nullptr ? 1 : 0, comm) == 1)
        {
          report.backend   = Backend::cuda;
          report.integrand = kernel->description();
          return get_device().run(function, *kernel, u, target);
        }
      report.why =
        why.empty() ? "another process has no kernel for the functor" : why;
      std::vector<double> copy(handler.n_locally_owned_dofs());
      on_all_processes(comm, [&]() {
        internal::device_call([&] {
          internal::Device::VectorOperations<double>::download(copy.size(),
                                                               u,
                                                               copy.data());
        });
      });
      std::vector<double> results =
        call_all(function, copy.data(), target ? copy.data() : nullptr);
      on_all_processes(comm, [&]() {
        if (target != nullptr)
          internal::device_call([&] {
            internal::Device::upload(target, copy.data(), copy.size());
          });
      });
      return results;
    }

    const AgglomerationHandler<dim>                &handler;
    const unsigned int                              extra_order;
    SpaceRevision                                   revision;
    std::unique_ptr<internal::StencilGeometry<dim>> geometry;
    std::unique_ptr<internal::DeviceStencils<dim>>  on_device;
    /// Coefficients that a functor has written on the host.
    std::vector<double> changed;
    OperatorReport      report;
  };



  template <int dim>
  PolytopewiseOperator<dim>::PolytopewiseOperator(
    const AgglomerationHandler<dim> &handler, const unsigned int extra_order)
    : implementation(std::make_unique<Implementation>(handler, extra_order))
  {}

  template <int dim>
  PolytopewiseOperator<dim>::~PolytopewiseOperator() = default;



  template <int dim>
  const OperatorReport &
  PolytopewiseOperator<dim>::report() const
  {
    return implementation->report;
  }



  template <int dim>
  template <typename VectorType>
  std::vector<double>
  PolytopewiseOperator<dim>::call(const Function &function, VectorType &vector)
  {
    const dealii::Timer timer;
    Implementation     &data   = *implementation;
    OperatorReport     &report = data.report;
    report                     = OperatorReport();
    report.integrand           = "evaluated by the host's threads";
    report.n_threads           = dealii::MultithreadInfo::n_threads();
    data.update();
    report.setup_time   = timer.wall_time();
    auto *const entries = internal::own_values(data.handler, vector);
    double     *target  = nullptr;
    if constexpr (!std::is_const_v<VectorType>)
      target = entries;
    std::vector<double> results;
    if constexpr (in_device_memory<VectorType>)
      results = data.call_for_device(function, entries, target);
    else
      results = data.call_all(function, entries, target);
    report.time = timer.wall_time();
    return results;
  }



  template <int dim>
  template <typename VectorType>
  std::vector<double>
  PolytopewiseOperator<dim>::mean_values(const VectorType &vector)
  {
    Implementation &data = *implementation;
    data.update();
    const AgglomerationHandler<dim> &handler = data.handler;
    const double *const              u = internal::own_values(handler, vector);
    if constexpr (in_device_memory<VectorType>)
      return data.get_device().mean_values(u);
    std::vector<double> means = data.compute_means(u);
    means.resize(std::size_t(handler.n_polytopes()) * handler.n_components());
    return means;
  }



  template <int dim>
  template <typename VectorType>
  std::vector<double>
  PolytopewiseOperator<dim>::integrals(const VectorType &vector)
  {
    const std::vector<double>        means   = mean_values(vector);
    const AgglomerationHandler<dim> &handler = implementation->handler;
    const unsigned int               m       = handler.n_components();
    std::vector<double>              result(m);
    const std::vector<double>       &measure = handler.polytopic_mesh().measure;
    for (unsigned int c = 0; c < m; ++c)
      {
        std::vector<double> mean(handler.n_polytopes());
        for (unsigned int k = 0; k < mean.size(); ++k)
          mean[k] = means[std::size_t(k) * m + c];
        result[c] = internal::value_of_all(handler.get_communicator(),
                                           internal::host_dot(mean.size(),
                                                              mean.data(),
                                                              measure.data()));
      }
    return result;
  }



  template class PolytopewiseOperator<2>;
  template class PolytopewiseOperator<3>;

#define TESSELLA_INSTANTIATE(dim, VectorType)                          \
  template std::vector<double> PolytopewiseOperator<dim>::call(        \
    const Function &, VectorType &);                                   \
  template std::vector<double> PolytopewiseOperator<dim>::call(        \
    const Function &, const VectorType &);                             \
  template std::vector<double> PolytopewiseOperator<dim>::mean_values( \
    const VectorType &);                                               \
  template std::vector<double> PolytopewiseOperator<dim>::integrals(   \
    const VectorType &);

  TESSELLA_FOR_VECTOR_TYPES(TESSELLA_INSTANTIATE, 2)
  TESSELLA_FOR_VECTOR_TYPES(TESSELLA_INSTANTIATE, 3)
  TESSELLA_INSTANTIATE(2, DeviceVector<double>)
  TESSELLA_INSTANTIATE(3, DeviceVector<double>)
#undef TESSELLA_INSTANTIATE
} // namespace Tessella
