// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "block_row_assembler.h"

#include <cstddef>

#include "host_dispatch.h"

namespace Tessella
{
  namespace internal
  {
    namespace
    {
      // Hands out arrays of n numbers from a block of memory.
      class Arrays
      {
      public:
        Arrays(dealii::AlignedVector<double> &memory,
               const unsigned int             n_arrays,
               const unsigned int             n)
          : n(n)
        {
          memory.resize(n_arrays * n);
          next = memory.data();
        }

        // The next array, or null if it is not wanted.
        double *
        operator()(const bool wanted)
        {
          double *const result = wanted ? next : nullptr;
          next += n;
          return result;
        }

      private:
        const unsigned int n;
        double            *next;
      };



      // An array from entry q on; null stays null.
      template <typename Number>
      inline Number *
      from(Number *array, const unsigned int q)
      {
        return array ? array + q : nullptr;
      }
    } // namespace



    template <int dim>
    BlockRowAssembler<dim>::BlockRowAssembler(
      const HostProblem<dim>               &problem,
      const std::vector<BlockRowPart<dim>> &all_parts,
      const std::vector<unsigned char>     &exponents,
      const bool                            tensor_product,
      const bool                            matrix)
      : mesh(problem.mesh)
      , dofs(problem.dofs)
      , rules(problem.rules)
      , kernels(problem.kernels)
      , exponents(exponents)
      , tensor_product(tensor_product)
      , want_matrix(matrix)
      , sparsity(*all_parts.front().sparsity)
      , diffusion(nullptr)
      , volume_points(buffer_capacity(rules))
      , facet_points(mesh, dofs, rules, kernels)
      , facet_values(nullptr)
    {
      allocate_basis();
      parts.reserve(all_parts.size());
      for (const BlockRowPart<dim> &entry : all_parts)
        {
          parts.emplace_back(entry, matrix);
          Part &part = parts.back();
          allocate_volume_blocks(part);
          if (!want_matrix || part.volume.constant)
            evaluate_constant_volume(part);
          allocate_facet_blocks(part);
          any_facets = any_facets || part.facet.facets;
          any_rhs    = any_rhs || part.rhs;
          several_sigma =
            several_sigma || (part.sigma != parts.front().sigma &&
                              *part.sigma != *parts.front().sigma);
        }
      facet_points.record_facets = several_sigma;
    }



    template <int dim>
    BlockRowAssembler<dim>::BlockRowAssembler(
      const HostProblem<dim>           &problem,
      const BlockSparsity              &sparsity,
      const std::vector<double>        &sigma,
      const std::vector<unsigned char> &exponents,
      const bool                        tensor_product,
      const bool                        matrix,
      const bool                        rhs,
      const DiffusionValues<dim>       *diffusion_values,
      const FacetValues<dim>           *stored_facet_values)
      : BlockRowAssembler(problem,
                          {{&problem.form, &sparsity, &sigma, 0, rhs}},
                          exponents,
                          tensor_product,
                          matrix)
    {
      if (!parts.front().volume.constant)
        diffusion = diffusion_values;
      facet_values = stored_facet_values;
    }



    template <int dim>
    void
    BlockRowAssembler<dim>::allocate_basis()
    {
      // That of the highest degree: an assembler is made for each range of
      // polytopes, and must not go through all of them.
      const unsigned int n_functions = exponents.size() / dim;
      std::size_t        n_basis     = 0;
      for (unsigned int n = 1; n <= n_functions; ++n)
        n_basis =
          std::max(n_basis, static_cast<std::size_t>(n) * slice_size(n));
      // Uninitialised: all points of a slice are written, the padding included.
      basis.resize_fast((dim + 4) * n_basis);
      rows.resize_fast((dim + 1) * n_basis);
      other.resize_fast((dim + 2) * n_basis);
    }



