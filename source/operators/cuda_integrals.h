// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_operators_cuda_integrals_h
#define tessella_source_operators_cuda_integrals_h

#include <tessella/forms/device_pointwise_kernels.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../lac/block_space.h"
#include "pointwise_context.h"
#include "pointwise_tables.h"

namespace Tessella
{
  namespace internal
  {
    /**
     * Quadrature points on the boundary of the polytopes that a process owns,
     * for integrals over parts of the boundary on a device. They are a copy of
     * some of the points of PointwiseTables, so that the kernel which evaluates
     * a functor on facets runs for them alone; normals stay where they are.
     */
    template <int dim>
    class DeviceBoundaryPoints
    {
    public:
      /// @p facets: those of pointwise_facets().
      void
      reinit(const PolytopicMesh<dim>                  &mesh,
             const PointwiseTables<dim>                &tables,
             const std::vector<Device::PointwiseFacet> &facets);

      /// Replaces the points on facets in the arguments of a kernel.
      void
      set_points(Device::PointwiseMesh<dim> &mesh) const;

      std::uint64_t
      n_points() const
      {
        return n;
      }

      /// Sums the values of @p m components over each interface at the
      /// boundary. Component c of point q is entry c @p distance + q of
      /// @p results, in device memory. Entry e m + c of @p integrals, in host
      /// memory, belongs to entry e of PolytopicMesh::polytope_interface; those
      /// of other interfaces are left as they are.
      void
      sum(const unsigned int  m,
          const std::uint64_t distance,
          const double       *results,
          double             *integrals);

    private:
      template <typename T>
      using Array = DeviceSpaceArray<T>;

      std::uint64_t                 n = 0;
      Array<double>                 points, sums;
      Array<Device::PointwiseFacet> facets;
      Array<unsigned int>           facet_of_point;
      /// Interfaces at the boundary, as entries of polytope_interface, and the
      /// first point of each.
      std::vector<std::size_t> entries;
      Array<std::uint64_t>     first_point;
    };
  } // namespace internal
} // namespace Tessella

#endif
