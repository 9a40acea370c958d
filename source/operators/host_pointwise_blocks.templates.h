// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_operators_host_pointwise_blocks_templates_h
#define tessella_source_operators_host_pointwise_blocks_templates_h

#include <algorithm>
#include <cmath>

#include "host_pointwise_rows.h"

// Members of HostPointwiseRows that compute blocks of the Jacobian. A table has
// the derivative of output row o with respect to input row i of the field in
// array i n_outputs + o.

namespace Tessella
{
  namespace internal
  {
    template <int dim>
    void
    HostPointwiseRows<dim>::evaluate_tables()
    {
      const std::size_t  P = array_pitch;
      const RowRange     in_rows(slice.input), out_rows(slice.output);
      const unsigned int n_rows =
        (dim + 1) * structure.field_components[problem->field];
      const auto is_used = [](const RowRange &rows, const unsigned int row) {
        const unsigned int r = row % (dim + 1);
        return r >= rows.begin && r < rows.end;
      };
      used_rows.clear();
      used_outputs.clear();
      for (unsigned int i = 0; i < n_rows; ++i)
        if (is_used(in_rows, i))
          used_rows.push_back(i);
      for (unsigned int o = 0; o < n_outputs; ++o)
        if (is_used(out_rows, o))
          used_outputs.push_back(o);
      const bool has_neighbor =
        slice.parts[0].region != PointwiseRegion::volume;
      for (const unsigned int i : used_rows)
        for (const unsigned int o : used_outputs)
          {
            const std::size_t array = (i * n_outputs + o) * P;
            std::fill_n(own_table + array, slice.n, 0.);
            if (has_neighbor)
              std::fill_n(neighbor_table + array, slice.n, 0.);
          }
      unsigned int first = 0; // input row
      for (unsigned int f = 0; f < problem->field; ++f)
        first += (dim + 1) * structure.field_components[f];

      for_calls([&](const Part &part) {
        const unsigned int n_sides =
          part.region == PointwiseRegion::interior_facet ? 2 : 1;
        for (unsigned int s = 0; s < n_sides; ++s)
          for (unsigned int i = 0; i < n_inputs; ++i)
            in[s][i] = is_used(in_rows, i) ? (s == part.side ? own : neighbor) +
                                               part.begin + i * P
                                           : nullptr;
        // Only the terms of the polytope are wanted: all other pointers stay
        // null.
        const auto for_entries = [&](const auto &set) {
          for (unsigned int s = 0; s < n_sides; ++s)
            for (const unsigned int i : used_rows)
              {
                double **const pointers =
                  &table_pointers[((s * n_inputs + first + i) * n_sides +
                                   part.side) *
                                  n_outputs];
                double *const table =
                  (s == part.side ? own_table : neighbor_table) + part.begin +
                  i * n_outputs * P;
                for (const unsigned int o : used_outputs)
                  set(pointers[o], table + o * P);
              }
        };
        for_entries([](double *&to, double *array) { to = array; });
        const double *const *in_pointers[2] = {in[0].data(), in[1].data()};
        problem->integrand.evaluate_jacobian(part.region,
                                             part.end - part.begin,
                                             slice.points + part.begin,
                                             in_pointers,
                                             table_pointers.data());
        for_entries([](double *&to, double *) { to = nullptr; });
      });
      if (diagnosis)
        check_tables(has_neighbor);
    }



    template <int dim>
    void
    HostPointwiseRows<dim>::check_tables(const bool has_neighbor) const
    {
      for (unsigned int q = 0; q < slice.n; ++q)
        for (const unsigned int o : used_outputs)
          for (const unsigned int i : used_rows)
            {
              const std::size_t entry =
                (i * n_outputs + o) * std::size_t(array_pitch) + q;
              if (!std::isfinite(own_table[entry]) ||
                  (has_neighbor && !std::isfinite(neighbor_table[entry])))
                throw_at_point(q, o / (dim + 1));
            }
    }