    template <int dim>
    void
    BlockRowAssembler<dim>::allocate_volume_blocks(Part &part)
    {
      const VolumeStructure                &structure = part.volume;
      VolumeBlocks<dim>                    &blocks    = part.volume_blocks;
      HostKernels::VolumeCoefficients<dim> &coefficients =
        part.volume_coefficients;
      Arrays     next(part.volume_memory,
                  dim * dim + 2 * dim + 2,
                  volume_points.capacity);
      const bool tensor = structure.diffusion == DiffusionType::tensor;
      for (unsigned int d = 0; d < dim * dim; ++d)
        blocks.a[d] = next(tensor || (d == 0 && structure.diffusion ==
                                                  DiffusionType::isotropic));
      for (unsigned int d = 0; d < dim; ++d)
        {
          blocks.beta[d] = next(structure.beta);
          blocks.b[d]    = next(structure.b);
        }
      blocks.c = next(structure.c);
      blocks.f = next(structure.f && part.rhs);

      std::copy(blocks.a, blocks.a + dim * dim, coefficients.a);
      std::copy(blocks.b, blocks.b + dim, coefficients.b);
      std::copy(blocks.beta, blocks.beta + dim, coefficients.beta);
      coefficients.c      = blocks.c;
      coefficients.tensor = tensor;
    }



    template <int dim>
    void
    BlockRowAssembler<dim>::evaluate_constant_volume(Part &part)
    {
      VolumeBlocks<dim> &volume_blocks = part.volume_blocks;
      if (want_matrix && mesh.n_subcells() > 0)
        {
          const unsigned int  n = volume_points.capacity;
          PointBatch<dim>     batch;
          std::vector<double> origin(dim * n);
          batch.n_points = n;
          for (unsigned int d = 0; d < dim; ++d)
            {
              std::fill(origin.begin() + d * n,
                        origin.begin() + (d + 1) * n,
                        mesh.subcell_vertices[d]);
              batch.x[d] = origin.data() + d * n;
            }
          const std::vector<unsigned int> subcell(n, 0),
            material(n, mesh.subcell_material[0]);
          batch.subcell            = subcell.data();
          batch.material           = material.data();
          VolumeBlocks<dim> blocks = volume_blocks;
          blocks.f                 = nullptr;
          part.form->evaluate_volume(batch, blocks);
        }
      std::fill(volume_blocks.a, volume_blocks.a + dim * dim, nullptr);
      std::fill(volume_blocks.b, volume_blocks.b + dim, nullptr);
      std::fill(volume_blocks.beta, volume_blocks.beta + dim, nullptr);
      volume_blocks.c = nullptr;
    }



    template <int dim>
    void
    BlockRowAssembler<dim>::allocate_facet_blocks(Part &part)
    {
      const FacetStructure &structure = part.facet;
      FacetBlocks<dim>     &blocks    = part.facet_blocks;
      Arrays next(part.facet_memory, 5 * dim + 3, facet_points.array_size);
      for (unsigned int d = 0; d < dim; ++d)
        {
          for (unsigned int side = 0; side < 2; ++side)
            {
              blocks.b[side][d]    = next(structure.b);
              blocks.beta[side][d] = next(structure.beta);
            }
          blocks.s[d] = next(structure.rhs && structure.beta && part.rhs);
        }
      blocks.c[0] = next(true);
      blocks.c[1] = next(true);
      blocks.r    = next(structure.rhs && part.rhs);
    }



    template <int dim>
    std::uint64_t
    BlockRowAssembler<dim>::find_block(const unsigned int  k,
                                       const unsigned int  j,
                                       const std::uint64_t from) const
    {
      // Usually the next block; ghosts are in another order.
      const std::uint64_t end   = sparsity.block_offset[k + 1];
      std::uint64_t       block = from;
      while (block < end && sparsity.block_column[block] != j)
        ++block;
      if (block == end)
        {
          block = sparsity.block_offset[k];
          while (sparsity.block_column[block] != j)
            ++block;
        }
      return block;
    }



    template <int dim>
    void
    BlockRowAssembler<dim>::assemble(const unsigned int k,
                                     double            *values,
                                     double            *rhs)
    {
      const Row row = {k, space(k), sparsity.row_width[k]};
      for (Part &part : parts)
        start_row(row, part, values, rhs);
      assemble_volume(row);
      if (any_facets)
        assemble_facets(row);
      if (want_matrix)
        for (Part &part : parts)
          finish_row(row, part);
    }



