// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/manifold_lib.h>
#include <deal.II/grid/tria_accessor.h>
#include <deal.II/grid/tria_iterator.h>

#include <tessella/base/exceptions.h>
#include <tessella/grid/flow_meshes.h>
#include <tessella/grid/naca_0012.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>

#include "cell_list.h"

namespace Tessella
{
  namespace FlowMeshes
  {
    using internal::CellList;

    namespace
    {
      void
      check_resolution(const Resolution &resolution, const unsigned int least)
      {
        AssertThrow(resolution.n_cells >= least,
                    ExcUserInput("This mesh needs at least " +
                                 std::to_string(least) +
                                 " cells along the body, but there are " +
                                 std::to_string(resolution.n_cells) + "."));
        AssertThrow(resolution.first_height >= 0. &&
                      std::isfinite(resolution.first_height),
                    ExcUserInput("The height of the first layer must be "
                                 "positive, or 0 for cells as high as long."));
        AssertThrow(resolution.growth > 1. && resolution.growth <= 10.,
                    ExcUserInput("The growth of layers must be above 1 and at "
                                 "most 10, but it is " +
                                 std::to_string(resolution.growth) + "."));
        AssertThrow(resolution.stretch >= 1. &&
                      std::isfinite(resolution.stretch),
                    ExcUserInput("The ratio of height and length up to which "
                                 "layers grow must be at least 1, but it is " +
                                 std::to_string(resolution.stretch) + "."));
        AssertThrow(std::abs(resolution.bunching) <= 0.9,
                    ExcUserInput("The bunching of cells at the middle of the "
                                 "chord must be between -0.9 and 0.9, but it "
                                 "is " +
                                 std::to_string(resolution.bunching) + "."));
        AssertThrow(resolution.n_slices >= 1,
                    ExcUserInput("An extruded mesh needs at least one slice."));
      }



      void
      check_positive(const std::string &name, const double value)
      {
        AssertThrow(value > 0. && std::isfinite(value),
                    ExcUserInput("The " + name +
                                 " must be positive, but it is " +
                                 std::to_string(value) + "."));
      }



      // Distances 0 .. length of layers: see "Grading". Cells at a distance x
      // are longest(x) long.
      std::vector<double>
      layers(const double                               length,
             const double                               first_height,
             const double                               growth,
             const std::function<double(const double)> &longest,
             const double                               stretch = 1.)
      {
        double h =
          first_height > 0. ? std::min(first_height, longest(0.)) : longest(0.);
        const bool grows = first_height > 0. || stretch > 1.;
        AssertThrow(h < length,
                    ExcUserInput("The first layer of cells is higher than the "
                                 "distance to the far field: choose more cells "
                                 "or a lower first layer."));
        std::vector<double> result = {0.};
        while (result.back() < length)
          {
            result.push_back(result.back() + h);
            AssertThrow(result.size() < 100000,
                        ExcUserInput("The mesh has more than 100,000 layers: "
                                     "choose a higher first layer or growth."));
            h = std::min(grows ? growth * h : 1e300,
                         stretch * longest(result.back()));
          }
        const double last = result.back();
        for (double &x : result)
          x *= length / last;
        return result;
      }



      // Rows 0 .. n_y of columns 0 .. n_x, with vertices given by a function.
      // A ring's last column is its first one.
      template <typename VertexAt>
      CellList<2>
      structured(const unsigned int n_x,
                 const unsigned int n_y,
                 const bool         ring,
                 const VertexAt    &vertex)
      {
        CellList<2>        list;
        const unsigned int n = ring ? n_x : n_x + 1;
        for (unsigned int j = 0; j <= n_y; ++j)
          for (unsigned int i = 0; i < n; ++i)
            list.vertices.push_back(vertex(i, j));
        for (unsigned int j = 0; j < n_y; ++j)
          for (unsigned int i = 0; i < n_x; ++i)
            {
              const unsigned int next = (i + 1) % n;
              list.cells.push_back({{j * n + i,
                                     j * n + next,
                                     (j + 1) * n + i,
                                     (j + 1) * n + next}});
            }
        return list;
      }



      // Whether all points have a coordinate.
      template <int dim>
      bool
      on_plane(const std::vector<dealii::Point<dim>> &points,
               const int                              d,
               const double                           x)
      {
        return std::all_of(points.begin(), points.end(), [&](const auto &p) {
          return std::abs(p[d] - x) < 1e-10 * (1. + std::abs(x));
        });
      }



