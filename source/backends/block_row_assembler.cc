// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "block_row_assembler.h"

#include <cmath>

#include "host_dispatch.h"

namespace Tessella
{
  namespace internal
  {
    namespace
    {
      // Sets n entries and the padding up to a multiple of the padding length,
      // for which the buffers have room: fixed lengths compile to fast code.
      template <typename Number>
      inline void
      fill_padded(Number *p, const unsigned int n, const Number value)
      {
        for (unsigned int q = 0; q < n; q += HostKernels::padding)
          for (unsigned int l = 0; l < HostKernels::padding; ++l)
            p[q + l] = value;
      }



      // Whether vertices a, b, c, d (in lexicographic order) span a
      // parallelogram.
      template <int dim>
      bool
      is_parallelogram(const double      *v,
                       const unsigned int a,
                       const unsigned int b,
                       const unsigned int c,
                       const unsigned int d)
      {
        double deviation = 0., size = 0.;
        for (unsigned int e = 0; e < dim; ++e)
          {
            deviation = std::max(deviation,
                                 std::abs(v[dim * a + e] + v[dim * d + e] -
                                          v[dim * b + e] - v[dim * c + e]));
            size = std::max(size, std::abs(v[dim * d + e] - v[dim * a + e]));
          }
        return deviation <= 1e-14 * size;
      }

      // Whether the multilinear image with these vertices is affine.
      template <int dim>
      bool
      is_parallelepiped(const double *v)
      {
        return is_parallelogram<dim>(v, 0, 1, 2, 3) &&
               (dim < 4 || (is_parallelogram<dim>(v, 0, 1, 4, 5) &&
                            is_parallelogram<dim>(v, 0, 2, 4, 6) &&
                            is_parallelogram<dim>(v, 1, 3, 5, 7)));
      }
    } // namespace



