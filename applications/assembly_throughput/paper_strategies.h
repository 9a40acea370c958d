// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_applications_paper_strategies_h
#define tessella_applications_paper_strategies_h

#include <tessella/grid/polytopic_dofs.h>
#include <tessella/grid/polytopic_mesh.h>
#include <tessella/lac/block_sparsity.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "../../cuda/backends/assembly.h"
#include "assembly_strategy.h"

namespace Tessella
{
  namespace Application
  {
    /// Quadrature rules of reference simplices, by degree: the coordinates
    /// and the weight of each point, point by point.
    struct SimplexRules
    {
      struct Rule
      {
        std::size_t  offset   = 0; ///< index of the first value in data
        unsigned int n_points = 0;
      };

      Rule                subcell[11], facet[11];
      std::vector<double> data;
    };

    /// Problem of a PaperAssembler. References must outlive it.
    template <int dim>
    struct PaperInput
    {
      const AssemblyStrategy strategy;
      /// All sub-cells and facets must be simplices.
      const PolytopicMesh<dim>        &mesh;
      const PolytopicDoFs             &dofs;
      const BlockSparsity             &sparsity;
      const SimplexRules               rules;
      const std::vector<unsigned char> exponents;
      const internal::Device::Parallel parallel;
      /// Number of bytes to use on the device; 0: all free memory.
      const std::size_t memory;
    };

    /**
     * The two algorithms of Z. Dong, E. H. Georgoulis and T. Kappas,
     * GPU-accelerated discontinuous Galerkin methods on polytopic meshes, SIAM
     * J. Sci. Comput. 43 (2021), for comparison with the library's
     * Device::Assembler. AssemblyStrategy::coordinate_sort is their approach 1
     * (section 3.3), AssemblyStrategy::precomputed_pattern their approach 2
     * (section 3.4).
     *
     * <b>Common properties</b> (section 3.1). One thread computes all
     * contributions of one simplex: a sub-cell in the kernel of elements, a
     * facet in those of interior and boundary facets. Sub-cells are grouped
     * by the degree of their polytope, facets by the larger degree of their
     * two sides, with one launch per group. Loops are nested as in algorithm
     * 3.1: trial functions outermost, then test functions, quadrature points
     * innermost. In the innermost loop, a point is mapped from the reference
     * simplex to the bounding boxes, and the Legendre polynomials and their
     * derivatives are evaluated by Horner's rule, for every pair of functions
     * anew. An interior facet contributes to four blocks, which are computed
     * in one pass over its points. As in the paper (remark 3.1), one kernel
     * serves all degrees. Coefficients of polynomials and the reference rule
     * are in constant memory; a rule of more than 56 KiB stays in global
     * memory.
     *
     * <b>Approach 1</b>: every thread writes triples of row, column and
     * value; neighbouring threads write to neighbouring addresses. Row and
     * column form a key of 64 bits. All triples are sorted by it (stable
     * radix sort), and one thread per entry sums up the triples of the entry
     * in order: the same input yields the same bits.
     *
     * <b>Approach 2</b>: the pattern is expanded to one column index per
     * entry beforehand. For each value, a binary search in its row finds the
     * position, to which the value is added atomically. The order of these
     * additions, and hence the last bits of results, vary from run to run.
     *
     * <b>Differences from the paper.</b> Varying coefficients are not
     * functions inside the kernels but tables, as for the other strategies.
     * The tables are reordered on the device so that neighbouring threads
     * read neighbouring entries; every pair of functions reads them again.
     * Comparisons with constant coefficients are free of that cost. All
     * boundary conditions share one kernel. The right-hand side is computed
     * by kernels of the same kind.
     *
     * <b>Cost.</b> With N functions of degree p, about (50 + 6 p) N^2
     * operations per point of a sub-cell in 3-D, and twice that per point of
     * an interior facet. Memory: 33 bytes per triple (N^2 triples of a
     * sub-cell, 4 N^2 of an interior facet, N^2 of a boundary facet) and 12
     * bytes per matrix entry in approach 1, 12 bytes per entry in approach 2.
     * If the memory does not suffice, the polytopes are processed in parts,
     * each with all simplices that contribute to its rows.
     */
    template <int dim>
    class PaperAssembler
    {
    public:
      /// Computes the volume and facet tables of a chunk.
      using Tabulate = std::function<
        void(const internal::Device::Chunk &, double *, double *)>;

      explicit PaperAssembler(const PaperInput<dim> &input);
      ~PaperAssembler();

      /// Like Device::Assembler::assemble(), with the penalty sigma of all
      /// facets. Only one call at a time runs in a process, since constant
      /// memory is shared.
      internal::Device::Times
      assemble(const internal::Device::FormData<dim>  &form,
               const double                           *sigma,
               const Tabulate                         &tabulate,
               const internal::AssemblyTarget<double> &target);

      /// Positions of the points for the form that is being assembled; there
      /// are no packed tables.
      internal::Device::PointPositions
      points() const;

    private:
      struct Implementation;
      std::unique_ptr<Implementation> implementation;
    };
  } // namespace Application
} // namespace Tessella

#endif
