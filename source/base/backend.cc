// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

#include <tessella/base/backend.h>
#include <tessella/base/config.h>

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
    return instruction_set == InstructionSet::plain    ? "plain"
           : instruction_set == InstructionSet::avx2   ? "AVX2"
           : instruction_set == InstructionSet::avx512 ? "AVX-512"
                                                       : "automatic";
  }



  std::string
  name(const Backend backend)
  {
    return backend == Backend::host   ? "host"
           : backend == Backend::cuda ? "CUDA"
                                      : "automatic";
  }

} // namespace Tessella
