// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_backends_assembly_strategy_h
#define tessella_backends_assembly_strategy_h

#include <string>

namespace Tessella
{
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
} // namespace Tessella

#endif
