// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/base/parallel.h>
#include <deal.II/base/quadrature_lib.h>

#include <deal.II/fe/fe_nothing.h>
#include <deal.II/fe/fe_values.h>
#include <deal.II/fe/mapping_cartesian.h>
#include <deal.II/fe/mapping_fe.h>
#include <deal.II/fe/mapping_q.h>
#include <deal.II/fe/mapping_q1.h>
#include <deal.II/grid/manifold.h>

#include <tessella/base/exceptions.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/quadrature/reference_quadrature.h>

#include <limits>
#include <map>
#include <memory>
#include <tuple>
#include <typeinfo>

#include "agglomeration_handler_geometry.h"

// Geometry of cells that a mapping makes curved.
//
// Points on faces are points on the boundary of the reference cell. Normals
// follow from the Jacobian of the cell, n dS = |det J| J^-T n^ dS^, in the same
// way for every cell type. The facet of a hanging face is a whole face of the
// finer cell, so that sub-faces never occur.

namespace Tessella
{
  namespace internal
  {
    namespace
    {
      // Polynomial degree of a mapping on the reference cell, per variable on
      // hypercubes.
      template <int dim>
      unsigned int
      mapping_degree(const dealii::Mapping<dim> &mapping)
      {
        if (const auto *q =
              dynamic_cast<const dealii::MappingQ<dim> *>(&mapping))
          return q->get_degree();
        if (const auto *fe =
              dynamic_cast<const dealii::MappingFE<dim> *>(&mapping))
          return fe->get_degree();
        if (dynamic_cast<const dealii::MappingCartesian<dim> *>(&mapping) !=
            nullptr)
          return 1;
        return 4;
      }

      // Image in the reference cell of a point xi of the simplex or hypercube.
      // Pyramids and wedges are hypercubes with coinciding corners.
      template <int dim>
      dealii::Point<dim>
      reference_point(const CellShape<dim> &shape, const dealii::Point<dim> &xi)
      {
        if (shape.is_simplex || shape.n_vertices == (1u << dim))
          return xi;
        dealii::Point<dim> p;
        for (unsigned int c = 0; c < shape.n_corners; ++c)
          {
            double weight = 1.;
            for (int d = 0; d < dim; ++d)
              weight *= (c >> d) & 1u ? xi[d] : 1. - xi[d];
            p +=
              weight * Compatibility::vertex<dim>(shape.type, shape.corner[c]);
          }
        return p;
      }

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
      lattice(const CellShape<dim> &shape, const unsigned int degree)
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
              std::max(degree, 2u) * (shape.n_vertices == (1u << dim) ? 1 : 2) +
              1);
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
        const dealii::Point<dim> a =
          Compatibility::vertex<dim>(shape.type, shape.face[f][0]);
        const dealii::Tensor<1, dim> t =
          Compatibility::vertex<dim>(shape.type, shape.face[f][1]) - a;
        dealii::Tensor<1, dim> normal;
        if constexpr (dim == 2)
          {
            normal[0] = t[1];
            normal[1] = -t[0];
          }
        else
          normal = dealii::cross_product_3d(
            t,
            dealii::Tensor<1, dim>(
              Compatibility::vertex<dim>(shape.type, shape.face[f][2]) - a));
        return std::abs(normal * (p - a)) < 1e-12;
      }

      // Quadrature rule on the reference cell or on one of its faces. The
      // weights of a cell are volumes; those of a face are multiplied by its
      // outward normal on the reference cell.
      template <int dim>
      struct Rule
      {
        std::vector<dealii::Point<dim>>     points;
        std::vector<double>                 weights; // for cells
        std::vector<dealii::Tensor<1, dim>> normals; // for faces
      };

