// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "facet_values.h"

#include <algorithm>
#include <numeric>

#include "host_dispatch.h"

namespace Tessella
{
  namespace internal
  {
    namespace
    {
      // Number of polytopes whose points are evaluated together as far as the
      // buffer permits.
      constexpr unsigned int polytopes_per_batch = 16;
    } // namespace



    template <int dim>
    bool
    FacetValues<dim>::applies_to(const Form<dim> &form)
    {
      double               theta;
      const FacetStructure structure = form.facet_structure();
      return structure.facets && structure.mirrored &&
             form.has_penalty_facets(theta) &&
             !form.volume_structure().constant;
    }



    template <int dim>
    FacetValues<dim>::FacetValues(const HostProblem<dim>    &problem,
                                  const std::vector<double> &sigma,
                                  const std::size_t          limit)
      : problem(problem)
      , sigma(sigma)
      , structure(problem.form.facet_structure())
      , n_arrays(2 + (!structure.b           ? 0
                      : structure.continuous ? dim
                                             : 2 * dim))
      , position(problem.mesh.n_owned_polytopes() + 1)
      , location(problem.mesh.interface_boundary_id.size())
    {
      problem.form.has_penalty_facets(theta);
      const PolytopicMesh<dim> &mesh = problem.mesh;
      const unsigned int        n    = mesh.n_owned_polytopes();
      for_polytopes(n, [&](const unsigned int begin, const unsigned int end) {
        for (unsigned int k = begin; k < end; ++k)
          for (unsigned int e = mesh.polytope_interface_offset[k];
               e < mesh.polytope_interface_offset[k + 1];
               ++e)
            {
              const unsigned int code = mesh.polytope_interface[e];
              if (is_stored(code, {0, n}))
                position[k + 1] +=
                  std::uint64_t(n_arrays) * n_interface_points(code / 2);
            }
      });
      std::partial_sum(position.begin(), position.end(), position.begin());
      size = std::min<std::uint64_t>(position[n], limit / sizeof(double));
      // not initialised: first touch by the threads that fill the memory
      memory.reset(new double[size + HostKernels::padding]);
    }



    template <int dim>
    unsigned int
    FacetValues<dim>::n_interface_points(const unsigned int interface) const
    {
      const PolytopicMesh<dim> &mesh = problem.mesh;
      const unsigned int        degree =
        Device::interface_degree(mesh, problem.dofs, interface);
      unsigned int n = 0;
      for (unsigned int f = mesh.facet_offset[interface];
           f < mesh.facet_offset[interface + 1];
           ++f)
        n += problem.rules.n_facet_points(mesh, f, degree);
      return n;
    }



    template <int dim>
    bool
    FacetValues<dim>::is_stored(const unsigned int code,
                                const Chunk       &chunk) const
    {
      const unsigned int neighbor = problem.mesh.neighbor(code);
      return code % 2 == 0 && neighbor >= chunk.begin && neighbor < chunk.end &&
             problem.mesh.interface_shift[code / 2] == 0;
    }



    template <int dim>
    unsigned int
    FacetValues<dim>::tabulate(const unsigned int begin)
    {
      const unsigned int n     = problem.mesh.n_owned_polytopes();
      Chunk              chunk = {begin, begin + 1};
      while (chunk.end < n && position[chunk.end + 1] - position[begin] <= size)
        ++chunk.end;
      const unsigned int size_of_chunk = chunk.end - begin,
                         n_batches = (size_of_chunk + polytopes_per_batch - 1) /
                                     polytopes_per_batch;
      for_polytopes(
        n_batches,
        [&](const unsigned int first, const unsigned int last) {
          tabulate(chunk, first, last);
        },
        grain / polytopes_per_batch);
      return chunk.end;
    }



    template <int dim>
    void
    FacetValues<dim>::tabulate(const Chunk       &chunk,
                               const unsigned int first_batch,
                               const unsigned int last_batch)
    {
      const PolytopicMesh<dim> &mesh = problem.mesh;
      FacetPointBuffer<dim>     points(mesh,
                                   problem.dofs,
                                   problem.rules,
                                   problem.kernels);
      std::vector<double>       values(n_arrays * points.array_size);
      FacetBlocks<dim>          own = {}, other = {};
      own.c[0]   = values.data();
      other.c[0] = own.c[0] + points.array_size;
      for (unsigned int i = 2; i < n_arrays; ++i)
        own.b[(i - 2) / dim][(i - 2) % dim] = own.c[0] + i * points.array_size;

      const auto evaluate = [&]() {
        if (points.n_points > 0)
          problem.form.evaluate_both_sides(points.batch(0, points.n_points),
                                           own,
                                           other);
        for (const auto &segment : points.segments)
          {
            const Location &to = location[segment.code / 2];
            for (unsigned int i = 0; i < n_arrays; ++i)
              std::copy_n(own.c[0] + i * points.array_size + segment.begin,
                          segment.n_points,
                          memory.get() + to.position + i * to.n_points +
                            segment.first);
          }
        points.clear();
      };

      for (unsigned int b = first_batch; b < last_batch; ++b)
        {
          const unsigned int begin = chunk.begin + b * polytopes_per_batch,
                             end =
                               std::min(begin + polytopes_per_batch, chunk.end);
          std::size_t next = position[begin] - position[chunk.begin];
          for (unsigned int e = mesh.polytope_interface_offset[begin];
               e < mesh.polytope_interface_offset[end];
               ++e)
            {
              const unsigned int code = mesh.polytope_interface[e];
              if (!is_stored(code, chunk))
                continue;
              Location &to = location[code / 2];
              to           = {next, n_interface_points(code / 2)};
              next += std::size_t(n_arrays) * to.n_points;
              points.append_interface(code, sigma, evaluate);
            }
          evaluate();
        }
    }



    template <int dim>
    void
    FacetValues<dim>::get(
      const typename FacetPointBuffer<dim>::Segment &segment,
      const FacetBlocks<dim>                        &blocks) const
    {
      const unsigned int side = segment.code % 2, begin = segment.begin,
                         n   = segment.end - begin;
      const Location &from   = location[segment.code / 2];
      const double   *values = memory.get() + from.position + segment.first;
      // Sets an array and its padding, which repeats the last point. Loops of
      // fixed length compile to fast code; they may read beyond the values.
      const auto set =
        [&](double *to, const double factor, const double *value) {
          if (to == nullptr)
            return;
          to += begin;
          for (unsigned int q = 0; q < n; q += HostKernels::padding)
            for (unsigned int l = 0; l < HostKernels::padding; ++l)
              to[q + l] = factor * value[q + l];
          std::fill(to + segment.n_points, to + n, to[segment.n_points - 1]);
        };
      const double *const c = values + side * from.n_points;
      set(blocks.c[0], 1., c);
      set(blocks.c[1], -1., c);
      if (!structure.b)
        return;
      // b'_0 = -b_1 and b'_1 = -b_0 for the neighbour
      const double sign = side == 0 ? 1. : -1.;
      for (unsigned int t = 0; t < 2; ++t)
        for (unsigned int d = 0; d < dim; ++d)
          {
            const unsigned int i =
              2 + (structure.continuous ? 0 : (t ^ side) * dim) + d;
            const double *const b = values + std::size_t(i) * from.n_points;
            set(blocks.b[t][d], sign, b);
            if (t == 0)
              {
                set(blocks.beta[0][d], sign * theta, b);
                set(blocks.beta[1][d], -sign * theta, b);
              }
          }
    }



    template class FacetValues<2>;
    template class FacetValues<3>;
    template class FacetValues<4>;
  } // namespace internal
} // namespace Tessella