      // Ids of a box whose walls in y have the id 3.
      template <int dim>
      typename CellList<dim>::BoundaryId
      ids_of_box(const double x0,
                 const double x1,
                 const double depth,
                 const bool   planes_are_walls)
      {
        return [=](const std::vector<dealii::Point<dim>> &points)
                 -> dealii::types::boundary_id {
          if (on_plane(points, 0, x0))
            return 0;
          if (on_plane(points, 0, x1))
            return 1;
          if (dim == 3 && !planes_are_walls)
            for (const unsigned int side : {0, 1})
              if (on_plane(points, dim - 1, side * depth))
                return 4 + side;
          return 3;
        };
      }



      template <int dim>
      void
      create_from_plane(dealii::Triangulation<dim>               &triangulation,
                        const CellList<2>                        &list,
                        const Resolution                         &resolution,
                        const double                              depth,
                        const typename CellList<dim>::BoundaryId &id,
                        const dealii::Manifold<dim>              *manifold)
      {
        if constexpr (dim == 2)
          list.create(triangulation, resolution.simplices, id, manifold);
        else
          {
            check_positive("depth", depth);
            internal::extrude(list, depth, resolution.n_slices)
              .create(triangulation, resolution.simplices, id, manifold);
          }
      }
    } // namespace



    template <int dim>
    void
    channel_cylinder(dealii::Triangulation<dim> &triangulation,
                     const Resolution           &resolution)
    {
      check_resolution(resolution, 16);
      unsigned int             n = 16;
      dealii::Triangulation<2> plane;
      dealii::GridGenerator::channel_with_cylinder(plane, .03, 2, 2., true);
      for (; n < resolution.n_cells; n *= 2)
        plane.refine_global(1);
      AssertThrow(n == resolution.n_cells,
                  ExcUserInput("The cells of the cylinder in the channel, "
                               "twice as many as there are around it, must be "
                               "16, 32, 64, ..., but " +
                               std::to_string(resolution.n_cells) +
                               " are given."));
      const dealii::Point<2> centre(.2, .2);
      CellList<2>            list;
      for (const dealii::Point<2> &p : plane.get_vertices())
        {
          const double r = p.distance(centre);
          list.vertices.push_back({p, r < .05 + 1e-9, r < .08 + 1e-9});
        }
      for (const auto &cell : plane.active_cell_iterators())
        list.cells.push_back({{cell->vertex_index(0),
                               cell->vertex_index(1),
                               cell->vertex_index(2),
                               cell->vertex_index(3)}});
      std::unique_ptr<dealii::Manifold<dim>> manifold;
      if constexpr (dim == 2)
        manifold = std::make_unique<dealii::SphericalManifold<2>>(centre);
      else
        manifold = std::make_unique<dealii::CylindricalManifold<3>>(
          dealii::Tensor<1, 3>({0., 0., 1.}), dealii::Point<3>(.2, .2, 0.));
      create_from_plane<dim>(triangulation,
                             list,
                             resolution,
                             .41,
                             ids_of_box<dim>(0., 2.2, .41, true),
                             manifold.get());
    }



