// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <algorithm>
#include <memory>
#include <string>
#include <type_traits>

#include "../device/memory_pool.h"
#include "../device/start_kernel.h"
#include "vector.h"

namespace Tessella
{
  namespace internal
  {
    namespace Device
    {
      namespace
      {
        constexpr unsigned int n_threads = 256;
        /// Number of thread blocks that the largest devices hold at once.
        constexpr unsigned int max_blocks = 1024;

        unsigned int
        n_blocks(const std::size_t n)
        {
          return static_cast<unsigned int>(
            std::min<std::size_t>(max_blocks, (n + 4095) / 4096 * 4));
        }

        // Applies @p function to the indices 0..n-1.
        template <typename Function>
        __global__ void
        for_each_kernel(const std::size_t n, const Function function)
        {
          wait_for_previous();
          const std::size_t stride = std::size_t(gridDim.x) * n_threads;
#pragma unroll 4
          for (std::size_t i =
                 std::size_t(blockIdx.x) * n_threads + threadIdx.x;
               i < n;
               i += stride)
            function(i);
        }

        template <typename Function>
        void
        for_each(const std::size_t n, const Function &function)
        {
          if (n == 0)
            return;
          start_waiting_kernel("a vector operation",
                               for_each_kernel<Function>,
                               n_blocks(n),
                               n_threads,
                               n,
                               function);
        }

        // ---- functions for for_each()
        template <typename To, typename From>
        struct Copy
        {
          To         *to;
          const From *from;
          __device__ void
          operator()(const std::size_t i) const
          {
            to[i] = static_cast<To>(from[i]);
          }
        };

        template <typename Number>
        struct Set
        {
          Number *y, a;
          __device__ void
          operator()(const std::size_t i) const
          {
            y[i] = a;
          }
        };

        /// Fused operations are written as such, so that the bits do not depend
        /// on the kernel of which this becomes a part.
        template <typename Number, bool has_y, bool has_w>
        struct Combine
        {
          Number       *y, s, a;
          const Number *x;
          Number        b;
          const Number *w;
          __device__ void
          operator()(const std::size_t i) const
          {
            Number r = a * x[i];
            if (has_y)
              r = fma(s, y[i], r);
            if (has_w)
              r = fma(b, w[i], r);
            y[i] = r;
          }
        };

        template <typename Number>
        struct ScaleOnly
        {
          Number *y, s;
          __device__ void
          operator()(const std::size_t i) const
          {
            y[i] *= s;
          }
        };

        /// Combine or ScaleOnly with factors in device memory.
        template <typename Number>
        struct CombineBy
        {
          Combine<Number, true, false> combine;
          const double                *s, *a;
          __device__ void
          operator()(const std::size_t i) const
          {
            Combine<Number, true, false> present = combine;
            if (s != nullptr)
              present.s = static_cast<Number>(*s);
            if (a != nullptr)
              present.a = static_cast<Number>(*a);
            present(i);
          }
        };

        template <typename Number>
        struct ScaleBy
        {
          Number       *y;
          const double *s;
          __device__ void
          operator()(const std::size_t i) const
          {
            y[i] *= static_cast<Number>(*s);
          }
        };

        template <typename Number>
        struct Shift
        {
          Number *y, a;
          __device__ void
          operator()(const std::size_t i) const
          {
            y[i] += a;
          }
        };

        template <typename Number>
        struct Multiply
        {
          Number       *y;
          const Number *x;
          __device__ void
          operator()(const std::size_t i) const
          {
            y[i] *= x[i];
          }
        };

        // ---- maxima, reduced in a tree
        template <typename Number>
        struct AbsoluteMaximum
        {
          const Number *x;
          __device__ double
          operator()(const std::size_t i) const
          {
            return fabs(double(x[i]));
          }
        };
        template <typename Number>
        struct Different
        {
          const Number *x, *y;
          __device__ double
          operator()(const std::size_t i) const
          {
            return x[i] == (y != nullptr ? y[i] : Number(0)) ? 0. : 1.;
          }
        };

        // Maximum over all threads of a thread block; valid in thread 0.
        __device__ double
        maximum_of_block(double value)
        {
          __shared__ double warps[n_threads / 32];
#pragma unroll
          for (unsigned int offset = 16; offset > 0; offset /= 2)
            value = fmax(value, __shfl_down_sync(~0u, value, offset));
          __syncthreads();
          if (threadIdx.x % 32 == 0)
            warps[threadIdx.x / 32] = value;
          __syncthreads();
          if (threadIdx.x == 0)
            for (unsigned int w = 1; w < n_threads / 32; ++w)
              value = fmax(value, warps[w]);
          return value;
        }

