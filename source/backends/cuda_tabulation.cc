// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "cuda_tabulation.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "facet_penalty.h"
#include "host_dispatch.h"

// Tables of volume coefficients for the device. Those of facets are in
// facet_tabulation.cc.

namespace Tessella
{
  namespace internal
  {
    namespace
    {
      // Number of polytopes per task: a chunk has a few thousand polytopes, and
      // all threads wait for the last task.
      constexpr unsigned int tabulation_grain = 8;

      template <int dim>
      PointBatch<dim>
      make_batch(const VolumePointBuffer<dim> &points)
      {
        PointBatch<dim> batch;
        batch.n_points = points.n_points;
        std::copy(points.x, points.x + dim, batch.x);
        batch.subcell  = points.subcells.data();
        batch.material = points.materials.data();
        return batch;
      }



      // The arrays that a form evaluates; at(i) is the memory of array i of the
      // layout, or null.
      template <int dim, typename At>
      VolumeBlocks<dim>
      make_blocks(const Device::VolumeLayout &L, const At &at)
      {
        VolumeBlocks<dim> blocks = {};
        for (unsigned int d = 0; d < dim * dim; ++d)
          if (L.a >= 0 && (L.tensor || d == 0))
            blocks.a[d] = at(L.a + d);
        for (unsigned int d = 0; d < dim; ++d)
          {
            blocks.beta[d] = L.beta >= 0 ? at(L.beta + d) : nullptr;
            blocks.b[d]    = L.b >= 0 ? at(L.b + d) : nullptr;
          }
        blocks.c = L.c >= 0 ? at(L.c) : nullptr;
        blocks.f = L.f >= 0 ? at(L.f) : nullptr;
        return blocks;
      }



      /// Fills the packed volume tables of a chunk, as
      /// tabulate_packed_volume() describes.
      template <int dim>
      class PackedVolumeTabulation
      {
      public:
        PackedVolumeTabulation(const HostTabulation<dim>          &in,
                               const Device::Range<std::uint64_t> &first_point,
                               const Device::Chunk                &chunk,
                               double                             *table,
                               double                             *a_bar)
          : in(in)
          , mesh(in.mesh)
          , L(in.data.volume_layout)
          , packed(in.data)
          , n_upper(packed.n_volume - packed.n_lower)
          , first_point(first_point)
          , chunk(chunk)
          , table(table)
          , a_bar(a_bar)
          , general(chunk.end - chunk.begin, 0)
        {}

        /// Evaluates polytopes [begin, end) of the chunk.
        void
        tabulate(const unsigned int begin, const unsigned int end)
        {
          VolumePointBuffer<dim> points(buffer_capacity(in.rules));
          // Evaluated in the cache, and copied to the table with streaming
          // stores.
          const std::unique_ptr<double[]> memory(
            new double[static_cast<std::size_t>(packed.n_volume) *
                       pitch(points.capacity)]);
          VolumeBlocks<dim> blocks = make_blocks<dim>(L, [&](const int array) {
            const int i = packed.volume[array];
            return i >= 0 ? memory.get() + i * pitch(points.capacity) : nullptr;
          });
          for (unsigned int k = chunk.begin + begin; k < chunk.begin + end; ++k)
            tabulate_polytope(k, points, memory.get(), blocks);
          in.kernels.finish_streams();
        }

        /// Whether no polytope has entries below the diagonal in the table.
        bool
        symmetric() const
        {
          return std::none_of(general.begin(),
                              general.end(),
                              [](const unsigned char lower) {
                                return lower != 0;
                              });
        }

        /// Sets the missing entries below the diagonal of polytopes [begin,
        /// end) of the chunk.
        void
        complete(const unsigned int begin, const unsigned int end) const
        {
          for (unsigned int k = begin; k < end; ++k)
            if (general[k] == 0)
              mirror(position_of(chunk.begin + k),
                     position_of(chunk.begin + k + 1) -
                       position_of(chunk.begin + k));
        }

      private:
        /// First point of a polytope in the table.
        std::uint64_t
        position_of(const unsigned int k) const
        {
          return first_point[mesh.subcell_offset[k]] -
                 first_point[mesh.subcell_offset[chunk.begin]];
        }