    template <int dim>
    void
    BlockRowAssembler<dim>::start_row(const Row &row,
                                      Part      &part,
                                      double    *values,
                                      double    *rhs)
    {
      const unsigned int   n      = row.element.n_functions;
      const BlockSparsity &blocks = *part.sparsity;
      if (part.rhs)
        {
          part.f = rhs + std::size_t(part.test) * n;
          std::fill(part.f, part.f + n, 0.);
        }
      part.diagonal_touched     = false;
      part.current_block_column = invalid_index;
      if (!want_matrix)
        return;
      part.values = values + std::size_t(part.test) * n * row.width;
      part.diagonal =
        part.values +
        blocks
          .column_offset[find_block(row.k, row.k, blocks.block_offset[row.k])];
      // Without facet terms the blocks of the neighbours are zero. Other
      // components may have columns between them.
      if (!part.facet.facets)
        for (std::uint64_t b = blocks.block_offset[row.k];
             b < blocks.block_offset[row.k + 1];
             ++b)
          for (unsigned int i = 0; i < n; ++i)
            std::fill_n(part.values + std::size_t(i) * row.width +
                          blocks.column_offset[b],
                        dofs.n_basis[blocks.block_column[b]],
                        0.);
    }



    template <int dim>
    void
    BlockRowAssembler<dim>::finish_row(const Row &row, Part &part)
    {
      const unsigned int n        = row.element.n_functions;
      const std::size_t  width    = row.width;
      double *const      diagonal = part.diagonal;
      if (!part.diagonal_touched)
        for (unsigned int i = 0; i < n; ++i)
          std::fill(diagonal + i * width, diagonal + i * width + n, 0.);
      if (part.volume.symmetric)
        for (unsigned int i = 1; i < n; ++i)
          for (unsigned int j = 0; j < i; ++j)
            diagonal[i * width + j] = diagonal[j * width + i];
    }



    template <int dim>
    void
    BlockRowAssembler<dim>::assemble_volume(const Row &row)
    {
      bool any = false;
      for (const Part &part : parts)
        any = any || part.volume_matrix || (part.rhs && part.volume.f);
      if (!any)
        return;

      const unsigned int slice   = slice_size(row.element.n_functions);
      unsigned int       subcell = mesh.subcell_offset[row.k], point = 0;
      std::uint64_t      first = 0;
      while (subcell < mesh.subcell_offset[row.k + 1])
        {
          const unsigned int n_points = volume_points.fill(
            mesh, dofs, rules, kernels, row.k, subcell, point);
          for (Part &part : parts)
            evaluate_volume_form(part, row.k, n_points, first);
          first += volume_points.n_points;
          for (unsigned int q = 0; q < n_points; q += slice)
            {
              const unsigned int m = std::min(slice, n_points - q);
              const double      *points[dim];
              for (unsigned int d = 0; d < dim; ++d)
                points[d] = volume_points.x[d] + q;
              kernels.evaluate_basis(
                row.element, points, m, basis.data(), (dim + 1) * m, m);
              for (Part &part : parts)
                {
                  if (part.volume_matrix)
                    add_volume_matrix(row, part, q, m);
                  if (part.volume_blocks.f)
                    add_volume_rhs(row, part, q, m);
                }
            }
        }
    }



    template <int dim>
    void
    BlockRowAssembler<dim>::evaluate_volume_form(Part               &part,
                                                 const unsigned int  k,
                                                 const unsigned int  n_points,
                                                 const std::uint64_t first)
    {
      const auto any = [](const VolumeBlocks<dim> &blocks) {
        return blocks.a[0] || blocks.beta[0] || blocks.b[0] || blocks.c ||
               blocks.f;
      };
      VolumeBlocks<dim> blocks = part.volume_blocks;
      if (diffusion != nullptr && blocks.a[0] != nullptr)
        {
          const unsigned int n_new = volume_points.n_points;
          diffusion->copy(k, first, n_new, blocks.a);
          for (unsigned int d = 0; d < diffusion->n_entries(); ++d)
            std::fill(blocks.a[d] + n_new,
                      blocks.a[d] + n_points,
                      blocks.a[d][n_new - 1]);
          std::fill(blocks.a, blocks.a + dim * dim, nullptr);
        }
      if (!any(blocks))
        return;
      PointBatch<dim> batch = volume_points.batch();
      batch.n_points        = n_points;
      part.form->evaluate_volume(batch, blocks);
    }



