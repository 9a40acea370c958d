// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
// Output: polytopes as VTK polygons and polyhedra, solutions on the fine cells,
// drawings, and errors if a file cannot be written.

#include <deal.II/base/function.h>
#include <deal.II/base/utilities.h>

#include <deal.II/fe/fe_system.h>
#include <deal.II/grid/grid_generator.h>
#include <deal.II/grid/grid_tools.h>
#include <deal.II/grid/tria.h>

#include <tessella/base/exceptions.h>
#include <tessella/fe/fe_bounding_box_legendre.h>
#include <tessella/numerics/data_out.h>
#include <tessella/numerics/svg.h>
#include <tessella/numerics/vector_tools.h>
#include <tessella/numerics/write_file.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <limits>
#include <map>
#include <sstream>
#include <sys/resource.h>

#include "../meshes.h"
#include "../tests.h"
#include "drawing.h"

using dealii::Point;
using dealii::Triangulation;
using dealii::Vector;
using namespace Tessella;

/// Array with that name in a VTU file with readable text.
std::vector<double>
array(const std::string &vtu, const std::string &name)
{
  std::vector<double> values;
  std::size_t         i = vtu.find("Name=\"" + name + "\"");
  if (i == std::string::npos)
    return values;
  i = vtu.find('>', i) + 1;
  std::stringstream data(vtu.substr(i, vtu.find('<', i) - i));
  for (double v; data >> v;)
    values.push_back(v);
  return values;
}

template <int dim>
void
check_colors(const std::string               &name,
             const AgglomerationHandler<dim> &handler,
             const std::string               &vtu)
{
  const auto polytope = array(vtu, "polytope"), color = array(vtu, "color");
  std::map<int, double> color_of;
  for (unsigned int i = 0; i < polytope.size(); ++i)
    color_of[polytope[i]] = color[i];
  bool        differ = color_of.size() == handler.n_polytopes();
  const auto &mesh   = handler.polytopic_mesh();
  for (unsigned int i = 0; i < mesh.n_interfaces(); ++i)
    {
      const unsigned int a = mesh.interface_polytope[2 * i],
                         b = mesh.interface_polytope[2 * i + 1];
      differ =
        differ && (b == invalid_index || a == b || color_of[a] != color_of[b]);
    }
  check(name + ", neighbours have different colours", differ);
}

