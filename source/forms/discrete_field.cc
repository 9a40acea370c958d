// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>

#include <tessella/base/config.h>
#include <tessella/base/on_all_processes.h>
#include <tessella/forms/discrete_field.h>
#include <tessella/forms/field_evaluation.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/lac/device_vector.h>
#include <tessella/lac/host_vector.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

#include "../base/collective.h"
#include "../base/vector_types.h"
#include "../lac/vector_access.h"

namespace Tessella
{
  using namespace dealii;

  template <int dim>
  struct DiscreteField<dim>::Implementation
  {
    const AgglomerationHandler<dim> *handler   = nullptr;
    unsigned int                     component = 0;
    /// Returns the entries of the vector on the host, after a check that there
    /// are as many as the argument says. Not set for a vector on the device.
    std::function<const double *(const std::size_t)> host_vector;
    const DeviceVector<double>                      *device_vector = nullptr;
    /// Whether the vector may be distributed over processes.
    bool is_distributed = false;

    // Exponents of the space of the largest degree; those of lower degrees are
    // a prefix.
    std::vector<unsigned char> exponents;
    // Copy on the host of a vector on the device, made on first use, or of a
    // distributed vector, with the entries of ghosts.
    std::vector<double> copy;
    std::atomic<bool>   copied{false};
    std::mutex          mutex;

    void
    prepare()
    {
      const PolytopicDoFs &dofs = handler->polytopic_dofs();
      AssertThrow(component < handler->n_components(),
                  ExcMessage("A discrete field is component " +
                             std::to_string(component) +
                             " of a function, but its handler has " +
                             std::to_string(handler->n_components()) +
                             " components, counted from 0."));
      const unsigned int degree =
        dofs.degree.empty()
          ? 0
          : *std::max_element(dofs.degree.begin(), dofs.degree.end());
      const bool tensor_product =
        handler->polynomial_space() == PolynomialSpaceType::tensor_product;
      exponents.resize(dim *
                       Legendre::n_functions(dim, degree, tensor_product));
      Legendre::exponents(dim, degree, tensor_product, exponents.data());
      copied = false;
      if (has_ghosts())
        {
          AssertThrow(is_distributed,
                      ExcMessage("A discrete field on a mesh that is "
                                 "distributed over processes needs a "
                                 "distributed vector, such as "
                                 "LinearAlgebra::distributed::Vector."));
          copy_with_ghosts();
        }
    }

    /// Whether the handler may have polytopes of other processes.
    bool
    has_ghosts() const
    {
      return internal::n_processes(handler->get_communicator()) > 1;
    }

