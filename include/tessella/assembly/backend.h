// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
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

  /**
   * How a CUDA device assembles. The two algorithms of Z. Dong, E. H.
   * Georgoulis and T. Kappas, GPU-accelerated discontinuous Galerkin methods on
   * polytopic meshes, SIAM J. Sci. Comput. 43 (2021), are there to be measured
   * side by side with the library's own: they need Backend::cuda, sub-cells and
   * facets that are simplices, and double precision.
   */
  enum class AssemblyStrategy
  {
    /// The library's own: every polytope computes its block row, see
    /// PolytopicAssembler.
    block_rows,
    /**
     * Approach 1 of the paper (section 3.3): one thread a simplex (sub-cell or
     * facet) writes all entries of its contributions as triples of row, column
     * and value, without regard to what other simplices write; then the triples
     * are sorted by (row, column) and equal ones are added up. The sort is
     * stable: same input, same bits. Memory: 33 bytes a triple, of which a
     * sub-cell of a polytope with N functions has N^2 and an interior facet
     * 4 N^2, and 12 bytes an entry of the matrix; if that is too much the
     * polytopes are processed in parts.
     */
    coordinate_sort,
    /**
     * Approach 2 (section 3.4): the pattern of the matrix is there beforehand,
     * as compressed rows with a column index an entry; one thread a simplex
     * finds the place of each entry by binary search in its row and adds to it
     * atomically. The order of these additions varies, and hence the last bits
     * of the results do, from run to run. Memory: 12 bytes an entry.
     */
    precomputed_pattern
  };

  /// Name for reports and parameters: "block_rows", "coordinate_sort",
  /// "precomputed_pattern".
  std::string
  name(const AssemblyStrategy strategy);

  /// The three names with | between them, as dealii::Patterns::Selection wants
  /// them.
  std::string
  assembly_strategy_names();

  /// The strategy of a name; ExcUserInput if there is none.
  AssemblyStrategy
  assembly_strategy(const std::string &name);

  /// Time that the kernels of one name took in an assembly.
  struct KernelTime
  {
    std::string name;
    double      seconds = 0.;
  };

  /// Whether the library was built with CUDA and finds a device.
  bool
  cuda_is_available();

  /// Why it is not, as a sentence (no driver, an old driver, no device, one
  /// older than compute capability 7.5, a build without CUDA); empty if it is.
  std::string
  why_cuda_is_unavailable();

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