void
polygons(const std::string               &name,
         const Triangulation<2>          &triangulation,
         const std::vector<unsigned int> &ids,
         const unsigned int               n_polygons)
{
  AgglomerationHandler<2> handler(triangulation);
  handler.agglomerate(Agglomeration::by_id<2>(ids));
  PolytopeOutputFlags flags;
  flags.binary = false;
  std::vector<double> extra(handler.n_polytopes(), 7.5);
  flags.data.emplace_back("extra", extra);
  write_polytopes_vtu(handler, "polytopes.vtu", flags);
  const std::string vtu = read("polytopes.vtu");
  check(name + ", well-formed", well_formed(vtu));
  const auto points       = array(vtu, "Points"),
             connectivity = array(vtu, "connectivity"),
             offsets = array(vtu, "offsets"), types = array(vtu, "types"),
             polytope = array(vtu, "polytope"), measure = array(vtu, "measure");
  if (n_polygons > 0)
    check(name + ", number of polygons", types.size() == n_polygons);
  check(name + ", types",
        types == std::vector<double>(types.size(), 7.) &&
          offsets.size() == types.size() && polytope.size() == types.size() &&
          offsets.back() == connectivity.size() &&
          array(vtu, "extra") == std::vector<double>(types.size(), 7.5));

  std::vector<double> area(handler.n_polytopes(), 0.);
  bool                positive = true;
  double              error    = 0.;
  for (unsigned int c = 0, v = 0; c < types.size(); ++c)
    {
      double    a     = 0.;
      const int begin = v, n = static_cast<int>(offsets[c]) - begin;
      for (int i = 0; i < n; ++i)
        {
          const int p = 3 * connectivity[begin + i],
                    q = 3 * connectivity[begin + (i + 1) % n];
          a += .5 * (points[p] * points[q + 1] - points[q] * points[p + 1]);
        }
      v        = begin + n;
      positive = positive && a > 0.;
      area[polytope[c]] += a;
      error = std::max(error,
                       std::abs(measure[c] -
                                handler.polytopic_mesh().measure[polytope[c]]));
    }
  check(name + ", counter-clockwise", positive);
  for (unsigned int k = 0; k < area.size(); ++k)
    error =
      std::max(error, std::abs(area[k] - handler.polytopic_mesh().measure[k]));
  check_below(name + ", areas", error, 1e-13);

  // neighbouring polygons share points
  double distance = std::numeric_limits<double>::max();
  for (unsigned int i = 0; i < points.size(); i += 3)
    for (unsigned int j = 0; j < i; j += 3)
      distance = std::min(distance,
                          std::hypot(points[i] - points[j],
                                     points[i + 1] - points[j + 1]));
  check(name + ", every point once", distance > 1e-6);
  check_colors(name, handler, vtu);

  // the same file, encoded
  flags.binary = true;
  write_polytopes_vtu(handler, "polytopes.vtu", flags);
  const std::string binary = read("polytopes.vtu");
  std::size_t       i      = binary.find("Name=\"Points\"");
  i                        = binary.find('>', i) + 1;
  std::string code         = binary.substr(i, binary.find('<', i) - i);
  code.erase(0, code.find_first_not_of(" \n"));
  code.erase(code.find_last_not_of(" \n") + 1);
  const std::vector<unsigned char> bytes =
    dealii::Utilities::decode_base64(code);
  std::uint64_t       n_bytes = 0;
  std::vector<double> decoded(points.size());
  if (bytes.size() >= 8)
    std::memcpy(&n_bytes, bytes.data(), 8);
  if (bytes.size() >= 8 + 8 * points.size())
    std::memcpy(decoded.data(), bytes.data() + 8, 8 * points.size());
  check(name + ", binary",
        well_formed(binary) && n_bytes == 8 * points.size() &&
          decoded == points);

  // drawing
  MeshSvgFlags svg_flags;
  svg_flags.title = "a < b & \"c\"";
  write_mesh_svg(handler, "mesh.svg", svg_flags);
  const std::string svg = read("mesh.svg");
  check(name + ", drawing",
        well_formed(svg) &&
          count(svg, "class=\"polytope\"") == handler.n_polytopes() &&
          count(svg, "fine_cells") == 0 && count(svg, "a &lt; b &amp;") == 1);
  svg_flags.fine_cells = svg_flags.labels = true;
  write_mesh_svg(handler, "mesh.svg", svg_flags);
  const std::string all = read("mesh.svg");
  check(name + ", drawing with cells and labels",
        well_formed(all) && count(all, "\"fine_cells\"") == 1 &&
          count(all, "<text") == handler.n_polytopes() + 1);
}

template <int dim>
std::vector<unsigned int>
ids_by(const Triangulation<dim>                              &triangulation,
       const std::function<unsigned int(const Point<dim> &)> &id)
{
  std::vector<unsigned int> ids;
  for (const auto &cell : triangulation.active_cell_iterators())
    ids.push_back(id(cell->center()));
  return ids;
}