    template <int dim>
    BlockRowAssembler<dim>::BlockRowAssembler(
      const PolytopicMesh<dim>         &mesh,
      const BlockSparsity              &sparsity,
      const Form<dim>                  &form,
      const std::vector<double>        &sigma,
      const HostRules<dim>             &rules,
      const HostKernels::Kernels<dim>  &kernels,
      const std::vector<unsigned char> &exponents,
      const bool                        tensor_product,
      const bool                        matrix,
      const bool                        rhs,
      const DiffusionValues<dim>       *diffusion_values)
      : mesh(mesh)
      , sparsity(sparsity)
      , form(form)
      , sigma(sigma)
      , rules(rules)
      , kernels(kernels)
      , exponents(exponents)
      , tensor_product(tensor_product)
      , want_matrix(matrix)
      , want_rhs(rhs)
      , volume_structure(form.volume_structure())
      , facet_structure(form.facet_structure())
      , diffusion(volume_structure.constant ? nullptr : diffusion_values)
      , volume_points(buffer_capacity(rules))
      , facet_capacity(buffer_capacity(rules))
      , periodic(mesh.shift.size() > dim)
    {
      unsigned int n_functions = 0;
      for (const unsigned int n : mesh.n_basis)
        n_functions = std::max(n_functions, n);
      std::size_t n_basis = 0;
      for (unsigned int n = 1; n <= n_functions; ++n)
        n_basis =
          std::max(n_basis, static_cast<std::size_t>(n) * slice_size(n));
      basis.resize((dim + 4) * n_basis);
      rows.resize((dim + 1) * n_basis);
      other.resize((dim + 2) * n_basis);

      // ---- volume coefficients
      const unsigned int n = volume_points.capacity;
      volume_memory.resize((dim * dim + 2 * dim + 2) * n);
      double    *p    = volume_memory.data();
      const auto next = [&p, n](const bool wanted) {
        double *const result = wanted ? p : nullptr;
        p += n;
        return result;
      };
      const bool tensor = volume_structure.diffusion == DiffusionType::tensor;
      for (unsigned int d = 0; d < dim * dim; ++d)
        volume_blocks.a[d] =
          next(tensor || (d == 0 && volume_structure.diffusion ==
                                      DiffusionType::isotropic));
      for (unsigned int d = 0; d < dim; ++d)
        {
          volume_blocks.beta[d] = next(volume_structure.beta);
          volume_blocks.b[d]    = next(volume_structure.b);
        }
      volume_blocks.c = next(volume_structure.c);
      volume_blocks.f = next(volume_structure.f && want_rhs);

      std::copy(volume_blocks.a,
                volume_blocks.a + dim * dim,
                volume_coefficients.a);
      std::copy(volume_blocks.b, volume_blocks.b + dim, volume_coefficients.b);
      std::copy(volume_blocks.beta,
                volume_blocks.beta + dim,
                volume_coefficients.beta);
      volume_coefficients.c      = volume_blocks.c;
      volume_coefficients.tensor = tensor;

      if (!want_matrix || volume_structure.constant)
        {
          // Constant coefficients are evaluated only once, in this constructor.
          if (want_matrix && mesh.n_subcells() > 0)
            {
              PointBatch<dim> batch;
              batch.n_points = n;
              std::vector<double> origin(dim * n);
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
              form.evaluate_volume(batch, blocks);
            }
          std::fill(volume_blocks.a, volume_blocks.a + dim * dim, nullptr);
          std::fill(volume_blocks.b, volume_blocks.b + dim, nullptr);
          std::fill(volume_blocks.beta, volume_blocks.beta + dim, nullptr);
          volume_blocks.c = nullptr;
        }

      // ---- facets
      const unsigned int m = facet_capacity + HostKernels::padding;
      facet_memory.resize((3 * dim + 2 + 4 * dim + 3 + dim) * m);
      p                 = facet_memory.data();
      const auto next_m = [&p, m](const bool wanted) {
        double *const result = wanted ? p : nullptr;
        p += m;
        return result;
      };
      for (unsigned int d = 0; d < dim; ++d)
        {
          x[d]          = next_m(true);
          neighbor_x[d] = next_m(true);
          normal[d]     = next_m(true);
          for (unsigned int side = 0; side < 2; ++side)
            {
              facet_blocks.b[side][d]    = next_m(facet_structure.b);
              facet_blocks.beta[side][d] = next_m(facet_structure.beta);
            }
          facet_blocks.s[d] =
            next_m(facet_structure.rhs && facet_structure.beta && want_rhs);
        }
      w                 = next_m(true);
      point_sigma       = next_m(true);
      facet_blocks.c[0] = next_m(true);
      facet_blocks.c[1] = next_m(true);
      facet_blocks.r    = next_m(facet_structure.rhs && want_rhs);
      subcells.resize(m);
      materials.resize(m);
      neighbor_subcells.resize(m);
      neighbor_materials.resize(m);
    }



    template <int dim>
    void
    BlockRowAssembler<dim>::assemble(const unsigned int k,
                                     double            *values,
                                     double            *rhs)
    {
      const unsigned int n = mesh.n_basis[k];
      if (want_rhs)
        std::fill(rhs, rhs + n, 0.);

      diagonal_touched            = false;
      current_block_column        = invalid_index;
      double            *diagonal = nullptr;
      const unsigned int width    = sparsity.row_width[k];
      if (want_matrix)
        {
          std::uint64_t block = sparsity.block_offset[k];
          while (sparsity.block_column[block] != k)
            ++block;
          diagonal = values + sparsity.column_offset[block];
          // Without facet terms the blocks of the neighbours are zero.
          if (!facet_structure.facets)
            std::fill(values, values + static_cast<std::size_t>(n) * width, 0.);
        }

      assemble_volume(k, diagonal, rhs);
      if (facet_structure.facets)
        assemble_facets(k, values, rhs);

      if (want_matrix)
        {
          if (!diagonal_touched)
            for (unsigned int i = 0; i < n; ++i)
              std::fill(diagonal + static_cast<std::size_t>(i) * width,
                        diagonal + static_cast<std::size_t>(i) * width + n,
                        0.);
          if (volume_structure.symmetric)
            for (unsigned int i = 1; i < n; ++i)
              for (unsigned int j = 0; j < i; ++j)
                diagonal[static_cast<std::size_t>(i) * width + j] =
                  diagonal[static_cast<std::size_t>(j) * width + i];
        }
    }



