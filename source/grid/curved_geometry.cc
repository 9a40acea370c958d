// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include "curved_geometry.h"

#include <deal.II/base/parallel.h>
#include <deal.II/base/quadrature_lib.h>

#include <deal.II/fe/mapping_q.h>
#include <deal.II/grid/manifold.h>
#include <deal.II/grid/tria_accessor.h>
#include <deal.II/grid/tria_iterator.h>

#include <tessella/grid/mapping_quadratic.h>

#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <set>
#include <typeinfo>

#include "mapped_rules.h"

namespace Tessella
{
  namespace internal
  {
    namespace
    {
      // Values at xi of the nodal functions of the vertices of the cell.
      template <int dim>
      void
      vertex_weights(const CellShape<dim>     &shape,
                     const dealii::Point<dim> &xi,
                     double                   *weights)
      {
        std::fill(weights, weights + shape.n_vertices, 0.);
        if (shape.is_simplex)
          {
            weights[0] = 1.;
            for (int d = 0; d < dim; ++d)
              {
                weights[0] -= xi[d];
                weights[d + 1] = xi[d];
              }
          }
        else
          for (unsigned int c = 0; c < shape.n_corners; ++c)
            {
              double weight = 1.;
              for (int d = 0; d < dim; ++d)
                weight *= (c >> d) & 1u ? xi[d] : 1. - xi[d];
              weights[shape.corner[c]] += weight;
            }
      }

      // Lattice of points on the simplex or hypercube that determines
      // polynomials of the given degree. For a collapsed hypercube, the degree
      // is that after the collapse.
      template <int dim>
      std::vector<dealii::Point<dim>>
      lattice_points(const CellShape<dim> &shape, const unsigned int degree)
      {
        std::vector<dealii::Point<dim>> points;
        if (shape.is_simplex)
          {
            const unsigned int n = std::max(degree, 2u);
            for (unsigned int k = 0; k <= (dim == 3 ? n : 0); ++k)
              for (unsigned int j = 0; j + k <= n; ++j)
                for (unsigned int i = 0; i + j + k <= n; ++i)
                  {
                    const unsigned int index[3] = {i, j, k};
                    dealii::Point<dim> p;
                    for (int d = 0; d < dim; ++d)
                      p[d] = double(index[d]) / n;
                    points.push_back(p);
                  }
          }
        else
          {
            const dealii::QGaussLobatto<dim> rule(
              std::max(degree, 2u) * (shape.is_collapsed() ? 2 : 1) + 1);
            points = rule.get_points();
          }
        return points;
      }

      // Whether reference point p lies on face f.
      template <int dim>
      bool
      on_face(const CellShape<dim>     &shape,
              const unsigned int        f,
              const dealii::Point<dim> &p)
      {
        const std::array<dealii::Point<dim>, 4> v = shape.face_vertices(f);
        return std::abs(normal_of_face(v) * (p - v[0])) < 1e-12;
      }

      // Whether all manifolds that MappingQ uses on this cell are flat.
      template <int dim, typename IsFlat>
      bool
      has_flat_manifolds(
        const typename dealii::Triangulation<dim>::active_cell_iterator &cell,
        const IsFlat &is_flat)
      {
        if (!is_flat(cell->manifold_id()))
          return false;
        for (unsigned int f = 0; f < cell->n_faces(); ++f)
          if (!is_flat(cell->face(f)->manifold_id()))
            return false;
        if (dim == 3)
          for (unsigned int l = 0; l < cell->n_lines(); ++l)
            if (!is_flat(cell->line(l)->manifold_id()))
              return false;
        return true;
      }


