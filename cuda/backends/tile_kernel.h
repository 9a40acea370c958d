// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_backends_tile_kernel_h
#define tessella_cuda_backends_tile_kernel_h

#include "basis.h"
#include "product.h"

// Kernels for large numbers of functions, and for polytopes of very many
// sub-cells: a warp computes a tile of a block.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /**
       * Computes a tile of 8 TM x 8 TN entries of a block. If I0 >= 0, rows
       * begin at 8 I0 and columns at 0, so that the rows of diagonal blocks are
       * among the columns and no function is evaluated twice.
       *
       * If a warp computes a whole diagonal block that is unsymmetric only
       * because of advection, the sums below the diagonal are those of the
       * difference between the block and its transposed upper part; most terms
       * do not contribute to it.
       *
       * P: degree, or -1 if it is known at run time only. Lane 4 g + r
       * evaluates function g of each group of 8 at every fourth point,
       * beginning with point r. k, j: polytopes of rows and columns; i0, j0:
       * first row and column of the tile; n1, n2: numbers of functions.
       */
      template <int dim,
                int P,
                int TM,
                int TN,
                int I0,
                typename Number,
                Cells cells = Cells::any>
      struct TileKernel
      {
        using Slots = Batch<dim, P, Number, cells>;

        /// True if the lanes hold the sums below the diagonal in the layout of
        /// those above.
        static constexpr bool square =
          I0 == 0 && TM == TN && PairedTiles<TM, TN, Number, 0>::exist;

        const Data<dim>    &D;
        const unsigned int  lane, g, r;
        const std::uint64_t block;
        const unsigned int  k, j, i0, j0, n1, n2;
        Slots               slots,
          own_slots; ///< for both polytopes of a facet, for one polytope
        /// Template argument `needed`: the rows of a symmetric block begin at
        /// I0.
        WarpSums<TM, TN, Number, TM - 1 + (I0 >= 0 ? I0 : 0), square> acc;
        unsigned int row_x[TM], row_pair[TM];
        unsigned int column_x[TN], column_pair[TN];
        const bool   mirror;
        /// True while sums below the diagonal are differences, as described
        /// above.
        bool differences = false;

        __device__
        TileKernel(const Data<dim>    &D,
                   const unsigned int  n_slots,
                   const unsigned int  n_own_slots,
                   const std::uint64_t block,
                   const unsigned int  i0,
                   const unsigned int  j0,
                   void               *shared)
          : D(D)
          , lane(threadIdx.x & 31u)
          , g(lane >> 2)
          , r(lane & 3u)
          , block(block)
          , k(D.block_row[block])
          , j(D.block_column[block])
          , i0(I0 >= 0 ? 8u * (I0 >= 0 ? I0 : 0) : i0)
          , j0(I0 >= 0 ? 0 : j0)
          , n1(D.n_basis[k])
          , n2(D.n_basis[j])
          , slots(D, n_slots, shared)
          , own_slots(D, n_own_slots, shared)
          , mirror(k == j && D.form.symmetric)
        {
          own_slots.leave_out_neighbor();
          acc.clear();
        }

        // Sets the positions of rows and columns in the tables; pair: the
        // columns are functions of the neighbour.
        __device__ void
        set_positions(const bool pair)
        {
          const Slots &slots = pair ? this->slots : own_slots;
#pragma unroll
          for (int t = 0; t < TM; ++t)
            set_position(
              slots, i0 + 8 * t + g, n1, D.degree[k], 0, row_x[t], row_pair[t]);
          const unsigned int side =
            pair ? (slots.n_x + slots.n_pairs_) * slots.stride : 0;
#pragma unroll
          for (int u = 0; u < TN; ++u)
            set_position(slots,
                         j0 + 8 * u + g,
                         n2,
                         D.degree[j],
                         side,
                         column_x[u],
                         column_pair[u]);
        }

        __device__ void
        set_position(const Slots       &slots,
                     const unsigned int i,
                     const unsigned int n,
                     const unsigned int p,
                     const unsigned int side,
                     unsigned int      &x,
                     unsigned int      &pair) const
        {
          const unsigned int position = table_position(D, i, n, p);
          x    = side + (position >> 16) * slots.stride + r;
          pair = side + (position & 0xffffu) * slots.stride + r;
        }

        // Tiles below the diagonal of a symmetric block are skipped.
        __device__ bool
        needs_part() const
        {
          return mirror || differences;
        }

        __device__ auto
        needed() const
        {
          return [this](const int t, const int u) {
            return !needs_part() || j0 + 8 * u + 8 > i0 + 8 * t;
          };
        }

        // If `differences` is set, only for symmetric terms.
        __device__ void
        multiply(const Number (&a)[TM], const Number (&b)[TN])
        {
          acc.add(a, b, needed());
        }

        __device__ void
        multiply_unsymmetric(const Number (&a)[TM], const Number (&b)[TN])
        {
          multiply(a, b);
          if constexpr (square)
            if (differences)
              add_below(a, b);
        }

        __device__ void
        add_differences()
        {
#pragma unroll
          for (int t = 0; t < TM; ++t)
#pragma unroll
            for (int u = 0; u < t; ++u)
              if (acc.transposed(t, u))
#pragma unroll
                for (int s = 0; s < 2; ++s)
                  acc.c[t][u][s] += acc.c[u][t][s];
        }

        template <bool diagonal>
        __device__ void
        add_volume(const VolumeRange &range)
        {
          const unsigned int n_point_groups = own_slots.n_slots / 4;
          VolumeSlot         slot = own_slots.volume_slot(range, range.begin);
          for (unsigned int begin = range.begin; begin < range.end;
               begin += n_point_groups)
            {
              const unsigned int parts =
                own_slots.template fill_volume<true, square>(k, slot);
              slot = own_slots.volume_slot(range, begin + n_point_groups);
              const unsigned int n = min(range.end - begin, n_point_groups);
#pragma unroll 1
              for (unsigned int m = 0; m < 4 * n; m += 4)
                {
                  Number column[TN][dim + 1];
                  Number row[I0 >= 0 ? 1 : TM][dim + 1];
#pragma unroll
                  for (int u = 0; u < TN; ++u)
                    own_slots.gradient(column_x[u] + m,
                                       column_pair[u] + m,
                                       column[u]);
                  if (I0 < 0)
#pragma unroll
                    for (int t = 0; t < TM; ++t)
                      own_slots.gradient(row_x[t] + m,
                                         row_pair[t] + m,
                                         row[I0 >= 0 ? 0 : t]);
                  const Number *c = own_slots.volume_coefficients + m + r;
                  if constexpr (square)
                    if (!diagonal)
                      {
                        add_full_block(column, c, parts);
                        continue;
                      }
                  Slots::for_lines(D.volume_columns, [&](const int e) {
                    // The coefficients multiply the rows, of which there are
                    // fewer.
                    Number     a[TM], b[TN];
                    const auto test = [&](const int t, const int f) {
                      return I0 >= 0 ? column[I0 >= 0 ? I0 + t : 0][f]
                                     : row[I0 >= 0 ? 0 : t][f];
                    };
#pragma unroll
                    for (int u = 0; u < TN; ++u)
                      b[u] = column[u][e];
                    if (diagonal)
                      {
                        const Number factor =
                          e == 0 ? c[own_slots.stride] : c[0];
#pragma unroll
                        for (int t = 0; t < TM; ++t)
                          a[t] = factor * test(t, e);
                      }
                    else
                      {
#pragma unroll
                        for (int t = 0; t < TM; ++t)
                          a[t] = 0.;
#pragma unroll
                        for (int f = 0; f <= dim; ++f)
                          if (own_slots.has_entry(f, e))
                            {
                              const Number factor =
                                c[(f * (dim + 1) + e) * own_slots.stride];
#pragma unroll
                              for (int t = 0; t < TM; ++t)
                                a[t] += factor * test(t, f);
                            }
                      }
                    multiply(a, b);
                  });
                }
              acc.collect();
            }
        }

        /// True for kernels that have separate branch-free loops over facet
        /// points for the most frequent case.
        static constexpr bool straight = square && cells == Cells::simplices;

        /// Adds the difference of A B and its transpose below the diagonal.
        __device__ void
        add_below(const Number (&a)[TM], const Number (&b)[TN])
        {
          const auto below = [](const int t, const int u) {
            return decltype(acc)::transposed(t, u);
          };
          Number minus_a[TM];
#pragma unroll
          for (int t = 0; t < TM; ++t)
            minus_a[t] = -a[t];
          acc.add(a, b, below);
          acc.add(b, minus_a, below);
        }

        /// Adds the products for the coefficients c of a point, as
        /// fill_volume() splits them, with the values and derivatives a.
        __device__ void
        add_full_block(const Number (&a)[TN][dim + 1],
                       const Number      *c,
                       const unsigned int parts)
        {
          static_assert(TM == TN, "for square tiles");
          constexpr int n     = dim + 1;
          const auto    entry = [&](const int e, const int f) {
            return c[(e * n + f) * own_slots.stride];
          };
          Number     x[TN], y[TN];
          const auto set = [&](const int e) {
#pragma unroll
            for (int t = 0; t < TN; ++t)
              {
                x[t] = a[t][e];
                y[t] = 0.;
              }
          };
          const auto add = [&](const Number factor, const int f) {
#pragma unroll
            for (int t = 0; t < TN; ++t)
              y[t] += factor * a[t][f];
          };
          Slots::for_lines(D.form.volume_rows, [&](const int e) {
            set(e);
#pragma unroll
            for (int f = e > 0; f < n; ++f)
              if (e == 0 ? own_slots.has_entry(e, f)
                         : own_slots.has_symmetric_entry(e, f))
                add(entry(min(e, f), max(e, f)), f);
            if (e > 0)
              multiply(x, y);
            else
              multiply_unsymmetric(x, y);
          });
          if (parts & Slots::has_flux)
            {
              set(0);
#pragma unroll
              for (int e = 1; e < n; ++e)
                if (own_slots.has_entry(e, 0))
                  add(entry(e, 0), e);
              multiply_unsymmetric(y, x);
            }
          if (parts & Slots::has_skew)
#pragma unroll
            for (int e = 1; e < n; ++e)
              {
                set(e);
#pragma unroll
                for (int f = 1; f < n; ++f)
                  if (f != e && own_slots.has_symmetric_entry(e, f))
                    add(f > e ? entry(f, e) : -entry(e, f), f);
                multiply_unsymmetric(x, y);
              }
        }

        // Value and directional derivative of a function; for Facets::penalty,
        // the latter includes a part of the coefficient of the value.
        __device__ static void
        directional(const Slots       &slots,
                    const unsigned int x,
                    const unsigned int pair,
                    Number            &v,
                    Number            &d)
        {
          const Two<Number> vx = slots.own_x[x], p = slots.own_pairs[pair];
          v = vx.x * p.x;
          d = vx.y * p.x + vx.x * p.y;
        }

        template <typename Slots::Facets terms, bool pair>
        __device__ void
        add_facets(const unsigned int first, const unsigned int last)
        {
          using Facets = typename Slots::Facets;
          Slots &slots = pair ? this->slots : own_slots;
          // The rows are among the columns.
          constexpr bool shared_rows = I0 >= 0 && !pair;
          constexpr bool values =
            terms == Facets::penalty || terms == Facets::value_rows;
          const bool flux =
            terms != Facets::penalty ? !values : slots.two_sided(false);
          const Number theta = terms == Facets::penalty ? Number(D.form.theta)
                               : terms == Facets::flux_rows ? Number(1.)
                                                            : Number(-1.);
          FacetPointGroup point_group = slots.facet_point_group(first, last);
          const bool plain = straight && terms == Facets::penalty && flux &&
                             theta == Number(1.) &&
                             (pair ? !needs_part() : needs_part());
          for (unsigned int begin = first; begin < last;
               begin += slots.n_slots / 4)
            {
              slots.template fill_facets<terms, pair>(k,
                                                      point_group,
                                                      begin,
                                                      last);
              point_group =
                slots.facet_point_group(begin + slots.n_slots / 4, last);
              const unsigned int n = min(last - begin, slots.n_slots / 4);
              if constexpr (straight)
                if (plain)
                  {
                    add_facet_point_groups<pair>(slots, n);
                    continue;
                  }
#pragma unroll 1
              for (unsigned int m = 0; m < 4 * n; m += 4)
                {
                  Number v[TN], d[TN], row_v[TM], row_d[TM];
#pragma unroll
                  for (int u = 0; u < TN; ++u)
                    directional(
                      slots, column_x[u] + m, column_pair[u] + m, v[u], d[u]);
#pragma unroll
                  for (int t = 0; t < TM; ++t)
                    if (shared_rows)
                      {
                        row_v[t] = v[shared_rows ? I0 + t : 0];
                        row_d[t] = d[shared_rows ? I0 + t : 0];
                      }
                    else
                      directional(slots,
                                  row_x[t] + m,
                                  row_pair[t] + m,
                                  row_v[t],
                                  row_d[t]);
                  const auto coefficient = [&]() {
                    return slots
                      .coefficients[(pair ? slots.stride : 0) + m + r];
                  };
                  if constexpr (terms == Facets::penalty)
                    {
                      if (flux && theta != Number(1.))
                        {
                          const Number c =
                            Number(0.5 * (1. - D.form.theta)) * coefficient();
#pragma unroll
                          for (int t = 0; t < TM; ++t)
                            row_d[t] = theta * row_d[t] + c * row_v[t];
                        }
                      if constexpr (split_operands<Number>)
                        {
                          if (!flux)
#pragma unroll
                            for (int t = 0; t < TM; ++t)
                              row_d[t] = 0.;
                          acc.add(row_v, d, row_d, v, needed());
                        }
                      else
                        {
                          multiply(row_v, d);
                          if (flux)
                            multiply(row_d, v);
                        }
                    }
                  else if constexpr (values)
                    {
                      const Number c = coefficient();
                      Number       b[TN];
#pragma unroll
                      for (int u = 0; u < TN; ++u)
                        b[u] = c * v[u] + d[u];
                      multiply(row_v, b);
                    }
                  else
                    {
#pragma unroll
                      for (int t = 0; t < TM; ++t)
                        row_d[t] *= theta;
                      multiply(row_d, v);
                    }
                }
              acc.collect();
            }
        }

        /// Adds n groups of points, if both terms are the same except for the
        /// order of functions.
        template <bool pair>
        __device__ void
        add_facet_point_groups(const Slots &slots, const unsigned int n)
        {
          const auto wanted = [](const int t, const int u) {
            return pair || !decltype(acc)::transposed(t, u);
          };
#pragma unroll 1
          for (unsigned int m = 0; m < 4 * n; m += 4)
            {
              Number v[TN], d[TN], row_v[TM], row_d[TM];
#pragma unroll
              for (int u = 0; u < TN; ++u)
                directional(
                  slots, column_x[u] + m, column_pair[u] + m, v[u], d[u]);
#pragma unroll
              for (int t = 0; t < TM; ++t)
                if (!pair)
                  {
                    row_v[t] = v[t < TN ? t : 0];
                    row_d[t] = d[t < TN ? t : 0];
                  }
                else
                  directional(
                    slots, row_x[t] + m, row_pair[t] + m, row_v[t], row_d[t]);
              acc.add(row_v, d, wanted);
              acc.add(row_d, v, wanted);
            }
        }

        template <bool pair>
        __device__ void
        add_all_facets(const unsigned int first, const unsigned int last)
        {
          using Facets = typename Slots::Facets;
          if (D.form.penalty_facets)
            add_facets<Facets::penalty, pair>(first, last);
          else if constexpr (P < 0)
            {
              add_facets<Facets::value_rows, pair>(first, last);
              if (D.form.flux)
                add_facets<pair ? Facets::flux_rows_pair : Facets::flux_rows,
                           pair>(first, last);
            }
        }

        /// Adds the point groups [begin, end) of the block: first those of the
        /// volume, then those of all facets (both for diagonal blocks only),
        /// then those of facets between the two polytopes.
        __device__ void
        compute(const unsigned int begin, const unsigned int end)
        {
          unsigned int before = 0;
          // Intersects the next n groups with the range.
          const auto part =
            [&](const unsigned int n, unsigned int &first, unsigned int &last) {
              first = max(begin, before) - before;
              last  = end > before ? min(end - before, n) : 0;
              before += n;
              return first < last;
            };
          unsigned int first, last;
          if (k == j)
            {
              set_positions(false);
              const Row   row   = D.rows[k];
              VolumeRange range = own_slots.volume_range(row);
              differences       = square && !mirror && D.form.theta == 1.;
              if (part(range.end - range.begin, first, last) && D.form.volume)
                {
                  range.end = range.begin + last;
                  range.begin += first;
                  if (D.form.diagonal)
                    add_volume<true>(range);
                  else
                    add_volume<false>(range);
                }
              const unsigned int f = row.facet_begin;
              if (part(row.facet_end - f, first, last) && D.form.facets)
                add_all_facets<false>(f + first, f + last);
              if (differences)
                add_differences();
              differences = false;
            }
          const uint2 point_groups = D.block_point_group[block];
          if (part(point_groups.y - point_groups.x, first, last) &&
              D.form.facets)
            {
              set_positions(true);
              add_all_facets<true>(point_groups.x + first,
                                   point_groups.x + last);
            }
        }

        __device__ void
        store() const
        {
          const unsigned int width = D.row_width[k];
          Number            *out   = static_cast<Number *>(D.values) +
                        (D.value_offset[k] - D.first_value) +
                        D.column_offset[block];
          const bool even =
            ((reinterpret_cast<std::uintptr_t>(out) / sizeof(Number) | width) &
             1u) == 0;
#pragma unroll
          for (int t = 0; t < TM; ++t)
#pragma unroll
            for (int u = 0; u < TN; ++u)
              {
                const bool         flip = acc.transposed(t, u);
                const unsigned int i    = i0 + 8 * t + (flip ? 2 * r : g),
                                   c    = j0 + 8 * u + (flip ? g : 2 * r);
                if (!mirror && !flip && even && c + 1 < n2)
                  {
                    if (i < n1)
                      {
                        Two<Number> two;
                        two.x = acc.c[t][u][0];
                        two.y = acc.c[t][u][1];
                        *reinterpret_cast<Two<Number> *>(
                          out + std::size_t(i) * width + c) = two;
                      }
                  }
                else
#pragma unroll
                  for (unsigned int s = 0; s < 2; ++s)
                    {
                      const unsigned int x = flip ? i + s : i,
                                         y = flip ? c : c + s;
                      if (x < n1 && y < n2 && (!mirror || x <= y))
                        {
                          out[std::size_t(x) * width + y] = acc.c[t][u][s];
                          if (mirror)
                            out[std::size_t(y) * width + x] = acc.c[t][u][s];
                        }
                    }
              }
        }

        // Partial sums in the order of lanes.
        __device__ Number *
        scratch(const unsigned int part) const
        {
          return static_cast<Number *>(D.scratch) +
                 std::size_t(part) * (TM * TN * 64) + 2 * lane;
        }

        __device__ void
        store_part(const unsigned int part) const
        {
#pragma unroll
          for (int t = 0; t < TM; ++t)
#pragma unroll
            for (int u = 0; u < TN; ++u)
#pragma unroll
              for (int s = 0; s < 2; ++s)
                scratch(part)[(t * TN + u) * 64 + s] = acc.c[t][u][s];
        }

        __device__ void
        add_part(const unsigned int part)
        {
#pragma unroll
          for (int t = 0; t < TM; ++t)
#pragma unroll
            for (int u = 0; u < TN; ++u)
#pragma unroll
              for (int s = 0; s < 2; ++s)
                acc.c[t][u][s] += scratch(part)[(t * TN + u) * 64 + s];
        }
      };



      /// Number of tiles in each direction in the general kernel.
      constexpr int general_tile = 4;

      /// Number of slots of these kernels, chosen such that shared memory stays
      /// small.
      inline unsigned int
      n_tile_slots(const unsigned int degree)
      {
        return degree <= 5 ? 16 : degree <= 7 ? 8 : 4;
      }

      /// Numbers of slots of kernels of blocks: for both polytopes of a facet,
      /// each of which is served by half a warp, and for one polytope.
      constexpr unsigned int n_pair_slots = 16, n_own_slots = 32;

      /// Computes blocks of functions of one degree: a warp computes either TM
      /// tiles of rows or the remaining T - TM tiles of a block.
      template <int dim, int P, int T, int TM, typename Number, Cells cells>
      __global__ void
        __launch_bounds__(32, split_operands<Number> &&TM *T <= 25 ? 10 : 8)
          block_kernel(const __grid_constant__ Data<dim> D)
      {
        extern __shared__ double2 shared[];
        // All warps of one part come before those of the other one, so that
        // concurrent warps share instructions. Within a part, diagonal blocks
        // come first, since they need the most time.
        constexpr unsigned int n_parts = TM < T ? 2 : 1;
        const unsigned int     n       = gridDim.x / n_parts;
        const bool             second  = n_parts > 1 && blockIdx.x >= n;
        const unsigned int     number  = second ? blockIdx.x - n : blockIdx.x;
        std::uint64_t          b;
        if (number < D.n_polytopes)
          {
            const unsigned int k = D.first_polytope + number;
            b                    = D.block_offset[k];
            while (D.block_column[b] != k)
              ++b;
          }
        else
          {
            b = D.first_unit + (number - D.n_polytopes);
            if (D.block_row[b] == D.block_column[b])
              return;
          }
        const unsigned int k = D.block_row[b];
        if (D.leaves_out(D.rows[k]))
          return;
        if (!second)
          {
            TileKernel<dim, P, TM, T, 0, Number, cells> tile(
              D, n_pair_slots, n_own_slots, b, 0, 0, shared);
            tile.compute(0, 0xffffffffu);
            tile.store();
          }
        else
          {
            constexpr int rest = TM < T ? T - TM : 1;
            TileKernel<dim, P, rest, T, (TM < T ? TM : 0), Number, cells> tile(
              D, n_pair_slots, n_own_slots, b, 0, 0, shared);
            tile.compute(0, 0xffffffffu);
            tile.store();
          }
      }

      /// Computes the tiles of a list.
      template <int dim, typename Number>
      __global__ void __launch_bounds__(32)
        unit_kernel(const __grid_constant__ Data<dim> D,
                    const unsigned int                n_slots)
      {
        extern __shared__ double2 shared[];
        const Unit                unit = D.units[D.first_unit + blockIdx.x];
        TileKernel<dim, -1, general_tile, general_tile, -1, Number> tile(
          D, n_slots, n_slots, unit.block, unit.row, unit.column, shared);
        tile.compute(unit.begin, unit.end);
        if (unit.scratch == invalid_index)
          tile.store();
        else
          tile.store_part(unit.scratch - D.first_scratch);
      }

      /// Sums the parts of tiles.
      template <int dim, typename Number>
      __global__ void __launch_bounds__(32)
        reduction_kernel(const __grid_constant__ Data<dim> D,
                         const std::uint64_t               first)
      {
        extern __shared__ double2 shared[];
        const Reduction           reduction = D.reductions[first + blockIdx.x];
        const Unit                unit      = D.units[reduction.unit];
        TileKernel<dim, -1, general_tile, general_tile, -1, Number> tile(
          D, 4, 4, unit.block, unit.row, unit.column, shared);
        for (unsigned int p = 0; p < reduction.n_parts; ++p)
          tile.add_part(unit.scratch - D.first_scratch + p);
        tile.store();
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