    // Adds sum_q w L_i . C R_j for one component of the test functions and one
    // of the trial functions. The matrix C at each point is multiplied by the
    // factor with more rows, so that the product of both has the smaller number
    // of rows.
    template <int dim>
    void
    HostPointwiseRows<dim>::add_pair(const double       *table,
                                     const unsigned int  test_component,
                                     const unsigned int  trial_component,
                                     const unsigned int  begin,
                                     const unsigned int  end,
                                     const double       *trial,
                                     const unsigned int  n_trial,
                                     double             *to,
                                     const unsigned long width)
    {
      const std::size_t  P     = array_pitch;
      const unsigned int n     = end - begin;
      const auto         entry = [&](const unsigned int out_row,
                             const unsigned int in_row) {
        return table +
               ((trial_component * (dim + 1) + in_row) * n_outputs +
                test_component * (dim + 1) + out_row) *
                 P +
               begin;
      };
      // Rows that do not vanish.
      RowRange test(slice.output), field(slice.input);
      bool     test_rows[dim + 1] = {}, field_rows[dim + 1] = {};
      for (unsigned int r = test.begin; r < test.end; ++r)
        for (unsigned int s = field.begin; s < field.end; ++s)
          if (!(test_rows[r] && field_rows[s]))
            {
              const double *const c = entry(r, s);
              if (std::any_of(c, c + n, [](const double v) {
                    return !(v == 0.);
                  }))
                test_rows[r] = field_rows[s] = true;
            }
      // The rows of a gradient stay together.
      const auto shrink = [](RowRange &range, const bool *rows) {
        if (range.begin == 0 && !rows[0])
          range.begin = 1;
        if (std::none_of(rows + 1, rows + dim + 1, [](const bool r) {
              return r;
            }))
          range.end = 1;
      };
      shrink(test, test_rows);
      shrink(field, field_rows);
      if (test.n() == 0 || field.n() == 0)
        return;

      const unsigned int b              = problem->bases.basis(context.test);
      const unsigned int n_test         = context.test_dofs().n_basis[slice.k];
      const unsigned int stride         = (dim + 1) * slice.n;
      const double      *own_basis      = slice.basis[b] + begin;
      const bool         on_test        = field.n() <= test.n();
      const RowRange    &many           = on_test ? test : field,
                     &few               = on_test ? field : test;
      const double *const basis         = on_test ? own_basis : trial;
      const unsigned int  n_functions   = on_test ? n_test : n_trial;
      const unsigned int  factor_stride = few.n() * n;
      for (unsigned int r = few.begin; r < few.end; ++r)
        {
          const double *gradient[dim], *value = nullptr;
          if (many.begin == 0)
            value = on_test ? entry(0, r) : entry(r, 0);
          for (unsigned int d = 0; d < dim; ++d)
            gradient[d] = on_test ? entry(d + 1, r) : entry(r, d + 1);
          kernels.directional(many.end > 1 ? gradient : nullptr,
                              value,
                              slice.w + begin,
                              n,
                              n_functions,
                              basis,
                              stride,
                              slice.n,
                              factor + (r - few.begin) * n,
                              factor_stride);
        }
      const HostKernels::Factor product = {n_functions,
                                           factor,
                                           factor_stride,
                                           n};
      if (on_test && transposed)
        {
          const unsigned int columns = padded(n_trial);
          kernels.transposed_product(
            product,
            transposed_trial +
              std::size_t(few.begin - RowRange(slice.input).begin) * n *
                columns,
            columns,
            n_trial,
            few.n(),
            n,
            to,
            width);
          return;
        }
      const HostKernels::Factor other = {on_test ? n_trial : n_test,
                                         (on_test ? trial : own_basis) +
                                           few.begin * slice.n,
                                         stride,
                                         slice.n};
      kernels.product(on_test ? product : other,
                      on_test ? other : product,
                      few.n(),
                      n,
                      to,
                      width,
                      true,
                      false);
    }



    template <int dim>
    void
    HostPointwiseRows<dim>::add_block(const double       *table,
                                      const unsigned int  begin,
                                      const unsigned int  end,
                                      const double       *trial,
                                      const unsigned int  n_trial,
                                      double             *to,
                                      const unsigned long width)
    {
      if (add_small_block(table, begin, end, trial, n_trial, to, width))
        return;
      const unsigned int n_test = context.test_dofs().n_basis[slice.k];
      // Nearly all pairs of components use the same rows of the trial
      // functions, unless those of the test functions are fewer.
      const RowRange rows(slice.input);
      transposed = rows.n() <= RowRange(slice.output).n();
      if (transposed)
        kernels.transpose({n_trial,
                           trial + rows.begin * slice.n + begin,
                           (dim + 1) * slice.n,
                           slice.n},
                          rows.n(),
                          end - begin,
                          transposed_trial,
                          padded(n_trial));
      for (unsigned int c = 0; c < structure.n_components; ++c)
        for (unsigned int e = 0; e < structure.field_components[problem->field];
             ++e)
          add_pair(table,
                   c,
                   e,
                   begin,
                   end,
                   trial + begin,
                   n_trial,
                   to + c * n_test * width + e * n_trial,
                   width);
    }



