// SPDX-License-Identifier: LGPL-2.1-or-later
//
// What several devices of a host can deliver at once: each of N processes
// copies 1 GiB from its own device to the host, in pieces, through four or
// eight pinned buffers; "alone", and from there on to memory of the process by
// its threads, as assembly into matrices of the host does ("through"), or with
// a stream, two to four buffers and a counter in pinned memory, to which the
// device writes, for each thread ("by counters"). Prints the milliseconds of
// the slowest process, the best of eight runs. From the root of the repository:
//
//   nvcc -O3 -std=c++17 -Icuda -Iinclude -Ibuild/include -o host_copies
//   contrib/host_copies.cu -lcuda
//   ./host_copies N THREADS
//
// Linux; N at most the number of devices.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>
#include <mutex>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "host_memory.h"

namespace
{
  constexpr std::size_t  total       = std::size_t(1) << 30;
  constexpr unsigned int max_buffers = 8, max_processes = 64, n_runs = 8;

  struct Shared
  {
    pthread_barrier_t barrier;
    double            seconds[max_processes];
  };

  void
  check(const cudaError_t error)
  {
    if (error != cudaSuccess)
      {
        std::fprintf(stderr, "host_copies: %s\n", cudaGetErrorString(error));
        _exit(1);
      }
  }

  /// What a process copies, and through what.
  struct Task
  {
    int          device;
    unsigned int n_threads;
    std::size_t  piece; ///< bytes
    unsigned int n_buffers;
    const char  *from;
    char        *pinned, *to;
    std::size_t  n_pieces = total / piece;
  };

  class Copies : private Task
  {
  public:
    explicit Copies(const Task &task)
      : Task(task)
    {
      check(cudaStreamCreate(&stream));
      for (cudaEvent_t &e : event)
        check(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
    }

    ~Copies()
    {
      for (const cudaEvent_t e : event)
        cudaEventDestroy(e);
      cudaStreamDestroy(stream);
    }

    void
    alone()
    {
      for (std::size_t p = 0; p < n_pieces; ++p)
        start(p);
      check(cudaStreamSynchronize(stream));
    }

    // Threads take slices of pieces in turn; who finds its piece not there yet
    // asks whether it has come, who takes the last slice of one starts the
    // next.
    void
    through()
    {
      constexpr std::size_t least = 65536;
      const std::size_t     slice =
                          std::min(piece, std::max(least, piece / n_threads)),
                        n_slices = (piece + slice - 1) / slice;
      std::atomic<std::size_t>  next(0), arrived(0);
      std::atomic<unsigned int> n_done[max_buffers];
      std::mutex                mutex;
      for (auto &n : n_done)
        n = 0;
      std::fill_n(started, max_buffers, 0);
      for (std::size_t p = 0; p < std::min<std::size_t>(n_buffers, n_pieces);
           ++p)
        start(p);
      const auto work = [&]() {
        check(cudaSetDevice(device));
        for (;;)
          {
            const std::size_t s = next++, p = s / n_slices;
            if (p >= n_pieces)
              return;
            while (arrived.load(std::memory_order_acquire) <= p)
              if (mutex.try_lock())
                {
                  const std::size_t a = arrived.load();
                  if (a <= p && started[a % n_buffers] == a + 1 &&
                      cudaEventQuery(event[a % n_buffers]) == cudaSuccess)
                    arrived.store(a + 1, std::memory_order_release);
                  mutex.unlock();
                }
            const std::size_t offset = (s % n_slices) * slice,
                              n      = std::min(slice, piece - offset);
            Tessella::internal::Device::copy_past_caches(
              to + p * piece + offset,
              pinned + (p % n_buffers) * piece + offset,
              n);
            if (++n_done[p % n_buffers] == n_slices)
              {
                n_done[p % n_buffers] = 0;
                if (p + n_buffers < n_pieces)
                  {
                    const std::lock_guard<std::mutex> lock(mutex);
                    start(p + n_buffers);
                  }
              }
          }
      };
      std::vector<std::thread> threads;
      for (unsigned int t = 1; t < n_threads; ++t)
        threads.emplace_back(work);
      work();
      for (std::thread &thread : threads)
        thread.join();
    }

  private:
    void
    start(const std::size_t p)
    {
      check(cudaMemcpyAsync(pinned + (p % n_buffers) * piece,
                            from + p * piece,
                            piece,
                            cudaMemcpyDeviceToHost,
                            stream));
      check(cudaEventRecord(event[p % n_buffers], stream));
      started[p % n_buffers] = p + 1;
    }

    cudaStream_t stream = nullptr;
    cudaEvent_t  event[max_buffers];
    std::size_t  started[max_buffers] = {};
  };

