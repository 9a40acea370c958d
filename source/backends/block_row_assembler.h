// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_backends_block_row_assembler_h
#define tessella_source_backends_block_row_assembler_h

#include <tessella/forms/form.h>
#include <tessella/grid/polytopic_mesh.h>
#include <tessella/lac/block_sparsity.h>

#include <algorithm>
#include <vector>

#include "diffusion_values.h"
#include "host_kernels.h"
#include "host_points.h"

namespace Tessella
{
  namespace internal
  {
    /**
     * Computes block rows one after the other. Each task has its own object,
     * which owns the buffers. Quadrature points of all sub-cells of a polytope,
     * and then of all its facets, are gathered in batches. The form is
     * evaluated on a batch and the basis functions on slices of it; blocks are
     * sums of products over points. Points on facets are grouped by interface,
     * and each group is padded to whole vectors, so that the product of a group
     * is the contribution of its interface to one off-diagonal block.
     */
    template <int dim>
    class BlockRowAssembler
    {
    public:
      BlockRowAssembler(const PolytopicMesh<dim>         &mesh,
                        const BlockSparsity              &sparsity,
                        const Form<dim>                  &form,
                        const std::vector<double>        &sigma,
                        const HostRules<dim>             &rules,
                        const HostKernels::Kernels<dim>  &kernels,
                        const std::vector<unsigned char> &exponents,
                        const bool                        tensor_product,
                        const bool                        matrix,
                        const bool                        rhs,
                        const DiffusionValues<dim>       *diffusion);

      // Computes block row k: the values (the row stride is the width of the
      // block row) and the entries of the right-hand side. Both are
      // overwritten.
      void
      assemble(const unsigned int k, double *values, double *rhs);

    private:
      // Consecutive points in the facet buffer on the same interface.
      struct Segment
      {
        unsigned int neighbor;
        unsigned int boundary_id;
        unsigned int begin, end;
      };

      void
      assemble_volume(const unsigned int k, double *diagonal, double *rhs);

      void
      assemble_facets(const unsigned int k, double *values, double *rhs);

      // Appends the points of a facet, for a tabulated facet from `point` on.
      // Returns false if the buffer was full before the end of the facet.
      bool
      append_facet(const unsigned int facet,
                   const unsigned int side,
                   const unsigned int degree,
                   const double      *shift,
                   unsigned int      &point);

      void
      pad_facet_points();

      void
      evaluate_form_on_facets();

      void
      process_facet_points(const unsigned int k, double *values, double *rhs);

      HostKernels::Space
      space(const unsigned int k) const
      {
        return {mesh.degree[k],
                mesh.n_basis[k],
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
      const BlockSparsity              &sparsity;
      const Form<dim>                  &form;
      const std::vector<double>        &sigma;
      const HostRules<dim>             &rules;
      const HostKernels::Kernels<dim>  &kernels;
      const std::vector<unsigned char> &exponents;
      const bool                        tensor_product;
      const bool                        want_matrix, want_rhs;
      const VolumeStructure             volume_structure;
      const FacetStructure              facet_structure;
      // Diffusion values from the computation of the penalty, or null.
      const DiffusionValues<dim> *diffusion;

      VolumePointBuffer<dim> volume_points;
      std::vector<double>    volume_memory, facet_memory, basis, rows, other;
      VolumeBlocks<dim>      volume_blocks;
      HostKernels::VolumeCoefficients<dim> volume_coefficients;

      // Facet points: coordinates x and those on the other side of a periodic
      // boundary, normals and weights w.
      const unsigned int        facet_capacity;
      unsigned int              n_facet_points = 0;
      double                   *x[dim], *neighbor_x[dim], *normal[dim], *w;
      double                   *point_sigma;
      FacetBlocks<dim>          facet_blocks;
      std::vector<unsigned int> subcells, materials, neighbor_subcells,
        neighbor_materials;
      std::vector<Segment> segments;
      const bool           periodic; // whether an interface has a shift
      // column of the last off-diagonal block that was written, and whether the
      // diagonal block was written: the first contribution overwrites a block
      unsigned int current_block_column = invalid_index;
      bool         diagonal_touched     = false;
    };



  } // namespace internal
} // namespace Tessella

#endif
