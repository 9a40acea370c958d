// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_cuda_operators_point_kernels_h
#define tessella_cuda_operators_point_kernels_h

#include <tessella/portable/legendre.h>

#include "point_product.h"

// Kernels of PointProduct.

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      /// Arrays of PointProductData in device memory, and one product.
      struct PointArguments
      {
        PointTerms           terms;
        bool                 transpose;
        unsigned int         n_owned;
        const unsigned int  *degree, *n_basis, *exponents;
        const std::uint64_t *dof_offset;
        const double        *frames, *volume_points, *facet_points, *shift;
        const std::uint64_t *volume_begin, *side_begin, *volume_records;
        const PointFacet    *facets;
        const unsigned int  *facet_of_point;
        const double        *values, *src, *ghosts;
        /// The kernel for any degrees: largest degree.
        unsigned int max_degree;

        __device__ __forceinline__ const double *
        function(const unsigned int k) const
        {
          return k < n_owned ? src + dof_offset[k]
                             : ghosts + (dof_offset[k] - dof_offset[n_owned]);
        }
      };

      /// Values of a record at one point, one array after the other.
      struct RecordAtPoint
      {
        __device__ __forceinline__
        RecordAtPoint(const double       *values,
                      const std::uint64_t place,
                      const unsigned int  n_points,
                      const unsigned int  q)
          : values(values + (place & ~PointFacet::constant_bit) +
                   ((place & PointFacet::constant_bit) != 0 ? 0 : q))
          , stride((place & PointFacet::constant_bit) != 0 ? 1 : n_points)
        {}

        __device__ __forceinline__ double
        operator[](const unsigned int i) const
        {
          return __ldg(values + std::size_t(i) * stride);
        }

        const double      *values;
        const unsigned int stride;
      };

      /// Value and gradient of a function, or of terms that are multiplied by
      /// test functions and their gradients.
      template <int dim>
      struct PointRows
      {
        double value, gradient[dim];
      };

      /// Terms of the volume of polytope @p k at its point @p q.
      template <int dim>
      __device__ __forceinline__ PointRows<dim>
                                 volume_terms(const PointArguments &args,
                                              const unsigned int    k,
                                              const unsigned int    q,
                                              const unsigned int    n_points,
                                              const PointRows<dim> &u)
      {
        const PointTerms   &terms = args.terms;
        const RecordAtPoint record(args.values,
                                   args.volume_records[k],
                                   n_points,
                                   q);
        PointRows<dim>      r    = {};
        unsigned int        next = 0;
        if (terms.isotropic)
          {
            const double a = record[next++];
#pragma unroll
            for (int d = 0; d < dim; ++d)
              r.gradient[d] = a * u.gradient[d];
          }
        else if (terms.tensor)
          {
#pragma unroll
            for (int d = 0; d < dim; ++d)
#pragma unroll
              for (int e = 0; e < dim; ++e)
                r.gradient[d] +=
                  record[args.transpose ? e * dim + d : d * dim + e] *
                  u.gradient[e];
            next = dim * dim;
          }
        const unsigned int first_beta = next,
                           first_b    = next + (terms.beta ? dim : 0),
                           c          = first_b + (terms.b ? dim : 0);
        const unsigned int to_beta    = args.transpose ? first_b : first_beta,
                           to_b       = args.transpose ? first_beta : first_b;
        if (args.transpose ? terms.b : terms.beta)
          {
#pragma unroll
            for (int d = 0; d < dim; ++d)
              r.gradient[d] += record[to_beta + d] * u.value;
          }
        if (args.transpose ? terms.beta : terms.b)
          {
#pragma unroll
            for (int d = 0; d < dim; ++d)
              r.value += record[to_b + d] * u.gradient[d];
          }
        if (terms.c)
          r.value += record[c] * u.value;
        return r;
      }

      /// Adds the terms of a facet that have the function @p u of the own side,
      /// t = 0, or of the neighbour, t = 1. The transpose takes the neighbour's
      /// terms from the other side, which has the own function as its
      /// neighbour's.
      template <int dim, int t>
      __device__ __forceinline__ void
      add_facet_terms(const PointArguments &args,
                      const PointFacet     &facet,
                      const bool            boundary,
                      const unsigned int    q,
                      const PointRows<dim> &u,
                      PointRows<dim>       &r)
      {
        const PointTerms   &terms = args.terms;
        const RecordAtPoint record(args.values,
                                   t == 1 && args.transpose ? facet.other_record
                                                            : facet.own_record,
                                   facet.n_points,
                                   q);
        const unsigned int  n_sides = boundary ? 1 : 2;
        const unsigned int  first_b = t * dim,
                           first_beta =
                             terms.penalty
                               ? 0
                               : (terms.facet_b ? n_sides * dim : 0) + t * dim;
        const double       sign = t == 0 ? 1. : -1.;
        const double       beta = terms.penalty ? sign * terms.theta : 1.;
        const unsigned int c =
          (terms.facet_b ? n_sides * dim : 0) +
          (terms.facet_beta && !terms.penalty ? n_sides * dim : 0);
        // Coefficients of the gradient, and those that multiply the test
        // function's gradient.
        const bool has_trial =
                     args.transpose ? terms.facet_beta : terms.facet_b,
                   has_test = args.transpose ? terms.facet_b : terms.facet_beta;
        const unsigned int trial  = args.transpose ? first_beta : first_b,
                           test   = args.transpose ? first_b : first_beta;
        const double trial_factor = args.transpose ? beta : 1.,
                     test_factor  = args.transpose ? 1. : beta;
        r.value += (terms.penalty ? sign * record[c] : record[c + t]) * u.value;
        if (has_trial)
          {
            double sum = 0.;
#pragma unroll
            for (int d = 0; d < dim; ++d)
              sum += record[trial + d] * u.gradient[d];
            r.value += trial_factor * sum;
          }
        if (has_test)
          {
            const double value = test_factor * u.value;
#pragma unroll
            for (int d = 0; d < dim; ++d)
              r.gradient[d] += record[test + d] * value;
          }
      }

      /// Coordinates of a point on a facet as the own side, t = 0, or the
      /// neighbour sees it; tables have those of side 0.
      template <int dim>
      __device__ __forceinline__ void
      facet_point(const PointArguments &args,
                  const PointFacet     &facet,
                  const double         *point,
                  const unsigned int    t,
                  double (&x)[dim])
      {
#pragma unroll
        for (int d = 0; d < dim; ++d)
          x[d] = __ldg(point + d);
        if (facet.shift != 0 && facet.side != t)
          for (int d = 0; d < dim; ++d)
            x[d] += args.shift[facet.shift * dim + d];
      }

      // ---- one degree

      /// Space of a degree that is known when the kernel is compiled.
      template <int dim_, int degree_, bool tensor_product_>
      struct PointSpace
      {
        static constexpr int  dim = dim_, degree = degree_;
        static constexpr bool tensor_product = tensor_product_;
        static constexpr int  n =
          static_cast<int>(Legendre::n_functions(dim, degree, tensor_product));

        /// End of the loop over the exponent of a variable, if @p used is the
        /// sum of those of the outer loops.
        TESSELLA_HOST_DEVICE static constexpr int
        end(const int used)
        {
          return tensor_product ? degree : degree - used;
        }

        TESSELLA_HOST_DEVICE static constexpr int
        grade(const int k0, const int k1, const int k2)
        {
          if (!tensor_product)
            return k0 + k1 + k2;
          const int k = k0 > k1 ? k0 : k1;
          return k > k2 ? k : k2;
        }

        /// Number of a function in the order of Legendre: how many come before
        /// it.
        TESSELLA_HOST_DEVICE static constexpr int
        index(const int k0, const int k1, const int k2)
        {
          const int g      = grade(k0, k1, k2);
          int       result = 0;
          for (int l2 = 0; l2 <= (dim == 3 ? g : 0); ++l2)
            for (int l1 = 0; l1 <= g; ++l1)
              for (int l0 = 0; l0 <= g; ++l0)
                {
                  const int  h      = grade(l0, l1, l2);
                  const bool larger = l0 != k0   ? l0 > k0
                                      : l1 != k1 ? l1 > k1
                                                 : l2 > k2;
                  if (h < g || (h == g && larger))
                    ++result;
                }
          return result;
        }

        /// Numbers of all functions, in the order of the loops over exponents
        /// with the first variable's inside.
        struct Order
        {
          unsigned short number[n];
        };
        TESSELLA_HOST_DEVICE static constexpr Order
        order()
        {
          Order result{};
          int   i = 0;
          for (int k2 = 0; k2 <= (dim == 3 ? degree : 0); ++k2)
            for (int k1 = 0; k1 <= end(k2); ++k1)
              for (int k0 = 0; k0 <= end(k1 + k2); ++k0)
                result.number[i++] =
                  static_cast<unsigned short>(index(k0, k1, k2));
          return result;
        }
      };

      /// Numbers of the functions of a space in the order of loops.
      template <typename Space>
      __constant__ constexpr
        typename Space::Order function_order = Space::order();

      /// Legendre polynomials of each variable and their derivatives with
      /// respect to coordinates, at one point.
      template <typename Space>
      struct PointPolynomials
      {
        static constexpr int dim = Space::dim, p = Space::degree;
        double               V[dim][p + 1], D[dim][p + 1];

        __device__ __forceinline__
        PointPolynomials(const double *frame, const double (&x)[dim])
        {
#pragma unroll
          for (int d = 0; d < dim; ++d)
            {
              const double scale = __ldg(frame + dim + d);
              Legendre::evaluate(static_cast<unsigned int>(p),
                                 (x[d] - __ldg(frame + d)) * scale,
                                 V[d],
                                 D[d]);
#pragma unroll
              for (int i = 0; i <= p; ++i)
                D[d][i] *= scale;
            }
        }

        /// Function with coefficients @p u without the factor of the basis, in
        /// the order of loops.
        template <typename Coefficient>
        __device__ __forceinline__ PointRows<dim>
                                   evaluate(const Coefficient &u) const
        {
          PointRows<dim> r = {};
          int            i = 0;
#pragma unroll
          for (int k2 = 0; k2 <= (dim == 3 ? p : 0); ++k2)
            {
              double plane[3] = {0., 0., 0.};
#pragma unroll
              for (int k1 = 0; k1 <= Space::end(k2); ++k1)
                {
                  double value = 0., derivative = 0.;
#pragma unroll
                  for (int k0 = 0; k0 <= Space::end(k1 + k2); ++k0)
                    {
                      const double c = u(i++);
                      value += c * V[0][k0];
                      derivative += c * D[0][k0];
                    }
                  plane[0] += value * V[1][k1];
                  plane[1] += derivative * V[1][k1];
                  plane[2] += value * D[1][k1];
                }
              if (dim == 3)
                {
                  r.value += plane[0] * V[dim - 1][k2];
                  r.gradient[0] += plane[1] * V[dim - 1][k2];
                  r.gradient[1] += plane[2] * V[dim - 1][k2];
                  r.gradient[dim - 1] += plane[0] * D[dim - 1][k2];
                }
              else
                {
                  r.value       = plane[0];
                  r.gradient[0] = plane[1];
                  r.gradient[1] = plane[2];
                }
            }
          return r;
        }

        /// Adds the products of @p r and all functions to @p sums, in the order
        /// of loops.
        __device__ __forceinline__ void
        integrate(const PointRows<dim> &r, double (&sums)[Space::n]) const
        {
          int i = 0;
#pragma unroll
          for (int k2 = 0; k2 <= (dim == 3 ? p : 0); ++k2)
            {
              double value = r.value, first = r.gradient[0],
                     second = r.gradient[1];
              if (dim == 3)
                {
                  value = r.value * V[dim - 1][k2] +
                          r.gradient[dim - 1] * D[dim - 1][k2];
                  first *= V[dim - 1][k2];
                  second *= V[dim - 1][k2];
                }
#pragma unroll
              for (int k1 = 0; k1 <= Space::end(k2); ++k1)
                {
                  const double a = value * V[1][k1] + second * D[1][k1],
                               b = first * V[1][k1];
#pragma unroll
                  for (int k0 = 0; k0 <= Space::end(k1 + k2); ++k0)
                    {
                      sums[i] += a * V[0][k0] + b * D[0][k0];
                      ++i;
                    }
                }
            }
        }
      };

      /// Sums over the lanes of a warp. In each step, half of the lanes keep
      /// the first half of the numbers and the others the second half. At the
      /// end a lane has numbers [first, first + size), each number once.
      template <int n, int mask>
      __device__ __forceinline__ void
      sum_over_lanes(double *sums, int &first, int &size)
      {
        constexpr int half  = (n + 1) / 2;
        const bool    upper = (threadIdx.x & mask) != 0;
#pragma unroll
        for (int i = 0; i < half; ++i)
          {
            const double high = i + half < n ? sums[i + half] : 0.,
                         sent = upper ? sums[i] : high,
                         kept = upper ? high : sums[i];
            sums[i]           = kept + __shfl_xor_sync(0xffffffffu, sent, mask);
          }
        first += upper ? half : 0;
        size = upper ? max(size - half, 0) : min(size, half);
        if constexpr (mask > 1)
          sum_over_lanes<half, mask / 2>(sums, first, size);
      }

      constexpr int point_warps = 4;

      /// Thread blocks of a multiprocessor, which limit the registers.
      template <typename Space>
      constexpr int point_blocks = Space::n <= 10   ? 4
                                   : Space::n <= 20 ? 3
                                                    : 2;

      /// Rows of polytopes of one degree, one for each warp.
      template <typename Space>
      __global__ void __launch_bounds__(32 * point_warps, point_blocks<Space>)
        point_product(const PointArguments      args,
                      const unsigned int       *polytopes,
                      const unsigned int        n_polytopes,
                      const Destination<double> dst)
      {
        constexpr int dim = Space::dim, n = Space::n, frame_size = 2 * dim + 1;
        __shared__ double  memory[point_warps][n];
        const unsigned int lane = threadIdx.x & 31u, warp = threadIdx.x / 32,
                           entry = blockIdx.x * point_warps + warp;
        if (entry >= n_polytopes)
          return;
        const unsigned int  k      = polytopes[entry];
        const double *const frame  = args.frames + std::size_t(k) * frame_size;
        const double        factor = frame[2 * dim];
        double *const       own    = memory[warp];
        {
          const double *const x = args.function(k);
          for (unsigned int i = lane; i < n; i += 32)
            own[i] = factor * x[function_order<Space>.number[i]];
        }
        __syncwarp();
        const auto u = [own](const int i) { return own[i]; };
        double     sums[n];
#pragma unroll
        for (int i = 0; i < n; ++i)
          sums[i] = 0.;
        if (args.volume_records != nullptr)
          {
            const std::uint64_t begin    = args.volume_begin[k];
            const unsigned int  n_points = args.volume_begin[k + 1] - begin;
#pragma unroll 1
            for (unsigned int q = lane; q < n_points; q += 32)
              {
                const double *const point =
                  args.volume_points + (dim + 1) * (begin + q);
                double x[dim];
#pragma unroll
                for (int d = 0; d < dim; ++d)
                  x[d] = __ldg(point + d);
                const PointPolynomials<Space> polynomials(frame, x);
                PointRows<dim>                r = volume_terms<dim>(
                  args, k, q, n_points, polynomials.evaluate(u));
                const double weight = __ldg(point + dim);
                r.value *= weight;
#pragma unroll
                for (int d = 0; d < dim; ++d)
                  r.gradient[d] *= weight;
                polynomials.integrate(r, sums);
              }
          }
        const std::uint64_t begin    = args.side_begin[k];
        const unsigned int  n_points = args.side_begin[k + 1] - begin;
#pragma unroll 1
        for (unsigned int j = lane; j < n_points; j += 32)
          {
            const PointFacet facet =
              args.facets[args.facet_of_point[begin + j]];
            const unsigned int  q = j - facet.begin;
            const double *const point =
              args.facet_points + (dim + 1) * (facet.first_point + q);
            const bool     boundary = facet.neighbor == ~0u;
            PointRows<dim> r        = {};
            double         x[dim];
            if (!boundary)
              {
                const double *const other_frame =
                  args.frames + std::size_t(facet.neighbor) * frame_size;
                const double *const v = args.function(facet.neighbor);
                facet_point<dim>(args, facet, point, 1, x);
                PointRows<dim> other =
                  PointPolynomials<Space>(other_frame, x)
                    .evaluate([v](const int i) {
                      return __ldg(v + function_order<Space>.number[i]);
                    });
                const double other_factor = __ldg(other_frame + 2 * dim);
                other.value *= other_factor;
#pragma unroll
                for (int d = 0; d < dim; ++d)
                  other.gradient[d] *= other_factor;
                add_facet_terms<dim, 1>(args, facet, false, q, other, r);
              }
            facet_point<dim>(args, facet, point, 0, x);
            const PointPolynomials<Space> polynomials(frame, x);
            add_facet_terms<dim, 0>(
              args, facet, boundary, q, polynomials.evaluate(u), r);
            const double weight = __ldg(point + dim);
            r.value *= weight;
#pragma unroll
            for (int d = 0; d < dim; ++d)
              r.gradient[d] *= weight;
            polynomials.integrate(r, sums);
          }
        __syncwarp();
        int first = 0, size = n;
        sum_over_lanes<n, 16>(sums, first, size);
        const std::uint64_t offset = args.dof_offset[k];
#pragma unroll
        for (int i = 0; i < (n + 31) / 32; ++i)
          if (i < size)
            dst.store(offset + function_order<Space>.number[first + i],
                      factor * sums[i]);
      }

      // ---- any degrees

      /// Sections of the shared memory of the kernel for any degrees, in
      /// doubles: polynomials of each lane, terms of each lane.
      TESSELLA_HOST_DEVICE constexpr unsigned int
      general_table_stride(const unsigned int dim,
                           const unsigned int max_degree)
      {
        return 2 * dim * (max_degree + 1) + 1;
      }
      TESSELLA_HOST_DEVICE constexpr unsigned int
      general_memory(const unsigned int dim, const unsigned int max_degree)
      {
        return 32 * (general_table_stride(dim, max_degree) + dim + 2);
      }

      /// Polynomials of the space of polytope @p k at a point, for functions of
      /// any degrees: those of variable d from entry d (p + 1) on, and their
      /// derivatives from dim (p + 1) on, where p is the degree of k.
      template <int dim>
      class GeneralPoint
      {
      public:
        __device__
        GeneralPoint(const PointArguments &args,
                     const unsigned int    k,
                     const double (&x)[dim],
                     double *table)
          : args(args)
          , k(k)
          , pitch(args.degree[k] + 1)
          , frame(args.frames + std::size_t(k) * (2 * dim + 1))
          , table(table)
        {
          for (int d = 0; d < dim; ++d)
            {
              const double  scale  = frame[dim + d];
              double *const values = table + d * pitch, *const derivatives =
                                                          values + dim * pitch;
              Legendre::evaluate(pitch - 1,
                                 (x[d] - frame[d]) * scale,
                                 values,
                                 derivatives);
              for (unsigned int i = 0; i < pitch; ++i)
                derivatives[i] *= scale;
            }
        }

        /// The function on the polytope.
        __device__ PointRows<dim>
                   evaluate() const
        {
          const double *const u = args.function(k);
          PointRows<dim>      r = {};
          for (unsigned int i = 0; i < args.n_basis[k]; ++i)
            {
              const PointRows<dim> phi = basis(args.exponents[i], pitch, table);
              r.value += u[i] * phi.value;
              for (int d = 0; d < dim; ++d)
                r.gradient[d] += u[i] * phi.gradient[d];
            }
          const double factor = frame[2 * dim];
          r.value *= factor;
          for (int d = 0; d < dim; ++d)
            r.gradient[d] *= factor;
          return r;
        }

        /// A basis function without its factor.
        __device__ static PointRows<dim>
        basis(const unsigned int exponents,
              const unsigned int pitch,
              const double      *table)
        {
          double V[dim], D[dim];
#pragma unroll
          for (int d = 0; d < dim; ++d)
            {
              const unsigned int e = (exponents >> (8 * d)) & 0xffu;
              V[d]                 = table[d * pitch + e];
              D[d]                 = table[(dim + d) * pitch + e];
            }
          PointRows<dim> r;
          r.value = 1.;
#pragma unroll
          for (int d = 0; d < dim; ++d)
            {
              r.value *= V[d];
              r.gradient[d] = D[d];
#pragma unroll
              for (int e = 0; e < dim; ++e)
                if (e != d)
                  r.gradient[d] *= V[e];
            }
          return r;
        }

      private:
        const PointArguments &args;
        const unsigned int    k, pitch;
        const double *const   frame;
        double *const         table;
      };

      /// Terms of a point, from the volume points of the polytope or from those
      /// on its facets; the table then has the polynomials of the polytope.
      template <int dim>
      __device__ PointRows<dim>
                 general_terms(const PointArguments &args,
                               const unsigned int    k,
                               const bool            volume,
                               const std::uint64_t   begin,
                               const unsigned int    j,
                               const unsigned int    n_points,
                               double               *table)
      {
        double         x[dim];
        const double  *point;
        PointRows<dim> r = {};
        if (volume)
          {
            point = args.volume_points + (dim + 1) * (begin + j);
            for (int d = 0; d < dim; ++d)
              x[d] = point[d];
            const GeneralPoint<dim> own(args, k, x, table);
            r = volume_terms<dim>(args, k, j, n_points, own.evaluate());
          }
        else
          {
            const PointFacet facet =
              args.facets[args.facet_of_point[begin + j]];
            const unsigned int q        = j - facet.begin;
            const bool         boundary = facet.neighbor == ~0u;
            point = args.facet_points + (dim + 1) * (facet.first_point + q);
            if (!boundary)
              {
                facet_point<dim>(args, facet, point, 1, x);
                const GeneralPoint<dim> other(args, facet.neighbor, x, table);
                add_facet_terms<dim, 1>(
                  args, facet, false, q, other.evaluate(), r);
              }
            facet_point<dim>(args, facet, point, 0, x);
            const GeneralPoint<dim> own(args, k, x, table);
            add_facet_terms<dim, 0>(
              args, facet, boundary, q, own.evaluate(), r);
          }
        r.value *= point[dim];
        for (int d = 0; d < dim; ++d)
          r.gradient[d] *= point[dim];
        return r;
      }

      /// Rows of polytopes of any degrees and spaces; a thread block is a warp
      /// and computes those of one polytope.
      template <int dim>
      __global__ void __launch_bounds__(32)
        general_point_product(const PointArguments      args,
                              const unsigned int       *polytopes,
                              const Destination<double> dst)
      {
        extern __shared__ double general_shared[];
        const unsigned int       lane = threadIdx.x, k = polytopes[blockIdx.x],
                           stride = general_table_stride(dim, args.max_degree),
                           pitch = args.degree[k] + 1, n = args.n_basis[k];
        double *const terms = general_shared + 32 * stride;
        double *const table = general_shared + lane * stride;
        const double  factor =
          args.frames[std::size_t(k) * (2 * dim + 1) + 2 * dim];
        // The rows of this lane's functions i, i + 32, ... are summed in
        // chunks of so many.
        constexpr unsigned int n_sums = 4;
        for (unsigned int first = 0; first < n; first += 32 * n_sums)
          {
            double sums[n_sums] = {};
            for (unsigned int region = args.volume_records == nullptr ? 1 : 0;
                 region < 2;
                 ++region)
              {
                const std::uint64_t *const offset =
                  region == 0 ? args.volume_begin : args.side_begin;
                const std::uint64_t begin = offset[k];
                const unsigned int  n_points =
                  static_cast<unsigned int>(offset[k + 1] - begin);
                for (unsigned int j = 0; j < n_points; j += 32)
                  {
                    if (j + lane < n_points)
                      {
                        const PointRows<dim> r  = general_terms<dim>(args,
                                                                    k,
                                                                    region == 0,
                                                                    begin,
                                                                    j + lane,
                                                                    n_points,
                                                                    table);
                        double *const        to = terms + lane * (dim + 2);
                        to[0]                   = r.value;
                        for (int d = 0; d < dim; ++d)
                          to[d + 1] = r.gradient[d];
                      }
                    __syncwarp();
                    const unsigned int n_present = min(32u, n_points - j);
#pragma unroll
                    for (unsigned int s = 0; s < n_sums; ++s)
                      {
                        const unsigned int i = first + 32 * s + lane;
                        if (i < n)
                          for (unsigned int q = 0; q < n_present; ++q)
                            {
                              const PointRows<dim> phi =
                                GeneralPoint<dim>::basis(args.exponents[i],
                                                         pitch,
                                                         general_shared +
                                                           q * stride);
                              const double *const r = terms + q * (dim + 2);
                              sums[s] += r[0] * phi.value;
#pragma unroll
                              for (int d = 0; d < dim; ++d)
                                sums[s] += r[d + 1] * phi.gradient[d];
                            }
                      }
                    __syncwarp();
                  }
              }
#pragma unroll
            for (unsigned int s = 0; s < n_sums; ++s)
              {
                const unsigned int i = first + 32 * s + lane;
                if (i < n)
                  dst.store(args.dof_offset[k] + i, factor * sums[s]);
              }
          }
      }
    } // namespace Device
  }   // namespace internal
} // namespace Tessella

#endif
