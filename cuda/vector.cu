// SPDX-License-Identifier: LGPL-2.1-or-later

#include <algorithm>
#include <memory>
#include <type_traits>

#include "memory.h"
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
        /// Of a reduction: as many as the largest cards hold at once.
        constexpr unsigned int max_blocks = 1024;

        unsigned int
        n_blocks(const std::size_t n)
        {
          return static_cast<unsigned int>(
            std::min<std::size_t>(max_blocks, (n + 4095) / 4096 * 4));
        }

        // Applies @p function to 0..n-1.
        template <typename Function>
        __global__ void
        for_each_kernel(const std::size_t n, const Function function)
        {
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
          for_each_kernel<<<n_blocks(n), n_threads>>>(n, function);
          check(cudaGetLastError(), "a vector operation");
        }

        // ---- functions of for_each()
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
              r = s * y[i] + r;
            if (has_w)
              r += b * w[i];
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

        // ---- reductions
        struct Plus
        {
          __device__ static double
          join(const double a, const double b)
          {
            return a + b;
          }
        };
        struct Maximum
        {
          __device__ static double
          join(const double a, const double b)
          {
            return fmax(a, b);
          }
        };

        template <typename Number>
        struct Dot : public Plus
        {
          const Number *x, *y;
          __device__ double
          operator()(const std::size_t i) const
          {
            return double(x[i]) * double(y[i]);
          }
        };
        template <typename Number>
        struct AddAndDot : public Plus
        {
          Number       *y, a;
          const Number *x, *w;
          __device__ double
          operator()(const std::size_t i) const
          {
            const Number r = y[i] + a * x[i];
            y[i]           = r;
            return double(r) * double(w == y ? r : w[i]);
          }
        };
        template <typename Number>
        struct Sum : public Plus
        {
          const Number *x;
          __device__ double
          operator()(const std::size_t i) const
          {
            return x[i];
          }
        };
        template <typename Number>
        struct AbsoluteSum : public Plus
        {
          const Number *x;
          __device__ double
          operator()(const std::size_t i) const
          {
            return fabs(double(x[i]));
          }
        };
        template <typename Number>
        struct AbsoluteMaximum : public Maximum
        {
          const Number *x;
          __device__ double
          operator()(const std::size_t i) const
          {
            return fabs(double(x[i]));
          }
        };
        template <typename Number>
        struct Different : public Maximum
        {
          const Number *x, *y;
          __device__ double
          operator()(const std::size_t i) const
          {
            return x[i] == (y != nullptr ? y[i] : Number(0)) ? 0. : 1.;
          }
        };

        // What all threads of a block have, joined by a fixed tree; valid in
        // thread 0.
        template <typename Function>
        __device__ double
        join_block(double value)
        {
          __shared__ double warps[n_threads / 32];
#pragma unroll
          for (unsigned int offset = 16; offset > 0; offset /= 2)
            value = Function::join(value, __shfl_down_sync(~0u, value, offset));
          __syncthreads();
          if (threadIdx.x % 32 == 0)
            warps[threadIdx.x / 32] = value;
          __syncthreads();
          if (threadIdx.x == 0)
            for (unsigned int w = 1; w < n_threads / 32; ++w)
              value = Function::join(value, warps[w]);
          return value;
        }

        // The block that finishes last joins the results of all blocks, in
        // their order.
        template <typename Function>
        __global__ void
        reduce_kernel(const std::size_t n,
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
            value = Function::join(value, function(i));
          value = join_block<Function>(value);

          __shared__ bool last;
          if (threadIdx.x == 0)
            {
              partial[blockIdx.x] = value;
              __threadfence();
              // returns to zero for the next reduction
              last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
            }
          __syncthreads();
          if (!last)
            return;
          __threadfence();
          value = 0.;
          for (unsigned int b = threadIdx.x; b < gridDim.x; b += n_threads)
            value = Function::join(value, __ldcg(partial + b));
          value = join_block<Function>(value);
          if (threadIdx.x == 0)
            *result = value;
        }

        // Intermediate and final results of the reductions of a thread of the
        // host.
        struct Workspace
        {
          Workspace()
          {
            partial.resize(max_blocks);
            ticket = Array<unsigned int>(std::vector<unsigned int>(1, 0));
            result.resize(1);
          }

          Array<double>       partial;
          Array<unsigned int> ticket;
          Array<double, true> result; // the device writes here directly
        };

        template <typename Function>
        double
        reduce(const std::size_t n, const Function &function)
        {
          if (n == 0)
            return 0.;
          static thread_local std::unique_ptr<Workspace> workspace;
          if (workspace == nullptr)
            workspace = std::make_unique<Workspace>();
          reduce_kernel<<<n_blocks(n), n_threads>>>(n,
                                                    function,
                                                    workspace->partial.data(),
                                                    workspace->ticket.data(),
                                                    workspace->result.data());
          check(cudaGetLastError(), "a reduction");
          check(cudaStreamSynchronize(nullptr), "a reduction");
          return *workspace->result.data();
        }
      } // namespace



      template <typename Number>
      Number *
      allocate(const std::size_t n)
      {
        void *memory = nullptr;
        if (n > 0)
          check(cudaMalloc(&memory, n * sizeof(Number)), "this problem");
        return static_cast<Number *>(memory);
      }



      void
      release(void *memory) noexcept
      {
        if (memory != nullptr && cudaFree(memory) != cudaSuccess)
          cudaGetLastError();
      }



      void
      synchronize()
      {
        check(cudaStreamSynchronize(nullptr), "work on the device");
      }



      template <typename Number>
      void
      upload(Number *to, const Number *from, const std::size_t n)
      {
        if (n > 0)
          check(
            cudaMemcpy(to, from, n * sizeof(Number), cudaMemcpyHostToDevice),
            "a copy to the device");
      }



      template <typename Number>
      void
      download(Number *to, const Number *from, const std::size_t n)
      {
        if (n > 0)
          check(
            cudaMemcpy(to, from, n * sizeof(Number), cudaMemcpyDeviceToHost),
            "a copy from the device");
      }



      template <typename To, typename From>
      void
      copy(To *to, const From *from, const std::size_t n)
      {
        if (n == 0)
          return;
        if (std::is_same<To, From>::value)
          check(
            cudaMemcpyAsync(to, from, n * sizeof(To), cudaMemcpyDeviceToDevice),
            "a copy on the device");
        else
          for_each(n, Copy<To, From>{to, from});
      }



      template <typename Number>
      void
      set(Number *y, const std::size_t n, const Number a)
      {
        for_each(n, Set<Number>{y, a});
      }



      template <typename Number>
      void
      combine(Number           *y,
              const std::size_t n,
              const Number      s,
              const Number      a,
              const Number     *x,
              const Number      b,
              const Number     *w)
      {
        const bool has_y = s != Number(0);
        if (x == nullptr && w == nullptr)
          {
            if (has_y)
              for_each(n, ScaleOnly<Number>{y, s});
            else
              set(y, n, Number(0));
          }
        else if (x == nullptr)
          combine(y, n, s, b, w, a, x);
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
      shift(Number *y, const std::size_t n, const Number a)
      {
        for_each(n, Shift<Number>{y, a});
      }



      template <typename Number>
      void
      multiply(Number *y, const Number *x, const std::size_t n)
      {
        for_each(n, Multiply<Number>{y, x});
      }



      template <typename Number>
      double
      dot(const Number *x, const Number *y, const std::size_t n)
      {
        return reduce(n, Dot<Number>{{}, x, y});
      }



      template <typename Number>
      double
      add_and_dot(Number           *y,
                  const Number      a,
                  const Number     *x,
                  const Number     *w,
                  const std::size_t n)
      {
        return reduce(n, AddAndDot<Number>{{}, y, a, x, w});
      }



      template <typename Number>
      double
      sum(const Number *x, const std::size_t n)
      {
        return reduce(n, Sum<Number>{{}, x});
      }



      template <typename Number>
      double
      absolute_sum(const Number *x, const std::size_t n)
      {
        return reduce(n, AbsoluteSum<Number>{{}, x});
      }



      template <typename Number>
      double
      absolute_maximum(const Number *x, const std::size_t n)
      {
        return reduce(n, AbsoluteMaximum<Number>{{}, x});
      }



      template <typename Number>
      bool
      equal(const Number *x, const Number *y, const std::size_t n)
      {
        return reduce(n, Different<Number>{{}, x, y}) == 0.;
      }



#define INSTANTIATE(Number)                                                \
  template Number *allocate<Number>(const std::size_t);                    \
  template void    upload(Number *, const Number *, const std::size_t);    \
  template void    download(Number *, const Number *, const std::size_t);  \
  template void    copy(Number *, const double *, const std::size_t);      \
  template void    copy(Number *, const float *, const std::size_t);       \
  template void    set(Number *, const std::size_t, const Number);         \
  template void    combine(Number *,                                       \
                           const std::size_t,                              \
                           const Number,                                   \
                           const Number,                                   \
                           const Number *,                                 \
                           const Number,                                   \
                           const Number *);                                \
  template void    shift(Number *, const std::size_t, const Number);       \
  template void    multiply(Number *, const Number *, const std::size_t);  \
  template double  dot(const Number *, const Number *, const std::size_t); \
  template double  add_and_dot(Number *,                                   \
                               const Number,                               \
                               const Number *,                             \
                               const Number *,                             \
                               const std::size_t);                         \
  template double  sum(const Number *, const std::size_t);                 \
  template double  absolute_sum(const Number *, const std::size_t);        \
  template double  absolute_maximum(const Number *, const std::size_t);    \
  template bool    equal(const Number *, const Number *, const std::size_t);

      INSTANTIATE(double)
      INSTANTIATE(float)
#undef INSTANTIATE
    } // namespace Device
  }   // namespace internal
} // namespace Tessella
