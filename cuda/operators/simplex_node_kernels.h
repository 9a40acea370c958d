// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_operators_simplex_node_kernels_h
#define tessella_cuda_operators_simplex_node_kernels_h

#include <tessella/forms/simplex_basis.h>

#include "../lac/block_matrix.h"

// Values of functions at the nodes of affine simplices and the transposed
// operation, for one or several components: kernels of SimplexNodes.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Simplices with their nodes. Vectors have n values for each component
      /// of a simplex, component by component.
      struct SimplexNodesArguments
      {
        /// Number of simplices, and the distance of the values of a simplex in
        /// corners, see SimplexData.
        unsigned int  n_simplices, stride;
        unsigned int  n_components;
        const double *corners;
        const double *nodes; ///< barycentric coordinates 1 .. dim of each
      };

      constexpr int simplex_threads = 128;

      /// Rows of the threads of a block, one for each component of a simplex,
      /// in shared memory if they are short enough: global memory is then read
      /// and written without gaps.
      template <int dim, int degree>
      struct SimplexNodeRows
      {
        static constexpr int n =
          static_cast<int>(Legendre::n_functions(dim, degree, false));
        static constexpr bool shared = n <= 36;
        /// An odd distance spreads rows over the banks of the memory.
        static constexpr int pitch = n | 1,
                             size  = shared ? simplex_threads * pitch : 1;

        /// Copies the coordinates of nodes to shared memory.
        __device__ __forceinline__ static void
        load_nodes(const SimplexNodesArguments &arguments,
                   double (&nodes)[n * dim])
        {
          for (int i = threadIdx.x; i < n * dim; i += simplex_threads)
            nodes[i] = arguments.nodes[i];
        }

        /// Calls work(entry of a vector, entry of the rows) for all entries of
        /// the block.
        template <typename Work>
        __device__ __forceinline__ static void
        for_entries(const unsigned int n_rows, const Work &work)
        {
          const unsigned int first = blockIdx.x * simplex_threads,
                             count =
                               min(n_rows - first,
                                   static_cast<unsigned int>(simplex_threads)) *
                               n;
          for (unsigned int i = threadIdx.x; i < count; i += simplex_threads)
            work(std::size_t(first) * n + i, i / n * pitch + i % n);
        }
      };

      /// Values at nodes; a thread computes those of a component of a simplex.
      /// @p src: coefficients of the first n_rows simplices, @p ghosts of the
      /// others.
      template <int dim, int degree>
      __global__ void
      __launch_bounds__(simplex_threads)
        evaluate_at_nodes(const SimplexNodesArguments arguments,
                          const unsigned int          n_rows,
                          const double               *src,
                          const double               *ghosts,
                          double                     *nodal)
      {
        using Rows           = SimplexNodeRows<dim, degree>;
        constexpr int      p = degree, n = Rows::n;
        __shared__ double  nodes[n * dim], rows[Rows::size];
        const unsigned int m     = arguments.n_components,
                           total = arguments.n_simplices * m;
        const std::size_t n_own  = std::size_t(n_rows) * m * n;
        Rows::load_nodes(arguments, nodes);
        if constexpr (Rows::shared)
          Rows::for_entries(total, [&](const std::size_t i, const int entry) {
            rows[entry] = i < n_own ? src[i] : ghosts[i - n_own];
          });
        __syncthreads();
        const unsigned int row = blockIdx.x * simplex_threads + threadIdx.x;
        if (row < total)
          {
            const BoxPolynomials<dim, p> box(arguments.corners,
                                             arguments.stride,
                                             row / m);
            const std::size_t            first = std::size_t(row) * n;
            double *const                own = rows + threadIdx.x * Rows::pitch;
            const double *const          x   = Rows::shared    ? own
                                               : first < n_own ? src + first
                                                               : ghosts + (first - n_own);
            double *const result = Rows::shared ? own : nodal + first;
            double        u[n];
#pragma unroll
            for (int k2 = 0; k2 <= (dim == 3 ? p : 0); ++k2)
#pragma unroll
              for (int k1 = 0; k1 <= p - k2; ++k1)
#pragma unroll
                for (int k0 = 0; k0 <= p - k1 - k2; ++k0)
                  {
                    const int i = function_index<dim>(k0, k1, k2);
                    u[i]        = x[i] * box.scale(k0, k1, k2);
                  }
#pragma unroll 1
            for (int i = 0; i < n; ++i)
              {
                double L[dim][p + 1];
                box.evaluate(nodes + i * dim, L);
                double sum = 0;
#pragma unroll
                for (int k2 = 0; k2 <= (dim == 3 ? p : 0); ++k2)
                  {
                    double plane = 0;
#pragma unroll
                    for (int k1 = 0; k1 <= p - k2; ++k1)
                      {
                        double line = 0;
#pragma unroll
                        for (int k0 = 0; k0 <= p - k1 - k2; ++k0)
                          line += u[function_index<dim>(k0, k1, k2)] * L[0][k0];
                        plane += line * L[1][k1];
                      }
                    sum += dim == 3 ? plane * L[dim - 1][k2] : plane;
                  }
                result[i] = sum;
              }
          }
        if constexpr (Rows::shared)
          {
            __syncthreads();
            Rows::for_entries(total, [&](const std::size_t i, const int entry) {
              nodal[i] = rows[entry];
            });
          }
      }

      /// Rows of basis functions from those of Lagrange polynomials; a thread
      /// computes those of a component of a simplex. @p y may be the
      /// destination.
      template <int dim, int degree>
      __global__ void
      __launch_bounds__(simplex_threads)
        basis_rows(const SimplexNodesArguments arguments,
                   const double               *y,
                   const Destination<double>   dst)
      {
        using Rows           = SimplexNodeRows<dim, degree>;
        constexpr int      n = Rows::n;
        __shared__ double  nodes[n * dim], rows[Rows::size];
        const unsigned int m     = arguments.n_components,
                           total = arguments.n_simplices * m;
        Rows::load_nodes(arguments, nodes);
        if constexpr (Rows::shared)
          Rows::for_entries(total, [&](const std::size_t i, const int entry) {
            rows[entry] = y[i];
          });
        __syncthreads();
        const unsigned int row = blockIdx.x * simplex_threads + threadIdx.x;
        if (row < total)
          {
            const BoxPolynomials<dim, degree> box(arguments.corners,
                                                  arguments.stride,
                                                  row / m);
            const std::size_t                 first = std::size_t(row) * n;
            double *const       own  = rows + threadIdx.x * Rows::pitch;
            const double *const from = Rows::shared ? own : y + first;
            box.change_rows(
              nodes,
              [&](const int i) { return from[i]; },
              [&](const int i, const double value) {
                if constexpr (Rows::shared)
                  own[i] = value;
                else
                  dst.store(first + i, value);
              });
          }
        if constexpr (Rows::shared)
          {
            __syncthreads();
            Rows::for_entries(total, [&](const std::size_t i, const int entry) {
              dst.store(i, rows[entry]);
            });
          }
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
