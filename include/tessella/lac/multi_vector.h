// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_lac_multi_vector_h
#define tessella_lac_multi_vector_h

#include <tessella/lac/device_vector.h>
#include <tessella/lac/host_vector.h>

#include <vector>

namespace Tessella
{
  namespace internal
  {
    template <typename VectorType>
    struct MultiVector;

    /// MultiVector::project_out() by its other functions.
    template <typename VectorType>
    void
    project_out(const std::vector<const VectorType *> &V,
                VectorType                            &w,
                double                                *products)
    {
      using Operations                    = MultiVector<VectorType>;
      std::vector<const VectorType *> all = V;
      all.push_back(&w);
      Operations::dot(all, w, products);
      std::vector<double> factor(V.size());
      for (std::size_t i = 0; i < V.size(); ++i)
        factor[i] = -products[i];
      Operations::add(V, factor.data(), w);
    }

    /// Operations of several vectors V with one vector w; the general version
    /// needs only scalar products and additions.
    template <typename VectorType>
    struct MultiVector
    {
      /// Sets result[i] to V_i w. Collective.
      static void
      dot(const std::vector<const VectorType *> &V,
          const VectorType                      &w,
          double                                *result)
      {
        for (std::size_t i = 0; i < V.size(); ++i)
          result[i] = *V[i] * w;
      }
      /// Adds the sum of factor[i] V_i to w.
      static void
      add(const std::vector<const VectorType *> &V,
          const double                          *factor,
          VectorType                            &w)
      {
        using Number = typename VectorType::value_type;
        for (std::size_t i = 0; i < V.size(); ++i)
          w.add(static_cast<Number>(factor[i]), *V[i]);
      }
      /// Subtracts the projection on V from w. @p products has the products of
      /// V and of w, in this order, with w before the subtraction.
      static void
      project_out(const std::vector<const VectorType *> &V,
                  VectorType                            &w,
                  double                                *products)
      {
        internal::project_out(V, w, products);
      }
    };

    /// Versions that read w once. Products have the bits of single ones, and
    /// all of them need one reduction of messages.
    template <typename Number>
    struct MultiVector<HostVector<Number>>
    {
      using VectorType = HostVector<Number>;
      static void
      dot(const std::vector<const VectorType *> &V,
          const VectorType                      &w,
          double                                *result);
      static void
      add(const std::vector<const VectorType *> &V,
          const double                          *factor,
          VectorType                            &w);
      static void
      project_out(const std::vector<const VectorType *> &V,
                  VectorType                            &w,
                  double                                *products)
      {
        internal::project_out(V, w, products);
      }
    };

    template <typename Number>
    struct MultiVector<DeviceVector<Number>>
    {
      using VectorType = DeviceVector<Number>;
      static void
      dot(const std::vector<const VectorType *> &V,
          const VectorType                      &w,
          double                                *result);
      static void
      add(const std::vector<const VectorType *> &V,
          const double                          *factor,
          VectorType                            &w);
      /// The host waits once, at the end; with several processes it waits for
      /// the products, too.
      static void
      project_out(const std::vector<const VectorType *> &V,
                  VectorType                            &w,
                  double                                *products);
    };
  } // namespace internal
} // namespace Tessella

#endif
