// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_backends_row_kernel_h
#define tessella_cuda_backends_row_kernel_h

#include "basis.h"
#include "product.h"

// Kernel for small numbers of functions: one warp computes a block row.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /**
       * Computes the block row of a polytope with a warp: first the volume,
       * then the facets neighbour by neighbour, where one evaluation of the own
       * functions serves the diagonal block and the neighbour's block.
       *
       * The columns are the own functions, followed by those of the neighbour,
       * in tiles of 8. Lane 4 g + r evaluates function g of each tile at every
       * fourth point, beginning with point r.
       *
       * P: degree, or -1 if it is known at run time only. T: number of tiles of
       * the own functions; E: number of all tiles of columns. If packed, the
       * last own tile is mixed: it holds four own functions and the first four
       * of the neighbour, so that the other tiles are full: N <= 8 T - 4. lean:
       * for forms with are_lean() only, with fewer registers and branches.
       * quadrature: volume points; kernels for both kinds of a mesh of
       * simplices would be 5 % slower at degree 3 in 3-D with rules of
       * sub-cells.
       *
       * k: polytope; n1, n2: number of functions of the polytope and of the
       * neighbour; width: entries of a row; out: first value of the block row.
       */
      template <int  dim,
                int  P,
                int  T,
                bool packed,
                typename Number,
                Cells      cells,
                bool       lean       = false,
                Quadrature quadrature = rules_of(cells)>
      struct RowKernel
      {
        static constexpr int          E = packed ? 2 * T - 1 : 2 * T;
        static constexpr unsigned int n_volume_slots = 32, n_facet_slots = 32;

        using Slots = Batch<dim, P, Number, cells, true>;

        /// Six points of a facet with two terms each fill three products of
        /// depth 4. The condition is also used by host code, which chooses the
        /// kernel, and hence does not depend on the architecture.
        static constexpr bool may_be_lean = P == 2 && dim == 3 &&
                                            cells == Cells::simplices &&
                                            std::is_same<Number, double>::value;

        /// True for symmetric fluxes with six points on each facet, and the
        /// volume in closed form.
        static bool
        are_lean(const Data<dim> &D)
        {
          return may_be_lean && D.six_points && D.volume_rule.closed_form &&
                 D.form.facets && D.form.flux && D.form.theta == 1.;
        }

        // N: number of functions, if the degree is known at compile time.
        static constexpr bool         known = P >= 0;
        static constexpr unsigned int N =
          known ? Legendre::n_functions(dim, known ? P : 0, false) : 0;

        const Data<dim>              &D;
        const unsigned int            k, lane, g, r;
        const Row                     row;
        Slots                         volume_slots, facet_slots;
        WarpSums<T, E, Number, T - 1> acc;
        Number                        sum[T]; ///< right-hand side
        /// Positions of the lane's functions in the tables. On facets whose
        /// tables hold all functions, only x is used.
        unsigned int x[E], pair[E];
        bool neighbor_column; ///< the lane's function of the mixed tile belongs
                              ///< to the neighbour
        const unsigned int n1;
        unsigned int       n2;
        const unsigned int width;
        Number            *out;
        /// Data of the next batch, loaded ahead.
        VolumeSlot      volume_slot;
        FacetPointGroup facet_point_group;

        __device__
        RowKernel(const Data<dim> &D, const unsigned int k, void *shared)
          : D(D)
          , k(k)
          , lane(threadIdx.x & 31u)
          , g(lane >> 2)
          , r(lane & 3u)
          , row(D.rows[k])
          , volume_slots(D, n_volume_slots, shared)
          , facet_slots(D, n_facet_slots, shared)
          , neighbor_column(packed && g >= 4)
          , n1(known ? N : row.n_basis)
          , n2(n1)
          , width(row.width)
          , out(static_cast<Number *>(D.values) + (row.value - D.first_value))
        {
#pragma unroll
          for (int t = 0; t < T; ++t)
            sum[t] = 0.;
          acc.clear();
        }

        /// True if the lane's function in tile e belongs to the polytope, false
        /// if it belongs to the neighbour.
        __device__ bool
        is_own(const int e) const
        {
          return e < T - 1 || (e == T - 1 && !neighbor_column);
        }

        __device__ unsigned int
        function(const int e) const
        {
          return e < T - 1    ? 8 * e + g
                 : e == T - 1 ? (neighbor_column ? g - 4 : 8 * e + g)
                              : 8 * (e - T) + g + (packed ? 4 : 0);
        }

        __device__ void
        set_position(const Slots       &slots,
                     const int          e,
                     const unsigned int n,
                     const unsigned int p)
        {
          const unsigned int position = table_position(D, function(e), n, p);
          const unsigned int side =
            is_own(e) ? 0 : (slots.n_x + slots.n_pairs_) * slots.stride;
          x[e]    = side + (position >> 16) * slots.stride;
          pair[e] = side + (position & 0xffffu) * slots.stride;
        }

        __device__ void
        set_facet_position(const int          e,
                           const unsigned int n,
                           const unsigned int p)
        {
          if constexpr (Slots::whole)
            {
              // Functions beyond the last one have the parity, hence the banks,
              // that they would have as entries of the table.
              const unsigned int i = function(e);
              x[e] = ((is_own(e) ? 0 : N) + (i < N ? i : i & 1u)) *
                     facet_slots.stride;
            }
          else
            set_position(facet_slots, e, n, p);
        }

        /// Value and derivative of the lane's function in tile e at a facet
        /// point.
        __device__ Two<Number>
                   facet_function(const int e, const unsigned int slot) const
        {
          if constexpr (Slots::whole)
            return facet_slots.functions[x[e] + slot];
          else
            {
              const Two<Number> vx = facet_slots.own_x[x[e] + slot],
                                p  = facet_slots.own_pairs[pair[e] + slot];
              Two<Number> result;
              result.x = vx.x * p.x;
              result.y = vx.y * p.x + vx.x * p.y;
              return result;
            }
        }

        __device__ void
        set_neighbor_positions(const unsigned int j)
        {
          n2 = known ? N : D.n_basis[j];
#pragma unroll
          for (int e = T - 1; e < E; ++e)
            if (!is_own(e))
              set_facet_position(e, n2, D.degree[j]);
        }

        /// Adds the volume part of affine functions on simplices, for forms
        /// with constant coefficients of derivatives only.
        __device__ void
        add_constant_gradients()
        {
          const AffineIntegrals<dim> I(D, k, row, D.form.source());
          const double own = g >= 1 && g <= dim ? I.derivative(g) : 0.;
#pragma unroll
          for (int s = 0; s < 2; ++s)
#pragma unroll
            for (int d = 1; d <= dim; ++d)
              if (2 * r + s == d && g >= 1 && g <= dim)
                acc.c[0][0][s] = Number(I.moment[dim] * D.form.C[g][d] * own *
                                        I.derivative(d));
          if (D.form.source() && r == 0)
            sum[0] = Number(D.form.f * I.integral(g));
        }

        /// Adds the volume part of quadratic functions: products of depth 4, in
        /// which the monomials of derivatives take the role of points.
        __device__ void
        add_linear_gradients()
        {
          const QuadraticIntegrals<dim> I(D, k, row, volume_slots.functions);
          if (D.form.rhs && lane < N)
            static_cast<Number *>(D.rhs)[D.dof_offset[k] - D.first_dof + lane] =
              D.form.source() ? Number(D.form.f * I.integral(lane))
                              : Number(0.);
          if (!D.form.volume)
            return;
          Number a[dim][T], b[dim][T];
#pragma unroll
          for (int t = 0; t < T; ++t)
            {
              const unsigned int i     = function(t);
              const double       there = is_own(t) && i < N ? I.value : 0.;
              double             own[dim]; // coefficients of monomial r
#pragma unroll
              for (int d = 0; d < dim; ++d)
                {
                  unsigned int m;
                  const double factor = there * I.derivative(i, d, m);
                  a[d][t]             = m == r ? Number(factor) : Number(0.);
                  own[d] =
                    dim == 3 || r <= dim ? factor * I.M[r * (dim + 1) + m] : 0.;
                }
#pragma unroll
              for (int d = 0; d < dim; ++d)
                {
                  double sum = 0.;
#pragma unroll
                  for (int f = 0; f < dim; ++f)
                    sum += D.form.C[d + 1][f + 1] * own[f];
                  b[d][t] = Number(sum);
                }
            }
          const bool mirror = D.form.symmetric;
          const auto wanted = [&](const int t, const int u) {
            return !mirror || u >= t;
          };
#pragma unroll
          for (int d = 0; d < dim; ++d)
            acc.add(a[d], b[d], wanted);
          acc.collect();
        }

        template <bool diagonal>
        __device__ void
        add_volume(const VolumeRange &range)
        {
          const bool mirror = D.form.symmetric;
          const auto wanted = [&](const int t, const int u) {
            return !mirror || u >= t;
          };
          const unsigned int              rows           = D.form.volume_rows;
          constexpr unsigned int          n_point_groups = n_volume_slots / 4;
          const bool                      all_rows = rows == (2u << dim) - 1;
          SymmetricSums<T, Number, known> symmetric;
          symmetric.clear();
#pragma unroll
          for (int t = 0; t < T; ++t)
            if (is_own(t))
              set_position(volume_slots, t, n1, row.degree);
            else
              x[t] = pair[t] = 0; // The volume has no functions of neighbours.
          for (unsigned int begin = range.begin; begin < range.end;
               begin += n_point_groups)
            {
              const unsigned int parts =
                volume_slots.template fill_volume<true, true, quadrature>(
                  k, volume_slot);
              volume_slot =
                volume_slots.volume_slot(range, begin + n_point_groups);
              const unsigned int n = min(range.end - begin, n_point_groups);
              if (straight && !diagonal && parts == 0 && all_rows)
                {
                  add_volume_point_groups(n, symmetric);
                  continue;
                }
#pragma unroll 2
              for (unsigned int m = r; m < 4 * n; m += 4)
                {
                  Number a[dim + 1][T];
                  read_gradients(m, a);
                  if (D.form.source())
                    add_source(sum, volume_slots.source()[m], a[0]);
                  const Number *c = volume_slots.volume_coefficients + m;
                  if (diagonal)
                    Slots::for_lines(rows, [&](const int e) {
                      const Number factor =
                        e == 0 ? c[volume_slots.stride] : c[0];
                      Number b[T];
#pragma unroll
                      for (int t = 0; t < T; ++t)
                        b[t] = factor * a[e][t];
                      acc.add(a[e], b, wanted);
                    });
                  else
                    add_full_block<false>(a, c, parts, symmetric, wanted);
                }
              acc.collect();
            }
          if constexpr (symmetric.exist)
            if (!diagonal)
              {
                Number *const sums =
                  reinterpret_cast<Number *>(volume_slots.own_x);
                symmetric.store(sums);
#pragma unroll
                for (int t = 0; t < T; ++t)
#pragma unroll
                  for (int u = 0; u < T; ++u)
#pragma unroll
                    for (int s = 0; s < 2; ++s)
                      acc.c[t][u][s] +=
                        sums[symmetric.entry(row_of(t, u, s),
                                             column_of(t, u, s))];
              }
        }

        /// True for kernels that have separate branch-free loops for the most
        /// frequent case, in which instructions of several products and points
        /// overlap.
        static constexpr bool straight =
          SymmetricSums<T, Number, known>::exist && cells == Cells::simplices &&
          !lean;

        /// Reads values and derivatives of the functions at volume point m.
        __device__ __forceinline__ void
        read_gradients(const unsigned int m, Number (&a)[dim + 1][T]) const
        {
#pragma unroll
          for (int t = 0; t < T; ++t)
            {
              Number function[dim + 1];
              volume_slots.gradient(x[t] + m, pair[t] + m, function);
#pragma unroll
              for (int e = 0; e <= dim; ++e)
                a[e][t] = function[e];
            }
        }

        /// Adds n groups of volume points, if all coefficients are present
        /// except for those that fill_volume() reports.
        __device__ void
        add_volume_point_groups(const unsigned int               n,
                                SymmetricSums<T, Number, known> &symmetric)
        {
          const bool    source  = D.form.source();
          const Number *sources = volume_slots.source();
#pragma unroll 2
          for (unsigned int m = r; m < 4 * n; m += 4)
            {
              Number a[dim + 1][T];
              read_gradients(m, a);
              add_source(sum, source ? sources[m] : Number(0.), a[0]);
              add_full_block<true>(a,
                                   volume_slots.volume_coefficients + m,
                                   0,
                                   symmetric,
                                   [](const int, const int) { return true; });
            }
        }

        /// Adds the products for the coefficients c of a point, as
        /// fill_volume() splits them, with the values and derivatives a. The
        /// symmetric part of the tensor goes into `symmetric`, which needs
        /// fewer products; all other terms go into acc.
        template <bool fast, typename Wanted>
        __device__ void
        add_full_block(const Number (&a)[dim + 1][T],
                       const Number                    *c,
                       const unsigned int               parts,
                       SymmetricSums<T, Number, known> &symmetric,
                       const Wanted                    &wanted)
        {
          constexpr int n     = dim + 1;
          const auto    entry = [&](const int e, const int f) {
            return c[(e * n + f) * volume_slots.stride];
          };
          const auto line = [&](const int e) {
            Number b[T];
#pragma unroll
            for (int t = 0; t < T; ++t)
              b[t] = 0.;
#pragma unroll
            for (int f = e > 0; f < n; ++f)
              if (e == 0 ? volume_slots.has_entry(e, f)
                         : volume_slots.has_symmetric_entry(e, f))
                {
                  const Number factor = entry(min(e, f), max(e, f));
#pragma unroll
                  for (int t = 0; t < T; ++t)
                    b[t] += factor * a[f][t];
                }
            if (symmetric.exist && e > 0)
              symmetric.add(a[e], b);
            else
              acc.add(a[e], b, wanted);
          };
          if (fast)
            {
#pragma unroll
              for (int e = 0; e < n; ++e)
                line(e);
              return;
            }
          Slots::for_lines(D.form.volume_rows, line);
          if (parts & Slots::has_flux)
            {
              Number b[T];
#pragma unroll
              for (int t = 0; t < T; ++t)
                b[t] = 0.;
#pragma unroll
              for (int e = 1; e < n; ++e)
                if (volume_slots.has_entry(e, 0))
#pragma unroll
                  for (int t = 0; t < T; ++t)
                    b[t] += entry(e, 0) * a[e][t];
              acc.add(b, a[0], wanted);
            }
          if (parts & Slots::has_skew)
#pragma unroll
            for (int e = 1; e < n; ++e)
              {
                Number b[T];
#pragma unroll
                for (int t = 0; t < T; ++t)
                  b[t] = 0.;
#pragma unroll
                for (int f = 1; f < n; ++f)
                  if (f != e && volume_slots.has_symmetric_entry(e, f))
                    {
                      const Number factor = f > e ? entry(f, e) : -entry(e, f);
#pragma unroll
                      for (int t = 0; t < T; ++t)
                        b[t] += factor * a[f][t];
                    }
                acc.add(a[e], b, wanted);
              }
        }

        __device__ void
        add_facets()
        {
          const bool   mirror        = D.form.symmetric;
          const bool   flux          = facet_slots.two_sided(false);
          const Number theta         = Number(D.form.theta),
                       rest          = Number(0.5 * (1. - D.form.theta));
          const unsigned int end     = row.facet_end;
          const unsigned int spacing = facet_slots.facet_spacing(),
                             n_point_groups =
                               facet_slots.n_facet_point_groups();
          unsigned int neighbor = invalid_index, column = 0;
          bool         self = false, interior = false;
          // The facets' contribution to the own block is symmetric, even if
          // that of the volume is not. Tiles of the last row that a lane holds
          // in the layout of the (transposed) tiles of the last column would
          // receive the same contribution as the latter: while facets are
          // added, they hold the difference.
          const bool below =
            !lean && lower_apart && !mirror && theta == Number(1.);
          const auto wanted = [&](const int t, const int u) {
            return !(mirror || below) || u >= t;
          };
          const bool plain =
            straight && flux && theta == Number(1.) && (mirror || below);
          if (below)
            add_to_last_row(Number(-1.));
#pragma unroll
          for (int e = 0; e < E; ++e)
            if (known || D.uniform || is_own(e))
              set_facet_position(e, n1, row.degree);
            else
              x[e] = pair[e] = 0; // set when the first neighbour is known
          // With groups of three points, the fourth lane has no point. It reads
          // a slot beyond all groups, whose weight is 0.
          const bool         idle    = !lean && r >= spacing;
          const unsigned int advance = idle ? 0 : spacing,
                             first   = idle ? n_facet_slots - 1 : r;
          if (!lean && spacing < 4)
            facet_slots.clear_other(n_facet_slots - 1);
          if (straight)
            {
              __syncwarp();
              facet_slots.start_facet_point_groups(row.facet_begin, end);
            }
          for (unsigned int begin = row.facet_begin; begin < end;
               begin += n_point_groups)
            {
              using Facets = typename Slots::Facets;
              const FacetPointGroup point_group =
                straight ? facet_slots.finish_facet_point_groups()
                         : facet_point_group;
              facet_slots.template fill_facets<Facets::penalty, true>(
                k, point_group, begin, end);
              const unsigned int lane_neighbor = point_group.neighbor,
                                 lane_column   = point_group.column;
              if (straight)
                facet_slots.start_facet_point_groups(begin + n_point_groups,
                                                     end);
              else
                facet_point_group =
                  facet_slots.facet_point_group(begin + n_point_groups, end);
              const unsigned int n = min(end - begin, n_point_groups) * spacing;
              const unsigned int lateral_slots =
                D.form.constant_bottom
                  ? (max(row.bottom_begin, begin) - begin) * spacing
                  : n;
              // bits of the groups at which another neighbour begins
              const unsigned int before =
                __shfl_up_sync(~0u, lane_neighbor, spacing);
              const unsigned int changes = __ballot_sync(
                ~0u, lane_neighbor != (lane < spacing ? neighbor : before));
              const auto change = [&](const unsigned int m) {
                acc.collect();
                if (interior)
                  write_neighbor(column);
                clear_neighbor();
                neighbor = __shfl_sync(~0u, lane_neighbor, m);
                column   = __shfl_sync(~0u, lane_column, m);
                interior = neighbor != invalid_index;
                self     = self || neighbor == k;
                if (!(known || D.uniform) && interior)
                  set_neighbor_positions(neighbor);
              };
              unsigned int slot = first;
              if constexpr (lean)
                {
                  // distance from the lane's point to one of the last two
                  // points
                  const unsigned int last = 4 + (r & 1u) - r;
#pragma unroll 2
                  for (unsigned int m = 0; m < n; m += 6)
                    {
                      if (changes >> m & 1u)
                        change(m);
                      // The neighbour's columns are included at the boundary,
                      // too, to save branches. Their values are arbitrary there
                      // and are not stored.
                      Number v[E], h[E], v2[E], h2[E];
#pragma unroll
                      for (int e = 0; e < E; ++e)
                        {
                          const Two<Number> one = facet_function(e, r + m),
                                            two =
                                              facet_function(e, r + m + last);
                          v[e]  = one.x;
                          h[e]  = one.y;
                          v2[e] = r < 2 ? two.x : two.y;
                          h2[e] = r < 2 ? two.y : two.x;
                        }
                      add_rows(v, h, wanted);
                      add_rows(h, v, wanted);
                      add_rows(v2, h2, wanted);
                    }
                  acc.collect();
                  continue;
                }
              if (plain)
                {
                  for (unsigned int m = 0, next; m < n; m = next)
                    {
                      if (changes >> m & 1u)
                        change(m);
                      // Continue up to the next change of neighbour.
                      next = n;
                      if (m + spacing < n)
                        {
                          const unsigned int rest = changes >> (m + spacing);
                          if (rest != 0)
                            next = min(n, m + spacing + __ffs(rest) - 1);
                        }
                      if (interior)
                        add_facet_point_groups<E>(
                          m, next, spacing, advance, slot);
                      else
                        add_facet_point_groups<T>(
                          m, next, spacing, advance, slot);
                    }
                  continue;
                }
#pragma unroll 2
              for (unsigned int m = 0; m < n; m += spacing, slot += advance)
                {
                  if (changes >> m & 1u)
                    change(m);
                  // At the boundary, the neighbour's functions have arbitrary
                  // values, and their columns are not stored.
                  Number v[E], h[E];
#pragma unroll
                  for (int e = 0; e < E; ++e)
                    {
                      const Two<Number> vh = facet_function(e, slot);
                      v[e]                 = vh.x;
                      h[e]                 = vh.y;
                    }
                  const bool both =
                    flux && (m < lateral_slots || facet_slots.two_sided(true));
                  Number a[T], b[T];
#pragma unroll
                  for (int t = 0; t < T; ++t)
                    {
                      a[t] = v[t];
                      b[t] = h[t];
                    }
                  if (both && theta != Number(1.))
                    {
                      // The coefficient is the same on both sides for penalty
                      // terms.
                      const Number c = rest * facet_slots.coefficients[slot];
#pragma unroll
                      for (int t = 0; t < T; ++t)
                        b[t] = theta * h[t] + c * v[t];
                    }
                  if constexpr (split_operands<Number>)
                    {
                      if (!both)
#pragma unroll
                        for (int t = 0; t < T; ++t)
                          b[t] = 0.;
                      products(a, h, b, v, interior, wanted);
                    }
                  else
                    {
                      // The cases are separate, to have few branches between
                      // products.
                      if (!both)
                        product(a, h, interior, wanted);
                      else if (interior)
                        {
                          acc.add(a, h, wanted);
                          acc.add(b, v, wanted);
                        }
                      else
                        {
                          product(a, h, false, wanted);
                          product(b, v, false, wanted);
                        }
                    }
                }
              acc.collect();
            }
          if (interior)
            write_neighbor(column);
          if (row.empty_blocks)
            write_zeros(false);
          if (below)
            add_to_last_row(Number(1.));
          store_diagonal(self);
        }

        /// True if a lane holds the tiles of the last row in the layout of the
        /// transposed tiles of the last column.
        static constexpr bool lower_apart = decltype(acc)::transposed(T - 1, 0);

        __device__ void
        add_to_last_row(const Number factor)
        {
#pragma unroll
          for (int u = 0; u + 1 < T; ++u)
            if (acc.transposed(T - 1, u))
#pragma unroll
              for (int s = 0; s < 2; ++s)
                acc.c[T - 1][u][s] += factor * acc.c[u][T - 1][s];
        }

        /// Adds the slots [begin, end) to n_columns tiles of columns, if both
        /// terms are the same except for the order of functions.
        template <int n_columns>
        __device__ void
        add_facet_point_groups(const unsigned int begin,
                               const unsigned int end,
                               const unsigned int spacing,
                               const unsigned int advance,
                               unsigned int      &slot)
        {
          const auto upper = [](const int t, const int u) { return u >= t; };
#pragma unroll 2
          for (unsigned int m = begin; m < end; m += spacing)
            {
              Number v[n_columns], h[n_columns], a[T], b[T];
#pragma unroll
              for (int e = 0; e < n_columns; ++e)
                {
                  const Two<Number> vh = facet_function(e, slot);
                  v[e]                 = vh.x;
                  h[e]                 = vh.y;
                }
              first_entries(v, a);
              first_entries(h, b);
              acc.add(a, h, upper);
              acc.add(b, v, upper);
              slot += advance;
            }
        }

        /// Copies the first T entries of an array.
        template <int n>
        __device__ __forceinline__ static void
        first_entries(const Number (&all)[n], Number (&first)[T])
        {
#pragma unroll
          for (int t = 0; t < T; ++t)
            first[t] = all[t];
        }

        /// Adds a product whose rows are the first T entries of a.
        template <typename Wanted>
        __device__ void
        add_rows(const Number (&a)[E],
                 const Number (&b)[E],
                 const Wanted &wanted)
        {
          Number rows[T];
          first_entries(a, rows);
          acc.add(rows, b, wanted);
        }

        template <typename Wanted>
        __device__ void
        product(const Number (&a)[T],
                const Number (&b)[E],
                const bool    interior,
                const Wanted &wanted)
        {
          if (interior)
            acc.add(a, b, wanted);
          else
            {
              Number own[T];
              first_entries(b, own);
              acc.add(a, own, wanted);
            }
        }

        // Adds two products at once.
        template <typename Wanted>
        __device__ void
        products(const Number (&a)[T],
                 const Number (&b)[E],
                 const Number (&c)[T],
                 const Number (&d)[E],
                 const bool    interior,
                 const Wanted &wanted)
        {
          if (interior)
            acc.add(a, b, c, d, wanted);
          else
            {
              Number own_b[T], own_d[T];
              first_entries(b, own_b);
              first_entries(d, own_d);
              acc.add(a, own_b, c, own_d, wanted);
            }
        }

        __device__ void
        clear_neighbor()
        {
#pragma unroll
          for (int t = 0; t < T; ++t)
#pragma unroll
            for (int e = T - 1; e < E; ++e)
              if (e >= T || in_neighbor(t, e))
                acc.c[t][e][0] = acc.c[t][e][1] = 0.;
        }

        /// Row and column of the lane's sum s in a tile.
        __device__ unsigned int
        row_of(const int t, const int e, const int s) const
        {
          return 8 * t + (acc.transposed(t, e) ? 2 * r + s : g);
        }

        __device__ unsigned int
        column_of(const int t, const int e, const int s) const
        {
          return 8 * e + (acc.transposed(t, e) ? g : 2 * r + s);
        }

        /// True if the lane's sums in the mixed tile belong to columns of the
        /// neighbour.
        __device__ bool
        in_neighbor(const int t, const int e) const
        {
          return packed && e == T - 1 &&
                 (acc.transposed(t, e) ? g >= 4 : r >= 2);
        }

        // Writes zeros to the blocks that receive no facet contributions, or to
        // all blocks of neighbours.
        __device__ void
        write_zeros(const bool all)
        {
          clear_neighbor();
          for (std::uint64_t b = D.block_offset[k]; b < D.block_offset[k + 1];
               ++b)
            if (D.block_column[b] != k &&
                (all || D.block_point_group[b].x == D.block_point_group[b].y))
              {
                n2 = D.n_basis[D.block_column[b]];
                write_neighbor(D.column_offset[b]);
              }
        }

        __device__ void
        write_neighbor(const unsigned int column)
        {
          Number    *to   = out + column;
          const bool even = is_even(to, width);
          if constexpr (known && N % 2 == 0)
            {
              // N is even, so that pairs of columns are complete and only rows
              // and pairs beyond N are skipped.
              Number *const from = to;
              to += g * width + 2 * r;
#pragma unroll
              for (int t = 0; t < T; ++t)
#pragma unroll
                for (int e = T - 1; e < E; ++e)
                  {
                    const int j =
                      e == T - 1 ? -4 : 8 * (e - T) + (packed ? 4 : 0);
                    if (acc.transposed(t, e))
                      {
                        if (e == T - 1 ? in_neighbor(t, e)
                                       : j + 8 <= int(N) || j + g < N)
#pragma unroll
                          for (int s = 0; s < 2; ++s)
                            if (8 * t + 8 <= int(N) || 8 * t + 2 * r + s < N)
                              from[std::ptrdiff_t((8 * t + 2 * r + s) * width) +
                                   (j + int(g))] = acc.c[t][e][s];
                      }
                    else if ((8 * t + 8 <= int(N) || 8 * t + g < N) &&
                             (e == T - 1 ? in_neighbor(t, e)
                                         : j + 8 <= int(N) || j + 2 * r < N))
                      {
                        Two<Number> two;
                        two.x = acc.c[t][e][0];
                        two.y = acc.c[t][e][1];
                        *reinterpret_cast<Two<Number> *>(
                          to + (std::ptrdiff_t(8 * t * width) + j)) = two;
                      }
                  }
            }
          else
            {
#pragma unroll
              for (int t = 0; t < T; ++t)
#pragma unroll
                for (int e = T - 1; e < E; ++e)
                  if (e >= T || in_neighbor(t, e))
                    {
                      // In the mixed tile, the neighbour's columns begin in the
                      // middle.
                      const unsigned int i = row_of(t, e, 0),
                                         j = column_of(t, e, 0) -
                                             (packed ? 8 * T - 4 : 8 * T);
                      if (!acc.transposed(t, e))
                        store(to, even, i, j, n2, acc.c[t][e]);
                      else if (j < n2)
#pragma unroll
                        for (unsigned int s = 0; s < 2; ++s)
                          if (i + s < n1)
                            to[std::size_t(i + s) * width + j] = acc.c[t][e][s];
                    }
            }
        }

        __device__ static bool
        is_even(const Number *to, const unsigned int width)
        {
          if (known && N % 2 == 0)
            return true;
          return ((reinterpret_cast<std::uintptr_t>(to) / sizeof(Number) |
                   width) &
                  1u) == 0;
        }

        __device__ void
        store(Number            *to,
              const bool         even,
              const unsigned int i,
              const unsigned int j,
              const unsigned int n_columns,
              const Number (&c)[2]) const
        {
          if (i >= n1)
            return;
          Number *p = to + std::size_t(i) * width + j;
          if (even && j + 1 < n_columns)
            {
              Two<Number> two;
              two.x                               = c[0];
              two.y                               = c[1];
              *reinterpret_cast<Two<Number> *>(p) = two;
              return;
            }
          if (j < n_columns)
            p[0] = c[0];
          if (j + 1 < n_columns)
            p[1] = c[1];
        }

        // self: the block in memory already holds contributions.
        __device__ void
        store_diagonal(const bool self)
        {
          __syncwarp();
          Number    *to     = out + row.diagonal;
          const bool mirror = D.form.symmetric && !self;
          const bool even   = is_even(to, width);
          if (self && D.form.symmetric)
            {
              // Both triangles of these sums are added.
              symmetrize_into(to);
              return;
            }
#pragma unroll
          for (int t = 0; t < T; ++t)
#pragma unroll
            for (int e = 0; e < T; ++e)
              {
                if (in_neighbor(t, e))
                  continue;
                const bool         flip = acc.transposed(t, e);
                const unsigned int i = row_of(t, e, 0), j = column_of(t, e, 0);
                if (self || (flip && !mirror))
                  {
                    for (unsigned int s = 0; s < 2; ++s)
                      {
                        const unsigned int i = row_of(t, e, s),
                                           j = column_of(t, e, s);
                        if (i < n1 && j < n1)
                          {
                            Number &entry = to[std::size_t(i) * width + j];
                            entry =
                              self ? entry + acc.c[t][e][s] : acc.c[t][e][s];
                          }
                      }
                  }
                else if (!mirror)
                  store(to, even, i, j, n1, acc.c[t][e]);
                else if (e > t)
                  {
                    // Store both entries as a pair, and then one by one in the
                    // other triangle.
                    if (flip)
                      store(to, even, j, i, n1, acc.c[t][e]);
                    else
                      store(to, even, i, j, n1, acc.c[t][e]);
                    for (unsigned int s = 0; s < 2; ++s)
                      {
                        const unsigned int x = flip ? i + s : j + s,
                                           y = flip ? j : i;
                        if (x < n1 && y < n1)
                          to[std::size_t(x) * width + y] = acc.c[t][e][s];
                      }
                  }
                else if (e == t)
                  for (unsigned int s = 0; s < 2; ++s)
                    {
                      const unsigned int i = row_of(t, e, s),
                                         j = column_of(t, e, s);
                      if (i <= j && j < n1)
                        {
                          to[std::size_t(i) * width + j] = acc.c[t][e][s];
                          to[std::size_t(j) * width + i] = acc.c[t][e][s];
                        }
                    }
              }
        }

        __device__ void
        symmetrize_into(Number *to) const
        {
#pragma unroll
          for (int t = 0; t < T; ++t)
#pragma unroll
            for (int e = 0; e < T; ++e)
              if (!in_neighbor(t, e))
                for (unsigned int s = 0; s < 2; ++s)
                  {
                    const unsigned int i = row_of(t, e, s),
                                       j = column_of(t, e, s);
                    if (i <= j && j < n1)
                      {
                        to[std::size_t(i) * width + j] += acc.c[t][e][s];
                        if (i < j)
                          to[std::size_t(j) * width + i] += acc.c[t][e][s];
                      }
                  }
        }

        __device__ void
        compute()
        {
          const VolumeRange range =
            volume_slots.template volume_range<quadrature>(row);
          if (D.form.facets && !straight)
            facet_point_group =
              facet_slots.facet_point_group(row.facet_begin, row.facet_end);
          if (quadratic_integrals<dim, P, cells> &&
              (lean || D.volume_rule.closed_form))
            {
              if constexpr (quadratic_integrals<dim, P, cells>)
                add_linear_gradients();
            }
          else
            {
              if (P == 1 && cells != Cells::others && D.volume_rule.closed_form)
                add_constant_gradients();
              else if (D.form.volume || D.form.source())
                {
                  volume_slot = volume_slots.volume_slot(range, range.begin);
                  if (D.form.diagonal)
                    add_volume<true>(range);
                  else
                    add_volume<false>(range);
                }
              if (D.form.rhs)
                store_rhs();
            }
          if (lean || D.form.facets)
            add_facets();
          else
            {
              write_zeros(true);
              store_diagonal(false);
            }
        }

        __device__ void
        store_rhs()
        {
          sum_over_points(sum);
          if (r == 0)
#pragma unroll
            for (int t = 0; t < T; ++t)
              if (8 * t + g < n1)
                static_cast<Number *>(
                  D.rhs)[D.dof_offset[k] - D.first_dof + 8 * t + g] = sum[t];
        }
      };



      /// Minimal number of thread blocks per multiprocessor, for
      /// __launch_bounds__; single: single precision on the matrix units.
      constexpr int
      min_row_blocks(const int degree, const int tiles, const bool single)
      {
#if __CUDA_ARCH__ >= 900
        return degree < 0    ? 8
               : tiles <= 1  ? (single ? 24 : 20)
               : tiles <= 6  ? (single ? 20 : 14)
               : tiles <= 18 ? (single ? 16 : 12)
                             : 8;
#else
        return tiles > degree || single ? 1 : 0;
#endif
      }

      template <int  dim,
                int  P,
                int  T,
                bool packed,
                typename Number,
                Cells      cells,
                bool       lean       = false,
                Quadrature quadrature = rules_of(cells)>
      __global__ void
        __launch_bounds__(32,
                          min_row_blocks(P,
                                         T *(packed ? 2 * T - 1 : 2 * T),
                                         split_operands<Number>))
          row_kernel(const __grid_constant__ Data<dim> D)
      {
        extern __shared__ double2 shared[];
        const unsigned int        k = D.first_polytope + blockIdx.x;
        if (D.leaves_out(D.rows[k]))
          return;
        RowKernel<dim, P, T, packed, Number, cells, lean, quadrature> kernel(
          D, k, shared);
        kernel.compute();
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