    template <int dim>
    void
    square_cylinder(dealii::Triangulation<dim> &triangulation,
                    const Resolution           &resolution,
                    const double                upstream,
                    const double                downstream,
                    const double                side,
                    const double                depth)
    {
      check_resolution(resolution, 1);
      for (const double distance : {upstream, downstream, side})
        AssertThrow(distance > 1. && std::isfinite(distance),
                    ExcUserInput("The far field of the square cylinder must be "
                                 "more than 1 side away from its centre."));
      const unsigned int n = resolution.n_cells;
      const double       h =
        resolution.first_height > 0. ? resolution.first_height : 1. / n;
      // Cells may become as long as a tenth of the domain.
      const auto outside = [&](const double distance) {
        return layers(distance - .5, h, resolution.growth, [&](const double) {
          return std::max(1. / n, .1 * distance);
        });
      };
      const auto coordinates = [&](const double lower, const double upper) {
        std::vector<double> x;
        const auto          before = outside(lower), after = outside(upper);
        for (unsigned int i = before.size() - 1; i > 0; --i)
          x.push_back(-.5 - before[i]);
        for (unsigned int i = 0; i <= n; ++i)
          x.push_back(double(i) / n - .5);
        for (unsigned int i = 1; i < after.size(); ++i)
          x.push_back(.5 + after[i]);
        return x;
      };
      const std::vector<double> x = coordinates(upstream, downstream),
                                y = coordinates(side, side);
      const auto inside           = [](const double a, const double b) {
        return std::abs(.5 * (a + b)) < .5;
      };
      // Vertices inside of the square are left out.
      CellList<2>                                       list;
      std::map<std::pair<unsigned, unsigned>, unsigned> number;
      const auto vertex = [&](const unsigned int i, const unsigned int j) {
        const auto entry =
          number.emplace(std::make_pair(i, j), list.vertices.size());
        if (entry.second)
          list.vertices.push_back(
            {dealii::Point<2>(x[i], y[j]),
             std::max(std::abs(x[i]), std::abs(y[j])) < .5 + 1e-12,
             false});
        return entry.first->second;
      };
      for (unsigned int j = 0; j + 1 < y.size(); ++j)
        for (unsigned int i = 0; i + 1 < x.size(); ++i)
          if (!(inside(x[i], x[i + 1]) && inside(y[j], y[j + 1])))
            {
              const unsigned int a = vertex(i, j), b = vertex(i + 1, j),
                                 c = vertex(i, j + 1), d = vertex(i + 1, j + 1);
              list.cells.push_back({{a, b, c, d}});
            }
      create_from_plane<dim>(
        triangulation,
        list,
        resolution,
        depth,
        ids_of_box<dim>(-upstream, downstream, depth, false),
        nullptr);
    }



    namespace
    {
      // Product of a manifold of the plane with the direction of z.
      class ExtrudedManifold : public dealii::ChartManifold<3, 3, 3>
      {
      public:
        explicit ExtrudedManifold(const dealii::ChartManifold<2, 2, 2> &plane)
          : dealii::ChartManifold<3, 3, 3>(dealii::Tensor<1, 3>(
              {plane.get_periodicity()[0], plane.get_periodicity()[1], 0.}))
          , cloned(plane.clone())
          , plane(dynamic_cast<const dealii::ChartManifold<2, 2, 2> &>(*cloned))
        {}

        std::unique_ptr<dealii::Manifold<3, 3>>
        clone() const override
        {
          return std::make_unique<ExtrudedManifold>(plane);
        }

        dealii::Point<3>
        pull_back(const dealii::Point<3> &point) const override
        {
          const dealii::Point<2> p = plane.pull_back({point[0], point[1]});
          return {p[0], p[1], point[2]};
        }

        dealii::Point<3>
        push_forward(const dealii::Point<3> &chart_point) const override
        {
          const dealii::Point<2> p =
            plane.push_forward({chart_point[0], chart_point[1]});
          return {p[0], p[1], chart_point[2]};
        }

      private:
        const std::unique_ptr<dealii::Manifold<2, 2>> cloned;
        const dealii::ChartManifold<2, 2, 2>         &plane;
      };
    } // namespace



