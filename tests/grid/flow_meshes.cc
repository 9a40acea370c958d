// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Meshes around bodies in flow with cells of degree 2: boundary ids, closed
// surfaces, volumes, the volume of the body and its order, agglomerated or not,
// of simplices and of hypercubes, in 2-D and in 3-D.

#include <deal.II/fe/mapping_q.h>
#include <deal.II/grid/tria.h>

#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/grid/flow_meshes.h>
#include <tessella/grid/mapping_quadratic.h>
#include <tessella/grid/naca_0012.h>
#include <tessella/values/polytope_interface_values.h>

#include <cmath>
#include <functional>
#include <memory>
#include <set>

#include "../messages.h"
#include "../tests.h"

using namespace dealii;
using namespace Tessella;

namespace
{
  template <int dim>
  struct Case
  {
    std::string name;
    /// Creates a mesh that is finer by a factor.
    std::function<
      void(Triangulation<dim> &, FlowMeshes::Resolution &, const unsigned int)>
                                 create;
    std::set<types::boundary_id> ids;
    /// Volume of the body, or below the bump.
    double volume;
    /// Least order of this volume; 0: it is exact.
    double order;
    /// The volume is the flux of the mean of x_d e_d over these directions.
    std::vector<int> directions;
  };

  struct Measures
  {
    double closed = 0., divergence = 0., body = 0.;
  };

  /// Polytopes of @p n_together cells.
  template <int dim>
  Measures
  measure(const Triangulation<dim> &triangulation,
          const Mapping<dim>       &mapping,
          const std::vector<int>   &directions,
          const unsigned int        n_together)
  {
    Tessella::AgglomerationHandler<dim> handler(triangulation, &mapping);
    std::vector<unsigned int>           ids(triangulation.n_active_cells());
    for (unsigned int i = 0; i < ids.size(); ++i)
      ids[i] = i / n_together;
    handler.agglomerate(Agglomeration::by_id<dim>(ids));
    handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(1));
    PolytopeInterfaceValues<dim> values(handler,
                                        1,
                                        update_JxW_values |
                                          update_quadrature_points |
                                          update_normal_vectors);
    Measures                     result;
    for (const auto &polytope : handler.polytope_iterators())
      {
        Tensor<1, dim> sum;
        double         volume = 0., surface = 0.;
        for (unsigned int f = 0; f < polytope.n_faces(); ++f)
          {
            values.reinit(polytope, f);
            for (const unsigned int q : values.quadrature_point_indices())
              {
                const Tensor<1, dim> n =
                  values.JxW(q) * values.normal_vector(q);
                const Point<dim> x = values.quadrature_point(q);
                sum += n;
                surface += values.JxW(q);
                volume += n * x / dim;
                if (values.at_boundary() && values.boundary_id() == 2)
                  for (const int d : directions)
                    result.body -= n[d] * x[d] / directions.size();
              }
          }
        result.closed = std::max(result.closed, sum.norm() / surface);
        result.divergence =
          std::max(result.divergence,
                   std::abs(volume / polytope.measure() - 1.));
      }
    return result;
  }

  // Finer meshes take minutes with assertions, and serve the order and the
  // Jacobian matrices alone, which assertions do not change.
#ifdef DEBUG
  constexpr unsigned int n_levels = 1;
#else
  constexpr unsigned int n_levels = 2;
