// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_assembly_strategy_h
#define tessella_applications_assembly_strategy_h

#include <string>

namespace Tessella
{
  namespace Application
  {
    /**
     * Strategy by which a CUDA device assembles. Besides the library's own one,
     * these are two algorithms of Dong, Georgoulis and Kappas for comparisons,
     * see PaperAssembler. They need sub-cells and facets that are simplices,
     * and double precision.
     */
    enum class AssemblyStrategy
    {
      /// Every polytope computes its block row, see PolytopicAssembler.
      block_rows,
      /// Approach 1: all contributions are written as triples of row, column
      /// and value, sorted, and added up. Same input, same bits.
      coordinate_sort,
      /// Approach 2: contributions are added atomically to a pattern that is
      /// computed first. The last bits vary from run to run.
      precomputed_pattern
    };

    /// Name for reports and parameters: "block_rows", "coordinate_sort",
    /// "precomputed_pattern".
    std::string
    name(const AssemblyStrategy strategy);

    /// All three names, separated by "|", as dealii::Patterns::Selection needs
    /// them.
    std::string
    assembly_strategy_names();

    /// Strategy with the given name; throws ExcUserInput if there is none.
    AssemblyStrategy
    assembly_strategy(const std::string &name);
  } // namespace Application
} // namespace Tessella

#endif
