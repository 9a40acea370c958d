// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "cuda_tabulation.h"

#include <tessella/forms/stationary_matrix.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "host_assembly.h"
#include "host_dispatch.h"

namespace Tessella
{
  namespace internal
  {
    namespace
    {
      // Number of polytopes per task: a chunk has a few thousand polytopes, and
      // all threads wait for the last task.
      constexpr unsigned int tabulation_grain = 8, facet_grain = 16;

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

        // Writes the points of facet f from `position` on; returns their
        // number.
        unsigned int
        append(const PolytopicMesh<dim>        &mesh,
               const HostRules<dim>            &rules,
               const HostKernels::Kernels<dim> &kernels,
               const double                     penalty,
               const unsigned int               f,
               const unsigned int               side,
               const unsigned int               degree,
               const double                    *shift,
               const std::size_t                position)
        {
          double *target[dim], *target_normal[dim];
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
              const HostKernels::Rule &rule = rules.facet(type, degree);
              const double            *v =
                &mesh.facet_vertices[mesh.facet_vertex_offset[f] * dim];
              n = rule.n_points;
              if (type == FacetType::quadrilateral)
                kernels.multilinear_facet(
                  v, rule, target, target_normal, w + position);
              else
                {
                  double edges[dim - 1][dim];
                  for (unsigned int d = 0; d + 1 < dim; ++d)
                    for (unsigned int e = 0; e < dim; ++e)
                      edges[d][e] = v[(d + 1) * dim + e] - v[e];
                  kernels.affine_points(
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
    } // namespace



    template <int dim>
    Device::FormData<dim>
    make_form_data(const PolytopicMesh<dim> &mesh,
                   const Form<dim>          &form,
                   const bool                matrix,
                   const bool                rhs,
                   const bool                block_rows)
    {
      const VolumeStructure V    = form.volume_structure();
      const FacetStructure  F    = form.facet_structure();
      const bool            a    = V.diffusion != DiffusionType::none;
      Device::FormData<dim> data = {};
      data.matrix                = matrix;
      data.rhs                   = rhs;
      data.volume                = a || V.beta || V.b || V.c;
      data.facets                = F.facets;
      data.symmetric             = V.symmetric;
      data.diagonal = V.diffusion != DiffusionType::tensor && !V.beta && !V.b;
      data.constant_volume = V.constant;
      data.flux            = F.b || F.beta;
      data.penalty_facets  = block_rows && form.has_penalty_facets(data.theta);
      const auto *const stationary =
        dynamic_cast<const StationaryMatrix *>(&form);
      data.stationary =
        stationary != nullptr && stationary->matrix_is_stationary();

      Device::VolumeLayout &L   = data.volume_layout;
      const auto            add = [](int &entry, const int n, int &total) {
        entry = total;
        total += n;
      };
      L.tensor = V.diffusion == DiffusionType::tensor;
      if (matrix && !V.constant)
        {
          if (a)
            add(L.a, L.tensor ? dim * dim : 1, L.n);
          if (V.beta)
            add(L.beta, dim, L.n);
          if (V.b)
            add(L.b, dim, L.n);
          if (V.c)
            add(L.c, 1, L.n);
        }
      if (rhs && V.f)
        add(L.f, 1, L.n);

      // The right-hand side alone uses the quadrature rule of the matrix.
      if (V.constant && data.volume)
        {
          double            entries[dim * dim + 2 * dim + 1] = {};
          VolumeBlocks<dim> blocks                           = {};
          for (unsigned int d = 0; d < dim * dim; ++d)
            blocks.a[d] = (L.tensor || (a && d == 0)) ? entries + d : nullptr;
          for (unsigned int d = 0; d < dim; ++d)
            {
              blocks.beta[d] = V.beta ? entries + dim * dim + d : nullptr;
              blocks.b[d]    = V.b ? entries + dim * dim + dim + d : nullptr;
            }
          blocks.c = V.c ? entries + dim * dim + 2 * dim : nullptr;
          PointBatch<dim> batch;
          batch.n_points = 1;
          for (unsigned int d = 0; d < dim; ++d)
            batch.x[d] = &mesh.subcell_vertices[d];
          const unsigned int subcell = 0;
          batch.subcell              = &subcell;
          batch.material             = mesh.subcell_material.data();
          form.evaluate_volume(batch, blocks);
          data.C[0][0] = V.c ? *blocks.c : 0.;
          for (unsigned int d = 0; d < dim; ++d)
            {
              data.C[0][1 + d] = V.b ? *blocks.b[d] : 0.;
              data.C[1 + d][0] = V.beta ? *blocks.beta[d] : 0.;
              for (unsigned int e = 0; e < dim; ++e)
                data.C[1 + d][1 + e] = L.tensor      ? *blocks.a[d * dim + e]
                                       : a && d == e ? *blocks.a[0]
                                                     : 0.;
            }
        }

      if (block_rows && rhs && V.f && V.constant_f)
        {
          VolumeBlocks<dim> blocks = {};
          blocks.f                 = &data.f;
          PointBatch<dim> batch;
          batch.n_points = 1;
          for (unsigned int d = 0; d < dim; ++d)
            batch.x[d] = &mesh.subcell_vertices[d];
          const unsigned int subcell = 0;
          batch.subcell              = &subcell;
          batch.material             = mesh.subcell_material.data();
          form.evaluate_volume(batch, blocks);
          data.same_f = true;
          if (L.n == 1)
            {
              data.constant_f = true;
              L.f             = -1;
              L.n             = 0;
            }
        }
      if (!V.constant)
        data.volume_rows =
          (V.b || V.c ? 1u : 0u) | (a || V.beta ? (2u << dim) - 2u : 0u);
      else if (matrix && data.volume)
        for (unsigned int e = 0; e <= dim; ++e)
          for (unsigned int f = 0; f <= dim; ++f)
            if (data.C[e][f] != 0.)
              data.volume_rows |= 1u << e;

      ConstantFacetTerms<dim> terms;
      if (F.facets && form.constant_interior_facets(terms))
        {
          data.constant_facets = true;
          std::copy(terms.a, terms.a + dim * dim, data.a);
          std::copy(terms.b, terms.b + dim, data.b);
          data.theta           = terms.theta;
          data.constant_bottom = block_rows &&
                                 terms.boundary_id != invalid_index &&
                                 terms.boundary_id == mesh.bottom_id;
        }
      data.packed_facets = data.penalty_facets && F.facets && F.mirrored &&
                           !data.constant_facets && mesh.shift.size() <= dim;
      data.continuous        = F.continuous;
      Device::FacetLayout &G = data.facet_layout;
      if (F.facets)
        {
          // Every form writes c. Tabulated interior points use the same arrays
          // as boundary points.
          const int n_sides = data.constant_facets ? 1 : 2;
          for (int side = 0; side < n_sides; ++side)
            {
              if (side == 0 || !data.penalty_facets)
                add(G.c[side], 1, G.n);
              if (F.b)
                add(G.b[side], dim, G.n);
              if (F.beta && !data.penalty_facets)
                add(G.beta[side], dim, G.n);
            }
          if (rhs && F.rhs)
            {
              add(G.r, 1, G.n);
              if (F.beta)
                add(G.s, dim, G.n);
            }
        }
      return data;
    }

    template <int dim>
    TablePositions
    table_positions(const PolytopicMesh<dim>    &mesh,
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
                  : rules.subcell(mesh.subcell_type[s], mesh.degree[k])
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
              const unsigned int degree = Device::interface_degree(mesh, i);
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
    tabulate_volume(const PolytopicMesh<dim>           &mesh,
                    const Form<dim>                    &form,
                    const HostRules<dim>               &rules,
                    const HostKernels::Kernels<dim>    &kernels,
                    const Device::VolumeLayout         &L,
                    const Device::Range<std::uint64_t> &first_point,
                    const Device::Chunk                &chunk,
                    const unsigned int                  begin,
                    const unsigned int                  end,
                    double                             *table,
                    const DiffusionValues<dim>         *diffusion)
    {
      VolumePointBuffer<dim> points(buffer_capacity(rules));
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
              points.fill(mesh, rules, kernels, k, subcell, point);
              const auto at = [&](const int array) {
                return memory.data() + array * pitch(points.capacity);
              };
              const auto store = [&](const double *from, const int array) {
                kernels.stream(from,
                               points.n_points,
                               table + array * chunk.n_volume_points +
                                 position);
              };
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
              PointBatch<dim> batch;
              batch.n_points = points.n_points;
              std::copy(points.x, points.x + dim, batch.x);
              batch.subcell  = points.subcells.data();
              batch.material = points.materials.data();
              const int n_a  = L.a < 0 ? 0 : L.tensor ? dim * dim : 1;
              const int kept = diffusion != nullptr ? n_a : 0;
              for (int d = 0; d < kept; ++d)
                {
                  blocks.a[d] = nullptr;
                  store(diffusion->values(k) + d * diffusion->n_points(k) +
                          first,
                        L.a + d);
                }
              if (blocks.a[0] || blocks.beta[0] || blocks.b[0] || blocks.c ||
                  blocks.f)
                form.evaluate_volume(batch, blocks);
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
    void
    tabulate_facets(const PolytopicMesh<dim>           &mesh,
                    const Form<dim>                    &form,
                    const double                       *sigma,
                    const HostRules<dim>               &rules,
                    const HostKernels::Kernels<dim>    &kernels,
                    const Device::FormData<dim>        &data,
                    const Device::Range<std::uint64_t> &first_point,
                    const Device::Chunk                &chunk,
                    const unsigned int                  begin,
                    const unsigned int                  end,
                    double                             *table)
    {
      const Device::FacetLayout &L = data.facet_layout;
      const std::uint64_t        chunk_first =
        first_point[mesh.polytope_interface_offset[chunk.begin]];
      const bool          periodic = mesh.shift.size() > dim;
      FacetPoints<dim>    points;
      std::vector<double> present, mirrored;

      // Arrays of interior facets, and of boundary facets.
      std::vector<int> interior_arrays, boundary_arrays;
      const auto add = [](std::vector<int> &arrays, const int i, const int n) {
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

      for (unsigned int k = begin; k < end; ++k)
        {
          const unsigned int first_entry = mesh.polytope_interface_offset[k],
                             last_entry = mesh.polytope_interface_offset[k + 1];
          const std::uint64_t first     = first_point[first_entry];
          if (first_point[last_entry] == first)
            continue;
          points.resize(first_point[last_entry] - first);

          // Arrays of a table with n_points values each.
          const auto make_blocks = [&](double *const       p,
                                       const std::uint64_t n_points,
                                       const bool          boundary) {
            const auto at = [&](const int array) {
              return array >= 0 ? p + array * n_points : nullptr;
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
          };

          // Evaluates points [from, to) of this polytope, and also those of the
          // neighbours if entries [from_entry, to_entry) are not empty.
          const auto evaluate = [&](const std::size_t  from,
                                    const std::size_t  to,
                                    const unsigned int boundary_id,
                                    const unsigned int from_entry,
                                    const unsigned int to_entry) {
            if (from == to)
              return;
            const bool        boundary = boundary_id != invalid_index;
            const std::size_t n        = to - from;
            present.resize(
              std::max(present.size(), static_cast<std::size_t>(L.n) * n));
            FacetBlocks<dim> blocks = make_blocks(present.data(), n, boundary);
            // Evaluated in the cache, and copied to the table with streaming
            // stores.
            const auto store = [&]() {
              for (const int array :
                   boundary ? boundary_arrays : interior_arrays)
                kernels.stream(present.data() + array * n,
                               n,
                               table + array * chunk.n_facet_points +
                                 (first - chunk_first) + from);
            };
            FacetPointBatch<dim> batch;
            batch.n_points = to - from;
            for (unsigned int d = 0; d < dim; ++d)
              {
                batch.x[d] = points.x[d] + from;
                batch.neighbor_x[d] =
                  periodic ? points.y[d] + from : batch.x[d];
                batch.normal[d] = points.normal[d] + from;
              }
            batch.subcell  = points.subcell[0].data() + from;
            batch.material = points.material[0].data() + from;
            batch.sigma    = points.sigma + from;
            if (boundary)
              {
                batch.boundary_id = boundary_id;
                form.evaluate_boundary_facets(batch, blocks);
                store();
                return;
              }
            batch.neighbor_subcell  = points.subcell[1].data() + from;
            batch.neighbor_material = points.material[1].data() + from;
            if (from_entry == to_entry)
              {
                form.evaluate_interior_facets(batch, blocks);
                store();
                return;
              }
            mirrored.resize(
              std::max(mirrored.size(), static_cast<std::size_t>(L.n) * n));
            FacetBlocks<dim> others = make_blocks(mirrored.data(), n, false);
            form.evaluate_both_sides(batch, blocks, others);
            store();
            for (unsigned int e = from_entry; e < to_entry; ++e)
              {
                // index of the same interface in the neighbour's list
                const unsigned int code     = mesh.polytope_interface[e],
                                   neighbor = mesh.neighbor(code);
                unsigned int other = mesh.polytope_interface_offset[neighbor];
                while (mesh.polytope_interface[other] != (code ^ 1u))
                  ++other;
                const std::size_t offset = first_point[e] - first - from;
                for (const int array : interior_arrays)
                  kernels.stream(mirrored.data() + array * n + offset,
                                 first_point[e + 1] - first_point[e],
                                 table + array * chunk.n_facet_points +
                                   (first_point[other] - chunk_first));
              }
          };

          // Evaluation of an interior interface: each polytope evaluates its
          // own side, or one polytope evaluates both sides if both are in the
          // chunk.
          enum class Share
          {
            own,
            both,
            none
          };
          const auto share_of = [&](const unsigned int code) {
            const unsigned int neighbor = mesh.neighbor(code);
            if (neighbor < chunk.begin || neighbor >= chunk.end ||
                neighbor == k || mesh.interface_shift[code / 2] != 0)
              return Share::own;
            return code % 2 == 0 ? Share::both : Share::none;
          };

          // Consecutive entries of the same kind are evaluated together; each
          // boundary id is evaluated separately.
          std::size_t  n = 0, run_begin = 0;
          unsigned int run_entry = first_entry;
          Share        run       = Share::own;
          const auto   end_run   = [&](const unsigned int e) {
            if (run != Share::none)
              evaluate(run_begin,
                       n,
                       invalid_index,
                       run == Share::both ? run_entry : e,
                       e);
            run_begin = n;
            run_entry = e;
          };
          for (unsigned int e = first_entry; e < last_entry; ++e)
            {
              if (first_point[e + 1] == first_point[e])
                {
                  end_run(e);
                  run_entry = e + 1;
                  continue;
                }
              const unsigned int code      = mesh.polytope_interface[e],
                                 interface = code / 2, side = code % 2;
              const unsigned int neighbor = mesh.neighbor(code);
              const bool         boundary = neighbor == invalid_index;
              const Share        share = boundary ? Share::own : share_of(code);
              if (share != run || boundary)
                {
                  end_run(e);
                  run = share;
                }
              if (share == Share::none)
                {
                  n += first_point[e + 1] - first_point[e];
                  continue;
                }
              unsigned int degree = mesh.degree[k];
              if (!boundary)
                degree = std::max(degree, mesh.degree[neighbor]);
              for (unsigned int f = mesh.facet_offset[interface];
                   f < mesh.facet_offset[interface + 1];
                   ++f)
                n += points.append(
                  mesh,
                  rules,
                  kernels,
                  sigma[f],
                  f,
                  side,
                  degree,
                  &mesh.shift[mesh.interface_shift[interface] * dim],
                  n);
              if (boundary)
                {
                  evaluate(
                    run_begin, n, mesh.interface_boundary_id[interface], 0, 0);
                  run_begin = n;
                  run_entry = e + 1;
                }
            }
          end_run(last_entry);
        }
      kernels.finish_streams();
    }



    template <int dim>
    bool
    tabulate_packed_volume(const PolytopicMesh<dim>           &mesh,
                           const Form<dim>                    &form,
                           const HostRules<dim>               &rules,
                           const HostKernels::Kernels<dim>    &kernels,
                           const Device::FormData<dim>        &data,
                           const Device::Range<std::uint64_t> &first_point,
                           const Device::Chunk                &chunk,
                           double                             *table,
                           double                             *a_bar)
    {
      const Device::VolumeLayout     &L = data.volume_layout;
      const Device::PackedTables<dim> packed(data);
      const std::uint64_t             n = chunk.n_volume_points;
      const int n_upper                 = packed.n_volume - packed.n_lower;
      // Polytopes whose entries below the diagonal are in the table.
      std::vector<unsigned char> general(chunk.end - chunk.begin, 0);
      const auto                 position_of = [&](const unsigned int k) {
        return first_point[mesh.subcell_offset[k]] -
               first_point[mesh.subcell_offset[chunk.begin]];
      };
      // Copies the entries of a symmetric tensor to those below the diagonal,
      // at n_points points.
      const auto mirror = [&](const std::uint64_t position,
                              const std::uint64_t n_points) {
        for (int i = 0; i < L.n; ++i)
          if (packed.symmetric[i] != packed.volume[i])
            std::copy_n(table + packed.symmetric[i] * n + position,
                        n_points,
                        table + packed.volume[i] * n + position);
      };

      for_polytopes(
        chunk.end - chunk.begin,
        [&](const unsigned int begin, const unsigned int end) {
          VolumePointBuffer<dim> points(buffer_capacity(rules));
          // Evaluated in the cache, and copied to the table with streaming
          // stores.
          const std::unique_ptr<double[]> memory(
            new double[static_cast<std::size_t>(packed.n_volume) *
                       pitch(points.capacity)]);
          const auto at = [&](const int array) {
            return memory.get() + array * pitch(points.capacity);
          };
          VolumeBlocks<dim> blocks = {};
          for (unsigned int d = 0; d < dim * dim; ++d)
            if (L.a >= 0 && (L.tensor || d == 0))
              blocks.a[d] = at(packed.volume[L.a + d]);
          for (unsigned int d = 0; d < dim; ++d)
            {
              if (L.beta >= 0)
                blocks.beta[d] = at(packed.volume[L.beta + d]);
              if (L.b >= 0)
                blocks.b[d] = at(packed.volume[L.b + d]);
            }
          if (L.c >= 0)
            blocks.c = at(packed.volume[L.c]);
          if (L.f >= 0 && packed.volume[L.f] >= 0)
            blocks.f = at(packed.volume[L.f]);

          for (unsigned int k = chunk.begin + begin; k < chunk.begin + end; ++k)
            {
              std::uint64_t  position = position_of(k);
              unsigned int   subcell = mesh.subcell_offset[k], point = 0;
              unsigned char &lower = general[k - chunk.begin];
              while (subcell < mesh.subcell_offset[k + 1])
                {
                  points.fill(mesh, rules, kernels, k, subcell, point);
                  PointBatch<dim> batch;
                  batch.n_points = points.n_points;
                  std::copy(points.x, points.x + dim, batch.x);
                  batch.subcell  = points.subcells.data();
                  batch.material = points.materials.data();
                  form.evaluate_volume(batch, blocks);
                  bool symmetric = true;
                  if (a_bar != nullptr)
                    symmetric = raise_largest_diffusion(mesh,
                                                        kernels,
                                                        L.tensor,
                                                        k,
                                                        blocks.a,
                                                        points.n_points,
                                                        a_bar);
                  else if (packed.n_lower > 0)
                    symmetric = kernels.is_symmetric(blocks.a, points.n_points);
                  if (packed.n_lower > 0 && lower == 0 && !symmetric)
                    {
                      lower = 1;
                      mirror(position_of(k), position - position_of(k));
                    }
                  for (int array = 0;
                       array < (lower != 0 ? packed.n_volume : n_upper);
                       ++array)
                    kernels.stream(at(array),
                                   points.n_points,
                                   table + array * n + position);
                  position += points.n_points;
                }
            }
          kernels.finish_streams();
        },
        tabulation_grain);

      if (std::none_of(general.begin(),
                       general.end(),
                       [](const unsigned char lower) { return lower != 0; }))
        return true;
      for_polytopes(chunk.end - chunk.begin,
                    [&](const unsigned int begin, const unsigned int end) {
                      for (unsigned int k = begin; k < end; ++k)
                        if (general[k] == 0)
                          mirror(position_of(chunk.begin + k),
                                 position_of(chunk.begin + k + 1) -
                                   position_of(chunk.begin + k));
                    });
      return false;
    }

    template <int dim>
    void
    tabulate_packed_facets(const PolytopicMesh<dim>        &mesh,
                           const Form<dim>                 &form,
                           const double                    *sigma,
                           const HostRules<dim>            &rules,
                           const HostKernels::Kernels<dim> &kernels,
                           const Device::FormData<dim>     &data,
                           const std::uint64_t             *interior_points,
                           const std::uint64_t             *boundary_points,
                           const Device::Chunk             &chunk,
                           double                          *interior,
                           double                          *boundary)
    {
      const Device::FacetLayout      &L = data.facet_layout;
      const Device::PackedTables<dim> packed(data);
      const unsigned int              first_entry =
                           mesh.polytope_interface_offset[chunk.begin],
                         last_entry = mesh.polytope_interface_offset[chunk.end];
      const std::uint64_t n_interior = interior_points[last_entry] -
                                       interior_points[first_entry],
                          n_boundary = boundary_points[last_entry] -
                                       boundary_points[first_entry];
      // Number of points that are evaluated together, possibly of several
      // polytopes.
      const std::size_t batch_size = 512;

      for_polytopes(
        chunk.end - chunk.begin,
        [&](const unsigned int begin, const unsigned int end) {
          FacetPoints<dim>    points;
          std::vector<double> values;
          std::size_t         n = 0;

          const auto make_batch = [&]() {
            FacetPointBatch<dim> batch;
            batch.n_points = n;
            for (unsigned int d = 0; d < dim; ++d)
              {
                batch.x[d] = batch.neighbor_x[d] = points.x[d];
                batch.normal[d]                  = points.normal[d];
              }
            batch.subcell  = points.subcell[0].data();
            batch.material = points.material[0].data();
            batch.sigma    = points.sigma;
            return batch;
          };
          const auto arrays = [&](const int n_arrays) {
            values.resize(std::max(values.size(), n_arrays * n));
            return values.data();
          };
          const auto store = [&](const int           n_arrays,
                                 double             *table,
                                 const std::uint64_t n_all,
                                 const std::uint64_t position) {
            for (int i = 0; i < n_arrays; ++i)
              kernels.stream(values.data() + i * n,
                             n,
                             table + i * n_all + position);
            n = 0;
          };

          const unsigned int
            from = mesh.polytope_interface_offset[chunk.begin + begin],
            to   = mesh.polytope_interface_offset[chunk.begin + end];
          std::uint64_t interior_position =
                          interior_points[from] - interior_points[first_entry],
                        boundary_position =
                          boundary_points[from] - boundary_points[first_entry];
          const auto finish_interior = [&]() {
            if (n == 0)
              return;
            FacetPointBatch<dim> batch = make_batch();
            batch.neighbor_subcell     = points.subcell[1].data();
            batch.neighbor_material    = points.material[1].data();
            double          *p         = arrays(packed.n_interior);
            FacetBlocks<dim> own = {}, other = {};
            own.c[0]   = p;
            other.c[0] = p + n;
            p += 2 * n;
            for (unsigned int side = 0; side < 2; ++side)
              for (unsigned int d = 0; d < dim; ++d)
                if (L.b[0] >= 0 && (side == 0 || !data.continuous))
                  {
                    own.b[side][d] = p;
                    p += n;
                  }
            form.evaluate_both_sides(batch, own, other);
            const std::size_t n_points = n;
            store(packed.n_interior, interior, n_interior, interior_position);
            interior_position += n_points;
          };
          const auto finish_boundary = [&](const unsigned int id) {
            if (n == 0)
              return;
            FacetPointBatch<dim> batch = make_batch();
            batch.boundary_id          = id;
            double          *p         = arrays(packed.n_boundary);
            FacetBlocks<dim> blocks    = {};
            blocks.c[0]                = p;
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
            form.evaluate_boundary_facets(batch, blocks);
            const std::size_t n_points = n;
            store(packed.n_boundary, boundary, n_boundary, boundary_position);
            boundary_position += n_points;
          };

          // Facets of side 0, first interior ones, then those of each boundary
          // id.
          for (const bool on_boundary : {false, true})
            {
              unsigned int id = invalid_index;
              for (unsigned int e = from; e < to; ++e)
                {
                  const unsigned int code      = mesh.polytope_interface[e],
                                     interface = code / 2;
                  if (code % 2 != 0 ||
                      (mesh.neighbor(code) == invalid_index) != on_boundary)
                    continue;
                  const std::uint64_t *counts =
                    on_boundary ? boundary_points : interior_points;
                  const std::size_t n_new = counts[e + 1] - counts[e];
                  if (on_boundary &&
                      mesh.interface_boundary_id[interface] != id)
                    {
                      finish_boundary(id);
                      id = mesh.interface_boundary_id[interface];
                    }
                  if (n > 0 && n + n_new > batch_size)
                    {
                      if (on_boundary)
                        finish_boundary(id);
                      else
                        finish_interior();
                    }
                  if (n == 0)
                    points.resize(std::max(n_new, batch_size));
                  const unsigned int degree =
                    Device::interface_degree(mesh, interface);
                  for (unsigned int f = mesh.facet_offset[interface];
                       f < mesh.facet_offset[interface + 1];
                       ++f)
                    n += points.append(mesh,
                                       rules,
                                       kernels,
                                       sigma[f],
                                       f,
                                       0,
                                       degree,
                                       mesh.shift.data(),
                                       n);
                }
              if (on_boundary)
                finish_boundary(id);
              else
                finish_interior();
            }
          kernels.finish_streams();
        },
        facet_grain);
    }



#define INSTANTIATE(dim)                                                         \
  template TablePositions        table_positions(const PolytopicMesh<dim> &,     \
                                                 const HostRules<dim> &,         \
                                                 const Device::FormData<dim> &); \
  template Device::FormData<dim> make_form_data(const PolytopicMesh<dim> &,      \
                                                const Form<dim> &,               \
                                                const bool,                      \
                                                const bool,                      \
                                                const bool);                     \
  template bool tabulate_packed_volume(const PolytopicMesh<dim> &,               \
                                       const Form<dim> &,                        \
                                       const HostRules<dim> &,                   \
                                       const HostKernels::Kernels<dim> &,        \
                                       const Device::FormData<dim> &,            \
                                       const Device::Range<std::uint64_t> &,     \
                                       const Device::Chunk &,                    \
                                       double *,                                 \
                                       double *);                                \
  template void tabulate_packed_facets(const PolytopicMesh<dim> &,               \
                                       const Form<dim> &,                        \
                                       const double *,                           \
                                       const HostRules<dim> &,                   \
                                       const HostKernels::Kernels<dim> &,        \
                                       const Device::FormData<dim> &,            \
                                       const std::uint64_t *,                    \
                                       const std::uint64_t *,                    \
                                       const Device::Chunk &,                    \
                                       double *,                                 \
                                       double *);                                \
  template void tabulate_volume(const PolytopicMesh<dim> &,                      \
                                const Form<dim> &,                               \
                                const HostRules<dim> &,                          \
                                const HostKernels::Kernels<dim> &,               \
                                const Device::VolumeLayout &,                    \
                                const Device::Range<std::uint64_t> &,            \
                                const Device::Chunk &,                           \
                                const unsigned int,                              \
                                const unsigned int,                              \
                                double *,                                        \
                                const DiffusionValues<dim> *);                   \
  template void tabulate_facets(const PolytopicMesh<dim> &,                      \
                                const Form<dim> &,                               \
                                const double *,                                  \
                                const HostRules<dim> &,                          \
                                const HostKernels::Kernels<dim> &,               \
                                const Device::FormData<dim> &,                   \
                                const Device::Range<std::uint64_t> &,            \
                                const Device::Chunk &,                           \
                                const unsigned int,                              \
                                const unsigned int,                              \
                                double *)

    INSTANTIATE(2);
    INSTANTIATE(3);
    INSTANTIATE(4);
#undef INSTANTIATE
  } // namespace internal
} // namespace Tessella