    template <int dim>
    void
    BlockRowAssembler<dim>::add_volume_matrix(const Row         &row,
                                              Part              &part,
                                              const unsigned int q,
                                              const unsigned int m)
    {
      const VolumeStructure &structure = part.volume;
      const unsigned int     n         = row.element.n_functions;
      const bool             value_row = structure.b || structure.c;
      const bool             gradient_row =
        structure.diffusion != DiffusionType::none || structure.beta;
      const unsigned int first_row = value_row ? 0 : 1;
      const unsigned int n_rows    = (gradient_row ? dim + 1 : 1) - first_row;

      HostKernels::VolumeCoefficients<dim> coefficients =
        part.volume_coefficients;
      for (const double *&a : coefficients.a)
        a = from(a, q);
      for (unsigned int d = 0; d < dim; ++d)
        {
          coefficients.b[d]    = from(coefficients.b[d], q);
          coefficients.beta[d] = from(coefficients.beta[d], q);
        }
      coefficients.c = from(coefficients.c, q);
      kernels.volume_rows(
        coefficients, volume_points.w + q, m, n, basis.data(), rows.data());
      kernels.product({n, basis.data() + first_row * m, (dim + 1) * m, m},
                      {n, rows.data() + first_row * m, (dim + 1) * m, m},
                      n_rows,
                      m,
                      part.diagonal,
                      row.width,
                      part.diagonal_touched,
                      structure.symmetric);
      part.diagonal_touched = true;
    }



    template <int dim>
    void
    BlockRowAssembler<dim>::add_volume_rhs(const Row         &row,
                                           Part              &part,
                                           const unsigned int q,
                                           const unsigned int m)
    {
      double *const f = part.volume_blocks.f + q;
      for (unsigned int p = 0; p < m; ++p)
        f[p] *= volume_points.w[q + p];
      kernels.vector_product(
        row.element.n_functions, m, basis.data(), (dim + 1) * m, f, part.f);
    }



    template <int dim>
    void
    BlockRowAssembler<dim>::assemble_facets(const Row &row)
    {
      const unsigned int k = row.k;
      for (unsigned int e = mesh.polytope_interface_offset[k];
           e < mesh.polytope_interface_offset[k + 1];
           ++e)
        {
          const unsigned int code = mesh.polytope_interface[e];
          if (!want_matrix &&
              (mesh.neighbor(code) != invalid_index || !any_rhs))
            continue;
          facet_points.append_interface(code, *parts.front().sigma, [&]() {
            process_facet_points(row);
          });
        }
      if (facet_points.n_points > 0)
        process_facet_points(row);
      facet_points.clear();
    }



    template <int dim>
    void
    BlockRowAssembler<dim>::process_facet_points(const Row &row)
    {
      for (Part &part : parts)
        if (part.facet.facets)
          evaluate_facet_form(part);

      const std::vector<Segment> &segments = facet_points.segments;
      unsigned int                n_max    = row.element.n_functions;
      for (const Segment &segment : segments)
        if (segment.neighbor != invalid_index)
          n_max = std::max(n_max, dofs.n_basis[segment.neighbor]);
      const unsigned int slice_length = slice_size(n_max);

      std::uint64_t block = sparsity.block_offset[row.k];
      std::size_t   s     = 0;
      for (unsigned int q = 0; q < facet_points.n_points; q += slice_length)
        {
          const unsigned int m =
            std::min(slice_length, facet_points.n_points - q);
          const FacetSlice slice = evaluate_slice(row, q, m);
          const bool       one   = parts.size() == 1;
          if (one)
            {
              set_rows(row, parts.front(), slice);
              add_to_diagonal(row, parts.front(), slice);
            }

          // Segments, or parts of them, in this slice. A single part uses the
          // functions of a neighbour while they are in the cache; several parts
          // share those of all neighbours.
          ranges.clear();
          double *next = other.data();
          for (; s < segments.size() && segments[s].begin < q + m; ++s)
            {
              const SegmentRange range =
                evaluate_neighbor(row, slice, segments[s], next, block);
              if (one)
                add_segment(row, parts.front(), slice, range);
              else
                {
                  ranges.push_back(range);
                  next += std::size_t(range.element.n_functions) * (dim + 2) *
                          (range.end - range.begin);
                }
              if (range.end < segments[s].end)
                break; // the next slice has the rest
            }
          if (!one)
            for (Part &part : parts)
              if (part.facet.facets)
                {
                  set_rows(row, part, slice);
                  add_to_diagonal(row, part, slice);
                  for (const SegmentRange &range : ranges)
                    add_segment(row, part, slice, range);
                }
        }
      facet_points.clear();
    }



