// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_grid_polytopic_dofs_h
#define tessella_grid_polytopic_dofs_h

#include <cstddef>
#include <cstdint>
#include <vector>

namespace Tessella
{
  /**
   * A space of piecewise polynomials on a PolytopicMesh as plain arrays:
   * polynomial degrees and the numbering of degrees of freedom.
   *
   * The mesh knows nothing of the spaces on it, so that any number of spaces,
   * such as those of velocity and pressure, can share one mesh and its copy on
   * a device. AgglomerationHandler and SpaceTimeSlab own one mesh and one space
   * each. Code that needs degrees or degrees of freedom takes the space as an
   * argument beside the mesh.
   *
   * The arrays have the mesh's order of polytopes, ghosts included. Degrees of
   * freedom are contiguous per polytope and are ordered by component, then by
   * basis function.
   *
   * <b>Penalty factors</b> are part of the space, since they grow with the
   * degree: two spaces on one mesh have different ones.
   *
   * <b>Tabulated quadrature</b> of curved cells, on the other hand, is part of
   * the mesh, although its order is chosen by the degrees of a space
   * (PolytopicSpace::tabulate()): points and weights describe the geometry, and
   * are as good for every space of lower degree.
   *
   * It includes no deal.II header, so that device code can read it as well.
   */
  struct PolytopicDoFs
  {
    /// Number of components, the same for all polytopes.
    unsigned int n_components = 1;
    /// Polynomial degree of each polytope.
    std::vector<unsigned int> degree;
    /// Number of scalar basis functions of each polytope.
    std::vector<unsigned int> n_basis;
    /// First degree of freedom of each polytope on this process, owned ones
    /// first, and the total number at the end (n_polytopes + 1 entries).
    std::vector<std::uint64_t> dof_offset;
    /**
     * Geometric factor of the penalty per facet and side (entries 2*f, 2*f + 1;
     * 0 where there is no polytope), filled by compute_penalty_factors(). The
     * penalty on a facet is constant * max over sides of (factor * a-bar of
     * that side).
     */
    std::vector<double> penalty_factor;

    /**
     * Properties of the space on the mesh of all processes, by which quadrature
     * rules and kernels are chosen, so that the choice is the same on all
     * processes. Not set on one process, whose arrays are complete.
     */
    struct Whole
    {
      bool is_set = false;
      /// Whether all polytopes have total-degree, not tensor-product spaces.
      bool         total_degree = true;
      unsigned int max_degree = 0, max_basis = 0, min_basis = 0;
    };
    Whole whole;

    /// Revision of all members except penalty_factor, see new_revision(). Data
    /// that depend on the mesh as well have a SpaceRevision.
    std::uint64_t revision = 0;
    /// Revision of penalty_factor, which stands for the mesh and the degrees
    /// with which the factors have been computed, too.
    std::uint64_t penalty_revision = 0;

    /// Memory of the arrays, in bytes.
    std::size_t
    memory_consumption() const;
  };
} // namespace Tessella

#endif
