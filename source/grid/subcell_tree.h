// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#ifndef tessella_source_grid_subcell_tree_h
#define tessella_source_grid_subcell_tree_h

#include <deal.II/base/bounding_box.h>
#include <deal.II/base/point.h>

#include <deal.II/boost_adaptors/bounding_box.h>
#include <deal.II/boost_adaptors/point.h>
#include <deal.II/fe/mapping.h>
#include <deal.II/grid/tria.h>
#include <deal.II/numerics/rtree.h>

#include <tessella/grid/agglomeration_handler.h>
#include <tessella/portable/geometry.h>
#include <tessella/portable/multilinear_map.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>


namespace Tessella
{
  namespace internal
  {
    /**
     * Finds the sub-cell in which a point lies, by a tree of bounding boxes.
     * The set-up costs O(n log n), a query O(log n) and some inverse maps.
     */
    template <int dim>
    class SubCellTree
    {
    public:
      explicit SubCellTree(const AgglomerationHandler<dim> &handler)
        : handler(handler)
        , mesh(handler.polytopic_mesh())
        , boxes(subcell_boxes(mesh))
        , tree(dealii::pack_rtree_of_indices(boxes))
      {}

      /// Sub-cell with the lowest index that contains @p point, or
      /// invalid_index.
      unsigned int
      find(const dealii::Point<dim> &point) const
      {
        namespace bgi       = boost::geometry::index;
        unsigned int result = invalid_index;
        for (const unsigned int s :
             tree | bgi::adaptors::queried(bgi::intersects(point)))
          if (s < result && inside(s, point))
            result = s;
        return result;
      }

    private:
      using Boxes = std::vector<dealii::BoundingBox<dim>>;

      /// Distance, in reference coordinates, up to which a point outside still
      /// belongs to a sub-cell.
      static constexpr double tolerance = 1e-8;

      /// Bounding boxes of the sub-cells of owned polytopes, which come first.
      static Boxes
      subcell_boxes(const PolytopicMesh<dim> &mesh)
      {
        Boxes boxes;
        for (unsigned int s = 0;
             s < mesh.subcell_offset[mesh.n_owned_polytopes()];
             ++s)
          {
            dealii::Point<dim> lower, upper;
            double             extent = 0.;
            for (int d = 0; d < dim; ++d)
              {
                lower[d] = std::numeric_limits<double>::max();
                upper[d] = std::numeric_limits<double>::lowest();
                for (unsigned int v = mesh.subcell_vertex_offset[s];
                     v < mesh.subcell_vertex_offset[s + 1];
                     ++v)
                  {
                    const double x =
                      mesh.subcell_vertices[std::size_t(v) * dim + d];
                    lower[d] = std::min(lower[d], x);
                    upper[d] = std::max(upper[d], x);
                  }
                extent = std::max(extent, upper[d] - lower[d]);
              }
            // A curved cell may extend beyond its corners. Points on the
            // surface of other cells may be off by rounding.
            const double amount = mesh.subcell_type[s] == SubCellType::tabulated
                                    ? .5 * extent
                                    : 2. * tolerance * extent;
            for (int d = 0; d < dim; ++d)
              {
                lower[d] -= amount;
                upper[d] += amount;
              }
            boxes.emplace_back(std::make_pair(lower, upper));
          }
        return boxes;
      }

