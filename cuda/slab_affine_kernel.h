// SPDX-License-Identifier: LGPL-2.1-or-later
#ifndef tessella_cuda_slab_affine_kernel_h
#define tessella_cuda_slab_affine_kernel_h

#include "slab_kernel.h"

// Kernel for slabs of elements of degree 1 with constant coefficients.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /**
       * What SlabKernel computes, for degree 1 and constant coefficients, with
       * eight lanes a row: products of so few functions would leave most of a
       * warp's matrix units idle. Volume terms follow from the moments of K of
       * order 0 to 2, which are sums over its simplices, a lane each, in closed
       * form; a lane also computes all terms of a facet. Own terms are then
       * added by shuffles; the blocks of facets of one neighbour one after the
       * other.
       */
      template <int dim, bool prismatic, typename Number>
      struct SlabAffineKernel
      {
        using Common = SlabKernel<dim, 1, prismatic, true, Number>;

        static constexpr int          n   = dim - 1; ///< variables of space
        static constexpr unsigned int n_s = Common::n_s, N = Common::N,
                                      n_entries = n_s * n_s;
        /// Lanes and rows.
        static constexpr unsigned int n_lanes = 8, n_rows = 32 / n_lanes;
        /// Entries of a block that a lane keeps.
        static constexpr unsigned int n_kept =
          (n_entries + n_lanes - 1) / n_lanes;
        static constexpr unsigned int n_moments = 1 + n + n * (n + 1) / 2;
        /// Numbers of a row in shared memory: blocks of eight facets, then two
        /// blocks.
        static constexpr unsigned int block_stride = n_entries | 1u,
                                      size    = (n_lanes + 2) * block_stride;
        static constexpr unsigned int n_warps = 4;

        const Data<dim>      &D;
        const bool            valid;
        const unsigned int    k, lane;
        const Row             row;
        const double         *times;
        const unsigned short *index;
        double               *blocks, *S, *M;
        Number               *out;
        double                inverse_length;
        bool                  self;
        /// Box: center and scale, function 0, derivatives of the others.
        double center[n], scale[n], value, slope[n];
        double own[n_s][n_s]; ///< facets, of this lane, then of all
        double moment[n_moments];

        __device__
        SlabAffineKernel(const Data<dim>   &D,
                         const bool         valid,
                         const unsigned int k,
                         const double      *common,
                         double            *shared)
          : D(D)
          , valid(valid)
          , k(k)
          , lane(threadIdx.x % n_lanes)
          , row(D.rows[k])
          , times(common)
          , index(reinterpret_cast<const unsigned short *>(common +
                                                           Common::n_times))
          , blocks(shared)
          , S(shared + n_lanes * block_stride)
          , M(S + block_stride)
          , out(static_cast<Number *>(D.values) + (row.value - D.first_value))
          , self(false)
        {
          const double length =
            __ldg(D.box_map + 4 * (std::size_t(dim) * k + n) + 2);
          inverse_length = length * length;
          read_box(k, center, scale, value, slope);
#pragma unroll
          for (unsigned int i = 0; i < n_s; ++i)
#pragma unroll
            for (unsigned int j = 0; j < n_s; ++j)
              own[i][j] = 0.;
        }

        __device__ void
        read_box(const unsigned int polytope,
                 double (&center)[n],
                 double (&scale)[n],
                 double &value,
                 double (&slope)[n]) const
        {
          const double2 *from = reinterpret_cast<const double2 *>(
            D.box_map + std::size_t(4 * dim) * polytope);
          value = 1.;
#pragma unroll
          for (int d = 0; d < n; ++d)
            {
              const double2 map = __ldg(from + 2 * d);
              center[d]         = map.x;
              scale[d]          = map.y;
              value *= __ldg(&from[2 * d + 1].x);
            }
#pragma unroll
          for (int d = 0; d < n; ++d)
            slope[d] = Legendre::internal::scale(1) * value * scale[d];
        }

        /// Sum over the lanes of a row, the same in all of them.
        __device__ static double
        sum(double x)
        {
#pragma unroll
          for (unsigned int step = 1; step < n_lanes; step *= 2)
            x += __shfl_xor_sync(~0u, x, step);
          return x;
        }

        /// Moments in the variables of the box.
        __device__ void
        add_volume()
        {
#pragma unroll
          for (unsigned int i = 0; i < n_moments; ++i)
            moment[i] = 0.;
          const unsigned int n_subcells = valid ? row.n_subcells : 0;
#pragma unroll 1
          for (unsigned int s = lane; s < n_subcells; s += n_lanes)
            {
              const double *v =
                D.subcell_vertices +
                std::size_t(row.first_subcell + s) * (dim * (dim + 1));
              double x[n + 1][n], J[n][n];
#pragma unroll
              for (int i = 0; i <= n; ++i)
#pragma unroll
                for (int d = 0; d < n; ++d)
                  x[i][d] = __ldg(v + i * dim + d);
#pragma unroll
              for (int i = 0; i < n; ++i)
#pragma unroll
                for (int d = 0; d < n; ++d)
                  J[i][d] = x[i + 1][d] - x[0][d];
              const double volume =
                fabs(determinant(J)) * (n == 2 ? 1. / 2. : 1. / 6.);
              double total[n];
#pragma unroll
              for (int d = 0; d < n; ++d)
                {
                  total[d] = 0.;
#pragma unroll
                  for (int i = 0; i <= n; ++i)
                    {
                      x[i][d] = (x[i][d] - center[d]) * scale[d];
                      total[d] += x[i][d];
                    }
                }
              moment[0] += volume;
#pragma unroll
              for (int d = 0; d < n; ++d)
                moment[1 + d] += volume * (1. / (n + 1)) * total[d];
              unsigned int m = n + 1;
#pragma unroll
              for (int d = 0; d < n; ++d)
#pragma unroll
                for (int e = 0; e <= d; ++e)
                  {
                    double products = total[d] * total[e];
#pragma unroll
                    for (int i = 0; i <= n; ++i)
                      products += x[i][d] * x[i][e];
                    moment[m++] +=
                      volume * (1. / ((n + 1) * (n + 2))) * products;
                  }
            }
          __syncwarp();
#pragma unroll
          for (unsigned int i = 0; i < n_moments; ++i)
            moment[i] = sum(moment[i]);
          const double square = value * value;
          // (registers are scarce until finish())
#pragma unroll
          for (unsigned int i = 0; i < n_moments; ++i)
            {
              moment[i] *= square * (i == 0   ? 1.
                                     : i <= n ? Legendre::internal::scale(1)
                                              : 3.);
              if (lane == 0)
                M[i] = moment[i];
            }
        }

        /// Entry of the mass matrix.
        __device__ double
        mass(const unsigned int i, const unsigned int j) const
        {
          const unsigned int larger = i > j ? i : j, smaller = i > j ? j : i;
          return smaller == 0 ? moment[larger]
                              : moment[n + larger * (larger - 1) / 2 + smaller];
        }

        __device__ FacetQuad
        facet_quad(const unsigned int number) const
        {
          return D
            .facet_quad[row.facet_begin + number * D.slab.quads_per_facet];
        }

        __device__ void
        add_facets(FacetQuad quad, const unsigned int n_facets)
        {
          unsigned int most = n_facets;
#pragma unroll
          for (unsigned int step = n_lanes; step < 32; step *= 2)
            most = max(most, __shfl_xor_sync(~0u, most, step));
          unsigned int neighbor = invalid_index, column = 0;
          bool         interior = false;
          double       kept[n_kept];
#pragma unroll
          for (unsigned int x = 0; x < n_kept; ++x)
            kept[x] = 0.;
#pragma unroll 1
          for (unsigned int begin = 0; begin < most; begin += n_lanes)
            {
              const unsigned int n_here =
                n_facets > begin ? min(n_facets - begin, n_lanes) : 0;
              if (lane < n_here)
                compute_facet(quad);
              const unsigned int lane_neighbor = quad.neighbor,
                                 lane_column   = quad.column;
              if (begin + n_lanes + lane < n_facets)
                quad = facet_quad(begin + n_lanes + lane);
              __syncwarp();
              const unsigned int n_there = min(most - begin, n_lanes);
#pragma unroll 1
              for (unsigned int f = 0; f < n_there; ++f)
                {
                  const unsigned int
                    next        = __shfl_sync(~0u, lane_neighbor, f, n_lanes),
                    next_column = __shfl_sync(~0u, lane_column, f, n_lanes);
                  const bool changes = f < n_here && next != neighbor;
                  write_neighbor(changes && interior, neighbor, column, kept);
                  if (changes)
                    {
#pragma unroll
                      for (unsigned int x = 0; x < n_kept; ++x)
                        kept[x] = 0.;
                      neighbor = next;
                      column   = next_column;
                      interior = neighbor != invalid_index;
                    }
                  if (f < n_here && interior)
#pragma unroll
                    for (unsigned int x = 0; x < n_kept; ++x)
                      if (x * n_lanes + lane < n_entries)
                        kept[x] +=
                          blocks[f * block_stride + x * n_lanes + lane];
                }
              __syncwarp();
            }
          write_neighbor(interior, neighbor, column, kept);
#pragma unroll
          for (unsigned int i = 0; i < n_s; ++i)
#pragma unroll
            for (unsigned int j = 0; j < n_s; ++j)
              own[i][j] = sum(own[i][j]);
        }

        /// All terms of a facet: the own ones are added to those of this lane,
        /// the neighbour's go to shared memory.
        __device__ void
        compute_facet(const FacetQuad &quad)
        {
          const unsigned int neighbor = quad.neighbor;
          const bool         interior = neighbor != invalid_index,
                     side             = quad.code & FacetQuad::side;
          const SlabRule &rule        = D.slab.facet;
          const double   *data        = D.rules + rule.offset;
          const double   *v =
            D.facet_vertices + std::size_t(quad.facet) * (dim * dim);
          const double theta = D.form.flux ? D.form.theta : 0.;
          // (measures are those of products with the interval)
          const double measure =
            rule.factor * __ldg(D.facet_measure + quad.facet) * inverse_length;
          double first[n], edge[n - 1][n];
#pragma unroll
          for (int e = 0; e < n; ++e)
            {
              first[e] = __ldg(v + e);
#pragma unroll
              for (int d = 0; d + 1 < n; ++d)
                edge[d][e] = __ldg(v + (d + 1) * dim + e) - first[e];
            }
          // coefficients per weight
          double c = 0., conormal[n];
          if (interior)
            {
              double normal[n], bn = 0.;
#pragma unroll
              for (int d = 0; d < n; ++d)
                {
                  normal[d] =
                    __ldg(D.facet_normal + std::size_t(quad.facet) * dim + d);
                  if (side)
                    normal[d] = -normal[d];
                }
#pragma unroll
              for (int d = 0; d < n; ++d)
                {
                  conormal[d] = 0.;
#pragma unroll
                  for (int e = 0; e < n; ++e)
                    conormal[d] -= 0.5 * D.form.a[d * dim + e] * normal[e];
                  bn += D.form.b[d] * normal[d];
                }
              c = __ldg(D.sigma + quad.facet) - (bn < 0. ? bn : 0.);
            }
          double other_center[n], other_scale[n], other_value, other_slope[n],
            F[n_s][n_s];
          read_box(interior ? neighbor : k,
                   other_center,
                   other_scale,
                   other_value,
                   other_slope);
          // Facets lie where side 0 sees them.
          double own_shift[n], other_shift[n];
#pragma unroll
          for (int d = 0; d < n; ++d)
            own_shift[d] = other_shift[d] = 0.;
          if (quad.code & FacetQuad::shifted)
            {
              const double *shift =
                D.shift +
                dim * D.interface_shift[D.polytope_interface[quad.entry] / 2];
#pragma unroll
              for (int d = 0; d < n; ++d)
                {
                  own_shift[d]   = side ? shift[d] : 0.;
                  other_shift[d] = side ? 0. : shift[d];
                }
            }
#pragma unroll
          for (unsigned int i = 0; i < n_s; ++i)
#pragma unroll
            for (unsigned int j = 0; j < n_s; ++j)
              F[i][j] = 0.;
#pragma unroll 1
          for (unsigned int q = 0; q < rule.n_space; ++q)
            {
              const double w = __ldg(data + n * rule.n_points + q) * measure;
              double       x[n];
#pragma unroll
              for (int e = 0; e < n; ++e)
                x[e] = first[e];
#pragma unroll
              for (int d = 0; d + 1 < n; ++d)
                {
                  const double xi = __ldg(data + d * rule.n_points + q);
#pragma unroll
                  for (int e = 0; e < n; ++e)
                    x[e] += xi * edge[d][e];
                }
              if (!interior)
                {
                  const FacetLayout  &L = D.form.facet_layout;
                  const std::uint64_t t = D.entry_q[quad.entry] -
                                          D.first_facet_point + quad.point + q;
                  const double *from = D.facet_table + t;
#pragma unroll
                  for (int d = 0; d < n; ++d)
                    conormal[d] =
                      L.b[0] >= 0
                        ? __ldg(from + (L.b[0] + d) * D.n_facet_points)
                        : 0.;
                  c = __ldg(from + L.c[0] * D.n_facet_points);
                }
              const double cw = c * w;
              double a[n_s], derivative[n_s], b[n_s], other[n_s], other_b[n_s];
              a[0]          = value;
              derivative[0] = 0.;
              b[0]          = cw * value;
              // (with opposite sign)
              other[0]   = -other_value;
              other_b[0] = cw * other[0];
#pragma unroll
              for (int d = 0; d < n; ++d)
                {
                  const double m = conormal[d] * w;
                  a[d + 1]       = (x[d] + own_shift[d] - center[d]) * slope[d];
                  derivative[d + 1] = m * slope[d];
                  b[d + 1]          = cw * a[d + 1] + derivative[d + 1];
                  other[d + 1] =
                    -(x[d] + other_shift[d] - other_center[d]) * other_slope[d];
                  other_b[d + 1] = cw * other[d + 1] + m * other_slope[d];
                }
#pragma unroll
              for (unsigned int i = 0; i < n_s; ++i)
                {
                  const double flux = theta * derivative[i];
#pragma unroll
                  for (unsigned int j = 0; j < n_s; ++j)
                    {
                      own[i][j] += a[i] * b[j] + flux * a[j];
                      F[i][j] += a[i] * other_b[j] + flux * other[j];
                    }
                }
            }
#pragma unroll
          for (unsigned int i = 0; i < n_s; ++i)
#pragma unroll
            for (unsigned int j = 0; j < n_s; ++j)
              blocks[lane * block_stride + i * n_s + j] = F[i][j];
        }

        // ---- results

        /// As SlabKernel::store_block(), by the lanes of a row.
        template <typename Entry>
        __device__ void
        store_block(const unsigned int column, const Entry &entry) const
        {
          Number *const      to    = out + column;
          const unsigned int width = row.width;
          if constexpr (N % 2 == 0)
            {
#pragma unroll
              for (unsigned int i = lane; i < N * N / 2; i += n_lanes)
                {
                  const unsigned int y = i / (N / 2), x = i % (N / 2),
                                     test = index[y];
                  Number     *p           = to + std::size_t(y) * width + 2 * x;
                  Two<Number> two;
                  two.x = entry(p, test, index[2 * x]);
                  two.y = entry(p + 1, test, index[2 * x + 1]);
                  *reinterpret_cast<Two<Number> *>(p) = two;
                }
            }
          else
            for (unsigned int i = lane; i < N * N; i += n_lanes)
              {
                const unsigned int y = i / N, x = i % N;
                Number            *p = to + std::size_t(y) * width + x;
                *p                   = entry(p, index[y], index[x]);
              }
        }

        /// To be called by all lanes of the warp; wanted: of this row.
        __device__ void
        write_neighbor(const bool         wanted,
                       const unsigned int neighbor,
                       const unsigned int column,
                       const double (&kept)[n_kept])
        {
          if (!__any_sync(~0u, wanted))
            return;
          if (wanted)
#pragma unroll
            for (unsigned int x = 0; x < n_kept; ++x)
              if (x * n_lanes + lane < n_entries)
                S[x * n_lanes + lane] = kept[x];
          __syncwarp();
          if (wanted)
            {
              self = self || neighbor == k;
              store_block(
                column,
                [&](const Number *,
                    const unsigned int test,
                    const unsigned int trial) {
                  return test >> 8 == trial >> 8
                           ? Number(S[(test & 255u) * n_s + (trial & 255u)])
                           : Number(0.);
                });
            }
          __syncwarp();
        }

        __device__ void
        write_zeros() const
        {
          for (std::uint64_t b = D.block_offset[k]; b < D.block_offset[k + 1];
               ++b)
            if (D.block_column[b] != k &&
                D.block_quad[b].x == D.block_quad[b].y)
              store_block(D.column_offset[b],
                          [](const Number *,
                             const unsigned int,
                             const unsigned int) { return Number(0.); });
        }

        /// S and M to shared memory: with facets if there is a matrix.
        __device__ void
        finish()
        {
          __syncwarp();
#pragma unroll
          for (unsigned int i = 0; i < n_moments; ++i)
            moment[i] = M[i];
          __syncwarp();
          if (lane == 0)
            {
              const double factor    = D.form.C[0][dim] * inverse_length,
                           per_value = 1. / value;
#pragma unroll
              for (unsigned int i = 0; i < n_s; ++i)
#pragma unroll
                for (unsigned int j = 0; j < n_s; ++j)
                  {
                    double entry = own[i][j] + D.form.C[0][0] * mass(i, j);
                    // mass(i, 0) / value: integral of function i
                    if (j > 0)
                      entry += D.form.C[0][j] * slope[j > 0 ? j - 1 : 0] *
                               (mass(i, 0) * per_value);
                    if (i > 0)
                      entry += D.form.C[i][0] * slope[i > 0 ? i - 1 : 0] *
                               (mass(j, 0) * per_value);
                    if (i > 0 && j > 0)
                      entry += D.form.C[i][j] * slope[i > 0 ? i - 1 : 0] *
                               slope[j > 0 ? j - 1 : 0] *
                               (mass(0, 0) * per_value * per_value);
                    S[i * n_s + j] = entry;
                    M[i * n_s + j] = factor * mass(i, j);
                  }
            }
          __syncwarp();
        }

        __device__ void
        write_diagonal() const
        {
          store_block(row.diagonal,
                      [&](const Number      *present,
                          const unsigned int test,
                          const unsigned int trial) {
                        const unsigned int from = (test & 255u) * n_s +
                                                  (trial & 255u),
                                           i = test >> 8, j = trial >> 8;
                        double entry = times[i * 2 + j] * M[from];
                        if (i == j)
                          entry += S[from];
                        // a periodic neighbour that is the element itself
                        if (self)
                          entry += *present;
                        return Number(entry);
                      });
        }

        __device__ void
        store_rhs() const
        {
          const double factor = D.form.f / (value * sqrt(inverse_length));
          if (lane == 0)
#pragma unroll
            for (unsigned int s = 0; s < n_s; ++s)
              S[s] = factor * mass(s, 0);
          __syncwarp();
          if (valid)
            {
              Number *const to =
                static_cast<Number *>(D.rhs) + (D.dof_offset[k] - D.first_dof);
              for (unsigned int i = lane; i < N; i += n_lanes)
                to[i] = index[i] < 256 ? Number(S[index[i]]) : Number(0.);
            }
          __syncwarp();
        }

        __device__ void
        compute()
        {
          const unsigned int n_facets =
            valid
              ? (row.bottom_begin - row.facet_begin) / D.slab.quads_per_facet
              : 0;
          FacetQuad quad = {};
          if (D.form.matrix && lane < n_facets)
            quad = facet_quad(lane);
          add_volume();
          if (D.form.rhs)
            store_rhs();
          if (!D.form.matrix)
            return;
          add_facets(quad, n_facets);
          finish();
          if (valid)
            {
              if (row.empty_blocks)
                write_zeros();
              write_diagonal();
            }
          __syncwarp();
        }
      };



      template <int dim, bool prismatic, typename Number>
      __global__ void
        __launch_bounds__(32 *
                            SlabAffineKernel<dim, prismatic, Number>::n_warps,
                          dim == 3 ? 4 : 3)
          slab_affine_kernel(const __grid_constant__ Data<dim> D)
      {
        extern __shared__ double2 shared[];
        using Kernel         = SlabAffineKernel<dim, prismatic, Number>;
        double *const common = reinterpret_cast<double *>(shared);
        Kernel::Common::fill_common(D, common);
        __syncthreads();
        const unsigned int group = threadIdx.x / Kernel::n_lanes,
                           number =
                             blockIdx.x * (Kernel::n_warps * Kernel::n_rows) +
                             group,
                           k =
                             D.first_polytope + min(number, D.n_polytopes - 1);
        const bool valid = number < D.n_polytopes && D.rows[k].upright;
        Kernel     kernel(D,
                      valid,
                      k,
                      common,
                      common + Kernel::Common::common_size +
                        group * Kernel::size);
        kernel.compute();
      }



      template <int dim, bool prismatic, typename Number>
      void
      launch_slab_affine_rows(const Data<dim> &data, const cudaStream_t stream)
      {
        using Kernel = SlabAffineKernel<dim, prismatic, Number>;
        constexpr unsigned int n_rows = Kernel::n_warps * Kernel::n_rows;
        slab_affine_kernel<dim, prismatic, Number>
          <<<(data.n_polytopes + n_rows - 1) / n_rows,
             32 * Kernel::n_warps,
             (Kernel::Common::common_size + n_rows * Kernel::size) *
               sizeof(double),
             stream>>>(data);
        check(cudaGetLastError(), "the start of a kernel");
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