    // Evaluates interior points without stored values in a single batch if they
    // are consecutive, and boundary points in a batch for each boundary id.
    template <int dim>
    void
    BlockRowAssembler<dim>::evaluate_facet_form(Part &part)
    {
      unsigned int begin = 0;
      for (const Segment &segment : facet_points.segments)
        {
          const bool boundary = segment.boundary_id != invalid_index;
          const bool stored   = !boundary && facet_values != nullptr &&
                              facet_values->contains(segment.code / 2);
          if (!boundary && !stored)
            continue;
          evaluate_facet_form(part, begin, segment.begin, invalid_index);
          begin = segment.end;
          if (boundary)
            evaluate_facet_form(part,
                                segment.begin,
                                segment.end,
                                segment.boundary_id);
          else
            facet_values->get(segment, part.facet_blocks);
        }
      evaluate_facet_form(part, begin, facet_points.n_points, invalid_index);
    }



    template <int dim>
    void
    BlockRowAssembler<dim>::evaluate_facet_form(Part              &part,
                                                const unsigned int begin,
                                                const unsigned int end,
                                                const unsigned int boundary_id)
    {
      if (begin == end)
        return;
      const bool              boundary     = boundary_id != invalid_index;
      const FacetBlocks<dim> &facet_blocks = part.facet_blocks;
      FacetBlocks<dim>        blocks;
      for (unsigned int d = 0; d < dim; ++d)
        {
          for (unsigned int side = 0; side < 2; ++side)
            {
              const bool present = side == 0 || !boundary;
              blocks.b[side][d] =
                present ? from(facet_blocks.b[side][d], begin) : nullptr;
              blocks.beta[side][d] =
                present ? from(facet_blocks.beta[side][d], begin) : nullptr;
            }
          blocks.s[d] = boundary ? from(facet_blocks.s[d], begin) : nullptr;
        }
      blocks.c[0] = facet_blocks.c[0] + begin;
      blocks.c[1] = boundary ? nullptr : facet_blocks.c[1] + begin;
      blocks.r    = boundary ? from(facet_blocks.r, begin) : nullptr;
      if (several_sigma)
        facet_points.set_sigma(*part.sigma, begin, end);
      const FacetPointBatch<dim> batch =
        facet_points.batch(begin, end, boundary_id);
      if (boundary)
        part.form->evaluate_boundary_facets(batch, blocks);
      else
        part.form->evaluate_interior_facets(batch, blocks);
    }



    template <int dim>
    typename BlockRowAssembler<dim>::FacetSlice
    BlockRowAssembler<dim>::evaluate_slice(const Row         &row,
                                           const unsigned int q,
                                           const unsigned int m)
    {
      double *const    flux  = basis.data();
      const FacetSlice slice = {q,
                                m,
                                (dim + 4) * m,
                                flux,
                                flux + m,
                                flux + (dim + 2) * m,
                                flux + (dim + 3) * m};
      const double    *points[dim];
      for (unsigned int d = 0; d < dim; ++d)
        points[d] = facet_points.x[d] + q;
      kernels.evaluate_basis(
        row.element, points, m, slice.value, slice.stride, m);
      return slice;
    }



    template <int dim>
    void
    BlockRowAssembler<dim>::set_rows(const Row        &row,
                                     const Part       &part,
                                     const FacetSlice &slice)
    {
      if (!want_matrix)
        return;
      const unsigned int      q = slice.q, m = slice.m;
      const FacetBlocks<dim> &facet_blocks = part.facet_blocks;
      const auto set_row = [&](double *const *b, const double *c, double *to) {
        const double *direction[dim];
        for (unsigned int d = 0; d < dim; ++d)
          direction[d] = from(b[d], q);
        kernels.directional(direction[0] ? direction : nullptr,
                            c,
                            facet_points.w + q,
                            m,
                            row.element.n_functions,
                            slice.value,
                            slice.stride,
                            m,
                            to,
                            slice.stride);
      };
      set_row(facet_blocks.b[0], facet_blocks.c[0] + q, slice.trial);
      if (part.facet.beta)
        {
          set_row(facet_blocks.beta[0], nullptr, slice.flux);
          set_row(facet_blocks.beta[1], nullptr, slice.flux_to_neighbor);
        }
    }



