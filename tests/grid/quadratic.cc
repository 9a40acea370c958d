// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later

// Cells of degree 2: areas, closed surfaces, orders, files, cells that turn
// over.

#include <deal.II/grid/grid_tools.h>
#include <deal.II/grid/tria.h>

#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/grid/agglomeration_handler.h>
#include <tessella/grid/flow_meshes.h>
#include <tessella/grid/mapping_quadratic.h>
#include <tessella/grid/read_quadratic_msh.h>

#include <fstream>
#include <sstream>

#include "../messages.h"
#include "../tests.h"

using namespace dealii;
using namespace Tessella;

const std::string folder = SOURCE_DIR "/meshes/";

double
power(const double x, const unsigned int n)
{
  return n == 0 ? 1. : x * power(x, n - 1);
}

/// Largest deviation of int_K div F = int_dK F.n over polytopes, for F =
/// x^a y^b z^c e_d with a + b + c <= 2 p.
template <int dim>
double
divergence_error(const Tessella::AgglomerationHandler<dim> &handler,
                 const unsigned int                         degree)
{
  handler.tabulate(1);
  const PolytopicMesh<dim> &mesh    = handler.polytopic_mesh();
  double                    largest = 0.;
  for (unsigned int a = 0; a <= degree; ++a)
    for (int d = 0; d < dim; ++d)
      {
        const unsigned int b = degree - a;
        const auto         f = [&](const double *x) {
          return power(x[d], a) * power(x[(d + 1) % dim], b);
        };
        const auto df = [&](const double *x) {
          return a == 0 ? 0.
                        : a * power(x[d], a - 1) * power(x[(d + 1) % dim], b);
        };
        for (unsigned int k = 0; k < mesh.n_polytopes(); ++k)
          {
            double sum   = 0.;
            bool   known = true;
            for (unsigned int s = mesh.subcell_offset[k];
                 s < mesh.subcell_offset[k + 1];
                 ++s)
              {
                known &= mesh.subcell_type[s] == SubCellType::tabulated;
                for (unsigned int q = mesh.subcell_point_offset[s];
                     q < mesh.subcell_point_offset[s + 1];
                     ++q)
                  sum += mesh.subcell_point_weights[q] *
                         df(&mesh.subcell_points[q * dim]);
              }
            for (unsigned int e = mesh.polytope_interface_offset[k];
                 e < mesh.polytope_interface_offset[k + 1];
                 ++e)
              {
                const unsigned int i = mesh.polytope_interface[e] / 2;
                const double sign = mesh.polytope_interface[e] % 2 ? -1. : 1.;
                for (unsigned int t = mesh.facet_offset[i];
                     t < mesh.facet_offset[i + 1];
                     ++t)
                  {
                    known &= mesh.facet_type[t] == FacetType::tabulated;
                    for (unsigned int q = mesh.facet_point_offset[t];
                         q < mesh.facet_point_offset[t + 1];
                         ++q)
                      sum -= sign * mesh.facet_point_weights[q] *
                             mesh.facet_point_normals[q * dim + d] *
                             f(&mesh.facet_points[q * dim]);
                  }
              }
            if (known)
              largest = std::max(largest, std::abs(sum));
          }
      }
  return largest;
}

template <int dim>
double
measure(const Tessella::AgglomerationHandler<dim> &handler)
{
  double sum = 0.;
  for (const double m : handler.polytopic_mesh().measure)
    sum += m;
  return sum;
}

template <int dim>
double
volume_of(const Triangulation<dim> &triangulation,
          const Mapping<dim>       *mapping,
          const bool                agglomerated)
{
  Tessella::AgglomerationHandler<dim> handler(triangulation, mapping);
  std::vector<unsigned int>           ids(triangulation.n_active_cells());
  for (unsigned int i = 0; i < ids.size(); ++i)
    ids[i] = agglomerated ? i / 5 : i;
  handler.agglomerate(Agglomeration::by_id<dim>(ids));
  return measure(handler);
}

/// Area around the circle, by degree 1 and 2: orders 2 and 4. The outer
/// boundary is straight.
void
orders()
{
  double       error[2][3];
  const double pi = numbers::PI;
  for (unsigned int level = 0; level < 3; ++level)
    {
      Triangulation<2>       triangulation;
      FlowMeshes::Resolution resolution;
      resolution.simplices = true;
      resolution.n_cells   = 4;
      FlowMeshes::sphere(triangulation, resolution, 1., 3.);
      triangulation.refine_global(level);
      const MappingQuadratic<2> mapping(triangulation);
      const double exact = .5 * 16 * std::sin(2. * pi / 16) * 9. - pi;
      error[0][level] =
        std::abs(volume_of<2>(triangulation, nullptr, true) - exact);
      error[1][level] =
        std::abs(volume_of<2>(triangulation, &mapping, true) - exact);
      check_close("area, agglomerated or not",
                  volume_of<2>(triangulation, &mapping, true),
                  volume_of<2>(triangulation, &mapping, false),
                  1e-12);
      mapping.check_jacobians(triangulation);
    }
  for (unsigned int i = 0; i < 2; ++i)
    check("circle, order of the area with degree " + std::to_string(i + 1),
          std::log2(error[i][1] / error[i][2]) > 2. * i + 1.9);
}

