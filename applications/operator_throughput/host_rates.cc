// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include "host_rates.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

namespace
{
  // Enough independent chains to hide the latency of two units, and few enough
  // for 16 registers.
  constexpr unsigned int n_chains = 12;

  template <unsigned int lanes>
  struct Pack
  {
    typedef double Vector __attribute__((vector_size(8 * lanes)));
  };

  // Sum of all chains after n_steps multiply-adds of each. Functions for other
  // instruction sets than that of the file are inlined into those that have
  // them.
  template <unsigned int lanes>
  inline __attribute__((always_inline)) double
  chains(const unsigned int n_steps, const double factor, const double summand)
  {
    using Vector   = typename Pack<lanes>::Vector;
    const Vector a = Vector{} + factor, b = Vector{} + summand;
    Vector       c[n_chains];
    for (unsigned int i = 0; i < n_chains; ++i)
      c[i] = Vector{} + 1. * i;
    for (unsigned int step = 0; step < n_steps; ++step)
#pragma GCC unroll 12
      for (unsigned int i = 0; i < n_chains; ++i)
        c[i] = c[i] * a + b;
    double sum = 0.;
    for (unsigned int i = 0; i < n_chains; ++i)
      for (unsigned int l = 0; l < lanes; ++l)
        sum += c[i][l];
    return sum;
  }

  double
  plain(const unsigned int n_steps, const double factor, const double summand)
  {
    return chains<2>(n_steps, factor, summand);
  }

#if defined(__x86_64__)
  __attribute__((target("avx2,fma"))) double
  avx2(const unsigned int n_steps, const double factor, const double summand)
  {
    return chains<4>(n_steps, factor, summand);
  }

  __attribute__((target("avx512f,fma"))) double
  avx512(const unsigned int n_steps, const double factor, const double summand)
  {
    return chains<8>(n_steps, factor, summand);
  }
#endif

  // Least seconds of several calls of work(thread) by all threads together.
  template <typename Work>
  double
  least_time(const unsigned int n_threads, const Work &work)
  {
    using Clock  = std::chrono::steady_clock;
    double least = std::numeric_limits<double>::max();
    for (unsigned int repetition = 0; repetition < 8; ++repetition)
      {
        std::atomic<unsigned int> n_ready{0};
        std::vector<std::thread>  threads;
        std::vector<double>       seconds(n_threads);
        for (unsigned int t = 0; t < n_threads; ++t)
          threads.emplace_back([&, t] {
            ++n_ready;
            while (n_ready < n_threads)
              std::this_thread::yield();
            const auto begin = Clock::now();
            work(t);
            seconds[t] =
              std::chrono::duration<double>(Clock::now() - begin).count();
          });
        for (std::thread &thread : threads)
          thread.join();
        least =
          std::min(least, *std::max_element(seconds.begin(), seconds.end()));
      }
    return least;
  }
} // namespace



ProcessorRates
measure_host_rates(const unsigned int             n_threads,
                   const Tessella::InstructionSet instruction_set)
{
  auto        *function = plain;
  unsigned int lanes    = 2;
#if defined(__x86_64__)
  if (instruction_set == Tessella::InstructionSet::avx2)
    {
      function = avx2;
      lanes    = 4;
    }
  else if (instruction_set == Tessella::InstructionSet::avx512)
    {
      function = avx512;
      lanes    = 8;
    }
#else
  (void)instruction_set;
#endif
  constexpr unsigned int n_steps = 1000000;
  ProcessorRates         rates;
  std::vector<double>    sums(n_threads);
  // The compiler must not know the numbers.
  volatile double factor = 0.999, summand = 1e-3;
  rates.flops = 2. * lanes * n_chains * n_steps * n_threads /
                least_time(n_threads, [&](const unsigned int t) {
                  sums[t] = function(n_steps, factor, summand);
                });
  const std::size_t                n = (std::size_t(1) << 23) / n_threads;
  std::vector<std::vector<double>> from(n_threads), to(n_threads);
  rates.bandwidth =
    16. * n * n_threads / least_time(n_threads, [&](const unsigned int t) {
      // In the first call, each thread touches its memory.
      from[t].resize(n, sums[t]);
      to[t].resize(n);
      std::memcpy(to[t].data(), from[t].data(), n * sizeof(double));
    });
  return rates;
}
