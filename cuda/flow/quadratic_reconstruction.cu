// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "../device/memory.h"
#include "quadratic_reconstruction.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        constexpr unsigned int n_threads = 128;
        /// As on the host.
        constexpr double epsilon_factor = 1e-12;

        /**
         * Lanes of a polytope: lane i n_quadratic + r has the quadratic
         * function r of component i, of up to five components at once. Lanes
         * that are left over repeat component 0 and write nothing.
         */
        template <int dim>
        struct Lanes
        {
          static constexpr unsigned int n_linear    = dim + 1,
                                        n_quadratic = dim * (dim + 1) / 2,
                                        n_all       = n_linear + n_quadratic,
                                        size        = dim == 2 ? 16 : 32,
                                        components  = size / n_quadratic;

          __device__ explicit Lanes(const unsigned int n_components)
            : n_components(n_components)
            , lane(threadIdx.x % size)
            , r(lane % n_quadratic)
            , mask(size == 32 ? 0xffffffffu
                              : 0xffffu << (threadIdx.x % 32 / size * size))
          {
            set_first(0);
          }

          /// Takes the components from @p first on.
          __device__ void
          set_first(const unsigned int first)
          {
            const unsigned int local = lane / n_quadratic;
            is_used   = local < components && first + local < n_components;
            component = is_used ? first + local : first;
            base      = is_used ? local * n_quadratic : 0;
          }

          /// The value that the lane of quadratic function @p s of this
          /// component has.
          __device__ double
          of_function(const double value, const unsigned int s) const
          {
            return __shfl_sync(mask, value, base + s, size);
          }

          /// Sum over the quadratic functions of this component.
          __device__ double
          sum(const double value) const
          {
            double result = 0.;
#pragma unroll
            for (unsigned int s = 0; s < n_quadratic; ++s)
              result += of_function(value, s);
            return result;
          }

          const unsigned int n_components, lane, r, mask;
          unsigned int       component, base;
          bool               is_used;
        };

        template <int dim>
        __device__ unsigned int
        present_polytope()
        {
          return (blockIdx.x * n_threads + threadIdx.x) / Lanes<dim>::size;
        }

        /// Product of n numbers, of even distance if n is even.
        template <unsigned int n>
        __device__ double
        product(const double *__restrict__ a, const double *__restrict__ b)
        {
          double sum = 0.;
          if constexpr (n % 2 == 0)
            {
#pragma unroll
              for (unsigned int i = 0; i < n; i += 2)
                {
                  const double2 x = __ldg(
                                  reinterpret_cast<const double2 *>(a + i)),
                                y = __ldg(
                                  reinterpret_cast<const double2 *>(b + i));
                  sum += x.x * y.x;
                  sum += x.y * y.y;
                }
            }
          else
#pragma unroll
            for (unsigned int i = 0; i < n; ++i)
              sum += __ldg(a + i) * __ldg(b + i);
          return sum;
        }

        /// First of @p size coefficients of polytope @p k.
        __device__ const double *
        coefficients(const ReconstructionArrays   &arrays,
                     const CoefficientsWithGhosts &u,
                     const unsigned int            k,
                     const unsigned int            size)
        {
          return k < arrays.n ? u.owned + std::size_t(k) * size
                              : u.ghosts + std::size_t(k - arrays.n) * size;
        }

        /// Quadratic part of polytope @p k for the function of this lane.
        template <int dim>
        __device__ double
        quadratic_part(const ReconstructionArrays   &arrays,
                       const CoefficientsWithGhosts &u,
                       const unsigned int            k,
                       const Lanes<dim>             &lanes)
        {
          constexpr unsigned int n     = Lanes<dim>::n_linear;
          const unsigned int     begin = arrays.entry_offset[k],
                             end       = arrays.entry_offset[k + 1];
          double sum                   = 0.;
#pragma unroll 5
          for (unsigned int e = begin; e < end; ++e)
            sum += product<n>(
              arrays.blocks +
                (std::size_t(e) * Lanes<dim>::n_quadratic + lanes.r) * n,
              coefficients(
                arrays, u, arrays.polytope[e], lanes.n_components * n) +
                lanes.component * n);
          return sum;
        }

        /// Writes the result on polytope @p k, whose quadratic coefficient of
        /// this lane is @p part.
        template <int dim>
        __device__ void
        write_result(const ReconstructionArrays &arrays,
                     const unsigned int          k,
                     const Lanes<dim>           &lanes,
                     const double *__restrict__ u,
                     const double part,
                     double *__restrict__ v)
        {
          using L = Lanes<dim>;
          // In 3-D there are fewer linear than quadratic functions.
          const unsigned int a = min(lanes.r, L::n_linear - 1);
          const double      *projection =
            arrays.projections +
            (std::size_t(k) * L::n_linear + a) * L::n_quadratic;
          const std::size_t first =
            std::size_t(k) * lanes.n_components + lanes.component;
          double sum = 0.;
#pragma unroll
          for (unsigned int s = 0; s < L::n_quadratic; ++s)
            sum += __ldg(projection + s) * lanes.of_function(part, s);
          if (!lanes.is_used)
            return;
          v[first * L::n_all + L::n_linear + lanes.r] = part;
          if (lanes.r < L::n_linear)
            v[first * L::n_all + lanes.r] =
              u[first * L::n_linear + lanes.r] - sum;
        }

        template <int dim>
        __global__ void
        __launch_bounds__(n_threads)
          reconstruction_kernel(const ReconstructionArrays   arrays,
                                const CoefficientsWithGhosts u,
                                double *__restrict__ v)
        {
          const unsigned int k = present_polytope<dim>();
          if (k >= arrays.n)
            return;
          Lanes<dim> lanes(arrays.n_components);
          for (unsigned int i = 0; i < arrays.n_components;
               i += lanes.components)
            {
              lanes.set_first(i);
              write_result(arrays,
                           k,
                           lanes,
                           u.owned,
                           quadratic_part(arrays, u, k, lanes),
                           v);
            }
        }

        template <int dim>
        __global__ void
        __launch_bounds__(n_threads)
          part_kernel(const ReconstructionArrays   arrays,
                      const CoefficientsWithGhosts u,
                      double *__restrict__ parts)
        {
          const unsigned int k = present_polytope<dim>();
          if (k >= arrays.n)
            return;
          Lanes<dim> lanes(arrays.n_components);
          for (unsigned int i = 0; i < arrays.n_components;
               i += lanes.components)
            {
              lanes.set_first(i);
              const double part = quadratic_part(arrays, u, k, lanes);
              if (lanes.is_used)
                parts[(std::size_t(k) * lanes.n_components + lanes.component) *
                        lanes.n_quadratic +
                      lanes.r] = part;
            }
        }

        /// The entries of a polytope as WENO sees them.
        template <int dim>
        struct Candidates
        {
          __device__
          Candidates(const ReconstructionArrays   &arrays,
                     const CoefficientsWithGhosts &parts,
                     const unsigned int            k,
                     const Lanes<dim>             &lanes)
            : arrays(arrays)
            , parts(parts)
            , lanes(lanes)
            , begin(arrays.entry_offset[k])
            , end(arrays.entry_offset[k + 1])
            , scale(arrays.scale[std::size_t(k) * lanes.n_quadratic + lanes.r])
          {}

          /// Quadratic part of entry @p e, continued to polytope k, for the
          /// function of this lane.
          __device__ double
          part(const unsigned int e) const
          {
            constexpr unsigned int n = Lanes<dim>::n_quadratic;
            return scale * __ldg(coefficients(arrays,
                                              parts,
                                              arrays.polytope[e],
                                              lanes.n_components * n) +
                                 lanes.component * n + lanes.r);
          }

          template <typename T>
          __device__ T *
          weight(T *weights, const unsigned int e) const
          {
            return weights + std::size_t(e) * lanes.n_components +
                   lanes.component;
          }

          /// Sum of the squares of all coefficients of entry @p e.
          __device__ double
          square(const unsigned int e) const
          {
            const double value = part(e);
            return lanes.sum(value * value);
          }

          const ReconstructionArrays   &arrays;
          const CoefficientsWithGhosts &parts;
          const Lanes<dim>             &lanes;
          const unsigned int            begin, end;
          const double                  scale;
        };

        /// Sets the weights of polytope @p k. Each lane computes those of every
        /// n_quadratic-th entry.
        template <int dim>
        __device__ void
        compute_weights(const Candidates<dim> &candidates,
                        const unsigned int     k,
                        const double *__restrict__ u,
                        double *weights)
        {
          constexpr unsigned int      n = Lanes<dim>::n_quadratic, N = dim + 1;
          const Lanes<dim>           &lanes  = candidates.lanes;
          const ReconstructionArrays &arrays = candidates.arrays;
          const double                unit   = arrays.unit[k];
          const double               *row =
            u + (std::size_t(k) * lanes.n_components + lanes.component) * N;
          const double epsilon =
            epsilon_factor * product<N>(row, row) / (unit * unit) + 1e-60;
          double sum = 0.;
          for (unsigned int first = candidates.begin; first < candidates.end;
               first += n)
            {
              const unsigned int mine   = first + lanes.r;
              double             square = 0., weight = 0.;
              for (unsigned int b = 0; b < n; ++b)
                if (first + b < candidates.end &&
                    arrays.is_candidate[first + b] != 0)
                  {
                    const double value = candidates.square(first + b);
                    if (b == lanes.r)
                      square = value;
                  }
              if (mine < candidates.end && arrays.is_candidate[mine] != 0)
                weight = (mine == candidates.begin ? arrays.own_weight : 1.) /
                         pow(epsilon + square, arrays.exponent);
              if (mine < candidates.end && lanes.is_used)
                *candidates.weight(weights, mine) = weight;
              for (unsigned int b = 0; b < n; ++b)
                sum += lanes.of_function(weight, b);
            }
          if (lanes.is_used)
            for (unsigned int e = candidates.begin + lanes.r;
                 e < candidates.end;
                 e += n)
              *candidates.weight(weights, e) /= sum;
          // The other lanes read them.
          __syncwarp(lanes.mask);
        }

        template <int dim, bool set_weights>
        __global__ void
        __launch_bounds__(n_threads)
          average_kernel(const ReconstructionArrays arrays,
                         const double *__restrict__ u,
                         const CoefficientsWithGhosts parts,
                         double                      *weights,
                         double *__restrict__ v)
        {
          const unsigned int k = present_polytope<dim>();
          if (k >= arrays.n)
            return;
          Lanes<dim> lanes(arrays.n_components);
          for (unsigned int i = 0; i < arrays.n_components;
               i += lanes.components)
            {
              lanes.set_first(i);
              const Candidates<dim> candidates(arrays, parts, k, lanes);
              double                sum = 0.;
              if (arrays.is_candidate[candidates.begin] != 0)
                {
                  if (set_weights)
                    compute_weights(candidates, k, u, weights);
                  for (unsigned int e = candidates.begin; e < candidates.end;
                       ++e)
                    if (arrays.is_candidate[e] != 0)
                      sum +=
                        *candidates.weight(weights, e) * candidates.part(e);
                }
              write_result(arrays, k, lanes, u, arrays.unit[k] * sum, v);
            }
        }

        /// Change of the weighted mean of polytope @p k, as on the host.
        template <int dim>
        __device__ double
        weighted_change(const Candidates<dim> &state,
                        const Candidates<dim> &changes,
                        const unsigned int     k,
                        const double *__restrict__ u,
                        const double *__restrict__ du,
                        const double *__restrict__ weights)
        {
          constexpr unsigned int      N      = dim + 1;
          const Lanes<dim>           &lanes  = state.lanes;
          const ReconstructionArrays &arrays = state.arrays;
          const double                unit   = arrays.unit[k],
                       factor                = epsilon_factor / (unit * unit);
          const std::size_t first =
            (std::size_t(k) * lanes.n_components + lanes.component) * N;
          const double epsilon =
                         factor * product<N>(u + first, u + first) + 1e-60,
                       epsilon_change =
                         2. * factor * product<N>(u + first, du + first);
          double result = 0., mean = 0., slope = 0., sum = 0.;
          for (unsigned int e = state.begin; e < state.end; ++e)
            if (arrays.is_candidate[e] != 0)
              {
                const double part = state.part(e), change = changes.part(e),
                             weight = *state.weight(weights, e);
                const double change_of_weight =
                  -arrays.exponent * weight *
                  (epsilon_change + 2. * lanes.sum(part * change)) /
                  (epsilon + lanes.sum(part * part));
                result += weight * change;
                mean += weight * part;
                slope += change_of_weight * part;
                sum += change_of_weight;
              }
          return result + (slope - sum * mean);
        }

        template <int dim>
        __global__ void
        __launch_bounds__(n_threads)
          change_kernel(const ReconstructionArrays arrays,
                        const double *__restrict__ u,
                        const CoefficientsWithGhosts parts,
                        const double *__restrict__ weights,
                        const double *__restrict__ du,
                        const CoefficientsWithGhosts changes,
                        double *__restrict__ dv)
        {
          const unsigned int k = present_polytope<dim>();
          if (k >= arrays.n)
            return;
          Lanes<dim> lanes(arrays.n_components);
          for (unsigned int i = 0; i < arrays.n_components;
               i += lanes.components)
            {
              lanes.set_first(i);
              const Candidates<dim> state(arrays, parts, k, lanes),
                change(arrays, changes, k, lanes);
              const double sum =
                arrays.is_candidate[state.begin] == 0
                  ? 0.
                  : weighted_change(state, change, k, u, du, weights);
              write_result(arrays, k, lanes, du, arrays.unit[k] * sum, dv);
            }
        }

        template <int dim>
        __global__ void
        __launch_bounds__(n_threads)
          restriction_kernel(const std::size_t n,
                             const double *__restrict__ s,
                             double *__restrict__ r)
        {
          using L = Lanes<dim>;
          const std::size_t e =
            std::size_t(blockIdx.x) * n_threads + threadIdx.x;
          if (e < n * L::n_linear)
            r[e] = s[e / L::n_linear * L::n_all + e % L::n_linear];
        }

        unsigned int
        n_blocks(const std::size_t n_all_threads)
        {
          return static_cast<unsigned int>((n_all_threads + n_threads - 1) /
                                           n_threads);
        }

        template <int dim>
        unsigned int
        n_blocks(const ReconstructionArrays &arrays)
        {
          return n_blocks(std::size_t(arrays.n) * Lanes<dim>::size);
        }

        void
        check_launch()
        {
          check(cudaGetLastError(), "a reconstruction");
        }
      } // namespace



      template <int dim>
      void
      reconstruct_quadratic(const ReconstructionArrays   &arrays,
                            const CoefficientsWithGhosts &u,
                            double                       *v)
      {
        if (arrays.n == 0)
          return;
        reconstruction_kernel<dim>
          <<<n_blocks<dim>(arrays), n_threads, 0, current_stream()>>>(arrays,
                                                                      u,
                                                                      v);
        check_launch();
      }



      template <int dim>
      void
      quadratic_parts(const ReconstructionArrays   &arrays,
                      const CoefficientsWithGhosts &u,
                      double                       *parts)
      {
        if (arrays.n == 0)
          return;
        part_kernel<dim>
          <<<n_blocks<dim>(arrays), n_threads, 0, current_stream()>>>(arrays,
                                                                      u,
                                                                      parts);
        check_launch();
      }



      template <int dim>
      void
      average_quadratic_parts(const ReconstructionArrays   &arrays,
                              const bool                    set_weights,
                              const double                 *u,
                              const CoefficientsWithGhosts &parts,
                              double                       *weights,
                              double                       *v)
      {
        if (arrays.n == 0)
          return;
        const auto kernel =
          set_weights ? average_kernel<dim, true> : average_kernel<dim, false>;
        kernel<<<n_blocks<dim>(arrays), n_threads, 0, current_stream()>>>(
          arrays, u, parts, weights, v);
        check_launch();
      }



      template <int dim>
      void
      average_quadratic_changes(const ReconstructionArrays   &arrays,
                                const double                 *u,
                                const CoefficientsWithGhosts &parts,
                                const double                 *weights,
                                const double                 *du,
                                const CoefficientsWithGhosts &changes,
                                double                       *dv)
      {
        if (arrays.n == 0)
          return;
        change_kernel<dim>
          <<<n_blocks<dim>(arrays), n_threads, 0, current_stream()>>>(
            arrays, u, parts, weights, du, changes, dv);
        check_launch();
      }



      template <int dim>
      void
      restrict_to_linear(const std::size_t n, const double *s, double *r)
      {
        if (n == 0)
          return;
        restriction_kernel<dim><<<n_blocks(n * Lanes<dim>::n_linear),
                                  n_threads,
                                  0,
                                  current_stream()>>>(n, s, r);
        check_launch();
      }



#define INSTANTIATE(dim)                                                       \
  template void reconstruct_quadratic<dim>(const ReconstructionArrays &,       \
                                           const CoefficientsWithGhosts &,     \
                                           double *);                          \
  template void quadratic_parts<dim>(const ReconstructionArrays &,             \
                                     const CoefficientsWithGhosts &,           \
                                     double *);                                \
  template void average_quadratic_parts<dim>(const ReconstructionArrays &,     \
                                             const bool,                       \
                                             const double *,                   \
                                             const CoefficientsWithGhosts &,   \
                                             double *,                         \
                                             double *);                        \
  template void average_quadratic_changes<dim>(const ReconstructionArrays &,   \
                                               const double *,                 \
                                               const CoefficientsWithGhosts &, \
                                               const double *,                 \
                                               const double *,                 \
                                               const CoefficientsWithGhosts &, \
                                               double *);                      \
  template void restrict_to_linear<dim>(const std::size_t,                     \
                                        const double *,                        \
                                        double *);
      INSTANTIATE(2)
      INSTANTIATE(3)
#undef INSTANTIATE
    } // namespace Device
  }   // namespace internal
} // namespace Tessella