  // Each thread has a stream and buffers of its own: it waits until the device
  // has counted its next piece, and never for another thread.
  class CountedCopies : private Task
  {
  public:
    explicit CountedCopies(const Task &task)
      : Task(task)
      , stream(n_threads)
    {
      for (cudaStream_t &s : stream)
        check(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
      check(cudaHostAlloc(reinterpret_cast<void **>(&counter),
                          n_threads * line * sizeof(unsigned int),
                          0));
    }

    ~CountedCopies()
    {
      for (const cudaStream_t s : stream)
        cudaStreamDestroy(s);
      cudaFreeHost(counter);
    }

    void
    run()
    {
      std::fill_n(counter, n_threads * line, 0u);
      const auto work = [&](const std::size_t thread) {
        check(cudaSetDevice(device));
        unsigned int *const count  = counter + thread * line;
        char *const         buffer = pinned + thread * n_buffers * piece;
        const std::size_t   n = (n_pieces + n_threads - 1 - thread) / n_threads;
        const auto          start = [&](const std::size_t i) {
          check(cudaMemcpyAsync(buffer + (i % n_buffers) * piece,
                                from + (thread + i * n_threads) * piece,
                                piece,
                                cudaMemcpyDeviceToHost,
                                stream[thread]));
          if (cuStreamWriteValue32(stream[thread],
                                   reinterpret_cast<CUdeviceptr>(count),
                                   static_cast<unsigned int>(i + 1),
                                   CU_STREAM_WRITE_VALUE_DEFAULT) !=
              CUDA_SUCCESS)
            check(cudaErrorUnknown);
        };
        for (std::size_t i = 0; i < std::min<std::size_t>(n_buffers, n); ++i)
          start(i);
        for (std::size_t i = 0; i < n; ++i)
          {
            while (__atomic_load_n(count, __ATOMIC_ACQUIRE) <= i)
              ;
            Tessella::internal::Device::copy_past_caches(
              to + (thread + i * n_threads) * piece,
              buffer + (i % n_buffers) * piece,
              piece);
            if (i + n_buffers < n)
              start(i + n_buffers);
          }
      };
      std::vector<std::thread> threads;
      for (std::size_t t = 1; t < n_threads; ++t)
        threads.emplace_back(work, t);
      work(0);
      for (std::thread &thread : threads)
        thread.join();
    }

  private:
    static constexpr std::size_t line = 32; // numbers of two cache lines

    std::vector<cudaStream_t> stream;
    unsigned int             *counter = nullptr;
  };
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
  const auto all_processes = [&]() { pthread_barrier_wait(&shared->barrier); };

  constexpr std::size_t max_bytes = std::size_t(64) << 20;
  check(cudaSetDevice(me));
  char *from = nullptr, *pinned = nullptr;
  check(cudaMalloc(&from, total));
  check(cudaMemset(from, 1, total));
  check(cudaHostAlloc(reinterpret_cast<void **>(&pinned), max_bytes, 0));
  std::vector<char> to(total + 64);
  char *const       aligned = to.data() + 64 - std::size_t(to.data()) % 64;

  const auto measure = [&](const char        *name,
                           const std::size_t  threads,
                           const unsigned int n_buffers,
                           const std::size_t  piece,
                           const auto        &copy) {
    double best = 1e300;
    for (unsigned int r = 0; r < n_runs; ++r)
      {
        check(cudaDeviceSynchronize());
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
      std::printf(
        "%d processes, %zu threads, %s, %u buffers of %zu KiB: "
        "%.1f ms, %.1f GB/s each\n",
        n_processes,
        threads,
        name,
        n_buffers,
        piece >> 10,
        1e3 * best,
        1e-9 * total / best);
    std::fflush(stdout);
  };
  for (const bool through : {false, true})
    for (const unsigned int n_buffers : {4u, max_buffers})
      for (std::size_t piece = max_bytes / n_buffers; piece >= 1 << 20;
           piece /= 2)
        {
          Copies copies(
            {me, n_threads, piece, n_buffers, from, pinned, aligned});
          measure(through ? "through" : "alone",
                  n_threads,
                  n_buffers,
                  piece,
                  [&]() { through ? copies.through() : copies.alone(); });
        }
  bool complete =
    std::count(aligned, aligned + total, 1) == std::ptrdiff_t(total);
  for (const unsigned int threads : {n_threads, n_threads / 2})
    for (const unsigned int n_buffers : {2u, 4u})
      for (std::size_t piece = 1 << 20; piece >= 1 << 18 && threads > 0;
           piece /= 2)
        if (threads * n_buffers * piece <= max_bytes)
          {
            std::fill(aligned, aligned + total, 0);
            CountedCopies copies(
              {me, threads, piece, n_buffers, from, pinned, aligned});
            measure("by counters", threads, n_buffers, piece, [&]() {
              copies.run();
            });
            complete = complete && std::count(aligned, aligned + total, 1) ==
                                     std::ptrdiff_t(total);
          }
  if (me == 0)
    while (wait(nullptr) > 0)
      ;
  // (no piece was taken too early)
  return complete ? 0 : 1;
}
