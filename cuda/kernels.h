// SPDX-License-Identifier: LGPL-2.1-or-later
#ifndef tessella_cuda_kernels_h
#define tessella_cuda_kernels_h

#include "data.h"
#include "points.h"
#include "product.h"

// Device code of the assembly.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Points of a batch.
      constexpr unsigned int batch = 8;

      /// Legendre's recurrence: (2 n + 1) / (n + 1), n / (n + 1), sqrt(2 n + 1)
      static __constant__ double recurrence[3][11];

      /// Map of one variable from a bounding box to [-1, 1], and the factors
      /// that make the functions orthonormal.
      struct BoxMap
      {
        double center, scale, value_scale, derivative_scale;

        __device__ explicit BoxMap(const double *map)
          : center(map[0])
          , scale(map[1])
          , value_scale(map[2])
          , derivative_scale(map[3])
        {}
      };

      /// One-dimensional functions of the degree at coordinate x, values and
      /// derivatives.
      __device__ inline void
      write_table(const BoxMap      &map,
                  const unsigned int degree,
                  const double       x,
                  double2           *table)
      {
        const double xi = (x - map.center) * map.scale;
        double previous = 1., current = xi, d_previous = 0., d_current = 1.;
        table[0] = make_double2(map.value_scale, 0.);
        if (degree > 0)
          table[1] = make_double2(recurrence[2][1] * xi * map.value_scale,
                                  recurrence[2][1] * map.derivative_scale);
        for (unsigned int n = 1; n < degree; ++n)
          {
            const double next =
              xi * current * recurrence[0][n] - previous * recurrence[1][n];
            const double d_next = d_previous + current * (2. * n + 1.);
            previous            = current;
            current             = next;
            d_previous          = d_current;
            d_current           = d_next;
            table[n + 1] =
              make_double2(recurrence[2][n + 1] * map.value_scale * current,
                           recurrence[2][n + 1] * map.derivative_scale *
                             d_current);
          }
      }

      /// Positions of a function's three factors in the table of a point.
      template <int dim>
      __device__ inline unsigned int
      pack(const unsigned char *exponents,
           const unsigned int   i,
           const unsigned int   n,
           const unsigned int   degree)
      {
        if (i >= n)
          return (degree + 1) << 8 | (dim == 3 ? 2 * (degree + 1) : 0) << 16;
        const unsigned char *e = exponents + dim * i;
        return e[0] | (degree + 1 + e[1]) << 8 |
               (dim == 3 ? 2 * (degree + 1) + e[dim - 1] : 0) << 16;
      }

      /// Value (component < 0) or derivative of a function.
      template <int dim>
      __device__ inline double
      unit(const double2     *table,
           const unsigned int position,
           const int          component)
      {
        const double *t = reinterpret_cast<const double *>(table);
        double        v = t[2 * (position & 255u) + (component == 0)] *
                   t[2 * ((position >> 8) & 255u) + (component == 1)];
        if (dim == 3)
          v *= t[2 * (position >> 16) + (component == 2)];
        return v;
      }

      /// Value, and c value + b . gradient.
      template <int dim>
      __device__ inline void
      value_and_directional(const double2     *table,
                            const unsigned int position,
                            const double (&cb)[dim + 1],
                            double &value,
                            double &directional)
      {
        const double2 x = table[position & 255u],
                      y = table[(position >> 8) & 255u];
        if (dim == 2)
          {
            value = x.x * y.x;
            directional =
              y.x * (cb[0] * x.x + cb[1] * x.y) + x.x * (cb[2] * y.y);
          }
        else
          {
            const double2 z  = table[position >> 16];
            const double  yz = y.x * z.x;
            value            = x.x * yz;
            directional      = yz * (cb[0] * x.x + cb[1] * x.y) +
                          x.x * (cb[2] * (y.y * z.x) + cb[dim] * (y.x * z.y));
          }
      }


      /// Walks through the facet points of consecutive entries of
      /// polytope_interface; one walker a lane.
      template <int dim>
      struct FacetWalker
      {
        unsigned int  entry, end; // entries
        unsigned int  facet = 0;
        std::uint64_t t     = 0; // number of the wanted point
        std::uint64_t base  = 0; // number of the first point of the entry
        std::uint64_t first = 0, n = 0; // facet points of the entry

        __device__ void
        load(const Data<dim> &D)
        {
          if (entry >= end)
            return;
          const unsigned int i = D.polytope_interface[entry] / 2;
          facet                = D.facet_offset[i];
          first                = D.facet_q[facet];
          n                    = D.facet_q[D.facet_offset[i + 1]] - first;
        }

        // True if there is such a point.
        __device__ bool
        advance(const Data<dim> &D)
        {
          while (entry < end && t >= base + n)
            {
              base += n;
              ++entry;
              load(D);
            }
          if (entry >= end)
            return false;
          while (D.facet_q[facet + 1] <= first + (t - base))
            ++facet;
          return true;
        }
      };



      /// One tile of one block: rows from i0, columns from j0 on.
      template <int dim, int TM, int TN>
      struct BlockTile
      {
        const Data<dim>   &D;
        const unsigned int k, j, p1, p2, n1, n2;
        const unsigned int i0, j0;
        const bool         same;   // rows and columns are the same functions
        const bool         mirror; // only the upper triangle is computed
        const unsigned int lane, g, r;
        const BoxMap       own_map, other_map;
        double2           *own, *other;
        double            *coefficients;
        unsigned int       ea[TM], eb[TN];
        double             acc[TM][TN][2];

        __device__
        BlockTile(const Data<dim>   &D,
                  const unsigned int k,
                  const unsigned int j,
                  const unsigned int i0,
                  const unsigned int j0,
                  double2           *shared)
          : D(D)
          , k(k)
          , j(j)
          , p1(D.degree[k])
          , p2(D.degree[j])
          , n1(D.n_basis[k])
          , n2(D.n_basis[j])
          , i0(i0)
          , j0(j0)
          , same(k == j && TM == TN && i0 == j0)
          , mirror(k == j && D.form.symmetric)
          , lane(threadIdx.x & 31u)
          , g(lane >> 2)
          , r(lane & 3u)
          , own_map(D.box_map + 4 * (dim * k + min(lane >> 3, dim - 1u)))
          , other_map(D.box_map + 4 * (dim * j + min(lane >> 3, dim - 1u)))
          , own(shared)
          , other(shared + batch * D.table_stride)
          , coefficients(
              reinterpret_cast<double *>(shared + 2 * batch * D.table_stride))
        {
#pragma unroll
          for (int t = 0; t < TM; ++t)
            ea[t] = pack<dim>(D.exponents, i0 + 8 * t + g, n1, p1);
#pragma unroll
          for (int t = 0; t < TN; ++t)
            eb[t] = pack<dim>(D.exponents, j0 + 8 * t + g, n2, p2);
#pragma unroll
          for (int t = 0; t < TM; ++t)
#pragma unroll
            for (int u = 0; u < TN; ++u)
              acc[t][u][0] = acc[t][u][1] = 0.;
        }

        // Tiles below the diagonal of a symmetric block are left out.
        __device__ void
        multiply(const double (&a)[TM], const double (&b)[TN])
        {
          constexpr int pairs =
#if __CUDA_ARCH__ >= 900
            TM / 2;
#else
            0;
#endif
#pragma unroll
          for (int u = 0; u < TN; ++u)
            {
#if __CUDA_ARCH__ >= 900
#  pragma unroll
              for (int t = 0; t < 2 * pairs; t += 2)
                if (!mirror || j0 + 8 * u + 8 > i0 + 8 * t)
                  product(acc[t][u], acc[t + 1][u], a[t], a[t + 1], b[u]);
#endif
#pragma unroll
              for (int t = 2 * pairs; t < TM; ++t)
                if (!mirror || j0 + 8 * u + 8 > i0 + 8 * t)
                  product(acc[t][u], a[t], b[u]);
            }
        }

        __device__ void
        add_volume()
        {
          const unsigned int  s_end = D.subcell_offset[k + 1];
          unsigned int        s     = D.subcell_offset[k];
          const std::uint64_t begin = D.subcell_q[s], end = D.subcell_q[s_end];
          const unsigned int  q = lane & 7u, d = lane >> 3;
          const bool          diagonal = D.form.diagonal;
          for (std::uint64_t t0 = begin; t0 < end; t0 += batch)
            {
              const bool          valid = t0 + q < end;
              const std::uint64_t t     = valid ? t0 + q : end - 1;
              while (D.subcell_q[s + 1] <= t)
                ++s;
              double x[dim];
              double w =
                volume_point(D, s, (unsigned int)(t - D.subcell_q[s]), p1, x);
              if (!valid)
                w = 0.;
              __syncwarp();
              if (d < dim)
                write_table(own_map,
                            p1,
                            d == 0 ? x[0] : (d == 1 ? x[1] : x[dim - 1]),
                            own + q * D.table_stride + d * (p1 + 1));
              if (d == 3)
                write_volume_coefficients(t, w, coefficients + 16 * q);
              __syncwarp();
              const unsigned int n =
                end - t0 < batch ? (unsigned int)(end - t0) : batch;
              for (unsigned int l = 0; l < n; ++l)
                {
                  const double2 *table = own + l * D.table_stride;
                  const double  *c     = coefficients + 16 * l;
                  double         a[TM], b[TN];
#pragma unroll
                  for (int u = 0; u < TM; ++u)
                    a[u] = unit<dim>(table, ea[u], int(r) - 1);
                  if (diagonal)
                    {
                      const double factor =
                        r == 0 ? c[0] : (int(r) <= dim ? c[dim + 2] : 0.);
#pragma unroll
                      for (int u = 0; u < TN; ++u)
                        b[u] =
                          factor * (same ? a[u < TM ? u : 0]
                                         : unit<dim>(table, eb[u], int(r) - 1));
                    }
                  else
                    {
                      double cb[dim + 1];
                      for (int e = 0; e <= dim; ++e)
                        cb[e] = int(r) <= dim ? c[r * (dim + 1) + e] : 0.;
#pragma unroll
                      for (int u = 0; u < TN; ++u)
                        {
                          double value;
                          value_and_directional<dim>(
                            table, eb[u], cb, value, b[u]);
                        }
                    }
                  multiply(a, b);
                }
            }
        }

        // C at point t times the weight
        __device__ void
        write_volume_coefficients(const std::uint64_t t,
                                  const double        w,
                                  double             *c) const
        {
          if (D.form.constant_volume)
            {
              for (int e = 0; e <= dim; ++e)
                for (int f = 0; f <= dim; ++f)
                  c[e * (dim + 1) + f] = w * D.form.C[e][f];
              return;
            }
          const VolumeLayout &L  = D.form.volume_layout;
          const auto          at = [&](const int array) {
            return w * D.volume_table[array * D.n_volume_points +
                                      (t - D.first_volume_point)];
          };
          c[0] = L.c >= 0 ? at(L.c) : 0.;
          for (int d = 0; d < dim; ++d)
            {
              c[1 + d]               = L.b >= 0 ? at(L.b + d) : 0.;
              c[(d + 1) * (dim + 1)] = L.beta >= 0 ? at(L.beta + d) : 0.;
              for (int e = 0; e < dim; ++e)
                c[(d + 1) * (dim + 1) + 1 + e] = L.a < 0 ? 0.
                                                 : L.tensor
                                                   ? at(L.a + d * dim + e)
                                                   : (d == e ? at(L.a) : 0.);
            }
        }

        /// Own rows on all facets (pair: false), or what couples to the
        /// neighbour on the facets of entries that lead to it.
        template <bool pair>
        __device__ void
        add_facets(const unsigned int first_entry,
                   const unsigned int last_entry)
        {
          const unsigned int q = lane & 7u, d = lane >> 3;
          FacetWalker<dim>   walker;
          walker.entry = first_entry;
          walker.end   = last_entry;
          walker.t     = q;
          walker.load(D);
          for (;;)
            {
              const bool         valid = walker.advance(D);
              const unsigned int n_valid =
                __popc(__ballot_sync(~0u, valid && lane < batch));
              if (n_valid == 0)
                break;
              double x[dim], normal[dim], y[dim], w = 0.;
              for (int e = 0; e < dim; ++e)
                {
                  // any point will do with weight zero
                  x[e] = y[e] = 0.5 * (D.box[2 * dim * k + e] +
                                       D.box[2 * dim * k + dim + e]);
                  normal[e]   = 0.;
                }
              __syncwarp();
              if (valid)
                {
                  const unsigned int code = D.polytope_interface[walker.entry],
                                     side = code & 1u, interface = code / 2;
                  const unsigned int neighbor = D.interface_polytope[code ^ 1u];
                  unsigned int       degree   = p1;
                  if (neighbor != invalid_index)
                    degree = max(degree, D.degree[neighbor]);
                  const std::uint64_t t =
                    walker.first + (walker.t - walker.base);
                  w = facet_point(D,
                                  walker.facet,
                                  (unsigned int)(t - D.facet_q[walker.facet]),
                                  degree,
                                  x,
                                  normal);
                  const double *shift =
                    D.shift + dim * D.interface_shift[interface];
                  for (int e = 0; e < dim; ++e)
                    {
                      y[e] = x[e];
                      if (side == 1)
                        {
                          normal[e] = -normal[e];
                          x[e] += shift[e];
                        }
                      else
                        y[e] += shift[e];
                    }
                  if (d == 3)
                    write_facet_coefficients<pair>(walker,
                                                   neighbor == invalid_index,
                                                   normal,
                                                   w,
                                                   coefficients + 8 * q);
                }
              else if (d == 3)
                for (int e = 0; e < 8; ++e)
                  coefficients[8 * q + e] = 0.;
              if (d < dim)
                {
                  write_table(own_map,
                              p1,
                              d == 0 ? x[0] : (d == 1 ? x[1] : x[dim - 1]),
                              own + q * D.table_stride + d * (p1 + 1));
                  if (pair)
                    write_table(other_map,
                                p2,
                                d == 0 ? y[0] : (d == 1 ? y[1] : y[dim - 1]),
                                other + q * D.table_stride + d * (p2 + 1));
                }
              __syncwarp();
              // two points at a time, each with two rows
              for (unsigned int l = 0; l < n_valid; l += 2)
                {
                  const unsigned int point = l + (r >> 1);
                  const bool         flux  = r & 1u;
                  const double2     *here  = own + point * D.table_stride;
                  const double2     *there =
                    pair ? other + point * D.table_stride : here;
                  double a[TM], b[TN], cb[dim + 1];
                  for (int e = 0; e <= dim; ++e)
                    cb[e] = coefficients[8 * point + 4 * flux + e];
#pragma unroll
                  for (int u = 0; u < TM; ++u)
                    {
                      double value, directional;
                      value_and_directional<dim>(
                        here, ea[u], cb, value, directional);
                      a[u] = flux ? directional : value;
                      if (!pair && same && u < TN)
                        b[u < TN ? u : 0] = flux ? value : directional;
                    }
                  if (pair || !same)
#pragma unroll
                    for (int u = 0; u < TN; ++u)
                      {
                        double value, directional;
                        value_and_directional<dim>(
                          there, eb[u], cb, value, directional);
                        b[u] = flux ? value : directional;
                      }
                  multiply(a, b);
                }
              walker.t += batch;
            }
        }

        // Two rows of (c, b) times the weight: value of the test function,
        // flux of the test function.
        template <bool pair>
        __device__ void
        write_facet_coefficients(const FacetWalker<dim> &walker,
                                 const bool              boundary,
                                 const double (&normal)[dim],
                                 const double w,
                                 double      *c) const
        {
          constexpr int side = pair ? 1 : 0;
          c[4]               = 0.;
          if (D.form.constant_facets && !boundary)
            {
              double bn = 0.;
              for (int d = 0; d < dim; ++d)
                {
                  double conormal = 0.;
                  for (int e = 0; e < dim; ++e)
                    conormal += D.form.a[d * dim + e] * normal[e];
                  bn += D.form.b[d] * normal[d];
                  c[1 + d] = -0.5 * w * conormal;
                  c[5 + d] = (pair ? 0.5 : -0.5) * w * D.form.theta * conormal;
                }
              const double value = D.sigma[walker.facet] - (bn < 0. ? bn : 0.);
              c[0]               = pair ? -w * value : w * value;
              return;
            }
          const FacetLayout  &L = D.form.facet_layout;
          const std::uint64_t t = D.entry_q[walker.entry] -
                                  D.first_facet_point +
                                  (walker.t - walker.base);
          const auto at = [&](const int array) {
            return array >= 0 ? w * D.facet_table[array * D.n_facet_points + t]
                              : 0.;
          };
          c[0] = at(L.c[side]);
          for (int d = 0; d < dim; ++d)
            {
              c[1 + d] = L.b[side] >= 0 ? at(L.b[side] + d) : 0.;
              c[5 + d] = L.beta[side] >= 0 ? at(L.beta[side] + d) : 0.;
            }
        }

        __device__ void
        compute(const std::uint64_t block)
        {
          const bool diagonal = k == j;
          if (mirror && j0 + 8 * TN <= i0)
            return;
          if (diagonal && D.form.volume)
            add_volume();
          if (D.form.facets)
            {
              const unsigned int end = D.polytope_interface_offset[k + 1];
              if (diagonal)
                add_facets<false>(D.polytope_interface_offset[k], end);
              unsigned int first = D.block_entry[block];
              unsigned int last  = first;
              while (last < end &&
                     D.interface_polytope[D.polytope_interface[last] ^ 1u] == j)
                ++last;
              if (first < last)
                add_facets<true>(first, last);
            }

          const unsigned int width = D.row_width[k];
          double *out = D.values + (D.value_offset[k] - D.first_value) +
                        D.column_offset[block];
#pragma unroll
          for (int t = 0; t < TM; ++t)
#pragma unroll
            for (int u = 0; u < TN; ++u)
#pragma unroll
              for (int s = 0; s < 2; ++s)
                {
                  const unsigned int row = i0 + 8 * t + g,
                                     col = j0 + 8 * u + 2 * r + s;
                  if (row < n1 && col < n2 && (!mirror || row <= col))
                    {
                      out[std::size_t(row) * width + col] = acc[t][u][s];
                      if (mirror)
                        out[std::size_t(col) * width + row] = acc[t][u][s];
                    }
                }
        }
      };



      /// How the grid is mapped to blocks.
      enum class Units
      {
        rows,   ///< a warp computes a block row, tile by tile
        blocks, ///< a warp computes one of tiles_m * tiles_n tiles of a block
        listed  ///< a warp computes a tile of the list
      };

      /// Blocks per multiprocessor that the compiler makes room for: latency
      /// limits the kernels. These were the fastest on compute capability 9.0.
      constexpr int
      min_blocks(const int TM, const int TN)
      {
#if __CUDA_ARCH__ >= 900
        return TM * TN <= 1 ? 28 : TM * TN <= 9 ? 16 : 8;
#else
        return TM * TN > 0 ? 1 : 0;
#endif
      }

      template <int dim, int TM, int TN, Units units>
      __global__ void __launch_bounds__(32, min_blocks(TM, TN))
        block_kernel(const __grid_constant__ Data<dim> D)
      {
        extern __shared__ double2 shared[];
        if (units == Units::rows)
          {
            const unsigned int k = D.first_polytope + blockIdx.x;
            for (std::uint64_t b = D.block_offset[k]; b < D.block_offset[k + 1];
                 ++b)
              {
                BlockTile<dim, TM, TN> tile(
                  D, k, D.block_column[b], 0, 0, shared);
                tile.compute(b);
              }
          }
        else
          {
            std::uint64_t b;
            unsigned int  tm, tn;
            if (units == Units::blocks)
              {
                // Diagonal blocks take longest and come first.
                const unsigned int n     = D.tiles_m * D.tiles_n;
                const unsigned int block = blockIdx.x / n;
                tm                       = blockIdx.x % n / D.tiles_n;
                tn                       = blockIdx.x % n % D.tiles_n;
                if (block < D.n_polytopes)
                  {
                    const unsigned int k = D.first_polytope + block;
                    b                    = D.block_offset[k];
                    while (D.block_column[b] != k)
                      ++b;
                  }
                else
                  {
                    b = D.first_unit + (block - D.n_polytopes);
                    if (D.block_row[b] == D.block_column[b])
                      return;
                  }
              }
            else
              {
                const std::uint64_t code = D.tiles[D.first_unit + blockIdx.x];
                b                        = code >> 16;
                tm                       = (code >> 8) & 255u;
                tn                       = code & 255u;
              }
            BlockTile<dim, TM, TN> tile(D,
                                        D.block_row[b],
                                        D.block_column[b],
                                        8 * TM * tm,
                                        8 * TN * tn,
                                        shared);
            tile.compute(b);
          }
      }



      /// Right-hand side: a warp computes 64 functions of a polytope.
      template <int dim>
      __global__ void __launch_bounds__(32)
        rhs_kernel(const __grid_constant__ Data<dim> D)
      {
        extern __shared__ double2 shared[];
        const unsigned int        k = D.first_polytope + blockIdx.x;
        const unsigned int lane = threadIdx.x, q = lane & 7u, d = lane >> 3;
        const unsigned int p = D.degree[k], n = D.n_basis[k];
        const unsigned int i0 = 64 * blockIdx.y;
        if (i0 >= n)
          return;
        double *const coefficients =
          reinterpret_cast<double *>(shared + 2 * batch * D.table_stride);
        const unsigned int position[2] = {
          pack<dim>(D.exponents, i0 + lane, n, p),
          pack<dim>(D.exponents, i0 + lane + 32, n, p)};
        const BoxMap own_map(D.box_map + 4 * (dim * k + min(d, dim - 1u)));
        double       sum[2] = {0., 0.};

        const VolumeLayout &V = D.form.volume_layout;
        if (V.f >= 0)
          {
            unsigned int        s     = D.subcell_offset[k];
            const std::uint64_t begin = D.subcell_q[s],
                                end   = D.subcell_q[D.subcell_offset[k + 1]];
            for (std::uint64_t t0 = begin; t0 < end; t0 += batch)
              {
                const bool          valid = t0 + q < end;
                const std::uint64_t t     = valid ? t0 + q : end - 1;
                while (D.subcell_q[s + 1] <= t)
                  ++s;
                double       x[dim];
                const double w =
                  volume_point(D, s, (unsigned int)(t - D.subcell_q[s]), p, x);
                __syncwarp();
                if (d < dim)
                  write_table(own_map,
                              p,
                              d == 0 ? x[0] : (d == 1 ? x[1] : x[dim - 1]),
                              shared + q * D.table_stride + d * (p + 1));
                if (d == 3)
                  coefficients[q] =
                    w * D.volume_table[V.f * D.n_volume_points +
                                       (t - D.first_volume_point)];
                __syncwarp();
                for (unsigned int l = 0; l < batch && t0 + l < end; ++l)
                  for (unsigned int u = 0; u < 2; ++u)
                    sum[u] +=
                      coefficients[l] *
                      unit<dim>(shared + l * D.table_stride, position[u], -1);
              }
          }

        const FacetLayout &F = D.form.facet_layout;
        if (F.r >= 0 && D.form.facets)
          {
            FacetWalker<dim> walker;
            walker.entry = D.polytope_interface_offset[k];
            walker.end   = D.polytope_interface_offset[k + 1];
            // the boundary comes last
            while (
              walker.entry < walker.end &&
              D.interface_polytope[D.polytope_interface[walker.entry] ^ 1u] !=
                invalid_index)
              ++walker.entry;
            walker.t = q;
            walker.load(D);
            for (;;)
              {
                const bool         valid = walker.advance(D);
                const unsigned int n_valid =
                  __popc(__ballot_sync(~0u, valid && lane < batch));
                if (n_valid == 0)
                  break;
                __syncwarp();
                if (valid)
                  {
                    double              x[dim], normal[dim];
                    const std::uint64_t t =
                      walker.first + (walker.t - walker.base);
                    const double w =
                      facet_point(D,
                                  walker.facet,
                                  (unsigned int)(t - D.facet_q[walker.facet]),
                                  p,
                                  x,
                                  normal);
                    if (d < dim)
                      write_table(own_map,
                                  p,
                                  d == 0 ? x[0] : (d == 1 ? x[1] : x[dim - 1]),
                                  shared + q * D.table_stride + d * (p + 1));
                    if (d == 3)
                      {
                        const std::uint64_t c = D.entry_q[walker.entry] -
                                                D.first_facet_point +
                                                (walker.t - walker.base);
                        coefficients[8 * q] =
                          w * D.facet_table[F.r * D.n_facet_points + c];
                        for (int e = 0; e < dim; ++e)
                          coefficients[8 * q + 1 + e] =
                            F.s >= 0
                              ? w * D.facet_table[(F.s + e) * D.n_facet_points +
                                                  c]
                              : 0.;
                      }
                  }
                __syncwarp();
                for (unsigned int l = 0; l < n_valid; ++l)
                  {
                    double cb[dim + 1];
                    for (int e = 0; e <= dim; ++e)
                      cb[e] = coefficients[8 * l + e];
                    for (unsigned int u = 0; u < 2; ++u)
                      {
                        double value, directional;
                        value_and_directional<dim>(shared + l * D.table_stride,
                                                   position[u],
                                                   cb,
                                                   value,
                                                   directional);
                        sum[u] += directional;
                      }
                  }
                walker.t += batch;
              }
          }
        for (unsigned int u = 0; u < 2; ++u)
          if (i0 + lane + 32 * u < n)
            D.rhs[D.dof_offset[k] - D.first_dof + i0 + lane + 32 * u] = sum[u];
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