      template <int dim>
      Rule<dim>
      cell_rule(const CellShape<dim> &shape, const unsigned int order)
      {
        const bool collapsed =
          !shape.is_simplex && shape.n_vertices != (1u << dim);
        const ReferenceRule &rule =
          shape.is_simplex
            ? simplex_rule(dim, order)
            :
            // the collapse adds up to dim - 1 to the degree of the Jacobian
            hypercube_rule(dim, collapsed ? order + dim - 1 : order);
        Rule<dim> result;
        for (unsigned int q = 0; q < rule.n_points; ++q)
          {
            dealii::Point<dim> xi;
            for (int d = 0; d < dim; ++d)
              xi[d] = rule.points[d * rule.n_points + q];
            double weight = rule.weights[q];
            if (collapsed)
              {
                dealii::Tensor<2, dim> jacobian;
                for (unsigned int c = 0; c < shape.n_corners; ++c)
                  for (int d = 0; d < dim; ++d)
                    {
                      double derivative = (c >> d) & 1u ? 1. : -1.;
                      for (int o = 0; o < dim; ++o)
                        if (o != d)
                          derivative *= (c >> o) & 1u ? xi[o] : 1. - xi[o];
                      const dealii::Point<dim> v =
                        Compatibility::vertex<dim>(shape.type, shape.corner[c]);
                      for (int i = 0; i < dim; ++i)
                        jacobian[i][d] += derivative * v[i];
                    }
                weight *= dealii::determinant(jacobian);
              }
            result.points.push_back(reference_point(shape, xi));
            result.weights.push_back(weight);
          }
        return result;
      }

      template <int dim>
      Rule<dim>
      face_rule(const CellShape<dim> &shape,
                const unsigned int    f,
                const unsigned int    order)
      {
        const bool triangle = dim == 3 && shape.n_face_vertices[f] == 3;
        const ReferenceRule &rule =
          triangle ? simplex_rule(2, order) : hypercube_rule(dim - 1, order);
        std::array<dealii::Point<dim>, 4> v;
        for (unsigned int i = 0; i < shape.n_face_vertices[f]; ++i)
          v[i] = Compatibility::vertex<dim>(shape.type, shape.face[f][i]);
        // Faces of reference cells are parallelograms or triangles.
        const dealii::Tensor<1, dim> s = v[1] - v[0];
        dealii::Tensor<1, dim>       t, normal;
        if constexpr (dim == 2)
          {
            normal[0] = s[1];
            normal[1] = -s[0];
          }
        else
          {
            t      = v[2] - v[0];
            normal = dealii::cross_product_3d(s, t);
          }
        Rule<dim> result;
        for (unsigned int q = 0; q < rule.n_points; ++q)
          {
            dealii::Point<dim> p = v[0] + rule.points[q] * s;
            if (dim == 3)
              p += rule.points[rule.n_points + q] * t;
            result.points.push_back(p);
            result.normals.push_back(rule.weights[q] * normal);
          }
        return result;
      }

      // Order of the rule on the reference cell for polynomials of
      // degree m in physical space, for a mapping of degree k: see
      // AgglomerationHandler::tabulate(). The argument face selects rules on
      // faces.
      template <int dim>
      unsigned int
      reference_order(const CellShape<dim> &shape,
                      const unsigned int    k,
                      const unsigned int    m,
                      const bool            face)
      {
        const unsigned int n     = face ? dim - 1 : dim;
        const unsigned int exact = shape.is_simplex
                                     ? k * m + n * (k - 1)
                                     : k * m + (face ? n * k : dim * k - 1);
        const unsigned int most =
          shape.is_simplex ? (dim == 2 ? 60 : 40) : (dim == 2 ? 119 : 39);
        const unsigned int least = m + n * (k - 1);
        const unsigned int order = std::min(exact, std::max(most, least));
        return shape.is_simplex ? std::min(order, 60u) : order;
      }

      // Mapping at fixed reference points.
      template <int dim>
      class MappedPoints
      {
      public:
        MappedPoints(const dealii::Mapping<dim>            &mapping,
                     const CellShape<dim>                  &shape,
                     const std::vector<dealii::Point<dim>> &points,
                     const bool                             jacobians)
          : fe(shape.type)
          , fe_values(mapping,
                      fe,
                      dealii::Quadrature<dim>(points),
                      jacobians ? dealii::update_quadrature_points |
                                    dealii::update_jacobians
                                : dealii::update_quadrature_points)
        {}

