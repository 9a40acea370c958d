// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
//
// Records when kernels, copies and fills begin and end on a CUDA device. The
// library is loaded by the driver into a program that is not changed for it; it
// uses CUPTI, which is part of the CUDA toolkit. From the root of the
// repository:
//
//   g++ -O2 -std=c++17 -shared -fPIC -o libkernel_times.so
//     -I/usr/local/cuda/include contrib/kernel_times.cc
//     -L/usr/local/cuda/lib64 -lcupti
//
//   export CUDA_INJECTION64_PATH=$PWD/libkernel_times.so
//
//   KERNEL_TIMES=times.csv PROGRAM
//
//   python3 contrib/python/kernel_gaps.py times.csv
//
// Only what lies between cudaProfilerStart() and cudaProfilerStop() is
// recorded; the program must wait for the device before each of them. With
// KERNEL_TIMES_ALL=1 everything from the first call until the end of the
// program is recorded, as one range. The file (by default kernel_times.csv) has
// one line for each activity: number of the range, from 1 on; kernel, copy or
// fill; stream; begin and end in nanoseconds; name of the kernel without
// template arguments. CUPTI adds some time to each kernel, which a run without
// the library shows.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cupti.h>
#include <cxxabi.h>
#include <mutex>
#include <string>
#include <vector>

namespace
{
#if CUPTI_API_VERSION >= 130000
  using Kernel = CUpti_ActivityKernel10;
#else
  using Kernel = CUpti_ActivityKernel9;
#endif

  struct Activity
  {
    unsigned int range;
    const char  *kind;
    unsigned int stream;
    uint64_t     begin, end;
    std::string  name;
  };

  struct Recorder
  {
    CUpti_SubscriberHandle subscriber = nullptr;
    std::mutex             mutex; // records arrive in a thread of CUPTI
    std::vector<Activity>  activities;
    unsigned int           n_ranges = 0;
    bool                   inside   = false;
  };

  // It lives until the end of the process, in which CUPTI may still call.
  Recorder &
  recorder()
  {
    static Recorder *const recorder = new Recorder;
    return *recorder;
  }

  void
  check(const CUptiResult result, const char *what)
  {
    if (result == CUPTI_SUCCESS)
      return;
    const char *text = nullptr;
    cuptiGetResultString(result, &text);
    std::fprintf(stderr,
                 "kernel_times: %s failed: %s.\n",
                 what,
                 text == nullptr ? "unknown error" : text);
    std::exit(1);
  }

  std::string
  short_name(const char *mangled)
  {
    int         status = 0;
    char *const text = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
    std::string name = status == 0 ? text : mangled;
    std::free(text);
    const std::string unnamed = "(anonymous namespace)::";
    for (auto at = name.find(unnamed); at != std::string::npos;
         at      = name.find(unnamed))
      name.erase(at, unnamed.size());
    // Names of functions follow the last colon in front of their arguments, and
    // a type in front of templates; unnamed namespaces have parentheses, too.
    const std::string front = name.substr(0, name.find_first_of("<("));
    const auto        begin = front.find_last_of(": ");
    return begin == std::string::npos ? front : front.substr(begin + 1);
  }

  void
  add(Recorder          &r,
      const char        *kind,
      const unsigned int stream,
      const uint64_t     begin,
      const uint64_t     end,
      const std::string &name)
  {
    if (r.inside)
      r.activities.push_back({r.n_ranges, kind, stream, begin, end, name});
  }

  void CUPTIAPI
  give_buffer(uint8_t **buffer, size_t *size, size_t *max_records)
  {
    *size        = size_t(8) << 20;
    *buffer      = static_cast<uint8_t *>(std::aligned_alloc(8, *size));
    *max_records = 0;
  }