        /// Copies the entries of a symmetric tensor to those below the
        /// diagonal, at n_points points.
        void
        mirror(const std::uint64_t position, const std::uint64_t n_points) const
        {
          const std::uint64_t n = chunk.n_volume_points;
          for (int i = 0; i < L.n; ++i)
            if (packed.symmetric[i] != packed.volume[i])
              std::copy_n(table + packed.symmetric[i] * n + position,
                          n_points,
                          table + packed.volume[i] * n + position);
        }

        void
        tabulate_polytope(const unsigned int      k,
                          VolumePointBuffer<dim> &points,
                          const double           *memory,
                          VolumeBlocks<dim>      &blocks)
        {
          std::uint64_t  position = position_of(k);
          unsigned int   subcell = mesh.subcell_offset[k], point = 0;
          unsigned char &lower = general[k - chunk.begin];
          while (subcell < mesh.subcell_offset[k + 1])
            {
              points.fill(
                mesh, in.dofs, in.rules, in.kernels, k, subcell, point);
              in.form.evaluate_volume(make_batch(points), blocks);
              bool symmetric = true;
              if (a_bar != nullptr)
                symmetric = raise_largest_diffusion(mesh,
                                                    in.kernels,
                                                    L.tensor,
                                                    k,
                                                    blocks.a,
                                                    points.n_points,
                                                    a_bar);
              else if (packed.n_lower > 0)
                symmetric = in.kernels.is_symmetric(blocks.a, points.n_points);
              if (packed.n_lower > 0 && lower == 0 && !symmetric)
                {
                  lower = 1;
                  mirror(position_of(k), position - position_of(k));
                }
              for (int array = 0;
                   array < (lower != 0 ? packed.n_volume : n_upper);
                   ++array)
                in.kernels.stream(memory + array * pitch(points.capacity),
                                  points.n_points,
                                  table + array * chunk.n_volume_points +
                                    position);
              position += points.n_points;
            }
        }

        const HostTabulation<dim>         &in;
        const PolytopicMesh<dim>          &mesh;
        const Device::VolumeLayout        &L;
        const Device::PackedTables<dim>    packed;
        const int                          n_upper;
        const Device::Range<std::uint64_t> first_point;
        const Device::Chunk               &chunk;
        double *const table, *const a_bar;
        /// Polytopes whose entries below the diagonal are in the table.
        std::vector<unsigned char> general;
      };
    } // namespace



    template <int dim>
    TablePositions
    table_positions(const PolytopicMesh<dim>    &mesh,
                    const PolytopicDoFs         &dofs,
                    const HostRules<dim>        &rules,
                    const Device::FormData<dim> &data)
    {
      TablePositions positions;
      positions.subcell.reserve(mesh.n_subcells() + 1);
      positions.entry.reserve(mesh.polytope_interface.size() + 1);
      std::uint64_t n_volume = 0, n_facets = 0, n_packed[2] = {};
      for (unsigned int k = 0; k < mesh.n_polytopes(); ++k)
        {
          for (unsigned int s = mesh.subcell_offset[k];
               s < mesh.subcell_offset[k + 1];
               ++s)
            {
              positions.subcell.push_back(n_volume);
              n_volume +=
                mesh.subcell_type[s] == SubCellType::tabulated
                  ? mesh.subcell_point_offset[s + 1] -
                      mesh.subcell_point_offset[s]
                  : rules.subcell(mesh.subcell_type[s], dofs.degree[k])
                      .n_points;
            }
          for (unsigned int e = mesh.polytope_interface_offset[k];
               e < mesh.polytope_interface_offset[k + 1];
               ++e)
            {
              positions.entry.push_back(n_facets);
              positions.interior.push_back(n_packed[0]);
              positions.boundary.push_back(n_packed[1]);
              const std::uint64_t before = n_facets;
              const unsigned int  code   = mesh.polytope_interface[e],
                                 i       = code / 2;
              if (!data.facets ||
                  (data.constant_facets &&
                   mesh.interface_polytope[2 * i + 1] != invalid_index))
                continue;
              const unsigned int degree =
                Device::interface_degree(mesh, dofs, i);
              for (unsigned int f = mesh.facet_offset[i];
                   f < mesh.facet_offset[i + 1];
                   ++f)
                n_facets +=
                  mesh.facet_type[f] == FacetType::tabulated
                    ? mesh.facet_point_offset[f + 1] -
                        mesh.facet_point_offset[f]
                    : rules.facet(mesh.facet_type[f], degree).n_points;
              if (code % 2 == 0)
                n_packed[mesh.neighbor(code) == invalid_index] +=
                  n_facets - before;
            }
        }
      positions.subcell.push_back(n_volume);
      positions.entry.push_back(n_facets);
      positions.interior.push_back(n_packed[0]);
      positions.boundary.push_back(n_packed[1]);
      return positions;
    }



