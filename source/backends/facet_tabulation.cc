// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <algorithm>
#include <memory>
#include <vector>

#include "cuda_tabulation.h"
#include "host_dispatch.h"

// Tables of facet coefficients for the device.

namespace Tessella
{
  namespace internal
  {
    namespace
    {
      // Number of polytopes per task: a chunk has a few thousand polytopes, and
      // all threads wait for the last task.
      constexpr unsigned int facet_grain = 16;

      // Number of points of packed tables that are evaluated together, possibly
      // of several polytopes.
      constexpr std::size_t packed_batch = 512;

      // Points on the facets of a polytope, at which a form is evaluated: x has
      // the coordinates, y those on the other side of a periodic boundary, and
      // w the weights.
      template <int dim>
      struct FacetPoints
      {
        std::unique_ptr<double[]> memory;
        double                   *x[dim], *y[dim], *normal[dim], *w, *sigma;
        std::vector<unsigned int> subcell[2], material[2];

        void
        resize(const std::size_t n_points)
        {
          // room for the padding of the last facet
          const std::size_t n = n_points + HostKernels::padding;
          if (subcell[0].size() >= n)
            return;
          memory.reset(new double[(3 * dim + 2) * n]);
          double *p = memory.get();
          for (unsigned int d = 0; d < dim; ++d)
            {
              x[d]      = p + (3 * d) * n;
              y[d]      = p + (3 * d + 1) * n;
              normal[d] = p + (3 * d + 2) * n;
            }
          w     = p + 3 * dim * n;
          sigma = p + (3 * dim + 1) * n;
          for (unsigned int side = 0; side < 2; ++side)
            {
              subcell[side].resize(n);
              material[side].resize(n);
            }
        }

        // Points [begin, begin + n), on one boundary id or on interior facets.
        // The coordinates on the other side are the same unless they are
        // @p periodic.
        FacetPointBatch<dim>
        batch(const std::size_t  begin,
              const std::size_t  n,
              const bool         periodic,
              const unsigned int boundary_id = invalid_index) const
        {
          FacetPointBatch<dim> result;
          result.n_points = n;
          for (unsigned int d = 0; d < dim; ++d)
            {
              result.x[d]          = x[d] + begin;
              result.neighbor_x[d] = (periodic ? y[d] : x[d]) + begin;
              result.normal[d]     = normal[d] + begin;
            }
          result.subcell  = subcell[0].data() + begin;
          result.material = material[0].data() + begin;
          result.sigma    = sigma + begin;
          if (boundary_id == invalid_index)
            {
              result.neighbor_subcell  = subcell[1].data() + begin;
              result.neighbor_material = material[1].data() + begin;
            }
          else
            result.boundary_id = boundary_id;
          return result;
        }

        // Writes the points of facet f from `position` on; returns their
        // number.
        unsigned int
        append(const HostTabulation<dim> &in,
               const double               penalty,
               const unsigned int         f,
               const unsigned int         side,
               const unsigned int         degree,
               const double              *shift,
               const std::size_t          position)
        {
          const PolytopicMesh<dim> &mesh = in.mesh;
          double                   *target[dim], *target_normal[dim];
          for (unsigned int d = 0; d < dim; ++d)
            {
              target[d]        = x[d] + position;
              target_normal[d] = normal[d] + position;
            }
          const FacetType type = mesh.facet_type[f];
          unsigned int    n;
          bool            constant_normal = false;
          if (type == FacetType::tabulated)
            {
              const unsigned int first = mesh.facet_point_offset[f];
              n                        = mesh.facet_point_offset[f + 1] - first;
              for (unsigned int q = 0; q < n; ++q)
                for (unsigned int d = 0; d < dim; ++d)
                  {
                    target[d][q] = mesh.facet_points[(first + q) * dim + d];
                    target_normal[d][q] =
                      mesh.facet_point_normals[(first + q) * dim + d];
                  }
            }
          else
            {
              const HostKernels::Rule &rule = in.rules.facet(type, degree);
              const double            *v =
                &mesh.facet_vertices[mesh.facet_vertex_offset[f] * dim];
              n = rule.n_points;
              if (type == FacetType::quadrilateral)
                in.kernels.multilinear_facet(
                  v, rule, target, target_normal, w + position);
              else
                {
                  double edges[dim - 1][dim];
                  for (unsigned int d = 0; d + 1 < dim; ++d)
                    for (unsigned int e = 0; e < dim; ++e)
                      edges[d][e] = v[(d + 1) * dim + e] - v[e];
                  in.kernels.affine_points(
                    v, &edges[0][0], dim - 1, 1., rule, target, w + position);
                  constant_normal = true;
                }
            }
          const unsigned int own   = mesh.facet_subcell[2 * f + side],
                             other = mesh.facet_subcell[2 * f + 1 - side];
          for (unsigned int d = 0; d < dim; ++d)
            {
              double *const here = target[d], *const there = y[d] + position,
                            *const outward = target_normal[d];
              if (constant_normal)
                std::fill_n(outward, n, mesh.facet_normal[f * dim + d]);
              // Coordinates of facets are those of side 0, normals point from
              // side 0 to side 1.
              if (side == 1)
                for (unsigned int q = 0; q < n; ++q)
                  outward[q] = -outward[q];
              for (unsigned int q = 0; q < n; ++q)
                there[q] = here[q] + shift[d];
              if (side == 1)
                std::swap_ranges(here, here + n, there);
            }
          std::fill_n(sigma + position, n, penalty);
          std::fill_n(subcell[0].begin() + position, n, own);
          std::fill_n(material[0].begin() + position,
                      n,
                      mesh.subcell_material[own]);
          if (other != invalid_index)
            {
              std::fill_n(subcell[1].begin() + position, n, other);
              std::fill_n(material[1].begin() + position,
                          n,
                          mesh.subcell_material[other]);
            }
          return n;
        }
      };



