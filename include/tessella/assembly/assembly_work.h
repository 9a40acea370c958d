// SPDX-License-Identifier: LGPL-2.1-or-later
#ifndef tessella_assembly_assembly_work_h
#define tessella_assembly_assembly_work_h

#include <tessella/grid/polytopic_mesh.h>

#include <cstdint>

namespace Tessella
{
  /// The least work that assembly of a full advection-diffusion-reaction form
  /// takes on a mesh, as a yardstick for measured times.
  struct AssemblyWork
  {
    std::uint64_t n_volume_points = 0;
    /// Facet points, counted once per owner of a block row.
    std::uint64_t n_facet_points = 0;
    /**
     * Floating-point operations of the products alone: with N functions,
     * 2 (dim + 1) N^2 per volume point (gradient and value rows), and 4 N (N +
     * N') per owner's facet point (two rows for the diagonal block and two for
     * the neighbour's of N' functions; none at the boundary).
     */
    double flops = 0.;
  };

  /**
   * Counts points of rules of order 2 p + @p coefficient_order on simplices,
   * the order that multilinear cells need for the same on those; tabulated
   * sub-cells and facets count with their tables.
   */
  template <int dim>
  AssemblyWork
  assembly_work(const PolytopicMesh<dim> &mesh,
                const unsigned int        coefficient_order);
} // namespace Tessella

#endif
