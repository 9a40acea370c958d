// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_operators_pointwise_plan_h
#define tessella_source_operators_pointwise_plan_h

#include <tessella/forms/device_pointwise_kernels.h>
#include <tessella/forms/pointwise_integrand.h>
#include <tessella/lac/block_sparsity.h>

#include <vector>

#include "pointwise_context.h"
#include "pointwise_tables.h"

namespace Tessella
{
  namespace internal
  {
    /// Limits for the groups and batches of a plan.
    struct PointwisePlanLimits
    {
      /// Largest number of polytopes of a group, of points of a batch, and of
      /// neighbours of a batch.
      unsigned int n_polytopes, n_points, n_neighbors;
      /// Number of points after which a group takes no further polytopes.
      unsigned int n_group_points;
      /// Doubles in shared memory for each point of a volume and of a facet,
      /// and their largest sum over the points of a batch.
      unsigned int volume_size = 0, facet_size = 0, size = 0;
    };



    /**
     * Order in which a device processes the points of all owned polytopes:
     * which polytopes a thread block computes, and which points it evaluates at
     * once. See the structures in device_pointwise_kernels.h.
     *
     * The points of a polytope have the order of the host engine: those of its
     * sub-cells, then those of its facets, interface by interface.
     */
    template <int dim>
    class PointwisePlan
    {
    public:
      using Structure = typename PointwiseIntegrand<dim>::Structure;

      /// @p blocks: structure of the Jacobian, null for residuals. In a plan
      /// for residuals the points of a batch are all in volumes or all on
      /// facets.
      PointwisePlan(const PointwiseContext<dim> &context,
                    const PointwiseTables<dim>  &tables,
                    const Structure             &structure,
                    const PointwisePlanLimits   &limits,
                    const BlockSparsity         *blocks);

      std::vector<Device::PointwiseGroup>   groups;
      std::vector<Device::PointwiseBatch>   batches;
      std::vector<Device::PointwisePiece>   pieces;
      std::vector<Device::PointwiseSegment> segments;
      std::vector<unsigned int>             slots, ranges;

      /// Largest numbers of polytopes of a group, of neighbours and points of a
      /// batch, of doubles for the points of a batch, and of lanes n_polytopes
      /// n_basis n_splits of a group.
      unsigned int max_polytopes = 0, max_neighbors = 0, max_points = 0,
                   max_size = 0, max_sums = 0;
      /// Number of all points, facets counted twice.
      std::uint64_t n_points = 0;

    private:
      unsigned int
      n_polytope_points(const unsigned int k) const;
      unsigned int
      n_splits(const unsigned int n_basis, const unsigned int n) const;
      void
      start_group(const unsigned int k,
                  const unsigned int n_basis,
                  const unsigned int n_splits);
      void
      finish_group();
      void
      add_volume(const unsigned int k);
      void
      add_facets(const unsigned int k);
      // Adds the points of a sub-cell or facet, with as many batches as needed.
      void
      add_item(Device::PointwisePiece piece,
               const bool             facet,
               unsigned int           n,
               const unsigned int     neighbor);
      // Slot of a neighbour in the present batch; false if there is no room.
      bool
      find_slot(const unsigned int neighbor, unsigned short &slot);
      void
      add_segment(const unsigned int   neighbor,
                  const unsigned short slot,
                  const unsigned int   begin,
                  const unsigned int   end);
      void
      finish_batch();

      const PointwiseContext<dim> &context;
      const PointwiseTables<dim>  &tables;
      const Structure              structure;
      const PointwisePlanLimits    limits;
      const BlockSparsity         *blocks;

      Device::PointwiseGroup group;
      Device::PointwiseBatch batch;
      // Points of each polytope of the group in earlier batches and in this
      // one.
      std::vector<unsigned int> done, present;
      // Neighbour of the last segment.
      unsigned int last_neighbor = invalid_index;
    };
  } // namespace internal
} // namespace Tessella

#endif
