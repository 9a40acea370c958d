// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>

#include <deal.II/lac/vector_memory.templates.h>

#include <tessella/base/config.h>
#include <tessella/lac/device_vector.h>

#include <cmath>
#include <iomanip>
#include <string>
#include <utility>

#include "../../cuda/lac/vector.h"
#include "../base/collective.h"
#include "../device/device_call.h"
#include "reproducible_sum.h"
#include "vector_access.h"

namespace Tessella
{
  using namespace dealii;

  namespace
  {
    template <typename Number>
    using Operations = internal::Device::VectorOperations<Number>;

    // Value of the sum that @p function returns, over all processes of
    // @p communicator.
    template <typename Function>
    double
    sum_of_all(const MPI_Comm communicator, const Function &function)
    {
      return internal::value_of_all(communicator,
                                    internal::device_call(function));
    }
  } // namespace



  template <typename Number>
  DeviceVector<Number>::DeviceVector()
  {
    internal::assert_device_is_available();
  }



  template <typename Number>
  DeviceVector<Number>::DeviceVector(const size_type size)
    : DeviceVector()
  {
    reinit(size);
  }



  template <typename Number>
  DeviceVector<Number>::DeviceVector(const Vector<Number> &vector)
    : DeviceVector()
  {
    copy_from(vector);
  }



  template <typename Number>
  DeviceVector<Number>::DeviceVector(const DeviceVector &vector)
    : Subscriptor()
  {
    *this = vector;
  }



  template <typename Number>
  DeviceVector<Number>::DeviceVector(DeviceVector &&vector) noexcept
  {
    swap(vector);
  }



  template <typename Number>
  DeviceVector<Number>::~DeviceVector()
  {
    internal::Device::release(values);
  }



  template <typename Number>
  DeviceVector<Number> &
  DeviceVector<Number>::operator=(const DeviceVector &vector)
  {
    if (this != &vector)
      {
        reinit(vector, true);
        internal::device_call(
          [&] { Operations<Number>::copy(n, vector.values, values); });
      }
    return *this;
  }



  template <typename Number>
  DeviceVector<Number> &
  DeviceVector<Number>::operator=(DeviceVector &&vector) noexcept
  {
    swap(vector);
    return *this;
  }



  template <typename Number>
  template <typename OtherNumber>
  DeviceVector<Number> &
  DeviceVector<Number>::operator=(const DeviceVector<OtherNumber> &vector)
  {
    reinit(vector, true);
    internal::device_call(
      [&] { Operations<Number>::copy(n, vector.begin(), values); });
    return *this;
  }



  template <typename Number>
  DeviceVector<Number> &
  DeviceVector<Number>::operator=(const Number value)
  {
    internal::device_call([&] { Operations<Number>::set(n, value, values); });
    return *this;
  }



  template <typename Number>
  void
  DeviceVector<Number>::resize(const size_type size,
                               const bool      omit_zeroing_entries)
  {
    if (size > capacity)
      {
        internal::Device::release(values);
        values = nullptr;
        n = capacity = 0;
        internal::device_call(
          [&] { values = internal::Device::allocate<Number>(size); });
        capacity = size;
      }
    n = size;
    if (!omit_zeroing_entries)
      *this = Number(0);
  }



  template <typename Number>
  void
  DeviceVector<Number>::reinit(const size_type size,
                               const bool      omit_zeroing_entries)
  {
    distributed  = false;
    communicator = MPI_COMM_SELF;
    n_global     = size;
    first        = 0;
    resize(size, omit_zeroing_entries);
  }



  template <typename Number>
  void
  DeviceVector<Number>::reinit(const IndexSet &locally_owned,
                               const MPI_Comm  comm,
                               const bool      omit_zeroing_entries)
  {
    if (internal::n_processes(comm) == 1)
      {
        reinit(locally_owned.size(), omit_zeroing_entries);
        return;
      }
    Tessella::on_all_processes(comm, [&] {
      AssertThrow(locally_owned.is_contiguous(),
                  ExcMessage("The entries of a vector on a device that a "
                             "process owns must be consecutive."));
      distributed  = true;
      communicator = comm;
      n_global     = locally_owned.size();
      first =
        locally_owned.n_elements() == 0 ? 0 : locally_owned.nth_index_in_set(0);
      resize(locally_owned.n_elements(), omit_zeroing_entries);
    });
  }



  template <typename Number>
  template <typename OtherNumber>
  void
  DeviceVector<Number>::reinit(const DeviceVector<OtherNumber> &vector,
                               const bool omit_zeroing_entries)
  {
    const IndexSet owned = vector.locally_owned_elements();
    communicator         = vector.get_mpi_communicator();
    distributed          = communicator != MPI_COMM_SELF;
    n_global             = vector.size();
    first = owned.n_elements() == 0 ? 0 : owned.nth_index_in_set(0);
    resize(vector.locally_owned_size(), omit_zeroing_entries);
  }



