// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_backends_launcher_h
#define tessella_cuda_backends_launcher_h

#include <algorithm>

#include "affine_row_kernel.h"
#include "launch.h"
#include "rhs_kernel.h"
#include "row_kernel.h"
#include "tile_kernel.h"

// Implementation of Launcher, included by the files that instantiate it.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      inline void
      check_launch()
      {
        check(cudaGetLastError(), "the start of a kernel");
      }

      /// Bytes of shared memory of kernels that use both kinds of slots; P,
      /// dense: see Batch.
      template <int dim, typename Number, int P = -1, bool dense = false>
      std::size_t
      shared_memory(const Data<dim>   &data,
                    const unsigned int n_volume_slots,
                    const unsigned int n_facet_slots)
      {
        using Slots = Batch<dim, P, Number, Cells::any, dense>;
        return std::max(
          Slots::volume_size(
            n_volume_slots, data.max_degree, data.n_pairs, !data.form.diagonal),
          Slots::facet_size(n_facet_slots, data.max_degree, data.n_pairs));
      }

      /// Number of tiles of 8 functions in which the kernels of the right-hand
      /// side compute the functions of degree 4 or 5.
      template <int dim>
      constexpr int
      rhs_tiles(const int degree)
      {
        return degree == 4 ? (dim == 2 ? 2 : 5) : (dim == 2 ? 3 : 7);
      }

      inline dim3
      grid_of(const std::uint64_t n)
      {
        return dim3(static_cast<unsigned int>(n));
      }

      template <int dim, int P, int T, bool packed, typename Number>
      void
      launch_rows(const Data<dim> &data, const cudaStream_t stream)
      {
        const std::size_t shared =
          shared_memory<dim, Number, P, true>(data, 32, 32);
        const auto launch = [&](const auto kernel) {
          kernel<<<data.n_polytopes, 32, shared, stream>>>(data);
        };
        if constexpr (P < 0)
          launch(row_kernel<dim, P, T, packed, Number, Cells::any>);
        else if (!data.affine)
          launch(row_kernel<dim, P, T, packed, Number, Cells::others>);
        else if (data.affine_type == 0)
          {
            using Rows = RowKernel<dim, P, T, packed, Number, Cells::simplices>;
            if constexpr (Rows::may_be_lean)
              if (Rows::are_lean(data))
                {
                  launch(row_kernel<dim,
                                    P,
                                    T,
                                    packed,
                                    Number,
                                    Cells::simplices,
                                    true>);
                  return check_launch();
                }
            if (data.volume_points != nullptr)
              launch(row_kernel<dim,
                                P,
                                T,
                                packed,
                                Number,
                                Cells::simplices,
                                false,
                                Quadrature::compressed>);
            else
              launch(row_kernel<dim, P, T, packed, Number, Cells::simplices>);
          }
        else if constexpr (dim == 3)
          launch(row_kernel<dim, P, T, packed, Number, Cells::prisms>);
        check_launch();
      }

      template <int dim, typename Number>
      void
      Launcher<dim, Number>::rows(const KernelChoice &choice,
                                  const Data<dim>    &data,
                                  const cudaStream_t  stream)
      {
        // At most three tiles occur in four variables, see KernelRegistry.
        if constexpr (dim == 4)
          {
            if (choice.tiles <= 2)
              return launch_rows<dim, -1, 2, true, Number>(data, stream);
            return launch_rows<dim, -1, 3, true, Number>(data, stream);
          }
        else if (choice.degree < 0)
          switch (choice.tiles)
            {
              case 1:
                return launch_rows<dim, -1, 1, true, Number>(data, stream);
              case 2:
                return launch_rows<dim, -1, 2, true, Number>(data, stream);
              case 3:
                return launch_rows<dim, -1, 3, true, Number>(data, stream);
              default:
                return launch_rows<dim, -1, 4, true, Number>(data, stream);
            }
        if constexpr (dim == 2)
          switch (choice.degree)
            {
              case 0:
                return launch_rows<2, 0, 1, true, Number>(data, stream);
              case 1:
                return launch_rows<2, 1, 1, true, Number>(data, stream);
              case 2:
                return launch_rows<2, 2, 1, false, Number>(data, stream);
              case 3:
                return launch_rows<2, 3, 2, true, Number>(data, stream);
              case 4:
                return launch_rows<2, 4, 2, false, Number>(data, stream);
              case 5:
                return launch_rows<2, 5, 3, false, Number>(data, stream);
              default:
                return launch_rows<2, 6, 4, true, Number>(data, stream);
            }
        else if constexpr (dim == 3)
          switch (choice.degree)
            {
              case 0:
                return launch_rows<3, 0, 1, true, Number>(data, stream);
              case 1:
                if (AffineRowKernel<Number>::serves(data))
                  {
                    affine_row_kernel<Number>
                      <<<(data.n_polytopes + 1) / 2, 32, 0, stream>>>(data);
                    return check_launch();
                  }
                return launch_rows<3, 1, 1, true, Number>(data, stream);
              case 2:
                return launch_rows<3, 2, 2, true, Number>(data, stream);
              default:
                return launch_rows<3, 3, 3, true, Number>(data, stream);
            }
      }

      template <int dim, typename Number>
      void
      Launcher<dim, Number>::blocks(const KernelChoice &choice,
                                    const Data<dim>    &data,
                                    const std::uint64_t n_blocks,
                                    const cudaStream_t  stream)
      {
        const std::size_t shared =
          shared_memory<dim, Number>(data, n_own_slots, n_pair_slots);
        const std::uint64_t n = data.n_polytopes + n_blocks;
        if constexpr (dim == 3)
          {
            const auto launch = [&](const auto         kernel,
                                    const unsigned int parts) {
              kernel<<<grid_of(parts * n), 32, shared, stream>>>(data);
            };
            const auto choose = [&](const auto         simplices,
                                    const auto         prisms,
                                    const auto         others,
                                    const unsigned int parts) {
              launch(!data.affine            ? others
                     : data.affine_type == 0 ? simplices
                                             : prisms,
                     parts);
            };
            if (choice.degree == 4)
              choose(block_kernel<3, 4, 5, 5, Number, Cells::simplices>,
                     block_kernel<3, 4, 5, 5, Number, Cells::prisms>,
                     block_kernel<3, 4, 5, 5, Number, Cells::others>,
                     1);
            else
              choose(block_kernel<3, 5, 7, 4, Number, Cells::simplices>,
                     block_kernel<3, 5, 7, 4, Number, Cells::prisms>,
                     block_kernel<3, 5, 7, 4, Number, Cells::others>,
                     2);
            check_launch();
          }
      }

      template <int dim, typename Number>
      void
      Launcher<dim, Number>::units(const bool          rhs,
                                   const Data<dim>    &data,
                                   const std::uint64_t n_units,
                                   const std::uint64_t first_reduction,
                                   const std::uint64_t n_reductions,
                                   const cudaStream_t  stream)
      {
        const unsigned int n_slots = n_tile_slots(data.max_degree);
        const std::size_t  shared =
          shared_memory<dim, Number>(data, n_slots, n_slots);
        const auto compute =
          rhs ? rhs_unit_kernel<dim, Number> : unit_kernel<dim, Number>;
        compute<<<grid_of(n_units), 32, shared, stream>>>(data, n_slots);
        check_launch();
        if (n_reductions == 0)
          return;
        const auto reduce = rhs ? rhs_reduction_kernel<dim, Number>
                                : reduction_kernel<dim, Number>;
        reduce<<<grid_of(n_reductions), 32, 0, stream>>>(data, first_reduction);
        check_launch();
      }

      template <int dim, typename Number>
      void
      Launcher<dim, Number>::rhs(const KernelChoice &choice,
                                 const Data<dim>    &data,
                                 const unsigned int  max_basis,
                                 const cudaStream_t  stream)
      {
        const unsigned int n_slots =
          data.max_degree <= 5 ? 32 : n_tile_slots(data.max_degree);
        const std::size_t shared =
          std::max(Batch<dim, -1, Number>::values_size(n_slots,
                                                       data.max_degree,
                                                       data.n_pairs),
                   data.volume_rule.closed_form ? QuadraticIntegrals<dim>::size
                                                : 0);
        const unsigned int n      = data.n_polytopes;
        const auto         launch = [&](const auto kernel, const int tiles) {
          kernel<<<dim3(n, (max_basis + 8 * tiles - 1) / (8 * tiles)),
                   32,
                   shared,
                   stream>>>(data, n_slots);
        };
        if constexpr (dim == 4)
          launch(rhs_kernel<dim, -1, 4, Number>, 4);
        else if (choice.degree == 1)
          launch(rhs_kernel<dim, 1, 1, Number>, 1);
        else if (choice.degree == 2)
          launch(rhs_kernel<dim, 2, 2, Number>, 2);
        else if (choice.degree == 3)
          launch(rhs_kernel<dim, 3, 3, Number>, 3);
        else if (choice.degree == 4)
          launch(rhs_kernel<dim, 4, rhs_tiles<dim>(4), Number>,
                 rhs_tiles<dim>(4));
        else if (choice.degree == 5)
          launch(rhs_kernel<dim, 5, rhs_tiles<dim>(5), Number>,
                 rhs_tiles<dim>(5));
        else
          launch(rhs_kernel<dim, -1, 4, Number>, 4);
        check_launch();
      }

      template <int dim, typename Number>
      void
      Launcher<dim, Number>::rhs_boundary(const KernelChoice &choice,
                                          const Data<dim>    &data,
                                          const unsigned int *polytopes,
                                          const unsigned int  n,
                                          const unsigned int  max_basis,
                                          const cudaStream_t  stream)
      {
        const unsigned int n_slots = n_tile_slots(data.max_degree);
        const std::size_t  shared =
          shared_memory<dim, Number>(data, n_slots, n_slots);
        const auto launch = [&](const auto kernel, const int tiles) {
          kernel<<<dim3(n, (max_basis + 8 * tiles - 1) / (8 * tiles)),
                   32,
                   shared,
                   stream>>>(data, polytopes, n_slots);
        };
        const auto launch_small = [&](const auto kernel, const unsigned int N) {
          const unsigned int per_block = 4 * (32 / N);
          kernel<<<(n + per_block - 1) / per_block, 128, 0, stream>>>(data,
                                                                      polytopes,
                                                                      n);
        };
        if constexpr (dim == 4)
          launch(rhs_boundary_kernel<dim, -1, 4, Number>, 4);
        else if (choice.degree == 1)
          launch_small(rhs_small_boundary_kernel<dim, 1, Number>, dim + 1);
        else if (choice.degree == 2)
          launch_small(rhs_small_boundary_kernel<dim, 2, Number>,
                       Legendre::n_functions(dim, 2, false));
        else if (choice.degree == 3)
          launch(rhs_boundary_kernel<dim, 3, 3, Number>, 3);
        else if (choice.degree == 4)
          launch(rhs_boundary_kernel<dim, 4, rhs_tiles<dim>(4), Number>,
                 rhs_tiles<dim>(4));
        else if (choice.degree == 5)
          launch(rhs_boundary_kernel<dim, 5, rhs_tiles<dim>(5), Number>,
                 rhs_tiles<dim>(5));
        else
          launch(rhs_boundary_kernel<dim, -1, 4, Number>, 4);
        check_launch();
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
