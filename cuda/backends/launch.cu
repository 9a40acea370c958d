// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <algorithm>
#include <limits>

#include "../device/pipeline.h"
#include "basis.h"
#include "launch.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        /// Number of point groups of a part of a row, and largest number in a
        /// row that is not computed in parts. They are constants, since they
        /// determine the order of summation.
        constexpr unsigned int part_size = 512, split_limit = 1280;
        /// Number of rows and columns of the tiles of units.
        constexpr unsigned int unit_tile = 32;

        /// Chooses the kernel for a space with given maximal degree and number
        /// of functions.
        KernelChoice
        choose(const int          dim,
               const unsigned int degree,
               const unsigned int n,
               const bool         uniform,
               const bool         tensor_space)
        {
          KernelChoice choice;
          const auto   set = [&](const RowScheme scheme,
                               const int       p,
                               const int       tiles,
                               const bool      packed) {
            choice.scheme = scheme;
            choice.degree = p;
            choice.tiles  = tiles;
            choice.packed = packed;
          };
          // In four variables, only general kernels exist.
          if (dim < 4 && uniform && !(tensor_space && degree > 0))
            {
              if (dim == 2 && degree <= 6)
                set(RowScheme::rows, degree, 0, false);
              else if (dim == 3 && degree <= 3)
                set(RowScheme::rows, degree, 0, false);
              else if (dim == 3 && degree <= 5)
                set(RowScheme::blocks, degree, 0, false);
            }
          else if (n <= (dim == 4 ? 20 : 28))
            set(RowScheme::rows,
                -1,
                n <= 4    ? 1
                : n <= 12 ? 2
                : n <= 20 ? 3
                          : 4,
                true);
          return choice;
        }

        template <typename T>
        void
        to_device(Workspace         &workspace,
                  Array<T>          &array,
                  const RawArray<T> &values)
        {
          array.resize(values.size());
          workspace->upload(reinterpret_cast<char *>(array.data()),
                            {{reinterpret_cast<const char *>(values.data()),
                              values.size() * sizeof(T),
                              0}});
        }

        /// Uploads the row and the point groups of each block, which only some
        /// kernels read.
        void
        blocks_to_device(Workspace             &workspace,
                         const Parallel        &parallel,
                         const BlockSparsity   &sparsity,
                         const unsigned int     first,
                         const unsigned int     last,
                         const RawArray<uint2> &block_point_groups,
                         Array<unsigned int>   &block_row,
                         Array<uint2>          &block_point_group)
        {
          RawArray<unsigned int> row(block_point_groups.size());
          parallel(last - first,
                   1024,
                   [&](const std::size_t begin, const std::size_t end) {
                     for (std::size_t k = first + begin; k < first + end; ++k)
                       std::fill(row.data() + sparsity.block_offset[k],
                                 row.data() + sparsity.block_offset[k + 1],
                                 static_cast<unsigned int>(k));
                   });
          to_device(workspace, block_row, row);
          to_device(workspace, block_point_group, block_point_groups);
        }

        /// Bits of the non-zero columns of the volume coefficients.
        template <int dim>
        unsigned int
        volume_columns(const FormData<dim> &form)
        {
          unsigned int columns = 0;
          if (!form.volume)
            return columns;
          if (form.constant_volume)
            {
              for (int e = 0; e <= dim; ++e)
                for (int f = 0; f <= dim; ++f)
                  if (form.C[e][f] != 0.)
                    columns |= 1u << f;
              return columns;
            }
          const VolumeLayout &L = form.volume_layout;
          if (L.c >= 0 || L.beta >= 0)
            columns |= 1;
          if (L.a >= 0 || L.b >= 0)
            columns |= (2u << dim) - 2;
          return columns;
        }

        /// Bits of the volume coefficients that are not known to be zero.
        template <int dim>
        unsigned int
        volume_entries(const FormData<dim> &form)
        {
          const VolumeLayout &L       = form.volume_layout;
          unsigned int        entries = 0;
          for (int e = 0; e <= dim; ++e)
            for (int f = 0; f <= dim; ++f)
              if (form.constant_volume ? form.C[e][f] != 0.
                  : e > 0 && f > 0     ? L.a >= 0 && (L.tensor || e == f)
                  : e > 0              ? L.beta >= 0
                  : f > 0              ? L.b >= 0
                                       : L.c >= 0)
                entries |= 1u << (e * (dim + 1) + f);
          return entries;
        }

        /// Polynomial degree of the volume integrands, for constant
        /// coefficients.
        template <int dim>
        int
        volume_degree(const FormData<dim> &form, const int p)
        {
          int degree = 0;
          for (int e = 0; form.volume && e <= dim; ++e)
            for (int f = 0; f <= dim; ++f)
              if (form.C[e][f] != 0.)
                degree = std::max(degree, 2 * p - (e > 0) - (f > 0));
          return degree;
        }
      } // namespace



      template <int dim>
      Kernels<dim>::Kernels(const PolytopicMesh<dim> &mesh,
                            const BlockSparsity      &sparsity,
                            const unsigned int        first,
                            const unsigned int        last,
                            const Degrees            &degrees,
                            const RuleTables         &rules,
                            Workspace                &workspace,
                            const Parallel           &parallel)
        : mesh(mesh)
        , sparsity(sparsity)
        , rules(rules)
        , first(first)
        , last(last)
        , max_degree(degrees.max_degree)
        , max_basis(degrees.max_basis)
        , uniform(degrees.max_basis == degrees.min_basis)
        , simplices(degrees.simplices)
        , prisms(degrees.prisms)
      {
        tensor_space =
          max_basis != Legendre::n_functions(dim, max_degree, false);
        pairs  = n_pairs(dim, max_degree, tensor_space);
        choice = choose(dim, max_degree, max_basis, uniform, tensor_space);

        // With groups of three points, fewer slots of a warp stay empty.
        bool triples = uniform && (simplices || prisms);
        for (const FacetType type : {FacetType::simplex, FacetType::prism})
          {
            const unsigned int n =
              rules.facet[static_cast<unsigned int>(type)][max_degree].n_points;
            triples = triples && (n + 2) / 3 == (n + 3) / 4;
          }
        facet_step = triples ? 3 : 4;

        set_slab_rules();

        // ---- number of point groups of each row
        const auto interface_degree = [&](const unsigned int i) {
          const unsigned int other = mesh.interface_polytope[2 * i + 1],
                             p = mesh.degree[mesh.interface_polytope[2 * i]];
          return other == invalid_index ? p : std::max(p, mesh.degree[other]);
        };
        const auto n_points_of_facet = [&](const unsigned int f,
                                           const unsigned int p) {
          const unsigned int type =
            static_cast<unsigned int>(mesh.facet_type[f]);
          return mesh.facet_type[f] == FacetType::tabulated
                   ? mesh.facet_point_offset[f + 1] - mesh.facet_point_offset[f]
                   : rules.facet[type][p].n_points;
        };
        row_data = RawArray<Row>(mesh.n_polytopes());
        for (unsigned int k = 0; k < mesh.n_polytopes(); ++k)
          if (k < first || k >= last)
            row_data[k] = Row();
        constexpr std::size_t grain = 256;
        parallel(last - first,
                 grain,
                 [&](const std::size_t begin, const std::size_t end) {
                   for (std::size_t k = first + begin; k < first + end; ++k)
                     {
                       // counts first, offsets later
                       unsigned int n_volume = 0, n_facets = 0;
                       for (unsigned int s = mesh.subcell_offset[k];
                            s < mesh.subcell_offset[k + 1];
                            ++s)
                         n_volume +=
                           (n_subcell_points(s, mesh.degree[k]) + 3) / 4;
                       for (unsigned int e = mesh.polytope_interface_offset[k];
                            e < mesh.polytope_interface_offset[k + 1];
                            ++e)
                         {
                           const unsigned int i =
                                                mesh.polytope_interface[e] / 2,
                                              p = interface_degree(i);
                           for (unsigned int f = mesh.facet_offset[i];
                                f < mesh.facet_offset[i + 1];
                                ++f)
                             n_facets +=
                               (n_points_of_facet(f, p) + (facet_step - 1)) /
                               facet_step;
                         }
                       row_data[k].volume_end = n_volume;
                       row_data[k].facet_end  = n_facets;
                     }
                 });
        std::uint64_t n_volume = 0, n_facets = 0;
        for (unsigned int k = first; k < last; ++k)
          {
            Row &row          = row_data[k];
            row.value         = sparsity.value_offset[k];
            row.width         = sparsity.row_width[k];
            row.degree        = mesh.degree[k];
            row.n_basis       = mesh.n_basis[k];
            row.first_subcell = mesh.subcell_offset[k];
            row.n_subcells    = mesh.subcell_offset[k + 1] - row.first_subcell;
            row.volume_begin  = static_cast<unsigned int>(n_volume);
            row.facet_begin   = static_cast<unsigned int>(n_facets);
            n_volume += row.volume_end;
            n_facets += row.facet_end;
            row.volume_end = static_cast<unsigned int>(n_volume);
            row.facet_end  = static_cast<unsigned int>(n_facets);
            if (row.n_point_groups() > split_limit)
              split_rows.push_back(k);
          }
        if (std::max(n_volume, n_facets) >
            std::numeric_limits<unsigned int>::max())
          throw Error(
            "The mesh has more than 2^34 quadrature points, which is "
            "too many for one assembly on a CUDA device. Use a "
            "smaller problem or the host backend.");

        // ---- point groups, and those of each block
        RawArray<FacetPointGroup> facets(n_facets);
        block_point_groups = RawArray<uint2>(sparsity.block_column.size());
        parallel(
          last - first,
          grain,
          [&](const std::size_t begin, const std::size_t end) {
            for (std::size_t k = first + begin; k < first + end; ++k)
              {
                Row                &row_k       = row_data[k];
                unsigned int        f           = row_k.facet_begin;
                const std::uint64_t first_block = sparsity.block_offset[k],
                                    last_block  = sparsity.block_offset[k + 1];
                std::uint64_t block             = first_block;
                for (std::uint64_t b = first_block; b < last_block; ++b)
                  block_point_groups[b] = {f, f};
                row_k.boundary_begin = row_k.bottom_begin = invalid_index;
                for (unsigned int e = mesh.polytope_interface_offset[k];
                     e < mesh.polytope_interface_offset[k + 1];
                     ++e)
                  {
                    const unsigned int code = mesh.polytope_interface[e],
                                       i = code / 2, p = interface_degree(i),
                                       neighbor = mesh.neighbor(code);
                    const bool bottom =
                      neighbor == invalid_index &&
                      mesh.interface_boundary_id[i] == degrees.bottom_id;
                    if (neighbor == invalid_index)
                      row_k.boundary_begin = std::min(row_k.boundary_begin, f);
                    if (bottom)
                      row_k.bottom_begin = std::min(row_k.bottom_begin, f);
                    if (neighbor != invalid_index)
                      {
                        // Usually the next block; neighbours on other processes
                        // are in a different order.
                        while (sparsity.block_column[block] != neighbor)
                          if (++block == last_block)
                            block = first_block;
                        if (block_point_groups[block].x ==
                            block_point_groups[block].y)
                          block_point_groups[block].x = f;
                      }
                    const unsigned int column =
                      neighbor == invalid_index ? 0
                                                : sparsity.column_offset[block];
                    const unsigned int flags =
                      (code & 1u ? FacetPointGroup::side : 0) |
                      (mesh.interface_shift[i] != 0 ? FacetPointGroup::shifted
                                                    : 0) |
                      (bottom ? FacetPointGroup::bottom : 0);
                    unsigned int entry_point = 0;
                    for (unsigned int g = mesh.facet_offset[i];
                         g < mesh.facet_offset[i + 1];
                         ++g)
                      {
                        const unsigned int m = n_points_of_facet(g, p);
                        const unsigned int prism =
                          mesh.facet_type[g] == FacetType::prism
                            ? FacetPointGroup::prism
                            : 0;
                        for (unsigned int q = 0; q < m; q += facet_step)
                          facets[f++] = {g,
                                         q << FacetPointGroup::point_shift |
                                           flags | prism,
                                         neighbor,
                                         column,
                                         e,
                                         entry_point + q};
                        entry_point += m;
                      }
                    if (neighbor != invalid_index)
                      block_point_groups[block].y = f;
                  }
                row_k.boundary_begin = std::min(row_k.boundary_begin, f);
                row_k.bottom_begin   = std::min(row_k.bottom_begin, f);
                row_k.upright        = slab && row_k.bottom_begin < f &&
                                row_k.n_point_groups() <= split_limit;
                const double *const box = mesh.box.data();
                for (unsigned int e = mesh.polytope_interface_offset[k];
                     row_k.upright && e < mesh.polytope_interface_offset[k + 1];
                     ++e)
                  {
                    const std::size_t j =
                      mesh.neighbor(mesh.polytope_interface[e]);
                    for (unsigned int d = dim - 1; d < 2 * dim; d += dim)
                      row_k.upright = row_k.upright && (j == invalid_index ||
                                                        box[2 * dim * j + d] ==
                                                          box[2 * dim * k + d]);
                  }
                row_k.empty_blocks = false;
                for (std::uint64_t b = sparsity.block_offset[k];
                     b < sparsity.block_offset[k + 1];
                     ++b)
                  if (sparsity.block_column[b] == k)
                    row_k.diagonal = sparsity.column_offset[b];
                  else if (block_point_groups[b].x == block_point_groups[b].y)
                    row_k.empty_blocks = true;
              }
          });

        n_not_upright             = 0;
        unsigned int n_many       = 0;
        bool         empty_blocks = false;
        for (unsigned int k = first; k < last; ++k)
          {
            const Row &row = row_data[k];
            empty_blocks   = empty_blocks || row.empty_blocks;
            if (!row.upright)
              {
                ++n_not_upright;
                continue;
              }
            if (row.bottom_begin - row.facet_begin >
                SlabRules::few_facets * slab_rules.point_groups_per_facet)
              ++n_many;
            const double *const box   = &mesh.box[2 * dim * std::size_t(k)];
            slab_rules.inverse_length = 1. / (box[2 * dim - 1] - box[dim - 1]);
          }
        slab_rules.mostly_many_facets =
          n_many > (last - first - n_not_upright) / 2;
        for (unsigned int k = first; k < last; ++k)
          if (row_data[k].n_point_groups() <= split_limit)
            {
              if (degrees.bottom_id != invalid_index &&
                  row_data[k].boundary_begin < row_data[k].bottom_begin)
                boundary_rows[0].push_back(k);
              if (row_data[k].boundary_begin < row_data[k].facet_end)
                boundary_rows[1].push_back(k);
            }
        for (unsigned int i = 0; i < 2; ++i)
          boundary_row[i] = Array<unsigned int>(boundary_rows[i]);
        to_device(workspace, facet_point_group, facets);
        to_device(workspace, rows, row_data);
        if (empty_blocks)
          blocks_to_device(workspace,
                           parallel,
                           sparsity,
                           first,
                           last,
                           block_point_groups,
                           block_row,
                           block_point_group);
        if (!split_rows.empty())
          {
            make_block_units(split_rows, split_units);
            make_rhs_units(split_rows, rhs_units);
          }
      }



      template <int dim>
      unsigned int
      Kernels<dim>::n_subcell_points(const unsigned int subcell,
                                     const unsigned int degree) const
      {
        const SubCellType type = mesh.subcell_type[subcell];
        return type == SubCellType::tabulated
                 ? mesh.subcell_point_offset[subcell + 1] -
                     mesh.subcell_point_offset[subcell]
                 : rules.subcell[static_cast<unsigned int>(type)][degree]
                     .n_points;
      }



      template <int dim>
      void
      Kernels<dim>::prepare(const FormData<dim> &form,
                            const std::uint64_t *first_point,
                            Workspace           &workspace,
                            const Parallel      &parallel,
                            const Data<dim>     &D)
      {
        // Kernels that are compiled for a degree compute the points of affine
        // sub-cells themselves; kernels of tiles read the list.
        const bool numbered = choice.degree >= 0 && (simplices || prisms),
                   matrix =
                     form.matrix && !(slab_matrix(form) && n_not_upright == 0),
                   rhs   = form.rhs && !(slab_rhs(form) && n_not_upright == 0);
        const bool tiles = !split_rows.empty() ||
                           (matrix && (choice.scheme == RowScheme::units ||
                                       (form.facets && !form.penalty_facets)));
        if (first == last)
          return;
        if constexpr (dim > 2)
          if (max_degree == 1 && slab_box.size() == 0 &&
              n_not_upright < last - first &&
              ((form.matrix && slab_matrix(form)) ||
               (form.rhs && slab_rhs(form))))
            {
              slab_box.resize(slab_box_size * mesh.n_polytopes());
              slab_facet.resize(slab_facet_size * mesh.n_facets());
              SlabLauncher<dim, double>::geometry(D,
                                                  mesh.n_polytopes(),
                                                  mesh.n_facets(),
                                                  slab_box.data(),
                                                  slab_facet.data(),
                                                  workspace->kernel_stream);
            }
        if ((tiles || (matrix && choice.scheme == RowScheme::blocks)) &&
            block_row.size() == 0)
          blocks_to_device(workspace,
                           parallel,
                           sparsity,
                           first,
                           last,
                           block_point_groups,
                           block_row,
                           block_point_group);
        if (!(tiles || (matrix && !numbered) ||
              (rhs && (!numbered || dim == 4 || choice.degree < 1 ||
                       choice.degree > 5))) ||
            volume_point_group.size() > 0)
          return;
        RawArray<VolumePointGroup> volume(row_data[last - 1].volume_end);
        parallel(last - first,
                 256,
                 [&](const std::size_t begin, const std::size_t end) {
                   for (std::size_t k = first + begin; k < first + end; ++k)
                     {
                       unsigned int  v = row_data[k].volume_begin;
                       std::uint64_t point =
                         first_point[mesh.subcell_offset[k]];
                       for (unsigned int s = mesh.subcell_offset[k];
                            s < mesh.subcell_offset[k + 1];
                            ++s)
                         {
                           const unsigned int m =
                             n_subcell_points(s, mesh.degree[k]);
                           for (unsigned int q = 0; q < m; q += 4)
                             volume[v++] = {s, q, point + q};
                           point += m;
                         }
                     }
                 });
        to_device(workspace, volume_point_group, volume);
      }



      template <int dim>
      std::size_t
      Kernels<dim>::memory() const
      {
        std::size_t bytes =
          volume_point_group.size() * sizeof(VolumePointGroup) +
          facet_point_group.size() * sizeof(FacetPointGroup) +
          rows.size() * sizeof(Row) + block_row.size() * sizeof(unsigned int) +
          block_point_group.size() * sizeof(uint2) +
          (boundary_row[0].size() + boundary_row[1].size()) *
            sizeof(unsigned int) +
          (slab_box.size() + slab_facet.size() + scratch.size()) *
            sizeof(double);
        for (const UnitList *list :
             {&split_units, &all_units, &rhs_units, &other_units})
          bytes += list->units.size() * sizeof(Unit) +
                   list->reductions.size() * sizeof(Reduction);
        return bytes;
      }



      template <int dim>
      std::size_t
      Kernels<dim>::memory(const PolytopicMesh<dim> &mesh,
                           const BlockSparsity      &sparsity,
                           const RuleTables         &rules)
      {
        unsigned int n_volume = 0, n_facet = 0;
        for (const auto &type : rules.subcell)
          for (const RuleTables::Entry &rule : type)
            n_volume = std::max(n_volume, (rule.n_points + 3) / 4);
        for (const auto &type : rules.facet)
          for (const RuleTables::Entry &rule : type)
            n_facet = std::max(n_facet, (rule.n_points + 3) / 4);
        const std::size_t volume =
                            std::size_t(mesh.n_subcells()) * (n_volume + 1) +
                            mesh.subcell_point_weights.size() / 4,
                          facets =
                            2 * (std::size_t(mesh.n_facets()) * (n_facet + 1) +
                                 mesh.facet_point_weights.size() / 4);
        return volume * sizeof(VolumePointGroup) +
               facets * sizeof(FacetPointGroup) +
               mesh.n_polytopes() * (sizeof(Row) + (mesh.prismatic ? 2 : 1) *
                                                     sizeof(unsigned int)) +
               sparsity.block_column.size() *
                 (sizeof(unsigned int) + sizeof(uint2)) +
               (mesh.prismatic && mesh.n_polytopes() > 0 && mesh.degree[0] == 1
                  ? sizeof(double) * (slab_box_size * mesh.n_polytopes() +
                                      slab_facet_size * mesh.n_facets())
                  : 0);
      }



      template <int dim>
      void
      Kernels<dim>::upload(const std::vector<Unit>      &units,
                           const std::vector<Reduction> &reductions,
                           UnitList                     &list)
      {
        if (units.size() > std::numeric_limits<unsigned int>::max())
          throw Error(
            "The matrix has more than 2^32 tiles, which is too many "
            "for one assembly on a CUDA device. Use a smaller "
            "problem or the host backend.");
        list.units      = Array<Unit>(units);
        list.reductions = Array<Reduction>(reductions);
      }



      template <int dim>
      void
      Kernels<dim>::make_block_units(const std::vector<unsigned int> &rows,
                                     UnitList                        &list)
      {
        std::vector<Unit>      units;
        std::vector<Reduction> reductions;
        list.rows       = rows;
        list.unit_begin = list.reduction_begin = list.scratch_begin = {0};
        std::uint32_t n_scratch                                     = 0;
        for (const unsigned int k : rows)
          {
            const unsigned int own = row_data[k].n_point_groups();
            for (std::uint64_t b = sparsity.block_offset[k];
                 b < sparsity.block_offset[k + 1];
                 ++b)
              {
                const unsigned int column         = sparsity.block_column[b];
                const unsigned int n_point_groups = (column == k ? own : 0) +
                                                    block_point_groups[b].y -
                                                    block_point_groups[b].x;
                for (unsigned int i = 0; i < mesh.n_basis[k]; i += unit_tile)
                  for (unsigned int j = 0; j < mesh.n_basis[column];
                       j += unit_tile)
                    {
                      if (n_point_groups <= part_size)
                        {
                          units.push_back(
                            {b, i, j, 0, n_point_groups, invalid_index});
                          continue;
                        }
                      const unsigned int n_parts =
                        (n_point_groups + part_size - 1) / part_size;
                      reductions.push_back(
                        {static_cast<unsigned int>(units.size()), n_parts});
                      for (unsigned int p = 0; p < n_parts; ++p)
                        units.push_back(
                          {b,
                           i,
                           j,
                           p * part_size,
                           std::min((p + 1) * part_size, n_point_groups),
                           n_scratch++});
                    }
              }
            list.unit_begin.push_back(units.size());
            list.reduction_begin.push_back(reductions.size());
            list.scratch_begin.push_back(n_scratch);
          }
        upload(units, reductions, list);
      }



      template <int dim>
      void
      Kernels<dim>::make_rhs_units(const std::vector<unsigned int> &rows,
                                   UnitList                        &list)
      {
        std::vector<Unit>      units;
        std::vector<Reduction> reductions;
        list.rows       = rows;
        list.unit_begin = list.reduction_begin = list.scratch_begin = {0};
        std::uint32_t n_scratch                                     = 0;
        for (const unsigned int k : rows)
          {
            const Row         &row = row_data[k];
            const unsigned int n_point_groups =
              row.volume_end - row.volume_begin +
              (row.facet_end - row.boundary_begin);
            const unsigned int n_parts =
              std::max(1u, (n_point_groups + part_size - 1) / part_size);
            for (unsigned int i = 0; i < mesh.n_basis[k]; i += unit_tile)
              {
                if (n_parts > 1)
                  reductions.push_back(
                    {static_cast<unsigned int>(units.size()), n_parts});
                for (unsigned int p = 0; p < n_parts; ++p)
                  units.push_back(
                    {k,
                     i,
                     0,
                     p * part_size,
                     std::min((p + 1) * part_size, n_point_groups),
                     n_parts > 1 ? n_scratch++ : invalid_index});
              }
            list.unit_begin.push_back(units.size());
            list.reduction_begin.push_back(reductions.size());
            list.scratch_begin.push_back(n_scratch);
          }
        upload(units, reductions, list);
      }



      template <int dim>
      void
      Kernels<dim>::bind(Data<dim> &D) const
      {
        D.volume_point_group = volume_point_group.data();
        D.facet_point_group  = facet_point_group.data();
        D.rows               = rows.data();
        D.block_row          = block_row.data();
        D.block_point_group  = block_point_group.data();
        D.affine             = simplices || prisms;
        D.affine_type        = static_cast<unsigned int>(
          prisms ? SubCellType::prism : SubCellType::simplex);
        D.tensor_space = tensor_space;
        D.uniform      = uniform;
        D.split_limit  = split_limit;
        D.max_degree   = max_degree;
        D.n_pairs      = pairs;
        D.facet_step   = facet_step;
        D.six_points =
          simplices && facet_step == 3 &&
          rules.facet[static_cast<unsigned int>(FacetType::simplex)][max_degree]
              .n_points == 6;
        D.slab              = slab_rules;
        D.slab_box          = slab_box.data();
        D.slab_facet        = slab_facet.data();
        D.leave_out_upright = false;
        D.upright_boundary  = false;
      }



      template <int dim>
      void
      Kernels<dim>::set_slab_rules()
      {
        slab_rules = SlabRules();
        slab =
          dim > 2 && prisms && uniform && max_degree >= 1 && max_degree <= 3;
        if (!slab)
          return;
        // The points in space are the first points of the product.
        const auto make = [&](const RuleTables::Entry &entry,
                              const unsigned int       rule_dim) {
          const double *time = rules.data.data() + entry.offset +
                               (rule_dim - 1) * entry.n_points,
                       *weights = time + entry.n_points;
          SlabRule rule;
          rule.n_points = entry.n_points;
          rule.offset   = entry.offset;
          rule.n_space  = 0;
          while (rule.n_space < entry.n_points && time[rule.n_space] == time[0])
            ++rule.n_space;
          double first = 0., all = 0.;
          for (unsigned int q = 0; q < entry.n_points; ++q)
            {
              all += weights[q];
              first += q < rule.n_space ? weights[q] : 0.;
            }
          rule.factor  = all / first;
          rule.inverse = static_cast<unsigned int>(
            ((std::uint64_t(1) << 32) + rule.n_space - 1) / rule.n_space);
          return rule;
        };
        const RuleTables::Entry &facet =
          rules.facet[static_cast<unsigned int>(FacetType::prism)][max_degree];
        slab_rules.volume =
          make(rules.subcell[static_cast<unsigned int>(SubCellType::prism)]
                            [max_degree],
               dim);
        slab_rules.facet = make(facet, dim - 1);
        slab_rules.facet.factor *= facet_factor(dim, true);
        slab_rules.point_groups_per_facet =
          (facet.n_points + facet_step - 1) / facet_step;
        slab_rules.facets_per_batch = 16 / slab_rules.facet.n_space;
        slab = slab_rules.volume.n_space > 1 && slab_rules.facet.n_space > 1 &&
               slab_rules.facets_per_batch > 0;
      }



      template <int dim>
      bool
      Kernels<dim>::slab_matrix(const FormData<dim> &form) const
      {
        if (!slab || !form.stationary || !form.volume || !form.facets ||
            !form.penalty_facets)
          return false;
        if (!form.constant_volume)
          // Tables of b include the coefficient of d/dt.
          return !form.constant_facets && form.volume_layout.b >= 0;
        if (!form.constant_facets || !form.constant_bottom ||
            !(form.b[dim - 1] > 0.) || form.C[0][dim] != form.b[dim - 1] ||
            form.C[dim][0] != 0.)
          return false;
        for (int d = 1; d <= dim; ++d)
          if (form.C[d][dim] != 0. || form.C[dim][d] != 0. ||
              form.a[(d - 1) * dim + dim - 1] != 0. ||
              form.a[(dim - 1) * dim + d - 1] != 0.)
            return false;
        return true;
      }



      template <int dim>
      bool
      Kernels<dim>::slab_rhs(const FormData<dim> &form) const
      {
        return slab && form.constant_f && form.constant_volume;
      }



      template <int dim>
      bool
      Kernels<dim>::fast(const FormData<dim> &form) const
      {
        return n_not_upright == 0 && form.constant_volume &&
               (!form.matrix || slab_matrix(form)) &&
               (!form.rhs || slab_rhs(form));
      }



      template <int dim>
      VolumeRule
      Kernels<dim>::volume_rule(const bool known,
                                const int  degree,
                                const bool simple) const
      {
        if (!(simplices || prisms) || choice.degree < 0)
          return VolumeRule();
        // Rules of prisms are exact for twice their index; the rule with one
        // point, the centre, is exact for degree 1 as well.
        const auto              &all  = rules.subcell[static_cast<unsigned int>(
          prisms ? SubCellType::prism : SubCellType::simplex)];
        RuleTables::Entry        rule = all[max_degree];
        const RuleTables::Entry &lean =
          !prisms ? rules.simplex[std::max(degree, 1)]
          : all[0].n_points == 1 && degree <= 1 ? all[0]
                                                : all[(degree + 1) / 2];
        if (known && lean.n_points > 0 && lean.n_points < rule.n_points)
          rule = lean;
        return {rule.n_points,
                rule.offset,
                static_cast<unsigned int>(
                  ((std::uint64_t(1) << 32) + rule.n_points - 1) /
                  rule.n_points),
                known && simple &&
                  ((max_degree == 1 && rule.n_points == 1) ||
                   (max_degree == 2 && degree <= 2 && simplices && dim < 4 &&
                    choice.scheme == RowScheme::rows))};
      }



      template <int dim>
      VolumeRule
      Kernels<dim>::rhs_rule(const FormData<dim> &form) const
      {
        // Kernels of block rows of simplices use one rule for matrix and
        // right-hand side.
        const bool known = form.constant_f && form.constant_volume;
        int        p     = max_degree;
        if (known && simplices && choice.scheme == RowScheme::rows)
          p = std::max(p, volume_degree(form, p));
        return volume_rule(known, p, true);
      }



      template <int dim>
      VolumeRule
      Kernels<dim>::matrix_rule(const FormData<dim> &form) const
      {
        if (!form.volume)
          return rhs_rule(form);
        const bool known     = form.constant_volume;
        bool       gradients = true;
        for (int e = 0; known && e <= dim; ++e)
          for (int f = 0; f <= dim; ++f)
            gradients = gradients && (form.C[e][f] == 0. || (e > 0 && f > 0));
        return volume_rule(known,
                           known ? volume_degree(form, max_degree) : 0,
                           gradients);
      }



      template <int dim>
      std::string
      Kernels<dim>::name(const FormData<dim> &form) const
      {
        const bool units = choice.scheme == RowScheme::units ||
                           (form.facets && !form.penalty_facets);
        std::string text;
        if (slab_matrix(form) && n_not_upright < last - first)
          {
            text = "rows of slabs from matrices in space, p = " +
                   std::to_string(max_degree) + " (specialised)";
            if (n_not_upright == 0)
              return text;
            text += ", " + std::to_string(n_not_upright) + " rows by: ";
          }
        text += units                              ? "tiles of 32 x 32"
                : choice.scheme == RowScheme::rows ? "block rows"
                                                   : "blocks";
        text += units || choice.degree < 0
                  ? " (general)"
                  : ", p = " + std::to_string(choice.degree) + " (specialised)";
        if (!split_rows.empty())
          text += ", " + std::to_string(split_rows.size()) + " rows in parts";
        return text;
      }



      template <int dim>
      template <typename Number, bool rhs>
      void
      Kernels<dim>::launch_units(Data<dim>         &D,
                                 const UnitList    &list,
                                 const Chunk       &chunk,
                                 const cudaStream_t stream)
      {
        const auto position = [&](const unsigned int row) {
          return std::lower_bound(list.rows.begin(), list.rows.end(), row) -
                 list.rows.begin();
        };
        const std::size_t first = position(chunk.begin),
                          last  = position(chunk.end);
        if (first == last)
          return;
        const std::uint32_t n_scratch =
          list.scratch_begin[last] - list.scratch_begin[first];
        scratch.resize(std::size_t(n_scratch) *
                       (rhs ? unit_tile : unit_tile * unit_tile));
        D.scratch       = scratch.data();
        D.first_scratch = list.scratch_begin[first];
        D.units         = list.units.data();
        D.reductions    = list.reductions.data();
        D.first_unit    = list.unit_begin[first];
        const std::uint64_t n_units =
                              list.unit_begin[last] - list.unit_begin[first],
                            first_reduction = list.reduction_begin[first],
                            n_reductions =
                              list.reduction_begin[last] - first_reduction;
        if (rhs)
          Launcher<dim, Number>::rhs_units(
            D, n_units, first_reduction, n_reductions, stream);
        else
          Launcher<dim, Number>::units(
            D, n_units, first_reduction, n_reductions, stream);
      }



      template <int dim>
      template <typename Number>
      void
      Kernels<dim>::launch_slab_rows(const Data<dim>   &D,
                                     const bool         constant,
                                     const cudaStream_t stream) const
      {
        if constexpr (dim > 2)
          SlabLauncher<dim, Number>::rows(
            max_degree, tensor_space, constant, D, stream);
      }



      template <int dim>
      template <typename Number>
      void
      Kernels<dim>::launch(Data<dim>          D,
                           const Chunk       &chunk,
                           const cudaStream_t stream,
                           KernelClock       &clock)
      {
        clock.start(stream);
        D.volume_columns = volume_columns(D.form);
        D.volume_entries = volume_entries(D.form);
        // Other kernels skip the rows that SlabKernel computes.
        const bool slab_rows = D.form.matrix && slab_matrix(D.form),
                   rhs_rows  = D.form.rhs && slab_rhs(D.form);
        const bool boundary =
          D.form.rhs && D.form.facets && D.form.facet_layout.r >= 0;
        if (slab_rows || rhs_rows)
          {
            D.upright_boundary =
              rhs_rows && boundary && max_degree == 1 && D.form.constant_bottom;
            Data<dim> R   = D;
            R.form.matrix = slab_rows;
            R.form.rhs    = rhs_rows;
            launch_slab_rows<Number>(R,
                                     !slab_rows || D.form.constant_volume,
                                     stream);
            clock.stop("rows of slabs", stream);
          }
        // The kernels of block rows may compute the volume part of the
        // right-hand side along with the matrix.
        bool rhs = false;
        if (D.form.matrix && !(slab_rows && n_not_upright == 0))
          {
            D.leave_out_upright = slab_rows;
            if (choice.scheme == RowScheme::units ||
                (D.form.facets && !D.form.penalty_facets))
              {
                UnitList &list = slab_rows ? other_units : all_units;
                if (list.rows.empty())
                  {
                    std::vector<unsigned int> rows;
                    for (unsigned int k = first; k < last; ++k)
                      if (!(slab_rows && row_data[k].upright))
                        rows.push_back(k);
                    make_block_units(rows, list);
                  }
                launch_units<Number, false>(D, list, chunk, stream);
                clock.stop("tiles", stream);
              }
            else
              {
                D.volume_rule = matrix_rule(D.form);
                if (choice.scheme == RowScheme::rows)
                  {
                    // On affine cells only where the result is the same to the
                    // last bit as that of the separate kernel: with the same
                    // rule, and points that both kernels number consecutively.
                    rhs =
                      !slab_rows && !rhs_rows &&
                      (!D.affine || choice.degree < 0 ||
                       (simplices && choice.degree >= 1 && choice.degree <= 5 &&
                        D.volume_rule == rhs_rule(D.form)));
                    Data<dim> R = D;
                    R.form.rhs  = D.form.rhs && rhs;
                    Launcher<dim, Number>::rows(choice, R, stream);
                    clock.stop("block rows", stream);
                  }
                else
                  {
                    D.first_unit = sparsity.block_offset[chunk.begin];
                    Launcher<dim, Number>::blocks(
                      choice,
                      D,
                      sparsity.block_offset[chunk.end] - D.first_unit,
                      stream);
                    clock.stop("blocks", stream);
                  }
                if (!split_rows.empty())
                  {
                    launch_units<Number, false>(D, split_units, chunk, stream);
                    clock.stop("tiles of large rows", stream);
                  }
              }
          }
        if (D.form.rhs)
          {
            if (!rhs && !(rhs_rows && n_not_upright == 0))
              {
                D.leave_out_upright = rhs_rows;
                D.volume_rule       = rhs_rule(D.form);
                Launcher<dim, Number>::rhs(choice, D, max_basis, stream);
              }
            const unsigned int all   = D.form.constant_bottom ? 0 : 1;
            const auto        &list  = boundary_rows[all];
            const auto         begin = std::lower_bound(list.begin(),
                                                list.end(),
                                                chunk.begin),
                       end = std::lower_bound(begin, list.end(), chunk.end);
            if (begin != end && boundary &&
                !(D.upright_boundary && n_not_upright == 0))
              Launcher<dim, Number>::rhs_boundary(
                choice,
                D,
                boundary_row[all].data() + (begin - list.begin()),
                static_cast<unsigned int>(end - begin),
                max_basis,
                stream);
            launch_units<Number, true>(D, rhs_units, chunk, stream);
            clock.stop(rhs || rhs_rows ? "right-hand side (boundary)"
                                       : "right-hand side",
                       stream);
          }
      }



      template class Kernels<2>;
      template class Kernels<3>;
      template class Kernels<4>;
      template void
      Kernels<2>::launch<double>(Data<2>,
                                 const Chunk &,
                                 const cudaStream_t,
                                 KernelClock &);
      template void
      Kernels<2>::launch<float>(Data<2>,
                                const Chunk &,
                                const cudaStream_t,
                                KernelClock &);
      template void
      Kernels<3>::launch<double>(Data<3>,
                                 const Chunk &,
                                 const cudaStream_t,
                                 KernelClock &);
      template void
      Kernels<3>::launch<float>(Data<3>,
                                const Chunk &,
                                const cudaStream_t,
                                KernelClock &);
      template void
      Kernels<4>::launch<double>(Data<4>,
                                 const Chunk &,
                                 const cudaStream_t,
                                 KernelClock &);
      template void
      Kernels<4>::launch<float>(Data<4>,
                                const Chunk &,
                                const cudaStream_t,
                                KernelClock &);
    } // namespace Device
  }   // namespace internal
} // namespace Tessella
