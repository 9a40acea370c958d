// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_forms_pointwise_residual_h
#define tessella_forms_pointwise_residual_h

#include <tessella/forms/pointwise_block.h>

// Residual and tangent of a pointwise operator on a device.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /**
       * One thread block of the residual or of the tangent.
       *
       * Lanes are first assigned to points, where they evaluate the fields and
       * call the functor, then to basis functions of the test space, for which
       * they sum over the points of their polytope. A lane sums for all
       * components. If a polytope has many points for each function, several
       * lanes share them; the numbers of the points in their polytope determine
       * which lane takes which points, so that sums do not depend on batches
       * and groups.
       */
      template <int dim, typename F, bool tangent>
      class PointwiseResidual : public PointwiseBlock<dim, F>
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
            evaluate_point(batch, q);
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

        TESSELLA_HOST_DEVICE void
        evaluate_point(const PointwiseBatch &batch, const unsigned int q)
        {
          BatchPoint<dim> point;
          this->set_point(batch, q, point);
          double *const table = memory + L.table + q * L.table_stride;
          double        x[dim];
          if (point.kind == PointKind::volume)
            {
              if constexpr (Traits::has_volume)
                {
                  Input<double> u, du;
                  const double *slot = this->slot(point.slot[0]);
                  this->position(point, 0, x);
                  this->template evaluate_fields<Traits::volume_input, tangent>(
                    slot, x, table, u, du);
                  fill_test_table<Traits::volume_output>(slot, x, table);
                  call<Traits::volume_input>(
                    u, du, u, du, [&](const auto &v, const auto &, auto &r) {
                      f.volume(point.data, v, r[0]);
                      write<Traits::volume_output>(point, q, r[0]);
                    });
                }
              return;
            }
          Input<double> u0, du0, u1, du1;
          double       *slot = this->slot(point.slot[0]);
          this->position(point, 0, x);
          this->template evaluate_fields<Traits::facet_input, tangent>(
            slot, x, table, u0, du0);
          if (point.kind == PointKind::boundary_facet)
            {
              if constexpr (Traits::has_boundary_facet)
                {
                  fill_test_table<Traits::facet_output>(slot, x, table);
                  call<Traits::facet_input>(
                    u0,
                    du0,
                    u0,
                    du0,
                    [&](const auto &v, const auto &, auto &r) {
                      f.boundary_facet(point.data, v, r[0]);
                      write<Traits::facet_output>(point, q, r[0]);
                    });
                }
              return;
            }
          if constexpr (Traits::has_interior_facet)
            {
              slot = this->slot(point.slot[1]);
              this->position(point, 1, x);
              this->template evaluate_fields<Traits::facet_input, tangent>(
                slot, x, table, u1, du1);
              if (point.side == 0)
                {
                  slot = this->slot(point.slot[0]);
                  this->position(point, 0, x);
                }
              fill_test_table<Traits::facet_output>(slot, x, table);
              call<Traits::facet_input>(
                u0, du0, u1, du1, [&](const auto &v0, const auto &v1, auto &r) {
                  f.interior_facet(point.data, v0, v1, r[0], r[1]);
                  using Number =
                    std::remove_reference_t<decltype(r[0].value[0])>;
                  Output<Number> own;
                  for (int c = 0; c < m; ++c)
                    {
                      own.value[c] =
                        point.side == 0 ? r[0].value[c] : r[1].value[c];
                      for (int d = 0; d < dim; ++d)
                        own.gradient[c][d] = point.side == 0
                                               ? r[0].gradient[c][d]
                                               : r[1].gradient[c][d];
                    }
                  write<Traits::facet_output>(point, q, own);
                });
            }
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

        // Calls work(u0, u1, results) with zero results, with dual numbers for
        // the tangent.
        template <unsigned int rows, typename Work>
        TESSELLA_HOST_DEVICE static void
        call(const Input<double> &u0,
             const Input<double> &du0,
             const Input<double> &u1,
             const Input<double> &du1,
             const Work          &work)
        {
          if constexpr (tangent)
            {
              Input<Dual<1>>  v0, v1;
              Output<Dual<1>> r[2];
              set_dual<rows>(u0, du0, v0);
              set_dual<rows>(u1, du1, v1);
              set_zero(r);
              work(v0, v1, r);
            }
          else
            {
              Output<double> r[2];
              set_zero(r);
              work(u0, u1, r);
            }
        }

        template <unsigned int rows>
        TESSELLA_HOST_DEVICE static void
        set_dual(const Input<double> &u,
                 const Input<double> &du,
                 Input<Dual<1>>      &v)
        {
          for (int c = 0; c < Base::n_inputs; ++c)
            {
              if ((rows & PointwiseRows::values) != 0)
                {
                  v.value[c].value         = u.value[c];
                  v.value[c].derivative[0] = du.value[c];
                }
              if ((rows & PointwiseRows::gradients) != 0)
                for (int d = 0; d < dim; ++d)
                  {
                    v.gradient[c][d].value         = u.gradient[c][d];
                    v.gradient[c][d].derivative[0] = du.gradient[c][d];
                  }
            }
        }

        template <typename Number>
        TESSELLA_HOST_DEVICE static void
        set_zero(Output<Number> (&r)[2])
        {
          for (int s = 0; s < 2; ++s)
            for (int c = 0; c < m; ++c)
              {
                r[s].value[c] = 0.;
                for (int d = 0; d < dim; ++d)
                  r[s].gradient[c][d] = 0.;
              }
        }

        TESSELLA_HOST_DEVICE static double
        number(const double value)
        {
          return value;
        }
        TESSELLA_HOST_DEVICE static double
        number(const Dual<1> &value)
        {
          return value.derivative[0];
        }

        // Stores results times the weight of the point.
        template <unsigned int rows, typename Terms>
        TESSELLA_HOST_DEVICE void
        write(const BatchPoint<dim> &point,
              const unsigned int     q,
              const Terms           &r) const
        {
          double *const to    = memory + L.result + q * L.result_stride;
          double        check = 0.; // not a number if a result is not finite
          Base::template for_rows<rows>(r,
                                        m,
                                        [&](const auto &entry, const int row) {
                                          const double value = number(entry);
                                          check   = fma(value, 0., check);
                                          to[row] = point.weight * value;
                                        });
          if (!(check == 0.))
            report<rows>(point, r);
        }

        template <unsigned int rows, typename Terms>
        TESSELLA_HOST_DEVICE void
        report(const BatchPoint<dim> &point, const Terms &r) const
        {
          unsigned int  component = 0;
          constexpr int n_rows    = n_used_rows(dim, rows);
          bool          found     = false;
          Base::template for_rows<rows>(
            r, m, [&](const auto &entry, const int row) {
              const double zero = number(entry) * 0.;
              if (!found && !(zero == 0.))
                {
                  found     = true;
                  component = static_cast<unsigned int>(row / n_rows);
                }
            });
          const unsigned long long code =
            pointwise_error_code(point.kind != PointKind::volume,
                                 point.number,
                                 component);
#ifdef __CUDA_ARCH__
          atomicMin(T.error, code);
#else
          *T.error = code < *T.error ? code : *T.error;
#endif
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