template <int dim>
void
file(const std::string &name, const double exact, const double tolerance)
{
  Triangulation<dim> triangulation;
  check(name + " is of second order", is_quadratic_msh(folder + name, dim));
  const auto   mapping = read_quadratic_msh<dim>(folder + name, triangulation);
  const double whole   = volume_of<dim>(triangulation, mapping.get(), false);
  check_close(name + ", measure", whole, exact, tolerance);
  std::set<unsigned int> ids;
  for (const auto id : triangulation.get_boundary_ids())
    ids.insert(id);
  std::set<unsigned int> materials;
  for (const auto &cell : triangulation.active_cell_iterators())
    materials.insert(cell->material_id());
  for (const auto id : ids)
    deallog << "  boundary id " << id << std::endl;
  for (const auto id : materials)
    deallog << "  material id " << id << std::endl;
  {
    Tessella::AgglomerationHandler<dim> handler(triangulation, mapping.get());
    handler.agglomerate(Agglomeration::by_id<dim>(
      std::vector<unsigned int>(triangulation.n_active_cells(), 0)));
    handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(1));
    check_below(name + ", closed surface", divergence_error(handler, 0), 1e-13);
    handler.agglomerate(Agglomeration::by_id<dim>([&]() {
      std::vector<unsigned int> each(triangulation.n_active_cells());
      for (unsigned int i = 0; i < each.size(); ++i)
        each[i] = i;
      return each;
    }()));
    handler.distribute_dofs(FE_BoundingBoxLegendre<dim>(1));
    for (unsigned int degree = 0; degree <= 3; ++degree)
      check_below(name + ", divergence theorem",
                  divergence_error(handler, degree),
                  1e-13);
  }
  // Refined cells are parts of the curved ones.
  triangulation.refine_global(1);
  check_close(name + ", refined",
              volume_of<dim>(triangulation, mapping.get(), true),
              whole,
              1e-12);
}

void
bad_input()
{
  const auto read_changed = [](const std::string &from, const std::string &to) {
    std::ifstream     in(folder + "disc22.msh");
    std::stringstream text;
    text << in.rdbuf();
    std::string content = text.str();
    if (!from.empty())
      {
        const auto place = content.find(from);
        AssertThrow(place != std::string::npos, ExcInternalError());
        content.replace(place,
                        to.empty() ? std::string::npos : from.size(),
                        to);
      }
    std::ofstream("changed.msh") << content;
    const std::string message = message_of([]() {
      Triangulation<2> triangulation;
      read_quadratic_msh<2>("changed.msh", triangulation);
    });
    deallog << message << std::endl;
  };
  // Node 11 is in the middle of an edge of the boundary.
  std::ifstream in(folder + "disc22.msh");
  std::string   line, moved;
  while (std::getline(in, line))
    if (line.compare(0, 3, "11 ") == 0)
      break;
    else
      moved = line;
  read_changed(line, "11 -.9 .9 0");
  read_changed("2.2 0 8", "2.2 1 8");
  read_changed("2.2 0 8", "3 0 8");
  read_changed("$EndElements", "");
  check("plane mesh in 3-D",
        contains(message_of([]() {
                   Triangulation<3> triangulation;
                   read_quadratic_msh<3>(folder + "disc41.msh", triangulation);
                 }),
                 "it has no cells of dimension 3"));
  deallog << message_of([]() {
    Triangulation<2>       triangulation;
    FlowMeshes::Resolution resolution;
    FlowMeshes::sphere(triangulation, resolution, 1., 2.);
    MappingQuadratic<2> mapping(triangulation);
  }) << std::endl;
}

/// A triangle whose lower edge is bent upwards by @p height: the Jacobian
/// determinant is 1 - 4 height x.
std::string
message_for_bent_triangle(const double height)
{
  return message_of([&]() {
    Triangulation<2>            triangulation;
    const std::vector<Point<2>> corners = {{0., 0.}, {1., 0.}, {0., 1.}};
    CellData<2>                 cell(3);
    cell.vertices = {0, 1, 2};
    triangulation.create_triangulation(corners, {cell}, SubCellData());
    std::vector<Point<2>> nodes = corners;
    nodes.emplace_back(.5, height);
    nodes.emplace_back(.5, .5);
    nodes.emplace_back(0., .5);
    const MappingQuadratic<2>         mapping(triangulation, nodes);
    Tessella::AgglomerationHandler<2> handler(triangulation, &mapping);
    handler.agglomerate(Agglomeration::none<2>());
  });
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  orders();
  file<2>("disc22.msh", numbers::PI, 1e-3);
  file<2>("disc41.msh", numbers::PI, 1e-3);
  file<2>("quads0.msh", .25 * numbers::PI * .75, 2e-3);
  file<2>("quads1.msh", .25 * numbers::PI * .75, 2e-3);
  file<3>("ball22.msh", 4. / 3. * numbers::PI, 5e-2);
  file<3>("ball41.msh", 4. / 3. * numbers::PI, 5e-2);
  file<3>("hexes0.msh", .25 * numbers::PI * .75, 2e-3);
  file<3>("hexes1.msh", .25 * numbers::PI * .75, 2e-3);
  bad_input();
  // It turns over near one corner only, between the points of any rule.
  deallog << message_for_bent_triangle(.249) << std::endl;
  deallog << message_for_bent_triangle(.251) << std::endl;
}
