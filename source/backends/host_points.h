// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_backends_host_points_h
#define tessella_source_backends_host_points_h

#include <tessella/grid/polytopic_mesh.h>
#include <tessella/portable/legendre.h>
#include <tessella/quadrature/reference_quadrature.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "host_kernels.h"

namespace Tessella
{
  namespace internal
  {
    inline unsigned int
    padded(const unsigned int n)
    {
      return (n + HostKernels::padding - 1) / HostKernels::padding *
             HostKernels::padding;
    }

    /// Distance of arrays over n points that are read together: were it a power
    /// of two, they would share the same few lines of a cache.
    inline unsigned int
    pitch(const unsigned int n)
    {
      return padded(n) + HostKernels::padding;
    }

    /// A ReferenceRule in padded arrays; the padding repeats the last point.
    class PaddedRule
    {
    public:
      explicit PaddedRule(const ReferenceRule &rule)
        : memory((rule.dim + 1) * padded(rule.n_points), 0.)
      {
        const unsigned int n = rule.n_points, m = padded(n);
        for (unsigned int d = 0; d < rule.dim; ++d)
          for (unsigned int q = 0; q < m; ++q)
            memory[d * m + q] = rule.points[d * n + std::min(q, n - 1)];
        std::copy(rule.weights.begin(),
                  rule.weights.begin() + n,
                  memory.begin() + rule.dim * m);
        view = {n, m, memory.data(), memory.data() + rule.dim * m};
      }

      PaddedRule(const PaddedRule &) = delete;

      HostKernels::Rule view;

    private:
      std::vector<double> memory;
    };



    /// All polytopes have total-degree, not tensor-product spaces.
    template <int dim>
    bool
    has_total_degree_space(const PolytopicMesh<dim> &mesh);



    /**
     * The rules that sub-cells and facets of a mesh need for a form of given
     * coefficient order, by polynomial degree.
     */
    template <int dim>
    class HostRules
    {
    public:
      HostRules(const PolytopicMesh<dim> &mesh,
                const unsigned int        coefficient_order);

      /// Rule for a sub-cell that is not tabulated; degree of its polytope.
      const HostKernels::Rule &
      subcell(const SubCellType type, const unsigned int degree) const
      {
        return subcell_rules[static_cast<unsigned int>(type)][degree]->view;
      }

      /// Rule for a facet that is not tabulated; larger degree of its sides.
      const HostKernels::Rule &
      facet(const FacetType type, const unsigned int degree) const
      {
        return facet_rules[static_cast<unsigned int>(type)][degree]->view;
      }

      /// Most points of a rule, padded.
      unsigned int max_points = HostKernels::padding;

    private:
      std::vector<std::unique_ptr<PaddedRule>> subcell_rules[5];
      std::vector<std::unique_ptr<PaddedRule>> facet_rules[4];
    };



    /**
     * Coordinates, weights and origin of quadrature points, filled sub-cell by
     * sub-cell; a growing buffer for one thread.
     */
    template <int dim>
    class VolumePointBuffer
    {
    public:
      explicit VolumePointBuffer(const unsigned int capacity);

      /**
       * Fills the buffer with points of polytope's sub-cells beginning at
       * (subcell, point), which advance past what was taken, until the buffer
       * is full or the polytope ends; pads with weight zero. Returns the padded
       * number of points. A sub-cell's points stay together except tabulated
       * ones.
       */
      unsigned int
      fill(const PolytopicMesh<dim>        &mesh,
           const HostRules<dim>            &rules,
           const HostKernels::Kernels<dim> &kernels,
           const unsigned int               polytope,
           unsigned int                    &subcell,
           unsigned int                    &point);

      const unsigned int        capacity;
      double                   *x[dim], *w;
      std::vector<unsigned int> subcells, materials;
      /// Points before padding.
      unsigned int n_points = 0;

    private:
      std::unique_ptr<double[]> memory;
    };
  } // namespace internal
} // namespace Tessella

#endif
