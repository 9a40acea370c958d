// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_base_backend_h
#define tessella_base_backend_h

#include <tessella/base/config.h>

#include <string>

namespace Tessella
{
  /// Where assembly runs.
  enum class Backend
  {
    automatic, ///< cuda where the build and the machine have it, else host
    host,      ///< threads and SIMD
    cuda       ///< a CUDA device; an error where there is none
  };

  /// Instruction set of the host kernels. The same one gives the same bits on
  /// every machine.
  enum class InstructionSet
  {
    automatic, ///< the widest that the processor has
    plain,     ///< what every x86-64 (or other) processor has
    avx2,
    avx512
  };

  /// The widest instruction set that this processor and build have.
  InstructionSet
  best_instruction_set();

  /// Name for reports and parameters: "plain", "AVX2", "AVX-512".
  std::string
  name(const InstructionSet instruction_set);

  std::string
  name(const Backend backend);

  /// Time that the kernels of one name took in an assembly.
  struct KernelTime
  {
    std::string name;
    double      seconds = 0.;
  };

} // namespace Tessella

#endif
