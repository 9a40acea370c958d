// SPDX-License-Identifier: LGPL-2.1-or-later
#ifndef tessella_cuda_basis_h
#define tessella_cuda_basis_h

#include <tessella/fe/legendre.h>

#include "data.h"
#include "points.h"

// Basis functions at batches of quadrature points ("slots"), as tables in
// shared memory: the functions of x, and products of functions of y and z. A
// basis function and its derivatives take one entry of each.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      template <typename Number>
      struct Vector2;
      template <>
      struct Vector2<double>
      {
        using type = double2;
      };
      template <>
      struct Vector2<float>
      {
        using type = float2;
      };
      template <typename Number>
      using Two = typename Vector2<Number>::type;

      /// Distance between entries of a table for a number of slots: the eight
      /// addresses that a quarter of a warp reads at once lie in different
      /// banks, because functions 2i and 2i+1 have the same entry or ones of
      /// different parity.
      __host__ __device__ constexpr unsigned int
      slot_stride(const unsigned int n_slots)
      {
        return n_slots == 4 ? 4 : n_slots + 4;
      }

      /// Products of functions of y and z.
      __host__ __device__ constexpr unsigned int
      n_pairs(const int dim, const unsigned int degree, const bool tensor)
      {
        return dim == 2 ? degree + 1
               : tensor ? (degree + 1) * (degree + 1)
                        : (degree + 1) * (degree + 2) / 2;
      }

      /// Entry of a product in the table.
      template <int dim>
      __host__ __device__ constexpr unsigned int
      pair_index(const unsigned int ey,
                 const unsigned int ez,
                 const unsigned int degree,
                 const bool         tensor)
      {
        return dim == 2 ? ey
               : tensor ? ey * (degree + 1) + ez
                        : (ey + ez) * (ey + ez + 1) / 2 + ez;
      }

      /// Where a function lies in the tables: entry of x << 16 | entry of the
      /// product; those beyond n are any valid one.
      template <int dim>
      __device__ inline unsigned int
      table_position(const Data<dim>   &D,
                     const unsigned int i,
                     const unsigned int n,
                     const unsigned int degree)
      {
        if (i >= n)
          return 0;
        const unsigned char *e = D.exponents + dim * i;
        return (unsigned int)e[0] << 16 |
               pair_index<dim>(e[1], e[dim - 1], degree, D.tensor_space);
      }

      /// Values and derivatives (times factor) of the one-dimensional functions
      /// of a box: first is center and scale of the map, second the scales
      /// of values and of derivatives.
      template <int L>
      __device__ inline void
      legendre(const double2      first,
               const double2      second,
               const unsigned int degree,
               const double       x,
               const double       factor,
               double (&v)[L],
               double (&dv)[L])
      {
        const double xi = (x - first.x) * first.y, value_scale = second.x,
                     derivative_scale = second.y * factor;
        double previous = 1., current = xi, d_previous = 0., d_current = 1.;
        v[0]  = value_scale;
        dv[0] = 0.;
#pragma unroll
        for (unsigned int n = 1; n < L; ++n)
          {
            if (n > degree)
              break;
            const double scale = Legendre::internal::scale(n);
            v[n]               = scale * value_scale * current;
            dv[n]              = scale * derivative_scale * d_current;
            if (n + 1 < L)
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

      /// The tables of one slot. P: degree, or -1 if it is known at run time
      /// only. stride: distance between entries.
      template <int dim, int P, typename Number>
      struct SlotTables
      {
        static constexpr int          L     = P >= 0 ? P + 1 : 11;
        static constexpr unsigned int known = P >= 0 ? P : 0;

        double y[L], dy[L], z[dim == 3 ? L : 1], dz[dim == 3 ? L : 1];
        const unsigned int degree, stride;
        const bool         tensor;

        /// Writes the functions of x, values times sign. m: factors of the
        /// derivatives.
        __device__
        SlotTables(const Data<dim>   &D,
                   const unsigned int polytope,
                   const unsigned int p,
                   const double (&point)[dim],
                   const double (&m)[dim],
                   const double       sign,
                   Two<Number>       *X,
                   const unsigned int stride)
          : degree(P >= 0 ? known : p)
          , stride(stride)
          , tensor(P < 0 && D.tensor_space)
        {
          // All loads first.
          const double2 *from = reinterpret_cast<const double2 *>(
            D.box_map + std::size_t(4 * dim) * polytope);
          double2 map[2 * dim];
#pragma unroll
          for (int i = 0; i < 2 * dim; ++i)
            map[i] = __ldg(from + i);
          legendre(map[0], map[1], degree, point[0], m[0], y, dy);
#pragma unroll
          for (unsigned int k = 0; k < L; ++k)
            if (k <= degree)
              {
                Two<Number> entry;
                entry.x       = Number(sign * y[k]);
                entry.y       = Number(dy[k]);
                X[k * stride] = entry;
              }
          legendre(map[2], map[3], degree, point[1], m[1], y, dy);
          if constexpr (dim == 3)
            legendre(map[4], map[5], degree, point[2], m[2], z, dz);
        }

        template <typename Function>
        __device__ void
        for_pairs(const Function &function) const
        {
          if constexpr (dim == 2)
            {
#pragma unroll
              for (unsigned int k = 0; k < L; ++k)
                if (k <= degree)
                  function(k, k, 0);
            }
          else
            {
#pragma unroll
              for (unsigned int ky = 0; ky < L; ++ky)
#pragma unroll
                for (unsigned int kz = 0; kz < L; ++kz)
                  if (ky <= degree && kz <= (tensor ? degree : degree - ky))
                    function(pair_index<dim>(ky, kz, degree, tensor), ky, kz);
            }
        }

        /// For sums of values and one directional derivative: a function is
        /// X.x P.x, its derivative X.y P.x + X.x P.y. All times sign.
        __device__ void
        write_directional(const double sign, Two<Number> *pairs) const
        {
          for_pairs([&](const unsigned int i,
                        const unsigned int ky,
                        const unsigned int kz) {
            Two<Number> entry;
            if constexpr (dim == 2)
              {
                entry.x = Number(y[ky]);
                entry.y = Number(sign * dy[ky]);
              }
            else
              {
                entry.x = Number(y[ky] * z[kz]);
                entry.y = Number(sign * (dy[ky] * z[kz] + y[ky] * dz[kz]));
              }
            pairs[i * stride] = entry;
          });
        }

        /// For values only: a function is X.x V.
        __device__ void
        write_values(Number *V) const
        {
          for_pairs([&](const unsigned int i,
                        const unsigned int ky,
                        const unsigned int kz) {
            V[i * stride] =
              dim == 2 ? Number(y[ky]) : Number(y[ky] * z[dim == 3 ? kz : 0]);
          });
        }

        /// For all derivatives: a function is X.x V, its derivatives X.y V, X.x
        /// G.x, X.x G.y.
        __device__ void
        write_gradient(Number *V, Two<Number> *G) const
        {
          for_pairs([&](const unsigned int i,
                        const unsigned int ky,
                        const unsigned int kz) {
            Two<Number> entry;
            if constexpr (dim == 2)
              {
                V[i * stride] = Number(y[ky]);
                entry.x       = Number(dy[ky]);
                entry.y       = Number(0.);
              }
            else
              {
                V[i * stride] = Number(y[ky] * z[kz]);
                entry.x       = Number(dy[ky] * z[kz]);
                entry.y       = Number(y[ky] * dz[kz]);
              }
            G[i * stride] = entry;
          });
        }
      };



      /// Adds the right-hand side at one of four points each; explicitly fused,
      /// so that all kernels round in the same way.
      template <int T, typename Number>
      __device__ inline void
      add_source(Number (&sum)[T], const Number source, const Number (&v)[T])
      {
#pragma unroll
        for (int t = 0; t < T; ++t)
          sum[t] = fma(source, v[t], sum[t]);
      }

      /// Sum over the four lanes of a function.
      template <int T, typename Number>
      __device__ inline void
      sum_over_points(Number (&sum)[T])
      {
#pragma unroll
        for (int t = 0; t < T; ++t)
          {
            sum[t] += __shfl_xor_sync(~0u, sum[t], 1);
            sum[t] += __shfl_xor_sync(~0u, sum[t], 2);
          }
      }



      /// Tables of a batch of slots in shared memory, what is in them, and how
      /// a warp fills them.
      template <int dim, int P, typename Number>
      struct Batch
      {
        static constexpr unsigned int known = P >= 0 ? P : 0;

        const Data<dim>   &D;
        const unsigned int n_slots, stride, n_x, n_pairs_;
        /// Functions of the row's polytope and of the neighbour.
        Two<Number> *own_x, *own_pairs, *other_x, *other_pairs;
        /// With write_gradient(): values and derivatives of products.
        Number      *V;
        Two<Number> *G;
        Number      *volume_coefficients; ///< [c * stride + slot]
        Number      *coefficients; ///< of values on facets, for each side

        __device__
        Batch(const Data<dim> &D, const unsigned int n_slots, void *shared)
          : D(D)
          , n_slots(n_slots)
          , stride(slot_stride(n_slots))
          , n_x((P >= 0 ? known : D.max_degree) + 1)
          , n_pairs_(P >= 0 ? n_pairs(dim, known, false) : D.n_pairs)
          , own_x(static_cast<Two<Number> *>(shared))
          , own_pairs(own_x + n_x * stride)
          , other_x(own_pairs + n_pairs_ * stride)
          , other_pairs(other_x + n_x * stride)
          , V(reinterpret_cast<Number *>(own_pairs))
          , G(reinterpret_cast<Two<Number> *>(V + n_pairs_ * stride))
          , volume_coefficients(
              reinterpret_cast<Number *>(G + n_pairs_ * stride))
          , coefficients(
              reinterpret_cast<Number *>(other_pairs + n_pairs_ * stride))
        {}

        /// Bytes of shared memory for fill_volume(); full: with all
        /// coefficients.
        static std::size_t
        volume_size(const unsigned int n_slots,
                    const unsigned int degree,
                    const unsigned int n_pairs,
                    const bool         full)
        {
          return slot_stride(n_slots) *
                 (2 * (degree + 1) + 3 * n_pairs + n_coefficients(full)) *
                 sizeof(Number);
        }

        /// The same for fill_facets().
        static std::size_t
        facet_size(const unsigned int n_slots,
                   const unsigned int degree,
                   const unsigned int n_pairs)
        {
          return slot_stride(n_slots) * (4 * (degree + 1 + n_pairs) + 2) *
                 sizeof(Number);
        }

        // The last one is the right-hand side.
        __host__ __device__ static constexpr unsigned int
        n_coefficients(const bool full)
        {
          return (full ? (dim + 1) * (dim + 1) : 2) + 1;
        }

        /// Right-hand side at the slots, times the weight.
        __device__ const Number *
        source() const
        {
          return volume_coefficients +
                 (n_coefficients(!D.form.diagonal) - 1) * stride;
        }

        /// What the lane's slot holds of quads [begin, end). Loaded before it
        /// is needed, since its data takes one memory access after another.
        __device__ VolumeQuad
        volume_quad(const unsigned int begin, const unsigned int end) const
        {
          const unsigned int slot = (threadIdx.x & 31u) % n_slots;
          VolumeQuad         quad = {};
          if (begin < end)
            quad = D.volume_quad[min(begin + slot / 4, end - 1)];
          return quad;
        }

        __device__ FacetQuad
        facet_quad(const unsigned int begin, const unsigned int end) const
        {
          const unsigned int slot = (threadIdx.x & 31u) % n_slots;
          FacetQuad          quad = {};
          if (begin < end)
            quad = D.facet_quad[min(begin + slot / 4, end - 1)];
          return quad;
        }

        /// Fills slots with the points of volume quads [begin, end): tables of
        /// gradients and, if @p matrix, the coefficients of the form times the
        /// weight (diagonal: of gradients, of values; else all, row by row),
        /// and the right-hand side.
        template <bool matrix>
        __device__ void
        fill_volume(const unsigned int polytope,
                    const VolumeQuad  &quad,
                    const unsigned int begin,
                    const unsigned int end)
        {
          const unsigned int lane = threadIdx.x & 31u;
          __syncwarp();
          if (lane < n_slots)
            {
              const unsigned int degree = P >= 0 ? known : D.degree[polytope];
              double             point[dim], w;
              const unsigned int n = n_volume_points(D, quad.subcell, degree);
              const unsigned int q = min(quad.first + (lane & 3u), n - 1);
              w = volume_point(D, quad.subcell, q, degree, point);
              if (begin + lane / 4 >= end || quad.first + (lane & 3u) >= n)
                w = 0.;
              double ones[dim];
              for (int d = 0; d < dim; ++d)
                ones[d] = 1.;
              {
                const SlotTables<dim, P, Number> tables(
                  D, polytope, degree, point, ones, 1., own_x + lane, stride);
                if (matrix)
                  tables.write_gradient(V + lane, G + lane);
                else
                  tables.write_values(V + lane);
              }
              const auto table_index = [&]() {
                return quad.point + (q - quad.first) - D.first_volume_point;
              };
              if (matrix)
                write_volume_coefficients(w,
                                          table_index,
                                          volume_coefficients + lane);
              if (D.form.source())
                volume_coefficients[(n_coefficients(!D.form.diagonal) - 1) *
                                      stride +
                                    lane] =
                  Number(w * (D.form.constant_f
                                ? D.form.f
                                : __ldg(&D.volume_table[D.form.volume_layout.f *
                                                          D.n_volume_points +
                                                        table_index()])));
            }
          __syncwarp();
        }

        template <typename Index>
        __device__ void
        write_volume_coefficients(const double w,
                                  const Index &table_index,
                                  Number      *c) const
        {
          constexpr int n = dim + 1;
          if (D.form.constant_volume)
            {
              if (D.form.diagonal)
                {
                  c[0]      = Number(w * D.form.C[1][1]);
                  c[stride] = Number(w * D.form.C[0][0]);
                }
              else
                for (int e = 0; e < n; ++e)
                  for (int f = 0; f < n; ++f)
                    c[(e * n + f) * stride] = Number(w * D.form.C[e][f]);
              return;
            }
          const VolumeLayout &L  = D.form.volume_layout;
          const std::uint64_t t  = table_index();
          const auto          at = [&](const int array) {
            return Number(
              w * __ldg(&D.volume_table[array * D.n_volume_points + t]));
          };
          if (D.form.diagonal)
            {
              c[0]      = L.a >= 0 ? at(L.a) : Number(0.);
              c[stride] = L.c >= 0 ? at(L.c) : Number(0.);
              return;
            }
          c[0] = L.c >= 0 ? at(L.c) : Number(0.);
          for (int d = 0; d < dim; ++d)
            {
              c[(1 + d) * stride] = L.b >= 0 ? at(L.b + d) : Number(0.);
              c[(d + 1) * n * stride] =
                L.beta >= 0 ? at(L.beta + d) : Number(0.);
              for (int e = 0; e < dim; ++e)
                c[((d + 1) * n + 1 + e) * stride] = L.a < 0 ? Number(0.)
                                                    : L.tensor
                                                      ? at(L.a + d * dim + e)
                                                    : d == e ? at(L.a)
                                                             : Number(0.);
            }
        }

        /// What is integrated on facets.
        enum class Facets
        {
          /// v (c w + b . grad w) + theta (b . grad v) w, where both sides'
          /// terms have these coefficients (interior penalty)
          penalty,
          /// v (c w + b . grad w)
          value_rows,
          /// (beta . grad v) w, beta of the diagonal block
          flux_rows,
          /// the same for the neighbour's block
          flux_rows_pair,
          /// the right-hand side r v + s . grad v
          rhs
        };

        /// Fills slots with the points of facet quads [begin, end): tables of
        /// directional derivatives and coefficients of values, all times the
        /// weight; the neighbour's with opposite sign if @p pair.
        template <Facets terms, bool pair>
        __device__ void
        fill_facets(const unsigned int polytope,
                    const FacetQuad   &quad,
                    const unsigned int begin,
                    const unsigned int end)
        {
          const unsigned int lane = threadIdx.x & 31u;
          // With few slots, half of the warp serves each side.
          const unsigned int slot  = lane < n_slots ? lane : lane - n_slots;
          const bool         split = pair && n_slots <= 16;
          __syncwarp();
          if (lane < (split ? 2 * n_slots : n_slots))
            {
              const unsigned int neighbor = quad.neighbor;
              const unsigned int own_degree =
                P >= 0 ? known : D.degree[polytope];
              const unsigned int other_degree =
                P >= 0 || neighbor == invalid_index ? own_degree
                                                    : D.degree[neighbor];
              const unsigned int degree = max(own_degree, other_degree);
              const unsigned int n      = n_facet_points(D, quad.facet, degree);
              const unsigned int first  = (quad.code >> 2) + (slot & 3u);
              const unsigned int q      = min(first, n - 1);
              double             x[dim], normal[dim], w;
              w = facet_point(D, quad.facet, q, degree, x, normal);
              if (begin + slot / 4 >= end || first >= n)
                w = 0.;
              const bool side = quad.code & 1u;
              if (side)
                for (int d = 0; d < dim; ++d)
                  normal[d] = -normal[d];

              double own_m[dim], other_m[dim], c[2];
              if (D.form.constant_facets && neighbor != invalid_index)
                {
                  double bn = 0.;
                  for (int d = 0; d < dim; ++d)
                    {
                      double conormal = 0.;
                      for (int e = 0; e < dim; ++e)
                        conormal += D.form.a[d * dim + e] * normal[e];
                      bn += D.form.b[d] * normal[d];
                      own_m[d] = other_m[d] = -0.5 * w * conormal;
                    }
                  c[0] = c[1] =
                    w * (__ldg(D.sigma + quad.facet) - (bn < 0. ? bn : 0.));
                }
              else
                read_facet_coefficients<terms>(quad, q, w, own_m, other_m, c);

                // Side 0 first: shared memory of both sides is apart.
#pragma unroll 1
              for (unsigned int s = split ? lane / n_slots : 0;
                   s < (pair ? 2u : 1u);
                   s += split ? 2 : 1)
                {
                  if (s == 1 && neighbor == invalid_index)
                    break;
                  double y[dim];
                  for (int d = 0; d < dim; ++d)
                    y[d] = x[d];
                  // Facets lie where side 0 sees them.
                  if ((quad.code & 2u) && (s == 1) != side)
                    {
                      const double *shift =
                        D.shift +
                        dim *
                          D.interface_shift[D.polytope_interface[quad.entry] /
                                            2];
                      for (int d = 0; d < dim; ++d)
                        y[d] += shift[d];
                    }
                  const unsigned int offset =
                    s == 0 ? 0 : (n_x + n_pairs_) * stride;
                  double m[dim];
                  for (int d = 0; d < dim; ++d)
                    m[d] = s == 0 ? own_m[d] : other_m[d];
                  const double                     sign = s == 0 ? 1. : -1.;
                  const SlotTables<dim, P, Number> tables(D,
                                                          s == 0 ? polytope
                                                                 : neighbor,
                                                          s == 0 ? own_degree
                                                                 : other_degree,
                                                          y,
                                                          m,
                                                          sign,
                                                          own_x + offset + slot,
                                                          stride);
                  tables.write_directional(sign, own_pairs + offset + slot);
                  coefficients[s * stride + slot] = Number(c[s]);
                }
            }
          __syncwarp();
        }

        // c[1] with opposite sign.
        template <Facets terms>
        __device__ void
        read_facet_coefficients(const FacetQuad   &quad,
                                const unsigned int q,
                                const double       w,
                                double (&own_m)[dim],
                                double (&other_m)[dim],
                                double (&c)[2]) const
        {
          const FacetLayout  &L = D.form.facet_layout;
          const std::uint64_t t = D.entry_q[quad.entry] - D.first_facet_point +
                                  quad.point + (q - (quad.code >> 2));
          const bool interior = quad.neighbor != invalid_index;
          const auto at       = [&](const int array) {
            return array >= 0
                           ? w * __ldg(&D.facet_table[array * D.n_facet_points + t])
                           : 0.;
          };
          const auto component = [&](const int array, const int d) {
            return array >= 0
                     ? w * __ldg(
                             &D.facet_table[(array + d) * D.n_facet_points + t])
                     : 0.;
          };
          for (int d = 0; d < dim; ++d)
            own_m[d] = other_m[d] = 0.;
          c[0] = c[1] = 0.;
          if (terms == Facets::penalty || terms == Facets::value_rows)
            {
              c[0] = at(L.c[0]);
              for (int d = 0; d < dim; ++d)
                own_m[d] = component(L.b[0], d);
              if (interior)
                {
                  c[1] = terms == Facets::penalty ? c[0] : -at(L.c[1]);
                  for (int d = 0; d < dim; ++d)
                    other_m[d] = component(L.b[1], d);
                }
            }
          else if (terms == Facets::flux_rows)
            for (int d = 0; d < dim; ++d)
              own_m[d] = component(L.beta[0], d);
          else if (terms == Facets::flux_rows_pair)
            {
              if (interior)
                for (int d = 0; d < dim; ++d)
                  own_m[d] = component(L.beta[1], d);
            }
          else
            {
              c[0] = at(L.r);
              for (int d = 0; d < dim; ++d)
                own_m[d] = component(L.s, d);
            }
        }
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