        // Stores the result of a thread block in @p partial. Returns true in
        // the last thread block to do so, which can then read the results of
        // all thread blocks.
        template <typename Result>
        __device__ bool
        is_last_block(const Result &value,
                      Result       *partial,
                      unsigned int *ticket)
        {
          __shared__ bool last;
          if (threadIdx.x == 0)
            {
              partial[blockIdx.x] = value;
              __threadfence();
              // The ticket wraps to zero for the next reduction.
              last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
            }
          __syncthreads();
          if (last)
            __threadfence();
          return last;
        }

        template <typename Function>
        __global__ void
        __launch_bounds__(n_threads) maximum_kernel(const std::size_t n,
                                                    const Function    function,
                                                    double           *partial,
                                                    unsigned int     *ticket,
                                                    double           *result)
        {
          const std::size_t stride = std::size_t(gridDim.x) * n_threads;
          double            value  = 0.;
#pragma unroll 4
          for (std::size_t i =
                 std::size_t(blockIdx.x) * n_threads + threadIdx.x;
               i < n;
               i += stride)
            value = fmax(value, function(i));
          if (!is_last_block(maximum_of_block(value), partial, ticket))
            return;
          value = 0.;
          for (unsigned int b = threadIdx.x; b < gridDim.x; b += n_threads)
            value = fmax(value, __ldcg(partial + b));
          value = maximum_of_block(value);
          if (threadIdx.x == 0)
            *result = value;
        }

        // ---- sums: load() reads the entries of an index, value() computes the
        // summand from them; n_at_once indices are loaded before their values
        // are computed
        template <typename Number>
        struct Dot
        {
          const Number *x, *y;
          struct Entries
          {
            Number x, y;
          };
          static constexpr int n_at_once = 4;
          __device__ Entries
          load(const std::size_t i) const
          {
            return {x[i], y[i]};
          }
          __device__ double
          value(const std::size_t, const Entries &e) const
          {
            return __dmul_rn(double(e.x), double(e.y));
          }
        };
        template <typename Number>
        struct AddAndDot
        {
          Number       *y, a;
          const Number *x, *w;
          struct Entries
          {
            Number y, x, w;
          };
          static constexpr int n_at_once = 4;
          __device__ Entries
          load(const std::size_t i) const
          {
            return {y[i], x[i], w == y ? Number(0) : w[i]};
          }
          __device__ double
          value(const std::size_t i, const Entries &e) const
          {
            const Number r = e.y + a * e.x;
            y[i]           = r;
            return __dmul_rn(double(r), double(w == y ? r : e.w));
          }
        };
        __device__ double
        rounded_sum(const double a, const double b)
        {
          return __dadd_rn(a, b);
        }
        __device__ float
        rounded_sum(const float a, const float b)
        {
          return __fadd_rn(a, b);
        }

        /// Two additions with one factor, and the sum of the squares of the
        /// second result.
        template <typename Number>
        struct StepAndSquare
        {
          const double *a;
          const Number *p, *q;
          Number       *x, *r;
          struct Entries
          {
            Number a, p, q, x, r;
          };
          static constexpr int n_at_once = 2;
          __device__ Entries
          load(const std::size_t i) const
          {
            return {static_cast<Number>(__ldg(a)), p[i], q[i], x[i], r[i]};
          }
          __device__ double
          value(const std::size_t i, const Entries &e) const
          {
            // Combine rounds the product before the sum, AddAndDot does not.
            x[i]              = rounded_sum(e.x, e.a * e.p);
            const Number next = fma(-e.a, e.q, e.r);
            r[i]              = next;
            return __dmul_rn(double(next), double(next));
          }
        };
        template <typename Number, bool absolute>
        struct Sum
        {
          const Number *x;
          using Entries                  = Number;
          static constexpr int n_at_once = 8;
          __device__ Number
          load(const std::size_t i) const
          {
            return x[i];
          }
          __device__ double
          value(const std::size_t, const Number e) const
          {
            return absolute ? fabs(double(e)) : double(e);
          }
        };

        // Sum over n lanes; valid in the first lane.
        template <unsigned int n>
        __device__ DigitSums
        sum_of_lanes(DigitSums sums)
        {
          int level = sums.level;
#pragma unroll
          for (unsigned int offset = n / 2; offset > 0; offset /= 2)
            level = max(level, __shfl_xor_sync(~0u, level, offset));
          sums.raise(level);
#pragma unroll
          for (unsigned int offset = n / 2; offset > 0; offset /= 2)
            {
#pragma unroll
              for (int k = 0; k < n_sum_digits; ++k)
                sums.digit[k] += __shfl_down_sync(~0u, sums.digit[k], offset);
              sums.special += __shfl_down_sync(~0u, sums.special, offset);
            }
          return sums;
        }

