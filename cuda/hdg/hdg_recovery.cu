// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <algorithm>

#include "hdg_recover_kernel.h"
#include "hdg_recovery.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      template <int dim>
      void
      HDGRecovery<dim>::launch(const HDGData<dim> &data,
                               const double       *trace,
                               double             *solution,
                               double             *flux) const
      {
        const unsigned int length = (dim + 1) * plan.max_basis;
        std::size_t        points = 2 * (dim + 1);
        for (int d = 0; d < dim; ++d)
          points *= plan.max_degree + 1;
        // sums by components or faces, or values at points
        const std::size_t
          parts = std::max<std::size_t>(points, (2 * dim + 1) * plan.max_basis),
          shared =
            8ull * (plan.max_traces + 1 + length +
                    (data.simplex ? (dim + 1) * plan.n_face_functions + parts
                     : data.in_parts() ? 2 * length
                                       : 0));
        const auto kernel = data.simplex ? &hdg_simplex_recover_kernel<dim>
                                         : &hdg_recover_kernel<dim>;
        check(cudaFuncSetAttribute(reinterpret_cast<const void *>(kernel),
                                   cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(shared)),
              "the start of a kernel");
        const unsigned int n_threads = length <= 32   ? 32
                                       : length <= 64 ? 64
                                       : length < 256 ? 128
                                                      : 256;
        const HDGVectors   vectors{gather.arguments.block_of_interface,
                                 gather.arguments.dof_offset,
                                 trace,
                                 solution,
                                 flux};
        kernel<<<data.last - data.first, n_threads, shared>>>(data, vectors);
        check(cudaGetLastError(), "the solution from traces");
      }



      template struct HDGRecovery<2>;
      template struct HDGRecovery<3>;
    } // namespace Device
  }   // namespace internal
} // namespace Tessella