      /// Fills the facet tables of one range of polytopes of a chunk, polytope
      /// by polytope, as tabulate_facets() describes.
      template <int dim>
      class FacetTabulation
      {
      public:
        FacetTabulation(const HostTabulation<dim>          &in,
                        const double                       *sigma,
                        const Device::Range<std::uint64_t> &first_point,
                        const Device::Chunk                &chunk,
                        double                             *table)
          : in(in)
          , mesh(in.mesh)
          , L(in.data.facet_layout)
          , sigma(sigma)
          , first_point(first_point)
          , chunk(chunk)
          , table(table)
          , chunk_first(
              first_point[mesh.polytope_interface_offset[chunk.begin]])
          , periodic(mesh.shift.size() > dim)
        {
          const auto add =
            [](std::vector<int> &arrays, const int i, const int n) {
              for (int d = 0; i >= 0 && d < n; ++d)
                arrays.push_back(i + d);
            };
          for (unsigned int side = 0; side < 2; ++side)
            {
              add(interior_arrays, L.c[side], 1);
              add(interior_arrays, L.b[side], dim);
              add(interior_arrays, L.beta[side], dim);
              if (side == 0)
                boundary_arrays = interior_arrays;
            }
          add(boundary_arrays, L.r, 1);
          add(boundary_arrays, L.s, dim);
        }

        /// Consecutive entries of the same kind are evaluated together; each
        /// boundary id is evaluated separately.
        void
        tabulate(const unsigned int polytope)
        {
          k                              = polytope;
          const unsigned int first_entry = mesh.polytope_interface_offset[k],
                             last_entry = mesh.polytope_interface_offset[k + 1];
          first                         = first_point[first_entry];
          if (first_point[last_entry] == first)
            return;
          points.resize(first_point[last_entry] - first);
          n_points  = 0;
          run_begin = 0;
          run_entry = first_entry;
          run       = Share::own;
          for (unsigned int e = first_entry; e < last_entry; ++e)
            visit(e);
          end_run(last_entry);
        }

      private:
        /// Evaluation of an interior interface: each polytope evaluates its own
        /// side, or one polytope evaluates both sides if both are in the chunk.
        enum class Share
        {
          own,
          both,
          none
        };

        Share
        share_of(const unsigned int code) const
        {
          const unsigned int neighbor = mesh.neighbor(code);
          if (neighbor == invalid_index || neighbor < chunk.begin ||
              neighbor >= chunk.end || neighbor == k ||
              mesh.interface_shift[code / 2] != 0)
            return Share::own;
          return code % 2 == 0 ? Share::both : Share::none;
        }