      // Active cells that may be curved: with MappingQ, those with a manifold
      // that is not flat.
      template <int dim>
      std::vector<unsigned int>
      list_candidates(const dealii::Triangulation<dim> &triangulation,
                      const ActiveCells<dim>           &cells,
                      const dealii::Mapping<dim>       &mapping)
      {
        std::vector<unsigned int> candidates;
        if (typeid(mapping) != typeid(dealii::MappingQ<dim>))
          {
            candidates.resize(cells.size());
            std::iota(candidates.begin(), candidates.end(), 0u);
            return candidates;
          }
        std::set<dealii::types::manifold_id> flat;
        for (const auto id : triangulation.get_manifold_ids())
          if (id != dealii::numbers::flat_manifold_id)
            {
              const dealii::Manifold<dim> &manifold =
                triangulation.get_manifold(id);
              if (typeid(manifold) == typeid(dealii::FlatManifold<dim>))
                flat.insert(id);
            }
        const auto is_flat = [&](const dealii::types::manifold_id id) {
          return id == dealii::numbers::flat_manifold_id || flat.count(id) > 0;
        };
        for (unsigned int c = 0; c < cells.size(); ++c)
          if (!has_flat_manifolds<dim>(cells[c], is_flat))
            candidates.push_back(c);
        return candidates;
      }



      // Points of a reference cell where a mapping is compared with the
      // (multi)linear interpolation of the mapped vertices.
      template <int dim>
      struct Lattice
      {
        const CellShape<dim>           *shape;
        std::vector<dealii::Point<dim>> points; // the vertices come first
        std::vector<double> weights; // of the vertices at the other points

        // With on_surface, only points on the faces of the cell are taken.
        Lattice(const CellShape<dim> &shape,
                const unsigned int    degree,
                const bool            on_surface)
          : shape(&shape)
        {
          const unsigned int n = shape.n_vertices;
          for (unsigned int v = 0; v < n; ++v)
            points.push_back(Compatibility::vertex<dim>(shape.type, v));
          weights.resize(n * n, 0.);
          for (const dealii::Point<dim> &xi : lattice_points(shape, degree))
            {
              const dealii::Point<dim> p = reference_point(shape, xi);
              if (on_surface && faces_at(p) == 0)
                continue;
              points.push_back(p);
              weights.resize(points.size() * n);
              vertex_weights(shape,
                             xi,
                             weights.data() + (points.size() - 1) * n);
            }
        }

        // Faces on which the reference point p lies, one bit per face.
        std::uint8_t
        faces_at(const dealii::Point<dim> &p) const
        {
          std::uint8_t faces = 0;
          for (unsigned int f = 0; f < shape->n_faces; ++f)
            if (on_face(*shape, f, p))
              faces |= 1u << f;
          return faces;
        }

        // Distance of mapped point q from the interpolation; q is no vertex.
        double
        deviation(const MappedPoints<dim> &map, const unsigned int q) const
        {
          const unsigned int     n = shape->n_vertices;
          dealii::Tensor<1, dim> difference(map.point(q));
          for (unsigned int v = 0; v < n; ++v)
            difference -= weights[q * n + v] * map.point(v);
          return difference.norm();
        }
      };



      // Lattices of all cell types of a triangulation.
      template <int dim>
      std::vector<Lattice<dim>>
      make_lattices(const dealii::Triangulation<dim> &triangulation,
                    const CellShapes<dim>            &shapes,
                    const unsigned int                degree,
                    const bool                        on_surface)
      {
        std::vector<Lattice<dim>> lattices;
        for (const Compatibility::ReferenceCell<dim> &type :
             triangulation.get_reference_cells())
          lattices.emplace_back(shapes(type), degree, on_surface);
        return lattices;
      }



      // A mapping at the points of lattices, set up for each cell type on first
      // use. Each thread has its own.
      template <int dim>
      class MappedLattices
      {
      public:
        using ActiveCellIterator =
          typename dealii::Triangulation<dim>::active_cell_iterator;

        MappedLattices(const std::vector<Lattice<dim>> &lattices,
                       const dealii::Mapping<dim>      &mapping)
          : lattices(lattices)
          , mapping(mapping)
          , mapped(lattices.size())
        {}

        // Index of the lattice of a cell.
        unsigned int
        index(const ActiveCellIterator &cell) const
        {
          unsigned int i = 0;
          if (lattices.size() > 1)
            while (lattices[i].shape->type != cell->reference_cell())
              ++i;
          return i;
        }

        // Maps the points of lattice i to a cell.
        const MappedPoints<dim> &
        reinit(const unsigned int i, const ActiveCellIterator &cell)
        {
          if (!mapped[i])
            mapped[i] = std::make_unique<MappedPoints<dim>>(mapping,
                                                            *lattices[i].shape,
                                                            lattices[i].points,
                                                            false);
          mapped[i]->reinit(cell);
          return *mapped[i];
        }