    template <int dim>
    void
    BlockRowAssembler<dim>::assemble_volume(const unsigned int k,
                                            double            *diagonal,
                                            double            *rhs)
    {
      const VolumeStructure &structure = volume_structure;
      const bool             value_row = structure.b || structure.c;
      const bool             gradient_row =
        structure.diffusion != DiffusionType::none || structure.beta;
      const bool matrix = want_matrix && (value_row || gradient_row);
      if (!matrix && !(want_rhs && structure.f))
        return;

      const HostKernels::Space element   = space(k);
      const unsigned int       n         = element.n_functions;
      const unsigned int       slice     = slice_size(n);
      const unsigned int       first_row = value_row ? 0 : 1;
      const unsigned int n_rows = (gradient_row ? dim + 1 : 1) - first_row;

      unsigned int  subcell = mesh.subcell_offset[k], point = 0;
      std::uint64_t first = 0;
      while (subcell < mesh.subcell_offset[k + 1])
        {
          const unsigned int n_points =
            volume_points.fill(mesh, rules, kernels, k, subcell, point);

          if (volume_blocks.a[0] || volume_blocks.beta[0] ||
              volume_blocks.b[0] || volume_blocks.c || volume_blocks.f)
            {
              PointBatch<dim> batch;
              batch.n_points = n_points;
              std::copy(volume_points.x, volume_points.x + dim, batch.x);
              batch.subcell  = volume_points.subcells.data();
              batch.material = volume_points.materials.data();
              if (diffusion != nullptr && volume_blocks.a[0] != nullptr)
                {
                  VolumeBlocks<dim>  others = volume_blocks;
                  const unsigned int n_new  = volume_points.n_points;
                  diffusion->copy(k, first, n_new, volume_blocks.a);
                  for (unsigned int d = 0; d < diffusion->n_entries(); ++d)
                    std::fill(volume_blocks.a[d] + n_new,
                              volume_blocks.a[d] + n_points,
                              volume_blocks.a[d][n_new - 1]);
                  first += n_new;
                  std::fill(others.a, others.a + dim * dim, nullptr);
                  if (others.beta[0] || others.b[0] || others.c || others.f)
                    form.evaluate_volume(batch, others);
                }
              else
                form.evaluate_volume(batch, volume_blocks);
            }

          for (unsigned int q = 0; q < n_points; q += slice)
            {
              const unsigned int m = std::min(slice, n_points - q);
              const double      *points[dim];
              for (unsigned int d = 0; d < dim; ++d)
                points[d] = volume_points.x[d] + q;
              kernels.evaluate_basis(
                element, points, m, basis.data(), (dim + 1) * m, m);

              if (matrix)
                {
                  HostKernels::VolumeCoefficients<dim> coefficients =
                    volume_coefficients;
                  for (const double *&a : coefficients.a)
                    a = a ? a + q : nullptr;
                  for (unsigned int d = 0; d < dim; ++d)
                    {
                      if (coefficients.b[d])
                        coefficients.b[d] += q;
                      if (coefficients.beta[d])
                        coefficients.beta[d] += q;
                    }
                  if (coefficients.c)
                    coefficients.c += q;
                  kernels.volume_rows(coefficients,
                                      volume_points.w + q,
                                      m,
                                      n,
                                      basis.data(),
                                      rows.data());
                  kernels.product(n,
                                  n,
                                  n_rows,
                                  m,
                                  basis.data() + first_row * m,
                                  (dim + 1) * m,
                                  m,
                                  rows.data() + first_row * m,
                                  (dim + 1) * m,
                                  m,
                                  diagonal,
                                  sparsity.row_width[k],
                                  diagonal_touched,
                                  structure.symmetric);
                  diagonal_touched = true;
                }

              if (volume_blocks.f)
                {
                  double *const f = volume_blocks.f + q;
                  for (unsigned int p = 0; p < m; ++p)
                    f[p] *= volume_points.w[q + p];
                  kernels.vector_product(
                    n, m, basis.data(), (dim + 1) * m, f, rhs);
                }
            }
        }
    }



