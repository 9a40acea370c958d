// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_backends_basis_h
#define tessella_cuda_backends_basis_h

#include <tessella/portable/legendre.h>

#include <type_traits>

#include "data.h"
#include "points.h"

// Basis functions at batches of quadrature points, as tables in shared memory.
// Each point of a batch occupies a "slot". The first table has the functions of
// x, the second one products of functions of y and z; in four variables, the
// first table has products of functions of x and y, the second one products of
// functions of the other two variables. A basis function and its derivatives
// are products of one entry of each table.

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

      /// Distance between entries of a table for the given number of slots. It
      /// makes the eight addresses that a quarter of a warp reads at once lie
      /// in different banks, because functions 2i and 2i+1 have the same entry
      /// or entries of different parity.
      __host__ __device__ constexpr unsigned int
      slot_stride(const unsigned int n_slots)
      {
        return n_slots == 4 ? 4 : n_slots + 4;
      }

      /// Number of products of functions of y and z; in four variables, of the
      /// last two variables, where the degree in the last one may be
      /// independent of the others.
      __host__ __device__ constexpr unsigned int
      n_pairs(const int dim, const unsigned int degree, const bool tensor)
      {
        return dim == 2 ? degree + 1
               : tensor ? (degree + 1) * (degree + 1)
                        : (degree + 1) * (degree + 2) / 2;
      }

      /// Number of entries of the first table: functions of x, or products of
      /// functions of x and y, which always have bounded total degree.
      __host__ __device__ constexpr unsigned int
      n_first_entries(const int dim, const unsigned int degree)
      {
        return dim == 4 ? (degree + 1) * (degree + 2) / 2 : degree + 1;
      }

      /// Number of values of an entry of the first table if all derivatives are
      /// needed.
      __host__ __device__ constexpr unsigned int
      first_entry_size(const int dim)
      {
        return dim == 4 ? 3 : 2;
      }

      /// Index of a product in the second table.
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

      /// Position of a function in the tables: entry of the first table << 16 |
      /// entry of the second table. Functions beyond n have an arbitrary valid
      /// position.
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
        if constexpr (dim == 4)
          return pair_index<dim>(e[0], e[1], degree, false) << 16 |
                 pair_index<dim>(e[2], e[3], degree, D.tensor_space);
        else
          return (unsigned int)e[0] << 16 |
                 pair_index<dim>(e[1], e[dim - 1], degree, D.tensor_space);
      }

      /// Values and derivatives (times factor) of the one-dimensional functions
      /// of a box. `first` holds centre and scale of the map, `second` the
      /// scales of values and of derivatives. Uses explicit fused
      /// multiply-adds, since two kernels compute the right-hand side and must
      /// agree.
      template <int L, typename Number>
      __device__ inline void
      legendre(const double2      first,
               const double2      second,
               const unsigned int degree,
               const double       x,
               const double       factor,
               Number (&v)[L],
               Number (&dv)[L])
      {
        const Number xi               = Number((x - first.x) * first.y),
                     value_scale      = Number(second.x),
                     derivative_scale = Number(second.y * factor);
        Number previous = 1., current = xi, d_previous = 0., d_current = 1.;
        v[0]  = value_scale;
        dv[0] = 0.;
#pragma unroll
        for (unsigned int n = 1; n < L; ++n)
          {
            if (n > degree)
              break;
            const Number scale = Number(Legendre::internal::scale(n));
            v[n]               = scale * value_scale * current;
            dv[n]              = scale * derivative_scale * d_current;
            if (n + 1 < L)
              {
                const Number next =
                  fma(xi * current,
                      Number(Legendre::internal::forward(n)),
                      -(previous * Number(Legendre::internal::backward(n))));
                const Number d_next =
                  fma(current, Number(2. * n + 1.), d_previous);
                previous   = current;
                current    = next;
                d_previous = d_current;
                d_current  = d_next;
              }
          }
      }

      /// Maps of the bounding box of a polytope, in the form that legendre()
      /// takes.
      template <int dim>
      struct BoxMap
      {
        double2 entry[2 * dim];

        __device__
        BoxMap(const Data<dim> &D, const unsigned int polytope)
        {
          const double2 *from = reinterpret_cast<const double2 *>(
            D.box_map + std::size_t(4 * dim) * polytope);
#pragma unroll
          for (int i = 0; i < 2 * dim; ++i)
            entry[i] = __ldg(from + i);
        }
      };

      /// Tables of one slot. P: degree, or -1 if it is known at run time only;
      /// L: number of one-dimensional functions; stride: distance between
      /// entries.
      template <int dim, int P, typename Number>
      struct SlotTables
      {
        static constexpr int          L     = P >= 0 ? P + 1 : 11;
        static constexpr unsigned int known = P >= 0 ? P : 0;

        /// One-dimensional functions and derivatives of the two variables of
        /// the second table (of one variable in 2-D).
        Number             y[L], dy[L], z[dim > 2 ? L : 1], dz[dim > 2 ? L : 1];
        const unsigned int degree, stride;
        const bool         tensor;

        /// Writes the functions of x (and y in 4-D) to X. The values are
        /// multiplied by sign, and so are the derivatives of the other
        /// variables. m: factors of the derivatives. In four variables, X gets
        /// the derivative in x and X_y the one in y if X_y is given; else X
        /// gets their sum.
        __device__
        SlotTables(const Data<dim>   &D,
                   const unsigned int polytope,
                   const unsigned int p,
                   const double (&point)[dim],
                   const double (&m)[dim],
                   const Number       sign,
                   Two<Number>       *X,
                   const unsigned int stride,
                   Number            *X_y = nullptr)
          : degree(P >= 0 ? known : p)
          , stride(stride)
          , tensor(P < 0 && D.tensor_space)
        {
          // All loads come first.
          const BoxMap<dim> box(D, polytope);
          const auto       &map = box.entry;
          legendre(map[0], map[1], degree, point[0], m[0], y, dy);
          if constexpr (dim == 4)
            {
              legendre(map[2], map[3], degree, point[1], m[1], z, dz);
              over_pairs(false,
                         [&](const unsigned int i,
                             const unsigned int kx,
                             const unsigned int ky) {
                           Two<Number> entry;
                           entry.x = sign * (y[kx] * z[ky]);
                           entry.y = dy[kx] * z[ky];
                           if (X_y != nullptr)
                             X_y[i * stride] = y[kx] * dz[ky];
                           else
                             entry.y += y[kx] * dz[ky];
                           X[i * stride] = entry;
                         });
              legendre(map[4], map[5], degree, point[2], sign * m[2], y, dy);
              legendre(map[6], map[7], degree, point[3], sign * m[3], z, dz);
            }
          else
            {
#pragma unroll
              for (unsigned int k = 0; k < L; ++k)
                if (k <= degree)
                  {
                    Two<Number> entry;
                    entry.x       = sign * y[k];
                    entry.y       = dy[k];
                    X[k * stride] = entry;
                  }
              legendre(map[2], map[3], degree, point[1], sign * m[1], y, dy);
              if constexpr (dim == 3)
                legendre(map[4], map[5], degree, point[2], sign * m[2], z, dz);
            }
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
            over_pairs(tensor, function);
        }

        template <typename Function>
        __device__ void
        over_pairs(const bool all, const Function &function) const
        {
#pragma unroll
          for (unsigned int ky = 0; ky < L; ++ky)
#pragma unroll
            for (unsigned int kz = 0; kz < L; ++kz)
              if (ky <= degree && kz <= (all ? degree : degree - ky))
                function(pair_index<dim>(ky, kz, degree, all), ky, kz);
        }

        /// For sums of values and one directional derivative: the value of a
        /// function is X.x P.x, and its directional derivative plus c times its
        /// value is X.y P.x + X.x P.y. Overwrites the derivatives of this
        /// object.
        __device__ void
        write_directional(const Number c, Two<Number> *pairs)
        {
          // c is added to the derivatives of the last variable.
#pragma unroll
          for (unsigned int k = 0; k < L; ++k)
            if (k <= degree)
              {
                if constexpr (dim == 2)
                  dy[k] += c * y[k];
                else
                  dz[k] += c * z[k];
              }
          for_pairs([&](const unsigned int i,
                        const unsigned int ky,
                        const unsigned int kz) {
            Two<Number> entry;
            if constexpr (dim == 2)
              {
                entry.x = y[ky];
                entry.y = dy[ky];
              }
            else
              {
                entry.x = y[ky] * z[kz];
                entry.y = dy[ky] * z[kz] + y[ky] * dz[kz];
              }
            pairs[i * stride] = entry;
          });
        }

        /// For values only: the value of a function is X.x V.
        __device__ void
        write_values(Number *V) const
        {
          for_pairs([&](const unsigned int i,
                        const unsigned int ky,
                        const unsigned int kz) {
            V[i * stride] = dim == 2 ? y[ky] : y[ky] * z[dim > 2 ? kz : 0];
          });
        }

        /// For all derivatives: the value of a function is X.x V, and its
        /// derivatives are X.y V, X.x G.x, X.x G.y; in four variables X.y V,
        /// X_y V, X.x G.x, X.x G.y.
        __device__ void
        write_gradient(Number *V, Two<Number> *G) const
        {
          for_pairs([&](const unsigned int i,
                        const unsigned int ky,
                        const unsigned int kz) {
            Two<Number> entry;
            if constexpr (dim == 2)
              {
                V[i * stride] = y[ky];
                entry.x       = dy[ky];
                entry.y       = Number(0.);
              }
            else
              {
                V[i * stride] = y[ky] * z[kz];
                entry.x       = dy[ky] * z[kz];
                entry.y       = y[ky] * dz[kz];
              }
            G[i * stride] = entry;
          });
        }
      };



      /// Index of a function in the space of bounded total degree, which is
      /// independent of the degree of the space; see Legendre.
      template <int dim>
      __host__ __device__ constexpr unsigned int
      function_index(const unsigned int kx,
                     const unsigned int ky,
                     const unsigned int kz)
      {
        const unsigned int rest = ky + kz, grade = kx + rest;
        return dim == 2 ? grade * (grade + 1) / 2 + ky
                        : grade * (grade + 1) * (grade + 2) / 6 +
                            rest * (rest + 1) / 2 + kz;
      }

      /// Writes all functions of degree up to P in the order of their indices:
      /// sign times the value, and the derivative in direction m plus sign c
      /// times the value.
      template <int dim, int P, typename Number>
      __device__ inline void
      write_functions(const BoxMap<dim> &map,
                      const double (&point)[dim],
                      const double (&m)[dim],
                      const Number       sign,
                      const Number       c,
                      Two<Number>       *to,
                      const unsigned int stride)
      {
        constexpr int L = P + 1;
        // The common factor of all functions is applied to the functions of x,
        // the sign also to the derivatives of the other variables.
        double scale = 1.;
#pragma unroll
        for (int d = 0; d < dim; ++d)
          scale *= map.entry[2 * d + 1].x;
        Number        x[L], dx[L], y[L], dy[L], z[L], dz[L];
        const double2 first = map.entry[0], second = map.entry[2],
                      third = map.entry[dim > 2 ? 4 : 2];
        legendre(first,
                 make_double2(sign * scale, scale * first.y),
                 P,
                 point[0],
                 m[0],
                 x,
                 dx);
        legendre(
          second, make_double2(1., sign * second.y), P, point[1], m[1], y, dy);
        if (dim > 2)
          legendre(third,
                   make_double2(1., sign * third.y),
                   P,
                   point[dim - 1],
                   m[dim - 1],
                   z,
                   dz);
#pragma unroll
        for (unsigned int ky = 0; ky < L; ++ky)
#pragma unroll
          for (unsigned int kz = 0; kz < (dim > 2 ? L : 1); ++kz)
            if (ky + kz < L)
              {
                const Number pair = ky == 0   ? (kz == 0 ? Number(1.) : z[kz])
                                    : kz == 0 ? y[ky]
                                              : y[ky] * z[kz];
                Number       d    = c * pair;
                if (ky > 0)
                  d += kz > 0 ? dy[ky] * z[kz] : dy[ky];
                if (kz > 0)
                  d += ky > 0 ? y[ky] * dz[kz] : dz[kz];
#pragma unroll
                for (unsigned int kx = 0; kx < L; ++kx)
                  if (kx + ky + kz < L)
                    {
                      Two<Number> entry;
                      entry.x = x[kx] * pair;
                      entry.y = x[kx] * d;
                      if (kx > 0)
                        entry.y += dx[kx] * pair;
                      to[function_index<dim>(kx, ky, kz) * stride] = entry;
                    }
              }
      }

      /// Adds the right-hand side; each of four lanes contributes one point.
      /// Uses explicit fused multiply-adds, so that all kernels round in the
      /// same way.
      template <int T, typename Number>
      __device__ inline void
      add_source(Number (&sum)[T], const Number source, const Number (&v)[T])
      {
#pragma unroll
        for (int t = 0; t < T; ++t)
          sum[t] = fma(source, v[t], sum[t]);
      }

      /// Sum over the four lanes that share a function.
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



      /// Integrals of the affine functions 0 to dim over a polytope of
      /// simplices, computed from its volume and first moments; for a
      /// VolumeRule of one point. Uses explicit fused multiply-adds, as
      /// add_source() does.
      template <int dim>
      struct AffineIntegrals
      {
        double map[dim];        ///< scales of the bounding box
        double value;           ///< value of function 0
        double moment[dim + 1]; ///< first moments in box coordinates, volume

        __device__
        AffineIntegrals(const Data<dim>   &D,
                        const unsigned int k,
                        const Row         &row,
                        const bool         first_moments)
          : value(1.)
        {
          const unsigned int lane = threadIdx.x & 31u;
          const double2     *from = reinterpret_cast<const double2 *>(
            D.box_map + std::size_t(4 * dim) * k);
          double center[dim];
#pragma unroll
          for (int d = 0; d < dim; ++d)
            {
              const double2 m = __ldg(from + 2 * d);
              center[d]       = m.x;
              map[d]          = m.y;
              value *= __ldg(&from[2 * d + 1].x);
            }
#pragma unroll
          for (int d = 0; d <= dim; ++d)
            moment[d] = 0.;
          // All groups of eight lanes do the same work.
          for (unsigned int s = lane & 7u; (s & ~7u) < row.n_subcells; s += 8)
            {
              double x[dim],
                w = affine_volume_point(D,
                                        row.first_subcell +
                                          min(s, row.n_subcells - 1),
                                        0,
                                        D.volume_rule,
                                        x);
              if (s >= row.n_subcells)
                w = 0.;
              moment[dim] += w;
#pragma unroll
              for (int d = 0; d < dim; ++d)
                moment[d] = fma(w, (x[d] - center[d]) * map[d], moment[d]);
            }
#pragma unroll
          for (int d = dim; d >= 0; --d)
            if (d == dim || first_moments)
              for (int step = 1; step < 8; step *= 2)
                moment[d] += __shfl_xor_sync(~0u, moment[d], step);
        }

        /// Derivative of function i > 0 in direction i - 1.
        __device__ double
        derivative(const int i) const
        {
          double scale = 0.;
#pragma unroll
          for (int d = 0; d < dim; ++d)
            if (i == d + 1)
              scale = map[d];
          return Legendre::internal::scale(1) * value * scale;
        }

        __device__ double
        integral(const int i) const
        {
          double sum = moment[dim] * value;
#pragma unroll
          for (int d = 0; d < dim; ++d)
            if (i == d + 1)
              sum = moment[d] * (Legendre::internal::scale(1) * value);
          return sum;
        }
      };

      /// Moments up to degree 2 of a polytope of simplices, in the coordinates
      /// xi of its bounding box. They yield the integrals of the quadratic
      /// functions and of products of their derivatives; each derivative is a
      /// multiple of a monomial 1 or xi_d (with index 0 or d + 1).
      ///
      /// Each lane processes a sub-cell. With volume V, vertices y and n = dim,
      ///
      ///   integral of xi_d xi_e
      ///     = V / ((n + 1) (n + 2)) (sum y_d y_e + sum y_d sum y_e).
      ///
      /// Uses explicit fused multiply-adds, as add_source() does. In the code,
      /// n is dim + 1.
      template <int dim>
      struct QuadraticIntegrals
      {
        static constexpr int          n = dim + 1, n_moments = n * (n + 1) / 2;
        static constexpr unsigned int stride = 33;

        /// Bytes of shared memory.
        static constexpr std::size_t size =
          (n * n + n_moments * stride) * sizeof(double);

        double  scale[dim]; ///< scales of the bounding box
        double  value;      ///< value of function 0
        double *M;          ///< M[d][e]: integrals of products of monomials

        /// Computes the moments with a whole warp, in shared memory.
        __device__
        QuadraticIntegrals(const Data<dim>   &D,
                           const unsigned int k,
                           const Row         &row,
                           void              *shared)
          : value(1.)
          , M(static_cast<double *>(shared))
        {
          double *const      part = M + n * n;
          const unsigned int lane = threadIdx.x & 31u;
          const BoxMap<dim>  map(D, k);
#pragma unroll
          for (int d = 0; d < dim; ++d)
            {
              scale[d] = map.entry[2 * d].y;
              value *= map.entry[2 * d + 1].x;
            }
          double sum = 0.; // moment with the index of the lane
          for (unsigned int begin = 0; begin < row.n_subcells; begin += 32)
            {
              const unsigned int m = min(row.n_subcells - begin, 32u);
              if (lane < m)
                {
                  const double *v =
                    D.subcell_vertices +
                    std::size_t(row.first_subcell + begin + lane) * (dim * n);
                  double x[n][dim], J[dim][dim], total[dim];
#pragma unroll
                  for (int a = 0; a < n; ++a)
#pragma unroll
                    for (int d = 0; d < dim; ++d)
                      x[a][d] = __ldg(v + a * dim + d);
#pragma unroll
                  for (int d = 0; d < dim; ++d)
                    {
#pragma unroll
                      for (int a = 1; a < n; ++a)
                        J[a - 1][d] = x[a][d] - x[0][d];
                      total[d] = 0.;
#pragma unroll
                      for (int a = 0; a < n; ++a)
                        {
                          x[a][d]  = __dmul_rn(x[a][d] - map.entry[2 * d].x,
                                              map.entry[2 * d].y);
                          total[d] = __dadd_rn(total[d], x[a][d]);
                        }
                    }
                  constexpr double factor = dim == 2 ? 1. / 2. : 1. / 6.;
                  const double     V  = __dmul_rn(factor, fabs(determinant(J))),
                               first  = __dmul_rn(V, 1. / n),
                               second = __dmul_rn(V, 1. / (n * (n + 1)));
                  part[lane]          = V;
                  unsigned int entry  = 1;
#pragma unroll
                  for (int d = 0; d < dim; ++d)
                    {
                      part[entry++ * stride + lane] =
                        __dmul_rn(first, total[d]);
#pragma unroll
                      for (int e = 0; e <= d; ++e)
                        {
                          double products = __dmul_rn(total[d], total[e]);
#pragma unroll
                          for (int a = 0; a < n; ++a)
                            products = fma(x[a][d], x[a][e], products);
                          part[entry++ * stride + lane] =
                            __dmul_rn(second, products);
                        }
                    }
                }
              __syncwarp();
              if (lane < n_moments)
                for (unsigned int s = 0; s < m; ++s)
                  sum += part[lane * stride + s];
              __syncwarp();
            }
          // Moment d (d + 1) / 2 + e belongs to monomials d and e.
          if (lane < n_moments)
            {
              const unsigned int d =
                (lane >= 1) + (lane >= 3) + (dim > 2 && lane >= 6);
              const unsigned int e = lane - d * (d + 1) / 2;
              M[d * n + e] = M[e * n + d] = sum;
            }
          __syncwarp();
        }

        /// Exponents of variable d for all functions, two bits each.
        __host__ __device__ static constexpr unsigned int
        exponents(const int d)
        {
          unsigned int all = 0;
          for (unsigned int kx = 0; kx <= 2; ++kx)
            for (unsigned int ky = 0; kx + ky <= 2; ++ky)
              for (unsigned int kz = 0; kx + ky + kz <= (dim > 2 ? 2 : ky + kx);
                   ++kz)
                all |= (d == 0   ? kx
                        : d == 1 ? ky
                                 : kz)
                       << 2 * function_index<dim>(kx, ky, kz);
          return all;
        }

        /// Exponent of variable d of function i.
        __device__ static unsigned int
        exponent(const unsigned int i, const int d)
        {
          constexpr unsigned int table[3] = {exponents(0),
                                             exponents(1),
                                             dim > 2 ? exponents(2) : 0};
          return table[d] >> 2 * i & 3u;
        }

        /// Integral of function i.
        __device__ double
        integral(const unsigned int i) const
        {
          // The function is a multiple of a product of two monomials; a
          // function with a square has a constant term in addition.
          unsigned int a = 0, b = 0;
          double       factor = 1., less = 0.;
#pragma unroll
          for (int d = 0; d < dim; ++d)
            {
              const unsigned int e = exponent(i, d);
              if (e == 1)
                {
                  factor *= Legendre::internal::scale(1);
                  a = b;
                  b = d + 1;
                }
              else if (e == 2)
                {
                  factor = 1.5 * Legendre::internal::scale(2);
                  less   = -0.5 * Legendre::internal::scale(2);
                  a = b = d + 1;
                }
            }
          return __dmul_rn(value,
                           fma(factor, M[a * n + b], __dmul_rn(less, M[0])));
        }

        /// Derivative d of function i: sets the index of its monomial and
        /// returns its factor relative to function 0.
        __device__ double
        derivative(const unsigned int i,
                   const int          d,
                   unsigned int      &monomial) const
        {
          const unsigned int e      = exponent(i, d);
          double             factor = e == 0   ? 0.
                                      : e == 1 ? Legendre::internal::scale(1)
                                               : 3. * Legendre::internal::scale(2);
          monomial                  = e == 2 ? d + 1 : 0;
#pragma unroll
          for (int f = 0; f < dim; ++f)
            if (f != d && exponent(i, f) == 1 && e == 1)
              {
                monomial = f + 1;
                // product of the scales of the two linear functions, sqrt(3)
                // each
                factor = 3.;
              }
          return scale[d] * factor;
        }
      };

      /// True if the kernels use QuadraticIntegrals.
      template <int dim, int P, Cells cells>
      constexpr bool quadratic_integrals =
        P == 2 && dim < 4 && cells == Cells::simplices;

      /// Volume point groups [begin, end) of a polytope; if points are numbered
      /// consecutively, also its first sub-cell and its number of points.
      struct VolumeRange
      {
        unsigned int begin, end, first_subcell, n_points;
      };

      /// A point q of a sub-cell; invalid_index marks an empty slot.
      struct VolumeSlot
      {
        unsigned int subcell, q;
        std::uint64_t
          first_point; ///< index of the first point of the sub-cell in the mesh
      };

      /// Tables of a batch of slots in shared memory, and the functions with
      /// which a warp fills them.
      ///
      /// P: degree, or -1 if it is known at run time only. dense: groups of
      /// facet points may have three points and are stored contiguously; for
      /// degrees 1 and 2 in two and three variables, the tables hold all
      /// functions ("whole") instead of factors.
      template <int dim,
                int P,
                typename Number,
                Cells cells = Cells::any,
                bool  dense = false>
      struct Batch
      {
        static constexpr unsigned int known = P >= 0 ? P : 0;
        static constexpr bool whole = dense && dim < 4 && (P == 1 || P == 2);
        /// Number of functions of a side, if whole.
        static constexpr unsigned int n_whole =
          Legendre::n_functions(dim, known, false);

        const Data<dim>   &D;
        const unsigned int n_slots, stride, n_x, n_pairs_;
        /// All functions, if whole: those of the polytope, then those of the
        /// neighbour.
        Two<Number> *functions;
        /// Factors of the functions of the polytope and of the neighbour.
        Two<Number> *own_x, *own_pairs, *other_x, *other_pairs;
        /// Values and derivatives of products, see write_gradient().
        Number      *V;
        Two<Number> *G;
        Number      *X_y; ///< derivatives in y, in four variables
        Number      *volume_coefficients; ///< [c * stride + slot]
        Number
          *coefficients; ///< coefficients of values on facets, for each side

        __device__
        Batch(const Data<dim> &D, const unsigned int n_slots, void *shared)
          : D(D)
          , n_slots(n_slots)
          , stride(slot_stride(n_slots))
          , n_x(n_first_entries(dim, P >= 0 ? known : D.max_degree))
          , n_pairs_(P >= 0 ? n_pairs(dim, known, false) : D.n_pairs)
          , functions(static_cast<Two<Number> *>(shared))
          , own_x(static_cast<Two<Number> *>(shared))
          , own_pairs(own_x + n_x * stride)
          , other_x(own_pairs + n_pairs_ * stride)
          , other_pairs(other_x + n_x * stride)
          , V(reinterpret_cast<Number *>(own_pairs))
          , G(reinterpret_cast<Two<Number> *>(V + n_pairs_ * stride))
          , X_y(dim == 4 ? reinterpret_cast<Number *>(G + n_pairs_ * stride)
                         : nullptr)
          , volume_coefficients(
              reinterpret_cast<Number *>(G + n_pairs_ * stride) +
              (first_entry_size(dim) - 2) * n_x * stride)
          , coefficients(reinterpret_cast<Number *>(
              whole ? functions + 2 * n_whole * stride
                    : other_pairs + n_pairs_ * stride))
        {}

        /// Stores the right-hand side where fill_volume() without a matrix
        /// would have derivatives, which it does not write.
        __device__ void
        leave_out_derivatives()
        {
          volume_coefficients = reinterpret_cast<Number *>(G) -
                                (n_coefficients(!D.form.diagonal) - 1) * stride;
        }

        /// Layout for facets without the functions of the neighbour.
        __device__ void
        leave_out_neighbor()
        {
          coefficients = reinterpret_cast<Number *>(other_x);
        }

        /// Bytes of shared memory after leave_out_derivatives().
        static std::size_t
        values_size(const unsigned int n_slots,
                    const unsigned int degree,
                    const unsigned int n_pairs)
        {
          return slot_stride(n_slots) *
                 (2 * n_first_entries(dim, degree) + n_pairs + 1) *
                 sizeof(Number);
        }

        /// Bytes of shared memory for fill_volume(); full: with all
        /// coefficients.
        static std::size_t
        volume_size(const unsigned int n_slots,
                    const unsigned int degree,
                    const unsigned int n_pairs,
                    const bool         full)
        {
          return slot_stride(n_slots) *
                 (first_entry_size(dim) * n_first_entries(dim, degree) +
                  3 * n_pairs + n_coefficients(full)) *
                 sizeof(Number);
        }

        /// Bytes of shared memory for fill_facets().
        static std::size_t
        facet_size(const unsigned int n_slots,
                   const unsigned int degree,
                   const unsigned int n_pairs)
        {
          return slot_stride(n_slots) *
                 (4 *
                    (whole ? n_whole : n_first_entries(dim, degree) + n_pairs) +
                  2) *
                 sizeof(Number);
        }

        // Number of coefficients, the last of which is the right-hand side.
        __host__ __device__ static constexpr unsigned int
        n_coefficients(const bool full)
        {
          return (full ? (dim + 1) * (dim + 1) : 2) + 1;
        }

        /// Right-hand side at the slots, times the quadrature weight.
        __device__ const Number *
        source() const
        {
          return volume_coefficients +
                 (n_coefficients(!D.form.diagonal) - 1) * stride;
        }

        /// Returns false if a volume coefficient is known to be zero. Only
        /// kernels for prisms and for four variables check this, since most of
        /// their coefficients are zero.
        __device__ bool
        has_entry(const int row, const int column) const
        {
          return (cells != Cells::prisms && dim < 4) ||
                 (D.volume_entries >> (row * (dim + 1) + column) & 1u);
        }

        /// Calls function(e) for the non-zero rows (or columns) of the volume
        /// coefficients, which are given as bits. Those of derivatives are
        /// taken together, so that products are separated by few branches,
        /// except on prisms and in four variables.
        template <typename Function>
        __device__ static void
        for_lines(const unsigned int lines, const Function &function)
        {
          if (cells == Cells::prisms || dim == 4)
            {
#pragma unroll
              for (int e = 0; e <= dim; ++e)
                if (lines >> e & 1u)
                  function(e);
              return;
            }
          if (lines & 1u)
            function(0);
          if (lines > 1u)
#pragma unroll
            for (int e = 1; e <= dim; ++e)
              function(e);
        }

        /// Value and derivatives of a function, computed from its table
        /// entries.
        __device__ void
        gradient(const unsigned int x,
                 const unsigned int pair,
                 Number (&a)[dim + 1]) const
        {
          const Two<Number> vx = own_x[x];
          const Number      v  = V[pair];
          const Two<Number> d  = G[pair];
          a[0]                 = vx.x * v;
          a[1]                 = vx.y * v;
          if constexpr (dim == 4)
            a[2] = X_y[x] * v;
          a[dim == 4 ? 3 : 2] = vx.x * d.x;
          if constexpr (dim > 2)
            a[dim] = vx.x * d.y;
        }

        /// True if points need no list: those of affine sub-cells of one degree
        /// are numbered consecutively in the order of sub-cells.
        __device__ bool
        numbered() const
        {
          return P >= 0 && affine<cells>(D);
        }

        /// Volume point groups of a polytope: a range of the list, or
        /// consecutively numbered points.
        template <Quadrature quadrature = Quadrature::any>
        __device__ VolumeRange
        volume_range(const Row &row) const
        {
          if (numbered() && is_compressed<quadrature>(D))
            {
              // Each point takes the place of a sub-cell with one point.
              const std::uint64_t *const q = D.subcell_q + row.first_subcell;
              const unsigned int         n =
                static_cast<unsigned int>(q[row.n_subcells] - q[0]);
              return {0, (n + 3) / 4, static_cast<unsigned int>(q[0]), n};
            }
          if (numbered())
            return {0,
                    (row.n_subcells * D.volume_rule.n_points + 3) / 4,
                    row.first_subcell,
                    row.n_subcells * D.volume_rule.n_points};
          return {row.volume_begin, row.volume_end, 0, 0};
        }

        /// Point for the slot of this lane, of the groups from begin on. It is
        /// loaded ahead, since its data requires several dependent memory
        /// accesses.
        __device__ VolumeSlot
        volume_slot(const VolumeRange &range, const unsigned int begin) const
        {
          const unsigned int slot = (threadIdx.x & 31u) % n_slots;
          VolumeSlot         s    = {range.first_subcell, invalid_index, 0};
          if (numbered())
            {
              const VolumeRule  &rule = D.volume_rule;
              const unsigned int i    = 4 * begin + slot;
              if (i < range.n_points)
                {
                  const unsigned int m =
                    rule.n_points == 1 ? i : __umulhi(i, rule.inverse);
                  s.subcell += m;
                  s.q = i - m * rule.n_points;
                }
              s.first_point = std::uint64_t(s.subcell) * rule.n_points;
            }
          else if (begin < range.end)
            {
              const unsigned int     i = begin + slot / 4;
              const VolumePointGroup point_group =
                D.volume_point_group[min(i, range.end - 1)];
              s.subcell     = point_group.subcell;
              s.first_point = point_group.point - point_group.first;
              if (i < range.end)
                s.q = point_group.first + (slot & 3u);
            }
          return s;
        }

        /// Number of slots of a group of facet points.
        __device__ unsigned int
        facet_spacing() const
        {
          return P >= 0 && dense ? D.facet_step : 4;
        }

        /// Number of groups of facet points that fit into all slots.
        __device__ unsigned int
        n_facet_point_groups() const
        {
          return facet_spacing() == 3 ? n_slots / 3 : n_slots / 4;
        }

        /// Group that a slot belongs to, also for slots beyond all groups.
        __device__ unsigned int
        facet_point_group_of(const unsigned int slot) const
        {
          return facet_spacing() == 3 ? slot * 11 >> 5 : slot / 4;
        }

        __device__ FacetPointGroup
        facet_point_group(const unsigned int begin,
                          const unsigned int end) const
        {
          const unsigned int slot        = (threadIdx.x & 31u) % n_slots;
          FacetPointGroup    point_group = {};
          if (begin < end)
            point_group =
              D.facet_point_group[min(begin + facet_point_group_of(slot),
                                      end - 1)];
          return point_group;
        }

        /// Asynchronous version of facet_point_group() that needs no registers:
        /// starts to copy the groups from begin on to a free part of the tables
        /// (of 32 slots), and finish_facet_point_groups() completes the copy.
        /// Compute capability 8.0 and later.
        __device__ void
        start_facet_point_groups(const unsigned int begin,
                                 const unsigned int end) const
        {
          // Each lane copies half of a group.
          const unsigned int lane = threadIdx.x & 31u, i = lane / 2;
          if (begin < end && i < n_facet_point_groups())
            {
              const double2 *from = reinterpret_cast<const double2 *>(
                D.facet_point_group + min(begin + i, end - 1));
#if __CUDA_ARCH__ >= 800
              asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(
                             (unsigned int)__cvta_generic_to_shared(
                               room_for_point_group(i) + lane % 2)),
                           "l"(from + lane % 2)
                           : "memory");
#endif
            }
        }

        __device__ FacetPointGroup
        finish_facet_point_groups() const
        {
#if __CUDA_ARCH__ >= 800
          asm volatile("cp.async.wait_all;" ::: "memory");
#endif
          __syncwarp();
          return *reinterpret_cast<const FacetPointGroup *>(
            room_for_point_group(min(facet_point_group_of(threadIdx.x & 31u),
                                     n_facet_point_groups() - 1)));
        }

        __device__ double2 *
        room_for_point_group(const unsigned int i) const
        {
          static_assert(sizeof(FacetPointGroup) == 2 * sizeof(double2));
          return reinterpret_cast<double2 *>(own_pairs + i * stride + n_slots);
        }

        /// Result of fill_volume(). has_flux: coefficients of derivatives of
        /// test functions times values are present. has_skew: the tensor is not
        /// symmetric at one of the points.
        static constexpr unsigned int has_flux = 1, has_skew = 2;

        /// Fills slots with points of the volume: tables of gradients (values
        /// if not @p matrix), the right-hand side and, if @p matrix, the
        /// coefficients of the form, times the weight. For a diagonal form,
        /// these are the coefficient of gradients and that of values; else all
        /// coefficients, row by row. split: the symmetric part of the tensor is
        /// stored on and above its diagonal, the skew part below it, and the
        /// result, which is the same for all lanes, tells which further parts
        /// are present.
        template <bool       matrix,
                  bool       split      = false,
                  Quadrature quadrature = Quadrature::any>
        __device__ unsigned int
        fill_volume(const unsigned int polytope, const VolumeSlot &slot)
        {
          const unsigned int lane  = threadIdx.x & 31u;
          unsigned int       parts = 0;
          __syncwarp();
          if (lane < n_slots)
            {
              const unsigned int degree = P >= 0 ? known : D.degree[polytope];
              const unsigned int n =
                numbered() ? D.volume_rule.n_points
                           : n_volume_points<cells>(D, slot.subcell, degree);
              const unsigned int  q = min(slot.q, n - 1);
              const std::uint64_t table_index =
                slot.first_point + q - D.first_volume_point;
              Number *const coefficient = volume_coefficients + lane;
              // All loads from tables come first.
              SplitCoefficients tensor;
              double            source = D.form.f;
              if (matrix && split && !D.form.diagonal)
                load_split_coefficients(table_index, tensor);
              else if (matrix && !D.form.constant_volume)
                load_volume_coefficients(table_index, coefficient);
              if (D.form.source() && !D.form.constant_f)
                source = __ldg(
                  &D.volume_table[D.form.volume_layout.f * D.n_volume_points +
                                  table_index]);
              double point[dim], w;
              if (numbered())
                w = affine_point<cells, quadrature>(
                  D, slot.subcell, q, D.volume_rule, point);
              else
                w = volume_point<cells>(D, slot.subcell, q, degree, point);
              if (slot.q >= n)
                w = 0.;
              double ones[dim];
              for (int d = 0; d < dim; ++d)
                ones[d] = 1.;
              {
                const SlotTables<dim, P, Number> tables(D,
                                                        polytope,
                                                        degree,
                                                        point,
                                                        ones,
                                                        1.,
                                                        own_x + lane,
                                                        stride,
                                                        dim == 4 && matrix
                                                          ? X_y + lane
                                                          : nullptr);
                if (matrix)
                  tables.write_gradient(V + lane, G + lane);
                else
                  tables.write_values(V + lane);
              }
              if (matrix && split && !D.form.diagonal)
                parts = write_split_coefficients(w, tensor, coefficient);
              else if (matrix)
                write_volume_coefficients(w, coefficient);
              if (D.form.source())
                volume_coefficients[(n_coefficients(!D.form.diagonal) - 1) *
                                      stride +
                                    lane] = Number(w * source);
            }
          __syncwarp();
          if constexpr (split)
            return (__any_sync(~0u, parts & has_flux) ? has_flux : 0) |
                   (__any_sync(~0u, parts & has_skew) ? has_skew : 0);
          else
            return 0;
        }

        /// Starts to load the coefficients of a point into its slot;
        /// write_volume_coefficients() completes the loads. Where the device
        /// supports it, many loads are in flight at once without occupying
        /// registers.
        __device__ void
        load_volume_coefficients(const std::uint64_t t, Number *c) const
        {
          constexpr int       n   = dim + 1;
          const VolumeLayout &L   = D.form.volume_layout;
          const auto          put = [&](const int entry, const int array) {
            Number *const to = c + entry * stride;
            if (array < 0)
              *to = 0.;
            else
              load(to, &D.volume_table[array * D.n_volume_points + t]);
          };
          if (D.form.diagonal)
            {
              put(0, L.a);
              put(1, L.c);
              return;
            }
          put(0, L.c);
          for (int d = 0; d < dim; ++d)
            {
              put(1 + d, L.b >= 0 ? L.b + d : -1);
              put((d + 1) * n, L.beta >= 0 ? L.beta + d : -1);
              for (int e = 0; e < dim; ++e)
                put((d + 1) * n + 1 + e,
                    L.a < 0    ? -1
                    : L.tensor ? L.a + d * dim + e
                    : d == e   ? L.a
                               : -1);
            }
        }

        __device__ static void
        load(double *to, const double *from)
        {
#if __CUDA_ARCH__ >= 800
          asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(
                         (unsigned int)__cvta_generic_to_shared(to)),
                       "l"(from)
                       : "memory");
