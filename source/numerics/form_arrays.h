// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_numerics_form_arrays_h
#define tessella_source_numerics_form_arrays_h

#include <tessella/forms/form.h>
#include <tessella/grid/polytopic_dofs.h>
#include <tessella/grid/polytopic_mesh.h>

#include <algorithm>
#include <vector>

namespace Tessella
{
  namespace internal
  {
    /// Memory of several arrays of equal length.
    class BlockMemory
    {
    public:
      void
      reinit(const std::size_t length)
      {
        n    = length;
        next = 0;
      }

      /// The next array, filled with zeros, or null if it is not @p present.
      double *
      take(const bool present)
      {
        if (!present)
          return nullptr;
        if (next == arrays.size())
          arrays.emplace_back();
        arrays[next].assign(n, 0.);
        return arrays[next++].data();
      }

    private:
      std::size_t                      n = 0, next = 0;
      std::vector<std::vector<double>> arrays;
    };

    /// Arrays to which the volume blocks of a form point.
    template <int dim>
    class VolumeArrays
    {
    public:
      explicit VolumeArrays(const VolumeStructure &structure)
        : structure(structure)
      {}

      void
      reinit(const std::size_t n)
      {
        const unsigned int n_a =
          structure.diffusion == DiffusionType::none
            ? 0
            : (structure.diffusion == DiffusionType::isotropic ? 1 : dim * dim);
        memory.reinit(n);
        for (unsigned int i = 0; i < dim * dim; ++i)
          blocks.a[i] = memory.take(i < n_a);
        for (int d = 0; d < dim; ++d)
          blocks.beta[d] = memory.take(structure.beta);
        for (int d = 0; d < dim; ++d)
          blocks.b[d] = memory.take(structure.b);
        blocks.c = memory.take(structure.c);
        blocks.f = memory.take(structure.f);
      }

      VolumeBlocks<dim> blocks;

    private:
      const VolumeStructure structure;
      BlockMemory           memory;
    };

    /// Arrays to which the facet blocks of a form point.
    template <int dim>
    class FacetArrays
    {
    public:
      explicit FacetArrays(const FacetStructure &structure)
        : structure(structure)
      {}

      void
      reinit(const std::size_t n, const bool boundary)
      {
        const unsigned int n_sides = boundary ? 1 : 2;
        memory.reinit(n);
        for (unsigned int t = 0; t < 2; ++t)
          {
            for (int d = 0; d < dim; ++d)
              blocks.b[t][d] = memory.take(t < n_sides && structure.b);
            for (int d = 0; d < dim; ++d)
              blocks.beta[t][d] = memory.take(t < n_sides && structure.beta);
            blocks.c[t] = memory.take(t < n_sides);
          }
        blocks.r = memory.take(boundary && structure.rhs);
        for (int d = 0; d < dim; ++d)
          blocks.s[d] = memory.take(boundary && structure.rhs);
      }

      FacetBlocks<dim> blocks;

    private:
      const FacetStructure structure;
      BlockMemory          memory;
    };

    /// Largest degree on the two sides of an interface.
    template <int dim>
    unsigned int
    interface_degree(const PolytopicMesh<dim> &mesh,
                     const PolytopicDoFs      &dofs,
                     const unsigned int        i)
    {
      const unsigned int k0 = mesh.interface_polytope[2 * i],
                         k1 = mesh.interface_polytope[2 * i + 1];
      return k1 == invalid_index ? dofs.degree[k0]
                                 : std::max(dofs.degree[k0], dofs.degree[k1]);
    }
  } // namespace internal
} // namespace Tessella

#endif