  template <typename Number>
  void
  DeviceVector<Number>::reinit_for_copy(const size_type size)
  {
    if (!distributed)
      reinit(size, true);
    else
      AssertThrow(size == n,
                  ExcMessage("This process has " + std::to_string(n) +
                             " entries of the vector on the device, but " +
                             std::to_string(size) + " were given."));
  }



  template <typename Number>
  void
  DeviceVector<Number>::swap(DeviceVector &vector) noexcept
  {
    std::swap(values, vector.values);
    std::swap(n, vector.n);
    std::swap(capacity, vector.capacity);
    std::swap(n_global, vector.n_global);
    std::swap(first, vector.first);
    std::swap(communicator, vector.communicator);
    std::swap(distributed, vector.distributed);
  }



  namespace
  {
    // Uploads host values, rounded to the precision of the device vector if the
    // types differ.
    template <typename Number, typename HostNumber>
    void
    upload(Number *values, const HostNumber *from, const std::size_t n)
    {
      if (n == 0)
        return;
      if constexpr (std::is_same<Number, HostNumber>::value)
        internal::device_call(
          [&] { internal::Device::upload(values, from, n); });
      else
        {
          const std::vector<Number> rounded(from, from + n);
          upload(values, rounded.data(), n);
        }
    }

    template <typename HostNumber, typename Number>
    void
    download(HostNumber *to, const Number *values, const std::size_t n)
    {
      if constexpr (std::is_same<Number, HostNumber>::value)
        internal::device_call(
          [&] { Operations<Number>::download(n, values, to); });
      else
        {
          std::vector<Number> copy(n);
          download(copy.data(), values, n);
          std::copy(copy.begin(), copy.end(), to);
        }
    }
  } // namespace



  template <typename Number>
  void
  DeviceVector<Number>::copy_from(const std::vector<Number> &vector)
  {
    reinit_for_copy(vector.size());
    upload(values, vector.data(), n);
  }



  template <typename Number>
  template <typename OtherNumber>
  void
  DeviceVector<Number>::copy_from(const Vector<OtherNumber> &vector)
  {
    reinit_for_copy(vector.size());
    upload(values, vector.begin(), n);
  }



#ifdef TESSELLA_HAVE_EPETRA
  template <typename Number>
  void
  DeviceVector<Number>::copy_from(const TrilinosWrappers::MPI::Vector &vector)
  {
    reinit(vector.locally_owned_elements(),
           vector.get_mpi_communicator(),
           true);
    upload(values, internal::entries(vector), n);
  }
#endif



  template <typename Number>
  void
  DeviceVector<Number>::copy_to(std::vector<Number> &vector) const
  {
    vector.resize(n);
    download(vector.data(), values, n);
  }



  template <typename Number>
  template <typename OtherNumber>
  void
  DeviceVector<Number>::copy_to(Vector<OtherNumber> &vector) const
  {
    vector.reinit(n, true);
    download(vector.begin(), values, n);
  }



#ifdef TESSELLA_HAVE_EPETRA
  template <typename Number>
  void
  DeviceVector<Number>::copy_to(TrilinosWrappers::MPI::Vector &vector) const
  {
    AssertThrow(vector.size() == n_global && internal::n_entries(vector) == n,
                ExcMessage("The Trilinos vector has " +
                           std::to_string(vector.size()) +
                           " entries and the vector on the device " +
                           std::to_string(n_global) +
                           ", or they are distributed in different ways: "
                           "reinit() the former."));
    download(internal::entries(vector), values, n);
  }
#endif



  template <typename Number>
  IndexSet
  DeviceVector<Number>::locally_owned_elements() const
  {
    IndexSet set(n_global);
    set.add_range(first, first + n);
    return set;
  }



  template <typename Number>
  void
  DeviceVector<Number>::check_size(const DeviceVector &vector) const
  {
    AssertThrow(vector.n == n && vector.n_global == n_global,
                ExcDimensionMismatch(vector.n_global, n_global));
  }



  namespace
  {
    // y = s y + a x + b w on the device.
    template <typename Number>
    void
    combine(DeviceVector<Number> &y,
            const Number          s,
            const Number          a,
            const Number         *x,
            const Number          b = 0,
            const Number         *w = nullptr)
    {
      internal::device_call([&] {
        Operations<Number>::combine(
          y.locally_owned_size(), s, a, x, b, w, y.begin());
      });
    }
  } // namespace



  template <typename Number>
  DeviceVector<Number> &
  DeviceVector<Number>::operator*=(const Number factor)
  {
    combine<Number>(*this, factor, 0, nullptr);
    return *this;
  }



  template <typename Number>
  void
  DeviceVector<Number>::add(const Number a)
  {
    internal::device_call([&] { Operations<Number>::shift(n, a, values); });
  }



  template <typename Number>
  void
  DeviceVector<Number>::add(const Number        a,
                            const DeviceVector &V,
                            const Number        b,
                            const DeviceVector &W)
  {
    check_size(V);
    check_size(W);
    combine<Number>(*this, 1, a, V.values, b, W.values);
  }