    template <int dim>
    bool
    BlockRowAssembler<dim>::append_facet(const unsigned int facet,
                                         const unsigned int side,
                                         const unsigned int degree,
                                         const double      *shift,
                                         unsigned int      &point)
    {
      const FacetType    type  = mesh.facet_type[facet];
      const unsigned int begin = n_facet_points;
      unsigned int       n;
      bool               finished = true;
      double            *target[dim], *target_normal[dim];
      for (unsigned int d = 0; d < dim; ++d)
        {
          target[d]        = x[d] + begin;
          target_normal[d] = normal[d] + begin;
        }

      // The capacity is a multiple of the padding, so that a segment can always
      // be padded at its end.
      if (type == FacetType::tabulated)
        {
          const unsigned int first = mesh.facet_point_offset[facet] + point,
                             last  = mesh.facet_point_offset[facet + 1];
          n        = std::min(last - first, facet_capacity - begin);
          finished = (first + n == last);
          point    = finished ? 0 : point + n;
          for (unsigned int q = 0; q < n; ++q)
            {
              for (unsigned int d = 0; d < dim; ++d)
                {
                  target[d][q] = mesh.facet_points[(first + q) * dim + d];
                  target_normal[d][q] =
                    mesh.facet_point_normals[(first + q) * dim + d];
                }
              w[begin + q] = mesh.facet_point_weights[first + q];
            }
        }
      else
        {
          const HostKernels::Rule &rule = rules.facet(type, degree);
          if (begin + rule.n_padded > facet_capacity)
            return false;
          n = rule.n_points;
          const double *v =
            &mesh.facet_vertices[mesh.facet_vertex_offset[facet] * dim];
          const bool hypercube = type == FacetType::quadrilateral;
          if (hypercube && !is_parallelepiped<dim>(v))
            kernels.multilinear_facet(
              v, rule, target, target_normal, w + begin);
          else
            {
              double edges[dim - 1][dim];
              for (unsigned int d = 0; d + 1 < dim; ++d)
                for (unsigned int e = 0; e < dim; ++e)
                  edges[d][e] =
                    v[(hypercube ? 1u << d : d + 1) * dim + e] - v[e];
              // Weights on the unit simplex in n variables sum to 1 / n!.
              constexpr unsigned int factorial[4] = {1, 1, 2, 6};
              kernels.affine_points(v,
                                    &edges[0][0],
                                    dim - 1,
                                    mesh.facet_measure[facet] *
                                      (type == FacetType::simplex
                                         ? factorial[dim - 1]
                                       : type == FacetType::prism
                                         ? factorial[dim - 2]
                                         : 1),
                                    rule,
                                    target,
                                    w + begin);
              for (unsigned int d = 0; d < dim; ++d)
                fill_padded(target_normal[d],
                            n,
                            mesh.facet_normal[facet * dim + d]);
            }
        }

      // Coordinates of facets are those of side 0, normals point from side 0 to
      // side 1.
      if (side == 1)
        for (unsigned int d = 0; d < dim; ++d)
          for (unsigned int q = 0; q < n; ++q)
            target_normal[d][q] = -target_normal[d][q];
      if (periodic)
        for (unsigned int d = 0; d < dim; ++d)
          for (unsigned int q = 0; q < n; ++q)
            {
              const double here        = target[d][q];
              target[d][q]             = side == 0 ? here : here + shift[d];
              neighbor_x[d][begin + q] = side == 0 ? here + shift[d] : here;
            }
      fill_padded(point_sigma + begin, n, sigma[facet]);

      const unsigned int own   = mesh.facet_subcell[2 * facet + side],
                         other = mesh.facet_subcell[2 * facet + 1 - side];
      fill_padded(subcells.data() + begin, n, own);
      fill_padded(materials.data() + begin, n, mesh.subcell_material[own]);
      if (other != invalid_index)
        {
          fill_padded(neighbor_subcells.data() + begin, n, other);
          fill_padded(neighbor_materials.data() + begin,
                      n,
                      mesh.subcell_material[other]);
        }
      n_facet_points += n;
      return finished;
    }



