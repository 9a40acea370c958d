// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "../device/memory.h"
#include "simplex_node_kernels.h"
#include "simplex_nodes.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        template <int dim_, int degree_>
        struct Degree
        {
          static constexpr int dim = dim_, degree = degree_;
        };

        /// Calls @p work with the dimension and the degree as types.
        template <int dim, int degree, typename Work>
        void
        with_degree(const unsigned int p, const Work &work)
        {
          if (p == degree)
            work(Degree<dim, degree>());
          else if constexpr (degree <
                             static_cast<int>(SimplexNodes::max_degree(dim)))
            with_degree<dim, degree + 1>(p, work);
          else
            throw Error("There is no kernel for simplices of this degree.");
        }

        template <typename Work>
        void
        with_space(const unsigned int dim,
                   const unsigned int degree,
                   const Work        &work)
        {
          if (dim == 2)
            with_degree<2, 0>(degree, work);
          else
            with_degree<3, 0>(degree, work);
          check(cudaGetLastError(), "values at the nodes of simplices");
        }

        unsigned int
        n_thread_blocks(const unsigned int n)
        {
          return (n + simplex_threads - 1) / simplex_threads;
        }
      } // namespace



      struct SimplexNodes::Implementation
      {
        unsigned int  dim, degree, n_simplices;
        const double *corners;
        Array<double> nodes;

        SimplexNodesArguments
        arguments(const unsigned int n, const unsigned int n_components) const
        {
          return {n, n_simplices, n_components, corners, nodes.data()};
        }
      };



      SimplexNodes::SimplexNodes(const unsigned int         dim,
                                 const unsigned int         degree,
                                 const unsigned int         n_simplices,
                                 const double              *corners,
                                 const std::vector<double> &nodes)
        : implementation(std::make_unique<Implementation>())
      {
        implementation->dim         = dim;
        implementation->degree      = degree;
        implementation->n_simplices = n_simplices;
        implementation->corners     = corners;
        std::vector<double> coordinates;
        for (std::size_t i = 0; i < nodes.size(); ++i)
          if (i % (dim + 1) > 0)
            coordinates.push_back(nodes[i]);
        implementation->nodes = Array<double>(coordinates);
      }

      SimplexNodes::~SimplexNodes() = default;



      void
      SimplexNodes::evaluate(const unsigned int n_components,
                             const unsigned int n_rows,
                             const double      *src,
                             const double      *ghosts,
                             double            *nodal) const
      {
        const SimplexNodesArguments arguments =
          implementation->arguments(implementation->n_simplices, n_components);
        const unsigned int n_blocks =
          n_thread_blocks(implementation->n_simplices * n_components);
        if (n_blocks == 0)
          return;
        with_space(implementation->dim,
                   implementation->degree,
                   [&](const auto space) {
                     using Space = decltype(space);
                     evaluate_at_nodes<Space::dim, Space::degree>
                       <<<n_blocks, simplex_threads, 0, current_stream()>>>(
                         arguments, n_rows, src, ghosts, nodal);
                   });
      }



      void
      SimplexNodes::basis_rows(const unsigned int         n_components,
                               const unsigned int         n_rows,
                               const double              *y,
                               const Destination<double> &dst) const
      {
        const unsigned int n_blocks = n_thread_blocks(n_rows * n_components);
        if (n_blocks == 0)
          return;
        const SimplexNodesArguments arguments =
          implementation->arguments(n_rows, n_components);
        with_space(implementation->dim,
                   implementation->degree,
                   [&](const auto space) {
                     using Space = decltype(space);
                     Device::basis_rows<Space::dim, Space::degree>
                       <<<n_blocks, simplex_threads, 0, current_stream()>>>(
                         arguments, y, dst);
                   });
      }



      const double *
      SimplexNodes::coordinates() const
      {
        return implementation->nodes.data();
      }



      std::size_t
      SimplexNodes::memory_consumption() const
      {
        return sizeof(double) * implementation->nodes.size();
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella
