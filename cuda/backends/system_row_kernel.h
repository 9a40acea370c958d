// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_backends_system_row_kernel_h
#define tessella_cuda_backends_system_row_kernel_h

#include <tessella/forms/constant_system.h>

#include "basis.h"
#include "product.h"

// Kernel for systems with constant coefficients on simplices.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /**
       * Computes the block row of a polytope, of all pairs of components, by a
       * thread block with one warp for each pair. All warps evaluate values and
       * gradients of the basis at a batch of points into shared memory; then
       * each warp multiplies them by the coefficients of its pair and adds the
       * products to its sub-blocks, which it holds in registers: those of the
       * polytope itself and of the present neighbour. Since the warps of a row
       * work at the same time, the parts of a cache line that different pairs
       * compute reach the memory together.
       *
       * P: degree; N: number of functions. The columns of a warp's product are
       * the own functions, followed by those of the neighbour without a gap, in
       * E tiles of 8; its rows are the own functions in T tiles. The depth of
       * the products on a facet with n points is 2 n: first the terms with the
       * value of the test function, then those with its derivative. A value of
       * the neighbour is stored with a negative sign, so that values are jumps.
       *
       * The sums are in double precision; @p Number is the type of the matrix.
       */
      template <int dim, int P, typename Number>
      struct SystemRowKernel
      {
        static constexpr int          n_warps = dim * dim, L = P + 1;
        static constexpr unsigned int n_threads = 32 * n_warps,
                                      N = Legendre::n_functions(dim, P, false);
        static constexpr int T = (N + 7) / 8, E = (2 * N + 7) / 8;

        /// Distance between points of a table. The addresses that a quarter of
        /// a warp reads at once, two functions of four points, are in different
        /// banks.
        static constexpr unsigned int stride = 2 * N + (10 - 2 * N % 8) % 8;

        /// Smallest number of points of a batch.
        static constexpr unsigned int min_slots = 24;

        /// Number of points of a batch, if a facet has @p n points.
        __host__ __device__ static unsigned int
        n_slots(const unsigned int n)
        {
          return n > min_slots ? n : min_slots;
        }

        /// Facet of a batch.
        struct Facet
        {
          double normal[dim]; ///< out of the polytope
          double sigma;
          /// Factor of derivatives: one half between polytopes, one on the
          /// Dirichlet boundary, and zero on the Neumann boundary.
          double       factor;
          unsigned int neighbor, column;
        };

        /// Bytes of shared memory.
        __host__ static std::size_t
        shared_memory(const unsigned int n_points)
        {
          const std::size_t n = n_slots(n_points);
          return n * ((2 * stride + 2 * dim * L) * sizeof(double2) +
                      sizeof(double) + sizeof(Facet));
        }

        const Data<dim>                &D;
        const ConstantSystemTerms<dim> &S;
        const unsigned int              k, warp, lane, g, r;
        const Row                       row;
        const RuleTables::Entry         rule; ///< of facets
        const unsigned int              slots;

        // ---- shared memory: value and first derivative, other derivatives
        double2 *value, *gradient;
        /// Value and derivative of one-dimensional functions, at
        /// [((slot * 2 + side) * dim + d) * L + degree].
        double2 *one;
        double  *weight;
        Facet   *facets;

        double       c[T][E][2];
        unsigned int neighbor = invalid_index, column = 0;
        bool         self = false; ///< the diagonal block is in memory

        __device__
        SystemRowKernel(const Data<dim>                &D,
                        const ConstantSystemTerms<dim> &S,
                        const unsigned int              k,
                        double2                        *shared)
          : D(D)
          , S(S)
          , k(k)
          , warp(threadIdx.x / 32u)
          , lane(threadIdx.x & 31u)
          , g(lane >> 2)
          , r(lane & 3u)
          , row(D.rows[k])
          , rule(D.facet_rule[0][P])
          , slots(n_slots(rule.n_points))
          , value(shared)
          , gradient(value + slots * stride)
          , one(gradient + slots * stride)
          , weight(reinterpret_cast<double *>(one + slots * (2 * dim * L)))
          , facets(reinterpret_cast<Facet *>(weight + slots))
        {
          clear(0);
        }

        /// Sets the lane's sums in columns from @p begin on to zero.
        __device__ void
        clear(const unsigned int begin)
        {
#pragma unroll
          for (int t = 0; t < T; ++t)
#pragma unroll
            for (int e = 0; e < E; ++e)
#pragma unroll
              for (unsigned int s = 0; s < 2; ++s)
                if (8 * e + 2 * r + s >= begin)
                  c[t][e][s] = 0.;
        }

        /// Writes the one-dimensional functions of a polytope at a point.
        __device__ void
        write_one(const unsigned int slot,
                  const unsigned int side,
                  const unsigned int polytope,
                  const double (&x)[dim])
        {
          const BoxMap<dim> map(D, polytope);
          double2          *to = one + (slot * 2 + side) * (dim * L);
#pragma unroll
          for (int d = 0; d < dim; ++d)
            {
              double v[L], dv[L];
              legendre(
                map.entry[2 * d], map.entry[2 * d + 1], P, x[d], 1., v, dv);
#pragma unroll
              for (int i = 0; i < L; ++i)
                to[d * L + i] = make_double2(v[i], dv[i]);
            }
        }

        /// Writes function @p i of one side at a point. sign: of the value.
        __device__ void
        write_function(const unsigned int slot,
                       const unsigned int side,
                       const unsigned int i,
                       const double       sign)
        {
          const unsigned char *exponents = D.exponents + dim * i;
          const double2       *from      = one + (slot * 2 + side) * (dim * L);
          const double2 x = from[exponents[0]], y = from[L + exponents[1]],
                        z = dim == 3 ? from[(dim - 1) * L + exponents[dim - 1]]
                                     : make_double2(1., 0.);
          const double       xy = x.x * y.x;
          const unsigned int to = slot * stride + side * N + i;
          value[to]    = make_double2(sign * (xy * z.x), x.y * y.x * z.x);
          gradient[to] = make_double2(x.x * y.y * z.x, xy * z.y);
        }

        // ---- volume

        __device__ void
        add_volume()
        {
          const VolumeRule  &volume   = D.volume_rule;
          const unsigned int n_points = row.n_subcells * volume.n_points;
          for (unsigned int begin = 0; begin < n_points; begin += slots)
            {
              const unsigned int n = min(slots, n_points - begin);
              __syncthreads();
              for (unsigned int slot = threadIdx.x; slot < n; slot += n_threads)
                {
                  const unsigned int p = begin + slot, s = p / volume.n_points;
                  double             x[dim];
                  weight[slot] = affine_volume_point(D,
                                                     row.first_subcell + s,
                                                     p - s * volume.n_points,
                                                     volume,
                                                     x);
                  write_one(slot, 0, k, x);
                }
              __syncthreads();
              for (unsigned int i = threadIdx.x; i < n * N; i += n_threads)
                write_function(i / N, 0, i % N, 1.);
              __syncthreads();
              add_volume_points(n);
            }
        }

        __device__ void
        add_volume_points(const unsigned int n)
        {
          const double *const a = S.a[warp];
          const auto own        = [](const int, const int u) { return u < T; };
          for (unsigned int first = 0; first < n; first += 4)
            {
              const bool         there = first + r < n;
              const unsigned int slot  = there ? first + r : 0;
              const double       w     = there ? weight[slot] : 0.;
              double             v[dim][T];
#pragma unroll
              for (int t = 0; t < T; ++t)
                {
                  const unsigned int i = slot * stride + min(8 * t + g, N - 1);
                  const bool         function = 8 * t + g < N;
                  const double2      one = value[i], two = gradient[i];
                  v[0][t] = function ? one.y : 0.;
                  v[1][t] = function ? two.x : 0.;
                  if (dim == 3)
                    v[dim - 1][t] = function ? two.y : 0.;
                }
#pragma unroll
              for (int d = 0; d < dim; ++d)
                {
                  double b[E];
#pragma unroll
                  for (int e = 0; e < E; ++e)
                    b[e] = 0.;
#pragma unroll
                  for (int t = 0; t < T; ++t)
                    {
#pragma unroll
                      for (int e = 0; e < dim; ++e)
                        b[t] += a[d * dim + e] * v[e][t];
                      b[t] *= w;
                    }
                  WarpProduct<T, E, E, double>::add(c, v[d], b, own);
                }
            }
        }

        // ---- facets

        __device__ bool
        is_neumann(const FacetPointGroup &group) const
        {
          const unsigned int id =
            D.interface_boundary_id[D.polytope_interface[group.entry] / 2];
          for (unsigned int i = 0; i < S.n_neumann_ids; ++i)
            if (S.neumann_id[i] == id)
              return true;
          return false;
        }

        /// Computes a point of a facet of the batch as one side sees it.
        __device__ void
        write_facet_point(const FacetPointGroup &group,
                          const unsigned int     slot,
                          const unsigned int     q,
                          const unsigned int     side)
        {
          const SimplexFacet<dim> facet(D, group.facet);
          const bool              second   = group.code & FacetPointGroup::side;
          const bool              interior = group.neighbor != invalid_index;
          double                  x[dim], normal[dim];
          const double            w =
            facet.point(D, rule, q, facet_factor(dim, false), x, normal);
          if (side == 0)
            weight[slot] = w;
          if (side == 0 && q == 0)
            {
              Facet &to = facets[slot / rule.n_points];
#pragma unroll
              for (int d = 0; d < dim; ++d)
                to.normal[d] = second ? -normal[d] : normal[d];
              const bool neumann = !interior && is_neumann(group);
              to.sigma           = neumann ? 0. : __ldg(D.sigma + group.facet);
              to.factor          = neumann ? 0. : interior ? 0.5 : 1.;
              to.neighbor        = group.neighbor;
              to.column          = group.column;
            }
          if (side == 1 && !interior)
            return;
          // Facets are stored as side 0 sees them; the other side is shifted.
          if ((group.code & FacetPointGroup::shifted) && second == (side == 0))
#pragma unroll
            for (int d = 0; d < dim; ++d)
              x[d] +=
                D.shift[dim *
                          D.interface_shift[D.polytope_interface[group.entry] /
                                            2] +
                        d];
          write_one(slot, side, side == 0 ? k : group.neighbor, x);
        }

        __device__ void
        add_facets()
        {
          const unsigned int n = rule.n_points,
                             groups_per_facet =
                               (n + D.facet_step - 1) / D.facet_step,
                             n_facets = (row.facet_end - row.facet_begin) /
                                        groups_per_facet,
                             per_batch = slots / n;
          for (unsigned int begin = 0; begin < n_facets; begin += per_batch)
            {
              const unsigned int n_here  = min(per_batch, n_facets - begin),
                                 n_point = n_here * n;
              __syncthreads();
              for (unsigned int i = threadIdx.x; i < 2 * n_point;
                   i += n_threads)
                {
                  const unsigned int slot = i >> 1, f = slot / n;
                  write_facet_point(
                    D.facet_point_group[row.facet_begin +
                                        (begin + f) * groups_per_facet],
                    slot,
                    slot - f * n,
                    i & 1u);
                }
              __syncthreads();
              for (unsigned int i = threadIdx.x; i < n_point * 2 * N;
                   i += n_threads)
                {
                  const unsigned int slot = i / (2 * N), column = i % (2 * N),
                                     side = column >= N;
                  if (side == 0)
                    write_function(slot, 0, column, 1.);
                  else if (facets[slot / n].neighbor != invalid_index)
                    write_function(slot, 1, column - N, -1.);
                  else
                    value[slot * stride + column] =
                      gradient[slot * stride + column] = make_double2(0., 0.);
                }
              __syncthreads();
              for (unsigned int f = 0; f < n_here; ++f)
                {
                  const Facet &facet = facets[f];
                  if (facet.neighbor != neighbor)
                    {
                      finish_neighbor();
                      neighbor = facet.neighbor;
                      column   = facet.column;
                    }
                  add_facet(facet, f * n);
                }
            }
          finish_neighbor();
        }

        __device__ void
        add_facet(const Facet &facet, const unsigned int first)
        {
          const double *const a       = S.a[warp];
          const bool          penalty = warp % (dim + 1) == 0; // i = j
          double              trial[dim], test[dim];
#pragma unroll
          for (int d = 0; d < dim; ++d)
            {
              trial[d] = test[d] = 0.;
#pragma unroll
              for (int e = 0; e < dim; ++e)
                {
                  trial[d] -= a[e * dim + d] * facet.normal[e];
                  test[d] -= a[d * dim + e] * facet.normal[e];
                }
              trial[d] *= facet.factor;
              test[d] *= facet.factor;
            }
          const double       sigma = penalty ? facet.sigma : 0.;
          const unsigned int n     = rule.n_points;
          const auto         all   = [](const int, const int) { return true; };
          for (unsigned int begin = 0; begin < 2 * n; begin += 4)
            {
              const unsigned int p    = begin + r;
              const bool         head = p < n, there = p < 2 * n;
              const unsigned int slot = first + (head ? p : there ? p - n : 0);
              const double       w    = there ? weight[slot] : 0.;
              double             m[dim];
#pragma unroll
              for (int d = 0; d < dim; ++d)
                m[d] = w * (head ? trial[d] : test[d]);
              const double jump = w * sigma;
              double       left[T], right[E];
#pragma unroll
              for (int e = 0; e < E; ++e)
                {
                  const unsigned int i =
                    slot * stride + min(8 * e + g, 2 * N - 1);
                  const double2 one = value[i], two = gradient[i];
                  double        derivative = m[0] * one.y + m[1] * two.x;
                  if (dim == 3)
                    derivative += m[dim - 1] * two.y;
                  right[e] = head ? derivative + jump * one.x : S.theta * one.x;
                  if (e < T)
                    left[e] = 8 * e + g >= N ? 0. : head ? one.x : derivative;
                }
              WarpProduct<T, E, E, double>::add(c, left, right, all);
            }
        }

        // ---- results

        /// First entry of the pair in columns of a polytope that begin at
        /// @p column.
        __device__ Number *
        sub_block(const unsigned int column) const
        {
          return static_cast<Number *>(D.values) + (row.value - D.first_value) +
                 std::size_t(warp / dim * N) * row.width + column +
                 warp % dim * N;
        }

        /// Writes the sums of columns [begin, begin + N), or adds them.
        __device__ void
        write(const unsigned int begin,
              const unsigned int column,
              const bool         add)
        {
          Number *const to = sub_block(column);
#pragma unroll
          for (int t = 0; t < T; ++t)
#pragma unroll
            for (int e = 0; e < E; ++e)
              {
                // The first entry of a pair may lie before the columns: its
                // number wraps around and is not less than N.
                const unsigned int i = 8 * t + g, j = 8 * e + 2 * r - begin;
                Number *const      p = to + std::size_t(i) * row.width;
                if (i >= N)
                  continue;
                if constexpr (N % 2 == 0 && dim == 3)
                  {
                    // Entries and columns begin at even positions.
                    if (j >= N)
                      continue;
                    Two<Number> two;
                    two.x = Number(c[t][e][0]);
                    two.y = Number(c[t][e][1]);
                    if (add)
                      {
                        two.x += p[j];
                        two.y += p[j + 1];
                      }
                    *reinterpret_cast<Two<Number> *>(p + j) = two;
                  }
                else
#pragma unroll
                  for (unsigned int s = 0; s < 2; ++s)
                    if (j + s < N)
                      p[j + s] =
                        (add ? p[j + s] : Number(0.)) + Number(c[t][e][s]);
              }
        }

        /// Writes the block of the present neighbour, if there is one.
        __device__ void
        finish_neighbor()
        {
          if (neighbor == k)
            {
              // Both sides of a periodic interface: part of the diagonal block.
              write(N, row.diagonal, self);
              self = true;
              __syncwarp();
            }
          else if (neighbor != invalid_index)
            write(N, column, false);
          clear(N);
        }

        /// Writes zeros to the blocks without facets.
        __device__ void
        write_zeros()
        {
          for (std::uint64_t b = D.block_offset[k]; b < D.block_offset[k + 1];
               ++b)
            if (D.block_column[b] != k &&
                D.block_point_group[b].x == D.block_point_group[b].y)
              write(N, D.column_offset[b], false);
        }

        __device__ void
        compute()
        {
          add_volume();
          add_facets();
          write(0, row.diagonal, self);
          if (row.empty_blocks)
            write_zeros();
        }
      };

      /// Minimal number of thread blocks per multiprocessor.
      constexpr int
      min_system_blocks(const int dim, const int degree)
      {
        return dim == 2 ? 4 : degree < 3 ? 2 : 1;
      }

      template <int dim, int P, typename Number>
      __global__ void __launch_bounds__(32 * dim * dim,
                                        min_system_blocks(dim, P))
        system_row_kernel(const __grid_constant__ Data<dim> D,
                          const __grid_constant__ ConstantSystemTerms<dim> S)
      {
        extern __shared__ double2       shared[];
        SystemRowKernel<dim, P, Number> kernel(D,
                                               S,
                                               D.first_polytope + blockIdx.x,
                                               shared);
        kernel.compute();
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