        /// Adds the points of an entry of polytope_interface.
        void
        visit(const unsigned int e)
        {
          if (first_point[e + 1] == first_point[e])
            {
              end_run(e);
              run_entry = e + 1;
              return;
            }
          const unsigned int code      = mesh.polytope_interface[e],
                             interface = code / 2, side = code % 2;
          const bool  boundary = mesh.neighbor(code) == invalid_index;
          const Share share    = share_of(code);
          if (share != run || boundary)
            {
              end_run(e);
              run = share;
            }
          if (share == Share::none)
            {
              n_points += first_point[e + 1] - first_point[e];
              return;
            }
          const unsigned int degree =
            Device::interface_degree(mesh, in.dofs, interface);
          for (unsigned int f = mesh.facet_offset[interface];
               f < mesh.facet_offset[interface + 1];
               ++f)
            n_points +=
              points.append(in,
                            sigma[f],
                            f,
                            side,
                            degree,
                            &mesh.shift[mesh.interface_shift[interface] * dim],
                            n_points);
          if (boundary)
            {
              evaluate_boundary(mesh.interface_boundary_id[interface]);
              run_begin = n_points;
              run_entry = e + 1;
            }
        }

        /// Evaluates the points since the last call; the next ones belong to
        /// entries from @p e on.
        void
        end_run(const unsigned int e)
        {
          if (run != Share::none)
            evaluate_interior(run == Share::both ? run_entry : e, e);
          run_begin = n_points;
          run_entry = e;
        }

        /// Arrays of a table with n points.
        FacetBlocks<dim>
        make_blocks(double *const     p,
                    const std::size_t n,
                    const bool        boundary) const
        {
          const auto at = [&](const int array) {
            return array >= 0 ? p + array * n : nullptr;
          };
          FacetBlocks<dim> blocks = {};
          for (unsigned int side = 0; side < (boundary ? 1 : 2); ++side)
            {
              for (unsigned int d = 0; d < dim; ++d)
                {
                  blocks.b[side][d] =
                    L.b[side] >= 0 ? at(L.b[side] + d) : nullptr;
                  blocks.beta[side][d] =
                    L.beta[side] >= 0 ? at(L.beta[side] + d) : nullptr;
                }
              blocks.c[side] = at(L.c[side]);
            }
          if (boundary)
            {
              for (unsigned int d = 0; d < dim; ++d)
                blocks.s[d] = L.s >= 0 ? at(L.s + d) : nullptr;
              blocks.r = at(L.r);
            }
          return blocks;
        }

        /// Memory for the values at n points, in the cache.
        double *
        values(std::vector<double> &memory, const std::size_t n) const
        {
          memory.resize(
            std::max(memory.size(), static_cast<std::size_t>(L.n) * n));
          return memory.data();
        }

        /// Copies the values at n points to the table with streaming stores.
        void
        store(const std::vector<int> &arrays, const std::size_t n) const
        {
          for (const int array : arrays)
            in.kernels.stream(present.data() + array * n,
                              n,
                              table + array * chunk.n_facet_points +
                                (first - chunk_first) + run_begin);
        }

        void
        evaluate_boundary(const unsigned int boundary_id)
        {
          const std::size_t n = n_points - run_begin;
          if (n == 0)
            return;
          FacetBlocks<dim> blocks = make_blocks(values(present, n), n, true);
          in.form.evaluate_boundary_facets(
            points.batch(run_begin, n, periodic, boundary_id), blocks);
          store(boundary_arrays, n);
        }

        /// Evaluates interior points, and also those of the neighbours if
        /// entries [from_entry, to_entry) are not empty.
        void
        evaluate_interior(const unsigned int from_entry,
                          const unsigned int to_entry)
        {
          const std::size_t n = n_points - run_begin;
          if (n == 0)
            return;
          FacetBlocks<dim> blocks = make_blocks(values(present, n), n, false);
          const FacetPointBatch<dim> batch =
            points.batch(run_begin, n, periodic);
          if (from_entry == to_entry)
            {
              in.form.evaluate_interior_facets(batch, blocks);
              store(interior_arrays, n);
              return;
            }
          FacetBlocks<dim> others = make_blocks(values(mirrored, n), n, false);
          in.form.evaluate_both_sides(batch, blocks, others);
          store(interior_arrays, n);
          for (unsigned int e = from_entry; e < to_entry; ++e)
            store_mirrored(e, n);
        }

