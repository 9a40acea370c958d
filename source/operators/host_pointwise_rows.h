// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_operators_host_pointwise_rows_h
#define tessella_source_operators_host_pointwise_rows_h

#include <tessella/forms/pointwise_integrand.h>
#include <tessella/lac/block_sparsity.h>

#include <memory>
#include <optional>
#include <vector>

#include "../backends/facet_points.h"
#include "../backends/host_kernels.h"
#include "../backends/host_points.h"
#include "host_block_kernels.h"
#include "operator_bases.h"
#include "pointwise_context.h"

namespace Tessella
{
  namespace internal
  {
    /// A pointwise operator with its arguments, and what the host evaluates it
    /// with. All objects must outlive this one.
    template <int dim>
    struct HostPointwiseProblem
    {
      const PointwiseContext<dim>     &context;
      const PointwiseIntegrand<dim>   &integrand;
      const OperatorBases<dim>        &bases;
      const HostRules<dim>            &rules;
      const HostKernels::Kernels<dim> &kernels;
      HostBlockKernels::AddBlock       add_block;
      /// OperatorPoint::h of each polytope.
      const std::vector<double> &lengths;
      /// Coefficients of each field, ghosts included.
      std::vector<const double *> fields;
      /// The field of a tangent or Jacobian, and the direction of a tangent;
      /// null for a residual.
      unsigned int  field     = 0;
      const double *direction = nullptr;
    };



    /**
     * Computes the rows of a pointwise operator for one polytope after the
     * other. Each task has its own object, which owns the buffers.
     *
     * Quadrature points of all sub-cells of a polytope, and then of its facets,
     * are gathered in batches and processed in slices whose data fit into the
     * cache: evaluation of the bases, of the fields, of the integrand, and
     * integration against the test functions. Points on a facet are seen from
     * side 0 for both of its owners.
     */
    template <int dim>
    class HostPointwiseRows
    {
    public:
      /// Result that the object computes.
      enum class Result
      {
        terms, ///< residual, tangent or integrals
        jacobian
      };

      HostPointwiseRows(const HostPointwiseProblem<dim> &problem,
                        const Result                     result);

      /// Whether the buffers are also those of another problem with the same
      /// context, bases, rules and kernels, and of this result.
      bool
      fits(const HostPointwiseProblem<dim> &other, const Result result) const;

      /// Computes another problem, which fits, from now on. Cost: nothing is
      /// allocated.
      void
      restart(const HostPointwiseProblem<dim> &other);

      /// Entries of polytope k of the residual, or of the tangent if the
      /// problem has a direction.
      void
      compute_vector(const unsigned int k, double *result);

      /// Throws an exception that names a point at which a term of polytope k,
      /// or a derivative of one, is not finite. @p sparsity: that of
      /// compute_block_row(), or null for other results.
      [[noreturn]] void
      throw_not_finite(const unsigned int k, const BlockSparsity *sparsity);

      /// Block row k of the Jacobian with respect to a field in any space. The
      /// columns have the layout of @p sparsity, that of the field.
      void
      compute_block_row(const unsigned int   k,
                        const BlockSparsity &sparsity,
                        double              *values);

      /// Diagonal block k of the Jacobian, row by row.
      void
      compute_diagonal_block(const unsigned int k, double *block);

      /// Integrals of r.value over polytope k, for each component.
      void
      compute_volume_integrals(const unsigned int k, double *integrals);

      /// Integrals of r.value for each entry of PolytopicMesh::
      /// polytope_interface of polytope k at the boundary; others are not set.
      void
      compute_boundary_integrals(const unsigned int k, double *integrals);

    private:
      using Structure = typename PointwiseIntegrand<dim>::Structure;

      // Rows of values and gradients that are used, as a range.
      struct RowRange
      {
        explicit RowRange(const unsigned int rows)
          : begin((rows & PointwiseRows::values) != 0 ? 0 : 1)
          , end((rows & PointwiseRows::gradients) != 0 ? dim + 1 : 1)
        {}
        unsigned int
        n() const
        {
          return end > begin ? end - begin : 0;
        }
        unsigned int begin, end;
      };

      // Consecutive points of a slice on one interface, or in the polytope.
      struct Part
      {
        unsigned int    begin, end; // in the slice
        PointwiseRegion region;
        unsigned int    side; // of the polytope whose rows are computed
        unsigned int    neighbor;
        unsigned int    entry; // of PolytopicMesh::polytope_interface
      };

