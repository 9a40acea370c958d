// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>

#include <deal.II/lac/vector_memory.templates.h>

#include <tessella/lac/host_vector.h>

#include <cmath>

#include "reproducible_sum.h"
#include "vector_access.h"

namespace Tessella
{
  using namespace dealii;

  template <typename Number>
  HostVector<Number> &
  HostVector<Number>::operator=(const Number value)
  {
    Base::operator=(value);
    return *this;
  }



  template <typename Number>
  void
  HostVector<Number>::check_entries(const HostVector &V) const
  {
    AssertThrow(V.size() == this->size() &&
                  internal::n_entries(V) == internal::n_entries(*this),
                ExcDimensionMismatch(V.size(), this->size()));
  }



  template <typename Number>
  Number
  HostVector<Number>::operator*(const HostVector &V) const
  {
    check_entries(V);
    return internal::value_of_all(this->get_mpi_communicator(),
                                  internal::host_dot(internal::n_entries(*this),
                                                     this->begin(),
                                                     V.begin()));
  }



  template <typename Number>
  Number
  HostVector<Number>::add_and_dot(const Number      a,
                                  const HostVector &V,
                                  const HostVector &W)
  {
    this->add(a, V);
    return *this * W;
  }



  template <typename Number>
  typename HostVector<Number>::real_type
  HostVector<Number>::norm_sqr() const
  {
    return *this * *this;
  }



  template <typename Number>
  typename HostVector<Number>::real_type
  HostVector<Number>::l1_norm() const
  {
    return internal::value_of_all(
      this->get_mpi_communicator(),
      internal::host_absolute_sum(internal::n_entries(*this), this->begin()));
  }



  template <typename Number>
  typename HostVector<Number>::real_type
  HostVector<Number>::l2_norm() const
  {
    // The sum over all processes is rounded only once.
    return std::sqrt(
      internal::value_of_all(this->get_mpi_communicator(),
                             internal::host_dot(internal::n_entries(*this),
                                                this->begin(),
                                                this->begin())));
  }



  template <typename Number>
  Number
  HostVector<Number>::mean_value() const
  {
    AssertThrow(this->size() > 0,
                ExcMessage("An empty vector has no mean value."));
    return internal::value_of_all(this->get_mpi_communicator(),
                                  internal::host_sum(internal::n_entries(*this),
                                                     this->begin())) /
           this->size();
  }



  template class HostVector<double>;
  template class HostVector<float>;
} // namespace Tessella

// The pools from which solvers take vectors.
DEAL_II_NAMESPACE_OPEN
template class VectorMemory<Tessella::HostVector<double>>;
template class VectorMemory<Tessella::HostVector<float>>;
template class GrowingVectorMemory<Tessella::HostVector<double>>;
template class GrowingVectorMemory<Tessella::HostVector<float>>;
DEAL_II_NAMESPACE_CLOSE