        /// Copies the neighbour's values at the points of an entry to the
        /// table.
        void
        store_mirrored(const unsigned int e, const std::size_t n) const
        {
          // index of the same interface in the neighbour's list
          const unsigned int code     = mesh.polytope_interface[e],
                             neighbor = mesh.neighbor(code);
          unsigned int other = mesh.polytope_interface_offset[neighbor];
          while (mesh.polytope_interface[other] != (code ^ 1u))
            ++other;
          const std::size_t offset = first_point[e] - first - run_begin;
          for (const int array : interior_arrays)
            in.kernels.stream(mirrored.data() + array * n + offset,
                              first_point[e + 1] - first_point[e],
                              table + array * chunk.n_facet_points +
                                (first_point[other] - chunk_first));
        }

        const HostTabulation<dim>         &in;
        const PolytopicMesh<dim>          &mesh;
        const Device::FacetLayout         &L;
        const double *const                sigma;
        const Device::Range<std::uint64_t> first_point;
        const Device::Chunk               &chunk;
        double *const                      table;
        const std::uint64_t                chunk_first;
        const bool                         periodic;

        /// Arrays of interior facets, and of boundary facets.
        std::vector<int>    interior_arrays, boundary_arrays;
        FacetPoints<dim>    points;
        std::vector<double> present, mirrored;

        // ---- state of a polytope: its id, its first point, the number of
        // points so far, and those that are not evaluated yet
        unsigned int  k        = 0;
        std::uint64_t first    = 0;
        std::size_t   n_points = 0, run_begin = 0;
        unsigned int  run_entry = 0;
        Share         run       = Share::own;
      };



      /// Fills the packed facet tables of one range of polytopes of a chunk, as
      /// tabulate_packed_facets() describes.
      template <int dim>
      class PackedFacetTabulation
      {
      public:
        /// One of the two tables.
        struct Table
        {
          /// Number of points that precede each entry of polytope_interface.
          const std::uint64_t *points;
          double              *values;
          int                  n_arrays;
          std::uint64_t        n_points = 0; ///< number of points of the chunk
          std::uint64_t        position = 0; ///< next point to be stored
        };

        PackedFacetTabulation(const HostTabulation<dim> &in,
                              const double              *sigma,
                              const Device::Chunk       &chunk,
                              const Table               &interior,
                              const Table               &boundary)
          : in(in)
          , mesh(in.mesh)
          , data(in.data)
          , sigma(sigma)
          , chunk(chunk)
          , interior(interior)
          , boundary(boundary)
        {}

        /// Facets of side 0 of polytopes [begin, end), first interior ones,
        /// then those of each boundary id.
        void
        tabulate(const unsigned int begin, const unsigned int end)
        {
          const unsigned int from = mesh.polytope_interface_offset[begin],
                             to   = mesh.polytope_interface_offset[end],
                             first =
                               mesh.polytope_interface_offset[chunk.begin],
                             last = mesh.polytope_interface_offset[chunk.end];
          for (Table *t : {&interior, &boundary})
            {
              t->n_points = t->points[last] - t->points[first];
              t->position = t->points[from] - t->points[first];
            }
          for (const bool on_boundary : {false, true})
            {
              id = invalid_index;
              for (unsigned int e = from; e < to; ++e)
                {
                  const unsigned int code = mesh.polytope_interface[e];
                  if (code % 2 == 0 &&
                      (mesh.neighbor(code) == invalid_index) == on_boundary)
                    visit(e, on_boundary);
                }
              finish(on_boundary);
            }
        }

      private:
        /// Adds the points of an entry of polytope_interface.
        void
        visit(const unsigned int e, const bool on_boundary)
        {
          const unsigned int interface = mesh.polytope_interface[e] / 2;
          const Table       &table     = on_boundary ? boundary : interior;
          const std::size_t  n_new     = table.points[e + 1] - table.points[e];
          if (on_boundary && mesh.interface_boundary_id[interface] != id)
            {
              finish(true);
              id = mesh.interface_boundary_id[interface];
            }
          if (n > 0 && n + n_new > packed_batch)
            finish(on_boundary);
          if (n == 0)
            points.resize(std::max(n_new, packed_batch));
          const unsigned int degree =
            Device::interface_degree(mesh, in.dofs, interface);
          for (unsigned int f = mesh.facet_offset[interface];
               f < mesh.facet_offset[interface + 1];
               ++f)
            n +=
              points.append(in, sigma[f], f, 0, degree, mesh.shift.data(), n);
        }