        // Sum over all threads of a thread block; valid in thread 0.
        __device__ DigitSums
        sum_of_block(DigitSums sums)
        {
          constexpr unsigned int n_warps = n_threads / 32;
          // A type with default member initialisers cannot be declared as
          // shared.
          __shared__          __align__(
            16) unsigned char memory[n_warps * sizeof(DigitSums)];
          DigitSums *const    warps = reinterpret_cast<DigitSums *>(memory);
          const unsigned int  warp = threadIdx.x / 32, lane = threadIdx.x % 32;
          sums = sum_of_lanes<32>(sums);
          __syncthreads();
          if (lane == 0)
            warps[warp] = sums;
          __syncthreads();
          return warp == 0 ? sum_of_lanes<n_warps>(warps[lane % n_warps])
                           : sums;
        }

        /// Largest number of thread blocks of a reduction: more of them would
        /// not run at once, and the last one would have more partial sums to
        /// add.
        constexpr unsigned int max_sum_blocks = 512;

        /// Last steps of a sum, by one thread.
        struct StoreSum
        {
          DigitSums *result;
          __device__ void
          operator()(const DigitSums &sums) const
          {
            *result = sums;
          }
        };
        struct StoreFactor
        {
          SumOnDevice to;
          __device__ void
          operator()(const DigitSums &sums) const
          {
            ReproducibleSum sum;
            sum.add(sums);
            const double value  = sum.value();
            double       factor = 0.;
            *to.value           = value;
            if (to.kind == SumFactor::quotient)
              factor = value / *to.earlier;
            else if (to.kind == SumFactor::negative_reciprocal)
              factor = -(*to.earlier / value);
            else if (to.kind == SumFactor::inverse_root)
              factor = 1. / sqrt(value);
            else if (to.kind == SumFactor::step_length && value > 0.)
              {
                factor = *to.earlier / value;
                if (!isfinite(factor))
                  factor = 0.;
              }
            if (to.kind != SumFactor::none)
              *to.factor = factor;
            if (to.on_host != nullptr)
              {
                to.on_host[0] = value;
                to.on_host[1] = factor;
              }
          }
        };

        template <typename Function, typename Finish>
        __global__ void
        __launch_bounds__(n_threads, 4) sum_kernel(const std::size_t begin,
                                                   const std::size_t end,
                                                   const Function    function,
                                                   DigitSums        *partial,
                                                   unsigned int     *ticket,
                                                   const Finish      finish)
        {
          constexpr int     U      = Function::n_at_once;
          const std::size_t stride = std::size_t(gridDim.x) * n_threads;
          // Sums of digits times their powers of two, exact for up to 2^22
          // values.
          double     digits[n_sum_digits] = {}, rounding[n_sum_digits];
          double     special              = 0.;
          int        level                = lowest_level;
          const auto set_rounding         = [&] {
#pragma unroll
            for (int k = 0; k < n_sum_digits; ++k)
              rounding[k] = __longlong_as_double(rounding_bits(level - k));
          };
          set_rounding();
          wait_for_previous();
          for (std::size_t i =
                 begin + std::size_t(blockIdx.x) * n_threads + threadIdx.x;
               i < end;
               i += U * stride)
            {
              typename Function::Entries entries[U];
              double                     value[U];
#pragma unroll
              for (int u = 0; u < U; ++u)
                if (i + u * stride < end)
                  entries[u] = function.load(i + u * stride);
              int exponent = 0;
#pragma unroll
              for (int u = 0; u < U; ++u)
                {
                  value[u] = 0.;
                  if (i + u * stride < end)
                    value[u] = function.value(i + u * stride, entries[u]);
                  exponent =
                    max(exponent, __double2hiint(value[u]) & 0x7fffffff);
                }
              exponent >>= 20;
              if (exponent >= first_exponent_above(level))
                {
                  if (level_of_exponent(exponent) > highest_level)
                    {
                      exponent = 0;
#pragma unroll
                      for (int u = 0; u < U; ++u)
                        {
                          const int e =
                            (__double2hiint(value[u]) & 0x7fffffff) >> 20;
                          if (level_of_exponent(e) > highest_level)
                            {
                              special += copysign(isnan(value[u])
                                                    ? value[u]
                                                    : __longlong_as_double(
                                                        0x7ff0000000000000ll),
                                                  value[u]);
                              value[u] = 0.;
                            }
                          else
                            exponent = max(exponent, e);
                        }
                    }
                  for (; level < level_of_exponent(exponent); ++level)
                    {
#pragma unroll
                      for (int k = n_sum_digits - 1; k > 0; --k)
                        digits[k] = digits[k - 1];
                      digits[0] = 0.;
                    }
                  set_rounding();
                }
#pragma unroll
              for (int u = 0; u < U; ++u)
#pragma unroll
                for (int k = 0; k < n_sum_digits; ++k)
                  {
                    const double digit = (value[u] + rounding[k]) - rounding[k];
                    digits[k] += digit;
                    value[u] -= digit;
                  }
            }
          DigitSums sums;
          sums.set(digits, level);
          sums.special = special;
          if (!is_last_block(sum_of_block(sums), partial, ticket))
            return;
          sums = DigitSums();
          for (unsigned int b = threadIdx.x; b < gridDim.x; b += n_threads)
            sums.add(partial[b]);
          sums = sum_of_block(sums);
          if (threadIdx.x == 0)
            finish(sums);
        }

