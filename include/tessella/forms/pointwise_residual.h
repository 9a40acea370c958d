// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_pointwise_residual_h
#define tessella_forms_pointwise_residual_h

#include <tessella/forms/pointwise_block.h>
#include <tessella/forms/pointwise_results.h>

// Residual and tangent of a pointwise operator on a device: sums over the
// points of a polytope. Results on facets are computed before.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /**
       * One thread block of the residual or of the tangent.
       *
       * Lanes are first assigned to points. Inside the polytope they evaluate
       * the fields and call the functor; on facets they take the results of
       * PointwiseFacetResults. Then they are assigned to basis functions of the
       * test space, for which they sum over the points of their polytope. A
       * lane sums for all components. If a polytope has many points for each
       * function, several lanes share them; the numbers of the points in their
       * polytope determine which lane takes which points, so that sums do not
       * depend on batches and groups.
       */
      template <int dim, typename F, bool tangent>
      class PointwiseResidual : public PointwiseBlock<dim, F>
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

        /// Sets all sums to zero.
        TESSELLA_HOST_DEVICE void
        clear_sums()
        {
          const unsigned int n =
            group.n_polytopes * group.n_basis * group.n_splits * m;
          for (unsigned int i = thread; i < n; i += n_threads)
            memory[L.sums + i] = 0.;
        }

        /// Evaluates the terms at the points of a batch.
        TESSELLA_HOST_DEVICE void
        evaluate(const PointwiseBatch &batch)
        {
          const unsigned int n = batch.n_volume_points + batch.n_facet_points;
          for (unsigned int q = thread; q < n; q += n_threads)
            if (q < batch.n_volume_points)
              evaluate_volume(batch, q);
            else
              read_facet(batch, q);
          Base::finish_copies();
        }

        /// Multiplies by the test functions.
        TESSELLA_HOST_DEVICE void
        integrate(const PointwiseBatch &batch)
        {
          if (batch.n_volume_points > 0)
            integrate_rows<Traits::volume_output>(batch);
          else
            integrate_rows<Traits::facet_output>(batch);
        }

        /// Writes the results of the group.
        TESSELLA_HOST_DEVICE void
        store() const
        {
          const unsigned int N = group.n_basis, S = group.n_splits,
                             n = group.n_polytopes * N * m;
          for (unsigned int j = thread; j < n; j += n_threads)
            {
              const unsigned int k = j / (N * m), rest = j - k * N * m,
                                 c = rest / N, i = rest - c * N;
              const double *sums = memory + L.sums + (k * N + i) * S * m + c;
              double        sum  = sums[0];
              for (unsigned int s = 1; s < S; ++s)
                sum += sums[s * m];
              T.result[T.fields[T.test].dof_offset[group.first_polytope + k] +
                       rest] = sum;
            }
        }

      private:
        using Base::f;
        using Base::L;
        using Base::memory;
        using Base::n_threads;
        using Base::T;
        using Base::thread;
        static constexpr int m = Base::n_outputs;

        using Results = PointwiseResults<dim, F, tangent>;

        TESSELLA_HOST_DEVICE void
        evaluate_volume(const PointwiseBatch &batch, const unsigned int q)
        {
          if constexpr (Traits::has_volume)
            {
              BatchPoint<dim> point;
              this->set_point(batch, q, point);
              double *const table = memory + L.table + q * L.table_stride;
              double        x[dim];
              Input<double> u, du;
              const double *slot = this->slot(point.slot[0]);
              this->position(point, 0, x);
              this->template evaluate_fields<Traits::volume_input, tangent>(
                slot, x, table, u, du);
              fill_test_table<Traits::volume_output>(slot, x, table);
              double *const to = memory + L.result + q * L.result_stride;
              Results::template call<Traits::volume_input>(
                u, du, u, du, [&](const auto &v, const auto &, auto &r) {
                  Call::volume(f, point.data, v, r[0]);
                  Results::template write<Traits::volume_output>(
                    r[0],
                    point.weight,
                    false,
                    point.number,
                    T.error,
                    [&](const int row, const double value) {
                      to[row] = value;
                    });
                });
            }
        }

        // Starts the copy of the results of a point on a facet, and fills the
        // table of the test functions.
        TESSELLA_HOST_DEVICE void
        read_facet(const PointwiseBatch &batch, const unsigned int q)
        {
          const PointwisePiece &piece =
            T.plan.pieces[batch.first_piece + this->piece_of_point(q)];
          const std::uint64_t number = piece.point + (q - piece.begin);
          constexpr int n_rows = m * n_used_rows(dim, Traits::facet_output);
          const double *from   = T.facet_results +
                               piece.side * n_rows * T.mesh.n_facet_points +
                               number;
          double *const to = memory + L.result + q * L.result_stride;
          for (int row = 0; row < n_rows; ++row)
            Base::copy(to + row, from + row * T.mesh.n_facet_points);
          double x[dim];
          for (int d = 0; d < dim; ++d)
            x[d] = T.mesh.facet_points[(dim + 1) * number + d];
          if (piece.side == 1 && piece.shift != 0)
            for (int d = 0; d < dim; ++d)
              x[d] += T.mesh.shift[piece.shift * dim + d];
          fill_test_table<Traits::facet_output>(
            this->slot(piece.own), x, memory + L.table + q * L.table_stride);
        }

        template <unsigned int rows>
        TESSELLA_HOST_DEVICE void
        fill_test_table(const double *slot,
                        const double (&x)[dim],
                        double *table) const
        {
          fill_table<dim>(L,
                          slot,
                          x,
                          Base::degree(slot, T.test),
                          (rows & PointwiseRows::gradients) != 0,
                          table);
        }

        template <unsigned int rows>
        TESSELLA_HOST_DEVICE void
        integrate_rows(const PointwiseBatch &batch)
        {
          constexpr bool values    = (rows & PointwiseRows::values) != 0,
                         gradients = (rows & PointwiseRows::gradients) != 0;
          constexpr int n_rows     = n_used_rows(dim, rows);
          if constexpr (n_rows > 0)
            {
              const unsigned int N = group.n_basis, S = group.n_splits,
                                 n = group.n_polytopes * N * S;
              const unsigned int *const ranges =
                T.plan.ranges + batch.first_range;
              for (unsigned int task = thread; task < n; task += n_threads)
                {
                  const unsigned int split = task & (S - 1), ki = task / S,
                                     k = ki / N, i = ki - k * N;
                  const unsigned int range     = ranges[k],
                                     end       = ranges[k + 1] & 0xffffu,
                                     begin     = range & 0xffffu;
                  const unsigned int exponents = T.fields[T.test].exponents[i];
                  double            *sums      = memory + L.sums + task * m;
                  double             sum[m];
                  for (int c = 0; c < m; ++c)
                    sum[c] = sums[c];
#ifdef __CUDA_ARCH__
#  pragma unroll 2
#endif
                  for (unsigned int q =
                         begin + ((split - (range >> 16)) & (S - 1));
                       q < end;
                       q += S)
                    {
                      double phi = 0., d_phi[dim];
                      basis_function<dim, values, gradients>(L,
                                                             memory + L.table +
                                                               q *
                                                                 L.table_stride,
                                                             exponents,
                                                             phi,
                                                             d_phi);
                      const double *r = memory + L.result + q * L.result_stride;
                      TESSELLA_UNROLL_ON_DEVICE
                      for (int c = 0; c < m; ++c)
                        {
                          if (values)
                            sum[c] = fma(phi, r[c * n_rows], sum[c]);
                          if (gradients)
                            {
                              TESSELLA_UNROLL_ON_DEVICE
                              for (int d = 0; d < dim; ++d)
                                sum[c] = fma(d_phi[d],
                                             r[c * n_rows + n_rows - dim + d],
                                             sum[c]);
                            }
                        }
                    }
                  for (int c = 0; c < m; ++c)
                    sums[c] = sum[c];
                }
            }
        }
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
