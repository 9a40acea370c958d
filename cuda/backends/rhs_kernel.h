// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_backends_rhs_kernel_h
#define tessella_cuda_backends_rhs_kernel_h

#include "basis.h"

// Kernels for the right-hand side.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Right-hand side for 8 T functions of a polytope. Lane 4 g + r sums
      /// functions g, g + 8, ... at every fourth point, beginning with point r.
      /// P: degree, or -1 if it is known at run time only; k: polytope; i0:
      /// first function; n: number of functions; x, pair: positions of the
      /// lane's functions in the tables.
      template <int dim, int P, int T, typename Number>
      struct RhsKernel
      {
        using Slots = Batch<dim, P, Number>;

        const Data<dim>   &D;
        const unsigned int k, i0, n, g, r;
        Slots              slots;
        unsigned int       x[T], pair[T];
        Number             sum[T];

        __device__
        RhsKernel(const Data<dim>   &D,
                  const unsigned int n_slots,
                  const unsigned int k,
                  const unsigned int i0,
                  void              *shared)
          : D(D)
          , k(k)
          , i0(i0)
          , n(D.n_basis[k])
          , g((threadIdx.x & 31u) >> 2)
          , r(threadIdx.x & 3u)
          , slots(D, n_slots, shared)
        {
#pragma unroll
          for (int t = 0; t < T; ++t)
            {
              const unsigned int position =
                table_position(D, i0 + 8 * t + g, n, D.degree[k]);
              x[t]    = (position >> 16) * slots.stride + r;
              pair[t] = (position & 0xffffu) * slots.stride + r;
              sum[t]  = 0.;
            }
        }

        /// Adds the point groups [begin, end): those of the volume, followed by
        /// those of boundary facets.
        __device__ void
        compute(const unsigned int begin, const unsigned int end)
        {
          const Row          row = D.rows[k];
          const unsigned int n_v = row.volume_end - row.volume_begin,
                             n_f = row.facet_end - row.boundary_begin;
          add_volume(
            {row.volume_begin + begin, row.volume_begin + min(end, n_v), 0, 0});
          if (end > n_v)
            add_boundary(row.boundary_begin + max(begin, n_v) - n_v,
                         row.boundary_begin + min(end - n_v, n_f));
        }

        __device__ void
        add_volume(const VolumeRange &range)
        {
          if (!D.form.source())
            return;
          const unsigned int n_point_groups = slots.n_slots / 4;
          VolumeSlot         slot = slots.volume_slot(range, range.begin);
          for (unsigned int begin = range.begin; begin < range.end;
               begin += n_point_groups)
            {
              slots.template fill_volume<false>(k, slot);
              slot = slots.volume_slot(range, begin + n_point_groups);
              const unsigned int n = min(range.end - begin, n_point_groups);
#pragma unroll 1
              for (unsigned int m = 0; m < 4 * n; m += 4)
                {
                  Number v[T];
#pragma unroll
                  for (int t = 0; t < T; ++t)
                    v[t] = slots.own_x[x[t] + m].x * slots.V[pair[t] + m];
                  add_source(sum, slots.source()[m + r], v);
                }
            }
        }

        __device__ void
        add_boundary(const unsigned int first, const unsigned int last)
        {
          if (!D.form.facets || D.form.facet_layout.r < 0)
            return;
          using Facets                = typename Slots::Facets;
          FacetPointGroup point_group = slots.facet_point_group(first, last);
          for (unsigned int begin = first; begin < last;
               begin += slots.n_slots / 4)
            {
              slots.template fill_facets<Facets::rhs, false>(k,
                                                             point_group,
                                                             begin,
                                                             last);
              point_group =
                slots.facet_point_group(begin + slots.n_slots / 4, last);
              const unsigned int n_point_groups =
                min(last - begin, slots.n_slots / 4);
#pragma unroll 1
              for (unsigned int m = 0; m < 4 * n_point_groups; m += 4)
                {
                  const Number c = slots.coefficients[m + r];
#pragma unroll
                  for (int t = 0; t < T; ++t)
                    {
                      const Two<Number> vx = slots.own_x[x[t] + m],
                                        p  = slots.own_pairs[pair[t] + m];
                      sum[t] += c * (vx.x * p.x) + (vx.y * p.x + vx.x * p.y);
                    }
                }
            }
        }

        /// add: adds to the present values instead of overwriting them.
        template <bool add>
        __device__ void
        store() const
        {
#pragma unroll
          for (int t = 0; t < T; ++t)
            {
              const unsigned int i = i0 + 8 * t + g;
              if (r == 0 && i < n)
                {
                  Number &to = static_cast<Number *>(
                    D.rhs)[D.dof_offset[k] - D.first_dof + i];
                  to = add ? to + sum[t] : sum[t];
                }
            }
        }
      };



      /// Computes the volume part.
      template <int dim, int P, int T, typename Number>
      __global__ void __launch_bounds__(32, P >= 0 ? 20 : 12)
        rhs_kernel(const __grid_constant__ Data<dim> D,
                   const unsigned int                n_slots)
      {
        extern __shared__ double2 shared[];
        const unsigned int        k   = D.first_polytope + blockIdx.x;
        const unsigned int        i0  = 8 * T * blockIdx.y;
        const Row                 row = D.rows[k];
        if (i0 >= row.n_basis || D.leaves_out(row))
          return;
        RhsKernel<dim, P, T, Number> kernel(D, n_slots, k, i0, shared);
        kernel.slots.leave_out_derivatives();
        if (P == 1 && D.volume_rule.closed_form && D.form.source())
          {
            const AffineIntegrals<dim> integrals(D, k, row, true);
            if (kernel.r == 0)
              kernel.sum[0] = Number(D.form.f * integrals.integral(kernel.g));
          }
        else if (P == 2 && dim < 4 && D.volume_rule.closed_form &&
                 D.form.source())
          {
            const QuadraticIntegrals<dim> integrals(D, k, row, shared);
            const unsigned int            lane = threadIdx.x & 31u;
            if (lane < kernel.n)
              static_cast<Number *>(
                D.rhs)[D.dof_offset[k] - D.first_dof + lane] =
                Number(D.form.f * integrals.integral(lane));
            return;
          }
        else
          kernel.add_volume(kernel.slots.volume_range(row));
        sum_over_points(kernel.sum);
        kernel.template store<false>();
      }

      /// Adds the boundary part for the polytopes of a list.
      template <int dim, int P, int T, typename Number>
      __global__ void __launch_bounds__(32, 12)
        rhs_boundary_kernel(const __grid_constant__ Data<dim> D,
                            const unsigned int               *polytopes,
                            const unsigned int                n_slots)
      {
        extern __shared__ double2 shared[];
        const unsigned int        k   = polytopes[blockIdx.x];
        const unsigned int        i0  = 8 * T * blockIdx.y;
        const Row                 row = D.rows[k];
        if (i0 >= row.n_basis || (D.upright_boundary && row.upright))
          return;
        RhsKernel<dim, P, T, Number> kernel(D, n_slots, k, i0, shared);
        kernel.add_boundary(row.boundary_begin,
                            D.form.constant_bottom ? row.bottom_begin
                                                   : row.facet_end);
        sum_over_points(kernel.sum);
        kernel.template store<true>();
      }

      /// Adds the boundary part for degrees 1 and 2. Each lane has one
      /// function, so that a warp serves several of these polytopes, which have
      /// few points each. In each step, every lane first computes the data of
      /// one point, which all functions of the polytope then use.
      template <int dim, int P, typename Number>
      __global__ void __launch_bounds__(128)
        rhs_small_boundary_kernel(const __grid_constant__ Data<dim> D,
                                  const unsigned int               *polytopes,
                                  const unsigned int                n_polytopes)
      {
        static_assert(P <= 2, "see below");
        constexpr unsigned int N        = Legendre::n_functions(dim, P, false),
                               per_warp = 32 / N;
        /// Coordinates in the bounding box, and data for values and
        /// derivatives.
        struct PointOfBoundary
        {
          double xi[dim], r, s[dim];
        };
        __shared__ PointOfBoundary all_points[4][32];
        const unsigned int         lane = threadIdx.x & 31u, of_warp = lane / N,
                           i = lane % N,
                           index =
                             (blockIdx.x * 4 + threadIdx.x / 32) * per_warp +
                             of_warp;
        PointOfBoundary *const points =
          &all_points[threadIdx.x / 32][of_warp * N];
        const unsigned int k     = polytopes[min(index, n_polytopes - 1)];
        const Row          row   = D.rows[k];
        const bool         valid = of_warp < per_warp && index < n_polytopes &&
                           !(D.upright_boundary && row.upright);
        const unsigned int end = D.form.constant_bottom ? row.bottom_begin
                                                        : row.facet_end,
                           n_points =
                             valid ? (end - row.boundary_begin) * D.facet_step
                                   : 0;
        const BoxMap<dim>  map(D, k);
        const FacetLayout &L        = D.form.facet_layout;
        double             constant = 1., sum = 0.;
        unsigned int       e[dim];
#pragma unroll
        for (int d = 0; d < dim; ++d)
          {
            e[d] = D.exponents[dim * i + d];
            constant *= map.entry[2 * d + 1].x *
                        (e[d] == 0   ? 1.
                         : e[d] == 1 ? Legendre::internal::scale(1)
                                     : Legendre::internal::scale(2));
          }
        for (unsigned int first = 0; __any_sync(~0u, first < n_points);
             first += N)
          {
            __syncwarp();
            if (first + i < n_points)
              {
                const unsigned int number = (first + i) / D.facet_step,
                                   offset = (first + i) % D.facet_step;
                const FacetPointGroup point_group =
                  D.facet_point_group[row.boundary_begin + number];
                const bool prism = point_group.code & FacetPointGroup::prism;
                const unsigned int n = n_facet_points<Cells::any>(
                                     D, point_group.facet, P, prism),
                                   q = (point_group.code >>
                                        FacetPointGroup::point_shift) +
                                       offset;
                PointOfBoundary &point = points[i];
                const double    *table =
                  D.facet_table +
                  (D.entry_q[point_group.entry] - D.first_facet_point +
                   point_group.point + offset);
                double x[dim], normal[dim], w = 0.;
                if (q < n)
                  w = facet_point<Cells::any>(
                    D, point_group.facet, q, P, x, normal, prism);
                point.r =
                  q < n ? w * __ldg(table + L.r * D.n_facet_points) : 0.;
#pragma unroll
                for (int d = 0; d < dim; ++d)
                  {
                    point.xi[d] =
                      q < n ? (x[d] - map.entry[2 * d].x) * map.entry[2 * d].y
                            : 0.;
                    point.s[d] =
                      q < n && L.s >= 0
                        ? w * map.entry[2 * d].y *
                            __ldg(table + (L.s + d) * D.n_facet_points)
                        : 0.;
                  }
              }
            __syncwarp();
            for (unsigned int p = 0;
                 p < min(N, n_points - min(first, n_points));
                 ++p)
              {
                const PointOfBoundary &point = points[p];
                double                 v = 1., derivative = 0.;
#pragma unroll
                for (int d = 0; d < dim; ++d)
                  {
                    const double xi    = point.xi[d],
                                 own   = e[d] == 0   ? 1.
                                         : e[d] == 1 ? xi
                                                     : 1.5 * xi * xi - 0.5,
                                 slope = e[d] == 0   ? 0.
                                         : e[d] == 1 ? 1.
                                                     : 3. * xi;
                    derivative = derivative * own + point.s[d] * slope * v;
                    v *= own;
                  }
                sum += point.r * v + derivative;
              }
          }
        if (valid)
          static_cast<Number *>(D.rhs)[D.dof_offset[k] - D.first_dof + i] +=
            Number(constant * sum);
      }

      /// Computes parts of polytopes of very many points: Unit::block is the
      /// polytope, Unit::row the first function.
      template <int dim, typename Number>
      __global__ void __launch_bounds__(32, 12)
        rhs_unit_kernel(const __grid_constant__ Data<dim> D,
                        const unsigned int                n_slots)
      {
        extern __shared__ double2     shared[];
        const Unit                    unit = D.units[D.first_unit + blockIdx.x];
        RhsKernel<dim, -1, 4, Number> kernel(
          D, n_slots, (unsigned int)unit.block, unit.row, shared);
        kernel.compute(unit.begin, unit.end);
        sum_over_points(kernel.sum);
        if (unit.scratch == invalid_index)
          kernel.template store<false>();
        else if (kernel.r == 0)
          for (int t = 0; t < 4; ++t)
            static_cast<Number *>(
              D.scratch)[std::size_t(unit.scratch - D.first_scratch) * 32 +
                         8 * t + kernel.g] = kernel.sum[t];
      }

      template <int dim, typename Number>
      __global__ void __launch_bounds__(32)
        rhs_reduction_kernel(const __grid_constant__ Data<dim> D,
                             const std::uint64_t               first)
      {
        const Reduction    reduction = D.reductions[first + blockIdx.x];
        const Unit         unit      = D.units[reduction.unit];
        const unsigned int k         = (unsigned int)unit.block;
        const unsigned int i         = unit.row + threadIdx.x;
        Number             sum       = 0.;
        for (unsigned int p = 0; p < reduction.n_parts; ++p)
          sum += static_cast<const Number *>(
            D.scratch)[std::size_t(unit.scratch - D.first_scratch + p) * 32 +
                       threadIdx.x];
        if (i < D.n_basis[k])
          static_cast<Number *>(D.rhs)[D.dof_offset[k] - D.first_dof + i] = sum;
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