    template <int dim>
    void
    naca_0012(dealii::Triangulation<dim> &triangulation,
              const Resolution           &resolution,
              const double                far_field,
              const double                depth)
    {
      check_resolution(resolution, 8);
      const unsigned int n = resolution.n_cells;
      AssertThrow(n % 2 == 0,
                  ExcUserInput("The number of cells around the aerofoil must "
                               "be even, but it is " +
                               std::to_string(n) + "."));
      const Naca0012::OGridManifold manifold(far_field,
                                             resolution.trailing_edge);
      // In the plane of zeta, where the aerofoil is nearly a circle of radius
      // 1/4, lengths are half of those at the middle of the chord.
      const double              pi       = dealii::numbers::PI;
      const std::vector<double> distance = layers(
        far_field - .25,
        .5 * resolution.first_height,
        resolution.growth,
        [&](const double d) { return 2. * pi / n * (.25 + d); },
        resolution.stretch);
      // All layers follow the aerofoil up to those whose cells are about as
      // high as long, and at least for twice the length of its edges.
      const auto is_curved = [&](const unsigned int j) {
        const double d = distance[j], height = d - distance[j == 0 ? 0 : j - 1];
        return d <= pi / n || height < .7 * 2. * pi / n * (.25 + d);
      };
      const CellList<2> list =
        structured(n,
                   distance.size() - 1,
                   true,
                   [&](const unsigned int i, const unsigned int j) {
                     const unsigned int k = std::min(i, n - i);
                     const double       t = 2. * pi * k / n;
                     const double       phi =
                       2 * k == n
                               ? pi
                               : t + .5 * resolution.bunching * std::sin(2. * t);
                     dealii::Point<2> point = manifold.push_forward(
                       {phi, distance[j] / distance.back()});
                     if (i != k)
                       point[1] = -point[1];
                     return CellList<2>::Vertex{point, j == 0, is_curved(j)};
                   });
      std::unique_ptr<dealii::Manifold<dim>> in_space;
      if constexpr (dim == 2)
        in_space = manifold.clone();
      else
        in_space = std::make_unique<ExtrudedManifold>(manifold);
      create_from_plane<dim>(
        triangulation,
        list,
        resolution,
        depth,
        [depth](const std::vector<dealii::Point<dim>> &points)
          -> dealii::types::boundary_id {
          if (dim == 3)
            for (const unsigned int side : {0, 1})
              if (on_plane(points, dim - 1, side * depth))
                return 4 + side;
          return 0;
        },
        in_space.get());
    }



    namespace
    {
      // Coordinates (x, (y - b) / (0.8 - b), z), b being the bump.
      template <int dim>
      class BumpManifold : public dealii::ChartManifold<dim, dim, dim>
      {
      public:
        static double
        height(const double x)
        {
          return 0.0625 * std::exp(-25. * x * x);
        }

        std::unique_ptr<dealii::Manifold<dim, dim>>
        clone() const override
        {
          return std::make_unique<BumpManifold<dim>>();
        }

        dealii::Point<dim>
        pull_back(const dealii::Point<dim> &point) const override
        {
          dealii::Point<dim> p = point;
          const double       b = height(p[0]);
          p[1]                 = (p[1] - b) / (.8 - b);
          return p;
        }

        dealii::Point<dim>
        push_forward(const dealii::Point<dim> &chart_point) const override
        {
          dealii::Point<dim> p = chart_point;
          const double       b = height(p[0]);
          p[1]                 = b + p[1] * (.8 - b);
          return p;
        }
      };
    } // namespace



    template <int dim>
    void
    bump(dealii::Triangulation<dim> &triangulation,
         const Resolution           &resolution,
         const double                depth)
    {
      check_resolution(resolution, 2);
      const unsigned int        n       = resolution.n_cells;
      const double              longest = 3. / n;
      const std::vector<double> y =
        layers(.8,
               resolution.first_height,
               resolution.growth,
               [&](const double) { return longest; });
      const BumpManifold<2> plane;
      const CellList<2>     list =
        structured(n,
                   y.size() - 1,
                   false,
                   [&](const unsigned int i, const unsigned int j) {
                     return CellList<2>::Vertex{
                       plane.push_forward({-1.5 + 3. * i / n, y[j] / .8}),
                       j == 0,
                       y[j] <= .5 * longest};
                   });
      const BumpManifold<dim> manifold;
      create_from_plane<dim>(triangulation,
                             list,
                             resolution,
                             depth,
                             ids_of_box<dim>(-1.5, 1.5, depth, false),
                             &manifold);
    }



    namespace
    {
      // Cells of the unit circle: vertices in order.
      CellList<2>
      around_body(const unsigned int         n,
                  const std::vector<double> &radii,
                  const std::vector<bool>   &curved,
                  const std::integral_constant<int, 2>)
      {
        return structured(4 * n,
                          radii.size() - 1,
                          true,
                          [&](const unsigned int i, const unsigned int j) {
                            const double phi = .5 * dealii::numbers::PI * i / n;
                            return CellList<2>::Vertex{
                              dealii::Point<2>(radii[j] * std::cos(phi),
                                               radii[j] * std::sin(phi)),
                              j == 0,
                              curved[j]};
                          });
      }