        void
        reinit(
          const typename dealii::Triangulation<dim>::active_cell_iterator &cell)
        {
          fe_values.reinit(
            typename dealii::Triangulation<dim>::cell_iterator(cell));
        }

        const dealii::Point<dim> &
        point(const unsigned int q) const
        {
          return fe_values.quadrature_point(q);
        }

        double
        determinant(const unsigned int q) const
        {
          return dealii::determinant(
            dealii::Tensor<2, dim>(fe_values.jacobian(q)));
        }

        // Outward normal times surface element. @p normal is that of the
        // reference face.
        dealii::Tensor<1, dim>
        surface(const unsigned int            q,
                const dealii::Tensor<1, dim> &normal) const
        {
          const dealii::Tensor<2, dim> j(fe_values.jacobian(q));
          // The cofactor matrix is det J J^-T.
          dealii::Tensor<1, dim> result;
          if constexpr (dim == 2)
            {
              result[0] = j[1][1] * normal[0] - j[1][0] * normal[1];
              result[1] = -j[0][1] * normal[0] + j[0][0] * normal[1];
            }
          else
            for (int a = 0; a < 3; ++a)
              for (int b = 0; b < 3; ++b)
                {
                  const int a1 = (a + 1) % 3, a2 = (a + 2) % 3,
                            b1 = (b + 1) % 3, b2 = (b + 2) % 3;
                  result[a] +=
                    (j[a1][b1] * j[a2][b2] - j[a1][b2] * j[a2][b1]) * normal[b];
                }
          return dealii::determinant(j) < 0. ? -result : result;
        }

      private:
        dealii::FE_Nothing<dim> fe;
        dealii::FEValues<dim>   fe_values;
      };

      // Quadrature rule and the mapping at its points.
      template <int dim>
      struct MappedRule
      {
        MappedRule(const dealii::Mapping<dim> &mapping,
                   const CellShape<dim>       &shape,
                   Rule<dim>                 &&new_rule)
          : rule(std::move(new_rule))
          , mapped(mapping, shape, rule.points, true)
        {}

        Rule<dim>         rule;
        MappedPoints<dim> mapped;
      };

      // Mapped rules, created on first use. Each thread has its own cache.
      template <int dim>
      class RuleCache
      {
      public:
        RuleCache(const dealii::Mapping<dim> &mapping)
          : mapping(mapping)
        {}

        MappedRule<dim> &
        cell(const CellShape<dim> &shape, const unsigned int order)
        {
          auto &rule = rules[std::make_tuple(shape.n_vertices, 0u, order)];
          if (!rule)
            rule = std::make_unique<MappedRule<dim>>(mapping,
                                                     shape,
                                                     cell_rule(shape, order));
          return *rule;
        }

        MappedRule<dim> &
        face(const CellShape<dim> &shape,
             const unsigned int    f,
             const unsigned int    order)
        {
          auto &rule = rules[std::make_tuple(shape.n_vertices, f + 1, order)];
          if (!rule)
            rule =
              std::make_unique<MappedRule<dim>>(mapping,
                                                shape,
                                                face_rule(shape, f, order));
          return *rule;
        }

