// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <algorithm>
#include <limits>

#include "../device/pipeline.h"
#include "basis.h"
#include "launch.h"
#include "system_launcher.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        // Number of points in each group on facets: 3 if no rule then needs
        // more groups than with 4, and 4 otherwise.
        unsigned int
        choose_facet_step(const MeshProperties &mesh, const RuleTables &rules)
        {
          bool triples = mesh.uniform && (mesh.simplices || mesh.prisms ||
                                          mesh.parallelepipeds);
          for (const FacetType type : {FacetType::simplex, FacetType::prism})
            {
              const unsigned int n =
                rules.facet[static_cast<unsigned int>(type)][mesh.degree]
                  .n_points;
              triples = triples && (n + 2) / 3 == (n + 3) / 4;
            }
          return triples ? 3 : 4;
        }

        // Vertices 0, 1, 2 and 4, or as many as there are, of objects with
        // n_vertices vertices each, of which n_corners are wanted.
        __global__ void
        corners_kernel(const std::size_t  n_values,
                       const unsigned int dim,
                       const unsigned int n_vertices,
                       const unsigned int n_corners,
                       const double      *vertices,
                       double            *corners)
        {
          const std::size_t i =
            blockIdx.x * std::size_t(blockDim.x) + threadIdx.x;
          if (i >= n_values)
            return;
          const unsigned int e = i % dim, j = i / dim % n_corners;
          const std::size_t  object = i / dim / n_corners;
          corners[i] =
            vertices[(object * n_vertices + (j == 0 ? 0 : 1u << (j - 1))) *
                       dim +
                     e];
        }

        // Bytes of the corners of parallelepipeds and of their facets.
        template <int dim>
        std::size_t
        corner_bytes(const PolytopicMesh<dim> &mesh)
        {
          return sizeof(double) * dim *
                 ((dim + 1) * std::size_t(mesh.n_subcells()) +
                  dim * std::size_t(mesh.n_facets()));
        }

        template <typename T>
        void
        to_device(Workspace         &workspace,
                  Array<T>          &array,
                  const RawArray<T> &values)
        {
          array.resize(values.size());
          workspace->copy(array.data(), values.data(), values.size());
        }

        // The rule in space of which a rule on prisms is the product with a
        // rule in time: its points are the first points of the product.
        SlabRule
        make_slab_rule(const RuleTables        &rules,
                       const RuleTables::Entry &entry,
                       const unsigned int       rule_dim)
        {
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
        }

        // Rules for SlabKernel; empty if it does not serve the mesh.
        SlabRules
        make_slab_rules(const MeshProperties &mesh,
                        const RuleTables     &rules,
                        const unsigned int    facet_step)
        {
          SlabRules result = SlabRules();
          if (!(mesh.dim > 2 && mesh.prisms && mesh.uniform &&
                mesh.degree >= 1 && mesh.degree <= 3))
            return result;
          const RuleTables::Entry &volume =
                                    rules.subcell[static_cast<unsigned int>(
                                      SubCellType::prism)][mesh.degree],
                                  &facet =
                                    rules.facet[static_cast<unsigned int>(
                                      FacetType::prism)][mesh.degree];
          result.volume = make_slab_rule(rules, volume, mesh.dim);
          result.facet  = make_slab_rule(rules, facet, mesh.dim - 1);
          result.facet.factor *= facet_factor(mesh.dim, true);
          result.point_groups_per_facet =
            (facet.n_points + facet_step - 1) / facet_step;
          result.facets_per_batch = 16 / result.facet.n_space;
          return result;
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

        /// Bits of the columns that have such coefficients.
        template <int dim>
        unsigned int
        volume_columns(const FormData<dim> &form)
        {
          const unsigned int entries = volume_entries(form);
          unsigned int       columns = 0;
          for (int e = 0; form.volume && e <= dim; ++e)
            columns |= entries >> (e * (dim + 1)) & ((2u << dim) - 1);
          return columns;
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
      Kernels<dim>::Kernels(const AssemblerInput<dim> &input)
        : in(input)
        , mesh(in.mesh)
        , dofs(in.dofs)
        , sparsity(in.sparsity)
        , rules(in.rules)
        , first(in.first)
        , last(in.last)
        , properties(dim, in.degrees)
        , registry(properties)
        , choice(registry.choice())
        , max_degree(properties.degree)
        , pairs(n_pairs(dim, max_degree, properties.tensor_space))
        , facet_step(choose_facet_step(properties, rules))
        , simplices(properties.simplices)
        , prisms(properties.prisms)
        , parallelepipeds(properties.parallelepipeds)
        , slab_rules(make_slab_rules(properties, rules, facet_step))
        , slab(slab_rules.volume.n_space > 1 && slab_rules.facet.n_space > 1 &&
               slab_rules.facets_per_batch > 0)
        , groups(in, facet_step, slab)
      {
        measure_rows();
        list_boundary_rows(in.degrees.bottom_id);
        to_device(in.workspace, facet_point_group, groups.facet);
        groups.facet = RawArray<FacetPointGroup>();
        to_device(in.workspace, rows, groups.row);
        if (empty_blocks)
          upload_blocks();
        if (!groups.split_rows.empty())
          {
            make_block_units(groups.split_rows, split_units);
            make_rhs_units(groups.split_rows, rhs_units);
          }
      }



      template <int dim>
      void
      Kernels<dim>::measure_rows()
      {
        unsigned int n_many = 0;
        for (unsigned int k = first; k < last; ++k)
          {
            const Row &row = groups.row[k];
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
      }



      template <int dim>
      void
      Kernels<dim>::list_boundary_rows(const unsigned int bottom_id)
      {
        for (unsigned int k = first; k < last; ++k)
          {
            const Row &row = groups.row[k];
            if (row.n_point_groups() > row_split_limit)
              continue;
            if (bottom_id != invalid_index &&
                row.boundary_begin < row.bottom_begin)
              boundary_rows[0].push_back(k);
            if (row.boundary_begin < row.facet_end)
              boundary_rows[1].push_back(k);
          }
        for (unsigned int i = 0; i < 2; ++i)
          boundary_row[i] = Array<unsigned int>(boundary_rows[i]);
      }



      template <int dim>
      void
      Kernels<dim>::upload_blocks()
      {
        if (block_row.size() > 0)
          return;
        RawArray<unsigned int> row(groups.block.size());
        in.parallel(last - first,
                    1024,
                    [&](const std::size_t begin, const std::size_t end) {
                      for (std::size_t k = first + begin; k < first + end; ++k)
                        std::fill(row.data() + sparsity.block_offset[k],
                                  row.data() + sparsity.block_offset[k + 1],
                                  static_cast<unsigned int>(k));
                    });
        to_device(in.workspace, block_row, row);
        to_device(in.workspace, block_point_group, groups.block);
      }



      template <int dim>
      void
      Kernels<dim>::prepare(const FormData<dim> &form,
                            const std::uint64_t *first_point,
                            const Data<dim>     &D)
      {
        // Kernels that are compiled for a degree compute the points of affine
        // sub-cells themselves; kernels of tiles read the list.
        const bool numbered = choice.degree >= 0 &&
                              (simplices || prisms || parallelepipeds),
                   matrix =
                     form.matrix && !(slab_matrix(form) && n_not_upright == 0),
                   rhs = form.rhs && !(slab_rhs(form) && n_not_upright == 0);
        const bool tiles =
          !groups.split_rows.empty() ||
          (matrix && registry.scheme(form) == RowScheme::units);
        if (first == last)
          return;
        if (parallelepipeds && subcell_corners.size() == 0)
          {
            const auto make = [&](const std::size_t  n_objects,
                                  const unsigned int n_vertices,
                                  const unsigned int n_corners,
                                  const double      *vertices,
                                  Array<double>     &corners) {
              corners.resize(n_objects * n_corners * dim);
              corners_kernel<<<static_cast<unsigned int>(
                                 (corners.size() + 255) / 256),
                               256,
                               0,
                               in.workspace->kernel_stream>>>(corners.size(),
                                                              dim,
                                                              n_vertices,
                                                              n_corners,
                                                              vertices,
                                                              corners.data());
              check(cudaGetLastError(), "the assembly on the device");
            };
            make(mesh.n_subcells(),
                 1u << dim,
                 dim + 1,
                 D.subcell_vertices,
                 subcell_corners);
            if (dim == 3)
              make(mesh.n_facets(), 4, dim, D.facet_vertices, facet_corners);
          }
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
                                                  in.workspace->kernel_stream);
            }
        if (tiles || (matrix && choice.scheme == RowScheme::blocks))
          upload_blocks();
        if (!(tiles || (matrix && !numbered) ||
              (rhs && (!numbered || dim == 4 || choice.degree < 1 ||
                       choice.degree > 5))) ||
            volume_point_group.size() > 0)
          return;
        to_device(in.workspace, volume_point_group, groups.volume(first_point));
      }



      template <int dim>
      std::size_t
      Kernels<dim>::memory() const
      {
        std::size_t bytes =
          volume_point_group.size() * sizeof(VolumePointGroup) +
          (subcell_corners.size() + facet_corners.size()) * sizeof(double) +
          facet_point_group.size() * sizeof(FacetPointGroup) +
          rows.size() * sizeof(Row) + block_row.size() * sizeof(unsigned int) +
          block_point_group.size() * sizeof(uint2) +
          (boundary_row[0].size() + boundary_row[1].size()) *
            sizeof(unsigned int) +
          (slab_box.size() + slab_facet.size() + scratch.size()) *
            sizeof(double);
        for (const UnitList *list :
             {&split_units, &all_units, &rhs_units, &other_units})
          bytes += list->memory();
        return bytes;
      }



      template <int dim>
      std::size_t
      Kernels<dim>::memory(const PolytopicMesh<dim> &mesh,
                           const PolytopicDoFs      &dofs,
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
               (rules.subcell[static_cast<unsigned int>(
                  SubCellType::parallelepiped)][0]
                      .n_points > 0
                  ? corner_bytes(mesh)
                  : 0) +
               (mesh.prismatic && mesh.n_polytopes() > 0 && dofs.degree[0] == 1
                  ? sizeof(double) * (slab_box_size * mesh.n_polytopes() +
                                      slab_facet_size * mesh.n_facets())
                  : 0);
      }



      template <int dim>
      void
      Kernels<dim>::make_block_units(const std::vector<unsigned int> &rows,
                                     UnitList                        &list)
      {
        list.make(rows, [&](const unsigned int k, const auto &add) {
          const unsigned int own = groups.row[k].n_point_groups();
          for (std::uint64_t b = sparsity.block_offset[k];
               b < sparsity.block_offset[k + 1];
               ++b)
            {
              const unsigned int column = sparsity.block_column[b];
              const unsigned int n_point_groups =
                (column == k ? own : 0) + groups.block[b].y - groups.block[b].x;
              for (unsigned int i = 0; i < dofs.n_basis[k]; i += unit_tile)
                for (unsigned int j = 0; j < dofs.n_basis[column];
                     j += unit_tile)
                  add(b, i, j, n_point_groups);
            }
        });
      }



      template <int dim>
      void
      Kernels<dim>::make_rhs_units(const std::vector<unsigned int> &rows,
                                   UnitList                        &list)
      {
        list.make(rows, [&](const unsigned int k, const auto &add) {
          const Row         &row = groups.row[k];
          const unsigned int n_point_groups =
            row.volume_end - row.volume_begin +
            (row.facet_end - row.boundary_begin);
          for (unsigned int i = 0; i < dofs.n_basis[k]; i += unit_tile)
            add(k, i, 0, n_point_groups);
        });
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
        D.affine             = simplices || prisms || parallelepipeds;
        D.affine_type        = static_cast<unsigned int>(
          prisms ? SubCellType::prism : SubCellType::simplex);
        D.tensor_space = properties.tensor_space;
        D.uniform      = properties.uniform;
        D.split_limit  = row_split_limit;
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
      Kernels<dim>::use_corners(Data<dim> &D) const
      {
        if (!parallelepipeds)
          return;
        D.subcell_vertices = subcell_corners.data();
        if (dim == 3)
          D.facet_vertices = facet_corners.data();
      }



      template <int dim>
      bool
      Kernels<dim>::slab_matrix(const FormData<dim> &form) const
      {
        return slab && KernelRegistry<dim>::slab_matrix(form);
      }



      template <int dim>
      bool
      Kernels<dim>::slab_rhs(const FormData<dim> &form) const
      {
        return slab && KernelRegistry<dim>::slab_rhs(form);
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
        if (!(simplices || prisms || parallelepipeds) || choice.degree < 0)
          return VolumeRule();
        // The kernel for systems has loops over sub-cells.
        const bool compressed =
          rules.volume_points.offset != nullptr && system == nullptr;
        // Rules of prisms and parallelepipeds are exact for twice their index;
        // the rule with one point, the centre, is exact for degree 1 as well.
        const auto              &all  = rules.subcell[static_cast<unsigned int>(
          prisms            ? SubCellType::prism
                        : parallelepipeds ? SubCellType::parallelepiped
                                          : SubCellType::simplex)];
        RuleTables::Entry        rule = all[max_degree];
        const RuleTables::Entry &lean =
          simplices ? rules.simplex[std::max(degree, 1)]
          : all[0].n_points == 1 && degree <= 1 ? all[0]
                                                : all[(degree + 1) / 2];
        if (known && lean.n_points > 0 && lean.n_points < rule.n_points)
          rule = lean;
        const bool closed_form =
          known && simple &&
          ((max_degree == 1 && rule.n_points == 1 &&
            // AffineRowKernel has facets that are triangles.
            !(parallelepipeds && dim == 3)) ||
           (max_degree == 2 && degree <= 2 && simplices && dim < 4 &&
            choice.scheme == RowScheme::rows));
        // Each point of a compressed quadrature takes the place of a sub-cell.
        if (compressed && !closed_form)
          return {1, 0, 0, false};
        return {rule.n_points,
                rule.offset,
                static_cast<unsigned int>(
                  ((std::uint64_t(1) << 32) + rule.n_points - 1) /
                  rule.n_points),
                closed_form};
      }



      template <int dim>
      VolumeRule
      Kernels<dim>::rhs_rule(const FormData<dim> &form) const
      {
        // Kernels of block rows of simplices use one rule for matrix and
        // right-hand side.
        const bool known = form.constant_f && form.constant_volume;
        int        p     = max_degree;
        if (known && (simplices || parallelepipeds) &&
            choice.scheme == RowScheme::rows)
          p = std::max(p, volume_degree(form, p));
        return volume_rule(known, p, true);
      }



      template <int dim>
      void
      Kernels<dim>::use_rule(Data<dim> &D, const VolumeRule &rule) const
      {
        D.volume_rule = rule;
        if (rule.closed_form)
          D.volume_points = nullptr;
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
      void
      Kernels<dim>::set_system(const ConstantSystemTerms<dim> *terms)
      {
        system = terms;
      }



      template <int dim>
      std::string
      Kernels<dim>::name(const FormData<dim> &form) const
      {
        if (system != nullptr)
          return "rows of systems, p = " + std::to_string(max_degree) +
                 " (specialised)";
        std::string text;
        if (slab_matrix(form) && n_not_upright < last - first)
          {
            text = "rows of slabs from matrices in space, p = " +
                   std::to_string(max_degree) + " (specialised)";
            if (n_not_upright == 0)
              return text;
            text += ", " + std::to_string(n_not_upright) + " rows by: ";
          }
        text += registry.name(form);
        if (!groups.split_rows.empty())
          text +=
            ", " + std::to_string(groups.split_rows.size()) + " rows in parts";
        return text;
      }



      template <int dim>
      template <typename Number>
      void
      Kernels<dim>::launch_units(const bool      rhs,
                                 Data<dim>      &D,
                                 const UnitList &list,
                                 const Launch   &launch)
      {
        const auto position = [&](const unsigned int row) {
          return std::lower_bound(list.rows.begin(), list.rows.end(), row) -
                 list.rows.begin();
        };
        const std::size_t first = position(launch.chunk.begin),
                          last  = position(launch.chunk.end);
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
        Launcher<dim, Number>::units(rhs,
                                     D,
                                     list.unit_begin[last] -
                                       list.unit_begin[first],
                                     list.reduction_begin[first],
                                     list.reduction_begin[last] -
                                       list.reduction_begin[first],
                                     launch.stream);
      }



      template <int dim>
      template <typename Number>
      void
      Kernels<dim>::launch_slab_rows(Data<dim> &D, const Launch &launch) const
      {
        if (!launch.slab_rows && !launch.slab_rhs)
          return;
        D.upright_boundary = launch.slab_rhs && launch.boundary &&
                             max_degree == 1 && D.form.constant_bottom;
        Data<dim> R   = D;
        R.form.matrix = launch.slab_rows;
        R.form.rhs    = launch.slab_rhs;
        if constexpr (dim > 2)
          SlabLauncher<dim, Number>::rows(max_degree,
                                          properties.tensor_space,
                                          !launch.slab_rows ||
                                            D.form.constant_volume,
                                          R,
                                          launch.stream);
        launch.clock.stop("rows of slabs", launch.stream);
      }



      template <int dim>
      template <typename Number>
      void
      Kernels<dim>::launch_matrix(Data<dim> &D, Launch &launch)
      {
        if (launch.slab_rows && n_not_upright == 0)
          return;
        if constexpr (dim < 4)
          if (system != nullptr)
            {
              use_rule(D, matrix_rule(D.form));
              launch_system_rows<dim, Number>(max_degree,
                                              D,
                                              *system,
                                              launch.stream);
              launch.clock.stop("block rows of systems", launch.stream);
              return;
            }
        D.leave_out_upright    = launch.slab_rows;
        const RowScheme scheme = registry.scheme(D.form);
        if (scheme == RowScheme::units)
          {
            launch_tiles<Number>(D, launch);
            return;
          }
        const double *const points = D.volume_points;
        use_rule(D, matrix_rule(D.form));
        if (scheme == RowScheme::rows)
          launch_rows<Number>(D, launch);
        else
          launch_blocks<Number>(D, launch);
        D.volume_points = points;
        if (!groups.split_rows.empty())
          {
            launch_units<Number>(false, D, split_units, launch);
            launch.clock.stop("tiles of large rows", launch.stream);
          }
      }



      template <int dim>
      template <typename Number>
      void
      Kernels<dim>::launch_rows(Data<dim> &D, Launch &launch)
      {
        // The kernel may compute the volume part of the right-hand side along
        // with the matrix; on affine cells only where the result is the same to
        // the last bit as that of the separate kernel: with the same rule, and
        // points that both kernels number consecutively.
        launch.rhs_done =
          !launch.slab_rows && !launch.slab_rhs &&
          (!D.affine || choice.degree < 0 ||
           ((simplices || parallelepipeds) && choice.degree >= 1 &&
            choice.degree <= 5 && D.volume_rule == rhs_rule(D.form)));
        Data<dim> R = D;
        R.form.rhs  = D.form.rhs && launch.rhs_done;
        Launcher<dim, Number>::rows(choice, R, launch.stream);
        launch.clock.stop("block rows", launch.stream);
      }



      template <int dim>
      template <typename Number>
      void
      Kernels<dim>::launch_blocks(Data<dim> &D, Launch &launch)
      {
        D.first_unit = sparsity.block_offset[launch.chunk.begin];
        Launcher<dim, Number>::blocks(choice,
                                      D,
                                      sparsity.block_offset[launch.chunk.end] -
                                        D.first_unit,
                                      launch.stream);
        launch.clock.stop("blocks", launch.stream);
      }



      template <int dim>
      template <typename Number>
      void
      Kernels<dim>::launch_tiles(Data<dim> &D, Launch &launch)
      {
        UnitList &list = launch.slab_rows ? other_units : all_units;
        if (list.rows.empty())
          {
            std::vector<unsigned int> rows;
            for (unsigned int k = first; k < last; ++k)
              if (!(launch.slab_rows && groups.row[k].upright))
                rows.push_back(k);
            make_block_units(rows, list);
          }
        launch_units<Number>(false, D, list, launch);
        launch.clock.stop("tiles", launch.stream);
      }



      template <int dim>
      template <typename Number>
      void
      Kernels<dim>::launch_rhs(Data<dim> &D, const Launch &launch)
      {
        if (!launch.rhs_done && !(launch.slab_rhs && n_not_upright == 0))
          {
            D.leave_out_upright        = launch.slab_rhs;
            const double *const points = D.volume_points;
            use_rule(D, rhs_rule(D.form));
            Launcher<dim, Number>::rhs(choice,
                                       D,
                                       properties.n_basis,
                                       launch.stream);
            D.volume_points = points;
          }
        const unsigned int all   = D.form.constant_bottom ? 0 : 1;
        const auto        &list  = boundary_rows[all];
        const auto         begin = std::lower_bound(list.begin(),
                                            list.end(),
                                            launch.chunk.begin),
                   end = std::lower_bound(begin, list.end(), launch.chunk.end);
        if (begin != end && launch.boundary &&
            !(D.upright_boundary && n_not_upright == 0))
          Launcher<dim, Number>::rhs_boundary(
            choice,
            D,
            boundary_row[all].data() + (begin - list.begin()),
            static_cast<unsigned int>(end - begin),
            properties.n_basis,
            launch.stream);
        launch_units<Number>(true, D, rhs_units, launch);
        launch.clock.stop(launch.rhs_done || launch.slab_rhs
                            ? "right-hand side (boundary)"
                            : "right-hand side",
                          launch.stream);
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
        use_corners(D);
        D.volume_columns = volume_columns(D.form);
        D.volume_entries = volume_entries(D.form);
        Launch launch    = {chunk,
                            stream,
                            clock,
                            D.form.matrix && slab_matrix(D.form),
                            D.form.rhs && slab_rhs(D.form),
                            D.form.rhs && D.form.facets &&
                              D.form.facet_layout.r >= 0};
        launch_slab_rows<Number>(D, launch);
        if (D.form.matrix)
          launch_matrix<Number>(D, launch);
        if (D.form.rhs)
          launch_rhs<Number>(D, launch);
      }



      template class Kernels<2>;
      template class Kernels<3>;
      template class Kernels<4>;
#define INSTANTIATE(dim)                                         \
  template void Kernels<dim>::launch<double>(Data<dim>,          \
                                             const Chunk &,      \
                                             const cudaStream_t, \
                                             KernelClock &);     \
  template void Kernels<dim>::launch<float>(Data<dim>,           \
                                            const Chunk &,       \
                                            const cudaStream_t,  \
                                            KernelClock &)

      INSTANTIATE(2);
      INSTANTIATE(3);
      INSTANTIATE(4);
#undef INSTANTIATE
    } // namespace Device
  }   // namespace internal
} // namespace Tessella
