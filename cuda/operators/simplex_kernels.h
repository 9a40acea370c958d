// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_operators_simplex_kernels_h
#define tessella_cuda_operators_simplex_kernels_h

#include <tessella/portable/legendre.h>

#include "../backends/product.h"
#include "simplex_data.h"

// Kernels of SimplexProduct.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Pointers of SimplexProduct's kernels.
      struct SimplexArguments
      {
        unsigned int          n_rows, n_simplices;
        bool                  reaction, advection;
        double                theta_trial, theta_test;
        const double         *coefficients;
        const unsigned int   *neighbor;
        const double         *tables; ///< see SimplexSizes
        const unsigned short *frame;  ///< padded to tiles
        double               *nodal;
      };

      /**
       * Numbers of nodes and moments, and places of the constant matrices.
       * Matrices are stored as tiles of 8 x 8 entries, padded by zeros: row by
       * row of tiles; entry (i, j) of a tile is at 8 i + (j ^ (i & 4)), so that
       * lanes read rows as well as columns without conflicts of memory banks.
       */
      template <int dim_, int degree_>
      struct SimplexSizes
      {
        static constexpr int dim = dim_, degree = degree_;

        static constexpr int
        n_functions(const int d, const int p)
        {
          return static_cast<int>(Legendre::n_functions(d, p, false));
        }
        static constexpr int n            = n_functions(dim, degree),
                             n_lower      = n_functions(dim, degree - 1),
                             n_face       = n_functions(dim - 1, degree),
                             n_face_lower = n_functions(dim - 1, degree - 1);
        // Numbers of tiles.
        static constexpr int t = (n + 7) / 8, t_lower = (n_lower + 7) / 8,
                             t_face       = (n_face + 7) / 8,
                             t_face_lower = (n_face_lower + 7) / 8;
        // Places of matrices, in tiles; the mass matrix and the projection come
        // last since few forms need them.
        static constexpr int gradient    = 0,
                             transversal = gradient + dim * t_lower * t,
                             tangential  = transversal + t_face_lower * t,
                             face_moments =
                               tangential + (dim - 1) * t_face_lower * t_face,
                             projection = face_moments + t_face * t_face,
                             mass       = projection + t_lower * t,
                             n_tiles    = mass + t * t;
        /// Simplices of a warp, in units of 8.
        static constexpr int rows = 2;
        /// Distance between simplices in the buffer of a warp.
        static constexpr int pitch = n + 1;
        /// Warps of a thread block, and thread blocks of a multiprocessor.
        static constexpr int warps  = n <= 20   ? 8
                                      : n <= 36 ? 12
                                      : n <= 56 ? 8
                                                : 6,
                             blocks = n <= 20 ? 2 : 1;
      };

      /**
       * Rows of Lagrange polynomials; a warp computes those of 8 * rows
       * simplices. Lane l works on simplices l/4 + 8 r: an operand of the
       * matrix units with simplices as rows. A tile of 8 values has values
       * 2(l%4) and 2(l%4) + 1 on lane l, which is the layout of results; as
       * operands of the next product they are two steps of depth 4, since the
       * order of the sum may be permuted. Hence results become operands without
       * an exchange.
       */
      template <typename Sizes>
      class SimplexRows
      {
      public:
        /// A tile of values of the warp's simplices.
        using Tile = double[Sizes::rows][1][2];

        __device__
        SimplexRows(const SimplexArguments &arguments,
                    const double           *tables,
                    const unsigned short   *frame,
                    double                 *buffer,
                    const unsigned int      group)
          : arguments(arguments)
          , tables(tables)
          , frame(frame)
          , buffer(buffer)
          , first(group * (8 * rows))
          , simplex((threadIdx.x & 31u) >> 2)
          , column(2 * (threadIdx.x & 3u))
        {
#pragma unroll
          for (int r = 0; r < rows; ++r)
            k[r] = min(first + simplex + 8 * r, arguments.n_rows - 1);
        }

        __device__ __forceinline__ void
        run(double *y)
        {
          volume();
          __syncwarp();
#pragma unroll 1
          for (int face = 0; face <= dim; ++face)
            {
              add_face(face);
              __syncwarp();
            }
          const unsigned int lane = threadIdx.x & 31u,
                             count =
                               min(8u * rows, arguments.n_rows - first) * n;
          for (unsigned int i = lane; i < count; i += 32)
            y[std::size_t(first) * n + i] = buffer[i / n * pitch + i % n];
          __syncwarp();
        }

      private:
        static constexpr int dim = Sizes::dim, n = Sizes::n, rows = Sizes::rows,
                             pitch = Sizes::pitch, t = Sizes::t,
                             t_lower = Sizes::t_lower, t_face = Sizes::t_face,
                             t_face_lower   = Sizes::t_face_lower;
        static constexpr int n_coefficients = SimplexData::n_coefficients(dim),
                             reaction_index = SimplexData::reaction_index(dim),
                             face_index     = SimplexData::face_index(dim);

        const SimplexArguments &arguments;
        const double           *tables;
        const unsigned short   *frame;
        double                 *buffer;
        const unsigned int      first, simplex, column;
        unsigned int            k[rows];

        __device__ __forceinline__ static void
        clear(Tile &c)
        {
#pragma unroll
          for (int r = 0; r < rows; ++r)
            c[r][0][0] = c[r][0][1] = 0.;
        }

        __device__ __forceinline__ static void
        multiply_add(Tile &c, const double (&a)[rows], const double b)
        {
          const double operand[1] = {b};
          WarpProduct<rows, 1, 1, double>::add(c, a, operand, [](int, int) {
            return true;
          });
        }

        /// c += a A^T, where a has a tile of columns of matrix tile A.
        __device__ __forceinline__ void
        add(Tile &c, const Tile &a, const int tile) const
        {
          const double *const A =
            tables + tile * 64 + simplex * 8 + (column ^ (simplex & 4u));
          const double2 b = *reinterpret_cast<const double2 *>(A);
#pragma unroll
          for (int e = 0; e < 2; ++e)
            {
              double operand[rows];
#pragma unroll
              for (int r = 0; r < rows; ++r)
                operand[r] = a[r][0][e];
              multiply_add(c, operand, e == 0 ? b.x : b.y);
            }
        }

        /// c += a A, where a has a tile of rows of matrix tile A.
        __device__ __forceinline__ void
        add_transposed(Tile &c, const Tile &a, const int tile) const
        {
          // Lanes of odd and even columns read the two entries in opposite
          // order, which avoids conflicts of memory banks.
          const unsigned int odd = (column >> 1) & 1u, i = column + odd,
                             j  = column + 1 - odd;
          const double *const A = tables + tile * 64;
          const double        v = A[i * 8 + (simplex ^ (i & 4u))],
                       w        = A[j * 8 + (simplex ^ (j & 4u))];
#pragma unroll
          for (int e = 0; e < 2; ++e)
            {
              double operand[rows];
#pragma unroll
              for (int r = 0; r < rows; ++r)
                operand[r] = a[r][0][e];
              multiply_add(c, operand, (odd == 0) == (e == 0) ? v : w);
            }
        }

        __device__ __forceinline__ void
        volume()
        {
          Tile u[t], y[t];
#pragma unroll
          for (int i = 0; i < t; ++i)
            {
              clear(y[i]);
#pragma unroll
              for (int r = 0; r < rows; ++r)
#pragma unroll
                for (int e = 0; e < 2; ++e)
                  {
                    const int j = 8 * i + column + e;
                    u[i][r][0][e] =
                      j < n ? arguments.nodal[std::size_t(k[r]) * n + j] : 0.;
                  }
            }
          const double *row[rows];
#pragma unroll
          for (int r = 0; r < rows; ++r)
            row[r] =
              arguments.coefficients + std::size_t(k[r]) * n_coefficients;

#pragma unroll 1
          for (int m = 0; m < t_lower; ++m)
            {
              Tile g[dim];
#pragma unroll
              for (int d = 0; d < dim; ++d)
                clear(g[d]);
#pragma unroll
              for (int i = 0; i < t; ++i)
#pragma unroll
                for (int d = 0; d < dim; ++d)
                  add(g[d], u[i], Sizes::gradient + (d * t_lower + m) * t + i);
#pragma unroll
              for (int d = 0; d < dim; ++d)
                {
                  Tile flux;
                  combine(flux, g, row, d);
#pragma unroll
                  for (int i = 0; i < t; ++i)
                    add_transposed(y[i],
                                   flux,
                                   Sizes::gradient + (d * t_lower + m) * t + i);
                }
              if (arguments.advection)
                {
                  Tile flux;
                  clear(flux);
#pragma unroll
                  for (int d = 0; d < dim; ++d)
#pragma unroll
                    for (int r = 0; r < rows; ++r)
#pragma unroll
                      for (int e = 0; e < 2; ++e)
                        flux[r][0][e] +=
                          row[r][reaction_index + 1 + d] * g[d][r][0][e];
#pragma unroll
                  for (int i = 0; i < t; ++i)
                    add_transposed(y[i], flux, Sizes::projection + m * t + i);
                }
            }
#pragma unroll
          for (int i = 0; i < t; ++i)
            store(y[i], i);
          if (arguments.reaction)
            add_reaction(u, row);
        }

        // Row d of the tensor times the gradient.
        __device__ __forceinline__ static void
        combine(Tile &flux,
                const Tile (&g)[dim],
                const double *const (&row)[rows],
                const int d)
        {
          clear(flux);
#pragma unroll
          for (int c = 0; c < dim; ++c)
            {
              const int s = c < d ? c : d, l = c < d ? d : c;
#pragma unroll
              for (int r = 0; r < rows; ++r)
#pragma unroll
                for (int e = 0; e < 2; ++e)
                  flux[r][0][e] +=
                    row[r][s * dim - s * (s + 1) / 2 + l] * g[c][r][0][e];
            }
        }

        __device__ __forceinline__ void
        store(const Tile &y, const int i)
        {
#pragma unroll
          for (int r = 0; r < rows; ++r)
#pragma unroll
            for (int e = 0; e < 2; ++e)
              {
                const int j = 8 * i + column + e;
                if (j < n)
                  buffer[(simplex + 8 * r) * pitch + j] = y[r][0][e];
              }
        }

        __device__ __forceinline__ void
        add_reaction(const Tile (&u)[t], const double *const (&row)[rows])
        {
#pragma unroll 1
          for (int m = 0; m < t; ++m)
            {
              Tile z;
              clear(z);
#pragma unroll
              for (int i = 0; i < t; ++i)
                add(z, u[i], Sizes::mass + m * t + i);
#pragma unroll
              for (int r = 0; r < rows; ++r)
#pragma unroll
                for (int e = 0; e < 2; ++e)
                  {
                    const int j = 8 * m + column + e;
                    if (j < n)
                      buffer[(simplex + 8 * r) * pitch + j] +=
                        row[r][reaction_index] * z[r][0][e];
                  }
            }
        }

        __device__ __forceinline__ void
        add_face(const int face)
        {
          const double         *own[rows], *other[rows], *row[rows];
          const unsigned short *other_frame[rows];
          const unsigned short *own_frame = frame + face * (8 * t);
          bool                  inside[rows];
#pragma unroll
          for (int r = 0; r < rows; ++r)
            {
              const unsigned int code =
                arguments.neighbor[std::size_t(k[r]) * (dim + 1) + face];
              inside[r]      = code != SimplexData::no_neighbor;
              own[r]         = arguments.nodal + std::size_t(k[r]) * n;
              other[r]       = inside[r]
                                 ? arguments.nodal + std::size_t(code >> 2) * n
                                 : own[r];
              other_frame[r] = frame + (inside[r] ? code & 3u : 0u) * (8 * t);
              row[r]         = arguments.coefficients +
                       std::size_t(k[r]) * n_coefficients + face_index +
                       face * (2 * dim + 1);
            }
          Tile jump[t_face], value[t_face];
#pragma unroll
          for (int m = 0; m < t_face; ++m)
            {
              clear(jump[m]);
              clear(value[m]);
            }
#pragma unroll
          for (int i = 0; i < t; ++i)
            {
              Tile u, v;
#pragma unroll
              for (int r = 0; r < rows; ++r)
#pragma unroll
                for (int e = 0; e < 2; ++e)
                  {
                    const int j = 8 * i + column + e;
                    u[r][0][e]  = j < n ? own[r][own_frame[j]] : 0.;
                    v[r][0][e] =
                      j < n && inside[r] ? other[r][other_frame[r][j]] : 0.;
                  }
              add_traces(u, v, row, i, jump, value);
            }
#pragma unroll
          for (int m = 0; m < t_face; ++m)
#pragma unroll
            for (int r = 0; r < rows; ++r)
#pragma unroll
              for (int e = 0; e < 2; ++e)
                {
                  value[m][r][0][e] =
                    arguments.theta_trial * value[m][r][0][e] +
                    row[r][2 * dim] * jump[m][r][0][e];
                }
          add_rows(own_frame, row, jump, value);
        }

        // Adds the contribution of a tile of nodes to moments of the jump and
        // of derivatives.
        __device__ __forceinline__ void
        add_traces(const Tile &u,
                   const Tile &v,
                   const double *const (&row)[rows],
                   const int i,
                   Tile (&jump)[t_face],
                   Tile (&value)[t_face]) const
        {
          Tile c;
#pragma unroll
          for (int d = 0; d < dim; ++d)
            {
              if (d < dim - 1 && i >= t_face)
                continue;
#pragma unroll
              for (int r = 0; r < rows; ++r)
#pragma unroll
                for (int e = 0; e < 2; ++e)
                  c[r][0][e] =
                    row[r][d] * u[r][0][e] + row[r][dim + d] * v[r][0][e];
#pragma unroll
              for (int m = 0; m < t_face_lower; ++m)
                add(value[m],
                    c,
                    d == dim - 1 ? Sizes::transversal + m * t + i
                                 : Sizes::tangential +
                                     (d * t_face_lower + m) * t_face + i);
            }
          if (i >= t_face)
            return;
#pragma unroll
          for (int r = 0; r < rows; ++r)
#pragma unroll
            for (int e = 0; e < 2; ++e)
              c[r][0][e] = u[r][0][e] - v[r][0][e];
#pragma unroll
          for (int m = 0; m < t_face; ++m)
            add(jump[m], c, Sizes::face_moments + m * t_face + i);
        }

        // Adds the face's rows to the buffer.
        __device__ __forceinline__ void
        add_rows(const unsigned short *own_frame,
                 const double *const (&row)[rows],
                 const Tile (&jump)[t_face],
                 const Tile (&value)[t_face])
        {
#pragma unroll
          for (int i = 0; i < t; ++i)
            {
              Tile y;
              clear(y);
#pragma unroll
              for (int d = 0; d < dim; ++d)
                {
                  if (d < dim - 1 && i >= t_face)
                    continue;
#pragma unroll
                  for (int m = 0; m < t_face_lower; ++m)
                    {
                      Tile c;
#pragma unroll
                      for (int r = 0; r < rows; ++r)
#pragma unroll
                        for (int e = 0; e < 2; ++e)
                          c[r][0][e] =
                            arguments.theta_test * row[r][d] * jump[m][r][0][e];
                      add_transposed(y,
                                     c,
                                     d == dim - 1
                                       ? Sizes::transversal + m * t + i
                                       : Sizes::tangential +
                                           (d * t_face_lower + m) * t_face + i);
                    }
                }
              if (i < t_face)
#pragma unroll
                for (int m = 0; m < t_face; ++m)
                  add_transposed(y,
                                 value[m],
                                 Sizes::face_moments + m * t_face + i);
#pragma unroll
              for (int r = 0; r < rows; ++r)
#pragma unroll
                for (int e = 0; e < 2; ++e)
                  {
                    const int j = 8 * i + column + e;
                    if (j < n)
                      buffer[(simplex + 8 * r) * pitch + own_frame[j]] +=
                        y[r][0][e];
                  }
            }
        }
      };

      /// Shared memory of nodal_rows(), in bytes. @p n_tiles: number of tiles
      /// of the tables that are copied there.
      template <typename Sizes>
      constexpr std::size_t
      nodal_rows_memory(const int n_tiles)
      {
        return sizeof(double) *
                 (std::size_t(n_tiles) * 64 +
                  Sizes::warps * 8 * Sizes::rows * Sizes::pitch) +
               sizeof(unsigned short) * (Sizes::dim + 1) * 8 * Sizes::t;
      }

      /// Rows of Lagrange polynomials. @p n_tiles: number of tiles of the
      /// tables that fit into shared memory, all that the form needs or none.
      template <typename Sizes>
      __global__ void
      __launch_bounds__(Sizes::warps * 32, Sizes::blocks)
        nodal_rows(const SimplexArguments arguments,
                   const int              n_tiles,
                   double                *y)
      {
        extern __shared__ double2 shared_memory[];
        double *const        tables = reinterpret_cast<double *>(shared_memory),
                      *const buffer = tables + n_tiles * 64;
        constexpr int        size   = 8 * Sizes::rows * Sizes::pitch;
        auto *const          frame =
          reinterpret_cast<unsigned short *>(buffer + Sizes::warps * size);
        for (int i = threadIdx.x; i < n_tiles * 64; i += Sizes::warps * 32)
          tables[i] = arguments.tables[i];
        for (int i = threadIdx.x; i < (Sizes::dim + 1) * 8 * Sizes::t;
             i += Sizes::warps * 32)
          frame[i] = arguments.frame[i];
        __syncthreads();
        const unsigned int warp     = threadIdx.x / 32,
                           n_groups = (arguments.n_rows + 8 * Sizes::rows - 1) /
                                      (8 * Sizes::rows);
        for (unsigned int group = blockIdx.x * Sizes::warps + warp;
             group < n_groups;
             group += gridDim.x * Sizes::warps)
          {
            SimplexRows<Sizes> simplex_rows(arguments,
                                            n_tiles > 0 ? tables
                                                        : arguments.tables,
                                            frame,
                                            buffer + warp * size,
                                            group);
            simplex_rows.run(y);
          }
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