        static_assert(n_sum_bytes == 256 + max_sum_blocks * sizeof(DigitSums),
                      "Work memory of sums.");

        // Intermediate and final results of the reductions of a host thread.
        struct Workspace
        {
          Workspace()
          {
            maxima.resize(max_blocks);
            sums.resize(max_sum_blocks);
            ticket = Array<unsigned int>(std::vector<unsigned int>(1, 0));
            maximum.resize(1);
            sum.resize(1);
          }

          Array<double>       maxima;
          Array<DigitSums>    sums;
          Array<unsigned int> ticket;
          // Results in pinned memory, to which the device writes directly.
          Array<double, true>    maximum;
          Array<DigitSums, true> sum;
        };

        // ---- several products with one vector

        /// Number of vectors of one kernel, and of those that a thread block
        /// takes at once.
        constexpr unsigned int max_vectors = 32, n_together = 4;
        /// Largest number of entries of one start of dots_kernel().
        constexpr std::size_t max_dots_entries = std::size_t(1) << 30;

        template <typename Number>
        struct VectorList
        {
          const Number *x[max_vectors];
          double        factor[max_vectors];
          unsigned int  n;
        };

        /// Sums of digits of a thread for each of n_together vectors, as in
        /// sum_kernel(). Digits of all values are computed side by side, for
        /// each of them waits for the one before.
        struct ThreadSums
        {
          double digits[n_together][n_sum_digits] = {};
          double special[n_together]              = {};
          int    level[n_together];

          __device__
          ThreadSums()
          {
#pragma unroll
            for (unsigned int m = 0; m < n_together; ++m)
              level[m] = lowest_level;
          }

          static __device__ int
          exponent(const double value)
          {
            return (__double2hiint(value) & 0x7fffffff) >> 20;
          }

          /// Raises the level of vector @p m to that of @p value. Values that
          /// count as infinite become zero.
          __device__ void
          raise(const unsigned int m, double &value)
          {
            const int to = level_of_exponent(exponent(value));
            if (to > highest_level)
              {
                special[m] +=
                  copysign(isnan(value)
                             ? value
                             : __longlong_as_double(0x7ff0000000000000ll),
                           value);
                value = 0.;
                return;
              }
            for (; level[m] < to; ++level[m])
              {
#pragma unroll
                for (int k = n_sum_digits - 1; k > 0; --k)
                  digits[m][k] = digits[m][k - 1];
                digits[m][0] = 0.;
              }
          }

          template <int n_values>
          __device__ void
          add(double (&value)[n_together][n_values])
          {
            bool higher = false;
#pragma unroll
            for (unsigned int m = 0; m < n_together; ++m)
#pragma unroll
              for (int u = 0; u < n_values; ++u)
                higher = higher || exponent(value[m][u]) >=
                                     first_exponent_above(level[m]);
            if (higher)
              {
#pragma unroll
                for (unsigned int m = 0; m < n_together; ++m)
#pragma unroll
                  for (int u = 0; u < n_values; ++u)
                    raise(m, value[m][u]);
              }
#pragma unroll
            for (int k = 0; k < n_sum_digits; ++k)
#pragma unroll
              for (unsigned int m = 0; m < n_together; ++m)
                {
                  const double rounding =
                    __longlong_as_double(rounding_bits(level[m] - k));
#pragma unroll
                  for (int u = 0; u < n_values; ++u)
                    {
                      const double digit = (value[m][u] + rounding) - rounding;
                      digits[m][k] += digit;
                      value[m][u] -= digit;
                    }
                }
          }
        };