      private:
        const std::vector<Lattice<dim>>                &lattices;
        const dealii::Mapping<dim>                     &mapping;
        std::vector<std::unique_ptr<MappedPoints<dim>>> mapped;
      };



      // Box (lower corner, upper corner) of a cell from the mapped points of
      // its surface, where coordinates are extremal.
      template <int dim>
      std::array<double, 2 * dim>
      surface_box(const Lattice<dim> &surface, const MappedPoints<dim> &map)
      {
        std::array<double, 2 * dim> box;
        for (int d = 0; d < dim; ++d)
          {
            box[d]       = std::numeric_limits<double>::max();
            box[dim + d] = std::numeric_limits<double>::lowest();
          }
        // Between two lattice points, the surface may extend beyond both by a
        // small part of its deviation from the (multi)linear surface.
        double deviation = 0.;
        for (unsigned int q = 0; q < surface.points.size(); ++q)
          {
            for (int d = 0; d < dim; ++d)
              {
                const double x = map.point(q)[d];
                box[d]         = std::min(box[d], x);
                box[dim + d]   = std::max(box[dim + d], x);
              }
            if (q >= surface.shape->n_vertices)
              deviation = std::max(deviation, surface.deviation(map, q));
          }
        for (int d = 0; d < dim; ++d)
          {
            box[d] -= .05 * deviation;
            box[dim + d] += .05 * deviation;
          }
        return box;
      }



      // Volume of a mapped cell; negative if the mapping folds it.
      template <int dim>
      double
      mapped_measure(const CellShape<dim> &shape, const MappedRule<dim> &volume)
      {
        double       measure    = 0.;
        unsigned int n_negative = 0;
        for (unsigned int q = 0; q < volume.rule.points.size(); ++q)
          {
            const double det = volume.mapped.determinant(q);
            n_negative += det <= 0.;
            measure += volume.rule.weights[q] * std::abs(det);
          }
        // A simplex may have the opposite orientation, but it must not be
        // folded.
        const bool folded =
          n_negative > 0 &&
          !(shape.is_simplex && n_negative == volume.rule.points.size());
        return folded ? -1. : measure;
      }
    } // namespace



    template <int dim>
    CurvedGeometry<dim>::CurvedGeometry(
      const dealii::Triangulation<dim> &triangulation,
      const ActiveCells<dim>           &cells,
      const CellShapes<dim>            &shapes,
      const dealii::Mapping<dim>       *mapping)
      : cells(cells)
      , shapes(shapes)
      , mapping(mapping)
      , degree(1)
    {
      if (mapping == nullptr)
        return;
      degree                    = mapping_degree(*mapping);
      const bool moves_vertices = !mapping->preserves_vertex_locations();
      if (degree == 1 && !moves_vertices)
        return;
      if (moves_vertices)
        vertex_coordinates.resize(cells.size() * (dim << dim));
      find_curved_cells(triangulation);
      if (!curved.empty())
        measure_curved_cells(triangulation);
    }