  void CUPTIAPI
  take_buffer(CUcontext, uint32_t, uint8_t *buffer, size_t, size_t size)
  {
    Recorder                         &r = recorder();
    const std::lock_guard<std::mutex> lock(r.mutex);
    CUpti_Activity                   *record = nullptr;
    while (cuptiActivityGetNextRecord(buffer, size, &record) == CUPTI_SUCCESS)
      if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
        {
          const auto *k = reinterpret_cast<const Kernel *>(record);
          add(r, "kernel", k->streamId, k->start, k->end, short_name(k->name));
        }
      else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY)
        {
          const auto *c =
            reinterpret_cast<const CUpti_ActivityMemcpy6 *>(record);
          add(r, "copy", c->streamId, c->start, c->end, "copy");
        }
      else if (record->kind == CUPTI_ACTIVITY_KIND_MEMSET)
        {
          const auto *f =
            reinterpret_cast<const CUpti_ActivityMemset4 *>(record);
          add(r, "fill", f->streamId, f->start, f->end, "fill");
        }
    std::free(buffer);
  }

  // Delivers all records so far.
  void
  flush()
  {
    check(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED),
          "delivery of records");
  }

  void
  set_inside(const bool inside)
  {
    Recorder                         &r = recorder();
    const std::lock_guard<std::mutex> lock(r.mutex);
    r.inside = inside;
    r.n_ranges += inside;
  }

  void CUPTIAPI
  on_call(void *,
          const CUpti_CallbackDomain domain,
          const CUpti_CallbackId     id,
          const void                *data)
  {
    if (domain != CUPTI_CB_DOMAIN_DRIVER_API)
      return;
    const auto *call = static_cast<const CUpti_CallbackData *>(data);
    if (id == CUPTI_DRIVER_TRACE_CBID_cuProfilerStart &&
        call->callbackSite == CUPTI_API_EXIT)
      {
        flush();
        set_inside(true);
      }
    if (id == CUPTI_DRIVER_TRACE_CBID_cuProfilerStop &&
        call->callbackSite == CUPTI_API_ENTER)
      {
        flush();
        set_inside(false);
      }
  }

  void
  write()
  {
    Recorder                         &r = recorder();
    const std::lock_guard<std::mutex> lock(r.mutex);
    const char *const                 wanted = std::getenv("KERNEL_TIMES");
    const std::string name = wanted == nullptr ? "kernel_times.csv" : wanted;
    std::FILE *const  file = std::fopen(name.c_str(), "w");
    if (file == nullptr)
      {
        std::fprintf(stderr, "kernel_times: cannot write %s.\n", name.c_str());
        return;
      }
    std::fprintf(file, "range,kind,stream,begin,end,name\n");
    for (const Activity &a : r.activities)
      std::fprintf(file,
                   "%u,%s,%u,%llu,%llu,%s\n",
                   a.range,
                   a.kind,
                   a.stream,
                   static_cast<unsigned long long>(a.begin),
                   static_cast<unsigned long long>(a.end),
                   a.name.c_str());
    std::fclose(file);
    std::fprintf(stderr,
                 "kernel_times: %zu activities in %u ranges, in %s.\n",
                 r.activities.size(),
                 r.n_ranges,
                 name.c_str());
  }
} // namespace

// The driver calls this function before the program uses the device.
extern "C" int
InitializeInjection()
{
  Recorder &r = recorder();
  check(cuptiActivityRegisterCallbacks(give_buffer, take_buffer),
        "registration");
  for (const CUpti_ActivityKind kind : {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                        CUPTI_ACTIVITY_KIND_MEMCPY,
                                        CUPTI_ACTIVITY_KIND_MEMSET})
    check(cuptiActivityEnable(kind), "recording");
  check(cuptiSubscribe(&r.subscriber, on_call, nullptr), "subscription");
  for (const CUpti_CallbackId id : {CUPTI_DRIVER_TRACE_CBID_cuProfilerStart,
                                    CUPTI_DRIVER_TRACE_CBID_cuProfilerStop})
    check(cuptiEnableCallback(1, r.subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id),
          "subscription");
  if (std::getenv("KERNEL_TIMES_ALL") != nullptr)
    {
      set_inside(true);
      std::atexit([]() {
        flush();
        write();
      });
    }
  else
    std::atexit(write);
  return 1;
}