        /// Thread blocks whose index has the same remainder modulo the number
        /// of groups of n_together vectors take one group; those of all groups
        /// read the same entries of y at about the same time. @p partial has
        /// the sums of max_sum_blocks thread blocks for each vector.
        template <typename Number>
        __global__ void
        __launch_bounds__(n_threads, 2)
          dots_kernel(const std::size_t        begin,
                      const std::size_t        end,
                      const VectorList<Number> list,
                      const Number *__restrict__ y,
                      DigitSums    *partial,
                      unsigned int *tickets,
                      DigitSums    *result)
        {
          constexpr int      n_at_once = 2;
          const unsigned int n_groups  = (list.n + n_together - 1) / n_together;
          const unsigned int group     = blockIdx.x % n_groups,
                             piece     = blockIdx.x / n_groups,
                             n_pieces  = gridDim.x / n_groups;
          const Number *x[n_together];
#pragma unroll
          for (unsigned int m = 0; m < n_together; ++m)
            x[m] = list.x[min(group * n_together + m, list.n - 1)];
          ThreadSums        sums;
          const std::size_t stride = std::size_t(n_pieces) * n_threads;
          for (std::size_t i =
                 begin + std::size_t(piece) * n_threads + threadIdx.x;
               i < end;
               i += n_at_once * stride)
            {
              Number factor[n_at_once], entries[n_together][n_at_once];
#pragma unroll
              for (int u = 0; u < n_at_once; ++u)
                {
                  const bool        inside = i + u * stride < end;
                  const std::size_t index  = inside ? i + u * stride : i;
                  factor[u]                = inside ? y[index] : Number(0);
#pragma unroll
                  for (unsigned int m = 0; m < n_together; ++m)
                    entries[m][u] = inside ? x[m][index] : Number(0);
                }
              double value[n_together][n_at_once];
#pragma unroll
              for (unsigned int m = 0; m < n_together; ++m)
#pragma unroll
                for (int u = 0; u < n_at_once; ++u)
                  value[m][u] =
                    __dmul_rn(double(entries[m][u]), double(factor[u]));
              sums.add(value);
            }
          __shared__ bool last;
#pragma unroll
          for (unsigned int m = 0; m < n_together; ++m)
            {
              DigitSums sum;
              sum.set(sums.digits[m], sums.level[m]);
              sum.special = sums.special[m];
              sum         = sum_of_block(sum);
              if (threadIdx.x == 0)
                partial[std::size_t(group * n_together + m) * max_sum_blocks +
                        piece] = sum;
            }
          if (threadIdx.x == 0)
            {
              __threadfence();
              // The ticket wraps to zero for the next reduction.
              last = atomicInc(tickets + group, n_pieces - 1) == n_pieces - 1;
            }
          __syncthreads();
          if (!last)
            return;
          __threadfence();
          for (unsigned int m = 0; m < n_together; ++m)
            {
              const std::size_t v = group * n_together + m;
              // The last group may have fewer vectors; the result has no room
              // for others.
              if (v >= list.n)
                break;
              DigitSums sum;
              for (unsigned int b = threadIdx.x; b < n_pieces; b += n_threads)
                sum.add(partial[v * max_sum_blocks + b]);
              sum = sum_of_block(sum);
              if (threadIdx.x == 0)
                result[v] = sum;
            }
        }

        /// y += sum of factor_m x_m.
        template <typename Number>
        struct AddAll
        {
          VectorList<Number> list;
          Number            *y;
          __device__ void
          operator()(const std::size_t i) const
          {
            double sum = y[i];
#pragma unroll 4
            for (unsigned int m = 0; m < list.n; ++m)
              sum = fma(list.factor[m], double(list.x[m][i]), sum);
            y[i] = static_cast<Number>(sum);
          }
        };

        /// The same with factors of -1 in device memory.
        template <typename Number>
        struct SubtractAll
        {
          VectorList<Number> list;
          const double      *factor;
          Number            *y;
          __device__ void
          operator()(const std::size_t i) const
          {
            double sum = y[i];
#pragma unroll 4
            for (unsigned int m = 0; m < list.n; ++m)
              sum = fma(-factor[m], double(list.x[m][i]), sum);
            y[i] = static_cast<Number>(sum);
          }
        };

        /// Values of @p n sums, in device memory and in pinned host memory. All
        /// operations are exact or on integers: values are those of the host.
        __global__ void
        value_kernel(const unsigned int n,
                     const DigitSums   *sums,
                     double            *values,
                     double            *on_host)
        {
          const unsigned int m = threadIdx.x;
          if (m >= n)
            return;
          ReproducibleSum sum;
          sum.add(sums[m]);
          values[m] = on_host[m] = sum.value();
        }

        /// Intermediate and final results of project_out().
        struct ProjectionWorkspace
        {
          Array<DigitSums>    sums;
          Array<double>       values;
          Array<double, true> on_host;
        };

        ProjectionWorkspace &
        projection_workspace()
        {
          static thread_local std::unique_ptr<ProjectionWorkspace> result;
          if (result == nullptr)
            result = std::make_unique<ProjectionWorkspace>();
          return *result;
        }