    template <int dim>
    void
    BlockRowAssembler<dim>::pad_facet_points()
    {
      if (segments.empty() || n_facet_points == 0)
        return;
      const unsigned int last = n_facet_points - 1;
      while (n_facet_points % HostKernels::padding != 0)
        {
          const unsigned int q = n_facet_points++;
          for (unsigned int d = 0; d < dim; ++d)
            {
              x[d][q] = x[d][last];
              if (periodic)
                neighbor_x[d][q] = neighbor_x[d][last];
              normal[d][q] = normal[d][last];
            }
          w[q]                  = 0.;
          point_sigma[q]        = point_sigma[last];
          subcells[q]           = subcells[last];
          materials[q]          = materials[last];
          neighbor_subcells[q]  = neighbor_subcells[last];
          neighbor_materials[q] = neighbor_materials[last];
        }
      segments.back().end = n_facet_points;
    }



    template <int dim>
    void
    BlockRowAssembler<dim>::evaluate_form_on_facets()
    {
      const auto evaluate = [&](const unsigned int begin,
                                const unsigned int end,
                                const unsigned int boundary_id) {
        if (begin == end)
          return;
        const bool           boundary = boundary_id != invalid_index;
        FacetPointBatch<dim> batch;
        FacetBlocks<dim>     blocks;
        batch.n_points = end - begin;
        for (unsigned int d = 0; d < dim; ++d)
          {
            batch.x[d]          = x[d] + begin;
            batch.neighbor_x[d] = periodic ? neighbor_x[d] + begin : batch.x[d];
            batch.normal[d]     = normal[d] + begin;
            for (unsigned int side = 0; side < 2; ++side)
              {
                const bool    present = side == 0 || !boundary;
                double *const b       = facet_blocks.b[side][d], *const beta =
                                                             facet_blocks
                                                               .beta[side][d];
                blocks.b[side][d]    = b && present ? b + begin : nullptr;
                blocks.beta[side][d] = beta && present ? beta + begin : nullptr;
              }
            blocks.s[d] = facet_blocks.s[d] && boundary
                            ? facet_blocks.s[d] + begin
                            : nullptr;
          }
        blocks.c[0] = facet_blocks.c[0] + begin;
        blocks.c[1] = boundary ? nullptr : facet_blocks.c[1] + begin;
        blocks.r =
          facet_blocks.r && boundary ? facet_blocks.r + begin : nullptr;
        batch.subcell  = subcells.data() + begin;
        batch.material = materials.data() + begin;
        batch.sigma    = point_sigma + begin;
        if (boundary)
          {
            batch.boundary_id = boundary_id;
            form.evaluate_boundary_facets(batch, blocks);
          }
        else
          {
            batch.neighbor_subcell  = neighbor_subcells.data() + begin;
            batch.neighbor_material = neighbor_materials.data() + begin;
            form.evaluate_interior_facets(batch, blocks);
          }
      };

      // Evaluates interior points in a single batch, and boundary points in a
      // batch for each boundary id.
      unsigned int interior_end = 0;
      for (const Segment &segment : segments)
        if (segment.boundary_id == invalid_index)
          interior_end = segment.end;
      evaluate(0, interior_end, invalid_index);
      for (const Segment &segment : segments)
        if (segment.boundary_id != invalid_index)
          evaluate(segment.begin, segment.end, segment.boundary_id);
    }



