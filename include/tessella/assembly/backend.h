// SPDX-License-Identifier: LGPL-2.1-or-later
#ifndef tessella_assembly_backend_h
#define tessella_assembly_backend_h

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

  /// Whether the library was built with CUDA and finds a device.
  bool
  cuda_is_available();

  /// What a CUDA device can do at most, as a yardstick for measured times.
  struct DeviceRates
  {
    double flops     = 0.; ///< double precision products, operations/second
    double bandwidth = 0.; ///< memory, bytes read and written per second
    double download  = 0.; ///< copies into pinned host memory, bytes/second
  };

  /// Measures the current device; zeros without one.
  DeviceRates
  measure_device_rates();

  /// Name and compute capability of the current device; empty without one.
  std::string
  cuda_device_name();
} // namespace Tessella

#endif
