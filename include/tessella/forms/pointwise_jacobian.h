// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_pointwise_jacobian_h
#define tessella_forms_pointwise_jacobian_h

#include <tessella/forms/pointwise_block.h>

// Jacobian of a pointwise operator on a device, and its diagonal blocks.

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
/// Cards whose matrix units multiply double precision numbers.
#  define TESSELLA_MATRIX_UNITS
#endif

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Numbers of doubles in shared memory for each point of a batch: values
      /// of fields, derivatives, and basis functions. Derivatives take the
      /// place of tables of one-dimensional functions, which are not needed any
      /// more.
      struct JacobianSizes
      {
        unsigned int tables, inputs, derivatives, functions;

        TESSELLA_HOST_DEVICE constexpr unsigned int
        tables_or_derivatives() const
        {
          return tables > derivatives ? tables : derivatives;
        }
        TESSELLA_HOST_DEVICE constexpr unsigned int
        sum() const
        {
          return tables_or_derivatives() + inputs + functions;
        }
      };

      /// Sizes for a region with one or two sides, of a functor that uses the
      /// given rows, with @p n_inputs components of all fields and @p m of the
      /// test functions.
      TESSELLA_HOST_DEVICE constexpr JacobianSizes
      jacobian_sizes(const int              dim,
                     const unsigned int     n_sides,
                     const unsigned int     input,
                     const unsigned int     output,
                     const unsigned int     n_inputs,
                     const unsigned int     m,
                     const PointwiseLayout &L)
      {
        return {
          n_sides * L.table_stride,
          n_sides * n_inputs * n_used_rows(dim, input),
          n_sides * m * n_used_rows(dim, input) * m * n_used_rows(dim, output),
          n_sides * L.basis_stride *
            (((input | output) & PointwiseRows::gradients) != 0 ? dim + 1 : 1)};
      }



      /**
       * One thread block of the Jacobian, which computes the block row of a
       * polytope.
       *
       * Lanes are first assigned to points and sides, for which they evaluate
       * fields and basis functions, then to points and directions, for which
       * they call the functor with dual numbers, then to entries: to a test
       * function and a pair of components, for some trial functions at once,
       * whose sums they keep in registers. Blocks with several batches are
       * added up in the matrix, each entry by the same lane.
       */
      template <int dim, typename F>
      class PointwiseJacobian : public PointwiseBlock<dim, F>
      {
      public:
        using Base = PointwiseBlock<dim, F>;
        using Base::Base;
        using Base::group;
        using typename Base::Traits;
        template <typename Number>
        using Input = typename Base::template Input<Number>;
        template <typename Number>
        using Output = typename Base::template Output<Number>;

        /// Sets the addresses of the sections for a batch.
        TESSELLA_HOST_DEVICE void
        set_batch(const PointwiseBatch &b)
        {
          batch                   = b;
          const unsigned int  n_v = b.n_volume_points, n_f = b.n_facet_points;
          const JacobianSizes v = jacobian_sizes(dim,
                                                 1,
                                                 Traits::volume_input,
                                                 Traits::volume_output,
                                                 Base::n_inputs,
                                                 m,
                                                 L),
                              s = jacobian_sizes(dim,
                                                 2,
                                                 Traits::facet_input,
                                                 Traits::facet_output,
                                                 Base::n_inputs,
                                                 m,
                                                 L);
          functions             = memory + L.points;
          derivatives = functions + n_v * v.functions + n_f * s.functions;
          tables      = derivatives;
          inputs      = derivatives + n_v * v.tables_or_derivatives() +
                   n_f * s.tables_or_derivatives();
        }

        /// Evaluates fields and basis functions at the points of the batch.
        TESSELLA_HOST_DEVICE void
        evaluate()
        {
          const unsigned int n_v = batch.n_volume_points,
                             n   = n_v + 2 * batch.n_facet_points;
          for (unsigned int i = thread; i < n; i += n_threads)
            if (i < n_v)
              {
                if constexpr (Traits::has_volume)
                  evaluate_side<Traits::volume_input, Traits::volume_output>(
                    i, 0, volume_inputs(i), volume_functions(i), i);
              }
            else if constexpr (Traits::has_interior_facet ||
                               Traits::has_boundary_facet)
              {
                const unsigned int q = (i - n_v) / 2, side = (i - n_v) % 2;
                evaluate_side<Traits::facet_input, Traits::facet_output>(
                  n_v + q,
                  side,
                  facet_inputs(q, side),
                  facet_functions(q, side),
                  i);
              }
        }

        /// Computes the derivatives of the terms.
        TESSELLA_HOST_DEVICE void
        differentiate()
        {
          constexpr int n_v = m * n_used_rows(dim, Traits::volume_input),
                        n_f = 2 * m * n_used_rows(dim, Traits::facet_input);
          if constexpr (Traits::has_volume && n_v > 0)
            for (unsigned int i = thread; i < batch.n_volume_points * n_v;
                 i += n_threads)
              differentiate_volume(i / n_v, i % n_v);
          if constexpr ((Traits::has_interior_facet ||
                         Traits::has_boundary_facet) &&
                        n_f > 0)
            for (unsigned int i = thread; i < batch.n_facet_points * n_f;
                 i += n_threads)
              differentiate_facet(i / n_f, i % n_f);
        }

        /// Computes the contribution of the batch to the entries.
        TESSELLA_HOST_DEVICE void
        add_entries(const bool first)
        {
          const unsigned int n_segments =
            T.diagonal_only ? 0 : batch.n_segments;
#ifdef TESSELLA_MATRIX_UNITS
          add_matrix_tiles(largest_basis(n_segments), n_segments, first);
#else
          add_entries_without_matrix_units(n_segments, first);
#endif
        }

      private:
        // Largest number of trial functions of a block.
        TESSELLA_HOST_DEVICE unsigned int
        largest_basis(const unsigned int n_segments) const
        {
          unsigned int result = group.n_basis;
          for (unsigned int s = 0; s < n_segments; ++s)
            {
              const unsigned int n =
                Base::n_basis(this->slot(
                                T.plan.segments[batch.first_segment + s].slot),
                              T.test);
              result = n > result ? n : result;
            }
          return result;
        }

        TESSELLA_HOST_DEVICE void
        add_entries_without_matrix_units(const unsigned int n_segments,
                                         const bool         first)
        {
          const unsigned int highest = largest_basis(n_segments);
          if (highest <= 4)
            add_tiles<4>(highest, n_segments, first);
          else
            add_tiles<10>(highest, n_segments, first);
        }

        using Base::f;
        using Base::L;
        using Base::memory;
        using Base::n_threads;
        using Base::T;
        using Base::thread;
        static constexpr int m         = Base::n_outputs,
                             volume_in = n_used_rows(dim, Traits::volume_input),
                             volume_out =
                               n_used_rows(dim, Traits::volume_output),
                             facet_in  = n_used_rows(dim, Traits::facet_input),
                             facet_out = n_used_rows(dim, Traits::facet_output);
        static constexpr unsigned int volume_functions_rows =
                                        ((Traits::volume_input |
                                          Traits::volume_output) &
                                         PointwiseRows::gradients) != 0
                                          ? dim + 1
                                          : 1,
                                      facet_functions_rows =
                                        ((Traits::facet_input |
                                          Traits::facet_output) &
                                         PointwiseRows::gradients) != 0
                                          ? dim + 1
                                          : 1;

        PointwiseBatch batch;
        double        *functions, *derivatives, *inputs, *tables;

        // ---- sections of points
        TESSELLA_HOST_DEVICE double *
        volume_functions(const unsigned int q) const
        {
          return functions + q * volume_functions_rows * L.basis_stride;
        }
        TESSELLA_HOST_DEVICE double *
        facet_functions(const unsigned int q, const unsigned int side) const
        {
          return volume_functions(batch.n_volume_points) +
                 (2 * q + side) * facet_functions_rows * L.basis_stride;
        }
        TESSELLA_HOST_DEVICE double *
        volume_derivatives(const unsigned int q) const
        {
          return derivatives + q * (m * volume_in * m * volume_out);
        }
        TESSELLA_HOST_DEVICE double *
        facet_derivatives(const unsigned int q, const unsigned int side) const
        {
          return volume_derivatives(batch.n_volume_points) +
                 (2 * q + side) * (m * facet_in * m * facet_out);
        }
        TESSELLA_HOST_DEVICE double *
        volume_inputs(const unsigned int q) const
        {
          return inputs + q * (Base::n_inputs * volume_in);
        }
        TESSELLA_HOST_DEVICE double *
        facet_inputs(const unsigned int q, const unsigned int side) const
        {
          return volume_inputs(batch.n_volume_points) +
                 (2 * q + side) * (Base::n_inputs * facet_in);
        }

        // Values of fields and basis functions on a side of a point.
        template <unsigned int input, unsigned int output>
        TESSELLA_HOST_DEVICE void
        evaluate_side(const unsigned int q,
                      const unsigned int side,
                      double            *values,
                      double            *functions,
                      const unsigned int table_number)
        {
          constexpr bool gradients =
            ((input | output) & PointwiseRows::gradients) != 0;
          BatchPoint<dim> point;
          this->set_point(batch, q, point);
          if (side == 1 && point.kind == PointKind::boundary_facet)
            return;
          const double *slot =
            this->slot(side == 0 ? point.slot[0] : point.slot[1]);
          double *table = tables + table_number * L.table_stride;
          double  x[dim];
          this->position(point, side, x);
          Input<double> u, du;
          this->template evaluate_fields<input, false>(slot, x, table, u, du);
          Base::template for_rows<input>(
            u, Base::n_inputs, [&](const double entry, const int row) {
              values[row] = entry;
            });
          fill_table<dim>(
            L, slot, x, Base::degree(slot, T.test), gradients, table);
          const unsigned int n = Base::n_basis(slot, T.test);
          for (unsigned int i = 0; i < n; ++i)
            {
              double phi, d_phi[dim];
              basis_function<dim, true, gradients>(
                L, table, T.fields[T.test].exponents[i], phi, d_phi);
              functions[i] = phi;
              if (gradients)
                for (int d = 0; d < dim; ++d)
                  functions[(d + 1) * L.basis_stride + i] = d_phi[d];
            }
        }

        // Dual numbers whose derivative is one for the given row of the
        // Jacobian's field, or zero everywhere for row -1.
        template <unsigned int rows>
        TESSELLA_HOST_DEVICE void
        set_direction(const double   *values,
                      const int       direction,
                      Input<Dual<1>> &u) const
        {
          constexpr int n_rows = n_used_rows(dim, rows);
          const int     row0 =
            direction < 0
                  ? -1
                  : static_cast<int>(T.first_component) * n_rows + direction;
          Base::template for_rows<rows>(u,
                                        Base::n_inputs,
                                        [&](Dual<1> &entry, const int row) {
                                          entry.value = values[row];
                                          entry.derivative[0] =
                                            row == row0 ? 1. : 0.;
                                        });
        }

        TESSELLA_HOST_DEVICE static void
        set_zero(Output<Dual<1>> &r)
        {
          for (int c = 0; c < m; ++c)
            {
              r.value[c] = 0.;
              for (int d = 0; d < dim; ++d)
                r.gradient[c][d] = 0.;
            }
        }

        TESSELLA_HOST_DEVICE void
        differentiate_volume(const unsigned int q, const unsigned int direction)
        {
          BatchPoint<dim> point;
          this->set_point(batch, q, point);
          Input<Dual<1>>  u;
          Output<Dual<1>> r;
          set_direction<Traits::volume_input>(volume_inputs(q),
                                              static_cast<int>(direction),
                                              u);
          set_zero(r);
          f.volume(point.data, u, r);
          double *const to =
            volume_derivatives(q) + direction * (m * volume_out);
          Base::template for_rows<Traits::volume_output>(
            r, m, [&](const Dual<1> &entry, const int row) {
              to[row] = point.weight * entry.derivative[0];
            });
        }

        TESSELLA_HOST_DEVICE void
        differentiate_facet(const unsigned int q, const unsigned int index)
        {
          constexpr unsigned int n         = m * facet_in;
          const unsigned int     side      = index / n;
          const int              direction = static_cast<int>(index - side * n);
          BatchPoint<dim>        point;
          this->set_point(batch, batch.n_volume_points + q, point);
          Output<Dual<1>> own, other;
          set_zero(own);
          set_zero(other);
          if (point.kind == PointKind::boundary_facet)
            {
              if (side == 1)
                return;
              if constexpr (Traits::has_boundary_facet)
                {
                  Input<Dual<1>> u;
                  set_direction<Traits::facet_input>(facet_inputs(q, 0),
                                                     direction,
                                                     u);
                  f.boundary_facet(point.data, u, own);
                }
            }
          else if constexpr (Traits::has_interior_facet)
            {
              Input<Dual<1>> u0, u1;
              set_direction<Traits::facet_input>(facet_inputs(q, 0),
                                                 side == 0 ? direction : -1,
                                                 u0);
              set_direction<Traits::facet_input>(facet_inputs(q, 1),
                                                 side == 1 ? direction : -1,
                                                 u1);
              f.interior_facet(point.data, u0, u1, own, other);
              if (point.side == 1)
                own = other;
            }
          double *const to =
            facet_derivatives(q, side) + direction * (m * facet_out);
          Base::template for_rows<Traits::facet_output>(
            own, m, [&](const Dual<1> &entry, const int row) {
              to[row] = point.weight * entry.derivative[0];
            });
        }

#ifdef TESSELLA_MATRIX_UNITS
        // ---- entries, by matrix units
        // A warp computes a tile of 8 x 8 entries, test functions by trial
        // functions, for n_pairs pairs of components at once. Its points are
        // taken four by four; the lane 4 i + q has test function i and trial
        // function i at point q, and entries (i, 2 q) and (i, 2 q + 1) of the
        // result. All pairs share the trial functions; products of test
        // functions and derivatives are made in registers.
        static constexpr int n_pairs = m * m < 10 ? (m * m + 1) / 2 * 2 : 10;

        struct MatrixTile
        {
          unsigned int row, column; ///< test and trial function of the lane
          unsigned int n_columns;   ///< number of trial functions of the block
          unsigned int first_pair;
          double       sum[n_pairs][2];
        };

        // Sums of two tiles with the same trial functions.
        __device__ static void
        multiply(double (&c0)[2],
                 double (&c1)[2],
                 const double a0,
                 const double a1,
                 const double b)
        {
#  if __CUDA_ARCH__ >= 900
          asm(
            "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 "
            "{%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
            : "+d"(c0[0]), "+d"(c0[1]), "+d"(c1[0]), "+d"(c1[1])
            : "d"(a0), "d"(a1), "d"(b));
#  else
          asm(
            "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 "
            "{%0,%1}, {%2}, {%3}, {%0,%1};"
            : "+d"(c0[0]), "+d"(c0[1])
            : "d"(a0), "d"(b));
          asm(
            "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 "
            "{%0,%1}, {%2}, {%3}, {%0,%1};"
            : "+d"(c1[0]), "+d"(c1[1])
            : "d"(a1), "d"(b));
#  endif
        }

        // Adds the contribution of n points. get_point(q, C, test, trial) sets
        // the addresses for point q < n and returns whether it contributes.
        template <unsigned int input, unsigned int output, typename Points>
        __device__ void
        add_points(const unsigned int n,
                   const Points      &get_point,
                   MatrixTile        &tile) const
        {
          constexpr int n_in  = n_used_rows(dim, input),
                        n_out = n_used_rows(dim, output),
                        in0   = (input & PointwiseRows::values) != 0 ? 0 : 1,
                        out0  = (output & PointwiseRows::values) != 0 ? 0 : 1;
          if constexpr (n_in > 0 && n_out > 0)
            for (unsigned int q0 = 0; q0 < n; q0 += 4)
              {
                // Lanes without a point repeat the last one, with zero
                // functions.
                const unsigned int q = q0 + thread % 4;
                const double *C = nullptr, *test = nullptr, *trial = nullptr;
                const bool    present =
                  get_point(q < n ? q : n - 1, C, test, trial) && q < n;
                const bool has_row    = present && tile.row < group.n_basis,
                           has_column = present && tile.column < tile.n_columns;
                double phi[n_out];
                TESSELLA_UNROLL_ON_DEVICE
                for (int r = 0; r < n_out; ++r)
                  phi[r] =
                    has_row ? test[(out0 + r) * L.basis_stride + tile.row] : 0.;
                TESSELLA_UNROLL_ON_DEVICE
                for (int s = 0; s < n_in; ++s)
                  {
                    const double psi =
                      has_column
                        ? trial[(in0 + s) * L.basis_stride + tile.column]
                        : 0.;
                    TESSELLA_UNROLL_ON_DEVICE
                    for (int l = 0; l < n_pairs; l += 2)
                      if (m * m == n_pairs || l == 0 ||
                          tile.first_pair + l < m * m)
                        {
                          double a[2];
                          TESSELLA_UNROLL_ON_DEVICE
                          for (int h = 0; h < 2; ++h)
                            {
                              const unsigned int pair = tile.first_pair + l + h,
                                                 c    = pair / m,
                                                 c2   = pair - c * m;
                              a[h]                    = 0.;
                              if (pair < m * m)
                                TESSELLA_UNROLL_ON_DEVICE
                              for (int r = 0; r < n_out; ++r)
                                a[h] =
                                  fma(phi[r],
                                      C[((c2 * n_in + s) * m + c) * n_out + r],
                                      a[h]);
                            }
                          multiply(
                            tile.sum[l], tile.sum[l + 1], a[0], a[1], psi);
                        }
                  }
              }
        }

        __device__ void
        add_matrix_tiles(const unsigned int highest,
                         const unsigned int n_segments,
                         const bool         first)
        {
          const unsigned int n_chunks  = (m * m + n_pairs - 1) / n_pairs,
                             n_rows    = (group.n_basis + 7) / 8,
                             n_columns = (highest + 7) / 8,
                             per_block = n_chunks * n_rows * n_columns,
                             n_tasks   = (1 + n_segments) * per_block,
                             lane      = thread % 32;
          for (unsigned int task = thread / 32; task < n_tasks;
               task += n_threads / 32)
            {
              const unsigned int block = task / per_block;
              unsigned int       rest  = task - block * per_block;
              const unsigned int row   = rest % n_rows;
              rest /= n_rows;
              const unsigned int chunk  = rest % n_chunks,
                                 column = rest / n_chunks * 8;
              MatrixTile tile;
              tile.row        = row * 8 + lane / 4;
              tile.column     = column + lane / 4;
              tile.first_pair = chunk * n_pairs;
              if (block == 0)
                {
                  if (column < group.n_basis)
                    add_diagonal_tile(column + lane % 4 * 2, first, tile);
                }
              else
                add_segment_tile(
                  T.plan.segments[batch.first_segment + block - 1],
                  column,
                  column + lane % 4 * 2,
                  tile);
            }
        }

        __device__ void
        add_diagonal_tile(const unsigned int j,
                          const bool         first,
                          MatrixTile        &tile)
        {
          const unsigned int k = group.first_polytope;
          tile.n_columns       = group.n_basis;
          double *const to =
            start_tile(T.diagonal_only ? 0 : T.diagonal[k], j, first, tile);
          if constexpr (Traits::has_volume)
            add_points<Traits::volume_input, Traits::volume_output>(
              batch.n_volume_points,
              [&](const unsigned int q,
                  const double     *&C,
                  const double     *&test,
                  const double     *&trial) {
                C    = volume_derivatives(q);
                test = trial = volume_functions(q);
                return true;
              },
              tile);
          if constexpr (Traits::has_interior_facet ||
                        Traits::has_boundary_facet)
            // At a periodic boundary the neighbour may be the polytope itself.
            for (unsigned int other = 0; other < 2; ++other)
              {
                if (other == 1 && batch.own_neighbor == 0)
                  continue;
                add_points<Traits::facet_input, Traits::facet_output>(
                  batch.n_facet_points,
                  [&](const unsigned int q,
                      const double     *&C,
                      const double     *&test,
                      const double     *&trial) {
                    const unsigned int p    = batch.n_volume_points + q,
                                       side = this->side_of_point(p);
                    const bool present = other == 0 || this->is_own_neighbor(p);
                    const unsigned int s =
                      other == 1 && present ? 1 - side : side;
                    C     = facet_derivatives(q, s);
                    test  = facet_functions(q, side);
                    trial = facet_functions(q, s);
                    return present;
                  },
                  tile);
              }
          finish_tile(to, j, tile);
        }

        __device__ void
        add_segment_tile(const PointwiseSegment &segment,
                         const unsigned int      column,
                         const unsigned int      j,
                         MatrixTile             &tile)
        {
          if constexpr (Traits::has_interior_facet)
            {
              tile.n_columns = Base::n_basis(this->slot(segment.slot), T.test);
              if (column >= tile.n_columns)
                return;
              double *const to =
                start_tile(segment.column, j, segment.first != 0, tile);
              add_points<Traits::facet_input, Traits::facet_output>(
                segment.end - segment.begin,
                [&](unsigned int   q,
                    const double *&C,
                    const double *&test,
                    const double *&trial) {
                  q += segment.begin;
                  const unsigned int side =
                    this->side_of_point(batch.n_volume_points + q);
                  C     = facet_derivatives(q, 1 - side);
                  test  = facet_functions(q, side);
                  trial = facet_functions(q, 1 - side);
                  return true;
                },
                tile);
              finish_tile(to, j, tile);
            }
        }

        // Returns the address of entry (row, j) of the first pair's block.
        __device__ double *
        start_tile(const unsigned int column,
                   const unsigned int j,
                   const bool         first,
                   MatrixTile        &tile) const
        {
          double *const to =
            T.values + T.value_offset[group.first_polytope] +
            tile.row * std::uint64_t(T.row_width[group.first_polytope]) +
            column + j;
          TESSELLA_UNROLL_ON_DEVICE
          for (int l = 0; l < n_pairs; ++l)
            tile.sum[l][0] = tile.sum[l][1] = 0.;
          if (!first)
            for_entries(to, j, tile, [](const double &entry, double &sum) {
              sum = entry;
            });
          return to;
        }

        __device__ void
        finish_tile(double *const      to,
                    const unsigned int j,
                    MatrixTile        &tile) const
        {
          for_entries(to, j, tile, [](double &entry, const double &sum) {
            entry = sum;
          });
        }

        template <typename Work>
        __device__ void
        for_entries(double *const      to,
                    const unsigned int j,
                    MatrixTile        &tile,
                    const Work        &work) const
        {
          if (tile.row >= group.n_basis)
            return;
          const std::uint64_t width = T.row_width[group.first_polytope];
          TESSELLA_UNROLL_ON_DEVICE
          for (int l = 0; l < n_pairs; ++l)
            {
              const unsigned int pair = tile.first_pair + l, c = pair / m,
                                 c2 = pair - c * m;
              if (pair < m * m)
                {
                  double *const entry =
                    to + c * group.n_basis * width + c2 * tile.n_columns;
                  if (j < tile.n_columns)
                    work(entry[0], tile.sum[l][0]);
                  if (j + 1 < tile.n_columns)
                    work(entry[1], tile.sum[l][1]);
                }
            }
        }
#endif

        // ---- entries, without matrix units
        // Adds the contribution of a point to n entries: test function i of
        // component c, trial functions from j on of component c2.
        template <unsigned int input, unsigned int output, int n>
        TESSELLA_HOST_DEVICE void
        add_point(const double      *C,
                  const double      *test,
                  const double      *trial,
                  const unsigned int c,
                  const unsigned int c2,
                  const unsigned int i,
                  const unsigned int j,
                  double (&sum)[n]) const
        {
          constexpr int n_in  = n_used_rows(dim, input),
                        n_out = n_used_rows(dim, output);
          // Row r of a component is row row0 + r of the functions.
          constexpr int in0  = (input & PointwiseRows::values) != 0 ? 0 : 1,
                        out0 = (output & PointwiseRows::values) != 0 ? 0 : 1;
          double phi[n_out + 1];
          TESSELLA_UNROLL_ON_DEVICE
          for (int r = 0; r < n_out; ++r)
            phi[r] = test[(out0 + r) * L.basis_stride + i];
          TESSELLA_UNROLL_ON_DEVICE
          for (int s = 0; s < n_in; ++s)
            {
              const double *entry = C + ((c2 * n_in + s) * m + c) * n_out;
              double        t     = 0.;
              TESSELLA_UNROLL_ON_DEVICE
              for (int r = 0; r < n_out; ++r)
                t = fma(phi[r], entry[r], t);
              const NumberPair *psi = reinterpret_cast<const NumberPair *>(
                trial + (in0 + s) * L.basis_stride + j);
              TESSELLA_UNROLL_ON_DEVICE
              for (int l = 0; l < n; l += 2)
                {
                  const NumberPair pair = psi[l / 2];
                  sum[l]                = fma(t, pair.first, sum[l]);
                  sum[l + 1]            = fma(t, pair.second, sum[l + 1]);
                }
            }
        }

        // Entries of the diagonal block and of those of all segments, in tiles
        // of n trial functions.
        template <int n>
        TESSELLA_HOST_DEVICE void
        add_tiles(const unsigned int highest,
                  const unsigned int n_segments,
                  const bool         first)
        {
          const unsigned int N = group.n_basis, n_tiles = (highest + n - 1) / n,
                             per_block = m * m * N * n_tiles,
                             n_tasks   = (1 + n_segments) * per_block;
          for (unsigned int task = thread; task < n_tasks; task += n_threads)
            {
              const unsigned int block = task / per_block;
              unsigned int       rest  = task - block * per_block;
              const unsigned int i     = rest % N;
              rest /= N;
              const unsigned int tile = rest % n_tiles, cc = rest / n_tiles,
                                 c = cc / m, c2 = cc - c * m;
              if (block == 0)
                add_diagonal<n>(c, c2, i, tile * n, first);
              else
                add_segment<n>(T.plan.segments[batch.first_segment + block - 1],
                               c,
                               c2,
                               i,
                               tile * n);
            }
        }

        template <int n>
        TESSELLA_HOST_DEVICE void
        add_diagonal(const unsigned int c,
                     const unsigned int c2,
                     const unsigned int i,
                     const unsigned int j,
                     const bool         first)
        {
          if (j >= group.n_basis)
            return;
          double            *to;
          double             sum[n];
          const unsigned int k = group.first_polytope;
          start_sum<n>(T.diagonal_only ? 0 : T.diagonal[k],
                       group.n_basis,
                       c,
                       c2,
                       i,
                       j,
                       first,
                       to,
                       sum);
          if constexpr (Traits::has_volume)
            for (unsigned int q = 0; q < batch.n_volume_points; ++q)
              add_point<Traits::volume_input, Traits::volume_output, n>(
                volume_derivatives(q),
                volume_functions(q),
                volume_functions(q),
                c,
                c2,
                i,
                j,
                sum);
          if constexpr (Traits::has_interior_facet ||
                        Traits::has_boundary_facet)
            for (unsigned int p = 0; p < batch.n_pieces; ++p)
              {
                const PointwisePiece &piece =
                  T.plan.pieces[batch.first_piece + p];
                if (piece.begin < batch.n_volume_points)
                  continue;
                const bool boundary = piece.other == PointwisePiece::none;
                if (boundary ? !Traits::has_boundary_facet
                             : !Traits::has_interior_facet)
                  continue;
                // At a periodic boundary the neighbour may be the polytope
                // itself.
                const bool both = piece.other == piece.own;
                for (unsigned int l = 0; l < piece.n_points; ++l)
                  {
                    const unsigned int q =
                      piece.begin + l - batch.n_volume_points;
                    const double *test = facet_functions(q, piece.side);
                    add_point<Traits::facet_input, Traits::facet_output, n>(
                      facet_derivatives(q, piece.side),
                      test,
                      test,
                      c,
                      c2,
                      i,
                      j,
                      sum);
                    if (both)
                      add_point<Traits::facet_input, Traits::facet_output, n>(
                        facet_derivatives(q, 1 - piece.side),
                        test,
                        facet_functions(q, 1 - piece.side),
                        c,
                        c2,
                        i,
                        j,
                        sum);
                  }
              }
          finish_sum<n>(group.n_basis, j, to, sum);
        }

        template <int n>
        TESSELLA_HOST_DEVICE void
        add_segment(const PointwiseSegment &segment,
                    const unsigned int      c,
                    const unsigned int      c2,
                    const unsigned int      i,
                    const unsigned int      j)
        {
          if constexpr (Traits::has_interior_facet)
            {
              const unsigned int n_columns =
                Base::n_basis(this->slot(segment.slot), T.test);
              if (j >= n_columns)
                return;
              double *to;
              double  sum[n];
              start_sum<n>(segment.column,
                           n_columns,
                           c,
                           c2,
                           i,
                           j,
                           segment.first != 0,
                           to,
                           sum);
              for (unsigned int q = segment.begin; q < segment.end; ++q)
                {
                  const unsigned int side =
                    this->side_of_point(batch.n_volume_points + q);
                  add_point<Traits::facet_input, Traits::facet_output, n>(
                    facet_derivatives(q, 1 - side),
                    facet_functions(q, side),
                    facet_functions(q, 1 - side),
                    c,
                    c2,
                    i,
                    j,
                    sum);
                }
              finish_sum<n>(n_columns, j, to, sum);
            }
        }

        template <int n>
        TESSELLA_HOST_DEVICE void
        start_sum(const unsigned int column,
                  const unsigned int n_columns,
                  const unsigned int c,
                  const unsigned int c2,
                  const unsigned int i,
                  const unsigned int j,
                  const bool         first,
                  double           *&to,
                  double (&sum)[n]) const
        {
          const unsigned int k = group.first_polytope;
          to                   = T.values + T.value_offset[k] +
               (c * group.n_basis + i) * std::uint64_t(T.row_width[k]) +
               column + c2 * n_columns + j;
          TESSELLA_UNROLL_ON_DEVICE
          for (int l = 0; l < n; ++l)
            sum[l] = !first && j + l < n_columns ? to[l] : 0.;
        }

        template <int n>
        TESSELLA_HOST_DEVICE static void
        finish_sum(const unsigned int n_columns,
                   const unsigned int j,
                   double            *to,
                   const double (&sum)[n])
        {
          TESSELLA_UNROLL_ON_DEVICE
          for (int l = 0; l < n; ++l)
            if (j + l < n_columns)
              to[l] = sum[l];
        }
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#undef TESSELLA_MATRIX_UNITS

#endif
