// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
//
// Measures how fast several devices of a host deliver data together, and how
// fast host memory stores them. Each of N processes copies 1 GiB from its own
// device to the host, either to memory of the process ("by workers", like
// assembly with several processes) or only into pinned buffers ("copies
// alone"); or its threads write 1 GiB ("stores alone"). Prints the milliseconds
// of the slowest process, the best of eight runs. From the root of the
// repository:
//
//   nvcc -O3 -std=c++17 -Icuda -Iinclude -Ibuild/include -o host_copies
//   contrib/host_copies.cu cuda/device/download.cu cuda/device/device.cu
//   ./host_copies N THREADS
//
// Linux; N is at most the number of devices. If there are N * THREADS
// processors, each process is bound to its own.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <exception>
#include <functional>
#include <pthread.h>
#include <sched.h>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "download.h"
#include "host_memory.h"

namespace
{
  using namespace Tessella::internal::Device;

  constexpr std::size_t  total         = std::size_t(1) << 30;
  constexpr unsigned int max_processes = 64, n_runs = 8;

  struct Shared
  {
    pthread_barrier_t barrier;
    double            seconds[max_processes];
  };

  // Fills an array with the indices of its entries.
  __global__ void
  number(unsigned int *to)
  {
    const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i]                = i;
  }

  // Calls function(begin, end) for n entries in ranges of `size`, by n_threads.
  void
  in_parallel(const unsigned int                                   n_threads,
              const int                                            device,
              const std::size_t                                    n,
              const std::size_t                                    size,
              const std::function<void(std::size_t, std::size_t)> &function)
  {
    std::atomic<std::size_t> next(0);
    const auto               work = [&]() {
      check(cudaSetDevice(device), "the choice of a device");
      for (std::size_t begin; (begin = next.fetch_add(size)) < n;)
        function(begin, std::min(n, begin + size));
    };
    std::vector<std::thread> threads;
    for (unsigned int t = 1; t < n_threads; ++t)
      threads.emplace_back(work);
    work();
    for (std::thread &thread : threads)
      thread.join();
  }

  void
  bind(const unsigned int first, const unsigned int n)
  {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (unsigned int i = first; i < first + n; ++i)
      CPU_SET(i, &set);
    sched_setaffinity(0, sizeof(set), &set);
  }

  // Work of process `me`. Returns whether all entries arrived at the correct
  // position.
  bool
  run(const int          me,
      const int          n_processes,
      const unsigned int n_threads,
      Shared            *shared)
  {
    const auto all_processes = [&]() {
      pthread_barrier_wait(&shared->barrier);
    };
    check(cudaSetDevice(me), "the choice of a device");
    Array<char>       from;
    Array<char, true> pinned;
    from.resize(total);
    pinned.resize(std::size_t(64) << 20);
    const std::size_t n_numbers = total / sizeof(unsigned int);
    number<<<n_numbers / 256, 256>>>(
      reinterpret_cast<unsigned int *>(from.data()));
    check(cudaGetLastError(), "the start of a kernel");
    check(cudaDeviceSynchronize(), "a kernel");
    RawArray<unsigned int> target(n_numbers);
    char *const            to = reinterpret_cast<char *>(target.data());
    const Parallel         parallel =
      [&](const std::size_t                                    n,
          const std::size_t                                    size,
          const std::function<void(std::size_t, std::size_t)> &function) {
        in_parallel(n_threads, me, n, size, function);
      };

    const auto measure = [&](const std::string &name, const auto &copy) {
      double best = 1e300;
      for (unsigned int r = 0; r < n_runs; ++r)
        {
          all_processes();
          const auto begin = std::chrono::steady_clock::now();
          copy();
          shared->seconds[me] = std::chrono::duration<double>(
                                  std::chrono::steady_clock::now() - begin)
                                  .count();
          all_processes();
          best = std::min(best,
                          *std::max_element(shared->seconds,
                                            shared->seconds + n_processes));
          all_processes();
        }
      if (me == 0)
        std::printf("%d processes, %u threads, %s: %.1f ms, %.1f GB/s each\n",
                    n_processes,
                    n_threads,
                    name.c_str(),
                    1e3 * best,
                    1e-9 * total / best);
      std::fflush(stdout);
    };

    const Stream stream;
    Event        ready;
    ready.record(stream);
    for (const std::size_t piece :
         {std::size_t(16) << 20, std::size_t(2) << 20})
      measure("copies alone, 4 buffers of " + std::to_string(piece >> 20) +
                " MiB",
              [&]() {
                for (std::size_t p = 0; p < total / piece; ++p)
                  check(cudaMemcpyAsync(pinned.data() + p % 4 * piece,
                                        from.data() + p * piece,
                                        piece,
                                        cudaMemcpyDeviceToHost,
                                        stream),
                        "a copy to the host");
                check(cudaStreamSynchronize(stream), "a copy to the host");
              });
    constexpr std::size_t slice = std::size_t(1) << 20;
    measure("stores alone", [&]() {
      parallel(total, slice, [&](const std::size_t begin, const std::size_t) {
        // The source stays in the cache.
        copy_past_caches(to + begin, pinned.data(), slice);
      });
    });
    Download download(parallel);
    measure("by workers", [&]() {
      download.start();
      download.add(0, ready, from.data(), to, total);
      download.finish(0);
    });
    for (std::size_t i = 0; i < n_numbers; ++i)
      if (target[i] != i)
        return false;
    return true;
  }
} // namespace

int
main(int argc, char **argv)
{
  const int          n_processes = argc == 3 ? std::atoi(argv[1]) : 0;
  const unsigned int n_threads =
    argc == 3 ? std::max(0, std::atoi(argv[2])) : 0;
  if (n_processes < 1 || n_processes > int(max_processes) || n_threads < 1)
    {
      std::fprintf(stderr, "Usage: host_copies N THREADS\n");
      return 1;
    }
  Shared *const         shared = static_cast<Shared *>(mmap(nullptr,
                                                    sizeof(Shared),
                                                    PROT_READ | PROT_WRITE,
                                                    MAP_SHARED | MAP_ANONYMOUS,
                                                    -1,
                                                    0));
  pthread_barrierattr_t attributes;
  pthread_barrierattr_init(&attributes);
  pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&shared->barrier, &attributes, n_processes);
  int me = 0;
  for (int p = 1; p < n_processes && me == 0; ++p)
    if (fork() == 0)
      me = p;
  if (n_processes * n_threads <= std::thread::hardware_concurrency())
    bind(me * n_threads, n_threads);

  bool complete = false;
  try
    {
      complete = run(me, n_processes, n_threads, shared);
    }
  catch (const std::exception &error)
    {
      std::fprintf(stderr, "host_copies: %s\n", error.what());
      _exit(1);
    }
  for (int status; me == 0 && wait(&status) > 0;)
    complete = complete && status == 0;
  return complete ? 0 : 1;
}
