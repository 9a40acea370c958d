// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_backends_slab_kernel_h
#define tessella_cuda_backends_slab_kernel_h

#include <algorithm>

#include "basis.h"
#include "launch.h"
#include "product.h"

// Kernel for slabs whose coefficients do not depend on time.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /**
       * Computes the block row of an element K x (0, tau) with a warp, from
       * matrices in space alone. Basis functions are products psi_s(x) L_k(t),
       * where the L_k are orthonormal on (0, tau). Let S be the form's spatial
       * part (volume and facets of K), M the mass matrix, weighted with the
       * coefficient of d/dt, and F the facet matrix of a neighbour. Then
       *
       *   diagonal block: delta_kl S_rs + T_kl M_rs,
       *                   T_kl = int L_k L_l' dt + L_k(0) L_l(0)
       *   neighbours:     delta_kl F_rs,
       *
       * restricted to the pairs (s, k) of the space. Quadrature needs the
       * points of a rule in space only. The kernel serves rows with
       * Row::upright.
       *
       * P: degree. prismatic: every function of space is multiplied by all
       * functions of time up to degree P. constant: coefficients of volume and
       * interior facets are constants of the form; else they are tabulated at
       * all points in time, and the first of these is read. The computation is
       * in double precision and rounded to Number when stored.
       *
       * As in RowKernel, lane 4 g + r has functions g, g + 8, ... at every
       * fourth point; columns are the own functions, followed by those of the
       * neighbour.
       */
      template <int dim, int P, bool prismatic, bool constant, typename Number>
      struct SlabKernel
      {
        static constexpr int n = dim - 1; ///< number of spatial variables
        static constexpr unsigned int n_s = Legendre::n_functions(n, P, false),
                                      N   = prismatic
                                              ? n_s * (P + 1)
                                              : Legendre::n_functions(dim,
                                                                    P,
                                                                    false);
        /// Tiles of 8 own functions, and tiles of all columns.
        static constexpr int          T = (n_s + 7) / 8, E = (2 * n_s + 7) / 8;
        static constexpr unsigned int n_slots = 16; ///< number of facet points
        static constexpr unsigned int volume_stride = 36, facet_stride = 20;
        /// Tables of the volume: functions, derivatives, coefficients (rows and
        /// columns are value and gradient), weight of the mass matrix.
        static constexpr unsigned int n_coefficients =
          constant ? 1 : (n + 1) * (n + 1) + 1;
        static constexpr unsigned int volume_size =
          ((n + 1) * n_s + n_coefficients) * volume_stride;
        /// Tables of facets: values and derivatives of both sides,
        /// coefficients.
        static constexpr unsigned int facet_size = (4 * n_s + 1) * facet_stride;
        static constexpr unsigned int table_size =
          volume_size > facet_size ? volume_size : facet_size;
        static_assert(table_size >= 2 * n_s * n_s, "S and M go there");
        /// Number of values of a warp in shared memory, including F.
        static constexpr unsigned int size = table_size + n_s * n_s;
        /// Data shared by all warps of a thread block: T_kl without its
        /// constant factor, and s | k << 8 of each function.
        static constexpr unsigned int n_times     = (P + 1) * (P + 1),
                                      common_size = n_times + (N + 3) / 4;
        /// Number of warps of a thread block.
        static constexpr unsigned int n_warps =
          (common_size + 4 * size) * 8 <= 48 << 10   ? 4
          : (common_size + 2 * size) * 8 <= 48 << 10 ? 2
                                                     : 1;

        const Data<dim>       &D;
        const unsigned int     k, lane, g, r;
        const Row              row;
        const double          *times;
        const unsigned short  *index;
        double                *table, *F;
        WarpSums<T, E, double> acc;
        WarpSums<T, T, double> mass;
        Number                *out;
        double inverse_length; ///< inverse length of the time interval
        bool   self;

        __device__
        SlabKernel(const Data<dim>   &D,
                   const unsigned int k,
                   const double      *common,
                   double            *table)
          : D(D)
          , k(k)
          , lane(threadIdx.x & 31u)
          , g(lane >> 2)
          , r(lane & 3u)
          , row(D.rows[k])
          , times(common)
          , index(reinterpret_cast<const unsigned short *>(common + n_times))
          , table(table)
          , F(table + table_size)
          , out(static_cast<Number *>(D.values) + (row.value - D.first_value))
          , self(false)
        {
          const double scale =
            __ldg(D.box_map + 4 * (std::size_t(dim) * k + n) + 2);
          inverse_length = scale * scale;
          acc.clear();
          mass.clear();
        }

        /// Computes the data that all warps of a thread block share.
        __device__ static void
        fill_common(const Data<dim> &D, double *common)
        {
          unsigned short *index =
            reinterpret_cast<unsigned short *>(common + n_times);
          for (unsigned int i = threadIdx.x; i < n_times; i += blockDim.x)
            {
              const unsigned int l = i % (P + 1), m = i / (P + 1);
              const double       t = sqrt(double((2 * l + 1) * (2 * m + 1)));
              // T_kl with k = m: the integral of L_m L_l' vanishes for l <= m.
              // For l > m, integration by parts yields the difference of L_m
              // L_l at the two ends.
              common[i] = l > m || (l + m) % 2 == 0 ? t : -t;
            }
          for (unsigned int i = threadIdx.x; i < N; i += blockDim.x)
            {
              const unsigned char *e = D.exponents + dim * i;
              unsigned int         s;
              if constexpr (n == 2)
                s = spatial_index(e[0], e[1], 0);
              else
                s = spatial_index(e[0], e[1], e[2]);
              index[i] = static_cast<unsigned short>(s | e[n] << 8);
            }
        }

        /// Index of a function of space of bounded total degree.
        __device__ static constexpr unsigned int
        spatial_index(const unsigned int e0,
                      const unsigned int e1,
                      const unsigned int e2)
        {
          const unsigned int t = e0 + e1 + e2, u = e1 + e2;
          return n == 2 ? t * (t + 1) / 2 + e1
                        : t * (t + 1) * (t + 2) / 6 + u * (u + 1) / 2 + e2;
        }

        /// Evaluates the functions of a polytope in space at a point,
        /// derivatives times m; calls write(s, value, derivatives) for each of
        /// them.
        template <typename Write>
        __device__ void
        evaluate(const unsigned int polytope,
                 const double (&x)[n],
                 const double (&m)[n],
                 const Write &write) const
        {
          const double2 *from = reinterpret_cast<const double2 *>(
            D.box_map + std::size_t(4 * dim) * polytope);
          double2 map[2 * n];
#pragma unroll
          for (int i = 0; i < 2 * n; ++i)
            map[i] = __ldg(from + i);
          double v[n][P + 1], dv[n][P + 1];
#pragma unroll
          for (int d = 0; d < n; ++d)
            legendre(map[2 * d], map[2 * d + 1], P, x[d], m[d], v[d], dv[d]);
#pragma unroll
          for (int e0 = 0; e0 <= P; ++e0)
#pragma unroll
            for (int e1 = 0; e1 <= P; ++e1)
#pragma unroll
              for (int e2 = 0; e2 <= (n == 2 ? 0 : P); ++e2)
                if (e0 + e1 + e2 <= P)
                  {
                    const double xy = v[0][e0] * v[1][e1];
                    double       derivative[n];
                    if constexpr (n == 2)
                      {
                        derivative[0] = dv[0][e0] * v[1][e1];
                        derivative[1] = v[0][e0] * dv[1][e1];
                        write(spatial_index(e0, e1, e2), xy, derivative);
                      }
                    else
                      {
                        derivative[0] = dv[0][e0] * v[1][e1] * v[2][e2];
                        derivative[1] = v[0][e0] * dv[1][e1] * v[2][e2];
                        derivative[2] = xy * dv[2][e2];
                        write(spatial_index(e0, e1, e2),
                              xy * v[2][e2],
                              derivative);
                      }
                  }
        }

        // ---- volume

        __device__ void
        add_volume()
        {
          const SlabRule    &rule   = D.slab.volume;
          const unsigned int total  = row.n_subcells * rule.n_space;
          double *const coefficient = table + (n + 1) * n_s * volume_stride;
          unsigned int  offset[T];
#pragma unroll
          for (int t = 0; t < T; ++t)
            offset[t] = min(8 * t + g, n_s - 1) * volume_stride + r;
          // Entries of the coefficients; rows and columns are value and
          // gradient in space.
          const auto entry = [&](const int e, const int f) {
            return bool(D.volume_entries >> (e * (dim + 1) + f) & 1u);
          };
          const auto all = [](const int, const int) { return true; };
          for (unsigned int begin = 0; begin < total; begin += 32)
            {
              __syncwarp();
              fill_volume(begin, total, coefficient + lane);
              __syncwarp();
              const unsigned int n_points = min(total - begin, 32u);
#pragma unroll 1
              for (unsigned int m = 0; m < n_points; m += 4)
                {
                  double a[n + 1][T];
#pragma unroll
                  for (int e = 0; e <= n; ++e)
#pragma unroll
                    for (int t = 0; t < T; ++t)
                      a[e][t] = table[offset[t] + e * n_s * volume_stride + m];
                  const double *c = coefficient + m + r;
                  double        b[T];
                  // The last coefficient is the weight of the mass matrix.
                  const double w = c[(n_coefficients - 1) * volume_stride];
#pragma unroll
                  for (int t = 0; t < T; ++t)
                    b[t] = w * a[0][t];
                  mass.add(a[0], b, all);
                  if (!D.form.matrix)
                    continue;
#pragma unroll
                  for (int e = 0; e <= n; ++e)
                    {
                      bool any = false;
#pragma unroll
                      for (int t = 0; t < T; ++t)
                        b[t] = 0.;
#pragma unroll
                      for (int f = 0; f <= n; ++f)
                        // The product of values is added with the mass matrix
                        // later.
                        if (!constant || ((e > 0 || f > 0) && entry(e, f)))
                          {
                            any = true;
                            const double factor =
                              constant ? w * D.form.C[e][f]
                                       : c[(e * (n + 1) + f) * volume_stride];
#pragma unroll
                            for (int t = 0; t < T; ++t)
                              b[t] += factor * a[f][t];
                          }
                      if (any)
                        acc.add(a[e], b, all);
                    }
                }
            }
        }

        /// Fills the table with one point per lane; lanes beyond the last point
        /// have zero weight.
        __device__ void
        fill_volume(const unsigned int begin,
                    const unsigned int total,
                    double            *coefficient)
        {
          const SlabRule    &rule = D.slab.volume;
          const unsigned int i    = min(begin + lane, total - 1),
                             m    = __umulhi(i, rule.inverse),
                             q    = i - m * rule.n_space,
                             s    = row.first_subcell + m;
          const double *data      = D.rules + rule.offset + q;
          // The prisms are upright, and their first vertices form the lower
          // triangle or tetrahedron.
          const double *v =
            D.subcell_vertices + std::size_t(s) * (dim * (dim + 1));
          double x[n], J[n][n], ones[n];
#pragma unroll
          for (int e = 0; e < n; ++e)
            {
              x[e]    = __ldg(v + e);
              ones[e] = 1.;
            }
#pragma unroll
          for (int d = 0; d < n; ++d)
#pragma unroll
            for (int e = 0; e < n; ++e)
              J[d][e] = __ldg(v + (d + 1) * dim + e) - x[e];
#pragma unroll
          for (int d = 0; d < n; ++d)
            {
              const double xi = __ldg(data + d * rule.n_points);
#pragma unroll
              for (int e = 0; e < n; ++e)
                x[e] += xi * J[d][e];
            }
          double w = __ldg(data + dim * rule.n_points) * rule.factor *
                     fabs(determinant(J));
          if (begin + lane >= total)
            w = 0.;
          double *const to = table + lane;
          evaluate(k,
                   x,
                   ones,
                   [&](const unsigned int f,
                       const double       value,
                       const double(&derivative)[n]) {
                     to[f * volume_stride] = value;
#pragma unroll
                     for (int d = 0; d < n; ++d)
                       to[((d + 1) * n_s + f) * volume_stride] = derivative[d];
                   });
          if constexpr (constant)
            *coefficient = w;
          else
            read_volume_coefficients(std::uint64_t(s) * rule.n_points + q -
                                       D.first_volume_point,
                                     w,
                                     coefficient);
        }

        __device__ void
        read_volume_coefficients(const std::uint64_t t,
                                 const double        w,
                                 double             *c) const
        {
          const VolumeLayout &L   = D.form.volume_layout;
          const auto          put = [&](const int entry, const int array) {
            c[entry * volume_stride] =
              array < 0
                         ? 0.
                         : w * __ldg(&D.volume_table[array * D.n_volume_points + t]);
          };
          put(0, L.c);
#pragma unroll
          for (int d = 0; d < n; ++d)
            {
              put(1 + d, L.b >= 0 ? L.b + d : -1);
              put((d + 1) * (n + 1), L.beta >= 0 ? L.beta + d : -1);
#pragma unroll
              for (int e = 0; e < n; ++e)
                put((d + 1) * (n + 1) + 1 + e,
                    L.a < 0    ? -1
                    : L.tensor ? L.a + d * dim + e
                    : d == e   ? L.a
                               : -1);
            }
          put((n + 1) * (n + 1), L.b + n);
        }

        // ---- facets

        __device__ FacetPointGroup
        facet_point_group(const unsigned int number) const
        {
          return D.facet_point_group[row.facet_begin +
                                     number * D.slab.point_groups_per_facet];
        }

        __device__ void
        add_facets(FacetPointGroup point_group, const unsigned int n_facets)
        {
          const SlabRule    &rule    = D.slab.facet;
          const unsigned int n_q     = rule.n_space,
                             n_batch = D.slab.facets_per_batch,
                             slot = lane % n_slots, of = slot_facet(),
                             q  = slot - of * n_q;
          const double theta    = D.form.flux ? D.form.theta : 0.;
          unsigned int neighbor = invalid_index, column = 0;
          bool         interior = false;
          unsigned int offset[E];
#pragma unroll
          for (int e = 0; e < E; ++e)
            {
              const unsigned int f = min(8 * e + g, 2 * n_s - 1);
              // Values and derivatives of one side occupy 2 n_s tables.
              offset[e] = (f < n_s ? f : f + n_s) * facet_stride + r;
            }
          const auto all = [](const int, const int) { return true; };
          clear_neighbor();
          for (unsigned int begin = 0; begin < n_facets; begin += n_batch)
            {
              const unsigned int n_here = min(n_facets - begin, n_batch);
              __syncwarp();
              if (of < n_here)
                fill_facets(point_group, slot, q);
              const unsigned int lane_neighbor = point_group.neighbor,
                                 lane_column   = point_group.column;
              if (begin + n_batch < n_facets)
                point_group =
                  facet_point_group(min(begin + n_batch + of, n_facets - 1));
              __syncwarp();
#pragma unroll 1
              for (unsigned int f = 0; f < n_here; ++f)
                {
                  const unsigned int next =
                    __shfl_sync(~0u, lane_neighbor, f * n_q);
                  if (next != neighbor)
                    {
                      if (interior)
                        write_neighbor(neighbor, column);
                      clear_neighbor();
                      neighbor = next;
                      column   = __shfl_sync(~0u, lane_column, f * n_q);
                      interior = neighbor != invalid_index;
                    }
#pragma unroll 1
                  for (unsigned int m = 0; m < n_q; m += 4)
                    {
                      // At the boundary, the neighbour's functions have
                      // arbitrary values, and their columns are not stored.
                      const bool          valid = m + r < n_q;
                      const double *const from  = table + (f * n_q + m);
                      const double        c =
                        valid ? from[4 * n_s * facet_stride + r] : 0.;
                      double v[E], d[E], a[T], b[E];
#pragma unroll
                      for (int e = 0; e < E; ++e)
                        {
                          v[e] = valid ? from[offset[e]] : 0.;
                          d[e] =
                            valid ? from[offset[e] + n_s * facet_stride] : 0.;
                          b[e] = c * v[e] + d[e];
                        }
#pragma unroll
                      for (int t = 0; t < T; ++t)
                        a[t] = v[t];
                      acc.add(a, b, all);
                      if (theta != 0.)
                        {
#pragma unroll
                          for (int t = 0; t < T; ++t)
                            a[t] = theta * d[t];
                          acc.add(a, v, all);
                        }
                    }
                }
            }
          if (interior)
            write_neighbor(neighbor, column);
        }

        /// Facet of the batch that the lane's slot belongs to.
        __device__ unsigned int
        slot_facet() const
        {
          return __umulhi(lane % n_slots, D.slab.facet.inverse);
        }

        /// Fills the tables; each half of the warp serves one side.
        __device__ void
        fill_facets(const FacetPointGroup &point_group,
                    const unsigned int     slot,
                    const unsigned int     q)
        {
          const bool         other    = lane >= n_slots;
          const unsigned int neighbor = point_group.neighbor;
          if (other && neighbor == invalid_index)
            return;
          const SlabRule &rule = D.slab.facet;
          const bool      side = point_group.code & FacetPointGroup::side;
          const double   *data = D.rules + rule.offset + q;
          const double   *v =
            D.facet_vertices + std::size_t(point_group.facet) * (dim * dim);
          double x[n], first[n], m[n], c;
#pragma unroll
          for (int e = 0; e < n; ++e)
            x[e] = first[e] = __ldg(v + e);
#pragma unroll
          for (int d = 0; d + 1 < n; ++d)
            {
              const double xi = __ldg(data + d * rule.n_points);
#pragma unroll
              for (int e = 0; e < n; ++e)
                x[e] += xi * (__ldg(v + (d + 1) * dim + e) - first[e]);
            }
          // Measures in the mesh are those of products with the time interval.
          const double w = __ldg(data + n * rule.n_points) * rule.factor *
                           __ldg(D.facet_measure + point_group.facet) *
                           inverse_length;
          if (constant && neighbor != invalid_index)
            {
              double normal[n], bn = 0.;
#pragma unroll
              for (int d = 0; d < n; ++d)
                {
                  normal[d] = __ldg(D.facet_normal +
                                    std::size_t(point_group.facet) * dim + d);
                  if (side)
                    normal[d] = -normal[d];
                }
#pragma unroll
              for (int d = 0; d < n; ++d)
                {
                  double conormal = 0.;
#pragma unroll
                  for (int e = 0; e < n; ++e)
                    conormal += D.form.a[d * dim + e] * normal[e];
                  bn += D.form.b[d] * normal[d];
                  m[d] = -0.5 * w * conormal;
                }
              c =
                w * (__ldg(D.sigma + point_group.facet) - (bn < 0. ? bn : 0.));
            }
          else
            {
              const FacetLayout  &L = D.form.facet_layout;
              const std::uint64_t t = D.entry_q[point_group.entry] -
                                      D.first_facet_point + point_group.point +
                                      q;
              const double *from  = D.facet_table + t;
              const int     array = L.b[other ? 1 : 0];
#pragma unroll
              for (int d = 0; d < n; ++d)
                m[d] = array >= 0
                         ? w * __ldg(from + (array + d) * D.n_facet_points)
                         : 0.;
              c = w * __ldg(from + L.c[0] * D.n_facet_points);
            }
          // Facets are stored as side 0 sees them; the other side is shifted.
          if ((point_group.code & FacetPointGroup::shifted) && other != side)
            {
              const double *shift =
                D.shift +
                dim *
                  D.interface_shift[D.polytope_interface[point_group.entry] /
                                    2];
              for (int d = 0; d < n; ++d)
                x[d] += shift[d];
            }
          double *const to =
            table + (other ? 2 * n_s * facet_stride : 0) + slot;
          evaluate(other ? neighbor : k,
                   x,
                   m,
                   [&](const unsigned int f,
                       const double       value,
                       const double(&derivative)[n]) {
                     double sum = derivative[0];
#pragma unroll
                     for (int d = 1; d < n; ++d)
                       sum += derivative[d];
                     to[f * facet_stride]         = other ? -value : value;
                     to[(n_s + f) * facet_stride] = sum;
                   });
          if (!other)
            table[4 * n_s * facet_stride + slot] = c;
        }

        __device__ void
        clear_neighbor()
        {
#pragma unroll
          for (int t = 0; t < T; ++t)
#pragma unroll
            for (int e = 0; e < E; ++e)
#pragma unroll
              for (int x = 0; x < 2; ++x)
                if (8 * e + 7 >= int(n_s) && 8 * e + 2 * r + x >= n_s)
                  acc.c[t][e][x] = 0.;
        }

        // ---- results

        /// Stores entry(p, test, trial) for the entries of a block, where p is
        /// the entry's address and test and trial are s | k << 8 of its row and
        /// column. The assignment of entries to lanes is the same for all
        /// blocks.
        template <typename Entry>
        __device__ void
        store_block(const unsigned int column, const Entry &entry) const
        {
          Number *const      to    = out + column;
          const unsigned int width = row.width;
          if constexpr (N % 2 == 0)
            {
              for (unsigned int i = lane; i < N * N / 2; i += 32)
                {
                  const unsigned int y = i / (N / 2), x = i % (N / 2),
                                     test = index[y],
                                     pair =
                                       reinterpret_cast<const unsigned int *>(
                                         index)[x];
                  Two<Number> two;
                  Number     *p = to + std::size_t(y) * width + 2 * x;
                  two.x         = entry(p, test, pair & 0xffffu);
                  two.y         = entry(p + 1, test, pair >> 16);
                  *reinterpret_cast<Two<Number> *>(p) = two;
                }
            }
          else
            for (unsigned int i = lane; i < N * N; i += 32)
              {
                const unsigned int y = i / N, x = i % N;
                Number            *p = to + std::size_t(y) * width + x;
                *p                   = entry(p, index[y], index[x]);
              }
        }

        __device__ void
        write_neighbor(const unsigned int neighbor, const unsigned int column)
        {
#pragma unroll
          for (int t = 0; t < T; ++t)
#pragma unroll
            for (int e = 0; e < E; ++e)
#pragma unroll
              for (int x = 0; x < 2; ++x)
                {
                  const unsigned int i = 8 * t + g, j = 8 * e + 2 * r + x;
                  if (i < n_s && j >= n_s && j < 2 * n_s)
                    F[i * n_s + j - n_s] = acc.c[t][e][x];
                }
          __syncwarp();
          self = self || neighbor == k;
          store_block(column,
                      [&](const Number *,
                          const unsigned int test,
                          const unsigned int trial) {
                        return test >> 8 == trial >> 8
                                 ? Number(
                                     F[(test & 255u) * n_s + (trial & 255u)])
                                 : Number(0.);
                      });
          __syncwarp();
        }

        /// Writes zeros to the blocks that receive no facet contributions.
        __device__ void
        write_zeros() const
        {
          for (std::uint64_t b = D.block_offset[k]; b < D.block_offset[k + 1];
               ++b)
            if (D.block_column[b] != k &&
                D.block_point_group[b].x == D.block_point_group[b].y)
              store_block(D.column_offset[b],
                          [](const Number *,
                             const unsigned int,
                             const unsigned int) { return Number(0.); });
        }

        __device__ void
        write_diagonal()
        {
          // S and M overwrite the tables, which are not needed any more.
          double *const S = table, *const M = table + n_s * n_s;
          const double reaction = constant ? D.form.C[0][0] : 0.,
                       factor =
                         (constant ? D.form.C[0][dim] : 1.) * inverse_length;
          __syncwarp();
#pragma unroll
          for (int t = 0; t < T; ++t)
#pragma unroll
            for (int e = 0; e < T; ++e)
#pragma unroll
              for (int x = 0; x < 2; ++x)
                {
                  const unsigned int i = 8 * t + g, j = 8 * e + 2 * r + x;
                  if (i < n_s && j < n_s)
                    {
                      const double m = mass.c[t][e][x];
                      S[i * n_s + j] = acc.c[t][e][x] + reaction * m;
                      M[i * n_s + j] = factor * m;
                    }
                }
          __syncwarp();
          const bool add = self;
          store_block(row.diagonal,
                      [&](const Number      *present,
                          const unsigned int test,
                          const unsigned int trial) {
                        const unsigned int from = (test & 255u) * n_s +
                                                  (trial & 255u),
                                           i = test >> 8, j = trial >> 8;
                        double value = times[i * (P + 1) + j] * M[from];
                        if (i == j)
                          value += S[from];
                        // The block already holds the contribution of a
                        // periodic neighbour that is the element itself.
                        if (add)
                          value += *present;
                        return Number(value);
                      });
        }

        /// Stores the right-hand side of a constant source: the integrals of
        /// the functions of space are a column of the mass matrix, and those of
        /// L_k vanish for k > 0.
        __device__ void
        store_rhs() const
        {
          double constant_function = 1.;
#pragma unroll
          for (int d = 0; d < n; ++d)
            constant_function *=
              __ldg(D.box_map + 4 * (std::size_t(dim) * k + d) + 2);
          const double factor =
            D.form.f / (constant_function * sqrt(inverse_length));
          __syncwarp();
          if (r == 0)
#pragma unroll
            for (int t = 0; t < T; ++t)
              if (8 * t + g < n_s)
                F[8 * t + g] = factor * mass.c[t][0][0];
          __syncwarp();
          Number *const to =
            static_cast<Number *>(D.rhs) + (D.dof_offset[k] - D.first_dof);
          for (unsigned int i = lane; i < N; i += 32)
            to[i] = index[i] < 256 ? Number(F[index[i]]) : Number(0.);
          __syncwarp();
        }

        __device__ void
        compute()
        {
          const unsigned int n_facets = (row.bottom_begin - row.facet_begin) /
                                        D.slab.point_groups_per_facet;
          FacetPointGroup point_group = {};
          if (D.form.matrix && n_facets > 0)
            point_group = facet_point_group(min(slot_facet(), n_facets - 1));
          add_volume();
          if (D.form.rhs)
            store_rhs();
          if (!D.form.matrix)
            return;
          add_facets(point_group, n_facets);
          if (row.empty_blocks)
            write_zeros();
          write_diagonal();
        }
      };



      /// Number of warps per multiprocessor, for __launch_bounds__.
      constexpr unsigned int
      slab_warps(const unsigned int n_functions)
      {
#if __CUDA_ARCH__ >= 800
        return n_functions <= 3    ? 28
               : n_functions <= 6  ? 24
               : n_functions <= 10 ? 16
                                   : 8;
#else
        return n_functions <= 10 ? 16 : 8;
#endif
      }

      template <int dim, int P, bool prismatic, bool constant, typename Number>
      __global__ void __launch_bounds__(
        32 * SlabKernel<dim, P, prismatic, constant, Number>::n_warps,
        slab_warps(SlabKernel<dim, P, prismatic, constant, Number>::n_s) /
          SlabKernel<dim, P, prismatic, constant, Number>::n_warps)
        slab_kernel(const __grid_constant__ Data<dim> D,
                    const unsigned int                rows_per_warp)
      {
        extern __shared__ double2 shared[];
        using Kernel         = SlabKernel<dim, P, prismatic, constant, Number>;
        double *const common = reinterpret_cast<double *>(shared);
        Kernel::fill_common(D, common);
        __syncthreads();
        const unsigned int warp = threadIdx.x / 32;
        double *const own = common + Kernel::common_size + warp * Kernel::size;
#pragma unroll 1
        for (unsigned int i = 0; i < rows_per_warp; ++i)
          {
            const unsigned int number =
              (blockIdx.x * rows_per_warp + i) * Kernel::n_warps + warp;
            if (number >= D.n_polytopes)
              return;
            const unsigned int k = D.first_polytope + number;
            if (D.rows[k].upright)
              {
                Kernel kernel(D, k, common, own);
                kernel.compute();
              }
          }
      }



      template <int dim, int P, bool prismatic, bool constant, typename Number>
      void
      launch_slab_rows(const Data<dim> &data, const cudaStream_t stream)
      {
        using Kernel = SlabKernel<dim, P, prismatic, constant, Number>;
        // Several rows per warp amortise the set-up of a thread block, as long
        // as enough thread blocks remain for all multiprocessors.
        const unsigned int rows_per_warp =
                             std::min(8u, std::max(1u, data.n_polytopes >> 15)),
                           rows_per_block = rows_per_warp * Kernel::n_warps;
        slab_kernel<dim, P, prismatic, constant, Number>
          <<<(data.n_polytopes + rows_per_block - 1) / rows_per_block,
             32 * Kernel::n_warps,
             (Kernel::common_size + Kernel::n_warps * Kernel::size) *
               sizeof(double),
             stream>>>(data, rows_per_warp);
        check(cudaGetLastError(), "the start of a kernel");
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
