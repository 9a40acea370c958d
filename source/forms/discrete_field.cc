// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>

#include <tessella/base/config.h>
#include <tessella/forms/discrete_field.h>
#include <tessella/forms/field_evaluation.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/lac/device_vector.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "../lac/vector_access.h"

namespace Tessella
{
  using namespace dealii;

  template <int dim>
  struct DiscreteField<dim>::Implementation
  {
    const AgglomerationHandler<dim> *handler = nullptr;
    const Vector<double>            *vector  = nullptr;
#ifdef TESSELLA_HAVE_EPETRA
    const TrilinosWrappers::MPI::Vector *trilinos_vector = nullptr;
#else
    // Always null without Trilinos.
    const Vector<double> *trilinos_vector = nullptr;
#endif
    const DeviceVector<double> *device_vector = nullptr;

    // Exponents of the space of the largest degree; those of lower degrees are
    // a prefix.
    std::vector<unsigned char> exponents;
    // host copy of the device vector, made on first use
    std::vector<double> copy;
    std::atomic<bool>   copied{false};
    std::mutex          mutex;

    void
    prepare()
    {
      const PolytopicMesh<dim> &mesh = handler->polytopic_mesh();
      const PolytopicDoFs      &dofs = handler->polytopic_dofs();
      const unsigned int        degree =
        dofs.degree.empty()
                 ? 0
                 : *std::max_element(dofs.degree.begin(), dofs.degree.end());
      const bool tensor_product =
        handler->polynomial_space() == PolynomialSpaceType::tensor_product;
      exponents.resize(dim *
                       Legendre::n_functions(dim, degree, tensor_product));
      Legendre::exponents(dim, degree, tensor_product, exponents.data());
      copied = false;
      // One exchange fetches the values of other processes on ghosts.
      if (mesh.n_owned != invalid_index)
        {
          const std::size_t n = handler->n_locally_owned_dofs();
          AssertThrow(trilinos_vector != nullptr || n == handler->n_dofs(),
                      ExcMessage("A discrete field on a mesh that is "
                                 "distributed over processes needs a vector of "
                                 "TrilinosWrappers."));
          if (trilinos_vector != nullptr)
            {
              const double *const u =
                internal::vector_data(*trilinos_vector, n);
              copy.assign(u, u + n);
              copy.resize(dofs.dof_offset.back());
              handler->exchange_dof_values(copy);
              copied = true;
            }
        }
    }

    const double *
    host_values()
    {
      const std::size_t n = handler->n_dofs();
      if (vector != nullptr)
        return internal::vector_data(*vector, n);
      if (trilinos_vector != nullptr && !copied)
        return internal::vector_data(*trilinos_vector, n);
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
      AssertThrow(device_vector->size() == handler->n_dofs(),
                  ExcMessage(
                    "The vector has " + std::to_string(device_vector->size()) +
                    " entries, but the handler has " +
                    std::to_string(handler->n_dofs()) +
                    " degrees of freedom; reinit() it with n_dofs()."));
    }
  };



  template <int dim>
  DiscreteField<dim>::DiscreteField(const AgglomerationHandler<dim> &handler,
                                    const Vector<double>            &vector)
    : implementation(std::make_shared<Implementation>())
  {
    implementation->handler = &handler;
    implementation->vector  = &vector;
    prepare();
  }



#ifdef TESSELLA_HAVE_EPETRA
  template <int dim>
  DiscreteField<dim>::DiscreteField(const AgglomerationHandler<dim> &handler,
                                    const TrilinosWrappers::MPI::Vector &vector)
    : implementation(std::make_shared<Implementation>())
  {
    implementation->handler         = &handler;
    implementation->trilinos_vector = &vector;
    prepare();
  }
#endif



  template <int dim>
  DiscreteField<dim>::DiscreteField(const AgglomerationHandler<dim> &handler,
                                    const DeviceVector<double>      &vector)
    : implementation(std::make_shared<Implementation>())
  {
    implementation->handler       = &handler;
    implementation->device_vector = &vector;
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
                                      coefficients + dofs.dof_offset[k],
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
    if (implementation->device_vector == nullptr)
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



  template class DiscreteField<2>;
  template class DiscreteField<3>;
} // namespace Tessella
