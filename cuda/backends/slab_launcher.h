// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_backends_slab_launcher_h
#define tessella_cuda_backends_slab_launcher_h

#include "slab_affine_kernel.h"
#include "slab_kernel.h"

// Implementation of SlabLauncher, included by the files that instantiate it.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      template <int dim, typename Number>
      void
      SlabLauncher<dim, Number>::rows(const unsigned int degree,
                                      const bool         prismatic,
                                      const bool         constant,
                                      const Data<dim>   &data,
                                      const cudaStream_t stream)
      {
        const auto with = [&](const auto p, const auto is_prismatic) {
          constexpr int  P = decltype(p)::value;
          constexpr bool Q = decltype(is_prismatic)::value;
          if (!constant)
            launch_slab_rows<dim, P, Q, false, Number>(data, stream);
          else if constexpr (P == 1)
            launch_slab_affine_rows<dim, Q, Number>(data, stream);
          else
            launch_slab_rows<dim, P, Q, true, Number>(data, stream);
        };
        const auto of_degree = [&](const auto p) {
          if (prismatic)
            with(p, std::true_type());
          else
            with(p, std::false_type());
        };
        if (degree == 1)
          of_degree(std::integral_constant<int, 1>());
        else if (degree == 2)
          of_degree(std::integral_constant<int, 2>());
        else
          of_degree(std::integral_constant<int, 3>());
      }



      template <int dim, typename Number>
      void
      SlabLauncher<dim, Number>::geometry(const Data<dim>   &data,
                                          const unsigned int n_polytopes,
                                          const unsigned int n_facets,
                                          double            *box,
                                          double            *facet,
                                          const cudaStream_t stream)
      {
        launch_slab_geometry<dim>(
          data, n_polytopes, n_facets, box, facet, stream);
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
