// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_hdg_hdg_kernel_h
#define tessella_cuda_hdg_hdg_kernel_h

#include <tessella/portable/legendre.h>

#include "../backends/points.h"
#include "hdg_data.h"

// The local problems of hybridizable dG, except on simplices with simple
// coefficients (see hdg_simplex_kernel.h). Integrals over polytopes, integrals
// over facets (hdg_facet_kernel.h) and elimination are separate kernels, which
// leave their results in global memory. The integrals are chains of short
// steps, many of which must run at a time, and only elimination needs all
// matrices of a polytope at once. Notation and algorithm are those of
// LocalSolver (source/hdg/local_solver.h), with four differences. If
// coefficients are constant, integrals over the volume follow from derivatives
// of the basis. The basis is always made orthonormal on the polytope, so that A
// is a multiple of the identity for a constant scalar a. Where LocalSolver
// multiplies by inverse factors, right-hand sides are rows below the matrix,
// which factorisation turns into solutions. Traces of Dirichlet interfaces are
// eliminated here.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Values of the one-dimensional functions at xi, and derivatives unless
      /// null, at distance `stride`.
      __device__ inline void
      write_legendre(const unsigned int degree,
                     const double       xi,
                     const double       value_scale,
                     const double       derivative_scale,
                     double            *values,
                     double            *derivatives,
                     const unsigned int stride)
      {
        double previous = 1., current = xi, d_previous = 0., d_current = 1.;
        values[0] = value_scale;
        if (derivatives != nullptr)
          derivatives[0] = 0.;
#pragma unroll
        for (unsigned int n = 1; n <= Legendre::max_degree; ++n)
          {
            if (n > degree)
              break;
            const double scale = Legendre::internal::scale(n);
            values[n * stride] = value_scale * scale * current;
            if (derivatives != nullptr)
              derivatives[n * stride] = derivative_scale * scale * d_current;
            if (n < Legendre::max_degree)
              {
                const double next =
                  xi * current * Legendre::internal::forward(n) -
                  previous * Legendre::internal::backward(n);
                const double d_next = d_previous + current * (2. * n + 1.);
                previous            = current;
                current             = next;
                d_previous          = d_current;
                d_current           = d_next;
              }
          }
      }



      /// Value of function i at the point of this lane: the product of
      /// one-dimensional functions, whose column in the table comes from
      /// write_tables_of_box().
      template <int dim>
      __device__ inline double
      product_of_functions(const HDGData<dim> &P,
                           const unsigned int  i,
                           const unsigned int  degree,
                           const double       *table)
      {
        const unsigned char *exponents = P.D.exponents + dim * i;
        double               value = table[__ldg(exponents) * hdg_warp_points];
#pragma unroll
        for (int d = 1; d < dim; ++d)
          value *=
            table[(d * (degree + 1) + __ldg(exponents + d)) * hdg_warp_points];
        return value;
      }

      /// Rows of the tables (degree + 1 for each variable) whose product is
      /// function i, in 10 bits each.
      template <int dim>
      __device__ inline unsigned int
      rows_of_function(const HDGData<dim> &P,
                       const unsigned int  i,
                       const unsigned int  degree)
      {
        unsigned int rows = 0;
#pragma unroll
        for (int d = 0; d < dim; ++d)
          rows |= (d * (degree + 1) + P.D.exponents[dim * i + d]) << (10 * d);
        return rows;
      }

      /// Product of these rows times factor, with rows at distance
      /// hdg_warp_points.
      template <int dim>
      __device__ inline double
      product_of_rows(const unsigned int rows,
                      const double       factor,
                      const double      *table)
      {
        double value = factor;
#pragma unroll
        for (int d = 0; d < dim; ++d)
          value *= table[(rows >> (10 * d) & 1023u) * hdg_warp_points];
        return value;
      }

      /// Writes tables for the functions on the box of polytope k at the point
      /// of this lane, as a column of rows at distance hdg_warp_points.
      template <int dim>
      __device__ inline void
      write_tables_of_box(const HDGData<dim> &P,
                          const unsigned int  k,
                          const unsigned int  degree,
                          const double (&x)[dim],
                          double *table)
      {
        const double *box = P.D.box + 2 * dim * std::size_t(k);
#pragma unroll
        for (int d = 0; d < dim; ++d)
          {
            const double lower = box[d], upper = box[dim + d],
                         reciprocal = 1. / (upper - lower);
            write_legendre(degree,
                           (2. * x[d] - lower - upper) * reciprocal,
                           sqrt(reciprocal),
                           0.,
                           table + d * (degree + 1) * hdg_warp_points,
                           nullptr,
                           hdg_warp_points);
          }
      }

      /// Data of a facet's point group in a slice that all threads read often.
      struct HDGSlicePointGroup
      {
        unsigned int patch, row, code, n_functions;
        /// Generators of the patch's functions: n of n_all. If the patch is
        /// planar, they are those of the list, which are constant along the
        /// normal; else all.
        unsigned int          n_all, n;
        const unsigned short *list;
        const double         *coefficients;

        __device__ unsigned int
        index(const unsigned int l) const
        {
          return list != nullptr ? __ldg(list + l) : l;
        }
      };

      /// @p row: first trace function here among those of the polytope.
      template <int dim>
      __device__ inline HDGSlicePointGroup
      make_slice_point_group(const HDGData<dim>       &P,
                             const HDGFacetPointGroup &point_group,
                             const unsigned int        row)
      {
        const unsigned int p            = point_group.patch,
                           patch_degree = P.patch_degree[p];
        const bool planar = P.patch_frame[std::size_t(p) * (dim * (dim + 2)) +
                                          dim * dim + 2 * dim - 1] == 0.;
        return {p,
                point_group.row - row,
                point_group.code,
                P.patch_functions[p],
                P.n_generators[0][patch_degree],
                P.n_generators[planar ? 1 : 0][patch_degree],
                planar ? P.planar : nullptr,
                P.patch_coefficients + P.patch_offset[p]};
      }

      /// End of the point groups of a patch in a slice, which begin at @p q0.
      __device__ inline unsigned int
      patch_end(const HDGSlicePointGroup *point_groups,
                const unsigned int        q0,
                const unsigned int        end)
      {
        unsigned int q1 = q0 + 1;
        while (q1 < end && point_groups[q1].patch == point_groups[q0].patch &&
               point_groups[q1].row == point_groups[q0].row)
          ++q1;
        return q1;
      }

      /// Integrands at a point of a facet.
      template <int dim>
      struct HDGFacetPoint
      {
        /// Point as seen by the polytope and by the traces; outer normal of the
        /// polytope.
        double x[dim], trace_x[dim], normal[dim];
        double w, S, difference; ///< S - b.n
        double alpha, g;

        /// Calls set(i, weight) for the weights 1, S, S - b.n, that of E, that
        /// of G, g, and the components of the normal, all times w.
        template <typename Set>
        __device__ void
        weights(const HDGForm<dim> &form,
                const unsigned int  code,
                const Set          &set) const
        {
          set(0, w);
          set(1, w * S);
          set(2, w * difference);
          set(3, w * (form.conservative ? S : difference));
          set(4, code & 4u ? 0. : code & 2u ? w * (S + alpha) : w * difference);
          set(5, w * g);
#pragma unroll
          for (int d = 0; d < dim; ++d)
            set(6 + d, w * normal[d]);
        }

        /// True if there is some stabilisation.
        __device__ bool
        stabilised() const
        {
          return w != 0. && S + difference > 0.;
        }
      };

      /// Point @p r of a facet's point group with index @p number. w is zero
      /// unless @p valid.
      template <int dim>
      __device__ inline HDGFacetPoint<dim>
      facet_point_of(const HDGData<dim>       &P,
                     const HDGFacetPointGroup &point_group,
                     const unsigned int        number,
                     const unsigned int        r,
                     const bool                valid)
      {
        const HDGForm<dim> &form        = P.form;
        const unsigned int  rule_degree = point_group.code >> 4 & 15u;
        const unsigned int  n_points =
          n_facet_points<Cells::others>(P.D, point_group.facet, rule_degree);
        const unsigned int point = point_group.first + r;
        const unsigned int side  = point_group.code & 1u;
        HDGFacetPoint<dim> result;
        double             y[dim], normal[dim];
        const double       w = general_facet_point(P.D,
                                             point_group.facet,
                                             min(point, n_points - 1),
                                             rule_degree,
                                             y,
                                             normal);
        result.w             = valid && point < n_points ? w : 0.;
        double bn            = 0.;
#pragma unroll
        for (int d = 0; d < dim; ++d)
          {
            result.trace_x[d] = y[d];
            result.x[d] =
              side == 0 ? y[d]
                        : y[d] + P.D.shift[(point_group.code >> 8) * dim + d];
            result.normal[d] = side == 1 ? -normal[d] : normal[d];
            bn += form.b[d] * result.normal[d];
          }
        if (!form.advection)
          bn = 0.;
        else if (P.facet_table != nullptr)
          bn = P.facet_table[4 * (number - P.first_facet_point_group) + r];
        const double tau  = P.tau != nullptr
                              ? P.tau[2 * std::size_t(point_group.facet) + side]
                              : form.tau;
        result.S          = tau + (bn > 0. ? bn : 0.);
        result.difference = result.S - bn;
        result.g = result.alpha = 0.;
        if (point_group.boundary != invalid_index)
          {
            const double *t =
              P.boundary_table + 4 * std::size_t(point_group.boundary) + r;
            result.g     = t[0];
            result.alpha = t[P.n_boundary_points];
          }
        return result;
      }

      /// A quadrature point of the volume: point @p r of a point group. Behind
      /// the last point of the sub-cell, it is that point and not valid.
      template <int dim>
      struct HDGVolumePoint
      {
        const HDGData<dim> &P;
        unsigned int        subcell, point; ///< point in the sub-cell's rule
        bool                valid;
        double              x[dim], w;

        __device__ __forceinline__
        HDGVolumePoint(const HDGData<dim>        &P,
                       const HDGVolumePointGroup &point_group,
                       const unsigned int         r,
                       const unsigned int         rule_degree)
          : P(P)
          , subcell(point_group.subcell)
        {
          const unsigned int n_points =
            n_volume_points<Cells::others>(P.D, subcell, rule_degree);
          point = min(point_group.first + r, n_points - 1);
          valid = point_group.first + r < n_points;
          w     = general_volume_point(P.D, subcell, point, rule_degree, x);
        }

        /// Address of the point's value in the first volume table.
        __device__ const double *
        table() const
        {
          return P.volume_table +
                 (P.D.subcell_q[subcell] - P.first_volume_point) + point;
        }

        /// Value of f.
        __device__ double
        source() const
        {
          return P.form.table_f < 0
                   ? P.form.f
                   : table()[P.form.table_f * P.n_volume_points];
        }
      };

      /// The local problem of a polytope, with its arrays in a workspace. P:
      /// data of all kernels; L: layout of the workspace, which begins at base;
      /// k: polytope; n: its number of functions.
      template <int dim, HDGStage stage>
      struct HDGBlock
      {
        const HDGData<dim> &P;
        const HDGLayout    &L;
        double *const       base;
        const unsigned int  k;
        const unsigned int  n, degree;
        /// Trace functions of the polytope, and those that this kernel uses.
        const unsigned int n_all, n_traces;
        const unsigned int n_rows, n_mass, padded_n;
        /// Points of a slice, 2^32 / n_slice rounded up, and distance between
        /// rows of values at the points of a slice.
        unsigned int n_slice, inverse_slice, ld_slice;
        /// 2^32 / n rounded up.
        const unsigned int inverse_n;

        __device__
        HDGBlock(const HDGData<dim> &P,
                 const HDGLayout    &L,
                 double             *base,
                 const unsigned int  k)
          : P(P)
          , L(L)
          , base(base)
          , k(k)
          , n(P.D.n_basis[k])
          , degree(P.D.degree[k])
          , n_all((unsigned int)(P.trace_offset[k + 1] - P.trace_offset[k]))
          , n_traces(stage == HDGStage::volume ? 0 : n_all)
          , n_rows(n_traces + 1)
          , n_mass(tensor() ? dim * ((n + 3) / 4 * 4) : n)
          , padded_n((n + 3) / 4 * 4)
          , n_slice(L.n_points)
          , inverse_slice(0)
          , ld_slice(L.point_stride)
          , inverse_n(0xffffffffu / n + 1)
        {}

        /// Sets the size of a slice for the remaining @p n_point_groups point
        /// groups, or as many as fit. @p wide: only values are evaluated.
        __device__ void
        set_slice(const bool wide, const unsigned int n_point_groups)
        {
          n_slice       = min(wide ? L.n_wide : L.n_points, 4 * n_point_groups);
          ld_slice      = wide ? L.wide_stride : L.point_stride;
          inverse_slice = 0xffffffffu / n_slice + 1;
        }

        /// t / n, for t n below 2^32.
        __device__ unsigned int
        over_n(const unsigned int t) const
        {
          return n == 1 ? t : __umulhi(t, inverse_n);
        }

        /// t / n_slice, as in over_n().
        __device__ unsigned int
        row_of(const unsigned int t) const
        {
          return __umulhi(t, inverse_slice);
        }

        __device__ bool
        tensor() const
        {
          return P.form.tensor;
        }
        __device__ bool
        advection() const
        {
          return P.form.advection;
        }
        /// True if A is a multiple of the identity.
        __device__ bool
        diagonal() const
        {
          return L.diagonal;
        }

        /// True if a, b and c are constant. With an orthonormal basis, their
        /// integrals follow from derivatives of the functions.
        __device__ bool
        exact() const
        {
          return P.form.table_a < 0 && P.form.table_b < 0 && P.form.table_c < 0;
        }

        /// Rows of A (if it is stored), then of H^T and F^T for each component,
        /// or for all components at once if a is a tensor.
        __device__ double *
        H(const unsigned int block) const
        {
          return base +
                 (diagonal() ? L.flux
                             : L.mass + std::size_t(n_mass) * L.mass_stride) +
                 std::size_t(block) * n * L.mass_stride;
        }
        __device__ double *
        F(const unsigned int block) const
        {
          return H(L.n_blocks) + std::size_t(block) * n_rows * L.mass_stride;
        }
        /// Row m of Q, component d.
        __device__ double *
        flux_row(const unsigned int m, const unsigned int d) const
        {
          return tensor() ? F(0) + m * L.mass_stride + d * padded_n
                          : F(d) + m * L.mass_stride;
        }
        __device__ double *
        E() const
        {
          return base + L.schur;
        }
        __device__ double *
        R() const
        {
          return E() + std::size_t(n) * L.stride;
        }
        __device__ double *
        T() const
        {
          return advection() ? base + L.advection : R();
        }
        __device__ double *
        C() const
        {
          return base + L.transform;
        }
        __device__ double *
        M() const
        {
          return C() - std::size_t(n) * L.stride;
        }
        __device__ double *
        weight(const unsigned int i) const
        {
          return base + L.weights + i * n_slice;
        }
        __device__ double *
        x(const unsigned int d) const
        {
          return base + L.points + d * n_slice;
        }
        __device__ double *
        table(const unsigned int d, const bool derivative) const
        {
          return base + L.tables +
                 (derivative ? dim + d : d) * (L.max_degree + 1) * n_slice;
        }
        __device__ double *
        trace_vector(const unsigned int i) const
        {
          return base + L.vectors + i * n_rows;
        }

        __device__ static void
        zero(double *array, const std::size_t size)
        {
          for (std::size_t i = threadIdx.x; i < size; i += blockDim.x)
            array[i] = 0.;
        }

        /// Calls store(i, sum of value(i, q) for first <= q < last) for i <
        /// n_rows. Eight lanes share each sum.
        template <typename Value, typename Store>
        __device__ static void
        sum_rows(const unsigned int n_rows,
                 const unsigned int first,
                 const unsigned int last,
                 const Value       &value,
                 const Store       &store)
        {
          const unsigned int lane = threadIdx.x & 7u;
          for (unsigned int i0 = threadIdx.x / 32 * 4; i0 < n_rows;
               i0 += blockDim.x / 8)
            {
              const unsigned int i   = i0 + (threadIdx.x & 31u) / 8;
              double             sum = 0.;
              if (i < n_rows)
                for (unsigned int q = first + lane; q < last; q += 8)
                  sum += value(i, q);
              for (unsigned int s = 4; s > 0; s /= 2)
                sum += __shfl_xor_sync(~0u, sum, s);
              if (lane == 0 && i < n_rows)
                store(i, sum);
            }
        }

        // ---- quadrature

        /// Integrands of the volume, and the rule they use.
        enum class Volume
        {
          mass,   ///< squares, by the rule of mass_degree
          source, ///< f
          all
        };

        /// Evaluates points of the volume from point group `begin` on:
        /// coordinates, and integrands in weight: 0: w, 1: c, 2: f, 3..: b, 3 +
        /// dim ..: inverse of a. *stabilised is set if c is positive.
        __device__ void
        volume_points(const unsigned int begin,
                      const unsigned int end,
                      const Volume       what,
                      int               *stabilised) const
        {
          const bool mass_rule = what == Volume::mass;
          for (unsigned int q = threadIdx.x; q < n_slice; q += blockDim.x)
            {
              const unsigned int        i = min(begin + q / 4, end - 1);
              const HDGVolumePoint<dim> point(
                P,
                mass_rule ? P.mass_point_group[i] : P.volume_point_group[i],
                q % 4,
                mass_rule ? P.mass_degree[degree] : degree);
              const double w =
                begin + q / 4 < end && point.valid ? point.w : 0.;
              for (int d = 0; d < dim; ++d)
                x(d)[q] = point.x[d];
              weight(0)[q] = w;
              if (what == Volume::mass)
                continue;
              const HDGForm<dim> &form = P.form;
              const double       *t    = point.table();
              const auto at = [&](const int array, const double constant) {
                return w *
                       (array >= 0 ? t[array * P.n_volume_points] : constant);
              };
              weight(2)[q] = form.source ? at(form.table_f, form.f) : 0.;
              if (what == Volume::source)
                continue;
              weight(1)[q] = form.reaction ? at(form.table_c, form.c) : 0.;
              if (weight(1)[q] > 0.)
                *stabilised = 1;
              if (advection())
                for (int d = 0; d < dim; ++d)
                  weight(3 + d)[q] =
                    at(form.table_b >= 0 ? form.table_b + d : -1, form.b[d]);
              for (int d = 0; d < (tensor() ? dim * dim : 1); ++d)
                weight(3 + dim + d)[q] =
                  at(form.table_a >= 0 ? form.table_a + d : -1,
                     form.a_inverse[d]);
            }
          __syncthreads();
        }

        /// Legendre functions on the box at the points, as rows of `first`:
        /// values, and derivatives if @p gradients (row r of function i is row
        /// i (dim + 1) + r; without gradients, row i).
        __device__ void
        evaluate_box(const bool gradients) const
        {
          const double *box = P.D.box + 2 * dim * std::size_t(k);
          for (unsigned int t = threadIdx.x; t < dim * n_slice; t += blockDim.x)
            {
              const unsigned int d = row_of(t), q = t - d * n_slice;
              const double       lower = box[d], upper = box[dim + d],
                           reciprocal = 1. / (upper - lower),
                           root       = sqrt(reciprocal);
              write_legendre(degree,
                             (2. * x(d)[q] - lower - upper) * reciprocal,
                             root,
                             2. * reciprocal * root,
                             table(d, false) + q,
                             gradients ? table(d, true) + q : nullptr,
                             n_slice);
            }
          __syncthreads();
          double *const      out  = base + L.first;
          const unsigned int rows = gradients ? dim + 1 : 1;
          for (unsigned int t = threadIdx.x; t < n * n_slice; t += blockDim.x)
            {
              const unsigned int   i = row_of(t), q = t - i * n_slice;
              const unsigned char *e = P.D.exponents + dim * i;
              double               v[dim], dv[dim];
#pragma unroll
              for (int d = 0; d < dim; ++d)
                {
                  v[d] = table(d, false)[e[d] * n_slice + q];
                  if (gradients)
                    dv[d] = table(d, true)[e[d] * n_slice + q];
                }
              double value = v[0];
#pragma unroll
              for (int d = 1; d < dim; ++d)
                value *= v[d];
              double *const row = out + std::size_t(i * rows) * ld_slice + q;
              row[0]            = value;
              if (gradients)
#pragma unroll
                for (int r = 0; r < dim; ++r)
                  {
                    double product = 1.;
#pragma unroll
                    for (int d = 0; d < dim; ++d)
                      product *= d == r ? dv[d] : v[d];
                    row[(1 + r) * ld_slice] = product;
                  }
            }
          __syncthreads();
        }

        /// Transforms `first` to the orthonormal functions, in `second`.
        __device__ void
        transform_basis(const bool gradients) const
        {
          const unsigned int  rows = gradients ? dim + 1 : 1;
          const double *const from = base + L.first;
          double *const       to   = base + L.second;
          const double *const CT   = C();
          const unsigned int  ld = L.stride, ldq = ld_slice * rows;
          unsigned int        counter = 0;
          for (unsigned int r = 0; r < rows; ++r)
            block_product<2>(
              n,
              n_slice,
              padded_n,
              [&](const unsigned int i, const unsigned int j) {
                return j < n ? CT[j * ld + i] : 0.;
              },
              [&](const unsigned int q, const unsigned int j) {
                return j < n ? from[j * ldq + r * ld_slice + q] : 0.;
              },
              [&](const unsigned int i, const unsigned int q, const double v) {
                to[i * ldq + r * ld_slice + q] = v;
              },
              counter);
          __syncthreads();
        }

        // ---- basis

        __device__ void
        mass_matrix(const bool transformed)
        {
          const unsigned int begin = P.mass_begin[k], end = P.mass_begin[k + 1];
          double *const      M_ = M();
          zero(M_, std::size_t(n) * L.stride);
          for (unsigned int q = begin; q < end; q += n_slice / 4)
            {
              set_slice(true, end - q);
              volume_points(q, end, Volume::mass, nullptr);
              evaluate_box(false);
              if (transformed)
                transform_basis(false);
              const double *const values =
                base + (transformed ? L.second : L.first);
              unsigned int counter = 0;
              add_product(values,
                          values,
                          ld_slice,
                          weight(0),
                          M_,
                          L.stride,
                          true,
                          counter);
              __syncthreads();
            }
        }

        __device__ double *
        moments() const
        {
          return P.moments + std::size_t(k - P.first) * P.moments_stride;
        }

        /// Lower triangle of the mass matrix of the functions on the box. Ends
        /// with a barrier.
        __device__ void
        mass_of_moments(const double *moments) const
        {
          const double factor = inverse_measure_of_box();
          for (unsigned int at = threadIdx.x; at < n * (n + 1) / 2;
               at += blockDim.x)
            {
              // the largest i with i (i + 1) / 2 <= at
              unsigned int i =
                (unsigned int)(0.5f * (sqrtf(8.f * at + 1.f) - 1.f));
              while (i * (i + 1) / 2 > at)
                --i;
              while ((i + 1) * (i + 2) / 2 <= at)
                ++i;
              const unsigned int j   = at - i * (i + 1) / 2;
              double             v   = 0.;
              const unsigned int end = __ldg(P.product_begin + at + 1);
              for (unsigned int m = __ldg(P.product_begin + at); m < end; ++m)
                v += __ldg(P.product_factor + m) *
                     moments[__ldg(P.product_moment + m)];
              M()[i * L.stride + j] = factor * v;
            }
          __syncthreads();
        }

        __device__ double
        inverse_measure_of_box() const
        {
          const double *box    = P.D.box + 2 * dim * std::size_t(k);
          double        result = 1.;
#pragma unroll
          for (int d = 0; d < dim; ++d)
            result /= box[dim + d] - box[d];
          return result;
        }

        /// matrix(i, j) += sum over points of left_i weight right_j. @p lower
        /// and @p counter: see block_products().
        __device__ void
        add_product(const double      *left,
                    const double      *right,
                    const unsigned int ldq,
                    const double      *w,
                    double            *matrix,
                    const unsigned int ld,
                    const bool         lower,
                    unsigned int      &counter) const
        {
          block_product<2>(
            n,
            n,
            n_slice,
            [&](const unsigned int i, const unsigned int q) {
              return left[i * ldq + q] * w[q];
            },
            [&](const unsigned int j, const unsigned int q) {
              return right[j * ldq + q];
            },
            [&](const unsigned int i, const unsigned int j, const double v) {
              matrix[i * ld + j] += v;
            },
            counter,
            lower);
        }

        /// Factorises the mass matrix and solves for C below it. Ends with a
        /// barrier.
        __device__ void
        factorise_mass(int *bad) const
        {
          block_cholesky(n,
                         2 * n,
                         M(),
                         L.stride,
                         base + L.schur_inverse,
                         base + L.diagonal_entries,
                         bad);
          __syncthreads();
        }

        /// Computes coefficients of functions that are orthonormal on the
        /// polytope; see LocalBasis.
        __device__ bool
        orthonormalise(int *bad, double *sum)
        {
          const unsigned int ld = L.stride;
          double *const M_ = M(), *const CT = C();
          for (unsigned int pass = 0; pass < 6; ++pass)
            {
              bool   shifted   = false;
              double deviation = 0., largest = 0.;
              while (true)
                {
                  if (pass == 0 && P.moments != nullptr)
                    mass_of_moments(moments());
                  else
                    mass_matrix(pass > 0);
                  if (threadIdx.x < 32)
                    {
                      double square = 0., diagonal = 0.;
                      for (unsigned int i = threadIdx.x; i < n; i += 32)
                        {
                          const double m = M_[i * ld + i] - 1.;
                          diagonal       = fmax(diagonal, M_[i * ld + i]);
                          square += m * m;
                          for (unsigned int j = 0; j < i; ++j)
                            square += 2. * M_[i * ld + j] * M_[i * ld + j];
                        }
                      for (unsigned int s = 16; s > 0; s /= 2)
                        {
                          square += __shfl_xor_sync(~0u, square, s);
                          diagonal =
                            fmax(diagonal, __shfl_xor_sync(~0u, diagonal, s));
                        }
                      if (threadIdx.x == 0)
                        {
                          sum[0] = square;
                          sum[1] = diagonal;
                          *bad   = 0;
                        }
                    }
                  if (pass == 0)
                    for (unsigned int e = threadIdx.x; e < n * n;
                         e += blockDim.x)
                      CT[e / n * ld + e % n] = e / n == e % n ? 1. : 0.;
                  __syncthreads();
                  deviation = sum[0];
                  largest   = sum[1];
                  if (shifted)
                    for (unsigned int i = threadIdx.x; i < n; i += blockDim.x)
                      M_[i * ld + i] += 1e-13 * n * largest;
                  __syncthreads();
                  factorise_mass(bad);
                  const bool failed = *bad != 0;
                  __syncthreads();
                  if (!failed)
                    break;
                  // Try again with a shift; only the first pass needs one.
                  if (shifted || pass > 0 || !(largest > 0.))
                    return false;
                  shifted = true;
                }
              if (exact())
                add_inverse(M_, pass);
              if (pass == 0)
                {
                  if (!shifted && well_conditioned(largest, sum))
                    return true;
                }
              else if (deviation < 1e-6)
                return true;
            }
          return false;
        }

        /// The coefficients tell how close to dependent the functions were.
        /// Returns true if they come from a good factorisation of a
        /// well-conditioned matrix, whose largest diagonal entry was @p
        /// largest. Begins and ends with a barrier.
        __device__ bool
        well_conditioned(const double largest, double *sum) const
        {
          const unsigned int  ld = L.stride;
          const double *const CT = C();
          __syncthreads();
          if (threadIdx.x < 32)
            {
              double square = 0.;
              for (unsigned int e = threadIdx.x; e < n * n; e += 32)
                {
                  const unsigned int i = over_n(e);
                  const double       c = CT[i * ld + e - i * n];
                  square += c * c;
                }
              for (unsigned int s = 16; s > 0; s /= 2)
                square += __shfl_xor_sync(~0u, square, s);
              if (threadIdx.x == 0)
                sum[0] = square;
            }
          __syncthreads();
          // This times rounding bounds the error of products of functions.
          const bool result = sum[0] * largest < 4000.;
          __syncthreads();
          return result;
        }

        /// The first pass of orthonormalise(), from the lower triangle of the
        /// mass matrix. Returns false if one pass does not suffice.
        __device__ bool
        basis_of_mass(int *bad, double *sum) const
        {
          const unsigned int ld = L.stride;
          double *const M_ = M(), *const CT = C();
          if (threadIdx.x < 32)
            {
              double diagonal = 0.;
              for (unsigned int i = threadIdx.x; i < n; i += 32)
                diagonal = fmax(diagonal, M_[i * ld + i]);
              for (unsigned int s = 16; s > 0; s /= 2)
                diagonal = fmax(diagonal, __shfl_xor_sync(~0u, diagonal, s));
              if (threadIdx.x == 0)
                {
                  sum[1] = diagonal;
                  *bad   = 0;
                }
            }
          for (unsigned int i = threadIdx.x; i < n; i += blockDim.x)
            CT[i * ld + i] = 1.;
          __syncthreads();
          const double largest = sum[1];
          factorise_mass(bad);
          if (*bad != 0)
            return false;
          add_inverse(M_, 0);
          return well_conditioned(largest, sum);
        }

        /// Updates the inverse of C, in E(): the product of the factors of all
        /// passes. @p factor is the last one. Ends with a barrier.
        __device__ void
        add_inverse(const double *factor, const unsigned int pass) const
        {
          const unsigned int ld      = L.stride;
          double *const      inverse = E();
          if (pass == 0)
            for (unsigned int e = threadIdx.x; e < n * n; e += blockDim.x)
              {
                const unsigned int i = over_n(e), j = e - i * n;
                inverse[i * ld + j] = j <= i ? factor[i * ld + j] : 0.;
              }
          else
            for (unsigned int i = threadIdx.x; i < n; i += blockDim.x)
              for (unsigned int j = 0; j <= i; ++j)
                {
                  double sum = 0.;
                  for (unsigned int l = j; l <= i; ++l)
                    sum += inverse[i * ld + l] * factor[l * ld + j];
                  inverse[i * ld + j] = sum;
                }
          __syncthreads();
        }

        // ---- integrals

        /// Adds int f phi_i for functions with values phi[i ldq + q], and the
        /// integral of |f|.
        __device__ void
        source_integrals(const double      *phi,
                         const unsigned int ldq,
                         double            *load,
                         double            *abs_f) const
        {
          sum_rows(
            n + 1,
            0,
            n_slice,
            [&](const unsigned int i, const unsigned int q) {
              return i < n ? weight(2)[q] * phi[i * ldq + q]
                           : fabs(weight(2)[q]);
            },
            [&](const unsigned int i, const double v) {
              *(i < n ? load + i : abs_f) += v;
            });
        }

        /// Integrals of f times the functions on the box, and of |f|. Each
        /// thread loops over its points and sums for several functions at a
        /// time. Ends with a barrier.
        __device__ void
        source_on_box(double *sums, double *abs_f) const
        {
          constexpr unsigned int batch = 20;
          const unsigned int     lane = threadIdx.x & 31u, warp = this_warp();
          const unsigned int     begin = P.volume_begin[k],
                             n_points  = 4 * (P.volume_begin[k + 1] - begin);
          double *const table =
                          base + L.first +
                          warp * dim * (L.max_degree + 1) * hdg_warp_points +
                          lane,
                        *const partial = base + L.schur_inverse;
          for (unsigned int i0 = 0; i0 < n; i0 += batch)
            {
              double             sum[batch + 1] = {};
              const unsigned int rows =
                rows_of_function(P, min(i0 + lane, n - 1), degree);
              for (unsigned int q0 = 32 * warp; q0 < n_points; q0 += blockDim.x)
                {
                  const unsigned int        q = min(q0 + lane, n_points - 1);
                  const HDGVolumePoint<dim> point(
                    P, P.volume_point_group[begin + q / 4], q % 4, degree);
                  double f = point.w * point.source();
                  if (q0 + lane >= n_points || !point.valid)
                    f = 0.;
                  write_tables_of_box(P, k, degree, point.x, table);
#pragma unroll
                  for (unsigned int i = 0; i < batch; ++i)
                    if (i0 + i < n)
                      sum[i] += product_of_rows<dim>(__shfl_sync(~0u, rows, i),
                                                     f,
                                                     table);
                  if (i0 == 0)
                    sum[batch] += fabs(f);
                }
#pragma unroll
              for (unsigned int i = 0; i <= batch; ++i)
                {
                  for (unsigned int s = 16; s > 0; s /= 2)
                    sum[i] += __shfl_xor_sync(~0u, sum[i], s);
                  if (threadIdx.x % 32 == 0 && (i == batch || i0 + i < n))
                    partial[threadIdx.x / 32 + i * (blockDim.x / 32)] = sum[i];
                }
              __syncthreads();
              for (unsigned int i = threadIdx.x; i <= batch; i += blockDim.x)
                if (i == batch || i0 + i < n)
                  {
                    double all = 0.;
                    for (unsigned int j = 0; j < blockDim.x / 32; ++j)
                      all += partial[i * (blockDim.x / 32) + j];
                    if (i < batch)
                      sums[i0 + i] = all;
                    else
                      *abs_f += all;
                  }
              __syncthreads();
            }
        }

        /// Alternative to volume_integrals() for constant a, b and c: only f is
        /// integrated. If abs_f is null, the integrals of f with functions on
        /// the box already replace the diagonal entries. E() holds the inverse
        /// of the basis' coefficients.
        __device__ void
        exact_integrals(double *abs_f, int *stabilised)
        {
          const HDGForm<dim> &form = P.form;
          const unsigned int  ld = L.stride, ldm = L.mass_stride;
          const double *const CT = C(), *const inverse = E();
          const double *box  = P.D.box + 2 * dim * std::size_t(k);
          const auto    H_of = [&](const unsigned int d) {
            return tensor() ? H(0) + d * padded_n : H(d);
          };
          // ---- d psi_j / d x_d in functions on the box, as column j of H
          for (unsigned int t = threadIdx.x; t < dim * n * n; t += blockDim.x)
            {
              const unsigned int q = over_n(t), j = t - q * n, d = over_n(q),
                                 l = q - d * n, e = d * L.n_basis + l,
                                 end = P.derivative_begin[e + 1];
              double sum             = 0.;
              for (unsigned int i = P.derivative_begin[e]; i < end; ++i)
                {
                  const unsigned int m = P.derivative_function[i];
                  if (m <= j)
                    sum += P.derivative_factor[i] * CT[m * ld + j];
                }
              H_of(d)[l * ldm + j] = 2. / (box[dim + d] - box[d]) * sum;
            }
          __syncthreads();
          // ---- transform to orthonormal functions: a warp goes down its
          // columns, whose lower entries suffice for the upper ones
          {
            const unsigned int lane = threadIdx.x & 31u, g = lane / 4,
                               t = lane % 4, n_tiles = (n + 7) / 8;
            for (unsigned int tile = this_warp(); tile < dim * n_tiles;
                 tile += blockDim.x / 32)
              {
                double *const      to = H_of(tile / n_tiles);
                const unsigned int j0 = tile % n_tiles * 8,
                                   j  = min(j0 + g, n - 1);
                for (unsigned int i0 = 0; i0 < n; i0 += 16)
                  {
                    double             c[2][1][2] = {};
                    const unsigned int row[2]     = {min(i0 + g, n - 1),
                                                     min(i0 + 8 + g, n - 1)};
                    for (unsigned int first = i0; first < padded_n; first += 4)
                      {
                        const unsigned int l  = first + t;
                        const bool         in = l < n;
                        const double a[2] = {in ? inverse[l * ld + row[0]] : 0.,
                                             in ? inverse[l * ld + row[1]]
                                                : 0.},
                                     b[1] = {in ? to[l * ldm + j] : 0.};
                        add_products(c, a, b);
                      }
                    __syncwarp();
                    visit_values(c,
                                 i0,
                                 j0,
                                 [&](const unsigned int i,
                                     const unsigned int column,
                                     const double       v) {
                                   if (i < n && column < n)
                                     to[i * ldm + column] = v;
                                 });
                    __syncwarp();
                  }
              }
          }
          __syncthreads();
          // ---- A and E
          if (!diagonal())
            for (unsigned int t = threadIdx.x; t < dim * dim * n;
                 t += blockDim.x)
              {
                const unsigned int d = t / n / dim, e = t / n % dim, i = t % n;
                if (e <= d)
                  base[L.mass + std::size_t(d * padded_n + i) * ldm +
                       e * padded_n + i] = form.a_inverse[d * dim + e];
              }
          for (unsigned int t = threadIdx.x; t < n * ld; t += blockDim.x)
            {
              const unsigned int i = t / ld, j = t % ld;
              double             sum = i == j && form.reaction ? form.c : 0.;
              if (advection() && j < n)
                for (int d = 0; d < dim; ++d)
                  sum += form.b[d] * (form.conservative ? -H_of(d)[j * ldm + i]
                                                        : H_of(d)[i * ldm + j]);
              E()[t] = sum;
            }
          if (form.reaction && form.c > 0. && threadIdx.x == 0)
            *stabilised = 1;
          if (!form.source)
            return;
          // ---- f, first in functions on the box
          double *const        load = T() + std::size_t(n_traces) * ld,
                        *const sums = base + L.diagonal_entries;
          if (abs_f != nullptr)
            source_on_box(sums, abs_f);
          for (unsigned int i = threadIdx.x; i < n; i += blockDim.x)
            {
              double sum = 0.;
              for (unsigned int j = 0; j <= i; ++j)
                sum += CT[j * ld + i] * sums[j];
              load[i] = sum;
            }
        }

        /// Integrals over the volume, by quadrature.
        __device__ void
        volume_integrals(double *abs_f, int *stabilised)
        {
          const HDGForm<dim> &form  = P.form;
          const unsigned int  begin = P.volume_begin[k],
                             end    = P.volume_begin[k + 1];
          const double *const phi   = base + L.second;
          const unsigned int  ldq   = (dim + 1) * L.point_stride;
          for (unsigned int slice = begin; slice < end; slice += n_slice / 4)
            {
              set_slice(false, end - slice);
              volume_points(slice, end, Volume::all, stabilised);
              evaluate_box(true);
              transform_basis(true);
              unsigned int counter = 0;
              if (!diagonal())
                for (int d = 0; d < (tensor() ? dim : 1); ++d)
                  for (int e = 0; e <= d; ++e)
                    add_product(phi,
                                phi,
                                ldq,
                                weight(3 + dim + d * dim + e),
                                base + L.mass +
                                  std::size_t(d) * padded_n * L.mass_stride +
                                  e * padded_n,
                                L.mass_stride,
                                d == e,
                                counter);
              for (int d = 0; d < dim; ++d)
                add_product(phi,
                            phi + (1 + d) * ld_slice,
                            ldq,
                            weight(0),
                            tensor() ? H(0) + d * padded_n : H(d),
                            L.mass_stride,
                            false,
                            counter);
              if (advection())
                {
                  // div(b u) tests with -b . grad phi_i.
                  const bool conservative = form.conservative;
                  const auto directional  = [&](const unsigned int i,
                                               const unsigned int q) {
                    double sum = 0.;
#pragma unroll
                    for (int d = 0; d < dim; ++d)
                      sum += weight(3 + d)[q] *
                             phi[i * ldq + (1 + d) * ld_slice + q];
                    return sum;
                  };
                  block_product<1>(
                    n,
                    n,
                    n_slice,
                    [&](const unsigned int i, const unsigned int q) {
                      return conservative ? weight(1)[q] * phi[i * ldq + q] -
                                              directional(i, q)
                                          : phi[i * ldq + q];
                    },
                    [&](const unsigned int j, const unsigned int q) {
                      return conservative ? phi[j * ldq + q]
                                          : weight(1)[q] * phi[j * ldq + q] +
                                              directional(j, q);
                    },
                    [&](const unsigned int i,
                        const unsigned int j,
                        const double       v) {
                      E()[i * L.stride + j] += v;
                    },
                    counter);
                }
              else if (form.reaction)
                add_product(
                  phi, phi, ldq, weight(1), E(), L.stride, true, counter);
              if (form.source)
                source_integrals(phi,
                                 ldq,
                                 T() + std::size_t(n_traces) * L.stride,
                                 abs_f);
              __syncthreads();
            }
        }

        // ---- elimination

        /// Fills K and the right-hand side. If @p recovery, the rows of T() and
        /// flux_row() then hold U and Q. *bad is set to 1 if A is singular, to
        /// 2 if the Schur complement is.
        __device__ bool
        eliminate(double *K, const bool recovery, int *bad) const
        {
          const HDGForm<dim> &form = P.form;
          const unsigned int  ldm = L.mass_stride, ld = L.stride;
          const unsigned int  depth = (n_mass + 3) / 4 * 4;
          // ---- V = L^-1 H, W = L^-1 F, rows below A
          if (threadIdx.x == 0)
            *bad = 0;
          if (!diagonal())
            {
              // The padding is the identity.
              if (tensor())
                for (unsigned int i = threadIdx.x; i < n_mass; i += blockDim.x)
                  if (i % padded_n >= n)
                    base[L.mass + std::size_t(i) * (ldm + 1)] = 1.;
              __syncthreads();
              block_cholesky(n_mass,
                             n_mass + L.n_blocks * (n + n_rows),
                             base + L.mass,
                             ldm,
                             base + L.inverse,
                             base + L.diagonal_entries,
                             bad);
              if (*bad != 0)
                return false;
            }
          __syncthreads();
          // Factor of the products of V and W, if A is a multiple of the
          // identity.
          const double factor = diagonal() ? form.a : 1.;

          // ---- Schur complement; Y_R and Y_T
          unsigned int counter  = 0;
          const auto   row_of_V = [&](const unsigned int d,
                                    const unsigned int j,
                                    const unsigned int l) {
            return H(d)[j * ldm + l];
          };
          block_products<2>(
            L.n_blocks,
            n,
            n,
            depth,
            row_of_V,
            row_of_V,
            [&](const unsigned int i, const unsigned int j, const double v) {
              E()[i * ld + j] += factor * v;
            },
            counter,
            !advection());
          block_products<2>(
            L.n_blocks,
            n_traces,
            n,
            depth,
            [&](const unsigned int d,
                const unsigned int m,
                const unsigned int l) { return F(d)[m * ldm + l]; },
            row_of_V,
            [&](const unsigned int m, const unsigned int j, const double v) {
              R()[m * ld + j] += factor * v;
              if (advection())
                T()[m * ld + j] += factor * v;
            },
            counter);
          __syncthreads();

          // ---- U; without advection L^-1 Y
          if (advection())
            block_solve(
              n, E(), ld, n_rows, T(), ld, base + L.diagonal_entries, bad);
          else
            block_cholesky(n,
                           n + n_rows,
                           E(),
                           ld,
                           base + L.schur_inverse,
                           base + L.diagonal_entries,
                           bad);
          __syncthreads();
          if (*bad != 0)
            {
              __syncthreads();
              if (threadIdx.x == 0)
                *bad = 2;
              __syncthreads();
              return false;
            }

          // ---- K, and -K lambda_f
          products_of_traces(K, factor, depth);
          if (!recovery)
            {
              __syncthreads();
              return true;
            }

          // ---- U and Q: L^-T (W - V u)
          if (!advection())
            block_backward(n, E(), ld, base + L.schur_inverse, n_rows, R(), ld);
          else
            __syncthreads();
          counter = 0;
          for (unsigned int d = 0; d < L.n_blocks; ++d)
            {
              const double *const V = H(d);
              double *const       W = F(d);
              const double *const U = T();
              block_product<2>(
                n_rows,
                n_mass,
                padded_n,
                [&](const unsigned int m, const unsigned int i) {
                  return U[m * ld + i];
                },
                [&](const unsigned int j, const unsigned int i) {
                  return i < n ? V[i * ldm + j] : 0.;
                },
                [&](const unsigned int m,
                    const unsigned int j,
                    const double       v) {
                  W[m * ldm + j] = factor * (W[m * ldm + j] - v);
                },
                counter);
            }
          if (!diagonal())
            block_backward(n_mass,
                           base + L.mass,
                           ldm,
                           base + L.inverse,
                           L.n_blocks * n_rows,
                           F(0),
                           ldm);
          __syncthreads();
          return true;
        }

        /// K, and its product with the traces of f, from solutions in R() and
        /// T().
        __device__ void
        products_of_traces(double            *K,
                           const double       factor,
                           const unsigned int depth) const
        {
          const unsigned int  ld   = L.stride;
          const double *const left = R(), *const right = T();
          if (n_traces > 0)
            {
              unsigned int counter = 0;
              block_product_of_traces(K, left, right, factor, depth, counter);
            }
          double *const load = trace_vector(2);
          for (unsigned int m = threadIdx.x; m < n_traces; m += blockDim.x)
            {
              double sum = 0.;
              for (unsigned int i = 0; i < n; ++i)
                sum += left[m * ld + i] * right[n_traces * ld + i];
              load[m] = sum;
            }
        }

        /// Adds F^T A^-1 F - Y_R^T Z Y_T to K where facet kernels have written
        /// K (see trace_vector(3)), else stores it. The result is symmetric
        /// without advection.
        __device__ void
        block_product_of_traces(double            *K,
                                const double      *left,
                                const double      *right,
                                const double       factor,
                                const unsigned int depth,
                                unsigned int      &counter) const
        {
          const unsigned int lane = threadIdx.x & 31u, warp = this_warp(),
                             n_warps = blockDim.x / 32, g = lane / 4,
                             t    = lane % 4;
          const unsigned int  ldm = L.mass_stride, ld = L.stride;
          const bool          symmetric = !advection();
          const double *const patch     = trace_vector(3);
          for (unsigned int i0 = 0; i0 < n_traces; i0 += 16)
            for (unsigned int j0 = 0; j0 < n_traces; j0 += 16)
              {
                if (symmetric && j0 > i0)
                  break;
                const bool mine = counter == warp;
                counter         = counter + 1 == n_warps ? 0 : counter + 1;
                if (!mine)
                  continue;
                double             c[2][2][2] = {};
                const unsigned int row[2]     = {min(i0 + g, n_traces - 1),
                                                 min(i0 + 8 + g, n_traces - 1)},
                                   column[2]  = {min(j0 + g, n_traces - 1),
                                                 min(j0 + 8 + g, n_traces - 1)};
                const auto add                = [&](const double      *A,
                                     const double      *B,
                                     const unsigned int stride,
                                     const unsigned int n_columns) {
#pragma unroll 2
                  for (unsigned int first = 0; first < n_columns; first += 4)
                    {
                      const unsigned int l    = first + t;
                      const double       a[2] = {A[row[0] * stride + l],
                                                 A[row[1] * stride + l]},
                                   b[2]       = {B[column[0] * stride + l],
                                                 B[column[1] * stride + l]};
                      add_products(c, a, b);
                    }
                };
                for (unsigned int d = 0; d < L.n_blocks; ++d)
                  add(F(d), F(d), ldm, depth);
                // The sums are the negative of the result.
                visit_values(c,
                             0,
                             0,
                             [&](const unsigned int,
                                 const unsigned int,
                                 double &v) { v *= -factor; });
                add(left, right, ld, padded_n);
                visit_values(
                  c,
                  i0,
                  j0,
                  [&](const unsigned int i,
                      const unsigned int j,
                      const double       sum) {
                    if (i >= n_traces || j >= n_traces || (symmetric && j > i))
                      return;
                    const bool written = patch[i] == patch[j] && patch[i] > 0.;
                    const double v =
                      written ? K[std::size_t(i) * n_traces + j] - sum : -sum;
                    K[std::size_t(i) * n_traces + j] = v;
                    if (symmetric && i != j)
                      K[std::size_t(j) * n_traces + i] = v;
                  });
              }
        }

        /// Stores the results of the polytope in global memory.
        __device__ void
        store(const double *K, const bool recovery) const
        {
          const std::uint64_t first    = P.trace_offset[k];
          const unsigned int  begin    = P.D.polytope_interface_offset[k],
                             end       = P.D.polytope_interface_offset[k + 1];
          const double *const integral = trace_vector(0), *const data =
                                                            trace_vector(1);
          double *const load = trace_vector(2);
          // The markers of patches are not needed any more.
          double *const given     = trace_vector(3);
          bool          dirichlet = false;
          for (unsigned int e = begin; e < end; ++e)
            dirichlet = dirichlet || (P.entry_fixed[e] & 1);
          for (unsigned int m = threadIdx.x; m < n_traces; m += blockDim.x)
            {
              bool fixed = false;
              for (unsigned int e = begin; e < end; ++e)
                if (P.entry_row[e] <= m)
                  fixed = P.entry_fixed[e] & 1;
              const double value     = fixed ? load[m] : data[m] + load[m];
              P.integral[first + m]  = integral[m];
              P.dirichlet[first + m] = given[m] = fixed ? data[m] : 0.;
              if (dirichlet)
                load[m] = value;
              else
                P.rhs[first + m] = value;
            }
          if (dirichlet)
            {
              __syncthreads();
              sum_rows(
                n_traces,
                0,
                n_traces,
                [&](const unsigned int m, const unsigned int j) {
                  return K[std::size_t(m) * n_traces + j] * given[j];
                },
                [&](const unsigned int m, const double v) {
                  P.rhs[first + m] = load[m] - v;
                });
            }
          if (!recovery)
            return;
          double *const to = P.solvers + P.solver_offset[k] - P.first_solver;
          const double *const U = T();
          for (unsigned int e = threadIdx.x; e < n_rows * n; e += blockDim.x)
            {
              const unsigned int m = over_n(e), i = e - m * n;
              double *const      row = to + std::size_t(m) * (dim + 1) * n + i;
              row[0]                 = U[m * L.stride + i];
              for (int d = 0; d < dim; ++d)
                row[(d + 1) * n] = flux_row(m, d)[i];
            }
        }

        // ---- data between kernels

        __device__ static void
        copy(double *to, const double *from, const std::size_t size)
        {
          // Several loads are in flight at a time.
          constexpr unsigned int batch = 8;
          for (std::size_t begin = threadIdx.x; begin < size;
               begin += batch * blockDim.x)
            {
              double values[batch];
#pragma unroll
              for (unsigned int j = 0; j < batch; ++j)
                if (begin + j * blockDim.x < size)
                  values[j] = from[begin + j * blockDim.x];
#pragma unroll
              for (unsigned int j = 0; j < batch; ++j)
                if (begin + j * blockDim.x < size)
                  to[begin + j * blockDim.x] = values[j];
            }
        }

        __device__ double *
        transform_of_polytope() const
        {
          return P.transforms + std::size_t(k - P.first) * L.n_basis * L.stride;
        }

        /// Stores integrals over the volume in the arrays of @p whole.
        __device__ void
        store_volume(const HDGBlock<dim, HDGStage::elimination> &whole) const
        {
          const std::size_t ldm = L.mass_stride, ld = L.stride,
                            f = whole.n_traces;
          if (!diagonal())
            copy(whole.base + whole.L.mass, base + L.mass, n_mass * ldm);
          copy(whole.H(0), H(0), L.n_blocks * n * ldm);
          for (unsigned int d = 0; d < L.n_blocks; ++d)
            zero(whole.F(d) + f * ldm, ldm);
          copy(whole.E(), E(), n * ld);
          copy(whole.R() + f * ld, R(), ld);
          if (advection())
            copy(whole.T() + f * ld, T(), ld);
          copy(transform_of_polytope(), C(), n * ld);
          if (P.solvers == nullptr)
            return;
          double *const coefficients =
            P.solvers + P.solver_offset[k] - P.first_solver +
            std::size_t(whole.n_rows) * (dim + 1) * n;
          for (unsigned int e = threadIdx.x; e < n * n; e += blockDim.x)
            coefficients[e] = C()[e / n * ld + e % n];
        }

        /// Loads the results of the volume and facet kernels.
        __device__ void
        load(const HDGBlock<dim, HDGStage::elimination> &whole,
             const double                               *partial) const
        {
          const std::size_t ld = L.stride;
          copy(base, whole.base, F(L.n_blocks) - base);
          copy(R(), whole.R(), n_rows * ld);
          if (advection())
            copy(T(), whole.T(), n_rows * ld);
          for (unsigned int i = 0; i < 4; ++i)
            if (i != 2)
              copy(trace_vector(i), whole.trace_vector(i), n_traces);
          whole.add_facets(E(), partial);
        }

        /// Writes to @p to, which has the layout of E(), the contributions of
        /// volume and facets. Only the lower triangle is written if that is
        /// enough.
        __device__ void
        add_facets(double *to, const double *partial) const
        {
          const std::size_t  ld        = L.stride;
          const unsigned int n_entries = P.D.polytope_interface_offset[k + 1] -
                                         P.D.polytope_interface_offset[k];
          for (unsigned int entry = threadIdx.x; entry < n * n;
               entry += blockDim.x)
            {
              const unsigned int i = over_n(entry), j = entry - i * n,
                                 at = i * ld + j;
              if (j > i && !advection())
                continue;
              double sum = E()[at];
#pragma unroll 4
              for (unsigned int e = 0; e < n_entries; ++e)
                sum += partial[std::size_t(e) * L.n_basis * ld + at];
              to[at] = sum;
            }
        }
      };



      /// The arrays of a polytope in global memory that elimination reads.
      template <int dim>
      __device__ inline HDGBlock<dim, HDGStage::elimination>
      state_of(const HDGData<dim> &P, const unsigned int k)
      {
        return {P,
                P.state_layout,
                P.state + std::size_t(k - P.first) * P.state_layout.inverse,
                k};
      }



      /// Records the first polytope that fails.
      template <int dim>
      __device__ inline void
      fail(const HDGData<dim> &P, const unsigned int k, const HDGFailure what)
      {
        atomicMin(P.failure, (unsigned long long)k << 8 | (unsigned int)what);
      }



      // Kernels of local problems. Workspaces are in shared memory if @p
      // in_shared, else in global memory. This is a template parameter so that
      // the compiler uses addresses of shared memory.

      /// Basis and integrals over the volume, one thread block for each
      /// polytope.
      template <int dim, bool in_shared>
      __global__ void __launch_bounds__(256, 2)
        hdg_volume_kernel(const __grid_constant__ HDGData<dim> P)
      {
        extern __shared__ double shared[];
        __shared__ double        sum[2];
        __shared__ double        abs_f;
        __shared__ int           bad, stabilised;
        double *const            base =
          in_shared ? shared : P.workspace + blockIdx.x * P.layout.size;
        using Block = HDGBlock<dim, HDGStage::volume>;
        const unsigned int n_problems =
          P.part_is_done ? P.undone[0] : P.last - P.first;
        if (blockIdx.x >= n_problems)
          return;
        // The padding stays zero.
        Block::zero(base, P.layout.size);
        __syncthreads();
        for (unsigned int i = blockIdx.x; i < n_problems; i += gridDim.x)
          {
            const unsigned int k =
              P.part_is_done ? P.undone[1 + i] : P.first + i;
            Block block(P, P.layout, base, k);
            if (threadIdx.x == 0)
              {
                abs_f      = 0.;
                stabilised = 0;
              }
            const bool good = block.orthonormalise(&bad, sum);
            __syncthreads();
            // The mass matrix has overwritten some of this.
            Block::zero(base, P.layout.transform);
            Block::zero(block.R(), block.n_rows * P.layout.stride);
            if (!block.exact())
              Block::zero(base + P.layout.schur,
                          P.layout.schur_inverse - P.layout.schur);
            __syncthreads();
            if (good)
              {
                if (block.exact())
                  block.exact_integrals(&abs_f, &stabilised);
                else
                  block.volume_integrals(&abs_f, &stabilised);
                __syncthreads();
                block.store_volume(state_of(P, k));
              }
            if (threadIdx.x == 0)
              {
                P.abs_f[k]  = abs_f;
                P.status[k] = (stabilised ? hdg_stabilised : 0) |
                              (good ? 0 : hdg_failed) |
                              (P.part_is_done ? hdg_undone : 0);
                if (!good)
                  fail(P, k, HDGFailure::basis);
              }
            __syncthreads();
          }
      }



      /// K and the data for recovery, from all integrals. One thread block for
      /// each polytope of the list.
      template <int dim, bool in_shared>
      __global__ void __launch_bounds__(512)
        hdg_elimination_kernel(const __grid_constant__ HDGData<dim> P)
      {
        extern __shared__ double shared[];
        __shared__ int           bad;
        double *const            base =
          in_shared ? shared : P.workspace + blockIdx.x * P.layout.size;
        using Block = HDGBlock<dim, HDGStage::elimination>;
        for (unsigned int l = blockIdx.x; l < P.n_listed; l += gridDim.x)
          {
            const unsigned int k      = P.list[l];
            const unsigned int status = P.status[k];
            if (status & hdg_failed)
              continue;
            const Block block(P, P.layout, base, k);
            block.load(state_of(P, k),
                       P.partial +
                         std::size_t(P.D.polytope_interface_offset[k] -
                                     P.first_entry) *
                           P.layout.n_basis * P.layout.stride);
            __syncthreads();
            double *const K = P.K + (P.square_offset[k] - P.first_square);
            const bool    recovery = P.solvers != nullptr;
            const bool    good     = block.eliminate(K, recovery, &bad);
            __syncthreads();
            if (good)
              block.store(K, recovery);
            if (threadIdx.x == 0)
              {
                if (!(status & hdg_stabilised))
                  fail(P, k, HDGFailure::no_stabilisation);
                else if (!good)
                  fail(P,
                       k,
                       bad == 1 ? HDGFailure::diffusion
                                : HDGFailure::schur_complement);
              }
            __syncthreads();
          }
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