void
polygons()
{
  Triangulation<2> square;
  dealii::GridGenerator::subdivided_hyper_cube(square, 9);
  auto cell = [](const Point<2> &x) {
    return std::pair<int, int>(9. * x[0], 9. * x[1]);
  };
  // Polytope 0 is the frame and the island, 1 the ring between them.
  polygons("ring and island",
           square,
           ids_by<2>(square,
                     [&](const Point<2> &x) {
                       const int r = std::max(std::abs(cell(x).first - 4),
                                              std::abs(cell(x).second - 4));
                       return r == 2 || r == 3 ? 1U : 0U;
                     }),
           3);
  // Holes in a row, two of which touch in a point.
  polygons("holes",
           square,
           ids_by<2>(square,
                     [&](const Point<2> &x) -> unsigned int {
                       const auto c = cell(x);
                       if (c.second == 4 && c.first % 2 == 1)
                         return 1 + c.first / 2;
                       if (c == std::make_pair(2, 5))
                         return 5;
                       return 0;
                     }),
           6);
  polygons("chessboard",
           square,
           ids_by<2>(square,
                     [&](const Point<2> &x) -> unsigned int {
                       return (cell(x).first + cell(x).second) % 2;
                     }),
           81);
  polygons("one polytope",
           square,
           std::vector<unsigned int>(square.n_active_cells(), 0),
           1);

  Triangulation<2> hanging;
  dealii::GridGenerator::hyper_ball(hanging);
  hanging.refine_global(2);
  for (unsigned int i = 0; i < 2; ++i)
    {
      for (const auto &c : hanging.active_cell_iterators())
        if (c->center()[0] + .4 * c->center()[1] > .1)
          c->set_refine_flag();
      hanging.execute_coarsening_and_refinement();
    }
  std::vector<unsigned int> ids;
  for (unsigned int i = 0; i < hanging.n_active_cells(); ++i)
    ids.push_back((i * i + i / 5) % 23);
  polygons("hanging nodes", hanging, ids, 0);

  Triangulation<2> simplices;
  dealii::GridGenerator::subdivided_hyper_cube_with_simplices(simplices, 8);
  dealii::GridTools::rotate(.3, simplices);
  ids.resize(simplices.n_active_cells());
  for (unsigned int i = 0; i < ids.size(); ++i)
    ids[i] = (i * i + i / 5) % 23;
  polygons("triangles", simplices, ids, 0);

  Triangulation<2> periodic;
  dealii::GridGenerator::subdivided_hyper_rectangle(
    periodic, {6, 5}, Point<2>(.1, .2), Point<2>(.8, .9), true);
  add_periodic_faces(periodic, {0, 1});
  ids.resize(periodic.n_active_cells());
  for (unsigned int i = 0; i < ids.size(); ++i)
    ids[i] = i / 7;
  polygons("periodic", periodic, ids, 0);
}

void
polyhedra(const std::string               &name,
          const Triangulation<3>          &triangulation,
          const std::vector<unsigned int> &ids)
{
  AgglomerationHandler<3> handler(triangulation);
  handler.agglomerate(Agglomeration::by_id<3>(ids));
  PolytopeOutputFlags flags;
  flags.binary = false;
  write_polytopes_vtu(handler, "polytopes.vtu", flags);
  const std::string vtu = read("polytopes.vtu");
  check(name + ", well-formed", well_formed(vtu));
  const auto points = array(vtu, "Points"), faces = array(vtu, "faces"),
             face_offsets = array(vtu, "faceoffsets"),
             connectivity = array(vtu, "connectivity"),
             offsets = array(vtu, "offsets"), types = array(vtu, "types");
  check(name + ", types",
        types == std::vector<double>(handler.n_polytopes(), 42.));

  double      error  = 0.;
  bool        closed = true, complete = true;
  std::size_t f = 0, v = 0;
  for (unsigned int k = 0; k < handler.n_polytopes(); ++k)
    {
      std::map<std::pair<int, int>, int> edges;
      std::map<int, int>                 used;
      double                             volume  = 0.;
      const unsigned int                 n_faces = faces[f++];
      for (unsigned int i = 0; i < n_faces; ++i)
        {
          const unsigned int n = faces[f++];
          auto               x = [&](const unsigned int c) {
            const int p = 3 * faces[f + c];
            return Point<3>(points[p], points[p + 1], points[p + 2]);
          };
          // Sum of signed cones over the triangles of planar faces.
          for (unsigned int c = 1; c + 1 < n; ++c)
            volume += dealii::cross_product_3d(x(c) - Point<3>(),
                                               x(c + 1) - Point<3>()) *
                      (x(0) - Point<3>()) / 6.;
          for (unsigned int c = 0; c < n; ++c)
            {
              const int a = faces[f + c], b = faces[f + (c + 1) % n];
              edges[{std::min(a, b), std::max(a, b)}] += a < b ? 1 : -1;
              used[a] = 1;
            }
          f += n;
        }
      complete =
        complete && f == face_offsets[k] && offsets[k] - v == used.size();
      for (; v < offsets[k]; ++v)
        complete = complete && used.count(connectivity[v]) == 1;
      for (const auto &edge : edges)
        closed = closed && edge.second == 0;
      error =
        std::max(error, std::abs(volume - handler.polytopic_mesh().measure[k]));
    }
  check(name + ", face streams", complete && f == faces.size());
  check(name + ", closed surfaces", closed);
  check_below(name + ", volumes", error, 1e-13);
  check_colors(name, handler, vtu);

  MeshSvgFlags svg_flags;
  write_mesh_svg(handler, "mesh.svg", svg_flags);
  const std::string svg = read("mesh.svg");
  check(name + ", drawing",
        well_formed(svg) && count(svg, "class=\"facet\"") > 0);
  svg_flags.explode = .5;
  write_mesh_svg(handler, "mesh.svg", svg_flags);
  const std::string exploded = read("mesh.svg");
  check(name + ", drawing pulled apart",
        well_formed(exploded) &&
          count(exploded, "class=\"facet\"") > count(svg, "class=\"facet\""));
}