      // Points that are processed together. Arrays of fields and terms begin
      // with the first one.
      struct Slice
      {
        unsigned int              k, n;
        const double             *x[dim], *neighbor_x[dim], *w;
        const OperatorPoint<dim> *points;
        unsigned int              input, output;
        std::vector<Part>         parts;
        // Bases of the polytope and of its neighbours: function i, row r and
        // point q at [(i (dim + 1) + r) n + q].
        std::vector<double *> basis, neighbor_basis;
      };

      // Destination of a Jacobian.
      struct Blocks
      {
        const BlockSparsity *sparsity; // null: the diagonal block only
        double              *values;
        unsigned long        width;
      };

      // ---- arrays, once
      void
      allocate();
      double *
      next(const std::size_t n);

      // ---- points; process() is called with each slice
      template <typename Process>
      void
      for_volume_slices(const unsigned int k, const Process &process);
      template <typename Process>
      void
      for_facet_slices(const unsigned int k,
                       const bool         interior,
                       const bool         boundary,
                       const Process     &process);
      // Processes the points of the facet buffer and clears it.
      template <typename Process>
      void
      process_facet_points(const unsigned int k, const Process &process);
      void
      append_facet(const unsigned int facet,
                   const unsigned int interface,
                   const unsigned int degree,
                   unsigned int      &point,
                   bool              &finished);
      void
      set_facet_points(const unsigned int n);
      void
      set_volume_points(const unsigned int k, const unsigned int n);
      // Number of points of a slice.
      unsigned int
      slice_size(const unsigned int max_functions) const;

      // ---- evaluation at the points of a slice
      void
      evaluate_bases();
      // Rows of all fields, or of one with other coefficients.
      void
      evaluate_fields();
      void
      evaluate_field(const unsigned int f,
                     const double      *coefficients,
                     double            *own,
                     double            *neighbor);
      // Calls function(part) for groups of parts that one call of the integrand
      // can evaluate.
      template <typename Function>
      void
      for_calls(const Function &function) const;
      void
      evaluate_terms();
      void
      check_terms() const;
      [[noreturn]] void
      throw_at_point(const unsigned int q, const unsigned int component) const;

      // ---- Jacobian
      void
      evaluate_tables();
      void
      check_tables(const bool has_neighbor) const;
      void
      compute_blocks(const unsigned int k, const Blocks &blocks);
      void
      add_blocks(const Blocks &blocks);
      // Adds the block of points [begin, end) from a table and the basis of the
      // trial functions.
      void
      add_block(const double       *table,
                const unsigned int  begin,
                const unsigned int  end,
                const double       *trial,
                const unsigned int  n_trial,
                double             *to,
                const unsigned long width);
      // The same for few functions; returns false if there are too many.
      bool
      add_small_block(const double       *table,
                      const unsigned int  begin,
                      const unsigned int  end,
                      const double       *trial,
                      const unsigned int  n_trial,
                      double             *to,
                      const unsigned long width);
      void
      add_pair(const double       *table,
               const unsigned int  test_component,
               const unsigned int  trial_component,
               const unsigned int  begin,
               const unsigned int  end,
               const double       *trial,
               const unsigned int  n_trial,
               double             *to,
               const unsigned long width);

      // It has references, so that another one is constructed in its place.
      std::optional<HostPointwiseProblem<dim>> problem;

      const PointwiseContext<dim>     &context;
      const PolytopicMesh<dim>        &mesh;
      const HostKernels::Kernels<dim> &kernels;
      const Structure                  structure;
      const Result                     result_type;
      const unsigned int               n_inputs, n_outputs;
      double                           time;
      bool                             diagnosis = false;
      // Whether transposed_trial has the rows of the present trial functions.
      bool transposed = false;

      VolumePointBuffer<dim>          volume_points;
      FacetPointBuffer<dim>           facet_points;
      std::vector<OperatorPoint<dim>> points;
      // Entries of polytope_interface of the segments in the buffer, and the
      // facets of its points.
      std::vector<unsigned int> segment_entries, facets;

      // Arrays over the points of a slice; `pitch` is the distance between
      // those of fields and terms.
      unsigned int                           max_slice, array_pitch;
      std::vector<std::unique_ptr<double[]>> memory;
      double *own, *neighbor, *own_direction, *neighbor_direction, *terms,
        *neighbor_terms, *own_table, *neighbor_table, *factor,
        *transposed_trial, *sums;
      Slice                       slice;
      std::vector<const double *> in[2], direction[2];
      std::vector<double *>       out[2], table_pointers;
      // Rows of the field of a Jacobian, and outputs, that a slice uses.
      std::vector<unsigned int> used_rows, used_outputs;
    };
  } // namespace internal
} // namespace Tessella

#endif
