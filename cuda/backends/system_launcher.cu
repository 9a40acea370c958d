// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <string>

#include "../device/memory.h"
#include "system_launcher.h"
#include "system_row_kernel.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        // Shared memory that a thread block may ask for.
        std::size_t
        shared_memory_of_block()
        {
          int bytes = 0;
          check(cudaDeviceGetAttribute(&bytes,
                                       cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                       current_device()),
                "the assembly of a system on the device");
          return bytes;
        }



        template <int dim, int P, typename Number>
        void
        launch_degree(const Data<dim>                &data,
                      const ConstantSystemTerms<dim> &system,
                      const cudaStream_t              stream)
        {
          using Kernel                = SystemRowKernel<dim, P, Number>;
          const auto         kernel   = system_row_kernel<dim, P, Number>;
          const unsigned int n_points = data.facet_rule[0][P].n_points;
          const std::size_t  limit    = shared_memory_of_block();
          unsigned int       n_facets = Kernel::max_facets_per_batch;
          while (n_facets > 1 &&
                 Kernel::shared_memory(n_facets, n_points) > limit)
            --n_facets;
          const std::size_t shared = Kernel::shared_memory(n_facets, n_points);
          if (shared > limit)
            throw Error(
              "The facets of a system have " + std::to_string(n_points) +
              " quadrature points, too many for the shared memory of the "
              "device: take a lower order of the coefficients.");
          if (shared > 48 * 1024)
            check(
              cudaFuncSetAttribute(kernel,
                                   cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(shared)),
              "the assembly of a system on the device");
          kernel<<<data.n_polytopes, Kernel::n_threads, shared, stream>>>(
            data, system, n_facets);
          check(cudaGetLastError(), "the assembly of a system on the device");
        }
      } // namespace



      template <int dim, typename Number>
      void
      launch_system_rows(const unsigned int              degree,
                         const Data<dim>                &data,
                         const ConstantSystemTerms<dim> &system,
                         const cudaStream_t              stream)
      {
        if (degree == 1)
          launch_degree<dim, 1, Number>(data, system, stream);
        else if (degree == 2)
          launch_degree<dim, 2, Number>(data, system, stream);
        else
          launch_degree<dim, 3, Number>(data, system, stream);
      }



#define INSTANTIATE(dim, Number)                 \
  template void launch_system_rows<dim, Number>( \
    const unsigned int,                          \
    const Data<dim> &,                           \
    const ConstantSystemTerms<dim> &,            \
    const cudaStream_t)

      INSTANTIATE(2, double);
      INSTANTIATE(2, float);
      INSTANTIATE(3, double);
      INSTANTIATE(3, float);
#undef INSTANTIATE
    } // namespace Device
  }   // namespace internal
} // namespace Tessella
