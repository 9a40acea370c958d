// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_hdg_device_tabulation_h
#define tessella_source_hdg_device_tabulation_h

#include <tessella/values/polytope_quadrature.h>

#include <cstdint>
#include <vector>

#include "../../cuda/hdg/hdg_plan.h"
#include "local_problem.h"

namespace Tessella
{
  namespace internal
  {
    /**
     * Tables of data that a device cannot evaluate itself: coefficients at the
     * points of a tile, data on the boundary and the stabilisation. The threads
     * of the host compute them. References must outlive the object.
     */
    template <int dim>
    class DeviceTabulation
    {
    public:
      /// @p plan: quadrature points in the order in which the device has them.
      DeviceTabulation(const LocalProblem<dim>    &problem,
                       const Device::HDGPlan<dim> &plan);

      /// The form with its constants and the numbers of its tables.
      Device::HDGForm<dim>
      form() const;

      /// Fills the tables of polytopes [begin, end), see
      /// Device::HDGProblem::tabulate.
      void
      tabulate(const Device::HDGForm<dim> &form,
               const unsigned int          begin,
               const unsigned int          end,
               const std::uint64_t         n_points,
               double                     *volume,
               double                     *facets) const;

      /// Stabilisation of all facets and sides, see Device::HDGProblem::tau.
      std::vector<double>
      tau() const;

      /// Data on the boundary, see Device::HDGProblem::boundary.
      std::vector<double>
      boundary() const;

      /// Integral of |g| over the part of a polytope's boundary that has no
      /// Dirichlet condition.
      double
      integral_abs_g(const unsigned int polytope) const;

    private:
      /// Buffers of a thread.
      struct Buffers;

      /// Sets the constants of @p form from the coefficients at a vertex.
      void
      set_constants(Device::HDGForm<dim> &form) const;

      /// Fills the tables of the volume of polytope @p k. @p offset: its first
      /// point in each table of @p n_points points.
      void
      tabulate_volume(const Device::HDGForm<dim> &form,
                      const unsigned int          k,
                      const std::size_t           offset,
                      const std::uint64_t         n_points,
                      double                     *volume,
                      Buffers                    &buffers) const;

      /// Fills the values of b.n on the facets of polytope @p k.
      void
      tabulate_facets(const unsigned int k,
                      double            *facets,
                      Buffers           &buffers) const;

      /// Calls function(group, quadrature of its facet, g, alpha) for the point
      /// groups of a polytope on the boundary. Those on Dirichlet boundaries
      /// are included if @p dirichlet.
      template <typename Function>
      void
      for_boundary_groups(const unsigned int polytope,
                          const bool         dirichlet,
                          const Function    &function) const;

      const LocalProblem<dim>    &problem;
      const PolytopicMesh<dim>   &mesh;
      const PolytopicDoFs        &dofs;
      const Device::HDGPlan<dim> &plan;
    };
  } // namespace internal
} // namespace Tessella

#endif
