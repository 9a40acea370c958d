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
       * Computes the block row of a polytope, of all pairs of components. The
       * sub-block of the pair (a, b) is
       *
       *   sum over d, e of a_ab[d][e] W[d][e] + delta_ab M,
       *
       * where the dim^2 matrices W and the penalty matrix M do not depend on
       * the pair. With normal n, factor f of the mean value (one half between
       * polytopes) and jump [u],
       *
       *   W[d][e](i, j) = int_K d_d v_i d_e u_j
       *     - int_F f (n_d v_i d_e u_j + theta d_d v_i n_e [u_j]),
       *   M(i, j)       = int_F sigma v_i [u_j].
       *
       * A thread block computes the row. Each of its T^2 warps has a tile of 8
       * x 8 entries of all these matrices in its registers, one for the
       * polytope itself and one for the present neighbour. With nine warps,
       * there are registers for a single tile: then the facets of a batch are
       * added to the tile of the polytope first, and afterwards to that of one
       * neighbour after the other, and rows of several batches add to what is
       * in memory. All warps evaluate values and gradients of the basis at the
       * points of a batch of facets into shared memory. The integrals of facets
       * with n points are products of depth 2 n: first the terms with v_i, then
       * those with its derivatives. A value of the neighbour is stored with a
       * negative sign, so that values are jumps.
       *
       * P: degree; N: number of functions. The sums are in double precision;
       * @p Number is the type of the matrix.
       */
      template <int dim, int P, typename Number>
      struct SystemRowKernel
      {
        static constexpr int          L = P + 1;
        static constexpr unsigned int N = Legendre::n_functions(dim, P, false);
        static constexpr unsigned int T = (N + 7) / 8, n_threads = 32 * T * T;

        /// Distance between points of a table. The addresses that a quarter of
        /// a warp reads at once, two functions of four points, are in different
        /// banks.
        static constexpr unsigned int stride = 2 * N + (10 - 2 * N % 8) % 8;

        /// Whether a warp has two tiles.
        static constexpr bool two_tiles = T < 3;

        /// Largest number of facets of a batch: those of a tetrahedron. More
        /// shared memory would leave less for the first level of the cache.
        static constexpr unsigned int max_facets_per_batch = 4;

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

        /// Bytes of shared memory for @p n_facets facets of a batch with
        /// @p n_points points each.
        __host__ static std::size_t
        shared_memory(const unsigned int n_facets, const unsigned int n_points)
        {
          const std::size_t n = n_facets * n_points;
          return n * ((2 * stride + 2 * dim * L) * sizeof(double2) +
                      sizeof(double)) +
                 n_facets * sizeof(Facet);
        }

        /// Tile of the matrices W and M.
        struct Tile
        {
          double w[dim][dim][2], m[1][1][2];

          __device__
          Tile()
          {
            clear();
          }

          __device__ void
          clear()
          {
#pragma unroll
            for (unsigned int s = 0; s < 2; ++s)
              {
                m[0][0][s] = 0.;
#pragma unroll
                for (int d = 0; d < dim; ++d)
#pragma unroll
                  for (int e = 0; e < dim; ++e)
                    w[d][e][s] = 0.;
              }
          }
        };

        const Data<dim>                &D;
        const ConstantSystemTerms<dim> &S;
        const unsigned int              k;
        /// Group of four lanes and position in it; functions of the test and
        /// trial space that the lane reads, and first trial function that it
        /// has sums of, see WarpProduct.
        const unsigned int g, r, i, j, column_of_sums;
        /// Row and rule of facets, by value: what the kernel writes could
        /// overlap with what references name, and would be read again.
        const Row               row;
        const RuleTables::Entry rule;
        const unsigned int      facets_per_batch, slots;

        // ---- shared memory: value and first derivative, other derivatives
        double2 *value, *gradient;
        /// Value and derivative of one-dimensional functions, at
        /// [((slot * 2 + side) * dim + d) * L + degree].
        double2 *one;
        double  *weight;
        Facet   *facets;

        /// That of the polytope, and that of a neighbour, which may be the
        /// same one.
        Tile tiles[two_tiles ? 2 : 1];
        bool self = false; ///< the diagonal block is in memory
        /// Neighbour of the preceding facet, and the columns of its block.
        unsigned int neighbor = invalid_index, column = 0;

        __device__
        SystemRowKernel(const Data<dim>                &D,
                        const ConstantSystemTerms<dim> &S,
                        const unsigned int              k,
                        const unsigned int              facets_per_batch,
                        double2                        *shared)
          : D(D)
          , S(S)
          , k(k)
          , g((threadIdx.x & 31u) >> 2)
          , r(threadIdx.x & 3u)
          , i(8 * (threadIdx.x / 32u / T) + g)
          , j(8 * (threadIdx.x / 32u % T) + g)
          , column_of_sums(8 * (threadIdx.x / 32u % T) + 2 * r)
          , row(D.rows[k])
          , rule(D.facet_rule[0][P])
          , facets_per_batch(facets_per_batch)
          , slots(facets_per_batch * rule.n_points)
          , value(shared)
          , gradient(value + slots * stride)
          , one(gradient + slots * stride)
          , weight(reinterpret_cast<double *>(one + slots * (2 * dim * L)))
          , facets(reinterpret_cast<Facet *>(weight + slots))
        {}

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

        /// Reads the gradient of function @p f at a point.
        __device__ void
        read_gradient(const unsigned int slot,
                      const unsigned int f,
                      double (&to)[dim]) const
        {
          const double2 two = gradient[slot * stride + f];
          to[0]             = value[slot * stride + f].y;
          to[1]             = two.x;
          if constexpr (dim == 3)
            to[2] = two.y;
        }

        __device__ void
        add_volume_points(const unsigned int n)
        {
          // Sums of functions that do not exist are those of the last one, and
          // are not stored.
          const unsigned int test = min(i, N - 1), trial = min(j, N - 1);
          for (unsigned int first = 0; first < n; first += 4)
            {
              const bool         there = first + r < n;
              const unsigned int slot  = there ? first + r : 0;
              const double       w     = there ? weight[slot] : 0.;
              double             left[dim], right[dim];
              read_gradient(slot, test, left);
              read_gradient(slot, trial, right);
#pragma unroll
              for (int e = 0; e < dim; ++e)
                right[e] *= w;
              WarpProduct<dim, dim, dim, double>::add(tiles[0].w,
                                                      left,
                                                      right,
                                                      [](const int, const int) {
                                                        return true;
                                                      });
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
                                        groups_per_facet;
          for (unsigned int begin = 0; begin < n_facets;
               begin += facets_per_batch)
            {
              const unsigned int n_here =
                                   min(facets_per_batch, n_facets - begin),
                                 n_point = n_here * n;
              __syncthreads();
              for (unsigned int p = threadIdx.x; p < 2 * n_point;
                   p += n_threads)
                {
                  const unsigned int slot = p >> 1, f = slot / n;
                  write_facet_point(
                    D.facet_point_group[row.facet_begin +
                                        (begin + f) * groups_per_facet],
                    slot,
                    slot - f * n,
                    p & 1u);
                }
              __syncthreads();
              for (unsigned int p = threadIdx.x; p < n_point * 2 * N;
                   p += n_threads)
                {
                  const unsigned int slot = p / (2 * N), f = p % (2 * N);
                  if (f < N)
                    write_function(slot, 0, f, 1.);
                  else if (facets[slot / n].neighbor != invalid_index)
                    write_function(slot, 1, f - N, -1.);
                }
              __syncthreads();
              if constexpr (two_tiles)
                add_batch(n_here);
              else
                add_batch_twice(n_here);
            }
          if constexpr (two_tiles)
            {
              finish_neighbor(false);
              write(tiles[0], row.diagonal, self);
            }
          else if (!self) // there are no facets
            write(tiles[0], row.diagonal, false);
        }

        /// Adds the facets of a batch to both tiles.
        __device__ void
        add_batch(const unsigned int n_facets)
        {
          for (unsigned int f = 0; f < n_facets; ++f)
            {
              if (facets[f].neighbor != neighbor)
                {
                  finish_neighbor(false);
                  neighbor = facets[f].neighbor;
                  column   = facets[f].column;
                }
              if (neighbor == invalid_index)
                add_facet<false>(facets[f], f * rule.n_points, 0);
              else
                add_facet<true>(facets[f], f * rule.n_points, 0);
            }
        }

        /// Adds the facets of a batch to the rows in memory, with one tile.
        __device__ void
        add_batch_twice(const unsigned int n_facets)
        {
          for (unsigned int f = 0; f < n_facets; ++f)
            add_facet<false>(facets[f], f * rule.n_points, 0);
          write(tiles[0], row.diagonal, self);
          self = true;
          for (unsigned int f = 0; f < n_facets;)
            {
              // Facets of a neighbour are consecutive, perhaps in two batches.
              const bool add = facets[f].neighbor == neighbor;
              neighbor       = facets[f].neighbor;
              column         = facets[f].column;
              do
                if (neighbor != invalid_index)
                  add_facet<false>(facets[f], f * rule.n_points, N);
              while (++f < n_facets && facets[f].neighbor == neighbor);
              finish_neighbor(add);
            }
        }

        /// Adds a facet to the first tile, with the functions of the polytope
        /// if
        /// @p trial_begin is 0, or of the neighbour if it is N; and, if
        /// @p to_other, to the neighbour's tile.
        template <bool to_other>
        __device__ void
        add_facet(const Facet       &facet,
                  const unsigned int first,
                  const unsigned int trial_begin)
        {
          const unsigned int n = rule.n_points, test = min(i, N - 1),
                             trial = min(j, N - 1);
          for (unsigned int begin = 0; begin < 2 * n; begin += 4)
            {
              const unsigned int p    = begin + r;
              const bool         head = p < n, there = p < 2 * n;
              const unsigned int slot = first + (head ? p : there ? p - n : 0);
              const double       w    = there ? weight[slot] : 0.,
                           v          = value[slot * stride + test].x;
              double left[dim];
              read_gradient(slot, test, left);
              if (head)
#pragma unroll
                for (int d = 0; d < dim; ++d)
                  left[d] = facet.normal[d] * v;
              add_products(tiles[0],
                           facet,
                           slot,
                           trial_begin + trial,
                           head,
                           begin < n,
                           w,
                           v,
                           left);
              if constexpr (to_other)
                add_products(tiles[1],
                             facet,
                             slot,
                             N + trial,
                             head,
                             begin < n,
                             w,
                             v,
                             left);
            }
        }

        /// Adds the products of four points with function @p trial, see
        /// add_facet(). with_penalty: some of the points have a penalty.
        __device__ void
        add_products(Tile              &to,
                     const Facet       &facet,
                     const unsigned int slot,
                     const unsigned int trial,
                     const bool         head,
                     const bool         with_penalty,
                     const double       w,
                     const double       v,
                     const double (&left)[dim]) const
        {
          const auto   all = [](const int, const int) { return true; };
          const double u   = value[slot * stride + trial].x,
                       f   = -w * facet.factor;
          double right[dim];
          read_gradient(slot, trial, right);
#pragma unroll
          for (int e = 0; e < dim; ++e)
            right[e] = f * (head ? right[e] : S.theta * facet.normal[e] * u);
          WarpProduct<dim, dim, dim, double>::add(to.w, left, right, all);
          if (with_penalty)
            {
              const double test[1] = {v},
                           jump[1] = {head ? w * facet.sigma * u : 0.};
              WarpProduct<1, 1, 1, double>::add(to.m, test, jump, all);
            }
        }

        // ---- results

        /// Writes the sub-blocks of a tile in the columns of a polytope, which
        /// begin at @p column, or adds them, and clears the tile.
        __device__ void
        write(Tile &tile, const unsigned int column, const bool add)
        {
          if (i < N && column_of_sums < N)
            write_sub_blocks(tile, column, add);
          tile.clear();
        }

        /// Writes the block of the present neighbour, if there is one, or adds
        /// it.
        __device__ void
        finish_neighbor(const bool add)
        {
          Tile &tile = tiles[two_tiles ? 1 : 0];
          if (neighbor == k)
            {
              // Both sides of a periodic interface: part of the diagonal block.
              write(tile, row.diagonal, self);
              self = true;
            }
          else if (neighbor != invalid_index)
            write(tile, column, add);
        }

        __device__ void
        write_sub_blocks(const Tile        &tile,
                         const unsigned int column,
                         const bool         add) const
        {
          Number *const to =
            static_cast<Number *>(D.values) + (row.value - D.first_value) +
            std::size_t(i) * row.width + column + column_of_sums;
#pragma unroll
          for (int a = 0; a < dim; ++a)
#pragma unroll
            for (int b = 0; b < dim; ++b)
              {
                double sum[2];
#pragma unroll
                for (unsigned int s = 0; s < 2; ++s)
                  {
                    sum[s] = a == b ? tile.m[0][0][s] : 0.;
#pragma unroll
                    for (int d = 0; d < dim; ++d)
#pragma unroll
                      for (int e = 0; e < dim; ++e)
                        sum[s] +=
                          S.a[a * dim + b][d * dim + e] * tile.w[d][e][s];
                  }
                write_two(to + std::size_t(a * N) * row.width + b * N,
                          sum,
                          add);
              }
        }

        /// Writes or adds two sums, the second one only if its column exists.
        __device__ void
        write_two(Number *const to, double (&sum)[2], const bool add) const
        {
          if constexpr (N % 2 == 0)
            {
              // All blocks and columns begin at even positions.
              Two<Number> *const both = reinterpret_cast<Two<Number> *>(to);
              Two<Number>        two;
              two.x = Number(sum[0]);
              two.y = Number(sum[1]);
              if (add)
                {
                  two.x += both->x;
                  two.y += both->y;
                }
              *both = two;
            }
          else
#pragma unroll
            for (unsigned int s = 0; s < 2; ++s)
              if (column_of_sums + s < N)
                to[s] = (add ? to[s] : Number(0.)) + Number(sum[s]);
        }

        /// Writes zeros to the blocks without facets.
        __device__ void
        write_zeros()
        {
          for (std::uint64_t b = D.block_offset[k]; b < D.block_offset[k + 1];
               ++b)
            if (D.block_column[b] != k &&
                D.block_point_group[b].x == D.block_point_group[b].y)
              write(tiles[0], D.column_offset[b], false);
        }

        __device__ void
        compute()
        {
          add_volume();
          add_facets();
          if (row.empty_blocks)
            write_zeros();
        }
      };

      /// Minimal number of thread blocks per multiprocessor.
      constexpr int
      min_system_blocks(const unsigned int n_warps)
      {
        return n_warps == 1 ? 16 : n_warps == 4 ? 4 : 2;
      }

      template <int dim, int P, typename Number>
      __global__ void
      __launch_bounds__(
        SystemRowKernel<dim, P, Number>::n_threads,
        min_system_blocks(SystemRowKernel<dim, P, Number>::n_threads / 32))
        system_row_kernel(const __grid_constant__ Data<dim> D,
                          const __grid_constant__ ConstantSystemTerms<dim> S,
                          const unsigned int facets_per_batch)
      {
        extern __shared__ double2       shared[];
        SystemRowKernel<dim, P, Number> kernel(
          D, S, D.first_polytope + blockIdx.x, facets_per_batch, shared);
        kernel.compute();
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