    /// One exchange fetches the values of other processes on ghosts.
    void
    copy_with_ghosts()
    {
      on_all_processes(handler->get_communicator(), [&]() {
        const std::size_t n = handler->n_locally_owned_dofs();
        AssertThrow(!handler->polytopic_dofs().dof_offset.empty(),
                    ExcMessage("A discrete field needs a handler with degrees "
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
      copy.resize(handler->polytopic_dofs().dof_offset.back());
      handler->exchange_dof_values(copy);
      copied = true;
    }

    const double *
    host_values()
    {
      if (host_vector && !copied)
        return host_vector(handler->n_dofs());
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

    void
    check_device_vector() const
    {
      const std::size_t n = handler->n_locally_owned_dofs();
      AssertThrow(device_vector->locally_owned_size() == n,
                  ExcMessage(
                    "The vector has " +
                    std::to_string(device_vector->locally_owned_size()) +
                    " entries, but the handler has " + std::to_string(n) +
                    " degrees of freedom; reinit() it with n_dofs()."));
    }
  };



  template <int dim>
  template <typename VectorType>
  DiscreteField<dim>::DiscreteField(const AgglomerationHandler<dim> &handler,
                                    const VectorType                &vector,
                                    const unsigned int               component)
    : implementation(std::make_shared<Implementation>())
  {
    implementation->handler   = &handler;
    implementation->component = component;
    implementation->is_distributed =
      !std::is_same<VectorType, Vector<double>>::value;
    if constexpr (std::is_same<VectorType, DeviceVector<double>>::value)
      implementation->device_vector = &vector;
    else
      implementation->host_vector = [&vector](const std::size_t n) {
        return internal::vector_data(vector, n);
      };
    prepare();
  }



  template <int dim>
  void
  DiscreteField<dim>::prepare() const
  {
    implementation->prepare();
  }



  template <int dim>
  void
  DiscreteField<dim>::evaluate(const unsigned int   n_points,
                               const unsigned int  *subcell,
                               const double *const *x,
                               double              *values,
                               double *const       *gradients) const
  {
    const PolytopicMesh<dim> &mesh = implementation->handler->polytopic_mesh();
    const PolytopicDoFs      &dofs = implementation->handler->polytopic_dofs();
    const double *const       coefficients = implementation->host_values();
    unsigned int              k            = 0;
    for (unsigned int q = 0; q < n_points; ++q)
      {
        if (q == 0 || subcell[q] < mesh.subcell_offset[k] ||
            subcell[q] >= mesh.subcell_offset[k + 1])
          k = static_cast<unsigned int>(
            std::upper_bound(mesh.subcell_offset.begin(),
                             mesh.subcell_offset.end(),
                             subcell[q]) -
            mesh.subcell_offset.begin() - 1);
        double point[dim], gradient[dim];
        for (unsigned int d = 0; d < dim; ++d)
          point[d] = x[d][q];
        internal::evaluate_field<dim>(&mesh.box[2 * dim * std::size_t(k)],
                                      dofs.degree[k],
                                      dofs.n_basis[k],
                                      implementation->exponents.data(),
                                      coefficients + dofs.dof_offset[k] +
                                        std::size_t(component()) *
                                          dofs.n_basis[k],
                                      point,
                                      values[q],
                                      gradient);
        for (unsigned int d = 0; d < dim; ++d)
          gradients[d][q] = gradient[d];
      }
  }



  template <int dim>
  const double *
  DiscreteField<dim>::host_values() const
  {
    return implementation->host_values();
  }



  template <int dim>
  const double *
  DiscreteField<dim>::device_values() const
  {
    // The values of ghosts are on the host.
    if (implementation->device_vector == nullptr ||
        implementation->has_ghosts())
      return nullptr;
    implementation->check_device_vector();
    return implementation->device_vector->begin();
  }



  template <int dim>
  std::size_t
  DiscreteField<dim>::size() const
  {
    return implementation->handler->polytopic_dofs().dof_offset.back();
  }



  template <int dim>
  unsigned int
  DiscreteField<dim>::component() const
  {
    return implementation->component;
  }



  template <int dim>
  unsigned int
  DiscreteField<dim>::n_components() const
  {
    return implementation->handler->n_components();
  }



  template <int dim>
  bool
  DiscreteField<dim>::has_degrees_of(const PolytopicDoFs &dofs) const
  {
    const PolytopicDoFs &own = implementation->handler->polytopic_dofs();
    return own.degree == dofs.degree && own.n_basis == dofs.n_basis;
  }



#define TESSELLA_INSTANTIATE(dim, VectorType) \
  template DiscreteField<dim>::DiscreteField( \
    const AgglomerationHandler<dim> &, const VectorType &, unsigned int);

#define TESSELLA_INSTANTIATE_ALL(dim)                  \
  template class DiscreteField<dim>;                   \
  TESSELLA_FOR_VECTOR_TYPES(TESSELLA_INSTANTIATE, dim) \
  TESSELLA_INSTANTIATE(dim, HostVector<double>)        \
  TESSELLA_INSTANTIATE(dim, DeviceVector<double>)

  TESSELLA_INSTANTIATE_ALL(2)
  TESSELLA_INSTANTIATE_ALL(3)
#undef TESSELLA_INSTANTIATE_ALL
#undef TESSELLA_INSTANTIATE
} // namespace Tessella
