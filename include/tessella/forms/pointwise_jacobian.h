// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_pointwise_jacobian_h
#define tessella_forms_pointwise_jacobian_h

#include <tessella/forms/pointwise_block.h>
#include <tessella/portable/matrix_products.h>

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
        using typename Base::Call;
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
                const unsigned int q = (i - n_v) / 2, h = (i - n_v) % 2;
                evaluate_side<Traits::facet_input, Traits::facet_output>(
                  n_v + q, h, facet_inputs(q, h), facet_functions(q, h), i);
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
          const unsigned int highest = largest_basis(n_segments);
          if (group.n_basis <= 8)
            add_matrix_tiles<1>(highest, n_segments, first);
          else if (group.n_basis <= 16)
            add_matrix_tiles<2>(highest, n_segments, first);
          else
            add_matrix_tiles<3>(highest, n_segments, first);
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

        // ---- sections of points. Side h = 0 of a facet is that of the own
        // polytope, 1 the neighbour's.
        TESSELLA_HOST_DEVICE double *
        volume_functions(const unsigned int q) const
        {
          return functions + q * volume_functions_rows * L.basis_stride;
        }
        TESSELLA_HOST_DEVICE double *
        facet_functions(const unsigned int q, const unsigned int h) const
        {
          return volume_functions(batch.n_volume_points) +
                 (2 * q + h) * facet_functions_rows * L.basis_stride;
        }
        TESSELLA_HOST_DEVICE double *
        volume_derivatives(const unsigned int q) const
        {
          return derivatives + q * (m * volume_in * m * volume_out);
        }
        TESSELLA_HOST_DEVICE double *
        facet_derivatives(const unsigned int q, const unsigned int h) const
        {
          return volume_derivatives(batch.n_volume_points) +
                 (2 * q + h) * (m * facet_in * m * facet_out);
        }
        TESSELLA_HOST_DEVICE double *
        volume_inputs(const unsigned int q) const
        {
          return inputs + q * (Base::n_inputs * volume_in);
        }
        TESSELLA_HOST_DEVICE double *
        facet_inputs(const unsigned int q, const unsigned int h) const
        {
          return volume_inputs(batch.n_volume_points) +
                 (2 * q + h) * (Base::n_inputs * facet_in);
        }

        // Values of fields and basis functions on a side of a point.
        template <unsigned int input, unsigned int output>
        TESSELLA_HOST_DEVICE void
        evaluate_side(const unsigned int q,
                      const unsigned int h,
                      double            *values,
                      double            *functions,
                      const unsigned int table_number)
        {
          constexpr bool gradients =
            ((input | output) & PointwiseRows::gradients) != 0;
          BatchPoint<dim> point;
          this->set_point(batch, q, point);
          if (h == 1 && point.kind == PointKind::boundary_facet)
            return;
          const unsigned int side =
            point.kind == PointKind::volume ? 0 : h ^ point.side;
          const double *slot =
            this->slot(side == 0 ? point.slot[0] : point.slot[1]);
          double *table = tables + table_number * L.table_stride;
          double  x[dim];
          this->position(point, side, x);
          Input<double> u, du;
          this->template evaluate_fields<input, false>(slot, x, table, u, du);
          for_rows<dim, input>(u,
                               Base::n_inputs,
                               [&](const double entry, const int row) {
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
          for_rows<dim, rows>(u,
                              Base::n_inputs,
                              [&](Dual<1> &entry, const int row) {
                                entry.value         = values[row];
                                entry.derivative[0] = row == row0 ? 1. : 0.;
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
          Call::volume(f, point.data, u, r);
          double *const to =
            volume_derivatives(q) + direction * (m * volume_out);
          for_rows<dim, Traits::volume_output>(
            r, m, [&](const Dual<1> &entry, const int row) {
              to[row] = point.weight * entry.derivative[0];
            });
        }

        TESSELLA_HOST_DEVICE void
        differentiate_facet(const unsigned int q, const unsigned int index)
        {
          constexpr unsigned int n         = m * facet_in;
          const unsigned int     h         = index / n;
          const int              direction = static_cast<int>(index - h * n);
          BatchPoint<dim>        point;
          this->set_point(batch, batch.n_volume_points + q, point);
          Output<Dual<1>> own, other;
          set_zero(own);
          set_zero(other);
          if (point.kind == PointKind::boundary_facet)
            {
              if (h == 1)
                return;
              if constexpr (Traits::has_boundary_facet)
                {
                  Input<Dual<1>> u;
                  set_direction<Traits::facet_input>(facet_inputs(q, 0),
                                                     direction,
                                                     u);
                  Call::boundary_facet(f, point.data, u, own);
                }
            }
          else if constexpr (Traits::has_interior_facet)
            {
              Input<Dual<1>>     u0, u1;
              const unsigned int side = h ^ point.side;
              set_direction<Traits::facet_input>(facet_inputs(q, point.side),
                                                 side == 0 ? direction : -1,
                                                 u0);
              set_direction<Traits::facet_input>(facet_inputs(q,
                                                              1 - point.side),
                                                 side == 1 ? direction : -1,
                                                 u1);
              Call::interior_facet(f, point.data, u0, u1, own, other);
              if (point.side == 1)
                own = other;
            }
          double *const to =
            facet_derivatives(q, h) + direction * (m * facet_out);
          for_rows<dim, Traits::facet_output>(
            own, m, [&](const Dual<1> &entry, const int row) {
              to[row] = point.weight * entry.derivative[0];
            });
        }

#ifdef TESSELLA_MATRIX_UNITS
        // ---- entries, by matrix units
        // A warp computes n_tiles tiles of 8 x 8 entries, test functions by
        // trial functions, for n_test components of the test function and
        // n_trial of the trial function at once. Its points are taken four by
        // four; the lane 4 i + q has test functions i, i + 8, ... and trial
        // function i at point q, and entries (i, 2 q) and (i, 2 q + 1) of the
        // results. All products share the trial functions; products of test
        // functions and derivatives are made in registers.
        template <int n_tiles>
        struct MatrixTiles
        {
          static constexpr int n_test  = n_tiles == 1 && m > 1 ? 2 : 1,
                               n_trial = m < 5 ? m : 5,
                               n_pairs = n_test * n_trial,
                               n_sums  = n_tiles * n_pairs;

          unsigned int row, column; ///< first test and trial function
          unsigned int n_columns;   ///< number of trial functions of the block
          unsigned int c, c2;       ///< first components
          /// Sums of pair p and tile t: n_tiles p + t, and one that fills up.
          double sum[(n_sums + 1) / 2 * 2][2];
        };

        // Derivatives, test and trial functions of consecutive points.
        struct Points
        {
          unsigned int  n;
          const double *C, *test, *trial;
          /// Flags of the points if only some of them contribute, else null.
          const unsigned short *flags;
        };

        // Adds the contribution of points.
        template <unsigned int input,
                  unsigned int output,
                  int          n_sides,
                  int          n_tiles>
        __device__ void
        add_points(const Points &points, MatrixTiles<n_tiles> &tiles) const
        {
          using Tiles         = MatrixTiles<n_tiles>;
          constexpr int n_in  = n_used_rows(dim, input),
                        n_out = n_used_rows(dim, output),
                        in0   = (input & PointwiseRows::values) != 0 ? 0 : 1,
                        out0  = (output & PointwiseRows::values) != 0 ? 0 : 1;
          constexpr unsigned int C_stride = n_sides * m * n_in * m * n_out;
          const unsigned int     stride =
            n_sides * L.basis_stride *
            (((input | output) & PointwiseRows::gradients) != 0 ? dim + 1 : 1);
          // Components beyond the last one repeat it; their sums are not used.
          int offset[Tiles::n_pairs];
          TESSELLA_UNROLL_ON_DEVICE
          for (int p = 0; p < Tiles::n_pairs; ++p)
            {
              const int c  = tiles.c + p / Tiles::n_trial,
                        c2 = tiles.c2 + p % Tiles::n_trial;
              offset[p] =
                ((c2 < m ? c2 : m - 1) * n_in * m + (c < m ? c : m - 1)) *
                n_out;
            }
          if constexpr (n_in > 0 && n_out > 0)
            for (unsigned int q0 = 0; q0 < points.n; q0 += 4)
              {
                // Lanes without a point repeat the last one, with zero
                // functions.
                unsigned int q       = q0 + thread % 4;
                bool         present = q < points.n;
                q                    = present ? q : points.n - 1;
                if (points.flags != nullptr)
                  present = present && Base::is_own_neighbor(points.flags[q]);
                const double *const        C     = points.C + q * C_stride,
                                    *const test  = points.test + q * stride,
                                    *const trial = points.trial + q * stride;
                double                     phi[n_tiles][n_out];
                TESSELLA_UNROLL_ON_DEVICE
                for (int t = 0; t < n_tiles; ++t)
                  {
                    const unsigned int i = tiles.row + 8 * t;
                    TESSELLA_UNROLL_ON_DEVICE
                    for (int r = 0; r < n_out; ++r)
                      phi[t][r] = present && i < group.n_basis
                                    ? test[(out0 + r) * L.basis_stride + i]
                                    : 0.;
                  }
                TESSELLA_UNROLL_ON_DEVICE
                for (int s = 0; s < n_in; ++s)
                  {
                    const double psi =
                      present && tiles.column < tiles.n_columns
                        ? trial[(in0 + s) * L.basis_stride + tiles.column]
                        : 0.;
                    double a[2];
                    TESSELLA_UNROLL_ON_DEVICE
                    for (int p = 0; p < Tiles::n_pairs; ++p)
                      {
                        double entry[n_out];
                        TESSELLA_UNROLL_ON_DEVICE
                        for (int r = 0; r < n_out; ++r)
                          entry[r] = points.flags == nullptr || present
                                       ? C[offset[p] + s * m * n_out + r]
                                       : 0.;
                        TESSELLA_UNROLL_ON_DEVICE
                        for (int t = 0; t < n_tiles; ++t)
                          {
                            const int k = p * n_tiles + t;
                            a[k % 2]    = phi[t][0] * entry[0];
                            TESSELLA_UNROLL_ON_DEVICE
                            for (int r = 1; r < n_out; ++r)
                              a[k % 2] = fma(phi[t][r], entry[r], a[k % 2]);
                            if (k % 2 == 0 && k + 1 == Tiles::n_sums)
                              a[1] = 0.;
                            if (k % 2 == 1 || k + 1 == Tiles::n_sums)
                              MatrixProducts::add(tiles.sum[k / 2 * 2],
                                                  tiles.sum[k / 2 * 2 + 1],
                                                  a[0],
                                                  a[1],
                                                  psi);
                          }
                      }
                  }
              }
        }

        template <int n_tiles>
        __device__ void
        add_matrix_tiles(const unsigned int highest,
                         const unsigned int n_segments,
                         const bool         first)
        {
          using Tiles                = MatrixTiles<n_tiles>;
          constexpr unsigned int n_c = (m + Tiles::n_test - 1) / Tiles::n_test,
                                 n_c2 =
                                   (m + Tiles::n_trial - 1) / Tiles::n_trial,
                                 rows  = 8 * n_tiles;
          const unsigned int n_rows    = (group.n_basis + rows - 1) / rows,
                             n_columns = (highest + 7) / 8,
                             per_block = n_c * n_c2 * n_rows * n_columns,
                             n_tasks   = (1 + n_segments) * per_block,
                             lane      = thread % 32;
          for (unsigned int task = thread / 32; task < n_tasks;
               task += n_threads / 32)
            {
              const unsigned int block = task / per_block;
              unsigned int       rest  = task - block * per_block;
              const unsigned int row   = rest % n_rows;
              rest /= n_rows;
              const unsigned int c = rest % n_c;
              rest /= n_c;
              const unsigned int c2 = rest % n_c2, column = rest / n_c2 * 8;
              Tiles              tiles;
              tiles.row    = row * rows + lane / 4;
              tiles.column = column + lane / 4;
              tiles.c      = c * Tiles::n_test;
              tiles.c2     = c2 * Tiles::n_trial;
              if (block == 0)
                {
                  if (column < group.n_basis)
                    add_diagonal_tiles(column + lane % 4 * 2, first, tiles);
                }
              else
                add_segment_tiles(
                  T.plan.segments[batch.first_segment + block - 1],
                  column,
                  column + lane % 4 * 2,
                  tiles);
            }
        }

        template <int n_tiles>
        __device__ void
        add_diagonal_tiles(const unsigned int    j,
                           const bool            first,
                           MatrixTiles<n_tiles> &tiles)
        {
          const unsigned int k = group.first_polytope;
          tiles.n_columns      = group.n_basis;
          double *const to =
            start_tiles(T.diagonal_only ? 0 : T.diagonal[k], j, first, tiles);
          if constexpr (Traits::has_volume)
            add_points<Traits::volume_input, Traits::volume_output, 1>(
              {batch.n_volume_points,
               volume_derivatives(0),
               volume_functions(0),
               volume_functions(0),
               nullptr},
              tiles);
          if constexpr (Traits::has_interior_facet ||
                        Traits::has_boundary_facet)
            {
              Points all = {batch.n_facet_points,
                            facet_derivatives(0, 0),
                            facet_functions(0, 0),
                            facet_functions(0, 0),
                            nullptr};
              add_points<Traits::facet_input, Traits::facet_output, 2>(all,
                                                                       tiles);
              // At a periodic boundary the neighbour may be the polytope
              // itself.
              if (batch.own_neighbor != 0)
                {
                  all.C     = facet_derivatives(0, 1);
                  all.trial = facet_functions(0, 1);
                  all.flags = this->points + batch.n_volume_points;
                  add_points<Traits::facet_input, Traits::facet_output, 2>(
                    all, tiles);
                }
            }
          finish_tiles(to, j, tiles);
        }

        template <int n_tiles>
        __device__ void
        add_segment_tiles(const PointwiseSegment &segment,
                          const unsigned int      column,
                          const unsigned int      j,
                          MatrixTiles<n_tiles>   &tiles)
        {
          if constexpr (Traits::has_interior_facet)
            {
              tiles.n_columns = Base::n_basis(this->slot(segment.slot), T.test);
              if (column >= tiles.n_columns)
                return;
              double *const to =
                start_tiles(segment.column, j, segment.first != 0, tiles);
              const unsigned int q = segment.begin;
              add_points<Traits::facet_input, Traits::facet_output, 2>(
                {segment.end - q,
                 facet_derivatives(q, 1),
                 facet_functions(q, 0),
                 facet_functions(q, 1),
                 nullptr},
                tiles);
              finish_tiles(to, j, tiles);
            }
        }

        // Returns the address of entry (row, j) of the first pair's block.
        template <int n_tiles>
        __device__ double *
        start_tiles(const unsigned int    column,
                    const unsigned int    j,
                    const bool            first,
                    MatrixTiles<n_tiles> &tiles) const
        {
          double *const to =
            T.values + (T.value_offset[group.first_polytope] - T.first_value) +
            tiles.row * std::uint64_t(T.row_width[group.first_polytope]) +
            column + j;
          TESSELLA_UNROLL_ON_DEVICE
          for (auto &sum : tiles.sum)
            sum[0] = sum[1] = 0.;
          if (!first)
            for_entries(to, j, tiles, [](const double &entry, double &sum) {
              sum = entry;
            });
          return to;
        }

        template <int n_tiles>
        __device__ void
        finish_tiles(double *const         to,
                     const unsigned int    j,
                     MatrixTiles<n_tiles> &tiles) const
        {
          for_entries(to, j, tiles, [](double &entry, const double &sum) {
            entry = sum;
          });
        }

        template <int n_tiles, typename Work>
        __device__ void
        for_entries(double *const         to,
                    const unsigned int    j,
                    MatrixTiles<n_tiles> &tiles,
                    const Work           &work) const
        {
          using Tiles               = MatrixTiles<n_tiles>;
          const std::uint64_t width = T.row_width[group.first_polytope];
          TESSELLA_UNROLL_ON_DEVICE
          for (int p = 0; p < Tiles::n_pairs; ++p)
            TESSELLA_UNROLL_ON_DEVICE
          for (int tile = 0; tile < n_tiles; ++tile)
            {
              const unsigned int c  = tiles.c + p / Tiles::n_trial,
                                 c2 = tiles.c2 + p % Tiles::n_trial;
              if (c < m && c2 < m && tiles.row + 8 * tile < group.n_basis)
                {
                  double *const entry = to +
                                        (c * group.n_basis + 8 * tile) * width +
                                        c2 * tiles.n_columns;
                  double(&sum)[2] = tiles.sum[p * n_tiles + tile];
                  if (j < tiles.n_columns)
                    work(entry[0], sum[0]);
                  if (j + 1 < tiles.n_columns)
                    work(entry[1], sum[1]);
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
            for (unsigned int q = 0; q < batch.n_facet_points; ++q)
              {
                const double *test = facet_functions(q, 0);
                add_point<Traits::facet_input, Traits::facet_output, n>(
                  facet_derivatives(q, 0), test, test, c, c2, i, j, sum);
                // At a periodic boundary the neighbour may be the polytope
                // itself.
                if (Base::is_own_neighbor(
                      this->points[batch.n_volume_points + q]))
                  add_point<Traits::facet_input, Traits::facet_output, n>(
                    facet_derivatives(q, 1),
                    test,
                    facet_functions(q, 1),
                    c,
                    c2,
                    i,
                    j,
                    sum);
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
                  add_point<Traits::facet_input, Traits::facet_output, n>(
                    facet_derivatives(q, 1),
                    facet_functions(q, 0),
                    facet_functions(q, 1),
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
          to = T.values + (T.value_offset[k] - T.first_value) +
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
