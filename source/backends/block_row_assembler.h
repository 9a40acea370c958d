// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_backends_block_row_assembler_h
#define tessella_source_backends_block_row_assembler_h

#include <deal.II/base/aligned_vector.h>

#include <tessella/forms/form.h>
#include <tessella/grid/polytopic_mesh.h>
#include <tessella/lac/block_sparsity.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "diffusion_values.h"
#include "facet_points.h"
#include "facet_values.h"
#include "host_kernels.h"
#include "host_points.h"

namespace Tessella
{
  namespace internal
  {
    /// A scalar form that BlockRowAssembler evaluates: one pair of components
    /// of a system. All objects must outlive the assembler.
    template <int dim>
    struct BlockRowPart
    {
      const Form<dim> *form;
      /// Positions of its blocks, see pair_sparsity(); those of different parts
      /// differ in column_offset only.
      const BlockSparsity       *sparsity;
      const std::vector<double> *sigma;
      unsigned int               test; ///< component of the test function
      bool                       rhs;  ///< compute its right-hand side
    };



    /**
     * Computes block rows one after the other. Each task has its own object,
     * which owns the buffers. Quadrature points of all sub-cells of a polytope,
     * and then of all its facets, are gathered in batches. The form is
     * evaluated on a batch and the basis functions on slices of it; blocks are
     * sums of products over points. Points on facets are grouped by interface,
     * and each group is padded to whole vectors, so that the product of a group
     * is the contribution of its interface to one off-diagonal block.
     *
     * A system has several parts, one for each pair of components. Points and
     * basis functions, of the polytope and of its neighbours, are evaluated
     * once for all of them.
     */
    template <int dim>
    class BlockRowAssembler
    {
    public:
      /// The last arguments have values that largest_diffusion() stored and
      /// terms on interior facets of these rows; both may be null.
      BlockRowAssembler(const HostProblem<dim>           &problem,
                        const BlockSparsity              &sparsity,
                        const std::vector<double>        &sigma,
                        const std::vector<unsigned char> &exponents,
                        const bool                        tensor_product,
                        const bool                        matrix,
                        const bool                        rhs,
                        const DiffusionValues<dim>       *diffusion,
                        const FacetValues<dim>           *facet_values);

      /// The same for several forms. That of @p problem is not used.
      BlockRowAssembler(const HostProblem<dim>               &problem,
                        const std::vector<BlockRowPart<dim>> &parts,
                        const std::vector<unsigned char>     &exponents,
                        const bool                            tensor_product,
                        const bool                            matrix);

      // Computes block row k: the values (the row stride is the width of the
      // block row) and the entries of the right-hand side, both of all
      // components of the test function. What the parts have is overwritten.
      void
      assemble(const unsigned int k, double *values, double *rhs);

    private:
      // The block row that is computed.
      struct Row
      {
        unsigned int       k;
        HostKernels::Space element;
        unsigned int       width;
      };

      // A part with its arrays and the destination of the present row.
      struct Part : public BlockRowPart<dim>
      {
        Part(const BlockRowPart<dim> &part, const bool matrix)
          : BlockRowPart<dim>(part)
          , volume(part.form->volume_structure())
          , facet(part.form->facet_structure())
          , volume_matrix(matrix && (volume.diffusion != DiffusionType::none ||
                                     volume.beta || volume.b || volume.c))
        {}

        VolumeStructure volume;
        FacetStructure  facet;
        bool            volume_matrix;
        // Arrays that the form fills, and those that kernels read.
        dealii::AlignedVector<double>        volume_memory, facet_memory;
        VolumeBlocks<dim>                    volume_blocks;
        HostKernels::VolumeCoefficients<dim> volume_coefficients;
        FacetBlocks<dim>                     facet_blocks;

        double *values, *diagonal, *f;
        // Column of the last off-diagonal block that was written, and whether
        // the diagonal block was written: the first contribution overwrites a
        // block.
        unsigned int current_block_column;
        bool         diagonal_touched;
      };

      // Points [q, q + m) of the facet buffer, and rows of own functions there
      // at a constant distance, since every product uses two of them: test flux
      // beta_0.grad, value, gradient, trial row of the diagonal block, and test
      // flux beta_1.grad towards the neighbour.
      struct FacetSlice
      {
        unsigned int q, m, stride;
        double      *flux, *value, *trial, *flux_to_neighbor;
      };

      using Segment = typename FacetPointBuffer<dim>::Segment;