    template <int dim>
    bool
    HostPointwiseRows<dim>::add_small_block(const double       *table,
                                            const unsigned int  begin,
                                            const unsigned int  end,
                                            const double       *trial,
                                            const unsigned int  n_trial,
                                            double             *to,
                                            const unsigned long width)
    {
      const unsigned int n_test = context.test_dofs().n_basis[slice.k];
      const RowRange     test_rows(slice.output), trial_rows(slice.input);
      // If both have several rows, products with the table come first.
      if (n_test * n_trial > HostBlockKernels::max_products ||
          std::min(test_rows.n(), trial_rows.n()) > 1)
        return false;
      const unsigned int b      = problem->bases.basis(context.test);
      const unsigned int stride = (dim + 1) * slice.n;
      problem->add_block({{n_test,
                           structure.n_components,
                           slice.basis[b] + begin,
                           stride,
                           slice.n,
                           test_rows.begin,
                           test_rows.end},
                          {n_trial,
                           structure.field_components[problem->field],
                           trial + begin,
                           stride,
                           slice.n,
                           trial_rows.begin,
                           trial_rows.end},
                          end - begin,
                          slice.w + begin,
                          table + begin,
                          array_pitch,
                          dim + 1,
                          n_outputs,
                          to,
                          width});
      return true;
    }



    template <int dim>
    void
    HostPointwiseRows<dim>::add_blocks(const Blocks &blocks)
    {
      evaluate_bases();
      evaluate_fields();
      evaluate_tables();
      const unsigned int   b     = problem->bases.basis(problem->field);
      const PolytopicDoFs &dofs  = context.dofs(problem->field);
      const auto           place = [&](const unsigned int column) {
        return blocks.sparsity == nullptr
                           ? blocks.values
                           : blocks.values +
                     blocks.sparsity->column_offset[blocks.sparsity->find_block(
                       slice.k, column)];
      };
      add_block(own_table,
                0,
                slice.n,
                slice.basis[b],
                dofs.n_basis[slice.k],
                place(slice.k),
                blocks.width);
      for (const Part &part : slice.parts)
        if (part.neighbor != invalid_index &&
            (blocks.sparsity != nullptr || part.neighbor == slice.k))
          add_block(neighbor_table,
                    part.begin,
                    part.end,
                    slice.neighbor_basis[b],
                    dofs.n_basis[part.neighbor],
                    place(part.neighbor),
                    blocks.width);
    }



    template <int dim>
    void
    HostPointwiseRows<dim>::compute_blocks(const unsigned int k,
                                           const Blocks      &blocks)
    {
      const auto add = [&]() { add_blocks(blocks); };
      if (structure.volume)
        for_volume_slices(k, add);
      if (structure.interior_facets || structure.boundary_facets)
        for_facet_slices(k,
                         structure.interior_facets,
                         structure.boundary_facets,
                         add);
    }



    template <int dim>
    void
    HostPointwiseRows<dim>::compute_block_row(const unsigned int   k,
                                              const BlockSparsity &sparsity,
                                              double              *values)
    {
      const std::vector<std::uint64_t> &rows = context.test_dofs().dof_offset;
      std::fill_n(values, (rows[k + 1] - rows[k]) * sparsity.row_width[k], 0.);
      compute_blocks(k, {&sparsity, values, sparsity.row_width[k]});
    }



    template <int dim>
    void
    HostPointwiseRows<dim>::compute_diagonal_block(const unsigned int k,
                                                   double            *block)
    {
      const PolytopicDoFs &dofs = context.test_dofs();
      const std::size_t    n    = dofs.n_basis[k] * dofs.n_components;
      std::fill_n(block, n * n, 0.);
      compute_blocks(k, {nullptr, block, n});
    }
  } // namespace internal
} // namespace Tessella

#endif