      bool
      inside(const unsigned int s, const dealii::Point<dim> &point) const
      {
        const double *const v =
          &mesh.subcell_vertices[std::size_t(mesh.subcell_vertex_offset[s]) *
                                 dim];
        const SubCellType type = mesh.subcell_type[s];
        if (type == SubCellType::tabulated)
          {
            const auto cell = handler.active_cell(mesh.subcell_cell[s]);
            try
              {
                const dealii::Point<dim> unit =
                  handler.get_mapping().transform_real_to_unit_cell(cell,
                                                                    point);
                return cell->reference_cell().contains_point(unit, tolerance);
              }
            catch (
              const typename dealii::Mapping<dim>::ExcTransformationFailed &)
              {
                // Mappings throw this exception for points far outside.
                return false;
              }
          }
        if (type == SubCellType::simplex || type == SubCellType::parallelepiped)
          {
            const bool simplex = (type == SubCellType::simplex);
            double     j[dim][dim], r[dim];
            for (int k = 0; k < dim; ++k)
              for (int d = 0; d < dim; ++d)
                j[k][d] = v[(simplex ? k + 1 : (1 << k)) * dim + d] - v[d];
            for (int d = 0; d < dim; ++d)
              r[d] = point[d] - v[d];
            double xi[dim], sum = 0.;
            if (!solve(j, r, xi))
              return false;
            for (int d = 0; d < dim; ++d)
              {
                if (!(xi[d] >= -tolerance &&
                      xi[d] <= 1. + (simplex ? dim : 1) * tolerance))
                  return false;
                sum += xi[d];
              }
            return !simplex || sum <= 1. + dim * tolerance;
          }
        return inside_multilinear(v, point);
      }

      /// Solves J^T x = r, where row k of J is the derivative in direction k.
      static bool
      solve(const double (&j)[dim][dim], const double *r, double *xi)
      {
        const double det = Geometry::determinant(j);
        if (det == 0.)
          return false;
        for (int k = 0; k < dim; ++k)
          {
            double m[dim][dim];
            for (int a = 0; a < dim; ++a)
              for (int d = 0; d < dim; ++d)
                m[a][d] = (a == k) ? r[d] : j[a][d];
            xi[k] = Geometry::determinant(m) / det;
          }
        return true;
      }

      static bool
      inside_multilinear(const double *v, const dealii::Point<dim> &point)
      {
        const Geometry::MultilinearMap<dim, dim> map(v);
        // Newton's method starts at the centre. In strongly distorted cells
        // it may leave the range of the map; it then starts again near each
        // corner.
        for (int start = 0; start <= (1 << dim); ++start)
          {
            double xi[dim];
            for (int d = 0; d < dim; ++d)
              xi[d] = (start == 0) ? .5 : ((((start - 1) >> d) & 1) ? .9 : .1);
            bool converged = false;
            for (unsigned int i = 0; i < 25 && !converged; ++i)
              {
                double x[dim], j[dim][dim], r[dim], step[dim], length = 0.,
                                                               size = 0.;
                map.evaluate(xi, x, j);
                for (int d = 0; d < dim; ++d)
                  r[d] = point[d] - x[d];
                if (!solve(j, r, step))
                  break;
                for (int d = 0; d < dim; ++d)
                  {
                    xi[d] += step[d];
                    length = std::max(length, std::abs(step[d]));
                    size   = std::max(size, std::abs(xi[d]));
                  }
                if (!(size < 1e3))
                  break;
                converged = (length < .1 * tolerance);
              }
            if (converged)
              {
                bool in = true;
                for (int d = 0; d < dim; ++d)
                  in = in && xi[d] >= -tolerance && xi[d] <= 1. + tolerance;
                if (in)
                  return true;
                // The map of a convex cell is one-to-one near the cell: if
                // the first solution lies outside but near, it is the only
                // one.
                if (start == 0)
                  {
                    double distance = 0.;
                    for (int d = 0; d < dim; ++d)
                      distance = std::max(distance, std::abs(xi[d] - .5));
                    if (distance < 1.)
                      return false;
                  }
              }
          }
        return false;
      }

      const AgglomerationHandler<dim> &handler;
      const PolytopicMesh<dim>        &mesh;
      /// The tree refers to the boxes.
      const Boxes                       boxes;
      const decltype(dealii::pack_rtree_of_indices(
        std::declval<const Boxes &>())) tree;
    };
  } // namespace internal
} // namespace Tessella

#endif