        /// Intermediate and final results of dots_kernel().
        struct DotsWorkspace
        {
          DotsWorkspace()
          {
            partial.resize(max_vectors * max_sum_blocks);
            tickets = Array<unsigned int>(
              std::vector<unsigned int>(max_vectors / n_together, 0));
            result.resize(max_vectors);
          }
          Array<DigitSums>       partial;
          Array<unsigned int>    tickets;
          Array<DigitSums, true> result;
        };

        DotsWorkspace &
        dots_workspace()
        {
          static thread_local std::unique_ptr<DotsWorkspace> result;
          if (result == nullptr)
            result = std::make_unique<DotsWorkspace>();
          return *result;
        }

        /// Starts dots_kernel() for the entries begin..end-1, at most
        /// max_dots_entries.
        template <typename Number>
        void
        start_dots(const VectorList<Number> &list,
                   const std::size_t         begin,
                   const std::size_t         end,
                   const Number             *y,
                   DigitSums                *result)
        {
          DotsWorkspace     &space    = dots_workspace();
          const unsigned int n_groups = (list.n + n_together - 1) / n_together;
          // About as many thread blocks as the device holds at once.
          const unsigned int n_pieces =
            std::min<std::size_t>(std::max(1u, max_sum_blocks / n_groups),
                                  (end - begin + 2 * n_threads - 1) /
                                    (2 * n_threads));
          dots_kernel<<<n_groups * n_pieces, n_threads, 0, current_stream()>>>(
            begin,
            end,
            list,
            y,
            space.partial.data(),
            space.tickets.data(),
            result);
          check(cudaGetLastError(), "a reduction");
        }

        Workspace &
        workspace()
        {
          static thread_local std::unique_ptr<Workspace> result;
          if (result == nullptr)
            result = std::make_unique<Workspace>();
          return *result;
        }

        template <typename Function>
        double
        maximum(const std::size_t n, const Function &function)
        {
          if (n == 0)
            return 0.;
          refuse_recording("a reduction");
          Workspace &space = workspace();
          maximum_kernel<<<n_blocks(n), n_threads, 0, current_stream()>>>(
            n,
            function,
            space.maxima.data(),
            space.ticket.data(),
            space.maximum.data());
          check(cudaGetLastError(), "a reduction");
          check(cudaStreamSynchronize(nullptr), "a reduction");
          return *space.maximum.data();
        }

        /// Starts sum_kernel() for the indices begin..end-1.
        template <typename Function, typename Finish>
        void
        start_sum(const std::size_t begin,
                  const std::size_t end,
                  const Function   &function,
                  DigitSums        *partial,
                  unsigned int     *ticket,
                  const Finish     &finish)
        {
          constexpr std::size_t per_block = n_threads * Function::n_at_once;
          start_waiting_kernel("a reduction",
                               sum_kernel<Function, Finish>,
                               static_cast<unsigned int>(std::min<std::size_t>(
                                 max_sum_blocks,
                                 (end - begin + per_block - 1) / per_block)),
                               n_threads,
                               begin,
                               end,
                               function,
                               partial,
                               ticket,
                               finish);
        }

        template <typename Function>
        void
        start_sum_on_device(const std::size_t  n,
                            const Function    &function,
                            const SumOnDevice &to)
        {
          if (n > max_n_on_device)
            throw Error(
              "A vector has too many entries for a sum on the device.");
          if (n == 0)
            return;
          char *const memory = static_cast<char *>(to.memory);
          start_sum(0,
                    n,
                    function,
                    reinterpret_cast<DigitSums *>(memory + 256),
                    reinterpret_cast<unsigned int *>(memory),
                    StoreFactor{to});
        }

        template <typename Function>
        ReproducibleSum
        reproducible_sum(const std::size_t n, const Function &function)
        {
          constexpr std::size_t max_n = std::size_t(1) << 31;
          ReproducibleSum       result;
          refuse_recording("a scalar product or a norm");
          for (std::size_t begin = 0; begin < n; begin += max_n)
            {
              Workspace &space = workspace();
              start_sum(begin,
                        std::min(n, begin + max_n),
                        function,
                        space.sums.data(),
                        space.ticket.data(),
                        StoreSum{space.sum.data()});
              check(cudaStreamSynchronize(nullptr), "a reduction");
              result.add(*space.sum.data());
            }
          return result;
        }
      } // namespace



      void *
      allocate_bytes(const std::size_t n)
      {
        void *memory = nullptr;
        if (n > 0)
          {
            refuse_recording("an allocation of memory");
            memory = allocate_in_pool(n);
            if (memory == nullptr)
              check(cudaMalloc(&memory, n),
                    ("an array of " + std::to_string(n) + " bytes").c_str());
          }
        return memory;
      }