      // Points [begin, end) of the facet buffer, all of a segment or those in a
      // slice, and the block of the neighbour. Its functions there have rows at
      // a constant distance: trial row, value, gradient.
      struct SegmentRange
      {
        const Segment     *segment;
        unsigned int       begin, end;
        std::uint64_t      block;
        HostKernels::Space element;
        double            *rows;
      };

      // ---- arrays, once
      void
      allocate_basis();
      void
      allocate_volume_blocks(Part &part);
      void
      allocate_facet_blocks(Part &part);
      // Evaluates constant coefficients, which are not evaluated again.
      void
      evaluate_constant_volume(Part &part);

      // ---- begin and end of a row
      void
      start_row(const Row &row, Part &part, double *values, double *rhs);
      void
      finish_row(const Row &row, Part &part);

      // ---- volume
      void
      assemble_volume(const Row &row);
      // Evaluates the form at the points of the buffer. Point `first` of the
      // polytope is the first one there.
      void
      evaluate_volume_form(Part               &part,
                           const unsigned int  k,
                           const unsigned int  n_points,
                           const std::uint64_t first);
      // Adds the terms of points [q, q + m), at which the basis is known.
      void
      add_volume_matrix(const Row         &row,
                        Part              &part,
                        const unsigned int q,
                        const unsigned int m);
      void
      add_volume_rhs(const Row         &row,
                     Part              &part,
                     const unsigned int q,
                     const unsigned int m);

      // ---- facets
      void
      assemble_facets(const Row &row);
      void
      process_facet_points(const Row &row);
      void
      evaluate_facet_form(Part &part);
      // The same for points [begin, end), which have one boundary id.
      void
      evaluate_facet_form(Part              &part,
                          const unsigned int begin,
                          const unsigned int end,
                          const unsigned int boundary_id);
      // Evaluates own functions.
      FacetSlice
      evaluate_slice(const Row         &row,
                     const unsigned int q,
                     const unsigned int m);
      // Computes the rows of own functions that depend on the form.
      void
      set_rows(const Row &row, const Part &part, const FacetSlice &slice);
      // The segment's points in a slice. Functions of the neighbour are
      // evaluated at `rows`.
      SegmentRange
      evaluate_neighbor(const Row        &row,
                        const FacetSlice &slice,
                        const Segment    &segment,
                        double           *rows,
                        std::uint64_t    &block);
      void
      add_to_diagonal(const Row &row, Part &part, const FacetSlice &slice);
      // Adds the terms of a segment to the block of the neighbour or to the
      // right-hand side.
      void
      add_segment(const Row          &row,
                  Part               &part,
                  const FacetSlice   &slice,
                  const SegmentRange &range);
      void
      add_to_neighbor(const Row          &row,
                      Part               &part,
                      const FacetSlice   &slice,
                      const SegmentRange &range);
      void
      add_facet_rhs(const Row         &row,
                    Part              &part,
                    const FacetSlice  &slice,
                    const unsigned int begin,
                    const unsigned int end);

      // Block of row k with the columns of polytope j; searched for from block
      // `from` of the row on.
      std::uint64_t
      find_block(const unsigned int  k,
                 const unsigned int  j,
                 const std::uint64_t from) const;

      HostKernels::Space
      space(const unsigned int k) const
      {
        return {dofs.degree[k],
                dofs.n_basis[k],
                exponents.data(),
                &mesh.box[2 * dim * k],
                tensor_product};
      }

      // Number of points in a slice for which basis and trial rows fit into the
      // cache.
      unsigned int
      slice_size(const unsigned int n_functions) const
      {
        const unsigned int n = 16384 / ((dim + 1) * n_functions) /
                               HostKernels::padding * HostKernels::padding;
        return std::min(256u, std::max(32u, n));
      }

      const PolytopicMesh<dim>         &mesh;
      const PolytopicDoFs              &dofs;
      const HostRules<dim>             &rules;
      const HostKernels::Kernels<dim>  &kernels;
      const std::vector<unsigned char> &exponents;
      const bool                        tensor_product;
      const bool                        want_matrix;
      std::vector<Part>                 parts;
      // The first part; its sparsity finds blocks.
      const BlockSparsity &sparsity;
      bool                 any_facets = false, any_rhs = false;
      // Whether parts have different sigma.
      bool several_sigma = false;
      // Diffusion values from the computation of the penalty, or null.
      const DiffusionValues<dim> *diffusion;

      VolumePointBuffer<dim> volume_points;
      FacetPointBuffer<dim>  facet_points;
      // Terms on interior facets, or null.
      const FacetValues<dim>       *facet_values;
      dealii::AlignedVector<double> basis, rows, other, one;
      std::vector<SegmentRange>     ranges;
    };
  } // namespace internal
} // namespace Tessella

#endif
