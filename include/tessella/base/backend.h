// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_base_backend_h
#define tessella_base_backend_h

#include <tessella/base/config.h>

#include <string>

namespace Tessella
{
  /// Hardware on which assembly runs.
  enum class Backend
  {
    automatic, ///< CUDA device if the build and the machine have one, else host
    host,      ///< threads and SIMD
    cuda       ///< CUDA device; without one, an exception is thrown
  };

  /// Instruction set of the host kernels. With the same instruction set,
  /// results are bitwise the same on every machine.
  enum class InstructionSet
  {
    automatic, ///< widest instruction set that the processor has
    plain,     ///< base instruction set of x86-64 or of another architecture
    avx2,
    avx512
  };

  /// Widest instruction set that both this processor and this build have.
  InstructionSet
  best_instruction_set();

  /// Name for reports and parameters: "plain", "AVX2", "AVX-512".
  std::string
  name(const InstructionSet instruction_set);

  /// Name for reports: "automatic", "host", "CUDA".
  std::string
  name(const Backend backend);

  /// Total time of all kernels of one name in an assembly.
  struct KernelTime
  {
    std::string name;
    double      seconds = 0.;
  };

} // namespace Tessella

#endif
