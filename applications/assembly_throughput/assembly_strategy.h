// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_assembly_strategy_h
#define tessella_applications_assembly_strategy_h

#include <string>

namespace Tessella
{
  namespace Application
  {
    /**
     * Strategy by which a CUDA device assembles. Besides the library's own
     * strategy, these are the two algorithms of Z. Dong, E. H. Georgoulis and
     * T. Kappas, GPU-accelerated discontinuous Galerkin methods on polytopic
     * meshes, SIAM J. Sci. Comput. 43 (2021), for comparisons. The latter two
     * need Backend::cuda, sub-cells and facets that are simplices, and double
     * precision.
     */
    enum class AssemblyStrategy
    {
      /// The library's own strategy: every polytope computes its block row, see
      /// PolytopicAssembler.
      block_rows,
      /**
       * Approach 1 of the paper (section 3.3): one thread per simplex (sub-cell
       * or facet) writes all entries of its contributions as triples of row,
       * column and value, independently of other simplices. The triples are
       * then sorted by (row, column), and triples of the same entry are added
       * up. The sort is stable: same input, same bits. Memory: 33 bytes per
       * triple, of which a sub-cell of a polytope with N functions has N^2 and
       * an interior facet 4 N^2, and 12 bytes per entry of the matrix; if this
       * does not fit, the polytopes are processed in parts.
       */
      coordinate_sort,
      /**
       * Approach 2 (section 3.4): the pattern of the matrix is computed first,
       * as compressed rows with a column index per entry. One thread per
       * simplex finds the position of each entry by binary search in its row
       * and adds to it atomically. The order of these additions, and hence the
       * last bits of the results, vary from run to run. Memory: 12 bytes per
       * entry.
       */
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