    template <int dim>
    void
    HostTabulation<dim>::volume(const Device::Range<std::uint64_t> &first_point,
                                const Device::Chunk                &chunk,
                                const unsigned int                  begin,
                                const unsigned int                  end,
                                double                             *table,
                                const DiffusionValues<dim> *diffusion) const
    {
      const Device::VolumeLayout &L = data.volume_layout;
      VolumePointBuffer<dim>      points(buffer_capacity(rules));
      // Evaluated in the cache, and copied to the table with streaming stores.
      std::vector<double> memory(static_cast<std::size_t>(L.n) *
                                 pitch(points.capacity));
      for (unsigned int k = begin; k < end; ++k)
        {
          std::uint64_t position =
            first_point[mesh.subcell_offset[k]] -
            first_point[mesh.subcell_offset[chunk.begin]];
          unsigned int  subcell = mesh.subcell_offset[k], point = 0;
          std::uint64_t first = 0;
          while (subcell < mesh.subcell_offset[k + 1])
            {
              points.fill(mesh, dofs, rules, kernels, k, subcell, point);
              const auto at = [&](const int array) {
                return memory.data() + array * pitch(points.capacity);
              };
              const auto store = [&](const double *from, const int array) {
                kernels.stream(from,
                               points.n_points,
                               table + array * chunk.n_volume_points +
                                 position);
              };
              VolumeBlocks<dim> blocks = make_blocks<dim>(L, at);
              const int         n_a    = L.a < 0 ? 0 : L.tensor ? dim * dim : 1;
              const int         kept   = diffusion != nullptr ? n_a : 0;
              for (int d = 0; d < kept; ++d)
                {
                  blocks.a[d] = nullptr;
                  store(diffusion->values(k) + d * diffusion->n_points(k) +
                          first,
                        L.a + d);
                }
              if (blocks.a[0] || blocks.beta[0] || blocks.b[0] || blocks.c ||
                  blocks.f)
                form.evaluate_volume(make_batch(points), blocks);
              for (int array = 0; array < L.n; ++array)
                if (array < L.a || array >= L.a + kept)
                  store(at(array), array);
              position += points.n_points;
              first += points.n_points;
            }
        }
      kernels.finish_streams();
    }



    template <int dim>
    bool
    HostTabulation<dim>::packed_volume(
      const Device::Range<std::uint64_t> &first_point,
      const Device::Chunk                &chunk,
      double                             *table,
      double                             *a_bar) const
    {
      PackedVolumeTabulation<dim> tabulation(
        *this, first_point, chunk, table, a_bar);
      for_polytopes(
        chunk.end - chunk.begin,
        [&](const unsigned int begin, const unsigned int end) {
          tabulation.tabulate(begin, end);
        },
        tabulation_grain);
      if (tabulation.symmetric())
        return true;
      for_polytopes(chunk.end - chunk.begin,
                    [&](const unsigned int begin, const unsigned int end) {
                      tabulation.complete(begin, end);
                    });
      return false;
    }



#define INSTANTIATE(dim)                                                  \
  template TablePositions table_positions(const PolytopicMesh<dim> &,     \
                                          const PolytopicDoFs &,          \
                                          const HostRules<dim> &,         \
                                          const Device::FormData<dim> &); \
  template void           HostTabulation<dim>::volume(                    \
    const Device::Range<std::uint64_t> &,                       \
    const Device::Chunk &,                                      \
    const unsigned int,                                         \
    const unsigned int,                                         \
    double *,                                                   \
    const DiffusionValues<dim> *) const;                        \
  template bool HostTabulation<dim>::packed_volume(                       \
    const Device::Range<std::uint64_t> &,                                 \
    const Device::Chunk &,                                                \
    double *,                                                             \
    double *) const

    INSTANTIATE(2);
    INSTANTIATE(3);
    INSTANTIATE(4);
#undef INSTANTIATE
  } // namespace internal
} // namespace Tessella