      void
      release(void *memory) noexcept
      {
        release_memory(memory);
      }



      void
      upload_bytes(void *to, const void *from, const std::size_t n)
      {
        if (n == 0)
          return;
        refuse_recording("a copy to the device");
        check(cudaMemcpy(to, from, n, cudaMemcpyHostToDevice),
              "a copy to the device");
      }



      void
      download_bytes(void *to, const void *from, const std::size_t n)
      {
        if (n == 0)
          return;
        refuse_recording("a copy from the device");
        check(cudaMemcpy(to, from, n, cudaMemcpyDeviceToHost),
              "a copy from the device");
      }



      void
      synchronize()
      {
        refuse_recording("a wait of the host for the device");
        check(cudaStreamSynchronize(nullptr), "work on the device");
      }



      template <typename Number>
      template <typename From>
      void
      VectorOperations<Number>::copy(const std::size_t n,
                                     const From       *from,
                                     Number           *to)
      {
        if (n == 0)
          return;
        if (std::is_same<Number, From>::value)
          check(cudaMemcpyAsync(to,
                                from,
                                n * sizeof(Number),
                                cudaMemcpyDeviceToDevice,
                                current_stream()),
                "a copy on the device");
        else
          for_each(n, Copy<Number, From>{to, from});
      }



      template <typename Number>
      void
      VectorOperations<Number>::set(const std::size_t n,
                                    const Number      a,
                                    Number           *y)
      {
        for_each(n, Set<Number>{y, a});
      }



      template <typename Number>
      void
      VectorOperations<Number>::combine(const std::size_t n,
                                        const Number      s,
                                        const Number      a,
                                        const Number     *x,
                                        const Number      b,
                                        const Number     *w,
                                        Number           *y)
      {
        const bool has_y = s != Number(0);
        if (x == nullptr && w == nullptr)
          {
            if (has_y)
              for_each(n, ScaleOnly<Number>{y, s});
            else
              set_zero(n, y);
          }
        else if (x == nullptr)
          combine(n, s, b, w, a, x, y);
        else if (has_y && w != nullptr)
          for_each(n, Combine<Number, true, true>{y, s, a, x, b, w});
        else if (has_y)
          for_each(n, Combine<Number, true, false>{y, s, a, x, b, w});
        else if (w != nullptr)
          for_each(n, Combine<Number, false, true>{y, s, a, x, b, w});
        else
          for_each(n, Combine<Number, false, false>{y, s, a, x, b, w});
      }



      template <typename Number>
      void
      VectorOperations<Number>::shift(const std::size_t n,
                                      const Number      a,
                                      Number           *y)
      {
        for_each(n, Shift<Number>{y, a});
      }



      template <typename Number>
      void
      VectorOperations<Number>::multiply(const std::size_t n,
                                         const Number     *x,
                                         Number           *y)
      {
        for_each(n, Multiply<Number>{y, x});
      }



      template <typename Number>
      ReproducibleSum
      VectorOperations<Number>::dot(const std::size_t n,
                                    const Number     *x,
                                    const Number     *y)
      {
        return reproducible_sum(n, Dot<Number>{x, y});
      }



      template <typename Number>
      void
      VectorOperations<Number>::dot_on_device(const std::size_t  n,
                                              const Number      *x,
                                              const Number      *y,
                                              const SumOnDevice &to)
      {
        start_sum_on_device(n, Dot<Number>{x, y}, to);
      }



      template <typename Number>
      void
      VectorOperations<Number>::step_on_device(const std::size_t  n,
                                               const double      *a,
                                               const Number      *p,
                                               const Number      *q,
                                               Number            *x,
                                               Number            *r,
                                               const SumOnDevice &to)
      {
        start_sum_on_device(n, StepAndSquare<Number>{a, p, q, x, r}, to);
      }



      template <typename Number>
      void
      VectorOperations<Number>::combine_by(const std::size_t n,
                                           const double     *s,
                                           const double     *a,
                                           const Number     *x,
                                           Number           *y)
      {
        if (x != nullptr)
          for_each(n, CombineBy<Number>{{y, 1, 1, x, 0, nullptr}, s, a});
        else if (s != nullptr)
          for_each(n, ScaleBy<Number>{y, s});
      }



      template <typename Number>
      ReproducibleSum
      VectorOperations<Number>::add_and_dot(const std::size_t n,
                                            const Number      a,
                                            const Number     *x,
                                            const Number     *w,
                                            Number           *y)
      {
        return reproducible_sum(n, AddAndDot<Number>{y, a, x, w});
      }