void
polyhedra()
{
  Triangulation<3> hexahedra, tetrahedra;
  dealii::GridGenerator::subdivided_hyper_cube(hexahedra, 5);
  // A shell with a separate core, and the ball between them.
  polyhedra("shell",
            hexahedra,
            ids_by<3>(hexahedra, [](const Point<3> &x) -> unsigned int {
              double r = 0.;
              for (int d = 0; d < 3; ++d)
                r = std::max(r, std::abs(x[d] - .5));
              return r > .1 && r < .3 ? 1 : 0;
            }));
  dealii::GridGenerator::subdivided_hyper_cube_with_simplices(tetrahedra, 3);
  std::vector<unsigned int> ids(tetrahedra.n_active_cells());
  for (unsigned int i = 0; i < ids.size(); ++i)
    ids[i] = (i * i + i / 5) % 17;
  polyhedra("tetrahedra", tetrahedra, ids);
}

/// Sum over d of (d + 1) x_d + c, plus a quadratic part.
template <int dim>
class Quadratic : public dealii::Function<dim>
{
public:
  explicit Quadratic(const unsigned int n_components)
    : dealii::Function<dim>(n_components)
  {}
  double
  value(const Point<dim> &x, const unsigned int c = 0) const override
  {
    double v = c + x[0] * x[1] - x[dim - 1] * x[dim - 1];
    for (int d = 0; d < dim; ++d)
      v += (d + 1) * x[d];
    return v;
  }
};

