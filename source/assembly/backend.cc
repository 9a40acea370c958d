// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <tessella/assembly/backend.h>
#include <tessella/base/exceptions.h>

#ifdef TESSELLA_HAVE_CUDA
#  include "../../cuda/device.h"
#endif

namespace Tessella
{
  InstructionSet
  best_instruction_set()
  {
#ifdef TESSELLA_HAVE_AVX512
    if (__builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
      return InstructionSet::avx512;
#endif
#ifdef TESSELLA_HAVE_AVX2
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
      return InstructionSet::avx2;
#endif
    return InstructionSet::plain;
  }



  std::string
  name(const InstructionSet instruction_set)
  {
    switch (instruction_set)
      {
        case InstructionSet::plain:
          return "plain";
        case InstructionSet::avx2:
          return "AVX2";
        case InstructionSet::avx512:
          return "AVX-512";
        default:
          return "automatic";
      }
  }



  std::string
  name(const Backend backend)
  {
    return backend == Backend::host   ? "host"
           : backend == Backend::cuda ? "CUDA"
                                      : "automatic";
  }



  std::string
  name(const AssemblyStrategy strategy)
  {
    return strategy == AssemblyStrategy::coordinate_sort ? "coordinate_sort"
           : strategy == AssemblyStrategy::precomputed_pattern
             ? "precomputed_pattern"
             : "block_rows";
  }



  std::string
  assembly_strategy_names()
  {
    return name(AssemblyStrategy::block_rows) + "|" +
           name(AssemblyStrategy::coordinate_sort) + "|" +
           name(AssemblyStrategy::precomputed_pattern);
  }



  AssemblyStrategy
  assembly_strategy(const std::string &wanted)
  {
    for (const AssemblyStrategy strategy :
         {AssemblyStrategy::block_rows,
          AssemblyStrategy::coordinate_sort,
          AssemblyStrategy::precomputed_pattern})
      if (wanted == name(strategy))
        return strategy;
    AssertThrow(false,
                ExcUserInput("There is no assembly strategy '" + wanted +
                             "': use one of " + assembly_strategy_names() +
                             "."));
    return AssemblyStrategy::block_rows;
  }



  bool
  cuda_is_available()
  {
#ifdef TESSELLA_HAVE_CUDA
    return internal::Device::n_devices() > 0;
#else
    return false;
#endif
  }



  std::string
  why_cuda_is_unavailable()
  {
#ifdef TESSELLA_HAVE_CUDA
    return internal::Device::why_unavailable();
#else
    return "This build of Tessella has no CUDA backend.";
#endif
  }



  DeviceRates
  measure_device_rates()
  {
    DeviceRates rates;
#ifdef TESSELLA_HAVE_CUDA
    if (cuda_is_available())
      {
        const internal::Device::Rates measured =
          internal::Device::measure_rates();
        rates.flops     = measured.flops;
        rates.bandwidth = measured.bandwidth;
        rates.download  = measured.download;
      }
#endif
    return rates;
  }



  std::string
  cuda_device_name()
  {
#ifdef TESSELLA_HAVE_CUDA
    if (cuda_is_available())
      return internal::Device::device_name();
#endif
    return "";
  }
} // namespace Tessella