    template <int dim>
    typename BlockRowAssembler<dim>::SegmentRange
    BlockRowAssembler<dim>::evaluate_neighbor(const Row        &row,
                                              const FacetSlice &slice,
                                              const Segment    &segment,
                                              double           *rows,
                                              std::uint64_t    &block)
    {
      SegmentRange range = {&segment,
                            std::max(segment.begin, slice.q),
                            std::min(segment.end, slice.q + slice.m),
                            0,
                            {},
                            rows};
      if (segment.neighbor == invalid_index || !want_matrix)
        return range;
      block                = find_block(row.k, segment.neighbor, block);
      range.block          = block;
      range.element        = space(segment.neighbor);
      const unsigned int r = range.end - range.begin;
      const double      *x[dim];
      for (unsigned int d = 0; d < dim; ++d)
        x[d] = (facet_points.periodic ? facet_points.neighbor_x[d]
                                      : facet_points.x[d]) +
               range.begin;
      kernels.evaluate_basis(range.element, x, r, rows + r, (dim + 2) * r, r);
      return range;
    }



    template <int dim>
    void
    BlockRowAssembler<dim>::add_segment(const Row          &row,
                                        Part               &part,
                                        const FacetSlice   &slice,
                                        const SegmentRange &range)
    {
      if (range.segment->neighbor != invalid_index)
        {
          if (want_matrix)
            add_to_neighbor(row, part, slice, range);
        }
      else if (part.rhs && part.facet.rhs)
        add_facet_rhs(row, part, slice, range.begin, range.end);
    }



    template <int dim>
    void
    BlockRowAssembler<dim>::add_to_diagonal(const Row        &row,
                                            Part             &part,
                                            const FacetSlice &slice)
    {
      if (!want_matrix)
        return;
      const unsigned int n    = row.element.n_functions;
      const bool         flux = part.facet.beta;
      kernels.product(
        {n, flux ? slice.flux : slice.value, slice.stride, slice.m},
        {n,
         flux ? slice.value : slice.trial,
         slice.stride,
         (dim + 1) * slice.m},
        flux ? 2 : 1,
        slice.m,
        part.diagonal,
        row.width,
        part.diagonal_touched,
        part.volume.symmetric);
      part.diagonal_touched = true;
    }



    template <int dim>
    void
    BlockRowAssembler<dim>::add_to_neighbor(const Row          &row,
                                            Part               &part,
                                            const FacetSlice   &slice,
                                            const SegmentRange &range)
    {
      const unsigned int begin = range.begin, r = range.end - begin,
                         stride   = (dim + 2) * r,
                         neighbor = range.segment->neighbor;
      const double *here[dim];
      for (unsigned int d = 0; d < dim; ++d)
        here[d] = from(part.facet_blocks.b[1][d], begin);
      kernels.directional(part.facet.b ? here : nullptr,
                          part.facet_blocks.c[1] + begin,
                          facet_points.w + begin,
                          r,
                          range.element.n_functions,
                          range.rows + r,
                          stride,
                          r,
                          range.rows,
                          stride);
      const bool accumulate =
        part.current_block_column == neighbor || neighbor == row.k;
      part.current_block_column = neighbor;
      kernels.product({row.element.n_functions,
                       slice.value + (begin - slice.q),
                       slice.stride,
                       (dim + 2) * slice.m},
                      {range.element.n_functions, range.rows, stride, r},
                      part.facet.beta ? 2 : 1,
                      r,
                      part.values + part.sparsity->column_offset[range.block],
                      row.width,
                      accumulate,
                      false);
    }



    template <int dim>
    void
    BlockRowAssembler<dim>::add_facet_rhs(const Row         &row,
                                          Part              &part,
                                          const FacetSlice  &slice,
                                          const unsigned int begin,
                                          const unsigned int end)
    {
      const unsigned int n = row.element.n_functions, r = end - begin;
      const double      *s[dim];
      for (unsigned int d = 0; d < dim; ++d)
        s[d] = from(part.facet_blocks.s[d], begin);
      kernels.directional(s[0] ? s : nullptr,
                          part.facet_blocks.r + begin,
                          facet_points.w + begin,
                          r,
                          n,
                          slice.value + (begin - slice.q),
                          slice.stride,
                          slice.m,
                          rows.data(),
                          r);
      one.resize(r, 1.);
      kernels.vector_product(n, r, rows.data(), r, one.data(), part.f);
    }



    template class BlockRowAssembler<2>;
    template class BlockRowAssembler<3>;
    template class BlockRowAssembler<4>;
  } // namespace internal
} // namespace Tessella