    template <int dim>
    void
    BlockRowAssembler<dim>::process_facet_points(const unsigned int k,
                                                 double            *values,
                                                 double            *rhs)
    {
      evaluate_form_on_facets();

      const HostKernels::Space element = space(k);
      const unsigned int       n       = element.n_functions;
      const unsigned int       width   = sparsity.row_width[k];
      const unsigned int       n_rows  = facet_structure.beta ? 2 : 1;
      unsigned int             n_max   = n;
      for (const Segment &segment : segments)
        if (segment.neighbor != invalid_index)
          n_max = std::max(n_max, mesh.n_basis[segment.neighbor]);
      const unsigned int slice = slice_size(n_max);

      // Rows of own functions: test flux beta_0.grad, value, gradient, trial
      // row of the diagonal block, and test flux beta_1.grad towards the
      // neighbour. Every product uses two rows at a constant distance. Rows of
      // the neighbour's functions: trial row, value, gradient.
      std::uint64_t block    = sparsity.block_offset[k];
      double       *diagonal = nullptr;
      if (want_matrix)
        {
          std::uint64_t b = block;
          while (sparsity.block_column[b] != k)
            ++b;
          diagonal = values + sparsity.column_offset[b];
        }

      std::size_t  s = 0;
      unsigned int q = 0;
      while (q < n_facet_points)
        {
          const unsigned int m      = std::min(slice, n_facet_points - q);
          const unsigned int stride = (dim + 4) * m;
          double *const      flux   = basis.data();
          double *const      value  = flux + m;
          double *const      trial  = flux + (dim + 2) * m;
          double *const      flux_to_neighbor = flux + (dim + 3) * m;

          const auto at = [q](double *const(&p)[dim], const double **out) {
            for (unsigned int d = 0; d < dim; ++d)
              out[d] = p[d] ? p[d] + q : nullptr;
          };
          const double *points[dim], *direction[dim];
          at(x, points);
          kernels.evaluate_basis(element, points, m, value, stride, m);

          if (want_matrix)
            {
              at(facet_blocks.b[0], direction);
              kernels.directional(facet_structure.b ? direction : nullptr,
                                  facet_blocks.c[0] + q,
                                  w + q,
                                  m,
                                  n,
                                  value,
                                  stride,
                                  m,
                                  trial,
                                  stride);
              if (facet_structure.beta)
                {
                  at(facet_blocks.beta[0], direction);
                  kernels.directional(direction,
                                      nullptr,
                                      w + q,
                                      m,
                                      n,
                                      value,
                                      stride,
                                      m,
                                      flux,
                                      stride);
                }
              kernels.product(n,
                              n,
                              n_rows,
                              m,
                              n_rows == 2 ? flux : value,
                              stride,
                              m,
                              n_rows == 2 ? value : trial,
                              stride,
                              (dim + 1) * m,
                              diagonal,
                              width,
                              diagonal_touched,
                              volume_structure.symmetric);
              diagonal_touched = true;
              if (facet_structure.beta)
                {
                  at(facet_blocks.beta[1], direction);
                  kernels.directional(direction,
                                      nullptr,
                                      w + q,
                                      m,
                                      n,
                                      value,
                                      stride,
                                      m,
                                      flux_to_neighbor,
                                      stride);
                }
            }

          // segments, or parts of them, in this slice
          for (; s < segments.size() && segments[s].begin < q + m; ++s)
            {
              const Segment     &segment = segments[s];
              const unsigned int begin   = std::max(segment.begin, q),
                                 end     = std::min(segment.end, q + m);
              const unsigned int r       = end - begin;
              const double      *here[dim], *there[dim];
              for (unsigned int d = 0; d < dim; ++d)
                there[d] = (periodic ? neighbor_x[d] : x[d]) + begin;

              if (segment.neighbor != invalid_index && want_matrix)
                {
                  const unsigned int       j       = segment.neighbor;
                  const HostKernels::Space second  = space(j);
                  const unsigned int       stride2 = (dim + 2) * r;
                  kernels.evaluate_basis(
                    second, there, r, other.data() + r, stride2, r);
                  for (unsigned int d = 0; d < dim; ++d)
                    here[d] = facet_structure.b ? facet_blocks.b[1][d] + begin
                                                : nullptr;
                  kernels.directional(facet_structure.b ? here : nullptr,
                                      facet_blocks.c[1] + begin,
                                      w + begin,
                                      r,
                                      second.n_functions,
                                      other.data() + r,
                                      stride2,
                                      r,
                                      other.data(),
                                      stride2);
                  // Usually the next block; ghosts are in another order.
                  const std::uint64_t block_end = sparsity.block_offset[k + 1];
                  while (block < block_end && sparsity.block_column[block] != j)
                    ++block;
                  if (block == block_end)
                    {
                      block = sparsity.block_offset[k];
                      while (sparsity.block_column[block] != j)
                        ++block;
                    }
                  const bool accumulate = current_block_column == j || j == k;
                  current_block_column  = j;
                  kernels.product(n,
                                  second.n_functions,
                                  n_rows,
                                  r,
                                  value + (begin - q),
                                  stride,
                                  (dim + 2) * m,
                                  other.data(),
                                  stride2,
                                  r,
                                  values + sparsity.column_offset[block],
                                  width,
                                  accumulate,
                                  false);
                }
              else if (segment.neighbor == invalid_index && want_rhs &&
                       facet_structure.rhs)
                {
                  for (unsigned int d = 0; d < dim; ++d)
                    here[d] =
                      facet_blocks.s[d] ? facet_blocks.s[d] + begin : nullptr;
                  double *const data = rows.data();
                  kernels.directional(facet_blocks.s[0] ? here : nullptr,
                                      facet_blocks.r + begin,
                                      w + begin,
                                      r,
                                      n,
                                      value + (begin - q),
                                      stride,
                                      m,
                                      data,
                                      r);
                  for (unsigned int p = 0; p < r; ++p)
                    other[p] = 1.;
                  kernels.vector_product(n, r, data, r, other.data(), rhs);
                }
              if (end < segment.end)
                break; // the next slice has the rest
            }
          q += m;
        }
      segments.clear();
      n_facet_points = 0;
    }



