// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <algorithm>

#include "../../cuda/device/memory.h"
#include "device_rates.h"

namespace Tessella
{
  namespace Application
  {
    using namespace internal::Device;

    namespace
    {
      constexpr unsigned int n_steps = 2048, n_chains = 8;

      // Matrix products without any load; reaches the peak rate of the matrix
      // units.
      __global__ void
      product_kernel(double *out)
      {
        double       c[n_chains][4] = {};
        const double x              = 1e-3 * (threadIdx.x + 1);
        for (unsigned int i = 0; i < n_steps; ++i)
#pragma unroll
          for (unsigned int l = 0; l < n_chains; ++l)
            {
#if __CUDA_ARCH__ >= 900
              asm volatile(
                "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 "
                "{%0,%1,%2,%3}, {%4,%5,%4,%5,%4,%5,%4,%5}, {%4,%5,%4,%5}, "
                "{%0,%1,%2,%3};"
                : "+d"(c[l][0]), "+d"(c[l][1]), "+d"(c[l][2]), "+d"(c[l][3])
                : "d"(x), "d"(-x));
#elif __CUDA_ARCH__ >= 800
              asm volatile(
                "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 "
                "{%0,%1}, {%2}, {%3}, {%0,%1};"
                : "+d"(c[l][0]), "+d"(c[l][1])
                : "d"(x), "d"(-x));
#else
              c[l][0] = fma(x, -x, c[l][0]);
#endif
            }
        double sum = 0.;
        for (unsigned int l = 0; l < n_chains; ++l)
          sum += c[l][0] + c[l][1] + c[l][2] + c[l][3];
        if (sum == 1.)
          *out = sum;
      }

      // Floating-point operations of a warp in one product of
      // product_kernel().
      double
      operations_per_step()
      {
        cudaFuncAttributes attributes;
        check(cudaFuncGetAttributes(&attributes, product_kernel),
              "the measurement of rates");
        const int version = attributes.ptxVersion;
        return version >= 90 ? 4096. : version >= 80 ? 512. : 64.;
      }

      // Least time of several repetitions.
      template <typename Function>
      double
      least_time(const Function &function)
      {
        Stream stream;
        double least = 1e300;
        for (unsigned int i = 0; i < 6; ++i)
          {
            Event begin, end;
            begin.record(stream);
            function(static_cast<cudaStream_t>(stream));
            check(cudaGetLastError(), "the measurement of rates");
            end.record(stream);
            end.wait();
            if (i > 0) // the first repetition includes loading of the code
              least = std::min(least, end.since(begin));
          }
        return least;
      }
    } // namespace



    DeviceRates
    measure_device_rates()
    {
      DeviceRates rates;
      if (n_devices() == 0)
        return rates;
      const unsigned int  n_blocks = 4096, n_warps = 8;
      const std::size_t   n = 1u << 28; // bytes
      const Array<double> from(std::vector<double>(n / 8, 1.));
      Array<double>       to;
      to.resize(n / 8);
      rates.flops =
        operations_per_step() * n_steps * n_chains * n_blocks * n_warps /
        least_time([&](const cudaStream_t stream) {
          product_kernel<<<n_blocks, 32 * n_warps, 0, stream>>>(to.data());
        });
      rates.bandwidth =
        2. * n / least_time([&](const cudaStream_t stream) {
          check(cudaMemcpyAsync(
                  to.data(), from.data(), n, cudaMemcpyDeviceToDevice, stream),
                "the measurement of rates");
        });
      Array<double, true> host;
      host.resize(n / 8);
      std::fill(host.data(), host.data() + n / 8, 1.);
      rates.download =
        n / least_time([&](const cudaStream_t stream) {
          check(cudaMemcpyAsync(
                  host.data(), from.data(), n, cudaMemcpyDeviceToHost, stream),
                "the measurement of rates");
        });
      return rates;
    }
  } // namespace Application
} // namespace Tessella
