// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_backends_cuda_tabulation_h
#define tessella_source_backends_cuda_tabulation_h

#include <tessella/forms/form.h>
#include <tessella/grid/polytopic_mesh.h>

#include <cstdint>
#include <vector>

#include "../../cuda/backends/assembly.h"
#include "diffusion_values.h"
#include "host_kernels.h"
#include "host_points.h"

// What of a form the host works out for a device: constants, and tables of
// coefficients that vary.

namespace Tessella
{
  namespace internal
  {
    /// Constant coefficients, and the layout of the tables of all others;
    /// block_rows: for the kernels of block rows, which need fewer.
    template <int dim>
    Device::FormData<dim>
    make_form_data(const PolytopicMesh<dim> &mesh,
                   const Form<dim>          &form,
                   const bool                matrix,
                   const bool                rhs,
                   const bool                block_rows);

    /// Numbers of tabulated points before each sub-cell, and before each entry
    /// of polytope_interface; the totals at the end.
    struct TablePositions
    {
      std::vector<std::uint64_t> subcell, entry;
      /// The same as entry for packed tables (Device::PackedTables).
      std::vector<std::uint64_t> interior, boundary;
    };

    template <int dim>
    TablePositions
    table_positions(const PolytopicMesh<dim>    &mesh,
                    const HostRules<dim>        &rules,
                    const Device::FormData<dim> &data);

    /// Evaluates volume coefficients of polytopes [begin, end) of a chunk.
    /// @p first_point: of each sub-cell; @p diffusion: its values where they
    /// are known already, or null.
    template <int dim>
    void
    tabulate_volume(const PolytopicMesh<dim>           &mesh,
                    const Form<dim>                    &form,
                    const HostRules<dim>               &rules,
                    const HostKernels::Kernels<dim>    &kernels,
                    const Device::VolumeLayout         &layout,
                    const Device::Range<std::uint64_t> &first_point,
                    const Device::Chunk                &chunk,
                    const unsigned int                  begin,
                    const unsigned int                  end,
                    double                             *table,
                    const DiffusionValues<dim>         *diffusion);

    /// Evaluates facet coefficients of polytopes [begin, end) of a chunk. What
    /// two polytopes of the chunk share is evaluated once, for both: calls for
    /// several ranges together fill the chunk's tables.
    /// @p sigma: penalty of all facets; @p first_point: of each entry of
    /// polytope_interface.
    template <int dim>
    void
    tabulate_facets(const PolytopicMesh<dim>           &mesh,
                    const Form<dim>                    &form,
                    const double                       *sigma,
                    const HostRules<dim>               &rules,
                    const HostKernels::Kernels<dim>    &kernels,
                    const Device::FormData<dim>        &data,
                    const Device::Range<std::uint64_t> &first_point,
                    const Device::Chunk                &chunk,
                    const unsigned int                  begin,
                    const unsigned int                  end,
                    double                             *table);

    /**
     * The volume of a chunk, all arrays of Device::PackedTables, by all
     * threads; false: those below the diagonal are needed. @p a_bar: raised to
     * the largest n . a n found (see raise_largest_diffusion()), or null.
     */
    template <int dim>
    bool
    tabulate_packed_volume(const PolytopicMesh<dim>           &mesh,
                           const Form<dim>                    &form,
                           const HostRules<dim>               &rules,
                           const HostKernels::Kernels<dim>    &kernels,
                           const Device::FormData<dim>        &data,
                           const Device::Range<std::uint64_t> &first_point,
                           const Device::Chunk                &chunk,
                           double                             *table,
                           double                             *a_bar);

    /// The facets of side 0 of a chunk's polytopes, as Device::PackedTables
    /// describes it, by all threads. @p interior_points, @p boundary_points:
    /// points before each entry of polytope_interface.
    template <int dim>
    void
    tabulate_packed_facets(const PolytopicMesh<dim>        &mesh,
                           const Form<dim>                 &form,
                           const double                    *sigma,
                           const HostRules<dim>            &rules,
                           const HostKernels::Kernels<dim> &kernels,
                           const Device::FormData<dim>     &data,
                           const std::uint64_t             *interior_points,
                           const std::uint64_t             *boundary_points,
                           const Device::Chunk             &chunk,
                           double                          *interior,
                           double                          *boundary);
  } // namespace internal
} // namespace Tessella

#endif