  template <typename Number>
  void
  DeviceVector<Number>::sadd(const Number        s,
                             const Number        a,
                             const DeviceVector &V)
  {
    check_size(V);
    combine<Number>(*this, s, a, V.values);
  }



  template <typename Number>
  void
  DeviceVector<Number>::equ(const Number a, const DeviceVector &V)
  {
    reinit(V, true);
    combine<Number>(*this, 0, a, V.values);
  }



  template <typename Number>
  void
  DeviceVector<Number>::scale(const DeviceVector &V)
  {
    check_size(V);
    internal::device_call(
      [&] { Operations<Number>::multiply(n, V.values, values); });
  }



  template <typename Number>
  Number
  DeviceVector<Number>::operator*(const DeviceVector &V) const
  {
    check_size(V);
    return sum_of_all(communicator, [&] {
      return Operations<Number>::dot(n, values, V.values);
    });
  }



  template <typename Number>
  Number
  DeviceVector<Number>::add_and_dot(const Number        a,
                                    const DeviceVector &V,
                                    const DeviceVector &W)
  {
    check_size(V);
    check_size(W);
    return sum_of_all(communicator, [&] {
      return Operations<Number>::add_and_dot(n, a, V.values, W.values, values);
    });
  }



  template <typename Number>
  typename DeviceVector<Number>::real_type
  DeviceVector<Number>::l1_norm() const
  {
    return sum_of_all(communicator, [&] {
      return Operations<Number>::absolute_sum(n, values);
    });
  }



  template <typename Number>
  typename DeviceVector<Number>::real_type
  DeviceVector<Number>::l2_norm() const
  {
    return std::sqrt(sum_of_all(communicator, [&] {
      return Operations<Number>::dot(n, values, values);
    }));
  }



  template <typename Number>
  typename DeviceVector<Number>::real_type
  DeviceVector<Number>::linfty_norm() const
  {
    const double here = internal::device_call(
      [&] { return Operations<Number>::absolute_maximum(n, values); });
    return distributed ? Utilities::MPI::max(here, communicator) : here;
  }



  template <typename Number>
  Number
  DeviceVector<Number>::mean_value() const
  {
    AssertThrow(n_global > 0, ExcMessage("An empty vector has no mean value."));
    return sum_of_all(communicator,
                      [&] { return Operations<Number>::sum(n, values); }) /
           n_global;
  }



  template <typename Number>
  bool
  DeviceVector<Number>::on_all(const bool here) const
  {
    return distributed ? Utilities::MPI::min(here ? 1 : 0, communicator) == 1
                       : here;
  }



  template <typename Number>
  bool
  DeviceVector<Number>::all_zero() const
  {
    return on_all(internal::device_call(
      [&] { return Operations<Number>::equal(n, values, nullptr); }));
  }



  template <typename Number>
  bool
  DeviceVector<Number>::operator==(const DeviceVector &V) const
  {
    return on_all(n == V.n && n_global == V.n_global &&
                  internal::device_call([&] {
                    return Operations<Number>::equal(n, values, V.values);
                  }));
  }



  template <typename Number>
  void
  DeviceVector<Number>::print(std::ostream      &out,
                              const unsigned int precision,
                              const bool         scientific,
                              const bool         across) const
  {
    Vector<Number> vector;
    copy_to(vector);
    vector.print(out, precision, scientific, across);
  }



  template <typename Number>
  std::size_t
  DeviceVector<Number>::memory_consumption() const
  {
    return sizeof(*this) + capacity * sizeof(Number);
  }



#define INSTANTIATE(Number, OtherNumber)                                   \
  template class DeviceVector<Number>;                                     \
  template DeviceVector<Number> &DeviceVector<Number>::operator=(          \
    const DeviceVector<OtherNumber> &);                                    \
  template void DeviceVector<Number>::reinit(const DeviceVector<double> &, \
                                             const bool);                  \
  template void DeviceVector<Number>::reinit(const DeviceVector<float> &,  \
                                             const bool);                  \
  template void DeviceVector<Number>::copy_from(const Vector<double> &);   \
  template void DeviceVector<Number>::copy_from(const Vector<float> &);    \
  template void DeviceVector<Number>::copy_to(Vector<double> &) const;     \
  template void DeviceVector<Number>::copy_to(Vector<float> &) const;

  INSTANTIATE(double, float)
  INSTANTIATE(float, double)
#undef INSTANTIATE
} // namespace Tessella

// The pools from which solvers take vectors.
DEAL_II_NAMESPACE_OPEN
template class VectorMemory<Tessella::DeviceVector<double>>;
template class VectorMemory<Tessella::DeviceVector<float>>;
template class GrowingVectorMemory<Tessella::DeviceVector<double>>;
template class GrowingVectorMemory<Tessella::DeviceVector<float>>;
DEAL_II_NAMESPACE_CLOSE
