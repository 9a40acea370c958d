// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_backends_cuda_tabulation_h
#define tessella_source_backends_cuda_tabulation_h

#include <tessella/forms/form.h>
#include <tessella/grid/polytopic_dofs.h>
#include <tessella/grid/polytopic_mesh.h>

#include <cstdint>
#include <vector>

#include "../../cuda/backends/assembly.h"
#include "diffusion_values.h"
#include "host_kernels.h"
#include "host_points.h"

// Data of a form that the host computes for a device: constant coefficients,
// and tables of varying coefficients.

namespace Tessella
{
  namespace internal
  {
    /// Arrays of the facet table of a form whose other data are set.
    template <int dim>
    Device::FacetLayout
    make_facet_layout(const FacetStructure        &structure,
                      const Device::FormData<dim> &data);

    /// Constant coefficients, and the table layout of all other coefficients.
    template <int dim>
    Device::FormData<dim>
    make_form_data(const PolytopicMesh<dim> &mesh,
                   const Form<dim>          &form,
                   const bool                matrix,
                   const bool                rhs);

    /// Number of tabulated points that precede each sub-cell and each entry of
    /// polytope_interface, with the total at the end.
    struct TablePositions
    {
      std::vector<std::uint64_t> subcell, entry;
      /// Counterparts of entry for packed tables (Device::PackedTables).
      std::vector<std::uint64_t> interior, boundary;
    };

    template <int dim>
    TablePositions
    table_positions(const PolytopicMesh<dim>    &mesh,
                    const PolytopicDoFs         &dofs,
                    const HostRules<dim>        &rules,
                    const Device::FormData<dim> &data);

    /// Evaluation of the coefficients of a form by the host's threads, for the
    /// tables that a device reads. All objects must outlive this one.
    template <int dim>
    struct HostTabulation
    {
      const PolytopicMesh<dim>        &mesh;
      const PolytopicDoFs             &dofs;
      const Form<dim>                 &form;
      const HostRules<dim>            &rules;
      const HostKernels::Kernels<dim> &kernels;
      const Device::FormData<dim>     &data;

      /// Evaluates volume coefficients of polytopes [begin, end) of a chunk.
      /// @p first_point is the first point of each sub-cell; @p diffusion has
      /// diffusion values from the computation of the penalty, or is null.
      void
      volume(const Device::Range<std::uint64_t> &first_point,
             const Device::Chunk                &chunk,
             const unsigned int                  begin,
             const unsigned int                  end,
             double                             *table,
             const DiffusionValues<dim>         *diffusion) const;

      /// Evaluates facet coefficients of polytopes [begin, end) of a chunk. An
      /// interface of two polytopes of the chunk is evaluated once for both, so
      /// that the tables of the chunk are complete only after calls for all
      /// ranges. @p sigma is the penalty of all facets, and @p first_point the
      /// first point of each entry of polytope_interface.
      void
      facets(const double                       *sigma,
             const Device::Range<std::uint64_t> &first_point,
             const Device::Chunk                &chunk,
             const unsigned int                  begin,
             const unsigned int                  end,
             double                             *table) const;

      /**
       * Fills all volume arrays of Device::PackedTables for a chunk, on all
       * threads. Returns false if the arrays below the diagonal are needed. If
       * not null, @p a_bar is raised to the largest n . a n found (see
       * raise_largest_diffusion()).
       */
      bool
      packed_volume(const Device::Range<std::uint64_t> &first_point,
                    const Device::Chunk                &chunk,
                    double                             *table,
                    double                             *a_bar) const;

      /// Fills the tables of the facets for which polytopes of a chunk are side
      /// 0, as described in Device::PackedTables, on all threads.
      /// @p interior_points and @p boundary_points are the numbers of points
      /// that precede each entry of polytope_interface.
      void
      packed_facets(const double        *sigma,
                    const std::uint64_t *interior_points,
                    const std::uint64_t *boundary_points,
                    const Device::Chunk &chunk,
                    double              *interior,
                    double              *boundary) const;
    };
  } // namespace internal
} // namespace Tessella

#endif