    template <int dim>
    void
    CurvedGeometry<dim>::find_curved_cells(
      const dealii::Triangulation<dim> &triangulation)
    {
      const std::vector<unsigned int> candidates =
        list_candidates(triangulation, cells, *mapping);
      const std::vector<Lattice<dim>> lattices =
        make_lattices(triangulation, shapes, degree, false);
      std::vector<std::vector<std::uint8_t>> faces(lattices.size());
      for (unsigned int i = 0; i < lattices.size(); ++i)
        for (const dealii::Point<dim> &p : lattices[i].points)
          faces[i].push_back(lattices[i].faces_at(p));

      // Bit 7: the cell is curved; bits 0 .. 5: curved faces.
      std::vector<std::uint8_t> found(candidates.size(), 0);
      dealii::parallel::apply_to_subranges(
        std::size_t(0),
        candidates.size(),
        [&](const std::size_t begin, const std::size_t end) {
          MappedLattices<dim> mapped(lattices, *mapping);
          for (std::size_t i = begin; i < end; ++i)
            {
              const unsigned int       c     = candidates[i];
              const unsigned int       which = mapped.index(cells[c]);
              const Lattice<dim>      &l     = lattices[which];
              const MappedPoints<dim> &map   = mapped.reinit(which, cells[c]);
              const unsigned int       n     = l.shape->n_vertices;
              double                   diameter = 0., largest = 0.;
              for (unsigned int v = 0; v < n; ++v)
                {
                  diameter =
                    std::max(diameter, map.point(v).distance(map.point(0)));
                  for (int d = 0; d < dim; ++d)
                    largest = std::max(largest, std::abs(map.point(v)[d]));
                }
              if (has_vertices())
                for (unsigned int v = 0; v < n; ++v)
                  for (int d = 0; d < dim; ++d)
                    vertex_coordinates[std::size_t(c) * (dim << dim) + v * dim +
                                       d] = map.point(v)[d];
              const double tolerance =
                1e-13 * diameter +
                32. * std::numeric_limits<double>::epsilon() * largest;
              for (unsigned int q = n; q < l.points.size(); ++q)
                if (!(l.deviation(map, q) <= tolerance))
                  found[i] |= 0x80 | faces[which][q];
            }
        },
        256);

      for (std::size_t i = 0; i < candidates.size(); ++i)
        if (found[i] != 0)
          {
            if (number.empty())
              number.resize(cells.size(), invalid_index);
            number[candidates[i]] = n_curved();
            CurvedCell cell{};
            cell.cell  = candidates[i];
            cell.faces = found[i] & 0x3f;
            curved.push_back(cell);
          }
    }



    template <int dim>
    void
    CurvedGeometry<dim>::measure_curved_cells(
      const dealii::Triangulation<dim> &triangulation)
    {
      const std::vector<Lattice<dim>> surfaces =
        make_lattices(triangulation, shapes, std::max(2 * degree, 6u), true);
      const auto *const quadratic =
        dynamic_cast<const MappingQuadratic<dim> *>(mapping);
      dealii::parallel::apply_to_subranges(
        std::size_t(0),
        curved.size(),
        [&](const std::size_t begin, const std::size_t end) {
          MappedRuleCache<dim> cache(*mapping);
          MappedLattices<dim>  mapped(surfaces, *mapping);
          for (std::size_t i = begin; i < end; ++i)
            {
              CurvedCell           &result = curved[i];
              const auto           &cell   = cells[result.cell];
              const unsigned int    which  = mapped.index(cell);
              const CellShape<dim> &shape  = *surfaces[which].shape;
              result.box =
                surface_box(surfaces[which], mapped.reinit(which, cell));
              MappedRule<dim> &volume =
                cache(shape,
                      invalid_index,
                      reference_order(shape, degree, 0, false));
              volume.mapped.reinit(cell);
              result.measure = mapped_measure(shape, volume);
              // A cell may also turn over between the points of the rule.
              if (quadratic != nullptr &&
                  !quadratic->has_positive_jacobian(
                    typename dealii::Triangulation<dim>::cell_iterator(cell)))
                result.measure = -1.;
            }
        },
        64);
    }



    template <int dim>
    std::vector<std::array<double, dim + 1>>
    CurvedGeometry<dim>::face_integrals(
      const std::vector<std::pair<unsigned int, unsigned int>> &faces) const
    {
      std::vector<std::array<double, dim + 1>> result(faces.size());
      dealii::parallel::apply_to_subranges(
        std::size_t(0),
        faces.size(),
        [&](const std::size_t begin, const std::size_t end) {
          MappedRuleCache<dim> cache(*mapping);
          for (std::size_t i = begin; i < end; ++i)
            {
              const auto           &cell  = cells[faces[i].first];
              const CellShape<dim> &shape = shapes(cell->reference_cell());
              MappedRule<dim>      &face =
                cache(shape, faces[i].second, facet_shape_order(shape, degree));
              face.mapped.reinit(cell);
              result[i].fill(0.);
              for (unsigned int q = 0; q < face.rule.points.size(); ++q)
                {
                  const dealii::Tensor<1, dim> normal =
                    face.mapped.surface(q, face.rule.normals[q]);
                  for (int d = 0; d < dim; ++d)
                    result[i][d] += normal[d];
                  result[i][dim] += normal.norm();
                }
            }
        },
        64);
      return result;
    }

    template class CurvedGeometry<2>;
    template class CurvedGeometry<3>;
  } // namespace internal
} // namespace Tessella
