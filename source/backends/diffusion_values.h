// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_backends_diffusion_values_h
#define tessella_source_backends_diffusion_values_h

#include <tessella/grid/polytopic_dofs.h>
#include <tessella/grid/polytopic_mesh.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "host_points.h"

namespace Tessella
{
  namespace internal
  {
    /**
     * Diffusion of a form at all quadrature points of the volume. The penalty
     * needs its maxima before any block row is assembled, and the block rows
     * need the values. The values are kept in between if memory permits, since
     * the evaluation of user functions is the most expensive step.
     *
     * Points of a polytope are in the order of VolumePointBuffer. Entry d of
     * its point q is at values(k)[d * n_points(k) + q].
     */
    template <int dim>
    class DiffusionValues
    {
    public:
      /// Allocates memory unless more than @p limit bytes are needed; returns
      /// whether the values can be stored. The memory is kept for the next
      /// call.
      bool
      reinit(const PolytopicMesh<dim> &mesh,
             const PolytopicDoFs      &dofs,
             const HostRules<dim>     &rules,
             const unsigned int        n_entries,
             const std::size_t         limit)
      {
        offset.resize(mesh.n_polytopes() + 1);
        offset[0] = 0;
        for (unsigned int k = 0; k < mesh.n_polytopes(); ++k)
          {
            std::uint64_t n = 0;
            for (unsigned int s = mesh.subcell_offset[k];
                 s < mesh.subcell_offset[k + 1];
                 ++s)
              n += rules.n_subcell_points(mesh, s, dofs.degree[k]);
            offset[k + 1] = offset[k] + n;
          }
        entries = n_entries;
        valid   = offset.back() * n_entries <= limit / sizeof(double);
        if (!valid)
          release();
        else if (offset.back() * n_entries > size)
          {
            // not initialised: first touch by the threads that fill the memory
            size = offset.back() * n_entries;
            memory.reset();
            memory.reset(new double[size]);
          }
        return valid;
      }

      /// Invalidates the values, because the form or the time changes.
      void
      clear()
      {
        valid = false;
      }

      void
      release()
      {
        clear();
        memory.reset();
        size = 0;
      }

      bool
      empty() const
      {
        return !valid;
      }

      std::uint64_t
      n_points(const unsigned int k) const
      {
        return offset[k + 1] - offset[k];
      }

      double *
      values(const unsigned int k)
      {
        return memory.get() + offset[k] * entries;
      }

      const double *
      values(const unsigned int k) const
      {
        return memory.get() + offset[k] * entries;
      }

      unsigned int
      n_entries() const
      {
        return entries;
      }

      /// Copies all entries at points [first, first + n) of polytope @p k.
      void
      copy(const unsigned int  k,
           const std::uint64_t first,
           const unsigned int  n,
           double *const      *a) const
      {
        for (unsigned int d = 0; d < entries; ++d)
          std::copy_n(values(k) + d * n_points(k) + first, n, a[d]);
      }

    private:
      std::vector<std::uint64_t> offset;
      std::unique_ptr<double[]>  memory;
      std::size_t                size    = 0;
      unsigned int               entries = 0;
      bool                       valid   = false;
    };

    /// Memory limit of DiffusionValues in bytes: the size of the matrix values,
    /// but at least 1 GiB.
    template <int dim>
    std::size_t
    diffusion_values_limit(const PolytopicMesh<dim> &mesh,
                           const PolytopicDoFs      &dofs)
    {
      std::uint64_t n_nonzero = 0;
      for (unsigned int k = 0; k < mesh.n_polytopes(); ++k)
        {
          std::uint64_t width    = dofs.n_basis[k];
          unsigned int  previous = invalid_index;
          for (unsigned int e = mesh.polytope_interface_offset[k];
               e < mesh.polytope_interface_offset[k + 1];
               ++e)
            {
              const unsigned int neighbor =
                mesh.neighbor(mesh.polytope_interface[e]);
              if (neighbor != invalid_index && neighbor != previous)
                width += dofs.n_basis[neighbor];
              previous = neighbor;
            }
          n_nonzero += dofs.n_basis[k] * width;
        }
      return std::max(std::uint64_t(1) << 30,
                      std::uint64_t(sizeof(double)) * n_nonzero);
    }
  } // namespace internal
} // namespace Tessella

#endif
