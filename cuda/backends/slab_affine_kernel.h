// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_backends_slab_affine_kernel_h
#define tessella_cuda_backends_slab_affine_kernel_h

#include "slab_kernel.h"

// Kernel for slabs of elements of degree 1 with constant coefficients.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /**
       * Computes the same as SlabKernel, for degree 1 and constant
       * coefficients, with one lane per row: products of so few functions would
       * leave most of a warp's matrix units idle.
       *
       * In the variables eta of the bounding boxes, whose range ends at
       * +-sqrt(3), the functions are 1 and eta_d, except for a factor. All
       * integrals over a facet then follow from its centre and the second
       * moments of the physical variables about it. The integrals over K follow
       * from them, too: the integral of a homogeneous function of degree k in x
       * - c, where c is the centre of the bounding box, is the sum over all
       * facets of the integrals over the cones between c and the facet, which
       * are
       *
       *   n / (n + k) V times the mean over the facet,
       *
       * V = |facet| normal . (x - c) / n. Hence no sub-cell is read. Only
       * facets on the boundary, whose coefficients are tabulated, need
       * quadrature.
       *
       * Facets of one neighbour are consecutive. Each lane keeps finished
       * blocks in shared memory; when a lane has no room left, the warp writes
       * the lane's blocks, so that lines of the matrix are written as a whole.
       *
       * Rows of many facets are distributed over eight lanes, each of which has
       * the facets of some neighbours.
       */
      template <int dim, bool prismatic, typename Number>
      struct SlabAffineKernel
      {
        using Common = SlabKernel<dim, 1, prismatic, true, Number>;

        static constexpr int n = dim - 1; ///< number of spatial variables
        static constexpr unsigned int n_s = Common::n_s, N = Common::N,
                                      n_entries = n_s * n_s;
        /// Number of blocks of neighbours that a lane keeps.
        static constexpr unsigned int n_kept = 3;
        /// Number of units of a block, where a unit is what a lane stores at
        /// once, and number of steps that a warp needs for a row.
        static constexpr unsigned int n_units = N % 2 == 0 ? N * N / 2 : N * N,
                                      n_steps =
                                        ((n_kept + 1) * n_units + 31) / 32;
        /// Number of values of a lane in shared memory: blocks of neighbours,
        /// S, the lower triangle of M, data of its row.
        static constexpr unsigned int n_mass = n_s * (n_s + 1) / 2,
                                      size   = ((n_kept + 1) * n_entries +
                                              n_mass + 4) |
                                             1u;
        static_assert(N <= 8 && n_s <= 4, "see units");
        struct Place
        {
          Number      *out; ///< first value of the row
          unsigned int width;
          /// Number of blocks of neighbours, plus 256 if the diagonal block is
          /// present.
          unsigned int present;
          unsigned int column[n_kept + 1];
        };
        static_assert(sizeof(Place) <= 32, "that many numbers");
        static constexpr unsigned int n_warps = dim == 3 ? 4 : 2;
        /// Number of lanes that share a row of many facets.
        static constexpr unsigned int many_lanes = 8;

        /// Bit positions in a packed unit, which describes what a lane stores
        /// in a step: index of the block, row and column in it; then, for one
        /// or two entries, their positions in a block in space, in M and in the
        /// matrix of time, and whether row and column have the same function of
        /// time.
        static constexpr unsigned int y_shift = 3, x_shift = 6, entry_shift = 9,
                                      mass_shift = 4, times_shift = 8,
                                      same_shift = 10, entry_bits = 11;

        const Data<dim>      &D;
        const unsigned int    lane;
        const double         *times;
        const unsigned short *index;
        double *const         shared; ///< shared memory of the warp
        double *const         kept;   ///< shared memory of this lane
        unsigned int          units[n_steps];

        __device__
        SlabAffineKernel(const Data<dim> &D,
                         const double    *common,
                         double          *shared)
          : D(D)
          , lane(threadIdx.x & 31u)
          , times(common)
          , index(reinterpret_cast<const unsigned short *>(common +
                                                           Common::n_times))
          , shared(shared)
          , kept(shared + lane * size)
        {
#pragma unroll
          for (unsigned int step = 0; step < n_steps; ++step)
            {
              const unsigned int i        = 32 * step + lane;
              const unsigned int in_block = i % n_units,
                                 per_row  = N % 2 == 0 ? N / 2 : N,
                                 y        = in_block / per_row,
                                 x        = in_block % per_row * (N / per_row);
              // Indices beyond the last block are skipped.
              unsigned int unit =
                min(i / n_units, 7u) | y << y_shift | x << x_shift;
#pragma unroll
              for (unsigned int j = 0; j < N / per_row; ++j)
                {
                  const unsigned int test = index[y], trial = index[x + j];
                  const unsigned int r = test & 255u, s = trial & 255u,
                                     m = max(r, s) * (max(r, s) + 1) / 2 +
                                         min(r, s);
                  const unsigned int entry =
                    (r * n_s + s) | m << mass_shift |
                    ((test >> 8) * 2 + (trial >> 8)) << times_shift |
                    (test >> 8 == trial >> 8 ? 1u : 0u) << same_shift;
                  unit |= entry << (entry_shift + j * entry_bits);
                }
              units[step] = unit;
            }
        }

        __device__ Place &
        place(const unsigned int of_lane) const
        {
          return *reinterpret_cast<Place *>(shared + of_lane * size +
                                            (n_kept + 1) * n_entries + n_mass);
        }

        /// Reads entry i of an array whose entries have an even number of
        /// values.
        template <int size>
        __device__ __forceinline__ static void
        read_pairs(const double      *array,
                   const unsigned int i,
                   double (&values)[size])
        {
          const double2 *from = reinterpret_cast<const double2 *>(array) +
                                std::size_t(size / 2) * i;
#pragma unroll
          for (int j = 0; j < size / 2; ++j)
            {
              const double2 two = __ldg(from + j);
              values[2 * j]     = two.x;
              values[2 * j + 1] = two.y;
            }
        }

        /// Reads centre and scale of the variables eta.
        __device__ void
        read_box(const unsigned int polytope,
                 double (&center)[n],
                 double (&scale)[n]) const
        {
          double box[2 * n];
          read_pairs(D.slab_box, polytope, box);
#pragma unroll
          for (int d = 0; d < n; ++d)
            {
              center[d] = box[d];
              scale[d]  = box[n + d];
            }
        }

        /// Square of the constant function of space.
        __device__ static double
        square_of_value(const double (&scale)[n])
        {
          // factor 1 / (2 sqrt(3)) for each variable
          double square = n == 2 ? 1. / 12. : 1.7320508075688772 / 72.;
#pragma unroll
          for (int d = 0; d < n; ++d)
            square *= scale[d];
          return square;
        }

        /// Centre of a facet in space, its edges from the first vertex, and the
        /// sign of the normal that the edges define in this order.
        struct Facet
        {
          double mean[n], edge[n - 1][n], sign;
        };

        __device__ Facet
        read_facet(const unsigned int facet) const
        {
          constexpr int n_pairs = (n * n + 1) / 2;
          double        numbers[2 * n_pairs];
          read_pairs(D.slab_facet, facet, numbers);
          Facet result;
#pragma unroll
          for (int d = 0; d < n; ++d)
            {
              result.mean[d] = numbers[d];
#pragma unroll
              for (int i = 0; i + 1 < n; ++i)
                result.edge[i][d] = numbers[(i + 1) * n + d];
            }
          result.sign = n == 2 ? 1. : numbers[2 * n_pairs - 1];
          return result;
        }

        /// Members facet, code, neighbor, column of a FacetPointGroup.
        __device__ uint4
        facet_point_group(const unsigned int number) const
        {
          return __ldg(
            reinterpret_cast<const uint4 *>(D.facet_point_group + number));
        }

        /// First facet, from the given one on, at which a neighbour or the
        /// boundary begins.
        __device__ unsigned int
        next_neighbor(const Row         &row,
                      unsigned int       facet,
                      const unsigned int n_facets) const
        {
          const auto neighbor = [&](const unsigned int f) {
            return facet_point_group(row.facet_begin +
                                     f * D.slab.point_groups_per_facet)
              .z;
          };
          while (facet > 0 && facet < n_facets &&
                 neighbor(facet) != invalid_index &&
                 neighbor(facet) == neighbor(facet - 1))
            ++facet;
          return facet;
        }

        /// Computes rows with n_lanes lanes each. All lanes of the warp must
        /// call this function.
        template <unsigned int n_lanes>
        __device__ void
        compute(const unsigned int k, const Row &row, const bool valid)
        {
          const unsigned int step = D.slab.point_groups_per_facet,
                             n_facets =
                               valid
                                 ? (row.bottom_begin - row.facet_begin) / step
                                 : 0;
          unsigned int begin = 0, end = n_facets;
          if constexpr (n_lanes > 1)
            {
              const unsigned int i        = lane % n_lanes,
                                 per_lane = (n_facets + n_lanes - 1) / n_lanes;
              begin = next_neighbor(row, min(i * per_lane, n_facets), n_facets);
              end =
                next_neighbor(row, min((i + 1) * per_lane, n_facets), n_facets);
            }
          begin = row.facet_begin + begin * step;
          end   = row.facet_begin + end * step;

          double center[n], scale[n], own[n_s][n_s], moment[n_s][n_s];
          read_box(k, center, scale);
          const double square = square_of_value(scale);
#pragma unroll
          for (unsigned int i = 0; i < n_s; ++i)
#pragma unroll
            for (unsigned int j = 0; j < n_s; ++j)
              own[i][j] = moment[i][j] = 0.;
          const double theta = D.form.flux ? D.form.theta : 0.;
          {
            Place &here = place(lane);
            here.out =
              static_cast<Number *>(D.values) + (row.value - D.first_value);
            here.width          = row.width;
            here.column[n_kept] = row.diagonal;
          }
          // The block of the present neighbour comes after n_blocks finished
          // blocks, unless the neighbour is the polytope itself.
          unsigned int neighbor = invalid_index, n_blocks = 0;
          const auto   keeps = [&]() {
            return neighbor != invalid_index && neighbor != k;
          };
          double *const rhs = kept + n_kept * n_entries;
          if (D.upright_boundary)
#pragma unroll
            for (unsigned int i = 0; i < N; ++i)
              rhs[i] = 0.;

          uint4 point_group = {0, 0, invalid_index, 0}, next = point_group;
          if (begin < end)
            next = facet_point_group(begin);
#pragma unroll 1
          for (unsigned int f = begin; __any_sync(~0u, f < end); f += step)
            {
              const bool active = f < end;
              point_group       = next;
              if (f + step < end)
                next = facet_point_group(f + step);
              const bool interior =
                active && D.form.matrix && point_group.z != invalid_index;
              Facet  facet;
              double sigma = 0., other_center[n] = {}, other_scale[n] = {};
              if (active)
                facet = read_facet(point_group.x);
              if (interior)
                {
                  sigma = __ldg(D.sigma + point_group.x);
                  read_box(point_group.z, other_center, other_scale);
                }
              bool first = false;
              if (D.form.matrix)
                {
                  first = active && point_group.z != neighbor;
                  if (first)
                    {
                      n_blocks += keeps();
                      neighbor = point_group.z;
                    }
                  const unsigned int full =
                    __ballot_sync(~0u, n_blocks == n_kept);
                  if (full != 0)
                    {
                      write_blocks(full, n_blocks, false);
                      if (n_blocks == n_kept)
                        n_blocks = 0;
                    }
                  if (first && keeps())
                    place(lane).column[n_blocks] = point_group.w;
                }
              if (!active)
                continue;

              // ---- geometry
              const bool side = point_group.y & FacetPointGroup::side;
              double     own_center[n];
#pragma unroll
              for (int d = 0; d < n; ++d)
                own_center[d] = center[d];
              // Facets are stored as side 0 sees them; the other side is
              // shifted.
              if (point_group.y & FacetPointGroup::shifted)
                {
                  const double *shift =
                    D.shift +
                    dim *
                      D.interface_shift
                        [D.polytope_interface[D.facet_point_group[f].entry] /
                         2];
#pragma unroll
                  for (int d = 0; d < n; ++d)
                    {
                      own_center[d] -= side ? shift[d] : 0.;
                      if (interior)
                        other_center[d] -= side ? 0. : shift[d];
                    }
                }
              double normal[n], axis[n - 1][n];
              facet_moments(facet, normal, axis);
              if (side)
#pragma unroll
                for (int d = 0; d < n; ++d)
                  normal[d] = -normal[d];
              double eta[n_s], V = 0.;
              eta[0] = 1.;
#pragma unroll
              for (int d = 0; d < n; ++d)
                {
                  const double x = facet.mean[d] - own_center[d];
                  V += normal[d] * x;
                  eta[d + 1] = x * scale[d];
                }
              V *= 1. / n;
              if (D.form.matrix && !interior)
                add_boundary(f, point_group.x, center, scale, theta, own);
              if (D.upright_boundary && point_group.z == invalid_index)
                add_boundary_rhs(f, point_group.x, center, scale, rhs);
              // coefficients of both sides
              double bn = 0., length = 0., own_d[n_s], other_d[n_s],
                     other_eta[n_s], own_axis[n - 1][n];
              own_d[0] = other_d[0] = 0.;
              other_eta[0]          = 1.;
#pragma unroll
              for (int d = 0; d < n; ++d)
                {
                  double conormal = 0.;
#pragma unroll
                  for (int e = 0; e < n; ++e)
                    conormal += D.form.a[d * dim + e] * (-0.5 * normal[e]);
                  bn += D.form.b[d] * normal[d];
                  length += normal[d] * normal[d];
                  own_d[d + 1]   = conormal * scale[d];
                  other_d[d + 1] = conormal * other_scale[d];
                  other_eta[d + 1] =
                    (facet.mean[d] - other_center[d]) * other_scale[d];
#pragma unroll
                  for (int e = 0; e + 1 < n; ++e)
                    {
                      own_axis[e][d] = axis[e][d] * scale[d];
                      axis[e][d] *= other_scale[d];
                    }
                }
              const double c = sqrt(length) * sigma - (bn < 0. ? bn : 0.);
#pragma unroll
              for (unsigned int i = 0; i < n_s; ++i)
#pragma unroll
                for (unsigned int j = 0; j <= i; ++j)
                  {
                    // mean over the facet of the product of two functions
                    double A = i == 0 ? 1. : eta[i] * eta[j];
#pragma unroll
                    for (int e = 0; e + 1 < n; ++e)
                      if (j > 0)
                        A += own_axis[e][i - 1] * own_axis[e][j - 1];
                    moment[i][j] += V * A;
                    if (interior)
                      {
                        const double symmetric = c * A;
                        own[i][j] += symmetric + eta[i] * own_d[j] +
                                     theta * own_d[i] * eta[j];
                        if (j < i)
                          own[j][i] += symmetric + eta[j] * own_d[i] +
                                       theta * own_d[j] * eta[i];
                      }
                  }
              if (!interior)
                continue;
              double F[n_s][n_s];
#pragma unroll
              for (unsigned int i = 0; i < n_s; ++i)
#pragma unroll
                for (unsigned int j = 0; j < n_s; ++j)
                  {
                    double B = eta[i] * other_eta[j];
#pragma unroll
                    for (int e = 0; e + 1 < n; ++e)
                      if (i > 0 && j > 0)
                        B += own_axis[e][i - 1] * axis[e][j - 1];
                    F[i][j] = eta[i] * other_d[j] -
                              theta * own_d[i] * other_eta[j] - c * B;
                  }
              if (neighbor == k)
                {
#pragma unroll
                  for (unsigned int i = 0; i < n_s; ++i)
#pragma unroll
                    for (unsigned int j = 0; j < n_s; ++j)
                      own[i][j] += F[i][j];
                  continue;
                }
              const double factor = sqrt(square * square_of_value(other_scale));
              double *const to    = kept + n_blocks * n_entries;
#pragma unroll
              for (unsigned int i = 0; i < n_s; ++i)
#pragma unroll
                for (unsigned int j = 0; j < n_s; ++j)
                  F[i][j] *= factor;
              if (!first)
#pragma unroll
                for (unsigned int i = 0; i < n_s; ++i)
#pragma unroll
                  for (unsigned int j = 0; j < n_s; ++j)
                    F[i][j] += to[i * n_s + j];
#pragma unroll
              for (unsigned int i = 0; i < n_s; ++i)
#pragma unroll
                for (unsigned int j = 0; j < n_s; ++j)
                  to[i * n_s + j] = F[i][j];
            }
          n_blocks += keeps();
          if constexpr (n_lanes > 1)
            {
#pragma unroll
              for (unsigned int i = 0; i < n_s; ++i)
#pragma unroll
                for (unsigned int j = 0; j < n_s; ++j)
                  {
                    own[i][j] = sum<n_lanes>(own[i][j]);
                    if (j <= i)
                      moment[i][j] = sum<n_lanes>(moment[i][j]);
                  }
            }
          const bool last = valid && lane % n_lanes == 0;
          if (D.form.rhs)
            store_rhs<n_lanes>(k, last, moment, square);
          if (!D.form.matrix)
            return;
          if (last)
            keep_diagonal(own, moment, scale, square);
          write_blocks(__ballot_sync(~0u, last || n_blocks > 0),
                       n_blocks,
                       last);
          if (valid && row.empty_blocks)
            write_zeros<n_lanes>(k);
        }

        /// Sum over the lanes of a row; all of them get the result.
        template <unsigned int n_lanes>
        __device__ static double
        sum(double x)
        {
#pragma unroll
          for (unsigned int step = 1; step < n_lanes; step *= 2)
            x += __shfl_xor_sync(~0u, x, step);
          return x;
        }

        /// Normal of a facet times its size, as side 0 sees it, and vectors
        /// whose outer products add up to the second moments about the centre
        /// (means of products of the variables).
        __device__ static void
        facet_moments(const Facet &facet,
                      double (&normal)[n],
                      double (&axis)[n - 1][n])
        {
          const auto &edge = facet.edge;
          if constexpr (n == 2)
            {
              normal[0] = edge[0][1];
              normal[1] = -edge[0][0];
            }
          else
#pragma unroll
            for (int d = 0; d < n; ++d)
              normal[d] = 0.5 * facet.sign *
                          (edge[0][(d + 1) % n] * edge[n - 2][(d + 2) % n] -
                           edge[0][(d + 2) % n] * edge[n - 2][(d + 1) % n]);
#pragma unroll
          for (int d = 0; d < n; ++d)
            if constexpr (n == 2)
              axis[0][d] = 0.2886751345948129 * edge[0][d]; // 1 / sqrt(12)
            else
              {
                // factors 1 / sqrt(72) and 1 / sqrt(24)
                axis[0][d] =
                  0.11785113019775793 * (edge[0][d] + edge[n - 2][d]);
                axis[n - 2][d] =
                  0.20412414523193154 * (edge[0][d] - edge[n - 2][d]);
              }
        }

        /// Evaluates 1 and the variables eta at a point of a facet rule, whose
        /// coordinates are at @p point with distance @p stride; @p v: vertices.
        __device__ static void
        evaluate_eta(const double      *point,
                     const unsigned int stride,
                     const double      *v,
                     const double (&center)[n],
                     const double (&scale)[n],
                     double (&eta)[n_s])
        {
          eta[0] = 1.;
#pragma unroll
          for (int d = 0; d < n; ++d)
            {
              const double first = __ldg(v + d);
              double       x     = first - center[d];
#pragma unroll
              for (int e = 0; e + 1 < n; ++e)
                x += __ldg(point + e * stride) *
                     (__ldg(v + (e + 1) * dim + d) - first);
              eta[d + 1] = x * scale[d];
            }
        }

        /// Adds the terms of a facet on the boundary.
        __device__ void
        add_boundary(const unsigned int number,
                     const unsigned int facet,
                     const double (&center)[n],
                     const double (&scale)[n],
                     const double theta,
                     double (&own)[n_s][n_s]) const
        {
          const FacetPointGroup point_group = D.facet_point_group[number];
          const SlabRule       &rule        = D.slab.facet;
          const FacetLayout    &L           = D.form.facet_layout;
          const double         *data        = D.rules + rule.offset,
                       *v = D.facet_vertices + std::size_t(facet) * (dim * dim),
                       *table = D.facet_table +
                                (D.entry_q[point_group.entry] -
                                 D.first_facet_point + point_group.point);
          // Measures in the mesh are those of products with the time interval.
          const double measure = rule.factor * __ldg(D.facet_measure + facet) *
                                 D.slab.inverse_length;
#pragma unroll 1
          for (unsigned int q = 0; q < rule.n_space; ++q)
            {
              const double w = __ldg(data + n * rule.n_points + q) * measure;
              const double c = __ldg(table + L.c[0] * D.n_facet_points + q) * w;
              double       eta[n_s], derivative[n_s];
              evaluate_eta(data + q, rule.n_points, v, center, scale, eta);
              derivative[0] = 0.;
#pragma unroll
              for (int d = 0; d < n; ++d)
                derivative[d + 1] =
                  L.b[0] >= 0
                    ? __ldg(table + (L.b[0] + d) * D.n_facet_points + q) * w *
                        scale[d]
                    : 0.;
#pragma unroll
              for (unsigned int i = 0; i < n_s; ++i)
#pragma unroll
                for (unsigned int j = 0; j < n_s; ++j)
                  own[i][j] += eta[i] * (c * eta[j] + derivative[j]) +
                               theta * derivative[i] * eta[j];
            }
        }

        /// Adds the right-hand side of a facet on the boundary, whose data may
        /// depend on time.
        __device__ void
        add_boundary_rhs(const unsigned int number,
                         const unsigned int facet,
                         const double (&center)[n],
                         const double (&scale)[n],
                         double *rhs) const
        {
          const FacetPointGroup point_group = D.facet_point_group[number];
          const SlabRule       &rule        = D.slab.facet;
          const FacetLayout    &L           = D.form.facet_layout;
          const double         *data        = D.rules + rule.offset,
                       *v = D.facet_vertices + std::size_t(facet) * (dim * dim),
                       *table = D.facet_table +
                                (D.entry_q[point_group.entry] -
                                 D.first_facet_point + point_group.point);
          const double inverse_length = D.slab.inverse_length,
                       factor         = facet_factor(dim, true) *
                                __ldg(D.facet_measure + facet) *
                                sqrt(square_of_value(scale) * inverse_length);
#pragma unroll 1
          for (unsigned int q = 0; q < rule.n_points; ++q)
            {
              const double w    = __ldg(data + n * rule.n_points + q) * factor;
              const auto   flux = [&](const int d) {
                return L.s >= 0
                           ? w * __ldg(table + (L.s + d) * D.n_facet_points + q)
                           : 0.;
              };
              // functions of time without a constant factor
              const double value =
                             w * __ldg(table + L.r * D.n_facet_points + q),
                           time =
                             1.7320508075688772 *
                             (2. * __ldg(data + (n - 1) * rule.n_points + q) -
                              1.),
                           time_slope =
                             2. * 1.7320508075688772 * inverse_length * flux(n);
              double eta[n_s], along[n_s];
              evaluate_eta(data + q, rule.n_points, v, center, scale, eta);
              along[0] = 0.;
#pragma unroll
              for (int d = 0; d < n; ++d)
                along[d + 1] = scale[d] * flux(d);
#pragma unroll 1
              for (unsigned int i = 0; i < N; ++i)
                {
                  const unsigned int s = index[i] & 255u;
                  double             e = 1., a = 0.;
#pragma unroll
                  for (unsigned int j = 1; j < n_s; ++j)
                    if (s == j)
                      {
                        e = eta[j];
                        a = along[j];
                      }
                  rhs[i] += index[i] < 256
                              ? value * e + a
                              : (value * e + a) * time + time_slope * e;
                }
            }
        }

        /// Stores S and M in shared memory.
        __device__ void
        keep_diagonal(const double (&own)[n_s][n_s],
                      const double (&moment)[n_s][n_s],
                      const double (&scale)[n],
                      const double square) const
        {
          double *const S = kept + n_kept * n_entries, *const M = S + n_entries;
          const auto mass = [&](const unsigned int i, const unsigned int j) {
            // moments contains V times the mean; see the formula above.
            return square * (i > j ? moment[i][j] : moment[j][i]) *
                   (double(n) / (n + (i > 0) + (j > 0)));
          };
#pragma unroll
          for (unsigned int i = 0; i < n_s; ++i)
#pragma unroll
            for (unsigned int j = 0; j < n_s; ++j)
              {
                const auto  &C     = D.form.C;
                const double entry = mass(i, j);
                double       s     = square * own[i][j] + C[0][0] * entry;
                if (j > 0)
                  s += C[0][j] * scale[j > 0 ? j - 1 : 0] * mass(i, 0);
                if (i > 0)
                  s += C[i][0] * scale[i > 0 ? i - 1 : 0] * mass(j, 0);
                if (i > 0 && j > 0)
                  s += C[i][j] * scale[i > 0 ? i - 1 : 0] *
                       scale[j > 0 ? j - 1 : 0] * mass(0, 0);
                S[i * n_s + j] = s;
                if (j <= i)
                  M[i * (i + 1) / 2 + j] = entry;
              }
        }

        /// Like SlabKernel::store_rhs(), plus the boundary part if there is
        /// data.
        template <unsigned int n_lanes>
        __device__ void
        store_rhs(const unsigned int k,
                  const bool         last,
                  const double (&moment)[n_s][n_s],
                  const double square)
        {
          double *const rhs     = kept + n_kept * n_entries,
                        *source = rhs + n_entries;
          static_assert(N <= n_entries && n_s <= n_mass, "they go there");
          if (n_lanes > 1 && D.upright_boundary)
            for (unsigned int i = 0; i < N; ++i)
              rhs[i] = sum<n_lanes>(rhs[i]);
          if (!last)
            return;
          const double factor = D.form.f * sqrt(square / D.slab.inverse_length);
#pragma unroll
          for (unsigned int s = 0; s < n_s; ++s)
            source[s] = factor * moment[s][0] * (s == 0 ? 1. : n / (n + 1.));
          Number *const to =
            static_cast<Number *>(D.rhs) + (D.dof_offset[k] - D.first_dof);
#pragma unroll
          for (unsigned int i = 0; i < N; ++i)
            {
              double entry = D.upright_boundary ? rhs[i] : 0.;
              if (index[i] < 256)
                entry += source[index[i]];
              to[i] = Number(entry);
            }
        }

        /// Writes the blocks of the given lanes and, if requested, their
        /// diagonal blocks; all lanes must call this function.
        __device__ void
        write_blocks(unsigned int       of_lanes,
                     const unsigned int n_blocks,
                     const bool         diagonal) const
        {
          const double time_factor = D.form.C[0][dim] * D.slab.inverse_length;
          place(lane).present      = n_blocks | (diagonal ? 256u : 0u);
          __syncwarp();
#pragma unroll
          for (unsigned int step = 0; step < n_steps; ++step)
            {
              unsigned int unit = units[step];
              // Keeps the compiler from unpacking units ahead, which would need
              // too many registers.
              asm volatile("" : "+r"(unit));
              const unsigned int number = unit & 7u,
                                 block  = min(number, n_kept),
                                 y      = unit >> y_shift & 7u,
                                 x      = unit >> x_shift & 7u;
              const bool   own          = number == n_kept;
              unsigned int from_S[2], from_M[2];
              double       times_M[2];
              bool         same[2];
#pragma unroll
              for (unsigned int j = 0; j < (N % 2 == 0 ? 2 : 1); ++j)
                {
                  const unsigned int e = unit >> (entry_shift + j * entry_bits);
                  from_S[j]            = block * n_entries + (e & 15u);
                  from_M[j] =
                    (n_kept + 1) * n_entries + (e >> mass_shift & 15u);
                  times_M[j] = time_factor * times[e >> times_shift & 3u];
                  same[j]    = e >> same_shift & 1u;
                }
              const auto write = [&](const unsigned int from, const bool flag) {
                const double *const blocks = shared + from * size;
                const Place        &to     = place(from);
                const unsigned int  there  = to.present;
                Number *const       p =
                  to.out + (to.column[block] + y * to.width + x);
                double entry[2] = {};
#pragma unroll
                for (unsigned int j = 0; j < (N % 2 == 0 ? 2 : 1); ++j)
                  {
                    if (same[j])
                      entry[j] = blocks[from_S[j]];
                    if (own)
                      entry[j] += times_M[j] * blocks[from_M[j]];
                  }
                if (flag && (own ? there >= 256 : number < (there & 255u)))
                  {
                    if constexpr (N % 2 == 0)
                      {
                        Two<Number> two;
                        two.x                               = Number(entry[0]);
                        two.y                               = Number(entry[1]);
                        *reinterpret_cast<Two<Number> *>(p) = two;
                      }
                    else
                      *p = Number(entry[0]);
                  }
              };
#pragma unroll 1
              for (unsigned int lanes = of_lanes; lanes != 0;)
                {
                  const unsigned int first = __ffs(lanes) - 1;
                  lanes &= lanes - 1;
                  const unsigned int second =
                    lanes != 0 ? __ffs(lanes) - 1 : first;
                  const bool two = lanes != 0;
                  lanes &= lanes - 1;
                  write(first, true);
                  write(second, two);
                }
            }
          __syncwarp();
        }

        /// Writes zeros to the blocks that receive no facet contributions.
        template <unsigned int n_lanes>
        __device__ void
        write_zeros(const unsigned int k) const
        {
          const Place &to = place(lane);
          for (std::uint64_t b = D.block_offset[k] + lane % n_lanes;
               b < D.block_offset[k + 1];
               b += n_lanes)
            if (D.block_column[b] != k &&
                D.block_point_group[b].x == D.block_point_group[b].y)
              for (unsigned int y = 0; y < N; ++y)
                for (unsigned int x = 0; x < N; ++x)
                  to.out[D.column_offset[b] + std::size_t(y) * to.width + x] =
                    0.;
        }
      };



      template <int dim, bool prismatic, typename Number>
      __global__ void
        __launch_bounds__(32 *
                            SlabAffineKernel<dim, prismatic, Number>::n_warps,
                          dim == 3 ? 4 : 5)
          slab_affine_kernel(const __grid_constant__ Data<dim> D,
                             const unsigned int                rows_per_warp)
      {
        extern __shared__ double2 shared[];
        using Kernel         = SlabAffineKernel<dim, prismatic, Number>;
        double *const common = reinterpret_cast<double *>(shared);
        Kernel::Common::fill_common(D, common);
        __syncthreads();
        const unsigned int warp = threadIdx.x / 32, lane = threadIdx.x & 31u,
                           number = (blockIdx.x * Kernel::n_warps + warp) *
                                      rows_per_warp +
                                    lane;
        const bool here        = lane < rows_per_warp && number < D.n_polytopes;
        const unsigned int k   = D.first_polytope + (here ? number : 0);
        const Row          row = D.rows[k];
        const bool         valid = here && row.upright,
                   few           = row.bottom_begin - row.facet_begin <=
                         SlabRules::few_facets * D.slab.point_groups_per_facet;
        Kernel kernel(D,
                      common,
                      common + Kernel::Common::common_size +
                        warp * (32 * Kernel::size));
        if (__any_sync(~0u, valid && few))
          kernel.template compute<1>(k, row, valid && few);
        constexpr unsigned int many   = Kernel::many_lanes;
        unsigned int           others = __ballot_sync(~0u, valid && !few);
#pragma unroll 1
        while (others != 0)
          {
            // one row per group of lanes
            unsigned int from = 32;
            for (unsigned int i = 0; i < 32 / many; ++i, others &= others - 1)
              if (i == lane / many && others != 0)
                from = __ffs(others) - 1;
            const unsigned int of_group = __shfl_sync(~0u, k, from % 32);
            kernel.template compute<many>(of_group,
                                          D.rows[of_group],
                                          from < 32);
          }
      }



      template <int dim, bool prismatic, typename Number>
      void
      launch_slab_affine_rows(const Data<dim> &data, const cudaStream_t stream)
      {
        using Kernel = SlabAffineKernel<dim, prismatic, Number>;
        // Up to one row per lane, but enough warps for all multiprocessors.
        const unsigned int rows_per_warp =
                             data.slab.mostly_many_facets
                               ? 4
                               : std::min(32u,
                                          std::max(4u, data.n_polytopes >> 11)),
                           rows_per_block = rows_per_warp * Kernel::n_warps;
        slab_affine_kernel<dim, prismatic, Number>
          <<<(data.n_polytopes + rows_per_block - 1) / rows_per_block,
             32 * Kernel::n_warps,
             (Kernel::Common::common_size +
              Kernel::n_warps * (32 * Kernel::size)) *
               sizeof(double),
             stream>>>(data, rows_per_warp);
        check(cudaGetLastError(), "the start of a kernel");
      }



      /// Computes Data::slab_box and Data::slab_facet.
      template <int dim>
      __global__ void
      slab_geometry_kernel(const __grid_constant__ Data<dim> D,
                           const unsigned int                n_polytopes,
                           const unsigned int                n_facets,
                           double                           *box,
                           double                           *facet)
      {
        constexpr int      n = dim - 1, n_numbers = (n * n + 1) / 2 * 2;
        const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n_polytopes)
          for (int d = 0; d < n; ++d)
            {
              const double *map = D.box_map + 4 * (std::size_t(dim) * i + d);
              box[std::size_t(2 * n) * i + d]     = map[0];
              box[std::size_t(2 * n) * i + n + d] = sqrt(3.) * map[1];
            }
        if (i < n_facets)
          {
            const double *v = D.facet_vertices + std::size_t(i) * (dim * dim),
                         *outward = D.facet_normal + std::size_t(i) * dim;
            double x[n][n], edge[n][n];
            for (int j = 0; j < n; ++j)
              for (int d = 0; d < n; ++d)
                {
                  x[j][d]    = v[j * dim + d];
                  edge[j][d] = x[j][d] - v[d];
                }
            double sum = 0.;
            for (int d = 0; d < n; ++d)
              sum +=
                outward[d] *
                (n == 2 ? (d == 0 ? edge[1][1] : -edge[1][0])
                        : edge[1][(d + 1) % n] * edge[n - 1][(d + 2) % n] -
                            edge[1][(d + 2) % n] * edge[n - 1][(d + 1) % n]);
            double *const to = facet + std::size_t(n_numbers) * i;
            for (int d = 0; d < n; ++d)
              {
                double total = 0.;
                for (int j = 0; j < n; ++j)
                  total += x[j][d];
                to[d] = (1. / n) * total;
                for (int j = 1; j < n; ++j)
                  to[j * n + d] = n == 2 && sum < 0. ? -edge[j][d] : edge[j][d];
              }
            if (n == 3)
              to[n_numbers - 1] = sum < 0. ? -1. : 1.;
          }
      }

      template <int dim>
      void
      launch_slab_geometry(const Data<dim>   &data,
                           const unsigned int n_polytopes,
                           const unsigned int n_facets,
                           double            *box,
                           double            *facet,
                           const cudaStream_t stream)
      {
        slab_geometry_kernel<dim>
          <<<(std::max(n_polytopes, n_facets) + 255) / 256, 256, 0, stream>>>(
            data, n_polytopes, n_facets, box, facet);
        check(cudaGetLastError(), "the start of a kernel");
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