template <int dim>
void
solutions(const bool simplices, const unsigned int n_components)
{
  Triangulation<dim> triangulation;
  if (simplices)
    dealii::GridGenerator::subdivided_hyper_cube_with_simplices(triangulation,
                                                                2);
  else
    {
      dealii::GridGenerator::subdivided_hyper_cube(triangulation, 3);
      dealii::GridTools::distort_random(.2, triangulation);
    }
  const unsigned int        n_cells = triangulation.n_active_cells();
  std::vector<unsigned int> ids(n_cells);
  for (unsigned int i = 0; i < n_cells; ++i)
    ids[i] = (i * i + i / 5) % 5;
  AgglomerationHandler<dim> handler(triangulation);
  handler.agglomerate(Agglomeration::by_id<dim>(ids));
  handler.distribute_dofs(
    dealii::FESystem<dim>(FE_BoundingBoxLegendre<dim>(2), n_components));
  const Quadratic<dim> exact(n_components);
  Vector<double>       u(handler.n_dofs());
  Tessella::VectorTools::interpolate(handler, exact, u);
  Vector<double> indicator(handler.n_polytopes());
  for (unsigned int k = 0; k < indicator.size(); ++k)
    indicator[k] = 10. * k;

  const std::string name = std::to_string(dim) + "-D " +
                           (simplices ? "simplices" : "hypercubes") + ", " +
                           std::to_string(n_components) + " components";
  for (const bool higher_order : {false, true})
    {
      PolytopicDataOut<dim> data_out(handler);
      data_out.add_data_vector(u, "u");
      data_out.add_polytope_data(indicator, "indicator");
      const unsigned int n = higher_order ? 2 : 3;
      data_out.build_patches(n, higher_order);
      std::stringstream vtk;
      data_out.write_vtk(vtk);
      // Keywords and values, without the title.
      std::vector<std::string> words;
      for (std::string word; vtk >> word;)
        words.push_back(word);
      auto find = [&](const std::string &a, const std::string &b = "") {
        for (std::size_t i = 0; i + 1 < words.size(); ++i)
          if (words[i] == a && (b.empty() || words[i + 1] == b))
            return i;
        return words.size();
      };
      const std::string at = name + (higher_order ? ", higher order" : "");
      const std::size_t p  = find("POINTS");
      if (!check(at + ", points", p < words.size()))
        continue;
      const unsigned int n_points = std::stoi(words[p + 1]);
      const std::size_t  c        = find("CELLS");
      const unsigned int n_drawn =
        higher_order && !(simplices && dim == 3)
          ? n_cells
          : n_cells * dealii::Utilities::fixed_power<dim>(n);
      check(at + ", cells",
            c < words.size() &&
              std::stoi(words[c + 1]) == static_cast<int>(n_drawn));
      double error = 0.;
      for (unsigned int component = 0; component < n_components; ++component)
        {
          std::size_t  first  = 0;
          unsigned int stride = 1, offset = 0;
          if (n_components == dim)
            {
              first  = find("VECTORS", "u") + 3;
              stride = 3;
              offset = component;
            }
          else
            first =
              find("SCALARS",
                   n_components == 1 ? "u" : "u_" + std::to_string(component)) +
              6;
          if (first + n_points * stride > words.size())
            {
              error = std::numeric_limits<double>::max();
              break;
            }
          for (unsigned int i = 0; i < n_points; ++i)
            {
              Point<dim> x;
              for (int d = 0; d < dim; ++d)
                x[d] = std::stod(words[p + 3 + 3 * i + d]);
              error = std::max(error,
                               std::abs(
                                 std::stod(words[first + i * stride + offset]) -
                                 exact.value(x, component)));
            }
        }
      // values are floats, written with six digits
      check_below(at + ", values", error, 2e-5);
      bool              constant = true;
      const std::size_t a        = find("SCALARS", "polytope") + 6,
                        b        = find("SCALARS", "indicator") + 6;
      for (unsigned int i = 0; i < n_points; ++i)
        constant = constant && std::max(a, b) + i < words.size() &&
                   10. * std::stod(words[a + i]) == std::stod(words[b + i]);
      check(at + ", polytope data", constant);
    }

  PolytopicDataOut<dim> data_out(handler);
  check_throws<dealii::ExceptionBase>(
    name + ", nothing to write",
    [&]() { data_out.write_vtu_file("none.vtu"); },
    "build_patches");
  data_out.build_patches();
  data_out.write_vtu_file("solution.vtu");
  check(name + ", vtu", well_formed(read("solution.vtu")));
}

void
files()
{
  write_file("file.txt", [](std::ostream &out) { out << "first"; });
  check_throws<std::runtime_error>("file, interrupted", []() {
    write_file("file.txt", [](std::ostream &out) {
      out << "half";
      throw std::runtime_error("interrupted");
    });
  });
  check("file, earlier one remains", read("file.txt") == "first");
  write_file("file.txt", [](std::ostream &out) { out << "second"; });
  check("file, replaced", read("file.txt") == "second");
  check_throws<ExcUserInput>(
    "file, no folder",
    []() { write_file("no/such/folder/file.txt", [](std::ostream &) {}); },
    "folder");
  // A full disk has this effect on a stream.
  check_throws<ExcUserInput>(
    "file, failed stream",
    []() {
      write_file("failed.txt", [](std::ostream &out) {
        out << "half";
        out.setstate(std::ios::badbit);
      });
    },
    "failed.txt");
  check("file, nothing left of it", !std::ifstream("failed.txt"));
  // The exception of deal.II then gives way to the reason.
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small   = before;
  small.rlim_cur = 100000;
  setrlimit(RLIMIT_FSIZE, &small);
  check_throws<ExcUserInput>(
    "file, too large",
    []() {
      write_file("failed.txt", [](std::ostream &out) {
        out << std::string(200000, 'x');
        AssertThrow(out, dealii::ExcIO());
      });
    },
    "Writing the file \"failed.txt\" failed before its end (File too large)");
  setrlimit(RLIMIT_FSIZE, &before);
  check("file, nothing left of that", !std::ifstream("failed.txt"));
}

int
main(int argc, char **argv)
{
  TestProgram program(argc, argv);
  polygons();
  polyhedra();
  for (const bool simplices : {false, true})
    {
      solutions<2>(simplices, 1);
      solutions<2>(simplices, 2);
      solutions<3>(simplices, 1);
      solutions<3>(simplices, 2);
    }
  files();
}
