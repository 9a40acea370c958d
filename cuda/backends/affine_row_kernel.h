// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_backends_affine_row_kernel_h
#define tessella_cuda_backends_affine_row_kernel_h

#include "basis.h"

// Kernel for affine functions on simplices in 3-D with constant coefficients.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /**
       * Computes the block row of a polytope with half a warp, for degree 1 if
       * the volume is served by AffineIntegrals and the coefficients of
       * interior facets are constant. Products of four functions would leave
       * most of the matrix units idle. Each lane has a facet instead, and
       * computes all entries of its two blocks. An affine function on a
       * triangle is given by its values at the vertices, and the mean of a
       * product of two such functions is
       *
       *   (sum of products + product of sums) / 12.
       *
       * Only facets on the boundary, whose coefficients are tabulated, need
       * quadrature. Facets of one neighbour are consecutive. The sums over the
       * facets of a neighbour, and over all facets for the diagonal block, are
       * computed in the order of the facets, through shared memory. N: number
       * of functions; l: index of the lane within its half of the warp.
       */
      template <typename Number>
      struct AffineRowKernel
      {
        static constexpr int          dim = 3, N = 4;
        static constexpr unsigned int n_lanes = 16; ///< lanes per row
        /// Number of values of a lane in shared memory: a block and padding,
        /// which separates the banks of the lanes' blocks.
        static constexpr unsigned int stride = N * N + 2;

        struct Shared
        {
          double block[32 * stride];
          /// For each half: first lane of the facets of each neighbour, and
          /// first column of the neighbour's block, or invalid_index if there
          /// is none.
          unsigned int first[2][n_lanes + 1], column[2][n_lanes];
        };

        /// True if this kernel computes the rows of a form. The points of each
        /// facet must be one point group.
        static bool
        serves(const Data<dim> &D)
        {
          return D.affine && D.affine_type == 0 && D.max_degree == 1 &&
                 D.volume_rule.closed_form &&
                 D.facet_rule[0][1].n_points <= 4 && D.form.facets &&
                 D.form.constant_facets && D.form.penalty_facets;
        }

        const Data<dim>   &D;
        Shared            &shared;
        const unsigned int lane, half, l;
        const unsigned int k;
        const bool         valid; ///< this half of the warp has a row
        const Row          row;
        const double       theta;
        double             own[N][N];

        __device__
        AffineRowKernel(const Data<dim>   &D,
                        const unsigned int k,
                        const bool         valid,
                        Shared            &shared)
          : D(D)
          , shared(shared)
          , lane(threadIdx.x & 31u)
          , half(lane / n_lanes)
          , l(lane % n_lanes)
          , k(k)
          , valid(valid)
          , row(D.rows[k])
          , theta(D.form.flux ? D.form.theta : 0.)
        {
#pragma unroll
          for (int i = 0; i < N; ++i)
#pragma unroll
            for (int j = 0; j < N; ++j)
              own[i][j] = 0.;
        }

        /// Variables of a bounding box and the common factor of all functions:
        /// function 0 is this factor, function d + 1 the factor times (x_d -
        /// center_d) scale_d.
        struct Box
        {
          double center[dim], scale[dim], factor;

          __device__
          Box(const Data<dim> &D, const unsigned int polytope)
            : factor(1.)
          {
            const BoxMap<dim> map(D, polytope);
#pragma unroll
            for (int d = 0; d < dim; ++d)
              {
                center[d] = map.entry[2 * d].x;
                scale[d]  = map.entry[2 * d].y * Legendre::internal::scale(1);
                factor *= map.entry[2 * d + 1].x;
              }
          }
        };

        /// Values of functions at the vertices without the common factor, their
        /// sums, and derivatives in one direction.
        struct Trace
        {
          double value[dim][dim], sum[dim], derivative[dim];

          __device__
          Trace(const Box &box,
                const double (&x)[dim][dim],
                const double (&m)[dim])
          {
#pragma unroll
            for (int d = 0; d < dim; ++d)
              {
#pragma unroll
                for (int a = 0; a < dim; ++a)
                  value[a][d] = (x[a][d] - box.center[d]) * box.scale[d];
                sum[d]        = value[0][d] + value[1][d] + value[2][d];
                derivative[d] = m[d] * box.scale[d];
              }
          }

          __device__ double
          mean(const int i) const
          {
            return i == 0 ? 1. : sum[i - 1] * (1. / 3.);
          }

          __device__ double
          slope(const int i) const
          {
            return i == 0 ? 0. : derivative[i - 1];
          }
        };

        __device__ static double
        mean_of_product(const Trace &v,
                        const int    i,
                        const Trace &w,
                        const int    j)
        {
          if (i == 0 || j == 0)
            return i == 0 ? w.mean(j) : v.mean(i);
          double sum = v.sum[i - 1] * w.sum[j - 1];
#pragma unroll
          for (int a = 0; a < dim; ++a)
            sum += v.value[a][i - 1] * w.value[a][j - 1];
          return sum * (1. / 12.);
        }

        __device__ void
        add_facets(const Box &box)
        {
          // neighbour of the preceding facet
          unsigned int       before = invalid_index;
          const unsigned int n = valid ? row.facet_end - row.facet_begin : 0;
          for (unsigned int begin = 0; __any_sync(~0u, begin < n);
               begin += n_lanes)
            {
              const bool      active      = begin + l < n;
              FacetPointGroup point_group = {};
              point_group.neighbor        = invalid_index;
              if (active)
                point_group = D.facet_point_group[row.facet_begin + begin + l];
              const bool interior =
                           active && point_group.neighbor != invalid_index,
                         self = interior && point_group.neighbor == k;
              if (interior)
                add_interior(box, point_group, self);
              else if (active)
                add_boundary(box, point_group);

              // ---- runs of facets with the same neighbour
              unsigned int previous =
                __shfl_up_sync(~0u, point_group.neighbor, 1, n_lanes);
              if (l == 0)
                previous = before;
              before =
                __shfl_sync(~0u, point_group.neighbor, n_lanes - 1, n_lanes);
              const bool first =
                active && (l == 0 || point_group.neighbor != previous);
              const unsigned int firsts = __ballot_sync(~0u, first) >>
                                            (half * n_lanes) &
                                          0xffffu,
                                 number = __popc(firsts & ((1u << l) - 1u)),
                                 n_runs = __popc(firsts);
              if (first)
                {
                  shared.first[half][number] = l;
                  shared.column[half][number] =
                    interior && !self ? point_group.column : invalid_index;
                }
              if (l == 0)
                shared.first[half][n_runs] = min(n - min(begin, n), n_lanes);
              // The first run may continue a block that is already in memory.
              const bool continued = __shfl_sync(
                ~0u, begin > 0 && point_group.neighbor == previous, 0, n_lanes);
              __syncwarp();
              write_blocks(n_runs, continued);
              __syncwarp();
            }
        }

        __device__ void
        add_interior(const Box             &box,
                     const FacetPointGroup &point_group,
                     const bool             self)
        {
          const SimplexFacet<dim> facet(D, point_group.facet);
          const Box               other_box(D, point_group.neighbor);
          const bool   side   = point_group.code & FacetPointGroup::side;
          const double area   = side ? -facet.measure : facet.measure,
                       factor = box.factor * other_box.factor;
          double m[dim], bn = 0.;
#pragma unroll
          for (int d = 0; d < dim; ++d)
            {
              double conormal = 0.;
#pragma unroll
              for (int e = 0; e < dim; ++e)
                conormal += D.form.a[d * dim + e] * facet.normal[e];
              bn += D.form.b[d] * facet.normal[d];
              m[d] = -0.5 * area * conormal;
            }
          bn *= area;
          const double c = facet.measure * __ldg(D.sigma + point_group.facet) -
                           (bn < 0. ? bn : 0.);
          // Facets are stored as side 0 sees them; the other side is shifted.
          double shift[dim] = {};
          if (point_group.code & FacetPointGroup::shifted)
#pragma unroll
            for (int d = 0; d < dim; ++d)
              shift[d] =
                D.shift[dim * D.interface_shift
                                [D.polytope_interface[point_group.entry] / 2] +
                        d];
          double x[dim][dim], y[dim][dim];
#pragma unroll
          for (int a = 0; a < dim; ++a)
#pragma unroll
            for (int d = 0; d < dim; ++d)
              {
                x[a][d] = facet.vertex[a][d] + (side ? shift[d] : 0.);
                y[a][d] = facet.vertex[a][d] + (side ? 0. : shift[d]);
              }
          const Trace  v(box, x, m), w(other_box, y, m);
          const double square = box.factor * box.factor;
          double      *block  = shared.block + lane * stride;
#pragma unroll
          for (int i = 0; i < N; ++i)
            {
              double F[N];
#pragma unroll
              for (int j = 0; j < N; ++j)
                F[j] = factor * (v.mean(i) * w.slope(j) -
                                 theta * v.slope(i) * w.mean(j) -
                                 c * mean_of_product(v, i, w, j));
#pragma unroll
              for (int j = 0; j < N; ++j)
                {
                  own[i][j] += square * (v.mean(i) * v.slope(j) +
                                         theta * v.slope(i) * v.mean(j) +
                                         c * mean_of_product(v, i, v, j));
                  if (self)
                    own[i][j] += F[j];
                }
#pragma unroll
              for (int j = 0; j < N; j += 2)
                *reinterpret_cast<double2 *>(block + i * N + j) =
                  make_double2(F[j], F[j + 1]);
            }
        }

        /// Adds a facet on the boundary.
        __device__ void
        add_boundary(const Box &box, const FacetPointGroup &point_group)
        {
          const SimplexFacet<dim>  facet(D, point_group.facet);
          const RuleTables::Entry &rule = D.facet_rule[0][1];
          const FacetLayout       &L    = D.form.facet_layout;
          const double            *table =
            D.facet_table + (D.entry_q[point_group.entry] -
                             D.first_facet_point + point_group.point);
          const double square = box.factor * box.factor;
#pragma unroll 1
          for (unsigned int q = 0; q < rule.n_points; ++q)
            {
              double       x[dim], normal[dim];
              const double w =
                facet.point(D, rule, q, facet_factor(dim, false), x, normal);
              const double c =
                L.c[0] >= 0 ? w * __ldg(table + L.c[0] * D.n_facet_points + q)
                            : 0.;
              double v[N], slope[N];
              v[0]     = 1.;
              slope[0] = 0.;
#pragma unroll
              for (int d = 0; d < dim; ++d)
                {
                  v[d + 1] = (x[d] - box.center[d]) * box.scale[d];
                  slope[d + 1] =
                    L.b[0] >= 0
                      ? w * __ldg(table + (L.b[0] + d) * D.n_facet_points + q) *
                          box.scale[d]
                      : 0.;
                }
#pragma unroll
              for (int i = 0; i < N; ++i)
#pragma unroll
                for (int j = 0; j < N; ++j)
                  own[i][j] += square * (v[i] * (c * v[j] + slope[j]) +
                                         theta * slope[i] * v[j]);
            }
        }

        /// Writes the blocks of neighbours, with eight lanes for each.
        /// continued: the first block already has values.
        __device__ void
        write_blocks(const unsigned int n_runs, const bool continued)
        {
          Number *const      out   = values();
          const unsigned int entry = 2 * (l % 8u);
          for (unsigned int b = l / 8; b < n_runs; b += 2)
            {
              const unsigned int column = shared.column[half][b];
              if (column == invalid_index)
                continue;
              double2 sum = {0., 0.};
              for (unsigned int f = shared.first[half][b];
                   f < shared.first[half][b + 1];
                   ++f)
                {
                  const double2 two = *reinterpret_cast<const double2 *>(
                    shared.block + (half * n_lanes + f) * stride + entry);
                  sum.x += two.x;
                  sum.y += two.y;
                }
              Two<Number> *const to = reinterpret_cast<Two<Number> *>(
                out + (column + entry / N * row.width + entry % N));
              Two<Number> two;
              two.x = Number(sum.x);
              two.y = Number(sum.y);
              if (continued && b == 0)
                {
                  two.x += to->x;
                  two.y += to->y;
                }
              *to = two;
            }
        }

        __device__ Number *
        values() const
        {
          return static_cast<Number *>(D.values) + (row.value - D.first_value);
        }

        __device__ void
        compute()
        {
          const AffineIntegrals<dim> I(D, k, row, D.form.source());
          if (D.form.rhs && valid && l < N)
            static_cast<Number *>(D.rhs)[D.dof_offset[k] - D.first_dof + l] =
              Number(D.form.source() ? D.form.f * I.integral(l) : 0.);
          add_facets(Box(D, k));

          // ---- diagonal block: one lane per entry
          double *const block = shared.block + lane * stride;
#pragma unroll
          for (int i = 0; i < N; ++i)
#pragma unroll
            for (int j = 0; j < N; j += 2)
              *reinterpret_cast<double2 *>(block + i * N + j) =
                make_double2(own[i][j], own[i][j + 1]);
          __syncwarp();
          const int i = l / N, j = l % N;
          double    sum = i > 0 && j > 0 && D.form.volume
                            ? I.moment[dim] * D.form.C[i][j] * I.derivative(i) *
                             I.derivative(j)
                            : 0.;
#pragma unroll
          for (unsigned int f = 0; f < n_lanes; ++f)
            sum += shared.block[(half * n_lanes + f) * stride + l];
          if (valid)
            values()[row.diagonal + i * row.width + j] = Number(sum);
          if (valid && row.empty_blocks)
            for (std::uint64_t b = D.block_offset[k]; b < D.block_offset[k + 1];
                 ++b)
              if (D.block_column[b] != k &&
                  D.block_point_group[b].x == D.block_point_group[b].y)
                values()[D.column_offset[b] + i * row.width + j] = 0.;
        }
      };

      template <typename Number>
      __global__ void __launch_bounds__(32, 14)
        affine_row_kernel(const __grid_constant__ Data<3> D)
      {
        using Kernel = AffineRowKernel<Number>;
        __shared__ __align__(16) typename Kernel::Shared shared;
        const unsigned int number = 2 * blockIdx.x + (threadIdx.x & 31u) / 16,
                           k =
                             D.first_polytope + min(number, D.n_polytopes - 1);
        const bool valid = number < D.n_polytopes && !D.leaves_out(D.rows[k]);
        Kernel     kernel(D, k, valid, shared);
        kernel.compute();
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