    template <int dim>
    void
    BlockRowAssembler<dim>::assemble_facets(const unsigned int k,
                                            double            *values,
                                            double            *rhs)
    {
      for (unsigned int e = mesh.polytope_interface_offset[k];
           e < mesh.polytope_interface_offset[k + 1];
           ++e)
        {
          const unsigned int interface = mesh.polytope_interface[e] / 2,
                             side      = mesh.polytope_interface[e] % 2;
          const unsigned int neighbor =
            mesh.neighbor(mesh.polytope_interface[e]);
          const unsigned int boundary_id =
            mesh.interface_boundary_id[interface];
          if (neighbor == invalid_index && !want_matrix && !want_rhs)
            continue;
          if (neighbor != invalid_index && !want_matrix)
            continue;

          unsigned int degree = mesh.degree[k];
          if (neighbor != invalid_index)
            degree = std::max(degree, mesh.degree[neighbor]);
          const unsigned int shift_index = mesh.interface_shift[interface];
          const double      *shift       = &mesh.shift[shift_index * dim];

          const auto open_segment = [&]() {
            segments.push_back(
              {neighbor, boundary_id, n_facet_points, n_facet_points});
          };
          open_segment();
          for (unsigned int f = mesh.facet_offset[interface];
               f < mesh.facet_offset[interface + 1];
               ++f)
            {
              unsigned int point = 0;
              while (!append_facet(f, side, degree, shift, point))
                {
                  // The buffer is full: process its points and continue.
                  pad_facet_points();
                  if (segments.back().end == segments.back().begin)
                    segments.pop_back();
                  process_facet_points(k, values, rhs);
                  open_segment();
                }
            }
          pad_facet_points();
        }
      if (n_facet_points > 0)
        process_facet_points(k, values, rhs);
      segments.clear();
      n_facet_points = 0;
    }

    template class BlockRowAssembler<2>;
    template class BlockRowAssembler<3>;
    template class BlockRowAssembler<4>;
  } // namespace internal
} // namespace Tessella