#else
          *to = __ldg(from);
#endif
        }

        __device__ static void
        load(float *to, const double *from)
        {
          *to = float(__ldg(from));
        }

        __device__ void
        write_volume_coefficients(const double w, Number *c) const
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
#pragma unroll
                for (int i = 0; i < n * n; ++i)
                  // The kernels that skip zero entries do not read them either.
                  if ((cells != Cells::prisms && dim < 4) ||
                      (D.volume_entries >> i & 1u))
                    c[i * stride] = Number(w * D.form.C[i / n][i % n]);
              return;
            }
#if __CUDA_ARCH__ >= 800
          asm volatile("cp.async.wait_all;" ::: "memory");
#endif
          if (D.form.diagonal)
            {
              c[0] *= Number(w);
              c[stride] *= Number(w);
            }
          else
#pragma unroll
            for (int i = 0; i < n * n; ++i)
              c[i * stride] *= Number(w);
        }

        /// Coefficients at a point.
        struct SplitCoefficients
        {
          double a[dim][dim], beta[dim], b[dim], c;
        };

        __device__ void
        load_split_coefficients(const std::uint64_t t,
                                SplitCoefficients  &to) const
        {
          if (D.form.constant_volume)
            {
              to.c = D.form.C[0][0];
#pragma unroll
              for (int d = 0; d < dim; ++d)
                {
                  to.b[d]    = D.form.C[0][1 + d];
                  to.beta[d] = D.form.C[1 + d][0];
#pragma unroll
                  for (int e = 0; e < dim; ++e)
                    to.a[d][e] = D.form.C[1 + d][1 + e];
                }
              return;
            }
          const VolumeLayout &L  = D.form.volume_layout;
          const auto          at = [&](const int array) {
            return D.volume_table + (array * D.n_volume_points + t);
          };
          // The components of a coefficient are consecutive arrays.
          const auto next = [&](const double *&from) {
            const double value = __ldg(from);
            from += D.n_volume_points;
            return value;
          };
          const auto vector = [&](const int array, double(&v)[dim]) {
            const double *from = at(array);
#pragma unroll
            for (int d = 0; d < dim; ++d)
              v[d] = array >= 0 ? next(from) : 0.;
          };
          if (L.a >= 0 && L.tensor)
            {
              const double *from = at(L.a);
#pragma unroll
              for (int d = 0; d < dim; ++d)
#pragma unroll
                for (int e = 0; e < dim; ++e)
                  to.a[d][e] = next(from);
            }
          else
            {
              const double a = L.a >= 0 ? __ldg(at(L.a)) : 0.;
#pragma unroll
              for (int d = 0; d < dim; ++d)
#pragma unroll
                for (int e = 0; e < dim; ++e)
                  to.a[d][e] = d == e ? a : 0.;
            }
          vector(L.b, to.b);
          vector(L.beta, to.beta);
          to.c = L.c >= 0 ? __ldg(at(L.c)) : 0.;
        }

        /// Writes the coefficients times the weight, see fill_volume().
        __device__ unsigned int
        write_split_coefficients(const double             w,
                                 const SplitCoefficients &from,
                                 Number                  *c) const
        {
          constexpr int n     = dim + 1;
          unsigned int  parts = 0;
          c[0]                = Number(w * from.c);
#pragma unroll
          for (int d = 0; d < dim; ++d)
            {
              c[(1 + d) * stride] = Number(w * from.b[d]);
              if (from.beta[d] != 0.)
                parts |= has_flux;
              c[(d + 1) * (n + 1) * stride] = Number(w * from.a[d][d]);
#pragma unroll
              for (int e = d + 1; e < dim; ++e)
                {
                  const double x = from.a[d][e], y = from.a[e][d];
                  if (x != y)
                    parts |= has_skew;
                  c[((d + 1) * n + 1 + e) * stride] = Number(0.5 * w * (x + y));
                }
            }
          // These parts are rarely present.
          if (__any_sync(n_slots < 32 ? (1u << n_slots) - 1 : ~0u, parts != 0))
#pragma unroll
            for (int d = 0; d < dim; ++d)
              {
                c[(d + 1) * n * stride] = Number(w * from.beta[d]);
#pragma unroll
                for (int e = d + 1; e < dim; ++e)
                  c[((e + 1) * n + 1 + d) * stride] =
                    Number(0.5 * w * (from.a[d][e] - from.a[e][d]));
              }
          return parts;
        }

        __device__ bool
        has_symmetric_entry(const int row, const int column) const
        {
          return has_entry(row, column) || has_entry(column, row);
        }

        struct NoMap
        {
          __device__
          NoMap(const Data<dim> &, const unsigned int)
          {}
        };

        /// Terms that are integrated on facets.
        enum class Facets
        {
          /// v (c w + b . grad w) + theta (b . grad v) w, where the terms of
          /// both sides have the same coefficients (interior penalty). With h =
          /// b . grad v + c v / 2, which the tables hold as derivatives, this
          /// is v h(w) + (theta h(v) + (1 - theta) c v / 2) w; without
          /// derivatives of v, the tables hold b . grad v + c v.
          penalty,
          /// v (c w + b . grad w)
          value_rows,
          /// (beta . grad v) w, with beta of the diagonal block
          flux_rows,
          /// (beta . grad v) w, with beta of the neighbour's block
          flux_rows_pair,
          /// the right-hand side r v + s . grad v
          rhs
        };

        /// True for Facets::penalty with derivatives of test functions. These
        /// vanish at the bottom of a slab, where the kernels of block rows
        /// leave them out.
        __device__ bool
        two_sided(const bool bottom) const
        {
          constexpr bool leaves_out =
            dense && (cells == Cells::prisms || dim == 4);
          return D.form.flux && D.form.theta != 0. && !(leaves_out && bottom);
        }

        /// Sets the neighbour's functions to zero in a slot that fill_facets()
        /// may leave out.
        __device__ void
        clear_other(const unsigned int slot)
        {
          Two<Number> *const to =
            whole ? functions + n_whole * stride : other_x;
          __syncwarp();
          for (unsigned int i = threadIdx.x & 31u;
               i < (whole ? n_whole : n_x + n_pairs_);
               i += 32)
            to[i * stride + slot].x = to[i * stride + slot].y = 0.;
        }

        /// Fills slots with the facet point groups [begin, end): tables of
        /// directional derivatives and coefficients of values, all times the
        /// weight; those of the neighbour with opposite sign if @p pair.
        template <Facets terms, bool pair>
        __device__ void
        fill_facets(const unsigned int     polytope,
                    const FacetPointGroup &point_group,
                    const unsigned int     begin,
                    const unsigned int     end)
        {
          const unsigned int lane = threadIdx.x & 31u;
          // With at most 16 slots, each half of the warp serves one side.
          const unsigned int slot  = lane < n_slots ? lane : lane - n_slots;
          const bool         split = pair && n_slots <= 16;
          const unsigned int m     = facet_point_group_of(slot),
                             of_point_group = slot - m * facet_spacing();
          __syncwarp();
          if (lane < (split ? 2 * n_slots : n_slots))
            {
              const unsigned int neighbor = point_group.neighbor;
              const unsigned int own_degree =
                P >= 0 ? known : D.degree[polytope];
              const unsigned int other_degree =
                P >= 0 || neighbor == invalid_index ? own_degree
                                                    : D.degree[neighbor];
              const unsigned int degree = max(own_degree, other_degree);
              const bool prism = point_group.code & FacetPointGroup::prism;
              const unsigned int n =
                n_facet_points<cells>(D, point_group.facet, degree, prism);
              const unsigned int first =
                (point_group.code >> FacetPointGroup::point_shift) +
                of_point_group;
              const unsigned int q      = min(first, n - 1);
              const bool         bottom = cells != Cells::simplices &&
                                  D.form.constant_bottom &&
                                  (point_group.code & FacetPointGroup::bottom);
              const bool tabulated = !D.form.constant_facets ||
                                     (neighbor == invalid_index && !bottom);
              double own_m[dim], other_m[dim], c[2];
              if (tabulated)
                read_facet_coefficients<terms>(
                  point_group, q, own_m, other_m, c);
              // Maps of both sides, loaded early, as all other data.
              using Map = std::conditional_t<whole, BoxMap<dim>, NoMap>;
              const Map own_map(D, polytope),
                other_map(D, neighbor == invalid_index ? polytope : neighbor);
              double x[dim], normal[dim], w;
              w = facet_point<cells>(
                D, point_group.facet, q, degree, x, normal, prism);
              if (m >= min(end - begin, n_facet_point_groups()) ||
                  of_point_group >= D.facet_step || first >= n)
                w = 0.;
              // The bottom of a slab has no data.
              if (terms == Facets::rhs && bottom)
                w = 0.;
              const bool side = point_group.code & FacetPointGroup::side;
              if (side)
                for (int d = 0; d < dim; ++d)
                  normal[d] = -normal[d];

              if (tabulated)
                {
                  for (int d = 0; d < dim; ++d)
                    {
                      own_m[d] *= w;
                      other_m[d] *= w;
                    }
                  c[0] *= w;
                  c[1] *= w;
                }
              else
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
                  c[0] = c[1] = w * (__ldg(D.sigma + point_group.facet) -
                                     (bn < 0. ? bn : 0.));
                }

              // Part of the coefficient that the tables include.
              const double folded = terms != Facets::penalty ? 0.
                                    : two_sided(bottom)      ? 0.5 * c[0]
                                                             : c[0];
              // Side 0 comes first; the sides use disjoint shared memory.
#pragma unroll(whole ? 2 : 1)
              for (unsigned int s = split ? lane / n_slots : 0;
                   s < (pair ? 2u : 1u);
                   s += split ? 2 : 1)
                {
                  if (s == 1 && neighbor == invalid_index)
                    break;
                  double y[dim];
                  for (int d = 0; d < dim; ++d)
                    y[d] = x[d];
                  // Facets are stored as side 0 sees them; the other side is
                  // shifted.
                  if ((point_group.code & FacetPointGroup::shifted) &&
                      (s == 1) != side)
                    {
                      const double *shift =
                        D.shift +
                        dim * D.interface_shift
                                [D.polytope_interface[point_group.entry] / 2];
                      for (int d = 0; d < dim; ++d)
                        y[d] += shift[d];
                    }
                  double m[dim];
                  for (int d = 0; d < dim; ++d)
                    m[d] = s == 0 ? own_m[d] : other_m[d];
                  const Number sign = s == 0 ? 1. : -1.;
                  if constexpr (whole)
                    {
                      write_functions<dim, P, Number>(
                        s == 0 ? own_map : other_map,
                        y,
                        m,
                        sign,
                        Number(folded),
                        functions + s * (n_whole * stride) + slot,
                        stride);
                    }
                  else
                    {
                      const unsigned int offset =
                        s == 0 ? 0 : (n_x + n_pairs_) * stride;
                      SlotTables<dim, P, Number> tables(D,
                                                        s == 0 ? polytope
                                                               : neighbor,
                                                        s == 0 ? own_degree
                                                               : other_degree,
                                                        y,
                                                        m,
                                                        sign,
                                                        own_x + offset + slot,
                                                        stride);
                      tables.write_directional(Number(folded),
                                               own_pairs + offset + slot);
                    }
                  coefficients[s * stride + slot] = Number(c[s]);
                }
            }
          __syncwarp();
        }

        // Reads the coefficients at a facet point; c[1] gets the opposite sign.
        // All loads precede computations with the values.
        template <Facets terms>
        __device__ void
        read_facet_coefficients(const FacetPointGroup &point_group,
                                const unsigned int     q,
                                double (&own_m)[dim],
                                double (&other_m)[dim],
                                double (&c)[2]) const
        {
          const FacetLayout  &L = D.form.facet_layout;
          const std::uint64_t t =
            D.entry_q[point_group.entry] - D.first_facet_point +
            point_group.point +
            (q - (point_group.code >> FacetPointGroup::point_shift));
          const bool    interior = point_group.neighbor != invalid_index;
          const double *table    = D.facet_table + t;
          const auto    at       = [&](const int array) {
            return array >= 0 ? __ldg(table + array * D.n_facet_points) : 0.;
          };
          const auto vector = [&](const int array, double(&v)[dim]) {
            const double *from =
              table + (array >= 0 ? array : 0) * D.n_facet_points;
#pragma unroll
            for (int d = 0; d < dim; ++d)
              {
                v[d] = array >= 0 ? __ldg(from) : 0.;
                from += D.n_facet_points;
              }
          };
          const auto inner = [&](const int array) {
            return interior ? array : -1;
          };
          constexpr bool values =
            terms == Facets::penalty || terms == Facets::value_rows;
          const int own   = values                       ? L.b[0]
                            : terms == Facets::flux_rows ? L.beta[0]
                            : terms == Facets::rhs       ? L.s
                                                         : inner(L.beta[1]),
                    other = values ? inner(L.b[1]) : -1;
          vector(own, own_m);
          vector(other, other_m);
          c[0] = values ? at(L.c[0]) : terms == Facets::rhs ? at(L.r) : 0.;
          c[1] = terms == Facets::penalty      ? c[0]
                 : terms == Facets::value_rows ? -at(inner(L.c[1]))
                                               : 0.;
        }
      };
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