      template <typename Number>
      ReproducibleSum
      VectorOperations<Number>::sum(const std::size_t n, const Number *x)
      {
        return reproducible_sum(n, Sum<Number, false>{x});
      }



      template <typename Number>
      ReproducibleSum
      VectorOperations<Number>::absolute_sum(const std::size_t n,
                                             const Number     *x)
      {
        return reproducible_sum(n, Sum<Number, true>{x});
      }



      template <typename Number>
      void
      VectorOperations<Number>::dots(const unsigned int   n_vectors,
                                     const std::size_t    n,
                                     const Number *const *x,
                                     const Number        *y,
                                     ReproducibleSum     *sums)
      {
        refuse_recording("scalar products");
        DotsWorkspace &space = dots_workspace();
        for (unsigned int first = 0; first < n_vectors; first += max_vectors)
          {
            VectorList<Number> list;
            list.n = std::min(n_vectors - first, max_vectors);
            std::copy_n(x + first, list.n, list.x);
            std::fill_n(sums + first, list.n, ReproducibleSum());
            for (std::size_t begin = 0; begin < n; begin += max_dots_entries)
              {
                start_dots(list,
                           begin,
                           std::min(n, begin + max_dots_entries),
                           y,
                           space.result.data());
                check(cudaStreamSynchronize(nullptr), "a reduction");
                for (unsigned int m = 0; m < list.n; ++m)
                  sums[first + m].add(space.result.data()[m]);
              }
          }
      }



      template <typename Number>
      void
      VectorOperations<Number>::project_out(const unsigned int   n_vectors,
                                            const std::size_t    n,
                                            const Number *const *x,
                                            Number              *y,
                                            double              *products)
      {
        refuse_recording("scalar products");
        if (n > max_dots_entries)
          throw Error("A vector has too many entries for its projection.");
        const unsigned int n_all = n_vectors + 1;
        if (n == 0)
          {
            std::fill_n(products, n_all, 0.);
            return;
          }
        ProjectionWorkspace &space = projection_workspace();
        space.sums.resize(n_all);
        space.values.resize(n_all);
        space.on_host.resize(n_all);
        for (unsigned int first = 0; first < n_all; first += max_vectors)
          {
            VectorList<Number> list;
            list.n = std::min(n_all - first, max_vectors);
            for (unsigned int m = 0; m < list.n; ++m)
              list.x[m] = first + m < n_vectors ? x[first + m] : y;
            start_dots<Number>(list, 0, n, y, space.sums.data() + first);
            value_kernel<<<1, max_vectors, 0, current_stream()>>>(
              list.n,
              space.sums.data() + first,
              space.values.data() + first,
              space.on_host.data() + first);
            check(cudaGetLastError(), "a reduction");
          }
        for (unsigned int first = 0; first < n_vectors; first += max_vectors)
          {
            SubtractAll<Number> subtract;
            subtract.list.n = std::min(n_vectors - first, max_vectors);
            std::copy_n(x + first, subtract.list.n, subtract.list.x);
            subtract.factor = space.values.data() + first;
            subtract.y      = y;
            for_each(n, subtract);
          }
        check(cudaStreamSynchronize(nullptr), "a reduction");
        std::copy_n(space.on_host.data(), n_all, products);
      }



      template <typename Number>
      void
      VectorOperations<Number>::add_all(const unsigned int   n_vectors,
                                        const std::size_t    n,
                                        const double        *a,
                                        const Number *const *x,
                                        Number              *y)
      {
        for (unsigned int first = 0; first < n_vectors; first += max_vectors)
          {
            AddAll<Number> add;
            add.list.n = std::min(n_vectors - first, max_vectors);
            std::copy_n(x + first, add.list.n, add.list.x);
            std::copy_n(a + first, add.list.n, add.list.factor);
            add.y = y;
            for_each(n, add);
          }
      }



      template <typename Number>
      double
      VectorOperations<Number>::absolute_maximum(const std::size_t n,
                                                 const Number     *x)
      {
        return maximum(n, AbsoluteMaximum<Number>{x});
      }



      template <typename Number>
      bool
      VectorOperations<Number>::equal(const std::size_t n,
                                      const Number     *x,
                                      const Number     *y)
      {
        return maximum(n, Different<Number>{x, y}) == 0.;
      }



      template struct VectorOperations<double>;
      template struct VectorOperations<float>;
      template void
      VectorOperations<double>::copy(const std::size_t,
                                     const double *,
                                     double *);
      template void
      VectorOperations<double>::copy(const std::size_t,
                                     const float *,
                                     double *);
      template void
      VectorOperations<float>::copy(const std::size_t, const double *, float *);
      template void
      VectorOperations<float>::copy(const std::size_t, const float *, float *);
    } // namespace Device
  }   // namespace internal
} // namespace Tessella