      // Layers over the six faces of a cube whose edges have n cells. Equal
      // angles between the planes through the centre give cells of about equal
      // size.
      CellList<3>
      around_body(const unsigned int         n,
                  const std::vector<double> &radii,
                  const std::vector<bool>   &curved,
                  const std::integral_constant<int, 3>)
      {
        std::map<std::array<unsigned int, 3>, unsigned int> number;
        std::vector<dealii::Point<3>>                       directions;
        std::vector<std::array<unsigned int, 4>>            quads;
        const auto vertex = [&](const std::array<unsigned int, 3> &i) {
          const auto entry = number.emplace(i, directions.size());
          if (entry.second)
            {
              dealii::Point<3> p;
              for (unsigned int d = 0; d < 3; ++d)
                p[d] =
                  std::tan(.25 * dealii::numbers::PI * (2. * i[d] / n - 1.));
              directions.push_back(p / p.norm());
            }
          return entry.first->second;
        };
        for (unsigned int face = 0; face < 6; ++face)
          for (unsigned int b = 0; b < n; ++b)
            for (unsigned int a = 0; a < n; ++a)
              {
                std::array<unsigned int, 4> quad;
                for (unsigned int v = 0; v < 4; ++v)
                  {
                    std::array<unsigned int, 3> i;
                    i[face / 2]           = (face % 2) * n;
                    i[(face / 2 + 1) % 3] = a + v % 2;
                    i[(face / 2 + 2) % 3] = b + v / 2;
                    quad[v]               = vertex(i);
                  }
                quads.push_back(quad);
              }
        CellList<3>        list;
        const unsigned int m = directions.size();
        for (unsigned int j = 0; j < radii.size(); ++j)
          for (const dealii::Point<3> &p : directions)
            list.vertices.push_back(
              {dealii::Point<3>(radii[j] * p), j == 0, bool(curved[j])});
        for (unsigned int j = 0; j + 1 < radii.size(); ++j)
          for (const auto &quad : quads)
            {
              std::array<unsigned int, 8> cell;
              for (unsigned int v = 0; v < 8; ++v)
                cell[v] = quad[v % 4] + (j + v / 4) * m;
              list.cells.push_back(cell);
            }
        return list;
      }
    } // namespace



    template <int dim>
    void
    sphere(dealii::Triangulation<dim> &triangulation,
           const Resolution           &resolution,
           const double                radius,
           const double                far_field)
    {
      check_resolution(resolution, 2);
      check_positive("radius", radius);
      AssertThrow(far_field > radius && std::isfinite(far_field),
                  ExcUserInput("The radius of the far field, " +
                               std::to_string(far_field) +
                               ", must be larger than that of the body, " +
                               std::to_string(radius) + "."));
      const double        angle = .5 * dealii::numbers::PI / resolution.n_cells;
      std::vector<double> radii = layers(
        far_field - radius,
        resolution.first_height,
        resolution.growth,
        [&](const double d) { return angle * (radius + d); },
        resolution.stretch);
      std::vector<bool> curved;
      for (double &r : radii)
        {
          curved.push_back(r <= .5 * angle * radius);
          r += radius;
        }
      around_body(resolution.n_cells,
                  radii,
                  curved,
                  std::integral_constant<int, dim>())
        .create(
          triangulation,
          resolution.simplices,
          [](const std::vector<dealii::Point<dim>> &) { return 0u; },
          std::make_unique<dealii::SphericalManifold<dim>>().get());
    }

    template void
    channel_cylinder(dealii::Triangulation<2> &, const Resolution &);
    template void
    channel_cylinder(dealii::Triangulation<3> &, const Resolution &);
    template void
    square_cylinder(dealii::Triangulation<2> &,
                    const Resolution &,
                    const double,
                    const double,
                    const double,
                    const double);
    template void
    square_cylinder(dealii::Triangulation<3> &,
                    const Resolution &,
                    const double,
                    const double,
                    const double,
                    const double);
    template void
    naca_0012(dealii::Triangulation<2> &,
              const Resolution &,
              const double,
              const double);
    template void
    naca_0012(dealii::Triangulation<3> &,
              const Resolution &,
              const double,
              const double);
    template void
    bump(dealii::Triangulation<2> &, const Resolution &, const double);
    template void
    bump(dealii::Triangulation<3> &, const Resolution &, const double);
    template void
    sphere(dealii::Triangulation<2> &,
           const Resolution &,
           const double,
           const double);
    template void
    sphere(dealii::Triangulation<3> &,
           const Resolution &,
           const double,
           const double);
  } // namespace FlowMeshes
} // namespace Tessella
