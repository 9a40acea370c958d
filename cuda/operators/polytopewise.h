// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_operators_polytopewise_h
#define tessella_cuda_operators_polytopewise_h

#include <tessella/forms/polytopewise_task.h>

#include <cstddef>
#include <cstdint>

// What PolytopewiseOperator computes on a device around the kernel of a
// functor. All pointers are to device memory, and all kernels run in
// current_stream(), see graph.h.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Smallest index of a value that is not finite, among the mean values of
      /// PolytopewiseTask::means and among the changed coefficients.
      struct PolytopewiseStatus
      {
        static constexpr std::uint64_t all_finite = ~std::uint64_t(0);
        std::uint64_t                  mean, coefficient;
      };

      /// Sets both indices to all_finite.
      void
      clear_status(PolytopewiseStatus *status);

      /// Computes the mean values of the functions
      /// PolytopewiseTask::coefficients on polytopes begin .. end - 1: @p means
      /// has entry k n_components + c.
      template <int dim>
      void
      compute_means(const PolytopewiseTask<dim> &task,
                    double                      *means,
                    PolytopewiseStatus          *status);

      /// Computes PolytopewiseTask::values. @p exponents are those of the basis
      /// functions of @p max_degree, of which lower degrees have the first
      /// ones.
      template <int dim>
      void
      evaluate_at_points(const PolytopewiseTask<dim> &task,
                         const unsigned char         *exponents,
                         const unsigned int           max_degree);

      /// Looks for changed coefficients that are not finite among the first
      /// @p n ones.
      void
      check_coefficients(const std::size_t   n,
                         const double       *changed,
                         PolytopewiseStatus *status);
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