        /// Evaluates and stores the points that were added.
        void
        finish(const bool on_boundary)
        {
          if (n == 0)
            return;
          Table &table = on_boundary ? boundary : interior;
          values.resize(std::max(values.size(), table.n_arrays * n));
          if (on_boundary)
            evaluate_boundary();
          else
            evaluate_interior();
          for (int i = 0; i < table.n_arrays; ++i)
            in.kernels.stream(values.data() + i * n,
                              n,
                              table.values + i * table.n_points +
                                table.position);
          table.position += n;
          n = 0;
        }

        void
        evaluate_interior()
        {
          double          *p   = values.data();
          FacetBlocks<dim> own = {}, other = {};
          own.c[0]   = p;
          other.c[0] = p + n;
          p += 2 * n;
          for (unsigned int side = 0; side < 2; ++side)
            for (unsigned int d = 0; d < dim; ++d)
              if (data.facet_layout.b[0] >= 0 &&
                  (side == 0 || !data.continuous))
                {
                  own.b[side][d] = p;
                  p += n;
                }
          in.form.evaluate_both_sides(points.batch(0, n, false), own, other);
        }

        void
        evaluate_boundary()
        {
          const Device::FacetLayout &L      = data.facet_layout;
          double                    *p      = values.data();
          FacetBlocks<dim>           blocks = {};
          blocks.c[0]                       = p;
          p += n;
          for (unsigned int d = 0; L.b[0] >= 0 && d < dim; ++d, p += n)
            blocks.b[0][d] = p;
          if (L.r >= 0)
            {
              blocks.r = p;
              p += n;
            }
          for (unsigned int d = 0; L.s >= 0 && d < dim; ++d, p += n)
            blocks.s[d] = p;
          in.form.evaluate_boundary_facets(points.batch(0, n, false, id),
                                           blocks);
        }

        const HostTabulation<dim>   &in;
        const PolytopicMesh<dim>    &mesh;
        const Device::FormData<dim> &data;
        const double *const          sigma;
        const Device::Chunk         &chunk;
        Table                        interior, boundary;

        FacetPoints<dim>    points;
        std::vector<double> values;
        /// Number of points that are not evaluated yet, and their boundary id.
        std::size_t  n  = 0;
        unsigned int id = invalid_index;
      };
    } // namespace



    template <int dim>
    void
    HostTabulation<dim>::facets(const double                       *sigma,
                                const Device::Range<std::uint64_t> &first_point,
                                const Device::Chunk                &chunk,
                                const unsigned int                  begin,
                                const unsigned int                  end,
                                double                             *table) const
    {
      FacetTabulation<dim> tabulation(*this, sigma, first_point, chunk, table);
      for (unsigned int k = begin; k < end; ++k)
        tabulation.tabulate(k);
      kernels.finish_streams();
    }



    template <int dim>
    void
    HostTabulation<dim>::packed_facets(const double        *sigma,
                                       const std::uint64_t *interior_points,
                                       const std::uint64_t *boundary_points,
                                       const Device::Chunk &chunk,
                                       double              *interior,
                                       double              *boundary) const
    {
      using Table = typename PackedFacetTabulation<dim>::Table;
      const Device::PackedTables<dim> packed(data);
      const Table                     interior_table = {interior_points,
                                                        interior,
                                                        packed.n_interior},
                  boundary_table                     = {boundary_points,
                                                        boundary,
                                                        packed.n_boundary};
      for_polytopes(
        chunk.end - chunk.begin,
        [&](const unsigned int begin, const unsigned int end) {
          PackedFacetTabulation<dim>(
            *this, sigma, chunk, interior_table, boundary_table)
            .tabulate(chunk.begin + begin, chunk.begin + end);
          kernels.finish_streams();
        },
        facet_grain);
    }



#define INSTANTIATE(dim)                                                  \
  template void HostTabulation<dim>::facets(                              \
    const double *,                                                       \
    const Device::Range<std::uint64_t> &,                                 \
    const Device::Chunk &,                                                \
    const unsigned int,                                                   \
    const unsigned int,                                                   \
    double *) const;                                                      \
  template void HostTabulation<dim>::packed_facets(const double *,        \
                                                   const std::uint64_t *, \
                                                   const std::uint64_t *, \
                                                   const Device::Chunk &, \
                                                   double *,              \
                                                   double *) const

    INSTANTIATE(2);
    INSTANTIATE(3);
    INSTANTIATE(4);
#undef INSTANTIATE
  } // namespace internal
} // namespace Tessella