#endif

  template <int dim>
  void
  test(const Case<dim> &c, const bool simplices)
  {
    const std::string name = c.name + ", " + std::to_string(dim) + "-D, " +
                             (simplices ? "simplices, " : "hypercubes, ");
    double error[n_levels];
    for (unsigned int level = 0; level < n_levels; ++level)
      {
        Triangulation<dim>     triangulation;
        FlowMeshes::Resolution resolution;
        resolution.simplices = simplices;
        resolution.n_slices  = 1;
        c.create(triangulation, resolution, level + 1);
        if (level == 0)
          {
            std::set<types::boundary_id> ids;
            for (const auto id : triangulation.get_boundary_ids())
              ids.insert(id);
            check(name + "boundary ids", ids == c.ids);
          }
        std::unique_ptr<Mapping<dim>> mapping;
        if (simplices)
          {
            auto quadratic =
              std::make_unique<MappingQuadratic<dim>>(triangulation);
            quadratic->check_jacobians(triangulation);
            mapping = std::move(quadratic);
          }
        else
          mapping = std::make_unique<MappingQ<dim>>(2);
        for (const unsigned int n_together : {5, 1})
          if (n_together == 5 || level == 0)
            {
              const Measures m =
                measure<dim>(triangulation, *mapping, c.directions, n_together);
              const std::string of =
                name + std::to_string(n_together) + " cells, ";
              check_below(of + "closed surfaces", m.closed, 1e-13);
              check_below(of + "volumes", m.divergence, 1e-10);
              error[level] = std::abs(m.body - c.volume);
            }
      }
    const double last = error[n_levels - 1];
    if (c.order == 0.)
      check_below(name + "volume of the body", last, 1e-12);
    else if (n_levels > 1)
      check_below(name + "order of the body's volume",
                  last,
                  error[0] * std::pow(2., -c.order));
  }

  template <int dim>
  void
  test()
  {
    using Mesh          = Triangulation<dim>;
    using Resolution    = FlowMeshes::Resolution;
    const double     pi = numbers::PI, depth = .5;
    const double     length = dim == 3 ? depth : 1.;
    std::vector<int> all(dim);
    for (int d = 0; d < dim; ++d)
      all[d] = d;
    const auto with_planes = [](std::set<types::boundary_id> ids) {
      if (dim == 3)
        ids.insert({4, 5});
      return ids;
    };
    // The integral of the thickness from 0 to 1.
    const double aerofoil   = 1.2 * (.2969 * 2. / 3. - .1260 / 2. - .3516 / 3. +
                                   .2843 / 4. - .1036 / 5.);
    const Case<dim> cases[] = {
      {"channel_cylinder",
       [](Mesh &mesh, Resolution &r, const unsigned int n) {
         r.n_cells = 16 * n;
         FlowMeshes::channel_cylinder(mesh, r);
       },
       {0, 1, 2, 3},
       pi * .0025 * (dim == 3 ? .41 : 1.),
       3.5,
       {0, 1}},
      {"square_cylinder",
       [&](Mesh &mesh, Resolution &r, const unsigned int n) {
         r.n_cells = 3 * n;
         r.growth  = 1.6;
         FlowMeshes::square_cylinder(mesh, r, 3., 5., 4., depth);
       },
       with_planes({0, 1, 2, 3}),
       length,
       0.,
       {0, 1}},
      {"naca_0012",
       [&](Mesh &mesh, Resolution &r, const unsigned int n) {
         r.n_cells      = 16 * n;
         r.first_height = .02 / n;
         r.growth       = 1.5;
         FlowMeshes::naca_0012(mesh, r, 4., depth);
       },
       with_planes({0, 2}),
       aerofoil * length,
       2.5,
       {0, 1}},
      {"bump",
       [&](Mesh &mesh, Resolution &r, const unsigned int n) {
         r.n_cells      = 12 * n;
         r.first_height = .03 / n;
         r.growth       = 1.6;
         FlowMeshes::bump(mesh, r, depth);
       },
       with_planes({0, 1, 2, 3}),
       .0625 * std::sqrt(pi / 25.) * std::erf(7.5) * length,
       3.,
       {1}},
      {"sphere",
       [](Mesh &mesh, Resolution &r, const unsigned int n) {
         r.n_cells = 3 * n;
         FlowMeshes::sphere(mesh, r, .5, 2.);
       },
       {0, 2},
       dim == 2 ? pi / 4. : pi / 6.,
       3.5,
       all}};
    for (const Case<dim> &c : cases)
      for (const bool simplices : {true, false})
        test(c, simplices);
  }

  /// Points of the manifold stay on the aerofoil, and the coordinates of the
  /// plane are inverse to each other.
  void
  manifold(const Naca0012::TrailingEdge edge)
  {
    const Naca0012::OGridManifold chart(10., edge);
    double                        round_trip = 0., on_body = 0., symmetry = 0.;
    for (unsigned int i = 0; i < 40; ++i)
      for (const double s : {0., 1e-3, .1, 1.})
        {
          const Point<2> c(2. * numbers::PI * (i + .25) / 40., s);
          const Point<2> x = chart.push_forward(c);
          round_trip =
            std::max(round_trip,
                     x.distance(chart.push_forward(chart.pull_back(x))));
          const Point<2> mirror =
            chart.push_forward({2. * numbers::PI - c[0], s});
          symmetry = std::max(symmetry, mirror.distance(Point<2>(x[0], -x[1])));
          if (s == 0.)
            on_body = std::max(on_body,
                               std::abs(std::abs(x[1]) -
                                        Naca0012::half_thickness(x[0], edge)));
        }
    check_below("coordinates around the aerofoil", round_trip, 1e-12);
    check_below("points on the aerofoil", on_body, 1e-14);
    check_below("symmetry of the aerofoil", symmetry, 1e-13);
  }

  void
  aerofoil()
  {
    using Naca0012::TrailingEdge;
    manifold(TrailingEdge::coefficient);
    manifold(TrailingEdge::extended);
    check_close("thickness of NACA 0012 at x = 0.3",
                Naca0012::half_thickness(.3),
                .06,
                2e-4);
    // The curve of the original definition, scaled.
    const double x = .3, X = 1.0089304115, z = x * X;
    check_close("extended to a closed trailing edge",
                Naca0012::half_thickness(x, TrailingEdge::extended),
                .6 / X *
                  (.2969 * std::sqrt(z) - .126 * z - .3516 * z * z +
                   .2843 * z * z * z - .1015 * z * z * z * z),
                1e-10);
  }

  /// Few high layers far away, and more cells in the middle of the chord.
  void
  few_layers()
  {
    unsigned int n_cells[2], n_middle[2];
    for (const int i : {0, 1})
      {
        Triangulation<2>       mesh;
        FlowMeshes::Resolution resolution;
        resolution.n_cells  = 24;
        resolution.growth   = 1.5;
        resolution.stretch  = 1. + 3. * i;
        resolution.bunching = .5 * i;
        FlowMeshes::naca_0012(mesh, resolution, 100.);
        n_cells[i]  = mesh.n_active_cells();
        n_middle[i] = 0;
        for (const auto &face : mesh.active_face_iterators())
          if (face->at_boundary() && face->boundary_id() == 2)
            n_middle[i] += std::abs(face->center()[0] - .5) < .25;
        const Measures m = measure<2>(mesh, MappingQ<2>(2), {0, 1}, 1);
        check_below("few layers, closed surfaces", m.closed, 1e-13);
        check_below("few layers, volumes", m.divergence, 1e-10);
      }
    check_below("cells with high layers", n_cells[1], .7 * n_cells[0]);
    check_below("cells in the middle without bunching",
                1.5 * n_middle[0],
                n_middle[1]);
  }

  /// Cells of degree 2 do not turn over in tetrahedra that are refined once.
  void
  refined_tetrahedra()
  {
    Triangulation<3>       mesh;
    FlowMeshes::Resolution resolution;
    resolution.simplices = true;
    resolution.n_slices  = 4;
    FlowMeshes::channel_cylinder(mesh, resolution);
    mesh.refine_global(1);
    const MappingQuadratic<3> mapping(mesh);
    check("refined tetrahedra of channel_cylinder",
          message_of([&] { mapping.check_jacobians(mesh); }) == "no exception");
  }

  void
  bad_input()
  {
    const auto message = [](const auto &create) {
      return message_of([&] {
        Triangulation<2>       triangulation;
        FlowMeshes::Resolution resolution;
        create(triangulation, resolution);
      });
    };
    using Mesh       = Triangulation<2>;
    using Resolution = FlowMeshes::Resolution;
    check("odd number of cells",
          contains(message([](Mesh &mesh, Resolution &r) {
                     r.n_cells = 17;
                     FlowMeshes::naca_0012(mesh, r, 4.);
                   }),
                   "must be even, but it is 17"));
    check("far field on the aerofoil",
          contains(message([](Mesh &mesh, Resolution &r) {
                     FlowMeshes::naca_0012(mesh, r, .5);
                   }),
                   "at least 1 chord"));
    check("growth",
          contains(message([](Mesh &mesh, Resolution &r) {
                     r.growth = 1.;
                     FlowMeshes::bump(mesh, r);
                   }),
                   "growth of layers must be above 1"));
    check("stretch",
          contains(message([](Mesh &mesh, Resolution &r) {
                     r.stretch = .5;
                     FlowMeshes::naca_0012(mesh, r, 4.);
                   }),
                   "must be at least 1, but it is 0.5"));
    check("bunching",
          contains(message([](Mesh &mesh, Resolution &r) {
                     r.bunching = 1.;
                     FlowMeshes::naca_0012(mesh, r, 4.);
                   }),
                   "between -0.9 and 0.9, but it is 1"));
    check("depth",
          contains(message_of([] {
                     Triangulation<3>       mesh;
                     FlowMeshes::Resolution r;
                     FlowMeshes::naca_0012(mesh, r, 4., -1.);
                   }),
                   "The depth must be positive"));
  }
} // namespace

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  aerofoil();
  few_layers();
  test<2>();
  test<3>();
  if (n_levels > 1)
    refined_tetrahedra();
  bad_input();
}