      private:
        const dealii::Mapping<dim> &mapping;
        std::map<std::tuple<unsigned int, unsigned int, unsigned int>,
                 std::unique_ptr<MappedRule<dim>>>
          rules;
      };

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
    } // namespace

    template <int dim>
    CurvedGeometry<dim>::CurvedGeometry(
      const dealii::Triangulation<dim> &triangulation,
      const std::vector<
        typename dealii::Triangulation<dim>::active_cell_iterator> &cells,
      const CellShapes<dim>                                        &shapes,
      const dealii::Mapping<dim>                                   *mapping)
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

      // ---- candidates: cells that may be curved
      const unsigned int        n_cells = cells.size();
      std::vector<unsigned int> candidates;
      if (typeid(*mapping) == typeid(dealii::MappingQ<dim>))
        {
          std::map<dealii::types::manifold_id, bool> flat;
          flat[dealii::numbers::flat_manifold_id] = true;
          for (const auto id : triangulation.get_manifold_ids())
            if (id != dealii::numbers::flat_manifold_id)
              {
                const dealii::Manifold<dim> &manifold =
                  triangulation.get_manifold(id);
                flat[id] =
                  typeid(manifold) == typeid(dealii::FlatManifold<dim>);
              }
          const auto is_flat = [&](const dealii::types::manifold_id id) {
            if (id == dealii::numbers::flat_manifold_id)
              return true;
            const auto it = flat.find(id);
            return it != flat.end() && it->second;
          };
          for (unsigned int c = 0; c < n_cells; ++c)
            if (!has_flat_manifolds<dim>(cells[c], is_flat))
              candidates.push_back(c);
        }
      else
        {
          candidates.resize(n_cells);
          for (unsigned int c = 0; c < n_cells; ++c)
            candidates[c] = c;
        }
      if (moves_vertices)
        vertex_coordinates.resize(std::size_t(n_cells) * (dim << dim));

      // ---- compare the candidates with (multi)linear cells
      struct Lattice
      {
        const CellShape<dim>           *shape;
        std::vector<dealii::Point<dim>> points; // the vertices come first
        std::vector<double>             weights;
        std::vector<std::uint8_t>       faces; // bit f: point on face f
      };
      std::vector<Lattice> lattices;
      for (const Compatibility::ReferenceCell<dim> &type :
           triangulation.get_reference_cells())
        {
          Lattice l;
          l.shape = &shapes(type);
          for (unsigned int v = 0; v < l.shape->n_vertices; ++v)
            l.points.push_back(Compatibility::vertex<dim>(type, v));
          l.weights.resize(l.points.size() * l.shape->n_vertices, 0.);
          for (unsigned int v = 0; v < l.shape->n_vertices; ++v)
            l.weights[v * l.shape->n_vertices + v] = 1.;
          for (const dealii::Point<dim> &xi : lattice(*l.shape, degree))
            {
              l.points.push_back(reference_point(*l.shape, xi));
              l.weights.resize(l.points.size() * l.shape->n_vertices);
              vertex_weights(*l.shape,
                             xi,
                             l.weights.data() +
                               (l.points.size() - 1) * l.shape->n_vertices);
            }
          for (const dealii::Point<dim> &p : l.points)
            {
              std::uint8_t faces = 0;
              for (unsigned int f = 0; f < l.shape->n_faces; ++f)
                if (on_face(*l.shape, f, p))
                  faces |= 1u << f;
              l.faces.push_back(faces);
            }
          lattices.push_back(std::move(l));
        }
      const auto lattice_of = [&](const unsigned int c) {
        unsigned int i = 0;
        if (lattices.size() > 1)
          while (lattices[i].shape->type != cells[c]->reference_cell())
            ++i;
        return i;
      };

      // Bit 7: the cell is curved; bits 0 .. 5: curved faces.
      std::vector<std::uint8_t> found(candidates.size(), 0);
      dealii::parallel::apply_to_subranges(
        std::size_t(0),
        candidates.size(),
        [&](const std::size_t begin, const std::size_t end) {
          std::vector<std::unique_ptr<MappedPoints<dim>>> mapped(
            lattices.size());
          for (std::size_t i = begin; i < end; ++i)
            {
              const unsigned int c     = candidates[i];
              const unsigned int which = lattice_of(c);
              const Lattice     &l     = lattices[which];
              if (!mapped[which])
                mapped[which] = std::make_unique<MappedPoints<dim>>(*mapping,
                                                                    *l.shape,
                                                                    l.points,
                                                                    false);
              MappedPoints<dim> &map = *mapped[which];
              map.reinit(cells[c]);
              const unsigned int n        = l.shape->n_vertices;
              double             diameter = 0., largest = 0.;
              for (unsigned int v = 0; v < n; ++v)
                {
                  diameter =
                    std::max(diameter, map.point(v).distance(map.point(0)));
                  for (int d = 0; d < dim; ++d)
                    largest = std::max(largest, std::abs(map.point(v)[d]));
                }
              if (moves_vertices)
                for (unsigned int v = 0; v < n; ++v)
                  for (int d = 0; d < dim; ++d)
                    vertex_coordinates[std::size_t(c) * (dim << dim) + v * dim +
                                       d] = map.point(v)[d];
              const double tolerance =
                1e-13 * diameter +
                32. * std::numeric_limits<double>::epsilon() * largest;
              for (unsigned int q = n; q < l.points.size(); ++q)
                {
                  dealii::Tensor<1, dim> difference(map.point(q));
                  for (unsigned int v = 0; v < n; ++v)
                    difference -= l.weights[q * n + v] * map.point(v);
                  if (!(difference.norm() <= tolerance))
                    found[i] |= 0x80 | l.faces[q];
                }
            }
        },
        256);

      for (std::size_t i = 0; i < candidates.size(); ++i)
        if (found[i] != 0)
          {
            if (number.empty())
              number.resize(n_cells, invalid_index);
            number[candidates[i]] = n_curved();
            CurvedCell cell{};
            cell.cell  = candidates[i];
            cell.faces = found[i] & 0x3f;
            curved.push_back(cell);
          }
      if (curved.empty())
        return;

      // ---- bounding box and measure of the curved cells
      dealii::parallel::apply_to_subranges(
        std::size_t(0),
        curved.size(),
        [&](const std::size_t begin, const std::size_t end) {
          RuleCache<dim> cache(*mapping);
          // Points on the surface of the cell, where coordinates are extremal.
          struct Surface
          {
            std::vector<double>                weights;
            std::unique_ptr<MappedPoints<dim>> mapped;
          };
          std::vector<Surface> surfaces(lattices.size());
          for (std::size_t i = begin; i < end; ++i)
            {
              CurvedCell           &result = curved[i];
              const auto           &cell   = cells[result.cell];
              const unsigned int    which  = lattice_of(result.cell);
              const CellShape<dim> &shape  = *lattices[which].shape;
              const unsigned int    n      = shape.n_vertices;

              Surface &surface = surfaces[which];
              if (!surface.mapped)
                {
                  std::vector<dealii::Point<dim>> points;
                  for (unsigned int v = 0; v < n; ++v)
                    points.push_back(Compatibility::vertex<dim>(shape.type, v));
                  surface.weights.resize(n * n);
                  for (const auto &xi :
                       lattice(shape, std::max(2 * degree, 6u)))
                    {
                      const dealii::Point<dim> p = reference_point(shape, xi);
                      bool                     outside = false;
                      for (unsigned int f = 0; f < shape.n_faces; ++f)
                        outside |= on_face(shape, f, p);
                      if (!outside)
                        continue;
                      points.push_back(p);
                      surface.weights.resize(points.size() * n);
                      vertex_weights(shape,
                                     xi,
                                     surface.weights.data() +
                                       (points.size() - 1) * n);
                    }
                  surface.mapped = std::make_unique<MappedPoints<dim>>(*mapping,
                                                                       shape,
                                                                       points,
                                                                       false);
                }
              MappedPoints<dim> &map = *surface.mapped;
              map.reinit(cell);
              // Between two lattice points, the surface may extend beyond both
              // by a small part of its deviation from the (multi)linear
              // surface.
              double deviation = 0.;
              for (int d = 0; d < dim; ++d)
                {
                  result.box[d]       = std::numeric_limits<double>::max();
                  result.box[dim + d] = std::numeric_limits<double>::lowest();
                }
              for (unsigned int q = 0; q < surface.weights.size() / n; ++q)
                {
                  for (int d = 0; d < dim; ++d)
                    {
                      const double x      = map.point(q)[d];
                      result.box[d]       = std::min(result.box[d], x);
                      result.box[dim + d] = std::max(result.box[dim + d], x);
                    }
                  if (q < n)
                    continue;
                  dealii::Tensor<1, dim> difference(map.point(q));
                  for (unsigned int v = 0; v < n; ++v)
                    difference -= surface.weights[q * n + v] * map.point(v);
                  deviation = std::max(deviation, difference.norm());
                }
              for (int d = 0; d < dim; ++d)
                {
                  result.box[d] -= .05 * deviation;
                  result.box[dim + d] += .05 * deviation;
                }

              MappedRule<dim> &volume =
                cache.cell(shape, reference_order(shape, degree, 0, false));
              volume.mapped.reinit(cell);
              result.measure          = 0.;
              unsigned int n_negative = 0;
              for (unsigned int q = 0; q < volume.rule.points.size(); ++q)
                {
                  const double det = volume.mapped.determinant(q);
                  n_negative += det <= 0.;
                  result.measure += volume.rule.weights[q] * std::abs(det);
                }
              // A simplex may have the opposite orientation, but it must not be
              // folded.
              if (n_negative > 0 && !(shape.is_simplex &&
                                      n_negative == volume.rule.points.size()))
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
          RuleCache<dim> cache(*mapping);
          for (std::size_t i = begin; i < end; ++i)
            {
              const auto           &cell  = cells[faces[i].first];
              const CellShape<dim> &shape = shapes(cell->reference_cell());
              // The length of the normal is not polynomial; this order yields
              // the area to many digits.
              MappedRule<dim> &face =
                cache.face(shape,
                           faces[i].second,
                           reference_order(shape, degree, 5, true));
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

  template <int dim>
  void
  AgglomerationHandler<dim>::tabulate(const unsigned int extra_order) const
  {
    check_cells();
    if (present_n_curved_cells == 0)
      return;
    AssertThrow(!mesh.degree.empty(),
                ExcUserInput("tabulate() needs polynomial degrees: call "
                             "distribute_dofs() first."));
    if (static_cast<int>(extra_order) <= tabulated_extra_order)
      return;

    static const internal::CellShapes<dim> shapes;
    const unsigned int degree = internal::mapping_degree(*user_mapping);

    // ---- tasks: sub-cells and facets with the orders of their rules
    struct Task
    {
      unsigned int                    target; // sub-cell or facet
      unsigned int                    cell;
      const internal::CellShape<dim> *shape;
      unsigned int                    order;
      const CurvedFacet              *facet;
    };
    std::vector<Task> tasks;
    tasks.reserve(present_n_curved_cells + curved_facets.size());
    for (unsigned int k = 0; k < mesh.n_polytopes(); ++k)
      for (unsigned int s = mesh.subcell_offset[k];
           s < mesh.subcell_offset[k + 1];
           ++s)
        if (mesh.subcell_type[s] == SubCellType::tabulated)
          {
            const unsigned int              c = mesh.subcell_cell[s];
            const internal::CellShape<dim> &shape =
              shapes(cells[c]->reference_cell());
            tasks.push_back(
              {s,
               c,
               &shape,
               internal::reference_order(
                 shape, degree, 2 * mesh.degree[k] + extra_order, false),
               nullptr});
          }
    const std::size_t n_subcell_tasks = tasks.size();
    for (const CurvedFacet &facet : curved_facets)
      {
        const internal::CellShape<dim> &shape =
          shapes(cells[facet.cell]->reference_cell());
        unsigned int p = mesh.degree[facet.polytopes[0]];
        if (facet.polytopes[1] != invalid_index)
          p = std::max(p, mesh.degree[facet.polytopes[1]]);
        tasks.push_back(
          {facet.facet,
           facet.cell,
           &shape,
           internal::reference_order(shape, degree, 2 * p + extra_order, true),
           &facet});
      }

    // ---- offsets of the points of each task
    std::map<std::tuple<unsigned int, unsigned int, unsigned int>, unsigned int>
               sizes; // number of points of each rule
    const auto rule_size = [&](const Task &task) {
      const unsigned int f = task.facet == nullptr ? 0 : task.facet->face + 1;
      unsigned int      &n =
        sizes[std::make_tuple(task.shape->n_vertices, f, task.order)];
      if (n == 0)
        n = task.facet == nullptr
              ? internal::cell_rule(*task.shape, task.order).points.size()
              : internal::face_rule(*task.shape, task.facet->face, task.order)
                  .points.size();
      return n;
    };
    mesh.quadrature_revision = PolytopicMesh<dim>::new_revision();
    mesh.subcell_point_offset.assign(mesh.n_subcells() + 1, 0);
    mesh.facet_point_offset.assign(mesh.n_facets() + 1, 0);
    std::uint64_t n_cell_points = 0, n_facet_points = 0;
    for (std::size_t i = 0; i < tasks.size(); ++i)
      {
        const unsigned int n = rule_size(tasks[i]);
        if (i < n_subcell_tasks)
          {
            mesh.subcell_point_offset[tasks[i].target + 1] = n;
            n_cell_points += n;
          }
        else
          {
            mesh.facet_point_offset[tasks[i].target + 1] = n;
            n_facet_points += n;
          }
      }
    if (std::max(n_cell_points, n_facet_points) >= invalid_index)
      {
        mesh.subcell_point_offset.clear();
        mesh.facet_point_offset.clear();
        tabulated_extra_order = -1;
        AssertThrow(false,
                    ExcUserInput("The curved cells need more quadrature points "
                                 "than can be counted with 32 bits: choose a "
                                 "lower polynomial degree or order of the "
                                 "mapping."));
      }
    for (unsigned int s = 0; s < mesh.n_subcells(); ++s)
      mesh.subcell_point_offset[s + 1] += mesh.subcell_point_offset[s];
    for (unsigned int f = 0; f < mesh.n_facets(); ++f)
      mesh.facet_point_offset[f + 1] += mesh.facet_point_offset[f];
    mesh.subcell_points.resize(n_cell_points * dim);
    mesh.subcell_point_weights.resize(n_cell_points);
    mesh.facet_points.resize(n_facet_points * dim);
    mesh.facet_point_normals.resize(n_facet_points * dim);
    mesh.facet_point_weights.resize(n_facet_points);

    // ---- points, weights and normals
    dealii::parallel::apply_to_subranges(
      std::size_t(0),
      tasks.size(),
      [&](const std::size_t begin, const std::size_t end) {
        internal::RuleCache<dim> cache(*user_mapping);
        for (std::size_t i = begin; i < end; ++i)
          {
            const Task &task = tasks[i];
            if (task.facet == nullptr)
              {
                internal::MappedRule<dim> &rule =
                  cache.cell(*task.shape, task.order);
                rule.mapped.reinit(cells[task.cell]);
                const std::size_t first =
                  mesh.subcell_point_offset[task.target];
                for (std::size_t q = 0; q < rule.rule.points.size(); ++q)
                  {
                    for (int d = 0; d < dim; ++d)
                      mesh.subcell_points[(first + q) * dim + d] =
                        rule.mapped.point(q)[d];
                    mesh.subcell_point_weights[first + q] =
                      rule.rule.weights[q] *
                      std::abs(rule.mapped.determinant(q));
                  }
              }
            else
              {
                const CurvedFacet         &facet = *task.facet;
                internal::MappedRule<dim> &rule =
                  cache.face(*task.shape, facet.face, task.order);
                rule.mapped.reinit(cells[task.cell]);
                const std::size_t first = mesh.facet_point_offset[task.target];
                const double      sign  = facet.side == 0 ? 1. : -1.;
                const double     *shift =
                  mesh.shift.data() + std::size_t(dim) * facet.shift;
                for (std::size_t q = 0; q < rule.rule.points.size(); ++q)
                  {
                    const dealii::Tensor<1, dim> normal =
                      rule.mapped.surface(q, rule.rule.normals[q]);
                    const double area                   = normal.norm();
                    mesh.facet_point_weights[first + q] = area;
                    for (int d = 0; d < dim; ++d)
                      {
                        mesh.facet_points[(first + q) * dim + d] =
                          rule.mapped.point(q)[d] -
                          (facet.side == 0 ? 0. : shift[d]);
                        mesh.facet_point_normals[(first + q) * dim + d] =
                          sign * normal[d] / area;
                      }
                  }
              }
          }
      },
      64);
    tabulated_extra_order = static_cast<int>(extra_order);
  }

  template void
  AgglomerationHandler<2>::tabulate(const unsigned int) const;
  template void
  AgglomerationHandler<3>::tabulate(const unsigned int) const;
} // namespace Tessella
