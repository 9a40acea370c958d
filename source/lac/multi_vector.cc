// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <deal.II/base/exceptions.h>

#include <tessella/lac/multi_vector.h>

#include <algorithm>

#include "../../cuda/lac/vector.h"
#include "../base/collective.h"
#include "../device/device_call.h"
#include "host_blocks.h"
#include "reproducible_sum.h"
#include "vector_access.h"

namespace Tessella
{
  namespace internal
  {
    using namespace dealii;

    namespace
    {
      // Addresses of the entries of the vectors, whose sizes are checked.
      template <typename Number, typename VectorType>
      std::vector<const Number *>
      addresses(const std::vector<const VectorType *> &V, const VectorType &w)
      {
        std::vector<const Number *> result;
        for (const VectorType *v : V)
          {
            AssertThrow(v->size() == w.size() && n_entries(*v) == n_entries(w),
                        ExcDimensionMismatch(v->size(), w.size()));
            result.push_back(v->begin());
          }
        return result;
      }
    } // namespace



    template <typename Number>
    void
    MultiVector<HostVector<Number>>::dot(
      const std::vector<const VectorType *> &V,
      const VectorType                      &w,
      double                                *result)
    {
      const auto                   x = addresses<Number>(V, w);
      std::vector<ReproducibleSum> sums(V.size());
      host_dots(x.size(), n_entries(w), x.data(), w.begin(), sums.data());
      values_of_all(w.get_mpi_communicator(), x.size(), sums.data(), result);
    }



    template <typename Number>
    void
    MultiVector<HostVector<Number>>::add(
      const std::vector<const VectorType *> &V,
      const double                          *factor,
      VectorType                            &w)
    {
      const auto            x     = addresses<Number>(V, w);
      const std::size_t     n     = n_entries(w);
      constexpr std::size_t piece = 1024;
      Number *const         y     = w.begin();
      for_block_ranges((n + piece - 1) / piece,
                       [&](const unsigned int first, const unsigned int last) {
                         double sums[piece];
                         for (std::size_t p = first; p < last; ++p)
                           {
                             const std::size_t begin = p * piece,
                                               size =
                                                 std::min(piece, n - begin);
                             std::copy_n(y + begin, size, sums);
                             for (std::size_t m = 0; m < x.size(); ++m)
                               {
                                 const Number *const from = x[m] + begin;
                                 const double        a    = factor[m];
                                 for (std::size_t i = 0; i < size; ++i)
                                   sums[i] += a * from[i];
                               }
                             for (std::size_t i = 0; i < size; ++i)
                               y[begin + i] = static_cast<Number>(sums[i]);
                           }
                       });
    }



    template <typename Number>
    void
    MultiVector<DeviceVector<Number>>::dot(
      const std::vector<const VectorType *> &V,
      const VectorType                      &w,
      double                                *result)
    {
      const auto                   x = addresses<Number>(V, w);
      std::vector<ReproducibleSum> sums(V.size());
      device_call([&] {
        Device::VectorOperations<Number>::dots(
          x.size(), n_entries(w), x.data(), w.begin(), sums.data());
      });
      values_of_all(w.get_mpi_communicator(), x.size(), sums.data(), result);
    }



    template <typename Number>
    void
    MultiVector<DeviceVector<Number>>::add(
      const std::vector<const VectorType *> &V,
      const double                          *factor,
      VectorType                            &w)
    {
      const auto x = addresses<Number>(V, w);
      device_call([&] {
        Device::VectorOperations<Number>::add_all(
          x.size(), n_entries(w), factor, x.data(), w.begin());
      });
    }



    template <typename Number>
    void
    MultiVector<DeviceVector<Number>>::project_out(
      const std::vector<const VectorType *> &V, VectorType &w, double *products)
    {
      const std::size_t n = n_entries(w);
      if (n_processes(w.get_mpi_communicator()) > 1 || n >= (1u << 30))
        {
          internal::project_out(V, w, products);
          return;
        }
      const auto x = addresses<Number>(V, w);
      device_call([&] {
        Device::VectorOperations<Number>::project_out(
          x.size(), n, x.data(), w.begin(), products);
      });
    }



    template struct MultiVector<HostVector<double>>;
    template struct MultiVector<HostVector<float>>;
    template struct MultiVector<DeviceVector<double>>;
    template struct MultiVector<DeviceVector<float>>;
  } // namespace internal
} // namespace Tessella
